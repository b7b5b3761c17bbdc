/* SPDX-License-Identifier: MIT
 *
 * Prints every event of a CTF trace the way babeltrace2 does with --fields=none --names=all
 * --no-delta --clock-seconds, so that the two can be compared. What the decoder counts follows on
 * stderr: "bad-bytes N", "events N" ... -c prints cycles, as --clock-cycles does.
 * usage: ctf_text [-q | -c] DIRECTORY
 */
#include "ingest/ctf/folders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct ctf_decoder *decoder; /* of the event in print */
static const struct ctf_op *ops;
static bool has_cycles;

static void print_value(uint32_t at, size_t frame);

static void print_escaped(const struct ctf_value *value)
{
    static const char letters[] = "abtnvfr";
    putchar('"');
    for (uint64_t k = 0; k < value->n; k++) {
        const unsigned char byte = (unsigned char)value->bytes[k];
        if (byte >= '\a' && byte <= '\r')
            printf("\\%c", letters[byte - '\a']);
        else if (byte == '"' || byte == '\\' || byte == '\'' || byte == '?')
            printf("\\%c", byte);
        else if (byte == 27)
            printf("\\e");
        else if (byte < 32 || byte == 127)
            printf("\\x%02x", byte);
        else
            putchar(byte);
    }
    putchar('"');
}

static void print_number(const struct ctf_op *op, uint64_t number)
{
    const unsigned n_bits = op->n_bits ? op->n_bits : 64;
    const uint64_t masked = n_bits < 64 ? number & ((UINT64_C(1) << n_bits) - 1) : number;
    if (op->class->base == 16) {
        printf("0x%" PRIX64, masked);
    } else if (op->class->base == 8) {
        printf("0%" PRIo64, masked);
    } else if (op->class->base == 2) {
        printf("0b");
        for (unsigned k = n_bits; k-- > 0;)
            putchar('0' + (int)(number >> k & 1));
    } else if (op->is_signed) {
        printf("%" PRId64, (int64_t)number);
    } else {
        printf("%" PRIu64, number);
    }
}

static bool is_in(const struct ctf_op *op, const struct ctf_range *range, uint64_t number)
{
    return op->is_signed
               ? (int64_t)number >= (int64_t)range->first && (int64_t)number <= (int64_t)range->last
               : number >= range->first && number <= range->last;
}

static void print_label(struct weft_str label)
{
    print_escaped(&(struct ctf_value){ .bytes = label.bytes, .n = label.n_bytes });
}

static void print_enum(const struct ctf_op *op, uint64_t number)
{
    unsigned n_labels = 0;
    for (uint32_t k = 0; k < op->class->n_ranges; k++)
        n_labels += is_in(op, &op->class->ranges[k], number);
    printf("( ");
    if (n_labels == 0)
        printf("<unknown>");
    if (n_labels > 1)
        printf("{ ");
    unsigned n_printed = 0;
    for (uint32_t k = 0; k < op->class->n_ranges; k++) {
        if (!is_in(op, &op->class->ranges[k], number))
            continue;
        printf("%s", n_printed++ ? ", " : "");
        print_label(op->class->ranges[k].label);
    }
    printf("%s : container = ", n_labels > 1 ? " }" : "");
    if (op->is_signed)
        printf("%" PRId64 " )", (int64_t)number);
    else
        printf("%" PRIu64 " )", number);
}

/* Fields that babeltrace2 takes out of packet contexts. */
static bool is_hidden(const struct ctf_op *op)
{
    return op->role >= CTF_ROLE_PACKET_SIZE && op->role <= CTF_ROLE_SEQUENCE;
}

static void print_members(uint32_t begin, uint32_t end, size_t frame)
{
    bool is_first = true;
    printf("{");
    for (uint32_t k = begin; k < end; k = ops[k].next) {
        if (is_hidden(&ops[k]))
            continue;
        printf("%s %.*s = ", is_first ? "" : ",", (int)ops[k].name.n_bytes, ops[k].name.bytes);
        print_value(k, frame);
        is_first = false;
    }
    printf(" }");
}

static void print_array(uint32_t at, const struct ctf_value *value)
{
    printf("[");
    for (uint64_t k = 0; k < value->n; k++) {
        printf("%s [%" PRIu64 "] = ", k ? "," : "", k);
        print_value(at + 1, (size_t)(value->first + k * ops[at].element_slots));
    }
    printf(" ]");
}

static void print_value(uint32_t at, size_t frame)
{
    const struct ctf_op *op = &ops[at];
    if (op->kind == CTF_OP_STRUCT) {
        print_members(at + 1, op->next, frame);
        return;
    }
    const struct ctf_value *value = &decoder->values[frame + op->slot];
    switch ((enum ctf_op_kind)op->kind) {
    case CTF_OP_FLOAT:
        printf("%g", ctf_value_double(value));
        break;
    case CTF_OP_STRING:
    case CTF_OP_TEXT:
        print_escaped(value);
        break;
    case CTF_OP_ARRAY:
        print_array(at, value);
        break;
    case CTF_OP_VARIANT:
    case CTF_OP_OPTIONAL:
        printf("{ ");
        if (value->n)
            print_value((uint32_t)value->first, frame);
        printf(" }");
        break;
    default:
        if (op->class->is_enum)
            print_enum(op, value->number);
        else
            print_number(op, value->number);
    }
}

static void print_scope(const char *name, const struct ctf_plan *plan)
{
    uint32_t n_shown = 0;
    if (plan->n_ops == 0)
        return;
    ops = plan->ops;
    for (uint32_t k = 1; k < plan->n_ops; k = ops[k].next)
        n_shown += !is_hidden(&ops[k]);
    if (n_shown == 0 && strcmp(name, "stream.packet.context") == 0)
        return;
    printf(", %s = ", name);
    print_value(0, 0);
}

static void print_time(const struct ctf_reader *reader, const struct ctf_event *event)
{
    if (has_cycles && event->lane->file.stream->clock) {
        printf("timestamp = %020" PRIu64 ", ", event->lane->file.decoder.clock);
        return;
    }
    const struct ctf_file *file = &event->lane->file;
    if (!file->stream->clock)
        return;
    const int64_t ns = (int64_t)event->time_ns + reader->origin_ns;
    printf("timestamp = %" PRId64 ".%09" PRId64 ", ", ns / 1000000000, ns % 1000000000);
}

static void print_event(const struct ctf_reader *reader, const struct ctf_event *event)
{
    const struct ctf_file *file = &event->lane->file;
    const struct weft_str name = file->event->class->name;
    decoder = &file->decoder;
    print_time(reader, event);
    printf("name = %.*s", (int)name.n_bytes, name.bytes);
    print_scope("stream.packet.context", &file->stream->packet_context);
    print_scope("stream.event.context", &file->stream->event_context);
    print_scope("event.context", &file->event->context);
    print_scope("event.fields", &file->event->fields);
    putchar('\n');
}

static void print_counts(const struct ctf_reader *reader, uint64_t n_events)
{
    static const char *const names[CTF_REMARKS] = { "bad-bytes", "missing-bytes", "lost-events",
                                                    "lost-packets", "steps-back" };
    fprintf(stderr, "events %" PRIu64 "\n", n_events);
    for (int remark = 0; remark < CTF_REMARKS; remark++) {
        uint64_t count = 0;
        for (size_t k = 0; k < reader->n_lanes; k++)
            count += reader->lanes[k].file.remarks[remark].count;
        fprintf(stderr, "%s %" PRIu64 "\n", names[remark], count);
    }
    for (size_t k = 0; k < reader->n_lanes; k++)
        if (reader->lanes[k].file.first_damage)
            fprintf(stderr, "damage %s: expected %s\n", reader->lanes[k].file.name,
                    reader->lanes[k].file.first_damage);
}

static enum weft_code print_all(struct ctf_reader *reader, bool is_quiet, struct weft_err *err)
{
    struct ctf_event event;
    uint64_t n_events = 0;
    bool is_end;
    enum weft_code code;
    while ((code = ctf_reader_next(reader, &event, &is_end, err)) == WEFT_OK && !is_end) {
        n_events++;
        if (!is_quiet)
            print_event(reader, &event);
    }
    if (code == WEFT_OK)
        print_counts(reader, n_events);
    return code;
}

int main(int argc, char **argv)
{
    const bool is_quiet = argc > 2 && strcmp(argv[1], "-q") == 0;
    has_cycles = argc > 2 && strcmp(argv[1], "-c") == 0;
    struct weft_err err = { 0 };
    struct ctf_folders folders;
    struct ctf_reader reader = { 0 };
    if (argc < 2)
        return 2;
    enum weft_code code = ctf_folders_open(argv[argc - 1], &folders, &err);
    if (code == WEFT_OK)
        code = ctf_reader_open(folders.inputs, folders.n, NULL, &reader, &err);
    if (code == WEFT_OK)
        code = print_all(&reader, is_quiet, &err);
    if (code != WEFT_OK) {
        char text[1024];
        weft_err_print(&err, text, sizeof text);
        fprintf(stderr, "error %s\n", text);
    }
    ctf_reader_close(&reader);
    ctf_folders_close(&folders);
    return code != WEFT_OK;
}
