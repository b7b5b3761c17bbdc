/* SPDX-License-Identifier: MIT
 *
 * The running sums of a query, one for each node of a context tree that grows from query to query,
 * and a cache of block summaries by last use. A bit for each node that was touched makes clearing
 * cost what was used, not the whole tree. Summaries are added with a sign (modulo 2^64), so that a
 * whole minus its borders is exact.
 */
#include "model/interval/sums.h"

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

static void values_fini(struct weft_interval_values *values)
{
    WEFT_VEC_FINI(&values->sums);
    WEFT_VEC_FINI(&values->touched);
}

/* ---- kept summaries -------------------------------------------------------------------------- */

static struct weft_interval_summary **slot_of(struct weft_interval_sums *sums,
                                              const struct weft_interval_key *key)
{
    const uint64_t hash = (key->block * 16 + key->level) * UINT64_C(0x9e3779b97f4a7c15) +
                          key->thread_id * UINT64_C(769);
    return &sums->slots[(hash ^ hash >> 32) % SLOTS];
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
    return sizeof *summary + summary->n_kept * sizeof *summary->kept +
           summary->n_small * sizeof *summary->small;
}

static void summary_drop(struct weft_interval_sums *sums, struct weft_interval_summary *summary)
{
    struct weft_interval_summary **link = slot_of(sums, &summary->key);
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
    values_fini(&sums->at);
    values_fini(&sums->aside[0]);
    values_fini(&sums->aside[1]);
    WEFT_VEC_FINI(&sums->entries);
}

void weft_interval_sums_keep(struct weft_interval_sums *sums, size_t n_bytes)
{
    sums->most_bytes = n_bytes;
    while (sums->oldest && sums->n_bytes > n_bytes)
        summary_drop(sums, sums->oldest);
}

static struct weft_interval_summary *summary_find(struct weft_interval_sums *sums,
                                                  const struct weft_interval_key *key)
{
    struct weft_interval_summary *summary = *slot_of(sums, key);
    while (summary && (summary->key.thread_id != key->thread_id ||
                       summary->key.block != key->block || summary->key.level != key->level))
        summary = summary->next_in_slot;
    if (summary) {
        order_leave(sums, summary);
        order_enter(sums, summary);
    }
    return summary;
}

static bool is_small(const struct weft_context_entry *entry)
{
    return entry->node <= UINT16_MAX && entry->count <= UINT16_MAX && entry->self_ns <= UINT32_MAX;
}

/* Room for a summary of sums->entries, or NULL: it only saves time. */
static struct weft_interval_summary *summary_new(struct weft_interval_sums *sums)
{
    const struct weft_context_entries *entries = &sums->entries;
    struct weft_interval_summary summary = { 0 };
    for (size_t i = 0; i < entries->n; i++)
        summary.n_small += is_small(&entries->items[i]);
    summary.n_kept = entries->n - summary.n_small;
    const size_t n_bytes = summary_bytes(&summary);
    if (n_bytes > sums->most_bytes)
        return NULL;
    while (sums->n_bytes + n_bytes > sums->most_bytes)
        summary_drop(sums, sums->oldest);
    struct weft_interval_summary *made = malloc(n_bytes);
    if (!made)
        return NULL;
    *made = summary;
    made->kept = (struct weft_interval_kept *)(made + 1);
    made->small = (struct weft_interval_small *)(made->kept + made->n_kept);
    sums->n_bytes += n_bytes;
    return made;
}

/* Keeps sums->entries. */
static void summary_keep(struct weft_interval_sums *sums, const struct weft_interval_key *key)
{
    struct weft_interval_summary *summary = summary_new(sums);
    if (!summary)
        return;
    struct weft_interval_kept *kept = summary->kept;
    struct weft_interval_small *small = summary->small;
    for (size_t i = 0; i < sums->entries.n; i++) {
        const struct weft_context_entry *entry = &sums->entries.items[i];
        if (is_small(entry))
            *small++ =
                (struct weft_interval_small){ (uint32_t)entry->self_ns, (uint16_t)entry->count,
                                              (uint16_t)entry->node };
        else
            *kept++ = (struct weft_interval_kept){ entry->count, entry->self_ns, entry->node };
    }
    struct weft_interval_summary **slot = slot_of(sums, key);
    summary->key = *key;
    summary->next_in_slot = *slot;
    *slot = summary;
    order_enter(sums, summary);
}

static void summary_add(struct weft_interval_sums *sums,
                        const struct weft_interval_summary *summary, uint64_t sign)
{
    for (size_t i = 0; i < summary->n_kept; i++) {
        const struct weft_interval_kept *kept = &summary->kept[i];
        weft_interval_sums_add(sums, kept->node, sign * kept->count, sign * kept->self_ns);
    }
    for (size_t i = 0; i < summary->n_small; i++) {
        const struct weft_interval_small *small = &summary->small[i];
        weft_interval_sums_add(sums, small->node, sign * small->count, sign * small->self_ns);
    }
}

size_t weft_interval_sums_bytes(const struct weft_interval_sums *sums)
{
    return sizeof(struct weft_interval_summary) + sums->tree.n * sizeof(struct weft_interval_small);
}

/* ---- a query --------------------------------------------------------------------------------- */

bool weft_interval_sums_reserve(struct weft_interval_sums *sums, size_t n_more)
{
    const size_t n = sums->tree.n + n_more, n_words = n / 64 + 1;
    if (!weft_vec_reserve(&sums->at.sums.items, &sums->at.sums.cap, n,
                          sizeof *sums->at.sums.items) ||
        !weft_vec_reserve(&sums->at.touched.items, &sums->at.touched.cap, n_words,
                          sizeof *sums->at.touched.items))
        return false;
    if (n > sums->at.sums.n) {
        memset(sums->at.sums.items + sums->at.sums.n, 0,
               (n - sums->at.sums.n) * sizeof *sums->at.sums.items);
        sums->at.sums.n = n;
    }
    if (n_words > sums->at.touched.n) {
        memset(sums->at.touched.items + sums->at.touched.n, 0,
               (n_words - sums->at.touched.n) * sizeof *sums->at.touched.items);
        sums->at.touched.n = n_words;
    }
    return true;
}

static void sums_clear(struct weft_interval_sums *sums)
{
    for (size_t i = 0; i < sums->at.touched.n; i++) {
        for (uint64_t word = sums->at.touched.items[i]; word; word &= word - 1)
            sums->at.sums.items[i * 64 + (size_t)__builtin_ctzll(word)] =
                (struct weft_interval_sum){ 0 };
        sums->at.touched.items[i] = 0;
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
        sums->at.sums.items[sums->tree.nodes[i].parent].self_ns += sums->at.sums.items[i].self_ns;
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
        room[i] = sums->at.sums.items[i].self_ns;
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
        const struct weft_interval_sum *sum = &sums->at.sums.items[i];
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
    memset(sums->at.sums.items, 0, sums->at.sums.n * sizeof *sums->at.sums.items);
    weft_context_tree_fini(&sums->tree);
    sums->tree = tree;
    for (uint32_t i = 0; i < tree.n; i++)
        weft_interval_sums_add(sums, i, into[i].count, into[i].self_ns);
    free(into);
    return true;
}

/* ---- summaries ------------------------------------------------------------------------------- */

static void entries_add(struct weft_interval_sums *sums, uint64_t sign)
{
    for (size_t i = 0; i < sums->entries.n; i++) {
        const struct weft_context_entry *entry = &sums->entries.items[i];
        weft_interval_sums_add(sums, entry->node, sign * entry->count, sign * entry->self_ns);
    }
}

bool weft_interval_sums_kept(struct weft_interval_sums *sums, const struct weft_interval_key *key,
                             uint64_t sign)
{
    const struct weft_interval_summary *summary = summary_find(sums, key);
    if (summary)
        summary_add(sums, summary, sign);
    return summary != NULL;
}

enum weft_code weft_interval_sums_group(struct weft_interval_sums *sums,
                                        const struct weft_interval_key *key, uint64_t sign,
                                        bool *is_known, struct weft_err *err)
{
    *is_known = weft_interval_sums_kept(sums, key, sign);
    if (*is_known)
        return WEFT_OK;
    enum weft_code code =
        weft_store_contexts(sums->store, key->thread_id, key->block, key->level, sums->buf,
                            &sums->tree, &sums->entries, is_known, err);
    if (code || !*is_known)
        return code;
    if (!weft_interval_sums_reserve(sums, 0))
        return weft_no_memory(err, "an interval");
    entries_add(sums, sign);
    summary_keep(sums, key);
    return WEFT_OK;
}

/* ---- summaries that are made ----------------------------------------------------------------- */

static void values_swap(struct weft_interval_values *a, struct weft_interval_values *b)
{
    const struct weft_interval_values values = *a;
    *a = *b;
    *b = values;
}

void weft_interval_sums_aside(struct weft_interval_sums *sums)
{
    values_swap(&sums->at, &sums->aside[sums->n_aside++]);
}

/* The sums as entries. */
static bool entries_make(struct weft_interval_sums *sums)
{
    struct weft_context_entries *entries = &sums->entries;
    if (!weft_vec_reserve(&entries->items, &entries->cap, sums->tree.n, sizeof *entries->items))
        return false;
    entries->n = 0;
    for (size_t i = 0; i < sums->at.touched.n; i++)
        for (uint64_t word = sums->at.touched.items[i]; word; word &= word - 1) {
            const uint32_t node = (uint32_t)(i * 64 + (size_t)__builtin_ctzll(word));
            const struct weft_interval_sum *sum = &sums->at.sums.items[node];
            if (sum->count > 0 || sum->self_ns > 0)
                entries->items[entries->n++] =
                    (struct weft_context_entry){ sum->count, sum->self_ns, node };
        }
    return true;
}

bool weft_interval_sums_back(struct weft_interval_sums *sums, const struct weft_interval_key *key,
                             uint64_t sign, bool is_whole)
{
    const bool is_made = is_whole && entries_make(sums);
    sums_clear(sums);
    values_swap(&sums->at, &sums->aside[--sums->n_aside]);
    if (!is_made || !weft_interval_sums_reserve(sums, 0))
        return false;
    entries_add(sums, sign);
    summary_keep(sums, key);
    return true;
}
