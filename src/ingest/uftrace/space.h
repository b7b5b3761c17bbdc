/* SPDX-License-Identifier: MIT
 *
 * Address spaces: which module lies where in which session, and so which function an address is.
 *
 * A task's lifetime is divided into epochs, in which its mappings do not change: an exec begins a
 * new session, a dlopen() adds a library.
 */
#ifndef WEFT_INGEST_UFTRACE_SPACE_H
#define WEFT_INGEST_UFTRACE_SPACE_H

#include "base/folder.h"
#include "base/pool.h"
#include "ingest/uftrace/symbols.h"
#include "ingest/uftrace/tasks.h"

/* Memory of one session: "start-end prot offset dev inode path build-id:ID". */
struct weft_uft_mapping {
    uint64_t begin, end;
    size_t module; /* SIZE_MAX: a file without symbols */
    struct weft_str path;
};

struct weft_uft_memory {
    struct {
        struct weft_uft_mapping *items; /* ascending by begin */
        size_t n, cap;
    } maps;
};

struct weft_uft_space {
    const struct weft_uft_tasks *tasks;
    struct weft_uft_module *modules;
    const struct weft_folder_file **sym_files; /* of each module */
    const struct weft_folder_file **dbg_files; /* or NULL */
    size_t n_modules;
    struct weft_uft_memory *memories; /* of each session */
    bool is_relative;                 /* symbols count from the module's begin */
};

/* The epochs of one task. */
struct weft_uft_epochs {
    struct {
        uint64_t *items; /* times at which one begins, ascending; the first begins at 0 */
        size_t n, cap;
    } begins;
    size_t *sessions; /* of each epoch, or WEFT_UFT_NO_SESSION */
};

enum { WEFT_UFT_MOST_EPOCHS = 65535 };

/* Where an address belongs. */
struct weft_uft_place {
    size_t module;   /* SIZE_MAX: unknown */
    uint32_t symbol; /* WEFT_UFT_NO_SYMBOL: unknown */
};

/* Reads maps and symbols of the directory, on the run's pool. The caller frees, also after a
 * failure; the space refers to folder and tasks. */
WEFT_CHECKED enum weft_code weft_uft_space_open(const struct weft_folder *folder,
                                                const struct weft_uft_tasks *tasks,
                                                bool is_relative, const struct weft_run *run,
                                                struct weft_uft_space *space, struct weft_err *err);
void weft_uft_space_fini(struct weft_uft_space *space);

WEFT_CHECKED enum weft_code weft_uft_epochs_find(const struct weft_uft_space *space, uint64_t tid,
                                                 struct weft_uft_epochs *epochs,
                                                 struct weft_err *err);
void weft_uft_epochs_fini(struct weft_uft_epochs *epochs);

/* The epoch of a time. O(log n). */
size_t weft_uft_epoch_at(const struct weft_uft_epochs *epochs, uint64_t time_ns);

/* Resolves an address in an epoch. O(dlopens + log n). */
struct weft_uft_place weft_uft_place_of(const struct weft_uft_space *space,
                                        const struct weft_uft_epochs *epochs, size_t epoch,
                                        uint64_t address);

#endif
