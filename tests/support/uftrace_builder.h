/* SPDX-License-Identifier: MIT
 *
 * Builds uftrace directories in memory: struct weft_folder with files of exact size.
 */
#ifndef WEFT_TESTS_UFTRACE_BUILDER_H
#define WEFT_TESTS_UFTRACE_BUILDER_H

#include "base/folder.h"
#include "xray_builder.h"

#include <stdio.h>

enum { UB_MOST_FILES = 24, UB_ENTRY = 0, UB_EXIT = 1, UB_LOST = 2, UB_EVENT = 3, UB_MORE = 4 };

/* Features of a usual recording: sessions, relative symbols, maximal stack, perf events. */
enum { UB_FEATURES = 1 << 1 | 1 << 5 | 1 << 6 | 1 << 8 };

struct ub {
    const char *names[UB_MOST_FILES];
    struct xb files[UB_MOST_FILES];
    size_t n;
};

/* The file of a name, made when it is new. */
__attribute__((unused)) static struct xb *ub_file(struct ub *dir, const char *name)
{
    for (size_t k = 0; k < dir->n; k++)
        if (strcmp(dir->names[k], name) == 0)
            return &dir->files[k];
    if (dir->n == UB_MOST_FILES)
        abort();
    dir->names[dir->n] = name;
    return &dir->files[dir->n++];
}

__attribute__((unused)) static void ub_text(struct ub *dir, const char *name, const char *text)
{
    xb_bytes(ub_file(dir, name), text, strlen(text));
}

__attribute__((unused)) static void ub_header(struct xb *file, unsigned version, unsigned endian,
                                              unsigned elf_class, uint64_t features,
                                              unsigned max_stack)
{
    xb_bytes(file, "Ftrace!", 8);
    xb_int(file, version, 4);
    xb_int(file, 40, 2);
    xb_int(file, endian, 1);
    xb_int(file, elf_class, 1);
    xb_int(file, features, 8);
    xb_int(file, 0x3bff, 8);
    xb_int(file, max_stack, 2);
    xb_int(file, 0, 6);
}

__attribute__((unused)) static void ub_info(struct ub *dir, const char *lines)
{
    ub_header(ub_file(dir, "info"), 4, 1, 2, UB_FEATURES, 1024);
    ub_text(dir, "info", lines);
}

/* `type`: of UB_..., perhaps with UB_MORE. */
__attribute__((unused)) static void ub_record(struct xb *file, uint64_t time_ns, unsigned type,
                                              unsigned depth, uint64_t address)
{
    xb_int(file, time_ns, 8);
    xb_int(file, type | 5u << 3 | (depth & 1023u) << 6 | address << 16, 8);
}

__attribute__((unused)) static void ub_align(struct xb *file, size_t to)
{
    while (file->n_bytes % to)
        xb_int(file, 0xaa, 1); /* padding is junk */
}

/* u16 length, the bytes, padding to 4. */
__attribute__((unused)) static void ub_string(struct xb *file, const char *text)
{
    size_t n_text = strlen(text);
    xb_int(file, n_text, 2);
    xb_bytes(file, text, n_text);
    ub_align(file, 4);
}

enum { UB_IN = 0, UB_OUT = 1 << 13, UB_PREEMPTED = 1 << 13 | 1 << 14 };

__attribute__((unused)) static void ub_switch(struct xb *file, unsigned misc, uint32_t tid,
                                              uint64_t time_ns)
{
    xb_int(file, 14, 4);
    xb_int(file, misc, 2);
    xb_int(file, 24, 2);
    xb_int(file, 10, 4);
    xb_int(file, tid, 4);
    xb_int(file, time_ns, 8);
}

__attribute__((unused)) static void ub_comm(struct xb *file, uint32_t tid, uint64_t time_ns,
                                            const char *name)
{
    char padded[16] = "";
    memcpy(padded, name, strlen(name) < 15 ? strlen(name) : 15);
    xb_int(file, 3, 4);
    xb_int(file, 0, 2);
    xb_int(file, 48, 2);
    xb_int(file, 10, 4);
    xb_int(file, tid, 4);
    xb_bytes(file, padded, 16);
    xb_int(file, 10, 4);
    xb_int(file, tid, 4);
    xb_int(file, time_ns, 8);
}

static int ub_compare(const void *a_void, const void *b_void)
{
    const struct weft_folder_file *a = a_void;
    const struct weft_folder_file *b = b_void;
    return strcmp(a->name, b->name);
}

/* The caller frees with ub_folder_fini. */
__attribute__((unused)) static struct weft_folder ub_folder(const struct ub *dir)
{
    struct weft_folder folder = { .files = calloc(dir->n + 1, sizeof *folder.files),
                                  .n_files = dir->n };
    for (size_t k = 0; k < dir->n; k++) {
        struct weft_folder_file *file = &folder.files[k];
        size_t n_bytes = dir->files[k].n_bytes;
        uint8_t *bytes = n_bytes ? malloc(n_bytes) : NULL;
        if (n_bytes)
            memcpy(bytes, dir->files[k].bytes, n_bytes);
        file->name = strdup(dir->names[k]);
        file->path = strdup(dir->names[k]);
        file->file = (struct weft_mapped){ .bytes = bytes, .n_bytes = n_bytes };
        folder.n_bytes += n_bytes;
    }
    qsort(folder.files, folder.n_files, sizeof *folder.files, ub_compare);
    return folder;
}

__attribute__((unused)) static void ub_folder_fini(struct weft_folder *folder)
{
    for (size_t k = 0; k < folder->n_files; k++) {
        free((void *)(uintptr_t)folder->files[k].file.bytes);
        free(folder->files[k].name);
        free(folder->files[k].path);
    }
    free(folder->files);
}

__attribute__((unused)) static void ub_fini(struct ub *dir)
{
    for (size_t k = 0; k < dir->n; k++)
        xb_fini(&dir->files[k]);
    *dir = (struct ub){ 0 };
}

#endif
