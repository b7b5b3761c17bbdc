/* SPDX-License-Identifier: MIT
 *
 * Exports with every allocation failing in turn (the linker wraps malloc, calloc and realloc): an
 * error, no leak, no crash, and never output that lacks something.
 */
#include "failing_alloc.h"
#include "render/export/export.h"
#include "small_trace.h"
#include "tap.h"

enum { MOST_FAILURES = 100000 };

static struct weft_export_opts opts;

/* WEFT_OK, the bytes and their sum; or why not. */
static enum weft_code export_once(uint64_t *n_bytes, uint64_t *sum)
{
    struct weft_output *out;
    struct weft_export_totals totals;
    enum weft_code code = weft_output_to_memory(&out, NULL);
    if (code != WEFT_OK)
        return code;
    code = weft_export_write(&opts, out, &totals, NULL);
    struct weft_str held = weft_output_held(out);
    *n_bytes = held.n_bytes;
    *sum = 0;
    for (size_t i = 0; i < held.n_bytes; i++)
        *sum = *sum * 31 + (uint8_t)held.bytes[i];
    enum weft_code out_code = weft_output_close(out, NULL);
    return code != WEFT_OK ? code : out_code;
}

/* Lets the first allocation fail, then the second, and so on until the work is done without. */
static void fail_all(const char *name)
{
    uint64_t n_want = 0, want = 0;
    int n_failures = 0;
    bool is_good = export_once(&n_want, &want) == WEFT_OK;
    for (; n_failures < MOST_FAILURES && is_good; n_failures++) {
        uint64_t n_bytes = 0, sum = 0;
        n_until_failure = n_failures;
        const enum weft_code code = export_once(&n_bytes, &sum);
        const bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        is_good =
            code == WEFT_OK ? n_bytes == n_want && sum == want : has_failed && code == WEFT_E_NOMEM;
        if (!is_good)
            tap_note("allocation %d: %s", n_failures, weft_code_name(code));
        if (!has_failed)
            break;
    }
    tap_ok(is_good && n_failures > 0, "%s: %d failed allocations", name, n_failures);
}

int main(void)
{
    static const char *const names[] = { "chrome", "perfetto", "folded", "csv", "speedscope" };
    const char *root = getenv("WEFT_BUILD_ROOT");
    char path[512];
    struct weft_trace *trace;
    (void)snprintf(path, sizeof path, "%s/export_memory.weft", root ? root : ".");
    if (!tap_ok(small_trace_write(path, NULL) == WEFT_OK &&
                    weft_trace_open(path, &trace, NULL) == WEFT_OK,
                "the small trace opens"))
        return tap_done();
    for (unsigned i = 0; i < WEFT_EXPORT_FORMATS; i++) {
        opts = (struct weft_export_opts){ .trace = trace,
                                          .name = "small",
                                          .window = WEFT_WINDOW_ALL,
                                          .format = (enum weft_export_format)i };
        fail_all(names[i]);
        opts.window.from_ns = 66332; /* not in the first block */
        opts.weight = WEFT_EXPORT_SAMPLES;
        fail_all(names[i]);
        opts.weight = WEFT_EXPORT_STACKS;
        fail_all(names[i]);
    }
    weft_trace_close(trace);
    (void)remove(path);
    return tap_done();
}
