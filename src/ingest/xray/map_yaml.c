/* SPDX-License-Identifier: MIT
 *
 * Function maps as `llvm-xray extract` writes them: one YAML list of mappings, one a sled, with at
 * least the keys `id` and `function`, and `function-name` when the program had a symbol.
 *
 * The shape is fixed: list, mapping, scalars. Anything deeper, and every alias, is refused, so
 * that neither depth nor size can grow beyond the input.
 */
#include "ingest/xray/map_build.h"

#include <inttypes.h>
#include <string.h>
#include <yaml.h>

enum { SHOWN_BYTES = 40 };

enum field { FIELD_NONE, FIELD_OTHER, FIELD_ID, FIELD_FUNCTION, FIELD_NAME };

struct sled {
    uint64_t key, address;
    bool has_key, has_address;
    uint32_t name_id;
};

struct reader {
    struct weft_xray_map *map;
    yaml_parser_t parser;
    unsigned depth; /* 0 document, 1 list, 2 mapping */
    bool is_done;   /* the list is closed */
    enum field field;
    struct sled sled;
};

static enum weft_code fail_at(const yaml_mark_t *mark, struct weft_err *err, const char *expected,
                              const char *found)
{
    return weft_fail_line(err, WEFT_E_MALFORMED, mark->index, mark->line + 1,
                          "expected %s, found %s", expected, found);
}

static struct weft_str scalar_text(const yaml_event_t *event)
{
    return (struct weft_str){ .bytes = (const char *)event->data.scalar.value,
                              .n_bytes = event->data.scalar.length };
}

static enum field field_of(struct weft_str key)
{
    if (weft_str_equal(key, WEFT_STR("id")))
        return FIELD_ID;
    if (weft_str_equal(key, WEFT_STR("function")))
        return FIELD_FUNCTION;
    if (weft_str_equal(key, WEFT_STR("function-name")))
        return FIELD_NAME;
    return FIELD_OTHER;
}

static enum weft_code fail_number(const yaml_event_t *event, struct weft_str text,
                                  struct weft_err *err)
{
    char found[SHOWN_BYTES + 3];
    (void)snprintf(found, sizeof found, "\"%.*s\"",
                   text.n_bytes < SHOWN_BYTES ? (int)text.n_bytes : SHOWN_BYTES, text.bytes);
    return fail_at(&event->start_mark, err, "a number", found);
}

static enum weft_code take_value(struct reader *in, const yaml_event_t *event, struct weft_err *err)
{
    struct weft_str text = scalar_text(event);
    struct sled *sled = &in->sled;
    switch (in->field) {
    case FIELD_ID:
        if (!weft_xray_parse_number(text, &sled->key))
            return fail_number(event, text, err);
        if (sled->key == 0 || sled->key > WEFT_XRAY_MOST_KEY)
            return fail_at(&event->start_mark, err, "a function number from 1 to 2^28 - 1",
                           "one outside");
        sled->has_key = true;
        return WEFT_OK;
    case FIELD_FUNCTION:
        if (!weft_xray_parse_number(text, &sled->address))
            return fail_number(event, text, err);
        sled->has_address = true;
        return WEFT_OK;
    case FIELD_NAME:
        return weft_strtab_intern(in->map->names, text, &sled->name_id, err);
    case FIELD_NONE:
    case FIELD_OTHER:
        break;
    }
    return WEFT_OK;
}

static enum weft_code take_scalar(struct reader *in, const yaml_event_t *event,
                                  struct weft_err *err)
{
    if (in->depth != 2)
        return fail_at(&event->start_mark, err, "a list of sleds", "a scalar");
    if (in->field == FIELD_NONE) {
        in->field = field_of(scalar_text(event));
        return WEFT_OK;
    }
    enum weft_code code = take_value(in, event, err);
    in->field = FIELD_NONE;
    return code;
}

/* One entry a function is enough: sleds of a function follow each other. */
static enum weft_code end_sled(struct reader *in, const yaml_event_t *event, struct weft_err *err)
{
    const struct sled *sled = &in->sled;
    if (!sled->has_key || !sled->has_address)
        return fail_at(&event->end_mark, err, "a sled with id and function",
                       sled->has_key ? "no function" : "no id");
    size_t n_known = in->map->functions.n;
    if (n_known) {
        const struct weft_xray_function *last = &in->map->functions.items[n_known - 1];
        if (last->key == sled->key && last->address == sled->address)
            return WEFT_OK;
    }
    return weft_xray_map_add(in->map, (uint32_t)sled->key, sled->address,
                             weft_strtab_get(in->map->names, sled->name_id), err);
}

static enum weft_code take_event(struct reader *in, const yaml_event_t *event, struct weft_err *err)
{
    switch (event->type) {
    case YAML_SEQUENCE_START_EVENT:
        if (in->depth != 0 || in->is_done)
            return fail_at(&event->start_mark, err, "one list of sleds", "another list");
        in->depth = 1;
        return WEFT_OK;
    case YAML_SEQUENCE_END_EVENT:
        in->depth = 0;
        in->is_done = true;
        return WEFT_OK;
    case YAML_MAPPING_START_EVENT:
        if (in->depth != 1)
            return fail_at(&event->start_mark, err, "a list of flat mappings",
                           in->depth ? "a mapping in a mapping" : "a mapping");
        in->depth = 2;
        in->field = FIELD_NONE;
        in->sled = (struct sled){ 0 }; /* name 0 is the empty string */
        return WEFT_OK;
    case YAML_MAPPING_END_EVENT:
        in->depth = 1;
        return end_sled(in, event, err);
    case YAML_SCALAR_EVENT:
        return take_scalar(in, event, err);
    case YAML_ALIAS_EVENT:
        return fail_at(&event->start_mark, err, "plain values", "an alias");
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return WEFT_OK;
}

static enum weft_code fail_parser(const yaml_parser_t *parser, struct weft_err *err)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return weft_no_memory(err, "reading YAML");
    if (parser->error == YAML_READER_ERROR)
        return weft_fail(err, WEFT_E_MALFORMED, parser->problem_offset,
                         "expected YAML, found bytes that are no text (%s)", parser->problem);
    return fail_at(&parser->problem_mark, err, "YAML",
                   parser->problem ? parser->problem : "something else");
}

static enum weft_code read_events(struct reader *in, struct weft_err *err)
{
    for (bool is_end = false; !is_end;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&in->parser, &event))
            return fail_parser(&in->parser, err);
        enum weft_code code = take_event(in, &event, err);
        is_end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (code != WEFT_OK)
            return code;
    }
    return WEFT_OK;
}

enum weft_code weft_xray_map_read_yaml(struct weft_xray_map *map, const uint8_t *bytes,
                                       size_t n_bytes, struct weft_err *err)
{
    struct reader in = { .map = map };
    if (!yaml_parser_initialize(&in.parser))
        return weft_no_memory(err, "reading YAML");
    yaml_parser_set_input_string(&in.parser, bytes, n_bytes);
    enum weft_code code = read_events(&in, err);
    yaml_parser_delete(&in.parser);
    return code;
}
