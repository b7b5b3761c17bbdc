/* SPDX-License-Identifier: MIT
 *
 * See journal.h. The mapping is shared and is not wiped by fork: a child that can open nothing any
 * more still writes to it.
 */
#include "record/runtime/journal.h"

#include "record/runtime/reach.h"
#include "record/runtime/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 1100 };

static struct weft_journal *journal;
/* The inode of the pid namespace | the process that it was looked up by << 32. A child of vfork
 * shares it with its parent. */
static _Atomic uint64_t known_namespace;

/* The recorder has given it memory as a whole: writing is never a SIGBUS. */
static struct weft_journal *map_journal(const char *folder)
{
    char path[PATH_BYTES];
    struct stat about;
    const size_t n_folder = strlen(folder);
    if (n_folder + sizeof "/" WEFT_JOURNAL_NAME > sizeof path)
        return NULL;
    memcpy(path, folder, n_folder);
    memcpy(path + n_folder, "/" WEFT_JOURNAL_NAME, sizeof "/" WEFT_JOURNAL_NAME);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    struct weft_journal *made = MAP_FAILED;
    if (fstat(fd, &about) == 0 && about.st_size >= (off_t)sizeof *made)
        made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)syscall(SYS_close, fd);
    if (made == MAP_FAILED)
        return NULL;
    (void)madvise(made, sizeof *made, MADV_DONTDUMP);
    if (atomic_load(&made->magic) == WEFT_JOURNAL_MAGIC)
        return made;
    (void)munmap(made, sizeof *made);
    return NULL;
}

/* As it was, of a process that has no /proc (any more). */
static uint32_t own_namespace(void)
{
    const uint32_t pid = (uint32_t)getpid();
    const int kept_errno = errno;
    uint64_t known = atomic_load(&known_namespace);
    struct stat about;
    if (known >> 32 == pid)
        return (uint32_t)known;
    if (stat("/proc/self/ns/pid", &about) == 0)
        known = (uint32_t)about.st_ino;
    known = (uint32_t)known | (uint64_t)pid << 32;
    atomic_store(&known_namespace, known);
    errno = kept_errno;
    return (uint32_t)known;
}

void weft_journal_forked(void)
{
    atomic_store(&known_namespace, (uint32_t)atomic_load(&known_namespace));
}

void weft_journal_open(void)
{
    const int kept_errno = errno;
    const char *folder = weft_reach_folder();
    if (folder && !journal)
        journal = map_journal(folder);
    if (journal)
        (void)own_namespace();
    errno = kept_errno;
}

static bool put(enum weft_journal_kind kind, uint32_t pid, uint32_t parent, uint32_t value,
                const char *path, uint64_t ticks)
{
    if (!journal)
        return false;
    if (atomic_load(&journal->head) - atomic_load(&journal->tail) >= WEFT_JOURNAL_ENTRIES) {
        atomic_fetch_add(&journal->lost, 1);
        return false;
    }
    const uint32_t pid_namespace = own_namespace();
    const uint64_t number = atomic_fetch_add(&journal->head, 1);
    struct weft_journal_entry *entry = &journal->entries[number % WEFT_JOURNAL_ENTRIES];
    const size_t n_path = strlen(path);
    entry->ticks = ticks;
    entry->pid = pid;
    entry->parent = parent;
    entry->kind = kind;
    entry->value = value;
    entry->pid_namespace = pid_namespace;
    entry->path[0] = 0;
    if (n_path < sizeof entry->path)
        memcpy(entry->path, path, n_path + 1);
    atomic_store_explicit(&entry->number, number + 1, memory_order_release);
    return true;
}

bool weft_journal_put(enum weft_journal_kind kind, uint32_t pid, uint32_t parent, uint32_t value)
{
    return put(kind, pid, parent, value, "", weft_ring_ticks());
}

static bool put_exec(uint32_t pid, uint32_t parent, const char *path, uint64_t ticks)
{
    return put(WEFT_JOURNAL_EXEC, pid, parent, 0, path && path[0] == '/' ? path : "", ticks);
}

bool weft_journal_exec(uint32_t pid, uint32_t parent, const char *path)
{
    return put_exec(pid, parent, path, weft_ring_ticks());
}

void weft_journal_spawned(uint32_t pid, uint32_t parent, const char *path, uint64_t ticks)
{
    (void)put(WEFT_JOURNAL_FORK, pid, parent, 0, "", ticks);
    (void)put_exec(pid, parent, path, ticks);
}
