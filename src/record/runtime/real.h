/* SPDX-License-Identifier: MIT
 *
 * libweft-preload.so: each function below is defined here in place of the C library's, records, and
 * calls the real one. Everything a wrapper of any file needs.
 */
#ifndef WEFT_RECORD_RUNTIME_REAL_H
#define WEFT_RECORD_RUNTIME_REAL_H

#include "record/runtime/ring.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define WEFT_WRAP __attribute__((visibility("default")))
#define WEFT_CALLER ((uintptr_t)__builtin_return_address(0))

/* What _FORTIFY_SOURCE calls instead. */
ssize_t __read_chk(int fd, void *buffer, size_t n_bytes, size_t n_room);
ssize_t __pread_chk(int fd, void *buffer, size_t n_bytes, off_t off, size_t n_room);
ssize_t __pread64_chk(int fd, void *buffer, size_t n_bytes, off64_t off, size_t n_room);
ssize_t __recv_chk(int fd, void *buffer, size_t n_bytes, size_t n_room, int flags);
ssize_t __recvfrom_chk(int fd, void *buffer, size_t n_bytes, size_t n_room, int flags,
                       __SOCKADDR_ARG from, socklen_t *from_bytes);
int __poll_chk(struct pollfd *fds, nfds_t n_fds, int timeout, size_t n_room);
int __ppoll_chk(struct pollfd *fds, nfds_t n_fds, const struct timespec *timeout,
                const sigset_t *mask, size_t n_room);

/* NAME(function). Locks first: looking up the others may lock. */
#define WEFT_REAL_FUNCTIONS(NAME)                                                                  \
    NAME(pthread_mutex_lock)                                                                       \
    NAME(pthread_mutex_trylock)                                                                    \
    NAME(pthread_mutex_unlock)                                                                     \
    NAME(pthread_mutex_timedlock)                                                                  \
    NAME(pthread_mutex_clocklock)                                                                  \
    NAME(pthread_rwlock_rdlock)                                                                    \
    NAME(pthread_rwlock_tryrdlock)                                                                 \
    NAME(pthread_rwlock_timedrdlock)                                                               \
    NAME(pthread_rwlock_clockrdlock)                                                               \
    NAME(pthread_rwlock_wrlock)                                                                    \
    NAME(pthread_rwlock_trywrlock)                                                                 \
    NAME(pthread_rwlock_timedwrlock)                                                               \
    NAME(pthread_rwlock_clockwrlock)                                                               \
    NAME(pthread_rwlock_unlock)                                                                    \
    NAME(pthread_spin_lock)                                                                        \
    NAME(pthread_spin_trylock)                                                                     \
    NAME(pthread_spin_unlock)                                                                      \
    NAME(sem_wait)                                                                                 \
    NAME(sem_trywait)                                                                              \
    NAME(sem_timedwait)                                                                            \
    NAME(sem_clockwait)                                                                            \
    NAME(sem_post)                                                                                 \
    NAME(pthread_cond_wait)                                                                        \
    NAME(pthread_cond_timedwait)                                                                   \
    NAME(pthread_cond_clockwait)                                                                   \
    NAME(pthread_cond_signal)                                                                      \
    NAME(pthread_cond_broadcast)                                                                   \
    NAME(pthread_barrier_wait)                                                                     \
    NAME(pthread_mutex_init)                                                                       \
    NAME(pthread_mutex_destroy)                                                                    \
    NAME(mtx_init)                                                                                 \
    NAME(mtx_destroy)                                                                              \
    NAME(pthread_rwlock_init)                                                                      \
    NAME(pthread_rwlock_destroy)                                                                   \
    NAME(pthread_spin_init)                                                                        \
    NAME(pthread_spin_destroy)                                                                     \
    NAME(sem_init)                                                                                 \
    NAME(sem_destroy)                                                                              \
    NAME(pthread_cond_init)                                                                        \
    NAME(pthread_cond_destroy)                                                                     \
    NAME(cnd_init)                                                                                 \
    NAME(cnd_destroy)                                                                              \
    NAME(pthread_barrier_init)                                                                     \
    NAME(pthread_barrier_destroy)                                                                  \
    NAME(mtx_lock)                                                                                 \
    NAME(mtx_trylock)                                                                              \
    NAME(mtx_timedlock)                                                                            \
    NAME(mtx_unlock)                                                                               \
    NAME(cnd_wait)                                                                                 \
    NAME(cnd_timedwait)                                                                            \
    NAME(cnd_signal)                                                                               \
    NAME(cnd_broadcast)                                                                            \
    NAME(thrd_create)                                                                              \
    NAME(thrd_join)                                                                                \
    NAME(thrd_sleep)                                                                               \
    NAME(pthread_create)                                                                           \
    NAME(pthread_join)                                                                             \
    NAME(pthread_tryjoin_np)                                                                       \
    NAME(pthread_timedjoin_np)                                                                     \
    NAME(pthread_clockjoin_np)                                                                     \
    NAME(pthread_setname_np)                                                                       \
    NAME(pthread_once)                                                                             \
    NAME(call_once)                                                                                \
    NAME(sleep)                                                                                    \
    NAME(usleep)                                                                                   \
    NAME(nanosleep)                                                                                \
    NAME(clock_nanosleep)                                                                          \
    NAME(poll)                                                                                     \
    NAME(__poll_chk)                                                                               \
    NAME(ppoll)                                                                                    \
    NAME(__ppoll_chk)                                                                              \
    NAME(select)                                                                                   \
    NAME(pselect)                                                                                  \
    NAME(epoll_ctl)                                                                                \
    NAME(epoll_wait)                                                                               \
    NAME(epoll_pwait)                                                                              \
    NAME(epoll_pwait2)                                                                             \
    NAME(wait)                                                                                     \
    NAME(waitpid)                                                                                  \
    NAME(wait3)                                                                                    \
    NAME(wait4)                                                                                    \
    NAME(waitid)                                                                                   \
    NAME(read)                                                                                     \
    NAME(__read_chk)                                                                               \
    NAME(write)                                                                                    \
    NAME(pread)                                                                                    \
    NAME(pread64)                                                                                  \
    NAME(__pread_chk)                                                                              \
    NAME(__pread64_chk)                                                                            \
    NAME(pwrite)                                                                                   \
    NAME(pwrite64)                                                                                 \
    NAME(readv)                                                                                    \
    NAME(writev)                                                                                   \
    NAME(preadv)                                                                                   \
    NAME(preadv64)                                                                                 \
    NAME(pwritev)                                                                                  \
    NAME(pwritev64)                                                                                \
    NAME(fsync)                                                                                    \
    NAME(fdatasync)                                                                                \
    NAME(accept)                                                                                   \
    NAME(accept4)                                                                                  \
    NAME(connect)                                                                                  \
    NAME(close)                                                                                    \
    NAME(dup2)                                                                                     \
    NAME(dup3)                                                                                     \
    NAME(pipe)                                                                                     \
    NAME(pipe2)                                                                                    \
    NAME(socketpair)                                                                               \
    NAME(eventfd)                                                                                  \
    NAME(recv)                                                                                     \
    NAME(__recv_chk)                                                                               \
    NAME(recvfrom)                                                                                 \
    NAME(__recvfrom_chk)                                                                           \
    NAME(recvmsg)                                                                                  \
    NAME(recvmmsg)                                                                                 \
    NAME(send)                                                                                     \
    NAME(shutdown)                                                                                 \
    NAME(sendto)                                                                                   \
    NAME(sendmsg)                                                                                  \
    NAME(sendmmsg)                                                                                 \
    NAME(execve)                                                                                   \
    NAME(execvpe)                                                                                  \
    NAME(fexecve)                                                                                  \
    NAME(execveat)                                                                                 \
    NAME(posix_spawn)                                                                              \
    NAME(posix_spawnp)                                                                             \
    NAME(clearenv)

struct weft_real {
#define WEFT_REAL_MEMBER(name) __typeof__(&(name)) name;
    WEFT_REAL_FUNCTIONS(WEFT_REAL_MEMBER)
#undef WEFT_REAL_MEMBER
};

extern struct weft_real weft_real;

/* Looks all of them up; what was found stays. */
void weft_real_resolve(void);

/* The real function. Wrappers may be called before the constructors have run. */
#define WEFT_REAL(name)                                                                            \
    (*(WEFT_LIKELY(weft_real.name != NULL) ? weft_real.name                                        \
                                           : (weft_real_resolve(), weft_real.name)))

/* Locks and blocking calls are not recorded, markers and threads are. */
extern bool weft_operations_are_off;
/* REQUEST is written of locks that are free, too. */
extern bool weft_requests_are_all;

WEFT_INLINE bool weft_operations_are_on(void)
{
    return weft_ring_is_on && !weft_operations_are_off;
}

/* From now on, the end of a thread is recorded (threads.c). */
void weft_threads_begin(void);
/* From now on, programs find the hooks of weft/mark.h (marks.c). */
void weft_marks_begin(void);
/* Keeps the settings that programs are given whose environment has none (exec.c). */
void weft_exec_begin(void);

/* ---- descriptors.c: which descriptor becomes ready when another one is written to */

enum { WEFT_DESCRIPTORS = 1 << 16 }; /* those from here on are not followed */

/* By descriptor: p + 1, writing to it makes p ready; -(p + 1), writing to p makes it ready; 0: not
 * known. */
extern _Atomic int32_t weft_descriptor_peers[WEFT_DESCRIPTORS];

/* The descriptor of this process that becomes ready when `fd` is written to; -1: none is known. */
WEFT_INLINE int weft_descriptor_wakes(int fd)
{
    const int32_t peer =
        fd >= 0 && fd < WEFT_DESCRIPTORS
            ? atomic_load_explicit(&weft_descriptor_peers[fd], memory_order_relaxed)
            : 0;
    return peer > 0 ? peer - 1 : -1;
}

/* A socket was accepted, or connects to `to`: if its other end is in this process, both are known
 * from now on. `fd` -1: it failed. Keep errno. */
void weft_descriptor_accepted(int fd);
void weft_descriptor_connects(int fd, const struct sockaddr *to, socklen_t to_bytes);
/* Before it is closed, as its number may be another one's at once. */
void weft_descriptor_closes(int fd);

/* ---- what the records of one wait have in common (waits.c) */

struct weft_wait {
    enum weft_wait_kind kind;
    uintptr_t caller;
    bool is_open; /* WAIT_BEGIN was written, and no WAIT_END */
};

/* `flags` is 256 all + 512 timed. */
void weft_wait_begin(struct weft_wait *wait, int flags, const uint64_t *objects,
                     unsigned n_objects);
void weft_wait_end(struct weft_wait *wait, int64_t result, const uint64_t *objects,
                   unsigned n_objects);
/* Ends a wait that is left by cancellation. */
void weft_wait_cancelled(struct weft_wait *wait);

#define WEFT_WAIT(name, of_kind)                                                                   \
    __attribute__((cleanup(weft_wait_cancelled))) struct weft_wait name = { .kind = (of_kind),     \
                                                                            .caller =              \
                                                                                WEFT_CALLER }

/* The argument of a record: a kind and a result. */
WEFT_INLINE int64_t weft_with_result(int kind, int64_t result)
{
    return kind | (result & 0xffffff) << 8;
}

#endif
