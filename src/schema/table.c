/* SPDX-License-Identifier: MIT
 *
 * The value of a field: a member of the row, or what it stands for.
 */
#include "schema/table.h"

#include <math.h>
#include <string.h>

const char *weft_unit_name(enum weft_unit unit)
{
    static const char *const names[] = {
        [WEFT_UNIT_TEXT] = "text",   [WEFT_UNIT_ID] = "id",       [WEFT_UNIT_COUNT] = "count",
        [WEFT_UNIT_NS] = "ns",       [WEFT_UNIT_AT] = "at",       [WEFT_UNIT_BYTES] = "bytes",
        [WEFT_UNIT_SHARE] = "share", [WEFT_UNIT_RATIO] = "ratio", [WEFT_UNIT_BOOL] = "bool",
    };
    return names[unit];
}

WEFT_GET(weft_get_duration)
{
    cell->number = weft_member_number(row, WEFT_FROM_U64, field->arg) -
                   weft_member_number(row, WEFT_FROM_U64, field->offset);
}

static void read_text(const struct weft_field *field, const char *member, struct weft_cell *cell)
{
    const char *chars;
    if (field->from == WEFT_FROM_STR) {
        cell->text = *(const struct weft_str *)(const void *)member;
    } else {
        memcpy(&chars, member, sizeof chars);
        cell->text = chars ? weft_str_of(chars) : (struct weft_str){ 0 };
        cell->is_null = !chars;
    }
    cell->is_null |= field->zero_is_unknown && cell->text.n_bytes == 0;
}

static void read_real(const struct weft_field *field, const char *member, struct weft_cell *cell)
{
    memcpy(&cell->real, member, sizeof cell->real);
    cell->is_null = !isfinite(cell->real) || (field->zero_is_unknown && cell->real == 0);
}

/* What the thread or the function with this id is called. */
static void resolve(const struct weft_field *field, const struct weft_table_context *context,
                    uint32_t id, struct weft_cell *cell)
{
    switch (field->as) {
    case WEFT_AS_TID:
        cell->number = context->thread(context->trace, id)->tid;
        break;
    case WEFT_AS_THREAD:
        cell->text = context->thread(context->trace, id)->name;
        break;
    case WEFT_AS_HOST:
        cell->number = context->thread(context->trace, id)->host_id;
        break;
    case WEFT_AS_FUNCTION:
        cell->text = context->function(context->trace, id)->name;
        break;
    case WEFT_AS_FUNCTION_KEY:
        cell->number = context->function(context->trace, id)->key;
        break;
    case WEFT_AS_MODULE:
        cell->text = context->function(context->trace, id)->module;
        break;
    case WEFT_AS_ADDRESS:
        cell->number = context->function(context->trace, id)->address;
        cell->is_null = cell->number == 0;
        break;
    case WEFT_AS_NUMBER:
    case WEFT_AS_ID:
    case WEFT_AS_NAME:
    case WEFT_AS_FLAG:
    case WEFT_AS_PLACE:
        break;
    }
}

static void read_name(const struct weft_field *field, uint64_t value, struct weft_cell *cell)
{
    const char *name = field->name((unsigned)value);
    cell->is_null = !name;
    cell->text = name ? weft_str_of(name) : (struct weft_str){ 0 };
}

void weft_field_read(const struct weft_field *field, const struct weft_table_context *context,
                     const void *row, struct weft_cell *cell)
{
    if (field->as == WEFT_AS_PLACE) {
        cell->number = context->place;
        return;
    }
    if (field->from == WEFT_FROM_STR || field->from == WEFT_FROM_CHARS) {
        read_text(field, (const char *)row + field->offset, cell);
        return;
    }
    if (field->from == WEFT_FROM_F64) {
        read_real(field, (const char *)row + field->offset, cell);
        return;
    }
    const uint64_t value = weft_member_number(row, field->from, field->offset);
    cell->number = value;
    if (field->as == WEFT_AS_FLAG) {
        cell->number = (value & field->arg) != 0;
        return;
    }
    if (field->as == WEFT_AS_NAME)
        read_name(field, value, cell);
    else if (field->as != WEFT_AS_NUMBER && value == WEFT_ID_NONE)
        cell->is_null = true;
    else if (field->as != WEFT_AS_NUMBER)
        resolve(field, context, (uint32_t)value, cell);
    cell->is_null |= (field->zero_is_unknown && value == 0) ||
                     (field->from == WEFT_FROM_I32 && value > INT32_MAX);
}

void weft_field_cell(const struct weft_field *field, const struct weft_table_context *context,
                     const void *row, struct weft_cell *cell)
{
    if ((field->needs && !(context->known & field->needs)) ||
        (field->given.from != WEFT_FROM_NONE &&
         weft_member_number(row, field->given.from, field->given.offset) == 0)) {
        cell->is_null = true;
        return;
    }
    if (field->get)
        field->get(field, context, row, cell);
    else
        weft_field_read(field, context, row, cell);
    if (field->is_bad)
        cell->is_bad |= !cell->is_null && (cell->number != 0 || cell->real > 0);
}
