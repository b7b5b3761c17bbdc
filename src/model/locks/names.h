/* SPDX-License-Identifier: MIT
 *
 * Functions that work on locks, recognised by their names (docs/analyses/locks.md lists them).
 */
#ifndef WEFT_MODEL_LOCKS_NAMES_H
#define WEFT_MODEL_LOCKS_NAMES_H

#include "base/str.h"
#include "schema/locks.h"

enum weft_lock_role {
    WEFT_LOCK_NO_ROLE,
    WEFT_LOCK_ACQUIRES, /* from its entry to its exit it waits */
    WEFT_LOCK_RELEASES,
    WEFT_LOCK_WAITS, /* for a signal, for others, for a thread's end */
    WEFT_LOCK_SIGNALS,
    WEFT_LOCK_MAKES,   /* a new object begins at the address */
    WEFT_LOCK_UNMAKES, /* and ends */
    WEFT_LOCK_PASSES,  /* is part of how locks are implemented: no call site of a program */
};

struct weft_lock_use {
    uint8_t role; /* enum weft_lock_role */
    uint8_t kind; /* enum weft_lock_kind */
    bool is_shared, is_broadcast;
};

/* What a function of this name does. Of a qualified C++ name the whole name counts, without
 * arguments. */
struct weft_lock_use weft_lock_use_of(struct weft_str name);

/* What an event works on, by the name of its operation: "mutex_lock", "rwlock_rdlock". */
enum weft_lock_kind weft_lock_kind_of_name(struct weft_str name, bool *is_shared);

/* The function of a folded stack in which the thread's program was: the innermost one that is
 * neither the kernel's nor part of how locks are made. */
struct weft_str weft_lock_stack_site(struct weft_str stack);

#endif
