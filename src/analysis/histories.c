/* SPDX-License-Identifier: MIT */
#include "analysis/histories.h"

#include <stdlib.h>

enum { MOST_BYTES = 16 << 20, SHARE = 4 };

enum weft_code weft_histories_init(struct weft_histories *histories, const struct weft_trace *trace,
                                   const struct weft_run *run, struct weft_err *err)
{
    const unsigned n = weft_pool_workers(run->pool);
    uint64_t mem_bytes = run->memory_bytes / SHARE / n;
    if (mem_bytes == 0 || mem_bytes > MOST_BYTES)
        mem_bytes = MOST_BYTES;
    *histories = (struct weft_histories){
        .trace = trace, .items = calloc(n, sizeof *histories->items), .n = n, .mem_bytes = mem_bytes
    };
    return histories->items ? WEFT_OK
                            : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "states of threads");
}

void weft_histories_fini(struct weft_histories *histories)
{
    for (unsigned i = 0; histories->items && i < histories->n; i++)
        weft_history_close(histories->items[i]);
    free(histories->items);
    histories->items = NULL;
}

enum weft_code weft_histories_get(struct weft_histories *histories, unsigned worker,
                                  struct weft_history **history, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (!histories->items[worker])
        code = weft_history_open(histories->trace, histories->mem_bytes, &histories->items[worker],
                                 err);
    *history = histories->items[worker];
    return code;
}

bool weft_histories_are_known(const struct weft_trace *trace)
{
    return weft_store_has_arrivals(weft_trace_store(trace));
}

bool weft_name_copy(struct weft_arena *arena, struct weft_str text, struct weft_str *last)
{
    if (text.n_bytes == 0)
        *last = WEFT_STR("");
    else if (!weft_str_equal(*last, text))
        *last = weft_arena_copy(arena, text);
    return text.n_bytes == 0 || last->bytes != NULL;
}
