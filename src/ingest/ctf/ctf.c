/* SPDX-License-Identifier: MIT
 *
 * The importer's frame: two passes over the merged events (kernel/readings.c), the thread of each
 * event, and the notes. Kernel events go to kernel/convert.h; those of LTTng-UST to user.c; the
 * rest become instants with their fields as JSON.
 */
#include "ingest/ctf/ctf.h"

#include "base/checked.h"
#include "ingest/ctf/convert.h"
#include "ingest/ctf/folders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the thread of an event ------------------------------------------------------------------ */

/* 32 bits all set, or a negative number: unknown to the tracer. */
static struct kernel_details tell(const struct ctf_now *now)
{
    const struct ctf_known *known = now->known;
    struct kernel_details details = { 0 };
    if (known->tid) {
        details.tid = now->values[known->tid->slot].number;
        details.has_tid = (int32_t)(uint32_t)details.tid >= 0;
    }
    if (known->pid) {
        details.pid = (uint32_t)now->values[known->pid->slot].number;
        details.has_pid = (int32_t)(uint32_t)details.pid > 0;
    }
    if (known->comm) {
        const struct ctf_value *comm = &now->values[known->comm->slot];
        details.comm = (struct weft_str){ comm->bytes, (size_t)comm->n };
    }
    return details;
}

/* Without any hint there is one thread for the process, or one for the file. */
static enum weft_code find_pseudo(struct ctf_convert *convert, struct ctf_now *now)
{
    struct kernel_threads *threads = &convert->kernel.threads;
    const struct ctf_source *source = now->source;
    const struct ctf_lane *lane = now->event->lane;
    const uint32_t n_traces = (uint32_t)convert->reader->n_traces;
    now->kernel.thread =
        source->is_user ? kernel_thread_pseudo(threads, source->host_id, lane->trace->index,
                                               source->pid, source->pid, source->comm)
                        : kernel_thread_pseudo(threads, source->host_id, n_traces + lane->index,
                                               lane->index + 1, 0, weft_str_of(lane->file.name));
    return now->kernel.thread == WEFT_ID_NONE ? kernel_no_memory(&convert->kernel) : WEFT_OK;
}

static enum weft_code find_thread(struct ctf_convert *convert, struct ctf_now *now)
{
    const struct kernel_details details = tell(now);
    struct kernel_now *kernel = &now->kernel;
    if (now->source->is_kernel) {
        struct kernel_cpu *cpu =
            kernel_cpu_of(&convert->kernel.threads, kernel->host_id, kernel->cpu);
        if (cpu)
            return kernel_find_thread(&convert->kernel, kernel, cpu, &details);
    }
    if (!details.has_tid)
        return find_pseudo(convert, now);
    kernel->thread = kernel_thread_of(&convert->kernel.threads, kernel->host_id, details.tid,
                                      kernel->cpu, false);
    return kernel->thread == WEFT_ID_NONE
               ? kernel_no_memory(&convert->kernel)
               : kernel_thread_details(&convert->kernel, kernel->thread, &details);
}

/* ---- one event ------------------------------------------------------------------------------ */

/* Context fields about the thread are kept as its name and process. */
static bool is_in_thread(const struct ctf_op *op)
{
    static const char *const names[] = { "vtid", "tid", "vpid", "pid", "procname" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (weft_str_equal(op->name, weft_str_of(names[k])))
            return true;
    return false;
}

static bool is_in_packet(const struct ctf_op *op)
{
    return op->role != CTF_ROLE_NONE || weft_str_equal(op->name, WEFT_STR("cpu_id"));
}

static bool is_nothing(const struct ctf_op *op)
{
    (void)op;
    return false;
}

static enum weft_code deliver_instant(struct ctf_convert *convert, const struct ctf_now *now)
{
    const struct ctf_file *file = &now->event->lane->file;
    struct weft_event event = kernel_event_of(&now->kernel, WEFT_EVENT_INSTANT);
    if (convert->kernel.is_survey)
        return kernel_deliver(&convert->kernel, now->kernel.thread, &event);
    ctf_payload_begin(&convert->payload);
    ctf_payload_add(&convert->payload, &file->stream->packet_context, now->values, is_in_packet);
    ctf_payload_add(&convert->payload, &file->stream->event_context, now->values, is_in_thread);
    ctf_payload_add(&convert->payload, &file->event->context, now->values, is_nothing);
    ctf_payload_add(&convert->payload, &file->event->fields, now->values, is_nothing);
    event.name = file->event->class->name;
    event.payload = ctf_payload_end(&convert->payload);
    return convert->payload.text.has_failed
               ? kernel_no_memory(&convert->kernel)
               : kernel_deliver(&convert->kernel, now->kernel.thread, &event);
}

static enum weft_code convert_event(struct ctf_convert *convert, struct ctf_now *now)
{
    const unsigned meaning = now->kernel.known->meaning;
    enum weft_code code = WEFT_OK;
    if (meaning != KERNEL_MEANS_SWITCH)
        code = find_thread(convert, now);
    if (code == WEFT_OK && meaning != KERNEL_MEANS_INSTANT)
        code = meaning >= KERNEL_MEANINGS ? ctf_convert_user(convert, now)
                                          : kernel_convert_event(&convert->kernel, &now->kernel);
    if (code == WEFT_OK && (kernel_is_point(now->kernel.known) || meaning == KERNEL_MEANS_PROCESS ||
                            meaning == CTF_MEANS_MODULE || meaning == CTF_MEANS_BUILD_ID))
        code = deliver_instant(convert, now);
    return code;
}

/* ---- reading -------------------------------------------------------------------------------- */

static struct ctf_now now_of(const struct ctf_convert *convert, const struct ctf_event *event)
{
    const struct ctf_source *source = &convert->sources[event->lane->trace->index];
    const struct ctf_file *file = &event->lane->file;
    const struct ctf_known *known = &source->known[file->event->class->index];
    struct ctf_now now = { .event = event,
                           .source = source,
                           .known = known,
                           .values = file->decoder.values,
                           .kernel = {
                               .known = &known->base,
                               .time_ns = weft_sub_sat_u64(event->time_ns, convert->zero_ns),
                               .host_id = source->host_id,
                               .cpu = -1,
                               .abi = source->abi,
                               .thread = WEFT_ID_NONE,
                           } };
    if (known->cpu) {
        const uint64_t cpu = now.values[known->cpu->slot].number;
        now.kernel.cpu = cpu < KERNEL_MOST_CPUS ? (int32_t)cpu : -1;
    }
    unsigned left = kernel_fields_needed(known->base.meaning, convert->kernel.is_survey);
    for (; left; left &= left - 1) {
        const unsigned k = (unsigned)__builtin_ctz(left);
        const struct ctf_op *op = known->fields[k];
        if (op && op->kind <= CTF_OP_VARINT)
            now.kernel.numbers[k] = now.values[op->slot].number;
        else if (op && (op->kind == CTF_OP_STRING || op->kind == CTF_OP_TEXT))
            now.kernel.texts[k] =
                (struct weft_str){ now.values[op->slot].bytes, (size_t)now.values[op->slot].n };
    }
    return now;
}

/* perf's conversion begins with events of no time, which stand at 0: they happened before. */
static bool is_of_perf(const struct ctf_event *event)
{
    return weft_str_equal(ctf_env_find(&event->lane->trace->meta, "tracer_name"), WEFT_STR("perf"));
}

static enum weft_code read_next(void *importer, bool *is_end)
{
    struct ctf_convert *convert = importer;
    struct ctf_event event;
    const enum weft_code code =
        ctf_reader_next(convert->reader, &event, is_end, convert->kernel.err);
    if (code != WEFT_OK || *is_end)
        return code;
    if (convert->kernel.is_survey &&
        (convert->n_events++ == 0 || (convert->zero_ns == 0 && is_of_perf(&event))))
        convert->zero_ns = event.time_ns;
    struct ctf_now now = now_of(convert, &event);
    return convert_event(convert, &now);
}

/* ---- sources -------------------------------------------------------------------------------- */

static uint32_t host_of(struct ctf_convert *convert, size_t n_before, struct weft_str hostname)
{
    uint32_t next = 0;
    for (size_t k = 0; k < n_before; k++) {
        const struct ctf_source *source = &convert->sources[k];
        if (weft_str_equal(ctf_env_find(&convert->reader->traces[k].meta, "hostname"), hostname))
            return source->host_id;
        next = source->host_id >= next ? source->host_id + 1 : next;
    }
    return next < KERNEL_MOST_HOSTS ? next : 0;
}

static uint64_t parse_number(struct weft_str text)
{
    uint64_t number = 0;
    for (size_t k = 0; k < text.n_bytes && k < 10; k++) {
        if (text.bytes[k] < '0' || text.bytes[k] > '9')
            return 0;
        number = number * 10 + (uint64_t)(text.bytes[k] - '0');
    }
    return number;
}

static enum weft_code make_source(struct ctf_convert *convert, size_t index)
{
    const struct ctf_trace *trace = &convert->reader->traces[index];
    struct ctf_source *source = &convert->sources[index];
    source->known = WEFT_ARENA_NEW(trace->meta.arena, trace->meta.n_events, struct ctf_known);
    if (!source->known)
        return kernel_no_memory(&convert->kernel);
    const bool is_lttng =
        weft_str_equal(ctf_env_find(&trace->meta, "tracer_name"), WEFT_STR("lttng-modules"));
    source->host_id = host_of(convert, index, ctf_env_find(&trace->meta, "hostname"));
    source->is_kernel = ctf_is_kernel(&trace->plan);
    source->is_user = weft_str_equal(ctf_env_find(&trace->meta, "domain"), WEFT_STR("ust"));
    source->pid = parse_number(ctf_env_find(&trace->meta, "vpid"));
    source->comm = ctf_env_find(&trace->meta, "procname");
    source->abi = kernel_abi_of(ctf_env_find(&trace->meta, "machine"));
    for (size_t i = 0; i < trace->plan.n_streams; i++) {
        const struct ctf_stream_plan *stream = &trace->plan.streams[i];
        for (size_t j = 0; j < stream->class->events.n; j++) {
            struct ctf_known *known = &source->known[stream->events[j].class->index];
            if (!ctf_known_make(stream, &stream->events[j], source->is_kernel, known) ||
                weft_strtab_intern(convert->kernel.threads.names, known->base.name,
                                   &known->base.name_id, NULL) != WEFT_OK)
                return kernel_no_memory(&convert->kernel);
            if (is_lttng) /* it names the classes that it records, and no others */
                kernel_calls_add(&convert->calls, &known->base);
        }
    }
    return WEFT_OK;
}

/* ---- announcements -------------------------------------------------------------------------- */

static enum weft_code announce_begin(struct ctf_convert *convert)
{
    const struct ctf_reader *reader = convert->reader;
    const struct ctf_metadata *meta = &reader->traces[0].meta;
    const struct weft_str tracer = ctf_env_find(meta, "tracer_name");
    char details[160];
    (void)snprintf(details, sizeof details, "%s, %zu traces, %zu files%s%.*s",
                   meta->is_json ? "CTF 2" : "CTF 1.8", reader->n_traces, reader->n_lanes,
                   tracer.n_bytes ? ", written by " : "",
                   tracer.n_bytes < 64 ? (int)tracer.n_bytes : 64,
                   tracer.n_bytes ? tracer.bytes : "");
    const struct weft_sink_begin begin = { .has_some_calls = kernel_calls_are_some(&convert->calls),
                                           .format = WEFT_STR("ctf"),
                                           .details = weft_str_of(details) };
    return convert->kernel.sink->ops->begin(convert->kernel.sink, &begin, convert->kernel.err);
}

/* LTTng's clock is CLOCK_MONOTONIC and says so. */
static bool is_monotonic(const struct ctf_reader *reader)
{
    for (size_t i = 0; i < reader->n_traces; i++)
        for (size_t j = 0; j < reader->traces[i].plan.n_streams; j++) {
            const struct ctf_clock *clock = reader->traces[i].plan.streams[j].clock;
            if (!clock || !weft_str_equal(clock->name, WEFT_STR("monotonic")) ||
                reader->traces[i].scales[j].shift_ns != 0)
                return false;
        }
    return reader->n_traces > 0;
}

static enum weft_code announce_clock(struct ctf_convert *convert)
{
    const struct ctf_reader *reader = convert->reader;
    const bool has_monotonic = is_monotonic(reader);
    const struct weft_clock clock = {
        .frequency_hz = UINT64_C(1000000000),
        .zero_ticks = convert->zero_ns,
        .has_monotonic = has_monotonic,
        .monotonic_ns = has_monotonic ? convert->zero_ns : 0,
        .has_realtime = reader->has_origin,
        .realtime_ns = reader->has_origin ? (uint64_t)reader->origin_ns + convert->zero_ns : 0,
    };
    return convert->kernel.sink->ops->clock(convert->kernel.sink, &clock, convert->kernel.err);
}

/* ---- notes ---------------------------------------------------------------------------------- */

static enum weft_code note_lane(struct ctf_convert *convert, const struct ctf_lane *lane)
{
    static const struct {
        enum weft_note_kind kind;
        const char *detail;
    } notes[CTF_REMARKS] = {
        [CTF_BAD_BYTES] = { WEFT_NOTE_BAD_RECORD, "" },
        [CTF_MISSING_BYTES] = { WEFT_NOTE_TRUNCATED, "" },
        [CTF_LOST_EVENTS] = { WEFT_NOTE_LOST_RECORDS, "events discarded by the tracer" },
        [CTF_LOST_PACKETS] = { WEFT_NOTE_LOST_RECORDS, "packets missing" },
        [CTF_STEPS_BACK] = { WEFT_NOTE_TIME_BACKWARD, "" },
    };
    enum weft_code code = WEFT_OK;
    for (int remark = 0; code == WEFT_OK && remark < CTF_REMARKS; remark++) {
        const struct ctf_tally *tally = &lane->file.remarks[remark];
        char detail[192];
        const bool is_damage = remark == CTF_BAD_BYTES && lane->file.first_damage;
        (void)snprintf(detail, sizeof detail, "%s%s%s", lane->file.name,
                       is_damage || notes[remark].detail[0] ? ": " : "",
                       is_damage ? "expected " : notes[remark].detail);
        if (is_damage) {
            const size_t n_used = strlen(detail);
            (void)snprintf(detail + n_used, sizeof detail - n_used, "%s", lane->file.first_damage);
        }
        code =
            kernel_note(&convert->kernel, notes[remark].kind, tally->count, tally->at_off, detail);
    }
    return code;
}

static enum weft_code note_all(struct ctf_convert *convert)
{
    const struct ctf_reader *reader = convert->reader;
    size_t n_drafts = 0;
    for (size_t k = 0; k < reader->n_traces; k++)
        n_drafts += reader->traces[k].meta.is_draft;
    enum weft_code code =
        kernel_note(&convert->kernel, WEFT_NOTE_BAD_RECORD, n_drafts, WEFT_NO_OFFSET,
                    "metadata of a version before 1.8, read as 1.8");
    for (size_t k = 0; code == WEFT_OK && k < reader->n_lanes; k++)
        code = note_lane(convert, &reader->lanes[k]);
    WEFT_THEN(code, kernel_note(&convert->kernel, WEFT_NOTE_LOST_SWITCHES,
                                convert->kernel.threads.n_inferred, WEFT_NO_OFFSET, ""));
    WEFT_THEN(code, kernel_note(&convert->kernel, WEFT_NOTE_NOT_ALIGNED, reader->is_unaligned,
                                WEFT_NO_OFFSET, "offsets of clocks beyond 292 years"));
    return code;
}

/* Streams of which nothing can be read are no trace. */
static enum weft_code check_events(const struct ctf_convert *convert)
{
    const struct ctf_reader *reader = convert->reader;
    for (size_t k = 0; convert->n_events == 0 && k < reader->n_lanes; k++) {
        const struct ctf_lane *lane = &reader->lanes[k];
        char full[WEFT_ERR_FILE_BYTES];
        if (!lane->file.first_damage)
            continue;
        (void)weft_fail(convert->kernel.err, WEFT_E_MALFORMED,
                        lane->file.remarks[CTF_BAD_BYTES].at_off, "expected %s, found other bytes",
                        lane->file.first_damage);
        (void)snprintf(full, sizeof full, "%s/%s", lane->trace->path, lane->file.name);
        return weft_in_file(convert->kernel.err, full);
    }
    return WEFT_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static enum weft_code rewind_all(void *importer)
{
    struct ctf_convert *convert = importer;
    enum weft_code code = check_events(convert);
    ctf_modules_seal(&convert->modules);
    WEFT_THEN(code, announce_begin(convert));
    WEFT_THEN(code, announce_clock(convert));
    ctf_reader_rewind(convert->reader);
    return code;
}

static enum weft_code convert_all(struct ctf_convert *convert)
{
    const struct kernel_readings readings = { .importer = convert,
                                              .next = read_next,
                                              .rewind = rewind_all,
                                              .unit = "events",
                                              .announces_all = true };
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < convert->reader->n_traces; k++)
        code = make_source(convert, k);
    WEFT_THEN(code, kernel_read_twice(&convert->kernel, &readings, convert->reader->run));
    return code == WEFT_OK ? note_all(convert) : code;
}

enum weft_code weft_ctf_import_inputs(const struct ctf_input *inputs, size_t n_inputs,
                                      struct weft_sink *sink, const struct weft_run *run,
                                      struct weft_err *err)
{
    struct ctf_reader reader;
    struct weft_err local = { 0 };
    struct ctf_convert convert = { .reader = &reader,
                                   .kernel = { .sink = sink, .err = err ? err : &local } };
    enum weft_code code = ctf_reader_open(inputs, n_inputs, run, &reader, convert.kernel.err);
    if (code == WEFT_OK) {
        const bool is_good = kernel_threads_init(&convert.kernel.threads);
        const bool is_whole = ctf_modules_init(&convert.modules) && is_good;
        convert.objects = weft_map_new();
        convert.sources = calloc(n_inputs + 1, sizeof *convert.sources);
        code = is_whole && convert.objects && convert.sources ? convert_all(&convert)
                                                              : kernel_no_memory(&convert.kernel);
        kernel_threads_fini(&convert.kernel.threads);
        ctf_modules_fini(&convert.modules);
        ctf_payload_fini(&convert.payload);
        weft_map_free(convert.objects);
        free(convert.sources);
    }
    ctf_reader_close(&reader);
    return code;
}

bool weft_ctf_sniff_dir(const char *path)
{
    return ctf_folders_sniff(path);
}

enum weft_code weft_ctf_import(const char *path, struct weft_sink *sink, const struct weft_run *run,
                               struct weft_err *err)
{
    struct ctf_folders folders;
    enum weft_code code = ctf_folders_open(path, &folders, err);
    WEFT_THEN(code, weft_ctf_import_inputs(folders.inputs, folders.n, sink, run, err));
    ctf_folders_close(&folders);
    if (code != WEFT_OK && code != WEFT_E_CANCELLED)
        (void)weft_in_file(err, path);
    return code;
}
