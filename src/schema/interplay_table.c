/* SPDX-License-Identifier: MIT
 *
 * The columns of the tables of thread interaction.
 */
#include "schema/interplay.h"
#include "schema/tables.h"

WEFT_NAME_OF(kind_name, weft_shared_kind_name, enum weft_shared_kind)
WEFT_NAME_OF(mode_name, weft_wait_mode_name, enum weft_wait_mode)
WEFT_NAME_OF(pattern_name, weft_pattern_kind_name, enum weft_pattern_kind)

enum site_text { SITE_FUNCTION, SITE_PATH, SITE_CALL };

/* A text of the site whose place is the member. */
static WEFT_GET(get_site)
{
    const struct weft_interplay_table *table = context->of;
    const uint32_t place = (uint32_t)weft_member_number(row, WEFT_FROM_U32, field->offset);
    if (place != WEFT_ID_NONE) {
        const struct weft_interplay_site *site = &table->sites[place];
        const struct weft_str texts[] = {
            [SITE_FUNCTION] = site->function, [SITE_PATH] = site->path, [SITE_CALL] = site->call
        };
        cell->text = texts[field->arg];
    }
    cell->is_null = cell->text.n_bytes == 0;
}

/* Of the object whose place is the member; WEFT_ID_NONE: unknown. */
static const struct weft_shared_object *
object_of(const struct weft_field *field, const struct weft_table_context *context, const void *row)
{
    const struct weft_interplay_table *table = context->of;
    const uint32_t place = (uint32_t)weft_member_number(row, WEFT_FROM_U32, field->offset);
    return place == WEFT_ID_NONE ? NULL : &table->objects[place];
}

/* For people no address is alone: "mutex 0x7f00". */
static struct weft_str shown_name(const struct weft_table_context *context, struct weft_str name,
                                  uint8_t kind)
{
    const bool is_address = name.n_bytes > 2 && name.bytes[0] == '0' && name.bytes[1] == 'x';
    return context->is_text && is_address
               ? weft_arena_printf(context->arena, "%s %.*s", kind_name(kind), (int)name.n_bytes,
                                   name.bytes)
               : name;
}

static WEFT_GET(get_object)
{
    const struct weft_shared_object *object = object_of(field, context, row);
    if (object)
        cell->text = shown_name(context, object->name, object->kind);
    cell->is_null = cell->text.n_bytes == 0;
}

static WEFT_GET(get_object_id)
{
    cell->number = object_of(field, context, row)->id;
}

static WEFT_GET(get_object_kind)
{
    cell->text = weft_str_of(kind_name(object_of(field, context, row)->kind));
}

#define SITE(key, head, text, member, ...)                                                         \
    WEFT_FIELD(key, head, TEXT, member, __VA_ARGS__, .get = get_site, .arg = text)

/* ---- threads --------------------------------------------------------------------------------- */

#define ROW struct weft_interplay_thread

static WEFT_GET(get_life_share)
{
    const ROW *thread = row;
    cell->real = weft_share_of(thread->wait_ns, thread->last_ns - thread->first_ns);
}

#define WAITS .needs = WEFT_KNOWN_WAITS
#define F64(name) WEFT_AND_COLUMN(F64, name)

static const struct weft_field thread_fields[] = {
    WEFT_FIELD_THREAD("tid", "tid", "thread", "thread", thread_id, "the thread"),
    WEFT_COLUMN("thread", U32, thread_id),
    WEFT_COLUMN("first_ns", F64, first_ns),
    WEFT_COLUMN("last_ns", F64, last_ns),
    WEFT_FIELD("waits", "waits", COUNT, waits, "its waits", WAITS, F64("waits")),
    WEFT_FIELD("wait_ns", "waited", NS, wait_ns, "their time", WAITS, F64("wait_ns")),
    WEFT_GETTER("share", "of lifetime", SHARE, get_life_share, "share of its lifetime", WAITS),
    WEFT_FIELD("longest_wait_ns", "longest", NS, longest_wait_ns, "the longest wait", WAITS,
               F64("longest_wait_ns")),
    WEFT_FIELD("longest_wait_at_ns", NULL, AT, longest_wait_at_ns, "its start", WAITS,
               .given = WEFT_MEMBER(ROW, waits), F64("longest_wait_at_ns")),
    WEFT_FIELD("main_releaser_tid", "tid", ID, main_releaser_id,
               "tid of the thread it waited for longest", .as = WEFT_AS_TID, WAITS),
    WEFT_FIELD("main_releaser", "mostly by", TEXT, main_releaser_id, "name of that thread",
               .as = WEFT_AS_THREAD, WAITS),
    WEFT_FIELD("main_releaser_ns", NULL, NS, main_releaser_ns, "for how long", WAITS),
    WEFT_FIELD("releasers", NULL, COUNT, n_releasers, "threads that it waited for", WAITS),
    WEFT_FIELD("io", NULL, COUNT, io, "blocking I/O calls", .needs = WEFT_KNOWN_IO, F64("io")),
    WEFT_FIELD("io_ns", "I/O", NS, io_ns, "their time", .is_detail = true, .needs = WEFT_KNOWN_IO,
               F64("io_ns")),
    WEFT_COLUMN("releases", F64, releases),
    WEFT_FIELD("uncontended", "uncontended", COUNT, uncontended, "uncontended acquisitions",
               .is_detail = true, .needs = WEFT_KNOWN_UNCONTENDED, F64("uncontended")),
    WEFT_FIELD("releases", "releases", COUNT, releases, "calls that release", .is_detail = true,
               .needs = WEFT_KNOWN_RELEASES),
    WEFT_FIELD("released", "woke", COUNT, released, "waits of others that it ended", WAITS,
               F64("released")),
    WEFT_FIELD("released_ns", "blocked", NS, released_ns, "their time", WAITS, F64("released_ns")),
    WEFT_FIELD("failed", NULL, COUNT, failed, "waits that failed", WAITS, F64("failed")),
    WEFT_FIELD("cut", NULL, COUNT, cut, "waits that did not end", WAITS, F64("cut")),
    WEFT_COLUMN("main_releaser", I32, main_releaser_id),
    WEFT_COLUMN("main_releaser_ns", F64, main_releaser_ns),
    WEFT_COLUMN("n_releasers", U32, n_releasers),
    WEFT_FIELD("least_release_depth", NULL, COUNT, least_depth, "least depth of its releases",
               WAITS, .given = WEFT_MEMBER(ROW, released), WEFT_AND_COLUMN(U32, "least_depth")),
    WEFT_FIELD("most_release_depth", NULL, COUNT, most_depth, "largest depth of its releases",
               WAITS, .given = WEFT_MEMBER(ROW, released), WEFT_AND_COLUMN(U32, "most_depth")),
    WEFT_FIELD("never_waits", NULL, BOOL, never_waits, "no wait and no blocking I/O", WAITS,
               WEFT_AND_COLUMN(U8, "never_waits")),
    WEFT_FIELD("waits_all_along", NULL, BOOL, waits_all_along,
               "one wait takes 95 % of its lifetime", WAITS,
               WEFT_AND_COLUMN(U8, "waits_all_along")),
    WEFT_FIELD("first_ns", NULL, AT, first_ns, "start of its lifetime in the window"),
    WEFT_FIELD("last_ns", NULL, AT, last_ns, "end of its lifetime in the window"),
};

const struct weft_table_type weft_interplay_threads_type =
    WEFT_TABLE_TYPE("interplay_threads", "threads that wait and release", thread_fields, ROW);

/* ---- the matrix ------------------------------------------------------------------------------ */

#undef ROW
#define ROW struct weft_interplay_cell

static WEFT_GET(get_wait_share)
{
    const struct weft_interplay_table *table = context->of;
    cell->real = weft_share_of(((const ROW *)row)->sum_ns, table->wait_ns);
}

static const struct weft_field cell_fields[] = {
    WEFT_FIELD_THREAD("waiter_tid", "tid", "waiter", "waiter", waiter_id, "the waiter"),
    WEFT_FIELD_THREAD("releaser_tid", "tid", "releaser", "woken by", releaser_id,
                      "the thread that ended the waits"),
    WEFT_COLUMN("waiter", U32, waiter_id),
    WEFT_COLUMN("releaser", I32, releaser_id),
    WEFT_FIELD("count", "count", COUNT, count, "waits", F64("count")),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "their time", F64("sum_ns")),
    WEFT_GETTER("share", "of all", SHARE, get_wait_share, "share of all waiting",
                .is_detail = true),
    WEFT_FIELD("longest_ns", "longest", NS, longest_ns, "the longest one", F64("longest_ns")),
    WEFT_FIELD("longest_at_ns", "at", AT, longest_at_ns, "its start", .is_detail = true,
               F64("longest_at_ns")),
    WEFT_FIELD("objects", NULL, COUNT, n_objects, "objects waited for",
               WEFT_AND_COLUMN(U32, "n_objects")),
    WEFT_COLUMN("object", I32, object),
    WEFT_FIELD("object_id", NULL, ID, object, "number of the object of most time",
               .get = get_object_id),
    WEFT_FIELD("object", "object", TEXT, object, "its name", .get = get_object),
    WEFT_FIELD("object_kind", NULL, TEXT, object, "its kind", .get = get_object_kind),
};

const struct weft_table_type weft_interplay_cells_type =
    WEFT_TABLE_TYPE("interplay_cells", "wait-for relations of threads", cell_fields, ROW);

/* ---- pairs of functions ---------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_interplay_pair

static const struct weft_field pair_fields[] = {
    WEFT_COLUMN("wait_site", I32, wait_site),
    WEFT_COLUMN("release_site", I32, release_site),
    SITE("wait_function", "wait function", SITE_FUNCTION, wait_site, "the waiting function"),
    SITE("release_function", "waker function", SITE_FUNCTION, release_site,
         "the function that ends the waits"),
    WEFT_FIELD("kind", "kind", TEXT, kind, "kind of the object", .as = WEFT_AS_NAME,
               .name = kind_name, WEFT_AND_COLUMN(U8, "kind")),
    WEFT_FIELD("count", "count", COUNT, count, "waits", F64("count")),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "their time", F64("sum_ns")),
    WEFT_FIELD("longest_ns", "longest", NS, longest_ns, "the longest one", F64("longest_ns")),
    WEFT_FIELD("longest_at_ns", "at", AT, longest_at_ns, "its start", .is_detail = true,
               F64("longest_at_ns")),
    WEFT_FIELD("longest_tid", NULL, ID, longest_waiter_id, "its thread", .as = WEFT_AS_TID,
               WEFT_AND_COLUMN(U32, "longest_waiter")),
    SITE("wait_path", NULL, SITE_PATH, wait_site, "call path of the waiting function"),
    SITE("release_path", NULL, SITE_PATH, release_site, "call path of the releasing function"),
    WEFT_FIELD("confirmed", "confirmed", COUNT, confidence[WEFT_SURETY_CONFIRMED],
               "waits whose release and wakeup agree", .is_detail = true),
    WEFT_FIELD("ambiguous", "ambiguous", COUNT, confidence[WEFT_SURETY_AMBIGUOUS],
               "waits that several releases may have ended", .is_detail = true),
};

const struct weft_table_type weft_interplay_pairs_type =
    WEFT_TABLE_TYPE("interplay_pairs", "wait sites and wake sites", pair_fields, ROW);

/* ---- objects, patterns ----------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_shared_object

static WEFT_GET(get_own_name)
{
    const ROW *object = row;
    cell->text = shown_name(context, object->name, object->kind);
    cell->is_null = cell->text.n_bytes == 0;
}

static const struct weft_field object_fields[] = {
    WEFT_FIELD("object_id", "id", ID, id, "number of the object in the trace"),
    WEFT_FIELD("object", "object", TEXT, name, "its name", .get = get_own_name),
    WEFT_FIELD("kind", "kind", TEXT, kind, "mutex, condition, join ...", .as = WEFT_AS_NAME,
               .name = kind_name),
    WEFT_FIELD("pid", NULL, ID, pid, "its process", .zero_is_unknown = true),
    WEFT_FIELD("waits", "waits", COUNT, waits, "waits for it"),
    WEFT_FIELD("wait_ns", "waited", NS, wait_ns, "their time"),
    WEFT_FIELD("waiters", "threads", COUNT, n_waiters, "threads that waited for it"),
    WEFT_FIELD("uncontended", "uncontended", COUNT, uncontended, "uncontended acquisitions",
               .needs = WEFT_KNOWN_UNCONTENDED),
    WEFT_FIELD("releases", "releases", COUNT, releases, "releases", .needs = WEFT_KNOWN_RELEASES),
    WEFT_FIELD("never_released", "never released", BOOL, is_never_released,
               "waited for, and never released", .is_bad = true),
    WEFT_FIELD("reused", "reused", BOOL, is_reused, "another object was at its address before",
               .is_bad = true),
};

const struct weft_table_type weft_interplay_objects_type =
    WEFT_TABLE_TYPE("interplay_objects", "objects that threads wait for", object_fields, ROW);

#undef ROW
#define ROW struct weft_interplay_pattern

static WEFT_GET(get_threads)
{
    cell->number = (uint64_t)((const ROW *)row)->n_others + 1;
}

static const struct weft_field pattern_fields[] = {
    WEFT_FIELD("pattern", "pattern", TEXT, kind, "convoy, ping_pong, idle_worker ...",
               .as = WEFT_AS_NAME, .name = pattern_name),
    WEFT_FIELD_THREAD("tid", NULL, "thread", NULL, thread_id, "the thread that it is about"),
    WEFT_GETTER("threads", NULL, COUNT, get_threads, "threads in it"),
    WEFT_FIELD("object", NULL, TEXT, object, "object that it is about", .get = get_object),
    WEFT_FIELD("from_ns", NULL, AT, from_ns, "where it starts"),
    WEFT_FIELD("to_ns", NULL, AT, to_ns, "where it ends"),
    WEFT_FIELD("count", NULL, COUNT, count, "waits, wake-ups or acquisitions, by pattern"),
    WEFT_FIELD("value_ns", NULL, NS, value_ns, "time waited, or a period, by pattern"),
    WEFT_FIELD("before_ns", NULL, NS, before_ns, "the period before, or of the notification"),
    WEFT_FIELD("cost_ns", "cost", NS, cost_ns, "time that threads were kept waiting",
               .zero_is_unknown = true),
    WEFT_FIELD("share", NULL, RATIO, share, "of the thread's life, or of the waits, by pattern"),
    WEFT_FIELD("text", "evidence", TEXT, text, "the evidence", .zero_is_unknown = true),
};

const struct weft_table_type weft_interplay_patterns_type =
    WEFT_TABLE_TYPE("interplay_patterns", "patterns of thread interaction", pattern_fields, ROW);

/* ---- waits ----------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_correspondence

static bool is_joined(const void *row)
{
    return ((const ROW *)row)->releaser_id != WEFT_ID_NONE;
}

static WEFT_GET(get_release)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = !is_joined(row);
}

static WEFT_GET(get_unknown)
{
    const ROW *wait = row;
    cell->is_null = is_joined(row);
    cell->text = weft_str_of(weft_unknown_reason_name((enum weft_unknown_reason)wait->unknown));
}

static WEFT_GET(get_confidence)
{
    const ROW *wait = row;
    get_unknown(field, context, row, cell);
    cell->is_null = false;
    if (is_joined(row))
        cell->text = weft_str_of(weft_surety_name((enum weft_surety)wait->confidence));
}

#define FLAG(key, flag, ...)                                                                       \
    WEFT_FIELD(key, NULL, BOOL, flags, __VA_ARGS__, .as = WEFT_AS_FLAG,                            \
               .arg = WEFT_CORRESPONDENCE_##flag)

static const struct weft_field wait_fields[] = {
    WEFT_FIELD("start_ns", "at", AT, start_ns, "start of the wait", F64("start_ns")),
    WEFT_FIELD("wait_ns", "waited", NS, sum_ns, "its time"),
    WEFT_FIELD("end_ns", NULL, AT, end_ns, "its end", F64("end_ns")),
    WEFT_FIELD("release_ns", NULL, AT, last_release_ns, "when it was released", .get = get_release),
    WEFT_COLUMN("first_release_ns", F64, first_release_ns),
    WEFT_COLUMN("last_release_ns", F64, last_release_ns),
    WEFT_COLUMN("count", U32, count),
    WEFT_COLUMN("sum_ns", F64, sum_ns),
    WEFT_COLUMN("longest_ns", F64, longest_ns),
    WEFT_FIELD_THREAD("waiter_tid", "tid", "waiter", "thread", waiter_id, "the waiter"),
    SITE("wait_function", "in", SITE_FUNCTION, wait_site, "the waiting function"),
    SITE("wait_call", NULL, SITE_CALL, wait_site, "the call that waits"),
    WEFT_FIELD_THREAD("releaser_tid", "tid", "releaser", "woken by", releaser_id,
                      "the thread that ended it"),
    SITE("release_function", "from", SITE_FUNCTION, release_site, "the releasing function"),
    SITE("release_call", NULL, SITE_CALL, release_site, "the call that releases"),
    WEFT_FIELD("object_id", NULL, ID, object, "number of the object", .get = get_object_id),
    WEFT_FIELD("object", "object", TEXT, object, "its name", .get = get_object),
    WEFT_COLUMN("waiter", I32, waiter_id),
    WEFT_COLUMN("releaser", I32, releaser_id),
    WEFT_COLUMN("object", I32, object),
    WEFT_COLUMN("wait_site", I32, wait_site),
    WEFT_COLUMN("release_site", I32, release_site),
    WEFT_COLUMN("wait_depth", U16, wait_depth),
    WEFT_COLUMN("release_depth", U16, release_depth),
    WEFT_COLUMN("n_objects", U32, n_objects),
    WEFT_FIELD("kind", "kind", TEXT, kind, "its kind", .as = WEFT_AS_NAME, .name = kind_name,
               WEFT_AND_COLUMN(U8, "kind")),
    WEFT_FIELD("mode", "for", TEXT, mode, "any or all of several", .is_detail = true,
               .as = WEFT_AS_NAME, .name = mode_name, WEFT_AND_COLUMN(U8, "mode")),
    WEFT_FIELD("awaited", "of", COUNT, n_awaited, "objects of which any or all", .is_detail = true,
               .zero_is_unknown = true),
    WEFT_FIELD("confidence", "evidence", TEXT, confidence,
               "confidence of the releaser, or why there is none", .is_detail = true,
               .get = get_confidence, WEFT_AND_COLUMN(U8, "confidence")),
    WEFT_COLUMN("flags", U8, flags),
    WEFT_FIELD("unknown", NULL, TEXT, unknown, "why there is no releaser", .get = get_unknown,
               WEFT_AND_COLUMN(U8, "unknown")),
    FLAG("cut", CUT_END, "it did not end"),
    FLAG("failed", FAILED, "ended by its timeout or an error"),
    FLAG("timed", TIMED, "by a function that has a timeout"),
    FLAG("lossy", LOSSY, "events of its time are lost"),
    FLAG("open", CUT_END, "it did not end"),
    WEFT_FIELD_THREAD("holder_tid", NULL, "holder", NULL, holder_id,
                      "the holder, of a wait that did not end"),
};

const struct weft_table_type weft_interplay_waits_type =
    WEFT_TABLE_TYPE("interplay_waits", "waits and what ended them", wait_fields, ROW);

/* ---- losses ---------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_interplay_loss

static const struct weft_field loss_fields[] = {
    WEFT_FIELD("from_ns", "from", AT, from_ns, "last record before the loss"),
    WEFT_FIELD("to_ns", "to", AT, to_ns, "first record after it"),
    WEFT_FIELD_THREAD("tid", "tid", "thread", "thread", thread_id, "the thread"),
    WEFT_FIELD("records", "records", COUNT, n_records, "records lost", .is_bad = true),
};

const struct weft_table_type weft_interplay_losses_type =
    WEFT_TABLE_TYPE("interplay_losses", "where records are lost", loss_fields, ROW);
