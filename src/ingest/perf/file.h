/* SPDX-License-Identifier: MIT
 *
 * perf.data opened: what its header and its descriptive records say, and where the records are.
 *
 *     file:  header | ids | attributes | records ... | sections of features (bits in the header)
 *     pipe:  header of 16 bytes | records, among them attributes, features, descriptions
 */
#ifndef WEFT_INGEST_PERF_FILE_H
#define WEFT_INGEST_PERF_FILE_H

#include "base/file.h"
#include "base/pool.h"
#include "ingest/perf/attr.h"
#include "kernel/bytes.h"
#include "kernel/tracing.h"

/* Types of records: of the kernel below 64, of perf from there on. */
enum perf_record_type {
    PERF_MMAP = 1,
    PERF_LOST = 2,
    PERF_COMM = 3,
    PERF_EXIT = 4,
    PERF_THROTTLE = 5,
    PERF_UNTHROTTLE = 6,
    PERF_FORK = 7,
    PERF_READ = 8,
    PERF_SAMPLE = 9,
    PERF_MMAP2 = 10,
    PERF_LOST_SAMPLES = 13,
    PERF_SWITCH = 14,
    PERF_SWITCH_CPU_WIDE = 15,
    PERF_KERNEL_TYPES = 22, /* types the kernel had when this was written */
    PERF_FIRST_OWN = 64,
    PERF_OWN_ATTR = 64,
    PERF_OWN_TRACING_DATA = 66,
    PERF_OWN_BUILD_ID = 67,
    PERF_OWN_FINISHED_ROUND = 68,
    PERF_OWN_AUXTRACE = 71,
    PERF_OWN_EVENT_UPDATE = 78,
    PERF_OWN_FEATURE = 80,
    PERF_OWN_COMPRESSED = 81,
    PERF_OWN_COMPRESSED2 = 83,
    PERF_OWN_TYPES = 84,
};

enum { PERF_RECORD_HEADER_BYTES = 8, PERF_BUILD_ID_BYTES = 20 };

struct perf_record {
    uint32_t type;
    uint16_t misc;
    const uint8_t *body; /* behind the header of 8 bytes */
    size_t n_body;
    const uint8_t *extra; /* some have more bytes behind them: n_extra, if it is not 0 */
    uint64_t n_extra;
};

/* The records, one after the other. */
struct perf_records {
    const uint8_t *bytes;
    uint64_t n_bytes;
    uint64_t base_off; /* of `bytes` in the file */
    bool is_big;
};

struct perf_build_id {
    uint8_t bytes[PERF_BUILD_ID_BYTES];
    uint8_t n_bytes;
    struct weft_str path;
};

struct perf_file {
    struct perf_records records; /* whole records only */
    struct perf_attrs attrs;
    struct kernel_formats formats;
    struct kernel_tracing tracing;
    struct {
        struct perf_build_id *items;
        size_t n, cap;
    } build_ids;
    struct weft_str version, os_release; /* of perf, of the kernel; may be empty */
    enum kernel_abi abi;
    uint32_t n_cpus;
    bool is_pipe, is_big;
    bool has_wall_clock;
    uint64_t wall_ns, clock_ns; /* the same moment since the epoch, and by the events' clock */
    uint64_t n_samples;
    uint64_t n_bad_bytes, bad_off;     /* what is no record; where it begins */
    uint64_t n_missing_bytes;          /* the file ends within a record */
    uint64_t n_unknown_records, n_aux; /* of types that are not known; of hardware traces */
    const char *unpack_damage;         /* of packed records; NULL: none */
    struct weft_mapped unpacked;       /* the records, if they were packed */
};

struct perf_file_opts {
    const char *beside; /* where to unpack; NULL: /var/tmp */
    uint64_t most_unpacked_bytes;
};

/* Looks over all of it. WEFT_E_MALFORMED, WEFT_E_TRUNCATED for a header that cannot be used; other
 * damage is counted. The caller closes, also after a failure. */
WEFT_CHECKED enum weft_code perf_file_open(const struct weft_mapped *input,
                                           const struct perf_file_opts *opts,
                                           const struct weft_run *run, struct perf_file *file,
                                           struct weft_err *err);
void perf_file_close(struct perf_file *file);

/* Sets the bytes that stand behind the record, which ends at `end`, but are not counted in its
 * size. False: they are not there. */
bool perf_record_extra(const struct perf_records *records, uint64_t end,
                       struct perf_record *record);

/* The record at *at, which moves to the next one. False at the end, or where the bytes are no
 * record or not all of one: *at stays. */
static inline bool perf_record_next(const struct perf_records *records, uint64_t *at,
                                    struct perf_record *record)
{
    const uint64_t n_left = records->n_bytes - *at;
    if (n_left < PERF_RECORD_HEADER_BYTES)
        return false;
    const uint8_t *bytes = records->bytes + *at;
    const uint16_t n_bytes = kernel_load_u16(bytes + 6, records->is_big);
    if (n_bytes < PERF_RECORD_HEADER_BYTES || n_bytes > n_left)
        return false;
    record->type = kernel_load_u32(bytes, records->is_big);
    record->misc = kernel_load_u16(bytes + 4, records->is_big);
    record->body = bytes + PERF_RECORD_HEADER_BYTES;
    record->n_body = (size_t)n_bytes - PERF_RECORD_HEADER_BYTES;
    record->n_extra = 0;
    if (record->type >= PERF_FIRST_OWN && !perf_record_extra(records, *at + n_bytes, record))
        return false;
    *at += n_bytes + record->n_extra;
    return true;
}

/* Unpacks: copies records, and in the place of packed ones those in them, to a nameless file
 * (unpack.c). */
WEFT_CHECKED enum weft_code perf_unpack(const struct perf_records *records,
                                        const struct perf_file_opts *opts, struct perf_file *file,
                                        struct weft_err *err);

/* One of the features of perf (features.c): sets what it says. Damage in it is passed over, but for
 * that in the description of tracepoints. */
WEFT_CHECKED enum weft_code perf_feature_read(struct perf_file *file, uint32_t feature,
                                              struct weft_cursor *cur, struct weft_err *err);

/* A build id as records have it: pid, id, path. False without memory. */
bool perf_build_id_read(struct perf_file *file, struct weft_cursor *cur, uint16_t misc);

#endif
