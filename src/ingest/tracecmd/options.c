/* SPDX-License-Identifier: MIT
 *
 * Options: what trace-cmd says about machine and recording.
 */
#include "ingest/tracecmd/file.h"
#include "kernel/bytes.h"

#include <stdlib.h>

enum tracecmd_option {
    OPTION_DATE = 1,
    OPTION_BUFFER = 3,
    OPTION_CLOCK = 4,
    OPTION_UNAME = 5,
    OPTION_OFFSET = 7,
    OPTION_VERSION = 9,
    OPTION_TSC2NSEC = 14,
};

/* A number of C in a text that ends with NUL or with the option. */
static int64_t parse_number(struct weft_str text)
{
    char digits[32];
    if (text.n_bytes >= sizeof digits)
        return 0;
    memcpy(digits, text.bytes, text.n_bytes);
    digits[text.n_bytes] = '\0';
    return (int64_t)strtoull(digits, NULL, 0);
}

/* "local global [mono]": the one in brackets; a single word is the clock itself. */
static struct weft_str chosen_clock(struct weft_str text)
{
    const char *open = text.n_bytes ? memchr(text.bytes, '[', text.n_bytes) : NULL;
    if (!open)
        return text;
    const size_t n_left = text.n_bytes - (size_t)(open + 1 - text.bytes);
    const char *close = n_left ? memchr(open + 1, ']', n_left) : NULL;
    return (struct weft_str){ open + 1, close ? (size_t)(close - open - 1) : n_left };
}

/* "Linux host 6.1.0 x86_64": the machine. */
static struct weft_str last_word(struct weft_str text)
{
    size_t n = 0;
    while (n < text.n_bytes && text.bytes[text.n_bytes - 1 - n] != ' ')
        n++;
    return (struct weft_str){ text.bytes + text.n_bytes - n, n };
}

static void read_tsc(struct tracecmd_file *file, struct weft_cursor *cur)
{
    const bool is_big = file->formats.is_big;
    file->tsc_mult = kernel_cur_u32(cur, is_big);
    file->tsc_shift = kernel_cur_u32(cur, is_big);
    file->tsc_offset = kernel_cur_u64(cur, is_big);
    file->has_tsc = !cur->fault && file->tsc_mult > 0 && file->tsc_shift < 64;
}

enum weft_code tracecmd_option_read(struct tracecmd_file *file, uint16_t option,
                                    struct weft_cursor *cur, struct weft_err *err)
{
    const struct weft_str text = kernel_text_in(cur->at, weft_cur_left(cur));
    (void)err;
    switch (option) {
    case OPTION_DATE: /* microseconds */
        file->has_date = text.n_bytes > 0;
        file->date_ns = (int64_t)((uint64_t)parse_number(text) * 1000);
        break;
    case OPTION_BUFFER:
        file->n_other_buffers++;
        break;
    case OPTION_CLOCK:
        file->clock = chosen_clock(text);
        break;
    case OPTION_UNAME:
        file->uname = text;
        file->abi = kernel_abi_of(last_word(text));
        break;
    case OPTION_OFFSET:
        file->offset_ns += (uint64_t)parse_number(text);
        break;
    case OPTION_VERSION:
        file->writer = text;
        break;
    case OPTION_TSC2NSEC:
        read_tsc(file, cur);
        break;
    default:
        break;
    }
    return WEFT_OK;
}
