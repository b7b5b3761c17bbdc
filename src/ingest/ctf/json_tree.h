/* SPDX-License-Identifier: MIT
 *
 * JSON texts as trees, for metadata: small documents, read once.
 */
#ifndef WEFT_INGEST_CTF_JSON_TREE_H
#define WEFT_INGEST_CTF_JSON_TREE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json_read.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { CTF_JSON_MOST_DEPTH = 256 };

enum ctf_json_kind {
    CTF_JSON_NULL,
    CTF_JSON_FALSE,
    CTF_JSON_TRUE,
    CTF_JSON_INTEGER,
    CTF_JSON_REAL, /* not an integer of 64 bits; its text is in `text` */
    CTF_JSON_STRING,
    CTF_JSON_ARRAY,
    CTF_JSON_OBJECT,
};

struct ctf_json {
    enum ctf_json_kind kind;
    bool is_negative; /* INTEGER: `number` is two's complement */
    uint64_t number;
    struct weft_str text;                /* STRING, without escapes */
    struct weft_str key;                 /* as a member of an object */
    const struct ctf_json *first, *next; /* of its parts; beside it */
    uint64_t at_off;
};

struct ctf_json_reader {
    struct weft_json_reader in;
    struct weft_arena *arena;
};

/* Reads the next text of a sequence; NULL in `*root` at the end. Record separators and white space
 * may stand between texts. WEFT_E_MALFORMED, WEFT_E_TRUNCATED, WEFT_E_LIMIT, WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code ctf_json_next(struct ctf_json_reader *reader,
                                          const struct ctf_json **root, struct weft_err *err);

/* The member of an object; NULL: none, or no object. */
const struct ctf_json *ctf_json_get(const struct ctf_json *object, const char *key);

#endif
