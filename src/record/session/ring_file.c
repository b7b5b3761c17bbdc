/* SPDX-License-Identifier: MIT
 *
 * Maps a ring file's head and slots, copies units by pread, and writes them out as pieces of whole
 * records. Every access to the mapping is guarded against SIGBUS (the program may truncate the
 * file), hence the static jump buffer: only one thread reads rings. A file that contradicts itself
 * is given up; other files are not affected.
 */
#include "record/session/ring_file.h"

#include "base/cursor.h"
#include "base/vec.h"
#include "record/session/namespace.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SLOTS_MAX = 1 << 16,
    UNITS_MAX = 1 << 27,
    FULL_PERCENT = 25,
    UNIT_BYTES = sizeof(uint32_t),
};

/* ---- pages that are gone ----------------------------------------------------------------------
 */

static sigjmp_buf escape; /* of the one thread that reads rings */
static volatile sig_atomic_t is_guarded;

static void on_bus_error(int number)
{
    if (is_guarded)
        siglongjmp(escape, 1);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

void ring_files_begin(void)
{
    struct sigaction action = { .sa_handler = on_bus_error, .sa_flags = SA_NODEFER };
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL);
}

/* What one look at the head of the file and its slots gives; copied, so that it cannot change. */
struct look {
    uint32_t state, tid;
    uint64_t start_ticks, head, drafted, lost, lost_ticks;
    char name[16];
};

static bool look_at(const struct ring_file *file, uint32_t place, struct look *look)
{
    struct weft_ring_slot *slot = (struct weft_ring_slot *)(file->head + 1) + place;
    if (sigsetjmp(escape, 0)) {
        is_guarded = 0;
        return false;
    }
    is_guarded = 1;
    look->state = atomic_load_explicit(&slot->state, memory_order_acquire);
    look->head = atomic_load_explicit(&slot->head, memory_order_acquire);
    look->drafted = atomic_load_explicit(&slot->drafted, memory_order_relaxed);
    look->lost = atomic_load_explicit(&slot->lost, memory_order_acquire);
    look->lost_ticks = atomic_load_explicit(&slot->lost_ticks, memory_order_relaxed);
    look->tid = slot->tid;
    look->start_ticks = slot->start_ticks;
    memcpy(look->name, slot->name, sizeof look->name);
    is_guarded = 0;
    return true;
}

static bool write_tail(const struct ring_file *file, uint32_t place, uint64_t tail, bool frees)
{
    struct weft_ring_slot *slot = (struct weft_ring_slot *)(file->head + 1) + place;
    if (sigsetjmp(escape, 0)) {
        is_guarded = 0;
        return false;
    }
    is_guarded = 1;
    atomic_store_explicit(&slot->tail, tail, memory_order_release);
    if (frees) {
        atomic_store_explicit(&slot->state, WEFT_RING_FREE, memory_order_release);
        atomic_fetch_add(&file->head->n_freed, 1);
    }
    is_guarded = 0;
    return true;
}

struct file_look {
    uint64_t magic, data_off, start_ticks, lost_threads, functions_off;
    uint32_t library, pid, parent, n_slots, n_units, n_modules, pid_namespace;
    uint32_t functions_cap, n_functions, n_used, n_execs;
};

static bool look_at_file(struct weft_ring_file *head, struct file_look *look)
{
    if (sigsetjmp(escape, 0)) {
        is_guarded = 0;
        return false;
    }
    is_guarded = 1;
    look->magic = atomic_load_explicit(&head->magic, memory_order_acquire);
    look->library = head->library;
    look->pid = head->pid;
    look->parent = head->parent;
    look->pid_namespace = head->pid_namespace;
    look->n_slots = head->n_slots;
    look->n_units = head->n_units;
    look->data_off = head->data_off;
    look->start_ticks = head->start_ticks;
    look->functions_off = head->functions_off;
    look->functions_cap = head->functions_cap;
    look->n_functions = atomic_load_explicit(&head->n_functions, memory_order_acquire);
    look->lost_threads = atomic_load_explicit(&head->lost_threads, memory_order_relaxed);
    look->n_used = atomic_load_explicit(&head->n_used, memory_order_acquire);
    look->n_execs = atomic_load_explicit(&head->n_execs, memory_order_relaxed);
    look->n_modules = atomic_load_explicit(&head->n_modules, memory_order_relaxed);
    is_guarded = 0;
    return true;
}

/* ---- files -------------------------------------------------------------------------------------
 */

static uint64_t head_bytes_of(uint32_t n_slots)
{
    return sizeof(struct weft_ring_file) + (uint64_t)n_slots * sizeof(struct weft_ring_slot);
}

/* Do `n` things of `n_bytes` each lie behind the heads, and in the file? */
static bool is_within(const struct file_look *look, uint64_t off, uint64_t n, uint64_t n_bytes,
                      uint64_t file_bytes)
{
    return off >= head_bytes_of(look->n_slots) && off <= file_bytes &&
           n <= (file_bytes - off) / n_bytes;
}

/* Is the head that of a file of this size? */
static bool is_sound(const struct file_look *look, const char *name, uint64_t file_bytes)
{
    unsigned pid, library, number;
    return (look->library == WEFT_RING_OPERATIONS || look->library == WEFT_RING_FUNCTIONS) &&
           sscanf(name, "%u.%u.%u", &pid, &library, &number) == 3 && look->pid == pid &&
           look->library == library && look->n_slots > 0 && look->n_slots <= SLOTS_MAX &&
           look->n_units > 0 && look->n_units <= UNITS_MAX &&
           (look->n_units & (look->n_units - 1)) == 0 &&
           look->functions_cap <= WEFT_RING_FUNCTIONS_MAX &&
           is_within(look, look->functions_off, look->functions_cap, sizeof(uint64_t),
                     file_bytes) &&
           is_within(look, look->data_off, (uint64_t)look->n_slots * look->n_units, UNIT_BYTES,
                     file_bytes);
}

/* Maps the head and reads what it says; false: not ready. */
static bool read_head(struct ring_file *file, struct file_look *look, uint64_t *file_bytes)
{
    struct stat about;
    if (fstat(file->fd, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size < (off_t)sizeof(struct weft_ring_file))
        return false;
    *file_bytes = (uint64_t)about.st_size;
    void *map = mmap(NULL, sizeof(struct weft_ring_file), PROT_READ, MAP_SHARED, file->fd, 0);
    if (map == MAP_FAILED)
        return false;
    const bool is_read = look_at_file(map, look) && look->magic == WEFT_RING_MAGIC;
    (void)munmap(map, sizeof(struct weft_ring_file));
    return is_read;
}

static bool map_slots(struct ring_file *file, const struct file_look *look)
{
    file->head_bytes = (size_t)head_bytes_of(look->n_slots);
    void *map = mmap(NULL, file->head_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    if (map == MAP_FAILED)
        return false;
    file->head = map;
    return true;
}

bool ring_file_open(int folder_fd, const char *name, struct ring_file *file)
{
    struct file_look look = { 0 };
    uint64_t file_bytes = 0;
    *file = (struct ring_file){ .fd = -1, .ledger_ring = UINT32_MAX };
    if (snprintf(file->name, sizeof file->name, "%s", name) >= (int)sizeof file->name) {
        file->is_broken = true;
        return false;
    }
    file->fd = openat(folder_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file->fd < 0 || !read_head(file, &look, &file_bytes)) {
        ring_file_close(file);
        return false;
    }
    if (!is_sound(&look, name, file_bytes) || !map_slots(file, &look)) {
        ring_file_close(file);
        file->is_broken = true;
        return false;
    }
    file->pid = look.pid;
    file->pid_namespace = look.pid_namespace;
    file->is_elsewhere = namespace_is_other(look.pid_namespace);
    file->parent = look.parent;
    file->library = look.library;
    file->n_slots = look.n_slots;
    file->n_units = look.n_units;
    file->data_off = look.data_off;
    file->functions_off = look.functions_off;
    file->functions_cap = look.functions_cap;
    file->start_ticks = look.start_ticks;
    file->n_modules = look.n_modules;
    return true;
}

void ring_file_close(struct ring_file *file)
{
    if (file->head)
        (void)munmap(file->head, file->head_bytes);
    file->head = NULL;
    WEFT_VEC_FINI(&file->slots);
    WEFT_VEC_FINI(&file->functions);
    if (file->fd >= 0)
        (void)close(file->fd);
    file->fd = -1;
}

void ring_file_stop(struct ring_file *file)
{
    if (!file->head)
        return;
    if (sigsetjmp(escape, 0)) {
        is_guarded = 0;
        file->is_broken = true;
        return;
    }
    is_guarded = 1;
    atomic_store_explicit(&file->head->is_stopped, 1, memory_order_release);
    is_guarded = 0;
}

bool ring_file_modules_changed(struct ring_file *file)
{
    struct file_look look;
    if (!file->head || file->is_broken || !look_at_file(file->head, &look))
        return false;
    file->lost_threads = look.lost_threads;
    file->starts_program = file->starts_program || look.n_execs != file->n_execs;
    file->n_execs = look.n_execs;
    if (look.n_modules == file->n_modules)
        return false;
    file->n_modules = look.n_modules;
    return true;
}

/* ---- functions ---------------------------------------------------------------------------------
 */

/* Writes the addresses of functions that have got a number. A number stands in a record later than
 * its address in the file: what was shown of a slot before this is explained by it. */
static enum weft_code put_functions(struct ring_file *file, struct session_output *output,
                                    struct weft_err *err)
{
    struct file_look look;
    const size_t n_before = file->functions.n;
    if (!look_at_file(file->head, &look)) {
        file->is_broken = true;
        return WEFT_OK;
    }
    const size_t n_all =
        look.n_functions < file->functions_cap ? look.n_functions : file->functions_cap;
    if (n_all <= n_before)
        return WEFT_OK;
    if (!weft_vec_reserve(&file->functions.items, &file->functions.cap, n_all, sizeof(uint64_t)))
        return weft_no_memory(err, "functions");
    uint64_t *news = file->functions.items + n_before;
    const size_t n_bytes = (n_all - n_before) * sizeof *news;
    if (pread(file->fd, news, n_bytes, (off_t)(file->functions_off + n_before * sizeof *news)) !=
        (ssize_t)n_bytes) {
        file->is_broken = true;
        return WEFT_OK;
    }
    file->functions.n = n_all;
    const struct weft_functions_piece piece = { .file_ticks = file->start_ticks,
                                                .first = n_before };
    return session_put(output, WEFT_PIECE_FUNCTIONS, 0, file->pid,
                       (struct weft_str){ (const char *)&piece, sizeof piece },
                       (struct weft_str){ (const char *)news, n_bytes }, err);
}

/* ---- records -----------------------------------------------------------------------------------
 */

/* Copies units [from, from + n_units) of a slot; false: they are not there. */
static bool copy_units(const struct ring_file *file, uint32_t place, uint64_t from, size_t n_units,
                       uint8_t *room)
{
    const uint64_t slot_off = file->data_off + (uint64_t)place * file->n_units * UNIT_BYTES;
    for (size_t n_done = 0; n_done < n_units;) {
        const uint64_t at = (from + n_done) & (file->n_units - 1);
        size_t n_part =
            file->n_units - at < n_units - n_done ? (size_t)(file->n_units - at) : n_units - n_done;
        const ssize_t n_read = pread(file->fd, room + n_done * UNIT_BYTES, n_part * UNIT_BYTES,
                                     (off_t)(slot_off + at * UNIT_BYTES));
        if (n_read < (ssize_t)UNIT_BYTES)
            return false;
        n_done += (size_t)n_read / UNIT_BYTES;
    }
    return true;
}

/* One that is read of a slot. */
struct walk {
    struct ring_file *file;
    struct ring_slot *slot;
    struct ring_reading *reading;
};

static void ask_for_snapshot(struct ring_reading *reading, const char *why, size_t n_why)
{
    if (reading->wants_snapshot)
        return;
    reading->wants_snapshot = true;
    (void)snprintf(reading->why, sizeof reading->why, "%.*s", (int)n_why, why);
}

static void look_at_call(const struct walk *walk, bool is_exit, uint64_t address)
{
    struct ring_reading *reading = walk->reading;
    if (trigger_call(reading->trigger, &walk->slot->trigger, walk->file->pid, is_exit, address,
                     walk->slot->ticks))
        ask_for_snapshot(reading, trigger_text(reading->trigger),
                         strlen(trigger_text(reading->trigger)));
}

/* An operation: the text of a snapshot's words is its length, then its bytes. */
static void look_at_op(const struct walk *walk, const uint8_t *bytes, size_t n_extra)
{
    const unsigned op = weft_load_u64(bytes) >> WEFT_WORD_OP_SHIFT & 0xff;
    const uint64_t first = n_extra ? weft_load_u64(bytes + 8) : 0;
    if (op == WEFT_OP_SNAPSHOT) {
        const size_t n_most = n_extra > 1 ? (n_extra - 1) * 8 : 0;
        size_t n_why = first < n_most ? (size_t)first : n_most;
        n_why = n_why < sizeof walk->reading->why ? n_why : sizeof walk->reading->why - 1;
        ask_for_snapshot(walk->reading, (const char *)bytes + 16, n_why);
    } else if ((op == WEFT_OP_ENTER_FAR || op == WEFT_OP_EXIT_FAR) && walk->reading->trigger) {
        look_at_call(walk, op == WEFT_OP_EXIT_FAR, first);
    }
}

/* Units of the record that begins here, at most `n_left`; 0: it is cut. Takes its time. */
static size_t walk_record(const struct walk *walk, const uint8_t *bytes, size_t n_left)
{
    const uint32_t unit = weft_load_u32(bytes);
    const unsigned kind = unit & 3;
    if (kind <= WEFT_UNIT_EXIT) {
        const uint32_t number = unit >> WEFT_UNIT_NUMBER_SHIFT & (WEFT_RING_FUNCTIONS_MAX - 1);
        walk->slot->ticks += unit >> WEFT_UNIT_DELTA_SHIFT;
        walk->reading->n_records++;
        walk->file->n_records++;
        if (walk->reading->trigger && number < walk->file->functions.n)
            look_at_call(walk, kind == WEFT_UNIT_EXIT, walk->file->functions.items[number]);
        return 1;
    }
    const uint64_t word = n_left >= WEFT_WORD_UNITS ? weft_load_u64(bytes) : 0;
    if (kind == WEFT_UNIT_TIME && n_left >= WEFT_WORD_UNITS) {
        walk->slot->ticks = word >> 2;
        return WEFT_WORD_UNITS;
    }
    const size_t n_extra = word >> WEFT_WORD_COUNT_SHIFT & WEFT_OP_WORDS_MAX;
    if (n_left < (1 + n_extra) * WEFT_WORD_UNITS)
        return 0;
    walk->slot->ticks += word >> WEFT_WORD_DELTA_SHIFT;
    walk->reading->n_records++;
    walk->file->n_records++;
    if (n_extra && (word >> WEFT_WORD_OP_SHIFT & 0xff) == WEFT_OP_LOST)
        walk->slot->n_lost_told += weft_load_u64(bytes + sizeof word);
    look_at_op(walk, bytes, n_extra);
    return (1 + n_extra) * WEFT_WORD_UNITS;
}

/* Goes through the records, for the time at their end, and what they ask for; gives how many units
 * are whole records. */
static size_t walk_units(const struct walk *walk, size_t n_units)
{
    size_t at = 0;
    while (at < n_units) {
        const size_t n_own = walk_record(walk, walk->reading->room + at * UNIT_BYTES, n_units - at);
        if (n_own == 0)
            break;
        at += n_own;
    }
    return at;
}

static struct weft_ring_piece piece_of(const struct ring_file *file, const struct ring_slot *slot,
                                       const struct look *look)
{
    struct weft_ring_piece piece = { .library = file->library,
                                     .tid = slot->known_tid,
                                     .start_ticks = slot->start_ticks,
                                     .first_unit = slot->tail,
                                     .base_ticks = slot->ticks,
                                     .file_ticks = file->start_ticks };
    memcpy(piece.name, look->name, sizeof piece.name);
    return piece;
}

/* Units that are there, and one piece of them at a time. */
static enum weft_code put_units(struct ring_file *file, uint32_t place, const struct look *look,
                                uint64_t head, bool has_ended, struct ring_reading *reading,
                                struct weft_err *err)
{
    struct ring_slot *slot = &file->slots.items[place];
    const struct walk walk = { .file = file, .slot = slot, .reading = reading };
    enum weft_code code = put_functions(file, reading->output, err);
    if (code != WEFT_OK || file->is_broken)
        return code;
    do {
        const uint64_t n_left = head - slot->tail;
        const size_t n_most = RING_ROOM_BYTES / UNIT_BYTES;
        const size_t n_units = n_left < n_most ? (size_t)n_left : n_most;
        struct weft_ring_piece piece = piece_of(file, slot, look);
        if (!copy_units(file, place, slot->tail, n_units, reading->room)) {
            file->is_broken = true;
            return WEFT_OK;
        }
        size_t n_whole = walk_units(&walk, n_units);
        if (n_whole == 0 || n_units == n_left)
            n_whole = n_units; /* what is cut at the head is no fault of the reader's */
        piece.has_ended = has_ended && n_whole == n_left;
        const struct weft_str front = { (const char *)&piece, sizeof piece };
        const struct weft_str units = { (const char *)reading->room, n_whole * UNIT_BYTES };
        code = session_put(reading->output, WEFT_PIECE_RING, 0, file->pid, front, units, err);
        slot->tail += n_whole;
    } while (code == WEFT_OK && slot->tail < head);
    return code;
}

/* Records that were lost behind the last unit: there will be no room for their LOST. Its units have
 * numbers behind those of the slot, where this thread has no more. */
static enum weft_code put_last_losses(struct ring_file *file, struct ring_slot *slot,
                                      const struct look *look, bool has_ended,
                                      struct ring_reading *reading, struct weft_err *err)
{
    if (look->lost <= slot->n_lost_told)
        return WEFT_OK;
    struct weft_ring_piece piece = piece_of(file, slot, look);
    const uint64_t ticks = look->lost_ticks > slot->ticks ? look->lost_ticks : slot->ticks;
    const uint64_t words[] = {
        ticks << 2 | WEFT_UNIT_TIME,
        WEFT_UNIT_OP | WEFT_OP_LOST << WEFT_WORD_OP_SHIFT | 1 << WEFT_WORD_COUNT_SHIFT,
        look->lost - slot->n_lost_told,
    };
    piece.has_ended = has_ended;
    slot->n_lost_told = look->lost;
    return session_put(reading->output, WEFT_PIECE_RING, 0, file->pid,
                       (struct weft_str){ (const char *)&piece, sizeof piece },
                       (struct weft_str){ (const char *)words, sizeof words }, err);
}

/* A slot that has another thread now: it was ended, and its units were read. */
static void turn_to(struct ring_file *file, struct ring_slot *slot, const struct look *look,
                    struct proc_text *room)
{
    if (slot->start_ticks == look->start_ticks && slot->tid == look->tid)
        return;
    slot->known_tid = file->is_elsewhere ? namespace_tid(file->pid, look->tid, room) : look->tid;
    slot->start_ticks = look->start_ticks;
    slot->tid = look->tid;
    file->n_threads += slot->known_tid != file->pid;
    slot->ticks = 0;
    slot->trigger = (struct trigger_thread){ 0 };
}

static enum weft_code read_slot(struct ring_file *file, uint32_t place, const struct look *look,
                                struct ring_reading *reading, bool is_due, struct weft_err *err)
{
    struct ring_slot *slot = &file->slots.items[place];
    const bool is_last = file->is_over;
    uint64_t head = look->head;
    if (is_last && look->drafted > head)
        head = look->drafted;
    const uint64_t n_new = head - slot->tail;
    if (n_new > file->n_units) { /* no writer of ours does that */
        file->is_broken = true;
        return WEFT_OK;
    }
    const uint32_t fill = (uint32_t)(n_new * 100 / file->n_units);
    const bool has_ended = look->state == WEFT_RING_ENDED || is_last;
    reading->fill_percent = fill > reading->fill_percent ? fill : reading->fill_percent;
    const bool is_all = has_ended || reading->is_final;
    if (n_new == 0 && !(is_all && look->lost > slot->n_lost_told) &&
        !(has_ended && look->state != WEFT_RING_FREE && !is_last))
        return WEFT_OK;
    if (!is_due && fill < FULL_PERCENT && !has_ended)
        return WEFT_OK;
    turn_to(file, slot, look, &reading->text);
    enum weft_code code = put_units(file, place, look, head, has_ended, reading, err);
    if (code == WEFT_OK && !file->is_broken && is_all)
        code = put_last_losses(file, slot, look, has_ended, reading, err);
    if (code == WEFT_OK && !file->is_broken &&
        !write_tail(file, place, slot->tail, look->state == WEFT_RING_ENDED))
        file->is_broken = true;
    return code;
}

/* Slots that threads have taken since; false: there is no memory. */
static bool add_slots(struct ring_file *file)
{
    struct file_look look;
    if (!look_at_file(file->head, &look)) {
        file->is_broken = true;
        return true;
    }
    const size_t n_used = look.n_used < file->n_slots ? look.n_used : file->n_slots;
    if (!weft_vec_reserve(&file->slots.items, &file->slots.cap, n_used, sizeof *file->slots.items))
        return false;
    for (; file->slots.n < n_used; file->slots.n++)
        file->slots.items[file->slots.n] = (struct ring_slot){ 0 };
    return true;
}

enum weft_code ring_file_read(struct ring_file *file, struct ring_reading *reading, bool is_due,
                              struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    uint64_t n_lost = 0;
    if (!file->head || file->is_broken)
        return WEFT_OK;
    if (!add_slots(file))
        return weft_no_memory(err, "slots");
    for (uint32_t k = 0; code == WEFT_OK && !file->is_broken && k < file->slots.n; k++) {
        struct look look;
        if (!look_at(file, k, &look)) {
            file->is_broken = true;
            break;
        }
        n_lost += look.lost;
        if (look.state != WEFT_RING_FREE || look.head != file->slots.items[k].tail)
            code = read_slot(file, k, &look, reading, is_due, err);
    }
    file->lost_records = n_lost > file->lost_records ? n_lost : file->lost_records;
    return code;
}
