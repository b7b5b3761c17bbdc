/* SPDX-License-Identifier: MIT
 *
 * What processes and threads do to a library inside them. usage: target_process HOW [NUMBER]. Built
 * with -finstrument-functions; each way says at the end how many calls of `leaf` it has made.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function, noinline))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic long n_leaves;

__attribute__((noinline)) static void leaf(void)
{
    n_leaves++;
    __asm__ volatile("");
}

__attribute__((constructor(101), no_instrument_function)) static void early(void)
{
    leaf(); /* before or after the library's own constructor */
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

PLAIN static void *few(void *unused)
{
    leaf();
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

/* NUMBER threads, one after the other. */
PLAIN static void threads(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, few, NULL) != 0 || pthread_join(thread, NULL) != 0)
            exit(1);
    }
}

/* A child that calls NUMBER times, with a child of its own that does; `raw` without the C library.
 */
PLAIN static void forks(long n, int is_raw)
{
    leaf();
    pid_t child = is_raw ? (pid_t)syscall(SYS_fork) : fork();
    if (child == 0) {
        n_leaves = 0;
        const pid_t grandchild = is_raw ? (pid_t)syscall(SYS_fork) : fork();
        for (long i = 0; i < n; i++)
            leaf();
        if (grandchild > 0)
            waitpid(grandchild, NULL, 0);
        _exit(n_leaves == n ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    leaf();
    if (status != 0)
        exit(1);
}

PLAIN static void many_forks(long n)
{
    for (long i = 0; i < n; i++) {
        const pid_t child = fork();
        if (child == 0) {
            leaf();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

PLAIN static void execs(char **argv, long n)
{
    char text[32];
    leaf();
    (void)snprintf(text, sizeof text, "%ld", n - 1);
    if (n > 0)
        execl(argv[0], argv[0], "exec", text, NULL);
}

PLAIN static void vforks(char **argv)
{
    leaf();
    const pid_t child = vfork();
    if (child == 0) {
        leaf(); /* on the parent's stack, in its memory */
        execl(argv[0], argv[0], "exec", "0", NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    leaf();
}

/* ---- signals in the middle of hooks */

static sigjmp_buf back;
static _Atomic int n_signals;
static _Atomic int is_jumping;

PLAIN static void on_signal(int number)
{
    const int kept_errno = errno;
    (void)number;
    n_signals++;
    for (int i = 0; i < 3; i++)
        leaf();
    if (pthread_mutex_trylock(&mutex) == 0)
        pthread_mutex_unlock(&mutex);
    errno = kept_errno;
    if (is_jumping)
        siglongjmp(back, 1);
}

PLAIN static void signals(long n, int jumps)
{
    const struct itimerval often = { { 0, 50 }, { 0, 50 } };
    const struct itimerval never = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    (void)sigsetjmp(back, 1);
    is_jumping = jumps;
    while (n_signals < n) {
        leaf();
        errno = 99;
        leaf();
        if (errno != 99)
            exit(3);
    }
    is_jumping = 0;
    setitimer(ITIMER_REAL, &never, NULL);
}

/* A handler that forks: the child goes on where its parent was interrupted. */
static _Atomic int is_child;
static int n_bad_children;

PLAIN static void fork_here(int number)
{
    const int kept_errno = errno;
    int status = 1;
    (void)number;
    n_signals++;
    const pid_t child = fork();
    if (child == 0) {
        is_child = 1;
    } else {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        n_bad_children += status != 0;
    }
    errno = kept_errno;
}

/* One at a time: handlers that take longer than the time between them leave none for the program.
 */
PLAIN static void handler_forks(long n)
{
    struct sigaction action = { .sa_handler = fork_here };
    sigaction(SIGALRM, &action, NULL);
    for (int k = 0; k < n && !is_child; k++) {
        const struct itimerval once = { { 0, 0 }, { 0, 20 + k % 50 } };
        setitimer(ITIMER_REAL, &once, NULL);
        while (n_signals == k) {
            leaf();
            if (pthread_mutex_lock(&mutex) == 0)
                pthread_mutex_unlock(&mutex);
        }
    }
    for (int i = 0; is_child && i < 7; i++)
        leaf();
    if (is_child)
        _exit(0);
    if (n_bad_children)
        exit(3);
}

/* ---- keys whose destructors are recorded too, in any order */

static pthread_key_t keys[8];

PLAIN static void destroyed(void *round)
{
    const long n = (long)round;
    leaf();
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (n < 3)
        pthread_setspecific(keys[0], (void *)(n + 1));
}

PLAIN static void *with_keys(void *unused)
{
    leaf();
    for (int i = 0; i < 8; i++)
        pthread_setspecific(keys[i], (void *)(i == 0 ? 1L : 9L));
    return unused;
}

PLAIN static void destructors(void)
{
    pthread_t thread;
    for (int i = 0; i < 8; i++)
        pthread_key_create(&keys[i], destroyed);
    pthread_create(&thread, NULL, with_keys, NULL);
    pthread_join(thread, NULL);
}

/* Closes every descriptor and leaves the program's folder, as daemons do. */
PLAIN static void daemonize(void)
{
    leaf();
    const int out = dup(1);
    for (int fd = 3; fd < 64; fd++)
        if (fd != out)
            close(fd);
    if (chdir("/") != 0)
        exit(1);
    for (int i = 0; i < 20000; i++) /* beyond what has memory yet */
        leaf();
    close(out);
}

PLAIN static void loads(void)
{
    for (int i = 0; i < 2; i++) {
        void *module = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
        leaf();
        usleep(1000);
        leaf();
        if (!module || dlclose(module) != 0)
            exit(1);
    }
}

PLAIN static void *spin(void *unused)
{
    for (;;)
        leaf();
    return unused;
}

/* Threads that are cancelled at any moment. */
PLAIN static void *spin_until_cancelled(void *unused)
{
    for (;;) {
        leaf();
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        usleep(1);
    }
    return unused;
}

PLAIN static void cancels(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, spin_until_cancelled, NULL);
        usleep(200);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
}

PLAIN int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const long n = argc > 2 ? strtol(argv[2], NULL, 0) : 0;
    if (strcmp(how, "threads") == 0)
        threads(n);
    else if (strcmp(how, "fork") == 0)
        forks(n, 0);
    else if (strcmp(how, "raw-fork") == 0)
        forks(n, 1);
    else if (strcmp(how, "many-forks") == 0)
        many_forks(n);
    else if (strcmp(how, "exec") == 0)
        execs(argv, n);
    else if (strcmp(how, "vfork") == 0)
        vforks(argv);
    else if (strcmp(how, "signals") == 0)
        signals(n, 0);
    else if (strcmp(how, "jumps") == 0)
        signals(n, 1);
    else if (strcmp(how, "handler-forks") == 0)
        handler_forks(n);
    else if (strcmp(how, "destructors") == 0)
        destructors();
    else if (strcmp(how, "daemon") == 0)
        daemonize();
    else if (strcmp(how, "dlopen") == 0)
        loads();
    else if (strcmp(how, "cancel") == 0)
        cancels(n);
    else if (strcmp(how, "spin") == 0)
        spin(NULL);
    printf("%ld\n", (long)n_leaves);
    return 0;
}
