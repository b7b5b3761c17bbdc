/* SPDX-License-Identifier: MIT
 *
 * Merges all stream files by a heap and converts clock cycles to nanoseconds since the earliest
 * clock origin. A time that steps back within a file is raised to the one before it and counted.
 * Rewinding gives exactly the same sequence, which the two passes of the importer depend on.
 */
#include "ingest/ctf/reader.h"

#include "base/heap.h"
#include "base/vec.h"
#include "ingest/ctf/metadata.h"

#include <stdio.h>
#include <stdlib.h>

#define NS_PER_S INT64_C(1000000000)

/* ---- clocks --------------------------------------------------------------------------------- */

/* Nanoseconds from the epoch to cycle 0; false beyond 64 bits. */
static bool clock_origin(const struct ctf_clock *clock, int64_t *origin_ns)
{
    const bool is_back = clock->offset_cycles < 0;
    const uint64_t cycles =
        is_back ? 0 - (uint64_t)clock->offset_cycles : (uint64_t)clock->offset_cycles;
    const uint64_t rest_s = cycles / clock->frequency_hz;
    const struct weft_tick_scale scale = weft_tick_scale_init(clock->frequency_hz);
    const int64_t rest_ns = (int64_t)weft_ticks_to_ns(&scale, cycles % clock->frequency_hz);
    int64_t whole_s;
    if (rest_s > INT64_MAX ||
        (is_back ? __builtin_sub_overflow(clock->offset_s, (int64_t)rest_s, &whole_s)
                 : __builtin_add_overflow(clock->offset_s, (int64_t)rest_s, &whole_s)))
        return false;
    return !__builtin_mul_overflow(whole_s, NS_PER_S, origin_ns) &&
           !__builtin_add_overflow(*origin_ns, is_back ? -rest_ns : rest_ns, origin_ns);
}

/* The earliest origin of all clocks in use becomes time 0. */
static void find_origin(struct ctf_reader *reader)
{
    bool is_known = true;
    bool is_first = true;
    reader->has_origin = true;
    for (size_t i = 0; i < reader->n_traces; i++)
        for (size_t j = 0; j < reader->traces[i].plan.n_streams; j++) {
            const struct ctf_clock *clock = reader->traces[i].plan.streams[j].clock;
            int64_t origin_ns;
            if (!clock)
                continue;
            is_known &= clock_origin(clock, &origin_ns);
            reader->has_origin &= clock->is_absolute;
            if (is_known && (is_first || origin_ns < reader->origin_ns))
                reader->origin_ns = origin_ns;
            is_first = false;
        }
    reader->has_origin &= is_known && !is_first && reader->origin_ns > 0;
    reader->is_unaligned = !is_known;
}

static struct ctf_time_scale scale_of(struct ctf_reader *reader, const struct ctf_clock *clock)
{
    struct ctf_time_scale scale = { .is_ns = true };
    int64_t origin_ns;
    if (!clock)
        return scale;
    scale.is_ns = clock->frequency_hz == (uint64_t)NS_PER_S;
    scale.ticks = weft_tick_scale_init(clock->frequency_hz);
    if (!reader->is_unaligned && clock_origin(clock, &origin_ns) &&
        __builtin_sub_overflow(origin_ns, reader->origin_ns, &scale.shift_ns)) {
        scale.shift_ns = 0;
        reader->is_unaligned = true;
    }
    return scale;
}

static enum weft_code make_scales(struct ctf_reader *reader, struct weft_err *err)
{
    find_origin(reader);
    for (size_t i = 0; i < reader->n_traces; i++) {
        struct ctf_trace *trace = &reader->traces[i];
        trace->scales =
            WEFT_ARENA_NEW(trace->meta.arena, trace->plan.n_streams, struct ctf_time_scale);
        if (!trace->scales)
            return weft_no_memory(err, "a trace");
        for (size_t j = 0; j < trace->plan.n_streams; j++)
            trace->scales[j] = scale_of(reader, trace->plan.streams[j].clock);
    }
    return WEFT_OK;
}

/* Beyond 2^62 ns, which is 146 years, times stay where they are. */
static uint64_t time_of(const struct ctf_time_scale *scale, uint64_t cycles)
{
    const uint64_t most_ns = UINT64_C(1) << 62;
    uint64_t ns = cycles;
    if (!scale->is_ns) {
        const uint64_t seconds = cycles / scale->ticks.frequency_hz;
        ns = seconds > most_ns / (uint64_t)NS_PER_S ? most_ns
                                                    : weft_ticks_to_ns(&scale->ticks, cycles);
    }
    if (__builtin_add_overflow(ns, (uint64_t)scale->shift_ns, &ns))
        return most_ns;
    return ns > most_ns ? most_ns : ns;
}

/* ---- opening -------------------------------------------------------------------------------- */

static enum weft_code name_error(const char *path, const char *name, enum weft_code code,
                                 struct weft_err *err)
{
    char full[WEFT_ERR_FILE_BYTES];
    (void)snprintf(full, sizeof full, "%s/%s", path, name);
    (void)weft_in_file(err, full);
    return code;
}

static enum weft_code open_trace(const struct ctf_input *input, struct ctf_trace *trace,
                                 struct weft_err *err)
{
    trace->path = input->path;
    enum weft_code code = ctf_metadata_read(&input->metadata, &trace->meta, err);
    WEFT_THEN(code, ctf_plan_make(&trace->meta, &trace->plan, err));
    return code == WEFT_OK ? code : name_error(input->path, "metadata", code, err);
}

static enum weft_code open_lanes(const struct ctf_input *input, struct ctf_trace *trace,
                                 struct ctf_reader *reader, struct weft_err *err)
{
    for (size_t k = 0; k < input->n_streams; k++) {
        const struct ctf_stream_input *stream = &input->streams[k];
        struct ctf_lane *lane = &reader->lanes[reader->n_lanes];
        lane->trace = trace;
        lane->index = (uint32_t)reader->n_lanes++;
        reader->n_bytes += stream->file.n_bytes;
        const enum weft_code code =
            ctf_file_open(&trace->plan, &stream->file, stream->name, &lane->file, err);
        if (code != WEFT_OK)
            return name_error(input->path, stream->name, code, err);
    }
    return WEFT_OK;
}

enum weft_code ctf_reader_open(const struct ctf_input *inputs, size_t n_inputs,
                               const struct weft_run *run, struct ctf_reader *reader,
                               struct weft_err *err)
{
    size_t n_lanes = 0;
    for (size_t k = 0; k < n_inputs; k++)
        n_lanes += inputs[k].n_streams;
    *reader = (struct ctf_reader){ .run = run };
    reader->traces = calloc(n_inputs + 1, sizeof *reader->traces);
    reader->lanes = calloc(n_lanes + 1, sizeof *reader->lanes);
    reader->heap = calloc(n_lanes + 1, sizeof *reader->heap);
    if (!reader->traces || !reader->lanes || !reader->heap)
        return weft_no_memory(err, "a trace");
    for (size_t k = 0; k < n_inputs; k++) {
        struct ctf_trace *trace = &reader->traces[reader->n_traces];
        trace->index = (uint32_t)reader->n_traces++;
        enum weft_code code = open_trace(&inputs[k], trace, err);
        WEFT_THEN(code, open_lanes(&inputs[k], trace, reader, err));
        if (code != WEFT_OK)
            return code;
    }
    return make_scales(reader, err);
}

void ctf_reader_close(struct ctf_reader *reader)
{
    for (size_t k = 0; k < reader->n_lanes; k++)
        ctf_file_close(&reader->lanes[k].file);
    for (size_t k = 0; k < reader->n_traces; k++)
        ctf_metadata_fini(&reader->traces[k].meta);
    free(reader->traces);
    free(reader->lanes);
    free(reader->heap);
    *reader = (struct ctf_reader){ 0 };
}

void ctf_reader_rewind(struct ctf_reader *reader)
{
    for (size_t k = 0; k < reader->n_lanes; k++) {
        ctf_file_rewind(&reader->lanes[k].file);
        reader->lanes[k].time_ns = 0;
        reader->lanes[k].is_end = false;
    }
    reader->n_heap = 0;
    reader->is_started = reader->is_pending = false;
}

/* ---- merging -------------------------------------------------------------------------------- */

static bool is_before(const struct ctf_lane *a, const struct ctf_lane *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->index < b->index;
}

static enum weft_code lane_next(struct ctf_lane *lane, struct weft_err *err)
{
    struct ctf_file *file = &lane->file;
    const enum weft_code code = ctf_file_next(file, &lane->is_end, err);
    if (code != WEFT_OK || lane->is_end)
        return code;
    if (!file->stream->clock)
        return WEFT_OK;
    const struct ctf_time_scale *scale = &lane->trace->scales[file->packet->stream];
    const uint64_t time_ns = time_of(scale, file->decoder.clock);
    if (time_ns < lane->time_ns) {
        struct ctf_tally *tally = &file->remarks[CTF_STEPS_BACK];
        if (tally->count++ == 0)
            tally->at_off = file->packet->at_off + file->event_bits / 8;
        return WEFT_OK;
    }
    lane->time_ns = time_ns;
    return WEFT_OK;
}

static enum weft_code start(struct ctf_reader *reader, struct weft_err *err)
{
    reader->is_started = true;
    for (size_t k = 0; k < reader->n_lanes; k++) {
        WEFT_TRY(lane_next(&reader->lanes[k], err));
        if (!reader->lanes[k].is_end)
            reader->heap[reader->n_heap++] = &reader->lanes[k];
    }
    WEFT_HEAP_MAKE(reader->heap, reader->n_heap, is_before);
    return WEFT_OK;
}

/* Moves on the lane at the top, whose event was given out or dropped. */
static enum weft_code step(struct ctf_reader *reader, struct weft_err *err)
{
    WEFT_TRY(lane_next(reader->heap[0], err));
    if (reader->heap[0]->is_end)
        reader->heap[0] = reader->heap[--reader->n_heap];
    WEFT_HEAP_SINK(reader->heap, reader->n_heap, 0, is_before);
    return WEFT_OK;
}

enum weft_code ctf_reader_next(struct ctf_reader *reader, struct ctf_event *event, bool *is_end,
                               struct weft_err *err)
{
    enum weft_code code = reader->is_started ? WEFT_OK : start(reader, err);
    if (code == WEFT_OK && reader->is_pending)
        code = step(reader, err);
    while (code == WEFT_OK && reader->n_heap > 0) {
        struct ctf_lane *lane = reader->heap[0];
        bool is_good;
        code = ctf_file_event(&lane->file, &is_good, err);
        if (code == WEFT_OK && is_good) {
            *event = (struct ctf_event){ .lane = lane, .time_ns = lane->time_ns };
            reader->is_pending = true;
            *is_end = false;
            return WEFT_OK;
        }
        WEFT_THEN(code, step(reader, err));
    }
    reader->is_pending = false;
    *is_end = true;
    return code;
}
