/* SPDX-License-Identifier: MIT
 *
 * The slow path of a call's record: finding or giving the function's number, without a lock.
 * Addresses are published in the ring file by compare-and-swap before they are counted, so that the
 * recorder never reads a number without its address. Async-signal-safe; functions.c calls it for
 * what its fast path does not find.
 */
#include "record/runtime/numbers.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Places looked at for one function, ever farther from each other, to leave a cluster: half of all
 * are free, and hardly ever are so many taken. */
enum { N_STEPS = 32 };

/* What fork wipes. */
struct numbers {
    _Atomic uint64_t places[WEFT_NUMBER_PLACES];
    _Atomic bool is_full; /* no further function gets a number */
};

_Atomic uint64_t *weft_number_places;
static struct numbers *numbers;
static uint64_t page_numbers; /* addresses in a page */

bool weft_numbers_begin(void)
{
    void *made = mmap(NULL, sizeof *numbers, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        return false;
    if (madvise(made, sizeof *numbers, MADV_WIPEONFORK) != 0) {
        (void)munmap(made, sizeof *numbers);
        return false;
    }
    page_numbers = (uint64_t)sysconf(_SC_PAGESIZE) / sizeof(uint64_t);
    numbers = made;
    weft_number_places = numbers->places;
    return true;
}

/* The first page of addresses has memory from the beginning. Any number in a page is given after
 * its first, so that only the thread that gets that one has to ask. */
static bool has_memory(const struct weft_ring_file *file, uint64_t number)
{
    return number % page_numbers != 0 ||
           weft_ring_populate(file->functions_off + number * sizeof(uint64_t),
                              page_numbers * sizeof(uint64_t));
}

/* Gives the address the next number: puts it behind the others, and then counts it. A thread that
 * finds an address not counted yet counts it, as the thread that put it there may never
 * continue. */
static uint64_t give_number(uint64_t address)
{
    struct weft_ring_file *file = weft_ring_own_file();
    if (!file || atomic_load_explicit(&numbers->is_full, memory_order_relaxed))
        return UINT64_MAX;
    _Atomic uint64_t *addresses = (_Atomic uint64_t *)(void *)((char *)file + file->functions_off);
    uint32_t number = atomic_load(&file->n_functions);
    while (number < WEFT_RING_FUNCTIONS_MAX && has_memory(file, number)) {
        uint64_t found = 0;
        const bool is_ours = atomic_compare_exchange_strong(&addresses[number], &found, address);
        uint32_t n_counted = number;
        if (atomic_compare_exchange_strong(&file->n_functions, &n_counted, number + 1))
            n_counted = number + 1;
        if (is_ours || found == address)
            return number;
        number = n_counted;
    }
    atomic_store_explicit(&numbers->is_full, true, memory_order_relaxed);
    return UINT64_MAX;
}

uint64_t weft_number_find(uint64_t address)
{
    const uint64_t front = address << WEFT_UNIT_DELTA_SHIFT;
    uint64_t number = UINT64_MAX, at = weft_number_home(address);
    if (!numbers || address >> 47)
        return UINT64_MAX;
    for (uint64_t step = 1; step <= N_STEPS; at += step++) {
        _Atomic uint64_t *place = &numbers->places[at % WEFT_NUMBER_PLACES];
        uint64_t held = atomic_load_explicit(place, memory_order_acquire);
        if (held == 0 && address != 0) {
            number = number == UINT64_MAX ? give_number(address) : number;
            if (number == UINT64_MAX)
                return UINT64_MAX;
            const uint64_t own = front | number << WEFT_UNIT_NUMBER_SHIFT;
            if (atomic_compare_exchange_strong(place, &held, own))
                held = own;
        }
        if ((held ^ front) <= WEFT_NUMBER_BITS_MAX)
            return held ^ front;
    }
    return UINT64_MAX;
}
