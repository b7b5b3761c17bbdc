/* SPDX-License-Identifier: MIT
 *
 * Starts /bin/true so many times, one after the other, by fork and exec, by posix_spawn, or only
 * forks. Prints the least and the median time of one, and the CPU time of one, in microseconds.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 100000 };

static double now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double us_of(struct timeval time)
{
    return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static double cpu_us(void)
{
    struct rusage own, children;
    (void)getrusage(RUSAGE_SELF, &own);
    (void)getrusage(RUSAGE_CHILDREN, &children);
    return us_of(own.ru_utime) + us_of(own.ru_stime) + us_of(children.ru_utime) +
           us_of(children.ru_stime);
}

static void start_one(const char *how)
{
    static char name[] = "/bin/true";
    char *const arguments[] = { name, NULL };
    pid_t child = 0;
    if (strcmp(how, "spawn") == 0) {
        (void)posix_spawn(&child, name, NULL, NULL, arguments, environ);
    } else {
        child = fork();
        if (child == 0 && strcmp(how, "exec") == 0)
            (void)execv(name, arguments);
        if (child == 0)
            _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double took_us[MOST];
    const size_t n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (n == 0 || n > MOST) {
        fprintf(stderr, "usage: %s exec|spawn|fork N\n", argv[0]);
        return 2;
    }
    const double cpu_before_us = cpu_us();
    for (size_t k = 0; k < n; k++) {
        const double before_us = now_us();
        start_one(argv[1]);
        took_us[k] = now_us() - before_us;
    }
    const double one_us = (cpu_us() - cpu_before_us) / (double)n;
    qsort(took_us, n, sizeof *took_us, by_value);
    printf("%.1f %.1f %.1f\n", took_us[0], took_us[n / 2], one_us);
    return 0;
}
