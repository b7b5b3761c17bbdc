/* SPDX-License-Identifier: MIT
 *
 * Executions that are too few to be compared: each is told for itself.
 */
#include "render/text/diagnose_singles.h"

#include "render/text/compare.h"
#include "render/text/compare_words.h"

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

void weft_singles_put_only(struct weft_output *out, const struct weft_finding *finding)
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
                           ? " because another program had the processor"
                           : "");
    put_each(out, finding);
}

void weft_singles_put_before(struct weft_output *out, const struct weft_finding *finding)
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

void weft_singles_put_after(struct weft_output *out, const struct weft_finding *finding)
{
    const size_t n = finding->n_all_singles;
    weft_output_printf(out, " %s %s slow for %s: ", weft_human_count(n).text, n == 1 ? "is" : "are",
                       n == 1 ? "a reason of its own" : "reasons of their own");
    put_each(out, finding);
}

void weft_singles_put_evidence(struct weft_output *out, const struct weft_finding *finding)
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
