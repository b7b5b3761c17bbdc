/* SPDX-License-Identifier: MIT
 *
 * What of a stack is told, and which stacks count as one: with names, without, and with some.
 */
#include "analysis/compare/names.h"
#include "tap.h"

enum { FRAMES_MOST = 16 };

/* A path of functions, the outermost first; "library:name" is of libc. */
struct stack {
    struct weft_frame frames[FRAMES_MOST];
    struct weft_frame_path path;
};

static void stack_init(struct stack *stack, const char *const *names)
{
    static const char library[] = "library:";
    stack->path.n = 0;
    for (size_t i = 0; names[i]; i++) {
        const bool is_library = strncmp(names[i], library, sizeof library - 1) == 0;
        const char *name = is_library ? names[i] + sizeof library - 1 : names[i];
        stack->frames[i] =
            (struct weft_frame){ .name = weft_str_of(name),
                                 .module = weft_str_of(is_library ? "/lib/libc.so.6" : "/bin/prog"),
                                 .kind = WEFT_FRAME_FUNCTION };
        stack->path.frames[stack->path.n++] = &stack->frames[i];
    }
}

/* "a > b": what is told of the stack. */
static const char *told(const char *const *names)
{
    static char text[256];
    struct stack stack;
    size_t places[WEFT_NAMED_FUNCTIONS];
    stack_init(&stack, names);
    const struct weft_path_part part = weft_path_part_at(&stack.path, 0);
    const size_t n = weft_path_functions(&stack.path, &part, places);
    size_t at = 0;
    text[0] = 0;
    for (size_t i = n; i-- > 0;)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.*s", at ? " > " : "",
                               (int)stack.frames[places[i]].name.n_bytes,
                               stack.frames[places[i]].name.bytes);
    return text;
}

static bool is_alike(const char *const *one, const char *const *other)
{
    struct stack a, b;
    stack_init(&a, one);
    stack_init(&b, other);
    return weft_path_likeness(&a.path) == weft_path_likeness(&b.path);
}

#define STACK(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_std(void)
{
    static const char *const std[] = { "std::thread::sleep",
                                       "void std::__invoke<int>(int)",
                                       "<std::fs::File>::sync_all",
                                       "<std::sys::fs::unix::File>::fsync::{closure#0}",
                                       "core::ops::function::FnOnce::call_once{{vtable.shim}}",
                                       "<F as core::ops::function::FnOnce<()>>::call_once" };
    static const char *const own[] = {
        "app::run",        "core::Engine::step()",
        "alloc_page",      "<std::vec::Vec<u8> as app::Encode>::encode",
        "<app::Log>::put", "<app::Guard as core::ops::drop::Drop>::drop"
    };
    unsigned n = 0;
    for (size_t i = 0; i < sizeof std / sizeof *std; i++)
        n += weft_name_is_of_std(weft_str_of(std[i]));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        n += !weft_name_is_of_std(weft_str_of(own[i]));
    tap_ok(n == sizeof std / sizeof *std + sizeof own / sizeof *own,
           "%u names are of the library or of the program", n);
}

static void test_told(void)
{
    static const struct {
        const char *names[FRAMES_MOST];
        const char *told;
    } rows[] = {
        { { "main", "serve", "load", "library:read" }, "main > serve > load > read" },
        { { "library:start_thread", "prog+0x10", "prog+0x20", "library:read" },
          "prog+0x20 > read" },
        { { "library:start_thread", "prog+0x10" }, "prog+0x10" },
        { { "library:start_thread", "prog+0x10", "library:libc.so.6+0xf1234" }, "prog+0x10" },
        { { "main", "burn", "library:[vdso]+0xbe1" }, "main > burn" },
        { { "main", "burn", "[vdso]+0xbe1" }, "main > burn" }, /* of no module */
        { { "library:start_thread", "library:libc.so.6+0xf1234" }, "libc.so.6+0xf1234" },
        { { "main", "prog+0x10", "work", "prog+0x20" }, "main > work > prog+0x20" },
        { { "library:start_thread", "library:read" }, "read" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *found = told(rows[i].names);
        tap_ok(strcmp(found, rows[i].told) == 0, "%s, found %s", rows[i].told, found);
    }
}

static void test_alike(void)
{
    tap_ok(!is_alike(STACK("prog+0x10", "library:read"), STACK("prog+0x20", "library:read")),
           "two places without names differ");
    tap_ok(!is_alike(STACK("prog+0x10", "library:libc.so.6+0x1"),
                     STACK("prog+0x20", "library:libc.so.6+0x1")),
           "an address of a library hides none of the program");
    tap_ok(is_alike(STACK("prog+0x10", "prog+0x30", "library:read"),
                    STACK("prog+0x20", "prog+0x30", "library:read")),
           "the innermost of several addresses counts");
    tap_ok(!is_alike(STACK("main", "load"), STACK("main", "save")), "names differ");
}

/* Of states that are kept by name alone. */
static void test_states(void)
{
    static const struct {
        const char *name;
        enum weft_frame_state state;
        enum weft_path_reason reason;
        uint8_t flags;
        const char *call;
    } rows[] = {
        { "running", WEFT_FRAME_RUNNING, WEFT_PATH_NO_REASON, 0, "" },
        { "unknown", WEFT_FRAME_UNKNOWN, WEFT_PATH_NO_REASON, 0, "" },
        { "interrupted: irq timer", WEFT_FRAME_INTERRUPTED, WEFT_PATH_NO_REASON, 0, "" },
        { "preempted", WEFT_FRAME_PREEMPTED, WEFT_PATH_NO_REASON, 0, "" },
        { "blocked: timer", WEFT_FRAME_BLOCKED, WEFT_PATH_TIMER, 0, "" },
        { "blocked: poll, timed out", WEFT_FRAME_BLOCKED, WEFT_PATH_TIMER, WEFT_FRAME_TIMED_OUT,
          "" },
        { "blocked: block device", WEFT_FRAME_BLOCKED, WEFT_PATH_BLOCK_DEVICE, 0, "" },
        { "blocked: lock, in flight", WEFT_FRAME_BLOCKED, WEFT_PATH_LOCK, WEFT_FRAME_IN_FLIGHT,
          "" },
        { "blocked: unknown", WEFT_FRAME_BLOCKED, WEFT_PATH_WAKER_UNKNOWN, 0, "" },
        { "blocked: in send", WEFT_FRAME_BLOCKED, WEFT_PATH_CALL, WEFT_FRAME_IN_CALL, "send" },
        { "blocked: call", WEFT_FRAME_BLOCKED, WEFT_PATH_CALL, 0, "" },
        { "blocked: further threads", WEFT_FRAME_BLOCKED, WEFT_PATH_NO_REASON, 0, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_frame frame = { .name = weft_str_of(rows[i].name), .kind = WEFT_FRAME_STATE };
        weft_frame_read_state(&frame);
        tap_ok(frame.state == rows[i].state && frame.reason == rows[i].reason &&
                   frame.flags == rows[i].flags &&
                   weft_str_equal(weft_frame_call(&frame), weft_str_of(rows[i].call)),
               "%s: %u, %u, %u", rows[i].name, frame.state, frame.reason, frame.flags);
    }
}

int main(void)
{
    test_std();
    test_states();
    test_told();
    test_alike();
    return tap_done();
}
