/* SPDX-License-Identifier: MIT
 *
 * From events of a Linux kernel to events of weft, for every format that records them. An event
 * belongs to the thread that runs on its CPU; which one that is follows from switches, and from
 * what the events say themselves.
 *
 * An importer reads its events twice (kernel_read_twice), in order of time: to meet the threads
 * (is_survey: nothing is delivered), and to deliver. Each event goes through kernel_find_thread,
 * unless it is a switch, and then kernel_convert_event, or kernel_deliver for what the importer
 * makes of it.
 */
#ifndef WEFT_KERNEL_CONVERT_H
#define WEFT_KERNEL_CONVERT_H

#include "base/checked.h"
#include "base/pool.h"
#include "kernel/known.h"
#include "kernel/threads.h"
#include "schema/sink.h"
#include "symbols/folded.h"

struct kernel_convert {
    struct weft_sink *sink;
    struct kernel_threads threads;
    bool is_survey; /* the first reading: nothing is delivered */
    struct weft_err *err;
};

/* The event in work. */
struct kernel_now {
    const struct kernel_known *known;
    uint64_t time_ns;
    uint32_t host_id;
    int32_t cpu;         /* -1 unknown */
    enum kernel_abi abi; /* of calls that are recorded by number */
    uint32_t thread;     /* in threads, after it was found */
    uint64_t ran_ns;     /* of a switch: run time of the thread that leaves; 0: unknown */
    uint64_t
        numbers[KERNEL_FIELDS]; /* of known->fields; 0 of one that is no number, or not there */
    struct weft_str texts[KERNEL_FIELDS]; /* likewise, empty */
};

/* What an event says of the thread that it is of. */
struct kernel_details {
    uint64_t tid, pid;
    bool has_tid;
    bool has_pid;
    struct weft_str comm; /* empty: nothing */
};

/* Times since zero; those that no clock reaches are the latest there is. */
static inline uint64_t kernel_time_since(uint64_t time_ns, uint64_t zero_ns)
{
    return weft_min_u64(weft_sub_sat_u64(time_ns, zero_ns), UINT64_C(1) << 63);
}

static inline bool kernel_has(const struct kernel_now *now, unsigned field)
{
    return now->known->fields[field] != KERNEL_NO_FIELD;
}

WEFT_CHECKED enum weft_code kernel_no_memory(struct kernel_convert *convert);

/* An event of no thread, object, stack. */
static inline struct weft_event kernel_event_of(const struct kernel_now *now,
                                                enum weft_event_kind kind)
{
    return (struct weft_event){ .time_ns = now->time_ns,
                                .kind = kind,
                                .cpu = now->cpu,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE };
}

/* Finds the thread that the event belongs to: now->thread. What it says of another thread than the
 * one known to run there shows that a switch was not seen. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code kernel_find_thread(struct kernel_convert *convert,
                                               struct kernel_now *now, struct kernel_cpu *cpu,
                                               const struct kernel_details *details);

/* The same, where the event names the thread that is known to run there, as nearly all do; false:
 * it does not. */
static inline bool kernel_find_running(struct kernel_threads *threads, struct kernel_now *now,
                                       const struct kernel_cpu *cpu, uint64_t tid)
{
    if (cpu->current == WEFT_ID_NONE || !kernel_thread_has(threads, cpu->current, tid))
        return false;
    threads->items[cpu->current].is_used = true;
    now->thread = cpu->current;
    return true;
}

/* Sets name and process of a thread as far as they are recorded. Nothing in the second reading. */
WEFT_CHECKED enum weft_code kernel_thread_details(struct kernel_convert *convert, uint32_t thread,
                                                  const struct kernel_details *details);

/* Hands an event or a call of `thread` to the sink; nothing in the first reading. */
WEFT_CHECKED enum weft_code kernel_deliver(struct kernel_convert *convert, uint32_t thread,
                                           struct weft_event *event);
WEFT_CHECKED enum weft_code kernel_deliver_call(struct kernel_convert *convert, uint32_t thread,
                                                const struct weft_call_event *call);

/* Does what the meaning of the event asks for; nothing for an INSTANT, or a meaning of the
 * importer's own. WEFT_E_NOMEM and the sink's. */
WEFT_CHECKED enum weft_code kernel_convert_event(struct kernel_convert *convert,
                                                 struct kernel_now *now);

/* After an event that describes now->thread as it was when the trace began: delivers that it was in
 * that state (as switches have it) since before, unless it ran, or the first event is its own. */
WEFT_CHECKED enum weft_code kernel_convert_earlier(struct kernel_convert *convert,
                                                   const struct kernel_now *now, uint32_t state);

/* Announces a thread to the sink, unless that was done. */
WEFT_CHECKED enum weft_code kernel_announce_thread(struct kernel_convert *convert,
                                                   struct kernel_thread *thread);
/* Of all that were not announced yet, or only of those that events are of, or point to. */
WEFT_CHECKED enum weft_code kernel_announce_threads(struct kernel_convert *convert, bool all);
WEFT_CHECKED enum weft_code kernel_end_threads(struct kernel_convert *convert);

/* What the two readings of an importer are made of. */
struct kernel_readings {
    void *importer;
    /* Converts the next event, or says that there is none. */
    enum weft_code (*next)(void *importer, bool *is_end);
    /* After the survey: gives the sink begin and clock, and goes back to the first event. */
    enum weft_code (*rewind)(void *importer);
    const char *unit;   /* what `next` takes: "events" */
    bool announces_all; /* threads, also those that no event is of */
};

/* Meets all threads, announces them to the sink, delivers, ends them. `run` may be NULL.
 * WEFT_E_CANCELLED, and what the functions and the sink return. */
WEFT_CHECKED enum weft_code kernel_read_twice(struct kernel_convert *convert,
                                              const struct kernel_readings *readings,
                                              const struct weft_run *run);

/* A note on the whole trace; none if count is 0. */
WEFT_CHECKED enum weft_code kernel_note(struct kernel_convert *convert, enum weft_note_kind kind,
                                        uint64_t count, uint64_t at_off, const char *detail);

/* Announces which functions in stacks are those of libraries (weft_module_is_library). */
WEFT_CHECKED enum weft_code kernel_libraries(struct kernel_convert *convert,
                                             const struct weft_folded *folded);

#endif
