/* SPDX-License-Identifier: MIT
 *
 * Records the kernel while children of this program do what is known: what is recorded must be
 * that. Where the privileges do not allow it, what is missing must be said, and the rest is
 * skipped.
 */
#include "base/cursor.h"
#include "base/vec.h"
#include "record/kernel/kernel.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_ROUNDS = 500, N_NAPS = 5, NAP_NS = 3000000, N_SENT = 300000, MOST_CPUS = 1024 };

/* ---- what is recorded */

struct one {
    struct weft_kernel_record record;
    uint32_t cpu;
    uint64_t words[8]; /* the begin of the payload */
};

struct recording {
    struct weft_kernel *kernel;
    struct weft_kernel_missing missing[WEFT_KERNEL_MISSING_MAX];
    size_t n_missing;
    struct {
        struct one *items;
        size_t n, cap;
    } all;
    uint64_t last_ns[MOST_CPUS];
    uint64_t n_disordered;
};

static enum weft_code take(void *context, uint32_t cpu, const struct weft_kernel_record *records,
                           size_t n_bytes, struct weft_err *err)
{
    struct recording *recording = context;
    const uint8_t *bytes = (const uint8_t *)records;
    for (size_t at = 0; at < n_bytes;) {
        struct one *one = WEFT_VEC_PUSH(&recording->all);
        if (!one)
            return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory");
        memcpy(&one->record, bytes + at, sizeof one->record);
        one->cpu = cpu;
        const size_t n_payload = one->record.payload_bytes;
        memcpy(one->words, bytes + at + sizeof one->record,
               n_payload < sizeof one->words ? n_payload : sizeof one->words);
        recording->n_disordered += one->record.time_ns < recording->last_ns[cpu];
        recording->last_ns[cpu] = one->record.time_ns;
        at += sizeof one->record + n_payload;
    }
    return WEFT_OK;
}

static bool is_fine(enum weft_code code, const struct weft_err *err)
{
    char text[1024];
    if (code == WEFT_OK)
        return true;
    weft_err_print(err, text, sizeof text);
    return tap_ok(false, "%s", text);
}

static bool begin(struct recording *recording, const struct weft_kernel_opts *opts, uint32_t pid)
{
    struct weft_err err = { 0 };
    memset(recording, 0, sizeof *recording);
    enum weft_code code =
        weft_kernel_open(opts, &recording->kernel, recording->missing, &recording->n_missing, &err);
    if (code == WEFT_OK && recording->kernel)
        code = weft_kernel_add_target(recording->kernel, pid, &err);
    if (code == WEFT_OK && recording->kernel)
        code = weft_kernel_start(recording->kernel, &err);
    return is_fine(code, &err) && recording->kernel;
}

static void poll_once(struct recording *recording)
{
    struct weft_err err = { 0 };
    uint32_t fill;
    (void)is_fine(weft_kernel_poll(recording->kernel, take, recording, &fill, &err), &err);
}

static uint64_t n_lost(const struct recording *recording)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < weft_kernel_n_cpus(recording->kernel); i++)
        n += weft_kernel_lost(recording->kernel, i);
    return n;
}

static void end(struct recording *recording)
{
    weft_kernel_close(recording->kernel);
    WEFT_VEC_FINI(&recording->all);
}

/* ---- children that wait until they are recorded */

struct child {
    pid_t pid;
    int go;
};

static struct child start_child(void (*work)(void))
{
    int ends[2];
    struct child child = { .pid = -1 };
    char byte;
    (void)fflush(stdout);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return child;
    child.go = ends[1];
    child.pid = fork();
    if (child.pid == 0) {
        (void)close(ends[1]);
        if (read(ends[0], &byte, 1) == 1)
            work();
        _exit(0);
    }
    (void)close(ends[0]);
    return child;
}

static void let_go(const struct child *child)
{
    (void)!write(child->go, "x", 1);
    (void)close(child->go);
}

/* Polls until the child is gone. */
static void finish(const struct child *child, struct recording **recordings, size_t n)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    while (waitpid(child->pid, NULL, WNOHANG) == 0) {
        for (size_t i = 0; i < n; i++)
            poll_once(recordings[i]);
        (void)nanosleep(&pause, NULL);
    }
    for (size_t i = 0; i < n; i++) {
        weft_kernel_stop(recordings[i]->kernel);
        poll_once(recordings[i]);
    }
}

/* ---- work */

struct pair {
    int from, to;
    bool is_first;
};

static void *ping(void *argument)
{
    const struct pair *pair = argument;
    char byte = 0;
    for (int i = 0; i < N_ROUNDS; i++) {
        if (pair->is_first && write(pair->to, &byte, 1) != 1)
            break;
        if (read(pair->from, &byte, 1) != 1)
            break;
        if (!pair->is_first && write(pair->to, &byte, 1) != 1)
            break;
    }
    return NULL;
}

static void ping_pong(void)
{
    int there[2], back[2];
    pthread_t threads[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        return;
    struct pair pairs[2] = { { back[0], there[1], true }, { there[0], back[1], false } };
    for (int i = 0; i < 2; i++)
        (void)pthread_create(&threads[i], NULL, ping, &pairs[i]);
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
}

/* N_NAPS of which are slept through: a thread that is preempted between setting the timer and
 * sleeping may find its time over. */
__attribute__((noinline)) static void take_naps(void)
{
    const struct timespec nap = { .tv_nsec = NAP_NS };
    struct rusage before, after;
    for (int n_slept = 0; n_slept < N_NAPS;) { /* syscall() makes no frame of its own */
        (void)getrusage(RUSAGE_THREAD, &before);
        (void)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &nap, NULL);
        (void)getrusage(RUSAGE_THREAD, &after);
        n_slept += after.ru_nvcsw > before.ru_nvcsw && after.ru_nivcsw == before.ru_nivcsw;
    }
}

__attribute__((noinline)) static void spin(void)
{
    struct timespec now;
    do {
        for (volatile unsigned i = 0; i < 100000; i++) /* samples are here, not in a library */
            continue;
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 100000000);
}

static void naps_and_spin(void)
{
    take_naps();
    spin();
}

static void send_all(int to)
{
    static const char bytes[4000];
    for (size_t n = 0; n < N_SENT;) {
        const size_t want = N_SENT - n < sizeof bytes ? N_SENT - n : sizeof bytes;
        const ssize_t sent = send(to, bytes, want, 0);
        if (sent <= 0)
            break;
        n += (size_t)sent;
    }
    (void)shutdown(to, SHUT_WR);
}

static int listener_fd;
static uint16_t listener_port;

static void *receive_all(void *argument)
{
    char bytes[7777];
    (void)argument;
    const int from = accept(listener_fd, NULL, NULL);
    while (recv(from, bytes, 100, MSG_PEEK) > 0 && recv(from, bytes, sizeof bytes, 0) > 0)
        ;
    (void)close(from);
    return NULL;
}

static void talk(void)
{
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons(listener_port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    pthread_t thread;
    const int to = socket(AF_INET, SOCK_STREAM, 0);
    (void)pthread_create(&thread, NULL, receive_all, NULL);
    if (connect(to, (const struct sockaddr *)&address, sizeof address) == 0)
        send_all(to);
    (void)pthread_join(thread, NULL);
    (void)close(to);
}

static bool open_listener(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n_bytes = sizeof address;
    listener_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_open = listener_fd >= 0 &&
                         bind(listener_fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                         listen(listener_fd, 1) == 0 &&
                         getsockname(listener_fd, (struct sockaddr *)&address, &n_bytes) == 0;
    listener_port = ntohs(address.sin_port);
    return is_open;
}

/* ---- switches and wakings, by two routes */

struct turn {
    uint64_t time_ns;
    uint32_t cpu, prev, next, state; /* a waking: prev is UINT32_MAX, next who is woken */
};

struct turns {
    struct turn *items;
    size_t n, cap;
};

static int by_time(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* What concerns one thread, in order of time. */
static struct turns turns_of(const struct recording *recording, uint32_t tid)
{
    struct turns turns = { 0 };
    for (size_t i = 0; i < recording->all.n; i++) {
        const struct one *one = &recording->all.items[i];
        const struct weft_kernel_record *record = &one->record;
        const bool is_switch = record->type == WEFT_KERNEL_SWITCH;
        const bool is_waking = record->type == WEFT_KERNEL_WAKING;
        const uint32_t other = (uint32_t)record->a;
        if (!(is_switch && (record->tid == tid || other == tid)) && !(is_waking && other == tid))
            continue;
        struct turn *turn = WEFT_VEC_PUSH(&turns);
        if (!turn)
            break;
        *turn = (struct turn){ .time_ns = record->time_ns,
                               .cpu = one->cpu,
                               .prev = is_switch ? record->tid : UINT32_MAX,
                               .next = other,
                               .state = is_switch ? (uint32_t)(record->a >> 32 & 0xff) +
                                                        ((uint32_t)(record->b >> 32 & 1) << 8)
                                                  : 0 };
    }
    if (turns.n > 0)
        qsort(turns.items, turns.n, sizeof *turns.items, by_time);
    return turns;
}

static bool is_same(const struct turn *a, const struct turn *b)
{
    return a->cpu == b->cpu && a->prev == b->prev && a->next == b->next && a->state == b->state;
}

/* How often a thread comes to a processor, or leaves it, twice in a row. */
static size_t n_gaps(const struct turns *turns, uint32_t tid)
{
    bool is_on = false, has_begun = false;
    size_t n = 0;
    for (size_t i = 0; i < turns->n; i++) {
        const struct turn *turn = &turns->items[i];
        const bool comes = turn->next == tid;
        if (turn->prev == UINT32_MAX)
            continue;
        n += has_begun && comes == is_on;
        has_begun = true;
        is_on = comes;
    }
    return n;
}

/* How many of `few` stand among `many` in the same order: switches, or wakings. The two kinds
 * happen on different processors, and each route reads the clock for itself. */
static size_t n_among(const struct turns *few, const struct turns *many, bool is_waking, size_t *n)
{
    size_t at = 0, n_found = 0;
    *n = 0;
    for (size_t i = 0; i < few->n; i++) {
        const struct turn *turn = &few->items[i];
        if ((turn->prev == UINT32_MAX) != is_waking)
            continue;
        ++*n;
        while (at < many->n && !is_same(&many->items[at], turn))
            at++;
        n_found += at < many->n;
        at += at < many->n;
    }
    return n_found;
}

/* BPF programs see all turns, and what another route sees is among them: perf events leave some out
 * without a word when there are many in a tick, most of all on a quiet machine. */
static void compare_turns(struct turns bpf, struct turns other, uint32_t tid, const char *whom)
{
    size_t n_switches, n_wakings;
    const size_t n_found = n_among(&other, &bpf, false, &n_switches);
    const size_t n_woken = n_among(&other, &bpf, true, &n_wakings);
    /* Of ten thousand turns the kernel tells one to nobody. */
    tap_ok(n_gaps(&bpf, tid) <= 1 + bpf.n / 1000,
           "%s: %zu turns by BPF, each followed by its other", whom, bpf.n);
    tap_eq_u64(n_found, n_switches, "the switches of the other among them");
    tap_eq_u64(n_woken, n_wakings, "and its wakings");
    tap_ok(n_switches + n_wakings > N_ROUNDS / 4, "which are %zu", n_switches + n_wakings);
    WEFT_VEC_FINI(&bpf);
    WEFT_VEC_FINI(&other);
}

/* Threads of a process besides its first, at most n. */
static size_t threads_of(const struct recording *recording, uint32_t pid, uint32_t *tids, size_t n)
{
    size_t n_found = 0;
    for (size_t i = 0; i < recording->all.n; i++) {
        const struct weft_kernel_record *record = &recording->all.items[i].record;
        const uint32_t tid = (uint32_t)record->a;
        if (record->type == WEFT_KERNEL_FORK && record->a >> 32 == pid && tid != pid && n_found < n)
            tids[n_found++] = tid;
    }
    return n_found;
}

static const struct weft_kernel_opts plain = { .wait_threshold_ns = UINT64_MAX };

/* BPF programs and perf events at the same time. */
static void test_two_routes(void)
{
    static struct recording bpf, perf;
    struct weft_kernel_opts opts = plain;
    const struct child child = start_child(ping_pong);
    const bool has_bpf = begin(&bpf, &opts, (uint32_t)child.pid);
    opts.without_bpf = true;
    const bool has_perf = begin(&perf, &opts, (uint32_t)child.pid);
    let_go(&child);
    if (!has_bpf || !has_perf || perf.n_missing > 0) {
        tap_skip("BPF programs or tracepoints are not allowed here");
    } else {
        uint32_t tids[4];
        finish(&child, (struct recording *[]){ &bpf, &perf }, 2);
        tap_eq_str(weft_kernel_means(bpf.kernel), "BPF", "one by BPF");
        tap_eq_str(weft_kernel_means(perf.kernel), "perf events", "the other by perf events");
        tap_eq_u64(threads_of(&bpf, (uint32_t)child.pid, tids, 4), 2, "two threads, by BPF");
        tap_eq_u64(threads_of(&perf, (uint32_t)child.pid, tids, 4), 2, "and by perf events");
        for (int i = 0; i < 2; i++)
            compare_turns(turns_of(&bpf, tids[i]), turns_of(&perf, tids[i]), tids[i],
                          "BPF and perf events");
        tap_eq_u64(n_lost(&bpf) + n_lost(&perf), 0, "nothing is lost");
        tap_eq_u64(bpf.n_disordered + perf.n_disordered, 0, "each processor is in order");
    }
    (void)waitpid(child.pid, NULL, 0);
    if (has_bpf)
        end(&bpf);
    if (has_perf)
        end(&perf);
}

/* ---- perf itself */

static char perf_file[256];

/* The child: perf records all processors while it runs a shell that pings. */
static void run_perf(void)
{
    static char self[256];
    const ssize_t n_bytes = readlink("/proc/self/exe", self, sizeof self - 1);
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (n_bytes <= 0 || null < 0)
        return;
    (void)dup2(null, 1);
    (void)dup2(null, 2);
    (void)execlp("perf", "perf", "record", "-q", "-a", "-m", "4M", "-o", perf_file, "-k",
                 "CLOCK_MONOTONIC", "-e", "sched:sched_switch,sched:sched_waking", self,
                 "--ping-pong", (char *)NULL);
}

static uint64_t number_behind(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* "[001] 12.345678901: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==>
 * next_comm=b next_pid=8 next_prio=120" */
static bool read_line(const char *line, struct turn *turn)
{
    static const char letters[] = "SDTtXZPI";
    const char *const cpu = strchr(line, '['), *const point = strchr(line, '.');
    const char *const state = strstr(line, " prev_state=");
    if (!cpu || !point)
        return false;
    turn->cpu = (uint32_t)strtoul(cpu + 1, NULL, 10);
    turn->time_ns =
        number_behind(line, "] ") * UINT64_C(1000000000) + strtoull(point + 1, NULL, 10);
    if (!state) {
        turn->prev = UINT32_MAX;
        turn->next = (uint32_t)number_behind(line, " pid=");
        return strstr(line, "sched_waking") != NULL;
    }
    const char *letter = strchr(letters, state[12]);
    turn->prev = (uint32_t)number_behind(line, " prev_pid=");
    turn->next = (uint32_t)number_behind(line, " next_pid=");
    turn->state = state[13] == '+' ? 0x100 : letter ? 1u << (letter - letters) : 0;
    return true;
}

static struct turns perf_turns_of(uint32_t tid)
{
    struct turns turns = { 0 };
    char command[512], line[1024];
    (void)snprintf(command, sizeof command,
                   "perf script --ns -F cpu,time,event,trace -i %s 2>/dev/null", perf_file);
    FILE *lines = popen(command, "re");
    while (lines && fgets(line, sizeof line, lines)) {
        struct turn turn = { 0 };
        if (!read_line(line, &turn) || (turn.prev != tid && turn.next != tid))
            continue;
        struct turn *kept = WEFT_VEC_PUSH(&turns);
        if (kept)
            *kept = turn;
    }
    if (lines)
        (void)pclose(lines);
    if (turns.n > 0)
        qsort(turns.items, turns.n, sizeof *turns.items, by_time);
    return turns;
}

static bool is_made_by(const struct recording *recording, uint32_t pid, uint32_t parent)
{
    for (size_t i = 0; i < recording->all.n; i++) {
        const struct weft_kernel_record *record = &recording->all.items[i].record;
        if (record->type == WEFT_KERNEL_FORK && (uint32_t)record->a == pid)
            return record->tid == parent;
    }
    return false;
}

/* The last program with two threads that `perf` began. */
static uint32_t pinger_of(const struct recording *recording, uint32_t perf, uint32_t *tids)
{
    uint32_t pinger = 0, found[3];
    uint64_t begun_ns = 0;
    for (size_t i = 0; i < recording->all.n; i++) {
        const struct weft_kernel_record *record = &recording->all.items[i].record;
        if (record->type != WEFT_KERNEL_EXEC || record->time_ns < begun_ns ||
            !is_made_by(recording, (uint32_t)record->a, perf) ||
            threads_of(recording, (uint32_t)record->a, found, 3) != 2)
            continue;
        pinger = (uint32_t)record->a;
        begun_ns = record->time_ns;
        memcpy(tids, found, 2 * sizeof *tids);
    }
    return pinger;
}

static void test_perf_tool(void)
{
    static struct recording recording;
    uint32_t tids[2];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(perf_file, sizeof perf_file, "%s/test_record_kernel_live.%d.data",
                   root ? root : ".", (int)getpid());
    const struct child child = start_child(run_perf);
    const bool is_begun = begin(&recording, &plain, (uint32_t)child.pid);
    let_go(&child);
    if (!is_begun || strcmp(weft_kernel_means(recording.kernel), "BPF") != 0) {
        tap_skip("BPF programs are not allowed here");
    } else {
        finish(&child, (struct recording *[]){ &recording }, 1);
        if (pinger_of(&recording, (uint32_t)child.pid, tids) == 0 || access(perf_file, R_OK) != 0)
            tap_skip("there is no perf here");
        else
            for (int i = 0; i < 2; i++)
                compare_turns(turns_of(&recording, tids[i]), perf_turns_of(tids[i]), tids[i],
                              "BPF and perf record");
    }
    (void)waitpid(child.pid, NULL, 0);
    (void)unlink(perf_file);
    if (is_begun)
        end(&recording);
}

/* ---- waits, stacks and samples */

static bool is_in(uint64_t address, void (*function)(void))
{
    const uint64_t from = (uint64_t)(uintptr_t)function;
    return address >= from && address < from + 512;
}

struct seen {
    uint64_t n_naps, n_returned, n_short, n_stacks, n_callers, n_samples, n_spins;
};

static struct seen look(const struct recording *recording, uint32_t pid)
{
    struct seen seen = { 0 };
    for (size_t i = 0; i < recording->all.n; i++) {
        const struct one *one = &recording->all.items[i];
        const struct weft_kernel_record *record = &one->record;
        if (record->tid != pid)
            continue;
        const bool is_nap =
            record->type == WEFT_KERNEL_SYSCALL && (uint32_t)record->a == SYS_clock_nanosleep;
        seen.n_naps += is_nap && one->words[0] == 0 && one->words[1] == CLOCK_MONOTONIC;
        seen.n_returned += is_nap && record->a >> 32 == 1;
        seen.n_short += is_nap && record->b < NAP_NS;
        if (record->type != WEFT_KERNEL_STACK)
            continue;
        const bool is_wait = (record->a & WEFT_STACK_KIND_MASK) == WEFT_STACK_WAIT;
        seen.n_stacks += is_wait;
        seen.n_callers +=
            is_wait && record->a & WEFT_STACK_HAS_TOP && is_in(one->words[0], take_naps);
        seen.n_samples += !is_wait;
        for (size_t k = 1; k < 8 && !is_wait; k++)
            if (is_in(one->words[k], spin)) {
                seen.n_spins++;
                break;
            }
    }
    return seen;
}

/* Switches of which the kernel told nobody: a wait that ended in one has no stack. */
static size_t n_untold(const struct recording *recording)
{
    uint32_t current[MOST_CPUS];
    size_t n = 0;
    memset(current, 0xff, sizeof current);
    for (size_t i = 0; i < recording->all.n; i++) {
        const struct one *one = &recording->all.items[i];
        if (one->record.type != WEFT_KERNEL_SWITCH)
            continue;
        n += current[one->cpu] != UINT32_MAX && current[one->cpu] != one->record.tid;
        current[one->cpu] = (uint32_t)one->record.a;
    }
    return n;
}

static void test_stacks(bool with_results)
{
    static struct recording recording;
    const struct weft_kernel_opts opts = { .sample_hz = 997,
                                           .wait_threshold_ns = 1000000,
                                           .with_results = with_results };
    const struct child child = start_child(naps_and_spin);
    const bool is_begun = begin(&recording, &opts, (uint32_t)child.pid);
    let_go(&child);
    if (!is_begun || strcmp(weft_kernel_means(recording.kernel), "BPF") != 0) {
        tap_skip("BPF programs are not allowed here");
    } else {
        finish(&child, (struct recording *[]){ &recording }, 1);
        const struct seen seen = look(&recording, (uint32_t)child.pid);
        tap_ok(seen.n_naps - seen.n_short + n_untold(&recording) >= N_NAPS,
               "every long call, with number, argument and no less time than it slept");
        tap_eq_u64(seen.n_returned, with_results ? seen.n_naps : 0,
                   "and result, if that is wanted");
        tap_ok(seen.n_stacks >= seen.n_naps, "%ju stacks of waits", (uintmax_t)seen.n_stacks);
        tap_eq_u64(seen.n_callers, seen.n_naps, "with the caller that frame pointers lose");
        tap_ok(seen.n_samples >= 60 && seen.n_samples <= 130,
               "%ju samples of 100 ms of its time, 1 a ms", (uintmax_t)seen.n_samples);
        tap_ok(seen.n_spins >= seen.n_samples / 2, "%ju of them where it spins",
               (uintmax_t)seen.n_spins);
    }
    (void)waitpid(child.pid, NULL, 0);
    if (is_begun)
        end(&recording);
}

/* ---- TCP */

struct bytes {
    uint64_t n_sent, n_received, n_gaps;
    uint32_t sent_to, received_to; /* sequence numbers */
};

static void count_bytes(const struct one *one, struct bytes *bytes)
{
    const struct weft_kernel_record *record = &one->record;
    const bool is_send = record->type == WEFT_KERNEL_SEND;
    struct weft_kernel_flow flow;
    memcpy(&flow, one->words, sizeof flow);
    if (flow.target_port != listener_port)
        return;
    uint64_t *n = is_send ? &bytes->n_sent : &bytes->n_received;
    uint32_t *to = is_send ? &bytes->sent_to : &bytes->received_to;
    static const uint8_t loopback[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
    bytes->n_gaps += memcmp(flow.source, loopback, 16) != 0 || flow.netns == 0;
    bytes->n_gaps += *n > 0 && *to != (uint32_t)record->a;
    *n += record->a >> 32;
    *to = (uint32_t)record->a + (uint32_t)(record->a >> 32);
}

static int ones_by_time(const void *a, const void *b)
{
    const struct one *x = a, *y = b;
    return (x->record.time_ns > y->record.time_ns) - (x->record.time_ns < y->record.time_ns);
}

static void test_network(void)
{
    static struct recording recording;
    struct weft_kernel_opts opts = plain;
    opts.with_network = true;
    if (!tap_ok(open_listener(), "a socket"))
        return;
    const struct child child = start_child(talk);
    const bool is_begun = begin(&recording, &opts, (uint32_t)child.pid);
    let_go(&child);
    if (!is_begun || strcmp(weft_kernel_means(recording.kernel), "BPF") != 0) {
        tap_skip("BPF programs are not allowed here");
    } else if (recording.n_missing > 0) {
        tap_skip("%s", recording.missing[0].why);
    } else {
        struct bytes bytes = { 0 };
        finish(&child, (struct recording *[]){ &recording }, 1);
        qsort(recording.all.items, recording.all.n, sizeof *recording.all.items, ones_by_time);
        for (size_t i = 0; i < recording.all.n; i++)
            if (recording.all.items[i].record.type == WEFT_KERNEL_SEND ||
                recording.all.items[i].record.type == WEFT_KERNEL_RECEIVE)
                count_bytes(&recording.all.items[i], &bytes);
        tap_eq_u64(bytes.n_sent, N_SENT, "all bytes are sent");
        tap_eq_u64(bytes.n_received, N_SENT, "and received, looked at beforehand or not");
        tap_eq_u64(bytes.n_gaps, 0, "without a gap, from and to the same flow");
        tap_eq_u64(bytes.sent_to, bytes.received_to, "to the same number");
    }
    (void)waitpid(child.pid, NULL, 0);
    (void)close(listener_fd);
    if (is_begun)
        end(&recording);
}

/* ---- losses and privileges */

static void test_losses(void)
{
    static struct recording recording;
    struct weft_kernel_opts opts = plain;
    opts.ring_bytes = 4096;
    opts.with_counts = true;
    const struct child child = start_child(ping_pong);
    const bool is_begun = begin(&recording, &opts, (uint32_t)child.pid);
    let_go(&child);
    (void)waitpid(child.pid, NULL, 0);
    if (!is_begun || strcmp(weft_kernel_means(recording.kernel), "BPF") != 0) {
        tap_skip("BPF programs are not allowed here");
    } else {
        uint64_t n_made = 0, n_read = 0;
        weft_kernel_stop(recording.kernel);
        poll_once(&recording);
        for (uint32_t i = 0; i < weft_kernel_n_cpus(recording.kernel); i++)
            n_made += weft_kernel_made(recording.kernel, i);
        for (size_t i = 0; i < recording.all.n;
             i++) /* threads that were there are not in the ring */
            n_read += recording.all.items[i].record.type != WEFT_KERNEL_TASK;
        tap_ok(n_lost(&recording) > 0, "a ring that is too small loses some");
        tap_eq_u64(n_read + n_lost(&recording), n_made, "read and lost are all");
    }
    if (is_begun)
        end(&recording);
}

/* As a user without privileges, in a child: what fails is told by its exit code. */
static void check_nobody(void)
{
    static struct recording recording;
    const struct weft_kernel_opts opts = { .sample_hz = 997, .wait_threshold_ns = 100000 };
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(2);
    const bool is_begun = begin(&recording, &opts, (uint32_t)getpid());
    bool is_said = false;
    for (size_t i = 0; i < recording.n_missing; i++)
        is_said |= strstr(recording.missing[i].why, "CAP_BPF") != NULL &&
                   strstr(recording.missing[i].mend, "setcap") != NULL;
    if (is_begun) {
        spin();
        weft_kernel_stop(recording.kernel);
        poll_once(&recording);
        is_said &= strcmp(weft_kernel_means(recording.kernel), "perf events") == 0;
        end(&recording);
    }
    _exit(is_said ? 0 : 1);
}

static void test_privileges(void)
{
    const struct weft_kernel_opts opts = plain;
    static struct recording recording;
    const bool is_begun = begin(&recording, &opts, (uint32_t)getpid());
    const bool has_bpf = is_begun && strcmp(weft_kernel_means(recording.kernel), "BPF") == 0;
    if (is_begun)
        end(&recording);
    tap_ok(has_bpf || recording.n_missing > 0, "BPF, or a word on what is missing");
    if (!has_bpf || getuid() != 0) {
        tap_skip("there are no privileges to give up");
        return;
    }
    int status = 0;
    const struct child child = start_child(check_nobody);
    let_go(&child);
    (void)waitpid(child.pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        tap_skip("the user cannot be changed here");
    else
        tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
               "without capabilities the missing ones are named");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--ping-pong") == 0) {
        ping_pong();
        return 0;
    }
    test_privileges();
    test_two_routes();
    test_perf_tool();
    test_stacks(false);
    test_stacks(true);
    test_network();
    test_losses();
    return tap_done();
}
