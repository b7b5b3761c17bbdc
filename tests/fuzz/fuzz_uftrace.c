/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a uftrace directory: a byte that chooses the name, two bytes of size, the file. The
 * importer keeps the rules of the sink, reports at most two calls a record, and fails only with a
 * reason.
 */
#include "base/cursor.h"
#include "checking_sink.h"
#include "ingest/uftrace/uftrace.h"

#include <string.h>

enum { MOST_FILES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

/* Files of one name are not repeated, as in a directory. */
static bool has_file(const struct weft_folder *folder, const char *name)
{
    for (size_t k = 0; k < folder->n_files; k++)
        if (strcmp(folder->files[k].name, name) == 0)
            return true;
    return false;
}

static void unpack(const uint8_t *bytes, size_t n_bytes, struct weft_folder *folder)
{
    static char names[][16] = { "info",          "task.txt",   "sid-a.map", "prog.sym",
                                "lib.sym",       "prog.dbg",   "10.dat",    "11.dat",
                                "perf-cpu0.dat", "events.txt", "sid-b.map" };
    struct weft_cursor cur = weft_cur_init(bytes, n_bytes, 0);
    while (folder->n_files < MOST_FILES && weft_cur_left(&cur) >= 3) {
        char *name = names[weft_cur_u8(&cur) % (sizeof names / sizeof *names)];
        size_t n_file = weft_cur_u16(&cur);
        n_file = n_file < weft_cur_left(&cur) ? n_file : weft_cur_left(&cur);
        const uint8_t *file = weft_cur_take(&cur, n_file);
        if (has_file(folder, name))
            continue;
        folder->files[folder->n_files++] = (struct weft_folder_file){
            .name = name, .path = name, .file = { .bytes = n_file ? file : NULL, .n_bytes = n_file }
        };
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct weft_folder_file files[MOST_FILES];
    struct weft_folder folder = { .files = files };
    struct check_sink *sink = check_sink_new();
    struct weft_err err = { 0 };
    if (!sink)
        return 0;
    unpack(bytes, n_bytes, &folder);
    if (weft_uftrace_import_folder(&folder, &sink->sink, NULL, &err) == WEFT_OK) {
        check_complete(sink);
        check(sink->n_calls <= n_bytes / 8);
    } else {
        check(err.text[0] != '\0');
    }
    free(sink);
    return 0;
}
