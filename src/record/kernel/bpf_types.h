/* SPDX-License-Identifier: MIT
 *
 * The few structures of the Linux kernel that the programs look into, with the few members that
 * they read. Offsets are those of the running kernel: libbpf puts them in when the programs are
 * loaded (CO-RE), so that a build needs no kernel at all.
 */
#ifndef WEFT_RECORD_KERNEL_BPF_TYPES_H
#define WEFT_RECORD_KERNEL_BPF_TYPES_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct thread_info {
    __u32 cpu;
};

struct ns_common {
    unsigned int inum;
};

struct pid_namespace {
    struct ns_common ns;
};

struct upid {
    int nr;
    struct pid_namespace *ns;
};

struct pid {
    unsigned int level;
    struct upid numbers[1]; /* level + 1 of them */
};

struct sched_entity {
    __u64 sum_exec_runtime;
};

struct task_struct {
    struct thread_info thread_info;
    struct sched_entity se;
    unsigned int __state;
    int exit_state;
    int exit_code;
    int pid;
    int tgid;
    char comm[16];
    __u64 start_time;
    unsigned int flags;
    struct pid *thread_pid;
};

struct linux_binprm {
    const char *filename;
};

struct pt_regs {
    unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
    unsigned long orig_ax, ip, cs, flags, sp, ss;
};

struct in6_addr {
    union {
        __u8 u6_addr8[16];
    } in6_u;
};

struct net {
    struct ns_common ns;
};

typedef struct {
    struct net *net;
} possible_net_t;

struct sock_common {
    __be32 skc_daddr;
    __be32 skc_rcv_saddr;
    __be16 skc_dport;
    __u16 skc_num;
    unsigned short skc_family;
    volatile unsigned char skc_state;
    possible_net_t skc_net;
    struct in6_addr skc_v6_daddr;
    struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
    struct sock_common __sk_common;
    __u8 sk_shutdown;
};

struct tcp_sock {
    __u32 write_seq;
    __u32 copied_seq;
    __u32 rcv_nxt;
};

struct gendisk {
    int major;
    int first_minor;
};

struct request_queue {
    struct gendisk *disk;
};

struct request {
    struct request_queue *q;
    unsigned int cmd_flags;
    unsigned int __data_len;
    __u64 __sector;
};

struct seq_file;

struct bpf_iter_meta {
    struct seq_file *seq;
};

struct bpf_iter__task {
    union {
        struct bpf_iter_meta *meta;
    } __attribute__((aligned(8)));
    union {
        struct task_struct *task;
    } __attribute__((aligned(8)));
};

struct irqaction;
struct hrtimer;

enum req_flag_bits {
    __REQ_SYNC = 11,
    __REQ_META = 12,
    __REQ_FUA = 17,
    __REQ_PREFLUSH = 18,
    __REQ_RAHEAD = 19,
};

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
