/* SPDX-License-Identifier: MIT
 *
 * Reads every text of a trace through the rules of base/private.h and counts each distinct one, up
 * to DISTINCT_MAX a kind. Only `weft info --private` asks; it reads the whole file.
 */
#include "analysis/executions/revealed.h"

#include "base/vec.h"
#include "model/events.h"

#include <stdlib.h>

enum { DISTINCT_MAX = 100000, EVENTS_BETWEEN_CHECKS = 4096 };

/* Texts of one kind, each once. */
struct found {
    struct weft_strtab *texts;
    struct {
        uint64_t *items; /* by text */
        size_t n, cap;
    } counts;
};

struct search {
    const struct weft_trace *trace;
    const struct weft_progress *progress;
    struct weft_private *rules;
    struct found found[WEFT_REVEALED_KINDS];
    uint64_t n_omitted, n_texts;
    struct weft_err *err;
};

const char *weft_revealed_name(enum weft_revealed_kind kind)
{
    static const char *const names[] = {
        [WEFT_REVEALED_SOURCE] = "source", [WEFT_REVEALED_DETAILS] = "details",
        [WEFT_REVEALED_USER] = "user",     [WEFT_REVEALED_MODULE] = "module",
        [WEFT_REVEALED_FILE] = "file",     [WEFT_REVEALED_THREAD] = "thread",
        [WEFT_REVEALED_NOTE] = "note",
    };
    return names[kind];
}

static enum weft_code add(struct search *search, enum weft_revealed_kind kind, struct weft_str text)
{
    struct found *found = &search->found[kind];
    uint32_t id;
    if (text.n_bytes == 0)
        return WEFT_OK;
    if (found->counts.n == DISTINCT_MAX) {
        search->n_omitted++;
        return WEFT_OK;
    }
    WEFT_TRY(weft_strtab_intern(found->texts, text, &id, search->err));
    if (id == found->counts.n && !WEFT_VEC_PUSH(&found->counts))
        return weft_no_memory(search->err, "what a trace reveals");
    found->counts.items[id]++;
    return WEFT_OK;
}

/* The absolute paths of a text, and whose home folders they are in. */
static enum weft_code add_paths(struct search *search, struct weft_str text)
{
    enum weft_code code = WEFT_OK;
    struct weft_str path;
    for (size_t at = 0; code == WEFT_OK && weft_private_next(search->rules, text, &at, &path);) {
        code = add(search, WEFT_REVEALED_FILE, path);
        WEFT_THEN(code, add(search, WEFT_REVEALED_USER, weft_private_user(path)));
    }
    return code;
}

static enum weft_code search_names(struct search *search)
{
    const struct weft_store_meta *meta = weft_trace_meta(search->trace);
    enum weft_code code = add(search, WEFT_REVEALED_SOURCE, meta->source_name);
    WEFT_THEN(code, add(search, WEFT_REVEALED_DETAILS, meta->details));
    for (uint32_t id = 0; code == WEFT_OK && id < meta->n_functions; id++)
        if (!weft_private_add(search->rules, weft_trace_function(search->trace, id)->module))
            code = weft_no_memory(search->err, "what a trace reveals");
    WEFT_THEN(code, add_paths(search, meta->details));
    for (uint32_t id = 0; code == WEFT_OK && id < meta->n_functions; id++) {
        const struct weft_function *function = weft_trace_function(search->trace, id);
        code = add(search, WEFT_REVEALED_MODULE, function->module);
        WEFT_THEN(code, add(search, WEFT_REVEALED_USER, weft_private_user(function->module)));
        WEFT_THEN(code, add_paths(search, function->name));
    }
    for (uint32_t id = 0; code == WEFT_OK && id < meta->n_threads; id++)
        code = add(search, WEFT_REVEALED_THREAD, weft_trace_thread(search->trace, id)->info.name);
    for (size_t k = 0; code == WEFT_OK && k < meta->n_notes; k++)
        code = add(search, WEFT_REVEALED_NOTE, weft_trace_note(search->trace, k)->detail);
    return code;
}

static enum weft_code search_events(struct search *search, struct weft_events *events)
{
    const struct weft_event *event = NULL;
    for (uint64_t n = 0;; n++) {
        enum weft_code code = weft_events_next(events, &event, search->err);
        if (code != WEFT_OK || !event)
            return code;
        if (n % EVENTS_BETWEEN_CHECKS == 0 && weft_progress_is_cancelled(search->progress))
            return weft_fail(search->err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        search->n_texts += event->payload.n_bytes > 0;
        code = add_paths(search, event->name);
        WEFT_THEN(code, add_paths(search, event->category));
        WEFT_THEN(code, add_paths(search, event->payload));
        if (code != WEFT_OK)
            return code;
    }
}

static enum weft_code search_all(struct search *search)
{
    enum weft_code code = search_names(search);
    for (uint32_t id = 0; code == WEFT_OK && id < weft_trace_n_threads(search->trace); id++) {
        struct weft_events *events = NULL;
        code = weft_events_open(search->trace, id, UINT32_MAX, 0, UINT64_MAX, &events, search->err);
        WEFT_THEN(code, search_events(search, events));
        weft_events_close(events);
    }
    return code;
}

static enum weft_code take(const struct search *search, struct weft_revealed *revealed,
                           struct weft_err *err)
{
    size_t n_rows = 0;
    for (int kind = 0; kind < WEFT_REVEALED_KINDS; kind++)
        n_rows += search->found[kind].counts.n;
    revealed->arena = weft_arena_new(0);
    revealed->rows = calloc(n_rows + 1, sizeof *revealed->rows);
    revealed->n_omitted = search->n_omitted;
    revealed->n_texts = search->n_texts;
    if (!revealed->arena || !revealed->rows)
        return weft_no_memory(err, "what a trace reveals");
    for (int kind = 0; kind < WEFT_REVEALED_KINDS; kind++) {
        const struct found *found = &search->found[kind];
        for (uint32_t id = 0; id < found->counts.n; id++) {
            struct weft_revealed_row *row = &revealed->rows[revealed->n_rows++];
            row->kind = (enum weft_revealed_kind)kind;
            row->count = found->counts.items[id];
            row->text = weft_arena_copy(revealed->arena, weft_strtab_get(found->texts, id));
            if (!row->text.bytes)
                return weft_no_memory(err, "what a trace reveals");
        }
    }
    return WEFT_OK;
}

enum weft_code weft_revealed_find(const struct weft_trace *trace,
                                  const struct weft_progress *progress,
                                  struct weft_revealed **revealed, struct weft_err *err)
{
    struct search search = {
        .trace = trace, .progress = progress, .rules = weft_private_new(), .err = err
    };
    bool is_ready = search.rules != NULL;
    for (int kind = 0; kind < WEFT_REVEALED_KINDS; kind++) {
        search.found[kind].texts = weft_strtab_new();
        is_ready = is_ready && search.found[kind].texts;
    }
    *revealed = calloc(1, sizeof **revealed);
    enum weft_code code =
        is_ready && *revealed ? search_all(&search) : weft_no_memory(err, "what a trace reveals");
    WEFT_THEN(code, take(&search, *revealed, err));
    for (int kind = 0; kind < WEFT_REVEALED_KINDS; kind++) {
        weft_strtab_free(search.found[kind].texts);
        WEFT_VEC_FINI(&search.found[kind].counts);
    }
    weft_private_free(search.rules);
    return code;
}

void weft_revealed_free(struct weft_revealed *revealed)
{
    if (!revealed)
        return;
    weft_arena_free(revealed->arena);
    free(revealed->rows);
    free(revealed);
}
