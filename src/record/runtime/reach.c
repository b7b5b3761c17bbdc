/* SPDX-License-Identifier: MIT
 *
 * The folder comes first: it takes no round trip. A process that has another user, root, mount
 * namespace or limit than the recorder asks it by an abstract socket, which has no path. All system
 * calls go past the wrappers of the library; none waits for longer than ASK_MS.
 */
#include "record/runtime/reach.h"

#include "record/runtime/journal.h"
#include "record/runtime/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    PATH_BYTES = 1024,
    N_SLOTS = 1 << 16,
    N_SLOTS_ENOUGH = 1 << 10, /* before rings are made smaller, there are no more than these */
    N_SLOTS_MIN = 8,
    N_SLOTS_MAX = 1 << 16,
    N_WORDS = 1 << 19, /* of a ring, of 8 bytes, as settings have them */
    N_WORDS_MIN = 1 << 12,
    N_WORDS_MAX = 1 << 26,
    UNIT_BYTES = sizeof(uint32_t),
    ASK_MS = 1000, /* a recorder that is alive answers in microseconds */
    NAME_BYTES_MAX = 64,
};

/* ---- settings */

static struct settings {
    bool are_read;
    bool is_filtered; /* by seccomp, when the program started */
    uint64_t n_slots, n_words;
    uint64_t only;       /* process id; 0: all */
    size_t folder_bytes; /* 0: no folder */
    char folder[PATH_BYTES];
    size_t name_bytes; /* of the recorder's socket; 0: it has none */
    char name[NAME_BYTES_MAX];
    char token[WEFT_ASK_TOKEN_BYTES];
} settings;

/* Of the process that began last: the parent's until a child begins. */
static char path[PATH_BYTES + 64];
static bool has_path; /* it made its file itself */

uint64_t weft_reach_setting(const char *name, uint64_t otherwise)
{
    const char *text = secure_getenv(name);
    uint64_t value = 0;
    if (!text || !*text)
        return otherwise;
    for (; *text >= '0' && *text <= '9' && value < UINT32_MAX; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return *text ? otherwise : value;
}

static uint64_t power_within(uint64_t value, uint64_t least, uint64_t most)
{
    uint64_t power = least;
    while (power < value && power < most)
        power *= 2;
    return power;
}

/* "NAME:TOKEN" */
static void take_ask(const char *text)
{
    const char *colon = text ? strchr(text, ':') : NULL;
    if (!colon || colon == text || colon - text > NAME_BYTES_MAX ||
        strlen(colon + 1) != sizeof settings.token)
        return;
    settings.name_bytes = (size_t)(colon - text);
    memcpy(settings.name, text, settings.name_bytes);
    memcpy(settings.token, colon + 1, sizeof settings.token);
}

/* Once: a program may clear its environment later. */
static void read_settings(void)
{
    const char *text = secure_getenv(WEFT_RING_ENV);
    const size_t n_bytes = text ? strlen(text) : 0;
    if (settings.are_read || n_bytes == 0 || n_bytes >= sizeof settings.folder || *text != '/')
        return;
    memcpy(settings.folder, text, n_bytes + 1);
    settings.folder_bytes = n_bytes;
    take_ask(secure_getenv(WEFT_RING_ASK_ENV));
    settings.only = weft_reach_setting("WEFT_RECORD_ONLY", 0);
    settings.n_slots =
        power_within(weft_reach_setting("WEFT_RECORD_SLOTS", N_SLOTS), N_SLOTS_MIN, N_SLOTS_MAX);
    settings.n_words =
        power_within(weft_reach_setting("WEFT_RECORD_WORDS", N_WORDS), N_WORDS_MIN, N_WORDS_MAX);
    settings.is_filtered = syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
    settings.are_read = true;
}

const char *weft_reach_folder(void)
{
    read_settings();
    return settings.folder_bytes ? settings.folder : NULL;
}

uint64_t weft_reach_slots(void)
{
    read_settings();
    return settings.n_slots;
}

/* ---- the recorder's socket */

/* A filter of seccomp that came since the program started may end it at a system call that it did
 * not expect. */
static bool may_ask(void)
{
    static const char name[] = "\nSeccomp:\t";
    enum { NAME_BYTES = sizeof name - 1 };
    char text[512]; /* the stack may be a small one of signals */
    const char *line = NULL;
    size_t n_kept = 0;
    long n_read;
    if (settings.name_bytes == 0)
        return false;
    if (settings.is_filtered)
        return true;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !line &&
           (n_read = syscall(SYS_read, fd, text + n_kept, sizeof text - n_kept)) > 0) {
        const size_t n = n_kept + (size_t)n_read;
        line = n > NAME_BYTES ? memmem(text, n - 1, name, NAME_BYTES) : NULL;
        n_kept = n < NAME_BYTES ? n : NAME_BYTES;
        if (!line)
            memmove(text, text + n - n_kept, n_kept);
    }
    if (fd >= 0)
        (void)syscall(SYS_close, fd);
    return line ? line[NAME_BYTES] == '0' : syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) == 0;
}

/* Ready for `events` within the rest of the time, of which the kernel takes what has passed. */
static bool is_ready(int fd, short events, struct timespec *rest)
{
    struct pollfd poll = { .fd = fd, .events = events };
    long n_ready;
    do
        n_ready = syscall(SYS_ppoll, &poll, 1, rest, NULL, 0);
    while (n_ready < 0 && errno == EINTR);
    return n_ready > 0;
}

/* A socket with an address of its own, to be answered at, from which only the recorder's messages
 * are taken; -1: there is no recorder any more, or it is in another network namespace. */
static int connect_to_recorder(void)
{
    struct sockaddr_un own = { .sun_family = AF_UNIX }, to = own;
    const int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const size_t front = offsetof(struct sockaddr_un, sun_path);
    memcpy(to.sun_path + 1, settings.name, settings.name_bytes);
    if (fd < 0 || (syscall(SYS_bind, fd, &own, front) == 0 &&
                   syscall(SYS_connect, fd, &to, front + 1 + settings.name_bytes) == 0))
        return fd;
    (void)syscall(SYS_close, fd);
    return -1;
}

static bool send_ask(int fd, const struct weft_ask *ask, struct timespec *rest)
{
    while (syscall(SYS_sendto, fd, ask, sizeof *ask, MSG_NOSIGNAL, NULL, 0) != (long)sizeof *ask)
        if ((errno != EAGAIN && errno != EINTR) || !is_ready(fd, POLLOUT, rest))
            return false;
    return true;
}

/* The descriptor of the answer; -1: none came. */
static int take_answer(int fd, struct timespec *rest)
{
    char byte;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec to = { &byte, 1 };
    struct msghdr message = {
        .msg_iov = &to, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    int given = -1;
    long n_read;
    do
        n_read = is_ready(fd, POLLIN, rest)
                     ? syscall(SYS_recvmsg, fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT)
                     : -1;
    while (n_read < 0 && errno == EINTR);
    if (n_read >= 0 && message.msg_controllen >= CMSG_LEN(sizeof given) &&
        control.head.cmsg_level == SOL_SOCKET && control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&given, CMSG_DATA(&control.head), sizeof given);
    return given;
}

/* What the recorder answers; -1: nothing, or no answer is wanted. */
static int ask(struct weft_ask *ask)
{
    struct timespec rest = { .tv_sec = ASK_MS / 1000, .tv_nsec = ASK_MS % 1000 * 1000000 };
    int given = -1;
    const int fd = may_ask() ? connect_to_recorder() : -1;
    if (fd < 0)
        return -1;
    ask->magic = WEFT_ASK_MAGIC;
    ask->library = weft_library;
    ask->pid = (uint32_t)getpid();
    memcpy(ask->token, settings.token, sizeof ask->token);
    if (send_ask(fd, ask, &rest) && ask->kind != WEFT_ASK_NOTHING)
        given = take_answer(fd, &rest);
    (void)syscall(SYS_close, fd);
    return given;
}

void weft_reach_report(enum weft_ring_reach why)
{
    const int kept_errno = errno;
    struct weft_ask report = { .kind = WEFT_ASK_NOTHING, .reach = why };
    if (!weft_journal_put(WEFT_JOURNAL_NO_RING, (uint32_t)getpid(), (uint32_t)getppid(), why))
        (void)ask(&report);
    errno = kept_errno;
}

int weft_reach_filter(const char *filter_path)
{
    struct weft_ask request = { .kind = WEFT_ASK_FILTER };
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, filter_path, O_RDONLY | O_CLOEXEC);
    return fd < 0 && !has_path ? ask(&request) : fd;
}

/* ---- the file of the process */

static char *put_number(char *at, uint64_t number)
{
    char digits[20];
    unsigned n_digits = 0;
    do
        digits[n_digits++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n_digits > 0)
        *at++ = digits[--n_digits];
    return at;
}

static int create_file(void)
{
    for (uint64_t n = 0; n < 1000; n++) { /* more than one: exec keeps the process id */
        char *at = path + settings.folder_bytes;
        memcpy(path, settings.folder, settings.folder_bytes);
        *at++ = '/';
        at = put_number(at, (uint32_t)getpid());
        *at++ = '.';
        at = put_number(at, weft_library);
        *at++ = '.';
        at = put_number(at, n);
        *at = 0;
        const int fd = (int)syscall(SYS_openat, AT_FDCWD, path,
                                    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static enum weft_ring_reach why_not(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
        return WEFT_REACH_DENIED;
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
        return WEFT_REACH_ABSENT;
    case EMFILE:
    case ENFILE:
        return WEFT_REACH_DESCRIPTORS;
    case ENOSPC:
    case ENOMEM:
        return WEFT_REACH_MEMORY;
    default:
        return WEFT_REACH_SYSTEM;
    }
}

static size_t whole_pages(size_t n_bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (n_bytes + page - 1) / page * page;
}

/* Where the parts of a file are that has so many slots and units. */
static void lay_out(struct weft_reach *reach)
{
    const size_t n_functions = weft_library == WEFT_RING_FUNCTIONS ? WEFT_RING_FUNCTIONS_MAX : 0;
    reach->functions_off =
        whole_pages(sizeof(struct weft_ring_file) + reach->n_slots * sizeof(struct weft_ring_slot));
    reach->functions_cap = (uint32_t)n_functions;
    reach->data_off = reach->functions_off + whole_pages(n_functions * sizeof(uint64_t));
    reach->n_bytes = reach->data_off + (size_t)reach->n_slots * reach->n_units * UNIT_BYTES;
}

static bool shrink(struct weft_reach *reach)
{
    if (reach->n_slots > N_SLOTS_ENOUGH)
        reach->n_slots /= 2;
    else if (reach->n_units > N_WORDS_MIN * WEFT_WORD_UNITS)
        reach->n_units /= 2;
    else if (reach->n_slots > N_SLOTS_MIN)
        reach->n_slots /= 2;
    else
        return false;
    lay_out(reach);
    return true;
}

static uint64_t limit_of_files(void)
{
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) == 0 ? most.rlim_cur : RLIM_INFINITY;
}

/* All but the heads cannot be accessed until a thread takes its slot: mlockall would give memory to
 * every page that can be. */
static bool map_parts(int fd, struct weft_reach *reach)
{
    void *map = mmap(NULL, reach->n_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (map == MAP_FAILED)
        return false;
    if (mprotect(map, reach->data_off, PROT_READ | PROT_WRITE) == 0) {
        reach->file = map;
        return true;
    }
    (void)munmap(map, reach->n_bytes);
    return false;
}

bool weft_reach_unlock(const struct weft_ring_file *file, uint32_t place)
{
    const size_t n_bytes = (size_t)file->n_units * UNIT_BYTES;
    char *const units = (char *)(uintptr_t)file + file->data_off + place * n_bytes;
    return mprotect(units, n_bytes, PROT_READ | PROT_WRITE) == 0;
}

/* The largest file that fits below the limits; maps it. One that the recorder made has its size. */
static bool map_file(int fd, bool is_given, struct weft_reach *reach)
{
    const uint64_t limit = limit_of_files(); /* beyond it there is a signal beside the error */
    do {
        if (!is_given &&
            (reach->n_bytes > limit || syscall(SYS_ftruncate, fd, (off_t)reach->n_bytes) != 0))
            continue;
        if (map_parts(fd, reach))
            return true;
    } while (shrink(reach));
    reach->why = WEFT_REACH_MEMORY;
    return false;
}

bool weft_reach_populate(struct weft_ring_file *file, size_t from, size_t n_bytes)
{
    char *const at = (char *)file + from;
    long status;
    for (int i = 0; i < 8; i++) {
        status = syscall(SYS_madvise, at, n_bytes, MADV_POPULATE_WRITE);
        if (status == 0 || (errno != EINTR && errno != EAGAIN))
            break;
    }
    if (status == 0 || errno != EINVAL || !has_path)
        return status == 0;
    /* Before Linux 5.14. The file is opened again: a program may close any descriptor. */
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    status = fallocate(fd, 0, (off_t)from, (off_t)n_bytes);
    (void)syscall(SYS_close, fd);
    return status == 0;
}

/* What is needed from the first record on; further pages as there are more functions and units. */
static bool populate_first(struct weft_reach *reach)
{
    const size_t page = whole_pages(1);
    if (weft_reach_populate(reach->file, 0, page) &&
        (reach->functions_cap == 0 || weft_reach_populate(reach->file, reach->functions_off, page)))
        return true;
    (void)munmap(reach->file, reach->n_bytes);
    reach->file = NULL;
    reach->why = WEFT_REACH_MEMORY;
    return false;
}

static bool take_file(int fd, bool is_given, struct weft_reach *reach)
{
    has_path = !is_given;
    const bool is_done = map_file(fd, is_given, reach) && populate_first(reach);
    if (!is_done && is_given) /* so the recorder sees that it is to be removed */
        (void)syscall(SYS_ftruncate, fd, (off_t)0);
    (void)syscall(SYS_close, fd);
    if (!is_done && !is_given)
        (void)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    return is_done;
}

/* What is mapped now, for a recorder that may come too late to ask. */
static void copy_maps(void)
{
    char copy_path[sizeof path + 8], room[1 << 12];
    const size_t n_path = strlen(path);
    memcpy(copy_path, path, n_path);
    memcpy(copy_path + n_path, ".maps", 6);
    const int from = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    const int to = (int)syscall(SYS_openat, AT_FDCWD, copy_path,
                                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    long n_read = 0;
    while (from >= 0 && to >= 0 && (n_read = syscall(SYS_read, from, room, sizeof room)) > 0)
        if (syscall(SYS_write, to, room, (size_t)n_read) != n_read)
            break;
    if (from >= 0)
        (void)syscall(SYS_close, from);
    if (to >= 0)
        (void)syscall(SYS_close, to);
}

static bool make_in_folder(struct weft_reach *reach, bool is_new)
{
    const int fd = create_file();
    reach->why = fd < 0 ? why_not(errno) : WEFT_REACH_FOLDER;
    if (fd < 0 || !take_file(fd, false, reach))
        return false;
    if (is_new)
        copy_maps();
    return true;
}

static bool ask_for_file(struct weft_reach *reach, bool is_new)
{
    struct weft_ask request = {
        .kind = WEFT_ASK_RING, .reach = reach->why, .n_bytes = reach->n_bytes, .is_new = is_new
    };
    const int fd = ask(&request);
    return fd >= 0 && take_file(fd, true, reach);
}

/* The size that the settings want. */
static struct weft_reach wanted(void)
{
    struct weft_reach reach = { .n_slots = (uint32_t)settings.n_slots,
                                .n_units = (uint32_t)(settings.n_words * WEFT_WORD_UNITS) };
    lay_out(&reach);
    return reach;
}

bool weft_reach_open(struct weft_reach *reach, bool is_new)
{
    if (!weft_reach_folder() || (settings.only && settings.only != (uint64_t)getpid()))
        return false;
    *reach = wanted();
    if (limit_of_files() < reach->n_bytes) {
        reach->why = WEFT_REACH_LIMIT;
        if (ask_for_file(reach, is_new))
            return true;
        *reach = wanted();
    }
    if (make_in_folder(reach, is_new))
        return true;
    const enum weft_ring_reach why = reach->why;
    if (why == WEFT_REACH_DENIED || why == WEFT_REACH_ABSENT) {
        *reach = wanted();
        reach->why = why;
        if (ask_for_file(reach, is_new))
            return true;
    }
    weft_reach_report(why);
    return false;
}
