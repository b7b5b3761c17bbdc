/* SPDX-License-Identifier: MIT
 *
 * Requests that wait for a lock. The healthy variants hold it for microseconds, or not at all while
 * they do something else.
 */
#include "kinds.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t config_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t counter_lock;
static int log_fd = -1;

CALL void look_up(unsigned number)
{
    pthread_mutex_lock(&table_mutex);
    compute_us(5 + number % 3);
    pthread_mutex_unlock(&table_mutex);
}

CALL void handle_lookup(unsigned number, bool is_broken)
{
    (void)is_broken;
    compute_us(80);
    look_up(number);
}

/* ---- a flusher that does its work with the lock ---- */

CALL void rebuild_index(unsigned us)
{
    compute_us(us);
}

CALL void flush_table(bool is_broken)
{
    pause_us(100000);
    if (!is_broken)
        rebuild_index(12000);
    pthread_mutex_lock(&table_mutex);
    rebuild_index(is_broken ? 12000 : 10);
    pthread_mutex_unlock(&table_mutex);
}

/* ---- one that sorts with it: its time is that of a function of libc ---- */

CALL int compare_rows(const void *a, const void *b)
{
    const unsigned *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

CALL void sort_rows(unsigned n)
{
    static unsigned rows[40000];
    unsigned seed = 1;
    for (unsigned i = 0; i < n; i++)
        rows[i] = seed = seed * 1103515245 + 12345;
    qsort(rows, n, sizeof *rows, compare_rows);
}

CALL void sort_table(bool is_broken)
{
    pause_us(100000);
    if (!is_broken)
        sort_rows(40000);
    pthread_mutex_lock(&table_mutex);
    sort_rows(is_broken ? 40000 : 10);
    pthread_mutex_unlock(&table_mutex);
}

/* ---- one that writes to a disk with it ---- */

CALL void write_journal(unsigned n)
{
    char page[4096] = { 1 };
    for (unsigned i = 0; i < n; i++)
        if (write(log_fd, page, sizeof page) < 0)
            fail("write");
    if (fdatasync(log_fd) != 0)
        fail("fdatasync");
}

CALL void open_journal(bool is_broken)
{
    char name[] = "kinds-XXXXXX";
    (void)is_broken;
    log_fd = mkstemp(name);
    if (log_fd < 0)
        fail(name);
    unlink(name);
}

CALL void commit_journal(bool is_broken)
{
    pause_us(60000);
    if (!is_broken)
        write_journal(600);
    pthread_mutex_lock(&table_mutex);
    if (is_broken)
        write_journal(600);
    pthread_mutex_unlock(&table_mutex);
}

/* ---- one that sleeps with it ---- */

CALL void back_off(void)
{
    pause_us(15000);
}

CALL void renew_lease(bool is_broken)
{
    pause_us(80000);
    if (!is_broken)
        back_off();
    pthread_mutex_lock(&table_mutex);
    if (is_broken)
        back_off();
    pthread_mutex_unlock(&table_mutex);
}

/* ---- a writer that keeps readers out ---- */

CALL void read_config(unsigned number)
{
    pthread_rwlock_rdlock(&config_lock);
    compute_us(5 + number % 3);
    pthread_rwlock_unlock(&config_lock);
}

CALL void handle_reader(unsigned number, bool is_broken)
{
    (void)is_broken;
    compute_us(80);
    read_config(number);
}

CALL void parse_config(unsigned us)
{
    compute_us(us);
}

CALL void reload_config(bool is_broken)
{
    pause_us(40000);
    if (!is_broken)
        parse_config(14000);
    pthread_rwlock_wrlock(&config_lock);
    parse_config(is_broken ? 14000 : 10);
    pthread_rwlock_unlock(&config_lock);
}

/* ---- a spin lock that is held for long ---- */

CALL void make_counter(bool is_broken)
{
    (void)is_broken;
    pthread_spin_init(&counter_lock, PTHREAD_PROCESS_PRIVATE);
}

CALL void count_request(void)
{
    pthread_spin_lock(&counter_lock);
    compute_us(2);
    pthread_spin_unlock(&counter_lock);
}

CALL void handle_counted(unsigned number, bool is_broken)
{
    (void)number;
    (void)is_broken;
    compute_us(80);
    count_request();
}

CALL void print_statistics(unsigned us)
{
    compute_us(us);
}

CALL void report_counters(bool is_broken)
{
    pause_us(90000);
    if (!is_broken)
        print_statistics(9000);
    pthread_spin_lock(&counter_lock);
    print_statistics(is_broken ? 9000 : 2);
    pthread_spin_unlock(&counter_lock);
}

/* ---- two locks in two orders ---- */

static pthread_mutex_t accounts_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t journal_mutex = PTHREAD_MUTEX_INITIALIZER;

CALL void end_soon(bool is_broken)
{
    if (is_broken)
        alarm(1); /* a program that hangs is killed */
}

CALL void transfer(pthread_mutex_t *first, pthread_mutex_t *second, unsigned us)
{
    pthread_mutex_lock(first);
    pause_us(us);
    pthread_mutex_lock(second);
    compute_us(5);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

CALL void handle_transfer(unsigned number, bool is_broken)
{
    (void)is_broken;
    (void)number;
    transfer(&accounts_mutex, &journal_mutex, 50);
}

CALL void audit(bool is_broken)
{
    pause_us(20000);
    if (is_broken)
        transfer(&journal_mutex, &accounts_mutex, 5000);
    else
        transfer(&accounts_mutex, &journal_mutex, 50);
}

const struct kind lock_kinds[] = {
    { "deadlock", end_soon, handle_transfer, audit, 0, 0, NULL },
    { "lock", NULL, handle_lookup, flush_table, 0, 0, NULL },
    { "lock-sort", NULL, handle_lookup, sort_table, 0, 0, NULL },
    { "lock-io", open_journal, handle_lookup, commit_journal, 0, 0, NULL },
    { "lock-sleep", NULL, handle_lookup, renew_lease, 0, 0, NULL },
    { "rwlock", NULL, handle_reader, reload_config, 0, 0, NULL },
    { "spin", make_counter, handle_counted, report_counters, 0, 0, NULL },
    { 0 },
};
