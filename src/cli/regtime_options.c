/* SPDX-License-Identifier: MIT
 *
 * Applies the user's values over those of a preset.
 */
#include "cli/regtime_options.h"

const char *const weft_regtime_presets[] = { "paper", "fine", NULL };

static void apply(const struct weft_threshold *threshold, double *fraction, uint64_t *absolute_ns)
{
    if (threshold->fraction > 0 || threshold->absolute_ns > 0) {
        *fraction = threshold->fraction;
        *absolute_ns = threshold->absolute_ns;
    }
}

struct weft_regtime_opts weft_regtime_settings(const struct weft_regtime_options *options)
{
    struct weft_regtime_opts settings = { 0 };
    (void)weft_regtime_preset(weft_regtime_presets[options->preset], &settings);
    apply(&options->duration, &settings.duration_fraction, &settings.duration_ns);
    apply(&options->gap, &settings.gap_fraction, &settings.gap_ns);
    apply(&options->span, &settings.span_fraction, &settings.span_ns);
    if (options->glyphs != WEFT_GLYPHS_DEFAULT)
        settings.glyphs = (uint32_t)options->glyphs;
    settings.negligible_fraction = options->negligible;
    return settings;
}
