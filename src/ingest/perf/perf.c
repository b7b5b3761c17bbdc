/* SPDX-License-Identifier: MIT
 *
 * The importer's frame: two passes over the ordered records (kernel/readings.c), samples with their
 * stacks, instants of unknown tracepoints, clock and notes. Records that are not samples (mmap,
 * comm, fork, switch) are in records.c.
 */
#include "ingest/perf/perf.h"

#include "base/checked.h"
#include "ingest/perf/convert.h"
#include "kernel/bytes.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_QUEUED = 1 << 23, MOST_KEPT = 1 << 20 };
#define MOST_UNPACKED_BYTES (UINT64_C(1) << 40)

enum { CLOCK_IS_REALTIME = 0, CLOCK_IS_MONOTONIC = 1 };

/* ---- threads ----------------------------------------------------------------------------------
 */

enum weft_code perf_find_thread(struct perf_convert *convert, const struct perf_sample *sample,
                                struct kernel_now *now)
{
    struct kernel_threads *threads = &convert->kernel.threads;
    const struct kernel_details details = { .tid = (uint32_t)sample->tid,
                                            .pid = (uint32_t)sample->pid,
                                            .has_tid = sample->has_tid,
                                            .has_pid = sample->pid > 0 };
    struct kernel_cpu *cpu = kernel_cpu_of(threads, 0, now->cpu);
    if (cpu && details.has_tid && !convert->kernel.is_survey &&
        kernel_find_running(threads, now, cpu, details.tid))
        return WEFT_OK;
    if (cpu)
        return kernel_find_thread(&convert->kernel, now, cpu, &details);
    if (!details.has_tid) {
        now->thread = kernel_thread_pseudo(threads, 0, 0, 0, 0, WEFT_STR("unknown thread"));
        return now->thread == WEFT_ID_NONE ? kernel_no_memory(&convert->kernel) : WEFT_OK;
    }
    now->thread = kernel_thread_of(threads, 0, details.tid, now->cpu, false);
    return now->thread == WEFT_ID_NONE
               ? kernel_no_memory(&convert->kernel)
               : kernel_thread_details(&convert->kernel, now->thread, &details);
}

/* ---- samples ----------------------------------------------------------------------------------
 */

/* The name of an event: its tracepoint's, or what perf calls it. */
static struct weft_str name_of(const struct perf_attr *attr, char *text, size_t n_text)
{
    if (attr->format)
        return attr->format->name;
    if (attr->name.n_bytes)
        return attr->name;
    (void)snprintf(text, n_text, "%s#%" PRIu64,
                   attr->type == PERF_TYPE_IS_TRACEPOINT ? "tracepoint" : "event", attr->config);
    return weft_str_of(text);
}

/* Shares of modes follow from samples only if both are sampled. */
static enum weft_sample_mode mode_of(const struct perf_attr *attr, uint16_t misc)
{
    enum { MISC_CPU_MODE = 7, MISC_KERNEL = 1, MISC_USER = 2 };
    const uint16_t mode = misc & MISC_CPU_MODE;
    if (!attr->has_both_modes)
        return WEFT_SAMPLE_MODE_UNKNOWN;
    return mode == MISC_KERNEL ? WEFT_SAMPLE_IN_KERNEL
           : mode == MISC_USER ? WEFT_SAMPLE_IN_USER
                               : WEFT_SAMPLE_MODE_UNKNOWN;
}

/* A tracepoint's stack has no weight: it says where, not how long. */
static enum weft_code deliver_stack(struct perf_convert *convert, const struct kernel_now *now,
                                    const struct perf_sample *sample, uint16_t misc)
{
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_SAMPLE);
    const bool is_tracepoint = sample->attr->type == PERF_TYPE_IS_TRACEPOINT;
    char text[64];
    if (!convert->kernel.is_survey &&
        !perf_stack_of(&convert->stacks, sample, misc, convert->file->is_big, &event.name))
        return kernel_no_memory(&convert->kernel);
    event.category = name_of(sample->attr, text, sizeof text);
    event.value = is_tracepoint ? 0 : sample->period;
    event.prev_state = mode_of(sample->attr, misc);
    return kernel_deliver(&convert->kernel, now->thread, &event);
}

static enum weft_code deliver_instant(struct perf_convert *convert, const struct kernel_now *now,
                                      const struct perf_sample *sample)
{
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_INSTANT);
    const struct kernel_format *format = sample->attr->format;
    char text[64];
    event.name = name_of(sample->attr, text, sizeof text);
    if (format && !convert->kernel.is_survey) {
        kernel_format_json(&convert->file->formats, format, &sample->raw, &convert->json);
        event.payload = (struct weft_str){ convert->json.bytes, convert->json.n_bytes };
        if (convert->json.has_failed)
            return kernel_no_memory(&convert->kernel);
    }
    convert->n_formless += !format && !convert->kernel.is_survey;
    return kernel_deliver(&convert->kernel, now->thread, &event);
}

static enum weft_code convert_sample(struct perf_convert *convert, const struct perf_record *record,
                                     uint64_t time_ns)
{
    static const struct kernel_known unknown = { .meaning = KERNEL_MEANS_INSTANT };
    struct perf_sample sample;
    if (!perf_sample_read(&convert->file->attrs, record->body, record->n_body,
                          convert->file->is_big, &sample)) {
        convert->n_short += !convert->kernel.is_survey;
        return WEFT_OK;
    }
    struct kernel_now now = { .known = &unknown,
                              .time_ns = kernel_time_since(time_ns, convert->zero_ns),
                              .cpu = sample.cpu,
                              .abi = convert->file->abi };
    const struct kernel_format *format = sample.attr->format;
    if (format)
        kernel_format_read(&convert->file->formats, format, &sample.raw, convert->kernel.is_survey,
                           &now);
    if (format && format->pid && !sample.has_tid) {
        sample.tid =
            (int32_t)kernel_field_number(&convert->file->formats, format->pid, &sample.raw);
        sample.has_tid = sample.tid >= 0;
    }
    convert->has_idle |= sample.tid == 0;
    const bool is_tracepoint = sample.attr->type == PERF_TYPE_IS_TRACEPOINT;
    enum weft_code code = perf_find_thread(convert, &sample, &now);
    if (code == WEFT_OK && (!is_tracepoint || sample.n_chain > 0 || sample.n_stack > 0))
        code = deliver_stack(convert, &now, &sample, record->misc);
    if (code != WEFT_OK || !is_tracepoint)
        return code;
    code = kernel_convert_event(&convert->kernel, &now);
    return code == WEFT_OK && kernel_is_point(now.known) ? deliver_instant(convert, &now, &sample)
                                                         : code;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static enum weft_code read_next(void *importer, bool *is_end)
{
    struct perf_convert *convert = importer;
    struct perf_record record;
    uint64_t time_ns = 0;
    const enum weft_code code =
        perf_order_next(&convert->order, &record, &time_ns, is_end, convert->kernel.err);
    if (code != WEFT_OK || *is_end)
        return code;
    if (time_ns > 0 && !convert->has_zero) {
        convert->has_zero = true;
        convert->zero_ns = time_ns;
    }
    return record.type == PERF_SAMPLE ? convert_sample(convert, &record, time_ns)
                                      : perf_convert_record(convert, &record, time_ns);
}

/* ---- announcements ----------------------------------------------------------------------------
 */

static enum weft_code announce_begin(struct perf_convert *convert)
{
    const struct perf_file *file = convert->file;
    char details[256];
    char cpus[32] = "";
    if (file->n_cpus)
        (void)snprintf(cpus, sizeof cpus, ", %" PRIu32 " CPUs", file->n_cpus);
    (void)snprintf(
        details, sizeof details, "%zu events%s%s%.*s%s%.*s%s", file->attrs.n, cpus,
        file->os_release.n_bytes ? ", kernel " : "",
        (int)weft_min_u64(file->os_release.n_bytes, 64),
        file->os_release.n_bytes ? file->os_release.bytes : "",
        file->version.n_bytes ? ", perf " : "", (int)weft_min_u64(file->version.n_bytes, 64),
        file->version.n_bytes ? file->version.bytes : "", file->is_pipe ? ", from a pipe" : "");
    struct kernel_calls calls = { 0 };
    for (size_t k = 0; k < file->attrs.n; k++)
        if (file->attrs.items[k].format)
            kernel_calls_add(&calls, &file->attrs.items[k].format->known);
    const struct weft_sink_begin begin = { .has_some_calls = kernel_calls_are_some(&calls),
                                           .format = WEFT_STR("perf.data"),
                                           .details = weft_str_of(details) };
    return convert->kernel.sink->ops->begin(convert->kernel.sink, &begin, convert->kernel.err);
}

/* perf's own clock is none that others have; -k names one. */
static enum weft_code announce_clock(struct perf_convert *convert)
{
    const struct perf_file *file = convert->file;
    const struct perf_attr *attr = &file->attrs.items[0];
    const uint64_t zero_ns = convert->zero_ns;
    struct weft_clock clock = { .frequency_hz = UINT64_C(1000000000), .zero_ticks = zero_ns };
    if (attr->has_clockid && attr->clockid == CLOCK_IS_MONOTONIC) {
        clock.has_monotonic = true;
        clock.monotonic_ns = zero_ns;
    }
    if (attr->has_clockid && attr->clockid == CLOCK_IS_REALTIME) {
        clock.has_realtime = true;
        clock.realtime_ns = zero_ns;
    } else if (file->has_wall_clock) {
        clock.has_realtime = true;
        clock.realtime_ns = file->wall_ns + (zero_ns - file->clock_ns);
    }
    return convert->kernel.sink->ops->clock(convert->kernel.sink, &clock, convert->kernel.err);
}

/* ---- notes ------------------------------------------------------------------------------------
 */

/* Stacks that could not be walked to their end, and what helps. */
static enum weft_code note_stacks(struct perf_convert *convert)
{
    const struct perf_unwind_ends *ends = perf_unwind_ends(convert->stacks.unwinder);
    const struct weft_symbols *programs = convert->stacks.symbols.programs;
    char detail[512];
    struct weft_str path = { 0 };
    const char *why = "which is no file";
    if (ends->module != WEFT_ID_NONE) {
        path = weft_symbols_path(programs, ends->module);
        why = weft_symbols_why(weft_symbols_state(programs, ends->module));
    }
    (void)snprintf(detail, sizeof detail, "stacks of users that end early, the first in %.*s: %s",
                   path.n_bytes ? (int)weft_min_u64(path.n_bytes, 256) : 7,
                   path.n_bytes ? path.bytes : "a place", why);
    enum weft_code code = kernel_note(&convert->kernel, WEFT_NOTE_NOT_KEPT, ends->n_no_program,
                                      WEFT_NO_OFFSET, detail);
    WEFT_THEN(code,
              kernel_note(&convert->kernel, WEFT_NOTE_NOT_KEPT, ends->n_no_stack, WEFT_NO_OFFSET,
                          "user stacks truncated: longer than their copies; perf record "
                          "--call-graph dwarf,65528 copies more"));
    WEFT_THEN(code, kernel_note(
                        &convert->kernel, WEFT_NOTE_NOT_KEPT, convert->stacks.n_cut, WEFT_NO_OFFSET,
                        "stacks of users whose frame pointers lead out of the program; perf "
                        "record --call-graph dwarf needs none"));
    return code;
}

static enum weft_code note_all(struct perf_convert *convert)
{
    const struct perf_file *file = convert->file;
    char damage[160] = "";
    /* Of one process alone all but its own switches are missing anyway. */
    const uint64_t n_inferred =
        convert->has_switches && convert->has_idle ? convert->kernel.threads.n_inferred : 0;
    if (file->unpack_damage)
        (void)snprintf(damage, sizeof damage, "packed records: %s", file->unpack_damage);
    const struct {
        enum weft_note_kind kind;
        uint64_t count, at_off;
        const char *detail;
    } notes[] = {
        { WEFT_NOTE_BAD_RECORD, file->n_bad_bytes, file->bad_off, damage },
        { WEFT_NOTE_BAD_RECORD, convert->n_short, WEFT_NO_OFFSET, "samples that are too short" },
        { WEFT_NOTE_TRUNCATED, file->n_missing_bytes, WEFT_NO_OFFSET, "" },
        { WEFT_NOTE_UNKNOWN_RECORD, file->n_unknown_records, WEFT_NO_OFFSET, "" },
        { WEFT_NOTE_FORMLESS, convert->n_formless, WEFT_NO_OFFSET,
          "tracepoints, among them switches if these were recorded" },
        { WEFT_NOTE_UNKNOWN_RECORD, file->tracing.n_bad_formats, WEFT_NO_OFFSET,
          "formats of tracepoints" },
        { WEFT_NOTE_NOT_KEPT, file->n_aux, WEFT_NO_OFFSET, "hardware traces of the CPU" },
        { WEFT_NOTE_LOST_RECORDS, convert->n_lost, WEFT_NO_OFFSET, "perf read them too late" },
        { WEFT_NOTE_LOST_RECORDS, convert->n_lost_samples, WEFT_NO_OFFSET,
          "samples lost by the CPU or the kernel" },
        { WEFT_NOTE_LOST_RECORDS, convert->n_throttled, WEFT_NO_OFFSET,
          "times that the kernel throttled samples" },
        { WEFT_NOTE_LOST_SWITCHES, n_inferred, WEFT_NO_OFFSET, "" },
        { WEFT_NOTE_TIME_BACKWARD, convert->order.n_late, WEFT_NO_OFFSET, "" },
    };
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < sizeof notes / sizeof *notes; k++)
        code = kernel_note(&convert->kernel, notes[k].kind, notes[k].count, notes[k].at_off,
                           notes[k].detail);
    WEFT_THEN(code, note_stacks(convert));
    WEFT_THEN(code, kernel_libraries(&convert->kernel, &convert->stacks.symbols.folded));
    return code;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void known_init(struct kernel_known *known, enum kernel_meaning meaning, uint32_t n_fields)
{
    *known = (struct kernel_known){ .meaning = (uint8_t)meaning };
    for (uint32_t k = 0; k < KERNEL_FIELDS; k++)
        known->fields[k] = k < n_fields ? k : KERNEL_NO_FIELD;
}

/* What tracepoints record is not taken from other records too. */
static void look_at_attrs(struct perf_convert *convert)
{
    for (size_t k = 0; k < convert->file->attrs.n; k++) {
        const struct kernel_format *format = convert->file->attrs.items[k].format;
        const unsigned meaning = format ? format->known.meaning : KERNEL_MEANS_INSTANT;
        convert->has_switches |= meaning == KERNEL_MEANS_SWITCH;
        convert->has_forks |= meaning == KERNEL_MEANS_FORK;
        convert->has_exits |= meaning == KERNEL_MEANS_EXIT;
    }
    known_init(&convert->known_switch, KERNEL_MEANS_SWITCH, 3);
    known_init(&convert->known_fork, KERNEL_MEANS_FORK, 2);
    known_init(&convert->known_exit, KERNEL_MEANS_EXIT, 0);
}

static enum weft_code rewind_all(void *importer)
{
    struct perf_convert *convert = importer;
    enum weft_code code = announce_begin(convert);
    WEFT_THEN(code, announce_clock(convert));
    perf_order_rewind(&convert->order);
    return code;
}

static enum weft_code convert_all(struct perf_convert *convert, const struct weft_run *run)
{
    const struct kernel_readings readings = {
        .importer = convert, .next = read_next, .rewind = rewind_all, .unit = "events"
    };
    look_at_attrs(convert);
    enum weft_code code = kernel_formats_name(&convert->file->formats,
                                              convert->kernel.threads.names, convert->kernel.err);
    WEFT_THEN(code, kernel_read_twice(&convert->kernel, &readings, run));
    return code == WEFT_OK ? note_all(convert) : code;
}

enum weft_code weft_perf_import(const struct weft_mapped *file, const struct weft_perf_opts *given,
                                struct weft_sink *sink, const struct weft_run *run,
                                struct weft_err *err)
{
    static const struct weft_perf_opts defaults = { 0 };
    const struct weft_perf_opts *opts = given ? given : &defaults;
    const struct perf_file_opts file_opts = {
        .beside = opts->beside,
        .most_unpacked_bytes =
            opts->most_unpacked_bytes ? opts->most_unpacked_bytes : MOST_UNPACKED_BYTES,
    };
    struct perf_file opened;
    struct weft_err local = { 0 };
    struct perf_convert convert = { .file = &opened,
                                    .kernel = { .sink = sink, .err = err ? err : &local } };
    enum weft_code code = perf_file_open(file, &file_opts, run, &opened, convert.kernel.err);
    if (code == WEFT_OK) {
        const bool has_order =
            perf_order_init(&opened, opts->most_queued ? opts->most_queued : MOST_QUEUED,
                            opts->most_kept ? opts->most_kept : MOST_KEPT,
                            run ? run->memory_bytes : 0, &convert.order);
        const bool has_threads = kernel_threads_init(&convert.kernel.threads);
        const bool has_stacks = perf_stacks_init(&convert.stacks, &opened, opts->reads_programs,
                                                 opts->program_dir, run ? run->memory_bytes : 0);
        code = has_order && has_threads && has_stacks ? convert_all(&convert, run)
                                                      : kernel_no_memory(&convert.kernel);
        kernel_threads_fini(&convert.kernel.threads);
        perf_stacks_fini(&convert.stacks);
        perf_order_fini(&convert.order);
        weft_json_fini(&convert.json);
    }
    perf_file_close(&opened);
    return code;
}
