/* SPDX-License-Identifier: MIT
 *
 * Counts modules that come and go, so that the recorder looks at the maps of the process again.
 * Where dlopen searches depends on its caller: so the real one is reached by a jump, with the
 * return address of the caller, and what comes after it is left to the thread's next record.
 */
#include "record/runtime/ring.h"

#include <dlfcn.h>
#include <stddef.h>

#define WEFT_WRAP __attribute__((visibility("default")))

static void *(*real_dlopen)(const char *, int);
static void *(*real_dlmopen)(Lmid_t, const char *, int);
static int (*real_dlclose)(void *);

static void *look_up(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

__attribute__((noinline, cold)) static void resolve(void)
{
    *(void **)&real_dlopen = look_up("dlopen");
    *(void **)&real_dlmopen = look_up("dlmopen");
    *(void **)&real_dlclose = look_up("dlclose");
}

#if defined(__clang__)
#define WEFT_JUMP __attribute__((musttail)) return
#else
#define WEFT_JUMP return /* a sibling call at -O2, as the tests check */
#endif

WEFT_WRAP void *dlopen(const char *path, int flags)
{
    if (!real_dlopen)
        resolve();
    weft_ring_modules_change();
    WEFT_JUMP real_dlopen(path, flags);
}

WEFT_WRAP void *dlmopen(Lmid_t space, const char *path, int flags)
{
    if (!real_dlmopen)
        resolve();
    weft_ring_modules_change();
    WEFT_JUMP real_dlmopen(space, path, flags);
}

WEFT_WRAP int dlclose(void *module)
{
    if (!real_dlclose)
        resolve();
    weft_ring_modules_change();
    WEFT_JUMP real_dlclose(module);
}
