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
#include <unistd.h>

static enum weft_ledger_why why_of_file(const char *path, struct proc_user by)
{
    const enum weft_ledger_why why = loadable_why_not(path, by);
    return why == WEFT_LEDGER_NO_REASON ? WEFT_LEDGER_NOT_LOADED : why;
}

static bool names(const struct proc_text *text, const char *what)
{
    return text->n && memmem(text->items, text->n, what, strlen(what)) != NULL;
}

enum weft_ledger_why image_look_at(uint32_t pid, const char *path, struct proc_text *room)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/%" PRIu32 "/exe", pid);
    const bool is_there = access(link, R_OK) == 0;
    const struct proc_user by = proc_user(pid, room);
    enum weft_ledger_why why = WEFT_LEDGER_NOT_LOADED;
    if (is_there)
        why = why_of_file(link, by);
    if (why == WEFT_LEDGER_NOT_LOADED && path && path[0] == '/') /* it may be gone by now */
        why = why_of_file(path, by);
    if (why != WEFT_LEDGER_NOT_LOADED || !is_there)
        return why;
    if (proc_read(pid, "maps", room) && names(room, "/libweft-"))
        return WEFT_LEDGER_UNREACHABLE;
    (void)snprintf(link, sizeof link, "/proc/%" PRIu32 "/environ", pid);
    const bool has_environment = proc_read(pid, "environ", room) || access(link, R_OK) == 0;
    if (has_environment && (!names(room, "libweft-") || !names(room, WEFT_RING_ENV "=")))
        return WEFT_LEDGER_ENVIRONMENT;
    return why;
}
