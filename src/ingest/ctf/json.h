/* SPDX-License-Identifier: MIT
 *
 * Metadata of CTF 2: a sequence of JSON objects, each a fragment.
 */
#ifndef WEFT_INGEST_CTF_JSON_H
#define WEFT_INGEST_CTF_JSON_H

#include "base/error.h"
#include "ingest/ctf/class.h"

/* Reads `text` into `meta`, whose arena must be there. Errors name the byte. WEFT_E_UNSUPPORTED for
 * what the specification has and this program has not. */
WEFT_CHECKED enum weft_code ctf_json_parse(struct weft_str text, struct ctf_metadata *meta,
                                           struct weft_err *err);

#endif
