/* SPDX-License-Identifier: MIT
 *
 * Perf maps and jitdumps of random functions, which overlap, move and come again at the same
 * addresses, against a twin that goes through all lines and records for each question.
 */
#include "jit_builder.h"
#include "symbols/jitdump.h"
#include "symbols/perf_map.h"
#include "tap.h"

enum { ROUNDS = 4000, MOST = 60, SPAN = 400, QUESTIONS = 60, TIMES = 50 };

/* What a line or a record says; of a move the place that is left, then the new one. */
struct naive {
    uint64_t begin, n_bytes, ns;
    int name; /* -1: nothing is there */
};

struct naives {
    struct naive items[4 * MOST];
    size_t n;
};

/* The last one, by time, then by order, that covers the address. */
static int naive_find(const struct naives *all, uint64_t address, uint64_t ns)
{
    const struct naive *best = NULL;
    for (size_t k = 0; k < all->n; k++) {
        const struct naive *one = &all->items[k];
        if (one->ns <= ns && address >= one->begin && address - one->begin < one->n_bytes &&
            (!best || one->ns >= best->ns))
            best = one;
    }
    return best ? best->name : -1;
}

static void add(struct naives *all, uint64_t begin, uint64_t n_bytes, uint64_t ns, int name)
{
    all->items[all->n++] = (struct naive){ begin, n_bytes, ns, name };
}

static uint64_t below(uint64_t *state, uint64_t most)
{
    return tap_random(state) % most;
}

/* ---- random inputs --------------------------------------------------------------------------- */

static void make_map(uint64_t *state, uint64_t base, struct naives *all, struct jb *text)
{
    static const char *const forms[] = { "%" PRIx64 " %" PRIx64 " f%d\n",
                                         "0x%" PRIx64 " 0x%" PRIx64 " f%d\n",
                                         "%016" PRIX64 " %" PRIX64 "\tf%d \r\n" };
    const size_t n = below(state, MOST);
    for (size_t k = 0; k < n; k++) {
        char line[80];
        const uint64_t begin = base + below(state, SPAN), n_bytes = below(state, 40);
        const int name = (int)below(state, 30);
        const size_t form = below(state, 3);
        if (below(state, 8) == 0) {
            jb_put(text, "no line of a map\n", 17);
            continue;
        }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        const int n_line = snprintf(line, sizeof line, forms[form], begin, n_bytes, name);
#pragma GCC diagnostic pop
        jb_put(text, line, (size_t)n_line);
        add(all, begin, n_bytes, 0, name);
    }
}

/* Moves name code by its number: what was loaded under it last in the file. */
static void make_dump(uint64_t *state, uint64_t base, struct naives *all, struct jb *dump)
{
    int of_index[10];
    const size_t n = below(state, MOST);
    memset(of_index, 0xff, sizeof of_index);
    jb_head(dump, false);
    for (size_t k = 0; k < n; k++) {
        char text[16];
        const uint64_t ns = below(state, TIMES), n_bytes = below(state, 40);
        const uint64_t begin = base + below(state, SPAN), from = base + below(state, SPAN);
        const size_t index = below(state, 10);
        const int name = (int)below(state, 30);
        (void)snprintf(text, sizeof text, "f%d", name);
        switch (below(state, 6)) {
        case 0:
            jb_move(dump, ns, from, begin, n_bytes, index);
            if (of_index[index] >= 0) {
                add(all, from, n_bytes, ns, -1);
                add(all, begin, n_bytes, ns, of_index[index]);
            }
            break;
        case 1:
            jb_debug(dump, ns, base + SPAN + 999, 7, "/elsewhere.c"); /* of no function here */
            break;
        default:
            jb_load(dump, ns, begin, n_bytes, index, text, below(state, 20));
            of_index[index] = name;
            add(all, begin, n_bytes, ns, name);
        }
    }
}

/* ---- questions ------------------------------------------------------------------------------- */

static uint64_t compare(uint64_t *state, uint64_t base, const struct naives *all,
                        const struct weft_jit_table *table, const struct weft_strtab *texts)
{
    uint64_t n_wrong = 0;
    for (int k = 0; k < QUESTIONS; k++) {
        char want[16] = "";
        const uint64_t address = base + below(state, SPAN + 80) - 20, ns = below(state, TIMES + 2);
        const int name = naive_find(all, address, ns);
        const uint32_t found = weft_jit_find(table, address, weft_jit_era(table, ns));
        if (name >= 0)
            (void)snprintf(want, sizeof want, "f%d", name);
        n_wrong += (found == WEFT_JIT_NONE) != (name < 0) ||
                   (name >= 0 && !weft_str_equal(weft_strtab_get(texts, found), weft_str_of(want)));
    }
    return n_wrong;
}

static uint64_t round_of(uint64_t *state, bool has_map, bool has_dump)
{
    /* Near both ends of the addresses, too. */
    const uint64_t bases[] = { 20, UINT64_C(0x7f1234560000), UINT64_MAX - SPAN - 100 };
    const uint64_t base = bases[below(state, 3)];
    struct naives all = { .n = 0 };
    struct weft_jit_table table = { 0 };
    struct weft_jit_names names = { .table = &table, .texts = weft_strtab_new() };
    struct weft_jitdump dump = { 0 };
    struct jb text = { 0 }, bytes = { 0 };
    if (has_map)
        make_map(state, base, &all, &text);
    if (has_dump)
        make_dump(state, base, &all, &bytes);
    bool is_good =
        names.texts && weft_jitdump_init(&dump, &names) &&
        weft_perf_map_read(&names, (struct weft_str){ (char *)text.bytes, text.n_bytes });
    if (has_dump)
        is_good = is_good &&
                  weft_jitdump_read(&dump, (struct weft_str){ (char *)bytes.bytes, bytes.n_bytes });
    is_good = is_good && weft_jit_seal(&table);
    const uint64_t n_wrong = is_good ? compare(state, base, &all, &table, names.texts) : 1;
    weft_jitdump_fini(&dump);
    weft_jit_table_fini(&table);
    weft_strtab_free(names.texts);
    jb_fini(&text);
    jb_fini(&bytes);
    return n_wrong;
}

/* Functions within functions, all over each other: as bad as it gets, and bounded. */
static void test_nested(void)
{
    enum { DEEP = 20000 };
    struct weft_jit_table table = { 0 };
    bool is_good = true;
    uint64_t n_wrong = 0;
    for (uint32_t k = 0; is_good && k < DEEP; k++)
        is_good = weft_jit_add(&table, 0x10000 + k, 2 * (DEEP - k), k, k);
    is_good = is_good && weft_jit_seal(&table);
    for (uint32_t k = 0; is_good && k < DEEP; k++)
        n_wrong += weft_jit_find(&table, 0x10000 + DEEP, weft_jit_era(&table, k)) != k;
    tap_ok(is_good && table.n_dropped == 0, "%d nested functions", DEEP);
    tap_eq_u64(n_wrong, 0, "each in its time");
    weft_jit_table_fini(&table);
    for (uint32_t k = 0; is_good && k < WEFT_JIT_MOST + 10; k++)
        is_good = weft_jit_add(&table, 16 * k, 16, 0, k);
    is_good = is_good && weft_jit_seal(&table);
    tap_ok(is_good && table.n_dropped == 10 && weft_jit_find(&table, 16 * 777 + 15, 778) == 777,
           "at most %d functions, the others are counted", WEFT_JIT_MOST);
    weft_jit_table_fini(&table);
}

int main(void)
{
    uint64_t state = tap_seed(1), n_wrong[3] = { 0 };
    for (int k = 0; k < ROUNDS; k++) {
        n_wrong[0] += round_of(&state, true, false);
        n_wrong[1] += round_of(&state, false, true);
        n_wrong[2] += round_of(&state, true, true);
    }
    tap_eq_u64(n_wrong[0], 0, "%d perf maps, %d questions each", ROUNDS, QUESTIONS);
    tap_eq_u64(n_wrong[1], 0, "as many jitdumps");
    tap_eq_u64(n_wrong[2], 0, "as many of both");
    test_nested();
    return tap_done();
}
