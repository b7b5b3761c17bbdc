/* SPDX-License-Identifier: MIT
 *
 * Answers of `weft serve` (docs/http-api.md) that a page has inside, each under its question: the
 * screens are the same, and ask the same. docs/page-data.md lists which there are.
 */
#ifndef WEFT_RENDER_PAGE_ANSWERS_H
#define WEFT_RENDER_PAGE_ANSWERS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/pool.h"
#include "render/output.h"
#include "render/text/render.h"
#include "schema/findings.h"
#include "schema/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_PAGE_ANSWERS = 64 };

struct weft_page_answer {
    const char *question; /* "path?thread=3&from=0&to=12" */
    struct weft_output *body;
};

struct weft_page_answers {
    const struct weft_trace *trace;
    const char *name; /* of the trace, as commands and the page have it */
    bool has_states;  /* the kernel's events are there */
    bool with_hosts;
    struct weft_arena *arena;
    struct weft_page_answer items[WEFT_PAGE_ANSWERS];
    size_t n;
};

/* `arena` must stay as long as the answers. */
WEFT_CHECKED enum weft_code weft_page_answers_init(struct weft_page_answers *answers,
                                                   const struct weft_trace *trace,
                                                   struct weft_err *err);
void weft_page_answers_fini(struct weft_page_answers *answers);

/* `traces`, `threads`, `diagnose`; and `types` with those of which comparisons follow. */
WEFT_CHECKED enum weft_code weft_page_add_findings(struct weft_page_answers *answers,
                                                   const struct weft_findings_table *findings,
                                                   struct weft_err *err);

/* `path` of a thread from `from_ns` to `to_ns`, with the longest of its segments. */
WEFT_CHECKED enum weft_code weft_page_add_path(struct weft_page_answers *answers,
                                               const struct weft_path_table *path,
                                               uint32_t thread_id, uint64_t from_ns, uint64_t to_ns,
                                               struct weft_err *err);

/* `executions`, `cut` and `compare` of the types that findings are of, as an excerpt. Those without
 * room are left out: WEFT_E_LIMIT, and the page is whole without them. */
WEFT_CHECKED enum weft_code weft_page_add_comparisons(struct weft_page_answers *answers,
                                                      const struct weft_findings_table *findings,
                                                      struct weft_pool *pool, struct weft_err *err);

/* How many answers come before those of comparisons, which are the last. */
size_t weft_page_n_without_comparisons(const struct weft_page_answers *answers);

/* The first `n` answers, as elements of a page. */
WEFT_CHECKED enum weft_code weft_page_write_answers(const struct weft_page_answers *answers,
                                                    size_t n, struct weft_pool *pool,
                                                    struct weft_output *out, struct weft_err *err);

#endif
