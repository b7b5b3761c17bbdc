/* SPDX-License-Identifier: MIT
 *
 * Joins the small blocks of several threads in one chunk. commit.c owns a group for each stream and
 * decides when it is full; packing and unpacking serve blocks that wait for their place in the
 * file, and never leave the process.
 */
#include "store/event_group.h"

#include <inttypes.h>

enum { GROUP_BYTES = 256 << 10 };

void weft_event_group_fini(struct weft_event_group *group)
{
    weft_event_builder_free(group->builder);
    weft_bytes_fini(&group->heads);
    WEFT_VEC_FINI(&group->runs);
    *group = (struct weft_event_group){ 0 };
}

static size_t text_bytes(const struct weft_bytes *columns)
{
    return columns[WEFT_EVENT_COLUMN_STRINGS].n + columns[WEFT_EVENT_COLUMN_PAYLOAD].n;
}

bool weft_event_is_small(const struct weft_event_head *head, const struct weft_bytes *columns)
{
    return head->n_events <= WEFT_EVENT_GROUP_EVENTS &&
           text_bytes(columns) <= WEFT_EVENT_GROUP_BYTES;
}

bool weft_event_group_is_full(const struct weft_event_group *group,
                              const struct weft_event_head *head, const struct weft_bytes *columns)
{
    return group->builder &&
           (group->builder->head.n_events + head->n_events > WEFT_FORMAT_MAX_BLOCK_EVENTS ||
            text_bytes(group->builder->columns) + text_bytes(columns) > GROUP_BYTES);
}

enum weft_code weft_event_group_add(struct weft_event_group *group,
                                    const struct weft_event_head *head,
                                    const struct weft_bytes *columns, struct weft_err *err)
{
    if (!group->builder) {
        group->builder = weft_event_builder_new(WEFT_FORMAT_MAX_BLOCK_EVENTS);
        if (group->builder)
            weft_event_builder_start(group->builder, 0);
    }
    struct weft_event_run *run = group->builder ? WEFT_VEC_PUSH(&group->runs) : NULL;
    if (run) {
        run->thread_id = head->thread_id;
        run->head_off = (uint32_t)group->heads.n;
        weft_event_head_put(&group->heads, head);
        run->head_bytes = (uint32_t)group->heads.n - run->head_off;
    }
    if (!run || group->heads.has_failed ||
        !weft_event_builder_append(group->builder, head, columns))
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "a block of %" PRIu32 " events",
                         head->n_events);
    return WEFT_OK;
}

void weft_event_group_reset(struct weft_event_group *group)
{
    weft_event_builder_start(group->builder, 0);
    group->heads.n = 0;
    group->runs.n = 0;
}

void weft_event_pack(const struct weft_event_head *head, const struct weft_bytes *columns,
                     struct weft_bytes *out)
{
    weft_bytes_put(out, head, sizeof *head);
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++) {
        out->has_failed |= columns[i].has_failed;
        weft_bytes_put_varint(out, columns[i].n);
        weft_bytes_put(out, columns[i].items, columns[i].n);
    }
}

void weft_event_unpack(const uint8_t *bytes, size_t n_bytes, struct weft_event_head *head,
                       struct weft_bytes columns[WEFT_EVENT_COLUMNS])
{
    struct weft_cursor in = weft_cur_init(bytes, n_bytes, 0);
    memcpy(head, weft_cur_take(&in, sizeof *head), sizeof *head);
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++) {
        const size_t n_column = (size_t)weft_cur_varint(&in);
        /* Read only, whatever the type says. */
        uint8_t *items = (uint8_t *)(uintptr_t)weft_cur_take(&in, n_column);
        columns[i] = (struct weft_bytes){ .items = items, .n = n_column, .cap = n_column };
    }
}
