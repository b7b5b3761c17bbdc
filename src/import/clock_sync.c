/* SPDX-License-Identifier: MIT
 *
 * Collects packet events of all traces, pairs a send with its receive by the packet's key, fits
 * each pair of hosts (clock_fit.h) and grows a tree of the most accurate fits from the first host.
 * Memory is bounded: beyond 2^21 packets every second key is dropped, the same ones on every host.
 */
#include "import/clock_sync.h"

#include "base/checked.h"
#include "base/vec.h"
#include "schema/event.h"

#include <stdlib.h>

enum { MOST_PACKETS = 1 << 21, MOST_HOSTS = 1024, MIXED_BITS = 64 };
enum { LEAST_PACKETS = 2, MOST_CONTRADICTION_NS = 10000000 };

#define PACKET_KINDS                                                                               \
    (UINT32_C(1) << WEFT_EVENT_PACKET_SENT | UINT32_C(1) << WEFT_EVENT_PACKET_RECEIVED)

struct packet {
    uint64_t value, time_ns;
    uint32_t object_id, host;
    bool is_sent;
};

/* A packet between two hosts, the lesser one first. */
struct crossing {
    uint32_t low, high;
    uint64_t low_ns, high_ns;
    bool is_from_low;
    bool is_twice; /* both have the same event: perhaps they are one */
};

struct making {
    const struct weft_sync_trace *traces;
    size_t n_traces;
    struct weft_clock_sync *sync;
    struct {
        struct packet *items;
        size_t n, cap;
    } packets;
    unsigned thinning; /* kept are keys whose mix ends in so many zeros */
    struct {
        struct crossing *items;
        size_t n, cap;
    } crossings;
};

/* ---- packets --------------------------------------------------------------------------------- */

static bool is_kept(const struct making *making, const struct packet *packet)
{
    uint64_t mix = packet->value * UINT64_C(0x9e3779b97f4a7c15) ^ packet->object_id;
    mix = (mix ^ mix >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return making->thinning == 0 || mix >> (MIXED_BITS - making->thinning) == 0;
}

/* Keeps every second key. */
static void thin_out(struct making *making)
{
    size_t n = 0;
    making->thinning++;
    for (size_t k = 0; k < making->packets.n; k++)
        if (is_kept(making, &making->packets.items[k]))
            making->packets.items[n++] = making->packets.items[k];
    making->packets.n = n;
}

static enum weft_code packet_add(struct making *making, struct packet packet, struct weft_err *err)
{
    while (making->packets.n == MOST_PACKETS && making->thinning < MIXED_BITS - 1)
        thin_out(making);
    if (!is_kept(making, &packet) || making->packets.n == MOST_PACKETS)
        return WEFT_OK;
    struct packet *kept = WEFT_VEC_PUSH(&making->packets);
    if (!kept)
        return weft_no_memory(err, "packets of hosts");
    *kept = packet;
    return WEFT_OK;
}

size_t weft_clock_sync_host(const struct weft_clock_sync *sync, size_t trace, uint32_t host_id)
{
    for (size_t k = 0; k < sync->n_hosts; k++)
        if (sync->hosts[k].host_id == host_id &&
            (!sync->is_by_trace || sync->hosts[k].trace == trace))
            return k;
    return SIZE_MAX;
}

/* The host's place, a new one if need be; SIZE_MAX if there are too many. */
static size_t host_add(struct weft_clock_sync *sync, size_t trace, uint32_t host_id)
{
    const size_t found = weft_clock_sync_host(sync, trace, host_id);
    if (found != SIZE_MAX || sync->n_hosts == MOST_HOSTS)
        return found;
    sync->hosts[sync->n_hosts] =
        (struct weft_sync_host){ .trace = (uint32_t)trace, .host_id = host_id };
    return sync->n_hosts++;
}

static enum weft_code thread_read(struct making *making, size_t trace, uint32_t thread_id,
                                  struct weft_event_buf *buf, struct weft_err *err)
{
    struct weft_store *store = making->traces[trace].store;
    const struct weft_store_thread *thread = weft_store_thread_get(store, thread_id);
    enum weft_code code = WEFT_OK;
    for (uint64_t k = 0; k < thread->n_event_blocks && code == WEFT_OK; k++) {
        const struct weft_event *events;
        size_t n = 0;
        if (!(weft_store_event_block_get(store, thread_id, k)->kinds & PACKET_KINDS))
            continue;
        const size_t host = host_add(making->sync, trace, thread->info.host_id);
        if (host == SIZE_MAX)
            return WEFT_OK;
        code = weft_store_load_events(store, thread_id, k, buf, &events, &n, err);
        for (size_t i = 0; i < n && code == WEFT_OK; i++) {
            if (!(PACKET_KINDS >> events[i].kind & 1))
                continue;
            const struct packet packet = {
                .value = events[i].value,
                .time_ns = weft_add_sat_u64(events[i].time_ns, making->traces[trace].shift_ns),
                .object_id = events[i].object_id,
                .host = (uint32_t)host,
                .is_sent = events[i].kind == WEFT_EVENT_PACKET_SENT,
            };
            code = packet_add(making, packet, err);
        }
    }
    return code;
}

static bool has_packets(const struct weft_store *store)
{
    const uint64_t *n = weft_store_meta_get(store)->events_of_kind;
    return n[WEFT_EVENT_PACKET_SENT] > 0 && n[WEFT_EVENT_PACKET_RECEIVED] > 0;
}

static enum weft_code packets_read(struct making *making, struct weft_err *err)
{
    struct weft_event_buf *buf = weft_event_buf_new();
    enum weft_code code = buf ? WEFT_OK : weft_no_memory(err, "packets of hosts");
    for (size_t k = 0; k < making->n_traces; k++) {
        const struct weft_store *store = making->traces[k].store;
        for (uint32_t id = 0; has_packets(store) && id < weft_store_meta_get(store)->n_threads;
             id++)
            WEFT_THEN(code, thread_read(making, k, id, buf, err));
    }
    weft_event_buf_free(buf);
    return code;
}

/* ---- from one host to another ---------------------------------------------------------------- */

static int by_key(const void *a_void, const void *b_void)
{
    const struct packet *a = a_void, *b = b_void;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    if (a->object_id != b->object_id)
        return a->object_id < b->object_id ? -1 : 1;
    if (a->is_sent != b->is_sent)
        return a->is_sent - b->is_sent; /* received, sent */
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static bool is_same_key(const struct packet *a, const struct packet *b)
{
    return a->value == b->value && a->object_id == b->object_id;
}

/* What was sent twice, or received twice, may be another one, or one that two traces of a host
 * have. */
static enum weft_code crossings_find(struct making *making, struct weft_err *err)
{
    struct packet *packets = making->packets.items;
    const size_t n = making->packets.n;
    if (n > 0)
        qsort(packets, n, sizeof *packets, by_key);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && is_same_key(&packets[from], &packets[to]);)
            to++;
        const struct packet *in = &packets[to - 2], *out = &packets[to - 1];
        const bool is_twice = to - from > 1 && in->is_sent;
        if (to - from == 1 || in->host == out->host || (to - from > 2 && !is_twice) ||
            !out->is_sent)
            continue;
        struct crossing *crossing = WEFT_VEC_PUSH(&making->crossings);
        if (!crossing)
            return weft_no_memory(err, "packets of hosts");
        const struct packet *low = in->host < out->host ? in : out;
        const struct packet *high = low == in ? out : in;
        *crossing = (struct crossing){ .low = low->host,
                                       .high = high->host,
                                       .low_ns = low->time_ns,
                                       .high_ns = high->time_ns,
                                       .is_from_low = low->is_sent,
                                       .is_twice = is_twice };
    }
    return WEFT_OK;
}

static int by_hosts(const void *a_void, const void *b_void)
{
    const struct crossing *a = a_void, *b = b_void;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return (a->high > b->high) - (a->high < b->high);
}

/* Not a chance meeting of numbers. */
static bool is_evident(const struct weft_sync_host *host)
{
    return host->n_sent >= LEAST_PACKETS && host->n_received >= LEAST_PACKETS &&
           (!host->fit.is_contradicted || host->fit.accuracy_ns <= MOST_CONTRADICTION_NS);
}

/* The line of a host to another one, from the packets between them. */
static enum weft_code pair_fit(const struct crossing *crossings, size_t n, bool is_low_child,
                               struct weft_sync_host *host, bool *is_known, struct weft_err *err)
{
    struct weft_clock_point *points = calloc(n, sizeof *points);
    size_t n_points = 0;
    if (!points)
        return weft_no_memory(err, "packets of hosts");
    host->n_sent = host->n_received = 0;
    for (size_t k = 0; k < n; k++) {
        const struct crossing *crossing = &crossings[k];
        if (crossing->is_twice)
            continue;
        struct weft_clock_point *point = &points[n_points++];
        *point = (struct weft_clock_point){
            .at_ns = is_low_child ? crossing->low_ns : crossing->high_ns,
            .other_ns = is_low_child ? crossing->high_ns : crossing->low_ns,
            .is_sent = crossing->is_from_low == is_low_child,
        };
        host->n_sent += point->is_sent;
        host->n_received += !point->is_sent;
    }
    const enum weft_code code = weft_clock_fit_find(points, n_points, &host->fit, is_known, err);
    *is_known = *is_known && n_points > n - n_points && is_evident(host);
    free(points);
    return code;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Is the line better than the best so far? Packets that contradict each other are worse than any.
 */
static bool is_better(const struct weft_clock_fit *fit, const struct weft_clock_fit *best)
{
    if (fit->is_contradicted != best->is_contradicted)
        return best->is_contradicted;
    return fit->accuracy_ns < best->accuracy_ns;
}

static bool is_reached(const struct weft_clock_sync *sync, size_t host)
{
    return host == sync->root || sync->hosts[host].is_set;
}

/* Sets the host that can be set best from those that are; `*is_done`: there is none. */
static enum weft_code host_set(struct making *making, bool *is_done, struct weft_err *err)
{
    struct weft_clock_sync *sync = making->sync;
    const struct crossing *crossings = making->crossings.items;
    const size_t n = making->crossings.n;
    struct weft_sync_host best = { 0 };
    size_t best_host = SIZE_MAX, best_parent = 0;
    enum weft_code code = WEFT_OK;
    for (size_t from = 0, to; from < n && code == WEFT_OK; from = to) {
        const size_t low = crossings[from].low, high = crossings[from].high;
        for (to = from + 1; to < n && by_hosts(&crossings[from], &crossings[to]) == 0;)
            to++;
        if (is_reached(sync, low) == is_reached(sync, high))
            continue;
        const size_t child = is_reached(sync, low) ? high : low;
        struct weft_sync_host host = sync->hosts[child];
        bool is_known;
        code = pair_fit(&crossings[from], to - from, child == low, &host, &is_known, err);
        if (code != WEFT_OK || !is_known ||
            (best_host != SIZE_MAX && !is_better(&host.fit, &best.fit)))
            continue;
        best = host;
        best_host = child;
        best_parent = child == low ? high : low;
    }
    *is_done = code != WEFT_OK || best_host == SIZE_MAX;
    if (*is_done)
        return code;
    best.is_set = true;
    best.fit.next = best_parent == sync->root ? NULL : &sync->hosts[best_parent].fit;
    sync->hosts[best_host] = best;
    sync->n_set++;
    return WEFT_OK;
}

/* The first host of those that have packets of others, or sent them some. */
static size_t root_choose(const struct making *making)
{
    const struct weft_sync_host *hosts = making->sync->hosts;
    size_t best = making->crossings.items[0].low;
    for (size_t k = 0; k < 2 * making->crossings.n; k++) {
        const struct crossing *crossing = &making->crossings.items[k / 2];
        const size_t host = k % 2 ? crossing->high : crossing->low;
        if (hosts[host].trace < hosts[best].trace ||
            (hosts[host].trace == hosts[best].trace && hosts[host].host_id < hosts[best].host_id))
            best = host;
    }
    return best;
}

enum weft_code weft_clock_sync_make(const struct weft_sync_trace *traces, size_t n_traces,
                                    bool is_by_trace, struct weft_clock_sync *sync,
                                    struct weft_err *err)
{
    struct making making = { .traces = traces, .n_traces = n_traces, .sync = sync };
    *sync = (struct weft_clock_sync){ .is_by_trace = is_by_trace,
                                      .hosts = calloc(MOST_HOSTS, sizeof *sync->hosts) };
    enum weft_code code =
        sync->hosts ? packets_read(&making, err) : weft_no_memory(err, "packets of hosts");
    WEFT_THEN(code, crossings_find(&making, err));
    WEFT_VEC_FINI(&making.packets);
    if (making.crossings.n > 0)
        qsort(making.crossings.items, making.crossings.n, sizeof *making.crossings.items, by_hosts);
    if (code == WEFT_OK && making.crossings.n > 0)
        sync->root = root_choose(&making);
    for (bool is_done = making.crossings.n == 0; code == WEFT_OK && !is_done;)
        code = host_set(&making, &is_done, err);
    WEFT_VEC_FINI(&making.crossings);
    if (code != WEFT_OK)
        weft_clock_sync_fini(sync);
    return code;
}

void weft_clock_sync_fini(struct weft_clock_sync *sync)
{
    free(sync->hosts);
    *sync = (struct weft_clock_sync){ 0 };
}
