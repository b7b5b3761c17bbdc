/* SPDX-License-Identifier: MIT
 *
 * Windows of time.
 */
#ifndef WEFT_MODEL_WINDOW_H
#define WEFT_MODEL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* [from_ns, to_ns): calls that begin before its end, and do not both begin before it and end at
 * from_ns or earlier. Those that do are left out with all their callees. */
struct weft_window {
    uint64_t from_ns, to_ns;
};

#define WEFT_WINDOW_ALL ((struct weft_window){ .from_ns = 0, .to_ns = UINT64_MAX })

static inline uint64_t weft_window_clip(const struct weft_window *window, uint64_t at_ns)
{
    if (at_ns < window->from_ns)
        return window->from_ns;
    return at_ns < window->to_ns ? at_ns : window->to_ns;
}

#endif
