/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target over its committed corpus: replay FOLDER|FILE... One test per file; a finding
 * ends the program through a sanitizer, which the test runner counts as a failure.
 */
#include "tap.h"

#include <dirent.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        tap_ok(false, "%s opens", path);
        return;
    }
    (void)fseek(file, 0, SEEK_END);
    const long end = ftell(file);
    const size_t n_bytes = end > 0 ? (size_t)end : 0;
    rewind(file);
    uint8_t *bytes = malloc(n_bytes ? n_bytes : 1);
    const bool is_read = bytes && fread(bytes, 1, n_bytes, file) == n_bytes;
    (void)fclose(file);
    if (is_read)
        (void)LLVMFuzzerTestOneInput(bytes, n_bytes);
    tap_ok(is_read, "%s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    free(bytes);
}

static void replay_folder(const char *folder)
{
    struct dirent **entries = NULL;
    const int n_entries = scandir(folder, &entries, NULL, alphasort);
    unsigned n_files = 0;
    for (int i = 0; i < n_entries; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            replay_file(path);
            n_files++;
        }
        free(entries[i]);
    }
    free(entries);
    tap_ok(n_files > 0, "corpus %s holds %u files", folder, n_files);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode))
            replay_folder(argv[i]);
        else
            replay_file(argv[i]);
    }
    return tap_done();
}
