/* SPDX-License-Identifier: MIT
 *
 * What a reader should hear about compiled code: that its functions have no names, with what gives
 * them some in that runtime, and what of the maps was not used. A runtime is known by its program,
 * or by its library in a program of another name.
 */
#include "ingest/recording/convert.h"

#include <stdio.h>

enum { DETAIL_BYTES = 320, LEAST_FRAMES = 10, LEAST_FRAMES_UNKNOWN = 100 };

struct runtime {
    const char *programs;  /* names of files, "node|nodejs" */
    const char *library;   /* how the name of its library begins; NULL: none */
    const char *functions; /* what they are called there */
    const char *advice;
};

static const struct runtime runtimes[] = {
    { "node|nodejs", "libnode.so", "functions",
      "start it with --perf-basic-prof --interpreted-frames-native-stack" },
    { "java|javaw", "libjvm.so", "methods",
      "start it with -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
      "-XX:+DumpPerfMapAtExit, or run 'jcmd PID Compiler.perfmap' before the recording ends" },
    { "dotnet", "libcoreclr.so", "methods", "start it with DOTNET_PerfMapEnabled=1" },
    { "luajit", "libluajit-", "traces",
      "use a LuaJIT that is built with LUAJIT_USE_PERFTOOLS, which writes a perf map" },
    { "mono", "libmonosgen-", "methods", "start it with MONO_ENV_OPTIONS=--jitmap" },
    { "deno", NULL, "functions",
      "start it with --v8-flags=--perf-basic-prof,--interpreted-frames-native-stack" },
    { "chrome|chromium|headless_shell|electron", NULL, "functions",
      "start it with --no-sandbox --js-flags=--perf-basic-prof" },
    { "beam.smp", NULL, "functions", "start it with +JPperf true" },
    { "ruby", "libruby", "methods", "start it with --yjit --yjit-perf" },
    { "php|php-fpm", NULL, "functions", "set opcache.jit_debug=16" },
    { "julia", "libjulia.so", "functions", "start it with ENABLE_JITPROFILING=1" },
};
enum { N_RUNTIMES = sizeof runtimes / sizeof *runtimes };

/* ---- which runtime --------------------------------------------------------------------------- */

static bool has_library(const struct rec_spaces *spaces, const struct rec_process *process,
                        const char *library)
{
    const struct weft_str front = weft_str_of(library);
    for (uint32_t k = process->first_image; k != REC_NO_IMAGE; k = spaces->images.items[k].next) {
        const struct rec_image *image = &spaces->images.items[k];
        for (size_t m = 0; m < image->maps.n; m++) {
            const struct weft_str base =
                weft_str_base(weft_strtab_get(spaces->texts, image->maps.items[m].path));
            if (base.n_bytes >= front.n_bytes &&
                memcmp(base.bytes, front.bytes, front.n_bytes) == 0)
                return true;
        }
    }
    return false;
}

/* Version numbers are part of some names: "php8.2". */
static struct weft_str plain_name(struct weft_str path)
{
    struct weft_str name = weft_str_base(path);
    while (name.n_bytes &&
           (name.bytes[name.n_bytes - 1] == '.' ||
            (name.bytes[name.n_bytes - 1] >= '0' && name.bytes[name.n_bytes - 1] <= '9')))
        name.n_bytes--;
    return name;
}

/* N_RUNTIMES: none that is known. */
static size_t runtime_of(const struct rec_spaces *spaces, uint32_t pid, struct weft_str *program)
{
    const struct rec_process *process = rec_process_of(spaces, pid);
    *program = process && process->exe != UINT32_MAX
                   ? weft_str_base(weft_strtab_get(spaces->texts, process->exe))
                   : WEFT_STR("a program");
    const struct weft_str name = plain_name(*program);
    size_t k = 0;
    while (k < N_RUNTIMES && !(name.n_bytes && weft_str_is_one_of(name, runtimes[k].programs)))
        k++;
    if (k < N_RUNTIMES || !process)
        return k;
    for (k = 0; k < N_RUNTIMES; k++)
        if (runtimes[k].library && has_library(spaces, process, runtimes[k].library))
            break;
    return k;
}

/* ---- notes ----------------------------------------------------------------------------------- */

struct unnamed {
    struct weft_str program; /* the first one */
    uint64_t n_named, n_unnamed;
};

static enum weft_code advise(struct rec_convert *convert, size_t number,
                             const struct unnamed *unnamed)
{
    char detail[DETAIL_BYTES];
    const bool is_known = number < N_RUNTIMES;
    const uint64_t n_least = is_known ? LEAST_FRAMES : LEAST_FRAMES_UNKNOWN;
    if (unnamed->n_unnamed < n_least || unnamed->n_unnamed <= unnamed->n_named)
        return WEFT_OK;
    const int n_program = (int)weft_min_u64(unnamed->program.n_bytes, 64);
    if (is_known)
        (void)snprintf(detail, sizeof detail, "%.*s: JIT-compiled %s have no names: %s", n_program,
                       unnamed->program.bytes, runtimes[number].functions, runtimes[number].advice);
    else
        (void)snprintf(detail, sizeof detail,
                       "%.*s: functions that are compiled at run time have no names: its runtime "
                       "has to write /tmp/perf-PID.map or a jitdump",
                       n_program, unnamed->program.bytes);
    return kernel_note(&convert->kernel, WEFT_NOTE_JIT_UNNAMED, unnamed->n_unnamed, WEFT_NO_OFFSET,
                       detail);
}

enum weft_code rec_note_jit(struct rec_convert *convert)
{
    const struct rec_jits *jits = &convert->spaces.jits;
    struct unnamed of_runtime[N_RUNTIMES + 1] = { 0 };
    enum weft_code code =
        kernel_note(&convert->kernel, WEFT_NOTE_NOT_KEPT, jits->n_bad, jits->bad_off,
                    "lines of perf maps and records of jitdumps that contradict their formats");
    WEFT_THEN(code,
              kernel_note(&convert->kernel, WEFT_NOTE_NOT_KEPT, jits->n_dropped, WEFT_NO_OFFSET,
                          "functions of perf maps and jitdumps: more memory (--mem) names them"));
    WEFT_THEN(code, kernel_note(&convert->kernel, WEFT_NOTE_NOT_KEPT, jits->n_dropped_bytes,
                                WEFT_NO_OFFSET, "bytes of perf maps and jitdumps beyond 64 MiB"));
    for (size_t k = 0; code == WEFT_OK && k < jits->n; k++) {
        struct weft_str program;
        const size_t number = runtime_of(&convert->spaces, jits->items[k].pid, &program);
        struct unnamed *of = &of_runtime[number];
        if (of->program.n_bytes == 0 && jits->items[k].n_unnamed)
            of->program = program;
        of->n_named += jits->items[k].n_named;
        of->n_unnamed += jits->items[k].n_unnamed;
    }
    for (size_t k = 0; code == WEFT_OK && k <= N_RUNTIMES; k++)
        code = advise(convert, k, &of_runtime[k]);
    return code;
}
