/* SPDX-License-Identifier: MIT
 *
 * See perf_map.h. What is no line of a map is counted and passed over.
 */
#include "symbols/perf_map.h"

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void skip_blanks(struct weft_str *text)
{
    while (text->n_bytes && (*text->bytes == ' ' || *text->bytes == '\t')) {
        text->bytes++;
        text->n_bytes--;
    }
}

/* Up to 16 digits, with or without "0x", and a blank behind them. */
static bool take_hex(struct weft_str *text, uint64_t *number)
{
    size_t at = 0, n_digits = 0;
    if (text->n_bytes > 2 && text->bytes[0] == '0' && (text->bytes[1] | 0x20) == 'x')
        at = 2;
    *number = 0;
    for (; at < text->n_bytes && digit_of(text->bytes[at]) >= 0; at++) {
        if (*number >> 60)
            return false;
        *number = *number << 4 | (uint64_t)digit_of(text->bytes[at]);
        n_digits++;
    }
    if (n_digits == 0 || at == text->n_bytes || (text->bytes[at] != ' ' && text->bytes[at] != '\t'))
        return false;
    text->bytes += at;
    text->n_bytes -= at;
    skip_blanks(text);
    return true;
}

bool weft_perf_map_line(struct weft_str line, uint64_t *begin, uint64_t *n_bytes,
                        struct weft_str *name)
{
    *begin = *n_bytes = 0;
    while (line.n_bytes &&
           (line.bytes[line.n_bytes - 1] == '\r' || line.bytes[line.n_bytes - 1] == ' '))
        line.n_bytes--;
    skip_blanks(&line);
    *name = line;
    if (line.n_bytes == 0)
        return true;
    if (!take_hex(&line, begin) || !take_hex(&line, n_bytes) || line.n_bytes == 0 ||
        *begin > UINT64_MAX - *n_bytes)
        return false;
    *name = line;
    return true;
}

bool weft_perf_map_read(struct weft_jit_names *names, struct weft_str text)
{
    while (text.n_bytes > 0) {
        const char *end = memchr(text.bytes, '\n', text.n_bytes);
        const size_t n_line = end ? (size_t)(end - text.bytes) : text.n_bytes;
        struct weft_str name;
        uint64_t begin, n_bytes;
        if (!weft_perf_map_line((struct weft_str){ text.bytes, n_line }, &begin, &n_bytes, &name))
            names->n_bad++;
        else if (n_bytes && !weft_jit_put(names, begin, n_bytes, 0, name))
            return false;
        text.bytes += n_line + (end != NULL);
        text.n_bytes -= n_line + (end != NULL);
    }
    return true;
}
