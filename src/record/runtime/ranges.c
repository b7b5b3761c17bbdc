/* SPDX-License-Identifier: MIT
 *
 * Addresses of a module become addresses of this process once it is loaded: then all ranges are
 * written into a new table, sorted and without overlaps, which replaces the old one. Old tables are
 * not given back, because another thread may be reading them: as many as there were dlopens, and
 * times at which the recorder had rules for what these opened.
 */
#include "record/runtime/ranges.h"

#include "record/runtime/ring.h"

#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { N_DECISIONS = 1 << 12, RULES_BYTES = 1 << 24, N_RULES_MAX = RULES_BYTES / 64 };

struct rule {
    dev_t device; /* of the module's file */
    ino_t inode;
    uint64_t start;
    uint64_t end;
    bool is_only;
};
_Static_assert(sizeof(struct rule) <= 64, "N_RULES_MAX fit into RULES_BYTES");

struct range {
    uint64_t start;
    uint64_t end;
};

struct table {
    uint64_t n_changes; /* modules that had come and gone when it was made */
    uint64_t n_skip;
    uint64_t n_only;
    struct range ranges[]; /* those to skip, then the only ones; each sorted, without overlaps */
};

/* Written before any call is recorded, or by the thread that has set `is_making`. */
static struct rule *rules;
static uint64_t n_rules;
static bool has_only;
static const _Atomic uint64_t *the_version; /* of the rules; NULL: they stay */
static _Atomic uint64_t seen_version;
static _Atomic uint32_t seen_openings;
static void (*read_rules)(void);
static _Atomic(struct table *) the_table;
static atomic_flag is_making = ATOMIC_FLAG_INIT;
/* address << 1 | is it kept; 0: not decided. Where two functions fall together, the later stays. */
static _Atomic uint64_t decisions[N_DECISIONS];

static void *pages(uint64_t n_bytes)
{
    void *made = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made == MAP_FAILED ? NULL : made;
}

bool weft_ranges_exist(void)
{
    return n_rules > 0 || has_only || the_version;
}

void weft_ranges_only_added(void)
{
    has_only = true;
}

void weft_ranges_grow(const void *version, void (*read)(void))
{
    the_version = version;
    read_rules = read;
    atomic_store(&seen_version, atomic_load(the_version));
}

bool weft_ranges_add(bool is_only, const char *path, uint64_t n_bytes, uint64_t start, uint64_t end)
{
    char name[4096];
    struct stat module;
    if (!rules && !(rules = pages(RULES_BYTES)))
        return false;
    if (n_rules == N_RULES_MAX || n_bytes >= sizeof name)
        return false;
    memcpy(name, path, n_bytes);
    name[n_bytes] = 0;
    has_only |= is_only;
    if (stat(name, &module) != 0) /* it cannot be loaded either */
        memset(&module, 0, sizeof module);
    rules[n_rules++] = (struct rule){ .device = module.st_dev,
                                      .inode = module.st_ino,
                                      .start = start,
                                      .end = end,
                                      .is_only = is_only };
    return true;
}

/* ---- the table */

static void sift(struct range *ranges, uint64_t at, uint64_t n_ranges)
{
    for (uint64_t child; (child = 2 * at + 1) < n_ranges; at = child) {
        child += child + 1 < n_ranges && ranges[child + 1].start > ranges[child].start;
        if (ranges[at].start >= ranges[child].start)
            return;
        const struct range moved = ranges[at];
        ranges[at] = ranges[child];
        ranges[child] = moved;
    }
}

/* Sorts (by a heap: qsort may allocate) and joins; returns how many are left. */
static uint64_t settle(struct range *ranges, uint64_t n_ranges)
{
    uint64_t n_joined = 0;
    for (uint64_t at = n_ranges / 2; at-- > 0;)
        sift(ranges, at, n_ranges);
    for (uint64_t end = n_ranges; end-- > 1;) {
        const struct range last = ranges[0];
        ranges[0] = ranges[end];
        ranges[end] = last;
        sift(ranges, 0, end);
    }
    for (uint64_t i = 0; i < n_ranges; i++) {
        struct range *before = n_joined ? &ranges[n_joined - 1] : NULL;
        if (before && ranges[i].start <= before->end)
            before->end = ranges[i].end > before->end ? ranges[i].end : before->end;
        else
            ranges[n_joined++] = ranges[i];
    }
    return n_joined;
}

struct making {
    struct table *table;
    bool is_only;
    uint64_t n_room;
    uint64_t n_ranges;
    struct range *ranges;
};

static int count_changes(struct dl_phdr_info *info, size_t n_bytes, void *n_changes)
{
    (void)n_bytes;
    *(uint64_t *)n_changes = info->dlpi_adds + info->dlpi_subs;
    return 1; /* the first states it */
}

static int add_module(struct dl_phdr_info *info, size_t n_bytes, void *into)
{
    struct making *making = into;
    struct stat module;
    const char *name = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    (void)n_bytes;
    if (stat(name, &module) != 0)
        return 0;
    for (uint64_t i = 0; i < n_rules; i++) {
        const struct rule *rule = &rules[i];
        if (rule->is_only == making->is_only && rule->inode == module.st_ino &&
            rule->device == module.st_dev && making->n_ranges < making->n_room)
            making->ranges[making->n_ranges++] =
                (struct range){ .start = info->dlpi_addr + rule->start,
                                .end = info->dlpi_addr + rule->end };
    }
    return 0;
}

/* A module may be loaded twice (dlmopen): then what has no room is recorded. */
static struct table *make_table(uint64_t n_changes)
{
    const uint64_t n_room = 2 * n_rules;
    struct table *table = pages(sizeof *table + n_room * sizeof table->ranges[0]);
    if (!table)
        return NULL;
    struct making making = { .table = table, .n_room = n_room, .ranges = table->ranges };
    (void)dl_iterate_phdr(add_module, &making);
    table->n_skip = settle(table->ranges, making.n_ranges);
    making = (struct making){ .table = table,
                              .is_only = true,
                              .n_room = n_room - table->n_skip,
                              .ranges = table->ranges + table->n_skip };
    (void)dl_iterate_phdr(add_module, &making);
    table->n_only = settle(making.ranges, making.n_ranges);
    table->n_changes = n_changes;
    return table;
}

static void forget_decisions(void)
{
    for (unsigned i = 0; i < N_DECISIONS; i++)
        atomic_store_explicit(&decisions[i], 0, memory_order_relaxed);
}

/* The table of the modules that are loaded now. A new module is reported to the recorder: it may
 * have rules for it. */
static const struct table *current_table(bool has_new_rules)
{
    uint64_t n_changes = 0;
    (void)dl_iterate_phdr(count_changes, &n_changes);
    struct table *table = atomic_load(&the_table);
    const bool is_same = table && table->n_changes == n_changes;
    if ((is_same && !has_new_rules) || atomic_flag_test_and_set(&is_making))
        return table;
    if (has_new_rules)
        read_rules();
    if (table && !is_same)
        weft_ring_modules_changed();
    struct table *made = make_table(n_changes);
    if (made) {
        atomic_store(&the_table, table = made);
        forget_decisions();
    }
    atomic_flag_clear(&is_making);
    return table;
}

/* What was decided holds as long as no module comes or goes, and there are no new rules. */
static void look_for_news(void)
{
    const uint32_t n_openings = atomic_load_explicit(&weft_ring_n_openings, memory_order_relaxed);
    const uint64_t version =
        the_version ? atomic_load_explicit(the_version, memory_order_relaxed) : 0;
    if (n_openings != atomic_load_explicit(&seen_openings, memory_order_relaxed)) {
        atomic_store(&seen_openings, n_openings);
        forget_decisions();
    }
    if (version != atomic_load_explicit(&seen_version, memory_order_relaxed)) {
        atomic_store(&seen_version, version);
        (void)current_table(true);
    }
}

static bool is_within(const struct range *ranges, uint64_t n_ranges, uint64_t address)
{
    uint64_t low = 0;
    uint64_t high = n_ranges; /* ranges below low begin at or before the address */
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < ranges[low - 1].end;
}

bool weft_ranges_keep(uint64_t address)
{
    if (n_rules == 0 && !has_only && !the_version)
        return true;
    look_for_news();
    _Atomic uint64_t *decision = &decisions[(address >> 4 ^ address >> 16) % N_DECISIONS];
    const uint64_t known = atomic_load_explicit(decision, memory_order_relaxed);
    if (known >> 1 == address && known)
        return known & 1;
    const struct table *table = current_table(false);
    if (!table)
        return !has_only;
    const bool is_kept =
        !is_within(table->ranges, table->n_skip, address) &&
        (!has_only || is_within(table->ranges + table->n_skip, table->n_only, address));
    atomic_store(decision, address << 1 | is_kept);
    if (atomic_load(&the_table) != table) /* decisions may have been forgotten just before */
        atomic_store(decision, 0);
    return is_kept;
}

void weft_ranges_begin(void)
{
    if (weft_ranges_exist())
        (void)current_table(false);
}
