/* SPDX-License-Identifier: MIT
 *
 * Cards of problems: a headline with the cost, then what holds up, what is held up, the evidence,
 * what to change, and the command that shows more.
 */
#include "render/text/problems.h"

#include "render/human.h"
#include "render/text/compare.h"
#include "render/text/compare_words.h"
#include "render/text/confidence.h"
#include "render/text/problem_words.h"

#include <inttypes.h>
#include <string.h>

enum { TYPE_COLUMNS = 32, SYMPTOM_INDENT = 4, MOST_ALSO = 3, DEADLOCK_INDENT = 4 };

/* ---- cards ----------------------------------------------------------------------------------- */

static void put_chain(struct weft_output *out, const struct weft_chain *chain)
{
    weft_output_text(out, chain->n > 0 ? "  " : "");
    weft_output_text(out, chain->is_cut ? "... > " : "");
    for (size_t i = 0; i < chain->n; i++) {
        weft_output_text(out, i ? " > " : "");
        weft_words_function(out, chain->links[i]->name);
    }
    if (chain->within) {
        weft_output_text(out, " > ");
        weft_words_function(out, chain->within->name);
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
    if (weft_problem_is_of_path(card->problem)) {
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
    if (weft_problem_is_of_path(problem)) {
        weft_problem_put_path_head(out, problem);
    } else if (is_whole) {
        weft_problem_put_sentence(out, problem);
    } else {
        weft_problem_put_head(out, problem);
    }
}

/* The head and the symptom, and at the right end of the line the cost: on one line if they fit. */
static void put_headline(const struct card *card)
{
    const struct weft_problem *problem = card->problem;
    const bool is_path = weft_problem_is_of_path(problem);
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
    weft_problem_put_symptom(card->scratch, problem);
    weft_words_wrapped(card->out, weft_output_held(card->scratch), SYMPTOM_INDENT);
    weft_output_clear(card->scratch);
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
        weft_words_executions(card->scratch, problem->also[i]->type);
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
    const bool has_stem = problem->n_waiters > 1 && problem->waiter_stem.n_bytes > 0;
    if (problem->n_waiters > 1)
        weft_output_printf(card->scratch, "%u \xc3\x97 ", problem->n_waiters);
    weft_words_name(card->scratch, has_stem ? problem->waiter_stem : problem->waiter);
    weft_output_text(card->scratch, has_stem ? "*" : "");
    put_chain(card->scratch, &problem->waiting);
    put_line(card, problem->holder.n_bytes > 0 ? "waiters" : "where");
    put_also(card);
}

static void put_evidence(const struct card *card)
{
    const struct weft_problem *problem = card->problem;
    weft_problem_put_numbers(card->scratch, problem);
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

static void put_overtaking(const struct card *card)
{
    weft_output_printf(card->scratch, "%s got after the writer asked, in the worst execution",
                       weft_human_plural(card->problem->n_overtaking, "read lock").text);
    put_line(card, "readers");
}

static void put_card(const struct card *card)
{
    const struct weft_problem *problem = card->problem;
    put_headline(card);
    put_threads(card);
    if (weft_problem_is_of_path(problem)) {
        weft_output_text(card->scratch, weft_human_mean(problem->cost_ns).text);
        put_line(card, "time");
        weft_output_text(card->out, "\n");
        return;
    }
    if (problem->kind == WEFT_PROBLEM_MORE_WORK)
        put_work(card);
    if (problem->kind == WEFT_PROBLEM_STARVED)
        put_overtaking(card);
    put_evidence(card);
    weft_problem_put_fix(card->scratch, problem);
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

/* A card for each cycle; their number. */
static size_t put_deadlocks(const struct card *card, const struct weft_problems_table *problems)
{
    size_t n = 0;
    for (size_t i = 0, end; i < problems->n_deadlocks; i = end) {
        end = weft_deadlock_end(problems, i);
        weft_output_printf(card->out, "%2zu  Deadlock: ", ++n);
        if (end - i == 1)
            weft_output_text(card->out, "a thread waits for itself to the end\n");
        else
            weft_output_printf(card->out, "%zu threads wait for each other to the end\n", end - i);
        for (size_t k = i; k < end; k++)
            put_deadlock_wait(card, &problems->deadlocks[k]);
        put_label(card->out, "fix");
        weft_output_text(card->out, weft_deadlock_fix(&problems->deadlocks[i], end - i));
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

static void put_sync_thread(const struct card *card, const char *label, struct weft_str thread,
                            struct weft_str function)
{
    weft_words_name(card->scratch, thread);
    if (function.n_bytes > 0) {
        weft_output_text(card->scratch, "  ");
        weft_words_function(card->scratch, function);
    }
    put_line(card, label);
}

static void put_sync(const struct card *card, const struct weft_sync_problem *sync)
{
    const struct weft_human share = weft_human_share(sync->share);
    const char *whole = weft_sync_whole(sync);
    weft_sync_put_head(card->scratch, sync);
    const size_t n_used = 5 + take_columns(card->scratch) + strlen(share.text) + strlen(whole);
    weft_output_printf(card->out, "%2zu  ", card->number);
    weft_sync_put_head(card->out, sync);
    weft_output_repeat(card->out, " ",
                       n_used + 2 <= WEFT_TEXT_COLUMNS ? WEFT_TEXT_COLUMNS - n_used : 2);
    weft_output_printf(card->out, "%s %s\n    ", share.text, whole);
    weft_sync_put_symptom(card->scratch, sync);
    weft_words_wrapped(card->out, weft_output_held(card->scratch), DEADLOCK_INDENT);
    weft_output_clear(card->scratch);
    put_sync_thread(card, sync->kind == WEFT_SYNC_HERD ? "woken by" : "last", sync->thread,
                    sync->function);
    if (sync->n_others > 1)
        weft_output_printf(card->scratch, "%u \xc3\x97 ", sync->n_others);
    put_sync_thread(card, "waiters", sync->other, sync->other_function);
    weft_sync_put_numbers(card->scratch, sync);
    put_line(card, "evidence");
    weft_output_text(card->scratch, weft_sync_fix(sync));
    put_line(card, "fix");
    weft_output_text(card->out, "\n");
}

/* Those from `from` on, numbered from *number + 1 on. */
static void put_syncs(struct card *card, const struct weft_problems_table *problems, size_t from,
                      size_t to, size_t *number)
{
    for (size_t i = from; i < to; i++) {
        card->number = ++*number;
        put_sync(card, &problems->syncs[i]);
    }
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
    const size_t n_leading = weft_problems_n_leading(problems);
    size_t number = put_deadlocks(&card, problems), n = 0;
    put_syncs(&card, problems, 0, n_leading, &number);
    for (size_t i = 0; i < problems->n_rows; i++) {
        card.problem = &problems->rows[i];
        if (most > 0 && (n == most || card.problem->is_small))
            continue;
        n++;
        card.number = ++number;
        put_card(&card);
    }
    put_syncs(&card, problems, n_leading, problems->n_syncs, &number);
    weft_output_drop(card.scratch, out);
    if (problems->n_rows > n)
        weft_output_printf(
            out, "%s: --all\n",
            weft_human_plural(problems->n_rows - n, number > 0 ? "more finding" : "small finding")
                .text);
    return number;
}
