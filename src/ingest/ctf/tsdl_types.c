/* SPDX-License-Identifier: MIT
 *
 * Types of TSDL. A type is a pointer to a class that does not change any more, so every use of a
 * named type shares it; what depends on the place (the fields that lengths and tags mean) is looked
 * up when plans are made.
 */
#include "base/vec.h"
#include "ingest/ctf/tsdl.h"

#include <string.h>

/* ---- names ---------------------------------------------------------------------------------- */

bool tsdl_scope_open(struct tsdl *tsdl, struct tsdl_scope *scope)
{
    *scope = (struct tsdl_scope){ .outer = tsdl->scope, .id = tsdl->n_scopes };
    if (tsdl->n_scopes == UINT32_MAX >> 2)
        return tsdl_fail(tsdl, "fewer scopes");
    tsdl->n_scopes++;
    tsdl->scope = scope;
    return true;
}

static uint64_t key_of(const struct tsdl_scope *scope, enum tsdl_space space, uint32_t name)
{
    return (uint64_t)scope->id << 34 | (uint64_t)space << 32 | name;
}

static bool type_put(struct tsdl *tsdl, enum tsdl_space space, struct weft_str name,
                     const struct ctf_class *class)
{
    uint32_t id;
    bool is_new;
    if (weft_strtab_intern(tsdl->names, name, &id, tsdl->err) != WEFT_OK)
        return false;
    const uint32_t index = weft_map_add(tsdl->types, key_of(tsdl->scope, space, id), &is_new);
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&tsdl->classes)))
        return tsdl_no_memory(tsdl);
    tsdl->classes.items[index] = class;
    return true;
}

static bool type_find(struct tsdl *tsdl, enum tsdl_space space, struct weft_str name,
                      const struct ctf_class **class)
{
    uint32_t id;
    if (weft_strtab_intern(tsdl->names, name, &id, tsdl->err) != WEFT_OK)
        return false;
    for (const struct tsdl_scope *scope = tsdl->scope; scope; scope = scope->outer) {
        const uint32_t index = weft_map_find(tsdl->types, key_of(scope, space, id));
        if (index == WEFT_MAP_NONE)
            continue;
        *class = tsdl->classes.items[index];
        return true;
    }
    (void)weft_fail_line(tsdl->err, WEFT_E_MALFORMED, tsdl->token.at_off, tsdl->token.line,
                         "expected a type, found \"%.*s\", which is not declared",
                         (int)(name.n_bytes < 64 ? name.n_bytes : 64), name.bytes);
    return false;
}

static bool is_specifier(const struct tsdl *tsdl)
{
    static const char *const words[] = { "unsigned", "signed", "long",     "short",
                                         "int",      "char",   "float",    "double",
                                         "void",     "_Bool",  "_Complex", "_Imaginary" };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (tsdl_is_name(tsdl, words[k]))
            return true;
    return false;
}

static bool name_add(struct tsdl *tsdl, struct weft_str word, char *text, size_t n_most,
                     size_t *n_text)
{
    if (word.n_bytes + 1 > n_most - *n_text)
        return tsdl_fail(tsdl, "a shorter name of a type");
    if (*n_text > 0)
        text[(*n_text)++] = ' ';
    memcpy(text + *n_text, word.bytes, word.n_bytes);
    *n_text += word.n_bytes;
    return true;
}

/* "uint8_t", "unsigned long", "char *": one name, or C's own words with a space between, and stars,
 * which are but part of the name. `const` says nothing here. */
static bool take_type_name(struct tsdl *tsdl, struct weft_str *name)
{
    char text[128];
    size_t n_text = 0;
    bool is_whole = false;
    for (; tsdl->token.kind == CTF_TOKEN_NAME || (n_text > 0 && tsdl_is_sign(tsdl, '*'));) {
        const bool is_star = tsdl_is_sign(tsdl, '*');
        const bool is_const = tsdl_is_name(tsdl, "const");
        if (!is_const && !is_star && !is_specifier(tsdl)) {
            if (n_text > 0)
                break;
            is_whole = true;
        } else if (!is_star && !is_const && is_whole) {
            break;
        }
        if (!is_const &&
            !name_add(tsdl, is_star ? WEFT_STR("*") : tsdl->token.text, text, sizeof text, &n_text))
            return false;
        if (!tsdl_next(tsdl))
            return false;
    }
    if (n_text == 0)
        return tsdl_fail(tsdl, "a type");
    *name = weft_arena_copy(tsdl->meta->arena, (struct weft_str){ text, n_text });
    return name->bytes || tsdl_no_memory(tsdl);
}

/* Pointers to types without a name mean nothing. */
static bool take_stars(struct tsdl *tsdl)
{
    while (tsdl_is_sign(tsdl, '*') || tsdl_is_name(tsdl, "const"))
        if (!tsdl_next(tsdl))
            return false;
    return true;
}

/* ---- attributes ----------------------------------------------------------------------------- */

static bool is_align(uint64_t align_bits)
{
    return align_bits > 0 && (align_bits & (align_bits - 1)) == 0 &&
           align_bits <= CTF_MAX_ALIGN_BITS;
}

static bool text_is(struct weft_str text, const char *word)
{
    return weft_str_equal(text, weft_str_of(word));
}

static bool set_order(struct tsdl *tsdl, const struct tsdl_value *value, struct ctf_class *class)
{
    if (text_is(value->text, "native"))
        class->order = CTF_ORDER_NATIVE;
    else if (text_is(value->text, "be") || text_is(value->text, "network"))
        class->order = CTF_ORDER_BIG;
    else if (text_is(value->text, "le"))
        class->order = CTF_ORDER_LITTLE;
    else
        return tsdl_fail(tsdl, "a byte order (native, network, be, le)");
    return true;
}

static bool set_base(struct tsdl *tsdl, const struct tsdl_value *value, struct ctf_class *class)
{
    static const struct {
        const char *name;
        uint8_t base;
    } bases[] = { { "decimal", 10 },     { "dec", 10 },   { "d", 10 },  { "i", 10 },
                  { "u", 10 },           { "octal", 8 },  { "oct", 8 }, { "o", 8 },
                  { "hexadecimal", 16 }, { "hex", 16 },   { "x", 16 },  { "X", 16 },
                  { "p", 16 },           { "binary", 2 }, { "bin", 2 }, { "b", 2 } };
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
        if (value->is_number ? value->number == bases[k].base
                             : text_is(value->text, bases[k].name)) {
            class->base = bases[k].base;
            return true;
        }
    return tsdl_fail(tsdl, "a base (2, 8, 10, 16)");
}

static bool is_true(const struct tsdl_value *value)
{
    return value->is_number ? value->number != 0
                            : text_is(value->text, "true") || text_is(value->text, "TRUE");
}

/* "clock.monotonic.value" */
static bool set_clock(struct tsdl *tsdl, const struct tsdl_value *value, struct ctf_class *class)
{
    if (value->path.n_words == 3 && text_is(value->path.words[0], "clock")) {
        class->clock = value->path.words[1];
        return true;
    }
    return value->path.n_words == 1 || value->is_string ||
           tsdl_fail(tsdl, "a clock (clock.NAME.value)");
}

static bool set_align(struct tsdl *tsdl, const struct tsdl_value *value, struct ctf_class *class)
{
    if (!value->is_number || !is_align(value->number))
        return tsdl_fail(tsdl, "an alignment that is a power of two, of at most 2^20 bits");
    class->align_bits = (uint32_t)value->number;
    return true;
}

static bool set_integer(struct tsdl *tsdl, struct weft_str key, const struct tsdl_value *value,
                        struct ctf_class *class)
{
    if (text_is(key, "signed"))
        class->is_signed = is_true(value);
    else if (text_is(key, "byte_order"))
        return set_order(tsdl, value, class);
    else if (text_is(key, "align"))
        return set_align(tsdl, value, class);
    else if (text_is(key, "base"))
        return set_base(tsdl, value, class);
    else if (text_is(key, "encoding"))
        class->is_text_element = !text_is(value->text, "none");
    else if (text_is(key, "map"))
        return set_clock(tsdl, value, class);
    else if (text_is(key, "size")) {
        if (!value->is_number || value->number < 1 || value->number > 64)
            return tsdl_fail(tsdl, "a size of 1 to 64 bits");
        class->n_bits = (uint8_t)value->number;
    }
    return true;
}

/* The sizes of mantissa and exponent are distinguished by `n_bits` while they are read. */
static bool set_float(struct tsdl *tsdl, struct weft_str key, const struct tsdl_value *value,
                      struct ctf_class *class)
{
    if (text_is(key, "byte_order"))
        return set_order(tsdl, value, class);
    if (text_is(key, "align"))
        return set_align(tsdl, value, class);
    if (text_is(key, "exp_dig") || text_is(key, "mant_dig")) {
        if (!value->is_number || value->number > 64)
            return tsdl_fail(tsdl, "a float of 32 or 64 bits");
        class->n_bits = (uint8_t)(class->n_bits + value->number);
    }
    return true;
}

typedef bool (*attribute_fn)(struct tsdl *tsdl, struct weft_str key, const struct tsdl_value *value,
                             struct ctf_class *class);

/* "{ key = value; ... }"; unknown keys are passed over. */
static bool take_attributes(struct tsdl *tsdl, attribute_fn set, struct ctf_class *class)
{
    if (!tsdl_take_sign(tsdl, '{'))
        return false;
    while (!tsdl_is_sign(tsdl, '}')) {
        struct weft_str key;
        struct tsdl_value value;
        if (!tsdl_take_name(tsdl, &key) || !tsdl_take_sign(tsdl, '=') ||
            !tsdl_take_value(tsdl, &value) || !set(tsdl, key, &value, class) ||
            !tsdl_take_sign(tsdl, ';'))
            return false;
    }
    return tsdl_next(tsdl);
}

/* ---- integers, floats, strings -------------------------------------------------------------- */

static uint32_t usual_align(unsigned n_bits)
{
    return n_bits % 8 == 0 ? 8 : 1;
}

static bool take_integer_type(struct tsdl *tsdl, struct ctf_class *class)
{
    class->kind = CTF_INTEGER;
    class->base = 10;
    if (!take_attributes(tsdl, set_integer, class))
        return false;
    if (class->n_bits == 0)
        return tsdl_fail(tsdl, "an integer with a size");
    if (class->align_bits == 0)
        class->align_bits = usual_align(class->n_bits);
    return true;
}

static bool take_float_type(struct tsdl *tsdl, struct ctf_class *class)
{
    class->kind = CTF_FLOAT;
    if (!take_attributes(tsdl, set_float, class))
        return false;
    if (class->n_bits != 32 && class->n_bits != 64)
        return tsdl_fail(tsdl, "a float of 32 or 64 bits");
    if (class->align_bits == 0)
        class->align_bits = 8;
    return true;
}

static bool set_nothing(struct tsdl *tsdl, struct weft_str key, const struct tsdl_value *value,
                        struct ctf_class *class)
{
    (void)tsdl, (void)key, (void)value, (void)class;
    return true;
}

static bool take_string_type(struct tsdl *tsdl, struct ctf_class *class)
{
    class->kind = CTF_STRING;
    class->align_bits = 8;
    class->n_char_bytes = 1;
    return !tsdl_is_sign(tsdl, '{') || take_attributes(tsdl, set_nothing, class);
}

/* ---- enumerations --------------------------------------------------------------------------- */

struct range_vec {
    struct ctf_range *items;
    size_t n, cap;
};

static bool take_label(struct tsdl *tsdl, struct weft_str *label)
{
    if (tsdl->token.kind != CTF_TOKEN_NAME && tsdl->token.kind != CTF_TOKEN_STRING)
        return tsdl_fail(tsdl, "a label");
    *label = tsdl->token.text;
    return tsdl_next(tsdl);
}

static bool take_range(struct tsdl *tsdl, uint64_t next, struct ctf_range *range)
{
    bool is_there;
    range->first = range->last = next;
    if (!take_label(tsdl, &range->label) || !tsdl_maybe_sign(tsdl, '=', &is_there))
        return false;
    if (!is_there)
        return true;
    if (!tsdl_take_integer(tsdl, &range->first))
        return false;
    range->last = range->first;
    if (tsdl->token.kind != CTF_TOKEN_DOTS)
        return true;
    return tsdl_next(tsdl) && tsdl_take_integer(tsdl, &range->last);
}

static bool take_ranges(struct tsdl *tsdl, struct range_vec *ranges)
{
    uint64_t next = 0;
    if (!tsdl_take_sign(tsdl, '{'))
        return false;
    while (!tsdl_is_sign(tsdl, '}')) {
        bool is_there;
        struct ctf_range *range = WEFT_VEC_PUSH(ranges);
        if (!range)
            return tsdl_no_memory(tsdl);
        if (!take_range(tsdl, next, range) || !tsdl_maybe_sign(tsdl, ',', &is_there))
            return false;
        next = range->last + 1;
        if (!is_there)
            break;
    }
    return tsdl_take_sign(tsdl, '}');
}

static bool enum_finish(struct tsdl *tsdl, const struct range_vec *ranges,
                        const struct ctf_class *container, struct ctf_class *class)
{
    struct ctf_range *copy = TSDL_NEW(tsdl, ranges->n, struct ctf_range);
    if (!copy)
        return false;
    *class = *container;
    class->is_enum = true;
    class->is_text_element = false;
    if (ranges->n)
        memcpy(copy, ranges->items, ranges->n * sizeof *copy);
    class->ranges = copy;
    class->n_ranges = (uint32_t)ranges->n;
    return true;
}

/* "{ A, B = 3, C = 5 ... 9 }" of integers like the container. */
static bool take_enum_body(struct tsdl *tsdl, const struct ctf_class *container,
                           struct ctf_class *class)
{
    struct range_vec ranges = { 0 };
    bool is_good = container->kind == CTF_INTEGER || tsdl_fail(tsdl, "an integer to enumerate");
    is_good = is_good && take_ranges(tsdl, &ranges) && enum_finish(tsdl, &ranges, container, class);
    WEFT_VEC_FINI(&ranges);
    return is_good;
}

static bool maybe_name(struct tsdl *tsdl, struct weft_str *name)
{
    *name = (struct weft_str){ 0 };
    return tsdl->token.kind != CTF_TOKEN_NAME || tsdl_take_name(tsdl, name);
}

static bool take_enum_type(struct tsdl *tsdl, const struct ctf_class **result)
{
    struct weft_str name;
    bool has_container;
    const struct ctf_class *container = NULL;
    if (!maybe_name(tsdl, &name) || !tsdl_maybe_sign(tsdl, ':', &has_container))
        return false;
    if (!has_container && !tsdl_is_sign(tsdl, '{'))
        return type_find(tsdl, TSDL_ENUMS, name, result);
    if (!(has_container ? tsdl_take_type(tsdl, &container)
                        : type_find(tsdl, TSDL_TYPES, WEFT_STR("int"), &container)))
        return false;
    struct ctf_class *class = TSDL_NEW(tsdl, 1, struct ctf_class);
    if (!class || !take_enum_body(tsdl, container, class))
        return false;
    *result = class;
    return name.n_bytes == 0 || type_put(tsdl, TSDL_ENUMS, name, class);
}

/* ---- fields --------------------------------------------------------------------------------- */

struct member_vec {
    struct ctf_member *items;
    size_t n, cap;
};

/* One pair of brackets, of which the last is the innermost: given by a number or by a field. */
struct bracket {
    uint64_t length;
    struct ctf_path *path; /* NULL: the length */
};

static bool take_bracket(struct tsdl *tsdl, struct bracket *bracket)
{
    *bracket = (struct bracket){ 0 };
    if (!tsdl_take_sign(tsdl, '['))
        return false;
    if (tsdl->token.kind == CTF_TOKEN_NUMBER) {
        bracket->length = tsdl->token.number;
        return tsdl_next(tsdl) && tsdl_take_sign(tsdl, ']');
    }
    bracket->path = TSDL_NEW(tsdl, 1, struct ctf_path);
    return bracket->path && tsdl_take_path(tsdl, bracket->path) && tsdl_take_sign(tsdl, ']');
}

static const struct ctf_class *array_of(struct tsdl *tsdl, const struct ctf_class *element,
                                        const struct bracket *bracket)
{
    struct ctf_class *class = TSDL_NEW(tsdl, 1, struct ctf_class);
    if (!class)
        return NULL;
    const bool is_text = element->kind == CTF_INTEGER && element->is_text_element &&
                         element->n_bits == 8 && element->align_bits == 8;
    *class = (struct ctf_class){ .kind = is_text ? CTF_TEXT : CTF_ARRAY,
                                 .n_char_bytes = 1,
                                 .align_bits = element->align_bits,
                                 .length = bracket->length,
                                 .path = bracket->path,
                                 .is_told = bracket->path != NULL,
                                 .element = element };
    return class;
}

/* What stands behind a type: "*name[4][len]", name and brackets each optional. */
static bool take_declarator(struct tsdl *tsdl, struct weft_str *name,
                            const struct ctf_class **class)
{
    struct bracket brackets[CTF_MAX_DEPTH];
    unsigned n_brackets = 0;
    if (!take_stars(tsdl) || !maybe_name(tsdl, name))
        return false;
    while (tsdl_is_sign(tsdl, '[')) {
        if (n_brackets == CTF_MAX_DEPTH)
            return tsdl_fail(tsdl, "fewer dimensions");
        if (!take_bracket(tsdl, &brackets[n_brackets++]))
            return false;
    }
    while (n_brackets > 0 && *class)
        *class = array_of(tsdl, *class, &brackets[--n_brackets]);
    return *class != NULL;
}

/* CTF 1.8.3, 7.3.2 of the text notation: one leading underscore of a name is not part of it. */
static struct weft_str shown_name(struct weft_str name)
{
    if (name.n_bytes > 0 && name.bytes[0] == '_')
        return (struct weft_str){ name.bytes + 1, name.n_bytes - 1 };
    return name;
}

static bool take_fields(struct tsdl *tsdl, struct member_vec *members)
{
    const struct ctf_class *type;
    bool has_more = true;
    if (!tsdl_take_type(tsdl, &type))
        return false;
    if (tsdl_is_sign(tsdl, ';')) /* a named type, but no field */
        return tsdl_next(tsdl);
    while (has_more) {
        struct ctf_member *member = WEFT_VEC_PUSH(members);
        if (!member)
            return tsdl_no_memory(tsdl);
        member->class = type;
        if (!take_declarator(tsdl, &member->given, &member->class))
            return false;
        if (member->given.n_bytes == 0)
            return tsdl_fail(tsdl, "the name of a field");
        member->name = shown_name(member->given);
        if (!tsdl_maybe_sign(tsdl, ',', &has_more))
            return false;
    }
    return tsdl_take_sign(tsdl, ';');
}

static bool take_members(struct tsdl *tsdl, struct ctf_class *class)
{
    struct member_vec members = { 0 };
    bool is_good = tsdl_take_sign(tsdl, '{');
    while (is_good && !tsdl_is_sign(tsdl, '}'))
        is_good =
            tsdl_is_declaration(tsdl) ? tsdl_take_declaration(tsdl) : take_fields(tsdl, &members);
    is_good = is_good && tsdl_next(tsdl);
    struct ctf_member *copy = is_good ? TSDL_NEW(tsdl, members.n, struct ctf_member) : NULL;
    if (copy && members.n)
        memcpy(copy, members.items, members.n * sizeof *copy);
    class->members = copy;
    class->n_members = (uint32_t)members.n;
    WEFT_VEC_FINI(&members);
    return copy != NULL;
}

/* The braces of a structure or variant are a scope. */
static bool take_scoped_members(struct tsdl *tsdl, struct ctf_class *class)
{
    const struct tsdl_scope *outer = tsdl->scope;
    struct tsdl_scope scope;
    const bool is_good = tsdl_scope_open(tsdl, &scope) && take_members(tsdl, class);
    tsdl->scope = outer;
    return is_good;
}

/* "align(32)"; a structure is aligned like the strictest of its members, too. */
static bool maybe_align(struct tsdl *tsdl, struct ctf_class *class)
{
    struct tsdl_value value = { .is_number = true };
    class->align_bits = 1;
    if (tsdl_is_name(tsdl, "align") &&
        !(tsdl_next(tsdl) && tsdl_take_sign(tsdl, '(') && tsdl_take_integer(tsdl, &value.number) &&
          set_align(tsdl, &value, class) && tsdl_take_sign(tsdl, ')')))
        return false;
    for (uint32_t k = 0; k < class->n_members; k++)
        if (class->members[k].class->align_bits > class->align_bits)
            class->align_bits = class->members[k].class->align_bits;
    return true;
}

static bool take_struct_type(struct tsdl *tsdl, const struct ctf_class **result)
{
    struct weft_str name;
    if (!maybe_name(tsdl, &name))
        return false;
    if (!tsdl_is_sign(tsdl, '{'))
        return type_find(tsdl, TSDL_STRUCTS, name, result);
    struct ctf_class *class = TSDL_NEW(tsdl, 1, struct ctf_class);
    if (!class)
        return false;
    class->kind = CTF_STRUCT;
    if (!take_scoped_members(tsdl, class) || !maybe_align(tsdl, class))
        return false;
    *result = class;
    return name.n_bytes == 0 || type_put(tsdl, TSDL_STRUCTS, name, class);
}

static bool maybe_tag(struct tsdl *tsdl, struct ctf_path **path)
{
    bool is_there;
    if (!tsdl_maybe_sign(tsdl, '<', &is_there))
        return false;
    if (!is_there)
        return true;
    *path = TSDL_NEW(tsdl, 1, struct ctf_path);
    return *path && tsdl_take_path(tsdl, *path) && tsdl_take_sign(tsdl, '>');
}

/* "variant name <tag> { ... }": a named one may get its tag where it is used. */
static bool take_variant_type(struct tsdl *tsdl, const struct ctf_class **result)
{
    struct weft_str name;
    struct ctf_path *path = NULL;
    const struct ctf_class *known = NULL;
    if (!maybe_name(tsdl, &name) || !maybe_tag(tsdl, &path))
        return false;
    const bool has_body = tsdl_is_sign(tsdl, '{');
    if (!has_body && !type_find(tsdl, TSDL_VARIANTS, name, &known))
        return false;
    struct ctf_class *class = TSDL_NEW(tsdl, 1, struct ctf_class);
    if (!class)
        return false;
    *class = known ? *known : (struct ctf_class){ .kind = CTF_VARIANT, .align_bits = 1 };
    if (has_body && !take_scoped_members(tsdl, class))
        return false;
    if (path)
        class->path = path;
    *result = class;
    return !has_body || name.n_bytes == 0 || type_put(tsdl, TSDL_VARIANTS, name, class);
}

/* ---- any type ------------------------------------------------------------------------------- */

static bool take_plain_type(struct tsdl *tsdl, bool (*take)(struct tsdl *, struct ctf_class *),
                            const struct ctf_class **result)
{
    struct ctf_class *class = TSDL_NEW(tsdl, 1, struct ctf_class);
    *result = class;
    return class && take(tsdl, class);
}

static bool take_type_here(struct tsdl *tsdl, const struct ctf_class **class)
{
    static const struct {
        const char *word;
        bool (*plain)(struct tsdl *tsdl, struct ctf_class *class);
        bool (*take)(struct tsdl *tsdl, const struct ctf_class **class);
    } kinds[] = {
        { "integer", take_integer_type, NULL }, { "floating_point", take_float_type, NULL },
        { "string", take_string_type, NULL },   { "enum", NULL, take_enum_type },
        { "struct", NULL, take_struct_type },   { "variant", NULL, take_variant_type },
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (tsdl_is_name(tsdl, kinds[k].word)) {
            if (!tsdl_next(tsdl))
                return false;
            return kinds[k].take ? kinds[k].take(tsdl, class)
                                 : take_plain_type(tsdl, kinds[k].plain, class);
        }
    struct weft_str name;
    return take_type_name(tsdl, &name) && type_find(tsdl, TSDL_TYPES, name, class);
}

bool tsdl_take_type(struct tsdl *tsdl, const struct ctf_class **class)
{
    while (tsdl_is_name(tsdl, "const"))
        if (!tsdl_next(tsdl))
            return false;
    if (++tsdl->depth > CTF_MAX_DEPTH) {
        (void)weft_fail_line(tsdl->err, WEFT_E_LIMIT, tsdl->token.at_off, tsdl->token.line,
                             "expected types nested at most %d deep", CTF_MAX_DEPTH);
        return false;
    }
    const bool is_good = take_type_here(tsdl, class);
    tsdl->depth--;
    return is_good;
}

/* ---- declarations --------------------------------------------------------------------------- */

/* "typealias integer { ... } := uint8_t;" */
static bool take_typealias(struct tsdl *tsdl)
{
    const struct ctf_class *class;
    struct weft_str name;
    if (!tsdl_next(tsdl) || !tsdl_take_type(tsdl, &class) || !take_declarator(tsdl, &name, &class))
        return false;
    if (tsdl->token.kind != CTF_TOKEN_ASSIGN)
        return tsdl_fail(tsdl, "\":=\"");
    return tsdl_next(tsdl) && take_type_name(tsdl, &name) &&
           type_put(tsdl, TSDL_TYPES, name, class) && tsdl_take_sign(tsdl, ';');
}

/* "typedef integer { ... } uint8_t, bytes[4];" */
static bool take_typedef(struct tsdl *tsdl)
{
    const struct ctf_class *type;
    bool has_more = true;
    if (!tsdl_next(tsdl) || !tsdl_take_type(tsdl, &type))
        return false;
    while (has_more) {
        const struct ctf_class *class = type;
        struct weft_str name;
        if (!take_declarator(tsdl, &name, &class) || !type_put(tsdl, TSDL_TYPES, name, class) ||
            !tsdl_maybe_sign(tsdl, ',', &has_more))
            return false;
    }
    return tsdl_take_sign(tsdl, ';');
}

bool tsdl_is_declaration(const struct tsdl *tsdl)
{
    return tsdl_is_name(tsdl, "typealias") || tsdl_is_name(tsdl, "typedef");
}

bool tsdl_take_declaration(struct tsdl *tsdl)
{
    return tsdl_is_name(tsdl, "typealias") ? take_typealias(tsdl) : take_typedef(tsdl);
}
