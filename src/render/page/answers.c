/* SPDX-License-Identifier: MIT
 *
 * Renders by the functions of which `weft serve` makes its answers, and packs each as soon as it is
 * there. Bounds: segments of a path, threads, types that are compared, bytes of comparisons.
 */
#include "render/page/answers.h"

#include "model/trace.h"
#include "render/columns/compared.h"
#include "render/columns/pack.h"
#include "render/json/json.h"
#include "render/page/excerpt.h"
#include "render/page/page.h"
#include "render/text/compare.h"
#include "render/text/diagnose.h"
#include "render/text/directory.h"
#include "schema/problems.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SEGMENTS = 2000, PARTS_OF_COMPARISON = 3 };
enum { ELEMENT_BYTES = 120 }; /* of an answer, beside its question and what it holds */

/* Of all comparisons, packed. */
#define COMPARED_BYTES UINT64_C(300000)

enum weft_code weft_page_answers_init(struct weft_page_answers *answers,
                                      const struct weft_trace *trace, struct weft_pool *pool,
                                      struct weft_err *err)
{
    *answers =
        (struct weft_page_answers){ .trace = trace, .pool = pool, .arena = weft_arena_new(0) };
    if (answers->arena)
        answers->is_needed =
            WEFT_ARENA_NEW(answers->arena, (size_t)weft_trace_n_threads(trace) + 1, bool);
    return answers->is_needed ? WEFT_OK : weft_no_memory(err, "a page");
}

static void drop_last(struct weft_page_answers *answers)
{
    weft_output_abort(answers->items[--answers->n].out);
}

void weft_page_answers_fini(struct weft_page_answers *answers)
{
    while (answers->n > 0)
        drop_last(answers);
    answers->n_proposals = 0;
    if (answers->arena)
        weft_arena_free(answers->arena);
    answers->arena = NULL;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* A value as an address has it. */
static void put_value(struct weft_output *out, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
        const char escaped[] = { '%', digits[c >> 4], digits[c & 15] };
        weft_output_write(out, is_plain ? text : escaped, is_plain ? 1 : sizeof escaped);
    }
}

/* "executions?type=NAME&begin=..." */
static void put_rule(struct weft_output *out, const char *name,
                     const struct weft_finding_choice *choice)
{
    const struct {
        const char *name, *value;
    } options[] = { { "type", choice->type },
                    { "begin", choice->begin },
                    { "end", choice->end },
                    { "match", choice->match },
                    { "within", choice->within } };
    char separator = '?';
    weft_output_text(out, name);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].value || !*options[i].value)
            continue;
        weft_output_write(out, &separator, 1);
        weft_output_printf(out, "%s=", options[i].name);
        put_value(out, options[i].value);
        separator = '&';
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

/* A new answer to a question, which the caller writes and ends. */
static enum weft_code begin(struct weft_page_answers *answers, enum weft_page_answer_kind kind,
                            struct weft_str question, struct weft_output **body,
                            struct weft_err *err)
{
    if (answers->n == WEFT_PAGE_ANSWERS)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "a page has at most %d answers",
                         WEFT_PAGE_ANSWERS);
    const struct weft_str copy = weft_arena_copy(answers->arena, question);
    if (!copy.bytes)
        return weft_no_memory(err, "a page");
    WEFT_TRY(weft_output_to_memory(body, err));
    answers->items[answers->n++] = (struct weft_page_answer){ kind, copy.bytes, *body };
    return WEFT_OK;
}

static enum weft_code pack(const struct weft_page_answers *answers, struct weft_output *body,
                           struct weft_output **packed, struct weft_err *err)
{
    WEFT_TRY(weft_output_to_memory(packed, err));
    weft_output_set_form(*packed, WEFT_OUTPUT_EXACT);
    enum weft_code code = weft_pack(weft_output_held(body), answers->pool, *packed, err);
    if (code == WEFT_OK && !weft_output_has_failed(*packed))
        return WEFT_OK;
    const enum weft_code closed = weft_output_close(*packed, code == WEFT_OK ? err : NULL);
    return code != WEFT_OK ? code : closed;
}

/* Packs the answer that was begun last, or drops it if it failed. */
static enum weft_code end(struct weft_page_answers *answers, bool is_json, struct weft_err *err)
{
    struct weft_page_answer *last = &answers->items[answers->n - 1];
    struct weft_output *body = last->out, *packed = NULL;
    if (is_json) {
        weft_output_set_form(body, WEFT_OUTPUT_JSON);
        weft_output_seal(body);
    }
    enum weft_code code = WEFT_OK;
    if (!weft_output_has_failed(body))
        code = pack(answers, body, &packed, err);
    const enum weft_code closed = weft_output_close(body, code == WEFT_OK ? err : NULL);
    code = code != WEFT_OK ? code : closed;
    if (code == WEFT_OK)
        last->out = packed;
    else
        answers->n--;
    return code;
}

static struct weft_view view_of(const struct weft_page_answers *answers, struct weft_output *body)
{
    return (struct weft_view){ .out = body,
                               .trace = answers->trace,
                               .path = answers->name,
                               .format = WEFT_FORMAT_JSON,
                               .has_ids = true };
}

/* ---- findings -------------------------------------------------------------------------------- */

static void put_traces(const struct weft_page_answers *answers, struct weft_output *body)
{
    const struct weft_view view = view_of(answers, body);
    struct weft_json *json = weft_view_json(&view);
    if (!json)
        return; /* the body holds the failure */
    weft_json_begin_object(json, NULL);
    weft_json_begin_array(json, "traces");
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "id", 0);
    weft_json_text(json, "name", answers->name);
    weft_render_trace_entry(json, answers->trace);
    weft_json_bool(json, "has_states", answers->has_states);
    weft_json_end_object(json);
    weft_json_end_array(json);
    weft_json_end_object(json);
    weft_view_json_end(&view, json);
}

enum weft_code weft_page_add_findings(struct weft_page_answers *answers,
                                      const struct weft_findings_table *findings,
                                      struct weft_err *err)
{
    const struct weft_findings_view how = { .with_rules = false };
    struct weft_output *body;
    WEFT_TRY(begin(answers, WEFT_PAGE_FINDINGS, WEFT_STR("traces"), &body, err));
    put_traces(answers, body);
    WEFT_TRY(end(answers, true, err));
    WEFT_TRY(begin(answers, WEFT_PAGE_FINDINGS, WEFT_STR("diagnose"), &body, err));
    const struct weft_view view = view_of(answers, body);
    weft_render_findings(&view, findings, &how);
    return end(answers, true, err);
}

enum weft_code weft_page_add_threads(struct weft_page_answers *answers, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(answers->trace);
    const size_t n_most = WEFT_PAGE_THREADS;
    uint32_t *ids = WEFT_ARENA_NEW(answers->arena, (size_t)n_threads + 1, uint32_t);
    struct weft_output *body;
    size_t n = 0;
    if (!ids)
        return weft_no_memory(err, "a page");
    for (uint32_t id = 0; id < n_threads; id++)
        ids[id] = id;
    for (size_t i = weft_trace_busiest(answers->trace, ids, n_threads, n_most); i-- > 0;)
        answers->is_needed[ids[i]] = true;
    for (uint32_t id = 0; id < n_threads; id++)
        if (answers->is_needed[id])
            ids[n++] = id;
    WEFT_TRY(begin(answers, WEFT_PAGE_FINDINGS, WEFT_STR("threads"), &body, err));
    const struct weft_view view = view_of(answers, body);
    weft_render_threads(&view, ids, n);
    return end(answers, true, err);
}

/* ---- paths ----------------------------------------------------------------------------------- */

enum weft_code weft_page_add_path(struct weft_page_answers *answers,
                                  const struct weft_path_table *path, uint32_t thread_id,
                                  uint64_t from_ns, uint64_t to_ns, struct weft_err *err)
{
    const struct weft_path_view how = { .limit = PATH_SEGMENTS };
    struct weft_output *body;
    char question[128];
    snprintf(question, sizeof question, "path?thread=%" PRIu32 "&from=%" PRIu64 "&to=%" PRIu64,
             thread_id, from_ns, to_ns);
    WEFT_TRY(begin(answers, WEFT_PAGE_PATH, weft_str_of(question), &body, err));
    const struct weft_view view = view_of(answers, body);
    answers->is_needed[thread_id] = true;
    for (size_t i = 0; i < path->n_threads; i++)
        answers->is_needed[path->threads[i].thread_id] = true;
    weft_render_path(&view, path, &how);
    return end(answers, true, err);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static void put_trace(const void *context, struct weft_json *json, struct weft_str path)
{
    (void)context;
    (void)path;
    weft_json_u64(json, "trace", 0); /* that of the page */
}

static enum weft_code begin_of_rule(struct weft_page_answers *answers, const char *name,
                                    const struct weft_finding_choice *choice,
                                    struct weft_output **body, struct weft_err *err)
{
    struct weft_output *question;
    WEFT_TRY(weft_output_to_memory(&question, err));
    put_rule(question, name, choice);
    enum weft_code code = WEFT_OK;
    if (weft_output_has_failed(question))
        return weft_output_close(question, err);
    code = begin(answers, WEFT_PAGE_COMPARISON, weft_output_held(question), body, err);
    weft_output_abort(question);
    return code;
}

static void put_cut(const struct weft_finding *finding, const struct weft_view *view)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return; /* the body holds the failure */
    weft_json_begin_object(json, NULL);
    weft_json_text(json, "by", "durations");
    weft_json_u64(json, "a_max_ns", finding->tail.fast_max_ns);
    weft_json_u64(json, "b_min_ns", finding->tail.slow_min_ns);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

/* Ends the answer that was begun last, or drops it. */
static enum weft_code end_columns(struct weft_page_answers *answers, enum weft_code code,
                                  struct weft_err *err)
{
    if (code == WEFT_OK)
        return end(answers, false, err);
    drop_last(answers);
    return code;
}

static enum weft_code add_comparison(struct weft_page_answers *answers,
                                     const struct weft_finding *finding, struct weft_arena *arena,
                                     struct weft_err *err)
{
    const struct weft_finding_choice *choice = &finding->choice;
    struct weft_page_excerpt excerpt;
    struct weft_output *body;
    WEFT_TRY(weft_page_excerpt_make(finding->matrix, finding->table, answers->with_hosts, arena,
                                    &excerpt, err));
    const struct weft_listing_view listing = { .matrix = &excerpt.matrix,
                                               .put_trace = put_trace,
                                               .weights = excerpt.weights,
                                               .n_all = finding->matrix->n_items };
    const struct weft_comparison_view verdict = {
        .matrix = finding->matrix, .table = finding->table, .a = finding->a, .b = finding->b
    };
    const struct weft_compared_view compared = { .comparison = &verdict,
                                                 .table = &excerpt.table,
                                                 .members = excerpt.members,
                                                 .n_items = excerpt.matrix.n_items,
                                                 .n_cause_of = excerpt.n_cause_of };
    WEFT_TRY(begin_of_rule(answers, "executions", choice, &body, err));
    WEFT_TRY(end_columns(answers, weft_render_listing(body, &listing, err), err));
    WEFT_TRY(begin_of_rule(answers, "compare", choice, &body, err));
    WEFT_TRY(end_columns(answers, weft_render_compared(body, &compared, err), err));
    WEFT_TRY(begin_of_rule(answers, "cut", choice, &body, err));
    const struct weft_view view = view_of(answers, body);
    put_cut(finding, &view);
    return end(answers, true, err);
}

static const char *copy_of(const struct weft_page_answers *answers, const char *text)
{
    return weft_arena_copy(answers->arena, weft_str_of(text ? text : "")).bytes;
}

/* That a comparison is there: what is shown of its type. */
static enum weft_code add_proposal(struct weft_page_answers *answers,
                                   const struct weft_finding *finding, struct weft_err *err)
{
    const struct weft_finding_choice *choice = &finding->choice;
    const struct weft_page_proposal proposal = {
        .name = weft_arena_copy(answers->arena, finding->type),
        .begin = copy_of(answers, choice->begin),
        .end = copy_of(answers, choice->end),
        .match = copy_of(answers, choice->match),
        .within = copy_of(answers, choice->within),
        .count = finding->matrix->n_items,
    };
    if (!proposal.name.bytes || !proposal.begin || !proposal.end || !proposal.match ||
        !proposal.within)
        return weft_no_memory(err, "a page");
    answers->proposals[answers->n_proposals++] = proposal;
    return WEFT_OK;
}

/* All of a comparison or nothing: beyond the room for it, WEFT_E_LIMIT. */
static enum weft_code add_if_fits(struct weft_page_answers *answers,
                                  const struct weft_finding *finding, uint64_t *left_bytes,
                                  struct weft_err *err)
{
    const size_t n_before = answers->n;
    uint64_t n_bytes = 0;
    struct weft_arena *arena = weft_arena_new(0);
    if (!arena)
        return weft_no_memory(err, "a comparison");
    enum weft_code code = add_comparison(answers, finding, arena, err);
    weft_arena_free(arena);
    for (size_t i = n_before; code == WEFT_OK && i < answers->n; i++)
        n_bytes += weft_output_offset(answers->items[i].out);
    if (code == WEFT_OK && n_bytes > *left_bytes)
        code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "a page has room for %" PRIu64 " kB of them", COMPARED_BYTES / 1000);
    WEFT_THEN(code, add_proposal(answers, finding, err));
    if (code == WEFT_OK)
        *left_bytes -= n_bytes;
    while (code != WEFT_OK && answers->n > n_before)
        drop_last(answers);
    return code;
}

struct types {
    const struct weft_finding *items[WEFT_PAGE_COMPARISONS];
    size_t n;
};

/* Those of problems, the most expensive first, that compare slow with usual executions. */
static void list_types(const struct weft_findings_table *findings, struct types *types)
{
    const struct weft_problems_table *problems = findings->problems;
    for (size_t i = 0; i < problems->n_rows && types->n < WEFT_PAGE_COMPARISONS; i++) {
        const struct weft_finding *finding = problems->rows[i].finding;
        bool is_new = finding->table && finding->table->n_a > 0 && finding->table->n_b > 0 &&
                      finding->choice.begin;
        for (size_t k = 0; k < types->n; k++)
            is_new = is_new && types->items[k] != finding;
        if (is_new)
            types->items[types->n++] = finding;
    }
}

static bool is_limit(enum weft_code code)
{
    return code == WEFT_OK || code == WEFT_E_LIMIT;
}

enum weft_code weft_page_add_comparisons(struct weft_page_answers *answers,
                                         const struct weft_findings_table *findings,
                                         struct weft_err *err)
{
    uint64_t left_bytes = COMPARED_BYTES;
    struct types types = { .n = 0 };
    enum weft_code code = WEFT_OK;
    list_types(findings, &types);
    for (size_t i = 0; i < types.n && is_limit(code); i++) {
        struct weft_err own = { 0 };
        const enum weft_code own_code = add_if_fits(answers, types.items[i], &left_bytes, &own);
        if (own_code == WEFT_OK || (own_code == WEFT_E_LIMIT && code == WEFT_E_LIMIT))
            continue;
        code = own_code;
        if (err)
            *err = own;
    }
    return code;
}

/* ---- what may be missing --------------------------------------------------------------------- */

uint64_t weft_page_answers_bytes(const struct weft_page_answers *answers)
{
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < answers->n; i++)
        n_bytes += ELEMENT_BYTES + strlen(answers->items[i].question) +
                   weft_output_offset(answers->items[i].out);
    return n_bytes;
}

bool weft_page_drop_answer(struct weft_page_answers *answers, enum weft_missing_kind *kind)
{
    size_t end = answers->n;
    while (end > 0 && answers->items[end - 1].kind == WEFT_PAGE_FINDINGS)
        end--;
    if (end == 0)
        return false;
    const bool is_comparison = answers->items[end - 1].kind == WEFT_PAGE_COMPARISON;
    const size_t n_dropped = is_comparison ? PARTS_OF_COMPARISON : 1;
    *kind = is_comparison ? WEFT_MISSING_SOME_COMPARISONS : WEFT_MISSING_SOME_PATHS;
    for (size_t i = end - n_dropped; i < end; i++)
        weft_output_abort(answers->items[i].out);
    memmove(&answers->items[end - n_dropped], &answers->items[end],
            (answers->n - end) * sizeof *answers->items);
    answers->n -= n_dropped;
    answers->n_proposals -= is_comparison;
    return true;
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Questions are percent-encoded: of markup they have ampersands alone. */
static void put_question(struct weft_output *out, const char *question)
{
    for (; *question; question++) {
        if (*question == '&')
            weft_output_text(out, "&amp;");
        else
            weft_output_write(out, question, 1);
    }
}

static void put_proposal(struct weft_json *json, const struct weft_page_proposal *proposal)
{
    weft_json_begin_object(json, NULL);
    weft_json_str(json, "name", proposal->name);
    weft_json_text(json, "begin", proposal->begin);
    weft_json_text(json, "end", proposal->end);
    weft_json_text(json, "match", proposal->match);
    weft_json_text(json, "within", proposal->within);
    weft_json_text(json, "why", "findings are of it");
    weft_json_u64(json, "count", proposal->count);
    weft_json_end_object(json);
}

/* Of the comparisons that are still there. */
static enum weft_code add_types(struct weft_page_answers *answers, struct weft_err *err)
{
    struct weft_output *body;
    WEFT_TRY(begin(answers, WEFT_PAGE_FINDINGS, WEFT_STR("types"), &body, err));
    const struct weft_view view = view_of(answers, body);
    struct weft_json *json = weft_view_json(&view);
    if (json) {
        weft_json_begin_object(json, NULL);
        weft_json_begin_array(json, "proposals");
        for (size_t i = 0; i < answers->n_proposals; i++)
            put_proposal(json, &answers->proposals[i]);
        weft_json_end_array(json);
        weft_json_end_object(json);
        weft_view_json_end(&view, json);
    }
    return end(answers, true, err);
}

enum weft_code weft_page_write_answers(struct weft_page_answers *answers, struct weft_output *out,
                                       struct weft_err *err)
{
    if (answers->n_proposals > 0)
        WEFT_TRY(add_types(answers, err));
    for (size_t i = 0; i < answers->n; i++) {
        const struct weft_str packed = weft_output_held(answers->items[i].out);
        weft_output_text(out, "<script class=\"weft-answer\" data-question=\"");
        put_question(out, answers->items[i].question);
        weft_output_text(out, "\" type=\"application/octet-stream+gzip;base64\">");
        weft_output_write(out, packed.bytes, packed.n_bytes);
        weft_output_text(out, "</script>\n");
    }
    return WEFT_OK;
}
