/* SPDX-License-Identifier: MIT
 *
 * Connects perf's samples with symbols/walk.h: maps perf's register numbers to those of DWARF,
 * finds the module of an address, and counts why walks ended early. x86-64 only; other register
 * sets are left without user frames.
 */
#include "ingest/perf/unwind.h"

#include "kernel/bytes.h"
#include "schema/event.h"

#include <stdlib.h>

/* Of what the registers are. */
enum { ABI_64 = 2 };

/* Each register's bit in what perf records (asm/perf_regs.h). */
enum { PERF_SP = 7, PERF_IP = 8 };
static const uint8_t perf_register[WEFT_WALK_REGISTERS] = { 0,  3,  2,  1,  4,  5,  6,  PERF_SP, 16,
                                                            17, 18, 19, 20, 21, 22, 23, PERF_IP };

struct perf_unwinder {
    struct perf_symbols *symbols;
    struct weft_walker *walker; /* NULL until the first copy: the symbols are made after it */
    uint64_t most_bytes;        /* that the walker may hold */
    struct perf_unwind_ends ends;
    const struct perf_space *space; /* in work */
};

struct perf_unwinder *perf_unwinder_new(struct perf_symbols *symbols, uint64_t memory_bytes)
{
    struct perf_unwinder *unwinder = calloc(1, sizeof *unwinder);
    if (unwinder)
        *unwinder = (struct perf_unwinder){ .symbols = symbols,
                                            .most_bytes = weft_walk_share(memory_bytes),
                                            .ends = { .module = WEFT_ID_NONE } };
    return unwinder;
}

void perf_unwinder_free(struct perf_unwinder *unwinder)
{
    if (unwinder)
        weft_walker_free(unwinder->walker);
    free(unwinder);
}

const struct perf_unwind_ends *perf_unwind_ends(const struct perf_unwinder *unwinder)
{
    return &unwinder->ends;
}

static bool find_part(void *context, uint64_t address, struct weft_walk_part *part)
{
    struct perf_unwinder *unwinder = context;
    const struct perf_mapping *mapping = perf_space_find(unwinder->space, address);
    if (!mapping)
        return true;
    *part = (struct weft_walk_part){ .begin = mapping->begin, .file_off = mapping->file_off };
    return perf_symbols_module(unwinder->symbols, mapping->path, &part->module);
}

static struct weft_walk_stack stack_of(const struct perf_sample *sample, bool is_big)
{
    struct weft_walk_stack stack = { .bytes = sample->stack,
                                     .n_bytes = sample->n_stack,
                                     .is_big = is_big };
    const uint64_t mask = sample->attr->user_registers;
    for (size_t k = 0; k < WEFT_WALK_REGISTERS; k++) {
        const uint64_t bit = UINT64_C(1) << perf_register[k];
        const int place = __builtin_popcountll(mask & (bit - 1));
        if (mask & bit)
            stack.registers[k] = kernel_load_u64(sample->registers + 8 * place, is_big);
    }
    return stack;
}

/* Why did it end here? The outermost function of a thread ends it rightly. */
static void count_end(struct perf_unwinder *unwinder, const struct perf_space *space,
                      uint64_t outermost, bool has_run_out)
{
    const struct perf_mapping *mapping = perf_space_find(space, outermost);
    uint32_t module = WEFT_ID_NONE;
    if (has_run_out) {
        unwinder->ends.n_no_stack++;
        return;
    }
    if (mapping && perf_symbols_module(unwinder->symbols, mapping->path, &module) &&
        module != WEFT_ID_NONE && weft_symbols_file(unwinder->symbols->programs, module))
        return;
    if (unwinder->ends.n_no_program++ == 0)
        unwinder->ends.module = module;
}

bool perf_unwind(struct perf_unwinder *unwinder, const struct perf_space *space,
                 const struct perf_sample *sample, bool is_big,
                 uint64_t addresses[PERF_MOST_UNWOUND], size_t *n_addresses)
{
    const uint64_t needed = UINT64_C(1) << PERF_SP | UINT64_C(1) << PERF_IP;
    bool has_run_out;
    *n_addresses = 0;
    if (sample->n_stack == 0 || sample->registers_abi != ABI_64 ||
        (sample->attr->user_registers & needed) != needed || !unwinder->symbols->programs)
        return true;
    if (!unwinder->walker)
        unwinder->walker = weft_walker_new(unwinder->symbols->programs, unwinder->most_bytes);
    if (!unwinder->walker)
        return false;
    unwinder->space = space;
    const struct weft_walk_space walked = { find_part, unwinder };
    const struct weft_walk_stack stack = stack_of(sample, is_big);
    if (!weft_walk_copy(unwinder->walker, &walked, &stack, addresses, NULL, n_addresses,
                        &has_run_out))
        return false;
    count_end(unwinder, space, addresses[*n_addresses - 1], has_run_out);
    return true;
}
