/* SPDX-License-Identifier: MIT
 *
 * The only place that writes to the output file once it is open. Blocks of threads that come later
 * in the order wait in lists, in memory up to a limit, then in an unlinked file. The index of
 * blocks grows with each block and is written at the end, before the directory and the footer.
 */
#include "store/commit.h"

#include "base/file.h"
#include "store/chunk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

enum { DEFAULT_BACKLOG_BYTES = 64 << 20 };

/* A finished block that waits until its thread is next. */
struct waiting {
    struct waiting *next;
    uint8_t *bytes; /* NULL: in the spill file at spill_off */
    uint64_t spill_off;
    size_t n_bytes;
    size_t head_bytes; /* 0: a small block of events, packed */
};

/* What an index says about a thread. */
struct commit_index {
    struct weft_bytes entries; /* encoded */
    uint64_t n_blocks;
    uint64_t previous_off; /* of its last chunk */
};

struct commit_thread {
    struct commit_index streams[WEFT_COMMIT_STREAMS];
    uint64_t last_ns;
    struct waiting *first, *last;
    bool is_ended;
};

struct commit_processor {
    uint32_t host_id;
    int32_t cpu;
};

struct directory_entry {
    uint32_t id;
    uint64_t off, n_bytes;
};

struct weft_commit {
    pthread_mutex_t lock;
    struct weft_out *out;
    struct weft_column_encoder *encoder;
    struct weft_bytes scratch; /* a chunk being built */
    struct {
        struct commit_thread *items;
        size_t n, cap;
    } threads;
    struct {
        struct directory_entry *items;
        size_t n, cap;
    } directory;
    struct {
        struct commit_processor *items;
        size_t n, cap;
    } processors;
    struct weft_block_encoder *shared_encoder; /* NULL: not needed yet */
    struct weft_event_group groups[WEFT_COMMIT_STREAMS];
    weft_commit_before_fn before;
    void *before_context;
    bool is_parallel;
    uint32_t turn; /* thread whose blocks are written at once */
    uint64_t backlog_bytes, backlog_limit_bytes;
    int spill_fd; /* -1: none yet */
    uint64_t spill_bytes;
    char *path;
};

static enum weft_code header_write(struct weft_commit *commit, struct weft_err *err)
{
    struct weft_disk_header header = { 0 };
    memcpy(header.magic, WEFT_FORMAT_MAGIC, sizeof header.magic);
    weft_store_u16(header.version, WEFT_FORMAT_VERSION);
    weft_store_u16(header.header_bytes, sizeof header);
    weft_store_u64(header.checksum,
                   weft_checksum(&header, offsetof(struct weft_disk_header, checksum)));
    return weft_out_write(commit->out, &header, sizeof header, err);
}

static void waiting_free(struct waiting *waiting)
{
    while (waiting) {
        struct waiting *next = waiting->next;
        free(waiting->bytes);
        free(waiting);
        waiting = next;
    }
}

static void commit_free(struct weft_commit *commit)
{
    for (size_t i = 0; i < commit->threads.n; i++) {
        for (int k = 0; k < WEFT_COMMIT_STREAMS; k++)
            weft_bytes_fini(&commit->threads.items[i].streams[k].entries);
        waiting_free(commit->threads.items[i].first);
    }
    WEFT_VEC_FINI(&commit->threads);
    WEFT_VEC_FINI(&commit->directory);
    WEFT_VEC_FINI(&commit->processors);
    for (int k = 0; k < WEFT_COMMIT_STREAMS; k++)
        weft_event_group_fini(&commit->groups[k]);
    weft_block_encoder_free(commit->shared_encoder);
    weft_bytes_fini(&commit->scratch);
    weft_column_encoder_free(commit->encoder);
    if (commit->spill_fd >= 0)
        (void)close(commit->spill_fd);
    (void)pthread_mutex_destroy(&commit->lock);
    free(commit->path);
    free(commit);
}

void weft_commit_abort(struct weft_commit *commit)
{
    if (!commit)
        return;
    weft_out_abort(commit->out);
    commit_free(commit);
}

enum weft_code weft_commit_open(const char *path, uint64_t backlog_limit_bytes,
                                struct weft_commit **commit_out, struct weft_err *err)
{
    struct weft_commit *commit = calloc(1, sizeof *commit);
    if (!commit)
        return weft_no_memory(err, "the index of blocks");
    commit->spill_fd = -1;
    commit->backlog_limit_bytes = backlog_limit_bytes ? backlog_limit_bytes : DEFAULT_BACKLOG_BYTES;
    (void)pthread_mutex_init(&commit->lock, NULL);
    commit->path = strdup(path);
    commit->encoder = weft_column_encoder_new();
    enum weft_code code =
        commit->path && commit->encoder ? WEFT_OK : weft_no_memory(err, "the index of blocks");
    WEFT_THEN(code, weft_out_open(path, WEFT_ACCESS_PRIVATE, &commit->out, err));
    WEFT_THEN(code, header_write(commit, err));
    if (code != WEFT_OK) {
        weft_commit_abort(commit);
        return code;
    }
    *commit_out = commit;
    return WEFT_OK;
}

void weft_commit_begin(struct weft_commit *commit, bool is_parallel, weft_commit_before_fn before,
                       void *context)
{
    commit->is_parallel = is_parallel;
    commit->before = before;
    commit->before_context = context;
}

enum weft_code weft_commit_append(struct weft_commit *commit, uint32_t id, uint8_t flags,
                                  const struct weft_bytes *payload, struct weft_err *err)
{
    struct directory_entry *entry = WEFT_VEC_PUSH(&commit->directory);
    commit->scratch.n = 0;
    const bool is_in_place =
        id == WEFT_CHUNK_CONTEXTS || id == WEFT_CHUNK_LEVELS; /* readers take parts of it */
    weft_chunk_build(id, flags, payload, is_in_place ? NULL : commit->encoder, &commit->scratch);
    if (!entry || commit->scratch.has_failed)
        return weft_no_memory(err, "the index of blocks");
    struct weft_disk_chunk header;
    memcpy(&header, commit->scratch.items, sizeof header);
    *entry = (struct directory_entry){
        .id = id,
        .off = weft_out_offset(commit->out),
        .n_bytes = sizeof header + weft_load_u64(header.stored_bytes),
    };
    return weft_out_write(commit->out, commit->scratch.items, commit->scratch.n, err);
}

enum weft_code weft_commit_locked(struct weft_commit *commit, atomic_bool *is_done,
                                  enum weft_code (*fn)(void *context, struct weft_err *err),
                                  void *context, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    (void)pthread_mutex_lock(&commit->lock);
    if (!atomic_load_explicit(is_done, memory_order_relaxed)) {
        code = fn(context, err);
        atomic_store_explicit(is_done, true, memory_order_release);
    }
    (void)pthread_mutex_unlock(&commit->lock);
    return code;
}

/* The state of `thread_id`, created on first use; NULL without memory. */
static struct commit_thread *thread_get(struct weft_commit *commit, uint32_t thread_id)
{
    while (commit->threads.n <= thread_id)
        if (!WEFT_VEC_PUSH(&commit->threads))
            return NULL;
    return &commit->threads.items[thread_id];
}

/* An entry of the index: place of the chunk, and a copy of the head. */
static enum weft_code index_put(struct weft_commit *commit, uint32_t thread_id,
                                enum weft_commit_stream stream, uint64_t chunk_bytes,
                                const uint8_t *head, size_t head_bytes, struct weft_err *err)
{
    struct commit_thread *thread = thread_get(commit, thread_id);
    if (!thread)
        return weft_no_memory(err, "the index of blocks");
    struct commit_index *index = &thread->streams[stream];
    const uint64_t off = weft_out_offset(commit->out);
    weft_bytes_put_varint(&index->entries, (off - index->previous_off) / 8);
    weft_bytes_put_varint(&index->entries, chunk_bytes);
    weft_bytes_put_varint(&index->entries, head_bytes);
    weft_bytes_put(&index->entries, head, head_bytes);
    if (index->entries.has_failed)
        return weft_no_memory(err, "the index of blocks");
    index->previous_off = off;
    index->n_blocks++;
    return WEFT_OK;
}

static uint64_t chunk_bytes_of(const uint8_t *bytes)
{
    struct weft_disk_chunk header;
    memcpy(&header, bytes, sizeof header);
    return sizeof header + weft_load_u64(header.stored_bytes);
}

static enum weft_code block_write(struct weft_commit *commit, uint32_t thread_id,
                                  const uint8_t *bytes, size_t n_bytes, size_t head_bytes,
                                  struct weft_err *err)
{
    WEFT_TRY(commit->before(commit->before_context, thread_id, err));
    const uint32_t id = weft_load_u32(bytes + offsetof(struct weft_disk_chunk, id));
    enum weft_code code = index_put(
        commit, thread_id, id == WEFT_CHUNK_EVENTS ? WEFT_COMMIT_EVENTS : WEFT_COMMIT_CALLS,
        chunk_bytes_of(bytes), bytes + sizeof(struct weft_disk_chunk), head_bytes, err);
    return code == WEFT_OK ? weft_out_write(commit->out, bytes, n_bytes, err) : code;
}

/* ---- blocks that share a chunk -------------------------------------------------------------- */

static enum weft_code group_index(struct weft_commit *commit, enum weft_commit_stream stream,
                                  const struct weft_bytes *chunk, struct weft_err *err)
{
    const struct weft_event_group *group = &commit->groups[stream];
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < group->runs.n && code == WEFT_OK && stream == WEFT_COMMIT_EVENTS; i++)
        code = commit->before(commit->before_context, group->runs.items[i].thread_id, err);
    for (size_t i = 0; i < group->runs.n && code == WEFT_OK; i++) {
        const struct weft_event_run *run = &group->runs.items[i];
        code = index_put(commit, run->thread_id, stream, chunk_bytes_of(chunk->items),
                         group->heads.items + run->head_off, run->head_bytes, err);
    }
    return code;
}

/* Writes what the group has, if anything. */
static enum weft_code group_flush(struct weft_commit *commit, enum weft_commit_stream stream,
                                  struct weft_err *err)
{
    struct weft_event_group *group = &commit->groups[stream];
    if (group->runs.n == 0)
        return WEFT_OK;
    if (!commit->shared_encoder)
        commit->shared_encoder = weft_block_encoder_new();
    if (!commit->shared_encoder)
        return weft_no_memory(err, "the index of blocks");
    struct weft_bytes *chunk = &commit->shared_encoder->chunk;
    const bool is_events = stream == WEFT_COMMIT_EVENTS;
    chunk->n = 0;
    enum weft_code code = weft_event_encode_shared(
        commit->shared_encoder, is_events ? WEFT_CHUNK_SHARED_EVENTS : WEFT_CHUNK_ARRIVALS,
        group->runs.n, &group->heads, &group->builder->head, group->builder->columns, chunk, err);
    WEFT_THEN(code, group_index(commit, stream, chunk, err));
    WEFT_THEN(code, weft_out_write(commit->out, chunk->items, chunk->n, err));
    weft_event_group_reset(group);
    return code;
}

/* A block that is not small gets a chunk of its own. */
static enum weft_code group_put(struct weft_commit *commit, enum weft_commit_stream stream,
                                const struct weft_event_head *head,
                                const struct weft_bytes *columns, struct weft_err *err)
{
    struct weft_event_group *group = &commit->groups[stream];
    const bool is_small = weft_event_is_small(head, columns);
    enum weft_code code = WEFT_OK;
    if (!is_small || weft_event_group_is_full(group, head, columns))
        code = group_flush(commit, stream, err);
    WEFT_THEN(code, weft_event_group_add(group, head, columns, err));
    return code == WEFT_OK && !is_small ? group_flush(commit, stream, err) : code;
}

/* ---- blocks that wait ----------------------------------------------------------------------- */

static enum weft_code spill_write(struct weft_commit *commit, const uint8_t *bytes, size_t n_bytes,
                                  struct weft_err *err)
{
    /* In the folder of the output, where there is room for the output, too. */
    if (commit->spill_fd < 0 && weft_temp_open(commit->path, &commit->spill_fd, err) != WEFT_OK)
        return WEFT_E_IO;
    while (n_bytes > 0) {
        const ssize_t done = pwrite(commit->spill_fd, bytes, n_bytes, (off_t)commit->spill_bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return weft_fail_errno(err, done < 0 ? errno : ENOSPC,
                                   "writing waiting blocks to a temporary file");
        bytes += done;
        n_bytes -= (size_t)done;
        commit->spill_bytes += (uint64_t)done;
    }
    return WEFT_OK;
}

static enum weft_code spill_read(struct weft_commit *commit, uint64_t off, uint8_t *bytes,
                                 size_t n_bytes, struct weft_err *err)
{
    while (n_bytes > 0) {
        const ssize_t done = pread(commit->spill_fd, bytes, n_bytes, (off_t)off);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return weft_fail_errno(err, done < 0 ? errno : EIO,
                                   "reading waiting blocks from a temporary file");
        bytes += done;
        n_bytes -= (size_t)done;
        off += (uint64_t)done;
    }
    return WEFT_OK;
}

static enum weft_code block_wait(struct weft_commit *commit, struct commit_thread *thread,
                                 const struct weft_bytes *bytes, size_t head_bytes,
                                 struct weft_err *err)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting)
        return weft_no_memory(err, "the index of blocks");
    waiting->n_bytes = bytes->n;
    waiting->head_bytes = head_bytes;
    enum weft_code code = WEFT_OK;
    if (commit->backlog_bytes + bytes->n <= commit->backlog_limit_bytes)
        waiting->bytes = malloc(bytes->n);
    if (waiting->bytes) {
        memcpy(waiting->bytes, bytes->items, bytes->n);
        commit->backlog_bytes += bytes->n;
    } else {
        waiting->spill_off = commit->spill_bytes;
        code = spill_write(commit, bytes->items, bytes->n, err);
    }
    if (code != WEFT_OK) {
        free(waiting);
        return code;
    }
    *(thread->last ? &thread->last->next : &thread->first) = waiting;
    thread->last = waiting;
    return WEFT_OK;
}

enum weft_code weft_commit_small_block(struct weft_commit *commit,
                                       const struct weft_event_head *head,
                                       const struct weft_bytes *columns, struct weft_err *err)
{
    (void)pthread_mutex_lock(&commit->lock);
    struct commit_thread *thread = thread_get(commit, head->thread_id);
    enum weft_code code;
    if (!thread) {
        code = weft_no_memory(err, "the index of blocks");
    } else if (commit->is_parallel && head->thread_id != commit->turn) {
        struct weft_bytes packed = { 0 };
        weft_event_pack(head, columns, &packed);
        code = packed.has_failed ? weft_no_memory(err, "the index of blocks")
                                 : block_wait(commit, thread, &packed, 0, err);
        weft_bytes_fini(&packed);
    } else {
        code = group_put(commit, WEFT_COMMIT_EVENTS, head, columns, err);
    }
    (void)pthread_mutex_unlock(&commit->lock);
    return code;
}

enum weft_code weft_commit_arrivals(struct weft_commit *commit, const struct weft_event_head *head,
                                    const struct weft_bytes *columns, struct weft_err *err)
{
    return group_put(commit, WEFT_COMMIT_ARRIVALS, head, columns, err);
}

enum weft_code weft_commit_processor(struct weft_commit *commit, uint32_t host_id, int32_t cpu,
                                     struct weft_err *err)
{
    struct commit_processor *processor = WEFT_VEC_PUSH(&commit->processors);
    if (!processor)
        return weft_no_memory(err, "the index of blocks");
    *processor = (struct commit_processor){ .host_id = host_id, .cpu = cpu };
    return WEFT_OK;
}

enum weft_code weft_commit_block(struct weft_commit *commit, uint32_t thread_id,
                                 const struct weft_bytes *bytes, size_t head_bytes,
                                 struct weft_err *err)
{
    (void)pthread_mutex_lock(&commit->lock);
    struct commit_thread *thread = thread_get(commit, thread_id);
    enum weft_code code;
    if (!thread)
        code = weft_no_memory(err, "the index of blocks");
    else if (commit->is_parallel && thread_id != commit->turn)
        code = block_wait(commit, thread, bytes, head_bytes, err);
    else
        code = block_write(commit, thread_id, bytes->items, bytes->n, head_bytes, err);
    (void)pthread_mutex_unlock(&commit->lock);
    return code;
}

/* Bytes that waited in the temporary file come back into memory. */
static enum weft_code waiting_load(struct weft_commit *commit, struct waiting *waiting,
                                   struct weft_err *err)
{
    if (waiting->bytes) {
        commit->backlog_bytes -= waiting->n_bytes;
        return WEFT_OK;
    }
    waiting->bytes = malloc(waiting->n_bytes);
    if (!waiting->bytes)
        return weft_no_memory(err, "the index of blocks");
    return spill_read(commit, waiting->spill_off, waiting->bytes, waiting->n_bytes, err);
}

static enum weft_code waiting_write(struct weft_commit *commit, uint32_t thread_id,
                                    struct waiting *waiting, struct weft_err *err)
{
    WEFT_TRY(waiting_load(commit, waiting, err));
    if (waiting->head_bytes > 0)
        return block_write(commit, thread_id, waiting->bytes, waiting->n_bytes, waiting->head_bytes,
                           err);
    struct weft_event_head head;
    struct weft_bytes columns[WEFT_EVENT_COLUMNS];
    weft_event_unpack(waiting->bytes, waiting->n_bytes, &head, columns);
    return group_put(commit, WEFT_COMMIT_EVENTS, &head, columns, err);
}

/* Writes what waits of the thread that is next. */
static enum weft_code turn_drain(struct weft_commit *commit, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && commit->turn < commit->threads.n) {
        struct commit_thread *thread = &commit->threads.items[commit->turn];
        struct waiting *waiting = thread->first;
        if (!waiting)
            break;
        thread->first = waiting->next;
        if (!thread->first)
            thread->last = NULL;
        waiting->next = NULL;
        code = waiting_write(commit, commit->turn, waiting, err);
        waiting_free(waiting);
    }
    return code;
}

enum weft_code weft_commit_thread_end(struct weft_commit *commit, uint32_t thread_id,
                                      uint64_t last_ns, struct weft_err *err)
{
    (void)pthread_mutex_lock(&commit->lock);
    struct commit_thread *thread = thread_get(commit, thread_id);
    enum weft_code code = thread ? WEFT_OK : weft_no_memory(err, "the index of blocks");
    if (thread) {
        thread->is_ended = true;
        thread->last_ns = last_ns;
    }
    while (code == WEFT_OK && commit->is_parallel && commit->turn < commit->threads.n &&
           commit->threads.items[commit->turn].is_ended) {
        commit->turn++;
        code = turn_drain(commit, err);
    }
    (void)pthread_mutex_unlock(&commit->lock);
    return code;
}

static enum weft_code index_write(struct weft_commit *commit, uint32_t n_threads,
                                  struct weft_err *err)
{
    struct weft_bytes payload = { 0 };
    weft_bytes_put_varint(&payload, n_threads);
    for (uint32_t i = 0; i < n_threads; i++) {
        const struct commit_thread *thread = &commit->threads.items[i];
        weft_bytes_put_varint(&payload, thread->last_ns);
        weft_bytes_put_varint(&payload, thread->streams[WEFT_COMMIT_CALLS].n_blocks);
        const struct weft_bytes *entries = &thread->streams[WEFT_COMMIT_CALLS].entries;
        weft_bytes_put(&payload, entries->items, entries->n);
    }
    const enum weft_code code =
        weft_commit_append(commit, WEFT_CHUNK_BLOCKS, WEFT_CHUNK_REQUIRED, &payload, err);
    weft_bytes_fini(&payload);
    return code;
}

/* The index of a stream of events, of rows below `n_rows`. Rows without blocks do not occur in it.
 */
static void event_index_put(const struct weft_commit *commit, enum weft_commit_stream stream,
                            size_t n_rows, struct weft_bytes *payload)
{
    uint64_t n_with = 0;
    size_t next = 0;
    n_rows = commit->threads.n < n_rows ? commit->threads.n : n_rows;
    for (size_t i = 0; i < n_rows; i++)
        n_with += commit->threads.items[i].streams[stream].n_blocks > 0;
    weft_bytes_put_varint(payload, n_with);
    for (size_t i = 0; i < n_rows; i++) {
        const struct commit_index *index = &commit->threads.items[i].streams[stream];
        if (index->n_blocks == 0)
            continue;
        weft_bytes_put_varint(payload, i - next);
        weft_bytes_put_varint(payload, index->n_blocks);
        weft_bytes_put(payload, index->entries.items, index->entries.n);
        next = i + 1;
    }
}

static bool has_blocks(const struct weft_commit *commit, enum weft_commit_stream stream)
{
    for (size_t i = 0; i < commit->threads.n; i++)
        if (commit->threads.items[i].streams[stream].n_blocks > 0)
            return true;
    return false;
}

/* A file without events, or without arrivals, has no such index. */
static enum weft_code event_indexes_write(struct weft_commit *commit, uint32_t n_threads,
                                          struct weft_err *err)
{
    struct weft_bytes payload = { 0 };
    enum weft_code code = WEFT_OK;
    if (has_blocks(commit, WEFT_COMMIT_EVENTS)) {
        event_index_put(commit, WEFT_COMMIT_EVENTS, n_threads, &payload);
        code =
            weft_commit_append(commit, WEFT_CHUNK_EVENT_INDEX, WEFT_CHUNK_REQUIRED, &payload, err);
    }
    if (code == WEFT_OK && has_blocks(commit, WEFT_COMMIT_ARRIVALS)) {
        payload.n = 0;
        weft_bytes_put_varint(&payload, commit->processors.n);
        for (size_t i = 0; i < commit->processors.n; i++) {
            const int64_t cpu = commit->processors.items[i].cpu;
            weft_bytes_put_varint(&payload, commit->processors.items[i].host_id);
            weft_bytes_put_varint(&payload, (uint64_t)cpu << 1 ^ (uint64_t)(cpu >> 63));
        }
        event_index_put(commit, WEFT_COMMIT_ARRIVALS, n_threads + commit->processors.n, &payload);
        code = weft_commit_append(commit, WEFT_CHUNK_ARRIVAL_INDEX, WEFT_CHUNK_REQUIRED, &payload,
                                  err);
    }
    weft_bytes_fini(&payload);
    return code;
}

static enum weft_code directory_write(struct weft_commit *commit, struct weft_err *err)
{
    struct weft_bytes payload = { 0 };
    for (size_t i = 0; i < commit->directory.n; i++) {
        const struct directory_entry *entry = &commit->directory.items[i];
        uint8_t bytes[20];
        weft_store_u32(bytes, entry->id);
        weft_store_u64(bytes + 4, entry->off);
        weft_store_u64(bytes + 12, entry->n_bytes);
        weft_bytes_put(&payload, bytes, sizeof bytes);
    }
    const enum weft_code code =
        weft_commit_append(commit, WEFT_CHUNK_DIRECTORY, WEFT_CHUNK_REQUIRED, &payload, err);
    weft_bytes_fini(&payload);
    return code;
}

static enum weft_code footer_write(struct weft_commit *commit, struct weft_err *err)
{
    const struct directory_entry *directory = &commit->directory.items[commit->directory.n - 1];
    struct weft_disk_footer footer = { 0 };
    memcpy(footer.magic, WEFT_FORMAT_FOOTER_MAGIC, sizeof footer.magic);
    weft_store_u64(footer.directory_off, directory->off);
    weft_store_u64(footer.directory_bytes, directory->n_bytes);
    weft_store_u64(footer.file_bytes, weft_out_offset(commit->out) + sizeof footer);
    weft_store_u64(footer.checksum,
                   weft_checksum(&footer, offsetof(struct weft_disk_footer, checksum)));
    return weft_out_write(commit->out, &footer, sizeof footer, err);
}

enum weft_code weft_commit_finish(struct weft_commit *commit, uint32_t n_threads,
                                  uint64_t *bytes_out, struct weft_err *err)
{
    enum weft_code code = group_flush(commit, WEFT_COMMIT_EVENTS, err);
    WEFT_THEN(code, group_flush(commit, WEFT_COMMIT_ARRIVALS, err));
    WEFT_THEN(code, index_write(commit, n_threads, err));
    WEFT_THEN(code, event_indexes_write(commit, n_threads, err));
    WEFT_THEN(code, directory_write(commit, err));
    WEFT_THEN(code, footer_write(commit, err));
    if (code != WEFT_OK) {
        weft_commit_abort(commit);
        return code;
    }
    *bytes_out = weft_out_offset(commit->out);
    code = weft_out_commit(commit->out, err);
    commit_free(commit);
    return code;
}
