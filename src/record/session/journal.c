/* SPDX-License-Identifier: MIT
 *
 * See journal.h.
 */
#include "record/session/journal.h"

#include "base/checked.h"

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

/* ---- what cannot be read ----------------------------------------------------------------------
 */

uint64_t journal_lost(const struct journal *journal)
{
    return weft_add_sat_u64(weft_add_sat_u64(journal->n_without_room, journal->n_skipped),
                            journal->is_damaged);
}

static void skip_to(struct journal *journal, uint64_t number)
{
    journal->n_skipped = weft_add_sat_u64(journal->n_skipped, number - journal->n_read);
    journal->n_read = number;
}

/* Entries before this number are not waited for any more. */
static uint64_t patience_ends(const struct journal *journal, uint64_t head, uint64_t now_ns,
                              bool is_final)
{
    const bool is_stuck = journal->stuck_ns && now_ns - journal->stuck_ns > STUCK_NS;
    return is_final ? head : is_stuck ? journal->stuck_head : 0;
}

static void note_stuck(struct journal *journal, uint64_t head, bool has_moved, uint64_t now_ns)
{
    if (journal->n_read == head) {
        journal->stuck_ns = 0;
    } else if (has_moved || journal->stuck_ns == 0) {
        journal->stuck_ns = now_ns;
        journal->stuck_head = head;
    }
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* Takes entries of a batch in order, until one is not written yet. One that is not waited for any
 * more, or whose place has a later one, is lost. Gives how many. */
static size_t take(struct journal *journal, struct weft_journal_entry *entries, size_t n_entries,
                   const struct journal_reader *reader, uint64_t patience)
{
    for (size_t k = 0; k < n_entries; k++) {
        const uint64_t number = journal->n_read + k + 1;
        if (entries[k].number == number)
            take_entry(reader, &entries[k]);
        else if (entries[k].number > number || number <= patience)
            journal->n_skipped = weft_add_sat_u64(journal->n_skipped, 1);
        else
            return k;
    }
    return n_entries;
}

/* A batch ends where the journal does. False: there is no more to read. */
static bool read_batch(struct journal *journal, uint64_t head, const struct journal_reader *reader,
                       uint64_t patience)
{
    struct weft_journal_entry entries[BATCH_ENTRIES];
    const size_t at = (size_t)(journal->n_read % WEFT_JOURNAL_ENTRIES);
    uint64_t n = head - journal->n_read;
    n = n < BATCH_ENTRIES ? n : BATCH_ENTRIES;
    n = n < WEFT_JOURNAL_ENTRIES - at ? n : WEFT_JOURNAL_ENTRIES - at;
    if (!read_at(journal, offsetof(struct weft_journal, entries) + at * sizeof *entries, entries,
                 (size_t)n * sizeof *entries)) {
        skip_to(journal, head);
        return false;
    }
    const size_t n_taken = take(journal, entries, (size_t)n, reader, patience);
    journal->n_read += n_taken;
    return n_taken == n && journal->n_read < head;
}

void journal_poll(struct journal *journal, const struct journal_reader *reader, uint64_t now_ns)
{
    const uint64_t n_before = journal->n_read;
    uint64_t head, n_without_room;
    if (journal->fd < 0)
        return;
    if (!read_at(journal, offsetof(struct weft_journal, head), &head, sizeof head) ||
        !read_at(journal, offsetof(struct weft_journal, lost), &n_without_room,
                 sizeof n_without_room) ||
        head < n_before) {
        journal->is_damaged = true;
        return;
    }
    journal->n_without_room = weft_max_u64(journal->n_without_room, n_without_room);
    /* No library of weft claims more than there is room for; a few may at the same time. */
    if (head - n_before > 2 * WEFT_JOURNAL_ENTRIES)
        skip_to(journal, head - WEFT_JOURNAL_ENTRIES);
    const uint64_t patience = patience_ends(journal, head, now_ns, reader->is_final);
    while (journal->n_read < head && read_batch(journal, head, reader, patience))
        ;
    note_stuck(journal, head, journal->n_read != n_before, now_ns);
    (void)!pwrite(journal->fd, &journal->n_read, sizeof journal->n_read,
                  offsetof(struct weft_journal, tail));
}
