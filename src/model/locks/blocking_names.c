/* SPDX-License-Identifier: MIT
 *
 * The built-in table of waiting, sleeping and I/O functions, which extends that of names.c, and the
 * parser of the user's table. A line of the user overrides the built-in entry of the same name;
 * errors give file and line.
 */
#include "model/locks/blocking_names.h"

#include "base/arena.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 100000, NAME_BYTES_MAX = 4096 };

/* ---- what is known --------------------------------------------------------------------------- */

struct known {
    const char *names; /* "a|b" */
    uint8_t kind, shared, mode;
    bool is_timed;
};

/* Of the functions in model/locks/names.h, only that they are timed, or a semaphore's. */
static const struct known knowns[] = {
    { "sem_wait|sem_trywait", WEFT_BLOCKING_WAIT, WEFT_SHARED_SEMAPHORE, WEFT_WAIT_FOR_ONE, false },
    { "sem_timedwait|sem_clockwait", WEFT_BLOCKING_WAIT, WEFT_SHARED_SEMAPHORE, WEFT_WAIT_FOR_ONE,
      true },
    { "sem_post", WEFT_BLOCKING_RELEASE, WEFT_SHARED_SEMAPHORE, WEFT_WAIT_FOR_ONE, false },
    { "pthread_cond_timedwait|pthread_cond_clockwait|cnd_timedwait|"
      "std::condition_variable::wait_for|std::condition_variable::wait_until",
      WEFT_BLOCKING_WAIT, WEFT_SHARED_CONDITION, WEFT_WAIT_FOR_ONE, true },
    { "pthread_mutex_timedlock|pthread_mutex_clocklock|mtx_timedlock", WEFT_BLOCKING_WAIT,
      WEFT_SHARED_MUTEX, WEFT_WAIT_FOR_ONE, true },
    { "pthread_rwlock_timedrdlock|pthread_rwlock_clockrdlock|pthread_rwlock_timedwrlock|"
      "pthread_rwlock_clockwrlock",
      WEFT_BLOCKING_WAIT, WEFT_SHARED_RWLOCK, WEFT_WAIT_FOR_ONE, true },
    { "pthread_timedjoin_np|pthread_clockjoin_np", WEFT_BLOCKING_WAIT, WEFT_SHARED_JOIN,
      WEFT_WAIT_FOR_ONE, true },
    { "pthread_barrier_wait", WEFT_BLOCKING_WAIT, WEFT_SHARED_BARRIER, WEFT_WAIT_FOR_ALL, false },
    { "sleep|usleep|nanosleep|clock_nanosleep|thrd_sleep|std::this_thread::sleep_for|"
      "std::this_thread::sleep_until",
      WEFT_BLOCKING_WAIT, WEFT_SHARED_TIMER, WEFT_WAIT_FOR_ONE, true },
    { "poll|ppoll|select|pselect|epoll_wait|epoll_pwait|epoll_pwait2", WEFT_BLOCKING_WAIT,
      WEFT_SHARED_FILES, WEFT_WAIT_FOR_ANY, false },
    { "wait|wait3|wait4|waitpid|waitid", WEFT_BLOCKING_WAIT, WEFT_SHARED_PROCESS, WEFT_WAIT_FOR_ONE,
      false },
    { "pthread_once|call_once|std::call_once", WEFT_BLOCKING_WAIT, WEFT_SHARED_OTHER,
      WEFT_WAIT_FOR_ONE, false },
    { "read|pread|pread64|preadv|readv|write|pwrite|pwrite64|pwritev|writev|fsync|fdatasync|sync|"
      "syncfs|sync_file_range|accept|accept4|connect|recv|recvfrom|recvmsg|recvmmsg|send|sendto|"
      "sendmsg|sendmmsg|sendfile|splice|open|openat|fopen|fread|fwrite|fflush|getdents64",
      WEFT_BLOCKING_IO, WEFT_SHARED_FILES, WEFT_WAIT_FOR_ONE, false },
    { "WaitForSingleObject|WaitForSingleObjectEx", WEFT_BLOCKING_WAIT, WEFT_SHARED_OTHER,
      WEFT_WAIT_FOR_ONE, true },
};

uint8_t weft_shared_of_lock(uint8_t lock_kind)
{
    static const uint8_t shared[WEFT_LOCK_KINDS] = {
        [WEFT_LOCK_MUTEX] = WEFT_SHARED_MUTEX,
        [WEFT_LOCK_RWLOCK] = WEFT_SHARED_RWLOCK,
        [WEFT_LOCK_CONDITION] = WEFT_SHARED_CONDITION,
        [WEFT_LOCK_BARRIER] = WEFT_SHARED_BARRIER,
        [WEFT_LOCK_JOIN] = WEFT_SHARED_JOIN,
        [WEFT_LOCK_FUTEX] = WEFT_SHARED_FUTEX,
        [WEFT_LOCK_SPIN] = WEFT_SHARED_SPIN,
        [WEFT_LOCK_SEMAPHORE] = WEFT_SHARED_SEMAPHORE,
    };
    return shared[lock_kind];
}

static struct weft_blocking_use use_of_lock(struct weft_lock_use lock)
{
    struct weft_blocking_use use = { .shared = weft_shared_of_lock(lock.kind), .lock = lock };
    if (lock.role == WEFT_LOCK_ACQUIRES || lock.role == WEFT_LOCK_WAITS)
        use.kind = WEFT_BLOCKING_WAIT;
    else if (lock.role == WEFT_LOCK_RELEASES || lock.role == WEFT_LOCK_SIGNALS)
        use.kind = WEFT_BLOCKING_RELEASE;
    if (lock.kind == WEFT_LOCK_BARRIER)
        use.mode = WEFT_WAIT_FOR_ALL;
    return use;
}

static struct weft_blocking_use known_use(struct weft_str name)
{
    struct weft_blocking_use use = use_of_lock(weft_lock_use_of(name));
    struct weft_str bare = name;
    const char *open = name.n_bytes ? memchr(name.bytes, '(', name.n_bytes) : NULL;
    if (open && open > name.bytes)
        bare.n_bytes = (size_t)(open - name.bytes);
    while (bare.n_bytes > 1 && bare.bytes[0] == '_')
        bare = (struct weft_str){ bare.bytes + 1, bare.n_bytes - 1 };
    for (size_t i = 0; i < sizeof knowns / sizeof *knowns; i++) {
        if (!weft_str_is_one_of(bare, knowns[i].names))
            continue;
        use.kind = knowns[i].kind;
        use.shared = knowns[i].shared;
        use.mode = knowns[i].mode;
        use.is_timed = knowns[i].is_timed;
        break;
    }
    return use;
}

/* ---- the user's table ------------------------------------------------------------------------ */

struct line {
    struct weft_str name;
    struct weft_blocking_use use;
};

struct weft_blocking_names {
    struct weft_arena *arena;
    struct {
        struct line *items; /* by name */
        size_t n, cap;
    } lines;
};

struct word {
    const char *text;
    uint8_t number;
};

enum user_role { USER_ACQUIRE, USER_RELEASE, USER_WAIT, USER_SIGNAL, USER_IO, USER_OTHER };

static const struct word roles[] = {
    { "acquire", USER_ACQUIRE }, { "release", USER_RELEASE }, { "wait", USER_WAIT },
    { "signal", USER_SIGNAL },   { "io", USER_IO },           { "other", USER_OTHER },
};

static bool find_word(struct weft_str text, const struct word *words, size_t n, uint8_t *number)
{
    for (size_t i = 0; i < n; i++)
        if (weft_str_equal(text, weft_str_of(words[i].text))) {
            *number = words[i].number;
            return true;
        }
    return false;
}

static bool find_shared(struct weft_str text, uint8_t *shared)
{
    for (unsigned kind = 0; kind < WEFT_SHARED_KINDS; kind++)
        if (weft_str_equal(text, weft_str_of(weft_shared_kind_name((enum weft_shared_kind)kind)))) {
            *shared = (uint8_t)kind;
            return true;
        }
    return false;
}

/* The lock model has no timers, files and the like. */
static struct weft_lock_use lock_of(uint8_t role, uint8_t shared)
{
    static const uint8_t kinds[WEFT_SHARED_KINDS] = {
        [WEFT_SHARED_MUTEX] = WEFT_LOCK_MUTEX,
        [WEFT_SHARED_RWLOCK] = WEFT_LOCK_RWLOCK,
        [WEFT_SHARED_CONDITION] = WEFT_LOCK_CONDITION,
        [WEFT_SHARED_SEMAPHORE] = WEFT_LOCK_SEMAPHORE,
        [WEFT_SHARED_BARRIER] = WEFT_LOCK_BARRIER,
        [WEFT_SHARED_JOIN] = WEFT_LOCK_JOIN,
        [WEFT_SHARED_FUTEX] = WEFT_LOCK_CONDITION,
        [WEFT_SHARED_OTHER] = WEFT_LOCK_CONDITION,
        [WEFT_SHARED_SPIN] = WEFT_LOCK_SPIN,
    };
    static const uint8_t lock_roles[] = {
        [USER_ACQUIRE] = WEFT_LOCK_ACQUIRES, [USER_RELEASE] = WEFT_LOCK_RELEASES,
        [USER_WAIT] = WEFT_LOCK_WAITS,       [USER_SIGNAL] = WEFT_LOCK_SIGNALS,
        [USER_IO] = WEFT_LOCK_NO_ROLE,       [USER_OTHER] = WEFT_LOCK_NO_ROLE,
    };
    if (shared == WEFT_SHARED_TIMER || shared == WEFT_SHARED_FILES || shared == WEFT_SHARED_PROCESS)
        return (struct weft_lock_use){ .role = WEFT_LOCK_NO_ROLE };
    return (struct weft_lock_use){ .role = lock_roles[role], .kind = kinds[shared] };
}

/* The next field: a word, or what stands in quotes. */
static struct weft_str next_field(struct weft_str *rest)
{
    size_t from = 0, to;
    while (from < rest->n_bytes && (rest->bytes[from] == ' ' || rest->bytes[from] == '\t'))
        from++;
    const bool is_quoted = from < rest->n_bytes && rest->bytes[from] == '"';
    from += is_quoted;
    for (to = from; to < rest->n_bytes; to++)
        if (is_quoted
                ? rest->bytes[to] == '"'
                : rest->bytes[to] == ' ' || rest->bytes[to] == '\t' || rest->bytes[to] == '\r')
            break;
    const struct weft_str field = { rest->bytes + from, to - from };
    to += is_quoted && to < rest->n_bytes;
    while (to < rest->n_bytes && rest->bytes[to] == '\r')
        to++;
    *rest = (struct weft_str){ rest->bytes + to, rest->n_bytes - to };
    return field;
}

static enum weft_code refuse(const char *path, uint64_t number, const char *what,
                             struct weft_str found, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                     "%s: line %" PRIu64
                     ": %s, found '%.*s'; a line is: FUNCTION acquire|release|wait|signal|io|other "
                     "KIND [any|all] [timed]",
                     path ? path : "the table of functions", number, what,
                     (int)(found.n_bytes < 60 ? found.n_bytes : 60),
                     found.n_bytes ? found.bytes : "");
}

static bool read_extra(struct weft_str field, struct weft_blocking_use *use)
{
    if (weft_str_equal(field, WEFT_STR("any")))
        use->mode = WEFT_WAIT_FOR_ANY;
    else if (weft_str_equal(field, WEFT_STR("all")))
        use->mode = WEFT_WAIT_FOR_ALL;
    else if (weft_str_equal(field, WEFT_STR("timed")))
        use->is_timed = true;
    else
        return false;
    return true;
}

static enum weft_code read_line(struct weft_str rest, const char *path, uint64_t number,
                                struct line *line, struct weft_err *err)
{
    static const uint8_t kinds[] = { WEFT_BLOCKING_WAIT, WEFT_BLOCKING_RELEASE,
                                     WEFT_BLOCKING_WAIT, WEFT_BLOCKING_RELEASE,
                                     WEFT_BLOCKING_IO,   WEFT_BLOCKING_OTHER };
    uint8_t role = 0;
    line->name = next_field(&rest);
    const struct weft_str role_text = next_field(&rest), kind_text = next_field(&rest);
    if (line->name.n_bytes == 0 || line->name.n_bytes > NAME_BYTES_MAX)
        return refuse(path, number, "expected a function's name", line->name, err);
    if (!find_word(role_text, roles, sizeof roles / sizeof *roles, &role))
        return refuse(path, number, "expected acquire, release, wait, signal, io or other",
                      role_text, err);
    line->use.shared = role == USER_IO ? WEFT_SHARED_FILES : WEFT_SHARED_OTHER;
    if (kind_text.n_bytes && !find_shared(kind_text, &line->use.shared))
        return refuse(path, number, "expected a kind of object, such as mutex or condition",
                      kind_text, err);
    if (role == USER_ACQUIRE && line->use.shared != WEFT_SHARED_RWLOCK &&
        line->use.shared != WEFT_SHARED_SPIN)
        line->use.shared = WEFT_SHARED_MUTEX;
    line->use.kind = kinds[role];
    line->use.lock = lock_of(role, line->use.shared);
    for (struct weft_str field = next_field(&rest); field.n_bytes; field = next_field(&rest))
        if (!read_extra(field, &line->use))
            return refuse(path, number, "expected any, all or timed", field, err);
    return WEFT_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return weft_str_compare(x->name, y->name);
}

static enum weft_code read_table(struct weft_blocking_names *names, struct weft_str text,
                                 const char *path, struct weft_err *err)
{
    uint64_t number = 0;
    for (size_t at = 0; at < text.n_bytes;) {
        const char *end = memchr(text.bytes + at, '\n', text.n_bytes - at);
        const size_t n_bytes = end ? (size_t)(end - text.bytes) - at : text.n_bytes - at;
        struct weft_str rest = { text.bytes + at, n_bytes }, first = rest;
        at += n_bytes + 1;
        number++;
        first = next_field(&first);
        if (first.n_bytes == 0 || first.bytes[0] == '#')
            continue;
        struct line *line = names->lines.n < LINES_MAX ? WEFT_VEC_PUSH(&names->lines) : NULL;
        if (!line)
            return weft_fail(err, names->lines.n < LINES_MAX ? WEFT_E_NOMEM : WEFT_E_LIMIT,
                             WEFT_NO_OFFSET, "the table of functions has more than %d lines",
                             LINES_MAX);
        WEFT_TRY(read_line(rest, path, number, line, err));
    }
    if (names->lines.n)
        qsort(names->lines.items, names->lines.n, sizeof *names->lines.items, by_name);
    return WEFT_OK;
}

enum weft_code weft_blocking_names_new(struct weft_str text, const char *path,
                                       struct weft_blocking_names **names, struct weft_err *err)
{
    struct weft_blocking_names *made = calloc(1, sizeof *made);
    *names = NULL;
    if (made)
        made->arena = weft_arena_new(0);
    const struct weft_str copy =
        made && made->arena ? weft_arena_copy(made->arena, text) : (struct weft_str){ 0 };
    enum weft_code code = WEFT_OK;
    if (!made || !made->arena || (text.n_bytes && !copy.bytes))
        code = weft_no_memory(err, "names of functions");
    WEFT_THEN(code, read_table(made, copy, path, err));
    if (code == WEFT_OK)
        *names = made;
    else
        weft_blocking_names_free(made);
    return code;
}

void weft_blocking_names_free(struct weft_blocking_names *names)
{
    if (!names)
        return;
    if (names->arena)
        weft_arena_free(names->arena);
    WEFT_VEC_FINI(&names->lines);
    free(names);
}

struct weft_blocking_use weft_blocking_use_of(const struct weft_blocking_names *names,
                                              struct weft_str name)
{
    const struct line wanted = { .name = name };
    const struct line *found = NULL;
    if (names && names->lines.n)
        found = bsearch(&wanted, names->lines.items, names->lines.n, sizeof wanted, by_name);
    return found ? found->use : known_use(name);
}
