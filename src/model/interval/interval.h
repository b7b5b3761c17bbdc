/* SPDX-License-Identifier: MIT
 *
 * What a thread did in any interval of time: its calling context tree, exact
 * (docs/analyses/interval.md).
 *
 * Of the two blocks at the interval's borders, half the calls at most are looked at; what lies
 * between them is the sum of the contexts that the file keeps of blocks and of groups of blocks,
 * less those of blocks that do not lie between them. Cost: O(log n + answer) for n calls, whatever
 * the length of the interval.
 */
#ifndef WEFT_MODEL_INTERVAL_INTERVAL_H
#define WEFT_MODEL_INTERVAL_INTERVAL_H

#include "model/trace.h"

#include <stddef.h>
#include <stdint.h>

/* A context of the answer. A call counts if it begins before the interval's end and ends after its
 * begin; one of no duration if it begins inside. Times are of the part inside. */
struct weft_interval_context {
    uint32_t parent; /* index of the caller's context, which is lower; WEFT_ID_NONE: a root call */
    uint32_t function_id;
    uint32_t depth;
    uint64_t count;
    uint64_t sum_ns;                  /* inclusive */
    uint64_t self_ns;                 /* without callees */
    uint64_t folded_calls, folded_ns; /* of what it called, in contexts that are left out */
};

/* How an answer was found. */
struct weft_interval_parts {
    uint64_t calls;          /* looked at one by one */
    uint64_t blocks, groups; /* summaries added or subtracted */
    uint64_t subtracted;     /* units that were subtracted from the group around them */
    uint64_t prefixes;       /* kept sums of all blocks before one, added or subtracted */
    uint64_t remainders;     /* blocks at a border whose part outside was subtracted */
};

/* Valid until the next query of the same reader. */
struct weft_interval {
    const struct weft_interval_context *contexts; /* callers first, otherwise in no order */
    size_t n_contexts;
    uint64_t calls;                   /* sum of counts, and folded_calls */
    uint64_t folded_calls, folded_ns; /* of contexts that are left out, together */
    uint64_t no_call_ns; /* between the thread's first and last event, but in no call */
    uint64_t outside_ns; /* before its first event or after its last */
    struct weft_interval_parts parts;
};

/* Memory and decoded blocks of one worker; keeps a few blocks from query to query. */
struct weft_interval_reader;

struct weft_interval_reader *weft_interval_reader_new(const struct weft_trace *trace);
void weft_interval_reader_free(struct weft_interval_reader *reader);

/* No answer has more than so many contexts, at least 2 (0, the default: all it has). Where it
 * would, those of least inclusive time are left out and counted as folded by the nearest caller
 * that is not, which takes two walks over the interval; what is there is exact. If no more than
 * half of them fit into the memory for so many, those that came late may be taken for less than
 * they are, and be left out for others. */
void weft_interval_reader_limit(struct weft_interval_reader *reader, size_t n_contexts);

/* Keeps up to so many bytes of contexts from query to query (by default none): for callers that ask
 * for many intervals. What is kept makes answers faster, never different. */
void weft_interval_reader_keep(struct weft_interval_reader *reader, size_t n_bytes);

/* Keeps so many bytes of blocks open, a few at least: for callers that go to and fro between
 * threads. */
void weft_interval_reader_blocks(struct weft_interval_reader *reader, uint64_t n_bytes);

/* The contexts of `thread_id` in [from_ns, to_ns). Fails as loading a block does. */
WEFT_CHECKED enum weft_code weft_interval_cct(struct weft_interval_reader *reader,
                                              uint32_t thread_id, uint64_t from_ns, uint64_t to_ns,
                                              struct weft_interval *interval, struct weft_err *err);

#endif
