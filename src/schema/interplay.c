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
    "still waits at the end of the trace",
    "ended by its timeout, or an error",
    "time alone ends it",
    "no source tells for what it waits",
    "nobody was seen to release it meanwhile",
    "events are lost that may have told of the release",
    "what ended it is not of these threads",
};
static const char *const pattern_names[] = { "farmer",        "leader",    "convoy",    "ping_pong",
                                             "idle",          "imbalance", "unbounded", "polling",
                                             "period_change", "short_work" };
static const char *const known_names[] = { "calls",   "objects", "uncontended",
                                           "wakeups", "holds",   "io" };
static const char *const known_lacks[] = {
    "from which functions threads waited and released",
    "for which object threads waited: who woke them is all that is told",
    "what was had at once: only what had to wait is told",
    "whether the release that ended a wait is the one that woke the thread",
    "how long locks were held that nobody waited for",
    "which calls read and write",
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
