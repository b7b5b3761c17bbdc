/* SPDX-License-Identifier: MIT
 *
 * Version 7: options say where the sections are. A section begins with its number, flags, a name's
 * number, and its size; a packed one continues with its packed and its unpacked size. Packed pages
 * are chunks of a few pages each, for every CPU.
 */
#include "base/vec.h"
#include "ingest/tracecmd/file.h"
#include "kernel/bytes.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SECTION_OPTIONS = 0, SECTION_FLYRECORD = 3 };
enum {
    OPTION_DONE = 0,
    OPTION_BUFFER = 3,
    OPTION_HEADER_INFO = 16,
    OPTION_FTRACE_EVENTS = 17,
    OPTION_EVENT_FORMATS = 18,
    OPTION_KALLSYMS = 19,
    OPTION_PRINTK = 20,
    OPTION_CMDLINES = 21,
};
enum { FLAG_PACKED = 1, SECTION_HEADER_BYTES = 16 };
enum { MOST_OPTION_SECTIONS = 1 << 12, MOST_SECTION_BYTES = 1 << 30, MOST_CHUNK_BYTES = 1 << 28 };

/* A CPU's pages, as the option of a buffer has them. */
struct place {
    uint64_t off, n_bytes;
    uint32_t cpu;
};

struct sections {
    struct tracecmd_file *file;
    const char *beside;
    uint64_t offs[OPTION_CMDLINES + 1]; /* of the sections; 0: none */
    struct {
        struct place *items;
        size_t n, cap;
    } places;
    uint64_t buffer_off;
    bool has_buffer;
    uint64_t n_written; /* to the file of unpacked pages */
    struct weft_err *err;
};

/* ---- sections ---------------------------------------------------------------------------------
 */

static enum weft_code fail_end(struct sections *sections, uint64_t off, const char *what)
{
    return weft_fail(sections->err, WEFT_E_TRUNCATED, off, "expected %s, found the end", what);
}

static bool cursor_at(const struct tracecmd_file *file, uint64_t off, struct weft_cursor *cur)
{
    if (off > file->input->n_bytes)
        return false;
    *cur = weft_cur_init(file->input->bytes + off, (size_t)(file->input->n_bytes - off), off);
    return true;
}

static enum weft_code unpack_section(struct sections *sections, struct weft_cursor *cur)
{
    struct tracecmd_file *file = sections->file;
    const uint64_t at_off = weft_cur_offset(cur);
    const uint32_t n_packed = kernel_cur_u32(cur, file->formats.is_big);
    const uint32_t n_plain = kernel_cur_u32(cur, file->formats.is_big);
    const struct weft_str packed = kernel_cur_bytes(cur, n_packed);
    if (cur->fault)
        return fail_end(sections, at_off, "a packed section");
    if (n_plain > MOST_SECTION_BYTES || n_plain > file->most_unpacked_bytes - file->n_unpacked)
        return weft_fail(sections->err, WEFT_E_LIMIT, at_off,
                         "a packed section of %" PRIu32 " bytes", n_plain);
    uint8_t *bytes = WEFT_ARENA_NEW(file->arena, n_plain, uint8_t);
    if (!bytes)
        return weft_fail(sections->err, WEFT_E_NOMEM, at_off, "a section of %" PRIu32 " bytes",
                         n_plain);
    if (!tracecmd_unpack(file->packing, packed, bytes, n_plain))
        return weft_fail(sections->err, WEFT_E_MALFORMED, at_off,
                         "expected a section packed by %.*s, found damage",
                         (int)(file->packing.n_bytes < 16 ? file->packing.n_bytes : 16),
                         file->packing.bytes);
    file->n_unpacked += n_plain;
    *cur = weft_cur_init(bytes, n_plain, 0);
    return WEFT_OK;
}

/* What stands in the section; unpacked if it was packed. */
static enum weft_code open_section(struct sections *sections, uint64_t off, uint16_t expected,
                                   struct weft_cursor *cur, uint16_t *flags)
{
    const bool is_big = sections->file->formats.is_big;
    if (!cursor_at(sections->file, off, cur))
        return fail_end(sections, off, "a section");
    const uint16_t number = kernel_cur_u16(cur, is_big);
    *flags = kernel_cur_u16(cur, is_big);
    (void)kernel_cur_u32(cur, is_big);
    const uint64_t n_bytes = kernel_cur_u64(cur, is_big);
    if (cur->fault)
        return fail_end(sections, off, "a section");
    if (number != expected)
        return weft_fail(sections->err, WEFT_E_MALFORMED, off,
                         "expected section %u, found section %u", expected, number);
    if (expected == SECTION_FLYRECORD)
        return WEFT_OK;
    if (n_bytes < weft_cur_left(cur))
        *cur = weft_cur_sub(cur, (size_t)n_bytes);
    return *flags & FLAG_PACKED ? unpack_section(sections, cur) : WEFT_OK;
}

/* ---- options ----------------------------------------------------------------------------------
 */

/* The trace itself has no name; other buffers are of instances. */
static enum weft_code take_buffer(struct sections *sections, struct weft_cursor *cur)
{
    struct tracecmd_file *file = sections->file;
    const bool is_big = file->formats.is_big;
    const uint64_t off = kernel_cur_u64(cur, is_big);
    const struct weft_str name = kernel_cur_text(cur);
    const struct weft_str clock = kernel_cur_text(cur);
    const uint32_t page_bytes = kernel_cur_u32(cur, is_big);
    const uint32_t n_cpus = kernel_cur_u32(cur, is_big);
    if (cur->fault || name.n_bytes > 0 || sections->has_buffer) {
        file->n_other_buffers++;
        return WEFT_OK;
    }
    sections->has_buffer = true;
    sections->buffer_off = off;
    file->page_bytes = page_bytes;
    if (clock.n_bytes > 0)
        file->clock = clock;
    for (uint32_t k = 0; k < n_cpus && k < TRACECMD_MOST_CPUS; k++) {
        const uint32_t cpu = kernel_cur_u32(cur, is_big);
        const uint64_t cpu_off = kernel_cur_u64(cur, is_big);
        const uint64_t n_bytes = kernel_cur_u64(cur, is_big);
        if (cur->fault)
            break;
        struct place *place = WEFT_VEC_PUSH(&sections->places);
        if (!place)
            return weft_no_memory(sections->err, "places of pages");
        *place = (struct place){ .off = cpu_off, .n_bytes = n_bytes, .cpu = cpu };
    }
    return WEFT_OK;
}

static enum weft_code take_option(struct sections *sections, uint16_t option,
                                  struct weft_cursor *cur)
{
    if (option == OPTION_BUFFER)
        return take_buffer(sections, cur);
    if (option < OPTION_HEADER_INFO || option > OPTION_CMDLINES)
        return tracecmd_option_read(sections->file, option, cur, sections->err);
    const uint64_t off = kernel_cur_u64(cur, sections->file->formats.is_big);
    if (!cur->fault)
        sections->offs[option] = off;
    return WEFT_OK;
}

/* Reads one section of options; *next is where the next one is, 0: nowhere. */
static enum weft_code read_options(struct sections *sections, uint64_t off, uint64_t *next)
{
    const bool is_big = sections->file->formats.is_big;
    struct weft_cursor cur;
    uint16_t flags;
    enum weft_code code = open_section(sections, off, SECTION_OPTIONS, &cur, &flags);
    *next = 0;
    while (code == WEFT_OK && weft_cur_left(&cur) > 0) {
        const uint16_t option = kernel_cur_u16(&cur, is_big);
        const uint32_t n_bytes = kernel_cur_u32(&cur, is_big);
        struct weft_cursor sub = weft_cur_sub(&cur, n_bytes);
        if (sub.fault)
            return fail_end(sections, off, "an option");
        if (option == OPTION_DONE) {
            *next = kernel_cur_u64(&sub, is_big);
            break;
        }
        code = take_option(sections, option, &sub);
    }
    return code;
}

/* ---- formats ----------------------------------------------------------------------------------
 */

static enum weft_code read_part(struct sections *sections, uint16_t option)
{
    struct tracecmd_file *file = sections->file;
    struct kernel_tracing *tracing = &file->tracing;
    const bool is_big = file->formats.is_big;
    struct weft_cursor cur;
    uint16_t flags;
    if (sections->offs[option] == 0)
        return WEFT_OK;
    WEFT_TRY(open_section(sections, sections->offs[option], option, &cur, &flags));
    switch (option) {
    case OPTION_HEADER_INFO:
        return kernel_tracing_headers(&cur, is_big, tracing, sections->err);
    case OPTION_FTRACE_EVENTS:
        return kernel_tracing_ftrace(&cur, &file->formats, tracing, sections->err);
    case OPTION_EVENT_FORMATS:
        return kernel_tracing_events(&cur, &file->formats, tracing, sections->err);
    case OPTION_CMDLINES:
        return kernel_tracing_cmdlines(&cur, is_big, tracing, sections->err);
    default:
        return WEFT_OK;
    }
}

/* ---- pages ------------------------------------------------------------------------------------
 */

/* One chunk to the end of the file of unpacked pages. */
static enum weft_code unpack_chunk(struct sections *sections, struct weft_cursor *cur)
{
    struct tracecmd_file *file = sections->file;
    const uint32_t n_packed = kernel_cur_u32(cur, file->formats.is_big);
    const uint32_t n_plain = kernel_cur_u32(cur, file->formats.is_big);
    const struct weft_str packed = kernel_cur_bytes(cur, n_packed);
    if (cur->fault || n_plain > MOST_CHUNK_BYTES) {
        file->damage = "a chunk that is not all there";
        return WEFT_OK;
    }
    if (n_plain > file->most_unpacked_bytes - file->n_unpacked)
        return weft_fail(sections->err, WEFT_E_LIMIT, weft_cur_offset(cur),
                         "packed pages of more than %" PRIu64 " bytes", file->most_unpacked_bytes);
    uint8_t *bytes = malloc((size_t)n_plain + 1);
    if (!bytes)
        return weft_no_memory(sections->err, "unpacking pages");
    enum weft_code code = WEFT_OK;
    if (tracecmd_unpack(file->packing, packed, bytes, n_plain)) {
        code = weft_fd_write(file->unpacked_fd, bytes, n_plain, sections->err);
        sections->n_written += n_plain;
        file->n_unpacked += n_plain;
    } else {
        file->damage = "a chunk of pages";
    }
    free(bytes);
    return code;
}

/* After damage the rest of the CPU is not unpacked. */
static enum weft_code unpack_cpu(struct sections *sections, struct place *place)
{
    struct tracecmd_file *file = sections->file;
    struct weft_cursor cur;
    enum weft_code code = WEFT_OK;
    const uint64_t begin = sections->n_written;
    if (cursor_at(file, place->off, &cur) && place->n_bytes > 0) {
        const char *before = file->damage;
        file->damage = NULL;
        const uint32_t n_chunks = kernel_cur_u32(&cur, file->formats.is_big);
        for (uint32_t k = 0; code == WEFT_OK && !file->damage && k < n_chunks; k++)
            code = unpack_chunk(sections, &cur);
        const uint64_t n_done = weft_cur_offset(&cur) - place->off;
        if (file->damage)
            file->n_damaged_bytes += place->n_bytes > n_done ? place->n_bytes - n_done : 1;
        else
            file->damage = before;
    }
    place->off = begin;
    place->n_bytes = sections->n_written - begin;
    return code;
}

static enum weft_code unpack_pages(struct sections *sections)
{
    struct tracecmd_file *file = sections->file;
    enum weft_code code = weft_temp_open(sections->beside ? sections->beside : "/var/tmp/weft",
                                         &file->unpacked_fd, sections->err);
    for (size_t k = 0; code == WEFT_OK && k < sections->places.n; k++)
        code = unpack_cpu(sections, &sections->places.items[k]);
    WEFT_THEN(code, weft_mapped_from_fd(file->unpacked_fd, "unpacked pages", &file->unpacked,
                                        sections->err));
    return code;
}

static enum weft_code read_places(struct sections *sections)
{
    struct tracecmd_file *file = sections->file;
    struct weft_cursor cur;
    uint16_t flags;
    if (!sections->has_buffer)
        return weft_fail(sections->err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET,
                         "expected the pages of a ring buffer, found none");
    enum weft_code code =
        open_section(sections, sections->buffer_off, SECTION_FLYRECORD, &cur, &flags);
    if (code == WEFT_OK && flags & FLAG_PACKED)
        code = unpack_pages(sections);
    for (size_t k = 0; code == WEFT_OK && k < sections->places.n; k++) {
        const struct place *place = &sections->places.items[k];
        if (!tracecmd_cpu_add(file, place->cpu, place->off, place->n_bytes))
            code = weft_no_memory(sections->err, "places of pages");
    }
    return code;
}

enum weft_code tracecmd_sections_read(struct tracecmd_file *file, struct weft_cursor *cur,
                                      const char *beside, struct weft_err *err)
{
    struct sections sections = { .file = file, .beside = beside, .err = err };
    file->packing = kernel_cur_text(cur);
    (void)kernel_cur_text(cur); /* version of the packing */
    uint64_t next = kernel_cur_u64(cur, file->formats.is_big);
    enum weft_code code =
        cur->fault ? fail_end(&sections, weft_cur_offset(cur), "the place of options") : WEFT_OK;
    for (int k = 0; code == WEFT_OK && next != 0 && k < MOST_OPTION_SECTIONS; k++)
        code = read_options(&sections, next, &next);
    for (uint16_t option = OPTION_HEADER_INFO; code == WEFT_OK && option <= OPTION_CMDLINES;
         option++)
        code = read_part(&sections, option);
    WEFT_THEN(code, read_places(&sections));
    WEFT_VEC_FINI(&sections.places);
    return code;
}
