/* SPDX-License-Identifier: MIT
 *
 * Makes a database of executions of a text, for tests of what compares them:
 *
 *     made_executions DATABASE < TEXT
 *
 *     metric page_faults count                    before the first source; ns, count, bytes, number
 *     source TYPE TAG PATH                        "-": no tag
 *     item THREAD START_NS VALUE,... PATH=NS ...  VALUE: of the metrics, or "-"; PATH: frames by
 * ';', each f:, s:, l:, t: or o: (a thread of another program) and its name ('_' is ' ')
 *     unfinished ...                              the same, of one whose end was not seen
 *     killed                                      as a writer that is killed before the end of its
 * source
 */
#include "query/database/database.h"
#include "schema/event.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 256, METRICS_MAX = 16, LINE_BYTES = 1 << 16, FINGERPRINT_BASE = 1000 };

struct maker {
    struct weft_database *database;
    struct weft_ecct_tree *tree;
    struct weft_metric metrics[METRICS_MAX];
    size_t n_metrics;
    struct weft_arena *arena;
    uint64_t n_sources;
    struct weft_err err;
};

static void must(struct maker *maker, enum weft_code code)
{
    char text[1024];
    if (code == WEFT_OK)
        return;
    weft_err_print(&maker->err, text, sizeof text);
    fprintf(stderr, "made_executions: %s\n", text);
    exit(1);
}

static struct weft_str kept(struct maker *maker, const char *text)
{
    return weft_arena_copy(maker->arena, weft_str_of(strcmp(text, "-") == 0 ? "" : text));
}

static char *word(char **line)
{
    char *found = strtok_r(NULL, " \n", line);
    if (!found) {
        fprintf(stderr, "made_executions: a line ends early\n");
        exit(1);
    }
    return found;
}

static void add_metric(struct maker *maker, char *line)
{
    static const char *const units[] = { "ns", "count", "bytes", "number" };
    struct weft_metric *metric = &maker->metrics[maker->n_metrics++];
    metric->name = kept(maker, word(&line));
    const char *unit = word(&line);
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(unit, units[i]) == 0)
            metric->unit = (enum weft_metric_unit)i;
}

static void end_source(struct maker *maker)
{
    if (maker->n_sources > 0)
        must(maker, weft_database_end(maker->database, &maker->err));
}

static void add_source(struct maker *maker, char *line)
{
    end_source(maker);
    struct weft_database_source source = { .metrics = maker->metrics,
                                           .n_metrics = maker->n_metrics,
                                           .fingerprint = FINGERPRINT_BASE + maker->n_sources++ };
    source.type = kept(maker, word(&line));
    source.trace.tag = kept(maker, word(&line));
    source.trace.path = kept(maker, word(&line));
    source.trace.host = WEFT_STR("here");
    must(maker, weft_database_begin(maker->database, &source, maker->tree, &maker->err));
}

static uint32_t node_of(struct maker *maker, char *path)
{
    uint32_t node = 0, frame = 0;
    char *rest;
    for (char *part = strtok_r(path, ";", &rest); part; part = strtok_r(NULL, ";", &rest)) {
        const bool is_other = part[0] == 'o';
        const char *at = strchr("fslt", is_other ? 't' : part[0]);
        struct weft_frame made = { .module = weft_str_of(is_other ? "other" : "") };
        for (char *byte = part + 2; *byte; byte++)
            *byte = *byte == '_' ? ' ' : *byte;
        made.kind = (uint8_t)(at - "fslt");
        made.name = weft_str_of(part + 2);
        weft_frame_read_state(&made);
        must(maker, weft_ecct_tree_add(maker->tree, &made, &frame, &maker->err));
        must(maker, weft_ecct_tree_node(maker->tree, node, frame, WEFT_CONFIDENCE_EXACT, &node,
                                        &maker->err));
    }
    return node;
}

struct value {
    uint32_t node;
    uint64_t ns;
};

static int by_node(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

static size_t read_values(struct maker *maker, char *line, struct value *found)
{
    size_t n = 0;
    for (char *part; (part = strtok_r(NULL, " \n", &line)) && n < NODES_MAX; n++) {
        char *equals = strrchr(part, '=');
        *equals = '\0';
        found[n].ns = strtoull(equals + 1, NULL, 10);
        found[n].node = node_of(maker, part);
    }
    qsort(found, n, sizeof *found, by_node);
    return n;
}

static void add_item(struct maker *maker, char *line, uint32_t flags)
{
    struct weft_execution_item item = { .tid = 42,
                                        .flags = flags,
                                        .thread = kept(maker, word(&line)) };
    double numbers[METRICS_MAX];
    struct value found[NODES_MAX];
    uint32_t nodes[NODES_MAX];
    uint64_t ns[NODES_MAX], sum_ns = 0;
    item.start_ns = strtoull(word(&line), NULL, 10);
    char *rest, *text = word(&line);
    for (size_t i = 0; i < METRICS_MAX; i++) {
        const char *number = strtok_r(i ? NULL : text, ",", &rest);
        numbers[i] = number && strcmp(number, "-") != 0 ? strtod(number, NULL) : (double)NAN;
    }
    const size_t n = read_values(maker, line, found);
    for (size_t i = 0; i < n; i++) {
        nodes[i] = found[i].node;
        sum_ns += ns[i] = found[i].ns;
    }
    item.end_ns = item.start_ns + sum_ns;
    const struct weft_matrix_row row = {
        .item = &item, .nodes = nodes, .ns = ns, .n_nodes = n, .values = numbers
    };
    must(maker, weft_database_add(maker->database, &row, &maker->err));
}

int main(int argc, char **argv)
{
    static char line[LINE_BYTES];
    struct maker maker = { .tree = weft_ecct_tree_new(), .arena = weft_arena_new(0) };
    if (argc != 2 || !maker.tree || !maker.arena)
        return 2;
    must(&maker, weft_database_open(argv[1], WEFT_DATABASE_WRITE, &maker.database, &maker.err));
    while (fgets(line, sizeof line, stdin)) {
        char *rest;
        const char *what = strtok_r(line, " \n", &rest);
        if (!what || what[0] == '#')
            continue;
        if (strcmp(what, "metric") == 0)
            add_metric(&maker, rest);
        else if (strcmp(what, "source") == 0)
            add_source(&maker, rest);
        else if (strcmp(what, "killed") == 0) {
            must(&maker, weft_database_commit(maker.database, &maker.err));
            _Exit(0);
        } else
            add_item(&maker, rest, strcmp(what, "unfinished") == 0 ? WEFT_EXECUTION_UNFINISHED : 0);
    }
    end_source(&maker);
    weft_database_close(maker.database);
    weft_ecct_tree_free(maker.tree);
    weft_arena_free(maker.arena);
    return 0;
}
