/* SPDX-License-Identifier: MIT
 *
 * Fragments of CTF 2 (CTF2-SPEC-2.0, also its drafts of 2020 to 2023, which named some things
 * otherwise).
 */
#include "ingest/ctf/json.h"

#include "base/vec.h"
#include "ingest/ctf/json_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct parser {
    struct ctf_metadata *meta;
    const struct ctf_json *at; /* what an error is about */
    struct {
        struct alias {
            struct weft_str name;
            const struct ctf_class *class;
        } * items;
        size_t n, cap;
    } aliases;
    unsigned depth;
    struct weft_err *err;
};

static bool no_memory(struct parser *parser)
{
    (void)weft_no_memory(parser->err, "the metadata");
    return false;
}

static bool fail(struct parser *parser, const struct ctf_json *at, const char *expected)
{
    const struct ctf_json *place = at ? at : parser->at;
    (void)weft_fail(parser->err, WEFT_E_MALFORMED, place ? place->at_off : WEFT_NO_OFFSET,
                    "expected %s, found %s", expected, at ? "another value" : "none");
    return false;
}

#define PARSER_NEW(parser, count, type) WEFT_ARENA_NEW((parser)->meta->arena, (count), type)

/* ---- members -------------------------------------------------------------------------------- */

static struct weft_str text_of(const struct ctf_json *object, const char *key)
{
    const struct ctf_json *part = ctf_json_get(object, key);
    return part && part->kind == CTF_JSON_STRING ? part->text : (struct weft_str){ 0 };
}

static bool is_text(struct weft_str text, const char *word)
{
    return weft_str_equal(text, weft_str_of(word));
}

/* A number, or `otherwise` if the member is not there. */
static bool number_of(struct parser *parser, const struct ctf_json *object, const char *key,
                      uint64_t otherwise, uint64_t *number)
{
    const struct ctf_json *part = ctf_json_get(object, key);
    *number = otherwise;
    if (!part)
        return true;
    if (part->kind != CTF_JSON_INTEGER)
        return fail(parser, part, "an integer");
    *number = part->number;
    return true;
}

static bool align_of(struct parser *parser, const struct ctf_json *object, const char *key,
                     uint32_t *align_bits)
{
    uint64_t number;
    if (!number_of(parser, object, key, 1, &number))
        return false;
    if (number == 0 || (number & (number - 1)) != 0 || number > CTF_MAX_ALIGN_BITS)
        return fail(parser, ctf_json_get(object, key), "a power of two of at most 2^20 bits");
    *align_bits = (uint32_t)number;
    return true;
}

static size_t count_parts(const struct ctf_json *value)
{
    size_t n_parts = 0;
    for (const struct ctf_json *part = value ? value->first : NULL; part; part = part->next)
        n_parts++;
    return n_parts;
}

/* ---- locations ------------------------------------------------------------------------------ */

static uint8_t scope_named(struct weft_str name)
{
    static const char *const names[] = { "packet-header",
                                         "packet-context",
                                         "event-record-header",
                                         "event-record-common-context",
                                         "event-record-specific-context",
                                         "event-record-payload" };
    for (uint8_t k = 0; k < sizeof names / sizeof *names; k++)
        if (is_text(name, names[k]))
            return (uint8_t)(k + 1);
    return 0;
}

/* ["event-record-header", "id"] or { "origin": ..., "path": ["id"] }; null means a structure
 * around. */
static bool take_location(struct parser *parser, const struct ctf_json *object, const char *key,
                          const struct ctf_path **result)
{
    const struct ctf_json *location = ctf_json_get(object, key);
    const struct ctf_json *part = location ? location->first : NULL;
    struct ctf_path *path = PARSER_NEW(parser, 1, struct ctf_path);
    if (!path)
        return no_memory(parser);
    if (!location)
        return fail(parser, NULL, "the location of a field");
    if (location->kind == CTF_JSON_OBJECT) {
        path->scope = scope_named(text_of(location, "origin"));
        const struct ctf_json *words = ctf_json_get(location, "path");
        part = words ? words->first : NULL;
    } else if (part && part->kind == CTF_JSON_STRING && scope_named(part->text)) {
        path->scope = scope_named(part->text);
        part = part->next;
    }
    for (; part; part = part->next) {
        if (part->kind == CTF_JSON_NULL)
            continue;
        if (part->kind != CTF_JSON_STRING || path->n_words == CTF_MAX_PATH_WORDS)
            return fail(parser, part, "names of fields");
        path->words[path->n_words++] = part->text;
    }
    *result = path;
    return path->n_words > 0 || fail(parser, location, "names of fields");
}

/* ---- ranges --------------------------------------------------------------------------------- */

static bool take_range(struct parser *parser, const struct ctf_json *pair, struct ctf_range *range)
{
    const struct ctf_json *low = pair->kind == CTF_JSON_ARRAY ? pair->first : pair;
    const struct ctf_json *high = low && pair->kind == CTF_JSON_ARRAY ? low->next : low;
    if (!low || !high || low->kind != CTF_JSON_INTEGER || high->kind != CTF_JSON_INTEGER)
        return fail(parser, pair, "a range of integers");
    range->first = low->number;
    range->last = high->number;
    return true;
}

/* [[0, 3], [7, 7]] */
static bool take_ranges(struct parser *parser, const struct ctf_json *list, struct weft_str label,
                        struct ctf_range *ranges, uint32_t *n_ranges)
{
    for (const struct ctf_json *pair = list->first; pair; pair = pair->next) {
        struct ctf_range *range = &ranges[(*n_ranges)++];
        range->label = label;
        if (!take_range(parser, pair, range))
            return false;
    }
    return true;
}

static bool take_range_list(struct parser *parser, const struct ctf_json *list,
                            const struct ctf_range **result, uint32_t *n_ranges)
{
    struct ctf_range *ranges = PARSER_NEW(parser, count_parts(list), struct ctf_range);
    *result = ranges;
    *n_ranges = 0;
    return ranges ? !list || take_ranges(parser, list, WEFT_STR(""), ranges, n_ranges)
                  : no_memory(parser);
}

/* { "label": [[0, 3]], ... } */
static bool take_mappings(struct parser *parser, const struct ctf_json *mappings,
                          struct ctf_class *class)
{
    size_t n_most = 0;
    for (const struct ctf_json *part = mappings->first; part; part = part->next)
        n_most += count_parts(part);
    struct ctf_range *ranges = PARSER_NEW(parser, n_most, struct ctf_range);
    if (!ranges)
        return no_memory(parser);
    class->ranges = ranges;
    class->is_enum = true;
    for (const struct ctf_json *part = mappings->first; part; part = part->next)
        if (!take_ranges(parser, part, part->key, ranges, &class->n_ranges))
            return false;
    return true;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint8_t role;
} roles[] = {
    { "packet-magic-number", CTF_ROLE_MAGIC },
    { "metadata-stream-uuid", CTF_ROLE_UUID },
    { "data-stream-class-id", CTF_ROLE_STREAM_ID },
    { "data-stream-id", CTF_ROLE_STREAM_INSTANCE },
    { "packet-total-length", CTF_ROLE_PACKET_SIZE },
    { "packet-content-length", CTF_ROLE_CONTENT_SIZE },
    { "packet-end-default-clock-timestamp", CTF_ROLE_END },
    { "discarded-event-record-counter-snapshot", CTF_ROLE_DISCARDED },
    { "packet-sequence-number", CTF_ROLE_SEQUENCE },
    { "event-record-class-id", CTF_ROLE_EVENT_ID },
};

static void take_roles(const struct ctf_json *object, struct ctf_class *class)
{
    const struct ctf_json *list = ctf_json_get(object, "roles");
    for (const struct ctf_json *part = list ? list->first : NULL; part; part = part->next) {
        class->is_default_clock |= is_text(part->text, "default-clock-timestamp") ||
                                   is_text(part->text, "packet-end-default-clock-timestamp");
        for (size_t k = 0; k < sizeof roles / sizeof *roles; k++)
            if (is_text(part->text, roles[k].name))
                class->role = roles[k].role;
    }
}

static bool take_bits(struct parser *parser, const struct ctf_json *object, struct ctf_class *class)
{
    uint64_t n_bits;
    const struct weft_str order = text_of(object, "byte-order");
    const struct weft_str bits = text_of(object, "bit-order");
    const bool is_big = is_text(order, "big-endian");
    if (!number_of(parser, object, "length", 0, &n_bits) ||
        !align_of(parser, object, "alignment", &class->align_bits))
        return false;
    if (n_bits < 1 || n_bits > 64)
        return fail(parser, ctf_json_get(object, "length"), "a length of 1 to 64 bits");
    if (!is_big && !is_text(order, "little-endian"))
        return fail(parser, ctf_json_get(object, "byte-order"), "a byte order");
    if (bits.n_bytes && !is_text(bits, is_big ? "last-to-first" : "first-to-last")) {
        (void)weft_fail(parser->err, WEFT_E_UNSUPPORTED, object->at_off,
                        "expected the usual order of bits, found \"%.*s\"", (int)bits.n_bytes,
                        bits.bytes);
        return false;
    }
    class->n_bits = (uint8_t)n_bits;
    class->order = is_big ? CTF_ORDER_BIG : CTF_ORDER_LITTLE;
    return true;
}

static bool take_integer(struct parser *parser, const struct ctf_json *object, struct weft_str type,
                         struct ctf_class *class)
{
    const struct ctf_json *mappings = ctf_json_get(object, "mappings");
    const bool is_fixed = type.n_bytes > 5 && memcmp(type.bytes, "fixed", 5) == 0;
    uint64_t base;
    class->kind = is_fixed ? CTF_INTEGER : CTF_VARINT;
    class->align_bits = 8;
    class->is_signed = memmem(type.bytes, type.n_bytes, "-signed-", 8) != NULL;
    class->is_bool = is_text(type, "fixed-length-boolean");
    if (!number_of(parser, object, "preferred-display-base", 10, &base) ||
        (is_fixed && !take_bits(parser, object, class)))
        return false;
    class->base = base == 2 || base == 8 || base == 16 ? (uint8_t)base : 10;
    take_roles(object, class);
    return !mappings || mappings->kind != CTF_JSON_OBJECT ||
           is_text(type, "fixed-length-bit-map") || take_mappings(parser, mappings, class);
}

static bool take_float(struct parser *parser, const struct ctf_json *object, struct weft_str type,
                       struct ctf_class *class)
{
    (void)type;
    class->kind = CTF_FLOAT;
    if (!take_bits(parser, object, class))
        return false;
    return class->n_bits == 32 || class->n_bits == 64 ||
           fail(parser, ctf_json_get(object, "length"), "a float of 32 or 64 bits");
}

/* ---- strings, blobs ------------------------------------------------------------------------- */

static uint8_t char_bytes(const struct ctf_json *object)
{
    const struct weft_str encoding = text_of(object, "encoding");
    if (is_text(encoding, "utf-16be") || is_text(encoding, "utf-16le"))
        return 2;
    return is_text(encoding, "utf-32be") || is_text(encoding, "utf-32le") ? 4 : 1;
}

/* Strings and blobs: ended by NUL, of a fixed length, or of one in a field; lengths in bytes. */
static bool take_string(struct parser *parser, const struct ctf_json *object, struct weft_str type,
                        struct ctf_class *class)
{
    const bool is_blob = memmem(type.bytes, type.n_bytes, "blob", 4) != NULL;
    class->align_bits = 8;
    class->n_char_bytes = char_bytes(object);
    class->kind = is_text(type, "null-terminated-string") ? CTF_STRING
                  : is_blob                               ? CTF_BLOB
                                                          : CTF_TEXT;
    class->is_told = memmem(type.bytes, type.n_bytes, "dynamic", 7) != NULL;
    take_roles(object, class);
    if (class->is_told)
        return take_location(parser, object, "length-field-location", &class->path);
    return number_of(parser, object, "length", 0, &class->length);
}

/* ---- compounds ------------------------------------------------------------------------------ */

static bool take_class(struct parser *parser, const struct ctf_json *value,
                       const struct ctf_class **result);

static bool take_members(struct parser *parser, const struct ctf_json *list,
                         struct ctf_class *class)
{
    struct ctf_member *members = PARSER_NEW(parser, count_parts(list), struct ctf_member);
    if (!members)
        return no_memory(parser);
    class->members = members;
    for (const struct ctf_json *part = list ? list->first : NULL; part; part = part->next) {
        struct ctf_member *member = &members[class->n_members++];
        member->name = member->given = text_of(part, "name");
        if (!take_class(parser, ctf_json_get(part, "field-class"), &member->class))
            return false;
        const struct ctf_json *ranges = ctf_json_get(part, "selector-field-ranges");
        if (class->kind == CTF_VARIANT &&
            !take_range_list(parser, ranges, &member->ranges, &member->n_ranges))
            return false;
        if (class->kind == CTF_STRUCT && member->class->align_bits > class->align_bits)
            class->align_bits = member->class->align_bits;
    }
    return true;
}

static bool take_struct(struct parser *parser, const struct ctf_json *object, struct weft_str type,
                        struct ctf_class *class)
{
    (void)type;
    class->kind = CTF_STRUCT;
    return align_of(parser, object, "minimum-alignment", &class->align_bits) &&
           take_members(parser, ctf_json_get(object, "member-classes"), class);
}

static bool take_variant(struct parser *parser, const struct ctf_json *object, struct weft_str type,
                         struct ctf_class *class)
{
    (void)type;
    class->kind = CTF_VARIANT;
    class->align_bits = 1;
    return take_location(parser, object, "selector-field-location", &class->path) &&
           take_members(parser, ctf_json_get(object, "options"), class);
}

static bool take_optional(struct parser *parser, const struct ctf_json *object,
                          struct weft_str type, struct ctf_class *class)
{
    const struct ctf_json *ranges = ctf_json_get(object, "selector-field-ranges");
    (void)type;
    class->kind = CTF_OPTIONAL;
    class->align_bits = 1;
    return take_location(parser, object, "selector-field-location", &class->path) &&
           (!ranges || take_range_list(parser, ranges, &class->ranges, &class->n_ranges)) &&
           take_class(parser, ctf_json_get(object, "field-class"), &class->element);
}

static bool take_array(struct parser *parser, const struct ctf_json *object, struct weft_str type,
                       struct ctf_class *class)
{
    class->kind = CTF_ARRAY;
    class->is_told = is_text(type, "dynamic-length-array");
    if (!align_of(parser, object, "minimum-alignment", &class->align_bits) ||
        !take_class(parser, ctf_json_get(object, "element-field-class"), &class->element))
        return false;
    if (class->element->align_bits > class->align_bits)
        class->align_bits = class->element->align_bits;
    if (class->is_told)
        return take_location(parser, object, "length-field-location", &class->path);
    return number_of(parser, object, "length", 0, &class->length);
}

/* ---- any class ------------------------------------------------------------------------------ */

static bool take_alias(struct parser *parser, const struct ctf_json *value,
                       const struct ctf_class **result)
{
    for (size_t k = parser->aliases.n; k-- > 0;)
        if (weft_str_equal(parser->aliases.items[k].name, value->text)) {
            *result = parser->aliases.items[k].class;
            return true;
        }
    return fail(parser, value, "the name of a declared field class");
}

typedef bool (*take_fn)(struct parser *parser, const struct ctf_json *object, struct weft_str type,
                        struct ctf_class *class);

static take_fn taker_of(struct weft_str type)
{
    static const struct {
        const char *type;
        take_fn take;
    } types[] = {
        { "fixed-length-bit-array", take_integer },
        { "fixed-length-bit-map", take_integer },
        { "fixed-length-boolean", take_integer },
        { "fixed-length-unsigned-integer", take_integer },
        { "fixed-length-signed-integer", take_integer },
        { "fixed-length-unsigned-enumeration", take_integer },
        { "fixed-length-signed-enumeration", take_integer },
        { "variable-length-unsigned-integer", take_integer },
        { "variable-length-signed-integer", take_integer },
        { "variable-length-unsigned-enumeration", take_integer },
        { "variable-length-signed-enumeration", take_integer },
        { "fixed-length-floating-point-number", take_float },
        { "null-terminated-string", take_string },
        { "static-length-string", take_string },
        { "dynamic-length-string", take_string },
        { "static-length-blob", take_string },
        { "dynamic-length-blob", take_string },
        { "structure", take_struct },
        { "variant", take_variant },
        { "optional", take_optional },
        { "static-length-array", take_array },
        { "dynamic-length-array", take_array },
    };
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (is_text(type, types[k].type))
            return types[k].take;
    return NULL;
}

static bool take_class(struct parser *parser, const struct ctf_json *value,
                       const struct ctf_class **result)
{
    if (value && value->kind == CTF_JSON_STRING)
        return take_alias(parser, value, result);
    const take_fn take = taker_of(text_of(value, "type"));
    if (!take)
        return fail(parser, value, "a field class of a known type");
    if (parser->depth == CTF_MAX_DEPTH) {
        (void)weft_fail(parser->err, WEFT_E_LIMIT, value->at_off,
                        "expected classes nested at most %d deep", CTF_MAX_DEPTH);
        return false;
    }
    struct ctf_class *class = PARSER_NEW(parser, 1, struct ctf_class);
    if (!class)
        return no_memory(parser);
    *result = class;
    parser->depth++;
    const bool is_good = take(parser, value, text_of(value, "type"), class);
    parser->depth--;
    return is_good;
}

/* A structure that a fragment may have. */
static bool maybe_scope(struct parser *parser, const struct ctf_json *fragment, const char *key,
                        const struct ctf_class **place)
{
    const struct ctf_json *value = ctf_json_get(fragment, key);
    if (!value)
        return true;
    return take_class(parser, value, place) &&
           ((*place)->kind == CTF_STRUCT || fail(parser, value, "a structure"));
}

/* ---- fragments ------------------------------------------------------------------------------ */

static bool take_preamble(struct parser *parser, const struct ctf_json *fragment)
{
    uint64_t version;
    if (!number_of(parser, fragment, "version", 0, &version))
        return false;
    if (version == 2)
        return true;
    (void)weft_fail(parser->err, WEFT_E_UNSUPPORTED, fragment->at_off,
                    "expected CTF of version 2, found version %" PRIu64, version);
    return false;
}

static bool take_alias_fragment(struct parser *parser, const struct ctf_json *fragment)
{
    const struct ctf_class *class;
    if (!take_class(parser, ctf_json_get(fragment, "field-class"), &class))
        return false;
    struct alias *alias = WEFT_VEC_PUSH(&parser->aliases);
    if (!alias)
        return no_memory(parser);
    *alias = (struct alias){ .name = text_of(fragment, "name"), .class = class };
    return true;
}

static bool take_env(struct parser *parser, const struct ctf_json *list)
{
    for (const struct ctf_json *part = list ? list->first : NULL; part; part = part->next) {
        struct ctf_env *env = WEFT_VEC_PUSH(&parser->meta->env);
        if (!env)
            return no_memory(parser);
        *env = (struct ctf_env){ .key = part->key, .value = part->text };
    }
    return true;
}

static void take_uuid(struct parser *parser, const struct ctf_json *fragment)
{
    const struct ctf_json *list = ctf_json_get(fragment, "uuid");
    unsigned n_bytes = 0;
    for (const struct ctf_json *part = list ? list->first : NULL; part && n_bytes < 16;
         part = part->next)
        parser->meta->uuid[n_bytes++] = (uint8_t)part->number;
    parser->meta->has_uuid = n_bytes == 16;
}

static bool take_trace(struct parser *parser, const struct ctf_json *fragment)
{
    take_uuid(parser, fragment);
    return take_env(parser, ctf_json_get(fragment, "environment")) &&
           maybe_scope(parser, fragment, "packet-header-field-class", &parser->meta->packet_header);
}

static struct weft_str name_or_id(const struct ctf_json *object, const char *id, const char *name)
{
    const struct weft_str text = text_of(object, id);
    return text.n_bytes ? text : text_of(object, name);
}

static bool take_clock(struct parser *parser, const struct ctf_json *fragment)
{
    const struct ctf_json *offset = ctf_json_get(fragment, "offset-from-origin");
    const struct ctf_json *origin = ctf_json_get(fragment, "origin");
    uint64_t seconds;
    uint64_t cycles;
    struct ctf_clock *clock = WEFT_VEC_PUSH(&parser->meta->clocks);
    if (!clock)
        return no_memory(parser);
    clock->name = name_or_id(fragment, "id", "name");
    clock->description = text_of(fragment, "description");
    clock->is_absolute = !origin || is_text(origin->text, "unix-epoch");
    if (!number_of(parser, fragment, "frequency", 0, &clock->frequency_hz) ||
        !number_of(parser, offset, "seconds", 0, &seconds) ||
        !number_of(parser, offset, "cycles", 0, &cycles))
        return false;
    clock->offset_s = (int64_t)seconds;
    clock->offset_cycles = (int64_t)cycles;
    return (clock->frequency_hz > 0 && clock->frequency_hz <= UINT64_C(1) << 63) ||
           fail(parser, ctf_json_get(fragment, "frequency"), "a frequency from 1 Hz to 2^63");
}

static bool take_stream(struct parser *parser, const struct ctf_json *fragment)
{
    uint64_t id;
    if (!number_of(parser, fragment, "id", 0, &id))
        return false;
    struct ctf_stream_class *stream = ctf_stream_add(parser->meta, id);
    if (!stream)
        return no_memory(parser);
    stream->clock = name_or_id(fragment, "default-clock-class-id", "default-clock-class-name");
    if (stream->clock.n_bytes && !ctf_clock_find(parser->meta, stream->clock))
        return fail(parser, fragment, "a declared default clock");
    return maybe_scope(parser, fragment, "packet-context-field-class", &stream->packet_context) &&
           maybe_scope(parser, fragment, "event-record-header-field-class",
                       &stream->event_header) &&
           maybe_scope(parser, fragment, "event-record-common-context-field-class",
                       &stream->event_context);
}

static bool take_event(struct parser *parser, const struct ctf_json *fragment)
{
    uint64_t id;
    uint64_t stream_id;
    bool is_new;
    if (!number_of(parser, fragment, "id", 0, &id) ||
        !number_of(parser, fragment, "data-stream-class-id", 0, &stream_id))
        return false;
    if (!ctf_stream_find(parser->meta, stream_id))
        return fail(parser, fragment, "a data stream class before its events");
    struct ctf_stream_class *stream = ctf_stream_add(parser->meta, stream_id);
    struct ctf_event_class *event =
        stream ? ctf_event_add(parser->meta, stream, id, &is_new) : NULL;
    if (!event)
        return no_memory(parser);
    if (!is_new)
        return fail(parser, fragment, "an event with a number of its own in its stream");
    event->name = text_of(fragment, "name");
    return maybe_scope(parser, fragment, "specific-context-field-class", &event->context) &&
           maybe_scope(parser, fragment, "payload-field-class", &event->fields);
}

static bool take_fragment(struct parser *parser, const struct ctf_json *fragment)
{
    static const struct {
        const char *type;
        bool (*take)(struct parser *parser, const struct ctf_json *fragment);
    } fragments[] = {
        { "preamble", take_preamble },        { "field-class-alias", take_alias_fragment },
        { "trace-class", take_trace },        { "clock-class", take_clock },
        { "data-stream-class", take_stream }, { "event-record-class", take_event },
    };
    const struct weft_str type = text_of(fragment, "type");
    parser->at = fragment;
    for (size_t k = 0; k < sizeof fragments / sizeof *fragments; k++)
        if (is_text(type, fragments[k].type))
            return fragments[k].take(parser, fragment);
    return type.n_bytes > 0 || fail(parser, fragment, "a fragment with a type");
}

enum weft_code ctf_json_parse(struct weft_str text, struct ctf_metadata *meta, struct weft_err *err)
{
    struct weft_err local = { 0 };
    struct parser parser = { .meta = meta, .err = &local };
    struct ctf_json_reader reader = { .in = weft_json_reader_of(text.bytes, text.n_bytes),
                                      .arena = meta->arena };
    reader.in.is_strict = true;
    const struct ctf_json *fragment = NULL;
    bool is_good = true;
    meta->is_json = true;
    do
        is_good = ctf_json_next(&reader, &fragment, &local) == WEFT_OK &&
                  (!fragment || take_fragment(&parser, fragment));
    while (is_good && fragment);
    if (is_good && meta->streams.n == 0)
        is_good = fail(&parser, NULL, "a data stream class");
    WEFT_VEC_FINI(&parser.aliases);
    if (is_good)
        return WEFT_OK;
    if (err && err->code == WEFT_OK)
        *err = local;
    return local.code;
}
