/* SPDX-License-Identifier: MIT
 *
 * Why executions are slow: one finding for each type of executions, with the rules that led to it
 * (docs/analyses/diagnose.md). All that a sentence says is here; wording is made elsewhere.
 */
#ifndef WEFT_SCHEMA_FINDINGS_H
#define WEFT_SCHEMA_FINDINGS_H

#include "schema/compare.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the cause of slow executions lies. */
enum weft_cause_place {
    WEFT_CAUSE_INSIDE,  /* in the program */
    WEFT_CAUSE_OUTSIDE, /* another program had the processor */
    WEFT_CAUSE_DUE,     /* a thread had it that is due more often, and the execution ended before
                         * the next of its thread was due */
    WEFT_CAUSE_SHARED,  /* threads that do the same work have too few processors, or wait for each
                         * other most of the time */
    WEFT_CAUSE_CROWDED, /* threads of the program have what processors others leave of a machine
                         * that is full */
    WEFT_CAUSE_CHANCE,  /* preempted within the program, no more than sharing processors makes it */
    WEFT_CAUSE_UNTOLD,  /* without scheduling events: may be no more than a wait for a processor */
    WEFT_CAUSE_SPREAD,  /* more of what all have, or of nothing in particular */
    WEFT_CAUSE_SMALL,   /* not worth a sentence */
    WEFT_CAUSE_ALONE,   /* of too few executions to be compared: each is described by itself */
    WEFT_CAUSE_PLACES,
};

/* What is said of a type, in the order in which it is tried. */
enum weft_verdict {
    WEFT_VERDICT_DIFFERS, /* of two groups that were given */
    WEFT_VERDICT_SAME,
    WEFT_VERDICT_PAUSE,                /* the program takes a pause */
    WEFT_VERDICT_SINGLE_OTHER_PROGRAM, /* single slow executions: another program had the CPU */
    WEFT_VERDICT_SINGLE_UNNOTICED,
    WEFT_VERDICT_SINGLE,
    WEFT_VERDICT_TRIFLE,    /* costs next to nothing of the recorded time */
    WEFT_VERDICT_MORE_WORK, /* calls a function more often */
    WEFT_VERDICT_UNFELT,    /* the type that waits for its thread is not slow for it */
    WEFT_VERDICT_UNNOTICED, /* small, and short */
    WEFT_VERDICT_ITSELF,    /* the function itself is longer */
    WEFT_VERDICT_PART_OF_OTHER,
    WEFT_VERDICT_PART,
    WEFT_VERDICT_SMALL_TAIL,
    WEFT_VERDICT_CAUSE,
    WEFT_VERDICT_OTHER_PROGRAM, /* no cause in the program: most slow ones are preempted by others
                                 */
    WEFT_VERDICT_FULL_MACHINE,
    WEFT_VERDICT_DUE_FIRST,
    WEFT_VERDICT_IDLE, /* they wait for something to do */
    WEFT_VERDICT_POLLING,
    WEFT_VERDICT_MAJORITY,
    WEFT_VERDICT_NO_COMMON_CAUSE,
    WEFT_VERDICT_TOO_FEW, /* nothing is slow */
    WEFT_VERDICT_NOT_APART,
    WEFT_VERDICT_NONE_SLOW,
    WEFT_VERDICTS,
};

/* How single slow executions are reported beside the verdict. */
enum weft_singles {
    WEFT_SINGLES_UNTOLD,
    WEFT_SINGLES_BEFORE, /* before it is said that nothing else is significant */
    WEFT_SINGLES_AFTER,
};

/* ---- rules that were tried ------------------------------------------------------------------- */

enum weft_rule_outcome {
    WEFT_RULE_PASSED,  /* tried, and did not fire */
    WEFT_RULE_SKIPPED, /* something that it needs is unknown, or absent */
    WEFT_RULE_FIRED,
};

enum weft_rule_unit { WEFT_RULE_NS, WEFT_RULE_SHARE, WEFT_RULE_COUNT, WEFT_RULE_RATIO };

/* A number that a rule compared, and with what. */
struct weft_rule_number {
    const char *name; /* "cost_share" */
    double value, limit;
    enum weft_rule_unit unit;
};

enum { WEFT_RULE_NUMBERS = 6 };

struct weft_rule_tried {
    const char *name; /* "trifle" */
    const char *why;  /* what follows where it fires */
    enum weft_rule_outcome outcome;
    const char *missing; /* SKIPPED: what it needs */
    struct weft_rule_number numbers[WEFT_RULE_NUMBERS];
    size_t n_numbers;
};

/* Rules up to the one that fired, which is the last. */
struct weft_rules_tried {
    struct weft_rule_tried *items;
    size_t n;
};

/* ---- findings -------------------------------------------------------------------------------- */

/* The options that choose the same executions again; NULL: not needed. */
struct weft_finding_choice {
    const char *path; /* of the trace or database */
    const char *rules, *type, *begin, *end, *match, *within, *thread, *metrics;
};

/* How far a finding can be trusted. */
struct weft_confidence_basis {
    uint64_t n, n_lossy;          /* executions, and those in which records are lost */
    double inferred, unexplained; /* shares of their time */
    double unnamed; /* share of a difference that its named cause does not explain; 0: all is
                     * explained, or nothing is named */
    double p;       /* that chance makes the difference; 0: not tested */
    double lost;    /* share of the trace's records that are lost; 0: none, or unknown */
};

/* Slow executions with one cause. */
struct weft_finding_cause {
    const struct weft_compare_cause *cause;
    const struct weft_compare_node *row; /* of its node; NULL: none */
    enum weft_cause_place place;
    double cost_ns; /* what they last longer than usual, together */
    double share;   /* of all time of the type's executions */
    bool is_small;
    bool is_in_part;    /* explains less than half of the difference */
    uint32_t told_node; /* that tells most of it: its own, or one below */
    struct weft_confidence_basis confidence;
    struct weft_rules_tried tried;
};

enum { WEFT_SINGLE_PARTS = 3, WEFT_SINGLES_MOST = 8, WEFT_PLACE_CAUSES = 5 };

/* A slow execution whose reason nothing else shares. */
struct weft_finding_single {
    uint32_t item;
    uint64_t ns;
    uint32_t parts[WEFT_SINGLE_PARTS]; /* nodes at which it is longer than usual, the most first */
    double part_ns[WEFT_SINGLE_PARTS];
    size_t n_parts;
    bool is_spread;  /* over what is below one node, which says more than the first part */
    uint32_t common; /* that node */
    double common_ns;
    bool is_outside; /* for the most part another program had the processor */
    bool is_noticed; /* so slow that it is felt */
};

/* Causes of a place, the most expensive first. */
struct weft_finding_causes {
    const struct weft_finding_cause *items[WEFT_PLACE_CAUSES];
    size_t n, n_all;  /* n of them are listed */
    uint64_t n_items; /* executions of those listed */
};

struct weft_problem;

struct weft_finding {
    struct weft_str type;
    const struct weft_ecct_matrix *matrix;
    const struct weft_compare_table *table; /* NULL: nothing was compared */
    struct weft_slow_tail tail;
    const char *a, *b; /* filters of the groups */
    struct weft_finding_choice choice;
    bool is_versus;                    /* the groups were given */
    const struct weft_finding *all_of; /* all executions of that finding's type are compared with
                                        * nothing; NULL: slow ones with usual ones */
    bool has_no_switches;              /* scheduling events are not recorded */
    enum weft_verdict verdict;
    const char *rule; /* the name of the verdict's */
    bool is_significant;
    const struct weft_problem *mostly; /* what most of the time of all executions is, where none are
                                        * slow for a cause; NULL: nothing stands out */
    unsigned rank;                     /* the lower, the earlier it is reported */
    double cost_ns;                    /* of the causes within the program */
    uint64_t trace_ns;
    double lost;                       /* share of the records that are lost; negative: unknown */
    double timer_share;                /* of the time of usual executions: waits for a timer */
    struct weft_work work;             /* MORE_WORK */
    struct weft_str felt_by;           /* UNFELT: the type that waits for the thread */
    bool is_full;                      /* other programs filled the machine, and it matters here */
    double own_cpu, other_cpu;         /* shares of the processors that this program ran on */
    struct weft_finding_cause *causes; /* in the table's order */
    size_t n_causes;
    struct weft_finding_causes at[WEFT_CAUSE_PLACES];
    size_t
        n_further; /* causes within the program behind the first that cost enough for a sentence */
    uint32_t *beside; /* nodes in the context of the first cause that tell as much */
    size_t n_beside;
    enum weft_singles singles;
    struct weft_finding_single *single; /* the slowest first, at most WEFT_SINGLES_MOST */
    size_t n_single, n_all_singles;
    struct weft_confidence_basis confidence;
    struct weft_rules_tried tried;
};

/* A type that was suggested, and of which nothing can be said. */
struct weft_findings_left_out {
    struct weft_str type;
    struct weft_err why;
};

struct weft_findings_table {
    struct weft_arena *arena;
    struct weft_finding *rows; /* what matters most first */
    size_t n_rows;
    struct weft_problems_table *problems; /* of all of them (schema/problems.h); theirs */
    struct weft_finding *whole; /* where nothing repeats: the life of the thread that matters most,
                                 * as one execution that is compared with nothing; else NULL */
    const struct weft_problem *path_mostly; /* where nothing is found: what most of the critical
                                             * path of the thread that matters most is; else NULL */
    const struct weft_findings_left_out *left_out;
    size_t n_left_out;
    size_t n_more;       /* types that were not looked at: there are too many */
    bool has_goroutines; /* something is small as it is of threads that carry goroutines */
};

enum { WEFT_FINDING_SLOWEST = 3 };

/* The executions that last longest, the longest first; of equal ones the first. Returns how many:
 * at most WEFT_FINDING_SLOWEST. */
size_t weft_finding_slowest(const struct weft_finding *finding,
                            uint32_t slowest[WEFT_FINDING_SLOWEST]);

/* The type of which the first problem is that was found by comparing executions; without one, the
 * type reported first; NULL: there are no executions. */
const struct weft_finding *weft_findings_first(const struct weft_findings_table *findings);

/* Stable names: "program", "trifle". */
const char *weft_cause_place_name(enum weft_cause_place place);
const char *weft_rule_outcome_name(enum weft_rule_outcome outcome);

#endif
