/* SPDX-License-Identifier: MIT
 *
 * Stands in for bpf.c where libbpf, clang or bpftool was missing when weft was built.
 */
#include "record/kernel/backend.h"

static enum weft_code open_none(const struct weft_kernel_opts *opts, void **opened,
                                struct weft_kernel_gaps *gaps, struct weft_err *err)
{
    (void)opts, (void)err;
    *opened = NULL;
    weft_kernel_gap(gaps, "wakeups with their cause, stacks of waits, network",
                    "weft was built without BPF",
                    "sudo apt-get install libbpf-dev bpftool clang-14 llvm-14, and build again");
    return WEFT_OK;
}

const struct weft_kernel_backend weft_kernel_bpf = { .name = "BPF", .open = open_none };
