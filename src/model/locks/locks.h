/* SPDX-License-Identifier: MIT
 *
 * Operations on locks: which thread requested which lock, when it acquired and released it; and, of
 * each, what ended its wait (docs/analyses/locks.md has the rules).
 *
 *   waits          start ------ got                 the lock that it waits for: another hold,
 *   holds                       got ------- end     which ends at `got` or before
 */
#ifndef WEFT_MODEL_LOCKS_LOCKS_H
#define WEFT_MODEL_LOCKS_LOCKS_H

#include "model/trace.h"
#include "model/twins.h"
#include "schema/locks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Conditions, barriers, joins and other futexes are waited for, but not held: end_ns == got_ns. */
struct weft_lock_op {
    uint64_t start_ns, got_ns, end_ns;
    uint32_t thread_id; /* the representative of the thread and its twins */
    uint32_t object;
    uint32_t site;         /* for weft_locks_site; WEFT_ID_NONE: not known */
    uint32_t release_site; /* likewise: from where it was let go */
    uint16_t flags;        /* enum weft_lock_flag */
    uint8_t source;        /* enum weft_lock_source: of its start */
    uint8_t depth;         /* of what is not held: functions of the program around it; 0: unknown */
};

struct weft_locks;

struct weft_blocking_names;

struct weft_locks_span {
    uint64_t from_ns, to_ns; /* all operations of [from_ns, to_ns) */
    uint64_t pid;            /* of this process of the host, and of unknown ones; 0: all */
    uint32_t host_id;
    bool without_sites; /* calls are not walked only to know where locks were asked for */
    bool without_calls; /* likewise, but sites from events and samples are there */
    const struct weft_blocking_names *names; /* of functions; NULL: those that are known */
};

/* Any number of operations: beyond the limit on memory their lists lie in files (base/room.h). Of
 * `memory_bytes` (0: no bound) a part saves reading events twice. O(n log n) in events of
 * locks; walks all calls if some function is known to work on locks, or for sites. */
WEFT_CHECKED enum weft_code weft_locks_open(const struct weft_trace *trace,
                                            const struct weft_locks_span *span,
                                            uint64_t memory_bytes, struct weft_locks **locks,
                                            struct weft_err *err);
/* NULL is allowed. */
void weft_locks_close(struct weft_locks *locks);

/* By object, then got_ns: of one object in the order in which they got it. */
const struct weft_lock_op *weft_locks_ops(const struct weft_locks *locks, size_t *n_ops);
/* Places in that list, by thread, then got_ns. */
const uint32_t *weft_locks_by_thread(const struct weft_locks *locks);

size_t weft_locks_n_objects(const struct weft_locks *locks);
const struct weft_lock_object *weft_locks_object(const struct weft_locks *locks, uint32_t object);
struct weft_str weft_locks_site(const struct weft_locks *locks, uint32_t site);
const struct weft_twins *weft_locks_twins(const struct weft_locks *locks);
uint64_t weft_locks_unmatched(const struct weft_locks *locks);

/* What ended the wait of an operation: the thread that released, signalled, arrived last or ended,
 * and when, at got_ns at the latest; thread_id is WEFT_ID_NONE if it is unknown. O(operations of
 * the object during the wait). */
struct weft_lock_end {
    uint64_t at_ns;
    uint32_t thread_id;
    uint32_t site; /* for weft_locks_site; WEFT_ID_NONE: not known */
};

struct weft_lock_end weft_locks_ended_by(const struct weft_locks *locks, size_t op);

/* Of a short wait for a condition that time ended, and that the thread began again at once, as
 * often as it took: what ended the last one. thread_id is WEFT_ID_NONE if it is no such wait, or
 * one of more than 2,048 in a row. */
struct weft_lock_end weft_locks_retried_until(const struct weft_locks *locks, size_t op);

/* A thread was woken, or may have been: of what is waited for, but not held. */
struct weft_lock_signal {
    uint64_t at_ns;
    uint32_t thread_id, object, site;
    bool is_broadcast; /* all waiters are woken */
};

/* By object, then time. */
const struct weft_lock_signal *weft_locks_signals(const struct weft_locks *locks,
                                                  size_t *n_signals);

/* Calls `see` for each thread that made the operation wait, and when, within the wait: holders of
 * the lock, latest first; of what is not held, the thread that ended the wait, from its start until
 * then. */
typedef enum weft_code (*weft_locks_see_fn)(void *context, uint32_t thread_id, uint64_t from_ns,
                                            uint64_t to_ns, struct weft_err *err);
WEFT_CHECKED enum weft_code weft_locks_blockers(const struct weft_locks *locks, size_t op,
                                                weft_locks_see_fn see, void *context,
                                                struct weft_err *err);

/* The holder of the lock at got_ns, or the last one that never released it; of a join, the thread
 * that has to end. The thread itself, if no other one has it. WEFT_ID_NONE: not known. */
uint32_t weft_locks_holder(const struct weft_locks *locks, size_t op);

/* Whether another thread made it wait. */
bool weft_locks_is_contended(const struct weft_locks *locks, size_t op);

/* The operation of a thread, or of a twin, whose wait covers most of [from_ns, to_ns]; SIZE_MAX if
 * none touches it. O(log n). */
size_t weft_locks_find(const struct weft_locks *locks, uint32_t thread_id, uint64_t from_ns,
                       uint64_t to_ns);

#endif
