/* SPDX-License-Identifier: MIT
 *
 * Names locks that are global variables: an address belongs to a module if it lies in a writable
 * segment beside the module's code. A variable's name that occurs several times in a process gets
 * its place appended. names.c calls it once, with all addresses in order.
 */
#include "ingest/recording/objects.h"

#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>

/* Longer names are cut; C++ has such. Of the images of a process the first ones are looked at. */
enum { MOST_NAME_BYTES = 400, NAME_BYTES = 512, PLACE_BYTES = 300, MOST_IMAGES = 64 };

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
    char text[NAME_BYTES], place[PLACE_BYTES];
    struct weft_str name;
    uint64_t offset_bytes;
    enum weft_code code = weft_symbols_data_name(spaces->symbols, variable->module,
                                                 variable->address, &name, &offset_bytes, err);
    if (code != WEFT_OK || name.n_bytes == 0)
        return code;
    int n = snprintf(text, sizeof text, "%.*s",
                     (int)(name.n_bytes < MOST_NAME_BYTES ? name.n_bytes : MOST_NAME_BYTES),
                     name.bytes);
    if (offset_bytes)
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

enum weft_code rec_objects_tell(struct rec_place *const *objects, size_t n_objects,
                                const struct rec_spaces *spaces, const struct weft_strtab *sites,
                                struct weft_sink *sink, struct weft_err *err)
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
