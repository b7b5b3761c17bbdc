/* SPDX-License-Identifier: MIT
 *
 * See modes.h.
 */
#include "render/text/modes.h"

void weft_mode_cells(const struct weft_run_modes *modes, struct weft_cell *cells)
{
    const struct weft_mode_times times = weft_run_mode_times(modes);
    const char *source = weft_mode_source(modes);
    const uint64_t below_ns = times.kernel_ns - times.kernel_low_ns;
    const uint64_t above_ns = times.kernel_high_ns - times.kernel_ns;
    cells[0].number = times.user_ns;
    cells[1].number = times.kernel_ns;
    cells[2].number = below_ns > above_ns ? below_ns : above_ns;
    cells[3].number = times.kernel_low_ns;
    cells[4].number = times.kernel_high_ns;
    cells[5].number = times.unknown_ns;
    cells[6].text = weft_str_of(source ? source : "");
    cells[0].is_null = cells[1].is_null = !times.is_known;
    cells[2].is_null = cells[3].is_null = cells[4].is_null = !times.is_estimated;
    cells[6].is_null = !source;
}
