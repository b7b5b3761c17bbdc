/* SPDX-License-Identifier: MIT
 *
 * DWARF expressions in call frame information: a small stack machine, bounded in steps and depth.
 */
#include "symbols/cfi.h"

#include <dwarf.h>

enum { MOST_DEPTH = 64, MOST_STEPS = 1024 };

struct machine {
    const struct weft_cfi_frame *frame;
    struct weft_cursor cur;
    uint64_t stack[MOST_DEPTH];
    unsigned depth;
    bool is_bad;
};

static void push(struct machine *machine, uint64_t value)
{
    if (machine->depth < MOST_DEPTH)
        machine->stack[machine->depth++] = value;
    else
        machine->is_bad = true;
}

static uint64_t pop(struct machine *machine)
{
    if (machine->depth > 0)
        return machine->stack[--machine->depth];
    machine->is_bad = true;
    return 0;
}

/* The value `below` the top; 0 is the top. */
static uint64_t peek(struct machine *machine, uint64_t below)
{
    if (below < machine->depth)
        return machine->stack[machine->depth - 1 - below];
    machine->is_bad = true;
    return 0;
}

static void push_register(struct machine *machine, uint64_t number, int64_t offset)
{
    if (number < WEFT_CFI_REGISTERS && machine->frame->has >> number & 1)
        push(machine, machine->frame->registers[number] + (uint64_t)offset);
    else
        machine->is_bad = true;
}

static void push_memory(struct machine *machine, unsigned n_bytes)
{
    const uint64_t address = pop(machine);
    uint64_t value = 0;
    if (!machine->is_bad && n_bytes >= 1 && n_bytes <= 8 &&
        machine->frame->read(machine->frame->context, address, n_bytes, &value))
        push(machine, value);
    else
        machine->is_bad = true;
}

/* By so many bytes from behind the operation, forwards or back. */
static void jump(struct machine *machine, int16_t by)
{
    struct weft_cursor *cur = &machine->cur;
    if (by < 0 ? -(int64_t)by <= cur->at - cur->start : by <= cur->end - cur->at)
        cur->at += by;
    else
        machine->is_bad = true;
}

/* The lowest bytes of a signed constant. */
static uint64_t extend(uint64_t value, unsigned n_bits)
{
    return (uint64_t)((int64_t)(value << (64 - n_bits)) >> (64 - n_bits));
}

static void do_constant(struct machine *machine, uint8_t op)
{
    struct weft_cursor *cur = &machine->cur;
    switch (op) {
    case DW_OP_addr:
        push(machine, weft_cur_u64(cur) + machine->frame->bias);
        break;
    case DW_OP_const1u:
        push(machine, weft_cur_u8(cur));
        break;
    case DW_OP_const1s:
        push(machine, extend(weft_cur_u8(cur), 8));
        break;
    case DW_OP_const2u:
        push(machine, weft_cur_u16(cur));
        break;
    case DW_OP_const2s:
        push(machine, extend(weft_cur_u16(cur), 16));
        break;
    case DW_OP_const4u:
        push(machine, weft_cur_u32(cur));
        break;
    case DW_OP_const4s:
        push(machine, extend(weft_cur_u32(cur), 32));
        break;
    case DW_OP_const8u:
    case DW_OP_const8s:
        push(machine, weft_cur_u64(cur));
        break;
    case DW_OP_constu:
        push(machine, weft_cfi_uleb(cur));
        break;
    default:
        push(machine, (uint64_t)weft_cfi_sleb(cur));
        break;
    }
}

static void do_stack(struct machine *machine, uint8_t op)
{
    uint64_t top, second, third;
    switch (op) {
    case DW_OP_dup:
        push(machine, peek(machine, 0));
        break;
    case DW_OP_drop:
        (void)pop(machine);
        break;
    case DW_OP_over:
        push(machine, peek(machine, 1));
        break;
    case DW_OP_pick:
        push(machine, peek(machine, weft_cur_u8(&machine->cur)));
        break;
    case DW_OP_swap:
        top = pop(machine);
        second = pop(machine);
        push(machine, top);
        push(machine, second);
        break;
    default: /* DW_OP_rot */
        top = pop(machine);
        second = pop(machine);
        third = pop(machine);
        push(machine, top);
        push(machine, third);
        push(machine, second);
        break;
    }
}

static void do_unary(struct machine *machine, uint8_t op)
{
    const uint64_t value = pop(machine);
    switch (op) {
    case DW_OP_abs:
        push(machine, (int64_t)value < 0 ? -value : value);
        break;
    case DW_OP_neg:
        push(machine, -value);
        break;
    case DW_OP_not:
        push(machine, ~value);
        break;
    default: /* DW_OP_plus_uconst */
        push(machine, value + weft_cfi_uleb(&machine->cur));
        break;
    }
}

/* Signed, as DWARF has it; the one quotient that does not fit wraps round. */
static uint64_t divide(struct machine *machine, uint64_t a, uint64_t b)
{
    if (b == 0)
        machine->is_bad = true;
    if (b == 0 || b == UINT64_MAX)
        return -a;
    return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t arithmetic(struct machine *machine, uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case DW_OP_and:
        return a & b;
    case DW_OP_or:
        return a | b;
    case DW_OP_xor:
        return a ^ b;
    case DW_OP_plus:
        return a + b;
    case DW_OP_minus:
        return a - b;
    case DW_OP_mul:
        return a * b;
    case DW_OP_div:
        return divide(machine, a, b);
    case DW_OP_mod:
        machine->is_bad |= b == 0;
        return b ? a % b : 0;
    case DW_OP_shl:
        return b < 64 ? a << b : 0;
    case DW_OP_shr:
        return b < 64 ? a >> b : 0;
    default: /* DW_OP_shra */
        return (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
    }
}

static bool is_true(uint8_t op, int64_t a, int64_t b)
{
    switch (op) {
    case DW_OP_eq:
        return a == b;
    case DW_OP_ne:
        return a != b;
    case DW_OP_lt:
        return a < b;
    case DW_OP_le:
        return a <= b;
    case DW_OP_gt:
        return a > b;
    default: /* DW_OP_ge */
        return a >= b;
    }
}

/* Operations of two values: DW_OP_eq to DW_OP_ne compare. */
static void do_binary(struct machine *machine, uint8_t op)
{
    const uint64_t b = pop(machine);
    const uint64_t a = pop(machine);
    if (op >= DW_OP_eq && op <= DW_OP_ne)
        push(machine, is_true(op, (int64_t)a, (int64_t)b));
    else
        push(machine, arithmetic(machine, op, a, b));
}

static void do_register(struct machine *machine, uint8_t op)
{
    if (op == DW_OP_regx) {
        push_register(machine, weft_cfi_uleb(&machine->cur), 0);
    } else if (op == DW_OP_bregx) {
        const uint64_t number = weft_cfi_uleb(&machine->cur);
        push_register(machine, number, weft_cfi_sleb(&machine->cur));
    } else if (op >= DW_OP_breg0) {
        push_register(machine, op - DW_OP_breg0, weft_cfi_sleb(&machine->cur));
    } else {
        push_register(machine, op - DW_OP_reg0, 0);
    }
}

static void do_other(struct machine *machine, uint8_t op)
{
    int16_t by;
    switch (op) {
    case DW_OP_deref:
        push_memory(machine, 8);
        break;
    case DW_OP_deref_size:
        push_memory(machine, weft_cur_u8(&machine->cur));
        break;
    case DW_OP_skip:
        by = (int16_t)weft_cur_u16(&machine->cur);
        jump(machine, by);
        break;
    case DW_OP_bra:
        by = (int16_t)weft_cur_u16(&machine->cur);
        if (pop(machine) != 0)
            jump(machine, by);
        break;
    case DW_OP_call_frame_cfa:
        machine->is_bad |= !machine->frame->has_cfa;
        push(machine, machine->frame->cfa);
        break;
    case DW_OP_nop:
    case DW_OP_stack_value:
        break;
    default:
        machine->is_bad = true;
        break;
    }
}

static void step(struct machine *machine)
{
    const uint8_t op = weft_cur_u8(&machine->cur);
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
        push(machine, op - DW_OP_lit0);
    else if ((op >= DW_OP_reg0 && op <= DW_OP_breg31) || op == DW_OP_regx || op == DW_OP_bregx)
        do_register(machine, op);
    else if (op == DW_OP_addr || (op >= DW_OP_const1u && op <= DW_OP_consts))
        do_constant(machine, op);
    else if (op >= DW_OP_dup && op <= DW_OP_rot)
        do_stack(machine, op);
    else if (op == DW_OP_abs || op == DW_OP_neg || op == DW_OP_not || op == DW_OP_plus_uconst)
        do_unary(machine, op);
    else if ((op >= DW_OP_and && op <= DW_OP_xor) || (op >= DW_OP_eq && op <= DW_OP_ne))
        do_binary(machine, op);
    else
        do_other(machine, op);
}

bool weft_cfi_evaluate(const struct weft_cfi_frame *frame, const uint8_t *bytes, size_t n_bytes,
                       const uint64_t *first, uint64_t *value)
{
    struct machine machine = { .frame = frame, .cur = weft_cur_init(bytes, n_bytes, 0) };
    if (first)
        push(&machine, *first);
    for (unsigned n = 0; weft_cur_left(&machine.cur) > 0; n++) {
        if (n == MOST_STEPS || machine.is_bad || machine.cur.fault)
            return false;
        step(&machine);
    }
    *value = pop(&machine);
    return !machine.is_bad && !machine.cur.fault;
}
