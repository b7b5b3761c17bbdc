/* SPDX-License-Identifier: MIT
 *
 * See image.h.
 */
#include "record/session/image.h"

#include "record/session/loadable.h"
#include "schema/recording.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* May its start change what some user may do? */
static bool is_privileged(const char *path)
{
    struct stat about;
    return (stat(path, &about) == 0 && (about.st_mode & (S_ISUID | S_ISGID))) ||
           getxattr(path, "security.capability", NULL, 0) > 0;
}

static enum weft_ledger_why why_of_file(const char *path)
{
    const enum weft_ledger_why why = loadable_why_not(path);
    if (why != WEFT_LEDGER_NO_REASON)
        return why;
    return is_privileged(path) ? WEFT_LEDGER_PRIVILEGED : WEFT_LEDGER_NOT_LOADED;
}

static bool names(const struct proc_text *text, const char *what)
{
    return memmem(text->items, text->n, what, strlen(what)) != NULL;
}

enum weft_ledger_why image_look_at(uint32_t pid, const char *path, struct proc_text *room)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/%" PRIu32 "/exe", pid);
    const bool is_there = access(link, R_OK) == 0;
    enum weft_ledger_why why = WEFT_LEDGER_NOT_LOADED;
    if (is_there)
        why = why_of_file(link);
    else if (path && path[0] == '/')
        why = why_of_file(path);
    if (why != WEFT_LEDGER_NOT_LOADED || !is_there)
        return why;
    if (proc_read(pid, "maps", room) && names(room, "/libweft-"))
        return WEFT_LEDGER_UNREACHABLE;
    if (proc_read(pid, "environ", room) &&
        (!names(room, "libweft-") || !names(room, WEFT_RING_ENV "=")))
        return WEFT_LEDGER_ENVIRONMENT;
    return why;
}
