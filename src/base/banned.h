/* SPDX-License-Identifier: MIT
 *
 * Functions that this project does not use: naming one is a compile error. Included by the build
 * before every source file.
 */
#ifndef WEFT_BASE_BANNED_H
#define WEFT_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With clang, the fortified C library defines these two as macros; a macro cannot be poisoned. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat sprintf vsprintf strtok gets atoi atol atof strncpy strncat

#endif
