/* SPDX-License-Identifier: MIT
 *
 * Text traces.
 *
 * Each file is read twice: first to check every line, to find the smallest time and the names, then
 * to deliver the calls. Names get their numbers file by file, so that the numbers do not depend on
 * the workers.
 */
#include "ingest/text/text.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "schema/event.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- line ------------------------------------------------------------------------------------ */

/* The lines of a text trace, in two forms:
 *
 *     0 name ns                     --> name tid ns object
 *     1 name ns                     <-- name tid ns object
 *
 * Parses lines of both forms and states what was expected where it cannot. The form is that of the
 * first line and does not change. Fields are views of the text. */

enum weft_text_form { WEFT_TEXT_UNKNOWN, WEFT_TEXT_DIRECTION, WEFT_TEXT_ARROW };

struct weft_text_line {
    uint8_t kind; /* WEFT_CALL_ENTER or WEFT_CALL_EXIT */
    bool has_tid;
    uint64_t tid;
    uint64_t time_ns;
    struct weft_str name;
    struct weft_str object; /* what stands behind the time; may be empty */
};

/* Walks the lines of one file. Begin with bytes and n_bytes set, the rest zero. */
struct weft_text_walk {
    const char *bytes;
    uint64_t n_bytes;
    uint64_t at_off;
    uint64_t line_off;
    uint64_t line_number;
    enum weft_text_form form; /* that of the first record */
};

enum { SHOWN_BYTES = 40 };

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

static struct weft_str trim_end(struct weft_str text)
{
    while (text.n_bytes &&
           (is_blank(text.bytes[text.n_bytes - 1]) || text.bytes[text.n_bytes - 1] == '\r'))
        text.n_bytes--;
    return text;
}

static struct weft_str trim(struct weft_str text)
{
    while (text.n_bytes && is_blank(*text.bytes)) {
        text.bytes++;
        text.n_bytes--;
    }
    return trim_end(text);
}

/* Decimal digits only, below 2^64. */
static bool weft_text_number(const char *digits, const char *end, uint64_t *number)
{
    uint64_t sum = 0;
    if (digits == end)
        return false;
    for (; digits < end; digits++) {
        unsigned digit = (unsigned)(*digits - '0');
        if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *number = sum;
    return true;
}

/* ---- directions -------------------------------------------------------------------------------
 */

/* Parses a trimmed line; on failure says what was expected. */
static bool parse_direction(struct weft_str text, struct weft_text_line *line,
                            const char **expected)
{
    const char *at = text.bytes;
    const char *end = at + text.n_bytes;
    *expected = "direction 0 or 1, a blank, a name, a blank, a time in ns";
    if (text.n_bytes < 2 || (at[0] != '0' && at[0] != '1') || !is_blank(at[1]))
        return false;
    line->kind = at[0] == '0' ? WEFT_CALL_ENTER : WEFT_CALL_EXIT;
    const char *last = end;
    while (last > at + 2 && !is_blank(last[-1]))
        last--;
    if (last <= at + 2) {
        *expected = "a name, a blank and a time in ns after the direction";
        return false;
    }
    line->name =
        trim((struct weft_str){ .bytes = at + 2, .n_bytes = (size_t)(last - 1 - (at + 2)) });
    *expected = "a name between the direction and the time";
    if (line->name.n_bytes == 0)
        return false;
    *expected = "a time in whole ns, below 2^64, at the end";
    return weft_text_number(last, end, &line->time_ns);
}

/* ---- arrows -----------------------------------------------------------------------------------
 */

/* "-->", "->", "<--", "<-", and a blank; what follows is *rest. */
static bool take_arrow(struct weft_str text, uint8_t *kind, struct weft_str *rest)
{
    static const struct {
        const char *arrow;
        uint8_t kind;
    } arrows[] = { { "-->", WEFT_CALL_ENTER },
                   { "<--", WEFT_CALL_EXIT },
                   { "->", WEFT_CALL_ENTER },
                   { "<-", WEFT_CALL_EXIT } };
    for (size_t k = 0; k < sizeof arrows / sizeof *arrows; k++) {
        size_t n_arrow = strlen(arrows[k].arrow);
        if (text.n_bytes <= n_arrow || memcmp(text.bytes, arrows[k].arrow, n_arrow) != 0 ||
            !is_blank(text.bytes[n_arrow]))
            continue;
        *kind = arrows[k].kind;
        *rest = trim(
            (struct weft_str){ .bytes = text.bytes + n_arrow, .n_bytes = text.n_bytes - n_arrow });
        return true;
    }
    return false;
}

/* Takes the first word of a trimmed text, or the last. */
static struct weft_str take_first(struct weft_str *rest)
{
    struct weft_str word = { .bytes = rest->bytes };
    while (word.n_bytes < rest->n_bytes && !is_blank(rest->bytes[word.n_bytes]))
        word.n_bytes++;
    *rest = trim((struct weft_str){ .bytes = rest->bytes + word.n_bytes,
                                    .n_bytes = rest->n_bytes - word.n_bytes });
    return word;
}

static struct weft_str take_last(struct weft_str *rest)
{
    size_t at = rest->n_bytes;
    while (at && !is_blank(rest->bytes[at - 1]))
        at--;
    struct weft_str word = { .bytes = rest->bytes + at, .n_bytes = rest->n_bytes - at };
    *rest = trim_end((struct weft_str){ .bytes = rest->bytes, .n_bytes = at });
    return word;
}

static bool number_of(struct weft_str word, uint64_t *number)
{
    return weft_text_number(word.bytes, word.bytes + word.n_bytes, number);
}

/* A name of one word, then thread, time, and perhaps an object. */
static bool parse_full(struct weft_str rest, struct weft_text_line *line)
{
    line->name = take_first(&rest);
    struct weft_str tid = take_first(&rest);
    struct weft_str time = take_first(&rest);
    line->object = rest;
    line->has_tid = true;
    return number_of(tid, &line->tid) && number_of(time, &line->time_ns);
}

/* A name of any words, perhaps a thread, and the time at the end. */
static bool parse_plain(struct weft_str rest, struct weft_text_line *line, const char **expected)
{
    struct weft_str time = take_last(&rest);
    line->object = (struct weft_str){ 0 };
    *expected = "a time in whole ns, below 2^64, after the name (or its thread)";
    if (!number_of(time, &line->time_ns))
        return false;
    *expected = "a name between the arrow and the time";
    if (rest.n_bytes == 0)
        return false;
    line->name = rest;
    struct weft_str tid = take_last(&rest);
    line->has_tid = rest.n_bytes && number_of(tid, &line->tid);
    if (line->has_tid)
        line->name = rest;
    return true;
}

static bool parse_arrow(struct weft_str text, struct weft_text_line *line, const char **expected)
{
    struct weft_str rest;
    *expected = "an arrow --> or <--, a blank, a name, a thread, a time in ns";
    if (!take_arrow(text, &line->kind, &rest))
        return false;
    return parse_full(rest, line) || parse_plain(rest, line, expected);
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static enum weft_text_form form_of(struct weft_str text)
{
    uint8_t kind;
    struct weft_str rest;
    return take_arrow(text, &kind, &rest) ? WEFT_TEXT_ARROW : WEFT_TEXT_DIRECTION;
}

/* The next line that is not empty, trimmed. With directions, empty lines are allowed only at the
 * end; DINAMITE writes them between arrows. */
static enum weft_code next_line(struct weft_text_walk *walk, struct weft_str *text, bool *is_end,
                                struct weft_err *err)
{
    uint64_t empty_off = 0;
    uint64_t empty_number = 0;
    while (walk->at_off < walk->n_bytes) {
        const char *line = walk->bytes + walk->at_off;
        const char *end = memchr(line, '\n', walk->n_bytes - walk->at_off);
        size_t n_line = end ? (size_t)(end - line) : walk->n_bytes - walk->at_off;
        walk->line_off = walk->at_off;
        walk->line_number++;
        walk->at_off += n_line + (end != NULL);
        *text = trim_end((struct weft_str){ .bytes = line, .n_bytes = n_line });
        *is_end = false;
        if (text->n_bytes && walk->form == WEFT_TEXT_UNKNOWN)
            walk->form = form_of(*text);
        if (text->n_bytes && empty_number && walk->form == WEFT_TEXT_DIRECTION)
            return weft_fail_line(err, WEFT_E_MALFORMED, empty_off, empty_number,
                                  "expected a record, found an empty line before others");
        if (text->n_bytes)
            return WEFT_OK;
        if (!empty_number) {
            empty_off = walk->line_off;
            empty_number = walk->line_number;
        }
    }
    *is_end = true;
    return WEFT_OK;
}

/* The next record; *is_end at the end. MALFORMED with line and reason: a line that is no record of
 * the file's form, or with directions an empty line before others. */
static enum weft_code weft_text_next(struct weft_text_walk *walk, struct weft_text_line *line,
                                     bool *is_end, struct weft_err *err)
{
    struct weft_str text;
    const char *expected;
    *line = (struct weft_text_line){ 0 };
    enum weft_code code = next_line(walk, &text, is_end, err);
    if (code != WEFT_OK || *is_end)
        return code;
    if (walk->form == WEFT_TEXT_ARROW ? parse_arrow(text, line, &expected)
                                      : parse_direction(text, line, &expected))
        return WEFT_OK;
    return weft_fail_line(err, WEFT_E_MALFORMED, walk->line_off, walk->line_number,
                          "expected %s, found \"%.*s\"", expected,
                          text.n_bytes < SHOWN_BYTES ? (int)text.n_bytes : SHOWN_BYTES, text.bytes);
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { BATCH_CALLS = 4096 };

/* Bytes between two reports of progress and looks at cancellation. */
#define STEP_BYTES (UINT64_C(1) << 20)

/* Times further apart than this (146 years) are no times. */
#define MOST_SPAN_NS (UINT64_C(1) << 62)

/* A thread of one file. */
struct thread {
    uint64_t tid;
    uint32_t generation;
    uint32_t thread_id; /* the sink's */
    bool is_of_file;    /* of the lines that name no thread */
    struct {
        struct weft_call_event *items; /* at most BATCH_CALLS */
        size_t n, cap;
    } calls;
    uint64_t last_ns; /* largest time so far */
};

/* What is known about one file. */
struct track {
    struct weft_str file_name;
    uint64_t file_tid;
    uint64_t first_ns; /* the smallest time */
    struct weft_strtab *names;
    uint32_t *keys;        /* function key of each name */
    struct weft_map *tids; /* of its lines -> number of the thread */
    uint32_t file_thread;  /* number of the thread without a tid, or WEFT_ID_NONE */
    struct {
        struct thread *items;
        size_t n, cap;
    } threads;
};

struct import {
    const struct weft_text_input *inputs;
    size_t n_inputs;
    struct track *tracks;
    struct weft_strtab *names; /* of all files; the id is the function key */
    struct weft_sink *sink;
    const struct weft_run *run;
    uint64_t zero_ns;
};

static struct weft_progress *progress_of(const struct import *import)
{
    return import->run ? import->run->progress : NULL;
}

static struct weft_text_walk walk_of(const struct weft_text_input *input)
{
    return (struct weft_text_walk){ .bytes = (const char *)input->file.bytes,
                                    .n_bytes = input->file.n_bytes };
}

bool weft_text_sniff(const uint8_t *bytes, size_t n_bytes)
{
    struct weft_text_walk walk = { .bytes = (const char *)bytes, .n_bytes = n_bytes };
    struct weft_text_line line;
    bool is_end = true;
    return n_bytes && weft_text_next(&walk, &line, &is_end, NULL) == WEFT_OK && !is_end;
}

/* ---- first reading ----------------------------------------------------------------------------
 */

static enum weft_code check_cancel(const struct import *import, struct weft_err *err)
{
    if (weft_progress_is_cancelled(progress_of(import)))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    return WEFT_OK;
}

/* The number of a line's thread within its file. */
static enum weft_code find_thread(struct track *track, const struct weft_text_line *line,
                                  uint32_t *number, struct weft_err *err)
{
    bool is_new = track->file_thread == WEFT_ID_NONE;
    if (!line->has_tid && !is_new) {
        *number = track->file_thread;
        return WEFT_OK;
    }
    if (line->has_tid) {
        *number = weft_map_add(track->tids, line->tid, &is_new);
        if (*number == WEFT_MAP_NONE)
            return weft_no_memory(err, "threads");
        /* Numbers of the map and of the threads differ by the one without tid. */
        *number += track->file_thread <= *number;
    }
    if (!is_new)
        return WEFT_OK;
    struct thread *thread = WEFT_VEC_PUSH(&track->threads);
    if (!thread)
        return weft_no_memory(err, "threads");
    *number = (uint32_t)(track->threads.n - 1);
    thread->tid = line->tid;
    thread->is_of_file = !line->has_tid;
    if (thread->is_of_file)
        track->file_thread = *number;
    return WEFT_OK;
}

static enum weft_code survey_lines(struct import *import, size_t item, struct weft_err *err)
{
    struct track *track = &import->tracks[item];
    struct weft_text_walk walk = walk_of(&import->inputs[item]);
    uint64_t reported_off = 0;
    track->first_ns = UINT64_MAX;
    for (;;) {
        struct weft_text_line line;
        bool is_end;
        uint32_t number;
        enum weft_code code = weft_text_next(&walk, &line, &is_end, err);
        if (code != WEFT_OK || is_end)
            return code;
        code = find_thread(track, &line, &number, err);
        WEFT_THEN(code, weft_strtab_intern(track->names, line.name, &number, err));
        if (code != WEFT_OK)
            return code;
        track->first_ns = weft_min_u64(track->first_ns, line.time_ns);
        if (walk.at_off - reported_off < STEP_BYTES)
            continue;
        weft_progress_add(progress_of(import), walk.at_off - reported_off);
        reported_off = walk.at_off;
        code = check_cancel(import, err);
        if (code != WEFT_OK)
            return code;
    }
}

static enum weft_code survey(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    (void)worker;
    struct import *import = context;
    struct track *track = &import->tracks[item];
    track->names = weft_strtab_new();
    track->tids = weft_map_new();
    track->file_thread = WEFT_ID_NONE;
    if (!track->names || !track->tids)
        return weft_no_memory(err, "names");
    enum weft_code code = survey_lines(import, item, err);
    if (code == WEFT_OK && weft_strtab_count(track->names) == 0)
        code =
            weft_fail(err, WEFT_E_TRUNCATED, 0, "expected lines \"direction name ns\", found none");
    if (code != WEFT_OK)
        weft_in_file(err, import->inputs[item].path);
    return code;
}

/* ---- second reading ---------------------------------------------------------------------------
 */

static enum weft_code flush(const struct import *import, struct thread *thread,
                            struct weft_err *err)
{
    struct weft_sink *sink = import->sink;
    enum weft_code code = check_cancel(import, err);
    if (code == WEFT_OK && thread->calls.n)
        code = sink->ops->calls(sink, thread->thread_id, thread->calls.items, thread->calls.n, err);
    thread->calls.n = 0;
    return code;
}

/* The object of an entry (a lock, mostly) becomes the call's arguments; exits repeat it. */
static enum weft_code deliver_object(const struct import *import, struct thread *thread,
                                     const struct weft_text_line *line, struct weft_err *err)
{
    const struct weft_event event = { .kind = WEFT_EVENT_CALL_ARGS,
                                      .time_ns = line->time_ns - import->zero_ns,
                                      .cpu = -1,
                                      .next_thread_id = WEFT_ID_NONE,
                                      .object_id = WEFT_ID_NONE,
                                      .stack_id = WEFT_ID_NONE,
                                      .category = WEFT_STR("text"),
                                      .payload = line->object };
    enum weft_code code = flush(import, thread, err);
    WEFT_THEN(code, import->sink->ops->events(import->sink, thread->thread_id, &event, 1, err));
    return code;
}

static enum weft_code deliver_line(const struct import *import, struct track *track,
                                   const struct weft_text_walk *walk,
                                   const struct weft_text_line *line, struct weft_err *err)
{
    uint32_t name_id;
    uint32_t number = 0;
    uint64_t time_ns = line->time_ns - import->zero_ns;
    if (time_ns > MOST_SPAN_NS)
        return weft_fail_line(err, WEFT_E_MALFORMED, walk->line_off, walk->line_number,
                              "expected times within 146 years, found %" PRIu64 " and %" PRIu64,
                              import->zero_ns, line->time_ns);
    enum weft_code code = weft_strtab_intern(track->names, line->name, &name_id, err);
    WEFT_THEN(code, find_thread(track, line, &number, err));
    if (code != WEFT_OK)
        return code;
    struct thread *thread = &track->threads.items[number];
    struct weft_call_event *call = WEFT_VEC_PUSH(&thread->calls);
    if (!call)
        return weft_no_memory(err, "a batch of calls");
    *call = (struct weft_call_event){ .time_ns = time_ns,
                                      .function_key = track->keys[name_id],
                                      .kind = line->kind };
    thread->last_ns = weft_max_u64(thread->last_ns, time_ns);
    if (line->object.n_bytes && line->kind == WEFT_CALL_ENTER)
        return deliver_object(import, thread, line, err);
    return thread->calls.n == BATCH_CALLS ? flush(import, thread, err) : WEFT_OK;
}

static enum weft_code deliver_lines(struct import *import, size_t item, struct weft_err *err)
{
    struct track *track = &import->tracks[item];
    struct weft_text_walk walk = walk_of(&import->inputs[item]);
    for (;;) {
        struct weft_text_line line;
        bool is_end;
        enum weft_code code = weft_text_next(&walk, &line, &is_end, err);
        if (code == WEFT_OK && !is_end)
            code = deliver_line(import, track, &walk, &line, err);
        if (code != WEFT_OK || is_end)
            return code;
    }
}

static enum weft_code deliver(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    (void)worker;
    struct import *import = context;
    struct weft_sink *sink = import->sink;
    struct track *track = &import->tracks[item];
    enum weft_code code = deliver_lines(import, item, err);
    for (size_t k = 0; k < track->threads.n; k++) {
        struct thread *thread = &track->threads.items[k];
        WEFT_THEN(code, flush(import, thread, err));
        WEFT_THEN(code, sink->ops->thread_end(sink, thread->thread_id, thread->last_ns, err));
        WEFT_VEC_FINI(&thread->calls);
    }
    weft_progress_add(progress_of(import), import->inputs[item].file.n_bytes);
    if (code != WEFT_OK)
        weft_in_file(err, import->inputs[item].path);
    return code;
}

/* ---- announcements ----------------------------------------------------------------------------
 */

/* How many threads have had a tid, by the number of the tid. */
struct counts {
    uint32_t *items;
    size_t n, cap;
};

/* Base name without extension, and the last number in it. */
static void name_track(const struct import *import, size_t item)
{
    struct track *track = &import->tracks[item];
    const struct weft_text_input *input = &import->inputs[item];
    const char *name = input->name ? input->name : input->path;
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    size_t n_bytes = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    track->file_name = (struct weft_str){ .bytes = base, .n_bytes = n_bytes };
    const char *end = base + n_bytes;
    while (end > base && (end[-1] < '0' || end[-1] > '9'))
        end--;
    const char *digits = end;
    while (digits > base && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    if (!weft_text_number(digits, end, &track->file_tid))
        track->file_tid = item + 1;
    if (track->file_thread != WEFT_ID_NONE)
        track->threads.items[track->file_thread].tid = track->file_tid;
}

static enum weft_code number_names(struct import *import, struct track *track, struct weft_err *err)
{
    uint32_t n_names = weft_strtab_count(track->names);
    track->keys = calloc(n_names, sizeof *track->keys);
    if (!track->keys)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "%" PRIu32 " names", n_names);
    for (uint32_t id = 0; id < n_names; id++) {
        struct weft_str name = weft_strtab_get(track->names, id);
        WEFT_TRY(weft_strtab_intern(import->names, name, &track->keys[id], err));
    }
    return WEFT_OK;
}

static enum weft_code announce_functions(struct import *import, struct weft_err *err)
{
    for (uint32_t id = 0; id < weft_strtab_count(import->names); id++) {
        const struct weft_function_info info = { .key = id,
                                                 .name = weft_strtab_get(import->names, id) };
        WEFT_TRY(import->sink->ops->function(import->sink, &info, err));
    }
    return WEFT_OK;
}

static enum weft_code announce_thread(struct import *import, const struct track *track,
                                      struct thread *thread, struct weft_map *tids,
                                      struct counts *counts, struct weft_err *err)
{
    bool is_new;
    uint32_t number = weft_map_add(tids, thread->tid, &is_new);
    if (number == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(counts)))
        return weft_no_memory(err, "threads");
    thread->generation = counts->items[number]++;
    const struct weft_thread_info info = { .tid = thread->tid,
                                           .generation = thread->generation,
                                           .name = thread->is_of_file ? track->file_name
                                                                      : (struct weft_str){ 0 } };
    return import->sink->ops->thread(import->sink, &info, &thread->thread_id, err);
}

static enum weft_code announce_threads(struct import *import, struct weft_err *err)
{
    struct weft_map *tids = weft_map_new();
    struct counts counts = { 0 };
    enum weft_code code = tids ? WEFT_OK : weft_no_memory(err, "threads");
    for (size_t k = 0; code == WEFT_OK && k < import->n_inputs; k++) {
        struct track *track = &import->tracks[k];
        for (size_t t = 0; code == WEFT_OK && t < track->threads.n; t++)
            code = announce_thread(import, track, &track->threads.items[t], tids, &counts, err);
    }
    WEFT_VEC_FINI(&counts);
    weft_map_free(tids);
    return code;
}

static enum weft_code announce(struct import *import, struct weft_err *err)
{
    const struct weft_sink_begin begin = { .format = WEFT_STR("text"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = UINT64_C(1000000000),
                                      .zero_ticks = import->zero_ns };
    enum weft_code code = import->sink->ops->begin(import->sink, &begin, err);
    WEFT_THEN(code, import->sink->ops->clock(import->sink, &clock, err));
    WEFT_THEN(code, announce_functions(import, err));
    WEFT_THEN(code, announce_threads(import, err));
    return code;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static enum weft_code for_each_input(struct import *import, weft_pool_fn work, struct weft_err *err)
{
    if (import->run && import->run->pool)
        return weft_pool_run(import->run->pool, import->n_inputs, work, import, progress_of(import),
                             err);
    for (size_t k = 0; k < import->n_inputs; k++) {
        WEFT_TRY(work(import, k, 0, err));
    }
    return WEFT_OK;
}

static enum weft_code import_all(struct import *import, struct weft_err *err)
{
    enum weft_code code = for_each_input(import, survey, err);
    import->zero_ns = UINT64_MAX;
    for (size_t k = 0; code == WEFT_OK && k < import->n_inputs; k++) {
        name_track(import, k);
        import->zero_ns = weft_min_u64(import->zero_ns, import->tracks[k].first_ns);
        code = number_names(import, &import->tracks[k], err);
    }
    WEFT_THEN(code, announce(import, err));
    WEFT_THEN(code, for_each_input(import, deliver, err));
    return code;
}

enum weft_code weft_text_import(const struct weft_text_input *inputs, size_t n_inputs,
                                struct weft_sink *sink, const struct weft_run *run,
                                struct weft_err *err)
{
    if (n_inputs == 0)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected a text file, found none");
    struct import import = { .inputs = inputs, .n_inputs = n_inputs, .sink = sink, .run = run };
    uint64_t n_bytes = 0;
    for (size_t k = 0; k < n_inputs; k++)
        n_bytes += inputs[k].file.n_bytes;
    weft_progress_start(progress_of(&import), "reading", "bytes", n_bytes * 2);
    import.tracks = calloc(n_inputs, sizeof *import.tracks);
    import.names = weft_strtab_new();
    enum weft_code code =
        import.tracks && import.names
            ? import_all(&import, err)
            : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu inputs", n_inputs);
    for (size_t k = 0; import.tracks && k < n_inputs; k++) {
        struct track *track = &import.tracks[k];
        for (size_t t = 0; t < track->threads.n; t++)
            WEFT_VEC_FINI(&track->threads.items[t].calls);
        WEFT_VEC_FINI(&track->threads);
        weft_map_free(track->tids);
        weft_strtab_free(track->names);
        free(track->keys);
    }
    free(import.tracks);
    weft_strtab_free(import.names);
    return code;
}
