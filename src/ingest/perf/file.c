/* SPDX-License-Identifier: MIT
 *
 * Opens perf.data: header, attributes and feature sections of a file, or the leading records of a
 * pipe. One pass over all records counts them, takes the descriptive ones and finds where the file
 * is cut or damaged, so that later passes need no checks of record sizes.
 */
#include "ingest/perf/file.h"

#include "base/checked.h"
#include "base/vec.h"
#include "ingest/perf/perf.h"
#include "kernel/bytes.h"

#include <inttypes.h>

enum { FILE_HEADER_BYTES = 104, PIPE_HEADER_BYTES = 16, MAGIC_BYTES = 8, FEATURE_WORDS = 4 };
enum { IDS_BYTES = 16, FEATURE_BYTES = 16 }; /* where ids, or a feature, are: offset and size */
enum { STEP_RECORDS = 1 << 16 };

static const char little_magic[] = "PERFILE2";
static const char big_magic[] = "2ELIFREP";

bool weft_perf_sniff(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes >= MAGIC_BYTES && (memcmp(bytes, little_magic, MAGIC_BYTES) == 0 ||
                                      memcmp(bytes, big_magic, MAGIC_BYTES) == 0);
}

/* ---- records ----------------------------------------------------------------------------------
 */

bool perf_record_extra(const struct perf_records *records, uint64_t end, struct perf_record *record)
{
    if (record->type == PERF_OWN_TRACING_DATA && record->n_body >= 4)
        record->n_extra = kernel_load_u32(record->body, records->is_big);
    else if (record->type == PERF_OWN_AUXTRACE && record->n_body >= 8)
        record->n_extra = kernel_load_u64(record->body, records->is_big);
    record->extra = records->bytes + end;
    return record->n_extra <= records->n_bytes - end;
}

/* ---- attributes -------------------------------------------------------------------------------
 */

static enum weft_code fail_memory(struct weft_err *err)
{
    return weft_no_memory(err, "perf.data");
}

static bool read_ids(struct perf_file *file, struct weft_cursor *cur, size_t attr)
{
    bool is_good = true;
    while (is_good && weft_cur_left(cur) >= 8)
        is_good = perf_attr_add_id(&file->attrs, kernel_cur_u64(cur, file->is_big), attr);
    return is_good;
}

/* A part of the file, as the header gives it. */
static bool section_of(const struct weft_mapped *input, uint64_t off, uint64_t n_bytes,
                       struct weft_cursor *cur)
{
    if (off > input->n_bytes || n_bytes > input->n_bytes - off)
        return false;
    *cur = weft_cur_init(input->bytes + off, (size_t)n_bytes, off);
    return true;
}

static enum weft_code read_attrs(const struct weft_mapped *input, struct weft_cursor *cur,
                                 uint64_t entry_bytes, struct perf_file *file, struct weft_err *err)
{
    while (weft_cur_left(cur) >= entry_bytes) {
        const uint64_t at_off = weft_cur_offset(cur);
        const size_t attr = file->attrs.n;
        struct weft_cursor ids;
        if (!perf_attr_read(&file->attrs, cur, (size_t)entry_bytes - IDS_BYTES, file->is_big))
            return cur->fault ? weft_fail(err, WEFT_E_MALFORMED, at_off,
                                          "expected an attribute of 48 bytes or more and at most "
                                          "%d of them, found %" PRIu64 " bytes",
                                          PERF_MOST_ATTRS, entry_bytes - IDS_BYTES)
                              : fail_memory(err);
        const uint64_t off = kernel_cur_u64(cur, file->is_big);
        const uint64_t n_bytes = kernel_cur_u64(cur, file->is_big);
        if (!section_of(input, off, n_bytes, &ids))
            return weft_fail(err, WEFT_E_TRUNCATED, at_off,
                             "expected ids of events at byte %" PRIu64 ", found the end", off);
        if (!read_ids(file, &ids, attr))
            return fail_memory(err);
    }
    return WEFT_OK;
}

/* ---- header -----------------------------------------------------------------------------------
 */

/* Of a section the bytes that a file which is cut off lacks. */
static uint64_t missing_of(const struct weft_mapped *input, uint64_t off, uint64_t n_bytes)
{
    const uint64_t n_left = off < input->n_bytes ? input->n_bytes - off : 0;
    return n_bytes > n_left ? n_bytes - n_left : 0;
}

static enum weft_code read_features(const struct weft_mapped *input, const uint64_t *bits,
                                    uint64_t at_off, struct perf_file *file, struct weft_err *err)
{
    struct weft_cursor table;
    enum weft_code code = WEFT_OK;
    if (!section_of(input, at_off, input->n_bytes - (at_off < input->n_bytes ? at_off : 0), &table))
        return WEFT_OK;
    for (uint32_t feature = 0; code == WEFT_OK && feature < 64 * FEATURE_WORDS; feature++) {
        struct weft_cursor cur;
        if (!(bits[feature / 64] >> (feature % 64) & 1))
            continue;
        const uint64_t off = kernel_cur_u64(&table, file->is_big);
        const uint64_t n_bytes = kernel_cur_u64(&table, file->is_big);
        const uint64_t n_missing = table.fault ? FEATURE_BYTES : missing_of(input, off, n_bytes);
        file->n_missing_bytes = weft_add_sat_u64(file->n_missing_bytes, n_missing);
        if (n_missing == 0 && section_of(input, off, n_bytes, &cur))
            code = perf_feature_read(file, feature, &cur, err);
    }
    return code;
}

static enum weft_code read_file_header(const struct weft_mapped *input, struct perf_file *file,
                                       struct weft_err *err)
{
    struct weft_cursor cur = weft_cur_init(input->bytes, FILE_HEADER_BYTES, 0);
    uint64_t words[8]; /* size, attr size, attributes, data, event types: offset and size each */
    uint64_t bits[FEATURE_WORDS];
    struct weft_cursor attrs;
    (void)weft_cur_take(&cur, MAGIC_BYTES);
    for (size_t k = 0; k < 8; k++)
        words[k] = kernel_cur_u64(&cur, file->is_big);
    for (size_t k = 0; k < FEATURE_WORDS; k++)
        bits[k] = kernel_cur_u64(&cur, file->is_big);
    if (words[1] <= IDS_BYTES || !section_of(input, words[2], words[3], &attrs))
        return weft_fail(err, WEFT_E_MALFORMED, 16,
                         "expected attributes of events within the file, found %" PRIu64
                         " bytes at byte %" PRIu64,
                         words[3], words[2]);
    WEFT_TRY(read_attrs(input, &attrs, words[1], file, err));
    if (words[4] > input->n_bytes)
        return weft_fail(err, WEFT_E_TRUNCATED, 40,
                         "expected records at byte %" PRIu64 ", found the end", words[4]);
    const uint64_t n_left = input->n_bytes - words[4];
    const bool is_unfinished = words[5] == 0; /* perf was killed: all that follows are records */
    const uint64_t n_bytes = words[5] < n_left && !is_unfinished ? words[5] : n_left;
    if (words[5] > n_left)
        file->n_missing_bytes = words[5] - n_left;
    file->records = (struct perf_records){ .bytes = input->bytes + words[4],
                                           .n_bytes = n_bytes,
                                           .base_off = words[4],
                                           .is_big = file->is_big };
    if (is_unfinished || words[5] > n_left)
        return WEFT_OK;
    return read_features(input, bits, words[4] + words[5], file, err);
}

static enum weft_code read_header(const struct weft_mapped *input, struct perf_file *file,
                                  struct weft_err *err)
{
    if (!weft_perf_sniff(input->bytes, (size_t)input->n_bytes))
        return weft_fail(err, WEFT_E_MALFORMED, 0, "expected PERFILE2, found other bytes");
    file->is_big = memcmp(input->bytes, big_magic, MAGIC_BYTES) == 0;
    if (input->n_bytes < PIPE_HEADER_BYTES)
        return weft_fail(err, WEFT_E_TRUNCATED, input->n_bytes,
                         "expected a header of 16 bytes or more, found %" PRIu64, input->n_bytes);
    const uint64_t n_header = kernel_load_u64(input->bytes + MAGIC_BYTES, file->is_big);
    file->is_pipe = n_header == PIPE_HEADER_BYTES;
    if (file->is_pipe) {
        file->records = (struct perf_records){ .bytes = input->bytes + PIPE_HEADER_BYTES,
                                               .n_bytes = input->n_bytes - PIPE_HEADER_BYTES,
                                               .base_off = PIPE_HEADER_BYTES,
                                               .is_big = file->is_big };
        return WEFT_OK;
    }
    if (n_header < FILE_HEADER_BYTES || input->n_bytes < FILE_HEADER_BYTES)
        return weft_fail(err, WEFT_E_MALFORMED, MAGIC_BYTES,
                         "expected a header of %d bytes, found %" PRIu64, FILE_HEADER_BYTES,
                         weft_min_u64(n_header, input->n_bytes));
    return read_file_header(input, file, err);
}

/* ---- descriptive records ----------------------------------------------------------------------
 */

/* In a pipe an attribute is a record: its own size is in it, ids follow. */
static enum weft_code take_attr(struct perf_file *file, const struct perf_record *record,
                                struct weft_err *err)
{
    struct weft_cursor cur = weft_cur_init(record->body, record->n_body, 0);
    const size_t n_attr =
        record->n_body >= 8 ? kernel_load_u32(record->body + 4, file->is_big) : SIZE_MAX;
    const size_t attr = file->attrs.n;
    if (!perf_attr_read(&file->attrs, &cur, n_attr, file->is_big))
        return cur.fault ? WEFT_OK : fail_memory(err);
    return read_ids(file, &cur, attr) ? WEFT_OK : fail_memory(err);
}

/* The name of an event: type, id, text. */
static void take_update(struct perf_file *file, const struct perf_record *record)
{
    enum { UPDATE_NAME = 2 };
    struct weft_cursor cur = weft_cur_init(record->body, record->n_body, 0);
    const uint64_t kind = kernel_cur_u64(&cur, file->is_big);
    const uint64_t id = kernel_cur_u64(&cur, file->is_big);
    const uint32_t index = weft_map_find(file->attrs.of_id, id);
    if (cur.fault || kind != UPDATE_NAME || index == WEFT_MAP_NONE)
        return;
    file->attrs.items[file->attrs.attr_of.items[index]].name =
        kernel_text_in(cur.at, weft_cur_left(&cur));
}

static enum weft_code take_own(struct perf_file *file, const struct perf_record *record,
                               uint64_t at_off, struct weft_err *err)
{
    struct weft_cursor cur = weft_cur_init(record->body, record->n_body, at_off + 8);
    switch (record->type) {
    case PERF_OWN_ATTR:
        return file->is_pipe ? take_attr(file, record, err) : WEFT_OK;
    case PERF_OWN_TRACING_DATA:
        cur = weft_cur_init(record->extra, (size_t)record->n_extra, at_off + 8 + record->n_body);
        return perf_feature_read(file, 1, &cur, err);
    case PERF_OWN_BUILD_ID:
        return perf_build_id_read(file, &cur, record->misc) ? WEFT_OK : fail_memory(err);
    case PERF_OWN_EVENT_UPDATE:
        take_update(file, record);
        return WEFT_OK;
    case PERF_OWN_FEATURE: {
        const uint64_t feature = kernel_cur_u64(&cur, file->is_big);
        return cur.fault ? WEFT_OK : perf_feature_read(file, (uint32_t)feature, &cur, err);
    }
    case PERF_OWN_AUXTRACE:
        file->n_aux++;
        return WEFT_OK;
    default:
        file->n_unknown_records += record->type >= PERF_OWN_TYPES;
        return WEFT_OK;
    }
}

static enum weft_code step(const struct weft_run *run, struct weft_err *err)
{
    return run && weft_progress_is_cancelled(run->progress)
               ? weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted")
               : WEFT_OK;
}

/* Meets every record once. What is behind the last whole one is cut off. */
static enum weft_code look_over(struct perf_file *file, const struct weft_run *run, bool *is_packed,
                                struct weft_err *err)
{
    struct perf_records *records = &file->records;
    enum weft_code code = WEFT_OK;
    struct perf_record record;
    uint64_t at = 0;
    uint64_t n_records = 0;
    for (uint64_t next = 0; code == WEFT_OK && perf_record_next(records, &next, &record);
         at = next) {
        file->n_samples += record.type == PERF_SAMPLE;
        if (record.type >= PERF_FIRST_OWN)
            code = take_own(file, &record, records->base_off + at, err);
        else
            file->n_unknown_records += record.type == 0 || record.type >= PERF_KERNEL_TYPES;
        *is_packed |= record.type == PERF_OWN_COMPRESSED || record.type == PERF_OWN_COMPRESSED2;
        if (++n_records % STEP_RECORDS == 0 && code == WEFT_OK)
            code = step(run, err);
    }
    if (code != WEFT_OK || at == records->n_bytes)
        return code;
    const uint64_t n_left = records->n_bytes - at;
    const bool is_cut =
        n_left < PERF_RECORD_HEADER_BYTES ||
        kernel_load_u16(records->bytes + at + 6, records->is_big) >= PERF_RECORD_HEADER_BYTES;
    if (is_cut) {
        file->n_missing_bytes += n_left;
    } else {
        file->n_bad_bytes += n_left;
        file->bad_off = records->base_off + at;
    }
    records->n_bytes = at;
    return WEFT_OK;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void bind_formats(struct perf_file *file)
{
    for (size_t k = 0; k < file->attrs.n; k++) {
        struct perf_attr *attr = &file->attrs.items[k];
        if (attr->type == PERF_TYPE_IS_TRACEPOINT)
            attr->format = kernel_format_find(&file->formats, (uint32_t)attr->config);
    }
}

static enum weft_code unpack_records(struct perf_file *file, const struct perf_file_opts *opts,
                                     const struct weft_run *run, struct weft_err *err)
{
    const struct perf_records packed = file->records;
    bool is_packed = false;
    WEFT_TRY(perf_unpack(&packed, opts, file, err));
    file->records = (struct perf_records){ .bytes = file->unpacked.bytes,
                                           .n_bytes = file->unpacked.n_bytes,
                                           .is_big = file->is_big };
    /* What the records around the packed ones say was taken already. */
    const bool is_pipe = file->is_pipe;
    file->n_samples = file->n_unknown_records = file->n_aux = 0;
    file->is_pipe = false;
    enum weft_code code = look_over(file, run, &is_packed, err);
    file->is_pipe = is_pipe;
    return code;
}

enum weft_code perf_file_open(const struct weft_mapped *input, const struct perf_file_opts *opts,
                              const struct weft_run *run, struct perf_file *file,
                              struct weft_err *err)
{
    bool is_packed = false;
    *file = (struct perf_file){ 0 };
    const bool has_attrs = perf_attrs_init(&file->attrs);
    if (!kernel_formats_init(&file->formats) || !has_attrs)
        return fail_memory(err);
    enum weft_code code = read_header(input, file, err);
    file->formats.is_big = file->is_big;
    WEFT_THEN(code, look_over(file, run, &is_packed, err));
    if (code == WEFT_OK && is_packed)
        code = unpack_records(file, opts, run, err);
    if (code != WEFT_OK)
        return code;
    if (file->attrs.n == 0)
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected attributes of events, found none");
    bind_formats(file);
    return perf_attrs_seal(&file->attrs) ? WEFT_OK : fail_memory(err);
}

void perf_file_close(struct perf_file *file)
{
    perf_attrs_fini(&file->attrs);
    kernel_formats_fini(&file->formats);
    WEFT_VEC_FINI(&file->build_ids);
    weft_mapped_close(&file->unpacked);
}
