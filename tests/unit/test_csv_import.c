/* SPDX-License-Identifier: MIT
 *
 * CSV of spans: columns, units, quotes, threads and nodes, order, and what is wrong with a row.
 */
#include "ingest/csv/csv.h"
#include "ingest/csv/rows.h"
#include "recording_sink.h"
#include "tap.h"

struct row {
    const char *name, *columns, *text, *want; /* want NULL: an error */
    enum weft_code code;
    uint64_t line;
    const char *words;
};

static const struct row rows[] = {
    { .name = "one thread, ns",
      .text = "start,dur,name\n"
              "100,50,f\n"
              "110,20,g\n"
              "200,0,f\n",
      .want = "begin csv: 3 rows\n"
              "clock 1000000000 zero 100\n"
              "function 0 f [] 0x0\n"
              "function 1 g [] 0x0\n"
              "thread 0 tid 1 pid 0\n"
              "-- 0\n"
              "E 0 @0\n"
              "E 1 @10\n"
              "X 1 @30\n"
              "X 0 @50\n"
              "E 0 @100\n"
              "X 0 @100\n"
              "end @100\n" },
    { .name = "semicolons, units, end, quotes, CRLF",
      .text = "Name;TID;Start (us);End (ms);Args;Cat\r\n"
              "\"a; \"\"b\"\"\";7;1.5;0.0105;\"x \"\"y\"\"\n"
              "z\";m\r\n"
              "c;7;2.0007;0.0025;;\r\n",
      .want = "begin csv: 2 rows\n"
              "clock 1000000000 zero 1500\n"
              "function 0 a; \"b\" [m] 0x0\n"
              "function 1 c [] 0x0\n"
              "thread 0 tid 7 pid 0\n"
              "-- 0\n"
              "E 0 @0\n"
              "call_args  [] 0 @0 x \"y\"\n"
              "z\n"
              "E 1 @500\n"
              "X 1 @1000\n"
              "X 0 @9000\n"
              "end @9000\n" },
    { .name = "out of order, several threads",
      .text = "ts\tduration\tfunction\tthread\tpid\tthread_name\n"
              "30\t5\tin\t2\t1\tw\n"
              "10\t40\tout\t2\t1\t\n"
              "5\t10\tmain\t1\t1\tmain thread\n"
              "10\t5\tin\t2\t1\t\n",
      .want = "begin csv: 4 rows\n"
              "clock 1000000000 zero 5\n"
              "function 0 in [] 0x0\n"
              "function 1 out [] 0x0\n"
              "function 2 main [] 0x0\n"
              "thread 0 tid 1 pid 1 name main thread\n"
              "thread 1 tid 2 pid 1 name w\n"
              "-- 0\n"
              "E 2 @0\n"
              "X 2 @10\n"
              "end @10\n"
              "-- 1\n"
              "E 1 @5\n"
              "E 0 @5\n"
              "X 0 @10\n"
              "E 0 @25\n"
              "X 0 @30\n"
              "X 1 @45\n"
              "end @45\n" },
    { .name = "spans that overlap: the later is cut",
      .text = "start,end,name\n"
              "0,10,a\n"
              "5,15,b\n",
      .want = "begin csv: 2 rows\n"
              "clock 1000000000 zero 0\n"
              "function 0 a [] 0x0\n"
              "function 1 b [] 0x0\n"
              "thread 0 tid 1 pid 0\n"
              "-- 0\n"
              "E 0 @0\n"
              "E 1 @5\n"
              "X 0 @10\n"
              "end @10\n" },
    { .name = "one start: by level, else the longer first",
      .text = "start,end,name,level\n"
              "0,10,inner,1\n"
              "0,10,outer,0\n"
              "20,25,short,\n"
              "20,30,long,\n",
      .want = "begin csv: 4 rows\n"
              "clock 1000000000 zero 0\n"
              "function 0 inner [] 0x0\n"
              "function 1 outer [] 0x0\n"
              "function 2 short [] 0x0\n"
              "function 3 long [] 0x0\n"
              "thread 0 tid 1 pid 0\n"
              "-- 0\n"
              "E 1 @0\n"
              "E 0 @0\n"
              "X 0 @10\n"
              "X 1 @10\n"
              "E 3 @20\n"
              "E 2 @20\n"
              "X 2 @25\n"
              "X 3 @30\n"
              "end @30\n" },
    { .name = "nodes of a network, names for threads",
      .text = "time_s,latency_ms,op,host,thread\n"
              "1,5,send,east,rpc\n"
              "1.001,2,recv,west,rpc\n"
              "1.002,1,recv,east,\n",
      .want = "begin csv: 3 rows\n"
              "clock 1000000000 zero 1000000000\n"
              "function 0 send [] 0x0\n"
              "function 1 recv [] 0x0\n"
              "thread 0 tid 4294967296 pid 0 name east/rpc\n"
              "thread 1 tid 4294967296 pid 0 name west/rpc\n"
              "thread 2 tid 0 pid 0 name east\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @5000000\n"
              "end @5000000\n"
              "-- 1\n"
              "E 1 @1000000\n"
              "X 1 @3000000\n"
              "end @3000000\n"
              "-- 2\n"
              "E 1 @2000000\n"
              "X 1 @3000000\n"
              "end @3000000\n" },
    { .name = "clock times",
      .text = "Time of Day,Process Name,PID,Operation,Path,Duration\n"
              "\"1:02:03.0000005 PM\",chrome.exe,4,ReadFile,C:\\x,0.0000123\n"
              "12:59:59.9 AM,chrome.exe,4,CreateFile,C:\\y,0.5\n",
      .want = "begin csv: 2 rows\n"
              "clock 1000000000 zero 3599900000000\n"
              "function 0 ReadFile [] 0x0\n"
              "function 1 CreateFile [] 0x0\n"
              "thread 0 tid 4 pid 4\n"
              "note not_kept 1 (columns without a meaning here: Process Name)\n"
              "-- 0\n"
              "E 1 @0\n"
              "call_args  [] 0 @0 C:\\y\n"
              "X 1 @500000000\n"
              "E 0 @43323100000500\n"
              "call_args  [] 0 @43323100000500 C:\\x\n"
              "X 0 @43323100012800\n"
              "end @43323100012800\n" },
    { .name = "dates",
      .text = "start,end,name\n"
              "2024-05-01T12:00:00.5Z,2024-05-01 14:00:01.25+02:00,f\n",
      .want = "begin csv: 1 rows\n"
              "clock 1000000000 zero 1714564800500000000 realtime 1714564800500000000\n"
              "function 0 f [] 0x0\n"
              "thread 0 tid 1 pid 0\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @750000000\n"
              "end @750000000\n" },
    { .name = "columns that are named, no header",
      .columns = "start_us,dur_us,name,-,tid",
      .text = "1,2,f,x,3\n"
              "2,1,g,x,3\n",
      .want = "begin csv: 2 rows\n"
              "clock 1000000000 zero 1000\n"
              "function 0 f [] 0x0\n"
              "function 1 g [] 0x0\n"
              "thread 0 tid 3 pid 0\n"
              "-- 0\n"
              "E 0 @0\n"
              "E 1 @1000\n"
              "X 1 @2000\n"
              "X 0 @2000\n"
              "end @2000\n" },
    { .name = "columns that are named, and a header",
      .columns = "begin,end_ns,op",
      .text = "A,B,C\n"
              "1,2,f\n",
      .want = "begin csv: 1 rows\n"
              "clock 1000000000 zero 1\n"
              "function 0 f [] 0x0\n"
              "thread 0 tid 1 pid 0\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @1\n"
              "end @1\n" },
    { .name = "bad rows are skipped",
      .text = "start,dur,name\n"
              "1,1,a\n"
              "x,1,b\n"
              "2,-1,c\n"
              "3,1,\n"
              "4\n"
              "\"5\"y,1,d\n"
              "6,1,e\n",
      .want = "begin csv: 2 rows\n"
              "clock 1000000000 zero 1\n"
              "function 0 a [] 0x0\n"
              "function 1 e [] 0x0\n"
              "thread 0 tid 1 pid 0\n"
              "note bad_record 29 at 0x15 (line 3: expected a start that is a time)\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @1\n"
              "E 1 @5\n"
              "X 1 @6\n"
              "end @6\n" },
    { .name = "a quote without its end",
      .text = "start,dur,name\n"
              "1,1,a\n"
              "2,1,\"b\n"
              "3,1,c\n",
      .want = "begin csv: 1 rows\n"
              "clock 1000000000 zero 1\n"
              "function 0 a [] 0x0\n"
              "thread 0 tid 1 pid 0\n"
              "note truncated 13 at 0x15 (expected a closing quote)\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @1\n"
              "end @1\n" },
    { .name = "negative times, empty lines",
      .text = "start,dur,name\n"
              "\n"
              "-10,5,a\n"
              "\r\n"
              "-5,1,b",
      .want = "begin csv: 2 rows\n"
              "clock 1000000000 zero 0\n"
              "function 0 a [] 0x0\n"
              "function 1 b [] 0x0\n"
              "thread 0 tid 1 pid 0\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @5\n"
              "E 1 @5\n"
              "X 1 @6\n"
              "end @6\n" },
    { .name = "a tid and a thread",
      .text = "thread,start,dur,name,tid\n"
              "w,1,1,a,9\n",
      .want = "begin csv: 1 rows\n"
              "clock 1000000000 zero 1\n"
              "function 0 a [] 0x0\n"
              "thread 0 tid 9 pid 0 name w\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @1\n"
              "end @1\n" },
    { .name = "a process without a tid",
      .text = "start,dur,name,pid\n"
              "1,1,a,9\n"
              "2,1,b,x\n",
      .want = "begin csv: 2 rows\n"
              "clock 1000000000 zero 1\n"
              "function 0 a [] 0x0\n"
              "function 1 b [] 0x0\n"
              "thread 0 tid 9 pid 9\n"
              "thread 1 tid 4294967296 pid 4294967296 name x\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @1\n"
              "end @1\n"
              "-- 1\n"
              "E 1 @1\n"
              "X 1 @2\n"
              "end @2\n" },
    { .name = "an export",
      .text = "tid,thread,function,module,depth,start_ns,end_ns,duration_ns,self_ns,flags,args,pid,"
              "node,generation\n"
              "7,T7,outer,m,0,0,10,10,4,cut_start,,1,0,0\n"
              "7,T7,f,,1,0,5,5,5,cut_start repaired,,1,0,0\n"
              "7,T7,g,,1,5,5,0,0,tail,\"{\"\"a\"\":1}\",1,0,0\n"
              "7,T7,h,,2,5,5,0,0,,,1,0,0\n"
              "7,T7,g,,1,10,10,0,0,,,1,0,0\n"
              "7,T7,h,,0,10,10,0,0,cut_end other,,1,0,0\n"
              "7,T8,h,,0,3,4,1,1,cut_start tail,x,1,0,1\n",
      .want = "begin csv: 7 rows\n"
              "clock 1000000000 zero 0\n"
              "function 0 outer [m] 0x0\n"
              "function 1 f [] 0x0\n"
              "function 2 g [] 0x0\n"
              "function 3 h [] 0x0\n"
              "thread 0 tid 7 pid 1\n"
              "thread 1 tid 7 pid 1 generation 1 name T8\n"
              "-- 0\n"
              "M 1 @5\n"
              "E 2 @5\n"
              "call_args  [] 0 @5 {\"a\":1}\n"
              "E 3 @5\n"
              "X 3 @5\n"
              "T 2 @5\n"
              "E 2 @10\n"
              "X 2 @10\n"
              "X 0 @10\n"
              "E 3 @10\n"
              "M 3 @10\n"
              "end @10\n"
              "-- 1\n"
              "E 3 @3\n"
              "call_args  [] 0 @3 x\n"
              "T 3 @4\n"
              "end @4\n" },
    { .name = "more unknown columns than can be named",
      .text =
          "start,dur,name,a rather long name of a column,b rather long name of a column,c rather "
          "long name of a column,d\n"
          "1,2,f,,,,\n",
      .want = "begin csv: 1 rows\n"
              "clock 1000000000 zero 1\n"
              "function 0 f [] 0x0\n"
              "thread 0 tid 1 pid 0\n"
              "note not_kept 4 (columns without a meaning here: a rather long name of a column, b "
              "rather long name of a column, ...)\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @2\n"
              "end @2\n" },
    { .name = "no rows",
      .text = "start,dur,name\n",
      .code = WEFT_E_TRUNCATED,
      .line = 0,
      .words = "expected rows" },
    { .name = "nothing", .text = "", .code = WEFT_E_TRUNCATED, .line = 0, .words = "column names" },
    { .name = "other columns",
      .text = "a,b,c\n"
              "1,2,3\n",
      .code = WEFT_E_MALFORMED,
      .line = 1,
      .words = "expected columns start" },
    { .name = "only bad rows",
      .text = "start,dur,name\n"
              "\n"
              "\n"
              "\"1\n"
              "\",2,c\n",
      .code = WEFT_E_MALFORMED,
      .line = 4,
      .words = "a start that is a time" },
    { .name = "an end before the start",
      .text = "start,end,name\n"
              "2,1,c\n",
      .code = WEFT_E_MALFORMED,
      .line = 2,
      .words = "not before the start" },
    { .name = "an unknown column is named",
      .columns = "start,dur,name,colour",
      .text = "1,2,f,3\n",
      .code = WEFT_E_ARG,
      .line = 0,
      .words = "found \"colour\"" },
    { .name = "too few columns are named",
      .columns = "start,name",
      .text = "1,2\n",
      .code = WEFT_E_ARG,
      .line = 0,
      .words = "end or duration" },
    { .name = "no columns are named",
      .columns = "",
      .text = "1,2\n",
      .code = WEFT_E_ARG,
      .line = 0,
      .words = "end or duration" },
    { .name = "only an open quote",
      .text = "start,dur,name\n"
              "\"1",
      .code = WEFT_E_TRUNCATED,
      .line = 0,
      .words = "closing quote" },
};

static void test_row(const struct row *row, unsigned n_workers, size_t limit)
{
    size_t n_bytes = strlen(row->text);
    uint8_t *bytes = n_bytes ? malloc(n_bytes) : NULL; /* exact size: no NUL behind it */
    if (bytes)
        memcpy(bytes, row->text, n_bytes);
    const struct weft_mapped file = { .bytes = bytes, .n_bytes = n_bytes };
    const struct weft_run run = { .pool = n_workers ? weft_pool_new(n_workers) : NULL };
    const struct weft_csv_opts opts = { .columns = row->columns, .sort_limit_bytes = limit };
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    enum weft_code code = weft_csv_import(&file, &opts, &rec.sink, &run, &err);
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
    }
    rec_fini(&rec);
    weft_pool_free(run.pool);
    free(bytes);
}

static const struct {
    const char *text;
    bool is_table;
} sniffed[] = {
    { "start,dur,name\n", true },
    { "Name;TID;Start (us);End (us)\r\n", true },
    { "\xef\xbb\xbf\"ts_ns\"\t\"duration_ms\"\t\"function\"\n1\t2\tf\n", true },
    { "Time of Day,Process Name,PID,Operation,Path,Result,Detail,Duration\n", true },
    { "start,name\n1,a\n", false },
    { "dur,name\n1,a\n", false },
    { "1,2,a\n", false },
    { "0 a 1\n", false },
    { "", false },
    { "start,dur,\"name", false },
};

/* ---- rows, written and read again ----------------------------------------------------------- */

enum { ROUNDS = 5000, MOST_ROWS = 5, MOST_FIELDS = 5, FIELD_BYTES = 8 };

static size_t draw_field(uint64_t *state, char *field)
{
    static const char letters[] = "ab,;\t\"\n\r x";
    size_t n_bytes = tap_random(state) % FIELD_BYTES;
    for (size_t k = 0; k < n_bytes; k++)
        field[k] = letters[tap_random(state) % (sizeof letters - 1)];
    return n_bytes;
}

/* In quotes where it must be, and sometimes where it need not. */
static void put_field(struct rec_text *text, const char *field, size_t n_bytes, char separator,
                      bool is_quoted)
{
    for (size_t k = 0; k < n_bytes; k++)
        is_quoted |=
            field[k] == separator || field[k] == '"' || field[k] == '\n' || field[k] == '\r';
    rec_add(text, "%s", is_quoted ? "\"" : "");
    for (size_t k = 0; k < n_bytes; k++)
        rec_add(text, "%s%c", field[k] == '"' ? "\"" : "", field[k]);
    rec_add(text, "%s", is_quoted ? "\"" : "");
}

struct written {
    char fields[MOST_ROWS][MOST_FIELDS][FIELD_BYTES];
    size_t n_bytes[MOST_ROWS][MOST_FIELDS];
    size_t n_rows, n_fields;
};

static void write_rows(uint64_t *state, struct written *written, char separator,
                       struct rec_text *text)
{
    written->n_rows = 1 + tap_random(state) % MOST_ROWS;
    written->n_fields = 2 + tap_random(state) % (MOST_FIELDS - 1);
    for (size_t row = 0; row < written->n_rows; row++) {
        for (size_t k = 0; k < written->n_fields; k++) {
            char *field = written->fields[row][k];
            written->n_bytes[row][k] = draw_field(state, field);
            rec_add(text, "%.*s", k > 0, &separator);
            put_field(text, field, written->n_bytes[row][k], separator, tap_random(state) % 4 == 0);
        }
        if (row + 1 < written->n_rows || tap_random(state) % 2)
            rec_add(text, "%s", tap_random(state) % 2 ? "\n" : "\r\n");
    }
}

static bool read_rows(const struct written *written, char separator, const struct rec_text *text)
{
    struct csv_rows reader = { .begin = text->bytes,
                               .at = text->bytes,
                               .end = text->bytes + text->n_bytes,
                               .separator = separator };
    static struct csv_row row;
    for (size_t k = 0; k < written->n_rows; k++) {
        if (!csv_next_row(&reader, &row) || row.is_torn || row.n_fields != written->n_fields)
            return false;
        for (size_t field = 0; field < written->n_fields; field++) {
            char plain[4 * FIELD_BYTES];
            size_t n_bytes = csv_plain(&row.fields[field], plain);
            if (n_bytes != written->n_bytes[k][field] ||
                memcmp(plain, written->fields[k][field], n_bytes) != 0)
                return false;
        }
    }
    return !csv_next_row(&reader, &row);
}

static void test_round_trip(uint64_t seed)
{
    unsigned n_bad = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t state = seed + round;
        struct written written;
        struct rec_text text = { 0 };
        char separator = ",;\t"[tap_random(&state) % 3];
        write_rows(&state, &written, separator, &text);
        if (!read_rows(&written, separator, &text) && n_bad++ < 4)
            tap_note("WEFT_SEED=%" PRIu64 ": %s", seed + round, text.bytes);
        free(text.bytes);
    }
    tap_eq_u64(n_bad, 0, "%d random tables are read as they were written", ROUNDS);
}

int main(void)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        test_row(&rows[k], 0, 0);
        test_row(&rows[k], 2, 1); /* every row goes through the file */
    }
    for (size_t k = 0; k < sizeof sniffed / sizeof *sniffed; k++)
        tap_ok(weft_csv_sniff((const uint8_t *)sniffed[k].text, strlen(sniffed[k].text)) ==
                   sniffed[k].is_table,
               "\"%s\" is %stable of spans", sniffed[k].text, sniffed[k].is_table ? "a " : "no ");
    test_round_trip(tap_seed(1));
    return tap_done();
}
