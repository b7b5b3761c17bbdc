/* SPDX-License-Identifier: MIT
 *
 * Executions that are too few to be compared: each is told for itself.
 */
#include "render/text/diagnose_alone.h"

#include "render/text/compare_words.h"
#include "render/text/diagnose_causes.h"
#include "schema/event.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_ALONE = 8, LISTED_ALONE = 3, PARTS = 3 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* An execution of B that is slow for a reason of its own. */
struct alone {
    uint32_t item;
    uint64_t ns;
};

/* By cause; the caller frees them. NULL: without memory, or without causes. */
static bool *alone_causes(const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_table *table = diagnosis->table;
    bool *is_alone = table->n_causes ? calloc(table->n_causes, sizeof *is_alone) : NULL;
    for (size_t i = 0; is_alone && i < table->n_causes; i++)
        is_alone[i] = weft_cause_place_of(diagnosis, &table->causes[i]) == WEFT_CAUSE_ALONE;
    return is_alone;
}

/* The slowest first; their number. */
static size_t list_alone(const struct weft_diagnosis *diagnosis, struct alone *list)
{
    const struct weft_compare_table *table = diagnosis->table;
    bool *is_alone = alone_causes(diagnosis);
    size_t n = 0, n_all = 0;
    for (size_t i = 0; is_alone && i < table->n_b; i++) {
        const struct weft_execution_item *item = &diagnosis->matrix->items[table->items_b[i]];
        const struct alone alone = { table->items_b[i], item->end_ns - item->start_ns };
        if (!is_alone[table->cause_of[i]])
            continue;
        size_t at = n;
        while (at > 0 && list[at - 1].ns < alone.ns)
            at--;
        n_all++;
        if (at == SHOWN_ALONE)
            continue;
        n = n < SHOWN_ALONE ? n + 1 : n;
        memmove(&list[at + 1], &list[at], (n - 1 - at) * sizeof *list);
        list[at] = alone;
    }
    free(is_alone);
    return n_all;
}

/* How much longer the execution is at a node than the usual ones. */
static double more_ns(const struct weft_diagnosis *diagnosis, uint32_t item, uint32_t node)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    const struct weft_compare_node *row = weft_compare_row_of(diagnosis->table, node);
    double ns = row ? -row->mean_a_ns : 0;
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++)
        ns += matrix->node[at] == node ? (double)matrix->ns[at] : 0;
    return ns;
}

/* The nodes at which an execution is longer than the usual ones, the most first; their number. */
static size_t find_parts(const struct weft_diagnosis *diagnosis, uint32_t item, uint32_t *parts)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    double most_ns[PARTS];
    size_t n = 0;
    for (uint64_t i = matrix->starts[item]; i < matrix->starts[item + 1]; i++) {
        const double ns = more_ns(diagnosis, item, matrix->node[i]);
        size_t at = n;
        while (at > 0 && most_ns[at - 1] < ns)
            at--;
        if (at == PARTS || !(ns > 0))
            continue;
        n = n < PARTS ? n + 1 : n;
        memmove(&parts[at + 1], &parts[at], (n - 1 - at) * sizeof *parts);
        memmove(&most_ns[at + 1], &most_ns[at], (n - 1 - at) * sizeof *most_ns);
        parts[at] = matrix->node[i];
        most_ns[at] = ns;
    }
    return n;
}

/* The innermost node that has, with all below it, more than half of what the execution is longer;
 * `*ns` is how much. More than one leaf may have it: then it is the caller that they have in
 * common. */
static uint32_t find_common(const struct weft_diagnosis *diagnosis, uint32_t item, double *ns)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    double *more = calloc(matrix->n_nodes + 1, sizeof *more);
    uint32_t common = 0;
    *ns = 0;
    if (!more)
        return 0;
    for (size_t i = 0; i < diagnosis->table->n_nodes; i++)
        more[diagnosis->table->nodes[i].node] = -diagnosis->table->nodes[i].mean_a_ns;
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++)
        more[matrix->node[at]] += (double)matrix->ns[at];
    for (size_t node = matrix->n_nodes; node-- > 1;)
        more[matrix->nodes[node].parent] += more[node];
    for (uint32_t node = 1; node < matrix->n_nodes; node++) /* below `common`, if it is of it */
        if (more[node] > more[0] / 2 && matrix->nodes[node].parent == common)
            common = node;
    *ns = more[common];
    free(more);
    return common;
}

/* "10.2 s at 1.20 s on thread `w`, 9.90 s more than usual: blocked: lock in `f`", or, of what is
 * spread over functions, "9.90 s more than usual: longer in `f`; the largest part of that, 1.10 s:
 * ..." */
static void put_one_alone(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                          const struct alone *alone)
{
    const struct weft_execution_item *item = &diagnosis->matrix->items[alone->item];
    uint32_t parts[PARTS];
    double common_ns;
    const bool is_known = find_parts(diagnosis, alone->item, parts) > 0;
    weft_output_printf(out, "%s at %s", weft_human_ns(alone->ns).text,
                       weft_human_at(item->start_ns).text);
    weft_output_text(out, " on thread `");
    weft_words_name(out, item->thread);
    weft_output_text(out, "`");
    if (!is_known)
        return;
    const double part_ns = more_ns(diagnosis, alone->item, parts[0]);
    const uint32_t common = find_common(diagnosis, alone->item, &common_ns);
    const bool is_spread = common != 0 && part_ns < common_ns / 2;
    weft_output_printf(
        out, ", %s more than usual: ", weft_human_mean(is_spread ? common_ns : part_ns).text);
    weft_words_cause(out, diagnosis->matrix, is_spread ? common : parts[0]);
    if (!is_spread)
        return;
    weft_output_printf(out, "; the largest part of that, %s: ", weft_human_mean(part_ns).text);
    weft_words_cause(out, diagnosis->matrix, parts[0]);
}

static void put_each_alone(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                           const struct alone *list, size_t n)
{
    for (size_t i = 0; i < least(n, LISTED_ALONE); i++) {
        weft_output_text(out, i ? "; " : "");
        put_one_alone(out, diagnosis, &list[i]);
    }
    if (n > LISTED_ALONE)
        weft_output_printf(out, "; and %s more", weft_human_count(n - LISTED_ALONE).text);
    weft_output_text(out, ".");
}

/* Is most of what the execution is longer for that another program had the processor? */
static bool is_outside(const struct weft_diagnosis *diagnosis, uint32_t item)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    double all_ns = 0, outside_ns = 0;
    for (uint64_t i = matrix->starts[item]; i < matrix->starts[item + 1]; i++) {
        const double ns = more_ns(diagnosis, item, matrix->node[i]);
        if (!(ns > 0))
            continue;
        all_ns += ns;
        outside_ns += weft_node_is_outside(matrix, matrix->node[i]) ? ns : 0;
    }
    return outside_ns > all_ns / 2;
}

/* Are all of them slow because other programs had the processors? That is no fault of this one. */
static bool is_each_outside(const struct weft_diagnosis *diagnosis, const struct alone *list,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_outside(diagnosis, list[i].item))
            return false;
    return n > 0;
}

/* Is none of them so slow that somebody notices? */
static bool is_none_noticed(const struct weft_diagnosis *diagnosis, const struct alone *list,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (weft_execution_is_noticed(diagnosis, list[i].ns))
            return false;
    return true;
}

void weft_alone_put_only(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    struct alone list[SHOWN_ALONE];
    const struct weft_slow_tail *tail = &diagnosis->tail;
    const size_t n = list_alone(diagnosis, list);
    const bool is_outside = is_each_outside(diagnosis, list, least(n, SHOWN_ALONE));
    const bool is_nothing = is_outside || is_none_noticed(diagnosis, list, least(n, SHOWN_ALONE));
    weft_output_text(out, is_nothing ? "Nothing significant: " : "");
    weft_output_printf(out, "%s of %s of `", weft_human_count(tail->n_slow).text,
                       weft_human_plural(tail->n_fast + tail->n_slow, "execution").text);
    weft_words_name(out, diagnosis->type);
    weft_output_printf(out, "` %s far slower than all others (%s usually, %s at most)%s: ",
                       tail->n_slow == 1 ? "is" : "are", weft_human_mean(tail->fast_median_ns).text,
                       weft_human_ns(tail->fast_max_ns).text,
                       is_outside ? " because another program had the processor" : "");
    put_each_alone(out, diagnosis, list, n);
}

bool weft_alone_put_noticed(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    struct alone list[SHOWN_ALONE];
    const struct weft_slow_tail *tail = &diagnosis->tail;
    const size_t n = list_alone(diagnosis, list);
    if (!diagnosis->is_proposed || is_none_noticed(diagnosis, list, least(n, 1)) ||
        is_outside(diagnosis, list[0].item))
        return false;
    weft_output_printf(out, "%s of %s of `", weft_human_count(n).text,
                       weft_human_plural(tail->n_fast + tail->n_slow, "execution").text);
    weft_words_name(out, diagnosis->type);
    weft_output_printf(
        out, "` (%s usually) %s slow for %s: ", weft_human_mean(tail->fast_median_ns).text,
        n == 1 ? "is" : "are", n == 1 ? "a reason of its own" : "reasons of their own");
    put_each_alone(out, diagnosis, list, n);
    weft_output_text(out, " ");
    return true;
}

void weft_alone_put_too(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    struct alone list[SHOWN_ALONE];
    const size_t n = list_alone(diagnosis, list);
    if (n == 0)
        return;
    weft_output_printf(out, " %s %s slow for %s: ", weft_human_count(n).text, n == 1 ? "is" : "are",
                       n == 1 ? "a reason of its own" : "reasons of their own");
    put_each_alone(out, diagnosis, list, n);
}

/* What its path holds more of than usual. */
static void put_parts(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                      uint32_t item)
{
    uint32_t parts[PARTS];
    const size_t n = find_parts(diagnosis, item, parts);
    for (size_t i = 0; i < n; i++) {
        weft_output_printf(out, "\n    %s  %s ", i ? "        " : "its path",
                           weft_human_change(more_ns(diagnosis, item, parts[i])).text);
        weft_words_cause(out, diagnosis->matrix, parts[i]);
    }
}

void weft_alone_put_evidence(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    struct alone list[SHOWN_ALONE];
    const size_t n = list_alone(diagnosis, list);
    for (size_t i = 0; i < least(n, SHOWN_ALONE); i++) {
        weft_output_text(out, "\n  ");
        put_one_alone(out, diagnosis, &list[i]);
        put_parts(out, diagnosis, list[i].item);
        weft_output_text(out, "\n    to open   ");
        weft_render_open_command(out, diagnosis->matrix, list[i].item);
        weft_output_text(out, "\n");
    }
}
