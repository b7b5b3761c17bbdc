/* SPDX-License-Identifier: MIT
 *
 * Which of the threads that others wait for are event loops: threads that wait for any of several
 * descriptors, and answer one request after the other.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_EVENT_LOOPS_H
#define WEFT_ANALYSIS_FINDINGS_EVENT_LOOPS_H

#include "schema/problems.h"

/* Makes waits for a thread (WEFT_PROBLEM_QUEUE) head-of-line blocking where that thread has its
 * idle point in epoll, poll or select, and slow executions of two threads or more wait for it at
 * one time. False without memory. O(nodes + slow executions * log, a problem). */
bool weft_event_loops_mark(const struct weft_findings_table *findings,
                           struct weft_problems_table *table);

#endif
