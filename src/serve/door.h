/* SPDX-License-Identifier: MIT
 *
 * Where connections wait until they have sent a whole request head. Only then do they take one of
 * the server's places, so that clients that send nothing, or little by little, do not block others:
 * when the door is full, the one that waited longest has to go.
 */
#ifndef WEFT_SERVE_DOOR_H
#define WEFT_SERVE_DOOR_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_door;

/* Takes a connection whose head is there, and returns true; false if there is no place yet: it is
 * asked again soon. */
typedef bool weft_door_admit(void *context, int fd);

/* Begins to accept connections of the listening socket `fd`, which it takes over, also when it
 * fails. Heads are of at most `head_bytes` bytes. */
WEFT_CHECKED enum weft_code weft_door_open(int fd, uint32_t head_bytes, weft_door_admit *admit,
                                           void *context, struct weft_door **door,
                                           struct weft_err *err);

/* Ends what waits, and frees; NULL is allowed. */
void weft_door_close(struct weft_door *door);

#endif
