/* SPDX-License-Identifier: MIT
 *
 * Contexts of blocks and of groups of blocks.
 */
#include "base/vec.h"
#include "store/contexts.h"
#include "store/reader.h"
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>

static bool entry_add(struct store_groups *groups, uint64_t off, uint64_t n_bytes)
{
    struct store_group *group = WEFT_VEC_PUSH(groups);
    if (group)
        *group = (struct store_group){ .off = off, .n_bytes = (uint32_t)n_bytes };
    return group != NULL;
}

enum weft_code weft_store_parse_groups(struct weft_store *store, const struct weft_chunk *chunk,
                                       struct weft_err *err)
{
    if (chunk->codec != WEFT_CODEC_RAW || weft_chunk_verify(store->file.bytes, chunk, NULL))
        return WEFT_OK;
    struct weft_cursor in = weft_cur_init(chunk->stored, chunk->stored_bytes,
                                          chunk->off + sizeof(struct weft_disk_chunk));
    while (weft_cur_left(&in) > 0) {
        const uint64_t thread_id = weft_cur_varint(&in);
        const uint64_t n_bytes = weft_cur_varint(&in);
        if (in.fault || thread_id >= store->threads.n || n_bytes > weft_cur_left(&in))
            break;
        struct weft_cursor entries = weft_cur_sub(&in, (size_t)n_bytes);
        struct store_thread *thread = &store->threads.items[thread_id];
        struct store_groups *groups =
            chunk->id == WEFT_CHUNK_LEVELS ? &thread->levels : &thread->groups;
        while (weft_cur_left(&entries) > 0) {
            const uint64_t n_group = weft_cur_varint(&entries);
            const uint64_t off = weft_cur_offset(&entries);
            if (n_group > UINT32_MAX || !weft_cur_take(&entries, (size_t)n_group))
                break;
            if (!entry_add(groups, off, n_group))
                return weft_fail(err, WEFT_E_NOMEM, chunk->off, "the index of intervals");
        }
    }
    return WEFT_OK;
}

/* ---- one tree -------------------------------------------------------------------------------- */

static uint32_t function_of(const void *store, uint32_t key)
{
    return weft_store_function_of_key(store, key);
}

/* The context around all calls of the blocks up to `end`: that of the cut frames which end later.
 */
static uint32_t anchor_find(const struct store_thread *thread, uint64_t end,
                            struct weft_context_tree *tree)
{
    const uint64_t n_ended =
        end < thread->blocks.n ? thread->blocks.items[end].n_cut_before : thread->info.cut_calls;
    uint32_t at = tree->root;
    for (uint64_t i = 0; i + n_ended < thread->info.cut_calls && at != WEFT_ID_NONE; i++)
        at = weft_context_child(tree, at, thread->crossing.items[i].function_id);
    return at;
}

/* What the blocks' own numbers say that a tree of theirs must add up to. */
static struct weft_contexts_sum expected_sum(const struct store_thread *thread, uint64_t block,
                                             uint64_t end)
{
    const struct weft_block_info *first = &thread->blocks.items[block].info;
    const struct weft_block_info *last = &thread->blocks.items[end - 1].info;
    const uint64_t from_ns =
        block > 0 ? thread->blocks.items[block - 1].info.last_ns : first->first_event_ns;
    return (struct weft_contexts_sum){
        .count = last->first_row + last->n_rows - first->first_row,
        .self_ns = last->last_ns - from_ns,
    };
}

/* What weft_store_contexts adds to. */
struct adding {
    struct weft_context_tree *tree;
    struct weft_context_entries *entries;
};

static enum weft_code tree_add(struct weft_store *store, const struct store_thread *thread,
                               uint64_t block, uint64_t end, struct weft_cursor *in,
                               const struct adding *adding, struct weft_err *err)
{
    struct weft_contexts_stack stack = { 0 };
    struct weft_contexts_sum sum = { 0 };
    const uint64_t at_off = weft_cur_offset(in);
    const uint32_t at = anchor_find(thread, end, adding->tree);
    enum weft_code code = at == WEFT_ID_NONE
                              ? weft_fail(err, WEFT_E_NOMEM, at_off, "a tree of contexts")
                              : weft_contexts_read(in, function_of, store, adding->tree, at, &stack,
                                                   adding->entries, &sum, err);
    WEFT_VEC_FINI(&stack);
    const struct weft_contexts_sum want = expected_sum(thread, block, end);
    if (code == WEFT_OK &&
        (sum.count != want.count || sum.self_ns != want.self_ns || weft_cur_left(in) > 0))
        code = weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected contexts of %" PRIu64 " calls and %" PRIu64 " ns, found %" PRIu64
                         " calls and %" PRIu64 " ns",
                         want.count, want.self_ns, sum.count, sum.self_ns);
    return code;
}

/* The group that begins at `block`, or NULL. */
static const struct store_group *group_find(const struct store_thread *thread, uint64_t block,
                                            unsigned level)
{
    const uint64_t width = UINT64_C(1) << (4 * level);
    if (level > WEFT_CONTEXT_LEVELS || thread->groups.n == 0 || block % width != 0 ||
        thread->blocks.n - block < width)
        return NULL;
    return &thread->groups.items[weft_contexts_n_groups(block + width, level) - 1];
}

bool weft_store_has_contexts(const struct weft_store *store, uint32_t thread_id, uint64_t block,
                             unsigned level)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].blocks.n);
    const struct store_group *group =
        level ? group_find(&store->threads.items[thread_id], block, level) : NULL;
    return group && group->n_bytes > 0;
}

enum weft_code weft_store_contexts(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                   unsigned level, struct weft_block_buf *buf,
                                   struct weft_context_tree *tree,
                                   struct weft_context_entries *entries, bool *is_known,
                                   struct weft_err *err)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].blocks.n);
    const struct store_thread *thread = &store->threads.items[thread_id];
    const struct adding adding = { tree, entries };
    struct weft_cursor in = { 0 };
    uint64_t end = block + 1;
    enum weft_code code = WEFT_OK;
    *is_known = false;
    entries->n = 0;
    if (level == 0) {
        code = weft_store_block_contexts(store, thread_id, block, buf, &in, err);
    } else {
        const struct store_group *group = group_find(thread, block, level);
        if (group)
            in = weft_cur_init(store->file.bytes + group->off, group->n_bytes, group->off);
        end = block + (UINT64_C(1) << (4 * level));
    }
    if (code != WEFT_OK || weft_cur_left(&in) == 0)
        return code;
    code = tree_add(store, thread, block, end, &in, &adding, err);
    *is_known = code == WEFT_OK;
    if (code != WEFT_OK) {
        entries->n = 0;
        (void)weft_in_file(err, store->path);
        (void)weft_within(err, "contexts of thread %" PRIu32, thread_id);
    }
    return code;
}
