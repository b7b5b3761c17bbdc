/* SPDX-License-Identifier: MIT
 *
 * Reconstructs address spaces from the recorded /proc/PID/maps: images of a process follow each
 * other, a fork starts with its parent's. Look-up searches the image of the time first, then its
 * neighbours, then the parent's. Build ids and kernel names are kept here too.
 */
#include "ingest/recording/spaces.h"

#include "base/vec.h"
#include "ingest/recording/lines.h"

/* A process has fewer mappings and images than these; what goes beyond is not kept. */
enum { MOST_MAPPINGS = 1 << 20, MOST_IMAGES = 1 << 10, MOST_STEPS = 64, MOST_ID_BYTES = 64 };

/* ---- mappings -------------------------------------------------------------------------------- */

static int by_begin(const void *a_void, const void *b_void)
{
    const struct rec_mapping *a = a_void;
    const struct rec_mapping *b = b_void;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* The first mapping that ends behind `address`. */
static size_t lower_bound(const struct rec_image *image, uint64_t address)
{
    size_t low = 0;
    size_t high = image->maps.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (image->maps.items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct rec_mapping *find(const struct rec_image *image, uint64_t address)
{
    const size_t place = lower_bound(image, address);
    return place < image->maps.n && image->maps.items[place].begin <= address
               ? &image->maps.items[place]
               : NULL;
}

/* Could both be parts of one file that lies where it lies? */
static bool agree(const struct rec_mapping *a, const struct rec_mapping *b)
{
    return a->path == b->path && a->begin - a->file_off == b->begin - b->file_off;
}

struct mappings {
    struct rec_mapping *items; /* by address */
    size_t n, cap;
};

static bool is_in_the_way(const struct rec_image *image, const struct mappings *maps)
{
    for (size_t k = 0; k < maps->n; k++) {
        const struct rec_mapping *map = &maps->items[k];
        for (size_t at = lower_bound(image, map->begin);
             at < image->maps.n && image->maps.items[at].begin < map->end; at++)
            if (!agree(&image->maps.items[at], map))
                return true;
    }
    return false;
}

/* Adds what is new; of two that agree and touch or overlap one is made. */
static bool merge(struct rec_image *image, const struct mappings *maps)
{
    if (!weft_vec_reserve(&image->maps.items, &image->maps.cap, image->maps.n + maps->n + 1,
                          sizeof *image->maps.items))
        return false;
    struct rec_mapping *items = image->maps.items;
    if (maps->n)
        memcpy(items + image->maps.n, maps->items, maps->n * sizeof *items);
    const size_t n_all = image->maps.n + maps->n;
    size_t n = 0;
    qsort(items, n_all, sizeof *items, by_begin);
    for (size_t k = 0; k < n_all; k++) {
        struct rec_mapping *last = n ? &items[n - 1] : NULL;
        if (last && agree(last, &items[k]) && items[k].begin <= last->end) {
            last->end = last->end > items[k].end ? last->end : items[k].end;
        } else if (!last || items[k].begin >= last->end) {
            items[n++] = items[k];
        }
    }
    image->maps.n = n;
    return true;
}

/* ---- /proc/PID/maps -------------------------------------------------------------------------- */

/* "7f00-8f00 r-xp 00001000 fe:00 123   /usr/lib/x.so": of what can be executed. */
static bool parse_map(struct weft_str line, struct rec_mapping *map, struct weft_str *path)
{
    struct weft_str rest = line;
    uint64_t unused;
    if (!rec_take_hex(&rest, &map->begin) || !rec_take_byte(&rest, '-') ||
        !rec_take_hex(&rest, &map->end) || !rec_take_byte(&rest, ' ') || rest.n_bytes < 5)
        return false;
    const bool is_executable = rest.bytes[2] == 'x';
    rest = (struct weft_str){ rest.bytes + 4, rest.n_bytes - 4 };
    if (!rec_take_byte(&rest, ' ') || !rec_take_hex(&rest, &map->file_off) ||
        !rec_take_byte(&rest, ' ') || !rec_take_hex(&rest, &unused) || !rec_take_byte(&rest, ':') ||
        !rec_take_hex(&rest, &unused) || !rec_take_byte(&rest, ' ') ||
        !rec_take_decimal(&rest, &unused))
        return false;
    while (rest.n_bytes && *rest.bytes == ' ')
        (void)rec_take_byte(&rest, ' ');
    *path = rest;
    return is_executable && !weft_jit_is_nameless(rest) && map->begin < map->end;
}

static bool read_maps(struct rec_spaces *spaces, struct weft_str text, struct mappings *maps)
{
    struct weft_str line;
    maps->n = 0;
    while (rec_next_line(&text, &line) && maps->n < MOST_MAPPINGS) {
        struct rec_mapping map = { 0 };
        struct weft_str path;
        if (!parse_map(line, &map, &path))
            continue;
        struct rec_mapping *place = WEFT_VEC_PUSH(maps);
        if (!place || weft_strtab_intern(spaces->texts, path, &map.path, NULL) != WEFT_OK)
            return false;
        *place = map;
    }
    if (maps->n)
        qsort(maps->items, maps->n, sizeof *maps->items, by_begin);
    return true;
}

/* ---- processes ------------------------------------------------------------------------------- */

static struct rec_process *process_add(struct rec_spaces *spaces, uint32_t pid)
{
    bool is_new;
    const uint32_t index = weft_map_add(spaces->of_pid, pid, &is_new);
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&spaces->processes)))
        return NULL;
    struct rec_process *process = &spaces->processes.items[index];
    if (is_new)
        *process = (struct rec_process){ .pid = pid,
                                         .comm = UINT32_MAX,
                                         .exe = UINT32_MAX,
                                         .first_image = REC_NO_IMAGE,
                                         .last_image = REC_NO_IMAGE };
    return process;
}

static void set_start(struct rec_process *process, uint64_t ns)
{
    process->start_ns = ns;
    if (ns && (!process->began_ns || ns < process->began_ns))
        process->began_ns = ns;
}

static bool read_process(struct rec_spaces *spaces, uint32_t pid, struct weft_str text)
{
    struct rec_process *process = process_add(spaces, pid);
    struct weft_str line, key, value;
    uint64_t number;
    while (process && rec_next_line(&text, &line)) {
        if (!rec_key_value(line, &key, &value))
            continue;
        if (weft_str_equal(key, WEFT_STR("comm")) &&
            weft_strtab_intern(spaces->texts, value, &process->comm, NULL) != WEFT_OK)
            return false;
        if (weft_str_equal(key, WEFT_STR("exe")) && value.n_bytes > 0 &&
            weft_strtab_intern(spaces->texts, value, &process->exe, NULL) != WEFT_OK)
            return false;
        if (!rec_take_decimal(&value, &number))
            continue;
        if (weft_str_equal(key, WEFT_STR("parent")))
            process->parent = (uint32_t)number;
        else if (weft_str_equal(key, WEFT_STR("start_ns")))
            set_start(process, number);
        else if (weft_str_equal(key, WEFT_STR("end_ns")))
            process->end_ns = number;
        else if (weft_str_equal(key, WEFT_STR("namespace")))
            process->pid_namespace = (uint32_t)number;
    }
    return process != NULL;
}

static bool image_add(struct rec_spaces *spaces, uint32_t process, uint64_t from_ns)
{
    const uint32_t index = (uint32_t)spaces->images.n;
    struct rec_image *image = WEFT_VEC_PUSH(&spaces->images);
    struct rec_process *of = &spaces->processes.items[process];
    if (!image)
        return false;
    *image = (struct rec_image){
        .from_ns = from_ns, .pid = of->pid, .next = REC_NO_IMAGE, .before = of->last_image
    };
    if (of->last_image == REC_NO_IMAGE) {
        of->first_image = index;
    } else {
        struct rec_image *before = &spaces->images.items[of->last_image];
        image->from_ns = from_ns > before->from_ns ? from_ns : before->from_ns;
        before->next = index;
    }
    of->last_image = index;
    of->n_images++;
    return true;
}

static bool add_maps(struct rec_spaces *spaces, const struct rec_piece *piece,
                     const struct mappings *maps)
{
    const struct rec_process *process = process_add(spaces, piece->pid);
    if (!process)
        return false;
    const uint32_t number = (uint32_t)(process - spaces->processes.items);
    const bool is_new = piece->stream == 0;
    const uint32_t last = process->last_image;
    if (last != REC_NO_IMAGE && !is_new && !is_in_the_way(&spaces->images.items[last], maps))
        return merge(&spaces->images.items[last], maps);
    if (process->n_images >= MOST_IMAGES)
        return true;
    const uint64_t from_ns = is_new && process->start_ns ? process->start_ns : piece->time_ns;
    return image_add(spaces, number, from_ns) &&
           merge(&spaces->images.items[spaces->images.n - 1], maps);
}

/* ---- build ids ------------------------------------------------------------------------------- */

static bool add_build(struct rec_spaces *spaces, struct weft_str line)
{
    char bytes[MOST_ID_BYTES];
    size_t n_bytes = 0;
    uint32_t path;
    while (line.n_bytes >= 2 && line.bytes[0] != ' ' && n_bytes < sizeof bytes) {
        struct weft_str pair = { line.bytes, 2 };
        uint64_t byte;
        if (!rec_take_hex(&pair, &byte) || pair.n_bytes)
            return true;
        bytes[n_bytes++] = (char)byte;
        line = (struct weft_str){ line.bytes + 2, line.n_bytes - 2 };
    }
    if (n_bytes == 0 || !rec_take_byte(&line, ' ') || line.n_bytes == 0)
        return true;
    if (weft_strtab_intern(spaces->texts, line, &path, NULL) != WEFT_OK)
        return false;
    bool is_new;
    const uint32_t index = weft_map_add(spaces->build_of, path, &is_new);
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&spaces->builds)))
        return false;
    return weft_strtab_intern(spaces->texts, (struct weft_str){ bytes, n_bytes },
                              &spaces->builds.items[index], NULL) == WEFT_OK;
}

struct weft_str rec_build_id(const struct rec_spaces *spaces, uint32_t path)
{
    const uint32_t index = weft_map_find(spaces->build_of, path);
    return index == WEFT_MAP_NONE ? WEFT_STR("")
                                  : weft_strtab_get(spaces->texts, spaces->builds.items[index]);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* "ADDRESS NAME" */
static bool add_kernel_name(struct rec_spaces *spaces, struct weft_str line)
{
    uint64_t address;
    bool is_new;
    if (!rec_take_hex(&line, &address) || !rec_take_byte(&line, ' ') || line.n_bytes == 0)
        return true;
    const uint32_t place = weft_map_add(spaces->kernel_of, address, &is_new);
    uint32_t *name = is_new && place != WEFT_MAP_NONE ? WEFT_VEC_PUSH(&spaces->kernel_names) : NULL;
    if (place == WEFT_MAP_NONE || (is_new && !name))
        return false;
    return !is_new || weft_strtab_intern(spaces->texts, line, name, NULL) == WEFT_OK;
}

struct weft_str rec_kernel_name(const struct rec_spaces *spaces, uint64_t address)
{
    const uint32_t place = weft_map_find(spaces->kernel_of, address);
    return place == WEFT_MAP_NONE
               ? WEFT_STR("[kernel]")
               : weft_strtab_get(spaces->texts, spaces->kernel_names.items[place]);
}

/* ---- code without a file --------------------------------------------------------------------- */

static bool take_jit(struct rec_spaces *spaces, const struct rec_piece *piece,
                     struct weft_str payload)
{
    const struct rec_process *process = rec_process_of(spaces, piece->pid);
    return rec_jits_take(&spaces->jits, piece, process ? process->start_ns : 0, payload,
                         spaces->texts);
}

static bool view_add(const struct rec_jits *jits, uint32_t pid, uint64_t ns,
                     struct rec_jit_view *view)
{
    const uint32_t jit = rec_jit_of(jits, pid, ns);
    if (jit == REC_NO_JIT)
        return false;
    view->parts[view->n].jit = jit;
    view->parts[view->n++].era = weft_jit_era(&jits->items[jit].table, ns);
    return true;
}

/* What its program was forked with is that of the nearest process that has any. */
void rec_jit_view(const struct rec_spaces *spaces, uint32_t pid, uint64_t ns,
                  struct rec_jit_view *view)
{
    const struct rec_process *process = rec_process_of(spaces, pid);
    view->n = 0;
    if (spaces->jits.n == 0)
        return;
    (void)view_add(&spaces->jits, pid, ns, view);
    for (int step = 0; process && process->began_ns && step < MOST_STEPS; step++) {
        if (process->start_ns != process->began_ns && ns >= process->start_ns)
            break; /* it runs another program since */
        ns = process->began_ns;
        const uint32_t parent = process->parent;
        if (view_add(&spaces->jits, parent, ns, view))
            break;
        process = rec_process_of(spaces, parent);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool read_piece(struct rec_spaces *spaces, const struct rec_pieces *pieces,
                       const struct rec_piece *piece, struct rec_room *room, struct mappings *maps)
{
    struct weft_str text, line;
    if (!rec_piece_read(pieces, piece, room, &text))
        return false;
    switch (piece->kind) {
    case WEFT_PIECE_PROCESS:
        return read_process(spaces, piece->pid, text);
    case WEFT_PIECE_KERNEL_NAMES:
        while (rec_next_line(&text, &line))
            if (!add_kernel_name(spaces, line))
                return false;
        return true;
    case WEFT_PIECE_MAPS:
        return read_maps(spaces, text, maps) && add_maps(spaces, piece, maps);
    case WEFT_PIECE_JIT:
        return take_jit(spaces, piece, text);
    default:
        while (rec_next_line(&text, &line))
            if (!add_build(spaces, line))
                return false;
        return true;
    }
}

enum weft_code rec_spaces_read(const struct rec_pieces *pieces, const struct rec_clocks *clocks,
                               uint64_t memory_bytes, const char *symbols_path,
                               struct rec_spaces *spaces, struct weft_err *err)
{
    struct rec_room room = { 0 };
    struct mappings maps = { 0 };
    *spaces = (struct rec_spaces){ .of_pid = weft_map_new(),
                                   .texts = weft_strtab_new(),
                                   .build_of = weft_map_new(),
                                   .kernel_of = weft_map_new(),
                                   .symbols = weft_symbols_new(symbols_path) };
    bool is_good = rec_jits_init(&spaces->jits, clocks, memory_bytes) && spaces->of_pid &&
                   spaces->texts && spaces->build_of && spaces->kernel_of && spaces->symbols;
    for (size_t k = 0; is_good && k < pieces->n; k++) {
        const struct rec_piece *piece = &pieces->items[k];
        if (piece->kind == WEFT_PIECE_PROCESS || piece->kind == WEFT_PIECE_MAPS ||
            piece->kind == WEFT_PIECE_BUILD || piece->kind == WEFT_PIECE_KERNEL_NAMES ||
            piece->kind == WEFT_PIECE_JIT)
            is_good = read_piece(spaces, pieces, piece, &room, &maps);
    }
    is_good = is_good && rec_jits_seal(&spaces->jits);
    WEFT_VEC_FINI(&maps);
    rec_room_fini(&room);
    return is_good ? WEFT_OK : weft_no_memory(err, "processes");
}

void rec_spaces_fini(struct rec_spaces *spaces)
{
    for (size_t k = 0; k < spaces->images.n; k++)
        WEFT_VEC_FINI(&spaces->images.items[k].maps);
    WEFT_VEC_FINI(&spaces->images);
    WEFT_VEC_FINI(&spaces->processes);
    WEFT_VEC_FINI(&spaces->builds);
    weft_map_free(spaces->of_pid);
    weft_map_free(spaces->build_of);
    weft_map_free(spaces->kernel_of);
    WEFT_VEC_FINI(&spaces->kernel_names);
    rec_jits_fini(&spaces->jits);
    weft_strtab_free(spaces->texts);
    weft_symbols_free(spaces->symbols);
}

/* ---- questions ------------------------------------------------------------------------------- */

const struct rec_process *rec_process_of(const struct rec_spaces *spaces, uint32_t pid)
{
    const uint32_t index = weft_map_find(spaces->of_pid, pid);
    return index == WEFT_MAP_NONE ? NULL : &spaces->processes.items[index];
}

/* Does the process still have at `ns` what it was forked with? */
static bool is_forked(const struct rec_spaces *spaces, const struct rec_process *process,
                      uint64_t ns)
{
    const uint64_t own_ns = spaces->images.items[process->first_image].from_ns;
    return process->began_ns && process->began_ns < own_ns && ns < own_ns;
}

uint32_t rec_image_at(const struct rec_spaces *spaces, uint32_t pid, uint64_t ns)
{
    const struct rec_process *process = rec_process_of(spaces, pid);
    uint32_t image = REC_NO_IMAGE;
    for (int step = 0; process && step < MOST_STEPS; step++) {
        if (process->first_image != REC_NO_IMAGE) {
            image = process->first_image;
            if (!is_forked(spaces, process, ns))
                break;
        }
        if (process->began_ns)
            ns = process->began_ns;
        process = rec_process_of(spaces, process->parent);
    }
    while (image != REC_NO_IMAGE && spaces->images.items[image].next != REC_NO_IMAGE &&
           spaces->images.items[spaces->images.items[image].next].from_ns <= ns)
        image = spaces->images.items[image].next;
    return image;
}

uint32_t rec_image_next(const struct rec_spaces *spaces, uint32_t pid, uint32_t image)
{
    const struct rec_process *process = rec_process_of(spaces, pid);
    if (image == REC_NO_IMAGE || !process)
        return REC_NO_IMAGE;
    if (spaces->images.items[image].pid == pid)
        return spaces->images.items[image].next;
    if (process->first_image != REC_NO_IMAGE || process->began_ns)
        return process->first_image;
    return spaces->images.items[image].next; /* forked at an unknown time */
}

uint64_t rec_image_end(const struct rec_spaces *spaces, uint32_t pid, uint32_t image)
{
    const uint32_t next = rec_image_next(spaces, pid, image);
    return next == REC_NO_IMAGE ? UINT64_MAX : spaces->images.items[next].from_ns;
}

/* In this image or those of the process that follow, or come before. */
static const struct rec_mapping *find_along(const struct rec_spaces *spaces, uint32_t image,
                                            uint64_t address, bool is_later)
{
    const struct rec_image *images = spaces->images.items;
    const struct rec_mapping *found = NULL;
    for (int step = 0; !found && image != REC_NO_IMAGE && step < MOST_STEPS; step++) {
        found = find(&images[image], address);
        image = is_later ? images[image].next : images[image].before;
    }
    return found;
}

static const struct rec_mapping *find_around(const struct rec_spaces *spaces, uint32_t image,
                                             uint64_t address)
{
    const struct rec_mapping *found = find_along(spaces, image, address, true);
    return found ? found : find_along(spaces, image, address, false);
}

uint32_t rec_program_of(const struct rec_spaces *spaces, uint32_t image)
{
    const struct rec_process *process =
        image == REC_NO_IMAGE ? NULL : rec_process_of(spaces, spaces->images.items[image].pid);
    return process ? process->exe : UINT32_MAX;
}

const struct rec_mapping *rec_mapping_of(const struct rec_spaces *spaces, uint32_t image,
                                         uint64_t address)
{
    const struct rec_process *process =
        image == REC_NO_IMAGE ? NULL : rec_process_of(spaces, spaces->images.items[image].pid);
    const struct rec_mapping *found = find_around(spaces, image, address);
    for (int step = 0; !found && process && step < MOST_STEPS; step++) {
        image = rec_image_at(spaces, process->parent, process->began_ns);
        process = rec_process_of(spaces, process->parent);
        found = find_around(spaces, image, address);
    }
    return found;
}

void rec_mappings_beside(const struct rec_spaces *spaces, uint32_t image, uint64_t address,
                         const struct rec_mapping *beside[2])
{
    const struct rec_image *own = &spaces->images.items[image];
    const size_t place = lower_bound(own, address);
    beside[0] = place > 0 ? &own->maps.items[place - 1] : NULL;
    beside[1] = place < own->maps.n ? &own->maps.items[place] : NULL;
}
