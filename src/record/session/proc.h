/* SPDX-License-Identifier: MIT
 *
 * What /proc contains about a process.
 */
#ifndef WEFT_RECORD_SESSION_PROC_H
#define WEFT_RECORD_SESSION_PROC_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text of a file, grown as needed; all zero is none. */
struct proc_text {
    char *items; /* followed by a NUL */
    size_t n, cap;
};

void proc_text_fini(struct proc_text *text);

/* Reads /proc/PID/NAME whole; false: the process is gone, or it may not be read. */
bool proc_read(uint32_t pid, const char *name, struct proc_text *text);

/* The same of a file in an open folder. */
bool proc_read_in(int folder_fd, const char *name, struct proc_text *text);

/* Where the link /proc/PID/NAME leads; false likewise. */
bool proc_link(uint32_t pid, const char *name, char *path, size_t n_path);

/* Where execvp would find a program, into PATH_MAX bytes; false: nowhere. */
bool proc_find_program(const char *name, char *path);

/* Does it run still? One that was not waited for yet does not. */
bool proc_is_alive(uint32_t pid, struct proc_text *room);

/* "Parent: 0" if it is not known. */
uint32_t proc_parent(uint32_t pid, struct proc_text *room);

/* Its real user and group; UINT32_MAX: it is gone. */
struct proc_user {
    uint32_t user, group;
};
struct proc_user proc_user(uint32_t pid, struct proc_text *room);

/* When it started, in the kernel's unit since the boot; 0: not known. */
uint64_t proc_start(uint32_t pid, struct proc_text *room);

/* The next mapping of a text of maps; false: there is none. */
struct proc_map {
    uint64_t begin, end, file_off;
    char rights[8];       /* "r-xp" */
    struct weft_str path; /* or "[stack]"; empty: none */
};
bool proc_next_mapping(struct weft_str *text, struct proc_map *map);
/* The next one of a file that can be executed. */
bool proc_next_map(struct weft_str *text, struct proc_map *map);

#endif
