/* SPDX-License-Identifier: MIT
 *
 * Names of members of variables, by this program's own debugging information. Without any, nothing
 * is tested.
 */
#include "symbols/members.h"
#include "tap.h"

#include <link.h>
#include <pthread.h>
#include <stddef.h>

struct shard {
    long rows[5];
    pthread_mutex_t guard;
    struct {
        int n;
        pthread_cond_t ready;
    } queue;
};

typedef const struct shard shard_t;

static volatile struct {
    pthread_mutex_t first;
    union {
        pthread_rwlock_t index;
        char bytes[8];
    };
    struct shard shards[2][3];
} db;
static volatile shard_t shards[8];
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t locks[4];

static uint64_t base;

static int see_program(struct dl_phdr_info *info, size_t n_bytes, void *unused)
{
    (void)n_bytes;
    (void)unused;
    base = info->dlpi_addr;
    return 1; /* the first is the program */
}

static void check(struct weft_members *members, const volatile void *variable, size_t offset,
                  const char *want)
{
    char text[64] = "";
    const size_t n =
        weft_members_at(members, (uint64_t)(uintptr_t)variable - base, offset, text, sizeof text);
    tap_ok(n == strlen(want) && memcmp(text, want, n) == 0, "offset %zu: \"%s\", \"%.*s\" found",
           offset, want, (int)n, text);
}

int main(void)
{
    bool is_nomem;
    struct weft_members *members = weft_members_open("/proc/self/exe", &is_nomem);
    char text[8];
    (void)dl_iterate_phdr(see_program, NULL);
    tap_ok(!is_nomem, "debugging information is read");
    if (members) {
        check(members, &db, 0, ".first");
        check(members, &db, offsetof(__typeof__(db), index), ".index");
        check(members, &db, offsetof(__typeof__(db), shards[1][2].guard), ".shards[1][2].guard");
        check(members, &db, offsetof(__typeof__(db), shards[0][1].queue.ready),
              ".shards[0][1].queue.ready");
        check(members, shards, offsetof(struct shard, guard), "[0].guard");
        check(members, shards, 5 * sizeof(struct shard) + offsetof(struct shard, guard),
              "[5].guard");
        check(members, shards, sizeof shards + offsetof(struct shard, guard), "");
        check(members, &plain, 0, "");
        check(members, locks, 3 * sizeof *locks, "[3]");
        check(members, (const char *)&plain + 1, 0, "");
        tap_ok(weft_members_at(members, (uint64_t)(uintptr_t)&db - base, 0, text, 3) == 0 &&
                   weft_members_at(members, (uint64_t)(uintptr_t)&db - base, 0, text, 0) == 0,
               "a name that does not fit is none");
        tap_ok(!weft_members_nomem(members), "there is memory for all of it");
    }
    weft_members_free(members);
    return tap_done();
}
