/* SPDX-License-Identifier: MIT
 *
 * The importer: merges the CPUs' pages by a heap, in two passes (kernel/readings.c). Known events
 * go to kernel/convert.h, others become instants with their fields as JSON. Events of which no
 * format was recorded are counted.
 */
#include "ingest/tracecmd/tracecmd.h"

#include "base/checked.h"
#include "base/heap.h"
#include "base/u128.h"
#include "ingest/tracecmd/file.h"
#include "kernel/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- pages ----------------------------------------------------------------------------------- */

/* Pages of the kernel's ring buffer, of one CPU in order of time:
 *
 *     u64 time | commit: bytes used, and bits of what was lost | events ...
 *
 *     event:  5 bits kind, 27 bits time since the one before
 *             kind 1 to 28: 4 times as many bytes of data;  0: u32 size, data;
 *             29: padding;  30: u32, upper bits of a longer time;  31: u32, of an absolute time
 *
 * Iterates over the events of one CPU's ring buffer pages: time extension, absolute stamps,
 * padding, lost events. A page that contradicts itself is skipped from there on and its bytes
 * counted. */

struct tracecmd_lane {
    const struct tracecmd_file *file;
    struct tracecmd_cpu cpu;
    uint64_t next_page;      /* of the CPU's bytes */
    const uint8_t *at, *end; /* in the page */
    uint64_t ticks;
    uint64_t time_ns; /* of the record; never steps back */
    struct kernel_record record;
    bool is_end;
    uint64_t n_lost, n_lost_times; /* events that were overwritten; losses without a count */
    uint64_t n_bad_bytes, bad_off; /* of pages that are damaged */
    uint64_t n_back;               /* times that step back */
};

enum { KIND_PADDING = 29, KIND_EXTEND = 30, KIND_STAMP = 31, DELTA_BITS = 27, STAMP_BITS = 59 };

/* Of the commit of a page. */
#define COMMIT_MISSED (UINT64_C(1) << 31)
#define COMMIT_COUNTED (UINT64_C(1) << 30)
#define COMMIT_MASK ((UINT64_C(1) << 27) - 1)

static uint64_t load_long(const uint8_t *bytes, size_t n_bytes, bool is_big)
{
    return n_bytes == 8 ? kernel_load_u64(bytes, is_big) : kernel_load_u32(bytes, is_big);
}

static void count_bad(struct tracecmd_lane *lane, const uint8_t *at, uint64_t n_bytes)
{
    if (lane->n_bad_bytes == 0)
        lane->bad_off = lane->cpu.at_off + (uint64_t)(at - lane->cpu.bytes);
    lane->n_bad_bytes += n_bytes;
}

/* The count of lost events stands behind the events, if there was room. */
static void count_lost(struct tracecmd_lane *lane, const uint8_t *page, uint64_t commit)
{
    const struct tracecmd_file *file = lane->file;
    const uint64_t at = file->data_off + (commit & COMMIT_MASK);
    if (!(commit & COMMIT_MISSED))
        return;
    if (commit & COMMIT_COUNTED && at + file->commit_bytes <= file->page_bytes)
        lane->n_lost += load_long(page + at, file->commit_bytes, file->formats.is_big);
    else
        lane->n_lost_times++;
}

/* The next page that holds something; false: there is none. */
static bool open_page(struct tracecmd_lane *lane)
{
    const struct tracecmd_file *file = lane->file;
    const bool is_big = file->formats.is_big;
    while (lane->next_page < lane->cpu.n_bytes) {
        const uint8_t *page = lane->cpu.bytes + lane->next_page;
        const uint64_t n_left = lane->cpu.n_bytes - lane->next_page;
        if (n_left < file->page_bytes) {
            count_bad(lane, page, n_left);
            break;
        }
        lane->next_page += file->page_bytes;
        const uint64_t commit = load_long(page + file->commit_off, file->commit_bytes, is_big);
        const uint64_t n_used = commit & COMMIT_MASK;
        if (n_used > file->page_bytes - file->data_off) {
            count_bad(lane, page, file->page_bytes);
            continue;
        }
        count_lost(lane, page, commit);
        lane->ticks = kernel_load_u64(page, is_big);
        lane->at = page + file->data_off;
        lane->end = lane->at + n_used;
        return true;
    }
    lane->next_page = lane->cpu.n_bytes;
    return false;
}

/* The rest of the page is not read. */
static void give_up_page(struct tracecmd_lane *lane, const uint8_t *at)
{
    count_bad(lane, at, (uint64_t)(lane->end - at));
    lane->at = lane->end;
}

/* A stamp has 59 bits; the others are those of the time before. */
static uint64_t whole_stamp(uint64_t stamp, uint64_t before)
{
    const uint64_t high = before >> STAMP_BITS << STAMP_BITS;
    if (high == 0)
        return stamp;
    stamp |= high;
    return stamp < before ? stamp + (UINT64_C(1) << STAMP_BITS) : stamp;
}

/* Takes one event of the page; false: it was no record. */
static bool take_event(struct tracecmd_lane *lane)
{
    const bool is_big = lane->file->formats.is_big;
    const uint8_t *begin = lane->at;
    struct weft_cursor cur = weft_cur_init(begin, (size_t)(lane->end - begin), 0);
    const uint32_t word = kernel_cur_u32(&cur, is_big);
    const uint32_t kind = is_big ? word >> DELTA_BITS : word & 31;
    const uint64_t delta = is_big ? word & ((UINT32_C(1) << DELTA_BITS) - 1) : word >> 5;
    uint64_t n_data = (uint64_t)kind * 4;
    if (kind == KIND_PADDING && delta == 0 && !cur.fault) {
        lane->at = lane->end; /* nothing follows */
        return false;
    }
    if (kind == KIND_PADDING) { /* its size counts itself */
        n_data = kernel_cur_u32(&cur, is_big);
        n_data = n_data >= 4 ? n_data - 4 : UINT64_MAX;
    } else if (kind >= KIND_EXTEND) {
        n_data = 0;
        const uint64_t high = (uint64_t)kernel_cur_u32(&cur, is_big) << DELTA_BITS;
        lane->ticks = kind == KIND_EXTEND ? lane->ticks + high + delta
                                          : whole_stamp(high | delta, lane->ticks);
    } else if (kind == 0) {
        n_data = kernel_cur_u32(&cur, is_big);
        n_data = n_data >= 4 ? (n_data - 4 + 3) / 4 * 4 : UINT64_MAX;
    }
    if (cur.fault || n_data > weft_cur_left(&cur)) {
        give_up_page(lane, begin);
        return false;
    }
    lane->record.bytes = weft_cur_take(&cur, (size_t)n_data);
    lane->record.n_bytes = (size_t)n_data;
    lane->at = cur.at;
    if (kind < KIND_EXTEND)
        lane->ticks += delta;
    return kind < KIND_PADDING;
}

static uint64_t time_of(const struct tracecmd_file *file, uint64_t ticks)
{
    uint64_t time_ns = ticks;
    if (file->has_tsc)
        time_ns =
            (uint64_t)((weft_u128)(ticks - file->tsc_offset) * file->tsc_mult >> file->tsc_shift);
    return time_ns + file->offset_ns;
}

/* The next one, or is_end. */
static void tracecmd_lane_next(struct tracecmd_lane *lane)
{
    while (!lane->is_end) {
        if (lane->at == lane->end) {
            lane->is_end = !open_page(lane);
            continue;
        }
        if (!take_event(lane))
            continue;
        const uint64_t time_ns = time_of(lane->file, lane->ticks);
        lane->n_back += time_ns < lane->time_ns;
        if (time_ns > lane->time_ns)
            lane->time_ns = time_ns;
        break;
    }
}

/* At the first record of the CPU. */
static void tracecmd_lane_open(const struct tracecmd_file *file, const struct tracecmd_cpu *cpu,
                               struct tracecmd_lane *lane)
{
    *lane = (struct tracecmd_lane){ .file = file, .cpu = *cpu };
    tracecmd_lane_next(lane);
}

/* ---- tracecmd -------------------------------------------------------------------------------- */

#define MOST_UNPACKED_BYTES (UINT64_C(1) << 40)

struct convert {
    struct kernel_convert kernel; /* sink, threads, err; is_survey */
    struct tracecmd_file *file;
    struct tracecmd_lane *lanes; /* one a CPU that has pages */
    struct tracecmd_lane **heap;
    size_t n_heap;
    struct weft_json_text json;
    uint64_t zero_ns;             /* the trace's time that becomes 0 */
    uint64_t n_formless, n_short; /* of no known format; shorter than its number */
    bool has_switches;
};

/* ---- merging ----------------------------------------------------------------------------------
 */

/* Of equal times the lower CPU comes first. */
static bool is_before(const struct tracecmd_lane *a, const struct tracecmd_lane *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a < b;
}

static void open_lanes(struct convert *convert)
{
    convert->n_heap = 0;
    for (size_t k = 0; k < convert->file->cpus.n; k++) {
        tracecmd_lane_open(convert->file, &convert->file->cpus.items[k], &convert->lanes[k]);
        if (!convert->lanes[k].is_end)
            convert->heap[convert->n_heap++] = &convert->lanes[k];
    }
    WEFT_HEAP_MAKE(convert->heap, convert->n_heap, is_before);
}

/* Advances the lane on top. */
static void advance(struct convert *convert)
{
    tracecmd_lane_next(convert->heap[0]);
    if (convert->heap[0]->is_end)
        convert->heap[0] = convert->heap[--convert->n_heap];
    WEFT_HEAP_SINK(convert->heap, convert->n_heap, 0, is_before);
}

/* ---- one event --------------------------------------------------------------------------------
 */

static enum weft_code deliver_instant(struct convert *convert, const struct kernel_now *now,
                                      const struct kernel_format *format,
                                      const struct kernel_record *record)
{
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_INSTANT);
    event.name = format->name;
    if (!convert->kernel.is_survey) {
        kernel_format_json(&convert->file->formats, format, record, &convert->json);
        event.payload = (struct weft_str){ convert->json.bytes, convert->json.n_bytes };
        if (convert->json.has_failed)
            return kernel_no_memory(&convert->kernel);
    }
    return kernel_deliver(&convert->kernel, now->thread, &event);
}

static enum weft_code convert_event(struct convert *convert, const struct tracecmd_lane *lane)
{
    const struct kernel_formats *formats = &convert->file->formats;
    const struct kernel_record *record = &lane->record;
    struct kernel_now now = { .time_ns = kernel_time_since(lane->time_ns, convert->zero_ns),
                              .cpu = (int32_t)lane->cpu.cpu,
                              .abi = convert->file->abi };
    if (record->n_bytes < 2) {
        convert->n_short += !convert->kernel.is_survey;
        return WEFT_OK;
    }
    const struct kernel_format *format =
        kernel_format_find(formats, kernel_load_u16(record->bytes, formats->is_big));
    if (!format) {
        convert->n_formless += !convert->kernel.is_survey;
        return WEFT_OK;
    }
    struct kernel_details details = { 0 };
    if (format->pid) {
        details.tid = kernel_field_number(formats, format->pid, record);
        details.has_tid = (int32_t)details.tid >= 0;
    }
    kernel_format_read(formats, format, record, convert->kernel.is_survey, &now);
    convert->has_switches |= now.known->meaning == KERNEL_MEANS_SWITCH;
    struct kernel_cpu *cpu = kernel_cpu_of(&convert->kernel.threads, 0, now.cpu);
    WEFT_TRY(cpu ? kernel_find_thread(&convert->kernel, &now, cpu, &details)
                 : kernel_no_memory(&convert->kernel));
    enum weft_code code = kernel_convert_event(&convert->kernel, &now);
    return code == WEFT_OK && kernel_is_point(now.known)
               ? deliver_instant(convert, &now, format, record)
               : code;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static enum weft_code read_next(void *importer, bool *is_end)
{
    struct convert *convert = importer;
    *is_end = convert->n_heap == 0;
    if (*is_end)
        return WEFT_OK;
    const enum weft_code code = convert_event(convert, convert->heap[0]);
    advance(convert);
    return code;
}

/* ---- announcements ----------------------------------------------------------------------------
 */

static int shown(struct weft_str text)
{
    return (int)weft_min_u64(text.n_bytes, 64);
}

static enum weft_code announce_begin(struct convert *convert)
{
    const struct tracecmd_file *file = convert->file;
    char details[320];
    (void)snprintf(details, sizeof details, "version %.*s, %zu CPUs%s%.*s%s%.*s%s%.*s",
                   shown(file->tracing.version), file->tracing.version.bytes, file->cpus.n,
                   file->clock.n_bytes ? ", clock " : "", shown(file->clock),
                   file->clock.n_bytes ? file->clock.bytes : "", file->uname.n_bytes ? ", " : "",
                   shown(file->uname), file->uname.n_bytes ? file->uname.bytes : "",
                   file->writer.n_bytes ? ", trace-cmd " : "", shown(file->writer),
                   file->writer.n_bytes ? file->writer.bytes : "");
    const struct weft_sink_begin begin = { .format = WEFT_STR("trace.dat"),
                                           .details = weft_str_of(details) };
    return convert->kernel.sink->ops->begin(convert->kernel.sink, &begin, convert->kernel.err);
}

static enum weft_code announce_clock(struct convert *convert)
{
    const struct tracecmd_file *file = convert->file;
    const bool is_monotonic = weft_str_equal(file->clock, WEFT_STR("mono"));
    const struct weft_clock clock = {
        .frequency_hz = UINT64_C(1000000000),
        .zero_ticks = convert->zero_ns,
        .has_monotonic = is_monotonic,
        .monotonic_ns = is_monotonic ? convert->zero_ns : 0,
        .has_realtime = file->has_date,
        .realtime_ns = file->has_date ? convert->zero_ns + (uint64_t)file->date_ns : 0,
    };
    return convert->kernel.sink->ops->clock(convert->kernel.sink, &clock, convert->kernel.err);
}

/* ---- notes ------------------------------------------------------------------------------------
 */

static enum weft_code note_lane(struct convert *convert, const struct tracecmd_lane *lane)
{
    char lost[64];
    char back[64];
    char times[64];
    (void)snprintf(lost, sizeof lost, "CPU %" PRIu32, lane->cpu.cpu);
    (void)snprintf(back, sizeof back, "CPU %" PRIu32, lane->cpu.cpu);
    (void)snprintf(times, sizeof times, "CPU %" PRIu32 ": times, of events not counted",
                   lane->cpu.cpu);
    enum weft_code code =
        kernel_note(&convert->kernel, WEFT_NOTE_LOST_RECORDS, lane->n_lost, WEFT_NO_OFFSET, lost);
    WEFT_THEN(code, kernel_note(&convert->kernel, WEFT_NOTE_LOST_RECORDS, lane->n_lost_times,
                                WEFT_NO_OFFSET, times));
    WEFT_THEN(code, kernel_note(&convert->kernel, WEFT_NOTE_BAD_RECORD, lane->n_bad_bytes,
                                lane->bad_off, lost));
    WEFT_THEN(code, kernel_note(&convert->kernel, WEFT_NOTE_TIME_BACKWARD, lane->n_back,
                                WEFT_NO_OFFSET, back));
    return code;
}

static enum weft_code note_all(struct convert *convert)
{
    const struct tracecmd_file *file = convert->file;
    const struct {
        enum weft_note_kind kind;
        uint64_t count, at_off;
        const char *detail;
    } notes[] = {
        { WEFT_NOTE_BAD_RECORD, file->n_damaged_bytes, WEFT_NO_OFFSET,
          file->damage ? file->damage : "" },
        { WEFT_NOTE_BAD_RECORD, convert->n_short, WEFT_NO_OFFSET, "events without a number" },
        { WEFT_NOTE_TRUNCATED, file->n_missing_bytes, file->missing_off, "" },
        { WEFT_NOTE_UNKNOWN_RECORD, convert->n_formless, WEFT_NO_OFFSET,
          "events without their format" },
        { WEFT_NOTE_UNKNOWN_RECORD, file->tracing.n_bad_formats, WEFT_NO_OFFSET,
          "formats of events" },
        { WEFT_NOTE_NOT_KEPT, file->n_other_buffers, WEFT_NO_OFFSET,
          "buffers of instances, which are not read" },
        { WEFT_NOTE_LOST_SWITCHES, convert->has_switches ? convert->kernel.threads.n_inferred : 0,
          WEFT_NO_OFFSET, "" },
    };
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < file->cpus.n; k++)
        code = note_lane(convert, &convert->lanes[k]);
    for (size_t k = 0; code == WEFT_OK && k < sizeof notes / sizeof *notes; k++)
        code = kernel_note(&convert->kernel, notes[k].kind, notes[k].count, notes[k].at_off,
                           notes[k].detail);
    return code;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static enum weft_code rewind_all(void *importer)
{
    struct convert *convert = importer;
    enum weft_code code = kernel_tracing_name_threads(&convert->file->tracing, &convert->kernel);
    WEFT_THEN(code, announce_begin(convert));
    WEFT_THEN(code, announce_clock(convert));
    open_lanes(convert);
    return code;
}

static enum weft_code convert_all(struct convert *convert, const struct weft_run *run)
{
    const struct kernel_readings readings = {
        .importer = convert, .next = read_next, .rewind = rewind_all, .unit = "events"
    };
    enum weft_code code = kernel_formats_name(&convert->file->formats,
                                              convert->kernel.threads.names, convert->kernel.err);
    open_lanes(convert);
    if (convert->n_heap > 0)
        convert->zero_ns = convert->heap[0]->time_ns;
    WEFT_THEN(code, kernel_read_twice(&convert->kernel, &readings, run));
    return code == WEFT_OK ? note_all(convert) : code;
}

enum weft_code weft_tracecmd_import(const struct weft_mapped *file,
                                    const struct weft_tracecmd_opts *opts, struct weft_sink *sink,
                                    const struct weft_run *run, struct weft_err *err)
{
    const uint64_t most_bytes =
        opts && opts->most_unpacked_bytes ? opts->most_unpacked_bytes : MOST_UNPACKED_BYTES;
    struct tracecmd_file opened;
    struct weft_err local = { 0 };
    struct convert convert = { .file = &opened,
                               .kernel = { .sink = sink, .err = err ? err : &local } };
    enum weft_code code = tracecmd_file_open(file, opts ? opts->beside : NULL, most_bytes, &opened,
                                             convert.kernel.err);
    if (code == WEFT_OK) {
        convert.lanes = calloc(opened.cpus.n + 1, sizeof *convert.lanes);
        convert.heap = calloc(opened.cpus.n + 1, sizeof(*convert.heap));
        const bool has_threads = kernel_threads_init(&convert.kernel.threads);
        code = has_threads && convert.lanes && convert.heap ? convert_all(&convert, run)
                                                            : kernel_no_memory(&convert.kernel);
        kernel_threads_fini(&convert.kernel.threads);
        weft_json_fini(&convert.json);
        free(convert.lanes);
        free(convert.heap);
    }
    tracecmd_file_close(&opened);
    return code;
}
