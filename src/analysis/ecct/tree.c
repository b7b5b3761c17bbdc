/* SPDX-License-Identifier: MIT
 *
 * Frames and nodes are interned in hash maps; before each map, a direct-mapped cache of recent
 * results answers most requests. Nodes are only added, never changed, except that their confidence
 * can fall.
 */
#include "analysis/ecct/tree.h"

#include "base/map.h"
#include "base/vec.h"
#include "schema/event.h"

#include <assert.h>
#include <stdlib.h>

/* Two texts and a kind make one key. */
enum { WAITED_FOR_BITS = 4, OF_BITS = 2, TEXT_BITS = 24, GUESSES = 1 << 12 };
static_assert(WEFT_LOCK_KINDS < 1 << WAITED_FOR_BITS, "room for kinds of locks");
_Static_assert(WEFT_FRAME_KINDS <= 4, "a kind has two bits of the key");

struct weft_ecct_tree {
    struct weft_strtab *texts;
    struct weft_map *frame_of; /* name, kind and, of threads, module, waited_for and process: place
                                  in frames */
    struct weft_map *node_of;  /* parent and frame: place in nodes, less one */
    uint32_t frames_near[GUESSES], nodes_near[GUESSES]; /* where they were found last, by some bits
                                                           of what was asked for */
    struct {
        struct weft_frame *items;
        size_t n, cap;
    } frames;
    struct {
        struct weft_ecct_node *items;
        size_t n, cap;
    } nodes;
    struct {
        uint32_t *items; /* by node: those above it */
        size_t n, cap;
    } depths;
};

struct weft_ecct_tree *weft_ecct_tree_new(void)
{
    struct weft_ecct_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    tree->texts = weft_strtab_new();
    tree->frame_of = weft_map_new();
    tree->node_of = weft_map_new();
    struct weft_ecct_node *root = WEFT_VEC_PUSH(&tree->nodes);
    uint32_t *depth = WEFT_VEC_PUSH(&tree->depths);
    if (!tree->texts || !tree->frame_of || !tree->node_of || !root || !depth) {
        weft_ecct_tree_free(tree);
        return NULL;
    }
    *root = (struct weft_ecct_node){ .parent = WEFT_ID_NONE, .frame = WEFT_ID_NONE };
    *depth = 0;
    return tree;
}

void weft_ecct_tree_free(struct weft_ecct_tree *tree)
{
    if (!tree)
        return;
    weft_strtab_free(tree->texts);
    weft_map_free(tree->frame_of);
    weft_map_free(tree->node_of);
    WEFT_VEC_FINI(&tree->frames);
    WEFT_VEC_FINI(&tree->nodes);
    WEFT_VEC_FINI(&tree->depths);
    free(tree);
}

/* Of which process a thread is, as far as that tells frames apart. */
static uint8_t of_bits(const struct weft_frame *frame)
{
    return frame->flags & WEFT_FRAME_OF;
}

static enum weft_code key_of(struct weft_ecct_tree *tree, const struct weft_frame *frame,
                             uint32_t texts[2], uint64_t *key, struct weft_err *err)
{
    const uint64_t kind = frame->kind;
    enum weft_code code = weft_strtab_intern(tree->texts, frame->name, &texts[0], err);
    WEFT_THEN(code, weft_strtab_intern(tree->texts, frame->module, &texts[1], err));
    if (code == WEFT_OK && (texts[0] | texts[1]) >> TEXT_BITS)
        code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "more than 2^%d names", TEXT_BITS);
    *key = (uint64_t)texts[0] << 32 | kind;
    if (kind == WEFT_FRAME_THREAD)
        *key |= (uint64_t)texts[1] << (2 + WAITED_FOR_BITS + OF_BITS) |
                (uint64_t)(of_bits(frame) / WEFT_FRAME_OF_CHILD) << (2 + WAITED_FOR_BITS) |
                (uint64_t)frame->waited_for << 2;
    return code;
}

/* Where a frame was found last whose name stood in the same place: most are asked for again and
 * again. */
static uint32_t *frame_near(struct weft_ecct_tree *tree, struct weft_str name,
                            enum weft_frame_kind kind)
{
    const uintptr_t at = (uintptr_t)name.bytes;
    return &tree->frames_near[(at ^ at >> 12 ^ (uintptr_t)kind << 10) % GUESSES];
}

static bool is_frame(const struct weft_ecct_tree *tree, uint32_t place,
                     const struct weft_frame *frame)
{
    const struct weft_frame *known = place < tree->frames.n ? &tree->frames.items[place] : NULL;
    return known && known->kind == frame->kind && weft_str_equal(known->name, frame->name) &&
           (frame->kind != WEFT_FRAME_THREAD ||
            (weft_str_equal(known->module, frame->module) &&
             known->waited_for == frame->waited_for && of_bits(known) == of_bits(frame)));
}

enum weft_code weft_ecct_tree_add(struct weft_ecct_tree *tree, const struct weft_frame *frame,
                                  uint32_t *id, struct weft_err *err)
{
    const enum weft_frame_kind kind = (enum weft_frame_kind)frame->kind;
    uint32_t texts[2];
    uint64_t key;
    bool is_new;
    uint32_t *near = frame_near(tree, frame->name, kind);
    *id = *near;
    if (is_frame(tree, *near, frame))
        return WEFT_OK;
    WEFT_TRY(key_of(tree, frame, texts, &key, err));
    *id = weft_map_add(tree->frame_of, key, &is_new);
    struct weft_frame *made = is_new && *id != WEFT_MAP_NONE ? WEFT_VEC_PUSH(&tree->frames) : NULL;
    if (*id >= tree->frames.n)
        return weft_no_memory(err, "a tree of executions");
    if (made) {
        *made = *frame;
        made->name = weft_strtab_get(tree->texts, texts[0]);
        made->module = weft_strtab_get(tree->texts, texts[1]);
    }
    *near = *id;
    return WEFT_OK;
}

enum weft_code weft_ecct_tree_frame(struct weft_ecct_tree *tree, struct weft_str name,
                                    struct weft_str module, enum weft_frame_kind kind,
                                    uint32_t *frame, struct weft_err *err)
{
    const struct weft_frame made = { .name = name, .module = module, .kind = (uint8_t)kind };
    return weft_ecct_tree_add(tree, &made, frame, err);
}

enum weft_code weft_ecct_tree_node(struct weft_ecct_tree *tree, uint32_t parent, uint32_t frame,
                                   enum weft_confidence confidence, uint32_t *node,
                                   struct weft_err *err)
{
    bool is_new;
    uint32_t *near = &tree->nodes_near[(parent * UINT32_C(31) + frame) % GUESSES];
    struct weft_ecct_node *found = &tree->nodes.items[*near < tree->nodes.n ? *near : 0];
    if (found->parent == parent && found->frame == frame && *near) {
        *node = *near;
        if (confidence > found->confidence)
            found->confidence = (uint8_t)confidence;
        return WEFT_OK;
    }
    const uint32_t place = weft_map_add(tree->node_of, (uint64_t)parent << 32 | frame, &is_new);
    if (place == WEFT_MAP_NONE)
        return weft_no_memory(err, "a tree of executions");
    *node = place + 1; /* the root has no parent, and is not in the map */
    uint32_t *depth = is_new ? WEFT_VEC_PUSH(&tree->depths) : NULL;
    struct weft_ecct_node *made = depth ? WEFT_VEC_PUSH(&tree->nodes) : NULL;
    if (*node >= tree->nodes.n)
        return weft_no_memory(err, "a tree of executions");
    if (made) {
        *made = (struct weft_ecct_node){ .parent = parent, .frame = frame };
        *depth = tree->depths.items[parent] + 1;
    }
    *near = *node;
    made = &tree->nodes.items[*node];
    if (confidence > made->confidence)
        made->confidence = (uint8_t)confidence;
    return WEFT_OK;
}

void weft_ecct_tree_trust(struct weft_ecct_tree *tree)
{
    for (size_t i = 0; i < tree->nodes.n; i++)
        tree->nodes.items[i].confidence = WEFT_CONFIDENCE_EXACT;
}

static int by_frame(const struct weft_frame *a, const struct weft_frame *b)
{
    int order = (a->kind > b->kind) - (a->kind < b->kind);
    if (order == 0)
        order = weft_str_compare(a->name, b->name);
    if (order == 0)
        order = weft_str_compare(a->module, b->module);
    if (order == 0)
        order = (a->waited_for > b->waited_for) - (a->waited_for < b->waited_for);
    return order || a->kind != WEFT_FRAME_THREAD
               ? order
               : (of_bits(a) > of_bits(b)) - (of_bits(a) < of_bits(b));
}

int weft_ecct_tree_compare(const struct weft_ecct_tree *tree, uint32_t a, uint32_t b)
{
    const struct weft_ecct_node *nodes = tree->nodes.items;
    uint32_t depth_a = tree->depths.items[a], depth_b = tree->depths.items[b];
    const int by_depth = (depth_a > depth_b) - (depth_a < depth_b);
    for (; depth_a > depth_b; depth_a--)
        a = nodes[a].parent;
    for (; depth_b > depth_a; depth_b--)
        b = nodes[b].parent;
    if (a == b)
        return by_depth;
    while (nodes[a].parent != nodes[b].parent) {
        a = nodes[a].parent;
        b = nodes[b].parent;
    }
    return by_frame(&tree->frames.items[nodes[a].frame], &tree->frames.items[nodes[b].frame]);
}

size_t weft_ecct_tree_n_frames(const struct weft_ecct_tree *tree)
{
    return tree->frames.n;
}

size_t weft_ecct_tree_n_nodes(const struct weft_ecct_tree *tree)
{
    return tree->nodes.n;
}

const struct weft_frame *weft_ecct_tree_frames(const struct weft_ecct_tree *tree)
{
    return tree->frames.items;
}

const struct weft_ecct_node *weft_ecct_tree_nodes(const struct weft_ecct_tree *tree)
{
    return tree->nodes.items;
}
