/* SPDX-License-Identifier: MIT */
#include "render/text/notes.h"

#include "base/checked.h"

#include <stdlib.h>

const char *weft_note_class_name(enum weft_note_class class)
{
    switch (class) {
    case WEFT_NOTE_CLASS_LOST:
        return "lost";
    case WEFT_NOTE_CLASS_REPAIRED:
        return "repaired";
    case WEFT_NOTE_CLASS_INFO:
        break;
    }
    return "info";
}

static int compare_sums(const void *a_ptr, const void *b_ptr)
{
    const struct weft_note_sum *a = a_ptr, *b = b_ptr;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    int by_detail = weft_str_compare(a->detail, b->detail);
    if (by_detail != 0)
        return by_detail;
    return a->thread_id < b->thread_id ? -1 : a->thread_id > b->thread_id;
}

static struct weft_note_sum sum_of(const struct weft_note *note)
{
    return (struct weft_note_sum){ .kind = note->kind,
                                   .class = weft_note_class_of(note->kind),
                                   .detail = note->detail,
                                   .count = note->count,
                                   .first_off = note->at_off,
                                   .n_threads = note->thread_id != WEFT_ID_NONE,
                                   .thread_id = note->thread_id };
}

static bool is_same_kind(const struct weft_note_sum *a, const struct weft_note_sum *b)
{
    return a->kind == b->kind && weft_str_equal(a->detail, b->detail);
}

/* Adds a row to the one before it of the same kind; both are sorted by thread. */
static void join(struct weft_note_sum *sum, const struct weft_note_sum *more)
{
    bool is_new_thread = more->thread_id != sum->thread_id && more->n_threads > 0;
    sum->count = weft_add_sat_u64(sum->count, more->count);
    sum->first_off = weft_min_u64(sum->first_off, more->first_off);
    sum->n_threads += is_new_thread;
    sum->thread_id = more->thread_id;
}

/* Of a file that is read without its directory. */
static struct weft_note_sum sum_of_recovery(const struct weft_store_meta *meta)
{
    return sum_of(&(struct weft_note){ .kind = WEFT_NOTE_TRUNCATED,
                                       .count = meta->lost_bytes,
                                       .thread_id = WEFT_ID_NONE,
                                       .at_off = WEFT_NO_OFFSET,
                                       .detail = WEFT_STR("the .weft file has no directory: what "
                                                          "followed its last whole block is "
                                                          "missing") });
}

enum weft_code weft_note_sums(const struct weft_trace *trace, struct weft_arena *arena,
                              struct weft_note_sums *sums, struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    size_t n_stored = meta->n_notes, n_notes = n_stored + meta->is_recovered;
    *sums = (struct weft_note_sums){ .rows = WEFT_ARENA_NEW(arena, n_notes, struct weft_note_sum) };
    if (!sums->rows)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu notes", n_notes);
    for (size_t i = 0; i < n_stored; i++)
        sums->rows[i] = sum_of(weft_trace_note(trace, i));
    if (meta->is_recovered)
        sums->rows[n_stored] = sum_of_recovery(meta);
    qsort(sums->rows, n_notes, sizeof *sums->rows, compare_sums);
    for (size_t i = 0; i < n_notes; i++) {
        struct weft_note_sum *row = &sums->rows[i];
        if (row->class == WEFT_NOTE_CLASS_LOST)
            sums->lost = weft_add_sat_u64(sums->lost, row->count);
        if (row->class == WEFT_NOTE_CLASS_REPAIRED)
            sums->repaired = weft_add_sat_u64(sums->repaired, row->count);
        if (sums->n_rows > 0 && is_same_kind(&sums->rows[sums->n_rows - 1], row))
            join(&sums->rows[sums->n_rows - 1], row);
        else
            sums->rows[sums->n_rows++] = *row;
    }
    for (size_t i = 0; i < sums->n_rows; i++)
        if (sums->rows[i].n_threads != 1)
            sums->rows[i].thread_id = WEFT_ID_NONE;
    return WEFT_OK;
}

struct weft_losses weft_losses_of(const struct weft_note_sums *sums)
{
    struct weft_losses losses = { 0 };
    for (size_t k = 0; k < sums->n_rows; k++) {
        const struct weft_note_sum *row = &sums->rows[k];
        uint64_t *sum = row->kind == WEFT_NOTE_NOT_RECORDED ? &losses.n_processes
                        : row->kind == WEFT_NOTE_UNWRITTEN  ? &losses.unwritten_bytes
                        : row->kind == WEFT_NOTE_TRUNCATED || row->kind == WEFT_NOTE_BAD_RECORD
                            ? &losses.damaged_bytes
                            : &losses.n_records;
        if (row->class == WEFT_NOTE_CLASS_LOST)
            *sum = weft_add_sat_u64(*sum, row->count);
    }
    return losses;
}
