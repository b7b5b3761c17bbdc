/* SPDX-License-Identifier: MIT
 *
 * The findings that a report shows first, with what they rest on. For cmd_report.c.
 */
#ifndef WEFT_CLI_REPORT_FINDINGS_H
#define WEFT_CLI_REPORT_FINDINGS_H

#include "cli/cli.h"
#include "render/page/answers.h"
#include "schema/missing.h"

/* Fills `answers` (of the whole trace, whichever threads the session is restricted to). Parts that
 * fail are added to `missing`. */
WEFT_CHECKED enum weft_code weft_report_findings(struct weft_cli *cli, const char *name,
                                                 struct weft_page_answers *answers,
                                                 struct weft_missing *missing);

#endif
