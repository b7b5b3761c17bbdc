/* SPDX-License-Identifier: MIT
 *
 * Compiles field classes into operations. It resolves references (lengths, tags, clocks) by the
 * rules of both notations, assigns slots to values, and computes the least number of bits an array
 * element takes, by which the decoder limits its length. Metadata that refers to a field which is
 * not there is an error here, never later.
 */
#include "ingest/ctf/plan.h"

#include "base/vec.h"

#include <inttypes.h>
#include <string.h>

enum scope {
    PACKET_HEADER,
    PACKET_CONTEXT,
    EVENT_HEADER,
    EVENT_CONTEXT,
    OWN_CONTEXT,
    FIELDS,
    SCOPES
};

static const char *const scope_names[SCOPES] = { "packet header",        "packet context",
                                                 "event header",         "stream event context",
                                                 "context of the event", "fields of the event" };

/* TSDL's names of whole scopes. */
static const char *const scope_paths[SCOPES] = {
    "trace.packet.header",  "stream.packet.context", "stream.event.header",
    "stream.event.context", "event.context",         "event.fields",
};

enum { MOST_TABLE_IDS = 1 << 13 }; /* events with greater numbers are found by hashing */

struct maker {
    struct ctf_metadata *meta;
    struct {
        struct ctf_op *items;
        size_t n, cap;
    } ops; /* of the scope in work */
    const struct ctf_plan *scopes[SCOPES];
    enum scope scope;
    uint32_t open[CTF_MAX_DEPTH + 1]; /* operations whose parts are being made, outermost first */
    unsigned n_open;
    unsigned level;   /* of arrays around */
    uint32_t n_slots; /* of the frame in work */
    size_t n_all_ops;
    struct weft_str clock; /* of the stream, once known */
    struct weft_err *err;
};

static bool no_memory(struct maker *maker)
{
    (void)weft_no_memory(maker->err, "the metadata");
    return false;
}

#define SHOWN(text) (int)((text).n_bytes < 64 ? (text).n_bytes : 64), (text).bytes

/* ---- what a field means by its name ---------------------------------------------------------- */

static bool text_is(struct weft_str text, const char *word)
{
    return weft_str_equal(text, weft_str_of(word));
}

static uint8_t role_of(const struct maker *maker, const struct ctf_class *class,
                       struct weft_str name)
{
    static const struct {
        enum scope scope;
        const char *name;
        uint8_t role;
    } roles[] = {
        { PACKET_HEADER, "magic", CTF_ROLE_MAGIC },
        { PACKET_HEADER, "uuid", CTF_ROLE_UUID },
        { PACKET_HEADER, "stream_id", CTF_ROLE_STREAM_ID },
        { PACKET_HEADER, "stream_instance_id", CTF_ROLE_STREAM_INSTANCE },
        { PACKET_CONTEXT, "packet_size", CTF_ROLE_PACKET_SIZE },
        { PACKET_CONTEXT, "content_size", CTF_ROLE_CONTENT_SIZE },
        { PACKET_CONTEXT, "timestamp_begin", CTF_ROLE_BEGIN },
        { PACKET_CONTEXT, "timestamp_end", CTF_ROLE_END },
        { PACKET_CONTEXT, "events_discarded", CTF_ROLE_DISCARDED },
        { PACKET_CONTEXT, "packet_seq_num", CTF_ROLE_SEQUENCE },
        { EVENT_HEADER, "id", CTF_ROLE_EVENT_ID },
    };
    if (maker->meta->is_json)
        return class->is_default_clock && !class->role && maker->scope == PACKET_CONTEXT
                   ? CTF_ROLE_BEGIN
                   : class->role;
    if (maker->level > 0)
        return CTF_ROLE_NONE;
    if (maker->scope != EVENT_HEADER && maker->n_open > 1)
        return CTF_ROLE_NONE;
    for (size_t k = 0; k < sizeof roles / sizeof *roles; k++)
        if (roles[k].scope == maker->scope && text_is(name, roles[k].name))
            return roles[k].role;
    return CTF_ROLE_NONE;
}

/* Old tracers do not say which clock a time stamp shows: it is the only one. */
static bool is_bare_time(const struct maker *maker, struct weft_str name)
{
    return !maker->meta->is_json && maker->meta->clocks.n == 1 &&
           ((maker->scope == EVENT_HEADER && text_is(name, "timestamp")) ||
            (maker->scope == PACKET_CONTEXT &&
             (text_is(name, "timestamp_begin") || text_is(name, "timestamp_end"))));
}

/* The clock that an integer shows; empty: none. */
static struct weft_str clock_of(const struct maker *maker, const struct ctf_class *class,
                                struct weft_str name)
{
    if (class->is_default_clock)
        return maker->clock;
    if (class->clock.n_bytes || !is_bare_time(maker, name))
        return class->clock;
    return maker->meta->clocks.items[0].name;
}

static bool clock_set(struct maker *maker, struct ctf_op *op)
{
    const struct weft_str name = clock_of(maker, op->class, op->name);
    if (name.n_bytes == 0)
        return true;
    if (!ctf_clock_find(maker->meta, name)) {
        (void)weft_fail(maker->err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                        "expected a declared clock, found \"%.*s\"", SHOWN(name));
        return false;
    }
    if (maker->clock.n_bytes == 0)
        maker->clock = name;
    op->is_clock = op->role != CTF_ROLE_END && weft_str_equal(maker->clock, name);
    return true;
}

/* ---- looking up fields ----------------------------------------------------------------------- */

/* The part of the structure `ops[at]` with this name, of those made so far. */
static const struct ctf_op *part_named(const struct ctf_op *ops, uint32_t n_ops, uint32_t at,
                                       struct weft_str name)
{
    const uint32_t end = ops[at].next ? ops[at].next : n_ops;
    for (uint32_t k = at + 1; k < end; k = ops[k].next ? ops[k].next : end)
        if (weft_str_equal(ops[k].given, name))
            return &ops[k];
    return NULL;
}

static const struct ctf_op *walk_words(const struct ctf_op *ops, uint32_t n_ops, uint32_t at,
                                       const struct weft_str *words, unsigned n_words)
{
    const struct ctf_op *op = &ops[at];
    for (unsigned k = 0; op && k < n_words; k++)
        op = op->kind == CTF_OP_STRUCT ? part_named(ops, n_ops, (uint32_t)(op - ops), words[k])
                                       : NULL;
    return op;
}

/* How many words of the path name the scope; 0: they do not. */
static unsigned words_of_scope(const struct ctf_path *path, const char *name)
{
    for (unsigned k = 0; k < path->n_words; k++) {
        const size_t n_bytes = path->words[k].n_bytes;
        if (strncmp(name, path->words[k].bytes, n_bytes) != 0)
            return 0;
        name += n_bytes;
        if (*name == '\0')
            return k + 1;
        if (*name++ != '.')
            return 0;
    }
    return 0;
}

static const struct ctf_op *find_in_scope(const struct maker *maker, enum scope scope,
                                          const struct weft_str *words, unsigned n_words)
{
    if (scope == maker->scope)
        return walk_words(maker->ops.items, (uint32_t)maker->ops.n, 0, words, n_words);
    const struct ctf_plan *plan = maker->scopes[scope];
    return plan && plan->n_ops ? walk_words(plan->ops, plan->n_ops, 0, words, n_words) : NULL;
}

/* From the innermost structure around outwards, then the scopes before, the latest first. */
static const struct ctf_op *find_nearby(const struct maker *maker, const struct ctf_path *path)
{
    for (unsigned k = maker->n_open; k-- > 0;) {
        const uint32_t at = maker->open[k];
        const struct ctf_op *op = NULL;
        if (maker->ops.items[at].kind == CTF_OP_STRUCT)
            op = walk_words(maker->ops.items, (uint32_t)maker->ops.n, at, path->words,
                            path->n_words);
        if (op)
            return op;
    }
    for (unsigned scope = maker->scope; scope-- > 0 && !maker->meta->is_json;) {
        const struct ctf_op *op =
            find_in_scope(maker, (enum scope)scope, path->words, path->n_words);
        if (op)
            return op;
    }
    return NULL;
}

static const struct ctf_op *find_field(const struct maker *maker, const struct ctf_path *path)
{
    if (path->scope > 0)
        return find_in_scope(maker, (enum scope)(path->scope - 1), path->words, path->n_words);
    for (int scope = 0; scope < SCOPES && !maker->meta->is_json; scope++) {
        const unsigned n_words = words_of_scope(path, scope_paths[scope]);
        if (n_words > 0)
            return find_in_scope(maker, (enum scope)scope, path->words + n_words,
                                 path->n_words - n_words);
    }
    return find_nearby(maker, path);
}

/* Resolves what a length, tag or selector means: an integer decoded before. */
static bool ref_set(struct maker *maker, const struct ctf_path *path, const char *what,
                    struct ctf_op *op, const struct ctf_op **target)
{
    *target = path ? find_field(maker, path) : NULL;
    const struct weft_str last =
        path && path->n_words ? path->words[path->n_words - 1] : WEFT_STR("nothing");
    const bool is_integer =
        *target && ((*target)->kind == CTF_OP_BYTES || (*target)->kind == CTF_OP_BITS ||
                    (*target)->kind == CTF_OP_VARINT);
    if (!is_integer) {
        (void)weft_fail(maker->err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                        "expected an integer before \"%.*s\" as its %s, found %s \"%.*s\"",
                        SHOWN(op->name), what, *target ? "another field" : "no field", SHOWN(last));
        return false;
    }
    op->ref_level = (*target)->level;
    op->ref_slot = (*target)->slot;
    op->is_ref_signed = (*target)->is_signed;
    return true;
}

static bool length_set(struct maker *maker, struct ctf_op *op)
{
    const struct ctf_op *target;
    op->length = op->class->length;
    if (!op->class->is_told)
        return true;
    op->is_told = true;
    if (!ref_set(maker, op->class->path, "length", op, &target))
        return false;
    if (!op->is_ref_signed)
        return true;
    (void)weft_fail(maker->err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                    "expected an unsigned length of \"%.*s\", found a signed integer",
                    SHOWN(op->name));
    return false;
}

/* ---- making operations ----------------------------------------------------------------------- */

static bool put_class(struct maker *maker, const struct ctf_class *class, struct weft_str name,
                      struct weft_str given, uint64_t *least_bits);

/* An operation without its parts. Pointers to operations given earlier are no longer valid. */
static struct ctf_op *op_new(struct maker *maker, const struct ctf_class *class,
                             enum ctf_op_kind kind, struct weft_str name, struct weft_str given)
{
    if (maker->n_all_ops++ >= CTF_MOST_OPS) {
        (void)weft_fail(maker->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                        "expected at most %d fields in all classes", CTF_MOST_OPS);
        return NULL;
    }
    struct ctf_op *op = WEFT_VEC_PUSH(&maker->ops);
    if (!op) {
        (void)no_memory(maker);
        return NULL;
    }
    const bool is_big =
        class->order == CTF_ORDER_NATIVE ? maker->meta->is_big : class->order == CTF_ORDER_BIG;
    *op = (struct ctf_op){ .kind = (uint8_t)kind,
                           .n_bits = class->n_bits,
                           .is_big = is_big,
                           .is_signed = class->is_signed,
                           .level = (uint8_t)maker->level,
                           .align_mask = class->align_bits - 1,
                           .slot = kind == CTF_OP_STRUCT ? CTF_NO_SLOT : maker->n_slots,
                           .class = class,
                           .name = name,
                           .given = given };
    maker->n_slots += kind != CTF_OP_STRUCT;
    op->role = role_of(maker, class, name);
    return op;
}

static bool put_leaf(struct maker *maker, const struct ctf_class *class, struct weft_str name,
                     struct weft_str given, uint64_t *least_bits)
{
    enum ctf_op_kind kind = CTF_OP_TEXT;
    *least_bits = class->n_bits;
    if (class->kind == CTF_INTEGER) {
        const bool is_plain = class->align_bits >= 8 && class->n_bits >= 8 &&
                              (class->n_bits & (class->n_bits - 1)) == 0;
        kind = is_plain ? CTF_OP_BYTES : CTF_OP_BITS;
    } else if (class->kind == CTF_FLOAT) {
        kind = CTF_OP_FLOAT;
    } else if (class->kind == CTF_VARINT || class->kind == CTF_STRING) {
        kind = class->kind == CTF_VARINT ? CTF_OP_VARINT : CTF_OP_STRING;
        *least_bits = 8;
    }
    struct ctf_op *op = op_new(maker, class, kind, name, given);
    if (!op)
        return false;
    op->next = (uint32_t)maker->ops.n;
    if (kind == CTF_OP_TEXT) {
        *least_bits = class->is_told                   ? 0
                      : class->length < UINT64_MAX / 8 ? class->length * 8
                                                       : UINT64_MAX;
        return length_set(maker, op);
    }
    return kind == CTF_OP_FLOAT || kind == CTF_OP_STRING || clock_set(maker, op);
}

static bool open_op(struct maker *maker, uint32_t at)
{
    if (maker->n_open == CTF_MAX_DEPTH) {
        (void)weft_fail(maker->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                        "expected fields nested at most %d deep", CTF_MAX_DEPTH);
        return false;
    }
    maker->open[maker->n_open++] = at;
    return true;
}

static void close_op(struct maker *maker, uint32_t at)
{
    maker->n_open--;
    maker->ops.items[at].next = (uint32_t)maker->ops.n;
}

static bool put_struct(struct maker *maker, const struct ctf_class *class, struct weft_str name,
                       struct weft_str given, uint64_t *least_bits)
{
    const uint32_t at = (uint32_t)maker->ops.n;
    *least_bits = 0;
    if (!op_new(maker, class, CTF_OP_STRUCT, name, given) || !open_op(maker, at))
        return false;
    for (uint32_t k = 0; k < class->n_members; k++) {
        const struct ctf_member *member = &class->members[k];
        uint64_t bits;
        if (!put_class(maker, member->class, member->name, member->given, &bits))
            return false;
        if (__builtin_add_overflow(*least_bits, bits, least_bits))
            *least_bits = UINT64_MAX;
    }
    close_op(maker, at);
    return true;
}

/* The elements are a frame of their own. */
static bool put_array(struct maker *maker, const struct ctf_class *class, struct weft_str name,
                      struct weft_str given, uint64_t *least_bits)
{
    const uint32_t at = (uint32_t)maker->ops.n;
    const uint32_t n_slots = maker->n_slots + 1;
    uint64_t bits;
    struct ctf_op *op = op_new(maker, class, CTF_OP_ARRAY, name, given);
    if (!op || !length_set(maker, op) || !open_op(maker, at))
        return false;
    maker->level++;
    maker->n_slots = 0;
    if (!put_class(maker, class->element, WEFT_STR(""), WEFT_STR(""), &bits))
        return false;
    maker->level--;
    close_op(maker, at);
    op = &maker->ops.items[at];
    op->element_slots = maker->n_slots;
    op->element_bits = bits;
    maker->n_slots = n_slots;
    if (class->is_told || __builtin_mul_overflow(bits, class->length, least_bits))
        *least_bits = class->is_told ? 0 : UINT64_MAX;
    return true;
}

/* Which values of the tag choose this option: those of its labels of the same name. */
static const struct ctf_range *ranges_of(const struct ctf_member *member,
                                         const struct ctf_class *tag, uint32_t *n_ranges)
{
    if (member->ranges || !tag->ranges) {
        *n_ranges = member->n_ranges;
        return member->ranges;
    }
    *n_ranges = tag->n_ranges;
    return tag->ranges;
}

struct option_vec {
    struct ctf_option *items;
    size_t n, cap;
};

static bool options_add(struct maker *maker, const struct ctf_member *member,
                        const struct ctf_class *tag, uint32_t begin, struct option_vec *options)
{
    uint32_t n_ranges;
    const struct ctf_range *ranges = ranges_of(member, tag, &n_ranges);
    for (uint32_t k = 0; k < n_ranges; k++) {
        if (!member->ranges && !weft_str_equal(ranges[k].label, member->given) &&
            !weft_str_equal(ranges[k].label, member->name))
            continue;
        struct ctf_option *option = WEFT_VEC_PUSH(options);
        if (!option)
            return no_memory(maker);
        *option = (struct ctf_option){ .first = ranges[k].first,
                                       .last = ranges[k].last,
                                       .begin = begin,
                                       .end = (uint32_t)maker->ops.n };
    }
    return true;
}

static bool options_finish(struct maker *maker, uint32_t at, const struct option_vec *options)
{
    struct ctf_option *copy = WEFT_ARENA_NEW(maker->meta->arena, options->n, struct ctf_option);
    if (!copy)
        return no_memory(maker);
    if (options->n)
        memcpy(copy, options->items, options->n * sizeof *copy);
    maker->ops.items[at].options = copy;
    maker->ops.items[at].n_options = (uint32_t)options->n;
    return true;
}

static bool put_options(struct maker *maker, uint32_t at, const struct ctf_class *tag,
                        struct option_vec *options)
{
    const struct ctf_class *class = maker->ops.items[at].class;
    const uint32_t first_slot = maker->n_slots;
    uint32_t last_slot = first_slot;
    for (uint32_t k = 0; k < class->n_members; k++) {
        const struct ctf_member *member = &class->members[k];
        const uint32_t begin = (uint32_t)maker->ops.n;
        uint64_t bits;
        maker->n_slots = first_slot;
        if (!put_class(maker, member->class, member->name, member->given, &bits) ||
            !options_add(maker, member, tag, begin, options))
            return false;
        last_slot = maker->n_slots > last_slot ? maker->n_slots : last_slot;
    }
    maker->n_slots = last_slot;
    return options_finish(maker, at, options);
}

static bool put_variant(struct maker *maker, const struct ctf_class *class, struct weft_str name,
                        struct weft_str given, uint64_t *least_bits)
{
    const uint32_t at = (uint32_t)maker->ops.n;
    const struct ctf_op *tag;
    struct option_vec options = { 0 };
    *least_bits = 0;
    struct ctf_op *op = op_new(maker, class, CTF_OP_VARIANT, name, given);
    if (!op || !ref_set(maker, class->path, "tag", op, &tag))
        return false;
    if (!maker->meta->is_json && !tag->class->is_enum) {
        (void)weft_fail(maker->err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                        "expected an enumeration as tag of \"%.*s\", found an integer",
                        SHOWN(name));
        return false;
    }
    const struct ctf_class *tag_class = tag->class;
    bool is_good = open_op(maker, at) && put_options(maker, at, tag_class, &options);
    if (is_good)
        close_op(maker, at);
    WEFT_VEC_FINI(&options);
    return is_good;
}

/* Without ranges the selector is a truth value. */
static bool put_optional(struct maker *maker, const struct ctf_class *class, struct weft_str name,
                         struct weft_str given, uint64_t *least_bits)
{
    const uint32_t at = (uint32_t)maker->ops.n;
    const struct ctf_op *selector;
    const struct ctf_range truth = { .first = 1, .last = UINT64_MAX };
    struct option_vec options = { 0 };
    struct ctf_member member = { .ranges = class->ranges, .n_ranges = class->n_ranges };
    uint64_t bits;
    *least_bits = 0;
    struct ctf_op *op = op_new(maker, class, CTF_OP_OPTIONAL, name, given);
    if (!op || !ref_set(maker, class->path, "selector", op, &selector) || !open_op(maker, at))
        return false;
    const struct ctf_class *selector_class = selector->class;
    if (!class->ranges) {
        maker->ops.items[at].is_ref_signed = false;
        member.ranges = &truth;
        member.n_ranges = 1;
    }
    bool is_good = put_class(maker, class->element, WEFT_STR(""), WEFT_STR(""), &bits) &&
                   options_add(maker, &member, selector_class, at + 1, &options) &&
                   options_finish(maker, at, &options);
    if (is_good)
        close_op(maker, at);
    WEFT_VEC_FINI(&options);
    return is_good;
}

static bool put_class(struct maker *maker, const struct ctf_class *class, struct weft_str name,
                      struct weft_str given, uint64_t *least_bits)
{
    switch ((enum ctf_kind) class->kind) {
    case CTF_STRUCT:
        return put_struct(maker, class, name, given, least_bits);
    case CTF_ARRAY:
        return put_array(maker, class, name, given, least_bits);
    case CTF_VARIANT:
        return put_variant(maker, class, name, given, least_bits);
    case CTF_OPTIONAL:
        return put_optional(maker, class, name, given, least_bits);
    case CTF_INTEGER:
    case CTF_VARINT:
    case CTF_FLOAT:
    case CTF_STRING:
    case CTF_TEXT:
    case CTF_BLOB:
        break;
    }
    return put_leaf(maker, class, name, given, least_bits);
}

/* ---- scopes, streams, traces ----------------------------------------------------------------- */

static bool make_scope(struct maker *maker, enum scope scope, const struct ctf_class *class,
                       struct ctf_plan *plan)
{
    uint64_t bits;
    maker->scope = scope;
    maker->scopes[scope] = plan;
    maker->ops.n = 0;
    maker->n_open = maker->level = 0;
    *plan = (struct ctf_plan){ 0 };
    if (!class)
        return true;
    if (!put_class(maker, class, WEFT_STR(""), WEFT_STR(""), &bits)) {
        (void)weft_within(maker->err, "%s", scope_names[scope]);
        return false;
    }
    plan->ops = WEFT_ARENA_NEW(maker->meta->arena, maker->ops.n, struct ctf_op);
    if (!plan->ops)
        return no_memory(maker);
    memcpy(plan->ops, maker->ops.items, maker->ops.n * sizeof *plan->ops);
    plan->n_ops = (uint32_t)maker->ops.n;
    return true;
}

static bool make_event(struct maker *maker, const struct ctf_event_class *class,
                       struct ctf_event_plan *event)
{
    event->class = class;
    if (make_scope(maker, OWN_CONTEXT, class->context, &event->context) &&
        make_scope(maker, FIELDS, class->fields, &event->fields))
        return true;
    (void)weft_within(maker->err, "event \"%.*s\"", SHOWN(class->name));
    return false;
}

/* Numbers of events are small and dense, as a rule. */
static bool make_table(struct maker *maker, struct ctf_stream_plan *stream)
{
    const struct ctf_stream_class *class = stream->class;
    for (size_t k = 0; k < class->events.n; k++)
        if (class->events.items[k].id < MOST_TABLE_IDS &&
            class->events.items[k].id >= stream->n_of_id)
            stream->n_of_id = (uint32_t) class->events.items[k].id + 1;
    stream->of_id =
        WEFT_ARENA_NEW(maker->meta->arena, stream->n_of_id, const struct ctf_event_plan *);
    if (!stream->of_id)
        return no_memory(maker);
    for (size_t k = 0; k < class->events.n; k++)
        if (class->events.items[k].id < stream->n_of_id)
            stream->of_id[class->events.items[k].id] = &stream->events[k];
    return true;
}

static bool make_stream(struct maker *maker, const struct ctf_stream_class *class,
                        struct ctf_stream_plan *stream)
{
    stream->class = class;
    maker->clock = class->clock;
    if (!make_scope(maker, PACKET_CONTEXT, class->packet_context, &stream->packet_context))
        return false;
    stream->first_event_slot = maker->n_slots;
    if (!make_scope(maker, EVENT_HEADER, class->event_header, &stream->event_header) ||
        !make_scope(maker, EVENT_CONTEXT, class->event_context, &stream->event_context))
        return false;
    stream->first_own_slot = stream->n_slots = maker->n_slots;
    stream->events = WEFT_ARENA_NEW(maker->meta->arena, class->events.n, struct ctf_event_plan);
    if (!stream->events)
        return no_memory(maker);
    for (size_t k = 0; k < class->events.n; k++) {
        maker->n_slots = stream->first_own_slot;
        if (!make_event(maker, &class->events.items[k], &stream->events[k]))
            return false;
        if (maker->n_slots > stream->n_slots)
            stream->n_slots = maker->n_slots;
    }
    stream->lone_event = class->events.n == 1 ? class->events.items[0].id : 0;
    stream->clock = ctf_clock_find(maker->meta, maker->clock);
    return make_table(maker, stream);
}

static bool make_streams(struct maker *maker, struct ctf_trace_plan *trace)
{
    const struct ctf_metadata *meta = maker->meta;
    trace->n_packet_slots = maker->n_slots;
    trace->streams = WEFT_ARENA_NEW(meta->arena, meta->streams.n, struct ctf_stream_plan);
    if (!trace->streams)
        return no_memory(maker);
    for (; trace->n_streams < meta->streams.n; trace->n_streams++) {
        const struct ctf_stream_class *class = &meta->streams.items[trace->n_streams];
        maker->n_slots = trace->n_packet_slots;
        if (make_stream(maker, class, &trace->streams[trace->n_streams]))
            continue;
        (void)weft_within(maker->err, "stream %" PRIu64, class->id);
        return false;
    }
    return true;
}

/* Time stamps of traces without a declared clock count nanoseconds. */
static bool default_clock(struct maker *maker)
{
    if (maker->meta->clocks.n > 0 || maker->meta->is_json)
        return true;
    struct ctf_clock *clock = WEFT_VEC_PUSH(&maker->meta->clocks);
    if (!clock)
        return no_memory(maker);
    *clock =
        (struct ctf_clock){ .name = WEFT_STR("default"), .frequency_hz = UINT64_C(1000000000) };
    return true;
}

enum weft_code ctf_plan_make(struct ctf_metadata *meta, struct ctf_trace_plan *trace,
                             struct weft_err *err)
{
    struct weft_err local = { 0 };
    struct maker maker = { .meta = meta, .err = &local };
    *trace = (struct ctf_trace_plan){ .meta = meta };
    const bool is_good =
        default_clock(&maker) &&
        make_scope(&maker, PACKET_HEADER, meta->packet_header, &trace->packet_header) &&
        make_streams(&maker, trace);
    WEFT_VEC_FINI(&maker.ops);
    if (is_good)
        return WEFT_OK;
    if (err && err->code == WEFT_OK)
        *err = local;
    return local.code;
}

const struct ctf_op *ctf_plan_find(const struct ctf_plan *plan, const char *name)
{
    uint32_t at = 0;
    while (plan->n_ops > 0) {
        const char *end = strchr(name, '.');
        const struct weft_str word = { name, end ? (size_t)(end - name) : strlen(name) };
        const struct ctf_op *found = NULL;
        for (uint32_t k = at + 1; k < plan->ops[at].next && !found; k = plan->ops[k].next)
            if (weft_str_equal(plan->ops[k].name, word))
                found = &plan->ops[k];
        if (!end || !found)
            return found;
        if (found->kind != CTF_OP_STRUCT)
            return NULL;
        at = (uint32_t)(found - plan->ops);
        name = end + 1;
    }
    return NULL;
}
