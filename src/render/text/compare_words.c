/* SPDX-License-Identifier: MIT */
#include "render/text/compare_words.h"

#include "analysis/compare/names.h"
#include "schema/event.h"
#include "schema/executions.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SHOWN_THREADS = 3,
    LONG_NAME = 40,    /* bytes of a name, beyond which arguments are left out */
    LEAST_TOLD = 2,    /* functions of one or two threads, however long */
    ROOM_OF_LAST = 36, /* bytes of names of the functions of the last of several others */
    ROOM_OF_TWO = 56,  /* bytes of names of a thread's functions, if another one is told of, and of
                          the last, */
    ROOM_OF_MORE = 24, /* or several are */
    NAME_LOOKED_AT = 1024, /* bytes of a name, of which arguments are left out */
};

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

/* ---- lines ----------------------------------------------------------------------------------- */

size_t weft_words_columns(struct weft_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n_bytes; i++)
        n += ((unsigned char)text.bytes[i] & 0xc0) != 0x80;
    return n;
}

/* May a line end before this byte? Not within "p < 0.001". */
static bool is_break(struct weft_str text, size_t at)
{
    static const char signs[] = { '<', '=' };
    const char before = at > 0 ? text.bytes[at - 1] : '.';
    const char after = at + 1 < text.n_bytes ? text.bytes[at + 1] : '.';
    return text.bytes[at] == ' ' && !memchr(signs, before, sizeof signs) &&
           !memchr(signs, after, sizeof signs);
}

void weft_words_wrapped(struct weft_output *out, struct weft_str text, size_t indent)
{
    weft_words_wrapped_from(out, text, indent, indent);
}

void weft_words_wrapped_from(struct weft_output *out, struct weft_str text, size_t column,
                             size_t indent)
{
    for (size_t at = 0; at < text.n_bytes;) {
        size_t end = at + 1;
        while (end < text.n_bytes && !is_break(text, end))
            end++;
        const size_t n = weft_words_columns((struct weft_str){ text.bytes + at, end - at });
        if (column + n > WEFT_TEXT_COLUMNS && column > indent) {
            weft_output_text(out, "\n");
            weft_output_repeat(out, " ", indent);
            column = indent;
            at += text.bytes[at] == ' ';
        }
        weft_output_write(out, text.bytes + at, end - at);
        column += n;
        at = end;
    }
    weft_output_text(out, "\n");
}

/* ---- paths ----------------------------------------------------------------------------------- */

void weft_words_name(struct weft_output *out, struct weft_str name)
{
    weft_output_plain(out, name);
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
    return text.bytes ? text : WEFT_STR("");
}

static void put_frame(struct weft_output *out, const struct weft_frame *frame)
{
    if (frame->kind == WEFT_FRAME_THREAD)
        weft_output_text(out, "thread ");
    weft_words_name(out, frame->name);
}

void weft_words_path(struct weft_output *out, const struct weft_ecct_matrix *matrix, uint32_t node,
                     const char *between)
{
    struct weft_frame_path path;
    weft_frame_path_of(matrix, node, &path);
    for (size_t i = 0; i < path.n; i++) {
        weft_output_text(out, i > 0 ? between : "");
        put_frame(out, path.frames[i]);
    }
}

void weft_words_where(struct weft_output *out, const struct weft_ecct_matrix *matrix, uint32_t node)
{
    struct weft_frame_path path;
    bool was_nameless = false;
    weft_frame_path_of(matrix, node, &path);
    for (size_t i = 0; i < path.n; i++) {
        const bool is_nameless = weft_frame_is_nameless(path.frames[i]);
        if (is_nameless && was_nameless)
            continue;
        was_nameless = is_nameless;
        weft_output_text(out, i > 0 ? " > " : "");
        if (is_nameless)
            weft_output_text(out, "[kernel]");
        else
            put_frame(out, path.frames[i]);
    }
}

void weft_words_threads(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                        uint32_t node)
{
    struct weft_frame_path path;
    bool is_first = true;
    weft_frame_path_of(matrix, node, &path);
    for (size_t i = 0; i < path.n; i++) {
        const struct weft_frame *frame = path.frames[i];
        if (frame->kind != WEFT_FRAME_THREAD)
            continue;
        weft_output_text(out, is_first ? "" : ", ");
        weft_words_name(out, frame->name);
        is_first = false;
    }
}

/* ---- causes ---------------------------------------------------------------------------------- */

/* How many bytes from an opening bracket to the one that closes it; 0: none does. */
static size_t bracketed(struct weft_str name, size_t at)
{
    const char open = name.bytes[at], close = open == '(' ? ')' : '>';
    size_t depth = 0;
    for (size_t i = at; i < name.n_bytes; i++) {
        depth += name.bytes[i] == open;
        depth -= name.bytes[i] == close && name.bytes[i - 1] != '-';
        if (depth == 0)
            return i + 1 - at;
    }
    return 0;
}

/* Does a name of C++ have an operator that is written as a bracket here? */
static bool is_operator(struct weft_str name, size_t at)
{
    const struct weft_str word = WEFT_STR("operator");
    while (at > 0 && (name.bytes[at - 1] == '<' || name.bytes[at - 1] == '('))
        at--;
    if (at < word.n_bytes || memcmp(name.bytes + at - word.n_bytes, word.bytes, word.n_bytes) != 0)
        return false;
    const char before = at > word.n_bytes ? name.bytes[at - word.n_bytes - 1] : ':';
    return !isalnum((unsigned char)before) && before != '_';
}

/* That it was inlined is told by the path. */
static size_t told_bytes(struct weft_str name)
{
    const struct weft_str end = WEFT_STR(" (inlined)");
    return name.n_bytes > end.n_bytes &&
                   memcmp(name.bytes + name.n_bytes - end.n_bytes, end.bytes, end.n_bytes) == 0
               ? name.n_bytes - end.n_bytes
               : name.n_bytes;
}

/* Without what a compiler adds to a copy of a function: "f.isra.0", "f.part.1". */
static struct weft_str without_clone(struct weft_str name)
{
    static const char *const suffixes[] = { " [clone ",    ".isra.", ".part.",
                                            ".constprop.", ".cold",  ".lto_priv." };
    for (size_t at = 1; at < name.n_bytes; at++)
        for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
            if (name.n_bytes - at >= strlen(suffixes[i]) &&
                memcmp(name.bytes + at, suffixes[i], strlen(suffixes[i])) == 0)
                return (struct weft_str){ name.bytes, at };
    return name;
}

/* Of a function made of a template, "void f<int>(int)", without the type that it returns. */
static struct weft_str without_return_type(struct weft_str name)
{
    size_t start = 0, depth = 0;
    if (name.n_bytes == 0 || memmem(name.bytes, name.n_bytes, "operator", 8))
        return name;
    for (size_t at = 0; at < name.n_bytes; at++) {
        const char byte = name.bytes[at];
        const size_t n_inside = depth == 0 && byte == '(' ? bracketed(name, at) : 0;
        if (byte == '<')
            depth++;
        else if (byte == '>' && depth > 0)
            depth--;
        else if (byte == ' ' && depth == 0)
            start = at + 1;
        else if (n_inside > 0 && at + n_inside < name.n_bytes && name.bytes[at + n_inside] == ':')
            at += n_inside - 1; /* "(anonymous namespace)::f" */
        else if (byte == '(' && depth == 0)
            return (struct weft_str){ name.bytes + start, name.n_bytes - start };
    }
    return name;
}

/* In a sentence: of a long name of C++ no arguments, neither of templates nor of the function. */
void weft_words_function(struct weft_output *out, struct weft_str name)
{
    const struct weft_str no_name = WEFT_STR("(anonymous namespace)");
    name = without_return_type(without_clone((struct weft_str){ name.bytes, told_bytes(name) }));
    for (size_t at = 0, n;
         name.n_bytes > LONG_NAME && name.n_bytes < NAME_LOOKED_AT && at < name.n_bytes; at += n) {
        n = 1;
        if (at == 0 || (name.bytes[at] != '(' && name.bytes[at] != '<') || is_operator(name, at))
            continue;
        const size_t n_inside = bracketed(name, at);
        const bool is_kept =
            n_inside <= 2 || (n_inside == no_name.n_bytes &&
                              memcmp(name.bytes + at, no_name.bytes, no_name.n_bytes) == 0);
        if (n_inside > 0)
            n = n_inside;
        if (is_kept)
            continue;
        put_quoted(out, (struct weft_str){ name.bytes, at + 1 });
        weft_output_text(out, "\xe2\x80\xa6");
        name = (struct weft_str){ name.bytes + at + n - 1, name.n_bytes - at - n + 1 };
        at = 0;
        n = 1;
    }
    put_quoted(out, name);
}

void weft_words_executions(struct weft_output *out, struct weft_str type)
{
    weft_output_text(out, weft_loop_name_of(type).call.n_bytes > 0 ? "iterations of " : "");
    weft_words_function(out, type);
}

/* Of `n` places, the innermost first, how many are told: the more threads there are to tell of, the
 * less of each. */
static size_t n_told(const struct weft_frame_path *path, const struct weft_path_part *part,
                     const size_t *places, size_t n)
{
    size_t n_threads = 0, n_bytes = 0, n_fit = 0;
    for (size_t i = 0; i < path->n; i++)
        n_threads += path->frames[i]->kind == WEFT_FRAME_THREAD;
    const bool is_last = part->to == path->n; /* what is told of it all ends there */
    size_t room = n_threads == 0 ? SIZE_MAX : ROOM_OF_TWO;
    if (n_threads > 1)
        room = is_last ? ROOM_OF_LAST : ROOM_OF_MORE;
    const size_t least = n_threads < 2 ? LEAST_TOLD : 1;
    for (; n_fit < n; n_fit++) {
        const size_t length = told_bytes(path->frames[places[n_fit]]->name);
        n_bytes += length < LONG_NAME ? length : LONG_NAME;
        if (n_fit >= least && n_bytes > room)
            break;
    }
    return n_fit;
}

/* " in `h > g > f`" */
static void put_functions(struct weft_output *out, const struct weft_frame_path *path,
                          const struct weft_path_part *part)
{
    size_t places[WEFT_NAMED_FUNCTIONS];
    bool is_first = true;
    const size_t n = n_told(path, part, places, weft_path_functions(path, part, places));
    for (size_t i = n; i-- > 0;) {
        const struct weft_str name = path->frames[places[i]]->name;
        if (i > 0 && weft_str_equal(name, path->frames[places[i - 1]]->name))
            continue; /* a call, and the stack that was seen of it */
        weft_output_text(out, is_first ? " in `" : " > ");
        is_first = false;
        weft_words_function(out, name);
    }
    weft_output_text(out, n > 0 ? "`" : "");
}

/* "blocked: in read", of which the function told last is `read`: that says it. */
static bool is_of_last_call(const struct weft_frame_path *path, const struct weft_path_part *part)
{
    const struct weft_str call = weft_frame_call(path->frames[part->state]);
    size_t places[WEFT_NAMED_FUNCTIONS];
    return call.n_bytes > 0 && weft_path_functions(path, part, places) > 0 &&
           weft_str_equal(call, path->frames[places[0]]->name);
}

/* What a thread does for itself: "blocked: timer in `f`". */
static void put_last(struct weft_output *out, const struct weft_frame_path *path,
                     const struct weft_path_part *part)
{
    if (part->state < part->to && is_of_last_call(path, part))
        weft_output_text(out, "blocked");
    else if (part->state < part->to)
        weft_words_name(out, path->frames[part->state]->name);
    else
        weft_output_text(out, part->from == 0 ? "longer" : "which is");
    put_functions(out, path, part);
}

/* Why it does not: "waiting in `f`, for thread `g`", "preempted by thread `g`". */
static void put_waiting(struct weft_output *out, const struct weft_frame_path *path,
                        const struct weft_path_part *part)
{
    if (part->state < part->to)
        weft_words_name(out, path->frames[part->state]->name);
    else
        weft_output_text(out, "waiting");
    if (!part->is_preempted)
        put_functions(out, path, part);
    weft_output_text(out, part->is_preempted ? " by thread `" : ", for thread `");
    put_quoted(out, path->frames[part->to]->name);
    weft_output_text(out, part->to + 1 < path->n ? "`, " : "`");
}

/* Of a long chain the first thread and the last ones. */
static size_t skip_threads(const struct weft_frame_path *path, size_t from)
{
    size_t starts[SHOWN_THREADS] = { from }, n = 0;
    for (size_t i = from; i < path->n; i++)
        if (path->frames[i]->kind == WEFT_FRAME_THREAD)
            starts[n++ % SHOWN_THREADS] = i + 1;
    return n > SHOWN_THREADS ? starts[n % SHOWN_THREADS] : from;
}

void weft_words_cause(struct weft_output *out, const struct weft_ecct_matrix *matrix, uint32_t node)
{
    struct weft_frame_path path;
    if (node == WEFT_ID_NONE || node == 0) {
        weft_output_text(out, "no single context");
        return;
    }
    weft_frame_path_of(matrix, node, &path);
    struct weft_path_part part = weft_path_part_at(&path, 0);
    while (part.to < path.n) {
        const size_t next = part.to + 1, from = part.from == 0 ? skip_threads(&path, next) : next;
        put_waiting(out, &path, &part);
        if (from > next) {
            weft_output_text(out, "... in the end thread `");
            put_quoted(out, path.frames[from - 1]->name);
            weft_output_text(out, from < path.n ? "`, " : "`");
        }
        if (from >= path.n)
            return;
        part = weft_path_part_at(&path, from);
    }
    put_last(out, &path, &part);
}
