/* SPDX-License-Identifier: MIT
 *
 * Opens and closes the server for `weft serve`: state (state.c), address and token (token.c), HTTP
 * (http.c). Requests are answered in the other files; waiting here only looks for an interruption
 * and for connections past their time.
 */
#include "serve/http.h"
#include "serve/serve.h"
#include "serve/state.h"
#include "serve/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TICK_MS = 200 };

struct weft_server {
    struct weft_serve_state state;
    struct weft_token token;
    struct weft_http *http;
    uint16_t port;
    char address[64];
};

/* The port and token left by an earlier server of these traces, if that port is free; else the port
 * asked for, and a new token, which is left for the next server unless another one lives that
 * looks there. */
static enum weft_code find_address(struct weft_server *server, const struct weft_serve_opts *opts,
                                   int *fd, struct weft_err *err)
{
    char *path = opts->state_folder
                     ? weft_token_path(opts->state_folder, opts->paths, opts->n_paths, opts->port)
                     : NULL;
    uint16_t port = 0;
    const bool is_left = path && weft_token_load(path, &server->token, &port);
    enum weft_code code = WEFT_OK;
    if (!is_left || weft_http_listen(port, fd, &server->port, NULL) != WEFT_OK) {
        code = weft_http_listen(opts->port, fd, &server->port, err);
        WEFT_THEN(code, weft_token_new(&server->token, err));
        if (code == WEFT_OK && path && !is_left)
            (void)weft_token_save(path, &server->token, server->port);
    }
    free(path);
    return code;
}

enum weft_code weft_server_open(const struct weft_serve_opts *opts, struct weft_server **server,
                                struct weft_err *err)
{
    struct weft_server *made = calloc(1, sizeof *made);
    int fd = -1;
    *server = NULL;
    if (!made)
        return weft_no_memory(err, "a server");
    enum weft_code code = weft_state_init(&made->state, opts, err);
    WEFT_THEN(code, find_address(made, opts, &fd, err));
    WEFT_THEN(code, weft_http_start(&made->state, &made->token, fd, made->port, &made->http, err));
    if (code != WEFT_OK) {
        weft_server_close(made);
        return code;
    }
    snprintf(made->address, sizeof made->address, "http://127.0.0.1:%" PRIu16 "/%s/", made->port,
             made->token.text);
    *server = made;
    return WEFT_OK;
}

const char *weft_server_address(const struct weft_server *server)
{
    return server->address;
}

const char *weft_server_recovered(const struct weft_server *server, size_t index)
{
    if (index >= server->state.n_traces)
        return NULL;
    const struct weft_served *served = &server->state.traces[index];
    return weft_trace_meta(weft_session_trace(served->session))->is_recovered ? served->path : NULL;
}

void weft_server_wait(struct weft_server *server, const struct weft_progress *progress)
{
    const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };
    while (!weft_progress_is_cancelled(progress)) {
        nanosleep(&tick, NULL);
        weft_http_tidy(server->http);
    }
}

void weft_server_close(struct weft_server *server)
{
    if (!server)
        return;
    if (server->state.jobs)
        weft_jobs_stop(server->state.jobs);
    weft_http_stop(server->http);
    weft_state_fini(&server->state);
    free(server);
}
