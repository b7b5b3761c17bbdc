/* SPDX-License-Identifier: MIT
 *
 * Scans: how analyses walk the calls of a thread. A thread is one item of work; a scan hands out
 * its calls block by block in pre-order, and before them, as a block of their own, the calls that
 * were cut by the trace's start:
 *
 *     struct weft_scan scan;                      // given to the item by weft_scan_threads
 *     while (!(code = weft_scan_next(&scan, &calls, err)) && calls)
 *         for (size_t i = 0; i < calls->n_rows; i++) ...
 *
 * The last few blocks of the thread stay decoded, so that a second pass over a thread that is not
 * long costs no second decoding.
 *
 * Calls of a thread are numbered from 0 in pre-order, cut frames first: the number of row i of a
 * block is scan.first_call + i.
 */
#ifndef WEFT_MODEL_CALLS_SCAN_H
#define WEFT_MODEL_CALLS_SCAN_H

#include "base/pool.h"
#include "model/trace.h"
#include "model/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_scan {
    const struct weft_trace *trace;
    const struct weft_model_thread *thread; /* in a window: what of it lies inside */
    const struct weft_window *window;       /* NULL: the whole thread */
    uint32_t thread_id;
    size_t item;          /* position of the thread in the selection, or of the piece */
    uint32_t depth_bound; /* every depth of the thread is below it */
    uint64_t first_call;  /* number of the current block's row 0 */
    uint64_t next_block;
    bool is_cut_done;
    bool is_cut; /* the current block is that of the cut frames */
    struct weft_calls calls;
    struct weft_scan_part *part;   /* in a window */
    struct weft_scan_cache *cache; /* the worker's buffers */
    struct weft_progress *progress;
};

/* Summary of a block, the number of which counts from the window's first. In a window, of the whole
 * block: calls and gaps of the part inside may be shorter. */
const struct weft_block_info *weft_scan_block(const struct weft_scan *scan, uint64_t block);

/* The function ids that a stored block calls, ascending; valid until the next call. */
WEFT_CHECKED enum weft_code weft_scan_functions(struct weft_scan *scan, uint64_t block,
                                                const uint32_t **ids, size_t *n_ids,
                                                struct weft_err *err);

/* The next block of the thread in *calls, or NULL at the end. The first is the block of cut frames,
 * if there are any; of it only n_rows, start_ns, end_ns, function_id, depth and flags are set. */
WEFT_CHECKED enum weft_code weft_scan_next(struct weft_scan *scan, const struct weft_calls **calls,
                                           struct weft_err *err);

/* Jumps: the next block handed out will be stored block `block` (<= n_blocks). */
void weft_scan_seek(struct weft_scan *scan, uint64_t block);

/* Begins again, with the cut frames. */
void weft_scan_rewind(struct weft_scan *scan);

/* Start of the first root call and end of the last one; false if the thread has no call. Loads the
 * last block; leaves the scan at its beginning. */
WEFT_CHECKED enum weft_code weft_scan_extent(struct weft_scan *scan, bool *has_calls,
                                             uint64_t *start_ns, uint64_t *end_ns,
                                             struct weft_err *err);

/* Calls of the selected threads, cut frames apart: the unit of progress. */
uint64_t weft_scan_calls(const struct weft_trace *trace, const uint32_t *ids, size_t n_ids);

/* Number of selected threads and the id of one: ids NULL or n_ids 0 selects all. */
size_t weft_scan_n_threads(const struct weft_trace *trace, const uint32_t *ids, size_t n_ids);
uint32_t weft_scan_thread_id(const uint32_t *ids, size_t n_ids, size_t item);

/* WEFT_E_ARG unless the ids are ascending and exist. */
WEFT_CHECKED enum weft_code weft_scan_check(const struct weft_trace *trace, const uint32_t *ids,
                                            size_t n_ids, struct weft_err *err);

/* What is done with one thread, on one worker. */
typedef enum weft_code (*weft_scan_fn)(void *context, struct weft_scan *scan, unsigned worker,
                                       struct weft_err *err);

/* Runs `fn` for every selected thread on the workers of `run`, each with its own buffer. Checks the
 * ids first. Errors name the thread.
 *
 * With a window (NULL: none), a scan hands out what a trace would hold that is no longer than that:
 * calls open at its begin as cut frames that begin with it, then those that begin inside; ends are
 * clipped, with the flags CUT_START and CUT_END. Blocks outside are not read. */
WEFT_CHECKED enum weft_code weft_scan_threads(const struct weft_trace *trace, const uint32_t *ids,
                                              size_t n_ids, const struct weft_window *window,
                                              const struct weft_run *run, weft_scan_fn fn,
                                              void *context, struct weft_err *err);

/* A piece of work on a thread. Which of its blocks that is, is between the caller and `fn`. */
struct weft_scan_piece {
    uint32_t thread_id;
    uint64_t calls; /* about: pieces of most calls are begun first */
};

/* The same for pieces, several of which may be of one thread: scan->item is the piece. */
WEFT_CHECKED enum weft_code weft_scan_pieces(const struct weft_trace *trace,
                                             const struct weft_scan_piece *pieces, size_t n_pieces,
                                             const struct weft_window *window,
                                             const struct weft_run *run, weft_scan_fn fn,
                                             void *context, struct weft_err *err);

#endif
