/* SPDX-License-Identifier: MIT
 *
 * The sorter and its readers: stable merge sort for each lane in memory, segments in one unlinked
 * file, a heap that merges them on reading. If there is no memory for the second buffer, a lane is
 * sorted in place by rotations (O(n log^2 n)). One thread adds; afterwards several may read, each
 * another lane.
 */
#include "base/sort.h"

#include "base/checked.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RECORD_BYTES = sizeof(struct weft_sort_record),
    INSERTION_RECORDS = 12,  /* stretches that insertion sorts */
    READ_RECORDS = 16384,    /* of all runs of a reader together, at least ... */
    LEAST_READ_RECORDS = 64, /* ... these for each */
    MERGED_RECORDS = 512,    /* handed out at once by a merge */
    WRITE_BYTES = 1 << 20,
    LEAST_LIMIT_BYTES = 64 << 10,
};
#define DEFAULT_LIMIT_BYTES ((size_t)256 << 20)

/* A lane's part of a run in the file. */
struct segment {
    uint64_t off;
    uint64_t n_records;
};

struct lane {
    struct weft_sort_record *items; /* in memory, in order of arrival */
    size_t n, cap;
    bool is_sorted;    /* items are in order */
    bool is_whole;     /* segments and items follow each other in order: nothing to merge */
    uint64_t last_key; /* the greatest of all records so far, if is_whole */
    uint64_t n_spilled;
    struct {
        struct segment *items;
        size_t n, cap;
    } segments;
};

struct weft_sorter {
    struct {
        struct lane *items;
        size_t n, cap;
    } lanes;
    size_t held_bytes, limit_bytes;
    int fd; /* -1: nothing was spilled */
    uint64_t file_bytes;
};

struct weft_sorter *weft_sorter_new(size_t limit_bytes)
{
    struct weft_sorter *sorter = calloc(1, sizeof *sorter);
    if (!sorter)
        return NULL;
    sorter->limit_bytes = limit_bytes ? limit_bytes : DEFAULT_LIMIT_BYTES;
    sorter->fd = -1;
    return sorter;
}

void weft_sorter_free(struct weft_sorter *sorter)
{
    if (!sorter)
        return;
    for (size_t k = 0; k < sorter->lanes.n; k++) {
        free(sorter->lanes.items[k].items);
        WEFT_VEC_FINI(&sorter->lanes.items[k].segments);
    }
    WEFT_VEC_FINI(&sorter->lanes);
    if (sorter->fd >= 0)
        (void)close(sorter->fd);
    free(sorter);
}

/* ---- in memory ------------------------------------------------------------------------------ */

static void sort_by_insertion(struct weft_sort_record *items, size_t n)
{
    for (size_t k = 1; k < n; k++) {
        if (items[k - 1].key <= items[k].key)
            continue;
        const struct weft_sort_record moved = items[k];
        size_t at = k;
        for (; at > 0 && items[at - 1].key > moved.key; at--)
            items[at] = items[at - 1];
        items[at] = moved;
    }
}

/* Merges the ordered halves [0, middle) and [middle, n); `spare` holds the first. */
static void merge_halves(struct weft_sort_record *items, size_t middle, size_t n,
                         struct weft_sort_record *spare)
{
    if (items[middle - 1].key <= items[middle].key)
        return;
    memcpy(spare, items, middle * sizeof *items);
    size_t left = 0;
    size_t right = middle;
    size_t out = 0;
    while (left < middle && right < n)
        items[out++] = items[right].key < spare[left].key ? items[right++] : spare[left++];
    if (left < middle)
        memcpy(items + out, spare + left, (middle - left) * sizeof *items);
}

/* Stable. `spare` has room for n / 2 records. */
static void sort_by_merging(struct weft_sort_record *items, size_t n,
                            struct weft_sort_record *spare)
{
    if (n <= INSERTION_RECORDS) {
        sort_by_insertion(items, n);
        return;
    }
    sort_by_merging(items, n / 2, spare);
    sort_by_merging(items + n / 2, n - n / 2, spare);
    merge_halves(items, n / 2, n, spare);
}

static void reverse(struct weft_sort_record *items, size_t n)
{
    for (size_t k = 0; k + k + 1 < n; k++) {
        const struct weft_sort_record moved = items[k];
        items[k] = items[n - 1 - k];
        items[n - 1 - k] = moved;
    }
}

/* Swaps [0, middle) and [middle, n), which keep their order. */
static void rotate(struct weft_sort_record *items, size_t middle, size_t n)
{
    reverse(items, middle);
    reverse(items + middle, n - middle);
    reverse(items, n);
}

/* Records of the ordered `items` whose key is less than `key`; with `or_equal` also those that have
 * it. */
static size_t count_below(const struct weft_sort_record *items, size_t n, uint64_t key,
                          bool or_equal)
{
    size_t low = 0;
    while (low < n) {
        const size_t at = low + (n - low) / 2;
        if (items[at].key < key || (or_equal && items[at].key == key))
            low = at + 1;
        else
            n = at;
    }
    return low;
}

/* Merges the ordered runs of `n_left` and `n_right` records in no more room: the longer one is cut
 * in two, the other where that key would stand, and the parts in the middle change places. */
static void merge_in_place(struct weft_sort_record *items, size_t n_left, size_t n_right)
{
    if (n_left == 0 || n_right == 0 || items[n_left - 1].key <= items[n_left].key)
        return;
    if (n_left + n_right == 2) {
        reverse(items, 2);
        return;
    }
    const struct weft_sort_record *right = items + n_left;
    size_t cut_left = n_left / 2, cut_right = n_right / 2;
    if (n_left > n_right)
        cut_right = count_below(right, n_right, items[cut_left].key, false);
    else
        cut_left = count_below(items, n_left, right[cut_right].key, true);
    rotate(items + cut_left, n_left - cut_left, n_left - cut_left + cut_right);
    merge_in_place(items, cut_left, cut_right);
    merge_in_place(items + cut_left + cut_right, n_left - cut_left, n_right - cut_right);
}

/* Stable, in no more room, for when there is none: O(n log^2 n). */
static void sort_in_place(struct weft_sort_record *items, size_t n)
{
    if (n <= INSERTION_RECORDS) {
        sort_by_insertion(items, n);
        return;
    }
    sort_in_place(items, n / 2);
    sort_in_place(items + n / 2, n - n / 2);
    merge_in_place(items, n / 2, n - n / 2);
}

static void lane_sort(struct lane *lane)
{
    if (!lane->is_sorted && lane->n > 1) {
        struct weft_sort_record *spare = malloc(lane->n / 2 * sizeof *spare);
        if (spare)
            sort_by_merging(lane->items, lane->n, spare);
        else
            sort_in_place(lane->items, lane->n);
        free(spare);
    }
    lane->is_sorted = true;
}

/* ---- the file ------------------------------------------------------------------------------- */

static enum weft_code file_write(struct weft_sorter *sorter, const void *bytes, size_t n_bytes,
                                 struct weft_err *err)
{
    const uint8_t *at = bytes;
    while (n_bytes > 0) {
        ssize_t n = pwrite(sorter->fd, at, n_bytes < WRITE_BYTES ? n_bytes : WRITE_BYTES,
                           (off_t)sorter->file_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return weft_fail_errno(err, n < 0 ? errno : ENOSPC,
                                   "cannot write the temporary file for sorting");
        at += n;
        n_bytes -= (size_t)n;
        sorter->file_bytes += (uint64_t)n;
    }
    return WEFT_OK;
}

static enum weft_code file_read(const struct weft_sorter *sorter, uint64_t off, void *bytes,
                                size_t n_bytes, struct weft_err *err)
{
    uint8_t *at = bytes;
    while (n_bytes > 0) {
        ssize_t n = pread(sorter->fd, at, n_bytes, (off_t)off);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return weft_fail_errno(err, n < 0 ? errno : EIO,
                                   "cannot read the temporary file for sorting");
        at += n;
        off += (uint64_t)n;
        n_bytes -= (size_t)n;
    }
    return WEFT_OK;
}

/* Writes a lane's records as a segment of the run, and lets go of them. */
static enum weft_code lane_spill(struct weft_sorter *sorter, struct lane *lane,
                                 struct weft_err *err)
{
    const struct segment made = { .off = sorter->file_bytes, .n_records = lane->n };
    lane_sort(lane);
    const enum weft_code code = file_write(sorter, lane->items, lane->n * RECORD_BYTES, err);
    lane->n_spilled += lane->n;
    free(lane->items);
    lane->items = NULL;
    lane->n = lane->cap = 0;
    if (code != WEFT_OK)
        return code;
    struct segment *segment = WEFT_VEC_PUSH(&lane->segments);
    if (!segment)
        return weft_no_memory(err, "records to sort");
    *segment = made;
    return WEFT_OK;
}

static enum weft_code spill(struct weft_sorter *sorter, struct weft_err *err)
{
    enum weft_code code = sorter->fd < 0 ? weft_scratch_open(&sorter->fd, err) : WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < sorter->lanes.n; k++)
        if (sorter->lanes.items[k].n)
            code = lane_spill(sorter, &sorter->lanes.items[k], err);
    sorter->held_bytes = 0;
    return code;
}

/* ---- adding --------------------------------------------------------------------------------- */

static struct lane *lane_get(struct weft_sorter *sorter, uint32_t number)
{
    while (sorter->lanes.n <= number) {
        struct lane *lane = WEFT_VEC_PUSH(&sorter->lanes);
        if (!lane)
            return NULL;
        lane->is_sorted = lane->is_whole = true;
    }
    return &sorter->lanes.items[number];
}

static bool lane_reserve(struct weft_sorter *sorter, struct lane *lane)
{
    const size_t before = lane->cap;
    if (!weft_vec_reserve(&lane->items, &lane->cap, lane->n + 1, sizeof *lane->items))
        return false;
    sorter->held_bytes += (lane->cap - before) * RECORD_BYTES;
    return true;
}

/* Others need memory, too: less than what there was none beyond is held from now on. */
static void lower_limit(struct weft_sorter *sorter)
{
    const size_t n_bytes = sorter->held_bytes / 2;
    if (n_bytes < sorter->limit_bytes)
        sorter->limit_bytes = n_bytes > LEAST_LIMIT_BYTES ? n_bytes : LEAST_LIMIT_BYTES;
}

/* Room for one more record: what a lane holds counts in full, so that growth is bounded too. Where
 * there is less memory than the limit, what is held goes to the file as well. */
static enum weft_code lane_grow(struct weft_sorter *sorter, uint32_t number, struct weft_err *err)
{
    struct lane *lane = &sorter->lanes.items[number];
    const bool is_full =
        sorter->held_bytes + (lane->cap / 2 + 8) * RECORD_BYTES > sorter->limit_bytes;
    if (!(is_full && sorter->held_bytes > 0) && lane_reserve(sorter, lane))
        return WEFT_OK;
    if (!is_full)
        lower_limit(sorter);
    WEFT_TRY(spill(sorter, err));
    return lane_reserve(sorter, lane) ? WEFT_OK : weft_no_memory(err, "records to sort");
}

enum weft_code weft_sorter_add(struct weft_sorter *sorter, uint32_t number,
                               const struct weft_sort_record *record, struct weft_err *err)
{
    struct lane *lane =
        number < sorter->lanes.n ? &sorter->lanes.items[number] : lane_get(sorter, number);
    if (!lane)
        return weft_no_memory(err, "records to sort");
    if (lane->n == lane->cap) {
        WEFT_TRY(lane_grow(sorter, number, err));
    }
    if (lane->n && record->key < lane->items[lane->n - 1].key)
        lane->is_sorted = false;
    if (record->key < lane->last_key)
        lane->is_whole = false;
    else
        lane->last_key = record->key;
    lane->items[lane->n++] = *record;
    return WEFT_OK;
}

uint64_t weft_sorter_count(const struct weft_sorter *sorter, uint32_t number)
{
    if (number >= sorter->lanes.n)
        return 0;
    const struct lane *lane = &sorter->lanes.items[number];
    return lane->n_spilled + lane->n;
}

uint64_t weft_sorter_spilled_bytes(const struct weft_sorter *sorter)
{
    return sorter->file_bytes;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* A segment that is being read, or what a lane holds in memory. */
struct source {
    const struct weft_sort_record *at, *end; /* records at hand */
    struct weft_sort_record *buffer;         /* NULL: all records are at hand */
    uint64_t off, n_left;                    /* what is not yet at hand */
};

struct weft_sort_reader {
    struct weft_sorter *sorter;
    struct lane *lane;
    struct lane no_lane;    /* in place of one that was never named */
    struct source *sources; /* in order of age */
    size_t n_sources;
    size_t now;     /* without a merge: the source that is read */
    uint32_t *heap; /* sources that are not at their end; the root has the least record */
    size_t n_heap;
    struct weft_sort_record *buffers;
    size_t buffer_records;
    struct weft_sort_record *merged; /* MERGED_RECORDS, once there is something to merge */
};

static enum weft_code source_fill(struct weft_sort_reader *reader, struct source *source,
                                  struct weft_err *err)
{
    size_t n =
        source->n_left < reader->buffer_records ? (size_t)source->n_left : reader->buffer_records;
    source->at = source->buffer;
    source->end = source->buffer + n;
    enum weft_code code =
        file_read(reader->sorter, source->off, source->buffer, n * RECORD_BYTES, err);
    source->off += n * RECORD_BYTES;
    source->n_left -= n;
    return code;
}

/* True if source a comes before source b: ties go to the older one. */
static bool source_before(const struct weft_sort_reader *reader, uint32_t a, uint32_t b)
{
    uint64_t key_a = reader->sources[a].at->key;
    uint64_t key_b = reader->sources[b].at->key;
    return key_a != key_b ? key_a < key_b : a < b;
}

#define SOURCE_BEFORE(a, b) source_before(reader, a, b)

static enum weft_code reader_sources(struct weft_sort_reader *reader, struct weft_err *err)
{
    struct lane *lane = reader->lane;
    size_t n_segments = lane->segments.n;
    reader->n_sources = n_segments + (lane->n > 0);
    size_t most = READ_RECORDS / (n_segments + 1);
    reader->buffer_records = most > LEAST_READ_RECORDS ? most : LEAST_READ_RECORDS;
    reader->sources = calloc(reader->n_sources + 1, sizeof *reader->sources);
    reader->heap = calloc(reader->n_sources + 1, sizeof *reader->heap);
    reader->buffers = malloc((n_segments * reader->buffer_records + 1) * RECORD_BYTES);
    if (!reader->buffers && reader->buffer_records > LEAST_READ_RECORDS) {
        reader->buffer_records = LEAST_READ_RECORDS;
        reader->buffers = malloc((n_segments * reader->buffer_records + 1) * RECORD_BYTES);
    }
    if (!reader->sources || !reader->heap || !reader->buffers)
        return weft_no_memory(err, "records to sort");
    for (size_t k = 0; k < n_segments; k++)
        reader->sources[k] =
            (struct source){ .buffer = reader->buffers + k * reader->buffer_records,
                             .off = lane->segments.items[k].off,
                             .n_left = lane->segments.items[k].n_records };
    if (lane->n)
        reader->sources[n_segments] =
            (struct source){ .at = lane->items, .end = lane->items + lane->n };
    return WEFT_OK;
}

/* Unless the sources follow each other, their first records make a heap. */
static enum weft_code reader_heap(struct weft_sort_reader *reader, struct weft_err *err)
{
    if (reader->lane->is_whole || reader->n_sources < 2)
        return WEFT_OK;
    reader->merged = malloc(MERGED_RECORDS * RECORD_BYTES);
    if (!reader->merged)
        return weft_no_memory(err, "records to sort");
    for (uint32_t k = 0; k < reader->n_sources; k++) {
        WEFT_TRY(reader->sources[k].buffer ? source_fill(reader, &reader->sources[k], err)
                                           : WEFT_OK);
        reader->heap[reader->n_heap++] = k;
    }
    WEFT_HEAP_MAKE(reader->heap, reader->n_heap, SOURCE_BEFORE);
    return WEFT_OK;
}

enum weft_code weft_sort_reader_open(struct weft_sorter *sorter, uint32_t number,
                                     struct weft_sort_reader **reader_out, struct weft_err *err)
{
    struct weft_sort_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return weft_no_memory(err, "records to sort");
    reader->sorter = sorter;
    reader->no_lane.is_sorted = reader->no_lane.is_whole = true;
    reader->lane = number < sorter->lanes.n ? &sorter->lanes.items[number] : &reader->no_lane;
    lane_sort(reader->lane);
    enum weft_code code = reader_sources(reader, err);
    WEFT_THEN(code, reader_heap(reader, err));
    if (code != WEFT_OK) {
        weft_sort_reader_close(reader);
        return code;
    }
    *reader_out = reader;
    return WEFT_OK;
}

static enum weft_code next_of_heap(struct weft_sort_reader *reader,
                                   const struct weft_sort_record **records, size_t *n_records,
                                   struct weft_err *err)
{
    size_t n = 0;
    while (n < MERGED_RECORDS && reader->n_heap > 0) {
        struct source *source = &reader->sources[reader->heap[0]];
        reader->merged[n++] = *source->at++;
        if (source->at == source->end && source->n_left) {
            WEFT_TRY(source_fill(reader, source, err));
        }
        if (source->at == source->end)
            reader->heap[0] = reader->heap[--reader->n_heap];
        WEFT_HEAP_SINK(reader->heap, reader->n_heap, 0, SOURCE_BEFORE);
    }
    *records = reader->merged;
    *n_records = n;
    return WEFT_OK;
}

enum weft_code weft_sort_reader_next(struct weft_sort_reader *reader,
                                     const struct weft_sort_record **records, size_t *n_records,
                                     struct weft_err *err)
{
    if (!reader->lane->is_whole && reader->n_sources > 1)
        return next_of_heap(reader, records, n_records, err);
    *n_records = 0;
    for (; reader->now < reader->n_sources; reader->now++) {
        struct source *source = &reader->sources[reader->now];
        if (source->n_left) {
            WEFT_TRY(source_fill(reader, source, err));
        }
        if (source->at == source->end)
            continue;
        *records = source->at;
        *n_records = (size_t)(source->end - source->at);
        source->at = source->end;
        return WEFT_OK;
    }
    return WEFT_OK;
}

void weft_sort_reader_close(struct weft_sort_reader *reader)
{
    if (!reader)
        return;
    free(reader->lane->items);
    reader->lane->items = NULL;
    reader->lane->n = reader->lane->cap = 0;
    free(reader->sources);
    free(reader->heap);
    free(reader->buffers);
    free(reader->merged);
    free(reader);
}
