/* SPDX-License-Identifier: MIT
 *
 * Sums up waits by thread, function and callers, and takes for each thread the place whose
 * durations have the largest geometric mean times their number, apart from those that are amid its
 * work.
 */
#include "query/turn_waits.h"

#include "analysis/executions/executions.h"
#include "base/checked.h"
#include "base/vec.h"
#include "model/graph/waiting.h"
#include "query/descriptor_roles.h"
#include "query/rules.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST = 0.9;  /* of the waits at a place */
static const double ABOUT = 0.5; /* as often */
static const double MOST_OF_LIFE = 0.5;
enum { LEAST_PAUSES = 3 };

/* Calls of a function, as they were read. */
struct read_label {
    uint32_t place; /* of waits, in `places`; WEFT_ID_NONE: they are none */
    uint32_t fd;    /* UINT32_MAX: none */
    bool is_read, is_write, is_of_any_lock;
};

struct reads {
    uint32_t thread_id, label; /* in `labels` */
    uint64_t count;
};

struct reading {
    const struct weft_trace *trace;
    struct weft_turn_waits *waits;
    struct weft_strtab *labels; /* of a place, and the descriptor */
    struct {
        struct read_label *items; /* by label */
        size_t n, cap;
    } read;
    struct weft_map *read_keys; /* thread and label -> in `reads` */
    struct {
        struct reads *items;
        size_t n, cap;
    } reads;
    struct weft_descriptor_roles roles;
    bool is_full; /* of too many descriptors, nothing is known of any */
};

/* ---- places ---------------------------------------------------------------------------------- */

static struct weft_str take_line(struct weft_str *rest)
{
    const char *end =
        rest->n_bytes ? memchr(rest->bytes, WEFT_LABEL_SEPARATOR, rest->n_bytes) : NULL;
    const size_t n = end ? (size_t)(end - rest->bytes) : rest->n_bytes;
    const struct weft_str line = { rest->bytes, n };
    *rest = end ? (struct weft_str){ end + 1, rest->n_bytes - n - 1 } : WEFT_STR("");
    return weft_str_equal(line, WEFT_STR("-")) ? WEFT_STR("") : line;
}

/* It ends before a letter that had no room. */
static bool is_whole(struct weft_str label)
{
    enum { LETTER_BYTES = 4 };
    return label.n_bytes + LETTER_BYTES <= WEFT_LABEL_BYTES;
}

struct weft_turn_place weft_turn_place_of(struct weft_str label)
{
    const bool has_all = is_whole(label);
    struct weft_turn_place parts = { .name = take_line(&label) };
    const bool has_callers = memchr(label.bytes, WEFT_LABEL_SEPARATOR, label.n_bytes);
    parts.caller = take_line(&label);
    parts.callers = take_line(&label);
    if (!has_all)
        parts.callers = WEFT_STR("");
    if (!has_all && !has_callers)
        parts.caller = WEFT_STR("");
    return parts;
}

/* Functions of libc that wait in the middle of work: for a lock, the end of a thread or process. No
 * loop comes back to them for something to do. */
static bool is_amid_work(struct weft_str name)
{
    static const char *const starts[] = { "pthread_mutex_", "pthread_rwlock_",
                                          "pthread_spin_",  "pthread_barrier_",
                                          "pthread_join",   "waitpid",
                                          "wait4",          "waitid" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (name.n_bytes >= strlen(starts[i]) &&
            memcmp(name.bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return weft_wait_for_of_name(name) == WEFT_WAITS_FOR_THREAD;
}

static bool is_wait(struct weft_str label)
{
    const struct weft_turn_place at = weft_turn_place_of(label);
    const bool is_of_interpreter = weft_str_is_one_of(at.caller, "take_gil|PyCOND_TIMEDWAIT");
    return (weft_is_wait_name(at.name) || weft_wait_for_of_name(at.name) == WEFT_WAITS_FOR_INPUT) &&
           !is_amid_work(at.name) && !is_of_interpreter;
}

enum { MOST_DESCRIPTORS = 1 << 18 }; /* by thread and place: of more, roles are unknown */
enum { BLOCKED_NS = 5000 };          /* WEFT_BLOCKED_RULE */

bool weft_turn_is_of_any_lock(struct weft_str caller)
{
    return weft_str_is_one_of(caller, "PyThread_acquire_lock_timed|acquire_timed");
}

/* The descriptor in the fourth line; UINT32_MAX without one. */
static uint32_t descriptor_in(struct weft_str label)
{
    const bool is_cut = !is_whole(label);
    uint32_t fd = 0;
    for (unsigned line = 0; line < 3; line++)
        (void)take_line(&label);
    if (label.n_bytes == 0 || label.n_bytes > 9 || is_cut)
        return UINT32_MAX;
    for (size_t i = 0; i < label.n_bytes; i++) {
        if (!isdigit((unsigned char)label.bytes[i]))
            return UINT32_MAX;
        fd = fd * 10 + (uint32_t)(label.bytes[i] - '0');
    }
    return fd;
}

/* Without its fourth line. */
static struct weft_str place_in(struct weft_str label)
{
    struct weft_str rest = label;
    for (unsigned line = 0; line < 3; line++)
        (void)take_line(&rest);
    return (struct weft_str){ label.bytes, label.n_bytes - rest.n_bytes -
                                               (rest.n_bytes > 0 && rest.bytes > label.bytes) };
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What is to be known of a label that was not met before. */
static enum weft_code add_read(struct reading *reading, struct weft_str label, struct weft_err *err)
{
    const struct weft_turn_place at = weft_turn_place_of(label);
    const enum weft_wait_for what = weft_wait_for_of_name(at.name);
    struct read_label *read = WEFT_VEC_PUSH(&reading->read);
    if (!read)
        return weft_no_memory(err, "loop iterations");
    *read = (struct read_label){ .place = WEFT_ID_NONE,
                                 .fd = descriptor_in(label),
                                 .is_write = weft_str_is_one_of(at.name, "write|send"),
                                 .is_read = what == WEFT_WAITS_FOR_INPUT ||
                                            weft_str_is_one_of(at.name, "read|recv"),
                                 .is_of_any_lock = weft_turn_is_of_any_lock(at.caller) };
    return is_wait(label)
               ? weft_strtab_intern(reading->waits->places, place_in(label), &read->place, err)
               : WEFT_OK;
}

static enum weft_code see_wait(struct reading *reading, const struct weft_execution_row *row,
                               uint32_t place, struct weft_err *err)
{
    bool is_new = false;
    const uint32_t id =
        weft_map_add(reading->waits->keys, (uint64_t)row->thread_id << 32 | place, &is_new);
    if (id == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(reading->waits)))
        return weft_no_memory(err, "loop iterations");
    struct weft_turn_wait *waits = &reading->waits->items[id];
    if (!is_new && row->start_ns > waits->end_ns)
        waits->turn_ns += row->start_ns - waits->end_ns;
    waits->thread_id = row->thread_id;
    waits->label = place;
    waits->count++;
    waits->is_open = row->flags & WEFT_EXECUTION_UNFINISHED;
    waits->log_sum += log1p((double)(row->end_ns - row->start_ns));
    waits->end_ns = row->end_ns;
    return WEFT_OK;
}

/* How often a thread reads from a descriptor at a place. */
static bool see_read(struct reading *reading, uint32_t thread_id, uint32_t label)
{
    bool is_new = false;
    const uint32_t id =
        weft_map_add(reading->read_keys, (uint64_t)thread_id << 32 | label, &is_new);
    if (id == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&reading->reads)))
        return false;
    struct reads *reads = &reading->reads.items[id];
    *reads = (struct reads){ thread_id, label, is_new ? 1 : reads->count + 1 };
    return true;
}

static enum weft_code see_call(void *context, const struct weft_execution_row *row,
                               struct weft_err *err)
{
    struct reading *reading = context;
    const uint32_t label = (uint32_t)row->key;
    while (reading->read.n <= label)
        WEFT_TRY(
            add_read(reading, weft_strtab_get(reading->labels, (uint32_t)reading->read.n), err));
    const struct read_label *read = &reading->read.items[label];
    reading->is_full |= reading->reads.n + reading->roles.n >= MOST_DESCRIPTORS;
    if (read->fd != UINT32_MAX && (read->is_read || read->is_write) && !reading->is_full &&
        (!weft_descriptor_roles_see(&reading->roles, row->thread_id, read->fd, row->start_ns,
                                    read->is_write) ||
         (read->is_read && !see_read(reading, row->thread_id, label))))
        return weft_no_memory(err, "loop iterations");
    if (read->place == WEFT_ID_NONE ||
        (read->is_of_any_lock && row->end_ns - row->start_ns < BLOCKED_NS))
        return WEFT_OK;
    return see_wait(reading, row, read->place, err);
}

/* ---- where a thread comes back to ------------------------------------------------------------ */

static double usual_ns(const struct weft_turn_wait *waits);

/* A few waits are enough if they are most of the thread's life: pauses between rounds of work. */
static bool is_often(const struct reading *reading, const struct weft_turn_wait *waits)
{
    const struct weft_model_thread *thread = weft_trace_thread(reading->trace, waits->thread_id);
    return waits->count >= WEFT_LEAST_TURNS ||
           (waits->count >= LEAST_PAUSES &&
            usual_ns(waits) >= MOST_OF_LIFE * (double)(thread->last_ns - thread->first_ns));
}

/* What they last as usual, together: a few that are far longer, as what is slow is, count little.
 */
static double usual_ns(const struct weft_turn_wait *waits)
{
    const double n = (double)waits->count;
    return n * exp(waits->log_sum / n);
}

/* Which reads are for replies, and which for requests. */
static void count_roles(struct reading *reading)
{
    for (size_t i = 0; i < reading->reads.n && !reading->is_full; i++) {
        const struct reads *reads = &reading->reads.items[i];
        const struct read_label *label = &reading->read.items[reads->label];
        const uint32_t id = label->place == WEFT_ID_NONE
                                ? WEFT_MAP_NONE
                                : weft_map_find(reading->waits->keys,
                                                (uint64_t)reads->thread_id << 32 | label->place);
        if (id == WEFT_MAP_NONE)
            continue;
        struct weft_turn_wait *waits = &reading->waits->items[id];
        switch (weft_descriptor_role_of(&reading->roles, reads->thread_id, label->fd)) {
        case WEFT_ROLE_ASKS:
            waits->n_replies += reads->count;
            break;
        case WEFT_ROLE_ANSWERS:
            waits->n_requests += reads->count;
            break;
        default:
            break;
        }
    }
}

bool weft_turn_is_sleep(const struct weft_turn_waits *waits, uint32_t label)
{
    const struct weft_turn_place at = weft_turn_place_of(weft_strtab_get(waits->places, label));
    return weft_wait_for_of_name(at.name) == WEFT_WAITS_FOR_TIMER;
}

/* By thread: the most requests that it reads at one place. NULL without memory. */
static uint64_t *most_requests(const struct reading *reading)
{
    uint64_t *most = calloc((size_t)weft_trace_n_threads(reading->trace) + 1, sizeof *most);
    for (size_t i = 0; most && i < reading->waits->n; i++) {
        const struct weft_turn_wait *waits = &reading->waits->items[i];
        most[waits->thread_id] = weft_max_u64(most[waits->thread_id], waits->n_requests);
    }
    return most;
}

/* No thread comes back for something to do to where it waits for a reply, nor to where it sleeps if
 * it reads a request about as often. */
static bool is_amid_turn(const struct reading *reading, const struct weft_turn_wait *waits,
                         const uint64_t *requests)
{
    return (double)waits->n_replies >= MOST * (double)waits->count ||
           (weft_turn_is_sleep(reading->waits, waits->label) &&
            (double)requests[waits->thread_id] >= ABOUT * (double)waits->count);
}

/* The longest of each thread, of those that may be; else of all. */
static bool find_longest(struct reading *reading)
{
    count_roles(reading);
    uint64_t *requests = most_requests(reading);
    for (uint32_t id = 0; id < weft_trace_n_threads(reading->trace); id++)
        reading->waits->longest[id] = WEFT_ID_NONE;
    for (unsigned pass = 0; requests && pass < 2; pass++) {
        for (size_t i = 0; i < reading->waits->n; i++) {
            const struct weft_turn_wait *waits = &reading->waits->items[i];
            uint32_t *longest = &reading->waits->longest[waits->thread_id];
            const bool is_decided =
                pass > 0 && *longest != WEFT_ID_NONE &&
                !is_amid_turn(reading, &reading->waits->items[*longest], requests);
            if (!is_often(reading, waits) || is_decided ||
                (pass == 0 && is_amid_turn(reading, waits, requests)))
                continue;
            if (*longest == WEFT_ID_NONE ||
                usual_ns(waits) > usual_ns(&reading->waits->items[*longest]))
                *longest = (uint32_t)i;
            reading->waits->items[i].is_amid = pass > 0;
        }
    }
    free(requests);
    return requests;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum weft_code read_calls(struct reading *reading, const char *fields,
                                 const struct weft_run *run, struct weft_err *err)
{
    struct weft_rules *rules = NULL;
    enum weft_code code = weft_rules_of_count("call:*", fields, &rules, err);
    const struct weft_executions_opts opts = {
        .rules = rules, .without_metrics = true, .labels = reading->labels, .with_lines = true
    };
    WEFT_THEN(code,
              weft_executions_stream(reading->trace, NULL, &opts, run, see_call, reading, err));
    weft_rules_free(rules);
    if (code == WEFT_OK && !find_longest(reading))
        code = weft_no_memory(err, "loop iterations");
    return code;
}

static enum weft_code find(const struct weft_trace *trace, const char *fields,
                           const struct weft_run *run, struct weft_turn_waits *waits,
                           struct weft_err *err)
{
    struct reading reading = {
        .trace = trace, .waits = waits, .labels = weft_strtab_new(), .read_keys = weft_map_new()
    };
    const size_t n_threads = weft_trace_n_threads(trace);
    *waits = (struct weft_turn_waits){ .places = weft_strtab_new(),
                                       .keys = weft_map_new(),
                                       .longest = calloc(n_threads + 1, sizeof *waits->longest) };
    const bool has_memory = weft_descriptor_roles_init(&reading.roles) && reading.labels &&
                            reading.read_keys && waits->places && waits->keys && waits->longest;
    const enum weft_code code = has_memory ? read_calls(&reading, fields, run, err)
                                           : weft_no_memory(err, "loop iterations");
    weft_strtab_free(reading.labels);
    weft_map_free(reading.read_keys);
    WEFT_VEC_FINI(&reading.read);
    WEFT_VEC_FINI(&reading.reads);
    weft_descriptor_roles_fini(&reading.roles);
    return code;
}

enum weft_code weft_turn_waits_find(const struct weft_trace *trace, const struct weft_run *run,
                                    struct weft_turn_waits *waits, struct weft_err *err)
{
    const enum weft_code code = find(trace, "name,caller,callers,fd", run, waits, err);
    if (code != WEFT_E_LIMIT)
        return code;
    weft_turn_waits_fini(waits); /* too many descriptors: without what they are used for */
    if (err)
        *err = (struct weft_err){ 0 };
    return find(trace, "name,caller,callers", run, waits, err);
}

void weft_turn_waits_fini(struct weft_turn_waits *waits)
{
    weft_strtab_free(waits->places);
    weft_map_free(waits->keys);
    WEFT_VEC_FINI(waits);
    free(waits->longest);
}
