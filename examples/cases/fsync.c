/* SPDX-License-Identifier: MIT
 *
 * A server reads some blocks from the disk for each request. Every quarter of a second a logger
 * writes its log to the same disk and calls fsync, and the requests of that moment take many times
 * as long. Fixed: the logger leaves it to the system when to write, and syncs once, at the end.
 *
 * After TraceCompare 4.2, disk contention in a server application.
 */
#include "cases.h"

#include <fcntl.h>
#include <stdatomic.h>

enum { ALIGNMENT = 4096, BLOCK_BYTES = 16384, N_BLOCKS = 2048, N_READS = 24 };
enum { LOG_BYTES = 1 << 20, N_LOG_WRITES = 24 };

static struct case_options options;
static _Atomic bool is_over;
static uint64_t *durations;
static char data_path[4096];
static char log_path[4096];

CASE_PLAIN void die(const char *path)
{
    perror(path);
    exit(1);
}

CASE_PLAIN void make_data(void)
{
    static char block[BLOCK_BYTES];
    const int fd = open(data_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    memset(block, 'd', sizeof block);
    for (int i = 0; fd >= 0 && i < N_BLOCKS; i++)
        if (write(fd, block, sizeof block) != sizeof block)
            die(data_path);
    if (fd < 0 || fsync(fd) != 0 || close(fd) != 0)
        die(data_path);
}

/* For reads that reach the disk; `*is_direct` tells whether the file system can do without its
 * cache. */
CASE_PLAIN int open_data(bool *is_direct)
{
    int fd = open(data_path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    *is_direct = fd >= 0;
    if (fd < 0)
        fd = open(data_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die(data_path);
    return fd;
}

CASE_CALL void disk_read_block(int fd, bool is_direct, void *block, unsigned number)
{
    const off_t off = (off_t)(number * 2654435761u % N_BLOCKS) * BLOCK_BYTES;
    if (!is_direct)
        (void)posix_fadvise(fd, off, BLOCK_BYTES, POSIX_FADV_DONTNEED);
    if (pread(fd, block, BLOCK_BYTES, off) != BLOCK_BYTES)
        die(data_path);
}

CASE_CALL void load_record(int fd, bool is_direct, void *block, unsigned number)
{
    for (unsigned i = 0; i < N_READS; i++)
        disk_read_block(fd, is_direct, block, number * N_READS + i);
}

CASE_CALL void format_reply(void)
{
    case_work_us(300);
}

CASE_CALL void *serve(void *unused)
{
    bool is_direct;
    void *block = NULL;
    const int fd = open_data(&is_direct);
    case_name("server");
    if (posix_memalign(&block, ALIGNMENT, BLOCK_BYTES) != 0)
        exit(1);
    for (unsigned i = 0; i < options.n_runs; i++) {
        case_sleep_until(case_now_ns() + 4000000);
        const uint64_t start_ns = case_now_ns();
        weft_mark_begin("request", i);
        load_record(fd, is_direct, block, i);
        format_reply();
        weft_mark_end("request", i);
        durations[i] = case_now_ns() - start_ns;
    }
    is_over = true;
    free(block);
    (void)close(fd);
    return unused;
}

CASE_CALL void flush_log(int fd)
{
    if (fsync(fd) != 0)
        die(log_path);
}

CASE_CALL void write_log(int fd, const char *lines)
{
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        die(log_path);
    for (int i = 0; i < N_LOG_WRITES; i++)
        if (write(fd, lines, LOG_BYTES) != LOG_BYTES)
            die(log_path);
    if (!options.is_fixed)
        flush_log(fd);
}

CASE_CALL void *keep_log(void *unused)
{
    char *lines = malloc(LOG_BYTES);
    const int fd = open(log_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    case_name("logger");
    if (!lines || fd < 0)
        die(log_path);
    memset(lines, 'l', LOG_BYTES);
    while (!is_over) {
        case_sleep_until(case_now_ns() + 250000000);
        write_log(fd, lines);
    }
    flush_log(fd);
    (void)close(fd);
    free(lines);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    options = case_options(argc, argv, 500);
    durations = calloc(options.n_runs + 1, sizeof *durations);
    (void)snprintf(data_path, sizeof data_path, "%s/fsync.data", options.folder);
    (void)snprintf(log_path, sizeof log_path, "%s/fsync.log", options.folder);
    if (!durations)
        return 1;
    make_data();
    case_start(&threads[0], serve, NULL);
    case_start(&threads[1], keep_log, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    (void)unlink(data_path);
    (void)unlink(log_path);
    case_say("requests", durations, options.n_runs);
    free(durations);
    return 0;
}
