/* SPDX-License-Identifier: MIT
 *
 * A slow, obvious reader of XRay logs that shares no code with the importer: drops duplicate
 * buffers, replays every thread on a stack, and prints what it found, in ticks:
 *
 *     # records=N enters=N threads=N duplicates=N unmatched=N implicit=N open=N span=N
 *     id enters closed implicit inclusive self
 *
 * `records` counts function records before duplicates are dropped, the rest after. Time from an
 * entry that never exits is not counted. usage: count_xray LOG
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 4096, MAX_DEPTH = 4096, MAX_FUNCTIONS = 1 << 16, MAX_BUFFERS = 1 << 17 };

struct frame {
    uint32_t id;
    uint64_t start, children;
};

struct thread {
    uint32_t tid;
    unsigned depth;
    struct frame frames[MAX_DEPTH];
    uint32_t active[MAX_FUNCTIONS]; /* activations on the stack, by function */
};

struct function {
    uint64_t enters, closed, implicit, inclusive, self;
};

struct buffer {
    size_t at, n_bytes; /* of the records */
    uint32_t tid;
    uint64_t tsc;
};

struct count {
    uint64_t records, enters, duplicates, unmatched, implicit;
    uint64_t first_tsc, last_tsc;
    unsigned n_threads;
    struct thread *threads[MAX_THREADS];
    struct function functions[MAX_FUNCTIONS];
    struct buffer buffers[MAX_BUFFERS];
    unsigned n_buffers;
};

static uint64_t load(const uint8_t *bytes, unsigned n_bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n_bytes; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void die(const char *what)
{
    (void)fprintf(stderr, "count_xray: %s\n", what);
    exit(1);
}

static struct thread *find_thread(struct count *count, uint32_t tid)
{
    for (unsigned i = 0; i < count->n_threads; i++)
        if (count->threads[i]->tid == tid)
            return count->threads[i];
    if (count->n_threads == MAX_THREADS)
        die("too many threads");
    struct thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        die("no memory");
    thread->tid = tid;
    count->threads[count->n_threads++] = thread;
    return thread;
}

static void pop(struct count *count, struct thread *thread, uint64_t tsc, bool is_implicit)
{
    const struct frame frame = thread->frames[--thread->depth];
    struct function *function = &count->functions[frame.id];
    const uint64_t duration = tsc - frame.start;
    function->closed += 1;
    function->implicit += is_implicit;
    count->implicit += is_implicit;
    function->self += duration - frame.children;
    if (--thread->active[frame.id] == 0)
        function->inclusive += duration;
    if (thread->depth > 0)
        thread->frames[thread->depth - 1].children += duration;
}

static void replay(struct count *count, struct thread *thread, unsigned kind, uint32_t id,
                   uint64_t tsc)
{
    if (id >= MAX_FUNCTIONS)
        die("a function id is too large");
    count->first_tsc = tsc < count->first_tsc ? tsc : count->first_tsc;
    count->last_tsc = tsc > count->last_tsc ? tsc : count->last_tsc;
    if (kind == 0 || kind == 3) {
        if (thread->depth == MAX_DEPTH)
            die("a stack is too deep");
        thread->frames[thread->depth++] = (struct frame){ .id = id, .start = tsc };
        thread->active[id]++;
        count->functions[id].enters++;
        count->enters++;
        return;
    }
    if (thread->active[id] == 0) {
        count->unmatched++;
        return;
    }
    while (thread->frames[thread->depth - 1].id != id)
        pop(count, thread, tsc, true);
    pop(count, thread, tsc, false);
}

/* Replays the function records of one buffer, or only counts them when `thread` is NULL. */
static void walk_buffer(struct count *count, const uint8_t *file, const struct buffer *buffer,
                        struct thread *thread)
{
    uint64_t tsc = 0;
    for (size_t at = buffer->at, end = at + buffer->n_bytes; at + 8 <= end;) {
        const uint8_t *record = file + at;
        if (!(record[0] & 1)) {
            tsc += load(record + 4, 4);
            const uint32_t head = (uint32_t)load(record, 4);
            if (thread)
                replay(count, thread, head >> 1 & 7, head >> 4, tsc);
            else
                count->records++;
            at += 8;
            continue;
        }
        const unsigned kind = record[0] >> 1;
        if (kind == 2)
            tsc = load(record + 3, 8);
        else if (kind == 3)
            tsc = load(record + 1, 8);
        else if (kind == 5 || kind == 8)
            tsc += load(record + 5, 4);
        at += 16 + (kind == 5 || kind == 8 ? load(record + 1, 4) : 0);
    }
}

/* The thread and the first time stamp that the records at the head of a buffer name. */
static void read_head(const uint8_t *file, struct buffer *buffer)
{
    for (size_t at = buffer->at; at + 16 <= buffer->at + buffer->n_bytes && file[at] & 1;
         at += 16) {
        if (file[at] >> 1 == 0)
            buffer->tid = (uint32_t)load(file + at + 1, 4);
        if (file[at] >> 1 == 2 && buffer->tsc == 0)
            buffer->tsc = load(file + at + 3, 8);
    }
}

static bool is_duplicate(const struct count *count, const uint8_t *file,
                         const struct buffer *buffer)
{
    for (unsigned i = 0; i < count->n_buffers; i++) {
        const struct buffer *other = &count->buffers[i];
        if (other->tid == buffer->tid && other->tsc == buffer->tsc &&
            other->n_bytes == buffer->n_bytes &&
            memcmp(file + other->at, file + buffer->at, buffer->n_bytes) == 0)
            return true;
    }
    return false;
}

static int compare_buffers(const void *a_ptr, const void *b_ptr)
{
    const struct buffer *a = a_ptr;
    const struct buffer *b = b_ptr;
    if (a->tsc != b->tsc)
        return a->tsc < b->tsc ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

static void count_fdr(struct count *count, const uint8_t *file, size_t n_bytes)
{
    for (size_t at = 32; at + 16 <= n_bytes;) {
        struct buffer buffer = { .at = at + 16, .n_bytes = (size_t)load(file + at + 1, 8) };
        if (file[at] != 0x0f || buffer.n_bytes > n_bytes - buffer.at)
            die("expected a buffer");
        read_head(file, &buffer);
        walk_buffer(count, file, &buffer, NULL);
        if (is_duplicate(count, file, &buffer))
            count->duplicates++;
        else if (count->n_buffers < MAX_BUFFERS)
            count->buffers[count->n_buffers++] = buffer;
        else
            die("too many buffers");
        at = buffer.at + buffer.n_bytes;
    }
    qsort(count->buffers, count->n_buffers, sizeof *count->buffers, compare_buffers);
    for (unsigned i = 0; i < count->n_buffers; i++)
        walk_buffer(count, file, &count->buffers[i], find_thread(count, count->buffers[i].tid));
}

static void count_basic(struct count *count, const uint8_t *file, size_t n_bytes)
{
    for (size_t at = 32; at + 32 <= n_bytes; at += 32) {
        const uint8_t *record = file + at;
        if (load(record, 2) != 0)
            continue; /* an argument */
        count->records++;
        replay(count, find_thread(count, (uint32_t)load(record + 16, 4)), record[3],
               (uint32_t)load(record + 4, 4), load(record + 8, 8));
    }
}

static uint8_t *read_file(const char *path, size_t *n_bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        die("the log cannot be opened");
    *n_bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*n_bytes);
    if (!bytes || fread(bytes, 1, *n_bytes, file) != *n_bytes || *n_bytes < 32)
        die("the log cannot be read");
    (void)fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage: count_xray LOG");
    size_t n_bytes = 0;
    uint8_t *file = read_file(argv[1], &n_bytes);
    struct count *count = calloc(1, sizeof *count);
    if (!count)
        die("no memory");
    count->first_tsc = UINT64_MAX;
    if (load(file + 2, 2) == 1)
        count_fdr(count, file, n_bytes);
    else
        count_basic(count, file, n_bytes);
    uint64_t n_open = 0;
    for (unsigned i = 0; i < count->n_threads; i++)
        n_open += count->threads[i]->depth;
    printf("# records=%" PRIu64 " enters=%" PRIu64 " threads=%u duplicates=%" PRIu64
           " unmatched=%" PRIu64 " implicit=%" PRIu64 " open=%" PRIu64 " span=%" PRIu64 "\n",
           count->records, count->enters, count->n_threads, count->duplicates, count->unmatched,
           count->implicit, n_open, count->last_tsc - count->first_tsc);
    for (unsigned id = 0; id < MAX_FUNCTIONS; id++) {
        const struct function *function = &count->functions[id];
        if (function->enters)
            printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", id,
                   function->enters, function->closed, function->implicit, function->inclusive,
                   function->self);
    }
    for (unsigned i = 0; i < count->n_threads; i++)
        free(count->threads[i]);
    free(count);
    free(file);
    return 0;
}
