/* SPDX-License-Identifier: MIT
 *
 * The two passes over an importer's events: a survey that finds threads and names, then the
 * announcement of the threads, then the delivery. The importer supplies `next` and `rewind`; both
 * passes must see the same events in the same order.
 */
#include "kernel/convert.h"

enum { STEP_EVENTS = 1 << 16 };

static enum weft_code step(const struct kernel_convert *convert, const struct weft_run *run)
{
    if (!run)
        return WEFT_OK;
    if (!convert->is_survey)
        weft_progress_add(run->progress, STEP_EVENTS);
    return weft_progress_is_cancelled(run->progress)
               ? weft_fail(convert->err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted")
               : WEFT_OK;
}

static enum weft_code read_all(struct kernel_convert *convert,
                               const struct kernel_readings *readings, const struct weft_run *run,
                               uint64_t *n_items)
{
    bool is_end = false;
    *n_items = 0;
    for (;;) {
        enum weft_code code = readings->next(readings->importer, &is_end);
        if (code == WEFT_OK && !is_end && ++*n_items % STEP_EVENTS == 0)
            code = step(convert, run);
        if (code != WEFT_OK || is_end)
            return code;
    }
}

enum weft_code kernel_read_twice(struct kernel_convert *convert,
                                 const struct kernel_readings *readings, const struct weft_run *run)
{
    uint64_t n_items;
    convert->is_survey = true;
    enum weft_code code = read_all(convert, readings, run, &n_items);
    WEFT_THEN(code, readings->rewind(readings->importer));
    WEFT_THEN(code, kernel_announce_threads(convert, readings->announces_all));
    if (code != WEFT_OK)
        return code;
    kernel_threads_seal(&convert->threads);
    convert->is_survey = false;
    if (run)
        weft_progress_start(run->progress, "storing", readings->unit, n_items);
    code = read_all(convert, readings, run, &n_items);
    return code == WEFT_OK ? kernel_end_threads(convert) : code;
}
