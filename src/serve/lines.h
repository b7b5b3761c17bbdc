/* SPDX-License-Identifier: MIT
 *
 * The connections that have one of the server's places: how long each may take, and which one has
 * to go when all places are taken and another connection asks. Any thread may call.
 */
#ifndef WEFT_SERVE_LINES_H
#define WEFT_SERVE_LINES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long a connection may take to send a request (the first: what is left of it), and to read an
 * answer. */
#define WEFT_LINE_FIRST_NS UINT64_C(2000000000)
#define WEFT_LINE_REQUEST_NS UINT64_C(20000000000)
#define WEFT_LINE_RESPONSE_NS UINT64_C(60000000000)
#define WEFT_LINE_COMPUTING UINT64_MAX /* as long as it takes */

struct weft_line;

struct weft_lines {
    pthread_mutex_t lock;
    struct weft_line *first;
    size_t n, n_max;
};

void weft_lines_init(struct weft_lines *lines, size_t n_max);
void weft_lines_fini(struct weft_lines *lines);

/* Takes a place for the socket `fd`, which is then handed to the library. False if there is none:
 * a connection that is slow or asks nothing is ended, and soon there is one. */
bool weft_lines_take(struct weft_lines *lines, int fd);

/* The library begins with a socket: its place; NULL without memory. It ends before the socket is
 * closed. NULL is allowed from here on. */
struct weft_line *weft_lines_begin(struct weft_lines *lines, int fd);
void weft_lines_end(struct weft_lines *lines, struct weft_line *line);

/* The time from now on until the connection is ended. */
void weft_lines_allow(struct weft_lines *lines, struct weft_line *line, uint64_t in_ns);

/* The connection has given the token: it is among the last that are ended for others. */
void weft_lines_trust(struct weft_lines *lines, struct weft_line *line);

/* Ends connections that took too long. */
void weft_lines_tidy(struct weft_lines *lines);

#endif
