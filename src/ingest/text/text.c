/* SPDX-License-Identifier: MIT
 *
 * Text traces "direction name ns".
 *
 * Each file is read twice: first to check every line, to find the smallest time and the names, then
 * to deliver the calls. Names get their numbers file by file, so that the numbers do not depend on
 * the workers.
 */
#include "ingest/text/text.h"

#include "base/checked.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_CALLS = 4096, SHOWN_BYTES = 40 };

/* Bytes between two reports of progress and looks at cancellation. */
#define STEP_BYTES (UINT64_C(1) << 20)

/* Times further apart than this (146 years) are no times. */
#define MOST_SPAN_NS (UINT64_C(1) << 62)

struct line {
    uint8_t kind; /* WEFT_CALL_ENTER or WEFT_CALL_EXIT */
    struct weft_str name;
    uint64_t time_ns;
};

/* What is known about one file. */
struct track {
    struct weft_str thread_name;
    uint64_t tid;
    uint32_t generation;
    uint32_t thread_id; /* the sink's */
    uint64_t first_ns;  /* the smallest time */
    struct weft_strtab *names;
    uint32_t *keys; /* function key of each name */
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

struct batch {
    struct weft_call_event *calls; /* BATCH_CALLS */
    size_t n_calls;
    uint64_t last_ns; /* largest time so far */
};

/* Walks the lines of one file. */
struct walk {
    const char *bytes;
    uint64_t n_bytes;
    uint64_t at_off;
    uint64_t line_off;
    uint64_t line_number;
};

static struct weft_progress *progress_of(const struct import *import)
{
    return import->run ? import->run->progress : NULL;
}

/* ---- lines ------------------------------------------------------------------------------------
 */

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

static bool parse_ns(const char *digits, const char *end, uint64_t *time_ns)
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
    *time_ns = sum;
    return true;
}

/* Parses a trimmed line; on failure says what was expected. */
static bool parse_line(struct weft_str text, struct line *line, const char **expected)
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
    line->name = (struct weft_str){ .bytes = at + 2, .n_bytes = (size_t)(last - 1 - (at + 2)) };
    while (line->name.n_bytes && is_blank(*line->name.bytes)) {
        line->name.bytes++;
        line->name.n_bytes--;
    }
    line->name = trim_end(line->name);
    *expected = "a name between the direction and the time";
    if (line->name.n_bytes == 0)
        return false;
    *expected = "a time in whole ns, below 2^64, at the end";
    return parse_ns(last, end, &line->time_ns);
}

/* The next line that is not empty, trimmed; false at the end. Empty lines are allowed only there.
 */
static enum weft_code next_line(struct walk *walk, struct weft_str *text, bool *is_end,
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
        if (text->n_bytes && empty_number)
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

static enum weft_code next_record(struct walk *walk, struct line *line, bool *is_end,
                                  struct weft_err *err)
{
    struct weft_str text;
    const char *expected;
    enum weft_code code = next_line(walk, &text, is_end, err);
    if (code != WEFT_OK || *is_end || parse_line(text, line, &expected))
        return code;
    return weft_fail_line(err, WEFT_E_MALFORMED, walk->line_off, walk->line_number,
                          "expected %s, found \"%.*s\"", expected,
                          text.n_bytes < SHOWN_BYTES ? (int)text.n_bytes : SHOWN_BYTES, text.bytes);
}

static struct walk walk_of(const struct weft_text_input *input)
{
    return (struct walk){ .bytes = (const char *)input->file.bytes,
                          .n_bytes = input->file.n_bytes };
}

bool weft_text_sniff(const uint8_t *bytes, size_t n_bytes)
{
    struct walk walk = { .bytes = (const char *)bytes, .n_bytes = n_bytes };
    struct weft_str text;
    bool is_end = true;
    if (n_bytes == 0 || next_line(&walk, &text, &is_end, NULL) != WEFT_OK || is_end)
        return false;
    struct line line;
    const char *expected;
    return walk.line_number == 1 && parse_line(text, &line, &expected);
}

/* ---- first reading ----------------------------------------------------------------------------
 */

static enum weft_code check_cancel(const struct import *import, struct weft_err *err)
{
    if (weft_progress_is_cancelled(progress_of(import)))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    return WEFT_OK;
}

static enum weft_code survey_lines(struct import *import, size_t item, struct weft_err *err)
{
    struct track *track = &import->tracks[item];
    struct walk walk = walk_of(&import->inputs[item]);
    uint64_t reported_off = 0;
    track->first_ns = UINT64_MAX;
    for (;;) {
        struct line line;
        bool is_end;
        uint32_t name_id;
        enum weft_code code = next_record(&walk, &line, &is_end, err);
        if (code != WEFT_OK || is_end)
            return code;
        code = weft_strtab_intern(track->names, line.name, &name_id, err);
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
    if (!track->names)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "names");
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

/* Appends the call of a line to the batch. */
static enum weft_code append_call(const struct import *import, struct track *track,
                                  const struct walk *walk, const struct line *line,
                                  struct batch *batch, struct weft_err *err)
{
    uint32_t name_id;
    uint64_t time_ns = line->time_ns - import->zero_ns;
    if (time_ns > MOST_SPAN_NS)
        return weft_fail_line(err, WEFT_E_MALFORMED, walk->line_off, walk->line_number,
                              "expected times within 146 years, found %" PRIu64 " and %" PRIu64,
                              import->zero_ns, line->time_ns);
    enum weft_code code = weft_strtab_intern(track->names, line->name, &name_id, err);
    if (code != WEFT_OK)
        return code;
    batch->last_ns = weft_max_u64(batch->last_ns, time_ns);
    batch->calls[batch->n_calls++] = (struct weft_call_event){ .time_ns = time_ns,
                                                               .function_key = track->keys[name_id],
                                                               .kind = line->kind };
    return WEFT_OK;
}

static enum weft_code flush(const struct import *import, const struct track *track,
                            struct batch *batch, struct weft_err *err)
{
    struct weft_sink *sink = import->sink;
    enum weft_code code = check_cancel(import, err);
    if (code == WEFT_OK && batch->n_calls)
        code = sink->ops->calls(sink, track->thread_id, batch->calls, batch->n_calls, err);
    batch->n_calls = 0;
    return code;
}

static enum weft_code deliver_lines(struct import *import, size_t item, struct batch *batch,
                                    struct weft_err *err)
{
    struct track *track = &import->tracks[item];
    struct walk walk = walk_of(&import->inputs[item]);
    for (;;) {
        struct line line;
        bool is_end;
        enum weft_code code = next_record(&walk, &line, &is_end, err);
        if (code == WEFT_OK && !is_end)
            code = append_call(import, track, &walk, &line, batch, err);
        if (code == WEFT_OK && (is_end || batch->n_calls == BATCH_CALLS))
            code = flush(import, track, batch, err);
        if (code != WEFT_OK || is_end)
            return code;
    }
}

static enum weft_code deliver(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    (void)worker;
    struct import *import = context;
    struct weft_sink *sink = import->sink;
    struct batch batch = { .calls = calloc(BATCH_CALLS, sizeof *batch.calls) };
    if (!batch.calls)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "batch of calls");
    enum weft_code code = deliver_lines(import, item, &batch, err);
    if (code == WEFT_OK)
        code = sink->ops->thread_end(sink, import->tracks[item].thread_id, batch.last_ns, err);
    free(batch.calls);
    weft_progress_add(progress_of(import), import->inputs[item].file.n_bytes);
    if (code != WEFT_OK)
        weft_in_file(err, import->inputs[item].path);
    return code;
}

/* ---- announcements ----------------------------------------------------------------------------
 */

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
    track->thread_name = (struct weft_str){ .bytes = base, .n_bytes = n_bytes };
    const char *end = base + n_bytes;
    while (end > base && (end[-1] < '0' || end[-1] > '9'))
        end--;
    const char *digits = end;
    while (digits > base && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    if (!parse_ns(digits, end, &track->tid))
        track->tid = item + 1;
    for (size_t k = 0; k < item; k++)
        track->generation += import->tracks[k].tid == track->tid;
}

static enum weft_code number_names(struct import *import, struct track *track, struct weft_err *err)
{
    uint32_t n_names = weft_strtab_count(track->names);
    track->keys = calloc(n_names, sizeof *track->keys);
    if (!track->keys)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "%" PRIu32 " names", n_names);
    for (uint32_t id = 0; id < n_names; id++) {
        struct weft_str name = weft_strtab_get(track->names, id);
        enum weft_code code = weft_strtab_intern(import->names, name, &track->keys[id], err);
        if (code != WEFT_OK)
            return code;
    }
    return WEFT_OK;
}

static enum weft_code announce_functions(struct import *import, struct weft_err *err)
{
    for (uint32_t id = 0; id < weft_strtab_count(import->names); id++) {
        const struct weft_function_info info = { .key = id,
                                                 .name = weft_strtab_get(import->names, id) };
        enum weft_code code = import->sink->ops->function(import->sink, &info, err);
        if (code != WEFT_OK)
            return code;
    }
    return WEFT_OK;
}

static enum weft_code announce_threads(struct import *import, struct weft_err *err)
{
    for (size_t k = 0; k < import->n_inputs; k++) {
        struct track *track = &import->tracks[k];
        const struct weft_thread_info info = { .tid = track->tid,
                                               .generation = track->generation,
                                               .name = track->thread_name };
        enum weft_code code =
            import->sink->ops->thread(import->sink, &info, &track->thread_id, err);
        if (code != WEFT_OK)
            return code;
    }
    return WEFT_OK;
}

static enum weft_code announce(struct import *import, struct weft_err *err)
{
    const struct weft_sink_begin begin = { .format = WEFT_STR("text"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = UINT64_C(1000000000),
                                      .zero_ticks = import->zero_ns };
    enum weft_code code = import->sink->ops->begin(import->sink, &begin, err);
    if (code == WEFT_OK)
        code = import->sink->ops->clock(import->sink, &clock, err);
    if (code == WEFT_OK)
        code = announce_functions(import, err);
    if (code == WEFT_OK)
        code = announce_threads(import, err);
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
        enum weft_code code = work(import, k, 0, err);
        if (code != WEFT_OK)
            return code;
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
    if (code == WEFT_OK)
        code = announce(import, err);
    if (code == WEFT_OK)
        code = for_each_input(import, deliver, err);
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
            : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "%zu inputs", n_inputs);
    for (size_t k = 0; import.tracks && k < n_inputs; k++) {
        weft_strtab_free(import.tracks[k].names);
        free(import.tracks[k].keys);
    }
    free(import.tracks);
    weft_strtab_free(import.names);
    return code;
}
