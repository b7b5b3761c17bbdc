/* SPDX-License-Identifier: MIT */
#include "ingest/perf/unwind.h"

#include "kernel/bytes.h"
#include "schema/event.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Address spaces whose programs are held open; parts of programs in one. */
enum { HELD_SPACES = 8, MOST_MODULES = 4096 };

/* Of what the registers are. */
enum { ABI_64 = 2 };

/* x86-64: registers of DWARF, each with its bit in what perf records (asm/perf_regs.h). */
enum { DWARF_REGISTERS = 17, PERF_SP = 7, PERF_IP = 8 };
static const uint8_t perf_register[DWARF_REGISTERS] = { 0,  3,  2,  1,  4,  5,  6,  PERF_SP, 16,
                                                        17, 18, 19, 20, 21, 22, 23, PERF_IP };

/* The programs of one address space, as libdw has them. */
struct held {
    Dwfl *dwfl; /* NULL: none could be opened */
    uint32_t version;
    uint64_t last_used;
    bool is_used;
};

struct perf_unwinder {
    struct perf_symbols *symbols;
    struct held held[HELD_SPACES];
    uint64_t n_used;
    struct perf_unwind_ends ends;
    /* The sample in work. */
    Dwarf_Word registers[DWARF_REGISTERS];
    const uint8_t *stack;
    uint64_t n_stack, stack_at;
    bool is_big;
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
    void **unwinder = NULL;
    (void)userdata, (void)base, (void)file_name, (void)link_name, (void)checksum;
    (void)dwfl_module_info(dwfl_module, &unwinder, &begin, NULL, NULL, NULL, NULL, NULL);
    const struct perf_unwinder *own = unwinder ? *unwinder : NULL;
    const uint32_t module = (uint32_t)strtoul(name, NULL, 10);
    const char *path = own ? weft_symbols_debug_file(own->symbols->programs, module) : NULL;
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
    struct perf_unwinder *unwinder = context;
    const uint64_t at = address - unwinder->stack_at;
    (void)dwfl;
    if (unwinder->n_stack < 8 || at > unwinder->n_stack - 8) {
        unwinder->has_run_out |= address >= unwinder->stack_at;
        return false;
    }
    *word = kernel_load_u64(unwinder->stack + at, unwinder->is_big);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
    const struct perf_unwinder *unwinder = context;
    return dwfl_thread_state_registers(thread, 0, DWARF_REGISTERS, unwinder->registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

static int keep_frame(Dwfl_Frame *frame, void *context)
{
    struct perf_unwinder *unwinder = context;
    Dwarf_Addr address;
    bool is_exact;
    if (!dwfl_frame_pc(frame, &address, &is_exact) || address == 0)
        return DWARF_CB_ABORT;
    unwinder->addresses[unwinder->n_addresses++] = address;
    return unwinder->n_addresses < PERF_MOST_UNWOUND ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* ---- programs ----------------------------------------------------------------------------------
 */

/* Tells libdw of a mapped program; one that is told of already, or cannot be read, is passed over.
 */
static bool report(struct perf_unwinder *unwinder, Dwfl *dwfl, const struct perf_mapping *mapping)
{
    struct perf_symbols *symbols = unwinder->symbols;
    char name[16];
    uint32_t module;
    void **userdata;
    if (!perf_symbols_module(symbols, mapping->path, &module))
        return false;
    const char *path = weft_symbols_file(symbols->programs, module);
    const uint64_t address = weft_symbols_address(symbols->programs, module, mapping->file_off);
    if (!path || dwfl_addrmodule(dwfl, mapping->begin))
        return true;
    (void)snprintf(name, sizeof name, "%u", (unsigned)module);
    Dwfl_Module *told = dwfl_report_elf(dwfl, name, path, -1, mapping->begin - address, false);
    if (told && dwfl_module_info(told, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
        *userdata = unwinder;
    return true;
}

/* NULL: there is nothing to walk by. */
static Dwfl *open_space(struct perf_unwinder *unwinder, const struct perf_space *space)
{
    Dwfl *dwfl = dwfl_begin(&dwfl_callbacks);
    bool is_good = dwfl != NULL;
    for (size_t k = 0; is_good && k < space->maps.n && k < MOST_MODULES; k++)
        is_good = report(unwinder, dwfl, &space->maps.items[k]);
    if (is_good && dwfl_report_end(dwfl, NULL, NULL) == 0 &&
        dwfl_attach_state(dwfl, NULL, 1, &thread_callbacks, unwinder))
        return dwfl;
    dwfl_end(dwfl);
    return NULL;
}

/* The space as it is now; the one that was not asked for longest gives way. */
static Dwfl *dwfl_of(struct perf_unwinder *unwinder, const struct perf_space *space)
{
    struct held *place = &unwinder->held[0];
    for (size_t k = 0; k < HELD_SPACES; k++) {
        struct held *held = &unwinder->held[k];
        if (held->is_used && held->version == space->version) {
            held->last_used = ++unwinder->n_used;
            return held->dwfl;
        }
        if (held->last_used < place->last_used)
            place = held;
    }
    dwfl_end(place->dwfl);
    *place = (struct held){ .dwfl = open_space(unwinder, space),
                            .version = space->version,
                            .last_used = ++unwinder->n_used,
                            .is_used = true };
    return place->dwfl;
}

struct perf_unwinder *perf_unwinder_new(struct perf_symbols *symbols)
{
    struct perf_unwinder *unwinder = calloc(1, sizeof *unwinder);
    if (unwinder)
        *unwinder =
            (struct perf_unwinder){ .symbols = symbols, .ends = { .module = WEFT_ID_NONE } };
    return unwinder;
}

void perf_unwinder_free(struct perf_unwinder *unwinder)
{
    for (size_t k = 0; unwinder && k < HELD_SPACES; k++)
        dwfl_end(unwinder->held[k].dwfl);
    free(unwinder);
}

const struct perf_unwind_ends *perf_unwind_ends(const struct perf_unwinder *unwinder)
{
    return &unwinder->ends;
}

/* ---- a stack -----------------------------------------------------------------------------------
 */

/* Registers that were not recorded are 0. */
static void set_sample(struct perf_unwinder *unwinder, const struct perf_sample *sample,
                       bool is_big)
{
    const uint64_t mask = sample->attr->user_registers;
    for (size_t k = 0; k < DWARF_REGISTERS; k++) {
        const uint64_t bit = UINT64_C(1) << perf_register[k];
        const int place = __builtin_popcountll(mask & (bit - 1));
        unwinder->registers[k] =
            mask & bit ? kernel_load_u64(sample->registers + 8 * place, is_big) : 0;
    }
    unwinder->stack = sample->stack;
    unwinder->n_stack = sample->n_stack;
    unwinder->stack_at = unwinder->registers[PERF_SP];
    unwinder->is_big = is_big;
    unwinder->has_run_out = false;
}

/* Why did it end here? The outermost function of a thread ends it rightly. */
static void count_end(struct perf_unwinder *unwinder, const struct perf_space *space)
{
    const struct perf_mapping *mapping =
        perf_space_find(space, unwinder->addresses[unwinder->n_addresses - 1]);
    uint32_t module = WEFT_ID_NONE;
    if (unwinder->has_run_out) {
        unwinder->ends.n_no_stack++;
        return;
    }
    if (mapping && perf_symbols_module(unwinder->symbols, mapping->path, &module) &&
        module != WEFT_ID_NONE && weft_symbols_file(unwinder->symbols->programs, module))
        return;
    if (unwinder->ends.n_no_program++ == 0)
        unwinder->ends.module = module;
}

size_t perf_unwind(struct perf_unwinder *unwinder, const struct perf_space *space,
                   const struct perf_sample *sample, bool is_big,
                   uint64_t addresses[PERF_MOST_UNWOUND])
{
    const uint64_t needed = UINT64_C(1) << PERF_SP | UINT64_C(1) << PERF_IP;
    if (sample->n_stack == 0 || sample->registers_abi != ABI_64 ||
        (sample->attr->user_registers & needed) != needed || !unwinder->symbols->programs)
        return 0;
    set_sample(unwinder, sample, is_big);
    addresses[0] = unwinder->registers[DWARF_REGISTERS - 1];
    unwinder->addresses = addresses;
    unwinder->n_addresses = 0;
    Dwfl *dwfl = dwfl_of(unwinder, space);
    if (dwfl)
        (void)dwfl_getthread_frames(dwfl, 1, keep_frame, unwinder);
    if (unwinder->n_addresses == 0)
        unwinder->n_addresses = 1;
    count_end(unwinder, space);
    return unwinder->n_addresses;
}
