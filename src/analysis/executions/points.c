/* SPDX-License-Identifier: MIT
 *
 * One reader for each thread: blocks of calls and blocks of events alternate, whichever is behind
 * in time, and their points meet in the queue (queue.c). Calls whose exits matter stay on a stack
 * with a copy of their arguments. Blocks without a wanted function or event kind are skipped by
 * their summaries.
 */
#include "analysis/executions/points.h"

#include "analysis/executions/executions.h"
#include "base/checked.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

/* Values of the point in work, and where they are kept. */
struct adding {
    struct weft_rule_plan *plan;
    struct weft_execution_values *values;
    size_t cap;
    enum weft_code code;
    struct weft_err *err;
};

static bool grow_values(struct adding *adding)
{
    const size_t cap = adding->cap ? 2 * adding->cap : 4;
    const size_t n = adding->values ? adding->values->n : 0;
    struct weft_execution_values *values =
        realloc(adding->values, sizeof *values + cap * sizeof values->items[0]);
    if (!values)
        return false;
    values->n = n;
    adding->values = values;
    adding->cap = cap;
    return true;
}

static void add_value(void *context, struct weft_str name, double number)
{
    struct adding *adding = context;
    struct weft_metric_names *names = &adding->plan->names;
    if (adding->code != WEFT_OK)
        return;
    if ((!adding->values || adding->values->n == adding->cap) && !grow_values(adding)) {
        adding->code = weft_no_memory(adding->err, "executions");
        return;
    }
    struct weft_metric_value *value = &adding->values->items[adding->values->n];
    value->value = number;
    (void)pthread_mutex_lock(&names->lock);
    adding->code = weft_strtab_intern(names->table, name, &value->name, adding->err);
    (void)pthread_mutex_unlock(&names->lock);
    adding->values->n += adding->code == WEFT_OK;
}

/* What a program says of an execution that it marked are metrics, whoever asks for them. */
static bool is_marked(const struct weft_rule_view *view)
{
    return view->event && view->event->kind == WEFT_EVENT_SPAN &&
           weft_str_equal(view->event->category, WEFT_STR("execution"));
}

static enum weft_code take_values(struct weft_execution_reader *reader,
                                  const struct weft_rule_use *use,
                                  struct weft_execution_values **values)
{
    struct adding adding = { .plan = reader->plan, .err = reader->err };
    for (size_t i = 0; i < use->type->n_metrics && adding.code == WEFT_OK; i++) {
        const struct weft_rule_metric *metric = &use->type->metrics[i];
        if (!metric->field.kind)
            continue;
        const struct weft_rule_value value = weft_rule_field_get(&reader->view, &metric->field);
        if (value.kind == WEFT_VALUE_WHOLE || value.kind == WEFT_VALUE_REAL)
            add_value(&adding, metric->name, value.number);
    }
    if (adding.code == WEFT_OK && is_marked(&reader->view))
        weft_rule_view_numbers(&reader->view, add_value, &adding);
    *values = adding.values;
    return adding.code;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* One of the fields; no part of a letter is left at the end. */
static size_t put_field(char *label, size_t n, const struct weft_rule_value *value)
{
    char number[32] = "-";
    struct weft_str text = value->text;
    if (value->kind == WEFT_VALUE_WHOLE)
        (void)snprintf(number, sizeof number, "%" PRId64, value->integer);
    else if (value->kind == WEFT_VALUE_REAL)
        (void)snprintf(number, sizeof number, "%.9g", value->number);
    if (!text.bytes)
        text = weft_str_of(number);
    if (text.n_bytes > WEFT_LABEL_BYTES - n) {
        text.n_bytes = WEFT_LABEL_BYTES - n;
        while (text.n_bytes && ((uint8_t)text.bytes[text.n_bytes] & 0xc0) == 0x80)
            text.n_bytes--;
    }
    if (text.n_bytes)
        memcpy(label + n, text.bytes, text.n_bytes);
    return n + text.n_bytes;
}

static size_t put_between(char *label, size_t n, bool with_lines)
{
    const struct weft_str between = { with_lines ? (const char[]){ WEFT_LABEL_SEPARATOR } : ", ",
                                      with_lines ? 1 : 2 };
    if (n + between.n_bytes > WEFT_LABEL_BYTES)
        return n;
    memcpy(label + n, between.bytes, between.n_bytes);
    return n + between.n_bytes;
}

/* The number of a label. Of a new one, it is known whether it and its row have room: what is
 * distinguished by a field that is different each time, such as an id, would have no end. */
static enum weft_code number_label(struct weft_rule_plan *plan, struct weft_str label, uint32_t *id,
                                   struct weft_err *err)
{
    /* its entry, its slots and its rows, while what holds them grows, and the sums of its test:
     * some 260 bytes were measured for one of 42 bytes */
    enum { ROW_BYTES = 176 };
    (void)pthread_mutex_lock(&plan->names.lock);
    const uint32_t n_before = weft_strtab_count(plan->labels);
    enum weft_code code = weft_strtab_intern(plan->labels, label, id, err);
    if (code == WEFT_OK && *id == n_before)
        plan->labels_bytes += ROW_BYTES + 2 * label.n_bytes;
    if (code == WEFT_OK && plan->labels_bytes > plan->labels_most_bytes)
        code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "what is counted has more different labels than half of --mem holds: "
                         "expected --by fields of fewer values, or a rule for less of it ('where "
                         "...')");
    (void)pthread_mutex_unlock(&plan->names.lock);
    return code;
}

/* A row of something that is not paired. */
static enum weft_code see_labelled(struct weft_execution_reader *reader,
                                   const struct weft_rule_use *use, uint64_t at_ns,
                                   uint64_t duration_ns)
{
    char label[WEFT_LABEL_BYTES];
    uint32_t id = 0;
    size_t n = 0;
    reader->view.at_ns = at_ns;
    if (!weft_rule_holds(&reader->view, use->rule))
        return WEFT_OK;
    for (size_t i = 0; i < use->type->n_metrics; i++) {
        const struct weft_rule_value value =
            weft_rule_field_get(&reader->view, &use->type->metrics[i].field);
        if (i > 0)
            n = put_between(label, n, reader->plan->with_lines);
        n = put_field(label, n, &value);
    }
    const enum weft_code code =
        number_label(reader->plan, (struct weft_str){ label, n }, &id, reader->err);
    struct weft_execution_found *found = code == WEFT_OK ? WEFT_VEC_PUSH(reader->rows) : NULL;
    if (!found)
        return code == WEFT_OK ? weft_no_memory(reader->err, "executions") : code;
    found->row = (struct weft_execution_row){ .type = use->type_id,
                                              .thread_id = reader->thread_id,
                                              .end_thread_id = reader->thread_id,
                                              .start_ns = at_ns,
                                              .end_ns = weft_add_sat_u64(at_ns, duration_ns),
                                              .key = id };
    return WEFT_OK;
}

/* ---- points and rows ------------------------------------------------------------------------- */

static uint64_t scope_of(const struct weft_execution_reader *reader, enum weft_rule_scope scope)
{
    const struct weft_thread_info *info =
        &weft_trace_thread(reader->plan->trace, reader->thread_id)->info;
    if (scope == WEFT_SCOPE_THREAD)
        return reader->thread_id;
    return scope == WEFT_SCOPE_PROCESS ? (uint64_t)info->host_id << 32 ^ info->pid : 0;
}

/* Type, scope and the matched field as one number. Two that differ are the same by chance with a
 * probability of 2^-64, and that matters only if both are open at once. */
static uint64_t mixed(uint64_t type, uint64_t scope, uint64_t value)
{
    uint64_t hash = type * UINT64_C(0x9e3779b97f4a7c15) + scope;
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93) + value;
    hash = (hash ^ hash >> 29) * UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

/* False: the field to be matched is not there, and so there is no such point. */
static bool match_of(struct weft_execution_reader *reader, const struct weft_rule_use *use,
                     uint64_t *shown)
{
    *shown = 0;
    if (!use->type->has_match)
        return true;
    const struct weft_rule_value value = weft_rule_field_get(
        &reader->view, use->is_end ? &use->type->match_end : &use->type->match_begin);
    *shown = weft_rule_value_key(&value);
    return value.kind != WEFT_VALUE_ABSENT;
}

/* Is the event or function of the view one that the use is for? */
static bool is_named(const struct weft_execution_reader *reader, const struct weft_rule_use *use)
{
    const struct weft_rule_view *view = &reader->view;
    return view->event ? weft_rule_names(use->rule, view->event->name)
                       : weft_rule_use_is_of_function(view->trace, use, view->function_id);
}

/* Does the next execution of the same key begin where this one ends? */
static bool is_turn(struct weft_execution_reader *reader, const struct weft_rule_use *use,
                    uint64_t shown)
{
    const struct weft_rule_use *begin = use + 1;
    uint64_t begin_shown;
    return use->turns && is_named(reader, begin) && weft_rule_holds(&reader->view, begin->rule) &&
           match_of(reader, begin, &begin_shown) && begin_shown == shown;
}

/* Spans may end on another thread. */
static uint32_t end_thread_of(const struct weft_execution_reader *reader)
{
    const struct weft_event *event = reader->view.event;
    return event && event->kind == WEFT_EVENT_SPAN &&
                   event->next_thread_id < weft_trace_n_threads(reader->plan->trace)
               ? event->next_thread_id
               : reader->thread_id;
}

/* The view is of a point that is of the use's kind and name. Ends of spans lie ahead. */
static enum weft_code see_point(struct weft_execution_reader *reader,
                                const struct weft_rule_use *use, uint64_t at_ns)
{
    const bool is_end_of_span = use->kind == WEFT_RULE_END;
    const struct weft_rule *keep = &use->type->keep;
    uint64_t shown;
    if (reader->plan->labels)
        return see_labelled(reader, use, at_ns, 0);
    reader->view.at_ns = at_ns;
    if (!weft_rule_holds(&reader->view, use->rule) || !match_of(reader, use, &shown))
        return WEFT_OK;
    struct weft_execution_point point = {
        .at_ns = at_ns,
        .key = mixed(use->type_id, scope_of(reader, use->type->scope), shown),
        .shown = shown,
        .type = use->type_id,
        .thread_id = is_end_of_span ? end_thread_of(reader) : reader->thread_id,
        .is_end = use->is_end,
        .is_turn = is_turn(reader, use, shown),
        .is_dropped =
            use->is_end && keep->kind != WEFT_RULE_NONE && !weft_rule_holds(&reader->view, keep),
    };
    enum weft_code code = take_values(reader, use, &point.values);
    if (code == WEFT_OK &&
        !weft_execution_queue_put(&reader->queue,
                                  reader->view.event ? WEFT_POINTS_OF_EVENTS : WEFT_POINTS_OF_CALLS,
                                  &point, is_end_of_span))
        code = weft_no_memory(reader->err, "executions");
    if (code != WEFT_OK)
        free(point.values);
    return code;
}

static enum weft_code see_whole(struct weft_execution_reader *reader,
                                const struct weft_rule_use *use, uint64_t key, uint32_t flags)
{
    const struct weft_rule_view *view = &reader->view;
    uint64_t shown;
    if (reader->plan->labels)
        return see_labelled(reader, use, view->start_ns, view->duration_ns);
    reader->view.at_ns = view->start_ns;
    if (!weft_rule_holds(&reader->view, use->rule) || !match_of(reader, use, &shown))
        return WEFT_OK;
    struct weft_execution_found *found = WEFT_VEC_PUSH(reader->rows);
    if (!found)
        return weft_no_memory(reader->err, "executions");
    found->row =
        (struct weft_execution_row){ .type = use->type_id,
                                     .thread_id = reader->thread_id,
                                     .end_thread_id = end_thread_of(reader),
                                     .flags = flags,
                                     .start_ns = view->start_ns,
                                     .end_ns = weft_add_sat_u64(view->start_ns, view->duration_ns),
                                     .key = use->type->has_match ? shown : key };
    return take_values(reader, use, &found->begin);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static uint32_t flags_of(uint8_t call_flags)
{
    return (call_flags & WEFT_CALL_CUT_START ? WEFT_EXECUTION_CUT_START : 0) |
           (call_flags & WEFT_CALL_CUT_END ? WEFT_EXECUTION_UNFINISHED : 0);
}

static void view_arguments(struct weft_execution_reader *reader,
                           const struct weft_execution_arguments *arguments)
{
    reader->view.args = arguments->values;
    reader->view.n_args = arguments->n;
    reader->view.payload = arguments->texts;
}

static void view_call(struct weft_execution_reader *reader, const struct weft_execution_call *call)
{
    reader->view.event = NULL;
    reader->view.function_id = call->function_id;
    reader->view.depth = call->depth;
    reader->view.start_ns = call->start_ns;
    reader->view.duration_ns = call->end_ns - call->start_ns;
    reader->view.is_exit = false;
    view_arguments(reader, &(struct weft_execution_arguments){ 0 });
}

/* Rules of one kind for the function of the view. */
static enum weft_code see_function(struct weft_execution_reader *reader, enum weft_rule_kind kind,
                                   uint64_t at_ns, uint8_t flags)
{
    const struct weft_rule_plan *plan = reader->plan;
    const uint32_t id = reader->view.function_id;
    enum weft_code code = WEFT_OK;
    for (uint32_t i = plan->starts[id]; i < plan->starts[id + 1] && code == WEFT_OK; i++) {
        const struct weft_rule_use *use = &plan->uses[plan->use_of[i]];
        if (use->kind != kind || !reader->is_of_thread[plan->use_of[i]])
            continue;
        reader->view.is_operation = use->of_operations;
        code = kind == WEFT_RULE_CALL ? see_whole(reader, use, 0, flags_of(flags))
                                      : see_point(reader, use, at_ns);
    }
    return code;
}

static bool has_exits(const struct weft_execution_reader *reader, uint32_t function_id)
{
    const struct weft_rule_plan *plan = reader->plan;
    for (uint32_t i = plan->starts[function_id]; i < plan->starts[function_id + 1]; i++)
        if (plan->uses[plan->use_of[i]].kind == WEFT_RULE_EXIT)
            return true;
    return false;
}

/* The innermost open call ends. */
static enum weft_code leave_call(struct weft_execution_reader *reader)
{
    const struct weft_execution_call call = reader->calls.open.items[--reader->calls.open.n];
    enum weft_code code = WEFT_OK;
    view_call(reader, &call);
    reader->view.is_exit = true;
    if (call.kept)
        view_arguments(reader, call.kept);
    if (!(call.flags & WEFT_CALL_CUT_END))
        code = see_function(reader, WEFT_RULE_EXIT, call.end_ns, call.flags);
    free(call.kept);
    return code;
}

/* Calls of that depth and deeper are over. */
static enum weft_code leave_calls(struct weft_execution_reader *reader, uint32_t depth)
{
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && reader->calls.open.n > 0 &&
           reader->calls.open.items[reader->calls.open.n - 1].depth >= depth)
        code = leave_call(reader);
    return code;
}

/* Is the innermost open call still open where a block begins? Blocks before it may have been left
 * out. */
static bool is_open_in(const struct weft_execution_reader *reader, const struct weft_calls *calls)
{
    const struct weft_execution_call *call = &reader->calls.open.items[reader->calls.open.n - 1];
    if (call->depth >= calls->n_open)
        return false;
    const struct weft_open_call *open = &calls->open[call->depth];
    return open->start_ns == call->start_ns && open->end_ns == call->end_ns &&
           open->function_id == call->function_id;
}

/* For the exit, a copy in one piece of memory; NULL without memory. */
static struct weft_execution_arguments *copy_of(const struct weft_execution_arguments *arguments)
{
    const size_t n_bytes = arguments->n * sizeof *arguments->values;
    struct weft_execution_arguments *copy =
        malloc(sizeof *copy + n_bytes + arguments->texts.n_bytes);
    if (!copy)
        return NULL;
    uint64_t *values = (uint64_t *)(copy + 1);
    char *text = (char *)(copy + 1) + n_bytes;
    if (n_bytes)
        memcpy(values, arguments->values, n_bytes);
    if (arguments->texts.n_bytes)
        memcpy(text, arguments->texts.bytes, arguments->texts.n_bytes);
    *copy = (struct weft_execution_arguments){ .values = values,
                                               .n = arguments->n,
                                               .texts = { text, arguments->texts.n_bytes } };
    return copy;
}

/* Is looked at again when it ends. */
static enum weft_code keep_call(struct weft_execution_reader *reader,
                                const struct weft_execution_call *call,
                                const struct weft_execution_arguments *arguments)
{
    struct weft_execution_call *kept = WEFT_VEC_PUSH(&reader->calls.open);
    if (!kept)
        return weft_no_memory(reader->err, "executions");
    *kept = *call;
    kept->kept = reader->plan->keeps_arguments ? copy_of(arguments) : NULL;
    return kept->kept || !reader->plan->keeps_arguments ? WEFT_OK
                                                        : weft_no_memory(reader->err, "executions");
}

static enum weft_code see_call(struct weft_execution_reader *reader,
                               const struct weft_execution_call *call,
                               const struct weft_execution_arguments *arguments)
{
    enum weft_code code = leave_calls(reader, call->depth);
    view_call(reader, call);
    view_arguments(reader, arguments);
    WEFT_THEN(code, see_function(reader, WEFT_RULE_CALL, call->start_ns, call->flags));
    if (code == WEFT_OK && !(call->flags & WEFT_CALL_CUT_START))
        code = see_function(reader, WEFT_RULE_ENTER, call->start_ns, call->flags);
    return code == WEFT_OK && has_exits(reader, call->function_id)
               ? keep_call(reader, call, arguments)
               : code;
}

/* Texts of the arguments of the call in that row: rows are asked for in order. */
static enum weft_code texts_of(struct weft_execution_reader *reader, uint64_t row,
                               struct weft_str *texts)
{
    enum weft_code code = WEFT_OK;
    *texts = (struct weft_str){ 0 };
    while (code == WEFT_OK && reader->calls.text && reader->calls.text->value < row)
        code = weft_events_next(reader->calls.texts, &reader->calls.text, reader->err);
    if (code == WEFT_OK && reader->calls.text && reader->calls.text->value == row)
        *texts = reader->calls.text->payload;
    return code;
}

/* The call in a row, with its arguments, which are arg ... of the block. */
static enum weft_code see_row(struct weft_execution_reader *reader, const struct weft_calls *calls,
                              size_t row, size_t arg)
{
    const struct weft_execution_call call = { .start_ns = calls->start_ns[row],
                                              .end_ns = calls->end_ns[row],
                                              .function_id = calls->function_id[row],
                                              .depth = calls->depth[row],
                                              .flags = calls->flags ? calls->flags[row] : 0 };
    struct weft_execution_arguments arguments = { 0 };
    while (arg + arguments.n < calls->n_args && calls->arg_row[arg + arguments.n] == row)
        arguments.n++;
    if (arguments.n)
        arguments.values = calls->arg_value + arg;
    const enum weft_code code =
        reader->calls.texts ? texts_of(reader, calls->first_row + row, &arguments.texts) : WEFT_OK;
    return code == WEFT_OK ? see_call(reader, &call, &arguments) : code;
}

/* From calls.row on, until there are enough points, or executions: the rest is read by the next
 * step. */
static enum weft_code see_block(struct weft_execution_reader *reader,
                                const struct weft_calls *calls)
{
    const uint64_t *n_put = &reader->queue.n_put[WEFT_POINTS_OF_CALLS];
    const uint64_t n_most = reader->n_points_most ? *n_put + reader->n_points_most : UINT64_MAX;
    const size_t n_rows_most = reader->n_points_most ? reader->n_points_most : SIZE_MAX;
    enum weft_code code = WEFT_OK;
    size_t arg = 0, i = reader->calls.row;
    while (i == 0 && code == WEFT_OK && reader->calls.open.n > 0 && !is_open_in(reader, calls))
        code = leave_call(reader);
    for (; i < calls->n_rows && code == WEFT_OK; i++) {
        if (i > 0 && (*n_put >= n_most || reader->rows->n >= n_rows_most))
            break;
        if (reader->calls.open.n > 0)
            code = leave_calls(reader, calls->depth[i]);
        if (code != WEFT_OK || !reader->plan->functions[calls->function_id[i]])
            continue;
        while (arg < calls->n_args && calls->arg_row[arg] < i)
            arg++;
        code = see_row(reader, calls, i, arg);
    }
    reader->calls.row = i < calls->n_rows ? i : 0;
    return code;
}

static enum weft_code see_cut_calls(struct weft_execution_reader *reader)
{
    const struct weft_overlap *overlap = &reader->calls.overlap;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < overlap->open.n && code == WEFT_OK; i++) {
        const struct weft_open_call *cut = &overlap->open.items[i];
        const struct weft_execution_call call = { .start_ns = cut->start_ns,
                                                  .end_ns = cut->end_ns,
                                                  .function_id = cut->function_id,
                                                  .depth = cut->depth,
                                                  .flags =
                                                      (uint8_t)(cut->flags | WEFT_CALL_CUT_START) };
        if (reader->plan->functions[call.function_id])
            code = see_call(reader, &call, &(struct weft_execution_arguments){ 0 });
    }
    return code;
}

static enum weft_code begin_calls(struct weft_execution_reader *reader, struct weft_scan *scan)
{
    const struct weft_overlap_wanted wanted = { .functions = reader->plan->functions };
    enum weft_code code = weft_overlap_init(&reader->calls.overlap, scan, NULL, &wanted)
                              ? WEFT_OK
                              : weft_no_memory(reader->err, "executions");
    reader->calls.is_begun = true;
    if (code == WEFT_OK && reader->plan->with_texts) {
        code = weft_events_open(reader->plan->trace, reader->thread_id,
                                UINT32_C(1) << WEFT_EVENT_CALL_ARGS, 0, UINT64_MAX,
                                &reader->calls.texts, reader->err);
        WEFT_THEN(code, weft_events_next(reader->calls.texts, &reader->calls.text, reader->err));
    }
    return code == WEFT_OK ? see_cut_calls(reader) : code;
}

/* The next block of calls, or the rest of the one that was begun. */
static enum weft_code next_calls(struct weft_execution_reader *reader, struct weft_scan *scan,
                                 const struct weft_calls **calls)
{
    struct weft_overlap *overlap = &reader->calls.overlap;
    size_t n_rows;
    overlap->scan = scan;
    if (reader->calls.row == 0)
        return weft_overlap_next(overlap, calls, &n_rows, reader->err);
    struct weft_progress *progress = scan->progress;
    weft_scan_seek(scan, overlap->next_block - 1);
    scan->progress = NULL; /* this block was counted */
    const enum weft_code code = weft_scan_next(scan, calls, reader->err);
    scan->progress = progress;
    return code;
}

static enum weft_code read_calls(struct weft_execution_reader *reader, struct weft_scan *scan)
{
    const struct weft_execution_list *points = &reader->queue.lists[WEFT_POINTS_OF_CALLS];
    const struct weft_calls *calls = NULL;
    enum weft_code code = reader->calls.is_begun ? WEFT_OK : begin_calls(reader, scan);
    WEFT_THEN(code, next_calls(reader, scan, &calls));
    if (code == WEFT_OK && calls)
        code = see_block(reader, calls);
    else if (code == WEFT_OK)
        code = leave_calls(reader, 0);
    reader->calls.is_done = !calls;
    if (!calls) {
        weft_events_close(reader->calls.texts); /* of many threads they would come to much */
        reader->calls.texts = NULL;
        reader->calls.text = NULL;
    }
    if (!calls)
        reader->calls.reached_ns = UINT64_MAX;
    else if (points->n > points->at) /* they come in order */
        reader->calls.reached_ns = points->items[points->n - 1].at_ns;
    return code;
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t flags_of_span(const struct weft_event *event)
{
    /* A recording says of an execution that its end was not seen, Chrome's traces of any span. */
    const bool is_unfinished = (event->prev_state == WEFT_CALL_CUT_END &&
                                weft_str_equal(event->category, WEFT_STR("execution"))) ||
                               event->prev_state & WEFT_SPAN_OPEN;
    const uint32_t begun = event->prev_state & WEFT_SPAN_CUT ? WEFT_EXECUTION_CUT_START : 0;
    return begun | (is_unfinished ? WEFT_EXECUTION_UNFINISHED : 0);
}

static enum weft_code see_use(struct weft_execution_reader *reader, const struct weft_rule_use *use,
                              const struct weft_event *event)
{
    const bool is_span = event->kind == WEFT_EVENT_SPAN;
    switch (use->kind) {
    case WEFT_RULE_SPAN:
        return is_span ? see_whole(reader, use, event->value, flags_of_span(event)) : WEFT_OK;
    case WEFT_RULE_BEGIN:
        return is_span && !(flags_of_span(event) & WEFT_EXECUTION_CUT_START)
                   ? see_point(reader, use, event->time_ns)
                   : WEFT_OK;
    case WEFT_RULE_END:
        return is_span && !(flags_of_span(event) & WEFT_EXECUTION_UNFINISHED)
                   ? see_point(reader, use, weft_add_sat_u64(event->time_ns, event->duration_ns))
                   : WEFT_OK;
    case WEFT_RULE_EVENT:
        return use->rule->event == event->kind ? see_point(reader, use, event->time_ns) : WEFT_OK;
    default:
        return WEFT_OK;
    }
}

static enum weft_code see_event(struct weft_execution_reader *reader,
                                const struct weft_event *event)
{
    enum weft_code code = WEFT_OK;
    reader->view.event = event;
    reader->view.start_ns = event->time_ns;
    reader->view.duration_ns = event->duration_ns;
    reader->view.payload = event->payload;
    for (size_t u = 0; u < reader->plan->n_uses && code == WEFT_OK; u++) {
        const struct weft_rule_use *use = &reader->plan->uses[u];
        if (reader->is_of_thread[u] && !weft_rule_use_is_of_calls(use) &&
            weft_rule_names(use->rule, event->name))
            code = see_use(reader, use, event);
    }
    if (reader->plan->keeps_entries)
        weft_rule_view_passed(&reader->view, event);
    return code;
}

static const struct weft_event_block_info *event_block(const struct weft_execution_reader *reader,
                                                       uint64_t block)
{
    return weft_store_event_block_get(weft_trace_store(reader->plan->trace), reader->thread_id,
                                      block);
}

static bool is_wanted_block(const struct weft_execution_reader *reader, uint64_t block)
{
    return event_block(reader, block)->kinds & reader->plan->event_kinds;
}

/* Events need not be in order: what may still come is known of the blocks that are left. */
static bool begin_events(struct weft_execution_reader *reader)
{
    const uint64_t n_blocks =
        weft_store_thread_get(weft_trace_store(reader->plan->trace), reader->thread_id)
            ->n_event_blocks;
    uint64_t first_ns = UINT64_MAX;
    reader->events.n_blocks = n_blocks;
    reader->events.first_ns = calloc((size_t)n_blocks + 1, sizeof *reader->events.first_ns);
    if (!reader->events.first_ns)
        return false;
    reader->events.first_ns[n_blocks] = first_ns;
    for (uint64_t i = n_blocks; i-- > 0;) {
        if (is_wanted_block(reader, i))
            first_ns = weft_min_u64(first_ns, event_block(reader, i)->first_ns);
        reader->events.first_ns[i] = first_ns;
    }
    return true;
}

/* The next block of events that may hold any that rules are for. */
static enum weft_code read_events(struct weft_execution_reader *reader, struct weft_event_buf *buf)
{
    const struct weft_event *events = NULL;
    size_t n_events = 0;
    uint64_t block = reader->events.next_block;
    enum weft_code code = WEFT_OK;
    while (block < reader->events.n_blocks && !is_wanted_block(reader, block))
        block++;
    if (block < reader->events.n_blocks)
        code = weft_store_load_events(weft_trace_store(reader->plan->trace), reader->thread_id,
                                      block++, buf, &events, &n_events, reader->err);
    for (size_t i = 0; i < n_events && code == WEFT_OK; i++)
        if (reader->plan->event_kinds >> events[i].kind & 1)
            code = see_event(reader, &events[i]);
    reader->events.next_block = block;
    reader->events.reached_ns = reader->events.first_ns[block];
    reader->events.is_done = block == reader->events.n_blocks;
    return code;
}

/* ---- a thread -------------------------------------------------------------------------------- */

/* A type of whose rules none can be met on the thread is not looked for. */
static void choose_uses(struct weft_execution_reader *reader)
{
    const struct weft_rule_plan *plan = reader->plan;
    bool has_calls = false, has_events = false;
    for (size_t u = 0; u < plan->n_uses; u++) {
        const struct weft_rule_use *use = &plan->uses[u];
        const bool is_here = weft_rule_is_of_thread(plan->trace, reader->thread_id, use->rule);
        reader->is_of_thread[u] = is_here;
        *(weft_rule_use_is_of_calls(use) ? &has_calls : &has_events) |= is_here;
    }
    reader->calls.is_done = !has_calls;
    reader->calls.reached_ns = has_calls ? 0 : UINT64_MAX;
    reader->events.is_done = !has_events;
    reader->events.reached_ns = has_events ? 0 : UINT64_MAX;
    reader->is_done = !has_calls && !has_events;
}

enum weft_code weft_execution_reader_init(struct weft_execution_reader *reader,
                                          struct weft_rule_plan *plan, uint32_t thread_id,
                                          size_t n_points_most, struct weft_err *err)
{
    *reader = (struct weft_execution_reader){
        .plan = plan,
        .thread_id = thread_id,
        .n_points_most = n_points_most,
        .is_of_thread = calloc(plan->n_uses + 1, 1),
        .view = { .trace = plan->trace, .thread_id = thread_id },
    };
    if (!reader->is_of_thread)
        return weft_no_memory(err, "executions");
    choose_uses(reader);
    if (reader->events.is_done)
        return WEFT_OK;
    if (!begin_events(reader))
        return weft_no_memory(err, "executions");
    reader->events.reached_ns = reader->events.first_ns[0];
    return WEFT_OK;
}

void weft_execution_reader_fini(struct weft_execution_reader *reader)
{
    weft_execution_queue_fini(&reader->queue);
    weft_rule_view_fini(&reader->view);
    weft_overlap_fini(&reader->calls.overlap);
    weft_events_close(reader->calls.texts);
    for (size_t i = 0; i < reader->calls.open.n; i++)
        free(reader->calls.open.items[i].kept);
    WEFT_VEC_FINI(&reader->calls.open);
    free(reader->events.first_ns);
    free(reader->is_of_thread);
    *reader = (struct weft_execution_reader){ 0 };
}

enum weft_code weft_execution_reader_step(struct weft_execution_reader *reader,
                                          struct weft_scan *scan, struct weft_event_buf *buf,
                                          struct weft_executions_found *rows, struct weft_err *err)
{
    reader->rows = rows;
    reader->err = err;
    enum weft_code code = WEFT_OK;
    if (!reader->calls.is_done &&
        (reader->events.is_done || reader->calls.reached_ns <= reader->events.reached_ns))
        code = read_calls(reader, scan);
    else if (!reader->events.is_done)
        code = read_events(reader, buf);
    reader->is_done = reader->calls.is_done && reader->events.is_done;
    reader->rows = NULL;
    reader->err = NULL;
    return code;
}

uint64_t weft_execution_reader_reached_ns(const struct weft_execution_reader *reader)
{
    return weft_min_u64(reader->calls.reached_ns, reader->events.reached_ns);
}

bool weft_execution_reader_next(struct weft_execution_reader *reader,
                                struct weft_execution_point *point)
{
    const uint64_t before_ns =
        reader->is_done ? UINT64_MAX : weft_execution_reader_reached_ns(reader);
    return weft_execution_queue_take(&reader->queue, before_ns, point);
}
