/* SPDX-License-Identifier: MIT
 *
 * Basic mode: 32-byte records, of all threads, interleaved.
 *
 *   function:  u16 0 | u8 cpu | u8 kind | i32 function | u64 ticks | u32 tid | u32 pid | 8 junk
 *   argument:  u16 1 | u16 junk         | i32 function | u32 tid | u32 pid | u64 value | 8 junk
 *
 * The pid is junk before version 3. A record's length is always known, so a bad one loses itself
 * alone. An argument belongs to the entry before it in its thread, which may stand in an earlier
 * run.
 */
#include "base/checked.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "ingest/xray/decode.h"

#include <inttypes.h>

enum record_type { RECORD_FUNCTION = 0, RECORD_ARGUMENT = 1 };

enum { KIND_ENTER_ARG = 3, KINDS = 4, VERSION_WITH_PID = 3 };

struct record {
    enum record_type type;
    uint8_t cpu;
    uint8_t kind;
    uint32_t function_key;
    uint64_t value; /* ticks or argument */
    uint32_t tid, pid;
};

/* Reads one record of WEFT_XRAY_BASIC_BYTES; false when it contradicts the format. */
static inline bool read_record(const uint8_t *bytes, uint16_t version, struct record *record)
{
    uint16_t type = weft_load_u16(bytes);
    bool is_function = type == RECORD_FUNCTION;
    record->type = (enum record_type)type;
    record->cpu = bytes[2];
    record->kind = bytes[3];
    record->function_key = weft_load_u32(bytes + 4);
    record->value = weft_load_u64(bytes + (is_function ? 8 : 16));
    record->tid = weft_load_u32(bytes + (is_function ? 16 : 8));
    record->pid = weft_load_u32(bytes + (is_function ? 20 : 12));
    if (version < VERSION_WITH_PID)
        record->pid = 0;
    if (type > RECORD_ARGUMENT || record->function_key > INT32_MAX)
        return false;
    return !is_function || record->kind < KINDS;
}

struct scanner {
    const struct weft_mapped *file;
    uint16_t version;
    struct weft_xray_index *index;
    struct weft_map *thread_of;
    struct weft_xray_piece *run; /* the last piece, or NULL */
    uint64_t run_key;            /* pid << 32 | tid of the run */
};

static enum weft_code find_thread(struct scanner *scan, const struct record *record,
                                  uint32_t *thread, struct weft_err *err)
{
    uint64_t key = (uint64_t)record->pid << 32 | record->tid;
    bool is_new = false;
    *thread = weft_map_add(scan->thread_of, key, &is_new);
    if (*thread == WEFT_MAP_NONE)
        return weft_no_memory(err, "a set of threads");
    if (!is_new)
        return WEFT_OK;
    struct weft_xray_thread *fresh = WEFT_VEC_PUSH(&scan->index->threads);
    if (!fresh)
        return weft_no_memory(err, "the table of threads");
    *fresh = (struct weft_xray_thread){ .tid = record->tid,
                                        .pid = record->pid,
                                        .first_tsc = UINT64_MAX };
    return WEFT_OK;
}

/* Begins a run of the record's thread at `at_off`. All runs get the time stamp 0: a thread writes
 * its records in order of time, so the order of the file is right. */
static enum weft_code begin_run(struct scanner *scan, const struct record *record, uint64_t at_off,
                                struct weft_err *err)
{
    uint32_t thread = 0;
    WEFT_TRY(find_thread(scan, record, &thread, err));
    scan->run = WEFT_VEC_PUSH(&scan->index->pieces);
    if (!scan->run)
        return weft_no_memory(err, "the table of runs");
    *scan->run = (struct weft_xray_piece){ .at_off = at_off, .thread = thread };
    scan->run_key = (uint64_t)record->pid << 32 | record->tid;
    return WEFT_OK;
}

static enum weft_code scan_record(struct scanner *scan, uint64_t off, struct weft_err *err)
{
    struct record record;
    if (!read_record(scan->file->bytes + off, scan->version, &record)) {
        weft_xray_tally_add(&scan->index->losses.bad_bytes, WEFT_XRAY_BASIC_BYTES, off);
        scan->run = NULL;
        return WEFT_OK;
    }
    uint64_t key = (uint64_t)record.pid << 32 | record.tid;
    if (!scan->run || key != scan->run_key) {
        WEFT_TRY(begin_run(scan, &record, off, err));
    }
    scan->run->n_bytes += WEFT_XRAY_BASIC_BYTES;
    if (record.type == RECORD_FUNCTION) {
        struct weft_xray_thread *thread = &scan->index->threads.items[scan->run->thread];
        thread->first_tsc = weft_min_u64(thread->first_tsc, record.value);
    }
    return WEFT_OK;
}

enum weft_code weft_xray_index_basic(const struct weft_mapped *file,
                                     const struct weft_xray_header *header,
                                     struct weft_xray_index *index, struct weft_err *err)
{
    struct scanner scan = { .file = file, .version = header->version, .index = index };
    scan.thread_of = weft_map_new();
    if (!scan.thread_of)
        return weft_no_memory(err, "a set of threads");
    enum weft_code code = WEFT_OK;
    uint64_t off = WEFT_XRAY_HEADER_BYTES;
    for (; code == WEFT_OK && file->n_bytes - off >= WEFT_XRAY_BASIC_BYTES;
         off += WEFT_XRAY_BASIC_BYTES) {
        code = scan_record(&scan, off, err);
        if (off % WEFT_XRAY_STEP_BYTES == 0)
            weft_xray_let_go(file, off - WEFT_XRAY_STEP_BYTES, off);
    }
    weft_map_free(scan.thread_of);
    if (code != WEFT_OK)
        return code;
    weft_xray_tally_add(&index->losses.missing_bytes, file->n_bytes - off, off);
    return weft_xray_index_sort(index, err);
}

static enum weft_code decode_call(const struct weft_xray_log *log, const struct record *record,
                                  struct weft_xray_out *out, uint64_t at_off, struct weft_err *err)
{
    uint64_t ticks;
    if (!weft_xray_time(log, record->value, &ticks)) {
        weft_xray_tally_add(&out->losses.bad_bytes, WEFT_XRAY_BASIC_BYTES, at_off);
        return WEFT_OK;
    }
    uint64_t time_ns = weft_ticks_to_ns(&log->scale, ticks);
    enum weft_code code = WEFT_OK;
    if (record->cpu != out->cpu)
        code = weft_xray_out_cpu(out, record->cpu, time_ns, err);
    WEFT_THEN(code, weft_xray_out_room(out, err));
    if (code != WEFT_OK)
        return code;
    uint8_t kind = record->kind == KIND_ENTER_ARG ? WEFT_CALL_ENTER : record->kind;
    out->calls[out->n_calls] = (struct weft_call_event){ .time_ns = time_ns,
                                                         .function_key = record->function_key,
                                                         .kind = kind };
    weft_xray_out_calls(out, 1);
    return weft_xray_see(out, record->function_key, err);
}

enum weft_code weft_xray_decode_basic(const struct weft_xray_log *log,
                                      const struct weft_xray_piece *piece,
                                      struct weft_xray_out *out, struct weft_err *err)
{
    struct weft_cursor in =
        weft_cur_init(log->file->bytes + piece->at_off, piece->n_bytes, piece->at_off);
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && weft_cur_left(&in) >= WEFT_XRAY_BASIC_BYTES) {
        uint64_t at_off = weft_cur_offset(&in);
        struct record record;
        if (!read_record(weft_cur_take(&in, WEFT_XRAY_BASIC_BYTES), log->header.version, &record))
            continue; /* runs hold only records that the index could read */
        if (record.type == RECORD_FUNCTION)
            code = decode_call(log, &record, out, at_off, err);
        else if (out->takes_argument)
            code = weft_xray_out_argument(out, record.value, err);
        else
            weft_xray_tally_add(&out->losses.bad_bytes, WEFT_XRAY_BASIC_BYTES, at_off);
    }
    return code;
}
