/* SPDX-License-Identifier: MIT
 *
 * A session of the small trace (small_trace.h).
 */
#ifndef WEFT_TESTS_SMALL_SESSION_H
#define WEFT_TESTS_SMALL_SESSION_H

#include "query/session.h"
#include "small_trace.h"

#include <stdio.h>
#include <stdlib.h>

/* Writes it to `path`, of `n_bytes`, which is made of the test's name, and opens it. */
static struct weft_session *small_trace_open(const char *name, const struct weft_run *run,
                                             char *path, size_t n_bytes)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    struct weft_session *session;
    (void)snprintf(path, n_bytes, "%s/%s.weft", root ? root : ".", name);
    if (!run->pool || small_trace_write(path, NULL) != WEFT_OK ||
        weft_session_open(path, run, &session, NULL) != WEFT_OK)
        abort();
    return session;
}

#endif
