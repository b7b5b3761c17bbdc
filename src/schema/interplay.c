/* SPDX-License-Identifier: MIT */
#include "schema/interplay.h"

#define NAME(names, number)                                                                        \
    ((size_t)(number) < sizeof(names) / sizeof *(names) ? (names)[number] : "unknown")

static const char *const blocking_names[] = { "other", "wait", "release", "io" };
static const char *const shared_names[] = { "mutex",   "rwlock",  "condition", "semaphore",
                                            "barrier", "join",    "futex",     "timer",
                                            "files",   "process", "other",     "spinlock" };
static const char *const mode_names[] = { "one", "any", "all" };
static const char *const confidence_names[] = { "none", "wakeup", "ambiguous", "release",
                                                "confirmed" };
static const char *const unknown_names[] = { "cut_end",    "failed", "timer",  "no_object",
                                             "no_release", "lossy",  "outside" };
static const char *const unknown_texts[] = {
    "not ended in the trace",
    "ended by a timeout or an error",
    "ended by a timer",
    "object unknown",
    "no release recorded",
    "events of the release may be lost",
    "ended by another process or an interrupt",
};
static const char *const pattern_names[] = { "farmer",        "leader",    "convoy",    "ping_pong",
                                             "idle",          "imbalance", "unbounded", "polling",
                                             "period_change", "short_work" };
static const char *const known_names[] = { "calls",   "objects", "uncontended",
                                           "wakeups", "holds",   "io" };
static const char *const known_lacks[] = {
    "call sites of waits and releases", "objects of waits (only wakeups are recorded)",
    "uncontended acquisitions",         "which release woke a thread (no scheduler events)",
    "hold times of uncontended locks",  "I/O calls",
};
static const char *const lane_names[] = { "held", "held_waited", "waits" };

const char *weft_blocking_kind_name(enum weft_blocking_kind kind)
{
    return NAME(blocking_names, kind);
}

const char *weft_shared_kind_name(enum weft_shared_kind kind)
{
    return NAME(shared_names, kind);
}

const char *weft_wait_mode_name(enum weft_wait_mode mode)
{
    return NAME(mode_names, mode);
}

const char *weft_surety_name(enum weft_surety confidence)
{
    return NAME(confidence_names, confidence);
}

const char *weft_unknown_reason_name(enum weft_unknown_reason reason)
{
    return NAME(unknown_names, reason);
}

const char *weft_unknown_reason_text(enum weft_unknown_reason reason)
{
    return NAME(unknown_texts, reason);
}

const char *weft_pattern_kind_name(enum weft_pattern_kind kind)
{
    return NAME(pattern_names, kind);
}

const char *weft_pattern_kind_title(enum weft_pattern_kind kind)
{
    static const char *const titles[WEFT_PATTERNS] = {
        [WEFT_PATTERN_FARMER] = "producer",
        [WEFT_PATTERN_LEADER] = "taking turns",
        [WEFT_PATTERN_CONVOY] = "lock convoy",
        [WEFT_PATTERN_PING_PONG] = "ping-pong",
        [WEFT_PATTERN_IDLE_WORKER] = "idle thread",
        [WEFT_PATTERN_IMBALANCE] = "imbalance",
        [WEFT_PATTERN_UNBOUNDED] = "endless wait",
        [WEFT_PATTERN_POLLING] = "polling",
        [WEFT_PATTERN_PERIOD_CHANGE] = "period change",
        [WEFT_PATTERN_SHORT_WORK] = "short work",
    };
    return NAME(titles, kind);
}

const char *weft_known_name(unsigned place)
{
    return NAME(known_names, place);
}

const char *weft_known_lack(unsigned place)
{
    return NAME(known_lacks, place);
}

const char *weft_lane_state_name(enum weft_lane_state state)
{
    return NAME(lane_names, state);
}
