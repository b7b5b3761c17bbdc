/* SPDX-License-Identifier: MIT
 *
 * Arrays of a spool, in memory and in its file; and sorting in runs against a plain sort.
 */
#include "base/runs.h"
#include "base/spool.h"
#include "schema/executions.h"
#include "tap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- arrays ---------------------------------------------------------------------------------- */

enum { ARRAYS = 12, MOST_NUMBERS = 5000 };

struct array {
    uint64_t *numbers;
    size_t n;
};

static bool holds(const struct array *array, uint64_t seed)
{
    bool is_ok = true;
    for (size_t i = 0; i < array->n; i++)
        is_ok &= array->numbers[i] == (i ^ seed);
    return is_ok;
}

static bool fill(struct weft_spool *spool, struct array *array, size_t n, uint64_t seed)
{
    struct weft_err err = { 0 };
    bool is_zero =
        weft_spool_array(spool, n, sizeof *array->numbers, &array->numbers, &err) == WEFT_OK;
    if (!is_zero)
        tap_note("%s", err.text);
    array->n = is_zero ? n : 0;
    for (size_t i = 0; i < array->n; i++) {
        is_zero &= array->numbers[i] == 0;
        array->numbers[i] = i ^ seed;
    }
    return is_zero;
}

/* Arrays come and go; what they hold outlasts forgetting. */
static void check_arrays(uint64_t memory_bytes)
{
    struct weft_spool *spool = weft_spool_new(memory_bytes);
    struct array arrays[ARRAYS] = { 0 };
    uint64_t state = 7;
    bool is_ok = spool != NULL;
    for (unsigned round = 0; is_ok && round < 200; round++) {
        const size_t k = tap_random(&state) % ARRAYS;
        is_ok &= holds(&arrays[k], k);
        weft_spool_drop(spool, arrays[k].numbers);
        is_ok &= fill(spool, &arrays[k], tap_random(&state) % MOST_NUMBERS, k);
        if (round % 3 == 0)
            weft_spool_forget(spool);
    }
    for (size_t k = 0; is_ok && k < ARRAYS; k++)
        is_ok &= holds(&arrays[k], k);
    tap_ok(is_ok, "arrays hold what was written, %llu bytes of them in memory",
           (unsigned long long)memory_bytes);
    if (spool)
        tap_ok((weft_spool_file_bytes(spool) > 0) == (memory_bytes < 1 << 20), "a file if need be");
    weft_spool_free(spool);
}

static void check_failures(void)
{
    struct weft_spool *spool = weft_spool_new(0);
    struct weft_err err = { 0 };
    uint64_t *numbers = NULL;
    struct rlimit limit, small;
    tap_ok(weft_spool_array(spool, SIZE_MAX / 4, 8, &numbers, &err) == WEFT_E_NOMEM,
           "more than there can be");
    tap_ok(weft_spool_array(spool, SIZE_MAX / 32, 8, &numbers, &err) == WEFT_E_NOMEM,
           "more than files can hold");
    tap_ok(weft_spool_array(spool, 0, 8, &numbers, &err) == WEFT_OK, "an array of nothing");
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 1 << 16;
    (void)setrlimit(RLIMIT_FSIZE, &small);
    err = (struct weft_err){ 0 };
    tap_ok(weft_spool_array(spool, 1 << 16, 8, &numbers, &err) == WEFT_E_IO &&
               strstr(err.text, "TMPDIR"),
           "a file that cannot grow: %s", err.text);
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    weft_spool_free(spool);
    weft_spool_free(NULL);
    weft_spool_forget(NULL);
}

/* ---- runs ------------------------------------------------------------------------------------ */

enum { ROUNDS = 600, MOST_RECORDS = 400 };

struct record {
    uint32_t key;
    uint32_t number; /* as it was added */
    uint8_t more[5];
};

static int by_key(const void *a, const void *b, void *n_compared)
{
    const struct record *x = a, *y = b;
    if (n_compared)
        ++*(size_t *)n_compared;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool check_runs(struct weft_spool *spool, uint64_t *state)
{
    static struct record records[MOST_RECORDS];
    const size_t n = tap_random(state) % MOST_RECORDS;
    const uint64_t n_most = tap_random(state) % 3 ? 0 : 1 + tap_random(state) % 60;
    size_t n_compared = 0;
    const struct weft_runs_opts opts = { .record_bytes = sizeof *records,
                                         .compare = by_key,
                                         .context = &n_compared,
                                         .run_bytes = 1 + tap_random(state) % 600,
                                         .n_most = n_most };
    const uint64_t keys = 1 + tap_random(state) % 500;
    struct weft_runs *runs = weft_runs_new(spool, &opts);
    struct weft_err err = { 0 };
    bool is_ok = runs != NULL;
    for (size_t i = 0; is_ok && i < n; i++) {
        const uint64_t key = keys == 1 ? i : tap_random(state) % keys;
        records[i] = (struct record){ (uint32_t)key, (uint32_t)i, { (uint8_t)i, 1, 2, 3, 4 } };
        is_ok = weft_runs_add(runs, &records[i], &err) == WEFT_OK;
    }
    is_ok = is_ok && weft_runs_count(runs) == n && weft_runs_seal(runs, &err) == WEFT_OK;
    if (n)
        qsort_r(records, n, sizeof *records, by_key, NULL);
    for (size_t i = 0; is_ok && i < (n_most && n_most < n ? n_most : n); i++) {
        const struct record *record = weft_runs_next(runs);
        is_ok = record && memcmp(record, &records[i], sizeof *record) == 0;
    }
    is_ok = is_ok && !weft_runs_next(runs) && !weft_runs_next(runs);
    weft_runs_free(runs);
    return is_ok;
}

static void check_sorting(uint64_t memory_bytes)
{
    struct weft_spool *spool = weft_spool_new(memory_bytes);
    uint64_t state = 1;
    unsigned n_bad = 0;
    for (unsigned round = 0; round < ROUNDS; round++)
        n_bad += !check_runs(spool, &state);
    tap_eq_u64(n_bad, 0, "%d random lists, in runs", ROUNDS);
    tap_eq_u64(weft_spool_file_bytes(spool), 0, "runs are dropped");
    weft_spool_free(spool);
}

int main(void)
{
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 1); /* of many small files */
    check_arrays(0);
    check_arrays(100000);
    check_arrays(1 << 20);
    check_failures();
    check_sorting(0);
    check_sorting(1 << 20);
    return tap_done();
}
