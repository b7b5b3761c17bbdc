/* SPDX-License-Identifier: MIT
 *
 * Finds the arguments of one call, and reads the few forms of argument text that the recorder
 * writes: the caller, the first argument, an address, the descriptors that were ready. The graph,
 * locks, interplay and sessions share this reading; a text of another form gives an empty answer,
 * never an error.
 */
#include "model/calls/arguments.h"

#include "base/checked.h"

#include <string.h>

enum weft_code weft_call_arguments(const struct weft_trace *trace, uint32_t thread_id, uint64_t row,
                                   uint64_t start_ns,
                                   void (*see)(void *context, const struct weft_walk_call *call),
                                   void *context, struct weft_err *err)
{
    /* From the instant before on: a call of no length may end its caller, which is out from here.
     */
    const struct weft_walk_opts opts = {
        .window = { start_ns - (start_ns > 0), weft_add_sat_u64(start_ns, 1) }, .with_args = true
    };
    struct weft_walk *walk = NULL;
    struct weft_walk_call call;
    enum weft_step step = WEFT_STEP_ENTER;
    if (row == UINT64_MAX || start_ns == UINT64_MAX)
        return WEFT_OK;
    enum weft_code code = weft_walk_open(trace, thread_id, &opts, &walk, err);
    while (code == WEFT_OK && step != WEFT_STEP_END) {
        code = weft_walk_next(walk, &step, &call, err);
        if (code != WEFT_OK || step != WEFT_STEP_ENTER || call.row != row)
            continue;
        if (call.n_args || call.n_arg_texts)
            see(context, &call);
        break;
    }
    weft_walk_close(walk);
    return code;
}

struct weft_str weft_arguments_caller(struct weft_str text)
{
    static const char front[] = "{\"caller\":\"";
    const size_t n_front = sizeof front - 1;
    struct weft_str caller = { "", 0 };
    if (text.n_bytes <= n_front || memcmp(text.bytes, front, n_front) != 0)
        return caller;
    size_t end = n_front;
    while (end < text.n_bytes && text.bytes[end] != '"')
        end += text.bytes[end] == '\\' ? 2 : 1;
    if (end < text.n_bytes)
        caller = (struct weft_str){ text.bytes + n_front, end - n_front };
    return caller;
}

struct weft_str weft_arguments_first(struct weft_str text)
{
    size_t start = 0, end;
    while (start < text.n_bytes && strchr("( ", text.bytes[start]))
        start++;
    for (end = start; end < text.n_bytes && !strchr(",) ", text.bytes[end]);)
        end++;
    return (struct weft_str){ text.bytes + start, end - start };
}

bool weft_argument_address(struct weft_str text, uint64_t *number)
{
    *number = 0;
    if (text.n_bytes < 3 || text.n_bytes > 18 || memcmp(text.bytes, "0x", 2) != 0)
        return false;
    for (size_t i = 2; i < text.n_bytes; i++) {
        const char *digit = memchr("0123456789abcdef", text.bytes[i], 16);
        if (!digit)
            return false;
        *number = *number << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    return true;
}

/* Within a string of the text the first quote would be escaped. */
bool weft_arguments_ready(struct weft_str text, uint64_t *fds, size_t n_max, size_t *n_fds)
{
    static const char front[] = "\"ready\":[";
    const char *const end = text.bytes + text.n_bytes;
    const char *at =
        text.n_bytes ? memmem(text.bytes, text.n_bytes, front, sizeof front - 1) : NULL;
    *n_fds = 0;
    if (!at)
        return false;
    for (at += sizeof front - 1; at < end && *at >= '0' && *at <= '9';
         at += at < end && *at == ',') {
        uint64_t fd = 0;
        for (; at < end && *at >= '0' && *at <= '9'; at++)
            fd = fd * 10 + (uint64_t)(*at - '0');
        if (*n_fds < n_max)
            fds[(*n_fds)++] = fd;
    }
    return true;
}
