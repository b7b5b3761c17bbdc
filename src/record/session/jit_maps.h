/* SPDX-License-Identifier: MIT
 *
 * Names of code that runtimes compile while their programs run: perf maps (/tmp/perf-PID.map) and
 * jitdump files of the recorded processes. The recording takes what they contain, so that it can be
 * read on another machine.
 */
#ifndef WEFT_RECORD_SESSION_JIT_MAPS_H
#define WEFT_RECORD_SESSION_JIT_MAPS_H

#include "record/session/output.h"
#include "record/session/proc.h"

/* A process that has code without a file, or a jitdump. */
struct jit_map {
    uint32_t pid, own_pid;  /* as it calls itself */
    uint32_t user;          /* its real one */
    uint64_t began_ns;      /* CLOCK_REALTIME when the process began; 0: not known */
    int root_fd;            /* its root folder; -1: none */
    int map_fd, dump_fd;    /* the files, once they are there; -1: none */
    uint64_t map_bytes;     /* of the map that were taken */
    uint64_t dump_bytes;    /* of the dump, up to the end of a record */
    uint64_t n_taken_bytes; /* of both, as they are written */
    uint64_t n_dropped_bytes;
    bool has_dump_head, is_dump_over;
    struct {
        struct jit_region {
            uint64_t begin, end;
        } * items; /* memory without a file that can hold code; by address */
        size_t n, cap;
    } regions;
};

struct jit_maps {
    struct session_output *output;
    uint64_t began_ns; /* CLOCK_REALTIME when the recording began */
    struct proc_text room;
    struct {
        struct jit_map *items;
        size_t n, cap;
    };
};

void jit_maps_open(struct jit_maps *maps, struct session_output *output);
void jit_maps_close(struct jit_maps *maps);

/* What a process has mapped now, as /proc/PID/maps. Files that it names are opened, as they may
 * only be read later. False without memory. */
bool jit_maps_look(struct jit_maps *maps, uint32_t pid, struct weft_str text);

/* The process has ended, or (not has_ended) runs another program: what its files contain is
 * written; of one that was never looked at only at its end. What session_put returns. */
WEFT_CHECKED enum weft_code jit_maps_end(struct jit_maps *maps, uint32_t pid, bool has_ended,
                                         struct weft_err *err);

/* Writes what all processes have so far, or what they have added since. `is_final`: the recording
 * ends. */
WEFT_CHECKED enum weft_code jit_maps_put(struct jit_maps *maps, bool is_final,
                                         struct weft_err *err);

#endif
