/* SPDX-License-Identifier: MIT
 *
 * Trace event JSON: forms of the document, phases, names, times, and what is wrong with a text.
 */
#include "ingest/chrome/chrome.h"
#include "recording_sink.h"
#include "tap.h"

struct row {
    const char *name, *text, *want; /* want NULL: an error */
    enum weft_code code;
    uint64_t at_off;
    const char *words;
};

static const struct row rows[] = {
    { .name = "begin and end, array",
      .text = "[{\"ph\":\"B\",\"name\":\"f\",\"cat\":\"c\",\"ts\":10,\"pid\":1,\"tid\":2,\"args\":{"
              "\"x\":1}},\n"
              "{\"ph\":\"E\",\"ts\":12.5,\"pid\":1,\"tid\":2,\"args\":{\"r\":2}}]",
      .want = "begin chrome-json: array, 2 events\n"
              "clock 1000000000 zero 10000\n"
              "function 0 f [c] 0x0\n"
              "thread 0 tid 2 pid 1\n"
              "-- 0\n"
              "E 0 @0\n"
              "call_args  [] 0 @0 {\"x\":1}\n"
              "call_args  [end] 0 @2500 {\"r\":2}\n"
              "X 0 @2500\n"
              "end @2500\n" },
    { .name = "object, strings for numbers, a name that comes late",
      .text =
          "{\"traceEvents\":[\n"
          "{\"name\":\"main\",\"ph\":\"B\",\"tid\":\"9\",\"pid\":\"7\",\"ts\":\"100.0004\",\"sf\":"
          "\"0\"},\n"
          "{\"name\":\"in\",\"ph\":\"B\",\"tid\":\"9\",\"pid\":\"7\",\"ts\":\"100.2778\"},\n"
          "{\"name\":\"in\",\"ph\":\"E\",\"tid\":\"9\",\"pid\":\"7\",\"ts\":\"101.2770\"},\n"
          "{\"name\":\"main\",\"ph\":\"E\",\"tid\":\"9\",\"pid\":\"7\",\"ts\":\"102\"},\n"
          "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":7,\"tid\":9,\"args\":{\"name\":"
          "\"w\\u00e9b \\\"1\\"
          "\"\"}}\n"
          "],\"displayTimeUnit\":\"ns\",\"metadata\":{\"clock-domain\":\"LINUX_CLOCK_MONOTONIC\"}"
          "}",
      .want = "begin chrome-json: object, 5 events\n"
              "clock 1000000000 zero 100000 monotonic 100000\n"
              "function 0 main [] 0x0\n"
              "function 1 in [] 0x0\n"
              "thread 0 tid 9 pid 7 name w\303\251b \"1\"\n"
              "-- 0\n"
              "E 0 @0\n"
              "call_args  [] 0 @0 {\"sf\":\"0\"}\n"
              "E 1 @277\n"
              "X 1 @1277\n"
              "X 0 @2000\n"
              "end @2000\n" },
    { .name = "complete events in order of end",
      .text = "[{\"ph\":\"X\",\"name\":\"in\",\"ts\":2,\"dur\":1,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"in\",\"ts\":4,\"dur\":1,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"out\",\"ts\":1,\"dur\":9,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"same\",\"ts\":10,\"dur\":1,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"longer\",\"ts\":10,\"dur\":2,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"point\",\"ts\":12,\"dur\":0,\"pid\":1,\"tid\":1}]",
      .want = "begin chrome-json: array, 6 events\n"
              "clock 1000000000 zero 1000\n"
              "function 0 in [] 0x0\n"
              "function 1 out [] 0x0\n"
              "function 2 same [] 0x0\n"
              "function 3 longer [] 0x0\n"
              "function 4 point [] 0x0\n"
              "thread 0 tid 1 pid 1\n"
              "-- 0\n"
              "E 1 @0\n"
              "E 0 @1000\n"
              "X 0 @2000\n"
              "E 0 @3000\n"
              "X 0 @4000\n"
              "X 1 @9000\n"
              "E 3 @9000\n"
              "E 2 @9000\n"
              "X 2 @10000\n"
              "X 3 @11000\n"
              "E 4 @11000\n"
              "X 4 @11000\n"
              "end @11000\n" },
    { .name = "complete events that overlap: the later is cut",
      .text = "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":10,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"b\",\"ts\":5,\"dur\":10,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"a\",\"ts\":20,\"dur\":10,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"a\",\"ts\":25,\"dur\":10,\"pid\":1,\"tid\":1}]",
      .want = "begin chrome-json: array, 4 events\n"
              "clock 1000000000 zero 0\n"
              "function 0 a [] 0x0\n"
              "function 1 b [] 0x0\n"
              "thread 0 tid 1 pid 1\n"
              "note missing_exit 1 thread 0\n"
              "-- 0\n"
              "E 0 @0\n"
              "E 1 @5000\n"
              "X 0 @10000\n"
              "E 0 @20000\n"
              "E 0 @25000\n"
              "X 0 @30000\n"
              "X 0 @30000\n"
              "end @30000\n" },
    { .name = "a begin in a complete event that ends first",
      .text = "[{\"ph\":\"X\",\"name\":\"x\",\"ts\":0,\"dur\":10,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"B\",\"name\":\"b\",\"ts\":5,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"E\",\"name\":\"b\",\"ts\":15,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"x\",\"ts\":20,\"dur\":10,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"B\",\"name\":\"b\",\"ts\":25,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"E\",\"name\":\"b\",\"ts\":30,\"pid\":1,\"tid\":1}]",
      .want = "begin chrome-json: array, 6 events\n"
              "clock 1000000000 zero 0\n"
              "function 0 x [] 0x0\n"
              "function 1 b [] 0x0\n"
              "thread 0 tid 1 pid 1\n"
              "note exit_ignored 1 thread 0\n"
              "-- 0\n"
              "E 0 @0\n"
              "E 1 @5000\n"
              "X 0 @10000\n"
              "E 0 @20000\n"
              "E 1 @25000\n"
              "X 1 @30000\n"
              "X 0 @30000\n"
              "end @30000\n" },
    { .name = "ends by name, by name and category, without begin",
      .text = "[{\"ph\":\"E\",\"name\":\"early\",\"ts\":1,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"B\",\"name\":\"a\",\"cat\":\"p\",\"ts\":2,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"B\",\"name\":\"a\",\"cat\":\"q\",\"ts\":3,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"E\",\"name\":\"a\",\"cat\":\"p\",\"ts\":4,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"B\",\"name\":\"b\",\"cat\":\"q\",\"ts\":5,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"E\",\"name\":\"b\",\"ts\":6,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"E\",\"ts\":7,\"pid\":1,\"tid\":1}]",
      .want = "begin chrome-json: array, 7 events\n"
              "clock 1000000000 zero 1000\n"
              "function 0 early [] 0x0\n"
              "function 1 a [p] 0x0\n"
              "function 2 a [q] 0x0\n"
              "function 3 b [q] 0x0\n"
              "thread 0 tid 1 pid 1\n"
              "note exit_ignored 1 thread 0\n"
              "-- 0\n"
              "X 0 @0\n"
              "E 1 @1000\n"
              "E 2 @2000\n"
              "X 1 @3000\n"
              "E 3 @4000\n"
              "X 3 @5000\n"
              "end @6000\n" },
    { .name = "arguments of an end that is not the latest call's",
      .text = "[{\"ph\":\"B\",\"name\":\"a\",\"cat\":\"k\",\"ts\":0,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1,\"args\":{}},\n"
              "{\"ph\":\"E\",\"ts\":3,\"pid\":1,\"tid\":1,\"args\":{\"r\":\"x\"}}]",
      .want = "begin chrome-json: array, 3 events\n"
              "clock 1000000000 zero 0\n"
              "function 0 a [k] 0x0\n"
              "function 1 b [] 0x0\n"
              "thread 0 tid 1 pid 1\n"
              "-- 0\n"
              "E 0 @0\n"
              "E 1 @1000\n"
              "X 1 @2000\n"
              "instant a [k] 0 'E' @3000 {\"r\":\"x\"}\n"
              "X 0 @3000\n"
              "end @3000\n" },
    { .name = "asynchronous spans",
      .text = "[{\"ph\":\"b\",\"cat\":\"net\",\"id\":\"0x10\",\"name\":\"load\",\"ts\":1,\"pid\":1,"
              "\"tid\":1,\"arg"
              "s\":{\"u\":1}},\n"
              "{\"ph\":\"n\",\"cat\":\"net\",\"id\":\"0x10\",\"name\":\"step\",\"ts\":2,\"pid\":1,"
              "\"tid\":1},\n"
              "{\"ph\":\"b\",\"cat\":\"net\",\"id\":\"0x10\",\"name\":\"inner\",\"ts\":2,\"pid\":1,"
              "\"tid\":1},\n"
              "{\"ph\":\"e\",\"cat\":\"net\",\"id\":\"0x10\",\"name\":\"inner\",\"ts\":3,\"pid\":1,"
              "\"tid\":2,\"arg"
              "s\":{\"v\":2}},\n"
              "{\"ph\":\"e\",\"cat\":\"net\",\"id\":\"0x10\",\"name\":\"load\",\"ts\":4,\"pid\":1,"
              "\"tid\":2,\"args"
              "\":{\"v\":2}},\n"
              "{\"ph\":\"e\",\"cat\":\"net\",\"id\":\"0x10\",\"name\":\"load\",\"ts\":5,\"pid\":1,"
              "\"tid\":2},\n"
              "{\"ph\":\"b\",\"cat\":\"net\",\"id2\":{\"local\":\"1\"},\"name\":\"l\",\"ts\":5,"
              "\"pid\":1,\"tid\":1}"
              ",\n"
              "{\"ph\":\"e\",\"cat\":\"net\",\"id2\":{\"local\":\"1\"},\"name\":\"l\",\"ts\":6,"
              "\"pid\":2,\"tid\":2}"
              ",\n"
              "{\"ph\":\"e\",\"cat\":\"net\",\"id2\":{\"local\":1},\"name\":\"l\",\"ts\":7,\"pid\":"
              "1,\"tid\":1},\n"
              "{\"ph\":\"S\",\"cat\":\"old\",\"id\":\"t\",\"name\":\"s\",\"ts\":1,\"pid\":1,"
              "\"tid\":1},\n"
              "{\"ph\":\"T\",\"cat\":\"old\",\"id\":\"t\",\"name\":\"s\",\"ts\":2,\"pid\":1,"
              "\"tid\":1,\"args\":{\"st"
              "ep\":\"x\"}},\n"
              "{\"ph\":\"F\",\"cat\":\"old\",\"id\":\"t\",\"name\":\"s\",\"ts\":9,\"pid\":1,"
              "\"tid\":1},\n"
              "{\"ph\":\"b\",\"cat\":\"net\",\"id2\":{\"global\":\"0x2\"},\"name\":\"open\",\"ts\":"
              "8,\"pid\":1,\"t"
              "id\":1}]",
      .want = "begin chrome-json: array, 13 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "thread 1 tid 2 pid 1\n"
              "thread 2 tid 2 pid 2\n"
              "note open_at_end 1 at 0x3ab (asynchronous span)\n"
              "note exit_ignored 2 at 0x19d (end of an asynchronous span)\n"
              "-- 0\n"
              "span inner [net] 16 'b' +1000 @1000 {\"v\":2}\n"
              "span load [net] 16 'b' +3000 @0 {\"u\":1,\"v\":2}\n"
              "span l [net] 1 'b' +2000 @4000 \n"
              "span s [old] 8503709266395068717 'S' +8000 @0 \n"
              "span open [net] 2 'b' +1000 @7000 \n"
              "instant step [net] 16 'n' @1000 \n"
              "instant s [old] 8503709266395068717 'T' @1000 {\"step\":\"x\"}\n"
              "end @8000\n"
              "-- 1\n"
              "instant load [net] 16 'e' @4000 \n"
              "end @4000\n"
              "-- 2\n"
              "instant l [net] 1 'e' @5000 \n"
              "end @5000\n" },
    { .name = "instants, objects, marks, unknown phases",
      .text = "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"tid\":1,\"s\":\"t\"},\n"
              "{\"ph\":\"I\",\"name\":\"b\",\"cat\":\"c\",\"ts\":2,\"pid\":1,\"tid\":1,\"args\":{"
              "\"k\":1}},\n"
              "{\"ph\":\"N\",\"name\":\"o\",\"id\":\"0x1\",\"ts\":3,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"O\",\"name\":\"o\",\"id\":\"0x1\",\"ts\":4,\"pid\":1,\"tid\":1,\"args\":{"
              "\"snapshot\":{\""
              "a\":[]}}},\n"
              "{\"ph\":\"D\",\"name\":\"o\",\"id\":\"0x1\",\"ts\":5,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"R\",\"name\":\"mark\",\"ts\":6,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"c\",\"ts\":7,\"pid\":1,\"tid\":1,\"args\":{\"sync_id\":\"s\"}},\n"
              "{\"ph\":\"v\",\"id\":\"d\",\"ts\":8,\"pid\":1,\"tid\":1,\"args\":{\"dumps\":{}}},\n"
              "{\"ph\":\"?\",\"name\":\"q\",\"ts\":9,\"pid\":1,\"tid\":1,\"extra\":[1]},\n"
              "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"prog\"}},\n"
              "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"args\":{\"name\":\"nobody\"}}]",
      .want = "begin chrome-json: array, 11 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "note not_kept 1 at 0x26c (metadata of a process without events)\n"
              "-- 0\n"
              "instant process_name [] 0 'M' @0 {\"name\":\"prog\"}\n"
              "instant a [] 0 'i' @0 \n"
              "instant b [c] 0 'I' @1000 {\"k\":1}\n"
              "instant o [] 1 'N' @2000 \n"
              "instant o [] 1 'O' @3000 {\"snapshot\":{\"a\":[]}}\n"
              "instant o [] 1 'D' @4000 \n"
              "instant mark [] 0 'R' @5000 \n"
              "instant  [] 0 'c' @6000 {\"sync_id\":\"s\"}\n"
              "instant  [] 5041782483466037194 'v' @7000 {\"dumps\":{}}\n"
              "instant q [] 0 '?' @8000 "
              "{\"ph\":\"?\",\"name\":\"q\",\"ts\":9,\"pid\":1,\"tid\":1,\"extra\""
              ":[1]}\n"
              "end @8000\n" },
    { .name = "a stack of metadata alone",
      .text =
          "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"tid\":1},\n"
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"sf\":7,\"args\":{\"name\":\"p\"}}]",
      .want = "begin chrome-json: array, 2 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "-- 0\n"
              "instant process_name [] 0 'M' @0 {\"name\":\"p\",\"sf\":7}\n"
              "instant a [] 0 'i' @0 \n"
              "end @0\n" },
    { .name = "counters",
      .text = "[{\"ph\":\"C\",\"name\":\"mem\",\"ts\":1,\"pid\":1,\"tid\":1,\"args\":{\"rss\":1.5,"
              "\"heap\":\"2\"}"
              "},\n"
              "{\"ph\":\"C\",\"name\":\"mem\",\"id\":3,\"ts\":2,\"pid\":1,\"args\":{\"r\\ts\":-1e3,"
              "\"bad\":\"x\",\""
              "none\":null}}]",
      .want = "begin chrome-json: array, 2 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "note not_kept 2 at 0x97 (value of a counter that is no number)\n"
              "-- 0\n"
              "C mem.rss 1.5 cpu -1 @0\n"
              "C mem.heap 2 cpu -1 @0\n"
              "C mem[3].r\ts -1000 cpu -1 @1000\n"
              "end @1000\n" },
    { .name = "arrows",
      .text =
          "[{\"ph\":\"s\",\"name\":\"a\",\"cat\":\"c\",\"id\":1,\"ts\":1,\"pid\":1,\"tid\":1},\n"
          "{\"ph\":\"t\",\"name\":\"a\",\"cat\":\"c\",\"id\":1,\"ts\":2,\"pid\":1,\"tid\":1},\n"
          "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"a\",\"cat\":\"c\",\"id\":1,\"ts\":3,\"pid\":1,"
          "\"tid\":1},\n"
          "{\"ph\":\"X\",\"name\":\"x\",\"ts\":4,\"dur\":1,\"pid\":1,\"tid\":1,\"bind_id\":"
          "\"0xff\",\"flow_o"
          "ut\":true,\"args\":{\"a\":1}},\n"
          "{\"ph\":\"X\",\"name\":\"x\",\"ts\":5,\"dur\":1,\"pid\":1,\"tid\":1,\"bind_id\":"
          "\"0xff\",\"flow_i"
          "n\":true,\"flow_out\":true},\n"
          "{\"ph\":\"X\",\"name\":\"x\",\"ts\":6,\"dur\":1,\"pid\":1,\"tid\":1,\"bind_id\":"
          "\"0xff\",\"flow_i"
          "n\":true}]",
      .want = "begin chrome-json: array, 6 events\n"
              "clock 1000000000 zero 1000\n"
              "function 0 x [] 0x0\n"
              "thread 0 tid 1 pid 1\n"
              "-- 0\n"
              "flow_begin a [c] 1 @0 \n"
              "flow_step a [c] 1 @1000 \n"
              "flow_end a [c] 1 @2000 \n"
              "E 0 @3000\n"
              "call_args  [] 0 @3000 {\"a\":1}\n"
              "flow_begin  [] 255 @3000 \n"
              "flow_step  [] 255 @4000 \n"
              "flow_end  [] 255 @5000 \n"
              "X 0 @4000\n"
              "E 0 @4000\n"
              "X 0 @5000\n"
              "E 0 @5000\n"
              "X 0 @6000\n"
              "end @6000\n" },
    { .name = "samples",
      .text = "{\"traceEvents\":[{\"ph\":\"P\",\"name\":\"cpu\",\"ts\":1,\"pid\":1,\"tid\":1,"
              "\"sf\":3},\n"
              "{\"ph\":\"P\",\"name\":\"cpu\",\"cat\":\"k\",\"ts\":2,\"pid\":1,\"tid\":1,\"stack\":"
              "[\"a\",\"b;c\"]}"
              ",\n"
              "{\"ph\":\"P\",\"name\":\"cpu\",\"ts\":3,\"pid\":1,\"tid\":1,\"sf\":9}],\n"
              "\"stackFrames\":{\"1\":{\"name\":\"main\"},\"2\":{\"category\":\"c\",\"name\":"
              "\"r\\tn\",\"parent"
              "\":\"1\"},\"3\":{\"name\":\"leaf\",\"parent\":2},\"4\":{\"name\":\"loop\","
              "\"parent\":\"4\"}},\n"
              "\"samples\":[{\"cpu\":0,\"tid\":1,\"ts\":4.0,\"name\":\"cycles\",\"sf\":\"2\","
              "\"weight\":7}],\""
              "systemTraceEvents\":\"x\"}",
      .want = "begin chrome-json: object, 4 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "thread 1 tid 1 pid 0\n"
              "note not_kept 1 at 0x1c1 (systemTraceEvents)\n"
              "-- 0\n"
              "sample main;r\tn;leaf [cpu] 1 @0 \n"
              "sample a;b,c [k] 1 @1000 \n"
              "sample cpu [] 1 @2000 \n"
              "end @2000\n"
              "-- 1\n"
              "sample main;r\tn [cycles] 7 @3000 \n"
              "end @3000\n" },
    { .name = "thread clocks and stacks of calls",
      .text = "{\"traceEvents\":[\n"
              "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":9,\"tts\":5,\"tdur\":\"3.5\",\"pid\":"
              "1,\"tid\":1,"
              "\"sf\":3,\"esf\":\"2\",\"args\":{\"k\":1 }},\n"
              "{\"ph\":\"B\",\"name\":\"b\",\"ts\":2,\"tts\":6,\"pid\":1,\"tid\":1,\"stack\":["
              "\"x\",7]},\n"
              "{\"ph\":\"E\",\"ts\":3,\"tts\":7,\"pid\":1,\"tid\":1,\"sf\":77},\n"
              "{\"ph\":\"B\",\"name\":\"c\",\"ts\":4,\"pid\":1,\"tid\":1,\"args\":\"text\",\"tts\":"
              "null},\n"
              "{\"ph\":\"X\",\"name\":\"d\",\"ts\":5,\"dur\":1,\"pid\":1,\"tid\":1,\"args\":[1],"
              "\"tts\":8},\n"
              "{\"ph\":\"E\",\"ts\":7,\"tts\":9,\"pid\":1,\"tid\":1,\"args\":{\"r\":1}},\n"
              "{\"ph\":\"i\",\"name\":\"i\",\"ts\":8,\"tts\":10,\"pid\":1,\"tid\":1,\"sf\":1},\n"
              "{\"ph\":\"b\",\"name\":\"w\",\"id\":1,\"ts\":8,\"tts\":10,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"e\",\"name\":\"w\",\"id\":1,\"ts\":9,\"tts\":11,\"pid\":1,\"tid\":1,"
              "\"args\":{\"n\":2}},\n"
              "{\"ph\":\"P\",\"name\":\"cpu\",\"ts\":9,\"tts\":12,\"pid\":1,\"tid\":1,\"sf\":2}],\n"
              "\"stackFrames\":{\"1\":{\"name\":\"main\"},\"2\":{\"name\":\"r\\\"n\",\"parent\":1},"
              "\"3\":{\"name\":\"le;af\",\"parent\":\"2\"}}}",
      .want = "begin chrome-json: object, 10 events\n"
              "clock 1000000000 zero 1000\n"
              "function 0 a [] 0x0\n"
              "function 1 b [] 0x0\n"
              "function 2 c [] 0x0\n"
              "function 3 d [] 0x0\n"
              "thread 0 tid 1 pid 1\n"
              "note not_kept 1 at 0x186 (thread clock or stack of an end behind that of an inner "
              "call)\n"
              "-- 0\n"
              "span w [] 1 'b' +1000 @7000 {\"thread_start_us\":10,\"n\":2,\"thread_end_us\":11}\n"
              "E 0 @0\n"
              "call_args  [] 0 @0 {\"k\":1 "
              ",\"thread_start_us\":5,\"thread_duration_us\":\"3.5\",\"stack\":\"main;r\\\"n;le,"
              "af\",\"end_stack\":\"main;r\\\"n\"}\n"
              "E 1 @1000\n"
              "call_args  [] 0 @1000 {\"thread_start_us\":6,\"stack\":[\"x\",7]}\n"
              "call_args  [end] 0 @2000 {\"thread_end_us\":7,\"sf\":77}\n"
              "X 1 @2000\n"
              "E 2 @3000\n"
              "call_args  [] 0 @3000 \"text\"\n"
              "E 3 @4000\n"
              "call_args  [] 0 @4000 {\"args\":[1],\"thread_start_us\":8}\n"
              "X 3 @5000\n"
              "instant c [] 0 'E' @6000 {\"r\":1}\n"
              "instant i [] 0 'i' @7000 {\"thread_start_us\":10,\"stack\":\"main\"}\n"
              "sample main;r\"n [cpu] 1 @8000 {\"thread_start_us\":12}\n"
              "X 2 @6000\n"
              "X 0 @9000\n"
              "end @9000\n" },
    { .name = "stacks that are the calls around",
      .text = "{\"traceEvents\":[\n"
              "{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"sf\":\"0\"},\n"
              "{\"ph\":\"B\",\"name\":\"b\",\"ts\":2,\"pid\":1,\"sf\":1},\n"
              "{\"ph\":\"B\",\"name\":\"a\",\"ts\":3,\"pid\":1,\"sf\":1},\n"
              "{\"ph\":\"B\",\"name\":\"b\",\"ts\":4,\"pid\":1,\"sf\":2},\n"
              "{\"ph\":\"E\",\"name\":\"b\",\"ts\":5,\"pid\":1,\"sf\":2},\n"
              "{\"ph\":\"E\",\"name\":\"a\",\"ts\":6,\"pid\":1,\"sf\":1},\n"
              "{\"ph\":\"E\",\"name\":\"b\",\"ts\":7,\"pid\":1,\"sf\":1},\n"
              "{\"ph\":\"B\",\"name\":\"b\",\"ts\":8,\"pid\":1,\"sf\":1,\"args\":{\"k\":1}},\n"
              "{\"ph\":\"E\",\"ts\":9,\"pid\":1,\"sf\":0},\n"
              "{\"ph\":\"E\",\"name\":\"a\",\"ts\":10,\"pid\":1,\"sf\":\"0\"}],\n"
              "\"stackFrames\":{\"0\":{\"name\":\"a\"},\"1\":{\"name\":\"b\",\"parent\":\"0\"},"
              "\"2\":{\"name\":\"b\",\"parent\":\"1\"}}}",
      .want =
          "begin chrome-json: object, 10 events\n"
          "clock 1000000000 zero 1000\n"
          "function 0 a [] 0x0\n"
          "function 1 b [] 0x0\n"
          "thread 0 tid 1 pid 1\n"
          "note not_kept 1 at 0xf4 (thread clock or stack of an end behind that of an inner call)\n"
          "-- 0\n"
          "E 0 @0\n"
          "E 1 @1000\n"
          "E 0 @2000\n"
          "call_args  [] 0 @2000 {\"stack\":\"a;b\"}\n"
          "E 1 @3000\n"
          "call_args  [] 0 @3000 {\"stack\":\"a;b;b\"}\n"
          "call_args  [end] 0 @4000 {\"end_stack\":\"a;b;b\"}\n"
          "X 1 @4000\n"
          "X 0 @5000\n"
          "X 1 @6000\n"
          "E 1 @7000\n"
          "call_args  [] 0 @7000 {\"k\":1,\"stack\":\"a;b\"}\n"
          "call_args  [end] 0 @8000 {\"end_stack\":\"a\"}\n"
          "X 1 @8000\n"
          "X 0 @9000\n"
          "end @9000\n" },
    { .name = "times: decimals, exponents, negative, no duration",
      .text = "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":-1.5,\"dur\":0.0005,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1e-3,\"dur\":1.5E+2,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"c\",\"ts\":0.1,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"d\",\"ts\":0.2,\"dur\":-1,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"e\",\"ts\":\"x\",\"dur\":1,\"pid\":1,\"tid\":1}]",
      .want = "begin chrome-json: array, 4 events\n"
              "clock 1000000000 zero 0\n"
              "function 0 a [] 0x0\n"
              "function 1 b [] 0x0\n"
              "function 2 c [] 0x0\n"
              "thread 0 tid 1 pid 1\n"
              "note bad_record 109 at 0xad\n"
              "-- 0\n"
              "E 0 @0\n"
              "X 0 @0\n"
              "E 1 @1501\n"
              "E 2 @1600\n"
              "X 1 @151501\n"
              "end @151501\n" },
    { .name = "rounding keeps the nesting",
      .text = "[{\"ph\":\"X\",\"name\":\"out\",\"ts\":0.0007,\"dur\":1.0008,\"pid\":1,\"tid\":1},\n"
              "{\"ph\":\"X\",\"name\":\"in\",\"ts\":0.0008,\"dur\":1.0007,\"pid\":1,\"tid\":1}]",
      .want = "begin chrome-json: array, 2 events\n"
              "clock 1000000000 zero 0\n"
              "function 0 out [] 0x0\n"
              "function 1 in [] 0x0\n"
              "thread 0 tid 1 pid 1\n"
              "-- 0\n"
              "E 0 @0\n"
              "E 1 @0\n"
              "X 1 @1001\n"
              "X 0 @1001\n"
              "end @1001\n" },
    { .name = "labels for pid and tid, none at all",
      .text = "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"pid\":\"GPU\",\"tid\":\"stream 7\"},\n"
              "{\"ph\":\"i\",\"name\":\"b\",\"ts\":2,\"tid\":5},{\"ph\":\"i\",\"name\":\"c\","
              "\"ts\":3,\"pid\":6},{\""
              "ph\":\"i\",\"name\":\"d\",\"ts\":4},\n"
              "{\"ph\":\"i\",\"name\":\"e\",\"ts\":5,\"pid\":-1,\"tid\":\"stream "
              "7\"},{\"ph\":\"i\",\"name\":\"f\","
              "\"ts\":6,\"pid\":140000000000001,\"tid\":8}]",
      .want = "begin chrome-json: array, 6 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 4294967297 pid 4294967296 name stream 7\n"
              "thread 1 tid 5 pid 0\n"
              "thread 2 tid 6 pid 6\n"
              "thread 3 tid 0 pid 0\n"
              "thread 4 tid 4294967297 pid 4294967298 name stream 7\n"
              "thread 5 tid 8 pid 140000000000001\n"
              "-- 0\n"
              "instant a [] 0 'i' @0 \n"
              "end @0\n"
              "-- 1\n"
              "instant b [] 0 'i' @1000 \n"
              "end @1000\n"
              "-- 2\n"
              "instant c [] 0 'i' @2000 \n"
              "end @2000\n"
              "-- 3\n"
              "instant d [] 0 'i' @3000 \n"
              "end @3000\n"
              "-- 4\n"
              "instant e [] 0 'i' @4000 \n"
              "end @4000\n"
              "-- 5\n"
              "instant f [] 0 'i' @5000 \n"
              "end @5000\n" },
    { .name = "no end, a comma too much",
      .text = "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"tid\":1},\n",
      .want = "begin chrome-json: array, 1 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "-- 0\n"
              "instant a [] 0 'i' @0 \n"
              "end @0\n" },
    { .name = "no end of an object",
      .text = "{\"traceEvents\":[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"tid\":1}",
      .want = "begin chrome-json: object, 1 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "note truncated 0 at 0x3c (expected ']' and '}')\n"
              "-- 0\n"
              "instant a [] 0 'i' @0 \n"
              "end @0\n" },
    { .name = "a mistake in the middle",
      .text = "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"tid\":1},{\"ph\":\"i\",\"name\":"
              "\"b\" \"ts\":2},{"
              "\"ph\":\"i\",\"name\":\"c\",\"ts\":3,\"pid\":1,\"tid\":1}]",
      .want = "begin chrome-json: array, 1 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "note truncated 74 at 0x43 (expected ',' or '}')\n"
              "-- 0\n"
              "instant a [] 0 'i' @0 \n"
              "end @0\n" },
    { .name = "text behind the end",
      .text = "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"tid\":1}] x",
      .want = "begin chrome-json: array, 1 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "note truncated 1 at 0x2f (expected the end of the file)\n"
              "-- 0\n"
              "instant a [] 0 'i' @0 \n"
              "end @0\n" },
    { .name = "no events among others",
      .text = "[1,{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"pid\":1,\"tid\":1},null,{\"name\":\"b\"},"
              "{\"ph\":\"lon"
              "g\",\"ts\":1},{\"ph\":\"i\",\"name\":\"c\"}]",
      .want = "begin chrome-json: array, 1 events\n"
              "clock 1000000000 zero 1000\n"
              "thread 0 tid 1 pid 1\n"
              "note bad_record 58 at 0x1\n"
              "-- 0\n"
              "instant a [] 0 'i' @0 \n"
              "end @0\n" },
    { .name = "fields twice, escaped keys, unknown fields",
      .text = "[{\"name\":\"x\",\"n\\u0061me\":\"y\",\"ph\":\"i\",\"ts\":1,\"ts\":2,\"pid\":1,"
              "\"tid\":1,\"cname\":"
              "\"good\",\"a very long name of a field\":{\"name\":\"z\"}}]",
      .want = "begin chrome-json: array, 1 events\n"
              "clock 1000000000 zero 2000\n"
              "thread 0 tid 1 pid 1\n"
              "-- 0\n"
              "instant y [] 0 'i' @0 \n"
              "end @0\n" },
    { .name = "an empty array",
      .text = "[]",
      .code = WEFT_E_MALFORMED,
      .at_off = 0,
      .words = "found none" },
    { .name = "nothing",
      .text = "",
      .code = WEFT_E_TRUNCATED,
      .at_off = 0,
      .words = "an array or an object" },
    { .name = "a mistake first",
      .text = "[{\"ph\":\"i\",\"ts\":1,}]",
      .code = WEFT_E_MALFORMED,
      .at_off = 18,
      .words = "a name in quotes" },
    { .name = "cut first",
      .text = "[{\"ph\":\"i\",\"ts",
      .code = WEFT_E_TRUNCATED,
      .at_off = 14,
      .words = "the rest of a string" },
    { .name = "no object",
      .text = "[[1, 2",
      .code = WEFT_E_TRUNCATED,
      .at_off = 6,
      .words = "',' or ']'" },
    { .name = "a control character",
      .text = "[{\"ph\":\"\001\"}]",
      .code = WEFT_E_MALFORMED,
      .at_off = 8,
      .words = "no control character" },
    { .name = "a wrong escape",
      .text = "[{\"ph\":\"\\x\"}]",
      .code = WEFT_E_MALFORMED,
      .at_off = 8,
      .words = "an escape" },
    { .name = "too deep",
      .text = "[{\"args\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]]]]]}]",
      .code = WEFT_E_MALFORMED,
      .at_off = 1033,
      .words = "at most 1024" },
    { .name = "only what is no event",
      .text = "[{\"ph\":\"i\"}]",
      .code = WEFT_E_MALFORMED,
      .at_off = 1,
      .words = "found none" },
};

static enum weft_code import(const char *text, size_t n_bytes, unsigned n_workers, size_t limit,
                             struct rec_sink *rec, struct weft_err *err)
{
    uint8_t *bytes = n_bytes ? malloc(n_bytes) : NULL; /* exact size: no NUL behind it */
    if (bytes)
        memcpy(bytes, text, n_bytes);
    const struct weft_mapped file = { .bytes = bytes, .n_bytes = n_bytes };
    const struct weft_run run = { .pool = n_workers ? weft_pool_new(n_workers) : NULL };
    const struct weft_chrome_opts opts = { .sort_limit_bytes = limit };
    rec_init(rec);
    enum weft_code code = weft_chrome_import(&file, &opts, &rec->sink, &run, err);
    weft_pool_free(run.pool);
    free(bytes);
    return code;
}

static void test_row(const struct row *row, unsigned n_workers, size_t limit)
{
    struct rec_sink rec;
    struct weft_err err = { 0 };
    enum weft_code code = import(row->text, strlen(row->text), n_workers, limit, &rec, &err);
    tap_eq_u64((uint64_t)code, (uint64_t)row->code, "%s: code, %s", row->name, err.text);
    if (row->want) {
        char *got = rec_whole(&rec);
        tap_eq_str(got, row->want, "%s, %u workers", row->name, n_workers);
        tap_eq_u64(rec.n_order_errors, 0, "%s: order", row->name);
        free(got);
    } else {
        tap_ok(strstr(err.text, row->words) != NULL, "%s: \"%s\" says \"%s\"", row->name, err.text,
               row->words);
        tap_eq_u64(err.at_off, row->at_off, "%s: offset", row->name);
    }
    rec_fini(&rec);
}

static const struct {
    const char *text;
    bool is_trace;
} sniffed[] = {
    { "[{\"ph\":\"B\"", true },
    { "\xef\xbb\xbf [ {\"name\": \"a\\\"\", \"ts\": 1, \"ph\" : \"B\"}]", true },
    { "{\"traceEvents\":", true },
    { "{\"displayTimeUnit\": \"ns\"}", true },
    { "{\"metadata\": {\"a\": [1, 2]}, \"traceEvents\": []}", true },
    { "{\"schemaVersion\": 1, ", true },
    { "", false },
    { "[]", false },
    { "[1, 2]", false },
    { "[{\"name\": \"ph\"}]", false },
    { "{\"nodes\": [], \"startTime\": 1}", false },
    { "{\"traceEvents", false },
    { "{'ph': 1}", false },
    { "0 a 1\n", false },
};

/* Whatever is cut off a text, what stands before is kept; and the sink may fail at any call. */
static void test_cuts(void)
{
    static const char text[] =
        "{\"traceEvents\": [{\"ph\":\"X\",\"name\":\"a\\u00e9\",\"ts\":1,\"dur\":2.5,\"pid\":1,"
        "\"tid\":\"2\",\"args\":{\"k\":[1,{\"x\":null}]}}, {\"ph\":\"i\",\"name\":\"b\",\"ts\":2,"
        "\"pid\":1,\"tid\":2}], \"otherData\": {\"version\": \"1\"}}";
    unsigned n_good = 0;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        struct rec_sink rec;
        struct weft_err err = { 0 };
        enum weft_code code = import(text, n, 0, 0, &rec, &err);
        bool is_noted = strstr(rec_str(&rec.trace), "note truncated") != NULL;
        n_good += code == WEFT_OK ? is_noted : code == WEFT_E_TRUNCATED && err.at_off == n;
        rec_fini(&rec);
    }
    tap_eq_u64(n_good, sizeof text - 1, "each of %zu cuts is an error or a note", sizeof text - 1);
}

/* A chain of frames that is too long, has too long a name or is a circle is cut at its outer end.
 */
static void test_long_stacks(void)
{
    enum { N_FRAMES = 3000, CIRCLE = N_FRAMES, LONG_NAME };
    static const struct {
        const char *phase, *want;
        unsigned leaf;
    } stacks[] = {
        { "X", "{\"stack\":\"...;2181;2182;", N_FRAMES - 1 }, /* 4 KiB of names */
        { "X", "{\"stack\":\"...;o;o;o;", CIRCLE },
        { "X", "{\"stack\":\"...\"}", LONG_NAME },
        { "P", "sample ...;1976;1977;", N_FRAMES - 1 }, /* 1024 frames */
        { "P", "sample 0;00000000", LONG_NAME },
    };
    struct rec_text text = { 0 };
    rec_add(&text, "{\"traceEvents\":[");
    for (size_t k = 0; k < sizeof stacks / sizeof *stacks; k++)
        rec_add(&text, "%s{\"ph\":\"%s\",\"name\":\"c\",\"ts\":%zu,\"dur\":1,\"sf\":%u}",
                k ? "," : "", stacks[k].phase, k, stacks[k].leaf);
    rec_add(&text, "],\"stackFrames\":{\"%d\":{\"parent\":%d,\"name\":\"o\"},", CIRCLE, CIRCLE);
    rec_add(&text, "\"%d\":{\"parent\":0,\"name\":\"%05000d\"}", LONG_NAME, 7);
    for (int k = 0; k < N_FRAMES; k++)
        rec_add(&text, ",\"%d\":{\"parent\":%d,\"name\":\"%d\"}", k, k - 1, k);
    rec_add(&text, "}}");
    struct rec_sink rec;
    struct weft_err err = { 0 };
    enum weft_code code = import(text.bytes, text.n_bytes, 0, 0, &rec, &err);
    tap_eq_u64((uint64_t)code, WEFT_OK, "long stacks");
    for (size_t k = 0; k < sizeof stacks / sizeof *stacks; k++)
        tap_ok(strstr(rec_str(&rec.threads[0]), stacks[k].want) != NULL, "a long stack is \"%s\"",
               stacks[k].want);
    free(text.bytes);
    rec_fini(&rec);
}

static void test_failing_sink(void)
{
    const char *text = rows[0].text;
    for (uint64_t n = 1; n < 8; n++) {
        struct rec_sink rec;
        struct weft_err err = { 0 };
        const struct weft_mapped file = { .bytes = (const uint8_t *)text, .n_bytes = strlen(text) };
        rec_init(&rec);
        rec.fail_after = n;
        enum weft_code code = weft_chrome_import(&file, NULL, &rec.sink, NULL, &err);
        tap_eq_u64((uint64_t)code, WEFT_E_IO, "the sink fails at call %" PRIu64, n);
        rec_fini(&rec);
    }
}

int main(void)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        test_row(&rows[k], 0, 0);
        test_row(&rows[k], 2, 1); /* every record goes through the file */
    }
    for (size_t k = 0; k < sizeof sniffed / sizeof *sniffed; k++)
        tap_ok(weft_chrome_sniff((const uint8_t *)sniffed[k].text, strlen(sniffed[k].text)) ==
                   sniffed[k].is_trace,
               "\"%s\" is %strace event JSON", sniffed[k].text, sniffed[k].is_trace ? "" : "no ");
    test_cuts();
    test_long_stacks();
    test_failing_sink();
    return tap_done();
}
