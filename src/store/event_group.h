/* SPDX-License-Identifier: MIT
 *
 * Blocks of few events, of one thread after the other, that go into one chunk: a thread's last
 * block, or its only one. A chunk of its own costs more than some threads have to say.
 *
 * A block is taken as the columns that a builder has; where it cannot be taken at once, it is
 * written out as bytes and read back later.
 */
#ifndef WEFT_STORE_EVENT_GROUP_H
#define WEFT_STORE_EVENT_GROUP_H

#include "base/error.h"
#include "store/event_builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_EVENT_GROUP_EVENTS = 1024,    /* blocks of more events stand alone */
    WEFT_EVENT_GROUP_BYTES = 64 << 10, /* likewise of more bytes of strings and payloads */
};

struct weft_event_run {
    uint32_t thread_id;
    uint32_t head_off, head_bytes; /* of the summary, in heads */
};

struct weft_event_group {
    struct weft_event_builder *builder; /* columns of all runs; NULL: none yet */
    struct weft_bytes heads;
    struct {
        struct weft_event_run *items;
        size_t n, cap;
    } runs;
};

void weft_event_group_fini(struct weft_event_group *group);

/* Is the block small enough to share a chunk? */
bool weft_event_is_small(const struct weft_event_head *head, const struct weft_bytes *columns);

/* Would the chunk become too large with it? */
bool weft_event_group_is_full(const struct weft_event_group *group,
                              const struct weft_event_head *head, const struct weft_bytes *columns);

/* Takes a small block into a group that is not full. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_event_group_add(struct weft_event_group *group,
                                                 const struct weft_event_head *head,
                                                 const struct weft_bytes *columns,
                                                 struct weft_err *err);

/* Forgets the runs. */
void weft_event_group_reset(struct weft_event_group *group);

/* A small block as bytes, for this process alone, and back: `columns` then point into them. */
void weft_event_pack(const struct weft_event_head *head, const struct weft_bytes *columns,
                     struct weft_bytes *out);
void weft_event_unpack(const uint8_t *bytes, size_t n_bytes, struct weft_event_head *head,
                       struct weft_bytes columns[WEFT_EVENT_COLUMNS]);

#endif
