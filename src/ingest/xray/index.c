/* SPDX-License-Identifier: MIT
 *
 * What both modes do with their pieces once they are found: order threads and pieces.
 */
#include "base/checked.h"
#include "base/vec.h"
#include "ingest/xray/log.h"

#include <stdlib.h>

void weft_xray_index_fini(struct weft_xray_index *index)
{
    WEFT_VEC_FINI(&index->pieces);
    WEFT_VEC_FINI(&index->threads);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_threads(const void *a_void, const void *b_void)
{
    const struct weft_xray_thread *a = a_void;
    const struct weft_xray_thread *b = b_void;
    int order = compare_u64(a->first_tsc, b->first_tsc);
    if (order == 0)
        order = compare_u64(a->tid, b->tid);
    return order ? order : compare_u64(a->pid, b->pid);
}

static int compare_pieces(const void *a_void, const void *b_void)
{
    const struct weft_xray_piece *a = a_void;
    const struct weft_xray_piece *b = b_void;
    int order = compare_u64(a->thread, b->thread);
    if (order == 0)
        order = compare_u64(a->first_tsc, b->first_tsc);
    return order ? order : compare_u64(a->at_off, b->at_off);
}

/* Gives each thread its rank by first time stamp, in `rank_of` and in the pieces. Until then a
 * thread's first_piece holds its number in order of discovery. */
static void rank_threads(struct weft_xray_index *index, uint32_t *rank_of)
{
    for (size_t k = 0; k < index->threads.n; k++)
        index->threads.items[k].first_piece = k;
    qsort(index->threads.items, index->threads.n, sizeof *index->threads.items, compare_threads);
    for (size_t k = 0; k < index->threads.n; k++) {
        rank_of[index->threads.items[k].first_piece] = (uint32_t)k;
        index->threads.items[k].n_pieces = 0;
    }
    for (size_t k = 0; k < index->pieces.n; k++)
        index->pieces.items[k].thread = rank_of[index->pieces.items[k].thread];
}

static void assign_pieces(struct weft_xray_index *index)
{
    if (index->pieces.n)
        qsort(index->pieces.items, index->pieces.n, sizeof *index->pieces.items, compare_pieces);
    for (size_t k = 0; k < index->pieces.n; k++) {
        struct weft_xray_thread *thread = &index->threads.items[index->pieces.items[k].thread];
        if (thread->n_pieces++ == 0)
            thread->first_piece = k;
    }
}

enum weft_code weft_xray_index_sort(struct weft_xray_index *index, struct weft_err *err)
{
    if (index->threads.n == 0)
        return WEFT_OK;
    uint32_t *rank_of = calloc(index->threads.n, sizeof *rank_of);
    if (!rank_of)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for an index of %zu threads",
                         index->threads.n);
    rank_threads(index, rank_of);
    assign_pieces(index);
    free(rank_of);
    index->zero_tsc = index->threads.items[0].first_tsc;
    return WEFT_OK;
}
