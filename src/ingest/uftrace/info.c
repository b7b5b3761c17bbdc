/* SPDX-License-Identifier: MIT
 *
 * Reads and checks the info file: version, byte order and word size must be supported before any
 * other file is touched. Unknown lines are ignored, as newer versions add some.
 */
#include "ingest/uftrace/info.h"

#include "base/cursor.h"
#include "ingest/uftrace/text.h"

#include <inttypes.h>

enum { MAGIC_BYTES = 8, OLDEST_VERSION = 3, NEWEST_VERSION = 4 };
enum { LITTLE_ENDIAN_DATA = 1, CLASS_64 = 2 };

static const uint8_t magic[MAGIC_BYTES] = "Ftrace!";

bool weft_uft_is_info(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes >= MAGIC_BYTES && memcmp(bytes, magic, MAGIC_BYTES) == 0;
}

static enum weft_code check_header(uint32_t version, uint16_t n_header, uint8_t endian,
                                   uint8_t elf_class, uint64_t n_bytes, struct weft_err *err)
{
    /* The byte order first: it decides how the rest is read. */
    if (endian != LITTLE_ENDIAN_DATA)
        return weft_fail(err, WEFT_E_UNSUPPORTED, 14,
                         "expected little-endian data (1), found %u: a big-endian recording",
                         endian);
    if (elf_class != CLASS_64)
        return weft_fail(err, WEFT_E_UNSUPPORTED, 15,
                         "expected a 64-bit program (2), found %u: a 32-bit recording", elf_class);
    if (version < OLDEST_VERSION || version > NEWEST_VERSION)
        return weft_fail(err, WEFT_E_UNSUPPORTED, 8, "expected version %d or %d, found %" PRIu32,
                         OLDEST_VERSION, NEWEST_VERSION, version);
    if (n_header < WEFT_UFT_HEADER_BYTES || n_header > n_bytes)
        return weft_fail(err, WEFT_E_MALFORMED, 12,
                         "expected a header of %d to %" PRIu64 " bytes, found %" PRIu16,
                         WEFT_UFT_HEADER_BYTES, n_bytes, n_header);
    return WEFT_OK;
}

/* uftrace record --clock mono_raw | boot */
static bool has_other_clock(struct weft_str cmdline)
{
    struct weft_str word;
    while (weft_uft_word(&cmdline, &word)) {
        if (!weft_uft_take(&word, "--clock"))
            continue;
        if (!weft_uft_take(&word, "="))
            (void)weft_uft_word(&cmdline, &word);
        return !weft_str_equal(word, WEFT_STR("mono"));
    }
    return false;
}

static void read_line(struct weft_uft_info *info, struct weft_str line)
{
    if (weft_uft_take(&line, "argspec:"))
        info->args = weft_uft_take(&line, "lines=") ? info->args : line;
    else if (weft_uft_take(&line, "retspec:"))
        info->rets = line;
    else if (weft_uft_take(&line, "argauto:"))
        info->auto_args = line;
    else if (weft_uft_take(&line, "retauto:"))
        info->auto_rets = line;
    else if (weft_uft_take(&line, "auto-args:"))
        info->has_auto_args = weft_str_equal(line, WEFT_STR("1"));
    else if (weft_uft_take(&line, "pattern_type:"))
        info->pattern = weft_str_equal(line, WEFT_STR("glob"))    ? WEFT_UFT_GLOB
                        : weft_str_equal(line, WEFT_STR("regex")) ? WEFT_UFT_REGEX
                                                                  : WEFT_UFT_SIMPLE;
    else if (weft_uft_take(&line, "cmdline:"))
        info->is_monotonic = !has_other_clock(line);
    else if (weft_uft_take(&line, "uftrace_version:"))
        (void)weft_uft_word(&line, &info->writer);
}

enum weft_code weft_uft_info_read(const struct weft_mapped *file, struct weft_uft_info *info,
                                  struct weft_err *err)
{
    struct weft_cursor cur = weft_cur_init(file->bytes, file->n_bytes, 0);
    *info = (struct weft_uft_info){ .is_monotonic = true, .pattern = WEFT_UFT_REGEX };
    if (file->n_bytes >= MAGIC_BYTES && !weft_uft_is_info(file->bytes, file->n_bytes))
        return weft_fail(err, WEFT_E_MALFORMED, 0, "expected the magic \"Ftrace!\"");
    (void)weft_cur_take(&cur, MAGIC_BYTES);
    info->version = weft_cur_u32(&cur);
    uint16_t n_header = weft_cur_u16(&cur);
    uint8_t endian = weft_cur_u8(&cur);
    uint8_t elf_class = weft_cur_u8(&cur);
    info->features = weft_cur_u64(&cur);
    (void)weft_cur_u64(&cur); /* which lines there are */
    info->max_stack = weft_cur_u16(&cur);
    (void)weft_cur_take(&cur, 6);
    if (cur.fault)
        return weft_fail(err, WEFT_E_TRUNCATED, file->n_bytes, "expected a header of %d bytes",
                         WEFT_UFT_HEADER_BYTES);
    WEFT_TRY(check_header(info->version, n_header, endian, elf_class, file->n_bytes, err));
    struct weft_str rest = { .bytes = (const char *)file->bytes + n_header,
                             .n_bytes = file->n_bytes - n_header };
    struct weft_str line;
    while (weft_uft_line(&rest, &line))
        read_line(info, line);
    return WEFT_OK;
}
