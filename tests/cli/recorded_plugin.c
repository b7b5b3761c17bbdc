/* SPDX-License-Identifier: MIT
 *
 * A library that recorded.c opens while it runs, built with -finstrument-functions.
 */
#include <pthread.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN int plugin_wanted(int number);
SHOWN int plugin_other(int number);
SHOWN __attribute__((no_instrument_function)) void plugin_silent(void);

/* recorded.c has one of this name, too. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t plugin_locks[3];

int plugin_wanted(int number)
{
    (void)pthread_mutex_lock(&mutex);
    (void)pthread_mutex_lock(&plugin_locks[1]);
    (void)pthread_mutex_unlock(&plugin_locks[1]);
    (void)pthread_mutex_unlock(&mutex);
    __asm__ volatile("");
    return number + 1;
}

int plugin_other(int number)
{
    __asm__ volatile("");
    return number + 2;
}

void plugin_silent(void)
{
    (void)pthread_mutex_lock(&plugin_locks[2]);
    (void)pthread_mutex_unlock(&plugin_locks[2]);
}
