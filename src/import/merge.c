/* SPDX-License-Identifier: MIT
 *
 * Aligns and combines traces. The clock is chosen in this order: CLOCK_MONOTONIC if all traces are
 * of one boot of one host, else the wall clock, else each trace starts at 0; packets between hosts
 * (clock_sync.h) refine it. Names and threads are combined here and by merge_threads.c,
 * events by the replay.
 */
#include "import/merge.h"

#include "base/checked.h"
#include "base/map.h"
#include "base/vec.h"
#include "import/clock_sync.h"
#include "import/merge_threads.h"
#include "import/replay.h"
#include "import/stored.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- merge names ----------------------------------------------------------------------------- */

/* What a merged trace calls functions: keys that are unique in it. Identities are byte strings,
 * interned: their dense ids index plain arrays. */

struct weft_merge_names;

/* What (module, name, address) stands for. A trace may hold the same several times: the first of
 * one trace is the first of the next. */
struct same_name {
    uint32_t trace;   /* that saw it last, 1 + number */
    uint32_t n_in_it; /* how often so far */
};

struct weft_merge_names {
    struct weft_strtab *functions; /* (module, name, address) */
    struct {
        struct same_name *items; /* by id in functions */
        size_t n, cap;
    } same_names;
    struct weft_map *key_of; /* id in functions and occurrence -> index in keys */
    struct {
        uint32_t *items;
        size_t n, cap;
    } keys;
    struct weft_map *used_keys;
    uint64_t next_key; /* no function has it, nor a greater one */
    struct {
        char *items;
        size_t n, cap;
    } room; /* an identity being made */
    uint32_t n_function_traces;
};

static void weft_merge_names_free(struct weft_merge_names *names)
{
    if (!names)
        return;
    weft_strtab_free(names->functions);
    weft_map_free(names->key_of);
    weft_map_free(names->used_keys);
    WEFT_VEC_FINI(&names->same_names);
    WEFT_VEC_FINI(&names->keys);
    WEFT_VEC_FINI(&names->room);
    free(names);
}

/* NULL without memory. */
static struct weft_merge_names *weft_merge_names_new(const struct weft_merge_input *inputs,
                                                     size_t n_inputs)
{
    struct weft_merge_names *names = calloc(1, sizeof *names);
    if (!names)
        return NULL;
    names->functions = weft_strtab_new();
    names->key_of = weft_map_new();
    names->used_keys = weft_map_new();
    for (size_t k = 0; k < n_inputs; k++) { /* functions are sorted by key */
        const uint32_t n_functions = weft_store_meta_get(inputs[k].store)->n_functions;
        const uint64_t last =
            n_functions ? weft_store_function_get(inputs[k].store, n_functions - 1)->key : 0;
        names->next_key = last >= names->next_key ? last + 1 : names->next_key;
    }
    if (names->functions && names->key_of && names->used_keys)
        return names;
    weft_merge_names_free(names);
    return NULL;
}

/* Appends to the identity; false without memory. */
static bool room_put(struct weft_merge_names *names, const void *bytes, size_t n_bytes)
{
    if (!weft_vec_reserve(&names->room.items, &names->room.cap, names->room.n + n_bytes + 1, 1))
        return false;
    if (n_bytes)
        memcpy(names->room.items + names->room.n, bytes, n_bytes);
    names->room.n += n_bytes;
    return true;
}

static bool room_put_u64(struct weft_merge_names *names, uint64_t value)
{
    return room_put(names, &value, sizeof value);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Its own key, or one that no trace has. */
static enum weft_code key_choose(struct weft_merge_names *names, uint32_t own, uint32_t *key,
                                 struct weft_err *err)
{
    uint64_t chosen = own;
    if (weft_map_find(names->used_keys, own) != WEFT_MAP_NONE)
        chosen = names->next_key++;
    if (chosen > UINT32_MAX) /* the greatest key is taken: any other will do */
        for (chosen = 0; weft_map_find(names->used_keys, chosen) != WEFT_MAP_NONE;)
            chosen++;
    *key = (uint32_t)chosen;
    return weft_map_add(names->used_keys, chosen, NULL) == WEFT_MAP_NONE
               ? weft_no_memory(err, "functions")
               : WEFT_OK;
}

/* How often the trace has had the function before, which is in the room of names. */
static enum weft_code occurrence_of(struct weft_merge_names *names, uint32_t trace, uint32_t *id,
                                    uint32_t *occurrence, struct weft_err *err)
{
    const struct weft_str text = { names->room.items, names->room.n };
    WEFT_TRY(weft_strtab_intern(names->functions, text, id, err));
    while (names->same_names.n <= *id)
        if (!WEFT_VEC_PUSH(&names->same_names))
            return weft_no_memory(err, "functions");
    struct same_name *same = &names->same_names.items[*id];
    if (same->trace != trace)
        *same = (struct same_name){ .trace = trace };
    *occurrence = same->n_in_it++;
    return WEFT_OK;
}

/* The key of a function that another trace may have. */
static enum weft_code key_share(struct weft_merge_names *names,
                                const struct weft_store_function *function, uint32_t trace,
                                uint32_t *key, bool *is_new, struct weft_err *err)
{
    uint32_t id = 0, occurrence = 0; /* gcc 12 does not see that they are set */
    names->room.n = 0;
    if (!room_put_u64(names, function->address) || !room_put_u64(names, function->module.n_bytes) ||
        !room_put(names, function->module.bytes, function->module.n_bytes) ||
        !room_put(names, function->name.bytes, function->name.n_bytes))
        return weft_no_memory(err, "functions");
    WEFT_TRY(occurrence_of(names, trace, &id, &occurrence, err));
    const uint32_t index = weft_map_add(names->key_of, (uint64_t)occurrence << 32 | id, is_new);
    if (index == WEFT_MAP_NONE)
        return weft_no_memory(err, "functions");
    if (!*is_new) {
        *key = names->keys.items[index];
        return WEFT_OK;
    }
    uint32_t *chosen = WEFT_VEC_PUSH(&names->keys);
    if (!chosen)
        return weft_no_memory(err, "functions");
    enum weft_code code = key_choose(names, function->key, chosen, err);
    *key = *chosen;
    return code;
}

/* The next trace: gives each of its functions (by id) a key, and announces those that are new. The
 * same (module, name, address) in two traces is one function; an unnamed one without module and
 * address is never the same as another trace's. A function keeps its key if that is free. */
static enum weft_code weft_merge_functions(struct weft_merge_names *names,
                                           const struct weft_store *store, uint32_t *keys,
                                           struct weft_sink *sink, struct weft_err *err)
{
    const uint32_t n_functions = weft_store_meta_get(store)->n_functions;
    const uint32_t trace = ++names->n_function_traces;
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 0; code == WEFT_OK && id < n_functions; id++) {
        const struct weft_store_function *function = weft_store_function_get(store, id);
        const bool is_known =
            function->name.n_bytes || (function->module.n_bytes && function->address);
        bool is_new = true;
        code = is_known ? key_share(names, function, trace, &keys[id], &is_new, err)
                        : key_choose(names, function->key, &keys[id], err);
        if (code == WEFT_OK && is_new)
            code = weft_replay_function(function, keys[id], sink, err);
    }
    return code;
}

/* ---- merge ----------------------------------------------------------------------------------- */

#define NS_PER_S UINT64_C(1000000000)

/* Between two boots lies more; between two looks at both clocks of one boot the wall clock is set
 * and slewed by less. */
#define SAME_BOOT_NS (60 * NS_PER_S)

/* Times and offsets beyond that are made up; their sums and differences fit. */
#define MOST_NS (UINT64_C(1) << 61)

enum { DETAILS_BYTES = 1024, NAME_BYTES = 256 };

struct job {
    const struct weft_merge_input *inputs;
    size_t n_inputs;
    const struct weft_run *run;
    struct weft_replay *replays;
    uint32_t **keys, **thread_ids; /* by input: by function id, by thread id */
    uint64_t *shifts_ns;
    uint32_t *hosts; /* by input: added to the ids of its hosts */
    enum weft_alignment alignment;
    bool joins; /* joins threads that several traces recorded */
    struct weft_clock clock;
    struct weft_clock_sync sync;
    size_t *sync_hosts;                  /* by input: the place of its host, if is_by_trace */
    const struct weft_clock_fit ***fits; /* by input and thread */
};

/* ---- time ------------------------------------------------------------------------------------ */

static const struct weft_clock *clock_of(const struct weft_merge_input *input)
{
    return &weft_store_meta_get(input->store)->clock;
}

static bool is_one_host(const struct weft_merge_input *inputs, size_t n_inputs)
{
    bool has_host = false;
    uint32_t host_id = 0;
    for (size_t k = 0; k < n_inputs; k++)
        for (uint32_t id = 0; id < weft_store_meta_get(inputs[k].store)->n_threads; id++) {
            const uint32_t here = weft_store_thread_get(inputs[k].store, id)->info.host_id;
            if (has_host && here != host_id)
                return false;
            has_host = true;
            host_id = here;
        }
    return true;
}

/* Where both clocks are known, their difference is the time of the boot. */
static bool is_one_boot(const struct weft_merge_input *inputs, size_t n_inputs)
{
    bool has_boot = false;
    uint64_t least_ns = UINT64_MAX, most_ns = 0;
    for (size_t k = 0; k < n_inputs; k++) {
        const struct weft_clock *clock = clock_of(&inputs[k]);
        if (!clock->has_monotonic || !clock->has_realtime)
            continue;
        const uint64_t boot_ns = weft_sub_sat_u64(clock->realtime_ns, clock->monotonic_ns);
        least_ns = weft_min_u64(least_ns, boot_ns);
        most_ns = weft_max_u64(most_ns, boot_ns);
        has_boot = true;
    }
    return !has_boot || most_ns - least_ns <= SAME_BOOT_NS;
}

static enum weft_alignment choose_clock(const struct weft_merge_input *inputs, size_t n_inputs)
{
    bool all_monotonic = true, all_realtime = true;
    for (size_t k = 0; k < n_inputs; k++) {
        all_monotonic = all_monotonic && clock_of(&inputs[k])->has_monotonic;
        all_realtime = all_realtime && clock_of(&inputs[k])->has_realtime;
    }
    if (all_monotonic && is_one_host(inputs, n_inputs) && is_one_boot(inputs, n_inputs))
        return WEFT_ALIGNED_MONOTONIC;
    return all_realtime ? WEFT_ALIGNED_REALTIME : WEFT_ALIGNED_NOT;
}

/* Time 0 of a trace by the clock chosen, moved by what was asked for; may be negative. */
static int64_t zero_of(const struct weft_merge_input *input, enum weft_alignment alignment)
{
    const struct weft_clock *clock = clock_of(input);
    const uint64_t zero_ns = alignment == WEFT_ALIGNED_MONOTONIC  ? clock->monotonic_ns
                             : alignment == WEFT_ALIGNED_REALTIME ? clock->realtime_ns
                                                                  : 0;
    return (int64_t)weft_min_u64(zero_ns, MOST_NS) + input->offset_ns;
}

enum weft_alignment weft_merge_align(const struct weft_merge_input *inputs, size_t n_inputs,
                                     uint64_t *shifts_ns, struct weft_clock *clock)
{
    const enum weft_alignment alignment = choose_clock(inputs, n_inputs);
    size_t first = 0;
    for (size_t k = 1; k < n_inputs; k++)
        if (zero_of(&inputs[k], alignment) < zero_of(&inputs[first], alignment))
            first = k;
    const int64_t least_ns = zero_of(&inputs[first], alignment);
    const uint64_t zero_ns = least_ns > 0 ? (uint64_t)least_ns : 0;
    for (size_t k = 0; k < n_inputs; k++)
        shifts_ns[k] = (uint64_t)(zero_of(&inputs[k], alignment) - least_ns);
    *clock = (struct weft_clock){ .frequency_hz = NS_PER_S, .zero_ticks = zero_ns };
    if (alignment == WEFT_ALIGNED_NOT)
        return alignment;
    const struct weft_clock *earliest = clock_of(&inputs[first]);
    clock->has_monotonic = alignment == WEFT_ALIGNED_MONOTONIC;
    clock->monotonic_ns = clock->has_monotonic ? zero_ns : 0;
    clock->has_realtime = earliest->has_realtime;
    clock->realtime_ns = earliest->realtime_ns;
    return alignment;
}

static bool has_offsets(const struct job *job)
{
    for (size_t k = 0; k < job->n_inputs; k++)
        if (job->inputs[k].offset_ns)
            return true;
    return false;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static uint64_t boot_of(const struct weft_merge_input *input)
{
    const struct weft_clock *clock = clock_of(input);
    return weft_sub_sat_u64(clock->realtime_ns, clock->monotonic_ns);
}

/* A trace without packets is of the host that booted when it did, as nearly as any; SIZE_MAX: of
 * none. */
static size_t nearest_host(const struct job *job, size_t input)
{
    const uint64_t boot_ns = boot_of(&job->inputs[input]);
    uint64_t best_ns = SAME_BOOT_NS;
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < job->sync.n_hosts; k++) {
        const uint64_t other_ns = boot_of(&job->inputs[job->sync.hosts[k].trace]);
        const uint64_t apart_ns = boot_ns > other_ns ? boot_ns - other_ns : other_ns - boot_ns;
        if (job->sync.hosts[k].trace == input)
            return k;
        if (apart_ns < best_ns) {
            best_ns = apart_ns;
            best = k;
        }
    }
    return best;
}

/* Packets showed that traces are of different hosts: hosts are numbered, and each thread gets the
 * number of its host. */
static enum weft_code hosts_set(struct job *job, struct weft_err *err)
{
    job->fits = calloc(job->n_inputs, sizeof *job->fits);
    job->sync_hosts = calloc(job->n_inputs, sizeof *job->sync_hosts);
    bool has_all = job->fits && job->sync_hosts;
    for (size_t k = 0; has_all && k < job->n_inputs; k++) {
        const struct weft_store *store = job->inputs[k].store;
        const uint32_t n_threads = weft_store_meta_get(store)->n_threads;
        const size_t own = job->sync.is_by_trace ? nearest_host(job, k) : 0;
        job->sync_hosts[k] = own;
        if (job->sync.is_by_trace)
            job->hosts[k] = (uint32_t)(own == SIZE_MAX ? job->sync.n_hosts + k : own);
        job->fits[k] = calloc((size_t)n_threads + 1, sizeof **job->fits);
        has_all = job->fits[k] != NULL;
        for (uint32_t id = 0; has_all && id < n_threads; id++) {
            const size_t host =
                job->sync.is_by_trace
                    ? job->sync_hosts[k]
                    : weft_clock_sync_host(&job->sync, k,
                                           weft_store_thread_get(store, id)->info.host_id);
            if (host != SIZE_MAX && job->sync.hosts[host].is_set)
                job->fits[k][id] = &job->sync.hosts[host].fit;
        }
    }
    return has_all ? WEFT_OK
                   : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu traces",
                               job->n_inputs);
}

/* The earliest start of a trace, by the clock that all have now. */
static int64_t least_of(const struct job *job)
{
    int64_t least_ns = INT64_MAX;
    for (size_t k = 0; k < job->n_inputs; k++)
        for (uint32_t id = 0; id < weft_store_meta_get(job->inputs[k].store)->n_threads; id++) {
            const int64_t at_ns = weft_clock_fit_apply(job->fits[k][id], job->shifts_ns[k]);
            least_ns = at_ns < least_ns ? at_ns : least_ns;
        }
    return least_ns;
}

/* The clock is that of the host that was not set. */
static void clock_set(struct job *job, int64_t least_ns)
{
    const size_t root = job->sync.hosts[job->sync.root].trace;
    const struct weft_clock *clock = clock_of(&job->inputs[root]);
    const int64_t earlier_ns = (int64_t)weft_min_u64(job->shifts_ns[root], MOST_NS) - least_ns;
    const int64_t realtime_ns = (int64_t)weft_min_u64(clock->realtime_ns, MOST_NS) - earlier_ns;
    job->clock = (struct weft_clock){ .frequency_hz = NS_PER_S };
    job->clock.has_realtime = clock->has_realtime && realtime_ns > 0;
    if (job->clock.has_realtime)
        job->clock.realtime_ns = job->clock.zero_ticks = (uint64_t)realtime_ns;
}

static enum weft_code sync_hosts(struct job *job, struct weft_err *err)
{
    struct weft_sync_trace *traces = calloc(job->n_inputs, sizeof *traces);
    if (!traces)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu traces",
                         job->n_inputs);
    for (size_t k = 0; k < job->n_inputs; k++)
        traces[k] = (struct weft_sync_trace){ job->inputs[k].store, job->shifts_ns[k] };
    enum weft_code code = weft_clock_sync_make(
        traces, job->n_inputs, is_one_host(job->inputs, job->n_inputs), &job->sync, err);
    free(traces);
    if (code == WEFT_OK && job->sync.n_set > 0)
        code = hosts_set(job, err);
    if (code != WEFT_OK || job->sync.n_set == 0)
        return code;
    const int64_t least_ns = least_of(job);
    for (size_t k = 0; k < job->n_inputs; k++) {
        job->replays[k].fits = job->fits[k];
        job->replays[k].least_ns = least_ns;
    }
    clock_set(job, least_ns);
    job->alignment = WEFT_ALIGNED_PACKETS;
    return WEFT_OK;
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* "a, b, c", or "a, b, ..." where it does not fit. */
static void list_names(const struct job *job, const char *comma, bool with_formats, char *text,
                       size_t n_text)
{
    static const char more[] = "...";
    size_t n_used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < job->n_inputs; k++) {
        const struct weft_str format = weft_store_meta_get(job->inputs[k].store)->format;
        const size_t room = n_text - n_used;
        const int n_new =
            with_formats
                ? snprintf(text + n_used, room, "%s%s (%.*s)", k ? comma : "", job->inputs[k].name,
                           (int)format.n_bytes, format.bytes)
                : snprintf(text + n_used, room, "%s%s", k ? comma : "", job->inputs[k].name);
        if (n_new < 0 || (size_t)n_new + sizeof more > room) {
            (void)snprintf(text + (room > sizeof more ? n_used : n_text - sizeof more), sizeof more,
                           "%s", more);
            return;
        }
        n_used += (size_t)n_new;
    }
}

static enum weft_code announce(const struct job *job, struct weft_sink *sink, struct weft_err *err)
{
    static const char *const how[] = { "aligned by CLOCK_MONOTONIC", "aligned by the wall clock",
                                       "each from 0", "aligned by packets" };
    char list[DETAILS_BYTES], details[DETAILS_BYTES + NAME_BYTES];
    list_names(job, ", ", true, list, sizeof list);
    (void)snprintf(details, sizeof details, "%zu traces %s%s: %s", job->n_inputs,
                   how[job->alignment], has_offsets(job) ? " and offsets" : "", list);
    struct weft_sink_begin begin = { .format = WEFT_STR("merge"),
                                     .details = weft_str_of(details),
                                     .is_parallel = true };
    for (size_t k = 0; k < job->n_inputs; k++)
        begin.has_some_calls |= weft_store_meta_get(job->inputs[k].store)->has_some_calls;
    if (job->n_inputs == 1) { /* it is the same trace */
        begin.format = weft_store_meta_get(job->inputs[0].store)->format;
        begin.details = weft_store_meta_get(job->inputs[0].store)->details;
    }
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    return code == WEFT_OK ? sink->ops->clock(sink, &job->clock, err) : code;
}

static enum weft_code note_alignment(const struct job *job, struct weft_sink *sink,
                                     struct weft_err *err)
{
    char list[DETAILS_BYTES];
    if (job->alignment != WEFT_ALIGNED_NOT)
        return WEFT_OK;
    list_names(job, ", ", false, list, sizeof list);
    const struct weft_note note = { .kind = WEFT_NOTE_NOT_ALIGNED,
                                    .count = job->n_inputs,
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = WEFT_NO_OFFSET,
                                    .detail = weft_str_of(list) };
    return sink->ops->note(sink, &note, err);
}

/* "scp_dest: host 1, +9.772 s, drift -3.14 ppm; 812 packets sent, 790 received within 7.1 s": what
 * was added to the clock that its trace has. */
static enum weft_code note_host(const struct job *job, const struct weft_sync_host *host,
                                struct weft_sink *sink, struct weft_err *err)
{
    char detail[NAME_BYTES + 256];
    const uint32_t host_id = host->host_id + job->hosts[host->trace];
    (void)snprintf(detail, sizeof detail,
                   "%.*s%shost %" PRIu32 ", %+.9f s, drift %+.3f ppm; %" PRIu64
                   " packets sent, %" PRIu64 " received within %.3f s%s",
                   NAME_BYTES, job->n_inputs > 1 ? job->inputs[host->trace].name : "",
                   job->n_inputs > 1 ? ": " : "", host_id, (double)host->fit.offset_ns / 1e9,
                   ldexp((double)host->fit.drift, -WEFT_CLOCK_DRIFT_BITS) * 1e6, host->n_sent,
                   host->n_received, (double)host->fit.packets_ns / 1e9,
                   host->fit.is_contradicted ? ", which contradict each other" : "");
    const struct weft_note note = { .kind = WEFT_NOTE_CLOCK_SET,
                                    .count = weft_max_u64(host->fit.accuracy_ns, 1),
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = WEFT_NO_OFFSET,
                                    .detail = weft_str_of(detail) };
    return sink->ops->note(sink, &note, err);
}

static enum weft_code note_hosts(const struct job *job, struct weft_sink *sink,
                                 struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; k < job->sync.n_hosts && code == WEFT_OK; k++)
        if (job->sync.hosts[k].is_set)
            code = note_host(job, &job->sync.hosts[k], sink, err);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum weft_code prepare(struct job *job, struct weft_err *err)
{
    job->replays = calloc(job->n_inputs, sizeof *job->replays);
    job->shifts_ns = calloc(job->n_inputs, sizeof *job->shifts_ns);
    job->hosts = calloc(job->n_inputs, sizeof *job->hosts);
    job->keys = calloc(job->n_inputs, sizeof *job->keys);
    job->thread_ids = calloc(job->n_inputs, sizeof *job->thread_ids);
    bool has_all = job->replays && job->shifts_ns && job->hosts && job->keys && job->thread_ids;
    for (size_t k = 0; has_all && k < job->n_inputs; k++) {
        const struct weft_store_meta *meta = weft_store_meta_get(job->inputs[k].store);
        job->keys[k] = calloc((size_t)meta->n_functions + 1, sizeof **job->keys);
        job->thread_ids[k] = calloc((size_t)meta->n_threads + 1, sizeof **job->thread_ids);
        has_all = job->keys[k] && job->thread_ids[k];
    }
    if (!has_all)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu traces",
                         job->n_inputs);
    job->alignment = weft_merge_align(job->inputs, job->n_inputs, job->shifts_ns, &job->clock);
    /* Traces of different boots are of different machines, or as good as. */
    if (is_one_host(job->inputs, job->n_inputs) && !is_one_boot(job->inputs, job->n_inputs))
        for (size_t k = 0; k < job->n_inputs; k++)
            job->hosts[k] = (uint32_t)k;
    for (size_t k = 0; k < job->n_inputs; k++)
        job->replays[k] = (struct weft_replay){
            .store = job->inputs[k].store,
            .to_ns = UINT64_MAX,
            .shift_ns = job->shifts_ns[k],
            .thread_ids = job->thread_ids[k],
            .function_keys = job->keys[k],
            .note_prefix = job->n_inputs > 1 ? weft_str_of(job->inputs[k].name) : WEFT_STR("")
        };
    job->joins = job->alignment == WEFT_ALIGNED_MONOTONIC;
    const enum weft_code code = has_offsets(job) ? WEFT_OK : sync_hosts(job, err);
    for (size_t k = 0; k < job->n_inputs; k++)
        job->replays[k].first_host_id = job->hosts[k];
    return code;
}

static void discard(struct job *job)
{
    for (size_t k = 0; job->keys && k < job->n_inputs; k++)
        free(job->keys[k]);
    for (size_t k = 0; job->thread_ids && k < job->n_inputs; k++)
        free(job->thread_ids[k]);
    for (size_t k = 0; job->fits && k < job->n_inputs; k++)
        free(job->fits[k]);
    weft_clock_sync_fini(&job->sync);
    free(job->fits);
    free(job->sync_hosts);
    free(job->keys);
    free(job->thread_ids);
    free(job->shifts_ns);
    free(job->hosts);
    free(job->replays);
}

static enum weft_code name_all(struct job *job, struct weft_sink *sink, struct weft_err *err)
{
    struct weft_merge_names *names = weft_merge_names_new(job->inputs, job->n_inputs);
    enum weft_code code = names ? WEFT_OK : weft_no_memory(err, "functions");
    for (size_t k = 0; code == WEFT_OK && k < job->n_inputs; k++)
        code = weft_merge_functions(names, job->inputs[k].store, job->keys[k], sink, err);
    weft_merge_names_free(names);
    WEFT_THEN(code, weft_merge_threads(job->replays, job->n_inputs, job->hosts, job->joins,
                                       job->thread_ids, sink, err));
    return code;
}

static enum weft_code write_all(struct job *job, const char *output,
                                struct weft_writer_totals *totals, struct weft_err *err)
{
    char name[NAME_BYTES];
    list_names(job, " + ", false, name, sizeof name);
    struct weft_writer_opts opts = { .source_name = name,
                                     .memory_bytes = job->run ? job->run->memory_bytes : 0 };
    for (size_t k = 0; k < job->n_inputs; k++)
        opts.bytes_in =
            weft_add_sat_u64(opts.bytes_in, weft_store_meta_get(job->inputs[k].store)->bytes_in);
    struct weft_writer *writer = NULL;
    WEFT_TRY(weft_writer_open(output, &opts, &writer, err));
    struct weft_sink *sink = weft_writer_sink(writer);
    enum weft_code code = announce(job, sink, err);
    WEFT_THEN(code, name_all(job, sink, err));
    WEFT_THEN(code, weft_replay_run(job->replays, job->n_inputs, sink, job->run, err));
    for (size_t k = 0; code == WEFT_OK && k < job->n_inputs; k++)
        if (job->inputs[k].lossy)
            code = weft_input_note_loss(job->inputs[k].lossy, sink, err);
    WEFT_THEN(code, note_alignment(job, sink, err));
    WEFT_THEN(code, note_hosts(job, sink, err));
    if (code == WEFT_OK)
        return weft_writer_commit(writer, totals, err);
    weft_writer_abort(writer);
    return code;
}

enum weft_code weft_merge_stores(const struct weft_merge_input *inputs, size_t n_inputs,
                                 const char *output, const struct weft_run *run,
                                 struct weft_writer_totals *totals, struct weft_err *err)
{
    struct job job = { .inputs = inputs, .n_inputs = n_inputs, .run = run };
    enum weft_code code = prepare(&job, err);
    WEFT_THEN(code, write_all(&job, output, totals, err));
    discard(&job);
    return code;
}

/* Several hosts that sent and received. */
static bool may_be_set(const struct weft_store *store)
{
    const struct weft_merge_input input = { .store = (struct weft_store *)(uintptr_t)store };
    const uint64_t *n = weft_store_meta_get(store)->events_of_kind;
    return n[WEFT_EVENT_PACKET_SENT] > 0 && n[WEFT_EVENT_PACKET_RECEIVED] > 0 &&
           !is_one_host(&input, 1);
}

enum weft_code weft_merge_hosts(const char *path, const struct weft_run *run,
                                struct weft_writer_totals *totals, struct weft_err *err)
{
    struct weft_store *store;
    enum weft_code code = weft_store_open(path, &store, err);
    if (code != WEFT_OK)
        return code;
    const struct weft_str source = weft_store_meta_get(store)->source_name;
    const bool is_to_be_set = may_be_set(store);
    char *name = is_to_be_set ? strndup(source.bytes, source.n_bytes) : NULL;
    if (is_to_be_set && !name)
        code = weft_no_memory(err, "the name of a source");
    const struct weft_merge_input input = { .store = store, .name = name };
    struct job job = { .inputs = &input, .n_inputs = 1, .run = run };
    if (name) {
        code = prepare(&job, err);
        if (code == WEFT_OK && job.sync.n_set > 0)
            code = write_all(&job, path, totals, err);
        discard(&job);
    }
    free(name);
    weft_store_close(store);
    return code;
}

static enum weft_code open_and_merge(const struct weft_merge_opts *opts, struct weft_stored *stored,
                                     struct weft_merge_input *inputs, const struct weft_run *run,
                                     struct weft_writer_totals *totals, struct weft_err *err)
{
    const struct weft_input_opts input_opts = { .beside = opts->output,
                                                .memory_bytes = opts->memory_bytes,
                                                .progress = run->progress };
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < opts->n_inputs; k++) {
        code = weft_stored_open(opts->inputs[k], &input_opts, &stored[k], err);
        if (code == WEFT_OK)
            inputs[k] = (struct weft_merge_input){ .store = stored[k].store,
                                                   .name = weft_input_source(&stored[k].input),
                                                   .lossy = &stored[k].input,
                                                   .offset_ns =
                                                       opts->offsets_ns ? opts->offsets_ns[k] : 0 };
    }
    return code == WEFT_OK
               ? weft_merge_stores(inputs, opts->n_inputs, opts->output, run, totals, err)
               : code;
}

enum weft_code weft_merge_run(const struct weft_merge_opts *opts, const struct weft_run *run,
                              struct weft_writer_totals *totals, struct weft_err *err)
{
    if (opts->n_inputs == 0 || !opts->output)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected an input and an output");
    struct weft_stored *stored = calloc(opts->n_inputs, sizeof *stored);
    struct weft_merge_input *inputs = calloc(opts->n_inputs, sizeof *inputs);
    const enum weft_code code = stored && inputs
                                    ? open_and_merge(opts, stored, inputs, run, totals, err)
                                    : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET,
                                                "no memory for %zu inputs", opts->n_inputs);
    for (size_t k = 0; stored && k < opts->n_inputs; k++)
        weft_stored_close(&stored[k]);
    free(stored);
    free(inputs);
    return code;
}
