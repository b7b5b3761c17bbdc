/* SPDX-License-Identifier: MIT
 *
 * Filters of executions: what they choose, what they refuse and where, and any combination of them
 * against a plain evaluation.
 */
#include "matrix_builder.h"
#include "query/filter.h"
#include "schema/result.h"
#include "tap.h"

enum { ITEMS = 12, TEXT_BYTES = 4096 };

/* duration: 1 to 12 ms, of which 2 ms are in fsync in every third; page_faults: i % 5. */
static struct weft_ecct_matrix *make(void)
{
    struct matrix_builder made;
    matrix_begin(&made);
    const uint32_t faults = matrix_metric(&made, "page_faults", WEFT_METRIC_COUNT);
    const uint32_t read = matrix_metric(&made, "bytes_read", WEFT_METRIC_BYTES);
    const uint32_t own = matrix_metric(&made, "temperature", WEFT_METRIC_NUMBER);
    const uint32_t a = matrix_node(&made, 0, WEFT_FRAME_FUNCTION, "handle");
    const uint32_t b = matrix_node(&made, a, WEFT_FRAME_FUNCTION, "fsync");
    const uint32_t c = matrix_node(&made, b, WEFT_FRAME_FUNCTION, "fsync");
    const uint32_t d = matrix_node(&made, 0, WEFT_FRAME_FUNCTION, "operator->");
    (void)matrix_source(&made, "/tmp/runs/a.weft", "base");
    (void)matrix_source(&made, "/tmp/runs/b.weft", "new one");
    for (uint32_t i = 0; i < ITEMS; i++) {
        matrix_item(&made, i % 2, i % 3 ? "worker-1" : "main", i * UINT64_C(1000000));
        made.items.items[i].flags = i == 11 ? WEFT_EXECUTION_UNFINISHED : 0;
        if (i % 3 == 2) {
            matrix_value(&made, a, (i - 1) * UINT64_C(1000000));
            matrix_value(&made, b, 1500000);
            matrix_value(&made, c, 500000);
        } else {
            matrix_value(&made, i ? a : d, (i + 1) * UINT64_C(1000000));
        }
        matrix_number(&made, faults, i % 5);
        if (i > 5)
            matrix_number(&made, read, 4096 * i);
        matrix_number(&made, own, -1.5 + i);
    }
    return matrix_end(&made);
}

static enum weft_code choose(struct weft_filter_scope *scope, const char *text, unsigned *chosen,
                             struct weft_err *err)
{
    uint8_t members[ITEMS] = { 0 };
    struct weft_filter *filter;
    enum weft_code code = weft_filter_parse(weft_str_of(text), &filter, err);
    if (code == WEFT_OK)
        code = weft_filter_apply(filter, scope, 2, members, err);
    weft_filter_free(filter);
    *chosen = 0;
    for (unsigned i = 0; i < ITEMS; i++)
        *chosen |= members[i] ? 1u << i : 0;
    return code;
}

static const struct {
    const char *text;
    unsigned chosen; /* bit i: item i */
} rows[] = {
    { "", 0xfff },
    { "all", 0xfff },
    { "duration<3ms", 0x003 },
    { "duration <= 3000us", 0x007 },
    { "duration <= 3 ms and bytes_read = 0 kB", 0x007 },
    { "duration>10ms", 0xc00 },
    { "duration=1ms", 0x001 },
    { "duration!=1ms", 0xffe },
    { "start in 1ms-3ms", 0x00e },
    { "start in 1000 \xc2\xb5s .. 3 ms", 0x00e },
    { "start in 0..0.001s", 0x003 },
    { "page_faults>=3", 0x318 },
    { "page_faults in 0-1", 0xc63 },
    { "bytes_read>0", 0xfc0 },
    { "bytes_read=0", 0x03f },
    { "bytes_read>=32k", 0xf00 },
    { "temperature<-1", 0x001 },
    { "temperature in -1..1.5", 0x00e },
    { "metric('temperature')>0.9e1", 0x800 },
    { "tag=base", 0x555 },
    { "tag='new one'", 0xaaa },
    { "tag=\"new*\"", 0xaaa },
    { "tag!=base", 0xaaa },
    { "trace=a.weft", 0x555 },
    { "trace=/tmp/runs/b.weft", 0xaaa },
    { "host=here", 0xfff },
    { "host=''", 0x000 },
    { "thread=main", 0x249 },
    { "thread=worker*", 0xdb6 },
    { "flag=unfinished", 0x800 },
    { "flag!=unfinished", 0x7ff },
    { "context('fsync')>1ms", 0x924 },
    { "context('fsync')=2ms", 0x924 },
    { "context('SYNC')>1ms", 0x924 },
    { "context('handle>fsync')>=2ms", 0x924 },
    { "context('handle > fsync > fsync')=0.5ms", 0x924 },
    { "context('handle;fsync')=2ms", 0x924 },
    { "context('handle;fsync;fsync')=500us", 0x924 },
    { "context('/^fs.nc$/')>0", 0x924 },
    { "context('operator->')>0", 0x001 },
    { "duration>=p50", 0xfc0 },
    { "duration>p100", 0x000 },
    { "not duration<3ms", 0xffc },
    { "duration<3ms or duration>10ms", 0xc03 },
    { "duration<6ms and tag=base or page_faults=4", 0x215 },
    { "duration<6ms and (tag=base or page_faults=4)", 0x015 },
    { "NOT tag=base AND thread=main", 0x208 },
};

static const struct {
    const char *text, *wanted; /* part of the error */
} errors[] = {
    { "duration", "column 9: expected <, <=, >, >=, =, != or in, found its end" },
    { "duration<", "column 10: expected a value such as 20ms, 3 or p95, found its end" },
    { "duration<20", "column 10: expected a duration" },
    { "\xc2\xb5rate<1", "column 1: expected a metric (duration, start, page_faults" },
    { "tag='\xc2\xb5' and x<1", "column 13: expected a metric" },
    { "page_faults>1ms", "column 13: expected a number" },
    { "page_faults>0x10", "column 13: expected a number" },
    { "bytes_read>1ms", "column 12: expected a size" },
    { "duration>p101", "column 10: expected a duration" },
    { "start in 2ms-1ms", "column 14: expected an end of the range" },
    { "start in 2ms", "column 13: expected '-'" },
    { "(duration<1ms", "column 14: expected 'and', 'or' or ')'" },
    { "duration<1ms)", "column 13: expected 'and', 'or' or the end" },
    { "duration<1ms tag=base", "column 14: expected 'and', 'or' or the end" },
    { "tag<base", "column 4: expected = or !=" },
    { "tag='base", "column 5: expected a quote" },
    { "context(fsync)>1ms", "column 9: expected a name in quotes" },
    { "context('fsync'>1ms", "column 16: expected ')'" },
    { "context('')>1ms", "column 9: expected a name that is not empty" },
    { "context('nowhere')>1ms", "no execution has a context 'nowhere'" },
    { "flag=odd", "column 6: expected cut_start" },
    { "and", "column 4: expected <" },
    { "duration<1ms and", "column 17: expected a metric, tag" },
};

static void test_rows(struct weft_filter_scope *scope)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_err err = { 0 };
        unsigned chosen;
        const enum weft_code code = choose(scope, rows[i].text, &chosen, &err);
        if (!tap_ok(code == WEFT_OK && chosen == rows[i].chosen, "%s", rows[i].text))
            tap_note("chose %03x, wanted %03x; %s", chosen, rows[i].chosen, err.text);
    }
}

static void test_errors(struct weft_filter_scope *scope)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct weft_err err = { 0 };
        unsigned chosen;
        const enum weft_code code = choose(scope, errors[i].text, &chosen, &err);
        if (!tap_ok(code == WEFT_E_ARG && strstr(err.text, errors[i].wanted), "refused: %s",
                    errors[i].text))
            tap_note("%s", err.text);
    }
}

static void append(char *text, const char *more, size_t n_bytes)
{
    const size_t n_used = strlen(text);
    (void)snprintf(text + n_used, n_bytes - n_used, "%s", more);
}

static void test_limits(struct weft_filter_scope *scope)
{
    static char text[WEFT_FILTER_BYTES_MAX + 2];
    unsigned chosen;
    memset(text, '(', sizeof text - 1);
    tap_ok(choose(scope, text, &chosen, NULL) == WEFT_E_LIMIT, "too long a filter");
    text[WEFT_FILTER_DEPTH_MAX + 1] = '\0';
    tap_ok(choose(scope, text, &chosen, NULL) == WEFT_E_LIMIT, "too many brackets");
    text[0] = '\0';
    for (unsigned i = 0; i < WEFT_FILTER_TESTS_MAX; i++)
        append(text, i ? " or all" : "all", sizeof text);
    tap_ok(choose(scope, text, &chosen, NULL) == WEFT_E_LIMIT, "too many tests");
}

/* A random filter, and what it chooses, of the rows above. */
static unsigned put_random(uint64_t *seed, char *text, unsigned depth)
{
    const uint64_t kind = depth == 0 ? 0 : tap_random(seed) % 4;
    if (kind == 0) {
        const size_t row = 2 + tap_random(seed) % (sizeof rows / sizeof *rows - 2);
        const bool is_plain = !strstr(rows[row].text, " or ") && !strstr(rows[row].text, " and ") &&
                              !strstr(rows[row].text, "NOT") && !strstr(rows[row].text, "not");
        append(text, is_plain ? rows[row].text : "all", TEXT_BYTES);
        return is_plain ? rows[row].chosen : 0xfff;
    }
    if (kind == 1) {
        append(text, "not (", TEXT_BYTES);
        const unsigned inner = put_random(seed, text, depth - 1);
        append(text, ")", TEXT_BYTES);
        return 0xfff & ~inner;
    }
    append(text, "(", TEXT_BYTES);
    const unsigned left = put_random(seed, text, depth - 1);
    append(text, kind == 2 ? ") and (" : ") or (", TEXT_BYTES);
    const unsigned right = put_random(seed, text, depth - 1);
    append(text, ")", TEXT_BYTES);
    return kind == 2 ? left & right : left | right;
}

static void test_random(struct weft_filter_scope *scope, uint64_t seed)
{
    enum { ROUNDS = 2000 };
    unsigned n_same = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char text[TEXT_BYTES] = "";
        struct weft_err err = { 0 };
        unsigned chosen;
        const unsigned wanted = put_random(&seed, text, (unsigned)(round % 5));
        const bool is_same = choose(scope, text, &chosen, &err) == WEFT_OK && chosen == wanted;
        if (!is_same)
            tap_note("%s: %03x, wanted %03x; %s", text, chosen, wanted, err.text);
        n_same += is_same;
    }
    tap_eq_u64(n_same, ROUNDS, "random filters choose what a plain evaluation does");
}

int main(void)
{
    const uint64_t seed = tap_seed(8);
    struct weft_ecct_matrix *matrix = make();
    struct weft_filter_scope *scope = weft_filter_scope_new(matrix);
    test_rows(scope);
    test_errors(scope);
    test_limits(scope);
    test_random(scope, seed);
    weft_filter_scope_free(scope);
    weft_result_free(matrix);
    return tap_done();
}
