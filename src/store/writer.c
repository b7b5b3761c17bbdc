/* SPDX-License-Identifier: MIT
 *
 * The sink's functions: they find the thread's builder, flush full blocks through a borrowed
 * encoder, and pass metadata to the catalog. Locks nest in one order: the commit's first, then the
 * writer's. Builders and encoders are pooled, so that memory follows the number of workers and not
 * of threads.
 */
#include "store/writer.h"

#include "base/vec.h"
#include "store/arrivals.h"
#include "store/builder.h"
#include "store/catalog.h"
#include "store/commit.h"
#include "store/event_builder.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

/* Of a ceiling on memory each of its parts that spill takes one in so many bytes. */
enum { MEMORY_SHARE = 16, MOST_SHARE_BYTES = 64 << 20 };

/* Threads live in pages that never move, so that workers find theirs without a lock while another
 * is announced. */
enum { PAGE_BITS = 10, PAGE_THREADS = 1 << PAGE_BITS, MAX_PAGES = 1 << 14 };

struct writer_thread {
    struct weft_builder *builder;       /* NULL: no calls yet, or ended */
    struct weft_event_builder *events;  /* NULL: none yet, or ended */
    struct weft_bytes groups;           /* contexts of groups of its blocks, once it has ended */
    struct weft_bytes levels;           /* levels of detail of its blocks and groups, likewise */
    struct weft_interrupts *interrupts; /* that it is serving */
    uint64_t calls, cut_calls, n_events;
    uint64_t last_ns;
    uint32_t host_id;
    bool is_ended;
};

struct weft_writer {
    struct weft_sink sink; /* first: the sink's address is the writer's */
    pthread_mutex_t lock;  /* catalog and free lists; taken inside the commit's lock or alone */
    struct weft_commit *commit;
    struct weft_catalog *catalog;
    struct weft_arrivals *arrivals;
    struct writer_thread *_Atomic pages[MAX_PAGES];
    atomic_uint n_threads;
    struct weft_builder *free_builders;
    struct weft_event_builder *free_event_builders;
    struct {
        struct weft_block_encoder **items;
        size_t n, cap;
    } free_encoders;
    struct weft_bytes payload; /* of a metadata chunk */
    uint32_t block_rows, block_events, cell_rows;
    bool is_parallel;
    atomic_bool has_begun; /* the first metadata is written */
};

static struct weft_writer *writer_of(struct weft_sink *sink)
{
    return (struct weft_writer *)sink;
}

static struct writer_thread *thread_at(struct weft_writer *writer, uint32_t thread_id)
{
    struct writer_thread *page =
        atomic_load_explicit(&writer->pages[thread_id >> PAGE_BITS], memory_order_acquire);
    return &page[thread_id & (PAGE_THREADS - 1)];
}

/* The thread, if it was announced and not ended. */
static enum weft_code thread_find(struct weft_writer *writer, uint32_t thread_id,
                                  struct writer_thread **thread, struct weft_err *err)
{
    if (thread_id >= atomic_load_explicit(&writer->n_threads, memory_order_acquire))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "thread %" PRIu32 " was never announced",
                         thread_id);
    *thread = thread_at(writer, thread_id);
    if ((*thread)->is_ended)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "thread %" PRIu32 " has ended",
                         thread_id);
    return WEFT_OK;
}

/* ---- metadata chunks ------------------------------------------------------------------------ */

/* Writes one chunk if there is something in it. The commit's lock is held. */
static enum weft_code payload_append(struct weft_writer *writer, uint32_t id, uint8_t flags,
                                     struct weft_err *err)
{
    if (writer->payload.has_failed)
        return weft_no_memory(err, "a trace writer");
    if (writer->payload.n == 0)
        return WEFT_OK;
    return weft_commit_append(writer->commit, id, flags, &writer->payload, err);
}

static enum weft_code announce(struct weft_writer *writer, uint32_t end_thread,
                               struct weft_err *err)
{
    weft_catalog_put_meta(writer->catalog, &writer->payload);
    enum weft_code code = payload_append(writer, WEFT_CHUNK_META, WEFT_CHUNK_REQUIRED, err);
    weft_catalog_put_threads(writer->catalog, end_thread, &writer->payload);
    WEFT_THEN(code, payload_append(writer, WEFT_CHUNK_THREADS, WEFT_CHUNK_REQUIRED, err));
    weft_catalog_put_functions(writer->catalog, &writer->payload);
    WEFT_THEN(code, payload_append(writer, WEFT_CHUNK_FUNCTIONS, WEFT_CHUNK_REQUIRED, err));
    return code;
}

/* Before a block of `thread_id`: the file must name the thread. With a serial source all that is
 * new is written; with a parallel one only what cannot depend on the timing of workers. */
static enum weft_code before_block(void *context, uint32_t thread_id, struct weft_err *err)
{
    struct weft_writer *writer = context;
    (void)pthread_mutex_lock(&writer->lock);
    enum weft_code code;
    if (writer->is_parallel) {
        weft_catalog_put_threads(writer->catalog, thread_id + 1, &writer->payload);
        code = payload_append(writer, WEFT_CHUNK_THREADS, WEFT_CHUNK_REQUIRED, err);
    } else {
        code = announce(writer, weft_catalog_n_threads(writer->catalog), err);
    }
    (void)pthread_mutex_unlock(&writer->lock);
    return code;
}

/* Called by the commit with its lock held, as before_block. */
static enum weft_code announce_all(void *context, struct weft_err *err)
{
    struct weft_writer *writer = context;
    (void)pthread_mutex_lock(&writer->lock);
    const enum weft_code code = announce(writer, weft_catalog_n_threads(writer->catalog), err);
    (void)pthread_mutex_unlock(&writer->lock);
    return code;
}

/* With the first calls: what is known is written. */
static enum weft_code begin_once(struct weft_writer *writer, struct weft_err *err)
{
    if (atomic_load_explicit(&writer->has_begun, memory_order_acquire))
        return WEFT_OK;
    return weft_commit_locked(writer->commit, &writer->has_begun, announce_all, writer, err);
}

/* ---- the sink ------------------------------------------------------------------------------- */

static enum weft_code sink_begin(struct weft_sink *sink, const struct weft_sink_begin *begin,
                                 struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    writer->is_parallel = begin->is_parallel;
    weft_commit_begin(writer->commit, begin->is_parallel, before_block, writer);
    return weft_catalog_begin(writer->catalog, begin, err);
}

static enum weft_code sink_clock(struct weft_sink *sink, const struct weft_clock *clock,
                                 struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    (void)err;
    (void)pthread_mutex_lock(&writer->lock);
    weft_catalog_clock(writer->catalog, clock);
    (void)pthread_mutex_unlock(&writer->lock);
    return WEFT_OK;
}

static enum weft_code sink_function(struct weft_sink *sink, const struct weft_function_info *info,
                                    struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    (void)pthread_mutex_lock(&writer->lock);
    const enum weft_code code = weft_catalog_function(writer->catalog, info, err);
    (void)pthread_mutex_unlock(&writer->lock);
    return code;
}

static enum weft_code sink_note(struct weft_sink *sink, const struct weft_note *note,
                                struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    (void)pthread_mutex_lock(&writer->lock);
    const enum weft_code code = weft_catalog_note(writer->catalog, note, err);
    (void)pthread_mutex_unlock(&writer->lock);
    return code;
}

static enum weft_code sink_object(struct weft_sink *sink, const struct weft_object_info *info,
                                  struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    (void)pthread_mutex_lock(&writer->lock);
    const enum weft_code code = weft_catalog_object(writer->catalog, info, err);
    (void)pthread_mutex_unlock(&writer->lock);
    return code;
}

static enum weft_code sink_library(struct weft_sink *sink,
                                   const struct weft_library_function *function,
                                   struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    (void)pthread_mutex_lock(&writer->lock);
    const enum weft_code code = weft_catalog_library(writer->catalog, function, err);
    (void)pthread_mutex_unlock(&writer->lock);
    return code;
}

static enum weft_code sink_process(struct weft_sink *sink,
                                   const struct weft_ledger_process *process, struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    (void)pthread_mutex_lock(&writer->lock);
    const enum weft_code code = weft_catalog_process(writer->catalog, process, err);
    (void)pthread_mutex_unlock(&writer->lock);
    return code;
}

static enum weft_code page_add(struct weft_writer *writer, uint32_t thread_id, struct weft_err *err)
{
    const uint32_t page = thread_id >> PAGE_BITS;
    if (page >= MAX_PAGES)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "more than %d threads",
                         MAX_PAGES << PAGE_BITS);
    if (atomic_load_explicit(&writer->pages[page], memory_order_relaxed))
        return WEFT_OK;
    struct writer_thread *threads = calloc(PAGE_THREADS, sizeof *threads);
    if (!threads)
        return weft_no_memory(err, "a trace writer");
    atomic_store_explicit(&writer->pages[page], threads, memory_order_release);
    return WEFT_OK;
}

static enum weft_code sink_thread(struct weft_sink *sink, const struct weft_thread_info *info,
                                  uint32_t *thread_id, struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    (void)pthread_mutex_lock(&writer->lock);
    enum weft_code code = page_add(writer, weft_catalog_n_threads(writer->catalog), err);
    WEFT_THEN(code, weft_catalog_thread(writer->catalog, info, thread_id, err));
    if (code == WEFT_OK) {
        thread_at(writer, *thread_id)->host_id = info->host_id;
        atomic_store_explicit(&writer->n_threads, *thread_id + 1, memory_order_release);
    }
    (void)pthread_mutex_unlock(&writer->lock);
    return code;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static struct weft_builder *builder_take(struct weft_writer *writer)
{
    (void)pthread_mutex_lock(&writer->lock);
    struct weft_builder *builder = writer->free_builders;
    if (builder)
        writer->free_builders = builder->next;
    (void)pthread_mutex_unlock(&writer->lock);
    return builder ? builder : weft_builder_new(writer->block_rows);
}

static void builder_give(struct weft_writer *writer, struct weft_builder *builder)
{
    (void)pthread_mutex_lock(&writer->lock);
    builder->next = writer->free_builders;
    writer->free_builders = builder;
    (void)pthread_mutex_unlock(&writer->lock);
}

static struct weft_block_encoder *encoder_take(struct weft_writer *writer)
{
    struct weft_block_encoder *encoder = NULL;
    (void)pthread_mutex_lock(&writer->lock);
    if (writer->free_encoders.n > 0)
        encoder = writer->free_encoders.items[--writer->free_encoders.n];
    (void)pthread_mutex_unlock(&writer->lock);
    return encoder ? encoder : weft_block_encoder_new();
}

static void encoder_give(struct weft_writer *writer, struct weft_block_encoder *encoder)
{
    (void)pthread_mutex_lock(&writer->lock);
    struct weft_block_encoder **place = WEFT_VEC_PUSH(&writer->free_encoders);
    if (place)
        *place = encoder;
    (void)pthread_mutex_unlock(&writer->lock);
    if (!place)
        weft_block_encoder_free(encoder);
}

static enum weft_code functions_seen(struct weft_writer *writer, const struct weft_builder *builder,
                                     struct weft_err *err)
{
    (void)pthread_mutex_lock(&writer->lock);
    enum weft_code code =
        weft_catalog_seen(writer->catalog, builder->rows.keys, builder->head.n_functions, err);
    WEFT_THEN(code, weft_catalog_seen(writer->catalog, builder->cut_keys.items, builder->cut_keys.n,
                                      err));
    (void)pthread_mutex_unlock(&writer->lock);
    return code;
}

/* The block's contexts, and what its levels of detail need, before encoding sorts its dictionary.
 */
static bool rows_walk(const struct weft_writer *writer, struct weft_builder *builder,
                      struct weft_lod_walk *lod)
{
    const struct weft_block_rows *rows = &builder->rows;
    struct weft_bytes *contexts = &builder->rows.contexts;
    contexts->n = 0;
    if (rows->pops_ext.has_failed || rows->gap_ext.has_failed || rows->tail_ext.has_failed)
        return false; /* the walk would read what is not there */
    struct weft_context_walk *walk = &builder->walk;
    const size_t depth = builder->hot.depth;
    if (!weft_lod_walk_start(lod, &builder->head, walk->open.n, writer->cell_rows) ||
        !weft_context_walk_block(walk, &builder->head, &builder->rows, builder->cut_keys.items,
                                 lod) ||
        !weft_lod_thread_walked(&builder->lod, lod, &builder->head, rows->keys, depth) ||
        !weft_vec_reserve(&walk->open.items, &walk->open.cap, depth, sizeof *walk->open.items))
        return false;
    for (size_t i = 0; i < depth; i++) /* what the next block begins with */
        walk->open.items[i] = builder->stack[i].key;
    walk->open.n = depth;
    return !walk->is_known || weft_contexts_put(&walk->tree, contexts);
}

static enum weft_code block_flush(void *context, struct weft_builder *builder, struct weft_err *err)
{
    struct weft_writer *writer = context;
    enum weft_code code = weft_builder_finish_block(builder, err);
    if (code != WEFT_OK)
        return code;
    struct weft_block_encoder *encoder = encoder_take(writer);
    if (!encoder)
        return weft_no_memory(err, "a trace writer");
    size_t head_bytes;
    encoder->chunk.n = 0;
    code =
        rows_walk(writer, builder, encoder->lod) ? WEFT_OK : weft_no_memory(err, "a trace writer");
    WEFT_THEN(code, weft_block_encode(encoder, &builder->head, &builder->rows, &encoder->chunk,
                                      &head_bytes, err));
    if (code == WEFT_OK &&
        !weft_context_groups_add(&builder->groups,
                                 builder->walk.is_known ? &builder->walk.tree : NULL,
                                 builder->cut_keys.items, builder->cut_keys.n, encoder->chunk.n))
        code = weft_no_memory(err, "a trace writer");
    if (code == WEFT_OK &&
        !weft_lod_block_finish(&builder->lod, encoder->lod, &builder->head, encoder->rank,
                               builder->rows.keys, encoder->columns, &encoder->chunk))
        code = weft_no_memory(err, "a trace writer");
    WEFT_THEN(code, functions_seen(writer, builder, err));
    WEFT_THEN(code, weft_commit_block(writer->commit, builder->head.thread_id, &encoder->chunk,
                                      head_bytes, err));
    encoder_give(writer, encoder);
    weft_builder_next_block(builder);
    return code;
}

static enum weft_code sink_calls(struct weft_sink *sink, uint32_t thread_id,
                                 const struct weft_call_event *events, size_t n_events,
                                 struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    struct writer_thread *thread;
    enum weft_code code = thread_find(writer, thread_id, &thread, err);
    WEFT_THEN(code, begin_once(writer, err));
    if (code != WEFT_OK || n_events == 0)
        return code;
    if (!thread->builder) {
        thread->builder = builder_take(writer);
        if (!thread->builder)
            return weft_no_memory(err, "a trace writer");
        weft_builder_start(thread->builder, thread_id);
    }
    const struct weft_builder_flush flush = { .flush = block_flush, .context = writer };
    return weft_builder_calls(thread->builder, events, n_events, &flush, err);
}

/* ---- events that are no calls --------------------------------------------------------------- */

static struct weft_event_builder *event_builder_take(struct weft_writer *writer)
{
    (void)pthread_mutex_lock(&writer->lock);
    struct weft_event_builder *builder = writer->free_event_builders;
    if (builder)
        writer->free_event_builders = builder->next;
    (void)pthread_mutex_unlock(&writer->lock);
    return builder ? builder : weft_event_builder_new(writer->block_events);
}

static void event_builder_give(struct weft_writer *writer, struct weft_event_builder *builder)
{
    (void)pthread_mutex_lock(&writer->lock);
    builder->next = writer->free_event_builders;
    writer->free_event_builders = builder;
    (void)pthread_mutex_unlock(&writer->lock);
}

static enum weft_code events_flush(void *context, struct weft_event_builder *builder,
                                   struct weft_err *err)
{
    struct weft_writer *writer = context;
    struct weft_block_encoder *encoder = encoder_take(writer);
    if (!encoder)
        return weft_no_memory(err, "a trace writer");
    size_t head_bytes;
    encoder->chunk.n = 0;
    enum weft_code code = weft_event_encode(encoder, &builder->head, builder->columns,
                                            &encoder->chunk, &head_bytes, err);
    WEFT_THEN(code, weft_commit_block(writer->commit, builder->head.thread_id, &encoder->chunk,
                                      head_bytes, err));
    encoder_give(writer, encoder);
    weft_event_builder_next_block(builder);
    return code;
}

/* An event's kind and the thread it points to. */
static enum weft_code event_check(struct weft_writer *writer, const struct weft_event *event,
                                  struct weft_err *err)
{
    if ((unsigned)event->kind >= WEFT_EVENT_KINDS)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected an event kind, found %u",
                         (unsigned)event->kind);
    if (event->next_thread_id != WEFT_ID_NONE &&
        event->next_thread_id >= atomic_load_explicit(&writer->n_threads, memory_order_acquire))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "an event points to thread %" PRIu32 ", which was never announced",
                         event->next_thread_id);
    return WEFT_OK;
}

static enum weft_code sink_events(struct weft_sink *sink, uint32_t thread_id,
                                  const struct weft_event *events, size_t n_events,
                                  struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    struct writer_thread *thread;
    enum weft_code code = thread_find(writer, thread_id, &thread, err);
    WEFT_THEN(code, begin_once(writer, err));
    if (code != WEFT_OK || n_events == 0)
        return code;
    if (!thread->events) {
        thread->events = event_builder_take(writer);
        if (!thread->events)
            return weft_no_memory(err, "a trace writer");
        weft_event_builder_start(thread->events, thread_id);
    }
    const struct weft_event_flush flush = { .flush = events_flush, .context = writer };
    const uint64_t row = thread->builder ? weft_builder_last_row(thread->builder) : UINT64_MAX;
    for (size_t i = 0; i < n_events && code == WEFT_OK; i++) {
        code = event_check(writer, &events[i], err);
        WEFT_THEN(code, weft_event_builder_put(thread->events, &events[i], row, &flush, err));
        const uint64_t end_ns = events[i].time_ns + events[i].duration_ns;
        if (code == WEFT_OK && end_ns > thread->last_ns)
            thread->last_ns = end_ns;
    }
    WEFT_THEN(code, weft_arrivals_take(writer->arrivals, thread_id, thread->host_id,
                                       &thread->interrupts, events, n_events, err));
    return code;
}

/* ---- the end of a thread -------------------------------------------------------------------- */

static enum weft_code note_put(struct weft_writer *writer, uint32_t thread_id,
                               enum weft_note_kind kind, uint64_t count, struct weft_str detail,
                               struct weft_err *err)
{
    if (count == 0)
        return WEFT_OK;
    const struct weft_note note = {
        .kind = kind,
        .count = count,
        .thread_id = thread_id,
        .at_off = WEFT_NO_OFFSET,
        .detail = detail,
    };
    return sink_note(&writer->sink, &note, err);
}

/* What balancing did to a thread. */
static enum weft_code balance_notes(struct weft_writer *writer, const struct weft_builder *builder,
                                    struct weft_err *err)
{
    const struct weft_builder_counts *counts = &builder->counts;
    const struct {
        enum weft_note_kind kind;
        uint64_t count;
        const char *detail;
    } rows[] = {
        { WEFT_NOTE_EXIT_WITHOUT_ENTRY_CUT, builder->n_cut, "" },
        { WEFT_NOTE_EXIT_IGNORED, counts->n_ignored, "" },
        { WEFT_NOTE_MISSING_EXIT, counts->n_repaired, "" },
        { WEFT_NOTE_OPEN_AT_END, builder->hot.depth + counts->n_cut_end, "" },
        { WEFT_NOTE_TIME_BACKWARD, counts->n_backward, "" },
        { WEFT_NOTE_DEPTH_LIMIT, counts->n_too_deep, "" },
        { WEFT_NOTE_NOT_KEPT, counts->n_args_dropped, "argument" },
    };
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && code == WEFT_OK; i++)
        code = note_put(writer, builder->head.thread_id, rows[i].kind, rows[i].count,
                        weft_str_of(rows[i].detail), err);
    return code;
}

static enum weft_code builder_end(struct weft_writer *writer, struct writer_thread *thread,
                                  struct weft_err *err)
{
    struct weft_builder *builder = thread->builder;
    enum weft_code code = balance_notes(writer, builder, err);
    if (code == WEFT_OK && weft_builder_has_block(builder))
        code = block_flush(writer, builder, err);
    if (builder->hot.clock_ns > thread->last_ns)
        thread->last_ns = builder->hot.clock_ns;
    thread->calls = builder->counts.calls;
    thread->cut_calls = builder->n_cut;
    thread->groups = builder->groups.entries;
    builder->groups.entries = (struct weft_bytes){ 0 };
    thread->levels = builder->lod.entries;
    builder->lod.entries = (struct weft_bytes){ 0 };
    thread->builder = NULL;
    builder_give(writer, builder);
    return code;
}

static enum weft_code event_builder_end(struct weft_writer *writer, struct writer_thread *thread,
                                        struct weft_err *err)
{
    struct weft_event_builder *builder = thread->events;
    const struct weft_event_drops *drops = &builder->drops;
    const uint32_t thread_id = builder->head.thread_id;
    enum weft_code code = note_put(writer, thread_id, WEFT_NOTE_NOT_KEPT, drops->n_args,
                                   WEFT_STR("arguments of a dropped call"), err);
    WEFT_THEN(code, note_put(writer, thread_id, WEFT_NOTE_NOT_KEPT, drops->n_payloads,
                             WEFT_STR("payload over 1 MiB"), err));
    WEFT_THEN(code, note_put(writer, thread_id, WEFT_NOTE_NOT_KEPT, drops->n_names,
                             WEFT_STR("end of a name over 64 KiB"), err));
    if (code == WEFT_OK && weft_event_is_small(&builder->head, builder->columns)) {
        if (builder->head.n_events > 0)
            code = weft_commit_small_block(writer->commit, &builder->head, builder->columns, err);
        weft_event_builder_next_block(builder);
    } else if (code == WEFT_OK) {
        code = events_flush(writer, builder, err);
    }
    thread->n_events = builder->n_events;
    thread->events = NULL;
    event_builder_give(writer, builder);
    return code;
}

static enum weft_code sink_thread_end(struct weft_sink *sink, uint32_t thread_id, uint64_t last_ns,
                                      struct weft_err *err)
{
    struct weft_writer *writer = writer_of(sink);
    struct writer_thread *thread;
    WEFT_TRY(thread_find(writer, thread_id, &thread, err));
    if (last_ns > thread->last_ns)
        thread->last_ns = last_ns;
    enum weft_code code = begin_once(writer, err);
    if (code == WEFT_OK && thread->builder)
        code = builder_end(writer, thread, err);
    if (code == WEFT_OK && thread->events)
        code = event_builder_end(writer, thread, err);
    if (code == WEFT_OK && thread->last_ns > WEFT_FORMAT_MAX_NS)
        code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "a last event at %" PRIu64 " ns: times above 2^63 ns cannot be stored",
                         thread->last_ns);
    thread->is_ended = true;
    weft_interrupts_free(thread->interrupts);
    thread->interrupts = NULL;
    WEFT_THEN(code, weft_commit_thread_end(writer->commit, thread_id, thread->last_ns, err));
    return code;
}

static const struct weft_sink_ops sink_ops = {
    .begin = sink_begin,
    .clock = sink_clock,
    .function = sink_function,
    .thread = sink_thread,
    .calls = sink_calls,
    .events = sink_events,
    .thread_end = sink_thread_end,
    .note = sink_note,
    .object = sink_object,
    .library = sink_library,
    .process = sink_process,
};

/* ---- open and commit ------------------------------------------------------------------------ */

static void writer_free(struct weft_writer *writer)
{
    const uint32_t n_threads = atomic_load(&writer->n_threads);
    for (uint32_t i = 0; i < n_threads; i++) {
        struct writer_thread *thread = thread_at(writer, i);
        weft_builder_free(thread->builder);
        weft_event_builder_free(thread->events);
        weft_interrupts_free(thread->interrupts);
        weft_bytes_fini(&thread->groups);
        weft_bytes_fini(&thread->levels);
    }
    for (size_t i = 0; i < MAX_PAGES; i++)
        free(atomic_load(&writer->pages[i]));
    while (writer->free_builders) {
        struct weft_builder *next = writer->free_builders->next;
        weft_builder_free(writer->free_builders);
        writer->free_builders = next;
    }
    while (writer->free_event_builders) {
        struct weft_event_builder *next = writer->free_event_builders->next;
        weft_event_builder_free(writer->free_event_builders);
        writer->free_event_builders = next;
    }
    for (size_t i = 0; i < writer->free_encoders.n; i++)
        weft_block_encoder_free(writer->free_encoders.items[i]);
    WEFT_VEC_FINI(&writer->free_encoders);
    weft_bytes_fini(&writer->payload);
    weft_catalog_free(writer->catalog);
    weft_arrivals_free(writer->arrivals);
    (void)pthread_mutex_destroy(&writer->lock);
    free(writer);
}

/* What blocks that wait, and records that are sorted, may take each; 0: the default. */
static uint64_t share_of(uint64_t memory_bytes)
{
    return memory_bytes / MEMORY_SHARE < MOST_SHARE_BYTES ? memory_bytes / MEMORY_SHARE
                                                          : MOST_SHARE_BYTES;
}

enum weft_code weft_writer_open(const char *path, const struct weft_writer_opts *opts,
                                struct weft_writer **writer_out, struct weft_err *err)
{
    if (opts->block_rows > WEFT_FORMAT_MAX_BLOCK_ROWS)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected at most %d rows a block",
                         WEFT_FORMAT_MAX_BLOCK_ROWS);
    if (opts->block_events > WEFT_FORMAT_MAX_BLOCK_EVENTS)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected at most %d events a block",
                         WEFT_FORMAT_MAX_BLOCK_EVENTS);
    struct weft_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return weft_no_memory(err, "a trace writer");
    (void)pthread_mutex_init(&writer->lock, NULL);
    writer->sink.ops = &sink_ops;
    writer->block_rows = opts->block_rows ? opts->block_rows : WEFT_FORMAT_BLOCK_ROWS;
    writer->cell_rows = opts->cell_rows ? opts->cell_rows : WEFT_LOD_CELL_ROWS;
    writer->block_events = opts->block_events ? opts->block_events : WEFT_FORMAT_BLOCK_EVENTS;
    writer->catalog =
        weft_catalog_new(weft_str_of(opts->source_name ? opts->source_name : ""), opts->bytes_in);
    writer->arrivals = weft_arrivals_new((size_t)share_of(opts->memory_bytes));
    enum weft_code code =
        writer->catalog && writer->arrivals ? WEFT_OK : weft_no_memory(err, "a trace writer");
    WEFT_THEN(code, weft_commit_open(path,
                                     opts->backlog_limit_bytes ? opts->backlog_limit_bytes
                                                               : share_of(opts->memory_bytes),
                                     &writer->commit, err));
    if (code != WEFT_OK) {
        writer_free(writer);
        return code;
    }
    weft_commit_begin(writer->commit, false, before_block, writer);
    *writer_out = writer;
    return WEFT_OK;
}

struct weft_sink *weft_writer_sink(struct weft_writer *writer)
{
    return &writer->sink;
}

void weft_writer_abort(struct weft_writer *writer)
{
    if (!writer)
        return;
    weft_commit_abort(writer->commit);
    writer_free(writer);
}

static enum weft_code threads_end(struct weft_writer *writer, struct weft_writer_totals *totals,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t i = 0; i < totals->n_threads && code == WEFT_OK; i++) {
        struct writer_thread *thread = thread_at(writer, i);
        if (!thread->is_ended)
            code = sink_thread_end(&writer->sink, i, 0, err);
        totals->calls += thread->calls;
        totals->cut_calls += thread->cut_calls;
        totals->events += thread->n_events;
        if (thread->last_ns > totals->duration_ns)
            totals->duration_ns = thread->last_ns;
    }
    return code;
}

/* A chunk of one string of bytes a thread: contexts, levels of detail. Threads without have none.
 */
static enum weft_code threads_write(struct weft_writer *writer, uint32_t n_threads, uint32_t id,
                                    struct weft_err *err)
{
    writer->payload.n = 0;
    for (uint32_t i = 0; i < n_threads; i++) {
        struct writer_thread *thread = thread_at(writer, i);
        struct weft_bytes *bytes = id == WEFT_CHUNK_CONTEXTS ? &thread->groups : &thread->levels;
        if (bytes->n == 0)
            continue;
        weft_bytes_put_varint(&writer->payload, i);
        weft_bytes_put_varint(&writer->payload, bytes->n);
        weft_bytes_put(&writer->payload, bytes->items, bytes->n);
        weft_bytes_fini(bytes);
    }
    return payload_append(writer, id, 0, err);
}

/* The metadata that was not written yet, and the notes. */
static enum weft_code final_metadata(struct weft_writer *writer, struct weft_writer_totals *totals,
                                     struct weft_err *err)
{
    uint64_t n_unnamed;
    enum weft_code code =
        weft_catalog_complete(writer->catalog, &n_unnamed, &totals->n_functions, err);
    WEFT_THEN(code, note_put(writer, WEFT_ID_NONE, WEFT_NOTE_UNNAMED_FUNCTION, n_unnamed,
                             WEFT_STR(""), err));
    WEFT_THEN(code, announce(writer, (uint32_t)totals->n_threads, err));
    weft_catalog_put_foreign(writer->catalog, &writer->payload);
    WEFT_THEN(code, payload_append(writer, WEFT_CHUNK_FOREIGN, 0, err));
    weft_catalog_put_objects(writer->catalog, &writer->payload);
    WEFT_THEN(code, payload_append(writer, WEFT_CHUNK_OBJECTS, 0, err));
    weft_catalog_put_libraries(writer->catalog, &writer->payload);
    WEFT_THEN(code, payload_append(writer, WEFT_CHUNK_LIBRARIES, 0, err));
    weft_catalog_put_ledger(writer->catalog, &writer->payload);
    WEFT_THEN(code, payload_append(writer, WEFT_CHUNK_LEDGER, 0, err));
    WEFT_THEN(code, weft_catalog_put_notes(writer->catalog, &writer->payload, err));
    WEFT_THEN(code, payload_append(writer, WEFT_CHUNK_NOTES, WEFT_CHUNK_REQUIRED, err));
    WEFT_THEN(code, threads_write(writer, (uint32_t)totals->n_threads, WEFT_CHUNK_CONTEXTS, err));
    WEFT_THEN(code, threads_write(writer, (uint32_t)totals->n_threads, WEFT_CHUNK_LEVELS, err));
    WEFT_THEN(code, weft_arrivals_write(writer->arrivals, (uint32_t)totals->n_threads,
                                        writer->block_events, writer->commit, err));
    return code;
}

enum weft_code weft_writer_commit(struct weft_writer *writer, struct weft_writer_totals *totals_out,
                                  struct weft_err *err)
{
    struct weft_writer_totals totals = { .n_threads = atomic_load(&writer->n_threads) };
    enum weft_code code = threads_end(writer, &totals, err);
    WEFT_THEN(code, final_metadata(writer, &totals, err));
    if (code != WEFT_OK) {
        weft_writer_abort(writer);
        return code;
    }
    code = weft_commit_finish(writer->commit, (uint32_t)totals.n_threads, &totals.bytes_out, err);
    writer_free(writer);
    if (code == WEFT_OK && totals_out)
        *totals_out = totals;
    return code;
}
