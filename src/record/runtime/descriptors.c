/* SPDX-License-Identifier: MIT
 *
 * Pairs of descriptors: which one becomes ready when another is written to, so that the record of a
 * write shows which wait it ends. Known are pipes, socket pairs, event counters and connections
 * whose two ends are in this process. A child after fork has the pairs of its parent; a program
 * after exec begins with nothing.
 */
#include "record/runtime/real.h"

#include <netinet/in.h>
#include <string.h>

_Atomic int32_t weft_descriptor_peers[WEFT_DESCRIPTORS];

static bool is_followed(int fd)
{
    return fd >= 0 && fd < WEFT_DESCRIPTORS;
}

/* Writing to `from` makes `to` ready. */
static void pair(int from, int to, bool is_both_ways)
{
    if (!is_followed(from) || !is_followed(to))
        return;
    atomic_store(&weft_descriptor_peers[from], to + 1);
    if (from != to)
        atomic_store(&weft_descriptor_peers[to], is_both_ways ? from + 1 : -(from + 1));
}

/* Forgets it, and the other end's word for it. */
void weft_descriptor_closes(int fd)
{
    if (!is_followed(fd) ||
        atomic_load_explicit(&weft_descriptor_peers[fd], memory_order_relaxed) == 0)
        return;
    const int32_t peer = atomic_exchange(&weft_descriptor_peers[fd], 0);
    const int other = (peer < 0 ? -peer : peer) - 1;
    if (peer == 0)
        return;
    int32_t told = atomic_load(&weft_descriptor_peers[other]);
    if (told == fd + 1 || told == -(fd + 1))
        (void)atomic_compare_exchange_strong(&weft_descriptor_peers[other], &told, 0);
}

WEFT_WRAP int dup2(int fd, int as)
{
    if (fd != as)
        weft_descriptor_closes(as);
    return WEFT_REAL(dup2)(fd, as);
}

WEFT_WRAP int dup3(int fd, int as, int flags)
{
    if (fd != as)
        weft_descriptor_closes(as);
    return WEFT_REAL(dup3)(fd, as, flags);
}

WEFT_WRAP int pipe(int fds[2])
{
    const int result = WEFT_REAL(pipe)(fds);
    if (result == 0 && weft_operations_are_on())
        pair(fds[1], fds[0], false);
    return result;
}

WEFT_WRAP int pipe2(int fds[2], int flags)
{
    const int result = WEFT_REAL(pipe2)(fds, flags);
    if (result == 0 && weft_operations_are_on())
        pair(fds[1], fds[0], false);
    return result;
}

WEFT_WRAP int socketpair(int domain, int type, int protocol, int fds[2])
{
    const int result = WEFT_REAL(socketpair)(domain, type, protocol, fds);
    if (result == 0 && weft_operations_are_on())
        pair(fds[0], fds[1], true);
    return result;
}

WEFT_WRAP int eventfd(unsigned count, int flags)
{
    const int fd = WEFT_REAL(eventfd)(count, flags);
    if (fd >= 0 && weft_operations_are_on())
        pair(fd, fd, true);
    return fd;
}

/* ---- connections ------------------------------------------------------------------------------
 *
 * Each end puts itself down under its two addresses, and looks for the end of the same two in the
 * other order. An entry is one word: half a hash, and the descriptor + 1. One that meets another
 * takes its place; a pair that is lost so has no edges. */

enum { MEETING_BITS = 10, END_BYTES = 18 };

static _Atomic uint64_t meetings[1 << MEETING_BITS];

/* The address as one of IPv6, then the port. False: of another family. */
static bool end_of(const struct sockaddr *address, socklen_t n_bytes, uint8_t end[END_BYTES])
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    if (n_bytes >= sizeof(struct sockaddr_in) && address->sa_family == AF_INET) {
        struct sockaddr_in ip4;
        memcpy(&ip4, address, sizeof ip4);
        memcpy(end, mapped, sizeof mapped);
        memcpy(end + 12, &ip4.sin_addr, 4);
        memcpy(end + 16, &ip4.sin_port, 2);
        return true;
    }
    if (n_bytes < sizeof(struct sockaddr_in6) || address->sa_family != AF_INET6)
        return false;
    struct sockaddr_in6 ip6;
    memcpy(&ip6, address, sizeof ip6);
    memcpy(end, &ip6.sin6_addr, 16);
    memcpy(end + 16, &ip6.sin6_port, 2);
    return true;
}

/* FNV-1a, mixed. */
static uint64_t hash_of(const uint8_t *a, const uint8_t *b)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < 2 * END_BYTES; i++)
        hash = (hash ^ (i < END_BYTES ? a[i] : b[i - END_BYTES])) * UINT64_C(0x100000001b3);
    return (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void meet(int fd, const uint8_t *own, const uint8_t *peer)
{
    const uint64_t here = hash_of(own, peer), there = hash_of(peer, own);
    _Atomic uint64_t *const mine = &meetings[here >> (64 - MEETING_BITS)];
    _Atomic uint64_t *const its = &meetings[there >> (64 - MEETING_BITS)];
    const uint64_t entry = here << 32 | (uint32_t)(fd + 1);
    weft_descriptor_closes(fd);
    atomic_store(mine, entry);
    uint64_t found = atomic_load(its);
    if (found >> 32 != (there & UINT32_MAX) || (uint32_t)found == 0)
        return;
    pair(fd, (int)(uint32_t)found - 1, true);
    (void)atomic_compare_exchange_strong(its, &found, 0);
    found = entry;
    (void)atomic_compare_exchange_strong(mine, &found, 0);
}

static bool own_end(int fd, uint8_t end[END_BYTES])
{
    struct sockaddr_storage own;
    socklen_t n_bytes = sizeof own;
    return getsockname(fd, (struct sockaddr *)&own, &n_bytes) == 0 &&
           end_of((struct sockaddr *)&own, n_bytes, end);
}

void weft_descriptor_accepted(int fd)
{
    const int kept_errno = errno;
    struct sockaddr_storage other;
    socklen_t n_bytes = sizeof other;
    uint8_t own[END_BYTES], peer[END_BYTES];
    if (is_followed(fd) && own_end(fd, own) &&
        getpeername(fd, (struct sockaddr *)&other, &n_bytes) == 0 &&
        end_of((struct sockaddr *)&other, n_bytes, peer))
        meet(fd, own, peer);
    errno = kept_errno;
}

void weft_descriptor_connects(int fd, const struct sockaddr *to, socklen_t to_bytes)
{
    const int kept_errno = errno;
    uint8_t own[END_BYTES], peer[END_BYTES];
    if (is_followed(fd) && to && to_bytes >= sizeof to->sa_family && end_of(to, to_bytes, peer) &&
        own_end(fd, own))
        meet(fd, own, peer);
    errno = kept_errno;
}
