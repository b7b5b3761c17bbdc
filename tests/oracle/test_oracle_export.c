/* SPDX-License-Identifier: MIT
 *
 * Random traces in files of tiny blocks: the walk and what every export format says, read back by
 * slow readers, against calls computed the slow way, within random windows.
 */
#include "model/calls/walk.h"
#include "random_calls.h"
#include "render/export/export.h"
#include "slow_window.h"
#include "store/writer.h"
#include "tap.h"

#include <yajl/yajl_tree.h>

enum { MAX_THREADS = 3, SEEDS = 800, SEEDS_A_LINE = 40, N_NAMES = 6 };

static char file[512];
static char what[400]; /* what differed first */

static bool differ(const char *name, uint64_t at, uint64_t got, uint64_t want)
{
    (void)snprintf(what, sizeof what, "%s at %" PRIu64 ": got %" PRIu64 ", want %" PRIu64, name, at,
                   got, want);
    return false;
}

#define SAME(got, want, name, at)                                                                  \
    do {                                                                                           \
        const uint64_t got_ = (uint64_t)(got), want_ = (uint64_t)(want);                           \
        if (got_ != want_)                                                                         \
            return differ(name, at, got_, want_);                                                  \
    } while (0)

/* ---- the case -------------------------------------------------------------------------------- */

struct stream {
    struct weft_call_event *events;
    size_t n_events;
    uint64_t last_ns;
    struct slow_calls calls;
    struct slow_window want;
};

struct trial {
    struct stream streams[MAX_THREADS];
    uint32_t n_streams, block_rows;
    struct weft_window window;
    struct weft_trace *trace;
};

/* Functions have keys 0, 7, 14 ...; those beyond the names are unnamed. */
static const struct {
    const char *name, *module, *shown;
} names[N_NAMES] = {
    { "main", "", "main" },
    { "read,\"x\" \\y", "lib.so", "read,\"x\" \\y" },
    { "new\nline\t\x01", "m,n", "new\nline\t\x01" },
    { "caf\xc3\xa9 \xf0\x9f\x90\x9f", "", "caf\xc3\xa9 \xf0\x9f\x90\x9f" },
    { "bad\xff", "", "bad\xef\xbf\xbd" },
    { "fold;ed 17", "lib.so", "fold;ed 17" },
};

static const char *shown_name(uint32_t key)
{
    static char text[16];
    if (key / 7 < N_NAMES)
        return names[key / 7].shown;
    (void)snprintf(text, sizeof text, "#%" PRIu32, key);
    return text;
}

static const char *shown_module(uint32_t key)
{
    return key / 7 < N_NAMES ? names[key / 7].module : "";
}

/* Threads 100 and 101 share a name; the third has none. */
static const char *const thread_names[MAX_THREADS] = { "worker;1", "worker;1", "" };
static const char *const thread_labels[MAX_THREADS] = { "worker;1 [100]", "worker;1 [101]",
                                                        "T102" };

static const char *label_of(const struct trial *trial, uint32_t thread)
{
    return trial->n_streams == 1 ? "worker;1" : thread_labels[thread];
}

static bool failed(const struct weft_err *err)
{
    weft_err_print(err, what, sizeof what);
    return false;
}

static enum weft_code write_stream(struct weft_sink *sink, const struct stream *stream, uint32_t i,
                                   struct weft_err *err)
{
    const struct weft_thread_info info = { .tid = 100 + i,
                                           .pid = 9,
                                           .name = weft_str_of(thread_names[i]) };
    uint32_t thread_id;
    enum weft_code code = sink->ops->thread(sink, &info, &thread_id, err);
    if (code == WEFT_OK)
        code = sink->ops->calls(sink, thread_id, stream->events, stream->n_events, err);
    return code == WEFT_OK ? sink->ops->thread_end(sink, thread_id, stream->last_ns, err) : code;
}

static bool write_trace(const struct trial *trial)
{
    struct weft_err err = { 0 };
    struct weft_writer *writer;
    const struct weft_writer_opts opts = { .source_name = "random",
                                           .block_rows = trial->block_rows };
    if (weft_writer_open(file, &opts, &writer, &err) != WEFT_OK)
        return failed(&err);
    struct weft_sink *sink = weft_writer_sink(writer);
    const struct weft_sink_begin begin = { .format = WEFT_STR("random") };
    enum weft_code code = sink->ops->begin(sink, &begin, &err);
    for (uint32_t i = 0; i < N_NAMES && code == WEFT_OK; i++) {
        const struct weft_function_info info = { .key = i * 7,
                                                 .name = weft_str_of(names[i].name),
                                                 .module = weft_str_of(names[i].module) };
        code = sink->ops->function(sink, &info, &err);
    }
    for (uint32_t i = 0; i < trial->n_streams && code == WEFT_OK; i++)
        code = write_stream(sink, &trial->streams[i], i, &err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, &err) == WEFT_OK || failed(&err);
    weft_writer_abort(writer);
    return failed(&err);
}

/* A time at, or next to, an event of the trace. */
static uint64_t random_time(const struct trial *trial, uint64_t *state)
{
    const struct slow_calls *calls = &trial->streams[tap_random(state) % trial->n_streams].calls;
    if (calls->n_steps == 0)
        return tap_random(state) % 100;
    uint64_t at_ns = calls->steps[tap_random(state) % calls->n_steps].time_ns;
    uint64_t off = tap_random(state) % 3;
    return at_ns + off > 0 ? at_ns + off - 1 : 0;
}

static void make_window(struct trial *trial, uint64_t *state)
{
    trial->window = WEFT_WINDOW_ALL;
    if (tap_random(state) % 4)
        trial->window.from_ns = random_time(trial, state);
    if (tap_random(state) % 4)
        trial->window.to_ns = random_time(trial, state);
    if (trial->window.to_ns < trial->window.from_ns)
        trial->window.to_ns = trial->window.from_ns + tap_random(state) % 2;
    for (uint32_t i = 0; i < trial->n_streams; i++)
        trial->streams[i].want =
            slow_window_build(&trial->streams[i].calls, trial->window.from_ns, trial->window.to_ns);
}

static void make_streams(struct trial *trial, uint64_t seed, uint64_t *state)
{
    trial->n_streams = 1 + (uint32_t)(tap_random(state) % MAX_THREADS);
    trial->block_rows = 1 + (uint32_t)(tap_random(state) % 40);
    for (uint32_t i = 0; i < trial->n_streams; i++) {
        struct stream *stream = &trial->streams[i];
        stream->n_events = tap_random(state) % (seed % 10 ? 60 : 300);
        stream->events = calloc(stream->n_events + 1, sizeof *stream->events);
        struct random_calls random = {
            .state = tap_random(state),
            .n_functions = 1 + (uint32_t)(tap_random(state) % 8),
            .enter_percent = 30 + (unsigned)(tap_random(state) % 40),
            .odd_percent = (unsigned)(tap_random(state) % 3) * 15,
        };
        uint32_t *stack = calloc(stream->n_events + 1, sizeof *stack);
        random_calls_fill(&random, stream->events, stream->n_events, stack);
        free(stack);
        stream->last_ns = tap_random(state) % 2 ? 0 : UINT64_C(1) << 45;
        stream->calls = slow_calls_build(stream->events, stream->n_events, stream->last_ns);
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

static bool same_args(const struct weft_walk_call *got, const struct slow_row *want, uint64_t at)
{
    SAME(got->n_args, want->call->n_args, "arguments", at);
    for (size_t i = 0; i < got->n_args; i++)
        SAME(got->args[i], want->call->args[i], "argument", at);
    return true;
}

static bool same_row(const struct trial *trial, const struct weft_walk_call *got,
                     const struct slow_row *want, uint64_t at)
{
    SAME(got->start_ns, want->start_ns, "start", at);
    SAME(got->end_ns, want->end_ns, "end", at);
    SAME(got->depth, want->depth, "depth", at);
    SAME(got->flags, want->flags, "flags", at);
    SAME(weft_trace_function(trial->trace, got->function_id)->key, want->key, "function", at);
    return true;
}

static bool same_steps(const struct trial *trial, struct weft_walk *walk,
                       const struct slow_window *want, bool with_self)
{
    size_t open[400], n_open = 0, n_entered = 0;
    uint64_t last_ns = 0;
    for (;;) {
        enum weft_step step;
        struct weft_walk_call call;
        struct weft_err err = { 0 };
        if (weft_walk_next(walk, &step, &call, &err) != WEFT_OK)
            return failed(&err);
        if (step == WEFT_STEP_END)
            break;
        bool is_entry = step == WEFT_STEP_ENTER;
        if (is_entry ? n_entered >= want->n_rows : n_open == 0)
            return differ("step too many", n_entered, step, 0);
        size_t i = is_entry ? n_entered++ : open[--n_open];
        const struct slow_row *row = &want->rows[i];
        uint64_t at_ns = is_entry ? call.start_ns : call.end_ns;
        if (at_ns < last_ns)
            return differ("time steps back", i, at_ns, last_ns);
        last_ns = at_ns;
        if (is_entry) {
            SAME(call.depth, n_open, "open calls", i);
            open[n_open++] = i;
        }
        if (!same_row(trial, &call, row, i) || (is_entry && !same_args(&call, row, i)))
            return false;
        if (with_self || !is_entry)
            SAME(call.self_ns, row->self_ns, is_entry ? "self at entry" : "self at exit", i);
    }
    SAME(n_entered, want->n_rows, "calls of the walk", 0);
    SAME(n_open, 0, "calls left open", 0);
    return true;
}

static bool walks_same(const struct trial *trial)
{
    bool is_same = true;
    for (uint32_t i = 0; i < 2 * trial->n_streams && is_same; i++) {
        const struct weft_walk_opts opts = { .window = trial->window,
                                             .with_self = i % 2,
                                             .with_args = true };
        struct weft_walk *walk;
        struct weft_err err = { 0 };
        if (weft_walk_open(trial->trace, i / 2, &opts, &walk, &err) != WEFT_OK)
            return failed(&err);
        is_same = same_steps(trial, walk, &trial->streams[i / 2].want, i % 2);
        weft_walk_close(walk);
    }
    return is_same;
}

/* ---- readers --------------------------------------------------------------------------------- */

/* What a format says, as text that ends with NUL; the caller frees. NULL after a failure. */
static char *export_text(const struct trial *trial, enum weft_export_format format,
                         enum weft_export_weight weight)
{
    struct weft_output *out;
    struct weft_export_totals totals;
    struct weft_err err = { 0 };
    const struct weft_export_opts opts = { .trace = trial->trace,
                                           .name = "random \"1\"",
                                           .window = trial->window,
                                           .format = format,
                                           .weight = weight,
                                           .paths_max = trial->block_rows % 8 };
    char *text = NULL;
    if (weft_output_to_memory(&out, &err) != WEFT_OK)
        return NULL;
    enum weft_code code = weft_export_write(&opts, out, &totals, &err);
    struct weft_str held = weft_output_held(out);
    if (code == WEFT_OK)
        text = strndup(held.n_bytes ? held.bytes : "", held.n_bytes);
    code = weft_output_close(out, &err) == WEFT_OK && code == WEFT_OK ? WEFT_OK : err.code;
    if (code != WEFT_OK)
        (void)failed(&err);
    return text;
}

static void append(char out[80], const char *text)
{
    size_t n = strlen(out);
    (void)snprintf(out + n, 80 - n, "%s", text ? text : "(null)");
}

static void flags_text(uint32_t flags, char out[80])
{
    static const char *const words[] = { "cut_start", "cut_end", "repaired", "tail" };
    out[0] = '\0';
    for (unsigned i = 0; i < 4; i++)
        if (flags & 1U << i) {
            append(out, out[0] ? " " : "");
            append(out, words[i]);
        }
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Takes one field off `*at`, unquoted in place; RFC 4180. */
static char *csv_field(char **at)
{
    char *field = *at, *to = *at;
    if (*field != '"') {
        *at += strcspn(*at, ",\n");
        **at = **at == ',' ? '\0' : **at;
        if (**at == '\n')
            **at = '\0';
        (*at)++;
        return field;
    }
    for (char *from = field + 1;; from++) {
        if (*from == '"' && *++from != '"') {
            *to = '\0';
            *at = from + 1;
            return field;
        }
        *to++ = *from;
    }
}

static bool csv_row_same(const struct trial *trial, char **at, uint32_t thread, size_t i)
{
    const struct slow_row *row = &trial->streams[thread].want.rows[i];
    const char *thread_name = *thread_names[thread] ? thread_names[thread] : thread_labels[thread];
    char flags[80], args[600] = "", tid[8];
    flags_text(row->flags, flags);
    for (unsigned k = 0; k < row->call->n_args; k++)
        (void)snprintf(args + strlen(args), sizeof args - strlen(args), "%s\"arg%u\":%" PRIu64 "%s",
                       k ? "," : "{", k, row->call->args[k], k + 1 == row->call->n_args ? "}" : "");
    (void)snprintf(tid, sizeof tid, "%u", 100 + thread);
    const char *const texts[] = { tid, thread_name, shown_name(row->key), shown_module(row->key) };
    for (unsigned k = 0; k < 4; k++) {
        const char *field = csv_field(at);
        if (strcmp(field, texts[k]) != 0)
            return differ(field, i, k, 0);
    }
    const uint64_t numbers[] = { row->depth, row->start_ns, row->end_ns,
                                 row->end_ns - row->start_ns, row->self_ns };
    for (unsigned k = 0; k < 5; k++)
        SAME(strtoull(csv_field(at), NULL, 10), numbers[k], "number in CSV", i * 10 + k);
    if (strcmp(csv_field(at), flags) != 0 || strcmp(csv_field(at), args) != 0)
        return differ("flags or arguments in CSV", i, 0, 0);
    if (strcmp(csv_field(at), "9") != 0 || strcmp(csv_field(at), "0") != 0 ||
        strcmp(csv_field(at), "0") != 0)
        return differ("pid, node or generation in CSV", i, 0, 0);
    return true;
}

static bool csv_same(const struct trial *trial)
{
    char *text = export_text(trial, WEFT_EXPORT_CSV, WEFT_EXPORT_SELF);
    char *at = text ? strchr(text, '\n') + 1 : NULL;
    bool is_same = text != NULL;
    for (uint32_t t = 0; t < trial->n_streams; t++)
        for (size_t i = 0; i < trial->streams[t].want.n_rows && is_same; i++)
            is_same = csv_row_same(trial, &at, t, i);
    if (is_same && *at != '\0')
        is_same = differ("lines too many in CSV", (uint64_t)(at - text), 0, 0);
    free(text);
    return is_same;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static yajl_val member(yajl_val object, const char *key)
{
    const char *keys[] = { key, NULL };
    return object ? yajl_tree_get(object, keys, yajl_t_any) : NULL;
}

static const char *text_of(yajl_val object, const char *key)
{
    const char *text = YAJL_GET_STRING(member(object, key));
    return text ? text : "";
}

/* The digits of a number without its point: microseconds with three decimals as ns. */
static uint64_t digits_of(yajl_val object, const char *key)
{
    const char *text = YAJL_GET_NUMBER(member(object, key));
    uint64_t value = 0;
    for (; text && *text; text++)
        if (*text != '.')
            value = value * 10 + (uint64_t)(*text - '0');
    return text ? value : UINT64_MAX;
}

static bool chrome_args_same(yajl_val event, const struct slow_row *row, size_t i)
{
    yajl_val args = member(event, "args");
    bool has_depth = row->start_ns == row->end_ns;
    SAME(args != NULL, row->flags || row->call->n_args || has_depth, "args in Chrome", i);
    SAME(args ? args->u.object.len : 0, row->call->n_args + (row->flags || has_depth),
         "members of args", i);
    if (has_depth)
        SAME(digits_of(member(args, "weft"), "depth"), row->depth, "depth in Chrome", i);
    for (unsigned k = 0; k < row->call->n_args; k++) {
        char key[16], digits[24];
        (void)snprintf(key, sizeof key, "arg%u", k);
        (void)snprintf(digits, sizeof digits, "%" PRIu64, row->call->args[k]);
        const char *got = YAJL_GET_NUMBER(member(args, key));
        if (!got || strcmp(got, digits) != 0)
            return differ("argument in Chrome", i, k, row->call->args[k]);
    }
    yajl_val flags = member(member(args, "weft"), "flags");
    char got[80] = "", want[80];
    for (size_t k = 0; flags && k < flags->u.array.len; k++) {
        append(got, k ? " " : "");
        append(got, YAJL_GET_STRING(flags->u.array.values[k]));
    }
    flags_text(row->flags, want);
    return strcmp(got, want) == 0 || differ("flags in Chrome", i, 0, row->flags);
}

static bool chrome_event_same(yajl_val event, const struct slow_row *row, uint32_t thread, size_t i)
{
    if (strcmp(text_of(event, "name"), shown_name(row->key)) != 0 ||
        strcmp(text_of(event, "cat"), shown_module(row->key)) != 0)
        return differ(text_of(event, "name"), i, 0, row->key);
    SAME(digits_of(event, "pid"), 9, "pid in Chrome", i);
    SAME(digits_of(event, "tid"), 100 + thread, "tid in Chrome", i);
    SAME(digits_of(event, "ts"), row->start_ns, "ts in Chrome", i);
    SAME(digits_of(event, "dur"), row->end_ns - row->start_ns, "dur in Chrome", i);
    return chrome_args_same(event, row, i);
}

/* The next event that is no metadata. */
static yajl_val next_event(yajl_val events, size_t *at)
{
    while (*at < events->u.array.len) {
        yajl_val event = events->u.array.values[(*at)++];
        if (strcmp(text_of(event, "ph"), "M") != 0)
            return event;
    }
    return NULL;
}

static bool chrome_tree_same(const struct trial *trial, yajl_val root)
{
    yajl_val events = member(root, "traceEvents");
    size_t at = 0;
    if (!events)
        return differ("no traceEvents", 0, 0, 0);
    for (uint32_t t = 0; t < trial->n_streams; t++)
        for (size_t i = 0; i < trial->streams[t].want.n_rows; i++) {
            yajl_val event = next_event(events, &at);
            if (!event || !chrome_event_same(event, &trial->streams[t].want.rows[i], t, i))
                return event || differ("events missing in Chrome", i, 0, 0);
        }
    return next_event(events, &at) == NULL || differ("events too many in Chrome", at, 0, 0);
}

/* Open and close events against the rows: those of depth d close when a row of depth <= d opens. */
static bool profile_same(const struct trial *trial, yajl_val profile, yajl_val frames,
                         uint32_t thread)
{
    const struct slow_window *want = &trial->streams[thread].want;
    yajl_val events = member(profile, "events");
    size_t open[400], n_open = 0, n_entered = 0;
    if (strcmp(text_of(profile, "name"), label_of(trial, thread)) != 0)
        return differ(text_of(profile, "name"), thread, 0, 0);
    SAME(digits_of(profile, "startValue"), want->rows[0].start_ns, "startValue", thread);
    for (size_t k = 0; k < events->u.array.len; k++) {
        yajl_val event = events->u.array.values[k];
        bool is_open = strcmp(text_of(event, "type"), "O") == 0;
        if (is_open ? n_entered == want->n_rows : n_open == 0)
            return differ("events too many in speedscope", k, 0, 0);
        size_t i = is_open ? n_entered++ : open[--n_open];
        if (is_open) {
            SAME(n_open, want->rows[i].depth, "depth in speedscope", k);
            open[n_open++] = i;
        }
        uint64_t at_ns = is_open ? want->rows[i].start_ns : want->rows[i].end_ns;
        SAME(digits_of(event, "at"), at_ns, "time in speedscope", k);
        uint64_t frame = digits_of(event, "frame");
        if (frame >= frames->u.array.len || strcmp(text_of(frames->u.array.values[frame], "name"),
                                                   shown_name(want->rows[i].key)) != 0)
            return differ("frame in speedscope", k, frame, want->rows[i].key);
        SAME(at_ns <= digits_of(profile, "endValue"), true, "endValue", k);
    }
    SAME(n_open, 0, "open at the end in speedscope", thread);
    SAME(n_entered, want->n_rows, "calls in speedscope", thread);
    return true;
}

static bool speedscope_tree_same(const struct trial *trial, yajl_val root)
{
    yajl_val profiles = member(root, "profiles");
    yajl_val frames = member(member(root, "shared"), "frames");
    size_t at = 0;
    if (!profiles || !frames)
        return differ("no profiles", 0, 0, 0);
    for (uint32_t t = 0; t < trial->n_streams; t++) {
        if (trial->streams[t].want.n_rows == 0)
            continue;
        if (at == profiles->u.array.len ||
            !profile_same(trial, profiles->u.array.values[at++], frames, t))
            return at < profiles->u.array.len || what[0] || differ("no profile", t, 0, 0);
    }
    SAME(profiles->u.array.len, at, "profiles", 0);
    return true;
}

static bool json_same(const struct trial *trial, enum weft_export_format format)
{
    char *text = export_text(trial, format, WEFT_EXPORT_SELF);
    char error[200] = "";
    yajl_val root = text ? yajl_tree_parse(text, error, sizeof error) : NULL;
    bool is_same = root != NULL;
    if (text && !root)
        (void)snprintf(what, sizeof what, "%.150s", error);
    what[0] = is_same ? '\0' : what[0];
    if (is_same)
        is_same = format == WEFT_EXPORT_CHROME ? chrome_tree_same(trial, root)
                                               : speedscope_tree_same(trial, root) && !what[0];
    yajl_tree_free(root);
    free(text);
    return is_same;
}

/* ---- folded ---------------------------------------------------------------------------------- */

/* Behind `out`: a byte of a name, as a terminal may have it. */
static size_t plain_byte(char *out, size_t size, char byte)
{
    if (byte == '\n' || byte == '\t' || byte == '\r')
        return (size_t)snprintf(out, size, "\\%c", byte == '\n' ? 'n' : byte == '\t' ? 't' : 'r');
    if ((unsigned char)byte < ' ')
        return (size_t)snprintf(out, size, "\\x%02x", (unsigned)byte);
    return (size_t)snprintf(out, size, "%c", byte == ';' ? ':' : byte);
}

/* "thread;outer;inner" of row i, as the format writes names. */
static void stack_text(const struct trial *trial, uint32_t thread, size_t i, char *out, size_t size)
{
    const struct slow_window *want = &trial->streams[thread].want;
    const char *parts[400];
    char copies[400][32];
    size_t n_parts = 0;
    uint32_t depth = want->rows[i].depth + 1;
    for (ptrdiff_t j = (ptrdiff_t)i; j >= 0 && depth > 0; j--)
        if (want->rows[j].depth + 1 == depth) {
            (void)snprintf(copies[depth - 1], sizeof *copies, "%s", shown_name(want->rows[j].key));
            parts[n_parts++] = copies[depth - 1];
            depth--;
        }
    size_t n = 0;
    for (const char *at = label_of(trial, thread); *at; at++)
        n += plain_byte(out + n, size - n, *at);
    while (n_parts-- > 0) {
        out[n++] = ';';
        for (const char *at = parts[n_parts]; *at; at++)
            n += plain_byte(out + n, size - n, *at);
    }
    out[n] = '\0';
}

struct path {
    char *stack;
    uint64_t weight;
};

static struct path *find_path(struct path *paths, size_t *n_paths, const char *stack)
{
    for (size_t i = 0; i < *n_paths; i++)
        if (strcmp(paths[i].stack, stack) == 0)
            return &paths[i];
    paths[*n_paths] = (struct path){ .stack = strdup(stack) };
    return &paths[(*n_paths)++];
}

static bool lines_same(char *text, struct path *paths, size_t n_paths)
{
    char *end;
    for (char *line = text; *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        char *blank = strrchr(line, ' ');
        size_t n_before = n_paths;
        *blank = '\0';
        struct path *found = find_path(paths, &n_paths, line);
        if (n_paths > n_before)
            return differ(line, n_paths, 0, 0);
        found->weight -= strtoull(blank + 1, NULL, 10);
    }
    for (size_t i = 0; i < n_paths; i++)
        if (paths[i].weight != 0)
            return differ(paths[i].stack, i, paths[i].weight, 0);
    return true;
}

static bool folded_same(const struct trial *trial, enum weft_export_weight weight)
{
    static char stack[400 * 160];
    struct path paths[1200]; /* one more than there can be: a line that is wrong */
    size_t n_paths = 0;
    for (uint32_t t = 0; t < trial->n_streams; t++)
        for (size_t i = 0; i < trial->streams[t].want.n_rows; i++) {
            stack_text(trial, t, i, stack, sizeof stack);
            find_path(paths, &n_paths, stack)->weight +=
                weight == WEFT_EXPORT_CALLS ? 1 : trial->streams[t].want.rows[i].self_ns;
        }
    char *text = export_text(trial, WEFT_EXPORT_FOLDED, weight);
    bool is_same = text && lines_same(text, paths, n_paths);
    for (size_t i = 0; i < n_paths; i++)
        free(paths[i].stack);
    free(text);
    return is_same;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool trial_same(struct trial *trial)
{
    struct weft_err err = { 0 };
    if (!write_trace(trial))
        return false;
    if (weft_trace_open(file, &trial->trace, &err) != WEFT_OK)
        return failed(&err);
    bool is_same = walks_same(trial) && csv_same(trial) && json_same(trial, WEFT_EXPORT_CHROME) &&
                   json_same(trial, WEFT_EXPORT_SPEEDSCOPE) &&
                   folded_same(trial, WEFT_EXPORT_SELF) && folded_same(trial, WEFT_EXPORT_CALLS);
    weft_trace_close(trial->trace);
    return is_same;
}

static bool trial_run(uint64_t seed)
{
    uint64_t state = seed;
    struct trial trial = { 0 };
    make_streams(&trial, seed, &state);
    make_window(&trial, &state);
    const bool is_same = trial_same(&trial);
    for (uint32_t i = 0; i < trial.n_streams; i++) {
        free(trial.streams[i].events);
        slow_calls_free(&trial.streams[i].calls);
        slow_window_free(&trial.streams[i].want);
    }
    return is_same;
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(file, sizeof file, "%s/export.weft", root ? root : ".");
    const uint64_t first = tap_seed(1);
    for (uint64_t seed = first; seed < first + SEEDS; seed += SEEDS_A_LINE) {
        uint64_t failed_seed = 0;
        for (uint64_t i = 0; i < SEEDS_A_LINE && !failed_seed; i++)
            if (!trial_run(seed + i))
                failed_seed = seed + i;
        tap_ok(!failed_seed, "%d random traces from seed %" PRIu64 " on", SEEDS_A_LINE, seed);
        if (failed_seed)
            tap_note("seed %" PRIu64 ": %s", failed_seed, what);
    }
    (void)remove(file);
    return tap_done();
}
