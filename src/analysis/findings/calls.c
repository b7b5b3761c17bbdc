/* SPDX-License-Identifier: MIT
 *
 * One table of the names by which libc, the kernel and runtimes are waited in.
 */
#include "analysis/findings/calls.h"

#include "model/graph/waiting.h"

#include <stdlib.h>
#include <string.h>

#define NAME(text) text, sizeof(text) - 1

static const struct {
    const char *name;
    size_t n_bytes;
    enum weft_in_call call;
} calls[] = {
    { NAME("fsync"), WEFT_IN_FSYNC },
    { NAME("fdatasync"), WEFT_IN_FSYNC },
    { NAME("sync"), WEFT_IN_FSYNC },
    { NAME("syncfs"), WEFT_IN_FSYNC },
    { NAME("msync"), WEFT_IN_FSYNC },
    { NAME("sync_file_range"), WEFT_IN_FSYNC },
    { NAME("waitpid"), WEFT_IN_CHILD },
    { NAME("wait4"), WEFT_IN_CHILD },
    { NAME("waitid"), WEFT_IN_CHILD },
    { NAME("wait3"), WEFT_IN_CHILD },
    { NAME("nanosleep"), WEFT_IN_SLEEP },
    { NAME("clock_nanosleep"), WEFT_IN_SLEEP },
    { NAME("usleep"), WEFT_IN_SLEEP },
    { NAME("sleep"), WEFT_IN_SLEEP },
    { NAME("recv"), WEFT_IN_NETWORK },
    { NAME("recvfrom"), WEFT_IN_NETWORK },
    { NAME("recvmsg"), WEFT_IN_NETWORK },
    { NAME("recvmmsg"), WEFT_IN_NETWORK },
    { NAME("send"), WEFT_IN_NETWORK },
    { NAME("sendto"), WEFT_IN_NETWORK },
    { NAME("sendmsg"), WEFT_IN_NETWORK },
    { NAME("connect"), WEFT_IN_CONNECT },
    { NAME("accept"), WEFT_IN_NETWORK },
    { NAME("accept4"), WEFT_IN_NETWORK },
    { NAME("poll"), WEFT_IN_POLL },
    { NAME("ppoll"), WEFT_IN_POLL },
    { NAME("select"), WEFT_IN_POLL },
    { NAME("pselect"), WEFT_IN_POLL },
    { NAME("epoll_wait"), WEFT_IN_READY },
    { NAME("epoll_pwait"), WEFT_IN_READY },
    { NAME("epoll_pwait2"), WEFT_IN_READY },
    { NAME("read"), WEFT_IN_FILE },
    { NAME("pread"), WEFT_IN_FILE },
    { NAME("pread64"), WEFT_IN_FILE },
    { NAME("preadv"), WEFT_IN_FILE },
    { NAME("readv"), WEFT_IN_FILE },
    { NAME("write"), WEFT_IN_FILE },
    { NAME("pwrite"), WEFT_IN_FILE },
    { NAME("pwrite64"), WEFT_IN_FILE },
    { NAME("pwritev"), WEFT_IN_FILE },
    { NAME("writev"), WEFT_IN_FILE },
    { NAME("open"), WEFT_IN_FILE },
    { NAME("openat"), WEFT_IN_FILE },
    { NAME("open64"), WEFT_IN_FILE },
    { NAME("unlink"), WEFT_IN_FILE },
    { NAME("rename"), WEFT_IN_FILE },
    { NAME("ftruncate"), WEFT_IN_FILE },
    { NAME("fallocate"), WEFT_IN_FILE },
    { NAME("getdents64"), WEFT_IN_FILE },
    { NAME("exc_page_fault"), WEFT_IN_FAULT },
    { NAME("asm_exc_page_fault"), WEFT_IN_FAULT },
    { NAME("handle_mm_fault"), WEFT_IN_FAULT },
    { NAME("filemap_fault"), WEFT_IN_FAULT },
    { NAME("pthread_mutex_lock"), WEFT_IN_LOCK },
    { NAME("pthread_mutex_timedlock"), WEFT_IN_LOCK },
    { NAME("pthread_mutex_clocklock"), WEFT_IN_LOCK },
    { NAME("pthread_rwlock_rdlock"), WEFT_IN_LOCK },
    { NAME("pthread_rwlock_wrlock"), WEFT_IN_LOCK },
    { NAME("pthread_rwlock_rdlock_full64"), WEFT_IN_LOCK },
    { NAME("pthread_rwlock_wrlock_full64"), WEFT_IN_LOCK },
    { NAME("pthread_spin_lock"), WEFT_IN_SPIN },
    { NAME("mtx_lock"), WEFT_IN_LOCK },
    { NAME("flock"), WEFT_IN_LOCK },
    { NAME("fcntl"), WEFT_IN_LOCK },
    { NAME("fcntl64"), WEFT_IN_LOCK },
    { NAME("lockf"), WEFT_IN_LOCK },
    { NAME("lockf64"), WEFT_IN_LOCK },
    { NAME("lll_lock_wait"), WEFT_IN_LOCK },
    { NAME("lll_mutex_lock_optimized"), WEFT_IN_LOCK },
    { NAME("sync.(*Mutex).Lock"), WEFT_IN_LOCK },
    { NAME("sync.(*Mutex).lockSlow"), WEFT_IN_LOCK },
    { NAME("sync.(*RWMutex).Lock"), WEFT_IN_LOCK },
    { NAME("sync.(*RWMutex).RLock"), WEFT_IN_LOCK },
    { NAME("runtime.lock2"), WEFT_IN_LOCK },
    { NAME("std::sys::sync::mutex::futex::Mutex::lock_contended"), WEFT_IN_LOCK },
    { NAME("std::sys::unix::locks::futex_mutex::Mutex::lock_contended"), WEFT_IN_LOCK },
    { NAME("pthread_cond_wait"), WEFT_IN_WAIT },
    { NAME("pthread_cond_timedwait"), WEFT_IN_WAIT },
    { NAME("pthread_cond_clockwait"), WEFT_IN_WAIT },
    { NAME("sem_wait"), WEFT_IN_WAIT },
    { NAME("sem_timedwait"), WEFT_IN_WAIT },
    { NAME("sem_clockwait"), WEFT_IN_WAIT },
    { NAME("sem_post"), WEFT_IN_WAKE },
    { NAME("pthread_cond_signal"), WEFT_IN_WAKE },
    { NAME("pthread_cond_broadcast"), WEFT_IN_WAKE },
    { NAME("pthread_mutex_unlock"), WEFT_IN_WAKE },
    { NAME("pthread_rwlock_unlock"), WEFT_IN_WAKE },
    { NAME("lll_mutex_unlock_optimized"), WEFT_IN_WAKE },
    { NAME("pthread_barrier_wait"), WEFT_IN_SERIAL },
    { NAME("pthread_join"), WEFT_IN_SERIAL },
    { NAME("pthread_clockjoin_ex"), WEFT_IN_SERIAL },
    { NAME("sched_yield"), WEFT_IN_YIELD },
    { NAME("mmap"), WEFT_IN_MAP },
    { NAME("mmap64"), WEFT_IN_MAP },
    { NAME("munmap"), WEFT_IN_MAP },
    { NAME("mprotect"), WEFT_IN_MAP },
    { NAME("mremap"), WEFT_IN_MAP },
    { NAME("madvise"), WEFT_IN_MAP },
    { NAME("brk"), WEFT_IN_MAP },
    { NAME("sbrk"), WEFT_IN_MAP },
    { NAME("malloc"), WEFT_IN_ALLOCATOR },
    { NAME("calloc"), WEFT_IN_ALLOCATOR },
    { NAME("realloc"), WEFT_IN_ALLOCATOR },
    { NAME("free"), WEFT_IN_ALLOCATOR },
    { NAME("cfree"), WEFT_IN_ALLOCATOR },
    { NAME("_int_malloc"), WEFT_IN_ALLOCATOR },
    { NAME("_int_free"), WEFT_IN_ALLOCATOR },
    { NAME("_int_realloc"), WEFT_IN_ALLOCATOR },
    { NAME("malloc_consolidate"), WEFT_IN_ALLOCATOR },
    { NAME("arena_get2"), WEFT_IN_ALLOCATOR },
    { NAME("lll_lock_wait_private"), WEFT_IN_ALLOCATOR },
};

enum weft_in_call weft_call_of(struct weft_str name)
{
    const struct weft_str text = weft_libc_name(name);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (text.n_bytes == calls[i].n_bytes && text.bytes[0] == calls[i].name[0] &&
            memcmp(text.bytes, calls[i].name, text.n_bytes) == 0)
            return calls[i].call;
    return WEFT_IN_NONE;
}

/* Of a function what it is, of a state what the thread waits in. */
static enum weft_in_call call_of(const struct weft_frame *frame)
{
    uint8_t known = weft_frame_known(&frame->in_call);
    if (!known) {
        const enum weft_in_call call =
            frame->kind == WEFT_FRAME_FUNCTION  ? weft_call_of(frame->name)
            : frame->flags & WEFT_FRAME_IN_CALL ? weft_call_of(weft_frame_call(frame))
                                                : WEFT_IN_NONE;
        known = (uint8_t)(1 + call);
        weft_frame_know(&frame->in_call, known);
    }
    return (enum weft_in_call)(known - 1);
}

enum weft_in_call weft_call_in(const struct weft_frame_path *path,
                               const struct weft_path_part *part)
{
    enum weft_in_call found = WEFT_IN_NONE;
    for (size_t i = part->to; i-- > part->from;) {
        const struct weft_frame *frame = path->frames[i];
        const bool is_function = frame->kind == WEFT_FRAME_FUNCTION;
        const enum weft_in_call call = call_of(frame);
        const bool is_own = is_function && !weft_path_is_library(path, part->from, i);
        if (is_own && frame->module.n_bytes > 0)
            return found;
        if (call == WEFT_IN_ALLOCATOR)
            return call;
        if (found == WEFT_IN_NONE)
            found = call;
        if (is_own && call == WEFT_IN_NONE)
            return found;
    }
    return found;
}

bool *weft_call_mark_functions(const struct weft_ecct_matrix *matrix)
{
    bool *has_function = calloc(matrix->n_nodes + 1, sizeof *has_function);
    for (uint32_t node = 1; has_function && node < matrix->n_nodes; node++) {
        const struct weft_frame *frame = &matrix->frames[matrix->nodes[node].frame];
        const bool is_own = frame->kind == WEFT_FRAME_FUNCTION && !weft_frame_is_library(frame) &&
                            !weft_frame_is_call(frame);
        has_function[node] = is_own || has_function[matrix->nodes[node].parent];
    }
    return has_function;
}

bool weft_call_is_sleep(struct weft_str function)
{
    return weft_call_of(function) == WEFT_IN_SLEEP;
}

static bool is_futex(struct weft_str function)
{
    return weft_str_equal(function, WEFT_STR("futex"));
}

bool weft_call_is_known(struct weft_str function)
{
    return weft_call_of(function) != WEFT_IN_NONE || is_futex(function);
}

bool weft_frame_is_call(const struct weft_frame *frame)
{
    return frame->kind == WEFT_FRAME_FUNCTION &&
           (call_of(frame) != WEFT_IN_NONE || is_futex(frame->name));
}

bool weft_call_is_of_descriptors(struct weft_str function)
{
    const enum weft_in_call call = weft_call_of(function);
    return call == WEFT_IN_POLL || call == WEFT_IN_READY;
}
