/* SPDX-License-Identifier: MIT
 *
 * The second phase: what was collected, to the sink, thread by thread.
 */
#include "base/checked.h"
#include "base/vec.h"
#include "ingest/chrome/trace.h"

#include <stdlib.h>

/* Records of one time that are looked at together. */
enum { MOST_TOGETHER = 1 << 16, CANCEL_RECORDS = 1 << 16 };

/* What one worker needs. */
struct worker {
    struct chrome_converter converter;
    struct weft_nest *nest;
    struct {
        uint32_t *items; /* by depth of the open calls: the frame that says the same, or NONE */
        size_t n, cap;
    } paths;
    struct {
        struct chrome_record *items;
        size_t n, cap;
    } together; /* records of one time */
};

struct delivery {
    struct chrome_trace *trace;
    struct chrome_stacks *stacks;
    struct worker *workers;
    unsigned n_workers;
};

/* ---- one record ----------------------------------------------------------------------------- */

/* What the record says of its call: arguments and details. */
static bool has_text(const struct chrome_record *record)
{
    return record->n_bytes || record->is_whole;
}

/* Of an end that is delivered as a point of its own, arguments only: most such ends say a clock,
 * and a point each would bury the others. */
static enum weft_code find_text(struct worker *worker, const struct chrome_record *record,
                                enum weft_event_kind kind, struct weft_str *text,
                                struct weft_err *err)
{
    const struct chrome_trace *trace = worker->converter.trace;
    struct chrome_event source;
    *text =
        (struct weft_str){ .bytes = trace->reader.begin + record->off, .n_bytes = record->n_bytes };
    if (!record->is_whole)
        return WEFT_OK;
    enum weft_code code = chrome_read_again(trace, record->off, &source, err);
    if (code != WEFT_OK || kind == WEFT_EVENT_CALL_ARGS)
        return code == WEFT_OK ? chrome_payload(&worker->converter, &source, text, err) : code;
    chrome_remark(worker->converter.remarks, CHROME_END_DETAILS, 1, record->off);
    *text = chrome_args(&source);
    return WEFT_OK;
}

/* Delivers the record's text as the payload of `event`. Arguments follow their entry at once. */
static enum weft_code send_text(struct worker *worker, uint32_t thread_id,
                                const struct chrome_record *record, struct weft_event *event,
                                struct weft_err *err)
{
    struct weft_sink *sink = worker->converter.trace->sink;
    enum weft_code code = find_text(worker, record, event->kind, &event->payload, err);
    if (code != WEFT_OK || event->payload.n_bytes == 0)
        return code;
    code = weft_nest_flush(worker->nest, err);
    return code == WEFT_OK ? sink->ops->events(sink, thread_id, event, 1, err) : code;
}

/* ---- stacks that say what the calls say ----------------------------------------------------- */

/* The frame of the call at `depth`; WEFT_MAP_NONE if none says that it is called from where it is.
 */
static uint32_t frame_at(const struct worker *worker, size_t depth)
{
    return depth < worker->paths.n ? worker->paths.items[depth] : WEFT_MAP_NONE;
}

/* Notes the frame of the call that was entered last, as llvm-xray writes it with every event: if
 * its chain is the calls that are open, it says nothing new, and `*is_known`. */
static enum weft_code enter_frame(struct worker *worker, const struct chrome_record *record,
                                  bool *is_known, struct weft_err *err)
{
    const struct chrome_trace *trace = worker->converter.trace;
    size_t depth = weft_nest_depth(worker->nest) - 1;
    uint32_t frame = WEFT_MAP_NONE;
    uint32_t around = depth > 0 ? frame_at(worker, depth - 1) : WEFT_MAP_NONE;
    if (record->has_frame && (depth == 0 || around != WEFT_MAP_NONE))
        frame = chrome_stacks_frame(worker->converter.stacks, record->end,
                                    trace->name_of_key[record->key], around);
    while (worker->paths.n <= depth) {
        uint32_t *added = WEFT_VEC_PUSH(&worker->paths);
        if (!added)
            return weft_no_memory(err, "the delivery of events");
        *added = WEFT_MAP_NONE;
    }
    worker->paths.items[depth] = frame;
    *is_known = frame != WEFT_MAP_NONE;
    return WEFT_OK;
}

static struct weft_event args_event(const struct chrome_trace *trace,
                                    const struct chrome_record *record)
{
    return (struct weft_event){
        .time_ns = record->time - trace->first,
        .next_thread_id = WEFT_ID_NONE,
        .object_id = WEFT_ID_NONE,
        .stack_id = WEFT_ID_NONE,
        .cpu = -1,
        .kind = WEFT_EVENT_CALL_ARGS,
    };
}

static enum weft_code deliver_span(struct worker *worker, const struct chrome_record *record,
                                   struct weft_err *err)
{
    const struct chrome_trace *trace = worker->converter.trace;
    bool is_empty = record->phase == CHROME_PHASE_EMPTY;
    struct weft_nest_span span = {
        .time_ns = record->time - trace->first,
        .end_ns = (is_empty ? record->time : record->end) - trace->first,
        .key = record->key,
        .level = is_empty ? (uint32_t)record->end : WEFT_NEST_NO_LEVEL,
        .flags = record->flags,
    };
    if (has_text(record)) /* it was entered in the trace */
        span.flags &= (uint8_t)~WEFT_CALL_CUT_START;
    return weft_nest_span(worker->nest, &span, err);
}

static enum weft_code deliver_entry(struct worker *worker, uint32_t thread_id,
                                    const struct chrome_record *record, struct weft_err *err)
{
    const struct chrome_trace *trace = worker->converter.trace;
    uint64_t time_ns = record->time - trace->first;
    enum weft_code code = record->phase == 'B'
                              ? weft_nest_enter(worker->nest, time_ns, record->key, err)
                              : deliver_span(worker, record, err);
    bool is_known = false;
    if (code == WEFT_OK && trace->has_stacks)
        code = enter_frame(worker, record, &is_known, err);
    if (code != WEFT_OK || is_known || !has_text(record))
        return code;
    struct weft_event event = args_event(trace, record);
    return send_text(worker, thread_id, record, &event, err);
}

static bool is_frame_of(const struct worker *worker, const struct chrome_record *record,
                        size_t depth)
{
    uint32_t frame = frame_at(worker, depth);
    return frame != WEFT_MAP_NONE &&
           chrome_stacks_is_frame(worker->converter.stacks, record->end, frame);
}

/* Arguments of an end belong to the call that it ends: while that is the latest call, they can be
 * delivered as its own. Else they are a point of their own that names the call. */
static enum weft_code deliver_end_args(struct worker *worker, uint32_t thread_id,
                                       const struct chrome_record *record, struct weft_err *err)
{
    const struct chrome_trace *trace = worker->converter.trace;
    struct weft_nest_open open = { .key = record->key };
    WEFT_TRY(weft_nest_advance(worker->nest, record->time - trace->first, err));
    bool is_open =
        weft_nest_peek(worker->nest, (enum weft_nest_match)record->match, record->key, &open);
    if (is_open && record->has_frame && is_frame_of(worker, record, open.depth))
        return WEFT_OK;
    struct weft_event event = args_event(trace, record);
    if (open.is_latest) {
        event.category = WEFT_STR("end");
    } else {
        event.kind = WEFT_EVENT_INSTANT;
        event.prev_state = 'E';
        if (open.key != WEFT_ID_NONE) {
            event.name = chrome_function_name(trace, open.key);
            event.category = chrome_function_category(trace, open.key);
        }
    }
    return send_text(worker, thread_id, record, &event, err);
}

static enum weft_code deliver_record(struct worker *worker, uint32_t thread_id,
                                     const struct chrome_record *record, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    switch (record->phase) {
    case 'X':
    case 'B':
    case CHROME_PHASE_EMPTY:
        return deliver_entry(worker, thread_id, record, err);
    case 'E':
        if (has_text(record))
            code = deliver_end_args(worker, thread_id, record, err);
        if (code != WEFT_OK)
            return code;
        return weft_nest_exit(worker->nest, record->time - worker->converter.trace->first,
                              (enum weft_nest_match)record->match, record->key, err);
    default:
        return chrome_convert_and_send(&worker->converter, thread_id, record, err);
    }
}

/* ---- records of one time -------------------------------------------------------------------- */

/* Longer first; `reserved` holds the place before. */
static int compare_ends(const void *a, const void *b)
{
    const struct chrome_record *left = a;
    const struct chrome_record *right = b;
    if (left->end != right->end)
        return left->end > right->end ? -1 : 1;
    return memcmp(left->reserved, right->reserved, sizeof left->reserved);
}

static size_t count_spans(const struct worker *worker)
{
    size_t n_spans = 0;
    for (size_t k = 0; k < worker->together.n; k++)
        n_spans += worker->together.items[k].phase == 'X';
    return n_spans;
}

/* True if complete events that begin together lie each in the one before, as when weft exported
 * them: so do those of no duration whose level is known. */
static bool nests_as_it_stands(const struct worker *worker)
{
    uint64_t around = UINT64_MAX;
    for (size_t k = 0; k < worker->together.n; k++) {
        const struct chrome_record *record = &worker->together.items[k];
        if (record->phase == 'X' && record->end > around)
            return false;
        if (record->phase == 'X')
            around = record->end;
    }
    return true;
}

/* Complete events that begin together, inner ones first as they end first, change places so that
 * the longest comes first. Everything else stays where it is. */
static enum weft_code outer_first(struct worker *worker, struct weft_err *err)
{
    size_t n_spans = worker->together.n > 1 ? count_spans(worker) : 0;
    if (n_spans < 2 || nests_as_it_stands(worker))
        return WEFT_OK;
    struct chrome_record *spans = malloc(n_spans * sizeof *spans);
    if (!spans)
        return weft_no_memory(err, "the delivery of events");
    size_t n = 0;
    for (size_t k = 0; k < worker->together.n; k++) {
        if (worker->together.items[k].phase != 'X')
            continue;
        spans[n] = worker->together.items[k];
        for (unsigned byte = 0; byte < 4; byte++) /* big-endian: memcmp compares numbers */
            spans[n].reserved[byte] = (uint8_t)(n >> (24 - 8 * byte));
        n++;
    }
    qsort(spans, n_spans, sizeof *spans, compare_ends);
    for (size_t k = 0, next = 0; k < worker->together.n; k++)
        if (worker->together.items[k].phase == 'X')
            worker->together.items[k] = spans[next++];
    free(spans);
    return WEFT_OK;
}

static enum weft_code deliver_together(struct worker *worker, uint32_t thread_id,
                                       struct weft_err *err)
{
    enum weft_code code = outer_first(worker, err);
    for (size_t k = 0; code == WEFT_OK && k < worker->together.n; k++)
        code = deliver_record(worker, thread_id, &worker->together.items[k], err);
    worker->together.n = 0;
    return code;
}

static enum weft_code take_record(struct worker *worker, uint32_t thread_id,
                                  const struct weft_sort_record *sorted, struct weft_err *err)
{
    if (worker->together.n &&
        (worker->together.items[0].time != sorted->key || worker->together.n == MOST_TOGETHER)) {
        WEFT_TRY(deliver_together(worker, thread_id, err));
    }
    struct chrome_record *record = WEFT_VEC_PUSH(&worker->together);
    if (!record)
        return weft_no_memory(err, "the delivery of events");
    *record = chrome_record_of(sorted);
    return WEFT_OK;
}

/* ---- one thread ----------------------------------------------------------------------------- */

static enum weft_code check_cancel(const struct chrome_trace *trace, struct weft_err *err)
{
    if (weft_progress_is_cancelled(chrome_progress(trace)))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    return WEFT_OK;
}

static enum weft_code deliver_lane(struct worker *worker, uint32_t thread_id,
                                   struct weft_sort_reader *reader, struct weft_err *err)
{
    const struct chrome_trace *trace = worker->converter.trace;
    for (;;) {
        const struct weft_sort_record *records;
        size_t n_records;
        enum weft_code code = weft_sort_reader_next(reader, &records, &n_records, err);
        for (size_t k = 0; code == WEFT_OK && k < n_records; k++) {
            if (k % CANCEL_RECORDS == 0)
                code = check_cancel(trace, err);
            WEFT_THEN(code, take_record(worker, thread_id, &records[k], err));
        }
        if (code != WEFT_OK)
            return code;
        if (n_records == 0)
            return deliver_together(worker, thread_id, err);
        weft_progress_add(chrome_progress(trace), n_records);
    }
}

static enum weft_code worker_ready(const struct delivery *delivery, struct worker *worker,
                                   struct weft_err *err)
{
    struct chrome_trace *trace = delivery->trace;
    worker->converter.trace = trace;
    worker->converter.stacks = delivery->stacks;
    if (!worker->nest)
        worker->nest =
            weft_nest_new(trace->sink, weft_map_count(trace->functions), trace->name_of_key);
    return worker->nest ? WEFT_OK : weft_no_memory(err, "the delivery of events");
}

static enum weft_code deliver_thread(void *context, size_t item, unsigned number,
                                     struct weft_err *err)
{
    struct delivery *delivery = context;
    struct chrome_trace *trace = delivery->trace;
    struct worker *worker = &delivery->workers[number];
    const struct chrome_thread *thread = &trace->threads.items[trace->order[item]];
    struct weft_sort_reader *reader = NULL;
    enum weft_code code = worker_ready(delivery, worker, err);
    WEFT_THEN(code, weft_sort_reader_open(trace->sorter, CHROME_LANE_THREADS + trace->order[item],
                                          &reader, err));
    if (code != WEFT_OK)
        return code;
    weft_nest_start(worker->nest, thread->thread_id);
    worker->together.n = worker->paths.n = 0;
    code = deliver_lane(worker, thread->thread_id, reader, err);
    WEFT_THEN(code, weft_nest_end(worker->nest, thread->last - trace->first, err));
    weft_sort_reader_close(reader);
    return code;
}

/* ---- what comes before the threads ---------------------------------------------------------- */

/* By process: its first thread in the sink's order, or WEFT_ID_NONE; the caller frees. */
static uint32_t *first_threads(const struct chrome_trace *trace)
{
    uint32_t n_processes = weft_map_count(trace->processes);
    uint32_t *first = malloc(((size_t)n_processes + 1) * sizeof *first);
    for (uint32_t k = 0; first && k < n_processes; k++)
        first[k] = WEFT_ID_NONE;
    for (uint32_t k = trace->n_ordered; first && k-- > 0;) {
        const struct chrome_thread *thread = &trace->threads.items[trace->order[k]];
        first[thread->process] = thread->thread_id;
    }
    return first;
}

/* Metadata of a process goes to its first thread. */
static enum weft_code deliver_metadata_to(struct chrome_trace *trace,
                                          struct chrome_converter *converter,
                                          struct weft_sort_reader *reader, const uint32_t *first,
                                          struct weft_err *err)
{
    for (;;) {
        const struct weft_sort_record *records;
        size_t n_records;
        enum weft_code code = weft_sort_reader_next(reader, &records, &n_records, err);
        for (size_t k = 0; code == WEFT_OK && k < n_records; k++) {
            const struct chrome_record record = chrome_record_of(&records[k]);
            if (first[record.key] == WEFT_ID_NONE)
                chrome_remark(trace->remarks, CHROME_LOST_METADATA, 1, record.off);
            else
                code = chrome_convert_and_send(converter, first[record.key], &record, err);
        }
        if (code != WEFT_OK || n_records == 0)
            return code;
    }
}

static enum weft_code deliver_metadata(struct chrome_trace *trace,
                                       struct chrome_converter *converter, struct weft_err *err)
{
    struct weft_sort_reader *reader = NULL;
    uint32_t *first = first_threads(trace);
    enum weft_code code =
        first ? weft_sort_reader_open(trace->sorter, CHROME_LANE_METADATA, &reader, err)
              : weft_no_memory(err, "the delivery of events");
    WEFT_THEN(code, deliver_metadata_to(trace, converter, reader, first, err));
    weft_sort_reader_close(reader);
    free(first);
    return code;
}

/* ---- everything ----------------------------------------------------------------------------- */

static enum weft_code for_each_thread(struct delivery *delivery, struct weft_err *err)
{
    const struct chrome_trace *trace = delivery->trace;
    if (trace->run && trace->run->pool)
        return weft_pool_run(trace->run->pool, trace->n_ordered, deliver_thread, delivery,
                             chrome_progress(trace), err);
    enum weft_code code = WEFT_OK;
    for (uint32_t k = 0; code == WEFT_OK && k < trace->n_ordered; k++)
        code = deliver_thread(delivery, k, 0, err);
    return code;
}

static void add_remarks(struct chrome_trace *trace, const struct chrome_count *remarks)
{
    for (unsigned k = 0; k < CHROME_REMARKS; k++)
        if (remarks[k].count)
            chrome_remark(trace->remarks, k, remarks[k].count, remarks[k].at_off);
}

static enum weft_code deliver_all(struct delivery *delivery, struct weft_err *err)
{
    struct chrome_trace *trace = delivery->trace;
    struct chrome_converter *converter = &delivery->workers[0].converter;
    converter->trace = trace;
    converter->stacks = delivery->stacks;
    enum weft_code code = deliver_metadata(trace, converter, err);
    WEFT_THEN(code, chrome_deliver_async(trace, converter, err));
    WEFT_THEN(code, for_each_thread(delivery, err));
    for (unsigned k = 0; k < delivery->n_workers; k++)
        add_remarks(trace, delivery->workers[k].converter.remarks);
    return code;
}

enum weft_code chrome_deliver(struct chrome_trace *trace, struct weft_err *err)
{
    struct delivery delivery = { .trace = trace, .n_workers = 1 };
    if (trace->run && trace->run->pool)
        delivery.n_workers = weft_pool_workers(trace->run->pool);
    delivery.workers = calloc(delivery.n_workers, sizeof *delivery.workers);
    delivery.stacks = chrome_stacks_new(trace);
    bool is_ready = delivery.workers && delivery.stacks;
    enum weft_code code =
        is_ready ? deliver_all(&delivery, err) : weft_no_memory(err, "the delivery of events");
    for (unsigned k = 0; delivery.workers && k < delivery.n_workers; k++) {
        weft_nest_free(delivery.workers[k].nest);
        WEFT_VEC_FINI(&delivery.workers[k].converter.text);
        WEFT_VEC_FINI(&delivery.workers[k].together);
        WEFT_VEC_FINI(&delivery.workers[k].paths);
        WEFT_VEC_FINI(&delivery.workers[k].converter.payload);
    }
    free(delivery.workers);
    chrome_stacks_free(delivery.stacks);
    return code;
}
