/* SPDX-License-Identifier: MIT
 *
 * Start functions of threads: a thread that has no name of its own is called after the function of
 * the program that it began in. Stacks show that function below the C library's and the C++
 * library's entry of threads; a library of weft records the routine given to pthread_create.
 */
#ifndef WEFT_INGEST_RECORDING_STARTS_H
#define WEFT_INGEST_RECORDING_STARTS_H

#include "base/str.h"
#include "schema/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The innermost function of the program in a frame, as folded stacks name it, "outer;inner
 * (inlined)": none of its language. Empty: there is none. */
struct weft_str rec_own_function(struct weft_str frame);

/* A frame of a stack, as far as it matters here. */
enum rec_frame_class {
    REC_FRAME_ENTRY, /* of a library in which threads begin: the C library, libstdc++ */
    REC_FRAME_OWN,   /* of the program, or a library of its own */
    REC_FRAME_OTHER,
};

/* By the path of its module; `is_program`: it is the process's own. */
enum rec_frame_class rec_frame_class_of(struct weft_str path, bool is_program);

/* The start of a stack, made frame by frame from the outermost one. */
struct rec_start_text {
    char bytes[1024]; /* up to REC_START_NAMES names, "worker;serve" */
    size_t n_bytes;
    unsigned n_names, n_frames;
    bool is_over; /* further frames do not matter */
    bool is_bad;  /* the stack does not show where its thread began */
};

enum { REC_START_NAMES = 4 };

/* `name` as in a folded stack, with inlined functions behind it; `program`: name of its file. */
void rec_start_put(struct rec_start_text *start, enum rec_frame_class class, struct weft_str name,
                   struct weft_str program);

/* What is known of the threads. */
struct rec_start {
    uint32_t common;  /* names that all stacks begin with, in `texts`; WEFT_ID_NONE: no stack yet */
    uint32_t routine; /* name of the start routine, in `texts`; WEFT_ID_NONE: unknown */
    uint32_t n_stacks; /* that were looked at */
    bool is_given;     /* the program has given the thread its name while it was recorded */
};

struct rec_starts {
    struct weft_strtab *texts;
    struct {
        struct rec_start *items; /* by number of the thread */
        size_t n, cap;
    } threads;
};

bool rec_starts_init(struct rec_starts *starts);
void rec_starts_fini(struct rec_starts *starts);

/* The record of a thread; NULL without memory. Valid until the next call. */
struct rec_start *rec_start_of(struct rec_starts *starts, uint32_t thread);

/* A stack of the thread begins with these names. False without memory. */
bool rec_starts_see(struct rec_starts *starts, uint32_t thread, struct weft_str names);

/* The thread's start routine is the function of this name; what is no function of the program is
 * ignored. False without memory. */
bool rec_starts_routine(struct rec_starts *starts, uint32_t thread, struct weft_str name,
                        struct weft_str program);

/* The name of the thread's start function; empty: it is not certain. Lives as long as `starts`. */
struct weft_str rec_starts_name(const struct rec_starts *starts, uint32_t thread);

#endif
