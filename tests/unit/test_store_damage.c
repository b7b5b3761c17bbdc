/* SPDX-License-Identifier: MIT
 *
 * A file cut at every byte, with flipped bits, or written to a full disk: nothing crashes, every
 * finished block opens, and what is shown is what was written.
 */
#include "base/cursor.h"
#include "event_promises.h"
#include "small_trace.h"
#include "store/chunk.h"
#include "store/reader.h"
#include "tap.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FORGERIES = 8000, FLIPS = 12000, FLIPS_A_LINE = 1000, MAX_ROWS = 400, MAX_EVENTS = 40 };

static char path[512];        /* on disk */
static char damaged_path[64]; /* in memory: tens of thousands of files */
static int damaged_fd;
static char what[400];

struct bytes {
    uint8_t *items;
    size_t n;
};

static struct bytes file_read(const char *name)
{
    struct bytes bytes = { .items = malloc(1 << 20) };
    FILE *file = fopen(name, "rb");
    bytes.n = file ? fread(bytes.items, 1, 1 << 20, file) : 0;
    if (file)
        (void)fclose(file);
    return bytes;
}

static void file_write(const char *name, const uint8_t *bytes, size_t n_bytes)
{
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(bytes, 1, n_bytes, file) != n_bytes || fclose(file) != 0)
        abort();
}

static void damaged_write(const uint8_t *bytes, size_t n_bytes)
{
    if (ftruncate(damaged_fd, 0) != 0 || pwrite(damaged_fd, bytes, n_bytes, 0) != (ssize_t)n_bytes)
        abort();
}

/* An event that is no call: a sum of its fields, but for those that lead to what may be lost. */
struct seen_event {
    uint64_t sum;
    uint64_t row; /* CALL_ARGS */
    uint32_t next_thread_id;
};

/* All that a reader sees of one thread. */
struct seen_thread {
    uint64_t tid, n_rows, n_cut, n_blocks;
    uint64_t n_events_said, n_events, n_event_blocks;
    struct seen_event events[MAX_EVENTS];
    uint64_t start_ns[MAX_ROWS], end_ns[MAX_ROWS];
    uint32_t key[MAX_ROWS], depth[MAX_ROWS], flags[MAX_ROWS];
    bool is_there[MAX_ROWS];
};

struct seen {
    bool is_open, is_recovered, has_damage;
    uint32_t n_threads;
    uint64_t lost_bytes;
    struct seen_thread threads[SMALL_THREADS];
};

static void rows_see(const struct weft_store *store, struct seen_thread *thread,
                     const struct weft_calls *calls)
{
    for (size_t i = 0; i < calls->n_rows; i++) {
        const uint64_t row = calls->first_row + i;
        if (row >= MAX_ROWS)
            abort();
        thread->is_there[row] = true;
        thread->start_ns[row] = calls->start_ns[i];
        thread->end_ns[row] = calls->end_ns[i];
        thread->depth[row] = calls->depth[i];
        thread->key[row] = weft_store_function_get(store, calls->function_id[i])->key;
        thread->flags[row] = calls->flags ? calls->flags[i] : 0;
    }
}

static uint64_t sum_add(uint64_t sum, const void *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return (sum ^ n_bytes) * UINT64_C(0x100000001b3);
}

static struct seen_event event_see(const struct weft_event *event)
{
    const bool is_args = event->kind == WEFT_EVENT_CALL_ARGS;
    const uint64_t numbers[] = {
        event->time_ns,  event->duration_ns,     is_args ? 0 : event->value, event->object_id,
        event->stack_id, (uint64_t)(event->cpu), event->prev_state,          event->kind,
    };
    uint64_t sum = sum_add(UINT64_C(0xcbf29ce484222325), numbers, sizeof numbers);
    sum = sum_add(sum, event->name.bytes, event->name.n_bytes);
    sum = sum_add(sum, event->category.bytes, event->category.n_bytes);
    sum = sum_add(sum, event->payload.bytes, event->payload.n_bytes);
    return (struct seen_event){ .sum = sum,
                                .row = is_args ? event->value : 0,
                                .next_thread_id = event->next_thread_id };
}

static void events_see(struct weft_store *store, uint32_t thread_id, struct seen *seen)
{
    struct weft_event_buf *buf = weft_event_buf_new();
    const struct weft_store_thread *info = weft_store_thread_get(store, thread_id);
    struct seen_thread *thread = &seen->threads[thread_id];
    thread->n_events_said = info->events;
    for (uint64_t i = 0; i < info->n_event_blocks; i++) {
        const struct weft_event *events;
        size_t n_events;
        if (weft_store_load_events(store, thread_id, i, buf, &events, &n_events, NULL) != WEFT_OK) {
            seen->has_damage = true;
            continue;
        }
        thread->n_event_blocks++;
        for (size_t j = 0; j < n_events; j++) {
            if (thread->n_events == MAX_EVENTS)
                abort();
            thread->events[thread->n_events++] = event_see(&events[j]);
        }
    }
    weft_event_buf_free(buf);
}

/* Arrivals are what events say again: they only must not be broken in silence. */
static void arrivals_see(struct weft_store *store, struct seen *seen)
{
    struct weft_event_buf *buf = weft_event_buf_new();
    const uint32_t n_rows = weft_store_meta_get(store)->n_threads + weft_store_n_processors(store);
    for (uint32_t row = 0; row < n_rows; row++) {
        uint64_t last_ns = 0;
        for (uint64_t i = 0; i < weft_store_n_arrival_blocks(store, row); i++) {
            const struct weft_event *events;
            size_t n;
            if (weft_store_load_arrivals(store, row, i, buf, &events, &n, NULL) != WEFT_OK) {
                seen->has_damage = true;
                continue;
            }
            for (size_t k = 0; k < n; k++) {
                if (events[k].time_ns < last_ns)
                    abort();
                last_ns = events[k].time_ns;
            }
        }
    }
    weft_event_buf_free(buf);
}

static struct seen *file_see(const char *name)
{
    struct seen *seen = calloc(1, sizeof *seen);
    struct weft_store *store;
    struct weft_err err = { 0 };
    if (weft_store_open(name, &store, &err) != WEFT_OK) {
        weft_err_print(&err, what, sizeof what);
        return seen;
    }
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    seen->is_open = true;
    seen->is_recovered = meta->is_recovered;
    seen->lost_bytes = meta->lost_bytes;
    seen->n_threads = meta->n_threads;
    struct weft_block_buf *buf = weft_block_buf_new();
    for (uint32_t i = 0; i < meta->n_threads && i < SMALL_THREADS; i++) {
        const struct weft_store_thread *thread = weft_store_thread_get(store, i);
        seen->threads[i].tid = thread->info.tid;
        seen->threads[i].n_rows = thread->calls;
        seen->threads[i].n_cut = thread->cut_calls;
        for (uint64_t j = 0; j < thread->n_blocks; j++) {
            struct weft_calls calls;
            if (weft_store_load(store, i, j, buf, &calls, NULL) != WEFT_OK) {
                seen->has_damage = true;
                continue;
            }
            seen->threads[i].n_blocks++;
            rows_see(store, &seen->threads[i], &calls);
        }
        events_see(store, i, seen);
    }
    arrivals_see(store, seen);
    weft_block_buf_free(buf);
    weft_store_close(store);
    return seen;
}

static bool row_same(const struct seen_thread *got, const struct seen_thread *want, uint64_t row)
{
    if (got->start_ns[row] != want->start_ns[row] || got->key[row] != want->key[row] ||
        got->depth[row] - got->n_cut != want->depth[row] - want->n_cut)
        return false;
    /* Cut off, the thread's last event is earlier and more calls are open at it. */
    return (got->flags[row] & WEFT_CALL_CUT_END)
               ? got->end_ns[row] <= want->end_ns[row]
               : got->end_ns[row] == want->end_ns[row] && got->flags[row] == want->flags[row];
}

/* Events come in order; blocks of them may be missing, and what they lead to. */
static bool events_part(const struct seen *got, const struct seen_thread *a,
                        const struct seen_thread *b)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < a->n_events; i++, at++) {
        while (at < b->n_events && a->events[i].sum != b->events[at].sum)
            at++;
        if (at == b->n_events)
            return false;
        const struct seen_event *x = &a->events[i];
        const struct seen_event *y = &b->events[at];
        if (x->row != y->row && !(got->is_recovered && x->row == UINT64_MAX))
            return false;
        if (x->next_thread_id != y->next_thread_id &&
            !(got->is_recovered && x->next_thread_id == WEFT_ID_NONE))
            return false;
    }
    return got->is_recovered ||
           (a->n_events_said == b->n_events && (got->has_damage || a->n_events == b->n_events));
}

/* Is all that `got` shows also in `want`? Without recovery, all but damaged blocks must be there.
 */
static bool is_part(const struct seen *got, const struct seen *want)
{
    if (!got->is_open)
        return true;
    for (uint32_t i = 0; i < got->n_threads && i < SMALL_THREADS; i++) {
        const struct seen_thread *a = &got->threads[i];
        const struct seen_thread *b = &want->threads[i];
        if (a->tid != b->tid || a->n_rows > b->n_rows || a->n_cut > b->n_cut)
            return false;
        if (!got->is_recovered && (a->n_rows != b->n_rows || a->n_cut != b->n_cut))
            return false;
        if (!events_part(got, a, b))
            return false;
        for (uint64_t row = 0; row < b->n_rows; row++) {
            if (!a->is_there[row] && !got->is_recovered && !got->has_damage)
                return false;
            if (a->is_there[row] && !row_same(a, b, row))
                return false;
        }
    }
    return true;
}

/* Blocks that end before `n_bytes`, by a walk of its own. */
static uint64_t blocks_before(const struct bytes *file, size_t n_bytes)
{
    uint64_t n_blocks = 0;
    size_t off = 32;
    while (off + 40 <= n_bytes && memcmp(file->items + off, "WEFc", 4) == 0) {
        const size_t end = off + 40 + (size_t)weft_load_u64(file->items + off + 16);
        n_blocks += end <= n_bytes && (memcmp(file->items + off + 4, "CALL", 4) == 0 ||
                                       memcmp(file->items + off + 4, "EVNT", 4) == 0);
        if (end <= n_bytes && memcmp(file->items + off + 4, "EVNS", 4) == 0)
            n_blocks += file->items[off + 40]; /* fewer than 128 blocks share it */
        off = (end + 7) / 8 * 8;
    }
    return n_blocks;
}

static uint64_t blocks_seen(const struct seen *seen)
{
    uint64_t n_blocks = 0;
    for (uint32_t i = 0; i < SMALL_THREADS; i++)
        n_blocks += seen->threads[i].n_blocks + seen->threads[i].n_event_blocks;
    return n_blocks;
}

static void cut_everywhere(const struct bytes *file, const struct seen *want)
{
    size_t first_bad = 0;
    uint64_t n_tried = 0;
    for (size_t n_bytes = 0; n_bytes < file->n && !first_bad; n_bytes++, n_tried++) {
        damaged_write(file->items, n_bytes);
        struct seen *got = file_see(damaged_path);
        const bool is_good = n_bytes < 32 ? !got->is_open
                                          : got->is_open && got->is_recovered && !got->has_damage &&
                                                is_part(got, want) &&
                                                blocks_seen(got) == blocks_before(file, n_bytes);
        if (!is_good) {
            first_bad = n_bytes ? n_bytes : 1;
            tap_note("%zu bytes: open %d, recovered %d, damaged %d, part %d, blocks %" PRIu64
                     " of %" PRIu64 ": %s",
                     n_bytes, got->is_open, got->is_recovered, got->has_damage, is_part(got, want),
                     blocks_seen(got), blocks_before(file, n_bytes), what);
        }
        free(got);
    }
    tap_ok(!first_bad, "cut at each of %" PRIu64 " bytes: every finished block opens", n_tried);
}

static void flip_bits(const struct bytes *file, const struct seen *want, uint64_t seed)
{
    uint8_t *bytes = malloc(file->n);
    uint64_t state = seed;
    unsigned n_refused = 0, n_recovered = 0, n_damaged = 0;
    for (unsigned line = 0; line < FLIPS / FLIPS_A_LINE; line++) {
        bool is_good = true;
        for (unsigned i = 0; i < FLIPS_A_LINE && is_good; i++) {
            memcpy(bytes, file->items, file->n);
            const unsigned n_flips = 1 + (unsigned)(tap_random(&state) % 3);
            for (unsigned j = 0; j < n_flips; j++)
                bytes[tap_random(&state) % file->n] ^= (uint8_t)(1u << tap_random(&state) % 8);
            damaged_write(bytes, file->n);
            struct seen *got = file_see(damaged_path);
            is_good = is_part(got, want);
            n_refused += !got->is_open;
            n_recovered += got->is_recovered;
            n_damaged += got->has_damage;
            free(got);
        }
        tap_ok(is_good, "flipped bits %u to %u: an error, or what was written", line * FLIPS_A_LINE,
               (line + 1) * FLIPS_A_LINE);
    }
    tap_note("%u refused, %u recovered, %u with damaged blocks", n_refused, n_recovered, n_damaged);
    free(bytes);
}

static bool is_of_events(uint32_t id)
{
    return id == WEFT_CHUNK_EVENTS || id == WEFT_CHUNK_SHARED_EVENTS || id == WEFT_CHUNK_ARRIVALS ||
           id == WEFT_CHUNK_EVENT_INDEX || id == WEFT_CHUNK_ARRIVAL_INDEX;
}

/* Changes bytes of one chunk of events, or of their index, and mends its checksum. */
static void events_forge(const struct bytes *file, uint8_t *bytes, uint64_t *state)
{
    uint64_t n_left = tap_random(state) % 12;
    memcpy(bytes, file->items, file->n);
    for (size_t off = 32; off + 40 < file->n; off += 8) {
        struct weft_chunk chunk;
        if (weft_chunk_parse(bytes, file->n, off, &chunk, NULL) != WEFT_OK ||
            !is_of_events(chunk.id) || n_left-- > 0)
            continue;
        const size_t most = tap_random(state) % 2 ? 30 : chunk.stored_bytes; /* the summary */
        for (uint64_t n = 1 + tap_random(state) % 3; n > 0; n--) {
            const size_t at = off + 40 + tap_random(state) % most % chunk.stored_bytes;
            bytes[at] = tap_random(state) % 2 ? (uint8_t)tap_random(state) : bytes[at] + 1;
        }
        weft_store_u64(bytes + off + 32,
                       weft_chunk_checksum(bytes + off, bytes + off + 40, chunk.stored_bytes));
        return;
    }
}

/* Where the indexes begin. */
static size_t blocks_end(const struct bytes *file)
{
    size_t off = 32;
    while (memcmp(file->items + off, "WEFcBLKS", 8) != 0)
        off += 8;
    return off;
}

/* What only a checksum would have told; also without the indexes, so that nothing else tells. */
static void forged_events(const struct bytes *file, uint64_t seed)
{
    const size_t n_without = blocks_end(file);
    uint8_t *bytes = malloc(file->n);
    uint64_t state = seed;
    unsigned n_open = 0;
    bool is_good = true;
    for (unsigned i = 0; i < FORGERIES && is_good; i++) {
        struct weft_store *store;
        events_forge(file, bytes, &state);
        damaged_write(bytes, tap_random(&state) % 2 ? n_without : file->n);
        if (weft_store_open(damaged_path, &store, NULL) != WEFT_OK)
            continue;
        n_open++;
        is_good = event_promises_kept(store);
        weft_store_close(store);
    }
    tap_ok(is_good && n_open > 0, "%d forged blocks of events: an error, or sound", FORGERIES);
    tap_note("%u opened", n_open);
    free(bytes);
}

/* Random bytes behind a valid header: nothing to find, nothing to crash on. */
static void random_bytes(const struct bytes *file, uint64_t seed)
{
    uint64_t state = seed;
    uint8_t *bytes = malloc(4096);
    bool is_good = true;
    for (unsigned i = 0; i < 300; i++) {
        for (size_t j = 0; j < 4096; j++)
            bytes[j] = (uint8_t)tap_random(&state);
        memcpy(bytes, file->items, 32);
        for (size_t j = 32; j + 40 < 4096; j += 8 + 8 * (tap_random(&state) % 16))
            memcpy(bytes + j, file->items + 32, 16 + tap_random(&state) % 24);
        damaged_write(bytes, 4096);
        struct seen *got = file_see(damaged_path);
        is_good &= !got->is_open || blocks_seen(got) == 0;
        free(got);
    }
    tap_ok(is_good, "noise between chunk headers holds no block");
    free(bytes);
}

static void errors(const struct bytes *file)
{
    static const struct {
        const char *name;
        size_t at;
        uint8_t value;
        enum weft_code code;
    } rows[] = {
        { "magic", 0, 'w', WEFT_E_MALFORMED },
        { "header checksum", 25, 0xff, WEFT_E_MALFORMED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t *bytes = malloc(file->n);
        memcpy(bytes, file->items, file->n);
        bytes[rows[i].at] ^= rows[i].value;
        damaged_write(bytes, file->n);
        struct weft_store *store;
        struct weft_err err = { 0 };
        tap_eq_u64(weft_store_open(damaged_path, &store, &err), rows[i].code, "wrong %s: code",
                   rows[i].name);
        tap_ok(strstr(err.file, damaged_path) != NULL, "wrong %s: file named", rows[i].name);
        free(bytes);
    }
    struct weft_store *store;
    struct weft_err err = { 0 };
    tap_ok(weft_store_open("tests", &store, &err) == WEFT_E_IO, "a directory is refused");
    damaged_write(file->items, 0);
    err = (struct weft_err){ 0 };
    tap_ok(weft_store_open(damaged_path, &store, &err) != WEFT_OK, "an empty file is refused");
}

/* A write beyond the limit fails like a full disk. The old file must stay. */
static void full_disk(const struct bytes *file)
{
    file_write(path, file->items, file->n);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct rlimit old;
    (void)getrlimit(RLIMIT_FSIZE, &old);
    const struct rlimit small = { .rlim_cur = 512, .rlim_max = old.rlim_max };
    (void)setrlimit(RLIMIT_FSIZE, &small);
    struct weft_err err = { 0 };
    const enum weft_code code = small_trace_write(path, &err);
    (void)setrlimit(RLIMIT_FSIZE, &old);
    tap_eq_u64(code, WEFT_E_IO, "a full disk is an I/O error");
    const struct bytes after = file_read(path);
    tap_eq_u64(after.n, file->n, "the old file has its size");
    tap_eq_mem(after.items, file->items, file->n, "the old file has its bytes");
    free(after.items);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/damage.weft", root ? root : ".");
    damaged_fd = memfd_create("damaged", MFD_CLOEXEC);
    (void)snprintf(damaged_path, sizeof damaged_path, "/proc/self/fd/%d", damaged_fd);
    struct weft_err err = { 0 };
    if (!tap_ok(damaged_fd >= 0 && small_trace_write(path, &err) == WEFT_OK,
                "a small trace is written"))
        return tap_done();
    const struct bytes file = file_read(path);
    struct seen *want = file_see(path);
    tap_ok(want->is_open && !want->is_recovered && !want->has_damage, "it opens");
    tap_note("%zu bytes, %" PRIu64 " blocks", file.n, blocks_seen(want));
    errors(&file);
    cut_everywhere(&file, want);
    flip_bits(&file, want, tap_seed(1));
    forged_events(&file, tap_seed(1));
    random_bytes(&file, 1);
    full_disk(&file);
    free(want);
    free(file.items);
    (void)remove(path);
    return tap_done();
}
