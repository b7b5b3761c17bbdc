/* SPDX-License-Identifier: MIT
 *
 * The uftrace importer against slow_uftrace.h, on thousands of random directories: several tasks,
 * an exec, a library opened later, values at entry and exit, events, lost records, frames left
 * without exits, and damage in the records.
 */
#include "ingest/uftrace/uftrace.h"
#include "slow_uftrace.h"
#include "tap.h"
#include "uftrace_builder.h"

enum { ROUNDS = 5000, BASE_NS = 2000000000 };

static uint64_t draw(uint64_t *state, uint64_t n)
{
    return tap_random(state) % n;
}

static void build_metadata(struct ub *dir, uint64_t *state)
{
    char text[512];
    ub_info(dir, "exename:/usr/bin/prog\n"
                 "argspec:lines=4\n"
                 "argspec:add@arg1/i32,arg2;name@arg1/s;half@fparg1/64\n"
                 "retspec:add@retval/i32;^na.*@retval/s\npattern_type:regex\n");
    ub_text(dir, "prog.sym",
            "# symbols: 6\n# path name: /usr/bin/prog\n"
            "0000000000001000 P ext\n0000000000001100 T main\n0000000000001200 T add\n"
            "0000000000001300 T name\n0000000000001400 t half\n0000000000001500 ? __end\n"
            "0000000000001600 d data\n0000000000001700 ? __sym_end\n");
    ub_text(dir, "libq.so.sym",
            "# symbols: 3\n# path name: /lib/libq.so\n"
            "0000000000000500 T qfun\n0000000000000600 T inner\n0000000000000700 ? __end\n");
    ub_text(dir, "libq.so.dbg", "F: 500 qfun\nL: 3 q.c\nA: @arg1/c,arg2/u16\n");
    ub_text(dir, "sid-aaaa.map",
            "400000-401000 r-xp 00000000 00:00 0 /usr/bin/prog build-id:00\n"
            "401000-402000 r--p 00000000 00:00 0 /usr/bin/prog\n"
            "7000000-7001000 r-xp 00000000 00:00 0 /lib/libq.so\n"
            "7fff0000-7fff8000 rw-p 00000000 00:00 0 [stack]\n");
    ub_text(dir, "sid-bbbb.map", "500000-502000 r-xp 00000000 00:00 0 /usr/bin/prog\n");
    ub_text(dir, "task.txt",
            "SESS timestamp=1.900000000 pid=10 sid=aaaa exename=\"/usr/bin/prog\"\n"
            "TASK timestamp=1.900000001 tid=10 pid=10\n"
            "TASK timestamp=1.900000002 tid=11 pid=10\n");
    (void)snprintf(text, sizeof text,
                   "DLOP timestamp=2.%09u tid=10 sid=aaaa base=9000000 libname=\"/lib/libq.so\"\n"
                   "FORK timestamp=2.000000010 pid=12 ppid=10\n",
                   (unsigned)draw(state, 400));
    ub_text(dir, "task.txt", text);
    if (draw(state, 2))
        return;
    unsigned at_ns = (unsigned)draw(state, 400);
    (void)snprintf(text, sizeof text,
                   "SESS timestamp=2.%09u pid=10 sid=bbbb exename=\"/usr/bin/prog\"\n"
                   "TASK timestamp=2.%09u tid=10 pid=10\n",
                   at_ns, at_ns);
    ub_text(dir, "task.txt", text);
}

static uint64_t draw_address(uint64_t *state)
{
    static const uint64_t bases[] = {
        0x400000, 0x400000, 0x400000, 0x500000, 0x7000000, 0x9000000
    };
    uint64_t base = bases[draw(state, 6)];
    if (base >= 0x7000000)
        return base + 0x4f0 + draw(state, 3) * 0x100;
    return base + 0x1000 + draw(state, 6) * 0x100 + draw(state, 2) * 5;
}

/* Values as the generator believes them; sometimes none fit the function. */
static void put_values(struct xb *file, uint64_t *state, uint64_t address, bool is_exit)
{
    static const char *const texts[] = { "", "a", "hello", "a longer text" };
    uint64_t offset = address % 0x10000 / 0x100 * 0x100;
    double number = (double)draw(state, 100) / 4;
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    if (offset == 0x1300) {
        ub_string(file, texts[draw(state, 4)]);
    } else if (offset == 0x1200) {
        xb_int(file, draw(state, 3) ? draw(state, 100) : UINT32_MAX, 4);
        if (!is_exit)
            xb_int(file, draw(state, 100), 8);
    } else if (offset == 0x1400) {
        xb_int(file, bits, 8);
    } else {
        xb_int(file, 'x', 4);
        xb_int(file, draw(state, 3) ? 7 : 0x10007, 4);
    }
    ub_align(file, 8);
}

struct shape {
    uint64_t stack[8];
    unsigned depth;
    uint64_t time;
};

static void put_call(struct xb *file, uint64_t *state, struct shape *shape)
{
    bool is_exit = shape->depth && (shape->depth == 8 || draw(state, 2));
    unsigned more = draw(state, 3) ? 0 : UB_MORE;
    if (draw(state, 25) == 0) /* frames vanish, or come from nowhere */
        shape->depth = (unsigned)draw(state, 8);
    if (!is_exit && shape->depth < 8)
        shape->stack[shape->depth] = draw_address(state);
    unsigned depth = is_exit && shape->depth ? shape->depth - 1 : shape->depth % 8;
    uint64_t address = draw(state, 40) ? shape->stack[depth] : draw_address(state);
    ub_record(file, shape->time, (is_exit ? UB_EXIT : UB_ENTRY) | more, depth, address);
    if (more)
        put_values(file, state, address, is_exit);
    shape->depth = is_exit ? depth : depth + 1;
}

static void put_event(struct xb *file, uint64_t *state, uint64_t time)
{
    uint64_t id = draw(state, 3) ? 100002 : draw(state, 2) ? 1000000 : 777;
    uint64_t n_data = id == 100002 ? 16 : draw(state, 12);
    ub_record(file, time, UB_EVENT | (n_data ? UB_MORE : 0), 0, id);
    if (n_data == 0)
        return;
    xb_int(file, n_data, 2);
    for (uint64_t k = 0; k < n_data; k++)
        xb_int(file, draw(state, 3), 1);
    ub_align(file, 8);
}

static void put_task(struct xb *file, uint64_t *state)
{
    struct shape shape = { .time = BASE_NS + draw(state, 50) };
    for (size_t k = 0; k < 8; k++)
        shape.stack[k] = draw_address(state);
    if (draw(state, 4) == 0)
        shape.depth = (unsigned)draw(state, 4); /* a fork's child */
    for (uint64_t n = draw(state, 30); n; n--) {
        shape.time += draw(state, 20);
        if (draw(state, 15) == 0)
            put_event(file, state, shape.time);
        else if (draw(state, 20) == 0)
            ub_record(file, 0, UB_LOST, 0, draw(state, 9));
        else
            put_call(file, state, &shape);
    }
}

static void damage(struct xb *file, uint64_t *state)
{
    if (file->n_bytes < 8)
        return;
    for (uint64_t n = draw(state, 4); n; n--)
        file->bytes[draw(state, file->n_bytes)] ^= (uint8_t)(1u << draw(state, 8));
    if (draw(state, 3) == 0) {
        size_t at = (size_t)draw(state, file->n_bytes / 8) * 8;
        size_t n_bytes = draw(state, 4) ? 8 : 3;
        n_bytes = n_bytes < file->n_bytes - at ? n_bytes : file->n_bytes - at;
        memmove(file->bytes + at, file->bytes + at + n_bytes, file->n_bytes - at - n_bytes);
        file->n_bytes -= n_bytes;
    }
    if (draw(state, 3) == 0)
        file->n_bytes = (size_t)draw(state, file->n_bytes + 1);
}

static void show_difference(const char *got, const char *want)
{
    size_t at = 0;
    while (got[at] && got[at] == want[at])
        at++;
    while (at && got[at - 1] != '\n')
        at--;
    tap_note("got  %.60s", got + at);
    tap_note("want %.60s", want + at);
}

static bool is_same(const struct ub *dir, bool is_shown)
{
    struct weft_folder folder = ub_folder(dir);
    struct rec_sink rec;
    struct weft_err err = { 0 };
    char head[256];
    rec_init(&rec);
    enum weft_code code = weft_uftrace_import_folder(&folder, &rec.sink, NULL, &err);
    char *got = rec_whole(&rec);
    (void)snprintf(head, sizeof head, "%.*s\n", (int)strcspn(got, "\n"), got);
    char *want = slow_uftrace(&folder, head);
    bool is_good = code == WEFT_OK && strcmp(got, want) == 0 && rec.n_order_errors == 0;
    if (!is_good && is_shown)
        show_difference(got, want);
    free(got);
    free(want);
    rec_fini(&rec);
    ub_folder_fini(&folder);
    return is_good;
}

int main(void)
{
    static const char *const names[] = { "10.dat", "11.dat", "12.dat" };
    uint64_t seed = tap_seed(1);
    unsigned n_different = 0;
    unsigned n_damaged = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t state = seed + round;
        struct ub dir = { 0 };
        build_metadata(&dir, &state);
        ub_text(&dir, "events.txt", "EVENT: 1000000 prog:tick\n");
        size_t n_tasks = 1 + (size_t)draw(&state, 3);
        bool is_damaged = draw(&state, 2);
        n_damaged += is_damaged;
        for (size_t k = 0; k < n_tasks; k++) {
            struct xb *file = ub_file(&dir, names[k]);
            put_task(file, &state);
            if (is_damaged)
                damage(file, &state);
        }
        if (!is_same(&dir, n_different < 5)) {
            n_different++;
            tap_note("WEFT_SEED=%" PRIu64 ": they differ", seed + round);
        }
        ub_fini(&dir);
    }
    tap_eq_u64(n_different, 0,
               "%d random directories, %u of them damaged, are read as the slow way", ROUNDS,
               n_damaged);
    return tap_done();
}
