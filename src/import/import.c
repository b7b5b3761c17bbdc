/* SPDX-License-Identifier: MIT
 *
 * Joins an importer to the store: opens the inputs, recognises their format by content, writes.
 */
#include "import/import.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/str.h"
#include "import/input.h"
#include "import/merge.h"
#include "import/naming.h"
#include "import/replay.h"
#include "import/stored.h"
#include "ingest/chrome/chrome.h"
#include "ingest/csv/csv.h"
#include "ingest/ctf/ctf.h"
#include "ingest/ftrace/ftrace.h"
#include "ingest/optrack/optrack.h"
#include "ingest/perf/perf.h"
#include "ingest/recording/recording.h"
#include "ingest/text/text.h"
#include "ingest/tracecmd/tracecmd.h"
#include "ingest/uftrace/uftrace.h"
#include "ingest/xray/xray.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that a sniffer may look at. */
/* SORT_SHARE: sorting takes one in so many bytes of a ceiling on memory. */
enum { SNIFF_BYTES = 4096, SHOWN_BYTES = 16, SORT_SHARE = 4 };

/* What becomes one trace: inputs of one format. */
struct job {
    const struct weft_import_opts *opts; /* with these inputs only */
    const struct weft_input *const *inputs;
    const struct weft_mapped *files; /* of the inputs, as they are or unpacked */
    size_t n_files;                  /* 0: opts->inputs[0] is a folder */
    uint64_t n_bytes;                /* as given */
};

typedef enum weft_code (*import_fn)(const struct job *job, struct weft_sink *sink,
                                    const struct weft_run *run, struct weft_err *err);

static enum weft_code import_xray(const struct job *job, struct weft_sink *sink,
                                  const struct weft_run *run, struct weft_err *err)
{
    const struct weft_xray_opts opts = { .binary_path = job->opts->binary_path,
                                         .map_path = job->opts->map_path };
    enum weft_code code = weft_xray_import(&job->files[0], &opts, sink, run, err);
    if (code != WEFT_OK && code != WEFT_E_CANCELLED)
        weft_in_file(err, job->opts->inputs[0]);
    return code;
}

/* Damage in packed data cuts a line anywhere. */
static struct weft_mapped whole_lines(const struct weft_input *input)
{
    struct weft_mapped file = input->file;
    const uint8_t *end = NULL;
    if (input->loss.is_any)
        end = memrchr(file.bytes, '\n', (size_t)file.n_bytes);
    if (end)
        file.n_bytes = (uint64_t)(end + 1 - file.bytes);
    return file;
}

/* What the events of a trace may take in memory while they are sorted; 0: the default. */
static size_t sort_share(uint64_t memory_bytes)
{
    return (size_t)(memory_bytes / SORT_SHARE);
}

static enum weft_code import_chrome(const struct job *job, struct weft_sink *sink,
                                    const struct weft_run *run, struct weft_err *err)
{
    const struct weft_chrome_opts opts = { .sort_limit_bytes =
                                               sort_share(job->opts->memory_bytes) };
    enum weft_code code = weft_chrome_import(&job->files[0], &opts, sink, run, err);
    if (code != WEFT_OK && code != WEFT_E_CANCELLED)
        weft_in_file(err, job->opts->inputs[0]);
    return code;
}

static enum weft_code import_csv(const struct job *job, struct weft_sink *sink,
                                 const struct weft_run *run, struct weft_err *err)
{
    const struct weft_mapped file = whole_lines(job->inputs[0]);
    const struct weft_csv_opts opts = { .columns = job->opts->columns,
                                        .sort_limit_bytes = sort_share(job->opts->memory_bytes) };
    enum weft_code code = weft_csv_import(&file, &opts, sink, run, err);
    if (code != WEFT_OK && code != WEFT_E_CANCELLED)
        weft_in_file(err, job->opts->inputs[0]);
    return code;
}

static enum weft_code import_text(const struct job *job, struct weft_sink *sink,
                                  const struct weft_run *run, struct weft_err *err)
{
    struct weft_text_input *inputs = calloc(job->n_files, sizeof *inputs);
    if (!inputs)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu inputs",
                         job->n_files);
    for (size_t k = 0; k < job->n_files; k++)
        inputs[k] = (struct weft_text_input){ .file = whole_lines(job->inputs[k]),
                                              .path = job->opts->inputs[k],
                                              .name = job->inputs[k]->name };
    enum weft_code code = weft_text_import(inputs, job->n_files, sink, run, err);
    free(inputs);
    return code;
}

/* A directory, or files of it. */
static enum weft_code import_optrack(const struct job *job, struct weft_sink *sink,
                                     const struct weft_run *run, struct weft_err *err)
{
    const struct weft_optrack_opts opts = { .map_path = job->opts->map_path,
                                            .looks_beside_files = true };
    if (job->opts->binary_path)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "WiredTiger operation tracking: takes a map (--map), but no program");
    if (job->n_files == 0)
        return weft_optrack_import_dir(job->opts->inputs[0], opts.map_path, sink, run, err);
    struct weft_optrack_input *inputs = calloc(job->n_files, sizeof *inputs);
    if (!inputs)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu inputs",
                         job->n_files);
    for (size_t k = 0; k < job->n_files; k++)
        inputs[k] =
            (struct weft_optrack_input){ .file = job->files[k], .path = job->opts->inputs[k] };
    enum weft_code code = weft_optrack_import(inputs, job->n_files, &opts, sink, run, err);
    free(inputs);
    return code;
}

static enum weft_code import_uftrace(const struct job *job, struct weft_sink *sink,
                                     const struct weft_run *run, struct weft_err *err)
{
    return weft_uftrace_import(job->opts->inputs[0], sink, run, err);
}

static enum weft_code import_ftrace(const struct job *job, struct weft_sink *sink,
                                    const struct weft_run *run, struct weft_err *err)
{
    const struct weft_mapped file = whole_lines(job->inputs[0]);
    enum weft_code code = weft_ftrace_import(&file, sink, run, err);
    if (code != WEFT_OK && code != WEFT_E_CANCELLED)
        weft_in_file(err, job->opts->inputs[0]);
    return code;
}

static enum weft_code import_ctf(const struct job *job, struct weft_sink *sink,
                                 const struct weft_run *run, struct weft_err *err)
{
    return weft_ctf_import(job->opts->inputs[0], sink, run, err);
}

/* Programs that were recorded are looked for on this machine, too. */
static enum weft_code import_perf(const struct job *job, struct weft_sink *sink,
                                  const struct weft_run *run, struct weft_err *err)
{
    const struct weft_perf_opts opts = { .beside = job->opts->output,
                                         .program_dir = job->opts->symbols_path,
                                         .reads_programs = true };
    enum weft_code code = weft_perf_import(&job->files[0], &opts, sink, run, err);
    if (code != WEFT_OK && code != WEFT_E_CANCELLED)
        weft_in_file(err, job->opts->inputs[0]);
    return code;
}

static enum weft_code import_recording(const struct job *job, struct weft_sink *sink,
                                       const struct weft_run *run, struct weft_err *err)
{
    const struct weft_recording_opts opts = { .symbols_path = job->opts->symbols_path };
    enum weft_code code = weft_recording_import(&job->files[0], &opts, sink, run, err);
    if (code != WEFT_OK && code != WEFT_E_CANCELLED)
        weft_in_file(err, job->opts->inputs[0]);
    return code;
}

static enum weft_code import_tracecmd(const struct job *job, struct weft_sink *sink,
                                      const struct weft_run *run, struct weft_err *err)
{
    const struct weft_tracecmd_opts opts = { .beside = job->opts->output };
    enum weft_code code = weft_tracecmd_import(&job->files[0], &opts, sink, run, err);
    if (code != WEFT_OK && code != WEFT_E_CANCELLED)
        weft_in_file(err, job->opts->inputs[0]);
    return code;
}

/* A format: adding one is adding a row. The first whose sniffer agrees is taken. */
static const struct format {
    const char *name;
    bool (*sniff)(const uint8_t *bytes, size_t n_bytes); /* NULL: never a file */
    import_fn import;                                    /* NULL: a .weft file, which is replayed */
    bool takes_many;                                     /* several inputs become one trace */
    bool takes_names;                                    /* --binary and --map mean something */
    bool (*sniff_dir)(const char *path); /* the input may be a folder of this kind; or NULL */
} formats[] = {
    { ".weft file", weft_store_sniff, NULL, false, false, NULL },
    { "uftrace.data", NULL, import_uftrace, false, false, weft_uftrace_sniff_dir },
    { "WiredTiger operation tracking", weft_optrack_sniff, import_optrack, true, true,
      weft_optrack_sniff_dir },
    { "CTF", NULL, import_ctf, false, false, weft_ctf_sniff_dir },
    { "perf.data", weft_perf_sniff, import_perf, false, false, NULL },
    { "recording", weft_recording_sniff, import_recording, false, false, NULL },
    { "trace.dat", weft_tracecmd_sniff, import_tracecmd, false, false, NULL },
    { "XRay log", weft_xray_sniff, import_xray, false, true, NULL },
    { "text trace", weft_text_sniff, import_text, true, false, NULL },
    { "text of perf script or ftrace", weft_ftrace_sniff, import_ftrace, false, false, NULL },
    { "trace event JSON", weft_chrome_sniff, import_chrome, false, false, NULL },
    { "CSV of spans", weft_csv_sniff, import_csv, false, false, NULL },
};

enum { N_FORMATS = sizeof formats / sizeof *formats };

static const struct format *detect_bytes(const uint8_t *bytes, size_t n_bytes)
{
    for (size_t k = 0; k < N_FORMATS; k++)
        if (formats[k].sniff &&
            formats[k].sniff(bytes, n_bytes < SNIFF_BYTES ? n_bytes : SNIFF_BYTES))
            return &formats[k];
    return NULL;
}

static const struct format *detect_folder(const char *path)
{
    for (size_t k = 0; k < N_FORMATS; k++)
        if (formats[k].sniff_dir && formats[k].sniff_dir(path))
            return &formats[k];
    return NULL;
}

const char *weft_import_format(const char *path)
{
    uint8_t bytes[SNIFF_BYTES];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n_bytes = fd < 0 ? -1 : pread(fd, bytes, sizeof bytes, 0);
    const bool is_folder = fd >= 0 && n_bytes < 0 && errno == EISDIR;
    const struct format *format = n_bytes > 0 ? detect_bytes(bytes, (size_t)n_bytes)
                                  : is_folder ? detect_folder(path)
                                              : NULL;
    if (fd >= 0)
        (void)close(fd);
    return format ? format->name : NULL;
}

static bool is_known(const uint8_t *bytes, size_t n_bytes)
{
    return detect_bytes(bytes, n_bytes) != NULL;
}

static const struct format *csv_format(void)
{
    size_t k = 0;
    while (formats[k].import != import_csv)
        k++;
    return &formats[k];
}

/* NULL: none. With named columns, a file of no other format is a table. */
static const struct format *detect(const struct weft_import_opts *opts,
                                   const struct weft_input *input)
{
    if (!input->is_folder) {
        const struct format *format = detect_bytes(input->file.bytes, (size_t)input->file.n_bytes);
        return format || !opts->columns ? format : csv_format();
    }
    return detect_folder(input->path);
}

/* ---- the message for an unknown file ----------------------------------------------------------
 */

static bool is_printable(const struct weft_mapped *file, size_t n_bytes)
{
    for (size_t k = 0; k < n_bytes; k++)
        if (file->bytes[k] < ' ' || file->bytes[k] > '~')
            return false;
    return n_bytes > 0;
}

static size_t first_line_bytes(const struct weft_mapped *file, size_t n_most)
{
    size_t n_bytes = file->n_bytes < n_most ? (size_t)file->n_bytes : n_most;
    const uint8_t *end = n_bytes ? memchr(file->bytes, '\n', n_bytes) : NULL;
    n_bytes = end ? (size_t)(end - file->bytes) : n_bytes;
    return n_bytes - (n_bytes > 0 && file->bytes[n_bytes - 1] == '\r');
}

/* True if the first line has at least two separators of one kind: three columns. */
static bool is_table(const struct weft_mapped *file)
{
    const size_t n_bytes = first_line_bytes(file, SNIFF_BYTES);
    for (const char *separator = ",;\t"; *separator; separator++) {
        size_t n = 0;
        for (size_t k = 0; k < n_bytes; k++)
            n += file->bytes[k] == (uint8_t)*separator;
        if (n >= 2 && file->bytes[0] != '{' && file->bytes[0] != '[')
            return true;
    }
    return false;
}

/* Well-known files that are given by mistake: a better word than "unknown". */
static const char *hint_of(const struct weft_mapped *file)
{
    static const struct {
        const char *magic;
        size_t n_bytes;
        const char *hint;
    } hints[] = {
        { "Ftrace!", 7, "; it is part of an uftrace directory: give that" },
        { "/* CTF", 6, "; it is the metadata of a CTF trace: give its directory" },
        { "\x57\x1d\xd1\x75", 4, "; it is the metadata of a CTF trace: give its directory" },
        { "\x75\xd1\x1d\x57", 4, "; it is the metadata of a CTF trace: give its directory" },
        { "\xc1\x1f\xfc\xc1", 4, "; it is part of a CTF trace: give its directory" },
        { "\xc1\xfc\x1f\xc1", 4, "; it is part of a CTF trace: give its directory" },
        { "\x7f"
          "ELF",
          4, "; it is a program: give it with --binary" },
        { "\x28\xb5\x2f\xfd", 4, "; it is compressed twice: run zstd -d first" },
        { "\x1f\x8b", 2, "; it is compressed twice: run gzip -d first" },
        { "\xfd"
          "7zXZ",
          5, "; it is compressed: pipe it through xz -dc" },
        { "BZh", 3, "; it is compressed: pipe it through bzip2 -dc" },
        { "\x04\x22\x4d\x18", 4, "; it is compressed: pipe it through lz4 -dc" },
    };
    for (size_t k = 0; k < sizeof hints / sizeof *hints; k++)
        if (file->n_bytes >= hints[k].n_bytes &&
            memcmp(file->bytes, hints[k].magic, hints[k].n_bytes) == 0)
            return hints[k].hint;
    return is_table(file) ? "; of a table name the columns: --columns start_us,dur_us,name,-" : "";
}

/* "A, B, C" */
static void list_formats(bool of_folders, char *text, size_t n_text)
{
    size_t n_used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < N_FORMATS && n_used < n_text; k++) {
        if (of_folders ? !formats[k].sniff_dir : !formats[k].sniff)
            continue;
        const int n_new =
            snprintf(text + n_used, n_text - n_used, "%s%s", n_used ? ", " : "", formats[k].name);
        n_used += n_new > 0 ? (size_t)n_new : 0;
    }
}

static enum weft_code fail_unknown_folder(struct weft_err *err)
{
    char known[512];
    list_formats(true, known, sizeof known);
    if (!known[0])
        return weft_fail(err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET,
                         "expected a file, found a directory: name the files in it");
    return weft_fail(err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET,
                     "expected the directory of a trace (%s), found one of other files", known);
}

/* The first bytes: as text if they are, else as numbers. */
static void show_bytes(const struct weft_mapped *file, char *text, size_t n_text)
{
    size_t n_shown = first_line_bytes(file, 2 * SHOWN_BYTES);
    if (is_printable(file, n_shown)) {
        (void)snprintf(text, n_text, "\"%.*s\"", (int)n_shown, (const char *)file->bytes);
        return;
    }
    n_shown = file->n_bytes < SHOWN_BYTES ? (size_t)file->n_bytes : SHOWN_BYTES;
    for (size_t k = 0; k < n_shown; k++)
        (void)snprintf(text + 3 * k, n_text - 3 * k, "%02x%s", file->bytes[k],
                       k + 1 < n_shown ? " " : "");
}

static enum weft_code fail_unknown(const struct weft_input *input, struct weft_err *err)
{
    const struct weft_mapped *file = &input->file;
    if (input->is_folder)
        return fail_unknown_folder(err);
    char found[3 * SHOWN_BYTES + 1] = "";
    show_bytes(file, found, sizeof found);
    char known[512];
    list_formats(false, known, sizeof known);
    return weft_fail(err, WEFT_E_UNSUPPORTED, 0, "expected a trace (%s), found %s%s", known, found,
                     hint_of(file));
}

/* ---- inputs -----------------------------------------------------------------------------------
 */

/* All inputs, their formats, and which of them become one trace. */
struct intake {
    const struct weft_import_opts *opts;
    const struct weft_run *run;
    struct weft_input *inputs;
    size_t n_inputs; /* open ones */
    const struct format **formats;
    size_t *group_of; /* by input: 0 .. n_groups - 1, by first input */
    size_t n_groups;
    /* Room for what a job points to. */
    const char **job_paths;
    const struct weft_input **job_inputs;
    struct weft_mapped *job_files;
};

static enum weft_code make_room(struct intake *intake, struct weft_err *err)
{
    const size_t n_inputs = intake->opts->n_inputs;
    intake->inputs = calloc(n_inputs, sizeof *intake->inputs);
    intake->formats = calloc(n_inputs, sizeof *intake->formats);
    intake->group_of = calloc(n_inputs, sizeof *intake->group_of);
    intake->job_paths = calloc(n_inputs, sizeof *intake->job_paths);
    intake->job_inputs = calloc(n_inputs, sizeof *intake->job_inputs);
    intake->job_files = calloc(n_inputs, sizeof *intake->job_files);
    if (intake->inputs && intake->formats && intake->group_of && intake->job_paths &&
        intake->job_inputs && intake->job_files)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu inputs", n_inputs);
}

static enum weft_code open_inputs(struct intake *intake, struct weft_err *err)
{
    const struct weft_import_opts *opts = intake->opts;
    const struct weft_input_opts input_opts = { .beside = opts->output,
                                                .memory_bytes = opts->memory_bytes,
                                                .is_welcome = opts->columns ? NULL : is_known,
                                                .progress = intake->run->progress };
    enum weft_code code = make_room(intake, err);
    while (code == WEFT_OK && intake->n_inputs < opts->n_inputs) {
        const size_t k = intake->n_inputs;
        code = weft_input_open(opts->inputs[k], &input_opts, &intake->inputs[k], err);
        if (code != WEFT_OK)
            break;
        intake->n_inputs++;
        intake->formats[k] = detect(opts, &intake->inputs[k]);
        if (!intake->formats[k]) {
            code = fail_unknown(&intake->inputs[k], err);
            (void)weft_in_file(err, opts->inputs[k]);
        }
    }
    return code;
}

static void close_inputs(struct intake *intake)
{
    for (size_t k = 0; k < intake->n_inputs; k++)
        weft_input_close(&intake->inputs[k]);
    free(intake->inputs);
    free(intake->formats);
    free(intake->group_of);
    free(intake->job_paths);
    free(intake->job_inputs);
    free(intake->job_files);
}

/* Files of a format that takes many are one group, every other input is one of its own. */
static void group_inputs(struct intake *intake)
{
    for (size_t k = 0; k < intake->n_inputs; k++) {
        size_t same = k;
        for (size_t j = 0; j < k && same == k; j++)
            if (intake->formats[k]->takes_many && intake->formats[j] == intake->formats[k] &&
                !intake->inputs[j].is_folder && !intake->inputs[k].is_folder)
                same = j;
        intake->group_of[k] = same < k ? intake->group_of[same] : intake->n_groups++;
    }
}

/* Names from outside are for some format at least. */
static enum weft_code check_names(const struct intake *intake, struct weft_err *err)
{
    if (!intake->opts->binary_path && !intake->opts->map_path)
        return WEFT_OK;
    for (size_t k = 0; k < intake->n_inputs; k++)
        if (intake->formats[k]->takes_names)
            return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "%s: holds its own names, so takes neither program nor function map",
                     intake->formats[0]->name);
}

static enum weft_code check_symbols(const struct intake *intake, struct weft_err *err)
{
    const char *path = intake->opts->symbols_path;
    if (!path || access(path, R_OK) == 0)
        return WEFT_OK;
    (void)weft_fail_errno(err, errno, "cannot read programs and libraries");
    return weft_in_file(err, path);
}

/* So are columns. */
static enum weft_code check_columns(const struct intake *intake, struct weft_err *err)
{
    for (size_t k = 0; intake->opts->columns && k < intake->n_inputs; k++)
        if (intake->formats[k] == csv_format())
            return WEFT_OK;
    if (!intake->opts->columns)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "%s: has no columns to name",
                     intake->formats[0]->name);
}

/* ---- one trace --------------------------------------------------------------------------------
 */

/* Offsets in an unpacked input are not those of the file that the error names. */
static enum weft_code place_error(const struct intake *intake, enum weft_code code,
                                  struct weft_err *err)
{
    for (size_t k = 0; err && k < intake->n_inputs; k++)
        if (intake->inputs[k].is_unpacked && strcmp(err->file, intake->inputs[k].path) == 0)
            return weft_within(err, "the unpacked data");
    return code;
}

static enum weft_code deliver(const struct job *job, const struct format *format,
                              struct weft_sink *sink, const struct weft_run *run,
                              struct weft_err *err)
{
    struct weft_naming *naming = weft_naming_new(sink, job->opts->symbols_path);
    if (!naming)
        return weft_no_memory(err, "symbols");
    enum weft_code code = format->import(job, weft_naming_sink(naming), run, err);
    WEFT_THEN(code, weft_naming_note(naming, err));
    weft_naming_free(naming);
    for (size_t k = 0; code == WEFT_OK && k < job->opts->n_inputs; k++)
        code = weft_input_note_loss(job->inputs[k], sink, err);
    return code;
}

/* The inputs of a group become the trace `output`. */
static enum weft_code import_group(const struct intake *intake, size_t group, const char *output,
                                   struct weft_writer_totals *totals, struct weft_err *err)
{
    struct weft_import_opts opts = *intake->opts;
    struct job job = { .opts = &opts, .inputs = intake->job_inputs, .files = intake->job_files };
    const struct format *format = NULL;
    opts.inputs = intake->job_paths;
    opts.n_inputs = 0;
    opts.output = output;
    for (size_t k = 0; k < intake->n_inputs; k++) {
        if (intake->group_of[k] != group)
            continue;
        format = intake->formats[k];
        intake->job_paths[opts.n_inputs] = intake->inputs[k].path;
        intake->job_inputs[opts.n_inputs] = &intake->inputs[k];
        intake->job_files[opts.n_inputs++] = intake->inputs[k].file;
        job.n_files += !intake->inputs[k].is_folder;
        job.n_bytes += intake->inputs[k].given_bytes;
    }
    if (!format->takes_names)
        opts.binary_path = opts.map_path = NULL;
    const struct weft_writer_opts writer_opts = { .source_name = weft_input_source(job.inputs[0]),
                                                  .bytes_in = job.n_bytes,
                                                  .memory_bytes = opts.memory_bytes };
    struct weft_writer *writer = NULL;
    WEFT_TRY(weft_writer_open(output, &writer_opts, &writer, err));
    enum weft_code code = deliver(&job, format, weft_writer_sink(writer), intake->run, err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, totals, err);
    weft_writer_abort(writer);
    return place_error(intake, code, err);
}

/* A .weft file is open; the store takes the map over. */
static enum weft_code open_stored(const struct intake *intake, size_t k, struct weft_store **store,
                                  struct weft_err *err)
{
    struct weft_input *input = &intake->inputs[k];
    return weft_store_open_mapped(input->path, &input->file, store, err);
}

/* What had no name may have one now. */
static enum weft_code replay_named(const struct intake *intake, struct weft_store *store,
                                   struct weft_sink *sink, struct weft_err *err)
{
    struct weft_naming *naming = weft_naming_new(sink, intake->opts->symbols_path);
    if (!naming)
        return weft_no_memory(err, "symbols");
    enum weft_code code = weft_replay_whole(store, weft_naming_sink(naming), intake->run, err);
    WEFT_THEN(code, weft_naming_note(naming, err));
    weft_naming_free(naming);
    return code;
}

/* A trace that was imported before keeps what is known of its source. */
static enum weft_code replay_stored(const struct intake *intake, struct weft_store *store,
                                    struct weft_writer_totals *totals, struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    char *name = strndup(meta->source_name.bytes, meta->source_name.n_bytes);
    if (!name)
        return weft_no_memory(err, "the name of a source");
    const struct weft_writer_opts writer_opts = { .source_name = name,
                                                  .bytes_in = meta->bytes_in,
                                                  .memory_bytes = intake->opts->memory_bytes };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(intake->opts->output, &writer_opts, &writer, err);
    free(name);
    if (code != WEFT_OK)
        return code;
    struct weft_sink *sink = weft_writer_sink(writer);
    code = replay_named(intake, store, sink, err);
    WEFT_THEN(code, weft_input_note_loss(&intake->inputs[0], sink, err));
    if (code == WEFT_OK)
        return weft_writer_commit(writer, totals, err);
    weft_writer_abort(writer);
    return code;
}

static enum weft_code make_one(const struct intake *intake, struct weft_writer_totals *totals,
                               struct weft_err *err)
{
    if (intake->formats[0]->import) {
        const enum weft_code code = import_group(intake, 0, intake->opts->output, totals, err);
        return code == WEFT_OK ? weft_merge_hosts(intake->opts->output, intake->run, totals, err)
                               : code;
    }
    struct weft_store *store = NULL;
    enum weft_code code = open_stored(intake, 0, &store, err);
    WEFT_THEN(code, replay_stored(intake, store, totals, err));
    if (store)
        weft_store_close(store);
    if (code == WEFT_OK)
        return WEFT_OK;
    (void)weft_in_file(err, intake->inputs[0].path);
    return place_error(intake, code, err);
}

/* ---- several traces ---------------------------------------------------------------------------
 */

static size_t first_of_group(const struct intake *intake, size_t group)
{
    size_t k = 0;
    while (intake->group_of[k] != group)
        k++;
    return k;
}

/* Imports a group to a file beside the output that has no name any more when this returns, and had
 * one for a moment only. */
static enum weft_code import_aside(const struct intake *intake, size_t group,
                                   struct weft_store **store, struct weft_err *err)
{
    char *path = NULL;
    if (asprintf(&path, "%s.part-%d-%zu", intake->opts->output, (int)getpid(), group) < 0)
        return weft_no_memory(err, "the name of a temporary file");
    enum weft_code code = import_group(intake, group, path, NULL, err);
    if (code == WEFT_OK) {
        code = weft_store_open(path, store, err);
        (void)unlink(path);
    }
    free(path);
    return code;
}

static enum weft_code open_groups(const struct intake *intake, struct weft_merge_input *traces,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t group = 0; code == WEFT_OK && group < intake->n_groups; group++) {
        const size_t k = first_of_group(intake, group);
        struct weft_store *store = NULL;
        code = intake->formats[k]->import ? import_aside(intake, group, &store, err)
                                          : open_stored(intake, k, &store, err);
        traces[group] = (struct weft_merge_input){
            .store = store,
            .name = weft_input_source(&intake->inputs[k]),
            .lossy = intake->formats[k]->import ? NULL : &intake->inputs[k],
            .offset_ns = intake->opts->offsets_ns ? intake->opts->offsets_ns[k] : 0,
        };
    }
    return code;
}

static enum weft_code make_merged(const struct intake *intake, struct weft_writer_totals *totals,
                                  struct weft_err *err)
{
    struct weft_merge_input *traces = calloc(intake->n_groups, sizeof *traces);
    if (!traces)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu traces",
                         intake->n_groups);
    enum weft_code code = open_groups(intake, traces, err);
    WEFT_THEN(code, weft_merge_stores(traces, intake->n_groups, intake->opts->output, intake->run,
                                      totals, err));
    for (size_t group = 0; group < intake->n_groups; group++)
        if (traces[group].store)
            weft_store_close(traces[group].store);
    free(traces);
    return code;
}

enum weft_code weft_import_run(const struct weft_import_opts *opts, const struct weft_run *run,
                               struct weft_writer_totals *totals, struct weft_err *err)
{
    if (opts->n_inputs == 0 || !opts->output)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected an input and an output");
    struct intake intake = { .opts = opts, .run = run };
    enum weft_code code = open_inputs(&intake, err);
    WEFT_THEN(code, check_names(&intake, err));
    WEFT_THEN(code, check_columns(&intake, err));
    WEFT_THEN(code, check_symbols(&intake, err));
    if (code == WEFT_OK) {
        group_inputs(&intake);
        if (opts->offsets_ns && intake.n_groups == 1)
            code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                             "offsets are for inputs that become several traces");
    }
    if (code == WEFT_OK) {
        code = intake.n_groups == 1 ? make_one(&intake, totals, err)
                                    : make_merged(&intake, totals, err);
    }
    close_inputs(&intake);
    return code;
}
