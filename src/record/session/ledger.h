/* SPDX-License-Identifier: MIT
 *
 * The ledger of the recorded program (schema/ledger.h): which processes there were, from the
 * kernel's records of fork, exec and exit, from ring files, and, where no kernel is recorded, from
 * the journal (schema/recording.h) and /proc; and how much of each was recorded.
 *
 * Sources report in any order; what they report is put in order of time, and taken once all that
 * happened before it must have been reported.
 */
#ifndef WEFT_RECORD_SESSION_LEDGER_H
#define WEFT_RECORD_SESSION_LEDGER_H

#include "base/error.h"
#include "record/session/namespace.h"
#include "record/session/output.h"
#include "schema/ledger.h"

struct ledger;

struct ledger_opts {
    bool has_library; /* libraries are loaded into the program */
    bool follows;     /* children are recorded */
    bool is_attached; /* the process ran before */
    struct namespaces
        *spaces; /* to which processes of other pid namespaces are added; NULL: none */
};

/* NULL without memory. */
struct ledger *ledger_new(const struct ledger_opts *opts);
void ledger_free(struct ledger *ledger); /* NULL is allowed; so it is everywhere below */

/* The process that the program begins with, and the path of what it will run ("": not known);
 * nothing is in the ledger without one. `has_kernel`: the kernel's records of it and its
 * descendants will come. */
void ledger_begin(struct ledger *ledger, uint32_t pid, const char *program, uint64_t now_ns,
                  bool has_kernel);

/* Another one that the recording begins with: it ran before. After ledger_begin. */
void ledger_attach(struct ledger *ledger, uint32_t pid, uint32_t parent, uint64_t now_ns);

/* A record of the kernel; only fork, exec and exit of the program's threads matter. */
void ledger_take_record(struct ledger *ledger, const struct weft_kernel_record *record,
                        const char *payload);

/* A ring file appeared. */
struct ledger_ring_news {
    uint32_t pid, parent, library;
    uint64_t start_ns;
    bool is_fork;        /* of a child of fork */
    bool is_new_program; /* of a program of which no other file has come */
    const char *exe;     /* "": not known */
};
/* Its number, for ledger_count; UINT32_MAX: none. */
uint32_t ledger_add_ring(struct ledger *ledger, const struct ledger_ring_news *news);

/* What was read of it so far. */
struct ledger_counts {
    uint64_t n_records, n_lost_records;
    uint32_t n_threads; /* beside the main one */
    uint32_t n_lost_threads;
    bool is_damaged;
};
void ledger_count(struct ledger *ledger, uint32_t ring, const struct ledger_counts *counts);

/* An entry of the journal, at a time. */
void ledger_take_entry(struct ledger *ledger, const struct weft_journal_entry *entry,
                       uint64_t time_ns);

/* A process reports that it has no ring, and why (enum weft_ring_reach). */
void ledger_no_ring(struct ledger *ledger, uint32_t pid, uint32_t reach, uint64_t time_ns);

/* A file that is named as the process's ring is none. */
void ledger_bad_ring(struct ledger *ledger, uint32_t pid, uint64_t time_ns);

/* The process has ended. */
void ledger_ended(struct ledger *ledger, uint32_t pid, uint64_t now_ns);

/* Takes what happened until `until_ns`; all sources have reported that. */
void ledger_advance(struct ledger *ledger, uint64_t until_ns);

/* Looks for processes in /proc, where the kernel does not record them. */
void ledger_scan(struct ledger *ledger);

/* The recording ends, for the reason `why` for those that run on: takes all, and looks at what has
 * not been looked at. */
void ledger_finish(struct ledger *ledger, enum weft_ledger_why why, uint64_t now_ns);

/* Has a process turned out to be recorded since the last time? */
bool ledger_has_news(const struct ledger *ledger);

/* Writes entries that have changed, or `all`. WEFT_E_NOMEM without memory for the ledger so far. */
WEFT_CHECKED enum weft_code ledger_put(struct ledger *ledger, struct session_output *output,
                                       bool all, struct weft_err *err);

/* How it stands; all 0 without a ledger. In *n_further: pids of processes that it has no place for.
 */
struct weft_ledger_totals ledger_totals(const struct ledger *ledger, uint64_t *n_further);

/* Reports, or names in them, that it had no place for. */
uint64_t ledger_lost_reports(const struct ledger *ledger);

#endif
