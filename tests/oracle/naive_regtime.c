/* SPDX-License-Identifier: MIT */
#include "analysis/regtime/regtime.h"
#include "naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row in the making. Nodes know the context by their parent. */
struct part {
    enum weft_regtime_kind kind;
    int parent; /* part, or -1 */
    uint32_t level, function_id, flags;
    uint64_t start, end, count, inner, sum, self, min, max;
    weft_u128 squares;
    bool is_folded, is_negligible, has_calls;
};

struct state {
    const struct memory_thread *thread;
    const struct weft_regtime_opts *opts;
    uint64_t t0, t1, d, g, f;
    bool one;
    bool *notable;
    int *caller; /* of each call, or -1 */
    struct part *parts;
    int n;
};

static uint64_t duration(const struct state *s, int i)
{
    return s->thread->calls[i].end_ns - s->thread->calls[i].start_ns;
}

static bool has_callee(const struct state *s, int i)
{
    return i + 1 < (int)s->thread->n_calls && s->caller[i + 1] == i;
}

/* The next direct callee of `parent` (-1: root) after call i (-1: the first), or -1. */
static int next_child(const struct state *s, int parent, int i)
{
    for (int j = (i < 0 ? parent : i) + 1; j < (int)s->thread->n_calls; j++)
        if (s->caller[j] == parent)
            return j;
    return -1;
}

static void find_notable(struct state *s)
{
    int n = (int)s->thread->n_calls;
    memset(s->notable, 0, (size_t)n * sizeof *s->notable);
    for (int i = 0; i < n; i++) {
        bool is = duration(s, i) > s->d;
        for (int a = next_child(s, i, -1), b; a >= 0; a = b) {
            b = next_child(s, i, a);
            is = is || (b >= 0 && s->thread->calls[b].start_ns - s->thread->calls[a].end_ns > s->g);
        }
        for (int up = i; is && up >= 0; up = s->caller[up])
            s->notable[up] = true;
    }
}

static int add_part(struct state *s, enum weft_regtime_kind kind, int parent, uint32_t level,
                    uint64_t start, uint64_t end)
{
    s->parts[s->n] = (struct part){ .kind = kind,
                                    .parent = parent,
                                    .level = level,
                                    .function_id = WEFT_ID_NONE,
                                    .start = start,
                                    .end = end,
                                    .min = UINT64_MAX };
    return s->n++;
}

static bool is_outlier(const struct state *s, uint32_t function_id, uint64_t ns)
{
    const struct weft_regtime_opts *o = s->opts;
    if (!o->medians_ns || !o->medians_ns[function_id])
        return false;
    return ns >= o->outlier_min_ns &&
           ns > (uint64_t)floor(o->outlier_factor * (double)o->medians_ns[function_id]);
}

static void add_call(struct state *s, struct part *part, int i)
{
    uint64_t ns = duration(s, i), self = ns;
    for (int c = next_child(s, i, -1); c >= 0; c = next_child(s, i, c))
        self -= duration(s, c);
    part->count++;
    part->inner += has_callee(s, i);
    part->sum += ns;
    part->self += self;
    part->min = ns < part->min ? ns : part->min;
    part->max = ns > part->max ? ns : part->max;
    part->squares += (weft_u128)ns * ns;
    if (is_outlier(s, s->thread->calls[i].function_id, ns))
        part->flags |= WEFT_REGTIME_OUTLIER;
}

/* Adds call i and its callees to the nodes under `parent`. */
static void add_tree(struct state *s, int parent, int i)
{
    const struct memory_call *call = &s->thread->calls[i];
    int at = -1;
    for (int p = parent + 1; p < s->n; p++)
        if (s->parts[p].kind == WEFT_REGTIME_NODE && s->parts[p].parent == parent &&
            s->parts[p].function_id == call->function_id)
            at = p;
    if (at < 0) {
        at = add_part(s, WEFT_REGTIME_NODE, parent, call->depth, call->start_ns, call->end_ns);
        s->parts[at].function_id = call->function_id;
    }
    s->parts[at].end = call->end_ns > s->parts[at].end ? call->end_ns : s->parts[at].end;
    add_call(s, &s->parts[at], i);
    for (int c = next_child(s, i, -1); c >= 0; c = next_child(s, i, c))
        add_tree(s, at, c);
}

/* All calls under and including i. */
static void add_flat(struct state *s, struct part *part, int i)
{
    add_call(s, part, i);
    for (int c = next_child(s, i, -1); c >= 0; c = next_child(s, i, c))
        add_flat(s, part, c);
}

/* The run of children a..b (siblings) of `caller`. */
static void end_run(struct state *s, int caller, int parent, int a, int b, struct part *sliver,
                    uint64_t *sliver_ns)
{
    const struct memory_call *calls = s->thread->calls;
    uint64_t start = calls[a].start_ns, end = calls[b].end_ns;
    bool is_expression = end - start > s->g || s->one;
    int at = -1;
    struct part flat = { .min = UINT64_MAX };
    if (is_expression)
        at = add_part(s, WEFT_REGTIME_EXPRESSION, parent, calls[a].depth, start, end);
    uint64_t sum = 0, min = UINT64_MAX, max = 0;
    for (int i = a; i >= 0 && i <= b; i = next_child(s, caller, i)) {
        uint64_t ns = duration(s, i);
        sum += ns;
        min = ns < min ? ns : min;
        max = ns > max ? ns : max;
        add_flat(s, &flat, i);
        if (is_expression)
            add_tree(s, at, i);
    }
    struct part *to = is_expression ? &s->parts[at] : sliver;
    if (!is_expression) {
        to->start = to->count ? to->start : start;
        to->end = end;
        to->flags |= flat.flags;
        *sliver_ns += end - start;
    }
    to->count += flat.count;
    to->inner += flat.inner;
    to->sum += sum;
    to->self += sum;
    to->min = min < to->min ? min : to->min;
    to->max = max > to->max ? max : to->max;
}

static void add_children(struct state *s, int caller, int parent, uint32_t level,
                         uint64_t *sliver_ns)
{
    const struct memory_call *calls = s->thread->calls;
    struct part sliver = { .kind = WEFT_REGTIME_SLIVER,
                           .parent = parent,
                           .level = level,
                           .function_id = WEFT_ID_NONE,
                           .min = UINT64_MAX };
    int run_a = -1, run_b = -1, last = -1;
    for (int i = next_child(s, caller, -1); i >= 0; i = next_child(s, caller, i)) {
        uint64_t from = last >= 0 ? calls[last].end_ns : caller >= 0 ? calls[caller].start_ns : 0;
        bool is_gap = (last >= 0 || caller >= 0) && calls[i].start_ns - from > s->g;
        bool is_full = run_a >= 0 && calls[i].end_ns - calls[run_a].start_ns > s->f;
        if (run_a >= 0 && (is_gap || is_full || s->notable[i])) {
            end_run(s, caller, parent, run_a, run_b, &sliver, sliver_ns);
            run_a = -1;
        }
        if (is_gap)
            add_part(s, WEFT_REGTIME_GAP, parent, level, from, calls[i].start_ns);
        if (s->notable[i]) {
            int at =
                add_part(s, WEFT_REGTIME_CALL, parent, level, calls[i].start_ns, calls[i].end_ns);
            s->parts[at].function_id = calls[i].function_id;
            add_call(s, &s->parts[at], i);
            s->parts[at].squares = 0;
            s->parts[at].flags |= (calls[i].flags & WEFT_CALL_CUT_START ? 1U : 0U) |
                                  (calls[i].flags & WEFT_CALL_CUT_END ? 2U : 0U) |
                                  (calls[i].flags & WEFT_CALL_REPAIRED ? 4U : 0U);
            s->parts[at].has_calls = has_callee(s, i);
            add_children(s, i, at, level + 1, sliver_ns);
        } else {
            run_a = run_a < 0 ? i : run_a;
            run_b = i;
        }
        last = i;
    }
    if (run_a >= 0)
        end_run(s, caller, parent, run_a, run_b, &sliver, sliver_ns);
    if (caller >= 0 && last >= 0 && calls[caller].end_ns - calls[last].end_ns > s->g)
        add_part(s, WEFT_REGTIME_GAP, parent, level, calls[last].end_ns, calls[caller].end_ns);
    if (sliver.count)
        s->parts[s->n++] = sliver;
}

static size_t count_kind(const struct state *s, enum weft_regtime_kind kind)
{
    size_t n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->parts[i].kind == kind && !s->parts[i].is_folded;
    return n;
}

static bool has_other(const struct state *s, int parent)
{
    for (int i = parent + 1; i < s->n; i++)
        if (s->parts[i].parent == parent && s->parts[i].is_folded)
            return !s->parts[parent].is_folded;
    return false;
}

static size_t count_rows(const struct state *s)
{
    size_t n = count_kind(s, WEFT_REGTIME_CALL) + count_kind(s, WEFT_REGTIME_NODE);
    for (int i = 0; i < s->n; i++)
        n += has_other(s, i);
    return n;
}

/* Smallest sum, deepest, latest kept node, or -1. */
static int next_to_fold(const struct state *s)
{
    int at = -1;
    for (int i = 0; i < s->n; i++) {
        const struct part *p = &s->parts[i], *q = &s->parts[at < 0 ? 0 : at];
        if (p->kind != WEFT_REGTIME_NODE || p->is_folded)
            continue;
        if (at < 0 || p->sum < q->sum || (p->sum == q->sum && p->level >= q->level))
            at = i;
    }
    return at;
}

static void fold(struct state *s)
{
    double limit = floor(s->opts->negligible_fraction * (double)(s->t1 - s->t0));
    for (int i = s->n - 1; i >= 0; i--) {
        bool has_kept = false;
        for (int j = i + 1; j < s->n; j++)
            has_kept = has_kept || (s->parts[j].parent == i && !s->parts[j].is_folded);
        if (s->parts[i].kind == WEFT_REGTIME_NODE && !has_kept && (double)s->parts[i].self < limit)
            s->parts[i].is_folded = s->parts[i].is_negligible = true;
    }
    while (s->opts->glyphs && count_rows(s) > s->opts->glyphs)
        s->parts[next_to_fold(s)].is_folded = true;
}

static void emit(const struct state *s, int at, uint32_t parent_row,
                 struct weft_regtime_thread *out);

static void emit_children(const struct state *s, int parent, uint32_t row,
                          struct weft_regtime_thread *out)
{
    struct part other = { .start = UINT64_MAX, .min = UINT64_MAX };
    uint32_t n_folded = 0;
    for (int i = parent + 1; i < s->n; i++)
        if (s->parts[i].parent == parent && !s->parts[i].is_folded)
            emit(s, i, row, out);
    for (int i = parent + 1; parent >= 0 && i < s->n; i++) {
        const struct part *p = &s->parts[i];
        bool is_under = false;
        for (int up = i; up > parent && s->parts[up].is_folded; up = s->parts[up].parent)
            is_under = s->parts[up].parent == parent;
        if (!is_under)
            continue;
        n_folded++;
        other.count += p->count;
        other.inner += p->inner;
        other.self += p->self;
        other.flags |= p->flags;
        if (p->parent != parent)
            continue;
        other.sum += p->sum;
        other.min = p->min < other.min ? p->min : other.min;
        other.max = p->max > other.max ? p->max : other.max;
        other.start = p->start < other.start ? p->start : other.start;
        other.end = p->end > other.end ? p->end : other.end;
    }
    if (!n_folded)
        return;
    bool is_node = s->parts[parent].kind == WEFT_REGTIME_NODE;
    out->rows[out->n_rows_all++] =
        (struct weft_regtime_row){ .kind = WEFT_REGTIME_OTHER,
                                   .flags = other.flags,
                                   .level = s->parts[parent].level + is_node,
                                   .parent = row,
                                   .function_id = WEFT_ID_NONE,
                                   .n_folded = n_folded,
                                   .start_ns = other.start,
                                   .end_ns = other.end,
                                   .count = other.count,
                                   .records = other.count + other.inner,
                                   .sum_ns = other.sum,
                                   .self_ns = other.self,
                                   .min_ns = other.min,
                                   .max_ns = other.max };
    out->n_others++;
    out->records_after++;
    out->folded_nodes += n_folded;
    out->folded_calls += other.count;
    out->folded_ns += other.self;
}

static void emit(const struct state *s, int at, uint32_t parent_row,
                 struct weft_regtime_thread *out)
{
    const struct part *p = &s->parts[at];
    uint32_t row = (uint32_t)out->n_rows_all++;
    bool is_gap = p->kind == WEFT_REGTIME_GAP;
    out->rows[row] = (struct weft_regtime_row){ .kind = p->kind,
                                                .flags = p->flags,
                                                .level = p->level,
                                                .parent = parent_row,
                                                .function_id = p->function_id,
                                                .start_ns = p->start,
                                                .end_ns = p->end,
                                                .count = p->count,
                                                .records = p->count + p->inner,
                                                .sum_ns = p->sum,
                                                .self_ns = p->self,
                                                .min_ns = is_gap ? 0 : p->min,
                                                .max_ns = p->max,
                                                .sum_squares = p->squares };
    out->n_notable += p->kind == WEFT_REGTIME_CALL;
    out->n_expressions += p->kind == WEFT_REGTIME_EXPRESSION;
    out->n_nodes += p->kind == WEFT_REGTIME_NODE;
    out->n_gaps += is_gap;
    out->sliver_calls += p->kind == WEFT_REGTIME_SLIVER ? p->count : 0;
    out->expression_ns += p->kind == WEFT_REGTIME_EXPRESSION ? p->self : 0;
    if (p->kind == WEFT_REGTIME_CALL)
        out->records_after += p->has_calls ? 2 : 1;
    size_t n_before = out->n_rows_all;
    emit_children(s, at, row, out);
    if (p->kind == WEFT_REGTIME_NODE)
        out->records_after += out->n_rows_all > n_before ? 2 : 1;
}

static uint64_t limit(uint64_t absolute, double fraction, uint64_t whole)
{
    return absolute ? absolute : (uint64_t)floor(fraction * (double)whole);
}

static void prepare(struct state *s)
{
    for (size_t i = 0; i < s->thread->n_calls; i++) {
        const struct memory_call *call = &s->thread->calls[i];
        s->caller[i] = -1;
        for (int j = (int)i - 1; j >= 0 && s->caller[i] < 0 && call->depth; j--)
            if (s->thread->calls[j].depth == call->depth - 1)
                s->caller[i] = j;
        s->t1 = call->end_ns > s->t1 ? call->end_ns : s->t1;
    }
    s->t0 = s->thread->n_calls ? s->thread->calls[0].start_ns : 0;
}

struct weft_regtime_thread naive_regtime(const struct memory_trace *trace, uint32_t thread_id,
                                         const struct weft_regtime_opts *opts)
{
    static const double factors[] = { 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000 };
    struct state s = { .thread = &trace->threads[thread_id], .opts = opts };
    size_t n = s.thread->n_calls;
    struct weft_regtime_thread out = { .thread_id = thread_id, .factor = 1 };
    s.notable = calloc(n + 1, sizeof *s.notable);
    s.caller = calloc(n + 1, sizeof *s.caller);
    s.parts = calloc(6 * n + 16, sizeof *s.parts);
    out.rows = calloc(8 * n + 16, sizeof *out.rows);
    prepare(&s);
    uint64_t whole = s.t1 - s.t0;
    for (int k = 0; n && k < 11; k++) {
        out.factor = factors[k];
        s.one = k == 10;
        s.d = (uint64_t)floor((double)limit(opts->duration_ns, opts->duration_fraction, whole) *
                              factors[k]);
        s.g = (uint64_t)floor((double)limit(opts->gap_ns, opts->gap_fraction, whole) * factors[k]);
        s.f = limit(opts->span_ns, opts->span_fraction, whole);
        s.f = s.f > s.d ? s.f : s.d;
        if (s.one)
            s.d = s.g = s.f = whole;
        s.n = 0;
        out.sliver_ns = 0;
        find_notable(&s);
        add_children(&s, -1, -1, 0, &out.sliver_ns);
        size_t least = count_kind(&s, WEFT_REGTIME_CALL) + count_kind(&s, WEFT_REGTIME_EXPRESSION);
        if (!opts->glyphs || least <= opts->glyphs)
            break;
    }
    fold(&s);
    emit_children(&s, -1, WEFT_ID_NONE, &out);
    out.start_ns = s.t0;
    out.end_ns = s.t1;
    out.duration_ns = s.d;
    out.gap_ns = s.g;
    out.span_ns = s.f;
    out.calls_before = n - s.thread->n_cut;
    out.cut_before = s.thread->n_cut;
    out.rows_after = out.n_notable + out.n_nodes + out.n_others;
    for (size_t i = s.thread->n_cut; i < n; i++)
        out.records_before += has_callee(&s, (int)i) ? 2 : 1;
    for (int i = 0; i < s.n; i++) {
        out.negligible_nodes += s.parts[i].is_negligible;
        out.negligible_ns += s.parts[i].is_negligible ? s.parts[i].self : 0;
    }
    free(s.notable);
    free(s.caller);
    free(s.parts);
    return out;
}
