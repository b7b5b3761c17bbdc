/* SPDX-License-Identifier: MIT
 *
 * The lines that end `weft record`: what each file holds, in the numbers that `weft info` has of
 * it.
 */
#ifndef WEFT_CLI_CLOSING_H
#define WEFT_CLI_CLOSING_H

#include "cli/cli.h"
#include "record/session/recorder.h"
#include "render/text/notes.h"

/* "weft: run.weft: 363 ms, 975 calls, 1,635 events, 0 lost, 17.4 MB, recorder 12.3 ms CPU": of the
 * finished trace `path`. What opening it returns. */
WEFT_CHECKED enum weft_code weft_closing_trace(struct weft_cli *cli, const char *path);

/* What `weft diagnose` says first of the finished trace, in a line; of a large trace only the
 * command, as that takes a while. Nothing if it fails. */
void weft_closing_finding(struct weft_cli *cli, const char *path);

/* advice.c: of a finished trace, what would make the next recording better. */
void weft_closing_advice(const struct weft_note_sums *sums);

/* Of a recording of which no trace could be made: what was read for it, and what is not in it. */
void weft_closing_recording(const char *path, const struct weft_recorder_state *state);

/* "recorder 12.3 ms CPU (1.20 % of a processor)", the share only of what lasted a second or more.
 */
void weft_closing_cost(const struct weft_recorder_state *state, char *text, size_t n_text);

#endif
