/* SPDX-License-Identifier: MIT
 *
 * The directories of a trace: each that has a file "metadata", below the one given. LTTng makes one
 * for the kernel and one for every user or process.
 */
#ifndef WEFT_INGEST_CTF_FOLDERS_H
#define WEFT_INGEST_CTF_FOLDERS_H

#include "base/folder.h"
#include "ingest/ctf/reader.h"

enum { CTF_MOST_LEVELS = 8, CTF_MOST_TRACES = 4096 };

struct ctf_folders {
    struct ctf_folder {
        char *path;
        struct weft_folder folder;
        struct ctf_stream_input *streams;
    } * items;
    size_t n, cap;
    struct ctf_input *inputs; /* one a folder */
};

/* True if `path` or a directory below it holds metadata of CTF. */
bool ctf_folders_sniff(const char *path);

/* Opens all of them, in order of path; the directory "index" and hidden files are passed over.
 * WEFT_E_IO, WEFT_E_LIMIT, WEFT_E_TRUNCATED without metadata. The caller closes, also after a
 * failure. */
WEFT_CHECKED enum weft_code ctf_folders_open(const char *path, struct ctf_folders *folders,
                                             struct weft_err *err);
void ctf_folders_close(struct ctf_folders *folders);

#endif
