/* SPDX-License-Identifier: MIT
 *
 * A disk that takes 30 ms to sync, and serves no reads meanwhile, on any machine: these stand
 * before the C library's.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int is_busy;

int slow_disk_is_busy(void);

__attribute__((visibility("default"))) int slow_disk_is_busy(void)
{
    return is_busy;
}

static void pause_ms(long ms)
{
    const struct timespec time = { .tv_nsec = ms * 1000000 };
    (void)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    (void)fd;
    is_busy = 1;
    pause_ms(30);
    is_busy = 0;
    return 0;
}

__attribute__((visibility("default"))) ssize_t pread(int fd, void *buffer, size_t n_bytes,
                                                     off_t off)
{
    if (fcntl(fd, F_GETFD) >= 0)
        while (is_busy)
            pause_ms(1);
    return syscall(SYS_pread64, fd, buffer, n_bytes, off);
}
