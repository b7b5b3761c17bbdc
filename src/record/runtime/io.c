/* SPDX-License-Identifier: MIT
 *
 * Wrappers of input and output that may block. The result of a record is the call's, or the error
 * number with a minus.
 */
#include "record/runtime/real.h"

#include <sys/stat.h>

enum { MAX_PARTS = 1024 }; /* more is an error */
enum {
    SLOW_TICKS = 100 * 1000
}; /* so long reads and writes are asked whether they are of a file */

#define IS_OFF WEFT_UNLIKELY(!weft_operations_are_on())

struct io {
    enum weft_io_kind kind;
    int fd;
    uintptr_t caller;
    bool is_open;
    uint64_t begin_ticks;
};

static void io_begin(struct io *io, uint64_t n_bytes)
{
    const bool is_output = io->kind == WEFT_IO_WRITE || io->kind == WEFT_IO_SEND ||
                           (io->kind == WEFT_IO_SHUTDOWN && n_bytes != SHUT_RD);
    const int woken = is_output ? weft_descriptor_wakes(io->fd) : -1;
    const uint64_t words[] = { (uint64_t)io->fd, n_bytes, io->caller, (uint64_t)woken };
    io->is_open = true;
    io->begin_ticks = weft_ring_ticks();
    weft_ring_put(WEFT_OP_IO_BEGIN, io->kind, io->begin_ticks, words, woken < 0 ? 3 : 4);
}

/* Of what took long, a disk may be the reason: only then it is worth the 0.3 us to ask. */
static bool is_slow_file(const struct io *io, uint64_t now)
{
    struct stat status;
    if (now - io->begin_ticks < SLOW_TICKS ||
        (io->kind != WEFT_IO_READ && io->kind != WEFT_IO_WRITE))
        return false;
    const int kept_errno = errno;
    const bool is_file =
        fstat(io->fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
    errno = kept_errno;
    return is_file;
}

static void io_end(struct io *io, int64_t result)
{
    const uint64_t words[] = { (uint64_t)io->fd, (uint64_t)(result == -1 ? -errno : result),
                               io->caller };
    const uint64_t now = weft_ring_ticks();
    io->is_open = false;
    weft_ring_put(WEFT_OP_IO_END, (int)io->kind | (is_slow_file(io, now) ? WEFT_IO_OF_FILE : 0),
                  now, words, 3);
}

/* Ends a call that is left by cancellation. */
static void io_cancelled(struct io *io)
{
    const uint64_t words[] = { (uint64_t)io->fd, (uint64_t)-ECANCELED, io->caller };
    if (io->is_open)
        weft_ring_put(WEFT_OP_IO_END, io->kind, weft_ring_ticks(), words, 3);
}

static uint64_t bytes_of(const struct iovec *parts, int n_parts)
{
    uint64_t n_bytes = 0;
    for (int i = 0; i < n_parts && i < MAX_PARTS; i++)
        n_bytes += parts[i].iov_len;
    return n_bytes;
}

#define IO(type, of_kind, of_fd, n_bytes, call)                                                    \
    do {                                                                                           \
        if (IS_OFF)                                                                                \
            return call;                                                                           \
        __attribute__((cleanup(io_cancelled))) struct io io = { (of_kind), (of_fd), WEFT_CALLER,   \
                                                                false, 0 };                        \
        io_begin(&io, (n_bytes));                                                                  \
        const type result = call;                                                                  \
        io_end(&io, result);                                                                       \
        return result;                                                                             \
    } while (0)

WEFT_WRAP ssize_t read(int fd, void *buffer, size_t n_bytes)
{
    IO(ssize_t, WEFT_IO_READ, fd, n_bytes, WEFT_REAL(read)(fd, buffer, n_bytes));
}

WEFT_WRAP ssize_t __read_chk(int fd, void *buffer, size_t n_bytes, size_t n_room)
{
    IO(ssize_t, WEFT_IO_READ, fd, n_bytes, WEFT_REAL(__read_chk)(fd, buffer, n_bytes, n_room));
}

WEFT_WRAP ssize_t write(int fd, const void *buffer, size_t n_bytes)
{
    IO(ssize_t, WEFT_IO_WRITE, fd, n_bytes, WEFT_REAL(write)(fd, buffer, n_bytes));
}

WEFT_WRAP ssize_t pread(int fd, void *buffer, size_t n_bytes, off_t off)
{
    IO(ssize_t, WEFT_IO_READ, fd, n_bytes, WEFT_REAL(pread)(fd, buffer, n_bytes, off));
}

WEFT_WRAP ssize_t pread64(int fd, void *buffer, size_t n_bytes, off64_t off)
{
    IO(ssize_t, WEFT_IO_READ, fd, n_bytes, WEFT_REAL(pread64)(fd, buffer, n_bytes, off));
}

WEFT_WRAP ssize_t __pread_chk(int fd, void *buffer, size_t n_bytes, off_t off, size_t n_room)
{
    IO(ssize_t, WEFT_IO_READ, fd, n_bytes,
       WEFT_REAL(__pread_chk)(fd, buffer, n_bytes, off, n_room));
}

WEFT_WRAP ssize_t __pread64_chk(int fd, void *buffer, size_t n_bytes, off64_t off, size_t n_room)
{
    IO(ssize_t, WEFT_IO_READ, fd, n_bytes,
       WEFT_REAL(__pread64_chk)(fd, buffer, n_bytes, off, n_room));
}

WEFT_WRAP ssize_t pwrite(int fd, const void *buffer, size_t n_bytes, off_t off)
{
    IO(ssize_t, WEFT_IO_WRITE, fd, n_bytes, WEFT_REAL(pwrite)(fd, buffer, n_bytes, off));
}

WEFT_WRAP ssize_t pwrite64(int fd, const void *buffer, size_t n_bytes, off64_t off)
{
    IO(ssize_t, WEFT_IO_WRITE, fd, n_bytes, WEFT_REAL(pwrite64)(fd, buffer, n_bytes, off));
}

WEFT_WRAP ssize_t readv(int fd, const struct iovec *parts, int n_parts)
{
    IO(ssize_t, WEFT_IO_READ, fd, bytes_of(parts, n_parts), WEFT_REAL(readv)(fd, parts, n_parts));
}

WEFT_WRAP ssize_t writev(int fd, const struct iovec *parts, int n_parts)
{
    IO(ssize_t, WEFT_IO_WRITE, fd, bytes_of(parts, n_parts), WEFT_REAL(writev)(fd, parts, n_parts));
}

WEFT_WRAP ssize_t preadv(int fd, const struct iovec *parts, int n_parts, off_t off)
{
    IO(ssize_t, WEFT_IO_READ, fd, bytes_of(parts, n_parts),
       WEFT_REAL(preadv)(fd, parts, n_parts, off));
}

WEFT_WRAP ssize_t preadv64(int fd, const struct iovec *parts, int n_parts, off64_t off)
{
    IO(ssize_t, WEFT_IO_READ, fd, bytes_of(parts, n_parts),
       WEFT_REAL(preadv64)(fd, parts, n_parts, off));
}

WEFT_WRAP ssize_t pwritev(int fd, const struct iovec *parts, int n_parts, off_t off)
{
    IO(ssize_t, WEFT_IO_WRITE, fd, bytes_of(parts, n_parts),
       WEFT_REAL(pwritev)(fd, parts, n_parts, off));
}

WEFT_WRAP ssize_t pwritev64(int fd, const struct iovec *parts, int n_parts, off64_t off)
{
    IO(ssize_t, WEFT_IO_WRITE, fd, bytes_of(parts, n_parts),
       WEFT_REAL(pwritev64)(fd, parts, n_parts, off));
}

WEFT_WRAP int fsync(int fd)
{
    IO(int, WEFT_IO_SYNC, fd, 0, WEFT_REAL(fsync)(fd));
}

WEFT_WRAP int fdatasync(int fd)
{
    IO(int, WEFT_IO_SYNC, fd, 0, WEFT_REAL(fdatasync)(fd));
}

static int accepted(int fd)
{
    if (weft_operations_are_on())
        weft_descriptor_accepted(fd);
    return fd;
}

WEFT_WRAP int accept(int fd, __SOCKADDR_ARG from, socklen_t *restrict from_bytes)
{
    IO(int, WEFT_IO_ACCEPT, fd, 0, accepted(WEFT_REAL(accept)(fd, from, from_bytes)));
}

WEFT_WRAP int accept4(int fd, __SOCKADDR_ARG from, socklen_t *restrict from_bytes, int flags)
{
    IO(int, WEFT_IO_ACCEPT, fd, 0, accepted(WEFT_REAL(accept4)(fd, from, from_bytes, flags)));
}

static int connects(int fd, const struct sockaddr *to, socklen_t to_bytes, int result)
{
    if (weft_operations_are_on() && (result == 0 || errno == EINPROGRESS))
        weft_descriptor_connects(fd, to, to_bytes);
    return result;
}

WEFT_WRAP int connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t to_bytes)
{
    IO(int, WEFT_IO_CONNECT, fd, 0,
       connects(fd, to.__sockaddr__, to_bytes, WEFT_REAL(connect)(fd, to, to_bytes)));
}

WEFT_WRAP ssize_t recv(int fd, void *buffer, size_t n_bytes, int flags)
{
    IO(ssize_t, WEFT_IO_RECEIVE, fd, n_bytes, WEFT_REAL(recv)(fd, buffer, n_bytes, flags));
}

WEFT_WRAP ssize_t __recv_chk(int fd, void *buffer, size_t n_bytes, size_t n_room, int flags)
{
    IO(ssize_t, WEFT_IO_RECEIVE, fd, n_bytes,
       WEFT_REAL(__recv_chk)(fd, buffer, n_bytes, n_room, flags));
}

WEFT_WRAP ssize_t recvfrom(int fd, void *restrict buffer, size_t n_bytes, int flags,
                           __SOCKADDR_ARG from, socklen_t *restrict from_bytes)
{
    IO(ssize_t, WEFT_IO_RECEIVE, fd, n_bytes,
       WEFT_REAL(recvfrom)(fd, buffer, n_bytes, flags, from, from_bytes));
}

WEFT_WRAP ssize_t __recvfrom_chk(int fd, void *buffer, size_t n_bytes, size_t n_room, int flags,
                                 __SOCKADDR_ARG from, socklen_t *from_bytes)
{
    IO(ssize_t, WEFT_IO_RECEIVE, fd, n_bytes,
       WEFT_REAL(__recvfrom_chk)(fd, buffer, n_bytes, n_room, flags, from, from_bytes));
}

WEFT_WRAP ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    IO(ssize_t, WEFT_IO_RECEIVE, fd, bytes_of(message->msg_iov, (int)message->msg_iovlen),
       WEFT_REAL(recvmsg)(fd, message, flags));
}

WEFT_WRAP ssize_t send(int fd, const void *buffer, size_t n_bytes, int flags)
{
    IO(ssize_t, WEFT_IO_SEND, fd, n_bytes, WEFT_REAL(send)(fd, buffer, n_bytes, flags));
}

WEFT_WRAP ssize_t sendto(int fd, const void *buffer, size_t n_bytes, int flags,
                         __CONST_SOCKADDR_ARG to, socklen_t to_bytes)
{
    IO(ssize_t, WEFT_IO_SEND, fd, n_bytes,
       WEFT_REAL(sendto)(fd, buffer, n_bytes, flags, to, to_bytes));
}

WEFT_WRAP ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    IO(ssize_t, WEFT_IO_SEND, fd, bytes_of(message->msg_iov, (int)message->msg_iovlen),
       WEFT_REAL(sendmsg)(fd, message, flags));
}

/* Of several messages, the bytes asked for are those of the first, and the result how many came. */
WEFT_WRAP int recvmmsg(int fd, struct mmsghdr *messages, unsigned n_messages, int flags,
                       struct timespec *timeout)
{
    const uint64_t n_bytes =
        n_messages ? bytes_of(messages->msg_hdr.msg_iov, (int)messages->msg_hdr.msg_iovlen) : 0;
    IO(int, WEFT_IO_RECEIVE, fd, n_bytes,
       WEFT_REAL(recvmmsg)(fd, messages, n_messages, flags, timeout));
}

WEFT_WRAP int sendmmsg(int fd, struct mmsghdr *messages, unsigned n_messages, int flags)
{
    const uint64_t n_bytes =
        n_messages ? bytes_of(messages->msg_hdr.msg_iov, (int)messages->msg_hdr.msg_iovlen) : 0;
    IO(int, WEFT_IO_SEND, fd, n_bytes, WEFT_REAL(sendmmsg)(fd, messages, n_messages, flags));
}

/* A reader of the other end gets the end of file. */
WEFT_WRAP int shutdown(int fd, int how)
{
    IO(int, WEFT_IO_SHUTDOWN, fd, (uint64_t)how, WEFT_REAL(shutdown)(fd, how));
}

WEFT_WRAP int close(int fd)
{
    weft_descriptor_closes(fd);
    IO(int, WEFT_IO_CLOSE, fd, 0, WEFT_REAL(close)(fd));
}
