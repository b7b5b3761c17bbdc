/* SPDX-License-Identifier: MIT
 *
 * Stacks of a recording: this program takes its own, and knows by whom it was called.
 */
#include "ingest/recording/recording.h"
#include "recording_builder.h"
#include "recording_sink.h"
#include "tap.h"

#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

enum { STACK_BYTES = 4096, PID = 10, TID = 11, MOST_CHAIN = 32 };

static struct {
    uint64_t in_three;          /* where a call made by level_three returns to */
    uint64_t chain[MOST_CHAIN]; /* then its callers, by frame pointers */
    size_t n_chain;
    uint64_t registers[WEFT_STACK_COPY_REGISTERS];
    uint8_t stack[STACK_BYTES];
} taken;

/* The stack has what is no object. */
__attribute__((noinline, no_sanitize("address", "undefined"))) static void
take_stack(const ucontext_t *context)
{
    static const int order[WEFT_STACK_COPY_REGISTERS] = {
        REG_RIP, REG_RSP, REG_RBP, REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13,
        REG_R14, REG_R15, REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI
    };
    const uint8_t *stack = (const uint8_t *)context->uc_mcontext.gregs[REG_RSP];
    for (size_t k = 0; k < WEFT_STACK_COPY_REGISTERS; k++)
        taken.registers[k] = (uint64_t)context->uc_mcontext.gregs[order[k]];
    for (size_t k = 0; k < STACK_BYTES; k++)
        taken.stack[k] = ((const volatile uint8_t *)stack)[k];
    taken.in_three = (uint64_t)(uintptr_t)__builtin_return_address(0);
    const uint64_t *frame = (const uint64_t *)context->uc_mcontext.gregs[REG_RBP];
    for (taken.n_chain = 0; taken.n_chain < 3; frame = (const uint64_t *)(uintptr_t)frame[0])
        taken.chain[taken.n_chain++] = frame[1];
}

__attribute__((noinline)) static int level_three(int x)
{
    ucontext_t context;
    (void)getcontext(&context);
    take_stack(&context);
    return x + 1;
}

__attribute__((noinline)) static int level_two(int x)
{
    return level_three(x) + 1;
}

__attribute__((noinline)) static int level_one(int x)
{
    return level_two(x) * 2;
}

static volatile int sink;

/* ---- a recording ----------------------------------------------------------------------------- */

static void put_record(struct rb *payload, uint64_t time_ns, uint32_t tid, uint16_t type,
                       uint64_t a, uint64_t b, const struct rb *own)
{
    const struct weft_kernel_record record = { .time_ns = time_ns,
                                               .tid = tid,
                                               .type = type,
                                               .payload_bytes =
                                                   own ? (uint16_t)own->n_bytes : (uint16_t)0,
                                               .a = a,
                                               .b = b };
    rb_put(payload, &record, sizeof record);
    if (own)
        rb_put(payload, own->bytes, own->n_bytes);
}

/* As a leaf of libc, called by level_three, is recorded: its own address, what lies at the stack
 * pointer, and the chain, in which level_three is missing. */
static struct rb leaf_stack(uint64_t top)
{
    const uint64_t leaf = (uint64_t)(uintptr_t)&getpid;
    struct rb stack = { 0 };
    rb_put(&stack, &top, sizeof top);
    rb_put(&stack, &leaf, sizeof leaf);
    rb_put(&stack, taken.chain, taken.n_chain * sizeof *taken.chain);
    return stack;
}

static struct rb copied_stack(size_t n_stack)
{
    struct rb stack = { 0 };
    rb_put(&stack, taken.registers, sizeof taken.registers);
    rb_put(&stack, taken.stack, n_stack);
    return stack;
}

static void put_front(struct rb *file)
{
    static char maps[1 << 16];
    FILE *from = fopen("/proc/self/maps", "r");
    const size_t n_maps = from ? fread(maps, 1, sizeof maps - 1, from) : 0;
    if (from)
        (void)fclose(from);
    maps[n_maps] = '\0';
    rb_head(file);
    rb_clock(file, 1000, 1000, 5000);
    rb_text(file, WEFT_PIECE_PROCESS, 0, PID, 1000, "comm=prog\nparent=1\nstart_ns=1000\n");
    rb_text(file, WEFT_PIECE_MAPS, 0, PID, 1000, maps);
}

static const uint64_t ran_ns = UINT64_C(1003009) << 32;

/* A thread that leaves to wait, comes back, and tells where it was; then samples. */
static struct rb make_file(uint64_t top, size_t n_stack)
{
    const uint64_t high = UINT64_C(1) << 32;
    struct rb file = { 0 }, records = { 0 };
    struct rb leaf = leaf_stack(top), copy = copied_stack(n_stack);
    put_front(&file);
    put_record(&records, 2000, 0, WEFT_KERNEL_SWITCH, TID, PID, NULL);
    put_record(&records, 3000, TID, WEFT_KERNEL_SWITCH, 1 * high, 0, NULL);
    put_record(&records, 8000, 0, WEFT_KERNEL_SWITCH, TID, PID, NULL);
    put_record(&records, 8100, TID, WEFT_KERNEL_STACK, WEFT_STACK_WAIT | WEFT_STACK_HAS_TOP, PID,
               &leaf);
    put_record(&records, 9000, TID, WEFT_KERNEL_STACK,
               WEFT_STACK_SAMPLE | WEFT_STACK_HAS_TOP | ran_ns, PID, &leaf);
    put_record(&records, 9500, TID, WEFT_KERNEL_STACK_COPY, WEFT_STACK_SAMPLE | ran_ns, PID, &copy);
    rb_piece(&file, WEFT_PIECE_KERNEL, 0, 0, 10000, records.bytes, records.n_bytes);
    rb_text(&file, WEFT_PIECE_END, 0, 0, 10000, "ended");
    rb_fini(&records);
    rb_fini(&leaf);
    rb_fini(&copy);
    return file;
}

/* All that the sink was told; the caller frees, `file` is freed. */
static char *told(struct rb *file, const char *place)
{
    const struct weft_mapped mapped = { .bytes = file->bytes, .n_bytes = file->n_bytes };
    const struct weft_recording_opts opts = { .symbols_path = place };
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    if (weft_recording_import(&mapped, &opts, &rec.sink, NULL, &err) != WEFT_OK)
        tap_ok(false, "%s", err.text);
    char *text = rec_whole(&rec);
    rec_fini(&rec);
    rb_fini(file);
    return text;
}

static void expect(uint64_t top, size_t n_stack, const char *place, const char *words,
                   const char *name)
{
    struct rb file = make_file(top, n_stack);
    char *got = told(&file, place);
    tap_ok(strstr(got, words) != NULL, "%s: \"%s\" in \"%.3000s\"", name, words,
           strstr(got, "-- 0") ? strstr(got, "-- 0") : got);
    free(got);
}

static void test_stacks(void)
{
    /* Within its first instruction: no call returns to there, and none ends just before. */
    const uint64_t entry = (uint64_t)(uintptr_t)&level_two + 1;
    expect(taken.in_three, STACK_BYTES, "/", "-- 0\nsample main;level_one;level_two;level_three;",
           "a wait's stack, with the caller of the leaf");
    expect(taken.in_three, STACK_BYTES, "/", "getpid [wait] 0 @2000 \nswitch @2000 cpu 0 next 1",
           "it is told where the wait began");
    expect(taken.in_three, STACK_BYTES, "/", "getpid [cpu-clock] 1003009 @8000",
           "a sample, with the time it stands for");
    expect(taken.in_three, STACK_BYTES, "/",
           ";main;level_one;level_two;level_three [cpu-clock] 1003009 @8500", "a walk over a copy");
    expect(taken.in_three, 16, "/", "sample level_three [cpu-clock] 1003009 @8500",
           "a copy that is too short");
    expect(taken.in_three, 16, "/", "note not_kept 1 (stacks truncated: longer than their copies",
           "is noted");
    expect(entry, STACK_BYTES, "/", "sample main;level_one;level_two;__getpid [wait]",
           "a word that no call returns to is no caller");
    expect(8, STACK_BYTES, "/", "sample main;level_one;level_two;__getpid [wait]",
           "nor is one that is nowhere");
    expect(taken.in_three, STACK_BYTES, NULL, "libc.so.6+0x", "programs that nobody vouches for");
}

/* A sample in the kernel, after the kernel's side of thread `side_tid`, and one in user mode. */
static struct rb kernel_file(uint32_t side_tid, const char *names)
{
    const uint64_t frames[] = { UINT64_C(0xffffffff81000010), UINT64_C(0xffffffff81000110) };
    struct rb file = { 0 }, records = { 0 }, side = { 0 };
    struct rb leaf = leaf_stack(taken.in_three);
    put_front(&file);
    rb_put(&side, frames, sizeof frames);
    put_record(&records, 2000, 0, WEFT_KERNEL_SWITCH, TID, PID, NULL);
    put_record(&records, 8990, side_tid, WEFT_KERNEL_FRAMES, 0, 0, &side);
    put_record(&records, 9000, TID, WEFT_KERNEL_STACK,
               WEFT_STACK_SAMPLE | WEFT_STACK_HAS_TOP | WEFT_STACK_IN_KERNEL | ran_ns, PID, &leaf);
    put_record(&records, 9500, TID, WEFT_KERNEL_STACK,
               WEFT_STACK_SAMPLE | WEFT_STACK_HAS_TOP | WEFT_STACK_IN_USER | ran_ns, PID, &leaf);
    put_record(&records, 9900, TID, WEFT_KERNEL_SWITCH,
               UINT64_C(1) << 32 | UINT64_C(5) << WEFT_SWITCH_RAN_HIGH_SHIFT,
               UINT64_C(7) << WEFT_SWITCH_RAN_LOW_SHIFT, NULL);
    rb_piece(&file, WEFT_PIECE_KERNEL, 0, 0, 10000, records.bytes, records.n_bytes);
    rb_text(&file, WEFT_PIECE_KERNEL_NAMES, 0, 0, 10000, names);
    rb_text(&file, WEFT_PIECE_END, 0, 0, 10000, "ended");
    rb_fini(&records);
    rb_fini(&side);
    rb_fini(&leaf);
    return file;
}

static void expect_kernel(uint32_t side_tid, const char *names, const char *words, const char *name)
{
    struct rb file = kernel_file(side_tid, names);
    char *got = told(&file, "/");
    tap_ok(strstr(got, words) != NULL, "%s: \"%s\" in \"%.3000s\"", name, words,
           strstr(got, "-- 0") ? strstr(got, "-- 0") : got);
    free(got);
}

static void test_kernel_side(void)
{
    static const char names[] = "ffffffff81000010 read_zero\nffffffff81000110 ksys_read\n";
    static const char bad[] = "81000010\n \nxyz a\nffffffff81000110 \nffffffffffffffffff b\n";
    expect_kernel(TID, names, "getpid;ksys_read;read_zero [cpu-clock] 1003009 in kernel @8000",
                  "the kernel's side, innermost last");
    expect_kernel(TID, names, "getpid [cpu-clock] 1003009 in user @8500",
                  "a sample in user mode has none");
    expect_kernel(TID + 64, names, "getpid [cpu-clock] 1003009 in kernel @8000",
                  "nor has that of another thread");
    expect_kernel(TID, bad, "getpid;[kernel] [cpu-clock] 1003009 in kernel @8000",
                  "names that are not recorded are one frame");
    expect_kernel(TID, names, "switch @8900 cpu 0 next 1 state 1 ran 10737418247\n",
                  "the run time of a thread that leaves, of more than 31 bits");
}

/* Whatever the records hold, reading ends. */
static void test_damage(void)
{
    uint64_t state = tap_seed(5);
    const uint64_t kinds[] = { WEFT_STACK_WAIT, WEFT_STACK_SAMPLE, WEFT_STACK_FAULT };
    unsigned n_wrong = 0;
    for (unsigned round = 0; round < 60; round++) {
        struct rb file = { 0 }, records = { 0 }, stack = copied_stack(512);
        put_front(&file);
        for (unsigned k = 0; k < 8; k++) {
            stack.n_bytes = tap_random(&state) % (stack.n_bytes + 1);
            for (size_t i = 0; i < stack.n_bytes && k > 0; i += 1 + tap_random(&state) % 16)
                stack.bytes[i] = (uint8_t)tap_random(&state);
            put_record(&records, 1000 * k, TID, WEFT_KERNEL_STACK + tap_random(&state) % 2,
                       kinds[tap_random(&state) % 3] | (tap_random(&state) % 2) << 8, PID, &stack);
            stack.n_bytes = sizeof taken.registers + 512;
        }
        rb_piece(&file, WEFT_PIECE_KERNEL, 0, 0, 10000, records.bytes, records.n_bytes);
        char *got = told(&file, "/");
        n_wrong += strstr(got, "begin weft record") == NULL;
        free(got);
        rb_fini(&records);
        rb_fini(&stack);
    }
    tap_eq_u64(n_wrong, 0, "stacks of any content and length");
}

int main(void)
{
    sink = level_one(sink); /* what is not known is not cloned for */
    test_stacks();
    test_kernel_side();
    test_damage();
    return tap_done();
}

#else

int main(void)
{
    tap_ok(true, "stacks are walked on x86-64 only");
    return tap_done();
}

#endif
