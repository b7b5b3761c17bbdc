/* SPDX-License-Identifier: MIT
 *
 * Counts for each futex address what operations use it, and classifies it by that: mutex,
 * condition, semaphore, barrier, join or plain futex. Only points.c uses this, in its survey,
 * before any point is made.
 */
#include "model/locks/words.h"

#include "base/map.h"
#include "base/room.h"

#include <stdlib.h>

enum futex_op {
    FUTEX_WAIT = 0,
    FUTEX_WAKE = 1,
    FUTEX_REQUEUE = 3,
    FUTEX_CMP_REQUEUE = 4,
    FUTEX_WAKE_OP = 5,
    FUTEX_LOCK_PI = 6,
    FUTEX_UNLOCK_PI = 7,
    FUTEX_WAIT_BITSET = 9,
    FUTEX_WAKE_BITSET = 10,
    FUTEX_LOCK_PI2 = 13,
    FUTEX_COMMANDS = 0x7f,
    FUTEX_PRIVATE = 0x80,
    FUTEX_ALL = 0x7fffffff, /* woken */
    MUTEX_CONTENDED = 2,
};

struct weft_lock_words {
    const struct weft_trace *trace;
    const struct weft_twins *twins;
    struct weft_strtab *keys;
    struct {
        struct weft_lock_word *items; /* by number of the key */
        size_t n, cap;
    } words;
    struct weft_map *tids;                /* host and tid */
    uint32_t *first_of_tid, *next_of_tid; /* by number of the tid; by thread */
};

/* ---- events ---------------------------------------------------------------------------------- */

static unsigned command_of(const struct weft_event *event)
{
    return event->prev_state & FUTEX_COMMANDS;
}

static bool is_pi(const struct weft_event *event)
{
    return command_of(event) == FUTEX_LOCK_PI || command_of(event) == FUTEX_LOCK_PI2;
}

bool weft_futex_waits(const struct weft_event *event)
{
    return command_of(event) == FUTEX_WAIT || command_of(event) == FUTEX_WAIT_BITSET ||
           is_pi(event);
}

bool weft_futex_wakes(const struct weft_event *event)
{
    const unsigned command = command_of(event);
    return command == FUTEX_WAKE || command == FUTEX_WAKE_OP || command == FUTEX_WAKE_BITSET ||
           command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE || command == FUTEX_UNLOCK_PI;
}

bool weft_futex_wakes_all(const struct weft_event *event)
{
    return event->object_id == FUTEX_ALL;
}

/* ---- words ----------------------------------------------------------------------------------- */

enum weft_code weft_lock_word_of(struct weft_lock_words *words, struct weft_str key,
                                 struct weft_lock_word **word, struct weft_err *err)
{
    uint32_t number;
    *word = NULL;
    enum weft_code code = weft_strtab_intern(words->keys, key, &number, err);
    if (code == WEFT_OK && number == words->words.n && !WEFT_ROOM_PUSH(&words->words))
        code = weft_no_memory(err, "locks");
    if (code == WEFT_OK)
        *word = &words->words.items[number];
    return code;
}

size_t weft_lock_words_n(const struct weft_lock_words *words)
{
    return words->words.n;
}

void weft_lock_word_see(struct weft_lock_word *word, const struct weft_event *event)
{
    word->is_pi |= is_pi(event);
    if (weft_futex_waits(event)) {
        word->waits++;
        word->waits_for_2 += event->object_id == MUTEX_CONTENDED;
        word->bit_waits += command_of(event) == FUTEX_WAIT_BITSET;
    } else {
        word->wakes_all |= weft_futex_wakes_all(event);
    }
}

enum weft_lock_kind weft_lock_word_kind(const struct weft_lock_word *word)
{
    if (word->is_pi || (word->waits > 0 && word->waits == word->waits_for_2 && !word->wakes_all))
        return WEFT_LOCK_MUTEX;
    if (word->waits > 0 && word->bit_waits == word->waits)
        return WEFT_LOCK_CONDITION;
    if (word->waits > 0 && word->bit_waits == 0 && word->wakes_all)
        return WEFT_LOCK_BARRIER;
    return WEFT_LOCK_FUTEX;
}

/* ---- threads that end ------------------------------------------------------------------------ */

static uint64_t tid_key(uint32_t host_id, uint64_t tid)
{
    return (uint64_t)host_id << 48 ^ tid;
}

/* Threads by tid, the first first. False without memory. */
static bool index_tids(struct weft_lock_words *words)
{
    const uint32_t n_threads = words->twins->n_threads;
    words->tids = weft_map_new();
    words->first_of_tid = calloc((size_t)n_threads + 1, sizeof *words->first_of_tid);
    words->next_of_tid = calloc((size_t)n_threads + 1, sizeof *words->next_of_tid);
    if (!words->tids || !words->first_of_tid || !words->next_of_tid)
        return false;
    for (uint32_t id = n_threads; id-- > 0;) {
        const struct weft_thread_info *info = &weft_trace_thread(words->trace, id)->info;
        bool is_new;
        const uint32_t place =
            weft_map_add(words->tids, tid_key(info->host_id, info->tid), &is_new);
        if (place == WEFT_MAP_NONE)
            return false;
        words->next_of_tid[id] = is_new ? WEFT_ID_NONE : words->first_of_tid[place];
        words->first_of_tid[place] = id;
    }
    return true;
}

uint32_t weft_lock_joined(const struct weft_lock_words *words, uint32_t thread_id,
                          const struct weft_event *event)
{
    const struct weft_thread_info *own = &weft_trace_thread(words->trace, thread_id)->info;
    const unsigned command = command_of(event);
    if (command != FUTEX_WAIT_BITSET && command != FUTEX_WAIT)
        return WEFT_ID_NONE;
    if (event->prev_state & FUTEX_PRIVATE || event->object_id == 0 || event->object_id == own->tid)
        return WEFT_ID_NONE;
    const uint32_t place = weft_map_find(words->tids, tid_key(own->host_id, event->object_id));
    uint32_t id = place == WEFT_MAP_NONE ? WEFT_ID_NONE : words->first_of_tid[place];
    while (id != WEFT_ID_NONE && !(words->twins->first[id] == id &&
                                   weft_trace_thread(words->trace, id)->last_ns >= event->time_ns))
        id = words->next_of_tid[id];
    return id;
}

/* ---- all ------------------------------------------------------------------------------------- */

struct weft_lock_words *weft_lock_words_new(const struct weft_trace *trace,
                                            const struct weft_twins *twins)
{
    struct weft_lock_words *words = calloc(1, sizeof *words);
    if (!words)
        return NULL;
    *words = (struct weft_lock_words){ .trace = trace, .twins = twins, .keys = weft_strtab_new() };
    if (words->keys && index_tids(words))
        return words;
    weft_lock_words_free(words);
    return NULL;
}

void weft_lock_words_free(struct weft_lock_words *words)
{
    if (!words)
        return;
    weft_strtab_free(words->keys);
    weft_map_free(words->tids);
    free(words->first_of_tid);
    free(words->next_of_tid);
    WEFT_ROOM_FINI(&words->words);
    free(words);
}
