/* SPDX-License-Identifier: MIT
 *
 * Where commands write. All outputs of all commands are checked and opened here: an output never
 * replaces an input, and text replaces a trace, a recording or a database only with --force.
 */
#ifndef WEFT_CLI_OUTPUTS_H
#define WEFT_CLI_OUTPUTS_H

#include "cli/cli.h"

/* Checks every output that the options name, standard output and standard error, against every
 * input. Part of weft_cli_parse. WEFT_E_ARG. */
WEFT_CHECKED enum weft_code weft_outputs_check(struct weft_cli *cli);

/* Opens `path` for text, checked again. A file appears whole or not at all; pipes, devices and open
 * descriptors (/dev/stdout, /dev/fd/N) are written directly. `path` must outlive the output. */
WEFT_CHECKED enum weft_code weft_outputs_open(struct weft_cli *cli, const char *path,
                                              struct weft_output **out);

/* The file that a command that was asked for the trace `path` writes: `path` itself, checked again,
 * or, for /dev/null, one in a temporary folder. Anything else that is no file is WEFT_E_ARG. */
WEFT_CHECKED enum weft_code weft_outputs_trace(struct weft_cli *cli, const char *path,
                                               const char **file);

/* A file for a trace in that folder. The path lives as long as the program runs. */
WEFT_CHECKED enum weft_code weft_outputs_scratch(struct weft_cli *cli, const char **file);

/* Removes the temporary folder, if there is one. */
void weft_outputs_end(struct weft_cli *cli);

#endif
