/* SPDX-License-Identifier: MIT
 *
 * Analyses that answer with a plain list, for all front ends: the window, the order, the limit.
 */
#ifndef WEFT_QUERY_LIST_H
#define WEFT_QUERY_LIST_H

#include "query/session.h"

/* WEFT_E_ARG names a key to sort by that the rows do not have. */
WEFT_CHECKED enum weft_code weft_list_run(struct weft_session *session,
                                          const struct weft_analysis *analysis,
                                          const struct weft_list_request *request,
                                          struct weft_list_table **table, struct weft_err *err);

#endif
