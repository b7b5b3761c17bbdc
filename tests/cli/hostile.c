/* SPDX-License-Identifier: MIT
 *
 * A program to be recorded whose names are hostile: of threads, executions, metrics, counters,
 * queues, notes. Two threads contend for a lock. usage: hostile NAME
 */
#include <pthread.h>
#include <unistd.h>
#include <weft/mark.h>

enum { JOBS = 40, HOLD_US = 200 };

static const char *name;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;

static void *work(void *context)
{
    const uint64_t first = *(const uint64_t *)context;
    weft_mark_thread_name(name);
    for (uint64_t n = first; n < first + JOBS; n++) {
        weft_mark_begin(name, n);
        pthread_mutex_lock(&lock);
        usleep(HOLD_US);
        weft_mark_metric(n, name, (double)n);
        pthread_mutex_unlock(&lock);
        pthread_spin_lock(&spin);
        weft_mark_counter(name, (double)n);
        pthread_spin_unlock(&spin);
        weft_mark_task_queued(name, n);
        weft_mark_task_begin(name, n);
        weft_mark_instant(name);
        weft_mark_task_end(name, n);
        weft_mark_end(name, n);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static uint64_t firsts[] = { 1, 1001 };
    pthread_t threads[2];
    name = argc > 1 ? argv[1] : "plain";
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], 0, work, &firsts[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
