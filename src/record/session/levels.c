/* SPDX-License-Identifier: MIT
 *
 * Finds out what can be recorded here, opens the kernel's part, and reports by opts->say what will
 * not be recorded and how to change that. A level that is not available is no error; the recorder
 * starts without it.
 */
#include "record/session/levels.h"

#include "record/session/proc.h"
#include "symbols/elf_file.h"
#include "symbols/symtab.h"

#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of stacks that frame pointers do not lead through: most are no deeper, and outer frames of deep
 * ones are found in those that are copied whole. */
enum { STACK_COPY_BYTES = 4096, STACK_WHOLE_BYTES = 57344 };

static void say(const struct weft_recorder_opts *opts, const char *text)
{
    if (opts->say)
        opts->say(opts->context, text);
}

/* ---- libraries ---------------------------------------------------------------------------------
 */

/* Beside the program where it was built, or where both were installed. */
static bool find_library(const char *name, char *path, size_t n_path)
{
    static const char *const places[] = { "src/record/runtime", ".", "../lib/weft",
                                          "../" WEFT_LIBDIR "/weft" };
    char own[PATH_MAX], made[PATH_MAX + 256];
    const ssize_t n_own = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n_own > 0 ? n_own : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (!slash)
        return false;
    *slash = '\0';
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        const int n_made = snprintf(made, sizeof made, "%s/%s/%s", own, places[k], name);
        /* LD_PRELOAD has no way to write these. */
        if (n_made < (int)n_path && access(made, R_OK) == 0 && !strpbrk(made, ": \t")) {
            memcpy(path, made, (size_t)n_made + 1);
            return true;
        }
    }
    return false;
}

/* May every user read the file? Else, the folder or file that is closed is in `path`. */
static bool is_open_to_all(char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !(about.st_mode & S_IROTH))
        return false;
    for (char *slash = strrchr(path, '/'); slash && slash != path; slash = strrchr(path, '/')) {
        *slash = '\0';
        if (stat(path, &about) != 0 || !(about.st_mode & S_IXOTH))
            return false;
    }
    return true;
}

/* Of a recorder of root: programs of other users would load it themselves. */
static void check_rights(const struct weft_recorder_opts *opts, const struct levels *levels)
{
    char path[PATH_MAX], real[PATH_MAX], text[PATH_MAX + 200];
    (void)snprintf(path, sizeof path, "%.*s", (int)strcspn(levels->preload, ":"), levels->preload);
    if (geteuid() != 0 || !*path || !realpath(path, real) || is_open_to_all(real))
        return;
    (void)snprintf(text, sizeof text,
                   "%s is closed to other users: what they start cannot load the recorder's "
                   "libraries, and is not recorded; install weft where all users may read it",
                   real);
    say(opts, text);
}

static void add_library(const struct weft_recorder_opts *opts, struct levels *levels,
                        const char *name, const char *level)
{
    char path[PATH_MAX], text[PATH_MAX + 200];
    const size_t n_used = strlen(levels->preload);
    if (!find_library(name, path, sizeof path)) {
        (void)snprintf(text, sizeof text,
                       "%s are not recorded: %s is not where weft was installed, or its path has a "
                       "colon or a blank",
                       level, name);
        say(opts, text);
        return;
    }
    (void)snprintf(levels->preload + n_used, sizeof levels->preload - n_used, "%s%s",
                   n_used ? ":" : "", path);
}

static void add_text(struct levels *levels, const char *text)
{
    const size_t n_used = strlen(levels->text);
    (void)snprintf(levels->text + n_used, sizeof levels->text - n_used, "%s%s", n_used ? ", " : "",
                   text);
}

static bool has_section(Elf *elf, const char *name)
{
    size_t strings;
    GElf_Shdr head;
    Elf_Scn *section = NULL;
    while (elf_getshdrstrndx(elf, &strings) == 0 && (section = elf_nextscn(elf, section))) {
        const char *found =
            gelf_getshdr(section, &head) ? elf_strptr(elf, strings, head.sh_name) : NULL;
        if (found && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

/* A program with XRay is patched by its own runtime, which is found by its symbols. */
static void check_xray(const struct weft_recorder_opts *opts)
{
    char path[PATH_MAX], text[PATH_MAX + 256];
    struct weft_elf_file file;
    struct weft_symtab *symtab = NULL;
    if (!proc_find_program(opts->argv[0], path) || !weft_elf_file_open(path, &file))
        return;
    bool is_found = !has_section(file.elf, "xray_instr_map") ||
                    weft_symtab_read(&file, &symtab, NULL) != WEFT_OK;
    for (size_t k = 0; !is_found && k < weft_symtab_count(symtab); k++)
        is_found = strcmp(weft_symtab_at(symtab, k).name.bytes, "__xray_patch") == 0;
    weft_symtab_free(symtab);
    weft_elf_file_close(&file);
    if (is_found)
        return;
    (void)snprintf(
        text, sizeof text,
        "functions are not recorded: %s was built with XRay, and stripped of the symbols "
        "of its runtime; strip it with strip -g, which leaves them",
        path);
    say(opts, text);
}

/* Markers come with the library of operations, also where these are not asked for. */
void levels_find_libraries(const struct weft_recorder_opts *opts, struct levels *levels)
{
    levels->preload[0] = '\0';
    if (!opts->argv)
        return;
    add_library(opts, levels, "libweft-preload.so", "locks and markers");
    if (opts->with_functions) {
        add_library(opts, levels, "libweft-functions.so", "functions");
        check_xray(opts);
    }
    check_rights(opts, levels);
    if (opts->with_locks && strstr(levels->preload, "libweft-preload"))
        add_text(levels, "locks");
    if (opts->with_functions && strstr(levels->preload, "libweft-functions"))
        add_text(levels, "functions");
}

/* ---- the kernel --------------------------------------------------------------------------------
 */

static enum weft_code open_kernel(const struct weft_recorder_opts *opts, struct levels *levels,
                                  struct weft_err *err)
{
    const struct weft_kernel_opts kernel_opts = {
        .sample_hz = opts->with_stacks ? opts->sample_hz : 0,
        .wait_threshold_ns = opts->with_stacks ? opts->wait_threshold_ns : UINT64_MAX,
        .names_at_once = opts->size_bytes > 0 || opts->snapshot_ns > 0,
        .stack_copy_bytes = opts->with_stacks ? STACK_COPY_BYTES : 0,
        .stack_whole_bytes = STACK_WHOLE_BYTES,
        .with_faults = opts->with_faults,
        .with_network = true,
        .with_requests = true,
        .all_processes = opts->all,
        .without_bpf = opts->without_bpf,
    };
    struct weft_kernel_missing missing[WEFT_KERNEL_MISSING_MAX];
    size_t n_missing = 0;
    char text[512];
    const enum weft_code code =
        weft_kernel_open(&kernel_opts, &levels->kernel, missing, &n_missing, err);
    for (size_t k = 0; k < n_missing; k++) {
        (void)snprintf(text, sizeof text, "%s: not recorded: %s; %s", missing[k].level,
                       missing[k].why, missing[k].mend);
        say(opts, text);
    }
    if (code != WEFT_OK || !levels->kernel)
        return code;
    (void)snprintf(text, sizeof text, "kernel by %s", weft_kernel_means(levels->kernel));
    add_text(levels, text);
    if (opts->with_stacks)
        add_text(levels, "stacks");
    return WEFT_OK;
}

enum weft_code levels_open(const struct weft_recorder_opts *opts, struct levels *levels,
                           struct weft_err *err)
{
    levels->kernel = NULL;
    return opts->with_kernel ? open_kernel(opts, levels, err) : WEFT_OK;
}

void levels_close(struct levels *levels)
{
    weft_kernel_close(levels->kernel);
    levels->kernel = NULL;
}
