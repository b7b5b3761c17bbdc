/* SPDX-License-Identifier: MIT
 *
 * Rebuilds a task's call stack from the depth in each record, so that lost records and longjmp
 * close the right calls, and hands batches to the sink. Arguments, return values, events and
 * scheduling become events; anything that flushes the batch first keeps the order.
 */
#include "ingest/uftrace/task_out.h"

#include "base/checked.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "ingest/uftrace/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A frame whose entry was lost. */
#define UNKNOWN_KEY UINT32_MAX

enum { BATCH_SWITCHES = 64 };

enum weft_code weft_uft_out_init(struct weft_uft_out *out, struct weft_err *err)
{
    *out = (struct weft_uft_out){ 0 };
    out->calls = calloc(WEFT_UFT_BATCH_CALLS, sizeof *out->calls);
    out->keys = calloc(WEFT_UFT_MOST_DEPTH, sizeof *out->keys);
    out->text = calloc(WEFT_UFT_TEXT_BYTES, 1);
    if (out->calls && out->keys && out->text)
        return WEFT_OK;
    weft_uft_out_fini(out);
    return weft_no_memory(err, "buffers of one worker");
}

void weft_uft_out_fini(struct weft_uft_out *out)
{
    free(out->calls);
    free(out->keys);
    free(out->text);
    *out = (struct weft_uft_out){ 0 };
}

void weft_uft_out_begin(struct weft_uft_out *out, struct weft_sink *sink, uint32_t thread_id,
                        uint64_t zero_ns, bool uses_depth)
{
    out->sink = sink;
    out->thread_id = thread_id;
    out->zero_ns = zero_ns;
    out->n_calls = 0;
    out->last_ns = 0;
    out->uses_depth = uses_depth;
    out->base = out->top = 0;
    out->n_missing = out->n_ignored = 0;
}

enum weft_code weft_uft_out_flush(struct weft_uft_out *out, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (out->n_calls)
        code = out->sink->ops->calls(out->sink, out->thread_id, out->calls, out->n_calls, err);
    out->n_calls = 0;
    return code;
}

static enum weft_code deliver_events(struct weft_uft_out *out, const struct weft_event *events,
                                     size_t n, struct weft_err *err)
{
    enum weft_code code = weft_uft_out_flush(out, err);
    for (size_t k = 0; k < n; k++)
        out->last_ns = weft_max_u64(out->last_ns, events[k].time_ns);
    if (code == WEFT_OK && n)
        code = out->sink->ops->events(out->sink, out->thread_id, events, n, err);
    return code;
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static inline void push_call(struct weft_uft_out *out, uint64_t time_ns, uint32_t key,
                             enum weft_call_kind kind)
{
    struct weft_call_event *call = &out->calls[out->n_calls++];
    *call =
        (struct weft_call_event){ .time_ns = time_ns, .function_key = key, .kind = (uint8_t)kind };
}

/* Closes the frames from `depth` on, which were left without an exit. The sink closes those above
 * the lowest, and counts them. */
static void close_from(struct weft_uft_out *out, uint32_t depth, uint64_t time_ns)
{
    uint32_t lowest = depth > out->base ? depth : out->base;
    while (lowest < out->top && out->keys[lowest] == UNKNOWN_KEY)
        lowest++;
    if (lowest < out->top) {
        push_call(out, time_ns, out->keys[lowest], WEFT_CALL_EXIT);
        out->n_missing++;
    }
    out->top = depth > out->base ? depth : out->base;
}

/* At most two calls. */
static void enter(struct weft_uft_out *out, uint64_t time_ns, uint32_t key, uint32_t depth)
{
    if (depth < out->top)
        close_from(out, depth, time_ns); /* longjmp, or records were lost */
    if (out->top == out->base)
        out->base = out->top = depth;
    while (out->top < depth)
        out->keys[out->top++] = UNKNOWN_KEY;
    out->keys[out->top++] = key;
    push_call(out, time_ns, key, WEFT_CALL_ENTER);
}

/* At most two calls. */
static void leave(struct weft_uft_out *out, uint64_t time_ns, uint32_t key, uint32_t depth)
{
    if (depth < out->base && out->top > out->base)
        close_from(out, out->base, time_ns);
    if (out->top == out->base) { /* it began before the trace */
        out->base = out->top = depth;
        push_call(out, time_ns, key, WEFT_CALL_EXIT);
        return;
    }
    if (depth >= out->top) { /* its entry was lost */
        out->n_ignored++;
        return;
    }
    if (out->keys[depth] == key) {
        out->top = depth;
        push_call(out, time_ns, key, WEFT_CALL_EXIT);
        return;
    }
    out->n_ignored++;
    close_from(out, depth, time_ns);
}

/* At most two calls. Nearly always the frame is where it should be. */
static inline void add_call(struct weft_uft_out *out, uint64_t time_ns, uint32_t key,
                            uint32_t depth, bool is_exit)
{
    if (!out->uses_depth) {
        push_call(out, time_ns, key, is_exit ? WEFT_CALL_EXIT : WEFT_CALL_ENTER);
    } else if (is_exit && depth + 1 == out->top && depth >= out->base && out->keys[depth] == key) {
        out->top = depth;
        push_call(out, time_ns, key, WEFT_CALL_EXIT);
    } else if (is_exit) {
        leave(out, time_ns, key, depth);
    } else if (depth == out->top) {
        out->keys[out->top++] = key;
        push_call(out, time_ns, key, WEFT_CALL_ENTER);
    } else {
        enter(out, time_ns, key, depth);
    }
}

/* ---- events -----------------------------------------------------------------------------------
 */

static struct weft_event event_of(enum weft_event_kind kind, uint64_t time_ns)
{
    return (struct weft_event){ .kind = kind,
                                .time_ns = time_ns,
                                .cpu = -1,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE,
                                .category = WEFT_STR("uftrace") };
}

/* Bytes that nothing explains, as hexadecimal digits. */
static size_t print_hex(const uint8_t *bytes, size_t n_bytes, char *text)
{
    size_t at = 0;
    text[at++] = '{';
    for (size_t k = 0; k < n_bytes && at + 4 < WEFT_UFT_TEXT_BYTES; k++, at += 2)
        (void)snprintf(text + at, 3, "%02x", bytes[k]);
    text[at++] = '}';
    return at;
}

static enum weft_code add_values(struct weft_uft_out *out, const struct weft_uft_record *record,
                                 uint64_t time_ns, struct weft_err *err)
{
    bool is_exit = record->type == WEFT_UFT_EXIT;
    struct weft_event event =
        event_of(is_exit ? WEFT_EVENT_INSTANT : WEFT_EVENT_CALL_ARGS, time_ns);
    uint64_t first = 0;
    if (record->args)
        event.payload.n_bytes =
            weft_uft_args_print(record->args, record->data, out->text, WEFT_UFT_TEXT_BYTES, &first);
    else
        event.payload.n_bytes = print_hex(record->data, record->n_data, out->text);
    event.payload.bytes = out->text;
    if (is_exit) {
        event.name = WEFT_STR("return value");
        event.value = first;
    }
    return deliver_events(out, &event, 1, err);
}

/* Events that uftrace itself defines; their data are 64-bit numbers. */
static const struct known_event {
    uint32_t id;
    const char *name;
    const char *labels[3];
} known_events[] = {
    { 100001, "read:proc/statm", { "vmsize_kb", "vmrss_kb", "shared_kb" } },
    { 100002, "read:page-fault", { "major", "minor" } },
    { 100003, "diff:proc/statm", { "vmsize_kb", "vmrss_kb", "shared_kb" } },
    { 100004, "diff:page-fault", { "major", "minor" } },
    { 100005, "read:pmu-cycle", { "cycles", "instructions" } },
    { 100006, "diff:pmu-cycle", { "cycles", "instructions" } },
    { 100007, "read:pmu-cache", { "refers", "misses" } },
    { 100008, "diff:pmu-cache", { "refers", "misses" } },
    { 100009, "read:pmu-branch", { "branch", "misses" } },
    { 100010, "diff:pmu-branch", { "branch", "misses" } },
    { 100011, "watch:cpu", { NULL } },
    { 100012, "watch:var", { NULL } },
};

static const struct known_event *known_event(uint64_t id)
{
    for (size_t k = 0; k < sizeof known_events / sizeof *known_events; k++)
        if (known_events[k].id == id)
            return &known_events[k];
    return NULL;
}

static struct weft_str name_of_event(uint64_t id, const struct known_event *known,
                                     const struct weft_uft_event_names *names, char *room,
                                     size_t n_room)
{
    if (known)
        return weft_str_of(known->name);
    for (size_t k = 0; names && k < names->rows.n; k++)
        if (names->rows.items[k].id == id)
            return names->rows.items[k].name;
    (void)snprintf(room, n_room, "event:%" PRIu64, id);
    return weft_str_of(room);
}

static size_t print_event(const struct known_event *known, const struct weft_uft_record *record,
                          char *text)
{
    size_t n_labels = 0;
    size_t at = 0;
    while (known && n_labels < 3 && known->labels[n_labels])
        n_labels++;
    if (known && known->id == 100011 && record->n_data == 4)
        return (size_t)snprintf(text, WEFT_UFT_TEXT_BYTES, "cpu=%" PRIu32,
                                weft_load_u32(record->data));
    if (n_labels == 0 || record->n_data != n_labels * 8)
        return print_hex(record->data, record->n_data, text);
    for (size_t k = 0; k < n_labels; k++)
        at += (size_t)snprintf(text + at, WEFT_UFT_TEXT_BYTES - at, "%s%s=%" PRId64, k ? " " : "",
                               known->labels[k], (int64_t)weft_load_u64(record->data + k * 8));
    return at;
}

static enum weft_code add_event(struct weft_uft_out *out, const struct weft_uft_record *record,
                                uint64_t time_ns, const struct weft_uft_event_names *names,
                                struct weft_err *err)
{
    char room[32];
    const struct known_event *known = known_event(record->id);
    struct weft_event event = event_of(WEFT_EVENT_INSTANT, time_ns);
    event.name = name_of_event(record->id, known, names, room, sizeof room);
    event.value = record->id;
    if (record->n_data) {
        event.payload.n_bytes = print_event(known, record, out->text);
        event.payload.bytes = out->text;
    }
    return deliver_events(out, &event, 1, err);
}

enum weft_code weft_uft_out_record(struct weft_uft_out *out, const struct weft_uft_record *record,
                                   uint32_t key, const struct weft_uft_event_names *names,
                                   struct weft_err *err)
{
    uint64_t time_ns = weft_sub_sat_u64(record->time_ns, out->zero_ns);
    if (record->type == WEFT_UFT_EVENT)
        return add_event(out, record, time_ns, names, err);
    if (out->n_calls + 2 > WEFT_UFT_BATCH_CALLS) {
        WEFT_TRY(weft_uft_out_flush(out, err));
    }
    out->last_ns = weft_max_u64(out->last_ns, time_ns);
    add_call(out, time_ns, key, record->depth, record->type == WEFT_UFT_EXIT);
    return record->n_data ? add_values(out, record, time_ns, err) : WEFT_OK;
}

enum weft_code weft_uft_out_plain(struct weft_uft_out *out, const struct weft_uft_plain *plain,
                                  size_t n, const struct weft_uft_local *locals,
                                  struct weft_err *err)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t time_ns = weft_sub_sat_u64(plain[k].time_ns, out->zero_ns);
        if (out->n_calls + 2 > WEFT_UFT_BATCH_CALLS) {
            WEFT_TRY(weft_uft_out_flush(out, err));
        }
        out->last_ns = weft_max_u64(out->last_ns, time_ns);
        add_call(out, time_ns, locals[plain[k].local].key, plain[k].depth, plain[k].is_exit);
    }
    return WEFT_OK;
}

/* ---- scheduling -------------------------------------------------------------------------------
 */

/* Leaving: to no known thread, state 0 when it was pre-empted, 1 when it slept. Coming: to
 * itself. */
static struct weft_event switch_event(const struct weft_uft_out *out,
                                      const struct weft_uft_switch *row)
{
    struct weft_event event =
        event_of(WEFT_EVENT_SWITCH, weft_sub_sat_u64(row->time_ns, out->zero_ns));
    event.cpu = row->cpu;
    if (row->kind == WEFT_UFT_SWITCH_IN)
        event.next_thread_id = out->thread_id;
    event.prev_state = row->kind == WEFT_UFT_SWITCH_OUT;
    return event;
}

enum weft_code weft_uft_out_switches(struct weft_uft_out *out,
                                     const struct weft_uft_switch *switches, size_t n,
                                     struct weft_err *err)
{
    struct weft_event events[BATCH_SWITCHES];
    enum weft_code code = WEFT_OK;
    for (size_t at = 0; at < n && code == WEFT_OK;) {
        size_t n_now = n - at < BATCH_SWITCHES ? n - at : BATCH_SWITCHES;
        size_t n_events = 0;
        for (size_t k = 0; k < n_now; k++)
            if (switches[at + k].time_ns < WEFT_UFT_MOST_NS)
                events[n_events++] = switch_event(out, &switches[at + k]);
        code = deliver_events(out, events, n_events, err);
        at += n_now;
    }
    return code;
}

enum weft_code weft_uft_event_names_read(const struct weft_mapped *file,
                                         struct weft_uft_event_names *names, struct weft_err *err)
{
    struct weft_str rest = { .bytes = (const char *)file->bytes, .n_bytes = file->n_bytes };
    struct weft_str line;
    while (weft_uft_line(&rest, &line)) {
        struct weft_str word;
        uint64_t id;
        if (!weft_uft_take(&line, "EVENT:") || !weft_uft_word(&line, &word) ||
            !weft_uft_decimal(word, &id) || !weft_uft_word(&line, &word))
            continue;
        struct weft_uft_event_name *slot = WEFT_VEC_PUSH(&names->rows);
        if (!slot)
            return weft_no_memory(err, "names of events");
        *slot = (struct weft_uft_event_name){ .id = id, .name = word };
    }
    return WEFT_OK;
}
