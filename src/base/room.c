/* SPDX-License-Identifier: MIT
 *
 *     [ head | the array ]      from malloc, or the start of a mapping
 *
 * No state is shared: what the process has is asked of the kernel, for large arrays only.
 */
#include "base/room.h"

#include "base/checked.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct head {
    size_t n_bytes; /* of head and array; of a mapping, whole pages */
    size_t is_mapped;
};
_Static_assert(sizeof(struct head) == 16, "arrays are aligned to 16 bytes");

enum { LARGE_BYTES = 1 << 20, LAST_BYTES = 1 << 16, SHARE = 2 };

static struct head *head_of(const void *room)
{
    return (struct head *)(uintptr_t)room - 1;
}

/* ---- where it lies -----------------------------------------------------------------------------
 */

/* Bytes of data that the process has now; 0 if that is not known. */
static uint64_t data_bytes(void)
{
    char text[160];
    unsigned long long n_pages = 0;
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t n_read = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        (void)close(fd);
    if (n_read <= 0)
        return 0;
    text[n_read] = '\0';
    if (sscanf(text, "%*u %*u %*u %*u %*u %llu", &n_pages) != 1)
        return 0;
    return n_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool belongs_in_file(size_t n_bytes)
{
    struct rlimit limit;
    if (n_bytes < LARGE_BYTES || getrlimit(RLIMIT_DATA, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY)
        return false;
    const uint64_t most = (uint64_t)limit.rlim_cur / SHARE;
    return n_bytes > most || data_bytes() > most - n_bytes;
}

/* Zeroed. */
static struct head *map_file(size_t n_bytes)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t padded;
    int fd;
    if (!weft_add_fits(n_bytes, page_bytes - 1, &padded) || padded > INT64_MAX ||
        weft_scratch_open(&fd, NULL) != WEFT_OK)
        return NULL;
    padded &= ~(page_bytes - 1);
    void *bytes = MAP_FAILED;
    if (posix_fallocate(fd, 0, (off_t)padded) == 0)
        bytes = mmap(NULL, padded, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (bytes == MAP_FAILED)
        return NULL;
    struct head *head = bytes;
    *head = (struct head){ .n_bytes = padded, .is_mapped = true };
    return head;
}

/* Zeroed if it `is_zeroed`, or mapped. */
static struct head *make(size_t n_bytes, bool is_zeroed)
{
    if (belongs_in_file(n_bytes))
        return map_file(n_bytes);
    struct head *head = is_zeroed ? calloc(1, n_bytes) : malloc(n_bytes);
    if (head)
        *head = (struct head){ .n_bytes = n_bytes };
    return head || n_bytes < LAST_BYTES ? head : map_file(n_bytes);
}

static void unmake(struct head *head)
{
    if (head->is_mapped)
        (void)munmap(head, head->n_bytes);
    else
        free(head);
}

/* ---- arrays ------------------------------------------------------------------------------------
 */

void *weft_room_new(size_t count, size_t object_bytes)
{
    size_t n_bytes;
    if (!weft_mul_fits(count, object_bytes, &n_bytes) ||
        !weft_add_fits(n_bytes, sizeof(struct head), &n_bytes))
        return NULL;
    struct head *head = make(n_bytes, true);
    return head ? head + 1 : NULL;
}

static struct head *move(struct head *head, size_t n_bytes)
{
    struct head *moved = make(n_bytes, false);
    if (!moved)
        return NULL;
    const size_t n_all = head->n_bytes < n_bytes ? head->n_bytes : n_bytes;
    memcpy(moved + 1, head + 1, n_all - sizeof *head);
    unmake(head);
    if (moved->is_mapped) /* resident pages are of no use now; what they hold stays */
        (void)madvise(moved, moved->n_bytes, MADV_DONTNEED);
    return moved;
}

void *weft_room_resize(void *room, size_t n_bytes)
{
    struct head *head = room ? head_of(room) : NULL, *made;
    if (!weft_add_fits(n_bytes, sizeof *head, &n_bytes))
        return NULL;
    if (head && head->is_mapped && n_bytes <= head->n_bytes && n_bytes > head->n_bytes / 2)
        return room;
    if (!head)
        made = make(n_bytes, false);
    else if (head->is_mapped || belongs_in_file(n_bytes))
        made = move(head, n_bytes);
    else {
        made = realloc(head, n_bytes);
        if (made)
            made->n_bytes = n_bytes;
        else
            made = move(head, n_bytes);
    }
    return made ? made + 1 : NULL;
}

void weft_room_free(void *room)
{
    if (room)
        unmake(head_of(room));
}

bool weft_room_is_mapped(const void *room)
{
    return room && head_of(room)->is_mapped;
}

bool weft_room_reserve(void *items_ptr, size_t *cap, size_t want, size_t item_bytes)
{
    if (want <= *cap)
        return true;
    const size_t grown = *cap + *cap / 2 + 8;
    const size_t new_cap = grown > want ? grown : want;
    size_t n_bytes;
    void *items;
    if (!weft_mul_fits(new_cap, item_bytes, &n_bytes))
        return false;
    memcpy(&items, items_ptr, sizeof items);
    void *moved = weft_room_resize(items, n_bytes);
    if (!moved)
        return false;
    memcpy(items_ptr, &moved, sizeof moved);
    *cap = new_cap;
    return true;
}

/* ---- sorting -----------------------------------------------------------------------------------
 */

typedef int (*order_fn)(const void *, const void *, void *);

enum { RUN_ITEMS = 16, FEW_BYTES = 4096 };

static void sort_run(uint8_t *items, size_t n, size_t item_bytes, order_fn order, void *context,
                     uint8_t *spare)
{
    for (size_t i = 1; i < n; i++) {
        size_t at = i;
        while (at > 0 && order(items + (at - 1) * item_bytes, items + i * item_bytes, context) > 0)
            at--;
        if (at == i)
            continue;
        memcpy(spare, items + i * item_bytes, item_bytes);
        memmove(items + (at + 1) * item_bytes, items + at * item_bytes, (i - at) * item_bytes);
        memcpy(items + at * item_bytes, spare, item_bytes);
    }
}

/* Two runs, the first until `middle`, to `to`. */
static void merge(const uint8_t *from, size_t middle, size_t n, size_t item_bytes, order_fn order,
                  void *context, uint8_t *to)
{
    size_t left = 0, right = middle;
    if (middle >= n ||
        order(from + (middle - 1) * item_bytes, from + middle * item_bytes, context) <= 0) {
        memcpy(to, from, n * item_bytes);
        return;
    }
    while (left < middle && right < n) {
        const bool is_left =
            order(from + left * item_bytes, from + right * item_bytes, context) <= 0;
        memcpy(to, from + (is_left ? left : right) * item_bytes, item_bytes);
        left += is_left;
        right += !is_left;
        to += item_bytes;
    }
    if (left < middle)
        memcpy(to, from + left * item_bytes, (middle - left) * item_bytes);
    else if (right < n)
        memcpy(to, from + right * item_bytes, (n - right) * item_bytes);
}

static void sort_stable(uint8_t *items, size_t n, size_t item_bytes, order_fn order, void *context,
                        uint8_t *spare)
{
    uint8_t *from = items, *to = spare;
    for (size_t at = 0; at < n; at += RUN_ITEMS)
        sort_run(items + at * item_bytes, n - at < RUN_ITEMS ? n - at : RUN_ITEMS, item_bytes,
                 order, context, spare);
    for (size_t n_run = RUN_ITEMS; n_run < n; n_run *= 2) {
        for (size_t at = 0; at < n; at += 2 * n_run)
            merge(from + at * item_bytes, n - at < n_run ? n - at : n_run,
                  n - at < 2 * n_run ? n - at : 2 * n_run, item_bytes, order, context,
                  to + at * item_bytes);
        uint8_t *merged = to;
        to = from;
        from = merged;
    }
    if (from != items)
        memcpy(items, from, n * item_bytes);
}

void weft_room_sort_r(void *items, size_t n, size_t item_bytes, order_fn order, void *context)
{
    _Alignas(16) uint8_t few[FEW_BYTES];
    if (n < 2)
        return;
    void *room = n > sizeof few / item_bytes ? weft_room_new(n, item_bytes) : NULL;
    uint8_t *spare = n > sizeof few / item_bytes ? room : few;
    if (spare)
        sort_stable(items, n, item_bytes, order, context, spare);
    else
        qsort_r(items, n, item_bytes, order, context);
    weft_room_free(room);
}

struct plain_order {
    int (*order)(const void *, const void *);
};

static int by_plain(const void *a, const void *b, void *context)
{
    return ((const struct plain_order *)context)->order(a, b);
}

void weft_room_sort(void *items, size_t n, size_t item_bytes,
                    int (*order)(const void *, const void *))
{
    struct plain_order plain = { order };
    weft_room_sort_r(items, n, item_bytes, by_plain, &plain);
}
