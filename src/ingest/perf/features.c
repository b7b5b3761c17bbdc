/* SPDX-License-Identifier: MIT
 *
 * Features: what perf says about machine and recording.
 */
#include "base/vec.h"
#include "ingest/perf/file.h"
#include "kernel/bytes.h"

enum perf_feature {
    FEATURE_TRACING_DATA = 1,
    FEATURE_BUILD_ID = 2,
    FEATURE_OS_RELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCH = 6,
    FEATURE_N_CPUS = 7,
    FEATURE_EVENT_DESC = 12,
    FEATURE_CLOCK_DATA = 29,
};

/* In a record of a build id: its size is recorded. */
enum { MISC_BUILD_ID_SIZE = 1 << 15, BUILD_ID_FIELD_BYTES = 24 };

/* "u32 size, text, zeros" */
static struct weft_str take_text(struct weft_cursor *cur, bool is_big)
{
    const uint32_t n_bytes = kernel_cur_u32(cur, is_big);
    const struct weft_str text = kernel_cur_bytes(cur, n_bytes);
    return kernel_text_in((const uint8_t *)text.bytes, text.n_bytes);
}

static enum weft_code read_tracing(struct perf_file *file, struct weft_cursor *cur,
                                   struct weft_err *err)
{
    if (weft_cur_left(cur) == 0)
        return WEFT_OK;
    enum weft_code code = kernel_tracing_begin(cur, &file->formats, &file->tracing, err);
    WEFT_THEN(code, kernel_tracing_all(cur, &file->formats, &file->tracing, false, err));
    return code == WEFT_OK ? WEFT_OK : weft_within(err, "formats of tracepoints");
}

bool perf_build_id_read(struct perf_file *file, struct weft_cursor *cur, uint16_t misc)
{
    (void)kernel_cur_u32(cur, file->is_big); /* pid */
    const uint8_t *id = weft_cur_take(cur, BUILD_ID_FIELD_BYTES);
    if (!id)
        return true;
    struct perf_build_id *place = WEFT_VEC_PUSH(&file->build_ids);
    if (!place)
        return false;
    const uint8_t n_told = misc & MISC_BUILD_ID_SIZE ? id[PERF_BUILD_ID_BYTES] : UINT8_MAX;
    place->n_bytes = n_told < PERF_BUILD_ID_BYTES ? n_told : PERF_BUILD_ID_BYTES;
    memcpy(place->bytes, id, place->n_bytes);
    place->path = kernel_text_in(cur->at, weft_cur_left(cur));
    return true;
}

static bool read_build_ids(struct perf_file *file, struct weft_cursor *cur)
{
    while (weft_cur_left(cur) >= PERF_RECORD_HEADER_BYTES && !cur->fault) {
        (void)kernel_cur_u32(cur, file->is_big);
        const uint16_t misc = kernel_cur_u16(cur, file->is_big);
        const uint16_t n_bytes = kernel_cur_u16(cur, file->is_big);
        if (n_bytes < PERF_RECORD_HEADER_BYTES)
            return true;
        struct weft_cursor sub = weft_cur_sub(cur, (size_t)n_bytes - PERF_RECORD_HEADER_BYTES);
        if (!sub.fault && !perf_build_id_read(file, &sub, misc))
            return false;
    }
    return true;
}

/* The names of events, by an id that each has. */
static void read_event_desc(struct perf_file *file, struct weft_cursor *cur)
{
    const uint32_t n_events = kernel_cur_u32(cur, file->is_big);
    const uint32_t attr_bytes = kernel_cur_u32(cur, file->is_big);
    for (uint32_t k = 0; k < n_events && !cur->fault; k++) {
        (void)weft_cur_take(cur, attr_bytes);
        const uint32_t n_ids = kernel_cur_u32(cur, file->is_big);
        const struct weft_str name = take_text(cur, file->is_big);
        for (uint32_t i = 0; i < n_ids && !cur->fault; i++) {
            const uint64_t id = kernel_cur_u64(cur, file->is_big);
            const uint32_t index = weft_map_find(file->attrs.of_id, id);
            if (!cur->fault && index != WEFT_MAP_NONE)
                file->attrs.items[file->attrs.attr_of.items[index]].name = name;
        }
        if (n_ids == 0 && !cur->fault && k < file->attrs.n)
            file->attrs.items[k].name = name;
    }
}

static void read_clock(struct perf_file *file, struct weft_cursor *cur)
{
    (void)kernel_cur_u32(cur, file->is_big); /* version */
    (void)kernel_cur_u32(cur, file->is_big); /* the clock; attributes contain it too */
    const uint64_t wall_ns = kernel_cur_u64(cur, file->is_big);
    const uint64_t clock_ns = kernel_cur_u64(cur, file->is_big);
    if (cur->fault)
        return;
    file->has_wall_clock = true;
    file->wall_ns = wall_ns;
    file->clock_ns = clock_ns;
}

enum weft_code perf_feature_read(struct perf_file *file, uint32_t feature, struct weft_cursor *cur,
                                 struct weft_err *err)
{
    switch (feature) {
    case FEATURE_TRACING_DATA:
        return read_tracing(file, cur, err);
    case FEATURE_BUILD_ID:
        if (!read_build_ids(file, cur))
            return weft_no_memory(err, "build ids");
        return WEFT_OK;
    case FEATURE_OS_RELEASE:
        file->os_release = take_text(cur, file->is_big);
        return WEFT_OK;
    case FEATURE_VERSION:
        file->version = take_text(cur, file->is_big);
        return WEFT_OK;
    case FEATURE_ARCH:
        file->abi = kernel_abi_of(take_text(cur, file->is_big));
        return WEFT_OK;
    case FEATURE_N_CPUS:
        file->n_cpus = kernel_cur_u32(cur, file->is_big);
        return WEFT_OK;
    case FEATURE_EVENT_DESC:
        read_event_desc(file, cur);
        return WEFT_OK;
    case FEATURE_CLOCK_DATA:
        read_clock(file, cur);
        return WEFT_OK;
    default:
        return WEFT_OK;
    }
}
