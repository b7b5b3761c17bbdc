/* SPDX-License-Identifier: MIT
 *
 * Bookkeeping of the arrays behind one lock: which lie in memory, which in the file, and where.
 * Dropped arrays of the file become holes (fallocate), so that the disk does not fill with what is
 * no longer needed.
 */
#include "base/spool.h"

#include "base/file.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct array {
    void *bytes;
    uint64_t n_bytes; /* of the file: whole pages */
    uint64_t off;     /* in the file */
    bool is_mapped;
};

struct weft_spool {
    pthread_mutex_t lock;
    struct {
        struct array *items;
        size_t n, cap;
    } arrays;
    uint64_t memory_bytes, held_bytes; /* may lie in memory, do */
    uint64_t file_bytes, end_off;
    int fd; /* -1: none yet */
};

struct weft_spool *weft_spool_new(uint64_t memory_bytes)
{
    struct weft_spool *spool = calloc(1, sizeof *spool);
    if (!spool)
        return NULL;
    (void)pthread_mutex_init(&spool->lock, NULL);
    spool->memory_bytes = memory_bytes;
    spool->fd = -1;
    return spool;
}

static void free_array(const struct array *array)
{
    if (array->is_mapped)
        (void)munmap(array->bytes, (size_t)array->n_bytes);
    else
        free(array->bytes);
}

void weft_spool_free(struct weft_spool *spool)
{
    if (!spool)
        return;
    for (size_t i = 0; i < spool->arrays.n; i++)
        free_array(&spool->arrays.items[i]);
    WEFT_VEC_FINI(&spool->arrays);
    if (spool->fd >= 0)
        (void)close(spool->fd);
    (void)pthread_mutex_destroy(&spool->lock);
    free(spool);
}

static enum weft_code no_memory(uint64_t n_bytes, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a list of %" PRIu64 " bytes",
                     n_bytes);
}

/* At the end of the file, where room is taken for it. */
static enum weft_code map_array(struct weft_spool *spool, uint64_t n_bytes, struct array *array,
                                struct weft_err *err)
{
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t n_whole = (n_bytes + page_bytes - 1) / page_bytes * page_bytes;
    if (n_bytes > INT64_MAX / 2 || spool->end_off > INT64_MAX / 2)
        return no_memory(n_bytes, err);
    WEFT_TRY(spool->fd < 0 ? weft_scratch_open(&spool->fd, err) : WEFT_OK);
    const int failure = posix_fallocate(spool->fd, (off_t)spool->end_off, (off_t)n_whole);
    if (failure)
        return weft_fail_errno(err, failure,
                               "cannot make a temporary file larger (TMPDIR sets its folder)");
    void *bytes = mmap(NULL, (size_t)n_whole, PROT_READ | PROT_WRITE, MAP_SHARED, spool->fd,
                       (off_t)spool->end_off);
    if (bytes == MAP_FAILED)
        return weft_fail_errno(err, errno, "cannot map a temporary file");
    *array = (struct array){ bytes, n_whole, spool->end_off, true };
    spool->end_off += n_whole;
    spool->file_bytes += n_whole;
    return WEFT_OK;
}

static enum weft_code make_array(struct weft_spool *spool, uint64_t n_bytes, struct array *array,
                                 struct weft_err *err)
{
    if (n_bytes > 0 && n_bytes > spool->memory_bytes - spool->held_bytes)
        return map_array(spool, n_bytes, array, err);
    *array = (struct array){ calloc(n_bytes ? (size_t)n_bytes : 1, 1), n_bytes, 0, false };
    if (!array->bytes) /* others have what may be held */
        return n_bytes ? map_array(spool, n_bytes, array, err) : no_memory(n_bytes, err);
    spool->held_bytes += n_bytes;
    return WEFT_OK;
}

enum weft_code weft_spool_array(struct weft_spool *spool, size_t count, size_t object_bytes,
                                void *array, struct weft_err *err)
{
    uint64_t n_bytes;
    struct array made = { 0 };
    if (__builtin_mul_overflow(count, object_bytes, &n_bytes))
        return no_memory(UINT64_MAX, err);
    (void)pthread_mutex_lock(&spool->lock);
    enum weft_code code = make_array(spool, n_bytes, &made, err);
    struct array *kept = code == WEFT_OK ? WEFT_VEC_PUSH(&spool->arrays) : NULL;
    if (kept)
        *kept = made;
    (void)pthread_mutex_unlock(&spool->lock);
    if (code == WEFT_OK && !kept) {
        free_array(&made);
        code = no_memory(n_bytes, err);
    }
    if (code == WEFT_OK)
        memcpy(array, &made.bytes, sizeof made.bytes);
    return code;
}

/* Its room, in memory or on the disk. */
static void give_back(struct weft_spool *spool, const struct array *array)
{
    if (!array->is_mapped) {
        spool->held_bytes -= array->n_bytes;
        return;
    }
    spool->file_bytes -= array->n_bytes;
    (void)fallocate(spool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)array->off,
                    (off_t)array->n_bytes);
}

void weft_spool_drop(struct weft_spool *spool, const void *bytes)
{
    if (!bytes)
        return;
    (void)pthread_mutex_lock(&spool->lock);
    for (size_t i = 0; i < spool->arrays.n; i++) {
        const struct array array = spool->arrays.items[i];
        if (array.bytes != bytes)
            continue;
        spool->arrays.items[i] = spool->arrays.items[--spool->arrays.n];
        give_back(spool, &array);
        free_array(&array);
        break;
    }
    (void)pthread_mutex_unlock(&spool->lock);
}

void weft_spool_forget(struct weft_spool *spool)
{
    if (!spool)
        return;
    (void)pthread_mutex_lock(&spool->lock);
    for (size_t i = 0; i < spool->arrays.n; i++)
        if (spool->arrays.items[i].is_mapped)
            (void)madvise(spool->arrays.items[i].bytes, (size_t)spool->arrays.items[i].n_bytes,
                          MADV_DONTNEED);
    (void)pthread_mutex_unlock(&spool->lock);
}

uint64_t weft_spool_file_bytes(struct weft_spool *spool)
{
    (void)pthread_mutex_lock(&spool->lock);
    const uint64_t n_bytes = spool->file_bytes;
    (void)pthread_mutex_unlock(&spool->lock);
    return n_bytes;
}
