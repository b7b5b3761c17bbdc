/* SPDX-License-Identifier: MIT
 *
 * Labels threads by their names without trailing digits where several share the rest, and adds the
 * process where it is not that of the execution's first thread. A function's module is that of the
 * first function of its name; names of functions are collected at the first such question.
 */
#include "analysis/ecct/names.h"

#include "base/map.h"
#include "base/vec.h"
#include "model/calls/processes.h"

#include <ctype.h>
#include <stdlib.h>

struct weft_ecct_names {
    const struct weft_trace *trace;
    struct weft_str *labels;   /* by thread */
    struct weft_str *programs; /* by thread: the name of its process; empty: not known */
    struct weft_map *parents;  /* processes that the ledger has parents of: place in `parent_of` */
    struct {
        uint64_t *items;
        size_t n, cap;
    } parent_of;
    uint32_t *
        leaders; /* by thread: the first of its inferred process; NULL: the trace names processes */
    struct weft_strtab *functions;
    uint32_t *first;      /* by number in functions; NULL: not collected */
    uint32_t n_functions; /* of different names: what is interned later has no first one, */
    struct {
        struct weft_str *items; /* but, of functions of libraries in stacks, a module: the next */
        size_t n, cap;
    } libraries;
};

static bool begins_with(struct weft_str text, const char *start)
{
    return text.n_bytes >= strlen(start) && memcmp(text.bytes, start, strlen(start)) == 0;
}

static uint64_t key_of_process(uint32_t host_id, uint64_t pid)
{
    return (uint64_t)host_id << 48 ^ pid;
}

/* Without the digits at its end, and what joins them to the rest; *has_joint is whether something
 * does. All of it, if that is nothing else. */
static struct weft_str stem_of(struct weft_str name, bool *has_joint)
{
    size_t n = name.n_bytes;
    while (n && isdigit((unsigned char)name.bytes[n - 1]))
        n--;
    const size_t n_digits = name.n_bytes - n;
    size_t n_stem = n;
    while (n_stem && !isalnum((unsigned char)name.bytes[n_stem - 1]))
        n_stem--;
    *has_joint = n_digits && n_stem < n && n_stem;
    return n_digits && n_stem ? (struct weft_str){ name.bytes, n_stem } : name;
}

/* A process is called like its first thread, without a number that its kind has many of: a thread
 * of the kernel for each CPU, as ksoftirqd/1, would otherwise be a context for each. Of all threads
 * whose id is that of their process, the first counts. */
static bool find_programs(struct weft_ecct_names *names)
{
    const uint32_t n_threads = weft_trace_n_threads(names->trace);
    struct weft_map *places = weft_map_new();
    uint32_t *leaders = calloc((size_t)n_threads + 1, sizeof *leaders);
    bool is_good = places && leaders;
    for (uint32_t id = 0; is_good && id < n_threads; id++) {
        const struct weft_thread_info *info = &weft_trace_thread(names->trace, id)->info;
        bool is_new = false;
        if (info->pid == 0 || info->pid != info->tid)
            continue;
        const uint32_t place =
            weft_map_add(places, key_of_process(info->host_id, info->pid), &is_new);
        is_good = place != WEFT_MAP_NONE;
        if (is_good && is_new)
            leaders[place] = id;
    }
    for (uint32_t id = 0; is_good && id < n_threads; id++) {
        const struct weft_thread_info *info = &weft_trace_thread(names->trace, id)->info;
        const uint32_t place = info->pid
                                   ? weft_map_find(places, key_of_process(info->host_id, info->pid))
                                   : WEFT_MAP_NONE;
        if (place != WEFT_MAP_NONE)
            names->programs[id] = names->labels[leaders[place]];
    }
    weft_map_free(places);
    free(leaders);
    return is_good;
}

/* The name, or its stem. */
static struct weft_str label_of(const struct weft_trace *trace, uint32_t thread_id,
                                struct weft_str stem, bool is_stem)
{
    const struct weft_thread_info *info = &weft_trace_thread(trace, thread_id)->info;
    if (info->tid == 0)
        return (struct weft_str){ 0 };
    if (weft_store_thread_get(weft_trace_store(trace), thread_id)->info.name.n_bytes == 0)
        return WEFT_STR("thread");
    if (begins_with(info->name, "kworker/"))
        return WEFT_STR("kworker");
    return is_stem ? stem : info->name;
}

/* How many names there are of each stem. */
static bool find_labels(struct weft_ecct_names *names)
{
    const uint32_t n_threads = weft_trace_n_threads(names->trace);
    struct weft_strtab *stems = weft_strtab_new(), *seen = weft_strtab_new();
    uint32_t *n_names = calloc((size_t)n_threads + 1, sizeof *n_names);
    uint32_t *stem_ids = calloc((size_t)n_threads + 1, sizeof *stem_ids);
    bool is_good = stems && seen && n_names && stem_ids, has_joint;
    for (uint32_t id = 0; is_good && id < n_threads; id++) {
        const struct weft_str name = weft_trace_thread(names->trace, id)->info.name;
        const uint32_t n_seen = weft_strtab_count(seen);
        uint32_t name_id;
        is_good =
            weft_strtab_intern(seen, name, &name_id, NULL) == WEFT_OK &&
            weft_strtab_intern(stems, stem_of(name, &has_joint), &stem_ids[id], NULL) == WEFT_OK;
        if (is_good && name_id == n_seen)
            n_names[stem_ids[id]]++;
    }
    for (uint32_t id = 0; is_good && id < n_threads; id++) {
        const struct weft_str stem =
            stem_of(weft_trace_thread(names->trace, id)->info.name, &has_joint);
        names->labels[id] =
            label_of(names->trace, id, stem, has_joint || n_names[stem_ids[id]] > 1);
    }
    weft_strtab_free(stems);
    weft_strtab_free(seen);
    free(n_names);
    free(stem_ids);
    return is_good;
}

/* A process that is not named is called like its first thread. */
static enum weft_code find_kin(struct weft_ecct_names *names, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(names->trace);
    if (!weft_processes_are_unknown(names->trace))
        return WEFT_OK;
    names->leaders = calloc((size_t)n_threads + 1, sizeof *names->leaders);
    if (!names->leaders)
        return weft_no_memory(err, "names of threads");
    const enum weft_code code = weft_processes_find(names->trace, names->leaders, err);
    for (uint32_t id = 0; code == WEFT_OK && id < n_threads; id++)
        names->programs[id] = names->labels[names->leaders[id]];
    return code;
}

/* Which process started which; of several with one number the first one counts. */
static bool find_parents(struct weft_ecct_names *names)
{
    const struct weft_store *store = weft_trace_store(names->trace);
    names->parents = weft_map_new();
    bool is_good = names->parents;
    for (size_t k = 0; is_good && k < weft_store_n_processes(store); k++) {
        const struct weft_ledger_process *process = weft_store_process_get(store, k);
        bool is_new = false;
        if (process->pid == 0 || process->parent == 0)
            continue;
        is_good = weft_map_add(names->parents, key_of_process(process->host_id, process->pid),
                               &is_new) != WEFT_MAP_NONE;
        uint64_t *parent = is_good && is_new ? WEFT_VEC_PUSH(&names->parent_of) : NULL;
        is_good = is_good && (!is_new || parent);
        if (parent)
            *parent = process->parent;
    }
    return is_good;
}

enum weft_code weft_ecct_names_new(const struct weft_trace *trace, struct weft_ecct_names **names,
                                   struct weft_err *err)
{
    const size_t n_threads = weft_trace_n_threads(trace);
    struct weft_ecct_names *made = calloc(1, sizeof *made);
    enum weft_code code = WEFT_E_NOMEM;
    *names = NULL;
    if (made) {
        made->trace = trace;
        made->labels = calloc(n_threads + 1, sizeof *made->labels);
        made->programs = calloc(n_threads + 1, sizeof *made->programs);
    }
    if (made && made->labels && made->programs && find_labels(made) && find_programs(made) &&
        find_parents(made))
        code = find_kin(made, err);
    else
        code = weft_fail(err, code, WEFT_NO_OFFSET, "no memory for names of threads");
    if (code == WEFT_OK)
        *names = made;
    else
        weft_ecct_names_free(made);
    return code;
}

void weft_ecct_names_free(struct weft_ecct_names *names)
{
    if (!names)
        return;
    free(names->labels);
    free(names->programs);
    free(names->leaders);
    weft_map_free(names->parents);
    WEFT_VEC_FINI(&names->parent_of);
    weft_strtab_free(names->functions);
    free(names->first);
    WEFT_VEC_FINI(&names->libraries);
    free(names);
}

/* Are they of two processes, as far as is known? */
static bool is_other(const struct weft_ecct_names *names, uint32_t thread_id, uint32_t first)
{
    const struct weft_thread_info *info = &weft_trace_thread(names->trace, thread_id)->info,
                                  *mine = &weft_trace_thread(names->trace, first)->info;
    /* what the recorded program started is of it, where that is recorded */
    if (weft_trace_n_foreign(names->trace) > 0 && !info->is_foreign && !mine->is_foreign)
        return false;
    if (!names->leaders)
        return info->pid && mine->pid && (info->pid != mine->pid || info->host_id != mine->host_id);
    return names->leaders[thread_id] != names->leaders[first] &&
           !weft_str_equal(names->labels[thread_id], names->labels[first]);
}

/* Of which process it is, as seen from the other one's: WEFT_FRAME_OF. What a child runs through a
 * shell is a grandchild. */
static uint8_t process_of(const struct weft_ecct_names *names, uint32_t thread_id, uint32_t first)
{
    enum { MOST_GENERATIONS = 4 };
    const struct weft_thread_info *info = &weft_trace_thread(names->trace, thread_id)->info,
                                  *mine = &weft_trace_thread(names->trace, first)->info;
    uint64_t pid = info->pid;
    if (pid == 0 || mine->pid == 0 || info->host_id != mine->host_id)
        return 0;
    if (pid == mine->pid)
        return WEFT_FRAME_OF_PROCESS;
    for (unsigned n = 0; n < MOST_GENERATIONS; n++) {
        const uint32_t place = weft_map_find(names->parents, key_of_process(info->host_id, pid));
        if (place == WEFT_MAP_NONE)
            return 0;
        pid = names->parent_of.items[place];
        if (pid == mine->pid)
            return WEFT_FRAME_OF_CHILD;
    }
    return 0;
}

struct weft_frame weft_ecct_names_frame(const struct weft_ecct_names *names, uint32_t thread_id,
                                        uint32_t first)
{
    struct weft_frame frame = { .name = names->labels[thread_id],
                                .kind = WEFT_FRAME_THREAD,
                                .flags = process_of(names, thread_id, first) };
    if (is_other(names, thread_id, first))
        frame.module = names->programs[thread_id];
    return frame;
}

static enum weft_code collect_functions(struct weft_ecct_names *names, struct weft_err *err)
{
    const uint32_t n_functions = weft_trace_n_functions(names->trace);
    names->functions = weft_strtab_new();
    names->first = calloc((size_t)n_functions + 1, sizeof *names->first);
    if (!names->functions || !names->first)
        return weft_no_memory(err, "functions");
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 0; id < n_functions && code == WEFT_OK; id++) {
        const uint32_t n_before = weft_strtab_count(names->functions);
        uint32_t number;
        code = weft_strtab_intern(names->functions, weft_trace_function(names->trace, id)->name,
                                  &number, err);
        if (code == WEFT_OK && number >= n_before)
            names->first[number] = id;
    }
    names->n_functions = weft_strtab_count(names->functions);
    return code;
}

/* Those of which no calls were recorded. */
static enum weft_code collect_libraries(struct weft_ecct_names *names, struct weft_err *err)
{
    const struct weft_store *store = weft_trace_store(names->trace);
    for (size_t k = 0; k < weft_store_n_libraries(store); k++) {
        const struct weft_library_function *function = weft_store_library_get(store, k);
        uint32_t number;
        WEFT_TRY(weft_strtab_intern(names->functions, function->name, &number, err));
        if (number != names->n_functions + names->libraries.n)
            continue;
        struct weft_str *module = WEFT_VEC_PUSH(&names->libraries);
        if (!module)
            return weft_no_memory(err, "functions");
        *module = function->module;
    }
    return WEFT_OK;
}

enum weft_code weft_ecct_names_module(struct weft_ecct_names *names, const struct weft_frame *frame,
                                      struct weft_str *module, struct weft_err *err)
{
    *module = frame->module;
    if (frame->kind != WEFT_FRAME_FUNCTION)
        return WEFT_OK;
    const bool is_first = !names->first;
    enum weft_code code = is_first ? collect_functions(names, err) : WEFT_OK;
    if (is_first)
        WEFT_THEN(code, collect_libraries(names, err));
    uint32_t number;
    WEFT_THEN(code, weft_strtab_intern(names->functions, frame->name, &number, err));
    if (code == WEFT_OK && number < names->n_functions)
        *module = weft_trace_function(names->trace, names->first[number])->module;
    else if (code == WEFT_OK && number - names->n_functions < names->libraries.n)
        *module = names->libraries.items[number - names->n_functions];
    return code;
}
