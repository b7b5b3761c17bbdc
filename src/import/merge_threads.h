/* SPDX-License-Identifier: MIT
 *
 * The threads of a merged trace. Traces on one clock of one machine contain the same threads: what
 * a kernel says of one and what its program says become one thread (docs/ingest/inputs.md).
 */
#ifndef WEFT_IMPORT_MERGE_THREADS_H
#define WEFT_IMPORT_MERGE_THREADS_H

#include "import/merge.h"
#include "import/replay.h"
#include "schema/sink.h"

#include <stdbool.h>

/* Announces the threads of all traces, in order of the traces, and fills thread_ids[k][id] with
 * their ids; replays[k] is of inputs[k] and has its times. With `joins`, those that are one thread
 * are announced once. hosts[k] is added to the host ids of trace k. Identities are unique: one that
 * is taken gets the next generation. */
WEFT_CHECKED enum weft_code weft_merge_threads(const struct weft_replay *replays, size_t n_replays,
                                               const uint32_t *hosts, bool joins,
                                               uint32_t **thread_ids, struct weft_sink *sink,
                                               struct weft_err *err);

#endif
