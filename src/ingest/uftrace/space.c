/* SPDX-License-Identifier: MIT
 *
 * Reads modules (in parallel) and memory maps, and resolves an address of a task at a time to a
 * symbol: by the session's map, else by the library opened last that has it. Epochs limit how often
 * that is done: walk.c caches results for each of them.
 */
#include "ingest/uftrace/space.h"

#include "base/vec.h"
#include "ingest/uftrace/text.h"

#include <stdlib.h>

/* ---- modules ----------------------------------------------------------------------------------
 */

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n_name = strlen(name);
    size_t n_suffix = strlen(suffix);
    return n_name > n_suffix && strcmp(name + n_name - n_suffix, suffix) == 0;
}

/* The file of the same name with another ending, or NULL. */
static const struct weft_folder_file *sibling(const struct weft_folder *folder, const char *name,
                                              const char *suffix)
{
    size_t n_stem = strlen(name) - 4;
    for (size_t k = 0; k < folder->n_files; k++)
        if (strncmp(folder->files[k].name, name, n_stem) == 0 &&
            strcmp(folder->files[k].name + n_stem, suffix) == 0)
            return &folder->files[k];
    return NULL;
}

static enum weft_code list_modules(const struct weft_folder *folder, struct weft_uft_space *space,
                                   struct weft_err *err)
{
    size_t n_most = 0;
    for (size_t k = 0; k < folder->n_files; k++)
        n_most += has_suffix(folder->files[k].name, ".sym");
    space->modules = calloc(n_most + 1, sizeof *space->modules);
    space->sym_files = calloc(n_most + 1, sizeof *space->sym_files);
    space->dbg_files = calloc(n_most + 1, sizeof *space->dbg_files);
    if (!space->modules || !space->sym_files || !space->dbg_files)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu modules", n_most);
    for (size_t k = 0; k < folder->n_files; k++) {
        const struct weft_folder_file *file = &folder->files[k];
        if (!has_suffix(file->name, ".sym"))
            continue;
        struct weft_uft_module *module = &space->modules[space->n_modules];
        module->path = weft_uft_path_name(&file->file);
        module->name = weft_uft_base_name(module->path);
        if (module->name.n_bytes == 0)
            module->name =
                (struct weft_str){ .bytes = file->name, .n_bytes = strlen(file->name) - 4 };
        space->sym_files[space->n_modules] = file;
        space->dbg_files[space->n_modules++] = sibling(folder, file->name, ".dbg");
    }
    return WEFT_OK;
}

static enum weft_code read_module(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    (void)worker;
    struct weft_uft_space *space = context;
    struct weft_uft_module *module = &space->modules[item];
    enum weft_code code = weft_uft_symbols_read(&space->sym_files[item]->file, module, err);
    if (code == WEFT_OK && space->dbg_files[item])
        code = weft_uft_debug_read(&space->dbg_files[item]->file, module, err);
    return code;
}

static enum weft_code read_modules(struct weft_uft_space *space, const struct weft_run *run,
                                   struct weft_err *err)
{
    if (run && run->pool)
        return weft_pool_run(run->pool, space->n_modules, read_module, space, run->progress, err);
    for (size_t k = 0; k < space->n_modules; k++) {
        WEFT_TRY(read_module(space, k, 0, err));
    }
    return WEFT_OK;
}

/* By the path that the symbol file names, else by its base name. */
static size_t module_of(const struct weft_uft_space *space, struct weft_str path)
{
    struct weft_str name = weft_uft_base_name(path);
    for (size_t k = 0; k < space->n_modules; k++)
        if (weft_str_equal(space->modules[k].path, path))
            return k;
    for (size_t k = 0; k < space->n_modules; k++)
        if (space->modules[k].path.n_bytes == 0 && weft_str_equal(space->modules[k].name, name))
            return k;
    return SIZE_MAX;
}

/* ---- maps -------------------------------------------------------------------------------------
 */

static bool parse_mapping(struct weft_str line, struct weft_uft_mapping *mapping)
{
    struct weft_str word;
    struct weft_str begin;
    if (!weft_uft_word(&line, &word) || !weft_uft_until(&word, '-', &begin) ||
        !weft_uft_hex(begin, &mapping->begin) || !weft_uft_hex(word, &mapping->end) ||
        mapping->end <= mapping->begin)
        return false;
    for (int k = 0; k < 4; k++) /* protection, offset, device, inode */
        if (!weft_uft_word(&line, &word))
            return false;
    return weft_uft_word(&line, &mapping->path) && mapping->path.bytes[0] != '[';
}

static int compare_mappings(const void *a_void, const void *b_void)
{
    const struct weft_uft_mapping *a = a_void;
    const struct weft_uft_mapping *b = b_void;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* Parts of one file that follow each other are one mapping: symbols count from the first. */
static enum weft_code read_map(const struct weft_uft_space *space, const struct weft_mapped *file,
                               struct weft_uft_memory *memory, struct weft_err *err)
{
    struct weft_str rest = { .bytes = (const char *)file->bytes, .n_bytes = file->n_bytes };
    struct weft_str line;
    while (weft_uft_line(&rest, &line)) {
        struct weft_uft_mapping mapping = { 0 };
        if (!parse_mapping(line, &mapping))
            continue;
        struct weft_uft_mapping *last =
            memory->maps.n ? &memory->maps.items[memory->maps.n - 1] : NULL;
        if (last && weft_str_equal(last->path, mapping.path) && mapping.end > last->end) {
            last->end = mapping.end;
            continue;
        }
        mapping.module = module_of(space, mapping.path);
        struct weft_uft_mapping *slot = WEFT_VEC_PUSH(&memory->maps);
        if (!slot)
            return weft_no_memory(err, "a memory map");
        *slot = mapping;
    }
    if (memory->maps.n)
        qsort(memory->maps.items, memory->maps.n, sizeof *memory->maps.items, compare_mappings);
    return WEFT_OK;
}

/* "sid-ID.map" */
static const struct weft_mapped *map_of(const struct weft_folder *folder, struct weft_str sid)
{
    for (size_t k = 0; k < folder->n_files; k++) {
        struct weft_str name = weft_str_of(folder->files[k].name);
        if (!weft_uft_take(&name, "sid-") || name.n_bytes != sid.n_bytes + 4 ||
            memcmp(name.bytes + sid.n_bytes, ".map", 4) != 0)
            continue;
        if (memcmp(name.bytes, sid.bytes, sid.n_bytes) == 0)
            return &folder->files[k].file;
    }
    return NULL;
}

static enum weft_code read_maps(const struct weft_folder *folder, struct weft_uft_space *space,
                                struct weft_err *err)
{
    size_t n_sessions = space->tasks->sessions.n;
    space->memories = calloc(n_sessions + 1, sizeof *space->memories);
    if (!space->memories)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu sessions",
                         n_sessions);
    for (size_t k = 0; k < n_sessions; k++) {
        const struct weft_mapped *file = map_of(folder, space->tasks->sessions.items[k].sid);
        WEFT_TRY(file ? read_map(space, file, &space->memories[k], err) : WEFT_OK);
    }
    return WEFT_OK;
}

enum weft_code weft_uft_space_open(const struct weft_folder *folder,
                                   const struct weft_uft_tasks *tasks, bool is_relative,
                                   const struct weft_run *run, struct weft_uft_space *space,
                                   struct weft_err *err)
{
    *space = (struct weft_uft_space){ .tasks = tasks, .is_relative = is_relative };
    enum weft_code code = list_modules(folder, space, err);
    WEFT_THEN(code, read_modules(space, run, err));
    return code == WEFT_OK ? read_maps(folder, space, err) : code;
}

void weft_uft_space_fini(struct weft_uft_space *space)
{
    for (size_t k = 0; k < space->n_modules; k++)
        weft_uft_module_fini(&space->modules[k]);
    for (size_t k = 0; space->memories && k < space->tasks->sessions.n; k++)
        WEFT_VEC_FINI(&space->memories[k].maps);
    free(space->modules);
    free(space->sym_files);
    free(space->dbg_files);
    free(space->memories);
    *space = (struct weft_uft_space){ 0 };
}

/* ---- epochs -----------------------------------------------------------------------------------
 */

static int compare_times(const void *a_void, const void *b_void)
{
    uint64_t a = *(const uint64_t *)a_void;
    uint64_t b = *(const uint64_t *)b_void;
    return (a > b) - (a < b);
}

static bool push_time(struct weft_uft_epochs *epochs, uint64_t time_ns)
{
    if (epochs->begins.n == WEFT_UFT_MOST_EPOCHS)
        return true; /* later ones see the mappings of the last */
    uint64_t *slot = WEFT_VEC_PUSH(&epochs->begins);
    if (slot)
        *slot = time_ns;
    return slot != NULL;
}

/* The session of a task at a time: of its latest row by then, else of its first; of its process. */
static size_t session_at(const struct weft_uft_tasks *tasks, uint64_t tid, uint64_t time_ns)
{
    const struct weft_uft_task *found = NULL;
    for (size_t k = 0; k < tasks->tasks.n; k++) {
        const struct weft_uft_task *task = &tasks->tasks.items[k];
        if (task->tid == tid && task->session != WEFT_UFT_NO_SESSION &&
            (!found || task->time_ns <= time_ns))
            found = task;
    }
    if (found)
        return found->session;
    return tasks->sessions.n ? 0 : WEFT_UFT_NO_SESSION;
}

static bool is_of_session(const struct weft_uft_tasks *tasks, const struct weft_uft_dlopen *opened,
                          size_t session)
{
    return session != WEFT_UFT_NO_SESSION &&
           weft_str_equal(opened->sid, tasks->sessions.items[session].sid);
}

enum weft_code weft_uft_epochs_find(const struct weft_uft_space *space, uint64_t tid,
                                    struct weft_uft_epochs *epochs, struct weft_err *err)
{
    const struct weft_uft_tasks *tasks = space->tasks;
    bool is_good = push_time(epochs, 0);
    for (size_t k = 0; k < tasks->tasks.n; k++)
        if (tasks->tasks.items[k].tid == tid)
            is_good &= push_time(epochs, tasks->tasks.items[k].time_ns);
    for (size_t k = 0; k < tasks->dlopens.n; k++)
        is_good &= push_time(epochs, tasks->dlopens.items[k].time_ns);
    if (is_good) {
        qsort(epochs->begins.items, epochs->begins.n, sizeof *epochs->begins.items, compare_times);
        epochs->sessions = calloc(epochs->begins.n, sizeof *epochs->sessions);
    }
    if (!is_good || !epochs->sessions)
        return weft_no_memory(err, "epochs of a task");
    for (size_t k = 0; k < epochs->begins.n; k++)
        epochs->sessions[k] = session_at(tasks, tid, epochs->begins.items[k]);
    return WEFT_OK;
}

void weft_uft_epochs_fini(struct weft_uft_epochs *epochs)
{
    WEFT_VEC_FINI(&epochs->begins);
    free(epochs->sessions);
    epochs->sessions = NULL;
}

size_t weft_uft_epoch_at(const struct weft_uft_epochs *epochs, uint64_t time_ns)
{
    size_t low = 1;
    size_t high = epochs->begins.n;
    while (low < high) { /* the first that begins later */
        size_t middle = low + (high - low) / 2;
        if (epochs->begins.items[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* ---- addresses --------------------------------------------------------------------------------
 */

static const struct weft_uft_mapping *mapping_at(const struct weft_uft_memory *memory,
                                                 uint64_t address)
{
    size_t low = 0;
    size_t high = memory->maps.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->maps.items[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= memory->maps.items[low - 1].end)
        return NULL;
    return &memory->maps.items[low - 1];
}

/* The library opened last, by the start of the epoch, that holds the address. */
static struct weft_uft_place place_in_opened(const struct weft_uft_space *space, size_t session,
                                             uint64_t by_ns, uint64_t address)
{
    const struct weft_uft_tasks *tasks = space->tasks;
    for (size_t k = tasks->dlopens.n; k-- > 0;) {
        const struct weft_uft_dlopen *opened = &tasks->dlopens.items[k];
        if (opened->time_ns > by_ns || opened->base > address ||
            !is_of_session(tasks, opened, session))
            continue;
        size_t module = module_of(space, opened->path);
        uint32_t symbol = module == SIZE_MAX
                              ? WEFT_UFT_NO_SYMBOL
                              : weft_uft_symbol_at(&space->modules[module], address - opened->base);
        if (symbol != WEFT_UFT_NO_SYMBOL)
            return (struct weft_uft_place){ .module = module, .symbol = symbol };
    }
    return (struct weft_uft_place){ .module = SIZE_MAX, .symbol = WEFT_UFT_NO_SYMBOL };
}

struct weft_uft_place weft_uft_place_of(const struct weft_uft_space *space,
                                        const struct weft_uft_epochs *epochs, size_t epoch,
                                        uint64_t address)
{
    struct weft_uft_place place = { .module = SIZE_MAX, .symbol = WEFT_UFT_NO_SYMBOL };
    size_t session = epochs->sessions[epoch];
    if (session == WEFT_UFT_NO_SESSION)
        return place;
    const struct weft_uft_mapping *mapping = mapping_at(&space->memories[session], address);
    if (mapping && mapping->module != SIZE_MAX) {
        uint64_t offset = space->is_relative ? address - mapping->begin : address;
        place.symbol = weft_uft_symbol_at(&space->modules[mapping->module], offset);
        if (place.symbol != WEFT_UFT_NO_SYMBOL) {
            place.module = mapping->module;
            return place;
        }
    }
    return place_in_opened(space, session, epochs->begins.items[epoch], address);
}
