/* SPDX-License-Identifier: MIT
 *
 * Inside the importer: what is known about a trace between its two phases.
 *
 *   collect   reads the text once. Each event becomes a record of fixed size in a lane of the
 *             sorter; names, threads and stack frames become tables.
 *   deliver   hands the lanes to the sink in order of time. Calls live in their records; other
 *             events are read from the text again, where their record points.
 */
#ifndef WEFT_INGEST_CHROME_TRACE_H
#define WEFT_INGEST_CHROME_TRACE_H

#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/sort.h"
#include "base/str.h"
#include "ingest/chrome/event.h"
#include "schema/nest.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chrome_lane { CHROME_LANE_METADATA, CHROME_LANE_ASYNC, CHROME_LANE_THREADS };

/* Phases of records that have no letter: the bind_id of a call; a complete event of no duration
 * whose level is known. */
enum { CHROME_PHASE_BOUND = 1, CHROME_PHASE_EMPTY };

/* Added to every time, so that it is not negative. */
#define CHROME_BIAS_NS ((uint64_t)WEFT_DECIMAL_MOST_NS)

/* A record of the sorter. */
struct chrome_record {
    uint64_t time;    /* biased ns: what is sorted by */
    uint64_t end;     /* X: biased ns; CHROME_PHASE_EMPTY: the level; has_frame: the frame's id */
    uint64_t off;     /* B, E, X: of the text of args, unless is_whole; others: of the event */
    uint32_t n_bytes; /* B, E, X: of args; 0: none, or is_whole */
    uint32_t key;     /* B, E, X: function; asynchronous: thread; metadata: process */
    char phase;
    union {
        uint8_t match; /* E: enum weft_nest_match */
        uint8_t flags; /* X: enum weft_call_flag, if weft wrote the file */
    };
    uint8_t is_whole; /* B, E, X: `off` is of the event, which says more of the call than args do */
    uint8_t has_frame; /* B, E: nothing more than one stack frame */
    uint8_t reserved[4];
};
_Static_assert(sizeof(struct chrome_record) == sizeof(struct weft_sort_record),
               "a record fits the sorter");

static inline struct chrome_record chrome_record_of(const struct weft_sort_record *sorted)
{
    struct chrome_record record;
    memcpy(&record, sorted, sizeof record);
    return record;
}

struct chrome_thread {
    uint64_t pid, tid;    /* as shown */
    uint32_t process;     /* number of the pid */
    uint32_t label;       /* text of a tid that is no number, or WEFT_ID_NONE */
    uint32_t name;        /* in texts, or WEFT_ID_NONE */
    uint32_t thread_id;   /* the sink's */
    uint64_t first, last; /* biased ns of its events; first UINT64_MAX: it has none */
};

/* What is counted while reading, and becomes a note. */
enum chrome_remark {
    CHROME_BAD_EVENT,
    CHROME_END_DETAILS,
    CHROME_SYSTEM_TRACE,
    CHROME_BAD_COUNTER,
    CHROME_LOST_METADATA,
    CHROME_ASYNC_OPEN,
    CHROME_ASYNC_END,
    CHROME_REMARKS,
};
struct chrome_count {
    uint64_t count, at_off; /* of the first */
};

/* Direct-mapped memory of what was looked up last. */
enum { CHROME_FUNCTION_CACHE = 1024, CHROME_THREAD_CACHE = 64 };

struct chrome_trace {
    const struct weft_mapped *file;
    struct weft_sink *sink;
    const struct weft_run *run;
    struct weft_sorter *sorter;
    struct weft_json_reader reader; /* of the whole file */
    uint64_t n_events;
    uint64_t first, last; /* biased ns of all events */
    bool is_object, is_monotonic, has_stacks, is_weft;

    /* Functions: the id in `functions` is the key; its number there is name << 32 | category + 1.
     */
    struct weft_map *functions;
    struct weft_strtab *names, *categories;
    struct {
        uint32_t *items; /* by name: the first function that has it */
        size_t n, cap;
    } function_of_name;
    uint32_t *name_of_key; /* after collecting */
    struct chrome_function_slot {
        const char *name, *category;
        size_t n_name, n_category;
        uint32_t key;
        bool is_used;
    } function_cache[CHROME_FUNCTION_CACHE];

    /* Threads: ids of numbers for pid and tid, and of the pair. */
    struct weft_map *processes, *tids, *thread_of_pair;
    struct weft_strtab *texts; /* names of threads, labels */
    struct {
        struct chrome_thread *items;
        size_t n, cap;
    } threads;
    uint32_t *order; /* after collecting: threads that have events, in the sink's order */
    uint32_t n_ordered;
    struct chrome_thread_slot {
        uint64_t pid, tid;
        uint32_t thread;
        bool is_used;
    } thread_cache[CHROME_THREAD_CACHE];

    struct chrome_count remarks[CHROME_REMARKS];
    struct weft_json_value stack_frames;
    const char *mistake;             /* what was expected where reading ended, or NULL */
    uint64_t mistake_off, valid_off; /* where it is; what stands before was read */
    struct chrome_text {
        char *items;
        size_t n, cap;
    } scratch;
    uint64_t reported_off;
    struct chrome_event event; /* in work; here because clearing one a time on the stack costs */
};

static inline struct weft_progress *chrome_progress(const struct chrome_trace *trace)
{
    return trace->run ? trace->run->progress : NULL;
}

static inline uint64_t chrome_offset(const struct chrome_trace *trace, const char *at)
{
    return (uint64_t)(at - trace->reader.begin);
}

/* Counts a remark, with its first place. */
void chrome_remark(struct chrome_count remarks[CHROME_REMARKS], enum chrome_remark remark,
                   uint64_t count, uint64_t at_off);

/* A string without its escapes: as it is, or in `text`, where it is appended. False without
 * memory. */
bool chrome_plain(const struct weft_json_value *value, struct chrome_text *text,
                  struct weft_str *plain);

/* collect.c: reads the whole text. A mistake in it is no failure. */
WEFT_CHECKED enum weft_code chrome_collect(struct chrome_trace *trace, struct weft_err *err);

/* tables.c: the function of a name and a category (NULL: none). */
WEFT_CHECKED enum weft_code chrome_function(struct chrome_trace *trace,
                                            const struct weft_json_value *name,
                                            const struct weft_json_value *category, uint32_t *key,
                                            struct weft_err *err);
/* Any function of that name; WEFT_ID_NONE if there is none. */
WEFT_CHECKED enum weft_code chrome_function_named(struct chrome_trace *trace,
                                                  const struct weft_json_value *name, uint32_t *key,
                                                  struct weft_err *err);
/* The thread of an event: its place in `threads`. */
WEFT_CHECKED enum weft_code chrome_thread_of(struct chrome_trace *trace,
                                             const struct chrome_event *event, uint32_t *thread,
                                             struct weft_err *err);
/* The number of an event's process. */
WEFT_CHECKED enum weft_code chrome_process_of(struct chrome_trace *trace,
                                              const struct chrome_event *event, uint32_t *process,
                                              struct weft_err *err);
struct weft_str chrome_function_name(const struct chrome_trace *trace, uint32_t key);
struct weft_str chrome_function_category(const struct chrome_trace *trace, uint32_t key);

/* stacks.c: the table of stack frames. NULL without memory. */
struct chrome_stacks;
struct chrome_stacks *chrome_stacks_new(struct chrome_trace *trace);
void chrome_stacks_free(struct chrome_stacks *stacks);
/* Appends the folded stack of a sample ("main;run;step"); nothing if it has none. False without
 * memory. */
bool chrome_stacks_fold(const struct chrome_stacks *stacks, const struct chrome_event *event,
                        struct chrome_text *text);
/* The frame of an id, if it is one of the function whose name is `name` (its id in names) and lies
 * in the frame `around`, WEFT_MAP_NONE for none; else WEFT_MAP_NONE. */
uint32_t chrome_stacks_frame(const struct chrome_stacks *stacks, uint64_t id, uint32_t name,
                             uint32_t around);
/* True if the id is of that frame. */
bool chrome_stacks_is_frame(const struct chrome_stacks *stacks, uint64_t id, uint32_t frame);
/* True if an event says more than args: the thread's own clock, stacks. */
bool chrome_has_details(const struct chrome_event *event);
/* True if all that it says is a stack, by its frame. */
bool chrome_has_only_frame(const struct chrome_event *event);
/* Appends that as members of a JSON object, behind what the text holds of
 * it. False without memory. */
bool chrome_stacks_put_details(const struct chrome_stacks *stacks, const struct chrome_event *event,
                               struct chrome_text *text);

/* convert.c: an event that is no call, read again from the text. */
struct chrome_converter {
    const struct chrome_trace *trace;
    const struct chrome_stacks *stacks;
    struct chrome_text text; /* names of the event in work */
    struct chrome_text payload;
    struct chrome_count remarks[CHROME_REMARKS];
};
WEFT_CHECKED enum weft_code chrome_read_again(const struct chrome_trace *trace, uint64_t off,
                                              struct chrome_event *event, struct weft_err *err);
/* The arguments of an event and its details, as one text that lies in the converter until its next
 * event. */
WEFT_CHECKED enum weft_code chrome_payload(struct chrome_converter *converter,
                                           const struct chrome_event *source,
                                           struct weft_str *payload, struct weft_err *err);
/* The fields that all kinds share; names lie in the converter until its next event. */
WEFT_CHECKED enum weft_code chrome_convert(struct chrome_converter *converter,
                                           const struct chrome_event *source, uint64_t time_ns,
                                           char phase, struct weft_event *event,
                                           struct weft_err *err);
WEFT_CHECKED enum weft_code chrome_convert_and_send(struct chrome_converter *converter,
                                                    uint32_t thread_id,
                                                    const struct chrome_record *record,
                                                    struct weft_err *err);

/* async.c: pairs begins and ends of asynchronous spans, and delivers them. */
WEFT_CHECKED enum weft_code chrome_deliver_async(struct chrome_trace *trace,
                                                 struct chrome_converter *converter,
                                                 struct weft_err *err);

/* deliver.c: everything, to the sink. */
WEFT_CHECKED enum weft_code chrome_deliver(struct chrome_trace *trace, struct weft_err *err);

/* The arguments of an event as text; empty if it has none, or "{}". */
struct weft_str chrome_args(const struct chrome_event *event);

/* marks.c: what weft's own export says of a call in the last member of its args, besides them. */
struct chrome_marks {
    uint32_t level; /* WEFT_NEST_NO_LEVEL: unknown */
    uint8_t flags;  /* enum weft_call_flag */
};
/* Takes that member off the text; what is left is empty, or lacks its last brace. False if the text
 * has no such member. */
bool chrome_marks_take(struct weft_str *args, struct chrome_marks *marks);

#endif
