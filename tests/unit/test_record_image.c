/* SPDX-License-Identifier: MIT
 *
 * Why the library is not in a program that gains privileges when it starts, or seems to.
 */
#include "record/session/image.h"
#include "record/session/loadable.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char own_copy[] = "/tmp/weft-image-XXXXXX";

static void copy_program(const char *from_path, mode_t mode)
{
    static char room[1 << 16];
    const int from = open(from_path, O_RDONLY), to = mkstemp(own_copy);
    ssize_t n_read;
    while ((n_read = read(from, room, sizeof room)) > 0)
        if (write(to, room, (size_t)n_read) != n_read)
            exit(1);
    if (from < 0 || to < 0 || fchmod(to, mode) != 0)
        exit(1);
    (void)close(from);
    (void)close(to);
}

static pid_t start(void)
{
    static char time[] = "60";
    char *const argv[] = { own_copy, time, NULL }, *const no_environment[] = { NULL };
    int told[2]; /* closed when it runs */
    char byte;
    if (pipe2(told, O_CLOEXEC) != 0)
        exit(1);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)execve(own_copy, argv, no_environment);
        _exit(1);
    }
    (void)close(told[1]);
    (void)!read(told[0], &byte, 1);
    (void)close(told[0]);
    return pid;
}

int main(void)
{
    const struct proc_user own = { getuid(), getgid() }, other = { getuid() + 1, getgid() },
                           group = { getuid(), getgid() + 1 }, unknown = { UINT32_MAX, UINT32_MAX };
    struct proc_text room = { 0 };
    copy_program("/bin/sleep", 04755);
    tap_eq_u64(loadable_why_not(own_copy, own), WEFT_LEDGER_NO_REASON, "its owner gains nothing");
    tap_eq_u64(loadable_why_not(own_copy, other), WEFT_LEDGER_PRIVILEGED, "another user does");
    tap_eq_u64(loadable_why_not(own_copy, unknown), WEFT_LEDGER_PRIVILEGED, "so may one not known");
    const pid_t pid = start();
    const struct proc_user found = proc_user((uint32_t)pid, &room);
    tap_ok(found.user == own.user && found.group == own.group, "the user of a process");
    tap_eq_u64(image_look_at((uint32_t)pid, NULL, &room), WEFT_LEDGER_ENVIRONMENT,
               "a process of the owner is no other than any");
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    tap_eq_u64(proc_user((uint32_t)pid, &room).user, UINT32_MAX, "one that is gone is of no user");
    tap_eq_u64(image_look_at((uint32_t)pid, own_copy, &room), WEFT_LEDGER_PRIVILEGED,
               "its program is the better reason then");
    (void)chmod(own_copy, 02755);
    tap_eq_u64(loadable_why_not(own_copy, own), WEFT_LEDGER_NO_REASON, "the same of groups");
    tap_eq_u64(loadable_why_not(own_copy, group), WEFT_LEDGER_PRIVILEGED, "and another group");
    (void)chmod(own_copy, 02745);
    tap_eq_u64(loadable_why_not(own_copy, group), WEFT_LEDGER_NO_REASON,
               "without the group's right to run it, the bit means something else");
    (void)unlink(own_copy);
    proc_text_fini(&room);
    return tap_done();
}
