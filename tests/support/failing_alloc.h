/* SPDX-License-Identifier: MIT
 *
 * Allocations that fail on demand, for a test linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc: set n_until_failure to n, and the n-th allocation
 * from now on (counted from 0) returns NULL.
 */
#ifndef WEFT_TESTS_FAILING_ALLOC_H
#define WEFT_TESTS_FAILING_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t n_bytes);
void *__real_calloc(size_t count, size_t n_bytes);
void *__real_realloc(void *at, size_t n_bytes);
void *__wrap_malloc(size_t n_bytes);
void *__wrap_calloc(size_t count, size_t n_bytes);
void *__wrap_realloc(void *at, size_t n_bytes);

/* Allocations until one fails; negative: none does, or it did. */
static int n_until_failure = -1;

static bool fails_now(void)
{
    return n_until_failure >= 0 && n_until_failure-- == 0;
}

void *__wrap_malloc(size_t n_bytes)
{
    return fails_now() ? NULL : __real_malloc(n_bytes);
}

void *__wrap_calloc(size_t count, size_t n_bytes)
{
    return fails_now() ? NULL : __real_calloc(count, n_bytes);
}

void *__wrap_realloc(void *at, size_t n_bytes)
{
    return fails_now() ? NULL : __real_realloc(at, n_bytes);
}

#endif
