/* SPDX-License-Identifier: MIT
 *
 * Walks down a directory, at most 8 levels and 4,096 traces, and opens each directory that has
 * metadata as one input of the reader. Names are visited in sorted order, which fixes the order of
 * traces and hosts.
 */
#include "ingest/ctf/folders.h"

#include "base/vec.h"
#include "ingest/ctf/metadata.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { SNIFF_BYTES = 4096 };

/* Directories met on the way down. */
struct name_vec {
    char **items;
    size_t n, cap;
};

static void names_fini(struct name_vec *names)
{
    for (size_t k = 0; k < names->n; k++)
        free(names->items[k]);
    WEFT_VEC_FINI(names);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_metadata(const char *path)
{
    uint8_t bytes[SNIFF_BYTES];
    const size_t n_bytes = weft_folder_peek(path, "metadata", bytes, sizeof bytes);
    return ctf_metadata_sniff(bytes, n_bytes);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Adds "path/name" if that is a directory to look into. False without memory. */
static bool add_below(const char *path, const char *name, struct name_vec *names)
{
    char *full = NULL;
    if (name[0] == '.' || strcmp(name, "index") == 0)
        return true;
    if (asprintf(&full, "%s/%s", path, name) < 0)
        return false;
    if (!is_folder(full)) {
        free(full);
        return true;
    }
    char **place = WEFT_VEC_PUSH(names);
    if (!place) {
        free(full);
        return false;
    }
    *place = full;
    return true;
}

/* The directories right below, in order of name. */
static enum weft_code list_below(const char *path, struct name_vec *names, struct weft_err *err)
{
    DIR *dir = opendir(path);
    bool is_good = true;
    if (!dir)
        return weft_fail_errno(err, errno, "cannot read the directory");
    for (const struct dirent *entry; is_good && (entry = readdir(dir));)
        is_good = names->n <= CTF_MOST_TRACES && add_below(path, entry->d_name, names);
    (void)closedir(dir);
    if (!is_good)
        return weft_fail(err, names->n > CTF_MOST_TRACES ? WEFT_E_LIMIT : WEFT_E_NOMEM,
                         WEFT_NO_OFFSET, "the directories of a trace");
    if (names->n)
        qsort(names->items, names->n, sizeof *names->items, compare_names);
    return WEFT_OK;
}

/* ---- sniffing ------------------------------------------------------------------------------- */

static bool sniff(const char *path, unsigned level)
{
    struct name_vec names = { 0 };
    bool is_found = has_metadata(path);
    if (!is_found && level < CTF_MOST_LEVELS && list_below(path, &names, NULL) == WEFT_OK)
        for (size_t k = 0; k < names.n && !is_found; k++)
            is_found = sniff(names.items[k], level + 1);
    names_fini(&names);
    return is_found;
}

bool ctf_folders_sniff(const char *path)
{
    return sniff(path, 0);
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool is_wanted(const char *name)
{
    return name[0] != '.';
}

static enum weft_code open_one(const char *path, struct ctf_folders *folders, struct weft_err *err)
{
    struct ctf_folder *folder = folders->n < CTF_MOST_TRACES ? WEFT_VEC_PUSH(folders) : NULL;
    if (!folder)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "more than %d traces in a directory",
                         CTF_MOST_TRACES);
    folder->path = strdup(path);
    if (!folder->path)
        return weft_no_memory(err, "the name of a trace");
    const enum weft_code code = weft_folder_open(path, is_wanted, &folder->folder, err);
    if (code != WEFT_OK)
        (void)weft_in_file(err, path);
    return code;
}

static enum weft_code open_below(const char *path, unsigned level, struct ctf_folders *folders,
                                 struct weft_err *err)
{
    struct name_vec names = { 0 };
    enum weft_code code = WEFT_OK;
    if (has_metadata(path))
        code = open_one(path, folders, err);
    if (code == WEFT_OK && level < CTF_MOST_LEVELS)
        code = list_below(path, &names, err);
    for (size_t k = 0; code == WEFT_OK && k < names.n; k++)
        code = open_below(names.items[k], level + 1, folders, err);
    names_fini(&names);
    return code;
}

static enum weft_code make_input(struct ctf_folder *folder, struct ctf_input *input,
                                 struct weft_err *err)
{
    folder->streams = calloc(folder->folder.n_files + 1, sizeof *folder->streams);
    if (!folder->streams)
        return weft_no_memory(err, "the streams of a trace");
    *input = (struct ctf_input){ .path = folder->path, .streams = folder->streams };
    for (size_t k = 0; k < folder->folder.n_files; k++) {
        const struct weft_folder_file *file = &folder->folder.files[k];
        if (strcmp(file->name, "metadata") == 0)
            input->metadata = file->file;
        else if (file->file.n_bytes > 0)
            folder->streams[input->n_streams++] =
                (struct ctf_stream_input){ .name = file->name, .file = file->file };
    }
    return WEFT_OK;
}

enum weft_code ctf_folders_open(const char *path, struct ctf_folders *folders, struct weft_err *err)
{
    *folders = (struct ctf_folders){ 0 };
    enum weft_code code = open_below(path, 0, folders, err);
    if (code == WEFT_OK && folders->n == 0)
        code = weft_fail(err, WEFT_E_TRUNCATED, WEFT_NO_OFFSET,
                         "expected a file \"metadata\" in the directory");
    folders->inputs = calloc(folders->n + 1, sizeof *folders->inputs);
    if (code == WEFT_OK && !folders->inputs)
        code = weft_no_memory(err, "the traces of a directory");
    for (size_t k = 0; code == WEFT_OK && k < folders->n; k++)
        code = make_input(&folders->items[k], &folders->inputs[k], err);
    return code;
}

void ctf_folders_close(struct ctf_folders *folders)
{
    for (size_t k = 0; k < folders->n; k++) {
        weft_folder_close(&folders->items[k].folder);
        free(folders->items[k].path);
        free(folders->items[k].streams);
    }
    WEFT_VEC_FINI(folders);
    free(folders->inputs);
    folders->inputs = NULL;
}
