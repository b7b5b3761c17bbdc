/* SPDX-License-Identifier: MIT
 *
 * Opens the input as a .weft file, loads every block, and asks every query. The harness puts the
 * checksums right first: with them no mutation would come further than the first comparison. What
 * is checked besides the absence of a crash are the promises of store/reader.h.
 */
#include "analysis/calls/calls.h"
#include "analysis/regtime/regtime.h"
#include "base/cursor.h"
#include "checking_sink.h"
#include "event_promises.h"
#include "import/replay.h"
#include "model/calls/lod.h"
#include "model/interval/interval.h"
#include "model/states/states.h"
#include "query/rules.h"
#include "query/session.h"
#include "store/chunk.h"
#include "store/context_tree.h"
#include "store/lod.h"
#include "store/reader.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

enum { MAX_INPUT = 1 << 16, MAX_QUERY_CALLS = 1 << 17 };

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

/* Header, every chunk that can be found, and footer. */
static void checksums_mend(uint8_t *bytes, size_t n_bytes)
{
    if (n_bytes < sizeof(struct weft_disk_header))
        return;
    weft_store_u64(bytes + 24, weft_checksum(bytes, 24));
    size_t off = sizeof(struct weft_disk_header);
    while (off + sizeof(struct weft_disk_chunk) <= n_bytes) {
        struct weft_chunk chunk;
        if (weft_chunk_parse(bytes, n_bytes, off, &chunk, NULL) != WEFT_OK) {
            off += 8;
            continue;
        }
        weft_store_u64(bytes + off + 32,
                       weft_chunk_checksum(bytes + off, chunk.stored, chunk.stored_bytes));
        off += (size_t)(chunk.chunk_bytes + weft_chunk_padding(chunk.chunk_bytes));
    }
    if (n_bytes >= sizeof(struct weft_disk_header) + sizeof(struct weft_disk_footer)) {
        uint8_t *footer = bytes + n_bytes - sizeof(struct weft_disk_footer);
        weft_store_u64(footer + 32, weft_checksum(footer, 32));
    }
}

/* What weft_calls promises: starts ascend, callers enclose, depths follow the stack. */
static void calls_check(const struct weft_store *store, const struct weft_calls *calls)
{
    const uint32_t n_functions = weft_store_meta_get(store)->n_functions;
    for (size_t i = 0; i < calls->n_open; i++) {
        must(calls->open[i].depth == i && calls->open[i].function_id < n_functions);
        must(calls->open[i].start_ns <= calls->open[i].end_ns);
    }
    for (size_t i = 0; i < calls->n_rows; i++) {
        must(calls->function_id[i] < n_functions);
        must(calls->start_ns[i] <= calls->end_ns[i]);
        must(i == 0 || calls->start_ns[i] >= calls->start_ns[i - 1]);
        must(calls->depth[i] <= (i ? calls->depth[i - 1] + 1 : calls->n_open));
    }
    for (size_t i = 0; i < calls->n_args; i++)
        must(calls->arg_row[i] < calls->n_rows);
}

/* Loads each block twice: checked and trusted. False if one is broken. */
static bool blocks_load(struct weft_store *store)
{
    struct weft_block_buf *buf = weft_block_buf_new();
    must(buf != NULL);
    bool is_good = true;
    for (uint32_t i = 0; i < weft_store_meta_get(store)->n_threads; i++) {
        const uint64_t n_blocks = weft_store_thread_get(store, i)->n_blocks;
        for (uint64_t j = 0; j < n_blocks; j++) {
            struct weft_calls calls;
            const uint32_t *ids;
            size_t n_ids;
            const bool is_known =
                weft_store_block_functions(store, i, j, buf, &ids, &n_ids, NULL) == WEFT_OK;
            const enum weft_code code = weft_store_load(store, i, j, buf, &calls, NULL);
            is_good &= code == WEFT_OK;
            must(is_known || code != WEFT_OK);
            if (code != WEFT_OK)
                continue;
            calls_check(store, &calls);
            must(weft_store_load(store, i, j, buf, &calls, NULL) == WEFT_OK);
        }
    }
    weft_block_buf_free(buf);
    return is_good;
}

/* False if a block of events is broken. */
static bool events_load(struct weft_store *store)
{
    struct weft_event_buf *buf = weft_event_buf_new();
    must(buf != NULL);
    bool is_good = true;
    for (uint32_t i = 0; i < weft_store_meta_get(store)->n_threads; i++) {
        const uint64_t n_blocks = weft_store_thread_get(store, i)->n_event_blocks;
        for (uint64_t j = 0; j < n_blocks && is_good; j++) {
            const struct weft_event *events;
            size_t n_events;
            is_good = weft_store_load_events(store, i, j, buf, &events, &n_events, NULL) == WEFT_OK;
        }
    }
    weft_event_buf_free(buf);
    return is_good;
}

static int places_compare(const struct weft_object_info *a, const struct weft_object_info *b)
{
    if (a->host_id != b->host_id)
        return a->host_id < b->host_id ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

/* Objects stand in order of their places; of several at one place the first gives its name. */
static void objects_ask(const struct weft_store *store)
{
    const struct weft_object_info *last = NULL;
    struct weft_str name = { 0 };
    for (size_t i = 0; i < weft_store_n_objects(store); i++) {
        const struct weft_object_info *info = weft_store_object_get(store, i);
        const int order = last ? places_compare(last, info) : -1;
        must(order <= 0);
        name = order < 0 ? info->name : name;
        must(weft_str_equal(weft_store_object_name(store, info->host_id, info->pid, info->address),
                            name));
        last = info;
    }
}

/* A replay keeps the rules of the sink, whole and in part; of a good trace it does not fail. */
static void replays_run(struct weft_store *store, bool is_good)
{
    const struct weft_run run = { .pool = weft_pool_new(1) };
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    struct check_sink *sink = check_sink_new();
    uint32_t *thread_ids = calloc((size_t)meta->n_threads + 1, sizeof *thread_ids);
    must(run.pool && sink && thread_ids);
    if (meta->n_threads <= CHECK_MOST_THREADS && meta->format.n_bytes > 0) {
        const enum weft_code code = weft_replay_whole(store, &sink->sink, &run, NULL);
        must(!is_good || code == WEFT_OK);
        const struct weft_replay part = { .store = store,
                                          .from_ns = meta->duration_ns / 3,
                                          .to_ns = meta->duration_ns / 3 * 2,
                                          .thread_ids = thread_ids };
        for (uint32_t id = 0; id < meta->n_threads; id++)
            thread_ids[id] = weft_replay_is_alive(&part, id) ? id : WEFT_ID_NONE;
        memset(sink->is_ended, 0, sizeof sink->is_ended);
        if (code == WEFT_OK)
            must(weft_replay_run(&part, 1, &sink->sink, &run, NULL) == WEFT_OK);
    }
    free(thread_ids);
    free(sink);
    weft_pool_free(run.pool);
}

/* Contexts of all blocks and groups: broken ones are refused, the others add up. */
static void contexts_load(struct weft_store *store)
{
    struct weft_block_buf *buf = weft_block_buf_new();
    struct weft_context_tree tree = { 0 };
    struct weft_context_entries entries = { 0 };
    must(buf != NULL);
    for (uint32_t i = 0; i < weft_store_meta_get(store)->n_threads; i++) {
        const uint64_t n_blocks = weft_store_thread_get(store, i)->n_blocks;
        for (uint64_t j = 0; j < n_blocks; j++)
            for (unsigned level = 0; level < 3 && j % (UINT64_C(1) << (4 * level)) == 0; level++) {
                bool is_known;
                must(weft_context_tree_reset(&tree));
                if (weft_store_contexts(store, i, j, level, buf, &tree, &entries, &is_known, NULL))
                    must(!is_known);
                must(is_known == (entries.n > 0));
            }
    }
    weft_context_tree_fini(&tree);
    WEFT_VEC_FINI(&entries);
    weft_block_buf_free(buf);
}

/* Levels of detail of all blocks and groups: broken ones are refused, the others keep the promises
 * of store/lod.h. */
static void levels_load(struct weft_store *store)
{
    struct weft_block_buf *buf = weft_block_buf_new();
    struct weft_lod_units units[2] = { 0 };
    const uint32_t n_functions = weft_store_meta_get(store)->n_functions;
    must(buf != NULL);
    for (uint32_t i = 0; i < weft_store_meta_get(store)->n_threads; i++) {
        const struct weft_store_thread *thread = weft_store_thread_get(store, i);
        for (uint64_t j = 0; j < thread->n_blocks; j++) {
            bool is_known;
            for (unsigned level = 0; level < 3 && j % (UINT64_C(1) << (4 * level)) == 0; level++)
                if (weft_store_level(store, i, j, level, &units[0], &is_known, NULL) != WEFT_OK)
                    must(!is_known);
            if (weft_store_details(store, i, j, buf, units, &is_known, NULL) != WEFT_OK)
                must(!is_known);
            for (size_t k = 0; is_known && k < units[0].calls.n; k++) {
                const struct weft_lod_call *call = &units[0].calls.items[k];
                must(call->start_ns <= call->end_ns && call->end_ns <= thread->last_ns &&
                     call->function < n_functions && (uint32_t)call->depth <= thread->max_depth);
            }
        }
    }
    weft_lod_units_fini(&units[0]);
    weft_lod_units_fini(&units[1]);
    weft_block_buf_free(buf);
}

/* A timeline at several zooms: items in order, depths in range. */
static void lod_ask(const struct weft_trace *trace)
{
    static const uint32_t widths[] = { 1, 7, 300 };
    struct weft_lod_reader *reader = weft_lod_reader_new(trace);
    const uint64_t duration_ns = weft_trace_meta(trace)->duration_ns;
    must(reader != NULL);
    for (uint32_t i = 0; i < weft_trace_n_threads(trace); i++)
        for (unsigned k = 0; k < 9; k++) {
            const uint64_t span_ns = duration_ns >> (k / 3 * 4);
            struct weft_lod lod;
            if (weft_lod(reader, i, duration_ns - span_ns, duration_ns + 1, widths[k % 3], &lod,
                         NULL) != WEFT_OK)
                continue;
            for (size_t j = 0; j < lod.n_items; j++) {
                must(lod.items[j].depth <= weft_trace_thread(trace, i)->max_depth);
                must(lod.items[j].count > 0 && lod.items[j].column < widths[k % 3]);
                must(j == 0 || lod.items[j].depth >= lod.items[j - 1].depth);
            }
        }
    weft_lod_reader_free(reader);
}

/* Intervals by a reader that keeps what it finds, twice, and by one that does not. */
static void intervals_ask(const struct weft_trace *trace)
{
    struct weft_interval_reader *plain = weft_interval_reader_new(trace);
    struct weft_interval_reader *keeping = weft_interval_reader_new(trace);
    const uint64_t duration_ns = weft_trace_meta(trace)->duration_ns;
    must(plain && keeping);
    weft_interval_reader_keep(keeping, 1 << 16);
    for (uint32_t i = 0; i < weft_trace_n_threads(trace); i++)
        for (unsigned k = 0; k < 12; k++) {
            const uint64_t from_ns = duration_ns / 8 * (k % 3), to_ns = duration_ns - from_ns / 2;
            struct weft_interval interval;
            if (weft_interval_cct(k % 4 ? keeping : plain, i, from_ns, to_ns, &interval, NULL))
                continue;
            for (size_t j = 0; j < interval.n_contexts; j++)
                must(interval.contexts[j].parent == WEFT_ID_NONE ||
                     interval.contexts[j].parent < j);
        }
    weft_interval_reader_free(plain);
    weft_interval_reader_free(keeping);
}

/* States of all threads: they tile their lives, and single answers are those of the row. */
static void states_ask(const struct weft_trace *trace)
{
    struct weft_history *history;
    must(weft_history_open(trace, 1 << 16, &history, NULL) == WEFT_OK);
    for (uint32_t i = 0; i < weft_trace_n_threads(trace); i++) {
        const struct weft_state *state;
        struct weft_states *states;
        uint64_t end_ns = 0;
        if (weft_states_open(history, i, 0, UINT64_MAX, &states, NULL) != WEFT_OK)
            continue;
        for (bool is_first = true; weft_states_next(states, &state, NULL) == WEFT_OK && state;
             is_first = false) {
            struct weft_state again;
            must(state->end_ns > state->start_ns && (is_first || state->start_ns == end_ns));
            end_ns = state->end_ns;
            must(weft_history_before(history, i, end_ns, &again, NULL) != WEFT_OK ||
                 (again.kind == state->kind && again.start_ns == state->start_ns));
        }
        weft_states_close(states);
    }
    for (uint32_t i = 0; i < weft_store_n_processors(weft_trace_store(trace)); i++) {
        const struct weft_store_processor processor =
            weft_store_processor_get(weft_trace_store(trace), i);
        struct weft_cpu_runs *runs;
        const struct weft_cpu_run *run;
        if (weft_cpu_runs_open(history, processor.host_id, processor.cpu, 0, UINT64_MAX, &runs,
                               NULL) != WEFT_OK)
            continue;
        while (weft_cpu_runs_next(runs, &run, NULL) == WEFT_OK && run)
            must(run->end_ns > run->start_ns);
        weft_cpu_runs_close(runs);
    }
    weft_history_close(history);
}

static void ask(struct weft_session *session, const struct weft_analysis *analysis,
                const union weft_request *request)
{
    union weft_result result;
    if (weft_query_run(session, analysis->name, request, &result, NULL) == WEFT_OK)
        weft_result_free(result.any);
}

/* Executions by rules of every kind, and types that the trace suggests. */
static void executions_ask(struct weft_session *session)
{
    static const char text[] =
        "execution a is call:* execution b begin enter:* end exit:* match id within trace "
        "execution c is span:* metric x execution d begin begin:* end end:* match value "
        "execution e is syscall:* execution f begin instant end instant within process "
        "depend g from exit:* to enter:*";
    union weft_request request = { 0 };
    union weft_result result;
    struct weft_rules *rules = NULL;
    struct weft_execution_proposals *proposals = NULL;
    must(weft_rules_parse(weft_str_of(text), &rules, NULL) == WEFT_OK);
    request.executions.opts.rules = rules;
    if (weft_query_run(session, "executions", &request, &result, NULL) == WEFT_OK)
        for (size_t i = 0; i < result.executions->n_rows; i++)
            must(result.executions->rows[i].end_ns >= result.executions->rows[i].start_ns);
    weft_result_free(result.any);
    (void)!weft_session_depend(session, rules, NULL, NULL);
    (void)!weft_execution_proposals(session, &proposals, NULL);
    weft_execution_proposals_free(proposals);
    weft_rules_free(rules);
}

static void queries_run(const char *path)
{
    const struct weft_run run = { .pool = weft_pool_new(1) };
    struct weft_session *session;
    must(run.pool != NULL);
    if (weft_session_open(path, &run, &session, NULL) == WEFT_OK) {
        lod_ask(weft_session_trace(session));
        intervals_ask(weft_session_trace(session));
        states_ask(weft_session_trace(session));
        executions_ask(session);
        union weft_request requests[4] = { 0 };
        const uint64_t duration_ns = weft_trace_meta(weft_session_trace(session))->duration_ns;
        const struct weft_window window = { duration_ns / 3, duration_ns / 3 * 2 };
        size_t n_analyses;
        const struct weft_analysis *analyses = weft_analyses(&n_analyses);
        for (size_t i = 0; i < n_analyses; i++) {
            union weft_request request = requests[0];
            if (strcmp(analyses[i].name, "regtime") == 0) {
                must(weft_regtime_preset("paper", &request.regtime));
                ask(session, &analyses[i], &request);
                request.regtime.window = &window;
            }
            if (strcmp(analyses[i].name, "ecct") == 0)
                request.ecct.to_ns = duration_ns;
            if (strcmp(analyses[i].name, "findings") == 0)
                request.findings.path = "fuzz.weft";
            if (strcmp(analyses[i].name, "path") == 0)
                request.path.to_ns = duration_ns;
            if (strcmp(analyses[i].name, "states") == 0)
                request.states.to_ns = UINT64_MAX;
            if (strcmp(analyses[i].name, "waits") == 0)
                request.waits.to_ns = UINT64_MAX;
            if (strcmp(analyses[i].name, "locks") == 0)
                request.locks.to_ns = UINT64_MAX;
            if (strcmp(analyses[i].name, "cpu") == 0)
                request.cpu.to_ns = UINT64_MAX;
            if (strcmp(analyses[i].name, "interval") == 0) {
                request.interval = (struct weft_interval_opts){ 0, duration_ns };
                ask(session, &analyses[i], &request);
                request.interval = (struct weft_interval_opts){ window.from_ns, window.to_ns };
            }
            if (strcmp(analyses[i].name, "interplay") == 0)
                request.interplay.to_ns = UINT64_MAX;
            if (strcmp(analyses[i].name, "correspondences") == 0)
                request.correspondences = (struct weft_correspondences_opts){
                    .to_ns = duration_ns + 1, .object_id = UINT64_MAX, .width = 10, .limit = 5
                };
            if (strcmp(analyses[i].name, "lock_lanes") == 0)
                request.lock_lanes = (struct weft_lock_lanes_opts){
                    .to_ns = UINT64_MAX, .object_id = UINT64_MAX, .width = 10, .limit = 3
                };
            if (strcmp(analyses[i].name, "blocking") == 0)
                request.blocking =
                    (struct weft_blocking_opts){ .to_ns = duration_ns + 1, .width = 7 };
            for (unsigned kind = 0; kind < 3 && strcmp(analyses[i].name, "lock_tree") == 0;
                 kind++) {
                request.lock_tree =
                    (struct weft_lock_tree_opts){ .to_ns = duration_ns + 1,
                                                  .kind = (enum weft_lock_tree_kind)kind,
                                                  .object_id = UINT64_MAX,
                                                  .limit = 9 };
                ask(session, &analyses[i], &request);
            }
            if (strcmp(analyses[i].name, "outliers") == 0)
                request.outliers = (struct weft_outliers_opts){ .outlier_factor = 100,
                                                                .outlier_min_ns = 1,
                                                                .duration_fraction = 0.01,
                                                                .gap_fraction = 0.001,
                                                                .with_long = true };
            ask(session, &analyses[i], &request);
        }
        weft_session_close(session);
    }
    weft_pool_free(run.pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    if (n_bytes > MAX_INPUT)
        return 0;
    uint8_t *mended = malloc(n_bytes ? n_bytes : 1);
    must(mended != NULL);
    memcpy(mended, bytes, n_bytes);
    checksums_mend(mended, n_bytes);
    const int fd = memfd_create("fuzz_store", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, mended, n_bytes) == (ssize_t)n_bytes);
    free(mended);
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct weft_store *store;
    if (weft_store_open(path, &store, NULL) == WEFT_OK) {
        const bool is_good = blocks_load(store);
        must(event_promises_kept(store));
        objects_ask(store);
        contexts_load(store);
        levels_load(store);
        const bool is_small = weft_store_meta_get(store)->calls <= MAX_QUERY_CALLS;
        if (is_small)
            replays_run(store, is_good && events_load(store));
        weft_store_close(store);
        if (is_small)
            queries_run(path);
    }
    (void)close(fd);
    return 0;
}
