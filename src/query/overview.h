/* SPDX-License-Identifier: MIT
 *
 * Everything of a trace, or of a part, that one page shows at first: several analyses together.
 */
#ifndef WEFT_QUERY_OVERVIEW_H
#define WEFT_QUERY_OVERVIEW_H

#include "analysis/regtime/regtime.h"
#include "query/session.h"
#include "schema/activity.h"
#include "schema/functions.h"
#include "schema/missing.h"
#include "schema/outliers.h"

/* Tables of the same threads; the functions are of the whole trace, and the session's. In place of
 * a part that failed there is an empty table, of these threads. */
struct weft_overview {
    struct weft_regtime_table *regtime;
    struct weft_activity_table *activity;
    struct weft_outliers_table *outliers;
    const struct weft_functions_table *functions;
    struct weft_functions_table no_functions;
    struct weft_missing missing; /* parts that failed */
};

/* RegTime with these options (opts->window: of this part, and the others too); the longest pauses,
 * the outliers of highest rank. A part that fails is left out; an error if all do, or
 * the user stops it. */
WEFT_CHECKED enum weft_code weft_overview_run(struct weft_session *session,
                                              const struct weft_regtime_opts *opts,
                                              struct weft_overview *overview, struct weft_err *err);

/* Frees the tables; after a failure of weft_overview_run too. */
void weft_overview_fini(struct weft_overview *overview);

/* Shapes as the page's ribbons need them. */
void weft_overview_shapes(struct weft_shapes_opts *opts);

#endif
