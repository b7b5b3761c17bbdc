/* SPDX-License-Identifier: MIT
 *
 * Parses lines of both forms and states what was expected where it cannot. The form is that of the
 * first line and does not change. Fields are views of the text.
 */
#include "ingest/text/line.h"

#include "schema/event.h"

#include <inttypes.h>

enum { SHOWN_BYTES = 40 };

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

static struct weft_str trim_end(struct weft_str text)
{
    while (text.n_bytes &&
           (is_blank(text.bytes[text.n_bytes - 1]) || text.bytes[text.n_bytes - 1] == '\r'))
        text.n_bytes--;
    return text;
}

static struct weft_str trim(struct weft_str text)
{
    while (text.n_bytes && is_blank(*text.bytes)) {
        text.bytes++;
        text.n_bytes--;
    }
    return trim_end(text);
}

bool weft_text_number(const char *digits, const char *end, uint64_t *number)
{
    uint64_t sum = 0;
    if (digits == end)
        return false;
    for (; digits < end; digits++) {
        unsigned digit = (unsigned)(*digits - '0');
        if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *number = sum;
    return true;
}

/* ---- directions -------------------------------------------------------------------------------
 */

/* Parses a trimmed line; on failure says what was expected. */
static bool parse_direction(struct weft_str text, struct weft_text_line *line,
                            const char **expected)
{
    const char *at = text.bytes;
    const char *end = at + text.n_bytes;
    *expected = "direction 0 or 1, a blank, a name, a blank, a time in ns";
    if (text.n_bytes < 2 || (at[0] != '0' && at[0] != '1') || !is_blank(at[1]))
        return false;
    line->kind = at[0] == '0' ? WEFT_CALL_ENTER : WEFT_CALL_EXIT;
    const char *last = end;
    while (last > at + 2 && !is_blank(last[-1]))
        last--;
    if (last <= at + 2) {
        *expected = "a name, a blank and a time in ns after the direction";
        return false;
    }
    line->name =
        trim((struct weft_str){ .bytes = at + 2, .n_bytes = (size_t)(last - 1 - (at + 2)) });
    *expected = "a name between the direction and the time";
    if (line->name.n_bytes == 0)
        return false;
    *expected = "a time in whole ns, below 2^64, at the end";
    return weft_text_number(last, end, &line->time_ns);
}

/* ---- arrows -----------------------------------------------------------------------------------
 */

/* "-->", "->", "<--", "<-", and a blank; what follows is *rest. */
static bool take_arrow(struct weft_str text, uint8_t *kind, struct weft_str *rest)
{
    static const struct {
        const char *arrow;
        uint8_t kind;
    } arrows[] = { { "-->", WEFT_CALL_ENTER },
                   { "<--", WEFT_CALL_EXIT },
                   { "->", WEFT_CALL_ENTER },
                   { "<-", WEFT_CALL_EXIT } };
    for (size_t k = 0; k < sizeof arrows / sizeof *arrows; k++) {
        size_t n_arrow = strlen(arrows[k].arrow);
        if (text.n_bytes <= n_arrow || memcmp(text.bytes, arrows[k].arrow, n_arrow) != 0 ||
            !is_blank(text.bytes[n_arrow]))
            continue;
        *kind = arrows[k].kind;
        *rest = trim(
            (struct weft_str){ .bytes = text.bytes + n_arrow, .n_bytes = text.n_bytes - n_arrow });
        return true;
    }
    return false;
}

/* Takes the first word of a trimmed text, or the last. */
static struct weft_str take_first(struct weft_str *rest)
{
    struct weft_str word = { .bytes = rest->bytes };
    while (word.n_bytes < rest->n_bytes && !is_blank(rest->bytes[word.n_bytes]))
        word.n_bytes++;
    *rest = trim((struct weft_str){ .bytes = rest->bytes + word.n_bytes,
                                    .n_bytes = rest->n_bytes - word.n_bytes });
    return word;
}

static struct weft_str take_last(struct weft_str *rest)
{
    size_t at = rest->n_bytes;
    while (at && !is_blank(rest->bytes[at - 1]))
        at--;
    struct weft_str word = { .bytes = rest->bytes + at, .n_bytes = rest->n_bytes - at };
    *rest = trim_end((struct weft_str){ .bytes = rest->bytes, .n_bytes = at });
    return word;
}

static bool number_of(struct weft_str word, uint64_t *number)
{
    return weft_text_number(word.bytes, word.bytes + word.n_bytes, number);
}

/* A name of one word, then thread, time, and perhaps an object. */
static bool parse_full(struct weft_str rest, struct weft_text_line *line)
{
    line->name = take_first(&rest);
    struct weft_str tid = take_first(&rest);
    struct weft_str time = take_first(&rest);
    line->object = rest;
    line->has_tid = true;
    return number_of(tid, &line->tid) && number_of(time, &line->time_ns);
}

/* A name of any words, perhaps a thread, and the time at the end. */
static bool parse_plain(struct weft_str rest, struct weft_text_line *line, const char **expected)
{
    struct weft_str time = take_last(&rest);
    line->object = (struct weft_str){ 0 };
    *expected = "a time in whole ns, below 2^64, after the name (or its thread)";
    if (!number_of(time, &line->time_ns))
        return false;
    *expected = "a name between the arrow and the time";
    if (rest.n_bytes == 0)
        return false;
    line->name = rest;
    struct weft_str tid = take_last(&rest);
    line->has_tid = rest.n_bytes && number_of(tid, &line->tid);
    if (line->has_tid)
        line->name = rest;
    return true;
}

static bool parse_arrow(struct weft_str text, struct weft_text_line *line, const char **expected)
{
    struct weft_str rest;
    *expected = "an arrow --> or <--, a blank, a name, a thread, a time in ns";
    if (!take_arrow(text, &line->kind, &rest))
        return false;
    return parse_full(rest, line) || parse_plain(rest, line, expected);
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static enum weft_text_form form_of(struct weft_str text)
{
    uint8_t kind;
    struct weft_str rest;
    return take_arrow(text, &kind, &rest) ? WEFT_TEXT_ARROW : WEFT_TEXT_DIRECTION;
}

/* The next line that is not empty, trimmed. With directions, empty lines are allowed only at the
 * end; DINAMITE writes them between arrows. */
static enum weft_code next_line(struct weft_text_walk *walk, struct weft_str *text, bool *is_end,
                                struct weft_err *err)
{
    uint64_t empty_off = 0;
    uint64_t empty_number = 0;
    while (walk->at_off < walk->n_bytes) {
        const char *line = walk->bytes + walk->at_off;
        const char *end = memchr(line, '\n', walk->n_bytes - walk->at_off);
        size_t n_line = end ? (size_t)(end - line) : walk->n_bytes - walk->at_off;
        walk->line_off = walk->at_off;
        walk->line_number++;
        walk->at_off += n_line + (end != NULL);
        *text = trim_end((struct weft_str){ .bytes = line, .n_bytes = n_line });
        *is_end = false;
        if (text->n_bytes && walk->form == WEFT_TEXT_UNKNOWN)
            walk->form = form_of(*text);
        if (text->n_bytes && empty_number && walk->form == WEFT_TEXT_DIRECTION)
            return weft_fail_line(err, WEFT_E_MALFORMED, empty_off, empty_number,
                                  "expected a record, found an empty line before others");
        if (text->n_bytes)
            return WEFT_OK;
        if (!empty_number) {
            empty_off = walk->line_off;
            empty_number = walk->line_number;
        }
    }
    *is_end = true;
    return WEFT_OK;
}

enum weft_code weft_text_next(struct weft_text_walk *walk, struct weft_text_line *line,
                              bool *is_end, struct weft_err *err)
{
    struct weft_str text;
    const char *expected;
    *line = (struct weft_text_line){ 0 };
    enum weft_code code = next_line(walk, &text, is_end, err);
    if (code != WEFT_OK || *is_end)
        return code;
    if (walk->form == WEFT_TEXT_ARROW ? parse_arrow(text, line, &expected)
                                      : parse_direction(text, line, &expected))
        return WEFT_OK;
    return weft_fail_line(err, WEFT_E_MALFORMED, walk->line_off, walk->line_number,
                          "expected %s, found \"%.*s\"", expected,
                          text.n_bytes < SHOWN_BYTES ? (int)text.n_bytes : SHOWN_BYTES, text.bytes);
}
