/* SPDX-License-Identifier: MIT
 *
 * A program to be recorded, built with -finstrument-functions: does one thing, whose calls are
 * known. usage: recorded MODE [NUMBER [NUMBER]]
 */
#include "weft/mark.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SILENT __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline))

CALLED static int leaf(int number)
{
    __asm__ volatile(""); /* every call is made */
    return number + 1;
}

/* 1 + `n` calls. */
CALLED static int step(int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum = leaf(sum);
    return sum;
}

CALLED static void slow(long ms)
{
    const struct timespec time = { .tv_nsec = ms * 1000000 };
    (void)nanosleep(&time, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* SILENT: who locked is known by the address alone. */
SILENT CALLED static void lock_here(void)
{
    (void)pthread_mutex_lock(&mutex);
    (void)pthread_mutex_unlock(&mutex);
    __asm__ volatile(""); /* no tail call */
}

SILENT CALLED static void lock_there(void)
{
    (void)pthread_mutex_lock(&mutex);
    (void)pthread_mutex_unlock(&mutex);
    __asm__ volatile("");
}

SILENT static void lock_all(long n)
{
    for (long k = 0; k < n; k++) {
        lock_here();
        if (k % 2 == 0)
            lock_there();
    }
}

static long n_steps;

CALLED static void *thread(void *unused)
{
    (void)unused;
    for (long k = 0; k < n_steps; k++)
        (void)step((int)(k % 7));
    return NULL;
}

SILENT static void run_threads(long n_threads, long at_once)
{
    pthread_t ids[64];
    for (long done = 0; done < n_threads;) {
        long n = n_threads - done < at_once ? n_threads - done : at_once;
        for (long k = 0; k < n; k++)
            if (pthread_create(&ids[k], NULL, thread, NULL) != 0)
                exit(9);
        for (long k = 0; k < n; k++)
            (void)pthread_join(ids[k], NULL);
        done += n;
    }
}

/* Threads that hand a byte around. */
enum { MOST_HANDS = 16 };

static int hands[MOST_HANDS][2];
static long n_hands, n_rounds;

SILENT static void *hand(void *number)
{
    const long own = (long)(intptr_t)number;
    char byte, name[16];
    (void)snprintf(name, sizeof name, "hand %ld", own);
    (void)pthread_setname_np(pthread_self(), name);
    for (long k = 0; k < n_rounds; k++)
        if (read(hands[own][0], &byte, 1) != 1 ||
            write(hands[(own + 1) % n_hands][1], &byte, 1) != 1)
            exit(9);
    return NULL;
}

SILENT static void run_hands(long n, long rounds)
{
    pthread_t ids[MOST_HANDS];
    n_hands = n < MOST_HANDS ? n : MOST_HANDS;
    n_rounds = rounds;
    for (long k = 0; k < n_hands; k++)
        if (pipe(hands[k]) != 0)
            exit(9);
    for (long k = 0; k < n_hands; k++)
        if (pthread_create(&ids[k], NULL, hand, (void *)(intptr_t)k) != 0)
            exit(9);
    if (write(hands[0][1], "x", 1) != 1)
        exit(9);
    for (long k = 0; k < n_hands; k++)
        (void)pthread_join(ids[k], NULL);
}

SILENT static void run_children(long n_children)
{
    for (long k = 0; k < n_children; k++) {
        const pid_t pid = fork();
        if (pid == 0) {
            (void)step(3);
            _exit(0);
        }
        if (pid < 0 || waitpid(pid, NULL, 0) != pid)
            exit(9);
    }
}

SILENT static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Calls without end, a little slower than can be recorded. */
SILENT static void run_on(double seconds)
{
    const struct timespec pause = { .tv_nsec = 200000 };
    for (const double end = now() + seconds; now() < end;) {
        (void)step(50);
        (void)nanosleep(&pause, NULL);
    }
}

/* `n` times 2000 steps of 49 calls, with pauses in which a recorder keeps up. */
SILENT static void run_much(long n)
{
    const struct timespec pause = { .tv_nsec = 6000000 };
    for (long k = 0; k < n; k++) {
        for (int i = 0; i < 2000; i++)
            (void)step(49);
        (void)nanosleep(&pause, NULL);
    }
}

/* Calls functions of a library that is opened first, 100 times in a second. */
SILENT static void run_plugin(const char *path)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    void *library = dlopen(path, RTLD_NOW);
    int (*wanted)(int) = NULL, (*other)(int) = NULL;
    if (library) {
        *(void **)&wanted = dlsym(library, "plugin_wanted");
        *(void **)&other = dlsym(library, "plugin_other");
    }
    if (!wanted || !other)
        exit(9);
    for (int k = 0; k < 100; k++) {
        lock_here();
        (void)wanted(other(k));
        (void)nanosleep(&pause, NULL);
    }
    (void)dlclose(library);
}

/* The same for a library that the recorder is not told of: the C library opens it, as it does its
 * own, a while after the last one that was. */
SILENT static void run_silent_plugin(const char *path)
{
    const struct timespec a_while = { .tv_nsec = 120000000 }, pause = { .tv_nsec = 10000000 };
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), *library = NULL;
    void *(*silent_dlopen)(const char *, int) = NULL;
    void (*silent)(void) = NULL;
    (void)nanosleep(&a_while, NULL);
    if (libc)
        *(void **)&silent_dlopen = dlsym(libc, "dlopen");
    if (silent_dlopen)
        library = silent_dlopen(path, RTLD_NOW);
    if (library)
        *(void **)&silent = dlsym(library, "plugin_silent");
    if (!silent)
        exit(9);
    for (int k = 0; k < 100; k++) {
        silent();
        (void)nanosleep(&pause, NULL);
    }
}

/* `n` pages that nobody has touched before, each one once, in a marked execution. */
SILENT static void touch(long n)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), n_bytes = (size_t)n * page_bytes;
    char *pages = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        exit(9);
    (void)madvise(pages, n_bytes, MADV_NOHUGEPAGE);
    weft_mark_begin("touch", 1);
    for (long k = 0; k < n; k++)
        ((volatile char *)pages)[(size_t)k * page_bytes] = 1;
    weft_mark_end("touch", 1);
}

SILENT static void run_slow(void)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    for (int k = 0; k < 60; k++) {
        slow(k == 30 ? 40 : 1);
        (void)nanosleep(&pause, NULL);
    }
}

/* ---- a program that is no friend of its recorder -----------------------------------------------
 */

static uint64_t state = 1;

SILENT static uint64_t draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 20;
}

/* Writes anything anywhere into the heads and first words of its rings, and cuts them short. */
SILENT static void scribble_over(const char *path)
{
    struct stat about;
    const int fd = open(path, O_RDWR);
    if (fd < 0 || fstat(fd, &about) != 0 || about.st_size == 0) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    const size_t n_bytes = about.st_size < 1 << 20 ? (size_t)about.st_size : 1 << 20;
    for (int k = 0; k < 200; k++) {
        const uint64_t word = draw() % 4 ? draw() : draw() % 8;
        const off_t at = (off_t)(draw() % (draw() % 2 ? n_bytes : 1024) / 8 * 8);
        (void)!pwrite(fd, &word, sizeof word, at);
    }
    if (draw() % 4 == 0)
        (void)!ftruncate(fd, (off_t)(draw() % 200000));
    (void)close(fd);
}

SILENT static void scribble_over_all(const char *folder, pid_t victim)
{
    char path[512], copy[600], own[16];
    DIR *entries = opendir(folder);
    (void)snprintf(own, sizeof own, "%d.", (int)victim);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (strncmp(entry->d_name, own, strlen(own)) != 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        scribble_over(path);
        (void)snprintf(copy, sizeof copy, "%s/%d.1.%d", folder, (int)(draw() % 9),
                       (int)(draw() % 3));
        if (draw() % 3 == 0)
            (void)!symlink(path, copy);
    }
    if (entries)
        (void)closedir(entries);
}

/* Over the rings of its children: they may trip over it, too. */
SILENT static void scribble(double seconds)
{
    const char *folder = getenv("WEFT_RECORD");
    const struct timespec pause = { .tv_nsec = 3000000 };
    state = (uint64_t)getpid();
    for (const double end = now() + seconds; folder && now() < end;) {
        const pid_t victim = fork();
        if (victim == 0) {
            run_on(0.1);
            _exit(0);
        }
        for (int k = 0; k < 10; k++) {
            (void)nanosleep(&pause, NULL);
            scribble_over_all(folder, victim);
        }
        (void)kill(victim, SIGKILL);
        (void)waitpid(victim, NULL, 0);
    }
}

CALLED static void early(void)
{
    __asm__ volatile("");
}

/* A call, a child that calls, and then another program. */
SILENT static void become(char **arguments)
{
    early();
    if (fork() == 0) {
        early();
        _exit(0);
    }
    (void)wait(NULL);
    (void)execv(arguments[0], arguments);
    exit(9);
}

SILENT int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const double first = argc > 2 ? strtod(argv[2], NULL) : 0,
                 second = argc > 3 ? strtod(argv[3], NULL) : 0;
    if (strcmp(mode, "known") == 0) {
        n_steps = (long)second;
        run_threads((long)first, 8);
    } else if (strcmp(mode, "locks") == 0) {
        lock_all((long)first);
    } else if (strcmp(mode, "exit") == 0) {
        return (int)first;
    } else if (strcmp(mode, "signal") == 0) {
        (void)raise((int)first);
    } else if (strcmp(mode, "forks") == 0) {
        run_children((long)first);
    } else if (strcmp(mode, "run") == 0) {
        run_on(first);
    } else if (strcmp(mode, "plugin") == 0) {
        run_plugin(argc > 2 ? argv[2] : "");
    } else if (strcmp(mode, "silent-plugin") == 0) {
        run_silent_plugin(argc > 2 ? argv[2] : "");
    } else if (strcmp(mode, "hand") == 0) {
        run_hands((long)first, (long)second);
    } else if (strcmp(mode, "much") == 0) {
        run_much((long)first);
    } else if (strcmp(mode, "touch") == 0) {
        touch((long)first);
    } else if (strcmp(mode, "slow") == 0) {
        run_slow();
    } else if (strcmp(mode, "become") == 0 && argc > 2) {
        become(argv + 2);
    } else if (strcmp(mode, "scribble") == 0) {
        scribble(first);
    } else {
        return 2;
    }
    return 0;
}
