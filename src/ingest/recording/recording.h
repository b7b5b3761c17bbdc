/* SPDX-License-Identifier: MIT
 *
 * Recordings: what `weft record` writes while it records (docs/recording-format.md).
 */
#ifndef WEFT_INGEST_RECORDING_RECORDING_H
#define WEFT_INGEST_RECORDING_RECORDING_H

#include "base/file.h"
#include "base/pool.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool weft_recording_sniff(const uint8_t *bytes, size_t n_bytes);

/* What is known before it is read: whether it was ended, on which host it was made, and where its
 * rings were meanwhile (empty: not recorded). */
struct weft_recording_about {
    bool has_end;
    char host[128];
    char folder[256];
};

/* O(bytes): looks at all pieces. WEFT_E_MALFORMED and so on, as below. */
WEFT_CHECKED enum weft_code weft_recording_look(const struct weft_mapped *file,
                                                struct weft_recording_about *about,
                                                struct weft_err *err);

struct weft_recording_opts {
    const char *symbols_path; /* see weft_symbols_new; may be NULL */
    uint64_t most_unpacked;   /* bytes that packed pieces may become; 0: 1 TiB */
};

/* Reads a recording, whole or as far as it was written. Each thread of rings is delivered from one
 * worker; those of the kernel from one, before. `opts` and `run` may be NULL. WEFT_E_MALFORMED,
 * WEFT_E_TRUNCATED (of the header), WEFT_E_UNSUPPORTED (of a newer version), WEFT_E_NOMEM,
 * WEFT_E_CANCELLED, and the sink's. */
WEFT_CHECKED enum weft_code weft_recording_import(const struct weft_mapped *file,
                                                  const struct weft_recording_opts *opts,
                                                  struct weft_sink *sink,
                                                  const struct weft_run *run, struct weft_err *err);

#endif
