/* SPDX-License-Identifier: MIT
 *
 * A program to be recorded, built with -finstrument-functions, whose processes are hard to reach:
 * they change users, roots, limits and environments, and outlive their parents. Each process
 * appends one line "PID CALLS" to the file REACHED_LOG: how often it called leaf(). usage: reached
 * HOW [NUMBER [PROGRAM [ARGUMENT...]]]
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SILENT __attribute__((no_instrument_function))

extern char **environ;

static long n_calls;
static int log_fd = -1;
static const char *own_path, *log_path;

__attribute__((noinline)) static void leaf(void)
{
    __asm__ volatile(""); /* every call is made */
}

SILENT static void call(long n)
{
    for (long k = 0; k < n; k++)
        leaf();
    __atomic_add_fetch(&n_calls, n, __ATOMIC_RELAXED);
}

SILENT static void fail(const char *what)
{
    perror(what);
    _exit(77);
}

/* Appended whole: each process of the test writes one. */
SILENT static void report(void)
{
    char line[64];
    const int n_line = snprintf(line, sizeof line, "%d %ld\n", (int)getpid(), n_calls);
    if (log_fd >= 0 && write(log_fd, line, (size_t)n_line) != n_line)
        fail("log");
}

SILENT static void doze(long ms)
{
    const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    (void)nanosleep(&time, NULL);
}

/* Calls, reports and ends. */
SILENT static _Noreturn void work(long n)
{
    call(n);
    report();
    _exit(0);
}

SILENT static void wait_for(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("child");
}

/* ---- processes that outlive their parent */

SILENT static void outlive(long n)
{
    for (int k = 0; k < 3; k++)
        if (fork() == 0) {
            n_calls = 0;
            doze(300);
            work(n);
        }
}

/* Twice a fork, its own session, no descriptor but the log's. */
SILENT static void daemonize(long n)
{
    const pid_t child = fork();
    if (child != 0) {
        wait_for(child);
        return;
    }
    if (setsid() < 0)
        fail("setsid");
    if (fork() != 0)
        _exit(0);
    n_calls = 0;
    for (int fd = 0; fd < 1024; fd++)
        if (fd != log_fd)
            (void)close(fd);
    if (chdir("/") != 0)
        _exit(77);
    doze(300);
    work(n);
}

/* ---- processes that change what they may do */

enum { NOBODY = 65534, FILE_BYTES = 8192 };

SILENT static void become_nobody(void)
{
    if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        fail("setuid");
}

SILENT static void change_group(void)
{
    if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0)
        fail("setgid");
}

SILENT static void change_root(void)
{
    if (mkdir("root", 0755) != 0 && errno != EEXIST)
        fail("mkdir");
    if (chroot("root") != 0 || chdir("/") != 0)
        fail("chroot");
}

SILENT static void change_both(void)
{
    change_root();
    become_nobody();
}

SILENT static void change_mounts(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) != 0)
        fail("mount");
}

SILENT static void limit_files(void)
{
    const struct rlimit limit = { FILE_BYTES, FILE_BYTES };
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        fail("setrlimit");
}

/* By the C library, or by a system call that no library sees. */
SILENT static pid_t fork_by(int is_raw)
{
    const pid_t child = is_raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
    if (child == 0)
        n_calls = 0;
    return child;
}

/* A child changes, and then calls. So does its child, which has no file that was made before. */
SILENT static void change(void (*to)(void), int is_raw, long n)
{
    const pid_t child = fork_by(is_raw);
    if (child == 0) {
        to();
        call(n);
        const pid_t grandchild = fork_by(is_raw);
        if (grandchild == 0)
            work(2 * n);
        wait_for(grandchild);
        report();
        _exit(0);
    }
    wait_for(child);
}

/* A child changes and becomes another program. */
SILENT static void change_and_become(void (*to)(void), long n)
{
    char number[24];
    (void)snprintf(number, sizeof number, "%ld", n);
    const pid_t child = fork();
    if (child == 0) {
        to();
        (void)execl(own_path, own_path, "calls", number, (char *)NULL);
        fail("exec");
    }
    wait_for(child);
}

#define CHANGES(name, to)                                                                          \
    SILENT static void name(long n)                                                                \
    {                                                                                              \
        change(to, 0, n);                                                                          \
    }                                                                                              \
    SILENT static void name##_raw(long n)                                                          \
    {                                                                                              \
        change(to, 1, n);                                                                          \
    }                                                                                              \
    SILENT static void name##_exec(long n)                                                         \
    {                                                                                              \
        change_and_become(to, n);                                                                  \
    }

CHANGES(user, become_nobody)
CHANGES(group, change_group)
CHANGES(root, change_root)
CHANGES(both, change_both)
CHANGES(mounts, change_mounts)
CHANGES(limit, limit_files)

/* ---- programs that are started without an environment */

enum how { EXECVE, EXECV, EXECVP, EXECVPE, EXECL, EXECLP, EXECLE, FEXECVE, EXECVEAT, HOWS };

static char *no_environment[] = { NULL };
static char calls[] = "calls";

SILENT static void become(enum how how, char *const *arguments)
{
    char *const name = arguments[0], *const first = arguments[1], *const second = arguments[2],
                *const third = arguments[3];
    if (how == EXECVE)
        (void)execve(name, arguments, no_environment);
    else if (how == EXECVPE)
        (void)execvpe(name, arguments, no_environment);
    else if (how == EXECLE)
        (void)execle(name, name, first, second, third, (char *)NULL, no_environment);
    else if (how == FEXECVE)
        (void)fexecve(open(name, O_RDONLY | O_CLOEXEC), arguments, no_environment);
    else if (how == EXECVEAT)
        (void)execveat(AT_FDCWD, name, arguments, no_environment, 0);
    environ = NULL;
    if (how == EXECV)
        (void)execv(name, arguments);
    else if (how == EXECVP)
        (void)execvp(name, arguments);
    else if (how == EXECL)
        (void)execl(name, name, first, second, third, (char *)NULL);
    else if (how == EXECLP)
        (void)execlp(name, name, first, second, third, (char *)NULL);
    fail("exec");
}

/* A child of vfork clears its parent's environment. */
SILENT __attribute__((noinline)) static void start_one(enum how how, char *const *arguments,
                                                       int is_vforked)
{
    char **volatile const own = environ;
    const pid_t child = is_vforked ? vfork() : fork();
    if (child == 0)
        become(how, arguments);
    environ = own;
    wait_for(child);
}

/* Each way once, in a child of fork or vfork; then those that start a process by themselves. */
SILENT static void start_all(char *const *arguments, int is_vforked)
{
    for (enum how how = 0; how < HOWS; how++)
        start_one(how, arguments, is_vforked);
    pid_t child;
    if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, no_environment) != 0)
        fail("posix_spawn");
    wait_for(child);
    if (posix_spawnp(&child, arguments[0], NULL, NULL, arguments, no_environment) != 0)
        fail("posix_spawnp");
    wait_for(child);
}

SILENT static void start_by(int is_vforked, long n)
{
    char number[24], command[2 * PATH_MAX];
    char *arguments[] = { (char *)(uintptr_t)own_path, calls, number, (char *)(uintptr_t)log_path,
                          NULL };
    (void)snprintf(number, sizeof number, "%ld", n);
    (void)snprintf(command, sizeof command, "%s calls %ld %s", own_path, n, log_path);
    start_all(arguments, is_vforked);
    if (clearenv() != 0 || system(command) != 0)
        fail("system");
    FILE *const pipe = popen(command, "r");
    if (!pipe || pclose(pipe) != 0)
        fail("popen");
}

SILENT static void cleared(long n)
{
    start_by(0, n);
}

SILENT static void cleared_vfork(long n)
{
    start_by(1, n);
}

/* An environment that is too large for the stack. */
SILENT static void large(long n)
{
    enum { N = 5000 };
    static char *variables[N + 1], text[] = "A=1";
    char number[24];
    char *arguments[] = { (char *)(uintptr_t)own_path, calls, number, (char *)(uintptr_t)log_path,
                          NULL };
    (void)snprintf(number, sizeof number, "%ld", n);
    for (int k = 0; k < N; k++)
        variables[k] = text;
    const pid_t child = fork();
    if (child == 0) {
        (void)execve(own_path, arguments, variables);
        fail("exec");
    }
    wait_for(child);
}

/* ---- many threads */

enum { AT_ONCE = 50, STACK_BYTES = 1 << 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_live = PTHREAD_COND_INITIALIZER;
static long n_wanted, n_live;

SILENT static void *live_with_others(void *unused)
{
    call(3);
    (void)pthread_mutex_lock(&mutex);
    if (++n_live == n_wanted)
        (void)pthread_cond_broadcast(&all_live);
    while (n_live < n_wanted)
        (void)pthread_cond_wait(&all_live, &mutex);
    (void)pthread_mutex_unlock(&mutex);
    call(2);
    return unused;
}

SILENT static void *live_alone(void *unused)
{
    call(2);
    return unused;
}

SILENT static void start_threads(pthread_t *threads, long n, void *(*routine)(void *))
{
    pthread_attr_t how;
    (void)pthread_attr_init(&how);
    (void)pthread_attr_setstacksize(&how, STACK_BYTES);
    for (long k = 0; k < n; k++)
        if (pthread_create(&threads[k], &how, routine, NULL) != 0)
            fail("pthread_create");
    for (long k = 0; k < n; k++)
        (void)pthread_join(threads[k], NULL);
}

SILENT static void threads_at_once(long n)
{
    pthread_t *const threads = calloc((size_t)n, sizeof *threads);
    if (!threads)
        fail("calloc");
    n_wanted = n;
    start_threads(threads, n, live_with_others);
    free(threads);
}

SILENT static void threads_in_turn(long n)
{
    pthread_t threads[AT_ONCE];
    for (long n_done = 0; n_done < n; n_done += AT_ONCE)
        start_threads(threads, AT_ONCE, live_alone);
}

/* ---- threads that may not read the time stamp counter */

enum { STEP_MS = 100 };

/* Not by nanosleep's wrapper alone: what happens around it is timed, too. */
__attribute__((noinline)) static void step(void)
{
    doze(STEP_MS);
}

SILENT static void *step_in_thread(void *unused)
{
    call(3);
    step();
    return unused;
}

SILENT static void lose_counter(void)
{
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
        fail("PR_SET_TSC");
}

/* This thread and another one, one with the counter, and a child. Another program would not start:
 * the dynamic linker reads the counter. */
SILENT static void without_counter(long n)
{
    pthread_t threads[2];
    (void)pthread_create(&threads[0], NULL, step_in_thread, NULL);
    lose_counter();
    call(n);
    step();
    (void)pthread_create(&threads[1], NULL, step_in_thread, NULL);
    for (int k = 0; k < 2; k++)
        (void)pthread_join(threads[k], NULL);
    const pid_t child = fork();
    if (child == 0) {
        n_calls = 0;
        work(n);
    }
    wait_for(child);
    if (prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) != 0)
        fail("PR_SET_TSC");
    step();
}

/* Not of the calls that are counted. */
__attribute__((noinline)) static void step_over(void)
{
    struct timespec moment = { .tv_nsec = 1000 };
    (void)nanosleep(&moment, NULL);
}

SILENT static void *lose_at_once(void *unused)
{
    lose_counter();
    return unused;
}

static volatile bool is_over;

SILENT static void *work_without_counter(void *unused)
{
    lose_counter();
    while (!is_over)
        step_over();
    return unused;
}

/* Many lose it while one works without it. */
SILENT static void without_counters(long n)
{
    pthread_t worker, other;
    (void)pthread_create(&worker, NULL, work_without_counter, NULL);
    for (long k = 0; k < n; k++) {
        (void)pthread_create(&other, NULL, lose_at_once, NULL);
        (void)pthread_join(other, NULL);
    }
    is_over = true;
    (void)pthread_join(worker, NULL);
}

/* ---- crash handlers and sandboxes: what the library takes must not end them */

/* As a handler of crashes starts its reporter. */
SILENT static void start_reporter(int number)
{
    static char reporter[] = "/bin/true";
    char *const arguments[] = { reporter, NULL };
    const pid_t child = fork();
    if (child == 0) {
        (void)execve(arguments[0], arguments, environ);
        _exit(9);
    }
    wait_for(child);
    (void)number;
}

SILENT static void on_small_stack(long n)
{
    enum { SMALL_BYTES = 8192, GUARD_BYTES = 4096 };
    char *at = mmap(NULL, GUARD_BYTES + SMALL_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t stack = { .ss_sp = at + GUARD_BYTES, .ss_size = SMALL_BYTES };
    const struct sigaction action = { .sa_handler = start_reporter, .sa_flags = SA_ONSTACK };
    if (at == MAP_FAILED || mprotect(at, GUARD_BYTES, PROT_NONE) != 0 ||
        sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        fail("an alternate stack");
    call(n);
    (void)raise(SIGUSR1);
}

/* No /proc, and a filter that ends whoever makes a socket. */
SILENT static void in_sandbox(long n)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = { sizeof lines / sizeof *lines, lines };
    char folder[] = "jail-XXXXXX";
    call(n);
    if (!mkdtemp(folder) || chroot(folder) != 0 || chdir("/") != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
        fail("a sandbox");
    const pid_t child = fork();
    if (child == 0) {
        leaf();
        _exit(0);
    }
    wait_for(child);
}

/* A thread that may only read, write and end; its calls from then on are counted. */
SILENT static void *be_strict(void *unused)
{
    call(4);
    if (prctl(PR_SET_SECCOMP, 1, 0, 0, 0) != 0)
        fail("PR_SET_SECCOMP");
    for (int k = 0; k < 100; k++)
        leaf();
    (void)pthread_mutex_lock(&mutex);
    (void)pthread_mutex_unlock(&mutex);
    (void)!write(log_fd, "0 100 strict\n", 13);
    (void)syscall(SYS_exit, 0); /* the thread's own */
    return unused;
}

SILENT static void strict(long n)
{
    pthread_t thread;
    (void)pthread_create(&thread, NULL, be_strict, NULL);
    doze(STEP_MS);
    call(n);
}

SILENT static void nothing(long n)
{
    (void)n;
}

struct mode {
    const char *name;
    void (*run)(long n);
};

#define CHANGED(name)                                                                              \
    { #name, name }, { #name "-raw", name##_raw },                                                 \
    {                                                                                              \
#name "-exec", name##_exec                                                                 \
    }

static const struct mode modes[] = {
    CHANGED(user),
    CHANGED(group),
    CHANGED(root),
    CHANGED(both),
    CHANGED(mounts),
    CHANGED(limit),
    { "calls", nothing },
    { "cleared", cleared },
    { "cleared-vfork", cleared_vfork },
    { "daemon", daemonize },
    { "large", large },
    { "no-counter", without_counter },
    { "no-counters", without_counters },
    { "outlive", outlive },
    { "sandbox", in_sandbox },
    { "small-stack", on_small_stack },
    { "strict", strict },
    { "threads", threads_at_once },
    { "turns", threads_in_turn },
};

SILENT int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const long n = argc > 2 ? strtol(argv[2], NULL, 0) : 0;
    own_path = argv[0];
    log_path = getenv("REACHED_LOG") ? getenv("REACHED_LOG") : argc > 3 ? argv[3] : NULL;
    if (log_path)
        log_fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    call(n < 1000 ? n : 1000);
    bool is_known = strcmp(how, "calls") == 0;
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
        if (strcmp(how, modes[k].name) == 0) {
            is_known = true;
            modes[k].run(n);
        }
    report();
    return is_known ? 0 : 2;
}
