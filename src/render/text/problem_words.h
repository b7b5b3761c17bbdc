/* SPDX-License-Identifier: MIT
 *
 * What is said of problems (schema/problems.h).
 */
#ifndef WEFT_RENDER_TEXT_PROBLEM_WORDS_H
#define WEFT_RENDER_TEXT_PROBLEM_WORDS_H

#include "render/output.h"
#include "schema/findings.h"
#include "schema/problems.h"

/* "Lock contention on `m`"; of a critical path, where work is no problem, "Work in `f`". */
void weft_problem_put_head(struct weft_output *out, const struct weft_problem *problem);
void weft_problem_put_path_head(struct weft_output *out, const struct weft_problem *problem);

/* Is it of a critical path, and not of executions? */
bool weft_problem_is_of_path(const struct weft_problem *problem);

/* "4 of 479 `get` took 22.9 ms instead of 130 µs". */
void weft_problem_put_symptom(struct weft_output *out, const struct weft_problem *problem);

/* Head and symptom. */
void weft_problem_put_sentence(struct weft_output *out, const struct weft_problem *problem);

/* "36 of 37 slow ones wait for it, ...". */
void weft_problem_put_numbers(struct weft_output *out, const struct weft_problem *problem);
void weft_problem_put_fix(struct weft_output *out, const struct weft_problem *problem);

/* The same of problems of synchronization. */
void weft_sync_put_head(struct weft_output *out, const struct weft_sync_problem *sync);
void weft_sync_put_symptom(struct weft_output *out, const struct weft_sync_problem *sync);
void weft_sync_put_sentence(struct weft_output *out, const struct weft_sync_problem *sync);
void weft_sync_put_numbers(struct weft_output *out, const struct weft_sync_problem *sync);
const char *weft_sync_fix(const struct weft_sync_problem *sync);

/* Of what its cost is a share. */
const char *weft_sync_whole(const struct weft_sync_problem *sync);

/* Advice for a cycle of n waits; and the end of the cycle that begins at `first`. */
const char *weft_deadlock_fix(const struct weft_deadlock_wait *waits, size_t n);
size_t weft_deadlock_end(const struct weft_problems_table *problems, size_t first);

#endif
