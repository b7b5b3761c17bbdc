/* SPDX-License-Identifier: MIT
 *
 * Runs the programs of call frame information once, and keeps the rules after each step as rows.
 */
#include "base/vec.h"
#include "symbols/cfi.h"

#include <dwarf.h>

enum { MOST_REMEMBERED = 64, MOST_BYTES = 4 << 20, MOST_EXPRESSION = 4096 };

/* The rules at one place. */
struct state {
    struct weft_cfi_rule cfa;
    struct weft_cfi_rule rules[WEFT_CFI_REGISTERS];
};

struct compiler {
    const struct weft_cfi_source *source;
    const struct weft_cfi_cie *cie;
    uint64_t begin, end, at; /* `at`: from where on the rules hold */
    struct state now, initial, written;
    bool has_initial, has_written;
    struct {
        struct state *items;
        size_t n, cap;
    } remembered;
    struct {
        struct weft_cfi_row *items;
        size_t n, cap;
    } rows;
    struct {
        struct weft_cfi_rule *items;
        size_t n, cap;
    } rules;
    struct {
        uint8_t *items;
        size_t n, cap;
    } expressions;
    bool is_bad, is_nomem;
};

/* ---- rows ------------------------------------------------------------------------------------ */

static size_t bytes_of(const struct compiler *compiler)
{
    return compiler->rows.n * sizeof *compiler->rows.items +
           compiler->rules.n * sizeof *compiler->rules.items + compiler->expressions.n;
}

static void write_rules(struct compiler *compiler)
{
    for (unsigned k = 0; k < WEFT_CFI_REGISTERS; k++) {
        if (compiler->now.rules[k].kind == WEFT_CFI_UNSPECIFIED)
            continue;
        struct weft_cfi_rule *rule = WEFT_VEC_PUSH(&compiler->rules);
        compiler->is_nomem |= !rule;
        if (rule)
            *rule = compiler->now.rules[k];
    }
}

/* The rules from `at` on. What is as in the row before is not written again. */
static void write_row(struct compiler *compiler)
{
    const struct state *now = &compiler->now, *before = &compiler->written;
    const bool has_same_rules =
        compiler->has_written && memcmp(now->rules, before->rules, sizeof now->rules) == 0;
    if (has_same_rules && memcmp(&now->cfa, &before->cfa, sizeof now->cfa) == 0)
        return;
    if (bytes_of(compiler) > MOST_BYTES) {
        compiler->is_bad = true;
        return;
    }
    const struct weft_cfi_row *last =
        compiler->rows.n ? &compiler->rows.items[compiler->rows.n - 1] : NULL;
    struct weft_cfi_row made = { .from = (uint32_t)(compiler->at - compiler->begin),
                                 .rules_at = (uint32_t)compiler->rules.n,
                                 .cfa = now->cfa };
    if (has_same_rules && last) {
        made.rules_at = last->rules_at;
        made.n_rules = last->n_rules;
    } else {
        write_rules(compiler);
        made.n_rules = (uint32_t)compiler->rules.n - made.rules_at;
    }
    struct weft_cfi_row *row = WEFT_VEC_PUSH(&compiler->rows);
    compiler->is_nomem |= !row;
    if (row)
        *row = made;
    compiler->written = *now;
    compiler->has_written = true;
}

/* Those of the CIE stand before the function: they may not move. */
static void move_to(struct compiler *compiler, uint64_t address)
{
    if (!compiler->has_initial || address < compiler->at) {
        compiler->is_bad = true;
        return;
    }
    if (address > compiler->at)
        write_row(compiler);
    compiler->at = address;
}

static void advance(struct compiler *compiler, uint64_t n_units)
{
    uint64_t n_bytes, address;
    if (__builtin_mul_overflow(n_units, compiler->cie->code_align, &n_bytes) ||
        __builtin_add_overflow(compiler->at, n_bytes, &address))
        compiler->is_bad = true;
    else
        move_to(compiler, address);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* NULL: of a register that is not kept, such as those of vectors. */
static struct weft_cfi_rule *rule_of(struct compiler *compiler, uint64_t reg)
{
    return reg < WEFT_CFI_REGISTERS ? &compiler->now.rules[reg] : NULL;
}

static void set_rule(struct compiler *compiler, uint64_t reg, uint8_t kind, int64_t value)
{
    struct weft_cfi_rule *rule = rule_of(compiler, reg);
    if (!rule)
        return;
    if (value < INT32_MIN || value > INT32_MAX)
        compiler->is_bad = true;
    else
        *rule =
            (struct weft_cfi_rule){ .kind = kind, .reg = (uint8_t)reg, .value = (int32_t)value };
}

/* An offset in units of the CIE's data alignment. */
static void set_offset(struct compiler *compiler, uint64_t reg, uint8_t kind, int64_t n_units)
{
    int64_t offset;
    if (__builtin_mul_overflow(n_units, compiler->cie->data_align, &offset))
        compiler->is_bad = true;
    else
        set_rule(compiler, reg, kind, offset);
}

/* An unsigned number where a signed one is needed. */
static int64_t as_signed(struct compiler *compiler, uint64_t number)
{
    compiler->is_bad |= number > INT64_MAX;
    return (int64_t)(number & INT64_MAX);
}

static void restore(struct compiler *compiler, uint64_t reg)
{
    struct weft_cfi_rule *rule = rule_of(compiler, reg);
    compiler->is_bad |= !compiler->has_initial;
    if (rule)
        *rule = compiler->initial.rules[reg];
}

static void set_cfa(struct compiler *compiler, uint64_t reg, int64_t offset)
{
    if (reg >= WEFT_CFI_REGISTERS || offset < INT32_MIN || offset > INT32_MAX)
        compiler->is_bad = true;
    else
        compiler->now.cfa = (struct weft_cfi_rule){ .kind = WEFT_CFI_REGISTER,
                                                    .other = (uint8_t)reg,
                                                    .value = (int32_t)offset };
}

static void set_cfa_offset(struct compiler *compiler, int64_t offset)
{
    compiler->is_bad |= compiler->now.cfa.kind != WEFT_CFI_REGISTER;
    set_cfa(compiler, compiler->now.cfa.other, offset);
}

/* An offset of the CFA in units of the data alignment. */
static int64_t factored(struct compiler *compiler, int64_t n_units)
{
    int64_t offset;
    if (!__builtin_mul_overflow(n_units, compiler->cie->data_align, &offset))
        return offset;
    compiler->is_bad = true;
    return 0;
}

static void set_expression(struct compiler *compiler, struct weft_cfi_rule *rule, uint64_t reg,
                           uint8_t kind, struct weft_cursor *cur)
{
    const uint64_t n_bytes = weft_cfi_uleb(cur);
    const size_t at = compiler->expressions.n;
    if (n_bytes > MOST_EXPRESSION || n_bytes > weft_cur_left(cur)) {
        compiler->is_bad = true;
        return;
    }
    const uint8_t *bytes = weft_cur_take(cur, (size_t)n_bytes);
    if (!rule || !bytes)
        return;
    if (!weft_vec_reserve(&compiler->expressions.items, &compiler->expressions.cap,
                          at + (size_t)n_bytes + 1, 1)) {
        compiler->is_nomem = true;
        return;
    }
    memcpy(compiler->expressions.items + at, bytes, (size_t)n_bytes);
    compiler->expressions.n += (size_t)n_bytes;
    *rule = (struct weft_cfi_rule){
        .kind = kind, .reg = (uint8_t)reg, .n_expression = (uint32_t)n_bytes, .value = (int32_t)at
    };
}

static void set_register(struct compiler *compiler, uint64_t reg, uint64_t other)
{
    struct weft_cfi_rule *rule = rule_of(compiler, reg);
    if (rule && other < WEFT_CFI_REGISTERS)
        *rule = (struct weft_cfi_rule){ .kind = WEFT_CFI_REGISTER,
                                        .reg = (uint8_t)reg,
                                        .other = (uint8_t)other };
    else if (rule)
        *rule = (struct weft_cfi_rule){ .kind = WEFT_CFI_UNDEFINED, .reg = (uint8_t)reg };
}

/* ---- programs -------------------------------------------------------------------------------- */

static void remember(struct compiler *compiler)
{
    if (compiler->remembered.n == MOST_REMEMBERED) {
        compiler->is_bad = true;
        return;
    }
    struct state *place = WEFT_VEC_PUSH(&compiler->remembered);
    compiler->is_nomem |= !place;
    if (place)
        *place = compiler->now;
}

static void recall(struct compiler *compiler)
{
    if (compiler->remembered.n > 0)
        compiler->now = compiler->remembered.items[--compiler->remembered.n];
    else
        compiler->is_bad = true;
}

/* False: it is none of those that move. */
static bool do_move(struct compiler *compiler, uint8_t op, struct weft_cursor *cur)
{
    uint64_t address;
    switch (op) {
    case DW_CFA_set_loc:
        if (weft_cfi_pointer(cur, compiler->cie->encoding,
                             compiler->source->section_address + weft_cur_offset(cur), 0, &address))
            move_to(compiler, address);
        else
            compiler->is_bad = true;
        return true;
    case DW_CFA_advance_loc1:
        advance(compiler, weft_cur_u8(cur));
        return true;
    case DW_CFA_advance_loc2:
        advance(compiler, weft_cur_u16(cur));
        return true;
    case DW_CFA_advance_loc4:
        advance(compiler, weft_cur_u32(cur));
        return true;
    case DW_CFA_MIPS_advance_loc8:
        advance(compiler, weft_cur_u64(cur));
        return true;
    default:
        return false;
    }
}

static bool do_cfa(struct compiler *compiler, uint8_t op, struct weft_cursor *cur)
{
    uint64_t reg;
    switch (op) {
    case DW_CFA_def_cfa:
        reg = weft_cfi_uleb(cur);
        set_cfa(compiler, reg, as_signed(compiler, weft_cfi_uleb(cur)));
        return true;
    case DW_CFA_def_cfa_sf:
        reg = weft_cfi_uleb(cur);
        set_cfa(compiler, reg, factored(compiler, weft_cfi_sleb(cur)));
        return true;
    case DW_CFA_def_cfa_register:
        compiler->is_bad |= compiler->now.cfa.kind != WEFT_CFI_REGISTER;
        set_cfa(compiler, weft_cfi_uleb(cur), compiler->now.cfa.value);
        return true;
    case DW_CFA_def_cfa_offset:
        set_cfa_offset(compiler, as_signed(compiler, weft_cfi_uleb(cur)));
        return true;
    case DW_CFA_def_cfa_offset_sf:
        set_cfa_offset(compiler, factored(compiler, weft_cfi_sleb(cur)));
        return true;
    case DW_CFA_def_cfa_expression:
        set_expression(compiler, &compiler->now.cfa, 0, WEFT_CFI_EXPRESSION, cur);
        return true;
    default:
        return false;
    }
}

/* Those of a register, whose number comes first. */
static bool do_register(struct compiler *compiler, uint8_t op, struct weft_cursor *cur)
{
    const struct weft_cursor before = *cur;
    const uint64_t reg = weft_cfi_uleb(cur);
    switch (op) {
    case DW_CFA_offset_extended:
        set_offset(compiler, reg, WEFT_CFI_AT_CFA, as_signed(compiler, weft_cfi_uleb(cur)));
        return true;
    case DW_CFA_offset_extended_sf:
        set_offset(compiler, reg, WEFT_CFI_AT_CFA, weft_cfi_sleb(cur));
        return true;
    case DW_CFA_GNU_negative_offset_extended:
        set_offset(compiler, reg, WEFT_CFI_AT_CFA, -as_signed(compiler, weft_cfi_uleb(cur)));
        return true;
    case DW_CFA_val_offset:
        set_offset(compiler, reg, WEFT_CFI_CFA, as_signed(compiler, weft_cfi_uleb(cur)));
        return true;
    case DW_CFA_val_offset_sf:
        set_offset(compiler, reg, WEFT_CFI_CFA, weft_cfi_sleb(cur));
        return true;
    case DW_CFA_restore_extended:
        restore(compiler, reg);
        return true;
    case DW_CFA_undefined:
        set_rule(compiler, reg, WEFT_CFI_UNDEFINED, 0);
        return true;
    case DW_CFA_same_value:
        set_rule(compiler, reg, WEFT_CFI_SAME, 0);
        return true;
    case DW_CFA_register:
        set_register(compiler, reg, weft_cfi_uleb(cur));
        return true;
    case DW_CFA_expression:
        set_expression(compiler, rule_of(compiler, reg), reg, WEFT_CFI_AT_EXPRESSION, cur);
        return true;
    case DW_CFA_val_expression:
        set_expression(compiler, rule_of(compiler, reg), reg, WEFT_CFI_EXPRESSION, cur);
        return true;
    default:
        *cur = before;
        return false;
    }
}

static void do_extended(struct compiler *compiler, uint8_t op, struct weft_cursor *cur)
{
    if (op == DW_CFA_nop)
        return;
    if (op == DW_CFA_remember_state)
        remember(compiler);
    else if (op == DW_CFA_restore_state)
        recall(compiler);
    else if (op == DW_CFA_GNU_args_size)
        (void)weft_cfi_uleb(cur); /* of the stack of arguments, which unwinding does not need */
    else if (!do_move(compiler, op, cur) && !do_cfa(compiler, op, cur) &&
             !do_register(compiler, op, cur))
        compiler->is_bad = true;
}

static bool has_failed(const struct compiler *compiler)
{
    return compiler->is_bad || compiler->is_nomem;
}

static void run(struct compiler *compiler, struct weft_cursor *cur)
{
    while (weft_cur_left(cur) > 0 && !has_failed(compiler) && compiler->at < compiler->end) {
        const uint8_t op = weft_cur_u8(cur);
        switch (op & 0xc0) {
        case DW_CFA_advance_loc:
            advance(compiler, op & 0x3f);
            break;
        case DW_CFA_offset:
            set_offset(compiler, op & 0x3f, WEFT_CFI_AT_CFA,
                       as_signed(compiler, weft_cfi_uleb(cur)));
            break;
        case DW_CFA_restore:
            restore(compiler, op & 0x3f);
            break;
        default:
            do_extended(compiler, op, cur);
            break;
        }
        compiler->is_bad |= cur->fault;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct weft_cfi_function *make(const struct compiler *compiler)
{
    const size_t n_rows = compiler->rows.n * sizeof *compiler->rows.items;
    const size_t n_rules = compiler->rules.n * sizeof *compiler->rules.items;
    const size_t n_bytes =
        sizeof(struct weft_cfi_function) + n_rows + n_rules + compiler->expressions.n;
    struct weft_cfi_function *function = malloc(n_bytes);
    if (!function)
        return NULL;
    uint8_t *at = (uint8_t *)(function + 1);
    if (n_rows)
        memcpy(at, compiler->rows.items, n_rows);
    if (n_rules)
        memcpy(at + n_rows, compiler->rules.items, n_rules);
    if (compiler->expressions.n)
        memcpy(at + n_rows + n_rules, compiler->expressions.items, compiler->expressions.n);
    *function = (struct weft_cfi_function){
        .begin = compiler->begin,
        .end = compiler->end,
        .n_bytes = n_bytes,
        .n_rows = (uint32_t)compiler->rows.n,
        .is_signal_frame = compiler->cie->is_signal_frame,
        .return_register = (uint8_t)compiler->cie->return_register,
        .rows = (const struct weft_cfi_row *)(const void *)at,
        .rules = (const struct weft_cfi_rule *)(const void *)(at + n_rows),
        .expressions = at + n_rows + n_rules,
    };
    return function;
}

struct weft_cfi_function *weft_cfi_compile(const struct weft_cfi_source *source,
                                           const struct weft_cfi_cie *cie, uint64_t begin,
                                           uint64_t end, struct weft_cursor program, bool *is_nomem)
{
    struct compiler compiler = {
        .source = source, .cie = cie, .begin = begin, .end = end, .at = begin
    };
    struct weft_cursor first = cie->program;
    struct weft_cfi_function *function = NULL;
    compiler.is_bad = begin >= end || end - begin > UINT32_MAX;
    run(&compiler, &first);
    compiler.initial = compiler.now;
    compiler.has_initial = true;
    run(&compiler, &program);
    if (!has_failed(&compiler) && compiler.at < compiler.end)
        write_row(&compiler);
    if (!has_failed(&compiler))
        function = make(&compiler);
    *is_nomem = compiler.is_nomem || (!function && !compiler.is_bad);
    WEFT_VEC_FINI(&compiler.remembered);
    WEFT_VEC_FINI(&compiler.rows);
    WEFT_VEC_FINI(&compiler.rules);
    WEFT_VEC_FINI(&compiler.expressions);
    return function;
}

const struct weft_cfi_row *weft_cfi_row(const struct weft_cfi_function *function, uint64_t address)
{
    size_t low = 0, high = function->n_rows;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (function->rows[middle].from <= address - function->begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &function->rows[low - 1] : NULL;
}
