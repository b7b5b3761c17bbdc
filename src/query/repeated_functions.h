/* SPDX-License-Identifier: MIT
 *
 * Which functions threads call again and again at the top, and which only as a part of these.
 */
#ifndef WEFT_QUERY_REPEATED_FUNCTIONS_H
#define WEFT_QUERY_REPEATED_FUNCTIONS_H

#include "base/error.h"
#include "base/pool.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Each thread has a level: the outermost at which a function is called at least 10 times. */
struct weft_repeated_function {
    uint64_t n_calls; /* at whatever depth */
    uint64_t n_at;    /* at the level of their thread, where the function is called that often; */
    uint64_t sum_ns;  /* of these */
    uint64_t n_below; /* deeper than that, where a whole is called that often, and not in another
                       * call of the same function */
    bool is_repeated;
};

/* Of all functions of the trace, by number; the caller frees them. `is_whole` tells by number which
 * may have parts: others, such as what only waits, say nothing of what is deeper. Calls deeper than
 * 16 are counted in n_calls alone. O(calls); memory by workers, functions and depth. WEFT_E_NOMEM;
 * else as loading blocks. */
WEFT_CHECKED enum weft_code weft_repeated_functions(const struct weft_trace *trace,
                                                    const bool *is_whole,
                                                    const struct weft_run *run,
                                                    struct weft_repeated_function **functions,
                                                    struct weft_err *err);

#endif
