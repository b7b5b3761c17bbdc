/* SPDX-License-Identifier: MIT */
#include "model/interval_sums.h"

#include "base/vec.h"

#include <stdlib.h>

/* More contexts are not carried from query to query. */
enum { SLOTS = 1 << 13, MOST_CONTEXTS = 1 << 19 };

bool weft_interval_sums_init(struct weft_interval_sums *sums, struct weft_store *store)
{
    sums->store = store;
    sums->buf = weft_block_buf_new();
    sums->slots = calloc(SLOTS, sizeof(struct weft_interval_summary *));
    return sums->buf && sums->slots && weft_context_tree_reset(&sums->tree);
}

/* ---- kept summaries -------------------------------------------------------------------------- */

static struct weft_interval_summary **slot_of(struct weft_interval_sums *sums, uint32_t thread_id,
                                              uint64_t block, unsigned level)
{
    const uint64_t key = (block * 16 + level) * UINT64_C(0x9e3779b97f4a7c15) + thread_id * 769;
    return &sums->slots[(key ^ key >> 32) % SLOTS];
}

static void order_leave(struct weft_interval_sums *sums, struct weft_interval_summary *summary)
{
    *(summary->newer ? &summary->newer->older : &sums->newest) = summary->older;
    *(summary->older ? &summary->older->newer : &sums->oldest) = summary->newer;
}

static void order_enter(struct weft_interval_sums *sums, struct weft_interval_summary *summary)
{
    summary->newer = NULL;
    summary->older = sums->newest;
    *(sums->newest ? &sums->newest->newer : &sums->oldest) = summary;
    sums->newest = summary;
}

static size_t summary_bytes(const struct weft_interval_summary *summary)
{
    return sizeof *summary + summary->n * sizeof *summary->items;
}

static void summary_drop(struct weft_interval_sums *sums, struct weft_interval_summary *summary)
{
    struct weft_interval_summary **link =
        slot_of(sums, summary->thread_id, summary->block, summary->level);
    while (*link != summary)
        link = &(*link)->next_in_slot;
    *link = summary->next_in_slot;
    order_leave(sums, summary);
    sums->n_bytes -= summary_bytes(summary);
    free(summary);
}

void weft_interval_sums_fini(struct weft_interval_sums *sums)
{
    while (sums->oldest)
        summary_drop(sums, sums->oldest);
    free(sums->slots);
    weft_block_buf_free(sums->buf);
    weft_context_tree_fini(&sums->tree);
    WEFT_VEC_FINI(&sums->sums);
    WEFT_VEC_FINI(&sums->touched);
    WEFT_VEC_FINI(&sums->entries);
}

void weft_interval_sums_keep(struct weft_interval_sums *sums, size_t n_bytes)
{
    sums->most_bytes = n_bytes;
    while (sums->oldest && sums->n_bytes > n_bytes)
        summary_drop(sums, sums->oldest);
}

static struct weft_interval_summary *
summary_find(struct weft_interval_sums *sums, uint32_t thread_id, uint64_t block, unsigned level)
{
    struct weft_interval_summary *summary = *slot_of(sums, thread_id, block, level);
    while (summary &&
           (summary->thread_id != thread_id || summary->block != block || summary->level != level))
        summary = summary->next_in_slot;
    if (summary) {
        order_leave(sums, summary);
        order_enter(sums, summary);
    }
    return summary;
}

/* Keeps sums->entries, if there is room: it only saves time. */
static void summary_keep(struct weft_interval_sums *sums, uint32_t thread_id, uint64_t block,
                         unsigned level)
{
    const struct weft_context_entries *entries = &sums->entries;
    const size_t n_bytes =
        sizeof(struct weft_interval_summary) + entries->n * sizeof(struct weft_interval_kept);
    if (n_bytes > sums->most_bytes)
        return;
    for (size_t i = 0; i < entries->n; i++)
        if (entries->items[i].count > UINT32_MAX)
            return;
    while (sums->n_bytes + n_bytes > sums->most_bytes)
        summary_drop(sums, sums->oldest);
    struct weft_interval_summary *summary = malloc(n_bytes);
    if (!summary)
        return;
    struct weft_interval_summary **slot = slot_of(sums, thread_id, block, level);
    *summary = (struct weft_interval_summary){ .thread_id = thread_id,
                                               .level = level,
                                               .block = block,
                                               .items = (struct weft_interval_kept *)(summary + 1),
                                               .n = entries->n,
                                               .next_in_slot = *slot };
    for (size_t i = 0; i < entries->n; i++)
        summary->items[i] = (struct weft_interval_kept){ entries->items[i].self_ns,
                                                         (uint32_t)entries->items[i].count,
                                                         entries->items[i].node };
    *slot = summary;
    order_enter(sums, summary);
    sums->n_bytes += n_bytes;
}

/* ---- a query --------------------------------------------------------------------------------- */

bool weft_interval_sums_reserve(struct weft_interval_sums *sums, size_t n_more)
{
    const size_t n = sums->tree.n + n_more, n_words = n / 64 + 1;
    if (!weft_vec_reserve(&sums->sums.items, &sums->sums.cap, n, sizeof *sums->sums.items) ||
        !weft_vec_reserve(&sums->touched.items, &sums->touched.cap, n_words,
                          sizeof *sums->touched.items))
        return false;
    if (n > sums->sums.n) {
        memset(sums->sums.items + sums->sums.n, 0, (n - sums->sums.n) * sizeof *sums->sums.items);
        sums->sums.n = n;
    }
    if (n_words > sums->touched.n) {
        memset(sums->touched.items + sums->touched.n, 0,
               (n_words - sums->touched.n) * sizeof *sums->touched.items);
        sums->touched.n = n_words;
    }
    return true;
}

static void sums_clear(struct weft_interval_sums *sums)
{
    for (size_t i = 0; i < sums->touched.n; i++) {
        for (uint64_t word = sums->touched.items[i]; word; word &= word - 1)
            sums->sums.items[i * 64 + (size_t)__builtin_ctzll(word)] =
                (struct weft_interval_sum){ 0 };
        sums->touched.items[i] = 0;
    }
}

bool weft_interval_sums_reset(struct weft_interval_sums *sums)
{
    sums_clear(sums);
    while (sums->oldest)
        summary_drop(sums, sums->oldest);
    return weft_context_tree_reset(&sums->tree) && weft_interval_sums_reserve(sums, 0);
}

bool weft_interval_sums_start(struct weft_interval_sums *sums)
{
    if (sums->most_bytes == 0 || sums->tree.n > MOST_CONTEXTS || sums->tree.is_frozen)
        return weft_interval_sums_reset(sums);
    sums_clear(sums);
    return weft_interval_sums_reserve(sums, 0);
}

bool weft_interval_sums_freeze(struct weft_interval_sums *sums)
{
    sums_clear(sums);
    return weft_context_tree_freeze(&sums->tree) && weft_interval_sums_reserve(sums, 0);
}

/* ---- fewer contexts -------------------------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Self times become inclusive ones. */
static void sums_include(struct weft_interval_sums *sums)
{
    for (size_t i = sums->tree.n; i-- > 1;)
        sums->sums.items[sums->tree.nodes[i].parent].self_ns += sums->sums.items[i].self_ns;
}

/* Of equal ones at the threshold, so many stay. */
struct threshold {
    uint64_t least_ns;
    size_t n_equal;
};

/* The root is one of them. */
static struct threshold threshold_find(const struct weft_interval_sums *sums, uint64_t *room,
                                       size_t n_keep)
{
    const size_t n = sums->tree.n;
    for (size_t i = 0; i < n; i++)
        room[i] = sums->sums.items[i].self_ns;
    qsort(room, n, sizeof *room, descending);
    struct threshold threshold = { .least_ns = room[n_keep - 1] };
    for (size_t i = 0; i < n_keep; i++)
        threshold.n_equal += room[i] == threshold.least_ns;
    return threshold;
}

/* The new tree with its sums; `into` has room. */
static bool tree_copy(struct weft_interval_sums *sums, struct threshold threshold,
                      struct weft_context_tree *tree, struct weft_interval_sum *into)
{
    const struct weft_context_tree *from = &sums->tree;
    uint32_t *image = malloc(from->n * sizeof *image);
    bool is_ok = image && weft_context_tree_reset(tree);
    for (size_t i = 0; is_ok && i < from->n; i++) {
        const struct weft_interval_sum *sum = &sums->sums.items[i];
        const bool is_equal = sum->self_ns == threshold.least_ns;
        const bool is_kept =
            sum->self_ns > threshold.least_ns || (is_equal && threshold.n_equal > 0);
        threshold.n_equal -= is_equal && is_kept;
        image[i] = i == 0 ? tree->root : WEFT_ID_NONE;
        if (is_kept && i > 0) {
            const uint32_t parent = image[from->nodes[i].parent];
            image[i] = weft_context_child(tree, parent, from->nodes[i].function);
            is_ok = image[i] != WEFT_ID_NONE;
            into[parent].self_ns -= sum->self_ns;
        }
        if (is_ok && image[i] != WEFT_ID_NONE) {
            into[image[i]].count += sum->count;
            into[image[i]].self_ns += sum->self_ns;
        }
    }
    free(image);
    return is_ok;
}

bool weft_interval_sums_prune(struct weft_interval_sums *sums, size_t n_keep)
{
    if (sums->tree.n <= n_keep)
        return true;
    sums_include(sums);
    struct weft_context_tree tree = { 0 };
    struct weft_interval_sum *into = calloc(n_keep + 1, sizeof *into);
    uint64_t *room = malloc(sums->tree.n * sizeof *room);
    const bool is_ok =
        into && room && tree_copy(sums, threshold_find(sums, room, n_keep), &tree, into);
    free(room);
    if (!is_ok) {
        weft_context_tree_fini(&tree);
        free(into);
        return false;
    }
    sums_clear(sums);
    memset(sums->sums.items, 0, sums->sums.n * sizeof *sums->sums.items);
    weft_context_tree_fini(&sums->tree);
    sums->tree = tree;
    for (uint32_t i = 0; i < tree.n; i++)
        weft_interval_sums_add(sums, i, into[i].count, into[i].self_ns);
    free(into);
    return true;
}

/* ---- summaries ------------------------------------------------------------------------------- */

enum weft_code weft_interval_sums_group(struct weft_interval_sums *sums, uint32_t thread_id,
                                        uint64_t block, unsigned level, uint64_t sign,
                                        bool *is_known, struct weft_err *err)
{
    const struct weft_interval_summary *summary = summary_find(sums, thread_id, block, level);
    if (summary) {
        for (size_t i = 0; i < summary->n; i++) {
            const struct weft_interval_kept *kept = &summary->items[i];
            weft_interval_sums_add(sums, kept->node, sign * kept->count, sign * kept->self_ns);
        }
        *is_known = true;
        return WEFT_OK;
    }
    const struct weft_context_entries *entries = &sums->entries;
    enum weft_code code = weft_store_contexts(sums->store, thread_id, block, level, sums->buf,
                                              &sums->tree, &sums->entries, is_known, err);
    if (code || !*is_known)
        return code;
    if (!weft_interval_sums_reserve(sums, 0))
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for an interval");
    for (size_t i = 0; i < entries->n; i++)
        weft_interval_sums_add(sums, entries->items[i].node, sign * entries->items[i].count,
                               sign * entries->items[i].self_ns);
    summary_keep(sums, thread_id, block, level);
    return WEFT_OK;
}
