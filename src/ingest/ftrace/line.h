/* SPDX-License-Identifier: MIT
 *
 * Lines of text that perf and ftrace print, and the fields in them.
 *
 *     perf script       comm pid/tid [cpu] time: period event: fields
 *     ftrace            comm-tid (pid) [cpu] flags time: event: fields
 */
#ifndef WEFT_INGEST_FTRACE_LINE_H
#define WEFT_INGEST_FTRACE_LINE_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct ftrace_line {
    struct weft_str comm;
    int64_t tid, pid; /* -1: not recorded */
    int32_t cpu;      /* -1: not recorded */
    uint64_t time_ns;
    uint64_t period;        /* 1 if it is not recorded */
    struct weft_str event;  /* "sched:sched_switch", "cpu-clock" */
    struct weft_str fields; /* as they stand there */
    struct weft_str symbol; /* where it happened, if that stands behind the fields */
};

/* False if it is no event. Views of `text`. */
bool ftrace_line_read(struct weft_str text, struct ftrace_line *line);

/* A line of a stack, "  55d0c0 main+0x10 (/bin/prog)": its function; false if it is none. */
bool ftrace_line_frame(struct weft_str text, struct weft_str *symbol);

/* "CPU:0 [LOST 12 EVENTS]", "CPU 1 [12 EVENTS DROPPED]": how many; 0: the line says no such thing.
 */
uint64_t ftrace_line_lost(struct weft_str text);

/* A line between events: empty, a comment, a heading. */
bool ftrace_line_is_heading(struct weft_str text);

/* The machine in perf script's heading ("# arch : x86_64"); empty: it is another line. */
struct weft_str ftrace_line_machine(struct weft_str text);

enum { FTRACE_MOST_FIELDS = 32 };

struct ftrace_field {
    struct weft_str name, value;
};

struct ftrace_fields {
    struct ftrace_field items[FTRACE_MOST_FIELDS];
    uint32_t n;
};

/* The fields of an event, by the names that its tracepoint gives them. `event`: without provider.
 * Further ones than FTRACE_MOST_FIELDS are omitted. O(bytes). */
void ftrace_fields_read(struct weft_str event, struct weft_str text, struct ftrace_fields *fields);

/* The value as a number: decimal, hexadecimal, letters of a thread's state ("D", "R+"), a device
 * ("253,0"). False if it is none. */
bool ftrace_field_number(const struct ftrace_field *field, uint64_t *number);

#endif
