/* SPDX-License-Identifier: MIT
 *
 * Names: which functions wait, and text made fit to show.
 */
#include "model/display.h"
#include "model/graph/waiting.h"
#include "tap.h"

static void test_waiting(void)
{
    static const char *const waiting[] = {
        "wait",
        "__wt_cond_wait_signal",
        "__wt_sleep",
        "pthread_cond_timedwait",
        "epoll_wait",
        "rocksdb::InstrumentedCondVar::Wait()",
        "std::this_thread::sleep_for<long>(long const&)",
        "std::thread::join()",
        "pthread_join",
        "__wt_thread_join",
        "poll",
        "__poll",
        "uv__io_poll",
        "ppoll",
        "select",
        "__select",
        "accept",
        "accept4",
        "recvmsg",
        "usleep",
        "nanosleep",
        "clock_nanosleep",
        "sem_wait",
        "sem_timedwait",
        "futex_wait",
        "syscall_futex",
        "waitpid",
        "pthread_barrier_wait",
        "__wt_spin_lock",
        "pthread_mutex_lock",
        "pthread_rwlock_rdlock",
        "__wt_readlock",
        "Parker::park(bool, long)",
        "(anonymous namespace)::TimedWait(int)",
        "Queue<Item, std::less<Item>>::WaitForItem(unsigned long)",
        "io::sleepUntil",
    };
    static const char *const working[] = {
        "",
        "#17",
        "work",
        "await_count",
        "__wt_clock",
        "waiter_add",
        "is_waiting",
        "try_wait",
        "no_wait",
        "__posix_file_sync_nowait",
        "mutex_unlock",
        "pthread_mutex_trylock",
        "__wt_try_readlock",
        "__wti_log_slot_join",
        "__wti_rec_upd_select",
        "string_join",
        "__wt_block_write",
        "pollute",
        "joint",
        "sleepy",
        "wait_free_queue_push",
        "Selector::add",
        "signal_cond",
        "wake_waiters",
        "notify(Wait)",
        "f(wait::type)",
        "std::vector<wait>::push",
        "recv_buffer_init",
        "poll_add",
        "mutex_lock_init",
        "can_wait",
        "end_wait",
    };
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        tap_ok(weft_is_wait_name(weft_str_of(waiting[i])), "waits: %s", waiting[i]);
    for (size_t i = 0; i < sizeof working / sizeof *working; i++)
        tap_ok(!weft_is_wait_name(weft_str_of(working[i])), "does not wait: %s", working[i]);
    char longest[5000];
    memset(longest, 'a', sizeof longest);
    for (size_t i = 0; i < sizeof longest; i += 3)
        longest[i] = '_';
    tap_ok(!weft_is_wait_name((struct weft_str){ longest, sizeof longest }),
           "a name of 5,000 bytes");
}

static void test_wait_for(void)
{
    static const struct {
        const char *name;
        enum weft_wait_for what;
    } rows[] = {
        { "nanosleep", WEFT_WAITS_FOR_TIMER },
        { "__GI___clock_nanosleep", WEFT_WAITS_FOR_TIMER },
        { "io::sleepUntil", WEFT_WAITS_FOR_TIMER },
        { "recvmsg", WEFT_WAITS_FOR_NETWORK },
        { "accept4", WEFT_WAITS_FOR_NETWORK },
        { "pthread_cond_wait", WEFT_WAITS_FOR_ANY },
        { "poll", WEFT_WAITS_FOR_READY },
        { "epoll_wait", WEFT_WAITS_FOR_READY },
        { "uv__io_poll", WEFT_WAITS_FOR_ANY },
        { "pthread_join", WEFT_WAITS_FOR_THREAD },
        { "std::thread::join()", WEFT_WAITS_FOR_ANY },
        { "read", WEFT_WAITS_FOR_INPUT },
        { "File::read", WEFT_WAITS_FOR_ANY },
        { "write", WEFT_WAITS_FOR_OUTPUT },
        { "fsync", WEFT_WAITS_FOR_OUTPUT },
        { "", WEFT_WAITS_FOR_ANY },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_eq_u64(weft_wait_for_of_name(weft_str_of(rows[i].name)), rows[i].what,
                   "what %s waits for", rows[i].name);
}

static void test_display(void)
{
    static const struct {
        const char *bytes, *shown, *name;
    } rows[] = {
        { "", "", "nothing" },
        { "plain_name", "plain_name", "ASCII" },
        { "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\x88",
          "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\x88", "two, three and four bytes" },
        { "a\xff"
          "b",
          "a\xef\xbf\xbd"
          "b",
          "a byte that is never valid" },
        { "\x80", "\xef\xbf\xbd", "a tail alone" },
        { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "an overlong slash" },
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "a surrogate" },
        { "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
          "above U+10FFFF" },
        { "x\xe2\x82", "x\xef\xbf\xbd\xef\xbf\xbd", "cut short" },
    };
    struct weft_arena *arena = weft_arena_new(0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_str shown = weft_display_copy(arena, weft_str_of(rows[i].bytes));
        tap_ok(weft_str_equal(shown, weft_str_of(rows[i].shown)), "shown: %s", rows[i].name);
    }
    struct weft_str zero = weft_display_copy(arena, (struct weft_str){ "a\0b", 3 });
    tap_ok(weft_str_equal(zero, weft_str_of("a\xef\xbf\xbd"
                                            "b")),
           "shown: a zero byte");
    weft_arena_free(arena);
}

int main(void)
{
    test_waiting();
    test_wait_for();
    test_display();
    return tap_done();
}
