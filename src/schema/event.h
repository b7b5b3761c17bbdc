/* SPDX-License-Identifier: MIT
 *
 * The vocabulary of events. Times are nanoseconds since the trace's own zero (struct weft_clock
 * says where that lies). Ids are dense u32 given by the sink; function keys are chosen by the
 * importer (see sink.h). Nothing here owns memory.
 */
#ifndef WEFT_SCHEMA_EVENT_H
#define WEFT_SCHEMA_EVENT_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WEFT_ID_NONE UINT32_MAX

/* One function-call event: the hot path, 16 bytes. Time-ordered within a thread. */
enum weft_call_kind {
    WEFT_CALL_ENTER = 0,
    WEFT_CALL_EXIT = 1,
    WEFT_CALL_TAIL_EXIT = 2,   /* the function leaves by a tail call: what follows is its sibling */
    WEFT_CALL_ARG = 3,         /* belongs to the preceding ENTER; `value` is the argument */
    WEFT_CALL_MARKED_EXIT = 4, /* an exit whose call gets `flags`: of a trace delivered again */
};

struct weft_call_event {
    union {
        uint64_t time_ns;
        uint64_t value; /* WEFT_CALL_ARG */
    };
    uint32_t function_key;
    uint8_t kind;  /* enum weft_call_kind */
    uint8_t flags; /* WEFT_CALL_MARKED_EXIT: enum weft_call_flag, but for CUT_START; else 0 */
    uint8_t reserved[2];
};
_Static_assert(sizeof(struct weft_call_event) == 16, "the call event is the hot path");

/* Flags of a stored call; absent for nearly all. */
enum weft_call_flag {
    WEFT_CALL_CUT_START = 1, /* entered before the trace: begins at the trace's start */
    WEFT_CALL_CUT_END = 2,   /* still open at the end: ends at the thread's last event */
    WEFT_CALL_REPAIRED = 4,  /* its exit is missing: closed when a caller's exit was seen, or by one
                                that may be a later call's, records between them being lost */
    WEFT_CALL_TAIL = 8,      /* left by a tail call */
};

enum { WEFT_CALL_N_FLAGS = 4 };

/* Stable name ("cut_start") of the flag 1 << `place`, place < WEFT_CALL_N_FLAGS. */
const char *weft_call_flag_name(unsigned place);
/* The flag of that name, or 0. */
uint8_t weft_call_flag_named(struct weft_str name);

enum weft_event_kind {
    WEFT_EVENT_SPAN,      /* named interval that is no call (asynchronous): name, category,
                             duration_ns, value = the source's id, payload; next_thread_id = where
                             it ended, if on another thread */
    WEFT_EVENT_INSTANT,   /* named point: name, category, value = the source's id, payload */
    WEFT_EVENT_COUNTER,   /* name, value = bits of an IEEE 754 double (weft_counter_value) */
    WEFT_EVENT_SAMPLE,    /* stack sample: weight in value; stack_id, or without one the name is
                             the folded stack ("main;run;step", outermost first); category = the
                             event that was sampled; prev_state = enum weft_sample_mode */
    WEFT_EVENT_SWITCH,    /* scheduling: cpu, thread_id -> next_thread_id, prev_state; value = run
                             time of thread_id since it came, by its own clock, in ns; 0 unknown */
    WEFT_EVENT_WAKING,    /* wakeup edge: thread_id (waker) -> next_thread_id (wakee), cpu */
    WEFT_EVENT_WOKEN,     /* wakee became runnable on cpu */
    WEFT_EVENT_IRQ_ENTER, /* irq, softirq, timer: name = kind, value = vector */
    WEFT_EVENT_IRQ_EXIT,
    WEFT_EVENT_SYSCALL_ENTER, /* name, value = first argument, prev_state = second; of a futex call
                                 object_id = third, if the arguments are known */
    WEFT_EVENT_SYSCALL_EXIT,  /* name, value = return value */
    WEFT_EVENT_LOCK_REQUEST,  /* object_id, name = operation, category = the function that asked,
                                 empty if it is not recorded */
    WEFT_EVENT_LOCK_ACQUIRED, /* prev_state = what the call returned; not 0, in traces of earlier
                                 versions: as LOCK_FAILED */
    WEFT_EVENT_LOCK_RELEASED,
    WEFT_EVENT_IO_BEGIN, /* object_id (file, socket, device), name = operation, value = bytes */
    WEFT_EVENT_IO_END,
    WEFT_EVENT_PACKET_SENT, /* object_id = flow, value = sequence number */
    WEFT_EVENT_PACKET_RECEIVED,
    WEFT_EVENT_FLOW_BEGIN, /* causal arrow: value = flow id */
    WEFT_EVENT_FLOW_END,
    WEFT_EVENT_FORK, /* thread_id -> next_thread_id, value = its pthread_t, or 0 */
    WEFT_EVENT_EXIT,
    WEFT_EVENT_FLOW_STEP,   /* between FLOW_BEGIN and FLOW_END */
    WEFT_EVENT_CALL_ARGS,   /* payload = arguments of the call that the thread entered last, in the
                               source's text; the store sets value = row of that call */
    WEFT_EVENT_LOCK_FAILED, /* an attempt that ended without the lock, as LOCK_ACQUIRED */
    WEFT_EVENT_KINDS,       /* how many there are */
};

/* What the CPU did when the sample was taken. */
enum weft_sample_mode { WEFT_SAMPLE_MODE_UNKNOWN, WEFT_SAMPLE_IN_USER, WEFT_SAMPLE_IN_KERNEL };

/* Joined to the subtype of a SPAN whose end was not seen: it lasts until the trace ends; and of one
 * that began before the trace, or the part of it that was cut out. */
enum { WEFT_SPAN_OPEN = 0x100, WEFT_SPAN_CUT = 0x200 };

/* Any event that is not a function call. Fields that a kind does not name are 0 / NONE / empty. */
struct weft_event {
    uint64_t time_ns;
    uint64_t duration_ns;
    uint64_t value;
    uint32_t next_thread_id;
    uint32_t object_id;
    uint32_t stack_id;
    int32_t cpu;         /* -1 unknown */
    uint32_t prev_state; /* SWITCH: the state left; other kinds: the source's own subtype, or 0 */
    enum weft_event_kind kind;
    struct weft_str name;
    struct weft_str category;
    struct weft_str payload; /* raw bytes, kept as they came */
};

/* Joined to the prev_state of a SWITCH to no thread that is known, on no CPU: it was not seen. The
 * thread was off its CPU, in that state, before the trace began. */
enum { WEFT_SWITCH_EARLIER = 0x10000 };

/* Joined to the prev_state of an EXIT: it was before the trace began, and the thread has not left
 * its CPU for the last time. The event says nothing of where the thread is at its own time. */
enum { WEFT_EXIT_EARLIER = 0x10000 };

/* The value of a COUNTER. */
static inline uint64_t weft_counter_value(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double weft_counter_double(uint64_t value)
{
    double number;
    memcpy(&number, &value, sizeof number);
    return number;
}

/* Stable lower-case name ("lock_request"). */
const char *weft_event_kind_name(enum weft_event_kind kind);

/* Recorded by a kernel: scheduling, interrupts, system calls, requests, packets, processes. */
bool weft_event_is_kernel(enum weft_event_kind kind);

/* Is a system call of this name the futex call, as argument 1 its address, 2 its operation? */
bool weft_event_is_futex(struct weft_str call);

/* A thread, as the importer found it: (host, pid, tid, generation) is its identity. */
struct weft_thread_info {
    uint64_t tid;
    uint64_t pid; /* 0 unknown */
    uint32_t host_id;
    uint32_t generation;  /* counts reuses of the tid, from 0 */
    bool is_foreign;      /* one program was recorded, and the thread is not of its processes */
    struct weft_str name; /* empty if unknown */
};

/* A function: identity is (module, name) or (module, address). */
struct weft_function_info {
    uint32_t key;         /* importer's number, unique in the trace */
    struct weft_str name; /* empty: shown as #key */
    struct weft_str module;
    uint64_t address;         /* 0 unknown */
    struct weft_str build_id; /* of the module, raw bytes; empty: unknown. Not stored */
};

/* The same as analyses and front ends see it. Functions of the same (module, name) are several
 * functions with one `group_id`: they are shown together. Groups are numbered by first member. */
struct weft_function {
    struct weft_str name; /* never empty: "#17" if unnamed; valid UTF-8 for display */
    struct weft_str module;
    uint64_t address;
    uint32_t key;
    uint32_t group_id;
    uint32_t n_in_group; /* functions that share the name */
};

/* A variable of a process that threads wait for, as a lock: what a program calls it. Of several
 * names for one place the first one counts. */
struct weft_object_info {
    uint64_t pid, address;
    uint32_t host_id;
    struct weft_str name;
};

/* A function of a library that occurs in stacks, as they name it. */
struct weft_library_function {
    struct weft_str name, module; /* "msort_with_tmp", "libc.so.6" */
};

/* Is the module, by its file name, one of the libraries that programs of any kind use: libc, C++'s,
 * those of compression and of cryptography? */
bool weft_module_is_library(struct weft_str path);

struct weft_clock {
    uint64_t frequency_hz; /* of the source's ticks; 1e9 if it already counted ns */
    uint64_t zero_ticks;   /* the source's tick that became time 0 */
    uint64_t monotonic_ns; /* CLOCK_MONOTONIC at time 0, if has_monotonic */
    uint64_t realtime_ns;  /* wall clock at time 0 since the epoch, if has_realtime */
    bool has_monotonic;
    bool has_realtime;
};

/* Time 0 in ns of the clock that absolute times are of: CLOCK_MONOTONIC if known, else the source's
 * own. */
uint64_t weft_clock_zero_ns(const struct weft_clock *clock);

/* What an importer or the sink had to mend or give up. One row a (kind, place). */
enum weft_note_kind {
    WEFT_NOTE_DUPLICATE_BUFFER,       /* dropped: a byte-identical copy; count = events */
    WEFT_NOTE_EXIT_WITHOUT_ENTRY_CUT, /* the call was open before the trace */
    WEFT_NOTE_EXIT_IGNORED,           /* exit that matches nothing on the stack */
    WEFT_NOTE_MISSING_EXIT,           /* calls closed when a caller's exit was seen */
    WEFT_NOTE_OPEN_AT_END,            /* calls closed at the thread's last event */
    WEFT_NOTE_TIME_BACKWARD,          /* time stepped back in a thread; clamped */
    WEFT_NOTE_TRUNCATED,              /* the input ends early; count = bytes not read */
    WEFT_NOTE_BAD_RECORD,       /* record that contradicts the format; skipped; count = bytes */
    WEFT_NOTE_UNKNOWN_RECORD,   /* well-formed record of an unknown kind; skipped */
    WEFT_NOTE_LOST_RECORDS,     /* the source says it lost records; count = records if known */
    WEFT_NOTE_UNNAMED_FUNCTION, /* functions without a name, shown as #key */
    WEFT_NOTE_NOT_KEPT,         /* events, or parts of them, beyond the limits of the store */
    WEFT_NOTE_DEPTH_LIMIT,      /* calls deeper than the limit; dropped */
    WEFT_NOTE_FOREIGN_MAP,      /* functions with numbers that the function map does not reach */
    WEFT_NOTE_EXCERPT,          /* the trace is a part of a longer one; the detail says of which */
    WEFT_NOTE_NOT_ALIGNED,      /* merged traces without a common clock; count = traces */
    WEFT_NOTE_CLOCK_SET,        /* of a host, by packets; count = ns that it may be off */
    WEFT_NOTE_NOT_RECORDED,     /* processes of the program, or parts of them; count = processes */
    WEFT_NOTE_EXCLUDED,         /* likewise, as was asked for */
    WEFT_NOTE_UNWRITTEN,        /* the recording's file could take no more; count = bytes */
    WEFT_NOTE_FORMLESS,         /* events whose format the input lacks: kept without fields */
    WEFT_NOTE_LOST_SWITCHES,    /* of threads; inferred from later events */
    WEFT_NOTE_THREADS_NAMED,    /* threads called after their start functions; count = threads */
    WEFT_NOTE_CONTENDED_ONLY,   /* futex calls of long waits: those of short ones are missing */
    WEFT_NOTE_JIT_UNNAMED,      /* frames of JIT-compiled code; the detail says what names them */
    WEFT_NOTE_KINDS,
};

/* Class of a note: what the user reads. */
enum weft_note_class {
    WEFT_NOTE_CLASS_LOST,     /* data is missing from the trace */
    WEFT_NOTE_CLASS_REPAIRED, /* data was repaired */
    WEFT_NOTE_CLASS_INFO,     /* neither */
};

/* The note counts records that the source lost, whatever they were. */
bool weft_note_is_lost(enum weft_note_kind kind);

const char *weft_note_name(enum weft_note_kind kind); /* stable, "missing_exit" */
const char *weft_note_text(enum weft_note_kind kind); /* "exits missing; closed by a caller's" */
enum weft_note_class weft_note_class_of(enum weft_note_kind kind);

struct weft_note {
    enum weft_note_kind kind;
    uint64_t count;
    uint32_t thread_id;     /* WEFT_ID_NONE: the whole trace */
    uint64_t at_off;        /* first place in the input, or WEFT_NO_OFFSET */
    struct weft_str detail; /* e.g. the event kind that was not kept; may be empty */
};

#endif
