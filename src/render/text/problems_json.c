/* SPDX-License-Identifier: MIT
 *
 * Problems as JSON: the numbers, and the words of the cards.
 */
#include "render/text/compare.h"
#include "render/text/confidence.h"
#include "render/text/problem_words.h"
#include "render/text/problems.h"

static void json_chain(struct weft_json *json, const char *key, const struct weft_chain *chain)
{
    weft_json_begin_array(json, key);
    for (size_t i = 0; i < chain->n; i++)
        weft_json_str(json, NULL, chain->links[i]->name);
    if (chain->within)
        weft_json_str(json, NULL, chain->within->name);
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
    const bool is_path = weft_problem_is_of_path(problem);
    if (is_path)
        weft_problem_put_path_head(scratch, problem);
    else
        weft_problem_put_sentence(scratch, problem);
    json_written(json, "sentence", scratch);
    if (is_path)
        weft_problem_put_path_head(scratch, problem);
    else
        weft_problem_put_head(scratch, problem);
    json_written(json, "title", scratch);
    if (!is_path)
        weft_problem_put_symptom(scratch, problem);
    json_written(json, "symptom", scratch);
    if (!is_path)
        weft_problem_put_numbers(scratch, problem);
    json_written(json, "evidence", scratch);
    weft_json_bool(json, "critical_path", is_path);
    weft_json_bool(json, "of_all", problem->finding->all_of);
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
    if (problem->n_objects > 1)
        weft_json_u64(json, "objects", problem->n_objects);
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
    weft_json_u64(json, "overtaking_readers", problem->n_overtaking);
    weft_json_real(json, "cost_ns", problem->cost_ns);
    weft_json_real(json, "cost_share", problem->share);
    weft_json_real(json, "explained_share", problem->explained);
    weft_json_bool(json, "small", problem->is_small);
    weft_confidence_json(json, &problem->confidence, scratch);
    weft_problem_put_fix(scratch, problem);
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
            end = weft_deadlock_end(problems, i);
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
        weft_json_text(json, "fix", weft_deadlock_fix(&problems->deadlocks[first], end - first));
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

/* A list of one, or of none if it is not known. */
static void json_known(struct weft_json *json, const char *key, struct weft_str function)
{
    weft_json_begin_array(json, key);
    if (function.n_bytes > 0)
        weft_json_str(json, NULL, function);
    weft_json_end_array(json);
}

/* What problems have, as far as these have it. */
static void json_sync(struct weft_json *json, const struct weft_sync_problem *sync,
                      struct weft_output *scratch)
{
    static const char *const none[] = { "type", "last", "preemptor" };
    weft_json_new_line(json);
    weft_json_begin_object(json, NULL);
    weft_json_text(json, "kind", weft_sync_kind_name(sync->kind));
    weft_sync_put_sentence(scratch, sync);
    json_written(json, "sentence", scratch);
    weft_sync_put_head(scratch, sync);
    json_written(json, "title", scratch);
    weft_sync_put_symptom(scratch, sync);
    json_written(json, "symptom", scratch);
    weft_sync_put_numbers(scratch, sync);
    json_written(json, "evidence", scratch);
    weft_json_bool(json, "critical_path", false);
    weft_json_bool(json, "of_lock", false);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        weft_json_null(json, none[i]);
    json_str(json, "object", sync->object);
    weft_json_str(json, "holder", sync->thread);
    weft_json_u64(json, "holder_tid", sync->tid);
    json_known(json, "holder_functions", sync->function);
    weft_json_str(json, "waiter", sync->other);
    weft_json_u64(json, "waiter_threads", sync->n_others);
    json_known(json, "waiter_functions", sync->other_function);
    weft_json_u64(json, "events", sync->n_events);
    weft_json_u64(json, "woken", sync->n_woken);
    weft_json_u64(json, "futile", sync->n_futile);
    weft_json_u64(json, "arrives_last", sync->n_last);
    weft_json_u64(json, "cost_ns", sync->cost_ns);
    weft_json_real(json, "cost_share", sync->share);
    weft_json_text(json, "share_of", weft_sync_whole(sync));
    weft_json_bool(json, "small", false);
    weft_json_text(json, "fix", weft_sync_fix(sync));
    weft_json_null(json, "open");
    weft_json_u64(json, "worst_tid", sync->worst_tid);
    weft_json_u64(json, "worst_start_ns", sync->worst_start_ns);
    weft_json_u64(json, "worst_end_ns", sync->worst_end_ns);
    weft_json_end_object(json);
}

void weft_problems_json(struct weft_json *json, const struct weft_problems_table *problems,
                        struct weft_output *scratch)
{
    json_deadlocks(json, problems);
    weft_json_begin_array(json, "findings");
    const size_t n_leading = weft_problems_n_leading(problems);
    for (size_t i = 0; i < n_leading; i++)
        json_sync(json, &problems->syncs[i], scratch);
    for (size_t i = 0; i < problems->n_rows; i++)
        json_problem(json, &problems->rows[i], scratch);
    for (size_t i = n_leading; i < problems->n_syncs; i++)
        json_sync(json, &problems->syncs[i], scratch);
    weft_json_end_array(json);
}
