/* SPDX-License-Identifier: MIT
 *
 * Joins an importer to the store: opens the inputs, tells their format by content, writes.
 */
#include "import/import.h"

#include "base/file.h"
#include "base/str.h"
#include "import/input.h"
#include "ingest/text/text.h"
#include "ingest/xray/xray.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes that a sniffer may look at. */
enum { SNIFF_BYTES = 4096, SHOWN_BYTES = 16 };

/* What becomes one trace: inputs of one format. */
struct job {
    const struct weft_import_opts *opts;
    struct weft_input *inputs; /* in order */
    struct weft_mapped *files; /* of the inputs, as they are or unpacked; none of a folder */
    size_t n_files;            /* open ones */
    uint64_t n_bytes;          /* as given */
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

static enum weft_code import_text(const struct job *job, struct weft_sink *sink,
                                  const struct weft_run *run, struct weft_err *err)
{
    struct weft_text_input *inputs = calloc(job->n_files, sizeof *inputs);
    if (!inputs)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "%zu inputs", job->n_files);
    for (size_t k = 0; k < job->n_files; k++)
        inputs[k] = (struct weft_text_input){ .file = whole_lines(&job->inputs[k]),
                                              .path = job->opts->inputs[k],
                                              .name = job->inputs[k].name };
    enum weft_code code = weft_text_import(inputs, job->n_files, sink, run, err);
    free(inputs);
    return code;
}

/* A format: adding one is adding a row. The first whose sniffer agrees is taken. */
static const struct format {
    const char *name;
    bool (*sniff)(const uint8_t *bytes, size_t n_bytes); /* NULL: never a file */
    bool (*sniff_dir)(const char *path);                 /* NULL: never a folder */
    import_fn import;
    bool takes_many;  /* several inputs become one trace */
    bool takes_names; /* --binary and --map mean something */
} formats[] = {
    { "XRay log (FDR or basic mode)", weft_xray_sniff, NULL, import_xray, false, true },
    { "text trace (lines \"0|1 function ns\")", weft_text_sniff, NULL, import_text, true, false },
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

static bool is_known(const uint8_t *bytes, size_t n_bytes)
{
    return detect_bytes(bytes, n_bytes) != NULL;
}

/* NULL: none. */
static const struct format *detect(const struct weft_input *input)
{
    if (!input->is_folder)
        return detect_bytes(input->file.bytes, (size_t)input->file.n_bytes);
    for (size_t k = 0; k < N_FORMATS; k++)
        if (formats[k].sniff_dir && formats[k].sniff_dir(input->path))
            return &formats[k];
    return NULL;
}

/* ---- what an unknown file is told -------------------------------------------------------------
 */

/* Well-known files that are given by mistake: a better word than "unknown". */
static const char *hint_of(const struct weft_mapped *file)
{
    static const struct {
        const char *magic;
        size_t n_bytes;
        const char *hint;
    } hints[] = {
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
        { "WEFT", 4, "; it is a .weft file already" },
    };
    for (size_t k = 0; k < sizeof hints / sizeof *hints; k++)
        if (file->n_bytes >= hints[k].n_bytes &&
            memcmp(file->bytes, hints[k].magic, hints[k].n_bytes) == 0)
            return hints[k].hint;
    return "";
}

/* "A or B or C" */
static void list_formats(bool of_folders, char *text, size_t n_text)
{
    size_t n_used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < N_FORMATS && n_used < n_text; k++) {
        if (of_folders ? !formats[k].sniff_dir : !formats[k].sniff)
            continue;
        const int n_new =
            snprintf(text + n_used, n_text - n_used, "%s%s", n_used ? " or " : "", formats[k].name);
        n_used += n_new > 0 ? (size_t)n_new : 0;
    }
}

static enum weft_code fail_unknown_folder(struct weft_err *err)
{
    char known[192];
    list_formats(true, known, sizeof known);
    if (!known[0])
        return weft_fail(err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET,
                         "expected a file, found a directory: name the files in it");
    return weft_fail(err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET,
                     "expected the folder of a trace: %s; found a directory of other files", known);
}

static enum weft_code fail_unknown(const struct weft_input *input, struct weft_err *err)
{
    const struct weft_mapped *file = &input->file;
    if (input->is_folder)
        return fail_unknown_folder(err);
    char bytes[3 * SHOWN_BYTES + 1] = "";
    size_t n_shown = file->n_bytes < SHOWN_BYTES ? (size_t)file->n_bytes : SHOWN_BYTES;
    for (size_t k = 0; k < n_shown; k++)
        (void)snprintf(bytes + 3 * k, sizeof bytes - 3 * k, "%02x%s", file->bytes[k],
                       k + 1 < n_shown ? " " : "");
    char known[192];
    list_formats(false, known, sizeof known);
    return weft_fail(err, WEFT_E_UNSUPPORTED, 0, "expected a trace: %s; found %s%s", known, bytes,
                     hint_of(file));
}

/* ---- inputs -----------------------------------------------------------------------------------
 */

static enum weft_code open_inputs(struct job *job, const struct weft_run *run, struct weft_err *err)
{
    const struct weft_input_opts opts = { .beside = job->opts->output,
                                          .memory_bytes = job->opts->memory_bytes,
                                          .is_welcome = is_known,
                                          .progress = run->progress };
    job->files = calloc(job->opts->n_inputs, sizeof *job->files);
    job->inputs = calloc(job->opts->n_inputs, sizeof *job->inputs);
    if (!job->files || !job->inputs)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "%zu inputs", job->opts->n_inputs);
    for (; job->n_files < job->opts->n_inputs; job->n_files++) {
        struct weft_input *input = &job->inputs[job->n_files];
        const enum weft_code code =
            weft_input_open(job->opts->inputs[job->n_files], &opts, input, err);
        if (code != WEFT_OK)
            return code;
        job->files[job->n_files] = input->file;
        job->n_bytes += input->given_bytes;
    }
    return WEFT_OK;
}

static void close_inputs(struct job *job)
{
    for (size_t k = 0; k < job->n_files; k++)
        weft_input_close(&job->inputs[k]);
    free(job->inputs);
    free(job->files);
}

/* One format for all inputs, and options that fit it. */
static enum weft_code agree(const struct job *job, const struct format **agreed,
                            struct weft_err *err)
{
    const struct format *format = detect(&job->inputs[0]);
    for (size_t k = 0; k < job->n_files; k++) {
        const struct format *here = detect(&job->inputs[k]);
        if (!here) {
            fail_unknown(&job->inputs[k], err);
            return weft_in_file(err, job->opts->inputs[k]);
        }
        if (here != format) {
            weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                      "expected inputs of one format, found %s beside %s", here->name,
                      format->name);
            return weft_in_file(err, job->opts->inputs[k]);
        }
    }
    if (job->n_files > 1 && !format->takes_many)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected one %s, found %zu inputs",
                         format->name, job->n_files);
    if (!format->takes_names && (job->opts->binary_path || job->opts->map_path))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "%s: holds its own names, so takes neither program nor function map",
                         format->name);
    *agreed = format;
    return WEFT_OK;
}

/* Writing over an input would destroy it. */
static enum weft_code check_output(const struct weft_import_opts *opts, struct weft_err *err)
{
    struct stat output;
    if (stat(opts->output, &output) != 0)
        return WEFT_OK; /* it does not exist yet, or the writer will say why not */
    if (S_ISDIR(output.st_mode)) {
        weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                  "expected the output to be a file, found a folder");
        return weft_in_file(err, opts->output);
    }
    for (size_t k = 0; k < opts->n_inputs; k++) {
        struct stat input;
        if (stat(opts->inputs[k], &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino) {
            weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected another file than the input");
            return weft_in_file(err, opts->output);
        }
    }
    return WEFT_OK;
}

/* Offsets in an unpacked input are not those of the file that the error names. */
static enum weft_code place_error(const struct job *job, enum weft_code code, struct weft_err *err)
{
    for (size_t k = 0; err && k < job->n_files; k++)
        if (job->inputs[k].is_unpacked && strcmp(err->file, job->opts->inputs[k]) == 0)
            return weft_within(err, "the unpacked data");
    return code;
}

/* Says what of a packed input did not come out. */
static enum weft_code note_losses(const struct job *job, struct weft_sink *sink,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < job->n_files; k++) {
        const struct weft_input_loss *loss = &job->inputs[k].loss;
        char detail[2 * WEFT_INPUT_DETAIL_BYTES];
        if (!loss->is_any)
            continue;
        (void)snprintf(detail, sizeof detail, "%s: %s", job->inputs[k].name, loss->detail);
        const struct weft_note note = { .kind = WEFT_NOTE_TRUNCATED,
                                        .count = loss->n_bytes,
                                        .thread_id = WEFT_ID_NONE,
                                        .at_off = loss->at_off,
                                        .detail = weft_str_of(detail) };
        code = sink->ops->note(sink, &note, err);
    }
    return code;
}

static enum weft_code import_into_store(const struct job *job, const struct format *format,
                                        const struct weft_run *run,
                                        struct weft_writer_totals *totals, struct weft_err *err)
{
    const struct weft_writer_opts writer_opts = {
        .source_name = weft_input_source(&job->inputs[0]),
        .bytes_in = job->n_bytes,
    };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(job->opts->output, &writer_opts, &writer, err);
    if (code != WEFT_OK)
        return code;
    code = format->import(job, weft_writer_sink(writer), run, err);
    if (code == WEFT_OK)
        code = note_losses(job, weft_writer_sink(writer), err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, totals, err);
    weft_writer_abort(writer);
    return place_error(job, code, err);
}

enum weft_code weft_import_run(const struct weft_import_opts *opts, const struct weft_run *run,
                               struct weft_writer_totals *totals, struct weft_err *err)
{
    if (opts->n_inputs == 0 || !opts->output)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected an input and an output");
    struct job job = { .opts = opts };
    const struct format *format = NULL;
    enum weft_code code = check_output(opts, err);
    if (code == WEFT_OK)
        code = open_inputs(&job, run, err);
    if (code == WEFT_OK)
        code = agree(&job, &format, err);
    if (code == WEFT_OK)
        code = import_into_store(&job, format, run, totals, err);
    close_inputs(&job);
    return code;
}
