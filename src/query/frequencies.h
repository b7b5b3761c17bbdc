/* SPDX-License-Identifier: MIT
 *
 * What happens during executions, and how often (docs/analyses/frequencies.md).
 */
#ifndef WEFT_QUERY_FREQUENCIES_H
#define WEFT_QUERY_FREQUENCIES_H

#include "base/error.h"
#include "schema/frequencies.h"
#include "schema/rules.h"

#include <stdbool.h>

struct weft_session;

struct weft_frequencies_request {
    const struct weft_rules *executions; /* all of its types */
    const struct weft_rules *counted;    /* of weft_rules_of_count */
    uint64_t slower_than_ns;             /* parts slow ones from others; 0: all are one group */
    bool of_paths; /* not what happens meanwhile in the process, but what the critical paths go
                      through */
};

/* Finds the executions, then what is counted, each in one pass. Those that are cut at either end
 * are left out. Of paths, those of all executions are taken, one after the other. Memory: 32 bytes
 * an execution (of paths: for each time that one goes to a thread), and what finding them needs. */
WEFT_CHECKED enum weft_code weft_session_frequencies(struct weft_session *session,
                                                     const struct weft_frequencies_request *request,
                                                     struct weft_frequencies_table **table,
                                                     struct weft_err *err);

#endif
