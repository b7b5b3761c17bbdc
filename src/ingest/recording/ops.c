/* SPDX-License-Identifier: MIT
 *
 * What operations become. Locks are events of a lock library, as LTTng's; what is waited for but
 * not held (conditions, barriers, joins), semaphores, and blocking input and output are calls of
 * the functions of the C library that they are, with their object as argument: so all analyses see
 * them, and they stand among the program's own calls.
 */
#include "base/vec.h"
#include "ingest/recording/deliver.h"

#include <errno.h>

/* Among so many, the latest, the lock that is given back is looked for. */
enum { MOST_HELD = 1 << 12 };

/* ---- calls ------------------------------------------------------------------------------------
 */

static enum weft_code enter(struct rec_delivery *delivery, uint32_t key, uint64_t time_ns,
                            uint64_t object)
{
    enum weft_code code = rec_put_call(delivery, WEFT_CALL_ENTER, time_ns, key);
    return code == WEFT_OK ? rec_put_call(delivery, WEFT_CALL_ARG, object, 0) : code;
}

static enum weft_code leave(struct rec_delivery *delivery, uint32_t key, uint64_t time_ns)
{
    return rec_put_call(delivery, WEFT_CALL_EXIT, time_ns, key);
}

static enum weft_code at_once(struct rec_delivery *delivery, uint32_t key, uint64_t time_ns,
                              uint64_t object, uint64_t caller)
{
    enum weft_code code = enter(delivery, key, time_ns, object);
    if (code == WEFT_OK)
        rec_result_begin(delivery, key, time_ns, caller);
    WEFT_THEN(code, leave(delivery, key, time_ns));
    return code == WEFT_OK ? rec_result_error(delivery, key, 0) : code;
}

/* ---- locks ------------------------------------------------------------------------------------
 */

static struct weft_str name_of_lock(unsigned kind, bool is_release)
{
    switch ((enum weft_ring_lock)kind) {
    case WEFT_RING_LOCK_READ:
        return is_release ? WEFT_STR("pthread_rwlock_unlock") : WEFT_STR("pthread_rwlock_rdlock");
    case WEFT_RING_LOCK_WRITE:
        return is_release ? WEFT_STR("pthread_rwlock_unlock") : WEFT_STR("pthread_rwlock_wrlock");
    case WEFT_RING_LOCK_SPIN:
        return is_release ? WEFT_STR("pthread_spin_unlock") : WEFT_STR("pthread_spin_lock");
    default:
        return is_release ? WEFT_STR("pthread_mutex_unlock") : WEFT_STR("pthread_mutex_lock");
    }
}

/* How a wait ended, if not by what was waited for. */
static enum weft_code ended_otherwise(struct rec_delivery *delivery, uint32_t error,
                                      uint64_t time_ns)
{
    struct weft_event event = rec_event_of(WEFT_EVENT_INSTANT, time_ns);
    event.name = error == ETIMEDOUT ? WEFT_STR("timed out") : WEFT_STR("failed");
    event.category = WEFT_STR("wait");
    event.value = error;
    return rec_put_event(delivery, &event);
}

static uint32_t result_of(const struct rec_record *record)
{
    return (uint32_t)(rec_word_argument(record->word) >> 8) & 0xffffff;
}

static enum weft_code semaphore(struct rec_delivery *delivery, unsigned op,
                                const struct rec_record *record, uint64_t time_ns)
{
    const uint64_t object = rec_extra(record, 0), caller = rec_extra(record, 1);
    const bool was_asked = delivery->is_in_semaphore;
    enum weft_code code;
    if (op == WEFT_OP_LOCK_RELEASED)
        return at_once(delivery, REC_SEM_POST, time_ns, object, caller);
    delivery->is_in_semaphore = op == WEFT_OP_LOCK_REQUEST;
    if (op == WEFT_OP_LOCK_REQUEST) {
        delivery->semaphore_key = rec_known_of_op(op, rec_word_argument(record->word));
        code = enter(delivery, delivery->semaphore_key, time_ns, object);
        if (code == WEFT_OK)
            rec_result_begin(delivery, delivery->semaphore_key, time_ns, caller);
        return code;
    }
    if (!was_asked)
        return at_once(delivery, REC_SEM_WAIT, time_ns, object, caller);
    code = leave(delivery, delivery->semaphore_key, time_ns);
    WEFT_THEN(code, rec_result_error(delivery, delivery->semaphore_key, result_of(record)));
    return code == WEFT_OK && op == WEFT_OP_LOCK_FAILED
               ? ended_otherwise(delivery, result_of(record), time_ns)
               : code;
}

/* An operation on a lock, without its thread. */
static struct weft_event lock_event(const struct rec_delivery *delivery, enum weft_event_kind kind,
                                    const struct rec_held *lock, uint64_t time_ns)
{
    struct weft_event event = rec_event_of(kind, time_ns);
    event.name = name_of_lock(lock->kind, kind == WEFT_EVENT_LOCK_RELEASED);
    event.value = lock->object;
    event.object_id = rec_place_id(&delivery->convert->names.objects, delivery->pid, lock->object);
    return event;
}

/* Of a stream in which records are missing: what the thread has. False without memory. */
static bool keep_lock(struct rec_source *source, unsigned op, const struct rec_held *lock)
{
    source->is_asking = op == WEFT_OP_LOCK_REQUEST;
    if (op == WEFT_OP_LOCK_REQUEST)
        source->asked = *lock;
    if (op == WEFT_OP_LOCK_ACQUIRED) {
        struct rec_held *held = WEFT_VEC_PUSH(&source->held);
        if (held)
            *held = *lock;
        return held != NULL;
    }
    const size_t n = source->held.n;
    for (size_t k = 1; op == WEFT_OP_LOCK_RELEASED && k <= n && k <= MOST_HELD; k++)
        if (source->held.items[n - k].object == lock->object) {
            source->held.items[n - k] = source->held.items[--source->held.n];
            break;
        }
    return true;
}

enum weft_code rec_locks_leave(struct rec_delivery *delivery, uint64_t time_ns)
{
    struct rec_source *source = delivery->source;
    enum weft_code code = WEFT_OK;
    if (source->is_asking) {
        struct weft_event event =
            lock_event(delivery, WEFT_EVENT_LOCK_FAILED, &source->asked, time_ns);
        event.prev_state = UINT32_MAX;
        code = rec_put_event(delivery, &event);
    }
    source->is_asking = false;
    while (code == WEFT_OK && source->held.n > 0) {
        struct weft_event event = lock_event(delivery, WEFT_EVENT_LOCK_RELEASED,
                                             &source->held.items[--source->held.n], time_ns);
        event.prev_state = UINT32_MAX; /* not recorded */
        code = rec_put_event(delivery, &event);
    }
    return code;
}

static enum weft_code lock(struct rec_delivery *delivery, unsigned op,
                           const struct rec_record *record, uint64_t time_ns)
{
    static const uint8_t kinds[] = { [WEFT_OP_LOCK_REQUEST] = WEFT_EVENT_LOCK_REQUEST,
                                     [WEFT_OP_LOCK_ACQUIRED] = WEFT_EVENT_LOCK_ACQUIRED,
                                     [WEFT_OP_LOCK_FAILED] = WEFT_EVENT_LOCK_FAILED,
                                     [WEFT_OP_LOCK_RELEASED] = WEFT_EVENT_LOCK_RELEASED };
    const int64_t argument = rec_word_argument(record->word);
    const unsigned kind = (unsigned)argument & 0xff;
    if (kind == WEFT_RING_LOCK_SEMAPHORE)
        return semaphore(delivery, op, record, time_ns);
    const struct rec_held lock = { .object = rec_extra(record, 0), .kind = kind };
    if (delivery->source->is_lossy && !keep_lock(delivery->source, op, &lock))
        return weft_no_memory(delivery->err, "locks");
    struct weft_event event = lock_event(delivery, (enum weft_event_kind)kinds[op], &lock, time_ns);
    event.category =
        rec_caller_name(&delivery->convert->names, delivery->source->image, rec_extra(record, 1));
    if (op == WEFT_OP_LOCK_ACQUIRED || op == WEFT_OP_LOCK_FAILED)
        event.prev_state = (uint32_t)(argument >> 8) & 0xffffff;
    if (op == WEFT_OP_LOCK_FAILED && event.prev_state == 0)
        event.prev_state = UINT32_MAX; /* did not get it, whatever the call returned */
    return rec_put_event(delivery, &event);
}

/* ---- waits, input and output ------------------------------------------------------------------
 */

/* All objects that are waited for, any of them or all, are arguments of the call. */
static enum weft_code begin_wait(struct rec_delivery *delivery, const struct rec_record *record,
                                 uint32_t key, uint64_t time_ns)
{
    const unsigned kind = (unsigned)rec_word_argument(record->word) & 0xff;
    enum weft_code code = enter(delivery, key, time_ns, rec_extra(record, 1));
    delivery->wait_keys[kind] = key;
    for (unsigned k = 2; code == WEFT_OK && k < record->n_extra; k++)
        code = rec_put_call(delivery, WEFT_CALL_ARG, rec_extra(record, k), 0);
    if (code == WEFT_OK)
        rec_result_begin(delivery, key, time_ns, rec_extra(record, 0));
    return code;
}

/* Descriptors that were ready; of a set of epoll the program's own words for them are recorded. */
static enum weft_code tell_ready(struct rec_delivery *delivery, const struct rec_record *record,
                                 uint32_t key, bool is_epoll)
{
    uint64_t objects[WEFT_OP_WORDS_MAX];
    size_t n_objects = 0;
    for (unsigned k = 1; k < record->n_extra; k++) {
        const uint64_t object = rec_extra(record, k);
        const struct rec_watch asked = { .pid = delivery->pid,
                                         .epoll_fd = delivery->epoll_fd,
                                         .word = object,
                                         .ticks = record->ticks };
        uint64_t fd = object;
        if (!is_epoll || rec_watch_find(delivery->convert, &asked, &fd))
            objects[n_objects++] = fd;
    }
    return rec_result_objects(delivery, key, "ready", objects, n_objects);
}

static enum weft_code tell_end(struct rec_delivery *delivery, const struct rec_record *record,
                               unsigned kind, uint32_t key)
{
    const uint32_t result = result_of(record);
    if ((kind == WEFT_WAIT_POLL || kind == WEFT_WAIT_EPOLL) && result == 0)
        return tell_ready(delivery, record, key, kind == WEFT_WAIT_EPOLL);
    if (kind == WEFT_WAIT_CHILD && result == 0)
        return rec_result_value(delivery, key, (int64_t)rec_extra(record, 1));
    return rec_result_error(delivery, key, result);
}

/* A poll whose time is over has no error, and no object; a barrier returns to one thread that it is
 * the last. */
static enum weft_code end_wait(struct rec_delivery *delivery, const struct rec_record *record,
                               uint64_t time_ns)
{
    const unsigned kind = (unsigned)rec_word_argument(record->word) & 0xff;
    const uint32_t result = result_of(record);
    const bool is_poll = kind == WEFT_WAIT_POLL || kind == WEFT_WAIT_EPOLL;
    enum weft_code code = leave(delivery, delivery->wait_keys[kind], time_ns);
    WEFT_THEN(code, tell_end(delivery, record, kind, delivery->wait_keys[kind]));
    if (code != WEFT_OK || kind == WEFT_WAIT_BARRIER)
        return code;
    if (is_poll && result == 0 && record->n_extra < 2)
        return ended_otherwise(delivery, ETIMEDOUT, time_ns);
    return result ? ended_otherwise(delivery, result, time_ns) : WEFT_OK;
}

/* Where no kernel event shows which thread ended a wait, these do: a descriptor that a thread made
 * ready, and a file that it waited for (model/graph/ends.h). */
static enum weft_code descriptor(struct rec_delivery *delivery, const char *name, uint64_t value,
                                 uint64_t time_ns)
{
    struct weft_event event = rec_event_of(WEFT_EVENT_INSTANT, time_ns);
    event.name = weft_str_of(name);
    event.category = WEFT_STR("descriptor");
    event.value = value;
    return delivery->convert->has_kernel ? WEFT_OK : rec_put_event(delivery, &event);
}

static enum weft_code begin_io(struct rec_delivery *delivery, const struct rec_record *record,
                               uint32_t key, uint64_t time_ns)
{
    enum weft_code code = enter(delivery, key, time_ns, rec_extra(record, 0));
    delivery->io_start_ns = time_ns;
    if (code == WEFT_OK && record->n_extra > 3)
        code = descriptor(delivery, "made ready", rec_extra(record, 3), time_ns);
    if (code != WEFT_OK)
        return code;
    rec_result_begin(delivery, key, time_ns, rec_extra(record, 2));
    if (key == REC_READ || key == REC_WRITE || key == REC_RECV || key == REC_SEND)
        rec_result_asked(delivery, rec_extra(record, 1));
    return WEFT_OK;
}

static enum weft_code end_io(struct rec_delivery *delivery, const struct rec_record *record,
                             uint32_t key, uint64_t time_ns)
{
    const bool is_of_file = key == REC_FSYNC || rec_word_argument(record->word) & WEFT_IO_OF_FILE;
    enum weft_code code = leave(delivery, key, time_ns);
    WEFT_THEN(code, rec_result_value(delivery, key, (int64_t)rec_extra(record, 1)));
    return code == WEFT_OK && is_of_file && time_ns > delivery->io_start_ns
               ? descriptor(delivery, "waited for a file", time_ns - delivery->io_start_ns, time_ns)
               : code;
}

static enum weft_code wait_or_io(struct rec_delivery *delivery, unsigned op,
                                 const struct rec_record *record, uint64_t time_ns)
{
    const enum rec_known known = rec_known_of_op(op, rec_word_argument(record->word));
    if (known == REC_KNOWN)
        return WEFT_OK;
    switch ((enum weft_op)op) {
    case WEFT_OP_WAIT_BEGIN:
        if ((rec_word_argument(record->word) & 0xff) == WEFT_WAIT_EPOLL)
            delivery->epoll_fd = rec_extra(record, 1);
        return begin_wait(delivery, record, known, time_ns);
    case WEFT_OP_WAIT_END:
        return end_wait(delivery, record, time_ns);
    case WEFT_OP_IO_BEGIN:
        return begin_io(delivery, record, known, time_ns);
    case WEFT_OP_SIGNAL:
    case WEFT_OP_OBJECT_MADE:
    case WEFT_OP_OBJECT_GONE:
        return at_once(delivery, known, time_ns, rec_extra(record, 0), rec_extra(record, 1));
    default:
        return end_io(delivery, record, known, time_ns);
    }
}

/* ---- threads ----------------------------------------------------------------------------------
 */

/* The thread with this handle that began first after `ticks`, when its making began: handles are
 * used again. */
static const struct rec_begin *find_begin(const struct rec_convert *convert, uint32_t pid,
                                          uint64_t handle, uint64_t ticks)
{
    size_t low = 0, high = convert->begins.n;
    const struct rec_begin *items = convert->begins.items;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct rec_begin *at = &items[middle];
        if (at->pid < pid || (at->pid == pid &&
                              (at->handle < handle || (at->handle == handle && at->ticks < ticks))))
            low = middle + 1;
        else
            high = middle;
    }
    const struct rec_begin *found = low < convert->begins.n ? &items[low] : NULL;
    return found && found->pid == pid && found->handle == handle ? found : NULL;
}

/* Unless kernel events show it. */
static enum weft_code created(struct rec_delivery *delivery, const struct rec_record *record,
                              uint64_t time_ns)
{
    const struct rec_convert *convert = delivery->convert;
    const struct rec_begin *begin =
        find_begin(convert, delivery->pid, rec_extra(record, 0), record->ticks);
    struct weft_event event = rec_event_of(WEFT_EVENT_FORK, time_ns);
    if (convert->has_forks || !begin || rec_word_argument(record->word) != 0)
        return WEFT_OK;
    event.next_thread_id = convert->kernel.threads.items[begin->thread].thread_id;
    event.value = rec_extra(record, 0); /* by which it will be joined */
    return rec_put_event(delivery, &event);
}

static enum weft_code ended(struct rec_delivery *delivery, uint64_t time_ns)
{
    const struct weft_event event = rec_event_of(WEFT_EVENT_EXIT, time_ns);
    return delivery->convert->has_kernel ? WEFT_OK : rec_put_event(delivery, &event);
}

static enum weft_code lost(struct rec_delivery *delivery, const struct rec_record *record,
                           uint64_t time_ns)
{
    struct weft_event event = rec_event_of(WEFT_EVENT_INSTANT, time_ns);
    event.name = WEFT_STR("records lost");
    event.category = WEFT_STR("recording");
    event.value = rec_extra(record, 0);
    if (delivery->lost.n_records == 0)
        delivery->lost.at_off = record->off;
    delivery->lost.n_records = weft_add_sat_u64(delivery->lost.n_records, event.value);
    return rec_put_event(delivery, &event);
}

/* ---- markers ----------------------------------------------------------------------------------
 */

static enum weft_code named_point(struct rec_delivery *delivery, enum weft_event_kind kind,
                                  struct weft_str name, uint64_t value, uint64_t time_ns)
{
    struct weft_event event = rec_event_of(kind, time_ns);
    event.name = name;
    event.value = value;
    event.category = kind == WEFT_EVENT_COUNTER ? WEFT_STR("") : WEFT_STR("mark");
    return rec_put_event(delivery, &event);
}

/* An arrow leads from where a task was queued to where it runs; that is a call named after it. */
static enum weft_code task(struct rec_delivery *delivery, unsigned op,
                           const struct rec_record *record, uint64_t time_ns)
{
    const struct weft_str queue = rec_extra_text(record, 1);
    struct weft_event event = rec_event_of(
        op == WEFT_OP_TASK_QUEUED ? WEFT_EVENT_FLOW_BEGIN : WEFT_EVENT_FLOW_END, time_ns);
    const uint32_t key =
        op == WEFT_OP_TASK_QUEUED ? WEFT_ID_NONE : rec_text_key(&delivery->convert->names, queue);
    if (op == WEFT_OP_TASK_END)
        return leave(delivery, key, time_ns);
    event.name = queue;
    event.category = WEFT_STR("task");
    event.value = rec_extra(record, 0);
    const enum weft_code code = rec_put_event(delivery, &event);
    return code == WEFT_OK && op == WEFT_OP_TASK_BEGIN ? enter(delivery, key, time_ns, event.value)
                                                       : code;
}

static enum weft_code mark(struct rec_delivery *delivery, unsigned op,
                           const struct rec_record *record, uint64_t time_ns)
{
    switch ((enum weft_op)op) {
    case WEFT_OP_MARK_BEGIN:
        return rec_mark_begin(delivery, rec_extra(record, 0), rec_extra_text(record, 1), time_ns);
    case WEFT_OP_MARK_END:
        return rec_mark_end(delivery, rec_extra(record, 0), rec_extra_text(record, 1), time_ns);
    case WEFT_OP_MARK_METRIC:
        return rec_mark_metric(delivery, record, time_ns);
    case WEFT_OP_MARK_INSTANT:
        return named_point(delivery, WEFT_EVENT_INSTANT, rec_extra_text(record, 0), 0, time_ns);
    case WEFT_OP_MARK_COUNTER:
        return named_point(delivery, WEFT_EVENT_COUNTER, rec_extra_text(record, 1),
                           rec_extra(record, 0), time_ns);
    case WEFT_OP_SNAPSHOT:
        return named_point(delivery, WEFT_EVENT_INSTANT, rec_extra_text(record, 0), 0, time_ns);
    default:
        return task(delivery, op, record, time_ns);
    }
}

enum weft_code rec_deliver_op(struct rec_delivery *delivery, const struct rec_record *record,
                              uint64_t time_ns)
{
    const unsigned op = rec_word_op(record->word);
    switch ((enum weft_op)op) {
    case WEFT_OP_LOST:
        return lost(delivery, record, time_ns);
    case WEFT_OP_THREAD_CREATE:
        return created(delivery, record, time_ns);
    case WEFT_OP_THREAD_END:
        return ended(delivery, time_ns);
    case WEFT_OP_LOCK_REQUEST:
    case WEFT_OP_LOCK_ACQUIRED:
    case WEFT_OP_LOCK_FAILED:
    case WEFT_OP_LOCK_RELEASED:
        return lock(delivery, op, record, time_ns);
    case WEFT_OP_WAIT_BEGIN:
    case WEFT_OP_WAIT_END:
    case WEFT_OP_SIGNAL:
    case WEFT_OP_OBJECT_MADE:
    case WEFT_OP_OBJECT_GONE:
    case WEFT_OP_IO_BEGIN:
    case WEFT_OP_IO_END:
        return wait_or_io(delivery, op, record, time_ns);
    case WEFT_OP_MARK_BEGIN:
    case WEFT_OP_MARK_END:
    case WEFT_OP_MARK_METRIC:
    case WEFT_OP_MARK_INSTANT:
    case WEFT_OP_MARK_COUNTER:
    case WEFT_OP_TASK_QUEUED:
    case WEFT_OP_TASK_BEGIN:
    case WEFT_OP_TASK_END:
    case WEFT_OP_SNAPSHOT:
        return mark(delivery, op, record, time_ns);
    case WEFT_OP_ENTER_FAR:
    case WEFT_OP_EXIT_FAR:
        return rec_put_call(delivery, op == WEFT_OP_ENTER_FAR ? WEFT_CALL_ENTER : WEFT_CALL_EXIT,
                            time_ns, rec_function_key(delivery, rec_extra(record, 0)));
    case WEFT_OP_THREAD_NAME:
    case WEFT_OP_THREAD_BEGIN:
    case WEFT_OP_CULLED:
    case WEFT_OP_EPOLL_WATCH:
        return WEFT_OK; /* the survey took them */
    default:
        delivery->lost.n_bad++;
        return WEFT_OK;
    }
}
