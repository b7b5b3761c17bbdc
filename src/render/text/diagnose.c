/* SPDX-License-Identifier: MIT
 *
 * Findings (schema/findings.h) in sentences, with their evidence, as text, JSON and CSV.
 */
#include "render/text/diagnose.h"

#include "analysis/compare/confidence.h"
#include "render/output.h"
#include "render/text/compare.h"
#include "render/text/compare_words.h"
#include "render/text/confidence.h"
#include "render/text/healthy.h"
#include "render/text/problem_words.h"
#include "render/text/problems.h"
#include "render/text/tables.h"
#include "schema/executions.h"
#include "schema/findings.h"

#include <string.h>

/* ---- diagnose singles ------------------------------------------------------------------------ */

/* Single executions that are far slower than the others, in sentences. They are too few to
 * be compared: each is described by itself. */

enum { LISTED_SINGLES = 3 };

/* "10.2 s at 1.20 s on thread `w`, 9.90 s more than usual: blocked: lock in `f`", or, of what is
 * spread over functions, "9.90 s more than usual: longer in `f`; the largest part of that, 1.10 s:
 * ..." */
static void put_one(struct weft_output *out, const struct weft_finding *finding,
                    const struct weft_finding_single *single)
{
    const struct weft_execution_item *item = &finding->matrix->items[single->item];
    weft_output_printf(out, "%s at %s", weft_human_ns(single->ns).text,
                       weft_human_at(item->start_ns).text);
    weft_output_text(out, " on thread `");
    weft_words_name(out, item->thread);
    weft_output_text(out, "`");
    if (single->n_parts == 0)
        return;
    weft_output_printf(
        out, ", %s more than usual: ",
        weft_human_mean(single->is_spread ? single->common_ns : single->part_ns[0]).text);
    weft_words_cause(out, finding->matrix, single->is_spread ? single->common : single->parts[0]);
    if (!single->is_spread)
        return;
    weft_output_printf(
        out, "; the largest part of that, %s: ", weft_human_mean(single->part_ns[0]).text);
    weft_words_cause(out, finding->matrix, single->parts[0]);
}

static void put_each(struct weft_output *out, const struct weft_finding *finding)
{
    for (size_t i = 0; i < finding->n_single && i < LISTED_SINGLES; i++) {
        weft_output_text(out, i ? "; " : "");
        put_one(out, finding, &finding->single[i]);
    }
    if (finding->n_all_singles > LISTED_SINGLES)
        weft_output_printf(out, "; and %s more",
                           weft_human_count(finding->n_all_singles - LISTED_SINGLES).text);
    weft_output_text(out, ".");
}

/* Where nothing else is slow: how many, and each with its start, its thread, and where its path is
 * longer than usual. */
static void weft_singles_put_only(struct weft_output *out, const struct weft_finding *finding)
{
    const struct weft_slow_tail *tail = &finding->tail;
    weft_output_text(out, finding->verdict == WEFT_VERDICT_SINGLE ? "" : "Nothing significant: ");
    weft_output_printf(out, "%s of %s of `", weft_human_count(tail->n_slow).text,
                       weft_human_plural(tail->n_fast + tail->n_slow, "execution").text);
    weft_words_name(out, finding->type);
    weft_output_printf(out, "` %s far slower than all others (%s usually, %s at most)%s: ",
                       tail->n_slow == 1 ? "is" : "are", weft_human_mean(tail->fast_median_ns).text,
                       weft_human_ns(tail->fast_max_ns).text,
                       finding->verdict == WEFT_VERDICT_SINGLE_OTHER_PROGRAM
                           ? " because another program had the CPU"
                           : "");
    put_each(out, finding);
}

/* The same of those among the slow ones whose reason nothing else shares: before it is said that
 * nothing else is significant, and after other causes (nothing if there are none). */
static void weft_singles_put_before(struct weft_output *out, const struct weft_finding *finding)
{
    const struct weft_slow_tail *tail = &finding->tail;
    const size_t n = finding->n_all_singles;
    weft_output_printf(out, "%s of %s of `", weft_human_count(n).text,
                       weft_human_plural(tail->n_fast + tail->n_slow, "execution").text);
    weft_words_name(out, finding->type);
    weft_output_printf(
        out, "` (%s usually) %s slow for %s: ", weft_human_mean(tail->fast_median_ns).text,
        n == 1 ? "is" : "are", n == 1 ? "a reason of its own" : "reasons of their own");
    put_each(out, finding);
    weft_output_text(out, " ");
}

static void weft_singles_put_after(struct weft_output *out, const struct weft_finding *finding)
{
    const size_t n = finding->n_all_singles;
    weft_output_printf(out, " %s %s slow for %s: ", weft_human_count(n).text, n == 1 ? "is" : "are",
                       n == 1 ? "a reason of its own" : "reasons of their own");
    put_each(out, finding);
}

/* What the path of each holds more of than usual, and the command that opens it. */
static void weft_singles_put_evidence(struct weft_output *out, const struct weft_finding *finding)
{
    for (size_t i = 0; i < finding->n_single; i++) {
        const struct weft_finding_single *single = &finding->single[i];
        weft_output_text(out, "\n  ");
        put_one(out, finding, single);
        for (size_t k = 0; k < single->n_parts; k++) {
            weft_output_printf(out, "\n    %s  %s ", k ? "        " : "its path",
                               weft_human_change(single->part_ns[k]).text);
            weft_words_cause(out, finding->matrix, single->parts[k]);
        }
        weft_output_text(out, "\n    to open   ");
        weft_render_open_command(out, finding->matrix, single->item);
        weft_output_text(out, "\n");
    }
}

/* ---- diagnose -------------------------------------------------------------------------------- */

enum {
    LISTED_CAUSES = 3,
    BESIDE = 2,
    MOST_TOLD = 8,
    MOST_PROBLEMS = 5,
    MOST_HEALTHY = 3,
    HEALTHY_INDENT = 4,
};

/* ---- sentences ------------------------------------------------------------------------------- */

static void put_type(struct weft_output *out, const struct weft_finding *finding)
{
    weft_output_text(out, "`");
    weft_words_name(out, finding->type);
    weft_output_text(out, "`");
}

/* Nodes in words that were said already: those of two stacks may be the same. */
struct said {
    struct weft_arena *arena;
    struct weft_output *scratch; /* NULL without memory: then nothing is left out */
    struct weft_str texts[MOST_TOLD];
    size_t n;
};

static void said_init(struct said *said)
{
    struct weft_err err = { 0 };
    *said = (struct said){ .arena = weft_arena_new(0) };
    if (!said->arena || weft_output_to_memory(&said->scratch, &err) != WEFT_OK)
        said->scratch = NULL;
}

static void said_fini(struct said *said, struct weft_output *out)
{
    weft_output_drop(said->scratch, out);
    weft_output_release(out, said->arena);
}

/* Is it new? Then it counts as said. */
static bool tell(struct said *said, const struct weft_ecct_matrix *matrix, uint32_t node)
{
    if (!said->scratch)
        return true;
    weft_words_cause(said->scratch, matrix, node);
    const struct weft_str text = weft_words_take(said->scratch, said->arena);
    for (size_t i = 0; i < said->n; i++)
        if (weft_str_equal(said->texts[i], text))
            return false;
    if (said->n < MOST_TOLD)
        said->texts[said->n++] = text;
    return true;
}

/* Causes in words, the first few. */
static void put_list(struct weft_output *out, const struct weft_finding *finding,
                     const struct weft_finding_causes *at)
{
    struct said said;
    said_init(&said);
    for (size_t i = 0; i < at->n && said.n < LISTED_CAUSES; i++) {
        if (!tell(&said, finding->matrix, at->items[i]->cause->node))
            continue;
        weft_output_text(out, i ? "; " : "");
        weft_words_cause(out, finding->matrix, at->items[i]->cause->node);
    }
    said_fini(&said, out);
}

static void put_share(struct weft_output *out, double share)
{
    weft_output_printf(out, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
}

static struct weft_human executions_of(const struct weft_finding *finding)
{
    return weft_human_plural(finding->tail.n_fast + finding->tail.n_slow, "execution");
}

static void put_too_few(struct weft_output *out, const struct weft_finding *finding)
{
    const uint64_t n = finding->tail.n_fast + finding->tail.n_slow;
    weft_output_printf(out, "%s of ", weft_human_plural(n, "execution").text);
    put_type(out, finding);
    weft_output_printf(out, " %s too few to separate slow ones from others.",
                       n == 1 ? "is" : "are");
}

static void put_not_apart(struct weft_output *out, const struct weft_finding *finding)
{
    const struct weft_slow_tail *tail = &finding->tail;
    weft_output_printf(out, "the slowest %s of the %s of ", weft_human_count(tail->n_slow).text,
                       executions_of(finding).text);
    put_type(out, finding);
    weft_output_printf(out, " last %s instead of %s, ", weft_human_mean(tail->slow_median_ns).text,
                       weft_human_mean(tail->fast_median_ns).text);
    put_share(out, tail->excess_share);
    weft_output_text(out, " of all time, but neither a gap nor anything that the others do not do "
                          "parts them from those.");
}

static void put_none_slow(struct weft_output *out, const struct weft_finding *finding)
{
    weft_output_printf(out, "none of the %s of ", executions_of(finding).text);
    put_type(out, finding);
    weft_output_text(out, " is slow by more than their spread.");
}

/* " There, too: ...; ...": what has at least half as much of the difference, in the same context.
 */
static void put_beside(struct weft_output *out, const struct weft_finding *finding,
                       const struct weft_finding_cause *first)
{
    struct said said;
    size_t n = 0;
    said_init(&said);
    (void)tell(&said, finding->matrix, first->cause->node);
    (void)tell(&said, finding->matrix, first->told_node);
    for (size_t i = 0; i < finding->n_beside && n < BESIDE; i++) {
        if (!tell(&said, finding->matrix, finding->beside[i]))
            continue;
        weft_output_text(out, n == 0 ? " They are also " : "; ");
        weft_words_cause(out, finding->matrix, finding->beside[i]);
        n++;
    }
    weft_output_text(out, n > 0 ? "." : "");
    said_fini(&said, out);
}

/* The others that cost enough to be said beside the first, each with a sentence of its own: the
 * first one stays short. */
static void put_further(struct weft_output *out, const struct weft_finding *finding)
{
    const struct weft_finding_causes *inside = &finding->at[WEFT_CAUSE_INSIDE];
    put_beside(out, finding, inside->items[0]);
    for (size_t i = 1; i <= finding->n_further; i++) {
        const struct weft_finding_cause *cause = inside->items[i];
        weft_output_printf(out, " %s more (%s) are %s because they are ",
                           weft_human_count(cause->cause->n_items).text,
                           weft_human_mean(cause->cause->duration_ns).text,
                           cause->is_small ? "slower" : "slow");
        weft_words_cause(out, finding->matrix, cause->told_node);
        weft_output_text(out, ".");
    }
}

static const struct other {
    enum weft_cause_place place;
    const char *why;
} others[] = {
    { WEFT_CAUSE_OUTSIDE, " because another program had the CPU: " },
    { WEFT_CAUSE_CROWDED, " because threads of the program share the CPUs that other programs "
                          "leave: " },
    { WEFT_CAUSE_DUE, " because a thread that is due more often goes first, and they still end "
                      "before their next one is due: " },
    { WEFT_CAUSE_SHARED, " because threads that do the same work wait for each other, or take the "
                         "CPUs from each other: " },
    { WEFT_CAUSE_CHANCE, " because threads of the program share CPUs, which is no cause that "
                         "they have in common: " },
    { WEFT_CAUSE_UNTOLD, ", which may only be waits for a CPU: it is unknown which threads "
                         "had the CPUs: " }
};

/* What slows the rest, but for causes of the place `said`. */
static void put_others(struct weft_output *out, const struct weft_finding *finding,
                       enum weft_cause_place said)
{
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        const struct weft_finding_causes *at = &finding->at[others[k].place];
        if (at->n == 0 || others[k].place == said)
            continue;
        weft_output_printf(out, " %s are slow%s", weft_human_count(at->n_items).text,
                           others[k].why);
        put_list(out, finding, at);
        weft_output_text(out, ".");
    }
}

static void put_pause(struct weft_output *out, const struct weft_finding *finding)
{
    weft_output_text(out, "Nothing significant: ");
    put_type(out, finding);
    weft_output_printf(out,
                       " is a pause that the program takes: %.0f %% of its time it waits for a "
                       "timer.",
                       100 * finding->timer_share);
}

/* How many last longer, and by how much. */
static void put_tail(struct weft_output *out, const struct weft_finding *finding)
{
    const struct weft_slow_tail *tail = &finding->tail;
    weft_output_printf(out, "Nothing significant: %s of %s of ",
                       weft_human_count(tail->n_slow).text, executions_of(finding).text);
    put_type(out, finding);
    weft_output_printf(out, " last %s instead of %s, ", weft_human_mean(tail->slow_median_ns).text,
                       weft_human_mean(tail->fast_median_ns).text);
}

static void put_trifle(struct weft_output *out, const struct weft_finding *finding)
{
    put_tail(out, finding);
    weft_output_printf(out, "which costs %s of %s.", weft_human_mean(finding->cost_ns).text,
                       weft_human_ns(finding->trace_ns).text);
}

/* That other programs had the processors says why, where it makes any slow. */
static void put_saturation(struct weft_output *out, const struct weft_finding *finding)
{
    if (!finding->is_full)
        return;
    weft_output_text(out, " The machine was full: other programs had ");
    put_share(out, finding->other_cpu);
    weft_output_text(out, " of the CPUs that this one ran on, it had ");
    put_share(out, finding->own_cpu);
    weft_output_text(out, ".");
}

/* They last longer for a reason that makes nothing slow. */
static void put_ordinary(struct weft_output *out, const struct weft_finding *finding,
                         const char *why)
{
    put_tail(out, finding);
    weft_output_printf(out, "and %s.", why);
    put_saturation(out, finding);
    put_others(out, finding, WEFT_CAUSE_PLACES);
}

static const char *why_of(enum weft_cause_place place)
{
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (others[k].place == place)
            return others[k].why;
    return "";
}

/* The slow ones are slow for nothing that is wrong in the program; `most` is what most are slow
 * for, or WEFT_CAUSE_PLACES. */
static void put_none_inside(struct weft_output *out, const struct weft_finding *finding,
                            enum weft_cause_place most)
{
    const struct weft_slow_tail *tail = &finding->tail;
    weft_output_text(out, "Nothing significant in ");
    put_type(out, finding);
    weft_output_printf(out, " itself: %s of %s are slow (%s instead of %s), ",
                       weft_human_count(tail->n_slow).text, executions_of(finding).text,
                       weft_human_mean(tail->slow_median_ns).text,
                       weft_human_mean(tail->fast_median_ns).text);
    if (most < WEFT_CAUSE_PLACES) {
        const struct weft_finding_causes *at = &finding->at[most];
        weft_output_printf(out, "%s of them%s", weft_human_count(at->n_items).text, why_of(most));
        put_list(out, finding, at);
        weft_output_text(out, ".");
    } else {
        weft_output_text(out, "none for a reason within the program that stands out.");
    }
    put_saturation(out, finding);
    put_others(out, finding, most);
}

/* How many are slow for the cause that most have, and how much that costs. */
static void put_slow_ones(struct weft_output *out, const struct weft_finding *finding,
                          const struct weft_finding_cause *first, const char *slow)
{
    weft_output_printf(out, "%s of %s of ", weft_human_count(first->cause->n_items).text,
                       executions_of(finding).text);
    put_type(out, finding);
    weft_output_printf(out, " are %s (%s instead of %s, which costs ", slow,
                       weft_human_mean(first->cause->duration_ns).text,
                       weft_human_mean(finding->tail.fast_median_ns).text);
    put_share(out, first->share);
    weft_output_printf(out, " of all time)%s because they ", first->is_in_part ? " in part" : "");
}

/* And what it is. */
static void put_first(struct weft_output *out, const struct weft_finding *finding,
                      const struct weft_finding_cause *first)
{
    weft_output_text(out, finding->is_significant ? "" : "Nothing significant: ");
    if (first->is_small)
        weft_output_text(out, finding->is_significant ? "A small tail: " : "a small tail, ");
    put_slow_ones(out, finding, first, first->is_small ? "slower" : "slow");
    weft_output_text(out, "are ");
    weft_words_cause(out, finding->matrix, first->told_node);
    if (finding->verdict == WEFT_VERDICT_UNFELT) {
        weft_output_text(out, "; but `");
        weft_words_name(out, finding->felt_by);
        weft_output_text(out, "`, which waits for that thread, is not slow for it");
    }
    weft_output_text(out, ".");
}

/* "12" or "1.5" calls. */
static void put_calls(struct weft_output *out, double calls)
{
    weft_output_printf(out, calls < 10 ? "%.2g" : "%.0f", calls);
}

/* What is slower does more of the same. */
static void put_more_work(struct weft_output *out, const struct weft_finding *finding,
                          const struct weft_finding_cause *first)
{
    const struct weft_work *work = &finding->work;
    weft_output_text(out, finding->is_significant ? "" : "Nothing significant: ");
    put_slow_ones(out, finding, first, "longer");
    weft_output_text(out, "do more: ");
    put_calls(out, work->slow_calls);
    weft_output_text(out, " calls of `");
    weft_words_name(out, work->function);
    weft_output_text(out, "` instead of ");
    put_calls(out, work->usual_calls);
    weft_output_printf(out, ", %s each instead of %s.", weft_human_mean(work->slow_ns).text,
                       weft_human_mean(work->usual_ns).text);
}

/* What slow executions have in common within the program. */
static void put_inside(struct weft_output *out, const struct weft_finding *finding)
{
    const struct weft_finding_cause *first = finding->at[WEFT_CAUSE_INSIDE].items[0];
    if (finding->verdict == WEFT_VERDICT_MORE_WORK)
        put_more_work(out, finding, first);
    else
        put_first(out, finding, first);
    put_further(out, finding);
    put_others(out, finding, WEFT_CAUSE_PLACES);
    put_saturation(out, finding);
}

static void put_healthy(struct weft_output *out, const struct weft_finding *finding)
{
    weft_output_text(out, "Nothing significant: ");
    if (finding->verdict == WEFT_VERDICT_TOO_FEW)
        put_too_few(out, finding);
    else if (finding->verdict == WEFT_VERDICT_NOT_APART)
        put_not_apart(out, finding);
    else
        put_none_slow(out, finding);
    put_saturation(out, finding);
    put_others(out, finding, WEFT_CAUSE_PLACES);
}

static struct weft_comparison_view comparison_of(const struct weft_finding *finding)
{
    return (struct weft_comparison_view){
        .matrix = finding->matrix, .table = finding->table, .a = finding->a, .b = finding->b
    };
}

static void put_versus(struct weft_output *out, const struct weft_finding *finding)
{
    const struct weft_comparison_view comparison = comparison_of(finding);
    weft_output_text(out, finding->is_significant ? "" : "Nothing significant: ");
    weft_render_verdict(out, &comparison);
    weft_output_text(out, ".");
}

/* The first sentences: what is slow, how much, and why. */
static void put_what_and_why(struct weft_output *out, const struct weft_finding *finding)
{
    switch (finding->verdict) {
    case WEFT_VERDICT_DIFFERS:
    case WEFT_VERDICT_SAME:
        put_versus(out, finding);
        break;
    case WEFT_VERDICT_PAUSE:
        put_pause(out, finding);
        break;
    case WEFT_VERDICT_TRIFLE:
        put_trifle(out, finding);
        break;
    case WEFT_VERDICT_SINGLE_OTHER_PROGRAM:
    case WEFT_VERDICT_SINGLE_UNNOTICED:
    case WEFT_VERDICT_SINGLE:
        weft_singles_put_only(out, finding);
        break;
    case WEFT_VERDICT_OTHER_PROGRAM:
        put_none_inside(out, finding, WEFT_CAUSE_OUTSIDE);
        break;
    case WEFT_VERDICT_FULL_MACHINE:
        put_none_inside(out, finding, WEFT_CAUSE_CROWDED);
        break;
    case WEFT_VERDICT_DUE_FIRST:
        put_none_inside(out, finding, WEFT_CAUSE_DUE);
        break;
    case WEFT_VERDICT_NO_COMMON_CAUSE:
        put_none_inside(out, finding, WEFT_CAUSE_PLACES);
        break;
    case WEFT_VERDICT_IDLE:
        put_ordinary(out, finding, "they wait for something to do");
        break;
    case WEFT_VERDICT_POLLING:
        put_ordinary(out, finding, "the others find nothing to do");
        break;
    case WEFT_VERDICT_MAJORITY:
        put_ordinary(out, finding, "more than half take that long");
        break;
    case WEFT_VERDICT_TOO_FEW:
    case WEFT_VERDICT_NOT_APART:
    case WEFT_VERDICT_NONE_SLOW:
        put_healthy(out, finding);
        break;
    default:
        put_inside(out, finding);
    }
}

/* And how far they can be trusted; the verdict on two groups says so itself. */
static void put_sentences(struct weft_output *out, const struct weft_finding *finding)
{
    if (finding->singles == WEFT_SINGLES_BEFORE)
        weft_singles_put_before(out, finding);
    put_what_and_why(out, finding);
    if (finding->singles == WEFT_SINGLES_AFTER)
        weft_singles_put_after(out, finding);
    if (!finding->is_versus)
        weft_confidence_put_remark(out, &finding->confidence);
}

/* ---- evidence -------------------------------------------------------------------------------- */

static void put_cause(struct weft_output *out, const struct weft_finding *finding,
                      const struct weft_finding_cause *found)
{
    const struct weft_compare_cause *cause = found->cause;
    const struct weft_compare_node *row = found->row;
    weft_output_printf(
        out, "\n  %s, %s on average: ", weft_human_plural(cause->n_items, "execution").text,
        weft_human_mean(cause->duration_ns).text);
    weft_words_cause(out, finding->matrix, cause->node);
    weft_output_text(out, "\n    where     ");
    weft_words_where(out, finding->matrix, cause->node);
    weft_output_printf(out, "\n    there     %s than in fast ones",
                       weft_human_change(cause->difference_ns).text);
    if (row && row->node != 0)
        weft_output_printf(
            out, "; of all slow ones %s (95 %% %s to %s, %s, n = %s and %s)",
            weft_human_change(row->difference_ns).text,
            weft_human_change(row->interval.low_ns).text,
            weft_human_change(row->interval.high_ns).text, weft_human_p(row->p_adjusted).text,
            weft_human_count(finding->table->n_a).text, weft_human_count(finding->table->n_b).text);
    weft_output_text(out, "\n    confidence ");
    weft_confidence_put(out, &found->confidence);
    weft_output_text(out, "\n    example   ");
    weft_render_open_command(out, finding->matrix, cause->example);
    weft_output_text(out, "\n");
}

/* How to ask for the same executions again: "weft compare INPUT --type ...". */
static void put_command(struct weft_output *out, const struct weft_finding_choice *choice)
{
    const struct {
        const char *name, *value;
    } options[] = { { "rules", choice->rules },   { "type", choice->type },
                    { "begin", choice->begin },   { "end", choice->end },
                    { "match", choice->match },   { "within", choice->within },
                    { "thread", choice->thread }, { "metric", choice->metrics } };
    weft_output_text(out, "weft compare ");
    weft_words_argument(out, weft_str_of(choice->path));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].value || !options[i].value[0])
            continue;
        weft_output_printf(out, " --%s ", options[i].name);
        weft_words_argument(out, weft_str_of(options[i].value));
    }
}

static void put_evidence(struct weft_output *out, const struct weft_finding *finding)
{
    static const enum weft_cause_place places[] = { WEFT_CAUSE_INSIDE,  WEFT_CAUSE_OUTSIDE,
                                                    WEFT_CAUSE_DUE,     WEFT_CAUSE_SHARED,
                                                    WEFT_CAUSE_CROWDED, WEFT_CAUSE_CHANCE,
                                                    WEFT_CAUSE_UNTOLD };
    if (!finding->table)
        return;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        const struct weft_finding_causes *at = &finding->at[places[k]];
        for (size_t i = 0; i < at->n; i++)
            put_cause(out, finding, at->items[i]);
    }
    weft_singles_put_evidence(out, finding);
    if (finding->table->is_small && !finding->is_versus && !finding->tail.is_alone)
        weft_output_printf(out,
                           "\n  means and intervals of fewer than %d executions are not to be "
                           "trusted: what is rare may be missing from them\n",
                           WEFT_TRUSTED_EXECUTIONS);
    weft_output_text(out, "\n  more: ");
    put_command(out, &finding->choice);
    weft_output_text(out, " --a ");
    weft_words_argument(out, weft_str_of(finding->a));
    weft_output_text(out, " --b ");
    weft_words_argument(out, weft_str_of(finding->b));
    weft_output_text(out, "\n");
}

/* Without a kernel nobody tells who had a processor: that is not a reason that was ruled out. */
static bool is_without_kernel(const struct weft_findings_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].table && table->rows[i].has_no_switches)
            return true;
    return false;
}

/* All that is known of each type. */
static void put_details(const struct weft_view *view, const struct weft_findings_table *table,
                        const struct weft_findings_view *how)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct weft_finding *finding = &table->rows[i];
        weft_output_text(view->out, "\n");
        put_sentences(view->out, finding);
        weft_output_text(view->out, "\n");
        put_evidence(view->out, finding);
        if (how->with_rules)
            weft_explain_put(view->out, finding);
    }
}

/* Is the type one of a shell or of a program that only starts another? Those of the program that it
 * started say more. */
static bool is_of_wrapper(const struct weft_finding *finding)
{
    static const char names[] = "sh|bash|dash|zsh|busybox|env|timeout|nice|sudo|xargs|make|time";
    const struct weft_loop_name loop = weft_loop_name_of(finding->type);
    return loop.call.n_bytes > 0 && weft_str_is_one_of(loop.thread, names);
}

static bool are_all_of_wrappers(const struct weft_findings_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (!is_of_wrapper(&table->rows[i]))
            return false;
    return true;
}

/* Types without a problem of one of the two sorts, a line each; their number. */
static size_t put_unlisted(struct weft_output *out, const struct weft_findings_table *table,
                           bool is_spread, const char *head)
{
    struct weft_output *line;
    struct weft_err err = { 0 };
    size_t n = 0;
    if (weft_output_to_memory(&line, &err) != WEFT_OK) {
        weft_output_fail(out, &err);
        return 0;
    }
    const bool is_alone = are_all_of_wrappers(table);
    for (size_t i = 0; i < table->n_rows && n < MOST_HEALTHY; i++) {
        const enum weft_unlisted why = table->problems->unlisted[i];
        if ((!is_alone && is_of_wrapper(&table->rows[i])) ||
            (why == WEFT_UNLISTED_SPREAD) != is_spread ||
            weft_problems_have(table->problems, &table->rows[i]))
            continue;
        if (n++ == 0)
            weft_output_printf(out, "%s:\n", head);
        weft_output_text(out, "    ");
        weft_healthy_put(line, &table->rows[i], why);
        weft_words_wrapped(out, weft_output_held(line), HEALTHY_INDENT);
        weft_output_clear(line);
    }
    weft_output_abort(line);
    return n;
}

/* "critical path of main: 84 % of it: Work of thread toner, in curve" */
static void say_path_mostly(struct weft_output *out, const struct weft_problem *problem)
{
    weft_output_text(out, "critical path of ");
    weft_words_name(out, problem->finding->type);
    weft_output_printf(out, ": %s of it: ", weft_human_share(problem->share).text);
    weft_problem_put_path_head(out, problem);
}

/* Where nothing is found: what the run does most of the time. */
static void put_path_mostly(struct weft_output *out, const struct weft_problem *problem)
{
    struct weft_output *line;
    struct weft_err err = { 0 };
    if (!problem)
        return;
    if (weft_output_to_memory(&line, &err) != WEFT_OK) {
        weft_output_fail(out, &err);
        return;
    }
    say_path_mostly(line, problem);
    weft_output_text(out, "    ");
    weft_words_wrapped(out, weft_output_held(line), HEALTHY_INDENT);
    weft_output_abort(line);
}

static void print_text(const struct weft_view *view, const struct weft_findings_table *table,
                       const struct weft_findings_view *how)
{
    weft_problems_put_head(view, table);
    bool is_any =
        weft_problems_put(view->out, table->problems, how->with_all ? 0 : MOST_PROBLEMS) > 0;
    is_any |= put_unlisted(view->out, table, true, "Slow, without one cause") > 0;
    (void)put_unlisted(view->out, table, false, is_any ? "Not a problem" : "Nothing significant");
    put_path_mostly(view->out, table->path_mostly);
    if (how->with_details || how->with_rules)
        put_details(view, table, how);
    if (is_without_kernel(table))
        weft_output_text(
            view->out, "\nThe trace has no scheduling events: a thread that is longer in a "
                       "function may have run there, or waited for a CPU. Record as root, or with "
                       "CAP_BPF and CAP_PERFMON, to see which.\n");
    if (table->has_goroutines) {
        weft_output_text(view->out, "\n");
        weft_words_wrapped(view->out,
                           WEFT_STR("A Go program: its threads carry goroutines from one to the "
                                    "other, so that no request of a goroutine is followed. Work on "
                                    "CPUs is shown by 'weft flame', waits of threads by 'weft "
                                    "states'."),
                           0);
    }
    if (is_any || !view->trace || table->has_goroutines)
        return;
    weft_output_text(view->out, "\nwhich threads wait for which: weft interplay ");
    weft_words_argument(view->out, weft_str_of(view->path));
    weft_output_text(view->out, "\n");
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

static void json_cause(struct weft_json *json, const struct weft_finding *finding,
                       const struct weft_finding_cause *found, bool with_rules,
                       struct weft_output *scratch)
{
    const struct weft_compare_cause *cause = found->cause;
    weft_json_new_line(json);
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "executions", cause->n_items);
    weft_json_real(json, "duration_ns", cause->duration_ns);
    weft_json_real(json, "difference_ns", cause->difference_ns);
    weft_json_real(json, "explained_share", cause->explained);
    weft_json_text(json, "place", weft_cause_place_name(found->place));
    weft_json_text(json, "rule", found->tried.items[found->tried.n - 1].name);
    weft_json_real(json, "cost_share", found->share);
    weft_json_bool(json, "small", found->is_small);
    weft_confidence_json(json, &found->confidence, scratch);
    weft_words_cause(scratch, finding->matrix, cause->node);
    weft_json_str(json, "cause", weft_output_held(scratch));
    weft_output_clear(scratch);
    weft_words_path(scratch, finding->matrix, cause->node, ";");
    weft_json_str(json, "path", weft_output_held(scratch));
    weft_output_clear(scratch);
    weft_render_open_command(scratch, finding->matrix, cause->example);
    weft_json_str(json, "example", weft_output_held(scratch));
    weft_output_clear(scratch);
    if (with_rules)
        weft_explain_json(json, &found->tried);
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

static void json_option(struct weft_json *json, const char *key, const char *text)
{
    if (text)
        weft_json_text(json, key, text);
    else
        weft_json_null(json, key);
}

/* The rule that finds the same executions again. */
static void json_rule(struct weft_json *json, const struct weft_finding_choice *choice)
{
    weft_json_begin_object(json, "rule");
    json_option(json, "type", choice->type);
    json_option(json, "begin", choice->begin);
    json_option(json, "end", choice->end);
    json_option(json, "match", choice->match);
    json_option(json, "within", choice->within);
    weft_json_end_object(json);
}

/* Why a type has no problem; nulls if it has. */
static void json_summary(struct weft_json *json, const struct weft_findings_table *findings,
                         const struct weft_finding *finding, struct weft_output *scratch)
{
    static const char *const names[] = {
        [WEFT_UNLISTED_OUTSIDE] = "other_programs", [WEFT_UNLISTED_SPREAD] = "no_one_cause"
    };
    const enum weft_unlisted why = findings->problems->unlisted[finding - findings->rows];
    if (why != WEFT_LISTED)
        weft_json_text(json, "unlisted", names[why]);
    else
        weft_json_null(json, "unlisted");
    if (weft_problems_have(findings->problems, finding)) {
        weft_json_null(json, "summary");
        return;
    }
    weft_healthy_put(scratch, finding, why);
    weft_json_str(json, "summary", weft_output_held(scratch));
    weft_output_clear(scratch);
}

/* Where the slowest executions are. */
static void json_slowest(struct weft_json *json, const struct weft_finding *finding)
{
    uint32_t slowest[WEFT_FINDING_SLOWEST];
    const size_t n = weft_finding_slowest(finding, slowest);
    weft_json_begin_array(json, "slowest");
    for (size_t i = 0; i < n; i++) {
        const struct weft_execution_item *item = &finding->matrix->items[slowest[i]];
        weft_json_begin_object(json, NULL);
        weft_json_u64(json, "tid", item->tid);
        weft_json_str(json, "thread", item->thread);
        weft_json_u64(json, "start_ns", item->start_ns);
        weft_json_u64(json, "end_ns", item->end_ns);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void json_finding(struct weft_json *json, const struct weft_findings_table *findings,
                         const struct weft_finding *finding, bool with_rules,
                         struct weft_output *scratch)
{
    const struct weft_compare_table *table = finding->table;
    weft_json_new_line(json);
    weft_json_begin_object(json, NULL);
    weft_json_str(json, "type", finding->type);
    weft_json_bool(json, "significant", finding->is_significant);
    weft_json_text(json, "verdict", finding->rule);
    put_sentences(scratch, finding);
    weft_json_str(json, "explanation", weft_output_held(scratch));
    weft_output_clear(scratch);
    json_summary(json, findings, finding, scratch);
    json_rule(json, &finding->choice);
    weft_confidence_json(json, &finding->confidence, scratch);
    if (finding->lost < 0) /* the source does not count what it loses */
        weft_json_null(json, "lost_share");
    else
        weft_json_real(json, "lost_share", finding->lost);
    if (!finding->is_versus)
        json_tail(json, &finding->tail);
    weft_json_u64(json, "executions", finding->matrix->n_items);
    weft_json_u64(json, "damaged", finding->matrix->n_damaged);
    weft_json_u64(json, "damaged_metrics", finding->matrix->n_damaged_metrics);
    weft_json_u64(json, "damaged_facts", finding->matrix->n_damaged_facts);
    weft_json_u64(json, "partial_runs", finding->matrix->n_partial);
    weft_json_u64(json, "unfinished", weft_ecct_matrix_unfinished(finding->matrix));
    weft_json_text(json, "filter_a", finding->a);
    weft_json_text(json, "filter_b", finding->b);
    weft_json_bool(json, "too_small", table && table->is_small);
    json_slowest(json, finding);
    weft_json_begin_array(json, "causes");
    for (size_t i = 0; i < finding->n_causes; i++)
        json_cause(json, finding, &finding->causes[i], with_rules, scratch);
    weft_json_end_array(json);
    if (with_rules)
        weft_explain_json(json, &finding->tried);
    weft_json_end_object(json);
}

static void print_json(const struct weft_view *view, const struct weft_findings_table *table,
                       bool with_rules, struct weft_output *scratch)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "schema", 1);
    weft_problems_json_trace(json, view);
    weft_problems_json(json, table->problems, scratch);
    weft_json_begin_array(json, "types");
    for (size_t i = 0; i < table->n_rows; i++)
        json_finding(json, table, &table->rows[i], with_rules, scratch);
    weft_json_end_array(json);
    if (table->path_mostly) {
        say_path_mostly(scratch, table->path_mostly);
        weft_json_str(json, "critical_path", weft_output_held(scratch));
        weft_output_clear(scratch);
    } else {
        weft_json_null(json, "critical_path");
    }
    weft_json_begin_array(json, "omitted");
    for (size_t i = 0; i < table->n_left_out; i++) {
        weft_json_begin_object(json, NULL);
        weft_json_str(json, "type", table->left_out[i].type);
        weft_json_text(json, "reason", table->left_out[i].why.text);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
    weft_json_u64(json, "types_not_examined", table->n_more);
    weft_json_bool(json, "goroutines", table->has_goroutines);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

#define ROW struct weft_finding

static WEFT_GET(get_explanation)
{
    struct weft_output *scratch = (struct weft_output *)(uintptr_t)context->of;
    weft_output_clear(scratch);
    put_sentences(scratch, row);
    cell->text = weft_output_held(scratch); /* valid until the next row is asked for */
}

static WEFT_GET(get_confidence)
{
    const struct weft_finding *finding = row;
    cell->real = weft_confidence_value(&finding->confidence);
    cell->text = weft_str_of(weft_confidence_level_name(weft_confidence_level(cell->real)));
}

static const struct weft_field fields[] = {
    WEFT_FIELD("type", "type", TEXT, type, "type of executions"),
    WEFT_FIELD("significant", "significant", BOOL, is_significant, "it was tested, and holds"),
    WEFT_GETTER("explanation", "explanation", TEXT, get_explanation, "why executions are slow"),
    WEFT_GETTER("confidence", "confidence", RATIO, get_confidence, "confidence, 0 to 1"),
    WEFT_GETTER("confidence_level", "level", TEXT, get_confidence, "the same in words"),
};

const struct weft_table_type weft_findings_type =
    WEFT_TABLE_TYPE("findings", "why executions of a type are slow", fields, ROW);

void weft_render_findings(const struct weft_view *view, const struct weft_findings_table *findings,
                          const struct weft_findings_view *how)
{
    struct weft_output *scratch = NULL;
    struct weft_err err = { 0 };
    if (weft_output_to_memory(&scratch, &err) != WEFT_OK) {
        weft_output_fail(view->out, &err);
        return;
    }
    const struct weft_table table = { .type = &weft_findings_type,
                                      .rows = findings->rows,
                                      .n_rows = findings->n_rows,
                                      .in = weft_view_context(view, scratch) };
    if (view->format == WEFT_FORMAT_JSON)
        print_json(view, findings, how->with_rules, scratch);
    else if (view->format == WEFT_FORMAT_CSV)
        weft_table_csv(&table, view->out);
    else
        print_text(view, findings, how);
    weft_output_drop(scratch, view->out);
}
