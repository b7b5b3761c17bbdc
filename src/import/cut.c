/* SPDX-License-Identifier: MIT
 *
 * `weft cut`: a window and a choice of threads become a replay (replay.h) into a new writer. A cut
 * that keeps everything writes the same trace; any other gets a note that it is an excerpt. This
 * file decides what is kept; how events at the edges are treated is the replay's.
 */
#include "import/cut.h"

#include "base/checked.h"
#include "base/error.h"
#include "import/replay.h"
#include "import/stored.h"
#include "store/reader.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- earlier --------------------------------------------------------------------------------- */

/* Threads that are blocked where a window begins: the switch that they left their CPU with lies
 * before it, and would be lost with the wait. Finds the state of a thread before a window starts:
 * its last own scheduling event, unless a later wakeup or switch by another thread replaces it. It
 * reads event blocks from the last one backwards and skips those whose summary excludes them. */

enum {
    SLEEPING = 1 | 2,
    DEAD = 0x10 | 0x20,
    STATES = 0xff, /* what is above says only how it was preempted */
};

/* What a kernel says of the thread that runs. */
static bool is_of_state(enum weft_event_kind kind)
{
    return (kind >= WEFT_EVENT_SWITCH && kind <= WEFT_EVENT_SYSCALL_EXIT) ||
           kind == WEFT_EVENT_FORK || kind == WEFT_EVENT_EXIT;
}

static uint32_t kinds_of_state(void)
{
    uint32_t kinds = 0;
    for (unsigned kind = 0; kind < WEFT_EVENT_KINDS; kind++)
        kinds |= is_of_state((enum weft_event_kind)kind) ? UINT32_C(1) << kind : 0;
    return kinds;
}

/* The last that the thread does before `from_ns`: `*state` is 0 unless it leaves its CPU. */
static enum weft_code last_own(struct weft_store *store, uint32_t thread_id, uint64_t from_ns,
                               struct weft_event_buf *buf, uint64_t *last_ns, uint32_t *state,
                               struct weft_err *err)
{
    const uint32_t kinds = kinds_of_state();
    bool is_found = false;
    *last_ns = 0;
    *state = 0;
    for (uint64_t k = weft_store_thread_get(store, thread_id)->n_event_blocks; k-- > 0;) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, thread_id, k);
        const struct weft_event *events;
        size_t n, best = SIZE_MAX;
        if (info->first_ns >= from_ns || info->last_ns < *last_ns || !(info->kinds & kinds))
            continue;
        WEFT_TRY(weft_store_load_events(store, thread_id, k, buf, &events, &n, err));
        for (size_t i = 0; i < n; i++)
            if (is_of_state(events[i].kind) && events[i].time_ns < from_ns &&
                (best == SIZE_MAX || events[i].time_ns >= events[best].time_ns))
                best = i;
        if (best == SIZE_MAX || (is_found && events[best].time_ns <= *last_ns))
            continue; /* of one ns, the one of the later block counts */
        is_found = true;
        const bool leaves =
            events[best].kind == WEFT_EVENT_SWITCH && events[best].next_thread_id != thread_id;
        *last_ns = events[best].time_ns;
        *state = leaves ? events[best].prev_state & STATES : 0;
    }
    return WEFT_OK;
}

/* Has the thread begun to end before `from_ns`? As loading blocks with exits fails. */
static enum weft_code weft_earlier_exit(struct weft_store *store, uint32_t thread_id,
                                        uint64_t from_ns, struct weft_event_buf *buf, bool *has,
                                        struct weft_err *err)
{
    *has = false;
    for (uint64_t k = weft_store_thread_get(store, thread_id)->n_event_blocks; k-- > 0 && !*has;) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, thread_id, k);
        const struct weft_event *events;
        size_t n;
        if (info->first_ns >= from_ns || !(info->kinds >> WEFT_EVENT_EXIT & 1))
            continue;
        WEFT_TRY(weft_store_load_events(store, thread_id, k, buf, &events, &n, err));
        for (size_t i = 0; i < n && !*has; i++)
            *has = events[i].kind == WEFT_EVENT_EXIT && events[i].time_ns < from_ns;
    }
    return WEFT_OK;
}

/* Has another thread woken it, or given it a CPU, in [since_ns, from_ns)? A fork of a thread that
 * is blocked already says nothing. */
static enum weft_code has_come(struct weft_store *store, uint32_t thread_id, uint64_t since_ns,
                               uint64_t from_ns, struct weft_event_buf *buf, bool *has,
                               struct weft_err *err)
{
    *has = false;
    for (uint64_t k = weft_store_n_arrival_blocks(store, thread_id); k-- > 0 && !*has;) {
        const struct weft_event_block_info *info =
            weft_store_arrival_block_get(store, thread_id, k);
        const struct weft_event *events;
        size_t n;
        if (info->first_ns >= from_ns)
            continue;
        if (info->last_ns < since_ns)
            break;
        WEFT_TRY(weft_store_load_arrivals(store, thread_id, k, buf, &events, &n, err));
        for (size_t i = 0; i < n && !*has; i++)
            *has = events[i].time_ns >= since_ns && events[i].time_ns < from_ns &&
                   events[i].kind != WEFT_EVENT_FORK &&
                   (events[i].kind != WEFT_EVENT_SWITCH || events[i].prev_state == 0);
    }
    return WEFT_OK;
}

/* The state, as a SWITCH has it, in which the thread is off its CPU at `from_ns` and since before,
 * or 0: it runs then, or could, has ended, or that is unknown. Reads the blocks of the thread's
 * events and arrivals that may be the last before `from_ns`. As loading those fails. */
static enum weft_code weft_earlier_state(struct weft_store *store, uint32_t thread_id,
                                         uint64_t from_ns, struct weft_event_buf *buf,
                                         uint32_t *state, struct weft_err *err)
{
    uint64_t last_ns;
    bool has_ended = false, has = false;
    enum weft_code code = last_own(store, thread_id, from_ns, buf, &last_ns, state, err);
    if (code != WEFT_OK || *state == 0)
        return code;
    if (*state & DEAD)
        has_ended = true;
    else if (!(*state & SLEEPING))
        code = weft_earlier_exit(store, thread_id, from_ns, buf, &has_ended, err);
    if (code == WEFT_OK && !has_ended)
        code = has_come(store, thread_id, last_ns, from_ns, buf, &has, err);
    if (has_ended || has)
        *state = 0;
    return code;
}

/* ---- cut ------------------------------------------------------------------------------------- */

#define NS_PER_S UINT64_C(1000000000)

struct job {
    const struct weft_cut_opts *opts;
    const struct weft_run *run;
    struct weft_stored stored;
    struct weft_replay replay;
    uint32_t *thread_ids; /* of the sink */
    uint32_t *earlier;    /* by thread: as weft_replay has it */
    bool *is_ending;      /* the same */
    atomic_uchar *is_used;
    uint32_t n_threads; /* that are kept */
    bool is_whole;
};

/* ---- times ----------------------------------------------------------------------------------- */

/* The clock of a trace that begins `from_ns` later: absolute times stay what they were. */
static struct weft_clock clock_later(const struct weft_clock *clock, uint64_t from_ns)
{
    struct weft_clock later = *clock;
    if (from_ns == 0)
        return later;
    later.has_monotonic = false; /* so that the ticks define the zero */
    later.zero_ticks = weft_clock_zero_ns(&later) + from_ns;
    later.frequency_hz = NS_PER_S; /* a number of ns need not be a number of ticks */
    later.has_monotonic = clock->has_monotonic;
    later.monotonic_ns += clock->has_monotonic ? from_ns : 0;
    later.realtime_ns += clock->has_realtime ? from_ns : 0;
    return later;
}

static uint64_t relative_ns(const struct weft_store_meta *meta, const struct weft_cut_time *time)
{
    return time->is_absolute ? weft_sub_sat_u64(time->at_ns, weft_clock_zero_ns(&meta->clock))
                             : time->at_ns;
}

static enum weft_code set_window(struct job *job, struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_store_meta_get(job->stored.store);
    struct weft_replay *replay = &job->replay;
    replay->from_ns = relative_ns(meta, &job->opts->from);
    replay->to_ns =
        job->opts->to.at_ns == UINT64_MAX ? UINT64_MAX : relative_ns(meta, &job->opts->to);
    if (replay->to_ns > meta->duration_ns)
        replay->to_ns = UINT64_MAX;
    if (replay->from_ns >= replay->to_ns)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected a begin before the end, found %" PRIu64 " ns and %" PRIu64
                         " ns (the source's clock starts at @%" PRIu64 ")",
                         replay->from_ns, replay->to_ns, weft_clock_zero_ns(&meta->clock));
    if (replay->from_ns > meta->duration_ns)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected a begin within the trace's %" PRIu64 " ns, found %" PRIu64 " ns",
                         meta->duration_ns, replay->from_ns);
    return WEFT_OK;
}

/* ---- threads --------------------------------------------------------------------------------- */

static bool is_asked_for(const struct weft_cut_opts *opts, uint64_t tid)
{
    for (size_t k = 0; k < opts->n_tids; k++)
        if (opts->tids[k] == tid)
            return true;
    return opts->n_tids == 0;
}

static enum weft_code check_tids(const struct job *job, struct weft_err *err)
{
    const uint32_t n_threads = weft_store_meta_get(job->stored.store)->n_threads;
    for (size_t k = 0; k < job->opts->n_tids; k++) {
        bool is_found = false;
        for (uint32_t id = 0; id < n_threads && !is_found; id++)
            is_found = weft_store_thread_get(job->stored.store, id)->info.tid == job->opts->tids[k];
        if (!is_found)
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                             "expected the tid of a thread, found %" PRIu64, job->opts->tids[k]);
    }
    return WEFT_OK;
}

/* Chooses the threads: until they are announced, 0 stands for one that is kept. */
static enum weft_code choose_threads(struct job *job, struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_store_meta_get(job->stored.store);
    WEFT_TRY(check_tids(job, err));
    for (uint32_t id = 0; id < meta->n_threads; id++) {
        const struct weft_store_thread *thread = weft_store_thread_get(job->stored.store, id);
        const bool is_kept =
            is_asked_for(job->opts, thread->info.tid) && weft_replay_is_alive(&job->replay, id);
        job->thread_ids[id] = is_kept ? 0 : WEFT_ID_NONE;
        job->n_threads += is_kept;
    }
    job->is_whole = job->n_threads == meta->n_threads && job->replay.from_ns == 0 &&
                    job->replay.to_ns == UINT64_MAX;
    if (job->n_threads == 0 && meta->n_threads > 0)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected a time within the trace: no thread exists then");
    return WEFT_OK;
}

/* ---- what is said before and after ----------------------------------------------------------- */

/* The functions that occur, when that is known; all of a whole trace, before the calls. */
static enum weft_code name_functions(const struct job *job, bool is_before, struct weft_sink *sink,
                                     struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (job->is_whole != is_before)
        return WEFT_OK;
    const uint32_t n_functions = weft_store_meta_get(job->stored.store)->n_functions;
    for (uint32_t id = 0; code == WEFT_OK && id < n_functions; id++) {
        const struct weft_store_function *function = weft_store_function_get(job->stored.store, id);
        if (job->is_whole || atomic_load_explicit(&job->is_used[id], memory_order_relaxed))
            code = weft_replay_function(function, function->key, sink, err);
    }
    return code;
}

static enum weft_code announce(struct job *job, struct weft_sink *sink, struct weft_err *err)
{
    struct weft_store *store = job->stored.store;
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    const struct weft_sink_begin begin = { .format = meta->format,
                                           .details = meta->details,
                                           .is_parallel = true,
                                           .has_some_calls = meta->has_some_calls };
    const struct weft_clock clock = clock_later(&meta->clock, job->replay.from_ns);
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    WEFT_THEN(code, weft_replay_clock(&clock, sink, err));
    WEFT_THEN(code, name_functions(job, true, sink, err));
    for (uint32_t id = 0; code == WEFT_OK && id < meta->n_threads; id++)
        if (job->thread_ids[id] != WEFT_ID_NONE)
            code = sink->ops->thread(sink, &weft_store_thread_get(store, id)->info,
                                     &job->thread_ids[id], err);
    return code;
}

static enum weft_code note_excerpt(const struct job *job, struct weft_sink *sink,
                                   struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_store_meta_get(job->stored.store);
    char detail[512];
    if (job->is_whole)
        return WEFT_OK;
    (void)snprintf(detail, sizeof detail,
                   "%" PRIu64 " ns to %" PRIu64 " ns of %s, which lasts %" PRIu64 " ns; %" PRIu32
                   " of %" PRIu32 " threads",
                   job->replay.from_ns, weft_min_u64(job->replay.to_ns, meta->duration_ns),
                   weft_input_source(&job->stored.input), meta->duration_ns, job->n_threads,
                   meta->n_threads);
    const struct weft_note note = { .kind = WEFT_NOTE_EXCERPT,
                                    .count = 1,
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = WEFT_NO_OFFSET,
                                    .detail = weft_str_of(detail) };
    return sink->ops->note(sink, &note, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum weft_code write_part(struct job *job, struct weft_writer_totals *totals,
                                 struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_store_meta_get(job->stored.store);
    char *name = strndup(meta->source_name.bytes, meta->source_name.n_bytes);
    if (!name)
        return weft_no_memory(err, "the name of a source");
    const struct weft_writer_opts opts = { .source_name = name,
                                           .bytes_in = job->is_whole ? meta->bytes_in : 0,
                                           .memory_bytes = job->opts->memory_bytes };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(job->opts->output, &opts, &writer, err);
    free(name);
    if (code != WEFT_OK)
        return code;
    struct weft_sink *sink = weft_writer_sink(writer);
    code = announce(job, sink, err);
    WEFT_THEN(code, weft_replay_run(&job->replay, 1, sink, job->run, err));
    WEFT_THEN(code, name_functions(job, false, sink, err));
    WEFT_THEN(code, weft_input_note_loss(&job->stored.input, sink, err));
    WEFT_THEN(code, note_excerpt(job, sink, err));
    if (code == WEFT_OK)
        return weft_writer_commit(writer, totals, err);
    weft_writer_abort(writer);
    return code;
}

/* Damage outside of the window is no reason to fail: the state is unknown then. */
static enum weft_code earlier_of(const struct job *job, uint32_t id, struct weft_event_buf *buf,
                                 struct weft_err *err)
{
    struct weft_store *store = job->stored.store;
    const uint64_t from_ns = job->replay.from_ns;
    enum weft_code code = weft_earlier_state(store, id, from_ns, buf, &job->earlier[id], NULL);
    WEFT_THEN(code, weft_earlier_exit(store, id, from_ns, buf, &job->is_ending[id], NULL));
    if (code != WEFT_OK) {
        job->earlier[id] = 0;
        job->is_ending[id] = false;
    }
    return code == WEFT_E_NOMEM ? weft_fail(err, code, WEFT_NO_OFFSET, "events of a thread")
                                : WEFT_OK;
}

static enum weft_code find_earlier(const struct job *job, struct weft_err *err)
{
    struct weft_store *store = job->stored.store;
    const uint32_t n_threads = weft_store_meta_get(store)->n_threads;
    struct weft_event_buf *buf = weft_event_buf_new();
    enum weft_code code = buf ? WEFT_OK : weft_no_memory(err, "events of a thread");
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK && job->replay.from_ns > 0; id++)
        if (is_asked_for(job->opts, weft_store_thread_get(store, id)->info.tid))
            code = earlier_of(job, id, buf, err);
    weft_event_buf_free(buf);
    return code;
}

static enum weft_code cut(struct job *job, struct weft_writer_totals *totals, struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_store_meta_get(job->stored.store);
    job->thread_ids = calloc((size_t)meta->n_threads + 1, sizeof *job->thread_ids);
    job->is_used = calloc((size_t)meta->n_functions + 1, sizeof *job->is_used);
    job->earlier = calloc((size_t)meta->n_threads + 1, sizeof *job->earlier);
    job->is_ending = calloc((size_t)meta->n_threads + 1, sizeof *job->is_ending);
    if (!job->thread_ids || !job->is_used || !job->earlier || !job->is_ending)
        return weft_no_memory(err, "threads and functions");
    job->replay = (struct weft_replay){ .store = job->stored.store,
                                        .thread_ids = job->thread_ids,
                                        .earlier = job->earlier,
                                        .is_ending = job->is_ending,
                                        .is_used = job->is_used };
    enum weft_code code = set_window(job, err);
    WEFT_THEN(code, find_earlier(job, err));
    WEFT_THEN(code, choose_threads(job, err));
    WEFT_THEN(code, write_part(job, totals, err));
    return code;
}

enum weft_code weft_cut_run(const struct weft_cut_opts *opts, const struct weft_run *run,
                            struct weft_writer_totals *totals, struct weft_err *err)
{
    struct job job = { .opts = opts, .run = run };
    const struct weft_input_opts input_opts = { .beside = opts->output,
                                                .memory_bytes = opts->memory_bytes,
                                                .progress = run->progress };
    WEFT_TRY(weft_stored_open(opts->input, &input_opts, &job.stored, err));
    enum weft_code code = cut(&job, totals, err);
    if (code != WEFT_OK)
        (void)weft_in_file(err, opts->input);
    weft_stored_close(&job.stored);
    free(job.thread_ids);
    free(job.is_used);
    free(job.earlier);
    free(job.is_ending);
    return code;
}
