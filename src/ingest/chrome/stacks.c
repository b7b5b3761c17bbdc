/* SPDX-License-Identifier: MIT
 *
 * Stack frames: {"7": {"name": "step", "category": "app", "parent": "3"}, ...}.
 */
#include "base/vec.h"
#include "ingest/chrome/trace.h"

#include <stdlib.h>

enum { MOST_FRAMES = 1024 };

struct frame {
    struct weft_json_value name;
    uint64_t parent;
    bool has_parent;
};

struct chrome_stacks {
    struct weft_map *ids; /* chrome_id_number of the id */
    struct {
        struct frame *items;
        size_t n, cap;
    } frames; /* by id in `ids` */
};

void chrome_stacks_free(struct chrome_stacks *stacks)
{
    if (!stacks)
        return;
    weft_map_free(stacks->ids);
    WEFT_VEC_FINI(&stacks->frames);
    free(stacks);
}

static bool add_frame(struct chrome_stacks *stacks, const struct weft_json_value *id,
                      const struct weft_json_value *object)
{
    struct weft_json_value parent;
    uint32_t place = weft_map_add(stacks->ids, chrome_id_number(id), NULL);
    if (place == WEFT_MAP_NONE || (place == stacks->frames.n && !WEFT_VEC_PUSH(&stacks->frames)))
        return false;
    struct frame *frame = &stacks->frames.items[place];
    *frame = (struct frame){ 0 };
    if (chrome_member(object, "name", &frame->name) && frame->name.type != WEFT_JSON_STRING)
        frame->name = (struct weft_json_value){ 0 };
    frame->has_parent = chrome_member(object, "parent", &parent);
    if (frame->has_parent)
        frame->parent = chrome_id_number(&parent);
    return true;
}

static bool add_frames(struct chrome_stacks *stacks, const struct weft_json_value *frames)
{
    struct weft_json_reader reader = weft_json_reader_of(frames->bytes, frames->n_bytes);
    reader.at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value id;
        struct weft_json_value object;
        bool is_end;
        if (!weft_json_member(&reader, is_first, &id, &is_end) || is_end ||
            !weft_json_value(&reader, &object))
            return true;
        if (!add_frame(stacks, &id, &object))
            return false;
    }
}

struct chrome_stacks *chrome_stacks_new(const struct weft_json_value *frames)
{
    struct chrome_stacks *stacks = calloc(1, sizeof *stacks);
    if (!stacks)
        return NULL;
    stacks->ids = weft_map_new();
    if (!stacks->ids || (frames->n_bytes && !add_frames(stacks, frames))) {
        chrome_stacks_free(stacks);
        return NULL;
    }
    return stacks;
}

/* Appends a frame's name; ';' parts frames, so one in a name becomes ','. */
static bool append_name(struct chrome_text *text, const struct weft_json_value *name, bool is_first)
{
    struct weft_str plain;
    if (!weft_vec_reserve(&text->items, &text->cap, text->n + 2 * name->n_bytes + 1, 1))
        return false;
    if (!is_first)
        text->items[text->n++] = ';';
    size_t begin = text->n;
    if (!chrome_plain(name, text, &plain))
        return false;
    if (!name->has_escapes && name->n_bytes) {
        memcpy(text->items + begin, name->bytes, name->n_bytes);
        text->n += name->n_bytes;
    }
    for (size_t k = begin; k < text->n; k++)
        text->items[k] = text->items[k] == ';' ? ',' : text->items[k];
    return true;
}

/* "stack": the frames themselves, outermost first. */
static bool fold_array(const struct weft_json_value *stack, struct chrome_text *text)
{
    struct weft_json_reader reader = weft_json_reader_of(stack->bytes, stack->n_bytes);
    reader.at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value name;
        bool is_end;
        if (!weft_json_element(&reader, is_first, &is_end) || is_end ||
            !weft_json_value(&reader, &name))
            return true;
        if (!append_name(text, &name, is_first))
            return false;
    }
}

bool chrome_stacks_fold(const struct chrome_stacks *stacks, const struct chrome_event *event,
                        struct chrome_text *text)
{
    const struct weft_json_value *stack = chrome_field(event, CHROME_STACK);
    const struct weft_json_value *leaf = chrome_field(event, CHROME_SF);
    if (!leaf && stack && stack->type == WEFT_JSON_ARRAY)
        return fold_array(stack, text);
    if (!leaf || !stacks)
        return true;
    uint32_t path[MOST_FRAMES]; /* a chain that runs in a circle ends there too */
    size_t n_path = 0;
    uint32_t at = weft_map_find(stacks->ids, chrome_id_number(leaf));
    while (at != WEFT_MAP_NONE && n_path < MOST_FRAMES) {
        const struct frame *frame = &stacks->frames.items[at];
        path[n_path++] = at;
        at = frame->has_parent ? weft_map_find(stacks->ids, frame->parent) : WEFT_MAP_NONE;
    }
    for (size_t k = n_path; k-- > 0;)
        if (!append_name(text, &stacks->frames.items[path[k]].name, k + 1 == n_path))
            return false;
    return true;
}
