/* SPDX-License-Identifier: MIT
 *
 * Collects while events are delivered, from any worker, under one lock; sorts by thread and by CPU;
 * writes at the end, CPUs first, since their switches reveal threads that left a CPU without a
 * record of it. Records of the same nanosecond are ordered by content, so the file does not depend
 * on the workers.
 */
#include "store/arrivals.h"

#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "store/event_builder.h"

#include <pthread.h>
#include <string.h>

enum {
    DEFAULT_LIMIT_BYTES = 64 << 20,
    MOST_NESTED = 8, /* interrupts within each other */
    NAME_BYTES = 32,
    DEVICE_BYTES = 40,
    MOST_TRIED = 64, /* switches of one ns that are put in order */
};

struct interrupt {
    uint64_t number;
    uint8_t n_name, n_device;
    char name[NAME_BYTES], device[DEVICE_BYTES];
};

struct weft_interrupts {
    size_t n;
    uint64_t n_beyond; /* deeper than the stack */
    struct interrupt items[MOST_NESTED];
};

struct processor {
    uint32_t host_id;
    int32_t cpu;
};

struct weft_arrivals {
    pthread_mutex_t lock;
    struct weft_sorter *by_thread, *by_processor;
    struct weft_map *of_processor; /* host and CPU -> lane */
    struct weft_strtab *names;
    struct {
        struct processor *items;
        size_t n, cap;
    } processors;
};

struct weft_arrivals *weft_arrivals_new(size_t limit_bytes)
{
    struct weft_arrivals *arrivals = calloc(1, sizeof *arrivals);
    if (!arrivals)
        return NULL;
    (void)pthread_mutex_init(&arrivals->lock, NULL);
    limit_bytes = limit_bytes ? limit_bytes : DEFAULT_LIMIT_BYTES;
    arrivals->by_thread = weft_sorter_new(limit_bytes);
    arrivals->by_processor = weft_sorter_new(limit_bytes);
    arrivals->of_processor = weft_map_new();
    arrivals->names = weft_strtab_new();
    if (arrivals->by_thread && arrivals->by_processor && arrivals->of_processor && arrivals->names)
        return arrivals;
    weft_arrivals_free(arrivals);
    return NULL;
}

void weft_arrivals_free(struct weft_arrivals *arrivals)
{
    if (!arrivals)
        return;
    weft_sorter_free(arrivals->by_thread);
    weft_sorter_free(arrivals->by_processor);
    weft_map_free(arrivals->of_processor);
    weft_strtab_free(arrivals->names);
    WEFT_VEC_FINI(&arrivals->processors);
    (void)pthread_mutex_destroy(&arrivals->lock);
    free(arrivals);
}

void weft_interrupts_free(struct weft_interrupts *interrupts)
{
    free(interrupts);
}

/* ---- interrupts ----------------------------------------------------------------------------- */

static uint8_t text_copy(char *to, size_t n_room, struct weft_str text)
{
    const size_t n_bytes = text.n_bytes < n_room ? text.n_bytes : n_room;
    if (n_bytes > 0)
        memcpy(to, text.bytes, n_bytes);
    return (uint8_t)n_bytes;
}

static bool interrupt_enter(struct weft_interrupts **place, const struct weft_event *event)
{
    if (!*place)
        *place = calloc(1, sizeof **place);
    struct weft_interrupts *interrupts = *place;
    if (!interrupts)
        return false;
    if (interrupts->n == MOST_NESTED) {
        interrupts->n_beyond++;
        return true;
    }
    struct interrupt *top = &interrupts->items[interrupts->n++];
    top->number = event->value;
    top->n_name = text_copy(top->name, sizeof top->name, event->name);
    top->n_device = text_copy(top->device, sizeof top->device, event->category);
    return true;
}

/* Ends the innermost interrupt of that kind and number, and those within it, whose ends are
 * missing. */
static void interrupt_exit(struct weft_interrupts *interrupts, const struct weft_event *event)
{
    if (!interrupts)
        return;
    if (interrupts->n_beyond > 0) {
        interrupts->n_beyond--;
        return;
    }
    char name[NAME_BYTES];
    const size_t n_name = text_copy(name, sizeof name, event->name);
    for (size_t i = interrupts->n; i-- > 0;) {
        const struct interrupt *item = &interrupts->items[i];
        if (item->number != event->value || item->n_name != n_name ||
            memcmp(item->name, name, n_name) != 0)
            continue;
        interrupts->n = i;
        return;
    }
}

/* ---- taking --------------------------------------------------------------------------------- */

/* Arrivals of one ns stand in this order. */
static uint64_t rank_of(enum weft_event_kind kind)
{
    switch (kind) {
    case WEFT_EVENT_FORK:
        return 0;
    case WEFT_EVENT_WAKING:
        return 1;
    case WEFT_EVENT_WOKEN:
        return 2;
    default:
        return 3; /* switch */
    }
}

static struct weft_sort_record record_of(const struct weft_event *event, uint32_t source)
{
    const uint64_t state = event->kind == WEFT_EVENT_SWITCH ? 0 : event->prev_state & 0xffff;
    return (struct weft_sort_record){
        .key = event->time_ns,
        .words = { rank_of(event->kind) << 56 | (uint64_t)event->kind << 48 | state << 32 |
                       ((uint32_t)event->cpu + 1),
                   (uint64_t)source << 32 | WEFT_ID_NONE, (uint64_t)WEFT_ID_NONE << 32,
                   event->kind == WEFT_EVENT_SWITCH ? 0 : event->value },
    };
}

/* The innermost interrupt of the source. */
static enum weft_code record_interrupt(struct weft_arrivals *arrivals,
                                       const struct weft_interrupts *interrupts,
                                       struct weft_sort_record *record, struct weft_err *err)
{
    if (!interrupts || interrupts->n == 0)
        return WEFT_OK;
    const struct interrupt *top = &interrupts->items[interrupts->n - 1];
    uint32_t name, device;
    enum weft_code code = weft_strtab_intern(
        arrivals->names, (struct weft_str){ top->name, top->n_name }, &name, err);
    WEFT_THEN(code,
              weft_strtab_intern(arrivals->names, (struct weft_str){ top->device, top->n_device },
                                 &device, err));
    if (code != WEFT_OK)
        return code;
    const uint32_t number = top->number < WEFT_ID_NONE ? (uint32_t)top->number : WEFT_ID_NONE;
    record->words[1] = (record->words[1] & ~(uint64_t)UINT32_MAX) | number;
    record->words[2] = (uint64_t)name << 32 | device;
    return WEFT_OK;
}

/* A switch, under its CPU. One from a thread to itself is a thread that comes. */
static enum weft_code processor_take(struct weft_arrivals *arrivals, uint32_t source,
                                     uint32_t host_id, const struct weft_event *event,
                                     struct weft_err *err)
{
    if (event->cpu < 0)
        return WEFT_OK;
    bool is_new;
    const uint32_t lane = weft_map_add(arrivals->of_processor,
                                       (uint64_t)host_id << 32 | (uint32_t)event->cpu, &is_new);
    struct processor *processor = NULL;
    if (lane != WEFT_MAP_NONE && is_new)
        processor = WEFT_VEC_PUSH(&arrivals->processors);
    if (lane == WEFT_MAP_NONE || (is_new && !processor))
        return weft_no_memory(err, "events of other threads");
    if (lane >= WEFT_FORMAT_MAX_PROCESSORS)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "more than %d CPUs",
                         WEFT_FORMAT_MAX_PROCESSORS);
    if (is_new)
        *processor = (struct processor){ .host_id = host_id, .cpu = event->cpu };
    const uint32_t prev = event->next_thread_id == source ? WEFT_ID_NONE : source;
    const struct weft_sort_record record = {
        .key = event->time_ns,
        .words = { (uint64_t)prev << 32 | event->next_thread_id },
    };
    return weft_sorter_add(arrivals->by_processor, lane, &record, err);
}

static enum weft_code event_take(struct weft_arrivals *arrivals, uint32_t source, uint32_t host_id,
                                 const struct weft_interrupts *interrupts,
                                 const struct weft_event *event, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (event->kind == WEFT_EVENT_SWITCH)
        code = processor_take(arrivals, source, host_id, event, err);
    if (code != WEFT_OK || event->next_thread_id == WEFT_ID_NONE || event->next_thread_id == source)
        return code;
    struct weft_sort_record record = record_of(event, source);
    if (event->kind != WEFT_EVENT_SWITCH)
        code = record_interrupt(arrivals, interrupts, &record, err);
    return code == WEFT_OK
               ? weft_sorter_add(arrivals->by_thread, event->next_thread_id, &record, err)
               : code;
}

enum weft_code weft_arrivals_take(struct weft_arrivals *arrivals, uint32_t thread_id,
                                  uint32_t host_id, struct weft_interrupts **interrupts,
                                  const struct weft_event *events, size_t n_events,
                                  struct weft_err *err)
{
    bool is_locked = false;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n_events && code == WEFT_OK; i++) {
        switch (events[i].kind) {
        case WEFT_EVENT_IRQ_ENTER:
            code = interrupt_enter(interrupts, &events[i])
                       ? WEFT_OK
                       : weft_no_memory(err, "events of other threads");
            break;
        case WEFT_EVENT_IRQ_EXIT:
            interrupt_exit(*interrupts, &events[i]);
            break;
        case WEFT_EVENT_SWITCH:
        case WEFT_EVENT_WAKING:
        case WEFT_EVENT_WOKEN:
        case WEFT_EVENT_FORK:
            if (!is_locked)
                (void)pthread_mutex_lock(&arrivals->lock);
            is_locked = true;
            code = event_take(arrivals, thread_id, host_id, *interrupts, &events[i], err);
            if (*interrupts && events[i].kind == WEFT_EVENT_SWITCH)
                (*interrupts)->n = (size_t)((*interrupts)->n_beyond = 0);
            break;
        default:
            break;
        }
    }
    if (is_locked)
        (void)pthread_mutex_unlock(&arrivals->lock);
    return code;
}

/* ---- a lane, one instant at a time ---------------------------------------------------------- */

/* The records of one ns. */
struct instant {
    struct weft_sort_record *items;
    size_t n, cap;
};

struct lane {
    struct weft_sort_reader *reader;
    const struct weft_sort_record *records;
    size_t n, at;
    struct instant instant;
};

static enum weft_code lane_open(struct lane *lane, struct weft_sorter *sorter, uint32_t number,
                                struct weft_err *err)
{
    lane->n = lane->at = 0;
    return weft_sort_reader_open(sorter, number, &lane->reader, err);
}

static void lane_close(struct lane *lane)
{
    weft_sort_reader_close(lane->reader);
    lane->reader = NULL;
}

static int compare_records(const void *a_void, const void *b_void)
{
    const struct weft_sort_record *a = a_void;
    const struct weft_sort_record *b = b_void;
    if (a->words[0] != b->words[0])
        return a->words[0] < b->words[0] ? -1 : 1;
    const uint64_t a_source = a->words[1] >> 32;
    const uint64_t b_source = b->words[1] >> 32;
    if (a_source != b_source)
        return a_source < b_source ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

/* The next instant, its records in an order that does not depend on how they came: those of one
 * source stay as they are. None at the end of the lane. */
static enum weft_code instant_next(struct lane *lane, struct weft_err *err)
{
    struct instant *instant = &lane->instant;
    uint64_t time_ns = 0;
    instant->n = 0;
    for (;;) {
        for (; lane->at < lane->n; lane->at++) {
            if (instant->n > 0 && lane->records[lane->at].key != time_ns)
                goto complete;
            struct weft_sort_record *record = WEFT_VEC_PUSH(instant);
            if (!record)
                return weft_no_memory(err, "events of other threads");
            *record = lane->records[lane->at];
            time_ns = record->key;
        }
        WEFT_TRY(weft_sort_reader_next(lane->reader, &lane->records, &lane->n, err));
        lane->at = 0;
        if (lane->n == 0)
            break;
    }
complete:
    if (instant->n < 2)
        return WEFT_OK;
    for (size_t i = 0; i < instant->n; i++)
        instant->items[i].key = i; /* keeps the order of equals */
    qsort(instant->items, instant->n, sizeof *instant->items, compare_records);
    for (size_t i = 0; i < instant->n; i++)
        instant->items[i].key = time_ns;
    return WEFT_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct writing {
    struct weft_arrivals *arrivals;
    struct weft_commit *commit;
    struct weft_event_builder *builder;
    struct weft_event_flush flush;
    struct lane lane;
    uint32_t current; /* on the CPU in work */
};

static enum weft_code block_flush(void *context, struct weft_event_builder *builder,
                                  struct weft_err *err)
{
    struct writing *writing = context;
    const enum weft_code code =
        weft_commit_arrivals(writing->commit, &builder->head, builder->columns, err);
    weft_event_builder_next_block(builder);
    return code;
}

static enum weft_code event_write(struct writing *writing, const struct weft_event *event,
                                  struct weft_err *err)
{
    return weft_event_builder_put(writing->builder, event, UINT64_MAX, &writing->flush, err);
}

static struct weft_event event_at(uint64_t time_ns, enum weft_event_kind kind)
{
    return (struct weft_event){ .time_ns = time_ns,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE,
                                .cpu = -1,
                                .kind = kind,
                                .name = WEFT_STR(""),
                                .category = WEFT_STR(""),
                                .payload = WEFT_STR("") };
}

/* The thread that was on the CPU had left it without a record: it gets an arrival that says so. */
static enum weft_code displace(struct writing *writing, uint64_t time_ns, int32_t cpu,
                               struct weft_err *err)
{
    struct weft_event event = event_at(time_ns, WEFT_EVENT_SWITCH);
    event.cpu = cpu;
    struct weft_sort_record record = record_of(&event, WEFT_ID_NONE);
    record.words[0] |= UINT64_C(1) << 32; /* state 1, behind one that comes */
    return weft_sorter_add(writing->arrivals->by_thread, writing->current, &record, err);
}

static enum weft_code switch_write(struct writing *writing, const struct weft_sort_record *record,
                                   int32_t cpu, struct weft_err *err)
{
    const uint32_t prev = (uint32_t)(record->words[0] >> 32);
    struct weft_event event = event_at(record->key, WEFT_EVENT_SWITCH);
    enum weft_code code = WEFT_OK;
    event.next_thread_id = (uint32_t)record->words[0];
    event.cpu = cpu;
    if (prev != writing->current) {
        event.object_id = prev;
        event.prev_state = 1;
        if (prev != WEFT_ID_NONE && writing->current != WEFT_ID_NONE)
            code = displace(writing, record->key, cpu, err);
    }
    writing->current = event.next_thread_id;
    return code == WEFT_OK ? event_write(writing, &event, err) : code;
}

/* Switches of one ns: each time the one that leaves the current thread, if there is one. */
static enum weft_code switches_write(struct writing *writing, int32_t cpu, struct weft_err *err)
{
    struct instant *instant = &writing->lane.instant;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < instant->n && code == WEFT_OK; i++) {
        const size_t end = instant->n - i < MOST_TRIED ? instant->n : i + MOST_TRIED;
        size_t best = i;
        while (best < end && instant->items[best].words[0] >> 32 != writing->current)
            best++;
        best = best == end ? i : best;
        const struct weft_sort_record record = instant->items[best];
        memmove(&instant->items[i + 1], &instant->items[i], (best - i) * sizeof record);
        code = switch_write(writing, &record, cpu, err);
    }
    return code;
}

static enum weft_code processor_write(struct writing *writing, uint32_t number, uint32_t row,
                                      struct weft_err *err)
{
    const struct processor *processor = &writing->arrivals->processors.items[number];
    enum weft_code code = lane_open(&writing->lane, writing->arrivals->by_processor, number, err);
    weft_event_builder_start(writing->builder, row);
    writing->current = WEFT_ID_NONE;
    while (code == WEFT_OK) {
        code = instant_next(&writing->lane, err);
        if (code != WEFT_OK || writing->lane.instant.n == 0)
            break;
        code = switches_write(writing, processor->cpu, err);
    }
    if (code == WEFT_OK && writing->builder->head.n_events > 0)
        code = block_flush(writing, writing->builder, err);
    lane_close(&writing->lane);
    return code;
}

static enum weft_code arrival_write(struct writing *writing, const struct weft_sort_record *record,
                                    struct weft_err *err)
{
    const struct weft_strtab *names = writing->arrivals->names;
    const enum weft_event_kind kind = (enum weft_event_kind)(record->words[0] >> 48 & 0xff);
    const uint32_t name = (uint32_t)(record->words[2] >> 32);
    struct weft_event event = event_at(record->key, kind);
    event.cpu = (int32_t)((uint32_t)record->words[0] - 1);
    event.prev_state = (uint32_t)(record->words[0] >> 32 & 0xffff);
    event.value = record->words[3];
    if (kind != WEFT_EVENT_SWITCH)
        event.next_thread_id = (uint32_t)(record->words[1] >> 32);
    event.object_id = (uint32_t)record->words[1];
    if (name != WEFT_ID_NONE) {
        event.name = weft_strtab_get(names, name);
        event.category = weft_strtab_get(names, (uint32_t)record->words[2]);
    }
    return event_write(writing, &event, err);
}

static enum weft_code thread_write(struct writing *writing, uint32_t thread_id,
                                   struct weft_err *err)
{
    enum weft_code code = lane_open(&writing->lane, writing->arrivals->by_thread, thread_id, err);
    weft_event_builder_start(writing->builder, thread_id);
    while (code == WEFT_OK) {
        code = instant_next(&writing->lane, err);
        if (code != WEFT_OK || writing->lane.instant.n == 0)
            break;
        for (size_t i = 0; i < writing->lane.instant.n && code == WEFT_OK; i++)
            code = arrival_write(writing, &writing->lane.instant.items[i], err);
    }
    if (code == WEFT_OK && writing->builder->head.n_events > 0)
        code = block_flush(writing, writing->builder, err);
    lane_close(&writing->lane);
    return code;
}

/* CPUs in order of host and number, whichever was met first. */
static int compare_processors(const void *a_void, const void *b_void)
{
    const struct processor *a = a_void;
    const struct processor *b = b_void;
    if (a->host_id != b->host_id)
        return a->host_id < b->host_id ? -1 : 1;
    return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static enum weft_code processors_write(struct writing *writing, uint32_t n_threads,
                                       struct weft_err *err)
{
    const struct weft_arrivals *arrivals = writing->arrivals;
    const size_t n = arrivals->processors.n;
    struct processor *sorted = calloc(n + 1, sizeof *sorted);
    if (!sorted)
        return weft_no_memory(err, "events of other threads");
    if (n > 0)
        memcpy(sorted, arrivals->processors.items, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_processors);
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n && code == WEFT_OK; i++) {
        const uint32_t lane = weft_map_find(
            arrivals->of_processor, (uint64_t)sorted[i].host_id << 32 | (uint32_t)sorted[i].cpu);
        code = weft_commit_processor(writing->commit, sorted[i].host_id, sorted[i].cpu, err);
        WEFT_THEN(code, processor_write(writing, lane, n_threads + (uint32_t)i, err));
    }
    free(sorted);
    return code;
}

enum weft_code weft_arrivals_write(struct weft_arrivals *arrivals, uint32_t n_threads,
                                   uint32_t block_events, struct weft_commit *commit,
                                   struct weft_err *err)
{
    struct writing writing = { .arrivals = arrivals, .commit = commit };
    writing.builder = weft_event_builder_new(block_events);
    writing.flush = (struct weft_event_flush){ .flush = block_flush, .context = &writing };
    enum weft_code code =
        writing.builder ? WEFT_OK : weft_no_memory(err, "events of other threads");
    WEFT_THEN(code, processors_write(&writing, n_threads, err));
    for (uint32_t i = 0; i < n_threads && code == WEFT_OK; i++)
        if (weft_sorter_count(arrivals->by_thread, i) > 0)
            code = thread_write(&writing, i, err);
    weft_event_builder_free(writing.builder);
    WEFT_VEC_FINI(&writing.lane.instant);
    return code;
}
