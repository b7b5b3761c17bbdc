/* SPDX-License-Identifier: MIT
 *
 * Requests that wait for something else than a lock: for another thread, a disk, the network, a
 * time, a process.
 */
#include "kinds.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RARE = 40, FILE_BYTES = 8 << 20, PAGE = 4096 };

static int file_fd = -1, peer_fd = -1;
static unsigned char *mapped;
static sem_t connections;
static pthread_mutex_t peer_mutex = PTHREAD_MUTEX_INITIALIZER;

CALL bool is_rare(unsigned number, bool is_broken)
{
    return is_broken && number % RARE == RARE - 1;
}

/* ---- fsync ---- */

CALL void open_file(bool is_broken)
{
    char name[] = "kinds-XXXXXX";
    (void)is_broken;
    file_fd = mkstemp(name);
    if (file_fd < 0)
        fail(name);
    unlink(name);
    static unsigned char page[PAGE] = { 1 };
    for (unsigned i = 0; i < FILE_BYTES / PAGE; i++)
        if (write(file_fd, page, PAGE) != PAGE)
            fail("write");
    if (fsync(file_fd) != 0)
        fail("fsync");
}

CALL void save_order(unsigned number, bool is_durable)
{
    for (unsigned i = 0; i < (is_durable ? 500 : 1); i++)
        if (pwrite(file_fd, &number, sizeof number, (off_t)((number + i) % 2000) * PAGE) < 0)
            fail("pwrite");
    if (is_durable && fsync(file_fd) != 0)
        fail("fsync");
}

CALL void handle_order(unsigned number, bool is_broken)
{
    compute_us(100);
    save_order(number, is_rare(number, is_broken));
}

/* ---- reads from a disk ---- */

CALL void evict(void)
{
    if (posix_fadvise(file_fd, 0, FILE_BYTES, POSIX_FADV_DONTNEED) != 0)
        fail("posix_fadvise");
}

CALL void load_record(unsigned number)
{
    char page[PAGE];
    for (unsigned i = 0; i < 40; i++)
        if (pread(file_fd, page, PAGE, (off_t)((number * 37 + i * 131) % 2000) * PAGE) != PAGE)
            fail("pread");
}

CALL void handle_record(unsigned number, bool is_broken)
{
    compute_us(100);
    if (is_rare(number, is_broken))
        evict();
    load_record(number);
}

/* ---- page faults that read from a disk ---- */

CALL void map_file(bool is_broken)
{
    open_file(is_broken);
    mapped = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, file_fd, 0);
    if (mapped == MAP_FAILED)
        fail("mmap");
    madvise(mapped, FILE_BYTES, MADV_RANDOM);
}

CALL unsigned scan_index(unsigned number)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 40; i++)
        sum += mapped[(number * 37 + i * 131) % 2000 * PAGE];
    return sum;
}

CALL void handle_scan(unsigned number, bool is_broken)
{
    compute_us(100);
    if (is_rare(number, is_broken)) {
        madvise(mapped, FILE_BYTES, MADV_DONTNEED);
        evict();
    }
    (void)scan_index(number);
}

/* ---- another process that answers late ---- */

static void answer(int fd)
{
    unsigned number;
    while (read(fd, &number, sizeof number) == sizeof number) {
        if (number & 1u << 31)
            pause_us(20000);
        if (write(fd, &number, sizeof number) != sizeof number)
            break;
    }
    _exit(0);
}

CALL void start_peer(bool is_broken)
{
    int fds[2];
    (void)is_broken;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        fail("socketpair");
    if (fork() == 0) {
        close(fds[0]);
        answer(fds[1]);
    }
    close(fds[1]);
    peer_fd = fds[0];
}

CALL void ask_peer(unsigned question)
{
    if (send(peer_fd, &question, sizeof question, 0) != sizeof question ||
        recv(peer_fd, &question, sizeof question, 0) != sizeof question)
        fail("peer");
}

CALL void handle_remote(unsigned number, bool is_broken)
{
    compute_us(100);
    pthread_mutex_lock(&peer_mutex);
    ask_peer(number | (is_rare(number, is_broken) ? 1u << 31 : 0));
    pthread_mutex_unlock(&peer_mutex);
}

/* ---- a sleep before the next try ---- */

CALL void retry_later(void)
{
    pause_us(10000);
}

CALL void handle_retry(unsigned number, bool is_broken)
{
    compute_us(100);
    if (is_rare(number, is_broken))
        retry_later();
    compute_us(20);
}

/* ---- a child process ---- */

CALL void run_converter(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        pause_us(15000);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        fail("converter");
}

CALL void handle_upload(unsigned number, bool is_broken)
{
    compute_us(100);
    if (is_rare(number, is_broken))
        run_converter();
}

/* ---- a child process, of which a pipe brings the result ---- */

CALL void answer_pipe(int fd)
{
    compute_us(15000);
    _exit(write(fd, "done", 4) == 4 ? 0 : 1);
}

CALL void filter_document(void)
{
    int fds[2];
    char text[8];
    if (pipe(fds) != 0)
        fail("pipe");
    const pid_t pid = fork();
    if (pid == 0)
        answer_pipe(fds[1]);
    close(fds[1]);
    struct pollfd poll_of = { .fd = fds[0], .events = POLLIN };
    while (poll(&poll_of, 1, 5000) > 0 && read(fds[0], text, sizeof text) > 0)
        ;
    close(fds[0]);
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        fail("filter");
}

CALL void handle_document(unsigned number, bool is_broken)
{
    compute_us(100);
    if (is_rare(number, is_broken))
        filter_document();
}

/* ---- a thread that answers datagrams ---- */

CALL void parse_zone(void)
{
    compute_us(12000);
}

static void *resolver_main(void *unused)
{
    unsigned number;
    struct sockaddr_in from;
    for (;;) {
        socklen_t n = sizeof from;
        if (recvfrom(peer_fd, &number, sizeof number, 0, (struct sockaddr *)&from, &n) !=
            sizeof number)
            return unused;
        if (number & 1u << 31)
            parse_zone();
        (void)sendto(peer_fd, &number, sizeof number, 0, (const struct sockaddr *)&from, n);
    }
}

static struct sockaddr_in resolver;

CALL void start_resolver(bool is_broken)
{
    pthread_t thread;
    socklen_t n = sizeof resolver;
    (void)is_broken;
    resolver =
        (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    peer_fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (peer_fd < 0 || bind(peer_fd, (const struct sockaddr *)&resolver, n) != 0 ||
        getsockname(peer_fd, (struct sockaddr *)&resolver, &n) != 0 ||
        pthread_create(&thread, NULL, resolver_main, NULL) != 0)
        fail("resolver");
    pthread_detach(thread);
}

CALL void resolve_name(unsigned question)
{
    static __thread int fd = -1;
    if (fd < 0)
        fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (sendto(fd, &question, sizeof question, 0, (const struct sockaddr *)&resolver,
               sizeof resolver) < 0 ||
        recv(fd, &question, sizeof question, 0) != sizeof question)
        fail("name");
}

CALL void handle_name(unsigned number, bool is_broken)
{
    compute_us(100);
    resolve_name(number | (is_rare(number, is_broken) ? 1u << 31 : 0));
}

/* ---- a pool of connections that is too small ---- */

CALL void make_pool(bool is_broken)
{
    sem_init(&connections, 0, is_broken ? 1 : 8);
}

CALL void query_database(unsigned number)
{
    sem_wait(&connections);
    pause_us(number % RARE == 0 ? 20000 : 50);
    sem_post(&connections);
}

CALL void export_all(bool is_broken)
{
    (void)is_broken;
    pause_us(100000);
    query_database(0);
}

CALL void handle_query(unsigned number, bool is_broken)
{
    (void)is_broken;
    compute_us(50);
    query_database(1 + number % (RARE - 1));
}

/* ---- the same with a condition ---- */

static pthread_mutex_t links_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t link_free = PTHREAD_COND_INITIALIZER;
static unsigned n_links;

CALL void make_links(bool is_broken)
{
    n_links = is_broken ? 1 : 8;
}

CALL void take_link(void)
{
    pthread_mutex_lock(&links_mutex);
    while (n_links == 0)
        pthread_cond_wait(&link_free, &links_mutex);
    n_links--;
    pthread_mutex_unlock(&links_mutex);
}

CALL void give_link(void)
{
    pthread_mutex_lock(&links_mutex);
    n_links++;
    pthread_mutex_unlock(&links_mutex);
    pthread_cond_signal(&link_free);
}

CALL void exchange(unsigned number)
{
    take_link();
    pause_us(number % RARE == 0 ? 20000 : 50);
    give_link();
}

CALL void export_links(bool is_broken)
{
    (void)is_broken;
    pause_us(100000);
    exchange(0);
}

CALL void handle_exchange(unsigned number, bool is_broken)
{
    (void)is_broken;
    compute_us(50);
    exchange(1 + number % (RARE - 1));
}

const struct kind wait_kinds[] = {
    { "fsync", open_file, handle_order, NULL, 0, 0, NULL },
    { "disk", open_file, handle_record, NULL, 0, 0, NULL },
    { "page-faults", map_file, handle_scan, NULL, 0, 0, NULL },
    { "network", start_peer, handle_remote, NULL, 0, 0, NULL },
    { "sleep", NULL, handle_retry, NULL, 0, 0, NULL },
    { "child", NULL, handle_upload, NULL, 0, 0, NULL },
    { "child-pipe", NULL, handle_document, NULL, 0, 0, NULL },
    { "resolver", start_resolver, handle_name, NULL, 0, 0, NULL },
    { "pool-condition", make_links, handle_exchange, export_links, 0, 0, NULL },
    { "pool", make_pool, handle_query, export_all, 0, 0, NULL },
    { 0 },
};
