/* SPDX-License-Identifier: MIT
 *
 * Parses one line from both ends, since names of threads may contain blanks, digits and brackets:
 * the time stamp is searched first, then CPU, flags and process to its left, the event to its
 * right. Nothing is copied; a line that does not fit is no event.
 */
#include "ingest/ftrace/line.h"

#include "base/decimal.h"
#include "kernel/words.h"

static const char blanks[] = " \t";

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_hex(char byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'f');
}

/* ---- words ----------------------------------------------------------------------------------- */

static struct weft_str first(struct weft_str text, size_t n_bytes)
{
    return kernel_slice(text, 0, n_bytes);
}

static char last_of(struct weft_str text)
{
    return text.n_bytes ? text.bytes[text.n_bytes - 1] : '\0';
}

/* Takes the first word off. */
static struct weft_str take_word(struct weft_str *text)
{
    *text = kernel_trim(*text);
    size_t n_word = 0;
    while (n_word < text->n_bytes && !kernel_is_blank(text->bytes[n_word]))
        n_word++;
    const struct weft_str word = first(*text, n_word);
    *text = kernel_from(*text, n_word);
    return word;
}

/* Takes the last word off. */
static struct weft_str take_last(struct weft_str *text)
{
    *text = kernel_trim(*text);
    size_t at = text->n_bytes;
    while (at > 0 && !kernel_is_blank(text->bytes[at - 1]))
        at--;
    const struct weft_str word = kernel_from(*text, at);
    *text = first(*text, at);
    return word;
}

/* All of `text` is digits: fewer than 19, so that they fit. */
static bool read_digits(struct weft_str text, int64_t *number)
{
    *number = 0;
    for (size_t k = 0; k < text.n_bytes; k++) {
        if (!is_digit(text.bytes[k]) || k >= 18)
            return false;
        *number = *number * 10 + (text.bytes[k] - '0');
    }
    return text.n_bytes > 0;
}

static bool is_all_hex(struct weft_str text)
{
    for (size_t k = 0; k < text.n_bytes; k++)
        if (!is_hex(text.bytes[k]))
            return false;
    return text.n_bytes > 0 && text.n_bytes <= 16;
}

static size_t find_byte(struct weft_str text, char byte)
{
    const char *at = text.n_bytes ? memchr(text.bytes, byte, text.n_bytes) : NULL;
    return at ? (size_t)(at - text.bytes) : SIZE_MAX;
}

static size_t find_last_byte(struct weft_str text, char byte)
{
    const char *at = text.n_bytes ? memrchr(text.bytes, byte, text.n_bytes) : NULL;
    return at ? (size_t)(at - text.bytes) : SIZE_MAX;
}

/* ---- the thread, the CPU --------------------------------------------------------------------- */

static bool read_cpu(struct weft_str word, int32_t *cpu)
{
    int64_t number;
    if (word.n_bytes < 3 || word.n_bytes > 7 || word.bytes[0] != '[' || last_of(word) != ']' ||
        !read_digits(first(kernel_from(word, 1), word.n_bytes - 2), &number))
        return false;
    *cpu = (int32_t)number;
    return true;
}

/* "12", "10/12", "-1". */
static bool read_pid_tid(struct weft_str word, struct ftrace_line *line)
{
    const size_t slash = find_byte(word, '/');
    if (weft_str_equal(word, WEFT_STR("-1")) || weft_str_equal(word, WEFT_STR("-1/-1")))
        return true;
    if (slash == SIZE_MAX)
        return read_digits(word, &line->tid);
    return read_digits(first(word, slash), &line->pid) &&
           read_digits(kernel_from(word, slash + 1), &line->tid);
}

/* Takes a column "(  123)" or "(-----)" off. */
static void take_process(struct weft_str *text, struct ftrace_line *line)
{
    *text = kernel_trim(*text);
    const size_t open = last_of(*text) == ')' ? find_last_byte(*text, '(') : SIZE_MAX;
    if (open == SIZE_MAX)
        return;
    const struct weft_str inside =
        kernel_trim(first(kernel_from(*text, open + 1), text->n_bytes - open - 2));
    int64_t pid;
    if (read_digits(inside, &pid))
        line->pid = pid;
    *text = first(*text, open);
}

/* "comm-12", or "comm 12": what is left of the line's front. */
static bool read_thread(struct weft_str text, struct ftrace_line *line)
{
    struct weft_str front = kernel_trim(text);
    const struct weft_str word = take_last(&front);
    front = kernel_trim(front);
    if (front.n_bytes && read_pid_tid(word, line)) {
        line->comm = front;
        return true;
    }
    text = kernel_trim(text);
    const size_t dash = find_last_byte(text, '-');
    if (dash == SIZE_MAX || dash == 0 || !read_digits(kernel_from(text, dash + 1), &line->tid))
        return false;
    line->comm = kernel_trim(first(text, dash));
    return true;
}

static bool read_front(struct weft_str text, struct ftrace_line *line)
{
    struct weft_str rest = kernel_trim(text);
    struct weft_str word = take_last(&rest);
    if (!read_cpu(word, &line->cpu)) { /* flags stand behind the CPU */
        struct weft_str before = rest;
        word = take_last(&before);
        if (read_cpu(word, &line->cpu))
            rest = before;
        else
            rest = text;
    }
    take_process(&rest, line);
    return read_thread(rest, line);
}

/* ---- the event ------------------------------------------------------------------------------- */

/* "3466.127372250:" */
static bool read_time(struct weft_str word, uint64_t *time_ns)
{
    struct weft_decimal_ns time;
    if (word.n_bytes < 4 || last_of(word) != ':' || !is_digit(word.bytes[0]))
        return false;
    word.n_bytes--;
    const size_t point = find_byte(word, '.');
    int64_t digits;
    if (point == SIZE_MAX || !read_digits(first(word, point), &digits) ||
        !read_digits(kernel_from(word, point + 1), &digits) ||
        !weft_decimal_parse(word.bytes, word.n_bytes, WEFT_DECIMAL_S, &time))
        return false;
    *time_ns = (uint64_t)time.ns;
    return true;
}

/* What perf prints behind the fields of an event without a stack: "ffffffff81399969 f ([k])". */
static void split_symbol(struct ftrace_line *line)
{
    struct weft_str rest = line->fields;
    const size_t open = find_last_byte(rest, '(');
    if (last_of(rest) != ')' || open == SIZE_MAX || open < 3)
        return;
    struct weft_str head = kernel_trim(first(rest, open)), symbol = { 0 };
    size_t at = SIZE_MAX;
    for (struct weft_str left = head; left.n_bytes;) {
        const struct weft_str word = take_word(&left);
        if (word.n_bytes >= 4 && is_all_hex(word) && kernel_trim(left).n_bytes) {
            at = (size_t)(word.bytes - rest.bytes);
            symbol = kernel_trim(left);
        }
    }
    if (at == SIZE_MAX)
        return;
    line->fields = kernel_trim(first(rest, at));
    line->symbol = symbol;
}

/* "event: fields", "event(fields)", "event -> value", "function <-caller". */
static bool read_event(struct weft_str text, struct ftrace_line *line)
{
    struct weft_str rest = kernel_trim(text), after = rest;
    struct weft_str word = take_word(&after);
    int64_t period;
    if (read_digits(word, &period)) {
        line->period = (uint64_t)period;
        rest = kernel_trim(after);
        after = rest;
        word = take_word(&after);
    }
    const size_t open = find_byte(word, '(');
    const struct weft_str next = kernel_trim(after);
    if (open != SIZE_MAX && open > 0 && last_of(rest) == ')') {
        line->event = first(word, open);
        line->fields = first(kernel_from(rest, open + 1), rest.n_bytes - open - 2);
    } else if (last_of(word) == ':') {
        line->event = first(word, word.n_bytes - 1);
        line->fields = next;
    } else if (next.n_bytes > 2 &&
               (memcmp(next.bytes, "->", 2) == 0 || memcmp(next.bytes, "<-", 2) == 0)) {
        line->event = word;
        line->fields = next;
    } else {
        return false;
    }
    while (last_of(line->event) == ':') /* perf's modifiers may be empty: "cycles::" */
        line->event.n_bytes--;
    split_symbol(line);
    return line->event.n_bytes > 0;
}

bool ftrace_line_read(struct weft_str text, struct ftrace_line *line)
{
    *line = (struct ftrace_line){ .tid = -1, .pid = -1, .cpu = -1, .period = 1 };
    for (struct weft_str rest = text; rest.n_bytes;) {
        const struct weft_str word = take_word(&rest);
        if (read_time(word, &line->time_ns))
            return read_front(first(text, (size_t)(word.bytes - text.bytes)), line) &&
                   read_event(rest, line);
    }
    return false;
}

/* ---- other lines ----------------------------------------------------------------------------- */

static struct weft_str without_offset(struct weft_str symbol)
{
    const size_t plus = find_last_byte(symbol, '+');
    if (plus != SIZE_MAX && plus > 0 && symbol.n_bytes > plus + 2 &&
        memcmp(symbol.bytes + plus, "+0x", 3) == 0 && is_all_hex(kernel_from(symbol, plus + 3)))
        return first(symbol, plus);
    return symbol;
}

bool ftrace_line_frame(struct weft_str text, struct weft_str *symbol)
{
    struct weft_str rest = text;
    if (text.n_bytes == 0 || !strchr(blanks, text.bytes[0]))
        return false;
    const struct weft_str address = take_word(&rest);
    rest = kernel_trim(rest);
    const size_t open = find_last_byte(rest, '(');
    if (!is_all_hex(address) || rest.n_bytes == 0)
        return false;
    const bool has_file = open != SIZE_MAX && last_of(rest) == ')';
    const struct weft_str file = has_file
                                     ? first(kernel_from(rest, open + 1), rest.n_bytes - open - 2)
                                     : (struct weft_str){ 0 };
    *symbol = without_offset(kernel_trim(has_file ? first(rest, open) : rest));
    /* Without a name, the file says at least whose function it is. */
    if (file.n_bytes && weft_str_equal(*symbol, WEFT_STR("[unknown]"))) {
        const size_t slash = find_last_byte(file, '/');
        *symbol = slash == SIZE_MAX ? file : kernel_from(file, slash + 1);
    }
    return symbol->n_bytes > 0;
}

uint64_t ftrace_line_lost(struct weft_str text)
{
    int64_t number = 0;
    struct weft_str rest = kernel_trim(text);
    if (rest.n_bytes < 8 || memcmp(rest.bytes, "CPU", 3) != 0)
        return 0;
    const struct weft_str word = take_word(&rest);
    if (word.n_bytes == 3)
        (void)take_word(&rest); /* its number */
    struct weft_str first_word = take_word(&rest);
    if (first_word.n_bytes == 0 || first_word.bytes[0] != '[')
        return 0;
    first_word = kernel_from(first_word, 1);
    if (weft_str_equal(first_word, WEFT_STR("LOST")))
        first_word = take_word(&rest);
    return read_digits(first_word, &number) ? (uint64_t)number : 0;
}

bool ftrace_line_is_heading(struct weft_str text)
{
    const struct weft_str inner = kernel_trim(text);
    return inner.n_bytes == 0 || inner.bytes[0] == '#' ||
           (inner.n_bytes > 5 && memcmp(inner.bytes, "cpus=", 5) == 0) ||
           (inner.n_bytes > 8 && memcmp(inner.bytes, "version ", 8) == 0);
}

struct weft_str ftrace_line_machine(struct weft_str text)
{
    static const char front[] = "# arch :";
    const size_t n_front = sizeof front - 1;
    const bool is_told = text.n_bytes > n_front && memcmp(text.bytes, front, n_front) == 0;
    return is_told ? kernel_trim(kernel_from(text, n_front)) : WEFT_STR("");
}
