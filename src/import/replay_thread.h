/* SPDX-License-Identifier: MIT
 *
 * One thread of a replay (replay.h).
 */
#ifndef WEFT_IMPORT_REPLAY_THREAD_H
#define WEFT_IMPORT_REPLAY_THREAD_H

#include "import/replay.h"

#include <stdbool.h>

/* What the sink's balancing will count for a thread by itself. */
struct weft_replay_counts {
    uint64_t n_cut, n_repaired, n_open;
};

/* Room for blocks and batches; one a worker. NULL without memory. */
struct weft_replay_room;
struct weft_replay_room *weft_replay_room_new(void);
void weft_replay_room_free(struct weft_replay_room *room);

/* Delivers calls, events and the end of a thread: what each of the traces has of it, of which one
 * may have calls. `counts` are of that one. */
WEFT_CHECKED enum weft_code weft_replay_thread(const struct weft_replay_source *sources,
                                               size_t n_sources, struct weft_sink *sink,
                                               struct weft_replay_room *room,
                                               struct weft_progress *progress,
                                               struct weft_replay_counts *counts,
                                               struct weft_err *err);

#endif
