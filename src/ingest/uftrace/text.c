/* SPDX-License-Identifier: MIT
 *
 * Small scanners over a text view that advance as they succeed: words, lines, prefixes, numbers.
 * Numbers that do not fit 64 bits are no numbers. Private to this importer.
 */
#include "ingest/uftrace/text.h"

#define NS_PER_SECOND UINT64_C(1000000000)

static void advance(struct weft_str *rest, size_t n_bytes)
{
    rest->bytes += n_bytes;
    rest->n_bytes -= n_bytes;
}

bool weft_uft_until(struct weft_str *rest, char mark, struct weft_str *part)
{
    if (rest->n_bytes == 0)
        return false;
    const char *end = memchr(rest->bytes, mark, rest->n_bytes);
    size_t n_part = end ? (size_t)(end - rest->bytes) : rest->n_bytes;
    *part = (struct weft_str){ .bytes = rest->bytes, .n_bytes = n_part };
    advance(rest, n_part + (end != NULL));
    return true;
}

bool weft_uft_line(struct weft_str *rest, struct weft_str *line)
{
    if (!weft_uft_until(rest, '\n', line))
        return false;
    if (line->n_bytes && line->bytes[line->n_bytes - 1] == '\r')
        line->n_bytes--;
    return true;
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

bool weft_uft_word(struct weft_str *rest, struct weft_str *word)
{
    while (rest->n_bytes && is_blank(rest->bytes[0]))
        advance(rest, 1);
    size_t n_word = 0;
    while (n_word < rest->n_bytes && !is_blank(rest->bytes[n_word]))
        n_word++;
    *word = (struct weft_str){ .bytes = rest->bytes, .n_bytes = n_word };
    advance(rest, n_word);
    return n_word > 0;
}

bool weft_uft_take(struct weft_str *rest, const char *prefix)
{
    size_t n_prefix = strlen(prefix);
    if (rest->n_bytes < n_prefix || memcmp(rest->bytes, prefix, n_prefix) != 0)
        return false;
    advance(rest, n_prefix);
    return true;
}

bool weft_uft_decimal(struct weft_str word, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < word.n_bytes; k++) {
        unsigned digit = (unsigned)(word.bytes[k] - '0');
        if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *value = sum;
    return word.n_bytes > 0;
}

bool weft_uft_hex(struct weft_str word, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < word.n_bytes; k++) {
        char letter = word.bytes[k];
        unsigned digit = letter >= '0' && letter <= '9'   ? (unsigned)(letter - '0')
                         : letter >= 'a' && letter <= 'f' ? (unsigned)(letter - 'a' + 10)
                         : letter >= 'A' && letter <= 'F' ? (unsigned)(letter - 'A' + 10)
                                                          : 16;
        if (digit > 15 || sum >> 60)
            return false;
        sum = sum << 4 | digit;
    }
    *value = sum;
    return word.n_bytes > 0;
}

bool weft_uft_timestamp(struct weft_str word, uint64_t *ns)
{
    struct weft_str seconds;
    uint64_t whole;
    uint64_t part = 0;
    if (!weft_uft_until(&word, '.', &seconds) || !weft_uft_decimal(seconds, &whole))
        return false;
    if (word.n_bytes && (word.n_bytes != 9 || !weft_uft_decimal(word, &part)))
        return false;
    return !__builtin_mul_overflow(whole, NS_PER_SECOND, &whole) &&
           !__builtin_add_overflow(whole, part, ns);
}

bool weft_uft_field(struct weft_str line, const char *key, struct weft_str *value)
{
    while (weft_uft_word(&line, value))
        if (weft_uft_take(value, key))
            return true;
    return false;
}

struct weft_str weft_uft_base_name(struct weft_str path)
{
    size_t begin = path.n_bytes;
    if (begin == 0)
        return path;
    while (begin && path.bytes[begin - 1] != '/')
        begin--;
    return (struct weft_str){ .bytes = path.bytes + begin, .n_bytes = path.n_bytes - begin };
}
