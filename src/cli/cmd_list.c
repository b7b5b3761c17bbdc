/* SPDX-License-Identifier: MIT
 *
 * The commands of analyses that answer with a plain list: one for each in the registry, all with
 * the same options.
 */
#include "cli/ask.h"

#include <stdlib.h>

enum { LISTS_MAX = 64, KEYS_MAX = 64, N_OPTIONS = 4, SHOWN = 30 };

struct options {
    const char *from, *to;
    uint64_t limit;
    unsigned sort; /* place of the field in `keys`; KEYS_MAX: as the analysis has them */
};

#define MEMBER(member) offsetof(struct options, member)

/* A command, and what it is made of. */
struct list {
    const struct weft_analysis *analysis;
    struct weft_command command;
    struct weft_option options[N_OPTIONS];
    const char *keys[KEYS_MAX]; /* ended by NULL */
};

struct question {
    const struct list *list;
    struct options opts;
};

static const struct list *list_of(const struct weft_cli *cli);

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    const struct question *question = context;
    request->list.limit = question->opts.limit == WEFT_LIMIT_DEFAULT
                              ? (cli->common.json || cli->common.format ? 0 : SHOWN)
                              : question->opts.limit;
    request->list.sort =
        question->opts.sort < KEYS_MAX ? question->list->keys[question->opts.sort] : NULL;
    return weft_cli_window(cli, question->opts.from, question->opts.to, &request->list.from_ns,
                           &request->list.to_ns);
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct question *question = context;
    weft_render_list(view, result->list, question->list->analysis->type);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct question question = { .list = list_of(cli),
                                 .opts = { .limit = WEFT_LIMIT_DEFAULT, .sort = KEYS_MAX } };
    if (!weft_cli_parse(cli, &question.opts, argc, argv))
        return cli->exit_status;
    const struct weft_question ask = { .analysis = question.list->analysis->name,
                                       .context = &question,
                                       .request = request,
                                       .render = render };
    return weft_cli_ask(cli, &ask);
}

static void make(struct list *list, const struct weft_analysis *analysis)
{
    const struct weft_option options[N_OPTIONS] = {
        WEFT_OPTION_WINDOW(MEMBER(from), MEMBER(to)),
        { 'n', "limit", "N", "rows, at most; 0: all (default: 30 in text, else all)",
          WEFT_OPTION_COUNT, MEMBER(limit), NULL },
        { 's', "sort", "COLUMN", "sort by this column, the largest first", WEFT_OPTION_CHOICE,
          MEMBER(sort), list->keys },
    };
    size_t n_keys = 0;
    for (size_t i = 0; i < analysis->type->n_fields && n_keys + 1 < KEYS_MAX; i++)
        if (analysis->type->fields[i].key)
            list->keys[n_keys++] = analysis->type->fields[i].key;
    memcpy(list->options, options, sizeof options);
    list->analysis = analysis;
    list->command = (struct weft_command){ .name = analysis->name,
                                           .summary = analysis->summary,
                                           .arguments = "TRACE",
                                           .about = analysis->about,
                                           .options = list->options,
                                           .n_options = N_OPTIONS,
                                           .common = WEFT_COMMON_ALL | WEFT_COMMON_PROCESSES,
                                           .n_inputs_min = 1,
                                           .n_inputs_max = 1,
                                           .run = run };
}

static struct list lists[LISTS_MAX];

static const struct list *list_of(const struct weft_cli *cli)
{
    size_t i = 0;
    while (cli->command != &lists[i].command)
        i++;
    return &lists[i];
}

size_t weft_list_commands(const struct weft_command **commands, size_t n_max)
{
    size_t n_analyses, n = 0;
    const struct weft_analysis *analyses = weft_analyses(&n_analyses);
    for (size_t i = 0; i < n_analyses && n < n_max && n < LISTS_MAX; i++) {
        if (!analyses[i].list)
            continue;
        make(&lists[n], &analyses[i]);
        commands[n] = &lists[n].command;
        n++;
    }
    return n;
}
