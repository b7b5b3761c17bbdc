/* SPDX-License-Identifier: MIT
 *
 * A stack of open calls, on which spans end by themselves and entries by their exits. Memory is
 * O(depth), with at most 256 remembered exits; calls are delivered in batches of 1,024. The chrome
 * and csv importers use it, one nest for each worker.
 */
#include "schema/nest.h"

#include "base/checked.h"
#include "base/vec.h"

#include <stdlib.h>

enum { BATCH_CALLS = 1024, MOST_ORPHANS = 256 };

/* A call on the stack. */
struct frame {
    uint64_t limit_ns; /* the least end of this and all spans below; UINT64_MAX: none */
    uint32_t key;
    uint32_t level;
    uint8_t flags; /* of the call, enum weft_call_flag; CUT_START: the sink got no entry */
    bool is_entry;
    bool is_cut; /* its own end lies beyond the limit */
};

struct weft_nest {
    struct weft_sink *sink;
    const uint32_t *name_of_key;
    uint32_t *n_open_keys;  /* entries on the stack, by key ... */
    uint32_t *n_open_names; /* ... and by name */
    uint32_t n_keys;
    uint32_t n_entries; /* on the stack */
    uint32_t thread_id;
    uint64_t clock_ns; /* latest time handed over */
    uint64_t n_cut;    /* calls cut short that the sink cannot count */
    uint64_t n_ignored;
    bool is_latest_open; /* the top of the stack is the latest entry of all */
    size_t n_batch;
    struct {
        struct frame *items;
        size_t n, cap;
    } stack;
    struct {
        uint32_t *items; /* keys of entries that were ended before their exit came */
        size_t n, cap;
    } orphans;
    struct weft_call_event batch[BATCH_CALLS];
};

struct weft_nest *weft_nest_new(struct weft_sink *sink, uint32_t n_keys,
                                const uint32_t *name_of_key)
{
    struct weft_nest *nest = calloc(1, sizeof *nest);
    if (!nest)
        return NULL;
    nest->sink = sink;
    nest->name_of_key = name_of_key;
    nest->n_keys = n_keys;
    nest->n_open_keys = calloc((size_t)n_keys + 1, sizeof *nest->n_open_keys);
    nest->n_open_names = calloc((size_t)n_keys + 1, sizeof *nest->n_open_names);
    if (!nest->n_open_keys || !nest->n_open_names) {
        weft_nest_free(nest);
        return NULL;
    }
    return nest;
}

void weft_nest_free(struct weft_nest *nest)
{
    if (!nest)
        return;
    WEFT_VEC_FINI(&nest->stack);
    WEFT_VEC_FINI(&nest->orphans);
    free(nest->n_open_keys);
    free(nest->n_open_names);
    free(nest);
}

static uint32_t name_of(const struct weft_nest *nest, uint32_t key)
{
    return nest->name_of_key ? nest->name_of_key[key] : key;
}

static void count_open(struct weft_nest *nest, uint32_t key, uint32_t step)
{
    nest->n_open_keys[key] += step;
    nest->n_open_names[name_of(nest, key)] += step;
    nest->n_entries += step;
}

void weft_nest_start(struct weft_nest *nest, uint32_t thread_id)
{
    while (nest->stack.n > 0) {
        const struct frame *frame = &nest->stack.items[--nest->stack.n];
        if (frame->is_entry)
            count_open(nest, frame->key, (uint32_t)-1);
    }
    nest->thread_id = thread_id;
    nest->orphans.n = nest->n_batch = 0;
    nest->clock_ns = nest->n_cut = nest->n_ignored = 0;
    nest->is_latest_open = false;
}

/* ---- what the sink gets --------------------------------------------------------------------- */

enum weft_code weft_nest_flush(struct weft_nest *nest, struct weft_err *err)
{
    size_t n = nest->n_batch;
    nest->n_batch = 0;
    return n ? nest->sink->ops->calls(nest->sink, nest->thread_id, nest->batch, n, err) : WEFT_OK;
}

static enum weft_code tell(struct weft_nest *nest, uint64_t time_ns, uint32_t key,
                           enum weft_call_kind kind, uint8_t flags, struct weft_err *err)
{
    nest->clock_ns = time_ns;
    nest->batch[nest->n_batch++] = (struct weft_call_event){
        .time_ns = time_ns, .function_key = key, .kind = (uint8_t)kind, .flags = flags
    };
    return nest->n_batch < BATCH_CALLS ? WEFT_OK : weft_nest_flush(nest, err);
}

static enum weft_code tell_exit(struct weft_nest *nest, uint64_t time_ns, uint32_t key,
                                uint8_t flags, struct weft_err *err)
{
    flags &= (uint8_t)~WEFT_CALL_CUT_START;
    if (flags == WEFT_CALL_TAIL)
        return tell(nest, time_ns, key, WEFT_CALL_TAIL_EXIT, 0, err);
    return tell(nest, time_ns, key, flags ? WEFT_CALL_MARKED_EXIT : WEFT_CALL_EXIT, flags, err);
}

static enum weft_code push(struct weft_nest *nest, const struct frame *frame, uint64_t time_ns,
                           struct weft_err *err)
{
    struct frame *top = WEFT_VEC_PUSH(&nest->stack);
    if (!top)
        return weft_no_memory(err, "open calls");
    *top = *frame;
    if (frame->is_entry)
        count_open(nest, frame->key, 1);
    nest->is_latest_open = !(frame->flags & WEFT_CALL_CUT_START);
    if (!nest->is_latest_open)
        return WEFT_OK;
    return tell(nest, time_ns, frame->key, WEFT_CALL_ENTER, 0, err);
}

static void pop(struct weft_nest *nest, bool is_orphaned)
{
    const struct frame *frame = &nest->stack.items[--nest->stack.n];
    nest->is_latest_open = false;
    if (!frame->is_entry)
        return;
    count_open(nest, frame->key, (uint32_t)-1);
    if (is_orphaned && nest->orphans.n < MOST_ORPHANS) {
        uint32_t *orphan = WEFT_VEC_PUSH(&nest->orphans);
        if (orphan)
            *orphan = frame->key;
    }
}

/* Ends frame `depth` by its exit, and those above it without one. The sink closes these when it
 * sees the exit below; but if one of them is of the same function, the exit would be taken for its
 * own, and one without an entry in the sink is taken for none while others are open: then each gets
 * an exit, and they are counted here. */
static enum weft_code end_frames(struct weft_nest *nest, size_t depth, uint64_t time_ns,
                                 struct weft_err *err)
{
    uint32_t key = nest->stack.items[depth].key;
    uint8_t flags = nest->stack.items[depth].flags;
    bool is_hidden = (flags & WEFT_CALL_CUT_START) != 0;
    for (size_t k = depth + 1; k < nest->stack.n; k++)
        is_hidden |= nest->stack.items[k].key == key;
    while (nest->stack.n > depth + 1) {
        enum weft_code code = WEFT_OK;
        const struct frame *above = &nest->stack.items[nest->stack.n - 1];
        if (is_hidden)
            code = tell_exit(nest, time_ns, above->key, above->flags, err);
        nest->n_cut += is_hidden;
        pop(nest, true);
        if (code != WEFT_OK)
            return code;
    }
    pop(nest, false);
    return tell_exit(nest, time_ns, key, flags, err);
}

/* ---- spans ---------------------------------------------------------------------------------- */

/* The innermost span that ends by itself at the limit of the top: it, or one below it, set it. */
static size_t limiting_frame(const struct weft_nest *nest)
{
    size_t depth = nest->stack.n - 1;
    while (depth > 0 && (nest->stack.items[depth].is_entry || nest->stack.items[depth].is_cut))
        depth--;
    return depth;
}

/* What comes at a time at which calls end. */
struct arrival {
    bool is_exit;
    uint32_t level; /* calls of lesser ones are around it; 0: none is */
};

/* Ends the spans that end until `time_ns`, and entries in them; of those that end at this very time
 * not what is around the arrival, and before an exit not entries: it may be theirs. */
static enum weft_code advance(struct weft_nest *nest, uint64_t time_ns, struct arrival arrival,
                              struct weft_err *err)
{
    while (nest->stack.n > 0) {
        const struct frame *top = &nest->stack.items[nest->stack.n - 1];
        if (top->limit_ns > time_ns)
            break;
        if (top->limit_ns == time_ns &&
            ((arrival.is_exit && top->is_entry) || top->level < arrival.level))
            break;
        WEFT_TRY(end_frames(nest, limiting_frame(nest), top->limit_ns, err));
    }
    return WEFT_OK;
}

enum weft_code weft_nest_advance(struct weft_nest *nest, uint64_t time_ns, struct weft_err *err)
{
    return advance(nest, time_ns, (struct arrival){ .is_exit = true }, err);
}

enum weft_code weft_nest_span(struct weft_nest *nest, const struct weft_nest_span *span,
                              struct weft_err *err)
{
    struct arrival arrival = { 0 };
    if (span->time_ns == span->end_ns && span->level != WEFT_NEST_NO_LEVEL)
        arrival.level = span->level;
    WEFT_TRY(advance(nest, span->time_ns, arrival, err));
    const struct frame *around = nest->stack.n ? &nest->stack.items[nest->stack.n - 1] : NULL;
    uint64_t around_ns = around ? around->limit_ns : UINT64_MAX;
    struct frame frame = {
        .limit_ns = weft_min_u64(span->end_ns, around_ns),
        .key = span->key,
        .level = span->level == WEFT_NEST_NO_LEVEL ? (uint32_t)nest->stack.n : span->level,
        .flags = span->flags,
        .is_cut = span->end_ns > around_ns,
    };
    if (span->time_ns > 0 || (around && !(around->flags & WEFT_CALL_CUT_START)))
        frame.flags &= (uint8_t)~WEFT_CALL_CUT_START;
    return push(nest, &frame, span->time_ns, err);
}

enum weft_code weft_nest_enter(struct weft_nest *nest, uint64_t time_ns, uint32_t key,
                               struct weft_err *err)
{
    WEFT_TRY(advance(nest, time_ns, (struct arrival){ 0 }, err));
    const struct frame frame = {
        .limit_ns = nest->stack.n ? nest->stack.items[nest->stack.n - 1].limit_ns : UINT64_MAX,
        .key = key,
        .level = (uint32_t)nest->stack.n,
        .is_entry = true,
    };
    return push(nest, &frame, time_ns, err);
}

/* ---- exits ---------------------------------------------------------------------------------- */

static bool agrees(const struct weft_nest *nest, enum weft_nest_match match, uint32_t key,
                   uint32_t other)
{
    return match == WEFT_NEST_ANY || key == other ||
           (match == WEFT_NEST_NAME && name_of(nest, key) == name_of(nest, other));
}

/* The innermost entry that agrees; false if there is none, which costs no search. */
static bool find_entry(const struct weft_nest *nest, enum weft_nest_match match, uint32_t key,
                       size_t *depth)
{
    uint32_t n_open = match == WEFT_NEST_ANY    ? nest->n_entries
                      : match == WEFT_NEST_NAME ? nest->n_open_names[name_of(nest, key)]
                                                : nest->n_open_keys[key];
    if (n_open == 0)
        return false;
    size_t k = nest->stack.n - 1;
    while (!nest->stack.items[k].is_entry || !agrees(nest, match, key, nest->stack.items[k].key))
        k--;
    *depth = k;
    return true;
}

size_t weft_nest_depth(const struct weft_nest *nest)
{
    return nest->stack.n;
}

bool weft_nest_peek(const struct weft_nest *nest, enum weft_nest_match match, uint32_t key,
                    struct weft_nest_open *open)
{
    if (!find_entry(nest, match, key, &open->depth))
        return false;
    open->key = nest->stack.items[open->depth].key;
    open->is_latest = nest->is_latest_open && open->depth == nest->stack.n - 1;
    return true;
}

/* The exit of an entry that ended before. */
static bool take_orphan(struct weft_nest *nest, enum weft_nest_match match, uint32_t key)
{
    for (size_t k = nest->orphans.n; k-- > 0;) {
        if (!agrees(nest, match, key, nest->orphans.items[k]))
            continue;
        memmove(&nest->orphans.items[k], &nest->orphans.items[k + 1],
                (nest->orphans.n - k - 1) * sizeof *nest->orphans.items);
        nest->orphans.n--;
        return true;
    }
    return false;
}

enum weft_code weft_nest_exit(struct weft_nest *nest, uint64_t time_ns, enum weft_nest_match match,
                              uint32_t key, struct weft_err *err)
{
    size_t depth;
    WEFT_TRY(advance(nest, time_ns, (struct arrival){ .is_exit = true }, err));
    if (find_entry(nest, match, key, &depth))
        return end_frames(nest, depth, time_ns, err);
    /* While a span is open, an exit cannot be of a call from before the trace. */
    if (take_orphan(nest, match, key) || key == WEFT_ID_NONE || nest->stack.n > 0) {
        nest->n_ignored++;
        return WEFT_OK;
    }
    return tell(nest, time_ns, key, WEFT_CALL_EXIT, 0, err);
}

/* ---- the end -------------------------------------------------------------------------------- */

static enum weft_code put_note(struct weft_nest *nest, enum weft_note_kind kind, uint64_t count,
                               struct weft_err *err)
{
    const struct weft_note note = {
        .kind = kind, .count = count, .thread_id = nest->thread_id, .at_off = WEFT_NO_OFFSET
    };
    return count ? nest->sink->ops->note(nest->sink, &note, err) : WEFT_OK;
}

enum weft_code weft_nest_end(struct weft_nest *nest, uint64_t last_ns, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && nest->stack.n > 0 &&
           nest->stack.items[nest->stack.n - 1].limit_ns != UINT64_MAX)
        code = end_frames(nest, limiting_frame(nest), nest->stack.items[nest->stack.n - 1].limit_ns,
                          err);
    WEFT_THEN(code, weft_nest_flush(nest, err));
    WEFT_THEN(code, put_note(nest, WEFT_NOTE_MISSING_EXIT, nest->n_cut, err));
    WEFT_THEN(code, put_note(nest, WEFT_NOTE_EXIT_IGNORED, nest->n_ignored, err));
    if (code != WEFT_OK)
        return code;
    return nest->sink->ops->thread_end(nest->sink, nest->thread_id,
                                       weft_max_u64(last_ns, nest->clock_ns), err);
}
