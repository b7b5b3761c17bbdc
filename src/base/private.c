/* SPDX-License-Identifier: MIT
 *
 * Recognises absolute paths in free text by their first folder: a fixed list of usual ones, and
 * those of the trace's own modules. What it replaces is stated in docs/privacy.md. The names of an
 * opened trace (model/trace.h), the exports and `weft compare` use it, and have no rules of their
 * own.
 */
#include "base/private.h"

#include "base/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* First folders of a trace beyond these are found in the paths of its modules. */
static const char *const standard[] = { "bin",     "boot",   "dev",   "etc", "home", "lib",
                                        "lib32",   "lib64",  "media", "mnt", "nix",  "opt",
                                        "private", "proc",   "root",  "run", "sbin", "snap",
                                        "srv",     "sys",    "tmp",   "usr", "var",  "Users",
                                        "Library", "Volumes" };

enum { ROOTS_MAX = 256 };

struct weft_private {
    struct {
        char **items;
        size_t n, cap;
    } roots;
};

struct weft_private *weft_private_new(void)
{
    return calloc(1, sizeof(struct weft_private));
}

void weft_private_free(struct weft_private *rules)
{
    if (!rules)
        return;
    for (size_t k = 0; k < rules->roots.n; k++)
        free(rules->roots.items[k]);
    WEFT_VEC_FINI(&rules->roots);
    free(rules);
}

static bool equals(struct weft_str text, const char *word)
{
    return weft_str_equal(text, weft_str_of(word));
}

static bool is_root(const struct weft_private *rules, struct weft_str name)
{
    for (size_t k = 0; k < sizeof standard / sizeof *standard; k++)
        if (equals(name, standard[k]))
            return true;
    for (size_t k = 0; k < rules->roots.n; k++)
        if (equals(name, rules->roots.items[k]))
            return true;
    return false;
}

/* What stands between the first slashes of an absolute path and the next one. */
static struct weft_str first_folder(struct weft_str path)
{
    size_t begin = 0, end;
    while (begin < path.n_bytes && path.bytes[begin] == '/')
        begin++;
    for (end = begin; end < path.n_bytes && path.bytes[end] != '/';)
        end++;
    return (struct weft_str){ path.bytes + begin, end - begin };
}

bool weft_private_add(struct weft_private *rules, struct weft_str path)
{
    const bool is_absolute = path.n_bytes > 1 && path.bytes[0] == '/';
    const struct weft_str name = is_absolute ? first_folder(path) : (struct weft_str){ 0 };
    if (name.n_bytes == 0 || rules->roots.n == ROOTS_MAX || is_root(rules, name))
        return true;
    char **place = WEFT_VEC_PUSH(&rules->roots);
    if (!place)
        return false;
    *place = strndup(name.bytes, name.n_bytes);
    rules->roots.n -= !*place;
    return rules->roots.n > 0 && *place != NULL;
}

static bool ends_path(char c)
{
    return c == '\0' || isspace((unsigned char)c) || strchr("\"'`,;:()[]{}<>|&=*\\", c);
}

/* A path does not begin in the middle of a word, as in "and/or" or "kworker/0:1". */
static bool may_begin(struct weft_str text, size_t at)
{
    const char before = at > 0 ? text.bytes[at - 1] : ' ';
    return !isalnum((unsigned char)before) && !strchr("_.-/~)]}>", before) &&
           ((unsigned char)before < 0x80);
}

/* "/data/app.log" is a file whatever its folder is called. */
static bool has_suffix(struct weft_str path)
{
    const struct weft_str base = weft_str_base(path);
    const char *dot = base.n_bytes ? memrchr(base.bytes, '.', base.n_bytes) : NULL;
    return dot && dot > base.bytes && dot + 1 < base.bytes + base.n_bytes &&
           isalpha((unsigned char)dot[1]);
}

/* The bytes of the absolute path that begins at `at`; 0: there is none. */
static size_t path_bytes(const struct weft_private *rules, struct weft_str text, size_t at)
{
    const struct weft_str rest = { text.bytes + at, text.n_bytes - at };
    size_t end = 0;
    if (*rest.bytes != '/' || !may_begin(text, at))
        return 0;
    const struct weft_str name = first_folder(rest);
    const size_t n_front = (size_t)(name.bytes + name.n_bytes - rest.bytes);
    while (end < rest.n_bytes && !ends_path(rest.bytes[end]))
        end++;
    /* "/tmp" alone says nothing */
    return n_front < end &&
                   (is_root(rules, name) || has_suffix((struct weft_str){ rest.bytes, end }))
               ? end
               : 0;
}

/* The user is what a home folder is called. */
static bool is_home(struct weft_str path)
{
    while (path.n_bytes > 1 && path.bytes[path.n_bytes - 1] == '/')
        path.n_bytes--;
    const struct weft_str folder = first_folder(path), base = weft_str_base(path);
    return (equals(folder, "home") || equals(folder, "Users")) &&
           folder.bytes + folder.n_bytes + 1 == base.bytes;
}

bool weft_private_next(const struct weft_private *rules, struct weft_str text, size_t *at,
                       struct weft_str *path)
{
    while (*at < text.n_bytes) {
        const char *slash = memchr(text.bytes + *at, '/', text.n_bytes - *at);
        *at = slash ? (size_t)(slash - text.bytes) : text.n_bytes;
        const size_t n_bytes = slash ? path_bytes(rules, text, *at) : 0;
        *path = (struct weft_str){ slash, n_bytes };
        *at += n_bytes > 0 ? n_bytes : slash != NULL;
        if (n_bytes > 0)
            return true;
    }
    return false;
}

bool weft_private_has_path(const struct weft_private *rules, struct weft_str text)
{
    struct weft_str path;
    return weft_private_next(rules, text, &(size_t){ 0 }, &path);
}

struct weft_str weft_private_user(struct weft_str path)
{
    const struct weft_str folder = first_folder(path);
    if (path.n_bytes == 0 || path.bytes[0] != '/' ||
        (!equals(folder, "home") && !equals(folder, "Users")))
        return WEFT_STR("");
    const size_t n_front = (size_t)(folder.bytes + folder.n_bytes - path.bytes);
    return first_folder((struct weft_str){ path.bytes + n_front, path.n_bytes - n_front });
}

struct weft_str weft_private_text(const struct weft_private *rules, struct weft_arena *arena,
                                  struct weft_str text)
{
    if (!weft_private_has_path(rules, text))
        return text;
    char *made = weft_arena_alloc(arena, text.n_bytes + 1, 1);
    size_t n = 0, at = 0;
    if (!made)
        return (struct weft_str){ 0 };
    while (at < text.n_bytes) {
        struct weft_str path = { text.bytes + at, path_bytes(rules, text, at) };
        at += path.n_bytes ? path.n_bytes : 1;
        if (path.n_bytes == 0) {
            made[n++] = text.bytes[at - 1];
            continue;
        }
        const bool is_user = is_home(path);
        while (path.n_bytes > 1 && path.bytes[path.n_bytes - 1] == '/')
            path.n_bytes--;
        const struct weft_str base = is_user ? WEFT_STR("~") : weft_str_base(path);
        memcpy(made + n, base.bytes, base.n_bytes);
        n += base.n_bytes;
    }
    return (struct weft_str){ made, n };
}
