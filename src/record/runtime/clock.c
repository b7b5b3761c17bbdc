/* SPDX-License-Identifier: MIT
 *
 * The flag is the thread's: children and new threads inherit it, other threads keep the counter. So
 * each thread is asked (PR_GET_TSC) at its first record, once any thread has changed its own. The
 * wrapper of prctl sees it in time; a system call past the C library is not seen.
 *
 * Both libraries scale alike, or what one thread does would be out of order: the first one's scale
 * is that of the second, too. Where a thread gets its counter back, its time does not go back.
 *
 * A thread in strict seccomp records nothing more: its stack is marked as one on which a record is
 * being written that never ends, so that each further record is counted as lost, without a system
 * call.
 */
#include "record/runtime/clock.h"

#include "record/runtime/ring.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WEFT_WRAP __attribute__((visibility("default")))

__extension__ typedef unsigned __int128 wide;

enum state { STATE_UNKNOWN, STATE_COUNTER, STATE_CLOCK, STATE_NONE };

bool weft_clock_is_odd = true;
static bool has_changed; /* a thread has lost the counter, or the program began without */
static __thread enum state state;
static __thread uint64_t last_ticks; /* of a thread without a counter */
static int (*real_prctl)(int, ...);

enum {
    LEAST_BASE_NS = 1000000, /* apart, for a rate that is right to a few in 100,000 */
    MOST_WAIT_NS = 20000000, /* for another thread that finds it */
};

/* ticks = base_ticks + (ns - base_ns) * rate / 2^32, found once, by the first thread that needs it.
 * Exported: of the library that was loaded first. */
struct weft_clock_scale {
    uint64_t base_ticks, base_ns;
    _Atomic uint64_t rate; /* 0: unknown; the base is there before it */
    _Atomic bool is_claimed;
    uint64_t start_ticks, start_ns; /* when the program started, to find the rate by */
};
extern struct weft_clock_scale weft_clock_scale;
WEFT_WRAP struct weft_clock_scale weft_clock_scale;

uint64_t weft_clock_ns(void)
{
    struct timespec now = { 0 };
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t counter(void)
{
#ifdef __x86_64__
    return __rdtsc();
#else
    return weft_clock_ns();
#endif
}

static bool has_counter(void)
{
#ifdef __x86_64__
    int how = PR_TSC_ENABLE;
    return syscall(SYS_prctl, PR_GET_TSC, &how, 0, 0, 0) != 0 || how == PR_TSC_ENABLE;
#else
    return true;
#endif
}

/* Both at one moment: of a few tries the one that took the least time. */
static void take_pair(uint64_t *ticks, uint64_t *ns)
{
    uint64_t least = UINT64_MAX;
    for (int k = 0; k < 5; k++) {
        const uint64_t before = counter(), now_ns = weft_clock_ns(), took = counter() - before;
        if (took >= least)
            continue;
        least = took;
        *ticks = before + took / 2;
        *ns = now_ns;
    }
}

bool weft_clock_begin(void)
{
    const int kept_errno = errno;
    const bool is_there = has_counter();
    state = is_there ? STATE_COUNTER : STATE_NONE;
    if (is_there && weft_clock_scale.start_ns == 0)
        take_pair(&weft_clock_scale.start_ticks, &weft_clock_scale.start_ns);
    has_changed = has_changed || !is_there;
    weft_clock_is_odd = has_changed;
    errno = kept_errno;
    return is_there;
}

static uint64_t forward(uint64_t ticks)
{
    return last_ticks = ticks > last_ticks ? ticks : last_ticks;
}

static uint64_t scaled(uint64_t ns)
{
    const struct weft_clock_scale *scale = &weft_clock_scale;
    const uint64_t rate = atomic_load_explicit(&scale->rate, memory_order_acquire);
    const uint64_t since_ns = ns > scale->base_ns ? ns - scale->base_ns : 0;
    return scale->base_ticks + (uint64_t)((wide)since_ns * rate >> 32);
}

uint64_t weft_clock_ticks(void)
{
    const int kept_errno = errno;
    if (state == STATE_UNKNOWN)
        state = has_counter() ? STATE_COUNTER : weft_clock_scale.rate ? STATE_CLOCK : STATE_NONE;
    const uint64_t ticks = state == STATE_COUNTER ? forward(counter())
                           : state == STATE_CLOCK ? forward(scaled(weft_clock_ns()))
                                                  : last_ticks;
    errno = kept_errno;
    return ticks;
}

/* ---- threads that lose the counter */

/* While the counter can still be read; false: its rate is not known. */
static bool find_scale(void)
{
    struct weft_clock_scale *scale = &weft_clock_scale;
    uint64_t ticks = 0, ns = 0;
    if (atomic_exchange(&scale->is_claimed, true)) {
        const uint64_t since_ns = weft_clock_ns();
        while (atomic_load(&scale->rate) == 0 && weft_clock_ns() - since_ns < MOST_WAIT_NS)
            ;
        return atomic_load(&scale->rate) != 0;
    }
    do
        take_pair(&ticks, &ns);
    while (ns - scale->start_ns < LEAST_BASE_NS);
    scale->base_ticks = ticks;
    scale->base_ns = ns;
    if (ticks > scale->start_ticks)
        atomic_store_explicit(
            &scale->rate,
            (uint64_t)(((wide)(ticks - scale->start_ticks) << 32) / (ns - scale->start_ns)),
            memory_order_release);
    return atomic_load(&scale->rate) != 0;
}

static enum state state_after(int option, unsigned long value)
{
    if (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT)
        return STATE_NONE;
    if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV)
        return weft_clock_scale.start_ns ? STATE_CLOCK : STATE_NONE;
    return STATE_COUNTER;
}

/* Before it is changed: a handler may record at once. */
static void change(enum state to)
{
    if (to == STATE_CLOCK && state != STATE_CLOCK && !(has_counter() && find_scale()) &&
        atomic_load(&weft_clock_scale.rate) == 0)
        to = STATE_NONE;
    has_changed = weft_clock_is_odd = true;
    state = to;
    if (to == STATE_NONE)
        weft_ring_end_records();
}

__attribute__((constructor)) static void resolve(void)
{
    *(void **)&real_prctl = dlsym(RTLD_NEXT, "prctl");
}

WEFT_WRAP int prctl(int option, ...)
{
    unsigned long values[4];
    va_list rest;
    va_start(rest, option);
    for (int k = 0; k < 4; k++)
        values[k] = va_arg(rest, unsigned long);
    va_end(rest);
    if (!real_prctl)
        resolve();
    const enum state before = state, after = state_after(option, values[0]);
    const bool is_change = weft_ring_is_on && (option == PR_SET_SECCOMP || option == PR_SET_TSC) &&
                           after != STATE_COUNTER && before != STATE_NONE;
    const uintptr_t busy = weft_ring_thread.busy;
    if (is_change)
        change(after);
    const int result = real_prctl(option, values[0], values[1], values[2], values[3]);
    if (is_change && result != 0) {
        state = before;
        weft_ring_thread.busy = busy;
    } else if (result == 0 && option == PR_SET_TSC && values[0] == PR_TSC_ENABLE) {
        state = STATE_COUNTER;
    }
    return result;
}
