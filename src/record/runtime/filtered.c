/* SPDX-License-Identifier: MIT
 *
 * Each thread keeps the stack of its calls, recorded or not: so an exit is recorded if and only if
 * its entry was, and calls that were left by a jump are found when an outer one exits.
 *
 * A call that may prove too short is written, but not shown to the reader, until it is long enough
 * (seen at the next record) or something inside it stays. Then it is taken back by moving the head:
 *
 *     shown (slot->head)          drafted (ring->head)
 *       v                           v
 *     ..| ENTER f | ENTER g | ENTER h     h exits, too short: the head goes back to before h;
 *                                         then g has nothing inside and can go the same way
 */
#include "record/runtime/filtered.h"

#include "record/runtime/functions.h"
#include "record/runtime/reach.h"
#include "record/runtime/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Which functions are recorded, by their addresses: the lines `skip` and `only` of the filters.
 * Addresses of a module become addresses of this process once it is loaded: then all ranges are
 * written into a new table, sorted and without overlaps, which replaces the old one. Old tables
 * are not given back, because another thread may be reading them: as many as there were dlopens,
 * and times at which the recorder had rules for what these opened. */

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

/* Whether any was added, or may be. */
static bool weft_ranges_exist(void)
{
    return n_rules > 0 || has_only || the_version;
}

/* Only functions that are added so are recorded: none, so far. */
static void weft_ranges_only_added(void)
{
    has_only = true;
}

/* More may be added while calls are recorded: `read` adds what is new, when the 8 bytes at
 * `version` (of a page that another process writes) have changed. */
static void weft_ranges_grow(const void *version, void (*read)(void))
{
    the_version = version;
    read_rules = read;
    atomic_store(&seen_version, atomic_load(the_version));
}

/* Adds the functions in [start, end) of the module whose path is the `n_bytes` bytes at `path`.
 * False when there is no memory. */
static bool weft_ranges_add(bool is_only, const char *path, uint64_t n_bytes, uint64_t start,
                            uint64_t end)
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

/* Whether the function at `address` is to be recorded. Modules that are loaded later are found when
 * the first function of theirs is asked for. */
static bool weft_ranges_keep(uint64_t address)
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

/* To be called once, before there are two threads: until the first table is made, it is unknown
 * what to keep. */
static void weft_ranges_begin(void)
{
    if (weft_ranges_exist())
        (void)current_table(false);
}

/* ---- filtered -------------------------------------------------------------------------------- */

/* Of the first line of a filter that grows. */
enum { VERSION_OFF = 8, FRONT_BYTES = 16 };
enum { MAX_FRAMES = 4096, N_COUNTS = 1024, N_PROBES = 8, CULL_NS = 1000, CALIBRATE_NS = 200000 };

struct frame {
    uint64_t address;
    uint64_t ticks;       /* of the entry */
    uint64_t head_before; /* of the ring, without the entry */
    uint64_t head_after;  /* with it */
    uint64_t last_before; /* last_ticks without it */
    uint32_t n_nearest;   /* frames down to the nearest recorded one, with it: 0 if there is none */
    bool is_recorded;
};

struct count { /* of the calls of one function */
    uint64_t address;
    uint64_t n_calls;
    uint64_t ticks;
    bool is_culled;
};

struct calls {           /* of one thread */
    uint64_t slot_ticks; /* of the slot that heads are of: another after fork */
    uint32_t n_frames;
    uint32_t n_recorded; /* frames */
    uint64_t n_beyond;   /* calls deeper than MAX_FRAMES */
    struct frame frames[MAX_FRAMES];
    struct count counts[N_COUNTS];
};

static __thread struct calls *the_calls;
static uint64_t max_depth; /* 0: none */
static uint64_t min_ticks;
static uint64_t cull_calls; /* 0: never */
static uint64_t cull_ticks;

/* ---- the file */

/* Ticks of so many ns, measured for a fifth of a millisecond. */
static uint64_t ticks_of(uint64_t ns)
{
    const uint64_t start_ns = weft_clock_ns();
    const uint64_t start = weft_ring_ticks();
    uint64_t now_ns;
    do
        now_ns = weft_clock_ns();
    while (now_ns - start_ns < CALIBRATE_NS);
    const double per_ns = (double)(weft_ring_ticks() - start) / (double)(now_ns - start_ns);
    return (uint64_t)((double)ns * per_ns);
}

/* The number that ends at `*end` (of the text from `start` on), and the blank before it, are taken
 * off. False if there is none. */
static bool take_last(const char *start, const char **end, unsigned base, uint64_t *number)
{
    const char *at = *end;
    uint64_t value = 0;
    while (at > start && at[-1] != ' ')
        at--;
    if (at == *end || at == start || *end - at > 18)
        return false;
    for (const char *digit = at; digit < *end; digit++) {
        const unsigned of_digit = *digit >= '0' && *digit <= '9'   ? (unsigned)(*digit - '0')
                                  : *digit >= 'a' && *digit <= 'f' ? (unsigned)(*digit - 'a') + 10
                                  : *digit >= 'A' && *digit <= 'F' ? (unsigned)(*digit - 'A') + 10
                                                                   : 16;
        if (of_digit >= base)
            return false;
        value = value * base + of_digit;
    }
    *number = value;
    *end = at - 1;
    return true;
}

static bool is_word(const char *start, const char *end, const char *word)
{
    return (size_t)(end - start) == strlen(word) && memcmp(start, word, strlen(word)) == 0;
}

static bool take_range(const char *start, const char *end)
{
    uint64_t from;
    uint64_t to;
    const bool is_only = end - start > 5 && memcmp(start, "only ", 5) == 0;
    if (!is_only && !(end - start > 5 && memcmp(start, "skip ", 5) == 0))
        return false;
    start += 5;
    return take_last(start, &end, 16, &to) && take_last(start, &end, 16, &from) && from < to &&
           weft_ranges_add(is_only, start, (uint64_t)(end - start), from, to);
}

static bool take_line(const char *start, const char *end)
{
    uint64_t number;
    const char *name_end = end;
    if (is_word(start, end, "none")) {
        weft_ranges_only_added();
        return true;
    }
    if (!take_last(start, &name_end, 10, &number))
        return take_range(start, end);
    if (is_word(start, name_end, "depth"))
        max_depth = number;
    else if (is_word(start, name_end, "min_ns"))
        min_ticks = number ? ticks_of(number) : 0;
    else if (is_word(start, name_end, "cull"))
        cull_calls = number;
    else if (!is_word(start, name_end, "further"))
        return take_range(start, end);
    return true;
}

static void take_lines(const char *text, const char *text_end)
{
    while (text < text_end) {
        const char *end = memchr(text, '\n', (size_t)(text_end - text));
        if (!end)
            end = text_end;
        if (end > text && !take_line(text, end))
            return;
        text = end + 1;
    }
}

static char filter_path[1100];
static size_t n_read; /* bytes of the file */

static void read_more(void);

/* The page whose first line the recorder changes when it has more to say. */
static bool watch(int fd)
{
    const char *page = mmap(NULL, FRONT_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return false;
    const bool grows = memcmp(page, "further ", VERSION_OFF) == 0;
    if (grows)
        weft_ranges_grow(page + VERSION_OFF, read_more);
    else
        (void)munmap((void *)(uintptr_t)page, FRONT_BYTES);
    return grows;
}

/* What comes behind the bytes that were read. A line that is being written is left for later. */
static void read_filters(bool is_first)
{
    struct stat file;
    bool grows = !is_first;
    const int fd = weft_reach_filter(filter_path);
    if (fd < 0)
        return;
    if (is_first && fstat(fd, &file) == 0 && file.st_size > FRONT_BYTES)
        grows = watch(fd);
    if (fstat(fd, &file) == 0 && (size_t)file.st_size > n_read) {
        const char *text = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        size_t end = (size_t)file.st_size;
        if (text != MAP_FAILED) {
            while (grows && end > n_read && text[end - 1] != '\n')
                end--;
            take_lines(text + n_read, text + end);
            (void)munmap((void *)(uintptr_t)text, (size_t)file.st_size);
            n_read = end;
        }
    }
    (void)syscall(SYS_close, fd);
}

static void read_more(void)
{
    const int kept_errno = errno;
    read_filters(false);
    errno = kept_errno;
}

/* ---- the calls of a thread */

static struct calls *get_calls(void)
{
    if (the_calls)
        return the_calls;
    const int kept_errno = errno;
    void *made = mmap(NULL, sizeof *the_calls, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    errno = kept_errno;
    return made == MAP_FAILED ? NULL : (the_calls = made);
}

static void thread_ends(void)
{
    struct calls *calls = the_calls;
    the_calls = NULL;
    if (calls)
        (void)munmap(calls, sizeof *calls);
}

/* The function's count, NULL if the table is full thereabouts. */
static struct count *find_count(struct calls *calls, uint64_t address)
{
    const uint64_t home = (address >> 4) * 0x9e3779b97f4a7c15u >> 54;
    for (uint64_t i = 0; i < N_PROBES; i++) {
        struct count *count = &calls->counts[(home + i) % N_COUNTS];
        if (count->address == 0)
            count->address = address;
        if (count->address == address)
            return count;
    }
    return NULL;
}

static bool is_culled(struct calls *calls, uint64_t address)
{
    const struct count *count = cull_calls ? find_count(calls, address) : NULL;
    return count && count->is_culled;
}

static void write_culled(const struct count *count, uint64_t now)
{
    uint64_t delta;
    struct weft_ring *ring = weft_ring_reserve(3 * WEFT_WORD_UNITS, now, &delta);
    if (!ring)
        return;
    weft_ring_append(ring, weft_ring_op_word(WEFT_OP_CULLED, 2, 0, delta));
    weft_ring_append(ring, count->address);
    weft_ring_append(ring, count->n_calls);
}

/* Counts a call that has ended; true if no more of the function will be recorded. */
static bool count_call(struct calls *calls, const struct frame *frame, uint64_t now)
{
    struct count *count = cull_calls ? find_count(calls, frame->address) : NULL;
    if (!count || count->is_culled)
        return false;
    count->n_calls++;
    count->ticks += now - frame->ticks;
    if (count->n_calls < cull_calls || count->ticks / count->n_calls >= cull_ticks)
        return false;
    count->is_culled = true;
    write_culled(count, now);
    return true;
}

static uint64_t shown(const struct weft_ring *ring)
{
    return atomic_load_explicit(&ring->slot->head, memory_order_relaxed);
}

/* The stack of a parent, or of before the thread had this slot, stays, but nothing of it can be
 * taken back from a ring that it is not in. */
static void check_slot(struct calls *calls, const struct weft_ring *ring)
{
    if (calls->slot_ticks == ring->slot->start_ticks)
        return;
    calls->slot_ticks = ring->slot->start_ticks;
    for (uint32_t i = 0; i < calls->n_frames; i++)
        calls->frames[i].head_after = UINT64_MAX;
}

/* Shows what is certain when a call begins: all before it, if the caller has lasted long enough. */
static void show_before(struct calls *calls, struct weft_ring *ring, const struct frame *frame)
{
    const uint32_t n_nearest = calls->n_frames > 0 ? frame[-1].n_nearest : 0;
    const struct frame *caller = n_nearest ? &calls->frames[n_nearest - 1] : NULL;
    if (min_ticks == 0) {
        weft_ring_publish(ring);
    } else if (frame->head_after != UINT64_MAX &&
               (!caller || frame->ticks - caller->ticks >= min_ticks) &&
               frame->head_before > shown(ring)) {
        atomic_store_explicit(&ring->slot->head, frame->head_before, memory_order_release);
    }
}

/* Takes a slot, so that the thread's first call can be taken back like any other. */
static void take_slot(uint64_t now)
{
    struct weft_ring *ring = weft_ring_room(0, now);
    if (ring)
        ring->last_ticks = now;
}

/* Writes the entry of a call that passes the filters. */
static void write_entry(struct calls *calls, struct frame *frame)
{
    frame->ticks = weft_ring_ticks();
    if (!weft_ring_thread.here->slot)
        take_slot(frame->ticks);
    const struct weft_ring *before = weft_ring_thread.here;
    frame->head_before = before->head;
    frame->last_before = before->last_ticks;
    const uint64_t n_losts = before->n_losts;
    weft_functions_write(WEFT_UNIT_ENTER, frame->address, frame->ticks);
    struct weft_ring *ring = weft_ring_thread.here;
    frame->is_recorded = ring != before || ring->head != frame->head_before;
    if (!frame->is_recorded)
        return;
    check_slot(calls, ring);
    /* The record of a loss before the entry is not taken back with it. */
    frame->head_after = ring == before && ring->n_losts == n_losts ? ring->head : UINT64_MAX;
    calls->n_recorded++;
    show_before(calls, ring, frame);
}

static void enter(struct calls *calls, uint64_t address)
{
    if (calls->n_frames == MAX_FRAMES) {
        calls->n_beyond++;
        return;
    }
    struct frame *frame = &calls->frames[calls->n_frames];
    *frame = (struct frame){ .address = address };
    if ((max_depth == 0 || calls->n_recorded < max_depth) && weft_ranges_keep(address) &&
        !is_culled(calls, address))
        write_entry(calls, frame);
    frame->n_nearest = frame->is_recorded    ? calls->n_frames + 1
                       : calls->n_frames > 0 ? frame[-1].n_nearest
                                             : 0;
    calls->n_frames++;
}

/* Takes a recorded call back if it was too short and nothing stands behind its entry. */
static bool take_back(struct weft_ring *ring, const struct frame *frame, uint64_t now)
{
    if (now - frame->ticks >= min_ticks || frame->head_after != ring->head ||
        frame->head_before < shown(ring))
        return false;
    ring->head = frame->head_before;
    ring->last_ticks = frame->last_before;
    return true;
}

static void leave(struct calls *calls, uint64_t address)
{
    if (calls->n_beyond > 0) {
        calls->n_beyond--;
        return;
    }
    uint32_t at = calls->n_frames;
    while (at > 0 && calls->frames[at - 1].address != address)
        at--;
    if (at == 0) /* its entry was before this library's time */
        return;
    for (; calls->n_frames >= at; calls->n_frames--)
        calls->n_recorded -= calls->frames[calls->n_frames - 1].is_recorded;
    const struct frame *frame = &calls->frames[at - 1];
    if (!frame->is_recorded)
        return;
    const uint64_t now = weft_ring_ticks();
    const struct weft_ring *before = weft_ring_thread.here;
    if (before->slot) {
        check_slot(calls, before);
        if (take_back(weft_ring_thread.here, frame, now)) {
            if (count_call(calls, frame, now))
                weft_ring_publish(weft_ring_thread.here);
            return;
        }
    }
    weft_functions_write(WEFT_UNIT_EXIT, address, now);
    (void)count_call(calls, frame, now);
    if (weft_ring_thread.here->slot)
        weft_ring_publish(weft_ring_thread.here);
}

void weft_filtered_record(enum weft_unit_kind kind, uint64_t address)
{
    struct calls *calls = get_calls();
    if (calls && kind == WEFT_UNIT_ENTER)
        enter(calls, address);
    else if (calls)
        leave(calls, address);
    else /* without memory all calls are recorded */
        weft_functions_write(kind, address, weft_ring_ticks());
    struct weft_ring *ring = weft_ring_thread.here;
    if (ring->slot && !calls)
        weft_ring_publish(ring);
    if (ring->slot)
        atomic_store_explicit(&ring->slot->drafted, ring->head, memory_order_relaxed);
    weft_ring_leave();
}

void weft_filtered_begin(void)
{
    static const char name[] = "/filter";
    const int kept_errno = errno;
    const char *folder = weft_reach_folder();
    const size_t n_bytes = folder ? strlen(folder) : sizeof filter_path;
    if (n_bytes + sizeof name > sizeof filter_path)
        return;
    memcpy(filter_path, folder, n_bytes);
    memcpy(filter_path + n_bytes, name, sizeof name);
    read_filters(true);
    weft_ranges_begin();
    if (cull_calls)
        cull_ticks = ticks_of(CULL_NS);
    weft_functions_are_filtered = max_depth || min_ticks || cull_calls || weft_ranges_exist();
    if (weft_functions_are_filtered)
        weft_ring_on_thread_end(thread_ends);
    errno = kept_errno;
}
