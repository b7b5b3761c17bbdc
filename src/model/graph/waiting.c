/* SPDX-License-Identifier: MIT
 *
 * Words of waiting, and of work.
 */
#include "model/graph/waiting.h"

#include <stddef.h>

enum { MAX_WORDS = 24, MAX_WORD_BYTES = 24 };

struct words {
    char text[MAX_WORDS][MAX_WORD_BYTES]; /* lower case; longer words are cut: they match nothing */
    size_t n;
};

/* These say "waits" wherever they stand in a name. */
static const char *const anywhere[] = {
    "wait",
    "waits",
    "waitpid",
    "wait4",
    "waitid",
    "timedwait",
    "clockwait",
    "sleep",
    "nanosleep",
    "usleep",
    "msleep",
    "futex",
    "ppoll",
    "pselect",
    "epoll",
    "recvfrom",
    "recvmsg",
    "accept4",
    "semtimedop",
    "sigwait",
    "sigtimedwait",
    "sigsuspend",
    "mutexlock",
    "rdlock",
    "wrlock",
    "readlock",
    "writelock",
    "kevent",
    "waitforsingleobject",
};

/* These only where the rest of the name is a tail (see is_tail). */
static const char *const at_end[] = {
    "poll", "park", "parked", "recv", "barrier", "pause", "await",
};

/* These too, but only as the first word or after one of the next list. */
static const char *const alone[] = { "select", "join", "accept" };
static const char *const before_alone[] = { "thread", "threads", "pthread", "thrd",   "sys",
                                            "do",     "core",    "libc",    "sock",   "socket",
                                            "task",   "tcp",     "fiber",   "worker", "workers" };

/* "lock" as the last word, after one of these. */
static const char *const before_lock[] = {
    "mutex", "spin", "rw", "rwlock", "read", "write", "futex"
};

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(word, list) is_one_of((word), (list), sizeof(list) / sizeof *(list))

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_word_byte(char c)
{
    return is_lower(c) || is_upper(c) || (c >= '0' && c <= '9');
}

/* "ns::Type<A, B>::Wait(int) const" -> "Wait"; "(anonymous namespace)::f" -> "f". */
static struct weft_str last_component(struct weft_str name)
{
    size_t start = 0, end = 0, depth = 0;
    for (size_t i = 0; i < name.n_bytes; i++) {
        char c = name.bytes[i];
        bool is_anonymous =
            c == '(' && name.n_bytes - i > 10 && memcmp(name.bytes + i, "(anonymous", 10) == 0;
        if (depth == 0 && c == '(' && !is_anonymous && i > start)
            break;
        if (depth == 0 && c == ':') {
            start = end = i + 1;
            continue;
        }
        if (c == '<' || c == '(')
            depth++;
        else if ((c == '>' || c == ')') && depth > 0)
            depth--;
        else if (depth == 0)
            end = i + 1;
    }
    return (struct weft_str){ .bytes = name.bytes + start, .n_bytes = end - start };
}

static void split(struct weft_str name, struct words *words)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i <= name.n_bytes; i++) {
        char c = i < name.n_bytes ? name.bytes[i] : '_';
        bool is_turn = i > 0 && i < name.n_bytes && is_upper(c) && is_lower(name.bytes[i - 1]);
        if (n_bytes > 0 && (is_turn || !is_word_byte(c))) {
            words->text[words->n++][n_bytes] = 0;
            n_bytes = 0;
        }
        if (words->n == MAX_WORDS)
            return;
        if (is_word_byte(c) && n_bytes < MAX_WORD_BYTES - 1)
            words->text[words->n][n_bytes++] = (char)(is_upper(c) ? c - 'A' + 'a' : c);
    }
}

/* Whether the words from `at` on do not change what the word before them says. */
static bool is_tail(const struct words *words, size_t at)
{
    static const char *const suffixes[] = { "for",    "until", "on",       "signal",   "timeout",
                                            "all",    "sync",  "nocancel", "internal", "impl",
                                            "time64", "event", "events" };
    for (; at < words->n; at++)
        if (!IS_ONE_OF(words->text[at], suffixes) && (words->text[at][0] > '9'))
            return false;
    return true;
}

bool weft_is_wait_name(struct weft_str name)
{
    static const char *const negations[] = { "no",   "non",    "not",  "try",   "without",
                                             "can",  "should", "need", "needs", "is",
                                             "stop", "end",    "wake" };
    struct words words = { 0 };
    split(last_component(name), &words);
    for (size_t i = 0; i < words.n; i++) {
        const char *word = words.text[i];
        if (i > 0 && IS_ONE_OF(words.text[i - 1], negations))
            continue;
        bool is_free = i + 1 < words.n && strcmp(words.text[i + 1], "free") == 0;
        if (IS_ONE_OF(word, anywhere) && !is_free)
            return true;
        if (IS_ONE_OF(word, at_end) && is_tail(&words, i + 1))
            return true;
        if (IS_ONE_OF(word, alone) && is_tail(&words, i + 1) &&
            (i == 0 || IS_ONE_OF(words.text[i - 1], before_alone)))
            return true;
        if (strcmp(word, "lock") == 0 && i > 0 && IS_ONE_OF(words.text[i - 1], before_lock) &&
            is_tail(&words, i + 1) && !(i > 1 && IS_ONE_OF(words.text[i - 2], negations)))
            return true;
    }
    return false;
}

static bool is_name_of(struct weft_str name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (weft_str_equal(name, weft_str_of(list[i])))
            return true;
    return false;
}

static bool is_input_name(struct weft_str name)
{
    static const char *const names[] = { "read", "pread", "pread64", "readv", "preadv" };
    return is_name_of(name, names, sizeof names / sizeof *names);
}

static bool is_output_name(struct weft_str name)
{
    static const char *const names[] = { "write",    "pwrite",  "pwrite64", "writev",
                                         "pwritev",  "send",    "sendto",   "sendmsg",
                                         "sendmmsg", "connect", "fsync",    "fdatasync" };
    return is_name_of(name, names, sizeof names / sizeof *names);
}

bool weft_may_wait_name(struct weft_str name)
{
    return is_input_name(name) || is_output_name(name);
}

bool weft_is_sending_name(struct weft_str name)
{
    static const char *const names[] = {
        "write",    "writev", "pwrite",   "pwrite64",       "pwritev",         "pwritev2",
        "send",     "sendto", "sendmsg",  "sendmmsg",       "sendfile",        "sendfile64",
        "splice",   "tee",    "vmsplice", "io_uring_enter", "io_uring_submit", "connect",
        "shutdown", "close",
    };
    return is_name_of(name, names, sizeof names / sizeof *names);
}

bool weft_is_sync_name(struct weft_str name)
{
    return weft_str_equal(name, WEFT_STR("fsync")) || weft_str_equal(name, WEFT_STR("fdatasync"));
}

struct weft_str weft_timed_out_name(struct weft_str name)
{
    static const char *const names[] = { "ppoll",       "pselect",      "select",
                                         "epoll_pwait", "epoll_pwait2", "epoll_wait" };
    static const char *const texts[] = { "ppoll, timed out",        "pselect, timed out",
                                         "select, timed out",       "epoll_pwait, timed out",
                                         "epoll_pwait2, timed out", "epoll_wait, timed out" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (weft_str_equal(name, weft_str_of(names[i])))
            return weft_str_of(texts[i]);
    return WEFT_STR("poll, timed out");
}

enum weft_wait_for weft_wait_for_of_name(struct weft_str name)
{
    static const char *const ready[] = { "poll",    "ppoll",      "select",      "__poll_chk",
                                         "pselect", "epoll_wait", "epoll_pwait", "epoll_pwait2" };
    static const char *const threads[] = { "pthread_join", "pthread_timedjoin_np",
                                           "pthread_clockjoin_np", "thrd_join" };
    static const char *const timers[] = { "sleep", "nanosleep", "usleep", "msleep" };
    static const char *const networks[] = { "recv", "recvfrom", "recvmsg", "accept", "accept4" };
    struct words words = { 0 };
    if (is_name_of(name, ready, sizeof ready / sizeof *ready))
        return WEFT_WAITS_FOR_READY;
    if (is_name_of(name, threads, sizeof threads / sizeof *threads))
        return WEFT_WAITS_FOR_THREAD;
    if (weft_may_wait_name(name))
        return is_input_name(name) ? WEFT_WAITS_FOR_INPUT : WEFT_WAITS_FOR_OUTPUT;
    split(last_component(name), &words);
    for (size_t i = 0; i < words.n; i++) {
        if (IS_ONE_OF(words.text[i], timers))
            return WEFT_WAITS_FOR_TIMER;
        if (IS_ONE_OF(words.text[i], networks))
            return WEFT_WAITS_FOR_NETWORK;
    }
    return WEFT_WAITS_FOR_ANY;
}

/* A verb and what it is done with, side by side, in either order. */
bool weft_is_task_name(struct weft_str name)
{
    static const char *const verbs[] = {
        "run", "process", "execute", "handle", "dispatch", "epoll"
    };
    static const char *const nouns[] = { "task", "job", "event", "message", "request", "work" };
    struct words words = { 0 };
    split(last_component(name), &words);
    for (size_t i = 0; i + 1 < words.n; i++)
        if ((IS_ONE_OF(words.text[i], verbs) && IS_ONE_OF(words.text[i + 1], nouns)) ||
            (IS_ONE_OF(words.text[i], nouns) && IS_ONE_OF(words.text[i + 1], verbs)))
            return true;
    return false;
}

struct weft_str weft_libc_name(struct weft_str name)
{
    static const char *const before[] = { "__GI_",     "__libc_", "__x64_sys_", "__arm64_sys_",
                                          "__se_sys_", "__new_",  "__" };
    bool is_of_libc = false;
    for (size_t i = 0;
         i < sizeof before / sizeof *before && name.n_bytes > 0 && name.bytes[0] == '_';) {
        const size_t n = strlen(before[i]);
        const bool is_there = name.n_bytes > n && memcmp(name.bytes, before[i], n) == 0;
        if (is_there)
            name = (struct weft_str){ name.bytes + n, name.n_bytes - n };
        is_of_libc |= is_there;
        i = is_there ? 0 : i + 1;
    }
    if (is_of_libc && name.n_bytes > 1 && name.bytes[0] == '_') /* "___pthread_cond_wait" */
        name = (struct weft_str){ name.bytes + 1, name.n_bytes - 1 };
    const struct weft_str inlined = WEFT_STR(" (inlined)");
    if (name.n_bytes > inlined.n_bytes &&
        memcmp(name.bytes + name.n_bytes - inlined.n_bytes, inlined.bytes, inlined.n_bytes) == 0)
        name.n_bytes -= inlined.n_bytes;
    const char *version = name.n_bytes ? memchr(name.bytes, '@', name.n_bytes) : NULL;
    if (version)
        name.n_bytes = (size_t)(version - name.bytes);
    return name;
}
