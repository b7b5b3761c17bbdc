/* SPDX-License-Identifier: MIT
 *
 * Marks for programs that weft records: what the program is doing, in its own words.
 *
 *     #include <weft/mark.h>
 *
 *     weft_mark_begin("request", id);
 *     ...
 *     weft_mark_metric(id, "bytes", 4096);
 *     weft_mark_end("request", id);
 *
 * Nothing is linked and nothing is needed when the program runs: it is this header alone, for C99
 * and C++11 and later, with gcc or clang on Linux. A mark is a load and a branch when `weft record`
 * did not start the program (and in static executables always), some 20 ns when it did. Elsewhere,
 * and with WEFT_MARK_OFF defined, it is nothing.
 *
 * On x86-64 each mark is a USDT probe, too, of provider `weft`, in place of a 5-byte nop: for perf,
 * bpftrace and SystemTap. WEFT_MARK_NO_PROBES leaves them out.
 *
 * Texts are read when the mark is made, up to 480 bytes. Marks may be made from signal handlers.
 */
#ifndef WEFT_MARK_H
#define WEFT_MARK_H

#include <stdint.h>
#include <string.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* What weft's library offers: WEFT_MARK_HOOKS names such a structure. Grows at its end. */
struct weft_mark_hooks {
    uint32_t n_bytes; /* of this structure */
    uint32_t is_on;   /* 0: the program is not recorded */
    void (*mark)(uint32_t what, uint64_t id, double value, const char *text);
};
#define WEFT_MARK_HOOKS "weft_mark_hooks_1"

enum weft_mark_what { /* numbers that stay */
                      WEFT_MARK_BEGIN,
                      WEFT_MARK_END,
                      WEFT_MARK_METRIC,
                      WEFT_MARK_INSTANT,
                      WEFT_MARK_COUNTER,
                      WEFT_MARK_TASK_QUEUED,
                      WEFT_MARK_TASK_BEGIN,
                      WEFT_MARK_TASK_END,
                      WEFT_MARK_THREAD_NAME,
                      WEFT_MARK_SNAPSHOT
};

#define WEFT_MARK_INLINE static inline __attribute__((no_instrument_function, unused))

#if defined(__GNUC__) && defined(__linux__) && !defined(WEFT_MARK_OFF)

/* One for an executable or library, however many of its sources include this. */
__attribute__((weak, visibility("hidden"))) const struct weft_mark_hooks *weft_mark_hooks_ = 0;

/* The library comes by preloading, so no symbol of it is known when the program is linked, and an
 * undefined weak one would be fixed to 0 in executables that are not position-independent. dlsym is
 * known; referred to like this, it is 0 in a static executable unless something else uses it. */
static void *weft_mark_dlsym_(void *, const char *) __attribute__((weakref("dlsym")));

__attribute__((constructor(101), no_instrument_function, unused)) static void weft_mark_find_(void)
{
    const struct weft_mark_hooks *found;
    if (weft_mark_hooks_ || !weft_mark_dlsym_)
        return;
    found = (const struct weft_mark_hooks *)weft_mark_dlsym_(0, WEFT_MARK_HOOKS); /* RTLD_DEFAULT */
    if (found && found->is_on && found->n_bytes >= sizeof *found)
        weft_mark_hooks_ = found;
}

/* Whether marks are recorded: for what is dear to find out. */
WEFT_MARK_INLINE int weft_mark_is_recorded(void)
{
    return weft_mark_hooks_ != 0;
}

#define WEFT_MARK_HOOK_(what, id, value, text)                                                     \
    do {                                                                                           \
        if (__builtin_expect(weft_mark_hooks_ != 0, 0))                                            \
            weft_mark_hooks_->mark((what), (id), (value), (text));                                 \
    } while (0)

#else

WEFT_MARK_INLINE int weft_mark_is_recorded(void)
{
    return 0;
}

#define WEFT_MARK_HOOK_(what, id, value, text) ((void)(id), (void)(value), (void)(text))

#endif

#if defined(__x86_64__) && defined(__LP64__) && defined(__GNUC__) && defined(__linux__) &&         \
    !defined(WEFT_MARK_OFF) && !defined(WEFT_MARK_NO_PROBES)

/* A note as SystemTap's: where the nop is, and where its arguments are. The kernel makes a probe on
 * a nop of 5 bytes a call instead of a trap. */
#define WEFT_MARK_PROBE_(name, first, second, third)                                               \
    __asm__ volatile("990: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"                                   \
                     ".pushsection .note.stapsdt, \"?\", \"note\"\n"                               \
                     ".balign 4\n"                                                                 \
                     ".4byte 992f-991f, 994f-993f, 3\n"                                            \
                     "991: .asciz \"stapsdt\"\n"                                                   \
                     "992: .balign 4\n"                                                            \
                     "993: .8byte 990b, _.stapsdt.base, 0\n"                                       \
                     ".asciz \"weft\"\n"                                                           \
                     ".asciz \"" name "\"\n"                                                       \
                     ".asciz \"8@%0 8@%1 8@%2\"\n"                                                 \
                     "994: .balign 4\n"                                                            \
                     ".popsection\n"                                                               \
                     ".ifndef _.stapsdt.base\n"                                                    \
                     ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"   \
                     ".weak _.stapsdt.base\n"                                                      \
                     ".hidden _.stapsdt.base\n"                                                    \
                     "_.stapsdt.base: .space 1\n"                                                  \
                     ".size _.stapsdt.base, 1\n"                                                   \
                     ".popsection\n"                                                               \
                     ".endif\n"                                                                    \
                     :                                                                             \
                     : "nor"((uint64_t)(uintptr_t)(first)), "nor"((uint64_t)(second)),             \
                       "nor"((uint64_t)(third)))
#else
#define WEFT_MARK_PROBE_(name, first, second, third) ((void)(first), (void)(second), (void)(third))
#endif

WEFT_MARK_INLINE uint64_t weft_mark_bits_(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* An execution of `type` begins on this thread: one of those that weft compares with each other.
 * `id` tells it from others of its type that are under way; it may end on another thread. */
WEFT_MARK_INLINE void weft_mark_begin(const char *type, uint64_t id)
{
    WEFT_MARK_PROBE_("begin", type, id, 0);
    WEFT_MARK_HOOK_(WEFT_MARK_BEGIN, id, 0, type);
}

WEFT_MARK_INLINE void weft_mark_end(const char *type, uint64_t id)
{
    WEFT_MARK_PROBE_("end", type, id, 0);
    WEFT_MARK_HOOK_(WEFT_MARK_END, id, 0, type);
}

/* A number that belongs to the execution `id`. */
WEFT_MARK_INLINE void weft_mark_metric(uint64_t id, const char *name, double value)
{
    WEFT_MARK_PROBE_("metric", name, id, weft_mark_bits_(value));
    WEFT_MARK_HOOK_(WEFT_MARK_METRIC, id, value, name);
}

/* Something happened. */
WEFT_MARK_INLINE void weft_mark_instant(const char *text)
{
    WEFT_MARK_PROBE_("instant", text, 0, 0);
    WEFT_MARK_HOOK_(WEFT_MARK_INSTANT, 0, 0, text);
}

/* `name` has this value from now on. */
WEFT_MARK_INLINE void weft_mark_counter(const char *name, double value)
{
    WEFT_MARK_PROBE_("counter", name, 0, weft_mark_bits_(value));
    WEFT_MARK_HOOK_(WEFT_MARK_COUNTER, 0, value, name);
}

/* Task `id` waits in `queue` for a thread; begins to run on this one; has run. */
WEFT_MARK_INLINE void weft_mark_task_queued(const char *queue, uint64_t id)
{
    WEFT_MARK_PROBE_("task_queued", queue, id, 0);
    WEFT_MARK_HOOK_(WEFT_MARK_TASK_QUEUED, id, 0, queue);
}

WEFT_MARK_INLINE void weft_mark_task_begin(const char *queue, uint64_t id)
{
    WEFT_MARK_PROBE_("task_begin", queue, id, 0);
    WEFT_MARK_HOOK_(WEFT_MARK_TASK_BEGIN, id, 0, queue);
}

WEFT_MARK_INLINE void weft_mark_task_end(const char *queue, uint64_t id)
{
    WEFT_MARK_PROBE_("task_end", queue, id, 0);
    WEFT_MARK_HOOK_(WEFT_MARK_TASK_END, id, 0, queue);
}

/* The calling thread's name, longer than the kernel's 15 bytes if need be. */
WEFT_MARK_INLINE void weft_mark_thread_name(const char *name)
{
    WEFT_MARK_PROBE_("thread_name", name, 0, 0);
    WEFT_MARK_HOOK_(WEFT_MARK_THREAD_NAME, 0, 0, name);
}

/* Asks a recorder that keeps only the last seconds (`weft record --snapshot`) to write them now. */
WEFT_MARK_INLINE void weft_mark_snapshot(const char *why)
{
    WEFT_MARK_PROBE_("snapshot", why, 0, 0);
    WEFT_MARK_HOOK_(WEFT_MARK_SNAPSHOT, 0, 0, why);
}

#if defined(__cplusplus)
}
#endif

#endif
