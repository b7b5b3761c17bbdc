/* SPDX-License-Identifier: MIT
 *
 * Traces and their files as one sequence of events in order of time. A trace is a directory with a
 * file "metadata"; every other plain file in it is a data stream. Events of equal time come in the
 * order of traces, then of files by name, then as in their file.
 */
#ifndef WEFT_INGEST_CTF_READER_H
#define WEFT_INGEST_CTF_READER_H

#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/pool.h"
#include "ingest/ctf/packets.h"

/* A data stream file as it is given to a trace. */
struct ctf_stream_input {
    const char *name;
    struct weft_mapped file;
};

struct ctf_input {
    const char *path; /* for errors */
    struct weft_mapped metadata;
    const struct ctf_stream_input *streams;
    size_t n_streams;
};

/* How cycles of a clock become times. */
struct ctf_time_scale {
    struct weft_tick_scale ticks;
    int64_t shift_ns; /* added: what the clock is ahead of the earliest origin of all clocks */
    bool is_ns;       /* cycles are nanoseconds */
};

struct ctf_trace {
    const char *path;
    struct ctf_metadata meta;
    struct ctf_trace_plan plan;
    struct ctf_time_scale *scales; /* by stream of the plan */
    uint32_t index;
};

/* One file in the merge. */
struct ctf_lane {
    struct ctf_file file;
    struct ctf_trace *trace;
    uint64_t time_ns; /* of the event whose header was decoded; never steps back */
    uint32_t index;
    bool is_end;
};

struct ctf_reader {
    struct ctf_trace *traces;
    size_t n_traces;
    struct ctf_lane *lanes;
    size_t n_lanes;
    struct ctf_lane **heap;
    size_t n_heap;
    int64_t origin_ns;           /* time 0 of all events after the epoch, if has_origin */
    bool has_origin;             /* the clocks count from the epoch */
    bool is_unaligned;           /* clocks have no common origin: every one counts from its own */
    bool is_started, is_pending; /* the top of the heap was given out */
    uint64_t n_bytes;            /* of all streams */
    const struct weft_run *run;
};

struct ctf_event {
    const struct ctf_lane *lane; /* lane->file has stream, event, and the values */
    uint64_t time_ns;
};

/* Reads metadata, makes plans, finds packets. Errors name the file. The inputs must outlive the
 * reader. WEFT_E_MALFORMED and others of the metadata; damage in streams is counted, in the lanes.
 * `run` may be NULL. The caller closes, also after a failure. */
WEFT_CHECKED enum weft_code ctf_reader_open(const struct ctf_input *inputs, size_t n_inputs,
                                            const struct weft_run *run, struct ctf_reader *reader,
                                            struct weft_err *err);
void ctf_reader_close(struct ctf_reader *reader);

/* Begins again with the first event; damage that events show is counted again. */
void ctf_reader_rewind(struct ctf_reader *reader);

/* The next event, whose values are valid until the next call. O(log files). */
WEFT_CHECKED enum weft_code ctf_reader_next(struct ctf_reader *reader, struct ctf_event *event,
                                            bool *is_end, struct weft_err *err);

#endif
