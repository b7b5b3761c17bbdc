/* SPDX-License-Identifier: MIT
 *
 * A client inserts documents over TCP; the server notes each in a list of pending changes, under a
 * mutex. Four times a second the journal takes the list, under the same mutex, and then, still
 * holding it, remaps its view, which is slow and does not need the list. The client waits for the
 * server, the server for the mutex. Fixed: the mutex is released before.
 *
 * Client and server are two processes. After TraceCompare 4.3, lock contention in MongoDB.
 */
#include "cases.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { DOCUMENT_BYTES = 200, JOURNAL_NS = 250000000 };

struct change {
    struct change *next;
    char document[DOCUMENT_BYTES];
};

static struct case_options options;
static pthread_mutex_t pending_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct change *pending;
static _Atomic bool is_over;

CASE_PLAIN void die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- the server */

CASE_CALL void note_pending_change(const char *document)
{
    struct change *change = malloc(sizeof *change);
    if (!change)
        die("memory");
    memcpy(change->document, document, DOCUMENT_BYTES);
    pthread_mutex_lock(&pending_mutex);
    change->next = pending;
    pending = change;
    pthread_mutex_unlock(&pending_mutex);
}

CASE_CALL void apply_insert(const char *document)
{
    case_work_us(400);
    note_pending_change(document);
}

CASE_CALL void *serve(void *listening)
{
    char document[DOCUMENT_BYTES];
    const int one = 1;
    const int fd = accept(*(const int *)listening, NULL, NULL);
    case_name("connection");
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    while (recv(fd, document, sizeof document, MSG_WAITALL) == sizeof document) {
        apply_insert(document);
        if (send(fd, "done", 4, 0) != 4)
            break;
    }
    is_over = true;
    (void)close(fd);
    return NULL;
}

CASE_CALL void remap_private_view(void)
{
    case_work_us(45000);
}

CASE_CALL void write_changes(struct change *changes)
{
    while (changes) {
        struct change *next = changes->next;
        free(changes);
        changes = next;
    }
}

CASE_CALL void journal_commit(void)
{
    pthread_mutex_lock(&pending_mutex);
    struct change *changes = pending;
    pending = NULL;
    if (options.is_fixed)
        pthread_mutex_unlock(&pending_mutex);
    remap_private_view();
    if (!options.is_fixed)
        pthread_mutex_unlock(&pending_mutex);
    write_changes(changes);
}

CASE_CALL void *keep_journal(void *unused)
{
    case_name("journal");
    for (uint64_t next_ns = case_now_ns() + JOURNAL_NS; !is_over; next_ns += JOURNAL_NS) {
        case_sleep_until(next_ns);
        journal_commit();
    }
    return unused;
}

/* ---- the client */

CASE_CALL void build_document(char *document)
{
    case_work_us(300);
    memset(document, 'd', DOCUMENT_BYTES);
}

CASE_CALL void insert_document(int fd)
{
    char document[DOCUMENT_BYTES];
    char reply[4];
    build_document(document);
    if (send(fd, document, sizeof document, 0) != sizeof document ||
        recv(fd, reply, sizeof reply, MSG_WAITALL) != sizeof reply)
        die("server");
}

CASE_PLAIN void be_client(const struct sockaddr_in *server)
{
    uint64_t *durations = calloc(options.n_runs + 1, sizeof *durations);
    const int one = 1;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    case_name("client");
    if (!durations || connect(fd, (const struct sockaddr *)server, sizeof *server) != 0)
        die("connect");
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (unsigned i = 0; i < options.n_runs; i++) {
        case_sleep_until(case_now_ns() + 8000000);
        const uint64_t start_ns = case_now_ns();
        weft_mark_begin("insert", i);
        insert_document(fd);
        weft_mark_end("insert", i);
        durations[i] = case_now_ns() - start_ns;
    }
    (void)close(fd);
    case_say("inserts", durations, options.n_runs);
    free(durations);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t here_bytes = sizeof here;
    pthread_t threads[2];
    int status = 0;
    options = case_options(argc, argv, 400);
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listening, (const struct sockaddr *)&here, sizeof here) != 0 ||
        listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr *)&here, &here_bytes) != 0)
        die("listen");
    const pid_t client = fork();
    if (client == 0)
        be_client(&here);
    case_start(&threads[0], serve, &listening);
    case_start(&threads[1], keep_journal, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    if (client < 0 || waitpid(client, &status, 0) != client)
        die("client");
    return status != 0;
}
