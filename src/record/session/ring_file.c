/* SPDX-License-Identifier: MIT */
#include "record/session/ring_file.h"

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
    WORDS_MAX = 1 << 26,
    LOOK_AHEAD = 64, /* free slots behind the last one that was used */
    FULL_PERCENT = 25,
    WORD_BYTES = sizeof(uint64_t),
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
    uint64_t start_ticks, head, drafted, lost;
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
    look->lost = atomic_load_explicit(&slot->lost, memory_order_relaxed);
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
    if (frees)
        atomic_store_explicit(&slot->state, WEFT_RING_FREE, memory_order_release);
    is_guarded = 0;
    return true;
}

struct file_look {
    uint64_t magic, data_off, start_ticks, lost_threads;
    uint32_t library, pid, parent, n_slots, n_words, n_modules, pid_namespace;
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
    look->n_words = head->n_words;
    look->data_off = head->data_off;
    look->start_ticks = head->start_ticks;
    look->lost_threads = atomic_load_explicit(&head->lost_threads, memory_order_relaxed);
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

/* Is the head that of a file of this size? */
static bool is_sound(const struct file_look *look, const char *name, uint64_t file_bytes)
{
    unsigned pid, library, number;
    return (look->library == WEFT_RING_OPERATIONS || look->library == WEFT_RING_FUNCTIONS) &&
           sscanf(name, "%u.%u.%u", &pid, &library, &number) == 3 && look->pid == pid &&
           look->library == library && look->n_slots > 0 && look->n_slots <= SLOTS_MAX &&
           look->n_words > 0 && look->n_words <= WORDS_MAX &&
           (look->n_words & (look->n_words - 1)) == 0 &&
           look->data_off >= head_bytes_of(look->n_slots) && look->data_off <= file_bytes &&
           (uint64_t)look->n_slots * look->n_words <= (file_bytes - look->data_off) / WORD_BYTES;
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
    file->slots = calloc(look->n_slots, sizeof *file->slots);
    if (map == MAP_FAILED || !file->slots)
        return false;
    file->head = map;
    return true;
}

bool ring_file_open(int folder_fd, const char *name, struct ring_file *file)
{
    struct file_look look = { 0 };
    uint64_t file_bytes = 0;
    *file = (struct ring_file){ .fd = -1 };
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
    file->n_words = look.n_words;
    file->data_off = look.data_off;
    file->start_ticks = look.start_ticks;
    file->n_modules = look.n_modules;
    return true;
}

void ring_file_close(struct ring_file *file)
{
    if (file->head)
        (void)munmap(file->head, file->head_bytes);
    file->head = NULL;
    free(file->slots);
    file->slots = NULL;
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
    if (look.n_modules == file->n_modules)
        return false;
    file->n_modules = look.n_modules;
    return true;
}

/* ---- words -------------------------------------------------------------------------------------
 */

/* Copies words [from, from + n_words) of a slot; false: they are not there. */
static bool copy_words(const struct ring_file *file, uint32_t place, uint64_t from, size_t n_words,
                       uint8_t *room)
{
    const uint64_t slot_off = file->data_off + (uint64_t)place * file->n_words * WORD_BYTES;
    for (size_t n_done = 0; n_done < n_words;) {
        const uint64_t at = (from + n_done) & (file->n_words - 1);
        size_t n_part =
            file->n_words - at < n_words - n_done ? (size_t)(file->n_words - at) : n_words - n_done;
        const ssize_t n_read = pread(file->fd, room + n_done * WORD_BYTES, n_part * WORD_BYTES,
                                     (off_t)(slot_off + at * WORD_BYTES));
        if (n_read < (ssize_t)WORD_BYTES)
            return false;
        n_done += (size_t)n_read / WORD_BYTES;
    }
    return true;
}

static uint64_t word_at(const uint8_t *room, size_t place)
{
    uint64_t word;
    memcpy(&word, room + place * WORD_BYTES, sizeof word);
    return word;
}

static void ask_for_snapshot(struct ring_reading *reading, const char *why, size_t n_why)
{
    if (reading->wants_snapshot)
        return;
    reading->wants_snapshot = true;
    (void)snprintf(reading->why, sizeof reading->why, "%.*s", (int)n_why, why);
}

static void look_at_op(struct ring_reading *reading, const uint8_t *room, size_t at, size_t n_extra)
{
    const uint64_t word = word_at(room, at);
    if ((word >> WEFT_WORD_OP_SHIFT & 0xff) != WEFT_OP_SNAPSHOT)
        return;
    const size_t n_most = n_extra > 1 ? (n_extra - 1) * WORD_BYTES : 0;
    const uint64_t n_text = n_extra ? word_at(room, at + 1) : 0;
    size_t n_why = n_text < n_most ? (size_t)n_text : n_most;
    n_why = n_why < sizeof reading->why ? n_why : sizeof reading->why - 1;
    ask_for_snapshot(reading, (const char *)room + (at + 2) * WORD_BYTES, n_why);
}

/* Goes through the records, to know the time at their end, and what they ask for; gives how many
 * words are whole records. */
static size_t walk_words(struct ring_file *file, uint32_t place, struct ring_reading *reading,
                         size_t n_words)
{
    struct ring_slot *slot = &file->slots[place];
    const uint8_t *room = reading->room;
    uint64_t ticks = slot->ticks;
    size_t at = 0;
    while (at < n_words) {
        const uint64_t word = word_at(room, at);
        const unsigned kind = word & 3;
        const size_t n_extra =
            kind == WEFT_WORD_OP ? word >> WEFT_WORD_COUNT_SHIFT & WEFT_OP_WORDS_MAX : 0;
        if (n_extra >= n_words - at)
            break;
        ticks = kind == WEFT_WORD_TIME ? word >> 2 : ticks + (word >> WEFT_WORD_DELTA_SHIFT);
        if (kind == WEFT_WORD_OP)
            look_at_op(reading, room, at, n_extra);
        else if (kind <= WEFT_WORD_EXIT && reading->trigger &&
                 trigger_call(reading->trigger, &slot->trigger, file->pid, kind == WEFT_WORD_EXIT,
                              word << 15 >> 17, ticks))
            ask_for_snapshot(reading, trigger_text(reading->trigger),
                             strlen(trigger_text(reading->trigger)));
        at += 1 + n_extra;
    }
    slot->ticks = ticks;
    return at;
}

/* Words that are there, and one piece of them at a time. */
static enum weft_code put_words(struct ring_file *file, uint32_t place, const struct look *look,
                                uint64_t head, bool has_ended, struct ring_reading *reading,
                                struct weft_err *err)
{
    struct ring_slot *slot = &file->slots[place];
    struct weft_ring_piece piece = { .library = file->library,
                                     .tid = slot->known_tid,
                                     .start_ticks = slot->start_ticks,
                                     .base_ticks = slot->ticks };
    enum weft_code code = WEFT_OK;
    memcpy(piece.name, look->name, sizeof piece.name);
    do {
        const uint64_t n_left = head - slot->tail;
        const size_t n_most = RING_ROOM_BYTES / WORD_BYTES;
        const size_t n_words = n_left < n_most ? (size_t)n_left : n_most;
        piece.first_word = slot->tail;
        piece.base_ticks = slot->ticks;
        if (!copy_words(file, place, slot->tail, n_words, reading->room)) {
            file->is_broken = true;
            return WEFT_OK;
        }
        size_t n_whole = walk_words(file, place, reading, n_words);
        if (n_whole == 0 || n_words == n_left)
            n_whole = n_words; /* what is cut at the head is no fault of the reader's */
        piece.has_ended = has_ended && n_whole == n_left;
        const struct weft_str front = { (const char *)&piece, sizeof piece };
        const struct weft_str words = { (const char *)reading->room, n_whole * WORD_BYTES };
        code = session_put(reading->output, WEFT_PIECE_RING, 0, file->pid, front, words, err);
        slot->tail += n_whole;
        reading->n_words += n_whole;
    } while (code == WEFT_OK && slot->tail < head);
    return code;
}

/* A slot that has another thread now: it was ended, and its words were read. */
static void turn_to(const struct ring_file *file, struct ring_slot *slot, const struct look *look,
                    struct proc_text *room)
{
    if (slot->start_ticks == look->start_ticks && slot->tid == look->tid)
        return;
    slot->known_tid = file->is_elsewhere ? namespace_tid(file->pid, look->tid, room) : look->tid;
    slot->start_ticks = look->start_ticks;
    slot->tid = look->tid;
    slot->ticks = 0;
    slot->trigger = (struct trigger_thread){ 0 };
}

static enum weft_code read_slot(struct ring_file *file, uint32_t place, const struct look *look,
                                struct ring_reading *reading, bool is_due, struct weft_err *err)
{
    struct ring_slot *slot = &file->slots[place];
    const bool is_last = file->is_over;
    uint64_t head = look->head;
    if (is_last && look->drafted > head)
        head = look->drafted;
    const uint64_t n_new = head - slot->tail;
    if (n_new > file->n_words) { /* no writer of ours does that */
        file->is_broken = true;
        return WEFT_OK;
    }
    const uint32_t fill = (uint32_t)(n_new * 100 / file->n_words);
    const bool has_ended = look->state == WEFT_RING_ENDED || is_last;
    reading->fill_percent = fill > reading->fill_percent ? fill : reading->fill_percent;
    if (n_new == 0 && !(has_ended && look->state != WEFT_RING_FREE && !is_last))
        return WEFT_OK;
    if (!is_due && fill < FULL_PERCENT && !has_ended)
        return WEFT_OK;
    turn_to(file, slot, look, &reading->text);
    enum weft_code code = WEFT_OK;
    code = put_words(file, place, look, head, has_ended, reading, err);
    if (code == WEFT_OK && !file->is_broken &&
        !write_tail(file, place, slot->tail, look->state == WEFT_RING_ENDED))
        file->is_broken = true;
    return code;
}

enum weft_code ring_file_read(struct ring_file *file, struct ring_reading *reading, bool is_due,
                              struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    uint64_t n_lost = 0;
    for (uint32_t k = 0; code == WEFT_OK && !file->is_broken && file->head && k < file->n_slots &&
                         k < file->n_used + LOOK_AHEAD;
         k++) {
        struct look look;
        if (!look_at(file, k, &look)) {
            file->is_broken = true;
            break;
        }
        n_lost += look.lost;
        if (look.state == WEFT_RING_FREE && look.head == file->slots[k].tail)
            continue;
        file->n_used = k >= file->n_used ? k + 1 : file->n_used;
        code = read_slot(file, k, &look, reading, is_due, err);
    }
    file->lost_words = n_lost > file->lost_words ? n_lost : file->lost_words;
    return code;
}
