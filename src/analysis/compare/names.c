/* SPDX-License-Identifier: MIT
 *
 * Rules on frames by their names: what is a library's, a thread's start, inlined or an address.
 * They choose the functions that a sentence shows, and the hash by which causes count as alike.
 * Only names are used, so that matrices of different builds compare.
 */
#include "analysis/compare/names.h"

#include "schema/event.h"

#include <ctype.h>
#include <string.h>

/* "<u64>::rotate_left", "<[T]>::sort", "<str>::find". */
static bool is_of_primitive(struct weft_str name)
{
    static const char *const types[] = {
        "<u8>::",    "<u16>::",   "<u32>::", "<u64>::",  "<u128>::", "<i8>::",
        "<i16>::",   "<i32>::",   "<i64>::", "<i128>::", "<f32>::",  "<f64>::",
        "<usize>::", "<isize>::", "<str>::", "<bool>::", "<char>::", "<["
    };
    return WEFT_STR_BEGINS(name, types);
}

/* Rust's "<std::fs::File>::sync_all", "<T as core::ops::FnOnce<()>>::call_once": type and trait, as
 * a program may implement either for the other. */
static bool is_of_rust_std(struct weft_str name)
{
    static const char *const spaces[] = { "std::", "core::", "alloc::" };
    static const char *const paths[] = {
        "core::ops::",      "core::ptr::",          "core::iter::",    "core::intrinsics::",
        "core::num::",      "core::slice::",        "core::str::",     "core::fmt::",
        "core::hash::",     "core::cell::",         "core::option::",  "core::result::",
        "core::cmp::",      "core::convert::",      "core::mem::",     "alloc::boxed::",
        "alloc::vec::",     "alloc::sync::",        "alloc::string::", "alloc::slice::",
        "alloc::raw_vec::", "alloc::collections::", "hashbrown::",
    };
    static const char as[] = " as ";
    const size_t n_as = sizeof as - 1;
    if (!weft_str_begins(name, "<"))
        return WEFT_STR_BEGINS(name, paths);
    if (is_of_primitive(name))
        return true;
    const char *trait = memmem(name.bytes, name.n_bytes, as, n_as);
    const size_t at = trait ? (size_t)(trait - name.bytes) + n_as : 1;
    const struct weft_str rest = { name.bytes + at, name.n_bytes - at };
    const struct weft_str type = { name.bytes + 1, trait ? at - n_as - 1 : 0 };
    const bool is_own = type.n_bytes > 0 && memmem(type.bytes, type.n_bytes, "::", 2) &&
                        !WEFT_STR_BEGINS(type, spaces);
    return !is_own && WEFT_STR_BEGINS(rest, spaces);
}

bool weft_name_is_of_std(struct weft_str name)
{
    static const char *const spaces[] = { "std::", "__gnu_cxx::" };
    size_t at = 0;
    for (size_t i = 0; i < name.n_bytes && name.bytes[i] != '(' && name.bytes[i] != '<'; i++)
        at = name.bytes[i] == ' ' ? i + 1 : at;
    const struct weft_str rest = { name.bytes + at, name.n_bytes - at };
    return is_of_rust_std(name) || WEFT_STR_BEGINS(name, spaces) || WEFT_STR_BEGINS(rest, spaces);
}

bool weft_frame_is_address(const struct weft_frame *frame)
{
    size_t n = frame->name.n_bytes;
    while (n > 0 && isxdigit((unsigned char)frame->name.bytes[n - 1]))
        n--;
    return n > 3 && n < frame->name.n_bytes && memcmp(frame->name.bytes + n - 3, "+0x", 3) == 0;
}

/* Code that a JVM makes for itself. */
static bool is_of_jvm(struct weft_str name)
{
    return weft_str_equal(name, WEFT_STR("Interpreter")) || weft_str_begins(name, "StubRoutines (");
}

static bool is_library(const struct weft_frame *frame)
{
    static const char *const modules[] = { "libc.",   "libc-", "libpthread", "ld-linux",  "libweft",
                                           "[kernel", "[vdso", "linux-vdso", "libstdc++." };
    static const char *const names[] = { "__",           "syscall", "do_syscall", "entry_SYSCALL",
                                         "start_thread", "clone",   "_start",     "[vdso" };
    const struct weft_str module = weft_str_base(frame->module);
    return weft_module_is_library(module) || WEFT_STR_BEGINS(module, modules) ||
           WEFT_STR_BEGINS(frame->name, names) ||
           (weft_frame_is_address(frame) && WEFT_STR_BEGINS(frame->name, modules)) ||
           weft_name_is_of_std(frame->name) || is_of_jvm(frame->name);
}

bool weft_frame_is_library(const struct weft_frame *frame)
{
    uint8_t known = weft_frame_known(&frame->is_library);
    if (!known) {
        known = (uint8_t)(1 + is_library(frame));
        weft_frame_know(&frame->is_library, known);
    }
    return known - 1;
}

/* Where threads and programs begin: says nothing of what they do. */
static bool is_start(const struct weft_frame *frame)
{
    static const char *const names[] = { "start_thread", "clone",        "_start",
                                         "__libc_start", "__GI___clone", "__clone" };
    return WEFT_STR_BEGINS(frame->name, names);
}

static bool is_inlined(const struct weft_frame *frame)
{
    const struct weft_str end = WEFT_STR(" (inlined)");
    return frame->name.n_bytes > end.n_bytes &&
           memcmp(frame->name.bytes + frame->name.n_bytes - end.n_bytes, end.bytes, end.n_bytes) ==
               0;
}

bool weft_frame_is_nameless(const struct weft_frame *frame)
{
    return weft_str_begins(frame->name, "[kernel]+0x");
}

static bool is_named(const struct weft_frame *frame)
{
    return (frame->kind == WEFT_FRAME_FUNCTION && !weft_frame_is_nameless(frame)) ||
           frame->kind == WEFT_FRAME_LOCK;
}

void weft_frame_path_turn(struct weft_frame_path *path)
{
    for (size_t i = 0; i < path->n / 2; i++) {
        const struct weft_frame *other = path->frames[path->n - 1 - i];
        path->frames[path->n - 1 - i] = path->frames[i];
        path->frames[i] = other;
    }
}

void weft_frame_path_of(const struct weft_ecct_matrix *matrix, uint32_t node,
                        struct weft_frame_path *path)
{
    path->n = 0;
    for (; node != 0 && node != WEFT_ID_NONE && path->n < WEFT_PATH_DEPTH;
         node = matrix->nodes[node].parent)
        path->frames[path->n++] = &matrix->frames[matrix->nodes[node].frame];
    weft_frame_path_turn(path);
}

struct weft_path_part weft_path_part_at(const struct weft_frame_path *path, size_t from)
{
    struct weft_path_part part = { .from = from, .to = from };
    while (part.to < path->n && path->frames[part.to]->kind != WEFT_FRAME_THREAD)
        part.to++;
    part.state = part.to;
    for (size_t i = part.from; i < part.to; i++)
        if (path->frames[i]->kind == WEFT_FRAME_STATE)
            part.state = i;
    part.is_preempted =
        part.state < part.to && path->frames[part.state]->state == WEFT_FRAME_PREEMPTED;
    return part;
}

/* What C++'s library, and libc, are made of where a compiler inlines it, and debugging information
 * has no namespace. */
static bool is_glue(const struct weft_frame *frame)
{
    static const char *const starts[] = { "operator()", "_M_",   "invoke<", "call_once<",
                                          "sleep_for<", "wait<", "futex_",  "lll_" };
    static const char *const methods[] = { "lock", "unlock" }; /* not the program's "lock_row" */
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const size_t n = strlen(methods[i]);
        if (weft_str_begins(frame->name, methods[i]) &&
            (frame->name.n_bytes == n || strchr("( <", frame->name.bytes[n])))
            return true;
    }
    return WEFT_STR_BEGINS(frame->name, starts);
}

bool weft_path_is_library(const struct weft_frame_path *path, size_t from, size_t at)
{
    const struct weft_frame *frame = path->frames[at];
    if (weft_frame_is_library(frame) || !is_inlined(frame))
        return weft_frame_is_library(frame);
    while (at > from && is_inlined(path->frames[at]))
        at--;
    /* a template of the library that was made for the program may have all of a thread inlined */
    return is_glue(frame) || (weft_frame_is_library(path->frames[at]) &&
                              !weft_name_is_of_std(path->frames[at]->name));
}

size_t weft_path_last_thread(const struct weft_frame_path *path)
{
    size_t from = path->n;
    while (from > 0 && path->frames[from - 1]->kind != WEFT_FRAME_THREAD)
        from--;
    return from;
}

size_t weft_path_functions(const struct weft_frame_path *path, const struct weft_path_part *part,
                           size_t *places)
{
    size_t n = 0, n_own = 0;
    bool has_address = false; /* of several of the program's the innermost says enough */
    for (size_t i = part->to; i-- > part->from && n < WEFT_NAMED_FUNCTIONS;) {
        if (!is_named(path->frames[i]))
            continue;
        const bool is_wrapper = n_own == 0 && (path->frames[i]->flags & WEFT_FRAME_WRAPS_WAITS) &&
                                path->frames[i]->kind == WEFT_FRAME_FUNCTION;
        if (!is_wrapper && !weft_path_is_library(path, part->from, i)) {
            if (has_address && weft_frame_is_address(path->frames[i]))
                continue;
            has_address = has_address || weft_frame_is_address(path->frames[i]);
            if (n == 1 && n_own == 0 && weft_frame_is_address(path->frames[places[0]]))
                n = 0; /* a library's says less than its caller */
            places[n++] = i;
            n_own++;
        } else if (n_own == 0 && (n == 0 || !is_start(path->frames[i]))) {
            places[0] = i; /* what the program called is further out than how that is done */
            n = 1;
        }
    }
    return n;
}

uint64_t weft_frame_hash(uint64_t hash, const struct weft_frame *frame)
{
    for (size_t i = 0; i < frame->name.n_bytes; i++) {
        const unsigned char byte = (unsigned char)frame->name.bytes[i];
        const bool is_digit = byte >= '0' && byte <= '9';
        if (!is_digit || frame->kind != WEFT_FRAME_THREAD)
            hash = (hash ^ byte) * UINT64_C(0x100000001b3);
    }
    return (hash ^ (0x100u + frame->kind)) * UINT64_C(0x100000001b3);
}

/* What a part says of its thread. */
static uint64_t hash_part(const struct weft_frame_path *path, const struct weft_path_part *part)
{
    size_t places[WEFT_NAMED_FUNCTIONS];
    const bool is_taken = part->is_preempted && part->to < path->n;
    const size_t n = is_taken ? 0 : weft_path_functions(path, part, places);
    uint64_t hash = WEFT_FRAME_HASH;
    if (part->state < part->to)
        hash = weft_frame_hash(hash, path->frames[part->state]);
    for (size_t i = 0; i < n; i++)
        hash = weft_frame_hash(hash, path->frames[places[i]]);
    return hash;
}

/* Threads that wait in one place, one for the other, are a queue for one thing, however long. */
uint64_t weft_path_likeness(const struct weft_frame_path *path)
{
    struct weft_path_part part = weft_path_part_at(path, 0);
    uint64_t before = hash_part(path, &part), hash = before;
    while (part.to < path->n) {
        const struct weft_frame *thread = path->frames[part.to];
        part = weft_path_part_at(path, part.to + 1);
        const uint64_t next = hash_part(path, &part);
        if (next == before && part.to < path->n)
            continue;
        hash = weft_frame_hash(hash, thread) * UINT64_C(0x9e3779b97f4a7c15) + next;
        before = next;
    }
    return hash;
}

bool weft_node_is_outside(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    struct weft_frame_path path;
    bool is_foreign = false; /* the thread that the path came to */
    if (node == WEFT_ID_NONE)
        return false;
    weft_frame_path_of(matrix, node, &path);
    for (size_t i = 1; i < path.n && !is_foreign; i++) {
        if (path.frames[i]->kind != WEFT_FRAME_THREAD)
            continue;
        is_foreign = path.frames[i]->module.n_bytes > 0;
        if (is_foreign && path.frames[i - 1]->state == WEFT_FRAME_PREEMPTED)
            return true; /* else what it was asked for takes long, with a CPU or without */
    }
    return false;
}
