/* SPDX-License-Identifier: MIT
 *
 * Files and workers: outputs that appear whole or not at all, loops whose result does not depend on
 * the number of workers.
 */
#include "base/file.h"
#include "base/pool.h"
#include "tap.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---------------------------------------------------------------------------------- */

static char folder[] = "/tmp/weft-test-XXXXXX";
static char target[64];

static bool holds(const char *path, const char *want)
{
    struct weft_mapped file;
    struct weft_err err = { 0 };
    if (weft_mapped_open(path, &file, &err) != WEFT_OK)
        return false;
    bool is_same = file.n_bytes == strlen(want) &&
                   (file.n_bytes == 0 || memcmp(file.bytes, want, file.n_bytes) == 0);
    weft_mapped_close(&file);
    return is_same;
}

static bool write_target(const char *text)
{
    struct weft_out *out;
    return weft_out_open(target, &out, NULL) == WEFT_OK &&
           weft_out_write(out, text, strlen(text), NULL) == WEFT_OK &&
           weft_out_commit(out, NULL) == WEFT_OK;
}

static bool temp_is_gone(const char *temp_path)
{
    return access(temp_path, F_OK) != 0;
}

static void test_output(void)
{
    tap_ok(write_target("old"), "a file is written");
    tap_ok(holds(target, "old"), "and read back");
    struct weft_out *out = NULL;
    struct weft_err err = { 0 };
    char temp_path[128];
    tap_ok(weft_out_open(target, &out, &err) == WEFT_OK, "opened again");
    snprintf(temp_path, sizeof temp_path, "%s", weft_out_temp_path(out));
    tap_ok(weft_out_write(out, "new", 3, &err) == WEFT_OK && weft_out_offset(out) == 3, "written");
    tap_ok(holds(target, "old"), "the old file stands until the commit");
    weft_out_abort(out);
    tap_ok(holds(target, "old") && temp_is_gone(temp_path), "an abort leaves it, and no temporary");
    tap_ok(weft_out_open(folder, &out, &err) == WEFT_E_IO, "a directory is refused");
    err = (struct weft_err){ 0 };
    tap_ok(weft_out_open("/nonexistent/x", &out, &err) == WEFT_E_IO &&
               strstr(err.text, "No such file"),
           "a missing folder is named");
    weft_out_abort(NULL);
}

/* A full disk, as a limit on the size of files. */
static void test_full_disk(void)
{
    struct rlimit old_limit;
    getrlimit(RLIMIT_FSIZE, &old_limit);
    struct rlimit small = { .rlim_cur = 1 << 20, .rlim_max = old_limit.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    static uint8_t block[1 << 16];
    struct weft_out *out = NULL;
    struct weft_err err = { 0 };
    char temp_path[128];
    enum weft_code code = weft_out_open(target, &out, &err);
    snprintf(temp_path, sizeof temp_path, "%s", weft_out_temp_path(out));
    setrlimit(RLIMIT_FSIZE, &small);
    for (int k = 0; k < 64 && code == WEFT_OK; k++)
        code = weft_out_write(out, block, sizeof block, &err);
    setrlimit(RLIMIT_FSIZE, &old_limit);
    tap_ok(code == WEFT_E_IO && err.file[0] && strstr(err.text, "cannot write"),
           "a write that does not fit is an error: %s", err.text);
    weft_out_abort(out);
    tap_ok(holds(target, "old") && temp_is_gone(temp_path), "the old file is intact");
}

static void test_input(void)
{
    struct weft_mapped file;
    struct weft_err err = { 0 };
    tap_ok(weft_mapped_open(folder, &file, &err) == WEFT_E_IO && strstr(err.text, "a directory"),
           "a directory is named as such: %s", err.text);
    err = (struct weft_err){ 0 };
    tap_ok(weft_mapped_open("/nonexistent", &file, &err) == WEFT_E_IO, "a missing file");
    tap_ok(write_target("") && holds(target, ""), "an empty file is no error");
    tap_ok(write_target("old"), "put back");
    char fifo[80];
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    tap_ok(mkfifo(fifo, 0600) == 0 && weft_mapped_open(fifo, &file, NULL) == WEFT_E_IO,
           "a pipe is refused at once");
    unlink(fifo);
}

/* ---- workers -------------------------------------------------------------------------------- */

enum { N_ITEMS = 2000 };

struct loop_test {
    uint64_t results[N_ITEMS];
    _Atomic unsigned n_runs[N_ITEMS];
    size_t fail_from;
    struct weft_progress *progress;
    size_t cancel_at;
};

static enum weft_code square(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    struct loop_test *test = context;
    (void)worker;
    atomic_fetch_add(&test->n_runs[item], 1);
    weft_progress_add(test->progress, 1);
    if (item == test->cancel_at)
        atomic_store(&test->progress->is_cancelled, true);
    if (item >= test->fail_from)
        return weft_fail(err, WEFT_E_MALFORMED, item, "item %zu", item);
    test->results[item] = item * item;
    return WEFT_OK;
}

static void test_loops(unsigned n_workers)
{
    struct weft_pool *pool = weft_pool_new(n_workers);
    static struct loop_test test;
    unsigned n_wrong = 0;
    for (int round = 0; round < 50; round++) {
        memset(&test, 0, sizeof test);
        test.fail_from = test.cancel_at = SIZE_MAX;
        n_wrong += weft_pool_run(pool, N_ITEMS, square, &test, NULL, NULL) != WEFT_OK;
        for (size_t k = 0; k < N_ITEMS; k++)
            n_wrong += test.n_runs[k] != 1 || test.results[k] != k * k;
    }
    tap_eq_u64(n_wrong, 0, "%u workers: every item once", n_workers);
    for (int round = 0; round < 50; round++) {
        struct weft_err err = { 0 };
        test.fail_from = 700;
        n_wrong += weft_pool_run(pool, N_ITEMS, square, &test, NULL, &err) != WEFT_E_MALFORMED;
        n_wrong += err.at_off != 700;
    }
    tap_eq_u64(n_wrong, 0, "%u workers: the lowest failing item is reported", n_workers);
    struct weft_progress progress = { 0 };
    memset(&test, 0, sizeof test);
    test.progress = &progress;
    test.fail_from = SIZE_MAX;
    test.cancel_at = 500;
    tap_eq_u64(weft_pool_run(pool, N_ITEMS, square, &test, &progress, NULL), WEFT_E_CANCELLED,
               "%u workers: a loop can be cancelled", n_workers);
    tap_ok(atomic_load(&progress.done) < N_ITEMS, "%u workers: and stops early", n_workers);
    tap_eq_u64(weft_pool_run(pool, 0, square, &test, NULL, NULL), WEFT_OK, "no items");
    weft_pool_free(pool);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(target, sizeof target, "%s/target", folder);
    test_output();
    test_full_disk();
    test_input();
    for (unsigned n_workers = 1; n_workers <= 4; n_workers++)
        test_loops(n_workers);
    weft_pool_free(weft_pool_new(8));
    unlink(target);
    rmdir(folder);
    return tap_done();
}
