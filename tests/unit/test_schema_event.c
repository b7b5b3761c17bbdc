/* SPDX-License-Identifier: MIT
 *
 * The names of the vocabulary: each kind has one, no two are alike, numbers beyond have "unknown".
 */
#include "schema/event.h"
#include "tap.h"

static const char *event_name(unsigned kind)
{
    return weft_event_kind_name((enum weft_event_kind)kind);
}

static const char *note_name(unsigned kind)
{
    return weft_note_name((enum weft_note_kind)kind);
}

static void test_names(const char *what, const char *(*name_of)(unsigned), unsigned n_kinds)
{
    for (unsigned kind = 0; kind < n_kinds; kind++) {
        const char *name = name_of(kind);
        bool is_word =
            name && name[0] && strspn(name, "abcdefghijklmnopqrstuvwxyz_") == strlen(name);
        if (!tap_ok(is_word, "%s %u has a name in lower case", what, kind))
            continue;
        bool is_unique = strcmp(name, "unknown") != 0;
        for (unsigned other = 0; other < kind; other++)
            is_unique = is_unique && strcmp(name, name_of(other)) != 0;
        tap_ok(is_unique, "%s %s is named alone", what, name);
    }
    tap_eq_str(name_of(n_kinds), "unknown", "a %s beyond the last", what);
}

int main(void)
{
    test_names("event", event_name, WEFT_EVENT_KINDS);
    test_names("note", note_name, WEFT_NOTE_KINDS);
    for (unsigned k = 0; k < WEFT_NOTE_KINDS; k++) {
        enum weft_note_kind kind = (enum weft_note_kind)k;
        tap_ok(strlen(weft_note_text(kind)) > 10, "%s is explained", weft_note_name(kind));
    }
    static const struct {
        enum weft_note_kind kind;
        enum weft_note_class note_class;
    } classes[] = {
        { WEFT_NOTE_LOST_RECORDS, WEFT_NOTE_CLASS_LOST },
        { WEFT_NOTE_TRUNCATED, WEFT_NOTE_CLASS_LOST },
        { WEFT_NOTE_MISSING_EXIT, WEFT_NOTE_CLASS_REPAIRED },
        { WEFT_NOTE_UNNAMED_FUNCTION, WEFT_NOTE_CLASS_INFO },
    };
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
        tap_eq_u64(weft_note_class_of(classes[k].kind), classes[k].note_class, "class of %s",
                   weft_note_name(classes[k].kind));
    return tap_done();
}
