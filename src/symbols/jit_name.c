/* SPDX-License-Identifier: MIT
 *
 * See jit_name.h. Each runtime has a form of its own, which its text alone shows; what has
 * none of these forms stays as it is. A place is the name of the file, without its folders, and the
 * line: enough to find the function, and the same wherever the program is installed.
 */
#include "symbols/jit_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- texts ----------------------------------------------------------------------------------- */

static void cut_front(struct weft_str *text, size_t n_bytes)
{
    text->bytes += n_bytes;
    text->n_bytes -= n_bytes;
}

/* Where `what` begins first; n_bytes: nowhere. */
static size_t find(struct weft_str text, const char *what)
{
    const char *found = text.n_bytes ? memmem(text.bytes, text.n_bytes, what, strlen(what)) : NULL;
    return found ? (size_t)(found - text.bytes) : text.n_bytes;
}

static struct weft_str front_of(struct weft_str text, size_t n_bytes)
{
    return (struct weft_str){ text.bytes, n_bytes };
}

/* ---- the name in work ------------------------------------------------------------------------ */

static void put_byte(struct weft_jit_name *name, char byte)
{
    if (name->n_bytes < sizeof name->bytes)
        name->bytes[name->n_bytes++] =
            (unsigned char)byte < ' ' || (unsigned char)byte == 0x7f ? '?' : byte;
}

static void put(struct weft_jit_name *name, struct weft_str text)
{
    for (size_t k = 0; k < text.n_bytes && name->n_bytes < sizeof name->bytes; k++)
        put_byte(name, text.bytes[k]);
}

/* A part of a path that says nothing without its folder. */
static bool is_common(struct weft_str base)
{
    return weft_str_begins(base, "index.") || weft_str_begins(base, "__init__.") ||
           weft_str_begins(base, "__main__.");
}

/* "/srv/app/lib/index.js" is "lib/index.js", "/srv/app/main.js" "main.js", "node:net" itself. */
static struct weft_str short_path(struct weft_str path)
{
    if (weft_str_begins(path, "node:"))
        return path;
    struct weft_str base = weft_str_base(path);
    size_t at = (size_t)(base.bytes - path.bytes);
    if (!is_common(base) || at < 2)
        return base;
    for (at--; at > 0 && path.bytes[at - 1] != '/';)
        at--;
    return (struct weft_str){ path.bytes + at, path.n_bytes - at };
}

/* " [app.js:6]": not as arguments, which are omitted in many places. */
static void put_place(struct weft_jit_name *name, struct weft_str path, uint64_t line)
{
    char number[24];
    if (path.n_bytes == 0)
        return;
    put(name, WEFT_STR(" ["));
    put(name, short_path(path));
    if (line) {
        (void)snprintf(number, sizeof number, ":%" PRIu64, line);
        put(name, weft_str_of(number));
    }
    put(name, WEFT_STR("]"));
}

/* ---- V8: "JS:*handle /srv/app.js:6:16" ------------------------------------------------------- */

/* Takes ":NUMBER" from the end. */
static bool cut_number(struct weft_str *text, uint64_t *number)
{
    size_t at = text->n_bytes;
    *number = 0;
    while (at > 0 && text->bytes[at - 1] >= '0' && text->bytes[at - 1] <= '9')
        at--;
    if (at == text->n_bytes || at == 0 || text->bytes[at - 1] != ':' || text->n_bytes - at > 18)
        return false;
    for (size_t k = at; k < text->n_bytes; k++)
        *number = *number * 10 + (uint64_t)(text->bytes[k] - '0');
    text->n_bytes = at - 1;
    return true;
}

/* Names and paths may have blanks: the path begins where it looks like one, else behind the last
 * blank. */
static size_t path_begin(struct weft_str text)
{
    static const char *const fronts[] = { "/", "file:", "node:", "http:", "https:", "wasm:", "[" };
    for (size_t k = 0; k + 1 < text.n_bytes; k++)
        if (text.bytes[k] == ' ' &&
            WEFT_STR_BEGINS(((struct weft_str){ text.bytes + k + 1, text.n_bytes - k - 1 }),
                            fronts))
            return k + 1;
    const char *blank = text.n_bytes ? memrchr(text.bytes, ' ', text.n_bytes) : NULL;
    return blank ? (size_t)(blank - text.bytes) + 1 : text.n_bytes;
}

/* `kind`: what stands before the first colon. */
static void put_script(struct weft_jit_name *name, struct weft_str kind, struct weft_str text)
{
    uint64_t column = 0, line = 0;
    if (text.n_bytes && strchr("*~^+-", text.bytes[0])) /* how far it is optimized */
        cut_front(&text, 1);
    const struct weft_str whole = text;
    const bool has_place = cut_number(&text, &column) && (cut_number(&text, &line) || column);
    if (!line) /* a single number is the line */
        line = column;
    if (!has_place)
        text = whole;
    const size_t at = has_place || find(text, " ") == 0 ? path_begin(text) : text.n_bytes;
    struct weft_str path = { text.bytes + at, text.n_bytes - at };
    struct weft_str function = front_of(text, at);
    while (function.n_bytes && function.bytes[function.n_bytes - 1] == ' ')
        function.n_bytes--;
    if (function.n_bytes)
        put(name, function);
    else
        put(name, weft_str_begins(kind, "Script") || weft_str_begins(kind, "Eval")
                      ? WEFT_STR("script")
                      : WEFT_STR("anonymous"));
    name->is_system = weft_str_begins(path, "node:") || weft_str_begins(path, "native ");
    if (weft_str_begins(path, "file://"))
        cut_front(&path, 7);
    put_place(name, path, line);
}

static bool is_one_of(struct weft_str text, const char *names)
{
    return text.n_bytes && !memchr(text.bytes, '|', text.n_bytes) &&
           weft_str_is_one_of(text, names);
}

static bool take_v8(struct weft_str text, struct weft_jit_name *name)
{
    const size_t n_kind = find(text, ":");
    const struct weft_str kind = front_of(text, n_kind);
    if (n_kind == text.n_bytes || (n_kind + 1 < text.n_bytes && text.bytes[n_kind + 1] == ':'))
        return false;
    if (is_one_of(kind, "JS|LazyCompile|Function|InterpretedFunction|Script|Eval")) {
        cut_front(&text, n_kind + 1);
        put_script(name, kind, text);
        return true;
    }
    if (!is_one_of(kind, "Builtin|BytecodeHandler|Stub|Handler|RegExp|CallIC|LoadIC|KeyedLoadIC|"
                         "StoreIC|KeyedStoreIC|KeyedLoadPolymorphicIC|Callback"))
        return false;
    put(name, text);
    name->is_system = !weft_str_begins(kind, "RegExp"); /* that is the program's */
    return true;
}

/* ---- CPython: "py::handle:/srv/app.py" ------------------------------------------------------- */

static bool take_python(struct weft_str text, struct weft_jit_name *name)
{
    if (!weft_str_begins(text, "py::"))
        return false;
    cut_front(&text, 4);
    const size_t n_function = find(text, ":");
    struct weft_str path = text;
    cut_front(&path, n_function);
    if (path.n_bytes)
        cut_front(&path, 1);
    put(name, front_of(text, n_function));
    put_place(name, path, 0);
    name->is_system = weft_str_begins(path, "<frozen ") || find(path, "/lib/python") < path.n_bytes;
    return true;
}

/* ---- JVMs ------------------------------------------------------------------------------------ */

static void set_java_class(struct weft_jit_name *name)
{
    static const char *const fronts[] = { "java.",    "javax.",  "jdk.",  "sun.",
                                          "com.sun.", "kotlin.", "scala." };
    name->is_system = WEFT_STR_BEGINS(((struct weft_str){ name->bytes, name->n_bytes }), fronts);
}

/* "Lcom/foo/Bar;::baz", "Lcom/foo/Bar;.baz(I)V", "Lcom/foo/Bar;baz(I)V": class and method. */
static bool take_class(struct weft_str text, struct weft_jit_name *name)
{
    const size_t n_class = find(text, ";");
    if (!weft_str_begins(text, "L") || n_class < 2 || n_class + 1 >= text.n_bytes ||
        memchr(text.bytes, ' ', n_class) || memchr(text.bytes, '(', n_class))
        return false;
    for (size_t k = 1; k < n_class; k++)
        put_byte(name, text.bytes[k] == '/' ? '.' : text.bytes[k]);
    cut_front(&text, n_class + 1);
    if (weft_str_begins(text, "::"))
        cut_front(&text, 2);
    else if (weft_str_begins(text, "."))
        cut_front(&text, 1);
    put_byte(name, '.');
    put(name, front_of(text, find(text, "(")));
    set_java_class(name);
    return true;
}

/* "long com.foo.Bar.baz(int, java.lang.String)", as jcmd writes it. */
static bool take_method(struct weft_str text, struct weft_jit_name *name)
{
    const size_t n_front = find(text, "(");
    struct weft_str method = front_of(text, n_front);
    const char *blank = n_front ? memrchr(text.bytes, ' ', n_front) : NULL;
    if (n_front == text.n_bytes || !weft_str_ends(text, ")") || !blank || blank == text.bytes)
        return false;
    cut_front(&method, (size_t)(blank - text.bytes) + 1);
    const struct weft_str type = front_of(text, (size_t)(blank - text.bytes));
    if (method.n_bytes < 3 || !memchr(method.bytes, '.', method.n_bytes) ||
        memchr(type.bytes, ' ', type.n_bytes) || find(method, "::") < method.n_bytes)
        return false;
    put(name, method);
    set_java_class(name);
    return true;
}

/* What lies in the code cache and is no method. */
static bool take_stub(struct weft_str text, struct weft_jit_name *name)
{
    static const char *const fronts[] = {
        "Interpreter", "StubRoutines",  "I2C/C2I adapters",   "RuntimeStub",   "vtable stub",
        "itable stub", "ExceptionBlob", "DeoptimizationBlob", "SafepointBlob", "UncommonTrapBlob"
    };
    if (!WEFT_STR_BEGINS(text, fronts) && !weft_str_ends(text, "_stub") &&
        !weft_str_ends(text, " stub"))
        return false;
    put(name, text);
    name->is_system = true;
    return true;
}

/* ---- .NET: "instance void [app] Server.Handler::Run(string)[Tier0]" -------------------------- */

static bool take_net(struct weft_str text, struct weft_jit_name *name)
{
    static const char *const systems[] = { "[System.", "[Microsoft.", "[mscorlib]",
                                           "[netstandard]" };
    const char *tier = text.n_bytes ? memrchr(text.bytes, '[', text.n_bytes) : NULL;
    const size_t module = find(text, "[");
    const size_t n_module = find(text, "] ");
    if (!weft_str_ends(text, "]") || !tier || n_module == text.n_bytes || module >= n_module ||
        find(text, "::") == text.n_bytes || (size_t)(tier - text.bytes) <= n_module + 2)
        return false;
    const struct weft_str rest = { text.bytes + module, text.n_bytes - module };
    name->is_system = WEFT_STR_BEGINS(rest, systems);
    put(name,
        (struct weft_str){ text.bytes + n_module + 2, (size_t)(tier - text.bytes) - n_module - 2 });
    return true;
}

void weft_jit_name(struct weft_str text, struct weft_str file, uint64_t line,
                   struct weft_jit_name *name)
{
    *name = (struct weft_jit_name){ 0 };
    while (text.n_bytes && (text.bytes[0] == ' ' || text.bytes[0] == '\t'))
        cut_front(&text, 1);
    while (text.n_bytes && strchr(" \t\r", text.bytes[text.n_bytes - 1]))
        text.n_bytes--;
    if (text.n_bytes == 0 || take_v8(text, name) || take_python(text, name))
        return;
    if (!take_net(text, name) && !take_class(text, name) && !take_method(text, name) &&
        !take_stub(text, name))
        put(name, text);
    put_place(name, file, line);
}

bool weft_jit_is_nameless(struct weft_str path)
{
    static const char *const fronts[] = { "[anon",     "[heap",  "/memfd:",
                                          "/dev/zero", "//anon", "/SYSV" };
    return path.n_bytes == 0 || WEFT_STR_BEGINS(path, fronts);
}

/* ---- tables ---------------------------------------------------------------------------------- */

bool weft_jit_intern(struct weft_jit_names *names, struct weft_str text, struct weft_str file,
                     uint64_t line, uint32_t *name)
{
    struct weft_jit_name plain;
    weft_jit_name(text, file, line, &plain);
    *name = WEFT_JIT_NONE;
    if (plain.n_bytes == 0)
        return true;
    const struct weft_str bytes = { plain.bytes, plain.n_bytes };
    if (weft_strtab_intern(names->texts, bytes, name, NULL) != WEFT_OK)
        return false;
    if (*name < WEFT_JIT_SYSTEM - 1)
        *name |= plain.is_system ? WEFT_JIT_SYSTEM : 0;
    else
        *name = WEFT_JIT_NONE;
    return true;
}

bool weft_jit_put(struct weft_jit_names *names, uint64_t begin, uint64_t n_bytes, uint64_t from_ns,
                  struct weft_str text)
{
    uint32_t name = WEFT_JIT_NONE;
    return (weft_jit_is_full(names->table) ||
            weft_jit_intern(names, text, WEFT_STR(""), 0, &name)) &&
           weft_jit_add(names->table, begin, n_bytes, from_ns, name);
}
