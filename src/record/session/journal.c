/* SPDX-License-Identifier: MIT
 *
 * See journal.h.
 */
#include "record/session/journal.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

/* So long an entry may be claimed and not written: then its writer was killed in between. */
enum { STUCK_NS = 100000000, BATCH_ENTRIES = 256 };

void journal_open(int folder_fd, struct journal *journal)
{
    const uint64_t magic = WEFT_JOURNAL_MAGIC;
    *journal = (struct journal){ .fd = -1 };
    const int fd = openat(folder_fd, WEFT_JOURNAL_NAME,
                          O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    if (posix_fallocate(fd, 0, sizeof(struct weft_journal)) == 0 &&
        pwrite(fd, &magic, sizeof magic, 0) == (ssize_t)sizeof magic) {
        journal->fd = fd;
        return;
    }
    (void)unlinkat(folder_fd, WEFT_JOURNAL_NAME, 0);
    (void)close(fd);
}

void journal_close(struct journal *journal)
{
    if (journal->fd >= 0)
        (void)close(journal->fd);
    journal->fd = -1;
}

static bool read_at(const struct journal *journal, size_t off, void *bytes, size_t n_bytes)
{
    return pread(journal->fd, bytes, n_bytes, (off_t)off) == (ssize_t)n_bytes;
}

/* With the numbers that its processes have here. */
static void take_entry(const struct journal_reader *reader, struct weft_journal_entry *entry)
{
    const uint32_t inode = entry->pid_namespace;
    if (namespace_is_other(inode) && entry->pid) {
        entry->pid = namespaces_pid(reader->spaces, inode, entry->pid, reader->room);
        if (entry->parent) /* else it is outside */
            entry->parent = namespaces_pid(reader->spaces, inode, entry->parent, reader->room);
    }
    ledger_take_entry(reader->ledger, entry, reader->ns_of(reader->context, entry->ticks));
}

/* Takes whole entries of a batch, in order; gives how many. */
static size_t take(const struct journal *journal, struct weft_journal_entry *entries,
                   size_t n_entries, const struct journal_reader *reader)
{
    for (size_t k = 0; k < n_entries; k++) {
        if (entries[k].number != journal->n_read + k + 1)
            return k;
        take_entry(reader, &entries[k]);
    }
    return n_entries;
}

void journal_poll(struct journal *journal, const struct journal_reader *reader, uint64_t now_ns)
{
    struct weft_journal_entry entries[BATCH_ENTRIES];
    uint64_t head;
    if (journal->fd < 0 ||
        !read_at(journal, offsetof(struct weft_journal, head), &head, sizeof head))
        return;
    (void)read_at(journal, offsetof(struct weft_journal, lost), &journal->n_lost,
                  sizeof journal->n_lost);
    /* No library of weft claims more than there is room for; a few may at the same time. */
    while (journal->n_read < head && head - journal->n_read <= 2 * WEFT_JOURNAL_ENTRIES) {
        const size_t at = (size_t)(journal->n_read % WEFT_JOURNAL_ENTRIES);
        uint64_t n = head - journal->n_read;
        n = n < BATCH_ENTRIES ? n : BATCH_ENTRIES;
        n = n < WEFT_JOURNAL_ENTRIES - at ? n : WEFT_JOURNAL_ENTRIES - at;
        if (!read_at(journal, offsetof(struct weft_journal, entries) + at * sizeof *entries,
                     entries, (size_t)n * sizeof *entries))
            return;
        const size_t n_taken = take(journal, entries, (size_t)n, reader);
        journal->n_read += n_taken;
        if (n_taken) {
            journal->stuck_ns = 0;
        } else if (journal->stuck_ns == 0) {
            journal->stuck_ns = now_ns;
        } else if (now_ns - journal->stuck_ns > STUCK_NS) {
            journal->n_read++;
            journal->n_lost++;
            journal->stuck_ns = 0;
        }
        if (n_taken < n)
            break;
    }
    (void)!pwrite(journal->fd, &journal->n_read, sizeof journal->n_read,
                  offsetof(struct weft_journal, tail));
}
