/* SPDX-License-Identifier: MIT
 *
 * Collects functions, locks and call sites that the workers find (one lock for all tables, rarely
 * taken thanks to survey.c's cache), then sorts them by (address space, address) and announces
 * them. So ids do not depend on the number of workers.
 */
#include "ingest/recording/names.h"

#include "base/vec.h"
#include "ingest/recording/starts.h"
#include "symbols/folded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

/* ---- objects --------------------------------------------------------------------------------- */

/* Names of the locks, and of what else threads wait for, that are variables of a program or of a
 * library: those that lie in a part of a module that is written to, its .bss too. What lies on a
 * heap or a stack has none. Names locks that are global variables: an address belongs to a module
 * if it lies in a writable segment beside the module's code. A variable's name that occurs several
 * times in a process gets its place appended. */

/* Longer names are cut; C++ has such. Of the images of a process the first ones are looked at. */
enum {
    MOST_NAME_BYTES = 400,
    NAME_BYTES = 512,
    MEMBER_BYTES = 96,
    PLACE_BYTES = 300,
    MOST_IMAGES = 64
};

/* What is known of an object. */
struct object {
    uint32_t name, place; /* in `texts`; WEFT_ID_NONE: none */
};

/* Code that is mapped, and where the addresses of its module begin. */
struct code {
    const struct rec_mapping *mapping; /* NULL: none was looked at yet */
    uint64_t base;
    uint32_t module;
    bool is_known;
};

struct naming {
    const struct rec_spaces *spaces;
    const struct weft_strtab *sites; /* where futexes are waited for */
    struct code beside[2];           /* the last ones: addresses come in order */
    struct weft_strtab *texts;
    struct {
        struct object *items; /* those of one process */
        size_t n, cap;
    } objects;
    struct {
        uint32_t *items; /* by text: objects of the process with that name */
        size_t n, cap;
    } counts;
};

/* ---- where an address lies ------------------------------------------------------------------- */

struct variable {
    uint32_t path, module;
    uint64_t address; /* in the module */
    bool is_found;
};

/* The kernel's own library has no data. */
static enum weft_code look_at(const struct rec_spaces *spaces, const struct rec_mapping *mapping,
                              struct code *known, struct weft_err *err)
{
    const struct weft_str path = weft_strtab_get(spaces->texts, mapping->path);
    enum weft_code code = WEFT_OK;
    if (known->mapping == mapping)
        return WEFT_OK;
    *known = (struct code){ .mapping = mapping };
    if (path.bytes[0] == '/')
        code = weft_symbols_module(spaces->symbols, path, rec_build_id(spaces, mapping->path),
                                   &known->module, err);
    known->is_known = path.bytes[0] == '/' && code == WEFT_OK &&
                      weft_symbols_base(spaces->symbols, known->module, mapping->begin,
                                        mapping->end, mapping->file_off, &known->base);
    return code;
}

/* Is the address in the data of the module that the code is a part of? */
static void look_in(const struct rec_spaces *spaces, const struct code *code, uint64_t address,
                    struct variable *variable)
{
    uint64_t begin, end;
    *variable = (struct variable){ .path = code->mapping->path,
                                   .module = code->module,
                                   .address = address - code->base };
    for (size_t at = 0; code->is_known && !variable->is_found &&
                        weft_symbols_data_part(spaces->symbols, code->module, &at, &begin, &end);)
        variable->is_found = variable->address - begin < end - begin;
}

/* Modules lie side by side: that of an address has code next to it, mostly before its data. */
static enum weft_code find_variable(struct naming *naming, uint32_t image, uint64_t address,
                                    struct variable *variable, struct weft_err *err)
{
    const struct rec_mapping *beside[2];
    enum weft_code code = WEFT_OK;
    *variable = (struct variable){ 0 };
    rec_mappings_beside(naming->spaces, image, address, beside);
    for (size_t k = 0; code == WEFT_OK && !variable->is_found && k < 2; k++)
        if (beside[k] &&
            (code = look_at(naming->spaces, beside[k], &naming->beside[k], err)) == WEFT_OK)
            look_in(naming->spaces, &naming->beside[k], address, variable);
    return code;
}

/* ---- names ----------------------------------------------------------------------------------- */

static enum weft_code name_variable(struct naming *naming, const struct variable *variable,
                                    struct object *object, struct weft_err *err)
{
    const struct rec_spaces *spaces = naming->spaces;
    const struct weft_str path = weft_strtab_get(spaces->texts, variable->path);
    char text[NAME_BYTES], place[PLACE_BYTES], member[MEMBER_BYTES];
    struct weft_str name;
    uint64_t offset_bytes;
    enum weft_code code = weft_symbols_data_name(spaces->symbols, variable->module,
                                                 variable->address, &name, &offset_bytes, err);
    if (code != WEFT_OK || name.n_bytes == 0)
        return code;
    int n = snprintf(text, sizeof text, "%.*s",
                     (int)(name.n_bytes < MOST_NAME_BYTES ? name.n_bytes : MOST_NAME_BYTES),
                     name.bytes);
    const size_t n_member = weft_symbols_member(
        spaces->symbols, variable->module, variable->address, offset_bytes, member, sizeof member);
    if (n_member)
        n += snprintf(text + n, sizeof text - (size_t)n, "%.*s", (int)n_member, member);
    else if (offset_bytes)
        n += snprintf(text + n, sizeof text - (size_t)n, "+0x%" PRIx64, offset_bytes);
    code =
        weft_strtab_intern(naming->texts, (struct weft_str){ text, (size_t)n }, &object->name, err);
    const size_t n_place = weft_symbols_place_name(path, variable->address, place, sizeof place);
    return code == WEFT_OK ? weft_strtab_intern(naming->texts, (struct weft_str){ place, n_place },
                                                &object->place, err)
                           : code;
}

/* In all images of the process; those where nothing lies there say nothing. */
static enum weft_code name_object(struct naming *naming, const struct rec_place *place,
                                  struct object *object, struct weft_err *err)
{
    const struct rec_spaces *spaces = naming->spaces;
    enum weft_code code = WEFT_OK;
    bool is_first = true;
    unsigned n_images = 0;
    *object = (struct object){ WEFT_ID_NONE, WEFT_ID_NONE };
    for (uint32_t image = rec_image_at(spaces, place->space, 0);
         code == WEFT_OK && image != REC_NO_IMAGE && n_images++ < MOST_IMAGES;
         image = rec_image_next(spaces, place->space, image)) {
        struct object here = { WEFT_ID_NONE, WEFT_ID_NONE };
        struct variable variable;
        code = find_variable(naming, image, place->address, &variable, err);
        if (code == WEFT_OK && variable.is_found)
            code = name_variable(naming, &variable, &here, err);
        if (code != WEFT_OK || !variable.is_found)
            continue;
        if (!is_first && (here.name != object->name || here.place != object->place)) {
            *object = (struct object){ WEFT_ID_NONE, WEFT_ID_NONE };
            break;
        }
        *object = here;
        is_first = false;
    }
    return code;
}

/* A futex that is no variable, but lies in a heap or on a stack. */
static enum weft_code name_by_site(struct naming *naming, const struct rec_place *place,
                                   struct object *object, struct weft_err *err)
{
    char text[NAME_BYTES], where[PLACE_BYTES];
    const struct weft_str site = weft_strtab_get(naming->sites, place->site);
    const int n = snprintf(text, sizeof text, "futex in %.*s",
                           (int)(site.n_bytes < MOST_NAME_BYTES ? site.n_bytes : MOST_NAME_BYTES),
                           site.bytes);
    const int n_where = snprintf(where, sizeof where, "0x%" PRIx64, place->address);
    const enum weft_code code =
        weft_strtab_intern(naming->texts, (struct weft_str){ text, (size_t)n }, &object->name, err);
    return code == WEFT_OK
               ? weft_strtab_intern(naming->texts, (struct weft_str){ where, (size_t)n_where },
                                    &object->place, err)
               : code;
}

static bool count(struct naming *naming, uint32_t text)
{
    while (naming->counts.n <= text)
        if (!WEFT_VEC_PUSH(&naming->counts))
            return false;
    naming->counts.items[text]++;
    return true;
}

static enum weft_code tell(const struct naming *naming, const struct rec_place *place,
                           const struct object *object, struct weft_sink *sink,
                           struct weft_err *err)
{
    char text[NAME_BYTES + PLACE_BYTES + 4];
    const struct weft_str name = weft_strtab_get(naming->texts, object->name);
    const struct weft_str where = weft_strtab_get(naming->texts, object->place);
    struct weft_object_info info = { .pid = place->space, .address = place->address, .name = name };
    if (naming->counts.items[object->name] > 1) {
        const int n = snprintf(text, sizeof text, "%.*s (%.*s)", (int)name.n_bytes, name.bytes,
                               (int)where.n_bytes, where.bytes);
        info.name = (struct weft_str){ text, (size_t)n };
    }
    return weft_sink_object(sink, &info, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum weft_code name_process(struct naming *naming, struct rec_place *const *places,
                                   size_t n_places, struct weft_sink *sink, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    naming->objects.n = 0;
    for (size_t k = 0; code == WEFT_OK && k < n_places; k++) {
        struct object *object = WEFT_VEC_PUSH(&naming->objects);
        code = object ? name_object(naming, places[k], object, err)
                      : weft_no_memory(err, "names of locks");
        if (code == WEFT_OK && object->name == WEFT_ID_NONE && places[k]->site != WEFT_ID_NONE)
            code = name_by_site(naming, places[k], object, err);
        if (code == WEFT_OK && object->name != WEFT_ID_NONE && !count(naming, object->name))
            code = weft_no_memory(err, "names of locks");
    }
    for (size_t k = 0; code == WEFT_OK && k < n_places; k++)
        if (naming->objects.items[k].name != WEFT_ID_NONE)
            code = tell(naming, places[k], &naming->objects.items[k], sink, err);
    for (size_t k = 0; k < naming->objects.n; k++) /* another process has names of its own */
        if (naming->objects.items[k].name < naming->counts.n)
            naming->counts.items[naming->objects.items[k].name] = 0;
    return code;
}

/* Announces the names of `objects` to the sink (by process, then address, each once): "queue_lock";
 * "queue.mutex", "queues[2].mutex", or "queue+0x28", for one within a variable; "lock
 * (libx.so+0x4028)" where several that are met in a process have one name. An address that was that
 * of different variables, as a process ran several programs, has none. O(objects * images of their
 * process, at most 64, * log mappings). WEFT_E_NOMEM and the sink's. */
static enum weft_code rec_objects_tell(struct rec_place *const *objects, size_t n_objects,
                                       const struct rec_spaces *spaces,
                                       const struct weft_strtab *sites, struct weft_sink *sink,
                                       struct weft_err *err)
{
    struct naming naming = { .spaces = spaces, .sites = sites, .texts = weft_strtab_new() };
    enum weft_code code = naming.texts ? WEFT_OK : weft_no_memory(err, "names of locks");
    for (size_t first = 0, end = 0; code == WEFT_OK && first < n_objects; first = end) {
        while (end < n_objects && objects[end]->space == objects[first]->space)
            end++;
        code = name_process(&naming, objects + first, end - first, sink, err);
    }
    weft_strtab_free(naming.texts);
    WEFT_VEC_FINI(&naming.objects);
    WEFT_VEC_FINI(&naming.counts);
    return code;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const known_names[REC_KNOWN] = {
    [REC_COND_WAIT] = "pthread_cond_wait",
    [REC_COND_SIGNAL] = "pthread_cond_signal",
    [REC_COND_BROADCAST] = "pthread_cond_broadcast",
    [REC_BARRIER_WAIT] = "pthread_barrier_wait",
    [REC_JOIN] = "pthread_join",
    [REC_SLEEP] = "nanosleep",
    [REC_POLL] = "poll",
    [REC_WAITPID] = "waitpid",
    [REC_ONCE] = "pthread_once",
    [REC_SEM_WAIT] = "sem_wait",
    [REC_SEM_POST] = "sem_post",
    [REC_READ] = "read",
    [REC_WRITE] = "write",
    [REC_FSYNC] = "fsync",
    [REC_ACCEPT] = "accept",
    [REC_CONNECT] = "connect",
    [REC_RECV] = "recv",
    [REC_SEND] = "send",
    [REC_SHUTDOWN] = "shutdown",
    [REC_CLOSE] = "close",
    [REC_COND_TIMEDWAIT] = "pthread_cond_timedwait",
    [REC_SEM_TIMEDWAIT] = "sem_timedwait",
    [REC_TIMEDJOIN] = "pthread_timedjoin_np",
    [REC_EPOLL] = "epoll_wait",
    [REC_MADE + WEFT_RING_LOCK_MUTEX] = "pthread_mutex_init",
    [REC_MADE + WEFT_RING_LOCK_READ] = "pthread_rwlock_init",
    [REC_MADE + WEFT_RING_LOCK_WRITE] = "pthread_rwlock_init",
    [REC_MADE + WEFT_RING_LOCK_SPIN] = "pthread_spin_init",
    [REC_MADE + WEFT_RING_LOCK_SEMAPHORE] = "sem_init",
    [REC_MADE + WEFT_RING_LOCK_CONDITION] = "pthread_cond_init",
    [REC_MADE + WEFT_RING_LOCK_BARRIER] = "pthread_barrier_init",
    [REC_GONE + WEFT_RING_LOCK_MUTEX] = "pthread_mutex_destroy",
    [REC_GONE + WEFT_RING_LOCK_READ] = "pthread_rwlock_destroy",
    [REC_GONE + WEFT_RING_LOCK_WRITE] = "pthread_rwlock_destroy",
    [REC_GONE + WEFT_RING_LOCK_SPIN] = "pthread_spin_destroy",
    [REC_GONE + WEFT_RING_LOCK_SEMAPHORE] = "sem_destroy",
    [REC_GONE + WEFT_RING_LOCK_CONDITION] = "pthread_cond_destroy",
    [REC_GONE + WEFT_RING_LOCK_BARRIER] = "pthread_barrier_destroy",
};

bool rec_names_init(struct rec_names *names)
{
    *names = (struct rec_names){ .functions.of_mix = weft_map_new(),
                                 .objects.of_mix = weft_map_new(),
                                 .callers.of_mix = weft_map_new(),
                                 .texts = weft_strtab_new(),
                                 .sites = weft_strtab_new(),
                                 .identities = weft_strtab_new() };
    return pthread_mutex_init(&names->lock, NULL) == 0 && names->functions.of_mix &&
           names->objects.of_mix && names->callers.of_mix && names->texts && names->sites &&
           names->identities;
}

void rec_names_fini(struct rec_names *names)
{
    weft_map_free(names->functions.of_mix);
    weft_map_free(names->objects.of_mix);
    weft_map_free(names->callers.of_mix);
    WEFT_VEC_FINI(&names->functions);
    WEFT_VEC_FINI(&names->objects);
    WEFT_VEC_FINI(&names->callers);
    weft_strtab_free(names->texts);
    weft_strtab_free(names->sites);
    weft_strtab_free(names->identities);
    WEFT_VEC_FINI(&names->text_keys);
    (void)pthread_mutex_destroy(&names->lock);
}

/* ---- places ---------------------------------------------------------------------------------- */

static uint64_t mix_of(uint32_t space, uint64_t address, unsigned probe)
{
    const uint64_t words[] = { address, (uint64_t)space << 32 | probe };
    return XXH3_64bits(words, sizeof words);
}

/* A place whose mix another one has takes the next that is free. */
static bool place_add(struct rec_places *places, uint32_t space, uint64_t address)
{
    for (unsigned probe = 0;; probe++) {
        bool is_new;
        const uint32_t index = weft_map_add(places->of_mix, mix_of(space, address, probe), &is_new);
        if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(places)))
            return false;
        struct rec_place *place = &places->items[index];
        if (is_new)
            *place = (struct rec_place){ .address = address, .space = space, .site = WEFT_ID_NONE };
        if (place->address == address && place->space == space)
            return true;
    }
}

static const struct rec_place *find_place(const struct rec_places *places, uint32_t space,
                                          uint64_t address)
{
    for (unsigned probe = 0;; probe++) {
        const uint32_t index = weft_map_find(places->of_mix, mix_of(space, address, probe));
        if (index == WEFT_MAP_NONE)
            return NULL;
        if (places->items[index].address == address && places->items[index].space == space)
            return &places->items[index];
    }
}

bool rec_place_is_met(const struct rec_places *places, uint32_t space, uint64_t address)
{
    return find_place(places, space, address) != NULL;
}

uint32_t rec_place_id(const struct rec_places *places, uint32_t space, uint64_t address)
{
    const struct rec_place *place = find_place(places, space, address);
    return place ? place->id : WEFT_ID_NONE;
}

bool rec_names_meet(struct rec_names *names, struct rec_places *places, uint32_t space,
                    uint64_t address)
{
    (void)pthread_mutex_lock(&names->lock);
    const bool is_good = place_add(places, space, address);
    (void)pthread_mutex_unlock(&names->lock);
    return is_good;
}

bool rec_names_meet_futex(struct rec_names *names, uint32_t pid, uint64_t address,
                          struct weft_str site)
{
    if (!rec_names_meet(names, &names->objects, pid, address))
        return false;
    struct rec_place *place =
        (struct rec_place *)(uintptr_t)find_place(&names->objects, pid, address);
    return !place || site.n_bytes == 0 || place->site != WEFT_ID_NONE ||
           weft_strtab_intern(names->sites, site, &place->site, NULL) == WEFT_OK;
}

bool rec_names_meet_text(struct rec_names *names, struct weft_str text)
{
    uint32_t id;
    (void)pthread_mutex_lock(&names->lock);
    const enum weft_code code = weft_strtab_intern(names->texts, text, &id, NULL);
    (void)pthread_mutex_unlock(&names->lock);
    return code == WEFT_OK;
}

void rec_names_meet_known(struct rec_names *names, enum rec_known known)
{
    (void)pthread_mutex_lock(&names->lock);
    names->is_known_used[known] = true;
    (void)pthread_mutex_unlock(&names->lock);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int by_place(const void *a_void, const void *b_void)
{
    const struct rec_place *a = *(struct rec_place *const *)a_void;
    const struct rec_place *b = *(struct rec_place *const *)b_void;
    if (a->space != b->space)
        return a->space < b->space ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

/* Whatever the order in which they were met. NULL without memory; the caller frees. */
static struct rec_place **sorted(struct rec_places *places)
{
    struct rec_place **order = calloc(places->n + 1, sizeof(struct rec_place *));
    for (size_t k = 0; order && k < places->n; k++)
        order[k] = &places->items[k];
    if (order && places->n)
        qsort(order, places->n, sizeof *order, by_place);
    return order;
}

enum weft_code rec_function_place(const struct rec_spaces *spaces, uint32_t image, uint64_t address,
                                  uint32_t *path, uint64_t *own_address, struct weft_err *err)
{
    const struct rec_mapping *mapping = rec_mapping_of(spaces, image, address);
    uint32_t module;
    *path = mapping ? mapping->path : WEFT_ID_NONE;
    *own_address = address;
    if (!mapping)
        return WEFT_OK;
    const enum weft_code code =
        weft_symbols_module(spaces->symbols, weft_strtab_get(spaces->texts, mapping->path),
                            rec_build_id(spaces, mapping->path), &module, err);
    if (code == WEFT_OK)
        *own_address = weft_symbols_address(spaces->symbols, module,
                                            address - mapping->begin + mapping->file_off);
    return code;
}

/* What makes a function the same in all processes. */
struct identity {
    uint64_t address;
    uint32_t path, zero;
};

static enum weft_code announce(struct rec_names *names, const struct rec_spaces *spaces,
                               struct rec_place *place, struct weft_sink *sink,
                               struct weft_err *err)
{
    struct identity identity = { 0 };
    uint32_t number;
    enum weft_code code = rec_function_place(spaces, place->space, place->address, &identity.path,
                                             &identity.address, err);
    const uint32_t n_before = weft_strtab_count(names->identities);
    WEFT_THEN(code,
              weft_strtab_intern(names->identities,
                                 (struct weft_str){ (const char *)&identity, sizeof identity },
                                 &number, err));
    if (code != WEFT_OK)
        return code;
    place->id = names->n_keys + number;
    if (number != n_before)
        return WEFT_OK;
    struct weft_function_info info = { .key = place->id, .address = identity.address };
    if (identity.path != WEFT_ID_NONE) {
        info.module = weft_strtab_get(spaces->texts, identity.path);
        info.build_id = rec_build_id(spaces, identity.path);
    }
    return sink->ops->function(sink, &info, err);
}

static enum weft_code seal_functions(struct rec_names *names, const struct rec_spaces *spaces,
                                     struct weft_sink *sink, struct weft_err *err)
{
    struct rec_place **order = sorted(&names->functions);
    enum weft_code code = order ? WEFT_OK : weft_no_memory(err, "functions");
    for (size_t k = 0; code == WEFT_OK && k < names->functions.n; k++)
        code = announce(names, spaces, order[k], sink, err);
    free(order);
    return code;
}

static enum weft_code seal_objects(struct rec_names *names, const struct rec_spaces *spaces,
                                   struct weft_sink *sink, struct weft_err *err)
{
    struct rec_place **order = sorted(&names->objects);
    for (uint32_t k = 0; order && k < names->objects.n; k++)
        order[k]->id = k;
    const enum weft_code code =
        order ? rec_objects_tell(order, names->objects.n, spaces, names->sites, sink, err)
              : weft_no_memory(err, "functions");
    free(order);
    return code;
}

/* The program's innermost function at a place behind a call in its own code, inlined or not; empty:
 * the place is in other code, or there is no symbol. */
static enum weft_code own_caller(struct weft_folded *folded, const struct rec_spaces *spaces,
                                 const struct rec_place *place, uint32_t module,
                                 struct weft_str *name, struct weft_err *err)
{
    const struct rec_mapping *mapping = rec_mapping_of(spaces, place->space, place->address - 1);
    const struct weft_str path = weft_strtab_get(spaces->texts, mapping->path);
    uint32_t id;
    *name = (struct weft_str){ 0 };
    if (rec_frame_class_of(path, mapping->path == rec_program_of(spaces, place->space)) !=
        REC_FRAME_OWN)
        return WEFT_OK;
    if (!weft_folded_in_module(folded, module, path,
                               place->address - mapping->begin + mapping->file_off, 1, &id))
        return weft_no_memory(err, "names of functions");
    const struct weft_str frame = weft_folded_get(folded, id);
    if (!memmem(frame.bytes, frame.n_bytes, "+0x", 3))
        *name = rec_own_function(frame);
    return WEFT_OK;
}

/* A call returns behind itself: its last byte is in the function. */
static enum weft_code name_caller(struct rec_names *names, const struct rec_spaces *spaces,
                                  struct weft_folded *folded, struct rec_place *place,
                                  struct weft_err *err)
{
    char text[300];
    uint32_t path, module;
    uint64_t address;
    struct weft_str name = { 0 }, in = { 0 };
    enum weft_code code =
        rec_function_place(spaces, place->space, place->address - 1, &path, &address, err);
    if (code == WEFT_OK && path != WEFT_ID_NONE) {
        in = weft_strtab_get(spaces->texts, path);
        code = weft_symbols_module(spaces->symbols, in, rec_build_id(spaces, path), &module, err);
        WEFT_THEN(code, own_caller(folded, spaces, place, module, &name, err));
        if (code == WEFT_OK && name.n_bytes == 0)
            name = weft_symbols_name(spaces->symbols, module, address);
    }
    if (code == WEFT_OK && name.n_bytes == 0)
        name = (struct weft_str){ text, weft_symbols_place_name(in, address, text, sizeof text) };
    return code == WEFT_OK ? weft_strtab_intern(names->sites, name, &place->id, err) : code;
}

static enum weft_code seal_callers(struct rec_names *names, const struct rec_spaces *spaces,
                                   struct weft_err *err)
{
    struct weft_folded folded;
    struct rec_place **order = sorted(&names->callers);
    enum weft_code code = weft_folded_init(&folded, spaces->symbols) && order
                              ? WEFT_OK
                              : weft_no_memory(err, "functions");
    for (size_t k = 0; code == WEFT_OK && k < names->callers.n; k++)
        code = name_caller(names, spaces, &folded, order[k], err);
    weft_folded_fini(&folded);
    free(order);
    return code;
}

struct weft_str rec_caller_name(const struct rec_names *names, uint32_t image, uint64_t address)
{
    const uint32_t id = rec_place_id(&names->callers, image, address);
    return id == WEFT_ID_NONE ? WEFT_STR("") : weft_strtab_get(names->sites, id);
}

struct text {
    struct weft_str bytes;
    uint32_t id;
};

static int by_bytes(const void *a, const void *b)
{
    return weft_str_compare(((const struct text *)a)->bytes, ((const struct text *)b)->bytes);
}

static enum weft_code seal_texts(struct rec_names *names, struct weft_sink *sink,
                                 struct weft_err *err)
{
    const uint32_t n_texts = weft_strtab_count(names->texts);
    struct text *order = calloc((size_t)n_texts + 1, sizeof *order);
    enum weft_code code = order && weft_vec_reserve(&names->text_keys.items, &names->text_keys.cap,
                                                    (size_t)n_texts + 1, sizeof(uint32_t))
                              ? WEFT_OK
                              : weft_no_memory(err, "functions");
    for (uint32_t k = 0; code == WEFT_OK && k < n_texts; k++)
        order[k] = (struct text){ weft_strtab_get(names->texts, k), k };
    names->text_keys.n = code == WEFT_OK ? n_texts : 0;
    if (code == WEFT_OK && n_texts)
        qsort(order, n_texts, sizeof *order, by_bytes);
    for (uint32_t k = 0; code == WEFT_OK && k < n_texts; k++) {
        const struct weft_function_info info = { .key = names->n_keys++, .name = order[k].bytes };
        names->text_keys.items[order[k].id] = info.key;
        code = sink->ops->function(sink, &info, err);
    }
    free(order);
    return code;
}

uint32_t rec_text_key(const struct rec_names *names, struct weft_str text)
{
    uint32_t id;
    struct rec_names *own = (struct rec_names *)(uintptr_t)names; /* all texts are met already */
    (void)pthread_mutex_lock(&own->lock);
    const enum weft_code code = weft_strtab_intern(names->texts, text, &id, NULL);
    (void)pthread_mutex_unlock(&own->lock);
    return code == WEFT_OK && id < names->text_keys.n ? names->text_keys.items[id] : WEFT_ID_NONE;
}

enum weft_code rec_names_seal(struct rec_names *names, const struct rec_spaces *spaces,
                              struct weft_sink *sink, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t k = 0; code == WEFT_OK && k < REC_KNOWN; k++) {
        const struct weft_function_info info = { .key = k, .name = weft_str_of(known_names[k]) };
        if (names->is_known_used[k])
            code = sink->ops->function(sink, &info, err);
    }
    names->n_keys = REC_KNOWN;
    WEFT_THEN(code, seal_texts(names, sink, err));
    WEFT_THEN(code, seal_functions(names, spaces, sink, err));
    WEFT_THEN(code, seal_callers(names, spaces, err));
    return code == WEFT_OK ? seal_objects(names, spaces, sink, err) : code;
}
