/* SPDX-License-Identifier: MIT
 *
 * "0,-1.5ms,+20us": what is added to the times of the inputs, in their order.
 */
#include "cli/cli.h"
#include "query/parse.h"

#include <stdlib.h>
#include <string.h>

/* A century: more is a mistake. */
#define MOST_NS (UINT64_C(100) * 366 * 24 * 3600 * 1000000000)

static bool parse_one(char *text, int64_t *offset_ns)
{
    const bool is_negative = *text == '-';
    uint64_t ns = 0;
    text += *text == '-' || *text == '+';
    if (weft_parse_duration(text, &ns, NULL) != WEFT_OK || ns > MOST_NS)
        return false;
    *offset_ns = is_negative ? -(int64_t)ns : (int64_t)ns;
    return true;
}

static bool parse_all(char *text, int64_t *offsets_ns, size_t n)
{
    char *rest = text;
    size_t k = 0;
    for (char *one; (one = strsep(&rest, ",")); k++)
        if (k >= n || !parse_one(one, &offsets_ns[k]))
            return false;
    return k == n;
}

bool weft_cli_offsets(struct weft_cli *cli, const char *text, int64_t **offsets_ns)
{
    *offsets_ns = NULL;
    if (!text)
        return true;
    char *copy = strdup(text);
    *offsets_ns = calloc(cli->n_inputs + 1, sizeof **offsets_ns);
    const bool is_good = copy && *offsets_ns && parse_all(copy, *offsets_ns, cli->n_inputs);
    free(copy);
    if (is_good)
        return true;
    free(*offsets_ns);
    *offsets_ns = NULL;
    cli->exit_status =
        weft_cli_usage(cli, "--offset: expected a duration for each input, such as 0,-1.5ms");
    return false;
}
