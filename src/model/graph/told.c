/* SPDX-License-Identifier: MIT
 *
 * Collects those arguments in one walk over the calls in which the thread waits, for
 * model/graph/user.c. A text that lists ready descriptors replaces the numbers of the call, and an
 * empty list means that the wait timed out.
 */
#include "model/graph/told.h"

#include "base/vec.h"
#include "model/calls/arguments.h"
#include "model/calls/walk.h"

#include <stdlib.h>
#include <string.h>

static bool keep(struct weft_graph_told *told, uint64_t object)
{
    uint64_t *kept = WEFT_VEC_PUSH(&told->objects);
    if (kept)
        *kept = object;
    return kept != NULL;
}

/* The numbers are what was waited for; what was ready, if a text says so, counts instead. */
static bool see(struct weft_graph_told *told, struct weft_told *own,
                const struct weft_walk_call *call)
{
    uint64_t ready[WEFT_TOLD_OBJECTS];
    size_t n_ready;
    own->first = told->objects.n;
    for (size_t i = 0; i < call->n_args && i < WEFT_TOLD_OBJECTS; i++)
        if (!keep(told, call->args[i]))
            return false;
    for (size_t i = 0; i < call->n_arg_texts; i++)
        if (weft_arguments_ready(call->arg_texts[i], ready, WEFT_TOLD_OBJECTS, &n_ready)) {
            told->objects.n = own->first;
            own->is_timed_out = n_ready == 0;
            for (size_t k = 0; k < n_ready; k++)
                if (!keep(told, ready[k]))
                    return false;
        }
    own->n_objects = told->objects.n - own->first;
    return true;
}

static enum weft_code walk_calls(struct weft_graph_told *told, struct weft_walk *walk,
                                 const struct weft_wait_call *calls, size_t n, struct weft_err *err)
{
    enum weft_step step = WEFT_STEP_ENTER;
    struct weft_walk_call call;
    enum weft_code code = WEFT_OK;
    for (size_t at = 0; code == WEFT_OK && at < n && step != WEFT_STEP_END;) {
        code = weft_walk_next(walk, &step, &call, err);
        if (code != WEFT_OK || step != WEFT_STEP_ENTER || call.row == UINT64_MAX)
            continue;
        while (at < n && calls[at].row < call.row)
            at++;
        if (at < n && calls[at].row == call.row && !see(told, &told->calls[at], &call))
            return weft_no_memory(err, "arguments of waits");
    }
    return code;
}

enum weft_code weft_graph_told_need(struct weft_graph_told *told, const struct weft_trace *trace,
                                    uint32_t thread_id, const struct weft_wait_call *calls,
                                    size_t n, struct weft_err *err)
{
    struct weft_walk *walk = NULL;
    if (told->is_read || n == 0)
        return WEFT_OK;
    if (!weft_vec_reserve(&told->calls, &told->cap_calls, n, sizeof *told->calls))
        return weft_no_memory(err, "arguments of waits");
    memset(told->calls, 0, n * sizeof *told->calls);
    told->objects.n = 0;
    const struct weft_walk_opts opts = { .window = { calls[0].start_ns, calls[n - 1].start_ns + 1 },
                                         .with_args = true };
    enum weft_code code = weft_walk_open(trace, thread_id, &opts, &walk, err);
    WEFT_THEN(code, walk_calls(told, walk, calls, n, err));
    weft_walk_close(walk);
    told->is_read = code == WEFT_OK;
    return code;
}

uint64_t weft_graph_told_bytes(const struct weft_graph_told *told)
{
    return told->cap_calls * sizeof *told->calls + told->objects.cap * sizeof *told->objects.items;
}

void weft_graph_told_forget(struct weft_graph_told *told)
{
    told->is_read = false;
}

void weft_graph_told_fini(struct weft_graph_told *told)
{
    free(told->calls);
    WEFT_VEC_FINI(&told->objects);
    *told = (struct weft_graph_told){ 0 };
}
