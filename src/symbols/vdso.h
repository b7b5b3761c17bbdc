/* SPDX-License-Identifier: MIT
 *
 * The library that the kernel maps into every process: no file has it, but this process does, too.
 */
#ifndef WEFT_SYMBOLS_VDSO_H
#define WEFT_SYMBOLS_VDSO_H

#include <stddef.h>

/* A nameless file with a copy of it, and a path that opens it again ("/proc/self/fd/7"). -1: there
 * is none. The caller closes. */
int weft_vdso_open(char *path, size_t n_path);

#endif
