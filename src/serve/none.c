/* SPDX-License-Identifier: MIT
 *
 * In place of the server, where libmicrohttpd is missing.
 */
#include "serve/serve.h"

#include <stddef.h>

enum weft_code weft_server_open(const struct weft_serve_opts *opts, struct weft_server **server,
                                struct weft_err *err)
{
    (void)opts;
    *server = NULL;
    return weft_fail(
        err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET,
        "this weft was built without its server (libmicrohttpd was missing; tools/build "
        "installs it)");
}

const char *weft_server_address(const struct weft_server *server)
{
    (void)server;
    return "";
}

const char *weft_server_recovered(const struct weft_server *server, size_t index)
{
    (void)server;
    (void)index;
    return NULL;
}

void weft_server_wait(struct weft_server *server, const struct weft_progress *progress)
{
    (void)server;
    (void)progress;
}

void weft_server_close(struct weft_server *server)
{
    (void)server;
}
