/* SPDX-License-Identifier: MIT
 *
 * Folded stacks, "thread;outer;inner weight": one line a path, as flamegraph.pl and speedscope read
 * them. The paths of a thread are summed in a tree; when it is full, what it holds is written,
 * and the tree begins anew, so that memory is bounded: a path may then stand in several lines,
 * which all readers add up. Calls deeper than FRAMES_MAX stand together, under "[deeper calls]":
 * lines of all depths would take the square of the depth.
 */
#include "base/checked.h"
#include "base/map.h"
#include "base/room.h"
#include "render/export/exporter.h"

enum { PATHS_MAX = 1 << 18, SAMPLE_BYTES_MAX = 16 << 20, NO_CALLER = 0, FRAMES_MAX = 512 };

/* A path is named by its dense id in `paths`, whose key holds the caller's path + 1 (NO_CALLER:
 * none) and the function. */
struct folded {
    size_t paths_max;
    struct weft_map *paths;
    struct {
        uint64_t *items;
        size_t n, cap;
    } weights; /* by path */
    struct {
        struct open_call {
            uint32_t function_id, path;
        } * items;
        size_t n, cap;
    } open;
    struct {
        uint32_t *items;
        size_t n, cap;
    } line;                      /* functions of a path, innermost first */
    struct weft_strtab *samples; /* stacks as they came */
    uint64_t sample_bytes;
};

static void label(struct weft_exporter *exporter, uint32_t function_id)
{
    struct weft_str name = weft_trace_function(exporter->trace, function_id)->name;
    weft_output_text(exporter->scratch, ";");
    weft_output_frame(exporter->scratch, name);
}

static void put_weight(struct weft_exporter *exporter, uint64_t weight)
{
    char *to = weft_output_room(exporter->out, WEFT_PUT_U64_BYTES + 2);
    if (!to)
        return;
    *to++ = ' ';
    to = weft_put_u64(to, weight);
    *to++ = '\n';
    weft_output_filled(exporter->out, to);
}

static void put_path(struct weft_exporter *exporter, uint32_t path)
{
    struct folded *folded = exporter->state;
    folded->line.n = 0;
    for (uint32_t at = path + 1; at != NO_CALLER;) {
        uint64_t key = weft_map_key(folded->paths, at - 1);
        uint32_t *function_id = WEFT_ROOM_PUSH(&folded->line);
        if (!function_id) {
            weft_exporter_no_memory(exporter);
            return;
        }
        *function_id = (uint32_t)key;
        at = (uint32_t)(key >> 32);
    }
    weft_output_frame(exporter->out, exporter->thread_label);
    for (size_t i = folded->line.n; i-- > 0;) {
        const struct weft_str name = folded->line.items[i] == WEFT_ID_NONE
                                         ? WEFT_STR(";[deeper calls]")
                                         : weft_exporter_label(exporter, folded->line.items[i]);
        weft_output_write(exporter->out, name.bytes, name.n_bytes);
    }
    put_weight(exporter, folded->weights.items[path]);
}

/* Writes the paths, in order of first occurrence, and forgets them. */
static void put_paths(struct weft_exporter *exporter)
{
    struct folded *folded = exporter->state;
    for (uint32_t path = 0; path < folded->weights.n && !weft_output_has_failed(exporter->out);
         path++)
        if (folded->weights.items[path] > 0)
            put_path(exporter, path);
    weft_map_reset(folded->paths);
    folded->weights.n = 0;
}

/* The path of `function_id` called from the path `caller` - 1; WEFT_MAP_NONE without memory. */
static uint32_t find_path(struct weft_exporter *exporter, uint32_t caller, uint32_t function_id)
{
    struct folded *folded = exporter->state;
    bool is_new = false;
    uint32_t path = weft_map_add(folded->paths, (uint64_t)caller << 32 | function_id, &is_new);
    if (path != WEFT_MAP_NONE && (!is_new || WEFT_ROOM_PUSH(&folded->weights)))
        return path;
    weft_exporter_no_memory(exporter);
    return WEFT_MAP_NONE;
}

/* Begins the tree anew with the calls that are open. */
static void renew(struct weft_exporter *exporter)
{
    struct folded *folded = exporter->state;
    uint32_t caller = NO_CALLER;
    put_paths(exporter);
    for (size_t i = 0; i < folded->open.n; i++) {
        struct open_call *open = &folded->open.items[i];
        open->path = i <= FRAMES_MAX ? find_path(exporter, caller, open->function_id)
                                     : folded->open.items[i - 1].path;
        caller = open->path + 1;
    }
}

static void enter(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    struct folded *folded = exporter->state;
    if (folded->weights.n >= folded->paths_max + weft_min_u64(folded->open.n, FRAMES_MAX + 1))
        renew(exporter);
    uint32_t caller = folded->open.n ? folded->open.items[folded->open.n - 1].path + 1 : NO_CALLER;
    struct open_call *open = WEFT_ROOM_PUSH(&folded->open);
    if (!open || weft_output_has_failed(exporter->out)) {
        weft_exporter_no_memory(exporter);
        return;
    }
    open->function_id = folded->open.n > FRAMES_MAX ? WEFT_ID_NONE : call->function_id;
    open->path = folded->open.n > FRAMES_MAX + 1 ? caller - 1
                                                 : find_path(exporter, caller, open->function_id);
}

static void leave(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    struct folded *folded = exporter->state;
    if (folded->open.n == 0)
        return; /* its entry found no memory */
    uint32_t path = folded->open.items[--folded->open.n].path;
    if (path < folded->weights.n)
        folded->weights.items[path] +=
            exporter->opts->weight == WEFT_EXPORT_CALLS ? 1 : call->self_ns;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void put_samples(struct weft_exporter *exporter)
{
    struct folded *folded = exporter->state;
    for (uint32_t id = 0; id < folded->weights.n; id++) {
        struct weft_str stack = weft_strtab_get(folded->samples, id);
        weft_output_frame(exporter->out, exporter->thread_label);
        weft_output_text(exporter->out, ";");
        weft_output_plain(exporter->out, stack);
        put_weight(exporter, folded->weights.items[id]);
    }
    weft_strtab_free(folded->samples);
    folded->samples = NULL;
    folded->weights.n = 0;
    folded->sample_bytes = 0;
}

/* The stack as it is summed: of counted ones what took them is the outermost. Valid until the next
 * one. */
static struct weft_str stack_of(struct weft_exporter *exporter, const struct weft_event *event)
{
    const struct weft_str stack = event->name.n_bytes ? event->name : WEFT_STR("[unknown]");
    if (exporter->opts->weight != WEFT_EXPORT_STACKS || event->category.n_bytes == 0)
        return stack;
    weft_output_clear(exporter->scratch);
    weft_output_frame(exporter->scratch, event->category);
    weft_output_text(exporter->scratch, ";");
    weft_output_write(exporter->scratch, stack.bytes, stack.n_bytes);
    return weft_output_held(exporter->scratch);
}

/* What says where, but not how long, has no part in a sum of weights. */
static void event(struct weft_exporter *exporter, const struct weft_event *event)
{
    struct folded *folded = exporter->state;
    const bool is_counted = exporter->opts->weight == WEFT_EXPORT_STACKS;
    uint32_t id;
    if (!is_counted && event->value == 0) {
        exporter->totals->weightless++;
        return;
    }
    const struct weft_str stack = stack_of(exporter, event);
    if (folded->weights.n >= folded->paths_max || folded->sample_bytes >= SAMPLE_BYTES_MAX)
        put_samples(exporter);
    if (!folded->samples)
        folded->samples = weft_strtab_new();
    if (!folded->samples || weft_strtab_intern(folded->samples, stack, &id, NULL) != WEFT_OK ||
        (id == folded->weights.n && !WEFT_ROOM_PUSH(&folded->weights))) {
        weft_exporter_no_memory(exporter);
        return;
    }
    folded->sample_bytes += folded->weights.items[id] ? 0 : stack.n_bytes;
    folded->weights.items[id] += is_counted ? 1 : event->value;
}

static void begin(struct weft_exporter *exporter)
{
    struct folded *folded = exporter->state;
    folded->paths_max = exporter->opts->paths_max ? exporter->opts->paths_max : PATHS_MAX;
    folded->paths = weft_map_new();
    if (!folded->paths)
        weft_exporter_no_memory(exporter);
}

static void thread_end(struct weft_exporter *exporter)
{
    struct folded *folded = exporter->state;
    if (exporter->opts->weight >= WEFT_EXPORT_SAMPLES)
        put_samples(exporter);
    else
        put_paths(exporter);
    folded->open.n = 0;
}

static void fini(struct weft_exporter *exporter)
{
    struct folded *folded = exporter->state;
    weft_map_free(folded->paths);
    weft_strtab_free(folded->samples);
    WEFT_ROOM_FINI(&folded->weights);
    WEFT_ROOM_FINI(&folded->open);
    WEFT_ROOM_FINI(&folded->line);
}

const struct weft_export_format_ops weft_export_folded = {
    .state_bytes = sizeof(struct folded),
    .event_kinds = UINT32_C(1) << WEFT_EVENT_SAMPLE,
    .begin = begin,
    .enter = enter,
    .leave = leave,
    .event = event,
    .thread_end = thread_end,
    .fini = fini,
    .label = label,
};
