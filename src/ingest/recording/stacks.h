/* SPDX-License-Identifier: MIT
 *
 * Stacks as folded text, "outer;inner": of samples of CPUs, with the kernel's side, and of long
 * waits, without it. The stack of a wait is recorded when the wait is over, but shows where it
 * began: it is met in the first reading, and delivered before the switch that the wait began with
 * in the second.
 */
#ifndef WEFT_INGEST_RECORDING_STACKS_H
#define WEFT_INGEST_RECORDING_STACKS_H

#include "base/map.h"
#include "ingest/recording/spaces.h"
#include "ingest/recording/starts.h"
#include "symbols/folded.h"
#include "symbols/walk.h"

enum { REC_MOST_FRAMES = WEFT_WALK_MOST, REC_MOST_KERNEL_FRAMES = 64, REC_KERNEL_SIDES = 64 };

/* The kernel's side of a sample, until the user's side follows. */
struct rec_kernel_side {
    uint32_t tid; /* 0: none waits */
    uint32_t n;
    uint64_t time_ns;
    uint64_t frames[REC_MOST_KERNEL_FRAMES]; /* innermost first */
};

/* Frames of threads by their place: where a stack was walked to its end, the frame outside each. */
struct rec_outer {
    struct weft_map *of_place; /* mix of thread, address, stack pointer -> index in `items` */
    struct {
        struct rec_outer_frame {
            uint64_t address, pointer;
            uint32_t tid;
            uint32_t next; /* index of the frame outside it; UINT32_MAX: it is the outermost */
        } * items;
        size_t n, cap;
    };
};

/* Where in the program a stack is, in `texts` of the stacks; WEFT_ID_NONE if it is not known. */
struct rec_stack_site {
    uint32_t function; /* its innermost function of the program */
    uint32_t callers;  /* those of the program that called it, "outer > inner" */
};

struct rec_stacks {
    struct rec_spaces *spaces;
    struct weft_folded folded;
    struct weft_map *of_place; /* (path, offset, back) -> index in `name_of` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } name_of;
    struct weft_walker *walker; /* of copies */
    uint64_t n_run_out;         /* copies that were shorter than their stack */
    struct weft_strtab *keys;   /* (image, payload) -> index in `text_of` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } text_of, start_of;
    struct {
        struct rec_stack_site *items; /* by text */
        size_t n, cap;
    } site_of;
    bool wants_starts; /* of stacks that are made now */
    struct {
        struct rec_jit_counts *items; /* by text */
        size_t n, cap;
    } counts_of;
    struct rec_jit_view jit;      /* of the stack in work */
    struct rec_jit_counts counts; /* of the stack made last */
    enum rec_jit_found frame_jit; /* of the frame that was named last */
    bool is_frame_system;         /* likewise: not of the program */
    struct rec_stack_site site;   /* of the stack made last */
    uint32_t start;               /* of the stack made last: names of its outermost functions of the
                                     program (starts.h), in `texts`; WEFT_ID_NONE: unknown */
    struct weft_strtab *texts;
    struct weft_json_text text, key; /* being made */
    uint64_t *frames;                /* REC_MOST_FRAMES, of the stack in work */
    uint64_t *pointers;              /* stack pointers in them, of a copy */
    struct rec_outer outer;
    int code_fd; /* a module's file, to look at code in; -1: none */
    uint32_t code_module;
    struct rec_kernel_side *sides;      /* REC_KERNEL_SIDES, by tid */
    const struct rec_kernel_side *side; /* of the stack in work; NULL: it has none */
    struct weft_map *of_tid;            /* -> index in `left_ns` */
    struct {
        uint64_t *items; /* CLOCK_MONOTONIC when the thread left its CPU to wait */
        size_t n, cap;
    } left_ns;
    struct weft_map *of_wait; /* (tid, when it left) -> index in `waits` */
    struct {
        struct rec_stack_wait {
            uint64_t ns; /* CLOCK_MONOTONIC when it began */
            uint32_t tid;
            uint32_t text; /* in `texts` */
            struct rec_stack_site site;
        } * items;
        size_t n, cap;
    } waits;
    uint32_t *by_thread; /* waits in order of thread and time, once surveyed */
};

/* False without memory. `memory_bytes`: the ceiling that all share; 0: none. */
bool rec_stacks_init(struct rec_stacks *stacks, struct rec_spaces *spaces, uint64_t memory_bytes);
void rec_stacks_fini(struct rec_stacks *stacks);
/* Goes back to the first record; what was met stays. */
void rec_stacks_rewind(struct rec_stacks *stacks);

/* A KERNEL_FRAMES; the thread's next stack takes it. */
void rec_stacks_take_side(struct rec_stacks *stacks, const struct weft_kernel_record *record,
                          const uint8_t *payload);

/* The stack in a STACK or STACK_COPY, with the kernel's side; empty: it holds none. False without
 * memory. */
bool rec_stack_text(struct rec_stacks *stacks, const struct weft_kernel_record *record,
                    const uint8_t *payload, struct weft_str *text);

/* Names of the program's functions that the stack made last begins with, "worker;serve"; empty: it
 * does not show where its thread began, or stacks->wants_starts is off. */
struct weft_str rec_stack_start(const struct rec_stacks *stacks);

/* A thread leaves its CPU to wait. False without memory. */
bool rec_stacks_leave(struct rec_stacks *stacks, uint32_t tid, uint64_t ns);
/* This is the stack of the wait that the thread has come back from. False in *is_met: it is not
 * known when that began. False without memory. */
bool rec_stacks_meet(struct rec_stacks *stacks, uint32_t tid, struct weft_str text, bool *is_met);
/* When the thread left its CPU last; false: that was not seen. */
bool rec_stacks_left(const struct rec_stacks *stacks, uint32_t tid, uint64_t *ns);
/* Has the thread been seen to leave? */
bool rec_stacks_has_left(const struct rec_stacks *stacks, uint32_t tid);
/* The stack of the wait that begins now, and where it is; empty: none was met. */
struct weft_str rec_stacks_wait(const struct rec_stacks *stacks, uint32_t tid, uint64_t ns,
                                struct rec_stack_site *site);
/* A text of a site; empty: it is not known. */
struct weft_str rec_stacks_name(const struct rec_stacks *stacks, uint32_t id);

/* No wait is met any more: the next function may be called. False without memory. */
bool rec_stacks_end_survey(struct rec_stacks *stacks);
/* Functions of the program that called the one in which the thread waited, in its first wait from
 * `from_ns` to `to_ns` (CLOCK_MONOTONIC); empty: unknown. Safe on several threads. O(log waits). */
struct weft_str rec_stacks_callers(const struct rec_stacks *stacks, uint32_t tid, uint64_t from_ns,
                                   uint64_t to_ns);

#endif
