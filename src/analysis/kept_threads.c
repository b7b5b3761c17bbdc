/* SPDX-License-Identifier: MIT
 *
 * Combines the filter of a question with twins and with the rule on the recorded program
 * (model/locks/program.h), for all analyses of waits, so that they choose the same threads.
 */
#include "analysis/kept_threads.h"

#include "model/calls/scan.h"
#include "model/locks/program.h"

#include <stdlib.h>
#include <string.h>

enum weft_code weft_kept_threads(const struct weft_trace *trace, const struct weft_locks *locks,
                                 const struct weft_thread_filter *filter,
                                 struct weft_left_out *left_out, uint8_t **is_kept,
                                 struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(trace);
    const struct weft_twins *twins = weft_locks_twins(locks);
    const bool is_all = !filter || filter->n_ids == 0;
    *is_kept = calloc((size_t)n_threads + 1, 1);
    if (!*is_kept)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for threads");
    if (is_all) {
        memset(*is_kept, 1, n_threads);
        return left_out ? weft_program_find(trace, locks, *is_kept, left_out, err) : WEFT_OK;
    }
    const enum weft_code code = weft_scan_check(trace, filter->ids, filter->n_ids, err);
    for (size_t i = 0; code == WEFT_OK && i < filter->n_ids; i++)
        (*is_kept)[twins->first[filter->ids[i]]] = 1;
    return code;
}
