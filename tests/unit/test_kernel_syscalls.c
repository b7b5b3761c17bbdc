/* SPDX-License-Identifier: MIT
 *
 * Names of system calls by number: some that everybody knows, and all that the headers of this
 * machine give.
 */
#include "kernel/syscalls.h"
#include "tap.h"

#include <sys/syscall.h>

static void expect(enum kernel_abi abi, uint64_t number, const char *want)
{
    const struct weft_str name = kernel_syscall_name(abi, number);
    tap_ok(weft_str_equal(name, weft_str_of(want)), "%u: call %llu is \"%s\", \"%.*s\"",
           (unsigned)abi, (unsigned long long)number, want, (int)name.n_bytes, name.bytes);
}

/* A name is that of one number. */
static void test_names(enum kernel_abi abi)
{
    unsigned n_twice = 0, n_names = 0;
    for (uint64_t a = 0; a < KERNEL_CALLS; a++) {
        const struct weft_str name = kernel_syscall_name(abi, a);
        n_names += name.n_bytes > 0;
        for (uint64_t b = 0; b < a; b++)
            n_twice += name.n_bytes > 0 && weft_str_equal(name, kernel_syscall_name(abi, b));
    }
    tap_eq_u64(n_twice, 0, "%u: %u names, none twice", (unsigned)abi, n_names);
}

int main(void)
{
    static const struct {
        enum kernel_abi abi;
        uint64_t number;
        const char *name;
    } known[] = {
        { KERNEL_ABI_X86_64, 0, "read" },
        { KERNEL_ABI_X86_64, 35, "nanosleep" },
        { KERNEL_ABI_X86_64, 202, "futex" },
        { KERNEL_ABI_X86_64, 231, "exit_group" },
        { KERNEL_ABI_X86_64, 334, "rseq" },
        { KERNEL_ABI_X86_64, 335, "" },
        { KERNEL_ABI_X86_64, 435, "clone3" },
        { KERNEL_ABI_I386, 1, "exit" },
        { KERNEL_ABI_I386, 222, "" },
        { KERNEL_ABI_I386, 240, "futex" },
        { KERNEL_ABI_I386, 422, "futex_time64" },
        { KERNEL_ABI_GENERIC, 0, "io_setup" },
        { KERNEL_ABI_GENERIC, 63, "read" },
        { KERNEL_ABI_GENERIC, 98, "futex" },
        { KERNEL_ABI_GENERIC, 115, "clock_nanosleep" },
        { KERNEL_ABI_GENERIC, 221, "execve" },
        { KERNEL_ABI_GENERIC, 260, "wait4" },
        { KERNEL_ABI_GENERIC, 424, "pidfd_send_signal" },
        { KERNEL_ABI_GENERIC, 449, "futex_waitv" },
        { KERNEL_ABI_GENERIC, 454, "futex_wake" },
        { KERNEL_ABI_GENERIC, UINT64_MAX, "" },
        { KERNEL_ABI_UNKNOWN, 0, "" },
        { KERNEL_ABI_UNKNOWN, 449, "" },
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        expect(known[k].abi, known[k].number, known[k].name);
    for (unsigned abi = KERNEL_ABI_X86_64; abi < KERNEL_ABIS; abi++)
        test_names((enum kernel_abi)abi);
    static const char *const names[] = { "x86_64", "amd64", "i686",  "aarch64",
                                         "arm64",  "",      "x86_6", "x86_641" };
    static const uint8_t abis[] = { KERNEL_ABI_X86_64,  KERNEL_ABI_X86_64,  KERNEL_ABI_I386,
                                    KERNEL_ABI_GENERIC, KERNEL_ABI_GENERIC, KERNEL_ABI_UNKNOWN,
                                    KERNEL_ABI_UNKNOWN, KERNEL_ABI_UNKNOWN };
    for (size_t k = 0; k < sizeof abis; k++)
        tap_eq_u64(kernel_abi_of(weft_str_of(names[k])), abis[k], "the machine \"%s\"", names[k]);
#if defined(__x86_64__) && !defined(__ILP32__)
    expect(KERNEL_ABI_X86_64, SYS_ppoll, "ppoll");
    expect(KERNEL_ABI_X86_64, SYS_fsync, "fsync");
    expect(KERNEL_ABI_X86_64, SYS_recvmsg, "recvmsg");
    expect(KERNEL_ABI_X86_64, SYS_epoll_pwait, "epoll_pwait");
#elif defined(__aarch64__)
    expect(KERNEL_ABI_GENERIC, SYS_ppoll, "ppoll");
    expect(KERNEL_ABI_GENERIC, SYS_fsync, "fsync");
    expect(KERNEL_ABI_GENERIC, SYS_recvmsg, "recvmsg");
#endif
    return tap_done();
}
