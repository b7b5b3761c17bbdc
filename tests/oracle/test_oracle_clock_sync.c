/* SPDX-License-Identifier: MIT
 *
 * Traces of hosts whose clocks run differently, with packets between them: lost, sent twice, of
 * keys that come again, seen by two recorders. Merged, or as one trace of several hosts, every
 * event is where the true time says, as accurately as the notes say; the bytes do not depend on the
 * number of workers. Where packets do not go both ways nothing is set.
 */
#include "import/merge.h"
#include "store/writer.h"
#include "tap.h"

#include <math.h>
#include <unistd.h>

enum { SEEDS = 60, MOST_HOSTS = 4, MOST_PACKETS = 400, THREADS = 2 };

struct packet_event {
    uint64_t true_ns, value;
    uint32_t thread;
    bool is_sent;
};

struct host {
    double offset_ns, drift;
    struct packet_event events[2 * MOST_PACKETS];
    size_t n;
};

static struct host hosts[MOST_HOSTS];
static unsigned n_hosts;
static bool is_one_way;
static bool is_program; /* traces are told by a program: they have no packets */
static char paths[MOST_HOSTS + 1][512], outputs[2][512], what[400];
static struct weft_run runs[2];

static uint64_t roll(uint64_t *state, uint64_t n)
{
    return tap_random(state) % n;
}

/* ---- what happens ---------------------------------------------------------------------------- */

static uint64_t local_ns(const struct host *host, uint64_t true_ns)
{
    const double local = (double)true_ns * (1 + host->drift) + host->offset_ns;
    return (uint64_t)llround(local);
}

static void meet(struct host *host, uint64_t true_ns, uint64_t value, bool is_sent, uint64_t *state)
{
    if (host->n == 2 * MOST_PACKETS || roll(state, 10) == 0)
        return; /* the event is lost */
    host->events[host->n++] = (struct packet_event){ .true_ns = true_ns,
                                                     .value = value,
                                                     .thread = (uint32_t)roll(state, THREADS),
                                                     .is_sent = is_sent };
}

static int by_time(const void *a, const void *b)
{
    const struct packet_event *x = a, *y = b;
    return (x->true_ns > y->true_ns) - (x->true_ns < y->true_ns);
}

static void network_make(uint64_t seed)
{
    uint64_t state = seed, now_ns = 100000;
    n_hosts = 2 + (unsigned)roll(&state, MOST_HOSTS - 1);
    is_one_way = roll(&state, 6) == 0;
    for (unsigned k = 0; k < n_hosts; k++)
        hosts[k] = (struct host){ .offset_ns = (double)(1000000000 + roll(&state, 3000000000)),
                                  .drift = ((double)roll(&state, 400) - 200) * 1e-6 };
    for (unsigned k = 0; k < MOST_PACKETS; k++) {
        now_ns += roll(&state, 100000000);
        unsigned from = (unsigned)roll(&state, n_hosts), to = (unsigned)roll(&state, n_hosts);
        const uint64_t value = roll(&state, 20) ? k + 1000 : roll(&state, 5);
        if (is_one_way && from > to) {
            const unsigned swap = from;
            from = to;
            to = swap;
        }
        const uint64_t arrives_ns = now_ns + 1000 + roll(&state, 300000);
        meet(&hosts[from], now_ns, value, true, &state);
        meet(&hosts[to], arrives_ns, value, false, &state);
    }
    for (unsigned k = 0; k < n_hosts; k++)
        qsort(hosts[k].events, hosts[k].n, sizeof *hosts[k].events, by_time);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Events carry their true time as a category, which traces do not change. */
static enum weft_code thread_write(struct weft_sink *sink, const struct host *host, uint32_t thread,
                                   uint32_t id, uint64_t zero_ns)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < host->n && code == WEFT_OK; i++) {
        const struct packet_event *from = &host->events[i];
        char text[32];
        if (from->thread != thread)
            continue;
        (void)snprintf(text, sizeof text, "%" PRIu64, from->true_ns);
        const struct weft_event event = {
            .time_ns = local_ns(host, from->true_ns) - zero_ns,
            .value = from->value,
            .next_thread_id = WEFT_ID_NONE,
            .object_id = 7,
            .stack_id = WEFT_ID_NONE,
            .kind = is_program      ? WEFT_EVENT_INSTANT
                    : from->is_sent ? WEFT_EVENT_PACKET_SENT
                                    : WEFT_EVENT_PACKET_RECEIVED,
            .name = WEFT_STR("tcp"),
            .category = weft_str_of(text),
            .payload = WEFT_STR(""),
        };
        code = sink->ops->events(sink, id, &event, 1, NULL);
    }
    return code == WEFT_OK ? sink->ops->thread_end(sink, id, 0, NULL) : code;
}

/* The hosts [first, end) as one trace. */
static void trace_write(const char *path, unsigned first, unsigned end, bool is_booted_apart)
{
    const struct weft_writer_opts opts = { .source_name = path + strlen(path) - 6 };
    const uint64_t zero_ns = 1000;
    const struct weft_clock clock = { .frequency_hz = 1000000000,
                                      .zero_ticks = zero_ns,
                                      .has_monotonic = true,
                                      .monotonic_ns = zero_ns,
                                      .has_realtime = true,
                                      .realtime_ns = (is_booted_apart ? 100 + first * 1000 : 100) *
                                                     UINT64_C(1000000000) };
    const struct weft_sink_begin begin = { .format = WEFT_STR("made"), .is_parallel = true };
    struct weft_writer *writer;
    enum weft_code code = weft_writer_open(path, &opts, &writer, NULL);
    if (code != WEFT_OK)
        abort();
    struct weft_sink *sink = weft_writer_sink(writer);
    code = sink->ops->begin(sink, &begin, NULL);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, NULL);
    for (unsigned k = first; k < end; k++)
        for (uint32_t i = 0; i < THREADS && code == WEFT_OK; i++) {
            const struct weft_thread_info info = { .tid = 10 + i, .pid = 10, .host_id = k - first };
            uint32_t id;
            code = sink->ops->thread(sink, &info, &id, NULL);
        }
    for (unsigned k = first; k < end; k++)
        for (uint32_t i = 0; i < THREADS && code == WEFT_OK; i++)
            code = thread_write(sink, &hosts[k], i, (k - first) * THREADS + i, zero_ns);
    if (code != WEFT_OK || weft_writer_commit(writer, NULL, NULL) != WEFT_OK)
        abort();
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool fail(const char *text, double got, double want)
{
    (void)snprintf(what, sizeof what, "%s: %.1f, %.1f", text, got, want);
    return false;
}

/* Sum of what the clocks may be off; with a line to a host that has one both add up. */
static double accuracy_of(const struct weft_store *store, uint64_t *n_set)
{
    double sum = 0;
    *n_set = 0;
    for (size_t i = 0; i < weft_store_meta_get(store)->n_notes; i++)
        if (weft_store_note_get(store, i)->kind == WEFT_NOTE_CLOCK_SET) {
            sum += (double)weft_store_note_get(store, i)->count;
            ++*n_set;
        }
    return sum;
}

/* Of any two events of one clock the later one by true time is later, and by as much: the first
 * host's clock is the one that counts, so a drift of its own stays. */
static bool times_same(struct weft_store *store, double accuracy, uint64_t n_set)
{
    struct weft_event_buf *buf = weft_event_buf_new();
    double zero = (double)NAN;
    bool is_good = true;
    for (uint32_t id = 0; id < weft_store_meta_get(store)->n_threads; id++) {
        const struct weft_store_thread *thread = weft_store_thread_get(store, id);
        for (uint64_t block = 0; block < thread->n_event_blocks && is_good; block++) {
            const struct weft_event *events;
            size_t n;
            if (weft_store_load_events(store, id, block, buf, &events, &n, NULL) != WEFT_OK)
                abort();
            for (size_t i = 0; i < n && is_good; i++) {
                char text[32] = "";
                memcpy(text, events[i].category.bytes, events[i].category.n_bytes);
                const double truth = (double)local_ns(&hosts[0], strtoull(text, NULL, 10));
                const double off = (double)events[i].time_ns - truth;
                zero = isnan(zero) ? off : zero;
                if (fabs(off - zero) > accuracy + 4 + (double)n_set)
                    is_good = fail("an event is off", off - zero, accuracy);
            }
        }
    }
    weft_event_buf_free(buf);
    return is_good;
}

static bool file_same(const char *a, const char *b)
{
    char command[1200];
    (void)snprintf(command, sizeof command, "cmp -s %s %s", a, b);
    return system(command) == 0;
}

static bool output_good(const char *path, uint64_t want_set)
{
    struct weft_store *store;
    uint64_t n_set;
    if (weft_store_open(path, &store, NULL) != WEFT_OK)
        return fail("no output", 0, 0);
    const double accuracy = accuracy_of(store, &n_set);
    bool is_good = n_set == want_set || fail("clocks set", (double)n_set, (double)want_set);
    if (is_good && n_set > 0)
        is_good = times_same(store, accuracy, n_set);
    if (is_good && n_set > 0 && accuracy > 5e6 * n_hosts)
        is_good = fail("far off", accuracy, 0);
    for (uint32_t id = 0; is_good && n_set > 0 && id < n_hosts * THREADS; id++)
        is_good = weft_store_thread_get(store, id)->info.host_id == id / THREADS ||
                  fail("host", weft_store_thread_get(store, id)->info.host_id, id / THREADS);
    weft_store_close(store);
    return is_good;
}

/* The hosts, and a program's trace of one of them: of the second, if its boot tells. */
static bool merged_good(bool is_booted_apart)
{
    struct weft_merge_input inputs[MOST_HOSTS + 1] = { 0 };
    bool is_good = true;
    for (unsigned k = 0; k <= n_hosts; k++) {
        is_program = k == n_hosts;
        const unsigned host = k < n_hosts ? k : is_booted_apart;
        trace_write(paths[k], host, host + 1, is_booted_apart);
        is_program = false;
        inputs[k].name = paths[k];
        if (weft_store_open(paths[k], &inputs[k].store, NULL) != WEFT_OK)
            abort();
    }
    for (size_t j = 0; j < 2; j++)
        if (weft_merge_stores(inputs, n_hosts + 1, outputs[j], &runs[j], NULL, NULL) != WEFT_OK)
            is_good = fail("merging", 0, 0);
    for (unsigned k = 0; k <= n_hosts; k++)
        weft_store_close(inputs[k].store);
    return is_good && output_good(outputs[0], is_one_way ? 0 : n_hosts - 1) &&
           (file_same(outputs[0], outputs[1]) || fail("bytes of workers", 0, 0));
}

static bool one_trace_good(void)
{
    trace_write(outputs[0], 0, n_hosts, false);
    return (weft_merge_hosts(outputs[0], &runs[1], NULL, NULL) == WEFT_OK ||
            fail("setting", 0, 0)) &&
           output_good(outputs[0], is_one_way ? 0 : n_hosts - 1);
}

/* Two recorders of one host that lost different events: the clock is the same, so is the host. */
static bool twice_good(void)
{
    struct weft_merge_input inputs[2] = { { .name = "a" }, { .name = "b" } };
    n_hosts = 1;
    for (unsigned k = 0; k < 2; k++) {
        struct host all = hosts[0];
        uint64_t state = 77 + k;
        hosts[0].n = 0;
        for (size_t i = 0; i < all.n; i++)
            if (roll(&state, 5))
                hosts[0].events[hosts[0].n++] = all.events[i];
        trace_write(paths[k], 0, 1, false);
        hosts[0] = all;
        if (weft_store_open(paths[k], &inputs[k].store, NULL) != WEFT_OK)
            abort();
    }
    const bool is_good =
        weft_merge_stores(inputs, 2, outputs[0], &runs[0], NULL, NULL) == WEFT_OK &&
        output_good(outputs[0], 0);
    weft_store_close(inputs[0].store);
    weft_store_close(inputs[1].store);
    return is_good;
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    const uint64_t first = tap_seed(1);
    for (unsigned k = 0; k <= MOST_HOSTS; k++)
        (void)snprintf(paths[k], sizeof paths[k], "%s/clock_sync.%d.%u.weft", root ? root : ".",
                       (int)getpid(), k);
    for (unsigned k = 0; k < 2; k++) {
        (void)snprintf(outputs[k], sizeof outputs[k], "%s/clock_sync.%d.out%u.weft",
                       root ? root : ".", (int)getpid(), k);
        runs[k].pool = weft_pool_new(1 + k);
    }
    uint64_t seed = first;
    bool is_good = true;
    for (; seed < first + SEEDS && is_good; seed++) {
        network_make(seed);
        is_good = merged_good(seed % 2) && one_trace_good() && twice_good();
    }
    if (!tap_ok(is_good, "%d networks: clocks are set as accurately as is said", SEEDS))
        tap_note("seed %" PRIu64 ": %s", seed - 1, what);
    for (unsigned k = 0; k <= MOST_HOSTS; k++)
        (void)unlink(paths[k]);
    for (unsigned k = 0; k < 2; k++) {
        (void)unlink(outputs[k]);
        weft_pool_free(runs[k].pool);
    }
    return tap_done();
}
