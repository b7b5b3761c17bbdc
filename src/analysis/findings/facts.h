/* SPDX-License-Identifier: MIT
 *
 * What is known of the executions of a type when it is judged why they are slow
 * (docs/analyses/diagnose.md): all of it is gathered in one place (query/findings.h), from a trace
 * or from a database. What a source does not record is unknown, which is not 0.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_FACTS_H
#define WEFT_ANALYSIS_FINDINGS_FACTS_H

#include "analysis/executions/period.h"
#include "analysis/states/saturation.h"
#include "schema/compare.h"
#include "schema/compare_cut.h"
#include "schema/executions.h"
#include "schema/findings.h"

#include <stdbool.h>
#include <stddef.h>

/* A number that a source may not record. */
struct weft_fact {
    double value;
    bool is_known;
};

enum weft_fact_answer { WEFT_FACT_UNKNOWN, WEFT_FACT_NO, WEFT_FACT_YES };

struct weft_facts {
    struct weft_str type;
    const struct weft_ecct_matrix *matrix;
    double all_ns; /* of its executions together: weft_ecct_matrix_time_ns */

    /* the groups that are compared */
    const struct weft_compare_table *table; /* NULL: no slow executions, nothing was compared */
    struct weft_slow_tail tail;             /* of two groups that were given: not found */
    bool is_versus;                         /* the groups were given */
    const char *a, *b;                      /* filters of the groups */
    struct weft_finding_choice choice;

    /* how the type was chosen */
    bool is_proposed;    /* a function that repeats, or turns of a thread: only suggested */
    bool is_part;        /* and most of its calls are parts of others */
    bool is_turn;        /* turns of a thread, from one wait to the next */
    bool is_after_sleep; /* turns of a thread, from the end of its own sleep */

    /* of the whole trace; of several traces together */
    enum weft_fact_answer has_switches; /* are scheduling events recorded? */
    struct weft_fact trace_ns;          /* that was recorded */
    struct weft_fact lost;              /* share of the records that are lost; unknown: at least */
    struct weft_saturation saturation;
    const struct weft_periods *periods; /* of the threads of all types; NULL: unknown */
    const struct weft_str *wholes;      /* functions that repeat, of all types that are proposed */
    size_t n_wholes;                    /* 0: unknown */
    const struct weft_loop_name *loops; /* loop iterations among these types */
    size_t n_loops;
    struct weft_work work; /* what the first cause's function is called for */
};

#endif
