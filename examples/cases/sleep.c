/* SPDX-License-Identifier: MIT
 *
 * Batches of inserts take a fraction of a millisecond, but a few take 60 ms, while neither
 * processor nor disk has anything to do: the page was being evicted, and whoever wants it sleeps
 * before it tries again. A second group of slow batches, each 97th, is as it should be: these write
 * a checkpoint. Fixed: the evictor wakes those that wait for it.
 *
 * After TraceCompare 4.4, sleep in MongoDB.
 */
#include "cases.h"

#include <fcntl.h>
#include <stdatomic.h>

enum { N_INSERTS = 4, CHECKPOINT_BATCHES = 97, CHECKPOINT_BYTES = 1 << 16, RETRY_NS = 60000000 };

static struct case_options options;
static pthread_mutex_t page_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t page_is_free = PTHREAD_COND_INITIALIZER;
static bool is_evicting;
static _Atomic bool is_over;
static char path[4096];

CASE_CALL void wait_before_retry(void)
{
    const struct timespec time = { 0, RETRY_NS };
    nanosleep(&time, NULL);
}

CASE_CALL void get_hazard_pointer(void)
{
    pthread_mutex_lock(&page_mutex);
    while (is_evicting) {
        if (options.is_fixed) {
            pthread_cond_wait(&page_is_free, &page_mutex);
            continue;
        }
        /* If another thread is evicting the page, wait a while. */
        pthread_mutex_unlock(&page_mutex);
        wait_before_retry();
        pthread_mutex_lock(&page_mutex);
    }
    pthread_mutex_unlock(&page_mutex);
}

CASE_CALL void insert_row(void)
{
    get_hazard_pointer();
    case_work_us(60);
}

CASE_CALL void write_checkpoint(int fd)
{
    static char bytes[CHECKPOINT_BYTES];
    if (pwrite(fd, bytes, sizeof bytes, 0) != sizeof bytes || fdatasync(fd) != 0) {
        perror(path);
        exit(1);
    }
}

CASE_CALL void insert_batch(int fd, unsigned number)
{
    for (int i = 0; i < N_INSERTS; i++)
        insert_row();
    if (number % CHECKPOINT_BATCHES == CHECKPOINT_BATCHES - 1)
        write_checkpoint(fd);
}

CASE_CALL void evict_page(void)
{
    pthread_mutex_lock(&page_mutex);
    is_evicting = true;
    pthread_mutex_unlock(&page_mutex);
    case_work_us(300);
    pthread_mutex_lock(&page_mutex);
    is_evicting = false;
    pthread_cond_broadcast(&page_is_free);
    pthread_mutex_unlock(&page_mutex);
}

CASE_CALL void *evict(void *unused)
{
    case_name("evictor");
    while (!is_over) {
        case_sleep_until(case_now_ns() + 23000000);
        evict_page();
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    options = case_options(argc, argv, 1000);
    uint64_t *durations = calloc(options.n_runs + 1, sizeof *durations);
    (void)snprintf(path, sizeof path, "%s/sleep.data", options.folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (!durations || fd < 0) {
        perror(path);
        return 1;
    }
    case_start(&thread, evict, NULL);
    for (unsigned i = 0; i < options.n_runs; i++) {
        case_sleep_until(case_now_ns() + 1000000);
        const uint64_t start_ns = case_now_ns();
        weft_mark_begin("batch", i);
        insert_batch(fd, i);
        weft_mark_end("batch", i);
        durations[i] = case_now_ns() - start_ns;
    }
    is_over = true;
    pthread_join(thread, NULL);
    (void)close(fd);
    (void)unlink(path);
    case_say("batches", durations, options.n_runs);
    free(durations);
    return 0;
}
