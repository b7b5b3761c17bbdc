/* SPDX-License-Identifier: MIT
 *
 * Collects those arguments in one walk over the calls in which the thread waits, for
 * model/graph/user.c. A text that lists ready descriptors replaces the numbers of the call, and an
 * empty list means that the wait timed out.
 */
#include "model/graph/wait_arguments.h"

#include "base/vec.h"
#include "model/calls/arguments.h"
#include "model/calls/walk.h"

#include <stdlib.h>
#include <string.h>

static bool keep(struct weft_wait_arguments *arguments, uint64_t object)
{
    uint64_t *kept = WEFT_VEC_PUSH(&arguments->objects);
    if (kept)
        *kept = object;
    return kept != NULL;
}

/* The numbers are what was waited for; what was ready, if a text says so, counts instead. */
static bool see(struct weft_wait_arguments *arguments, struct weft_waited *own,
                const struct weft_walk_call *call)
{
    uint64_t ready[WEFT_WAITED_OBJECTS];
    size_t n_ready;
    own->first = arguments->objects.n;
    for (size_t i = 0; i < call->n_args && i < WEFT_WAITED_OBJECTS; i++)
        if (!keep(arguments, call->args[i]))
            return false;
    for (size_t i = 0; i < call->n_arg_texts; i++)
        if (weft_arguments_ready(call->arg_texts[i], ready, WEFT_WAITED_OBJECTS, &n_ready)) {
            arguments->objects.n = own->first;
            own->is_timed_out = n_ready == 0;
            for (size_t k = 0; k < n_ready; k++)
                if (!keep(arguments, ready[k]))
                    return false;
        }
    own->n_objects = arguments->objects.n - own->first;
    return true;
}

static enum weft_code walk_calls(struct weft_wait_arguments *arguments, struct weft_walk *walk,
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
        if (at < n && calls[at].row == call.row && !see(arguments, &arguments->calls[at], &call))
            return weft_no_memory(err, "arguments of waits");
    }
    return code;
}

enum weft_code weft_wait_arguments_need(struct weft_wait_arguments *arguments,
                                        const struct weft_trace *trace, uint32_t thread_id,
                                        const struct weft_wait_call *calls, size_t n,
                                        struct weft_err *err)
{
    struct weft_walk *walk = NULL;
    if (arguments->is_read || n == 0)
        return WEFT_OK;
    if (!weft_vec_reserve(&arguments->calls, &arguments->cap_calls, n, sizeof *arguments->calls))
        return weft_no_memory(err, "arguments of waits");
    memset(arguments->calls, 0, n * sizeof *arguments->calls);
    arguments->objects.n = 0;
    const struct weft_walk_opts opts = { .window = { calls[0].start_ns, calls[n - 1].start_ns + 1 },
                                         .with_args = true };
    enum weft_code code = weft_walk_open(trace, thread_id, &opts, &walk, err);
    WEFT_THEN(code, walk_calls(arguments, walk, calls, n, err));
    weft_walk_close(walk);
    arguments->is_read = code == WEFT_OK;
    return code;
}

uint64_t weft_wait_arguments_bytes(const struct weft_wait_arguments *arguments)
{
    return arguments->cap_calls * sizeof *arguments->calls +
           arguments->objects.cap * sizeof *arguments->objects.items;
}

void weft_wait_arguments_forget(struct weft_wait_arguments *arguments)
{
    arguments->is_read = false;
}

void weft_wait_arguments_fini(struct weft_wait_arguments *arguments)
{
    free(arguments->calls);
    WEFT_VEC_FINI(&arguments->objects);
    *arguments = (struct weft_wait_arguments){ 0 };
}
