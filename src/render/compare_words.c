/* SPDX-License-Identifier: MIT */
#include "render/compare_words.h"

#include "render/utf8.h"
#include "schema/event.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 1024, NAMED_FUNCTIONS = 4 };

/* ---- numbers --------------------------------------------------------------------------------- */

struct weft_human weft_human_mean(double ns)
{
    if (!isfinite(ns))
        return (struct weft_human){ .text = "-" };
    return weft_human_ns(ns > 0 ? (uint64_t)(ns + 0.5) : 0);
}

struct weft_human weft_human_metric(double value, enum weft_metric_unit unit)
{
    struct weft_human out;
    if (!isfinite(value))
        return (struct weft_human){ .text = "-" };
    if (unit == WEFT_METRIC_NS)
        return weft_human_mean(value);
    if (unit == WEFT_METRIC_BYTES && value >= 0)
        return weft_human_bytes((uint64_t)(value + 0.5));
    (void)snprintf(out.text, sizeof out.text, "%.4g", value);
    return out;
}

static struct weft_human signed_text(double value, enum weft_metric_unit unit)
{
    struct weft_human out;
    if (!isfinite(value))
        return (struct weft_human){ .text = "-" };
    (void)snprintf(out.text, sizeof out.text, "%s%.40s", value < 0 ? "-" : "+",
                   weft_human_metric(fabs(value), unit).text);
    return out;
}

struct weft_human weft_human_change(double ns)
{
    return signed_text(ns, WEFT_METRIC_NS);
}

struct weft_human weft_human_p(double p)
{
    struct weft_human out;
    if (p < 0.001)
        return (struct weft_human){ .text = "p < 0.001" };
    (void)snprintf(out.text, sizeof out.text, "p = %.3f", p);
    return out;
}

struct weft_human weft_human_growth(double change, double from)
{
    static const double PERCENT_MOST = 9.995 /* "+999 %" */, COUNTED_MOST = 1e15;
    const double share = from > 0 ? change / from : (double)NAN;
    struct weft_human out = { .text = "" };
    if (!isfinite(share))
        return out;
    if (share >= PERCENT_MOST && share < COUNTED_MOST)
        (void)snprintf(out.text, sizeof out.text, "x %.40s",
                       weft_human_count((uint64_t)(1.5 + share)).text);
    else
        (void)snprintf(out.text, sizeof out.text, "%+.3g %%", 100 * share);
    return out;
}

/* A name between backticks, which it must not end. */
static void put_quoted(struct weft_output *out, struct weft_str name)
{
    for (size_t at = 0; at < name.n_bytes;) {
        const char *tick = memchr(name.bytes + at, '`', name.n_bytes - at);
        const size_t end = tick ? (size_t)(tick - name.bytes) : name.n_bytes;
        weft_words_name(out, (struct weft_str){ .bytes = name.bytes + at, .n_bytes = end - at });
        weft_output_text(out, tick ? "'" : "");
        at = end + 1;
    }
}

void weft_words_change(struct weft_output *out, const struct weft_compare_metric *metric,
                       enum weft_metric_unit unit)
{
    weft_output_printf(out, "%s (", signed_text(metric->difference, unit).text);
    const struct weft_human share = weft_human_growth(metric->difference, metric->mean_a);
    if (share.text[0])
        weft_output_printf(out, "%s, ", share.text);
    if (isfinite(metric->low) && isfinite(metric->high))
        weft_output_printf(out, "95 %% %s to %s)", signed_text(metric->low, unit).text,
                           signed_text(metric->high, unit).text);
    else
        weft_output_text(out, "too few executions for an interval)");
}

/* ---- paths ----------------------------------------------------------------------------------- */

struct path {
    uint32_t nodes[DEPTH_MAX]; /* from below the root down */
    size_t n;
};

/* Of a longer path the innermost frames. */
static void find_path(const struct weft_ecct_matrix *matrix, uint32_t node, struct path *path)
{
    path->n = 0;
    for (; node != 0 && node != WEFT_ID_NONE && path->n < DEPTH_MAX;
         node = matrix->nodes[node].parent)
        path->nodes[path->n++] = node;
    for (size_t i = 0; i < path->n / 2; i++) {
        const uint32_t other = path->nodes[path->n - 1 - i];
        path->nodes[path->n - 1 - i] = path->nodes[i];
        path->nodes[i] = other;
    }
}

static const struct weft_frame *frame_at(const struct weft_ecct_matrix *matrix,
                                         const struct path *path, size_t at)
{
    return &matrix->frames[matrix->nodes[path->nodes[at]].frame];
}

void weft_words_name(struct weft_output *out, struct weft_str name)
{
    struct weft_arena *arena = weft_arena_new(0);
    const struct weft_str text = arena ? weft_utf8_printable(arena, name) : name;
    if (arena && text.bytes)
        weft_output_write(out, text.bytes, text.n_bytes);
    weft_arena_free(arena);
}

void weft_words_argument(struct weft_output *out, struct weft_str word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-_./@:+,=";
    bool is_plain = word.n_bytes > 0;
    for (size_t i = 0; i < word.n_bytes; i++)
        is_plain = is_plain && word.bytes[i] != '\0' && strchr(plain, word.bytes[i]);
    if (is_plain) {
        weft_output_write(out, word.bytes, word.n_bytes);
        return;
    }
    weft_output_text(out, "'");
    for (size_t at = 0; at < word.n_bytes;) {
        const char *quote = memchr(word.bytes + at, '\'', word.n_bytes - at);
        const size_t end = quote ? (size_t)(quote - word.bytes) : word.n_bytes;
        weft_words_name(out, (struct weft_str){ .bytes = word.bytes + at, .n_bytes = end - at });
        weft_output_text(out, quote ? "'\\''" : "");
        at = end + 1;
    }
    weft_output_text(out, "'");
}

struct weft_str weft_words_take(struct weft_output *out, struct weft_arena *arena)
{
    const struct weft_str text = weft_arena_copy(arena, weft_output_held(out));
    weft_output_clear(out);
    return text;
}

void weft_words_path(struct weft_output *out, const struct weft_ecct_matrix *matrix, uint32_t node,
                     const char *between)
{
    struct path path;
    find_path(matrix, node, &path);
    for (size_t i = 0; i < path.n; i++) {
        const struct weft_frame *frame = frame_at(matrix, &path, i);
        weft_output_text(out, i > 0 ? between : "");
        if (frame->kind == WEFT_FRAME_THREAD)
            weft_output_text(out, "thread ");
        weft_words_name(out, frame->name);
    }
}

void weft_words_threads(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                        uint32_t node)
{
    struct path path;
    bool is_first = true;
    find_path(matrix, node, &path);
    for (size_t i = 0; i < path.n; i++) {
        const struct weft_frame *frame = frame_at(matrix, &path, i);
        if (frame->kind != WEFT_FRAME_THREAD)
            continue;
        weft_output_text(out, is_first ? "" : ", ");
        weft_words_name(out, frame->name);
        is_first = false;
    }
}

/* ---- causes ---------------------------------------------------------------------------------- */

static bool begins_with(struct weft_str text, const char *start)
{
    const size_t n_bytes = strlen(start);
    return text.n_bytes >= n_bytes && memcmp(text.bytes, start, n_bytes) == 0;
}

bool weft_frame_is_library(const struct weft_frame *frame)
{
    static const char *const modules[] = { "libc.",   "libc-", "libpthread", "ld-linux",
                                           "[kernel", "[vdso", "linux-vdso" };
    static const char *const names[] = { "__",           "syscall", "do_syscall", "entry_SYSCALL",
                                         "start_thread", "clone" };
    const char *slash =
        frame->module.n_bytes > 0 ? memrchr(frame->module.bytes, '/', frame->module.n_bytes) : NULL;
    struct weft_str module = frame->module;
    if (slash) {
        module.n_bytes -= (size_t)(slash + 1 - module.bytes);
        module.bytes = slash + 1;
    }
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (begins_with(module, modules[i]))
            return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins_with(frame->name, names[i]))
            return true;
    return false;
}

static bool is_named(const struct weft_frame *frame)
{
    return frame->kind == WEFT_FRAME_FUNCTION || frame->kind == WEFT_FRAME_LOCK;
}

/* Of the kernel, and no symbol is known: its address says nothing. */
static bool is_nameless(const struct weft_frame *frame)
{
    return begins_with(frame->name, "[kernel]+0x");
}

/* "in `h > g > f`": the innermost function, which says how, and those outside it that are the
 * program's own, which say why. */
static void put_functions(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                          const struct path *path, size_t from, size_t to)
{
    size_t n_shown = 0, shown[NAMED_FUNCTIONS];
    for (size_t i = to; i-- > from && n_shown < NAMED_FUNCTIONS;) {
        const struct weft_frame *frame = frame_at(matrix, path, i);
        if (is_named(frame) && !is_nameless(frame) && (n_shown == 0 || !weft_frame_is_library(frame)))
            shown[n_shown++] = i;
    }
    for (size_t i = n_shown; i-- > 0;) {
        weft_output_text(out, i + 1 == n_shown ? " in `" : " > ");
        put_quoted(out, frame_at(matrix, path, shown[i])->name);
    }
    weft_output_text(out, n_shown > 0 ? "`" : "");
}

/* The innermost frame of a kind in [from, to); `to` if there is none. */
static size_t last_of(const struct weft_ecct_matrix *matrix, const struct path *path, size_t from,
                      size_t to, enum weft_frame_kind kind)
{
    for (size_t i = to; i-- > from;)
        if (frame_at(matrix, path, i)->kind == kind)
            return i;
    return to;
}

/* What a thread by itself does: "blocked: timer in `f`". */
static void put_state(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                      const struct path *path, size_t from, const char *without)
{
    const size_t state = last_of(matrix, path, from, path->n, WEFT_FRAME_STATE);
    if (state < path->n)
        weft_words_name(out, frame_at(matrix, path, state)->name);
    else
        weft_output_text(out, without);
    put_functions(out, matrix, path, from, path->n);
}

void weft_words_cause(struct weft_output *out, const struct weft_ecct_matrix *matrix, uint32_t node)
{
    struct path path;
    if (node == WEFT_ID_NONE || node == 0) {
        weft_output_text(out, "no single context");
        return;
    }
    find_path(matrix, node, &path);
    const size_t thread = last_of(matrix, &path, 0, path.n, WEFT_FRAME_THREAD);
    if (thread == path.n) {
        put_state(out, matrix, &path, 0, "longer");
        return;
    }
    const size_t before = last_of(matrix, &path, 0, thread, WEFT_FRAME_THREAD);
    const size_t first = before < thread ? before + 1 : 0;
    const size_t state = last_of(matrix, &path, first, thread, WEFT_FRAME_STATE);
    const bool is_preempted =
        state < thread && begins_with(frame_at(matrix, &path, state)->name, "preempted");
    if (state < thread)
        weft_words_name(out, frame_at(matrix, &path, state)->name);
    else
        weft_output_text(out, "waiting");
    if (!is_preempted)
        put_functions(out, matrix, &path, first, thread);
    weft_output_text(out, is_preempted ? " by thread `" : ", for thread `");
    put_quoted(out, frame_at(matrix, &path, thread)->name);
    weft_output_text(out, thread + 1 < path.n ? "`, " : "`");
    if (thread + 1 < path.n)
        put_state(out, matrix, &path, thread + 1, "which is");
}

bool weft_node_is_outside(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    struct path path;
    if (node == WEFT_ID_NONE)
        return false;
    find_path(matrix, node, &path);
    for (size_t i = 1; i < path.n; i++) {
        const struct weft_frame *frame = frame_at(matrix, &path, i);
        const struct weft_frame *above = frame_at(matrix, &path, i - 1);
        if (frame->kind == WEFT_FRAME_THREAD && frame->module.n_bytes > 0 &&
            above->kind == WEFT_FRAME_STATE && begins_with(above->name, "preempted"))
            return true;
    }
    return false;
}
