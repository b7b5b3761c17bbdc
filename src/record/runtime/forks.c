/* SPDX-License-Identifier: MIT
 *
 * A signal handler may fork while its thread writes a record, which in the child continues when the
 * handler returns, on memory that is wiped: so the ring is informed in time. A fork by a direct
 * system call in such a handler is not seen here.
 */
#include "record/runtime/journal.h"
#include "record/runtime/ring.h"

#include <dlfcn.h>
#include <unistd.h>

#define WEFT_WRAP __attribute__((visibility("default")))

static pid_t (*real_fork)(void);
static pid_t (*real_fork_alone)(void);

/* When the library is loaded: a handler may not look anything up. */
__attribute__((constructor)) static void resolve(void)
{
    *(void **)&real_fork = dlsym(RTLD_NEXT, "fork");
    *(void **)&real_fork_alone = dlsym(RTLD_NEXT, "_Fork");
}

static pid_t forked(pid_t child, uint64_t ticks, bool begins)
{
    if (child == 0) {
        weft_journal_forked();
        weft_ring_forked(ticks);
    } else if (child > 0 && weft_library == WEFT_RING_OPERATIONS) {
        (void)weft_journal_put(WEFT_JOURNAL_FORK, (uint32_t)child, (uint32_t)getpid(),
                               begins ? WEFT_JOURNAL_CHILD_HAS_RING : 0);
    }
    return child;
}

WEFT_WRAP pid_t fork(void)
{
    if (!real_fork)
        resolve();
    const uint64_t ticks = weft_ring_ticks(); /* before the parent can become another program */
    const bool begins = weft_ring_begins_in_child();
    return forked(real_fork(), ticks, begins);
}

WEFT_WRAP pid_t _Fork(void)
{
    if (!real_fork_alone)
        resolve();
    const uint64_t ticks = weft_ring_ticks();
    const bool begins = weft_ring_begins_in_child();
    return forked(real_fork_alone(), ticks, begins);
}
