/* SPDX-License-Identifier: MIT
 *
 * What is reported to the ledger, in order of time.
 */
#include "base/checked.h"
#include "base/vec.h"
#include "record/session/ledger_table.h"
#include "record/session/ticks.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum ledger_event_kind {
    /* The order of those of one time. */
    EVENT_FORK,  /* of the kernel: tid made the thread `value` of process pid */
    EVENT_EXEC,  /* pid, by its thread tid; name */
    EVENT_CHILD, /* of the journal: parent made the process pid */
    EVENT_WILL_EXEC,
    EVENT_RING, /* value: in `rings` */
    EVENT_NO_RING,
    EVENT_NO_EXEC,
    EVENT_EXIT, /* of the thread tid */
    EVENT_ENDED,
};

enum {
    MOST_EVENTS = 1 << 20, /* reported and not taken */
    EARLY_NS = 1000000,    /* that clocks of sources may differ */
    WAIT_NS = 1000000000,  /* for what the kernel has to say of a ring's process */
    REACH_DAMAGED = WEFT_REACHES,
};

static struct ledger_event *push(struct ledger *ledger, enum ledger_event_kind kind,
                                 uint64_t time_ns)
{
    if (!ledger || !ledger->has_begun || ledger->is_finished)
        return NULL;
    if (ledger->events.n >= MOST_EVENTS) { /* a recorder that was stopped for a while */
        ledger->n_lost_reports++;
        return NULL;
    }
    struct ledger_event *event = WEFT_VEC_PUSH(&ledger->events);
    if (!event) {
        ledger->has_no_memory = true;
        return NULL;
    }
    event->kind = kind;
    event->time_ns = time_ns;
    event->order = ledger->n_events++;
    return event;
}

/* What a program reports has happened before it is read; its times are its own to write. */
static uint64_t not_later(uint64_t time_ns)
{
    return weft_min_u64(time_ns, session_clock_ns(CLOCK_MONOTONIC));
}

static uint32_t report_name(struct ledger *ledger, const char *name)
{
    const uint32_t id = ledger_name(ledger, name);
    ledger->n_lost_reports += id == 0 && *name;
    return id;
}

/* ---- reports ----------------------------------------------------------------------------------
 */

void ledger_take_record(struct ledger *ledger, const struct weft_kernel_record *record,
                        const char *payload)
{
    struct ledger_event *event = NULL;
    char name[256];
    if (!ledger || !ledger->has_kernel)
        return;
    if (record->type == WEFT_KERNEL_FORK) {
        event = push(ledger, EVENT_FORK, record->time_ns);
        if (event) {
            event->tid = record->tid;
            event->value = (uint32_t)record->a;
            event->pid = (uint32_t)(record->a >> 32);
        }
    } else if (record->type == WEFT_KERNEL_EXEC) {
        event = push(ledger, EVENT_EXEC, record->time_ns);
        if (event) {
            event->pid = (uint32_t)record->a;
            event->tid = (uint32_t)(record->a >> 32);
            (void)snprintf(name, sizeof name, "%.*s", (int)strnlen(payload, record->payload_bytes),
                           payload);
            event->name = report_name(ledger, name);
        }
    } else if (record->type == WEFT_KERNEL_EXIT) {
        event = push(ledger, EVENT_EXIT, record->time_ns);
        if (event)
            event->tid = record->tid;
    }
}

uint32_t ledger_add_ring(struct ledger *ledger, const struct ledger_ring_news *news)
{
    struct ledger_event *event = push(ledger, EVENT_RING, not_later(news->start_ns));
    if (!event)
        return UINT32_MAX;
    const bool has_place = ledger->rings.n < 2 * LEDGER_MOST;
    struct ledger_ring *ring = has_place ? WEFT_VEC_PUSH(&ledger->rings) : NULL;
    if (!ring) {
        ledger->events.n--;
        ledger->n_lost_reports += !has_place;
        ledger->has_no_memory |= has_place;
        return UINT32_MAX;
    }
    ring->library = news->library;
    event->pid = news->pid;
    event->parent = news->parent;
    event->is_fork = news->is_fork;
    event->is_new_program = news->is_new_program;
    event->name = report_name(ledger, news->exe);
    event->value = (uint32_t)ledger->rings.n - 1;
    return event->value;
}

void ledger_count(struct ledger *ledger, uint32_t ring, const struct ledger_counts *counts)
{
    if (ledger && ring < ledger->rings.n)
        ledger_apply_counts(ledger, &ledger->rings.items[ring], counts);
}

void ledger_take_entry(struct ledger *ledger, const struct weft_journal_entry *entry,
                       uint64_t time_ns)
{
    static const enum ledger_event_kind kinds[] = { [WEFT_JOURNAL_FORK] = EVENT_CHILD,
                                                    [WEFT_JOURNAL_EXEC] = EVENT_WILL_EXEC,
                                                    [WEFT_JOURNAL_NO_EXEC] = EVENT_NO_EXEC,
                                                    [WEFT_JOURNAL_NO_RING] = EVENT_NO_RING };
    if (entry->kind < WEFT_JOURNAL_FORK || entry->kind > WEFT_JOURNAL_NO_RING || entry->pid == 0)
        return;
    char path[WEFT_JOURNAL_PATH_BYTES + 1];
    struct ledger_event *event = push(ledger, kinds[entry->kind], not_later(time_ns));
    if (!event)
        return;
    event->pid = entry->pid;
    event->parent = entry->parent;
    event->value = entry->value;
    (void)snprintf(path, sizeof path, "%.*s", (int)strnlen(entry->path, sizeof entry->path),
                   entry->path);
    event->name = report_name(ledger, path);
}

void ledger_no_ring(struct ledger *ledger, uint32_t pid, uint32_t reach, uint64_t time_ns)
{
    struct ledger_event *event = push(ledger, EVENT_NO_RING, time_ns);
    if (!event)
        return;
    event->pid = pid;
    event->value = reach;
}

void ledger_bad_ring(struct ledger *ledger, uint32_t pid, uint64_t time_ns)
{
    ledger_no_ring(ledger, pid, REACH_DAMAGED, time_ns);
}

void ledger_ended(struct ledger *ledger, uint32_t pid, uint64_t now_ns)
{
    struct ledger_event *event =
        ledger && !ledger->has_kernel ? push(ledger, EVENT_ENDED, now_ns) : NULL;
    if (event)
        event->pid = pid;
}

/* ---- taken ------------------------------------------------------------------------------------
 */

static bool is_live(const struct ledger_process *process)
{
    return process && process->end_ns == WEFT_LEDGER_NO_TIME;
}

static void start_thread(struct ledger *ledger, struct ledger_process *process, uint32_t tid)
{
    process->n_live++;
    process->n_kernel_threads++;
    process->is_known_to_kernel = process->is_changed = true;
    ledger_set_tid(ledger, tid, process);
}

static void take_fork(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_process *parent = ledger_of_tid(ledger, event->tid);
    if (!parent) { /* not of the program; its number may be that of a thread that was */
        if (ledger_of_tid(ledger, event->value))
            ledger_set_tid(ledger, event->value, NULL);
        return;
    }
    if (event->pid == parent->pid) {
        const bool is_met = ledger_of_tid(ledger, event->value) == parent;
        if (!is_met || event->time_ns > ledger->met_ns)
            start_thread(ledger, parent, event->value);
        return;
    }
    const size_t place = (size_t)(parent - ledger->processes.items);
    struct ledger_process *child = ledger_of_pid(ledger, event->pid);
    /* Its ring, or its parent's journal, may have been reported before. */
    if (!is_live(child) || child->is_known_to_kernel || child->start_ns + EARLY_NS < event->time_ns)
        child = ledger_add(ledger, event->pid, parent->pid, event->time_ns);
    if (!child)
        return;
    parent = &ledger->processes.items[place];
    child->parent = parent->pid;
    if (!child->image.is_exec)
        ledger_inherit(ledger, child, parent);
    start_thread(ledger, child, event->value);
}

static void take_exec(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_process *process = ledger_of_tid(ledger, event->tid);
    if (!process || process->pid != event->pid)
        process = ledger_of_tid(ledger, event->pid);
    if (!is_live(process) || process->pid != event->pid)
        return;
    if (event->tid != event->pid)
        ledger_set_tid(ledger, event->tid, NULL);
    ledger_set_tid(ledger, event->pid, process);
    process->n_live = 1;
    ledger_exec(ledger, process, event->time_ns);
    process->name = event->name;
}

static void take_exit(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_process *process = ledger_of_tid(ledger, event->tid);
    if (!is_live(process))
        return;
    ledger_set_tid(ledger, event->tid, NULL);
    process->n_live -= process->n_live > 0;
    if (process->n_live == 0)
        ledger_end(ledger, process, event->time_ns);
}

/* What /proc has shown as an orphan is a copy of its parent, unless it runs another program. */
static void find_parent(struct ledger *ledger, struct ledger_process *child,
                        const struct ledger_event *event)
{
    const struct ledger_process *parent = ledger_of_pid(ledger, event->parent);
    if (!child->is_orphan || !parent || parent == child)
        return;
    child->is_orphan = false;
    child->parent = event->parent;
    child->start_ns = weft_min_u64(child->start_ns, event->time_ns);
    if (child->exe && parent->exe && child->exe != parent->exe)
        return;
    child->image.is_exec = false;
    child->image.start_ns = weft_min_u64(child->image.start_ns, event->time_ns);
    ledger_inherit(ledger, child, parent);
}

/* The process that a ring is of, among those that have had its pid; NULL: not known yet. */
static struct ledger_process *owner_of(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_process *process = ledger_of_pid(ledger, event->pid), *found = NULL;
    /* /proc may show it before its ring is found. */
    if (!ledger->has_kernel && is_live(process) && !process->image.has_ring &&
        process->start_ns < event->time_ns + WAIT_NS) {
        process->start_ns = weft_min_u64(process->start_ns, event->time_ns);
        return process;
    }
    while (process) {
        const bool is_before = process->start_ns <= event->time_ns + EARLY_NS;
        const bool is_of_fork = process->start_ns + EARLY_NS >= event->time_ns;
        if (event->is_fork ? is_of_fork : is_before)
            found = process;
        if (found && !event->is_fork)
            return found;
        process = process->before ? &ledger->processes.items[process->before - 1] : NULL;
    }
    return found;
}

/* Where no kernel records programs: the first ring of one says that it runs. */
static void enter_program(struct ledger *ledger, struct ledger_process *process,
                          const struct ledger_event *event)
{
    const struct ledger_image *image = &process->image;
    if (ledger->has_kernel || event->is_fork || !event->is_new_program)
        return;
    if (!image->is_exec || image->has_ring)
        ledger_exec(ledger, process, event->time_ns);
}

/* False: to be tried again. */
static bool take_ring(struct ledger *ledger, const struct ledger_event *event, uint64_t until_ns)
{
    struct ledger_process *process = owner_of(ledger, event);
    struct ledger_ring *ring = &ledger->rings.items[event->value];
    if (!process) {
        if (ledger->has_kernel && !ledger->is_finished && until_ns < event->time_ns + WAIT_NS)
            return false;
        if (!ledger_is_stranger(ledger, event->pid, event->parent))
            process = ledger_add(ledger, event->pid, event->parent, event->time_ns);
    }
    if (!process)
        return true;
    if (event->is_fork)
        find_parent(ledger, process, event);
    enter_program(ledger, process, event);
    const bool is_of_image = event->is_fork ? !process->image.is_exec
                                            : !ledger->has_kernel || process->image.start_ns <=
                                                                         event->time_ns + EARLY_NS;
    if (is_of_image)
        ledger_cover(ledger, process);
    else
        process->past.has_covered = true; /* of a program that it ran before */
    if (is_of_image && !event->is_fork)
        process->exe = event->name;
    if (event->name && is_of_image)
        process->name = event->name;
    const struct ledger_counts counts = ring->counts;
    ring->counts = (struct ledger_counts){ 0 };
    ring->process = (uint32_t)(process - ledger->processes.items) + 1;
    ledger_apply_counts(ledger, ring, &counts);
    process->is_changed = true;
    return true;
}

/* A process that a program reports, not the kernel; NULL: it is not of the program. */
static struct ledger_process *add_reported(struct ledger *ledger, const struct ledger_event *event)
{
    return ledger_has_place(ledger, event->pid, event->parent)
               ? ledger_add(ledger, event->pid, event->parent, event->time_ns)
               : NULL;
}

static void take_child(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_process *child = ledger_of_pid(ledger, event->pid);
    struct ledger_process *parent = ledger_of_pid(ledger, event->parent);
    const size_t place = parent ? (size_t)(parent - ledger->processes.items) : SIZE_MAX;
    const bool expects_ring =
        event->kind == EVENT_CHILD && event->value == WEFT_JOURNAL_CHILD_HAS_RING;
    if (ledger->has_kernel) {
        if (child && child->parent == event->parent && expects_ring)
            ledger_expect_ring(ledger, child);
        return;
    }
    /* It may have been met in /proc, by its ring, or even its end, before its parent wrote this. */
    if (child && !child->is_target && !child->is_forked &&
        (is_live(child) || child->start_ns + WAIT_NS > event->time_ns)) {
        child->is_forked = event->kind == EVENT_CHILD;
        find_parent(ledger, child, event);
        if (expects_ring)
            ledger_expect_ring(ledger, child);
        return;
    }
    if (is_live(child)) /* its number is another process's now */
        ledger_end(ledger, child, event->time_ns);
    child = add_reported(ledger, event);
    if (child) /* its parent may write that later than it does anything itself */
        child->is_forked = event->kind == EVENT_CHILD;
    if (child && place != SIZE_MAX)
        ledger_inherit(ledger, child, &ledger->processes.items[place]);
    /* A process that writes to the journal has the library, also if its ring was not found yet. */
    if (child && (place == SIZE_MAX || !ledger->processes.items[place].image.failure))
        child->inherits = true;
    if (child)
        child->expects_ring = expects_ring;
}

static void take_will_exec(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_process *process = ledger_of_pid(ledger, event->pid);
    const bool is_known =
        process && event->time_ns <= process->end_ns; /* which may have ended since */
    if (!is_known) {                                  /* of vfork, which nothing reports */
        take_child(ledger, event);
        process = ledger_of_pid(ledger, event->pid);
    }
    if (!is_known && !is_live(process))
        return;
    /* It may have been met in /proc since, when it ran that program already. */
    if (process->image.is_exec && process->image.start_ns >= event->time_ns)
        process->image.start_ns = event->time_ns;
    else
        ledger_exec(ledger, process, event->time_ns);
    if (process->start_ns > event->time_ns)
        process->start_ns = event->time_ns;
    process->name = event->name ? event->name : process->name;
}

static void take_no_exec(struct ledger_process *process)
{
    if (!process->image.is_exec || process->image.has_ring)
        return;
    process->image = process->image_before;
    process->name = process->name_before;
    process->exe = process->exe_before;
}

static enum weft_ledger_why why_of_reach(uint32_t reach)
{
    switch (reach) {
    case WEFT_REACH_MEMORY:
        return WEFT_LEDGER_NO_MEMORY;
    case WEFT_REACH_CLOCK:
        return WEFT_LEDGER_NO_CLOCK;
    case REACH_DAMAGED:
        return WEFT_LEDGER_DAMAGED;
    default:
        return WEFT_LEDGER_UNREACHABLE;
    }
}

static void take_no_ring(struct ledger *ledger, const struct ledger_event *event)
{
    struct ledger_process *process = ledger_of_pid(ledger, event->pid);
    if (!is_live(process) && !ledger->has_kernel)
        process = add_reported(ledger, event);
    if (!process)
        return;
    if (event->value == REACH_DAMAGED && process->image.has_ring) {
        process->is_damaged = process->is_changed = true;
        return;
    }
    process->failure = process->image.failure = (uint8_t)why_of_reach(event->value);
    if (process->end_ns != WEFT_LEDGER_NO_TIME) { /* it ended before this was read */
        process->past.has_uncovered = true;
        process->past.uncovered_why = process->image.failure;
    }
    process->is_changed = true;
}

static bool take(struct ledger *ledger, const struct ledger_event *event, uint64_t until_ns)
{
    struct ledger_process *process = ledger_of_pid(ledger, event->pid);
    switch (event->kind) {
    case EVENT_FORK:
        take_fork(ledger, event);
        break;
    case EVENT_EXEC:
        take_exec(ledger, event);
        break;
    case EVENT_EXIT:
        take_exit(ledger, event);
        break;
    case EVENT_RING:
        return take_ring(ledger, event, until_ns);
    case EVENT_CHILD:
        take_child(ledger, event);
        break;
    case EVENT_WILL_EXEC:
        if (!ledger->has_kernel)
            take_will_exec(ledger, event);
        break;
    case EVENT_NO_EXEC:
        if (is_live(process) && !ledger->has_kernel)
            take_no_exec(process);
        break;
    case EVENT_NO_RING:
        take_no_ring(ledger, event);
        break;
    case EVENT_ENDED:
        if (is_live(process))
            ledger_end(ledger, process, event->time_ns);
        break;
    default:
        break;
    }
    return true;
}

static int by_time(const void *a_void, const void *b_void)
{
    const struct ledger_event *a = a_void, *b = b_void;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Programs without the library are looked at while they run. */
static void examine_new(struct ledger *ledger, uint64_t until_ns)
{
    for (size_t k = 0; k < ledger->processes.n; k++) {
        struct ledger_process *process = &ledger->processes.items[k];
        if (is_live(process) && !process->image.is_examined && !process->image.has_ring &&
            process->image.start_ns + WAIT_NS / 50 < until_ns)
            ledger_examine(ledger, process);
    }
}

void ledger_advance(struct ledger *ledger, uint64_t until_ns)
{
    size_t n_kept = 0;
    if (!ledger || !ledger->has_begun)
        return;
    ledger->now_ns = until_ns;
    if (ledger->events.n > ledger->n_sorted)
        qsort(ledger->events.items, ledger->events.n, sizeof *ledger->events.items, by_time);
    for (size_t k = 0; k < ledger->events.n; k++) {
        const struct ledger_event event = ledger->events.items[k];
        if (event.time_ns > until_ns || !take(ledger, &event, until_ns))
            ledger->events.items[n_kept++] = event;
    }
    ledger->events.n = ledger->n_sorted = n_kept;
    examine_new(ledger, until_ns);
}

/* A process that is there, with its threads. */
static void meet_process(struct ledger *ledger, uint32_t pid, uint32_t parent, const char *program,
                         uint64_t now_ns)
{
    char path[64], exe[PATH_MAX];
    struct ledger_process *process = ledger_add(ledger, pid, parent, now_ns);
    if (!process)
        return;
    process->is_target = true;
    process->name = ledger_name(ledger, program);
    process->image.is_stub = !ledger->opts.is_attached;
    if (ledger->opts.is_attached && proc_link(pid, "exe", exe, sizeof exe))
        process->name = process->exe = ledger_name(ledger, exe);
    process->is_known_to_kernel = ledger->has_kernel;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (tid && ledger->has_kernel)
            start_thread(ledger, process, tid);
    }
    if (folder)
        (void)closedir(folder);
    ledger->met_ns = session_clock_ns(CLOCK_MONOTONIC);
}

void ledger_begin(struct ledger *ledger, uint32_t pid, const char *program, uint64_t now_ns,
                  bool has_kernel)
{
    if (!ledger || pid == 0 || ledger->has_begun)
        return;
    ledger->has_begun = true;
    ledger->has_kernel = has_kernel;
    meet_process(ledger, pid, 0, program, now_ns);
}

void ledger_attach(struct ledger *ledger, uint32_t pid, uint32_t parent, uint64_t now_ns)
{
    const struct ledger_process *known = ledger ? ledger_of_pid(ledger, pid) : NULL;
    if (ledger && ledger->has_begun && !ledger->is_finished && !is_live(known))
        meet_process(ledger, pid, parent, "", now_ns);
}

void ledger_finish(struct ledger *ledger, enum weft_ledger_why why, uint64_t now_ns)
{
    if (!ledger || !ledger->has_begun || ledger->is_finished)
        return;
    ledger->is_finished = true;
    ledger->why_finished = (uint8_t)why;
    ledger_advance(ledger, UINT64_MAX);
    ledger->now_ns = now_ns;
    for (size_t k = 0; k < ledger->processes.n; k++)
        if (is_live(&ledger->processes.items[k])) {
            ledger_examine(ledger, &ledger->processes.items[k]);
            ledger->processes.items[k].is_changed = true;
        }
}
