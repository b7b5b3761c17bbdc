/* SPDX-License-Identifier: MIT
 *
 * Traces of a kernel tell of the whole machine: which threads are of the program that a trace is
 * about, where no recording says so (docs/analyses/interplay.md, "The program").
 */
#ifndef WEFT_SCHEMA_PROGRAM_H
#define WEFT_SCHEMA_PROGRAM_H

#include <stdint.h>

/* What says so. */
enum weft_program_by {
    WEFT_PROGRAM_ALL,    /* nothing: no thread is left out */
    WEFT_PROGRAM_TOLD,   /* calls, or events of locks, that only processes of the program have */
    WEFT_PROGRAM_UNTOLD, /* a kernel alone tells: all but tracers, by their names, and idling */
    WEFT_PROGRAM_BYS,
};

/* Stable name: "told". */
const char *weft_program_by_name(enum weft_program_by by);

/* What a table is not about. */
struct weft_left_out {
    uint32_t threads, processes;
    uint8_t by; /* enum weft_program_by */
};

#endif
