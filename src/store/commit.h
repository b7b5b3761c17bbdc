/* SPDX-License-Identifier: MIT
 *
 * Puts finished chunks into the file in their order, and remembers where they are. With a parallel
 * source, blocks go by thread, those of one thread in the order in which they come: those of the
 * thread that is next are written at once, the others wait, first in memory, beyond a bound in an
 * unlinked temporary file beside the output.
 *
 * Blocks and ends of threads may come from any worker: those functions lock. The others are called
 * with the lock held (weft_commit_locked, `before`), or when no worker is left.
 */
#ifndef WEFT_STORE_COMMIT_H
#define WEFT_STORE_COMMIT_H

#include "base/error.h"
#include "store/bytes.h"
#include "store/column.h"
#include "store/event_group.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_commit;

/* Called, with the commit locked, before the first block of a thread is appended: may append the
 * thread's announcement with weft_commit_append. */
typedef enum weft_code (*weft_commit_before_fn)(void *context, uint32_t thread_id,
                                                struct weft_err *err);

WEFT_CHECKED enum weft_code weft_commit_open(const char *path, uint64_t backlog_limit_bytes,
                                             struct weft_commit **commit, struct weft_err *err);

/* Chooses the order; before the first block. */
void weft_commit_begin(struct weft_commit *commit, bool is_parallel, weft_commit_before_fn before,
                       void *context);

/* Runs `fn` once in the life of `is_done`, with the commit locked; the others wait for it. */
WEFT_CHECKED enum weft_code weft_commit_locked(struct weft_commit *commit, atomic_bool *is_done,
                                               enum weft_code (*fn)(void *context,
                                                                    struct weft_err *err),
                                               void *context, struct weft_err *err);

/* Appends a metadata chunk; the payload is compressed if that helps (not that of
 * WEFT_CHUNK_CONTEXTS and WEFT_CHUNK_LEVELS). For callers that the commit called with its lock
 * held, and when no worker is left. */
WEFT_CHECKED enum weft_code weft_commit_append(struct weft_commit *commit, uint32_t id,
                                               uint8_t flags, const struct weft_bytes *payload,
                                               struct weft_err *err);

/* A CALL or EVNT chunk of `thread_id`; `bytes` is copied if it has to wait. */
WEFT_CHECKED enum weft_code weft_commit_block(struct weft_commit *commit, uint32_t thread_id,
                                              const struct weft_bytes *bytes, size_t head_bytes,
                                              struct weft_err *err);

/* What a thread's blocks are of. */
enum weft_commit_stream {
    WEFT_COMMIT_CALLS,
    WEFT_COMMIT_EVENTS,
    WEFT_COMMIT_ARRIVALS,
    WEFT_COMMIT_STREAMS,
};

/* The last block of events of a thread, if it is small: it goes into a chunk with others, in order
 * of threads if the source is parallel. `columns` are copied. */
WEFT_CHECKED enum weft_code weft_commit_small_block(struct weft_commit *commit,
                                                    const struct weft_event_head *head,
                                                    const struct weft_bytes *columns,
                                                    struct weft_err *err);

/* A block of arrivals of a row (a thread, or a CPU: the number of threads + its number), in order
 * of rows; when all threads have ended. */
WEFT_CHECKED enum weft_code weft_commit_arrivals(struct weft_commit *commit,
                                                 const struct weft_event_head *head,
                                                 const struct weft_bytes *columns,
                                                 struct weft_err *err);

/* Names the next CPU, from 0 on. */
WEFT_CHECKED enum weft_code weft_commit_processor(struct weft_commit *commit, uint32_t host_id,
                                                  int32_t cpu, struct weft_err *err);

/* No more blocks of `thread_id` will come; `last_ns` is its last event. */
WEFT_CHECKED enum weft_code weft_commit_thread_end(struct weft_commit *commit, uint32_t thread_id,
                                                   uint64_t last_ns, struct weft_err *err);

/* Writes the indexes of blocks for threads 0 ... n_threads - 1, all of them ended, the directory
 * and the footer, renames, frees. On failure too; the old file then stays. */
WEFT_CHECKED enum weft_code weft_commit_finish(struct weft_commit *commit, uint32_t n_threads,
                                               uint64_t *bytes_out, struct weft_err *err);

/* Removes the temporaries and frees; NULL is allowed. */
void weft_commit_abort(struct weft_commit *commit);

#endif
