/* SPDX-License-Identifier: MIT
 *
 * Why executions are slow: from all facts (facts.h) to one finding for each type
 * (schema/findings.h). Verdicts are made here and nowhere else, by two tables of rules: where the
 * cause of slow executions lies (causes.c), and what is said of the type (verdicts.c).
 */
#ifndef WEFT_ANALYSIS_FINDINGS_FINDINGS_H
#define WEFT_ANALYSIS_FINDINGS_FINDINGS_H

#include "analysis/findings/facts.h"
#include "base/error.h"

/* The facts of n types, which the table borrows from. O(types^2 x nodes). */
WEFT_CHECKED enum weft_code weft_findings_run(const struct weft_facts *facts, size_t n,
                                              struct weft_findings_table **table,
                                              struct weft_err *err);

/* Of a trace in which nothing repeats: problems of the one execution of a matrix, which the table
 * borrows, so that whatever its critical path spends time on has its share. O(values). */
WEFT_CHECKED enum weft_code weft_findings_add_whole(struct weft_findings_table *table,
                                                    const struct weft_ecct_matrix *matrix,
                                                    struct weft_err *err);

/* Is anything found that is not small? */
bool weft_findings_have_any(const struct weft_findings_table *table);

/* Where nothing is: what most of the one execution of a matrix is, the critical path of a thread's
 * life, as table->path_mostly. Not if table->whole is there. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_findings_add_path(struct weft_findings_table *table,
                                                   const struct weft_ecct_matrix *matrix,
                                                   struct weft_err *err);

/* Where nothing was found of what sets slow executions apart: what all of a type spend their time
 * on. What can be avoided, and is a good part of it, becomes a problem; else it is said what most
 * of their time is. O(values). WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_findings_add_all(struct weft_findings_table *table,
                                                  struct weft_err *err);

/* Is the second a better cut of the executions of `facts` (a struct weft_facts) than the first?
 * What costs most; of those that have no cause in the program single executions, unless there is a
 * hump; else the first. For struct weft_cut_judge. */
bool weft_facts_is_better(const void *facts, const struct weft_compare_cut *first,
                          const struct weft_compare_cut *second);

/* The function whose calls have to be counted (weft_facts.work): of the only cause within the
 * program, if that is the execution's own thread that runs, and the type is only suggested. Of the
 * matrix; empty if there is none. */
struct weft_str weft_facts_work_of(const struct weft_facts *facts);

#endif
