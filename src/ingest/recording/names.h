/* SPDX-License-Identifier: MIT
 *
 * What records of rings point to: functions by address, tasks by text, locks and what else is
 * waited for by address. All are met in a first reading, by several workers at once; then each gets
 * its number, which depends on the words alone.
 */
#ifndef WEFT_INGEST_RECORDING_NAMES_H
#define WEFT_INGEST_RECORDING_NAMES_H

#include "base/map.h"
#include "ingest/recording/spaces.h"
#include "schema/event.h"
#include "schema/recording.h"
#include "schema/sink.h"

#include <pthread.h>

/* Functions of libraries that operations stand for: their calls, by the names that analyses look
 * for. */
enum rec_known {
    REC_COND_WAIT,
    REC_COND_SIGNAL,
    REC_COND_BROADCAST,
    REC_BARRIER_WAIT,
    REC_JOIN,
    REC_SLEEP,
    REC_POLL,
    REC_WAITPID,
    REC_ONCE,
    REC_SEM_WAIT,
    REC_SEM_POST,
    REC_READ, /* as enum weft_io_kind from here on */
    REC_WRITE,
    REC_FSYNC,
    REC_ACCEPT,
    REC_CONNECT,
    REC_RECV,
    REC_SEND,
    REC_SHUTDOWN,
    REC_CLOSE,
    REC_COND_TIMEDWAIT, /* waits with a limit */
    REC_SEM_TIMEDWAIT,
    REC_TIMEDJOIN,
    REC_EPOLL,
    REC_MADE, /* + enum weft_ring_lock: objects are made; the reader's side of a lock is its own */
    REC_GONE = REC_MADE + WEFT_RING_LOCK_BARRIER + 1, /* likewise: and destroyed */
    REC_KNOWN = REC_GONE + WEFT_RING_LOCK_BARRIER + 1,
};

/* An address in a space: an image, or a process. */
struct rec_place {
    uint64_t address;
    uint32_t space;
    uint32_t id; /* key of the function, number of the lock; once sealed */
    uint32_t
        site; /* of a futex: where it was waited for first, in `sites`; WEFT_ID_NONE: unknown */
};

struct rec_places {
    struct weft_map *of_mix;
    struct {
        struct rec_place *items;
        size_t n, cap;
    };
};

struct rec_names {
    pthread_mutex_t lock;
    struct rec_places functions, objects;
    struct rec_places callers; /* of operations on them; ids: their names in `sites` */
    struct weft_strtab *texts; /* of tasks */
    struct weft_strtab *sites; /* functions, by name */
    struct {
        uint32_t *items; /* by text: the key */
        size_t n, cap;
    } text_keys;
    bool is_known_used[REC_KNOWN];
    struct weft_strtab *identities; /* of functions: module and address in it */
    uint32_t n_keys;
};

bool rec_names_init(struct rec_names *names);
void rec_names_fini(struct rec_names *names);

/* First reading; false without memory. From several workers at once. */
bool rec_names_meet(struct rec_names *names, struct rec_places *places, uint32_t space,
                    uint64_t address);
/* A futex, and the function that waited for it; empty: unknown. */
bool rec_names_meet_futex(struct rec_names *names, uint32_t pid, uint64_t address,
                          struct weft_str site);
bool rec_names_meet_text(struct rec_names *names, struct weft_str text);
void rec_names_meet_known(struct rec_names *names, enum rec_known known);

/* Numbers all of them, and announces the functions to the sink, and objects that have names.
 * WEFT_E_NOMEM and the sink's. */
WEFT_CHECKED enum weft_code rec_names_seal(struct rec_names *names, const struct rec_spaces *spaces,
                                           struct weft_sink *sink, struct weft_err *err);

/* In the survey already. */
bool rec_place_is_met(const struct rec_places *places, uint32_t space, uint64_t address);
/* Once sealed; WEFT_ID_NONE: it was not met. The key of a known function is its own number. */
uint32_t rec_place_id(const struct rec_places *places, uint32_t space, uint64_t address);
uint32_t rec_text_key(const struct rec_names *names, struct weft_str text);
/* The function that a call returns to; empty: it was not met. */
struct weft_str rec_caller_name(const struct rec_names *names, uint32_t image, uint64_t address);

/* Where a function lies: its module, or WEFT_ID_NONE, and its address there. */
WEFT_CHECKED enum weft_code rec_function_place(const struct rec_spaces *spaces, uint32_t image,
                                               uint64_t address, uint32_t *path,
                                               uint64_t *own_address, struct weft_err *err);

#endif
