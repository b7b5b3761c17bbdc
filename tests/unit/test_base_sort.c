/* SPDX-License-Identifier: MIT
 *
 * The external sorter against a plain stable sort, on random records: in order, nearly in order and
 * in no order, with room for all or for few. And decimal times against digits spelled out.
 */
#include "base/decimal.h"
#include "base/sort.h"
#include "tap.h"

enum { ROUNDS = 400, MOST_LANES = 5, MOST_RECORDS = 3000 };

struct item {
    uint32_t lane;
    struct weft_sort_record record; /* words[0]: when it was added */
};

static int compare_items(const void *a, const void *b)
{
    const struct item *left = a;
    const struct item *right = b;
    if (left->lane != right->lane)
        return left->lane < right->lane ? -1 : 1;
    if (left->record.key != right->record.key)
        return left->record.key < right->record.key ? -1 : 1;
    return left->record.words[0] < right->record.words[0] ? -1 : 1;
}

static size_t draw_items(uint64_t *state, struct item *items)
{
    size_t n_items = tap_random(state) % MOST_RECORDS;
    uint64_t n_lanes = 1 + tap_random(state) % MOST_LANES;
    uint64_t disorder = tap_random(state) % 4;
    for (size_t k = 0; k < n_items; k++) {
        uint64_t key = disorder == 3 ? tap_random(state) % 64 : k / 2;
        if (disorder == 2 && tap_random(state) % 50 == 0)
            key -= key < 40 ? key : 40;
        items[k] = (struct item){ .lane = (uint32_t)(tap_random(state) % n_lanes) };
        items[k].record = (struct weft_sort_record){ .key = key, .words = { k, ~k, 7, key } };
    }
    return n_items;
}

/* Reads all lanes; the number of records that are not the wanted ones. */
static size_t read_lanes(struct weft_sorter *sorter, const struct item *want, size_t n_items)
{
    size_t at = 0;
    size_t n_wrong = 0;
    for (uint32_t lane = 0; lane <= MOST_LANES; lane++) {
        struct weft_sort_reader *reader;
        const struct weft_sort_record *records;
        size_t n = 0;
        if (weft_sort_reader_open(sorter, lane, &reader, NULL) != WEFT_OK)
            return n_items + 1;
        do {
            if (weft_sort_reader_next(reader, &records, &n, NULL) != WEFT_OK)
                return n_items + 1;
            for (size_t k = 0; k < n; k++, at++)
                n_wrong += at >= n_items || want[at].lane != lane ||
                           memcmp(&want[at].record, &records[k], sizeof *records) != 0;
        } while (n);
        weft_sort_reader_close(reader);
    }
    return n_wrong + (n_items - at);
}

static void test_sorting(uint64_t seed)
{
    static struct item items[MOST_RECORDS];
    static const size_t limits[] = { 0, 1, 2000, 20000 };
    unsigned n_bad = 0;
    uint64_t n_spilled = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t state = seed + round;
        size_t n_items = draw_items(&state, items);
        struct weft_sorter *sorter = weft_sorter_new(limits[round % 4]);
        for (size_t k = 0; k < n_items; k++)
            n_bad += weft_sorter_add(sorter, items[k].lane, &items[k].record, NULL) != WEFT_OK;
        qsort(items, n_items, sizeof *items, compare_items);
        uint64_t n_counted = 0;
        for (uint32_t lane = 0; lane < MOST_LANES; lane++)
            n_counted += weft_sorter_count(sorter, lane);
        n_bad += n_counted != n_items || read_lanes(sorter, items, n_items) != 0;
        n_spilled += weft_sorter_spilled_bytes(sorter) > 0;
        weft_sorter_free(sorter);
    }
    tap_eq_u64(n_bad, 0, "%d random sorts, %" PRIu64 " of them through the file", ROUNDS,
               n_spilled);
    tap_ok(n_spilled > ROUNDS / 3, "some go through the file, some do not");
}

static void test_no_folder(void)
{
    const struct weft_sort_record record = { .key = 1 };
    (void)setenv("TMPDIR", "/nonexistent", 1);
    struct weft_sorter *sorter = weft_sorter_new(1);
    struct weft_err err = { 0 };
    enum weft_code code = WEFT_OK;
    for (int k = 0; code == WEFT_OK && k < 1000; k++)
        code = weft_sorter_add(sorter, 0, &record, &err);
    tap_ok(code == WEFT_OK && weft_sorter_spilled_bytes(sorter) > 0,
           "without TMPDIR's folder another takes its place: %s", err.text);
    weft_sorter_free(sorter);
    (void)unsetenv("TMPDIR");
}

static const struct {
    const char *text;
    enum weft_decimal_unit unit;
    bool is_time;
    int64_t ns;
    uint32_t fraction;
} times[] = {
    { "0", WEFT_DECIMAL_NS, true, 0, 0 },
    { "2019305789.2778", WEFT_DECIMAL_US, true, 2019305789277, 800000000 },
    { "1.5", WEFT_DECIMAL_S, true, 1500000000, 0 },
    { ".5", WEFT_DECIMAL_MS, true, 500000, 0 },
    { "5.", WEFT_DECIMAL_MS, true, 5000000, 0 },
    { "-1.5", WEFT_DECIMAL_NS, true, -2, 500000000 },
    { "-1.5", WEFT_DECIMAL_US, true, -1500, 0 },
    { "+7", WEFT_DECIMAL_NS, true, 7, 0 },
    { "1e3", WEFT_DECIMAL_NS, true, 1000, 0 },
    { "1.25E-2", WEFT_DECIMAL_US, true, 12, 500000000 },
    { "123456789e-30", WEFT_DECIMAL_S, true, 0, 0 },
    { "0e400", WEFT_DECIMAL_S, true, 0, 0 },
    { "0.0000000000000000000000000000009", WEFT_DECIMAL_S, true, 0, 0 },
    { "00000000000000000000000000000012", WEFT_DECIMAL_NS, true, 12, 0 },
    { "1.123456789123456789", WEFT_DECIMAL_NS, true, 1, 123456789 },
    { "2305843009213693952", WEFT_DECIMAL_NS, true, 2305843009213693952, 0 },
    { "2305843009213693953", WEFT_DECIMAL_NS, false, 0, 0 },
    { "18446744073709551617", WEFT_DECIMAL_NS, false, 0, 0 },
    { "1e300", WEFT_DECIMAL_NS, false, 0, 0 },
    { "", WEFT_DECIMAL_NS, false, 0, 0 },
    { ".", WEFT_DECIMAL_NS, false, 0, 0 },
    { "-", WEFT_DECIMAL_NS, false, 0, 0 },
    { "1e", WEFT_DECIMAL_NS, false, 0, 0 },
    { "1.2.3", WEFT_DECIMAL_NS, false, 0, 0 },
    { "0x10", WEFT_DECIMAL_NS, false, 0, 0 },
    { " 1", WEFT_DECIMAL_NS, false, 0, 0 },
    { "NaN", WEFT_DECIMAL_NS, false, 0, 0 },
};

static void test_decimals(void)
{
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        struct weft_decimal_ns time = { 0 };
        bool is_time =
            weft_decimal_parse(times[k].text, strlen(times[k].text), times[k].unit, &time);
        tap_ok(is_time == times[k].is_time &&
                   (!is_time || (time.ns == times[k].ns && time.fraction == times[k].fraction)),
               "\"%s\" e%d: %" PRId64 " ns and %" PRIu32, times[k].text, (int)times[k].unit,
               time.ns, time.fraction);
    }
}

/* The ways to write one number say the same: with an exponent, zeros, a sign. */
static void test_spellings(uint64_t seed)
{
    static const enum weft_decimal_unit units[] = { WEFT_DECIMAL_NS, WEFT_DECIMAL_US,
                                                    WEFT_DECIMAL_MS, WEFT_DECIMAL_S };
    static const char *const spellings[] = { "%se0", "+%s", "000%s", "0000000000000000%sE-0" };
    unsigned n_bad = 0;
    uint64_t state = seed;
    for (int round = 0; round < 20000; round++) {
        char plain[64];
        enum weft_decimal_unit unit = units[tap_random(&state) % 4];
        uint64_t whole = tap_random(&state) >> (tap_random(&state) % 64);
        uint64_t decimals = tap_random(&state) >> (tap_random(&state) % 64);
        (void)snprintf(plain, sizeof plain,
                       tap_random(&state) % 3 ? "%" PRIu64 ".%" PRIu64 : "%" PRIu64, whole,
                       decimals);
        struct weft_decimal_ns want = { 0 };
        bool is_time = weft_decimal_parse(plain, strlen(plain), unit, &want);
        for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++) {
            char text[128];
            struct weft_decimal_ns got = { 0 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(text, sizeof text, spellings[k], plain);
#pragma GCC diagnostic pop
            bool is_same = weft_decimal_parse(text, strlen(text), unit, &got) == is_time &&
                           got.ns == want.ns && got.fraction == want.fraction;
            n_bad += !is_same;
            if (!is_same && n_bad < 4)
                tap_note("%s e%d", text, (int)unit);
        }
    }
    tap_eq_u64(n_bad, 0, "20000 numbers, spelled five ways");
}

int main(void)
{
    uint64_t seed = tap_seed(1);
    test_sorting(seed);
    test_no_folder();
    test_decimals();
    test_spellings(seed);
    return tap_done();
}
