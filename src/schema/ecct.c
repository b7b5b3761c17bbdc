/* SPDX-License-Identifier: MIT
 *
 * Names of frames, and sums over executions.
 */
#include "schema/ecct.h"

#include <string.h>

#define BLOCKED "blocked: "
#define BLOCKED_IN BLOCKED "in "

const char *weft_frame_kind_name(enum weft_frame_kind kind)
{
    static const char *const names[WEFT_FRAME_KINDS] = { "function", "state", "lock", "thread" };
    return names[kind];
}

const char *weft_confidence_name(enum weft_confidence confidence)
{
    static const char *const names[WEFT_CONFIDENCES] = { "exact", "inferred", "unexplained" };
    return names[confidence];
}

double weft_ecct_matrix_time_ns(const struct weft_ecct_matrix *matrix)
{
    double sum_ns = 0;
    for (size_t i = 0; i < matrix->n_items; i++)
        sum_ns += (double)(matrix->items[i].end_ns - matrix->items[i].start_ns);
    return sum_ns;
}

uint64_t weft_ecct_matrix_unfinished(const struct weft_ecct_matrix *matrix)
{
    uint64_t n = 0;
    for (size_t i = 0; i < matrix->n_items; i++)
        n += (matrix->items[i].flags & WEFT_EXECUTION_UNFINISHED) != 0;
    return n;
}

/* ---- states ---------------------------------------------------------------------------------- */

const char *weft_frame_state_name(enum weft_frame_state state)
{
    static const char *const names[WEFT_FRAME_STATES] = { "none",        "unknown",   "running",
                                                          "interrupted", "preempted", "blocked" };
    return names[state];
}

bool weft_frame_is_blocked(const struct weft_frame *frame, enum weft_path_reason reason,
                           uint8_t flags)
{
    return frame->state == WEFT_FRAME_BLOCKED && frame->reason == reason && frame->flags == flags;
}

/* What follows that in a name; empty, if the name does not begin so. */
static struct weft_str after(struct weft_str name, const char *start)
{
    const size_t n = strlen(start);
    if (name.n_bytes < n || memcmp(name.bytes, start, n) != 0)
        return (struct weft_str){ 0 };
    return (struct weft_str){ name.bytes + n, name.n_bytes - n };
}

struct weft_str weft_frame_call(const struct weft_frame *frame)
{
    return frame->flags & WEFT_FRAME_IN_CALL ? after(frame->name, BLOCKED_IN)
                                             : (struct weft_str){ 0 };
}

struct weft_str weft_frame_wait(const struct weft_frame *frame)
{
    return frame->state == WEFT_FRAME_BLOCKED ? after(frame->name, BLOCKED)
                                              : (struct weft_str){ 0 };
}

/* "block device" is the reason "block_device". */
static bool is_reason(struct weft_str text, enum weft_path_reason reason)
{
    const char *name = weft_path_reason_name(reason);
    bool is_same = strlen(name) == text.n_bytes;
    for (size_t i = 0; is_same && i < text.n_bytes; i++)
        is_same = text.bytes[i] == (name[i] == '_' ? ' ' : name[i]);
    return is_same;
}

static void read_reason(struct weft_frame *frame, struct weft_str rest)
{
    if (weft_str_take(&rest, "in ")) {
        frame->reason = WEFT_PATH_CALL;
        frame->flags = WEFT_FRAME_IN_CALL;
    } else if (weft_str_take_end(&rest, ", timed out")) {
        frame->reason = WEFT_PATH_TIMER;
        frame->flags = WEFT_FRAME_TIMED_OUT;
    } else {
        frame->flags = weft_str_take_end(&rest, ", in flight") ? WEFT_FRAME_IN_FLIGHT : 0;
        for (unsigned reason = 0; reason < WEFT_PATH_REASONS; reason++)
            if (is_reason(rest, (enum weft_path_reason)reason))
                frame->reason = (uint8_t)reason;
    }
}

void weft_frame_read_state(struct weft_frame *frame)
{
    struct weft_str rest = frame->name;
    frame->state = WEFT_FRAME_NO_STATE;
    frame->reason = frame->flags = 0;
    if (frame->kind != WEFT_FRAME_STATE)
        return;
    if (weft_str_equal(rest, WEFT_STR("running"))) {
        frame->state = WEFT_FRAME_RUNNING;
    } else if (weft_str_take(&rest, "interrupted")) {
        frame->state = WEFT_FRAME_INTERRUPTED;
    } else if (weft_str_take(&rest, "preempted")) {
        frame->state = WEFT_FRAME_PREEMPTED;
    } else if (weft_str_take(&rest, "blocked")) {
        frame->state = WEFT_FRAME_BLOCKED;
        if (weft_str_take(&rest, ": "))
            read_reason(frame, rest);
    } else {
        frame->state = WEFT_FRAME_UNKNOWN;
    }
}
