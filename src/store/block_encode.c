/* SPDX-License-Identifier: MIT
 *
 * Turns the rows of a builder into the chunk of a block: the dictionary is sorted by function key,
 * columns are compressed one by one, and the head is written before them, uncompressed, so that the
 * index can have a copy. Contexts are omitted where they take more room than they save.
 */
#include "store/block.h"
#include "store/chunk.h"
#include "store/contexts.h"
#include "store/lod_build.h"

struct weft_block_encoder *weft_block_encoder_new(void)
{
    struct weft_block_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder)
        return NULL;
    encoder->columns = weft_column_encoder_new();
    encoder->lod = calloc(1, sizeof *encoder->lod);
    if (encoder->columns && encoder->lod)
        return encoder;
    weft_block_encoder_free(encoder);
    return NULL;
}

void weft_block_encoder_free(struct weft_block_encoder *encoder)
{
    if (!encoder)
        return;
    if (encoder->columns)
        weft_column_encoder_free(encoder->columns);
    if (encoder->lod)
        weft_lod_walk_fini(encoder->lod);
    free(encoder->lod);
    weft_bytes_fini(&encoder->raw);
    weft_bytes_fini(&encoder->packed);
    weft_bytes_fini(&encoder->payload);
    weft_bytes_fini(&encoder->chunk);
    free(encoder);
}

static void put_column(struct weft_block_encoder *encoder, struct weft_block_head *head,
                       enum weft_block_column column, const uint8_t *raw, size_t n_bytes)
{
    const bool is_noise = column == WEFT_COLUMN_GAP || column == WEFT_COLUMN_TAIL;
    const size_t start = encoder->packed.n;
    const enum weft_codec codec =
        weft_column_encode(encoder->columns, is_noise ? WEFT_COLUMN_NOISE : WEFT_COLUMN_REPETITIVE,
                           raw, n_bytes, &encoder->packed);
    head->columns[column] = (struct weft_block_column_entry){
        .codec = (uint8_t)codec,
        .raw_bytes = (uint32_t)n_bytes,
        .stored_bytes = (uint32_t)(encoder->packed.n - start),
    };
}

/* A function key with its index by first use, packed so that one sort of integers orders both. */
static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the keys, gives rank[index by first use], and leaves the column in encoder->raw. */
static bool dict_sort(struct weft_block_encoder *encoder, uint32_t *keys, size_t n_keys)
{
    uint64_t *pairs = malloc((n_keys ? n_keys : 1) * sizeof *pairs);
    if (!pairs)
        return false;
    for (size_t i = 0; i < n_keys; i++)
        pairs[i] = (uint64_t)keys[i] << 32 | i;
    qsort(pairs, n_keys, sizeof *pairs, compare_u64);
    encoder->raw.n = 0;
    uint32_t previous = 0;
    for (size_t i = 0; i < n_keys; i++) {
        const uint32_t key = (uint32_t)(pairs[i] >> 32);
        encoder->rank[(uint32_t)pairs[i]] = (uint16_t)i;
        keys[i] = key;
        weft_bytes_put_varint(&encoder->raw, i ? key - previous - 1 : key);
        previous = key;
    }
    free(pairs);
    return true;
}

static void put_code(struct weft_block_encoder *encoder, struct weft_block_head *head,
                     const struct weft_block_rows *rows)
{
    const bool is_wide = head->n_functions > WEFT_FORMAT_WIDE_DICT;
    const size_t n_rows = head->n_rows;
    const size_t n_bytes = n_rows * (is_wide ? 3 : 2);
    encoder->raw.n = 0;
    if (!weft_bytes_reserve(&encoder->raw, n_bytes))
        return;
    const uint16_t *rank = encoder->rank;
    uint8_t *at = encoder->raw.items;
    for (size_t i = 0; i < n_rows; i++) {
        const uint16_t index = rank[rows->function[i]];
        *at++ = (uint8_t)index;
        if (is_wide)
            *at++ = (uint8_t)(index >> 8);
        *at++ = rows->pops[i];
    }
    put_column(encoder, head, WEFT_COLUMN_CODE, encoder->raw.items, n_bytes);
}

static void put_flags(struct weft_block_encoder *encoder, struct weft_block_head *head,
                      const struct weft_block_rows *rows)
{
    encoder->raw.n = 0;
    size_t next = 0;
    for (size_t i = 0; rows->has_flags && i < head->n_rows; i++) {
        if (!rows->flags[i])
            continue;
        weft_bytes_put_varint(&encoder->raw, i - next);
        weft_bytes_put_u8(&encoder->raw, rows->flags[i]);
        next = i + 1;
    }
    put_column(encoder, head, WEFT_COLUMN_FLAGS, encoder->raw.items, encoder->raw.n);
}

/* Omitted where they would be longer than they are worth. */
static void put_contexts(struct weft_block_encoder *encoder, struct weft_block_head *head,
                         const struct weft_block_rows *rows)
{
    const struct weft_bytes *contexts = &rows->contexts;
    const bool is_worth = contexts->n <= weft_contexts_limit(0, encoder->packed.n) &&
                          contexts->n <= (size_t)head->n_rows * WEFT_FORMAT_CONTEXT_BYTES;
    put_column(encoder, head, WEFT_COLUMN_CONTEXTS, contexts->items, is_worth ? contexts->n : 0);
}

static void put_head(struct weft_bytes *out, const struct weft_block_head *head)
{
    weft_bytes_put_varint(out, head->thread_id);
    weft_bytes_put_varint(out, head->block);
    weft_bytes_put_varint(out, head->first_row);
    weft_bytes_put_varint(out, head->n_rows);
    weft_bytes_put_varint(out, head->n_exits);
    weft_bytes_put_varint(out, head->first_event_ns);
    weft_bytes_put_varint(out, head->last_ns - head->first_event_ns);
    weft_bytes_put_varint(out, head->first_ns - head->first_event_ns);
    weft_bytes_put_varint(out, head->longest_call_ns);
    weft_bytes_put_varint(out, head->longest_gap_ns);
    weft_bytes_put_varint(out, head->n_carried);
    weft_bytes_put_varint(out, head->n_cut_before);
    weft_bytes_put_varint(out, (uint64_t)(head->max_level + WEFT_FORMAT_MAX_DEPTH));
    weft_bytes_put_varint(out, head->n_functions);
    weft_bytes_put_varint(out, head->n_ended);
    weft_bytes_put_varint(out, head->n_left);
    for (int i = 0; i < WEFT_BLOCK_COLUMNS; i++) {
        weft_bytes_put_u8(out, head->columns[i].codec);
        weft_bytes_put_varint(out, head->columns[i].raw_bytes);
        weft_bytes_put_varint(out, head->columns[i].stored_bytes);
    }
}

enum weft_code weft_block_encode(struct weft_block_encoder *encoder, struct weft_block_head *head,
                                 struct weft_block_rows *rows, struct weft_bytes *out,
                                 size_t *head_bytes, struct weft_err *err)
{
    encoder->packed.n = encoder->payload.n = 0;
    if (!dict_sort(encoder, rows->keys, head->n_functions))
        return weft_no_memory(err, "a block's dictionary");
    put_column(encoder, head, WEFT_COLUMN_DICT, encoder->raw.items, encoder->raw.n);
    put_code(encoder, head, rows);
    put_column(encoder, head, WEFT_COLUMN_POPS, rows->pops_ext.items, rows->pops_ext.n);
    put_column(encoder, head, WEFT_COLUMN_GAP, rows->gap, head->n_rows);
    put_column(encoder, head, WEFT_COLUMN_GAP_EXT, rows->gap_ext.items, rows->gap_ext.n);
    put_column(encoder, head, WEFT_COLUMN_TAIL, rows->tail, head->n_exits);
    put_column(encoder, head, WEFT_COLUMN_TAIL_EXT, rows->tail_ext.items, rows->tail_ext.n);
    put_flags(encoder, head, rows);
    put_column(encoder, head, WEFT_COLUMN_ARGS, rows->args.items, rows->args.n);
    put_contexts(encoder, head, rows);
    put_head(&encoder->payload, head);
    weft_bytes_put(&encoder->payload, rows->ended.items, rows->ended.n);
    weft_bytes_put(&encoder->payload, rows->left.items, rows->left.n);
    *head_bytes = encoder->payload.n;
    weft_bytes_put(&encoder->payload, encoder->packed.items, encoder->packed.n);
    weft_chunk_build(WEFT_CHUNK_CALLS, WEFT_CHUNK_REQUIRED, &encoder->payload, NULL, out);
    if (encoder->raw.has_failed || encoder->packed.has_failed || rows->pops_ext.has_failed ||
        rows->gap_ext.has_failed || rows->tail_ext.has_failed || rows->args.has_failed ||
        rows->ended.has_failed || rows->left.has_failed || rows->contexts.has_failed ||
        out->has_failed)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a block of %u calls",
                         head->n_rows);
    return WEFT_OK;
}
