/* SPDX-License-Identifier: MIT
 *
 * Lists the variables of debugging information that have an address; then descends the type of one:
 * arrays by their elements, structures by their members. All bytes are hostile: what does not fit
 * gives no name.
 */
#include "symbols/members.h"

#include "base/map.h"
#include "base/vec.h"
#include "symbols/dwarf.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 32, MOST_MEMBERS = 4096, MOST_VARIABLES = 1 << 20, MOST_SIZES = 1 << 16 };

/* Bytes of entries that are read: for the list, for a look-up, for all look-ups. */
static const uint64_t MOST_READ = UINT64_C(64) << 20;
static const uint64_t MOST_READ_AT_ONCE = UINT64_C(4) << 20;
static const uint64_t MOST_READ_IN_ALL = UINT64_C(64) << 20;

struct weft_members {
    struct weft_dwarf *dwarf;
    struct {
        struct variable {
            uint64_t address, off; /* of its entry */
        } * items;                 /* by address */
        size_t n, cap;
    } variables;
    struct weft_map *types; /* whose size is known, by offset */
    struct {
        uint64_t *items;
        size_t n, cap;
    } sizes;        /* of each of them */
    uint64_t n_end; /* of what is read, after the last look-up */
    bool is_nomem;
};

/* ---- variables ------------------------------------------------------------------------------- */

static int by_address(const void *a_void, const void *b_void)
{
    const struct variable *a = a_void, *b = b_void;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->off > b->off) - (a->off < b->off);
}

/* False: there is no room for more. */
static bool add_variable(struct weft_members *members, const struct weft_dwarf_entry *entry)
{
    uint64_t address;
    if (entry->tag != DW_TAG_variable || entry->location.kind == WEFT_DWARF_NONE ||
        entry->location.kind == WEFT_DWARF_NUMBER ||
        !weft_dwarf_address(entry, entry->location, &address))
        return true;
    struct variable *variable =
        members->variables.n < MOST_VARIABLES ? WEFT_VEC_PUSH(&members->variables) : NULL;
    members->is_nomem |= !variable && members->variables.n < MOST_VARIABLES;
    if (variable)
        *variable = (struct variable){ address, entry->off };
    return variable;
}

static void list_variables(struct weft_members *members)
{
    struct weft_dwarf *dwarf = members->dwarf;
    bool has_room = true;
    for (size_t k = 0; has_room && k < weft_dwarf_n_units(dwarf); k++) {
        struct weft_dwarf_entry entry;
        bool has_entry = weft_dwarf_unit_entry(dwarf, k, &entry);
        for (; has_entry && has_room; has_entry = weft_dwarf_follow(&entry))
            has_room = dwarf->n_read < MOST_READ && add_variable(members, &entry);
    }
    if (members->variables.n > 1)
        qsort(members->variables.items, members->variables.n, sizeof *members->variables.items,
              by_address);
}

struct weft_members *weft_members_open(const char *path, bool *is_nomem)
{
    struct weft_members *members = calloc(1, sizeof *members);
    *is_nomem = !members;
    if (!members)
        return NULL;
    members->types = weft_map_new();
    members->is_nomem = !members->types;
    members->dwarf = weft_dwarf_open(path, is_nomem);
    if (members->dwarf) {
        list_variables(members);
        members->n_end = members->dwarf->n_read + MOST_READ_IN_ALL;
    }
    *is_nomem |= weft_members_nomem(members);
    if (members->variables.n > 0 && !*is_nomem)
        return members;
    weft_members_free(members);
    return NULL;
}

void weft_members_free(struct weft_members *members)
{
    if (!members)
        return;
    weft_dwarf_free(members->dwarf);
    weft_map_free(members->types);
    WEFT_VEC_FINI(&members->variables);
    WEFT_VEC_FINI(&members->sizes);
    free(members);
}

bool weft_members_nomem(const struct weft_members *members)
{
    return members->is_nomem || (members->dwarf && weft_dwarf_nomem(members->dwarf));
}

static bool find_variable(struct weft_members *members, uint64_t address,
                          struct weft_dwarf_entry *entry)
{
    size_t low = 0, high = members->variables.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (members->variables.items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < members->variables.n && members->variables.items[low].address == address &&
           weft_dwarf_entry_at(members->dwarf, members->variables.items[low].off, entry);
}

/* ---- types ----------------------------------------------------------------------------------- */

static bool go_to(struct weft_dwarf_entry *entry, struct weft_dwarf_value to)
{
    return to.kind == WEFT_DWARF_REF && weft_dwarf_entry_at(entry->dwarf, to.value, entry);
}

/* From a variable, a member or a name of a type to the type that has parts, or none. What a
 * variable is declared by may have its type. */
static bool go_to_type(struct weft_dwarf_entry *entry)
{
    for (unsigned step = 0; step < MOST_STEPS; step++) {
        switch (entry->tag) {
        case DW_TAG_variable:
        case DW_TAG_member:
        case DW_TAG_inheritance:
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_atomic_type:
        case DW_TAG_restrict_type:
            break;
        default:
            return entry->tag != 0;
        }
        const struct weft_dwarf_value to = entry->type.kind != WEFT_DWARF_NONE ? entry->type
                                           : entry->specification.kind != WEFT_DWARF_NONE
                                               ? entry->specification
                                               : entry->origin;
        if (!go_to(entry, to))
            return false;
    }
    return false;
}

/* Elements of each dimension, the outermost first; their number. An array without a bound has one
 * dimension. */
static size_t dimensions_of(const struct weft_dwarf_entry *array, uint64_t *counts, size_t n_most)
{
    struct weft_dwarf_entry inner;
    size_t n = 0;
    bool has_inner = weft_dwarf_inner(array, &inner);
    for (; has_inner && n < n_most; has_inner = weft_dwarf_beside(&inner)) {
        if (inner.tag != DW_TAG_subrange_type)
            continue;
        const bool has_count = inner.count.kind == WEFT_DWARF_NUMBER;
        const bool has_bound = inner.upper_bound.kind == WEFT_DWARF_NUMBER;
        counts[n++] = has_count ? inner.count.value
                      : has_bound && inner.upper_bound.value < INT64_MAX
                          ? inner.upper_bound.value + 1
                          : 0;
    }
    return n;
}

/* Bytes of a type; 0: unknown. */
static uint64_t count_bytes(struct weft_dwarf_entry entry)
{
    enum { MOST_DIMENSIONS = 4 };
    uint64_t counts[MOST_DIMENSIONS], times = 1;
    for (unsigned depth = 0; depth < MOST_STEPS; depth++) {
        if (!go_to_type(&entry))
            return 0;
        if (entry.n_bytes.kind == WEFT_DWARF_NUMBER)
            return __builtin_mul_overflow(times, entry.n_bytes.value, &times) ? 0 : times;
        if (entry.tag != DW_TAG_array_type)
            return 0;
        const size_t n = dimensions_of(&entry, counts, MOST_DIMENSIONS);
        for (size_t i = 0; i < n; i++)
            if (counts[i] == 0 || __builtin_mul_overflow(times, counts[i], &times))
                return 0;
        if (n == 0 || !go_to(&entry, entry.type))
            return 0;
    }
    return 0;
}

/* Bytes of the type of a member, or of an array's elements; 0: unknown. Members mostly share few
 * types. */
static uint64_t size_of_type(struct weft_members *members, const struct weft_dwarf_entry *of)
{
    struct weft_dwarf_entry type = *of;
    if (of->type.kind != WEFT_DWARF_REF)
        return 0;
    const uint32_t known = weft_map_find(members->types, of->type.value);
    if (known != WEFT_MAP_NONE)
        return members->sizes.items[known];
    const uint64_t n_bytes = go_to(&type, of->type) ? count_bytes(type) : 0;
    const bool is_whole = of->dwarf->n_read <= of->dwarf->most_read;
    if (!is_whole || members->sizes.n == MOST_SIZES)
        return n_bytes;
    uint64_t *place = WEFT_VEC_PUSH(&members->sizes);
    const uint32_t id = place ? weft_map_add(members->types, of->type.value, NULL) : WEFT_MAP_NONE;
    if (id != WEFT_MAP_NONE)
        *place = n_bytes;
    else
        members->sizes.n -= place != NULL;
    members->is_nomem |= id == WEFT_MAP_NONE;
    return n_bytes;
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct place {
    struct weft_members *members;
    struct weft_dwarf_entry type;
    uint64_t offset; /* in it */
    char *text;
    size_t n, n_text;
};

static bool put(struct place *place, const char *before, struct weft_str name)
{
    const int n = snprintf(place->text + place->n, place->n_text - place->n, "%s%.*s", before,
                           (int)(name.n_bytes < INT32_MAX ? name.n_bytes : INT32_MAX), name.bytes);
    if (n < 0 || (size_t)n >= place->n_text - place->n)
        return false;
    place->n += (size_t)n;
    return true;
}

/* To the element that the offset lies in. */
static bool enter_array(struct place *place)
{
    enum { MOST_DIMENSIONS = 4, LEAST_BYTES = 4 };
    uint64_t counts[MOST_DIMENSIONS], indices[MOST_DIMENSIONS];
    const size_t n = dimensions_of(&place->type, counts, MOST_DIMENSIONS);
    struct weft_dwarf_entry element = place->type;
    if (n == 0 || !go_to(&element, place->type.type) || !go_to_type(&element))
        return false;
    const uint64_t n_bytes = size_of_type(place->members, &place->type);
    if (n_bytes < LEAST_BYTES) /* unknown; or bytes that something was put in */
        return false;
    uint64_t index = place->offset / n_bytes;
    for (size_t i = n; i-- > 0;) {
        if (i > 0 && counts[i] == 0)
            return false;
        indices[i] = i > 0 ? index % counts[i] : index;
        index = i > 0 ? index / counts[i] : 0;
    }
    if (counts[0] > 0 && indices[0] >= counts[0])
        return false;
    for (size_t i = 0; i < n; i++) {
        char text[32];
        const int n_index = snprintf(text, sizeof text, "[%" PRIu64 "]", indices[i]);
        if (!put(place, "", (struct weft_str){ text, (size_t)n_index }))
            return false;
    }
    place->offset %= n_bytes;
    place->type = element;
    return true;
}

/* The member that the offset lies in, of a structure. */
static bool find_member(const struct place *place, struct weft_dwarf_entry *member, uint64_t *begin)
{
    const bool is_union = place->type.tag == DW_TAG_union_type;
    bool has_inner = weft_dwarf_inner(&place->type, member);
    for (unsigned n = 0; has_inner && n < MOST_MEMBERS;
         n++, has_inner = weft_dwarf_beside(member)) {
        const bool is_member = member->tag == DW_TAG_member || member->tag == DW_TAG_inheritance;
        const bool has_begin = member->member_off.kind == WEFT_DWARF_NUMBER;
        if (!is_member || (!has_begin && !is_union)) /* static ones have no place */
            continue;
        *begin = has_begin ? member->member_off.value : 0;
        if (place->offset >= *begin &&
            place->offset - *begin < size_of_type(place->members, member))
            return true;
    }
    return false;
}

/* Names that C and C++ reserve for libraries: what locks are made of. */
static bool is_of_library(struct weft_str name)
{
    return name.n_bytes > 1 && name.bytes[0] == '_' &&
           (name.bytes[1] == '_' || (name.bytes[1] >= 'A' && name.bytes[1] <= 'Z'));
}

static bool is_lock_of_rust(const struct weft_dwarf_entry *type)
{
    static const char *const names[] = { "Mutex<",    "ReentrantLock<", "RwLock<", "OnceLock<",
                                         "LazyLock<", "Condvar",        "Once" };
    weft_dwarf_bases(type->dwarf, type->unit);
    if (type->unit->language != DW_LANG_Rust)
        return false;
    const struct weft_str name = weft_dwarf_name(type);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        const bool is_generic = names[i][n - 1] == '<';
        if ((is_generic ? name.n_bytes >= n : name.n_bytes == n) &&
            memcmp(name.bytes, names[i], n) == 0)
            return true;
    }
    return false;
}

/* False: it is as far as names lead. */
static bool enter_structure(struct place *place)
{
    struct weft_dwarf_entry member;
    uint64_t begin;
    if (is_lock_of_rust(&place->type) || !find_member(place, &member, &begin))
        return false;
    const struct weft_str name =
        member.tag == DW_TAG_member ? weft_dwarf_name(&member) : WEFT_STR("");
    if (is_of_library(name) || (name.n_bytes > 0 && !put(place, ".", name)) || !go_to_type(&member))
        return false;
    place->offset -= begin;
    place->type = member;
    return true;
}

/* Descends from the variable; false: there is none. */
static bool descend(struct place *place, uint64_t address)
{
    if (!find_variable(place->members, address, &place->type) || !go_to_type(&place->type))
        return false;
    bool goes_on = true;
    for (unsigned step = 0; step < MOST_STEPS && goes_on; step++)
        switch (place->type.tag) {
        case DW_TAG_array_type:
            goes_on = enter_array(place);
            break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            goes_on = enter_structure(place);
            break;
        default:
            goes_on = false;
        }
    return true;
}

size_t weft_members_at(struct weft_members *members, uint64_t address, uint64_t offset, char *text,
                       size_t n_text)
{
    struct weft_dwarf *dwarf = members->dwarf;
    struct place place = { .members = members, .offset = offset, .text = text, .n_text = n_text };
    const uint64_t most_read = dwarf->most_read, n_end = dwarf->n_read + MOST_READ_AT_ONCE;
    dwarf->most_read = n_end < members->n_end ? n_end : members->n_end;
    const bool is_found = n_text > 0 && descend(&place, address);
    const bool is_whole = dwarf->n_read <= dwarf->most_read;
    dwarf->most_read = most_read;
    if (!is_found || !is_whole)
        return 0;
    if (place.n > 0 && place.offset > 0) { /* within what has no name */
        char rest[32];
        const int n = snprintf(rest, sizeof rest, "+0x%" PRIx64, place.offset);
        if (!put(&place, "", (struct weft_str){ rest, (size_t)n }))
            return 0;
    }
    return place.n;
}
