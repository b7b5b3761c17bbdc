/* SPDX-License-Identifier: MIT
 *
 * trace.dat opened: what its header and options say, and where the pages of each CPU are.
 *
 *     version 6:  header | formats ... | number of CPUs | options | places of pages | pages
 *     version 7:  header | sections, found from the options; each may be packed
 */
#ifndef WEFT_INGEST_TRACECMD_FILE_H
#define WEFT_INGEST_TRACECMD_FILE_H

#include "base/file.h"
#include "kernel/tracing.h"

enum { TRACECMD_MOST_CPUS = KERNEL_MOST_CPUS };

/* The pages of one CPU. */
struct tracecmd_cpu {
    const uint8_t *bytes;
    uint64_t n_bytes;
    uint64_t at_off; /* in the file, or in what was unpacked */
    uint32_t cpu;
};

struct tracecmd_file {
    const struct weft_mapped *input;
    struct kernel_formats formats;
    struct kernel_tracing tracing;
    struct weft_arena *arena; /* of what was unpacked, but for pages */
    struct {
        struct tracecmd_cpu *items;
        size_t n, cap;
    } cpus;
    uint32_t page_bytes;
    uint32_t commit_off, commit_bytes, data_off; /* in a page */
    struct weft_str packing;                     /* "none", "zstd", "zlib" */
    struct weft_str clock, uname, writer;        /* as they stand there; may be empty */
    enum kernel_abi abi;
    bool has_date, has_tsc;
    int64_t date_ns;    /* added to a time: that since the epoch */
    uint64_t offset_ns; /* added to every time */
    uint32_t tsc_mult, tsc_shift;
    uint64_t tsc_offset;
    uint64_t n_other_buffers; /* of instances, which are not read */
    uint64_t n_missing_bytes, missing_off;
    uint64_t n_unpacked, most_unpacked_bytes;
    const char *damage; /* of a packed part; NULL: none */
    uint64_t n_damaged_bytes;
    int unpacked_fd; /* pages that were packed; -1: none */
    struct weft_mapped unpacked;
};

/* Reads header, options, formats. WEFT_E_MALFORMED, WEFT_E_TRUNCATED, WEFT_E_UNSUPPORTED if they
 * cannot be used. The caller closes, also after a failure. */
WEFT_CHECKED enum weft_code tracecmd_file_open(const struct weft_mapped *input, const char *beside,
                                               uint64_t most_unpacked_bytes,
                                               struct tracecmd_file *file, struct weft_err *err);
void tracecmd_file_close(struct tracecmd_file *file);

/* One option (options.c). */
WEFT_CHECKED enum weft_code tracecmd_option_read(struct tracecmd_file *file, uint16_t option,
                                                 struct weft_cursor *cur, struct weft_err *err);

/* The CPUs' places of version 7 (sections.c), and all of its sections. */
WEFT_CHECKED enum weft_code tracecmd_sections_read(struct tracecmd_file *file,
                                                   struct weft_cursor *cur, const char *beside,
                                                   struct weft_err *err);

/* Adds the pages of a CPU; what the file does not hold is cut off and counted. */
bool tracecmd_cpu_add(struct tracecmd_file *file, uint32_t cpu, uint64_t off, uint64_t n_bytes);

/* Unpacks `packed` to `out`, which has room for exactly what comes out (unpack.c). False: it is
 * damaged. */
bool tracecmd_unpack(struct weft_str packing, struct weft_str packed, uint8_t *out, size_t n_out);

#endif
