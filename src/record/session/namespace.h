/* SPDX-License-Identifier: MIT
 *
 * Processes and threads name themselves by the numbers that they have in their own pid namespace,
 * where equal numbers may be other processes. This finds their numbers in the recorder's namespace.
 */
#ifndef WEFT_RECORD_SESSION_NAMESPACE_H
#define WEFT_RECORD_SESSION_NAMESPACE_H

#include "base/map.h"
#include "record/session/proc.h"

/* One that cannot be found any more is what it calls itself + WEFT_NUMBER_UNKNOWN: no process of
 * this machine has such a number. */

/* Is this inode that of another pid namespace than ours? 0, not known, is not. */
bool namespace_is_other(uint32_t inode);

/* The number here of each process of another namespace that was named so far: it is called the same
 * as long as the recording lasts, also when it is gone, until its number there is that of another
 * one: the kernel gives inodes of namespaces again at once. All zero is none. */
struct namespaces {
    struct weft_map *of_own; /* number | inode << 32 -> place in `numbers` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } numbers;
    unsigned n_looks; /* through /proc, since the last namespaces_age */
};
void namespaces_fini(struct namespaces *spaces);

/* /proc may have changed: it is looked through again, a few times, when processes are not known. */
void namespaces_age(struct namespaces *spaces);

/* The number here of the process that calls itself `pid` in the namespace `inode`. */
uint32_t namespaces_pid(struct namespaces *spaces, uint32_t inode, uint32_t pid,
                        struct proc_text *room);

/* The process `pid`, as it is here, if it is of another namespace: those that are known keep their
 * numbers, unless they are gone. Gives that. */
uint32_t namespaces_meet(struct namespaces *spaces, uint32_t pid, struct proc_text *room);

/* The number here of the process that calls itself `pid` in the namespace `inode` and has a file
 * mapped in whose path `ring` ("weft-AbCdEf/12.") is a part. */
uint32_t namespaces_writer(struct namespaces *spaces, uint32_t inode, uint32_t pid,
                           const char *ring, struct proc_text *room);

/* What the process `pid` (as it is here) calls itself; 0: that cannot be read. */
uint32_t namespace_own_number(uint32_t pid, struct proc_text *room);

/* The number here of the thread of process `pid` (as it is here) that calls itself `tid`. */
uint32_t namespace_tid(uint32_t pid, uint32_t tid, struct proc_text *room);

#endif
