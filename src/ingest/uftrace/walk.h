/* SPDX-License-Identifier: MIT
 *
 * Walks the records of one task's file, TID.dat.
 *
 *     u64 time ns | bits 0-1 type, 2 more, 3-5 magic (5), 6-15 depth, 16-63 address | data, if more
 *
 * A walk is repeatable: the second one over a task sees the same records as the first.
 */
#ifndef WEFT_INGEST_UFTRACE_WALK_H
#define WEFT_INGEST_UFTRACE_WALK_H

#include "base/map.h"
#include "ingest/uftrace/argspec.h"
#include "ingest/uftrace/space.h"

enum { WEFT_UFT_RECORD_BYTES = 16, WEFT_UFT_CACHE = 4096 };

enum weft_uft_type { WEFT_UFT_ENTRY, WEFT_UFT_EXIT, WEFT_UFT_LOST, WEFT_UFT_EVENT };

/* Time stamps at or beyond this are no times. */
#define WEFT_UFT_MOST_NS (UINT64_C(1) << 62)

struct weft_uft_tally {
    uint64_t count;
    uint64_t at_off;
};

static inline void weft_uft_tally_add(struct weft_uft_tally *tally, uint64_t count, uint64_t at_off)
{
    if (count == 0)
        return;
    if (tally->count == 0)
        tally->at_off = at_off;
    tally->count += count;
}

/* A function as one task meets it: an address in an epoch. */
struct weft_uft_local {
    uint64_t address;
    struct weft_uft_place place;
    uint32_t key;                    /* of the trace; set between the walks */
    bool has_args[2], knows_args[2]; /* at entry, at exit */
    struct weft_uft_args args[2];
};

struct weft_uft_locals {
    struct weft_map *map; /* address | epoch << 48 -> number */
    struct {
        struct weft_uft_local *items;
        size_t n, cap;
    } rows;
};

struct weft_uft_record {
    enum weft_uft_type type;
    uint64_t time_ns;
    uint64_t at_off;
    uint64_t id; /* EVENT: which; LOST: how many */
    uint32_t depth;
    uint32_t local;                   /* ENTRY, EXIT: number of the function */
    const struct weft_uft_args *args; /* of the data; NULL: unknown */
    const uint8_t *data;
    size_t n_data;
};

struct weft_uft_walk {
    const struct weft_uft_info *info;
    const struct weft_uft_space *space;
    const struct weft_uft_epochs *epochs;
    struct weft_uft_locals *locals;
    const uint8_t *bytes;
    uint64_t n_bytes;
    uint64_t at_off;
    uint64_t last_ns;
    size_t epoch;
    uint64_t epoch_from_ns, epoch_to_ns;
    struct weft_uft_tally bad_bytes, missing_bytes;
    struct {
        uint64_t key;
        uint32_t local;
    } cache[WEFT_UFT_CACHE];
};

/* An entry or exit without data, of a function that was met lately. */
struct weft_uft_plain {
    uint64_t time_ns;
    uint32_t local;
    uint16_t depth;
    bool is_exit;
};

void weft_uft_walk_begin(struct weft_uft_walk *walk, const struct weft_uft_info *info,
                         const struct weft_uft_space *space, const struct weft_uft_epochs *epochs,
                         struct weft_uft_locals *locals, const struct weft_mapped *file);

/* The next record; *is_end at the end. NOMEM only: damage is counted and passed over. */
WEFT_CHECKED enum weft_code weft_uft_walk_next(struct weft_uft_walk *walk,
                                               struct weft_uft_record *record, bool *is_end,
                                               struct weft_err *err);

/* The same for many: takes plain records as long as they follow each other, at most `n_most`, and
 * returns how many. 0: the next record is for weft_uft_walk_next. */
size_t weft_uft_walk_plain(struct weft_uft_walk *walk, struct weft_uft_plain *plain, size_t n_most);

WEFT_CHECKED enum weft_code weft_uft_locals_init(struct weft_uft_locals *locals,
                                                 struct weft_err *err);
void weft_uft_locals_fini(struct weft_uft_locals *locals);

#endif
