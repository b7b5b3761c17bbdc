/* SPDX-License-Identifier: MIT
 *
 * The flush thread and the compaction thread.
 */
#include "kv.h"

#include <stdlib.h>
#include <string.h>

/* NULL when the store stops and nothing is left to flush. */
static const struct kv_table *wait_for_full_table(struct kv_store *store)
{
    wait_for_store_lock(store);
    while (!store->full && !store->is_stopping)
        pthread_cond_wait(&store->flush_wanted, &store->lock);
    const struct kv_table *full = store->full;
    pthread_mutex_unlock(&store->lock);
    return full;
}

static void install_flushed_run(struct kv_store *store, struct kv_run *run)
{
    wait_for_store_lock(store);
    while (store->n_runs == KV_MAX_RUNS)
        pthread_cond_wait(&store->table_is_free, &store->lock);
    store->runs[store->n_runs++] = run;
    store->n_flushes++;
    free(store->full);
    store->full = NULL;
    pthread_cond_broadcast(&store->table_is_free);
    if (store->n_runs >= KV_COMPACT_AT)
        pthread_cond_signal(&store->compaction_wanted);
    pthread_mutex_unlock(&store->lock);
}

void *flush_thread(void *argument)
{
    struct kv_store *store = argument;
    for (;;) {
        const struct kv_table *table = wait_for_full_table(store);
        struct kv_run *run = table ? run_from_table(table) : NULL;
        if (!run)
            return NULL;
        install_flushed_run(store, run);
    }
}

/* The runs that are there when enough of them are; 0 when the store stops. */
static size_t wait_for_runs(struct kv_store *store, struct kv_run **runs)
{
    wait_for_store_lock(store);
    while (store->n_runs < KV_COMPACT_AT && !store->is_stopping)
        pthread_cond_wait(&store->compaction_wanted, &store->lock);
    const size_t n_runs = store->is_stopping ? 0 : store->n_runs;
    memcpy(runs, store->runs, n_runs * sizeof(struct kv_run *));
    pthread_mutex_unlock(&store->lock);
    return n_runs;
}

/* Puts `merged` in the place of the n_runs oldest runs, which nobody reads without the lock. */
static bool install_merged_run(struct kv_store *store, struct kv_run *merged, size_t n_runs)
{
    if (store->verifies_unlocked && !verify_run(merged))
        return false;
    wait_for_store_lock(store);
    /* The fault: milliseconds of checksums, while every client waits for the lock. */
    const bool is_good = store->verifies_unlocked || verify_run(merged);
    if (is_good) {
        for (size_t i = 0; i < n_runs; i++)
            run_free(store->runs[i]);
        memmove(&store->runs[1], &store->runs[n_runs],
                (store->n_runs - n_runs) * sizeof(struct kv_run *));
        store->runs[0] = merged;
        store->n_runs -= n_runs - 1;
        store->n_compactions++;
        pthread_cond_broadcast(&store->table_is_free);
    }
    pthread_mutex_unlock(&store->lock);
    return is_good;
}

void *compaction_thread(void *argument)
{
    struct kv_store *store = argument;
    for (;;) {
        struct kv_run *runs[KV_MAX_RUNS];
        const size_t n_runs = wait_for_runs(store, runs);
        struct kv_run *merged = n_runs ? merge_runs(runs, n_runs) : NULL;
        if (!merged)
            return NULL;
        if (!install_merged_run(store, merged, n_runs)) {
            run_free(merged);
            return NULL;
        }
    }
}
