/* SPDX-License-Identifier: MIT
 *
 * Parses format descriptions into fields, and compiles the few fields that the converter needs into
 * steps, so that reading a record compares offsets and loads numbers. Data outside the record reads
 * as absent. perf.data, trace.dat and the recorder's perf events share it.
 */
#include "kernel/format.h"

#include "base/vec.h"
#include "kernel/bytes.h"
#include "kernel/words.h"

#include <stdlib.h>

bool kernel_formats_init(struct kernel_formats *formats)
{
    *formats = (struct kernel_formats){ .arena = weft_arena_new(0),
                                        .of_id = weft_map_new(),
                                        .long_bytes = 8 };
    return formats->arena && formats->of_id;
}

void kernel_formats_fini(struct kernel_formats *formats)
{
    weft_arena_free(formats->arena);
    weft_map_free(formats->of_id);
    WEFT_VEC_FINI(formats);
}

/* ---- the text of a format ---------------------------------------------------------------------
 */

/* Where `word` stands in `text`; its length if nowhere. */
static size_t find(struct weft_str text, const char *word)
{
    const size_t at = kernel_find(text, word);
    return at == SIZE_MAX ? text.n_bytes : at;
}

static bool has(struct weft_str text, const char *word)
{
    return find(text, word) < text.n_bytes;
}

/* Takes the next line. */
static struct weft_str take_line(struct weft_str *text)
{
    const size_t n_line = find(*text, "\n");
    const struct weft_str line = { text->bytes, n_line };
    *text = kernel_from(*text, n_line < text->n_bytes ? n_line + 1 : n_line);
    return line;
}

/* The decimal number behind `label`, as in "offset:8;"; 0 without one. */
static uint32_t number_after(struct weft_str line, const char *label)
{
    const size_t at = find(line, label);
    uint64_t number = 0;
    for (size_t k = at + strlen(label); at < line.n_bytes && k < line.n_bytes; k++) {
        if (line.bytes[k] == ' ' && number == 0)
            continue;
        if (line.bytes[k] < '0' || line.bytes[k] > '9' || number > UINT32_MAX / 16)
            break;
        number = number * 10 + (uint64_t)(line.bytes[k] - '0');
    }
    return (uint32_t)number;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '*';
}

static struct weft_str trim(struct weft_str text)
{
    while (text.n_bytes && is_blank(text.bytes[0]))
        text = kernel_from(text, 1);
    while (text.n_bytes && is_blank(text.bytes[text.n_bytes - 1]))
        text.n_bytes--;
    return text;
}

/* Splits "unsigned long args[6]" into type, name, and what is in the brackets. */
static void split(struct weft_str line, struct weft_str *type, struct weft_str *name,
                  struct weft_str *brackets)
{
    struct weft_str front = trim(line);
    *brackets = (struct weft_str){ 0 };
    if (front.n_bytes && front.bytes[front.n_bytes - 1] == ']') {
        const size_t at = find(front, "[");
        *brackets = (struct weft_str){ front.bytes + at, front.n_bytes - at };
        front = trim((struct weft_str){ front.bytes, at });
    }
    size_t at = front.n_bytes;
    while (at > 0 && !is_blank(front.bytes[at - 1]) && front.bytes[at - 1] != ']')
        at--;
    *name = kernel_from(front, at);
    *type = (struct weft_str){ front.bytes, at };
}

/* Bytes of one element, by the words of its type. */
static uint8_t bytes_of_type(struct weft_str type, uint8_t long_bytes)
{
    static const struct {
        const char *word;
        uint8_t n_bytes;
    } words[] = { { "char", 1 }, { "8", 1 },         { "bool", 1 }, { "short", 2 },
                  { "16", 2 },   { "long long", 8 }, { "64", 8 },   { "32", 4 } };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (has(type, words[k].word))
            return words[k].n_bytes;
    return has(type, "long") || has(type, "*") ? long_bytes : has(type, "int") ? 4 : 1;
}

static void shape(const struct kernel_formats *formats, struct weft_str type,
                  struct weft_str brackets, struct kernel_format_field *field)
{
    const bool is_array = brackets.n_bytes > 0 || has(type, "[");
    if (has(type, "__data_loc "))
        field->place = KERNEL_PLACE_DATA_LOC;
    else if (has(type, "__rel_loc "))
        field->place = KERNEL_PLACE_REL_LOC;
    else if (is_array && field->n_bytes == 0)
        field->place = KERNEL_PLACE_REST;
    if (!is_array && field->place == KERNEL_PLACE_FIXED)
        return;
    const uint32_t count = number_after(brackets, "[");
    field->is_text = has(type, "char") && !has(type, "unsigned") && !has(type, "*");
    field->element_bytes = bytes_of_type(type, formats->long_bytes);
    if (field->place == KERNEL_PLACE_FIXED && count && field->n_bytes % count == 0 &&
        field->n_bytes / count <= 8)
        field->element_bytes = (uint8_t)(field->n_bytes / count);
}

/* "	field:char prev_comm[16];	offset:8;	size:16;	signed:0;" */
static bool parse_field(const struct kernel_formats *formats, struct weft_str line,
                        struct kernel_format_field *field)
{
    const size_t at = find(line, "field:");
    if (at == line.n_bytes)
        return false;
    const struct weft_str behind = kernel_from(line, at + strlen("field:"));
    const size_t n_decl = find(behind, ";");
    const struct weft_str rest = kernel_from(behind, n_decl);
    struct weft_str type;
    struct weft_str brackets;
    *field = (struct kernel_format_field){ .offset = number_after(rest, "offset:"),
                                           .n_bytes = number_after(rest, "size:"),
                                           .is_signed = number_after(rest, "signed:") != 0 };
    split((struct weft_str){ behind.bytes, n_decl }, &type, &field->name, &brackets);
    shape(formats, type, brackets, field);
    return field->name.n_bytes > 0;
}

static size_t count_fields(struct weft_str text)
{
    size_t n_fields = 0;
    while (text.n_bytes > 0)
        n_fields += has(take_line(&text), "field:");
    return n_fields < KERNEL_MOST_FORMAT_FIELDS ? n_fields : KERNEL_MOST_FORMAT_FIELDS;
}

/* ---- formats ----------------------------------------------------------------------------------
 */

static void parse_fields(const struct kernel_formats *formats, struct weft_str text,
                         struct kernel_format_field *fields, size_t n_most,
                         struct kernel_format *format)
{
    while (text.n_bytes > 0 && format->n_fields < n_most) {
        struct kernel_format_field *field = &fields[format->n_fields];
        if (!parse_field(formats, take_line(&text), field))
            continue;
        format->n_fields++;
        if (weft_str_begins(field->name, "common_"))
            format->first_own = format->n_fields;
        if (weft_str_equal(field->name, WEFT_STR("common_pid")))
            format->pid = field;
    }
    format->fields = fields;
}

static enum kernel_field_kind kind_of(const struct kernel_format_field *field)
{
    if (field->is_text)
        return KERNEL_FIELD_TEXT;
    if (field->element_bytes)
        return KERNEL_FIELD_ARRAY;
    return field->n_bytes <= 8 ? KERNEL_FIELD_NUMBER : KERNEL_FIELD_OTHER;
}

/* Which fields are read, and how. */
static void steps_make(struct kernel_format *format, bool is_survey)
{
    const unsigned needed = kernel_fields_needed(format->known.meaning, is_survey);
    for (unsigned k = 0; k < KERNEL_FIELDS; k++) {
        if (format->known.fields[k] == KERNEL_NO_FIELD || !(needed >> k & 1))
            continue;
        const struct kernel_format_field *field = &format->fields[format->known.fields[k]];
        const bool is_fixed =
            field->place == KERNEL_PLACE_FIXED && field->offset <= UINT32_MAX - field->n_bytes;
        format->steps[is_survey][format->n_steps[is_survey]++] = (struct kernel_format_step){
            .offset = field->offset,
            .end = field->offset + field->n_bytes,
            .field = (uint8_t)k,
            .is_number = is_fixed && !field->is_text && field->element_bytes == 0,
            .is_text = is_fixed && field->is_text,
            .is_signed = field->is_signed,
        };
    }
}

/* What is known of the event. False without memory. */
static bool look_up(struct kernel_format *format)
{
    struct kernel_field *fields = calloc((size_t)format->n_fields + 1, sizeof *fields);
    if (!fields)
        return false;
    for (uint32_t k = 0; k < format->n_fields; k++)
        fields[k] = (struct kernel_field){ .name = format->fields[k].name,
                                           .kind = kind_of(&format->fields[k]) };
    const struct kernel_class class = {
        .name = format->name, .fields = fields, .n_fields = format->n_fields, .is_kernel = true
    };
    kernel_known_make(&class, &format->known);
    free(fields);
    steps_make(format, false);
    steps_make(format, true);
    return true;
}

static struct weft_str full_name(struct weft_arena *arena, struct weft_str system,
                                 struct weft_str name)
{
    const size_t n_bytes = system.n_bytes + 1 + name.n_bytes;
    char *bytes = WEFT_ARENA_NEW(arena, n_bytes + 1, char);
    if (!bytes)
        return (struct weft_str){ 0 };
    memcpy(bytes, system.bytes, system.n_bytes);
    bytes[system.n_bytes] = ':';
    memcpy(bytes + system.n_bytes + 1, name.bytes, name.n_bytes);
    return (struct weft_str){ bytes, n_bytes };
}

static bool add(struct kernel_formats *formats, struct weft_str system, struct weft_str name,
                uint32_t id, struct weft_str text)
{
    bool is_new;
    const uint32_t index = weft_map_add(formats->of_id, id, &is_new);
    if (index == WEFT_MAP_NONE || !is_new)
        return index != WEFT_MAP_NONE;
    struct kernel_format **place = WEFT_VEC_PUSH(formats);
    const size_t n_fields = count_fields(text);
    struct kernel_format *format = WEFT_ARENA_NEW(formats->arena, 1, struct kernel_format);
    struct kernel_format_field *fields =
        WEFT_ARENA_NEW(formats->arena, n_fields, struct kernel_format_field);
    if (!place || !format || !fields)
        return false;
    *place = format;
    format->id = id;
    format->name = full_name(formats->arena, system, name);
    parse_fields(formats, text, fields, n_fields, format);
    return format->name.bytes && look_up(format);
}

enum weft_code kernel_formats_add(struct kernel_formats *formats, struct weft_str system,
                                  struct weft_str text, bool *is_good, struct weft_err *err)
{
    struct weft_str rest = text;
    struct weft_str name = { 0 };
    uint32_t id = 0;
    while (rest.n_bytes > 0 && !(name.n_bytes && id)) {
        const struct weft_str line = take_line(&rest);
        if (weft_str_begins(line, "name:"))
            name = trim(kernel_from(line, strlen("name:")));
        else if (weft_str_begins(line, "ID:"))
            id = number_after(line, "ID:");
    }
    *is_good = name.n_bytes > 0 && id > 0;
    if (!*is_good)
        return WEFT_OK;
    if (formats->n >= KERNEL_MOST_FORMATS)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "more than %d formats of events",
                         KERNEL_MOST_FORMATS);
    return add(formats, system, name, id, rest) ? WEFT_OK
                                                : weft_no_memory(err, "formats of events");
}

bool kernel_field_in(struct weft_str text, struct weft_str name, uint32_t *offset,
                     uint32_t *n_bytes)
{
    const struct kernel_formats plain = { .long_bytes = 8 };
    struct kernel_format_field field;
    while (text.n_bytes > 0) {
        if (!parse_field(&plain, take_line(&text), &field) || !weft_str_equal(field.name, name))
            continue;
        *offset = field.offset;
        *n_bytes = field.n_bytes;
        return true;
    }
    return false;
}

enum weft_code kernel_formats_name(struct kernel_formats *formats, struct weft_strtab *names,
                                   struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < formats->n; k++) {
        struct kernel_known *known = &formats->items[k]->known;
        code = weft_strtab_intern(names, known->name, &known->name_id, err);
    }
    return code;
}

/* ---- records ----------------------------------------------------------------------------------
 */

static inline uint64_t load(const uint8_t *bytes, size_t n_bytes, bool is_big, bool is_signed)
{
    switch (n_bytes) {
    case 1:
        return is_signed ? (uint64_t)(int64_t)(int8_t)*bytes : *bytes;
    case 2: {
        const uint16_t number = kernel_load_u16(bytes, is_big);
        return is_signed ? (uint64_t)(int64_t)(int16_t)number : number;
    }
    case 4: {
        const uint32_t number = kernel_load_u32(bytes, is_big);
        return is_signed ? (uint64_t)(int64_t)(int32_t)number : number;
    }
    case 8:
        return kernel_load_u64(bytes, is_big);
    default:
        return 0;
    }
}

/* Where the field's data lie; NULL: not in the record. */
static const uint8_t *data_of(const struct kernel_formats *formats,
                              const struct kernel_format_field *field,
                              const struct kernel_record *record, size_t *n_bytes)
{
    uint64_t at = field->offset;
    uint64_t n_data = field->n_bytes;
    if (!record->bytes || at > record->n_bytes || n_data > record->n_bytes - at)
        return NULL;
    if (field->place == KERNEL_PLACE_REST)
        n_data = record->n_bytes - at;
    if (field->place >= KERNEL_PLACE_DATA_LOC) {
        if (n_data < 4)
            return NULL;
        const uint32_t where = kernel_load_u32(record->bytes + at, formats->is_big);
        at = field->place == KERNEL_PLACE_REL_LOC ? at + 4 + (where & 0xffff) : where & 0xffff;
        n_data = where >> 16;
        if (at > record->n_bytes || n_data > record->n_bytes - at)
            return NULL;
    }
    *n_bytes = (size_t)n_data;
    return record->bytes + at;
}

uint64_t kernel_field_number(const struct kernel_formats *formats,
                             const struct kernel_format_field *field,
                             const struct kernel_record *record)
{
    size_t n_bytes;
    const uint8_t *bytes =
        field->element_bytes == 0 ? data_of(formats, field, record, &n_bytes) : NULL;
    return bytes ? load(bytes, n_bytes, formats->is_big, field->is_signed) : 0;
}

/* The first numbers of an array: those of field `k` and the ones behind it that are absent. */
static void read_array(const struct kernel_formats *formats, const struct kernel_format *format,
                       size_t k, const uint8_t *bytes, size_t n_bytes, struct kernel_now *now)
{
    const uint32_t *fields = format->known.fields;
    const struct kernel_format_field *field = &format->fields[fields[k]];
    for (size_t at = 0, first = k; n_bytes - at >= field->element_bytes;
         at += field->element_bytes) {
        if (k == KERNEL_FIELDS || (k > first && fields[k] != KERNEL_NO_FIELD))
            return;
        now->numbers[k++] =
            load(bytes + at, field->element_bytes, formats->is_big, field->is_signed);
    }
}

/* A field at any place, of any kind. */
static void read_field(const struct kernel_formats *formats, const struct kernel_format *format,
                       size_t k, const struct kernel_record *record, struct kernel_now *now)
{
    const struct kernel_format_field *field = &format->fields[format->known.fields[k]];
    size_t n_bytes;
    const uint8_t *bytes = data_of(formats, field, record, &n_bytes);
    if (bytes && field->is_text)
        now->texts[k] = kernel_text_in(bytes, n_bytes);
    else if (bytes && field->element_bytes)
        read_array(formats, format, k, bytes, n_bytes, now);
    else if (bytes)
        now->numbers[k] = load(bytes, n_bytes, formats->is_big, field->is_signed);
}

void kernel_format_steps(const struct kernel_formats *formats, const struct kernel_format *format,
                         const struct kernel_record *record, bool is_survey, struct kernel_now *now)
{
    const struct kernel_format_step *step = format->steps[is_survey];
    const size_t n_record = record->bytes ? record->n_bytes : 0;
    for (unsigned left = format->n_steps[is_survey]; left > 0; left--, step++) {
        const size_t n_bytes = step->end - step->offset;
        if (!step->is_number && !step->is_text)
            read_field(formats, format, step->field, record, now);
        else if (step->end <= n_record && step->is_text)
            now->texts[step->field] = kernel_text_in(record->bytes + step->offset, n_bytes);
        else if (step->end <= n_record)
            now->numbers[step->field] =
                load(record->bytes + step->offset, n_bytes, formats->is_big, step->is_signed);
    }
}

static void put_array(const struct kernel_formats *formats, const struct kernel_format_field *field,
                      const uint8_t *bytes, size_t n_bytes, struct weft_json_text *text)
{
    weft_json_byte(text, '[');
    for (size_t at = 0; n_bytes - at >= field->element_bytes; at += field->element_bytes) {
        if (at)
            weft_json_byte(text, ',');
        weft_json_integer(text,
                          load(bytes + at, field->element_bytes, formats->is_big, field->is_signed),
                          field->is_signed);
    }
    weft_json_byte(text, ']');
}

static void put_field(const struct kernel_formats *formats, const struct kernel_format_field *field,
                      const struct kernel_record *record, struct weft_json_text *text)
{
    size_t n_bytes;
    const uint8_t *bytes = data_of(formats, field, record, &n_bytes);
    if (!bytes) {
        weft_json_put(text, "null", 4);
    } else if (field->is_text) {
        const struct weft_str shown = kernel_text_in(bytes, n_bytes);
        weft_json_string(text, shown.bytes, shown.n_bytes);
    } else if (field->element_bytes) {
        put_array(formats, field, bytes, n_bytes, text);
    } else if (n_bytes == 1 || n_bytes == 2 || n_bytes == 4 || n_bytes == 8) {
        weft_json_integer(text, load(bytes, n_bytes, formats->is_big, field->is_signed),
                          field->is_signed);
    } else { /* a structure */
        const struct kernel_format_field plain = { .element_bytes = 1 };
        put_array(formats, &plain, bytes, n_bytes, text);
    }
}

void kernel_format_json(const struct kernel_formats *formats, const struct kernel_format *format,
                        const struct kernel_record *record, struct weft_json_text *text)
{
    weft_json_reset(text);
    if (format->first_own == format->n_fields)
        return;
    for (uint32_t k = format->first_own; k < format->n_fields; k++) {
        const struct kernel_format_field *field = &format->fields[k];
        weft_json_byte(text, k == format->first_own ? '{' : ',');
        weft_json_string(text, field->name.bytes, field->name.n_bytes);
        weft_json_byte(text, ':');
        put_field(formats, field, record, text);
    }
    weft_json_byte(text, '}');
}
