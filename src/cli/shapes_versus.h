/* SPDX-License-Identifier: MIT
 *
 * weft shapes --new-in A --vs B: what one trace, or part of one, does that another does not.
 */
#ifndef WEFT_CLI_SHAPES_VERSUS_H
#define WEFT_CLI_SHAPES_VERSUS_H

#include "cli/cli.h"
#include "query/session.h"

struct weft_versus {
    const char *new_in; /* NULL: the argument, from `from` to `to` */
    const char *vs;
    const char *from, *to;
    const char *exclude;              /* pattern of functions; NULL: none */
    struct weft_shapes_opts settings; /* without window and functions */
    uint64_t limit;
};

/* The whole command. Returns the exit status. */
int weft_cli_shapes_versus(struct weft_cli *cli, const struct weft_versus *versus);

#endif
