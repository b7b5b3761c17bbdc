/* SPDX-License-Identifier: MIT
 *
 * The table in memory, the log, and the two operations of a client.
 */
#include "kv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool kv_open(struct kv_store *store, const char *log_path, bool verifies_unlocked)
{
    *store = (struct kv_store){ .verifies_unlocked = verifies_unlocked };
    pthread_mutex_init(&store->lock, NULL);
    pthread_mutex_init(&store->log.lock, NULL);
    pthread_cond_init(&store->flush_wanted, NULL);
    pthread_cond_init(&store->compaction_wanted, NULL);
    pthread_cond_init(&store->table_is_free, NULL);
    store->active = calloc(1, sizeof *store->active);
    store->log.fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return store->active && store->log.fd >= 0;
}

void kv_close(struct kv_store *store)
{
    for (size_t i = 0; i < store->n_runs; i++)
        run_free(store->runs[i]);
    free(store->active);
    free(store->full);
    close(store->log.fd);
}

/* Of its own, so that the trace tells waiting from working. */
void wait_for_store_lock(struct kv_store *store)
{
    pthread_mutex_lock(&store->lock);
}

static void log_write(struct kv_log *log)
{
    const ssize_t n_written = write(log->fd, log->bytes, log->n_bytes);
    log->n_written += n_written > 0 ? (uint64_t)n_written : 0;
    log->n_bytes = 0;
}

static void log_append(struct kv_log *log, const struct kv_entry *entry)
{
    const uint64_t sum = checksum(entry, sizeof *entry);
    pthread_mutex_lock(&log->lock);
    if (log->n_bytes + sizeof *entry + sizeof sum > sizeof log->bytes)
        log_write(log);
    memcpy(log->bytes + log->n_bytes, entry, sizeof *entry);
    memcpy(log->bytes + log->n_bytes + sizeof *entry, &sum, sizeof sum);
    log->n_bytes += sizeof *entry + sizeof sum;
    pthread_mutex_unlock(&log->lock);
}

/* The slot that holds `key`, or the free one where it belongs. The table is never full. */
static size_t table_find_slot(const struct kv_table *table, uint64_t key)
{
    size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) % KV_TABLE_SLOTS;
    while (table->slots[slot].key && table->slots[slot].key != key)
        slot = (slot + 1) % KV_TABLE_SLOTS;
    return slot;
}

static void table_insert(struct kv_table *table, const struct kv_entry *entry)
{
    struct kv_entry *slot = &table->slots[table_find_slot(table, entry->key)];
    table->n_entries += slot->key == 0;
    *slot = *entry;
}

static const struct kv_entry *table_lookup(const struct kv_table *table, uint64_t key)
{
    const struct kv_entry *slot = &table->slots[table_find_slot(table, key)];
    return slot->key ? slot : NULL;
}

/* Called with the lock held; gives it up while the flush thread is busy with the last table. */
static bool rotate_table(struct kv_store *store)
{
    while (store->full)
        pthread_cond_wait(&store->table_is_free, &store->lock);
    if (store->active->n_entries < KV_TABLE_SLOTS / 2)
        return true; /* another client was first */
    struct kv_table *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return false;
    store->full = store->active;
    store->active = fresh;
    pthread_cond_signal(&store->flush_wanted);
    return true;
}

bool kv_put(struct kv_store *store, uint64_t key, const char *value)
{
    struct kv_entry entry = { .key = key };
    memcpy(entry.value, value, strnlen(value, KV_VALUE_BYTES - 1));
    log_append(&store->log, &entry);
    wait_for_store_lock(store);
    const bool has_room = store->active->n_entries < KV_TABLE_SLOTS / 2 || rotate_table(store);
    if (has_room)
        table_insert(store->active, &entry);
    pthread_mutex_unlock(&store->lock);
    return has_room;
}

static const struct kv_entry *find_newest(const struct kv_store *store, uint64_t key)
{
    const struct kv_entry *entry = table_lookup(store->active, key);
    if (!entry && store->full)
        entry = table_lookup(store->full, key);
    for (size_t i = store->n_runs; !entry && i-- > 0;)
        entry = run_lookup(store->runs[i], key);
    return entry;
}

bool kv_get(struct kv_store *store, uint64_t key, char *value)
{
    wait_for_store_lock(store);
    const struct kv_entry *entry = find_newest(store, key);
    if (entry)
        memcpy(value, entry->value, KV_VALUE_BYTES);
    pthread_mutex_unlock(&store->lock);
    return entry != NULL;
}
