/* SPDX-License-Identifier: MIT
 *
 * Starts the program to record: a child that waits on a pipe until the recorder is ready, with
 * LD_PRELOAD and the settings of the libraries in its environment. With waits_for_tree the recorder
 * becomes the subreaper, so that it sees the end of orphaned descendants too.
 */
#include "record/session/target.h"

#include "schema/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_NOT_FOUND = 127, STATUS_NOT_RUN = 126, PRELOAD_BYTES = 8192 };

/* ---- in the child ------------------------------------------------------------------------------
 */

/* Behind what is loaded already: that may need to come first. */
static void set_preload(const char *libraries)
{
    const char *before = getenv("LD_PRELOAD");
    char text[PRELOAD_BYTES];
    if (!*libraries)
        return;
    const int n_text = snprintf(text, sizeof text, "%s%s%s", before ? before : "",
                                before && *before ? ":" : "", libraries);
    if (n_text > 0 && n_text < (int)sizeof text)
        (void)setenv("LD_PRELOAD", text, 1);
}

static void set_environment(const struct target_opts *opts)
{
    char pid[16];
    if (!opts->folder)
        return;
    (void)setenv(WEFT_RING_ENV, opts->folder, 1);
    (void)(opts->ask ? setenv(WEFT_RING_ASK_ENV, opts->ask, 1) : unsetenv(WEFT_RING_ASK_ENV));
    set_preload(opts->preload);
    if (!opts->with_operations)
        (void)setenv("WEFT_RECORD_OPERATIONS", "0", 1);
    if (opts->follows)
        return;
    (void)snprintf(pid, sizeof pid, "%d", (int)getpid());
    (void)setenv("WEFT_RECORD_ONLY", pid, 1);
}

/* What this program does about signals is not the other's business. */
static void reset_signals(void)
{
    static const int numbers[] = { SIGINT,  SIGTERM, SIGQUIT, SIGPIPE,
                                   SIGXFSZ, SIGUSR2, SIGBUS,  SIGWINCH };
    sigset_t none;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        (void)signal(numbers[k], SIG_DFL);
    if (signal(SIGHUP, SIG_DFL) == SIG_IGN)
        (void)signal(SIGHUP, SIG_IGN); /* it was run by nohup(1), and so is this */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void become(const struct target_opts *opts, int go_fd, int tell_fd)
{
    char byte;
    reset_signals();
    set_environment(opts);
    while (read(go_fd, &byte, 1) < 0 && errno == EINTR)
        ;
    (void)execvp(opts->argv[0], opts->argv);
    const int reason = errno;
    (void)!write(tell_fd, &reason, sizeof reason);
    _exit(reason == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN);
}

/* ---- in the recorder ---------------------------------------------------------------------------
 */

/* The flag is inherited by no child. What is orphaned later is a child of this process then, so
 * that wait fails with ECHILD when, and only when, the last process of the program is gone. */
static void adopt_orphans(struct target *target)
{
    int before = 0;
    (void)prctl(PR_GET_CHILD_SUBREAPER, &before);
    target->was_reaper = before != 0;
    target->is_tree = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

enum weft_code target_start(const struct target_opts *opts, struct target *target,
                            struct weft_err *err)
{
    int go[2], tell[2];
    *target = (struct target){ .pidfd = -1, .go_fd = -1, .ask_fd = -1 };
    if (pipe2(go, O_CLOEXEC) != 0)
        return weft_fail_errno(err, errno, "cannot make a pipe");
    if (pipe2(tell, O_CLOEXEC) != 0) {
        (void)weft_fail_errno(err, errno, "cannot make a pipe");
        (void)close(go[0]);
        (void)close(go[1]);
        return WEFT_E_IO;
    }
    if (opts->waits_for_tree)
        adopt_orphans(target);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(go[1]);
        become(opts, go[0], tell[1]);
    }
    (void)close(go[0]);
    (void)close(tell[1]);
    target->go_fd = go[1];
    target->ask_fd = tell[0];
    if (pid < 0)
        return weft_fail_errno(err, errno, "cannot start a process");
    target->pid = pid;
    target->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    return WEFT_OK;
}

enum weft_code target_go(struct target *target, const char *name, struct weft_err *err)
{
    int reason = 0;
    (void)close(target->go_fd);
    target->go_fd = -1;
    ssize_t n_read;
    while ((n_read = read(target->ask_fd, &reason, sizeof reason)) < 0 && errno == EINTR)
        ;
    (void)close(target->ask_fd);
    target->ask_fd = -1;
    if (n_read != (ssize_t)sizeof reason)
        return WEFT_OK;
    (void)target_poll(target, true);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "cannot run %s: %s", name, strerror(reason));
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

static void take(struct target *target, pid_t pid, int status, const struct rusage *used)
{
    target->cpu_ns += ns_of(used->ru_utime) + ns_of(used->ru_stime);
    if (pid == target->pid) {
        target->status = status;
        target->has_ended = true;
    }
    if (target->reaped)
        target->reaped(target->context, pid, status);
}

bool target_poll(struct target *target, bool waits)
{
    struct rusage used;
    int status;
    pid_t pid;
    if (target->pid == 0 || (target->has_ended && !target->is_tree))
        return target->has_ended;
    if (waits && !target->has_ended) {
        pid = wait4(target->pid, &status, 0, &used);
        if (pid == target->pid)
            take(target, pid, status, &used);
        return target->has_ended;
    }
    while ((pid = wait4(target->is_tree ? -1 : target->pid, &status, WNOHANG, &used)) > 0)
        take(target, pid, status, &used);
    target->has_rest = target->is_tree && !(pid < 0 && errno == ECHILD);
    return target->has_ended;
}

void target_signal(const struct target *target, int number)
{
    if (target->pid && !target->has_ended)
        (void)kill(target->pid, number);
}

int target_exit_status(const struct target *target)
{
    return WIFSIGNALED(target->status) ? 128 + WTERMSIG(target->status)
                                       : WEXITSTATUS(target->status);
}

/* One that was not let go ends by itself: it is not to become the program after all. */
void target_close(struct target *target)
{
    if (target->go_fd >= 0 && target->pid) {
        (void)kill(target->pid, SIGKILL);
        (void)target_poll(target, true);
    }
    if (target->is_tree)
        (void)prctl(PR_SET_CHILD_SUBREAPER, target->was_reaper, 0, 0, 0);
    if (target->go_fd >= 0)
        (void)close(target->go_fd);
    if (target->ask_fd >= 0)
        (void)close(target->ask_fd);
    if (target->pidfd >= 0)
        (void)close(target->pidfd);
}
