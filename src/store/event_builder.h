/* SPDX-License-Identifier: MIT
 *
 * Collects the events of one thread that are not calls as the columns of a block. Memory: what the
 * columns of one block take, grown by need, so that a thread with few events costs little; a block
 * ends after so many events as the writer says, or 256 KiB of names and payloads.
 */
#ifndef WEFT_STORE_EVENT_BUILDER_H
#define WEFT_STORE_EVENT_BUILDER_H

#include "base/error.h"
#include "schema/event.h"
#include "store/event_block.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name or category of the block. */
struct weft_event_string {
    uint32_t off, n_bytes; /* in the column of strings */
    uint32_t hash;
};

/* What was given up in this thread. */
struct weft_event_drops {
    uint64_t n_args;     /* arguments of calls that are not kept */
    uint64_t n_payloads; /* longer than WEFT_FORMAT_MAX_PAYLOAD_BYTES */
    uint64_t n_names;    /* cut to WEFT_FORMAT_MAX_NAME_BYTES */
};

struct weft_event_builder {
    struct weft_event_head head; /* of the block in work */
    struct weft_bytes columns[WEFT_EVENT_COLUMNS];
    struct {
        struct weft_event_string *items;
        size_t n, cap;
    } strings;
    uint32_t *slots; /* hash table: 1 + index in strings, 0 free; NULL: no strings yet */
    unsigned slot_bits;
    uint64_t previous_ns;                      /* start of the event before */
    uint64_t previous_value[WEFT_EVENT_KINDS]; /* of the event of the kind before */
    uint32_t previous_name[WEFT_EVENT_KINDS];  /* likewise, as in the column: a good guess */
    uint32_t previous_category;                /* of the event before */
    struct weft_event_drops drops;
    uint64_t n_events; /* of the thread, blocks before the one in work */
    uint32_t block_events;
    struct weft_event_builder *next; /* in the writer's free list */
};

/* Called with a full block: encodes it and lets go of it (weft_event_builder_next_block). */
struct weft_event_flush {
    enum weft_code (*flush)(void *context, struct weft_event_builder *builder,
                            struct weft_err *err);
    void *context;
};

/* NULL without memory. */
struct weft_event_builder *weft_event_builder_new(uint32_t block_events);
void weft_event_builder_free(struct weft_event_builder *builder);

/* Forgets the thread before and starts on another. */
void weft_event_builder_start(struct weft_event_builder *builder, uint32_t thread_id);

/* Takes one event, of a known kind. `row` is the call that CALL_ARGS belongs to, UINT64_MAX if it
 * is not kept. WEFT_E_NOMEM, WEFT_E_LIMIT for times beyond the format's, and what flush returns. */
WEFT_CHECKED enum weft_code weft_event_builder_put(struct weft_event_builder *builder,
                                                   const struct weft_event *event, uint64_t row,
                                                   const struct weft_event_flush *flush,
                                                   struct weft_err *err);

/* Adds all events of a block (`columns` as another builder has them) behind those that are there;
 * of the head only n_events and kinds are kept up. False without memory. */
bool weft_event_builder_append(struct weft_event_builder *builder,
                               const struct weft_event_head *head,
                               const struct weft_bytes *columns);

/* Starts the next block of the same thread. */
void weft_event_builder_next_block(struct weft_event_builder *builder);

#endif
