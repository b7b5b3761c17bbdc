/* SPDX-License-Identifier: MIT
 *
 * Why executions are slow, in sentences (docs/analyses/diagnose.md).
 */
#ifndef WEFT_RENDER_TEXT_DIAGNOSE_H
#define WEFT_RENDER_TEXT_DIAGNOSE_H

#include "analysis/executions/rhythm.h"
#include "analysis/states/crowd.h"
#include "render/text/compare.h"
#include "render/text/render.h"
#include "schema/compare.h"
#include "schema/compare_cut.h"

#include <stdbool.h>
#include <stddef.h>

/* How often executions call the function that takes longer, and how long a call lasts; all 0: it
 * was not counted. */
struct weft_work {
    struct weft_str function;
    double usual_calls, slow_calls; /* an execution */
    double usual_ns, slow_ns;       /* a call */
};

/* What was found of one type of executions. */
struct weft_diagnosis {
    struct weft_str type;
    const struct weft_ecct_matrix *matrix;
    double all_ns; /* of its executions together: weft_ecct_matrix_time_ns */
    const struct weft_compare_table *table; /* NULL: no slow executions, nothing was compared */
    struct weft_slow_tail tail;             /* of two groups that were given: not found */
    bool is_versus;                         /* the groups were given */
    bool is_proposed;                       /* a function that repeats, nobody asked for it */
    bool is_part;                           /* and most of its calls are parts of others */
    bool is_after_sleep;                    /* turns of a thread, from the end of its own sleep */
    bool is_within;                         /* weft_diagnosis_is_within another one */
    bool is_without_switches;               /* nothing tells who had a processor */
    uint64_t trace_ns;                      /* that was recorded; of a function that repeats */
    struct weft_crowd crowd;                /* of the trace; all 0 if nothing is known */
    const struct weft_rhythms *rhythms;     /* of the threads of all types told; or NULL */
    const struct weft_str *wholes; /* functions that repeat, of all types that are proposed */
    size_t n_wholes;               /* 0: nothing is known of them */
    const struct weft_diagnosis *unfelt_by; /* who waits for its thread, and is not slow for it; or
                                             * NULL */
    double lost;                            /* share of the trace's records that are lost */
    struct weft_work work;                  /* what the first cause's function is called for */
    const char *a, *b;                      /* filters of the groups */
    const char *command; /* how the user names these executions: "weft compare run.db --type x" */
};

/* Is there something in the program to be told? */
bool weft_diagnosis_is_significant(const struct weft_diagnosis *diagnosis);

/* The lower, the earlier it is told: what has a cause that says more than the name of the type;
 * what is a part, or within the cause of another type; what has causes; single executions; what is
 * healthy. */
unsigned weft_diagnosis_rank(const struct weft_diagnosis *diagnosis);

/* Is what makes executions of `part` slow, on their own thread, what those of `whole` wait for? Of
 * a function that nobody asked about the latter says more: that somebody waits for it. */
bool weft_diagnosis_is_within(const struct weft_diagnosis *part,
                              const struct weft_diagnosis *whole);

/* The time that the causes within the program cost: the more, the earlier it is told. */
double weft_diagnosis_cost_ns(const struct weft_diagnosis *diagnosis);

/* Is the second a better cut of the executions of `diagnosis` (a struct weft_diagnosis) than the
 * first? What costs most; of those that have no cause in the program single executions, unless
 * there is a hump; else the first. For struct weft_cut_judge. */
bool weft_diagnosis_is_better(const void *diagnosis, const struct weft_compare_cut *first,
                              const struct weft_compare_cut *second);

/* In the order given. */
void weft_render_diagnoses(const struct weft_view *view, const struct weft_diagnosis *diagnoses,
                           size_t n);

#endif
