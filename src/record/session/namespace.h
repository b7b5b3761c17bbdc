/* SPDX-License-Identifier: MIT
 *
 * Processes and threads name themselves by the numbers that they have in their own pid namespace,
 * where those of another one may be somebody else's. Here it is found out who they are.
 */
#ifndef WEFT_RECORD_SESSION_NAMESPACE_H
#define WEFT_RECORD_SESSION_NAMESPACE_H

#include "record/session/proc.h"

/* One that cannot be found any more is what it calls itself + WEFT_NUMBER_UNKNOWN: no process of
 * this machine has such a number. */

/* Is this inode that of another pid namespace than ours? 0, not known, is not. */
bool namespace_is_other(uint32_t inode);

/* The number here of the process of another namespace that calls itself `pid` and has a file mapped
 * in whose path `ring` ("weft-AbCdEf/12.") is a part. */
uint32_t namespace_pid(uint32_t pid, const char *ring, struct proc_text *room);

/* What the process `pid` (as it is here) calls itself; 0: that cannot be read. */
uint32_t namespace_own_number(uint32_t pid, struct proc_text *room);

/* The number here of the thread of process `pid` (as it is here) that calls itself `tid`. */
uint32_t namespace_tid(uint32_t pid, uint32_t tid, struct proc_text *room);

#endif
