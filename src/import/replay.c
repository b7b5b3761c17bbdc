/* SPDX-License-Identifier: MIT
 *
 * Plans a replay and its parallel loop: which threads of the traces feed which thread of the sink,
 * each delivered by one worker (replay_thread.c). Notes are copied too, less what the sink counts
 * again when it balances the same calls. cut.c, merge.c and the import of a .weft file are its
 * callers.
 */
#include "import/replay.h"

#include "base/checked.h"
#include "import/replay_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DETAIL_BYTES = 512 };

/* A thread of one of the traces. */
struct item {
    struct weft_replay_source source;
    struct weft_replay_counts counts;
};

struct job {
    struct weft_sink *sink;
    const struct weft_run *run;
    struct item *items; /* by trace and thread */
    size_t n_items;
    struct weft_replay_source *sources; /* the same by the sink's thread, then by trace */
    size_t *first_source;               /* by the sink's thread; one more at the end */
    size_t n_threads;                   /* of the sink */
    struct weft_replay_room **rooms;    /* one a worker, made when needed */
    unsigned n_rooms;
};

static bool is_whole(const struct weft_replay *replay)
{
    return replay->from_ns == 0 && replay->to_ns == UINT64_MAX;
}

/* Of the trace's own clock. */
static uint64_t shifted(const struct weft_replay *replay, uint64_t time_ns)
{
    return weft_add_sat_u64(weft_sub_sat_u64(time_ns, replay->from_ns), replay->shift_ns);
}

uint64_t weft_replay_time(const struct weft_replay *replay, uint32_t thread_id, uint64_t time_ns)
{
    const uint64_t at_ns = shifted(replay, time_ns);
    if (!replay->fits)
        return at_ns;
    const int64_t set_ns = weft_clock_fit_apply(replay->fits[thread_id], at_ns);
    return set_ns > replay->least_ns ? (uint64_t)(set_ns - replay->least_ns) : 0;
}

bool weft_replay_is_alive(const struct weft_replay *replay, uint32_t thread_id)
{
    const struct weft_store_thread *thread = weft_store_thread_get(replay->store, thread_id);
    if (is_whole(replay))
        return true;
    if (replay->earlier && replay->earlier[thread_id])
        return true;
    const bool is_empty = thread->n_blocks == 0 && thread->n_event_blocks == 0;
    const uint64_t first_ns = thread->cut_calls > 0 ? 0 : thread->first_ns;
    return !is_empty && first_ns < replay->to_ns && thread->last_ns >= replay->from_ns;
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* How many of a note the sink counts again. */
static uint64_t counted_again(const struct weft_note *note, const struct weft_replay_counts *counts)
{
    if (note->detail.n_bytes)
        return 0;
    switch (note->kind) {
    case WEFT_NOTE_EXIT_WITHOUT_ENTRY_CUT:
        return counts->n_cut;
    case WEFT_NOTE_MISSING_EXIT:
        return counts->n_repaired;
    case WEFT_NOTE_OPEN_AT_END:
        return counts->n_open;
    default:
        return 0;
    }
}

static bool says_which(const struct weft_note *note, struct weft_str prefix)
{
    return note->detail.n_bytes > prefix.n_bytes && note->detail.bytes[prefix.n_bytes] == ':' &&
           memcmp(note->detail.bytes, prefix.bytes, prefix.n_bytes) == 0;
}

/* A note on the whole trace; with a prefix it says of which. */
static enum weft_code trace_note(const struct weft_replay *replay, struct weft_note note,
                                 struct weft_sink *sink, struct weft_err *err)
{
    char detail[DETAIL_BYTES];
    if (note.kind == WEFT_NOTE_UNNAMED_FUNCTION && note.detail.n_bytes == 0)
        return WEFT_OK; /* the sink sees it again */
    if (replay->note_prefix.n_bytes && !says_which(&note, replay->note_prefix)) {
        const int n_bytes =
            snprintf(detail, sizeof detail, "%.*s%s%.*s", (int)replay->note_prefix.n_bytes,
                     replay->note_prefix.bytes, note.detail.n_bytes ? ": " : "",
                     (int)note.detail.n_bytes, note.detail.n_bytes ? note.detail.bytes : "");
        note.detail = (struct weft_str){ detail, n_bytes < DETAIL_BYTES ? (size_t)n_bytes
                                                                        : DETAIL_BYTES - 1 };
    }
    return sink->ops->note(sink, &note, err);
}

static enum weft_code thread_note(const struct job *job, const struct weft_replay *replay,
                                  struct weft_note note, const struct weft_replay_counts *counts,
                                  struct weft_err *err)
{
    const uint64_t n_again = counted_again(&note, counts);
    note.thread_id = replay->thread_ids[note.thread_id];
    if (note.thread_id == WEFT_ID_NONE)
        return WEFT_OK;
    note.count = weft_sub_sat_u64(note.count, n_again);
    return note.count > 0 ? job->sink->ops->note(job->sink, &note, err) : WEFT_OK;
}

/* The item of a thread, or NULL. Items are sorted by trace and thread. */
static struct item *item_find(const struct job *job, const struct weft_replay *replay,
                              uint32_t thread_id)
{
    size_t low = 0, high = job->n_items;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const struct weft_replay_source *source = &job->items[mid].source;
        if (source->replay < replay || (source->replay == replay && source->thread_id < thread_id))
            low = mid + 1;
        else
            high = mid;
    }
    struct item *item = &job->items[low];
    const bool is_found =
        low < job->n_items && item->source.replay == replay && item->source.thread_id == thread_id;
    return is_found ? item : NULL;
}

/* What balancing did beyond a window's edges is not what it did within. */
static enum weft_code notes_put(const struct job *job, const struct weft_replay *replay,
                                struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_store_meta_get(replay->store);
    static const struct weft_replay_counts all = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < meta->n_notes; i++) {
        const struct weft_note *note = weft_store_note_get(replay->store, i);
        if (note->thread_id == WEFT_ID_NONE) {
            code = trace_note(replay, *note, job->sink, err);
            continue;
        }
        const struct item *item = item_find(job, replay, note->thread_id);
        if (item)
            code = thread_note(job, replay, *note, is_whole(replay) ? &item->counts : &all, err);
    }
    if (code == WEFT_OK && meta->lost_bytes > 0) {
        const struct weft_note note = { .kind = WEFT_NOTE_TRUNCATED,
                                        .count = meta->lost_bytes,
                                        .thread_id = WEFT_ID_NONE,
                                        .at_off = WEFT_NO_OFFSET,
                                        .detail = WEFT_STR("the .weft file is damaged") };
        code = trace_note(replay, note, job->sink, err);
    }
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum weft_code play_thread(void *context, size_t id, unsigned worker, struct weft_err *err)
{
    struct job *job = context;
    const struct weft_replay_source *sources = &job->sources[job->first_source[id]];
    const size_t n_sources = job->first_source[id + 1] - job->first_source[id];
    struct weft_replay_counts counts = { 0 };
    if (n_sources == 0)
        return WEFT_OK;
    if (!job->rooms[worker])
        job->rooms[worker] = weft_replay_room_new();
    if (!job->rooms[worker])
        return weft_no_memory(err, "the blocks of a trace");
    enum weft_code code = weft_replay_thread(sources, n_sources, job->sink, job->rooms[worker],
                                             job->run->progress, &counts, err);
    for (size_t k = 0; k < n_sources; k++)
        item_find(job, sources[k].replay, sources[k].thread_id)->counts = counts;
    return code;
}

static uint32_t sink_id_of(const struct weft_replay_source *source)
{
    return source->replay->thread_ids[source->thread_id];
}

/* Lists the threads to deliver; the number of their calls. */
static uint64_t list_items(struct job *job, const struct weft_replay *replays, size_t n_replays)
{
    uint64_t n_calls = 0;
    job->n_items = job->n_threads = 0;
    for (size_t k = 0; k < n_replays; k++)
        for (uint32_t id = 0; id < weft_store_meta_get(replays[k].store)->n_threads; id++) {
            const struct weft_replay_source source = { &replays[k], id };
            const uint32_t sink_id = sink_id_of(&source);
            if (sink_id == WEFT_ID_NONE)
                continue;
            if (job->items)
                job->items[job->n_items].source = source;
            job->n_items++;
            job->n_threads = job->n_threads > sink_id ? job->n_threads : (size_t)sink_id + 1;
            n_calls += weft_store_thread_get(replays[k].store, id)->calls;
        }
    return n_calls;
}

/* Brings together what the traces have of one thread. */
static void list_sources(struct job *job)
{
    for (size_t i = 0; i < job->n_items; i++)
        job->first_source[sink_id_of(&job->items[i].source) + 1]++;
    for (size_t id = 0; id < job->n_threads; id++)
        job->first_source[id + 1] += job->first_source[id];
    for (size_t i = job->n_items; i-- > 0;) /* backward: ends become begins */
        job->sources[--job->first_source[sink_id_of(&job->items[i].source) + 1]] =
            job->items[i].source;
    memmove(job->first_source, job->first_source + 1, job->n_threads * sizeof *job->first_source);
    job->first_source[job->n_threads] = job->n_items;
}

static enum weft_code objects_put(const struct weft_replay *replay, struct weft_sink *sink,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < weft_store_n_objects(replay->store); k++) {
        struct weft_object_info info = *weft_store_object_get(replay->store, k);
        info.host_id += replay->first_host_id;
        code = weft_sink_object(sink, &info, err);
    }
    return code;
}

static enum weft_code libraries_put(const struct weft_replay *replay, struct weft_sink *sink,
                                    struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < weft_store_n_libraries(replay->store); k++)
        code = weft_sink_library(sink, weft_store_library_get(replay->store, k), err);
    return code;
}

static enum weft_code processes_put(const struct weft_replay *replay, struct weft_sink *sink,
                                    struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < weft_store_n_processes(replay->store); k++) {
        struct weft_ledger_process process = *weft_store_process_get(replay->store, k);
        const bool has_ended = process.end_ns != WEFT_LEDGER_NO_TIME;
        if (process.start_ns >= replay->to_ns || (has_ended && process.end_ns < replay->from_ns))
            continue;
        process.host_id += replay->first_host_id;
        process.start_ns = shifted(replay, process.start_ns);
        if (has_ended)
            process.end_ns = shifted(replay, process.end_ns);
        if (process.from_ns != WEFT_LEDGER_NO_TIME)
            process.from_ns = shifted(replay, process.from_ns);
        if (process.until_ns != WEFT_LEDGER_NO_TIME)
            process.until_ns = shifted(replay, process.until_ns);
        code = weft_sink_process(sink, &process, err);
    }
    return code;
}

static enum weft_code play_all(struct job *job, const struct weft_replay *replays, size_t n_replays,
                               struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < n_replays; k++)
        code = objects_put(&replays[k], job->sink, err);
    for (size_t k = 0; code == WEFT_OK && k < n_replays; k++)
        code = libraries_put(&replays[k], job->sink, err);
    for (size_t k = 0; code == WEFT_OK && k < n_replays; k++)
        code = processes_put(&replays[k], job->sink, err);
    WEFT_THEN(code, weft_pool_run(job->run->pool, job->n_threads, play_thread, job,
                                  job->run->progress, err));
    for (size_t k = 0; code == WEFT_OK && k < n_replays; k++)
        code = notes_put(job, &replays[k], err);
    return code;
}

enum weft_code weft_replay_run(const struct weft_replay *replays, size_t n_replays,
                               struct weft_sink *sink, const struct weft_run *run,
                               struct weft_err *err)
{
    struct job job = { .sink = sink, .run = run, .n_rooms = weft_pool_workers(run->pool) };
    const uint64_t n_calls = list_items(&job, replays, n_replays);
    job.items = calloc(job.n_items + 1, sizeof *job.items);
    job.sources = calloc(job.n_items + 1, sizeof *job.sources);
    job.first_source = calloc(job.n_threads + 2, sizeof *job.first_source);
    job.rooms = calloc(job.n_rooms, sizeof *job.rooms);
    enum weft_code code = WEFT_OK;
    if (job.items && job.sources && job.first_source && job.rooms) {
        (void)list_items(&job, replays, n_replays);
        list_sources(&job);
        weft_progress_start(run->progress, n_replays > 1 ? "merging" : "copying", "calls", n_calls);
        code = play_all(&job, replays, n_replays, err);
    } else {
        code =
            weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu threads", job.n_items);
    }
    for (unsigned k = 0; job.rooms && k < job.n_rooms; k++)
        weft_replay_room_free(job.rooms[k]);
    free(job.rooms);
    free(job.first_source);
    free(job.sources);
    free(job.items);
    return code;
}

enum weft_code weft_replay_clock(const struct weft_clock *clock, struct weft_sink *sink,
                                 struct weft_err *err)
{
    if (clock->frequency_hz == 0 || clock->frequency_hz > UINT64_C(1) << 63)
        return WEFT_OK;
    return sink->ops->clock(sink, clock, err);
}

enum weft_code weft_replay_function(const struct weft_store_function *function, uint32_t key,
                                    struct weft_sink *sink, struct weft_err *err)
{
    const struct weft_function_info info = {
        .key = key, .name = function->name, .module = function->module, .address = function->address
    };
    return sink->ops->function(sink, &info, err);
}

static enum weft_code announce_whole(const struct weft_store *store, uint32_t *thread_ids,
                                     struct weft_sink *sink, struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    const struct weft_sink_begin begin = { .format = meta->format,
                                           .details = meta->details,
                                           .is_parallel = true,
                                           .has_some_calls = meta->has_some_calls };
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    WEFT_THEN(code, weft_replay_clock(&meta->clock, sink, err));
    for (uint32_t id = 0; code == WEFT_OK && id < meta->n_functions; id++) {
        const struct weft_store_function *function = weft_store_function_get(store, id);
        code = weft_replay_function(function, function->key, sink, err);
    }
    for (uint32_t id = 0; code == WEFT_OK && id < meta->n_threads; id++)
        code =
            sink->ops->thread(sink, &weft_store_thread_get(store, id)->info, &thread_ids[id], err);
    return code;
}

enum weft_code weft_replay_whole(struct weft_store *store, struct weft_sink *sink,
                                 const struct weft_run *run, struct weft_err *err)
{
    const uint32_t n_threads = weft_store_meta_get(store)->n_threads;
    uint32_t *thread_ids = calloc((size_t)n_threads + 1, sizeof *thread_ids);
    if (!thread_ids)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %u threads", n_threads);
    const struct weft_replay replay = { .store = store,
                                        .to_ns = UINT64_MAX,
                                        .thread_ids = thread_ids };
    enum weft_code code = announce_whole(store, thread_ids, sink, err);
    WEFT_THEN(code, weft_replay_run(&replay, 1, sink, run, err));
    free(thread_ids);
    return code;
}
