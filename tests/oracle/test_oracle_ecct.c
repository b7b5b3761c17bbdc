/* SPDX-License-Identifier: MIT
 *
 * Trees of executions on thousands of random graphs, against one that writes down the whole stack
 * of each nanosecond: TraceCompare's figures 5 and 6, with the chain of threads as the graph has
 * it, the test of line 6 put right, and time shared by overlap.
 */
#include "plain_twin.h"
#include "plain_world.h"

enum { N_WORLDS = 6000 };

/* ---- a random world -------------------------------------------------------------------------- */

/* A stack changes only while its thread runs. */
static void random_stacks(uint64_t *state, struct plain_world *world, uint32_t thread_id)
{
    static const char *const stacks[] = { NULL, "a", "a;b", "a;b;c", "a;c", "d", "d;a", "a;b;a" };
    const char *now = stacks[tap_random(state) % 8];
    for (uint64_t at = 0; at < WORLD_LENGTH; at++) {
        uint64_t start_ns, end_ns;
        const char letter =
            letter_before(&world->plain.rows[thread_id], at + 1, &start_ns, &end_ns);
        if ((letter == 'R' || letter == 'I') && at > start_ns && tap_random(state) % 6 == 0)
            now = stacks[tap_random(state) % 8];
        world->stacks[thread_id][at] = now;
    }
}

static void random_world(uint64_t *state, struct plain_world *world, uint32_t n_threads)
{
    random_graph(state, &world->plain, n_threads);
    world->plain.graph.ops = &world_ops;
    world->idle_thread_id = (uint32_t)(tap_random(state) % n_threads);
    for (uint32_t i = 0; i < n_threads; i++)
        random_stacks(state, world, i);
    uint32_t occupant = WEFT_ID_NONE;
    for (uint64_t at = 0; at < WORLD_LENGTH; at++) {
        if (tap_random(state) % 5 == 0)
            occupant =
                tap_random(state) % 4 ? (uint32_t)(tap_random(state) % n_threads) : WEFT_ID_NONE;
        world->occupants[at] = occupant;
    }
    world->n_requests = tap_random(state) % WORLD_REQUESTS;
    uint64_t from_ns = 0;
    for (size_t i = 0; i < world->n_requests; i++) {
        from_ns += tap_random(state) % 30;
        world->requests[i] =
            (struct plain_request){ (uint32_t)(tap_random(state) % n_threads), from_ns,
                                    from_ns + 1 + tap_random(state) % 60 };
    }
}

/* ---- the oracle ------------------------------------------------------------------------------ */

struct oracle {
    const struct plain_world *world;
    const struct twin *twin;
    unsigned max_threads;
    struct plain_spents spents;
};

static void append(char *text, const char *more)
{
    const size_t n = strlen(text);
    if (more && *more)
        (void)snprintf(text + n, WORLD_TEXT / 8 - n, "%s%s", n ? ";" : "", more);
}

static void append_thread(char *text, uint32_t thread_id)
{
    char name[16];
    (void)snprintf(name, sizeof name, "T%u", thread_id);
    append(text, name);
}

/* T of the paper: the stack of the thread below, "thread", and so on. Gives the number of threads,
 * 0 if there are too many. */
static unsigned enhanced_stack(const struct oracle *oracle, int place, char *text)
{
    const struct link *link = &oracle->twin->links[place];
    unsigned n = 1;
    if (link->parent < 0) {
        text[0] = 0;
        if (!link->is_task)
            return 1;
    } else {
        n = enhanced_stack(oracle, link->parent, text);
        if (n == 0)
            return 0;
        n++;
        const uint32_t waiter = oracle->twin->links[link->parent].thread_id;
        append(text, oracle->world->stacks[waiter][link->wait_ns]);
    }
    if (n > oracle->max_threads) {
        append(text, "blocked: further threads");
        return 0;
    }
    if (link->thread_id == oracle->world->idle_thread_id)
        append(text, "idle");
    else
        append_thread(text, link->thread_id);
    return n;
}

static bool is_in_chain(const struct twin *twin, int link, uint32_t thread_id)
{
    for (; link >= 0; link = twin->links[link].parent)
        if (twin->links[link].thread_id == thread_id)
            return true;
    return false;
}

static void spend_running(struct oracle *oracle, uint32_t thread_id, uint64_t at_ns, char *text)
{
    const char *stack = oracle->world->stacks[thread_id][at_ns];
    append(text, stack ? stack : "running");
    spents_add(&oracle->spents, text, 1);
}

static void spend_preempted(struct oracle *oracle, const struct instant *instant, uint64_t at_ns,
                            char *text)
{
    const uint32_t other = oracle->world->occupants[at_ns];
    append(text, oracle->world->stacks[instant->thread_id][at_ns]);
    append(text, "preempted");
    if (other == WEFT_ID_NONE || other == oracle->world->idle_thread_id ||
        is_in_chain(oracle->twin, instant->link, other)) {
        spents_add(&oracle->spents, text, 1);
        return;
    }
    append_thread(text, other);
    spend_running(oracle, other, at_ns, text);
}

/* All of a wait for a device, [from_ns, to_ns). */
static void spend_device(struct oracle *oracle, const struct instant *instant, uint64_t from_ns,
                         uint64_t to_ns, const char *text)
{
    const uint64_t length_ns = to_ns - from_ns;
    uint32_t threads[PLAIN_THREADS + 1];
    uint64_t weights[PLAIN_THREADS + 1] = { 0 }, first_ns[PLAIN_THREADS + 1] = { 0 }, sum = 0;
    uint64_t shares[PLAIN_THREADS + 1], given = 0;
    size_t n = 0;
    for (size_t i = 0; i < oracle->world->n_requests; i++) {
        const struct plain_request *request = &oracle->world->requests[i];
        uint64_t overlap = 0, begin_ns = 0;
        for (uint64_t at = from_ns; at < to_ns; at++)
            if (at >= request->from_ns && at < request->to_ns && overlap++ == 0)
                begin_ns = at;
        size_t k = 0;
        while (k < n && threads[k] != request->thread_id)
            k++;
        if (overlap == 0 || request->thread_id == instant->thread_id)
            continue;
        if (k == n) {
            threads[n] = request->thread_id;
            first_ns[n++] = begin_ns;
        }
        weights[k] += overlap;
    }
    weights[n] = length_ns; /* its own */
    for (size_t i = 0; i <= n; i++)
        sum += weights[i];
    for (size_t i = 0; i <= n; i++) {
        shares[i] = length_ns * weights[i] / sum;
        given += shares[i];
    }
    for (; given < length_ns; given++) { /* to the largest remainder that is left */
        size_t best = 0;
        int64_t best_rest = -1;
        for (size_t i = 0; i <= n; i++) {
            const uint64_t whole = length_ns * weights[i] / sum;
            const int64_t rest = shares[i] > whole ? -1 : (int64_t)(length_ns * weights[i] % sum);
            if (rest > best_rest) {
                best = i;
                best_rest = rest;
            }
        }
        shares[best]++;
    }
    for (size_t i = 0; i <= n; i++) {
        char path[WORLD_TEXT / 8];
        (void)snprintf(path, sizeof path, "%s", text);
        if (i < n && threads[i] != oracle->world->idle_thread_id &&
            !is_in_chain(oracle->twin, instant->link, threads[i])) {
            append_thread(path, threads[i]);
            append(path, oracle->world->stacks[threads[i]][first_ns[i]]);
        }
        if (shares[i])
            spents_add(&oracle->spents, path, shares[i]);
    }
}

static const char *wait_name(const struct instant *instant)
{
    const bool is_flight = instant->letter == '~';
    if (is_flight || instant->letter == '?')
        return instant->cause == 'N'
                   ? is_flight ? "blocked: network, in flight" : "blocked: network"
               : instant->cause == 'K' ? "blocked: task, in flight"
               : is_flight             ? "blocked: thread, in flight"
                                       : "blocked: thread";
    return instant->letter == 'T'   ? "blocked: timer"
           : instant->letter == 'N' ? "blocked: network"
           : instant->letter == 'D' ? "blocked: block device"
                                    : "blocked: unknown";
}

/* GENERATEECCT for one nanosecond; a wait for a device as a whole. Gives where it goes on. */
static uint64_t spend(struct oracle *oracle, uint64_t at_ns, uint64_t to_ns)
{
    const struct instant *instant = &oracle->twin->path[at_ns];
    char text[WORLD_TEXT / 8];
    uint64_t end_ns = at_ns + 1;
    const bool is_over = enhanced_stack(oracle, instant->link, text) == 0;
    if (is_over) {
        spents_add(&oracle->spents, text, 1);
    } else if (instant->letter == 'R') {
        spend_running(oracle, instant->thread_id, at_ns, text);
    } else if (instant->letter == 'I') {
        append(text, oracle->world->stacks[instant->thread_id][at_ns]);
        append(text, "interrupted");
        spents_add(&oracle->spents, text, 1);
    } else if (instant->letter == 'U') {
        append(text, "unknown");
        spents_add(&oracle->spents, text, 1);
    } else if (instant->letter == 'P') {
        spend_preempted(oracle, instant, at_ns, text);
    } else if (instant->letter == '~' && instant->cause == 'K') {
        append(text, wait_name(instant));
        spend_running(oracle, instant->thread_id, at_ns, text);
    } else {
        append(text, oracle->world->stacks[instant->thread_id][instant->wait_ns]);
        append(text, wait_name(instant));
        if (instant->letter == 'D') {
            while (end_ns < to_ns && oracle->twin->path[end_ns].piece == instant->piece)
                end_ns++;
            spend_device(oracle, instant, at_ns, end_ns, text);
        } else {
            spents_add(&oracle->spents, text, 1);
        }
    }
    return end_ns;
}

/* ---- comparison ------------------------------------------------------------------------------ */

struct counts {
    size_t n_equal, n_whole, n_deep, n_over, n_on_chain, n_paths;
};

static void check_world(uint64_t seed, struct plain_world *world, struct twin *twin,
                        struct oracle *oracle, struct counts *counts)
{
    static struct plain_spents got;
    uint64_t state = seed;
    const uint32_t n_threads = 1 + (uint32_t)(tap_random(&state) % 12);
    random_world(&state, world, n_threads);
    struct weft_path_walk_opts opts = { .thread_id = (uint32_t)(tap_random(&state) % n_threads),
                                        .with_frames = true };
    opts.from_ns = tap_random(&state) % LENGTH;
    opts.to_ns = opts.from_ns + tap_random(&state) % (LENGTH - opts.from_ns);
    const unsigned max_threads = 1 + (unsigned)(tap_random(&state) % 6);
    struct weft_path_walked walked = { 0 };
    struct weft_ecct_filled filled;
    struct weft_err err = { 0 };
    struct weft_ecct_tree *tree = weft_ecct_tree_new();
    struct weft_ecct_fill *fill = weft_ecct_fill_new(tree, &world_stacks, world, max_threads);
    if (weft_path_walk(&world->plain.graph, &opts, &walked, &err) != WEFT_OK ||
        weft_ecct_fill(fill, &world->plain.graph, &walked, &filled, &err) != WEFT_OK)
        abort();
    twin_fill(twin, &world->plain, opts.thread_id, opts.from_ns, opts.to_ns);
    *oracle = (struct oracle){ .world = world, .twin = twin, .max_threads = max_threads };
    for (uint64_t at = opts.from_ns; at < opts.to_ns;)
        at = spend(oracle, at, opts.to_ns);
    spents_read(&got, tree, &filled);
    qsort(oracle->spents.items, oracle->spents.n, sizeof *oracle->spents.items, by_path);
    uint64_t sum_ns = 0;
    bool is_equal = got.n == oracle->spents.n;
    for (size_t i = 0; i < got.n; i++) {
        sum_ns += got.items[i].ns;
        is_equal = is_equal && by_path(&got.items[i], &oracle->spents.items[i]) == 0 &&
                   got.items[i].ns == oracle->spents.items[i].ns;
    }
    if (!is_equal && counts->n_equal == seed - 1) {
        static char texts[2][WORLD_TEXT];
        spents_text(&got, texts[0]);
        spents_text(&oracle->spents, texts[1]);
        tap_note("seed %" PRIu64 ", %u threads\n# got  %.3000s\n# want %.3000s", seed, max_threads,
                 texts[0], texts[1]);
    }
    counts->n_equal += is_equal;
    counts->n_whole += sum_ns == opts.to_ns - opts.from_ns;
    counts->n_over += filled.n_too_deep;
    counts->n_on_chain += filled.n_on_chain;
    counts->n_paths += got.n;
    for (size_t i = 0; i < walked.segments.n; i++)
        counts->n_deep += walked.segments.items[i].depth > 2;
    weft_path_walked_fini(&walked);
    weft_ecct_fill_free(fill);
    weft_ecct_tree_free(tree);
}

static void check_worlds(uint64_t seed)
{
    struct plain_world *world = calloc(1, sizeof *world);
    struct twin *twin = calloc(1, sizeof *twin);
    struct oracle *oracle = calloc(1, sizeof *oracle);
    struct counts counts = { 0 };
    if (!world || !twin || !oracle)
        abort();
    for (size_t i = 0; i < N_WORLDS; i++)
        check_world(seed + i, world, twin, oracle, &counts);
    tap_eq_u64(counts.n_equal, N_WORLDS, "trees are those of the oracle");
    tap_eq_u64(counts.n_whole, N_WORLDS, "their times sum to the durations, exactly");
    tap_ok(counts.n_deep > 100 && counts.n_over > 100 && counts.n_on_chain > 100 &&
               counts.n_paths > 5 * (size_t)N_WORLDS,
           "there were chains (%zu), too long ones (%zu), rings (%zu), paths (%zu)", counts.n_deep,
           counts.n_over, counts.n_on_chain, counts.n_paths);
    free(world);
    free(twin);
    free(oracle);
}

/* ---- shares ---------------------------------------------------------------------------------- */

static void check_shares(uint64_t seed)
{
    uint64_t state = seed;
    bool is_whole = true, is_fair = true;
    for (size_t round = 0; round < 20000; round++) {
        struct weft_ecct_part parts[80] = { 0 };
        uint64_t weights[80], sum = 0, total = tap_random(&state) >> (tap_random(&state) % 64);
        const size_t n = 1 + tap_random(&state) % 80;
        long double all = 0;
        for (size_t i = 0; i < n; i++) {
            weights[i] = parts[i].weight = tap_random(&state) >> (tap_random(&state) % 64);
            all += (long double)weights[i];
        }
        weft_ecct_share(parts, n, total);
        for (size_t i = 0; i < n; i++) {
            const long double share =
                all > 0 ? (long double)total * (long double)weights[i] / all : 0;
            const long double off = (long double)parts[i].weight - share;
            sum += parts[i].weight;
            const long double most = 1.01L + share * 1e-18L; /* of the division here */
            is_fair = is_fair && off < most && off > -most;
        }
        is_whole = is_whole && sum == (all > 0 ? total : 0);
    }
    tap_ok(is_whole, "shares sum to the whole, exactly");
    tap_ok(is_fair, "and none is off by more than its remainder");
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    check_worlds(seed);
    check_shares(seed);
    return tap_done();
}
