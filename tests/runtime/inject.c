/* SPDX-License-Identifier: MIT
 *
 * System calls of the recorder's libraries inside a program that fail on demand. Loaded before them
 * (LD_PRELOAD), it stands in place of the C library's mmap and syscall, by which these libraries
 * ask the kernel for everything; calls of the program and of other libraries pass.
 *
 *     WEFT_INJECT=KIND:N         the N-th call of that kind (from 1) of each process fails, once
 *     WEFT_INJECT=KIND:N+        that one and all later ones
 *     WEFT_INJECT_COUNTS=FILE    each process adds how many calls of each kind it made, at its end
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_RANGES = 16 };

/* The last one is any other. */
static const struct {
    const char *name;
    long number;
    int reason;
} kinds[] = {
    { "map", SYS_mmap, ENOMEM },        { "open", SYS_openat, EMFILE },
    { "socket", SYS_socket, EMFILE },   { "bind", SYS_bind, EADDRINUSE },
    { "connect", SYS_connect, EAGAIN }, { "send", SYS_sendto, EPIPE },
    { "receive", SYS_recvmsg, EAGAIN }, { "truncate", SYS_ftruncate, ENOSPC },
    { "read", SYS_read, EIO },          { "write", SYS_write, ENOSPC },
    { "poll", SYS_ppoll, ENOMEM },      { "prctl", SYS_prctl, EPERM },
    { "unlink", SYS_unlinkat, EACCES }, { "advise", SYS_madvise, EINVAL },
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static struct {
    uintptr_t from, to;
} ranges[MOST_RANGES];
static size_t n_ranges;
static atomic_int is_ready; /* 0: not yet, 1: it is being made ready, 2: it is */
static long (*real_syscall)(long, ...);
static atomic_ulong n_calls[N_KINDS];
static size_t wanted_kind = N_KINDS;
static unsigned long wanted_call;
static bool fails_on;

static int see_library(struct dl_phdr_info *library, size_t n_bytes, void *context)
{
    (void)n_bytes;
    (void)context;
    if (!strstr(library->dlpi_name, "libweft-"))
        return 0;
    for (int k = 0; k < library->dlpi_phnum && n_ranges < MOST_RANGES; k++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[k];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        ranges[n_ranges].from = library->dlpi_addr + part->p_vaddr;
        ranges[n_ranges].to = ranges[n_ranges].from + part->p_memsz;
        n_ranges++;
    }
    return 0;
}

static void take_setting(void)
{
    const char *text = getenv("WEFT_INJECT");
    const char *colon = text ? strchr(text, ':') : NULL;
    char *end = NULL;
    for (size_t k = 0; colon && k < N_KINDS; k++)
        if (strlen(kinds[k].name) == (size_t)(colon - text) &&
            memcmp(kinds[k].name, text, (size_t)(colon - text)) == 0)
            wanted_kind = k;
    if (!colon)
        return;
    wanted_call = strtoul(colon + 1, &end, 10);
    fails_on = *end == '+';
}

/* False on the thread that makes it ready, whose own calls pass. */
static bool make_ready(void)
{
    int state = 0;
    if (atomic_load(&is_ready) == 2)
        return true;
    if (!atomic_compare_exchange_strong(&is_ready, &state, 1))
        return state == 2;
    *(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
    (void)dl_iterate_phdr(see_library, NULL);
    take_setting();
    atomic_store(&is_ready, 2);
    return true;
}

static bool is_of_recorder(const void *caller)
{
    for (size_t k = 0; k < n_ranges; k++)
        if ((uintptr_t)caller >= ranges[k].from && (uintptr_t)caller < ranges[k].to)
            return true;
    return false;
}

/* Counts a call; true, and errno: this one is to fail. */
static bool fails(long number, const void *caller)
{
    if (!make_ready() || !is_of_recorder(caller))
        return false;
    for (size_t k = 0; k < N_KINDS; k++) {
        if (kinds[k].number != number)
            continue;
        const unsigned long n = atomic_fetch_add(&n_calls[k], 1) + 1;
        if (k != wanted_kind || n < wanted_call || (n > wanted_call && !fails_on))
            return false;
        errno = kinds[k].reason;
        return true;
    }
    return false;
}

long syscall(long number, ...)
{
    va_list list;
    long a[6];
    va_start(list, number);
    for (size_t k = 0; k < 6; k++)
        a[k] = va_arg(list, long);
    va_end(list);
    if (fails(number, __builtin_return_address(0)))
        return -1;
    return real_syscall ? real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5])
                        : (errno = ENOSYS, -1);
}

void *mmap(void *at, size_t n_bytes, int rights, int flags, int fd, off_t from)
{
    if (fails(SYS_mmap, __builtin_return_address(0)))
        return MAP_FAILED;
    return (void *)(real_syscall ? real_syscall(SYS_mmap, at, n_bytes, rights, flags, fd, from)
                                 : -1);
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("WEFT_INJECT_COUNTS");
    char text[1024];
    int n_text = 0;
    if (!path || !make_ready())
        return;
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (size_t k = 0; k < N_KINDS; k++)
        n_text += snprintf(text + n_text, sizeof text - (size_t)n_text, "%s %lu\n", kinds[k].name,
                           atomic_load(&n_calls[k]));
    if (fd < 0 || write(fd, text, (size_t)n_text) != n_text)
        return;
    (void)close(fd);
}
