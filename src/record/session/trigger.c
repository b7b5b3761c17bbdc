/* SPDX-License-Identifier: MIT
 *
 * Addresses are classified once each, when they are first seen: the process is alive then, mostly,
 * and can be asked for its maps.
 */
#include "record/session/trigger.h"

#include "base/map.h"
#include "base/vec.h"
#include "record/session/proc.h"
#include "record/session/ticks.h"
#include "symbols/elf_file.h"
#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>

/* Ticks are measured for so long when a trigger is made. */
enum { MEASURE_NS = 2000000 };

struct trigger {
    char *text, *name;
    uint64_t ticks; /* a call may take */
    struct weft_symbols *symbols;
    struct weft_map *verdict_of; /* (process, address) -> index in `verdicts` */
    struct {
        uint8_t *items; /* 1: it is the function */
        size_t n, cap;
    } verdicts;
    uint32_t epoch; /* another one after maps changed */
    struct proc_text maps;
    uint32_t maps_pid, maps_epoch;
};

/* ---- "name>20ms" -------------------------------------------------------------------------------
 */

static bool parse_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
    char *end;
    const double number = strtod(text, &end);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strcmp(end, units[k].unit) == 0 && end > text && number > 0 && number < 1e9) {
            *ns = (uint64_t)(number * units[k].ns);
            return true;
        }
    return false;
}

static uint64_t to_ticks(uint64_t ns)
{
    const struct weft_clock_pair from = session_clock_pair();
    const struct timespec pause = { .tv_nsec = MEASURE_NS };
    (void)nanosleep(&pause, NULL);
    const struct weft_clock_pair to = session_clock_pair();
    const double rate =
        (double)(to.ticks - from.ticks) / (double)(to.monotonic_ns - from.monotonic_ns + 1);
    return (uint64_t)((double)ns * rate);
}

enum weft_code trigger_new(const char *text, struct trigger **trigger, struct weft_err *err)
{
    const char *than = strrchr(text, '>');
    uint64_t ns;
    *trigger = NULL;
    if (!than || than == text || !parse_time(than + 1, &ns))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "--trigger: expected FUNCTION>TIME, such as handle_request>20ms, found %s",
                         text);
    struct trigger *made = calloc(1, sizeof *made);
    if (made) {
        made->text = strdup(text);
        made->name = strndup(text, (size_t)(than - text));
        made->symbols = weft_symbols_new("/");
        made->verdict_of = weft_map_new();
        made->ticks = to_ticks(ns);
    }
    if (made && made->text && made->name && made->symbols && made->verdict_of) {
        *trigger = made;
        return WEFT_OK;
    }
    trigger_free(made);
    return weft_no_memory(err, "a trigger");
}

void trigger_free(struct trigger *trigger)
{
    if (!trigger)
        return;
    free(trigger->text);
    free(trigger->name);
    weft_symbols_free(trigger->symbols);
    weft_map_free(trigger->verdict_of);
    WEFT_VEC_FINI(&trigger->verdicts);
    proc_text_fini(&trigger->maps);
    free(trigger);
}

const char *trigger_text(const struct trigger *trigger)
{
    return trigger->text;
}

/* ---- which function an address is ---------------------------------------------------------------
 */

/* "f(int)" is f, and so is "ns::f(int)" if that is how the user called it. */
static bool is_named(const struct trigger *trigger, struct weft_str name)
{
    const size_t n_name = strlen(trigger->name);
    return name.n_bytes >= n_name && memcmp(name.bytes, trigger->name, n_name) == 0 &&
           (name.n_bytes == n_name || name.bytes[n_name] == '(');
}

static struct weft_str build_id_of(struct weft_str path, struct weft_elf_file *file)
{
    char text[4096];
    (void)snprintf(text, sizeof text, "%.*s", (int)path.n_bytes, path.bytes);
    if (!weft_elf_file_open(text, file))
        return WEFT_STR("");
    return weft_elf_file_build_id(file);
}

static bool is_in_map(struct trigger *trigger, const struct proc_map *map, uint64_t address)
{
    struct weft_elf_file file = { .fd = -1 };
    uint32_t module;
    const struct weft_str id = build_id_of(map->path, &file);
    const enum weft_code code = weft_symbols_module(trigger->symbols, map->path, id, &module, NULL);
    if (file.fd >= 0)
        weft_elf_file_close(&file);
    if (code != WEFT_OK)
        return false;
    const uint64_t own =
        weft_symbols_address(trigger->symbols, module, address - map->begin + map->file_off);
    return is_named(trigger, weft_symbols_name(trigger->symbols, module, own));
}

static bool look_up(struct trigger *trigger, uint32_t pid, uint64_t address)
{
    struct proc_map map;
    if (trigger->maps_pid != pid || trigger->maps_epoch != trigger->epoch || trigger->maps.n == 0) {
        trigger->maps_pid = pid;
        trigger->maps_epoch = trigger->epoch;
        if (!proc_read(pid, "maps", &trigger->maps))
            trigger->maps.n = 0;
    }
    struct weft_str text = { trigger->maps.items, trigger->maps.n };
    while (proc_next_map(&text, &map))
        if (map.begin <= address && address < map.end)
            return is_in_map(trigger, &map, address);
    return false;
}

static bool is_function(struct trigger *trigger, uint32_t pid, uint64_t address)
{
    bool is_new;
    const uint64_t key =
        address ^ (uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)trigger->epoch << 48;
    const uint32_t index = weft_map_add(trigger->verdict_of, key, &is_new);
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&trigger->verdicts)))
        return false;
    if (is_new)
        trigger->verdicts.items[index] = look_up(trigger, pid, address);
    return trigger->verdicts.items[index];
}

void trigger_forget(struct trigger *trigger, uint32_t pid)
{
    if (trigger && pid == trigger->maps_pid)
        trigger->epoch++;
}

/* ---- calls -------------------------------------------------------------------------------------
 */

bool trigger_call(struct trigger *trigger, struct trigger_thread *thread, uint32_t pid,
                  bool is_exit, uint64_t address, uint64_t ticks)
{
    if (!is_function(trigger, pid, address))
        return false;
    if (!is_exit) {
        if (thread->depth++ == 0)
            thread->start_ticks = ticks;
        return false;
    }
    if (thread->depth == 0 || --thread->depth > 0)
        return false;
    return ticks > thread->start_ticks && ticks - thread->start_ticks > trigger->ticks;
}
