/* SPDX-License-Identifier: MIT
 *
 * Which files a command reads and which it writes, as its arguments and its table of options say.
 */
#ifndef WEFT_CLI_INPUTS_H
#define WEFT_CLI_INPUTS_H

#include "cli/cli.h"

#include <sys/stat.h>

enum { WEFT_OUTPUTS_MAX = 8 };

/* The input of the command that is the file `about`, or NULL. An input that is a folder is all
 * files in it, if `with_folders`. */
const char *weft_inputs_find(const struct weft_cli *cli, const struct stat *about,
                             bool with_folders);

/* The files that options name to be written: at most WEFT_OUTPUTS_MAX; how many they are. */
size_t weft_inputs_outputs(const struct weft_cli *cli, const char **outputs, bool *is_database);

#endif
