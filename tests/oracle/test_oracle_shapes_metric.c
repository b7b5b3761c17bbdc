/* SPDX-License-Identifier: MIT
 *
 * The metric of shapes against the paper's listing, and its theorems as properties of random trees.
 */
#include "analysis/shapes/metric.h"
#include "random_instances.h"
#include "tap.h"

#include <stdlib.h>

enum { SETS = 1500, TREES = 3000, MATCHES = 1500 };

static const uint32_t any = UINT32_MAX - 1;

/* A random list of shapes, and the metric over it. The null shape has the index list.n. */
struct fixture {
    struct naive_memory memory;
    struct naive_list list;
    struct weft_shape_set set;
    struct weft_shape_metric *metric;
};

static void fixture_init(struct fixture *fixture, struct naive_memory memory,
                         struct naive_list list)
{
    fixture->memory = memory;
    fixture->list = list;
    fixture->set = shape_set_of(&fixture->memory, &fixture->list);
    fixture->metric = weft_shape_metric_new(&fixture->set);
}

static void fixture_fini(struct fixture *fixture)
{
    weft_shape_metric_free(fixture->metric);
    naive_free(&fixture->memory);
}

static uint32_t id_of(const struct fixture *fixture, size_t i)
{
    return i < fixture->list.n ? (uint32_t)i : WEFT_SHAPE_NULL;
}

static const struct naive_shape *shape_at(const struct fixture *fixture, size_t i)
{
    return i < fixture->list.n ? fixture->list.at[i] : NULL;
}

static uint32_t distance(const struct fixture *fixture, size_t i, size_t j)
{
    return weft_shape_distance(fixture->metric, id_of(fixture, i), id_of(fixture, j), any);
}

/* d(x, null) is the depth: half a unit for each call of the deepest stack. */
static bool equals_listing(const struct fixture *fixture, size_t i, size_t j, uint32_t d)
{
    if (d == naive_distance(shape_at(fixture, i), shape_at(fixture, j)) &&
        (j < fixture->list.n || d == naive_depth(shape_at(fixture, i))))
        return true;
    tap_note("shapes %zu and %zu of %zu: got %u, want %u", i, j, fixture->list.n, d,
             naive_distance(shape_at(fixture, i), shape_at(fixture, j)));
    return false;
}

/* Bounded by every number around the distance, with a metric that knows nothing yet as well. */
static bool is_bounded(const struct fixture *fixture, size_t i, size_t j, uint32_t d)
{
    bool is_ok = true;
    for (uint32_t bound = d > 2 ? d - 2 : 0; is_ok && bound < d + 2; bound++) {
        struct weft_shape_metric *fresh = weft_shape_metric_new(&fixture->set);
        const uint32_t want = d <= bound ? d : bound + 1;
        const uint32_t cold =
            weft_shape_distance(fresh, id_of(fixture, i), id_of(fixture, j), bound);
        const uint32_t after =
            weft_shape_distance(fresh, id_of(fixture, i), id_of(fixture, j), any);
        const uint32_t warm =
            weft_shape_distance(fixture->metric, id_of(fixture, i), id_of(fixture, j), bound);
        is_ok = cold == want && warm == want && after == d;
        if (!is_ok)
            tap_note("bound %u of %u: %u, then %u; %u from memory", bound, d, cold, after, warm);
        weft_shape_metric_free(fresh);
    }
    return is_ok;
}

/* Row by row: the listing, identity, symmetry, the triangle. */
static bool check_axioms(struct fixture *fixture)
{
    const size_t n = fixture->list.n + 1;
    uint32_t *d = naive_take(&fixture->memory, n * n * sizeof *d);
    bool is_ok = true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            d[i * n + j] = distance(fixture, i, j);
    for (size_t i = 0; is_ok && i < n; i++)
        for (size_t j = 0; is_ok && j < n; j++) {
            is_ok = d[i * n + j] == d[j * n + i] && (d[i * n + j] == 0) == (i == j) &&
                    (j > i ? true : equals_listing(fixture, j, i, d[i * n + j]));
            for (size_t k = 0; is_ok && k < n; k++)
                is_ok = d[i * n + j] <= d[i * n + k] + d[k * n + j];
        }
    return is_ok;
}

static void test_axioms(struct random_source *random)
{
    unsigned n_bad = 0;
    for (unsigned run = 0; run < SETS && n_bad == 0; run++) {
        struct fixture fixture;
        struct naive_memory memory = { 0 };
        struct naive_list list = random_shapes(&memory, random, 3, 5);
        fixture_init(&fixture, memory, list);
        n_bad += !check_axioms(&fixture);
        const size_t i = random_below(random, list.n + 1), j = random_below(random, list.n + 1);
        n_bad += !is_bounded(&fixture, i, j, distance(&fixture, i, j));
        fixture_fini(&fixture);
    }
    tap_ok(n_bad == 0, "%d random sets: the listing, a metric, the same when bounded", SETS);
}

/* Definition 5.5 to the letter: d_level, which is made of d_(level - 1). */
static uint32_t distance_at(unsigned level, const struct naive_shape *a,
                            const struct naive_shape *b)
{
    const struct naive_shape *children[] = { NULL };
    const struct naive_shape nothing = { .function = -1, .children = children, .n_children = 1 };
    if (level == 0)
        return 0; /* both are null */
    a = a ? a : &nothing;
    b = b ? b : &nothing;
    uint32_t max = 0;
    for (int side = 0; side < 2; side++) {
        const struct naive_shape *from = side ? b : a, *to = side ? a : b;
        for (size_t i = 0; i < from->n_children; i++) {
            uint32_t min = UINT32_MAX;
            for (size_t j = 0; j < to->n_children && min > 0; j++) {
                uint32_t d = distance_at(level - 1, from->children[i], to->children[j]);
                min = d < min ? d : min;
            }
            max = min > max ? min : max;
        }
    }
    return naive_function_distance(a->function, b->function) + max;
}

/* Theorems 5.2 and 5.3: from the depth on, every level gives the same. */
static void test_levels(struct random_source *random)
{
    unsigned n_bad = 0;
    for (unsigned run = 0; run < TREES && n_bad == 0; run++) {
        struct naive_memory memory = { 0 };
        struct random_tree tree = random_tree(random, 5);
        const struct naive_shape *a =
            naive_shape_of(&memory, random_instance(&memory, random, &tree));
        const struct naive_shape *b =
            naive_shape_of(&memory, random_instance(&memory, random, &tree));
        const unsigned a_depth = naive_depth(a), b_depth = naive_depth(b);
        const unsigned depth = a_depth > b_depth ? a_depth : b_depth;
        for (unsigned level = depth; level < depth + 3; level++)
            n_bad += distance_at(level, a, b) != naive_distance(a, b);
        naive_free(&memory);
    }
    tap_ok(n_bad == 0, "theorems 5.2, 5.3: the distance is well defined, %d pairs", TREES);
}

/* Theorem 6.1: a descendant exchanged for another at distance p moves the whole by p at most; as
 * many repetitions as you like change nothing. */
static void test_perturbations(struct random_source *random)
{
    unsigned n_bad = 0, n_moved = 0;
    for (unsigned run = 0; run < TREES && n_bad == 0; run++) {
        struct naive_memory memory = { 0 };
        struct naive_list list = { 0 };
        struct random_tree tree = random_tree(random, 6);
        const struct naive_instance *whole = random_instance(&memory, random, &tree), *was, *is;
        const struct naive_instance *other =
            random_exchange(&memory, random, &tree, whole, &was, &is);
        const struct naive_shape *shapes[4];
        const struct naive_instance *instances[] = { whole, other, was, is };
        for (size_t i = 0; i < 4; i++) {
            shapes[i] = naive_shape_of(&memory, instances[i]);
            naive_put_all(&memory, &list, shapes[i]);
        }
        naive_sort(&memory, &list, NULL);
        n_bad +=
            !naive_equal(shapes[0], naive_shape_of(&memory, random_repeat(&memory, random, whole)));
        struct fixture fixture;
        fixture_init(&fixture, memory, list);
        uint32_t moved =
            distance(&fixture, naive_find(&list, shapes[0]), naive_find(&list, shapes[1]));
        n_bad +=
            moved > distance(&fixture, naive_find(&list, shapes[2]), naive_find(&list, shapes[3]));
        n_moved += moved > 0;
        fixture_fini(&fixture);
    }
    tap_ok(n_bad == 0, "theorem 6.1: %d exchanges, %u of which move the whole", TREES, n_moved);
    tap_ok(n_moved > TREES / 10, "enough exchanges move the whole");
}

/* ---- matching pairs ---------------------------------------------------------------------------
 */

/* Both instances of the pair whose root is nodes[*at]; *at becomes the node after it. */
static void instances_of(struct fixture *fixture, const struct weft_shape_match *nodes, size_t n,
                         size_t *at, struct naive_instance *pair[2])
{
    const struct weft_shape_match *root = &nodes[(*at)++];
    const uint32_t ids[] = { root->a, root->b };
    for (int side = 0; side < 2; side++) {
        pair[side] = naive_take(&fixture->memory, sizeof *pair[side]);
        pair[side]->function =
            ids[side] == WEFT_SHAPE_NULL ? -1 : fixture->list.at[ids[side]]->function;
        pair[side]->children = naive_take(&fixture->memory, n * sizeof(void *));
    }
    while (*at < n && nodes[*at].level > root->level) {
        struct naive_instance *children[2];
        instances_of(fixture, nodes, n, at, children);
        pair[0]->children[pair[0]->n_children++] = children[0];
        pair[1]->children[pair[1]->n_children++] = children[1];
    }
}

/* Theorem 7.1: the stack difference is the distance, and both reduce to what they came from. */
static bool is_matching_pair(struct fixture *fixture, const struct weft_shape_match *nodes,
                             size_t n, size_t i, size_t j)
{
    struct naive_instance *pair[2];
    size_t at = 0;
    instances_of(fixture, nodes, n, &at, pair);
    return at == n &&
           naive_stack_difference(pair[0], pair[1]) ==
               naive_distance(shape_at(fixture, i), shape_at(fixture, j)) &&
           naive_equal(naive_shape_of(&fixture->memory, pair[0]), shape_at(fixture, i)) &&
           naive_equal(naive_shape_of(&fixture->memory, pair[1]), shape_at(fixture, j));
}

/* The lowest id of the nearest in the other shape, null last: as an index. */
static size_t nearest(const struct fixture *fixture, size_t child, size_t other)
{
    size_t best = fixture->list.n;
    const struct naive_shape *shape = shape_at(fixture, child);
    uint32_t best_d = naive_distance(shape, NULL);
    for (size_t i = fixture->list.n; i-- > 0;) {
        if (other == fixture->list.n ||
            !naive_contains(fixture->list.at[other], fixture->list.at[i]))
            continue;
        uint32_t d = naive_distance(shape, fixture->list.at[i]);
        if (d <= best_d) {
            best = i;
            best_d = d;
        }
    }
    return best;
}

/* Whether (a, b) is one of the pairs of the children of `node`. */
static bool is_wanted(const struct fixture *fixture, const struct weft_shape_match *node, size_t a,
                      size_t b)
{
    const size_t null = fixture->list.n;
    const size_t x = node->a == WEFT_SHAPE_NULL ? null : node->a;
    const size_t y = node->b == WEFT_SHAPE_NULL ? null : node->b;
    const bool is_a =
        a < null && x < null && naive_contains(shape_at(fixture, x), shape_at(fixture, a));
    const bool is_b =
        b < null && y < null && naive_contains(shape_at(fixture, y), shape_at(fixture, b));
    return (is_a && nearest(fixture, a, y) == b) || (is_b && nearest(fixture, b, x) == a);
}

/* Every child pair is wanted and every wanted pair is there, once. */
static bool check_children(const struct fixture *fixture, const struct weft_shape_match *nodes,
                           size_t n, size_t at, bool with_equal)
{
    const size_t null = fixture->list.n;
    const bool is_open = with_equal || nodes[at].a != nodes[at].b;
    for (size_t a = 0; a <= null; a++)
        for (size_t b = 0; b <= null; b++) {
            size_t n_seen = 0, next = at + 1;
            for (; next < n && nodes[next].level > nodes[at].level; next++)
                n_seen += nodes[next].level == nodes[at].level + 1 &&
                          nodes[next].a == id_of(fixture, a) && nodes[next].b == id_of(fixture, b);
            if (a == null && b == null && n_seen == 0)
                continue;
            if (n_seen != (is_open && is_wanted(fixture, &nodes[at], a, b)))
                return false;
        }
    return true;
}

static const struct naive_shape *shape_of_id(const struct fixture *fixture, uint32_t id)
{
    return id == WEFT_SHAPE_NULL ? NULL : fixture->list.at[id];
}

/* Critical: the root unless it is a pair of equals, and below a critical node the children that are
 * as far as any. */
static bool check_node(const struct fixture *fixture, const struct weft_shape_match *nodes,
                       size_t n, size_t at)
{
    const struct naive_shape *a = shape_of_id(fixture, nodes[at].a);
    const struct naive_shape *b = shape_of_id(fixture, nodes[at].b);
    const uint32_t r = naive_function_distance(a ? a->function : -1, b ? b->function : -1);
    bool is_ok = nodes[at].distance == naive_distance(a, b) &&
                 (at > 0 || nodes[at].is_critical == (nodes[at].distance > 0));
    for (size_t i = at + 1; i < n && nodes[i].level > nodes[at].level; i++)
        if (nodes[i].level == nodes[at].level + 1)
            is_ok =
                is_ok && nodes[i].is_critical == (nodes[at].is_critical && nodes[i].distance > 0 &&
                                                  nodes[i].distance + r == nodes[at].distance);
    return is_ok;
}

static bool check_match(struct fixture *fixture, size_t i, size_t j, bool with_equal)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_shape_match *nodes;
    size_t n;
    bool is_cut = true;
    bool is_ok = !weft_shape_match(fixture->metric, id_of(fixture, i), id_of(fixture, j),
                                   with_equal, 0, arena, &nodes, &n, &is_cut, NULL) &&
                 n > 0 && !is_cut && nodes[0].level == 0 && nodes[0].a == id_of(fixture, i) &&
                 nodes[0].b == id_of(fixture, j);
    if (is_ok && with_equal)
        is_ok = is_matching_pair(fixture, nodes, n, i, j);
    for (size_t at = 0; is_ok && at < n; at++) {
        const bool is_node = check_node(fixture, nodes, n, at);
        is_ok = is_node && check_children(fixture, nodes, n, at, with_equal);
        if (!is_ok)
            tap_note("node %zu of %zu: %s", at, n, is_node ? "children" : "itself");
    }
    struct weft_shape_match *few;
    size_t n_few, limit = is_ok ? n / 2 + 1 : 1;
    is_ok = is_ok &&
            !weft_shape_match(fixture->metric, id_of(fixture, i), id_of(fixture, j), with_equal,
                              limit, arena, &few, &n_few, &is_cut, NULL) &&
            n_few <= limit && is_cut == (n_few < n);
    weft_arena_free(arena);
    return is_ok;
}

/* Theorem 7.2: a matching pair made at random is no nearer. Each side's children come at least
 * once. */
static uint32_t random_stack_difference(struct random_source *random, const struct naive_shape *a,
                                        const struct naive_shape *b)
{
    const struct naive_shape *children[] = { NULL };
    const struct naive_shape nothing = { .function = -1, .children = children, .n_children = 1 };
    if (!a && !b)
        return 0;
    a = a ? a : &nothing;
    b = b ? b : &nothing;
    uint32_t max = 0;
    const size_t n = a->n_children > b->n_children ? a->n_children : b->n_children;
    const size_t turn = random_below(random, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t d = random_stack_difference(random, a->children[i % a->n_children],
                                             b->children[(i + turn) % b->n_children]);
        max = d > max ? d : max;
    }
    return naive_function_distance(a->function, b->function) + max;
}

static void test_matches(struct random_source *random)
{
    unsigned n_bad = 0, n_far = 0;
    for (unsigned run = 0; run < MATCHES && n_bad == 0; run++) {
        struct fixture fixture;
        struct naive_memory memory = { 0 };
        struct naive_list list = random_shapes(&memory, random, 2, 5);
        fixture_init(&fixture, memory, list);
        for (size_t pair = 0; pair < 4 && n_bad == 0; pair++) {
            const size_t i = pair == 0 ? list.n - 1 : random_below(random, list.n);
            const size_t j = random_below(random, list.n + 1);
            n_bad += !check_match(&fixture, i, j, true) || !check_match(&fixture, j, i, false);
            for (size_t try = 0; try < 10; try++) {
                uint32_t d =
                    random_stack_difference(random, shape_at(&fixture, i), shape_at(&fixture, j));
                n_bad += d < distance(&fixture, i, j);
                n_far += d > distance(&fixture, i, j);
            }
        }
        fixture_fini(&fixture);
    }
    tap_ok(n_bad == 0, "theorems 7.1, 7.2: matching pairs of %d sets", MATCHES);
    tap_ok(n_far > 0, "some matching pairs are further apart");
}

static void test_near(struct random_source *random)
{
    unsigned n_bad = 0;
    for (unsigned run = 0; run < SETS / 2 && n_bad == 0; run++) {
        struct fixture fixture;
        struct naive_memory memory = { 0 };
        struct naive_list list = random_shapes(&memory, random, 3, 5);
        fixture_init(&fixture, memory, list);
        const size_t of = random_below(random, list.n);
        const uint32_t bound = (uint32_t)random_below(random, 8);
        struct weft_arena *arena = weft_arena_new(0);
        struct weft_shape_near *near;
        size_t n_near, n_want = 0;
        n_bad += weft_shape_near(fixture.metric, (uint32_t)of, bound, arena, &near, &n_near,
                                 NULL) != WEFT_OK;
        for (uint32_t d = 0; d <= bound && n_bad == 0; d++)
            for (size_t i = 0; i < list.n; i++)
                if (i != of && naive_distance(list.at[of], list.at[i]) == d) {
                    n_bad +=
                        n_want >= n_near || near[n_want].shape != i || near[n_want].distance != d;
                    n_want++;
                }
        n_bad += n_bad == 0 && n_near != n_want;
        weft_arena_free(arena);
        fixture_fini(&fixture);
    }
    tap_ok(n_bad == 0, "shapes within a distance, nearest first");
}

int main(void)
{
    struct random_source random = { tap_seed(41) };
    test_axioms(&random);
    test_levels(&random);
    test_perturbations(&random);
    test_matches(&random);
    test_near(&random);
    return tap_done();
}
