/* SPDX-License-Identifier: MIT
 *
 * Walks copied stacks: each step finds the row of the instruction, and by it the caller's
 * registers.
 */
#include "symbols/walk.h"

#include "symbols/cfi_store.h"

#include <stdlib.h>

enum { MEMORY_SHARE = 32, WORD_BYTES = 8 };
#define DEFAULT_BYTES (UINT64_C(32) << 20)

/* Addresses of user space; a stack grows no larger than this. */
#define LEAST_ADDRESS UINT64_C(0x1000)
#define MOST_ADDRESS ((UINT64_C(1) << 47) - 1)
#define MOST_STACK_BYTES (UINT64_C(1) << 30)

/* Registers that a function leaves as they were, unless its entry says otherwise. */
#define SAVED_REGISTERS                                                                            \
    (UINT32_C(1) << WEFT_WALK_BX | UINT32_C(1) << WEFT_WALK_BP | UINT32_C(0xf) << 12)

struct weft_walker {
    struct weft_symbols *symbols;
    struct weft_cfi_store *store;
    /* The stack in work. */
    const struct weft_walk_stack *stack;
    struct weft_cfi_frame frame;
    bool has_run_out; /* memory beyond the copy was asked for */
};

struct weft_walker *weft_walker_new(struct weft_symbols *symbols, uint64_t most_bytes)
{
    struct weft_walker *walker = calloc(1, sizeof *walker);
    if (!walker)
        return NULL;
    walker->symbols = symbols;
    walker->store = weft_cfi_store_new((size_t)most_bytes);
    if (walker->store)
        return walker;
    free(walker);
    return NULL;
}

void weft_walker_free(struct weft_walker *walker)
{
    if (walker)
        weft_cfi_store_free(walker->store);
    free(walker);
}

uint64_t weft_walk_share(uint64_t memory_bytes)
{
    return memory_bytes ? memory_bytes / MEMORY_SHARE : DEFAULT_BYTES;
}

/* ---- memory and registers -------------------------------------------------------------------- */

static bool read_stack(void *context, uint64_t address, unsigned n_bytes, uint64_t *value)
{
    struct weft_walker *walker = context;
    const struct weft_walk_stack *stack = walker->stack;
    const uint64_t at = address - stack->registers[WEFT_WALK_SP];
    uint8_t word[WORD_BYTES] = { 0 };
    if (stack->n_bytes < n_bytes || at > stack->n_bytes - n_bytes) {
        walker->has_run_out |= at < MOST_STACK_BYTES;
        return false;
    }
    memcpy(word, stack->bytes + at, n_bytes);
    *value = weft_load_u64(word);
    if (stack->is_big)
        *value = __builtin_bswap64(*value) >> (64 - 8 * n_bytes);
    return true;
}

static bool has(const struct weft_cfi_frame *frame, unsigned reg)
{
    return frame->has >> reg & 1;
}

static void set(struct weft_cfi_frame *frame, unsigned reg, uint64_t value)
{
    frame->registers[reg] = value;
    frame->has |= UINT32_C(1) << reg;
}

/* ---- by call frame information --------------------------------------------------------------- */

static bool find_cfa(struct weft_cfi_frame *frame, const struct weft_cfi_found *found)
{
    const struct weft_cfi_rule *rule = &found->row->cfa;
    if (rule->kind == WEFT_CFI_REGISTER) {
        frame->cfa = frame->registers[rule->other] + (uint64_t)(int64_t)rule->value;
        frame->has_cfa = has(frame, rule->other);
    } else {
        frame->has_cfa = rule->kind == WEFT_CFI_EXPRESSION &&
                         weft_cfi_evaluate(frame, found->function->expressions + rule->value,
                                           rule->n_expression, NULL, &frame->cfa);
    }
    return frame->has_cfa;
}

/* What a register of the caller was; false: that cannot be said. */
static bool follow(const struct weft_cfi_frame *frame, const struct weft_cfi_found *found,
                   const struct weft_cfi_rule *rule, uint64_t *value)
{
    const uint64_t at = frame->cfa + (uint64_t)(int64_t)rule->value;
    switch ((enum weft_cfi_kind)rule->kind) {
    case WEFT_CFI_SAME:
        *value = frame->registers[rule->reg];
        return has(frame, rule->reg);
    case WEFT_CFI_REGISTER:
        *value = frame->registers[rule->other];
        return has(frame, rule->other);
    case WEFT_CFI_CFA:
        *value = at;
        return true;
    case WEFT_CFI_AT_CFA:
        return frame->read(frame->context, at, WORD_BYTES, value);
    case WEFT_CFI_AT_EXPRESSION:
    case WEFT_CFI_EXPRESSION:
        return weft_cfi_evaluate(frame, found->function->expressions + rule->value,
                                 rule->n_expression, &frame->cfa, value) &&
               (rule->kind == WEFT_CFI_EXPRESSION ||
                frame->read(frame->context, *value, WORD_BYTES, value));
    default:
        return false;
    }
}

/* Makes the frame the caller's. False: it ends here. */
static bool step_by_row(struct weft_cfi_frame *frame, const struct weft_cfi_found *found)
{
    const struct weft_cfi_rule *rules = found->function->rules + found->row->rules_at;
    const unsigned return_register = found->function->return_register;
    struct weft_cfi_frame caller = *frame;
    uint64_t value;
    if (!find_cfa(frame, found))
        return false;
    caller.has &= SAVED_REGISTERS;
    set(&caller, WEFT_WALK_SP, frame->cfa);
    bool has_return = false;
    for (uint32_t k = 0; k < found->row->n_rules; k++) {
        const struct weft_cfi_rule *rule = &rules[k];
        has_return |= rule->reg == return_register;
        caller.has &= ~(UINT32_C(1) << rule->reg);
        if (follow(frame, found, rule, &value))
            set(&caller, rule->reg, value);
    }
    /* Where nothing is said a call returns to what it pushed. */
    if (!has_return && frame->read(frame->context, frame->cfa - WORD_BYTES, WORD_BYTES, &value))
        set(&caller, return_register, value);
    if (!has(&caller, return_register))
        return false;
    set(&caller, WEFT_WALK_IP, caller.registers[return_register]);
    *frame = caller;
    return true;
}

/* ---- by frame pointers ----------------------------------------------------------------------- */

/* The register holds other things, too: it must lead up the stack, and to an address. */
static bool step_by_pointer(struct weft_cfi_frame *frame)
{
    const uint64_t at = frame->registers[WEFT_WALK_BP];
    uint64_t before = 0, back;
    if (!has(frame, WEFT_WALK_BP) || at == 0 || at % WORD_BYTES ||
        (has(frame, WEFT_WALK_SP) && at < frame->registers[WEFT_WALK_SP]) ||
        !frame->read(frame->context, at + WORD_BYTES, WORD_BYTES, &back) || back < LEAST_ADDRESS ||
        back > MOST_ADDRESS)
        return false;
    (void)frame->read(frame->context, at, WORD_BYTES, &before);
    frame->has = 0;
    set(frame, WEFT_WALK_BP, before);
    set(frame, WEFT_WALK_SP, at + 2 * WORD_BYTES);
    set(frame, WEFT_WALK_IP, back);
    return true;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* False without memory. */
static bool find(struct weft_walker *walker, const struct weft_walk_space *space, uint64_t address,
                 struct weft_cfi_found *found)
{
    struct weft_walk_part part = { .module = WEFT_WALK_NO_MODULE };
    *found = (struct weft_cfi_found){ 0 };
    if (!space->find(space->context, address, &part))
        return false;
    if (part.module == WEFT_WALK_NO_MODULE)
        return true;
    const struct weft_cfi_program program = {
        .number = part.module,
        .path = weft_symbols_file(walker->symbols, part.module),
        .debug_path = weft_symbols_debug_file(walker->symbols, part.module),
    };
    if (!program.path)
        return true;
    const bool is_good =
        weft_cfi_store_find(walker->store, &program, address - part.begin + part.file_off, found);
    walker->frame.bias = address - found->address;
    return is_good;
}

/* From a frame to its caller's, if there is one. Where a call returns to is behind it, and may be
 * another function: an instruction that was interrupted is not. False without memory. */
static bool step(struct weft_walker *walker, const struct weft_walk_space *space,
                 bool *is_interrupted, bool *has_caller)
{
    struct weft_cfi_frame *frame = &walker->frame;
    const uint64_t ip = frame->registers[WEFT_WALK_IP];
    const uint64_t sp = frame->registers[WEFT_WALK_SP];
    struct weft_cfi_found found;
    *has_caller = false;
    if (!find(walker, space, ip - !*is_interrupted, &found))
        return false;
    frame->has_cfa = false;
    *is_interrupted = found.row && found.function->is_signal_frame;
    *has_caller = (found.row ? step_by_row(frame, &found) : step_by_pointer(frame)) &&
                  frame->registers[WEFT_WALK_IP] != 0 &&
                  (frame->registers[WEFT_WALK_IP] != ip || frame->registers[WEFT_WALK_SP] != sp);
    return true;
}

bool weft_walk_copy(struct weft_walker *walker, const struct weft_walk_space *space,
                    const struct weft_walk_stack *stack, uint64_t addresses[WEFT_WALK_MOST],
                    uint64_t *stack_pointers, size_t *n_addresses, bool *has_run_out)
{
    bool is_interrupted = true, has_caller = true, is_good = true;
    *n_addresses = 0;
    *has_run_out = false;
    if (!walker->symbols)
        return true;
    walker->stack = stack;
    walker->has_run_out = false;
    walker->frame = (struct weft_cfi_frame){ .has = (UINT32_C(1) << WEFT_WALK_REGISTERS) - 1,
                                             .read = read_stack,
                                             .context = walker };
    memcpy(walker->frame.registers, stack->registers, sizeof stack->registers);
    while (is_good && has_caller && *n_addresses < WEFT_WALK_MOST) {
        if (stack_pointers)
            stack_pointers[*n_addresses] = walker->frame.registers[WEFT_WALK_SP];
        addresses[(*n_addresses)++] = walker->frame.registers[WEFT_WALK_IP];
        is_good = step(walker, space, &is_interrupted, &has_caller);
        /* A saved register beyond the copy matters only if nothing more is found. */
        walker->has_run_out &= !has_caller;
    }
    *has_run_out = walker->has_run_out || has_caller;
    return is_good;
}
