/* SPDX-License-Identifier: MIT
 *
 * Functions of a program that wait for whatever their callers want, and which do not.
 */
#include "analysis/findings/kinds.h"
#include "analysis/findings/wrappers.h"
#include "findings_scene.h"
#include "tap.h"

/* Nodes of one name share a frame, as in matrices of traces. */
static bool mark(struct scene *scene)
{
    for (uint32_t i = 1; i < scene->matrix.n_nodes; i++)
        for (uint32_t k = 1; k < i; k++)
            if (scene->frames[k].kind == scene->frames[i].kind &&
                weft_str_equal(scene->frames[k].name, scene->frames[i].name)) {
                scene->nodes[i].frame = k;
                break;
            }
    return weft_wrappers_mark(&scene->matrix);
}

static bool is_wrapper(const struct scene *scene, uint32_t node)
{
    return scene->frames[scene->nodes[node].frame].flags & WEFT_FRAME_WRAPS_WAITS;
}

static uint32_t above(const struct scene *scene, uint32_t node, unsigned n)
{
    while (n-- > 0)
        node = scene->nodes[node].parent;
    return node;
}

/* Two functions inside each other, in which clients are waited for, locks and a time. */
static void test_nested(void)
{
    struct scene s;
    begin(&s, "request");
    const uint32_t locked =
        PATH(&s, "main", "lock_row", "wait_latch", "wait_set", "epoll_wait", "@holder");
    const uint32_t asleep =
        PATH(&s, "main", "sleep_sql", "wait_latch", "wait_set", "epoll_wait", ":blocked: timer");
    const uint32_t client =
        PATH(&s, "main", "read_client", "wait_set", "epoll_wait", ":blocked: network");
    add_item(&s, "a", locked, 100, client, 100);
    add_item(&s, "a", asleep, 100, client, 100);
    tap_ok(mark(&s), "waits are listed");
    tap_ok(is_wrapper(&s, above(&s, locked, 2)) && is_wrapper(&s, above(&s, locked, 3)),
           "functions that wait for different things for different callers are wrappers");
    tap_ok(!is_wrapper(&s, above(&s, locked, 4)) && !is_wrapper(&s, above(&s, client, 3)) &&
               !is_wrapper(&s, above(&s, locked, 5)),
           "their callers are not");
    struct weft_frame_path path;
    weft_frame_path_of(&s.matrix, locked, &path);
    const struct weft_path_part part = weft_path_part_at(&path, 0);
    const struct weft_frame *function = weft_kind_function(&path, &part);
    tap_ok(function && weft_str_equal(function->name, WEFT_STR("lock_row")),
           "the place of a wait is the caller");
}

/* Which of two locks is waited for depends on the caller, or does not. */
static bool is_by_caller(bool depends)
{
    struct scene s;
    begin(&s, "request");
    const uint32_t first = PATH(&s, "main", "get", "lock", "pthread_mutex_lock", "-a", "@holder");
    const uint32_t second =
        PATH(&s, "main", "put", "lock", "pthread_mutex_lock", depends ? "-b" : "-a", "@holder");
    add_item(&s, "x", first, 100, second, 100);
    return mark(&s) && is_wrapper(&s, above(&s, second, 3));
}

static void test_others(void)
{
    struct scene s;
    tap_ok(is_by_caller(true), "a class around locks is a wrapper");
    tap_ok(!is_by_caller(false), "what all callers wait for in one function is its own");
    begin(&s, "request");
    const uint32_t both[] = { PATH(&s, "main", "serve", "pthread_mutex_lock", "-a", "@holder"),
                              PATH(&s, "main", "serve", ":blocked: timer") };
    add_item(&s, "x", both[0], 100, both[1], 100);
    tap_ok(mark(&s) && !is_wrapper(&s, above(&s, both[1], 1)),
           "one caller that waits for two things says nothing");
    begin(&s, "request");
    const uint32_t works[] = { PATH(&s, "main", "get", "lock", "pthread_mutex_lock", "-a", "@x"),
                               PATH(&s, "main", "put", "lock", "pthread_mutex_lock", "-b", "@x"),
                               PATH(&s, "main", "put", "lock", ":running") };
    add_item(&s, "x", works[0], 100, works[1], 100);
    add_item(&s, "x", works[2], 400, works[1], 1);
    tap_ok(mark(&s) && !is_wrapper(&s, above(&s, works[2], 1)), "what also works is no wrapper");
    tap_ok(mark(&s), "marks can be made again");
}

int main(void)
{
    test_nested();
    test_others();
    return tap_done();
}
