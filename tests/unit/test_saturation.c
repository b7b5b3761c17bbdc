/* SPDX-License-Identifier: MIT
 *
 * Whether other programs fill the processors that a program runs on, and no others.
 */
#include "analysis/states/saturation.h"
#include "tap.h"

#include <math.h>

enum { CPUS = 2, OWN = 0, HOG = 1 };

/* Two processors, for 100 ns: what the program and another one run on each; the rest is idle. */
struct scene {
    const char *name;
    uint64_t own_ns[CPUS], other_ns[CPUS];
    double own, other, idle;
    bool is_full, takes_places;
    uint64_t unknown_ns; /* of each, that nothing tells of */
};

static void test_scene(const struct scene *scene)
{
    struct weft_saturation_thread threads[] = { [OWN] = { 0 }, [HOG] = { .is_foreign = true } };
    struct weft_cpu_share shares[CPUS][2];
    struct weft_cpu_row rows[CPUS];
    for (size_t i = 0; i < CPUS; i++) {
        const struct weft_cpu_share own = { .thread_id = OWN, .run_ns = scene->own_ns[i] };
        const struct weft_cpu_share other = { .thread_id = HOG, .run_ns = scene->other_ns[i] };
        shares[i][0] = own;
        shares[i][1] = other;
        rows[i] = (struct weft_cpu_row){ .cpu = (int32_t)i,
                                         .idle_ns = 100 - scene->own_ns[i] - scene->other_ns[i] -
                                                    scene->unknown_ns,
                                         .threads = shares[i],
                                         .n_threads = 2 };
    }
    const struct weft_cpu_table table = { .to_ns = 100, .rows = rows, .n_rows = CPUS };
    const struct weft_saturation saturation = weft_saturation_of(&table, threads);
    tap_ok(fabs(saturation.own - scene->own) < 1e-9 &&
               fabs(saturation.other - scene->other) < 1e-9 &&
               fabs(saturation.idle - scene->idle) < 1e-9,
           "%s: shares", scene->name);
    tap_ok(weft_saturation_is_full(&saturation) == scene->is_full, "%s: %s", scene->name,
           scene->is_full ? "full" : "not full");
    tap_ok(weft_saturation_takes_places(&saturation) == scene->takes_places, "%s: %s", scene->name,
           scene->takes_places ? "it had more places" : "others take none from it");
}

int main(void)
{
    static const struct scene scenes[] = {
        { "hogs on both", { 20, 20 }, { 80, 80 }, 0.2, 0.8, 0, true, true, 0 },
        { "a hog where the program is not",
          { 60, 0 },
          { 5, 100 },
          0.6,
          0.05,
          0.35,
          false,
          false,
          0 },
        { "a hog beside it, and time left",
          { 20, 20 },
          { 60, 60 },
          0.2,
          0.6,
          0.2,
          false,
          false,
          0 },
        { "a program that has most itself", { 60, 60 }, { 40, 40 }, 0.6, 0.4, 0, false, false, 0 },
        { "bound to a processor that a hog fills",
          { 20, 0 },
          { 80, 100 },
          0.2,
          0.8,
          0,
          true,
          false,
          0 },
        { "mostly unknown", { 10, 10 }, { 20, 20 }, 0.1, 0.2, 0.05, false, false, 65 },
        { "weighed by where it runs", { 10, 30 }, { 90, 10 }, 0.25, 0.3, 0.45, false, false, 0 },
        { "a program that never ran", { 0, 0 }, { 100, 100 }, 0, 0, 0, false, false, 0 },
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        test_scene(&scenes[i]);
    return tap_done();
}
