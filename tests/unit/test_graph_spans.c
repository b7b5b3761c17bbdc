/* SPDX-License-Identifier: MIT
 *
 * Spans of a thread that waits, runs and is in no call; kept for all, or not where there is no
 * memory; and places for blocks of different sizes.
 */
#include "model/calls/slots.h"
#include "model/graph/spans.h"
#include "text_trace.h"

#include <stdlib.h>
#include <unistd.h>

/* work 10-100, in it pthread_cond_wait 20-90 with work 30-40 inside; nothing 100-200; work
 * 200-300. */
static const char events[] = "10 0 enter 0 1\n20 0 enter 0 2\n30 0 enter 0 1\n40 0 exit 0 1\n"
                             "90 0 exit 0 2\n100 0 exit 0 1\n200 0 enter 0 1\n300 0 exit 0 1\n";

static void check_spans(const struct weft_graph_spans *spans, const char *how)
{
    static const struct weft_graph_span want[] = {
        { 0, false, true, WEFT_WAITS_FOR_ANY },   { 10, false, false, WEFT_WAITS_FOR_ANY },
        { 20, true, false, WEFT_WAITS_FOR_ANY },  { 90, false, false, WEFT_WAITS_FOR_ANY },
        { 100, false, true, WEFT_WAITS_FOR_ANY }, { 200, false, false, WEFT_WAITS_FOR_ANY },
        { 300, false, true, WEFT_WAITS_FOR_ANY },
    };
    const size_t n = sizeof want / sizeof *want;
    bool is_ok = spans->spans.n == n && spans->from_ns == 0 && spans->to_ns == UINT64_MAX;
    for (size_t i = 0; is_ok && i < n; i++)
        is_ok = spans->spans.items[i].start_ns == want[i].start_ns &&
                spans->spans.items[i].is_wait == want[i].is_wait &&
                spans->spans.items[i].is_gap == want[i].is_gap &&
                spans->spans.items[i].for_what == want[i].for_what;
    tap_ok(is_ok, "spans tile the thread, %s", how);
    for (size_t i = 0; !is_ok && i < spans->spans.n; i++)
        tap_note("%llu: %d %d", (unsigned long long)spans->spans.items[i].start_ns,
                 spans->spans.items[i].is_wait, spans->spans.items[i].is_gap);
}

static void share(const struct weft_trace *trace, uint64_t memory_bytes)
{
    struct weft_graph_known *known = weft_graph_known_new(trace, memory_bytes);
    struct weft_graph_spans_room room = { .buf = NULL };
    const struct weft_graph_spans *first = NULL, *second = NULL;
    struct weft_graph_spans *own = NULL, *other = NULL;
    if (!known || weft_graph_spans_of(known, 0, 0, 1, &room, &first, &own, NULL) != WEFT_OK ||
        weft_graph_spans_of(known, 0, 0, 1, &room, &second, &other, NULL) != WEFT_OK)
        abort();
    const bool is_kept = memory_bytes == 0;
    tap_ok((own == NULL) == is_kept && (other == NULL) == is_kept && (first == second) == is_kept,
           "%s", is_kept ? "they are kept for all" : "without memory each has its own");
    check_spans(second, is_kept ? "kept" : "not kept");
    weft_graph_spans_free(own);
    weft_graph_spans_free(other);
    weft_graph_spans_room_fini(&room);
    weft_graph_known_free(known);
}

/* Asks for a block as a cache does; returns how many places are used then. */
static size_t ask(struct weft_slots *slots, struct weft_slots_room *room, uint64_t block,
                  uint64_t n_bytes)
{
    bool is_held;
    size_t freed;
    const size_t place =
        weft_slots_find(slots, weft_slots_room_for(room, n_bytes), 0, block, &is_held);
    if (!is_held) {
        weft_slots_hold(slots, place, 0, block);
        if (n_bytes > room->bytes[place])
            weft_slots_room_take(room, place, n_bytes);
        while (weft_slots_room_shrink(room, slots, 1, &freed))
            ;
    }
    return room->n;
}

static void places(void)
{
    enum { FEW_BYTES = 10, MANY_BYTES = 1000, LIMIT = 2000 };
    static struct weft_slots slots;
    static struct weft_slots_room room = { .most_bytes = LIMIT };
    size_t n = 0;
    for (uint64_t block = 0; block < WEFT_SLOTS; block++)
        n = ask(&slots, &room, block, FEW_BYTES);
    tap_eq_u64(n, LIMIT / FEW_BYTES, "as many small blocks as there is room for");
    bool is_held;
    (void)weft_slots_find(&slots, n, 0, WEFT_SLOTS - 1, &is_held);
    tap_ok(is_held, "the last one is there");
    for (uint64_t block = 0; block < 3 * WEFT_SLOTS; block++)
        n = ask(&slots, &room, 1000 + block, MANY_BYTES);
    tap_ok(n >= WEFT_SLOTS_FEW && room.n_bytes <= (WEFT_SLOTS_FEW + 1) * MANY_BYTES,
           "large ones take the places of small ones: %zu, %llu bytes", n,
           (unsigned long long)room.n_bytes);
}

int main(void)
{
    static const struct text_thread thread = { .tid = TOLD_PROCESS };
    char path[512];
    const char *root = getenv("WEFT_BUILD_ROOT");
    struct weft_trace *trace = NULL;
    (void)snprintf(path, sizeof path, "%s/test_graph_spans.%d.weft", root ? root : ".",
                   (int)getpid());
    if (text_trace_write(path, &thread, 1, events) != WEFT_OK ||
        weft_trace_open(path, &trace, NULL) != WEFT_OK)
        abort();
    share(trace, 0);
    share(trace, 1);
    weft_trace_close(trace);
    (void)unlink(path);
    places();
    return tap_done();
}
