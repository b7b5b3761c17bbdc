/* SPDX-License-Identifier: MIT
 *
 * A server to be recorded, as servers are: no function in it is instrumented. In rounds it accepts
 * some connections, has a thread answer each, and no answer is given before all are accepted: so
 * those of a round overlap, and their descriptors are those of the round before. It says, a line
 * each, the descriptor and how many bytes were asked and answered.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 4, AT_ONCE = 3, MOST_BYTES = 64 };

struct answer {
    int fd, asked, answered;
};

static pthread_barrier_t accepted;
static struct sockaddr_in address;

static void *ask(void *context)
{
    const int n_bytes = (int)(intptr_t)context;
    char bytes[MOST_BYTES] = "";
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        send(fd, bytes, (size_t)n_bytes, 0) != n_bytes)
        perror("asking");
    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        ;
    close(fd);
    return NULL;
}

static void *answer(void *context)
{
    struct answer *answer = context;
    char bytes[MOST_BYTES] = "";
    pthread_barrier_wait(&accepted);
    answer->asked = (int)recv(answer->fd, bytes, sizeof bytes, 0);
    answer->answered = (int)write(answer->fd, bytes, (size_t)(2 * answer->asked));
    shutdown(answer->fd, SHUT_RDWR);
    return NULL;
}

static void round_of(int listener, struct answer *answers)
{
    pthread_t askers[AT_ONCE], answerers[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++)
        pthread_create(&askers[i], NULL, ask, (void *)(intptr_t)(1 + i));
    for (int i = 0; i < AT_ONCE; i++) {
        answers[i].fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_create(&answerers[i], NULL, answer, &answers[i]);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        pthread_join(askers[i], NULL);
        pthread_join(answerers[i], NULL);
    }
    for (int i = 0; i < AT_ONCE; i++)
        close(answers[i].fd);
}

int main(void)
{
    socklen_t n_address = sizeof address;
    struct answer answers[ROUNDS * AT_ONCE] = { 0 };
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, AT_ONCE) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &n_address) != 0)
        return 1;
    pthread_barrier_init(&accepted, NULL, AT_ONCE);
    for (int i = 0; i < ROUNDS; i++)
        round_of(listener, answers + i * AT_ONCE);
    (void)fcntl(listener, F_SETFL, O_NONBLOCK);
    (void)accept(listener, NULL, NULL); /* nobody comes */
    for (int i = 0; i < ROUNDS * AT_ONCE; i++)
        fprintf(stderr, "%d %d %d\n", answers[i].fd, answers[i].asked, answers[i].answered);
    return 0;
}
