/* SPDX-License-Identifier: MIT
 *
 * Descriptors that sets of epoll watch. The kernel reports to a program that "its word" is ready,
 * which may be a number, a pointer, anything; the latest call that gave a descriptor that word says
 * which it is. (Two descriptors of one word cannot be distinguished: it is the later one.)
 */
#include "base/search.h"
#include "ingest/recording/convert.h"

#include <stdlib.h>

enum { MOST_PARENTS = 16 };

static int by_word(const void *a_void, const void *b_void)
{
    const struct rec_watch *a = a_void, *b = b_void;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->epoll_fd != b->epoll_fd)
        return a->epoll_fd < b->epoll_fd ? -1 : 1;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return (a->fd > b->fd) - (a->fd < b->fd);
}

void rec_watches_sort(struct rec_convert *convert)
{
    if (convert->watches.n)
        qsort(convert->watches.items, convert->watches.n, sizeof *convert->watches.items, by_word);
}

static bool find(const struct rec_convert *convert, const struct rec_watch *asked, uint64_t *fd)
{
    const struct rec_watch *items = convert->watches.items;
    const struct rec_watch last = { asked->epoll_fd, asked->word, asked->ticks, UINT64_MAX,
                                    asked->pid };
    size_t place;
    WEFT_SEARCH(place, convert->watches.n, by_word(&items[place], &last) <= 0);
    if (place == 0)
        return false;
    const struct rec_watch *found = &items[place - 1];
    *fd = found->fd;
    return found->pid == asked->pid && found->epoll_fd == asked->epoll_fd &&
           found->word == asked->word;
}

bool rec_watch_find(const struct rec_convert *convert, const struct rec_watch *asked, uint64_t *fd)
{
    struct rec_watch of = *asked;
    for (unsigned k = 0; k < MOST_PARENTS && of.pid; k++) {
        if (find(convert, &of, fd))
            return true;
        const struct rec_process *process = rec_process_of(&convert->spaces, of.pid);
        of.pid = process ? process->parent : 0;
    }
    return false;
}
