/* SPDX-License-Identifier: MIT
 *
 * What is said of problems: heads, symptoms, evidence and advice. What is said of each kind stands
 * in one table.
 */
#include "render/text/problem_words.h"

#include "render/human.h"
#include "render/text/compare_words.h"

#include <inttypes.h>
#include <string.h>

/* ---- kinds ----------------------------------------------------------------------------------- */

enum {
    MARK_OBJECT = '@',
    MARK_LOCK = '&',
    MARK_IT = '$',
    MARK_FUNCTION = '#',
    MARK_PLACE = '!',
    MARK_HOLDER = '%',
    MARK_PREEMPTOR = '^'
};

/* In heads and advice `@` stands for the lock, `&` for it at the start of a sentence, `$` for it
 * where it was named before, `#` for the function at fault, `!` for it and what it calls of a
 * library, `%` for the thread that holds up, `^` for what has the CPU. */
static const struct words {
    const char *head;
    const char *verb; /* of slow executions, in evidence */
    const char *fix;
} kinds[WEFT_PROBLEM_KINDS] = {
    [WEFT_PROBLEM_LOCK] = { "Lock contention on @", "wait for it",
                            "hold $ for less: move # out of it, or split the lock" },
    [WEFT_PROBLEM_LOCK_IO] = { "& held across disk I/O", "wait for it",
                               "release $ before the I/O in #" },
    [WEFT_PROBLEM_LOCK_NET] = { "& held across network I/O", "wait for it",
                                "release $ before the call in #" },
    [WEFT_PROBLEM_LOCK_SLEEP] = { "& held during a sleep", "wait for it",
                                  "release $ before the sleep in #" },
    [WEFT_PROBLEM_LOCK_WAIT] = { "& held while its holder waits", "wait for it",
                                 "release $ before # waits" },
    [WEFT_PROBLEM_LOCK_NO_CPU] = { "& held by a thread without a CPU", "wait for it",
                                   "shorten the hold in #; raise the priority of %, or use "
                                   "priority inheritance" },
    [WEFT_PROBLEM_STARVED] = { "Writer starvation on @: readers overlap", "wait for it",
                               "prefer writers, or let readers read a copy" },
    [WEFT_PROBLEM_ALLOCATOR] = { "Memory allocator in #", "spend it there",
                                 "allocate less in #, reuse memory, or use an allocator with "
                                 "caches per thread" },
    [WEFT_PROBLEM_SPIN] = { "Spinning in #", "spin there",
                            "block instead of spinning, or hold the lock for less" },
    [WEFT_PROBLEM_SERIAL] = { "Serial section: others wait for %", "wait for it",
                              "share the work of # between threads" },
    [WEFT_PROBLEM_POOL] = { "Pool too small: waiting for @", "wait for it",
                            "allow more at a time, hold it for less in #, or see whether each "
                            "is given back" },
    [WEFT_PROBLEM_HEAD_OF_LINE] = { "Event loop % blocked by !", "wait for it",
                                    "move # to another thread, or divide it into steps" },
    [WEFT_PROBLEM_QUEUE] = { "Waiting for thread %, in !", "wait for it",
                             "make # shorter, or do it in another thread" },
    [WEFT_PROBLEM_FSYNC] = { "fsync in #", "wait for it",
                             "sync less often, several changes at once, or in another thread" },
    [WEFT_PROBLEM_DISK] = { "Disk I/O in #", "wait for it",
                            "read ahead, cache, or do the I/O of # in another thread" },
    [WEFT_PROBLEM_FAULT] = { "Page faults from disk in #", "wait for them",
                             "read the pages before they are needed (madvise, mlock), or with "
                             "read()" },
    [WEFT_PROBLEM_MINOR_FAULT] = { "Minor page faults in #", "spend it there",
                                   "reuse memory instead of giving it back (free, munmap, "
                                   "madvise), or map it before it is needed (MAP_POPULATE)" },
    [WEFT_PROBLEM_NETWORK] = { "Waiting for the network in #", "wait for it",
                               "see what the other side did; ask for less, earlier, or at once" },
    [WEFT_PROBLEM_CONNECT] = { "Waiting for a connection in #", "wait for it",
                               "keep connections open, or accept them earlier on the other side" },
    [WEFT_PROBLEM_DELAYED_ACK] = { "Delayed ACKs (Nagle's algorithm) in #", "wait for it",
                                   "set TCP_NODELAY, or send each message with one write: both "
                                   "ends wait for an ACK" },
    [WEFT_PROBLEM_LATE_WAKEUP] = { "Late wakeup in #: no signal came", "wait for it",
                                   "see which thread the signal woke: a time-out or the next "
                                   "request ends the wait (notify_all, or a condition for each)" },
    [WEFT_PROBLEM_TIMEOUT] = { "Time-out in #: nothing came", "wait for it",
                               "see why no answer came in time; wait for less before asking "
                               "again" },
    [WEFT_PROBLEM_SLEEP] = { "Sleep in #", "sleep there",
                             "wait for the event itself, not for a time" },
    [WEFT_PROBLEM_CHILD] = { "Waiting for a child process in #", "wait for it",
                             "keep the process, or do its work in this one" },
    [WEFT_PROBLEM_CPU] = { "CPU saturation: ^ had the CPU", "wait for a CPU",
                           "pin both to different CPUs, lower the priority of ^, or use more "
                           "CPUs" },
    [WEFT_PROBLEM_OTHER] = { "CPU taken by another program: ^", "wait for a CPU",
                             "keep other programs off these CPUs (cpusets, nice)" },
    [WEFT_PROBLEM_INTERRUPT] = { "Interrupts", "are interrupted", "move interrupts to other CPUs" },
    [WEFT_PROBLEM_MORE_WORK] = { "More calls of #", "make more calls",
                                 "call # less often: see what makes these larger" },
    [WEFT_PROBLEM_CODE] = { "Slower code in !", "run longer there", "see the calls inside #" },
    [WEFT_PROBLEM_UNKNOWN] = { "Unexplained wait in #", "wait there",
                               "record with the kernel's events (as root)" },
};

/* The thread at fault, and where it is: the one that the others wait for in the end; of a lock, its
 * holder; of a wait for another program, the execution's own. */
struct culprit {
    struct weft_str thread;
    const struct weft_chain *chain;
};

static struct culprit culprit_of(const struct weft_problem *problem)
{
    const bool is_of_own =
        problem->kind == WEFT_PROBLEM_NETWORK || problem->kind == WEFT_PROBLEM_CONNECT ||
        problem->kind == WEFT_PROBLEM_DELAYED_ACK || problem->kind == WEFT_PROBLEM_LATE_WAKEUP ||
        problem->kind == WEFT_PROBLEM_CHILD;
    const bool is_of_last = !weft_problem_is_of_lock(problem->kind) &&
                            problem->preemptor.n_bytes == 0 && problem->lasting.n > 0;
    if (is_of_last && !is_of_own)
        return (struct culprit){ problem->last, &problem->lasting };
    if (problem->holding.n > 0 && !is_of_own)
        return (struct culprit){ problem->holder, &problem->holding };
    return (struct culprit){ problem->holder, &problem->waiting };
}

static const struct weft_frame *function_of(const struct weft_problem *problem)
{
    const struct weft_chain *chain = culprit_of(problem).chain;
    return chain->n > 0 ? chain->links[chain->n - 1] : NULL;
}

/* Where a lock is asked for. */
static struct weft_str where_of(const struct weft_problem *problem)
{
    const struct weft_chain *chain = &problem->waiting;
    if (problem->where.n_bytes > 0)
        return problem->where;
    return chain->n > 0 ? chain->links[chain->n - 1]->name : (struct weft_str){ 0 };
}

/* "futex in serve" has no name of its own: what is said of it ends in " in serve". */
static bool take_futex(struct weft_str *object)
{
    return weft_str_begins(*object, "futex in ") && weft_str_take(object, "futex");
}

/* "table_mutex"; of one without a name where it is waited for: "a lock in get". */
static void put_object(struct weft_output *out, const struct weft_problem *problem,
                       const char *what)
{
    const bool is_start = what[0] == 'L';
    if (problem->n_objects > 1) {
        weft_output_printf(out, "%u locks in ", problem->n_objects);
        weft_words_name(out, problem->object);
        return;
    }
    struct weft_str place = problem->object;
    if (take_futex(&place)) {
        weft_output_text(out, what);
        weft_output_plain(out, place);
        return;
    }
    if (problem->object.n_bytes > 0) {
        const bool is_kind = problem->system_lock == WEFT_SYSTEM_LOCK_MONITOR;
        weft_output_text(out, is_start && !is_kind ? "Lock " : "");
        weft_words_name(out, problem->object);
        return;
    }
    weft_output_text(out, problem->kind == WEFT_PROBLEM_POOL ? "a place" : what);
    const struct weft_str where = where_of(problem);
    if (where.n_bytes > 0) {
        weft_output_text(out, " in ");
        weft_words_function(out, where);
    }
}

/* Where no function is known. */
static void put_thread(struct weft_output *out, const struct weft_problem *problem)
{
    weft_output_text(out, "thread ");
    weft_words_name(out, problem->holder.n_bytes > 0 ? problem->holder : problem->waiter);
}

/* "deflate, called by send_chain" */
static void put_place(struct weft_output *out, const struct weft_chain *chain)
{
    if (chain->within) {
        weft_words_function(out, chain->within->name);
        weft_output_text(out, ", called by ");
    }
    weft_words_function(out, chain->links[chain->n - 1]->name);
}

static void put_mark(struct weft_output *out, const struct weft_problem *problem, char mark)
{
    const struct weft_frame *function = function_of(problem);
    if (mark == MARK_OBJECT)
        put_object(out, problem, "a lock");
    else if (mark == MARK_LOCK)
        put_object(out, problem, "Lock");
    else if (mark == MARK_IT && problem->n_objects > 1)
        weft_output_text(out, "each lock");
    else if (mark == MARK_IT && problem->object.n_bytes > 0 &&
             !weft_str_begins(problem->object, "futex in "))
        weft_words_name(out, problem->object);
    else if (mark == MARK_IT)
        weft_output_text(out, "the lock");
    else if (mark == MARK_HOLDER && problem->holder.n_bytes > 0)
        weft_words_name(out, culprit_of(problem).thread);
    else if (mark == MARK_PREEMPTOR && problem->preemptor.n_bytes > 0)
        weft_words_name(out, problem->preemptor);
    else if (mark != MARK_FUNCTION && mark != MARK_PLACE)
        weft_output_text(out, "another thread");
    else if (problem->kind == WEFT_PROBLEM_MORE_WORK)
        weft_words_function(out, problem->finding->work.function);
    else if (function && mark == MARK_PLACE)
        put_place(out, culprit_of(problem).chain);
    else if (function)
        weft_words_function(out, function->name);
    else
        put_thread(out, problem);
}

static void put_words(struct weft_output *out, const struct weft_problem *problem,
                      const char *words)
{
    static const char marks[] = { MARK_PLACE,    MARK_OBJECT, MARK_LOCK,      MARK_IT,
                                  MARK_FUNCTION, MARK_HOLDER, MARK_PREEMPTOR, 0 };
    while (*words) {
        const size_t n = strcspn(words, marks);
        weft_output_write(out, words, n);
        words += n;
        if (*words)
            put_mark(out, problem, *words++);
    }
}

/* ---- sentences ------------------------------------------------------------------------------- */

bool weft_problem_is_of_path(const struct weft_problem *problem)
{
    return problem->finding->table->n_a == 0 && !problem->finding->all_of;
}

/* "2,080 requests take 7.45 ms on average, 5.30 ms of it for this" */
static void put_symptom_of_all(struct weft_output *out, const struct weft_problem *problem)
{
    const double mean_ns = problem->share > 0 ? problem->slow_here_ns / problem->share : 0;
    weft_output_printf(out, "%s ", weft_human_count(problem->n_items).text);
    weft_words_executions(out, problem->finding->type);
    weft_output_printf(out, " take %s on average, %s of it for this", weft_human_mean(mean_ns).text,
                       weft_human_mean(problem->slow_here_ns).text);
}

void weft_problem_put_symptom(struct weft_output *out, const struct weft_problem *problem)
{
    if (problem->finding->all_of) {
        put_symptom_of_all(out, problem);
        return;
    }
    weft_output_printf(out, "%s of %s ", weft_human_count(problem->n_with).text,
                       weft_human_count(problem->n_items).text);
    weft_words_executions(out, problem->finding->type);
    weft_output_printf(out, " took %s instead of %s", weft_human_mean(problem->slow_ns).text,
                       weft_human_mean(problem->usual_ns).text);
}

void weft_problem_put_head(struct weft_output *out, const struct weft_problem *problem)
{
    const bool is_of_other = problem->holder.n_bytes > 0 && problem->kind > WEFT_PROBLEM_QUEUE &&
                             problem->kind != WEFT_PROBLEM_CHILD;
    put_words(out, problem, kinds[problem->kind].head);
    if (!is_of_other)
        return;
    weft_output_text(out, " (thread ");
    weft_words_name(out, culprit_of(problem).thread);
    weft_output_text(out, ")");
}

/* Work is no problem, whichever thread does it. */
void weft_problem_put_path_head(struct weft_output *out, const struct weft_problem *problem)
{
    const bool is_work = problem->kind == WEFT_PROBLEM_CODE ||
                         problem->kind == WEFT_PROBLEM_QUEUE ||
                         problem->kind == WEFT_PROBLEM_SERIAL;
    if (!is_work) {
        weft_problem_put_head(out, problem);
        return;
    }
    put_words(out, problem, problem->holder.n_bytes > 0 ? "Work of thread %, in #" : "Work in #");
}

void weft_problem_put_sentence(struct weft_output *out, const struct weft_problem *problem)
{
    weft_problem_put_head(out, problem);
    weft_output_text(out, ": ");
    weft_problem_put_symptom(out, problem);
}

/* "36 of 37 slow ones wait for it, 0 of 853 usual ones; +27.4 ms on average (p < 0.001)": of
 * all slow ones and all usual ones. */
void weft_problem_put_numbers(struct weft_output *out, const struct weft_problem *problem)
{
    const uint64_t n_usual = problem->finding->table->n_a;
    if (problem->finding->all_of) {
        weft_output_printf(out, "%s of %s %s, whether they are slow or not",
                           weft_human_count(problem->n_with).text,
                           weft_human_count(problem->n_items).text, kinds[problem->kind].verb);
        return;
    }
    weft_output_printf(out, "%s of %s slow ones %s, %s of %s usual ones; +%s on average",
                       weft_human_count(problem->n_with).text,
                       weft_human_count(problem->n_slow).text, kinds[problem->kind].verb,
                       weft_human_count(problem->n_usual_with).text, weft_human_count(n_usual).text,
                       weft_human_mean(problem->slow_here_ns - problem->usual_here_ns).text);
    weft_output_printf(out, " (%s)", weft_human_p(problem->p).text);
}

const char *weft_deadlock_fix(const struct weft_deadlock_wait *waits, size_t n)
{
    bool has_join = false;
    for (size_t i = 0; i < n; i++)
        has_join |= waits[i].is_join;
    return has_join ? "release the lock before joining a thread that needs it"
           : n == 1 ? "release the lock before asking for it again, or use a recursive one"
                    : "take these locks in the same order everywhere";
}

size_t weft_deadlock_end(const struct weft_problems_table *problems, size_t first)
{
    size_t end = first;
    while (end < problems->n_deadlocks &&
           problems->deadlocks[end].cycle == problems->deadlocks[first].cycle)
        end++;
    return end;
}

static const double SYN_AGAIN_NS = 0.95e9; /* a SYN without an answer is sent again after 1 s */

static const char *fix_of(const struct weft_problem *problem)
{
    const enum weft_problem_kind kind = problem->kind;
    const bool is_of_function = strchr(kinds[kind].fix, MARK_FUNCTION);
    if (problem->system_lock == WEFT_SYSTEM_LOCK_GIL)
        return "release the GIL in #, or use several processes";
    if (problem->system_lock == WEFT_SYSTEM_LOCK_MMAP)
        return "map and unmap less at once in #, or reuse the memory: page faults wait for it";
    if (kind == WEFT_PROBLEM_CODE && problem->holder.n_bytes == 0 && function_of(problem) &&
        weft_loop_is_of_events(problem->finding->type))
        return "divide # into steps, or do it in another thread: all other events wait for it";
    if (is_of_function && kind != WEFT_PROBLEM_MORE_WORK && !function_of(problem))
        return "record with call stacks (as root) and debug symbols: no function is known here";
    if (kind == WEFT_PROBLEM_OTHER &&
        weft_str_equal(problem->preemptor, WEFT_STR(WEFT_RECORDER_NAME)))
        return "record less ('weft record --help'), or leave the recorder a CPU of its own";
    if (kind == WEFT_PROBLEM_SLEEP && problem->holder.n_bytes > 0)
        return "do not sleep in # while others wait for %";
    if (kind == WEFT_PROBLEM_CONNECT && problem->n_with > 0 &&
        problem->cost_ns >= SYN_AGAIN_NS * (double)problem->n_with)
        return "enlarge the backlog of listen(), or accept earlier: while the queue is full a SYN "
               "is "
               "lost, and sent again after 1 s";
    if (problem->n_objects > 1 && kind == WEFT_PROBLEM_LOCK)
        return "hold fewer of them at a time, and each for less: move # out";
    return kinds[kind].fix;
}

void weft_problem_put_fix(struct weft_output *out, const struct weft_problem *problem)
{
    put_words(out, problem, fix_of(problem));
}

/* ---- synchronization ------------------------------------------------------------------------- */

static void put_function(struct weft_output *out, const char *before, struct weft_str function)
{
    if (function.n_bytes == 0)
        return;
    weft_output_text(out, before);
    weft_words_function(out, function);
}

void weft_sync_put_head(struct weft_output *out, const struct weft_sync_problem *sync)
{
    const bool is_herd = sync->kind == WEFT_SYNC_HERD;
    weft_output_text(out, is_herd ? "Thundering herd on " : "Load imbalance at barrier ");
    weft_words_name(out, sync->object);
}

void weft_sync_put_symptom(struct weft_output *out, const struct weft_sync_problem *sync)
{
    if (sync->kind == WEFT_SYNC_HERD) {
        const double n = (double)sync->n_events;
        weft_output_printf(out, "%s", weft_human_plural(sync->n_events, "broadcast").text);
        put_function(out, " in ", sync->function);
        weft_output_printf(out, " woke %s threads each, %s of them for nothing",
                           weft_human_ratio((double)sync->n_woken / n).text,
                           weft_human_ratio((double)sync->n_futile / n).text);
    } else {
        weft_words_name(out, sync->thread);
        weft_output_printf(out, " (%" PRIu64 ") arrives last; the others wait %s for it", sync->tid,
                           weft_human_ns(sync->cost_ns).text);
    }
}

void weft_sync_put_sentence(struct weft_output *out, const struct weft_sync_problem *sync)
{
    weft_sync_put_head(out, sync);
    weft_output_text(out, ": ");
    weft_sync_put_symptom(out, sync);
}

void weft_sync_put_numbers(struct weft_output *out, const struct weft_sync_problem *sync)
{
    if (sync->kind == WEFT_SYNC_HERD)
        weft_output_printf(out,
                           "%s of %s wakeups: the thread waits again within 20 \xc2\xb5s; "
                           "waking them takes %s",
                           weft_human_count(sync->n_futile).text,
                           weft_human_count(sync->n_woken).text, weft_human_ns(sync->cost_ns).text);
    else
        weft_output_printf(out, "%s of %s waits at it end when this thread arrives",
                           weft_human_count(sync->n_last).text,
                           weft_human_count(sync->n_events).text);
}

const char *weft_sync_fix(const struct weft_sync_problem *sync)
{
    return sync->kind == WEFT_SYNC_HERD
               ? "wake one thread where only one can continue (pthread_cond_signal, notify_one)"
               : "give that thread less of the work, or divide it into smaller parts";
}

const char *weft_sync_whole(const struct weft_sync_problem *sync)
{
    return sync->kind == WEFT_SYNC_HERD ? "of the run" : "of its threads' time";
}
