/* SPDX-License-Identifier: MIT
 *
 * Names that runtimes write into their maps, as readers call these functions: "JS:*handle
 * /srv/app.js:6:16" of V8 is "handle [app.js:6]", "Lcom/foo/Bar;::baz" of a JVM is
 * "com.foo.Bar.baz". All bytes are hostile.
 */
#ifndef WEFT_SYMBOLS_JIT_NAME_H
#define WEFT_SYMBOLS_JIT_NAME_H

#include "base/str.h"
#include "symbols/jit_table.h"

enum { WEFT_JIT_NAME_BYTES = 400 };

struct weft_jit_name {
    char bytes[WEFT_JIT_NAME_BYTES]; /* what is longer is cut; no control characters */
    size_t n_bytes;                  /* 0: there is none */
    bool is_system; /* of the runtime or the language's own library, not of the program */
};

/* `text`: as the runtime wrote it. `file`, `line`: where debugging information says that the
 * function is; empty, 0: not known. O(bytes). */
void weft_jit_name(struct weft_str text, struct weft_str file, uint64_t line,
                   struct weft_jit_name *name);

/* Is the path of a mapping none of a file ("[heap]", "/memfd:doublemapper (deleted)", "")? Runtimes
 * have their code in such memory. */
bool weft_jit_is_nameless(struct weft_str path);

#define WEFT_JIT_SYSTEM (UINT32_C(1) << 31)

/* Where names go, and what could not be read. */
struct weft_jit_names {
    struct weft_jit_table *table;
    struct weft_strtab *texts; /* names of the table are its numbers, with WEFT_JIT_SYSTEM of those
                                  that are not the program's */
    uint64_t n_bad;            /* lines, or records */
};

/* A function, by the name that its runtime wrote. False without memory. */
bool weft_jit_put(struct weft_jit_names *names, uint64_t begin, uint64_t n_bytes, uint64_t from_ns,
                  struct weft_str text);
/* The number of such a name; WEFT_JIT_NONE: it is empty. False without memory. */
bool weft_jit_intern(struct weft_jit_names *names, struct weft_str text, struct weft_str file,
                     uint64_t line, uint32_t *name);

#endif
