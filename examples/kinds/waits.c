/* SPDX-License-Identifier: MIT
 *
 * Requests that wait for something else than a lock: for another thread, a disk, the network, a
 * time, a process.
 */
#include "kinds.h"

#include <fcntl.h>
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

const struct kind wait_kinds[] = {
    { "fsync", open_file, handle_order, NULL, 0, 0, NULL },
    { "disk", open_file, handle_record, NULL, 0, 0, NULL },
    { "page-faults", map_file, handle_scan, NULL, 0, 0, NULL },
    { "network", start_peer, handle_remote, NULL, 0, 0, NULL },
    { "sleep", NULL, handle_retry, NULL, 0, 0, NULL },
    { "child", NULL, handle_upload, NULL, 0, 0, NULL },
    { "pool", make_pool, handle_query, export_all, 0, 0, NULL },
    { 0 },
};
