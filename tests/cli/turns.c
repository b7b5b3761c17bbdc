/* SPDX-License-Identifier: MIT
 *
 * A server to be recorded of which no function is instrumented: two threads called alike answer
 * what a client asks, one request after the other. Every tenth waits for a lock that the keeper has
 * while it sleeps for 20 ms. With a number: so many threads, each of a name of its own, that sleep
 * 12 times; with names: a thread of each.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPS = 12, AT_ONCE = 50, NAME_BYTES = 16 };
enum { SERVERS = 2, REQUESTS = 150, SLOW = 10, KEPT_US = 20000 };

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static int clients[SERVERS], servers[SERVERS], orders[2];

static void sleep_us(long us)
{
    const struct timespec time = { .tv_nsec = us * 1000 };
    (void)nanosleep(&time, NULL);
}

static void *keep(void *unused)
{
    char order;
    (void)pthread_setname_np(pthread_self(), "keeper");
    while (recv(orders[1], &order, 1, 0) == 1) {
        (void)pthread_mutex_lock(&table);
        (void)send(orders[1], &order, 1, 0);
        sleep_us(KEPT_US);
        (void)pthread_mutex_unlock(&table);
    }
    return unused;
}

static void *serve(void *context)
{
    const int fd = servers[(intptr_t)context];
    char name[16], request;
    (void)snprintf(name, sizeof name, "server-%d", (int)(intptr_t)context);
    (void)pthread_setname_np(pthread_self(), name);
    while (recv(fd, &request, 1, 0) == 1) {
        (void)pthread_mutex_lock(&table);
        (void)pthread_mutex_unlock(&table);
        (void)send(fd, &request, 1, 0);
    }
    return NULL;
}

/* The keeper has the table once it has answered. */
static void ask(int number)
{
    char byte = 0;
    if (number % SLOW == 1 &&
        (send(orders[0], &byte, 1, 0) != 1 || recv(orders[0], &byte, 1, 0) != 1))
        perror("keeper");
    for (int i = 0; i < SERVERS; i++)
        if (send(clients[i], &byte, 1, 0) != 1 || recv(clients[i], &byte, 1, 0) != 1)
            perror("server");
    sleep_us(1000);
}

static void pair(int *a, int *b)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        perror("socketpair");
    *a = ends[0];
    *b = ends[1];
}

static void *sleep_often(void *context)
{
    (void)pthread_setname_np(pthread_self(), context);
    for (int i = 0; i < SLEEPS; i++)
        sleep_us(100);
    return NULL;
}

static int sleepers(int n, char **names)
{
    static char made[AT_ONCE][NAME_BYTES];
    pthread_t threads[AT_ONCE];
    for (int first = 0; first < n; first += AT_ONCE) {
        const int n_now = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (int i = 0; i < n_now; i++) {
            (void)snprintf(made[i], NAME_BYTES, "t%dt", first + i);
            if (pthread_create(&threads[i], NULL, sleep_often, names ? names[first + i] : made[i]))
                return 1;
        }
        for (int i = 0; i < n_now; i++)
            (void)pthread_join(threads[i], NULL);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return argc == 2 ? sleepers((int)strtol(argv[1], NULL, 10), NULL)
                         : sleepers(argc - 1, argv + 1);
    pthread_t threads[SERVERS + 1];
    pair(&orders[0], &orders[1]);
    (void)pthread_create(&threads[SERVERS], NULL, keep, NULL);
    for (intptr_t i = 0; i < SERVERS; i++) {
        pair(&clients[i], &servers[i]);
        (void)pthread_create(&threads[i], NULL, serve, (void *)i);
    }
    for (int i = 0; i < REQUESTS; i++)
        ask(i);
    for (int i = 0; i < SERVERS; i++)
        (void)shutdown(clients[i], SHUT_RDWR);
    (void)shutdown(orders[0], SHUT_RDWR);
    for (int i = 0; i <= SERVERS; i++)
        (void)pthread_join(threads[i], NULL);
    return 0;
}
