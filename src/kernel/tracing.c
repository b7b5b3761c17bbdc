/* SPDX-License-Identifier: MIT
 *
 * Reads the parts of that description with a cursor, in the order in which perf.data and version 6
 * of trace.dat have them; version 7 calls the parts one by one. It also names threads that no event
 * names, from the recorded table of command names.
 */
#include "kernel/tracing.h"

#include "base/vec.h"
#include "kernel/bytes.h"

#include <inttypes.h>

static enum weft_code fail_short(const struct weft_cursor *cur, const char *what,
                                 struct weft_err *err)
{
    return weft_fail(err, WEFT_E_TRUNCATED, weft_cur_offset(cur),
                     "expected %s, found the end of it", what);
}

enum weft_code kernel_tracing_begin(struct weft_cursor *cur, struct kernel_formats *formats,
                                    struct kernel_tracing *tracing, struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(cur);
    const uint8_t *magic = weft_cur_take(cur, KERNEL_TRACING_MAGIC_BYTES);
    if (!magic || memcmp(magic, KERNEL_TRACING_MAGIC, KERNEL_TRACING_MAGIC_BYTES) != 0)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected the description of tracepoints, found other bytes");
    tracing->version = kernel_cur_text(cur);
    formats->is_big = weft_cur_u8(cur) != 0;
    const uint64_t long_off = weft_cur_offset(cur);
    formats->long_bytes = weft_cur_u8(cur);
    tracing->page_bytes = kernel_cur_u32(cur, formats->is_big);
    if (cur->fault)
        return fail_short(cur, "version, byte order and sizes", err);
    if (formats->long_bytes != 4 && formats->long_bytes != 8)
        return weft_fail(err, WEFT_E_MALFORMED, long_off,
                         "expected a long of 4 or 8 bytes, found %u", formats->long_bytes);
    return WEFT_OK;
}

/* "header_page" or "header_event", and a text. */
static bool take_header(struct weft_cursor *cur, bool is_big, const char *name,
                        struct weft_str *text)
{
    const struct weft_str found = kernel_cur_text(cur);
    if (!weft_str_equal(found, weft_str_of(name)))
        return false;
    *text = kernel_cur_bytes(cur, kernel_cur_u64(cur, is_big));
    return !cur->fault;
}

enum weft_code kernel_tracing_headers(struct weft_cursor *cur, bool is_big,
                                      struct kernel_tracing *tracing, struct weft_err *err)
{
    struct weft_str event;
    const uint64_t at_off = weft_cur_offset(cur);
    if (take_header(cur, is_big, "header_page", &tracing->header_page) &&
        take_header(cur, is_big, "header_event", &event))
        return WEFT_OK;
    return weft_fail(err, WEFT_E_MALFORMED, at_off,
                     "expected header_page and header_event, found other bytes");
}

/* `n_formats` formats with their lengths. */
static enum weft_code take_formats(struct weft_cursor *cur, uint32_t n_formats,
                                   struct weft_str system, struct kernel_formats *formats,
                                   struct kernel_tracing *tracing, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t k = 0; code == WEFT_OK && k < n_formats; k++) {
        const struct weft_str text = kernel_cur_bytes(cur, kernel_cur_u64(cur, formats->is_big));
        bool is_good;
        if (cur->fault)
            return fail_short(cur, "the format of an event", err);
        code = kernel_formats_add(formats, system, text, &is_good, err);
        tracing->n_bad_formats += !is_good;
    }
    return code;
}

enum weft_code kernel_tracing_ftrace(struct weft_cursor *cur, struct kernel_formats *formats,
                                     struct kernel_tracing *tracing, struct weft_err *err)
{
    const uint32_t n_formats = kernel_cur_u32(cur, formats->is_big);
    return take_formats(cur, n_formats, WEFT_STR("ftrace"), formats, tracing, err);
}

enum weft_code kernel_tracing_events(struct weft_cursor *cur, struct kernel_formats *formats,
                                     struct kernel_tracing *tracing, struct weft_err *err)
{
    const uint32_t n_systems = kernel_cur_u32(cur, formats->is_big);
    enum weft_code code = WEFT_OK;
    for (uint32_t k = 0; code == WEFT_OK && k < n_systems; k++) {
        const struct weft_str system = kernel_cur_text(cur);
        const uint32_t n_formats = kernel_cur_u32(cur, formats->is_big);
        if (cur->fault)
            return fail_short(cur, "a system of events", err);
        code = take_formats(cur, n_formats, system, formats, tracing, err);
    }
    return code;
}

static enum weft_code take_kallsyms(struct weft_cursor *cur, bool is_big,
                                    struct kernel_tracing *tracing, struct weft_err *err)
{
    tracing->kallsyms = kernel_cur_bytes(cur, kernel_cur_u32(cur, is_big));
    return cur->fault ? fail_short(cur, "the symbols of the kernel", err) : WEFT_OK;
}

static enum weft_code take_printk(struct weft_cursor *cur, bool is_big, struct weft_err *err)
{
    (void)kernel_cur_bytes(cur, kernel_cur_u32(cur, is_big));
    return cur->fault ? fail_short(cur, "texts of trace_printk", err) : WEFT_OK;
}

enum weft_code kernel_tracing_cmdlines(struct weft_cursor *cur, bool is_big,
                                       struct kernel_tracing *tracing, struct weft_err *err)
{
    tracing->cmdlines = kernel_cur_bytes(cur, kernel_cur_u64(cur, is_big));
    return cur->fault ? fail_short(cur, "names of threads", err) : WEFT_OK;
}

enum weft_code kernel_tracing_all(struct weft_cursor *cur, struct kernel_formats *formats,
                                  struct kernel_tracing *tracing, bool has_cmdlines,
                                  struct weft_err *err)
{
    const bool is_big = formats->is_big;
    enum weft_code code = kernel_tracing_headers(cur, is_big, tracing, err);
    WEFT_THEN(code, kernel_tracing_ftrace(cur, formats, tracing, err));
    WEFT_THEN(code, kernel_tracing_events(cur, formats, tracing, err));
    WEFT_THEN(code, take_kallsyms(cur, is_big, tracing, err));
    WEFT_THEN(code, take_printk(cur, is_big, err));
    if (code == WEFT_OK && has_cmdlines)
        code = kernel_tracing_cmdlines(cur, is_big, tracing, err);
    return code;
}

/* By index of the tid; numbers among the names of threads. */
struct names {
    uint32_t *items;
    size_t n, cap;
};

/* "18 migration/0" */
static bool parse_cmdline(struct weft_str line, uint64_t *tid, struct weft_str *name)
{
    size_t at = 0;
    *tid = 0;
    while (at < line.n_bytes && at < 10 && line.bytes[at] >= '0' && line.bytes[at] <= '9')
        *tid = *tid * 10 + (uint64_t)(line.bytes[at++] - '0');
    if (at == 0 || at >= line.n_bytes || line.bytes[at] != ' ')
        return false;
    *name = (struct weft_str){ line.bytes + at + 1, line.n_bytes - at - 1 };
    return *tid > 0;
}

/* Where the name of each tid stands. False without memory. */
static bool read_cmdlines(struct weft_str text, struct weft_map *of_tid, struct weft_strtab *names,
                          struct names *ids)
{
    struct weft_cursor cur = weft_cur_init(text.bytes, text.n_bytes, 0);
    while (weft_cur_left(&cur) > 0) {
        const uint8_t *end = memchr(cur.at, '\n', weft_cur_left(&cur));
        const size_t n_line = end ? (size_t)(end - cur.at) : weft_cur_left(&cur);
        const struct weft_str line = kernel_cur_bytes(&cur, n_line);
        struct weft_str name;
        uint64_t tid;
        bool is_new;
        (void)weft_cur_u8(&cur);
        if (!parse_cmdline(line, &tid, &name))
            continue;
        const uint32_t index = weft_map_add(of_tid, tid, &is_new);
        if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(ids)) ||
            weft_strtab_intern(names, name, &ids->items[index], NULL) != WEFT_OK)
            return false;
    }
    return true;
}

enum weft_code kernel_tracing_name_threads(const struct kernel_tracing *tracing,
                                           struct kernel_convert *convert)
{
    struct kernel_threads *threads = &convert->threads;
    struct weft_map *of_tid = weft_map_new();
    struct names ids = { 0 };
    const bool is_good = of_tid && read_cmdlines(tracing->cmdlines, of_tid, threads->names, &ids);
    for (size_t k = 0; is_good && k < threads->n; k++) {
        const uint32_t index = weft_map_find(of_tid, threads->items[k].tid);
        if (threads->items[k].name == WEFT_ID_NONE && index != WEFT_MAP_NONE)
            threads->items[k].name = ids.items[index];
    }
    weft_map_free(of_tid);
    WEFT_VEC_FINI(&ids);
    return is_good ? WEFT_OK : kernel_no_memory(convert);
}
