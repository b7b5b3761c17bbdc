/* SPDX-License-Identifier: MIT
 *
 * Nameless frames become one box below each frame: no time is lost, none is told twice.
 */
#include "base/arena.h"
#include "render/export/flame.h"
#include "schema/event.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 60, TREES = 400 };

struct tree {
    struct weft_flame_box boxes[MOST];
    struct weft_compare_node nodes[MOST];
    char names[MOST][32];
    size_t n;
};

static bool is_nameless(struct weft_str name)
{
    return name.n_bytes > 9 && memcmp(name.bytes, "[kernel]", 8) == 0;
}

/* Parents before children; widths and totals are own ones and all below. */
static void grow(struct tree *tree, uint64_t *state)
{
    tree->n = 1 + tap_random(state) % (MOST - 1);
    for (uint32_t i = 0; i < tree->n; i++) {
        const bool nameless = i > 0 && tap_random(state) % 5 < 3;
        struct weft_compare_node *node = &tree->nodes[i];
        (void)snprintf(tree->names[i], sizeof tree->names[i], nameless ? "[kernel]+0x%u" : "f%u",
                       i % 7);
        *node = (struct weft_compare_node){ .node = i,
                                            .mean_a_ns = (double)(tap_random(state) % 100),
                                            .mean_b_ns = (double)(tap_random(state) % 100) };
        node->difference_ns = node->mean_b_ns - node->mean_a_ns;
        node->total_a_ns = node->mean_a_ns;
        node->total_b_ns = node->mean_b_ns;
        tree->boxes[i] =
            (struct weft_flame_box){ .name = weft_str_of(tree->names[i]),
                                     .parent = i ? (uint32_t)(tap_random(state) % i) : WEFT_ID_NONE,
                                     .node = node };
    }
    for (size_t i = tree->n; i-- > 0;) {
        struct weft_compare_node *node = &tree->nodes[i];
        tree->boxes[i].width = node->total_b_ns;
        if (i == 0)
            continue;
        tree->nodes[tree->boxes[i].parent].total_a_ns += node->total_a_ns;
        tree->nodes[tree->boxes[i].parent].total_b_ns += node->total_b_ns;
    }
}

/* The frame with a name that a context is below, looked for from scratch. */
static uint32_t named_above(const struct tree *tree, uint32_t i)
{
    for (i = tree->boxes[i].parent; i != 0 && is_nameless(tree->boxes[i].name);)
        i = tree->boxes[i].parent;
    return i;
}

/* What the nameless contexts below a frame have, by looking at each. */
struct wanted {
    uint32_t n;
    double width, total_a, own_a, own_b, most;
};

static struct wanted look(const struct tree *tree, uint32_t above)
{
    struct wanted wanted = { 0 };
    for (uint32_t i = 1; i < tree->n; i++) {
        const struct weft_compare_node *node = &tree->nodes[i];
        if (!is_nameless(tree->boxes[i].name) || named_above(tree, i) != above)
            continue;
        wanted.n++;
        wanted.own_a += node->mean_a_ns;
        wanted.own_b += node->mean_b_ns;
        wanted.most = fmax(wanted.most, fabs(node->difference_ns));
        if (tree->boxes[i].parent != above)
            continue;
        wanted.width += tree->boxes[i].width;
        wanted.total_a += node->total_a_ns;
    }
    return wanted;
}

static bool is_same(const struct weft_flame_box *box, const struct wanted *wanted)
{
    char name[32];
    (void)snprintf(name, sizeof name, "[kernel] (%u unnamed)", wanted->n);
    const bool is_named = wanted->n < 2 || weft_str_equal(box->name, weft_str_of(name));
    return is_named && box->n_folded == wanted->n && box->width == wanted->width &&
           box->total_a_ns == wanted->total_a && box->own_a_ns == wanted->own_a &&
           box->own_b_ns == wanted->own_b && fabs(box->node->difference_ns) == wanted->most;
}

/* Each box that stays: nameless ones as looked at, others as they were, below the right one. */
static bool check(const struct tree *tree, const struct weft_flame *flame)
{
    double own = flame->boxes[0].width;
    bool is_right = flame->boxes[0].width == tree->boxes[0].width;
    uint32_t n_contexts = 0;
    for (uint32_t i = 1; i < flame->n_boxes && is_right; i++) {
        const struct weft_flame_box *box = &flame->boxes[i], *up = &flame->boxes[box->parent];
        is_right = box->parent < i;
        if (box->n_folded > 0) {
            const struct wanted wanted = look(tree, up->node->node);
            is_right = is_right && up->n_folded == 0 && is_same(box, &wanted);
            n_contexts += box->n_folded;
        } else {
            const struct weft_flame_box *was = &tree->boxes[box->node->node];
            is_right = is_right && box->width == was->width && weft_str_equal(box->name, was->name);
            n_contexts++;
        }
        own -= box->parent == 0 ? box->width : 0;
    }
    return is_right && n_contexts == tree->n - 1 && own == tree->nodes[0].mean_b_ns;
}

int main(void)
{
    uint64_t state = tap_seed(1);
    static struct tree tree, before;
    bool is_right = true;
    for (uint32_t t = 0; t < TREES && is_right; t++) {
        struct weft_err err = { 0 };
        struct weft_arena *arena = weft_arena_new(0);
        grow(&tree, &state);
        before = tree;
        struct weft_flame flame = { .arena = arena, .boxes = tree.boxes, .n_boxes = tree.n };
        is_right =
            arena && weft_flame_fold_nameless(&flame, &err) == WEFT_OK && check(&before, &flame);
        weft_arena_free(arena);
        if (!is_right)
            tap_note("tree %u of %zu boxes: %s", t, tree.n, err.text);
    }
    tap_ok(is_right, "%d trees: each time once, nameless frames of a frame together", TREES);
    return tap_done();
}
