/* SPDX-License-Identifier: MIT
 *
 * Chooses the table of a machine's system call names. The tables themselves are generated
 * (syscall_names.c, by tools/syscalls). A number without a name gives an empty text; the caller
 * then shows the number.
 */
#include "kernel/syscalls.h"

#include "kernel/known.h"

enum kernel_abi kernel_abi_of(struct weft_str machine)
{
    if (weft_str_is_one_of(machine, "x86_64|amd64"))
        return KERNEL_ABI_X86_64;
    if (weft_str_is_one_of(machine, "i386|i486|i586|i686|x86"))
        return KERNEL_ABI_I386;
    if (weft_str_is_one_of(machine, "aarch64|arm64|riscv64|loongarch64"))
        return KERNEL_ABI_GENERIC;
    return KERNEL_ABI_UNKNOWN;
}

struct weft_str kernel_syscall_name(enum kernel_abi abi, uint64_t number)
{
    static const char *const *const own[KERNEL_ABIS] = { [KERNEL_ABI_X86_64] = kernel_calls_x86_64,
                                                         [KERNEL_ABI_I386] = kernel_calls_i386,
                                                         [KERNEL_ABI_GENERIC] =
                                                             kernel_calls_generic };
    const char *name = NULL;
    if (own[abi] && number < KERNEL_OWN_CALLS)
        name = own[abi][number];
    else if (own[abi] && number < KERNEL_CALLS)
        name = kernel_calls_common[number - KERNEL_OWN_CALLS];
    return name ? weft_str_of(name) : WEFT_STR("");
}
