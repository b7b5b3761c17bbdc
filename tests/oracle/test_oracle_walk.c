/* SPDX-License-Identifier: MIT
 *
 * Stacks of real programs, copied at random moments, walked by ours and by libdw (libdwfl, in one
 * thread and without a limit on memory): the same frames.
 */
#include "symbols/walk.h"
#include "tap.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    COPIES = 150, /* of each program */
    COPY_BYTES = 16384,
    MOST_PARTS = 512,
    MOST_FRAMES = 256, /* of libdw */
    TIMED_ROUNDS = 20,
    FIRST_US = 30000, /* a program starts */
};

struct part {
    uint64_t begin, end, file_off;
    char path[256];
};

/* A copy, and what libdw makes of it. */
struct copy {
    uint64_t registers[WEFT_WALK_REGISTERS];
    uint8_t bytes[COPY_BYTES];
    size_t n_bytes;
    uint64_t frames[MOST_FRAMES];
    size_t n_frames;
};

static struct copy copies[COPIES];
static struct part parts[MOST_PARTS];
static size_t n_parts;

/* ---- the program ------------------------------------------------------------------------------
 */

static volatile uint64_t n_alarms, n_compared;

/* Works for a while, so that it is met while it interrupts others. */
static void on_alarm(int signal)
{
    (void)signal;
    for (unsigned k = 0; k < 2000; k++)
        n_alarms += k;
}

static int compare_words(const void *a, const void *b)
{
    n_compared++;
    return memcmp(a, b, sizeof(uint64_t));
}

__attribute__((noinline)) static uint64_t recurse(uint64_t n)
{
    uint64_t room[64];
    for (size_t k = 0; k < 64; k++)
        room[k] = n * k * 2654435761U;
    if (n > 0)
        room[n % 64] += recurse(n - 1);
    qsort(room, 64, sizeof *room, compare_words);
    return room[0];
}

/* This program: signals that interrupt anything, calls back from the C library, recursion. */
static _Noreturn void be_own_program(void)
{
    const struct itimerval often = { { 0, 200 }, { 0, 200 } };
    (void)signal(SIGALRM, on_alarm);
    (void)setitimer(ITIMER_REAL, &often, NULL);
    for (uint64_t n = 0;; n++)
        n_compared += recurse(n % 40);
}

/* argv NULL: this program. */
static pid_t start(char *const argv[])
{
    const pid_t child = fork();
    if (child != 0)
        return child;
    if (!argv)
        be_own_program();
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(null, STDERR_FILENO);
    (void)execvp(argv[0], argv);
    _exit(127);
}

static void read_parts(pid_t pid)
{
    char path[64], line[512];
    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "r");
    n_parts = 0;
    while (file && fgets(line, sizeof line, file) && n_parts < MOST_PARTS) {
        struct part *part = &parts[n_parts];
        char mode[8];
        n_parts += sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s",
                          &part->begin, &part->end, mode, &part->file_off, part->path) == 5 &&
                   mode[2] == 'x';
    }
    if (file)
        (void)fclose(file);
}

static bool take_copy(pid_t pid, struct copy *copy)
{
    struct user_regs_struct own;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &own) != 0)
        return false;
    const uint64_t registers[WEFT_WALK_REGISTERS] = { own.rax, own.rdx, own.rcx, own.rbx, own.rsi,
                                                      own.rdi, own.rbp, own.rsp, own.r8,  own.r9,
                                                      own.r10, own.r11, own.r12, own.r13, own.r14,
                                                      own.r15, own.rip };
    memcpy(copy->registers, registers, sizeof registers);
    const struct iovec to = { copy->bytes, COPY_BYTES };
    const struct iovec from = { (void *)(uintptr_t)own.rsp, COPY_BYTES }; /* as far as there is */
    const ssize_t n_bytes = process_vm_readv(pid, &to, 1, &from, 1, 0);
    copy->n_bytes = n_bytes > 0 ? (size_t)n_bytes : 0;
    return n_bytes > 0;
}

/* ---- libdw ------------------------------------------------------------------------------------
 */

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
    (void)dwfl;
    const bool is_first = *thread == NULL;
    *thread = context;
    return is_first ? 1 : 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
    (void)dwfl, (void)tid;
    *thread = context;
    return true;
}

static struct copy *at_work; /* by the callbacks */

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context)
{
    (void)dwfl, (void)context;
    const uint64_t at = address - at_work->registers[WEFT_WALK_SP];
    if (at_work->n_bytes < 8 || at > at_work->n_bytes - 8)
        return false;
    memcpy(word, at_work->bytes + at, 8);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
    (void)context;
    return dwfl_thread_state_registers(thread, 0, WEFT_WALK_REGISTERS, at_work->registers);
}

static int keep_frame(Dwfl_Frame *frame, void *context)
{
    Dwarf_Addr address;
    bool is_exact;
    (void)context;
    if (!dwfl_frame_pc(frame, &address, &is_exact) || address == 0)
        return DWARF_CB_ABORT;
    at_work->frames[at_work->n_frames++] = address;
    return at_work->n_frames < MOST_FRAMES ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static char no_debug_files[] = "";
static char *debug_path = no_debug_files;
static const Dwfl_Callbacks dwfl_callbacks = { .find_elf = dwfl_linux_proc_find_elf,
                                               .find_debuginfo = dwfl_standard_find_debuginfo,
                                               .debuginfo_path = &debug_path };
static const Dwfl_Thread_Callbacks thread_callbacks = { .next_thread = next_thread,
                                                        .get_thread = get_thread,
                                                        .memory_read = read_memory,
                                                        .set_initial_registers = set_registers };

static Dwfl *open_libdw(pid_t pid)
{
    Dwfl *dwfl = dwfl_begin(&dwfl_callbacks);
    if (dwfl && dwfl_linux_proc_report(dwfl, pid) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0 &&
        dwfl_attach_state(dwfl, NULL, 1, &thread_callbacks, &copies[0]))
        return dwfl;
    dwfl_end(dwfl);
    return NULL;
}

static void walk_by_libdw(Dwfl *dwfl, struct copy *copy)
{
    at_work = copy;
    copy->n_frames = 0;
    (void)dwfl_getthread_frames(dwfl, 1, keep_frame, NULL);
}

/* ---- ours -------------------------------------------------------------------------------------
 */

static bool find_part(void *context, uint64_t address, struct weft_walk_part *part)
{
    struct weft_symbols *symbols = context;
    for (size_t k = 0; k < n_parts; k++) {
        if (address < parts[k].begin || address >= parts[k].end)
            continue;
        part->begin = parts[k].begin;
        part->file_off = parts[k].file_off;
        return weft_symbols_module(symbols, weft_str_of(parts[k].path), WEFT_STR(""), &part->module,
                                   NULL) == WEFT_OK;
    }
    return true;
}

struct ours {
    struct weft_symbols *symbols;
    struct weft_walker *walker;
    uint64_t frames[WEFT_WALK_MOST];
    size_t n_frames;
};

static bool walk_by_ours(struct ours *ours, const struct copy *copy)
{
    const struct weft_walk_space space = { find_part, ours->symbols };
    struct weft_walk_stack stack = { .bytes = copy->bytes, .n_bytes = copy->n_bytes };
    bool has_run_out;
    memcpy(stack.registers, copy->registers, sizeof stack.registers);
    return weft_walk_copy(ours->walker, &space, &stack, ours->frames, NULL, &ours->n_frames,
                          &has_run_out);
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void show(const struct copy *copy, const struct ours *ours)
{
    char text[1024];
    int n = 0;
    for (size_t k = 0; k < 24 && (k < copy->n_frames || k < ours->n_frames); k++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %" PRIx64 "/%" PRIx64,
                      k < copy->n_frames ? copy->frames[k] : 0,
                      k < ours->n_frames ? ours->frames[k] : 0);
    tap_note("libdw/ours:%s", text);
}

static void compare(Dwfl *dwfl, size_t n_copies, const char *name)
{
    struct ours ours = { .symbols = weft_symbols_new("/") };
    uint64_t n_frames = 0, n_wrong = 0, n_most = 0;
    double own_ns = 0, libdw_ns = 0;
    ours.walker = weft_walker_new(ours.symbols, 4 << 20);
    for (size_t k = 0; k < n_copies; k++) {
        walk_by_libdw(dwfl, &copies[k]);
        const bool is_good = walk_by_ours(&ours, &copies[k]);
        const bool is_same =
            is_good && ours.n_frames == copies[k].n_frames &&
            memcmp(ours.frames, copies[k].frames, ours.n_frames * sizeof *ours.frames) == 0;
        n_frames += copies[k].n_frames;
        n_most = copies[k].n_frames > n_most ? copies[k].n_frames : n_most;
        if (!is_same && n_wrong++ < 3)
            show(&copies[k], &ours);
    }
    for (int round = 0; round < TIMED_ROUNDS; round++) {
        const double from_ns = now_ns();
        for (size_t k = 0; k < n_copies; k++)
            (void)walk_by_ours(&ours, &copies[k]);
        const double middle_ns = now_ns();
        for (size_t k = 0; k < n_copies; k++)
            walk_by_libdw(dwfl, &copies[k]);
        own_ns += middle_ns - from_ns;
        libdw_ns += now_ns() - middle_ns;
    }
    tap_ok(n_copies > 0 && n_wrong == 0,
           "%s: %zu stacks of %" PRIu64 " frames, at most %" PRIu64 ": %" PRIu64 " differ", name,
           n_copies, n_frames, n_most, n_wrong);
    if (n_frames)
        tap_note("%.0f ns a frame, libdw %.0f ns", own_ns / TIMED_ROUNDS / (double)n_frames,
                 libdw_ns / TIMED_ROUNDS / (double)n_frames);
    weft_walker_free(ours.walker);
    weft_symbols_free(ours.symbols);
}

static void test_program(char *const argv[], const char *name)
{
    const pid_t pid = start(argv);
    uint64_t state = tap_seed(9);
    size_t n_copies = 0;
    int status = 0;
    (void)usleep(FIRST_US);
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0) {
        tap_skip("%s: processes cannot be traced here", name);
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
        return;
    }
    while (n_copies < COPIES && ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 &&
           waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        n_copies += take_copy(pid, &copies[n_copies]);
        if (n_copies == COPIES)
            break;
        (void)ptrace(PTRACE_CONT, pid, NULL, NULL);
        (void)usleep((useconds_t)(tap_random(&state) % 3000));
    }
    read_parts(pid);
    Dwfl *dwfl = open_libdw(pid);
    if (dwfl && n_copies == COPIES)
        compare(dwfl, n_copies, name);
    else
        tap_skip("%s: the program is not here, or has ended", name);
    dwfl_end(dwfl);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
}

int main(void)
{
    char *const python[] = { (char[]){ "python3" }, (char[]){ "-c" },
                             (char[]){ "import re,json\n"
                                       "def f(n): return n if n < 2 else f(n-1)+f(n-2)\n"
                                       "while True:\n"
                                       "  f(12); json.loads(json.dumps([1,{'a':2.5}]*50));"
                                       " sorted(map(str, range(500)));"
                                       " re.sub('a+b', 'c', 'aab'*300)" },
                             NULL };
    char *const shell[] = { (char[]){ "sh" }, (char[]){ "-c" },
                            (char[]){ "i=0; while :; do i=$((i+1)); x=${x#y}$i; "
                                      "case $i in *99) x=;; esac; done" },
                            NULL };
    test_program(python, "python3");
    test_program(shell, "sh");
    test_program(NULL, "signals and recursion");
    return tap_done();
}
