/* SPDX-License-Identifier: MIT
 *
 * Everything of a ring that is not on the fast path in ring.h: making the process's file, giving
 * slots to threads, giving memory to rings, fork, the end of a thread, and records of any size.
 * Functions named weft_ring_* run in the recorded program, also in signal handlers, so they keep
 * errno and take no lock.
 */
#include "record/runtime/ring.h"

#include "record/runtime/journal.h"
#include "record/runtime/reach.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 1 << 12,    /* the smallest of any machine: larger ones are given more often */
    PIECE_UNITS = 1 << 13,   /* that are given memory at a time, at most: 32 KiB */
    RETRY_RECORDS = 1 << 12, /* lost before memory, or a slot, is asked for again */
    UNIT_BYTES = sizeof(uint32_t),
    LAST_ROUND = PTHREAD_DESTRUCTOR_ITERATIONS,
};

enum status { STATUS_NONE, STATUS_BEGINNING, STATUS_ON };

/* What fork wipes: in a child all of this is zero. */
struct process {
    _Atomic int status;
    struct weft_ring_file *file;
    struct weft_ring_slot *slots;
    size_t file_bytes;
    _Atomic uint32_t n_retaken; /* slots that were free again, modulo 2^32 */
    _Atomic uint32_t next;      /* where the next one may be */
    _Alignas(128) struct weft_ring rings[];
};

static const uintptr_t FOR_EVER = UINTPTR_MAX; /* instead of a place in the stack */
static struct weft_ring nowhere;               /* has no room, ever */
/* Of a child whose first record its parent began (weft_ring_forked): what is written there is never
 * read. */
static struct weft_ring_slot no_slot;
__thread struct weft_ring_thread weft_ring_thread = { .here = &nowhere };
static __thread uint64_t missed_records; /* of a thread without a slot */
static __thread uint64_t retry_missed;   /* asks for a slot again when so many were missed; 0: never
                                            asked */
static __thread bool is_over;            /* its last destructor has run */
static __thread bool has_opened; /* it has loaded or unloaded a module since its last record */
bool weft_ring_is_on = true;

/* Set once for the life of the program, and the same in its children. */
static _Atomic(struct process *) the_process;
static bool has_begun; /* once, in the first process */
static pthread_key_t end_key;
static bool has_end_key;
static void (*end_hook)(void);
/* Of the process that began last: the parent's until a child begins. */
static struct weft_ring_file *mapped_file;
static size_t mapped_bytes;
static uint64_t fork_ticks; /* of the process fork_pid */
static uint32_t fork_pid;
static uint32_t known_namespace;
static bool
    has_recorded; /* a record was written, by this process or the one that it is forked from */

struct weft_ring_file *weft_ring_own_file(void)
{
    struct process *process = atomic_load(&the_process);
    return process ? process->file : NULL;
}

bool weft_ring_populate(uint64_t from, uint64_t n_bytes)
{
    const int kept_errno = errno;
    const bool is_done = weft_reach_populate(weft_ring_own_file(), from, n_bytes);
    errno = kept_errno;
    return is_done;
}

/* Memory for what fork wipes. */
static struct process *make_process(uint64_t n_slots)
{
    const size_t n_bytes = sizeof(struct process) + n_slots * sizeof(struct weft_ring);
    struct process *made = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    struct process *expected = NULL;
    if (madvise(made, n_bytes, MADV_WIPEONFORK) == 0 &&
        atomic_compare_exchange_strong(&the_process, &expected, made))
        return made;
    (void)munmap(made, n_bytes);
    return expected;
}

/* Of a process that has no /proc (any more), as it was. */
static uint32_t own_namespace(void)
{
    struct stat about;
    if (stat("/proc/self/ns/pid", &about) == 0)
        known_namespace = (uint32_t)about.st_ino;
    return known_namespace;
}

static bool open_file(struct process *process)
{
    struct weft_reach reach;
    const uint32_t pid = (uint32_t)getpid();
    if (!weft_reach_open(&reach, !has_begun)) /* a child has its parent's maps */
        return false;
    struct weft_ring_file *file = reach.file;
    (void)madvise(file, reach.n_bytes, MADV_DONTDUMP);
    file->library = weft_library;
    file->pid = pid;
    file->parent = (uint32_t)getppid();
    file->pid_namespace = own_namespace();
    file->n_slots = reach.n_slots;
    file->n_units = reach.n_units;
    file->functions_off = reach.functions_off;
    file->functions_cap = reach.functions_cap;
    file->n_functions = file->functions_cap ? 1 : 0; /* the first is address 0 */
    file->data_off = reach.data_off;
    file->start_ticks = fork_pid == pid ? fork_ticks : weft_ring_ticks();
    atomic_store_explicit(&file->magic, WEFT_RING_MAGIC, memory_order_release);
    process->file_bytes = reach.n_bytes;
    process->file = file;
    process->slots = (struct weft_ring_slot *)(file + 1);
    return true;
}

/* A child has the parent's file in its memory still: nothing is written there any more, since no
 * record is being written (the one that is wanted now is the only one). */
static void forget_parent(struct process *process)
{
    if (mapped_file)
        (void)munmap(mapped_file, mapped_bytes);
    mapped_file = process->file;
    mapped_bytes = process->file_bytes;
}

static void thread_ends(void *round);

static bool begin(void)
{
    struct process *process = atomic_load(&the_process);
    int status = STATUS_NONE;
    if (!process && !(weft_reach_folder() && (process = make_process(weft_reach_slots())))) {
        if (weft_reach_folder())
            weft_reach_report(WEFT_REACH_MEMORY);
        weft_ring_is_on = false;
        return false;
    }
    if (!atomic_compare_exchange_strong(&process->status, &status, STATUS_BEGINNING))
        return status == STATUS_ON;
    if (!has_begun && !weft_clock_begin()) {
        weft_reach_report(WEFT_REACH_CLOCK);
        weft_ring_is_on = false;
        return false;
    }
    if (!has_end_key)
        has_end_key = pthread_key_create(&end_key, thread_ends) == 0;
    if (!open_file(process)) {
        weft_ring_is_on = false; /* and the status stays: no thread tries again */
        return false;
    }
    forget_parent(process);
    if (!has_begun)
        weft_library_begin();
    has_begun = true;
    missed_records = retry_missed = 0;
    atomic_store(&process->status, STATUS_ON);
    return true;
}

void weft_ring_begin(void)
{
    const int kept_errno = errno;
    weft_journal_open();
    if (weft_ring_enter()) {
        (void)begin();
        weft_ring_leave();
    }
    errno = kept_errno;
}

static void count_change(void)
{
    struct process *process = atomic_load(&the_process);
    if (process && atomic_load(&process->status) == STATUS_ON)
        atomic_fetch_add(&process->file->n_modules, 1);
}

_Atomic uint32_t weft_ring_n_openings;

void weft_ring_modules_changed(void)
{
    count_change();
}

void weft_ring_modules_change(void)
{
    has_opened = true;
    atomic_fetch_add(&weft_ring_n_openings, 1);
    weft_ring_thread.here->limit = 0;
    count_change();
}

/* ---- slots */

static uint32_t *units_of(struct weft_ring_file *file, size_t place)
{
    return (uint32_t *)(void *)((char *)file + file->data_off) + place * file->n_units;
}

static bool take(struct weft_ring_slot *slot)
{
    uint32_t state = WEFT_RING_FREE;
    return atomic_load_explicit(&slot->state, memory_order_relaxed) == WEFT_RING_FREE &&
           atomic_compare_exchange_strong(&slot->state, &state, WEFT_RING_LIVE);
}

/* A slot whose thread has ended and was read; it has memory. The counts say whether there is one,
 * so that a thread does not look at all the slots of those that live. */
static bool take_freed(struct process *process, uint32_t *place)
{
    struct weft_ring_file *file = process->file;
    const uint32_t n_used = atomic_load(&file->n_used);
    const uint32_t n_free = atomic_load(&file->n_freed) - atomic_load(&process->n_retaken);
    const uint32_t from = atomic_load(&process->next);
    if (n_free - 1 >= n_used && n_used < file->n_slots) /* none, or fewer than none */
        return false;
    for (uint32_t k = 0; k < n_used; k++) {
        *place = (from + k) % n_used;
        if (!take(&process->slots[*place]))
            continue;
        atomic_fetch_add(&process->n_retaken, 1);
        atomic_store(&process->next, *place + 1);
        return true;
    }
    return false;
}

/* A slot that no thread had. The first of a page gets memory for the others. */
static bool take_new(struct process *process, uint32_t *place)
{
    struct weft_ring_file *file = process->file;
    uint32_t n_used = atomic_load(&file->n_used);
    while (n_used < file->n_slots) {
        const size_t at = (size_t)((char *)&process->slots[n_used] - (char *)file);
        if (at % PAGE_BYTES == 0 && !weft_reach_populate(file, at, PAGE_BYTES))
            return false;
        if (!weft_reach_unlock(file, n_used)) /* before it is taken: its thread may write at once */
            return false;
        if (!atomic_compare_exchange_strong(&file->n_used, &n_used, n_used + 1))
            continue;
        *place = n_used;
        if (take(&process->slots[n_used]))
            return true;
        n_used = atomic_load(&file->n_used); /* another thread took it, as one that was freed */
    }
    return false;
}

static struct weft_ring *take_slot(struct process *process)
{
    struct weft_ring_file *file = process->file;
    uint32_t place;
    if (!take_freed(process, &place) && !take_new(process, &place))
        return NULL;
    struct weft_ring_slot *slot = &process->slots[place];
    struct weft_ring *ring = &process->rings[place];
    ring->mask = file->n_units - 1;
    ring->units = units_of(file, place);
    ring->limit = ring->last_ticks = ring->retry_lost = 0;
    ring->pending_lost = missed_records;
    slot->lost += missed_records;
    missed_records = 0;
    slot->tid = (uint32_t)syscall(SYS_gettid);
    (void)syscall(SYS_prctl, PR_GET_NAME, slot->name, 0, 0, 0);
    slot->start_ticks = weft_ring_ticks();
    ring->slot = slot;
    return ring;
}

/* Gives the calling thread a slot; NULL when it cannot have one (now). */
static struct weft_ring *attach(void)
{
    struct process *process = atomic_load(&the_process);
    if (is_over || !weft_ring_is_on)
        return NULL;
    if (!process || atomic_load(&process->status) != STATUS_ON) {
        if (!begin())
            return NULL;
        process = atomic_load(&the_process);
    }
    if (missed_records < retry_missed)
        return NULL;
    struct weft_ring *ring = take_slot(process);
    if (!ring) {
        if (retry_missed == 0)
            atomic_fetch_add(&process->file->lost_threads, 1);
        retry_missed = missed_records + RETRY_RECORDS;
        return NULL;
    }
    weft_ring_thread.here = ring;
    has_recorded = true;
    if (has_end_key)
        (void)pthread_setspecific(end_key, (void *)1);
    return ring;
}

void weft_ring_on_thread_end(void (*end)(void))
{
    end_hook = end;
}

/* The destructor of a key runs before or after those of others, which may be recorded too: so it
 * asks to be run again until the last round. */
static void thread_ends(void *round)
{
    const uintptr_t n_round = (uintptr_t)round;
    if (n_round < LAST_ROUND && pthread_setspecific(end_key, (void *)(n_round + 1)) == 0)
        return;
    if (end_hook)
        end_hook();
    struct weft_ring *ring = weft_ring_thread.here;
    is_over = true;
    if (!ring->slot) /* of a parent */
        return;
    struct weft_ring_slot *slot = ring->slot;
    (void)syscall(SYS_prctl, PR_GET_NAME, slot->name, 0, 0, 0); /* it may have been renamed */
    if (ring->pending_lost)
        (void)weft_ring_room(0, weft_ring_ticks()); /* for the LOST */
    weft_ring_publish(ring);
    weft_ring_thread.here = &nowhere;
    ring->slot = NULL;
    ring->limit = 0;
    atomic_store_explicit(&slot->state, WEFT_RING_ENDED, memory_order_release);
}

/* ---- room */

static bool is_stopped(const struct process *process)
{
    return !process->file || /* of a child that continues in the middle */
           atomic_load_explicit(&process->file->is_stopped, memory_order_relaxed) != 0;
}

/* As much as there is already: threads that write little, of which there may be thousands, take a
 * page. */
static uint64_t piece_after(uint64_t populated)
{
    const uint64_t n_first = PAGE_BYTES / UNIT_BYTES;
    return populated < n_first ? n_first : populated < PIECE_UNITS ? populated : PIECE_UNITS;
}

/* More memory for the units of a ring that has not been filled once yet. */
static void grow(struct process *process, struct weft_ring *ring)
{
    struct weft_ring_file *const file = process->file;
    const uint64_t from = (uint64_t)((char *)ring->units - (char *)file);
    /* A ring that fork wiped meanwhile stands elsewhere. */
    if (ring->pending_lost < ring->retry_lost || from >= mapped_bytes)
        return;
    const uint64_t n_units = piece_after(ring->populated);
    if (weft_reach_populate(file, from + ring->populated * UNIT_BYTES, n_units * UNIT_BYTES))
        ring->populated += n_units;
    else
        ring->retry_lost = ring->pending_lost + RETRY_RECORDS;
}

/* Whether n_units more fit. */
static bool has_room(struct process *process, struct weft_ring *ring, uint64_t n_units)
{
    const uint64_t n_all = ring->mask + 1;
    const uint64_t tail = atomic_load_explicit(&ring->slot->tail, memory_order_acquire);
    if (ring->head - tail > n_all) /* also if tail is ahead */
        return false;
    if (ring->populated < n_all && ring->head + n_units > ring->populated)
        grow(process, ring);
    ring->limit = tail + n_all;
    if (ring->populated < n_all && ring->limit > ring->populated)
        ring->limit = ring->populated;
    return ring->head + n_units <= ring->limit;
}

static void count_lost(struct weft_ring *ring, uint64_t now)
{
    ring->pending_lost++;
    atomic_store_explicit(&ring->slot->lost_ticks, now, memory_order_relaxed);
    atomic_store_explicit(&ring->slot->lost, ring->slot->lost + 1, memory_order_release);
}

/* What a writer that a handler interrupted continues to use in the child of that: memory of the
 * child's own, in place of the heads, of the functions, and of the units of its slot, which stale
 * pointers lead to as well. */
static void divert(struct weft_ring *ring)
{
    struct process *process = atomic_load(&the_process);
    uint32_t *const units = units_of(mapped_file, (size_t)(ring - process->rings));
    const size_t n_bytes = (size_t)mapped_file->n_units * UNIT_BYTES;
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    (void)mmap(units, n_bytes, PROT_READ | PROT_WRITE, how, -1, 0);
    (void)mmap(mapped_file, mapped_file->data_off, PROT_READ | PROT_WRITE, how, -1, 0);
    *ring = (struct weft_ring){ .units = units, .populated = UINT64_MAX, .slot = &no_slot };
}

bool weft_ring_begins_in_child(void)
{
    return has_recorded && weft_ring_thread.busy == 0;
}

void weft_ring_forked(uint64_t ticks)
{
    const int kept_errno = errno;
    struct weft_ring *ring = weft_ring_thread.here;
    fork_ticks = ticks;
    fork_pid = (uint32_t)getpid();
    if (weft_ring_thread.busy != 0 && ring != &nowhere) /* so there was a file */
        divert(ring);
    errno = kept_errno;
    if (weft_ring_begins_in_child())
        weft_ring_begin();
}

static struct weft_ring *find_room(uint64_t n_units, uint64_t now)
{
    struct weft_ring *ring = weft_ring_thread.here;
    const bool is_record = n_units > 0;
    if (ring->slot == &no_slot)
        *ring = (struct weft_ring){ 0 };
    if (!ring->slot && !(ring = attach())) {
        missed_records += weft_ring_is_on && is_record;
        return NULL;
    }
    struct process *process = atomic_load(&the_process);
    const uint64_t n_before = (ring->pending_lost ? 4 : 1) * WEFT_WORD_UNITS;
    if (ring->head + n_before + n_units > ring->limit &&
        !has_room(process, ring, n_before + n_units)) {
        if (is_record && !is_stopped(process))
            count_lost(ring, now);
        return NULL;
    }
    weft_ring_append(ring, now << 2 | WEFT_UNIT_TIME);
    if (ring->pending_lost) {
        weft_ring_append(ring, weft_ring_op_word(WEFT_OP_LOST, 1, 0, 0));
        weft_ring_append(ring, ring->pending_lost);
        weft_ring_append(ring, now << 2 | WEFT_UNIT_TIME);
        ring->pending_lost = ring->retry_lost = 0;
        ring->n_losts++;
    }
    return ring;
}

struct weft_ring *weft_ring_room(uint64_t n_units, uint64_t now)
{
    const int kept_errno = errno;
    if (has_opened) {
        has_opened = false;
        count_change();
    }
    struct weft_ring *ring = weft_ring_is_on ? find_room(n_units, now) : NULL;
    errno = kept_errno;
    return ring;
}

/* Goes back to where the last record ended; false: nothing stood behind it. */
static bool drop_begun(struct weft_ring *ring)
{
    const uint64_t shown = atomic_load_explicit(&ring->slot->head, memory_order_relaxed);
    const uint64_t drafted = atomic_load_explicit(&ring->slot->drafted, memory_order_relaxed);
    const uint64_t end = drafted > shown ? drafted : shown;
    const bool has_begun_one = ring->head > end;
    if (has_begun_one)
        ring->head = end;
    return has_begun_one;
}

void weft_ring_end_records(void)
{
    weft_ring_thread.busy = FOR_EVER;
}

void weft_ring_starts_program(void)
{
    struct weft_ring_file *file = weft_ring_own_file();
    if (file)
        atomic_fetch_add(&file->n_execs, 1);
}

bool weft_ring_nested(uintptr_t frame)
{
    if (weft_ring_thread.busy == FOR_EVER) {
        if (weft_ring_thread.here->slot)
            count_lost(weft_ring_thread.here, weft_ring_ticks());
        return false;
    }
    const int kept_errno = errno;
    struct weft_ring *ring = weft_ring_thread.here;
    stack_t stack;
    /* On the same stack, a handler's frame lies below that of what it interrupted: a writer that
     * does not lie above this one has been left by a jump. */
    const bool is_other = sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK);
    errno = kept_errno;
    const bool is_left = !is_other && frame >= weft_ring_thread.busy;
    if (ring->slot) {
        ring->limit = 0; /* so that the next record asks for room, and LOST comes before it */
        if (!is_left || drop_begun(ring))
            count_lost(ring, weft_ring_ticks());
    }
    return is_left;
}

/* ---- records of any size */

void weft_ring_put(enum weft_op op, int64_t argument, uint64_t now, const uint64_t *words,
                   unsigned n_words)
{
    const uint64_t n_units = (1 + (uint64_t)n_words) * WEFT_WORD_UNITS;
    uint64_t delta;
    if (!weft_ring_enter())
        return;
    struct weft_ring *ring = weft_ring_reserve(n_units, now, &delta);
    if (ring) {
        const uint64_t front = weft_ring_op_word(op, n_words, argument, delta);
        uint32_t *row = weft_ring_row(ring, n_units);
        if (row)
            weft_ring_set_word(row, front);
        else
            weft_ring_append(ring, front);
        for (unsigned i = 0; i < n_words; i++)
            if (row)
                weft_ring_set_word(row += WEFT_WORD_UNITS, words[i]);
            else
                weft_ring_append(ring, words[i]);
        weft_ring_publish(ring);
    }
    weft_ring_leave();
}

void weft_ring_put_text(enum weft_op op, int64_t argument, const uint64_t *numbers,
                        unsigned n_numbers, const char *text)
{
    uint64_t words[WEFT_OP_WORDS_MAX];
    const size_t n_most = (WEFT_OP_WORDS_MAX - n_numbers - 1) * sizeof(uint64_t);
    const size_t n_bytes = text ? strnlen(text, n_most) : 0;
    const unsigned n_words = n_numbers + 1 + (unsigned)((n_bytes + 7) / 8);
    for (unsigned i = 0; i < n_numbers; i++)
        words[i] = numbers[i];
    words[n_words - 1] = 0; /* the end of the last word, or the length */
    words[n_numbers] = n_bytes;
    if (n_bytes)
        memcpy(&words[n_numbers + 1], text, n_bytes);
    weft_ring_put(op, argument, weft_ring_ticks(), words, n_words);
}

void weft_ring_rename(const char *name)
{
    if (!weft_ring_enter())
        return;
    struct weft_ring_slot *slot = weft_ring_thread.here->slot;
    if (slot) {
        const size_t n_bytes = strnlen(name, sizeof slot->name - 1);
        memcpy(slot->name, name, n_bytes);
        memset(slot->name + n_bytes, 0, sizeof slot->name - n_bytes);
    }
    weft_ring_leave();
}
