/* SPDX-License-Identifier: MIT
 *
 * Finds the files of OpTrack: those of a directory.
 */
#include "base/folder.h"
#include "ingest/optrack/optrack.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static bool is_wanted(const char *name)
{
    return strncmp(name, "optrack.", 8) == 0 || strncmp(name, "optrack-map.", 12) == 0;
}

bool weft_optrack_sniff_dir(const char *path)
{
    DIR *dir = opendir(path);
    bool is_optrack = false;
    if (!dir)
        return false;
    for (const struct dirent *entry; !is_optrack && (entry = readdir(dir)) != NULL;) {
        uint8_t bytes[64];
        if (strncmp(entry->d_name, "optrack.", 8) != 0)
            continue;
        size_t n_bytes = weft_folder_peek(path, entry->d_name, bytes, sizeof bytes);
        is_optrack = weft_optrack_sniff(bytes, n_bytes);
    }
    closedir(dir);
    return is_optrack;
}

static enum weft_code import_folder(const struct weft_folder *folder,
                                    const struct weft_optrack_opts *opts, struct weft_sink *sink,
                                    const struct weft_run *run, struct weft_err *err)
{
    struct weft_optrack_input *inputs = calloc(folder->n_files + 1, sizeof *inputs);
    if (!inputs)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu inputs",
                         folder->n_files);
    for (size_t k = 0; k < folder->n_files; k++)
        inputs[k] = (struct weft_optrack_input){ .file = folder->files[k].file,
                                                 .path = folder->files[k].path };
    enum weft_code code = weft_optrack_import(inputs, folder->n_files, opts, sink, run, err);
    free(inputs);
    return code;
}

enum weft_code weft_optrack_import_dir(const char *path, const char *map_path,
                                       struct weft_sink *sink, const struct weft_run *run,
                                       struct weft_err *err)
{
    struct weft_folder folder;
    const struct weft_optrack_opts opts = { .map_path = map_path };
    enum weft_code code = weft_folder_open(path, is_wanted, &folder, err);
    WEFT_THEN(code, import_folder(&folder, &opts, sink, run, err));
    weft_folder_close(&folder);
    return code;
}
