/* SPDX-License-Identifier: MIT
 *
 * Says in a line why executions of a type are no problem, by the verdict on them.
 */
#include "render/text/healthy.h"

#include "render/human.h"
#include "render/text/compare_words.h"
#include "render/text/problem_words.h"

static const char *const reasons[WEFT_VERDICTS] = {
    [WEFT_VERDICT_SAME] = "the groups do not differ",
    [WEFT_VERDICT_PAUSE] = "a pause of the program, until a timer",
    [WEFT_VERDICT_SINGLE_OTHER_PROGRAM] = "another program had the CPU",
    [WEFT_VERDICT_SINGLE_UNNOTICED] = "too few and too short to matter",
    [WEFT_VERDICT_TRIFLE] = "a negligible part of the recorded time",
    [WEFT_VERDICT_MORE_WORK] = "they do more of the same",
    [WEFT_VERDICT_UNFELT] = "what waits for this thread is not slower for it",
    [WEFT_VERDICT_UNNOTICED] = "short, and it costs little",
    [WEFT_VERDICT_OTHER_PROGRAM] = "another program had the CPU",
    [WEFT_VERDICT_FULL_MACHINE] = "other programs left too few CPUs",
    [WEFT_VERDICT_DUE_FIRST] = "a thread that is due more often runs first",
    [WEFT_VERDICT_IDLE] = "they wait for work",
    [WEFT_VERDICT_POLLING] = "the others find no work",
    [WEFT_VERDICT_MAJORITY] = "more than half take that long",
    [WEFT_VERDICT_NO_COMMON_CAUSE] = "no cause in common",
    [WEFT_VERDICT_NOT_APART] = "neither a gap nor a cause separates them from the others",
};

static void put_slow(struct weft_output *out, const struct weft_slow_tail *tail)
{
    weft_output_printf(out, "%s took %s instead of %s", weft_human_count(tail->n_slow).text,
                       weft_human_mean(tail->slow_median_ns).text,
                       weft_human_mean(tail->fast_median_ns).text);
}

static const char *const reasons_unlisted[] = {
    [WEFT_UNLISTED_OUTSIDE] = "another program had the CPU",
    [WEFT_UNLISTED_SPREAD] = "without one cause that explains a tenth of it",
};

void weft_healthy_put(struct weft_output *out, const struct weft_finding *finding,
                      enum weft_unlisted why)
{
    const char *reason = why != WEFT_LISTED ? reasons_unlisted[why] : reasons[finding->verdict];
    weft_output_printf(out, "%s ", weft_human_count(finding->matrix->n_items).text);
    weft_words_executions(out, finding->type);
    weft_output_text(out, ": ");
    if (finding->verdict == WEFT_VERDICT_TOO_FEW) {
        weft_output_text(out, "too few to separate slow ones");
    } else if (!reason || finding->verdict == WEFT_VERDICT_PAUSE ||
               finding->verdict == WEFT_VERDICT_SAME) {
        weft_output_text(out, reason ? reason : "none is slow by more than their spread");
    } else {
        put_slow(out, &finding->tail);
        weft_output_printf(out, ", %s", reason);
    }
    if (finding->mostly) {
        weft_output_printf(out,
                           "; %s of their time: ", weft_human_share(finding->mostly->share).text);
        weft_problem_put_path_head(out, finding->mostly);
    }
}
