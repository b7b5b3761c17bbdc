/* SPDX-License-Identifier: MIT */
#include "analysis/execution_points.h"

#include "analysis/rule_view.h"
#include "base/checked.h"
#include "base/vec.h"
#include "model/events.h"
#include "model/overlap.h"

#include <stdlib.h>
#include <string.h>

/* A call that rules for its end are for, while it lasts. */
struct open_call {
    uint64_t start_ns, end_ns;
    uint32_t function_id, depth;
    uint8_t flags;
};

/* The thread in work. */
struct work {
    struct weft_rule_plan *plan;
    struct weft_execution_part *part;
    struct weft_err *err;
    uint32_t thread_id, item;
    uint8_t *is_of_thread; /* by use */
    struct weft_rule_view view;
    struct {
        struct open_call *items;
        size_t n, cap;
    } open;
    struct {
        struct weft_events *reader;
        const struct weft_event *next;
    } arguments;        /* texts of calls, by their rows */
    uint64_t n_counted; /* of points and rows, in the plan's bytes */
};

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for executions");
}

void weft_execution_part_fini(struct weft_execution_part *part)
{
    WEFT_VEC_FINI(&part->points);
    WEFT_VEC_FINI(&part->rows);
    WEFT_VEC_FINI(&part->values);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static bool is_for_calls(const struct weft_rule *rule)
{
    return rule->kind == WEFT_RULE_CALL || rule->kind == WEFT_RULE_ENTER ||
           rule->kind == WEFT_RULE_EXIT;
}

static bool asks_for_texts(const struct weft_rule_field *field)
{
    return field->kind == WEFT_FIELD_MEMBER || field->kind == WEFT_FIELD_ID;
}

static bool use_asks_for_texts(const struct weft_rule_use *use)
{
    bool asks = use->type->has_match &&
                asks_for_texts(use->is_end ? &use->type->match_end : &use->type->match_begin);
    for (size_t i = 0; i < use->rule->n_conditions; i++)
        asks |= asks_for_texts(&use->rule->conditions[i].field);
    for (size_t i = 0; i < use->type->n_metrics; i++)
        asks |= asks_for_texts(&use->type->metrics[i].field);
    return asks && is_for_calls(use->rule);
}

static void add_use(struct weft_rule_plan *plan, size_t type, bool is_end)
{
    const struct weft_execution_rule *rule = &plan->types[type];
    struct weft_rule_use *use = &plan->uses[plan->n_uses++];
    *use = (struct weft_rule_use){ .type = rule,
                                   .rule = is_end ? &rule->end : &rule->begin,
                                   .type_id = (uint32_t)type,
                                   .is_end = is_end };
    if (use->rule->kind == WEFT_RULE_EVENT)
        plan->event_kinds |= UINT32_C(1) << use->rule->event;
    else if (!is_for_calls(use->rule))
        plan->event_kinds |= UINT32_C(1) << WEFT_EVENT_SPAN;
    plan->with_texts |= use_asks_for_texts(use);
}

/* Which uses each function has. */
static bool list_functions(struct weft_rule_plan *plan)
{
    const uint32_t n_functions = weft_trace_n_functions(plan->trace);
    struct {
        uint32_t *items;
        size_t n, cap;
    } list = { 0 };
    bool is_ok = true;
    plan->functions = calloc((size_t)n_functions + 1, 1);
    plan->starts = calloc((size_t)n_functions + 2, sizeof *plan->starts);
    for (uint32_t id = 0; plan->functions && plan->starts && is_ok && id < n_functions; id++) {
        for (uint32_t u = 0; u < plan->n_uses && is_ok; u++) {
            if (!is_for_calls(plan->uses[u].rule) ||
                !weft_rule_names(plan->uses[u].rule, weft_trace_function(plan->trace, id)->name))
                continue;
            uint32_t *use = WEFT_VEC_PUSH(&list);
            is_ok = use != NULL;
            if (use)
                *use = u;
            plan->functions[id] = 1;
        }
        plan->starts[id + 1] = (uint32_t)list.n;
    }
    plan->use_of = list.items;
    return is_ok && plan->functions && plan->starts;
}

/* Metrics that are named have the first numbers. */
static enum weft_code name_metrics(struct weft_rule_plan *plan, struct weft_err *err)
{
    uint32_t id;
    enum weft_code code = WEFT_OK;
    for (size_t t = 0; t < plan->n_types && code == WEFT_OK; t++)
        for (size_t m = 0; m < plan->types[t].n_metrics && code == WEFT_OK; m++)
            if (plan->types[t].metrics[m].field.kind)
                code =
                    weft_strtab_intern(plan->names.table, plan->types[t].metrics[m].name, &id, err);
    return code;
}

enum weft_code weft_rule_plan_init(struct weft_rule_plan *plan, const struct weft_trace *trace,
                                   const struct weft_execution_rule *types, size_t n_types,
                                   uint64_t memory_bytes, struct weft_err *err)
{
    *plan = (struct weft_rule_plan){
        .trace = trace, .types = types, .n_types = n_types, .memory_bytes = memory_bytes
    };
    (void)pthread_mutex_init(&plan->names.lock, NULL);
    plan->uses = calloc(2 * n_types + 1, sizeof *plan->uses);
    plan->names.table = weft_strtab_new();
    bool has_calls = false;
    for (size_t t = 0; plan->uses && t < n_types; t++) {
        add_use(plan, t, false);
        if (types[t].end.kind != WEFT_RULE_NONE)
            add_use(plan, t, true);
    }
    for (size_t u = 0; u < plan->n_uses; u++)
        has_calls |= is_for_calls(plan->uses[u].rule);
    if (!plan->uses || !plan->names.table || (has_calls && !list_functions(plan)))
        return no_memory(err);
    return name_metrics(plan, err);
}

void weft_rule_plan_fini(struct weft_rule_plan *plan)
{
    free(plan->uses);
    free(plan->functions);
    free(plan->starts);
    free(plan->use_of);
    weft_strtab_free(plan->names.table);
    (void)pthread_mutex_destroy(&plan->names.lock);
}

/* ---- values ---------------------------------------------------------------------------------- */

static enum weft_code add_value(struct work *work, struct weft_str name, double number)
{
    struct weft_metric_names *names = &work->plan->names;
    struct weft_metric_value *value = WEFT_VEC_PUSH(&work->part->values);
    if (!value)
        return no_memory(work->err);
    value->value = number;
    (void)pthread_mutex_lock(&names->lock);
    const enum weft_code code = weft_strtab_intern(names->table, name, &value->name, work->err);
    (void)pthread_mutex_unlock(&names->lock);
    return code;
}

struct adding {
    struct work *work;
    enum weft_code code;
};

static void see_number(void *context, struct weft_str name, double value)
{
    struct adding *adding = context;
    if (adding->code == WEFT_OK)
        adding->code = add_value(adding->work, name, value);
}

/* What a program says of an execution that it marked are metrics, whoever asks for them. */
static bool is_marked(const struct weft_rule_view *view)
{
    return view->event && view->event->kind == WEFT_EVENT_SPAN &&
           weft_str_equal(view->event->category, WEFT_STR("execution"));
}

static enum weft_code take_values(struct work *work, const struct weft_rule_use *use,
                                  struct weft_execution_values *values)
{
    const uint32_t first = (uint32_t)work->part->values.n;
    struct adding adding = { .work = work };
    for (size_t i = 0; i < use->type->n_metrics && adding.code == WEFT_OK; i++) {
        const struct weft_rule_metric *metric = &use->type->metrics[i];
        if (!metric->field.kind)
            continue;
        const struct weft_rule_value value = weft_rule_field_get(&work->view, &metric->field);
        if (value.kind == WEFT_VALUE_WHOLE || value.kind == WEFT_VALUE_REAL)
            adding.code = add_value(work, metric->name, value.number);
    }
    if (adding.code == WEFT_OK && is_marked(&work->view))
        weft_rule_view_numbers(&work->view, see_number, &adding);
    *values = (struct weft_execution_values){ .item = work->item,
                                              .first = first,
                                              .n = (uint32_t)work->part->values.n - first };
    return adding.code;
}

/* ---- points and rows ------------------------------------------------------------------------- */

/* What is held is counted a little later than it comes. */
static enum weft_code count_bytes(struct work *work)
{
    enum { STEP = 4096 };
    struct weft_rule_plan *plan = work->plan;
    const uint64_t n = work->part->points.n + work->part->rows.n + work->part->values.n;
    if (n - work->n_counted < STEP || plan->memory_bytes == 0)
        return WEFT_OK;
    /* Points and values are less than rows: those that pair up become rows. */
    const uint64_t bytes = (n - work->n_counted) * sizeof(struct weft_execution_found);
    work->n_counted = n;
    if (atomic_fetch_add(&plan->n_bytes, bytes) + bytes <= plan->memory_bytes)
        return WEFT_OK;
    return weft_fail(work->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                     "the rules find more than %zu begins and ends, which is what --mem admits: "
                     "add conditions (where ...), or allow more",
                     (size_t)(plan->memory_bytes / sizeof(struct weft_execution_found)));
}

static uint64_t scope_of(const struct work *work, enum weft_rule_scope scope)
{
    const struct weft_thread_info *info =
        &weft_trace_thread(work->plan->trace, work->thread_id)->info;
    if (scope == WEFT_SCOPE_THREAD)
        return work->thread_id;
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
static bool match_of(struct work *work, const struct weft_rule_use *use, uint64_t *shown)
{
    *shown = 0;
    if (!use->type->has_match)
        return true;
    const struct weft_rule_value value = weft_rule_field_get(
        &work->view, use->is_end ? &use->type->match_end : &use->type->match_begin);
    *shown = weft_rule_value_key(&value);
    return value.kind != WEFT_VALUE_ABSENT;
}

/* Spans may end on another thread. */
static uint32_t end_thread_of(const struct work *work)
{
    const struct weft_event *event = work->view.event;
    return event && event->kind == WEFT_EVENT_SPAN &&
                   event->next_thread_id < weft_trace_n_threads(work->plan->trace)
               ? event->next_thread_id
               : work->thread_id;
}

/* The view is of a point that is of the use's kind and name. */
static enum weft_code see_point(struct work *work, const struct weft_rule_use *use, uint64_t at_ns)
{
    const uint32_t thread_id =
        use->rule->kind == WEFT_RULE_END ? end_thread_of(work) : work->thread_id;
    uint64_t shown;
    work->view.at_ns = at_ns;
    if (!weft_rule_holds(&work->view, use->rule) || !match_of(work, use, &shown))
        return WEFT_OK;
    struct weft_execution_point *point = WEFT_VEC_PUSH(&work->part->points);
    if (!point)
        return no_memory(work->err);
    const struct weft_rule *keep = &use->type->keep;
    *point = (struct weft_execution_point){
        .at_ns = at_ns,
        .key = mixed(use->type_id, scope_of(work, use->type->scope), shown),
        .shown = shown,
        .type = use->type_id,
        .thread_id = thread_id,
        .sequence = (uint32_t)(work->part->points.n - 1),
        .is_end = use->is_end,
        .is_dropped =
            use->is_end && keep->kind != WEFT_RULE_NONE && !weft_rule_holds(&work->view, keep),
    };
    const enum weft_code code = take_values(work, use, &point->values);
    return code == WEFT_OK ? count_bytes(work) : code;
}

static enum weft_code see_whole(struct work *work, const struct weft_rule_use *use, uint64_t key,
                                uint32_t flags)
{
    const struct weft_rule_view *view = &work->view;
    uint64_t shown;
    work->view.at_ns = view->start_ns;
    if (!weft_rule_holds(&work->view, use->rule) || !match_of(work, use, &shown))
        return WEFT_OK;
    struct weft_execution_found *found = WEFT_VEC_PUSH(&work->part->rows);
    if (!found)
        return no_memory(work->err);
    found->row =
        (struct weft_execution_row){ .type = use->type_id,
                                     .thread_id = work->thread_id,
                                     .end_thread_id = end_thread_of(work),
                                     .flags = flags,
                                     .start_ns = view->start_ns,
                                     .end_ns = weft_add_sat_u64(view->start_ns, view->duration_ns),
                                     .key = use->type->has_match ? shown : key };
    const enum weft_code code = take_values(work, use, &found->begin);
    return code == WEFT_OK ? count_bytes(work) : code;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static uint32_t flags_of(uint8_t call_flags)
{
    return (call_flags & WEFT_CALL_CUT_START ? WEFT_EXECUTION_CUT_START : 0) |
           (call_flags & WEFT_CALL_CUT_END ? WEFT_EXECUTION_UNFINISHED : 0);
}

static void view_call(struct work *work, const struct open_call *call)
{
    work->view.function_id = call->function_id;
    work->view.depth = call->depth;
    work->view.start_ns = call->start_ns;
    work->view.duration_ns = call->end_ns - call->start_ns;
    work->view.args = NULL;
    work->view.n_args = 0;
    work->view.payload = (struct weft_str){ 0 };
}

/* Rules of one kind for the function of the view. */
static enum weft_code see_function(struct work *work, enum weft_rule_kind kind, uint64_t at_ns,
                                   uint8_t flags)
{
    const struct weft_rule_plan *plan = work->plan;
    const uint32_t id = work->view.function_id;
    enum weft_code code = WEFT_OK;
    for (uint32_t i = plan->starts[id]; i < plan->starts[id + 1] && code == WEFT_OK; i++) {
        const struct weft_rule_use *use = &plan->uses[plan->use_of[i]];
        if (use->rule->kind != kind || !work->is_of_thread[plan->use_of[i]])
            continue;
        code = kind == WEFT_RULE_CALL ? see_whole(work, use, 0, flags_of(flags))
                                      : see_point(work, use, at_ns);
    }
    return code;
}

static bool has_exits(const struct work *work, uint32_t function_id)
{
    const struct weft_rule_plan *plan = work->plan;
    for (uint32_t i = plan->starts[function_id]; i < plan->starts[function_id + 1]; i++)
        if (plan->uses[plan->use_of[i]].rule->kind == WEFT_RULE_EXIT)
            return true;
    return false;
}

/* The innermost open call ends. */
static enum weft_code leave_call(struct work *work)
{
    const struct open_call call = work->open.items[--work->open.n];
    view_call(work, &call);
    return call.flags & WEFT_CALL_CUT_END
               ? WEFT_OK
               : see_function(work, WEFT_RULE_EXIT, call.end_ns, call.flags);
}

/* Calls of that depth and deeper are over. */
static enum weft_code leave_calls(struct work *work, uint32_t depth)
{
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && work->open.n > 0 && work->open.items[work->open.n - 1].depth >= depth)
        code = leave_call(work);
    return code;
}

/* Is the innermost open call still open where a block begins? Blocks before it may have been left
 * out. */
static bool is_open_in(const struct work *work, const struct weft_calls *calls)
{
    const struct open_call *call = &work->open.items[work->open.n - 1];
    if (call->depth >= calls->n_open)
        return false;
    const struct weft_open_call *open = &calls->open[call->depth];
    return open->start_ns == call->start_ns && open->end_ns == call->end_ns &&
           open->function_id == call->function_id;
}

static enum weft_code see_call(struct work *work, const struct open_call *call,
                               const uint64_t *args, size_t n_args, struct weft_str texts)
{
    enum weft_code code = leave_calls(work, call->depth);
    view_call(work, call);
    work->view.args = args;
    work->view.n_args = n_args;
    work->view.payload = texts;
    if (code == WEFT_OK)
        code = see_function(work, WEFT_RULE_CALL, call->start_ns, call->flags);
    if (code == WEFT_OK && !(call->flags & WEFT_CALL_CUT_START))
        code = see_function(work, WEFT_RULE_ENTER, call->start_ns, call->flags);
    if (code != WEFT_OK || !has_exits(work, call->function_id))
        return code;
    struct open_call *kept = WEFT_VEC_PUSH(&work->open);
    if (!kept)
        return no_memory(work->err);
    *kept = *call;
    return WEFT_OK;
}

/* Texts of the arguments of the call in that row: rows are asked for in order. */
static enum weft_code texts_of(struct work *work, uint64_t row, struct weft_str *texts)
{
    enum weft_code code = WEFT_OK;
    *texts = (struct weft_str){ 0 };
    while (code == WEFT_OK && work->arguments.next && work->arguments.next->value < row)
        code = weft_events_next(work->arguments.reader, &work->arguments.next, work->err);
    if (code == WEFT_OK && work->arguments.next && work->arguments.next->value == row)
        *texts = work->arguments.next->payload;
    return code;
}

static enum weft_code see_block(struct work *work, const struct weft_calls *calls)
{
    enum weft_code code = WEFT_OK;
    size_t arg = 0;
    while (code == WEFT_OK && work->open.n > 0 && !is_open_in(work, calls))
        code = leave_call(work);
    for (size_t i = 0; i < calls->n_rows && code == WEFT_OK; i++) {
        if (work->open.n > 0)
            code = leave_calls(work, calls->depth[i]);
        if (code != WEFT_OK || !work->plan->functions[calls->function_id[i]])
            continue;
        const struct open_call call = { .start_ns = calls->start_ns[i],
                                        .end_ns = calls->end_ns[i],
                                        .function_id = calls->function_id[i],
                                        .depth = calls->depth[i],
                                        .flags = calls->flags ? calls->flags[i] : 0 };
        struct weft_str texts = { 0 };
        while (arg < calls->n_args && calls->arg_row[arg] < i)
            arg++;
        size_t n_args = 0;
        while (arg + n_args < calls->n_args && calls->arg_row[arg + n_args] == i)
            n_args++;
        if (work->arguments.reader)
            code = texts_of(work, calls->first_row + i, &texts);
        if (code == WEFT_OK)
            code = see_call(work, &call, n_args ? calls->arg_value + arg : NULL, n_args, texts);
    }
    return code;
}

static enum weft_code see_cut_calls(struct work *work, const struct weft_overlap *overlap)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < overlap->open.n && code == WEFT_OK; i++) {
        const struct weft_open_call *cut = &overlap->open.items[i];
        const struct open_call call = { .start_ns = cut->start_ns,
                                        .end_ns = cut->end_ns,
                                        .function_id = cut->function_id,
                                        .depth = cut->depth,
                                        .flags = (uint8_t)(cut->flags | WEFT_CALL_CUT_START) };
        if (work->plan->functions[call.function_id])
            code = see_call(work, &call, NULL, 0, (struct weft_str){ 0 });
    }
    return code;
}

static enum weft_code read_calls(struct work *work, struct weft_scan *scan)
{
    const struct weft_overlap_wanted wanted = { .functions = work->plan->functions };
    struct weft_overlap overlap;
    const struct weft_calls *calls = NULL;
    size_t n_rows = 0;
    enum weft_code code =
        weft_overlap_init(&overlap, scan, NULL, &wanted) ? WEFT_OK : no_memory(work->err);
    if (code == WEFT_OK && work->plan->with_texts) {
        code = weft_events_open(work->plan->trace, work->thread_id,
                                UINT32_C(1) << WEFT_EVENT_CALL_ARGS, 0, UINT64_MAX,
                                &work->arguments.reader, work->err);
        if (code == WEFT_OK)
            code = weft_events_next(work->arguments.reader, &work->arguments.next, work->err);
    }
    if (code == WEFT_OK)
        code = see_cut_calls(work, &overlap);
    while (code == WEFT_OK &&
           (code = weft_overlap_next(&overlap, &calls, &n_rows, work->err)) == WEFT_OK && calls)
        code = see_block(work, calls);
    if (code == WEFT_OK)
        code = leave_calls(work, 0);
    weft_overlap_fini(&overlap);
    weft_events_close(work->arguments.reader);
    return code;
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t flags_of_span(const struct weft_event *event)
{
    /* A recording says of an execution that its end was not seen, Chrome's traces of any span. */
    const bool is_unfinished = (event->prev_state == WEFT_CALL_CUT_END &&
                                weft_str_equal(event->category, WEFT_STR("execution"))) ||
                               event->prev_state & WEFT_SPAN_OPEN;
    return is_unfinished ? WEFT_EXECUTION_UNFINISHED : 0;
}

static enum weft_code see_use(struct work *work, const struct weft_rule_use *use,
                              const struct weft_event *event)
{
    const bool is_span = event->kind == WEFT_EVENT_SPAN;
    switch (use->rule->kind) {
    case WEFT_RULE_SPAN:
        return is_span ? see_whole(work, use, event->value, flags_of_span(event)) : WEFT_OK;
    case WEFT_RULE_BEGIN:
        return is_span ? see_point(work, use, event->time_ns) : WEFT_OK;
    case WEFT_RULE_END:
        return is_span && !flags_of_span(event)
                   ? see_point(work, use, weft_add_sat_u64(event->time_ns, event->duration_ns))
                   : WEFT_OK;
    case WEFT_RULE_EVENT:
        return use->rule->event == event->kind ? see_point(work, use, event->time_ns) : WEFT_OK;
    default:
        return WEFT_OK;
    }
}

static enum weft_code see_event(struct work *work, const struct weft_event *event)
{
    enum weft_code code = WEFT_OK;
    work->view.event = event;
    work->view.start_ns = event->time_ns;
    work->view.duration_ns = event->duration_ns;
    work->view.payload = event->payload;
    for (size_t u = 0; u < work->plan->n_uses && code == WEFT_OK; u++) {
        const struct weft_rule_use *use = &work->plan->uses[u];
        if (work->is_of_thread[u] && !is_for_calls(use->rule) &&
            weft_rule_names(use->rule, event->name))
            code = see_use(work, use, event);
    }
    return code;
}

static enum weft_code read_events(struct work *work)
{
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code =
        weft_events_open(work->plan->trace, work->thread_id, work->plan->event_kinds, 0, UINT64_MAX,
                         &events, work->err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, work->err)) == WEFT_OK &&
           event)
        code = see_event(work, event);
    weft_events_close(events);
    return code;
}

/* ---- a thread -------------------------------------------------------------------------------- */

/* Events that are in order, as nearly all are, stay where they are; of one ns, calls come first. */
static int by_time(const void *a_void, const void *b_void)
{
    const struct weft_execution_point *a = a_void, *b = b_void;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static void order_points(struct weft_execution_part *part)
{
    bool is_ordered = true;
    for (size_t i = 1; i < part->points.n; i++)
        is_ordered &= part->points.items[i - 1].at_ns <= part->points.items[i].at_ns;
    if (!is_ordered)
        qsort(part->points.items, part->points.n, sizeof *part->points.items, by_time);
}

/* A type of whose rules none can be met on the thread is not looked for. */
static bool choose_uses(struct work *work, bool *has_calls, bool *has_events)
{
    const struct weft_rule_plan *plan = work->plan;
    *has_calls = *has_events = false;
    work->is_of_thread = calloc(plan->n_uses + 1, 1);
    for (size_t u = 0; work->is_of_thread && u < plan->n_uses; u++) {
        const bool is_here =
            weft_rule_is_of_thread(plan->trace, work->thread_id, plan->uses[u].rule);
        work->is_of_thread[u] = is_here;
        *(is_for_calls(plan->uses[u].rule) ? has_calls : has_events) |= is_here;
    }
    return work->is_of_thread != NULL;
}

enum weft_code weft_execution_part_read(struct weft_rule_plan *plan, struct weft_scan *scan,
                                        struct weft_execution_part *part, struct weft_err *err)
{
    struct work work = { .plan = plan,
                         .part = part,
                         .err = err,
                         .thread_id = scan->thread_id,
                         .item = (uint32_t)scan->item,
                         .view = { .trace = plan->trace, .thread_id = scan->thread_id } };
    bool has_calls, has_events;
    enum weft_code code = choose_uses(&work, &has_calls, &has_events) ? WEFT_OK : no_memory(err);
    if (code == WEFT_OK && has_calls)
        code = read_calls(&work, scan);
    if (code == WEFT_OK && has_events)
        code = read_events(&work);
    if (code == WEFT_OK)
        order_points(part);
    WEFT_VEC_FINI(&work.open);
    free(work.is_of_thread);
    weft_rule_view_fini(&work.view);
    return code;
}
