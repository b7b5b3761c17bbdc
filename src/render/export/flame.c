/* SPDX-License-Identifier: MIT
 *
 * Builds the tree of boxes from a comparison or from folded lines, lays it out by widths (boxes
 * below NARROW pixels are counted, not drawn), and writes SVG or folded stacks. A box has a lower
 * number than its children, so every pass is one loop without recursion. Colours follow the
 * evidence of a difference, never its ratio.
 */
#include "render/export/flame.h"

#include "base/map.h"
#include "base/plain.h"
#include "base/room.h"
#include "base/utf8.h"
#include "render/text/compare_words.h"
#include "schema/event.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1200, ROW = 17, TOP = 44, MARGIN = 10, DEPTH_MAX = 512 };

static const double NARROW = 0.3; /* pixels, below which nothing is seen */
static const double LETTER = 6.6; /* pixels of a letter of the font */

/* ---- boxes ----------------------------------------------------------------------------------- */

/* As paths have it: "thread journal" is no function of that name. */
static struct weft_str name_of(struct weft_arena *arena, const struct weft_frame *frame)
{
    static const char front[] = "thread ";
    const size_t n_front = sizeof front - 1;
    if (frame->kind != WEFT_FRAME_THREAD)
        return frame->name;
    char *name = weft_arena_alloc(arena, n_front + frame->name.n_bytes + 1, 1);
    if (!name)
        return frame->name;
    memcpy(name, front, n_front);
    if (frame->name.n_bytes)
        memcpy(name + n_front, frame->name.bytes, frame->name.n_bytes);
    return (struct weft_str){ name, n_front + frame->name.n_bytes };
}

enum weft_code weft_flame_of_table(const struct weft_ecct_matrix *matrix,
                                   const struct weft_compare_table *table, struct weft_arena *arena,
                                   struct weft_flame *flame, struct weft_err *err)
{
    uint32_t *place = calloc(matrix->n_nodes + 1, sizeof *place);
    *flame = (struct weft_flame){ .arena = arena, .is_difference = true, .is_time = true };
    flame->boxes = WEFT_ARENA_NEW(arena, table->n_nodes + 1, struct weft_flame_box);
    if (!place || !flame->boxes) {
        free(place);
        return weft_no_memory(err, "a flame graph");
    }
    for (size_t i = 0; i < table->n_nodes; i++) {
        const struct weft_compare_node *node = &table->nodes[i];
        const struct weft_ecct_node *in = &matrix->nodes[node->node];
        const bool is_root = in->parent == WEFT_ID_NONE;
        place[node->node] = (uint32_t)i;
        flame->boxes[i] = (struct weft_flame_box){
            .name = is_root ? WEFT_STR("all") : name_of(arena, &matrix->frames[in->frame]),
            .parent = is_root ? WEFT_ID_NONE : place[in->parent],
            .width = node->total_b_ns,
            .node = node,
        };
    }
    flame->n_boxes = table->n_nodes;
    free(place);
    return WEFT_OK;
}

struct folding {
    struct weft_arena *arena;
    struct weft_map *places; /* parent, name: box + 1 is its id */
    struct weft_strtab *names;
    struct {
        struct weft_flame_box *items;
        size_t n, cap;
    } boxes;
};

static enum weft_code find_box(struct folding *folding, uint32_t parent, struct weft_str name,
                               uint32_t *box, struct weft_err *err)
{
    uint32_t name_id;
    bool is_new;
    WEFT_TRY(weft_strtab_intern(folding->names, name, &name_id, err));
    const uint32_t id = weft_map_add(folding->places, (uint64_t)parent << 32 | name_id, &is_new);
    if (id == WEFT_MAP_NONE)
        return weft_no_memory(err, "a flame graph");
    *box = id + 1;
    if (!is_new)
        return WEFT_OK;
    struct weft_flame_box *made = WEFT_ROOM_PUSH(&folding->boxes);
    if (!made)
        return weft_no_memory(err, "a flame graph");
    *made =
        (struct weft_flame_box){ .name = weft_arena_copy(folding->arena, name), .parent = parent };
    return made->name.bytes ? WEFT_OK : weft_no_memory(err, "a flame graph");
}

/* The number behind the last space; false if there is none. */
static bool split_line(struct weft_str line, struct weft_str *stack, double *weight)
{
    uint64_t number = 0;
    size_t at = line.n_bytes;
    while (at > 0 && line.bytes[at - 1] >= '0' && line.bytes[at - 1] <= '9')
        at--;
    for (size_t i = at; i < line.n_bytes; i++)
        if (__builtin_mul_overflow(number, UINT64_C(10), &number) ||
            __builtin_add_overflow(number, (uint64_t)(line.bytes[i] - '0'), &number))
            return false;
    if (at == line.n_bytes || at < 2 || line.bytes[at - 1] != ' ')
        return false;
    *stack = (struct weft_str){ .bytes = line.bytes, .n_bytes = at - 1 };
    *weight = (double)number;
    return true;
}

static enum weft_code add_stack(struct folding *folding, struct weft_str stack, double weight,
                                struct weft_err *err)
{
    uint32_t box = 0;
    folding->boxes.items[0].width += weight;
    for (size_t at = 0; at <= stack.n_bytes;) {
        const char *next =
            at < stack.n_bytes ? memchr(stack.bytes + at, ';', stack.n_bytes - at) : NULL;
        const size_t end = next ? (size_t)(next - stack.bytes) : stack.n_bytes;
        const struct weft_str name = { .bytes = stack.bytes + at, .n_bytes = end - at };
        WEFT_TRY(find_box(folding, box, name, &box, err));
        folding->boxes.items[box].width += weight;
        at = end + 1;
    }
    return WEFT_OK;
}

static enum weft_code fold(struct folding *folding, struct weft_str text, struct weft_err *err)
{
    uint64_t line_number = 0;
    enum weft_code code = WEFT_OK;
    for (size_t at = 0; code == WEFT_OK && at < text.n_bytes;) {
        const char *next = memchr(text.bytes + at, '\n', text.n_bytes - at);
        const size_t end = next ? (size_t)(next - text.bytes) : text.n_bytes;
        const struct weft_str line = { .bytes = text.bytes + at, .n_bytes = end - at };
        struct weft_str stack;
        double weight;
        line_number++;
        if (line.n_bytes > 0 && !split_line(line, &stack, &weight))
            return weft_fail_line(err, WEFT_E_MALFORMED, at, line_number,
                                  "expected frames, a space and a number, such as 'a;b;c 12'");
        if (line.n_bytes > 0)
            code = add_stack(folding, stack, weight, err);
        at = end + 1;
    }
    return code;
}

enum weft_code weft_flame_of_folded(struct weft_str text, struct weft_arena *arena,
                                    struct weft_flame *flame, struct weft_err *err)
{
    struct folding folding = { .arena = arena,
                               .places = weft_map_new(),
                               .names = weft_strtab_new() };
    *flame = (struct weft_flame){ .arena = arena };
    struct weft_flame_box *root = WEFT_ROOM_PUSH(&folding.boxes);
    enum weft_code code =
        folding.places && folding.names && root ? WEFT_OK : weft_no_memory(err, "a flame graph");
    if (code == WEFT_OK) {
        *root = (struct weft_flame_box){ .name = WEFT_STR("all"), .parent = WEFT_ID_NONE };
        code = fold(&folding, text, err);
    }
    if (code == WEFT_OK && !weft_arena_copy_items(arena, &flame->boxes, folding.boxes.items,
                                                  folding.boxes.n, sizeof *folding.boxes.items))
        code = weft_no_memory(err, "a flame graph");
    flame->n_boxes = code == WEFT_OK ? folding.boxes.n : 0;
    weft_map_free(folding.places);
    weft_strtab_free(folding.names);
    WEFT_ROOM_FINI(&folding.boxes);
    return code;
}

void weft_flame_strip(struct weft_flame *flame, struct weft_str prefix)
{
    for (size_t i = 0; i < flame->n_boxes && prefix.n_bytes > 0; i++) {
        struct weft_str *name = &flame->boxes[i].name;
        if (name->n_bytes <= prefix.n_bytes ||
            memcmp(name->bytes, prefix.bytes, prefix.n_bytes) != 0)
            continue;
        name->bytes += prefix.n_bytes;
        name->n_bytes -= prefix.n_bytes;
    }
}

enum weft_code weft_flame_hide_paths(struct weft_flame *flame, const struct weft_trace *trace,
                                     struct weft_err *err)
{
    const struct weft_private *given = trace ? weft_trace_private(trace) : NULL;
    struct weft_private *made = given ? NULL : weft_private_new();
    const struct weft_private *rules = given ? given : made;
    enum weft_code code = rules ? WEFT_OK : WEFT_E_NOMEM;
    for (size_t i = 0; code == WEFT_OK && i < flame->n_boxes; i++) {
        struct weft_str *name = &flame->boxes[i].name;
        *name = weft_private_text(rules, flame->arena, *name);
        if (!name->bytes)
            code = WEFT_E_NOMEM;
    }
    weft_private_free(made);
    return code == WEFT_OK ? WEFT_OK : weft_no_memory(err, "a flame graph");
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* Where a box stands. */
struct place {
    double x; /* pixels from the left */
    uint32_t depth;
    bool is_shown;
};

struct layout {
    const struct weft_flame *flame;
    struct place *places;
    uint32_t *order; /* boxes by parent, name */
    uint32_t n_rows;
    uint64_t n_hidden;
    double scale; /* pixels of a unit of width */
};

static int by_parent_and_name(const void *a, const void *b, void *context)
{
    const struct weft_flame_box *boxes = context;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (boxes[i].parent != boxes[k].parent) /* that of box 0 is the highest number: it comes last */
        return boxes[i].parent < boxes[k].parent ? -1 : 1;
    const int names = weft_str_compare(boxes[i].name, boxes[k].name);
    return names ? names : i < k ? -1 : i > k;
}

/* The parent of a box is placed before it, as its number is lower. */
static void place_boxes(struct layout *layout, double *used)
{
    const struct weft_flame *flame = layout->flame;
    layout->places[0] = (struct place){ .x = MARGIN, .is_shown = true };
    layout->n_rows = 1;
    for (size_t i = 0; i + 1 < flame->n_boxes; i++) {
        const uint32_t box = layout->order[i], parent = flame->boxes[box].parent;
        struct place *place = &layout->places[box];
        const double width = flame->boxes[box].width * layout->scale;
        place->x = layout->places[parent].x + used[parent];
        place->depth = layout->places[parent].depth + 1;
        place->is_shown =
            layout->places[parent].is_shown && width >= NARROW && place->depth < DEPTH_MAX;
        used[parent] += width;
        layout->n_hidden += !place->is_shown;
        if (place->is_shown && place->depth + 1 > layout->n_rows)
            layout->n_rows = place->depth + 1;
    }
}

static bool layout_init(struct layout *layout, const struct weft_flame *flame)
{
    const size_t n = flame->n_boxes;
    double *used = weft_room_new(n + 1, sizeof *used);
    *layout = (struct layout){ .flame = flame,
                               .places = weft_room_new(n + 1, sizeof *layout->places),
                               .order = weft_room_new(n + 1, sizeof *layout->order) };
    const bool has_memory = used && layout->places && layout->order;
    if (has_memory && n > 0) {
        const double all = flame->boxes[0].width;
        layout->scale = all > 0 ? (WIDTH - 2 * MARGIN) / all : 0;
        for (size_t i = 0; i < n; i++)
            layout->order[i] = (uint32_t)i;
        qsort_r(layout->order, n, sizeof *layout->order, by_parent_and_name, flame->boxes);
        place_boxes(layout, used);
    }
    weft_room_free(used);
    return has_memory;
}

static void layout_fini(struct layout *layout)
{
    weft_room_free(layout->places);
    weft_room_free(layout->order);
}

/* ---- picture --------------------------------------------------------------------------------- */

/* The colours of differences: by evidence, never by ratio. */
static const char style[] =
    "<style>\n"
    "text{font:11px monospace;fill:#1b1f23}.h{font:bold 14px sans-serif}\n"
    "rect.p{fill:#dfe7ef}rect.n{fill:#f1f3f5}\n"
    "rect.f2{fill:#1f5fa8}rect.f1{fill:#86b3e0}rect.s1{fill:#f2b27a}rect.s2{fill:#b85500}\n"
    ".f2+text,.s2+text{fill:#fff}rect{stroke:#fff;stroke-width:.5}\n"
    ".u{fill:url(#hatch-d);stroke:none;pointer-events:none}\n"
    "#paper{fill:#fff}.line{stroke:#8b949e;stroke-width:1}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}#paper{fill:#14181d}\n"
    "rect{stroke:#14181d}rect.p{fill:#34404d}rect.n{fill:#2a3037}\n"
    "rect.f2{fill:#5aa2f0}rect.f1{fill:#2f5f92}rect.s1{fill:#8f5524}rect.s2{fill:#f0954a}\n"
    ".f2+text,.s2+text{fill:#14181d}}\n"
    "</style>\n"
    "<defs><pattern id=\"hatch-d\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><path class=\"line\" d=\"M0 0V6\"/></pattern></defs>\n";

static void put_escaped(struct weft_output *out, const char *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        const char *text = bytes[i] == '&'   ? "&amp;"
                           : bytes[i] == '<' ? "&lt;"
                           : bytes[i] == '>' ? "&gt;"
                           : bytes[i] == '"' ? "&quot;"
                                             : NULL;
        if (text)
            weft_output_text(out, text);
        else
            weft_output_write(out, bytes + i, 1);
    }
}

static const char *class_of(const struct weft_flame *flame, const struct weft_flame_box *box)
{
    if (!flame->is_difference || !box->node)
        return "p";
    if (box->node->p_adjusted >= 0.05 || box->node->difference_ns == 0)
        return "n";
    if (box->node->difference_ns < 0)
        return box->node->p_adjusted < 0.001 ? "f2" : "f1";
    return box->node->p_adjusted < 0.001 ? "s2" : "s1";
}

static struct weft_human amount(const struct weft_flame *flame, double value)
{
    return flame->is_time ? weft_human_mean(value) : weft_human_metric(value, WEFT_METRIC_NUMBER);
}

/* Of several contexts: their times; and the evidence of the one that differs most. */
static void put_folded(struct weft_output *out, const struct weft_flame_box *box)
{
    const struct weft_compare_node *node = box->node;
    const struct weft_human p = weft_human_p(node->p_adjusted);
    weft_output_printf(out,
                       ": A %s, B %s; themselves A %s, B %s, %s; the one that differs most %s (",
                       weft_human_mean(box->total_a_ns).text, weft_human_mean(box->total_b_ns).text,
                       weft_human_mean(box->own_a_ns).text, weft_human_mean(box->own_b_ns).text,
                       weft_human_change(box->own_b_ns - box->own_a_ns).text,
                       weft_human_change(node->difference_ns).text);
    put_escaped(out, p.text, strlen(p.text));
    weft_output_printf(out, ")%s", node->is_sure ? "" : ", unsure");
}

static void put_title(struct weft_output *out, const struct weft_flame *flame,
                      const struct weft_flame_box *box, struct weft_str name)
{
    const struct weft_compare_node *node = box->node;
    const double all = flame->boxes[0].width;
    weft_output_text(out, "<title>");
    put_escaped(out, name.bytes, name.n_bytes);
    if (!flame->is_difference || !node) {
        weft_output_printf(out, ": %s, %.3g %%", amount(flame, box->width).text,
                           all > 0 ? 100 * box->width / all : 0);
    } else if (box->n_folded > 1) {
        put_folded(out, box);
    } else {
        weft_output_printf(
            out, ": A %s, B %s; itself A %s, B %s, %s", weft_human_mean(node->total_a_ns).text,
            weft_human_mean(node->total_b_ns).text, weft_human_mean(node->mean_a_ns).text,
            weft_human_mean(node->mean_b_ns).text, weft_human_change(node->difference_ns).text);
        if (node->difference_ns != 0) {
            const struct weft_human p = weft_human_p(node->p_adjusted);
            weft_output_printf(out, " (95 %% %s to %s, ",
                               weft_human_change(node->interval.low_ns).text,
                               weft_human_change(node->interval.high_ns).text);
            put_escaped(out, p.text, strlen(p.text));
            weft_output_printf(out, ", in %" PRIu32 " and %" PRIu32 ")%s", node->n_a, node->n_b,
                               node->is_sure ? "" : ", unsure");
        }
    }
    weft_output_text(out, "</title>");
}

static void put_box(struct weft_output *out, const struct layout *layout, uint32_t box,
                    struct weft_arena *arena)
{
    const struct weft_flame *flame = layout->flame;
    const struct weft_flame_box *of = &flame->boxes[box];
    const struct place *place = &layout->places[box];
    const double width = of->width * layout->scale;
    const uint32_t y = TOP + ROW * place->depth;
    const struct weft_str name = weft_plain(arena, of->name);
    if (!place->is_shown || !name.bytes)
        return;
    weft_output_text(out, "<g>");
    put_title(out, flame, of, name);
    weft_output_printf(out,
                       "<rect class=\"%s\" x=\"%.1f\" y=\"%" PRIu32 "\" width=\"%.1f\" "
                       "height=\"%d\"/>",
                       class_of(flame, of), place->x, y, width, ROW - 1);
    const size_t n_letters = width > 3 * LETTER + 4 ? (size_t)((width - 4) / LETTER) : 0;
    const struct weft_str shown =
        n_letters >= 4 ? weft_utf8_elide(arena, name, n_letters) : (struct weft_str){ 0 };
    if (shown.n_bytes > 0) {
        weft_output_printf(out, "<text x=\"%.1f\" y=\"%" PRIu32 "\">", place->x + 2, y + ROW - 5);
        put_escaped(out, shown.bytes, shown.n_bytes);
        weft_output_text(out, "</text>");
    }
    if (flame->is_difference && of->node && of->node->difference_ns != 0 && !of->node->is_sure)
        weft_output_printf(
            out, "<rect class=\"u\" x=\"%.1f\" y=\"%" PRIu32 "\" width=\"%.1f\" height=\"%d\"/>",
            place->x, y, width, ROW - 1);
    weft_output_text(out, "</g>\n");
}

static void put_picture(struct weft_output *out, const struct layout *layout,
                        struct weft_arena *arena)
{
    const struct weft_flame *flame = layout->flame;
    const uint32_t height = TOP + ROW * layout->n_rows + 2 * MARGIN;
    weft_output_printf(out,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %" PRIu32
                       "\" width=\"%d\" height=\"%" PRIu32 "\">\n",
                       WIDTH, height, WIDTH, height);
    weft_output_text(out, style);
    weft_output_printf(out, "<rect id=\"paper\" width=\"%d\" height=\"%" PRIu32 "\"/>\n", WIDTH,
                       height);
    weft_output_printf(out, "<text class=\"h\" x=\"%d\" y=\"18\">", MARGIN);
    const struct weft_str title = weft_plain(arena, flame->title);
    put_escaped(out, title.bytes, title.n_bytes);
    weft_output_printf(out, "</text>\n<text x=\"%d\" y=\"34\">", MARGIN);
    weft_output_printf(out, "width: %s%s%s", flame->is_difference ? "mean of B, " : "",
                       amount(flame, flame->n_boxes ? flame->boxes[0].width : 0).text,
                       flame->is_difference
                           ? "; orange: B slower there itself, blue: faster, hatched: unsure"
                           : "");
    if (layout->n_hidden > 0)
        weft_output_printf(out, "; %s too narrow to be seen",
                           weft_human_plural(layout->n_hidden, "context").text);
    weft_output_text(out, "</text>\n");
    for (size_t box = 0; box < flame->n_boxes && !weft_output_has_failed(out); box++) {
        put_box(out, layout, (uint32_t)box, arena);
        weft_arena_reset(arena);
    }
    weft_output_text(out, "</svg>\n");
}

void weft_flame_svg(struct weft_output *out, const struct weft_flame *flame)
{
    struct layout layout;
    struct weft_err err = { 0 };
    struct weft_arena *arena = weft_arena_new(0);
    if (layout_init(&layout, flame) && arena) {
        put_picture(out, &layout, arena);
    } else {
        (void)weft_no_memory(&err, "a flame graph");
        weft_output_fail(out, &err);
    }
    layout_fini(&layout);
    weft_output_release(out, arena);
}

/* ---- folded ---------------------------------------------------------------------------------- */

static void put_stack(struct weft_output *out, const struct weft_flame *flame, uint32_t box)
{
    uint32_t path[DEPTH_MAX];
    size_t n = 0;
    for (; box != 0 && n < DEPTH_MAX; box = flame->boxes[box].parent)
        path[n++] = box;
    if (box != 0)
        weft_output_text(out, "[outer calls];");
    while (n-- > 0) {
        const struct weft_str name = flame->boxes[path[n]].name;
        weft_output_frame(out, name);
        weft_output_text(out, n > 0 ? ";" : "");
    }
}

void weft_flame_folded(struct weft_output *out, const struct weft_flame *flame)
{
    double *own = weft_room_new(flame->n_boxes + 1, sizeof *own);
    struct weft_err err = { 0 };
    if (!own) {
        (void)weft_no_memory(&err, "a flame graph");
        weft_output_fail(out, &err);
        return;
    }
    for (size_t box = 0; box < flame->n_boxes; box++)
        own[box] = flame->boxes[box].width;
    for (size_t box = 1; box < flame->n_boxes; box++)
        own[flame->boxes[box].parent] -= flame->boxes[box].width;
    for (size_t box = 1; box < flame->n_boxes && !weft_output_has_failed(out); box++) {
        const struct weft_compare_node *node = flame->boxes[box].node;
        const uint64_t a = node ? (uint64_t)(node->mean_a_ns + 0.5) : 0;
        const uint64_t b = node ? (uint64_t)(node->mean_b_ns + 0.5) : (uint64_t)fmax(own[box], 0);
        if (b == 0 && (a == 0 || !flame->is_difference))
            continue;
        put_stack(out, flame, (uint32_t)box);
        if (flame->is_difference)
            weft_output_printf(out, " %" PRIu64, a);
        weft_output_printf(out, " %" PRIu64 "\n", b);
    }
    weft_room_free(own);
}
