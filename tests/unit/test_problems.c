/* SPDX-License-Identifier: MIT
 *
 * Problems of random executions, whose sums are made a second time, slowly; event loops; and what
 * is found where executions are slow beside usual ones.
 */
#include "analysis/compare/names.h"
#include "analysis/findings/calls.h"
#include "analysis/findings/kinds.h"
#include "analysis/findings/places.h"
#include "problems_scene.h"
#include "tap.h"

#include <math.h>

/* ---- sums ------------------------------------------------------------------------------------ */

enum { ITEMS = 40, PATHS = 12, TRIES = 2000 };

struct world {
    struct scene scene;
    uint32_t nodes[PATHS], a[ITEMS], b[ITEMS];
    uint64_t keys[MOST]; /* by node: of its problem */
    struct weft_finding finding;
    struct weft_findings_table table;
};

static void make_nodes(struct world *world, uint64_t *seed)
{
    static const char *const functions[] = { "get", "put", "scan" };
    static const char *const locks[] = { "-m", "-n" };
    static const char *const threads[] = { "@flusher", "@log" };
    struct scene *scene = &world->scene;
    for (unsigned i = 0; i < PATHS; i++) {
        const char *function = functions[tap_random(seed) % 3];
        const char *thread = threads[tap_random(seed) % 2];
        switch (tap_random(seed) % 7) {
        case 0:
            world->nodes[i] = PATH(scene, function, ":running");
            break;
        case 1:
            world->nodes[i] = PATH(scene, function, locks[tap_random(seed) % 2], thread, "flush");
            set_waits(scene, world->nodes[i], "m");
            break;
        case 2:
            world->nodes[i] = PATH(scene, function, "nanosleep", ":blocked: timer");
            break;
        case 3:
            world->nodes[i] = PATH(scene, function, "pthread_mutex_lock", thread, "flush");
            set_waits(scene, world->nodes[i], "m");
            break;
        case 4:
            world->nodes[i] = PATH(scene, function, "pread64", ":blocked: block device");
            break;
        case 5:
            world->nodes[i] = PATH(scene, "pread64", ":blocked: block device");
            break;
        default:
            world->nodes[i] =
                PATH(scene, function, "pthread_cond_wait", thread, "work", ":running");
            set_waits(scene, world->nodes[i], "c");
        }
    }
}

static void make_items(struct world *world, uint64_t *seed)
{
    struct scene *scene = &world->scene;
    for (unsigned i = 0; i < ITEMS; i++) {
        const bool is_slow = i % 4 == 3;
        uint64_t sum_ns = 0;
        const uint64_t from = scene->starts[i];
        uint64_t at = from;
        for (uint32_t node = 1; node < scene->matrix.n_nodes; node++) {
            bool is_leaf = false;
            for (unsigned k = 0; k < PATHS; k++)
                is_leaf |= world->nodes[k] == node;
            if (!is_leaf || tap_random(seed) % 3 == 0 || at >= VALUES)
                continue;
            scene->node[at] = node;
            scene->ns[at] = 1 + tap_random(seed) % (is_slow ? 9000 : 1000);
            sum_ns += scene->ns[at++];
        }
        scene->starts[i + 1] = at;
        scene->items[i] =
            (struct weft_execution_item){ .id = i, .tid = 1 + i % 3, .end_ns = sum_ns };
        (is_slow ? world->b
                 : world->a)[is_slow ? world->scene.table.n_b++ : world->scene.table.n_a++] = i;
    }
    scene->matrix.n_items = ITEMS;
}

/* The mean time of a group at a node, or at all of a key. */
static double mean_of(const struct world *world, const uint32_t *items, size_t n, uint32_t node,
                      uint64_t key)
{
    const struct scene *scene = &world->scene;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (uint64_t at = scene->starts[items[i]]; at < scene->starts[items[i] + 1]; at++) {
            if (key ? world->keys[scene->node[at]] == key : scene->node[at] == node)
                sum += (double)scene->ns[at];
        }
    return n ? sum / (double)n : 0;
}

/* ---- places, once more ---- */

static bool is_under(const struct world *world, uint32_t node, uint32_t above)
{
    while (node != above && node != 0)
        node = world->scene.nodes[node].parent;
    return node == above;
}

/* A wait for a disk for which no function of the program is known. */
static bool is_bare(const struct world *world, const int *kinds, uint32_t node)
{
    const bool is_disk = kinds[node] == WEFT_PROBLEM_DISK;
    while (world->scene.nodes[node].parent != 0)
        node = world->scene.nodes[node].parent;
    return is_disk && weft_str_equal(world->scene.frames[node].name, WEFT_STR("pread64"));
}

/* What slow executions have more of a kind below a node, of what has no place yet. */
static double open_below(const struct world *world, const int *kinds, const uint32_t *places,
                         int kind, uint32_t above)
{
    double sum = 0;
    for (size_t i = 0; i < world->scene.table.n_nodes; i++) {
        const struct weft_compare_node *row = &world->scene.rows[i];
        if (kinds[row->node] == kind && places[row->node] == 0 &&
            !is_bare(world, kinds, row->node) && is_under(world, row->node, above))
            sum += fmax(row->difference_ns, 0);
    }
    return sum;
}

static uint32_t descend_from(const struct world *world, const int *kinds, const uint32_t *places,
                             int kind)
{
    const double all = open_below(world, kinds, places, kind, 0);
    uint32_t at = 0, next = 1;
    while (all > 0 && next < world->scene.matrix.n_nodes) {
        const bool is_in = world->scene.nodes[next].parent == at &&
                           open_below(world, kinds, places, kind, next) >= all / 2;
        at = is_in ? next : at;
        next++;
    }
    return at;
}

static void make_keys(struct world *world)
{
    static const int placed[] = { WEFT_PROBLEM_CODE,  WEFT_PROBLEM_SPIN, WEFT_PROBLEM_ALLOCATOR,
                                  WEFT_PROBLEM_FSYNC, WEFT_PROBLEM_DISK, WEFT_PROBLEM_FAULT };
    int kinds[MOST] = { 0 };
    uint32_t places[MOST] = { 0 };
    for (uint32_t node = 1; node < world->scene.matrix.n_nodes; node++) {
        struct weft_frame_path found;
        weft_frame_path_of(&world->scene.matrix, node, &found);
        const struct weft_kind kind = weft_kind_of(&found);
        kinds[node] = kind.holder ? -1 : (int)kind.kind;
        world->keys[node] = kind.key;
    }
    for (size_t k = 0; k < sizeof placed / sizeof *placed; k++) {
        for (unsigned n = 0; n < 4; n++) {
            const uint32_t place = descend_from(world, kinds, places, placed[k]);
            for (uint32_t node = 1; place && node < world->scene.matrix.n_nodes; node++)
                if (kinds[node] == placed[k] && places[node] == 0 &&
                    (is_bare(world, kinds, node) ? n == 0 : is_under(world, node, place)))
                    places[node] = place;
        }
        for (uint32_t node = 1; node < world->scene.matrix.n_nodes; node++)
            if (kinds[node] == placed[k])
                world->keys[node] =
                    weft_place_key(&world->scene.matrix, world->keys[node], places[node]);
    }
}

/* What slow executions have more of the key, where they have more. */
static double more_of(const struct world *world, uint64_t key)
{
    double sum = 0;
    for (size_t i = 0; i < world->scene.table.n_nodes; i++)
        if (world->keys[world->scene.rows[i].node] == key)
            sum += fmax(world->scene.rows[i].difference_ns, 0);
    return sum;
}

/* Locks without a name have the key of their holder and its function, if they cost anything. */
static void join_unnamed(struct world *world)
{
    uint64_t joined[MOST];
    for (uint32_t node = 1; node < world->scene.matrix.n_nodes; node++) {
        struct weft_frame_path found;
        weft_frame_path_of(&world->scene.matrix, node, &found);
        const struct weft_kind kind = weft_kind_of(&found);
        joined[node] = world->keys[node];
        const struct weft_frame *function = weft_kind_function(&found, &kind.holding);
        if (kind.kind == WEFT_PROBLEM_LOCK && !kind.object && kind.holder && function &&
            more_of(world, joined[node]) > 0)
            joined[node] = weft_frame_hash(weft_frame_hash(WEFT_FRAME_HASH, kind.holder), function);
    }
    for (uint32_t node = 1; node < world->scene.matrix.n_nodes; node++)
        world->keys[node] = joined[node];
}

static void make_world(struct world *world, uint64_t seed)
{
    memset(world, 0, sizeof *world);
    struct scene *scene = &world->scene;
    begin(scene, "request");
    make_nodes(world, &seed);
    make_items(world, &seed);
    scene->table.items_a = world->a;
    scene->table.items_b = world->b;
    for (uint32_t node = 1; node < scene->matrix.n_nodes; node++) {
        const double usual = mean_of(world, world->a, scene->table.n_a, node, 0);
        const double slow = mean_of(world, world->b, scene->table.n_b, node, 0);
        if (usual > 0 || slow > 0)
            scene->rows[scene->table.n_nodes++] = (struct weft_compare_node){
                .node = node, .mean_a_ns = usual, .mean_b_ns = slow, .difference_ns = slow - usual
            };
    }
    make_keys(world);
    join_unnamed(world);
    world->finding = (struct weft_finding){ .type = WEFT_STR("request"),
                                            .matrix = &scene->matrix,
                                            .table = &scene->table,
                                            .is_versus = true,
                                            .is_significant = true };
    world->table = (struct weft_findings_table){ .rows = &world->finding, .n_rows = 1 };
}

static bool is_near(double got, double want)
{
    return fabs(got - want) <= 1e-6 * (1 + fabs(want));
}

/* Executions that have at least half as much of it as slow ones on average. */
static uint64_t n_with(const struct world *world, const uint32_t *items, size_t n, uint64_t key,
                       double slow_ns)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const double ns = mean_of(world, &items[i], 1, 0, key);
        count += ns > 0 && ns >= slow_ns / 2;
    }
    return count;
}

static bool is_right(const struct world *world, const struct weft_problem *problem)
{
    const struct weft_compare_table *table = &world->scene.table;
    const double usual = mean_of(world, world->a, table->n_a, 0, problem->key);
    const double slow = mean_of(world, world->b, table->n_b, 0, problem->key);
    return is_near(problem->usual_here_ns, usual) && is_near(problem->slow_here_ns, slow) &&
           is_near(problem->cost_ns, (slow - usual) * (double)table->n_b) &&
           problem->n_with == n_with(world, world->b, table->n_b, problem->key, slow) &&
           problem->n_usual_with == n_with(world, world->a, table->n_a, problem->key, slow) &&
           problem->p >= 0 && problem->p <= 1 && problem->explained >= 0 && problem->explained <= 1;
}

static void test_sums(void)
{
    static struct world world;
    struct weft_err err = { 0 };
    size_t n_rows = 0, n_wrong = 0, n_shared = 0;
    for (uint64_t seed = 1; seed <= TRIES; seed++) {
        struct weft_problems_table *table = NULL;
        make_world(&world, seed);
        if (weft_problems_run(&world.table, &table, &err) != WEFT_OK) {
            n_wrong++;
            continue;
        }
        for (size_t i = 0; i < table->n_rows; i++) {
            n_wrong += !is_right(&world, &table->rows[i]);
            for (size_t k = 0; k < i; k++)
                n_shared += table->rows[k].key == table->rows[i].key;
        }
        n_rows += table->n_rows;
        weft_result_free(table);
    }
    tap_ok(n_rows > TRIES && n_wrong == 0 && n_shared == 0,
           "%zu problems of %d comparisons: %zu wrong", n_rows, TRIES, n_wrong);
}

/* ---- event loops ----------------------------------------------------------------------------- */

/* The kind of the first problem of clients, of which one in three waits for a thread that runs:
 * several at one time, or each alone; the thread's turns are of that type. */
static enum weft_problem_kind kind_of_waits(const char *turns, unsigned n_at_once)
{
    enum { CLIENTS = 30, LONG_NS = 1000000 };
    static struct scene scene;
    uint32_t usual[CLIENTS], slow[CLIENTS];
    struct weft_problems_table *table = NULL;
    struct weft_err err = { 0 };
    begin(&scene, "client");
    scene.table.items_a = usual;
    scene.table.items_b = slow;
    const uint32_t own = PATH(&scene, "client", "work", ":running");
    const uint32_t wait = PATH(&scene, "client", "read", "=loop", "serve", "fold", ":running");
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const bool is_slow = i % 3 == 0;
        add_item(&scene, "client", is_slow ? wait : own, is_slow ? LONG_NS : 100, own, 100);
        struct weft_execution_item *item = &scene.items[i];
        item->tid = i % 10;
        item->start_ns = is_slow ? i / 3 / n_at_once * 2 * LONG_NS : i;
        item->end_ns += item->start_ns;
        if (is_slow)
            slow[scene.table.n_b++] = i;
        else
            usual[scene.table.n_a++] = i;
    }
    scene.rows[scene.table.n_nodes++] =
        (struct weft_compare_node){ .node = wait, .mean_b_ns = LONG_NS, .difference_ns = LONG_NS };
    struct weft_finding rows[] = { { .type = WEFT_STR("client"),
                                     .matrix = &scene.matrix,
                                     .table = &scene.table,
                                     .is_versus = true,
                                     .is_significant = true },
                                   { .type = weft_str_of(turns), .matrix = &scene.matrix } };
    const struct weft_findings_table findings = { .rows = rows, .n_rows = 2 };
    enum weft_problem_kind kind = WEFT_PROBLEM_UNKNOWN;
    if (weft_problems_run(&findings, &table, &err) == WEFT_OK && table->n_rows == 1)
        kind = table->rows[0].kind;
    weft_result_free(table);
    return kind;
}

static void test_event_loops(void)
{
    tap_ok(kind_of_waits("loop after epoll_wait", 2) == WEFT_PROBLEM_HEAD_OF_LINE &&
               kind_of_waits("loop after poll in serve", 5) == WEFT_PROBLEM_HEAD_OF_LINE,
           "an event loop that several wait for at one time");
    tap_ok(kind_of_waits("loop after epoll_wait", 1) == WEFT_PROBLEM_QUEUE,
           "one that each waits for alone");
    tap_ok(kind_of_waits("loop after pthread_cond_wait", 2) == WEFT_PROBLEM_QUEUE &&
               kind_of_waits("loop after epoll_wait in accept_all", 2) == WEFT_PROBLEM_QUEUE &&
               kind_of_waits("looper after epoll_wait", 2) == WEFT_PROBLEM_QUEUE,
           "threads that are no event loops");
}

/* ---- slow beside usual ----------------------------------------------------------------------- */

/* Usual and slow ones, half of which may be slow in another way. */
#define USUAL(way) .usual = { { 24, way, 100 } }
#define SLOW(one) .slow = { { 12, one, MS } }
#define SLOW_TWICE(one, other) .slow = { { 12, one, MS }, { 12, other, MS } }

static void test_beside_usual(void)
{
    const struct way *work = WAY("", "put", "work", ":running");
    FOUND("lock_held_across_io; fsync small", USUAL(work),
          SLOW_TWICE(WAY("m", "put", "-m", "@log", "commit", "fsync", ":blocked: block device"),
                     WAY("", "commit", "fsync", ":blocked: block device")));
    FOUND("network; lock_contention", USUAL(work),
          SLOW_TWICE(WAY("m", "put", "-m", "@b", "put", "work", ":running"),
                     WAY("", "put", "recv", ":blocked: network")));
    FOUND("waiting_for_thread", .thread = "stage-b", USUAL(work),
          SLOW(WAY("-", "main", "stage", "read", "=stage-a", "main", "stage", "compress",
                   ":running")));
    FOUND("pool_too_small", .thread = "runner-1", USUAL(work),
          SLOW(WAY("-", "main", "stage", "read", "=runner-2", "main", "stage", "compress",
                   ":running")));
}

/* ---- locks of arrays ------------------------------------------------------------------------- */

/* How many problems, of how many locks the first one is and what it is called, and by how many
 * threads of what names, where slow executions wait for one of these each. */
static const char *locks_said(const char *const *locks)
{
    enum { EACH = 4, MOST_ITEMS = 40, LONG_NS = 1000000 };
    static struct scene scene;
    static char said[64];
    uint32_t usual[MOST_ITEMS], slow[MOST_ITEMS];
    begin(&scene, "request");
    scene.table.items_a = usual;
    scene.table.items_b = slow;
    const uint32_t own = PATH(&scene, "put", "work", ":running");
    for (; *locks; locks++) {
        const uint32_t wait = PATH(&scene, "put", *locks, "@flusher", "flush", ":running");
        set_waits(&scene, wait, "m");
        for (unsigned i = 0; i < EACH; i++) {
            slow[scene.table.n_b++] = (uint32_t)scene.matrix.n_items;
            add_item(&scene, i % 2 ? "worker-1" : "worker-2", wait, LONG_NS, own, 100);
            scene.items[scene.matrix.n_items - 1].tid = i % 2;
        }
        scene.rows[scene.table.n_nodes++] = (struct weft_compare_node){ .node = wait };
    }
    while (scene.table.n_a < EACH) {
        usual[scene.table.n_a++] = (uint32_t)scene.matrix.n_items;
        add_item(&scene, "worker", own, 100, own, 100);
    }
    for (size_t i = 0; i < scene.table.n_nodes; i++)
        scene.rows[i].mean_b_ns = scene.rows[i].difference_ns =
            (double)EACH * LONG_NS / (double)scene.table.n_b;
    struct weft_finding finding = { .type = WEFT_STR("request"),
                                    .matrix = &scene.matrix,
                                    .table = &scene.table,
                                    .is_versus = true,
                                    .is_significant = true };
    struct weft_problems_table *table = problems_of(&finding, 1);
    said[0] = 0;
    if (table && table->n_rows > 0)
        (void)snprintf(said, sizeof said, "%zu: %u %.*s, %u %.*s", table->n_rows,
                       table->rows[0].n_objects, (int)table->rows[0].object.n_bytes,
                       table->rows[0].object.bytes, table->rows[0].n_waiters,
                       (int)table->rows[0].waiter_stem.n_bytes, table->rows[0].waiter_stem.bytes);
    weft_result_free(table);
    return said;
}

#define LOCKS(wanted, ...)                                                                         \
    do {                                                                                           \
        const char *said = locks_said((const char *const[]){ __VA_ARGS__, NULL });                 \
        tap_ok(strncmp(said, wanted, strlen(wanted)) == 0, "%s: %s", wanted, said);                \
    } while (0)

static void test_arrays(void)
{
    LOCKS("1: 3 shards, 2 worker-", "-shards", "-shards+0x40", "-shards+0x80");
    LOCKS("1: 4 shards", "-shards[0].guard", "-shards[1].guard", "-shards[2].guard",
          "-shards[7].guard");
    LOCKS("2: 0 shards", "-shards", "-shards+0x40");
    LOCKS("3: 0 db.", "-db.append", "-db.commit", "-db.index");
    LOCKS("4: 0 ", "-t[0].a", "-t[1].a", "-t[0].b", "-t[1].b");
}

int main(void)
{
    test_sums();
    test_event_loops();
    test_beside_usual();
    test_arrays();
    return tap_done();
}
