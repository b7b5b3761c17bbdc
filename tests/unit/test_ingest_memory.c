/* SPDX-License-Identifier: MIT
 *
 * The importers with every allocation failing in turn (the linker wraps malloc, calloc and
 * realloc): each ends with WEFT_E_NOMEM, or does without, and leaks nothing.
 */
#include "checking_sink.h"
#include "elf_builder.h"
#include "failing_alloc.h"
#include "ingest/text/text.h"
#include "ingest/xray/function_map.h"
#include "ingest/xray/xray.h"
#include "tap.h"
#include "xray_builder.h"

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
    test_failures("text", read_text, &(struct input){ (const uint8_t *)trace, sizeof trace - 1 });
    test_failures("YAML", read_map, &(struct input){ (const uint8_t *)yaml, sizeof yaml - 1 });
    test_failures("TSV", read_map, &(struct input){ (const uint8_t *)tsv, sizeof tsv - 1 });
    static const struct eb_function functions[] = { { 0x1000, "_ZN1a1bEv" }, { 0x2000, "c" } };
    struct eb_out program;
    eb_build(&program,
             &(struct eb_opts){ .functions = functions, .n_functions = 2, .is_relocated = true });
    test_failures("program", read_map, &(struct input){ program.bytes, program.n_bytes });
}

int main(void)
{
    test_logs();
    test_texts();
    return tap_done();
}
