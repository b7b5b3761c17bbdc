/* SPDX-License-Identifier: MIT
 *
 * The parser of TSDL (CTF 1.8 specification, appendix C): blocks in tsdl.c, types in tsdl_types.c,
 * and what the two share.
 */
#ifndef WEFT_INGEST_CTF_TSDL_H
#define WEFT_INGEST_CTF_TSDL_H

#include "base/error.h"
#include "ingest/ctf/class.h"
#include "ingest/ctf/lexer.h"

/* Reads `text` into `meta`, whose arena must be there. Errors name the line. A declaration of a
 * kind that is not known is WEFT_E_MALFORMED. */
WEFT_CHECKED enum weft_code ctf_tsdl_parse(struct weft_str text, struct ctf_metadata *meta,
                                           struct weft_err *err);

/* Names of types live in scopes: the whole, a block, a structure. */
struct tsdl_scope {
    const struct tsdl_scope *outer;
    uint32_t id;
};

/* Structures, variants and enumerations have names of their own. */
enum tsdl_space { TSDL_TYPES, TSDL_STRUCTS, TSDL_VARIANTS, TSDL_ENUMS };

struct tsdl {
    struct ctf_lexer lexer;
    struct ctf_token token; /* the next one */
    struct ctf_metadata *meta;
    struct weft_strtab *names;
    struct weft_map *types; /* (scope, space, name) -> index in `classes` */
    struct {
        const struct ctf_class **items;
        size_t n, cap;
    } classes;
    const struct tsdl_scope *scope;
    uint32_t n_scopes;
    unsigned depth;
    struct weft_err *err;
};

/* ---- words (tsdl.c). All return false after a failure, which is in tsdl->err. ---------------- */

bool tsdl_next(struct tsdl *tsdl);
bool tsdl_fail(struct tsdl *tsdl, const char *expected);
bool tsdl_no_memory(struct tsdl *tsdl);
bool tsdl_is_sign(const struct tsdl *tsdl, char sign);
bool tsdl_is_name(const struct tsdl *tsdl, const char *name);
bool tsdl_take_sign(struct tsdl *tsdl, char sign);
bool tsdl_take_name(struct tsdl *tsdl, struct weft_str *name);
/* Takes the sign if it comes next. */
bool tsdl_maybe_sign(struct tsdl *tsdl, char sign, bool *is_there);
/* A number with its sign, as 64 bits of two's complement. */
bool tsdl_take_integer(struct tsdl *tsdl, uint64_t *number);
/* "a.b.c" */
bool tsdl_take_path(struct tsdl *tsdl, struct ctf_path *path);
void *tsdl_new(struct tsdl *tsdl, size_t count, size_t object_bytes); /* NULL: failed */

#define TSDL_NEW(tsdl, count, type) ((type *)tsdl_new((tsdl), (count), sizeof(type)))

/* One "name = value" or "name := type" of a block. */
struct tsdl_value {
    struct weft_str text; /* of a string or a word */
    struct ctf_path path; /* of words */
    uint64_t number;
    bool is_number, is_string;
};

bool tsdl_take_value(struct tsdl *tsdl, struct tsdl_value *value);

/* ---- types (tsdl_types.c) -------------------------------------------------------------------- */

/* Opens a scope within the present one; tsdl->scope must be put back. */
bool tsdl_scope_open(struct tsdl *tsdl, struct tsdl_scope *scope);

/* True if a type declaration begins here that has no field: typealias, typedef, or a named
 * structure, variant or enumeration. */
bool tsdl_is_declaration(const struct tsdl *tsdl);
bool tsdl_take_declaration(struct tsdl *tsdl);

/* A type and what may follow it without a name: "uint8_t", "struct { ... }", "char *". */
bool tsdl_take_type(struct tsdl *tsdl, const struct ctf_class **class);

#endif
