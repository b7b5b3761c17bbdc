/* SPDX-License-Identifier: MIT
 *
 * Executions of random traces, against a list of all points in order of time that is searched
 * backward for every end. The twin has rules of its own, as functions, and never sees their texts.
 * And sums over intervals, and over executions in windows, against loops over all of them.
 */
#include "analysis/executions/executions.h"
#include "analysis/executions/sums.h"
#include "analysis/executions/window.h"
#include "query/rules.h"
#include "store/writer.h"
#include "tap.h"

#include <math.h>
#include <unistd.h>

enum { SEEDS = 1500, MOST_ITEMS = 60, MOST_THREADS = 4, MOST_ROWS = 2048, N_FUNCTIONS = 4 };
enum { LITTLE_BYTES = 256 << 10, IN_FILE = 40 };

enum item_kind { ENTER, EXIT, INSTANT, SPAN, SYSCALL_ENTER, SYSCALL_EXIT };

/* What happens on a thread. */
struct item {
    enum item_kind kind;
    uint32_t thread, index; /* index: on its thread */
    uint64_t at_ns;         /* SPAN: its begin */
    uint64_t end_ns;        /* ENTER, SPAN */
    uint64_t start_ns;      /* EXIT: of its call */
    uint64_t id;            /* of instants, spans; argument, or what a call returned */
    unsigned name;          /* function; or which of a few names */
    uint32_t depth;         /* of calls */
    bool has_x, is_cut_end;
    int x;
    bool has_fd; /* SYSCALL_EXIT */
    uint64_t fd;
};

struct scene {
    struct item items[MOST_THREADS * MOST_ITEMS];
    size_t n_items;
    uint32_t n_threads;
    uint32_t pid[MOST_THREADS];
    uint64_t last_ns[MOST_THREADS], end_ns;     /* of threads, of all */
    struct item cut[MOST_THREADS * MOST_ITEMS]; /* calls that began before the trace */
    size_t n_cut;
};

static char path[512];
static const char *const functions[N_FUNCTIONS] = { "f0", "f1", "f2", "g" };
static const char *const calls_of_system[] = { "read", "accept" };

/* ---- rules, and the twin's ------------------------------------------------------------------- */

struct point {
    uint64_t at_ns, key;
    bool is_there;
};

static struct point point_of(bool is_there, uint64_t at_ns, uint64_t key)
{
    return (struct point){ .at_ns = at_ns, .key = key, .is_there = is_there };
}

static struct point enter_f0(const struct item *i)
{
    return point_of(i->kind == ENTER && i->name == 0, i->at_ns, 0);
}

static struct point exit_f(const struct item *i)
{
    return point_of(i->kind == EXIT && i->name < 3, i->at_ns, 0);
}

static struct point exit_f1_long(const struct item *i)
{
    return point_of(i->kind == EXIT && i->name == 1 && i->at_ns - i->start_ns >= 2, i->at_ns, 0);
}

static struct point b(const struct item *i)
{
    return point_of(i->kind == INSTANT && i->name == 0, i->at_ns, i->id);
}

static struct point b_but_1(const struct item *i)
{
    return point_of(i->kind == INSTANT && i->name == 0 && i->id != 1, i->at_ns, 0);
}

static struct point e(const struct item *i)
{
    return point_of(i->kind == INSTANT && i->name == 1, i->at_ns, i->id);
}

static struct point b_or_e(const struct item *i)
{
    return point_of(i->kind == INSTANT, i->at_ns, i->id);
}

static struct point e_with_x(const struct item *i)
{
    return point_of(i->kind == INSTANT && i->name == 1 && i->has_x && i->x > 0, i->at_ns, 0);
}

static struct point span_begin(const struct item *i)
{
    return point_of(i->kind == SPAN && i->name == 0, i->at_ns, i->id);
}

static struct point span_end(const struct item *i)
{
    return point_of(i->kind == SPAN && i->name == 1, i->end_ns, i->id);
}

static struct point end_of_s0(const struct item *i)
{
    return point_of(i->kind == SPAN && i->name == 0, i->end_ns, i->id);
}

static struct point read_exit(const struct item *i)
{
    return point_of(i->kind == SYSCALL_EXIT && i->name == 0 && i->has_fd, i->at_ns, i->fd);
}

static struct point accept_exit(const struct item *i)
{
    return point_of(i->kind == SYSCALL_EXIT && i->name == 1 && i->has_fd, i->at_ns, i->fd);
}

static struct point any_exit_of_1(const struct item *i)
{
    return point_of(i->kind == SYSCALL_EXIT && i->has_fd && i->fd == 1, i->at_ns, 0);
}

static struct point any_enter(const struct item *i)
{
    return point_of(i->kind == SYSCALL_ENTER, i->at_ns, i->id);
}

static struct point read_enter(const struct item *i)
{
    return point_of(i->kind == SYSCALL_ENTER && i->name == 0, i->at_ns, 0);
}

static struct point read_exit_0(const struct item *i)
{
    return point_of(i->kind == SYSCALL_EXIT && i->name == 0, i->at_ns, 0);
}

static bool returned_much(const struct item *i)
{
    return i->id > 1;
}

/* Whole ones: is it one, and which key does it show? */
static struct point whole_f(const struct item *i)
{
    return point_of(i->kind == ENTER && i->name < 3, i->at_ns, 0);
}

static struct point whole_f1(const struct item *i)
{
    return point_of(i->kind == ENTER && i->name == 1 && i->end_ns - i->at_ns > 2 && i->depth < 3,
                    i->at_ns, 0);
}

static struct point whole_span(const struct item *i)
{
    return point_of(i->kind == SPAN && (!i->has_x || i->x != 3), i->at_ns, i->id);
}

static const struct pair {
    const char *text;
    struct point (*begin)(const struct item *);
    struct point (*end)(const struct item *); /* NULL: whole */
    bool (*keeps)(const struct item *);       /* NULL: all ends do */
    enum weft_rule_scope scope;
    bool turns; /* one point may be end and begin */
} pairs[] = {
    { "is call:f*", whole_f, NULL, NULL, WEFT_SCOPE_THREAD, false },
    { "is call:f1 where duration > 2 and depth < 3", whole_f1, NULL, NULL, WEFT_SCOPE_THREAD,
      false },
    { "is span:s? where x != 3", whole_span, NULL, NULL, WEFT_SCOPE_THREAD, false },
    { "begin enter:f0 end exit:f?", enter_f0, exit_f, NULL, WEFT_SCOPE_THREAD, false },
    { "begin enter:f0 end exit:f1 where duration >= 2ns within process", enter_f0, exit_f1_long,
      NULL, WEFT_SCOPE_PROCESS, false },
    { "begin instant:b end instant:p:e match id", b, e, NULL, WEFT_SCOPE_PROCESS, false },
    { "begin instant:b end instant:e match id within thread", b, e, NULL, WEFT_SCOPE_THREAD,
      false },
    { "begin instant:b end instant:e match id=id within trace", b, e, NULL, WEFT_SCOPE_TRACE,
      false },
    { "begin instant:b where id != 1 end instant:e where x > 0", b_but_1, e_with_x, NULL,
      WEFT_SCOPE_THREAD, false },
    { "begin begin:s0 end end:s1 match id within trace", span_begin, span_end, NULL,
      WEFT_SCOPE_TRACE, false },
    { "begin syscall_exit:read end syscall_enter match fd", read_exit, any_enter, NULL,
      WEFT_SCOPE_PROCESS, false },
    { "begin syscall_exit:accept end syscall_exit:read match fd", accept_exit, read_exit, NULL,
      WEFT_SCOPE_PROCESS, false },
    { "begin instant:b end syscall_exit where fd = 1", b, any_exit_of_1, NULL, WEFT_SCOPE_THREAD,
      false },
    { "is syscall:read where ret > 1", read_enter, read_exit_0, returned_much, WEFT_SCOPE_THREAD,
      false },
    { "begin enter:f0 end instant:e within trace", enter_f0, e, NULL, WEFT_SCOPE_TRACE, false },
    { "begin instant:b end instant:b", b, b, NULL, WEFT_SCOPE_THREAD, true },
    { "begin instant:b end instant match id within trace", b, b_or_e, NULL, WEFT_SCOPE_TRACE,
      true },
    { "begin instant:b where id != 1 end instant:b within process", b_but_1, b, NULL,
      WEFT_SCOPE_PROCESS, true },
    { "begin enter:f0 end enter:f0 within trace", enter_f0, enter_f0, NULL, WEFT_SCOPE_TRACE,
      true },
    { "begin exit:f1 where duration >= 2 end exit:f?", exit_f1_long, exit_f, NULL,
      WEFT_SCOPE_THREAD, true },
    { "begin end:s0 end end:s0 match id", end_of_s0, end_of_s0, NULL, WEFT_SCOPE_PROCESS, true },
    { "begin begin:s0 end end:s0 match id", span_begin, end_of_s0, NULL, WEFT_SCOPE_PROCESS,
      false },
};

enum { N_PAIRS = sizeof pairs / sizeof *pairs };

/* The last rule has no match: what its end has for a key does not count. */
static bool has_match(const struct pair *pair)
{
    return strstr(pair->text, "match") != NULL;
}

/* ---- random traces --------------------------------------------------------------------------- */

/* Calls that are open, innermost last. */
struct stack {
    size_t items[MOST_ITEMS];
    size_t n;
};

static struct item *add(struct scene *scene, uint32_t thread, enum item_kind kind, uint64_t at_ns)
{
    struct item *item = &scene->items[scene->n_items++];
    *item = (struct item){ .kind = kind,
                           .thread = thread,
                           .index = (uint32_t)scene->n_items,
                           .at_ns = at_ns,
                           .end_ns = at_ns };
    return item;
}

static void add_exit(struct scene *scene, uint32_t thread, struct stack *stack, uint64_t at_ns)
{
    struct item *exit = add(scene, thread, EXIT, at_ns);
    if (stack->n > 0) {
        struct item *enter = &scene->items[stack->items[--stack->n]];
        enter->end_ns = at_ns;
        exit->name = enter->name;
        exit->start_ns = enter->at_ns;
        exit->depth = enter->depth;
        return;
    }
    struct item *cut = &scene->cut[scene->n_cut++];
    exit->name = (unsigned)(at_ns % N_FUNCTIONS);
    *cut = *exit;
    cut->kind = ENTER;
    cut->at_ns = 0;
    cut->end_ns = at_ns;
    for (size_t i = 0; i < scene->n_items; i++) /* it is around all that was so far */
        scene->items[i].depth += scene->items[i].thread == thread;
}

static void add_event(struct scene *scene, uint32_t thread, uint64_t at_ns, uint64_t *state)
{
    const enum item_kind kinds[] = { INSTANT, INSTANT, SPAN, SYSCALL_ENTER, SYSCALL_EXIT };
    struct item *item = add(scene, thread, kinds[tap_random(state) % 5], at_ns);
    item->name = (unsigned)(tap_random(state) % 2);
    item->id = tap_random(state) % 3;
    item->has_x = (item->kind == INSTANT || item->kind == SPAN) && tap_random(state) % 2;
    item->x = (int)(tap_random(state) % 5) - 1;
    if (item->kind == SYSCALL_EXIT && item->name == 1 && item->x == 3)
        item->id = (uint64_t)-11;
    if (item->kind != SPAN)
        return;
    const uint64_t length_ns = tap_random(state) % 6;
    item->at_ns = at_ns > length_ns ? at_ns - length_ns : 0;
    item->end_ns = at_ns;
}

static void fill_thread(struct scene *scene, uint32_t thread, uint64_t *state)
{
    const size_t n = 1 + tap_random(state) % MOST_ITEMS;
    struct stack stack = { .n = 0 };
    uint64_t at_ns = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned what = (unsigned)(tap_random(state) % 10);
        at_ns += tap_random(state) % 3;
        if (what < 4 && stack.n < 6) {
            struct item *enter = add(scene, thread, ENTER, at_ns);
            enter->name = (unsigned)(tap_random(state) % N_FUNCTIONS);
            enter->depth = (uint32_t)stack.n;
            stack.items[stack.n++] = scene->n_items - 1;
        } else if (what < 7 && (stack.n > 0 || tap_random(state) % 8 == 0)) {
            add_exit(scene, thread, &stack, at_ns);
        } else {
            add_event(scene, thread, at_ns, state);
        }
    }
    scene->last_ns[thread] = at_ns;
    scene->end_ns = at_ns > scene->end_ns ? at_ns : scene->end_ns;
    while (stack.n > 0) {
        struct item *enter = &scene->items[stack.items[--stack.n]];
        enter->end_ns = at_ns;
        enter->is_cut_end = true;
    }
}

/* At the end of a system call: what `accept` returned, unless it failed; else the argument of its
 * begin, if that is the last thing that is known of system calls of the thread. */
static void find_descriptors(struct scene *scene)
{
    for (size_t i = 0; i < scene->n_items; i++) {
        struct item *exit = &scene->items[i];
        const struct item *last = NULL;
        if (exit->kind != SYSCALL_EXIT)
            continue;
        for (size_t k = 0; k < i; k++)
            if (scene->items[k].thread == exit->thread &&
                (scene->items[k].kind == SYSCALL_ENTER || scene->items[k].kind == SYSCALL_EXIT))
                last = &scene->items[k];
        const bool is_made = exit->name == 1;
        exit->has_fd = is_made ? (int64_t)exit->id >= 0
                               : last && last->kind == SYSCALL_ENTER && last->name == exit->name;
        exit->fd = is_made ? exit->id : last ? last->id : 0;
    }
}

static void random_scene(struct scene *scene, uint64_t *state)
{
    *scene = (struct scene){ .n_threads = 1 + (uint32_t)(tap_random(state) % MOST_THREADS) };
    for (uint32_t t = 0; t < scene->n_threads; t++) {
        scene->pid[t] = 10 + 10 * (uint32_t)(tap_random(state) % 2);
        fill_thread(scene, t, state);
    }
    find_descriptors(scene);
}

/* ---- the trace ------------------------------------------------------------------------------- */

static enum weft_code deliver(struct weft_sink *sink, const struct item *item, struct weft_err *err)
{
    static const char *const points[] = { "p:b", "p:e" }, *const spans[] = { "s0", "s1" };
    static const enum weft_event_kind kinds[] = { [INSTANT] = WEFT_EVENT_INSTANT,
                                                  [SPAN] = WEFT_EVENT_SPAN,
                                                  [SYSCALL_ENTER] = WEFT_EVENT_SYSCALL_ENTER,
                                                  [SYSCALL_EXIT] = WEFT_EVENT_SYSCALL_EXIT };
    if (item->kind == ENTER || item->kind == EXIT) {
        const struct weft_call_event call = { .time_ns = item->at_ns,
                                              .function_key = item->name,
                                              .kind = item->kind == ENTER ? WEFT_CALL_ENTER
                                                                          : WEFT_CALL_EXIT };
        return sink->ops->calls(sink, item->thread, &call, 1, err);
    }
    char payload[64] = "";
    struct weft_event event = { .time_ns = item->at_ns,
                                .duration_ns = item->end_ns - item->at_ns,
                                .kind = kinds[item->kind],
                                .value = item->id,
                                .cpu = -1,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE };
    const bool is_syscall = item->kind == SYSCALL_ENTER || item->kind == SYSCALL_EXIT;
    event.name = weft_str_of(is_syscall              ? calls_of_system[item->name]
                             : item->kind == INSTANT ? points[item->name]
                                                     : spans[item->name]);
    if (item->has_x)
        (void)snprintf(payload, sizeof payload, "{\"id\":%" PRIu64 ",\"x\":%d}", item->id, item->x);
    event.payload = weft_str_of(payload);
    return sink->ops->events(sink, item->thread, &event, 1, err);
}

static enum weft_code write_thread(struct weft_sink *sink, const struct scene *scene, uint32_t t,
                                   struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < scene->n_items && code == WEFT_OK; i++)
        if (scene->items[i].thread == t)
            code = deliver(sink, &scene->items[i], err);
    return code == WEFT_OK ? sink->ops->thread_end(sink, t, scene->last_ns[t], err) : code;
}

static enum weft_code write_trace(const struct scene *scene, uint32_t block_rows,
                                  struct weft_err *err)
{
    const struct weft_writer_opts opts = { .source_name = "executions",
                                           .block_rows = block_rows,
                                           .block_events = 3 };
    const struct weft_sink_begin begin = { .format = WEFT_STR("executions") };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    if (code == WEFT_OK)
        code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    for (uint32_t f = 0; f < N_FUNCTIONS && code == WEFT_OK; f++) {
        const struct weft_function_info info = { .key = f, .name = weft_str_of(functions[f]) };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t t = 0; t < scene->n_threads && code == WEFT_OK; t++) {
        const struct weft_thread_info info = { .tid = 100 + t, .pid = scene->pid[t] };
        uint32_t id;
        code = sink->ops->thread(sink, &info, &id, err);
    }
    for (uint32_t t = 0; t < scene->n_threads && code == WEFT_OK; t++)
        code = write_thread(sink, scene, t, err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, err);
    weft_writer_abort(writer);
    return code;
}

/* ---- the twin -------------------------------------------------------------------------------- */

struct twin_point {
    uint64_t at_ns;
    const struct item *item;
    uint64_t key;
    bool is_end, is_used;
    bool is_turn; /* an end, of a point that begins one, too: it comes first */
};

struct twin {
    struct weft_execution_row rows[MOST_ROWS];
    double x[MOST_ROWS];
    size_t n_rows;
    uint64_t n_unmatched;
};

static bool is_call(const struct item *item)
{
    return item->kind == ENTER || item->kind == EXIT;
}

/* On one thread calls come before events of the same ns; else as they were delivered. */
static int by_order(const void *a_void, const void *b_void)
{
    const struct twin_point *x = a_void, *y = b_void;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    if (x->item->thread != y->item->thread)
        return x->item->thread < y->item->thread ? -1 : 1;
    if (is_call(x->item) != is_call(y->item))
        return is_call(x->item) ? -1 : 1;
    if (x->item->index != y->item->index)
        return x->item->index < y->item->index ? -1 : 1;
    const bool x_waits = x->is_end && !x->is_turn, y_waits = y->is_end && !y->is_turn;
    if (x_waits != y_waits)
        return x_waits ? 1 : -1;
    return (x->is_end < y->is_end) - (x->is_end > y->is_end);
}

static void add_row(struct twin *twin, const struct scene *scene, uint32_t type,
                    const struct twin_point *begin, const struct twin_point *end)
{
    const enum weft_rule_scope scope = pairs[type].scope;
    const uint64_t open_ns =
        scope == WEFT_SCOPE_THREAD ? scene->last_ns[begin->item->thread] : scene->end_ns;
    struct weft_execution_row *row = &twin->rows[twin->n_rows];
    *row = (struct weft_execution_row){
        .type = type,
        .thread_id = begin->item->thread,
        .end_thread_id = end ? end->item->thread : begin->item->thread,
        .flags = end ? 0 : WEFT_EXECUTION_UNFINISHED,
        .start_ns = begin->at_ns,
        .end_ns = end ? end->at_ns : open_ns,
        .key = begin->key,
    };
    twin->x[twin->n_rows++] = begin->item->has_x        ? begin->item->x
                              : end && end->item->has_x ? end->item->x
                                                        : (double)NAN;
}

static bool is_together(const struct scene *scene, enum weft_rule_scope scope,
                        const struct twin_point *begin, const struct twin_point *end)
{
    const uint32_t x = begin->item->thread, y = end->item->thread;
    if (begin->key != end->key)
        return false;
    return scope == WEFT_SCOPE_TRACE || x == y ||
           (scope == WEFT_SCOPE_PROCESS && scene->pid[x] == scene->pid[y]);
}

/* The last begin before `at` in the list that is open and belongs to the end; `upto` bounds a late
 * search, which takes in those of the same ns that follow. */
static struct twin_point *find_begin(const struct scene *scene, uint32_t type,
                                     struct twin_point *points, size_t upto,
                                     const struct twin_point *end)
{
    for (size_t i = upto; i-- > 0;)
        if (!points[i].is_end && !points[i].is_used &&
            is_together(scene, pairs[type].scope, &points[i], end))
            return &points[i];
    return NULL;
}

static void end_with(struct twin *twin, const struct scene *scene, uint32_t type,
                     struct twin_point *begin, const struct twin_point *end)
{
    begin->is_used = true;
    if (!pairs[type].keeps || pairs[type].keeps(end->item))
        add_row(twin, scene, type, begin, end);
}

static void pair_points(struct twin *twin, const struct scene *scene, uint32_t type,
                        struct twin_point *points, size_t n)
{
    const bool is_across = pairs[type].scope != WEFT_SCOPE_THREAD;
    for (size_t i = 0, behind; i < n; i = behind) {
        for (behind = i + 1; is_across && behind < n && points[behind].at_ns == points[i].at_ns;)
            behind++;
        for (size_t k = i; k < behind; k++) {
            struct twin_point *begin =
                points[k].is_end ? find_begin(scene, type, points, k, &points[k]) : NULL;
            points[k].is_used = begin != NULL;
            if (begin)
                end_with(twin, scene, type, begin, &points[k]);
        }
        for (size_t k = i; k < behind; k++) {
            if (!points[k].is_end || points[k].is_used || points[k].is_turn)
                continue;
            struct twin_point *begin = find_begin(scene, type, points, behind, &points[k]);
            if (begin && begin->item->thread != points[k].item->thread)
                end_with(twin, scene, type, begin, &points[k]);
            else
                twin->n_unmatched++;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (!points[i].is_end && !points[i].is_used)
            add_row(twin, scene, type, &points[i], NULL);
}

static size_t add_point(struct twin_point *points, size_t n, const struct pair *pair,
                        const struct item *item, bool is_end)
{
    const struct point point = is_end ? pair->end(item) : pair->begin(item);
    points[n] = (struct twin_point){ .at_ns = point.at_ns,
                                     .item = item,
                                     .key = has_match(pair) || !pair->end ? point.key : 0,
                                     .is_end = is_end };
    if (is_end && pair->turns && pair->begin(item).is_there)
        points[n].is_turn = !has_match(pair) || pair->begin(item).key == point.key;
    return n + point.is_there;
}

static void whole_rows(struct twin *twin, const struct scene *scene, uint32_t type,
                       const struct item *items, size_t n_items, bool is_cut)
{
    for (size_t i = 0; i < n_items; i++) {
        struct twin_point begin;
        if (!add_point(&begin, 0, &pairs[type], &items[i], false))
            continue;
        add_row(twin, scene, type, &begin, NULL);
        struct weft_execution_row *row = &twin->rows[twin->n_rows - 1];
        row->end_ns = items[i].end_ns;
        row->flags = (is_cut ? WEFT_EXECUTION_CUT_START : 0) |
                     (items[i].is_cut_end ? WEFT_EXECUTION_UNFINISHED : 0);
    }
}

/* Depths of cut calls: the one that was left last is outermost. */
static void order_cut(struct scene *scene)
{
    for (size_t i = 0; i < scene->n_cut; i++) {
        scene->cut[i].depth = 0;
        for (size_t k = i + 1; k < scene->n_cut; k++)
            scene->cut[i].depth += scene->cut[k].thread == scene->cut[i].thread;
    }
}

static void twin_type(struct twin *twin, const struct scene *scene, uint32_t type)
{
    static struct twin_point points[2 * MOST_THREADS * MOST_ITEMS];
    const struct pair *pair = &pairs[type];
    size_t n = 0;
    if (!pair->end) {
        whole_rows(twin, scene, type, scene->items, scene->n_items, false);
        whole_rows(twin, scene, type, scene->cut, scene->n_cut, true);
        return;
    }
    for (size_t i = 0; i < scene->n_items; i++) {
        n = add_point(points, n, pair, &scene->items[i], false);
        n = add_point(points, n, pair, &scene->items[i], true);
    }
    if (n)
        qsort(points, n, sizeof *points, by_order);
    pair_points(twin, scene, type, points, n);
}

static int compare_rows(const struct weft_execution_row *x, const struct weft_execution_row *y)
{
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->end_thread_id > y->end_thread_id) - (x->end_thread_id < y->end_thread_id);
}

static bool is_after(const struct weft_execution_row *x, const struct weft_execution_row *y)
{
    const int order = compare_rows(x, y);
    return order != 0 ? order > 0 : x->flags > y->flags;
}

/* By insertion; then nested ones are marked, each looking at all others. */
static void order_rows(struct twin *twin)
{
    for (size_t i = 1; i < twin->n_rows; i++)
        for (size_t k = i; k > 0 && is_after(&twin->rows[k - 1], &twin->rows[k]); k--) {
            const struct weft_execution_row row = twin->rows[k];
            const double x = twin->x[k];
            twin->rows[k] = twin->rows[k - 1];
            twin->x[k] = twin->x[k - 1];
            twin->rows[k - 1] = row;
            twin->x[k - 1] = x;
        }
    for (size_t i = 0; i < twin->n_rows; i++)
        for (size_t k = 0; k < i; k++)
            if (twin->rows[k].type == twin->rows[i].type &&
                twin->rows[k].thread_id == twin->rows[i].thread_id &&
                twin->rows[k].end_ns >= twin->rows[i].end_ns)
                twin->rows[i].flags |= WEFT_EXECUTION_NESTED;
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* With little memory threads are read in many rounds, and blocks of calls a part at a time. */
static struct weft_executions_table *run(const struct weft_rules *rules, unsigned n_workers,
                                         uint64_t memory_bytes,
                                         const struct weft_execution_sizes *sizes)
{
    struct weft_run how = { .pool = weft_pool_new(n_workers), .memory_bytes = memory_bytes };
    const struct weft_executions_opts opts = { .rules = rules, .sizes = sizes };
    struct weft_executions_table *table = NULL;
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    enum weft_code code = weft_trace_open(path, &trace, &err);
    if (code == WEFT_OK)
        code = weft_executions_run(trace, NULL, &opts, &how, &table, &err);
    if (code != WEFT_OK)
        tap_note("%s", err.text);
    weft_trace_close(trace);
    weft_pool_free(how.pool);
    return table;
}

static bool is_same_number(double x, double y)
{
    return isnan(x) ? isnan(y) : x == y;
}

/* User metrics of two executions that are the same but for those may stand in either order. */
static bool is_same_x(const struct twin *twin, const double *values, size_t row)
{
    if (is_same_number(twin->x[row], values[row]))
        return true;
    for (size_t i = 0; i < twin->n_rows; i++)
        if (i != row && compare_rows(&twin->rows[i], &twin->rows[row]) == 0 &&
            is_same_number(twin->x[i], values[row]))
            return true;
    return false;
}

static bool is_equal(const struct twin *twin, const struct weft_executions_table *table)
{
    const double *x = weft_executions_metric(table, WEFT_STR("x"));
    if (!x || table->n_rows != twin->n_rows || table->ends_unmatched != twin->n_unmatched) {
        tap_note("%zu rows, want %zu; %" PRIu64 " ends unmatched, want %" PRIu64, table->n_rows,
                 twin->n_rows, table->ends_unmatched, twin->n_unmatched);
    }
    for (size_t i = 0; x && i < table->n_rows && i < twin->n_rows; i++)
        if (compare_rows(&table->rows[i], &twin->rows[i]) != 0 ||
            table->rows[i].flags != twin->rows[i].flags || !is_same_x(twin, x, i)) {
            const struct weft_execution_row *got = &table->rows[i], *want = &twin->rows[i];
            tap_note("row %zu: type %u thread %u-%u flags %u %" PRIu64 "-%" PRIu64 " key %" PRIu64
                     " x %g; want type %u thread %u-%u flags %u %" PRIu64 "-%" PRIu64
                     " key %" PRIu64 " x %g",
                     i, got->type, got->thread_id, got->end_thread_id, got->flags, got->start_ns,
                     got->end_ns, got->key, x[i], want->type, want->thread_id, want->end_thread_id,
                     want->flags, want->start_ns, want->end_ns, want->key, twin->x[i]);
            return false;
        }
    return x && table->n_rows == twin->n_rows && table->ends_unmatched == twin->n_unmatched;
}

static bool tables_equal(const struct weft_executions_table *a,
                         const struct weft_executions_table *b)
{
    bool is_same = a->n_rows == b->n_rows && a->n_metrics == b->n_metrics &&
                   a->ends_unmatched == b->ends_unmatched;
    for (size_t i = 0; is_same && i < a->n_rows; i++)
        is_same =
            compare_rows(&a->rows[i], &b->rows[i]) == 0 && a->rows[i].flags == b->rows[i].flags;
    for (size_t m = 0; is_same && m < a->n_metrics; m++)
        for (size_t i = 0; is_same && i < a->n_rows; i++)
            is_same = weft_str_equal(a->metrics[m].name, b->metrics[m].name) &&
                      is_same_number(a->metrics[m].values[i], b->metrics[m].values[i]);
    return is_same;
}

/* Sorted two at a time, metrics by windows of three rows; all in a file, but that takes time. */
static const struct weft_execution_sizes tiny = { .spool_bytes = 1 << 20,
                                                  .run_bytes = 1,
                                                  .window_rows = 3 };
static const struct weft_execution_sizes tiny_in_file = { .run_bytes = 1, .window_rows = 3 };

static bool check(const struct scene *scene, const struct weft_rules *rules, uint32_t block_rows,
                  bool is_in_file)
{
    static struct twin twin;
    struct weft_err err = { 0 };
    twin.n_rows = 0;
    twin.n_unmatched = 0;
    for (uint32_t type = 0; type < N_PAIRS; type++)
        twin_type(&twin, scene, type);
    order_rows(&twin);
    if (write_trace(scene, block_rows, &err) != WEFT_OK) {
        tap_note("%s", err.text);
        return false;
    }
    struct weft_executions_table *table = run(rules, 1, 0, NULL),
                                 *other = run(rules, 3, LITTLE_BYTES,
                                              is_in_file ? &tiny_in_file : &tiny);
    const bool is_ok = table && other && is_equal(&twin, table) && tables_equal(table, other);
    weft_result_free(table);
    weft_result_free(other);
    return is_ok;
}

static struct weft_rules *make_rules(void)
{
    char text[4096];
    struct weft_rules *rules = NULL;
    struct weft_err err = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < N_PAIRS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "execution t%zu %s metric x\n", i,
                              pairs[i].text);
    if (weft_rules_parse((struct weft_str){ text, n }, &rules, &err) != WEFT_OK)
        tap_note("line %" PRIu64 ": %s", err.line, err.text);
    return rules;
}

static void check_executions(uint64_t seed)
{
    static struct scene scene;
    struct weft_rules *rules = make_rules();
    unsigned n_bad = rules ? 0 : SEEDS;
    for (uint64_t i = 0; i < SEEDS && n_bad == 0; i++) {
        uint64_t state = seed + i;
        random_scene(&scene, &state);
        order_cut(&scene);
        if (!check(&scene, rules, 1 + (uint32_t)(i % 5 ? i % 7 : 64), i % IN_FILE == 0)) {
            tap_note("seed %" PRIu64, seed + i);
            n_bad++;
        }
    }
    tap_eq_u64(n_bad, 0, "executions of %d random traces, %d rules each", SEEDS, N_PAIRS);
    weft_rules_free(rules);
}

/* ---- sums ------------------------------------------------------------------------------------ */

enum { SUM_SEEDS = 3000, MOST_BORDERS = 12, MOST_PIECES = 20 };

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
    const uint64_t begin = a > from ? a : from, end = b < to ? b : to;
    return end > begin ? end - begin : 0;
}

static uint64_t between(struct weft_sums *sums, const struct weft_sum_borders *borders, size_t a,
                        size_t c)
{
    return weft_sums_before(sums, borders, c) - weft_sums_before(sums, borders, a);
}

static bool check_sums_once(uint64_t *state)
{
    uint64_t ns[MOST_BORDERS], from[MOST_PIECES], to[MOST_PIECES], at = tap_random(state) % 3;
    struct weft_sum_borders borders = { .ns = ns, .n = 2 + tap_random(state) % (MOST_BORDERS - 1) };
    struct weft_sums times = { 0 }, counts = { 0 };
    const size_t n = tap_random(state) % MOST_PIECES;
    bool is_ok = true;
    for (size_t i = 0; i < borders.n; i++, at += 1 + tap_random(state) % 4)
        ns[i] = at;
    for (size_t i = 0; i < n; i++) {
        from[i] = tap_random(state) % (at + 3);
        to[i] = from[i] + tap_random(state) % 8;
        is_ok &= weft_sums_add_time(&times, &borders, from[i], to[i]) &&
                 weft_sums_add(&counts, &borders, from[i], i + 1);
    }
    for (size_t a = 0; a < borders.n; a++)
        for (size_t c = a; c < borders.n; c++) {
            uint64_t time = 0, sum = 0;
            for (size_t i = 0; i < n; i++) {
                time += overlap(from[i], to[i], ns[a], ns[c]);
                sum += from[i] >= ns[a] && from[i] < ns[c] ? i + 1 : 0;
            }
            is_ok &=
                between(&times, &borders, a, c) == time && between(&counts, &borders, a, c) == sum;
        }
    weft_sums_fini(&times);
    weft_sums_fini(&counts);
    return is_ok;
}

/* ---- windows --------------------------------------------------------------------------------- */

enum { MOST_SPANS = 14, WINDOW_SEEDS = 20000 };

struct seen_totals {
    struct weft_execution_totals totals[MOST_SPANS];
    unsigned n[MOST_SPANS];
};

static enum weft_code see_totals(void *context, size_t place,
                                 const struct weft_execution_totals *totals, struct weft_err *err)
{
    struct seen_totals *seen = context;
    (void)err;
    seen->totals[place] = *totals;
    seen->n[place]++;
    return WEFT_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct weft_execution_span *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Each window is told of all times, and of all points, whether they lie in it or not. */
static bool run_windows(struct weft_execution_window *window, const uint64_t *from,
                        const uint64_t *to, size_t n, size_t n_rows, struct seen_totals *seen)
{
    bool is_there = true, is_ok = true;
    struct weft_err err = { 0 };
    while (is_ok && weft_execution_window_next(window, n_rows, &is_there, &err) == WEFT_OK &&
           is_there) {
        for (size_t i = 0; i < n; i++)
            is_ok &= weft_execution_window_add_time(window, 2, from[i], to[i], &err) == WEFT_OK &&
                     weft_execution_window_add(window, 5, from[i], i + 1, &err) == WEFT_OK;
        is_ok &= weft_execution_window_end(window, see_totals, seen, &err) == WEFT_OK;
    }
    return is_ok;
}

static bool check_windows_once(uint64_t *state)
{
    struct weft_execution_span spans[MOST_SPANS];
    uint64_t from[MOST_PIECES], to[MOST_PIECES];
    struct seen_totals seen = { 0 };
    struct weft_execution_window window;
    const size_t n_spans = 1 + tap_random(state) % MOST_SPANS, n = tap_random(state) % MOST_PIECES;
    for (size_t i = 0; i < n_spans; i++) {
        spans[i].start_ns = tap_random(state) % 20;
        spans[i].end_ns = spans[i].start_ns + tap_random(state) % (tap_random(state) % 3 ? 5 : 30);
    }
    qsort(spans, n_spans, sizeof *spans, by_begin);
    for (size_t i = 0; i < n; i++) {
        from[i] = tap_random(state) % 40;
        to[i] = from[i] + tap_random(state) % 25;
    }
    weft_execution_window_init(&window, spans, n_spans);
    bool is_ok = run_windows(&window, from, to, n, 1 + tap_random(state) % 4, &seen);
    for (size_t k = 0; k < n_spans; k++) {
        uint64_t time = 0, sum = 0;
        for (size_t i = 0; i < n; i++) {
            time += overlap(from[i], to[i], spans[k].start_ns, spans[k].end_ns);
            sum += from[i] >= spans[k].start_ns && from[i] < spans[k].end_ns ? i + 1 : 0;
        }
        is_ok &= seen.n[k] == 1 && seen.totals[k].of[2] == time && seen.totals[k].of[5] == sum &&
                 seen.totals[k].of[0] == 0;
    }
    is_ok &= window.seen == (n ? 1U << 2 | 1U << 5 : 0) && window.open.n == 0;
    weft_execution_window_fini(&window);
    return is_ok;
}

int main(void)
{
    uint64_t state = tap_seed(1);
    unsigned n_bad = 0;
    const char *root = getenv("WEFT_BUILD_ROOT");
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 1); /* of many small files */
    (void)snprintf(path, sizeof path, "%s/executions.%d.weft", root ? root : ".", (int)getpid());
    check_executions(state);
    for (int i = 0; i < SUM_SEEDS; i++)
        n_bad += !check_sums_once(&state);
    tap_eq_u64(n_bad, 0, "sums over intervals, %d times", SUM_SEEDS);
    n_bad = 0;
    for (int i = 0; i < WINDOW_SEEDS; i++)
        n_bad += !check_windows_once(&state);
    tap_eq_u64(n_bad, 0, "sums over executions in windows, %d times", WINDOW_SEEDS);
    (void)unlink(path);
    return tap_done();
}
