/* SPDX-License-Identifier: MIT
 *
 * Critical paths of traces that are not whole: events lost here and there, a beginning or an end
 * that is missing. A client asks servers and waits, so that all of its time has an explanation
 * while the trace is whole. Whatever is missing, the path fills its interval and its sums add up;
 * the more is missing, the more is unexplained.
 */
#include "analysis/path/critical_path.h"
#include "schema/result.h"
#include "text_trace.h"

#include <unistd.h>

enum { SEEDS = 60, ROUNDS = 30, SERVERS = 3, TEXT_BYTES = TOLD_LINES * 32 };

/* Threads: the idle tasks of the processors, the client on processor 0, servers on the others. */
enum { CLIENT = 1 + SERVERS, N_THREADS = 2 * (1 + SERVERS) };

static char path[512];

struct text {
    char bytes[TEXT_BYTES];
    size_t n;
    uint64_t state;
    unsigned lost_percent;
    uint64_t from_ns, to_ns; /* what lies outside is cut off */
};

static void put(struct text *text, uint64_t at_ns, unsigned cpu, const char *rest)
{
    if (tap_random(&text->state) % 100 < text->lost_percent || at_ns < text->from_ns ||
        at_ns >= text->to_ns)
        return;
    text->n += (size_t)snprintf(text->bytes + text->n, TEXT_BYTES - text->n, "%" PRIu64 " %u %s\n",
                                at_ns, cpu, rest);
}

static void put_switch(struct text *text, uint64_t at_ns, unsigned cpu, unsigned from, unsigned to)
{
    char rest[64];
    (void)snprintf(rest, sizeof rest, "switch %u %d %u", from, from > SERVERS, to);
    put(text, at_ns, cpu, rest);
}

static void put_waking(struct text *text, uint64_t at_ns, unsigned cpu, unsigned from, unsigned to)
{
    char rest[64];
    (void)snprintf(rest, sizeof rest, "waking %u %u", from, to);
    put(text, at_ns, cpu, rest);
}

/* Gives the time of the end. */
static uint64_t write_program(struct text *text, uint64_t seed)
{
    uint64_t state = seed, at_ns = 0;
    put_switch(text, 0, 0, 0, CLIENT);
    for (unsigned k = 0; k < ROUNDS; k++) {
        const unsigned cpu = 1 + (unsigned)(tap_random(&state) % SERVERS), server = CLIENT + cpu;
        at_ns += 5 + tap_random(&state) % 40;
        put_waking(text, at_ns, 0, CLIENT, server);
        put_switch(text, at_ns + 2, 0, CLIENT, 0);
        put_switch(text, at_ns + 3, cpu, cpu, server);
        at_ns += 5 + tap_random(&state) % 60;
        put_waking(text, at_ns, cpu, server, CLIENT);
        put_switch(text, at_ns + 2, cpu, server, cpu);
        at_ns += 3;
        put_switch(text, at_ns, 0, 0, CLIENT);
    }
    at_ns += 10;
    put_switch(text, at_ns, 0, CLIENT, 0);
    return at_ns;
}

static bool is_whole(const struct weft_path_table *table)
{
    uint64_t at_ns = table->from_ns, sum_ns = 0;
    for (size_t i = 0; i < table->n_segments; i++) {
        if (table->segments[i].start_ns != at_ns || table->segments[i].end_ns <= at_ns)
            return false;
        at_ns = table->segments[i].end_ns;
    }
    for (size_t i = 0; i < table->n_threads; i++)
        sum_ns += table->threads[i].sum_ns;
    return at_ns == table->to_ns && sum_ns == table->to_ns - table->from_ns;
}

/* What is unexplained of the client's path, in ns; UINT64_MAX: it is wrong. */
static uint64_t unexplained(const struct text *text, uint64_t end_ns, const struct weft_run *run)
{
    struct text_thread threads[N_THREADS];
    struct weft_trace *trace = NULL;
    struct weft_path_table *table = NULL;
    struct weft_err err = { 0 };
    uint64_t ns = UINT64_MAX;
    for (uint32_t i = 0; i < N_THREADS; i++)
        threads[i] = (struct text_thread){ .tid = i > SERVERS ? 100 + i : 0,
                                           .generation = i > SERVERS ? 0 : i };
    const struct weft_path_opts opts = { .thread_id = CLIENT,
                                         .to_ns = end_ns,
                                         .call_depth = WEFT_PATH_INNERMOST };
    if (text_trace_write(path, threads, N_THREADS, text->bytes) != WEFT_OK ||
        weft_trace_open(path, &trace, &err) != WEFT_OK)
        abort();
    if (weft_path_run(trace, &opts, run, &table, &err) == WEFT_OK && is_whole(table))
        ns = table->unexplained_ns;
    weft_result_free(table);
    weft_trace_close(trace);
    return ns;
}

static void check(const char *what, unsigned lost_percent, unsigned cut_percent,
                  const struct weft_run *run, uint64_t *sum_ns)
{
    static struct text text;
    uint64_t n_wrong = 0;
    *sum_ns = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        text = (struct text){ .state = seed * 31, .to_ns = UINT64_MAX };
        const uint64_t end_ns = write_program(&text, seed);
        text = (struct text){ .state = seed * 31,
                              .lost_percent = lost_percent,
                              .from_ns = end_ns * cut_percent / 100,
                              .to_ns = end_ns + 1 - end_ns * cut_percent / 100 };
        (void)write_program(&text, seed);
        const uint64_t ns = unexplained(&text, end_ns, run);
        n_wrong += ns == UINT64_MAX;
        *sum_ns += ns == UINT64_MAX ? 0 : ns;
    }
    tap_eq_u64(n_wrong, 0, "%s: paths fill their intervals", what);
    tap_note("%s: %" PRIu64 " ns unexplained in %d paths", what, *sum_ns, SEEDS);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    struct weft_run run = { .pool = weft_pool_new(1) };
    uint64_t whole_ns, few_ns, many_ns, most_ns, cut_ns, twice_ns;
    (void)snprintf(path, sizeof path, "%s/oracle_path_holes.weft", root ? root : ".");
    check("nothing is lost", 0, 0, &run, &whole_ns);
    check("5 % are lost", 5, 0, &run, &few_ns);
    check("20 % are lost", 20, 0, &run, &many_ns);
    check("60 % are lost", 60, 0, &run, &most_ns);
    check("10 % are cut off at both ends", 0, 10, &run, &cut_ns);
    check("30 % are cut off, 20 % are lost", 20, 30, &run, &twice_ns);
    tap_eq_u64(whole_ns, 0, "of a whole trace all is explained");
    tap_ok(few_ns > 0 && many_ns > few_ns && most_ns > many_ns,
           "the more is lost, the more is unexplained");
    tap_ok(cut_ns > 0 && twice_ns > cut_ns, "so it is with what is cut off");
    weft_pool_free(run.pool);
    (void)unlink(path);
    return tap_done();
}
