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
#include "schema/missing.h"
#include "schema/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Answers; types that are compared. */
enum { WEFT_PAGE_ANSWERS = 64, WEFT_PAGE_COMPARISONS = 4 };

/* A page can do without comparisons first, then without paths. */
enum weft_page_answer_kind { WEFT_PAGE_FINDINGS, WEFT_PAGE_PATH, WEFT_PAGE_COMPARISON };

struct weft_page_answer {
    enum weft_page_answer_kind kind;
    const char *question;    /* "path?thread=3&from=0&to=12" */
    struct weft_output *out; /* what the page has of it, packed */
};

/* A type of which there is a comparison. */
struct weft_page_proposal {
    struct weft_str name;
    const char *begin, *end, *match, *within;
    uint64_t count;
};

struct weft_page_answers {
    const struct weft_trace *trace;
    const char *name; /* of the trace, as commands and the page have it */
    bool has_states;  /* the kernel's events are there */
    bool with_hosts;
    struct weft_pool *pool; /* that compresses; NULL: none */
    struct weft_arena *arena;
    bool *is_needed;                                  /* threads that answers name, by id */
    struct weft_page_answer items[WEFT_PAGE_ANSWERS]; /* those of most worth first */
    size_t n;
    struct weft_page_proposal proposals[WEFT_PAGE_COMPARISONS]; /* in the order of the answers */
    size_t n_proposals;
};

/* `trace` and `pool` must stay as long as the answers. */
WEFT_CHECKED enum weft_code weft_page_answers_init(struct weft_page_answers *answers,
                                                   const struct weft_trace *trace,
                                                   struct weft_pool *pool, struct weft_err *err);
void weft_page_answers_fini(struct weft_page_answers *answers);

/* `traces` and `diagnose`. */
WEFT_CHECKED enum weft_code weft_page_add_findings(struct weft_page_answers *answers,
                                                   const struct weft_findings_table *findings,
                                                   struct weft_err *err);

/* `threads`: those of most calls and events, and those of the paths that were added before. */
WEFT_CHECKED enum weft_code weft_page_add_threads(struct weft_page_answers *answers,
                                                  struct weft_err *err);

/* `path` of a thread, those of most worth first, from `from_ns` to `to_ns`, with the longest of its
 * segments. */
WEFT_CHECKED enum weft_code weft_page_add_path(struct weft_page_answers *answers,
                                               const struct weft_path_table *path,
                                               uint32_t thread_id, uint64_t from_ns, uint64_t to_ns,
                                               struct weft_err *err);

/* `executions`, `cut` and `compare` of the types that findings are of, as an excerpt. Those without
 * room are omitted: WEFT_E_LIMIT, and the page is whole without them. */
WEFT_CHECKED enum weft_code weft_page_add_comparisons(struct weft_page_answers *answers,
                                                      const struct weft_findings_table *findings,
                                                      struct weft_err *err);

/* Bytes of a page that they take. */
uint64_t weft_page_answers_bytes(const struct weft_page_answers *answers);

/* Drops a comparison, or a path if there is no comparison: that of least worth. False: there is
 * nothing to be dropped. */
bool weft_page_drop_answer(struct weft_page_answers *answers, enum weft_missing_kind *kind);

/* All as elements of a page, and `types`: those of comparisons. Once. */
WEFT_CHECKED enum weft_code weft_page_write_answers(struct weft_page_answers *answers,
                                                    struct weft_output *out, struct weft_err *err);

#endif
