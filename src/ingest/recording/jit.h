/* SPDX-License-Identifier: MIT
 *
 * Code that was compiled while its program ran: which function lay at an address without a file,
 * and when, as perf maps and jitdumps of the recording say. A process has such code for each
 * program that it ran.
 */
#ifndef WEFT_INGEST_RECORDING_JIT_H
#define WEFT_INGEST_RECORDING_JIT_H

#include "base/map.h"
#include "base/str.h"
#include "ingest/recording/clocks.h"
#include "ingest/recording/pieces.h"
#include "symbols/jitdump.h"

#define REC_NO_JIT UINT32_MAX

/* Frames of stacks that lie in such code. */
struct rec_jit_counts {
    uint32_t n_named, n_unnamed;
};

struct rec_jit {
    uint32_t pid;
    uint32_t next;    /* of the same process; REC_NO_JIT: none */
    uint64_t from_ns; /* when the program began */
    struct weft_jit_table table;
    struct weft_jitdump dump; /* until all pieces are read */
    bool has_dump;
    struct {
        struct rec_jit_region {
            uint64_t begin, end;
        } * items; /* memory that such code may lie in; by address */
        size_t n, cap;
    } regions;
    uint64_t n_named, n_unnamed; /* frames, as stacks were made */
};

struct rec_jits {
    struct {
        struct rec_jit *items;
        size_t n, cap;
    };
    struct weft_map *of_pid; /* -> index in `first` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } first;
    uint64_t n_bad, bad_off;  /* lines and records that contradict their formats */
    uint64_t n_dropped_bytes; /* that the recorder did not take */
    uint64_t n_dropped;       /* functions beyond the limits */
    uint64_t n_most, n_all;   /* functions of all processes that there is memory for, and so far */
    const struct rec_clocks *clocks;
    size_t clock_at;
};

/* `memory_bytes`: the ceiling that all share; 0: none. */
bool rec_jits_init(struct rec_jits *jits, const struct rec_clocks *clocks, uint64_t memory_bytes);
void rec_jits_fini(struct rec_jits *jits);

/* A piece of kind CODE, in order; of the program that the process runs since `from_ns`. Names go to
 * `texts`. False without memory. */
bool rec_jits_take(struct rec_jits *jits, const struct rec_piece *piece, uint64_t from_ns,
                   struct weft_str payload, struct weft_strtab *texts);
/* All pieces were taken. False without memory. */
bool rec_jits_seal(struct rec_jits *jits);

/* What a process had at a time; REC_NO_JIT: nothing is known. */
uint32_t rec_jit_of(const struct rec_jits *jits, uint32_t pid, uint64_t ns);

/* The code of a process at a time, and that of the process that it was forked from. */
struct rec_jit_view {
    unsigned n;
    struct {
        uint32_t jit, era;
    } parts[2];
};

enum rec_jit_found { REC_JIT_NONE, REC_JIT_UNNAMED, REC_JIT_NAMED };

/* Is the address one of such code, and of which function? `*name`: its number in the texts,
 * perhaps with WEFT_JIT_SYSTEM. */
enum rec_jit_found rec_jit_find(const struct rec_jits *jits, const struct rec_jit_view *view,
                                uint64_t address, uint32_t *name);

#endif
