/* SPDX-License-Identifier: MIT
 *
 * Which causes of a diagnosis count (docs/analyses/diagnose.md, "Causes that count").
 */
#ifndef WEFT_RENDER_TEXT_DIAGNOSE_CAUSES_H
#define WEFT_RENDER_TEXT_DIAGNOSE_CAUSES_H

#include "render/text/diagnose.h"

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
    WEFT_CAUSE_ALONE,   /* of too few executions to be compared: each is told for itself */
};

enum weft_cause_place weft_cause_place_of(const struct weft_diagnosis *diagnosis,
                                          const struct weft_compare_cause *cause);

/* Of all time of the executions: what those of the cause last longer than the usual ones, 0 to 1.
 */
double weft_cause_share(const struct weft_diagnosis *diagnosis,
                        const struct weft_compare_cause *cause);

/* Is it worth a sentence, but not much more? It costs less than 20 % of all time, and those
 * that have it last less than 5 times as long as the usual ones and are, of what somebody asked
 * about, fewer than 10 %; or less than 10 % of all time, and they last less than 10 times as long.
 */
bool weft_cause_is_small(const struct weft_diagnosis *diagnosis,
                         const struct weft_compare_cause *cause);

/* Why most of the slow executions of a function that nobody asked about are not slow at all, in
 * words
 * ("they wait for something to do"); NULL: nothing says so. */
const char *weft_diagnosis_ordinary(const struct weft_diagnosis *diagnosis);

/* Those of a place, the most expensive first, at most `n_most`; the number of all. */
size_t weft_causes_list(const struct weft_diagnosis *diagnosis, enum weft_cause_place place,
                        const struct weft_compare_cause **list, size_t n_most);

/* The row of a node of the matrix; NULL if no execution compared has it. */
const struct weft_compare_node *weft_compare_row_of(const struct weft_compare_table *table,
                                                    uint32_t node);

/* Of two groups that were given: do their durations differ? */
bool weft_diagnosis_has_evidence(const struct weft_diagnosis *diagnosis);

/* A function that nobody asked about and that does little but sleep is a pause of the program: that
 * it sleeps longer says nothing, unless slow ones do it in another place. The share of its time in
 * which its own thread waits for a timer. */
bool weft_diagnosis_is_pause(const struct weft_diagnosis *diagnosis);
double weft_diagnosis_timer_share(const struct weft_diagnosis *diagnosis);

/* Do all causes matter so little that nobody notices? Of a function that nobody asked about, small
 * ones of executions that are longer by less than 10 ms, or last less than twice as long; of other
 * types those that cost less than 5 % of all time, last less than 10 times as long, and are longer
 * by less than 10 ms. */
bool weft_diagnosis_is_minor(const struct weft_diagnosis *diagnosis);

/* Do slow executions no more than call a function more often, which lasts as long as usual each
 * time? Of weft_diagnosis.work, which has to be set; false without it. */
bool weft_diagnosis_is_more_work(const struct weft_diagnosis *diagnosis);

/* The function whose calls tell that: of the only cause within the program, if that is the
 * execution's own thread that runs. Of the matrix; empty if there is none. */
struct weft_str weft_diagnosis_work_of(const struct weft_diagnosis *diagnosis);

/* A function that nobody asked about, whose slow calls together cost next to nothing of the time
 * that was recorded, and none of which lasts so long that somebody notices. */
bool weft_diagnosis_is_trifle(const struct weft_diagnosis *diagnosis);

/* Is a single execution that lasts `ns` worth telling of? Of a function that nobody asked about, if
 * it is 100 ms longer than usual, or a twentieth of the time that was recorded. */
bool weft_execution_is_noticed(const struct weft_diagnosis *diagnosis, uint64_t ns);

#endif
