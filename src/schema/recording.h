/* SPDX-License-Identifier: MIT
 *
 * What a recording is made of, before it becomes a trace: the rings by which a recorded program
 * hands its events to the recorder, and the file that the recorder writes them to as they are
 * (docs/recording-format.md). `weft record` turns the file into a .weft at the end; the file of a
 * recorder that was killed is an input as any other, and holds all that had been written.
 *
 * Everything is little-endian. A reader treats every byte as hostile: a recorded program can write
 * anything into its rings.
 */
#ifndef WEFT_SCHEMA_RECORDING_H
#define WEFT_SCHEMA_RECORDING_H

#include <stdatomic.h>
#include <stdint.h>

/* ---- rings: one file of shared memory a process and library, one slot a thread
 *
 * The recorder makes a folder and names it in WEFT_RECORD. Each library that is loaded into a
 * process makes one file in it, PID.LIBRARY.N, sparse, and each thread that has something to say
 * takes a free slot. Records are written by the thread alone, in units of 4 bytes: unit i lies at i
 * modulo n_units; `head` counts the units written, always whole records, `tail` those the recorder
 * has read. A thread never waits: a record that finds no room is counted in `lost`, and LOST stands
 * in the ring when there is room again, and a TIME behind it; of those that were lost behind all
 * that stands there, at a thread's end or the recording's, the recorder writes one. A slot begins
 * with a TIME. Of a new program (not after a mere fork) PID.LIBRARY.N.maps, made before the file is
 * ready, is what /proc/self/maps was: a program may be gone before the recorder can ask.
 *
 * Functions are called by numbers, which the file explains: `functions_off` leads to their
 * addresses. A number is given once, by any thread, and its address stands there before the number
 * stands in a record; `n_functions` only grows. Number 0 is address 0.
 */

#define WEFT_RING_MAGIC UINT64_C(0x34474e4952544657) /* "WFTRING4" */
#define WEFT_RING_ENV "WEFT_RECORD"
#define WEFT_RING_ASK_ENV "WEFT_RECORD_ASK" /* NAME:TOKEN of the recorder's socket */

enum weft_ring_library {
    WEFT_RING_OPERATIONS = 1, /* libweft-preload.so: locks, blocking calls, markers */
    WEFT_RING_FUNCTIONS = 2,  /* libweft-functions.so */
};

enum weft_ring_state {
    WEFT_RING_FREE,
    WEFT_RING_LIVE,
    WEFT_RING_ENDED, /* its thread is gone; free again when the recorder has read it */
};

/* One a slot, 128 bytes: two cache lines, the writer's and the reader's. A slot is taken again and
 * again: head, tail and lost continue counting; tid, start_ticks and name are those of the new
 * thread as soon as head lies above the units of the old one. The reader makes an ENDED slot FREE,
 * when tail is head. */
struct weft_ring_slot {
    _Atomic uint32_t state; /* enum weft_ring_state */
    uint32_t tid;
    uint64_t start_ticks;  /* when the thread took the slot; with tid, its identity */
    _Atomic uint64_t head; /* units written */
    _Atomic uint64_t lost; /* records that found no room, ever */
    char name[16];         /* of the thread, when it began or was last renamed */
    /* With a filter by duration, the units from head to here may be taken back; when the process is
     * gone, they are final. Otherwise not above head. */
    _Atomic uint64_t drafted;
    _Atomic uint64_t lost_ticks; /* when the last one was lost */
    _Atomic uint64_t tail;       /* units read */
    uint64_t reserved_reader[7];
};
_Static_assert(sizeof(struct weft_ring_slot) == 128, "two cache lines");

/* The file: this header, n_slots slots, from functions_off on the addresses of functions, and from
 * data_off on the units of each slot. */
struct weft_ring_file {
    _Atomic uint64_t magic; /* written last */
    uint32_t library;       /* enum weft_ring_library */
    uint32_t pid;
    uint32_t n_slots;
    uint32_t n_units;     /* of a slot: a power of two */
    uint64_t data_off;    /* a multiple of the page size */
    uint64_t start_ticks; /* when the library began in this process; of a child, its fork */
    _Atomic uint64_t lost_threads; /* threads that found no slot */
    _Atomic uint32_t is_stopped;   /* set by the recorder: write nothing any more */
    _Atomic uint32_t n_modules;    /* counts dlopen and dlclose: maps have changed */
    uint32_t parent;               /* process id */
    uint32_t pid_namespace;        /* its inode, in which pid and tids count; 0: not known */
    uint64_t functions_off;        /* a multiple of the page size */
    uint32_t functions_cap;        /* addresses that there is place for, 8 bytes each */
    _Atomic uint32_t n_functions;  /* addresses that stand there */
    _Atomic uint32_t n_used;  /* slots that were taken: the first; those behind have no memory */
    _Atomic uint32_t n_freed; /* slots that the recorder has freed so far, modulo 2^32 */
    _Atomic uint32_t n_execs; /* calls that start another program here, or in a child of vfork */
    uint8_t reserved[36];
};
_Static_assert(sizeof(struct weft_ring_file) == 128, "a head as long as a slot's");

/* ---- the journal: one file beside the rings, made by the recorder
 *
 * Which processes there are, where no kernel records it: the library of operations maps it when a
 * program begins, and children of fork inherit the mapping, whatever user, root folder or limits
 * they change to. An entry is claimed by counting `head`, and is whole when `number` is its own
 * number + 1; one that finds no room is counted in `lost`. */

#define WEFT_JOURNAL_MAGIC UINT64_C(0x324c4e524a544657) /* "WFTJRNL2" */
#define WEFT_JOURNAL_NAME "journal"

enum { WEFT_JOURNAL_ENTRIES = 1 << 13, WEFT_JOURNAL_PATH_BYTES = 88 };

enum weft_journal_kind {
    WEFT_JOURNAL_FORK = 1, /* pid: the child; parent: the caller, which writes it; value: 0, or
                              WEFT_JOURNAL_CHILD_HAS_RING */
    WEFT_JOURNAL_EXEC,     /* pid is about to run another program: path, if it is known and fits */
    WEFT_JOURNAL_NO_EXEC,  /* it could not: pid continues as it was */
    WEFT_JOURNAL_NO_RING,  /* pid has the library and no ring; value: enum weft_ring_reach */
};

/* The child makes a ring at once, or reports that it cannot; without this, at its first record. */
enum { WEFT_JOURNAL_CHILD_HAS_RING = 1 };

struct weft_journal_entry { /* 128 bytes */
    _Atomic uint64_t number;
    uint64_t ticks;
    uint32_t pid, parent;
    uint32_t kind; /* enum weft_journal_kind */
    uint32_t value;
    uint32_t pid_namespace; /* its inode, in which pid and parent count; 0: not known */
    uint32_t reserved;
    char path[WEFT_JOURNAL_PATH_BYTES]; /* ended by a NUL */
};

struct weft_journal {
    _Atomic uint64_t magic;
    _Atomic uint64_t head; /* entries claimed */
    _Atomic uint64_t tail; /* entries read */
    _Atomic uint64_t lost;
    uint8_t reserved[32];
    struct weft_journal_entry entries[WEFT_JOURNAL_ENTRIES];
};
_Static_assert(sizeof(struct weft_journal_entry) == 128, "two cache lines");
/* ---- rings of processes that cannot make a file in the folder: of another user, with another root
 * or mount namespace, or with RLIMIT_FSIZE below the size of a file
 *
 * Such a process sends one datagram to the abstract unix socket that WEFT_RECORD_ASK names. The
 * recorder compares the token, takes the process id from the credentials that the kernel adds,
 * makes the file (and, for a new program, its .maps) as the process would have made it, and answers
 * with its descriptor (SCM_RIGHTS), or does not answer. With the same datagram a process reports
 * that it is not recorded, and why. */
enum weft_ring_reach {
    WEFT_REACH_FOLDER,      /* it made its file itself */
    WEFT_REACH_DENIED,      /* the folder belongs to another user */
    WEFT_REACH_ABSENT,      /* no such folder: another root or mount namespace */
    WEFT_REACH_LIMIT,       /* RLIMIT_FSIZE */
    WEFT_REACH_DESCRIPTORS, /* no descriptor was free */
    WEFT_REACH_MEMORY,      /* the file could not be mapped, or no memory was left for it */
    WEFT_REACH_SYSTEM,      /* a system call failed for another reason, or the kernel is too old */
    WEFT_REACH_CLOCK, /* the time stamp counter is disabled (PR_SET_TSC), or seccomp is strict */
    WEFT_REACHES,
};

#define WEFT_ASK_MAGIC UINT64_C(0x314b534154464557) /* "WEFTASK1" */

enum weft_ask_kind {
    WEFT_ASK_RING = 1, /* for the file of a ring */
    WEFT_ASK_FILTER,   /* for the filter of calls, to read */
    WEFT_ASK_NOTHING,  /* reports that the process is not recorded */
};

enum { WEFT_ASK_TOKEN_BYTES = 32 };

struct weft_ask {
    uint64_t magic;
    char token[WEFT_ASK_TOKEN_BYTES];
    uint32_t kind;    /* enum weft_ask_kind */
    uint32_t library; /* enum weft_ring_library */
    uint32_t pid;     /* as the process calls itself */
    uint32_t reach;   /* enum weft_ring_reach: why it asks */
    uint64_t n_bytes; /* of the file */
    uint32_t is_new;  /* a new program, not a child of fork: with .maps */
    uint32_t reserved;
};
_Static_assert(sizeof(struct weft_ask) == 72, "one datagram");

/* ---- records of a ring
 *
 * Bits 0-1 of a record's first unit are its kind. A call is one unit. What is longer is made of
 * words of 8 bytes, the lower unit first; a word that begins in the last unit of the ring ends in
 * the first. Ticks are those of the time stamp counter on x86-64 (elsewhere ns of CLOCK_MONOTONIC);
 * a delta counts from the record before, in 15 bits; after a longer time a TIME comes first. */
enum weft_unit_kind {
    WEFT_UNIT_ENTER, /* bits 2-16 number of the function; 17-31 delta */
    WEFT_UNIT_EXIT,  /* likewise */
    WEFT_UNIT_TIME,  /* a word; bits 2-63: ticks; later deltas count from here */
    WEFT_UNIT_OP, /* a word; bits 2-9 enum weft_op; 10-15 words that follow (0-63); 16-48 argument
                     (33 bits, two's complement); 49-63 delta */
};

enum {
    WEFT_UNIT_NUMBER_SHIFT = 2,
    WEFT_UNIT_DELTA_SHIFT = 17,
    WEFT_WORD_UNITS = 2,
    WEFT_WORD_OP_SHIFT = 2,
    WEFT_WORD_COUNT_SHIFT = 10,
    WEFT_WORD_ARGUMENT_SHIFT = 16,
    WEFT_WORD_DELTA_SHIFT = 49,
    WEFT_DELTA_MAX = (1 << 15) - 1,
    WEFT_OP_WORDS_MAX = 63,
    WEFT_RING_FUNCTIONS_MAX = 1 << 15, /* that have a number; the calls of others are FAR */
};

/* Objects of locks: the low 8 bits of the argument of a lock's record, so that each record can be
 * understood alone. */
enum weft_ring_lock {
    WEFT_RING_LOCK_MUTEX,
    WEFT_RING_LOCK_READ,  /* the reader's side of a rwlock */
    WEFT_RING_LOCK_WRITE, /* the writer's */
    WEFT_RING_LOCK_SPIN,
    WEFT_RING_LOCK_SEMAPHORE,
    WEFT_RING_LOCK_CONDITION,
    WEFT_RING_LOCK_BARRIER,
};

/* Records with words of their own. "caller" is the address that the call returns to; "result" the
 * argument of the record, as far as 33 bits hold it. Text: a word with its length in bytes, then
 * its bytes, the last word filled up with zeros. */
enum weft_op {
    WEFT_OP_LOST = 1,      /* words: how many records found no room since the record before */
    WEFT_OP_THREAD_NAME,   /* text */
    WEFT_OP_THREAD_CREATE, /* argument: result; words: pthread_t of the new thread, caller */
    WEFT_OP_THREAD_BEGIN,  /* words: pthread_t of this thread, start routine */
    WEFT_OP_THREAD_END,
    /* argument: enum weft_ring_lock. REQUEST only of those that had to wait, or by --all-requests;
     * ACQUIRED without a REQUEST before it was uncontended. */
    WEFT_OP_LOCK_REQUEST,  /* words: object, caller; of a semaphore + WEFT_REQUEST_TIMED */
    WEFT_OP_LOCK_ACQUIRED, /* words: object, caller; kind + 256 x (result & 0xffffff) */
    WEFT_OP_LOCK_FAILED,   /* words: object, caller; likewise: timed out, busy, deadlock */
    WEFT_OP_LOCK_RELEASED, /* words: object, caller; of a semaphore: post */
    /* Waits on an object that is no lock: condition, barrier, join, and so on. */
    WEFT_OP_WAIT_BEGIN, /* argument: enum weft_wait_kind + 256 x any(0) or all(1) + 512 x timed;
                           words: caller, n objects */
    WEFT_OP_WAIT_END,   /* argument: enum weft_wait_kind + 256 x (result & 0xffffff); words: caller,
                           objects that ended it, if known */
    WEFT_OP_SIGNAL,     /* argument: enum weft_wait_kind + 256 x broadcast; words: object, caller */
    /* Blocking input and output. */
    WEFT_OP_IO_BEGIN, /* argument: enum weft_io_kind; words: file descriptor, bytes asked, caller;
                         then, of output, the descriptor of the process that it makes ready, if one
                         is known */
    WEFT_OP_IO_END,   /* argument: enum weft_io_kind + WEFT_IO_OF_FILE; words: file descriptor,
                         result, caller */
    /* Markers (weft/mark.h). */
    WEFT_OP_MARK_BEGIN,   /* argument: 0 an execution; words: id, text of the type */
    WEFT_OP_MARK_END,     /* likewise */
    WEFT_OP_MARK_METRIC,  /* words: id, bits of a double, text of the metric */
    WEFT_OP_MARK_INSTANT, /* words: text */
    WEFT_OP_MARK_COUNTER, /* words: bits of a double, text */
    WEFT_OP_TASK_QUEUED,  /* words: id, text of the queue */
    WEFT_OP_TASK_BEGIN,   /* likewise: it runs now, on this thread */
    WEFT_OP_TASK_END,     /* likewise */
    WEFT_OP_SNAPSHOT,     /* the program asks for the flight recorder's file; words: text, why */
    /* Functions. */
    WEFT_OP_CULLED,    /* words: address, calls seen: no longer recorded */
    WEFT_OP_ENTER_FAR, /* words: address; of a function that has no number: too many have, or it
                          lies beyond 47 bits */
    WEFT_OP_EXIT_FAR,
    WEFT_OP_EPOLL_WATCH, /* words: the set's descriptor, one that it watches from now on, the
                            program's word for it */
    /* From now on the address is another object. argument: enum weft_ring_lock */
    WEFT_OP_OBJECT_MADE, /* words: object, caller */
    WEFT_OP_OBJECT_GONE, /* likewise */
    WEFT_OPS,
};

/* Flags in arguments: the wait has a limit; it is for all of its objects. */
enum { WEFT_REQUEST_TIMED = 256, WEFT_WAIT_ALL = 256, WEFT_WAIT_TIMED = 512 };

enum weft_wait_kind {
    WEFT_WAIT_CONDITION,
    WEFT_WAIT_BARRIER,
    WEFT_WAIT_JOIN,
    WEFT_WAIT_SLEEP,
    WEFT_WAIT_POLL,  /* poll, select: any of its objects, file descriptors */
    WEFT_WAIT_CHILD, /* wait, waitpid */
    WEFT_WAIT_ONCE,  /* call_once, pthread_once */
    WEFT_WAIT_EPOLL, /* any of those that the set watches; it ends with their words (EPOLL_WATCH) */
    WEFT_WAIT_KINDS,
};

enum weft_io_kind {
    WEFT_IO_READ,
    WEFT_IO_WRITE,
    WEFT_IO_SYNC,
    WEFT_IO_ACCEPT,
    WEFT_IO_CONNECT,
    WEFT_IO_RECEIVE,
    WEFT_IO_SEND,
    WEFT_IO_SHUTDOWN, /* bytes asked: how */
    WEFT_IO_CLOSE,
};

/* Flag: it took long (100,000 ticks), and was of a file or a block device. */
enum { WEFT_IO_OF_FILE = 256 };

/* ---- the file: a header, then pieces, each at a multiple of 8, to its end */

#define WEFT_RECORDING_MAGIC "WEFTREC\n"
#define WEFT_PIECE_MAGIC UINT32_C(0x63705257) /* "WRpc" */

enum { WEFT_RECORDING_VERSION = 2 };

struct weft_recording_head { /* 32 bytes */
    char magic[8];
    uint16_t version;
    uint16_t head_bytes;
    uint32_t reserved[3];
    uint64_t checksum; /* XXH3-64 of the 24 bytes before */
};
_Static_assert(sizeof(struct weft_recording_head) == 32, "on disk");

struct weft_piece_head { /* 40 bytes */
    uint32_t magic;
    uint16_t kind; /* enum weft_piece_kind */
    uint8_t codec; /* of the payload: 0 as it is, 1 one zstd frame */
    uint8_t reserved;
    uint32_t stored_bytes;
    uint32_t raw_bytes;
    uint32_t stream;   /* by kind */
    uint32_t pid;      /* by kind */
    uint64_t time_ns;  /* CLOCK_MONOTONIC when it was written */
    uint64_t checksum; /* XXH3-64 of the 32 bytes before, then of the payload as stored */
};
_Static_assert(sizeof(struct weft_piece_head) == 40, "on disk");

enum { WEFT_PIECE_BYTES_MAX = 1 << 24, WEFT_NUMBER_UNKNOWN = 1 << 30 };

enum weft_piece_kind {
    WEFT_PIECE_META = 1,  /* text, lines KEY=VALUE: host, kernel, architecture, ticks, processors,
                             command, folder, levels, target (process id of the program that
                             was recorded; none: the whole machine), follows (yes, no: its children
                             are of it), stopped (why nothing more was written), unwritten (bytes
                             that were read and are not here), ended (what interrupted
                             it), stop_ns (CLOCK_MONOTONIC, when recording stopped: pieces
                             that the recorder wrote later are no part of the time recorded);
                             later lines replace earlier ones */
    WEFT_PIECE_CLOCK,     /* struct weft_clock_pair ...: between two, ticks run evenly */
    WEFT_PIECE_PROCESS,   /* pid; text, lines KEY=VALUE: parent, exe, comm, start_ns (of the program
                             that it runs: another one after exec), end_ns, status, namespace (inode
                             of the one that its own numbers are of, if that is another one). A pid
                             or tid from WEFT_NUMBER_UNKNOWN on is what it calls itself + that */
    WEFT_PIECE_MAPS,      /* pid; text of /proc/PID/maps at time_ns; stream: 0 of a new program,
                             valid since its start_ns; 1 if the process said that they had changed */
    WEFT_PIECE_RING,      /* pid; struct weft_ring_piece, then units of one slot */
    WEFT_PIECE_KERNEL,    /* stream: processor; struct weft_kernel_record ... in order of time */
    WEFT_PIECE_LOST,      /* stream: processor; u64 records that the kernel's ring had no room for,
                             u64 ns since when they may have been lost */
    WEFT_PIECE_COST,      /* struct weft_record_cost: what recording has taken until time_ns */
    WEFT_PIECE_BUILD,     /* text, lines BUILD-ID-IN-HEX SPACE PATH: of modules mapped */
    WEFT_PIECE_END,       /* the recording was ended in order; text: why */
    WEFT_PIECE_FUNCTIONS, /* pid; struct weft_functions_piece, then addresses, u64 */
    WEFT_PIECE_KERNEL_NAMES, /* text, lines ADDRESS-IN-HEX SPACE NAME: functions of the kernel that
                                addresses of KERNEL_FRAMES lie in */
    WEFT_PIECE_LEDGER,       /* struct weft_ledger_entry ..., each followed by its name */
    WEFT_PIECE_JIT,          /* pid; stream: enum weft_jit_kind; struct weft_jit_piece, then what
                                 the kind says: of code that was compiled while the program ran which
                                 the last PROCESS of pid tells of */
    WEFT_PIECES,
};

struct weft_clock_pair {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
};

/* The slot that units are of. Units of (pid, library, start_ticks, tid) follow each other without a
 * gap, unless pieces between them were thrown away; what found no room stands in the records. A
 * piece begins and ends between records, and contains its time, so that it can be read without
 * those before it. What a slot lost behind its last unit is a piece of its own, behind the others:
 * a TIME, when the last record found no room, and a LOST. */
struct weft_ring_piece {
    uint32_t library;
    uint32_t tid;
    uint64_t start_ticks;
    uint64_t first_unit; /* number of the first unit in its slot */
    char name[16];
    uint32_t has_ended; /* no more units will come */
    uint32_t reserved;
    uint64_t base_ticks; /* that the first delta counts from; 0: a TIME comes before any */
    uint64_t file_ticks; /* start_ticks of the ring's file: with pid, whose functions these are */
};
_Static_assert(sizeof(struct weft_ring_piece) == 64, "on disk");

/* Addresses of functions by number, of the ring file of `pid` with these start_ticks; written
 * before the units that name them. */
struct weft_functions_piece {
    uint64_t file_ticks;
    uint64_t first; /* number of the first */
};
_Static_assert(sizeof(struct weft_functions_piece) == 16, "on disk");

/* A process of the recorded program (schema/ledger.h), as far as it is known at the time of the
 * piece; of entries with one number the last one counts. Times are CLOCK_MONOTONIC, 2^64 - 1: none.
 * The name follows, filled up with zeros to a multiple of 8. */
struct weft_ledger_entry {
    uint32_t number, pid, parent;
    uint8_t state, why, levels, reserved;
    uint64_t start_ns, end_ns, from_ns, until_ns;
    uint64_t n_records, n_lost_records;
    uint32_t n_threads, n_lost_threads;
    uint32_t name_bytes;
    uint32_t reserved_2;
};
_Static_assert(sizeof(struct weft_ledger_entry) == 80, "on disk");

/* Pieces of a kind continue each other. */
enum weft_jit_kind {
    WEFT_JIT_MAP,     /* whole lines of /tmp/perf-PID.map: "ADDRESS SIZE NAME" */
    WEFT_JIT_DUMP,    /* of a jitdump the head of 40 bytes, then records, without the code */
    WEFT_JIT_REGIONS, /* pairs of u64, begin and end: memory without a file that can be executed */
};

struct weft_jit_piece {
    uint64_t n_dropped_bytes; /* of the files, before this: more than the recorder takes */
};

struct weft_record_cost {
    uint64_t recorder_cpu_ns; /* user and system time of the recorder */
    uint64_t target_cpu_ns;   /* of the recorded processes, as far as they were waited for */
    uint64_t bpf_ns;          /* run time of the programs in the kernel, if it is counted */
    uint64_t bytes;           /* written */
    uint64_t events;          /* records of rings and of the kernel */
    uint64_t lost;            /* of them found no room */
};

/* ---- records of the kernel, by BPF programs or perf events */

struct weft_kernel_record {
    uint64_t time_ns;       /* CLOCK_MONOTONIC */
    uint32_t tid;           /* of the thread that ran; 0: idle */
    uint16_t type;          /* enum weft_kernel_type */
    uint16_t payload_bytes; /* that follow: a multiple of 8 */
    uint64_t a;
    uint64_t b;
};
_Static_assert(sizeof(struct weft_kernel_record) == 32, "on disk");

/* Context of a wakeup: what ran on the processor when the thread was woken. */
enum weft_kernel_context {
    WEFT_CONTEXT_THREAD = 0,
    WEFT_CONTEXT_SOFTIRQ = 1, /* + vector << 8 */
    WEFT_CONTEXT_HARDIRQ = 2, /* + irq << 8 */
    WEFT_CONTEXT_TIMER = 3,   /* a hrtimer's function */
    WEFT_CONTEXT_NUMBER_SHIFT = 8,
    WEFT_CONTEXT_NUMBER_UNKNOWN = 0xffffff, /* perf events record the kind alone */
};

enum weft_kernel_type {
    WEFT_KERNEL_SWITCH = 1, /* tid: the one that leaves; a: next tid | prev_state << 32 | run time
                               >> 31 << 40; b: next pid | is_preempted << 32 | (run time's low 31
                               bits) << 33. The state is as the tracepoint shows it (1, 2, 4 ...
                               0x80), 0 of one that was preempted; the pid 0 if it is not known.
                               Run time: ns by the clock of the thread that leaves, since it came;
                               0: unknown. Payload 16 bytes: comm of the next, if it is not known
                               yet */
    WEFT_KERNEL_WAKING,     /* a: tid of the woken | target cpu << 32; b: its pid | context << 32 */
    WEFT_KERNEL_WOKEN_NEW,  /* likewise: a new thread */
    WEFT_KERNEL_FORK,       /* a: tid of the child | its pid << 32; b: clone flags; payload:
                               comm, then, unless its process has one number only, its tid in the
                               innermost pid namespace | inode of that << 32 */
    WEFT_KERNEL_EXEC,       /* a: pid | old tid << 32; payload: file name */
    WEFT_KERNEL_EXIT,       /* a: pid; b: exit code */
    WEFT_KERNEL_TASK,       /* was there when the recording began: a: tid | pid << 32; b: state;
                               payload: comm */
    WEFT_KERNEL_RENAMED,    /* payload: comm */
    WEFT_KERNEL_IO_ISSUE,   /* a: device | bytes << 32; b: sector; payload: rwbs text */
    WEFT_KERNEL_IO_DONE,    /* a: device | bytes << 32; b: sector */
    WEFT_KERNEL_FAULT,      /* a: address; b: error code */
    WEFT_KERNEL_SEND,       /* of a TCP socket: a: sequence number before | bytes << 32; payload:
                               struct weft_kernel_flow, from the sender's end to the receiver's:
                               both ends of a connection name the same flow */
    WEFT_KERNEL_RECEIVE,    /* likewise */
    WEFT_KERNEL_STACK,      /* of the user's side: a: kind, enum weft_kernel_stack | flags
                               WEFT_STACK_HAS_* | ns that a sample stands for << 32; b: pid;
                               payload: the word at sp if there is one, then addresses,
                               innermost first */
    WEFT_KERNEL_STACK_COPY, /* instead of STACK, where frame pointers lead nowhere; a, b likewise;
                               payload: registers (ip, sp, bp, then r8-r15, ax, bx,
                               cx, dx, si, di of x86-64: 17 words), then bytes of the stack from
                               sp on */
    WEFT_KERNEL_SYSCALL,    /* one whose wait has ended, or that wakes a thread which has waited
                               long: a: number | enum weft_kernel_call << 32; b: ns that it was off
                               the processor; payload: result (0 if it has not returned yet),
                               first three arguments */
    WEFT_KERNEL_IRQ_ENTER,  /* by option; a: enum weft_kernel_context + number << 8 */
    WEFT_KERNEL_IRQ_EXIT,
    WEFT_KERNEL_FRAMES, /* of the sample of the thread's next STACK or STACK_COPY: payload:
                           addresses in the kernel, innermost first */
    WEFT_KERNEL_TYPES,
};

/* Where the two halves of a SWITCH's run time are, in a and b. */
enum { WEFT_SWITCH_RAN_HIGH_SHIFT = 40, WEFT_SWITCH_RAN_LOW_SHIFT = 33, WEFT_SWITCH_RAN_BITS = 31 };

enum weft_kernel_call {
    WEFT_CALL_WAITED,   /* in the call, which continues */
    WEFT_CALL_RETURNED, /* the same, and it has returned */
    WEFT_CALL_WAKES,    /* it is about to wake another thread: the next WAKING */
};

enum weft_kernel_stack {
    WEFT_STACK_SAMPLE, /* on the processor, by time */
    WEFT_STACK_WAIT,   /* at the end of a wait longer than the threshold */
    WEFT_STACK_FAULT,  /* likewise, of a wait in a page fault */
    WEFT_STACK_WAKE,   /* in a call that wakes a thread which has waited so long */
    WEFT_STACK_KINDS,
    WEFT_STACK_KIND_MASK = 0xff,
    /* The first word of the payload is the one at sp: the return address of a leaf function that
     * made no frame (system calls of libc), whose caller the frame pointers omit. */
    WEFT_STACK_HAS_TOP = 0x100,
    WEFT_STACK_IN_USER = 0x200, /* of a sample: the mode of the processor; neither: unknown */
    WEFT_STACK_IN_KERNEL = 0x400,
};

enum { WEFT_STACK_COPY_REGISTERS = 17 };

struct weft_kernel_flow { /* 40 bytes; addresses of IPv4 are mapped into IPv6 */
    uint8_t source[16];
    uint8_t target[16];
    uint16_t source_port;
    uint16_t target_port;
    uint32_t netns;
};
_Static_assert(sizeof(struct weft_kernel_flow) == 40, "on disk");

#endif
