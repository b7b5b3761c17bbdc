/* SPDX-License-Identifier: MIT
 *
 * The columns of the tables of locks, and what locks are called.
 */
#include "schema/locks.h"
#include "schema/tables.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME_BYTES = 64 };

/* ---- names ----------------------------------------------------------------------------------- */

/* A cut does not leave a part of a letter. */
static int length_of(struct weft_str name)
{
    size_t n = name.n_bytes;
    if (n > NAME_BYTES)
        for (n = NAME_BYTES; n > 0 && ((unsigned char)name.bytes[n] & 0xc0) == 0x80;)
            n--;
    return (int)n;
}

void weft_lock_label(const struct weft_table_context *context,
                     const struct weft_lock_object *object, char text[WEFT_LOCK_LABEL_BYTES])
{
    const size_t n_text = WEFT_LOCK_LABEL_BYTES;
    const struct weft_thread_info *joined = object->thread_id != WEFT_ID_NONE
                                                ? context->thread(context->trace, object->thread_id)
                                                : NULL;
    if (joined)
        (void)snprintf(text, n_text, "%" PRIu64 " %.*s", joined->tid, length_of(joined->name),
                       joined->name.bytes);
    else if (object->name.n_bytes)
        (void)snprintf(text, n_text, "%.*s", length_of(object->name), object->name.bytes);
    else if (context->is_text && object->place.n_bytes)
        (void)snprintf(text, n_text, "%s in %.*s", weft_lock_kind_name(object->kind),
                       length_of(object->place), object->place.bytes);
    else if (object->address)
        (void)snprintf(text, n_text, "0x%" PRIx64, object->address);
    else
        (void)snprintf(text, n_text, "%s", object->is_untold ? "(any)" : "(no address)");
    const size_t n = strlen(text);
    const bool is_place =
        context->is_text && !joined && !object->name.n_bytes && object->place.n_bytes > 0;
    const uint32_t nth = is_place ? object->nth_of_place + (object->nth_of_place > 0) : object->nth;
    if (nth)
        (void)snprintf(text + n, n_text - n, " #%" PRIu32, nth);
}

/* Copies without the NUL that snprintf may have cut. */
static void put_text(const struct weft_table_context *context, const char *text,
                     struct weft_cell *cell)
{
    cell->text = weft_arena_copy(context->arena, weft_str_of(text));
}

WEFT_NAME_OF(kind_name, weft_lock_kind_name, enum weft_lock_kind)

static const struct weft_lock_object *
object_of(const struct weft_field *field, const struct weft_table_context *context, const void *row)
{
    const struct weft_locks_table *table = context->of;
    return &table->rows[weft_member_number(row, WEFT_FROM_U32, field->offset)].object;
}

/* The lock whose place in the list of locks is the member. */
static WEFT_GET(get_lock)
{
    char text[WEFT_LOCK_LABEL_BYTES];
    weft_lock_label(context, object_of(field, context, row), text);
    put_text(context, text, cell);
}

static WEFT_GET(get_lock_kind)
{
    cell->text = weft_str_of(kind_name(object_of(field, context, row)->kind));
}

#define LOCK(id_key, key, head, member, doc)                                                       \
    WEFT_FIELD(id_key, NULL, ID, member, "place in the list of locks of " doc),                    \
        WEFT_FIELD(key, head, TEXT, member, doc, .get = get_lock)

/* ---- locks ----------------------------------------------------------------------------------- */

#define ROW struct weft_locks_row

static WEFT_GET(get_own_name)
{
    char text[WEFT_LOCK_LABEL_BYTES];
    weft_lock_label(context, &((const ROW *)row)->object, text);
    put_text(context, text, cell);
}

static WEFT_GET(get_sources)
{
    const unsigned sources = ((const ROW *)row)->object.sources;
    char text[WEFT_LOCK_LABEL_BYTES] = "";
    size_t n = 0;
    for (unsigned bit = 0; bit < WEFT_LOCK_N_SOURCES; bit++)
        if (sources >> bit & 1)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? "+" : "",
                                  weft_lock_source_name(bit));
    put_text(context, text, cell);
}

static WEFT_GET(get_address)
{
    const uint64_t address = ((const ROW *)row)->object.address;
    cell->is_null = address == 0;
    if (address)
        cell->text = weft_arena_printf(context->arena, "0x%" PRIx64, address);
}

/* Others are waited for, but not held. */
static WEFT_GET(get_if_held)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = !weft_lock_is_held(((const ROW *)row)->object.kind);
}

/* Unknown where no wait is one of blame or idle: of what is not held, without calls around. */
static WEFT_GET(get_blame)
{
    const ROW *lock = row;
    weft_field_read(field, context, row, cell);
    cell->is_null = lock->contended > 0 && lock->blame_ns == 0 && lock->idle_ns < lock->wait_ns &&
                    !weft_lock_is_held(lock->object.kind);
}

static const struct weft_field lock_fields[] = {
    { .key = "lock_id", .unit = WEFT_UNIT_ID, .as = WEFT_AS_PLACE, .doc = "place in the list" },
    WEFT_GETTER("lock", "lock", TEXT, get_own_name,
                "its name; else its address, in text the place where it is first acquired"),
    WEFT_FIELD("blame_ns", "blame", NS, blame_ns,
               "time that others were blocked by it, idle waits excluded", .get = get_blame),
    WEFT_FIELD("wait_ns", "waited", NS, wait_ns, "time of contended acquisitions"),
    WEFT_FIELD("idle_ns", "idle", NS, idle_ns, "of it, waits for new work or for ends of threads"),
    WEFT_FIELD("longest_wait_ns", "longest", NS, longest_wait_ns, "the longest wait"),
    WEFT_FIELD("longest_wait_at_ns", NULL, AT, longest_wait_at_ns, "its start",
               .given = WEFT_MEMBER(ROW, contended)),
    WEFT_FIELD("p99_wait_ns", "p99", NS, p99_wait_ns, "99th percentile of waits",
               .is_detail = true),
    WEFT_FIELD("contended", "contended", COUNT, contended, "contended acquisitions"),
    WEFT_FIELD("acquisitions", "acquired", COUNT, acquisitions, "acquisitions"),
    WEFT_FIELD("failed", NULL, COUNT, failed, "attempts that failed"),
    WEFT_FIELD("threads", "threads", COUNT, threads, "threads that use it", .is_detail = true),
    WEFT_FIELD("blocking_ns", NULL, NS, blocking_ns, "held while others waited"),
    WEFT_FIELD("hold_ns", "held", NS, hold_ns, "time held", .get = get_if_held),
    WEFT_FIELD("longest_hold_ns", "longest", NS, longest_hold_ns, "the longest hold",
               .is_detail = true, .get = get_if_held),
    WEFT_FIELD("partial", NULL, COUNT, partial, "holds that are partly known"),
    WEFT_FIELD("convoys", "convoys", COUNT, convoys, "lock convoys", .get = get_if_held,
               .is_detail = true),
    WEFT_FIELD("longest_convoy", NULL, COUNT, longest_convoy, "acquisitions of the longest one",
               .get = get_if_held),
    WEFT_FIELD("kind", "kind", TEXT, object.kind, "mutex, rwlock, condition ...",
               .as = WEFT_AS_NAME, .name = kind_name, .is_detail = true),
    WEFT_GETTER("sources", "source", TEXT, get_sources, "events, calls, futex", .is_detail = true),
    WEFT_FIELD("pid", NULL, ID, object.pid, "its process", .zero_is_unknown = true),
    WEFT_GETTER("address", "address", TEXT, get_address, "its address", .is_detail = true),
    WEFT_FIELD("open", NULL, COUNT, open, "waits that did not end"),
};

const struct weft_table_type weft_locks_type =
    WEFT_TABLE_TYPE("locks", "locks, most blame first", lock_fields, ROW);

/* ---- the other lists ------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_locks_site

static WEFT_GET(get_site_hold)
{
    const struct weft_locks_table *table = context->of;
    weft_field_read(field, context, row, cell);
    cell->is_null = !weft_lock_is_held(table->rows[((const ROW *)row)->lock].object.kind);
}

static const struct weft_field site_fields[] = {
    LOCK("lock_id", "lock", "lock", lock, "the lock"),
    WEFT_FIELD("function", "function", TEXT, name, "the calling function", .zero_is_unknown = true),
    WEFT_FIELD("wait_ns", "waited", NS, wait_ns, "time of contended acquisitions"),
    WEFT_FIELD("longest_wait_ns", "longest", NS, longest_wait_ns, "the longest wait"),
    WEFT_FIELD("contended", "contended", COUNT, contended, "contended acquisitions"),
    WEFT_FIELD("acquisitions", "acquired", COUNT, acquisitions, "acquisitions"),
    WEFT_FIELD("hold_ns", "held", NS, hold_ns, "time held", .get = get_site_hold),
};

const struct weft_table_type weft_lock_sites_type =
    WEFT_TABLE_TYPE("lock_sites", "acquisition sites of locks", site_fields, ROW);

#undef ROW
#define ROW struct weft_locks_pair

static const struct weft_field pair_fields[] = {
    LOCK("lock_id", "lock", "lock", lock, "the lock"),
    WEFT_FIELD_THREAD("blocker_tid", "tid", "blocker", "holder", blocker_id, "the holder"),
    WEFT_FIELD_THREAD("waiter_tid", "tid", "waiter", "waiter", waiter_id, "the waiter"),
    WEFT_FIELD("sum_ns", "waited", NS, sum_ns, "time of the waits"),
    WEFT_FIELD("count", "waits", COUNT, count, "waits"),
    WEFT_FIELD("longest_ns", "longest", NS, longest_ns, "the longest one"),
    WEFT_FIELD("longest_at_ns", "at", AT, longest_at_ns, "its start"),
};

const struct weft_table_type weft_lock_pairs_type =
    WEFT_TABLE_TYPE("lock_pairs", "holders and waiters", pair_fields, ROW);

#undef ROW
#define ROW struct weft_locks_context

static WEFT_GET(get_lock_share)
{
    const struct weft_locks_table *table = context->of;
    const ROW *held = row;
    cell->real = weft_share_of(held->sum_ns, table->rows[held->lock].blocking_ns);
}

static const struct weft_field context_fields[] = {
    LOCK("lock_id", "lock", "lock", lock, "the lock"),
    WEFT_FIELD_THREAD("tid", "tid", "thread", "holder", thread_id, "the holder"),
    WEFT_FIELD("function", "in", TEXT, name, "its innermost function", .zero_is_unknown = true),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "time there while others waited"),
    WEFT_GETTER("share", "of lock", SHARE, get_lock_share, "share of that time of the lock"),
};

const struct weft_table_type weft_lock_contexts_type = WEFT_TABLE_TYPE(
    "lock_contexts", "what holders were doing while others waited", context_fields, ROW);

#undef ROW
#define ROW struct weft_locks_order

static const struct weft_field order_fields[] = {
    LOCK("first_id", "first", "holds", first, "the lock that is held"),
    LOCK("second_id", "second", "acquires", second, "the lock that is acquired"),
    WEFT_FIELD("count", "count", COUNT, count, "how often"),
    WEFT_FIELD("first_at_ns", "first at", AT, first_at_ns, "the first time"),
    WEFT_FIELD("inverse", "reversed", COUNT, inverse, "how often in the other order",
               .is_bad = true),
};

const struct weft_table_type weft_lock_orders_type =
    WEFT_TABLE_TYPE("lock_orders", "locks acquired while another one is held", order_fields, ROW);

#undef ROW
#define ROW struct weft_locks_convoy

static const struct weft_field convoy_fields[] = {
    LOCK("lock_id", "lock", "lock", lock, "the lock"),
    WEFT_FIELD("start_ns", "at", AT, start_ns, "start of the convoy"),
    WEFT_FIELD("end_ns", NULL, AT, end_ns, "its end"),
    WEFT_DURATION(NULL, "time", start_ns, end_ns, "its duration"),
    WEFT_FIELD("wait_ns", "waited", NS, wait_ns, "time of all waits in it"),
    WEFT_FIELD("acquisitions", "acquired", COUNT, acquisitions, "acquisitions in it"),
    WEFT_FIELD("threads", "threads", COUNT, threads, "threads in it"),
};

const struct weft_table_type weft_lock_convoys_type = WEFT_TABLE_TYPE(
    "lock_convoys", "successive acquisitions, each of which waited for the one before",
    convoy_fields, ROW);

#undef ROW
#define ROW struct weft_locks_open

static WEFT_GET(get_true)
{
    cell->number = true;
}

static const struct weft_field open_fields[] = {
    LOCK("lock_id", "lock", "lock", lock, "the lock"),
    WEFT_FIELD("kind", "kind", TEXT, lock, "its kind", .get = get_lock_kind),
    WEFT_FIELD_THREAD("waiter_tid", "tid", "waiter", "waiter", waiter_id, "the waiter"),
    WEFT_FIELD("function", "function", TEXT, function, "the waiting function",
               .zero_is_unknown = true),
    WEFT_FIELD("start_ns", "since", AT, start_ns, "start of the wait"),
    WEFT_FIELD("wait_ns", "waited", NS, wait_ns, "its time up to the end of the trace"),
    WEFT_FIELD_THREAD("holder_tid", "tid", "holder", "holder", holder_id, "the holder"),
    WEFT_FIELD("deadlock", "deadlock", COUNT, deadlock, "number of the cycle of waits",
               .zero_is_unknown = true, .is_bad = true),
    WEFT_GETTER("open", NULL, BOOL, get_true, "always true"),
};

const struct weft_table_type weft_lock_opens_type =
    WEFT_TABLE_TYPE("lock_opens", "waits that did not end", open_fields, ROW);
