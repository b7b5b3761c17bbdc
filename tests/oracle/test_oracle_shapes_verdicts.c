/* SPDX-License-Identifier: MIT
 *
 * What is rare, and whether a table keeps its promises: judged a second time, from every occurrence
 * and by the listings of the paper; on tables of random traces, whole and damaged.
 */
#include "analysis/shapes/rare.h"
#include "analysis/shapes/shapes.h"
#include "naive_shapes_table.h"
#include "query/shapes.h"
#include "random_trace.h"
#include "schema/result.h"
#include "tap.h"

#include <math.h>
#include <string.h>

/* Verifying takes long: it compares as many triples of shapes of a small trace as of a large one.
 */
enum { TRACES = 400, VERIFIED_EVERY = 16, DAMAGES = 2, MOST_CALLS = 60 };

struct fixture {
    struct naive_memory memory;
    struct memory_trace memory_trace;
    struct naive_result naive;
    struct weft_trace *trace;
    struct weft_shapes_table *table;
    const struct naive_shape **trees; /* by shape id */
};

static bool fixture_init(struct fixture *fixture, struct random_source *random,
                         struct weft_pool *pool)
{
    char path[MEMORY_PATH_BYTES];
    struct weft_shapes_opts opts;
    const struct weft_run run = { .pool = pool };
    *fixture = (struct fixture){ .memory_trace = random_trace(random, MOST_CALLS) };
    weft_shapes_defaults(&opts);
    opts.threshold_halves = (uint32_t)random_below(random, 6);
    fixture->naive = naive_shapes(&fixture->memory, &fixture->memory_trace, NULL, &opts);
    memory_store_path(&fixture->memory_trace, path);
    if (weft_trace_open(path, &fixture->trace, NULL) ||
        weft_shapes_run(fixture->trace, NULL, &opts, &run, &fixture->table, NULL))
        return false;
    const struct weft_shapes_table *table = fixture->table;
    fixture->trees = naive_take(&fixture->memory, table->n_shapes * sizeof *fixture->trees);
    for (uint32_t id = 0; id < table->n_shapes; id++) {
        struct naive_shape *tree = naive_shape_new(&fixture->memory, table->shapes[id].function_id);
        for (uint32_t i = 0; i < table->shapes[id].n_children; i++)
            naive_child_add(&fixture->memory, tree, fixture->trees[table->shapes[id].children[i]]);
        fixture->trees[id] = tree;
    }
    return true;
}

static void fixture_fini(struct fixture *fixture)
{
    weft_result_free(fixture->table);
    weft_trace_close(fixture->trace);
    naive_free(&fixture->memory);
    random_trace_free(&fixture->memory_trace);
}

/* ---- rare ------------------------------------------------------------------------------------ */

static uint64_t ns_of(const struct weft_shape_occurrence *at)
{
    return at->end_ns - at->start_ns;
}

/* What the occurrences of a shape, or of all shapes of its function, say. */
struct tally {
    uint64_t count, sum_ns;
    bool is_on[8]; /* by thread */
    uint32_t n_threads;
    const struct weft_shape_occurrence *slowest;
};

static struct tally tally_of(const struct fixture *fixture, uint32_t id, bool is_function)
{
    const struct weft_shapes_table *table = fixture->table;
    struct tally tally = { 0 };
    for (size_t i = 0; i < fixture->naive.n_occurrences; i++) {
        const struct weft_shape_occurrence *at = &fixture->naive.occurrences[i];
        if (is_function ? table->shapes[at->shape_id].function_id != table->shapes[id].function_id
                        : at->shape_id != id)
            continue;
        tally.count++;
        tally.sum_ns += ns_of(at);
        tally.n_threads += !tally.is_on[at->thread_id];
        tally.is_on[at->thread_id] = true;
        if (!tally.slowest || ns_of(at) > ns_of(tally.slowest) ||
            (ns_of(at) == ns_of(tally.slowest) && at->start_ns < tally.slowest->start_ns))
            tally.slowest = at;
    }
    return tally;
}

/* docs/analyses/shapes.md, "Rare"; but whether it is the deepest. */
static struct weft_shape_rare judge(const struct fixture *fixture, uint32_t id, double factor)
{
    const struct tally own = tally_of(fixture, id, false), all = tally_of(fixture, id, true);
    struct weft_shape_rare rare = { .shape_id = id,
                                    .at = *own.slowest,
                                    .function_calls = all.count,
                                    .is_once = own.count == 1 && all.count > 1,
                                    .is_one_thread = own.n_threads == 1 && all.n_threads > 1 };
    if (rare.is_once || rare.is_one_thread) {
        rare.surprise = log2((double)all.count / (double)own.count);
        rare.time_ns = own.sum_ns;
    }
    rare.score = rare.surprise * (double)rare.time_ns;
    if (own.count < 2)
        return rare;
    const uint64_t max_ns = ns_of(own.slowest);
    rare.typical_ns = (own.sum_ns - max_ns) / (own.count - 1);
    const double times = (double)max_ns / (double)(rare.typical_ns ? rare.typical_ns : 1);
    rare.is_slow = times > factor && max_ns >= 1000;
    const uint64_t more_ns = max_ns - rare.typical_ns;
    if (rare.is_slow && log2(times) * (double)more_ns > rare.score) {
        rare.surprise = log2(times);
        rare.time_ns = more_ns;
        rare.score = rare.surprise * (double)more_ns;
    }
    return rare;
}

static bool is_deepest(const struct fixture *fixture, uint32_t id, double factor)
{
    const struct weft_shape *shape = &fixture->table->shapes[id];
    const struct weft_shape_occurrence at = judge(fixture, id, factor).at;
    for (uint32_t i = 0; i < shape->n_children; i++) {
        const struct weft_shape_rare child = judge(fixture, shape->children[i], factor);
        if (child.score > 0 && child.at.thread_id == at.thread_id &&
            child.at.start_ns >= at.start_ns && child.at.end_ns <= at.end_ns &&
            (double)ns_of(&child.at) >= 0.9 * (double)ns_of(&at))
            return false;
    }
    return true;
}

static bool is_same(const struct weft_shape_rare *got, const struct weft_shape_rare *want)
{
    return got->is_once == want->is_once && got->is_one_thread == want->is_one_thread &&
           got->is_slow == want->is_slow && got->time_ns == want->time_ns &&
           got->typical_ns == want->typical_ns && got->function_calls == want->function_calls &&
           fabs(got->surprise - want->surprise) < 1e-12 && got->at.start_ns == want->at.start_ns &&
           got->at.end_ns == want->at.end_ns && got->at.thread_id == want->at.thread_id;
}

static bool check_rare(const struct fixture *fixture, struct random_source *random)
{
    const double factor = (double)random_below(random, 12);
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_shape_rare *rare;
    size_t n = 0, n_want = 0;
    bool is_ok = weft_shape_rare_find(fixture->table, factor, arena, &rare, &n, NULL) == WEFT_OK;
    for (uint32_t id = 0; id < fixture->table->n_shapes; id++)
        n_want += judge(fixture, id, factor).score > 0;
    is_ok = is_ok && n == n_want;
    for (size_t i = 0; is_ok && i < n; i++) {
        const struct weft_shape_rare want = judge(fixture, rare[i].shape_id, factor);
        is_ok = is_same(&rare[i], &want) &&
                rare[i].is_deepest == is_deepest(fixture, rare[i].shape_id, factor) &&
                (i == 0 || rare[i - 1].score > rare[i].score ||
                 (rare[i - 1].score == rare[i].score && rare[i - 1].shape_id < rare[i].shape_id));
        if (!is_ok)
            tap_note("rare %zu: shape %u, factor %g", i, rare[i].shape_id, factor);
    }
    weft_arena_free(arena);
    return is_ok;
}

/* ---- promises -------------------------------------------------------------------------------- */

static bool are_kin(const struct fixture *fixture, const struct weft_shape_cluster *a,
                    const struct weft_shape_cluster *b)
{
    for (uint32_t i = 0; i < a->n_shapes; i++)
        for (uint32_t j = 0; j < b->n_shapes; j++)
            if (naive_is_below(fixture->trees[a->shape_ids[i]], fixture->trees[b->shape_ids[j]]))
                return true;
    return false;
}

static bool clusters_hold(const struct fixture *fixture)
{
    const struct weft_shapes_table *table = fixture->table;
    for (size_t c = 0; c < table->n_clusters; c++) {
        const struct weft_shape_cluster *cluster = &table->clusters[c];
        if (are_kin(fixture, cluster, cluster))
            return false;
        for (uint32_t i = 0; i < cluster->n_shapes; i++)
            for (uint32_t j = 0; j < i; j++) {
                const struct naive_shape *a = fixture->trees[cluster->shape_ids[i]];
                const struct naive_shape *b = fixture->trees[cluster->shape_ids[j]];
                if (a->function != b->function || naive_distance(a, b) > table->threshold_halves)
                    return false;
            }
    }
    return true;
}

static bool ribbon_holds(const struct fixture *fixture, const struct weft_shape_ribbon *ribbon)
{
    const struct weft_shape_cluster *clusters = fixture->table->clusters;
    for (uint32_t i = 0; i < ribbon->n_clusters; i++)
        for (uint32_t j = 0; j < ribbon->n_clusters; j++)
            if (are_kin(fixture, &clusters[ribbon->cluster_ids[i]],
                        &clusters[ribbon->cluster_ids[j]]))
                return false;
    return true;
}

static bool ribbons_hold(const struct fixture *fixture)
{
    const struct weft_shapes_table *table = fixture->table;
    bool is_ok = true;
    for (size_t r = 0; r < table->n_ribbons; r++)
        is_ok = is_ok && ribbon_holds(fixture, &table->ribbons[r]);
    for (size_t t = 0; t < table->n_threads; t++)
        for (size_t r = 0; r < table->threads[t].n_ribbons; r++)
            is_ok = is_ok && ribbon_holds(fixture, &table->threads[t].ribbons[r]);
    return is_ok;
}

/* The promises that do not hold, by bit. */
static unsigned broken(const struct fixture *fixture)
{
    struct weft_shape_verdict verdicts[WEFT_PROMISES];
    struct weft_arena *arena = weft_arena_new(0);
    unsigned bits = 0;
    if (weft_shapes_verify(fixture->trace, fixture->table, arena, verdicts, NULL) != WEFT_OK)
        bits = ~0U;
    for (unsigned p = 0; bits != ~0U && p < WEFT_PROMISES; p++)
        bits |= verdicts[p].n_wrong > 0 ? 1U << p : 0;
    weft_arena_free(arena);
    return bits;
}

static bool expect(const struct fixture *fixture, unsigned promise, bool holds, const char *what)
{
    const bool is_ok = ((broken(fixture) >> promise) & 1) == !holds;
    if (!is_ok)
        tap_note("%s: promise %u should %shold", what, promise, holds ? "" : "not ");
    return is_ok;
}

/* Another threshold, another cluster for a shape, and any clusters in one ribbon: what the listings
 * say decides. The table is as before afterwards. */
static bool check_clusters(struct fixture *fixture, struct random_source *random, unsigned *n_bad)
{
    struct weft_shapes_table *table = fixture->table;
    const uint32_t threshold = table->threshold_halves;
    struct weft_shape_cluster *cluster = &table->clusters[random_below(random, table->n_clusters)];
    const struct weft_shape_cluster before = *cluster;
    uint32_t *ids = naive_take(&fixture->memory, table->n_shapes * sizeof *ids);
    table->threshold_halves = (uint32_t)random_below(random, 4);
    *n_bad += !clusters_hold(fixture);
    bool is_ok = expect(fixture, WEFT_PROMISE_CLUSTERS, clusters_hold(fixture), "a threshold");
    table->threshold_halves = 20;
    cluster->n_shapes = 0;
    for (uint32_t id = 0; id < table->n_shapes; id++)
        if (random_below(random, 4) == 0 || id == before.shape_ids[0])
            ids[cluster->n_shapes++] = id;
    cluster->shape_ids = ids;
    for (uint32_t i = 0; i < cluster->n_shapes; i++)
        cluster->depth = table->shapes[ids[i]].depth > cluster->depth ? table->shapes[ids[i]].depth
                                                                      : cluster->depth;
    *n_bad += !clusters_hold(fixture);
    is_ok = is_ok && expect(fixture, WEFT_PROMISE_CLUSTERS, clusters_hold(fixture), "a cluster");
    *cluster = before;
    table->threshold_halves = threshold;
    return is_ok;
}

static bool check_ribbons(struct fixture *fixture, struct random_source *random, unsigned *n_bad)
{
    struct weft_shapes_table *table = fixture->table;
    const struct weft_shape_ribbon *ribbons = table->ribbons;
    const size_t n_ribbons = table->n_ribbons;
    uint32_t *ids = naive_take(&fixture->memory, table->n_clusters * sizeof *ids);
    struct weft_shape_ribbon ribbon = { .cluster_ids = ids };
    for (uint32_t c = 0; c < table->n_clusters; c++)
        if (random_below(random, 3) == 0)
            ids[ribbon.n_clusters++] = c;
    table->ribbons = &ribbon;
    table->n_ribbons = 1;
    const bool holds = ribbons_hold(fixture);
    *n_bad += !holds;
    const bool is_ok = expect(fixture, WEFT_PROMISE_RIBBONS, holds, "a ribbon");
    table->ribbons = ribbons;
    table->n_ribbons = n_ribbons;
    return is_ok;
}

/* Damages one number, or swaps two shapes: always wrong. */
static bool check_numbers(struct fixture *fixture, struct random_source *random)
{
    struct weft_shapes_table *table = fixture->table;
    struct weft_shape *shape = &table->shapes[random_below(random, table->n_shapes)];
    uint64_t *const counts[] = { &shape->count, &shape->sum_ns,
                                 &table->clusters[shape->cluster_id].times.count, &table->calls };
    uint64_t *count = counts[random_below(random, 4)];
    *count += 1 + random_below(random, 9);
    bool is_ok = expect(fixture, WEFT_PROMISE_COUNTS, false, "a number");
    *count = 0; /* put right below, from the shapes that the twin has */
    for (uint32_t id = 0; id < table->n_shapes; id++) {
        table->shapes[id].count = fixture->naive.table.shapes[id].count;
        table->shapes[id].sum_ns = fixture->naive.table.shapes[id].sum_ns;
    }
    for (uint32_t c = 0; c < table->n_clusters; c++)
        table->clusters[c].times.count = fixture->naive.table.clusters[c].times.count;
    table->calls = fixture->naive.table.calls;
    shape->depth++;
    is_ok = is_ok && expect(fixture, WEFT_PROMISE_ORDER, false, "a depth");
    shape->depth--;
    return is_ok && broken(fixture) == 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

int main(void)
{
    struct random_source random = { tap_seed(53) };
    struct weft_pool *pool = weft_pool_new(2);
    unsigned n_rare = 0, n_whole = 0, n_damaged = 0, n_tables = 0, n_bad = 0;
    for (unsigned i = 0; i < TRACES; i++) {
        struct fixture fixture;
        const bool is_ready = fixture_init(&fixture, &random, pool);
        n_rare += is_ready && check_rare(&fixture, &random);
        if (i % VERIFIED_EVERY > 0) {
            fixture_fini(&fixture);
            continue;
        }
        n_whole +=
            is_ready && broken(&fixture) == 0 && clusters_hold(&fixture) && ribbons_hold(&fixture);
        const bool has_shapes = is_ready && fixture.table->n_shapes > 0;
        for (unsigned k = 0; has_shapes && k < DAMAGES; k++, n_tables++)
            n_damaged += check_clusters(&fixture, &random, &n_bad) &&
                         check_ribbons(&fixture, &random, &n_bad) &&
                         check_numbers(&fixture, &random);
        fixture_fini(&fixture);
    }
    weft_pool_free(pool);
    tap_ok(n_rare == TRACES, "what is rare, on %u of %d random traces", n_rare, TRACES);
    tap_ok(n_whole == TRACES / VERIFIED_EVERY, "tables keep their promises: %u of %d", n_whole,
           TRACES / VERIFIED_EVERY);
    tap_ok(n_damaged == n_tables && n_bad > n_tables / 4,
           "damaged ones are told: %u of %u, %u times by the listings", n_damaged, n_tables, n_bad);
    return tap_done();
}
