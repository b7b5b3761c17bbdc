/* SPDX-License-Identifier: MIT
 *
 * What the writer keeps besides calls: source and clock, threads, functions, notes; and their
 * chunks. What was announced before the first calls is written before the first block, so that a
 * file that breaks off still names its threads and functions; the rest follows later.
 *
 * Not thread-safe: the writer locks.
 */
#ifndef WEFT_STORE_CATALOG_H
#define WEFT_STORE_CATALOG_H

#include "base/error.h"
#include "base/str.h"
#include "schema/event.h"
#include "schema/sink.h"
#include "store/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_catalog;

/* NULL without memory. */
struct weft_catalog *weft_catalog_new(struct weft_str source_name, uint64_t bytes_in);
void weft_catalog_free(struct weft_catalog *catalog);

WEFT_CHECKED enum weft_code weft_catalog_begin(struct weft_catalog *catalog,
                                               const struct weft_sink_begin *begin,
                                               struct weft_err *err);
void weft_catalog_clock(struct weft_catalog *catalog, const struct weft_clock *clock);

/* WEFT_E_MALFORMED when the key stands for another function already. */
WEFT_CHECKED enum weft_code weft_catalog_function(struct weft_catalog *catalog,
                                                  const struct weft_function_info *info,
                                                  struct weft_err *err);
WEFT_CHECKED enum weft_code weft_catalog_thread(struct weft_catalog *catalog,
                                                const struct weft_thread_info *info,
                                                uint32_t *thread_id, struct weft_err *err);
/* Adds to the note of the same kind, thread and detail. */
WEFT_CHECKED enum weft_code weft_catalog_note(struct weft_catalog *catalog,
                                              const struct weft_note *note, struct weft_err *err);
/* These functions occur in calls. */
WEFT_CHECKED enum weft_code weft_catalog_seen(struct weft_catalog *catalog, const uint32_t *keys,
                                              size_t n_keys, struct weft_err *err);

WEFT_CHECKED enum weft_code weft_catalog_object(struct weft_catalog *catalog,
                                                const struct weft_object_info *info,
                                                struct weft_err *err);

/* A name that comes again with another module is none: traces that are merged have such. */
WEFT_CHECKED enum weft_code weft_catalog_library(struct weft_catalog *catalog,
                                                 const struct weft_library_function *function,
                                                 struct weft_err *err);

WEFT_CHECKED enum weft_code weft_catalog_process(struct weft_catalog *catalog,
                                                 const struct weft_ledger_process *process,
                                                 struct weft_err *err);

uint32_t weft_catalog_n_threads(const struct weft_catalog *catalog);

/* Adds functions that occur and were never announced, unnamed, in order of their keys; gives the
 * number of functions that occur without a name, and of all. */
WEFT_CHECKED enum weft_code weft_catalog_complete(struct weft_catalog *catalog, uint64_t *n_unnamed,
                                                  uint64_t *n_functions, struct weft_err *err);

/* Each replaces `payload` by the chunk's content, or leaves it empty when there is nothing new
 * since the last time. Threads up to and without `end_thread`. */
void weft_catalog_put_meta(struct weft_catalog *catalog, struct weft_bytes *payload);
void weft_catalog_put_threads(struct weft_catalog *catalog, uint32_t end_thread,
                              struct weft_bytes *payload);
/* Runs of threads of foreign processes; of all threads, so once all are known. */
void weft_catalog_put_foreign(const struct weft_catalog *catalog, struct weft_bytes *payload);
/* Functions of libraries, likewise. */
void weft_catalog_put_libraries(const struct weft_catalog *catalog, struct weft_bytes *payload);

/* Names of objects, in the order in which they came. */
void weft_catalog_put_objects(const struct weft_catalog *catalog, struct weft_bytes *payload);
/* Processes of the recorded program, likewise. */
void weft_catalog_put_ledger(const struct weft_catalog *catalog, struct weft_bytes *payload);
void weft_catalog_put_functions(struct weft_catalog *catalog, struct weft_bytes *payload);
WEFT_CHECKED enum weft_code weft_catalog_put_notes(struct weft_catalog *catalog,
                                                   struct weft_bytes *payload,
                                                   struct weft_err *err);

#endif
