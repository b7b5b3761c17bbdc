/* SPDX-License-Identifier: MIT
 *
 * Executions to be compared: of a database, or of a trace for which rules are given.
 */
#ifndef WEFT_CLI_COMPARED_H
#define WEFT_CLI_COMPARED_H

#include "cli/cli.h"
#include "query/comparison.h"
#include "query/rules.h"

struct weft_compared_options {
    struct weft_rule_options rule;
    const char *rules, *map;
};

/* Rows of options; `base` is where the struct stands in that of the command. */
#define WEFT_COMPARED_AT(base, member) (base) + offsetof(struct weft_compared_options, member)
#define WEFT_OPTIONS_COMPARED(base)                                                                \
    { 0,                                                                                           \
      "type",                                                                                      \
      "NAME",                                                                                      \
      "the type of executions (default: the only one)",                                            \
      WEFT_OPTION_TEXT,                                                                            \
      WEFT_COMPARED_AT(base, rule.type),                                                           \
      NULL },                                                                                      \
        { 0,                                                                                       \
          "begin",                                                                                 \
          "RULE",                                                                                  \
          "of a trace: where an execution begins, as in 'weft executions'",                        \
          WEFT_OPTION_TEXT,                                                                        \
          WEFT_COMPARED_AT(base, rule.begin),                                                      \
          NULL },                                                                                  \
        { 0,                                                                                       \
          "end",                                                                                   \
          "RULE",                                                                                  \
          "of a trace: where it ends",                                                             \
          WEFT_OPTION_TEXT,                                                                        \
          WEFT_COMPARED_AT(base, rule.end),                                                        \
          NULL },                                                                                  \
        { 0,                                                                                       \
          "match",                                                                                 \
          "FIELD[=FIELD]",                                                                         \
          "of a trace: a field that begin and end have to agree in",                               \
          WEFT_OPTION_TEXT,                                                                        \
          WEFT_COMPARED_AT(base, rule.match),                                                      \
          NULL },                                                                                  \
        { 0,                                                                                       \
          "rules",                                                                                 \
          "FILE",                                                                                  \
          "of a trace: types of executions, from a file of rules",                                 \
          WEFT_OPTION_FILE,                                                                        \
          WEFT_COMPARED_AT(base, rules),                                                           \
          NULL },                                                                                  \
    {                                                                                              \
        0, "map", "FILE", "of a database: names that stand for other ones, OLD -> NEW a line",     \
            WEFT_OPTION_FILE, WEFT_COMPARED_AT(base, map), NULL                                    \
    }

/* Opens inputs[0]; weft_cli_begin is part of it. A trace becomes the session too. */
WEFT_CHECKED enum weft_code weft_cli_compared(struct weft_cli *cli,
                                              const struct weft_compared_options *opts,
                                              struct weft_comparison **comparison);

/* The rules that the options give for a trace; the caller frees them. */
WEFT_CHECKED enum weft_code weft_cli_compared_rules(struct weft_cli *cli,
                                                    const struct weft_compared_options *opts,
                                                    struct weft_rules **rules);

/* The trace of the session by these rules; of several types the one called `type` (NULL: of the
 * only one). */
WEFT_CHECKED enum weft_code weft_cli_compared_by_rules(struct weft_cli *cli,
                                                       const struct weft_rules *rules,
                                                       const char *type,
                                                       struct weft_comparison **comparison);

#endif
