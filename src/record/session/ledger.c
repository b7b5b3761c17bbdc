/* SPDX-License-Identifier: MIT
 *
 * The table of the ledger: processes, the programs that they ran, and what became of each.
 */
#include "base/checked.h"
#include "base/vec.h"
#include "record/session/image.h"
#include "record/session/ledger_table.h"

enum { PIECE_BYTES = 1 << 16, NAME_BYTES = 200, NAME_COST_BYTES = 32, YOUNG_NS = 1000000000 };

struct ledger *ledger_new(const struct ledger_opts *opts)
{
    struct ledger *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->opts = *opts;
    made->of_tid = weft_map_new();
    made->of_pid = weft_map_new();
    made->further = weft_map_new();
    made->names = weft_strtab_new();
    if (made->of_tid && made->of_pid && made->further && made->names && ledger_name(made, "") == 0)
        return made;
    ledger_free(made);
    return NULL;
}

void ledger_free(struct ledger *ledger)
{
    if (!ledger)
        return;
    WEFT_VEC_FINI(&ledger->processes);
    WEFT_VEC_FINI(&ledger->rings);
    WEFT_VEC_FINI(&ledger->events);
    WEFT_VEC_FINI(&ledger->by_tid);
    WEFT_VEC_FINI(&ledger->by_pid);
    weft_map_free(ledger->of_tid);
    weft_map_free(ledger->of_pid);
    weft_map_free(ledger->further);
    weft_strtab_free(ledger->names);
    proc_text_fini(&ledger->room);
    proc_text_fini(&ledger->numbers_room);
    free(ledger);
}

bool ledger_is_name(const struct ledger *ledger, uint32_t id, const char *name)
{
    return id && weft_str_equal(weft_strtab_get(ledger->names, id), weft_str_of(name));
}

uint32_t ledger_name(struct ledger *ledger, const char *name)
{
    const struct weft_str text = weft_str_of(name);
    const uint32_t n_before = weft_strtab_count(ledger->names);
    uint32_t id = 0;
    if (ledger->n_name_bytes >= LEDGER_NAME_BYTES)
        return 0;
    if (weft_strtab_intern(ledger->names, text, &id, NULL) != WEFT_OK)
        ledger->has_no_memory = true;
    else if (id == n_before)
        ledger->n_name_bytes += text.n_bytes + NAME_COST_BYTES;
    return id;
}

/* ---- which process ----------------------------------------------------------------------------
 */

static struct ledger_process *process_at(struct ledger *ledger, uint32_t place)
{
    return place == LEDGER_NONE ? NULL : &ledger->processes.items[place - 1];
}

struct ledger_process *ledger_of_tid(struct ledger *ledger, uint32_t tid)
{
    const uint32_t at = weft_map_find(ledger->of_tid, tid);
    return at == WEFT_MAP_NONE ? NULL : process_at(ledger, ledger->by_tid.items[at]);
}

struct ledger_process *ledger_of_pid(struct ledger *ledger, uint32_t pid)
{
    const uint32_t at = weft_map_find(ledger->of_pid, pid);
    return at == WEFT_MAP_NONE ? NULL : process_at(ledger, ledger->by_pid.items[at]);
}

/* The place of the key's value; NULL without memory. */
static uint32_t *value_of(struct weft_map *map, void *values, uint32_t key)
{
    struct {
        uint32_t *items;
        size_t n, cap;
    } *vector = values;
    const uint32_t at = weft_map_add(map, key, NULL);
    while (at != WEFT_MAP_NONE && vector->n <= at)
        if (!WEFT_VEC_PUSH(vector))
            return NULL;
    return at == WEFT_MAP_NONE ? NULL : &vector->items[at];
}

void ledger_set_tid(struct ledger *ledger, uint32_t tid, const struct ledger_process *process)
{
    uint32_t *value = value_of(ledger->of_tid, &ledger->by_tid, tid);
    if (value)
        *value = process ? (uint32_t)(process - ledger->processes.items) + 1 : LEDGER_NONE;
    else
        ledger->has_no_memory = true;
}

/* One is reported by more than one source, and met again and again in /proc. */
static void count_further(struct ledger *ledger, uint32_t pid)
{
    if (weft_map_count(ledger->further) < LEDGER_MOST &&
        weft_map_add(ledger->further, pid, NULL) == WEFT_MAP_NONE)
        ledger->has_no_memory = true;
}

struct ledger_process *ledger_add(struct ledger *ledger, uint32_t pid, uint32_t parent,
                                  uint64_t start_ns)
{
    if (ledger->processes.n >= LEDGER_MOST) {
        count_further(ledger, pid);
        return NULL;
    }
    uint32_t *place = value_of(ledger->of_pid, &ledger->by_pid, pid);
    struct ledger_process *process = place ? WEFT_VEC_PUSH(&ledger->processes) : NULL;
    if (!process) {
        ledger->has_no_memory = true;
        return NULL;
    }
    *process = (struct ledger_process){ .pid = pid,
                                        .parent = parent,
                                        .before = *place,
                                        .start_ns = start_ns,
                                        .end_ns = WEFT_LEDGER_NO_TIME,
                                        .past.from_ns = WEFT_LEDGER_NO_TIME,
                                        .past.until_ns = WEFT_LEDGER_NO_TIME,
                                        .image.start_ns = start_ns,
                                        .is_changed = true };
    *place = (uint32_t)ledger->processes.n;
    return process;
}

/* ---- what became of it ------------------------------------------------------------------------
 */

/* Why the library does not record the program that runs now; NO_REASON: it does. */
static unsigned gap_of(const struct ledger *ledger, const struct ledger_process *process)
{
    const struct ledger_image *image = &process->image;
    if (ledger->opts.is_attached)
        return WEFT_LEDGER_NO_REASON;
    if (!ledger->opts.follows && !process->is_target)
        return WEFT_LEDGER_NO_FOLLOW;
    if (!ledger->opts.has_library)
        return WEFT_LEDGER_NO_LIBRARY;
    if (image->failure || image->has_ring)
        return image->failure;
    /* A library that is loaded has its ring soon. */
    const bool is_live = process->end_ns == WEFT_LEDGER_NO_TIME;
    const bool is_young = is_live && ledger->now_ns < image->start_ns + YOUNG_NS;
    if (!image->is_exec && !image->is_stub && !process->inherits)
        return process->inherited_why;
    if (!image->is_exec && !image->is_stub)
        return !process->expects_ring || is_young ? WEFT_LEDGER_NO_REASON
               : is_live                          ? WEFT_LEDGER_UNREACHABLE
                                                  : WEFT_LEDGER_NOT_LOADED;
    return image->is_examined &&
                   !(is_young && !ledger->is_finished && image->why == WEFT_LEDGER_UNREACHABLE)
               ? image->why
               : WEFT_LEDGER_UNDECIDED;
}

void ledger_inherit(const struct ledger *ledger, struct ledger_process *child,
                    const struct ledger_process *parent)
{
    const unsigned why = gap_of(ledger, parent);
    child->inherits = why == WEFT_LEDGER_NO_REASON;
    child->inherited_why = (uint8_t)why;
    if (parent->image.is_stub) /* it is the recorder still, or its program is not known yet */
        return;
    child->name = parent->name;
    child->exe = parent->exe;
}

void ledger_examine(struct ledger *ledger, struct ledger_process *process)
{
    struct ledger_image *image = &process->image;
    if (image->has_ring || image->is_examined || (!image->is_exec && !image->is_stub))
        return;
    const char *path = weft_strtab_get(ledger->names, process->name).bytes;
    char exe[4096];
    image->why = (uint8_t)image_look_at(process->pid, path, &ledger->room);
    image->is_examined = true;
    if (proc_link(process->pid, "exe", exe, sizeof exe))
        process->name = process->exe = ledger_name(ledger, exe);
    process->is_changed = true;
}

/* A copy of the parent that only became another program has left nothing out. */
static void close_image(struct ledger *ledger, struct ledger_process *process, bool by_exec)
{
    const struct ledger_image *image = &process->image;
    struct ledger_past *past = &process->past;
    process->is_changed = true;
    if (by_exec && !image->is_exec && !image->has_ring && !image->failure)
        return;
    ledger_examine(ledger, process);
    const unsigned why = gap_of(ledger, process);
    if (why == WEFT_LEDGER_NO_REASON) {
        if (past->has_uncovered && !past->has_covered)
            past->from_ns = image->start_ns;
        past->has_covered = true;
        return;
    }
    if (past->has_covered && past->until_ns == WEFT_LEDGER_NO_TIME)
        past->until_ns = image->start_ns;
    if (!past->has_uncovered)
        past->uncovered_why = (uint8_t)why;
    past->has_uncovered = true;
}

void ledger_exec(struct ledger *ledger, struct ledger_process *process, uint64_t at_ns)
{
    const bool has_ended = process->end_ns != WEFT_LEDGER_NO_TIME;
    if (has_ended)
        process->past = process->past_before_end;
    process->image_before = process->image;
    process->name_before = process->name;
    process->exe_before = process->exe;
    close_image(ledger, process, true);
    process->image = (struct ledger_image){ .start_ns = at_ns, .is_exec = true };
    process->is_orphan = false;
    process->name = process->exe = 0; /* not known yet */
    process->past_before_end = process->past;
    if (has_ended)
        close_image(ledger, process, false);
}

void ledger_end(struct ledger *ledger, struct ledger_process *process, uint64_t at_ns)
{
    if (process->end_ns != WEFT_LEDGER_NO_TIME)
        return;
    process->past_before_end = process->past;
    process->end_ns = at_ns;
    close_image(ledger, process, false);
}

/* It has turned out what its last program was when it ended. */
static void close_again(struct ledger *ledger, struct ledger_process *process)
{
    if (process->end_ns == WEFT_LEDGER_NO_TIME)
        return;
    process->past = process->past_before_end;
    close_image(ledger, process, false);
}

void ledger_expect_ring(struct ledger *ledger, struct ledger_process *process)
{
    process->expects_ring = process->is_changed = true;
    close_again(ledger, process);
}

void ledger_cover(struct ledger *ledger, struct ledger_process *process)
{
    process->image.has_ring = process->is_changed = ledger->has_news = true;
    close_again(ledger, process);
}

/* Counts may only grow: those of a ring are the program's to write. */
static uint64_t grown(uint64_t *now, uint64_t to)
{
    const uint64_t by = weft_sub_sat_u64(to, *now);
    *now += by;
    return by;
}

static uint32_t grown_u32(uint32_t *now, uint32_t to)
{
    const uint32_t by = to > *now ? to - *now : 0;
    *now += by;
    return by;
}

static uint32_t add_u32(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

void ledger_apply_counts(struct ledger *ledger, struct ledger_ring *ring,
                         const struct ledger_counts *counts)
{
    struct ledger_process *process = process_at(ledger, ring->process);
    struct ledger_counts *before = &ring->counts;
    const uint64_t n_records = grown(&before->n_records, counts->n_records);
    const uint64_t n_lost = grown(&before->n_lost_records, counts->n_lost_records);
    const uint32_t n_threads = grown_u32(&before->n_threads, counts->n_threads);
    const uint32_t n_lost_threads = grown_u32(&before->n_lost_threads, counts->n_lost_threads);
    before->is_damaged |= counts->is_damaged;
    if (!process) /* kept until it is known whose it is */
        return;
    const unsigned library = ring->library % LEDGER_LIBRARIES;
    process->is_changed |= n_records || n_lost || n_threads || n_lost_threads ||
                           (before->is_damaged && !process->is_damaged);
    process->n_records = weft_add_sat_u64(process->n_records, n_records);
    process->n_lost = weft_add_sat_u64(process->n_lost, n_lost);
    process->n_library_threads[library] = add_u32(process->n_library_threads[library], n_threads);
    process->n_library_lost[library] = add_u32(process->n_library_lost[library], n_lost_threads);
    process->is_damaged |= before->is_damaged;
}

/* ---- how it stands ----------------------------------------------------------------------------
 */

static uint32_t most(const uint32_t numbers[LEDGER_LIBRARIES])
{
    return numbers[0] > numbers[1] ? numbers[0] : numbers[1];
}

/* The main thread has a slot in each program that it runs; it is counted once. */
static uint32_t count_threads(const struct ledger_process *process)
{
    const uint32_t n_seen =
        add_u32(add_u32(most(process->n_library_threads), 1), most(process->n_library_lost));
    const uint32_t n_most = n_seen > process->n_seen_threads ? n_seen : process->n_seen_threads;
    return n_most > process->n_kernel_threads ? n_most : process->n_kernel_threads;
}

/* What of it is missing, and why: of what its programs were, and then of what they wrote. */
static void judge(const struct ledger *ledger, const struct ledger_process *process,
                  struct weft_ledger_process *made)
{
    const bool is_live = process->end_ns == WEFT_LEDGER_NO_TIME;
    bool has_covered = process->past.has_covered, has_uncovered = process->past.has_uncovered;
    unsigned why = process->past.uncovered_why;
    const unsigned gap = is_live ? gap_of(ledger, process) : WEFT_LEDGER_NO_REASON;
    if (is_live && gap == WEFT_LEDGER_NO_REASON) {
        if (has_uncovered && !has_covered)
            made->from_ns = process->image.start_ns;
        has_covered = true;
    } else if (is_live) {
        if (has_covered && made->until_ns == WEFT_LEDGER_NO_TIME)
            made->until_ns = process->image.start_ns;
        why = has_uncovered ? why : gap;
        has_uncovered = true;
    }
    const bool has_library = has_covered && !ledger->opts.is_attached;
    made->levels = (uint8_t)((process->is_known_to_kernel ? WEFT_LEDGER_BY_KERNEL : 0) |
                             (has_library ? WEFT_LEDGER_BY_LIBRARY : 0));
    made->state = made->levels == 0 ? WEFT_LEDGER_NOT_RECORDED
                  : has_uncovered   ? WEFT_LEDGER_PARTLY
                                    : WEFT_LEDGER_RECORDED;
    made->why = (uint8_t)(has_uncovered ? why : WEFT_LEDGER_NO_REASON);
    if (made->state != WEFT_LEDGER_RECORDED)
        return;
    if (process->is_damaged)
        made->why = WEFT_LEDGER_DAMAGED;
    else if (process->failure)
        made->why = process->failure;
    else if (process->n_lost)
        made->why = WEFT_LEDGER_RECORDS_LOST;
    else if (made->n_lost_threads)
        made->why = WEFT_LEDGER_THREADS_LOST;
    else if (ledger->has_kernel && !process->is_known_to_kernel)
        made->why = WEFT_LEDGER_NO_KERNEL;
    else if (ledger->opts.is_attached && process->is_target)
        made->why = WEFT_LEDGER_ATTACHED;
    else if (is_live && ledger->is_finished)
        made->why = ledger->why_finished;
    if (made->why != WEFT_LEDGER_NO_REASON)
        made->state = WEFT_LEDGER_PARTLY;
    if (is_live && ledger->is_finished)
        made->until_ns = ledger->now_ns;
}

struct weft_ledger_process ledger_describe(const struct ledger *ledger,
                                           const struct ledger_process *process)
{
    struct weft_ledger_process made = { .pid = process->pid,
                                        .parent = process->parent,
                                        .start_ns = process->start_ns,
                                        .end_ns = process->end_ns,
                                        .from_ns = process->past.from_ns,
                                        .until_ns = process->past.until_ns,
                                        .n_threads = count_threads(process),
                                        .n_lost_threads = most(process->n_library_lost),
                                        .n_records = process->n_records,
                                        .n_lost_records = process->n_lost,
                                        .name = weft_strtab_get(ledger->names, process->name) };
    judge(ledger, process, &made);
    return made;
}

bool ledger_has_news(const struct ledger *ledger)
{
    return ledger && ledger->has_news;
}

struct weft_ledger_totals ledger_totals(const struct ledger *ledger, uint64_t *n_further)
{
    struct weft_ledger_totals totals = { 0 };
    *n_further = ledger ? weft_map_count(ledger->further) : 0;
    for (size_t k = 0; ledger && k < ledger->processes.n; k++) {
        const struct weft_ledger_process made =
            ledger_describe(ledger, &ledger->processes.items[k]);
        weft_ledger_add(&totals, &made);
    }
    return totals;
}

uint64_t ledger_lost_reports(const struct ledger *ledger)
{
    return ledger ? ledger->n_lost_reports : 0;
}

/* ---- written ----------------------------------------------------------------------------------
 */

static size_t encode(const struct weft_ledger_process *process, uint32_t number, uint8_t *bytes)
{
    const size_t n_name = process->name.n_bytes < NAME_BYTES ? process->name.n_bytes : NAME_BYTES;
    const size_t n_padded = (n_name + 7) / 8 * 8;
    const struct weft_ledger_entry entry = { .number = number,
                                             .pid = (uint32_t)process->pid,
                                             .parent = (uint32_t)process->parent,
                                             .state = process->state,
                                             .why = process->why,
                                             .levels = process->levels,
                                             .start_ns = process->start_ns,
                                             .end_ns = process->end_ns,
                                             .from_ns = process->from_ns,
                                             .until_ns = process->until_ns,
                                             .n_records = process->n_records,
                                             .n_lost_records = process->n_lost_records,
                                             .n_threads = process->n_threads,
                                             .n_lost_threads = process->n_lost_threads,
                                             .name_bytes = (uint32_t)n_name };
    memcpy(bytes, &entry, sizeof entry);
    memset(bytes + sizeof entry, 0, n_padded);
    if (n_name)
        memcpy(bytes + sizeof entry, process->name.bytes, n_name);
    return sizeof entry + n_padded;
}

enum weft_code ledger_put(struct ledger *ledger, struct session_output *output, bool all,
                          struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    size_t n_bytes = 0;
    if (!ledger)
        return WEFT_OK;
    ledger->has_news = false;
    if (ledger->has_no_memory)
        return weft_no_memory(err, "the ledger");
    uint8_t *bytes = malloc(PIECE_BYTES);
    if (!bytes)
        return weft_no_memory(err, "the ledger");
    for (size_t k = 0; code == WEFT_OK && k <= ledger->processes.n; k++) {
        const bool is_end = k == ledger->processes.n;
        const size_t n_next = sizeof(struct weft_ledger_entry) + NAME_BYTES + 8;
        if (n_bytes && (is_end || n_bytes + n_next > PIECE_BYTES)) {
            code = session_put(output, WEFT_PIECE_LEDGER, 0, 0, WEFT_STR(""),
                               (struct weft_str){ (const char *)bytes, n_bytes }, err);
            n_bytes = 0;
        }
        if (is_end || (!all && !ledger->processes.items[k].is_changed))
            continue;
        const struct weft_ledger_process made =
            ledger_describe(ledger, &ledger->processes.items[k]);
        ledger->processes.items[k].is_changed = false;
        n_bytes += encode(&made, (uint32_t)k, bytes + n_bytes);
    }
    free(bytes);
    return code;
}
