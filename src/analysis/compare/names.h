/* SPDX-License-Identifier: MIT
 *
 * Which frames of a path name it: what a sentence says of it, and what distinguishes causes.
 */
#ifndef WEFT_ANALYSIS_COMPARE_NAMES_H
#define WEFT_ANALYSIS_COMPARE_NAMES_H

#include "schema/ecct.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_PATH_DEPTH = 1024, /* of a longer path the innermost frames */
    WEFT_NAMED_FUNCTIONS = 4,
};

/* From below the root down. */
struct weft_frame_path {
    const struct weft_frame *frames[WEFT_PATH_DEPTH];
    size_t n;
};

/* Of a node. */
void weft_frame_path_of(const struct weft_ecct_matrix *matrix, uint32_t node,
                        struct weft_frame_path *path);

/* Of frames that were put in from the innermost out. */
void weft_frame_path_turn(struct weft_frame_path *path);

/* Frames [from, to) of one thread: `to` is a thread, or the end of the path. */
struct weft_path_part {
    size_t from, to;
    size_t state; /* the innermost state; `to` without one */
    bool is_preempted;
};

/* The part that begins at `from`. */
struct weft_path_part weft_path_part_at(const struct weft_frame_path *path, size_t from);

/* Places of the functions and locks that say what a thread does, the innermost first: the program's
 * own, which say why, and below them the one of a library that they called, which says how. Of
 * addresses without names only the program's innermost, or a library's if there is nothing else.
 * Their number, at most WEFT_NAMED_FUNCTIONS. */
size_t weft_path_functions(const struct weft_frame_path *path, const struct weft_path_part *part,
                           size_t *places);

/* Where the innermost thread of a path begins, behind its frame; 0: it is the execution's own. */
size_t weft_path_last_thread(const struct weft_frame_path *path);

/* Is the function at `at`, of a part that begins at `from`, of a library? What was inlined is of
 * what it was inlined into. */
bool weft_path_is_library(const struct weft_frame_path *path, size_t from, size_t at);

/* What every program has below its own functions. */
bool weft_frame_is_library(const struct weft_frame *frame);

/* Of the namespaces of C++'s library, whatever it was inlined into, or made for: "std::f",
 * "void std::f<int>()". */
bool weft_name_is_of_std(struct weft_str name);

/* "prog+0x1be1": no name. */
bool weft_frame_is_address(const struct weft_frame *frame);

/* Of the kernel, and no symbol is known: its address says nothing. */
bool weft_frame_is_nameless(const struct weft_frame *frame);

/* Does the path leave the program because another one had the processor? */
bool weft_node_is_outside(const struct weft_ecct_matrix *matrix, uint32_t node);

/* A number that paths of the same words share, but for digits of thread names. */
uint64_t weft_path_likeness(const struct weft_frame_path *path);

/* FNV-1a of a frame's name and kind, going on from `hash`; digits of thread names are left out. */
uint64_t weft_frame_hash(uint64_t hash, const struct weft_frame *frame);
#define WEFT_FRAME_HASH UINT64_C(0xcbf29ce484222325)

#endif
