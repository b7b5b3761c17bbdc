/* SPDX-License-Identifier: MIT
 *
 * A block of events: up to 8,192 of one thread that are not calls, in the order in which they came.
 *
 *     summary        numbers of the block                       (varints; the index has a copy)
 *     column table   which columns there are, and their sizes   (varints)
 *     columns        kind | time | duration | value | ... | strings | payload
 *
 * Most kinds use few fields, so most columns are omitted.
 *
 * Blocks of few events share a chunk: the number of runs (which are what blocks are alone), their
 * summaries, then one column table and the columns of all of them, run after run. Differences start
 * again with each run; the strings are those of all.
 *
 *     runs | summary | ... | summary | column table | columns
 */
#ifndef WEFT_STORE_EVENT_BLOCK_H
#define WEFT_STORE_EVENT_BLOCK_H

#include "base/cursor.h"
#include "base/error.h"
#include "schema/event.h"
#include "store/block.h"
#include "store/bytes.h"
#include "store/format.h"

/* The summary. */
struct weft_event_head {
    uint64_t block;               /* number in the thread */
    uint64_t first_ns, last_ns;   /* earliest begin, latest end */
    uint64_t base_ns;             /* start of the event that came first */
    uint64_t first_row, last_row; /* of the calls whose arguments it has; 0 without */
    uint32_t thread_id;
    uint32_t n_events;
    uint32_t kinds; /* bit k: counts[k] > 0 */
    uint32_t counts[WEFT_EVENT_KINDS];
};

/* A column that is omitted has 0 bytes. */
struct weft_event_columns {
    struct weft_block_column_entry items[WEFT_EVENT_COLUMNS];
};

extern const uint8_t weft_event_value_codes[WEFT_EVENT_KINDS];
static inline enum weft_event_value_code weft_event_value_code(enum weft_event_kind kind)
{
    return (enum weft_event_value_code)weft_event_value_codes[kind];
}

/* Reads the summary and leaves `content` at the column table. Every number is checked against the
 * format's limits; nothing is allocated. WEFT_E_MALFORMED, WEFT_E_UNSUPPORTED for a newer kind. */
WEFT_CHECKED enum weft_code weft_event_head_parse(struct weft_cursor *content,
                                                  struct weft_event_head *head,
                                                  struct weft_err *err);

/* Reads the column table and leaves `content` at the first column. */
WEFT_CHECKED enum weft_code weft_event_columns_parse(struct weft_cursor *content,
                                                     const struct weft_event_head *head,
                                                     struct weft_event_columns *columns,
                                                     struct weft_err *err);

/* Appends a summary. */
void weft_event_head_put(struct weft_bytes *out, const struct weft_event_head *head);

/* Encodes a block (WEFT_EVENT_COLUMNS raw columns) and appends its EVNT chunk to `out`;
 * `head_bytes` gets the length of the summary at the start of the payload. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_event_encode(struct weft_block_encoder *encoder,
                                              const struct weft_event_head *head,
                                              const struct weft_bytes *columns,
                                              struct weft_bytes *out, size_t *head_bytes,
                                              struct weft_err *err);

/* The same of `n_runs` runs, whose summaries are `heads`, as a chunk `id`; `all` counts the events
 * and kinds of all. */
WEFT_CHECKED enum weft_code weft_event_encode_shared(struct weft_block_encoder *encoder,
                                                     uint32_t id, size_t n_runs,
                                                     const struct weft_bytes *heads,
                                                     const struct weft_event_head *all,
                                                     const struct weft_bytes *columns,
                                                     struct weft_bytes *out, struct weft_err *err);

#endif
