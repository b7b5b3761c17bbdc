/* SPDX-License-Identifier: MIT
 *
 * Recordings that were not made into traces: their recorder was killed, or runs still.
 */
#ifndef WEFT_CLI_RECORDING_H
#define WEFT_CLI_RECORDING_H

#include "cli/cli.h"

/* Makes the recording `path` a trace of the same name. Names of functions are taken from the
 * programs of this machine, also where no build id proves them, if it `was_made_here`. WEFT_E_IO
 * and what the import returns: then the recording is as it was. */
WEFT_CHECKED enum weft_code weft_cli_finish_recording(struct weft_cli *cli, const char *path,
                                                      bool was_made_here);

/* If *path is a recording, completes it, and says so; where the file cannot be replaced, or is
 * still written to, *path becomes that of a temporary trace (which the program's end removes). */
WEFT_CHECKED enum weft_code weft_cli_complete(struct weft_cli *cli, const char **path);

#endif
