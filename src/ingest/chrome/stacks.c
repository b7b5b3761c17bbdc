/* SPDX-License-Identifier: MIT
 *
 * Stack frames: {"7": {"name": "step", "category": "app", "parent": "3"}, ...}.
 */
#include "base/vec.h"
#include "ingest/chrome/trace.h"

#include <stdlib.h>

/* Of one stack. That of a sample is a name, and stored once; that of a call is stored with each. */
enum { MOST_FRAMES = 1024, MOST_SAMPLE_BYTES = 1 << 16, MOST_CALL_BYTES = 1 << 12 };

struct frame {
    struct weft_json_value name;
    uint64_t parent;
    uint32_t name_id; /* in the trace's names, which has those of functions too */
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

static bool add_frame(struct chrome_stacks *stacks, struct chrome_trace *trace,
                      const struct weft_json_value *id, const struct weft_json_value *object)
{
    struct weft_json_value parent;
    struct weft_str plain;
    struct weft_err err = { 0 };
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
    trace->scratch.n = 0;
    return chrome_plain(&frame->name, &trace->scratch, &plain) &&
           weft_strtab_intern(trace->names, plain, &frame->name_id, &err) == WEFT_OK;
}

static bool add_frames(struct chrome_stacks *stacks, struct chrome_trace *trace)
{
    const struct weft_json_value *frames = &trace->stack_frames;
    struct weft_json_reader reader = weft_json_reader_of(frames->bytes, frames->n_bytes);
    reader.at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value id;
        struct weft_json_value object;
        bool is_end;
        if (!weft_json_member(&reader, is_first, &id, &is_end) || is_end ||
            !weft_json_value(&reader, &object))
            return true;
        if (!add_frame(stacks, trace, &id, &object))
            return false;
    }
}

struct chrome_stacks *chrome_stacks_new(struct chrome_trace *trace)
{
    struct chrome_stacks *stacks = calloc(1, sizeof *stacks);
    if (!stacks)
        return NULL;
    stacks->ids = weft_map_new();
    if (!stacks->ids || (trace->stack_frames.n_bytes && !add_frames(stacks, trace))) {
        chrome_stacks_free(stacks);
        return NULL;
    }
    return stacks;
}

uint32_t chrome_stacks_frame(const struct chrome_stacks *stacks, uint64_t id, uint32_t name,
                             uint32_t around)
{
    uint32_t place = weft_map_find(stacks->ids, id);
    if (place == WEFT_MAP_NONE || stacks->frames.items[place].name_id != name)
        return WEFT_MAP_NONE;
    const struct frame *frame = &stacks->frames.items[place];
    uint32_t parent = frame->has_parent ? weft_map_find(stacks->ids, frame->parent) : WEFT_MAP_NONE;
    return parent == around ? place : WEFT_MAP_NONE;
}

bool chrome_stacks_is_frame(const struct chrome_stacks *stacks, uint64_t id, uint32_t frame)
{
    return weft_map_find(stacks->ids, id) == frame;
}

/* How names are written: as they are, or with the escapes that they have in JSON. */
enum form { FORM_PLAIN, FORM_JSON };

static bool append(struct chrome_text *text, const char *bytes, size_t n_bytes)
{
    if (!weft_vec_reserve(&text->items, &text->cap, text->n + n_bytes, 1))
        return false;
    if (n_bytes)
        memcpy(text->items + text->n, bytes, n_bytes);
    text->n += n_bytes;
    return true;
}

static bool append_text(struct chrome_text *text, const char *words)
{
    return append(text, words, strlen(words));
}

/* Appends a frame's name; ';' parts frames, so one in a name becomes ','. */
static bool append_name(struct chrome_text *text, const struct weft_json_value *name, bool is_first,
                        enum form form)
{
    struct weft_str plain;
    if (!is_first && !append_text(text, ";"))
        return false;
    size_t begin = text->n;
    if (form == FORM_JSON || !name->has_escapes) {
        if (!append(text, name->bytes, name->n_bytes))
            return false;
    } else if (!chrome_plain(name, text, &plain)) {
        return false;
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
        if (!append_name(text, &name, is_first, FORM_PLAIN))
            return false;
    }
}

/* The frames from `leaf` outwards, until names and partings would take more than `n_most` bytes. A
 * chain that is cut there, or has a cycle, begins with "...". */
static bool fold_chain(const struct chrome_stacks *stacks, const struct weft_json_value *leaf,
                       size_t n_most, enum form form, struct chrome_text *text)
{
    uint32_t path[MOST_FRAMES];
    size_t n_path = 0;
    size_t n_bytes = 0;
    uint32_t at = weft_map_find(stacks->ids, chrome_id_number(leaf));
    while (at != WEFT_MAP_NONE && n_path < MOST_FRAMES) {
        const struct frame *frame = &stacks->frames.items[at];
        if (frame->name.n_bytes >= n_most - n_bytes)
            break;
        n_bytes += frame->name.n_bytes + 1;
        path[n_path++] = at;
        at = frame->has_parent ? weft_map_find(stacks->ids, frame->parent) : WEFT_MAP_NONE;
    }
    bool is_cut = at != WEFT_MAP_NONE;
    if (is_cut && !append_text(text, "..."))
        return false;
    for (size_t k = n_path; k-- > 0;)
        if (!append_name(text, &stacks->frames.items[path[k]].name, !is_cut && k + 1 == n_path,
                         form))
            return false;
    return true;
}

bool chrome_stacks_fold(const struct chrome_stacks *stacks, const struct chrome_event *event,
                        struct chrome_text *text)
{
    const struct weft_json_value *stack = chrome_field(event, CHROME_STACK);
    const struct weft_json_value *leaf = chrome_field(event, CHROME_SF);
    if (leaf)
        return fold_chain(stacks, leaf, MOST_SAMPLE_BYTES, FORM_PLAIN, text);
    return !stack || stack->type != WEFT_JSON_ARRAY || fold_array(stack, text);
}

/* ---- details ----------------------------------------------------------------------- */

bool chrome_has_only_frame(const struct chrome_event *event)
{
    const uint32_t more = UINT32_C(1) << CHROME_TTS | UINT32_C(1) << CHROME_TDUR |
                          UINT32_C(1) << CHROME_ESF | UINT32_C(1) << CHROME_STACK;
    return (event->present & more) == 0 && chrome_field(event, CHROME_SF) &&
           chrome_args(event).n_bytes == 0;
}

bool chrome_has_details(const struct chrome_event *event)
{
    const uint32_t details = UINT32_C(1) << CHROME_TTS | UINT32_C(1) << CHROME_TDUR |
                             UINT32_C(1) << CHROME_SF | UINT32_C(1) << CHROME_ESF |
                             UINT32_C(1) << CHROME_STACK;
    return (event->present & details) != 0;
}

static bool append_key(struct chrome_text *text, const char *key)
{
    bool is_first = text->n == 0 || text->items[text->n - 1] == '{';
    return append_text(text, is_first ? "\"" : ",\"") && append_text(text, key) &&
           append_text(text, "\":");
}

/* A field as it stands; null is none. */
static bool append_field(struct chrome_text *text, const char *key,
                         const struct weft_json_value *value)
{
    size_t n_quotes = value && value->type == WEFT_JSON_STRING;
    if (!value || value->type == WEFT_JSON_NULL)
        return true;
    return append_key(text, key) &&
           append(text, value->bytes - n_quotes, value->n_bytes + 2 * n_quotes);
}

/* The stack that a field refers to; if nothing is known of its frame, the field as it stands. */
static bool append_stack(const struct chrome_stacks *stacks, const struct chrome_event *event,
                         enum chrome_field field, const char *key, struct chrome_text *text)
{
    const struct weft_json_value *leaf = chrome_field(event, field);
    if (!leaf || weft_map_find(stacks->ids, chrome_id_number(leaf)) == WEFT_MAP_NONE)
        return append_field(text, field == CHROME_SF ? "sf" : "esf", leaf);
    return append_key(text, key) && append_text(text, "\"") &&
           fold_chain(stacks, leaf, MOST_CALL_BYTES, FORM_JSON, text) && append_text(text, "\"");
}

bool chrome_stacks_put_details(const struct chrome_stacks *stacks, const struct chrome_event *event,
                               struct chrome_text *text)
{
    char phase = chrome_event_phase(event);
    bool is_end = phase == 'E' || phase == 'e' || phase == 'F';
    bool is_sample = phase == 'P' || phase == '\0'; /* their stack is their name */
    const char *stack = is_end ? "end_stack" : "stack";
    if (!append_field(text, is_end ? "thread_end_us" : "thread_start_us",
                      chrome_field(event, CHROME_TTS)) ||
        !append_field(text, "thread_duration_us", chrome_field(event, CHROME_TDUR)))
        return false;
    return is_sample || (append_stack(stacks, event, CHROME_SF, stack, text) &&
                         append_field(text, stack, chrome_field(event, CHROME_STACK)) &&
                         append_stack(stacks, event, CHROME_ESF, "end_stack", text));
}
