/* SPDX-License-Identifier: MIT
 *
 * The importers with every allocation failing in turn (the linker wraps malloc, calloc and
 * realloc): each ends with WEFT_E_NOMEM, or does without, and leaks nothing.
 */
#include "checking_sink.h"
#include "ctf_trace.h"
#include "elf_builder.h"
#include "failing_alloc.h"
#include "ingest/chrome/chrome.h"
#include "ingest/csv/csv.h"
#include "ingest/ctf/ctf.h"
#include "ingest/optrack/optrack.h"
#include "ingest/perf/perf.h"
#include "ingest/recording/recording.h"
#include "ingest/text/text.h"
#include "ingest/tracecmd/tracecmd.h"
#include "ingest/uftrace/uftrace.h"
#include "ingest/xray/function_map.h"
#include "ingest/xray/xray.h"
#include "kernel_builder.h"
#include "optrack_builder.h"
#include "recording_builder.h"
#include "tap.h"
#include "uftrace_builder.h"

struct input {
    const uint8_t *bytes;
    size_t n_bytes;
};

typedef enum weft_code (*work_fn)(const struct input *input, struct weft_sink *sink,
                                  struct weft_err *err);

static enum weft_code read_log(const struct input *input, struct weft_sink *sink,
                               struct weft_err *err)
{
    const struct weft_mapped file = { .bytes = input->bytes, .n_bytes = input->n_bytes };
    return weft_xray_import(&file, NULL, sink, NULL, err);
}

static enum weft_code read_text(const struct input *input, struct weft_sink *sink,
                                struct weft_err *err)
{
    const struct weft_text_input texts[] = {
        { .file = { .bytes = input->bytes, .n_bytes = input->n_bytes }, .path = "a" },
        { .file = { .bytes = input->bytes, .n_bytes = input->n_bytes }, .path = "b" },
    };
    return weft_text_import(texts, 2, sink, NULL, err);
}

static enum weft_code read_optrack(const struct input *input, struct weft_sink *sink,
                                   struct weft_err *err)
{
    static const char map[] = "1 int f(int)\n2 void f(void)\n3 g\n";
    const struct weft_mapped file = { .bytes = input->bytes, .n_bytes = input->n_bytes };
    const struct weft_optrack_input inputs[] = {
        { .file = file, .path = "optrack.1.1" },
        { .file = { .bytes = (const uint8_t *)map, .n_bytes = sizeof map - 1 },
          .path = "optrack-map.1" },
        { .file = file, .path = "optrack.1.2" },
    };
    return weft_optrack_import(inputs, 3, NULL, sink, NULL, err);
}

/* The same stream read as one of the kernel and as one of user space, of which one is damaged. */
static enum weft_code read_ctf(const struct input *input, struct weft_sink *sink,
                               struct weft_err *err)
{
    static char kernel[4096];
    static char user[4096];
    const int n_kernel = snprintf(kernel, sizeof kernel, "%s%s", ct_common, ct_kernel);
    const int n_user = snprintf(user, sizeof user, "%s%s", ct_common, ct_user);
    const struct ctf_stream_input stream = {
        .name = "cpu0", .file = { .bytes = input->bytes, .n_bytes = input->n_bytes }
    };
    const struct ctf_input inputs[] = {
        { .path = "k",
          .metadata = { .bytes = (const uint8_t *)kernel, .n_bytes = (uint64_t)n_kernel },
          .streams = &stream,
          .n_streams = 1 },
        { .path = "u",
          .metadata = { .bytes = (const uint8_t *)user, .n_bytes = (uint64_t)n_user },
          .streams = &stream,
          .n_streams = 1 },
    };
    return weft_ctf_import_inputs(inputs, 2, sink, NULL, err);
}

/* With a small queue, and names from programs that are not there. */
static enum weft_code read_perf(const struct input *input, struct weft_sink *sink,
                                struct weft_err *err)
{
    const struct weft_mapped file = { .bytes = input->bytes, .n_bytes = input->n_bytes };
    const struct weft_perf_opts opts = { .most_queued = 2, .reads_programs = true };
    return weft_perf_import(&file, &opts, sink, NULL, err);
}

static enum weft_code read_tracecmd(const struct input *input, struct weft_sink *sink,
                                    struct weft_err *err)
{
    const struct weft_mapped file = { .bytes = input->bytes, .n_bytes = input->n_bytes };
    return weft_tracecmd_import(&file, NULL, sink, NULL, err);
}

static enum weft_code read_recording(const struct input *input, struct weft_sink *sink,
                                     struct weft_err *err)
{
    const struct weft_mapped file = { .bytes = input->bytes, .n_bytes = input->n_bytes };
    return weft_recording_import(&file, NULL, sink, NULL, err);
}

static enum weft_code read_chrome(const struct input *input, struct weft_sink *sink,
                                  struct weft_err *err)
{
    const struct weft_mapped file = { .bytes = input->bytes, .n_bytes = input->n_bytes };
    const struct weft_chrome_opts opts = { .sort_limit_bytes = 300 };
    return weft_chrome_import(&file, &opts, sink, NULL, err);
}

static enum weft_code read_csv(const struct input *input, struct weft_sink *sink,
                               struct weft_err *err)
{
    const struct weft_mapped file = { .bytes = input->bytes, .n_bytes = input->n_bytes };
    const struct weft_csv_opts opts = { .sort_limit_bytes = 300 };
    return weft_csv_import(&file, &opts, sink, NULL, err);
}

/* The bytes are a struct weft_folder. */
static enum weft_code read_uftrace(const struct input *input, struct weft_sink *sink,
                                   struct weft_err *err)
{
    struct weft_folder folder;
    memcpy(&folder, input->bytes, sizeof folder);
    return weft_uftrace_import_folder(&folder, sink, NULL, err);
}

static enum weft_code read_map(const struct input *input, struct weft_sink *sink,
                               struct weft_err *err)
{
    struct weft_xray_map *map;
    struct weft_function_info info;
    (void)sink;
    enum weft_code code = weft_xray_map_read(input->bytes, input->n_bytes, &map, err);
    if (code == WEFT_OK && !weft_xray_map_find(map, 1, &info))
        abort();
    weft_xray_map_free(map);
    return code;
}

/* Fails allocation 0, 1, 2 ... until the work needs no more of them. */
static void test_failures(const char *name, work_fn work, const struct input *input)
{
    unsigned n_wrong = 0;
    int n = 0;
    for (bool is_done = false; !is_done && n < 10000; n++) {
        struct check_sink *sink = check_sink_new();
        struct weft_err err = { 0 };
        n_until_failure = n;
        enum weft_code code = work(input, &sink->sink, &err);
        is_done = n_until_failure >= 0;
        n_until_failure = -1;
        n_wrong += is_done ? code != WEFT_OK : code != WEFT_OK && code != WEFT_E_NOMEM;
        n_wrong += code != WEFT_OK && err.text[0] == '\0';
        free(sink);
    }
    tap_eq_u64(n_wrong, 0, "%s: each of %d allocations fails in turn", name, n - 1);
    tap_ok(n > 3 && n < 10000, "%s: there is something to fail", name);
}

static void build_fdr(struct xb *log)
{
    xb_header(log, 5, 1, 1000000000, 512);
    for (uint32_t tid = 1; tid < 40; tid++) {
        size_t at = xb_begin_buffer(log);
        xb_head(log, tid, 1, 0, 1000 + tid);
        xb_function(log, XB_ENTER, tid << 20, 0);
        xb_custom(log, 1, 0, "x", 1);
        xb_function(log, XB_EXIT, tid << 20, 5);
        xb_end_buffer(log, at, 512);
    }
}

static void build_basic(struct xb *log)
{
    xb_header(log, 3, 0, 1000000000, 0);
    for (uint32_t k = 0; k < 80; k++)
        xb_basic(log, 0, k % 2, k << 20, 1000 + k, k % 40, 1);
}

static void test_logs(void)
{
    struct xb fdr = { 0 };
    struct xb basic = { 0 };
    build_fdr(&fdr);
    build_basic(&basic);
    test_failures("FDR", read_log, &(struct input){ fdr.bytes, fdr.n_bytes });
    test_failures("basic", read_log, &(struct input){ basic.bytes, basic.n_bytes });
    xb_fini(&fdr);
    xb_fini(&basic);
}

static void test_texts(void)
{
    static const char trace[] = "0 f 1\n0 g 2\n1 g 3\n1 f 4\n";
    static const char yaml[] = "- { id: 1, function: 0x10, function-name: f }\n"
                               "- { id: 2, function: 0x20, function-name: g }\n";
    static const char tsv[] = "1\t0x10\tf\n2\t0x20\tg\n";
    static const char arrows[] = "--> f 3 2 lock\n<-- f 3 5\n-> g 6\n";
    test_failures("arrows", read_text,
                  &(struct input){ (const uint8_t *)arrows, sizeof arrows - 1 });
    test_failures("text", read_text, &(struct input){ (const uint8_t *)trace, sizeof trace - 1 });
    test_failures("YAML", read_map, &(struct input){ (const uint8_t *)yaml, sizeof yaml - 1 });
    test_failures("TSV", read_map, &(struct input){ (const uint8_t *)tsv, sizeof tsv - 1 });
    static const struct eb_function functions[] = { { 0x1000, "_ZN1a1bEv" }, { 0x2000, "c" } };
    struct eb_out program;
    eb_build(&program,
             &(struct eb_opts){ .functions = functions, .n_functions = 2, .is_relocated = true });
    test_failures("program", read_map, &(struct input){ program.bytes, program.n_bytes });
}

static void test_json(void)
{
    static const char json[] =
        "{\"stackFrames\":{\"1\":{\"name\":\"m\\n\"},\"2\":{\"name\":\"l\",\"parent\":1}},"
        "\"traceEvents\":["
        "{\"ph\":\"X\",\"name\":\"a\\u0041\",\"ts\":2,\"dur\":1,\"pid\":1,\"args\":{\"k\":1}},"
        "{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"c\\t\",\"ts\":1,\"dur\":5,\"pid\":1,\"tid\":\"x\"},"
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"tts\":1,\"sf\":2,\"pid\":1,\"tid\":"
        "\"x\"},"
        "{\"ph\":\"B\",\"name\":\"b\",\"ts\":1,\"pid\":1,\"tid\":\"x\"},"
        "{\"ph\":\"E\",\"ts\":9,\"pid\":1,\"tid\":\"x\",\"args\":{\"e\":1}},"
        "{\"ph\":\"b\",\"id\":1,\"ts\":3,\"pid\":1,\"name\":\"s\\\\\",\"args\":{\"u\":1}},"
        "{\"ph\":\"e\",\"id\":1,\"ts\":4,\"tts\":2,\"pid\":1,\"args\":{\"v\":1}},"
        "{\"ph\":\"C\",\"name\":\"n\\/\",\"ts\":4,\"pid\":1,\"args\":{\"v\\/\":1}},"
        "{\"ph\":\"P\",\"name\":\"p\",\"cat\":\"q\\/\",\"ts\":4,\"pid\":1,\"sf\":2},"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"args\":{\"name\":\"t\\/\"}},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"t\"}}]}";
    test_failures("JSON", read_chrome, &(struct input){ (const uint8_t *)json, sizeof json - 1 });
}

static void test_csv(void)
{
    static const char csv[] = "start,dur,name,tid,pid,node,cat,args\n"
                              "9,1,f,1,1,east,m,x\n1,5,g,w,1,east,m,\"y \"\"z\"\"\"\n"
                              "1,5,f,w,1,east,n,\n2,3,f,w,1,east,m,\n5,6,g,w,p,west,m,\n";
    test_failures("CSV", read_csv, &(struct input){ (const uint8_t *)csv, sizeof csv - 1 });
}

static void test_optrack(void)
{
    struct xb file = { 0 };
    ob_header(&file, 3, 0, 1000, 1795244775);
    ob_record(&file, 900, 1, 0);
    ob_record(&file, 500, 2, 1);
    ob_record(&file, 510, 3, 0);
    ob_record(&file, 100, 3, 1);
    test_failures("OpTrack", read_optrack, &(struct input){ file.bytes, file.n_bytes });
    xb_fini(&file);
}

static void test_ctf(void)
{
    static struct ct_stream stream;
    ct_begin(&stream, 0, 0, 0);
    ct_put_switch(&stream, 10, 0, 1, 0, "parent");
    ct_put_fork(&stream, 20, 30, "one");
    ct_put_numbers(&stream, 6, 25, 5, 0);
    ct_put_text(&stream, "/etc/x");
    ct_put_switch(&stream, 30, 1, 30, 0, "one");
    ct_end(&stream);
    const struct input input = { .bytes = stream.bytes, .n_bytes = stream.n };
    test_failures("CTF", read_ctf, &input);
}

static void test_perf(void)
{
    static const uint64_t chain[] = { (uint64_t)-512, 0x401005, 0x701800 };
    struct kb records = { 0 };
    struct kb raw = { 0 };
    pb_comm(&records, 10, 10, "main", 0);
    pb_mmap(&records, 10, 0x401000, 0x1000, "/nowhere/b", 0);
    pb_task(&records, 7, 20, 20, 10, 5001);
    kb_switch(&raw, 10, "main", 1, 11, "other");
    pb_tracepoint(&records, 10, 10, 5100, 0, &raw);
    pb_round(&records);
    kb_odd(&raw, 11, 1, "text");
    pb_tracepoint(&records, 10, 11, 5050, 1, &raw);
    pb_clock(&records, 10, 10, 5000, 0, chain, 3);
    kb_fork(&raw, 10, 30, "main");
    pb_tracepoint(&records, 10, 10, 5200, 0, &raw);
    struct kb packed = pb_pack(&records, 100);
    struct kb files[] = { pb_file(&records), pb_pipe(&packed) };
    for (size_t k = 0; k < 2; k++) {
        test_failures(k ? "perf.data, packed" : "perf.data", read_perf,
                      &(struct input){ files[k].out.bytes, files[k].out.n_bytes });
        kb_fini(&files[k]);
    }
    kb_fini(&records);
    kb_fini(&packed);
    kb_fini(&raw);
}

static void test_tracecmd(void)
{
    struct tb tb = { .n_cpus = 2 };
    struct kb raw = { 0 };
    kb_switch(&raw, 10, "main", 1, 11, "other");
    tb_event(&tb, 0, 5000, &raw);
    kb_odd(&raw, 77, 1, "text");
    tb_event(&tb, 1, 5001, &raw);
    struct kb file = tb_file(&tb);
    test_failures("trace.dat", read_tracecmd, &(struct input){ file.out.bytes, file.out.n_bytes });
    kb_fini(&file);
    file = tb_sections(&tb, "zstd");
    test_failures("trace.dat, packed", read_tracecmd,
                  &(struct input){ file.out.bytes, file.out.n_bytes });
    kb_fini(&file);
    tb_fini(&tb);
    kb_fini(&raw);
}

static void test_recording(void)
{
    struct rb file = { 0 }, records = { 0 };
    struct rb_ring ring = { .pid = 10, .piece = { .library = 1, .tid = 10, .start_ticks = 1 } };
    struct rb_ring other = { .pid = 10, .piece = { .library = 1, .tid = 11, .start_ticks = 2 } };
    const uint64_t id[] = { 7 }, lock[] = { 64, 1 }, metric[] = { 7, 0 };
    const struct weft_kernel_record fork = {
        .time_ns = 3, .tid = 10, .type = WEFT_KERNEL_FORK, .a = 11 | UINT64_C(10) << 32
    };
    const struct weft_kernel_record send = { .time_ns = 4,
                                             .tid = 10,
                                             .type = WEFT_KERNEL_SEND,
                                             .payload_bytes = sizeof(struct weft_kernel_flow),
                                             .a = 1 };
    rb_head(&file);
    rb_clock(&file, 1, 1, 1);
    rb_text(&file, WEFT_PIECE_META, 0, 0, 1, "command=x\n");
    rb_text(&file, WEFT_PIECE_PROCESS, 0, 10, 1, "parent=1\ncomm=x\n");
    rb_text(&file, WEFT_PIECE_MAPS, 0, 10, 1, "1000-2000 r-xp 00000000 00:00 1 /none\n");
    rb_text(&file, WEFT_PIECE_BUILD, 0, 0, 1, "abcd /none\n");
    rb_call(&ring, 5, false, 0x1100);
    rb_op(&ring, 6, WEFT_OP_LOCK_ACQUIRED, WEFT_RING_LOCK_MUTEX, lock, 2);
    rb_op_text(&ring, 7, WEFT_OP_MARK_BEGIN, id, 1, "a");
    rb_op_text(&ring, 8, WEFT_OP_MARK_METRIC, metric, 2, "b");
    rb_op_text(&ring, 9, WEFT_OP_TASK_BEGIN, id, 1, "c");
    rb_op(&ring, 10, WEFT_OP_CULLED, 0, lock, 2);
    rb_op_text(&other, 11, WEFT_OP_MARK_END, id, 1, "a");
    rb_op_text(&other, 12, WEFT_OP_THREAD_NAME, NULL, 0, "d");
    rb_cut(&file, &ring, ring.n_ends, 20);
    file.is_packed = true;
    rb_cut(&file, &other, other.n_ends, 20);
    rb_put(&records, &fork, sizeof fork);
    rb_put(&records, &send, sizeof send);
    rb_put(&records, &(struct weft_kernel_flow){ .netns = 1 }, sizeof(struct weft_kernel_flow));
    rb_piece(&file, WEFT_PIECE_KERNEL, 0, 0, 20, records.bytes, records.n_bytes);
    test_failures("recording", read_recording, &(struct input){ file.bytes, file.n_bytes });
    rb_ring_fini(&ring);
    rb_ring_fini(&other);
    rb_fini(&records);
    rb_fini(&file);
}

static void test_uftrace(void)
{
    struct ub dir = { 0 };
    ub_info(&dir, "argspec:lines=2\nargspec:^m@arg1/s\npattern_type:regex\n");
    ub_text(&dir, "events.txt", "EVENT: 1000000 prog:tick\n");
    ub_text(&dir, "task.txt",
            "SESS timestamp=0.9 pid=10 sid=ab exename=\"prog\"\n"
            "SESS timestamp=0.900000000 pid=10 sid=ab exename=\"prog\"\n"
            "TASK timestamp=0.900000001 tid=10 pid=10\n"
            "DLOP timestamp=0.900000002 tid=10 sid=ab base=900000 libname=\"q\"\n");
    ub_text(&dir, "sid-ab.map", "400000-402000 r-xp 00000000 00:00 0 prog\n");
    ub_text(&dir, "prog.sym", "# path name: prog\n0000000000001100 T _ZN2ns4mainEi\n");
    ub_text(&dir, "prog.dbg", "F: 1100 main\nA: @arg1/s\n");
    struct xb *file = ub_file(&dir, "10.dat");
    ub_record(file, 1000000000, UB_ENTRY | UB_MORE, 0, 0x401104);
    ub_string(file, "abcdef");
    ub_record(file, 1000000002, UB_EXIT, 0, 0x401104);
    file = ub_file(&dir, "perf-cpu0.dat");
    ub_comm(file, 10, 1000000000, "named");
    ub_switch(file, UB_OUT, 10, 1000000001);
    struct weft_folder folder = ub_folder(&dir);
    test_failures("uftrace", read_uftrace,
                  &(struct input){ (const uint8_t *)&folder, sizeof folder });
    ub_folder_fini(&folder);
    ub_fini(&dir);
}

int main(void)
{
    test_logs();
    test_texts();
    test_json();
    test_csv();
    test_optrack();
    test_ctf();
    test_perf();
    test_tracecmd();
    test_uftrace();
    test_recording();
    return tap_done();
}
