/* SPDX-License-Identifier: MIT
 *
 * Cards of problems: a headline with the cost, then what holds up, what is held up, the evidence,
 * what to change, and the command that shows more. What is said of each kind stands in one table.
 */
#include "render/text/problems.h"

#include "render/human.h"
#include "render/text/compare.h"
#include "render/text/compare_words.h"
#include "render/text/confidence.h"
#include "render/text/notes.h"

#include <inttypes.h>
#include <string.h>

/* ---- kinds ----------------------------------------------------------------------------------- */

enum {
    MARK_OBJECT = '@',
    MARK_LOCK = '&',
    MARK_IT = '$',
    MARK_FUNCTION = '#',
    MARK_HOLDER = '%',
    MARK_PREEMPTOR = '^'
};

/* In heads and advice `@` stands for the lock, `&` for it at the start of a sentence, `$` for it
 * where it was named before, `#` for the function at fault, `%` for the thread that holds up, `^`
 * for what has the CPU. */
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
    [WEFT_PROBLEM_ALLOCATOR] = { "Memory allocator in #", "spend it there",
                                 "allocate less in #, reuse memory, or use an allocator with "
                                 "caches per thread" },
    [WEFT_PROBLEM_SPIN] = { "Spinning in #", "spin there",
                            "block instead of spinning, or hold the lock for less" },
    [WEFT_PROBLEM_SERIAL] = { "Serial section: others wait for %", "wait for it",
                              "share the work of # between threads" },
    [WEFT_PROBLEM_POOL] = { "Pool too small: waiting for @", "wait for it",
                            "allow more at a time, or hold it for less in #" },
    [WEFT_PROBLEM_QUEUE] = { "Waiting for thread %, in #", "wait for it",
                             "make # shorter, or give it to more threads" },
    [WEFT_PROBLEM_FSYNC] = { "fsync in #", "wait for it",
                             "sync less often, several changes at once, or in another thread" },
    [WEFT_PROBLEM_DISK] = { "Disk I/O in #", "wait for it",
                            "read ahead, cache, or do the I/O of # in another thread" },
    [WEFT_PROBLEM_FAULT] = { "Page faults from disk in #", "wait for them",
                             "read the pages before they are needed (madvise, mlock), or with "
                             "read()" },
    [WEFT_PROBLEM_NETWORK] = { "Waiting for the network in #", "wait for it",
                               "see what the other side did; ask for less, earlier, or at once" },
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
    [WEFT_PROBLEM_CODE] = { "Slower code in #", "run longer there", "see the calls inside #" },
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
        problem->kind == WEFT_PROBLEM_NETWORK || problem->kind == WEFT_PROBLEM_CHILD;
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

/* "table_mutex"; of one without a name where it is waited for: "a lock in get". */
static void put_object(struct weft_output *out, const struct weft_problem *problem,
                       const char *what)
{
    const bool is_start = what[0] == 'L';
    if (problem->object.n_bytes > 0) {
        weft_output_text(out, is_start ? "Lock " : "");
        weft_words_name(out, problem->object);
        return;
    }
    weft_output_text(out, problem->kind == WEFT_PROBLEM_POOL ? "a semaphore" : what);
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

static void put_mark(struct weft_output *out, const struct weft_problem *problem, char mark)
{
    const struct weft_frame *function = function_of(problem);
    if (mark == MARK_OBJECT)
        put_object(out, problem, "a lock");
    else if (mark == MARK_LOCK)
        put_object(out, problem, "Lock");
    else if (mark == MARK_IT && problem->object.n_bytes > 0)
        weft_words_name(out, problem->object);
    else if (mark == MARK_IT)
        weft_output_text(out, "the lock");
    else if (mark == MARK_HOLDER && problem->holder.n_bytes > 0)
        weft_words_name(out, culprit_of(problem).thread);
    else if (mark == MARK_PREEMPTOR && problem->preemptor.n_bytes > 0)
        weft_words_name(out, problem->preemptor);
    else if (mark != MARK_FUNCTION)
        weft_output_text(out, "another one");
    else if (problem->kind == WEFT_PROBLEM_MORE_WORK)
        weft_words_function(out, problem->finding->work.function);
    else if (function)
        weft_words_function(out, function->name);
    else
        put_thread(out, problem);
}

static void put_words(struct weft_output *out, const struct weft_problem *problem,
                      const char *words)
{
    static const char marks[] = { MARK_OBJECT, MARK_LOCK,      MARK_IT, MARK_FUNCTION,
                                  MARK_HOLDER, MARK_PREEMPTOR, 0 };
    while (*words) {
        const size_t n = strcspn(words, marks);
        weft_output_write(out, words, n);
        words += n;
        if (*words)
            put_mark(out, problem, *words++);
    }
}

/* ---- sentences ------------------------------------------------------------------------------- */

static void put_symptom(struct weft_output *out, const struct weft_problem *problem)
{
    weft_output_printf(out, "%s of %s ", weft_human_count(problem->n_with).text,
                       weft_human_count(problem->n_items).text);
    weft_words_function(out, problem->finding->type);
    weft_output_printf(out, " took %s instead of %s", weft_human_mean(problem->slow_ns).text,
                       weft_human_mean(problem->usual_ns).text);
}

static void put_head(struct weft_output *out, const struct weft_problem *problem)
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
static void put_path_head(struct weft_output *out, const struct weft_problem *problem)
{
    const bool is_work = problem->kind == WEFT_PROBLEM_CODE ||
                         problem->kind == WEFT_PROBLEM_QUEUE ||
                         problem->kind == WEFT_PROBLEM_SERIAL;
    if (!is_work) {
        put_head(out, problem);
        return;
    }
    put_words(out, problem, problem->holder.n_bytes > 0 ? "Work of thread %, in #" : "Work in #");
}

void weft_problem_put_sentence(struct weft_output *out, const struct weft_problem *problem)
{
    put_head(out, problem);
    weft_output_text(out, ": ");
    put_symptom(out, problem);
}

enum { TYPE_COLUMNS = 32, MOST_ALSO = 3, DEADLOCK_INDENT = 4 };

/* ---- cards ----------------------------------------------------------------------------------- */

static void put_chain(struct weft_output *out, const struct weft_chain *chain)
{
    weft_output_text(out, chain->n > 0 ? "  " : "");
    weft_output_text(out, chain->is_cut ? "... > " : "");
    for (size_t i = 0; i < chain->n; i++) {
        weft_output_text(out, i ? " > " : "");
        weft_words_function(out, chain->links[i]->name);
    }
}

/* What is written of a problem. */
struct card {
    struct weft_output *out, *scratch;
    const struct weft_problem *problem;
    size_t number;
    bool names_type; /* there are problems of several types */
};

/* " of request time", or, where there are several types, " of get". */
static void put_of(struct weft_output *out, const struct card *card)
{
    const struct weft_str type = card->problem->finding->type;
    if (card->problem->finding->table->n_a == 0) {
        weft_output_text(out, " of the critical path");
    } else if (card->names_type && weft_words_columns(type) <= TYPE_COLUMNS) {
        weft_output_text(out, " of ");
        weft_words_function(out, type);
    } else {
        weft_output_text(out, " of request time");
    }
}

static size_t take_columns(struct weft_output *scratch)
{
    const size_t n = weft_words_columns(weft_output_held(scratch));
    weft_output_clear(scratch);
    return n;
}

static void put_title(struct weft_output *out, const struct weft_problem *problem, bool is_whole)
{
    if (problem->finding->table->n_a == 0) {
        put_path_head(out, problem);
    } else if (is_whole) {
        weft_problem_put_sentence(out, problem);
    } else {
        put_head(out, problem);
    }
}

/* The head and the symptom, and at the right end of the line the cost: on one line if they fit. */
static void put_headline(const struct card *card)
{
    const struct weft_problem *problem = card->problem;
    const bool is_path = problem->finding->table->n_a == 0;
    const struct weft_human share = weft_human_share(problem->share);
    put_of(card->scratch, card);
    const size_t n_share = strlen(share.text) + take_columns(card->scratch);
    put_title(card->scratch, problem, true);
    const size_t n_all = take_columns(card->scratch);
    put_title(card->scratch, problem, false);
    const size_t n_head = take_columns(card->scratch);
    const bool is_one = n_all + n_share + 6 <= WEFT_TEXT_COLUMNS;
    const size_t n_used = 4 + (is_one ? n_all : n_head) + n_share;
    weft_output_printf(card->out, "%2zu  ", card->number);
    put_title(card->out, problem, is_one);
    weft_output_repeat(card->out, " ",
                       n_used + 2 <= WEFT_TEXT_COLUMNS ? WEFT_TEXT_COLUMNS - n_used : 2);
    weft_output_text(card->out, share.text);
    put_of(card->out, card);
    weft_output_text(card->out, "\n");
    if (is_one || is_path)
        return;
    weft_output_text(card->out, "    ");
    put_symptom(card->out, problem);
    weft_output_text(card->out, "\n");
}

enum { LABELLED = 16 };

static void put_label(struct weft_output *out, const char *label)
{
    weft_output_printf(out, "    %-12s", label); /* LABELLED columns */
}

/* What the scratch holds, behind a label. */
static void put_line(const struct card *card, const char *label)
{
    put_label(card->out, label);
    weft_words_wrapped(card->out, weft_output_held(card->scratch), LABELLED);
    weft_output_clear(card->scratch);
}

static void put_thread_line(const struct card *card, const char *label, struct weft_str thread,
                            const struct weft_chain *chain)
{
    weft_words_name(card->scratch, thread);
    put_chain(card->scratch, chain);
    put_line(card, label);
}

static void put_also(const struct card *card)
{
    const struct weft_problem *problem = card->problem;
    for (size_t i = 0; i < problem->n_also && i < MOST_ALSO; i++) {
        weft_output_text(card->scratch, i ? ", " : "");
        weft_words_function(card->scratch, problem->also[i]->type);
    }
    if (problem->n_also > MOST_ALSO)
        weft_output_printf(card->scratch, " and %s more",
                           weft_human_count(problem->n_also - MOST_ALSO).text);
    if (problem->n_also > 0)
        put_line(card, "slows also");
}

static void put_threads(const struct card *card)
{
    const struct weft_problem *problem = card->problem;
    const bool is_held =
        weft_problem_is_of_lock(problem->kind) || problem->kind == WEFT_PROBLEM_POOL;
    const bool is_taken = weft_str_equal(problem->last, problem->preemptor);
    if (problem->holder.n_bytes > 0)
        put_thread_line(card, is_held ? "holder" : "waits for", problem->holder, &problem->holding);
    if (problem->last.n_bytes > 0)
        put_thread_line(card, is_taken ? "CPU used by" : "waiting for", problem->last,
                        &problem->lasting);
    if (problem->n_waiters > 1)
        weft_output_printf(card->scratch, "%u \xc3\x97 ", problem->n_waiters);
    put_thread_line(card, problem->holder.n_bytes > 0 ? "waiters" : "where", problem->waiter,
                    &problem->waiting);
    put_also(card);
}

/* "36 of 37 slow ones wait for it, 0 of 853 usual ones; +27.4 ms on average (p < 0.001)": of
 * all slow ones and all usual ones. */
static void put_numbers(struct weft_output *out, const struct weft_problem *problem)
{
    const uint64_t n_usual = problem->finding->table->n_a;
    weft_output_printf(out, "%s of %s slow ones %s, %s of %s usual ones; +%s on average",
                       weft_human_count(problem->n_with).text,
                       weft_human_count(problem->n_slow).text, kinds[problem->kind].verb,
                       weft_human_count(problem->n_usual_with).text, weft_human_count(n_usual).text,
                       weft_human_mean(problem->slow_here_ns - problem->usual_here_ns).text);
    weft_output_printf(out, " (%s)", weft_human_p(problem->p).text);
}

static void put_evidence(const struct card *card)
{
    const struct weft_problem *problem = card->problem;
    put_numbers(card->scratch, problem);
    put_line(card, "evidence");
    if (weft_confidence_level(weft_confidence_value(&problem->confidence)) == WEFT_CONFIDENCE_HIGH)
        return;
    weft_confidence_put(card->scratch, &problem->confidence);
    put_line(card, "confidence");
}

static void put_work(const struct card *card)
{
    const struct weft_work *work = &card->problem->finding->work;
    weft_output_printf(card->scratch, "%s of ", weft_human_ratio(work->slow_calls).text);
    weft_words_function(card->scratch, work->function);
    weft_output_printf(card->scratch, " instead of %s, %s each",
                       weft_human_ratio(work->usual_calls).text,
                       weft_human_mean(work->slow_ns).text);
    put_line(card, "calls");
}

static void put_card(const struct card *card)
{
    const struct weft_problem *problem = card->problem;
    put_headline(card);
    put_threads(card);
    if (problem->finding->table->n_a == 0) {
        weft_output_text(card->scratch, weft_human_mean(problem->cost_ns).text);
        put_line(card, "time");
        weft_output_text(card->out, "\n");
        return;
    }
    if (problem->kind == WEFT_PROBLEM_MORE_WORK)
        put_work(card);
    put_evidence(card);
    put_words(card->scratch, problem, kinds[problem->kind].fix);
    put_line(card, "fix");
    put_label(card->out, "open");
    weft_render_open_command(card->out, problem->finding->matrix, problem->worst);
    weft_output_text(card->out, "\n\n");
}

/* "transfer (71) waits 0.98 s for accounts, held by audit (72), in move": a line each. */
static void put_deadlock_wait(const struct card *card, const struct weft_deadlock_wait *wait)
{
    struct weft_output *out = card->scratch;
    weft_words_name(out, wait->waiter);
    weft_output_printf(out, " (%" PRIu64 ") waits %s for ", wait->waiter_tid,
                       weft_human_ns(wait->wait_ns).text);
    if (!wait->is_join) {
        weft_words_name(out, wait->lock);
        weft_output_text(out, ", held by ");
    } else {
        weft_output_text(out, "the end of ");
    }
    weft_words_name(out, wait->holder);
    weft_output_printf(out, " (%" PRIu64 ")", wait->holder_tid);
    if (wait->function.n_bytes > 0) {
        weft_output_text(out, ", in ");
        weft_words_function(out, wait->function);
    }
    weft_output_text(card->out, "    ");
    weft_words_wrapped(card->out, weft_output_held(out), DEADLOCK_INDENT);
    weft_output_clear(out);
}

static const char *deadlock_fix(const struct weft_deadlock_wait *waits, size_t n)
{
    bool has_join = false;
    for (size_t i = 0; i < n; i++)
        has_join |= waits[i].is_join;
    return has_join ? "release the lock before joining a thread that needs it"
           : n == 1 ? "release the lock before asking for it again, or use a recursive one"
                    : "take these locks in the same order everywhere";
}

static size_t end_of_cycle(const struct weft_problems_table *problems, size_t first)
{
    size_t end = first;
    while (end < problems->n_deadlocks &&
           problems->deadlocks[end].cycle == problems->deadlocks[first].cycle)
        end++;
    return end;
}

/* A card for each cycle; their number. */
static size_t put_deadlocks(const struct card *card, const struct weft_problems_table *problems)
{
    size_t n = 0;
    for (size_t i = 0, end; i < problems->n_deadlocks; i = end) {
        end = end_of_cycle(problems, i);
        weft_output_printf(card->out, "%2zu  Deadlock: ", ++n);
        if (end - i == 1)
            weft_output_text(card->out, "a thread waits for itself to the end\n");
        else
            weft_output_printf(card->out, "%zu threads wait for each other to the end\n", end - i);
        for (size_t k = i; k < end; k++)
            put_deadlock_wait(card, &problems->deadlocks[k]);
        put_label(card->out, "fix");
        weft_output_text(card->out, deadlock_fix(&problems->deadlocks[i], end - i));
        weft_output_text(card->out, "\n\n");
    }
    return n;
}

static bool has_several_types(const struct weft_problems_table *problems)
{
    for (size_t i = 1; i < problems->n_rows; i++)
        if (problems->rows[i].finding != problems->rows[0].finding)
            return true;
    return false;
}

size_t weft_problems_put(struct weft_output *out, const struct weft_problems_table *problems,
                         size_t most)
{
    struct card card = { .out = out, .names_type = has_several_types(problems) };
    struct weft_err err = { 0 };
    if (weft_output_to_memory(&card.scratch, &err) != WEFT_OK) {
        weft_output_fail(out, &err);
        return 0;
    }
    const size_t n_deadlocks = put_deadlocks(&card, problems);
    size_t n = 0;
    for (size_t i = 0; i < problems->n_rows; i++) {
        card.problem = &problems->rows[i];
        if (most > 0 && (n == most || card.problem->is_small))
            continue;
        card.number = n_deadlocks + ++n;
        put_card(&card);
    }
    weft_output_drop(card.scratch, out);
    if (problems->n_rows > n)
        weft_output_printf(
            out, "%s: --all\n",
            weft_human_plural(problems->n_rows - n, n > 0 ? "more finding" : "small finding").text);
    return n_deadlocks + n;
}

/* ---- the first line -------------------------------------------------------------------------- */

static struct weft_str file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return weft_str_of(slash ? slash + 1 : path);
}

enum { HEAD_INDENT = 4 }; /* of a second line */

/* False without memory. */
static bool losses_of(const struct weft_trace *trace, struct weft_losses *losses)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_note_sums sums;
    struct weft_err err = { 0 };
    const bool is_good = arena && weft_note_sums(trace, arena, &sums, &err) == WEFT_OK;
    if (is_good)
        *losses = weft_losses_of(&sums);
    weft_arena_free(arena);
    return is_good;
}

/* "complete", "12 records lost, 2 processes not recorded (weft info)"; nothing where the source
 * does not count what it loses. */
static void put_losses(struct weft_output *out, const struct weft_trace *trace,
                       const struct weft_losses *losses)
{
    const struct {
        uint64_t count;
        const char *one, *several;
    } rows[] = { { losses->n_records, "record lost", "records lost" },
                 { losses->damaged_bytes, "byte not readable", "bytes not readable" },
                 { losses->unwritten_bytes, "byte not written", "bytes not written" },
                 { losses->n_processes, "process not recorded", "processes not recorded" } };
    size_t n = weft_trace_meta(trace)->is_recovered;
    if (n > 0)
        weft_output_text(out, " \xc2\xb7 the file ends early");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count > 0)
            weft_output_printf(out, "%s%s %s", n++ ? ", " : " \xc2\xb7 ",
                               weft_human_count(rows[i].count).text,
                               rows[i].count == 1 ? rows[i].one : rows[i].several);
    if (n > 0)
        weft_output_text(out, " (weft info)");
    else if (weft_trace_counts_losses(trace))
        weft_output_text(out, " \xc2\xb7 complete");
}

void weft_problems_put_head(const struct weft_view *view,
                            const struct weft_findings_table *findings)
{
    const struct weft_trace *trace = view->trace;
    struct weft_output *out;
    struct weft_err err = { 0 };
    struct weft_losses losses;
    if (!trace || !losses_of(trace, &losses) || weft_output_to_memory(&out, &err) != WEFT_OK)
        return;
    weft_words_name(out, file_name(view->path));
    weft_output_printf(
        out, "   %s \xc2\xb7 %s", weft_human_ns(weft_trace_meta(trace)->duration_ns).text,
        weft_human_plural(weft_trace_n_threads(trace) - weft_trace_n_foreign(trace), "thread")
            .text);
    if (findings->whole) {
        weft_output_text(out, " \xc2\xb7 critical path of ");
        weft_words_name(out, findings->whole->type);
    }
    for (size_t i = 0; i < findings->n_rows && i < 1; i++) {
        weft_output_printf(out, " \xc2\xb7 %s ",
                           weft_human_count(findings->rows[i].matrix->n_items).text);
        weft_words_function(out, findings->rows[i].type);
    }
    put_losses(out, trace, &losses);
    weft_words_wrapped(view->out, weft_output_held(out), HEAD_INDENT);
    weft_output_text(view->out, "\n");
    weft_output_drop(out, view->out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_chain(struct weft_json *json, const char *key, const struct weft_chain *chain)
{
    weft_json_begin_array(json, key);
    for (size_t i = 0; i < chain->n; i++)
        weft_json_str(json, NULL, chain->links[i]->name);
    weft_json_end_array(json);
}

static void json_str(struct weft_json *json, const char *key, struct weft_str text)
{
    if (text.n_bytes > 0)
        weft_json_str(json, key, text);
    else
        weft_json_null(json, key);
}

static void json_written(struct weft_json *json, const char *key, struct weft_output *scratch)
{
    weft_json_str(json, key, weft_output_held(scratch));
    weft_output_clear(scratch);
}

/* The sentence, and the parts of it that a screen sets apart. */
static void json_words(struct weft_json *json, const struct weft_problem *problem,
                       struct weft_output *scratch)
{
    const bool is_path = problem->finding->table->n_a == 0;
    if (is_path)
        put_path_head(scratch, problem);
    else
        weft_problem_put_sentence(scratch, problem);
    json_written(json, "sentence", scratch);
    if (is_path)
        put_path_head(scratch, problem);
    else
        put_head(scratch, problem);
    json_written(json, "title", scratch);
    if (!is_path)
        put_symptom(scratch, problem);
    json_written(json, "symptom", scratch);
    if (!is_path)
        put_numbers(scratch, problem);
    json_written(json, "evidence", scratch);
    weft_json_bool(json, "critical_path", is_path);
}

/* The execution that spends most on it: its thread, and when. */
static void json_worst(struct weft_json *json, const struct weft_problem *problem)
{
    const struct weft_execution_item *worst = &problem->finding->matrix->items[problem->worst];
    weft_json_u64(json, "worst_tid", worst->tid);
    weft_json_u64(json, "worst_start_ns", worst->start_ns);
    weft_json_u64(json, "worst_end_ns", worst->end_ns);
}

static void json_problem(struct weft_json *json, const struct weft_problem *problem,
                         struct weft_output *scratch)
{
    weft_json_new_line(json);
    weft_json_begin_object(json, NULL);
    weft_json_text(json, "kind", weft_problem_kind_name(problem->kind));
    json_words(json, problem, scratch);
    weft_json_str(json, "type", problem->finding->type);
    weft_json_begin_array(json, "also");
    for (size_t i = 0; i < problem->n_also; i++)
        weft_json_str(json, NULL, problem->also[i]->type);
    weft_json_end_array(json);
    weft_json_bool(json, "of_lock", weft_problem_is_of_lock(problem->kind));
    json_str(json, "object", problem->object);
    json_str(json, "where", problem->where);
    json_str(json, "holder", problem->holder);
    json_chain(json, "holder_functions", &problem->holding);
    json_str(json, "last", problem->last);
    json_chain(json, "last_functions", &problem->lasting);
    json_str(json, "preemptor", problem->preemptor);
    weft_json_str(json, "waiter", problem->waiter);
    weft_json_u64(json, "waiter_threads", problem->n_waiters);
    json_chain(json, "waiter_functions", &problem->waiting);
    weft_json_u64(json, "executions", problem->n_items);
    weft_json_u64(json, "slow", problem->n_slow);
    weft_json_u64(json, "slow_with_it", problem->n_with);
    weft_json_u64(json, "usual_with_it", problem->n_usual_with);
    weft_json_real(json, "usual_ns", problem->usual_ns);
    weft_json_real(json, "slow_ns", problem->slow_ns);
    weft_json_real(json, "usual_here_ns", problem->usual_here_ns);
    weft_json_real(json, "slow_here_ns", problem->slow_here_ns);
    if (problem->finding->table->n_a > 0)
        weft_json_real(json, "p", problem->p);
    else
        weft_json_null(json, "p"); /* a critical path: nothing is compared */
    weft_json_real(json, "cost_ns", problem->cost_ns);
    weft_json_real(json, "cost_share", problem->share);
    weft_json_real(json, "explained_share", problem->explained);
    weft_json_bool(json, "small", problem->is_small);
    weft_confidence_json(json, &problem->confidence, scratch);
    put_words(scratch, problem, kinds[problem->kind].fix);
    json_written(json, "fix", scratch);
    weft_render_open_command(scratch, problem->finding->matrix, problem->worst);
    json_written(json, "open", scratch);
    json_worst(json, problem);
    weft_json_end_object(json);
}

static void json_deadlocks(struct weft_json *json, const struct weft_problems_table *problems)
{
    size_t end = 0;
    weft_json_begin_array(json, "deadlocks");
    for (size_t i = 0, first = 0; i < problems->n_deadlocks; i++) {
        const struct weft_deadlock_wait *wait = &problems->deadlocks[i];
        if (i == end) {
            first = i;
            end = end_of_cycle(problems, i);
        }
        weft_json_new_line(json);
        weft_json_begin_object(json, NULL);
        weft_json_u64(json, "cycle", wait->cycle);
        weft_json_u64(json, "waiter_tid", wait->waiter_tid);
        weft_json_str(json, "waiter", wait->waiter);
        json_str(json, "lock", wait->lock);
        weft_json_bool(json, "join", wait->is_join);
        weft_json_u64(json, "holder_tid", wait->holder_tid);
        weft_json_str(json, "holder", wait->holder);
        json_str(json, "function", wait->function);
        weft_json_u64(json, "start_ns", wait->start_ns);
        weft_json_u64(json, "wait_ns", wait->wait_ns);
        weft_json_text(json, "fix", deadlock_fix(&problems->deadlocks[first], end - first));
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

void weft_problems_json(struct weft_json *json, const struct weft_problems_table *problems,
                        struct weft_output *scratch)
{
    json_deadlocks(json, problems);
    weft_json_begin_array(json, "findings");
    for (size_t i = 0; i < problems->n_rows; i++)
        json_problem(json, &problems->rows[i], scratch);
    weft_json_end_array(json);
}

void weft_problems_json_trace(struct weft_json *json, const struct weft_view *view)
{
    const struct weft_trace *trace = view->trace;
    struct weft_losses losses;
    if (!trace || !losses_of(trace, &losses)) {
        weft_json_null(json, "trace");
        return;
    }
    weft_json_begin_object(json, "trace");
    weft_json_str(json, "file", file_name(view->path));
    weft_json_u64(json, "duration_ns", weft_trace_meta(trace)->duration_ns);
    weft_json_u64(json, "threads", weft_trace_n_threads(trace) - weft_trace_n_foreign(trace));
    if (weft_trace_counts_losses(trace) || losses.n_records > 0)
        weft_json_u64(json, "lost_records", losses.n_records);
    else
        weft_json_null(json, "lost_records"); /* the source does not count them */
    weft_json_u64(json, "damaged_bytes", losses.damaged_bytes);
    weft_json_u64(json, "unwritten_bytes", losses.unwritten_bytes);
    weft_json_u64(json, "unrecorded_processes", losses.n_processes);
    weft_json_bool(json, "ends_early", weft_trace_meta(trace)->is_recovered);
    weft_json_end_object(json);
}
