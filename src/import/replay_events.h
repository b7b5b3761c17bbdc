/* SPDX-License-Identifier: MIT
 *
 * The events of a thread that are no calls, as a replay delivers them. Of one trace: as they stand.
 * Of several, whose thread it is: by time; of one time, those of the earlier trace first.
 *
 *     trace 0   a---c------e---g         runs, in each of which     a b c d e f g
 *     trace 1   ----------b--d           time never descends    ->
 *               -----f
 */
#ifndef WEFT_IMPORT_REPLAY_EVENTS_H
#define WEFT_IMPORT_REPLAY_EVENTS_H

#include "import/replay.h"

#include <stdbool.h>

/* Room for a reader, used for one thread after the other. NULL without memory. */
struct weft_replay_events;
struct weft_replay_events *weft_replay_events_new(void);
void weft_replay_events_free(struct weft_replay_events *events);

/* The events of these threads, which are one. Several are read once to find their runs; one with
 * more than WEFT_REPLAY_RUNS of them keeps its order. */
enum { WEFT_REPLAY_RUNS = 16 };
WEFT_CHECKED enum weft_code weft_replay_events_open(struct weft_replay_events *events,
                                                    const struct weft_replay_source *sources,
                                                    size_t n_sources, struct weft_err *err);

/* The event that comes next, with the times of its trace, which `*source` is of; NULL at the end.
 * It and its texts are valid until the one after which weft_replay_events_is_last says so is
 * skipped. Of a trace of which a window is delivered, blocks outside of that are omitted. */
WEFT_CHECKED enum weft_code weft_replay_events_peek(struct weft_replay_events *events,
                                                    const struct weft_event **event,
                                                    struct weft_replay_source *source,
                                                    struct weft_err *err);

/* Is the event that comes next the last one of a block? */
bool weft_replay_events_is_last(const struct weft_replay_events *events);

/* Continues behind the event that comes next. */
void weft_replay_events_skip(struct weft_replay_events *events);

#endif
