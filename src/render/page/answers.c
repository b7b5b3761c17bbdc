/* SPDX-License-Identifier: MIT
 *
 * Renders by the functions of which `weft serve` makes its answers. Bounds: segments of a path,
 * types that are compared, bytes of comparisons.
 */
#include "render/page/answers.h"

#include "render/columns/compared.h"
#include "render/columns/pack.h"
#include "render/json/json.h"
#include "render/page/excerpt.h"
#include "render/text/compare.h"
#include "render/text/diagnose.h"
#include "render/text/directory.h"
#include "schema/problems.h"

#include <inttypes.h>

enum { PATH_SEGMENTS = 2000, COMPARED_TYPES = 4 };

/* Of all comparisons, packed. */
#define COMPARED_BYTES UINT64_C(300000)

enum weft_code weft_page_answers_init(struct weft_page_answers *answers,
                                      const struct weft_trace *trace, struct weft_err *err)
{
    *answers = (struct weft_page_answers){ .trace = trace, .arena = weft_arena_new(0) };
    return answers->arena ? WEFT_OK : weft_no_memory(err, "a page");
}

/* The last answer is no answer: it failed. */
static void drop_last(struct weft_page_answers *answers)
{
    weft_output_abort(answers->items[--answers->n].body);
}

void weft_page_answers_fini(struct weft_page_answers *answers)
{
    while (answers->n > 0)
        drop_last(answers);
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
static enum weft_code begin(struct weft_page_answers *answers, struct weft_str question,
                            struct weft_output **body, struct weft_err *err)
{
    if (answers->n == WEFT_PAGE_ANSWERS)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "a page has at most %d answers",
                         WEFT_PAGE_ANSWERS);
    const struct weft_str copy = weft_arena_copy(answers->arena, question);
    if (!copy.bytes)
        return weft_no_memory(err, "a page");
    WEFT_TRY(weft_output_to_memory(body, err));
    answers->items[answers->n++] = (struct weft_page_answer){ copy.bytes, *body };
    return WEFT_OK;
}

static enum weft_code end(struct weft_page_answers *answers, bool is_json, struct weft_err *err)
{
    struct weft_page_answer *last = &answers->items[answers->n - 1];
    if (is_json) {
        weft_output_set_form(last->body, WEFT_OUTPUT_JSON);
        weft_output_seal(last->body);
    }
    if (!weft_output_has_failed(last->body))
        return WEFT_OK;
    answers->n--;
    return weft_output_close(last->body, err);
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
    WEFT_TRY(begin(answers, WEFT_STR("traces"), &body, err));
    put_traces(answers, body);
    WEFT_TRY(end(answers, true, err));
    WEFT_TRY(begin(answers, WEFT_STR("threads"), &body, err));
    struct weft_view view = view_of(answers, body);
    weft_render_threads(&view);
    WEFT_TRY(end(answers, true, err));
    WEFT_TRY(begin(answers, WEFT_STR("diagnose"), &body, err));
    view = view_of(answers, body);
    weft_render_findings(&view, findings, &how);
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
    WEFT_TRY(begin(answers, weft_str_of(question), &body, err));
    const struct weft_view view = view_of(answers, body);
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
    code = begin(answers, weft_output_held(question), body, err);
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

/* Whether it fits into what is left; then that is less. */
static enum weft_code fits(const struct weft_page_answers *answers, size_t from,
                           struct weft_pool *pool, uint64_t *left_bytes, struct weft_err *err)
{
    uint64_t n_all = 0;
    for (size_t i = from; i < answers->n; i++) {
        uint64_t n_bytes = 0;
        WEFT_TRY(weft_packed_bytes(weft_output_held(answers->items[i].body), WEFT_PACK_SMALL, pool,
                                   &n_bytes, err));
        n_all += n_bytes;
    }
    if (n_all > *left_bytes)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "a page has room for %" PRIu64 " kB of them", COMPARED_BYTES / 1000);
    *left_bytes -= n_all;
    return WEFT_OK;
}

/* All of a comparison or nothing. */
static enum weft_code add_if_fits(struct weft_page_answers *answers,
                                  const struct weft_finding *finding, struct weft_pool *pool,
                                  uint64_t *left_bytes, struct weft_err *err)
{
    const size_t n_before = answers->n;
    struct weft_arena *arena = weft_arena_new(0);
    if (!arena)
        return weft_no_memory(err, "a comparison");
    enum weft_code code = add_comparison(answers, finding, arena, err);
    weft_arena_free(arena);
    WEFT_THEN(code, fits(answers, n_before, pool, left_bytes, err));
    while (code != WEFT_OK && answers->n > n_before)
        drop_last(answers);
    return code;
}

struct types {
    const struct weft_finding *items[COMPARED_TYPES];
    size_t n;
};

/* Those of problems, the most expensive first, that compare slow with usual executions. */
static void list_types(const struct weft_findings_table *findings, struct types *types)
{
    const struct weft_problems_table *problems = findings->problems;
    for (size_t i = 0; i < problems->n_rows && types->n < COMPARED_TYPES; i++) {
        const struct weft_finding *finding = problems->rows[i].finding;
        bool is_new = finding->table && finding->table->n_a > 0 && finding->table->n_b > 0 &&
                      finding->choice.begin;
        for (size_t k = 0; k < types->n; k++)
            is_new = is_new && types->items[k] != finding;
        if (is_new)
            types->items[types->n++] = finding;
    }
}

static void put_proposal(struct weft_json *json, const struct weft_finding *finding)
{
    const struct weft_finding_choice *choice = &finding->choice;
    weft_json_begin_object(json, NULL);
    weft_json_str(json, "name", finding->type);
    weft_json_text(json, "begin", choice->begin ? choice->begin : "");
    weft_json_text(json, "end", choice->end ? choice->end : "");
    weft_json_text(json, "match", choice->match ? choice->match : "");
    weft_json_text(json, "within", choice->within ? choice->within : "");
    weft_json_text(json, "why", "findings are of it");
    weft_json_u64(json, "count", finding->matrix->n_items);
    weft_json_end_object(json);
}

static enum weft_code add_types(struct weft_page_answers *answers, const struct types *types,
                                struct weft_err *err)
{
    struct weft_output *body;
    WEFT_TRY(begin(answers, WEFT_STR("types"), &body, err));
    const struct weft_view view = view_of(answers, body);
    struct weft_json *json = weft_view_json(&view);
    if (json) {
        weft_json_begin_object(json, NULL);
        weft_json_begin_array(json, "proposals");
        for (size_t i = 0; i < types->n; i++)
            put_proposal(json, types->items[i]);
        weft_json_end_array(json);
        weft_json_end_object(json);
        weft_view_json_end(&view, json);
    }
    return end(answers, true, err);
}

enum weft_code weft_page_add_comparisons(struct weft_page_answers *answers,
                                         const struct weft_findings_table *findings,
                                         struct weft_pool *pool, struct weft_err *err)
{
    uint64_t left_bytes = COMPARED_BYTES;
    struct types types = { .n = 0 }, added = { .n = 0 };
    enum weft_code code = WEFT_OK;
    list_types(findings, &types);
    for (size_t i = 0; i < types.n && (code == WEFT_OK || code == WEFT_E_LIMIT); i++) {
        struct weft_err own = { 0 };
        const enum weft_code added_code =
            add_if_fits(answers, types.items[i], pool, &left_bytes, &own);
        if (added_code == WEFT_OK)
            added.items[added.n++] = types.items[i];
        else if (code == WEFT_OK || added_code != WEFT_E_LIMIT) {
            code = added_code;
            *err = own;
        }
    }
    struct weft_err own = { 0 };
    const enum weft_code types_code = added.n > 0 ? add_types(answers, &added, &own) : WEFT_OK;
    if (types_code != WEFT_OK)
        *err = own;
    return types_code != WEFT_OK ? types_code : code;
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

size_t weft_page_n_without_comparisons(const struct weft_page_answers *answers)
{
    static const char front[] = "executions?";
    size_t n = 0;
    while (n < answers->n && strncmp(answers->items[n].question, front, sizeof front - 1) != 0)
        n++;
    return n;
}

enum weft_code weft_page_write_answers(const struct weft_page_answers *answers, size_t n,
                                       struct weft_pool *pool, struct weft_output *out,
                                       struct weft_err *err)
{
    for (size_t i = 0; i < n; i++) {
        weft_output_text(out, "<script class=\"weft-answer\" data-question=\"");
        put_question(out, answers->items[i].question);
        weft_output_text(out, "\" type=\"application/octet-stream+gzip;base64\">");
        WEFT_TRY(weft_pack(weft_output_held(answers->items[i].body), pool, out, err));
        weft_output_text(out, "</script>\n");
    }
    return WEFT_OK;
}
