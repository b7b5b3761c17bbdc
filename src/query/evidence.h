/* SPDX-License-Identifier: MIT
 *
 * What findings rest on, for a page that cannot ask: the critical paths of the executions that they
 * name, and of the slowest ones.
 */
#ifndef WEFT_QUERY_EVIDENCE_H
#define WEFT_QUERY_EVIDENCE_H

#include "base/error.h"
#include "base/str.h"
#include "schema/findings.h"
#include "schema/path.h"

#include <stddef.h>
#include <stdint.h>

struct weft_session;
struct weft_trace;

enum { WEFT_EVIDENCE_PATHS = 12 };

struct weft_evidence_path {
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
    struct weft_path_table *table;
};

struct weft_evidence {
    struct weft_evidence_path paths[WEFT_EVIDENCE_PATHS]; /* in the order of the findings */
    size_t n_paths;
};

/* The first finding's worst execution, those of the next that are not small, then the slowest of
 * the first type: at most WEFT_EVIDENCE_PATHS, each once. Ends at the first that fails; what was
 * found before stays. */
WEFT_CHECKED enum weft_code weft_evidence_gather(struct weft_session *session,
                                                 const struct weft_findings_table *findings,
                                                 struct weft_evidence *evidence,
                                                 struct weft_err *err);

/* The thread with this tid that lived at a time, of this name if there is such: a tid may have been
 * used again, or on another host. WEFT_ID_NONE: none has the tid. */
uint32_t weft_evidence_thread(const struct weft_trace *trace, uint64_t tid, struct weft_str name,
                              uint64_t at_ns);

void weft_evidence_fini(struct weft_evidence *evidence);

#endif
