/* SPDX-License-Identifier: MIT
 *
 * The server behind `weft serve`: answers questions about opened traces over HTTP, on the loopback
 * interface alone, to clients with the token in its address. docs/http-api.md is the contract.
 */
#ifndef WEFT_SERVE_SERVE_H
#define WEFT_SERVE_SERVE_H

#include "base/error.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_server;

struct weft_serve_opts {
    const char *const *paths; /* of traces */
    size_t n_paths;           /* at least 1 */
    uint16_t port;            /* 0: any */
    const char *state_folder; /* where the address is left for the next start; NULL: nowhere */
    const char *colors_path;  /* of a file of colours; NULL: none */
    const struct weft_run
        *run; /* pool for heavy questions, ceiling for memory; outlives the server */
};

/* Opens the traces, starts to listen and to compute ahead. The strings of `opts` must outlive the
 * server. WEFT_E_UNSUPPORTED if this program was built without its server; WEFT_E_IO if the port is
 * taken; else as opening a trace fails. */
WEFT_CHECKED enum weft_code weft_server_open(const struct weft_serve_opts *opts,
                                             struct weft_server **server, struct weft_err *err);

/* "http://127.0.0.1:PORT/TOKEN/"; valid until close. */
const char *weft_server_address(const struct weft_server *server);

/* Whether traces are incomplete, for people: NULL, or the path of the `index`-th trace if its file
 * ends early. */
const char *weft_server_recovered(const struct weft_server *server, size_t index);

/* Serves until `progress` is cancelled. */
void weft_server_wait(struct weft_server *server, const struct weft_progress *progress);

/* Answers what it can at once, refuses the rest, and frees; NULL is allowed. */
void weft_server_close(struct weft_server *server);

#endif
