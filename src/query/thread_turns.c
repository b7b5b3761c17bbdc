/* SPDX-License-Identifier: MIT
 *
 * Groups threads by name and by where they come back to (turn_waits.c), and writes a rule for each
 * group. A rule with a pattern `STEM*` is used only if it matches no thread of another stem.
 */
#include "query/thread_turns.h"

#include "analysis/executions/executions.h"
#include "base/map.h"
#include "base/vec.h"
#include "query/rules.h"
#include "query/turn_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIBLINGS = 4, STEM_BYTES = 128, PID_SEPARATOR = '\n' };

/* Threads of a name, but for a number at its end, that wait at the same. */
struct group {
    uint32_t stem, label;
    uint64_t count, sum_ns;
    uint64_t pid;           /* of one */
    struct weft_str thread; /* its name */
    bool has_others;        /* of other names */
    size_t n_members;       /* waits of threads of the stem */
    bool is_mixed;          /* its rule would find others: each name is a group instead */
};

struct finder {
    const struct weft_trace *trace;
    struct weft_arena *arena;
    struct weft_turn_waits waits;
    struct weft_strtab *stems;
    struct weft_map *group_keys;
    struct {
        struct group *items;
        size_t n, cap;
    } groups;
    uint32_t *stem_of;       /* by thread, or WEFT_ID_NONE */
    uint32_t *first_of_stem; /* waits, linked: of `n_first` stems */
    uint32_t *next_of_stem;
    size_t n_first;
    size_t *n_alike; /* by stem: groups */
};

static struct weft_str name_of(const struct finder *finder, uint32_t thread_id)
{
    return weft_trace_thread(finder->trace, thread_id)->info.name;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Of threads of a stem, or of a name, that wait under a label. */
static uint64_t key_of(uint32_t stem, uint32_t label, bool is_name)
{
    return (uint64_t)is_name << 63 | (uint64_t)stem << 32 | label;
}

/* Names that no rule can tell have no stem. */
static enum weft_code find_stems(struct finder *finder, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 0; id < weft_trace_n_threads(finder->trace) && code == WEFT_OK; id++) {
        const struct weft_str name = name_of(finder, id);
        finder->stem_of[id] = WEFT_ID_NONE;
        if (name.n_bytes > 0 && !memchr(name.bytes, '"', name.n_bytes) &&
            !memchr(name.bytes, PID_SEPARATOR, name.n_bytes))
            code =
                weft_strtab_intern(finder->stems, weft_str_stem(name), &finder->stem_of[id], err);
    }
    return code;
}

static uint64_t pid_of(const struct finder *finder, uint32_t thread_id)
{
    return weft_trace_thread(finder->trace, thread_id)->info.pid;
}

/* Which process's threads of a stem come back to a place. */
struct chooser {
    uint64_t pid;
    bool has_others; /* of other processes */
};

/* `choosers`: by what `keys` has for a stem and a label. False without memory. */
static bool find_choosers(const struct finder *finder, struct weft_map *keys,
                          struct chooser *choosers)
{
    for (uint32_t id = 0; id < weft_trace_n_threads(finder->trace); id++) {
        bool is_new = false;
        if (finder->waits.longest[id] == WEFT_ID_NONE || finder->stem_of[id] == WEFT_ID_NONE)
            continue;
        const uint32_t label = finder->waits.items[finder->waits.longest[id]].label;
        const uint32_t at =
            weft_map_add(keys, (uint64_t)finder->stem_of[id] << 32 | label, &is_new);
        if (at == WEFT_MAP_NONE)
            return false;
        if (is_new)
            choosers[at] = (struct chooser){ .pid = pid_of(finder, id) };
        choosers[at].has_others |= choosers[at].pid != pid_of(finder, id);
    }
    return true;
}

/* Stems whose threads of one process come back to where those of another one wait amid their turns:
 * a rule for the name would find these, too. */
static void mark_split(const struct finder *finder, const struct weft_map *keys,
                       const struct chooser *choosers, bool *is_split)
{
    for (size_t i = 0; i < finder->waits.n; i++) {
        const struct weft_turn_wait *waits = &finder->waits.items[i];
        const uint32_t stem = finder->stem_of[waits->thread_id];
        if (stem == WEFT_ID_NONE || waits->count < WEFT_LEAST_TURNS ||
            finder->waits.longest[waits->thread_id] == i)
            continue;
        const uint32_t at = weft_map_find(keys, (uint64_t)stem << 32 | waits->label);
        if (at != WEFT_MAP_NONE &&
            (choosers[at].has_others || choosers[at].pid != pid_of(finder, waits->thread_id)))
            is_split[stem] = true;
    }
}

/* A name of threads of a process; `*id` stays for too long a one. */
static enum weft_code intern_with_pid(struct finder *finder, struct weft_str name, uint64_t pid,
                                      uint32_t *id, struct weft_err *err)
{
    char text[STEM_BYTES];
    const int n = snprintf(text, sizeof text, "%.*s%c%" PRIu64, (int)name.n_bytes, name.bytes,
                           PID_SEPARATOR, pid);
    return n > 0 && (size_t)n < sizeof text
               ? weft_strtab_intern(finder->stems, (struct weft_str){ text, (size_t)n }, id, err)
               : WEFT_OK;
}

/* Threads of such stems have stems of their process. */
static enum weft_code split_stems(struct finder *finder, const bool *is_split, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 0; id < weft_trace_n_threads(finder->trace) && code == WEFT_OK; id++) {
        const uint32_t stem = finder->stem_of[id];
        if (stem != WEFT_ID_NONE && is_split[stem])
            code = intern_with_pid(finder, weft_strtab_get(finder->stems, stem), pid_of(finder, id),
                                   &finder->stem_of[id], err);
    }
    return code;
}

static enum weft_code part_processes(struct finder *finder, struct weft_err *err)
{
    struct weft_map *keys = weft_map_new();
    struct chooser *choosers =
        calloc((size_t)weft_trace_n_threads(finder->trace) + 1, sizeof *choosers);
    bool *is_split = calloc((size_t)weft_strtab_count(finder->stems) + 1, sizeof *is_split);
    enum weft_code code = keys && choosers && is_split && find_choosers(finder, keys, choosers)
                              ? WEFT_OK
                              : weft_no_memory(err, "loop iterations");
    if (code == WEFT_OK) {
        mark_split(finder, keys, choosers, is_split);
        code = split_stems(finder, is_split, err);
    }
    weft_map_free(keys);
    free(choosers);
    free(is_split);
    return code;
}

/* The name in a stem, and the process; empty without one. */
static struct weft_str stem_name(const struct finder *finder, uint32_t stem, struct weft_str *pid)
{
    const struct weft_str text = weft_strtab_get(finder->stems, stem);
    const char *at = text.n_bytes ? memchr(text.bytes, PID_SEPARATOR, text.n_bytes) : NULL;
    const size_t n = at ? (size_t)(at - text.bytes) : text.n_bytes;
    *pid = at ? (struct weft_str){ at + 1, text.n_bytes - n - 1 } : WEFT_STR("");
    return (struct weft_str){ text.bytes, n };
}

static enum weft_code add_group(struct finder *finder, const struct weft_turn_wait *waits,
                                uint64_t key, struct weft_err *err)
{
    const struct weft_str name = name_of(finder, waits->thread_id);
    bool is_new = false;
    const uint32_t id = weft_map_add(finder->group_keys, key, &is_new);
    if (id == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&finder->groups)))
        return weft_no_memory(err, "loop iterations");
    struct group *group = &finder->groups.items[id];
    if (is_new)
        *group = (struct group){ .stem = finder->stem_of[waits->thread_id],
                                 .label = waits->label,
                                 .pid = pid_of(finder, waits->thread_id),
                                 .thread = name };
    group->has_others |= !weft_str_equal(group->thread, name);
    return WEFT_OK;
}

/* Of the waits' stem, if there is one. */
static struct group *stem_group(const struct finder *finder, const struct weft_turn_wait *waits)
{
    const uint32_t stem = finder->stem_of[waits->thread_id];
    const uint32_t id = stem == WEFT_ID_NONE
                            ? WEFT_MAP_NONE
                            : weft_map_find(finder->group_keys, key_of(stem, waits->label, false));
    return id == WEFT_MAP_NONE ? NULL : &finder->groups.items[id];
}

static bool is_amid(const struct finder *finder, uint32_t wait)
{
    return wait == WEFT_ID_NONE || finder->waits.items[wait].is_amid;
}

/* A thread of too few iterations comes back to where the one of its stem with most waits does, if
 * it ever waits there. False without memory. */
static bool follow_others(struct finder *finder)
{
    const uint32_t n_threads = weft_trace_n_threads(finder->trace);
    const size_t n_stems = weft_strtab_count(finder->stems);
    uint32_t *best = malloc((n_stems + 1) * sizeof *best); /* by stem: waits */
    for (size_t i = 0; best && i < n_stems; i++)
        best[i] = WEFT_ID_NONE;
    for (uint32_t id = 0; best && id < n_threads; id++) {
        const uint32_t at = finder->waits.longest[id], stem = finder->stem_of[id];
        if (stem != WEFT_ID_NONE && !is_amid(finder, at) &&
            (best[stem] == WEFT_ID_NONE ||
             finder->waits.items[at].count > finder->waits.items[best[stem]].count))
            best[stem] = at;
    }
    for (uint32_t id = 0; best && id < n_threads; id++) {
        const uint32_t stem = finder->stem_of[id];
        if (stem == WEFT_ID_NONE || best[stem] == WEFT_ID_NONE ||
            !is_amid(finder, finder->waits.longest[id]))
            continue;
        const uint32_t label = finder->waits.items[best[stem]].label;
        const uint32_t at = weft_map_find(finder->waits.keys, (uint64_t)id << 32 | label);
        if (at != WEFT_MAP_NONE)
            finder->waits.longest[id] = at;
    }
    free(best);
    return best;
}

static enum weft_code group_threads(struct finder *finder, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 0; id < weft_trace_n_threads(finder->trace) && code == WEFT_OK; id++) {
        const uint32_t longest = finder->waits.longest[id], stem = finder->stem_of[id];
        if (longest == WEFT_ID_NONE || stem == WEFT_ID_NONE)
            continue;
        const struct weft_turn_wait *waits = &finder->waits.items[longest];
        code = add_group(finder, waits, key_of(stem, waits->label, false), err);
    }
    return code;
}

/* ---- threads that a rule would find, too ----------------------------------------------------- */

/* Waits under a label, of threads of a process, and once more of those of any. */
struct place {
    uint32_t label;
    uint64_t pid; /* UINT64_MAX: any */
    struct weft_str name;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : weft_str_compare(x->name, y->name);
}

/* How many places come before those whose names begin with that one's, or before what follows them.
 */
static size_t before(const struct place *places, size_t n_places, const struct place *start,
                     bool is_end)
{
    size_t from = 0, to = n_places;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        struct place place = places[middle];
        if (place.name.n_bytes > start->name.n_bytes)
            place.name.n_bytes = start->name.n_bytes;
        const int order = by_place(&place, start);
        if (order < 0 || (is_end && order == 0))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Does "STEM*" find threads of other stems, too? */
static void mark_mixed(struct finder *finder, const struct place *places, size_t n)
{
    for (size_t i = 0; i < finder->waits.n; i++) {
        struct group *group = stem_group(finder, &finder->waits.items[i]);
        if (group)
            group->n_members++;
    }
    for (size_t i = 0; i < finder->groups.n; i++) {
        struct group *group = &finder->groups.items[i];
        struct weft_str pid;
        struct place start = { .label = group->label, .pid = UINT64_MAX };
        start.name = stem_name(finder, group->stem, &pid);
        if (pid.n_bytes > 0)
            start.pid = group->pid;
        const size_t n_found = before(places, n, &start, true) - before(places, n, &start, false);
        group->is_mixed = group->has_others && n_found > group->n_members;
    }
}

/* The key of a thread's name, in a process if its stem is of one. */
static enum weft_code name_key(struct finder *finder, const struct weft_turn_wait *waits,
                               uint64_t *key, struct weft_err *err)
{
    const struct weft_str name = name_of(finder, waits->thread_id);
    struct weft_str pid;
    uint32_t id;
    (void)stem_name(finder, finder->stem_of[waits->thread_id], &pid);
    enum weft_code code = weft_strtab_intern(finder->stems, name, &id, err);
    if (code == WEFT_OK && pid.n_bytes > 0)
        code = intern_with_pid(finder, name, pid_of(finder, waits->thread_id), &id, err);
    *key = code == WEFT_OK ? key_of(id, waits->label, true) : 0;
    return code;
}

/* Then each name is a group. */
static enum weft_code split_groups(struct finder *finder, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 0; id < weft_trace_n_threads(finder->trace) && code == WEFT_OK; id++) {
        const uint32_t longest = finder->waits.longest[id];
        const struct weft_turn_wait *waits =
            longest == WEFT_ID_NONE ? NULL : &finder->waits.items[longest];
        const struct group *group = waits ? stem_group(finder, waits) : NULL;
        uint64_t key;
        if (!group || !group->is_mixed)
            continue;
        code = name_key(finder, waits, &key, err);
        WEFT_THEN(code, add_group(finder, waits, key, err));
    }
    return code;
}

static enum weft_code part_groups(struct finder *finder, struct weft_err *err)
{
    const size_t n = 2 * finder->waits.n;
    struct place *places = calloc(n + 1, sizeof *places);
    if (!places)
        return weft_no_memory(err, "loop iterations");
    for (size_t i = 0; i < n; i++) {
        const struct weft_turn_wait *waits = &finder->waits.items[i / 2];
        places[i] =
            (struct place){ waits->label, i % 2 ? UINT64_MAX : pid_of(finder, waits->thread_id),
                            name_of(finder, waits->thread_id) };
    }
    if (n > 0)
        qsort(places, n, sizeof *places, by_place);
    mark_mixed(finder, places, n);
    free(places);
    return split_groups(finder, err);
}

/* What the rule finds: also of threads that wait here a few times, or longer elsewhere. */
static enum weft_code count_turns(struct finder *finder, struct weft_err *err)
{
    for (size_t i = 0; i < finder->waits.n; i++) {
        const struct weft_turn_wait *waits = &finder->waits.items[i];
        const struct weft_str name = name_of(finder, waits->thread_id);
        struct group *group = stem_group(finder, waits);
        if (group && group->is_mixed) {
            uint64_t key;
            WEFT_TRY(name_key(finder, waits, &key, err));
            const uint32_t id = weft_map_find(finder->group_keys, key);
            group = id == WEFT_MAP_NONE ? NULL : &finder->groups.items[id];
        }
        if (!group || (!group->has_others && !weft_str_equal(group->thread, name)))
            continue;
        const bool ends_in_wait =
            waits->is_open || weft_execution_thread_is_over(finder->trace, waits->thread_id);
        group->count += waits->count - ends_in_wait;
        group->sum_ns += waits->turn_ns;
    }
    return WEFT_OK;
}

/* Waits of each stem, the last one first. False without memory. */
static bool link_stems(struct finder *finder)
{
    finder->n_first = weft_strtab_count(finder->stems);
    finder->first_of_stem = calloc(finder->n_first + 1, sizeof *finder->first_of_stem);
    finder->next_of_stem = calloc(finder->waits.n + 1, sizeof *finder->next_of_stem);
    if (!finder->first_of_stem || !finder->next_of_stem)
        return false;
    for (size_t stem = 0; stem < finder->n_first; stem++)
        finder->first_of_stem[stem] = WEFT_ID_NONE;
    for (size_t i = 0; i < finder->waits.n; i++) {
        const uint32_t stem = finder->stem_of[finder->waits.items[i].thread_id];
        if (stem == WEFT_ID_NONE)
            continue;
        finder->next_of_stem[i] = finder->first_of_stem[stem];
        finder->first_of_stem[stem] = (uint32_t)i;
    }
    return true;
}

static enum weft_code make_groups(struct finder *finder, struct weft_err *err)
{
    enum weft_code code = find_stems(finder, err);
    WEFT_THEN(code, part_processes(finder, err));
    if (code == WEFT_OK && (!follow_others(finder) || !link_stems(finder)))
        code = weft_no_memory(err, "loop iterations");
    WEFT_THEN(code, group_threads(finder, err));
    WEFT_THEN(code, part_groups(finder, err));
    return code == WEFT_OK ? count_turns(finder, err) : code;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* A text that grows in the arena; without memory it has no bytes. */
static struct weft_str joined(struct weft_arena *arena, struct weft_str a, struct weft_str b)
{
    char *bytes = WEFT_ARENA_NEW(arena, a.n_bytes + b.n_bytes + 1, char);
    if (!bytes || !a.bytes || !b.bytes)
        return (struct weft_str){ 0 };
    memcpy(bytes, a.bytes, a.n_bytes);
    memcpy(bytes + a.n_bytes, b.bytes, b.n_bytes);
    return (struct weft_str){ bytes, a.n_bytes + b.n_bytes };
}

/* FIELD="value" */
static struct weft_str condition(struct weft_arena *arena, struct weft_str before,
                                 struct weft_str value)
{
    char *bytes = WEFT_ARENA_NEW(arena, 2 * value.n_bytes + 3, char);
    size_t n = 0;
    if (!bytes)
        return (struct weft_str){ 0 };
    bytes[n++] = '"';
    for (size_t i = 0; i < value.n_bytes; i++) {
        if (value.bytes[i] == '"' || value.bytes[i] == '\\')
            bytes[n++] = '\\';
        bytes[n++] = value.bytes[i];
    }
    bytes[n++] = '"';
    return joined(arena, before, (struct weft_str){ bytes, n });
}

/* What else is waited for in the function, and its caller, of a group: from other callers. */
struct siblings {
    struct weft_str callers[MOST_SIBLINGS];
    size_t n;
    bool are_more, has_unknown; /* more than that; waits without callers, of short ones */
};

static bool is_listed(const struct siblings *siblings, struct weft_str callers)
{
    for (size_t i = 0; i < siblings->n; i++)
        if (weft_str_equal(siblings->callers[i], callers))
            return true;
    return false;
}

static uint32_t first_of_stem(const struct finder *finder, uint32_t stem)
{
    return stem < finder->n_first ? finder->first_of_stem[stem] : WEFT_ID_NONE;
}

static struct siblings siblings_of(const struct finder *finder, const struct group *group)
{
    const struct weft_turn_place own =
        weft_turn_place_of(weft_strtab_get(finder->waits.places, group->label));
    struct siblings siblings = { .n = 0 };
    if (own.callers.n_bytes == 0)
        return siblings;
    for (uint32_t i = first_of_stem(finder, group->stem); i != WEFT_ID_NONE;
         i = finder->next_of_stem[i]) {
        const struct weft_turn_wait *waits = &finder->waits.items[i];
        if (waits->label == group->label)
            continue;
        const struct weft_turn_place other =
            weft_turn_place_of(weft_strtab_get(finder->waits.places, waits->label));
        if (!weft_str_equal(own.name, other.name) || !weft_str_equal(own.caller, other.caller))
            continue;
        if (other.callers.n_bytes == 0)
            siblings.has_unknown = true;
        else if (!is_listed(&siblings, other.callers) && siblings.n == MOST_SIBLINGS)
            siblings.are_more = true;
        else if (!is_listed(&siblings, other.callers))
            siblings.callers[siblings.n++] = other.callers;
    }
    return siblings;
}

/* By callers only if others wait there, too. Where some waits are without them, those of the others
 * are omitted by name, if they are few. */
static struct weft_str with_callers(const struct finder *finder, const struct group *group,
                                    struct weft_str rule)
{
    struct weft_arena *arena = finder->arena;
    const struct weft_str callers =
        weft_turn_place_of(weft_strtab_get(finder->waits.places, group->label)).callers;
    const struct siblings siblings = siblings_of(finder, group);
    if (siblings.n == 0)
        return rule;
    if (!siblings.has_unknown || siblings.are_more)
        return condition(arena, joined(arena, rule, WEFT_STR(" and callers=")), callers);
    for (size_t i = 0; i < siblings.n; i++)
        rule =
            condition(arena, joined(arena, rule, WEFT_STR(" and callers!=")), siblings.callers[i]);
    return rule;
}

/* "exit:recv where thread="server" and caller="serve"" */
static struct weft_str rule_of(const struct finder *finder, const struct group *group,
                               const char *kind)
{
    struct weft_arena *arena = finder->arena;
    struct weft_str thread = group->thread, pid;
    const struct weft_str stem = stem_name(finder, group->stem, &pid);
    const struct weft_turn_place at =
        weft_turn_place_of(weft_strtab_get(finder->waits.places, group->label));
    if (group->has_others)
        thread = joined(arena, stem, WEFT_STR("*"));
    struct weft_str rule =
        joined(arena, weft_rule_text(arena, kind, at.name), WEFT_STR(" where thread="));
    rule = condition(arena, rule, thread);
    if (pid.n_bytes > 0)
        rule = joined(arena, joined(arena, rule, WEFT_STR(" and pid=")), pid);
    if (at.caller.n_bytes > 0)
        rule = condition(arena, joined(arena, rule, WEFT_STR(" and caller=")), at.caller);
    if (weft_turn_is_of_any_lock(at.caller))
        rule = joined(arena, rule, WEFT_STR(" and duration>=" WEFT_BLOCKED_RULE));
    return with_callers(finder, group, rule);
}

/* The function that called it, at step 0, or that one's caller, and so on; empty: unknown. */
static struct weft_str link_at(struct weft_str label, size_t step)
{
    static const char arrow[] = " > ";
    const struct weft_turn_place at = weft_turn_place_of(label);
    struct weft_str rest = at.callers;
    if (step == 0)
        return at.caller;
    for (;;) {
        size_t from = rest.n_bytes;
        while (from >= sizeof arrow - 1 && memcmp(rest.bytes + from - 3, arrow, 3) != 0)
            from--;
        from = from >= sizeof arrow - 1 ? from : 0;
        if (--step == 0)
            return (struct weft_str){ rest.bytes + from, rest.n_bytes - from };
        if (from == 0)
            return WEFT_STR("");
        rest.n_bytes = from - (sizeof arrow - 1);
    }
}

/* Does the function at the step tell the group from the others of its stem? */
static bool is_telling(const struct finder *finder, const struct group *group, size_t step)
{
    const struct weft_str own = link_at(weft_strtab_get(finder->waits.places, group->label), step);
    for (size_t i = 0; i < finder->groups.n; i++) {
        const struct group *other = &finder->groups.items[i];
        if (other->stem == group->stem && other->label != group->label &&
            weft_str_equal(own, link_at(weft_strtab_get(finder->waits.places, other->label), step)))
            return false;
    }
    return own.n_bytes > 0;
}

/* "server after recv", and if threads of the name wait at several places the nearest function that
 * tells them apart. */
static struct weft_str type_of(const struct finder *finder, const struct group *group)
{
    enum { STEPS = 8 };
    struct weft_arena *arena = finder->arena;
    const struct weft_str label = weft_strtab_get(finder->waits.places, group->label);
    const struct weft_turn_place at = weft_turn_place_of(label);
    struct weft_str pid;
    const struct weft_str stem = stem_name(finder, group->stem, &pid);
    const struct weft_str thread = group->has_others ? stem : group->thread;
    const struct weft_str type = joined(arena, joined(arena, thread, WEFT_STR(" after ")), at.name);
    if (finder->n_alike[group->stem] < 2 || at.caller.n_bytes == 0)
        return type;
    size_t step = 0;
    while (step < STEPS && !is_telling(finder, group, step))
        step++;
    const struct weft_str in = step < STEPS ? link_at(label, step) : at.caller;
    return joined(arena, joined(arena, type, WEFT_STR(" in ")), in);
}

static int by_name(const void *a, const void *b)
{
    const struct weft_thread_turn *x = a, *y = b;
    const int order = weft_str_compare(x->name, y->name);
    return order != 0 ? order : weft_str_compare(x->begin, y->begin);
}

static bool count_alike(struct finder *finder)
{
    finder->n_alike = calloc((size_t)weft_strtab_count(finder->stems) + 1, sizeof(size_t));
    for (size_t i = 0; finder->n_alike && i < finder->groups.n; i++)
        if (!finder->groups.items[i].is_mixed)
            finder->n_alike[finder->groups.items[i].stem]++;
    return finder->n_alike;
}

static enum weft_code list_turns(struct finder *finder, struct weft_thread_turn **turns,
                                 size_t *n_turns, struct weft_err *err)
{
    struct weft_thread_turn *list =
        WEFT_ARENA_NEW(finder->arena, finder->groups.n + 1, struct weft_thread_turn);
    size_t n = 0;
    if (!list || !count_alike(finder))
        return weft_no_memory(err, "loop iterations");
    for (size_t i = 0; i < finder->groups.n; i++) {
        const struct group *group = &finder->groups.items[i];
        if (group->is_mixed)
            continue;
        list[n] = (struct weft_thread_turn){ .name = type_of(finder, group),
                                             .begin = rule_of(finder, group, "exit"),
                                             .end = rule_of(finder, group, "enter"),
                                             .count = group->count,
                                             .sum_ns = group->sum_ns,
                                             .is_after_sleep =
                                                 weft_turn_is_sleep(&finder->waits, group->label) };
        if (!list[n].name.bytes || !list[n].begin.bytes || !list[n].end.bytes)
            return weft_no_memory(err, "loop iterations");
        n++;
    }
    if (n > 0)
        qsort(list, n, sizeof *list, by_name);
    *turns = list;
    *n_turns = n;
    return WEFT_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

enum weft_code weft_thread_turns_find(const struct weft_trace *trace, const struct weft_run *run,
                                      struct weft_arena *arena, struct weft_thread_turn **turns,
                                      size_t *n_turns, struct weft_err *err)
{
    struct finder finder = {
        .trace = trace, .arena = arena, .stems = weft_strtab_new(), .group_keys = weft_map_new()
    };
    finder.stem_of = calloc((size_t)weft_trace_n_threads(trace) + 1, sizeof *finder.stem_of);
    *turns = NULL;
    *n_turns = 0;
    enum weft_code code = finder.stems && finder.group_keys && finder.stem_of
                              ? weft_turn_waits_find(trace, run, &finder.waits, err)
                              : weft_no_memory(err, "loop iterations");
    WEFT_THEN(code, make_groups(&finder, err));
    WEFT_THEN(code, list_turns(&finder, turns, n_turns, err));
    weft_turn_waits_fini(&finder.waits);
    weft_strtab_free(finder.stems);
    weft_map_free(finder.group_keys);
    WEFT_VEC_FINI(&finder.groups);
    free(finder.stem_of);
    free(finder.first_of_stem);
    free(finder.next_of_stem);
    free(finder.n_alike);
    return code;
}
