/* SPDX-License-Identifier: MIT
 *
 * The report: one HTML file that needs no network, with the interface and the data inside.
 */
#ifndef WEFT_RENDER_PAGE_PAGE_H
#define WEFT_RENDER_PAGE_PAGE_H

#include "base/error.h"
#include "base/pool.h"
#include "model/trace.h"
#include "render/text/render.h"
#include "schema/activity.h"
#include "schema/functions.h"
#include "schema/missing.h"
#include "schema/outliers.h"
#include "schema/regtime.h"
#include "schema/shapes.h"

struct weft_page_answers;

/* A page is no larger, unless its functions alone take more, or more rows were asked for. Of more
 * threads it has the busiest; of many threads fewer rows each. */
enum { WEFT_PAGE_BYTES = 2000 * 1000, WEFT_PAGE_THREADS = 2000, WEFT_PAGE_ROWS = 40000 };

struct weft_page {
    const struct weft_trace *trace;
    const char *name; /* shown as the title */
    const struct weft_functions_table *functions;
    const struct weft_regtime_table *regtime;
    const struct weft_activity_table *activity;
    const struct weft_outliers_table *outliers;
    const struct weft_shapes_table *shapes; /* with columns; NULL: the page has no ribbons */
    const struct weft_regtime_view *settings;
    uint64_t
        shapes_bytes; /* that the shapes may take, packed; 0: as many as a report has room for */
    struct weft_page_answers *answers; /* render/page/answers.h; NULL: none. Some may be dropped */
    uint64_t taken_bytes;         /* of a page, by all but data and answers: by weft_page_write */
    struct weft_missing *missing; /* parts that failed; a later one is added. NULL: none may fail */
    struct weft_pool *pool;       /* that compresses; NULL: none. The page is the same */
};

/* The data alone, as docs/page-data.md describes it. The regtime and activity tables must cover the
 * same threads. */
WEFT_CHECKED enum weft_code weft_page_data(const struct weft_page *page, struct weft_output *out,
                                           struct weft_err *err);

/* {v, shapes}: that part of the data alone. The page needs no regtime table for it: threads are
 * then named by their dense ids. */
WEFT_CHECKED enum weft_code weft_page_shapes_data(const struct weft_page *page,
                                                  struct weft_output *out, struct weft_err *err);

/* WEFT_E_UNSUPPORTED if this program was built without the user interface: asked before the work.
 */
WEFT_CHECKED enum weft_code weft_page_check(struct weft_err *err);

/* What a page takes with all of its answers, and as few shapes as there can be: about. */
WEFT_CHECKED enum weft_code weft_page_least_bytes(const struct weft_page *page, uint64_t *n_bytes,
                                                  struct weft_err *err);

/* The whole page. WEFT_E_UNSUPPORTED if this program was built without the user interface. */
WEFT_CHECKED enum weft_code weft_page_write(const struct weft_page *page, struct weft_output *out,
                                            struct weft_err *err);

#endif
