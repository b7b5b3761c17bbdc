/* SPDX-License-Identifier: MIT
 *
 * kv [--fixed] [--ops N] LOG: four clients read and write; prints what was done, and how long the
 * slowest operation took.
 */
#include "kv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N_CLIENTS = 4, N_KEYS = 100000, N_OPS_BETWEEN_THOUGHTS = 16, THINK_US = 100 };

struct client {
    pthread_t thread;
    struct kv_store *store;
    uint64_t seed;
    unsigned n_ops;
    unsigned n_found;
    unsigned n_failed;
    uint64_t slowest_ns;
};

KV_UNTRACED static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

KV_UNTRACED static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void client_write(struct client *client, uint64_t key)
{
    char value[KV_VALUE_BYTES];
    (void)snprintf(value, sizeof value, "value %llu", (unsigned long long)key);
    client->n_failed += !kv_put(client->store, key, value);
}

static void client_read(struct client *client, uint64_t key)
{
    char value[KV_VALUE_BYTES];
    client->n_found += kv_get(client->store, key, value);
}

/* Half reads, half writes; a quarter of the operations go to a few hot keys. */
static void client_operation(struct client *client)
{
    const uint64_t random = next_random(&client->seed);
    const uint64_t key = 1 + (random >> 8) % (random % 4 ? N_KEYS : N_KEYS / 100);
    if (random >> 4 & 1)
        client_write(client, key);
    else
        client_read(client, key);
}

/* A client does more than wait for its store. */
static void client_think(void)
{
    usleep(THINK_US);
}

static void *client_thread(void *argument)
{
    struct client *client = argument;
    for (unsigned i = 0; i < client->n_ops; i++) {
        const uint64_t start_ns = now_ns();
        client_operation(client);
        const uint64_t taken_ns = now_ns() - start_ns;
        if (taken_ns > client->slowest_ns)
            client->slowest_ns = taken_ns;
        if (i % N_OPS_BETWEEN_THOUGHTS == 0)
            client_think();
    }
    return NULL;
}

static void stop_background(struct kv_store *store, pthread_t flusher, pthread_t compactor)
{
    wait_for_store_lock(store);
    store->is_stopping = true;
    pthread_cond_broadcast(&store->flush_wanted);
    pthread_cond_broadcast(&store->compaction_wanted);
    pthread_mutex_unlock(&store->lock);
    pthread_join(flusher, NULL);
    pthread_join(compactor, NULL);
}

static unsigned run_clients(struct kv_store *store, unsigned n_ops)
{
    struct client clients[N_CLIENTS];
    uint64_t slowest_ns = 0;
    unsigned n_failed = 0;
    unsigned n_found = 0;
    for (unsigned i = 0; i < N_CLIENTS; i++) {
        clients[i] =
            (struct client){ .store = store, .seed = 88172645463325252u + i, .n_ops = n_ops };
        if (pthread_create(&clients[i].thread, NULL, client_thread, &clients[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < N_CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        slowest_ns = clients[i].slowest_ns > slowest_ns ? clients[i].slowest_ns : slowest_ns;
        n_failed += clients[i].n_failed;
        n_found += clients[i].n_found;
    }
    printf("kv: %u operations by %d clients, %u keys found, %u failed; slowest %.1f ms\n",
           n_ops * N_CLIENTS, N_CLIENTS, n_found, n_failed, (double)slowest_ns / 1e6);
    return n_failed;
}

int main(int argc, char **argv)
{
    bool is_fixed = false;
    unsigned n_ops = 45000;
    const char *log_path = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--fixed") == 0)
            is_fixed = true;
        else if (strcmp(argv[i], "--ops") == 0 && i + 1 < argc)
            n_ops = (unsigned)strtoul(argv[++i], NULL, 10);
        else
            log_path = argv[i];
    }
    struct kv_store store;
    pthread_t flusher;
    pthread_t compactor;
    if (!log_path || !kv_open(&store, log_path, is_fixed)) {
        (void)fprintf(stderr, "usage: kv [--fixed] [--ops N] LOG\n");
        return 2;
    }
    if (pthread_create(&flusher, NULL, flush_thread, &store) != 0 ||
        pthread_create(&compactor, NULL, compaction_thread, &store) != 0)
        return 1;
    const unsigned n_failed = run_clients(&store, n_ops);
    stop_background(&store, flusher, compactor);
    printf("kv: %zu flushes, %zu compactions\n", store.n_flushes, store.n_compactions);
    kv_close(&store);
    return n_failed == 0 ? 0 : 1;
}
