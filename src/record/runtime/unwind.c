/* SPDX-License-Identifier: MIT
 *
 * What the compiler refers to where a cancelled thread, or an exception, unwinds through a wrapper.
 * The unwinder is the program's, or the C library has loaded it for a thread that is cancelled: so
 * it is looked up then. Linked with it, each process that is recorded would load it, and most need
 * it for nothing (0.08 ms).
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* Not <unwind.h>: these would be exported, in place of the program's. */
struct exception;
struct context;
typedef int personality(int version, int actions, uint64_t class, struct exception *exception,
                        struct context *context);

static void *look_up(const char *name)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW);
    void *found = library ? dlsym(library, name) : NULL;
    if (!found)
        abort();
    return found;
}

/* What is found, found once. */
static void *find(_Atomic uintptr_t *known, const char *name)
{
    uintptr_t found = atomic_load_explicit(known, memory_order_relaxed);
    if (!found) {
        found = (uintptr_t)look_up(name);
        atomic_store_explicit(known, found, memory_order_relaxed);
    }
    return (void *)found;
}

personality __gcc_personality_v0;
void _Unwind_Resume(struct exception *exception);

int __gcc_personality_v0(int version, int actions, uint64_t class, struct exception *exception,
                         struct context *context)
{
    static _Atomic uintptr_t known;
    personality *real;
    *(void **)&real = find(&known, "__gcc_personality_v0");
    return real(version, actions, class, exception, context);
}

/* The real one takes its caller, this function, for a frame without a landing pad. */
void _Unwind_Resume(struct exception *exception)
{
    static _Atomic uintptr_t known;
    void (*real)(struct exception *);
    *(void **)&real = find(&known, "_Unwind_Resume");
    real(exception);
    abort();
}
