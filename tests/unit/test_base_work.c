/* SPDX-License-Identifier: MIT
 *
 * Files and workers: outputs that appear whole or not at all, loops whose result does not depend on
 * the number of workers.
 */
#include "base/file.h"
#include "base/pool.h"
#include "base/turns.h"
#include "tap.h"

#include <dirent.h>
#include <sched.h>
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
    return weft_out_open(target, WEFT_ACCESS_UMASK, &out, NULL) == WEFT_OK &&
           weft_out_write(out, text, strlen(text), NULL) == WEFT_OK &&
           weft_out_commit(out, NULL) == WEFT_OK;
}

/* The folder holds the target and nothing else. */
static bool is_alone(void)
{
    DIR *entries = opendir(folder);
    size_t n_entries = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        n_entries += entry->d_name[0] != '.';
    if (entries)
        (void)closedir(entries);
    return n_entries == 1;
}

static void test_output(void)
{
    tap_ok(write_target("old"), "a file is written");
    tap_ok(holds(target, "old"), "and read back");
    struct weft_out *out = NULL;
    struct weft_err err = { 0 };
    tap_ok(weft_out_open(target, WEFT_ACCESS_UMASK, &out, &err) == WEFT_OK, "opened again");
    tap_ok(weft_out_write(out, "new", 3, &err) == WEFT_OK && weft_out_offset(out) == 3, "written");
    tap_ok(holds(target, "old"), "the old file stands until the commit");
    weft_out_abort(out);
    tap_ok(holds(target, "old") && is_alone(), "an abort leaves it, and no temporary");
    tap_ok(weft_out_open(folder, WEFT_ACCESS_UMASK, &out, &err) == WEFT_E_IO,
           "a directory is refused");
    err = (struct weft_err){ 0 };
    tap_ok(weft_out_open("/nonexistent/x", WEFT_ACCESS_UMASK, &out, &err) == WEFT_E_IO &&
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
    enum weft_code code = weft_out_open(target, WEFT_ACCESS_UMASK, &out, &err);
    setrlimit(RLIMIT_FSIZE, &small);
    for (int k = 0; k < 64 && code == WEFT_OK; k++)
        code = weft_out_write(out, block, sizeof block, &err);
    setrlimit(RLIMIT_FSIZE, &old_limit);
    tap_ok(code == WEFT_E_IO && err.file[0] && strstr(err.text, "cannot write"),
           "a write that does not fit is an error: %s", err.text);
    weft_out_abort(out);
    tap_ok(holds(target, "old") && is_alone(), "the old file is intact");
}

/* A failure that the caller overlooks must not put a file with a hole in place of the old one. */
static void test_commit_after_failure(void)
{
    struct rlimit old_limit;
    getrlimit(RLIMIT_FSIZE, &old_limit);
    struct rlimit none = { .rlim_cur = 0, .rlim_max = old_limit.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    static const uint8_t block[1 << 19];
    for (int is_late = 0; is_late <= 1; is_late++) {
        struct weft_out *out = NULL;
        struct weft_err err = { 0 };
        enum weft_code code = weft_out_open(target, WEFT_ACCESS_UMASK, &out, &err);
        setrlimit(RLIMIT_FSIZE, &none);
        if (!is_late && code == WEFT_OK) /* larger than the buffer: fails at once */
            code = weft_out_write(out, block, sizeof block, NULL);
        setrlimit(RLIMIT_FSIZE, is_late ? &none : &old_limit);
        enum weft_code next = weft_out_write(out, "x", 1, &err);
        tap_eq_u64(next, is_late ? WEFT_OK : WEFT_E_IO, "a write %s",
                   is_late ? "into the buffer" : "after a failed one");
        tap_eq_u64(weft_out_commit(out, &err), WEFT_E_IO, "the commit fails: %s", err.text);
        setrlimit(RLIMIT_FSIZE, &old_limit);
        tap_ok(holds(target, "old") && is_alone(), "the old file is intact");
    }
}

/* Random pieces, smaller and larger than the buffer, arrive in order. */
static void test_pieces(void)
{
    enum { ALL_BYTES = 3 << 20 };
    uint8_t *bytes = malloc(ALL_BYTES);
    uint64_t state = tap_seed(31);
    for (size_t k = 0; bytes && k < ALL_BYTES; k++)
        bytes[k] = (uint8_t)tap_random(&state);
    struct weft_out *out = NULL;
    struct weft_err err = { 0 };
    bool is_ok = bytes && weft_out_open(target, WEFT_ACCESS_UMASK, &out, &err) == WEFT_OK;
    size_t at = 0;
    while (is_ok && at < ALL_BYTES) {
        size_t n_bytes = tap_random(&state) >> (44 + tap_random(&state) % 20);
        n_bytes = n_bytes < ALL_BYTES - at ? n_bytes : ALL_BYTES - at;
        is_ok =
            weft_out_offset(out) == at && weft_out_write(out, bytes + at, n_bytes, &err) == WEFT_OK;
        at += n_bytes;
    }
    is_ok = is_ok && weft_out_commit(out, &err) == WEFT_OK;
    struct weft_mapped file = { 0 };
    is_ok = is_ok && weft_mapped_open(target, &file, &err) == WEFT_OK;
    tap_ok(is_ok && file.n_bytes == ALL_BYTES && memcmp(file.bytes, bytes, ALL_BYTES) == 0,
           "pieces of any size arrive in order");
    if (is_ok)
        weft_mapped_done(&file, 12345, ALL_BYTES / 2);
    tap_ok(is_ok && memcmp(file.bytes, bytes, ALL_BYTES) == 0, "and can be read again");
    weft_mapped_close(&file);
    free(bytes);
}

static void test_kinds_of_target(void)
{
    struct weft_out *out = NULL;
    struct weft_err err = { 0 };
    tap_ok(weft_out_open("/dev/null", WEFT_ACCESS_UMASK, &out, &err) == WEFT_E_IO &&
               strstr(err.text, "expected a regular file"),
           "a device is not replaced: %s", err.text);
    char link_path[80];
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    tap_ok(symlink("target", link_path) == 0, "a symbolic link");
    bool is_ok = weft_out_open(link_path, WEFT_ACCESS_UMASK, &out, NULL) == WEFT_OK &&
                 weft_out_write(out, "linked", 6, NULL) == WEFT_OK &&
                 weft_out_commit(out, NULL) == WEFT_OK;
    struct stat info;
    tap_ok(is_ok && holds(target, "linked") && lstat(link_path, &info) == 0 &&
               S_ISLNK(info.st_mode),
           "a link stays, what it points to is replaced");
    unlink(link_path);
    mode_t mask = umask(027);
    tap_ok(write_target("old") && stat(target, &info) == 0 && (info.st_mode & 0777) == 0640,
           "the mode is that of any new file");
    is_ok = weft_out_open(target, WEFT_ACCESS_PRIVATE, &out, NULL) == WEFT_OK &&
            weft_out_write(out, "own", 3, NULL) == WEFT_OK && weft_out_commit(out, NULL) == WEFT_OK;
    tap_ok(is_ok && stat(target, &info) == 0 && (info.st_mode & 0777) == 0600,
           "or of its owner's alone");
    umask(mask);
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

/* A failure without words still carries its code. */
static enum weft_code fail_silently(void *context, size_t item, unsigned worker,
                                    struct weft_err *err)
{
    (void)context, (void)worker, (void)err;
    return item == 3 ? WEFT_E_LIMIT : WEFT_OK;
}

static void test_silent_failure(void)
{
    struct weft_pool *pool = weft_pool_new(2);
    struct weft_err err = { 0 };
    tap_eq_u64(weft_pool_run(pool, 10, fail_silently, NULL, NULL, &err), WEFT_E_LIMIT,
               "a failure without a cause");
    tap_ok(err.code == WEFT_E_LIMIT && strstr(err.text, "item 3"), "names its item: %s", err.text);
    weft_pool_free(pool);
}

/* Each worker adds to an array of its own: no element may be written by two. */
struct sums {
    uint64_t of_worker[8][64]; /* rows of 512 bytes: workers share no cache line */
    unsigned n_workers;
};

static enum weft_code add_item(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    struct sums *sums = context;
    if (worker >= sums->n_workers)
        return weft_fail(err, WEFT_E_ARG, item, "worker %u of %u", worker, sums->n_workers);
    sums->of_worker[worker][0] += item;
    return WEFT_OK;
}

static void test_workers_are_apart(void)
{
    for (unsigned n_workers = 1; n_workers <= 8; n_workers++) {
        struct weft_pool *pool = weft_pool_new(n_workers);
        static struct sums sums;
        sums = (struct sums){ .n_workers = weft_pool_workers(pool) };
        enum weft_code code = weft_pool_run(pool, N_ITEMS, add_item, &sums, NULL, NULL);
        uint64_t total = 0;
        for (unsigned worker = 0; worker < n_workers; worker++)
            total += sums.of_worker[worker][0];
        tap_ok(code == WEFT_OK && total == (uint64_t)N_ITEMS * (N_ITEMS - 1) / 2,
               "%u workers, each with its own state", n_workers);
        weft_pool_free(pool);
    }
}

/* How many threads work at once: on a task, on items. */
struct busy {
    _Atomic unsigned n, most;
    _Atomic unsigned n_items;
    _Atomic bool may_end;
    bool is_done;
};

static void begin_work(struct busy *busy)
{
    const unsigned n = atomic_fetch_add(&busy->n, 1) + 1;
    unsigned most = atomic_load(&busy->most);
    while (n > most && !atomic_compare_exchange_weak(&busy->most, &most, n))
        ;
}

static void run_task(void *context)
{
    struct busy *busy = context;
    begin_work(busy);
    while (!atomic_load(&busy->may_end))
        sched_yield();
    busy->is_done = true;
    atomic_fetch_sub(&busy->n, 1);
}

static enum weft_code run_item(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    struct busy *busy = context;
    (void)item, (void)worker, (void)err;
    begin_work(busy);
    atomic_fetch_add(&busy->n_items, 1);
    sched_yield();
    atomic_fetch_sub(&busy->n, 1);
    return WEFT_OK;
}

/* Beside loops, and among as many threads. */
static void test_task(unsigned n_workers)
{
    struct weft_pool *pool = weft_pool_new(n_workers);
    for (int round = 0; round < 20; round++) {
        struct busy busy = { 0 }, other = { .may_end = true };
        const bool begins = weft_pool_begin_task(pool, run_task, &busy);
        tap_ok(begins && !weft_pool_begin_task(pool, run_task, &other), "one task at a time");
        bool is_good = true;
        for (int loop = 0; loop < 3; loop++)
            is_good = weft_pool_run(pool, 100, run_item, &busy, NULL, NULL) == WEFT_OK && is_good;
        tap_ok(is_good && atomic_load(&busy.n_items) == 300, "loops end although a task runs");
        atomic_store(&busy.may_end, true);
        weft_pool_end_task(pool);
        tap_ok(busy.is_done && atomic_load(&busy.n) == 0, "%u workers: the task is done",
               n_workers);
        tap_ok(atomic_load(&busy.most) <= n_workers, "by no more threads than workers: %u of %u",
               atomic_load(&busy.most), n_workers);
        tap_eq_u64(weft_pool_run(pool, 100, run_item, &other, NULL, NULL), WEFT_OK, "loops go on");
    }
    weft_pool_free(pool);
}

static void test_no_task(void)
{
    struct weft_pool *pool = weft_pool_new(1);
    struct busy busy = { .may_end = true };
    tap_ok(!weft_pool_begin_task(pool, run_task, &busy), "one worker has no task");
    weft_pool_end_task(pool);
    weft_pool_free(pool);
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

/* What is put in order while others are made; any of several items may fail, at any place. */
struct in_order {
    struct weft_turns turns;
    size_t joined[N_ITEMS], n_joined;
    bool fails[N_ITEMS];
};

static enum weft_code put_in_order(void *context, size_t item, unsigned worker,
                                   struct weft_err *err)
{
    struct in_order *test = context;
    (void)worker;
    enum weft_code code = weft_turns_wait(&test->turns, 0, item, err);
    if (code == WEFT_OK)
        weft_turns_pass(&test->turns, 0);
    if (code == WEFT_OK && test->fails[item])
        code = weft_fail(err, WEFT_E_MALFORMED, item, "item %zu", item);
    if (code == WEFT_OK)
        code = weft_turns_wait(&test->turns, 1, item, err);
    if (code != WEFT_OK) {
        weft_turns_fail(&test->turns, item);
        return code;
    }
    test->joined[test->n_joined++] = item;
    weft_turns_pass(&test->turns, 1);
    return WEFT_OK;
}

static void test_turns(unsigned n_workers, uint64_t *state)
{
    struct weft_pool *pool = weft_pool_new(n_workers);
    static struct in_order test;
    unsigned n_wrong = 0;
    for (unsigned round = 0; round < 30; round++) {
        size_t n_before = N_ITEMS;
        test = (struct in_order){ .n_joined = 0 };
        for (unsigned i = 0; i < round % 4; i++) {
            const size_t item = tap_random(state) % N_ITEMS;
            test.fails[item] = true;
            n_before = item < n_before ? item : n_before;
        }
        struct weft_err err = { 0 };
        weft_turns_init(&test.turns);
        const enum weft_code code = weft_pool_run(pool, N_ITEMS, put_in_order, &test, NULL, &err);
        weft_turns_fini(&test.turns);
        n_wrong += test.n_joined != n_before;
        n_wrong += n_before < N_ITEMS ? code != WEFT_E_MALFORMED || err.at_off != n_before
                                      : code != WEFT_OK;
        for (size_t i = 0; i < test.n_joined; i++)
            n_wrong += test.joined[i] != i;
    }
    tap_eq_u64(n_wrong, 0, "%u workers: in order, up to the first item that fails", n_workers);
    weft_pool_free(pool);
}

int main(void)
{
    uint64_t state = tap_seed(20261125);
    if (!mkdtemp(folder))
        return 1;
    snprintf(target, sizeof target, "%s/target", folder);
    test_output();
    test_full_disk();
    test_commit_after_failure();
    test_kinds_of_target();
    test_input();
    test_pieces();
    for (unsigned n_workers = 1; n_workers <= 4; n_workers++)
        test_loops(n_workers);
    for (unsigned n_workers = 1; n_workers <= 8; n_workers++)
        test_turns(n_workers, &state);
    weft_pool_free(weft_pool_new(8));
    test_silent_failure();
    test_workers_are_apart();
    test_task(2);
    test_task(4);
    test_no_task();
    unlink(target);
    rmdir(folder);
    return tap_done();
}
