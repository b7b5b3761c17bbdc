/* SPDX-License-Identifier: MIT
 *
 * The first reading of a thread's rings: it finds the functions, locks, call sites, task names and
 * watched descriptors that deliver.c will need, and delivers nothing. It runs in parallel for all
 * threads; a cache of 4,096 addresses for each thread in work keeps the shared tables (names.h) out
 * of the loop.
 */
#include "base/vec.h"
#include "ingest/recording/convert.h"

#include <stdlib.h>

/* Addresses met lately, so that the common table is rarely asked. */
enum { SEEN_BITS = 12, SEEN = 1 << SEEN_BITS };

struct seen {
    uint64_t address;
    uint32_t space;
    const struct rec_places *places;
};

struct survey {
    struct rec_convert *convert;
    struct seen *seen;
    uint32_t pid, image, thread;
    uint64_t image_end_ns; /* CLOCK_MONOTONIC */
    size_t clock_at;
    bool is_known_seen[REC_KNOWN];
    bool has_lost; /* records of the stream */
    bool has_name;
    char name[256];
    size_t n_name;
};

/* ---- what an operation is of ------------------------------------------------------------------
 */

static enum rec_known known_of_wait(unsigned wait)
{
    static const uint8_t known[] = {
        [WEFT_WAIT_CONDITION] = REC_COND_WAIT, [WEFT_WAIT_BARRIER] = REC_BARRIER_WAIT,
        [WEFT_WAIT_JOIN] = REC_JOIN,           [WEFT_WAIT_SLEEP] = REC_SLEEP,
        [WEFT_WAIT_POLL] = REC_POLL,           [WEFT_WAIT_CHILD] = REC_WAITPID,
        [WEFT_WAIT_ONCE] = REC_ONCE,           [WEFT_WAIT_EPOLL] = REC_EPOLL,
    };
    return wait < sizeof known ? (enum rec_known)known[wait] : REC_KNOWN;
}

static enum rec_known known_of_timed(enum rec_known known)
{
    switch (known) {
    case REC_COND_WAIT:
        return REC_COND_TIMEDWAIT;
    case REC_JOIN:
        return REC_TIMEDJOIN;
    case REC_SEM_WAIT:
        return REC_SEM_TIMEDWAIT;
    default:
        return known;
    }
}

enum rec_known rec_known_of_op(unsigned op, int64_t argument)
{
    const unsigned kind = (unsigned)argument & 0xff;
    switch ((enum weft_op)op) {
    case WEFT_OP_LOCK_REQUEST:
        if (kind != WEFT_RING_LOCK_SEMAPHORE)
            return REC_KNOWN;
        return argument & WEFT_REQUEST_TIMED ? REC_SEM_TIMEDWAIT : REC_SEM_WAIT;
    case WEFT_OP_LOCK_ACQUIRED:
    case WEFT_OP_LOCK_FAILED:
        return kind == WEFT_RING_LOCK_SEMAPHORE ? REC_SEM_WAIT : REC_KNOWN;
    case WEFT_OP_LOCK_RELEASED:
        return kind == WEFT_RING_LOCK_SEMAPHORE ? REC_SEM_POST : REC_KNOWN;
    case WEFT_OP_WAIT_BEGIN:
        return argument & WEFT_WAIT_TIMED ? known_of_timed(known_of_wait(kind))
                                          : known_of_wait(kind);
    case WEFT_OP_WAIT_END:
        return known_of_wait(kind);
    case WEFT_OP_SIGNAL:
        if (kind != WEFT_WAIT_CONDITION)
            return REC_KNOWN;
        return argument >> 8 & 1 ? REC_COND_BROADCAST : REC_COND_SIGNAL;
    case WEFT_OP_OBJECT_MADE:
    case WEFT_OP_OBJECT_GONE:
        if (kind > WEFT_RING_LOCK_BARRIER)
            return REC_KNOWN;
        return (enum rec_known)((op == WEFT_OP_OBJECT_MADE ? REC_MADE : REC_GONE) + kind);
    case WEFT_OP_IO_BEGIN:
    case WEFT_OP_IO_END:
        return kind <= WEFT_IO_CLOSE ? (enum rec_known)(REC_READ + kind) : REC_KNOWN;
    default:
        return REC_KNOWN;
    }
}

/* ---- meeting ----------------------------------------------------------------------------------
 */

static bool meet(struct survey *survey, struct rec_places *places, uint32_t space, uint64_t address)
{
    const uint64_t mixed = (address ^ space) * UINT64_C(0x9e3779b97f4a7c15);
    struct seen *seen = &survey->seen[mixed >> (64 - SEEN_BITS)];
    if (seen->address == address && seen->space == space && seen->places == places)
        return true;
    *seen = (struct seen){ .address = address, .space = space, .places = places };
    return rec_names_meet(&survey->convert->names, places, space, address);
}

static bool meet_function(struct survey *survey, uint64_t address)
{
    return meet(survey, &survey->convert->names.functions, survey->image, address);
}

static bool meet_caller(struct survey *survey, uint64_t caller)
{
    return meet(survey, &survey->convert->names.callers, survey->image, caller);
}

static bool meet_object(struct survey *survey, uint64_t address)
{
    return meet(survey, &survey->convert->names.objects, survey->pid, address);
}

/* An operation on an object, recorded with its caller. */
static bool meet_use(struct survey *survey, const struct rec_record *record)
{
    return meet_object(survey, rec_extra(record, 0)) && meet_caller(survey, rec_extra(record, 1));
}

static bool meet_wait(struct survey *survey, const struct rec_record *record)
{
    const unsigned kind = (unsigned)rec_word_argument(record->word) & 0xff;
    const bool is_object =
        kind == WEFT_WAIT_CONDITION || kind == WEFT_WAIT_BARRIER || kind == WEFT_WAIT_ONCE;
    return (!is_object || meet_object(survey, rec_extra(record, 1))) &&
           meet_caller(survey, rec_extra(record, 0));
}

static bool meet_watch(struct survey *survey, const struct rec_record *record)
{
    struct rec_convert *convert = survey->convert;
    (void)pthread_mutex_lock(&convert->names.lock);
    struct rec_watch *watch = WEFT_VEC_PUSH(&convert->watches);
    if (watch)
        *watch = (struct rec_watch){ .pid = survey->pid,
                                     .epoll_fd = rec_extra(record, 0),
                                     .fd = rec_extra(record, 1),
                                     .word = rec_extra(record, 2),
                                     .ticks = record->ticks };
    (void)pthread_mutex_unlock(&convert->names.lock);
    return watch != NULL;
}

static bool meet_begin(struct survey *survey, const struct rec_record *record)
{
    struct rec_convert *convert = survey->convert;
    (void)pthread_mutex_lock(&convert->names.lock);
    struct rec_begin *begin = WEFT_VEC_PUSH(&convert->begins);
    if (begin)
        *begin = (struct rec_begin){ .handle = rec_extra(record, 0),
                                     .ticks = record->ticks,
                                     .routine = rec_extra(record, 1),
                                     .pid = survey->pid,
                                     .thread = survey->thread,
                                     .image = survey->image };
    (void)pthread_mutex_unlock(&convert->names.lock);
    return begin != NULL;
}

static bool meet_culled(struct survey *survey, const struct rec_record *record)
{
    struct rec_convert *convert = survey->convert;
    (void)pthread_mutex_lock(&convert->names.lock);
    struct rec_culled *culled = WEFT_VEC_PUSH(&convert->culled);
    if (culled)
        *culled = (struct rec_culled){ .address = rec_extra(record, 0),
                                       .n_calls = rec_extra(record, 1),
                                       .image = survey->image };
    (void)pthread_mutex_unlock(&convert->names.lock);
    return culled != NULL && meet_function(survey, rec_extra(record, 0));
}

static void take_name(struct survey *survey, struct weft_str name)
{
    survey->n_name = name.n_bytes < sizeof survey->name ? name.n_bytes : sizeof survey->name;
    memcpy(survey->name, name.bytes, survey->n_name);
    survey->has_name = true;
}

static bool meet_op(struct survey *survey, const struct rec_record *record)
{
    const unsigned op = rec_word_op(record->word);
    const enum rec_known known = rec_known_of_op(op, rec_word_argument(record->word));
    if (known < REC_KNOWN && !survey->is_known_seen[known]) {
        survey->is_known_seen[known] = true;
        rec_names_meet_known(&survey->convert->names, known);
    }
    switch ((enum weft_op)op) {
    case WEFT_OP_LOCK_REQUEST:
    case WEFT_OP_LOCK_ACQUIRED:
    case WEFT_OP_LOCK_FAILED:
    case WEFT_OP_LOCK_RELEASED:
    case WEFT_OP_SIGNAL:
    case WEFT_OP_OBJECT_MADE:
    case WEFT_OP_OBJECT_GONE:
        return meet_use(survey, record);
    case WEFT_OP_WAIT_BEGIN:
        return meet_wait(survey, record);
    case WEFT_OP_IO_BEGIN:
        return meet_caller(survey, rec_extra(record, 2));
    case WEFT_OP_EPOLL_WATCH:
        return meet_watch(survey, record);
    case WEFT_OP_THREAD_NAME:
        take_name(survey, rec_extra_text(record, 0));
        return true;
    case WEFT_OP_THREAD_BEGIN:
        return meet_begin(survey, record);
    case WEFT_OP_TASK_BEGIN:
    case WEFT_OP_TASK_END:
        return rec_names_meet_text(&survey->convert->names, rec_extra_text(record, 1));
    case WEFT_OP_CULLED:
        return meet_culled(survey, record);
    case WEFT_OP_LOST:
        survey->has_lost = true;
        return true;
    case WEFT_OP_ENTER_FAR:
    case WEFT_OP_EXIT_FAR:
        return meet_function(survey, rec_extra(record, 0));
    default:
        return true;
    }
}

static bool meet_record(struct survey *survey, const struct rec_record *record)
{
    const struct rec_spaces *spaces = &survey->convert->spaces;
    while (survey->image_end_ns != UINT64_MAX &&
           rec_clock_ns(&survey->convert->clocks, &survey->clock_at, record->ticks) >=
               survey->image_end_ns) {
        survey->image = rec_image_next(spaces, survey->pid, survey->image);
        survey->image_end_ns = rec_image_end(spaces, survey->pid, survey->image);
    }
    if (record->kind == WEFT_UNIT_OP)
        return meet_op(survey, record);
    return meet_function(survey, record->address);
}

/* ---- a thread ---------------------------------------------------------------------------------
 */

static enum weft_code survey_stream(struct survey *survey, struct rec_stream *stream,
                                    struct weft_err *err)
{
    struct rec_convert *convert = survey->convert;
    struct rec_cursor cursor;
    uint64_t ticks;
    bool is_good = true;
    survey->clock_at = 0;
    survey->has_lost = false;
    survey->pid = stream->pid;
    survey->image =
        rec_image_at(&convert->spaces, stream->pid,
                     rec_clock_ns(&convert->clocks, &survey->clock_at, stream->start_ticks));
    survey->image_end_ns = rec_image_end(&convert->spaces, survey->pid, survey->image);
    rec_cursor_init(&cursor, &convert->pieces, &convert->rings, stream);
    while (is_good && rec_cursor_peek(&cursor, &ticks)) {
        const struct rec_record record = rec_cursor_take(&cursor, ticks);
        is_good = meet_record(survey, &record);
    }
    stream->is_lossy = survey->has_lost || cursor.n_lost_units + cursor.n_bad_units > 0;
    is_good &= !cursor.has_failed;
    rec_cursor_fini(&cursor);
    return is_good ? WEFT_OK : weft_no_memory(err, "rings");
}

/* What the program calls its thread is better than what the kernel does: it may be longer. */
static bool set_name(struct survey *survey, const struct rec_thread *thread)
{
    struct rec_convert *convert = survey->convert;
    if (!survey->has_name)
        return true;
    (void)pthread_mutex_lock(&convert->names.lock);
    struct rec_start *start = rec_start_of(&convert->starts, thread->thread);
    const bool is_good =
        start && kernel_thread_name(&convert->kernel.threads, thread->thread,
                                    (struct weft_str){ survey->name, survey->n_name });
    if (start)
        start->is_given = true;
    (void)pthread_mutex_unlock(&convert->names.lock);
    return is_good;
}

enum weft_code rec_survey_thread(struct rec_convert *convert, struct rec_thread *thread,
                                 struct weft_err *err)
{
    struct survey survey = { .convert = convert,
                             .seen = calloc(SEEN, sizeof *survey.seen),
                             .thread = thread->thread };
    enum weft_code code = survey.seen ? WEFT_OK : weft_no_memory(err, "rings");
    for (size_t k = 0; code == WEFT_OK && k < SEEN; k++)
        survey.seen[k].space = REC_NO_IMAGE - 1; /* none */
    for (uint32_t k = thread->first; code == WEFT_OK && k != REC_NONE;
         k = convert->rings.items[k].next)
        code = survey_stream(&survey, &convert->rings.items[k], err);
    if (code == WEFT_OK && !set_name(&survey, thread))
        code = weft_no_memory(err, "names");
    free(survey.seen);
    return code;
}

static int by_handle(const void *a_void, const void *b_void)
{
    const struct rec_begin *a = a_void;
    const struct rec_begin *b = b_void;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->handle != b->handle)
        return a->handle < b->handle ? -1 : 1;
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Most calls first, then by place: the order in which workers meet them tells nothing. */
static int by_calls(const void *a_void, const void *b_void)
{
    const struct rec_culled *a = a_void;
    const struct rec_culled *b = b_void;
    if (a->n_calls != b->n_calls)
        return a->n_calls > b->n_calls ? -1 : 1;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

enum weft_code rec_survey_end(struct rec_convert *convert, struct weft_err *err)
{
    rec_watches_sort(convert);
    if (convert->begins.n)
        qsort(convert->begins.items, convert->begins.n, sizeof *convert->begins.items, by_handle);
    if (convert->culled.n)
        qsort(convert->culled.items, convert->culled.n, sizeof *convert->culled.items, by_calls);
    for (size_t k = 0; k < convert->begins.n; k++)
        convert->kernel.threads.items[convert->begins.items[k].thread].handle =
            convert->begins.items[k].handle;
    return rec_names_seal(&convert->names, &convert->spaces, convert->kernel.sink, err);
}
