/* SPDX-License-Identifier: MIT
 *
 * Text traces: lines, threads, names, times, and what is wrong with a line.
 */
#include "ingest/text/text.h"
#include "recording_sink.h"
#include "tap.h"

enum { MOST_INPUTS = 3 };

struct row {
    const char *name;
    const char *paths[MOST_INPUTS];
    const char *texts[MOST_INPUTS];
    const char *want; /* NULL: an error */
    enum weft_code code;
    uint64_t line, at_off;
    const char *words;
};

static const struct row rows[] = {
    { .name = "one call, a blank last line",
      .paths = { "d/worker-12.txt" },
      .texts = { "0 a 1\n1 a 5\n\n" },
      .want = "begin text: \nclock 1000000000 zero 1\nfunction 0 a [] 0x0\n"
              "thread 0 tid 12 pid 0 name worker-12\n"
              "-- 0\nE 0 @0\nX 0 @4\nend @4\n" },
    { .name = "blanks in a name, CRLF, TAB, no newline at the end",
      .paths = { "t" },
      .texts = { "0 ns::f(int, char) 1\r\n1\tns::f(int, char)\t5" },
      .want = "begin text: \nclock 1000000000 zero 1\nfunction 0 ns::f(int, char) [] 0x0\n"
              "thread 0 tid 1 pid 0 name t\n-- 0\nE 0 @0\nX 0 @4\nend @4\n" },
    { .name = "several threads share names and one zero",
      .paths = { "a.txt", "x7y3.log", "3.txt" },
      .texts = { "0 f 100\n1 f 120\n", "0 g 90\n0 f 95\n", "1 f 200\n" },
      .want = "begin text: \nclock 1000000000 zero 90\nfunction 0 f [] 0x0\nfunction 1 g [] 0x0\n"
              "thread 0 tid 1 pid 0 name a\nthread 1 tid 3 pid 0 name x7y3\n"
              "thread 2 tid 3 pid 0 generation 1 name 3\n"
              "-- 0\nE 0 @10\nX 0 @30\nend @30\n"
              "-- 1\nE 1 @0\nE 0 @5\nend @5\n"
              "-- 2\nX 0 @110\nend @110\n" },
    { .name = "time goes back: the sink mends it",
      .paths = { "t" },
      .texts = { "0 a 10\n1 a 20\n0 b 5\n1 b 8\n" },
      .want = "begin text: \nclock 1000000000 zero 5\nfunction 0 a [] 0x0\nfunction 1 b [] 0x0\n"
              "thread 0 tid 1 pid 0 name t\n"
              "-- 0\nE 0 @5\nX 0 @15\nE 1 @0\nX 1 @3\nend @15\n" },
    { .name = "arrows: TimeSquared's threads and locks",
      .paths = { "small.txt", "other-3.txt" },
      .texts = { "\n<-- f 23 105\n--> __wt_spin_lock 4 100 data handle.0x1862\n\n"
                 "<-- __wt_spin_lock 4 120 data handle.0x1862\r\n--> g 23 130\n",
                 "--> g 4 140\n" },
      .want = "begin text: \nclock 1000000000 zero 100\nfunction 0 f [] 0x0\n"
              "function 1 __wt_spin_lock [] 0x0\nfunction 2 g [] 0x0\n"
              "thread 0 tid 23 pid 0\nthread 1 tid 4 pid 0\nthread 2 tid 4 pid 0 generation 1\n"
              "-- 0\nX 0 @5\nE 2 @30\nend @30\n"
              "-- 1\nE 1 @0\ncall_args  [text] 0 @0 data handle.0x1862\nX 1 @20\nend @20\n"
              "-- 2\nE 2 @40\nend @40\n" },
    { .name = "arrows without threads, short ones, names with blanks",
      .paths = { "d/worker-7.txt" },
      .texts = { "-> operator new 10\n--> ns::f(int, char) 7 12\n<- ns::f(int, char) 8 14\n"
                 "<--\toperator new\t16\n" },
      .want = "begin text: \nclock 1000000000 zero 10\nfunction 0 operator new [] 0x0\n"
              "function 1 ns::f(int, char) [] 0x0\n"
              "thread 0 tid 7 pid 0 name worker-7\nthread 1 tid 7 pid 0 generation 1\n"
              "thread 2 tid 8 pid 0\n"
              "-- 0\nE 0 @0\nX 0 @6\nend @6\n-- 1\nE 1 @2\nend @2\n-- 2\nX 1 @4\nend @4\n" },
    { .name = "a direction among arrows",
      .paths = { "t" },
      .texts = { "--> f 1\n\n1 f 2\n" },
      .code = WEFT_E_MALFORMED,
      .line = 3,
      .at_off = 9,
      .words = "an arrow" },
    { .name = "an arrow among directions",
      .paths = { "t" },
      .texts = { "0 f 1\n<-- f 2\n" },
      .code = WEFT_E_MALFORMED,
      .line = 2,
      .at_off = 6,
      .words = "direction 0 or 1" },
    { .name = "an arrow without time",
      .paths = { "t" },
      .texts = { "--> f x\n" },
      .code = WEFT_E_MALFORMED,
      .line = 1,
      .words = "a time in whole ns" },
    { .name = "an arrow without name",
      .paths = { "t" },
      .texts = { "--> 12\n" },
      .code = WEFT_E_MALFORMED,
      .line = 1,
      .words = "a name between" },
    { .name = "an arrow without blank",
      .paths = { "t" },
      .texts = { "--> f 1\n-->g 2\n" },
      .code = WEFT_E_MALFORMED,
      .line = 2,
      .at_off = 8,
      .words = "a blank" },
    { .name = "an arrow's thread beyond 64 bits is a name",
      .paths = { "t" },
      .texts = { "--> f 18446744073709551616 5\n" },
      .want = "begin text: \nclock 1000000000 zero 5\n"
              "function 0 f 18446744073709551616 [] 0x0\nthread 0 tid 1 pid 0 name t\n"
              "-- 0\nE 0 @0\nend @0\n" },
    { .name = "no file", .code = WEFT_E_ARG, .words = "found none" },
    { .name = "an empty file",
      .paths = { "t" },
      .texts = { "" },
      .code = WEFT_E_TRUNCATED,
      .words = "found none" },
    { .name = "an empty file beside a good one",
      .paths = { "t", "u" },
      .texts = { "0 a 1\n", "" },
      .code = WEFT_E_TRUNCATED,
      .words = "found none" },
    { .name = "a wrong direction",
      .paths = { "t" },
      .texts = { "0 a 1\n2 a 5\n" },
      .code = WEFT_E_MALFORMED,
      .line = 2,
      .at_off = 6,
      .words = "direction 0 or 1" },
    { .name = "no time",
      .paths = { "t" },
      .texts = { "0 a 1\n1 a\n" },
      .code = WEFT_E_MALFORMED,
      .line = 2,
      .at_off = 6,
      .words = "a time in ns" },
    { .name = "a time that is no number",
      .paths = { "t" },
      .texts = { "0 a 1.5\n" },
      .code = WEFT_E_MALFORMED,
      .line = 1,
      .words = "whole ns" },
    { .name = "a negative time",
      .paths = { "t" },
      .texts = { "0 a -1\n" },
      .code = WEFT_E_MALFORMED,
      .line = 1,
      .words = "whole ns" },
    { .name = "a time beyond 64 bits",
      .paths = { "t" },
      .texts = { "0 a 18446744073709551616\n" },
      .code = WEFT_E_MALFORMED,
      .line = 1,
      .words = "below 2^64" },
    { .name = "times that are too far apart",
      .paths = { "t" },
      .texts = { "0 a 1\n1 a 18446744073709551615\n" },
      .code = WEFT_E_MALFORMED,
      .line = 2,
      .at_off = 6,
      .words = "146 years" },
    { .name = "no name",
      .paths = { "t" },
      .texts = { "0  7\n" },
      .code = WEFT_E_MALFORMED,
      .line = 1,
      .words = "name" },
    { .name = "an empty line in the middle",
      .paths = { "t" },
      .texts = { "0 a 1\n\n1 a 5\n" },
      .code = WEFT_E_MALFORMED,
      .line = 2,
      .at_off = 6,
      .words = "empty line" },
};

static size_t open_inputs(const struct row *row, struct weft_text_input *inputs)
{
    size_t n_inputs = 0;
    for (; n_inputs < MOST_INPUTS && row->paths[n_inputs]; n_inputs++) {
        size_t n_bytes = strlen(row->texts[n_inputs]);
        uint8_t *bytes = n_bytes ? malloc(n_bytes) : NULL; /* exact size: no NUL behind it */
        if (bytes)
            memcpy(bytes, row->texts[n_inputs], n_bytes);
        inputs[n_inputs] = (struct weft_text_input){ .file = { .bytes = bytes, .n_bytes = n_bytes },
                                                     .path = row->paths[n_inputs] };
    }
    return n_inputs;
}

static void test_row(const struct row *row, unsigned n_workers)
{
    struct weft_text_input inputs[MOST_INPUTS];
    size_t n_inputs = open_inputs(row, inputs);
    struct rec_sink rec;
    struct weft_err err = { 0 };
    const struct weft_run run = { .pool = n_workers ? weft_pool_new(n_workers) : NULL };
    rec_init(&rec);
    enum weft_code code = weft_text_import(inputs, n_inputs, &rec.sink, &run, &err);
    tap_eq_u64((uint64_t)code, (uint64_t)row->code, "%s: code, %s", row->name, err.text);
    if (row->want) {
        char *got = rec_whole(&rec);
        tap_eq_str(got, row->want, "%s, %u workers", row->name, n_workers);
        tap_eq_u64(rec.n_order_errors, 0, "%s: order", row->name);
        free(got);
    } else {
        tap_ok(strstr(err.text, row->words) != NULL, "%s: \"%s\" says \"%s\"", row->name, err.text,
               row->words);
        tap_eq_u64(err.line, row->line, "%s: line", row->name);
        if (row->line)
            tap_eq_u64(err.at_off, row->at_off, "%s: offset", row->name);
    }
    rec_fini(&rec);
    weft_pool_free(run.pool);
    for (size_t k = 0; k < n_inputs; k++)
        free(inputs[k].file.bytes ? (void *)(uintptr_t)inputs[k].file.bytes : NULL);
}

static const struct {
    const char *text;
    bool is_text;
} sniffed[] = {
    { "0 a 1\n", true },    { "1 ns::f(int, char) 99", true },
    { "", false },          { "\n0 a 1\n", false },
    { "# 0 a 1\n", false }, { "hello\n", false },
    { "0 a\n", false },     { "1\t0x10\tmain\n", false },
    { "01 a 5\n", false },  { "0 a 5 \r\n1 b", true },
    { "--> f 5\n", true },  { "\n\n<- f 3 5 a lock\n", true },
    { "-->f 5\n", false },  { "->\n", false },
    { "--> f\n", false },   { "<-- 5\n", false },
};

/* More lines than one batch. */
static void test_many_lines(void)
{
    struct rec_text text = { 0 };
    struct rec_text want = { 0 };
    enum { LINES = 10001 };
    rec_add(&want, "begin text: \nclock 1000000000 zero 7\nfunction 0 f0 [] 0x0\n"
                   "function 1 f1 [] 0x0\nfunction 2 f2 [] 0x0\n"
                   "thread 0 tid 1 pid 0 name t\n-- 0\n");
    for (unsigned k = 0; k < LINES; k++) {
        rec_add(&text, "0 f%u %u\n", k % 3, k * 3 + 7);
        rec_add(&want, "E %u @%u\n", k % 3, k * 3);
    }
    rec_add(&want, "end @%u\n", (LINES - 1) * 3);
    struct row row = { .name = "many lines", .paths = { "t" }, .want = want.bytes };
    row.texts[0] = text.bytes;
    test_row(&row, 0);
    free(text.bytes);
    free(want.bytes);
}

int main(void)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        test_row(&rows[k], 0);
        test_row(&rows[k], 2);
    }
    for (size_t k = 0; k < sizeof sniffed / sizeof *sniffed; k++)
        tap_ok(weft_text_sniff((const uint8_t *)sniffed[k].text, strlen(sniffed[k].text)) ==
                   sniffed[k].is_text,
               "\"%s\" is %stext", sniffed[k].text, sniffed[k].is_text ? "" : "no ");
    test_many_lines();
    return tap_done();
}
