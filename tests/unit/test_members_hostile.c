/* SPDX-License-Identifier: MIT
 *
 * Debugging information made so that a look-up of a member takes long: what is read of it is
 * counted (the linker wraps pread64), and bounded for each look-up and for all. And names that only
 * some languages write.
 */
#include "dwarf_builder.h"
#include "symbols/members.h"
#include "tap.h"

#include <inttypes.h>

enum { MEMBERS = 4000, CHAIN = 28, FILL = 20000, VARIABLE = 0x40 };
enum { MOST_READS = 20000, LOOKUPS = 200 };

/* code, tag, has inner; attribute, form ... */
enum { UNIT = 1, OBJECT, STRUCTURE, MEMBER, CONST, BASE, ARRAY, NO_BOUND, BOUND, FILLER, NAMED };
static const uint8_t abbrevs[] = {
    UNIT,      0x11, 1, 0x13, 0x0b, 0,    0,                      /* language */
    OBJECT,    0x34, 0, 0x49, 0x13, 0x02, 0x18, 0,    0,          /* type, location */
    STRUCTURE, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0,    0,          /* name, size */
    MEMBER,    0x0d, 0, 0x49, 0x13, 0x38, 0x0b, 0,    0,          /* type, place */
    CONST,     0x26, 0, 0x49, 0x13, 0,    0,                      /* type */
    BASE,      0x24, 0, 0x0b, 0x0b, 0,    0,                      /* size */
    ARRAY,     0x01, 1, 0x49, 0x13, 0,    0,                      /* type */
    NO_BOUND,  0x24, 0, 0,    0,                                  /* no bound at all */
    BOUND,     0x21, 0, 0x37, 0x0b, 0,    0,                      /* count */
    FILLER,    0x24, 0, 0x03, 0x08, 0,    0,                      /* name */
    NAMED,     0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x0b, 0, 0, /* name, type, place */
    0,
};

static struct db_file made;
static uint64_t n_reads;

ssize_t __real_pread64(int fd, void *bytes, size_t n_bytes, off_t off);
ssize_t __wrap_pread64(int fd, void *bytes, size_t n_bytes, off_t off);

ssize_t __wrap_pread64(int fd, void *bytes, size_t n_bytes, off_t off)
{
    n_reads++;
    return __real_pread64(fd, bytes, n_bytes, off);
}

/* ---- files ----------------------------------------------------------------------------------- */

static uint32_t entry(uint8_t code)
{
    const uint32_t at = db_offset(&made);
    db_put_number(&made, code, 1);
    return at;
}

/* Types are known once they were written: the place is what `set_type` fills. */
static size_t type(uint32_t at)
{
    db_put_number(&made, at, 4);
    return made.n - 4;
}

static void set_type(size_t place, uint32_t at)
{
    memcpy(made.bytes + place, &at, sizeof at);
}

static size_t begin_info(uint8_t language)
{
    db_begin_file(&made);
    db_begin_section(&made, ".debug_info");
    const size_t at = db_begin_unit(&made);
    entry(UNIT);
    db_put_number(&made, language, 1);
    return at;
}

static size_t put_object(void)
{
    entry(OBJECT);
    const size_t place = type(0);
    db_put_number(&made, 9, 1);
    db_put_number(&made, 0x03, 1); /* DW_OP_addr */
    db_put_number(&made, VARIABLE, 8);
    return place;
}

static void end_info(size_t unit)
{
    db_put_number(&made, 0, 1);
    db_end_unit(&made, unit);
    db_end_section(&made);
    db_begin_section(&made, ".debug_abbrev");
    db_put(&made, abbrevs, sizeof abbrevs);
    db_end_section(&made);
    db_end_file(&made);
}

static void put_text(const char *text)
{
    db_put(&made, text, strlen(text) + 1);
}

/* So much that what follows is not read together with what is before. */
static void put_filler(void)
{
    static char name[FILL];
    memset(name, 'f', sizeof name - 1);
    entry(FILLER);
    put_text(name);
}

/* A type of no size behind many that are the same, each far from the one before. */
static uint32_t put_chain(void)
{
    size_t places[CHAIN];
    uint32_t heads[CHAIN];
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned k = side; k < CHAIN; k += 2) {
            heads[k] = entry(CONST);
            places[k] = type(0);
        }
        if (side == 0)
            put_filler();
    }
    const uint32_t base = entry(BASE);
    db_put_number(&made, 0, 1);
    for (unsigned k = 0; k < CHAIN; k++)
        set_type(places[k], k + 1 < CHAIN ? heads[k + 1] : base);
    return heads[0];
}

/* A structure whose last member is of its own type, and all others of types of no size. */
static void make_nested(bool has_own_heads)
{
    const size_t unit = begin_info(0x0c);
    const size_t object = put_object();
    const uint32_t chain = put_chain();
    uint32_t head = chain;
    const uint32_t heads_at = db_offset(&made);
    for (unsigned k = 0; has_own_heads && k < MEMBERS; k++) {
        entry(CONST);
        type(chain);
    }
    const uint32_t structure = entry(STRUCTURE);
    put_text("nested");
    db_put_number(&made, 8, 1);
    for (unsigned k = 0; k <= MEMBERS; k++) {
        entry(MEMBER);
        if (has_own_heads)
            head = heads_at + 5 * k;
        type(k < MEMBERS ? head : structure);
        db_put_number(&made, 0, 1);
    }
    db_put_number(&made, 0, 1);
    set_type(object, structure);
    end_info(unit);
}

/* Members are arrays without a bound, each with all that follows inside. */
static void make_arrays(void)
{
    const size_t unit = begin_info(0x0c);
    const size_t object = put_object();
    const uint32_t array = entry(ARRAY);
    const uint32_t base_at = db_offset(&made) + 4;
    type(base_at);
    entry(BASE);
    db_put_number(&made, 8, 1);
    for (unsigned k = 0; k < FILL; k++)
        entry(NO_BOUND);
    db_put_number(&made, 0, 1);
    const uint32_t structure = entry(STRUCTURE);
    put_text("arrays");
    db_put_number(&made, 8, 1);
    for (unsigned k = 0; k < MEMBERS; k++) {
        entry(MEMBER);
        type(array);
        db_put_number(&made, 0, 1);
    }
    db_put_number(&made, 0, 1);
    set_type(object, structure);
    end_info(unit);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_work(const char *what)
{
    int fd;
    bool is_nomem;
    char text[64];
    struct weft_members *members = weft_members_open(db_write(&made, &fd), &is_nomem);
    tap_ok(members && !is_nomem, "%s: variables are listed", what);
    uint64_t n_most = 0, n_before = n_reads;
    for (unsigned k = 0; members && k < LOOKUPS; k++) {
        const uint64_t n_own = n_reads;
        (void)weft_members_at(members, VARIABLE, 0, text, sizeof text);
        n_most = n_reads - n_own > n_most ? n_reads - n_own : n_most;
    }
    tap_ok(n_most < MOST_READS, "%s: a look-up reads %" PRIu64 " times", what, n_most);
    tap_ok(n_reads - n_before < 20 * MOST_READS, "%s: %d look-ups read %" PRIu64 " times", what,
           LOOKUPS, n_reads - n_before);
    weft_members_free(members);
    (void)close(fd);
}

/* The lock is a member `member` of the variable, of the type `name`, which has a member too. */
static void check_name(uint8_t language, const char *member, const char *name, const char *want)
{
    const size_t unit = begin_info(language);
    const size_t object = put_object();
    const uint32_t base = entry(BASE);
    db_put_number(&made, 8, 1);
    const uint32_t lock = entry(STRUCTURE);
    put_text(name);
    db_put_number(&made, 8, 1);
    entry(NAMED);
    put_text("state");
    type(base);
    db_put_number(&made, 0, 2); /* its place; the end of the structure */
    set_type(object, entry(STRUCTURE));
    put_text("outer");
    db_put_number(&made, 8, 1);
    entry(NAMED);
    put_text(member);
    type(lock);
    db_put_number(&made, 0, 2);
    end_info(unit);
    int fd;
    bool is_nomem;
    char text[64] = "";
    struct weft_members *members = weft_members_open(db_write(&made, &fd), &is_nomem);
    if (members)
        (void)weft_members_at(members, VARIABLE, 0, text, sizeof text);
    tap_ok(strcmp(text, want) == 0, "%s %s: \"%s\", \"%s\" found", name, member, want, text);
    weft_members_free(members);
    (void)close(fd);
}

/* What libraries reserve, and Rust's locks, have no names inside; what is only like them has. */
static void test_names(void)
{
    enum { C99 = 0x0c, RUST = 0x1c, CPP14 = 0x21 };
    check_name(C99, "guard", "lock", ".guard.state");
    check_name(C99, "_guard", "lock", "._guard.state");
    check_name(C99, "__data", "lock", "");
    check_name(CPP14, "_M_mutex", "lock", "");
    check_name(RUST, "guard", "Mutex<u64>", ".guard");
    check_name(RUST, "guard", "Condvar", ".guard");
    check_name(RUST, "guard", "Once", ".guard");
    check_name(RUST, "guard", "OnceEvery", ".guard.state");
    check_name(RUST, "guard", "Mutexes", ".guard.state");
    check_name(CPP14, "guard", "Mutex<int>", ".guard.state");
    check_name(CPP14, "guard", "Once", ".guard.state");
}

/* With an argument: writes one of the files, for the corpus of a fuzz target. */
int main(int n_args, char **args)
{
    if (n_args > 1) {
        make_nested(strcmp(args[1], "heads") == 0);
        return fwrite(made.bytes, 1, made.n, stdout) == made.n ? 0 : 1;
    }
    make_nested(false);
    test_work("a structure in itself");
    make_nested(true);
    test_work("a structure with many types");
    make_arrays();
    test_work("arrays without a bound");
    test_names();
    return tap_done();
}
