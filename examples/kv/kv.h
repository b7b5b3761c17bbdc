/* SPDX-License-Identifier: MIT
 *
 * A small key-value store, made to be traced: clients write into a table in memory, a flush thread
 * turns full tables into sorted runs, and a compaction thread merges the runs.
 *
 *     kv_put --> log (checksummed) --> table --(full)--> flush --> run, run, run --> compaction
 *
 * One lock guards the table and the list of runs. Every step is short while it holds the lock, but
 * for one: before it installs a merged run, the compaction verifies it under the lock. That is the
 * fault which the trace shows: now and then kv_put and kv_get take a thousand times as long as
 * usual. With `--fixed` the run is verified before the lock is taken.
 */
#ifndef KV_H
#define KV_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A helper so small and so often called that a record of each call would be most of the trace. */
#define KV_UNTRACED __attribute__((xray_never_instrument))

enum {
    KV_VALUE_BYTES = 120,
    KV_TABLE_SLOTS = 4096, /* a power of two; the table is full when half of them are taken */
    KV_MAX_RUNS = 16,
    KV_COMPACT_AT = 5, /* runs that start a compaction */
    KV_BLOCK_ENTRIES = 256,
};

struct kv_entry {
    uint64_t key; /* 0: free slot */
    char value[KV_VALUE_BYTES];
};

struct kv_table {
    struct kv_entry slots[KV_TABLE_SLOTS];
    size_t n_entries;
};

/* Sorted by key, immutable once installed. */
struct kv_run {
    struct kv_entry *entries;
    size_t n_entries;
    uint64_t *block_sums; /* one checksum per KV_BLOCK_ENTRIES */
    uint64_t *filter;     /* n_filter_bits bits, two per key */
    size_t n_filter_bits;
};

struct kv_log {
    pthread_mutex_t lock;
    char bytes[64 * 1024];
    size_t n_bytes;
    uint64_t n_written;
    int fd;
};

struct kv_store {
    pthread_mutex_t lock; /* guards all below but the log */
    pthread_cond_t flush_wanted;
    pthread_cond_t compaction_wanted;
    pthread_cond_t table_is_free;
    struct kv_table *active;
    struct kv_table *full;            /* waits for the flush thread; NULL if none */
    struct kv_run *runs[KV_MAX_RUNS]; /* oldest first */
    size_t n_runs;
    size_t n_flushes;
    size_t n_compactions;
    bool is_stopping;
    bool verifies_unlocked; /* --fixed */
    struct kv_log log;
};

/* store.c: what clients call. */
bool kv_open(struct kv_store *store, const char *log_path, bool verifies_unlocked);
void kv_close(struct kv_store *store);
bool kv_put(struct kv_store *store, uint64_t key, const char *value);
bool kv_get(struct kv_store *store, uint64_t key, char *value);
void wait_for_store_lock(struct kv_store *store);

/* run.c: sorted runs. */
struct kv_run *run_from_table(const struct kv_table *table);
struct kv_run *merge_runs(struct kv_run *const *runs, size_t n_runs);
bool verify_run(const struct kv_run *run);
const struct kv_entry *run_lookup(const struct kv_run *run, uint64_t key);
void run_free(struct kv_run *run);
uint64_t checksum(const void *bytes, size_t n_bytes);

/* background.c: the two threads, with the store as their argument. */
void *flush_thread(void *store);
void *compaction_thread(void *store);

#endif
