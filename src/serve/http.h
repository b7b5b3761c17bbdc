/* SPDX-License-Identifier: MIT
 *
 * HTTP: access, headers of every response, how long a connection may be silent.
 */
#ifndef WEFT_SERVE_HTTP_H
#define WEFT_SERVE_HTTP_H

#include "serve/state.h"
#include "serve/token.h"

struct weft_http;

/* Listens on 127.0.0.1: on `port`, or on any if that is 0. WEFT_E_IO if it is taken. */
WEFT_CHECKED enum weft_code weft_http_listen(uint16_t port, int *fd, uint16_t *bound,
                                             struct weft_err *err);

/* Begins to answer on the listening socket `fd`, which it takes over, also when it fails. */
WEFT_CHECKED enum weft_code weft_http_start(struct weft_serve_state *state,
                                            const struct weft_token *token, int fd, uint16_t port,
                                            struct weft_http **http, struct weft_err *err);

/* Closes connections that were silent for too long. */
void weft_http_tidy(struct weft_http *http);

/* Ends all connections and frees; NULL is allowed. Jobs must be stopped. */
void weft_http_stop(struct weft_http *http);

#endif
