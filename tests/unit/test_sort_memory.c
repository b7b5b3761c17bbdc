/* SPDX-License-Identifier: MIT
 *
 * The external sorter where there is less memory than its limit: what it holds goes to the file
 * earlier, and lanes are sorted where they lie. A child process lives under a limit on memory.
 */
#include "base/sort.h"
#include "tap.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_RECORDS = 600000, N_LANES = 3, RECORD_BYTES = sizeof(struct weft_sort_record) };

/* Bytes of data that this process has now. */
static uint64_t data_bytes(void)
{
    char line[256];
    unsigned long long n_kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "VmData: %llu kB", &n_kb) != 1)
        ;
    if (file)
        (void)fclose(file);
    return (uint64_t)n_kb << 10;
}

static bool set_limit(uint64_t n_more)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) != 0)
        return false;
    limit.rlim_cur = (rlim_t)(data_bytes() + n_more);
    return setrlimit(RLIMIT_DATA, &limit) == 0;
}

/* Keys of few values: records of equal keys must stay in order. */
static bool add_all(struct weft_sorter *sorter, uint64_t seed)
{
    struct weft_err err = { 0 };
    uint64_t state = seed;
    for (uint64_t k = 0; k < N_RECORDS; k++) {
        const uint32_t lane = (uint32_t)(tap_random(&state) % N_LANES);
        const struct weft_sort_record record = { .key = tap_random(&state) % (N_RECORDS / 8),
                                                 .words = { k, lane } };
        if (weft_sorter_add(sorter, lane, &record, &err) != WEFT_OK) {
            fprintf(stderr, "# %s\n", err.text);
            return false;
        }
    }
    return true;
}

static bool is_sorted(struct weft_sorter *sorter)
{
    uint64_t n_read = 0;
    for (uint32_t lane = 0; lane < N_LANES; lane++) {
        struct weft_sort_reader *reader;
        const struct weft_sort_record *records;
        struct weft_sort_record last = { 0 };
        size_t n;
        if (weft_sort_reader_open(sorter, lane, &reader, NULL) != WEFT_OK)
            return false;
        while (weft_sort_reader_next(reader, &records, &n, NULL) == WEFT_OK && n) {
            for (size_t k = 0; k < n; last = records[k++], n_read++)
                if (records[k].words[1] != lane || records[k].key < last.key ||
                    (records[k].key == last.key && records[k].words[0] < last.words[0]))
                    return false;
        }
        weft_sort_reader_close(reader);
    }
    return n_read == N_RECORDS;
}

/* With `n_more` bytes of memory in all; 0: as much as there is. */
static void test_limit(uint64_t limit_bytes, uint64_t n_more, bool may_spill, const char *name)
{
    const pid_t child = fork();
    int status = -1;
    if (child == 0) {
        struct weft_sorter *sorter = weft_sorter_new((size_t)limit_bytes);
        const bool is_good = sorter && (n_more == 0 || set_limit(n_more)) && add_all(sorter, 7) &&
                             is_sorted(sorter) &&
                             (weft_sorter_spilled_bytes(sorter) > 0) == may_spill;
        weft_sorter_free(sorter);
        _exit(is_good ? 0 : 1);
    }
    (void)waitpid(child, &status, 0);
    tap_ok(status == 0, "%s", name);
}

int main(void)
{
    const uint64_t n_bytes = (uint64_t)N_RECORDS * RECORD_BYTES;
    test_limit(0, 0, false, "all in memory");
    test_limit(n_bytes / 8, 0, true, "most in the file");
    if (TAP_IS_SANITIZED)
        return tap_done(); /* its own memory would count */
    test_limit(0, n_bytes / 8, true, "an eighth of the memory that the limit allows");
    test_limit(0, n_bytes / 20, true, "a twentieth");
    test_limit(0, n_bytes + n_bytes / 2, false, "no room to sort but in place");
    return tap_done();
}
