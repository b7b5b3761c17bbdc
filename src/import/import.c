/* SPDX-License-Identifier: MIT
 *
 * Joins an importer to the store: opens the inputs, tells their format by content, writes.
 */
#include "import/import.h"

#include "base/file.h"
#include "base/str.h"
#include "ingest/text/text.h"
#include "ingest/xray/xray.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes that a sniffer may look at. */
enum { SNIFF_BYTES = 4096, SHOWN_BYTES = 16 };

struct job {
    const struct weft_import_opts *opts;
    struct weft_mapped *files; /* of the inputs, in order */
    size_t n_files;            /* open ones */
    uint64_t n_bytes;
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

static enum weft_code import_text(const struct job *job, struct weft_sink *sink,
                                  const struct weft_run *run, struct weft_err *err)
{
    struct weft_text_input *inputs = calloc(job->n_files, sizeof *inputs);
    if (!inputs)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "%zu inputs", job->n_files);
    for (size_t k = 0; k < job->n_files; k++)
        inputs[k] = (struct weft_text_input){ .file = job->files[k], .path = job->opts->inputs[k] };
    enum weft_code code = weft_text_import(inputs, job->n_files, sink, run, err);
    free(inputs);
    return code;
}

/* A format: adding one is adding a row. The first whose sniffer agrees is taken. */
static const struct format {
    const char *name;
    bool (*sniff)(const uint8_t *bytes, size_t n_bytes);
    import_fn import;
    bool takes_many;  /* several inputs become one trace */
    bool takes_names; /* --binary and --map mean something */
} formats[] = {
    { "XRay log (FDR or basic mode)", weft_xray_sniff, import_xray, false, true },
    { "text trace (lines \"0|1 function ns\")", weft_text_sniff, import_text, true, false },
};

static const struct format *detect(const struct weft_mapped *file)
{
    size_t n_bytes = file->n_bytes < SNIFF_BYTES ? (size_t)file->n_bytes : SNIFF_BYTES;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (formats[k].sniff(file->bytes, n_bytes))
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
        { "\x28\xb5\x2f\xfd", 4, "; it is compressed: run zstd -d first" },
        { "\x1f\x8b", 2, "; it is compressed: run gzip -d first" },
        { "\xfd"
          "7zXZ",
          5, "; it is compressed: run xz -d first" },
        { "WEFT", 4, "; it is a .weft file already" },
    };
    for (size_t k = 0; k < sizeof hints / sizeof *hints; k++)
        if (file->n_bytes >= hints[k].n_bytes &&
            memcmp(file->bytes, hints[k].magic, hints[k].n_bytes) == 0)
            return hints[k].hint;
    return "";
}

static enum weft_code fail_unknown(const struct weft_mapped *file, struct weft_err *err)
{
    char bytes[3 * SHOWN_BYTES + 1] = "";
    size_t n_shown = file->n_bytes < SHOWN_BYTES ? (size_t)file->n_bytes : SHOWN_BYTES;
    for (size_t k = 0; k < n_shown; k++)
        (void)snprintf(bytes + 3 * k, sizeof bytes - 3 * k, "%02x%s", file->bytes[k],
                       k + 1 < n_shown ? " " : "");
    char known[192] = "";
    size_t n_known = 0;
    for (size_t k = 0; k < sizeof formats / sizeof *formats && n_known < sizeof known; k++) {
        int n_new = snprintf(known + n_known, sizeof known - n_known, "%s%s", k ? " or " : "",
                             formats[k].name);
        n_known += n_new > 0 ? (size_t)n_new : 0;
    }
    return weft_fail(err, WEFT_E_UNSUPPORTED, 0, "expected a trace: %s; found %s%s", known, bytes,
                     hint_of(file));
}

/* ---- inputs -----------------------------------------------------------------------------------
 */

static enum weft_code open_inputs(struct job *job, struct weft_err *err)
{
    job->files = calloc(job->opts->n_inputs, sizeof *job->files);
    if (!job->files)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "%zu inputs", job->opts->n_inputs);
    for (; job->n_files < job->opts->n_inputs; job->n_files++) {
        struct weft_mapped *file = &job->files[job->n_files];
        const char *path = job->opts->inputs[job->n_files];
        if (weft_mapped_open(path, file, err) != WEFT_OK)
            return weft_in_file(err, path);
        if (file->n_bytes == 0) {
            job->n_files++;
            weft_fail(err, WEFT_E_TRUNCATED, 0, "expected a trace, found an empty file");
            return weft_in_file(err, path);
        }
        job->n_bytes += file->n_bytes;
    }
    return WEFT_OK;
}

static void close_inputs(struct job *job)
{
    for (size_t k = 0; k < job->n_files; k++)
        weft_mapped_close(&job->files[k]);
    free(job->files);
}

/* One format for all inputs, and options that fit it. */
static enum weft_code agree(const struct job *job, const struct format **agreed,
                            struct weft_err *err)
{
    const struct format *format = detect(&job->files[0]);
    for (size_t k = 0; k < job->n_files; k++) {
        const struct format *here = detect(&job->files[k]);
        if (!here) {
            fail_unknown(&job->files[k], err);
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

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum weft_code import_into_store(const struct job *job, const struct format *format,
                                        const struct weft_run *run,
                                        struct weft_writer_totals *totals, struct weft_err *err)
{
    const struct weft_writer_opts writer_opts = {
        .source_name = base_name(job->opts->inputs[0]),
        .bytes_in = job->n_bytes,
    };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(job->opts->output, &writer_opts, &writer, err);
    if (code != WEFT_OK)
        return code;
    code = format->import(job, weft_writer_sink(writer), run, err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, totals, err);
    weft_writer_abort(writer);
    return code;
}

enum weft_code weft_import_run(const struct weft_import_opts *opts, const struct weft_run *run,
                               struct weft_writer_totals *totals, struct weft_err *err)
{
    if (opts->n_inputs == 0 || !opts->output)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected an input and an output");
    struct job job = { .opts = opts };
    const struct format *format = NULL;
    enum weft_code code = open_inputs(&job, err);
    if (code == WEFT_OK)
        code = agree(&job, &format, err);
    if (code == WEFT_OK)
        code = check_output(opts, err);
    if (code == WEFT_OK)
        code = import_into_store(&job, format, run, totals, err);
    close_inputs(&job);
    return code;
}
