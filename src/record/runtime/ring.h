/* SPDX-License-Identifier: MIT
 *
 * The writer's side of the rings of schema/recording.h, inside a recorded program. What holds here
 * and in all of src/record/runtime: no malloc, no stdio, no lock; errno is kept; when something
 * cannot be had, nothing is recorded, and the program continues. No record waits for the recorder,
 * but for one case: a process that cannot make its file, or read the filters, by itself asks for it
 * (reach.h), and waits for an answer for one second at most, once a file.
 *
 *     static process state         anonymous pages, wiped by fork      the file, shared
 *     weft_ring_thread.here -> struct weft_ring of its slot  ----> slot and its units
 *
 * A thread's way to its units leads through memory that fork gives to the child as zeros, where
 * head == limit: so the child's first record finds no room, asks, and gets a file of its own, and
 * no fast path has to look at process ids. A vfork child shares its parent's memory and is recorded
 * as its parent's thread, which is stopped meanwhile.
 */
#ifndef WEFT_RECORD_RUNTIME_RING_H
#define WEFT_RECORD_RUNTIME_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <x86intrin.h>
#else
#include <time.h>
#endif

#include "record/runtime/clock.h"
#include "schema/recording.h"

#define WEFT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define WEFT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define WEFT_INLINE static inline __attribute__((always_inline))

/* What one thread writes with. All zeros: it has no slot (yet). */
struct weft_ring {
    uint64_t head;       /* units that stand in the ring */
    uint64_t limit;      /* units that may stand there before room must be asked for */
    uint64_t last_ticks; /* of the record before */
    uint64_t mask;       /* n_units - 1 */
    uint32_t *units;
    struct weft_ring_slot *slot;
    uint64_t populated;    /* units of the ring that have memory */
    uint64_t pending_lost; /* records lost that are in no LOST yet */
    uint64_t retry_lost;   /* no memory: asks again when so many have been lost */
    uint64_t n_losts;      /* LOST records written */
    uint64_t reserved[6];
};
_Static_assert(sizeof(struct weft_ring) == 128, "two cache lines");

/* Of one thread. */
struct weft_ring_thread {
    struct weft_ring *here; /* never NULL */
    uintptr_t busy; /* where in the stack the record is written that is being written now; 0:
                       none is */
};
extern __thread struct weft_ring_thread weft_ring_thread;

/* What each library defines: which it is, and what it does once before its first record, when that
 * is wanted. */
extern const enum weft_ring_library weft_library;
void weft_library_begin(void);

/* Makes the file of this process, if it is recorded and has none. Called by the constructor of each
 * library; a record before that (other constructors may run first), and the first of a child, do
 * the same. */
void weft_ring_begin(void);

/* False when this process is known not to be recorded: it was not asked for, its file could not be
 * made, or the recorder has stopped. */
extern bool weft_ring_is_on;

/* A record was asked for while another is being written on the same thread, by a signal handler:
 * counts it as lost. True if the other will never be finished (longjmp from a handler): what it
 * wrote is dropped. */
bool weft_ring_nested(uintptr_t frame);

/* The calling thread records nothing more: each further record is counted as lost. Makes no system
 * call. */
void weft_ring_end_records(void);

/* For the file: this process, or a child of it, is about to become another program. */
void weft_ring_starts_program(void);

/* Makes room for a record of `n_units` at `now`, and for a TIME before it, and writes the LOST and
 * the TIME that must stand before it. NULL when there is no room: the record is counted, unless it
 * is none (0 units). */
struct weft_ring *weft_ring_room(uint64_t n_units, uint64_t now);

/* Called in a child of fork, with the time of that, which its file records. If its parent has
 * written records, the child's file is made now: before it changes its user, root or limits, and
 * closes its descriptors. A record that its parent's thread was writing when a signal's handler
 * forked, and that continues when that returns, is written to nowhere. */
void weft_ring_forked(uint64_t ticks);

/* Would a child that the calling thread forks now make its file then? */
bool weft_ring_begins_in_child(void);

/* The file of this process; NULL: it has none (yet). */
struct weft_ring_file *weft_ring_own_file(void);

/* Gives memory to bytes [from, from + n_bytes) of it; false when there is none (a page without
 * would be a SIGBUS when it is written). */
bool weft_ring_populate(uint64_t from, uint64_t n_bytes);

/* The calling thread is about to load or unload a module. Counted now, and again at its next
 * record, when it is done. */
void weft_ring_modules_change(void);

/* How often any thread began to load or unload one. */
extern _Atomic uint32_t weft_ring_n_openings;

/* A module has come or gone: the recorder looks at the maps again. */
void weft_ring_modules_changed(void);

/* Calls `end` on each thread that ends, before its slot is given back. */
void weft_ring_on_thread_end(void (*end)(void));

/* A new name for the calling thread's slot. */
void weft_ring_rename(const char *name);

/* A record of an operation with any number of words, up to WEFT_OP_WORDS_MAX. */
void weft_ring_put(enum weft_op op, int64_t argument, uint64_t now, const uint64_t *words,
                   unsigned n_words);

/* A record whose words are `n_numbers` (0-2) numbers and then `text`, cut to what fits. */
void weft_ring_put_text(enum weft_op op, int64_t argument, const uint64_t *numbers,
                        unsigned n_numbers, const char *text);

/* Only where weft_clock_is_odd is false. */
WEFT_INLINE uint64_t weft_ring_counter(void)
{
#ifdef __x86_64__
    return __rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

WEFT_INLINE uint64_t weft_ring_ticks(void)
{
    return WEFT_LIKELY(!weft_clock_is_odd) ? weft_ring_counter() : weft_clock_ticks();
}

/* Where the stack of the calling thread ends now. */
WEFT_INLINE uintptr_t weft_ring_stack(void)
{
#ifdef __x86_64__
    uintptr_t end;
    __asm__ volatile("mov %%rsp, %0" : "=r"(end)); /* needs no frame pointer */
    return end;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

WEFT_INLINE void weft_ring_begin_record(uintptr_t frame)
{
    weft_ring_thread.busy = frame;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Begins to write; false when the record must be omitted. Every true is followed by a leave. */
WEFT_INLINE bool weft_ring_enter(void)
{
    const uintptr_t frame = weft_ring_stack();
    if (WEFT_UNLIKELY(weft_ring_thread.busy != 0) && !weft_ring_nested(frame))
        return false;
    weft_ring_begin_record(frame);
    return true;
}

WEFT_INLINE void weft_ring_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    weft_ring_thread.busy = 0;
}

/* Shows the reader all that stands in the ring. */
WEFT_INLINE void weft_ring_publish(struct weft_ring *ring)
{
    atomic_store_explicit(&ring->slot->head, ring->head, memory_order_release);
}

WEFT_INLINE void weft_ring_set_word(uint32_t *units, uint64_t word)
{
    memcpy(units, &word, sizeof word);
}

/* Where n_units can be written in a row, which they then are; NULL where the ring ends before. */
WEFT_INLINE uint32_t *weft_ring_row(struct weft_ring *ring, uint64_t n_units)
{
    const uint64_t at = ring->head & ring->mask;
    if (WEFT_UNLIKELY(at + n_units > ring->mask + 1))
        return NULL;
    ring->head += n_units;
    return &ring->units[at];
}

/* A word whose first unit is the last of the ring continues at its beginning. */
WEFT_INLINE void weft_ring_append(struct weft_ring *ring, uint64_t word)
{
    uint32_t *row = weft_ring_row(ring, WEFT_WORD_UNITS);
    if (WEFT_LIKELY(row != NULL)) {
        weft_ring_set_word(row, word);
    } else {
        ring->units[ring->head++ & ring->mask] = (uint32_t)word;
        ring->units[ring->head++ & ring->mask] = (uint32_t)(word >> 32);
    }
}

WEFT_INLINE uint64_t weft_ring_op_word(enum weft_op op, unsigned n_words, int64_t argument,
                                       uint64_t delta)
{
    return (uint64_t)WEFT_UNIT_OP | (uint64_t)op << WEFT_WORD_OP_SHIFT |
           (uint64_t)n_words << WEFT_WORD_COUNT_SHIFT |
           ((uint64_t)argument & 0x1ffffffff) << WEFT_WORD_ARGUMENT_SHIFT |
           delta << WEFT_WORD_DELTA_SHIFT;
}

/* The ring with room for `n_units`, and in `*delta` the time since the record before; NULL when
 * there is none. */
WEFT_INLINE struct weft_ring *weft_ring_reserve(uint64_t n_units, uint64_t now, uint64_t *delta)
{
    struct weft_ring *ring = weft_ring_thread.here;
    *delta = now - ring->last_ticks;
    if (WEFT_UNLIKELY(*delta > WEFT_DELTA_MAX || ring->head + n_units > ring->limit)) {
        ring = weft_ring_room(n_units, now);
        *delta = 0;
        if (!ring)
            return NULL;
    }
    ring->last_ticks = now;
    return ring;
}

/* Writes a record of two words of its own, the commonest size. */
WEFT_INLINE void weft_ring_put2(enum weft_op op, int64_t argument, uint64_t now, uint64_t first,
                                uint64_t second)
{
    uint64_t delta;
    if (!weft_ring_enter())
        return;
    struct weft_ring *ring = weft_ring_reserve(3 * WEFT_WORD_UNITS, now, &delta);
    if (WEFT_LIKELY(ring != NULL)) {
        const uint64_t front = weft_ring_op_word(op, 2, argument, delta);
        uint32_t *row = weft_ring_row(ring, 3 * WEFT_WORD_UNITS);
        if (WEFT_LIKELY(row != NULL)) {
            weft_ring_set_word(row, front);
            weft_ring_set_word(row + WEFT_WORD_UNITS, first);
            weft_ring_set_word(row + 2 * WEFT_WORD_UNITS, second);
        } else {
            weft_ring_append(ring, front);
            weft_ring_append(ring, first);
            weft_ring_append(ring, second);
        }
        weft_ring_publish(ring);
    }
    weft_ring_leave();
}

#endif
