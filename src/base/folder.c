/* SPDX-License-Identifier: MIT
 *
 * Lists the plain files of a directory that the caller's filter accepts, sorts them by name and
 * maps each. Importers of formats that are directories (ctf, uftrace, optrack) use it. Links to
 * directories, devices and subdirectories are skipped.
 */
#include "base/folder.h"

#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t weft_folder_bytes(const char *path)
{
    DIR *dir = opendir(path);
    uint64_t n_bytes = 0;
    if (!dir)
        return 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        struct stat info;
        if (fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
            n_bytes += (uint64_t)info.st_size;
    }
    closedir(dir);
    return n_bytes;
}

static char *join(const char *path, const char *name)
{
    size_t n_path = strlen(path);
    size_t n_name = strlen(name);
    char *joined = malloc(n_path + n_name + 2);
    if (!joined)
        return NULL;
    memcpy(joined, path, n_path);
    if (n_path && path[n_path - 1] != '/')
        joined[n_path++] = '/';
    memcpy(joined + n_path, name, n_name + 1);
    return joined;
}

struct names {
    struct weft_folder_file *items;
    size_t n, cap;
};

static enum weft_code add_name(struct names *names, const char *path, const char *name,
                               struct weft_err *err)
{
    if (names->n == WEFT_FOLDER_MOST_FILES)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "expected at most %d files",
                         WEFT_FOLDER_MOST_FILES);
    struct weft_folder_file *file = WEFT_VEC_PUSH(names);
    if (!file)
        return weft_no_memory(err, "the list of files");
    file->name = strdup(name);
    file->path = join(path, name);
    if (!file->name || !file->path)
        return weft_no_memory(err, "the name of a file");
    return WEFT_OK;
}

static enum weft_code list(const char *path, weft_folder_want want, struct names *names,
                           struct weft_err *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return weft_fail_errno(err, errno, "cannot open the directory");
    enum weft_code code = WEFT_OK;
    for (const struct dirent *entry; code == WEFT_OK && (entry = readdir(dir)) != NULL;) {
        struct stat info;
        if (want(entry->d_name) && fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 &&
            S_ISREG(info.st_mode))
            code = add_name(names, path, entry->d_name, err);
    }
    closedir(dir);
    return code;
}

static int compare_names(const void *a_void, const void *b_void)
{
    const struct weft_folder_file *a = a_void;
    const struct weft_folder_file *b = b_void;
    return strcmp(a->name, b->name);
}

enum weft_code weft_folder_open(const char *path, weft_folder_want want, struct weft_folder *folder,
                                struct weft_err *err)
{
    struct names names = { 0 };
    *folder = (struct weft_folder){ 0 };
    enum weft_code code = list(path, want, &names, err);
    folder->files = names.items;
    folder->n_files = names.n;
    if (code != WEFT_OK)
        return weft_in_file(err, path), code;
    if (names.n)
        qsort(folder->files, folder->n_files, sizeof *folder->files, compare_names);
    for (size_t k = 0; k < folder->n_files; k++) {
        struct weft_folder_file *file = &folder->files[k];
        code = weft_mapped_open(file->path, &file->file, err);
        if (code != WEFT_OK)
            return code;
        folder->n_bytes += file->file.n_bytes;
    }
    return WEFT_OK;
}

void weft_folder_close(struct weft_folder *folder)
{
    for (size_t k = 0; k < folder->n_files; k++) {
        weft_mapped_close(&folder->files[k].file);
        free(folder->files[k].name);
        free(folder->files[k].path);
    }
    free(folder->files);
    *folder = (struct weft_folder){ 0 };
}

size_t weft_folder_peek(const char *path, const char *name, void *bytes, size_t n_most)
{
    char *joined = join(path, name);
    int fd = joined ? open(joined, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    free(joined);
    if (fd < 0)
        return 0;
    struct stat info;
    ssize_t n_read = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? read(fd, bytes, n_most) : 0;
    close(fd);
    return n_read > 0 ? (size_t)n_read : 0;
}
