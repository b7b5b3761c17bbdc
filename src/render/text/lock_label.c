/* SPDX-License-Identifier: MIT */
#include "render/text/lock_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

/* A cut does not leave a part of a letter. */
static int length_of(struct weft_str name)
{
    size_t n = name.n_bytes;
    if (n > NAME_BYTES)
        for (n = NAME_BYTES; n > 0 && ((unsigned char)name.bytes[n] & 0xc0) == 0x80;)
            n--;
    return (int)n;
}

void weft_lock_label_make(const struct weft_trace *trace, const struct weft_lock_object *object,
                          struct weft_lock_label *label)
{
    const struct weft_thread_info *joined = object->thread_id != WEFT_ID_NONE
                                                ? &weft_trace_thread(trace, object->thread_id)->info
                                                : NULL;
    if (joined)
        (void)snprintf(label->text, sizeof label->text, "%" PRIu64 " %.*s", joined->tid,
                       length_of(joined->name), joined->name.bytes);
    else if (object->name.n_bytes)
        (void)snprintf(label->text, sizeof label->text, "%.*s", length_of(object->name),
                       object->name.bytes);
    else if (object->address)
        (void)snprintf(label->text, sizeof label->text, "0x%" PRIx64, object->address);
    else
        (void)snprintf(label->text, sizeof label->text, "%s",
                       object->is_untold ? "(any)" : "(no address)");
    const size_t n = strlen(label->text);
    if (object->nth)
        (void)snprintf(label->text + n, sizeof label->text - n, " #%" PRIu32, object->nth);
}
