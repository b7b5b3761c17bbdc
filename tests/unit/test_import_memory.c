/* SPDX-License-Identifier: MIT
 *
 * Import of several compressed inputs, merge and cut with every allocation failing in turn (the
 * linker wraps malloc, calloc and realloc): each ends with WEFT_E_NOMEM, or does without, leaks
 * nothing and leaves no file.
 */
#include "failing_alloc.h"
#include "import/cut.h"
#include "import/import.h"
#include "import/merge.h"
#include "tap.h"
#include "text_trace.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST_ALLOCATIONS = 5000, N_FILES = 5 };

static char folder[400], text_path[512], packed_path[512], trace_path[512], out_path[512];
static char host_paths[2][512]; /* that sent packets to each other */

typedef enum weft_code (*work_fn)(const struct weft_run *run, struct weft_err *err);

static enum weft_code do_import(const struct weft_run *run, struct weft_err *err)
{
    const char *const inputs[] = { packed_path, trace_path, text_path };
    const struct weft_import_opts opts = { .inputs = inputs, .n_inputs = 3, .output = out_path };
    return weft_import_run(&opts, run, NULL, err);
}

static enum weft_code do_merge(const struct weft_run *run, struct weft_err *err)
{
    const char *const inputs[] = { trace_path, trace_path };
    const struct weft_merge_opts opts = { .inputs = inputs, .n_inputs = 2, .output = out_path };
    return weft_merge_run(&opts, run, NULL, err);
}

static enum weft_code do_hosts(const struct weft_run *run, struct weft_err *err)
{
    const char *const inputs[] = { host_paths[0], host_paths[1] };
    const struct weft_merge_opts opts = { .inputs = inputs, .n_inputs = 2, .output = out_path };
    return weft_merge_run(&opts, run, NULL, err);
}

static enum weft_code do_cut(const struct weft_run *run, struct weft_err *err)
{
    const struct weft_cut_opts opts = {
        .input = trace_path, .output = out_path, .from = { .at_ns = 20 }, .to = { .at_ns = 50 }
    };
    return weft_cut_run(&opts, run, NULL, err);
}

/* Files in the folder: two texts and three traces. */
static unsigned count_files(void)
{
    unsigned n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        n += entry->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

static void test_failures(const char *name, work_fn work)
{
    unsigned n_wrong = 0, n_left = 0;
    int n = 0;
    for (bool is_done = false; !is_done && n < MOST_ALLOCATIONS; n++) {
        struct weft_err err = { 0 };
        const struct weft_run run = { .pool = weft_pool_new(1) };
        n_until_failure = n;
        const enum weft_code code = work(&run, &err);
        is_done = n_until_failure >= 0;
        n_until_failure = -1;
        n_wrong += is_done ? code != WEFT_OK : code != WEFT_OK && code != WEFT_E_NOMEM;
        n_wrong += code != WEFT_OK && err.text[0] == '\0';
        (void)(code == WEFT_OK && unlink(out_path));
        n_left += count_files() != N_FILES;
        weft_pool_free(run.pool);
    }
    tap_eq_u64(n_wrong, 0, "%s: each of %d allocations fails in turn", name, n - 1);
    tap_eq_u64(n_left, 0, "%s: no file is left", name);
    tap_ok(n > 20 && n < MOST_ALLOCATIONS, "%s: there is something to fail", name);
}

static void write_inputs(void)
{
    static const char text[] = "0 f 10\n0 g 30\n1 g 40\n0 h 55\n1 h 70\n1 f 90\n";
    FILE *file = fopen(text_path, "wb");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
    gzFile packed = gzopen(packed_path, "wb");
    if (!packed || gzputs(packed, text) < 0 || gzclose(packed) != Z_OK)
        abort();
    const char *const inputs[] = { text_path };
    const struct weft_import_opts opts = { .inputs = inputs, .n_inputs = 1, .output = trace_path };
    const struct weft_run run = { .pool = weft_pool_new(1) };
    if (weft_import_run(&opts, &run, NULL, NULL) != WEFT_OK)
        abort();
    weft_pool_free(run.pool);
    static const struct text_thread threads[] = { { 1, 0, 0 }, { 2, 0, 0 } };
    if (text_trace_write(host_paths[0], threads, 2,
                         "10 0 sent 0 1\n20 0 sent 1 2\n110 0 received 0 3\n"
                         "120 0 received 1 4\n") != WEFT_OK ||
        text_trace_write(host_paths[1], threads, 2,
                         "1050 0 received 0 1\n1060 0 received 1 2\n1070 0 sent 0 3\n"
                         "1080 0 sent 1 4\n") != WEFT_OK)
        abort();
}

/* How far off the second host's clock is, and the time of its first event on the first one's. */
static void test_hosts(void)
{
    const struct weft_run run = { .pool = weft_pool_new(1) };
    struct weft_store *store = NULL;
    if (do_hosts(&run, NULL) != WEFT_OK || weft_store_open(out_path, &store, NULL) != WEFT_OK)
        abort();
    tap_eq_u64(weft_store_meta_get(store)->n_notes, 1, "one clock is set");
    tap_eq_u64(weft_store_note_get(store, 0)->kind, WEFT_NOTE_CLOCK_SET, "which a note says");
    tap_eq_u64(weft_store_note_get(store, 0)->count, 41, "it may be 41 ns off");
    tap_eq_u64(weft_store_thread_get(store, 2)->first_ns, 1050, "an event of the second host");
    tap_eq_u64(weft_store_thread_get(store, 0)->first_ns, 1010, "40 ns after it was sent");
    tap_eq_u64(weft_store_thread_get(store, 2)->info.host_id, 1, "which is another one");
    weft_store_close(store);
    (void)unlink(out_path);
    weft_pool_free(run.pool);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(folder, sizeof folder, "%s/import_memory.XXXXXX", root ? root : ".");
    if (!mkdtemp(folder))
        abort();
    (void)snprintf(text_path, sizeof text_path, "%s/a.txt", folder);
    (void)snprintf(packed_path, sizeof packed_path, "%s/b.txt.gz", folder);
    (void)snprintf(trace_path, sizeof trace_path, "%s/c.weft", folder);
    (void)snprintf(out_path, sizeof out_path, "%s/out.weft", folder);
    (void)snprintf(host_paths[0], sizeof host_paths[0], "%s/d.weft", folder);
    (void)snprintf(host_paths[1], sizeof host_paths[1], "%s/e.weft", folder);
    write_inputs();
    test_hosts();
    test_failures("import", do_import);
    test_failures("merge", do_merge);
    test_failures("hosts", do_hosts);
    test_failures("cut", do_cut);
    (void)unlink(host_paths[0]);
    (void)unlink(host_paths[1]);
    (void)unlink(text_path);
    (void)unlink(packed_path);
    (void)unlink(trace_path);
    (void)rmdir(folder);
    return tap_done();
}
