/* SPDX-License-Identifier: MIT
 *
 * Imports a recording in place of the trace that a command was given. If its recorder still runs,
 * or the file belongs to another user, it goes to an unnamed file instead and the recording stays
 * as it is.
 */
#include "cli/recording.h"

#include "base/vec.h"
#include "cli/outputs.h"
#include "import/import.h"
#include "import/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The recorder holds a lock on the folder of its rings as long as it lives. */
static bool is_being_recorded(const struct weft_recording_about *about)
{
    if (about->has_end || !about->folder[0])
        return false;
    const int fd = open(about->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const bool is_locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        (void)close(fd);
    return is_locked;
}

static enum weft_code import_to(struct weft_cli *cli, const char *path, const char *output,
                                bool was_made_here)
{
    const struct weft_import_opts opts = { .inputs = &path,
                                           .n_inputs = 1,
                                           .output = output,
                                           .symbols_path = was_made_here ? "/" : NULL,
                                           .memory_bytes = cli->common.memory_bytes };
    struct weft_writer_totals totals = { 0 };
    return weft_import_run(&opts, &cli->run, &totals, &cli->err);
}

enum weft_code weft_cli_finish_recording(struct weft_cli *cli, const char *path, bool was_made_here)
{
    return import_to(cli, path, path, was_made_here);
}

/* A trace of what there is, in a file that has no name any more when this returns. */
static enum weft_code import_aside(struct weft_cli *cli, const char **path)
{
    const char *made = NULL;
    enum weft_code code = weft_outputs_scratch(cli, &made);
    WEFT_THEN(code, import_to(cli, *path, made, false));
    const int fd = code == WEFT_OK ? open(made, O_RDONLY | O_CLOEXEC) : -1;
    if (code == WEFT_OK && fd < 0)
        code = weft_fail_errno(&cli->err, errno, "cannot open a temporary trace");
    weft_outputs_end(cli); /* nothing with a name stays while the command works */
    char **open_path = code == WEFT_OK ? WEFT_VEC_PUSH(&cli->asides) : NULL;
    if (code == WEFT_OK && (!open_path || asprintf(open_path, "/proc/self/fd/%d", fd) < 0))
        code = weft_no_memory(&cli->err, "a path");
    if (code != WEFT_OK)
        return code;
    if (*path == cli->inputs[0] && !cli->shown_path)
        cli->shown_path = strdup(*path);
    *path = *open_path; /* the file is open as long as the program runs */
    return WEFT_OK;
}

static void remark(const struct weft_cli *cli, const char *path, const char *what)
{
    if (!cli->common.quiet)
        weft_say("weft: %s: %s\n", path, what);
}

/* The new file is the user's own, and with its owner's access alone: that of another user stays as
 * it is. */
static bool can_replace(const char *path)
{
    struct stat about;
    char *copy = strdup(path);
    if (!copy)
        return false;
    char *slash = strrchr(copy, '/');
    if (slash)
        slash[slash == copy] = '\0';
    const bool is_writable = access(slash ? copy : ".", W_OK) == 0 && stat(path, &about) == 0 &&
                             about.st_uid == geteuid();
    free(copy);
    return is_writable;
}

/* A trace of another program has to be imported. */
static enum weft_code refuse_foreign(struct weft_cli *cli, const char *path)
{
    const char *format = weft_import_format(path);
    if (!format)
        return WEFT_OK; /* an error of what opens it */
    (void)weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                    "expected a .weft file, found a trace of another format (%s): make one of it: "
                    "weft import %s",
                    format, path);
    return weft_in_file(&cli->err, path);
}

enum weft_code weft_cli_complete(struct weft_cli *cli, const char **path)
{
    struct weft_recording_about about = { 0 };
    struct utsname system = { 0 };
    const enum weft_own own = weft_own_of(*path);
    if (own == WEFT_OWN_NONE)
        return refuse_foreign(cli, *path);
    if (own != WEFT_OWN_RECORDING)
        return WEFT_OK;
    WEFT_TRY(weft_own_recording(*path, &about, &cli->err));
    (void)uname(&system);
    if (is_being_recorded(&about)) {
        remark(cli, *path, "is being recorded: this is what it holds so far");
        return import_aside(cli, path);
    }
    if (can_replace(*path)) {
        remark(cli, *path,
               about.has_end
                   ? "a recording; it is made a trace now"
                   : "its recorder was killed; what had been written is made a trace now");
        if (weft_cli_finish_recording(cli, *path, strcmp(about.host, system.nodename) == 0) ==
            WEFT_OK)
            return WEFT_OK;
        if (cli->err.code != WEFT_E_IO)
            return cli->err.code;
        cli->err = (struct weft_err){ 0 };
    }
    remark(cli, *path, "a recording; it cannot be replaced here, so a temporary trace is made");
    return import_aside(cli, path);
}
