/* SPDX-License-Identifier: MIT
 *
 * The columns of critical paths.
 */
#include "schema/path.h"
#include "schema/tables.h"

WEFT_NAME_OF(state_name, weft_path_state_name, enum weft_path_state)
WEFT_NAME_OF(edge_name, weft_path_edge_name, enum weft_path_edge)
WEFT_NAME_OF(lock_kind_name, weft_lock_kind_name, enum weft_lock_kind)

static const char *reason_name(unsigned reason)
{
    return reason == WEFT_PATH_NO_REASON ? NULL
                                         : weft_path_reason_name((enum weft_path_reason)reason);
}

static double share_of(const struct weft_table_context *context, uint64_t part_ns)
{
    const struct weft_path_table *table = context->of;
    return weft_share_of(part_ns, table->to_ns - table->from_ns);
}

/* Of the whole path, the 64-bit member. */
static WEFT_GET(get_share)
{
    cell->real = share_of(context, weft_member_number(row, WEFT_FROM_U64, field->offset));
}

#define SHARE_OF(member)                                                                           \
    WEFT_GETTER(NULL, "share", SHARE, get_share, "share of the path",                              \
                .offset = offsetof(ROW, member))
#define FLAG(key, flag, ...)                                                                       \
    WEFT_FIELD(key, NULL, BOOL, flags, __VA_ARGS__, .as = WEFT_AS_FLAG, .arg = flag)
#define HOST(key, member) WEFT_FIELD(key, NULL, ID, member, "its host", .as = WEFT_AS_HOST)
#define TID(key, member, doc) WEFT_FIELD(key, NULL, ID, member, doc, .as = WEFT_AS_TID)

/* ---- segments -------------------------------------------------------------------------------- */

#define ROW struct weft_path_segment

static WEFT_GET(get_segment_share)
{
    const ROW *segment = row;
    cell->real = share_of(context, segment->end_ns - segment->start_ns);
}

/* The frame of a folded stack from which the kernel was entered, or the innermost. */
static struct weft_str innermost(struct weft_str stack)
{
    static const char *const entries[] = { "entry_SYSCALL", "entry_SYSENTER", "asm_",
                                           "el0t_",         "el1h_",          "__traceiter" };
    struct weft_str last = { 0 };
    for (size_t at = 0; at < stack.n_bytes;) {
        const char *end = memchr(stack.bytes + at, ';', stack.n_bytes - at);
        const size_t n = end ? (size_t)(end - stack.bytes) - at : stack.n_bytes - at;
        const struct weft_str frame = { .bytes = stack.bytes + at, .n_bytes = n };
        for (size_t k = 0; k < sizeof entries / sizeof *entries; k++)
            if (last.n_bytes && n >= strlen(entries[k]) &&
                memcmp(frame.bytes, entries[k], strlen(entries[k])) == 0)
                return last;
        last = frame;
        at += n + 1;
    }
    return last;
}

/* A function, or without calls the frame of the stack that lies at field->arg. */
static WEFT_GET(get_place)
{
    weft_field_read(field, context, row, cell);
    if (!cell->is_null)
        return;
    const struct weft_str *stack = (const void *)((const char *)row + field->arg);
    cell->is_null = stack->n_bytes == 0;
    cell->text = innermost(*stack);
}

static const struct weft_field segment_fields[] = {
    WEFT_FIELD("start_ns", "at", AT, start_ns, "start of the segment"),
    WEFT_FIELD("end_ns", NULL, AT, end_ns, "its end"),
    WEFT_DURATION(NULL, "time", start_ns, end_ns, "its duration"),
    WEFT_GETTER(NULL, "share", SHARE, get_segment_share, "share of the path"),
    WEFT_FIELD_THREAD("tid", "tid", "thread", "thread", thread_id, "the thread"),
    HOST("host", thread_id),
    WEFT_FIELD("state", "state", TEXT, state, "its state", .as = WEFT_AS_NAME, .name = state_name),
    WEFT_FIELD("reason", "reason", TEXT, reason, "what ended a wait", .as = WEFT_AS_NAME,
               .name = reason_name),
    WEFT_FIELD("name", "in", TEXT, name, "interrupt, device or system call",
               .zero_is_unknown = true),
    WEFT_FIELD("function", "function", TEXT, function_id, "function in which it was longest",
               .as = WEFT_AS_FUNCTION, .get = get_place, .arg = offsetof(ROW, stack)),
    WEFT_FIELD("function_ns", NULL, NS, function_ns, "for how long"),
    WEFT_FIELD("cpu", NULL, ID, cpu, "the CPU"),
    WEFT_FIELD("depth", NULL, ID, depth, "waits between the thread asked for and this one"),
    WEFT_FIELD_THREAD("other_tid", "by", "other_thread", "other thread", other_thread_id,
                      "the thread that ended the wait or had the CPU"),
    WEFT_FIELD("other_ns", NULL, NS, other_ns, "for how long it had the CPU or the device"),
    WEFT_FIELD("other_function", "its function", TEXT, other_function_id,
               "function in which that one was longest", .as = WEFT_AS_FUNCTION, .get = get_place,
               .arg = offsetof(ROW, other_stack)),
    FLAG("in_flight", WEFT_PATH_IN_FLIGHT, "a message in flight"),
    FLAG("uncertain", WEFT_PATH_UNCERTAIN, "inferred"),
    FLAG("cycle", WEFT_PATH_CYCLE, "its waker waits for this path"),
    FLAG("too_deep", WEFT_PATH_TOO_DEEP, "within too many other waits"),
    FLAG("unfinished", WEFT_PATH_UNFINISHED, "did not end in the trace"),
    FLAG("timed_out", WEFT_PATH_TIMED_OUT, "a wait that ended because its time was over"),
    WEFT_FIELD("stack", NULL, TEXT, stack, "folded stack of its samples", .zero_is_unknown = true),
    WEFT_FIELD("other_stack", NULL, TEXT, other_stack, "folded stack of the other thread",
               .zero_is_unknown = true),
    WEFT_FIELD("span", NULL, TEXT, span, "span that covers most of it", .zero_is_unknown = true),
    WEFT_FIELD("span_ns", NULL, NS, span_ns, "for how long"),
    WEFT_FIELD_ID("thread_id", thread_id, "id of the thread"),
    WEFT_FIELD_ID("fn", function_id, "id of the function"),
    WEFT_FIELD_ID("other_thread_id", other_thread_id, "id of the other thread"),
};

const struct weft_table_type weft_path_segments_type =
    WEFT_TABLE_TYPE("path_segments", "segments of a critical path", segment_fields, ROW);

/* ---- arrows ---------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_path_arrow

static WEFT_GET(get_wait)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = ((const ROW *)row)->edge == WEFT_PATH_WAIT;
}

static WEFT_GET(get_arrow_lock)
{
    const uint32_t lock = ((const ROW *)row)->lock;
    cell->is_null = lock == 0;
    cell->number = lock ? lock - 1 : 0;
}

static const struct weft_field arrow_fields[] = {
    WEFT_FIELD("from_ns", NULL, AT, from_ns, "start of the arrow"),
    WEFT_FIELD("to_ns", NULL, AT, to_ns, "its end"),
    TID("from_tid", from_thread_id, "tid where it starts"),
    HOST("from_host", from_thread_id),
    TID("to_tid", to_thread_id, "tid where it ends"),
    HOST("to_host", to_thread_id),
    WEFT_FIELD("edge", NULL, TEXT, edge, "wakeup, lock, signal ...", .as = WEFT_AS_NAME,
               .name = edge_name),
    FLAG("uncertain", WEFT_PATH_UNCERTAIN, "inferred"),
    WEFT_FIELD("wait_ns", NULL, NS, wait_ns, "time of the path that it stands for",
               .get = get_wait),
    WEFT_GETTER("lock_id", NULL, ID, get_arrow_lock, "place in the list of locks"),
    WEFT_FIELD_ID("from_thread_id", from_thread_id, "id of the thread where it starts"),
    WEFT_FIELD_ID("to_thread_id", to_thread_id, "id of the thread where it ends"),
};

const struct weft_table_type weft_path_arrows_type =
    WEFT_TABLE_TYPE("path_arrows", "where a critical path changes threads", arrow_fields, ROW);

/* ---- sums ------------------------------------------------------------------------------------ */

#undef ROW
#define ROW struct weft_path_reason_row

static const struct weft_field reason_fields[] = {
    WEFT_FIELD("state", "state", TEXT, state, "state", .as = WEFT_AS_NAME, .name = state_name),
    WEFT_FIELD("reason", "reason", TEXT, reason, "what ended the waits", .as = WEFT_AS_NAME,
               .name = reason_name),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "time of the path"),
    SHARE_OF(sum_ns),
    WEFT_FIELD("segments", "segments", COUNT, segments, "segments"),
};

const struct weft_table_type weft_path_reasons_type =
    WEFT_TABLE_TYPE("path_reasons", "where the time of a path went", reason_fields, ROW);

#undef ROW
#define ROW struct weft_path_lock_row

static WEFT_GET(get_lock)
{
    char text[WEFT_LOCK_LABEL_BYTES];
    weft_lock_label(context, &((const ROW *)row)->object, text);
    cell->text = weft_arena_copy(context->arena, weft_str_of(text));
}

static const struct weft_field lock_fields[] = {
    { .key = "lock_id",
      .unit = WEFT_UNIT_ID,
      .as = WEFT_AS_PLACE,
      .doc = "place in the list of locks" },
    WEFT_FIELD("edge", "by", TEXT, edge, "what ended the waits", .as = WEFT_AS_NAME,
               .name = edge_name),
    WEFT_FIELD("kind", "kind", TEXT, object.kind, "kind of the object", .as = WEFT_AS_NAME,
               .name = lock_kind_name),
    WEFT_GETTER("lock", "of", TEXT, get_lock, "its name, else its address"),
    WEFT_FIELD("count", "waits", COUNT, count, "waits"),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "their time"),
    SHARE_OF(sum_ns),
    WEFT_FIELD("longest_ns", "longest", NS, longest_ns, "the longest one"),
};

const struct weft_table_type weft_path_locks_type =
    WEFT_TABLE_TYPE("path_locks", "waits that a path went through", lock_fields, ROW);

#undef ROW
#define ROW struct weft_path_thread_row

static uint64_t moded_ns(const ROW *thread)
{
    return thread->by_state_ns[WEFT_PATH_USER] + thread->by_state_ns[WEFT_PATH_KERNEL];
}

static WEFT_GET(get_running)
{
    const ROW *thread = row;
    cell->number = moded_ns(thread) + thread->by_state_ns[WEFT_PATH_RUNNING];
}

static WEFT_GET(get_moded)
{
    const ROW *thread = row;
    weft_field_read(field, context, row, cell);
    cell->is_null = moded_ns(thread) < thread->by_state_ns[WEFT_PATH_RUNNING];
}

#define STATE(key, head, state, ...) WEFT_FIELD(key, head, NS, by_state_ns[state], __VA_ARGS__)

/* Without a kernel it is unknown what else a CPU did. */
static const struct weft_field thread_fields[] = {
    WEFT_FIELD("tid", "tid", ID, thread_id, "tid of the thread", .as = WEFT_AS_TID),
    HOST("host", thread_id),
    WEFT_FIELD("name", "thread", TEXT, thread_id, "its name", .as = WEFT_AS_THREAD),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "time of the path on it"),
    SHARE_OF(sum_ns),
    WEFT_GETTER("running_ns", "running", NS, get_running, "on a CPU"),
    STATE("user_ns", "user", WEFT_PATH_USER, "in user mode", .get = get_moded),
    STATE("kernel_ns", "in kernel", WEFT_PATH_KERNEL, "in the kernel", .get = get_moded),
    STATE("interrupted_ns", "interrupted", WEFT_PATH_INTERRUPTED, "stopped by interrupts",
          .needs = WEFT_PATH_KNOWS_CPUS),
    STATE("preempted_ns", "preempted", WEFT_PATH_PREEMPTED, "runnable, without a CPU",
          .needs = WEFT_PATH_KNOWS_CPUS),
    STATE("blocked_ns", "blocked", WEFT_PATH_BLOCKED, "blocked"),
    STATE("unknown_ns", "unknown", WEFT_PATH_UNKNOWN, "state unknown"),
    WEFT_FIELD("segments", "segments", COUNT, segments, "segments"),
    WEFT_FIELD_ID("thread_id", thread_id, "id of the thread"),
};

const struct weft_table_type weft_path_threads_type =
    WEFT_TABLE_TYPE("path_threads", "threads of a path", thread_fields, ROW);

/* Of running and waiting together. */
#define SHARE_OF_BOTH                                                                              \
    WEFT_GETTER(NULL, "share", SHARE, get_share_of_both, "share of the path",                      \
                .offset = offsetof(ROW, running_ns), .arg = offsetof(ROW, waiting_ns))

static WEFT_GET(get_share_of_both)
{
    cell->real = share_of(context, weft_member_number(row, WEFT_FROM_U64, field->offset) +
                                       weft_member_number(row, WEFT_FROM_U64, field->arg));
}

#undef ROW
#define ROW struct weft_path_function_row

static const struct weft_field function_fields[] = {
    WEFT_FIELD("running_ns", "running", NS, running_ns, "time that it ran"),
    SHARE_OF_BOTH,
    WEFT_FIELD("waiting_ns", "waiting", NS, waiting_ns, "time that it waited"),
    WEFT_FIELD("function", "function", TEXT, function_id, "the function", .as = WEFT_AS_FUNCTION),
    WEFT_FIELD_ID("fn", function_id, "id of the function"),
};

const struct weft_table_type weft_path_functions_type =
    WEFT_TABLE_TYPE("path_functions", "functions of a path", function_fields, ROW);

#undef ROW
#define ROW struct weft_path_span_row

static const struct weft_field span_fields[] = {
    WEFT_FIELD("running_ns", "running", NS, running_ns, "time that it ran"),
    SHARE_OF_BOTH,
    WEFT_FIELD("waiting_ns", "waiting", NS, waiting_ns, "time that it waited"),
    WEFT_FIELD("span", "span", TEXT, name, "the span"),
};

const struct weft_table_type weft_path_spans_type =
    WEFT_TABLE_TYPE("path_spans", "spans of a path", span_fields, ROW);

#undef ROW
#define ROW struct weft_path_other_row

static const struct weft_field other_fields[] = {
    WEFT_FIELD_THREAD("tid", "tid", "name", "thread", thread_id, "the thread"),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "for how long"),
    SHARE_OF(sum_ns),
};

const struct weft_table_type weft_path_others_type = WEFT_TABLE_TYPE(
    "path_others", "threads that had the CPU, or kept a block device busy", other_fields, ROW);
