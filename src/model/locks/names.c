/* SPDX-License-Identifier: MIT
 *
 * The table of lock functions of pthreads, C11, C++, WiredTiger and glibc's internals, searched
 * after a name was stripped of glibc's prefixes and of its parameters. A new lock library is a row
 * here; the user's own are in blocking_names.c.
 */
#include "model/locks/names.h"

#include <string.h>

struct row {
    const char *names; /* "a|b" */
    struct weft_lock_use use;
};

static const struct row rows[] = {
    { "pthread_mutex_lock|pthread_mutex_timedlock|pthread_mutex_clocklock|"
      "mtx_lock|mtx_timedlock|std::mutex::lock|std::recursive_mutex::lock|std::timed_mutex::lock|"
      "__wt_spin_lock|__wt_spin_lock_track|std::shared_mutex::lock",
      { WEFT_LOCK_ACQUIRES, WEFT_LOCK_MUTEX, false, false } },
    { "pthread_mutex_unlock|mtx_unlock|std::mutex::unlock|"
      "std::recursive_mutex::unlock|std::timed_mutex::unlock|__wt_spin_unlock|"
      "std::shared_mutex::unlock",
      { WEFT_LOCK_RELEASES, WEFT_LOCK_MUTEX, false, false } },
    { "pthread_spin_lock", { WEFT_LOCK_ACQUIRES, WEFT_LOCK_SPIN, false, false } },
    { "pthread_spin_unlock", { WEFT_LOCK_RELEASES, WEFT_LOCK_SPIN, false, false } },
    { "pthread_rwlock_rdlock|pthread_rwlock_timedrdlock|pthread_rwlock_clockrdlock|__wt_readlock|"
      "std::shared_mutex::lock_shared",
      { WEFT_LOCK_ACQUIRES, WEFT_LOCK_RWLOCK, true, false } },
    { "pthread_rwlock_wrlock|pthread_rwlock_timedwrlock|pthread_rwlock_clockwrlock|__wt_writelock",
      { WEFT_LOCK_ACQUIRES, WEFT_LOCK_RWLOCK, false, false } },
    { "pthread_rwlock_unlock|__wt_readunlock|__wt_writeunlock|std::shared_mutex::unlock_shared",
      { WEFT_LOCK_RELEASES, WEFT_LOCK_RWLOCK, false, false } },
    { "pthread_cond_wait|pthread_cond_timedwait|pthread_cond_clockwait|cnd_wait|cnd_timedwait|"
      "std::condition_variable::wait|"
      "std::condition_variable::wait_for|std::condition_variable::wait_until|"
      "__wt_cond_wait_signal",
      { WEFT_LOCK_WAITS, WEFT_LOCK_CONDITION, false, false } },
    { "pthread_cond_signal|cnd_signal|std::condition_variable::notify_one",
      { WEFT_LOCK_SIGNALS, WEFT_LOCK_CONDITION, false, false } },
    { "pthread_cond_broadcast|cnd_broadcast|std::condition_variable::notify_all|__wt_cond_signal",
      { WEFT_LOCK_SIGNALS, WEFT_LOCK_CONDITION, false, true } },
    { "sem_wait|sem_timedwait|sem_clockwait",
      { WEFT_LOCK_WAITS, WEFT_LOCK_SEMAPHORE, false, false } },
    { "sem_post", { WEFT_LOCK_SIGNALS, WEFT_LOCK_SEMAPHORE, false, false } },
    { "sem_init", { WEFT_LOCK_MAKES, WEFT_LOCK_SEMAPHORE, false, false } },
    { "sem_destroy", { WEFT_LOCK_UNMAKES, WEFT_LOCK_SEMAPHORE, false, false } },
    { "pthread_barrier_wait", { WEFT_LOCK_WAITS, WEFT_LOCK_BARRIER, false, false } },
    { "pthread_join|pthread_timedjoin_np|pthread_clockjoin_np|thrd_join|std::thread::join",
      { WEFT_LOCK_WAITS, WEFT_LOCK_JOIN, false, false } },
    { "pthread_mutex_init|mtx_init", { WEFT_LOCK_MAKES, WEFT_LOCK_MUTEX, false, false } },
    { "pthread_mutex_destroy|mtx_destroy", { WEFT_LOCK_UNMAKES, WEFT_LOCK_MUTEX, false, false } },
    { "pthread_spin_init", { WEFT_LOCK_MAKES, WEFT_LOCK_SPIN, false, false } },
    { "pthread_spin_destroy", { WEFT_LOCK_UNMAKES, WEFT_LOCK_SPIN, false, false } },
    { "pthread_rwlock_init", { WEFT_LOCK_MAKES, WEFT_LOCK_RWLOCK, false, false } },
    { "pthread_rwlock_destroy", { WEFT_LOCK_UNMAKES, WEFT_LOCK_RWLOCK, false, false } },
    { "pthread_cond_init|cnd_init", { WEFT_LOCK_MAKES, WEFT_LOCK_CONDITION, false, false } },
    { "pthread_cond_destroy|cnd_destroy",
      { WEFT_LOCK_UNMAKES, WEFT_LOCK_CONDITION, false, false } },
    { "pthread_barrier_init", { WEFT_LOCK_MAKES, WEFT_LOCK_BARRIER, false, false } },
    { "pthread_barrier_destroy", { WEFT_LOCK_UNMAKES, WEFT_LOCK_BARRIER, false, false } },
    { "lll_lock_wait|lll_lock_wake|lll_lock_wait_private|lll_lock_wake_private|futex_wait|"
      "futex_wake|futex_abstimed_wait_common|futex_abstimed_wait|futex_abstimed_wait64|"
      "futex_abstimed_wait_cancelable64|pthread_mutex_trylock|pthread_mutex_cond_lock|syscall|"
      "pthread_mutex_lock_full|pthread_mutex_unlock_usercnt|pthread_cond_wait_common|__wt_cond_"
      "wait|"
      "std::lock_guard::lock_guard|std::unique_lock::lock|leveldb::port::Mutex::Lock|"
      "leveldb::port::Mutex::Unlock|leveldb::port::CondVar::Wait|futex_wait_cancelable|"
      "futex_abstimed_wait_common64|futex_abstimed_wait_cancelable|futex_wait_simple|"
      "lll_mutex_lock_optimized|lll_mutex_unlock_optimized|pthread_cond_clockwait|"
      "pthread_clockjoin_ex|new_sem_wait_slow64|new_sem_wait_slow|new_sem_wait|new_sem_post|"
      "pthread_rwlock_rdlock_full|pthread_rwlock_rdlock_full64|pthread_rwlock_wrlock_full|"
      "pthread_rwlock_wrlock_full64|pthread_rwlock_rdunlock|pthread_rwlock_wrunlock|"
      "gthread_mutex_lock|gthread_mutex_unlock|gthread_cond_wait|glibcxx_rwlock_rdlock|"
      "glibcxx_rwlock_wrlock|glibcxx_rwlock_unlock",
      { WEFT_LOCK_PASSES, WEFT_LOCK_FUTEX, false, false } },
    /* Of C++, around its mutexes. */
    { "std::lock_guard::~lock_guard|std::unique_lock::unique_lock|std::unique_lock::unlock|"
      "std::unique_lock::~unique_lock|std::scoped_lock::scoped_lock|"
      "std::scoped_lock::~scoped_lock|std::shared_lock::shared_lock|std::shared_lock::lock|"
      "std::shared_lock::unlock|std::shared_lock::~shared_lock|std::shared_mutex::unlock_shared|"
      "std::__shared_mutex_pthread::lock|std::__shared_mutex_pthread::unlock|"
      "std::__shared_mutex_pthread::lock_shared|std::__shared_mutex_pthread::unlock_shared|"
      "std::condition_variable::__wait_until_impl|std::__condvar::wait|"
      "std::__atomic_futex_unsigned_base::_M_futex_wait_until|std::__detail::__platform_wait",
      { WEFT_LOCK_PASSES, WEFT_LOCK_FUTEX, false, false } },
    /* Of Rust, likewise. */
    { "std::sys::sync::mutex::futex::Mutex::lock|std::sys::sync::mutex::futex::Mutex::lock_"
      "contended|"
      "std::sys::sync::mutex::futex::Mutex::unlock|std::sys::sync::mutex::futex::Mutex::wake|"
      "std::sync::poison::mutex::MutexGuard::drop|std::sync::mutex::MutexGuard::drop|"
      "std::sync::poison::rwlock::RwLock::read|std::sync::poison::rwlock::RwLock::write|"
      "std::sync::poison::rwlock::RwLockReadGuard::drop|"
      "std::sync::poison::rwlock::RwLockWriteGuard::drop|"
      "std::sync::mutex::Mutex::lock|std::sync::poison::mutex::Mutex::lock|"
      "std::sys::sync::rwlock::futex::RwLock::read|std::sys::sync::rwlock::futex::RwLock::write|"
      "std::sys::sync::rwlock::futex::RwLock::read_contended|"
      "std::sys::sync::rwlock::futex::RwLock::write_contended|"
      "std::sys::sync::condvar::futex::Condvar::wait_optional_timeout|"
      "std::sys::pal::unix::futex::futex_wait|std::sys::pal::unix::futex::futex_wake|"
      "std::sys::futex::futex_wait|std::sys::futex::futex_wake",
      { WEFT_LOCK_PASSES, WEFT_LOCK_FUTEX, false, false } },
};

enum { PLAIN_BYTES = 256 };

/* Without arguments, template arguments and versions. Of "<Type as Trait>::function" the type
 * stays. */
static struct weft_str without_arguments(struct weft_str name, char bytes[PLAIN_BYTES])
{
    size_t n = 0, depth = 0;
    bool is_type = name.n_bytes > 0 && name.bytes[0] == '<';
    for (size_t i = is_type; i < name.n_bytes && n < PLAIN_BYTES; i++) {
        const char byte = name.bytes[i];
        if (is_type && depth == 0 && (byte == '>' || byte == ' ')) {
            const char *end = memchr(name.bytes + i, '>', name.n_bytes - i);
            i = end ? (size_t)(end - name.bytes) : name.n_bytes;
            is_type = false;
        } else if (byte == '<') {
            depth++;
        } else if (byte == '>' && depth > 0) {
            depth--;
        } else if (depth == 0 && (byte == '@' || byte == '(') && n > 0) {
            break;
        } else if (depth == 0) {
            bytes[n++] = byte;
        }
    }
    while (n > 0 && bytes[n - 1] == ' ')
        n--;
    return (struct weft_str){ bytes, n };
}

/* glibc's own names for what it exports: "__GI___pthread_mutex_lock", "___pthread_mutex_lock". */
static struct weft_str plain(struct weft_str name, char bytes[PLAIN_BYTES])
{
    static const char front[] = "__GI_";
    name = without_arguments(name, bytes);
    if (name.n_bytes > sizeof front && memcmp(name.bytes, front, sizeof front - 1) == 0)
        name = (struct weft_str){ name.bytes + sizeof front - 1, name.n_bytes - sizeof front + 1 };
    return name;
}

struct weft_lock_use weft_lock_use_of(struct weft_str name)
{
    char bytes[PLAIN_BYTES];
    const struct weft_str whole = plain(name, bytes);
    struct weft_str bare = whole;
    while (bare.n_bytes > 1 && bare.bytes[0] == '_')
        bare = (struct weft_str){ bare.bytes + 1, bare.n_bytes - 1 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (weft_str_is_one_of(whole, rows[i].names) || weft_str_is_one_of(bare, rows[i].names))
            return rows[i].use;
    return (struct weft_lock_use){ .role = WEFT_LOCK_NO_ROLE };
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool has_part(struct weft_str text, const char *part)
{
    const size_t n_part = strlen(part);
    for (size_t i = 0; i + n_part <= text.n_bytes; i++)
        if (memcmp(text.bytes + i, part, n_part) == 0)
            return true;
    return false;
}

enum weft_lock_kind weft_lock_kind_of_name(struct weft_str name, bool *is_shared)
{
    static const char *const writes[] = { "rwlock", "wrlock", "write_lock", "writelock" };
    bool is_rw = *is_shared =
        has_part(name, "rdlock") || has_part(name, "read_lock") || has_part(name, "readlock");
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        is_rw |= has_part(name, writes[i]);
    /* WiredTiger's spin locks are mutexes. */
    const bool is_spin = has_part(name, "spin") && !has_part(name, "__wt_");
    return is_rw ? WEFT_LOCK_RWLOCK : is_spin ? WEFT_LOCK_SPIN : WEFT_LOCK_MUTEX;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static bool is_kernel_frame(struct weft_str frame)
{
    static const char kernel[] = "[kernel]", unknown[] = "[unknown]";
    return (frame.n_bytes >= sizeof kernel - 1 &&
            memcmp(frame.bytes, kernel, sizeof kernel - 1) == 0) ||
           (frame.n_bytes >= sizeof unknown - 1 &&
            memcmp(frame.bytes, unknown, sizeof unknown - 1) == 0);
}

struct weft_str weft_lock_stack_site(struct weft_str stack)
{
    struct weft_str best = { 0 };
    size_t start = 0;
    for (size_t i = 0; i <= stack.n_bytes; i++) {
        if (i < stack.n_bytes && stack.bytes[i] != ';')
            continue;
        const struct weft_str frame = { stack.bytes + start, i - start };
        start = i + 1;
        if (frame.n_bytes == 0 || is_kernel_frame(frame))
            continue;
        if (best.n_bytes == 0 || weft_lock_use_of(frame).role == WEFT_LOCK_NO_ROLE)
            best = frame;
    }
    return best;
}
