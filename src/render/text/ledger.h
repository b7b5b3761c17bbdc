/* SPDX-License-Identifier: MIT
 *
 * The ledger of the recorded program: its processes, and what is missing of each.
 */
#ifndef WEFT_RENDER_TEXT_LEDGER_H
#define WEFT_RENDER_TEXT_LEDGER_H

#include "base/arena.h"
#include "model/trace.h"
#include "render/text/table.h"
#include "schema/ledger.h"

struct weft_ledger_list {
    struct weft_ledger_process *rows;
    size_t n_listed;
};

/* All processes, or those of which something is missing. False without memory. */
bool weft_ledger_list(const struct weft_trace *trace, struct weft_arena *arena, bool all,
                      struct weft_ledger_list *list);

/* `list` must live as long as the table. */
struct weft_table weft_ledger_table(const struct weft_ledger_list *list);

/* Members "program": sums; null for a trace without a ledger. */
void weft_ledger_json(const struct weft_trace *trace, struct weft_json *json);

#endif
