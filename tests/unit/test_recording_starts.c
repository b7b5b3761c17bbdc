/* SPDX-License-Identifier: MIT
 *
 * Names of threads by their start functions: frames as symbols name them, of C, C++ and Rust.
 */
#include "ingest/recording/starts.h"
#include "tap.h"

#include <stdio.h>

struct frame {
    enum rec_frame_class class;
    const char *name;
};

#define LIBC(name)                                                                                 \
    {                                                                                              \
        REC_FRAME_ENTRY, name                                                                      \
    }
#define OWN(name)                                                                                  \
    {                                                                                              \
        REC_FRAME_OWN, name                                                                        \
    }
#define LIBRARY(name)                                                                              \
    {                                                                                              \
        REC_FRAME_OTHER, name                                                                      \
    }

/* A stack, outermost first, up to a frame without a name. */
struct stack {
    const char *what;
    struct frame frames[12];
    const char *names; /* "" none */
};

static const struct stack stacks[] = {
    { "a function of C",
      { LIBC("__clone3"), LIBC("start_thread"), OWN("worker"), LIBC("read") },
      "worker" },
    { "libraries without symbols",
      { LIBC("libc.so.6+0x10385c"), LIBC("libc.so.6+0x891f5"), OWN("flusher(void*)"), OWN("sync") },
      "flusher;sync" },
    { "frame pointers end at the caller of the program's own code",
      { LIBC("libstdc++.so.6.0.30+0xd44a3"), OWN("worker()"), OWN("lookup(int)") },
      "worker;lookup" },
    { "a stack that ends in a function that starts no thread",
      { LIBC("qsort"), OWN("compare(void const*, void const*)") },
      "" },
    { "a stack that was cut", { OWN("lookup(int)"), OWN("find") }, "" },
    { "a thread of a library",
      { LIBC("start_thread"), LIBRARY("uv__worker"), OWN("on_done") },
      "" },
    { "arguments and return types",
      { LIBC("start_thread"),
        OWN("std::map<int, char> db::Pool<int, 4>::loop<2>(int, char (*)(int)) const") },
      "db::Pool::loop" },
    { "std::thread, not optimised",
      { LIBC("start_thread"), LIBC("execute_native_thread_routine"),
        OWN("std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)()> > >::_M_run()"),
        OWN("std::thread::_Invoker<std::tuple<void (*)()> >::operator()()"),
        OWN("void std::thread::_Invoker<std::tuple<void (*)()> "
            ">::_M_invoke<0ul>(std::_Index_tuple<0ul>)"),
        OWN("void std::__invoke_impl<void, void (*)()>(std::__invoke_other, void (*&&)())"),
        OWN("client_thread()"), OWN("serve(int)") },
      "client_thread;serve" },
    { "a closure that was inlined",
      { LIBC("start_thread"),
        OWN("std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda(int)#2}, int> "
            "> >::_M_run()"
            ";operator() (inlined);_M_invoke<0> (inlined);__invoke<main()::<lambda()> > (inlined)"),
        LIBC("nanosleep") },
      "main::{lambda#2}" },
    { "a closure that was not",
      { LIBC("start_thread"), OWN("Pool::Pool()::{lambda()#1}::operator()() const"),
        OWN("Pool::loop(int)") },
      "Pool::Pool::{lambda#1};Pool::loop" },
    { "an object that is called",
      { LIBC("start_thread"), OWN("(anonymous namespace)::Reader::operator()()") },
      "Reader" },
    { "a closure of Rust",
      { LIBC("start_thread"), OWN("<std::sys::thread::unix::Thread>::new::thread_start"),
        OWN("<alloc::boxed::Box<dyn core::ops::function::FnOnce<(), Output = ()>> as "
            "core::ops::function::FnOnce<()>>::call_once (inlined)"),
        OWN("core::ops::function::FnOnce::call_once{{vtable.shim}}"),
        OWN("std::sys::backtrace::__rust_begin_short_backtrace"),
        OWN("my_server::main::{{closure}} (inlined)"), OWN("my_server::cache::flusher") },
      "main::{{closure}};cache::flusher" },
    { "a trait of Rust",
      { LIBC("start_thread"), OWN("<my_server::Job as my_server::Run>::run") },
      "Job::run" },
    { "what Rust inlines of its primitive types",
      { LIBC("start_thread"),
        OWN("std::sys::backtrace::__rust_begin_short_backtrace;i32::is_minus_one (inlined)") },
      "" },
    { "a function without a name",
      { LIBC("start_thread"), OWN("server+0x1234"), OWN("serve") },
      "" },
    { "an unbalanced name", { LIBC("start_thread"), OWN("broken<int(") }, "" },
};

static void test_stack(const struct stack *stack)
{
    struct rec_start_text start = { 0 };
    char found[sizeof start.bytes + 1];
    for (size_t k = 0; k < sizeof stack->frames / sizeof *stack->frames && stack->frames[k].name;
         k++)
        rec_start_put(&start, stack->frames[k].class, weft_str_of(stack->frames[k].name),
                      WEFT_STR("my-server"));
    (void)snprintf(found, sizeof found, "%.*s", start.is_bad ? 0 : (int)start.n_bytes, start.bytes);
    tap_ok(strcmp(found, stack->names) == 0, "%s: \"%s\"", stack->what, found);
}

static void test_own(void)
{
    static const char *const frames[][2] = {
        { "lookup(int);std::mutex::lock() (inlined)", "lookup(int)" },
        { "flusher();flush_table() (inlined);std::lock_guard<std::mutex>::~lock_guard() (inlined)",
          "flush_table()" },
        { "core::ops::function::FnOnce::call_once{{vtable.shim}};rs::worker (inlined)",
          "rs::worker" },
        { "<std::sys::sync::mutex::futex::Mutex>::lock_contended", "" },
        { "", "" },
    };
    for (size_t k = 0; k < sizeof frames / sizeof *frames; k++) {
        const struct weft_str own = rec_own_function(weft_str_of(frames[k][0]));
        tap_ok(weft_str_equal(own, weft_str_of(frames[k][1])), "of the program: %s", frames[k][1]);
    }
}

static void test_hostile(void)
{
    char name[3000];
    struct rec_start_text start = { 0 };
    rec_start_put(&start, REC_FRAME_ENTRY, WEFT_STR("start_thread"), WEFT_STR(""));
    memset(name, 'a', sizeof name);
    rec_start_put(&start, REC_FRAME_OWN, (struct weft_str){ name, sizeof name }, WEFT_STR(""));
    tap_ok(start.n_bytes == 0, "a name that is too long is none");
    memset(name, '<', sizeof name);
    start.is_over = false;
    rec_start_put(&start, REC_FRAME_OWN, (struct weft_str){ name, sizeof name }, WEFT_STR(""));
    tap_ok(start.n_bytes == 0, "nor is one of brackets");
}

static bool is_name(const struct rec_starts *starts, uint32_t thread, const char *name)
{
    return weft_str_equal(rec_starts_name(starts, thread), weft_str_of(name));
}

static void test_threads(void)
{
    struct rec_starts starts;
    tap_ok(rec_starts_init(&starts) && rec_starts_see(&starts, 3, WEFT_STR("worker;serve")) &&
               rec_starts_see(&starts, 3, WEFT_STR("worker;server;read")),
           "stacks are seen");
    tap_ok(is_name(&starts, 3, "worker"), "what all stacks begin with is the name");
    tap_ok(is_name(&starts, 0, "") && is_name(&starts, 9, ""), "a thread without stacks has none");
    tap_ok(rec_starts_see(&starts, 3, WEFT_STR("work")) && is_name(&starts, 3, ""),
           "stacks that disagree give none");
    tap_ok(rec_starts_see(&starts, 3, WEFT_STR("worker;serve")) && is_name(&starts, 3, ""),
           "nor does one that comes later");
    tap_ok(rec_starts_see(&starts, 1, WEFT_STR("main::{lambda#1};Pool::loop;a")) &&
               rec_starts_see(&starts, 1, WEFT_STR("main::{lambda#1};Pool::loop;b")) &&
               is_name(&starts, 1, "Pool::loop"),
           "a closure is called after the function that it calls");
    tap_ok(rec_starts_see(&starts, 1, WEFT_STR("main::{lambda#1};other")) &&
               is_name(&starts, 1, "main::{lambda#1}"),
           "unless it calls several");
    tap_ok(rec_starts_routine(&starts, 3, WEFT_STR("worker"), WEFT_STR("")) &&
               is_name(&starts, 3, "worker"),
           "a routine that was recorded is the name");
    tap_ok(rec_starts_routine(&starts, 3, WEFT_STR("std::thread::run()"), WEFT_STR("")) &&
               is_name(&starts, 3, "worker"),
           "unless it is of the language");
    rec_start_of(&starts, 3)->is_given = true;
    tap_ok(is_name(&starts, 3, ""), "a thread that the program has named keeps that name");
    rec_starts_fini(&starts);
}

static void test_modules(void)
{
    static const struct {
        const char *path;
        bool is_program;
        enum rec_frame_class class;
    } modules[] = { { "/usr/lib/x86_64-linux-gnu/libc.so.6", false, REC_FRAME_ENTRY },
                    { "/opt/db/lib/libstdc++.so.6", false, REC_FRAME_ENTRY },
                    { "/usr/lib/postgresql/15/bin/postgres", true, REC_FRAME_OWN },
                    { "/usr/lib/x86_64-linux-gnu/libuv.so.1", false, REC_FRAME_OTHER },
                    { "/opt/db/lib/libdb.so", false, REC_FRAME_OWN },
                    { "[vdso]", false, REC_FRAME_OTHER },
                    { "", false, REC_FRAME_OTHER } };
    for (size_t k = 0; k < sizeof modules / sizeof *modules; k++)
        tap_ok(rec_frame_class_of(weft_str_of(modules[k].path), modules[k].is_program) ==
                   modules[k].class,
               "module %s", modules[k].path);
}

int main(void)
{
    for (size_t k = 0; k < sizeof stacks / sizeof *stacks; k++)
        test_stack(&stacks[k]);
    test_own();
    test_hostile();
    test_threads();
    test_modules();
    return tap_done();
}
