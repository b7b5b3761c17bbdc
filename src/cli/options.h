/* SPDX-License-Identifier: MIT
 *
 * Declarative options: one table a command, from which parsing, --help, shell completion and the
 * option list of the man page come.
 */
#ifndef WEFT_CLI_OPTIONS_H
#define WEFT_CLI_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of the field that an option sets. */
enum weft_option_type {
    WEFT_OPTION_FLAG,      /* bool; takes no argument */
    WEFT_OPTION_TEXT,      /* const char * */
    WEFT_OPTION_FILE,      /* const char *: a file that is read */
    WEFT_OPTION_OUTPUT,    /* const char *: a file that is written */
    WEFT_OPTION_DATABASE,  /* const char *: a file that is added to, in place */
    WEFT_OPTION_COUNT,     /* uint64_t, from 0 */
    WEFT_OPTION_BYTES,     /* uint64_t */
    WEFT_OPTION_DURATION,  /* uint64_t, ns */
    WEFT_OPTION_FRACTION,  /* double, 0 to 1 */
    WEFT_OPTION_THRESHOLD, /* struct weft_threshold */
    WEFT_OPTION_CHOICE,    /* unsigned: index into `choices` */
    WEFT_OPTION_NUMBERS,   /* struct weft_numbers; several by comma, or by repetition */
    WEFT_OPTION_HALVES,    /* uint32_t: a distance of shapes in half units */
    WEFT_OPTION_PAIR,      /* const char *[2]: takes two words */
};

enum { WEFT_NUMBERS_MAX = 256, WEFT_HALVES_MAX = 2000 };

struct weft_numbers {
    uint64_t items[WEFT_NUMBERS_MAX];
    size_t n;
};

struct weft_option {
    char letter;          /* 0: none */
    const char *name;     /* without the dashes */
    const char *argument; /* its name in help; NULL for a flag */
    const char *help;     /* one sentence without a full stop */
    enum weft_option_type type;
    size_t field;               /* offset in the struct that the table belongs to */
    const char *const *choices; /* WEFT_OPTION_CHOICE: names, ended by NULL */
};

/* A table and the struct that it fills. */
struct weft_option_set {
    const struct weft_option *options;
    size_t n_options;
    void *fields;
};

struct weft_arguments {
    struct weft_option_set sets[2]; /* of the command, and common ones */
    const char **positional;        /* n_max elements of the caller */
    size_t n_positional, n_max;
};

/* Parses argv[0..argc); "--" ends the options. WEFT_E_ARG names the option and, if it is unknown,
 * the nearest one. */
WEFT_CHECKED enum weft_code weft_options_parse(struct weft_arguments *args, int argc, char **argv,
                                               struct weft_err *err);

/* The nearest of `names` to `word`, or NULL if none is near (more than a third differs). */
const char *weft_nearest(const char *word, const char *const *names, size_t n_names);

#endif
