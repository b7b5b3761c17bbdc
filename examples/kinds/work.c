/* SPDX-License-Identifier: MIT
 *
 * Requests that compute for longer, or have no CPU to compute on.
 */
#include "kinds.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RARE = 40, KEYS = 20000 };

static unsigned keys[KEYS];

/* ---- more calls of the same function ---- */

__attribute__((noinline)) static bool key_equal(const unsigned *key, unsigned number)
{
    volatile unsigned copy = *key;
    return copy == number;
}

CALL void make_keys(bool is_broken)
{
    (void)is_broken;
    for (unsigned i = 0; i < KEYS; i++)
        keys[i] = i;
}

CALL void find_key(unsigned number)
{
    for (unsigned i = 0; i < KEYS && !key_equal(&keys[i], number); i++)
        ;
}

CALL void handle_find(unsigned number, bool is_broken)
{
    const bool is_miss = is_broken && number % RARE == 0;
    compute_us(50);
    for (unsigned i = 0; i < (is_miss ? 200 : 1); i++)
        find_key(is_miss ? KEYS : number % 50);
}

/* ---- code that takes longer ---- */

CALL void compress(unsigned us)
{
    compute_us(us);
}

CALL void handle_page(unsigned number, bool is_broken)
{
    compute_us(60);
    compress(is_broken && number % RARE == 0 ? 9000 : 90);
}

/* ---- memory that is given back while it is in use ---- */

enum { TILE_BYTES = 6 << 20, PAGE_BYTES = 4096 };

static atomic_uchar *tile;

CALL void map_tile(bool is_broken)
{
    (void)is_broken;
    tile = mmap(NULL, TILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (tile == MAP_FAILED)
        fail("mmap");
}

CALL void decode_tile(void)
{
    for (size_t i = 0; i < TILE_BYTES; i += PAGE_BYTES)
        atomic_fetch_add_explicit(&tile[i], 1, memory_order_relaxed);
}

CALL void handle_tile(unsigned number, bool is_broken)
{
    (void)number;
    (void)is_broken;
    decode_tile();
}

CALL void trim_memory(bool is_broken)
{
    pause_us(50000);
    if (is_broken)
        madvise(tile, TILE_BYTES, MADV_DONTNEED);
}

/* ---- threads that are more than the CPUs ---- */

CALL void *burn(void *unused)
{
    compute_us(25000);
    return unused;
}

CALL void recompute_all(bool is_broken)
{
    pthread_t threads[64];
    cpu_set_t cpus;
    unsigned n = 1;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        n = (unsigned)CPU_COUNT(&cpus) * 4;
    n = n < 64 ? n : 64;
    pause_us(150000);
    if (!is_broken)
        return;
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, burn, NULL) != 0)
            fail("pthread_create");
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

CALL void handle_short(unsigned number, bool is_broken)
{
    (void)number;
    (void)is_broken;
    compute_us(120);
}

const struct kind work_kinds[] = {
    { "more-work", make_keys, handle_find, NULL, 0, 0, NULL },
    { "slower-code", NULL, handle_page, NULL, 0, 0, NULL },
    { "minor-faults", map_tile, handle_tile, trim_memory, 500, 6000, NULL },
    { "cpu", NULL, handle_short, recompute_all, 0, 0, NULL },
    { 0 },
};
