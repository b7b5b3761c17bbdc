/* SPDX-License-Identifier: MIT
 *
 * Which two groups a comparison begins with (docs/http-api.md): builds, the base first, or the
 * usual and the slow executions, as `weft diagnose` has them.
 */
#include "query/findings.h"
#include "render/text/render.h"
#include "schema/result.h"
#include "serve/state.h"

#include <stdlib.h>

/* ---- builds ---------------------------------------------------------------------------------- */

/* A tag, and when it was there first. */
struct tag {
    struct weft_str name;
    uint64_t realtime_ns; /* of its first recording; 0: not known */
    uint64_t id;          /* of its first source in the database */
};

struct tags {
    struct tag *items; /* the first that was there first */
    size_t n;
};

static int by_name(const void *a, const void *b)
{
    return weft_str_compare(((const struct tag *)a)->name, ((const struct tag *)b)->name);
}

static int by_id(const void *a_ptr, const void *b_ptr)
{
    const struct tag *a = a_ptr, *b = b_ptr;
    return (a->id > b->id) - (a->id < b->id);
}

static int by_time(const void *a_ptr, const void *b_ptr)
{
    const struct tag *a = a_ptr, *b = b_ptr;
    const int order = (a->realtime_ns > b->realtime_ns) - (a->realtime_ns < b->realtime_ns);
    return order ? order : by_id(a, b);
}

/* Of tags by name: one of each. */
static void fold_tags(struct tags *tags)
{
    size_t n = 0;
    for (size_t i = 0; i < tags->n; i++) {
        const struct tag *tag = &tags->items[i];
        struct tag *last = n > 0 ? &tags->items[n - 1] : NULL;
        if (!last || !weft_str_equal(last->name, tag->name)) {
            tags->items[n++] = *tag;
            continue;
        }
        if (tag->realtime_ns < last->realtime_ns)
            last->realtime_ns = tag->realtime_ns;
        if (tag->id < last->id)
            last->id = tag->id;
    }
    tags->n = n;
}

static void sort_tags(struct tags *tags, int (*order)(const void *, const void *))
{
    qsort(tags->items, tags->n, sizeof *tags->items, order);
}

/* The tag that was recorded first is the base; where a recording has no time, the one that came
 * into the database first. */
static bool list_tags(const struct weft_ecct_matrix *matrix, struct weft_arena *arena,
                      struct tags *tags)
{
    bool has_times = true;
    tags->items = WEFT_ARENA_NEW(arena, matrix->n_sources + 1, struct tag);
    if (!tags->items)
        return false;
    for (size_t i = 0; i < matrix->n_sources; i++) {
        const struct weft_execution_source *source = &matrix->sources[i];
        if (source->tag.n_bytes == 0)
            continue;
        has_times = has_times && source->realtime_ns > 0;
        tags->items[tags->n++] = (struct tag){ source->tag, source->realtime_ns, source->id };
    }
    sort_tags(tags, by_name);
    fold_tags(tags);
    sort_tags(tags, has_times ? by_time : by_id);
    return true;
}

static void put_tags(struct weft_json *json, const struct tags *tags)
{
    weft_json_text(json, "by", "tags");
    weft_json_str(json, "a", tags->items[0].name);
    weft_json_str(json, "b", tags->items[tags->n - 1].name);
}

/* ---- slow executions ------------------------------------------------------------------------- */

static void put_cut(struct weft_json *json, const struct weft_compare_cut *cut)
{
    weft_json_text(json, "by", cut->table ? "durations" : "nothing");
    if (!cut->table)
        return;
    weft_json_u64(json, "a_max_ns", cut->tail.fast_max_ns);
    weft_json_u64(json, "b_min_ns", cut->tail.slow_min_ns);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void render(const struct weft_ask *ask, const struct tags *tags,
                   const struct weft_compare_cut *cut)
{
    const struct weft_view view = weft_ask_view(ask);
    struct weft_json *json = weft_view_json(&view);
    if (!json)
        return; /* the view holds the failure */
    weft_json_begin_object(json, NULL);
    if (tags->n > 1)
        put_tags(json, tags);
    else
        put_cut(json, cut);
    weft_json_end_object(json);
    weft_view_json_end(&view, json);
}

static enum weft_code answer(const struct weft_ask *ask, struct weft_comparison *comparison,
                             struct weft_arena *arena, struct weft_err *err)
{
    const struct weft_ecct_matrix *matrix = weft_comparison_matrix(comparison);
    struct weft_compare_cut cut = { .table = NULL };
    struct tags tags = { 0 };
    enum weft_code code = WEFT_OK;
    if (!list_tags(matrix, arena, &tags))
        return weft_no_memory(err, "tags");
    if (tags.n < 2)
        code = weft_findings_cut(
            comparison, (struct weft_str){ ask->query->type.bytes, ask->query->type.n }, &cut, err);
    if (code == WEFT_OK)
        render(ask, &tags, &cut);
    weft_result_free(cut.table);
    return code;
}

WEFT_ENDPOINT(cut)
{
    struct weft_comparison *comparison = NULL;
    struct weft_arena *arena = weft_arena_new(0);
    if (!arena)
        return weft_no_memory(err, "a cut");
    enum weft_code code = weft_comparisons_get(ask, &comparison, err);
    WEFT_THEN(code, answer(ask, comparison, arena, err));
    weft_arena_free(arena);
    return code;
}
