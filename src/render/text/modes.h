/* SPDX-License-Identifier: MIT
 *
 * Columns of user and kernel time, the same in all tables: "-" where the mode is unknown, with an
 * interval where it is estimated from samples.
 */
#ifndef WEFT_RENDER_TEXT_MODES_H
#define WEFT_RENDER_TEXT_MODES_H

#include "render/text/table.h"
#include "schema/states.h"

#define WEFT_MODE_COLUMNS(user_key, kernel_key)                                                    \
    { user_key, "user", WEFT_CELL_NS }, { kernel_key, "kernel", WEFT_CELL_NS },                    \
        { NULL, "+-", WEFT_CELL_NS }, { "kernel_low_ns", NULL, WEFT_CELL_NS },                     \
        { "kernel_high_ns", NULL, WEFT_CELL_NS }, { "mode_unknown_ns", NULL, WEFT_CELL_NS },       \
    {                                                                                              \
        "mode_source", NULL, WEFT_CELL_TEXT                                                        \
    }

enum { WEFT_MODE_CELLS = 7 };

void weft_mode_cells(const struct weft_run_modes *modes, struct weft_cell *cells);

#endif
