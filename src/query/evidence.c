/* SPDX-License-Identifier: MIT
 *
 * Lists the executions first, then asks for the path of each: the cheap part decides what the
 * costly one does.
 */
#include "query/evidence.h"

#include "model/trace.h"
#include "query/session.h"
#include "schema/problems.h"

struct place {
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
};

struct places {
    const struct weft_trace *trace;
    struct place items[WEFT_EVIDENCE_PATHS];
    size_t n;
};

uint32_t weft_evidence_thread(const struct weft_trace *trace, uint64_t tid, struct weft_str name,
                              uint64_t at_ns)
{
    enum { HAS_NAME = 1, IS_OWN = 2, LIVES = 4, MOST = 7 };
    uint32_t found = WEFT_ID_NONE;
    int most = -1;
    for (uint32_t id = 0; id < weft_trace_n_threads(trace) && most < MOST; id++) {
        const struct weft_model_thread *thread = weft_trace_thread(trace, id);
        if (thread->info.tid != tid)
            continue;
        const bool lives = thread->first_ns <= at_ns && at_ns <= thread->last_ns;
        const int fits = (weft_str_equal(thread->info.name, name) ? HAS_NAME : 0) |
                         (thread->info.is_foreign ? 0 : IS_OWN) | (lives ? LIVES : 0);
        if (fits > most) {
            most = fits;
            found = id;
        }
    }
    return found;
}

/* An interval has a length: paths of nothing are not asked for. */
static void add_place(struct places *places, uint32_t thread_id, uint64_t from_ns, uint64_t to_ns)
{
    const struct place place = { thread_id, from_ns, to_ns > from_ns ? to_ns : from_ns + 1 };
    for (size_t i = 0; i < places->n; i++)
        if (places->items[i].thread_id == thread_id && places->items[i].from_ns == place.from_ns &&
            places->items[i].to_ns == place.to_ns)
            return;
    if (thread_id != WEFT_ID_NONE && places->n < WEFT_EVIDENCE_PATHS)
        places->items[places->n++] = place;
}

static void add_item(struct places *places, const struct weft_ecct_matrix *matrix, uint32_t item)
{
    const struct weft_execution_item *own = &matrix->items[item];
    add_place(places, weft_evidence_thread(places->trace, own->tid, own->thread, own->start_ns),
              own->start_ns, own->end_ns);
}

/* In the order of the findings (weft_problems_json). The first is shown although it is small. */
static void list_worst(const struct weft_problems_table *problems, size_t n_most,
                       struct places *places)
{
    const size_t n_leading = weft_problems_n_leading(problems);
    for (size_t i = 0; i < problems->n_syncs && i < n_leading && places->n < n_most; i++)
        add_place(places, problems->syncs[i].worst_thread_id, problems->syncs[i].worst_start_ns,
                  problems->syncs[i].worst_end_ns);
    for (size_t i = 0; i < problems->n_rows && places->n < n_most; i++)
        if (places->n == 0 || !problems->rows[i].is_small)
            add_item(places, problems->rows[i].finding->matrix, problems->rows[i].worst);
    for (size_t i = n_leading; i < problems->n_syncs && places->n < n_most; i++)
        add_place(places, problems->syncs[i].worst_thread_id, problems->syncs[i].worst_start_ns,
                  problems->syncs[i].worst_end_ns);
}

static void list_slowest(const struct weft_findings_table *findings, struct places *places)
{
    uint32_t slowest[WEFT_FINDING_SLOWEST];
    const struct weft_finding *first = weft_findings_first(findings);
    const size_t n = first ? weft_finding_slowest(first, slowest) : 0;
    for (size_t i = 0; i < n; i++)
        add_item(places, first->matrix, slowest[i]);
}

static enum weft_code add_path(struct weft_session *session, const struct place *place,
                               struct weft_evidence *evidence, struct weft_err *err)
{
    const union weft_request request = { .path = { .thread_id = place->thread_id,
                                                   .from_ns = place->from_ns,
                                                   .to_ns = place->to_ns,
                                                   .call_depth = WEFT_PATH_INNERMOST } };
    union weft_result result;
    WEFT_TRY(weft_query_run(session, "path", &request, &result, err));
    evidence->paths[evidence->n_paths++] =
        (struct weft_evidence_path){ place->thread_id, place->from_ns, place->to_ns, result.path };
    return WEFT_OK;
}

enum weft_code weft_evidence_gather(struct weft_session *session,
                                    const struct weft_findings_table *findings,
                                    struct weft_evidence *evidence, struct weft_err *err)
{
    struct places places = { .trace = weft_session_trace(session) };
    enum weft_code code = WEFT_OK;
    *evidence = (struct weft_evidence){ .n_paths = 0 };
    list_worst(findings->problems, WEFT_EVIDENCE_PATHS - WEFT_FINDING_SLOWEST, &places);
    list_slowest(findings, &places);
    for (size_t i = 0; code == WEFT_OK && i < places.n; i++)
        code = add_path(session, &places.items[i], evidence, err);
    return code;
}

void weft_evidence_fini(struct weft_evidence *evidence)
{
    for (size_t i = 0; i < evidence->n_paths; i++)
        weft_result_free(evidence->paths[i].table);
    evidence->n_paths = 0;
}
