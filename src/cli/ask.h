/* SPDX-License-Identifier: MIT
 *
 * The body of a command that asks one analysis about one trace and prints the answer.
 */
#ifndef WEFT_CLI_ASK_H
#define WEFT_CLI_ASK_H

#include "cli/cli.h"

struct weft_question {
    const char *analysis; /* in the registry */
    void *context;        /* of the functions below: the command's own state */
    /* The trace is open: fills in the request. NULL: the analysis has no options. */
    enum weft_code (*request)(struct weft_cli *cli, void *context, union weft_request *request);
    /* The answer is there: what a view needs beyond it. NULL: nothing. */
    enum weft_code (*examine)(struct weft_cli *cli, void *context, const union weft_result *result);
    void (*render)(const struct weft_view *view, void *context, const union weft_result *result);
};

/* The rows of options for a window of time. */
#define WEFT_OPTION_WINDOW(from, to)                                                               \
    { 0,                                                                                           \
      "from",                                                                                      \
      "TIME",                                                                                      \
      "start of the window, such as 1.5s or @123456789 (default: start)",                          \
      WEFT_OPTION_TEXT,                                                                            \
      from,                                                                                        \
      NULL },                                                                                      \
    {                                                                                              \
        0, "to", "TIME", "where it ends (default: end)", WEFT_OPTION_TEXT, to, NULL                \
    }

/* A limit of rows that was not given: as text `most`, else all. */
#define WEFT_LIMIT_DEFAULT UINT64_MAX
uint64_t weft_cli_limit(const struct weft_view *view, uint64_t given, uint64_t most);

/* Opens inputs[0], asks, renders, frees. Returns the exit status. */
int weft_cli_ask(struct weft_cli *cli, const struct weft_question *question);

#endif
