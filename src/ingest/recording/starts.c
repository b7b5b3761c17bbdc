/* SPDX-License-Identifier: MIT
 *
 * See starts.h. Names of functions are cut to what a reader calls a function by: without arguments,
 * template arguments, return type and the program's own crate. Functions of the standard libraries
 * that are compiled into the program are no functions of it.
 */
#include "ingest/recording/starts.h"

#include "base/vec.h"

#include <string.h>

enum { NAME_BYTES = 200 };

/* ---- modules -----------------------------------------------------------------------------------
 */

enum rec_frame_class rec_frame_class_of(struct weft_str path, bool is_program)
{
    static const char *const entries[] = { "libc.so",       "libc-",      "libpthread",
                                           "ld-linux",      "ld-musl",    "libstdc++.so",
                                           "libc++.so",     "libweft-",   "libglib-2.0",
                                           "libgthread-2.", "libgomp.so", "libomp.so",
                                           "libasan.so",    "libtsan.so", "libubsan.so" };
    static const char *const systems[] = { "/lib/", "/usr/lib/", "/lib64/", "/usr/lib64/" };
    if (path.n_bytes == 0 || path.bytes[0] != '/')
        return REC_FRAME_OTHER;
    if (WEFT_STR_BEGINS(weft_str_base(path), entries))
        return REC_FRAME_ENTRY;
    return is_program || !WEFT_STR_BEGINS(path, systems) ? REC_FRAME_OWN : REC_FRAME_OTHER;
}

/* ---- names of functions ------------------------------------------------------------------------
 */

struct name {
    char bytes[NAME_BYTES];
    size_t n;
    bool is_bad; /* too long, or not understood */
};

static void put(struct name *name, char byte)
{
    if (name->n == sizeof name->bytes)
        name->is_bad = true;
    else
        name->bytes[name->n++] = byte;
}

static struct weft_str text_of(const struct name *name)
{
    return (struct weft_str){ name->bytes, name->n };
}

static void cut_front(struct weft_str *text, size_t n_bytes)
{
    text->bytes += n_bytes;
    text->n_bytes -= n_bytes;
}

static char closing(char opening)
{
    return opening == '<' ? '>' : opening == '(' ? ')' : '}';
}

/* Bytes up to the end of what text begins with, "<...>" or "(...)"; 0: it has no end. */
static size_t group_bytes(struct weft_str text)
{
    size_t depth = 0;
    for (size_t k = 0; k < text.n_bytes; k++) {
        const bool is_arrow = text.bytes[k] == '>' && k > 0 && text.bytes[k - 1] == '-';
        depth += text.bytes[k] == text.bytes[0];
        if (text.bytes[k] == closing(text.bytes[0]) && !is_arrow && --depth == 0)
            return k + 1;
    }
    return 0;
}

/* Without arguments and template arguments; "{lambda(int)#1}" becomes "{lambda#1}". */
static void put_plain(struct name *name, struct weft_str text)
{
    while (text.n_bytes > 0 && !name->is_bad) {
        size_t n_bytes = 1;
        if (text.bytes[0] == '<' || text.bytes[0] == '(')
            n_bytes = group_bytes(text);
        else
            put(name, text.bytes[0]);
        name->is_bad |= n_bytes == 0;
        cut_front(&text, n_bytes);
    }
}

/* Of "<Type as Trait>::function" what stands for the type. */
static void put_implementation(struct name *name, struct weft_str *text)
{
    const size_t n_group = text->n_bytes && text->bytes[0] == '<' ? group_bytes(*text) : 0;
    if (n_group < 2)
        return;
    struct weft_str type = { text->bytes + 1, n_group - 2 };
    const char *as = memmem(type.bytes, type.n_bytes, " as ", 4);
    if (as)
        type.n_bytes = (size_t)(as - type.bytes);
    put_implementation(name, &type);
    put_plain(name, type);
    cut_front(text, n_group);
}

static void cut_ends(struct weft_str *text)
{
    static const char *const ends[] = { " (inlined)", " const",       " volatile",   " &",
                                        " &&",        "[abi:cxx11]",  ".cold",       ".part.0",
                                        ".isra.0",    ".constprop.0", ".lto_priv.0", ".llvm" };
    for (bool is_cut = true; is_cut;) {
        is_cut = false;
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            is_cut |= weft_str_take_end(text, ends[k]);
    }
}

static void remove_front(struct name *name, size_t n_bytes)
{
    name->n -= n_bytes;
    memmove(name->bytes, name->bytes + n_bytes, name->n);
}

/* "crate::function" of the program "crate". */
static void remove_crate(struct name *name, struct weft_str program)
{
    size_t n = 0;
    while (
        n < program.n_bytes && n < name->n &&
        (name->bytes[n] == program.bytes[n] || (name->bytes[n] == '_' && program.bytes[n] == '-')))
        n++;
    if (n > 0 && n == program.n_bytes && n + 2 < name->n && name->bytes[n] == ':' &&
        name->bytes[n + 1] == ':')
        remove_front(name, n + 2);
}

static bool is_closure(struct weft_str name)
{
    return name.n_bytes > 0 && memchr(name.bytes, '{', name.n_bytes) != NULL;
}

static void shorten(struct weft_str text, struct weft_str program, struct name *name)
{
    *name = (struct name){ 0 };
    cut_ends(&text);
    if (weft_str_take_end(&text, "::operator()()") ||
        !memmem(text.bytes, text.n_bytes, "operator", 8)) {
        put_implementation(name, &text);
        put_plain(name, text);
    } else {
        /* The call of a closure, with arguments; other operators begin no thread. */
        const char *call = memmem(text.bytes, text.n_bytes, "::operator()(", 13);
        if (call)
            put_plain(name, (struct weft_str){ text.bytes, (size_t)(call - text.bytes) });
        else if (weft_str_begins(text, "operator"))
            put_plain(name, WEFT_STR("operator"));
        name->is_bad |= !call;
    }
    const char *blank = name->n ? memrchr(name->bytes, ' ', name->n) : NULL;
    if (blank) /* behind the type that it returns */
        remove_front(name, (size_t)(blank - name->bytes) + 1);
    while (name->n > 2 && name->bytes[0] == ':') /* of a namespace without a name */
        remove_front(name, 1);
    remove_crate(name, program);
}

/* Of the language: its libraries, as they are compiled into programs. */
static bool is_of_language(struct weft_str name)
{
    static const char *const fronts[] = {
        "std::",  "core::",   "alloc::",  "__gnu_cxx::", "boost::", "__rust_", "rust_", "runtime.",
        "_M_",    "__invoke", "operator", "decltype",    "__asan",  "__tsan",  "i8::",  "i16::",
        "i32::",  "i64::",    "i128::",   "isize::",     "u8::",    "u16::",   "u32::", "u64::",
        "u128::", "usize::",  "f32::",    "f64::",       "bool::",  "char::",  "str::",
    };
    return WEFT_STR_BEGINS(name, fronts);
}

/* Where threads begin. */
static bool is_entry(struct weft_str name)
{
    static const char *const entries[] = { "clone",
                                           "__clone",
                                           "clone3",
                                           "__clone3",
                                           "__GI___clone3",
                                           "__GI___clone",
                                           "start_thread",
                                           "thread_start",
                                           "g_thread_proxy",
                                           "execute_native_thread_routine",
                                           "gomp_thread_start" };
    for (size_t k = 0; k < sizeof entries / sizeof *entries; k++)
        if (weft_str_equal(name, weft_str_of(entries[k])))
            return true;
    return false;
}

static struct weft_str next_function(struct weft_str *names)
{
    const char *end = names->n_bytes ? memchr(names->bytes, ';', names->n_bytes) : NULL;
    const size_t n_bytes = end ? (size_t)(end - names->bytes) : names->n_bytes;
    const struct weft_str name = { names->bytes, n_bytes };
    cut_front(names, n_bytes + (end != NULL));
    return name;
}

/* What headers of the C library put in the place of a call of the same name, to check it. */
static bool is_checked_call(struct weft_str name)
{
    return weft_str_take_end(&name, " (inlined)") &&
           weft_str_is_one_of(name, "read|pread|pread64|recv|recvfrom|poll|ppoll|open|open64|"
                                    "openat|openat64|mq_open|readlink|readlinkat|fread|fgets|"
                                    "getline|printf|fprintf|dprintf|vfprintf|vdprintf|syslog");
}

struct weft_str rec_own_function(struct weft_str frame)
{
    struct weft_str found = { 0 };
    while (frame.n_bytes > 0) {
        struct weft_str full = next_function(&frame);
        struct name name;
        shorten(full, WEFT_STR(""), &name);
        if (name.is_bad || name.n == 0 || is_of_language(text_of(&name)) || is_entry(full) ||
            is_checked_call(full))
            continue;
        (void)weft_str_take_end(&full, " (inlined)");
        found = full;
    }
    return found;
}

/* ---- starts of stacks --------------------------------------------------------------------------
 */

static void add_name(struct rec_start_text *start, const struct name *name)
{
    if (start->n_bytes + name->n + 1 > sizeof start->bytes)
        return;
    if (start->n_names++ > 0)
        start->bytes[start->n_bytes++] = ';';
    memcpy(start->bytes + start->n_bytes, name->bytes, name->n);
    start->n_bytes += name->n;
    start->is_over = start->n_names == REC_START_NAMES;
}

static bool is_last(const struct rec_start_text *start, const struct name *name)
{
    return start->n_names > 0 && start->n_bytes >= name->n &&
           memcmp(start->bytes + start->n_bytes - name->n, name->bytes, name->n) == 0 &&
           (start->n_bytes == name->n || start->bytes[start->n_bytes - name->n - 1] == ';');
}

/* The closure that a thread of C++ runs is in the type of the object that runs it, also where the
 * closure itself was inlined: "std::thread::_State_impl<...std::tuple<main::{lambda()#1}> > >". */
static void add_closure_of(struct rec_start_text *start, struct weft_str text,
                           struct weft_str program)
{
    static const char front[] = "std::thread::_State_impl<", before[] = "std::tuple<";
    const char *at = weft_str_begins(text, front)
                         ? memmem(text.bytes, text.n_bytes, before, sizeof before - 1)
                         : NULL;
    struct name name;
    if (!at)
        return;
    cut_front(&text, (size_t)(at - text.bytes) + sizeof before - 2);
    const size_t n_group = group_bytes(text);
    const char *end = n_group ? memmem(text.bytes, n_group, "#", 1) : NULL;
    end = end ? memchr(end, '}', n_group - (size_t)(end - text.bytes)) : NULL;
    if (!end || !memmem(text.bytes, (size_t)(end - text.bytes), "{lambda(", 8))
        return;
    cut_front(&text, 1);
    shorten((struct weft_str){ text.bytes, (size_t)(end - text.bytes) + 1 }, program, &name);
    if (!name.is_bad && name.n > 0 && !is_of_language(text_of(&name)))
        add_name(start, &name);
}

static void put_functions(struct rec_start_text *start, struct weft_str names,
                          struct weft_str program)
{
    while (names.n_bytes > 0 && !start->is_over) {
        const struct weft_str full = next_function(&names);
        struct name name;
        shorten(full, program, &name);
        add_closure_of(start, full, program);
        if (is_entry(full) || is_of_language(text_of(&name)) || is_last(start, &name))
            continue;
        if (name.is_bad || name.n == 0)
            start->is_over = true;
        else
            add_name(start, &name);
    }
}

/* A stack is whole if its outermost frame is one in which threads begin. That may have no name,
 * where libraries have no symbols; frame pointers lead to the first one that the program's own code
 * returns to. */
void rec_start_put(struct rec_start_text *start, enum rec_frame_class class, struct weft_str name,
                   struct weft_str program)
{
    struct weft_str rest = name;
    const bool is_outermost = start->n_frames++ == 0;
    const bool is_nameless = name.n_bytes && memmem(name.bytes, name.n_bytes, "+0x", 3);
    if (start->is_over || start->is_bad)
        return;
    if (is_outermost && !(class == REC_FRAME_ENTRY && is_nameless) &&
        !is_entry(next_function(&rest))) {
        start->is_bad = true;
        return;
    }
    if (class == REC_FRAME_OTHER || (class == REC_FRAME_ENTRY && start->n_names > 0) ||
        (class == REC_FRAME_OWN && is_nameless))
        start->is_over = true;
    else if (class == REC_FRAME_OWN)
        put_functions(start, name, program);
}

/* ---- threads -----------------------------------------------------------------------------------
 */

bool rec_starts_init(struct rec_starts *starts)
{
    *starts = (struct rec_starts){ .texts = weft_strtab_new() };
    return starts->texts != NULL;
}

void rec_starts_fini(struct rec_starts *starts)
{
    weft_strtab_free(starts->texts);
    WEFT_VEC_FINI(&starts->threads);
}

struct rec_start *rec_start_of(struct rec_starts *starts, uint32_t thread)
{
    while (starts->threads.n <= thread) {
        struct rec_start *start = WEFT_VEC_PUSH(&starts->threads);
        if (!start)
            return NULL;
        *start = (struct rec_start){ .common = WEFT_ID_NONE, .routine = WEFT_ID_NONE };
    }
    return &starts->threads.items[thread];
}

/* The names that both begin with. */
static struct weft_str common_of(struct weft_str a, struct weft_str b)
{
    size_t n = 0, n_whole = 0;
    while (n < a.n_bytes && n < b.n_bytes && a.bytes[n] == b.bytes[n]) {
        if (a.bytes[n] == ';')
            n_whole = n;
        n++;
    }
    const bool is_end_of_a = n == a.n_bytes || a.bytes[n] == ';';
    const bool is_end_of_b = n == b.n_bytes || b.bytes[n] == ';';
    return (struct weft_str){ a.bytes, is_end_of_a && is_end_of_b ? n : n_whole };
}

bool rec_starts_see(struct rec_starts *starts, uint32_t thread, struct weft_str names)
{
    struct rec_start *start = rec_start_of(starts, thread);
    if (!start)
        return false;
    if (start->common != WEFT_ID_NONE)
        names = common_of(weft_strtab_get(starts->texts, start->common), names);
    return weft_strtab_intern(starts->texts, names, &start->common, NULL) == WEFT_OK;
}

bool rec_starts_routine(struct rec_starts *starts, uint32_t thread, struct weft_str name,
                        struct weft_str program)
{
    struct rec_start *start = rec_start_of(starts, thread);
    struct rec_start_text text = { 0 };
    if (!start)
        return false;
    put_functions(&text, next_function(&name), program);
    const uint32_t known = start->routine;
    if (text.n_names == 0)
        return true;
    const bool is_good =
        weft_strtab_intern(starts->texts, (struct weft_str){ text.bytes, text.n_bytes },
                           &start->routine, NULL) == WEFT_OK;
    start->is_given |= known != WEFT_ID_NONE && known != start->routine; /* which one is unknown */
    return is_good;
}

/* A closure is called after the function that it calls in all stacks, if there is one. */
struct weft_str rec_starts_name(const struct rec_starts *starts, uint32_t thread)
{
    const struct rec_start *start =
        thread < starts->threads.n ? &starts->threads.items[thread] : NULL;
    if (!start || start->is_given)
        return WEFT_STR("");
    if (start->routine != WEFT_ID_NONE)
        return weft_strtab_get(starts->texts, start->routine);
    if (start->common == WEFT_ID_NONE)
        return WEFT_STR("");
    struct weft_str names = weft_strtab_get(starts->texts, start->common);
    struct weft_str closure = { 0 };
    while (names.n_bytes > 0) {
        const struct weft_str name = next_function(&names);
        if (!is_closure(name))
            return name;
        if (closure.n_bytes == 0)
            closure = name;
    }
    return closure;
}
