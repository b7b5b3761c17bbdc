/* SPDX-License-Identifier: MIT
 *
 * Encodes events column by column as they come; a column is stored from its first value that is not
 * zero. Names and categories are interned for each block. It can also append a whole block to
 * another one (event_group.c), which translates indices of strings.
 */
#include "store/event_builder.h"

#include "base/checked.h"
#include "store/chunk.h"

#include <inttypes.h>

enum {
    BLOCK_BYTES = 256 << 10, /* names and payloads after which a block ends */
    FIRST_SLOT_BITS = 4,
};

struct weft_event_builder *weft_event_builder_new(uint32_t block_events)
{
    struct weft_event_builder *builder = calloc(1, sizeof *builder);
    if (builder)
        builder->block_events = block_events;
    return builder;
}

void weft_event_builder_free(struct weft_event_builder *builder)
{
    if (!builder)
        return;
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++)
        weft_bytes_fini(&builder->columns[i]);
    WEFT_VEC_FINI(&builder->strings);
    free(builder->slots);
    free(builder);
}

static void block_reset(struct weft_event_builder *builder)
{
    struct weft_event_head *head = &builder->head;
    *head = (struct weft_event_head){ .thread_id = head->thread_id, .block = head->block };
    for (int i = 0; i < WEFT_EVENT_COLUMNS; i++)
        builder->columns[i].n = 0;
    if (builder->strings.n > 0)
        memset(builder->slots, 0, sizeof *builder->slots << builder->slot_bits);
    builder->strings.n = 0;
    memset(builder->previous_value, 0, sizeof builder->previous_value);
    memset(builder->previous_name, 0, sizeof builder->previous_name);
    builder->previous_category = 0;
}

void weft_event_builder_start(struct weft_event_builder *builder, uint32_t thread_id)
{
    builder->head = (struct weft_event_head){ .thread_id = thread_id };
    builder->drops = (struct weft_event_drops){ 0 };
    builder->n_events = 0;
    block_reset(builder);
}

void weft_event_builder_next_block(struct weft_event_builder *builder)
{
    builder->head.block++;
    builder->n_events += builder->head.n_events;
    block_reset(builder);
}

/* ---- strings -------------------------------------------------------------------------------- */

static bool is_string(const struct weft_event_builder *builder, uint32_t index,
                      struct weft_str text)
{
    const struct weft_event_string *known = &builder->strings.items[index];
    return known->n_bytes == text.n_bytes &&
           memcmp(builder->columns[WEFT_EVENT_COLUMN_STRINGS].items + known->off, text.bytes,
                  text.n_bytes) == 0;
}

static bool slots_grow(struct weft_event_builder *builder)
{
    const unsigned bits = builder->slots ? builder->slot_bits + 1 : FIRST_SLOT_BITS;
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    uint32_t *slots = calloc((size_t)mask + 1, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < builder->strings.n; i++) {
        uint32_t at = builder->strings.items[i].hash & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = i + 1;
    }
    free(builder->slots);
    builder->slots = slots;
    builder->slot_bits = bits;
    return true;
}

static bool string_add(struct weft_event_builder *builder, struct weft_str text, uint32_t hash)
{
    struct weft_bytes *column = &builder->columns[WEFT_EVENT_COLUMN_STRINGS];
    struct weft_event_string *string = WEFT_VEC_PUSH(&builder->strings);
    if (!string)
        return false;
    weft_bytes_put_str(column, text);
    *string = (struct weft_event_string){ .off = (uint32_t)(column->n - text.n_bytes),
                                          .n_bytes = (uint32_t)text.n_bytes,
                                          .hash = hash };
    return !column->has_failed;
}

/* Gives 1 + the index of a text, which is not empty, among the strings of the block. False without
 * memory. */
static bool string_find(struct weft_event_builder *builder, struct weft_str text, uint32_t *place)
{
    if ((builder->strings.n + 1) * 2 > (size_t)(builder->slots != NULL) << builder->slot_bits &&
        !slots_grow(builder))
        return false;
    const uint32_t hash = (uint32_t)weft_checksum(text.bytes, text.n_bytes);
    const uint32_t mask = (UINT32_C(1) << builder->slot_bits) - 1;
    uint32_t at = hash & mask;
    for (; builder->slots[at]; at = (at + 1) & mask) {
        const uint32_t index = builder->slots[at] - 1;
        if (builder->strings.items[index].hash != hash || !is_string(builder, index, text))
            continue;
        *place = index + 1;
        return true;
    }
    if (!string_add(builder, text, hash))
        return false;
    *place = builder->slots[at] = (uint32_t)builder->strings.n;
    return true;
}

/* The same, 0 for an empty text; `*place` holds a guess. */
static inline bool string_put(struct weft_event_builder *builder, struct weft_str text,
                              uint32_t *place)
{
    if (text.n_bytes == 0)
        *place = 0;
    else if (*place == 0 || !is_string(builder, *place - 1, text))
        return string_find(builder, text, place);
    return true;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* The first value that is not 0: those before it are stored now. */
__attribute__((noinline)) static void column_begin(struct weft_event_builder *builder,
                                                   struct weft_bytes *bytes)
{
    const uint32_t n_before = builder->head.n_events;
    if (!weft_bytes_reserve(bytes, n_before + WEFT_VARINT_BYTES))
        return;
    memset(bytes->items, 0, n_before);
    bytes->n = n_before;
}

/* Adds the value of one event. Nothing is stored while all are 0. */
static inline void column_put(struct weft_event_builder *builder, enum weft_event_column column,
                              uint64_t value)
{
    struct weft_bytes *bytes = &builder->columns[column];
    if (bytes->n == 0) {
        if (value == 0)
            return;
        column_begin(builder, bytes);
    }
    if (value < 0x80 && bytes->n < bytes->cap)
        bytes->items[bytes->n++] = (uint8_t)value;
    else
        weft_bytes_put_varint(bytes, value);
}

static uint64_t zigzag(uint64_t value)
{
    return value << 1 ^ (0 - (value >> 63));
}

static uint64_t value_code(struct weft_event_builder *builder, enum weft_event_kind kind,
                           uint64_t value)
{
    const uint64_t step = value - builder->previous_value[kind];
    switch (weft_event_value_code(kind)) {
    case WEFT_VALUE_RUNNING:
        builder->previous_value[kind] = value;
        return zigzag(step);
    case WEFT_VALUE_ROW:
        builder->previous_value[kind] = value;
        return step;
    case WEFT_VALUE_REVERSED:
        return __builtin_bswap64(value);
    case WEFT_VALUE_SIGNED:
        break;
    }
    return zigzag(value);
}

/* The summary; afterwards the event belongs to the block. */
static inline void head_count(struct weft_event_head *head, const struct weft_event *event)
{
    const uint64_t end_ns = event->time_ns + event->duration_ns;
    if (head->n_events == 0)
        head->first_ns = event->time_ns;
    head->first_ns = weft_min_u64(head->first_ns, event->time_ns);
    head->last_ns = weft_max_u64(head->last_ns, end_ns);
    head->counts[event->kind]++;
    head->kinds |= UINT32_C(1) << event->kind;
    head->n_events++;
}

static enum weft_code columns_put(struct weft_event_builder *builder,
                                  const struct weft_event *event, uint64_t value,
                                  struct weft_err *err)
{
    uint32_t *name = &builder->previous_name[event->kind];
    uint32_t *category = &builder->previous_category;
    if (!string_put(builder, event->name, name) || !string_put(builder, event->category, category))
        return weft_no_memory(err, "the events of a block");
    weft_bytes_put_u8(&builder->columns[WEFT_EVENT_COLUMN_KIND], (uint8_t)event->kind);
    column_put(builder, WEFT_EVENT_COLUMN_TIME, zigzag(event->time_ns - builder->previous_ns));
    column_put(builder, WEFT_EVENT_COLUMN_DURATION, event->duration_ns);
    column_put(builder, WEFT_EVENT_COLUMN_VALUE, value_code(builder, event->kind, value));
    column_put(builder, WEFT_EVENT_COLUMN_NAME, *name);
    column_put(builder, WEFT_EVENT_COLUMN_CATEGORY, *category);
    column_put(builder, WEFT_EVENT_COLUMN_LENGTH, event->payload.n_bytes);
    column_put(builder, WEFT_EVENT_COLUMN_THREAD, (uint32_t)(event->next_thread_id + 1));
    column_put(builder, WEFT_EVENT_COLUMN_OBJECT, (uint32_t)(event->object_id + 1));
    column_put(builder, WEFT_EVENT_COLUMN_STACK, (uint32_t)(event->stack_id + 1));
    column_put(builder, WEFT_EVENT_COLUMN_CPU, zigzag((uint64_t)((int64_t)event->cpu + 1)));
    column_put(builder, WEFT_EVENT_COLUMN_STATE, event->prev_state);
    if (event->payload.n_bytes > 0)
        weft_bytes_put(&builder->columns[WEFT_EVENT_COLUMN_PAYLOAD], event->payload.bytes,
                       event->payload.n_bytes);
    builder->previous_ns = event->time_ns;
    return WEFT_OK;
}

/* ---- one event ------------------------------------------------------------------------------ */

static void name_cut(struct weft_event_builder *builder, struct weft_str *name)
{
    if (name->n_bytes <= WEFT_FORMAT_MAX_NAME_BYTES)
        return;
    name->n_bytes = WEFT_FORMAT_MAX_NAME_BYTES;
    builder->drops.n_names++;
}

/* Omits what cannot be kept; false: all of it. */
static bool event_trim(struct weft_event_builder *builder, struct weft_event *event, uint64_t row)
{
    const bool is_args = event->kind == WEFT_EVENT_CALL_ARGS;
    if (is_args && row == UINT64_MAX) {
        builder->drops.n_args++;
        return false;
    }
    name_cut(builder, &event->name);
    name_cut(builder, &event->category);
    if (event->payload.n_bytes <= WEFT_FORMAT_MAX_PAYLOAD_BYTES)
        return true;
    event->payload = WEFT_STR("");
    builder->drops.n_payloads++;
    return !is_args;
}

static bool fits(const struct weft_event *event)
{
    return event->kind != WEFT_EVENT_CALL_ARGS &&
           event->name.n_bytes <= WEFT_FORMAT_MAX_NAME_BYTES &&
           event->category.n_bytes <= WEFT_FORMAT_MAX_NAME_BYTES &&
           event->payload.n_bytes <= WEFT_FORMAT_MAX_PAYLOAD_BYTES;
}

static bool is_full(const struct weft_event_builder *builder, const struct weft_event *event)
{
    const size_t n_bytes = builder->columns[WEFT_EVENT_COLUMN_STRINGS].n +
                           builder->columns[WEFT_EVENT_COLUMN_PAYLOAD].n + event->name.n_bytes +
                           event->category.n_bytes + event->payload.n_bytes;
    return builder->head.n_events == builder->block_events ||
           (builder->head.n_events > 0 && n_bytes > BLOCK_BYTES);
}

/* One that can be kept. */
static enum weft_code event_put(struct weft_event_builder *builder, const struct weft_event *event,
                                uint64_t row, const struct weft_event_flush *flush,
                                struct weft_err *err)
{
    struct weft_event_head *head = &builder->head;
    const bool is_args = event->kind == WEFT_EVENT_CALL_ARGS;
    if (is_full(builder, event)) {
        WEFT_TRY(flush->flush(flush->context, builder, err));
    }
    if (head->n_events == 0)
        head->base_ns = builder->previous_ns = event->time_ns;
    if (is_args) {
        if (head->counts[event->kind] == 0)
            head->first_row = builder->previous_value[event->kind] = row;
        head->last_row = row;
    }
    const enum weft_code code = columns_put(builder, event, is_args ? row : event->value, err);
    if (code == WEFT_OK)
        head_count(head, event);
    return code;
}

enum weft_code weft_event_builder_put(struct weft_event_builder *builder,
                                      const struct weft_event *event, uint64_t row,
                                      const struct weft_event_flush *flush, struct weft_err *err)
{
    if (event->time_ns > WEFT_FORMAT_MAX_NS ||
        event->duration_ns > WEFT_FORMAT_MAX_NS - event->time_ns)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "an event of %" PRIu64 " ns at %" PRIu64
                         " ns: times above 2^63 ns cannot be stored",
                         event->duration_ns, event->time_ns);
    if (fits(event))
        return event_put(builder, event, row, flush, err);
    struct weft_event trimmed = *event;
    return event_trim(builder, &trimmed, row) ? event_put(builder, &trimmed, row, flush, err)
                                              : WEFT_OK;
}

/* ---- all events of another block ------------------------------------------------------------ */

/* Bytes of one more run: columns that one of both omits get zeros. */
static void column_append(struct weft_event_builder *builder, enum weft_event_column column,
                          const struct weft_bytes *from, uint32_t n_events)
{
    struct weft_bytes *bytes = &builder->columns[column];
    if (from->n == 0 && bytes->n == 0)
        return;
    if (bytes->n == 0 && builder->head.n_events > 0)
        column_begin(builder, bytes);
    if (from->n > 0) {
        weft_bytes_put(bytes, from->items, from->n);
    } else if (weft_bytes_reserve(bytes, n_events)) {
        memset(bytes->items + bytes->n, 0, n_events);
        bytes->n += n_events;
    }
}

/* The strings of the other block, each with its place here once it is known. */
struct foreign_strings {
    struct foreign_string {
        struct weft_str text;
        uint32_t place; /* 0: not known yet */
    } * items;
    size_t n, cap;
};

static bool foreign_read(struct foreign_strings *strings, const struct weft_bytes *column)
{
    struct weft_cursor in = weft_cur_init(column->items, column->n, 0);
    while (weft_cur_left(&in) > 0 && !in.fault) {
        const size_t n_bytes = (size_t)weft_cur_varint(&in);
        const uint8_t *bytes = weft_cur_take(&in, n_bytes);
        struct foreign_string *string = WEFT_VEC_PUSH(strings);
        if (!string)
            return false;
        string->text = (struct weft_str){ (const char *)bytes, bytes ? n_bytes : 0 };
    }
    return true;
}

/* A column of indices of strings; the head does not count the run yet. */
static bool indices_append(struct weft_event_builder *builder, enum weft_event_column column,
                           const struct weft_bytes *from, uint32_t n_events,
                           struct foreign_strings *strings)
{
    struct weft_cursor in = weft_cur_init(from->items, from->n, 0);
    struct weft_bytes mapped = { 0 };
    bool has_memory = true;
    while (weft_cur_left(&in) > 0 && !in.fault && has_memory) {
        const uint64_t index = weft_cur_varint(&in);
        uint32_t place = 0;
        if (index > 0 && index <= strings->n) {
            struct foreign_string *string = &strings->items[index - 1];
            has_memory = string->place > 0 || string_put(builder, string->text, &string->place);
            place = string->place;
        }
        weft_bytes_put_varint(&mapped, place);
    }
    column_append(builder, column, &mapped, n_events);
    has_memory = has_memory && !mapped.has_failed;
    weft_bytes_fini(&mapped);
    return has_memory;
}

bool weft_event_builder_append(struct weft_event_builder *builder,
                               const struct weft_event_head *head, const struct weft_bytes *columns)
{
    struct foreign_strings strings = { 0 };
    bool has_memory = foreign_read(&strings, &columns[WEFT_EVENT_COLUMN_STRINGS]);
    for (int i = 0; i < WEFT_EVENT_COLUMNS && has_memory; i++) {
        if (i == WEFT_EVENT_COLUMN_NAME || i == WEFT_EVENT_COLUMN_CATEGORY)
            has_memory = indices_append(builder, (enum weft_event_column)i, &columns[i],
                                        head->n_events, &strings);
        else if (i == WEFT_EVENT_COLUMN_KIND || i == WEFT_EVENT_COLUMN_PAYLOAD)
            weft_bytes_put(&builder->columns[i], columns[i].items, columns[i].n);
        else if (i != WEFT_EVENT_COLUMN_STRINGS)
            column_append(builder, (enum weft_event_column)i, &columns[i], head->n_events);
        has_memory = has_memory && !builder->columns[i].has_failed && !columns[i].has_failed;
    }
    WEFT_VEC_FINI(&strings);
    builder->head.n_events += head->n_events;
    builder->head.kinds |= head->kinds;
    return has_memory;
}
