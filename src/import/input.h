/* SPDX-License-Identifier: MIT
 *
 * Inputs of any form: a file, standard input ("-"), a pipe, a socket; each as it is or packed with
 * gzip or zstd, which is recognised by its first bytes; and folders, of which only the path is
 * kept.
 *
 * What is not a plain file is written, unpacked, to a file without a name beside the output, so
 * that importers always see a map: memory stays bounded, and nothing is left whatever happens.
 */
#ifndef WEFT_IMPORT_INPUT_H
#define WEFT_IMPORT_INPUT_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_INPUT_DETAIL_BYTES = 192 };

struct weft_input_opts {
    const char *beside;    /* a path; its folder holds what is unpacked */
    uint64_t memory_bytes; /* ceiling for a zstd window; 0: none */
    /* Asked once, with the first bytes (all of them, or 64 KiB) before a long input is unpacked to
     * its end; false: no importer can read it, and reading stops. NULL: yes. */
    bool (*is_welcome)(const uint8_t *bytes, size_t n_bytes);
    struct weft_progress *progress;
};

/* Packed bytes that did not come out: the input is damaged or ends early. */
struct weft_input_loss {
    bool is_any;
    uint64_t n_bytes; /* packed bytes from the damage on; 1 if the end is missing */
    uint64_t at_off;  /* in the packed input */
    char detail[WEFT_INPUT_DETAIL_BYTES];
};

struct weft_input {
    const char *path;        /* as given; the caller's */
    char *name;              /* base name without ".gz" or ".zst"; "stdin", "pipe" */
    struct weft_mapped file; /* none of a folder */
    uint64_t given_bytes;    /* as given: before unpacking */
    bool is_folder;
    bool is_unpacked; /* `file` is not what was given: offsets are of the unpacked bytes */
    struct weft_input_loss loss;
};

/* Opens `path`, which must outlive the input. An input without a byte is WEFT_E_TRUNCATED, and so
 * is a packed one of which nothing comes out (or WEFT_E_MALFORMED); a terminal is WEFT_E_ARG; a
 * full disk is WEFT_E_IO. Errors name the file. */
WEFT_CHECKED enum weft_code weft_input_open(const char *path, const struct weft_input_opts *opts,
                                            struct weft_input *input, struct weft_err *err);
void weft_input_close(struct weft_input *input);

/* Notes what of a packed input did not come out, if anything. */
WEFT_CHECKED enum weft_code weft_input_note_loss(const struct weft_input *input,
                                                 struct weft_sink *sink, struct weft_err *err);

/* What the metadata of a trace call the input: its base name as given, "stdin", "pipe". */
const char *weft_input_source(const struct weft_input *input);

/* The length of a base name without the suffix of a packed file (".gz", ".zst", ".zstd"). */
size_t weft_input_stem(const char *name);

#endif
