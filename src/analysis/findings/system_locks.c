/* SPDX-License-Identifier: MIT
 *
 * By the functions of the runtime that threads enter such a lock in, and by what the thread that
 * wakes them does.
 */
#include "analysis/findings/system_locks.h"

#include "analysis/findings/calls.h"

#include <string.h>

/* What contended monitors of Java's threads are entered by; all of their waits are of conditions.
 */
static bool is_monitor(struct weft_str function)
{
    static const char *const starts[] = { "ObjectMonitor::enter", "ObjectMonitor::Enter",
                                          "ObjectMonitor::ReenterI" };
    return WEFT_STR_BEGINS(function, starts);
}

/* Which lock the function is entered for, by its name. */
static enum weft_system_lock lock_of(const struct weft_frame *function)
{
    uint8_t known = weft_frame_known(&function->in_lock);
    if (!known) {
        const enum weft_system_lock lock =
            weft_str_is_one_of(function->name, "take_gil|gvl_acquire_basic") ? WEFT_SYSTEM_LOCK_GIL
            : is_monitor(function->name) ? WEFT_SYSTEM_LOCK_MONITOR
                                         : WEFT_SYSTEM_LOCK_NONE;
        known = (uint8_t)(1 + lock);
        weft_frame_know(&function->in_lock, known);
    }
    return (enum weft_system_lock)(known - 1);
}

/* The lock of a language's runtime for which a thread waits there: that of Python's or Ruby's
 * interpreter, or a monitor of Java's. Python's programs without symbols still
 * export the variable that its condition is part of. */
static enum weft_system_lock runtime_lock(const struct weft_frame_path *path,
                                          const struct weft_path_part *part)
{
    static const char variable[] = "_PyRuntime";
    const size_t n = sizeof variable - 1;
    const struct weft_frame *last = part->to > part->from ? path->frames[part->to - 1] : NULL;
    if (last && last->kind == WEFT_FRAME_LOCK && last->name.n_bytes > n &&
        memcmp(last->name.bytes, variable, n) == 0 && strchr("+.", last->name.bytes[n]))
        return WEFT_SYSTEM_LOCK_GIL;
    const struct weft_frame *state = part->state < part->to ? path->frames[part->state] : NULL;
    if (part->is_preempted || (state && state->state == WEFT_FRAME_RUNNING))
        return WEFT_SYSTEM_LOCK_NONE;
    enum weft_system_lock found = WEFT_SYSTEM_LOCK_NONE;
    for (size_t i = part->from; i < part->to && found == WEFT_SYSTEM_LOCK_NONE; i++)
        if (path->frames[i]->kind == WEFT_FRAME_FUNCTION)
            found = lock_of(path->frames[i]);
    return found;
}

/* Is the innermost function the program's, or one of libc that touches its memory: memcpy, strlen?
 * Calls of other libraries wait for what these are for. */
static bool may_fault(const struct weft_frame_path *path, const struct weft_path_part *part)
{
    static const char *const starts[] = { "mem", "__mem", "str", "__str", "wmem", "__wmem" };
    for (size_t i = part->to; i-- > part->from;) {
        const struct weft_frame *frame = path->frames[i];
        if (frame->kind == WEFT_FRAME_FUNCTION)
            return !weft_path_is_library(path, part->from, i) ||
                   WEFT_STR_BEGINS(frame->name, starts);
    }
    return true;
}

/* Does a page fault, or a change of the address space, wait for the kernel's lock of that? The
 * thread that wakes it, in the part `next`, is changing it. */
static bool is_of_address_space(const struct weft_frame_path *path,
                                const struct weft_path_part *part,
                                const struct weft_path_part *next)
{
    const struct weft_frame *thread = path->frames[part->to];
    const enum weft_in_call call = weft_call_in(path, part);
    const bool may_be = call == WEFT_IN_FAULT || call == WEFT_IN_MAP || call == WEFT_IN_ALLOCATOR ||
                        (call == WEFT_IN_NONE && may_fault(path, part));
    return may_be && thread->waited_for == 0 && (thread->flags & WEFT_FRAME_OF_PROCESS) &&
           weft_call_in(path, next) == WEFT_IN_MAP;
}

enum weft_system_lock weft_system_lock_of(const struct weft_frame_path *path,
                                          const struct weft_path_part *part,
                                          const struct weft_path_part *next)
{
    return next && is_of_address_space(path, part, next) ? WEFT_SYSTEM_LOCK_MMAP
                                                         : runtime_lock(path, part);
}
