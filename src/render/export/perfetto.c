/* SPDX-License-Identifier: MIT
 *
 * Perfetto's own format: a stream of TracePacket messages (perfetto.dev/docs/reference:
 * trace-packet-proto, synthetic-track-event).
 *
 * Calls of a thread are slices on the thread's track, in a packet sequence of their own: times
 * never fall within it, names and categories are interned in it, and it names the track once. Other
 * events of the thread form a second sequence, in the order in which the trace holds them.
 * Descriptors of processes and the clock stand in the first sequence.
 */
#include "base/map.h"
#include "render/export/exporter.h"
#include "render/export/proto.h"
#include "render/json/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Field numbers, by message. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,
};
enum { DEFAULTS_TRACK_EVENT = 11, TRACK_EVENT_DEFAULTS_UUID = 11 };
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
    EVENT_CATEGORY_IIDS = 3,
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_CATEGORIES = 22,
    EVENT_NAME = 23,
    EVENT_DOUBLE_COUNTER = 44,
    EVENT_FLOWS = 47,
    EVENT_LAST_FLOWS = 48,
};
enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_IID = 1, INTERNED_NAME = 2 };
enum {
    ANNOTATION_BOOL = 2,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_JSON = 9,
    ANNOTATION_NAME = 10,
};

enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_ID = 3, CLOCK_BOOTTIME_ID = 6 };

enum { FIRST_SEQUENCE = 1, PACKET_BYTES_MAX = 96, COUNTERS_MAX = 4096 };

struct perfetto {
    struct weft_proto proto; /* packets that are not of the usual form */
    struct weft_map *pids;   /* described so far */
    struct weft_strtab *modules;
    uint32_t *module_of;     /* by function: id in `modules` */
    uint32_t *name_seen;     /* by function: sequence in which it was interned last */
    uint32_t *category_seen; /* by module, likewise */
    uint64_t base_uuid, n_uuids;
    uint32_t sequence; /* of the thread's calls; other events: the next */
    uint64_t thread_uuid;
    bool has_events;              /* the sequence of other events has begun */
    struct weft_strtab *counters; /* tracks described in it */
};

/* ---- ids ------------------------------------------------------------------------------------- */

/* Track ids are global; files can be joined, so that they must not be small numbers. The same trace
 * gives the same ids. A bijection (splitmix64): different inputs give different ids. */
static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t hash_of(struct weft_str text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < text.n_bytes; i++)
        hash = (hash ^ (uint8_t)text.bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t thread_uuid(const struct perfetto *perfetto, uint32_t thread_id)
{
    return mixed(perfetto->base_uuid + 2 * (uint64_t)thread_id);
}

/* Of the process of which `thread_id` is the first thread. */
static uint64_t process_uuid(const struct perfetto *perfetto, uint32_t thread_id)
{
    return mixed(perfetto->base_uuid + 2 * (uint64_t)thread_id + 1);
}

/* ---- packets --------------------------------------------------------------------------------- */

static size_t begin_packet(struct perfetto *perfetto, uint32_t sequence, unsigned flags)
{
    struct weft_proto *proto = &perfetto->proto;
    weft_proto_reset(proto);
    size_t mark = weft_proto_begin(proto, TRACE_PACKET);
    weft_proto_varint(proto, PACKET_SEQUENCE_ID, sequence);
    if (flags)
        weft_proto_varint(proto, PACKET_SEQUENCE_FLAGS, flags);
    return mark;
}

static void end_packet(struct weft_exporter *exporter, size_t mark)
{
    struct perfetto *perfetto = exporter->state;
    weft_proto_end(&perfetto->proto, mark);
    if (perfetto->proto.has_failed)
        weft_exporter_no_memory(exporter);
    else
        weft_output_write(exporter->out, perfetto->proto.bytes, perfetto->proto.n);
}

/* A debug annotation up to its value, for weft_proto_end. */
static size_t begin_annotation(struct weft_proto *proto, struct weft_str name)
{
    size_t mark = weft_proto_begin(proto, EVENT_ANNOTATIONS);
    weft_proto_string(proto, ANNOTATION_NAME, name);
    return mark;
}

static void put_uint(struct weft_proto *proto, const char *name, uint64_t value)
{
    size_t mark = begin_annotation(proto, weft_str_of(name));
    weft_proto_varint(proto, ANNOTATION_UINT, value);
    weft_proto_end(proto, mark);
}

static void put_string(struct weft_proto *proto, const char *name, struct weft_str value)
{
    size_t mark = begin_annotation(proto, weft_str_of(name));
    weft_proto_string(proto, ANNOTATION_STRING, value);
    weft_proto_end(proto, mark);
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* A JSON number, as an integer if it is one that 64 bits hold. */
static void put_json_number(struct weft_proto *proto, struct weft_str text)
{
    char copy[64];
    size_t n_bytes = text.n_bytes < sizeof copy ? text.n_bytes : sizeof copy - 1;
    bool is_integer = true;
    memcpy(copy, text.bytes, n_bytes);
    copy[n_bytes] = '\0';
    for (size_t i = 0; i < n_bytes; i++)
        is_integer = is_integer && (copy[i] == '-' || (copy[i] >= '0' && copy[i] <= '9'));
    bool is_negative = copy[0] == '-';
    errno = 0;
    int64_t negative = is_negative ? strtoll(copy, NULL, 10) : 0;
    uint64_t positive = is_negative ? 0 : strtoull(copy, NULL, 10);
    if (!is_integer || errno != 0)
        weft_proto_fixed64(proto, ANNOTATION_DOUBLE, weft_counter_value(strtod(copy, NULL)));
    else if (is_negative || positive <= INT64_MAX)
        weft_proto_varint(proto, ANNOTATION_INT, is_negative ? (uint64_t)negative : positive);
    else
        weft_proto_varint(proto, ANNOTATION_UINT, positive);
}

static void put_json_string(struct weft_proto *proto, struct weft_arena *arena, uint32_t field,
                            struct weft_str text)
{
    char *bytes = weft_arena_alloc(arena, text.n_bytes + 1, 1);
    proto->has_failed = proto->has_failed || !bytes;
    if (bytes)
        weft_proto_string(proto, field,
                          (struct weft_str){ bytes, weft_json_text_unescape(text, bytes) });
}

static void put_member(struct weft_proto *proto, struct weft_arena *arena, struct weft_str key,
                       struct weft_str value)
{
    size_t mark = weft_proto_begin(proto, EVENT_ANNOTATIONS);
    put_json_string(proto, arena, ANNOTATION_NAME, key);
    char c = value.bytes[0];
    if (c == '"')
        put_json_string(proto, arena, ANNOTATION_STRING,
                        (struct weft_str){ value.bytes + 1, value.n_bytes - 2 });
    else if (c == 't' || c == 'f')
        weft_proto_varint(proto, ANNOTATION_BOOL, c == 't');
    else if (c == '{' || c == '[' || c == 'n')
        weft_proto_bytes(proto, ANNOTATION_JSON, value);
    else
        put_json_number(proto, value);
    weft_proto_end(proto, mark);
}

/* The members of an object, each an annotation; any other text is one. */
static void put_text(struct weft_proto *proto, struct weft_str text, unsigned *n_other)
{
    struct weft_str members, key, value;
    if (!weft_json_text_is_valid(text) || !weft_json_text_members(text, &members)) {
        char name[16];
        snprintf(name, sizeof name, *n_other ? "args%u" : "args", *n_other);
        (*n_other)++;
        put_string(proto, name, text);
        return;
    }
    struct weft_arena *arena = weft_arena_new(0);
    proto->has_failed = proto->has_failed || !arena;
    while (!proto->has_failed && weft_json_text_member(&members, &key, &value))
        put_member(proto, arena, key, value);
    proto->has_failed = proto->has_failed || weft_arena_has_failed(arena);
    weft_arena_free(arena);
}

static void put_call_args(struct weft_proto *proto, struct weft_output *scratch,
                          const struct weft_walk_call *call)
{
    unsigned n_other = 0;
    for (size_t i = 0; i < call->n_arg_texts; i++)
        put_text(proto, call->arg_texts[i], &n_other);
    for (size_t i = 0; i < call->n_args; i++) {
        char name[32];
        snprintf(name, sizeof name, "arg%zu", i);
        put_uint(proto, name, call->args[i]);
    }
    if (!call->flags)
        return;
    weft_output_clear(scratch);
    weft_put_flags(scratch, call->flags, "", " ");
    put_string(proto, "weft.flags", weft_output_held(scratch));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void put_interned(struct weft_proto *proto, uint32_t field, uint32_t iid,
                         struct weft_str name)
{
    size_t mark = weft_proto_begin(proto, field);
    weft_proto_varint(proto, INTERNED_IID, iid);
    weft_proto_string(proto, INTERNED_NAME, name);
    weft_proto_end(proto, mark);
}

/* The names that this call needs and the sequence has not heard of. */
static void put_names(struct weft_exporter *exporter, uint32_t function_id)
{
    struct perfetto *perfetto = exporter->state;
    struct weft_proto *proto = &perfetto->proto;
    const struct weft_function *function = weft_trace_function(exporter->trace, function_id);
    uint32_t module = perfetto->module_of[function_id];
    if (perfetto->name_seen[function_id] == perfetto->sequence)
        return;
    size_t mark = weft_proto_begin(proto, PACKET_INTERNED_DATA);
    if (module != WEFT_ID_NONE && perfetto->category_seen[module] != perfetto->sequence)
        put_interned(proto, INTERNED_CATEGORIES, module + 1, function->module);
    put_interned(proto, INTERNED_NAMES, function_id + 1, function->name);
    weft_proto_end(proto, mark);
    perfetto->name_seen[function_id] = perfetto->sequence;
    if (module != WEFT_ID_NONE)
        perfetto->category_seen[module] = perfetto->sequence;
}

/* A call with arguments or flags, or of a function that is new to the sequence. */
static void enter_rare(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    struct perfetto *perfetto = exporter->state;
    struct weft_proto *proto = &perfetto->proto;
    uint32_t module = perfetto->module_of[call->function_id];
    size_t packet = begin_packet(perfetto, perfetto->sequence, NEEDS_STATE);
    weft_proto_varint(proto, PACKET_TIMESTAMP, call->start_ns);
    put_names(exporter, call->function_id);
    size_t event = weft_proto_begin(proto, PACKET_TRACK_EVENT);
    weft_proto_varint(proto, EVENT_TYPE, SLICE_BEGIN);
    weft_proto_varint(proto, EVENT_NAME_IID, call->function_id + 1);
    if (module != WEFT_ID_NONE)
        weft_proto_varint(proto, EVENT_CATEGORY_IIDS, module + 1);
    put_call_args(proto, exporter->scratch, call);
    weft_proto_end(proto, event);
    end_packet(exporter, packet);
}

static char *put_field(char *to, uint32_t field, uint64_t value)
{
    *to++ = (char)(field << 3);
    return weft_put_varint(to, value);
}

/* A packet with a slice's begin or end: all lengths fit one byte, all tags too. */
static void put_slice(struct weft_exporter *exporter, uint64_t at_ns, unsigned type,
                      uint32_t name_iid, uint32_t category_iid)
{
    const struct perfetto *perfetto = exporter->state;
    char *packet = weft_output_room(exporter->out, PACKET_BYTES_MAX);
    if (!packet)
        return;
    char *to = packet + 2;
    to = put_field(to, PACKET_TIMESTAMP, at_ns);
    to = put_field(to, PACKET_SEQUENCE_ID, perfetto->sequence);
    to = put_field(to, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
    char *event = to;
    to = put_field(to + 2, EVENT_TYPE, type);
    if (name_iid)
        to = put_field(to, EVENT_NAME_IID, name_iid);
    if (category_iid)
        to = put_field(to, EVENT_CATEGORY_IIDS, category_iid);
    event[0] = PACKET_TRACK_EVENT << 3 | 2;
    event[1] = (char)(to - event - 2);
    packet[0] = TRACE_PACKET << 3 | 2;
    packet[1] = (char)(to - packet - 2);
    weft_output_filled(exporter->out, to);
}

static void enter(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    const struct perfetto *perfetto = exporter->state;
    uint32_t module = perfetto->module_of[call->function_id];
    if (call->flags || call->n_args || call->n_arg_texts ||
        perfetto->name_seen[call->function_id] != perfetto->sequence)
        enter_rare(exporter, call);
    else
        put_slice(exporter, call->start_ns, SLICE_BEGIN, call->function_id + 1,
                  module == WEFT_ID_NONE ? 0 : module + 1);
}

static void leave(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    put_slice(exporter, call->end_ns, SLICE_END, 0, 0);
}

/* ---- other events ---------------------------------------------------------------------------- */

struct other {
    size_t packet, event;
};

static struct other begin_other(struct perfetto *perfetto, const struct weft_event *event,
                                uint64_t at_ns, uint64_t track_uuid, unsigned type)
{
    struct weft_proto *proto = &perfetto->proto;
    struct weft_str name = event->name;
    struct other marks;
    if (name.n_bytes == 0)
        name = weft_str_of(weft_event_kind_name(event->kind));
    marks.packet =
        begin_packet(perfetto, perfetto->sequence + 1, perfetto->has_events ? 0 : STATE_CLEARED);
    perfetto->has_events = true;
    weft_proto_varint(proto, PACKET_TIMESTAMP, at_ns);
    marks.event = weft_proto_begin(proto, PACKET_TRACK_EVENT);
    weft_proto_varint(proto, EVENT_TYPE, type);
    weft_proto_varint(proto, EVENT_TRACK_UUID, track_uuid);
    if (type == SLICE_BEGIN || type == INSTANT) {
        weft_proto_string(proto, EVENT_NAME, name);
        if (event->category.n_bytes)
            weft_proto_string(proto, EVENT_CATEGORIES, event->category);
        if (event->payload.n_bytes)
            put_text(proto, event->payload, &(unsigned){ 0 });
    }
    return marks;
}

static void end_other(struct weft_exporter *exporter, struct other marks)
{
    struct perfetto *perfetto = exporter->state;
    weft_proto_end(&perfetto->proto, marks.event);
    end_packet(exporter, marks.packet);
}

/* A track below the thread's, in the sequence of other events. */
static void put_track(struct weft_exporter *exporter, uint64_t uuid, struct weft_str name,
                      bool is_counter)
{
    struct perfetto *perfetto = exporter->state;
    struct weft_proto *proto = &perfetto->proto;
    size_t packet =
        begin_packet(perfetto, perfetto->sequence + 1, perfetto->has_events ? 0 : STATE_CLEARED);
    perfetto->has_events = true;
    size_t track = weft_proto_begin(proto, PACKET_TRACK_DESCRIPTOR);
    weft_proto_varint(proto, TRACK_UUID, uuid);
    weft_proto_varint(proto, TRACK_PARENT, perfetto->thread_uuid);
    weft_proto_string(proto, TRACK_NAME, name);
    if (is_counter)
        weft_proto_bytes(proto, TRACK_COUNTER, (struct weft_str){ 0 });
    weft_proto_end(proto, track);
    end_packet(exporter, packet);
}

/* Spans overlap as they like: each has a track of its own, which viewers join by name. */
static void put_span(struct weft_exporter *exporter, const struct weft_event *event)
{
    struct perfetto *perfetto = exporter->state;
    const struct weft_window *window = &exporter->opts->window;
    uint64_t uuid = mixed(perfetto->thread_uuid ^ mixed(perfetto->n_uuids++));
    uint64_t start_ns = weft_window_clip(window, event->time_ns);
    uint64_t end_ns = weft_window_clip(window, event->time_ns + event->duration_ns);
    put_track(exporter, uuid, event->name, false);
    struct other marks = begin_other(perfetto, event, start_ns, uuid, SLICE_BEGIN);
    if (event->value)
        put_uint(&perfetto->proto, "id", event->value);
    end_other(exporter, marks);
    end_other(exporter, begin_other(perfetto, event, end_ns, uuid, SLICE_END));
}

/* A counter's track is named by its name, so that describing it again changes nothing. */
static void put_counter(struct weft_exporter *exporter, const struct weft_event *event)
{
    struct perfetto *perfetto = exporter->state;
    uint64_t uuid = mixed(perfetto->thread_uuid + hash_of(event->name));
    uint32_t id, n_before;
    if (perfetto->counters && weft_strtab_count(perfetto->counters) >= COUNTERS_MAX) {
        weft_strtab_free(perfetto->counters);
        perfetto->counters = NULL;
    }
    if (!perfetto->counters)
        perfetto->counters = weft_strtab_new();
    n_before = perfetto->counters ? weft_strtab_count(perfetto->counters) : 0;
    if (!perfetto->counters ||
        weft_strtab_intern(perfetto->counters, event->name, &id, NULL) != WEFT_OK) {
        weft_exporter_no_memory(exporter);
        return;
    }
    if (id == n_before)
        put_track(exporter, uuid, event->name, true);
    struct other marks = begin_other(perfetto, event, event->time_ns, uuid, COUNTER);
    weft_proto_fixed64(&perfetto->proto, EVENT_DOUBLE_COUNTER, event->value);
    end_other(exporter, marks);
}

/* What an event that is neither span nor counter says besides its name. */
static void put_details(struct weft_exporter *exporter, const struct weft_event *event)
{
    struct perfetto *perfetto = exporter->state;
    struct weft_proto *proto = &perfetto->proto;
    put_string(proto, "weft.kind", weft_str_of(weft_event_kind_name(event->kind)));
    put_uint(proto, "weft.value", event->value);
    if (event->kind == WEFT_EVENT_INSTANT)
        return;
    if (event->next_thread_id < weft_trace_n_threads(exporter->trace))
        put_uint(proto, "weft.next_tid",
                 weft_trace_thread(exporter->trace, event->next_thread_id)->info.tid);
    if (event->object_id != WEFT_ID_NONE)
        put_uint(proto, "weft.object", event->object_id);
    if (event->stack_id != WEFT_ID_NONE)
        put_uint(proto, "weft.stack", event->stack_id);
    if (event->prev_state)
        put_uint(proto, "weft.state", event->prev_state);
    if (event->duration_ns)
        put_uint(proto, "weft.duration_ns", event->duration_ns);
    if (event->cpu >= 0)
        put_uint(proto, "weft.cpu", (uint64_t)event->cpu);
}

static void put_instant(struct weft_exporter *exporter, const struct weft_event *event)
{
    struct perfetto *perfetto = exporter->state;
    struct other marks =
        begin_other(perfetto, event, event->time_ns, perfetto->thread_uuid, INSTANT);
    if (event->kind == WEFT_EVENT_FLOW_BEGIN || event->kind == WEFT_EVENT_FLOW_STEP)
        weft_proto_fixed64(&perfetto->proto, EVENT_FLOWS, event->value);
    else if (event->kind == WEFT_EVENT_FLOW_END)
        weft_proto_fixed64(&perfetto->proto, EVENT_LAST_FLOWS, event->value);
    else if (event->kind != WEFT_EVENT_INSTANT || event->value)
        put_details(exporter, event);
    end_other(exporter, marks);
}

static void event(struct weft_exporter *exporter, const struct weft_event *event)
{
    if (event->kind == WEFT_EVENT_SPAN)
        put_span(exporter, event);
    else if (event->kind == WEFT_EVENT_COUNTER)
        put_counter(exporter, event);
    else
        put_instant(exporter, event);
}

/* ---- threads and processes ------------------------------------------------------------------- */

/* Describes the process of the thread once; returns its track. */
static uint64_t put_process(struct weft_exporter *exporter)
{
    struct perfetto *perfetto = exporter->state;
    struct weft_proto *proto = &perfetto->proto;
    uint64_t pid = exporter->thread->info.pid;
    bool is_new = false;
    uint32_t process = weft_map_add(perfetto->pids, pid, &is_new);
    if (process == WEFT_MAP_NONE)
        weft_exporter_no_memory(exporter);
    uint64_t uuid = process_uuid(perfetto, process);
    if (!is_new)
        return uuid;
    size_t packet = begin_packet(perfetto, FIRST_SEQUENCE, 0);
    size_t track = weft_proto_begin(proto, PACKET_TRACK_DESCRIPTOR);
    weft_proto_varint(proto, TRACK_UUID, uuid);
    size_t mark = weft_proto_begin(proto, TRACK_PROCESS);
    weft_proto_varint(proto, PROCESS_PID, pid);
    weft_proto_string(proto, PROCESS_NAME, weft_str_of(exporter->opts->name));
    weft_proto_end(proto, mark);
    weft_proto_end(proto, track);
    end_packet(exporter, packet);
    return uuid;
}

/* The first packet of the thread's sequence: its track, which is also that of all its slices. */
static void put_thread(struct weft_exporter *exporter, uint64_t parent_uuid)
{
    struct perfetto *perfetto = exporter->state;
    struct weft_proto *proto = &perfetto->proto;
    const struct weft_thread_info *info = &exporter->thread->info;
    size_t packet = begin_packet(perfetto, perfetto->sequence, STATE_CLEARED);
    size_t defaults = weft_proto_begin(proto, PACKET_DEFAULTS);
    size_t mark = weft_proto_begin(proto, DEFAULTS_TRACK_EVENT);
    weft_proto_varint(proto, TRACK_EVENT_DEFAULTS_UUID, perfetto->thread_uuid);
    weft_proto_end(proto, mark);
    weft_proto_end(proto, defaults);
    size_t track = weft_proto_begin(proto, PACKET_TRACK_DESCRIPTOR);
    weft_proto_varint(proto, TRACK_UUID, perfetto->thread_uuid);
    weft_proto_varint(proto, TRACK_PARENT, parent_uuid);
    mark = weft_proto_begin(proto, TRACK_THREAD);
    weft_proto_varint(proto, THREAD_PID, info->pid);
    weft_proto_varint(proto, THREAD_TID, info->tid);
    weft_proto_string(proto, THREAD_NAME, info->name);
    weft_proto_end(proto, mark);
    weft_proto_end(proto, track);
    end_packet(exporter, packet);
}

static void thread_begin(struct weft_exporter *exporter)
{
    struct perfetto *perfetto = exporter->state;
    perfetto->sequence = FIRST_SEQUENCE + 1 + 2 * exporter->thread_id;
    perfetto->thread_uuid = thread_uuid(perfetto, exporter->thread_id);
    perfetto->has_events = false;
    weft_strtab_free(perfetto->counters);
    perfetto->counters = NULL;
    put_thread(exporter, put_process(exporter));
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void put_clock(struct weft_proto *proto, uint64_t id, uint64_t at_ns)
{
    size_t mark = weft_proto_begin(proto, SNAPSHOT_CLOCKS);
    weft_proto_varint(proto, CLOCK_ID, id);
    weft_proto_varint(proto, CLOCK_TIMESTAMP, at_ns);
    weft_proto_end(proto, mark);
}

/* Times count from the start of the trace, on the clock that readers assume (BOOTTIME); where the
 * source knew other clocks, what they showed then. */
static void put_clocks(struct weft_exporter *exporter)
{
    struct perfetto *perfetto = exporter->state;
    struct weft_proto *proto = &perfetto->proto;
    const struct weft_clock *clock = &weft_trace_meta(exporter->trace)->clock;
    size_t packet = begin_packet(perfetto, FIRST_SEQUENCE, STATE_CLEARED);
    size_t snapshot = weft_proto_begin(proto, PACKET_CLOCK_SNAPSHOT);
    put_clock(proto, CLOCK_BOOTTIME_ID, 0);
    if (clock->has_monotonic)
        put_clock(proto, CLOCK_MONOTONIC_ID, clock->monotonic_ns);
    if (clock->has_realtime)
        put_clock(proto, CLOCK_REALTIME_ID, clock->realtime_ns);
    weft_proto_varint(proto, SNAPSHOT_PRIMARY, CLOCK_BOOTTIME_ID);
    weft_proto_end(proto, snapshot);
    end_packet(exporter, packet);
}

/* Numbers the modules. */
static bool find_modules(struct weft_exporter *exporter)
{
    struct perfetto *perfetto = exporter->state;
    for (uint32_t id = 0; id < weft_trace_n_functions(exporter->trace); id++) {
        struct weft_str module = weft_trace_function(exporter->trace, id)->module;
        perfetto->module_of[id] = WEFT_ID_NONE;
        if (module.n_bytes && weft_strtab_intern(perfetto->modules, module,
                                                 &perfetto->module_of[id], NULL) != WEFT_OK)
            return false;
    }
    perfetto->category_seen =
        calloc((size_t)weft_strtab_count(perfetto->modules) + 1, sizeof *perfetto->category_seen);
    return perfetto->category_seen != NULL;
}

static void begin(struct weft_exporter *exporter)
{
    struct perfetto *perfetto = exporter->state;
    const struct weft_store_meta *meta = weft_trace_meta(exporter->trace);
    size_t n_functions = (size_t)meta->n_functions + 1;
    perfetto->base_uuid = mixed(hash_of(meta->source_name) ^ meta->duration_ns) & ~(uint64_t)1;
    perfetto->pids = weft_map_new();
    perfetto->modules = weft_strtab_new();
    perfetto->module_of = calloc(n_functions, sizeof *perfetto->module_of);
    perfetto->name_seen = calloc(n_functions, sizeof *perfetto->name_seen);
    if (!perfetto->pids || !perfetto->modules || !perfetto->module_of || !perfetto->name_seen ||
        !find_modules(exporter)) {
        weft_exporter_no_memory(exporter);
        return;
    }
    put_clocks(exporter);
}

static void fini(struct weft_exporter *exporter)
{
    struct perfetto *perfetto = exporter->state;
    weft_proto_fini(&perfetto->proto);
    weft_map_free(perfetto->pids);
    weft_strtab_free(perfetto->modules);
    weft_strtab_free(perfetto->counters);
    free(perfetto->module_of);
    free(perfetto->name_seen);
    free(perfetto->category_seen);
}

const struct weft_export_format_ops weft_export_perfetto = {
    .state_bytes = sizeof(struct perfetto),
    .event_kinds = UINT32_MAX & ~(UINT32_C(1) << WEFT_EVENT_CALL_ARGS),
    .wants_args = true,
    .begin = begin,
    .thread_begin = thread_begin,
    .enter = enter,
    .leave = leave,
    .event = event,
    .fini = fini,
};
