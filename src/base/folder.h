/* SPDX-License-Identifier: MIT
 *
 * The files of a directory that is one trace: mapped, in order of name.
 */
#ifndef WEFT_BASE_FOLDER_H
#define WEFT_BASE_FOLDER_H

#include "base/error.h"
#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More files than this are no trace. Each is a mapping, of which the kernel allows about 65,000. */
enum { WEFT_FOLDER_MOST_FILES = 60000 };

struct weft_folder_file {
    char *name; /* within the directory */
    char *path; /* for errors */
    struct weft_mapped file;
};

struct weft_folder {
    struct weft_folder_file *files; /* ascending by name, bytewise */
    size_t n_files;
    uint64_t n_bytes; /* of all files */
};

/* True if a file of this name is wanted. */
typedef bool (*weft_folder_want)(const char *name);

/* Sum of the sizes of the regular files in it; 0 when it cannot be read. */
uint64_t weft_folder_bytes(const char *path);

/* Maps the regular files of the directory (not of those below) that are wanted; the others stay
 * closed. WEFT_E_IO, WEFT_E_LIMIT. The caller closes, also after a failure. */
WEFT_CHECKED enum weft_code weft_folder_open(const char *path, weft_folder_want want,
                                             struct weft_folder *folder, struct weft_err *err);
void weft_folder_close(struct weft_folder *folder);

/* Reads at most `n_most` bytes at the start of file `name` in directory `path`; the number read, 0
 * when there is no such regular file. For sniffers: it has no error. */
size_t weft_folder_peek(const char *path, const char *name, void *bytes, size_t n_most);

#endif
