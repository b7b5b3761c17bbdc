/* SPDX-License-Identifier: MIT
 *
 * A block is read as columns, with the ends of the calls that are open: outside of functions that
 * wait only the outermost call matters. Spans are kept by thread, first block and number of blocks,
 * until the memory for them is used up; they are never changed or dropped then.
 */
#include "model/graph/spans.h"

#include "base/map.h"
#include "base/vec.h"
#include "store/reader.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A call of input or output that lasts so long is a wait. */
#define LONG_CALL_NS UINT64_C(50000)

/* Of the number of a thread, a block and a number of blocks in a key. */
enum { BLOCK_BITS = 36, COUNT_BITS = 4 };

struct weft_graph_known {
    const struct weft_trace *trace;
    _Atomic uint8_t *waits; /* by function: 0 not asked yet, 1 no, from 2 on what it waits for */
    uint64_t memory_bytes;
    pthread_mutex_t lock; /* of what follows */
    struct weft_map *places;
    struct {
        struct weft_graph_spans **items; /* by place; NULL: not kept */
        size_t n, cap;
    } list;
    uint64_t n_bytes;
};

void weft_graph_spans_free(struct weft_graph_spans *spans)
{
    if (!spans)
        return;
    WEFT_VEC_FINI(&spans->spans);
    WEFT_VEC_FINI(&spans->calls);
    free(spans);
}

void weft_graph_spans_room_fini(struct weft_graph_spans_room *room)
{
    weft_block_buf_free(room->buf);
    WEFT_VEC_FINI(&room->open);
    room->buf = NULL;
}

struct weft_graph_known *weft_graph_known_new(const struct weft_trace *trace, uint64_t memory_bytes)
{
    struct weft_graph_known *known = calloc(1, sizeof *known);
    if (!known)
        return NULL;
    known->trace = trace;
    known->memory_bytes = memory_bytes;
    (void)pthread_mutex_init(&known->lock, NULL);
    known->waits = calloc((size_t)weft_trace_n_functions(trace) + 1, sizeof *known->waits);
    known->places = weft_map_new();
    if (known->waits && known->places)
        return known;
    weft_graph_known_free(known);
    return NULL;
}

void weft_graph_known_free(struct weft_graph_known *known)
{
    if (!known)
        return;
    for (size_t i = 0; i < known->list.n; i++)
        weft_graph_spans_free(known->list.items[i]);
    WEFT_VEC_FINI(&known->list);
    weft_map_free(known->places);
    (void)pthread_mutex_destroy(&known->lock);
    free(known->waits);
    free(known);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
    struct weft_graph_known *known;
    struct weft_graph_spans *spans;
    struct weft_graph_spans_room *room;
    size_t wait_depth; /* of the call that waits; depths count from 1: 0 is none */
    bool is_over;      /* what follows is not of these blocks */
};

struct call {
    uint64_t start_ns, end_ns, row;
    uint32_t function_id, depth;
};

/* What a function waits for; false: it is not there to wait. */
static bool waits_for(struct weft_graph_known *known, uint32_t function_id,
                      enum weft_wait_for *what)
{
    uint8_t told = atomic_load_explicit(&known->waits[function_id], memory_order_relaxed);
    if (told == 0) {
        const struct weft_str name = weft_trace_function(known->trace, function_id)->name;
        told = weft_is_wait_name(name) || weft_may_wait_name(name)
                   ? (uint8_t)(2 + weft_wait_for_of_name(name))
                   : 1;
        atomic_store_explicit(&known->waits[function_id], told, memory_order_relaxed);
    }
    *what = told >= 2 ? (enum weft_wait_for)(told - 2) : WEFT_WAITS_FOR_ANY;
    return told >= 2;
}

/* A call that was cut where the trace begins may be one: how long it lasts is unknown. */
static bool is_wait(struct weft_graph_known *known, const struct call *call)
{
    enum weft_wait_for what;
    return waits_for(known, call->function_id, &what) &&
           (what < WEFT_WAITS_FOR_INPUT || call->row == UINT64_MAX ||
            call->end_ns - call->start_ns >= LONG_CALL_NS);
}

/* In a wait: the function, or one that it calls, says what for. */
static bool see_wait(struct reading *reading, const struct call *call)
{
    struct weft_graph_spans *spans = reading->spans;
    struct weft_graph_span *span = &spans->spans.items[spans->spans.n - 1];
    enum weft_wait_for what;
    if (span->for_what != WEFT_WAITS_FOR_ANY ||
        !waits_for(reading->known, call->function_id, &what) || what == WEFT_WAITS_FOR_ANY)
        return true;
    span->for_what = (uint8_t)what;
    struct weft_wait_call *kept = WEFT_VEC_PUSH(&spans->calls);
    if (kept)
        *kept = (struct weft_wait_call){ .span_ns = span->start_ns,
                                         .start_ns = call->start_ns,
                                         .row = call->row,
                                         .function_id = call->function_id };
    return kept != NULL;
}

/* False without memory. */
static bool add_span(struct reading *reading, uint64_t start_ns, size_t depth)
{
    struct weft_graph_spans *spans = reading->spans;
    const struct weft_graph_span made = { .start_ns = start_ns,
                                          .is_wait = reading->wait_depth > 0,
                                          .is_gap = depth == 0 };
    struct weft_graph_span *last = spans->spans.n ? &spans->spans.items[spans->spans.n - 1] : NULL;
    if (last && last->start_ns == start_ns) { /* nothing happened in between */
        *last = made;
        if (spans->spans.n > 1 && last[-1].is_wait == made.is_wait &&
            last[-1].is_gap == made.is_gap)
            spans->spans.n--;
        return true;
    }
    if (last && last->is_wait == made.is_wait && last->is_gap == made.is_gap)
        return true;
    struct weft_graph_span *span = WEFT_VEC_PUSH(&spans->spans);
    if (span)
        *span = made;
    return span != NULL;
}

/* Calls end until `depth` are open. Outside of waits nothing changes before the outermost ends. */
static bool leave(struct reading *reading, size_t depth)
{
    struct weft_graph_spans_room *room = reading->room;
    bool is_good = true;
    while (room->open.n > depth && !reading->is_over && is_good) {
        if (reading->wait_depth == 0 && room->open.n > 1) {
            room->open.n = depth > 1 ? depth : 1;
            continue;
        }
        const uint64_t end_ns = room->open.items[--room->open.n];
        reading->is_over = end_ns >= reading->spans->to_ns;
        if (reading->is_over)
            break;
        if (reading->wait_depth == room->open.n + 1)
            reading->wait_depth = 0;
        is_good = add_span(reading, end_ns, room->open.n);
    }
    return is_good;
}

static bool enter(struct reading *reading, const struct call *call)
{
    struct weft_graph_spans_room *room = reading->room;
    if (room->open.n > call->depth && !leave(reading, call->depth))
        return false;
    reading->is_over |= call->start_ns >= reading->spans->to_ns;
    if (reading->is_over)
        return true;
    const size_t depth = (size_t)call->depth + 1;
    if (reading->wait_depth == 0 && is_wait(reading->known, call))
        reading->wait_depth = depth;
    if ((reading->wait_depth > 0 || depth == 1) && !add_span(reading, call->start_ns, depth))
        return false;
    if (reading->wait_depth > 0 && !see_wait(reading, call))
        return false;
    if (room->open.n == room->open.cap &&
        !weft_vec_reserve(&room->open.items, &room->open.cap, depth, sizeof *room->open.items))
        return false;
    room->open.items[room->open.n++] = call->end_ns;
    return true;
}

/* Calls that were entered before the first block. */
static bool enter_opening(struct reading *reading, const struct weft_open_call *open, size_t n)
{
    const uint64_t from_ns = reading->spans->from_ns;
    bool is_good = true;
    for (size_t i = 0; i < n && is_good && !reading->is_over; i++) {
        const struct call call = { .start_ns =
                                       open[i].start_ns > from_ns ? open[i].start_ns : from_ns,
                                   .end_ns = open[i].end_ns,
                                   .row = open[i].row,
                                   .function_id = open[i].function_id,
                                   .depth = open[i].depth };
        if (open[i].start_ns < from_ns && open[i].end_ns <= from_ns)
            break; /* what it calls has ended, too */
        is_good = enter(reading, &call);
    }
    return is_good;
}

static bool enter_rows(struct reading *reading, const struct weft_calls *calls)
{
    bool is_good = true;
    for (size_t i = 0; i < calls->n_rows && is_good && !reading->is_over; i++) {
        const struct call call = { .start_ns = calls->start_ns[i],
                                   .end_ns = calls->end_ns[i],
                                   .row = calls->first_row + i,
                                   .function_id = calls->function_id[i],
                                   .depth = calls->depth[i] };
        is_good = enter(reading, &call);
    }
    return is_good;
}

static enum weft_code read_block(struct reading *reading, uint32_t thread_id, uint64_t block,
                                 bool is_first, struct weft_err *err)
{
    struct weft_calls calls;
    const enum weft_code code = weft_store_load(weft_trace_store(reading->known->trace), thread_id,
                                                block, reading->room->buf, &calls, err);
    if (code != WEFT_OK) {
        (void)weft_within(err, "block %" PRIu64, block);
        return code;
    }
    return (!is_first || block == 0 || enter_opening(reading, calls.open, calls.n_open)) &&
                   enter_rows(reading, &calls)
               ? WEFT_OK
               : weft_no_memory(err, "states of threads");
}

static enum weft_code read_blocks(struct reading *reading, uint32_t thread_id, uint64_t first,
                                  uint64_t end, struct weft_err *err)
{
    size_t n_cut = 0;
    const struct weft_open_call *cut =
        first == 0
            ? weft_store_cut_calls(weft_trace_store(reading->known->trace), thread_id, &n_cut)
            : NULL;
    reading->room->open.n = 0;
    if (!add_span(reading, reading->spans->from_ns, 0) || !enter_opening(reading, cut, n_cut))
        return weft_no_memory(err, "states of threads");
    enum weft_code code = WEFT_OK;
    for (uint64_t block = first; block < end && code == WEFT_OK && !reading->is_over; block++)
        code = read_block(reading, thread_id, block, block == first, err);
    return code != WEFT_OK || leave(reading, 0) ? code : weft_no_memory(err, "states of threads");
}

static enum weft_code make_spans(struct weft_graph_known *known, uint32_t thread_id, uint64_t first,
                                 uint64_t end, struct weft_graph_spans_room *room,
                                 struct weft_graph_spans **made, struct weft_err *err)
{
    struct weft_store *store = weft_trace_store(known->trace);
    struct weft_graph_spans *spans = *made = calloc(1, sizeof *spans);
    if (!room->buf)
        room->buf = weft_block_buf_new();
    if (!spans || !room->buf)
        return weft_no_memory(err, "states of threads");
    spans->from_ns = first ? weft_store_block_get(store, thread_id, first)->first_ns : 0;
    spans->to_ns = end < weft_store_thread_get(store, thread_id)->n_blocks
                       ? weft_store_block_get(store, thread_id, end)->first_ns
                       : UINT64_MAX;
    struct reading reading = { .known = known, .spans = spans, .room = room };
    return read_blocks(&reading, thread_id, first, end, err);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* False: there are too many blocks for it. */
static bool key_of(uint32_t thread_id, uint64_t first, uint64_t end, uint64_t *key)
{
    *key = (uint64_t)thread_id << (BLOCK_BITS + COUNT_BITS) | first << COUNT_BITS | (end - first);
    return end - first < UINT64_C(1) << COUNT_BITS && first < UINT64_C(1) << BLOCK_BITS &&
           thread_id < UINT32_C(1) << (64 - BLOCK_BITS - COUNT_BITS);
}

static const struct weft_graph_spans *find_kept(struct weft_graph_known *known, uint64_t key)
{
    (void)pthread_mutex_lock(&known->lock);
    const uint32_t place = weft_map_find(known->places, key);
    const struct weft_graph_spans *found =
        place != WEFT_MAP_NONE && place < known->list.n ? known->list.items[place] : NULL;
    (void)pthread_mutex_unlock(&known->lock);
    return found;
}

static uint64_t bytes_of(const struct weft_graph_spans *spans)
{
    return sizeof *spans + 2 * sizeof(uint64_t) + spans->spans.cap * sizeof *spans->spans.items +
           spans->calls.cap * sizeof *spans->calls.items;
}

/* Keeps the spans if there is room; whether it did. Another worker may have been first. */
static bool keep(struct weft_graph_known *known, uint64_t key, struct weft_graph_spans *spans)
{
    const uint64_t n_bytes = bytes_of(spans);
    bool is_new = false;
    (void)pthread_mutex_lock(&known->lock);
    if (known->memory_bytes == 0 || known->n_bytes + n_bytes <= known->memory_bytes) {
        const uint32_t place = weft_map_add(known->places, key, &is_new);
        is_new = is_new && place == known->list.n;
        struct weft_graph_spans **kept = is_new ? WEFT_VEC_PUSH(&known->list) : NULL;
        is_new = kept != NULL;
        if (kept)
            *kept = spans;
        known->n_bytes += kept ? n_bytes : 0;
    }
    (void)pthread_mutex_unlock(&known->lock);
    return is_new;
}

enum weft_code weft_graph_spans_of(struct weft_graph_known *known, uint32_t thread_id,
                                   uint64_t first, uint64_t end, struct weft_graph_spans_room *room,
                                   const struct weft_graph_spans **spans,
                                   struct weft_graph_spans **own, struct weft_err *err)
{
    uint64_t key;
    const bool is_kept = key_of(thread_id, first, end, &key);
    *own = NULL;
    *spans = is_kept ? find_kept(known, key) : NULL;
    if (*spans)
        return WEFT_OK;
    const enum weft_code code = make_spans(known, thread_id, first, end, room, own, err);
    *spans = *own;
    if (code != WEFT_OK) {
        weft_graph_spans_free(*own);
        *own = NULL;
        *spans = NULL;
    } else if (is_kept && keep(known, key, *own)) {
        *own = NULL;
    }
    return code;
}
