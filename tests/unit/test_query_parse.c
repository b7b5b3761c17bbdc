/* SPDX-License-Identifier: MIT */
#include "query/match.h"
#include "query/parse.h"
#include "query/part.h"
#include "tap.h"

static void durations(void)
{
    static const struct {
        const char *text;
        uint64_t ns;
        bool is_good;
    } rows[] = {
        { "0", 0, true },
        { "100ns", 100, true },
        { "3us", 3000, true },
        { "3\xc2\xb5s", 3000, true },
        { "20ms", 20000000, true },
        { "1.5s", 1500000000, true },
        { "0.0000000004s", 0, true },
        { "0.0000000005s", 1, true },
        { ".5ms", 500000, true },
        { "2min", UINT64_C(120000000000), true },
        { "5000h", UINT64_C(18000000000000000), true },
        { "6000000h", 0, false },
        { "18446744073709551615ns", UINT64_MAX, true },
        { "18446744073709551616ns", 0, false },
        { "5", 0, false },
        { "", 0, false },
        { "ms", 0, false },
        { "-1ms", 0, false },
        { "1e3ms", 0, false },
        { "1 ms", 0, false },
        { "1.2.3s", 0, false },
        { "1msx", 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t ns;
        struct weft_err err = { 0 };
        enum weft_code code = weft_parse_duration(rows[i].text, &ns, &err);
        tap_eq_u64(code, rows[i].is_good ? WEFT_OK : WEFT_E_ARG, "duration '%s'", rows[i].text);
        if (rows[i].is_good)
            tap_eq_u64(ns, rows[i].ns, "ns of '%s'", rows[i].text);
    }
}

static void time_points(void)
{
    struct weft_time_point point;
    tap_ok(weft_parse_time_point("1.5s", &point, NULL) == WEFT_OK && !point.is_absolute &&
               point.at_ns == 1500000000,
           "a time after the start");
    tap_ok(weft_parse_time_point("@123", &point, NULL) == WEFT_OK && point.is_absolute &&
               point.at_ns == 123,
           "an absolute time");
    tap_ok(weft_parse_time_point("@1s", &point, NULL) == WEFT_E_ARG, "@1s is refused");
}

static void sizes(void)
{
    static const struct {
        const char *text;
        uint64_t n_bytes;
        bool is_good;
    } rows[] = {
        { "4096", 4096, true },      { "64k", 65536, true },
        { "512M", 512 << 20, true }, { "1.5GiB", UINT64_C(3) << 29, true },
        { "10MB", 10000000, true },  { "16777216T", 0, false },
        { "12X", 0, false },         { "", 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t n_bytes;
        enum weft_code code = weft_parse_bytes(rows[i].text, &n_bytes, NULL);
        tap_ok((code == WEFT_OK) == rows[i].is_good &&
                   (!rows[i].is_good || n_bytes == rows[i].n_bytes),
               "size '%s'", rows[i].text);
    }
}

static void thresholds(void)
{
    struct weft_threshold threshold;
    double fraction;
    tap_ok(weft_parse_threshold("1%", &threshold, NULL) == WEFT_OK &&
               threshold.fraction > 0.00999 && threshold.fraction < 0.01001 &&
               threshold.absolute_ns == 0,
           "1%% is a share");
    tap_ok(weft_parse_threshold("5ms", &threshold, NULL) == WEFT_OK &&
               threshold.absolute_ns == 5000000,
           "5ms is a time");
    tap_ok(weft_parse_threshold("5", &threshold, NULL) == WEFT_E_ARG, "5 is neither");
    tap_ok(weft_parse_threshold("0ns", &threshold, NULL) == WEFT_E_ARG, "no time at all");
    tap_ok(weft_parse_fraction("101%", &fraction, NULL) == WEFT_E_ARG, "more than the whole");
    tap_ok(weft_parse_fraction("100%", &fraction, NULL) == WEFT_OK && fraction >= 1, "the whole");
    tap_ok(weft_parse_fraction("0.13x", &fraction, NULL) == WEFT_E_ARG, "a share and more text");
}

static void counts(void)
{
    uint64_t n;
    tap_ok(weft_parse_count("400", 0, 1000, &n, NULL) == WEFT_OK && n == 400, "a count");
    tap_ok(weft_parse_count("1001", 0, 1000, &n, NULL) == WEFT_E_ARG, "a count above its limit");
    tap_ok(weft_parse_count("1.0", 0, 1000, &n, NULL) == WEFT_E_ARG, "a count with a point");
    tap_ok(weft_parse_count("-1", 0, 1000, &n, NULL) == WEFT_E_ARG, "a count below 0");
}

static void halves(void)
{
    static const struct {
        const char *text;
        uint32_t halves;
        bool is_good;
    } rows[] = {
        { "1.5", 3, true },   { "0", 0, true },
        { "2", 4, true },     { "2.0", 4, true },
        { ".5", 1, true },    { "10.50", 21, true },
        { "11", 22, true },   { "1.3", 0, false },
        { "1.55", 0, false }, { "11.5", 0, false },
        { "", 0, false },     { "1.5x", 0, false },
        { "-1", 0, false },   { "18446744073709551615", 0, false },
        { "0.05", 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n;
        enum weft_code code = weft_parse_halves(rows[i].text, 22, &n, NULL);
        tap_ok((code == WEFT_OK) == rows[i].is_good && n == rows[i].halves, "distance '%s'",
               rows[i].text);
    }
}

static bool is_text(const char *have, const char *want)
{
    return have && want ? strcmp(have, want) == 0 : have == want;
}

static void parts(void)
{
    static const struct {
        const char *text, *path, *from, *to;
        bool is_part, is_good;
    } rows[] = {
        { "a.weft", "a.weft", NULL, NULL, false, true },
        { "a.weft@1.5s-2s", "a.weft", "1.5s", "2s", true, true },
        { "a.weft@-2s", "a.weft", NULL, "2s", true, true },
        { "a.weft@2s-", "a.weft", "2s", NULL, true, true },
        { "@1ms-2ms", NULL, "1ms", "2ms", true, true },
        { "@-", NULL, NULL, NULL, true, true },
        { "a.weft@@17-@19", "a.weft", "@17", "@19", true, true },
        { "me@host.weft", "me@host.weft", NULL, NULL, false, true },
        { "me@host-2.weft@1s-2s", "me@host-2.weft", "1s", "2s", true, true },
        { "@1-2", NULL, NULL, NULL, false, false },
        { "@", NULL, NULL, NULL, false, false },
        { "", NULL, NULL, NULL, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_part part;
        enum weft_code code = weft_part_init(&part, rows[i].text, NULL);
        tap_ok((code == WEFT_OK) == rows[i].is_good && is_text(part.path, rows[i].path) &&
                   is_text(part.from, rows[i].from) && is_text(part.to, rows[i].to) &&
                   part.is_part == rows[i].is_part,
               "part '%s'", rows[i].text);
        weft_part_fini(&part);
    }
}

static bool matches(const char *pattern, const char *name)
{
    struct weft_matcher *matcher;
    if (weft_matcher_new(pattern, &matcher, NULL) != WEFT_OK)
        return false;
    bool is_match = false;
    const enum weft_code code = weft_matcher_matches(matcher, weft_str_of(name), &is_match, NULL);
    weft_matcher_free(matcher);
    return code == WEFT_OK && is_match;
}

static void patterns(void)
{
    struct weft_matcher *matcher;
    struct weft_err err = { 0 };
    tap_ok(matches("EVICT", "__wt_evict_page"), "letters of either case");
    tap_ok(!matches("evictor", "__wt_evict"), "longer than the name");
    tap_ok(matches("", "anything"), "nothing is in everything");
    tap_ok(matches("/^__wt_.*page$/", "__wt_evict_page"), "an expression");
    tap_ok(!matches("/^EVICT/", "evict"), "an expression is exact in case");
    tap_ok(matches("a.c", "xa.cx") && !matches("a.c", "abc"), "a point is a point in text");
    tap_eq_u64(weft_matcher_new("/(/", &matcher, &err), WEFT_E_ARG, "a bad expression");
    tap_ok(strstr(err.text, "/(/") != NULL, "... is named: %s", err.text);
}

int main(void)
{
    durations();
    time_points();
    sizes();
    thresholds();
    counts();
    halves();
    parts();
    patterns();
    return tap_done();
}
