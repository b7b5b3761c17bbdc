/* SPDX-License-Identifier: MIT
 *
 * The library's side of include/weft/mark.h.
 */
#define WEFT_MARK_OFF /* only its types are wanted here */
#include "record/runtime/real.h"

#include <weft/mark.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void mark(uint32_t what, uint64_t id, double value, const char *text)
{
    const uint64_t with_value[] = { id, bits_of(value) };
    switch ((enum weft_mark_what)what) {
    case WEFT_MARK_BEGIN:
        weft_ring_put_text(WEFT_OP_MARK_BEGIN, 0, &id, 1, text);
        break;
    case WEFT_MARK_END:
        weft_ring_put_text(WEFT_OP_MARK_END, 0, &id, 1, text);
        break;
    case WEFT_MARK_METRIC:
        weft_ring_put_text(WEFT_OP_MARK_METRIC, 0, with_value, 2, text);
        break;
    case WEFT_MARK_INSTANT:
        weft_ring_put_text(WEFT_OP_MARK_INSTANT, 0, NULL, 0, text);
        break;
    case WEFT_MARK_COUNTER:
        weft_ring_put_text(WEFT_OP_MARK_COUNTER, 0, &with_value[1], 1, text);
        break;
    case WEFT_MARK_TASK_QUEUED:
        weft_ring_put_text(WEFT_OP_TASK_QUEUED, 0, &id, 1, text);
        break;
    case WEFT_MARK_TASK_BEGIN:
        weft_ring_put_text(WEFT_OP_TASK_BEGIN, 0, &id, 1, text);
        break;
    case WEFT_MARK_TASK_END:
        weft_ring_put_text(WEFT_OP_TASK_END, 0, &id, 1, text);
        break;
    case WEFT_MARK_THREAD_NAME:
        weft_ring_rename(text);
        weft_ring_put_text(WEFT_OP_THREAD_NAME, 0, NULL, 0, text);
        break;
    case WEFT_MARK_SNAPSHOT:
        weft_ring_put_text(WEFT_OP_SNAPSHOT, 0, NULL, 0, text);
        break;
    } /* of a newer header: ignored */
}

extern struct weft_mark_hooks weft_mark_hooks_1; /* WEFT_MARK_HOOKS */

__attribute__((visibility("default"))) struct weft_mark_hooks weft_mark_hooks_1 = {
    .n_bytes = sizeof(struct weft_mark_hooks), .mark = mark
};

void weft_marks_begin(void)
{
    weft_mark_hooks_1.is_on = 1;
}
