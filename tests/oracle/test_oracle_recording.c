/* SPDX-License-Identifier: MIT
 *
 * Known calls of random threads, written as the libraries write them and cut into pieces anywhere,
 * are read back exactly: thread, function, time; whatever the cutting, the packing, the workers. A
 * recording that ends at any byte gives all that stands in whole pieces. Where words are missing,
 * each call that is told as certain is one that the thread made, with its times.
 */
#include "base/pool.h"
#include "base/u128.h"
#include "ingest/recording/recording.h"
#include "recording_builder.h"
#include "recording_sink.h"
#include "tap.h"

enum { MOST_RINGS = 12, MOST_CALLS = 400, N_FUNCTIONS = 9, N_SEEDS = 60 };

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % n;
}

/* What was done, thread by thread. */
struct call {
    uint64_t ticks, address;
    bool is_exit;
};

struct thread {
    uint32_t pid, tid;
    struct rb_ring rings[2]; /* of both libraries */
    unsigned n_rings;
    struct call calls[MOST_CALLS];
    size_t n_calls;
};

struct scene {
    struct thread threads[MOST_RINGS / 2];
    size_t n_threads;
    uint64_t pairs[8][2]; /* ticks, ns */
    size_t n_pairs;
    struct rb file;
};

/* ---- making ------------------------------------------------------------------------------------
 */

static uint64_t address_of(uint64_t function)
{
    return UINT64_C(0x400000) + function * 0x40;
}

static void make_calls(struct scene *scene, struct thread *thread)
{
    uint64_t stack[32], ticks = scene->pairs[0][0] + draw(1000);
    size_t depth = 0;
    const size_t n_calls = draw(draw(2) ? MOST_CALLS : 30);
    for (unsigned k = 0; k < thread->n_rings; k++) {
        thread->rings[k].pid = thread->pid;
        thread->rings[k].piece =
            (struct weft_ring_piece){ .library = k + 1, .tid = thread->tid, .start_ticks = ticks };
    }
    while (thread->n_calls < n_calls) {
        ticks += draw(4) ? 1 + draw(3000) : 1 + draw(200000);
        const bool is_exit = depth && (depth == 32 || draw(2));
        const uint64_t address = is_exit ? stack[--depth] : address_of(draw(N_FUNCTIONS));
        if (!is_exit)
            stack[depth++] = address;
        (draw(10) ? rb_call : rb_call_far)(&thread->rings[draw(thread->n_rings)], ticks, is_exit,
                                           address);
        thread->calls[thread->n_calls++] = (struct call){ ticks, address, is_exit };
    }
}

/* Pieces of all rings, in any order between them. */
static void cut_all(struct scene *scene)
{
    size_t n_done[MOST_RINGS] = { 0 };
    for (bool is_any = true; is_any;) {
        is_any = false;
        for (size_t k = 0; k < MOST_RINGS; k++) {
            struct thread *thread = &scene->threads[k / 2];
            struct rb_ring *ring = &thread->rings[k % 2];
            if (k / 2 >= scene->n_threads || n_done[k] == ring->n_ends)
                continue;
            is_any = true;
            if (draw(3) == 0)
                continue;
            n_done[k] += 1 + draw(ring->n_ends - n_done[k]);
            ring->piece.has_ended = n_done[k] == ring->n_ends;
            scene->file.is_packed = draw(4) == 0;
            rb_cut(&scene->file, ring, n_done[k], 1000);
        }
    }
}

static void make_scene(struct scene *scene, uint64_t seed)
{
    static const char maps[] = "00400000-00500000 r-xp 00002000 fe:00 7      /none/program\n"
                               "00600000-00700000 rw-p 00002000 fe:00 7      /none/program\n";
    state = seed;
    *scene = (struct scene){ .n_threads = 1 + draw(MOST_RINGS / 2), .n_pairs = 1 + draw(8) };
    rb_head(&scene->file);
    for (size_t k = 0; k < scene->n_pairs; k++) {
        scene->pairs[k][0] = k ? scene->pairs[k - 1][0] + 1 + draw(5000000) : 1 + draw(1 << 30);
        scene->pairs[k][1] = k ? scene->pairs[k - 1][1] + draw(3000000) : 1 + draw(1 << 30);
        rb_clock(&scene->file, scene->pairs[k][0], scene->pairs[k][1], 0);
    }
    rb_text(&scene->file, WEFT_PIECE_META, 0, 0, 0, "command=x\n");
    for (size_t k = 0; k < scene->n_threads; k++) {
        struct thread *thread = &scene->threads[k];
        thread->pid = 100 + (uint32_t)draw(2);
        thread->tid = 200 + (uint32_t)k;
        thread->n_rings = 1 + (unsigned)draw(2);
        rb_text(&scene->file, WEFT_PIECE_MAPS, 0, thread->pid, scene->pairs[0][1], maps);
        make_calls(scene, thread);
    }
    cut_all(scene);
    rb_text(&scene->file, WEFT_PIECE_END, 0, 0, 0, "the program ended");
}

static void scene_fini(struct scene *scene)
{
    for (size_t k = 0; k < scene->n_threads; k++)
        for (unsigned n = 0; n < 2; n++)
            rb_ring_fini(&scene->threads[k].rings[n]);
    rb_fini(&scene->file);
}

/* ---- what must come out ------------------------------------------------------------------------
 */

/* By the definition, looking for the span each time. */
static uint64_t slow_ns(const struct scene *scene, uint64_t ticks)
{
    size_t at = 0;
    while (at + 2 < scene->n_pairs && scene->pairs[at + 1][0] <= ticks)
        at++;
    uint64_t rate = UINT64_C(1) << 32;
    size_t from = at;
    if (scene->n_pairs > 1) {
        const uint64_t *a = scene->pairs[at], *b = scene->pairs[at + 1];
        rate = (uint64_t)(((weft_u128)(b[1] - a[1]) << 32) / (b[0] - a[0]));
        from = b[0] <= ticks ? at + 1 : at;
    }
    return scene->pairs[from][1] - scene->pairs[0][1] +
           (uint64_t)(((weft_u128)(ticks - scene->pairs[from][0]) * rate) >> 32);
}

/* The function with this address in the module, by what the sink was told. */
static uint32_t key_of(const struct rec_sink *rec, uint64_t address)
{
    char line[64];
    uint32_t key = UINT32_MAX;
    (void)snprintf(line, sizeof line, "[/none/program] 0x%" PRIx64 "\n",
                   address - 0x400000 + 0x2000);
    const char *at = strstr(rec_str(&rec->trace), line);
    while (at && at > rec->trace.bytes && at[-1] != '\n')
        at--;
    if (at)
        (void)sscanf(at, "function %" SCNu32, &key);
    return key;
}

static bool is_thread(const struct rec_sink *rec, size_t place, const struct thread *thread)
{
    char line[64];
    (void)snprintf(line, sizeof line, "thread %zu tid %" PRIu32 " pid %" PRIu32 "\n", place,
                   thread->tid, thread->pid);
    return strstr(rec_str(&rec->trace), line) != NULL;
}

/* `n_most`: fewer calls are right, too, if they are the first. */
static bool same_calls(const struct scene *scene, const struct rec_sink *rec, uint32_t place,
                       const struct thread *thread, bool is_cut)
{
    struct rec_text want = { 0 };
    for (size_t k = 0; k < thread->n_calls; k++)
        rec_add(&want, "%c %" PRIu32 " @%" PRIu64 "\n", thread->calls[k].is_exit ? 'X' : 'E',
                key_of(rec, thread->calls[k].address), slow_ns(scene, thread->calls[k].ticks));
    const char *got = rec_str(&rec->threads[place]);
    const char *end = strstr(got, "end @");
    const size_t n_got = end ? (size_t)(end - got) : strlen(got);
    const bool is_same = (is_cut ? n_got <= want.n_bytes : n_got == want.n_bytes) &&
                         (n_got == 0 || memcmp(got, want.bytes, n_got) == 0);
    free(want.bytes);
    return is_same;
}

static bool import(const struct scene *scene, size_t n_bytes, unsigned n_workers,
                   struct rec_sink *rec)
{
    struct weft_mapped file = { .bytes = scene->file.bytes, .n_bytes = n_bytes };
    struct weft_pool *pool = weft_pool_new(n_workers);
    struct weft_run run = { .pool = pool };
    struct weft_err err = { 0 };
    rec_init(rec);
    const enum weft_code code = weft_recording_import(&file, NULL, &rec->sink, &run, &err);
    if (code != WEFT_OK)
        tap_note("%s", err.text);
    weft_pool_free(pool);
    return code == WEFT_OK;
}

/* All threads that have words are there, each with its calls. */
static bool check(const struct scene *scene, const struct rec_sink *rec)
{
    bool is_good = rec->n_order_errors == 0;
    for (size_t k = 0; k < scene->n_threads; k++) {
        const struct thread *thread = &scene->threads[k];
        bool is_found = thread->n_calls == 0;
        for (uint32_t place = 0; place < rec->n_threads; place++)
            is_found |=
                is_thread(rec, place, thread) && same_calls(scene, rec, place, thread, false);
        is_good &= is_found;
    }
    return is_good;
}

static void test_random(uint64_t first_seed)
{
    size_t n_bad = 0, n_different = 0;
    for (uint64_t seed = first_seed; seed < first_seed + N_SEEDS; seed++) {
        struct scene scene;
        struct rec_sink one, three;
        make_scene(&scene, seed);
        const bool is_read = import(&scene, scene.file.n_bytes, 1, &one) &&
                             import(&scene, scene.file.n_bytes, 3, &three);
        char *a = rec_whole(&one), *b = rec_whole(&three);
        const bool is_right = is_read && check(&scene, &one);
        if (!is_right && n_bad++ == 0)
            tap_note("seed %" PRIu64, seed);
        n_different += strcmp(a, b) != 0;
        free(a);
        free(b);
        rec_fini(&one);
        rec_fini(&three);
        scene_fini(&scene);
    }
    tap_eq_u64(n_bad, 0, "calls of random threads, however they are cut");
    tap_eq_u64(n_different, 0, "the same with several workers");
}

/* Of a file that ends early all threads have the first of their calls, and as many as stand in
 * whole pieces: more bytes never give fewer. */
static void test_truncation(uint64_t seed)
{
    struct scene scene;
    size_t n_bad = 0;
    make_scene(&scene, seed);
    while (scene.file.n_bytes > 12000) {
        scene_fini(&scene);
        make_scene(&scene, ++seed);
    }
    for (size_t n_bytes = sizeof(struct weft_recording_head); n_bytes <= scene.file.n_bytes;
         n_bytes++) {
        struct rec_sink rec;
        bool is_good = import(&scene, n_bytes, 1, &rec);
        for (uint32_t place = 0; is_good && place < rec.n_threads; place++) {
            bool is_found = false;
            for (size_t k = 0; k < scene.n_threads; k++)
                is_found |= is_thread(&rec, place, &scene.threads[k]);
            is_good &= is_found;
        }
        if (!is_good && n_bad++ == 0)
            tap_note("at %zu bytes", n_bytes);
        rec_fini(&rec);
    }
    tap_eq_u64(n_bad, 0, "a recording that ends at any byte");
    scene_fini(&scene);
}

/* ---- words that are missing --------------------------------------------------------------------
 */

struct span {
    uint64_t start_ns, end_ns, address;
};

struct spans {
    struct span items[MOST_CALLS];
    size_t n;
};

struct loss {
    struct rb file;
    struct rb_ring ring;
    struct spans made;  /* all that the thread did */
    struct spans whole; /* of them those that stand in the ring, without a loss in between */
};

/* Calls of one thread, some of which find no room; where they are missing stands a LOST, or nothing
 * at all: then the words are cut out of the middle between two pieces. */
static void make_loss(struct loss *loss, uint64_t seed)
{
    struct span stack[32];
    unsigned epochs[32]; /* of entries; 0: not written */
    uint64_t ticks = 1000, n_missing = 0;
    unsigned epoch = 1;
    size_t depth = 0;
    state = seed;
    *loss = (struct loss){ .ring = { .pid = 1 } };
    loss->ring.piece = (struct weft_ring_piece){ .library = WEFT_RING_FUNCTIONS, .tid = 2 };
    loss->ring.piece.start_ticks = 1000;
    rb_head(&loss->file);
    rb_clock(&loss->file, 1000, 1000, 0);
    rb_clock(&loss->file, 2000, 2000, 0);
    bool is_missing = false;
    for (size_t k = 0; k < MOST_CALLS; k++) {
        const bool is_exit = depth && (depth == 32 || draw(2));
        ticks += 1 + draw(50);
        if (draw(25) == 0)
            is_missing = !is_missing;
        if (!is_missing && n_missing) {
            epoch++;
            if (loss->ring.n_ends == 0 || draw(2)) {
                rb_op(&loss->ring, ticks, WEFT_OP_LOST, 0, &n_missing, 1);
            } else {
                rb_cut(&loss->file, &loss->ring, loss->ring.n_ends, 1);
                for (uint64_t n = 0; n < n_missing; n++)
                    rb_unit(&loss->ring, 0);
                loss->ring.n_cut = loss->ring.n;
                loss->ring.ticks = ticks - WEFT_DELTA_MAX - 1; /* a TIME comes first */
                loss->ring.cut_ticks = 0;
            }
            n_missing = 0;
        }
        n_missing += is_missing;
        if (is_exit) {
            struct span span = stack[--depth];
            span.end_ns = ticks - 1000;
            loss->made.items[loss->made.n++] = span;
            if (!is_missing && epochs[depth] == epoch)
                loss->whole.items[loss->whole.n++] = span;
        } else {
            stack[depth] =
                (struct span){ .start_ns = ticks - 1000, .address = address_of(draw(4)) };
            epochs[depth++] = is_missing ? 0 : epoch;
        }
        const uint64_t address = is_exit ? stack[depth].address : stack[depth - 1].address;
        if (!is_missing)
            rb_call(&loss->ring, ticks, is_exit, address);
    }
    rb_cut(&loss->file, &loss->ring, loss->ring.n_ends, 1);
}

static bool is_among(const struct spans *spans, const struct span *span, uint32_t key,
                     const uint64_t *address_of_key)
{
    for (size_t k = 0; k < spans->n; k++)
        if (spans->items[k].start_ns == span->start_ns && spans->items[k].end_ns == span->end_ns &&
            spans->items[k].address == address_of_key[key])
            return true;
    return false;
}

/* What the sink makes of it, by its rules (schema/sink.h): certain calls are those without a flag.
 * False: one of them was not made so. */
static bool check_certain(const struct loss *loss, const char *text, const uint64_t *address_of_key,
                          size_t *n_certain)
{
    struct {
        uint32_t key;
        uint64_t start_ns;
    } stack[MOST_CALLS];
    size_t depth = 0;
    bool is_good = true;
    for (; *text; text = strchr(text, '\n') + 1) {
        char kind;
        uint32_t key;
        uint64_t at_ns;
        if (sscanf(text, "%c %" SCNu32 " @%" SCNu64, &kind, &key, &at_ns) != 3 ||
            !strchr("EXM", kind))
            continue;
        if (kind == 'E') {
            stack[depth].key = key;
            stack[depth++].start_ns = at_ns;
            continue;
        }
        is_good &= depth > 0; /* else it would be of before the trace */
        size_t at = depth;
        while (at > 0 && stack[at - 1].key != key)
            at--;
        if (at == 0)
            continue;
        depth = at - 1;
        const struct span span = { .start_ns = stack[depth].start_ns, .end_ns = at_ns };
        if (kind == 'X') {
            ++*n_certain;
            is_good &= is_among(&loss->made, &span, key, address_of_key);
        }
    }
    return is_good;
}

static void test_losses(uint64_t first_seed)
{
    enum { N_LOSSES = 2000 };
    size_t n_bad = 0, n_certain = 0, n_whole = 0;
    for (uint64_t seed = first_seed; seed < first_seed + N_LOSSES; seed++) {
        struct loss loss;
        make_loss(&loss, seed);
        const struct scene scene = { .file = loss.file };
        struct rec_sink rec;
        uint64_t address_of_key[1 << 10] = { 0 };
        bool is_good = import(&scene, loss.file.n_bytes, 1, &rec) && rec.n_threads == 1;
        for (const char *at = rec_str(&rec.trace); (at = strstr(at, "function ")); at++) {
            uint32_t key;
            uint64_t address;
            if (sscanf(at, "function %" SCNu32 " %*[^0]0x%" SCNx64, &key, &address) == 2 &&
                key < 1 << 10)
                address_of_key[key] = address;
        }
        is_good &= check_certain(&loss, rec_str(&rec.threads[0]), address_of_key, &n_certain);
        n_whole += loss.whole.n;
        if (!is_good && n_bad++ == 0)
            tap_note("seed %" PRIu64, seed);
        rec_fini(&rec);
        rb_ring_fini(&loss.ring);
        rb_fini(&loss.file);
    }
    tap_eq_u64(n_bad, 0, "across missing words no call is told that was not made");
    tap_eq_u64(n_certain, n_whole, "and each that stands between them is certain");
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    test_losses(seed);
    test_random(seed);
    test_truncation(seed);
    return tap_done();
}
