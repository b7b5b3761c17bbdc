/* SPDX-License-Identifier: MIT
 *
 * Opens a trace for analyses: names that can be shown, and functions grouped by name.
 */
#include "model/trace.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/room.h"
#include "base/search.h"
#include "model/dependencies.h"
#include "model/display.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct weft_trace {
    struct weft_store *store;
    struct weft_arena *arena;
    struct weft_model_thread *threads;
    struct weft_function *functions;
    uint32_t n_threads, n_functions, n_foreign;
    struct weft_dependency *dependencies; /* by thread and time that they lead to */
    size_t n_dependencies;
    struct weft_private *private; /* NULL: paths are shown; else these are what is shown instead: */
    struct weft_store_meta meta;
    struct weft_note *notes;
};

/* A copy of `text` to show, or the printf-made `fallback` if it is empty. */
static enum weft_code name_or(struct weft_arena *arena, struct weft_str text, const char *fallback,
                              struct weft_str *name, struct weft_err *err)
{
    *name = text.n_bytes ? weft_display_copy(arena, text)
                         : weft_arena_copy(arena, weft_str_of(fallback));
    return name->bytes ? WEFT_OK : weft_no_memory(err, "a name");
}

static enum weft_code load_threads(struct weft_trace *trace, struct weft_err *err)
{
    for (uint32_t id = 0; id < trace->n_threads; id++) {
        const struct weft_store_thread *stored = weft_store_thread_get(trace->store, id);
        struct weft_model_thread *thread = &trace->threads[id];
        *thread = (struct weft_model_thread){
            .info = stored->info,
            .calls = stored->calls,
            .cut_calls = stored->cut_calls,
            .first_ns = stored->first_ns,
            .last_ns = stored->last_ns,
            .n_blocks = stored->n_blocks,
            .events = stored->events,
            .n_event_blocks = stored->n_event_blocks,
            .max_depth = stored->max_depth,
        };
        trace->n_foreign += stored->info.is_foreign;
        char fallback[32];
        (void)snprintf(fallback, sizeof fallback, "T%" PRIu64, stored->info.tid);
        enum weft_code code =
            name_or(trace->arena, stored->info.name, fallback, &thread->info.name, err);
        if (code)
            return code;
    }
    return WEFT_OK;
}

/* The bytes that make two functions one group: module, NUL, name as imported (or #key). */
static enum weft_code group_of(struct weft_strtab *groups, struct weft_arena *scratch,
                               const struct weft_store_function *stored, struct weft_str shown,
                               uint32_t *group_id, struct weft_err *err)
{
    struct weft_str name = stored->name.n_bytes ? stored->name : shown;
    size_t n_bytes = stored->module.n_bytes + 1 + name.n_bytes;
    char *bytes = weft_arena_alloc(scratch, n_bytes, 1);
    if (!bytes)
        return weft_no_memory(err, "a name");
    if (stored->module.n_bytes)
        memcpy(bytes, stored->module.bytes, stored->module.n_bytes);
    memcpy(bytes + stored->module.n_bytes + 1, name.bytes, name.n_bytes);
    struct weft_str text = { .bytes = bytes, .n_bytes = n_bytes };
    enum weft_code code = weft_strtab_intern(groups, text, group_id, err);
    weft_arena_reset(scratch);
    return code;
}

static enum weft_code load_function(struct weft_trace *trace, uint32_t id,
                                    struct weft_strtab *groups, struct weft_arena *scratch,
                                    struct weft_err *err)
{
    const struct weft_store_function *stored = weft_store_function_get(trace->store, id);
    struct weft_function *function = &trace->functions[id];
    function->address = stored->address;
    function->key = stored->key;
    char fallback[16];
    (void)snprintf(fallback, sizeof fallback, "#%" PRIu32, stored->key);
    enum weft_code code = name_or(trace->arena, stored->name, fallback, &function->name, err);
    if (!code)
        code = name_or(trace->arena, stored->module, "", &function->module, err);
    if (!code)
        code = group_of(groups, scratch, stored, function->name, &function->group_id, err);
    return code;
}

static enum weft_code load_functions(struct weft_trace *trace, struct weft_err *err)
{
    struct weft_strtab *groups = weft_strtab_new();
    struct weft_arena *scratch = weft_arena_new(0);
    uint32_t *n_members = calloc((size_t)trace->n_functions + 1, sizeof *n_members);
    enum weft_code code = WEFT_OK;
    if (!groups || !scratch || !n_members)
        code = weft_no_memory(err, "function names");
    for (uint32_t id = 0; !code && id < trace->n_functions; id++) {
        code = load_function(trace, id, groups, scratch, err);
        if (!code)
            n_members[trace->functions[id].group_id]++;
    }
    for (uint32_t id = 0; !code && id < trace->n_functions; id++)
        trace->functions[id].n_in_group = n_members[trace->functions[id].group_id];
    free(n_members);
    weft_arena_free(scratch);
    weft_strtab_free(groups);
    return code;
}

static enum weft_code load(struct weft_trace *trace, struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_store_meta_get(trace->store);
    trace->n_threads = meta->n_threads;
    trace->n_functions = meta->n_functions;
    trace->arena = weft_arena_new(0);
    if (trace->arena) {
        trace->threads = WEFT_ARENA_NEW(trace->arena, meta->n_threads, struct weft_model_thread);
        trace->functions = WEFT_ARENA_NEW(trace->arena, meta->n_functions, struct weft_function);
    }
    if (!trace->threads || !trace->functions)
        return weft_no_memory(err, "the model");
    enum weft_code code = load_threads(trace, err);
    return code ? code : load_functions(trace, err);
}

enum weft_code weft_trace_open(const char *path, struct weft_trace **trace, struct weft_err *err)
{
    struct weft_trace *opened = calloc(1, sizeof *opened);
    if (!opened)
        return weft_no_memory(err, "the model");
    enum weft_code code = weft_store_open(path, &opened->store, err);
    if (!code) {
        code = load(opened, err);
        if (code)
            (void)weft_in_file(err, path);
    }
    if (code) {
        weft_trace_close(opened);
        return code;
    }
    *trace = opened;
    return WEFT_OK;
}

void weft_trace_close(struct weft_trace *trace)
{
    if (!trace)
        return;
    if (trace->store)
        weft_store_close(trace->store);
    if (trace->arena)
        weft_arena_free(trace->arena);
    weft_room_free(trace->dependencies);
    weft_private_free(trace->private);
    free(trace);
}

/* ---- without paths --------------------------------------------------------------------------- */

static bool hide(const struct weft_trace *trace, struct weft_str *text)
{
    *text = weft_private_text(trace->private, trace->arena, *text);
    return text->bytes || text->n_bytes == 0;
}

static bool hide_names(struct weft_trace *trace)
{
    bool is_done = true;
    for (uint32_t id = 0; is_done && id < trace->n_functions; id++)
        is_done = weft_private_add(trace->private, trace->functions[id].module);
    for (uint32_t id = 0; is_done && id < trace->n_functions; id++) {
        struct weft_function *function = &trace->functions[id];
        is_done = hide(trace, &function->name);
        if (function->module.n_bytes && function->module.bytes[0] == '/')
            function->module = weft_str_base(function->module);
    }
    for (uint32_t id = 0; is_done && id < trace->n_threads; id++)
        is_done = hide(trace, &trace->threads[id].info.name);
    return is_done;
}

/* Details of these formats hold a command line, and a host. */
static bool hide_meta(struct weft_trace *trace)
{
    const struct weft_store_meta *meta = weft_store_meta_get(trace->store);
    trace->meta = *meta;
    trace->meta.source_name = weft_str_base(meta->source_name);
    if (weft_str_equal(meta->format, WEFT_STR("weft record")) ||
        weft_str_equal(meta->format, WEFT_STR("trace.dat")))
        trace->meta.details = WEFT_STR("");
    trace->notes = WEFT_ARENA_NEW(trace->arena, meta->n_notes, struct weft_note);
    bool is_done = trace->notes && hide(trace, &trace->meta.details);
    for (size_t k = 0; is_done && k < meta->n_notes; k++) {
        trace->notes[k] = *weft_store_note_get(trace->store, k);
        is_done = hide(trace, &trace->notes[k].detail);
    }
    return is_done;
}

enum weft_code weft_trace_hide_paths(struct weft_trace *trace, struct weft_err *err)
{
    if (trace->private)
        return WEFT_OK;
    trace->private = weft_private_new();
    return trace->private && hide_names(trace) && hide_meta(trace) ? WEFT_OK
                                                                   : weft_no_memory(err, "names");
}

const struct weft_private *weft_trace_private(const struct weft_trace *trace)
{
    return trace->private;
}

const struct weft_store_meta *weft_trace_meta(const struct weft_trace *trace)
{
    return trace->private ? &trace->meta : weft_store_meta_get(trace->store);
}

bool weft_trace_has_switches(const struct weft_trace *trace)
{
    return weft_trace_meta(trace)->events_of_kind[WEFT_EVENT_SWITCH] > 0;
}

bool weft_trace_has_calls(const struct weft_trace *trace)
{
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    return meta->events_of_kind[WEFT_EVENT_SYSCALL_ENTER] > 0 &&
           meta->events_of_kind[WEFT_EVENT_SYSCALL_EXIT] > 0 && !meta->has_some_calls;
}

bool weft_trace_counts_losses(const struct weft_trace *trace)
{
    static const char *const without[] = { "xray-fdr", "xray-basic", "text", "chrome-json", "csv" };
    const struct weft_str format = weft_trace_meta(trace)->format;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (weft_str_equal(format, weft_str_of(without[i])))
            return false;
    return true;
}

const struct weft_note *weft_trace_note(const struct weft_trace *trace, size_t note)
{
    return trace->private ? &trace->notes[note] : weft_store_note_get(trace->store, note);
}

uint32_t weft_trace_n_threads(const struct weft_trace *trace)
{
    return trace->n_threads;
}

uint32_t weft_trace_n_foreign(const struct weft_trace *trace)
{
    return trace->n_foreign;
}

static int by_id(const void *a, const void *b)
{
    const uint32_t a_id = *(const uint32_t *)a, b_id = *(const uint32_t *)b;
    return (a_id > b_id) - (a_id < b_id);
}

static int by_activity(const void *a, const void *b, void *context)
{
    const struct weft_trace *trace = context;
    const struct weft_model_thread *a_thread = &trace->threads[*(const uint32_t *)a];
    const struct weft_model_thread *b_thread = &trace->threads[*(const uint32_t *)b];
    const uint64_t a_all = weft_add_sat_u64(a_thread->calls, a_thread->events);
    const uint64_t b_all = weft_add_sat_u64(b_thread->calls, b_thread->events);
    return a_all != b_all ? (a_all < b_all) - (a_all > b_all) : by_id(a, b);
}

size_t weft_trace_busiest(const struct weft_trace *trace, uint32_t *ids, size_t n_ids,
                          size_t n_most)
{
    if (n_ids <= n_most)
        return n_ids;
    qsort_r(ids, n_ids, sizeof *ids, by_activity, (void *)(uintptr_t)trace);
    qsort(ids, n_most, sizeof *ids, by_id);
    return n_most;
}

uint32_t weft_trace_n_functions(const struct weft_trace *trace)
{
    return trace->n_functions;
}

const struct weft_model_thread *weft_trace_thread(const struct weft_trace *trace, uint32_t id)
{
    return &trace->threads[id];
}

const struct weft_function *weft_trace_function(const struct weft_trace *trace, uint32_t id)
{
    return &trace->functions[id];
}

static const struct weft_thread_info *thread_info(const struct weft_trace *trace, uint32_t id)
{
    return &weft_trace_thread(trace, id)->info;
}

struct weft_table_context weft_trace_context(const struct weft_trace *trace, const void *of)
{
    return (struct weft_table_context){
        .trace = trace, .thread = thread_info, .function = weft_trace_function, .of = of
    };
}

struct weft_store *weft_trace_store(const struct weft_trace *trace)
{
    return trace->store;
}

/* ---- dependencies ---------------------------------------------------------------------------- */

static int by_target(const void *a_void, const void *b_void)
{
    const struct weft_dependency *a = a_void, *b = b_void;
    if (a->to_thread_id != b->to_thread_id)
        return a->to_thread_id < b->to_thread_id ? -1 : 1;
    if (a->to_ns != b->to_ns)
        return a->to_ns < b->to_ns ? -1 : 1;
    if (a->from_ns != b->from_ns)
        return a->from_ns < b->from_ns ? -1 : 1;
    return (a->from_thread_id > b->from_thread_id) - (a->from_thread_id < b->from_thread_id);
}

enum weft_code weft_trace_depend(struct weft_trace *trace,
                                 const struct weft_dependency *dependencies, size_t n_dependencies,
                                 struct weft_err *err)
{
    struct weft_dependency *kept = weft_room_new(n_dependencies + 1, sizeof *kept);
    size_t n = 0;
    if (!kept)
        return weft_no_memory(err, "dependencies");
    for (size_t i = 0; i < n_dependencies; i++)
        if (dependencies[i].from_thread_id != dependencies[i].to_thread_id &&
            dependencies[i].from_ns <= dependencies[i].to_ns)
            kept[n++] = dependencies[i];
    if (n)
        weft_room_sort(kept, n, sizeof *kept, by_target);
    weft_room_free(trace->dependencies);
    trace->dependencies = kept;
    trace->n_dependencies = n;
    return WEFT_OK;
}

const struct weft_dependency *weft_trace_dependency(const struct weft_trace *trace,
                                                    uint32_t thread_id, uint64_t at_ns)
{
    const struct weft_dependency *items = trace->dependencies;
    size_t place;
    WEFT_SEARCH(place, trace->n_dependencies,
                items[place].to_thread_id < thread_id ||
                    (items[place].to_thread_id == thread_id && items[place].to_ns <= at_ns));
    return place > 0 && items[place - 1].to_thread_id == thread_id ? &items[place - 1] : NULL;
}
