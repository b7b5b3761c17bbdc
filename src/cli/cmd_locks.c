/* SPDX-License-Identifier: MIT
 *
 * weft locks: the tables of analysis/locks/locks.h as text and JSON, or one of them as CSV.
 */
#include "cli/ask.h"

struct options {
    const char *from, *to, *lock;
    uint64_t limit;
    unsigned list;
};

#define MEMBER(member) offsetof(struct options, member)
static const char *const lists[] = { "locks",  "sites",   "blockers", "contexts",
                                     "orders", "convoys", "open",     NULL };

static const struct weft_option options[] = {
    WEFT_OPTION_WINDOW(MEMBER(from), MEMBER(to)),
    { 0, "lock", "LOCK", "only this lock, by address (0x...) or name", WEFT_OPTION_TEXT,
      MEMBER(lock), NULL },
    { 0, "list", "locks|sites|blockers|contexts|orders|convoys|open",
      "which list is written as CSV (default: locks)", WEFT_OPTION_CHOICE, MEMBER(list), lists },
    { 'n', "limit", "N", "rows of each list, at most; 0: all (default: 10 as text, else all)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 10 };

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    const struct options *opts = context;
    request->locks.all_processes = cli->common.all_processes;
    request->locks.lock = opts->lock ? weft_str_of(opts->lock) : (struct weft_str){ 0 };
    return weft_cli_window(cli, opts->from, opts->to, &request->locks.from_ns,
                           &request->locks.to_ns);
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct options *opts = context;
    const struct weft_locks_view how = {
        .limit = weft_cli_limit(view, opts->limit, TEXT_LIMIT),
        .list = (enum weft_locks_list)opts->list,
    };
    weft_render_locks(view, result->locks, &how);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    const struct weft_question question = {
        .analysis = "locks", .context = &opts, .request = request, .render = render
    };
    return weft_cli_ask(cli, &question);
}

const struct weft_command weft_cmd_locks = {
    .name = "locks",
    .summary = "lock contention: blame, waiters, holders, hold times",
    .arguments = "TRACE",
    .about =
        "Ranks locks by blame: the time that other threads were blocked by them. Idle waits come\n"
        "last: for new work in a thread's loop, and for the end of threads. Also lists "
        "acquisition\n"
        "sites, blocking pairs, what holders did while others waited, lock order and its\n"
        "inversions, convoys, and waits that did not end. Sources are lock events, calls such as\n"
        "pthread_mutex_lock, or futex system calls; each answer shows its source.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
