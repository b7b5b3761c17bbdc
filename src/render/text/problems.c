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

/* The function at fault: the innermost of the program's in which the holder is; without one, the
 * execution's own thread. */
static const struct weft_frame *function_of(const struct weft_problem *problem)
{
    const bool is_of_holder = problem->holder.n_bytes > 0 && problem->holding.n > 0 &&
                              problem->kind != WEFT_PROBLEM_NETWORK &&
                              problem->kind != WEFT_PROBLEM_CHILD;
    const struct weft_chain *chain = is_of_holder ? &problem->holding : &problem->waiting;
    return chain->n > 0 ? chain->links[chain->n - 1] : NULL;
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
    if (problem->waiting.n > 0) {
        weft_output_text(out, " in ");
        weft_words_function(out, problem->waiting.links[problem->waiting.n - 1]->name);
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
        weft_words_name(out, problem->holder);
    else if (mark == MARK_PREEMPTOR && problem->preemptor.n_bytes > 0)
        weft_words_name(out, problem->preemptor);
    else if (mark != MARK_FUNCTION)
        weft_output_text(out, "another one");
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
    weft_output_printf(out, "%s of %s ", weft_human_count(problem->n_main).text,
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
    weft_words_name(out, problem->holder);
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

/* The head and the symptom, and at the right end of the line the cost: on one line if they fit. */
static void put_headline(struct weft_output *out, const struct weft_problem *problem, size_t number,
                         struct weft_output *scratch)
{
    weft_output_printf(out, "%2zu  ", number);
    put_head(scratch, problem);
    const size_t n_head = weft_words_columns(weft_output_held(scratch));
    weft_output_text(scratch, ": ");
    put_symptom(scratch, problem);
    const size_t n_all = weft_words_columns(weft_output_held(scratch));
    weft_output_clear(scratch);
    const struct weft_human share = weft_human_share(problem->share);
    const size_t n_share = strlen(share.text) + strlen(" of request time");
    const bool is_one = n_all + n_share + 6 <= WEFT_TEXT_COLUMNS;
    const size_t n_used = 4 + (is_one ? n_all : n_head) + n_share;
    put_head(out, problem);
    if (is_one) {
        weft_output_text(out, ": ");
        put_symptom(out, problem);
    }
    weft_output_repeat(out, " ", n_used + 2 <= WEFT_TEXT_COLUMNS ? WEFT_TEXT_COLUMNS - n_used : 2);
    weft_output_printf(out, "%s of request time\n", share.text);
    if (is_one)
        return;
    weft_output_text(out, "    ");
    put_symptom(out, problem);
    weft_output_text(out, "\n");
}

enum { LABELLED = 16 };

static void put_label(struct weft_output *out, const char *label)
{
    weft_output_printf(out, "    %-12s", label); /* LABELLED columns */
}

static void put_threads(struct weft_output *out, const struct weft_problem *problem)
{
    if (problem->holder.n_bytes > 0) {
        put_label(out, weft_problem_is_of_lock(problem->kind) || problem->kind == WEFT_PROBLEM_POOL
                           ? "holder"
                           : "waits for");
        weft_words_name(out, problem->holder);
        put_chain(out, &problem->holding);
        weft_output_text(out, "\n");
    }
    if (problem->last.n_bytes > 0) {
        put_label(out, weft_str_equal(problem->last, problem->preemptor) ? "CPU used by"
                                                                         : "waiting for");
        weft_words_name(out, problem->last);
        put_chain(out, &problem->lasting);
        weft_output_text(out, "\n");
    }
    put_label(out, problem->holder.n_bytes > 0 ? "waiters" : "where");
    if (problem->n_waiters > 1)
        weft_output_printf(out, "%u \xc3\x97 ", problem->n_waiters);
    weft_words_name(out, problem->waiter);
    put_chain(out, &problem->waiting);
    weft_output_text(out, "\n");
}

/* "36 of 37 slow ones wait for it, 0 of 853 usual ones; +27.4 ms on average (p < 0.001)": of
 * all slow ones and all usual ones. */
static void put_numbers(struct weft_output *out, const struct weft_problem *problem)
{
    const uint64_t n_usual = problem->finding->table->n_a;
    weft_output_printf(out, "%s of %s slow ones %s, %s of %s usual ones; +%s on average",
                       weft_human_count(problem->n_main).text,
                       weft_human_count(problem->n_slow).text, kinds[problem->kind].verb,
                       weft_human_count(problem->n_usual_main).text, weft_human_count(n_usual).text,
                       weft_human_mean(problem->slow_here_ns - problem->usual_here_ns).text);
    weft_output_printf(out, " (%s)", weft_human_p(problem->p).text);
}

static void put_evidence(struct weft_output *out, const struct weft_problem *problem,
                         struct weft_output *scratch)
{
    put_label(out, "evidence");
    put_numbers(scratch, problem);
    weft_words_wrapped(out, weft_output_held(scratch), LABELLED);
    weft_output_clear(scratch);
    if (weft_confidence_level(weft_confidence_value(&problem->confidence)) == WEFT_CONFIDENCE_HIGH)
        return;
    put_label(out, "confidence");
    weft_confidence_put(scratch, &problem->confidence);
    weft_words_wrapped(out, weft_output_held(scratch), LABELLED);
    weft_output_clear(scratch);
}

static void put_work(struct weft_output *out, const struct weft_work *work)
{
    put_label(out, "calls");
    weft_output_printf(out, "%s of ", weft_human_ratio(work->slow_calls).text);
    weft_words_function(out, work->function);
    weft_output_printf(out, " instead of %s, %s each\n", weft_human_ratio(work->usual_calls).text,
                       weft_human_mean(work->slow_ns).text);
}

/* Of a critical path: what it does, and its share of it. */
static void put_path_headline(struct weft_output *out, const struct weft_problem *problem,
                              size_t number, struct weft_output *scratch)
{
    const struct weft_human share = weft_human_share(problem->share);
    const char *of = " of the critical path";
    put_path_head(scratch, problem);
    const size_t n_used =
        4 + weft_words_columns(weft_output_held(scratch)) + strlen(share.text) + strlen(of);
    weft_output_clear(scratch);
    weft_output_printf(out, "%2zu  ", number);
    put_path_head(out, problem);
    weft_output_repeat(out, " ", n_used + 2 <= WEFT_TEXT_COLUMNS ? WEFT_TEXT_COLUMNS - n_used : 2);
    weft_output_printf(out, "%s%s\n", share.text, of);
}

static void put_path_card(struct weft_output *out, const struct weft_problem *problem,
                          size_t number, struct weft_output *scratch)
{
    put_path_headline(out, problem, number, scratch);
    put_threads(out, problem);
    put_label(out, "time");
    weft_output_printf(out, "%s\n\n", weft_human_mean(problem->cost_ns).text);
}

static void put_card(struct weft_output *out, const struct weft_problem *problem, size_t number,
                     struct weft_output *scratch)
{
    if (problem->finding->table->n_a == 0) {
        put_path_card(out, problem, number, scratch);
        return;
    }
    put_headline(out, problem, number, scratch);
    put_threads(out, problem);
    if (problem->kind == WEFT_PROBLEM_MORE_WORK)
        put_work(out, &problem->finding->work);
    put_evidence(out, problem, scratch);
    put_label(out, "fix");
    put_words(scratch, problem, kinds[problem->kind].fix);
    weft_words_wrapped(out, weft_output_held(scratch), LABELLED);
    weft_output_clear(scratch);
    put_label(out, "open");
    weft_render_open_command(out, problem->finding->matrix, problem->worst);
    weft_output_text(out, "\n\n");
}

/* "transfer (71) waits 0.98 s for accounts, held by audit (72), in move": a line each. */
static void put_deadlock_wait(struct weft_output *out, const struct weft_deadlock_wait *wait)
{
    weft_output_text(out, "    ");
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
    weft_output_text(out, "\n");
}

/* A card for each circle; their number. */
static size_t put_deadlocks(struct weft_output *out, const struct weft_problems_table *problems)
{
    size_t n = 0;
    for (size_t i = 0, end; i < problems->n_deadlocks; i = end) {
        for (end = i; end < problems->n_deadlocks &&
                      problems->deadlocks[end].circle == problems->deadlocks[i].circle;)
            end++;
        weft_output_printf(out, "%2zu  Deadlock: %zu threads wait for each other to the end\n", ++n,
                           end - i);
        for (size_t k = i; k < end; k++)
            put_deadlock_wait(out, &problems->deadlocks[k]);
        put_label(out, "fix");
        weft_output_text(out, "take these locks in the same order everywhere\n\n");
    }
    return n;
}

size_t weft_problems_put(struct weft_output *out, const struct weft_problems_table *problems,
                         size_t most)
{
    struct weft_output *scratch;
    struct weft_err err = { 0 };
    size_t n = put_deadlocks(out, problems);
    const size_t n_before = n;
    if (weft_output_to_memory(&scratch, &err) != WEFT_OK) {
        weft_output_fail(out, &err);
        return 0;
    }
    for (size_t i = 0; i < problems->n_rows; i++) {
        const struct weft_problem *problem = &problems->rows[i];
        if (most == 0 || (n < most && (n == 0 || !problem->is_small)))
            put_card(out, problem, ++n, scratch);
    }
    weft_output_abort(scratch);
    if (problems->n_rows > n - n_before)
        weft_output_printf(
            out, "%s: --all\n",
            weft_human_plural(problems->n_rows - (n - n_before), "smaller finding").text);
    return n;
}

/* ---- the first line -------------------------------------------------------------------------- */

static uint64_t records_lost(const struct weft_trace *trace)
{
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    uint64_t n = 0;
    for (size_t i = 0; i < meta->n_notes; i++) {
        const struct weft_note *note = weft_trace_note(trace, i);
        n += weft_note_class_of(note->kind) == WEFT_NOTE_CLASS_LOST ? note->count : 0;
    }
    return n;
}

static struct weft_str file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return weft_str_of(slash ? slash + 1 : path);
}

enum { HEAD_INDENT = 4 }; /* of a second line */

void weft_problems_put_head(const struct weft_view *view,
                            const struct weft_findings_table *findings)
{
    const struct weft_trace *trace = view->trace;
    struct weft_output *out;
    struct weft_err err = { 0 };
    if (!trace || weft_output_to_memory(&out, &err) != WEFT_OK)
        return;
    const uint64_t n_lost = records_lost(trace);
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
    if (weft_trace_meta(trace)->is_recovered)
        weft_output_text(out, " \xc2\xb7 the file ends early (weft info)");
    else if (n_lost > 0)
        weft_output_printf(out, " \xc2\xb7 %s lost (weft info)",
                           weft_human_plural(n_lost, "record").text);
    else
        weft_output_text(out, weft_trace_counts_losses(trace) ? " \xc2\xb7 complete" : "");
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
    weft_json_bool(json, "of_lock", weft_problem_is_of_lock(problem->kind));
    json_str(json, "object", problem->object);
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
    weft_json_u64(json, "slow_with_it", problem->n_main);
    weft_json_u64(json, "usual_with_it", problem->n_usual_main);
    weft_json_real(json, "usual_ns", problem->usual_ns);
    weft_json_real(json, "slow_ns", problem->slow_ns);
    weft_json_real(json, "usual_here_ns", problem->usual_here_ns);
    weft_json_real(json, "slow_here_ns", problem->slow_here_ns);
    weft_json_real(json, "p", problem->p);
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
    weft_json_begin_array(json, "deadlocks");
    for (size_t i = 0; i < problems->n_deadlocks; i++) {
        const struct weft_deadlock_wait *wait = &problems->deadlocks[i];
        weft_json_new_line(json);
        weft_json_begin_object(json, NULL);
        weft_json_u64(json, "circle", wait->circle);
        weft_json_u64(json, "waiter_tid", wait->waiter_tid);
        weft_json_str(json, "waiter", wait->waiter);
        json_str(json, "lock", wait->lock);
        weft_json_bool(json, "join", wait->is_join);
        weft_json_u64(json, "holder_tid", wait->holder_tid);
        weft_json_str(json, "holder", wait->holder);
        json_str(json, "function", wait->function);
        weft_json_u64(json, "start_ns", wait->start_ns);
        weft_json_u64(json, "wait_ns", wait->wait_ns);
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
    if (!trace) {
        weft_json_null(json, "trace");
        return;
    }
    weft_json_begin_object(json, "trace");
    weft_json_str(json, "file", file_name(view->path));
    weft_json_u64(json, "duration_ns", weft_trace_meta(trace)->duration_ns);
    weft_json_u64(json, "threads", weft_trace_n_threads(trace) - weft_trace_n_foreign(trace));
    if (weft_trace_counts_losses(trace) || records_lost(trace) > 0)
        weft_json_u64(json, "lost_records", records_lost(trace));
    else
        weft_json_null(json, "lost_records"); /* the source does not count them */
    weft_json_bool(json, "ends_early", weft_trace_meta(trace)->is_recovered);
    weft_json_end_object(json);
}
