/* SPDX-License-Identifier: MIT */
#include "schema/locks.h"

static const char *const kind_names[WEFT_LOCK_KINDS] = {
    "mutex", "rwlock", "condition", "barrier", "join", "futex", "spinlock", "semaphore"
};
static const char *const source_names[WEFT_LOCK_N_SOURCES] = { "events", "calls", "futex" };

const char *weft_lock_kind_name(enum weft_lock_kind kind)
{
    return (size_t)kind < WEFT_LOCK_KINDS ? kind_names[kind] : "unknown";
}

const char *weft_lock_source_name(unsigned place)
{
    return place < WEFT_LOCK_N_SOURCES ? source_names[place] : "unknown";
}
