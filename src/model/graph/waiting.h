/* SPDX-License-Identifier: MIT
 *
 * Functions that wait, and functions that run tasks posted elsewhere, recognised by their names
 * (docs/analyses/activity.md and critical-path.md list the words).
 */
#ifndef WEFT_MODEL_GRAPH_WAITING_H
#define WEFT_MODEL_GRAPH_WAITING_H

#include "base/str.h"

#include <stdbool.h>

/* Whether a function of this name is there to wait. Looks at the last component of a qualified C++
 * name, without arguments, split into words at anything but letters and digits and where lower
 * case turns into upper case. */
bool weft_is_wait_name(struct weft_str name);

/* What a function that waits (the above) waits for, if its name says so: "nanosleep" a timer,
 * "recvmsg" or "accept" the network. Looks at the same words. Those of the C library that wait for
 * descriptors, or for a thread, are recognised by their whole names. */
enum weft_wait_for {
    WEFT_WAITS_FOR_ANY,
    WEFT_WAITS_FOR_TIMER,
    WEFT_WAITS_FOR_NETWORK,
    WEFT_WAITS_FOR_READY,  /* poll, select, epoll_wait */
    WEFT_WAITS_FOR_THREAD, /* pthread_join */
    WEFT_WAITS_FOR_INPUT,  /* read: see weft_may_wait_name */
    WEFT_WAITS_FOR_OUTPUT, /* write, send, connect, fsync: likewise */
};
enum weft_wait_for weft_wait_for_of_name(struct weft_str name);

/* Whether it is a function of the C library that waits now and then, as its whole name says: input
 * and output. A long call of it is a wait, a short one is not. */
bool weft_may_wait_name(struct weft_str name);

/* A function that may send something to another thread: output, a connection that is opened or
 * closed. */
bool weft_is_sending_name(struct weft_str name);

/* Without what libc puts around names of its own: of "__GI___libc_malloc" malloc, of
 * "read@@GLIBC_2.2.5" and "read (inlined)" read. */
struct weft_str weft_libc_name(struct weft_str name);

/* Whether it is one that waits until data are on the disk: fsync, fdatasync. */
bool weft_is_sync_name(struct weft_str name);

/* What a wait in a function for descriptors (READY) is called whose time was over: "poll, timed
 * out". A constant text. */
struct weft_str weft_timed_out_name(struct weft_str name);

/* Whether a function of this name runs one task of many, as the loop of a thread calls it:
 * "RunTask", "process_event". Looks at the same words. */
bool weft_is_task_name(struct weft_str name);

#endif
