/* SPDX-License-Identifier: MIT
 *
 * libweft-preload.so: its constructor, the table of the real functions that its wrappers call, and
 * its settings. Look-up happens once, before the program's own constructors; dlsym must not run
 * inside a wrapper. The wrappers are in locks.c, waits.c, io.c, threads.c and exec.c.
 */
#include "record/runtime/reach.h"
#include "record/runtime/real.h"

#include <dlfcn.h>

struct weft_real weft_real;
bool weft_operations_are_off;
bool weft_requests_are_all;

/* Conditions have had two layouts in the C library of x86-64; the real ones are the newer. All else
 * that has two versions is one function. */
#ifdef __x86_64__
#define NEWER_CONDITION "GLIBC_2.3.2"
#else
#define NEWER_CONDITION "GLIBC_2.17"
#endif

static void *look_up(const char *name)
{
    void *found = NULL;
    if (strncmp(name, "pthread_cond_", 13) == 0 && strcmp(name, "pthread_cond_clockwait") != 0)
        found = dlvsym(RTLD_NEXT, name, NEWER_CONDITION);
    return found ? found : dlsym(RTLD_NEXT, name);
}

void weft_real_resolve(void)
{
    const int kept_errno = errno;
#define RESOLVE(name)                                                                              \
    if (!weft_real.name)                                                                           \
        *(void **)&weft_real.name = look_up(#name);
    WEFT_REAL_FUNCTIONS(RESOLVE)
#undef RESOLVE
    errno = kept_errno;
}

const enum weft_ring_library weft_library = WEFT_RING_OPERATIONS;

void weft_library_begin(void)
{
    weft_operations_are_off = weft_reach_setting("WEFT_RECORD_OPERATIONS", 1) == 0;
    weft_requests_are_all = weft_reach_setting("WEFT_RECORD_REQUESTS", 0) != 0;
    weft_threads_begin();
    weft_marks_begin();
}

__attribute__((constructor(101))) static void preload_begin(void)
{
    weft_real_resolve();
    weft_ring_begin();
    weft_exec_begin();
}
