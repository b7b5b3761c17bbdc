/* SPDX-License-Identifier: MIT
 *
 * External sorting of fixed-size records that belong to lanes (say, threads): records are added in
 * any order, and read back lane by lane, each lane in ascending order of key, equal keys in the
 * order in which they were added.
 *
 *     add, add, add ...  -->  lane 0 | lane 1 | ...      in memory, in order of arrival
 *                                 |  limit reached
 *                                 v
 *                        run 0, run 1 ...                each lane sorted, in one unlinked file
 *     read lane k        <--  concatenate its runs if they follow each other, else merge them
 *
 * A lane that arrives in order is never sorted, nor merged. The result depends neither on the limit
 * nor on how many threads read. Memory: the limit while records are added, and half as much again
 * while one lane is sorted; a few MB for each reader; 24 bytes for each lane and run. If less is
 * available it works with that: what is held goes to the file earlier, and lanes are sorted where
 * they lie, which takes longer.
 */
#ifndef WEFT_BASE_SORT_H
#define WEFT_BASE_SORT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_sort_record {
    uint64_t key;
    uint64_t words[4]; /* the caller's */
};

struct weft_sorter;

/* `limit_bytes` of records are held in memory; 0: 256 MiB. NULL without memory. */
struct weft_sorter *weft_sorter_new(size_t limit_bytes);
void weft_sorter_free(struct weft_sorter *sorter);

/* Lanes come into being when they are named. WEFT_E_NOMEM; WEFT_E_IO when the temporary file
 * (in TMPDIR, else /var/tmp, else /tmp) cannot be written. */
WEFT_CHECKED enum weft_code weft_sorter_add(struct weft_sorter *sorter, uint32_t lane,
                                            const struct weft_sort_record *record,
                                            struct weft_err *err);

/* Records of a lane, 0 for a lane that was never named. */
uint64_t weft_sorter_count(const struct weft_sorter *sorter, uint32_t lane);

/* Bytes of records that went to the temporary file so far. */
uint64_t weft_sorter_spilled_bytes(const struct weft_sorter *sorter);

/* Reads one lane from its begin. Nothing may be added any more once a reader is open; different
 * lanes may be read by different threads at once. */
struct weft_sort_reader;

WEFT_CHECKED enum weft_code weft_sort_reader_open(struct weft_sorter *sorter, uint32_t lane,
                                                  struct weft_sort_reader **reader,
                                                  struct weft_err *err);

/* The next records of the lane; `*n_records` is 0 at its end. They are valid until the next call.
 */
WEFT_CHECKED enum weft_code weft_sort_reader_next(struct weft_sort_reader *reader,
                                                  const struct weft_sort_record **records,
                                                  size_t *n_records, struct weft_err *err);

/* NULL is allowed. Frees the lane's records in memory too: a lane is read once. */
void weft_sort_reader_close(struct weft_sort_reader *reader);

#endif
