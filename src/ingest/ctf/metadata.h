/* SPDX-License-Identifier: MIT
 *
 * The metadata file: TSDL as plain text or in packets, or JSON (CTF 2), plain or in packets.
 */
#ifndef WEFT_INGEST_CTF_METADATA_H
#define WEFT_INGEST_CTF_METADATA_H

#include "base/file.h"
#include "ingest/ctf/class.h"

/* True if the bytes can begin a metadata file. */
bool ctf_metadata_sniff(const uint8_t *bytes, size_t n_bytes);

/* Reads the file. Errors name bytes of it, of the text inside if it is in packets, and the line.
 * WEFT_E_UNSUPPORTED for another version, compression or encryption. The caller frees, also after
 * a failure; what the metadata hold may point into the file. */
WEFT_CHECKED enum weft_code ctf_metadata_read(const struct weft_mapped *file,
                                              struct ctf_metadata *meta, struct weft_err *err);
void ctf_metadata_fini(struct ctf_metadata *meta);

#endif
