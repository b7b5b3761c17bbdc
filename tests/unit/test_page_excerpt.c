/* SPDX-License-Identifier: MIT
 *
 * The excerpt of a comparison that a page has: it stands for all executions, and its tree is whole.
 */
#include "render/page/excerpt.h"
#include "tap.h"

enum { ITEMS = 5000, SLOW = 1500, NEITHER = 700, NODES = 9000, CAUSES = 70, KEPT = 64 };

static struct weft_ecct_node nodes[NODES];
static struct weft_frame frames[NODES];
static struct weft_execution_item items[ITEMS];
static double durations[ITEMS];
static struct weft_compare_node differences[NODES];
static uint32_t usual[ITEMS], slow[ITEMS], ranked[NODES], cause_of[ITEMS];

static const struct weft_ecct_matrix *make_matrix(void)
{
    static struct weft_metric metric;
    static struct weft_execution_source source;
    static struct weft_ecct_matrix matrix;
    for (uint32_t i = 0; i < NODES; i++) {
        nodes[i] =
            (struct weft_ecct_node){ i == 0 ? WEFT_ID_NONE : i / 2, i == 0 ? WEFT_ID_NONE : i, 0 };
        frames[i] = (struct weft_frame){ .name = WEFT_STR("f"), .reason = (uint8_t)(i % 7) };
    }
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint64_t ns = (i * UINT64_C(7919)) % ITEMS + 1;
        items[i] = (struct weft_execution_item){ .id = i, .start_ns = i, .end_ns = i + ns };
        durations[i] = (double)ns;
    }
    metric = (struct weft_metric){ .name = WEFT_STR("duration"), .values = durations };
    source = (struct weft_execution_source){ .path = WEFT_STR("/home/user/run.weft"),
                                             .host = WEFT_STR("machine") };
    matrix = (struct weft_ecct_matrix){ .frames = frames,
                                        .n_frames = NODES,
                                        .nodes = nodes,
                                        .n_nodes = NODES,
                                        .sources = &source,
                                        .n_sources = 1,
                                        .items = items,
                                        .n_items = ITEMS,
                                        .metrics = &metric,
                                        .n_metrics = 1 };
    return &matrix;
}

/* Usual and slow by duration, some between in neither; the deepest nodes are ranked first. */
static const struct weft_compare_table *make_table(void)
{
    static struct weft_compare_cause causes[CAUSES];
    static struct weft_compare_table table;
    size_t n_a = 0, n_b = 0;
    for (uint32_t i = 0; i < ITEMS; i++) {
        const double ns = durations[i];
        if (ns > ITEMS - SLOW) {
            cause_of[n_b] = i % CAUSES;
            slow[n_b++] = i;
        } else if (ns <= ITEMS - SLOW - NEITHER) {
            usual[n_a++] = i;
        }
    }
    for (uint32_t i = 0; i < NODES; i++) {
        differences[i] = (struct weft_compare_node){ .node = i, .total_b_ns = NODES - i / 2 };
        ranked[i] = NODES - 1 - i;
    }
    for (uint32_t i = 0; i < CAUSES; i++)
        causes[i] = (struct weft_compare_cause){
            .node = NODES - 1 - i, .context = 1, .example = slow[i * 20], .n_items = 1
        };
    table = (struct weft_compare_table){ .items_a = usual,
                                         .items_b = slow,
                                         .n_a = n_a,
                                         .n_b = n_b,
                                         .nodes = differences,
                                         .n_nodes = NODES,
                                         .ranked = ranked,
                                         .n_ranked = NODES,
                                         .causes = causes,
                                         .n_causes = CAUSES,
                                         .cause_of = cause_of };
    return &table;
}

static double sum_weights(const struct weft_page_excerpt *excerpt, uint8_t members)
{
    double sum = 0;
    for (size_t i = 0; i < excerpt->matrix.n_items; i++)
        if (excerpt->members[i] == members)
            sum += excerpt->weights[i];
    return sum;
}

static void test_items(const struct weft_page_excerpt *excerpt,
                       const struct weft_compare_table *table)
{
    const struct weft_ecct_matrix *matrix = &excerpt->matrix;
    bool is_same = true, is_ordered = true, has_longest = false;
    size_t n_slow = 0, n_wrong = 0;
    for (size_t i = 0; i < matrix->n_items; i++) {
        const struct weft_execution_item *item = &matrix->items[i];
        is_same &= matrix->metrics[0].values[i] == durations[item->id];
        is_ordered &= i == 0 || matrix->items[i - 1].id < item->id;
        has_longest |= item->end_ns - item->start_ns == ITEMS;
        n_slow += excerpt->members[i] == 2;
    }
    tap_ok(matrix->n_items < ITEMS / 2, "some stand for all");
    tap_ok(is_same && is_ordered, "each with its own values, in their order");
    tap_ok(has_longest, "the longest is among them");
    tap_ok(sum_weights(excerpt, 1) == (double)table->n_a &&
               sum_weights(excerpt, 2) == (double)table->n_b && sum_weights(excerpt, 0) == NEITHER,
           "weights of a group are its executions");
    tap_ok(excerpt->n_cause_of == n_slow, "each slow one has its cause");
    tap_eq_u64(excerpt->table.n_causes, KEPT, "the first causes are there");
    for (size_t i = 0, k = 0; i < matrix->n_items; i++) {
        if (excerpt->members[i] != 2)
            continue;
        const uint32_t want = (uint32_t)(matrix->items[i].id % CAUSES);
        n_wrong += excerpt->table.cause_of[k++] != (want < KEPT ? want : WEFT_ID_NONE);
    }
    tap_eq_u64(n_wrong, 0, "each slow one has the cause that it had, or none of them");
    tap_ok(matrix->sources[0].host.n_bytes == 0 &&
               weft_str_equal(matrix->sources[0].path, WEFT_STR("run.weft")),
           "sources have no host and no folder");
}

static void test_nodes(const struct weft_page_excerpt *excerpt)
{
    const struct weft_ecct_matrix *matrix = &excerpt->matrix;
    const struct weft_compare_table *table = &excerpt->table;
    bool is_tree = matrix->nodes[0].parent == WEFT_ID_NONE, is_within = true, is_same = true;
    for (size_t i = 1; i < matrix->n_nodes; i++)
        is_tree &= matrix->nodes[i].parent < i && matrix->nodes[i].frame < matrix->n_frames;
    for (size_t i = 0; i < table->n_nodes; i++)
        is_within &= table->nodes[i].node < matrix->n_nodes;
    for (size_t i = 0; i < table->n_causes; i++) {
        is_within &= table->causes[i].node < matrix->n_nodes &&
                     table->causes[i].context < matrix->n_nodes &&
                     table->causes[i].example < matrix->n_items;
        is_same &= is_within && excerpt->members[table->causes[i].example] == 2;
    }
    for (size_t i = 0; i < table->n_ranked; i++)
        is_within &= table->ranked[i] < table->n_nodes;
    tap_ok(matrix->n_nodes < NODES / 2 && matrix->n_nodes >= 3000, "some nodes are kept");
    tap_ok(is_tree, "all with what is above them");
    tap_ok(is_within, "what refers to nodes and executions is numbered anew");
    tap_ok(is_same, "examples are slow ones");
    tap_ok(table->nodes[table->ranked[0]].total_b_ns == NODES - (NODES - 1) / 2,
           "the first of the ranking is the same node");
}

int main(void)
{
    const struct weft_ecct_matrix *matrix = make_matrix();
    const struct weft_compare_table *table = make_table();
    struct weft_page_excerpt excerpt;
    struct weft_err err = { 0 };
    struct weft_arena *arena = weft_arena_new(0);
    const enum weft_code code = weft_page_excerpt_make(matrix, table, false, arena, &excerpt, &err);
    tap_ok(code == WEFT_OK, "an excerpt is made");
    if (code == WEFT_OK) {
        test_items(&excerpt, table);
        test_nodes(&excerpt);
    }
    weft_arena_free(arena);
    return tap_done();
}
