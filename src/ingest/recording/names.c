/* SPDX-License-Identifier: MIT
 *
 * Collects functions, locks and call sites that the workers find (one lock for all tables, rarely
 * taken thanks to survey.c's cache), then sorts them by (address space, address) and announces
 * them. So ids do not depend on the number of workers.
 */
#include "ingest/recording/names.h"

#include "base/vec.h"
#include "ingest/recording/objects.h"

#include <stdlib.h>
#include <xxhash.h>

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

/* A call returns behind itself: its last byte is in the function. */
static enum weft_code name_caller(struct rec_names *names, const struct rec_spaces *spaces,
                                  struct rec_place *place, struct weft_err *err)
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
        if (code == WEFT_OK)
            name = weft_symbols_name(spaces->symbols, module, address);
    }
    if (code == WEFT_OK && name.n_bytes == 0)
        name = (struct weft_str){ text, weft_symbols_place_name(in, address, text, sizeof text) };
    return code == WEFT_OK ? weft_strtab_intern(names->sites, name, &place->id, err) : code;
}

static enum weft_code seal_callers(struct rec_names *names, const struct rec_spaces *spaces,
                                   struct weft_err *err)
{
    struct rec_place **order = sorted(&names->callers);
    enum weft_code code = order ? WEFT_OK : weft_no_memory(err, "functions");
    for (size_t k = 0; code == WEFT_OK && k < names->callers.n; k++)
        code = name_caller(names, spaces, order[k], err);
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
