/* SPDX-License-Identifier: MIT
 *
 * System calls that a trace contains by number (raw_syscalls): names depend on the machine that
 * recorded. A table of our own is smaller than a library, and has other machines than this one.
 */
#ifndef WEFT_KERNEL_SYSCALLS_H
#define WEFT_KERNEL_SYSCALLS_H

#include "base/str.h"

#include <stdint.h>

/* Whose numbers. Programs of 32 bits on a machine of 64 use others, which no trace
 * distinguishes. */
enum kernel_abi {
    KERNEL_ABI_UNKNOWN,
    KERNEL_ABI_X86_64,
    KERNEL_ABI_I386,
    KERNEL_ABI_GENERIC, /* aarch64, riscv64, loongarch64 */
    KERNEL_ABIS,
};

enum {
    KERNEL_OWN_CALLS = 424, /* of each; the numbers that follow are those of all */
    KERNEL_COMMON_CALLS = 88,
    KERNEL_CALLS = KERNEL_OWN_CALLS + KERNEL_COMMON_CALLS,
};

/* Of a machine as uname prints it ("x86_64", "i686", "aarch64"). */
enum kernel_abi kernel_abi_of(struct weft_str machine);

/* The name of a call, empty: none is known. Static. */
struct weft_str kernel_syscall_name(enum kernel_abi abi, uint64_t number);

/* Names by number, NULL: none (syscall_names.c). */
extern const char *const kernel_calls_x86_64[KERNEL_OWN_CALLS];
extern const char *const kernel_calls_i386[KERNEL_OWN_CALLS];
extern const char *const kernel_calls_generic[KERNEL_OWN_CALLS];
extern const char *const kernel_calls_common[KERNEL_COMMON_CALLS];

#endif
