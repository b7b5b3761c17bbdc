/* SPDX-License-Identifier: MIT
 *
 * The programs in the kernel: they write records of src/schema/recording.h into one ring a CPU,
 * wake no reader, and are read by polling.
 *
 * Only BTF tracepoints are used: they cost least, need no tracefs, and work where kprobes are
 * locked away. What is recorded of all threads is kept short (switches, wakings); all else looks
 * first at one word of the CPU that the switch to a thread has set.
 *
 * Time is read after room is had in the ring: a record that interrupts another one and has the
 * earlier time then always lies right behind it, where the reader puts them in order.
 */
#include "bpf_shared.h"
#include "bpf_types.h"
#include "schema/recording.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Set before the programs are loaded: what is off is not even translated. */
const volatile __u64 wait_threshold_ns;
const volatile __u32 copy_bytes;
const volatile __u32 long_bytes; /* of a copy now and then, to find what others were cut from */
const volatile __u32 sample_ns;
const volatile bool with_all;
const volatile bool with_counts;
const volatile bool with_interrupts;
const volatile bool with_results;
const volatile bool with_waits;

struct weft_bpf_cpu cpus[WEFT_BPF_CPUS];
__u64 begun_ns; /* threads started later are recorded by FORK */

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, WEFT_BPF_CPUS);
    __type(key, __u32);
    __array(
        values, struct {
            __uint(type, BPF_MAP_TYPE_RINGBUF);
            __uint(max_entries, 4096);
        });
} rings SEC(".maps");

struct thread {
    __u64 off_ns;    /* when it left the CPU to wait; 0: it did not */
    __u64 waited_ns; /* in waits longer than the threshold */
    __u64 woke_ns;   /* when it last woke others by a futex, and by which */
    __u64 woke_at;
    __u64 copied_ns; /* the last long copy of a wait; then of a sample */
    __u64 sampled_ns;
    __u64 fresh_ns; /* places are forgotten from then on after a while */
    __u64 places[WEFT_BPF_PLACES];
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct thread);
} threads SEC(".maps");

/* Processes whose threads the iterator marks. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, WEFT_BPF_TARGETS);
    __type(key, __u32);
    __type(value, __u8);
} targets SEC(".maps");

static __always_inline struct weft_bpf_cpu *this_cpu(void)
{
    return &cpus[bpf_get_smp_processor_id() & (WEFT_BPF_CPUS - 1)];
}

/* Room for a record of n_bytes, which must be a constant; NULL, and counted, when there is none. */
static __always_inline struct weft_kernel_record *reserve(struct weft_bpf_cpu *cpu, __u64 n_bytes)
{
    __u32 id = bpf_get_smp_processor_id();
    void *ring = bpf_map_lookup_elem(&rings, &id);
    struct weft_kernel_record *record = ring ? bpf_ringbuf_reserve(ring, n_bytes, 0) : NULL;

    if (with_counts)
        __sync_fetch_and_add(&cpu->made, 1);
    if (!record)
        __sync_fetch_and_add(&cpu->lost, 1);
    return record;
}

static __always_inline void fill(struct weft_kernel_record *record, __u32 tid, __u16 type, __u64 a,
                                 __u64 b)
{
    record->time_ns = bpf_ktime_get_ns();
    record->tid = tid;
    record->type = type;
    record->payload_bytes = 0;
    record->a = a;
    record->b = b;
}

static __always_inline void submit(struct weft_kernel_record *record)
{
    bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* A record without a payload. */
static __always_inline void emit(struct weft_bpf_cpu *cpu, __u32 tid, __u16 type, __u64 a, __u64 b)
{
    struct weft_kernel_record *record = reserve(cpu, sizeof *record);

    if (!record)
        return;
    fill(record, tid, type, a, b);
    submit(record);
}

static __always_inline __u32 current_tid(void)
{
    return ((struct task_struct *)bpf_get_current_task_btf())->pid;
}

static __always_inline void copy_comm(void *to, const struct task_struct *task)
{
    __builtin_memcpy(to, task->comm, 16);
}

/* ---- threads */

/* As the tracepoint prints it: the highest bit of those that are reported. */
static __always_inline __u64 reported_state(__u32 state, __u32 exit_state)
{
    __u32 bits = (state | exit_state) & 0x7f;

    if (state == 0x402) /* waits without load: idle */
        return 0x80;
    if (state & 0x9000) /* waits for a sleeping lock of the kernel, or is frozen */
        return 2;
    bits |= bits >> 1;
    bits |= bits >> 2;
    bits |= bits >> 4;
    return bits - (bits >> 1);
}

static __always_inline struct thread *thread_of(struct task_struct *task)
{
    return bpf_task_storage_get(&threads, task, 0, with_all ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* What the word of the CPU says of the thread that it now runs. */
static __always_inline __u32 arrive(struct task_struct *next, __u64 now)
{
    struct thread *thread = next->pid ? thread_of(next) : NULL;

    if (!thread)
        return 0;
    if (with_waits && thread->off_ns) {
        const __u64 waited_ns = now - thread->off_ns;

        thread->off_ns = 0;
        if (waited_ns >= wait_threshold_ns)
            thread->waited_ns += waited_ns;
    }
    return WEFT_BPF_IS_TARGET | (with_waits && thread->waited_ns ? WEFT_BPF_HAS_WAITED : 0);
}

/* Of some switches to a thread (a few in a thousand where init works hard) the kernel reports
 * nothing: it must not seem to have waited until now. */
static __always_inline void leave(const struct weft_bpf_cpu *cpu, struct task_struct *prev,
                                  __u64 off_ns)
{
    const bool has_come = cpu->tid == prev->pid;
    struct thread *thread;

    if (has_come && !(off_ns && cpu->current & WEFT_BPF_IS_TARGET))
        return;
    thread = prev->pid ? thread_of(prev) : NULL;
    if (thread)
        thread->off_ns = off_ns;
}

/* Run time of the thread that leaves since it came, by its own clock; 0: not known, as the switch
 * to it was not seen. An idle task has no such clock. */
static __always_inline __u64 ran_since(struct weft_bpf_cpu *cpu, const struct task_struct *prev,
                                       const struct task_struct *next)
{
    const __u64 ran_ns = cpu->tid == prev->pid ? prev->se.sum_exec_runtime - cpu->ran_ns : 0;

    cpu->ran_ns = next->se.sum_exec_runtime;
    return prev->pid ? ran_ns : 0;
}

/* The stack of a thread that has waited long is recorded as soon as it runs: the wakeup of the
 * ring, which no reader waits for, interrupts the CPU when the switch is over (on_irq_work). So no
 * other switch, and no call, costs anything. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool is_preempted, struct task_struct *prev, struct task_struct *next,
             unsigned int prev_state)
{
    struct weft_bpf_cpu *cpu = this_cpu();
    struct weft_kernel_record *record = reserve(cpu, sizeof *record);
    const __u64 state = is_preempted ? 0 : reported_state(prev_state, prev->exit_state);
    const __u64 now = bpf_ktime_get_ns();

    if (with_waits)
        leave(cpu, prev, state ? now : 0);
    const __u64 ran_ns = ran_since(cpu, prev, next);

    cpu->current = arrive(next, now);
    cpu->tid = next->pid;
    if (!record)
        return 0;
    record->time_ns = now;
    record->tid = prev->pid;
    record->type = WEFT_KERNEL_SWITCH;
    record->payload_bytes = 0;
    record->a = (__u32)next->pid | state << 32 | ran_ns >> 31 << WEFT_SWITCH_RAN_HIGH_SHIFT;
    record->b = (__u32)next->tgid | (__u64)is_preempted << 32 | ran_ns << WEFT_SWITCH_RAN_LOW_SHIFT;
    bpf_ringbuf_submit(record,
                       cpu->current & WEFT_BPF_HAS_WAITED ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
    return 0;
}

static __always_inline __u64 context_of(const struct weft_bpf_cpu *cpu)
{
    if (cpu->timer)
        return WEFT_CONTEXT_TIMER;
    if (cpu->hardirq)
        return WEFT_CONTEXT_HARDIRQ | (cpu->hardirq - 1) << WEFT_CONTEXT_NUMBER_SHIFT;
    if (cpu->softirq)
        return WEFT_CONTEXT_SOFTIRQ | (cpu->softirq - 1) << WEFT_CONTEXT_NUMBER_SHIFT;
    return WEFT_CONTEXT_THREAD;
}

static __always_inline int emit_waking(struct task_struct *task, __u16 type)
{
    struct weft_bpf_cpu *cpu = this_cpu();

    emit(cpu, current_tid(), type, (__u32)task->pid | (__u64)task->thread_info.cpu << 32,
         (__u32)task->tgid | context_of(cpu) << 32);
    return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
    return emit_waking(task, WEFT_KERNEL_WOKEN_NEW);
}

/* What a thread is called in the innermost namespace, and which that is; 0: it has one number only.
 */
static __always_inline __u64 inner_number(const struct task_struct *task)
{
    struct pid *pid = BPF_CORE_READ(task, thread_pid);
    const unsigned int level = BPF_CORE_READ(pid, level);
    struct upid upid = {};
    unsigned int inode = 0;

    if (level == 0 || level > 32)
        return 0;
    bpf_probe_read_kernel(&upid.nr, sizeof upid.nr, &pid->numbers[level].nr);
    bpf_probe_read_kernel(&upid.ns, sizeof upid.ns, &pid->numbers[level].ns);
    bpf_core_read(&inode, sizeof inode, &upid.ns->ns.inum);
    return (__u32)upid.nr | (__u64)inode << 32;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(on_fork, struct task_struct *task, __u64 clone_flags)
{
    struct task_struct *parent = (struct task_struct *)bpf_get_current_task_btf();
    struct weft_kernel_record *record = reserve(this_cpu(), sizeof *record + 24);

    if (bpf_task_storage_get(&threads, parent, 0, 0))
        bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!record)
        return 0;
    fill(record, parent->pid, WEFT_KERNEL_FORK, (__u32)task->pid | (__u64)task->tgid << 32,
         clone_flags);
    record->payload_bytes = 24;
    copy_comm(record + 1, task);
    *((__u64 *)(record + 1) + 2) = inner_number(task);
    submit(record);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
    struct weft_kernel_record *record = reserve(this_cpu(), sizeof *record + WEFT_BPF_PATH_BYTES);

    if (!record)
        return 0;
    fill(record, task->pid, WEFT_KERNEL_EXEC, (__u32)task->tgid | (__u64)(__u32)old_pid << 32, 0);
    __builtin_memset(record + 1, 0, WEFT_BPF_PATH_BYTES);
    const long n_bytes = bpf_probe_read_kernel_str(record + 1, WEFT_BPF_PATH_BYTES, bprm->filename);
    record->payload_bytes = n_bytes > 0 ? (n_bytes + 7) & ~7 : 0;
    submit(record);
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
    emit(this_cpu(), task->pid, WEFT_KERNEL_EXIT, (__u32)task->tgid, (__u32)task->exit_code);
    return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *comm)
{
    struct weft_kernel_record *record = reserve(this_cpu(), sizeof *record + 16);

    if (!record)
        return 0;
    fill(record, task->pid, WEFT_KERNEL_RENAMED, 0, 0);
    record->payload_bytes = 16;
    __builtin_memset(record + 1, 0, 16);
    bpf_probe_read_kernel_str(record + 1, 16, comm);
    submit(record);
    return 0;
}

/* ---- contexts */

static __always_inline void emit_interrupt(struct weft_bpf_cpu *cpu, __u16 type, __u64 context)
{
    if (with_interrupts)
        emit(cpu, current_tid(), type, context, 0);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry, int irq)
{
    struct weft_bpf_cpu *cpu = this_cpu();

    cpu->hardirq = irq + 1;
    emit_interrupt(cpu, WEFT_KERNEL_IRQ_ENTER,
                   WEFT_CONTEXT_HARDIRQ | irq << WEFT_CONTEXT_NUMBER_SHIFT);
    return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit, int irq)
{
    struct weft_bpf_cpu *cpu = this_cpu();

    cpu->hardirq = 0;
    emit_interrupt(cpu, WEFT_KERNEL_IRQ_EXIT,
                   WEFT_CONTEXT_HARDIRQ | irq << WEFT_CONTEXT_NUMBER_SHIFT);
    return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector)
{
    struct weft_bpf_cpu *cpu = this_cpu();

    cpu->softirq = vector + 1;
    emit_interrupt(cpu, WEFT_KERNEL_IRQ_ENTER,
                   WEFT_CONTEXT_SOFTIRQ | vector << WEFT_CONTEXT_NUMBER_SHIFT);
    return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vector)
{
    struct weft_bpf_cpu *cpu = this_cpu();

    cpu->softirq = 0;
    emit_interrupt(cpu, WEFT_KERNEL_IRQ_EXIT,
                   WEFT_CONTEXT_SOFTIRQ | vector << WEFT_CONTEXT_NUMBER_SHIFT);
    return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_entry)
{
    struct weft_bpf_cpu *cpu = this_cpu();

    cpu->timer = 1;
    emit_interrupt(cpu, WEFT_KERNEL_IRQ_ENTER, WEFT_CONTEXT_TIMER);
    return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_exit)
{
    struct weft_bpf_cpu *cpu = this_cpu();

    cpu->timer = 0;
    emit_interrupt(cpu, WEFT_KERNEL_IRQ_EXIT, WEFT_CONTEXT_TIMER);
    return 0;
}

/* ---- stacks */

static __always_inline void copy_registers(__u64 *to, const struct pt_regs *regs)
{
    to[0] = regs->ip;
    to[1] = regs->sp;
    to[2] = regs->bp;
    to[3] = regs->r8;
    to[4] = regs->r9;
    to[5] = regs->r10;
    to[6] = regs->r11;
    to[7] = regs->r12;
    to[8] = regs->r13;
    to[9] = regs->r14;
    to[10] = regs->r15;
    to[11] = regs->ax;
    to[12] = regs->bx;
    to[13] = regs->cx;
    to[14] = regs->dx;
    to[15] = regs->si;
    to[16] = regs->di;
}

enum {
    PLACES_NS = 1000000000,   /* in which a thread's stack is not copied whole at a place again */
    WAITS_APART_NS = 5000000, /* of one thread: at most so often */
    SAMPLES_APART_NS = 25000000,
};

/* A copy that is too short loses the outer frames, and a long one of each wait is too much to
 * write. Outer frames stay the same for long: those of long copies complete the short ones
 * (stacks.c). So a thread's stack is copied whole where it has not waited lately. */
static __always_inline bool wants_whole(struct task_struct *task, const struct pt_regs *regs,
                                        __u64 kind)
{
    struct thread *thread = long_bytes > copy_bytes ? thread_of(task) : NULL;
    const __u64 place = regs->sp ^ regs->ip << 16;
    const __u32 at = (regs->sp >> 4 ^ regs->ip) & (WEFT_BPF_PLACES - 1);
    const __u64 now = bpf_ktime_get_ns();

    if (!thread)
        return false;
    if ((kind & WEFT_STACK_KIND_MASK) == WEFT_STACK_SAMPLE) {
        if (now - thread->sampled_ns < SAMPLES_APART_NS)
            return false;
        thread->sampled_ns = now;
        return true;
    }
    if (now - thread->fresh_ns > PLACES_NS) {
        thread->fresh_ns = now;
        __builtin_memset(thread->places, 0, sizeof thread->places);
    }
    if (thread->places[at] == place || now - thread->copied_ns < WAITS_APART_NS)
        return false;
    thread->places[at] = place;
    thread->copied_ns = now;
    return true;
}

/* Pages of a large frame that were never written have no memory, and are zero; a piece may lie on
 * such a page and on another one. */
static __always_inline bool copy_piece(char *to, __u64 address)
{
    const __u64 n_first = 4096 - (address & 4095);

    if (bpf_probe_read_user(to, WEFT_BPF_COPY_PIECE, (void *)address) == 0)
        return true;
    if (n_first >= WEFT_BPF_COPY_PIECE)
        return false;
    const __u64 n_before = n_first & (WEFT_BPF_COPY_PIECE - 1);
    const bool has_before = bpf_probe_read_user(to, n_before, (void *)address) == 0;

    return bpf_probe_read_user(to + n_before, WEFT_BPF_COPY_PIECE - n_before,
                               (void *)(address + n_before)) == 0 ||
           has_before;
}

static __always_inline void emit_copy_of(struct weft_bpf_cpu *cpu, struct task_struct *task,
                                         struct pt_regs *regs, __u64 kind, __u32 most_bytes)
{
    const __u64 head_bytes = sizeof(struct weft_kernel_record) + WEFT_STACK_COPY_REGISTERS * 8;
    struct weft_kernel_record *record =
        reserve(cpu, head_bytes + most_bytes + WEFT_BPF_COPY_PIECE); /* copy_piece is bounded so */

    if (!record)
        return;
    fill(record, task->pid, WEFT_KERNEL_STACK_COPY, kind, task->tgid);
    copy_registers((__u64 *)(record + 1), regs);
    __u32 n_bytes = 0;
#pragma unroll
    for (__u32 i = 0; i < WEFT_BPF_COPY_PIECES; i++) {
        const __u32 at = i * WEFT_BPF_COPY_PIECE;

        if (at + WEFT_BPF_COPY_PIECE <= most_bytes &&
            copy_piece((char *)record + head_bytes + at, regs->sp + at))
            n_bytes = at + WEFT_BPF_COPY_PIECE;
    }
    record->payload_bytes = WEFT_STACK_COPY_REGISTERS * 8 + n_bytes;
    submit(record);
}

static __noinline int emit_copy(__u64 kind)
{
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    struct weft_bpf_cpu *cpu = this_cpu();

    if (wants_whole(task, regs, kind))
        emit_copy_of(cpu, task, regs, kind, long_bytes);
    else
        emit_copy_of(cpu, task, regs, kind, copy_bytes);
    return 0;
}

/* Does a call return to this address? */
static __always_inline bool is_returned_to(__u64 address)
{
    __u8 bytes[8];

    if (bpf_probe_read_user(bytes, sizeof bytes, (void *)(address - sizeof bytes)) != 0)
        return false;
    if (bytes[3] == 0xe8)
        return true;
#pragma unroll
    for (int at = 1; at < 7; at++) /* ff /2, with more or less of an address */
        if (at != 3 && bytes[at] == 0xff && (bytes[at + 1] & 0x38) == 0x10)
            return true;
    return false;
}

/* Where code makes no frames, its frame pointer is any number: the chain is short, or leads to what
 * no call returns to. */
static __always_inline bool is_plausible(const __u64 *frames, __u64 n_frames)
{
    const __u64 last = frames[(n_frames - 1) & 127];

    return n_frames >= WEFT_BPF_FRAMES_NEEDED && last >= 4096 && last < 1ULL << 47 &&
           is_returned_to(frames[1]) && is_returned_to(frames[2]);
}

/* The user's stack of the current thread. */
static __always_inline void emit_stack(void *ctx, struct weft_bpf_cpu *cpu,
                                       struct task_struct *task, __u64 kind)
{
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    struct weft_kernel_record *record =
        reserve(cpu, sizeof *record + (2 + WEFT_BPF_FRAMES) * sizeof(__u64));

    if (!record)
        return;
    fill(record, task->pid, WEFT_KERNEL_STACK, kind | WEFT_STACK_HAS_TOP, task->tgid);
    __u64 *words = (__u64 *)(record + 1);
    words[0] = 0;
    bpf_probe_read_user(words, sizeof *words, (void *)regs->sp);
    const long n_bytes =
        bpf_get_stack(ctx, words + 1, WEFT_BPF_FRAMES * sizeof *words, BPF_F_USER_STACK);

    if (n_bytes <= 0 && kind & WEFT_STACK_IN_KERNEL) { /* its user's side is gone, or unreadable */
        record->payload_bytes = sizeof *words;
        submit(record);
        return;
    }
    if (n_bytes <= 0 || (copy_bytes && !is_plausible(words + 1, n_bytes / sizeof *words))) {
        if (with_counts)
            __sync_fetch_and_add(&cpu->made, -1);
        bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
        if (n_bytes > 0) /* else it has no user's side any more */
            emit_copy(kind);
        return;
    }
    record->payload_bytes = sizeof *words + n_bytes;
    submit(record);
}

/* As the kernel hands it to programs of perf events; the segment of code has the mode. */
struct bpf_perf_event_data {
    unsigned long registers[21];
};

enum { CODE_SEGMENT = 17, SEGMENT_USER = 3 };

static __always_inline void emit_kernel_frames(void *ctx, struct weft_bpf_cpu *cpu,
                                               const struct task_struct *task)
{
    const __u64 n_most = WEFT_BPF_KERNEL_FRAMES * sizeof(__u64);
    struct weft_kernel_record *record = reserve(cpu, sizeof *record + n_most);

    if (!record)
        return;
    fill(record, task->pid, WEFT_KERNEL_FRAMES, 0, 0);
    const long n_bytes = bpf_get_stack(ctx, record + 1, n_most, 0);

    record->payload_bytes = n_bytes > 0 ? n_bytes : 0;
    submit(record);
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();

    if (!task->pid || task->flags & 0x00200000 /* a thread of the kernel */ || !thread_of(task))
        return 0;
    struct weft_bpf_cpu *cpu = this_cpu();

    cpu->current |= WEFT_BPF_IS_TARGET; /* it may have become one since it was switched to */
    const bool is_user = (ctx->registers[CODE_SEGMENT] & SEGMENT_USER) == SEGMENT_USER;

    if (!is_user)
        emit_kernel_frames(ctx, cpu, task);
    emit_stack(ctx, cpu, task,
               WEFT_STACK_SAMPLE | (is_user ? WEFT_STACK_IN_USER : WEFT_STACK_IN_KERNEL) |
                   (__u64)sample_ns << 32);
    return 0;
}

static __always_inline void emit_call(struct weft_bpf_cpu *cpu, struct task_struct *task,
                                      __u64 waited_ns, enum weft_kernel_call kind)
{
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    struct weft_kernel_record *record = reserve(cpu, sizeof *record + 4 * sizeof(__u64));

    if (!record)
        return;
    fill(record, task->pid, WEFT_KERNEL_SYSCALL, (__u32)regs->orig_ax | (__u64)kind << 32,
         waited_ns);
    __u64 *words = (__u64 *)(record + 1);
    words[0] = kind == WEFT_CALL_RETURNED ? regs->ax : 0;
    words[1] = regs->di;
    words[2] = regs->si;
    words[3] = regs->dx;
    record->payload_bytes = 4 * sizeof *words;
    submit(record);
}

/* What is recorded of a thread that has waited: the call that it waited in, unless that was a page
 * fault, and its stack. */
static __noinline int emit_wait(void *ctx, bool has_returned)
{
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    const bool is_in_call = (long)regs->orig_ax >= 0;
    struct weft_bpf_cpu *cpu = this_cpu();

    if (with_results && is_in_call && !has_returned)
        return 0; /* when it returns */
    struct thread *thread = thread_of(task);
    cpu->current = WEFT_BPF_IS_TARGET;
    if (!thread)
        return 0;
    if (is_in_call)
        emit_call(cpu, task, thread->waited_ns,
                  has_returned ? WEFT_CALL_RETURNED : WEFT_CALL_WAITED);
    thread->waited_ns = 0;
    emit_stack(ctx, cpu, task, is_in_call ? WEFT_STACK_WAIT : WEFT_STACK_FAULT);
    return 0;
}

SEC("tp_btf/irq_work_entry")
int on_irq_work(struct bpf_raw_tracepoint_args *ctx)
{
    if (!(this_cpu()->current & WEFT_BPF_HAS_WAITED))
        return 0;
    return emit_wait(ctx, false);
}

SEC("tp_btf/sys_exit")
int on_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
    if (!(this_cpu()->current & WEFT_BPF_HAS_WAITED))
        return 0;
    return emit_wait(ctx, true);
}

/* ---- wakeups

 * Of one that ends a long wait for a futex the call is recorded that made it, and its stack: which
 * lock was released, and where. Stacks of all wakeups would cost more than the wakeups. */

enum { CALL_FUTEX = 202, SAME_CALL_NS = 20000 };

/* One call may wake many: it is recorded once. */
static __always_inline bool is_same_call(struct task_struct *waker, const struct pt_regs *regs,
                                         __u64 now)
{
    struct thread *thread = bpf_task_storage_get(&threads, waker, 0, 0);

    if (!thread)
        return true;
    const bool is_same =
        thread->woke_at == regs->di && now - thread->woke_ns < SAME_CALL_NS && (__u32)regs->dx > 1;
    thread->woke_at = regs->di;
    thread->woke_ns = now;
    return is_same;
}

static __always_inline bool ends_long_wait(const struct weft_bpf_cpu *cpu,
                                           struct task_struct *waker, struct task_struct *task)
{
    if (!(cpu->current & WEFT_BPF_IS_TARGET) || cpu->hardirq || cpu->softirq || cpu->timer)
        return false;
    const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(waker);
    if (regs->orig_ax != CALL_FUTEX)
        return false;
    const struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
    const __u64 now = bpf_ktime_get_ns();

    return thread && thread->off_ns && now - thread->off_ns >= wait_threshold_ns &&
           !is_same_call(waker, regs, now);
}

static __noinline int emit_wake(void *ctx)
{
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct weft_bpf_cpu *cpu = this_cpu();

    emit_call(cpu, task, 0, WEFT_CALL_WAKES);
    emit_stack(ctx, cpu, task, WEFT_STACK_WAKE);
    return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
    struct task_struct *waker = (struct task_struct *)bpf_get_current_task_btf();

    if (with_waits && ends_long_wait(this_cpu(), waker, task))
        emit_wake(ctx);
    return emit_waking(task, WEFT_KERNEL_WAKING);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
    struct weft_bpf_cpu *cpu = this_cpu();

    if (cpu->current & WEFT_BPF_IS_TARGET)
        emit(cpu, current_tid(), WEFT_KERNEL_FAULT, address, error_code);
    return 0;
}

/* ---- requests of block devices */

static __always_inline __u64 device_of(const struct request *request)
{
    const struct gendisk *disk = request->q->disk;

    return disk ? (__u32)disk->major << 20 | disk->first_minor : 0;
}

#define FLAG(bit, letter)                                                                          \
    do {                                                                                           \
        if (flags & 1U << bpf_core_enum_value(enum req_flag_bits, bit)) {                          \
            text |= (__u64)(letter) << n_bits;                                                     \
            n_bits += 8;                                                                           \
        }                                                                                          \
    } while (0)

/* The letters that the tracepoint shows. */
static __always_inline __u64 letters_of(__u32 flags)
{
    const __u32 op = flags & 0xff;
    __u64 text = 0;
    __u32 n_bits = 0;

    FLAG(__REQ_PREFLUSH, 'F');
    text |= (__u64)(op == 0   ? 'R'
                    : op == 1 ? 'W'
                    : op == 2 ? 'F'
                    : op == 3 ? 'D'
                    : op == 5 ? 'E'
                              : 'N')
            << n_bits;
    n_bits += 8;
    FLAG(__REQ_FUA, 'F');
    FLAG(__REQ_RAHEAD, 'A');
    FLAG(__REQ_SYNC, 'S');
    FLAG(__REQ_META, 'M');
    return text;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request *request)
{
    struct weft_kernel_record *record = reserve(this_cpu(), sizeof *record + sizeof(__u64));

    if (!record)
        return 0;
    fill(record, current_tid(), WEFT_KERNEL_IO_ISSUE,
         device_of(request) | (__u64)request->__data_len << 32, request->__sector);
    record->payload_bytes = sizeof(__u64);
    *(__u64 *)(record + 1) = letters_of(request->cmd_flags);
    submit(record);
    return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete, struct request *request, int status, unsigned int n_bytes)
{
    emit(this_cpu(), current_tid(), WEFT_KERNEL_IO_DONE, device_of(request) | (__u64)n_bytes << 32,
         request->__sector);
    return 0;
}

/* ---- TCP */

static __always_inline void put_address(__u8 *to, const struct sock_common *common, bool is_local)
{
    if (common->skc_family == 10 /* AF_INET6 */) {
        __builtin_memcpy(to, is_local ? &common->skc_v6_rcv_saddr : &common->skc_v6_daddr, 16);
        return;
    }
    const __u32 address = is_local ? common->skc_rcv_saddr : common->skc_daddr;
    *(__u64 *)to = 0;
    *(__u32 *)(to + 8) = 0xffff0000;
    *(__u32 *)(to + 12) = address;
}

/* The number behind the last byte that was read. The end of a connection takes a number too, which
 * is no byte: it has been read when all has, and the connection is in a state after it. */
static __always_inline __u32 end_of_received(const struct sock *sk, const struct tcp_sock *tcp)
{
    const __u32 after_end = 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 11; /* TIME_WAIT ... CLOSING */
    const bool has_read_end = sk->sk_shutdown & 1 && tcp->copied_seq == tcp->rcv_nxt &&
                              after_end >> (sk->__sk_common.skc_state & 31) & 1;

    return tcp->copied_seq - has_read_end;
}

static __always_inline void emit_bytes(struct sock *sk, __u32 n_bytes, __u16 type)
{
    struct tcp_sock *tcp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);

    if (!tcp)
        return;
    const struct sock_common *common = &sk->__sk_common;
    const bool is_send = type == WEFT_KERNEL_SEND;
    struct weft_kernel_record *record =
        reserve(this_cpu(), sizeof *record + sizeof(struct weft_kernel_flow));
    if (!record)
        return;
    const __u32 end = is_send ? tcp->write_seq : end_of_received(sk, tcp);
    fill(record, current_tid(), type, (__u32)(end - n_bytes) | (__u64)n_bytes << 32, 0);
    record->payload_bytes = sizeof(struct weft_kernel_flow);
    struct weft_kernel_flow *flow = (struct weft_kernel_flow *)(record + 1);
    put_address(flow->source, common, is_send);
    put_address(flow->target, common, !is_send);
    const __u16 far_port = bpf_ntohs(common->skc_dport);
    flow->source_port = is_send ? common->skc_num : far_port;
    flow->target_port = is_send ? far_port : common->skc_num;
    flow->netns = common->skc_net.net->ns.inum;
    submit(record);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int n_bytes)
{
    if (n_bytes > 0)
        emit_bytes(sk, n_bytes, WEFT_KERNEL_SEND);
    return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int n_bytes, int flags)
{
    if (n_bytes > 0 && !(flags & 2 /* MSG_PEEK: the bytes stay */))
        emit_bytes(sk, n_bytes, WEFT_KERNEL_RECEIVE);
    return 0;
}

/* ---- threads that are there when recording begins */

SEC("iter/task")
int each_task(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    struct {
        struct weft_kernel_record record;
        char comm[16];
    } told;

    if (!task || task->start_time > begun_ns)
        return 0;
    told.record.time_ns = begun_ns;
    told.record.tid = task->pid;
    told.record.type = WEFT_KERNEL_TASK;
    told.record.payload_bytes = sizeof told.comm;
    told.record.a = (__u32)task->pid | (__u64)task->tgid << 32;
    told.record.b = reported_state(task->__state, task->exit_state);
    copy_comm(told.comm, task);
    bpf_seq_write(ctx->meta->seq, &told, sizeof told);
    return 0;
}

SEC("iter/task")
int mark_task(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    const __u32 tgid = task ? task->tgid : 0;

    if (task && bpf_map_lookup_elem(&targets, &tgid))
        bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    return 0;
}
