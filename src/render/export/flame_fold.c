/* SPDX-License-Identifier: MIT
 *
 * Frames of the kernel that no symbol names: below one frame, one box.
 */
#include "base/room.h"
#include "render/export/flame.h"
#include "schema/ecct.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 48 };

struct fold_state {
    struct weft_flame *flame;
    uint32_t *box_of;  /* by box: that which it is in; itself, if it is not folded */
    uint32_t *first;   /* by box: its first nameless child; WEFT_ID_NONE: none */
    uint32_t *place;   /* by box that stays: where */
    bool *is_nameless; /* by box */
};

static bool is_nameless(const struct weft_flame_box *box)
{
    static const char front[] = "[kernel]+0x";
    const size_t n = sizeof front - 1;
    return box->name.n_bytes > n && memcmp(box->name.bytes, front, n) == 0;
}

static void find_boxes(struct fold_state *state)
{
    const struct weft_flame *flame = state->flame;
    for (uint32_t i = 0; i < flame->n_boxes; i++) {
        const uint32_t parent = flame->boxes[i].parent;
        state->box_of[i] = i;
        state->first[i] = WEFT_ID_NONE;
        state->is_nameless[i] = i > 0 && is_nameless(&flame->boxes[i]);
        if (!state->is_nameless[i])
            continue;
        const uint32_t above = state->box_of[parent];
        if (state->is_nameless[above])
            state->box_of[i] = above;
        else if (state->first[above] == WEFT_ID_NONE)
            state->first[above] = i;
        else
            state->box_of[i] = state->first[above];
    }
}

/* Adds a box to that which it is in. Only the outermost of a run bring a width of their own: the
 * others' is within theirs. */
static void add_to(struct fold_state *state, uint32_t i)
{
    const struct weft_flame_box *from = &state->flame->boxes[i];
    struct weft_flame_box *to = &state->flame->boxes[state->place[state->box_of[i]]];
    const bool is_outermost = !state->is_nameless[from->parent];
    to->n_folded++;
    if (is_outermost)
        to->width += from->width;
    if (!from->node || !to->node)
        return;
    if (is_outermost) {
        to->total_a_ns += from->node->total_a_ns;
        to->total_b_ns += from->node->total_b_ns;
    }
    to->own_a_ns += from->node->mean_a_ns;
    to->own_b_ns += from->node->mean_b_ns;
    if (fabs(from->node->difference_ns) > fabs(to->node->difference_ns))
        to->node = from->node;
}

/* The first of a run stays, and what is in it is added to it. Boxes move to the front, behind
 * which those that come later are read: a place is never behind its box. */
static void move_boxes(struct fold_state *state)
{
    struct weft_flame *flame = state->flame;
    uint32_t n = 0;
    for (uint32_t i = 0; i < flame->n_boxes; i++) {
        struct weft_flame_box box = flame->boxes[i];
        if (state->box_of[i] != i) {
            add_to(state, i);
            continue;
        }
        state->place[i] = n;
        if (i > 0)
            box.parent = state->place[state->box_of[box.parent]];
        if (state->is_nameless[i]) {
            box.n_folded = 1;
            if (box.node) {
                box.total_a_ns = box.node->total_a_ns;
                box.total_b_ns = box.node->total_b_ns;
                box.own_a_ns = box.node->mean_a_ns;
                box.own_b_ns = box.node->mean_b_ns;
            }
        }
        flame->boxes[n++] = box;
    }
    flame->n_boxes = n;
}

/* "[kernel] (13 unnamed)"; what is alone keeps its address. */
static bool name_boxes(struct weft_flame *flame)
{
    for (size_t i = 0; i < flame->n_boxes; i++) {
        struct weft_flame_box *box = &flame->boxes[i];
        if (box->n_folded < 2)
            continue;
        char *name = weft_arena_alloc(flame->arena, NAME_BYTES, 1);
        if (!name)
            return false;
        const int n = snprintf(name, NAME_BYTES, "[kernel] (%" PRIu32 " unnamed)", box->n_folded);
        box->name = (struct weft_str){ name, (size_t)n };
    }
    return true;
}

enum weft_code weft_flame_fold_nameless(struct weft_flame *flame, struct weft_err *err)
{
    const size_t n = flame->n_boxes + 1;
    struct fold_state state = { .flame = flame,
                                .box_of = weft_room_new(n, sizeof *state.box_of),
                                .first = weft_room_new(n, sizeof *state.first),
                                .place = weft_room_new(n, sizeof *state.place),
                                .is_nameless = weft_room_new(n, sizeof *state.is_nameless) };
    bool is_done = state.box_of && state.first && state.place && state.is_nameless;
    if (is_done) {
        find_boxes(&state);
        move_boxes(&state);
        is_done = name_boxes(flame);
    }
    weft_room_free(state.box_of);
    weft_room_free(state.first);
    weft_room_free(state.place);
    weft_room_free(state.is_nameless);
    return is_done ? WEFT_OK : weft_no_memory(err, "a flame graph");
}
