/* SPDX-License-Identifier: MIT */
#include "symbols/walk.h"

#include "base/cursor.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Address spaces whose programs are held open; parts of programs in one. */
enum { HELD_SPACES = 8, MOST_MODULES = 4096 };

/* The programs of one address space, as libdw has them. */
struct held {
    Dwfl *dwfl; /* NULL: none could be opened */
    uint64_t version;
    uint64_t last_used;
    bool is_used;
};

struct weft_walker {
    struct weft_symbols *symbols;
    struct held held[HELD_SPACES];
    uint64_t n_used;
    /* The stack in work. */
    const struct weft_walk_stack *stack;
    bool has_run_out; /* memory beyond the copy was asked for */
    uint64_t *addresses;
    size_t n_addresses;
};

/* ---- what libdw asks for ----------------------------------------------------------------------
 */

static int find_nothing(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                        char **file_name, Elf **elf)
{
    (void)module, (void)userdata, (void)name, (void)base, (void)file_name, (void)elf;
    return -1;
}

/* A module is called after its number among the symbols' modules. */
static int find_debug_file(Dwfl_Module *dwfl_module, void **userdata, const char *name,
                           Dwarf_Addr base, const char *file_name, const char *link_name,
                           GElf_Word checksum, char **found_name)
{
    Dwarf_Addr begin;
    void **walker = NULL;
    (void)userdata, (void)base, (void)file_name, (void)link_name, (void)checksum;
    (void)dwfl_module_info(dwfl_module, &walker, &begin, NULL, NULL, NULL, NULL, NULL);
    const struct weft_walker *own = walker ? *walker : NULL;
    const uint32_t module = (uint32_t)strtoul(name, NULL, 10);
    const char *path = own ? weft_symbols_debug_file(own->symbols, module) : NULL;
    if (!path)
        return -1;
    *found_name = strdup(path);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static const Dwfl_Callbacks dwfl_callbacks = {
    .find_elf = find_nothing,
    .find_debuginfo = find_debug_file,
};

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
    (void)dwfl;
    if (*thread)
        return 0;
    *thread = context;
    return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
    (void)dwfl, (void)tid;
    *thread = context;
    return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context)
{
    struct weft_walker *walker = context;
    const struct weft_walk_stack *stack = walker->stack;
    const uint64_t at = address - stack->registers[WEFT_WALK_SP];
    (void)dwfl;
    if (stack->n_bytes < 8 || at > stack->n_bytes - 8) {
        walker->has_run_out |= address >= stack->registers[WEFT_WALK_SP];
        return false;
    }
    *word = weft_load_u64(stack->bytes + at);
    if (stack->is_big)
        *word = __builtin_bswap64(*word);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
    const struct weft_walker *walker = context;
    Dwarf_Word registers[WEFT_WALK_REGISTERS];
    for (size_t k = 0; k < WEFT_WALK_REGISTERS; k++)
        registers[k] = walker->stack->registers[k];
    return dwfl_thread_state_registers(thread, 0, WEFT_WALK_REGISTERS, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

static int keep_frame(Dwfl_Frame *frame, void *context)
{
    struct weft_walker *walker = context;
    Dwarf_Addr address;
    bool is_exact;
    if (!dwfl_frame_pc(frame, &address, &is_exact) || address == 0)
        return DWARF_CB_ABORT;
    walker->addresses[walker->n_addresses++] = address;
    return walker->n_addresses < WEFT_WALK_MOST ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* ---- programs ----------------------------------------------------------------------------------
 */

/* Tells libdw of a mapped program; one that is told of already, or cannot be read, is passed over.
 */
static void report(struct weft_walker *walker, Dwfl *dwfl, const struct weft_walk_part *part)
{
    char name[16];
    void **userdata;
    if (part->module == WEFT_WALK_NO_MODULE)
        return;
    const char *path = weft_symbols_file(walker->symbols, part->module);
    const uint64_t address = weft_symbols_address(walker->symbols, part->module, part->file_off);
    if (!path || dwfl_addrmodule(dwfl, part->begin))
        return;
    (void)snprintf(name, sizeof name, "%u", (unsigned)part->module);
    Dwfl_Module *told = dwfl_report_elf(dwfl, name, path, -1, part->begin - address, false);
    if (told && dwfl_module_info(told, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
        *userdata = walker;
}

/* NULL: there is nothing to walk by. */
static Dwfl *open_space(struct weft_walker *walker, const struct weft_walk_space *space)
{
    Dwfl *dwfl = dwfl_begin(&dwfl_callbacks);
    bool is_good = dwfl != NULL;
    for (size_t k = 0; is_good && k < space->n_parts && k < MOST_MODULES; k++) {
        struct weft_walk_part part;
        is_good = space->part(space->context, k, &part);
        if (is_good)
            report(walker, dwfl, &part);
    }
    if (is_good && dwfl_report_end(dwfl, NULL, NULL) == 0 &&
        dwfl_attach_state(dwfl, NULL, 1, &thread_callbacks, walker))
        return dwfl;
    dwfl_end(dwfl);
    return NULL;
}

/* The space as it is now; the one that was not asked for longest gives way. */
static Dwfl *dwfl_of(struct weft_walker *walker, const struct weft_walk_space *space)
{
    struct held *place = &walker->held[0];
    for (size_t k = 0; k < HELD_SPACES; k++) {
        struct held *held = &walker->held[k];
        if (held->is_used && held->version == space->version) {
            held->last_used = ++walker->n_used;
            return held->dwfl;
        }
        if (held->last_used < place->last_used)
            place = held;
    }
    dwfl_end(place->dwfl);
    *place = (struct held){ .dwfl = open_space(walker, space),
                            .version = space->version,
                            .last_used = ++walker->n_used,
                            .is_used = true };
    return place->dwfl;
}

struct weft_walker *weft_walker_new(struct weft_symbols *symbols)
{
    struct weft_walker *walker = calloc(1, sizeof *walker);
    if (walker)
        walker->symbols = symbols;
    return walker;
}

void weft_walker_free(struct weft_walker *walker)
{
    for (size_t k = 0; walker && k < HELD_SPACES; k++)
        dwfl_end(walker->held[k].dwfl);
    free(walker);
}

size_t weft_walk_copy(struct weft_walker *walker, const struct weft_walk_space *space,
                      const struct weft_walk_stack *stack, uint64_t addresses[WEFT_WALK_MOST],
                      bool *has_run_out)
{
    *has_run_out = false;
    if (!walker->symbols)
        return 0;
    addresses[0] = stack->registers[WEFT_WALK_IP];
    walker->stack = stack;
    walker->has_run_out = false;
    walker->addresses = addresses;
    walker->n_addresses = 0;
    Dwfl *dwfl = dwfl_of(walker, space);
    if (dwfl)
        (void)dwfl_getthread_frames(dwfl, 1, keep_frame, walker);
    *has_run_out = walker->has_run_out;
    return walker->n_addresses > 0 ? walker->n_addresses : 1;
}
