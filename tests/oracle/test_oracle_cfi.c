/* SPDX-License-Identifier: MIT
 *
 * Call frame information of real programs against libdw: for each row that libdw finds in each
 * function, at its first and last instruction, and at each of ours, the rules are the same.
 */
#include "symbols/cfi_section.h"
#include "tap.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

enum { MOST_OPS = 64, MOST_SHOWN = 5 };

struct twin {
    Dwarf_CFI *cfi;
    struct weft_cfi_section *section;
    uint64_t n_functions, n_rows, n_rules, n_wrong;
};

static void wrong(struct twin *twin, uint64_t address, const char *what)
{
    if (twin->n_wrong++ < MOST_SHOWN)
        tap_note("at 0x%" PRIx64 ": %s", address, what);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* The operations of an expression are those at their places in the bytes. */
static bool same_expression(const Dwarf_Op *ops, size_t n_ops, const uint8_t *bytes, size_t n_bytes)
{
    for (size_t k = 0; k < n_ops; k++)
        if (ops[k].offset >= n_bytes || bytes[ops[k].offset] != ops[k].atom)
            return false;
    return n_ops > 0 || n_bytes == 0;
}

static bool same_cfa(const struct weft_cfi_function *function, const struct weft_cfi_row *row,
                     const Dwarf_Op *ops, size_t n_ops)
{
    if (row->cfa.kind == WEFT_CFI_REGISTER)
        return n_ops == 1 && ops[0].atom == DW_OP_bregx && ops[0].number == row->cfa.other &&
               (int64_t)ops[0].number2 == row->cfa.value;
    return row->cfa.kind == WEFT_CFI_EXPRESSION &&
           same_expression(ops, n_ops, function->expressions + row->cfa.value,
                           row->cfa.n_expression);
}

/* "CFA + value", and for values that are not in memory DW_OP_stack_value. */
static bool is_by_cfa(const Dwarf_Op *ops, size_t n_ops, int64_t value, bool is_value)
{
    if (n_ops == 0 || ops[0].atom != DW_OP_call_frame_cfa)
        return false;
    const bool has_offset = n_ops > 1 && ops[1].atom == DW_OP_plus_uconst;
    const size_t n = 1 + has_offset;
    const bool has_value = n_ops == n + 1 && ops[n].atom == DW_OP_stack_value;
    return n_ops == n + has_value && has_value == is_value &&
           (has_offset ? (int64_t)ops[1].number : 0) == value;
}

/* An expression that starts from the CFA. */
static bool is_by_expression(const struct weft_cfi_function *function,
                             const struct weft_cfi_rule *rule, const Dwarf_Op *ops, size_t n_ops)
{
    const bool is_value = rule->kind == WEFT_CFI_EXPRESSION;
    if (n_ops == 0 || ops[0].atom != DW_OP_call_frame_cfa ||
        (ops[n_ops - 1].atom == DW_OP_stack_value) != is_value)
        return false;
    return same_expression(ops + 1, n_ops - 1 - is_value, function->expressions + rule->value,
                           rule->n_expression);
}

static bool same_rule(const struct weft_cfi_function *function, const struct weft_cfi_rule *rule,
                      const Dwarf_Op *ops, size_t n_ops)
{
    switch ((enum weft_cfi_kind)rule->kind) {
    case WEFT_CFI_UNDEFINED:
        return n_ops == 0 && ops != NULL;
    case WEFT_CFI_SAME:
        return n_ops == 0 && ops == NULL;
    case WEFT_CFI_AT_CFA:
        return is_by_cfa(ops, n_ops, rule->value, false);
    case WEFT_CFI_CFA:
        return is_by_cfa(ops, n_ops, rule->value, true);
    case WEFT_CFI_REGISTER:
        return n_ops == 1 && ops[0].atom == DW_OP_regx && ops[0].number == rule->other;
    default:
        return is_by_expression(function, rule, ops, n_ops);
    }
}

/* What libdw says of a register that its rules leave out, is what walks assume; but libdw 0.188 has
 * 0, which is rax, for rbx, which is 3. */
static bool is_default(unsigned reg, const Dwarf_Op *ops, size_t n_ops)
{
    const bool is_saved = reg == 0 || reg == 6 || (reg >= 12 && reg <= 15);
    if (reg == 3)
        return n_ops == 0;
    if (reg == 16)
        return is_by_cfa(ops, n_ops, -8, false);
    if (reg == 7)
        return is_by_cfa(ops, n_ops, 0, true);
    return n_ops == 0 && (ops == NULL) == is_saved;
}

static void compare_registers(struct twin *twin, const struct weft_cfi_function *function,
                              const struct weft_cfi_row *row, Dwarf_Frame *frame, uint64_t address)
{
    for (unsigned reg = 0; reg < WEFT_CFI_REGISTERS; reg++) {
        const struct weft_cfi_rule *rule = NULL;
        Dwarf_Op room[3];
        Dwarf_Op *ops;
        size_t n_ops;
        char what[64];
        for (uint32_t k = 0; k < row->n_rules; k++)
            if (function->rules[row->rules_at + k].reg == reg)
                rule = &function->rules[row->rules_at + k];
        (void)snprintf(what, sizeof what, "register %u", reg);
        twin->n_rules += rule != NULL;
        if (dwarf_frame_register(frame, (int)reg, room, &ops, &n_ops) != 0 ||
            !(rule ? same_rule(function, rule, ops, n_ops) : is_default(reg, ops, n_ops)))
            wrong(twin, address, what);
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

/* `*next`: where libdw's row ends. */
static void compare_at(struct twin *twin, const struct weft_cfi_function *function,
                       uint64_t address, uint64_t *next)
{
    const struct weft_cfi_row *row = weft_cfi_row(function, address);
    Dwarf_Frame *frame = NULL;
    Dwarf_Addr start, end;
    bool is_signal;
    Dwarf_Op *ops;
    size_t n_ops;
    *next = function->end;
    if (dwarf_cfi_addrframe(twin->cfi, address, &frame) != 0) {
        wrong(twin, address, dwarf_errmsg(-1));
        return;
    }
    const int return_register = dwarf_frame_info(frame, &start, &end, &is_signal);
    if (!row || return_register != function->return_register ||
        is_signal != function->is_signal_frame)
        wrong(twin, address, "kind of frame");
    if (dwarf_frame_cfa(frame, &ops, &n_ops) != 0 || !row || !same_cfa(function, row, ops, n_ops))
        wrong(twin, address, "CFA");
    if (row)
        compare_registers(twin, function, row, frame, address);
    if (end > address && end < *next)
        *next = end;
    twin->n_rows++;
    free(frame);
}

static bool see(void *context, uint64_t begin, uint64_t end, uint64_t offset)
{
    struct twin *twin = context;
    uint64_t found_off, next, unused;
    if (begin >= end)
        return true;
    if (!weft_cfi_section_seek(twin->section, begin, 64 << 20, &found_off) || found_off != offset)
        wrong(twin, begin, "found by address");
    struct weft_cfi_function *function = weft_cfi_section_compile(twin->section, offset);
    if (!function) {
        wrong(twin, begin, "no rows");
        return true;
    }
    for (uint64_t at = begin; at < end; at = next) {
        compare_at(twin, function, at, &next);
        if (next - 1 > at)
            compare_at(twin, function, next - 1, &unused);
    }
    for (uint32_t k = 0; k < function->n_rows; k++)
        compare_at(twin, function, begin + function->rows[k].from, &unused);
    twin->n_functions++;
    free(function);
    return true;
}

/* Functions that libdw finds in the section. */
static uint64_t count_entries(Elf *elf)
{
    uint64_t n = 0;
    size_t names;
    GElf_Ehdr header;
    Elf_Data *data = NULL;
    if (!gelf_getehdr(elf, &header) || elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr about;
        const char *name =
            gelf_getshdr(section, &about) ? elf_strptr(elf, names, about.sh_name) : NULL;
        if (name && strcmp(name, ".eh_frame") == 0)
            data = elf_getdata(section, NULL);
    }
    Dwarf_CFI_Entry entry;
    for (Dwarf_Off off = 0, next;
         data && dwarf_next_cfi(header.e_ident, data, true, off, &next, &entry) == 0; off = next)
        n += !dwarf_cfi_cie_p(&entry);
    return n;
}

static void test_program(const char *path)
{
    struct weft_elf_file file;
    struct weft_cfi_section section;
    if (!weft_elf_file_open(path, &file)) {
        tap_note("%s: not here", path);
        return;
    }
    struct twin twin = { .cfi = dwarf_getcfi_elf(file.elf), .section = &section };
    if (twin.cfi && weft_cfi_section_open(&section, &file, false)) {
        const bool is_whole = weft_cfi_section_walk(&section, see, &twin);
        tap_ok(is_whole && twin.n_wrong == 0 && twin.n_functions > 0,
               "%s: %" PRIu64 " functions, %" PRIu64 " places, %" PRIu64 " rules, %" PRIu64
               " wrong",
               path, twin.n_functions, twin.n_rows, twin.n_rules, twin.n_wrong);
        tap_eq_u64(twin.n_functions, count_entries(file.elf), "all functions are met");
        weft_cfi_section_fini(&section);
    } else {
        tap_ok(false, "%s: has call frame information", path);
    }
    if (twin.cfi)
        (void)dwarf_cfi_end(twin.cfi);
    weft_elf_file_close(&file);
}

int main(void)
{
    test_program("/proc/self/exe");
    test_program("/lib64/ld-linux-x86-64.so.2");
    test_program("/usr/lib/x86_64-linux-gnu/libc.so.6");
    test_program("/usr/lib/x86_64-linux-gnu/libdw.so.1");
    test_program("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
    test_program("/usr/bin/python3");
    return tap_done();
}
