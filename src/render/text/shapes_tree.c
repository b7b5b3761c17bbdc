/* SPDX-License-Identifier: MIT
 *
 * Shapes drawn: the card of a cluster, and two shapes side by side.
 */
#include "analysis/shapes/metric.h"
#include "base/plain.h"
#include "base/search.h"
#include "render/human.h"
#include "render/text/shapes.h"
#include "render/text/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* ---- the tree of a shape --------------------------------------------------------------------- */

/* A line of the drawing. A shape that occurs several times below the root is drawn once with its
 * callees, so that no drawing is larger than the shapes it consists of. */
struct node {
    uint32_t shape_id;
    uint32_t level;
    uint32_t first_child, n_children; /* drawn, next to each other */
    const struct weft_shape *parent;  /* NULL: the root */
    uint32_t index;                   /* of the child in its parent */
    bool is_again;                    /* its callees are drawn at another place */
    bool is_cut;                      /* its callees are not drawn: the limit */
};

/* The nodes in breadth-first order: what is near the root is drawn before what is deep. */
struct tree {
    const struct weft_shapes_page *page;
    struct node *nodes;
    size_t n_nodes;  /* drawn */
    size_t n_hidden; /* left out by the limit */
    uint8_t *seen;   /* a bit a shape; all 0 between trees */
};

static bool is_seen(const uint8_t *seen, uint32_t id)
{
    return (seen[id / 8] >> (id % 8)) & 1;
}

/* Whether it is seen for the first time. */
static bool see(uint8_t *seen, uint32_t id)
{
    const bool is_new = !is_seen(seen, id);
    seen[id / 8] |= (uint8_t)(1U << (id % 8));
    return is_new;
}

/* All lines that the tree of `root` would take. `stack` has room for every shape. */
static size_t count_lines(const struct tree *tree, uint32_t root, uint32_t *stack)
{
    const struct weft_shapes_table *table = tree->page->table;
    size_t n_lines = 1, n_stack = 1;
    (void)see(tree->seen, root);
    stack[0] = root;
    while (n_stack > 0) {
        const struct weft_shape *shape = &table->shapes[stack[--n_stack]];
        n_lines += shape->n_children;
        for (uint32_t i = 0; i < shape->n_children; i++)
            if (see(tree->seen, shape->children[i]))
                stack[n_stack++] = shape->children[i];
    }
    memset(tree->seen, 0, table->n_shapes / 8 + 1);
    return n_lines;
}

static void add_children(struct tree *tree, struct node *node, size_t limit)
{
    const struct weft_shape *shape = &tree->page->table->shapes[node->shape_id];
    if (shape->n_children == 0)
        return;
    node->is_again = is_seen(tree->seen, node->shape_id);
    node->is_cut =
        !node->is_again && tree->n_nodes + shape->n_children > limit && tree->n_nodes > 1;
    if (node->is_again || node->is_cut)
        return;
    (void)see(tree->seen, node->shape_id);
    node->first_child = (uint32_t)tree->n_nodes;
    for (uint32_t i = 0; i < shape->n_children && tree->n_nodes < limit; i++, node->n_children++)
        tree->nodes[tree->n_nodes++] = (struct node){
            .shape_id = shape->children[i], .level = node->level + 1, .parent = shape, .index = i
        };
    node->is_cut = node->n_children < shape->n_children;
}

/* The tree of `root` in at most `limit` lines (0: all); false without memory. */
static bool grow(struct tree *tree, const struct weft_shapes_page *page, uint32_t root,
                 size_t limit)
{
    *tree = (struct tree){ .page = page };
    tree->seen = WEFT_ARENA_NEW(page->arena, page->table->n_shapes / 8 + 1, uint8_t);
    uint32_t *stack = WEFT_ARENA_NEW(page->arena, page->table->n_shapes + 1, uint32_t);
    if (!tree->seen || !stack)
        return false;
    const size_t n_lines = count_lines(tree, root, stack);
    if (limit == 0 || limit > n_lines)
        limit = n_lines;
    tree->nodes = WEFT_ARENA_NEW(page->arena, limit, struct node);
    if (!tree->nodes)
        return false;
    tree->nodes[tree->n_nodes++] = (struct node){ .shape_id = root };
    for (size_t i = 0; i < tree->n_nodes; i++)
        add_children(tree, &tree->nodes[i], limit);
    tree->n_hidden = n_lines - tree->n_nodes;
    return true;
}

/* Calls `draw` for every node in pre-order; false without memory. */
static bool each_node(const struct tree *tree, void (*draw)(const struct tree *, size_t, void *),
                      void *context)
{
    uint32_t *stack = WEFT_ARENA_NEW(tree->page->arena, tree->n_nodes, uint32_t);
    size_t n_stack = 0;
    if (!stack)
        return false;
    stack[n_stack++] = 0;
    while (n_stack > 0) {
        const uint32_t at = stack[--n_stack];
        const struct node *node = &tree->nodes[at];
        draw(tree, at, context);
        for (uint32_t i = node->n_children; i > 0; i--)
            stack[n_stack++] = node->first_child + i - 1;
    }
    return true;
}

static double mean_repeats(const struct node *node)
{
    const struct weft_shape *parent = node->parent;
    return parent->count ? (double)parent->repeats[node->index].sum / (double)parent->count : 0;
}

/* "  x3", "  x1-7, mean 2.4"; nothing for once. */
static void print_repeats(const struct node *node, struct weft_output *out)
{
    const struct weft_shape_repeat *repeat =
        node->parent ? &node->parent->repeats[node->index] : NULL;
    if (!repeat || (repeat->min == 1 && repeat->max == 1))
        return;
    if (repeat->min == repeat->max)
        weft_output_printf(out, "  x%s", weft_human_count(repeat->min).text);
    else
        weft_output_printf(out, "  x%s-%s, mean %s", weft_human_count(repeat->min).text,
                           weft_human_count(repeat->max).text,
                           weft_human_ratio(mean_repeats(node)).text);
}

static void draw_text(const struct tree *tree, size_t index, void *context)
{
    const struct node *node = &tree->nodes[index];
    const struct weft_shapes_page *page = tree->page;
    struct weft_output *out = context;
    char id[24];
    snprintf(id, sizeof id, "%8" PRIu32 "  ", node->shape_id);
    weft_view_dim(page->view, id);
    const struct weft_str text =
        weft_plain(page->arena,
                   weft_shapes_indented(page, node->level, weft_shapes_name(page, node->shape_id)));
    weft_output_write(out, text.bytes, text.n_bytes);
    print_repeats(node, out);
    if (node->is_again)
        weft_view_dim(page->view, "  (drawn once)");
    if (node->is_cut)
        weft_view_dim(page->view, "  ...");
    weft_output_text(out, "\n");
}

static void draw_json(const struct tree *tree, size_t index, void *context)
{
    const struct node *node = &tree->nodes[index];
    struct weft_json *json = context;
    const struct weft_shape_repeat *repeat =
        node->parent ? &node->parent->repeats[node->index] : NULL;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "shape", node->shape_id);
    weft_json_u64(json, "level", node->level);
    weft_json_str(json, "function", weft_shapes_name(tree->page, node->shape_id));
    weft_json_u64(json, "min", repeat ? repeat->min : 1);
    weft_json_u64(json, "max", repeat ? repeat->max : 1);
    weft_json_real(json, "mean", repeat ? mean_repeats(node) : 1);
    weft_json_bool(json, "again", node->is_again);
    weft_json_bool(json, "cut", node->is_cut);
    weft_json_end_object(json);
}

/* ---- the card of a cluster ------------------------------------------------------------------- */

/* A cluster and the threads on which it is. */
struct card {
    struct weft_shapes_page *page;
    const struct weft_shape_cluster *cluster;
    struct weft_shape_card_row *rows;
    size_t n_rows;
};

static const struct weft_shape_presence *find_presence(const struct weft_shape_thread *thread,
                                                       uint32_t cluster_id)
{
    size_t place;
    WEFT_SEARCH(place, thread->n_presences, thread->presences[place].cluster_id < cluster_id);
    return place < thread->n_presences && thread->presences[place].cluster_id == cluster_id
               ? &thread->presences[place]
               : NULL;
}

static bool find_threads(struct card *card)
{
    struct weft_shapes_page *page = card->page;
    const size_t n_threads = page->table->n_threads;
    card->rows = WEFT_ARENA_NEW(page->arena, n_threads, struct weft_shape_card_row);
    for (size_t i = 0; card->rows && i < n_threads; i++) {
        const struct weft_shape_thread *thread = &page->table->threads[i];
        const struct weft_shape_presence *presence = find_presence(thread, page->opts->id);
        if (presence)
            card->rows[card->n_rows++] =
                (struct weft_shape_card_row){ thread->thread_id, *presence };
    }
    return card->rows || weft_shapes_no_memory(page, n_threads);
}

static struct weft_table card_table(const struct card *card)
{
    return weft_shapes_rows(card->page, &weft_shape_card_type, card->rows, card->n_rows);
}

static void print_title(const struct card *card)
{
    const struct weft_shape_cluster *cluster = card->cluster;
    const struct weft_shapes_page *page = card->page;
    const struct weft_str name =
        weft_plain(page->arena, weft_shapes_function(page, cluster->function_id)->name);
    struct weft_output *out = page->view->out;
    char title[32];
    snprintf(title, sizeof title, "cluster %" PRIu32, page->opts->id);
    weft_view_bold(page->view, title);
    weft_output_printf(out, "  %.*s: %s%s, depth %" PRIu32 ", %s, %s in all", (int)name.n_bytes,
                       name.bytes, weft_human_plural(cluster->n_shapes, "shape").text,
                       cluster->is_trivial ? " (it calls nothing)" : "", cluster->depth,
                       weft_human_plural(cluster->times.count, "call").text,
                       weft_human_ns(cluster->times.sum_ns).text);
    weft_output_printf(out, ", %s, %s\n\n", weft_human_plural(cluster->n_spikes, "spike").text,
                       weft_human_plural(cluster->n_drops, "drop").text);
}

static void print_shape_head(const struct card *card, uint32_t id)
{
    const struct weft_shape *shape = &card->page->table->shapes[id];
    struct weft_output *out = card->page->view->out;
    const uint64_t all = card->cluster->times.count;
    char title[32];
    snprintf(title, sizeof title, "\nshape %" PRIu32, id);
    weft_view_bold(card->page->view, title);
    weft_output_printf(out, "  %s calls (%s), mean %s, ", weft_human_count(shape->count).text,
                       weft_human_share(all ? (double)shape->count / (double)all : 0).text,
                       weft_human_ns(weft_shapes_mean(shape->sum_ns, shape->count)).text);
    weft_output_printf(out, "%s to %s, on %" PRIu32 " thread%s\n",
                       weft_human_ns(shape->min_ns).text, weft_human_ns(shape->max_ns).text,
                       shape->n_threads, shape->n_threads == 1 ? "" : "s");
}

/* The members with most calls first; ties by id. `ids` is a copy of the cluster's. */
static int compare_members(const void *a_ptr, const void *b_ptr, void *context)
{
    const struct weft_shapes_table *table = context;
    const uint32_t a = *(const uint32_t *)a_ptr, b = *(const uint32_t *)b_ptr;
    if (table->shapes[a].count != table->shapes[b].count)
        return table->shapes[a].count > table->shapes[b].count ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool sort_members(struct card *card)
{
    struct weft_shapes_page *page = card->page;
    if (!weft_shapes_take_rows(page, card->cluster->n_shapes))
        return false;
    memcpy(page->rows, card->cluster->shape_ids, page->n_rows * sizeof *page->rows);
    qsort_r(page->rows, page->n_rows, sizeof *page->rows, compare_members,
            (void *)(uintptr_t)page->table);
    return true;
}

/* Draws shapes as long as lines are left. Each tree has memory of its own. */
static void print_shapes(struct card *card)
{
    struct weft_shapes_page *page = card->page;
    struct weft_output *out = page->view->out;
    uint64_t n_left = page->opts->limit;
    size_t n_drawn = 0;
    for (; n_drawn < page->n_rows && (page->opts->limit == 0 || n_left > 0); n_drawn++) {
        struct weft_shapes_page inside = *page;
        struct tree tree;
        inside.arena = weft_arena_new(0);
        bool is_ok = inside.arena && grow(&tree, &inside, page->rows[n_drawn], (size_t)n_left);
        if (is_ok) {
            print_shape_head(card, page->rows[n_drawn]);
            is_ok = each_node(&tree, draw_text, out);
        }
        if (is_ok && tree.n_hidden > 0)
            weft_output_printf(out, "          %s more lines; --limit 0 draws all\n",
                               weft_human_count(tree.n_hidden).text);
        n_left -= is_ok && n_left > tree.n_nodes ? tree.n_nodes : n_left;
        weft_output_release(out, inside.arena);
        if (!is_ok) {
            (void)weft_shapes_no_memory(page, page->table->n_shapes);
            return;
        }
    }
    if (n_drawn < page->n_rows)
        weft_output_printf(out, "\n%s more shapes; --limit 0 draws all\n",
                           weft_human_count(page->n_rows - n_drawn).text);
}

static void print_card(struct card *card)
{
    struct weft_shapes_page *page = card->page;
    const struct weft_shape_cluster *cluster = card->cluster;
    const struct weft_table table = card_table(card);
    print_title(card);
    weft_shapes_print_times(page, cluster);
    weft_table_text(&table, &page->view->style, page->view->out);
    weft_output_text(page->view->out, "\n");
    weft_shapes_print_occurrence(page, "first", &cluster->first);
    weft_shapes_print_occurrence(page, "typical", &cluster->typical);
    weft_shapes_print_occurrence(page, "slowest", &cluster->slowest);
    if (sort_members(card))
        print_shapes(card);
}

static void json_shape(struct card *card, uint32_t id, struct weft_json *json)
{
    struct weft_shapes_page inside = *card->page;
    const struct weft_shape *shape = &inside.table->shapes[id];
    struct tree tree;
    inside.arena = weft_arena_new(0);
    weft_json_new_line(json);
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "id", id);
    weft_json_u64(json, "count", shape->count);
    weft_json_u64(json, "total_ns", shape->sum_ns);
    weft_json_u64(json, "stddev_ns", weft_shapes_shape_deviation(shape));
    weft_json_u64(json, "min_ns", shape->min_ns);
    weft_json_u64(json, "max_ns", shape->max_ns);
    weft_json_u64(json, "threads", shape->n_threads);
    weft_shapes_occurrence_json(card->page, "first", &shape->first, json);
    weft_shapes_occurrence_json(card->page, "slowest", &shape->slowest, json);
    bool is_ok = inside.arena && grow(&tree, &inside, id, (size_t)inside.opts->limit);
    weft_json_begin_array(json, "nodes");
    if (is_ok)
        is_ok = each_node(&tree, draw_json, json);
    weft_json_end_array(json);
    weft_json_u64(json, "nodes_cut", is_ok ? tree.n_hidden : 0);
    weft_json_end_object(json);
    weft_output_release(card->page->view->out, inside.arena);
    if (!is_ok)
        (void)weft_shapes_no_memory(card->page, inside.table->n_shapes);
}

static void card_json(struct card *card)
{
    struct weft_shapes_page *page = card->page;
    const struct weft_shape_cluster *cluster = card->cluster;
    const struct weft_table table = card_table(card);
    struct weft_json *json = weft_view_json(page->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_shapes_json_head(page, json);
    weft_json_begin_object(json, "cluster");
    weft_json_u64(json, "id", page->opts->id);
    weft_json_str(json, "function", weft_shapes_function(page, cluster->function_id)->name);
    weft_json_u64(json, "depth", cluster->depth);
    weft_json_bool(json, "trivial", cluster->is_trivial);
    weft_json_u64(json, "count", cluster->times.count);
    weft_json_u64(json, "total_ns", cluster->times.sum_ns);
    weft_shapes_times_json(page, cluster, json);
    weft_json_u64(json, "spikes", cluster->n_spikes);
    weft_json_u64(json, "drops", cluster->n_drops);
    weft_json_real(json, "surprise", cluster->surprise);
    weft_shapes_occurrence_json(page, "first", &cluster->first, json);
    weft_shapes_occurrence_json(page, "typical", &cluster->typical, json);
    weft_shapes_occurrence_json(page, "slowest", &cluster->slowest, json);
    weft_table_json(&table, "threads", json);
    weft_json_begin_array(json, "shapes");
    for (size_t i = 0; sort_members(card) && i < page->n_rows; i++)
        json_shape(card, page->rows[i], json);
    weft_json_end_array(json);
    weft_json_end_object(json);
    weft_json_end_object(json);
    weft_view_json_end(page->view, json);
}

void weft_shapes_render_cluster(struct weft_shapes_page *page)
{
    struct card card = { .page = page, .cluster = &page->table->clusters[page->opts->id] };
    if (!find_threads(&card))
        return;
    const struct weft_table table = card_table(&card);
    if (page->view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&table, page->view->out);
    else if (page->view->format == WEFT_FORMAT_JSON)
        card_json(&card);
    else
        print_card(&card);
}

/* ---- two shapes side by side ----------------------------------------------------------------- */

#define ROW struct weft_shape_match

static WEFT_GET(get_distance)
{
    const struct weft_human text = weft_shapes_distance_text(((const ROW *)row)->distance);
    cell->real = ((const ROW *)row)->distance / 2.0;
    if (field->unit == WEFT_UNIT_TEXT)
        cell->text = weft_arena_copy(context->arena, weft_str_of(text.text));
}

static WEFT_GET(get_mark)
{
    cell->text = ((const ROW *)row)->is_critical ? WEFT_STR("*") : WEFT_STR("");
}

static WEFT_GET(get_side)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = cell->number == WEFT_SHAPE_NULL;
}

/* The name of the shape, for people below its callers. */
static WEFT_GET(get_side_name)
{
    const struct weft_shapes_page *page = context->of;
    const ROW *match = row;
    const uint32_t id = (uint32_t)weft_member_number(row, WEFT_FROM_U32, field->offset);
    cell->text = id == WEFT_SHAPE_NULL ? WEFT_STR("-") : weft_shapes_name(page, id);
    cell->is_null = id == WEFT_SHAPE_NULL && !context->is_text;
    cell->is_bad = match->is_critical;
    if (context->is_text)
        cell->text = weft_shapes_indented(page, match->level, cell->text);
}

enum { HEAD_A = 6, HEAD_B = 8 };

static const struct weft_field pair_fields[] = {
    WEFT_FIELD("level", NULL, COUNT, level, "callers above the pair"),
    WEFT_GETTER(NULL, "distance", TEXT, get_distance, "distance of the pair"),
    WEFT_GETTER("distance", NULL, RATIO, get_distance, "distance of the pair"),
    WEFT_GETTER(NULL, "", TEXT, get_mark, "whether it makes up the whole distance"),
    WEFT_FIELD("critical", NULL, BOOL, is_critical, "it makes up the whole distance"),
    WEFT_FIELD("a", "", ID, a, "the shape on the left", .get = get_side),
    WEFT_FIELD("a_function", "a", TEXT, a, "its function", .get = get_side_name),
    WEFT_FIELD("b", "", ID, b, "the shape on the right", .get = get_side),
    WEFT_FIELD("b_function", "b", TEXT, b, "its function", .get = get_side_name),
};

const struct weft_table_type weft_shapes_pairs_type =
    WEFT_TABLE_TYPE("shapes_pairs", "two shapes side by side", pair_fields, ROW);

static void print_pair_end(const struct weft_shapes_page *page)
{
    const struct weft_shape_match *match = page->opts->match;
    struct weft_output *out = page->view->out;
    weft_output_printf(out, "\ndistance %s", weft_shapes_distance_text(match->distance).text);
    weft_output_text(out, match->distance == 0 ? ": it is the same shape\n"
                                               : "; * makes it up; equal callees are shown once\n");
    if (page->opts->is_match_cut)
        weft_output_printf(out, "cut after %zu pairs: --limit 0\n", page->opts->n_match);
}

static void pair_json(const struct weft_shapes_page *page, const struct weft_table *table)
{
    struct weft_json *json = weft_view_json(page->view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_shapes_json_head(page, json);
    weft_json_u64(json, "shape_a", page->opts->id);
    weft_json_u64(json, "shape_b", page->opts->other_id);
    weft_json_real(json, "distance", page->opts->match->distance / 2.0);
    weft_json_bool(json, "cut", page->opts->is_match_cut);
    weft_table_json(table, "pairs", json);
    weft_json_end_object(json);
    weft_view_json_end(page->view, json);
}

void weft_shapes_render_diff(struct weft_shapes_page *page)
{
    enum { N_HEADS = sizeof pair_fields / sizeof *pair_fields };
    const char *heads[N_HEADS];
    char ids[2][24];
    snprintf(ids[0], sizeof ids[0], "shape %" PRIu32, page->opts->id);
    snprintf(ids[1], sizeof ids[1], "shape %" PRIu32, page->opts->other_id);
    for (size_t i = 0; i < N_HEADS; i++)
        heads[i] = pair_fields[i].head;
    heads[HEAD_A] = ids[0];
    heads[HEAD_B] = ids[1];
    struct weft_table table =
        weft_shapes_rows(page, &weft_shapes_pairs_type, page->opts->match, page->opts->n_match);
    table.in.of = page;
    table.heads = heads;
    if (page->view->format == WEFT_FORMAT_CSV) {
        weft_table_csv(&table, page->view->out);
    } else if (page->view->format == WEFT_FORMAT_JSON) {
        pair_json(page, &table);
    } else {
        weft_table_text(&table, &page->view->style, page->view->out);
        print_pair_end(page);
    }
}
