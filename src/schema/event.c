/* SPDX-License-Identifier: MIT
 *
 * Names and texts of event kinds, call flags and notes, and the few questions about kinds that
 * several layers ask. The names are part of the JSON, CSV and text output: a new kind gets its row
 * here and nowhere else.
 */
#include "schema/event.h"

#include "base/clock.h"

#include <stddef.h>
#include <string.h>

bool weft_module_is_library(struct weft_str path)
{
    static const char *const files[] = {
        "libc.so",      "libc-2",      "libpthread",  "ld-linux",  "ld-2.",        "ld-musl",
        "libm.so",      "libm-2",      "librt.so",    "librt-2",   "libdl.so",     "libdl-2",
        "libstdc++.so", "libc++.so",   "libc++abi",   "libgcc_s.", "libweft-",     "libz.so",
        "libzstd.so",   "liblzma.so",  "libbz2.so",   "liblz4.so", "libcrypto.so", "libssl.so",
        "libjemalloc",  "libtcmalloc", "libmimalloc", "libpng16.", "libjpeg.so",
    };
    return WEFT_STR_BEGINS(weft_str_base(path), files);
}

static const char *const event_names[WEFT_EVENT_KINDS] = {
    [WEFT_EVENT_SPAN] = "span",
    [WEFT_EVENT_INSTANT] = "instant",
    [WEFT_EVENT_COUNTER] = "counter",
    [WEFT_EVENT_SAMPLE] = "sample",
    [WEFT_EVENT_SWITCH] = "switch",
    [WEFT_EVENT_WAKING] = "waking",
    [WEFT_EVENT_WOKEN] = "woken",
    [WEFT_EVENT_IRQ_ENTER] = "irq_enter",
    [WEFT_EVENT_IRQ_EXIT] = "irq_exit",
    [WEFT_EVENT_SYSCALL_ENTER] = "syscall_enter",
    [WEFT_EVENT_SYSCALL_EXIT] = "syscall_exit",
    [WEFT_EVENT_LOCK_REQUEST] = "lock_request",
    [WEFT_EVENT_LOCK_ACQUIRED] = "lock_acquired",
    [WEFT_EVENT_LOCK_RELEASED] = "lock_released",
    [WEFT_EVENT_IO_BEGIN] = "io_begin",
    [WEFT_EVENT_IO_END] = "io_end",
    [WEFT_EVENT_PACKET_SENT] = "packet_sent",
    [WEFT_EVENT_PACKET_RECEIVED] = "packet_received",
    [WEFT_EVENT_FLOW_BEGIN] = "flow_begin",
    [WEFT_EVENT_FLOW_END] = "flow_end",
    [WEFT_EVENT_FORK] = "fork",
    [WEFT_EVENT_EXIT] = "exit",
    [WEFT_EVENT_FLOW_STEP] = "flow_step",
    [WEFT_EVENT_CALL_ARGS] = "call_args",
    [WEFT_EVENT_LOCK_FAILED] = "lock_failed",
};

uint64_t weft_clock_zero_ns(const struct weft_clock *clock)
{
    if (clock->has_monotonic)
        return clock->monotonic_ns;
    if (clock->frequency_hz == 0 || clock->frequency_hz > UINT64_C(1) << 63)
        return 0;
    struct weft_tick_scale scale = weft_tick_scale_init(clock->frequency_hz);
    return weft_ticks_to_ns(&scale, clock->zero_ticks);
}

static const char *const flag_names[WEFT_CALL_N_FLAGS] = { "cut_start", "cut_end", "repaired",
                                                           "tail" };

const char *weft_call_flag_name(unsigned place)
{
    return flag_names[place];
}

uint8_t weft_call_flag_named(struct weft_str name)
{
    for (unsigned place = 0; place < WEFT_CALL_N_FLAGS; place++)
        if (weft_str_equal(name, weft_str_of(flag_names[place])))
            return (uint8_t)(1U << place);
    return 0;
}

const char *weft_event_kind_name(enum weft_event_kind kind)
{
    return (size_t)kind < WEFT_EVENT_KINDS ? event_names[kind] : "unknown";
}

bool weft_event_is_kernel(enum weft_event_kind kind)
{
    return (kind >= WEFT_EVENT_SWITCH && kind <= WEFT_EVENT_SYSCALL_EXIT) ||
           (kind >= WEFT_EVENT_IO_BEGIN && kind <= WEFT_EVENT_PACKET_RECEIVED) ||
           kind == WEFT_EVENT_FORK || kind == WEFT_EVENT_EXIT;
}

/* Without a machine a number is x86_64's or aarch64's; on others those are calls of which no thread
 * waits. */
bool weft_event_is_futex(struct weft_str call)
{
    return weft_str_equal(call, WEFT_STR("futex")) ||
           weft_str_equal(call, WEFT_STR("futex_time64")) ||
           weft_str_equal(call, WEFT_STR("#202")) || weft_str_equal(call, WEFT_STR("#98"));
}

static const struct note_words {
    const char *name;
    const char *text;
    enum weft_note_class note_class;
} note_words[WEFT_NOTE_KINDS] = {
    [WEFT_NOTE_DUPLICATE_BUFFER] = { "duplicate_buffer",
                                     "events in duplicate buffers, dropped: no data lost",
                                     WEFT_NOTE_CLASS_REPAIRED },
    [WEFT_NOTE_EXIT_WITHOUT_ENTRY_CUT] = { "exit_without_entry",
                                           "exits without entry: the calls began before the trace",
                                           WEFT_NOTE_CLASS_REPAIRED },
    [WEFT_NOTE_EXIT_IGNORED] = { "exit_ignored", "exits that match no open call, ignored",
                                 WEFT_NOTE_CLASS_REPAIRED },
    [WEFT_NOTE_MISSING_EXIT] = { "missing_exit",
                                 "calls without exit, closed when a caller returned",
                                 WEFT_NOTE_CLASS_REPAIRED },
    [WEFT_NOTE_OPEN_AT_END] = { "open_at_end",
                                "calls open at the end, closed at the thread's last event",
                                WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_TIME_BACKWARD] = { "time_backward", "time stamps that stepped back, raised",
                                  WEFT_NOTE_CLASS_REPAIRED },
    [WEFT_NOTE_TRUNCATED] = { "truncated", "bytes not read: the input ends early",
                              WEFT_NOTE_CLASS_LOST },
    [WEFT_NOTE_BAD_RECORD] = { "bad_record", "bytes skipped: a record contradicts the format",
                               WEFT_NOTE_CLASS_LOST },
    [WEFT_NOTE_UNKNOWN_RECORD] = { "unknown_record", "records of an unknown kind, skipped",
                                   WEFT_NOTE_CLASS_LOST },
    [WEFT_NOTE_LOST_RECORDS] = { "lost_records", "records that the source itself lost",
                                 WEFT_NOTE_CLASS_LOST },
    [WEFT_NOTE_UNNAMED_FUNCTION] = { "unnamed_function",
                                     "functions without a name, shown as number or place",
                                     WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_NOT_KEPT] = { "not_kept", "events understood, but not kept in the file",
                             WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_DEPTH_LIMIT] = { "depth_limit", "calls deeper than the limit, dropped",
                                WEFT_NOTE_CLASS_LOST },
    [WEFT_NOTE_FOREIGN_MAP] = { "foreign_map",
                                "functions beyond the function map: is it of another build?",
                                WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_EXCERPT] = { "excerpt", "this is a part of a longer trace", WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_NOT_ALIGNED] = { "not_aligned",
                                "traces without a common clock: each starts at time 0",
                                WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_CLOCK_SET] = { "clock_set", "ns that a host's clock, set by packets, may be off",
                              WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_NOT_RECORDED] = { "not_recorded",
                                 "processes of the program not recorded, or only partly",
                                 WEFT_NOTE_CLASS_LOST },
    [WEFT_NOTE_EXCLUDED] = { "excluded", "processes excluded, or recorded for a part of their time",
                             WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_UNWRITTEN] = { "unwritten",
                              "bytes not written (disk full, or a limit on the size of files)",
                              WEFT_NOTE_CLASS_LOST },
    [WEFT_NOTE_FORMLESS] = { "formless", "events kept as instants: the input lacks their format",
                             WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_LOST_SWITCHES] = { "lost_switches",
                                  "missing switches of threads, inferred from later events",
                                  WEFT_NOTE_CLASS_LOST },
    [WEFT_NOTE_THREADS_NAMED] = { "threads_named", "threads named after their start functions",
                                  WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_CONTENDED_ONLY] = { "contended_only",
                                   "lock waits seen as futex calls alone: others are not recorded",
                                   WEFT_NOTE_CLASS_INFO },
    [WEFT_NOTE_JIT_UNNAMED] = { "jit_unnamed", "frames of JIT-compiled code without names",
                                WEFT_NOTE_CLASS_INFO },
};

bool weft_note_is_lost(enum weft_note_kind kind)
{
    return kind == WEFT_NOTE_LOST_RECORDS || kind == WEFT_NOTE_LOST_SWITCHES;
}

const char *weft_note_name(enum weft_note_kind kind)
{
    return (size_t)kind < WEFT_NOTE_KINDS ? note_words[kind].name : "unknown";
}

const char *weft_note_text(enum weft_note_kind kind)
{
    return (size_t)kind < WEFT_NOTE_KINDS ? note_words[kind].text : "unknown";
}

enum weft_note_class weft_note_class_of(enum weft_note_kind kind)
{
    return (size_t)kind < WEFT_NOTE_KINDS ? note_words[kind].note_class : WEFT_NOTE_CLASS_INFO;
}
