/* SPDX-License-Identifier: MIT
 *
 * Many runs of a program without loading it anew for each, which takes longer than a short run
 * does: loaded into the program (LD_PRELOAD), this reads lines from its standard input, the words
 * of a command line with tabs between them. For each it forks, before main has begun: the child has
 * nothing to read, writes its errors to the file WEFT_RUNS_ERRORS, and is main of those words. Its
 * wait status is a line of the standard output. A run is ended by SIGALRM after WEFT_RUNS_SECONDS.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int argc, char **argv, char **envp);

static main_function *program_main;

__attribute__((noreturn)) static void fail(const char *what)
{
    perror(what);
    _exit(70);
}

static void put(int target, const char *path, int flags)
{
    const int opened = open(path, flags | O_CLOEXEC, 0600);
    if (opened < 0 || dup2(opened, target) < 0)
        fail(path);
    (void)close(opened);
}

static int run_line(char *line, char **envp)
{
    char *words[64];
    int n = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, "\t\n", &rest); word && n < 63;
         word = strtok_r(NULL, "\t\n", &rest))
        words[n++] = word;
    words[n] = NULL;
    const char *errors = getenv("WEFT_RUNS_ERRORS");
    const char *seconds = getenv("WEFT_RUNS_SECONDS");
    put(STDERR_FILENO, errors ? errors : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC);
    put(STDIN_FILENO, "/dev/null", O_RDONLY);
    put(STDOUT_FILENO, "/dev/null", O_WRONLY);
    (void)alarm(seconds ? (unsigned)strtoul(seconds, NULL, 10) : 60);
    return program_main(n, words, envp);
}

static int serve_runs(int argc, char **argv, char **envp)
{
    (void)argc;
    (void)argv;
    char line[16384];
    ssize_t n;
    while ((n = read(STDIN_FILENO, line, sizeof line - 1)) > 0) { /* a question at a time */
        line[n] = '\0';
        const pid_t child = fork();
        if (child == 0)
            return run_line(line, envp);
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child)
            fail("fork");
        if (dprintf(STDOUT_FILENO, "%d\n", status) < 0)
            fail("status");
    }
    _exit(0);
}

typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);
start_function __libc_start_main;

/* What the program begins with, in place of the C library's: main is serve_runs. */
int __libc_start_main(main_function *own, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    start_function *real = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
    if (!real)
        fail("__libc_start_main");
    program_main = own;
    return real(serve_runs, argc, argv, init, fini, loader_fini, stack_end);
}
