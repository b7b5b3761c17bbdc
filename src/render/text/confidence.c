/* SPDX-License-Identifier: MIT
 *
 * See confidence.h.
 */
#include "render/text/confidence.h"

#include "render/human.h"
#include "render/text/compare_words.h"
#include "schema/executions.h"

#include <math.h>
#include <stdio.h>

const char *weft_confidence_level_name(enum weft_confidence_level level)
{
    static const char *const names[] = { [WEFT_CONFIDENCE_LOW] = "low",
                                         [WEFT_CONFIDENCE_MEDIUM] = "medium",
                                         [WEFT_CONFIDENCE_HIGH] = "high" };
    return names[level];
}

static void put_reason(struct weft_output *out, const struct weft_confidence_basis *basis,
                       enum weft_confidence_reason reason)
{
    const double share = reason == WEFT_REASON_UNNAMED    ? 1 - basis->unnamed
                         : reason == WEFT_REASON_LOST     ? basis->lost
                         : reason == WEFT_REASON_INFERRED ? basis->inferred
                                                          : basis->unexplained;
    char percent[16];
    (void)snprintf(percent, sizeof percent, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    if (reason == WEFT_REASON_UNNAMED)
        weft_output_printf(out, "this explains %s of the difference", percent);
    else if (reason == WEFT_REASON_LOSSY)
        weft_output_printf(out, "records are lost in %s of %s",
                           weft_human_count(basis->n_lossy).text,
                           weft_human_plural(basis->n, "execution").text);
    else if (reason == WEFT_REASON_LOST)
        weft_output_printf(out, "%s of the records of the trace are lost", percent);
    else if (reason == WEFT_REASON_INFERRED)
        weft_output_printf(out, "%s of the time is inferred from stacks and wakeups near it",
                           percent);
    else if (reason == WEFT_REASON_UNEXPLAINED)
        weft_output_printf(out, "%s of the time of these executions is unexplained", percent);
    else
        weft_output_text(out, weft_human_p(basis->p).text);
}

void weft_confidence_put(struct weft_output *out, const struct weft_confidence_basis *basis)
{
    const double value = weft_confidence_value(basis);
    const char *between = ": ";
    /* Cut, not rounded: 0.899 is below the level that 0.90 begins. */
    weft_output_printf(out, "%s (%.2f)", weft_confidence_level_name(weft_confidence_level(value)),
                       floor(value * 100 + 1e-9) / 100);
    for (unsigned k = 0; k < WEFT_CONFIDENCE_REASONS; k++)
        if (weft_confidence_has_reason(basis, k)) {
            weft_output_text(out, between);
            put_reason(out, basis, k);
            between = "; ";
        }
}

void weft_confidence_put_remark(struct weft_output *out, const struct weft_confidence_basis *basis)
{
    if (weft_confidence_level(weft_confidence_value(basis)) == WEFT_CONFIDENCE_HIGH)
        return;
    weft_output_text(out, " Confidence: ");
    weft_confidence_put(out, basis);
    weft_output_text(out, ".");
}

void weft_confidence_json(struct weft_json *json, const struct weft_confidence_basis *basis,
                          struct weft_output *scratch)
{
    const double value = weft_confidence_value(basis);
    weft_json_begin_object(json, "confidence");
    weft_json_real(json, "value", value);
    weft_json_text(json, "level", weft_confidence_level_name(weft_confidence_level(value)));
    weft_json_begin_array(json, "reasons");
    for (unsigned k = 0; k < WEFT_CONFIDENCE_REASONS; k++) {
        if (!weft_confidence_has_reason(basis, k))
            continue;
        put_reason(scratch, basis, k);
        weft_json_str(json, NULL, weft_output_held(scratch));
        weft_output_clear(scratch);
    }
    weft_json_end_array(json);
    weft_json_end_object(json);
}
