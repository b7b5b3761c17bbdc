/* SPDX-License-Identifier: MIT
 *
 * Sorted runs: made from a table, merged, verified, searched.
 */
#include "kv.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a over bytes: slow on purpose, as checksums in software are. */
KV_UNTRACED uint64_t checksum(const void *bytes, size_t n_bytes)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n_bytes; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return sum;
}

KV_UNTRACED static size_t n_blocks(const struct kv_run *run)
{
    return (run->n_entries + KV_BLOCK_ENTRIES - 1) / KV_BLOCK_ENTRIES;
}

static uint64_t block_sum(const struct kv_run *run, size_t block)
{
    const size_t first = block * KV_BLOCK_ENTRIES;
    const size_t left = run->n_entries - first;
    return checksum(&run->entries[first],
                    (left < KV_BLOCK_ENTRIES ? left : KV_BLOCK_ENTRIES) * sizeof *run->entries);
}

/* Entry [i] of a run of n, by quicksort: the recursion is what one sees in the trace. */
static void sort_entries(struct kv_entry *entries, size_t n)
{
    while (n > 16) {
        const uint64_t pivot = entries[n / 2].key;
        size_t low = 0;
        size_t high = n - 1;
        for (;; low++, high--) {
            while (entries[low].key < pivot)
                low++;
            while (entries[high].key > pivot)
                high--;
            if (low >= high)
                break;
            const struct kv_entry swapped = entries[low];
            entries[low] = entries[high];
            entries[high] = swapped;
        }
        sort_entries(entries, high + 1);
        entries += high + 1;
        n -= high + 1;
    }
    for (size_t i = 1; i < n; i++) {
        const struct kv_entry moved = entries[i];
        size_t at = i;
        for (; at > 0 && entries[at - 1].key > moved.key; at--)
            entries[at] = entries[at - 1];
        entries[at] = moved;
    }
}

KV_UNTRACED static size_t filter_bit(const struct kv_run *run, uint64_t key, unsigned which)
{
    const uint64_t hash = key * (which ? 0xc2b2ae3d27d4eb4fu : 0x9e3779b97f4a7c15u);
    return (size_t)(hash >> 20) % run->n_filter_bits;
}

static bool build_filter(struct kv_run *run)
{
    run->n_filter_bits = run->n_entries * 10 + 64;
    run->filter = calloc(run->n_filter_bits / 64 + 1, sizeof *run->filter);
    for (size_t i = 0; run->filter && i < run->n_entries; i++) {
        for (unsigned which = 0; which < 2; which++) {
            const size_t bit = filter_bit(run, run->entries[i].key, which);
            run->filter[bit / 64] |= 1ull << bit % 64;
        }
    }
    return run->filter != NULL;
}

static bool checksum_blocks(struct kv_run *run)
{
    run->block_sums = calloc(n_blocks(run) + 1, sizeof *run->block_sums);
    for (size_t block = 0; run->block_sums && block < n_blocks(run); block++)
        run->block_sums[block] = block_sum(run, block);
    return run->block_sums != NULL;
}

/* Takes over the sorted entries. */
static struct kv_run *run_new(struct kv_entry *entries, size_t n_entries)
{
    struct kv_run *run = calloc(1, sizeof *run);
    if (!run || !entries) {
        free(entries);
        free(run);
        return NULL;
    }
    *run = (struct kv_run){ .entries = entries, .n_entries = n_entries };
    if (!checksum_blocks(run) || !build_filter(run)) {
        run_free(run);
        return NULL;
    }
    return run;
}

void run_free(struct kv_run *run)
{
    if (!run)
        return;
    free(run->entries);
    free(run->block_sums);
    free(run->filter);
    free(run);
}

struct kv_run *run_from_table(const struct kv_table *table)
{
    struct kv_entry *entries = calloc(table->n_entries + 1, sizeof *entries);
    size_t n_entries = 0;
    for (size_t slot = 0; entries && slot < KV_TABLE_SLOTS; slot++)
        if (table->slots[slot].key)
            entries[n_entries++] = table->slots[slot];
    if (entries)
        sort_entries(entries, n_entries);
    return run_new(entries, n_entries);
}

/* `newer` wins where both hold a key. */
static struct kv_run *merge_two(const struct kv_run *older, const struct kv_run *newer)
{
    struct kv_entry *entries = calloc(older->n_entries + newer->n_entries + 1, sizeof *entries);
    size_t n_entries = 0;
    size_t o = 0;
    size_t n = 0;
    while (entries && (o < older->n_entries || n < newer->n_entries)) {
        const bool takes_newer =
            o == older->n_entries ||
            (n < newer->n_entries && newer->entries[n].key <= older->entries[o].key);
        if (takes_newer && o < older->n_entries && newer->entries[n].key == older->entries[o].key)
            o++;
        entries[n_entries++] = takes_newer ? newer->entries[n++] : older->entries[o++];
    }
    return run_new(entries, n_entries);
}

/* Merges runs, oldest first, into a new one; the runs stay. NULL without memory. */
struct kv_run *merge_runs(struct kv_run *const *runs, size_t n_runs)
{
    struct kv_run *merged = NULL;
    for (size_t i = 1; i < n_runs; i++) {
        struct kv_run *next = merge_two(merged ? merged : runs[0], runs[i]);
        run_free(merged);
        merged = next;
        if (!merged)
            return NULL;
    }
    return merged;
}

static bool verify_block(const struct kv_run *run, size_t block)
{
    return block_sum(run, block) == run->block_sums[block];
}

bool verify_run(const struct kv_run *run)
{
    bool is_good = true;
    for (size_t i = 1; i < run->n_entries; i++)
        is_good = is_good && run->entries[i - 1].key < run->entries[i].key;
    for (size_t block = 0; block < n_blocks(run); block++)
        is_good = verify_block(run, block) && is_good;
    return is_good;
}

KV_UNTRACED static bool filter_may_hold(const struct kv_run *run, uint64_t key)
{
    for (unsigned which = 0; which < 2; which++) {
        const size_t bit = filter_bit(run, key, which);
        if (!(run->filter[bit / 64] >> bit % 64 & 1))
            return false;
    }
    return true;
}

static const struct kv_entry *run_search(const struct kv_run *run, uint64_t key)
{
    size_t low = 0;
    size_t high = run->n_entries;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (run->entries[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->n_entries && run->entries[low].key == key ? &run->entries[low] : NULL;
}

const struct kv_entry *run_lookup(const struct kv_run *run, uint64_t key)
{
    return filter_may_hold(run, key) ? run_search(run, key) : NULL;
}
