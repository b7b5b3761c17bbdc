/* SPDX-License-Identifier: MIT
 *
 * Read by hand, as the kernel does: the head of the file and its program headers. Every number is
 * compared with the bytes that were read.
 */
#include "record/session/loadable.h"

#include "base/cursor.h"
#include "record/session/tree.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { HEAD_BYTES = 1 << 12, SCRIPTS_MAX = 4 };

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

/* Does its start change what a process of the user may do? Root gains nothing from a file of root;
 * one that is not known gains what the file gives. */
static bool is_privileged(int fd, struct proc_user by)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return false;
    const bool is_user = (about.st_mode & S_ISUID) && about.st_uid != by.user;
    const bool is_group =
        (about.st_mode & S_ISGID) && (about.st_mode & S_IXGRP) && about.st_gid != by.group;
    return is_user || is_group ||
           (by.user != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

/* The program header of the interpreter; false: there is none. */
static bool find_interpreter(const uint8_t *head, size_t n_head, Elf64_Phdr *found)
{
    Elf64_Ehdr file;
    memcpy(&file, head, sizeof file);
    for (size_t k = 0; k < file.e_phnum; k++) {
        if (file.e_phentsize != sizeof *found || file.e_phoff > n_head ||
            (k + 1) * sizeof *found > n_head - file.e_phoff)
            return false;
        memcpy(found, head + file.e_phoff + k * sizeof *found, sizeof *found);
        if (found->p_type == PT_INTERP)
            return true;
    }
    return false;
}

static enum weft_ledger_why why_not_elf(int fd, const uint8_t *head, size_t n_head,
                                        struct proc_user by)
{
    Elf64_Phdr place;
    char name[PATH_MAX] = "";
    if (n_head < sizeof(Elf64_Ehdr) || head[EI_CLASS] != ELFCLASS64 ||
        (OWN_MACHINE != EM_NONE &&
         weft_load_u16(head + offsetof(Elf64_Ehdr, e_machine)) != OWN_MACHINE))
        return WEFT_LEDGER_OTHER_ABI;
    if (!find_interpreter(head, n_head, &place))
        return WEFT_LEDGER_STATIC;
    const size_t n_name = place.p_filesz < sizeof name ? place.p_filesz : sizeof name - 1;
    if (pread(fd, name, n_name, (off_t)place.p_offset) == (ssize_t)n_name && strstr(name, "musl"))
        return WEFT_LEDGER_OTHER_LIBC;
    return is_privileged(fd, by) ? WEFT_LEDGER_PRIVILEGED : WEFT_LEDGER_NO_REASON;
}

/* It can be run as a program, and loads what LD_PRELOAD says. */
static bool is_dynamic_linker(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "ld-linux", 8) == 0;
}

/* "#! /bin/sh -e": the path; false: it is no script. */
static bool take_script(const uint8_t *head, size_t n_head, char path[PATH_MAX])
{
    size_t at = 2, n = 0;
    if (n_head < 3 || head[0] != '#' || head[1] != '!')
        return false;
    while (at < n_head && (head[at] == ' ' || head[at] == '\t'))
        at++;
    while (at < n_head && n < PATH_MAX - 1 && !strchr(" \t\n", head[at]))
        path[n++] = (char)head[at++];
    path[n] = '\0';
    return n > 0;
}

/* Paths come from recorded programs: only a regular file is opened, as opening a device may have
 * effects. */
static int open_program(const char *path)
{
    struct stat about;
    char link[64];
    const int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0)
        return -1;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", place);
    const int fd = fstat(place, &about) == 0 && S_ISREG(about.st_mode)
                       ? open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
                       : -1;
    (void)close(place);
    return fd;
}

enum weft_ledger_why loadable_why_not(const char *path, struct proc_user by)
{
    uint8_t head[HEAD_BYTES];
    char script[PATH_MAX];
    for (int k = 0; k < SCRIPTS_MAX; k++) {
        const int fd = open_program(path);
        const ssize_t n_read = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
        const size_t n_head = n_read > 0 ? (size_t)n_read : 0;
        enum weft_ledger_why why = WEFT_LEDGER_NO_REASON;
        if (!is_dynamic_linker(path) && n_head > EI_CLASS && memcmp(head, ELFMAG, SELFMAG) == 0)
            why = why_not_elf(fd, head, n_head, by);
        const bool is_script = take_script(head, n_head, script);
        if (fd >= 0)
            (void)close(fd);
        if (!is_script)
            return why;
        path = script;
    }
    return WEFT_LEDGER_NO_REASON;
}

/* ---- what is said -----------------------------------------------------------------------------
 */

/* As the predicate of a sentence; NULL: nothing is to be said. */
static const char *predicate(enum weft_ledger_why why)
{
    switch (why) {
    case WEFT_LEDGER_OTHER_ABI:
        return "is a program of another architecture";
    case WEFT_LEDGER_STATIC:
        return "is statically linked";
    case WEFT_LEDGER_OTHER_LIBC:
        return "uses another C library (musl)";
    case WEFT_LEDGER_PRIVILEGED:
        return "gains privileges when it starts (setuid, setgid or capabilities)";
    default:
        return NULL;
    }
}

static void look_at(struct loadable *loadable, const char *path, struct proc_user by)
{
    struct weft_err err = { 0 };
    char text[PATH_MAX + 256];
    uint32_t id;
    if (!loadable->seen && !(loadable->seen = weft_strtab_new()))
        return;
    const uint32_t n_before = weft_strtab_count(loadable->seen);
    const enum weft_code code = weft_strtab_intern(loadable->seen, weft_str_of(path), &id, &err);
    const char *why =
        code == WEFT_OK && id == n_before ? predicate(loadable_why_not(path, by)) : NULL;
    if (!why || !loadable->say)
        return;
    (void)snprintf(text, sizeof text, "%s %s: its functions, locks and markers are not recorded%s",
                   path, why, loadable->has_kernel ? ", only what the kernel shows of it" : "");
    loadable->say(loadable->context, text);
}

void loadable_look_at_command(struct loadable *loadable, const char *name)
{
    char path[PATH_MAX];
    if (loadable->is_on && proc_find_program(name, path))
        look_at(loadable, path, (struct proc_user){ getuid(), getgid() });
}

void loadable_look_at_process(struct loadable *loadable, uint32_t pid)
{
    char path[PATH_MAX];
    if (loadable->is_on && proc_link(pid, "exe", path, sizeof path))
        look_at(loadable, path, proc_user(pid, &loadable->room));
}

void loadable_look_at_starts(struct loadable *loadable, struct programs *programs)
{
    struct tree *tree = NULL;
    for (size_t k = 0; k < programs->files.n; k++) {
        struct ring_file *file = &programs->files.items[k];
        if (!file->starts_program || (!tree && !(tree = malloc(sizeof *tree))))
            continue;
        file->starts_program = false;
        loadable_look_at_process(loadable, file->pid);
        tree_children(file->pid, tree, &programs->room);
        for (size_t n = 0; n < tree->n; n++)
            loadable_look_at_process(loadable, tree->pids[n]);
    }
    free(tree);
}

void loadable_close(struct loadable *loadable)
{
    weft_strtab_free(loadable->seen);
    loadable->seen = NULL;
    proc_text_fini(&loadable->room);
}
