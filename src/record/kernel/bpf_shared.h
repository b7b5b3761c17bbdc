/* SPDX-License-Identifier: MIT
 *
 * What the programs in the kernel and the recorder share besides the records.
 */
#ifndef WEFT_RECORD_KERNEL_BPF_SHARED_H
#define WEFT_RECORD_KERNEL_BPF_SHARED_H

enum {
    WEFT_BPF_CPUS = 1024,     /* a power of two */
    WEFT_BPF_TARGETS = 65536, /* processes that are named to be recorded */
    WEFT_BPF_FRAMES = 127,
    WEFT_BPF_KERNEL_FRAMES = 64,
    WEFT_BPF_PATH_BYTES = 256,
    WEFT_BPF_COPY_PIECE = 1024,
    WEFT_BPF_COPY_PIECES = 56,  /* sizes of payloads have 16 bits */
    WEFT_BPF_PLACES = 8,        /* of a thread whose stack was copied whole lately */
    WEFT_BPF_FRAMES_NEEDED = 3, /* fewer: there are no frame pointers */
};

/* Bits of weft_bpf_cpu.current. */
enum {
    WEFT_BPF_IS_TARGET = 1,
    WEFT_BPF_HAS_WAITED = 2, /* longer than the threshold, and its stack is not recorded yet */
};

/* One a CPU, a cache line of its own. */
struct weft_bpf_cpu {
    unsigned int current; /* of the thread that runs */
    unsigned int hardirq; /* number + 1, 0: none */
    unsigned int softirq; /* likewise */
    unsigned int timer;   /* 1: in the function of a timer */
    unsigned long long lost;
    unsigned long long made;
    unsigned int tid; /* of the thread that came last */
    unsigned int reserved_before;
    unsigned long long ran_ns; /* run time of that thread, ever, when it came */
    unsigned int reserved[4];
};

#endif
