/* SPDX-License-Identifier: MIT
 *
 * The recorder's side of the journal (schema/recording.h). Programs can write anything into it, and
 * cut it short: it is read, not mapped.
 */
#ifndef WEFT_RECORD_SESSION_JOURNAL_H
#define WEFT_RECORD_SESSION_JOURNAL_H

#include "record/session/ledger.h"
#include "record/session/namespace.h"

struct journal {
    int fd; /* -1: none */
    uint64_t n_read;
    uint64_t n_without_room;       /* entries, as programs have counted them */
    uint64_t n_skipped;            /* entries that were claimed, and could not be read */
    uint64_t stuck_ns, stuck_head; /* since when the next entry is claimed and not written (0: it is
                                      not), and what had been claimed then */
    bool is_damaged;               /* cut short, or its counts have gone back */
};

/* Makes it, with all its memory; without memory there is none. */
void journal_open(int folder_fd, struct journal *journal);
void journal_close(struct journal *journal);

/* How entries are understood: their ticks, and numbers of processes in other pid namespaces. */
struct journal_reader {
    struct ledger *ledger;
    uint64_t (*ns_of)(const void *context, uint64_t ticks);
    const void *context;
    struct namespaces *spaces;
    struct proc_text *room;
    bool is_final; /* nothing will be read any more: what is not written now is lost */
};

/* Entries that the ledger has not got, and will not get; of a damaged journal at least so many. */
uint64_t journal_lost(const struct journal *journal);

/* Hands to the ledger what is new. */
void journal_poll(struct journal *journal, const struct journal_reader *reader, uint64_t now_ns);

#endif
