/* SPDX-License-Identifier: MIT
 *
 * Words and blocks of TSDL: trace, env, clock, stream, event.
 */
#include "ingest/ctf/tsdl.h"

#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- words ---------------------------------------------------------------------------------- */

bool tsdl_next(struct tsdl *tsdl)
{
    return ctf_lexer_next(&tsdl->lexer, &tsdl->token, tsdl->err) == WEFT_OK;
}

bool tsdl_fail(struct tsdl *tsdl, const char *expected)
{
    const struct ctf_token *token = &tsdl->token;
    const int n_shown = (int)(token->text.n_bytes < 64 ? token->text.n_bytes : 64);
    if (token->kind == CTF_TOKEN_END)
        (void)weft_fail_line(tsdl->err, WEFT_E_TRUNCATED, token->at_off, token->line,
                             "expected %s, found the end of the metadata", expected);
    else
        (void)weft_fail_line(tsdl->err, WEFT_E_MALFORMED, token->at_off, token->line,
                             "expected %s, found \"%.*s\"", expected, n_shown, token->text.bytes);
    return false;
}

bool tsdl_no_memory(struct tsdl *tsdl)
{
    (void)weft_no_memory(tsdl->err, "the metadata");
    return false;
}

void *tsdl_new(struct tsdl *tsdl, size_t count, size_t object_bytes)
{
    void *objects = weft_arena_alloc(tsdl->meta->arena, count, object_bytes);
    if (!objects)
        (void)tsdl_no_memory(tsdl);
    return objects;
}

bool tsdl_is_sign(const struct tsdl *tsdl, char sign)
{
    return tsdl->token.kind == CTF_TOKEN_SIGN && tsdl->token.sign == sign;
}

bool tsdl_is_name(const struct tsdl *tsdl, const char *name)
{
    return tsdl->token.kind == CTF_TOKEN_NAME &&
           weft_str_equal(tsdl->token.text, weft_str_of(name));
}

bool tsdl_take_sign(struct tsdl *tsdl, char sign)
{
    const char expected[] = { '"', sign, '"', '\0' };
    return tsdl_is_sign(tsdl, sign) ? tsdl_next(tsdl) : tsdl_fail(tsdl, expected);
}

bool tsdl_maybe_sign(struct tsdl *tsdl, char sign, bool *is_there)
{
    *is_there = tsdl_is_sign(tsdl, sign);
    return !*is_there || tsdl_next(tsdl);
}

bool tsdl_take_name(struct tsdl *tsdl, struct weft_str *name)
{
    if (tsdl->token.kind != CTF_TOKEN_NAME)
        return tsdl_fail(tsdl, "a name");
    *name = tsdl->token.text;
    return tsdl_next(tsdl);
}

bool tsdl_take_integer(struct tsdl *tsdl, uint64_t *number)
{
    const bool is_minus = tsdl_is_sign(tsdl, '-');
    if ((is_minus || tsdl_is_sign(tsdl, '+')) && !tsdl_next(tsdl))
        return false;
    if (tsdl->token.kind != CTF_TOKEN_NUMBER)
        return tsdl_fail(tsdl, "an integer");
    *number = is_minus ? 0 - tsdl->token.number : tsdl->token.number;
    return tsdl_next(tsdl);
}

bool tsdl_take_path(struct tsdl *tsdl, struct ctf_path *path)
{
    *path = (struct ctf_path){ 0 };
    for (;;) {
        if (path->n_words == CTF_MAX_PATH_WORDS)
            return tsdl_fail(tsdl, "a shorter path");
        if (!tsdl_take_name(tsdl, &path->words[path->n_words++]))
            return false;
        if (!tsdl_is_sign(tsdl, '.') && tsdl->token.kind != CTF_TOKEN_ARROW)
            return true;
        if (!tsdl_next(tsdl))
            return false;
    }
}

bool tsdl_take_value(struct tsdl *tsdl, struct tsdl_value *value)
{
    *value = (struct tsdl_value){ 0 };
    if (tsdl->token.kind == CTF_TOKEN_STRING) {
        value->is_string = true;
        value->text = tsdl->token.text;
        return tsdl_next(tsdl);
    }
    if (tsdl->token.kind == CTF_TOKEN_NAME) {
        const struct weft_str first = tsdl->token.text;
        if (!tsdl_take_path(tsdl, &value->path))
            return false;
        const struct weft_str *last = &value->path.words[value->path.n_words - 1];
        value->text.bytes = first.bytes;
        value->text.n_bytes = (size_t)(last->bytes + last->n_bytes - first.bytes);
        return true;
    }
    value->is_number = true;
    return tsdl_take_integer(tsdl, &value->number);
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* What a block says, until its end; then it is put where it belongs. */
struct block {
    struct ctf_clock clock;
    uint64_t id, stream_id;
    bool has_id, has_stream_id;
    uint64_t major, minor;
    bool has_major, has_minor;
    struct weft_str name;
    const struct ctf_class *packet_header, *packet_context, *event_header, *context, *fields;
    const struct ctf_class *event_context;
};

static bool path_is(const struct ctf_path *path, const char *text)
{
    for (unsigned k = 0; k < path->n_words; k++) {
        const size_t n_bytes = path->words[k].n_bytes;
        if (strncmp(text, path->words[k].bytes, n_bytes) != 0)
            return false;
        text += n_bytes;
        if (k + 1 < path->n_words && *text++ != '.')
            return false;
    }
    return *text == '\0';
}

/* "PATH := type" */
static bool put_class(struct tsdl *tsdl, const struct ctf_path *path, struct block *block)
{
    const struct {
        const char *path;
        const struct ctf_class **place;
    } places[] = { { "packet.header", &block->packet_header },
                   { "packet.context", &block->packet_context },
                   { "event.header", &block->event_header },
                   { "event.context", &block->event_context },
                   { "context", &block->context },
                   { "fields", &block->fields } };
    const struct ctf_class *class;
    if (!tsdl_take_type(tsdl, &class))
        return false;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        if (path_is(path, places[k].path)) {
            if (class->kind != CTF_STRUCT)
                return tsdl_fail(tsdl, "a structure");
            *places[k].place = class;
            return true;
        }
    return true; /* what a later version may declare */
}

static bool put_number(struct tsdl *tsdl, const struct tsdl_value *value, uint64_t *place)
{
    *place = value->number;
    return value->is_number || tsdl_fail(tsdl, "a number");
}

static bool put_trace_value(struct tsdl *tsdl, const struct ctf_path *path,
                            const struct tsdl_value *value, struct block *block);

static unsigned hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return (unsigned)(byte - '0');
    byte = (char)(byte | 0x20);
    return byte >= 'a' && byte <= 'f' ? (unsigned)(byte - 'a') + 10 : 16;
}

static bool parse_uuid(struct weft_str text, uint8_t *uuid)
{
    unsigned n_digits = 0;
    memset(uuid, 0, 16);
    for (size_t k = 0; k < text.n_bytes; k++) {
        const unsigned digit = hex_digit(text.bytes[k]);
        if (text.bytes[k] == '-')
            continue;
        if (digit > 15 || n_digits == 32)
            return false;
        uuid[n_digits / 2] = (uint8_t)((unsigned)uuid[n_digits / 2] << 4 | digit);
        n_digits++;
    }
    return n_digits == 32;
}

static bool put_order(struct tsdl *tsdl, const struct tsdl_value *value)
{
    const bool is_little = weft_str_equal(value->text, WEFT_STR("le"));
    tsdl->meta->is_big = weft_str_equal(value->text, WEFT_STR("be")) ||
                         weft_str_equal(value->text, WEFT_STR("network"));
    tsdl->meta->has_order = true;
    return is_little || tsdl->meta->is_big || tsdl_fail(tsdl, "a byte order (be, le, network)");
}

static bool put_trace_value(struct tsdl *tsdl, const struct ctf_path *path,
                            const struct tsdl_value *value, struct block *block)
{
    if (path_is(path, "byte_order"))
        return put_order(tsdl, value);
    if (path_is(path, "uuid")) {
        tsdl->meta->has_uuid = true;
        return parse_uuid(value->text, tsdl->meta->uuid) || tsdl_fail(tsdl, "a UUID of 32 digits");
    }
    block->has_major |= path_is(path, "major");
    block->has_minor |= path_is(path, "minor");
    if (path_is(path, "major"))
        return put_number(tsdl, value, &block->major);
    return !path_is(path, "minor") || put_number(tsdl, value, &block->minor);
}

static bool put_clock_value(struct tsdl *tsdl, const struct ctf_path *path,
                            const struct tsdl_value *value, struct block *block)
{
    struct ctf_clock *clock = &block->clock;
    uint64_t number = 0;
    if (path_is(path, "name"))
        clock->name = value->text;
    else if (path_is(path, "description"))
        clock->description = value->text;
    else if (path_is(path, "freq"))
        return put_number(tsdl, value, &clock->frequency_hz);
    else if (path_is(path, "absolute"))
        clock->is_absolute = value->is_number ? value->number != 0
                                              : !weft_str_equal(value->text, WEFT_STR("false")) &&
                                                    !weft_str_equal(value->text, WEFT_STR("FALSE"));
    else if (path_is(path, "offset") || path_is(path, "offset_s")) {
        if (!put_number(tsdl, value, &number))
            return false;
        *(path_is(path, "offset") ? &clock->offset_cycles : &clock->offset_s) = (int64_t)number;
    }
    return true;
}

static bool put_stream_value(struct tsdl *tsdl, const struct ctf_path *path,
                             const struct tsdl_value *value, struct block *block)
{
    if (!path_is(path, "id"))
        return true;
    block->has_id = true;
    return put_number(tsdl, value, &block->id);
}

static bool put_event_value(struct tsdl *tsdl, const struct ctf_path *path,
                            const struct tsdl_value *value, struct block *block)
{
    if (path_is(path, "id"))
        return put_stream_value(tsdl, path, value, block);
    if (path_is(path, "stream_id")) {
        block->has_stream_id = true;
        return put_number(tsdl, value, &block->stream_id);
    }
    if (path_is(path, "name"))
        block->name = value->text;
    return true;
}

static bool put_env_value(struct tsdl *tsdl, const struct ctf_path *path,
                          const struct tsdl_value *value, struct block *block)
{
    (void)block;
    struct ctf_env *env = WEFT_VEC_PUSH(&tsdl->meta->env);
    if (!env)
        return tsdl_no_memory(tsdl);
    *env = (struct ctf_env){ .key = path->words[0], .value = value->text };
    if (!value->is_number)
        return true;
    char text[24];
    const int n_text = snprintf(text, sizeof text, "%" PRId64, (int64_t)value->number);
    env->value = weft_arena_copy(tsdl->meta->arena, (struct weft_str){ text, (size_t)n_text });
    return env->value.bytes || tsdl_no_memory(tsdl);
}

typedef bool (*put_fn)(struct tsdl *tsdl, const struct ctf_path *path,
                       const struct tsdl_value *value, struct block *block);

static bool take_statement(struct tsdl *tsdl, put_fn put, struct block *block)
{
    struct ctf_path path;
    struct tsdl_value value;
    if (tsdl_is_declaration(tsdl))
        return tsdl_take_declaration(tsdl);
    if (!tsdl_take_path(tsdl, &path))
        return false;
    if (tsdl->token.kind == CTF_TOKEN_ASSIGN)
        return tsdl_next(tsdl) && put_class(tsdl, &path, block) && tsdl_take_sign(tsdl, ';');
    return tsdl_take_sign(tsdl, '=') && tsdl_take_value(tsdl, &value) &&
           put(tsdl, &path, &value, block) && tsdl_take_sign(tsdl, ';');
}

/* ---- what a block becomes -------------------------------------------------------------------- */

static bool end_trace(struct tsdl *tsdl, const struct block *block)
{
    if (!tsdl->meta->has_order)
        return tsdl_fail(tsdl, "a byte order of the trace");
    if (!block->has_major || !block->has_minor)
        return tsdl_fail(tsdl, "version 1.8 of a trace");
    tsdl->meta->is_draft = block->major == 0;
    if (block->major != 0 && (block->major != 1 || block->minor != 8)) {
        (void)weft_fail_line(tsdl->err, WEFT_E_UNSUPPORTED, tsdl->token.at_off, tsdl->token.line,
                             "expected version 1.8 of a trace, found %" PRIu64 ".%" PRIu64,
                             block->major, block->minor);
        return false;
    }
    if (block->packet_header)
        tsdl->meta->packet_header = block->packet_header;
    return true;
}

static bool end_clock(struct tsdl *tsdl, const struct block *block)
{
    if (block->clock.name.n_bytes == 0)
        return tsdl_fail(tsdl, "a clock with a name");
    if (block->clock.frequency_hz == 0 || block->clock.frequency_hz > UINT64_C(1) << 63)
        return tsdl_fail(tsdl, "a frequency of a clock from 1 Hz to 2^63");
    struct ctf_clock *clock = WEFT_VEC_PUSH(&tsdl->meta->clocks);
    if (!clock)
        return tsdl_no_memory(tsdl);
    *clock = block->clock;
    return true;
}

static bool end_stream(struct tsdl *tsdl, const struct block *block)
{
    struct ctf_stream_class *stream = ctf_stream_add(tsdl->meta, block->id);
    if (!stream)
        return tsdl_no_memory(tsdl);
    stream->packet_context = block->packet_context;
    stream->event_header = block->event_header;
    stream->event_context = block->event_context;
    return true;
}

/* An event without a stream is of the only one, which need not be declared. */
static bool end_event(struct tsdl *tsdl, const struct block *block)
{
    uint64_t stream_id = block->stream_id;
    bool is_new;
    if (!block->has_stream_id && tsdl->meta->streams.n == 1)
        stream_id = tsdl->meta->streams.items[0].id;
    struct ctf_stream_class *stream = ctf_stream_add(tsdl->meta, stream_id);
    struct ctf_event_class *event =
        stream ? ctf_event_add(tsdl->meta, stream, block->id, &is_new) : NULL;
    if (!event)
        return tsdl_no_memory(tsdl);
    if (!is_new)
        return tsdl_fail(tsdl, "an event with a number of its own in its stream");
    event->name = block->name;
    event->context = block->context;
    event->fields = block->fields;
    return true;
}

static bool end_env(struct tsdl *tsdl, const struct block *block)
{
    (void)tsdl, (void)block;
    return true;
}

static bool take_block(struct tsdl *tsdl, put_fn put,
                       bool (*end)(struct tsdl *, const struct block *))
{
    struct block block = { .clock = { .frequency_hz = UINT64_C(1000000000), .is_absolute = true } };
    struct tsdl_scope scope;
    bool is_good = tsdl_next(tsdl) && tsdl_take_sign(tsdl, '{') && tsdl_scope_open(tsdl, &scope);
    while (is_good && !tsdl_is_sign(tsdl, '}'))
        is_good = take_statement(tsdl, put, &block);
    tsdl->scope = tsdl->scope ? tsdl->scope->outer : NULL;
    if (!is_good || !end(tsdl, &block) || !tsdl_next(tsdl))
        return false;
    bool is_there;
    return tsdl_maybe_sign(tsdl, ';', &is_there);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool take_top(struct tsdl *tsdl)
{
    static const struct {
        const char *word;
        put_fn put;
        bool (*end)(struct tsdl *tsdl, const struct block *block);
    } blocks[] = {
        { "trace", put_trace_value, end_trace }, { "env", put_env_value, end_env },
        { "clock", put_clock_value, end_clock }, { "stream", put_stream_value, end_stream },
        { "event", put_event_value, end_event }, { "callsite", put_event_value, end_env },
    };
    const struct ctf_class *class;
    bool is_there;
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        if (tsdl_is_name(tsdl, blocks[k].word))
            return take_block(tsdl, blocks[k].put, blocks[k].end);
    if (tsdl_is_declaration(tsdl))
        return tsdl_take_declaration(tsdl);
    if (tsdl_is_sign(tsdl, ';'))
        return tsdl_next(tsdl);
    return tsdl_take_type(tsdl, &class) && tsdl_maybe_sign(tsdl, ';', &is_there);
}

enum weft_code ctf_tsdl_parse(struct weft_str text, struct ctf_metadata *meta, struct weft_err *err)
{
    struct weft_err local = { 0 };
    struct tsdl tsdl = { .lexer = ctf_lexer_of(text, meta->arena),
                         .meta = meta,
                         .names = weft_strtab_new(),
                         .types = weft_map_new(),
                         .err = &local };
    struct tsdl_scope root;
    bool is_good = (tsdl.names && tsdl.types) || tsdl_no_memory(&tsdl);
    is_good = is_good && tsdl_scope_open(&tsdl, &root) && tsdl_next(&tsdl);
    while (is_good && tsdl.token.kind != CTF_TOKEN_END) {
        tsdl.scope = &root;
        is_good = take_top(&tsdl);
    }
    if (is_good && !meta->has_order)
        is_good = tsdl_fail(&tsdl, "a trace with a byte order");
    weft_strtab_free(tsdl.names);
    weft_map_free(tsdl.types);
    WEFT_VEC_FINI(&tsdl.classes);
    if (is_good)
        return WEFT_OK;
    if (err && err->code == WEFT_OK)
        *err = local;
    return local.code;
}
