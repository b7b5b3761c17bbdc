/* SPDX-License-Identifier: MIT */
#include "schema/program.h"

const char *weft_program_by_name(enum weft_program_by by)
{
    static const char *const names[WEFT_PROGRAM_BYS] = {
        [WEFT_PROGRAM_ALL] = "all",
        [WEFT_PROGRAM_TOLD] = "told",
        [WEFT_PROGRAM_UNTOLD] = "untold",
    };
    return names[by];
}
