/* SPDX-License-Identifier: MIT
 *
 * Periods of threads: of loops that are late at random, whatever the order of their executions.
 */
#include "analysis/executions/period.h"
#include "base/vec.h"
#include "failing_alloc.h"
#include "tap.h"

enum { THREADS = 4, EACH = 50, ITEMS = THREADS * EACH };

/* Each thread is due every period_ns[i], and late by up to late_ns[i]. */
struct scene {
    uint64_t period_ns[THREADS], late_ns[THREADS];
    const char *names[THREADS];
    struct weft_execution_item items[ITEMS];
    struct weft_ecct_matrix matrix;
};

static void scene_init(struct scene *scene, uint64_t *state)
{
    for (size_t i = 0; i < ITEMS; i++) {
        const size_t thread = i % THREADS;
        const uint64_t late_ns =
            scene->late_ns[thread] ? tap_random(state) % scene->late_ns[thread] : 0;
        scene->items[i] = (struct weft_execution_item){
            .tid = 100 + thread,
            .thread = weft_str_of(scene->names[thread]),
            .start_ns = i / THREADS * scene->period_ns[thread] + late_ns,
        };
    }
    for (size_t i = ITEMS; i-- > 1;) { /* in no order */
        const size_t other = tap_random(state) % (i + 1);
        const struct weft_execution_item item = scene->items[i];
        scene->items[i] = scene->items[other];
        scene->items[other] = item;
    }
    scene->matrix = (struct weft_ecct_matrix){ .items = scene->items, .n_items = ITEMS };
}

static bool add(struct weft_periods *periods, const struct weft_ecct_matrix *matrix)
{
    struct weft_err err = { 0 };
    return weft_periods_add(periods, matrix, &err) == WEFT_OK;
}

static bool is_about(double period_ns, uint64_t wanted_ns)
{
    return period_ns > 0.9 * (double)wanted_ns && period_ns < 1.1 * (double)wanted_ns;
}

static double period_of(const struct weft_periods *periods, const char *name)
{
    return weft_periods_of_ns(periods, weft_str_of(name));
}

static void test_periods(uint64_t *state)
{
    struct scene scene = { .period_ns = { 10000000, 33000000, 1000000, 5000000 },
                           .late_ns = { 1000000, 0, 900000, 500000 },
                           .names = { "ctl", "tlm", "late", "fine" } };
    struct weft_periods periods = { 0 };
    scene_init(&scene, state);
    tap_ok(add(&periods, &scene.matrix), "begins of four threads");
    tap_ok(is_about(period_of(&periods, "ctl"), scene.period_ns[0]), "late by a tenth: a period");
    tap_ok(period_of(&periods, "tlm") == 33e6, "never late: its period");
    tap_ok(period_of(&periods, "late") == 0, "late by nine tenths: none");
    tap_ok(period_of(&periods, "nobody") == 0, "no such thread");
    tap_ok(add(&periods, &scene.matrix) && period_of(&periods, "tlm") == 0,
           "of two types: no one period");
    WEFT_VEC_FINI(&periods);
}

static void test_names(uint64_t *state)
{
    struct scene scene = { .period_ns = { 10000, 10000, 10000, 10000 },
                           .names = { "pool", "pool", "one", "two" } };
    struct weft_periods periods = { 0 };
    scene_init(&scene, state);
    tap_ok(add(&periods, &scene.matrix) && period_of(&periods, "pool") == 0 &&
               period_of(&periods, "two") == 10000,
           "a name of two threads has none");
    scene.matrix.n_items = 10;
    periods.n = 0;
    tap_ok(add(&periods, &scene.matrix) && period_of(&periods, "two") == 0,
           "a few executions have none");
    WEFT_VEC_FINI(&periods);
}

static void test_many(void)
{
    static struct weft_execution_item items[2 * WEFT_PERIOD_THREADS_MOST];
    static char names[2 * WEFT_PERIOD_THREADS_MOST][8];
    const size_t n = sizeof items / sizeof *items;
    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "t%zu", i);
        items[i] = (struct weft_execution_item){ .tid = i, .thread = weft_str_of(names[i]) };
    }
    const struct weft_ecct_matrix matrix = { .items = items, .n_items = n };
    struct weft_periods periods = { 0 };
    tap_ok(add(&periods, &matrix) && periods.n == WEFT_PERIOD_THREADS_MOST,
           "of very many threads few are kept");
    WEFT_VEC_FINI(&periods);
}

/* Of exactly as many threads as are kept each has its period; of one more none has. */
static void test_most(void)
{
    enum { BEGINS = 11, NAMED = WEFT_PERIOD_THREADS_MOST + 1 };
    static struct weft_execution_item items[NAMED * BEGINS];
    static char names[NAMED][8];
    for (size_t i = 0; i < NAMED * BEGINS; i++) {
        const size_t thread = i / BEGINS;
        snprintf(names[thread], sizeof names[thread], "t%zu", thread);
        items[i] = (struct weft_execution_item){ .tid = thread,
                                                 .thread = weft_str_of(names[thread]),
                                                 .start_ns = i % BEGINS * 1000 };
    }
    for (size_t n = WEFT_PERIOD_THREADS_MOST; n <= NAMED; n++) {
        const struct weft_ecct_matrix matrix = { .items = items, .n_items = n * BEGINS };
        const double wanted_ns = n == WEFT_PERIOD_THREADS_MOST ? 1000 : 0;
        struct weft_periods periods = { 0 };
        tap_ok(add(&periods, &matrix) && period_of(&periods, "t0") == wanted_ns &&
                   period_of(&periods, "t255") == wanted_ns,
               "%zu threads", n);
        WEFT_VEC_FINI(&periods);
    }
}

static bool add_one_thread(const struct weft_ecct_matrix *matrix)
{
    struct weft_periods periods = { 0 };
    const bool is_done = add(&periods, matrix);
    WEFT_VEC_FINI(&periods);
    return is_done;
}

static void test_memory(void)
{
    struct weft_execution_item items[20] = { 0 };
    struct weft_ecct_matrix matrix = { .items = items, .n_items = 20 };
    unsigned n_failures = 0;
    for (int k = 0; k < 10; k++) {
        n_until_failure = k;
        const bool is_done = add_one_thread(&matrix);
        n_until_failure = -1;
        if (is_done)
            break;
        n_failures++;
    }
    tap_ok(n_failures == 3, "without memory it says so");
}

int main(void)
{
    uint64_t state = tap_seed(20261124);
    test_periods(&state);
    test_names(&state);
    test_many();
    test_most();
    test_memory();
    return tap_done();
}
