/* SPDX-License-Identifier: MIT
 *
 * Opens trace.dat of version 6 here and finds the sections of version 7 through sections.c;
 * options.c reads options of both. Afterwards the places of all pages are known and the layout of a
 * page has been checked.
 */
#include "ingest/tracecmd/file.h"

#include "base/checked.h"
#include "base/vec.h"
#include "ingest/tracecmd/tracecmd.h"
#include "kernel/bytes.h"

#include <inttypes.h>
#include <unistd.h>

enum { PART_NAME_BYTES = 10, LEAST_PAGE_BYTES = 64, MOST_PAGE_BYTES = 1 << 24 };

bool weft_tracecmd_sniff(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes >= KERNEL_TRACING_MAGIC_BYTES &&
           memcmp(bytes, KERNEL_TRACING_MAGIC, KERNEL_TRACING_MAGIC_BYTES) == 0;
}

bool tracecmd_cpu_add(struct tracecmd_file *file, uint32_t cpu, uint64_t off, uint64_t n_bytes)
{
    const struct weft_mapped *bytes = file->unpacked_fd >= 0 ? &file->unpacked : file->input;
    const uint64_t n_there = off < bytes->n_bytes ? weft_min_u64(n_bytes, bytes->n_bytes - off) : 0;
    if (n_there < n_bytes) {
        file->missing_off = file->n_missing_bytes ? file->missing_off : bytes->n_bytes;
        file->n_missing_bytes += n_bytes - n_there;
    }
    if (n_there == 0 || cpu >= TRACECMD_MOST_CPUS)
        return true;
    struct tracecmd_cpu *place = WEFT_VEC_PUSH(&file->cpus);
    if (place)
        *place = (struct tracecmd_cpu){
            .bytes = bytes->bytes + off, .n_bytes = n_there, .at_off = off, .cpu = cpu
        };
    return place != NULL;
}

/* ---- version 6 --------------------------------------------------------------------------------
 */

static enum weft_code read_options(struct tracecmd_file *file, struct weft_cursor *cur,
                                   struct weft_err *err)
{
    const bool is_big = file->formats.is_big;
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK) {
        const uint64_t at_off = weft_cur_offset(cur);
        const uint16_t option = kernel_cur_u16(cur, is_big);
        if (option == 0 && !cur->fault)
            break;
        const uint32_t n_bytes = kernel_cur_u32(cur, is_big);
        struct weft_cursor sub = weft_cur_sub(cur, n_bytes);
        if (sub.fault)
            return weft_fail(err, WEFT_E_TRUNCATED, at_off, "expected an option, found the end");
        code = tracecmd_option_read(file, option, &sub, err);
    }
    return code;
}

static enum weft_code read_places(struct tracecmd_file *file, struct weft_cursor *cur,
                                  uint32_t n_cpus, struct weft_err *err)
{
    const bool is_big = file->formats.is_big;
    for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
        const uint64_t off = kernel_cur_u64(cur, is_big);
        const uint64_t n_bytes = kernel_cur_u64(cur, is_big);
        if (cur->fault)
            return weft_fail(err, WEFT_E_TRUNCATED, weft_cur_offset(cur),
                             "expected the places of %" PRIu32 " CPUs, found the end", n_cpus);
        if (!tracecmd_cpu_add(file, cpu, off, n_bytes))
            return weft_no_memory(err, "places of pages");
    }
    return WEFT_OK;
}

static bool is_part(const uint8_t *name, const char *expected)
{
    return name && memcmp(name, expected, PART_NAME_BYTES) == 0;
}

static enum weft_code read_parts(struct tracecmd_file *file, struct weft_cursor *cur,
                                 struct weft_err *err)
{
    enum weft_code code = kernel_tracing_all(cur, &file->formats, &file->tracing, true, err);
    if (code != WEFT_OK)
        return code;
    const uint32_t n_cpus = kernel_cur_u32(cur, file->formats.is_big);
    uint64_t at_off = weft_cur_offset(cur);
    const uint8_t *part = weft_cur_take(cur, PART_NAME_BYTES);
    if (is_part(part, "options  ")) {
        code = read_options(file, cur, err);
        at_off = weft_cur_offset(cur);
        part = weft_cur_take(cur, PART_NAME_BYTES);
    }
    if (code != WEFT_OK)
        return code;
    if (is_part(part, "latency  "))
        return weft_fail(err, WEFT_E_UNSUPPORTED, at_off,
                         "expected the pages of a ring buffer, found a text of a latency tracer");
    if (!is_part(part, "flyrecord"))
        return weft_fail(err, part ? WEFT_E_MALFORMED : WEFT_E_TRUNCATED, at_off,
                         "expected \"flyrecord\", found other bytes");
    file->page_bytes = file->tracing.page_bytes;
    return read_places(file, cur, n_cpus, err);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static enum weft_code check_pages(struct tracecmd_file *file, struct weft_err *err)
{
    uint32_t n_data;
    if (!kernel_field_in(file->tracing.header_page, WEFT_STR("commit"), &file->commit_off,
                         &file->commit_bytes) ||
        !kernel_field_in(file->tracing.header_page, WEFT_STR("data"), &file->data_off, &n_data))
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected the layout of a page (commit, data), found none");
    if (file->page_bytes < LEAST_PAGE_BYTES || file->page_bytes > MOST_PAGE_BYTES ||
        file->data_off < 8 || file->data_off > file->page_bytes ||
        (file->commit_bytes != 4 && file->commit_bytes != 8) ||
        file->commit_off > file->data_off - file->commit_bytes)
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected pages of 64 bytes to 16 MiB that begin with a time and a size, "
                         "found %" PRIu32 " bytes, size at %" PRIu32 ", data at %" PRIu32,
                         file->page_bytes, file->commit_off, file->data_off);
    return WEFT_OK;
}

enum weft_code tracecmd_file_open(const struct weft_mapped *input, const char *beside,
                                  uint64_t most_unpacked_bytes, struct tracecmd_file *file,
                                  struct weft_err *err)
{
    *file = (struct tracecmd_file){ .input = input,
                                    .unpacked_fd = -1,
                                    .most_unpacked_bytes = most_unpacked_bytes,
                                    .arena = weft_arena_new(0) };
    if (!kernel_formats_init(&file->formats) || !file->arena)
        return weft_no_memory(err, "trace.dat");
    struct weft_cursor cur = weft_cur_init(input->bytes, (size_t)input->n_bytes, 0);
    enum weft_code code = kernel_tracing_begin(&cur, &file->formats, &file->tracing, err);
    if (code != WEFT_OK)
        return code;
    if (weft_str_equal(file->tracing.version, WEFT_STR("7")))
        code = tracecmd_sections_read(file, &cur, beside, err);
    else if (weft_str_equal(file->tracing.version, WEFT_STR("6")))
        code = read_parts(file, &cur, err);
    else
        return weft_fail(err, WEFT_E_UNSUPPORTED, KERNEL_TRACING_MAGIC_BYTES,
                         "expected trace.dat of version 6 or 7, found version %.*s",
                         (int)weft_min_u64(file->tracing.version.n_bytes, 16),
                         file->tracing.version.bytes);
    return code == WEFT_OK ? check_pages(file, err) : code;
}

void tracecmd_file_close(struct tracecmd_file *file)
{
    kernel_formats_fini(&file->formats);
    weft_arena_free(file->arena);
    WEFT_VEC_FINI(&file->cpus);
    weft_mapped_close(&file->unpacked);
    if (file->unpacked_fd >= 0)
        (void)close(file->unpacked_fd);
}
