/* SPDX-License-Identifier: MIT
 *
 * Parses argument specifications and matches functions by name, pattern or expression, as uftrace
 * does; then measures and prints the data of a record. The number of bytes follows from the
 * specification alone, so a wrong one is noticed by walk.c when no record follows.
 */
#include "ingest/uftrace/argspec.h"

#include "base/cursor.h"
#include "base/regex.h"
#include "ingest/uftrace/text.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PATTERN_BYTES = 4096, MOST_NAME_BYTES = 1024, MOST_STRUCT_BYTES = 1024 };

/* ---- one value --------------------------------------------------------------------------------
 */

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* Digits at the start, taken; false if there are none or too many. */
static bool take_number(struct weft_str *rest, uint64_t *number)
{
    struct weft_str digits = { .bytes = rest->bytes };
    while (digits.n_bytes < rest->n_bytes && is_digit(rest->bytes[digits.n_bytes]))
        digits.n_bytes++;
    rest->bytes += digits.n_bytes;
    rest->n_bytes -= digits.n_bytes;
    return weft_uft_decimal(digits, number);
}

static bool set_bits(struct weft_uft_arg *arg, uint64_t n_bits)
{
    if (n_bits != 8 && n_bits != 16 && n_bits != 32 && n_bits != 64 &&
        !(n_bits == 80 && arg->format == 'f'))
        return false;
    arg->n_bytes = (uint16_t)(n_bits / 8);
    return true;
}

/* What stands behind the slash: a letter, and perhaps bits or a name. */
static bool parse_format(struct weft_str format, struct weft_uft_arg *arg)
{
    uint64_t number;
    if (format.n_bytes == 0)
        return false;
    if (is_digit(format.bytes[0])) /* fparg1/64 */
        return arg->format == 'f' && take_number(&format, &number) && set_bits(arg, number);
    arg->format = format.bytes[0];
    format.bytes++;
    format.n_bytes--;
    arg->n_bytes = arg->format == 'c' ? 1 : 8;
    if (!strchr("diuxocfspSet", arg->format))
        return false;
    if (arg->format == 's' || arg->format == 'S') {
        arg->n_bytes = 0;
        return true;
    }
    if (arg->format == 'e')
        return true; /* an enumeration's name follows */
    if (arg->format == 't') {
        if (!take_number(&format, &number) || number > MOST_STRUCT_BYTES)
            return false;
        arg->n_bytes = (uint16_t)number;
        return true;
    }
    if (format.n_bytes == 0)
        return true;
    return take_number(&format, &number) && format.n_bytes == 0 && set_bits(arg, number);
}

/* 1: a value of the wanted side; 0: of the other side, or no value; -1: not understood. */
static int parse_arg(struct weft_str text, bool rets, struct weft_uft_arg *arg)
{
    struct weft_str body;
    struct weft_str format;
    *arg = (struct weft_uft_arg){ .format = 'd', .n_bytes = 8 };
    if (!weft_uft_until(&text, '%', &body)) /* behind % stands the register */
        return 0;
    format = body;
    if (!weft_uft_until(&format, '/', &body))
        return 0;
    bool is_ret = weft_str_equal(body, WEFT_STR("retval"));
    bool is_float = weft_uft_take(&body, "fparg");
    bool is_arg = is_float || weft_uft_take(&body, "arg");
    if (!is_ret && (!is_arg || body.n_bytes == 0 || !is_digit(body.bytes[0])))
        return 0; /* a module, or what a trigger does */
    if (is_float)
        arg->format = 'f';
    if (format.n_bytes && !parse_format(format, arg))
        return is_ret == rets ? -1 : 0;
    return is_ret == rets;
}

bool weft_uft_args_parse(struct weft_str list, bool rets, struct weft_uft_args *args)
{
    struct weft_str text;
    args->n = 0;
    (void)weft_uft_take(&list, "@");
    while (weft_uft_until(&list, ',', &text)) {
        struct weft_uft_arg arg;
        int found = parse_arg(text, rets, &arg);
        if (found < 0 || (found && args->n == WEFT_UFT_MOST_ARGS))
            return false;
        if (found && (arg.n_bytes || arg.format != 't')) /* an empty struct leaves nothing */
            args->items[args->n++] = arg;
    }
    return true;
}

/* ---- the function it is for -------------------------------------------------------------------
 */

/* What uftrace does not understand as an expression it takes as a name, and so does this. */
static enum weft_code matches_regex(const char *pattern, const char *name, bool *is_match,
                                    struct weft_err *err)
{
    struct weft_regex *regex;
    struct weft_err own = { 0 };
    enum weft_code code = weft_regex_new(weft_str_of(pattern), &regex, &own);
    WEFT_THEN(code, weft_regex_match(regex, weft_str_of(name), is_match, &own));
    weft_regex_free(regex);
    if (code == WEFT_OK || code == WEFT_E_ARG)
        return WEFT_OK;
    return weft_fail(err, code, WEFT_NO_OFFSET, "%s", own.text);
}

static enum weft_code matches_text(const char *pattern, enum weft_uft_pattern kind,
                                   const char *name, bool *is_match, struct weft_err *err)
{
    *is_match = strcmp(pattern, name) == 0;
    if (*is_match)
        return WEFT_OK;
    if (kind == WEFT_UFT_GLOB && strpbrk(pattern, "*?["))
        *is_match = fnmatch(pattern, name, 0) == 0;
    else if (kind == WEFT_UFT_REGEX && strpbrk(pattern, ".*?[]^$()|+{}\\"))
        return matches_regex(pattern, name, is_match, err);
    return WEFT_OK;
}

/* The symbol's name, and as a person writes it without parameters. */
struct names {
    char raw[MOST_NAME_BYTES];
    char plain[MOST_NAME_BYTES];
};

static void find_names(struct weft_str symbol, struct names *names)
{
    (void)snprintf(names->raw, sizeof names->raw, "%.*s",
                   symbol.n_bytes < MOST_NAME_BYTES ? (int)symbol.n_bytes : 0, symbol.bytes);
    char *plain = strncmp(names->raw, "_Z", 2) == 0
                      ? cplus_demangle(names->raw, DMGL_ANSI | DMGL_AUTO)
                      : NULL;
    (void)snprintf(names->plain, sizeof names->plain, "%s", plain ? plain : names->raw);
    free(plain);
}

static enum weft_code matches(struct weft_str pattern, enum weft_uft_pattern kind,
                              const struct names *names, bool *is_match, struct weft_err *err)
{
    char text[MOST_PATTERN_BYTES];
    *is_match = false;
    if (pattern.n_bytes >= sizeof text)
        return weft_fail(
            err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
            "expected a pattern of functions of at most %zu bytes, found %zu: %.60s...",
            sizeof text - 1, pattern.n_bytes, pattern.bytes);
    (void)snprintf(text, sizeof text, "%.*s", (int)pattern.n_bytes, pattern.bytes);
    enum weft_code code = matches_text(text, kind, names->raw, is_match, err);
    if (code == WEFT_OK && !*is_match && strcmp(names->raw, names->plain) != 0)
        code = matches_text(text, kind, names->plain, is_match, err);
    return code;
}

/* Is an item of the list for the function? *spec is what stands behind its "@". The last one
 * rules. */
static enum weft_code find_item(struct weft_str list, enum weft_uft_pattern kind,
                                const struct names *names, struct weft_str *spec, bool *is_found,
                                struct weft_err *err)
{
    struct weft_str item;
    *is_found = false;
    while (weft_uft_until(&list, ';', &item)) {
        struct weft_str pattern;
        bool is_match;
        if (!weft_uft_until(&item, '@', &pattern))
            continue;
        WEFT_TRY(matches(pattern, kind, names, &is_match, err));
        if (is_match)
            *spec = item;
        *is_found |= is_match;
    }
    return WEFT_OK;
}

/* What is known stays. */
static enum weft_code from_list(struct weft_str list, enum weft_uft_pattern kind,
                                const struct names *names, bool rets, struct weft_uft_args *args,
                                bool *is_known, struct weft_err *err)
{
    struct weft_str spec;
    bool is_found;
    if (*is_known)
        return WEFT_OK;
    const enum weft_code code = find_item(list, kind, names, &spec, &is_found, err);
    *is_known = code == WEFT_OK && is_found && weft_uft_args_parse(spec, rets, args) && args->n > 0;
    return code;
}

enum weft_code weft_uft_args_of(const struct weft_uft_info *info,
                                const struct weft_uft_module *module, uint32_t symbol, bool rets,
                                struct weft_uft_args *args, bool *is_known, struct weft_err *err)
{
    struct names names;
    const struct weft_uft_symbol *function = &module->symbols.items[symbol];
    find_names(function->name, &names);
    *is_known = false;
    enum weft_code code =
        from_list(rets ? info->rets : info->args, info->pattern, &names, rets, args, is_known, err);
    if (code == WEFT_OK && rets)
        code = from_list(info->args, info->pattern, &names, rets, args, is_known, err);
    if (code != WEFT_OK || *is_known)
        return code;
    const struct weft_uft_debug *debug = weft_uft_debug_at(module, function->address);
    struct weft_str spec = { 0 };
    if (debug)
        spec = rets ? debug->rets : debug->args;
    if (spec.n_bytes) {
        *is_known = weft_uft_args_parse(spec, rets, args) && args->n > 0;
        return WEFT_OK;
    }
    return from_list(rets ? info->auto_rets : info->auto_args, WEFT_UFT_SIMPLE, &names, rets, args,
                     is_known, err);
}

/* ---- data -------------------------------------------------------------------------------------
 */

static size_t aligned(size_t n_bytes, size_t to)
{
    return (n_bytes + to - 1) / to * to;
}

static bool is_string(const struct weft_uft_arg *arg)
{
    return arg->format == 's' || arg->format == 'S';
}

size_t weft_uft_args_size(const struct weft_uft_args *args, const uint8_t *bytes, size_t n_bytes)
{
    size_t at = 0;
    for (size_t k = 0; k < args->n; k++) {
        size_t n_value = args->items[k].n_bytes;
        if (is_string(&args->items[k])) {
            if (n_bytes - at < 2)
                return 0;
            n_value = 2 + (size_t)weft_load_u16(bytes + at);
        }
        n_value = aligned(n_value, 4);
        if (n_value > n_bytes - at)
            return 0;
        at += n_value;
    }
    at = aligned(at, 8);
    return at <= n_bytes ? at : 0;
}

struct text {
    char *bytes;
    size_t n_bytes, cap;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = text->cap - text->n_bytes;
    int n_new = vsnprintf(text->bytes + text->n_bytes, room, format, args);
    va_end(args);
    if (n_new > 0)
        text->n_bytes += (size_t)n_new < room ? (size_t)n_new : room ? room - 1 : 0;
}

static void add_quoted(struct text *text, char quote, const uint8_t *bytes, size_t n_bytes)
{
    add(text, "%c", quote);
    for (size_t k = 0; k < n_bytes && bytes[k]; k++) {
        if (bytes[k] < 0x20 || bytes[k] == 0x7f)
            add(text, "\\x%02x", bytes[k]);
        else
            add(text, bytes[k] == (uint8_t)quote || bytes[k] == '\\' ? "\\%c" : "%c", bytes[k]);
    }
    add(text, "%c", quote);
}

/* The low bytes as an unsigned number, and as a signed one. */
static uint64_t load(const uint8_t *bytes, size_t n_bytes)
{
    uint64_t value = 0;
    for (size_t k = 0; k < n_bytes && k < 8; k++)
        value |= (uint64_t)bytes[k] << 8 * k;
    return value;
}

static int64_t signed_of(uint64_t value, size_t n_bytes)
{
    unsigned n_shift = n_bytes < 8 ? 64 - 8 * (unsigned)n_bytes : 0;
    return (int64_t)(value << n_shift) >> n_shift;
}

static void add_float(struct text *text, const uint8_t *bytes, size_t n_bytes)
{
    float single;
    double number = 0;
    long double extended = 0;
    if (n_bytes == 4) {
        memcpy(&single, bytes, sizeof single);
        number = (double)single;
    } else if (n_bytes == 8) {
        memcpy(&number, bytes, sizeof number);
    } else if (n_bytes == 10) {
        memcpy(&extended, bytes, 10);
        number = (double)extended;
    }
    add(text, "%.9g", number);
}

static void add_value(struct text *text, const struct weft_uft_arg *arg, const uint8_t *bytes)
{
    uint64_t value = load(bytes, arg->n_bytes);
    uint8_t letter = (uint8_t)value;
    switch (arg->format) {
    case 'f':
        add_float(text, bytes, arg->n_bytes);
        break;
    case 'c':
        add_quoted(text, '\'', &letter, 1);
        break;
    case 'u':
        add(text, "%" PRIu64, value);
        break;
    case 'o':
        add(text, "0%" PRIo64, value);
        break;
    case 'x':
    case 'p':
    case 'e':
        add(text, "0x%" PRIx64, value);
        break;
    case 't':
        add(text, "{");
        for (size_t k = 0; k < arg->n_bytes; k++)
            add(text, "%02x", bytes[k]);
        add(text, "}");
        break;
    default:
        add(text, "%" PRId64, signed_of(value, arg->n_bytes));
        break;
    }
}

size_t weft_uft_args_print(const struct weft_uft_args *args, const uint8_t *bytes, char *text,
                           size_t n_text, uint64_t *first)
{
    struct text out = { .bytes = text, .cap = n_text };
    size_t at = 0;
    *first = 0;
    for (size_t k = 0; k < args->n; k++) {
        const struct weft_uft_arg *arg = &args->items[k];
        add(&out, "%s", k ? ", " : "");
        if (is_string(arg)) {
            size_t n_value = weft_load_u16(bytes + at);
            add_quoted(&out, '"', bytes + at + 2, n_value);
            at += aligned(2 + n_value, 4);
            continue;
        }
        if (k == 0 && arg->n_bytes <= 8)
            *first = load(bytes, arg->n_bytes);
        add_value(&out, arg, bytes + at);
        at += aligned(arg->n_bytes, 4);
    }
    return out.n_bytes;
}
