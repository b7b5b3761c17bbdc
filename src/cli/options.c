/* SPDX-License-Identifier: MIT
 *
 * Parses long options, letters and attached values against the tables of a command, and proposes
 * the nearest name (edit distance) for an unknown one. Each table row says which field it sets; no
 * command parses text itself.
 */
#include "cli/options.h"

#include "query/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64, WORD_MAX = 48 };

/* ---- the nearest word --------------------------------------------------------------------------
 */

/* Edit distance (insert, delete, replace, swap of neighbours) of words up to WORD_MAX bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t n_a = strnlen(a, WORD_MAX), n_b = strnlen(b, WORD_MAX);
    size_t rows[3][WORD_MAX + 1]; /* the two rows above, and this one, in turn */
    for (size_t j = 0; j <= n_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            row[j] = is_swap && above2[j - 2] + 1 < best ? above2[j - 2] + 1 : best;
        }
    }
    return rows[n_a % 3][n_b];
}

const char *weft_nearest(const char *word, const char *const *names, size_t n_names)
{
    const char *nearest = NULL;
    size_t least = strlen(word) / 3 + 2;
    for (size_t i = 0; i < n_names; i++) {
        size_t apart = distance(word, names[i]);
        bool is_prefix = strlen(word) >= 2 && strncmp(word, names[i], strlen(word)) == 0;
        apart = is_prefix && apart > 1 ? 1 : apart;
        if (apart < least) {
            least = apart;
            nearest = names[i];
        }
    }
    return nearest;
}

/* ---- setting fields
 * ------------------------------------------------------------------------------ */

static enum weft_code set_choice(const struct weft_option *option, const char *value,
                                 unsigned *field, struct weft_err *err)
{
    char known[128] = "";
    size_t at = 0;
    for (unsigned i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], value) == 0) {
            *field = i;
            return WEFT_OK;
        }
        int n = snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", option->choices[i]);
        at = n > 0 && at + (size_t)n < sizeof known ? at + (size_t)n : at;
    }
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected one of %s, found '%.60s'", known,
                     value);
}

static enum weft_code add_numbers(const char *value, struct weft_numbers *numbers,
                                  struct weft_err *err)
{
    for (const char *at = value;;) {
        char one[24];
        size_t n_bytes = strcspn(at, ",");
        if (numbers->n == WEFT_NUMBERS_MAX)
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "more than %d numbers",
                             WEFT_NUMBERS_MAX);
        snprintf(one, sizeof one, "%.*s", (int)(n_bytes < sizeof one ? n_bytes : sizeof one), at);
        WEFT_TRY(weft_parse_count(one, 0, UINT64_MAX, &numbers->items[numbers->n], err));
        numbers->n++;
        if (at[n_bytes] == '\0')
            return WEFT_OK;
        at += n_bytes + 1;
    }
}

static enum weft_code set_field(const struct weft_option *option, const char *value, void *field,
                                struct weft_err *err)
{
    switch (option->type) {
    case WEFT_OPTION_FLAG:
        *(bool *)field = true;
        return WEFT_OK;
    case WEFT_OPTION_TEXT:
    case WEFT_OPTION_FILE:
    case WEFT_OPTION_OUTPUT:
    case WEFT_OPTION_DATABASE:
        *(const char **)field = value;
        return WEFT_OK;
    case WEFT_OPTION_COUNT:
        return weft_parse_count(value, 0, UINT32_MAX, field, err);
    case WEFT_OPTION_BYTES:
        return weft_parse_bytes(value, field, err);
    case WEFT_OPTION_DURATION:
        return weft_parse_duration(value, field, err);
    case WEFT_OPTION_FRACTION:
        return weft_parse_fraction(value, field, err);
    case WEFT_OPTION_THRESHOLD:
        return weft_parse_threshold(value, field, err);
    case WEFT_OPTION_CHOICE:
        return set_choice(option, value, field, err);
    case WEFT_OPTION_HALVES:
        return weft_parse_halves(value, WEFT_HALVES_MAX, field, err);
    case WEFT_OPTION_PAIR: /* the first word; take_second the other */
        *(const char **)field = value;
        return WEFT_OK;
    case WEFT_OPTION_NUMBERS:
        break;
    }
    return add_numbers(value, field, err);
}

static enum weft_code apply(const struct weft_option_set *set, const struct weft_option *option,
                            const char *value, struct weft_err *err)
{
    struct weft_err cause = { 0 };
    if (set_field(option, value, (char *)set->fields + option->field, &cause) == WEFT_OK)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "--%s: %s", option->name, cause.text);
}

/* ---- the command line
 * ------------------------------------------------------------------------------ */

/* An option found in one of the sets. */
struct found {
    const struct weft_option_set *set;
    const struct weft_option *option;
};

static struct found find(const struct weft_arguments *args, const char *name, size_t n_bytes,
                         char letter)
{
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < args->sets[s].n_options; i++) {
            const struct weft_option *option = &args->sets[s].options[i];
            bool is_named =
                name && strlen(option->name) == n_bytes && memcmp(option->name, name, n_bytes) == 0;
            if (is_named || (letter && option->letter == letter))
                return (struct found){ &args->sets[s], option };
        }
    return (struct found){ 0 };
}

static enum weft_code unknown_long(const struct weft_arguments *args, const char *name,
                                   size_t n_bytes, struct weft_err *err)
{
    const char *names[NAMES_MAX];
    size_t n_names = 0;
    char word[WORD_MAX];
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < args->sets[s].n_options && n_names < NAMES_MAX; i++)
            names[n_names++] = args->sets[s].options[i].name;
    snprintf(word, sizeof word, "%.*s", (int)(n_bytes < sizeof word ? n_bytes : sizeof word), name);
    const char *nearest = weft_nearest(word, names, n_names);
    if (nearest)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "unknown option '--%s'; did you mean '--%s'?", word, nearest);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "unknown option '--%s'", word);
}

static enum weft_code no_value(const struct weft_option *option, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "--%s: expected %s", option->name,
                     option->argument);
}

/* The second word of an option that has two. */
static enum weft_code take_second(const struct found *found, int argc, char **argv, int *at,
                                  struct weft_err *err)
{
    if (found->option->type != WEFT_OPTION_PAIR)
        return WEFT_OK;
    if (*at + 1 >= argc)
        return no_value(found->option, err);
    *at += 1;
    void *field = (char *)found->set->fields + found->option->field;
    ((const char **)field)[1] = argv[*at];
    return WEFT_OK;
}

/* Takes the next word as the argument of `option`. */
static enum weft_code take_value(const struct found *found, int argc, char **argv, int *at,
                                 struct weft_err *err)
{
    if (*at + 1 >= argc)
        return no_value(found->option, err);
    *at += 1;
    enum weft_code code = apply(found->set, found->option, argv[*at], err);
    return code == WEFT_OK ? take_second(found, argc, argv, at, err) : code;
}

static enum weft_code parse_long(const struct weft_arguments *args, int argc, char **argv, int *at,
                                 struct weft_err *err)
{
    const char *name = argv[*at] + 2;
    size_t n_bytes = strcspn(name, "=");
    struct found found = find(args, name, n_bytes, '\0');
    if (!found.option)
        return unknown_long(args, name, n_bytes, err);
    bool has_value = name[n_bytes] == '=';
    if (found.option->type == WEFT_OPTION_FLAG) {
        if (has_value)
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "--%s takes no argument",
                             found.option->name);
        return apply(found.set, found.option, NULL, err);
    }
    if (has_value) {
        enum weft_code code = apply(found.set, found.option, name + n_bytes + 1, err);
        return code == WEFT_OK ? take_second(&found, argc, argv, at, err) : code;
    }
    return take_value(&found, argc, argv, at, err);
}

/* "-qv", "-j4", "-j 4". */
static enum weft_code parse_letters(const struct weft_arguments *args, int argc, char **argv,
                                    int *at, struct weft_err *err)
{
    for (const char *letter = argv[*at] + 1; *letter; letter++) {
        struct found found = find(args, NULL, 0, *letter);
        if (!found.option)
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "unknown option '-%c'",
                             *letter >= ' ' && *letter < 0x7f ? *letter : '?');
        if (found.option->type != WEFT_OPTION_FLAG)
            return letter[1] ? apply(found.set, found.option, letter + 1, err)
                             : take_value(&found, argc, argv, at, err);
        WEFT_TRY(apply(found.set, found.option, NULL, err));
    }
    return WEFT_OK;
}

enum weft_code weft_options_parse(struct weft_arguments *args, int argc, char **argv,
                                  struct weft_err *err)
{
    bool has_ended = false;
    for (int at = 0; at < argc; at++) {
        enum weft_code code = WEFT_OK;
        const char *word = argv[at];
        if (!has_ended && strcmp(word, "--") == 0)
            has_ended = true;
        else if (!has_ended && strncmp(word, "--", 2) == 0)
            code = parse_long(args, argc, argv, &at, err);
        else if (!has_ended && word[0] == '-' && word[1] != '\0')
            code = parse_letters(args, argc, argv, &at, err);
        else if (args->n_positional == args->n_max)
            code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "unexpected argument '%.80s'", word);
        else
            args->positional[args->n_positional++] = word;
        if (code != WEFT_OK)
            return code;
    }
    return WEFT_OK;
}
