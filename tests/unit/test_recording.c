/* SPDX-License-Identifier: MIT
 *
 * Recordings, by hand: what each operation becomes, which program an address is of, whose threads
 * are whose, what is lost where a piece is damaged or missing. Calls without number:
 * tests/oracle/test_oracle_recording.c.
 */
#include "ingest/recording/recording.h"
#include "recording_builder.h"
#include "recording_sink.h"
#include "tap.h"

#include <inttypes.h>
#include <unistd.h>

enum { PID = 10, TID = 11, OTHER = 12, PARENT = 30, CHILD = 31 };

/* Ticks are ns; time 0 is 1000. */
static void begin(struct rb *file)
{
    rb_head(file);
    rb_text(file, WEFT_PIECE_META, 0, 0, 1000, "lost_threads=0\nskipped=7\n");
    rb_clock(file, 1000, 1000, 5000);
    rb_clock(file, 2000, 2000, 6000);
}

static struct rb_ring ring_of(uint32_t tid, uint32_t library, uint64_t start_ticks)
{
    struct rb_ring ring = { .pid = PID };
    ring.piece = (struct weft_ring_piece){
        .library = library, .tid = tid, .start_ticks = start_ticks, .name = "worker"
    };
    return ring;
}

/* What the sink was told, or the error; the caller frees. */
static char *import(struct rb *file, uint64_t n_bytes)
{
    const struct weft_mapped mapped = { .bytes = file->bytes, .n_bytes = n_bytes };
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    const enum weft_code code = weft_recording_import(&mapped, NULL, &rec.sink, NULL, &err);
    char *got = code == WEFT_OK ? rec_whole(&rec) : strdup(err.text);
    tap_ok(rec.n_order_errors == 0, "the rules of the sink are kept");
    rec_fini(&rec);
    return got;
}

static void finish(struct rb *file, struct rb_ring *ring)
{
    if (ring) {
        rb_cut(file, ring, ring->n_ends, 2000);
        rb_ring_fini(ring);
    }
}

static void expect(struct rb *file, const char *const *lines, const char *what)
{
    char *got = import(file, file->n_bytes);
    for (; *lines; lines++) {
        const bool is_there = strstr(got, *lines) != NULL;
        tap_ok(is_there, "%s: %s", what, *lines);
        if (!is_there)
            tap_note("in: %s", got);
    }
    free(got);
    rb_fini(file);
}

/* ---- operations -------------------------------------------------------------------------------
 */

static void test_locks(void)
{
    static const char *const lines[] = {
        "lock_request pthread_mutex_lock [0x0] 4096 @100",
        "lock_acquired pthread_mutex_lock [0x0] 4096 @150",
        "lock_released pthread_mutex_unlock [0x0] 4096 @160",
        "lock_acquired pthread_rwlock_rdlock [0x0] 8192 @170",
        "lock_released pthread_rwlock_unlock [0x0] 8192 @180",
        "lock_failed pthread_mutex_lock [0x0] 4096 'n' @190", /* 110: timed out */
        "E 9 @200\nA 64\nX 9 @210\n",                         /* sem_wait, sem_post */
        "call_args  [] 0 @200 {\"caller\":\"0x0\",\"result\":0}\nE 10 @220\nA 64\nX 10 @220\n",
        "function 9 sem_wait",
        NULL
    };
    struct rb file = { 0 };
    struct rb_ring ring = ring_of(TID, WEFT_RING_OPERATIONS, 1000);
    const uint64_t mutex[] = { 4096, 1 }, rwlock[] = { 8192, 1 }, semaphore[] = { 64, 1 };
    begin(&file);
    rb_op(&ring, 1100, WEFT_OP_LOCK_REQUEST, WEFT_RING_LOCK_MUTEX, mutex, 2);
    rb_op(&ring, 1150, WEFT_OP_LOCK_ACQUIRED, WEFT_RING_LOCK_MUTEX, mutex, 2);
    rb_op(&ring, 1160, WEFT_OP_LOCK_RELEASED, WEFT_RING_LOCK_MUTEX, mutex, 2);
    rb_op(&ring, 1170, WEFT_OP_LOCK_ACQUIRED, WEFT_RING_LOCK_READ, rwlock, 2);
    rb_op(&ring, 1180, WEFT_OP_LOCK_RELEASED, WEFT_RING_LOCK_READ, rwlock, 2);
    rb_op(&ring, 1190, WEFT_OP_LOCK_FAILED, WEFT_RING_LOCK_MUTEX | 110 << 8, mutex, 2);
    rb_op(&ring, 1200, WEFT_OP_LOCK_REQUEST, WEFT_RING_LOCK_SEMAPHORE, semaphore, 2);
    rb_op(&ring, 1210, WEFT_OP_LOCK_ACQUIRED, WEFT_RING_LOCK_SEMAPHORE, semaphore, 2);
    rb_op(&ring, 1220, WEFT_OP_LOCK_RELEASED, WEFT_RING_LOCK_SEMAPHORE, semaphore, 2);
    finish(&file, &ring);
    expect(&file, lines, "locks");
}

/* ---- names of objects ------------------------------------------------------------------------ */

/* Variables of this test that stand for locks; with data, and of .bss. */
enum { LOCK_BYTES = 1 << 14 };

static _Alignas(LOCK_BYTES) char bss_lock[LOCK_BYTES];
static _Alignas(LOCK_BYTES) char other_lock[LOCK_BYTES];
static _Alignas(64) char data_lock[64] = "data";
static void *lock_place; /* heap */

/* The program's code, as the kernel tells of it, moved by so many bytes. */
static void code_line(char *line, size_t n_line, char *path, size_t n_path, uint64_t moved_bytes)
{
    char text[4096];
    const uint64_t code = (uint64_t)(uintptr_t)&code_line;
    FILE *maps = fopen("/proc/self/maps", "r");
    const ssize_t n = readlink("/proc/self/exe", path, n_path - 1);
    *line = '\0';
    if (!maps || n <= 0)
        abort();
    path[n] = '\0';
    while (!*line && fgets(text, sizeof text, maps)) {
        uint64_t begin, end, file_off;
        if (sscanf(text, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64, &begin, &end, &file_off) == 3 &&
            code >= begin && code < end)
            (void)snprintf(line, n_line, "%" PRIx64 "-%" PRIx64 " r-xp %" PRIx64 " 00:00 1 %s\n",
                           begin + moved_bytes, end + moved_bytes, file_off, path);
    }
    if (fclose(maps) != 0 || !*line)
        abort();
}

static void use_lock(struct rb_ring *ring, uint64_t ticks, const void *lock)
{
    const uint64_t words[] = { (uint64_t)(uintptr_t)lock, 1 };
    rb_op(ring, ticks, WEFT_OP_LOCK_ACQUIRED, WEFT_RING_LOCK_MUTEX, words, 2);
}

static void expect_object(const char *got, uint32_t pid, const void *lock, const char *name,
                          const char *what)
{
    char line[256], nameless[64];
    (void)snprintf(nameless, sizeof nameless, "object 0x%" PRIx64 " pid %" PRIu32 " ",
                   (uint64_t)(uintptr_t)lock, pid);
    (void)snprintf(line, sizeof line, "%s%s\n", nameless, name ? name : "");
    const bool is_right = name ? strstr(got, line) != NULL : strstr(got, nameless) == NULL;
    tap_ok(is_right, "%s", what);
    if (!is_right)
        tap_note("no %s in: %s", line, got);
}

/* The same address is another variable in a process whose program lies elsewhere. */
static void test_objects(void)
{
    char line[8192], moved[8192], path[4096];
    struct rb file = { 0 };
    struct rb_ring ring = ring_of(TID, WEFT_RING_OPERATIONS, 1000);
    struct rb_ring other = ring_of(OTHER, WEFT_RING_OPERATIONS, 1000);
    struct rb_ring child = ring_of(CHILD, WEFT_RING_OPERATIONS, 1200);
    const uint64_t apart_bytes = (uint64_t)(uintptr_t)bss_lock - (uint64_t)(uintptr_t)other_lock;
    code_line(line, sizeof line, path, sizeof path, 0);
    code_line(moved, sizeof moved, path, sizeof path, apart_bytes);
    other.pid = OTHER;
    child.pid = CHILD;
    lock_place = malloc(64);
    begin(&file);
    rb_text(&file, WEFT_PIECE_MAPS, 0, PID, 1010, line);
    rb_text(&file, WEFT_PIECE_MAPS, 0, OTHER, 1010, moved);
    use_lock(&ring, 1100, bss_lock);
    use_lock(&ring, 1110, data_lock);
    use_lock(&ring, 1120, other_lock + 0x28);
    use_lock(&ring, 1130, lock_place);
    use_lock(&other, 1140, bss_lock);
    rb_text(&file, WEFT_PIECE_PROCESS, 0, PARENT, 1100, "start_ns=1100\n");
    rb_text(&file, WEFT_PIECE_MAPS, 0, PARENT, 1110, line);
    rb_text(&file, WEFT_PIECE_PROCESS, 0, PARENT, 1300, "start_ns=1300\n");
    rb_text(&file, WEFT_PIECE_MAPS, 0, PARENT, 1310, moved);
    rb_text(&file, WEFT_PIECE_PROCESS, 0, CHILD, 1320, "parent=30\nstart_ns=1200\n");
    use_lock(&child, 1350, bss_lock);
    rb_cut(&file, &other, other.n_ends, 2000);
    rb_cut(&file, &child, child.n_ends, 2000);
    rb_ring_fini(&other);
    rb_ring_fini(&child);
    finish(&file, &ring);
    const struct weft_recording_opts opts = { .symbols_path = path };
    const struct weft_mapped mapped = { .bytes = file.bytes, .n_bytes = file.n_bytes };
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    tap_ok(weft_recording_import(&mapped, &opts, &rec.sink, NULL, &err) == WEFT_OK,
           "variables: imports");
    const char *got = rec_str(&rec.trace);
    expect_object(got, PID, bss_lock, "bss_lock", "a variable of .bss");
    expect_object(got, PID, data_lock, "data_lock", "a variable with data");
    expect_object(got, PID, other_lock + 0x28, "other_lock+0x28", "a place within a variable");
    expect_object(got, PID, lock_place, NULL, "a heap has no names");
    expect_object(got, OTHER, bss_lock, "other_lock", "the address in another process");
    expect_object(got, CHILD, bss_lock, "bss_lock", "in a child, though its parent is another now");
    rec_fini(&rec);
    rb_fini(&file);
    free(lock_place);
}

/* ---- waits ------------------------------------------------------------------------------------
 */

static void test_waits(void)
{
    static const char *const lines[] = {
        "function 0 pthread_cond_wait",
        "function 4 pthread_join",
        "function 11 read",
        "E 0 @10\nA 77\nX 0 @40\ncall_args  [] 0 @10 {\"caller\":\"0x0\",\"result\":0}\n",
        "E 2 @41\nA 77\nX 2 @41\ncall_args  [] 0 @41 {\"caller\":\"0x0\",\"result\":0}\n",
        "E 4 @50\nA 99\nX 4 @60\ncall_args  [] 0 @50 {\"caller\":\"0x0\",\"result\":0}\n",
        "E 11 @70\nA 3\nX 11 @90\ncall_args  [] 0 @70 "
        "{\"caller\":\"0x0\",\"asked\":100,\"result\":100}\n",
        "E 6 @100\nA 3\nA 5\nA 9\nX 6 @110\ncall_args  [] 0 @100 "
        "{\"caller\":\"0x0\",\"ready\":[3]}\n",
        "E 6 @120\nA 3\nX 6 @130\ncall_args  [] 0 @120 {\"caller\":\"0x0\",\"ready\":[]}\n",
        "E 20 @140\nA 77\nX 20 @150\n",
        "call_args  [] 0 @140 {\"caller\":\"0x0\",\"result\":\"ETIMEDOUT\"}\n",
        "E 21 @160\nA 55\nX 21 @170\n",
        "call_args  [] 0 @160 {\"caller\":\"0x0\",\"result\":\"EINTR\"}\n",
        "E 0 @180\nA 77\nX 0 @190\n",
        "I timed out 110 cpu -1 @130",
        "I timed out 110 cpu -1 @150",
        "I failed 4 cpu -1 @170",
        "function 20 pthread_cond_timedwait",
        "function 21 sem_timedwait",
        NULL
    };
    struct rb file = { 0 };
    struct rb_ring ring = ring_of(TID, WEFT_RING_OPERATIONS, 1000);
    const uint64_t condition[] = { 1, 77 }, join[] = { 1, 99 }, read[] = { 3, 100, 1 },
                   signal[] = { 77, 1 }, polled[] = { 1, 3, 5, 9 }, semaphore[] = { 55, 1 };
    begin(&file);
    rb_op(&ring, 1010, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_CONDITION, condition, 2);
    rb_op(&ring, 1040, WEFT_OP_WAIT_END, WEFT_WAIT_CONDITION, condition, 1);
    rb_op(&ring, 1041, WEFT_OP_SIGNAL, WEFT_WAIT_CONDITION | 1 << 8, signal, 2);
    rb_op(&ring, 1050, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_JOIN, join, 2);
    rb_op(&ring, 1060, WEFT_OP_WAIT_END, WEFT_WAIT_JOIN, join, 1);
    rb_op(&ring, 1070, WEFT_OP_IO_BEGIN, WEFT_IO_READ, read, 3);
    rb_op(&ring, 1090, WEFT_OP_IO_END, WEFT_IO_READ, read, 3);
    rb_op(&ring, 1100, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_POLL, polled, 4);
    rb_op(&ring, 1110, WEFT_OP_WAIT_END, WEFT_WAIT_POLL, polled, 2);
    rb_op(&ring, 1120, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_POLL | WEFT_WAIT_TIMED, polled, 2);
    rb_op(&ring, 1130, WEFT_OP_WAIT_END, WEFT_WAIT_POLL, polled, 1);
    rb_op(&ring, 1140, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_CONDITION | WEFT_WAIT_TIMED, condition, 2);
    rb_op(&ring, 1150, WEFT_OP_WAIT_END, WEFT_WAIT_CONDITION | 110 << 8, condition, 1);
    rb_op(&ring, 1160, WEFT_OP_LOCK_REQUEST, WEFT_RING_LOCK_SEMAPHORE | WEFT_REQUEST_TIMED,
          semaphore, 2);
    rb_op(&ring, 1170, WEFT_OP_LOCK_FAILED, WEFT_RING_LOCK_SEMAPHORE | 4 << 8, semaphore, 2);
    rb_op(&ring, 1180, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_CONDITION, condition, 2);
    rb_op(&ring, 1190, WEFT_OP_WAIT_END, WEFT_WAIT_CONDITION, condition, 1);
    finish(&file, &ring);
    expect(&file, lines, "waits");
}

/* A set of epoll: the words that it ends with are of the descriptors that had them last. What comes
 * between the begin and the end of a wait leaves it without a result. */
static void test_watches(void)
{
    static const char *const lines[] = {
        "function 23 epoll_wait",
        "E 23 @40\nA 5\nX 23 @50\ncall_args  [] 0 @40 {\"caller\":\"0x0\",\"ready\":[8,9]}\n",
        "E 23 @60\nA 5\ncall_args  [] 0 @60 {\"caller\":\"0x0\"}\nE 5 @61\nA 7\nX 5 @62\n"
        "call_args  [] 0 @61 {\"caller\":\"0x0\",\"result\":0}\nX 23 @70\nend",
        NULL
    };
    struct rb file = { 0 };
    struct rb_ring ring = ring_of(TID, WEFT_RING_OPERATIONS, 1000);
    const uint64_t old[] = { 5, 7, 0xbeef }, new[] = { 5, 8, 0xbeef }, other[] = { 5, 9, 1 },
                   elsewhere[] = { 6, 10, 1 }, late[] = { 5, 11, 1 }, begun[] = { 1, 5 },
                   ended[] = { 1, 0xbeef, 1, 77 }, nap[] = { 1, 7 };
    begin(&file);
    rb_op(&ring, 1010, WEFT_OP_EPOLL_WATCH, 0, old, 3);
    rb_op(&ring, 1020, WEFT_OP_EPOLL_WATCH, 0, new, 3);
    rb_op(&ring, 1030, WEFT_OP_EPOLL_WATCH, 0, other, 3);
    rb_op(&ring, 1031, WEFT_OP_EPOLL_WATCH, 0, elsewhere, 3);
    rb_op(&ring, 1040, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_EPOLL, begun, 2);
    rb_op(&ring, 1050, WEFT_OP_WAIT_END, WEFT_WAIT_EPOLL, ended, 4);
    rb_op(&ring, 1055, WEFT_OP_EPOLL_WATCH, 0, late, 3);
    rb_op(&ring, 1060, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_EPOLL, begun, 2);
    rb_op(&ring, 1061, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_SLEEP, nap, 2);
    rb_op(&ring, 1062, WEFT_OP_WAIT_END, WEFT_WAIT_SLEEP, nap, 1);
    rb_op(&ring, 1070, WEFT_OP_WAIT_END, WEFT_WAIT_EPOLL, ended, 2);
    finish(&file, &ring);
    expect(&file, lines, "sets of descriptors");
}

/* Who made a descriptor ready, and who waited for a file, is told where no kernel tells of waits.
 */
static void test_descriptors(void)
{
    static const char *const lines[] = { "I made ready 3 cpu -1 @10",
                                         "{\"caller\":\"0x0\",\"asked\":100,\"result\":100}\n",
                                         "I waited for a file 20 cpu -1 @50",
                                         "I waited for a file 7 cpu -1 @67", NULL };
    struct rb file = { 0 };
    struct rb_ring ring = ring_of(TID, WEFT_RING_OPERATIONS, 1000);
    const uint64_t out[] = { 4, 100, 1, 3 }, read[] = { 5, 100, 1 };
    begin(&file);
    rb_op(&ring, 1010, WEFT_OP_IO_BEGIN, WEFT_IO_WRITE, out, 4);
    rb_op(&ring, 1015, WEFT_OP_IO_END, WEFT_IO_WRITE, out, 3);
    rb_op(&ring, 1030, WEFT_OP_IO_BEGIN, WEFT_IO_READ, read, 3);
    rb_op(&ring, 1050, WEFT_OP_IO_END, WEFT_IO_READ | WEFT_IO_OF_FILE, read, 3);
    rb_op(&ring, 1060, WEFT_OP_IO_BEGIN, WEFT_IO_SYNC, read, 3);
    rb_op(&ring, 1067, WEFT_OP_IO_END, WEFT_IO_SYNC, read, 3);
    finish(&file, &ring);
    expect(&file, lines, "descriptors");
}

static void test_marks(void)
{
    static const char *const lines[] = {
        "span request [execution] 7 +30 @10 {\"bytes\":2.5}",
        "span batch [execution] 8 +45 @15",
        "C load 0.5 cpu -1 @20",
        "flow_begin queue [task] 3 @50",
        "flow_end queue [task] 3 @60",
        "function 38 queue [] 0x0\n",
        "note not_kept 1 (ends of executions of which no begin is known)",
        "I records lost 5",
        NULL
    };
    static const char *const others[] = { "name a long name of a thread\n", NULL };
    struct rb file = { 0 };
    struct rb_ring one = ring_of(TID, WEFT_RING_OPERATIONS, 1000),
                   two = ring_of(OTHER, WEFT_RING_OPERATIONS, 1001);
    const uint64_t seven[] = { 7 }, eight[] = { 8 }, nine[] = { 9 }, three[] = { 3 };
    const uint64_t metric[] = { 7, UINT64_C(0x4004000000000000) };
    const uint64_t half[] = { UINT64_C(0x3fe0000000000000) }, lost[] = { 5 };
    begin(&file);
    rb_op_text(&one, 1010, WEFT_OP_MARK_BEGIN, seven, 1, "request");
    rb_op_text(&one, 1012, WEFT_OP_MARK_METRIC, metric, 2, "bytes");
    rb_op_text(&one, 1015, WEFT_OP_MARK_BEGIN, eight, 1, "batch");
    rb_op_text(&one, 1020, WEFT_OP_MARK_COUNTER, half, 1, "load");
    rb_op_text(&one, 1040, WEFT_OP_MARK_END, seven, 1, "request");
    rb_op_text(&one, 1050, WEFT_OP_TASK_QUEUED, three, 1, "queue");
    rb_op(&one, 1055, WEFT_OP_LOST, 0, lost, 1);
    rb_op_text(&two, 1060, WEFT_OP_TASK_BEGIN, three, 1, "queue");
    rb_op_text(&two, 1060, WEFT_OP_MARK_END, eight, 1, "batch");
    rb_op_text(&two, 1061, WEFT_OP_MARK_END, nine, 1, "batch");
    rb_op_text(&two, 1070, WEFT_OP_TASK_END, three, 1, "queue");
    rb_op_text(&two, 1080, WEFT_OP_THREAD_NAME, NULL, 0, "a long name of a thread");
    rb_cut(&file, &one, one.n_ends, 2000);
    rb_cut(&file, &two, two.n_ends, 2000);
    struct rb copy = { 0 };
    rb_put(&copy, file.bytes, file.n_bytes);
    rb_ring_fini(&one);
    rb_ring_fini(&two);
    expect(&copy, others, "names");
    expect(&file, lines, "marks");
}

/* ---- processes and threads --------------------------------------------------------------------
 */

static void test_images(void)
{
    /* The same address before and after exec, and in children that were never asked; one is of the
     * parent's first program, and has a program of its own later; another one was told of only when
     * it ran that, and what it does last before is of the parent's first, too. */
    static const char *const lines[] = { "[/none/first] 0x100\n", "[/none/second] 0x1100\n",
                                         "[/none/late] 0x20\n",   "[/none/first] 0x200\n",
                                         "[/none/first] 0x300\n", "[/none/own] 0x400\n",
                                         "[/none/first] 0x500\n", NULL };
    struct rb file = { 0 };
    struct rb_ring first = ring_of(PID, WEFT_RING_FUNCTIONS, 1000),
                   second = ring_of(PID, WEFT_RING_FUNCTIONS, 1500),
                   child = ring_of(20, WEFT_RING_FUNCTIONS, 1600),
                   early = ring_of(21, WEFT_RING_FUNCTIONS, 1400),
                   untold = ring_of(22, WEFT_RING_FUNCTIONS, 1450);
    begin(&file);
    rb_text(&file, WEFT_PIECE_PROCESS, 0, PID, 1000, "parent=1\nstart_ns=1000\n");
    rb_text(&file, WEFT_PIECE_MAPS, 0, PID, 1010, "1000-2000 r-xp 00000000 00:00 1 /none/first\n");
    rb_text(&file, WEFT_PIECE_PROCESS, 0, PID, 1520, "start_ns=1500\n");
    rb_text(&file, WEFT_PIECE_MAPS, 0, PID, 1530, "1000-2000 r-xp 00001000 00:00 2 /none/second\n");
    rb_text(&file, WEFT_PIECE_MAPS, 1, PID, 1700,
            "1000-2000 r-xp 00001000 00:00 2 /none/second\n"
            "8000-9000 r-xp 00000000 00:00 3 /none/late\n");
    rb_text(&file, WEFT_PIECE_PROCESS, 0, 20, 1601, "parent=10\nstart_ns=1600\n");
    rb_call(&first, 1100, false, 0x1100);
    rb_call(&second, 1505, false, 0x1100);
    rb_call(&second, 1506, false, 0x8020); /* before its maps were read */
    child.pid = 20;
    rb_call(&child, 1610, false, 0x1100);
    rb_text(&file, WEFT_PIECE_PROCESS, 0, 21, 1601, "parent=10\nstart_ns=1400\n");
    rb_text(&file, WEFT_PIECE_PROCESS, 0, 21, 1710, "start_ns=1700\n");
    rb_text(&file, WEFT_PIECE_MAPS, 0, 21, 1720, "1000-2000 r-xp 00000000 00:00 4 /none/own\n");
    early.pid = 21;
    rb_call(&early, 1410, false, 0x1200);
    rb_call(&early, 1610, false, 0x1300);
    rb_call(&early, 1705, false, 0x1400);
    rb_text(&file, WEFT_PIECE_PROCESS, 0, 22, 1460, "parent=10\nstart_ns=1450\n");
    rb_text(&file, WEFT_PIECE_MAPS, 0, 22, 1461, "5000-6000 r-xp 00000000 00:00 4 /none/own\n");
    untold.pid = 22;
    rb_call(&untold, 1451, false, 0x1500);
    rb_cut(&file, &untold, 1, 2000);
    rb_ring_fini(&untold);
    rb_cut(&file, &first, 1, 2000);
    rb_cut(&file, &second, 2, 2000);
    rb_cut(&file, &child, 1, 2000);
    rb_cut(&file, &early, early.n_ends, 2000);
    rb_ring_fini(&early);
    rb_ring_fini(&first);
    rb_ring_fini(&second);
    rb_ring_fini(&child);
    expect(&file, lines, "maps");
}

static void test_threads(void)
{
    static const char *const lines[] = { "thread 0 tid 11 pid 10 name worker\n",
                                         "thread 1 tid 11 pid 10 generation 1 name worker\n",
                                         "fork  [] 555 @20", NULL };
    struct rb file = { 0 };
    struct rb_ring old = ring_of(TID, WEFT_RING_OPERATIONS, 1010),
                   new = ring_of(TID, WEFT_RING_OPERATIONS, 1400);
    const uint64_t made[] = { 555, 1 }, born[] = { 555, 1 };
    begin(&file);
    rb_op(&old, 1020, WEFT_OP_THREAD_CREATE, 0, made, 2);
    rb_op(&new, 1405, WEFT_OP_THREAD_BEGIN, 0, born, 2);
    old.piece.has_ended = 1;
    rb_cut(&file, &old, 1, 2000);
    rb_cut(&file, &new, 1, 2000);
    rb_ring_fini(&old);
    rb_ring_fini(&new);
    expect(&file, lines, "threads");
}

/* ---- the kernel -------------------------------------------------------------------------------
 */

static void put_record(struct rb *records, uint64_t time_ns, uint32_t tid,
                       enum weft_kernel_type type, uint64_t a, uint64_t b, const void *payload,
                       uint16_t n_payload)
{
    const struct weft_kernel_record record = { .time_ns = time_ns,
                                               .tid = tid,
                                               .type = (uint16_t)type,
                                               .payload_bytes = n_payload,
                                               .a = a,
                                               .b = b };
    rb_put(records, &record, sizeof record);
    rb_put(records, payload, n_payload);
}

static void test_kernel(void)
{
    static const char *const lines[] = {
        "switch @100 cpu 0 next 1 state 1",
        "irq_enter softirq [] 3 @120 \nwaking  [] 0 @120 \nirq_exit softirq [] 3 @120 \n",
        "packet_sent tcp [] 42949673060 @130",
        "packet_received tcp [] 42949673060 @150 \nend", /* once */
        "thread 1 tid 12 pid 10 name next\n",
        "note lost_records 9 at",
        "of the kernel, CPU 1, between 0.000000 s and 0.000001 s",
        NULL
    };
    struct rb file = { 0 }, zero = { 0 }, one = { 0 };
    const struct weft_kernel_flow flow = { .source_port = 1, .target_port = 2, .netns = 3 };
    const uint64_t lost[] = { 9, 1000 };
    begin(&file);
    put_record(&zero, 1100, TID, WEFT_KERNEL_SWITCH, OTHER | UINT64_C(1) << 32, PID,
               "next\0\0\0\0\0\0\0\0\0\0\0", 16);
    put_record(&zero, 1120, OTHER, WEFT_KERNEL_WAKING, TID,
               PID | (UINT64_C(3) << 8 | WEFT_CONTEXT_SOFTIRQ) << 32, NULL, 0);
    put_record(&zero, 1130, OTHER, WEFT_KERNEL_SEND, 100 | UINT64_C(10) << 32, 0, &flow,
               sizeof flow);
    put_record(&one, 1150, 30, WEFT_KERNEL_RECEIVE, 100 | UINT64_C(4) << 32, 0, &flow, sizeof flow);
    put_record(&one, 1160, 30, WEFT_KERNEL_RECEIVE, 104 | UINT64_C(6) << 32, 0, &flow, sizeof flow);
    rb_piece(&file, WEFT_PIECE_KERNEL, 1, 0, 2000, one.bytes, one.n_bytes);
    rb_piece(&file, WEFT_PIECE_KERNEL, 0, 0, 2000, zero.bytes, zero.n_bytes);
    rb_piece(&file, WEFT_PIECE_LOST, 1, 0, 2000, lost, sizeof lost);
    rb_fini(&zero);
    rb_fini(&one);
    expect(&file, lines, "kernel");
}

/* Of one program and what it makes are its threads; those of others, and of what others make, are
 * foreign. Without a program nobody is. */
static void test_program(void)
{
    static const char *const lines[] = { "thread 0 tid 11 pid 10 name worker\n",
                                         "thread 1 tid 20 pid 20\n",
                                         "thread 2 tid 21 pid 21\n",
                                         "thread 3 tid 30 pid 30 name other foreign\n",
                                         "thread 4 tid 31 pid 31 foreign\n",
                                         NULL };
    static const char *const all[] = { "thread 3 tid 30 pid 30 name other\n",
                                       "thread 4 tid 31 pid 31\n", NULL };
    for (unsigned is_whole = 0; is_whole < 2; is_whole++) {
        struct rb file = { 0 }, records = { 0 };
        struct rb_ring ring = ring_of(TID, WEFT_RING_OPERATIONS, 1010);
        const uint64_t born[] = { 555, 1 };
        begin(&file);
        if (!is_whole)
            rb_text(&file, WEFT_PIECE_META, 0, 0, 1000, "target=10\nfollows=yes\n");
        rb_op(&ring, 1011, WEFT_OP_THREAD_BEGIN, 0, born, 2);
        put_record(&records, 1100, TID, WEFT_KERNEL_FORK, 20 | UINT64_C(20) << 32, 0, NULL, 0);
        put_record(&records, 1110, TID, WEFT_KERNEL_SWITCH, 20 | UINT64_C(1) << 32, 20, NULL, 0);
        put_record(&records, 1120, 20, WEFT_KERNEL_FORK, 21 | UINT64_C(21) << 32, 0, NULL, 0);
        put_record(&records, 1130, 20, WEFT_KERNEL_SWITCH, 30 | UINT64_C(1) << 32, 30,
                   "other\0\0\0\0\0\0\0\0\0\0", 16);
        put_record(&records, 1140, 30, WEFT_KERNEL_FORK, 31 | UINT64_C(31) << 32, 0, NULL, 0);
        rb_piece(&file, WEFT_PIECE_KERNEL, 0, 0, 2000, records.bytes, records.n_bytes);
        rb_fini(&records);
        finish(&file, &ring);
        expect(&file, is_whole ? all : lines, is_whole ? "the machine" : "one program");
    }
}

/* A thread of a pid namespace that ended before the recorder could ask has the number that the
 * kernel told last of a thread of that name; in no other namespace. */
static void test_inner(void)
{
    static const char *const lines[] = { "thread 2 tid 40 pid 10 name worker\n",
                                         "tid 1073741831 pid 1073741830", NULL };
    struct rb file = { 0 }, records = { 0 };
    struct rb_ring inner = ring_of(7 | WEFT_NUMBER_UNKNOWN, WEFT_RING_OPERATIONS, 1200),
                   other = ring_of(7 | WEFT_NUMBER_UNKNOWN, WEFT_RING_OPERATIONS, 1201);
    const uint64_t born[] = { 555, 1 };
    const struct {
        char comm[16];
        uint64_t number;
    } first = { "a", 7 | UINT64_C(99) << 32 }, second = { "b", 7 | UINT64_C(99) << 32 };
    begin(&file);
    rb_text(&file, WEFT_PIECE_PROCESS, 0, PID, 1000, "namespace=99\n");
    rb_text(&file, WEFT_PIECE_PROCESS, 0, 6 | WEFT_NUMBER_UNKNOWN, 1000, "namespace=98\n");
    other.pid = 6 | WEFT_NUMBER_UNKNOWN;
    put_record(&records, 1100, PID, WEFT_KERNEL_FORK, 30 | (uint64_t)PID << 32, 0, &first,
               sizeof first);
    put_record(&records, 1110, PID, WEFT_KERNEL_FORK, 40 | (uint64_t)PID << 32, 0, &second,
               sizeof second);
    put_record(&records, 1300, PID, WEFT_KERNEL_EXIT, PID, 0, NULL, 0);
    rb_op(&inner, 1210, WEFT_OP_THREAD_BEGIN, 0, born, 2);
    rb_op(&other, 1211, WEFT_OP_THREAD_BEGIN, 0, born, 2);
    rb_piece(&file, WEFT_PIECE_KERNEL, 0, 0, 2000, records.bytes, records.n_bytes);
    rb_fini(&records);
    rb_cut(&file, &other, other.n_ends, 2000);
    rb_ring_fini(&other);
    finish(&file, &inner);
    expect(&file, lines, "numbers in a namespace");
}

/* ---- damage -----------------------------------------------------------------------------------
 */

/* Two pieces of one slot: what the damaged one held is missing, and counted. */
static void test_damage(void)
{
    static const char *const lines[] = { "E 38 @30\nend", "note bad_record", "(damaged chunks)",
                                         "note lost_records 2 thread 0 at", NULL };
    struct rb file = { 0 };
    struct rb_ring ring = ring_of(TID, WEFT_RING_FUNCTIONS, 1000);
    begin(&file);
    rb_call(&ring, 1010, false, 0x40);
    rb_call(&ring, 1020, false, 0x80);
    rb_call(&ring, 1025, true, 0x80);
    rb_call(&ring, 1030, false, 0x40);
    rb_cut(&file, &ring, 1, 1100);
    rb_functions(&file, &ring, 1200);
    const size_t at = file.n_bytes;
    rb_cut(&file, &ring, 3, 1200);
    file.bytes[at + 60] ^= 4;
    rb_cut(&file, &ring, 4, 1300);
    rb_ring_fini(&ring);
    expect(&file, lines, "damage");
}

/* Calls of the function that the damaged piece would have told of are missing, and their times
 * count; a function without a number, and a later piece about others, are as they were. */
static void test_damaged_functions(void)
{
    static const char *const lines[] = { "E 38 @10\nE 40 @40\nM 38 @45\nend @1000\n",
                                         "function 38  [] 0x40\nfunction 39  [] 0xc0\n",
                                         "function 40  [] 0x7fffffffffffffff\n",
                                         "note bad_record 2 thread 0 at", NULL };
    struct rb file = { 0 };
    struct rb_ring ring = ring_of(TID, WEFT_RING_FUNCTIONS, 1000);
    begin(&file);
    rb_call(&ring, 1010, false, 0x40);
    rb_cut(&file, &ring, 1, 1100);
    rb_call(&ring, 1020, false, 0x80);
    rb_call(&ring, 1030, true, 0x80);
    const size_t at = file.n_bytes;
    rb_functions(&file, &ring, 1200);
    file.bytes[at + 60] ^= 4;
    rb_call_far(&ring, 1040, false, INT64_MAX);
    rb_call(&ring, 1045, true, 0x40);
    rb_call(&ring, 1050, true, 0xc0);
    rb_cut(&file, &ring, 6, 1300);
    rb_ring_fini(&ring);
    expect(&file, lines, "damaged functions");
}

/* A wait that was open when words went missing is over where the next record stands, and says that
 * it was mended; the end of one whose begin is missing ends nothing. */
static void test_losses(void)
{
    static const char *const lines[] = { "call_args  [] 0 @10 {\"caller\":\"0x0\"}\nM 0 @40\n",
                                         "E 4 @60\nA 99\nX 4 @70\n",
                                         "note exit_ignored 1 thread 0",
                                         "lock_released pthread_mutex_unlock [] 55 '\xff' @40",
                                         "note lost_records 7 (events that interrupted",
                                         NULL };
    struct rb file = { 0 };
    struct rb_ring ring = ring_of(TID, WEFT_RING_OPERATIONS, 1000);
    const uint64_t condition[] = { 1, 77 }, join[] = { 1, 99 }, n_lost[] = { 9 };
    const uint64_t mutex[] = { 55, 1 }, rwlock[] = { 66, 1 };
    begin(&file);
    rb_op(&ring, 1005, WEFT_OP_LOCK_ACQUIRED, WEFT_RING_LOCK_MUTEX, mutex, 2);
    rb_op(&ring, 1006, WEFT_OP_LOCK_ACQUIRED, WEFT_RING_LOCK_READ, rwlock, 2);
    rb_op(&ring, 1007, WEFT_OP_LOCK_RELEASED, WEFT_RING_LOCK_READ, rwlock, 2);
    rb_op(&ring, 1010, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_CONDITION, condition, 2);
    rb_op(&ring, 1040, WEFT_OP_LOST, 0, n_lost, 1);
    rb_op(&ring, 1040, WEFT_OP_WAIT_END, WEFT_WAIT_CONDITION, condition, 1);
    rb_op(&ring, 1060, WEFT_OP_WAIT_BEGIN, WEFT_WAIT_JOIN, join, 2);
    rb_op(&ring, 1070, WEFT_OP_WAIT_END, WEFT_WAIT_JOIN, join, 1);
    finish(&file, &ring);
    expect(&file, lines, "a wait across a loss");
}

/* As the recorder tells of what a thread lost at its very end: behind its last piece. */
static void test_loss_at_end(void)
{
    static const char *const lines[] = { "I records lost 9", "note lost_records 9", NULL };
    struct rb file = { 0 };
    struct rb_ring ring = ring_of(TID, WEFT_RING_OPERATIONS, 1000);
    const uint64_t mutex[] = { 55, 1 }, n_lost[] = { 9 };
    begin(&file);
    rb_op(&ring, 1005, WEFT_OP_LOCK_ACQUIRED, WEFT_RING_LOCK_MUTEX, mutex, 2);
    rb_cut(&file, &ring, ring.n_ends, 2000);
    rb_op(&ring, 1040, WEFT_OP_LOST, 0, n_lost, 1);
    finish(&file, &ring);
    expect(&file, lines, "a loss behind a thread's last record");
}

/* Of more functions than are listed those with the most calls, in whatever order they are met: here
 * by two threads, those with few calls first. */
static void test_culled(void)
{
    static const char *const lines[] = {
        "note not_kept 1 (calls of 0x7013: not recorded after 19)\n"
        "note not_kept 1 (calls of 0x7012: not recorded after 18)\n",
        "note not_kept 1 (calls of 0x7004: not recorded after 4)\n"
        "note not_kept 4 (calls of further functions)",
        NULL
    };
    struct rb file = { 0 };
    struct rb_ring rings[] = { ring_of(TID, WEFT_RING_OPERATIONS, 1000),
                               ring_of(OTHER, WEFT_RING_OPERATIONS, 1000) };
    begin(&file);
    for (uint64_t i = 0; i < 20; i++) {
        const uint64_t words[] = { 0x7000 + i, i };
        rb_op(&rings[i % 2], 1010 + i, WEFT_OP_CULLED, 0, words, 2);
    }
    for (size_t k = 0; k < 2; k++)
        finish(&file, &rings[k]);
    expect(&file, lines, "functions no longer recorded");
}

static struct weft_ledger_entry entry_of(uint32_t number, uint32_t pid, uint8_t state, uint8_t why)
{
    return (struct weft_ledger_entry){ .number = number,
                                       .pid = pid,
                                       .state = state,
                                       .why = why,
                                       .levels = WEFT_LEDGER_BY_LIBRARY,
                                       .start_ns = 1000,
                                       .end_ns = WEFT_LEDGER_NO_TIME,
                                       .from_ns = WEFT_LEDGER_NO_TIME,
                                       .until_ns = WEFT_LEDGER_NO_TIME,
                                       .n_threads = 1 };
}

static void put_entry(struct rb *file, struct weft_ledger_entry entry, const char *name,
                      size_t n_missing)
{
    uint8_t bytes[sizeof entry + 64] = { 0 };
    entry.name_bytes = (uint32_t)strlen(name);
    memcpy(bytes, &entry, sizeof entry);
    memcpy(bytes + sizeof entry, name, entry.name_bytes);
    rb_piece(file, WEFT_PIECE_LEDGER, 0, 0, 1500, bytes,
             sizeof entry + (entry.name_bytes + 7) / 8 * 8 - n_missing);
}

/* Of entries with one number the last one counts; one that is cut, or has a state that is none, is
 * counted as damage. */
static void test_ledger(void)
{
    static const char *const ended[] = { "process 10 shell: recorded, none\n",
                                         "process 11 date: not_recorded, static_program\n",
                                         "note not_recorded 1 (static program",
                                         "note bad_record 184 at", NULL };
    static const char *const killed[] = { "process 10 shell: partly, recorder_killed\n",
                                          "process 11 date: not_recorded, static_program\n",
                                          "note not_recorded 1 (the recording has no end: what "
                                          "ran after 0.000 s is missing)\n",
                                          NULL };
    for (int is_killed = 0; is_killed < 2; is_killed++) {
        struct rb file = { 0 };
        begin(&file);
        put_entry(&file, entry_of(7, 10, WEFT_LEDGER_PARTLY, WEFT_LEDGER_UNDECIDED), "shell", 0);
        put_entry(&file, entry_of(8, 11, WEFT_LEDGER_NOT_RECORDED, WEFT_LEDGER_STATIC), "date", 0);
        put_entry(&file, entry_of(7, 10, WEFT_LEDGER_RECORDED, WEFT_LEDGER_NO_REASON), "shell", 0);
        put_entry(&file, entry_of(9, 12, 200, 200), "none", 0);
        put_entry(&file, entry_of(9, 12, 0, 0), "a name that is longer", 8);
        if (!is_killed)
            rb_text(&file, WEFT_PIECE_END, 0, 0, 2000, "the program ended");
        expect(&file, is_killed ? killed : ended,
               is_killed ? "a ledger without an end" : "a ledger");
    }
}

static void test_heads(void)
{
    struct rb file = { 0 };
    begin(&file);
    char *got = import(&file, 20);
    tap_eq_str(got, "expected a header of 32 bytes, found 20", "a header that is cut");
    free(got);
    file.bytes[8] = 9;
    const uint64_t sum = XXH3_64bits(file.bytes, 24);
    memcpy(file.bytes + 24, &sum, sizeof sum);
    got = import(&file, file.n_bytes);
    tap_ok(strstr(got, "version 9, which is newer") != NULL, "a newer version");
    free(got);
    file.bytes[8] = 1;
    const uint64_t old_sum = XXH3_64bits(file.bytes, 24);
    memcpy(file.bytes + 24, &old_sum, sizeof old_sum);
    got = import(&file, file.n_bytes);
    tap_ok(strstr(got, "version 1, which is older") != NULL, "an older version");
    free(got);
    file.bytes[8] = 7; /* a wrong sum: the pieces count */
    got = import(&file, file.n_bytes);
    tap_ok(strstr(got, "clock 1000000000 zero 1000 monotonic 1000 realtime 5000") != NULL,
           "a damaged header");
    free(got);
    rb_fini(&file);
}

int main(void)
{
    test_locks();
    test_objects();
    test_waits();
    test_watches();
    test_descriptors();
    test_marks();
    test_images();
    test_threads();
    test_kernel();
    test_program();
    test_inner();
    test_damage();
    test_damaged_functions();
    test_losses();
    test_loss_at_end();
    test_culled();
    test_ledger();
    test_heads();
    return tap_done();
}
