/* SPDX-License-Identifier: MIT
 *
 * Drives an export format over the threads of a trace.
 */
#include "render/export/export.h"

#include "base/map.h"
#include "model/calls/scan.h"
#include "model/events.h"
#include "render/export/exporter.h"
#include "render/json/json.h"
#include "render/json/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS_BETWEEN_CHECKS = 1024 };

#define ALL_KINDS ((UINT32_C(1) << WEFT_EVENT_KINDS) - 1)
#define CALL_ARGS_KIND (UINT32_C(1) << WEFT_EVENT_CALL_ARGS)

static const struct weft_export_format_ops *const formats[WEFT_EXPORT_FORMATS] = {
    [WEFT_EXPORT_CHROME] = &weft_export_chrome,
    [WEFT_EXPORT_PERFETTO] = &weft_export_perfetto,
    [WEFT_EXPORT_FOLDED] = &weft_export_folded,
    [WEFT_EXPORT_CSV] = &weft_export_csv,
    [WEFT_EXPORT_SPEEDSCOPE] = &weft_export_speedscope,
};

/* ---- what formats share ---------------------------------------------------------------------- */

void weft_exporter_no_memory(struct weft_exporter *exporter)
{
    struct weft_err err = { 0 };
    (void)weft_no_memory(&err, "an export");
    weft_output_fail(exporter->out, &err);
}

struct weft_str weft_exporter_make_label(struct weft_exporter *exporter, uint32_t function_id)
{
    struct weft_str *label = &exporter->labels[function_id];
    weft_output_clear(exporter->scratch);
    formats[exporter->opts->format]->label(exporter, function_id);
    *label = weft_arena_copy(exporter->arena, weft_output_held(exporter->scratch));
    if (!label->bytes || weft_output_has_failed(exporter->scratch)) {
        weft_exporter_no_memory(exporter);
        return WEFT_STR("");
    }
    return *label;
}

void weft_put_number(struct weft_output *out, uint64_t value)
{
    char digits[WEFT_PUT_U64_BYTES];
    weft_output_write(out, digits, (size_t)(weft_put_u64(digits, value) - digits));
}

/* One text of arguments; texts that are no JSON objects become the value of "args", "args1" ... */
static bool put_text(struct weft_output *out, struct weft_str text, const char *separator,
                     unsigned *n_other)
{
    struct weft_str members;
    bool is_valid = weft_json_text_is_valid(text);
    if (is_valid && weft_json_text_members(text, &members)) {
        if (members.n_bytes == 0)
            return false;
        weft_output_text(out, separator);
        weft_output_write(out, members.bytes, members.n_bytes);
        return true;
    }
    weft_output_printf(out, *n_other ? "%s\"args%u\":" : "%s\"args\":", separator, *n_other);
    (*n_other)++;
    if (is_valid)
        weft_output_write(out, text.bytes, text.n_bytes);
    else
        weft_json_quoted(out, text);
    return true;
}

bool weft_put_json_args(struct weft_output *out, const struct weft_walk_call *call)
{
    bool has_any = false;
    unsigned n_other = 0;
    for (size_t i = 0; i < call->n_arg_texts; i++)
        has_any = put_text(out, call->arg_texts[i], has_any ? "," : "", &n_other) || has_any;
    for (size_t i = 0; i < call->n_args; i++) {
        weft_output_printf(out, "%s\"arg%zu\":%" PRIu64, has_any ? "," : "", i, call->args[i]);
        has_any = true;
    }
    return has_any;
}

void weft_put_flags(struct weft_output *out, uint32_t flags, const char *quote,
                    const char *separator)
{
    const char *before = "";
    for (unsigned i = 0; i < WEFT_CALL_N_FLAGS; i++)
        if (flags >> i & 1) {
            weft_output_printf(out, "%s%s%s%s", before, quote, weft_call_flag_name(i), quote);
            before = separator;
        }
}

/* ---- threads --------------------------------------------------------------------------------- */

struct driver {
    const struct weft_export_format_ops *format;
    struct weft_exporter exporter;
    size_t n_threads;
    struct weft_arena *room; /* of one call or event */
    bool *has_twin;          /* by position in the selection: another thread has the same name */
};

static uint32_t thread_at(const struct driver *driver, size_t i)
{
    const struct weft_export_opts *opts = driver->exporter.opts;
    return weft_scan_thread_id(opts->thread_ids, opts->n_thread_ids, i);
}

/* Which threads share a name. */
static enum weft_code find_twins(struct driver *driver, struct weft_err *err)
{
    struct weft_strtab *names = weft_strtab_new();
    uint32_t *name_of = calloc(driver->n_threads + 1, sizeof *name_of);
    uint32_t *n_of = calloc(driver->n_threads + 1, sizeof *n_of);
    driver->has_twin = calloc(driver->n_threads + 1, sizeof *driver->has_twin);
    enum weft_code code =
        names && name_of && n_of && driver->has_twin ? WEFT_OK : weft_no_memory(err, "an export");
    for (size_t i = 0; i < driver->n_threads && code == WEFT_OK; i++) {
        struct weft_str name =
            weft_trace_thread(driver->exporter.trace, thread_at(driver, i))->info.name;
        code = weft_strtab_intern(names, name, &name_of[i], err);
        if (code == WEFT_OK)
            n_of[name_of[i]]++;
    }
    for (size_t i = 0; i < driver->n_threads && code == WEFT_OK; i++)
        driver->has_twin[i] = n_of[name_of[i]] > 1;
    weft_strtab_free(names);
    free(name_of);
    free(n_of);
    return code;
}

/* Threads that have process and thread id in common with an earlier one. */
static enum weft_code count_merged(struct driver *driver, struct weft_err *err)
{
    struct weft_strtab *seen = weft_strtab_new();
    enum weft_code code = seen ? WEFT_OK : weft_no_memory(err, "an export");
    for (size_t i = 0; i < driver->n_threads && code == WEFT_OK; i++) {
        const struct weft_thread_info *info =
            &weft_trace_thread(driver->exporter.trace, thread_at(driver, i))->info;
        const uint64_t identity[] = { info->pid, info->tid };
        uint32_t id, n_before = weft_strtab_count(seen);
        code = weft_strtab_intern(
            seen, (struct weft_str){ (const char *)identity, sizeof identity }, &id, err);
        driver->exporter.totals->threads_merged += code == WEFT_OK && id < n_before;
    }
    weft_strtab_free(seen);
    return code;
}

static enum weft_code label_thread(struct driver *driver, size_t i, struct weft_err *err)
{
    struct weft_exporter *exporter = &driver->exporter;
    exporter->thread_id = thread_at(driver, i);
    exporter->thread = weft_trace_thread(exporter->trace, exporter->thread_id);
    exporter->thread_label = exporter->thread->info.name;
    if (!driver->has_twin[i])
        return WEFT_OK;
    weft_output_clear(exporter->scratch);
    weft_output_write(exporter->scratch, exporter->thread_label.bytes,
                      exporter->thread_label.n_bytes);
    weft_output_printf(exporter->scratch, " [%" PRIu64 "]", exporter->thread->info.tid);
    exporter->thread_label = weft_arena_copy(exporter->arena, weft_output_held(exporter->scratch));
    return exporter->thread_label.bytes ? WEFT_OK : weft_no_memory(err, "an export");
}

/* ---- calls and events ------------------------------------------------------------------------ */

static bool is_of_samples(const struct driver *driver)
{
    const struct weft_export_opts *opts = driver->exporter.opts;
    return opts->format == WEFT_EXPORT_FOLDED && opts->weight >= WEFT_EXPORT_SAMPLES;
}

/* The kinds of events that are written. */
static uint32_t event_kinds(const struct driver *driver)
{
    bool is_of_calls =
        driver->exporter.opts->format == WEFT_EXPORT_FOLDED && !is_of_samples(driver);
    return is_of_calls ? 0 : driver->format->event_kinds;
}

/* Texts of the trace without the folders of paths, if that was asked for; the arena of one call or
 * event. */
static struct weft_str shown(struct driver *driver, struct weft_str text)
{
    const struct weft_private *rules = weft_trace_private(driver->exporter.trace);
    if (!rules || !weft_private_has_path(rules, text))
        return text;
    const struct weft_str made = weft_private_text(rules, driver->room, text);
    if (!made.bytes)
        weft_exporter_no_memory(&driver->exporter);
    return made;
}

static void enter(struct driver *driver, const struct weft_walk_call *call)
{
    struct weft_walk_call copy = *call;
    const bool hides = weft_trace_private(driver->exporter.trace) && call->n_arg_texts > 0;
    struct weft_str *texts =
        hides ? WEFT_ARENA_NEW(driver->room, call->n_arg_texts, struct weft_str) : NULL;
    for (size_t k = 0; texts && k < call->n_arg_texts; k++)
        texts[k] = shown(driver, call->arg_texts[k]);
    if (hides) {
        copy.arg_texts = texts;
        copy.n_arg_texts = texts ? call->n_arg_texts : 0;
        if (!texts)
            weft_exporter_no_memory(&driver->exporter);
    }
    driver->format->enter(&driver->exporter, &copy);
    if (hides)
        weft_arena_reset(driver->room);
}

static void put_event(struct driver *driver, const struct weft_event *event)
{
    struct weft_event copy = *event;
    copy.name = shown(driver, event->name);
    copy.category = shown(driver, event->category);
    copy.payload = shown(driver, event->payload);
    driver->format->event(&driver->exporter, &copy);
    weft_arena_reset(driver->room);
}

static enum weft_code write_steps(struct driver *driver, struct weft_walk *walk,
                                  struct weft_err *err)
{
    const struct weft_export_format_ops *format = driver->format;
    struct weft_exporter *exporter = &driver->exporter;
    struct weft_export_totals *totals = exporter->totals;
    enum weft_step step = WEFT_STEP_ENTER;
    struct weft_walk_call call;
    for (uint64_t n_steps = 1;; n_steps++) {
        enum weft_code code = weft_walk_next(walk, &step, &call, err);
        bool is_check = n_steps % STEPS_BETWEEN_CHECKS == 0;
        if (code != WEFT_OK || step == WEFT_STEP_END ||
            (is_check && weft_output_has_failed(exporter->out)))
            return code;
        if (step == WEFT_STEP_ENTER) {
            totals->calls++;
            totals->args_lost += !format->wants_args && call.n_args > 0;
            enter(driver, &call);
        } else if (format->leave) {
            format->leave(exporter, &call);
        }
    }
}

static enum weft_code write_calls(struct driver *driver, struct weft_err *err)
{
    const struct weft_export_opts *opts = driver->exporter.opts;
    const struct weft_walk_opts walk_opts = { .window = opts->window,
                                              .with_self = driver->format->wants_self,
                                              .with_args = driver->format->wants_args,
                                              .progress = opts->progress };
    struct weft_walk *walk;
    enum weft_code code =
        weft_walk_open(driver->exporter.trace, driver->exporter.thread_id, &walk_opts, &walk, err);
    WEFT_THEN(code, write_steps(driver, walk, err));
    weft_walk_close(walk);
    return code;
}

static enum weft_code write_events(struct driver *driver, struct weft_err *err)
{
    const struct weft_export_format_ops *format = driver->format;
    struct weft_exporter *exporter = &driver->exporter;
    const struct weft_window *window = &exporter->opts->window;
    uint32_t kinds = format->wants_args ? ALL_KINDS & ~CALL_ARGS_KIND : ALL_KINDS;
    const struct weft_event *event = NULL;
    struct weft_events *events;
    enum weft_code code = weft_events_open(exporter->trace, exporter->thread_id, kinds,
                                           window->from_ns, window->to_ns, &events, err);
    while (code == WEFT_OK && !weft_output_has_failed(exporter->out)) {
        code = weft_events_next(events, &event, err);
        if (code != WEFT_OK || !event)
            break;
        if (event_kinds(driver) >> event->kind & 1) {
            exporter->totals->events++;
            put_event(driver, event);
        } else {
            exporter->totals->events_lost++;
        }
    }
    weft_events_close(events);
    return code;
}

static enum weft_code write_thread(struct driver *driver, size_t i, struct weft_err *err)
{
    const struct weft_export_format_ops *format = driver->format;
    struct weft_exporter *exporter = &driver->exporter;
    enum weft_code code = label_thread(driver, i, err);
    if (code == WEFT_OK && format->thread_begin)
        format->thread_begin(exporter);
    if (code == WEFT_OK && !is_of_samples(driver))
        code = write_calls(driver, err);
    if (code == WEFT_OK && format->calls_end)
        format->calls_end(exporter);
    WEFT_THEN(code, write_events(driver, err));
    if (code == WEFT_OK && format->thread_end)
        format->thread_end(exporter);
    if (code != WEFT_OK)
        (void)weft_within(err, "thread %" PRIu64, exporter->thread->info.tid);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void start_progress(const struct driver *driver)
{
    const struct weft_export_opts *opts = driver->exporter.opts;
    uint64_t n_calls = 0;
    for (size_t i = 0; i < driver->n_threads; i++)
        n_calls += weft_walk_calls(opts->trace, thread_at(driver, i), &opts->window);
    weft_progress_start(opts->progress, "exporting", "calls",
                        n_calls * (driver->format->wants_self ? 2 : 1));
}

static enum weft_code write_threads(struct driver *driver, struct weft_err *err)
{
    const struct weft_export_format_ops *format = driver->format;
    struct weft_exporter *exporter = &driver->exporter;
    enum weft_code code = WEFT_OK;
    start_progress(driver);
    if (format->begin)
        format->begin(exporter);
    for (size_t i = 0; i < driver->n_threads && code == WEFT_OK; i++)
        if (!weft_output_has_failed(exporter->out))
            code = write_thread(driver, i, err);
    if (code == WEFT_OK && format->end)
        format->end(exporter);
    return code;
}

static enum weft_code prepare(struct driver *driver, struct weft_err *err)
{
    struct weft_exporter *exporter = &driver->exporter;
    const struct weft_export_opts *opts = exporter->opts;
    enum weft_code code = weft_scan_check(opts->trace, opts->thread_ids, opts->n_thread_ids, err);
    WEFT_THEN(code, weft_output_to_memory(&exporter->scratch, err));
    if (code != WEFT_OK)
        return code;
    driver->n_threads = weft_scan_n_threads(opts->trace, opts->thread_ids, opts->n_thread_ids);
    exporter->arena = weft_arena_new(0);
    exporter->state = calloc(1, driver->format->state_bytes + 1);
    exporter->labels =
        calloc((size_t)weft_trace_n_functions(opts->trace) + 1, sizeof *exporter->labels);
    driver->room = weft_arena_new(0);
    if (!driver->room || !exporter->arena || !exporter->state || !exporter->labels)
        return weft_no_memory(err, "an export");
    code = find_twins(driver, err);
    if (code == WEFT_OK && driver->format->merges_threads)
        code = count_merged(driver, err);
    return code;
}

enum weft_code weft_export_write(const struct weft_export_opts *opts, struct weft_output *out,
                                 struct weft_export_totals *totals, struct weft_err *err)
{
    struct driver driver = {
        .format = formats[opts->format],
        .exporter = { .opts = opts, .trace = opts->trace, .out = out, .totals = totals }
    };
    struct weft_exporter *exporter = &driver.exporter;
    *totals = (struct weft_export_totals){ 0 };
    enum weft_code code = prepare(&driver, err);
    WEFT_THEN(code, write_threads(&driver, err));
    if (code == WEFT_OK && weft_output_has_failed(exporter->scratch))
        code = weft_no_memory(err, "an export");
    if (driver.format->fini && exporter->state)
        driver.format->fini(exporter);
    weft_output_abort(exporter->scratch);
    weft_output_release(out, exporter->arena);
    if (driver.room)
        weft_output_release(out, driver.room);
    free(exporter->state);
    free(exporter->labels);
    free(driver.has_twin);
    return code;
}
