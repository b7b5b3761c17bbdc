/* SPDX-License-Identifier: MIT */
#include "render/text/diagnose.h"

#include "analysis/compare/causes_tree.h"
#include "model/graph/trace.h"
#include "render/text/compare_words.h"
#include "render/text/confidence.h"
#include "render/text/diagnose_alone.h"
#include "render/text/diagnose_causes.h"
#include "render/text/notes.h"
#include "render/text/tables.h"
#include "schema/event.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_CAUSES = 5,
    LISTED_CAUSES = 3,
    BESIDE = 2,
    MOST_TOLD = 8,
};

/* Of what the first cause costs: what costs less is in the lists below the sentences alone. */
static const double FURTHER = 0.1;

/* ---- sentences ------------------------------------------------------------------------------- */

static void put_type(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    weft_output_text(out, "`");
    weft_words_name(out, diagnosis->type);
    weft_output_text(out, "`");
}

/* Nodes in words that were told already: those of two stacks may be the same. */
struct told {
    struct weft_arena *arena;
    struct weft_output *scratch; /* NULL without memory: then nothing is left out */
    struct weft_str texts[MOST_TOLD];
    size_t n;
};

static void told_init(struct told *told)
{
    struct weft_err err = { 0 };
    *told = (struct told){ .arena = weft_arena_new(0) };
    if (!told->arena || weft_output_to_memory(&told->scratch, &err) != WEFT_OK)
        told->scratch = NULL;
}

static void told_fini(struct told *told, struct weft_output *out)
{
    weft_output_abort(told->scratch);
    weft_output_release(out, told->arena);
}

/* Is it new? Then it counts as told. */
static bool tell(struct told *told, const struct weft_ecct_matrix *matrix, uint32_t node)
{
    if (!told->scratch)
        return true;
    weft_words_cause(told->scratch, matrix, node);
    const struct weft_str text = weft_words_take(told->scratch, told->arena);
    for (size_t i = 0; i < told->n; i++)
        if (weft_str_equal(told->texts[i], text))
            return false;
    if (told->n < MOST_TOLD)
        told->texts[told->n++] = text;
    return true;
}

/* Causes in words, the first few. */
static void put_list(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                     const struct weft_compare_cause **list, size_t n)
{
    struct told told;
    told_init(&told);
    for (size_t i = 0; i < n && told.n < LISTED_CAUSES; i++) {
        if (!tell(&told, diagnosis->matrix, list[i]->node))
            continue;
        weft_output_text(out, i ? "; " : "");
        weft_words_cause(out, diagnosis->matrix, list[i]->node);
    }
    told_fini(&told, out);
}

static uint64_t items_of(const struct weft_compare_cause **list, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += list[i]->n_items;
    return sum;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void put_share(struct weft_output *out, double share)
{
    weft_output_printf(out, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
}

static void put_healthy(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    const struct weft_slow_tail *tail = &diagnosis->tail;
    const uint64_t n = tail->n_fast + tail->n_slow;
    weft_output_text(out, "Nothing significant: ");
    if (n < 2 * 5) {
        weft_output_printf(out, "%s of ", weft_human_plural(n, "execution").text);
        put_type(out, diagnosis);
        weft_output_printf(out, " %s too few to tell slow ones from others.",
                           n == 1 ? "is" : "are");
        return;
    }
    if (tail->is_worthy) {
        weft_output_printf(out, "the slowest %s of the %s of ", weft_human_count(tail->n_slow).text,
                           weft_human_plural(n, "execution").text);
        put_type(out, diagnosis);
        weft_output_printf(out, " last %s instead of %s, ",
                           weft_human_mean(tail->slow_median_ns).text,
                           weft_human_mean(tail->fast_median_ns).text);
        put_share(out, tail->excess_share);
        weft_output_text(out, " of all time, but neither a gap nor anything that the others do not "
                              "do parts them from those.");
        return;
    }
    weft_output_printf(out, "none of the %s of ", weft_human_plural(n, "execution").text);
    put_type(out, diagnosis);
    weft_output_text(out, " is slow by more than their spread.");
}

static bool is_below(const struct weft_ecct_matrix *matrix, uint32_t node, uint32_t ancestor)
{
    while (node > ancestor) /* a parent is before its children */
        node = matrix->nodes[node].parent;
    return node == ancestor;
}

/* Does something from `node` up to `ancestor`, which it is below, only happen to a thread? */
static bool is_mishap_below(const struct weft_ecct_matrix *matrix, uint32_t node, uint32_t ancestor)
{
    for (; node > ancestor; node = matrix->nodes[node].parent)
        if (weft_frame_happens_anywhere(&matrix->frames[matrix->nodes[node].frame]))
            return true;
    return false;
}

/* The node that tells of a cause: its own, or one below it that has at least half as much of the
 * difference, and so tells with whom the thread shares what it waits for. Not what only happens to
 * it: whoever computes for long loses the processor now and then, and that is no reason why it
 * computes. */
static uint32_t told_node(const struct weft_diagnosis *diagnosis,
                          const struct weft_compare_cause *cause)
{
    const struct weft_compare_table *table = diagnosis->table;
    const struct weft_compare_node *named = weft_compare_row_of(table, cause->node);
    const struct weft_compare_node *most = NULL;
    for (size_t i = 0; named && cause->node != 0 && i < table->n_nodes; i++) {
        const struct weft_compare_node *row = &table->nodes[i];
        if (row != named && row->difference_ns >= named->difference_ns / 2 &&
            row->difference_ns > 0 && is_below(diagnosis->matrix, row->node, cause->node) &&
            !is_mishap_below(diagnosis->matrix, row->node, cause->node) &&
            (!most || row->difference_ns > most->difference_ns))
            most = row;
    }
    return most ? most->node : cause->node;
}

/* " There, too: ...; ...": what has at least half as much of the difference, in the same context.
 */
static void put_beside(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                       const struct weft_compare_cause *cause)
{
    const struct weft_compare_table *table = diagnosis->table;
    const struct weft_compare_node *named = weft_compare_row_of(table, cause->node);
    struct told told;
    size_t n = 0;
    told_init(&told);
    (void)tell(&told, diagnosis->matrix, cause->node);
    (void)tell(&told, diagnosis->matrix, told_node(diagnosis, cause));
    for (size_t i = 0; named && cause->context != 0 && i < table->n_ranked && n < BESIDE; i++) {
        const struct weft_compare_node *row = &table->nodes[table->ranked[i]];
        if (row == named || row->difference_ns < named->difference_ns / 2 ||
            !is_below(diagnosis->matrix, row->node, cause->context) ||
            weft_node_is_outside(diagnosis->matrix, row->node) ||
            !tell(&told, diagnosis->matrix, row->node))
            continue;
        weft_output_text(out, n == 0 ? " There, too, they are " : "; ");
        weft_words_cause(out, diagnosis->matrix, row->node);
        n++;
    }
    weft_output_text(out, n > 0 ? "." : "");
    told_fini(&told, out);
}

/* The others that cost enough to be told beside the first, each with a sentence of its own: the
 * first one stays short. */
static void put_further(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                        const struct weft_compare_cause **list, size_t n)
{
    const double least_share = FURTHER * weft_cause_share(diagnosis, list[0]);
    put_beside(out, diagnosis, list[0]);
    for (size_t i = 1; i < n && weft_cause_share(diagnosis, list[i]) >= least_share; i++) {
        weft_output_printf(out, " %s more (%s) are %s because they are ",
                           weft_human_count(list[i]->n_items).text,
                           weft_human_mean(list[i]->duration_ns).text,
                           weft_cause_is_small(diagnosis, list[i]) ? "slower" : "slow");
        weft_words_cause(out, diagnosis->matrix, told_node(diagnosis, list[i]));
        weft_output_text(out, ".");
    }
}

enum { OF_OTHERS, OF_CROWD, OF_DUE };

static const struct other {
    enum weft_cause_place place;
    const char *why;
} others[] = {
    { WEFT_CAUSE_OUTSIDE, " because another program had the processor: " },
    { WEFT_CAUSE_CROWDED, " because threads of the program share what processors other programs "
                          "leave: " },
    { WEFT_CAUSE_DUE, " because a thread that is due more often goes first, and they still end "
                      "before their next one is due: " },
    { WEFT_CAUSE_SHARED, " because threads that do the same work wait for each other, or take the "
                         "processors from each other: " },
    { WEFT_CAUSE_CHANCE, " because threads of the program share processors, which is no cause that "
                         "they have in common: " },
    { WEFT_CAUSE_UNTOLD, ", which may be no more than waits for a processor, as nothing tells who "
                         "had the processors: " }
};

/* What slows the rest; `told`, of those above, was told already, or is NULL. */
static void put_others(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                       const struct other *told)
{
    const struct weft_compare_cause *list[SHOWN_CAUSES];
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        const size_t n = weft_causes_list(diagnosis, others[k].place, list, SHOWN_CAUSES);
        if (n == 0 || &others[k] == told)
            continue;
        weft_output_printf(out, " %s are slow%s",
                           weft_human_count(items_of(list, least(n, SHOWN_CAUSES))).text,
                           others[k].why);
        put_list(out, diagnosis, list, least(n, SHOWN_CAUSES));
        weft_output_text(out, ".");
    }
}

static void put_pause(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    weft_output_text(out, "Nothing significant: ");
    put_type(out, diagnosis);
    weft_output_printf(out,
                       " is a pause that the program takes: %.0f %% of its time it waits for a "
                       "timer.",
                       100 * weft_diagnosis_timer_share(diagnosis));
}

/* How many last longer, and by how much. */
static void put_tail(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    const struct weft_slow_tail *tail = &diagnosis->tail;
    weft_output_printf(out, "Nothing significant: %s of %s of ",
                       weft_human_count(tail->n_slow).text,
                       weft_human_plural(tail->n_fast + tail->n_slow, "execution").text);
    put_type(out, diagnosis);
    weft_output_printf(out, " last %s instead of %s, ", weft_human_mean(tail->slow_median_ns).text,
                       weft_human_mean(tail->fast_median_ns).text);
}

static void put_trifle(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    put_tail(out, diagnosis);
    weft_output_printf(out, "which costs %s of %s.",
                       weft_human_mean(weft_diagnosis_cost_ns(diagnosis)).text,
                       weft_human_ns(diagnosis->trace_ns).text);
}

/* Executions of a place. */
static uint64_t items_at(const struct weft_diagnosis *diagnosis, enum weft_cause_place place)
{
    const struct weft_compare_cause *list[SHOWN_CAUSES];
    const size_t n = weft_causes_list(diagnosis, place, list, SHOWN_CAUSES);
    return items_of(list, least(n, SHOWN_CAUSES));
}

/* That makes most executions slow that are: other programs, by themselves or by what they leave, or
 * a thread that is due more often; NULL: neither does. */
static const struct other *find_most(const struct weft_diagnosis *diagnosis)
{
    const uint64_t n_outside = items_at(diagnosis, WEFT_CAUSE_OUTSIDE);
    const uint64_t n_crowded = items_at(diagnosis, WEFT_CAUSE_CROWDED);
    if (2 * (n_outside + n_crowded) > diagnosis->tail.n_slow)
        return &others[n_outside >= n_crowded ? OF_OTHERS : OF_CROWD];
    return 2 * items_at(diagnosis, WEFT_CAUSE_DUE) > diagnosis->tail.n_slow ? &others[OF_DUE]
                                                                            : NULL;
}

/* That other programs had the processors says why, where it makes any slow. */
static void put_crowd(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    if (!weft_crowd_is_full(&diagnosis->crowd) ||
        items_at(diagnosis, WEFT_CAUSE_OUTSIDE) + items_at(diagnosis, WEFT_CAUSE_CROWDED) == 0)
        return;
    weft_output_text(out, " The machine was full: other programs had ");
    put_share(out, diagnosis->crowd.other);
    weft_output_text(out, " of the processors that this one ran on, it had ");
    put_share(out, diagnosis->crowd.own);
    weft_output_text(out, ".");
}

/* They last longer for a reason that makes nothing slow. */
static void put_ordinary(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                         const char *why)
{
    put_tail(out, diagnosis);
    weft_output_printf(out, "and %s.", why);
    put_crowd(out, diagnosis);
    put_others(out, diagnosis, NULL);
}

/* The slow ones are slow for nothing that is wrong in the program. */
static void put_none_inside(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_cause *list[SHOWN_CAUSES];
    const struct weft_slow_tail *tail = &diagnosis->tail;
    const struct other *most = find_most(diagnosis);
    const char *why = weft_diagnosis_ordinary(diagnosis);
    if (why && !most) {
        put_ordinary(out, diagnosis, why);
        return;
    }
    weft_output_text(out, "Nothing significant in ");
    put_type(out, diagnosis);
    weft_output_printf(
        out, " itself: %s of %s are slow (%s instead of %s), ", weft_human_count(tail->n_slow).text,
        weft_human_plural(tail->n_fast + tail->n_slow, "execution").text,
        weft_human_mean(tail->slow_median_ns).text, weft_human_mean(tail->fast_median_ns).text);
    if (most) {
        const size_t n =
            least(weft_causes_list(diagnosis, most->place, list, SHOWN_CAUSES), SHOWN_CAUSES);
        weft_output_printf(out, "%s of them%s", weft_human_count(items_of(list, n)).text,
                           most->why);
        put_list(out, diagnosis, list, n);
        weft_output_text(out, ".");
    } else {
        weft_output_text(out, "none for a reason within the program that stands out.");
    }
    put_crowd(out, diagnosis);
    put_others(out, diagnosis, most);
}

/* How many are slow for the cause that most have, and how much that costs. */
static void put_slow_ones(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                          const struct weft_compare_cause *first, const char *slow)
{
    const struct weft_slow_tail *tail = &diagnosis->tail;
    weft_output_printf(out, "%s of %s of ", weft_human_count(first->n_items).text,
                       weft_human_plural(tail->n_fast + tail->n_slow, "execution").text);
    put_type(out, diagnosis);
    weft_output_printf(out, " are %s (%s instead of %s, which costs ", slow,
                       weft_human_mean(first->duration_ns).text,
                       weft_human_mean(tail->fast_median_ns).text);
    put_share(out, weft_cause_share(diagnosis, first));
    weft_output_text(out, " of all time) because they ");
}

/* And what it is. */
static void put_first(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                      const struct weft_compare_cause *first)
{
    const bool is_small = weft_cause_is_small(diagnosis, first);
    const bool is_nothing = diagnosis->unfelt_by || weft_diagnosis_is_minor(diagnosis);
    weft_output_text(out, is_nothing ? "Nothing significant: " : "");
    if (is_small)
        weft_output_text(out, is_nothing ? "a small tail, " : "A small tail: ");
    put_slow_ones(out, diagnosis, first, is_small ? "slower" : "slow");
    weft_output_text(out, "are ");
    weft_words_cause(out, diagnosis->matrix, told_node(diagnosis, first));
    if (diagnosis->unfelt_by) {
        weft_output_text(out, "; but ");
        put_type(out, diagnosis->unfelt_by);
        weft_output_text(out, ", which waits for that thread, is not slow for it");
    }
    weft_output_text(out, ".");
}

/* "12" or "1.5" calls. */
static void put_calls(struct weft_output *out, double calls)
{
    weft_output_printf(out, calls < 10 ? "%.2g" : "%.0f", calls);
}

/* What is slower does more of the same. */
static void put_more_work(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                          const struct weft_compare_cause *first)
{
    const struct weft_work *work = &diagnosis->work;
    weft_output_text(out, "Nothing significant: ");
    put_slow_ones(out, diagnosis, first, "longer");
    weft_output_text(out, "do more: ");
    put_calls(out, work->slow_calls);
    weft_output_text(out, " calls of `");
    weft_words_name(out, work->function);
    weft_output_text(out, "` instead of ");
    put_calls(out, work->usual_calls);
    weft_output_printf(out, ", %s each instead of %s.", weft_human_mean(work->slow_ns).text,
                       weft_human_mean(work->usual_ns).text);
}

/* What several slow executions have in common, or that there is nothing. */
static void put_common(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_cause *list[SHOWN_CAUSES];
    const size_t n = weft_causes_list(diagnosis, WEFT_CAUSE_INSIDE, list, SHOWN_CAUSES);
    if (n > 0 && weft_diagnosis_is_trifle(diagnosis)) {
        put_trifle(out, diagnosis);
    } else if (n > 0) {
        if (weft_diagnosis_is_more_work(diagnosis))
            put_more_work(out, diagnosis, list[0]);
        else
            put_first(out, diagnosis, list[0]);
        put_further(out, diagnosis, list, least(n, SHOWN_CAUSES));
        put_others(out, diagnosis, NULL);
        put_crowd(out, diagnosis);
    } else if (diagnosis->tail.is_found) {
        put_none_inside(out, diagnosis);
    } else {
        put_healthy(out, diagnosis);
        put_crowd(out, diagnosis);
        put_others(out, diagnosis, NULL);
    }
}

static void put_slow(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_cause *first;
    if (weft_diagnosis_is_pause(diagnosis)) {
        put_pause(out, diagnosis);
        return;
    }
    if (diagnosis->tail.is_alone) {
        weft_alone_put_only(out, diagnosis);
        return;
    }
    const bool has_causes = weft_causes_list(diagnosis, WEFT_CAUSE_INSIDE, &first, 1) > 0;
    const bool is_parted =
        has_causes ? !weft_diagnosis_is_trifle(diagnosis) : diagnosis->tail.is_found;
    const bool has_told = is_parted && !weft_diagnosis_is_significant(diagnosis) &&
                          weft_alone_put_noticed(out, diagnosis);
    put_common(out, diagnosis);
    if (is_parted && !has_told)
        weft_alone_put_too(out, diagnosis);
}

static struct weft_comparison_view comparison_of(const struct weft_diagnosis *diagnosis)
{
    return (struct weft_comparison_view){
        .matrix = diagnosis->matrix, .table = diagnosis->table, .a = diagnosis->a, .b = diagnosis->b
    };
}

static void put_versus(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    const struct weft_comparison_view comparison = comparison_of(diagnosis);
    if (!weft_diagnosis_has_evidence(diagnosis))
        weft_output_text(out, "Nothing significant: ");
    weft_render_verdict(out, &comparison);
    weft_output_text(out, ".");
}

/* ---- confidence ------------------------------------------------------------------------------ */

/* Of the executions of a cause, and of what they have more of. */
static struct weft_confidence_basis basis_of_cause(const struct weft_diagnosis *diagnosis,
                                                   const struct weft_compare_cause *cause)
{
    const struct weft_compare_table *table = diagnosis->table;
    const struct weft_compare_node *row = weft_compare_row_of(table, cause->node);
    const uint32_t place = (uint32_t)(cause - table->causes);
    uint32_t *items = calloc(table->n_b + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; items && i < table->n_b; i++)
        if (table->cause_of[i] == place)
            items[n++] = table->items_b[i];
    struct weft_confidence_basis basis = /* without memory that of all slow ones */
        weft_confidence_basis_of(diagnosis->matrix, items ? items : table->items_b,
                                 items ? n : table->n_b);
    free(items);
    basis.p = row && row->node != 0 ? row->p_adjusted : cause->p;
    basis.lost = diagnosis->lost;
    return basis;
}

/* Of the sentences: that of the first cause, or of all executions if there is none. */
static struct weft_confidence_basis basis_of(const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_cause *first;
    struct weft_confidence_basis basis;
    if (diagnosis->table && diagnosis->is_versus) {
        const struct weft_comparison_view comparison = comparison_of(diagnosis);
        basis = weft_comparison_confidence(&comparison);
    } else if (diagnosis->table && weft_causes_list(diagnosis, WEFT_CAUSE_INSIDE, &first, 1) > 0) {
        basis = basis_of_cause(diagnosis, first);
    } else {
        basis = weft_confidence_basis_of(diagnosis->matrix, NULL, 0);
    }
    basis.lost = diagnosis->lost;
    return basis;
}

/* The first sentences: what is slow, how much, and why. */
static void put_what_and_why(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    if (diagnosis->is_versus)
        put_versus(out, diagnosis);
    else if (!diagnosis->table)
        put_healthy(out, diagnosis);
    else
        put_slow(out, diagnosis);
}

/* And how far they can be trusted; the verdict on two groups says so itself. */
static void put_sentences(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    const struct weft_confidence_basis basis = basis_of(diagnosis);
    put_what_and_why(out, diagnosis);
    if (!diagnosis->is_versus)
        weft_confidence_put_remark(out, &basis);
}

/* ---- evidence -------------------------------------------------------------------------------- */

static void put_cause(struct weft_output *out, const struct weft_diagnosis *diagnosis,
                      const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(diagnosis->table, cause->node);
    weft_output_printf(
        out, "\n  %s, %s on average: ", weft_human_plural(cause->n_items, "execution").text,
        weft_human_mean(cause->duration_ns).text);
    weft_words_cause(out, diagnosis->matrix, cause->node);
    weft_output_text(out, "\n    where     ");
    weft_words_where(out, diagnosis->matrix, cause->node);
    weft_output_printf(out, "\n    there     %s than in fast ones",
                       weft_human_change(cause->difference_ns).text);
    if (row && row->node != 0)
        weft_output_printf(out, "; of all slow ones %s (95 %% %s to %s, %s, n = %s and %s)",
                           weft_human_change(row->difference_ns).text,
                           weft_human_change(row->interval.low_ns).text,
                           weft_human_change(row->interval.high_ns).text,
                           weft_human_p(row->p_adjusted).text,
                           weft_human_count(diagnosis->table->n_a).text,
                           weft_human_count(diagnosis->table->n_b).text);
    const struct weft_confidence_basis basis = basis_of_cause(diagnosis, cause);
    weft_output_text(out, "\n    confidence ");
    weft_confidence_put(out, &basis);
    weft_output_text(out, "\n    example   ");
    weft_render_open_command(out, diagnosis->matrix, cause->example);
    weft_output_text(out, "\n");
}

static void put_evidence(struct weft_output *out, const struct weft_diagnosis *diagnosis)
{
    static const enum weft_cause_place places[] = { WEFT_CAUSE_INSIDE,  WEFT_CAUSE_OUTSIDE,
                                                    WEFT_CAUSE_DUE,     WEFT_CAUSE_SHARED,
                                                    WEFT_CAUSE_CROWDED, WEFT_CAUSE_CHANCE,
                                                    WEFT_CAUSE_UNTOLD };
    const struct weft_compare_cause *list[SHOWN_CAUSES];
    if (!diagnosis->table)
        return;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        const size_t n = weft_causes_list(diagnosis, places[k], list, SHOWN_CAUSES);
        for (size_t i = 0; i < least(n, SHOWN_CAUSES); i++)
            put_cause(out, diagnosis, list[i]);
    }
    weft_alone_put_evidence(out, diagnosis);
    if (diagnosis->table->is_small && !diagnosis->is_versus && !diagnosis->tail.is_alone)
        weft_output_printf(out,
                           "\n  means and intervals of fewer than %d executions are not to be "
                           "trusted: what is rare may be missing from them\n",
                           WEFT_TRUSTED_EXECUTIONS);
    weft_output_printf(out, "\n  more: %s --a '%s' --b '%s'\n", diagnosis->command, diagnosis->a,
                       diagnosis->b);
}

/* Without a kernel nobody tells who had a processor: that is not a reason that was ruled out. */
static bool is_without_kernel(const struct weft_view *view, const struct weft_diagnosis *diagnoses,
                              size_t n)
{
    bool is_compared = false;
    for (size_t i = 0; i < n; i++)
        is_compared = is_compared || diagnoses[i].table;
    return is_compared && view->trace && !weft_trace_has_switches(view->trace);
}

static void print_text(const struct weft_view *view, const struct weft_diagnosis *diagnoses,
                       size_t n)
{
    bool is_any = false;
    for (size_t i = 0; i < n; i++) {
        weft_output_text(view->out, i ? "\n" : "");
        put_sentences(view->out, &diagnoses[i]);
        weft_output_text(view->out, "\n");
        put_evidence(view->out, &diagnoses[i]);
        is_any = is_any || weft_diagnosis_is_significant(&diagnoses[i]);
    }
    if (is_without_kernel(view, diagnoses, n))
        weft_output_text(
            view->out, "\nThe trace has no scheduling events: a thread that is longer in a "
                       "function may have run there, or waited for a processor. With the kernel's "
                       "level (weft record as root, or with CAP_BPF and CAP_PERFMON) that is "
                       "told apart.\n");
    if (is_any || !view->trace)
        return;
    weft_output_text(view->out, "\nNo slow executions have a cause in common; who waits for whom: "
                                "weft interplay ");
    weft_words_argument(view->out, weft_str_of(view->path));
    weft_output_text(view->out, "\n");
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

static void json_cause(struct weft_json *json, const struct weft_diagnosis *diagnosis,
                       const struct weft_compare_cause *cause, struct weft_output *scratch)
{
    static const char *const places[] = { "program", "other program", "due first", "shared",
                                          "crowded", "chance",        "untold",    "spread",
                                          "small",   "alone" };
    weft_json_new_line(json);
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "executions", cause->n_items);
    weft_json_real(json, "duration_ns", cause->duration_ns);
    weft_json_real(json, "difference_ns", cause->difference_ns);
    weft_json_text(json, "place", places[weft_cause_place_of(diagnosis, cause)]);
    weft_json_real(json, "cost_share", weft_cause_share(diagnosis, cause));
    weft_json_bool(json, "small", weft_cause_is_small(diagnosis, cause));
    const struct weft_confidence_basis basis = basis_of_cause(diagnosis, cause);
    weft_confidence_json(json, &basis, scratch);
    weft_words_cause(scratch, diagnosis->matrix, cause->node);
    weft_json_str(json, "cause", weft_output_held(scratch));
    weft_output_clear(scratch);
    weft_words_path(scratch, diagnosis->matrix, cause->node, ";");
    weft_json_str(json, "path", weft_output_held(scratch));
    weft_output_clear(scratch);
    weft_render_open_command(scratch, diagnosis->matrix, cause->example);
    weft_json_str(json, "example", weft_output_held(scratch));
    weft_output_clear(scratch);
    weft_json_end_object(json);
}

static void json_tail(struct weft_json *json, const struct weft_slow_tail *tail)
{
    weft_json_begin_object(json, "tail");
    weft_json_bool(json, "found", tail->is_found);
    weft_json_bool(json, "alone", tail->is_alone);
    weft_json_u64(json, "n_fast", tail->n_fast);
    weft_json_u64(json, "n_slow", tail->n_slow);
    weft_json_u64(json, "fast_max_ns", tail->fast_max_ns);
    weft_json_u64(json, "slow_min_ns", tail->slow_min_ns);
    weft_json_real(json, "fast_median_ns", tail->fast_median_ns);
    weft_json_real(json, "slow_median_ns", tail->slow_median_ns);
    weft_json_real(json, "separation", tail->separation);
    weft_json_real(json, "excess_share", tail->excess_share);
    weft_json_real(json, "p", tail->p);
    weft_json_end_object(json);
}

static void json_diagnosis(struct weft_json *json, const struct weft_diagnosis *diagnosis,
                           struct weft_output *scratch)
{
    const struct weft_compare_table *table = diagnosis->table;
    weft_json_new_line(json);
    weft_json_begin_object(json, NULL);
    weft_json_str(json, "type", diagnosis->type);
    weft_json_bool(json, "significant", weft_diagnosis_is_significant(diagnosis));
    put_sentences(scratch, diagnosis);
    weft_json_str(json, "explanation", weft_output_held(scratch));
    weft_output_clear(scratch);
    const struct weft_confidence_basis basis = basis_of(diagnosis);
    weft_confidence_json(json, &basis, scratch);
    if (!diagnosis->is_versus)
        json_tail(json, &diagnosis->tail);
    weft_json_u64(json, "executions", diagnosis->matrix->n_items);
    weft_json_u64(json, "damaged", diagnosis->matrix->n_damaged);
    weft_json_u64(json, "partial_runs", diagnosis->matrix->n_partial);
    weft_json_u64(json, "unfinished", weft_ecct_matrix_unfinished(diagnosis->matrix));
    weft_json_text(json, "filter_a", diagnosis->a);
    weft_json_text(json, "filter_b", diagnosis->b);
    weft_json_bool(json, "too_small", table && table->is_small);
    weft_json_begin_array(json, "causes");
    for (size_t i = 0; table && i < table->n_causes; i++)
        json_cause(json, diagnosis, &table->causes[i], scratch);
    weft_json_end_array(json);
    weft_json_end_object(json);
}

static void print_json(const struct weft_view *view, const struct weft_diagnosis *diagnoses,
                       size_t n, struct weft_output *scratch)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_begin_array(json, "types");
    for (size_t i = 0; i < n; i++)
        json_diagnosis(json, &diagnoses[i], scratch);
    weft_json_end_array(json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

#define ROW struct weft_diagnosis

static WEFT_GET(get_significant)
{
    cell->number = weft_diagnosis_is_significant(row);
}

static WEFT_GET(get_explanation)
{
    struct weft_output *scratch = (struct weft_output *)(uintptr_t)context->of;
    weft_output_clear(scratch);
    put_sentences(scratch, row);
    cell->text = weft_output_held(scratch); /* valid until the next row is asked for */
}

static WEFT_GET(get_confidence)
{
    const struct weft_confidence_basis basis = basis_of(row);
    cell->real = weft_confidence_value(&basis);
    cell->text = weft_str_of(weft_confidence_level(cell->real));
}

static const struct weft_field fields[] = {
    WEFT_FIELD("type", "type", TEXT, type, "type of executions"),
    WEFT_GETTER("significant", "significant", BOOL, get_significant, "it was tested, and holds"),
    WEFT_GETTER("explanation", "explanation", TEXT, get_explanation, "why executions are slow"),
    WEFT_GETTER("confidence", "confidence", RATIO, get_confidence, "confidence, 0 to 1"),
    WEFT_GETTER("confidence_level", "level", TEXT, get_confidence, "the same in words"),
};

const struct weft_table_type weft_diagnoses_type =
    WEFT_TABLE_TYPE("diagnoses", "why executions of a type are slow", fields, ROW);

void weft_render_diagnoses(const struct weft_view *view, const struct weft_diagnosis *diagnoses,
                           size_t n)
{
    struct weft_output *scratch = NULL;
    struct weft_err err = { 0 };
    if (weft_output_to_memory(&scratch, &err) != WEFT_OK) {
        weft_output_fail(view->out, &err);
        return;
    }
    const struct weft_table table = { .type = &weft_diagnoses_type,
                                      .rows = diagnoses,
                                      .n_rows = n,
                                      .in = weft_view_context(view, scratch) };
    if (view->format == WEFT_FORMAT_JSON)
        print_json(view, diagnoses, n, scratch);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&table, view->out);
    else
        print_text(view, diagnoses, n);
    weft_output_abort(scratch);
}
