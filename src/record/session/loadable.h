/* SPDX-License-Identifier: MIT
 *
 * Can the recorder's libraries be loaded into a program? Not into one that is static, of another
 * machine or C library, or that gains privileges.
 */
#ifndef WEFT_RECORD_SESSION_LOADABLE_H
#define WEFT_RECORD_SESSION_LOADABLE_H

#include "record/session/programs.h"

#include <stdbool.h>
#include <stdint.h>

/* Why not, where `by` starts it; NO_REASON: they can, or the file cannot be read. Of a script, its
 * interpreter is looked at. */
enum weft_ledger_why loadable_why_not(const char *path, struct proc_user by);

/* Says so of programs that are recorded, once of each. */
struct loadable {
    bool is_on; /* there are libraries */
    bool has_kernel;
    struct weft_strtab *seen;
    struct proc_text room;
    void (*say)(void *context, const char *text); /* NULL: nothing is said */
    void *context;
};

/* A command, as execvp finds it; the program that a process runs; those of processes, and of their
 * children of vfork, that have started a program since this was last called. */
void loadable_look_at_command(struct loadable *loadable, const char *name);
void loadable_look_at_process(struct loadable *loadable, uint32_t pid);
void loadable_look_at_starts(struct loadable *loadable, struct programs *programs);
void loadable_close(struct loadable *loadable);

#endif
