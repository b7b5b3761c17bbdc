/* SPDX-License-Identifier: MIT
 *
 * Call frame information made by hand: each instruction, each operation of expressions, entries of
 * .debug_frame, damage, and limits.
 */
#include "symbols/cfi_section.h"
#include "symbols/cfi_store.h"
#include "tap.h"

#include <dwarf.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BEGIN = 0x1000, LENGTH = 0x100, ADDRESS = 0x8000, ROOM = 4096 };

/* A section that is being made. */
static uint8_t made[ROOM];
static size_t n_made;

static void put(const void *bytes, size_t n_bytes)
{
    if (n_bytes > sizeof made - n_made)
        abort();
    memcpy(made + n_made, bytes, n_bytes);
    n_made += n_bytes;
}

static void put_u8(uint8_t value)
{
    put(&value, sizeof value);
}

static void put_u32(uint32_t value)
{
    put(&value, sizeof value);
}

static void put_u64(uint64_t value)
{
    put(&value, sizeof value);
}

/* Sets the length of the entry at `at`, which ends here. */
static void end_entry(size_t at)
{
    while (n_made % 8)
        put_u8(DW_CFA_nop);
    const uint32_t n_bytes = (uint32_t)(n_made - at - 4);
    memcpy(made + at, &n_bytes, sizeof n_bytes);
}

/* CFA = rsp + 8, and the return address below it; data alignment -8. */
static void put_cie(bool is_debug_frame, const char *augmentation)
{
    static const uint8_t program[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
    put_u32(0);
    put_u32(is_debug_frame ? UINT32_MAX : 0);
    put_u8(is_debug_frame ? 3 : 1);
    put(augmentation, strlen(augmentation) + 1);
    put_u8(1);    /* code alignment */
    put_u8(0x78); /* data alignment -8 */
    put_u8(16);
    if (*augmentation == 'z')
        put_u8((uint8_t)(strchr(augmentation, 'R') != NULL));
    if (strchr(augmentation, 'R'))
        put_u8(DW_EH_PE_udata4);
    put(program, sizeof program);
    end_entry(0);
}

static void put_fde(bool is_debug_frame, const uint8_t *program, size_t n_program)
{
    const size_t at = n_made;
    put_u32(0);
    put_u32(is_debug_frame ? 0 : (uint32_t)n_made);
    if (is_debug_frame) {
        put_u64(BEGIN);
        put_u64(LENGTH);
    } else {
        put_u32(BEGIN);
        put_u32(LENGTH);
        put_u8(0); /* no augmentation data */
    }
    put(program, n_program);
    end_entry(at);
}

/* What was made, as a section. */
static struct weft_cfi_section section_of(bool is_debug_frame)
{
    uint8_t *bytes = malloc(n_made ? n_made : 1);
    if (!bytes)
        abort();
    memcpy(bytes, made, n_made);
    return (struct weft_cfi_section){
        .source = { .section_address = ADDRESS, .is_debug_frame = is_debug_frame },
        .bytes = { .fd = -1, .memory = bytes, .owns_memory = true, .n_bytes = n_made },
    };
}

/* The function at BEGIN from a CIE and a program; NULL: it is refused. */
static struct weft_cfi_function *function_of(const uint8_t *program, size_t n_program)
{
    struct weft_cfi_section section;
    struct weft_cfi_function *function = NULL;
    uint64_t offset;
    n_made = 0;
    put_cie(false, "zR");
    put_fde(false, program, n_program);
    put_u32(0);
    section = section_of(false);
    if (weft_cfi_section_seek(&section, BEGIN + 1, 1 << 20, &offset))
        function = weft_cfi_section_compile(&section, offset);
    weft_cfi_section_fini(&section);
    return function;
}

/* "cfa r7+16; r3 at cfa-24" as a text. */
static const char *row_text(const struct weft_cfi_function *function, uint64_t address)
{
    static const char *const forms[] = { "?",       " undefined", " same",    " at cfa%+d",
                                         " cfa%+d", " r",         " at expr", " expr" };
    static char text[512];
    const struct weft_cfi_row *row = function ? weft_cfi_row(function, address) : NULL;
    size_t n = 0;
    text[0] = '\0';
    if (!row)
        return "none";
    n += (size_t)(row->cfa.kind == WEFT_CFI_REGISTER
                      ? snprintf(text, sizeof text, "cfa r%d%+d", row->cfa.other, row->cfa.value)
                      : snprintf(text, sizeof text, "cfa expr %u", row->cfa.n_expression));
    for (uint32_t k = 0; k < row->n_rules; k++) {
        const struct weft_cfi_rule *rule = &function->rules[row->rules_at + k];
        n += (size_t)snprintf(text + n, sizeof text - n, "; r%d", rule->reg);
        if (rule->kind == WEFT_CFI_AT_CFA || rule->kind == WEFT_CFI_CFA)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%+d",
                                  rule->kind == WEFT_CFI_CFA ? " cfa" : " at cfa", rule->value);
        else if (rule->kind == WEFT_CFI_REGISTER)
            n += (size_t)snprintf(text + n, sizeof text - n, " r%d", rule->other);
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", forms[rule->kind]);
    }
    return text;
}

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static void expect(const uint8_t *program, size_t n_program, uint64_t address, const char *want)
{
    struct weft_cfi_function *function = function_of(program, n_program);
    tap_eq_str(row_text(function, address), want, "at +0x%x", (unsigned)(address - BEGIN));
    free(function);
}

static void test_instructions(void)
{
    expect(BYTES(DW_CFA_nop), BEGIN, "cfa r7+8; r16 at cfa-8");
    expect(BYTES(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16), BEGIN + 3,
           "cfa r7+8; r16 at cfa-8");
    expect(BYTES(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16), BEGIN + 4,
           "cfa r7+16; r16 at cfa-8");
    expect(BYTES(DW_CFA_advance_loc1, 9, DW_CFA_def_cfa_register, 6), BEGIN + 9,
           "cfa r6+8; r16 at cfa-8");
    expect(BYTES(DW_CFA_advance_loc2, 10, 0, DW_CFA_def_cfa_sf, 6, 0x7e), BEGIN + 10,
           "cfa r6+16; r16 at cfa-8");
    expect(BYTES(DW_CFA_advance_loc4, 11, 0, 0, 0, DW_CFA_def_cfa_offset_sf, 0x7d), BEGIN + 11,
           "cfa r7+24; r16 at cfa-8");
    expect(BYTES(DW_CFA_MIPS_advance_loc8, 12, 0, 0, 0, 0, 0, 0, 0, DW_CFA_same_value, 3),
           BEGIN + 12, "cfa r7+8; r3 same; r16 at cfa-8");
    expect(BYTES(DW_CFA_set_loc, 0x10, 0x10, 0, 0, DW_CFA_undefined, 16), BEGIN + 0x10,
           "cfa r7+8; r16 undefined");
    expect(BYTES(DW_CFA_offset_extended, 3, 2, DW_CFA_offset_extended_sf, 6, 3), BEGIN,
           "cfa r7+8; r3 at cfa-16; r6 at cfa-24; r16 at cfa-8");
    expect(BYTES(DW_CFA_GNU_negative_offset_extended, 3, 2, DW_CFA_GNU_args_size, 0x80, 1), BEGIN,
           "cfa r7+8; r3 at cfa+16; r16 at cfa-8");
    expect(BYTES(DW_CFA_val_offset, 12, 1, DW_CFA_val_offset_sf, 13, 0x7f), BEGIN,
           "cfa r7+8; r12 cfa-8; r13 cfa+8; r16 at cfa-8");
    expect(BYTES(DW_CFA_register, 16, 1, DW_CFA_register, 3, 40), BEGIN,
           "cfa r7+8; r3 undefined; r16 r1");
    expect(BYTES(DW_CFA_offset | 3, 2, DW_CFA_restore | 3, DW_CFA_undefined, 16,
                 DW_CFA_restore_extended, 16),
           BEGIN, "cfa r7+8; r16 at cfa-8");
    expect(BYTES(DW_CFA_remember_state, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 3, 4,
                 DW_CFA_advance_loc | 1, DW_CFA_restore_state),
           BEGIN, "cfa r7+32; r3 at cfa-32; r16 at cfa-8");
    expect(BYTES(DW_CFA_remember_state, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 3, 4,
                 DW_CFA_advance_loc | 1, DW_CFA_restore_state),
           BEGIN + 1, "cfa r7+8; r16 at cfa-8");
    expect(BYTES(DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8, DW_CFA_expression, 3, 1, DW_OP_lit8,
                 DW_CFA_val_expression, 6, 1, DW_OP_lit9),
           BEGIN, "cfa expr 2; r3 at expr; r6 expr; r16 at cfa-8");
    expect(BYTES(DW_CFA_offset_extended, 33, 2, DW_CFA_same_value, 40), BEGIN,
           "cfa r7+8; r16 at cfa-8");
}

static void test_damage(void)
{
    expect(BYTES(DW_CFA_GNU_window_save), BEGIN, "none");
    expect(BYTES(0x3e), BEGIN, "none");
    expect(BYTES(DW_CFA_restore_state), BEGIN, "none");
    expect(BYTES(DW_CFA_def_cfa_expression, 100), BEGIN, "none");
    expect(BYTES(DW_CFA_def_cfa_expression, 1, DW_OP_lit0, DW_CFA_def_cfa_offset, 8), BEGIN,
           "none");
    expect(BYTES(DW_CFA_set_loc, 0, 0, 0, 0), BEGIN, "none");
    expect(BYTES(DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
           BEGIN, "none");
    expect(BYTES(DW_CFA_def_cfa, 17, 8), BEGIN, "none");
    uint8_t deep[200];
    memset(deep, DW_CFA_remember_state, sizeof deep);
    expect(deep, sizeof deep, BEGIN, "none");
    expect(BYTES(DW_CFA_nop), BEGIN + LENGTH + 1, "cfa r7+8; r16 at cfa-8");
}

/* Entries of .debug_frame, by an index of their own. */
static void test_debug_frame(void)
{
    static const uint8_t program[] = { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16 };
    uint64_t offset = 0;
    n_made = 0;
    put_cie(true, "");
    put_fde(true, program, sizeof program);
    struct weft_cfi_section section = section_of(true);
    tap_ok(weft_cfi_section_seek(&section, BEGIN + 5, 1 << 20, &offset), "it is found");
    struct weft_cfi_function *function = weft_cfi_section_compile(&section, offset);
    tap_eq_str(row_text(function, BEGIN + 5), "cfa r7+16; r16 at cfa-8", ".debug_frame");
    free(function);
    weft_cfi_section_fini(&section);
    section = section_of(true);
    tap_ok(!weft_cfi_section_seek(&section, BEGIN + 5, 1, &offset), "an index has a limit");
    tap_ok(!weft_cfi_section_nomem(&section), "which is not the end of memory");
    weft_cfi_section_fini(&section);
}

/* A function may not have more rows than there is sense in. */
static void test_limits(void)
{
    static const uint8_t row[] = { DW_CFA_advance_loc | 1, DW_CFA_offset | 3, 2,
                                   DW_CFA_advance_loc | 1, DW_CFA_offset | 3, 3 };
    const size_t n_rows = 400000;
    uint8_t *program = malloc(n_rows * sizeof row);
    bool is_nomem;
    if (!program)
        abort();
    for (size_t k = 0; k < n_rows; k++)
        memcpy(program + k * sizeof row, row, sizeof row);
    const struct weft_cfi_source source = { 0 };
    const struct weft_cfi_cie cie = { .code_align = 1, .data_align = -8, .return_register = 16 };
    struct weft_cfi_function *function = weft_cfi_compile(
        &source, &cie, 0, 1 << 30, weft_cur_init(program, n_rows * sizeof row, 0), &is_nomem);
    tap_ok(!function && !is_nomem, "800,000 rows are refused");
    function = weft_cfi_compile(&source, &cie, 0, 1 << 30,
                                weft_cur_init(program, 1000 * sizeof row, 0), &is_nomem);
    tap_ok(function && function->n_rows == 2001, "2,000 are not");
    free(function);
    free(program);
}

/* ---- expressions ------------------------------------------------------------------------------
 */

/* Memory holds its own address. */
static bool read_itself(void *context, uint64_t address, unsigned n_bytes, uint64_t *value)
{
    (void)context;
    *value = n_bytes == 8 ? address : address & ((UINT64_C(1) << 8 * n_bytes) - 1);
    return address != 0;
}

static void evaluate(const uint8_t *bytes, size_t n_bytes, bool is_good, uint64_t want)
{
    const struct weft_cfi_frame frame = { .registers = { [7] = 0x7000, [16] = 0x1234 },
                                          .has = 1U << 7 | 1U << 16,
                                          .cfa = 0x8000,
                                          .has_cfa = true,
                                          .bias = 0x100000,
                                          .read = read_itself };
    uint64_t got = 0;
    const bool is_value = weft_cfi_evaluate(&frame, bytes, n_bytes, NULL, &got);
    tap_ok(is_value == is_good && (!is_good || got == want),
           "operation 0x%02x: 0x%" PRIx64 ", wanted 0x%" PRIx64, bytes[n_bytes - 1], got, want);
}

static void test_numbers(void)
{
    evaluate(BYTES(DW_OP_lit31), true, 31);
    evaluate(BYTES(DW_OP_addr, 1, 0, 0, 0, 0, 0, 0, 0), true, 0x100001);
    evaluate(BYTES(DW_OP_const1u, 0xff), true, 0xff);
    evaluate(BYTES(DW_OP_const1s, 0xff), true, UINT64_MAX);
    evaluate(BYTES(DW_OP_const2u, 0xff, 0xff), true, 0xffff);
    evaluate(BYTES(DW_OP_const2s, 0xfe, 0xff), true, UINT64_MAX - 1);
    evaluate(BYTES(DW_OP_const4s, 0xff, 0xff, 0xff, 0xff), true, UINT64_MAX);
    evaluate(BYTES(DW_OP_const4u, 0xff, 0xff, 0xff, 0xff), true, UINT32_MAX);
    evaluate(BYTES(DW_OP_const8u, 1, 2, 0, 0, 0, 0, 0, 0), true, 0x201);
    evaluate(BYTES(DW_OP_constu, 0x80, 1), true, 128);
    evaluate(BYTES(DW_OP_constu, 0x81, 0x80, 0), true, 1); /* padded */
    evaluate(BYTES(DW_OP_consts, 0x7f), true, UINT64_MAX);
    evaluate(BYTES(DW_OP_breg7, 0x78), true, 0x6ff8);
    evaluate(BYTES(DW_OP_bregx, 7, 8), true, 0x7008);
    evaluate(BYTES(DW_OP_reg16), true, 0x1234);
    evaluate(BYTES(DW_OP_regx, 7), true, 0x7000);
    evaluate(BYTES(DW_OP_breg3, 0), false, 0); /* not known */
    evaluate(BYTES(DW_OP_call_frame_cfa), true, 0x8000);
    /* as in stubs of the PLT: rsp + 8 + ((rip & 15) >= 11) << 3 */
    evaluate(BYTES(DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
                   DW_OP_lit3, DW_OP_shl, DW_OP_plus),
             true, 0x7008);
}

static void test_operations(void)
{
    evaluate(BYTES(DW_OP_lit1, DW_OP_lit2, DW_OP_swap), true, 1);
    evaluate(BYTES(DW_OP_lit1, DW_OP_lit2, DW_OP_over), true, 1);
    evaluate(BYTES(DW_OP_lit1, DW_OP_lit2, DW_OP_drop), true, 1);
    evaluate(BYTES(DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot), true, 2);
    evaluate(BYTES(DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_pick, 2), true, 1);
    evaluate(BYTES(DW_OP_lit5, DW_OP_dup, DW_OP_mul), true, 25);
    evaluate(BYTES(DW_OP_lit5, DW_OP_neg, DW_OP_abs), true, 5);
    evaluate(BYTES(DW_OP_lit0, DW_OP_not), true, UINT64_MAX);
    evaluate(BYTES(DW_OP_lit5, DW_OP_plus_uconst, 3), true, 8);
    evaluate(BYTES(DW_OP_lit5, DW_OP_lit7, DW_OP_minus), true, (uint64_t)-2);
    evaluate(BYTES(DW_OP_const1s, 0xf7, DW_OP_lit2, DW_OP_div), true, (uint64_t)-4);
    evaluate(BYTES(DW_OP_lit9, DW_OP_lit4, DW_OP_mod), true, 1);
    evaluate(BYTES(DW_OP_lit9, DW_OP_lit0, DW_OP_div), false, 0);
    evaluate(BYTES(DW_OP_lit9, DW_OP_lit0, DW_OP_mod), false, 0);
    evaluate(BYTES(DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_const1s, 0xff, DW_OP_div), true,
             UINT64_C(1) << 63);
    evaluate(BYTES(DW_OP_lit12, DW_OP_lit10, DW_OP_xor), true, 6);
    evaluate(BYTES(DW_OP_lit12, DW_OP_lit10, DW_OP_or), true, 14);
    evaluate(BYTES(DW_OP_const1s, 0xf0, DW_OP_lit2, DW_OP_shra), true, (uint64_t)-4);
    evaluate(BYTES(DW_OP_const1s, 0xf0, DW_OP_const1u, 60, DW_OP_shr), true, 15);
    evaluate(BYTES(DW_OP_lit1, DW_OP_const1u, 64, DW_OP_shl), true, 0);
    evaluate(BYTES(DW_OP_const1s, 0xff, DW_OP_lit0, DW_OP_lt), true, 1);
    evaluate(BYTES(DW_OP_lit1, DW_OP_lit1, DW_OP_ne), true, 0);
    evaluate(BYTES(DW_OP_breg7, 0, DW_OP_deref), true, 0x7000);
    evaluate(BYTES(DW_OP_breg16, 0, DW_OP_deref_size, 1), true, 0x34);
    evaluate(BYTES(DW_OP_breg16, 0, DW_OP_deref_size, 9), false, 0);
    evaluate(BYTES(DW_OP_lit0, DW_OP_deref), false, 0);
    evaluate(BYTES(DW_OP_lit1, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit2), true, 1);
    evaluate(BYTES(DW_OP_lit1, DW_OP_skip, 1, 0, DW_OP_lit2), true, 1);
    evaluate(BYTES(DW_OP_nop, DW_OP_skip, 0xfc, 0xff), false, 0); /* for ever */
    evaluate(BYTES(DW_OP_skip, 0, 0x80), false, 0);
    evaluate(BYTES(DW_OP_lit1, DW_OP_dup, DW_OP_skip, 0xfc, 0xff), false,
             0); /* no stack is so deep */
    evaluate(BYTES(DW_OP_drop), false, 0);
    evaluate(BYTES(DW_OP_piece, 8), false, 0);
    evaluate(BYTES(DW_OP_const8u, 1), false, 0);
}

/* ---- the store --------------------------------------------------------------------------------
 */

/* All functions of the C library, in much less memory than their rows take. */
static void test_store(void)
{
    const struct weft_cfi_program program = { .path = "/proc/self/exe" };
    struct weft_cfi_store *small = weft_cfi_store_new(0), *large = weft_cfi_store_new(64 << 20);
    uint64_t n_found = 0, n_wrong = 0, n_most = 0;
    for (uint32_t round = 0; round < 3; round++)
        for (uint64_t at = 0; at < 1 << 18; at += 7) {
            const struct weft_cfi_program own = { round, program.path, NULL };
            struct weft_cfi_found a, b;
            n_wrong += !weft_cfi_store_find(small, &own, at, &a);
            n_wrong += !weft_cfi_store_find(large, &program, at, &b);
            n_wrong += !a.row != !b.row || a.address != b.address ||
                       (a.row && memcmp(&a.row->cfa, &b.row->cfa, sizeof a.row->cfa) != 0);
            n_found += a.row != NULL;
            n_most = weft_cfi_store_bytes(small) > n_most ? weft_cfi_store_bytes(small) : n_most;
        }
    tap_ok(n_found > 100 && n_wrong == 0, "%" PRIu64 " places, %" PRIu64 " wrong", n_found,
           n_wrong);
    tap_ok(n_most < 3 << 20, "held at most %" PRIu64 " bytes", n_most);
    const struct weft_cfi_program none = { 9, "/nonexistent", NULL };
    struct weft_cfi_found found;
    tap_ok(weft_cfi_store_find(small, &none, 0, &found) && !found.row, "no such file");
    weft_cfi_store_free(small);
    weft_cfi_store_free(large);
}

/* ---- tables of linkers -------------------------------------------------------------------------
 */

enum { PROGRAM_BYTES = 0x4000, FRAMES_AT = 0x200, TABLE_AT = 0x1400, TABLE_HEAD = 16 };

/* A program without sections: one function at BEGIN, and a table that is said to have `n_entries`,
 * in a part of `n_table` bytes; all that are there are of the function. `n_loaded` bytes are said
 * to be loaded. */
static int write_program(uint64_t n_loaded, uint64_t n_table, uint64_t n_entries)
{
    static uint8_t bytes[PROGRAM_BYTES];
    const int32_t frames = FRAMES_AT - TABLE_AT - 4;
    const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
                                .e_type = ET_DYN,
                                .e_machine = EM_X86_64,
                                .e_version = 1,
                                .e_phoff = sizeof header,
                                .e_ehsize = sizeof header,
                                .e_phentsize = sizeof(Elf64_Phdr),
                                .e_phnum = 2 };
    const Elf64_Phdr parts[] = {
        { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = n_loaded, .p_memsz = n_loaded },
        { .p_type = PT_GNU_EH_FRAME,
          .p_offset = TABLE_AT,
          .p_vaddr = TABLE_AT,
          .p_filesz = n_table,
          .p_memsz = n_table },
    };
    /* version; the section relative to itself; a count of 8 bytes; distances of 32 bits */
    const uint8_t encodings[] = { 1, 0x1b, 0x04, 0x3b };
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, parts, sizeof parts);
    memcpy(bytes + TABLE_AT, encodings, sizeof encodings);
    memcpy(bytes + TABLE_AT + 4, &frames, sizeof frames);
    memcpy(bytes + TABLE_AT + 8, &n_entries, sizeof n_entries);
    n_made = 0;
    put_cie(false, "zR");
    const int32_t entry[] = { BEGIN - TABLE_AT, FRAMES_AT + (int32_t)n_made - TABLE_AT };
    put_fde(false, BYTES(DW_CFA_nop));
    put_u32(0);
    memcpy(bytes + FRAMES_AT, made, n_made);
    for (size_t at = TABLE_AT + TABLE_HEAD; at <= sizeof bytes - sizeof entry; at += sizeof entry)
        memcpy(bytes + at, entry, sizeof entry);
    const int fd = memfd_create("table", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
        abort();
    return fd;
}

static bool open_program(int fd, struct weft_elf_file *file, struct weft_cfi_section *section)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return weft_elf_file_open(path, file) && weft_cfi_section_open(section, file, false);
}

/* A table that its file has no room for is none: entries are found without it. */
static void test_long_table(void)
{
    static const uint64_t counts[][2] = {
        { TABLE_HEAD + 8 * 64, 64 }, /* all there */
        { UINT64_C(1) << 62, UINT64_C(1) << 58 },
        { UINT64_MAX, UINT64_MAX / 8 },
        { UINT64_C(1) << 33, UINT64_C(1) << 29 },
        { PROGRAM_BYTES - TABLE_AT, PROGRAM_BYTES },
    };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct weft_elf_file file;
        struct weft_cfi_section section;
        uint64_t offset = 0;
        const int fd = write_program(k ? counts[k][0] : PROGRAM_BYTES, counts[k][0], counts[k][1]);
        const bool is_open = open_program(fd, &file, &section);
        const bool is_found =
            is_open && weft_cfi_section_seek(&section, BEGIN + 1, 1 << 20, &offset);
        tap_ok(is_found && !weft_cfi_section_nomem(&section),
               "%" PRIu64 " entries, said to be in %" PRIu64 " bytes", counts[k][1], counts[k][0]);
        tap_ok(is_found && (section.search.n_entries > 0) == (k == 0), "which is so, or no table");
        if (is_open)
            weft_cfi_section_fini(&section);
        weft_elf_file_close(&file);
        (void)close(fd);
    }
}

/* A file that is cut when it is open: of its table not a part is used, and entries are found. */
static void test_cut_table(void)
{
    struct weft_elf_file file;
    struct weft_cfi_section section;
    uint64_t offset = 0;
    const uint64_t n_block = 8 * 512, n_left = TABLE_AT + TABLE_HEAD + n_block;
    const int fd = write_program(n_left, TABLE_HEAD + 2 * n_block, 1024);
    const bool is_open = open_program(fd, &file, &section);
    tap_ok(is_open && section.search.n_entries == 1024, "a table of two blocks");
    tap_ok(ftruncate(fd, (off_t)n_left) == 0, "is cut behind its first");
    for (unsigned round = 0; is_open && round < 2; round++) {
        const bool is_found = weft_cfi_section_seek(&section, BEGIN + 1, 1 << 20, &offset);
        struct weft_cfi_function *function =
            is_found ? weft_cfi_section_compile(&section, offset) : NULL;
        tap_ok(function && !weft_cfi_section_nomem(&section), "the function is found, time %u",
               round + 1);
        free(function);
    }
    if (is_open)
        weft_cfi_section_fini(&section);
    weft_elf_file_close(&file);
    (void)close(fd);
}

int main(void)
{
    test_instructions();
    test_damage();
    test_debug_frame();
    test_limits();
    test_numbers();
    test_operations();
    test_store();
    test_long_table();
    test_cut_table();
    return tap_done();
}
