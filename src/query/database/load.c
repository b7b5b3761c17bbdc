/* SPDX-License-Identifier: MIT
 *
 * Reading a database: whatever is in it, rows that do not fit are left out and counted.
 */
#include "analysis/findings/wrappers.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "query/database/file.h"
#include "schema/event.h"

#include <math.h>
#include <stdlib.h>

/* Rows that are missing among those of a table: damage that is borne with. */
enum { MOST_MISSING = 1 << 16 };

/* Where a page is damaged, rows are looked for so many executions further on, so many times. */
enum { STEP_OVER_DAMAGE = 64, MOST_TRIES = 1 << 16 };

struct loading {
    struct weft_database *database;
    struct weft_str type;
    struct weft_arena *arena;
    struct weft_frame *frames;
    struct weft_ecct_node *nodes; /* of those that are missing, the parent is WEFT_ID_NONE */
    struct weft_str *threads;
    struct weft_metric *metrics; /* by row of the table; the first is none */
    size_t n_frames, n_nodes, n_threads, n_metrics;
    struct weft_matrix_maker *maker;
    struct {
        struct weft_execution_source *items;
        size_t n, cap;
    } sources;
    struct weft_database_block block; /* the one that is read */
    struct weft_arena *block_arena;
    double *values;
    struct {
        uint64_t *items; /* how many executions a source should have */
        size_t n, cap;
    } counts;
    struct {
        uint32_t *items; /* metrics of sources that the table is missing */
        size_t n, cap;
    } no_metrics;
    uint64_t n_damaged, n_damaged_facts, n_partial;
    uint8_t *confidences; /* by node: the least of the sources'; if each tells its own, */
    bool is_certain;      /* which those of earlier versions do not */
};

/* ---- frames ---------------------------------------------------------------------------------- */

int64_t weft_database_frame_kind(const struct weft_frame *frame)
{
    return frame->kind | (int64_t)frame->state << 8 | (int64_t)frame->reason << 16 |
           (int64_t)frame->flags << 24 | (int64_t)frame->waited_for << 32;
}

bool weft_database_frame_read(int64_t kind, struct weft_frame *frame)
{
    frame->kind = (uint8_t)kind;
    frame->state = (uint8_t)(kind >> 8);
    frame->reason = (uint8_t)(kind >> 16);
    frame->flags = (uint8_t)(kind >> 24);
    frame->waited_for = (uint8_t)(kind >> 32);
    if (kind >> 40 || frame->waited_for > WEFT_LOCK_KINDS || frame->kind >= WEFT_FRAME_KINDS ||
        frame->state >= WEFT_FRAME_STATES || frame->reason >= WEFT_PATH_REASONS)
        return false;
    if (frame->kind == WEFT_FRAME_STATE && frame->state == WEFT_FRAME_NO_STATE)
        weft_frame_read_state(frame);
    return true;
}

/* ---- rows of tables -------------------------------------------------------------------------- */

typedef bool (*put_fn)(struct loading *loading, size_t id, sqlite3_stmt *row);

/* Calls `put` for each row whose id is below the number of items; false: no memory. */
static enum weft_code each_row(struct loading *loading, enum weft_database_table table,
                               const char *columns, size_t n_items, put_fn put,
                               struct weft_err *err)
{
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    char sql[256];
    (void)snprintf(sql, sizeof sql, "SELECT %s WHERE %s ORDER BY id", columns,
                   weft_database_is_whole(loading->database, table));
    enum weft_code code = weft_database_prepare(loading->database, sql, &statement, err);
    while (code == WEFT_OK && has_row) {
        code = weft_database_step(loading->database, statement, &has_row, err);
        const int64_t id = has_row ? sqlite3_column_int64(statement, 0) : 0;
        if (code == WEFT_OK && id > 0 && (uint64_t)id < n_items &&
            !put(loading, (size_t)id, statement))
            code = weft_no_memory(err, "executions");
    }
    (void)sqlite3_finalize(statement);
    return code;
}

/* How many items the rows of a table need: its largest id and one, if that is no damage. */
static enum weft_code count(struct loading *loading, const char *sql, size_t *n_items,
                            struct weft_err *err)
{
    sqlite3_stmt *statement = NULL;
    bool has_row = false;
    enum weft_code code = weft_database_prepare(loading->database, sql, &statement, err);
    WEFT_THEN(code, weft_database_step(loading->database, statement, &has_row, err));
    if (code == WEFT_OK && has_row) {
        const int64_t n_rows = sqlite3_column_int64(statement, 0),
                      last = sqlite3_column_int64(statement, 1), most = n_rows + MOST_MISSING;
        *n_items = (size_t)(last < 0 ? 0 : last < most ? last : most) + 1;
        if (*n_items >= WEFT_ID_NONE)
            code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "the database has too many rows");
    }
    (void)sqlite3_finalize(statement);
    return code;
}

static bool put_frame(struct loading *loading, size_t id, sqlite3_stmt *row)
{
    const bool is_row = weft_database_row_is(row, "iitt"); /* before a text is made of it */
    const int64_t kind = sqlite3_column_int64(row, 1);
    struct weft_frame *frame = &loading->frames[id];
    struct weft_frame read = { .name = is_row ? weft_database_text(row, 2) : WEFT_STR("") };
    if (!is_row || !weft_database_frame_read(kind, &read))
        return true;
    *frame = read;
    frame->name =
        weft_arena_copy(loading->arena, weft_database_mapped(loading->database, read.name));
    frame->module = weft_arena_copy(loading->arena, weft_database_text(row, 3));
    return frame->name.bytes && frame->module.bytes;
}

static bool put_node(struct loading *loading, size_t id, sqlite3_stmt *row)
{
    const int64_t parent = sqlite3_column_int64(row, 1), frame = sqlite3_column_int64(row, 2),
                  confidence = sqlite3_column_int64(row, 3);
    if (!weft_database_row_is(row, "iiii") || parent < 0 || (uint64_t)parent >= id ||
        (parent > 0 && loading->nodes[parent].parent == WEFT_ID_NONE) || frame < 1 ||
        (uint64_t)frame >= loading->n_frames || !loading->frames[frame].name.bytes ||
        confidence < 0 || confidence >= WEFT_CONFIDENCES)
        return true;
    loading->nodes[id] = (struct weft_ecct_node){ .parent = (uint32_t)parent,
                                                  .frame = (uint32_t)frame,
                                                  .confidence = (uint8_t)confidence };
    return true;
}

static bool put_thread(struct loading *loading, size_t id, sqlite3_stmt *row)
{
    if (!weft_database_row_is(row, "it"))
        return true;
    loading->threads[id] = weft_arena_copy(loading->arena, weft_database_text(row, 1));
    return loading->threads[id].bytes != NULL;
}

static bool put_metric(struct loading *loading, size_t id, sqlite3_stmt *row)
{
    const int64_t unit = sqlite3_column_int64(row, 1);
    struct weft_metric *metric = &loading->metrics[id];
    if (!weft_database_row_is(row, "iit") || unit < 0 || unit > WEFT_METRIC_NUMBER)
        return true;
    metric->unit = (enum weft_metric_unit)unit;
    metric->name = weft_arena_copy(loading->arena, weft_database_text(row, 2));
    return metric->name.bytes != NULL;
}

static enum weft_code read_counts(struct loading *loading, struct weft_err *err)
{
    enum weft_code code =
        count(loading, "SELECT count(*), max(id) FROM frames", &loading->n_frames, err);
    WEFT_THEN(code, count(loading, "SELECT count(*), max(id) FROM nodes", &loading->n_nodes, err));
    WEFT_THEN(code,
              count(loading, "SELECT count(*), max(id) FROM threads", &loading->n_threads, err));
    WEFT_THEN(code,
              count(loading, "SELECT count(*), max(id) FROM metrics", &loading->n_metrics, err));
    if (code != WEFT_OK)
        return code;
    loading->frames = WEFT_ARENA_NEW(loading->arena, loading->n_frames, struct weft_frame);
    loading->nodes = WEFT_ARENA_NEW(loading->arena, loading->n_nodes, struct weft_ecct_node);
    loading->threads = WEFT_ARENA_NEW(loading->arena, loading->n_threads, struct weft_str);
    loading->metrics = WEFT_ARENA_NEW(loading->arena, loading->n_metrics, struct weft_metric);
    loading->values = WEFT_ARENA_NEW(loading->arena, loading->n_metrics, double);
    if (!loading->frames || !loading->nodes || !loading->threads || !loading->metrics ||
        !loading->values)
        return weft_no_memory(err, "executions");
    for (size_t i = 1; i < loading->n_nodes; i++)
        loading->nodes[i].parent = WEFT_ID_NONE;
    return WEFT_OK;
}

static enum weft_code read_tables(struct loading *loading, struct weft_err *err)
{
    enum weft_code code = read_counts(loading, err);
    WEFT_THEN(code, each_row(loading, WEFT_DATABASE_FRAMES, "id, kind, name, module FROM frames",
                             loading->n_frames, put_frame, err));
    WEFT_THEN(code,
              each_row(loading, WEFT_DATABASE_NODES, "id, parent, frame, confidence FROM nodes",
                       loading->n_nodes, put_node, err));
    WEFT_THEN(code, each_row(loading, WEFT_DATABASE_THREADS, "id, name FROM threads",
                             loading->n_threads, put_thread, err));
    WEFT_THEN(code, each_row(loading, WEFT_DATABASE_METRICS, "id, unit, name FROM metrics",
                             loading->n_metrics, put_metric, err));
    return code;
}

/* ---- sources --------------------------------------------------------------------------------- */

/* A damaged number may be less than none. */
static uint64_t count_in(sqlite3_stmt *row, int column)
{
    const int64_t count = sqlite3_column_int64(row, column);
    return count < 0 ? 0 : (uint64_t)count;
}

/* Of one trace, type and tag: the last complete one; if none is, the last. */
#define PRESENT                                                                                    \
    "FROM (SELECT *, max((is_complete << 40) + id) FROM sources GROUP BY type, tag, fingerprint) " \
    "s "

/* Metrics that executions of a source may have. */
static bool keep_metrics(struct loading *loading, const uint8_t *metrics, size_t n_metrics)
{
    for (size_t i = 0; i < n_metrics; i++) {
        const uint32_t metric = weft_load_u32(metrics + 4 * i);
        if (metric > 0 && metric < loading->n_metrics && loading->metrics[metric].name.bytes) {
            weft_matrix_keep_metric(loading->maker, metric - 1);
            continue;
        }
        uint32_t *missing = WEFT_VEC_PUSH(&loading->no_metrics);
        if (!missing)
            return false;
        *missing = metric;
    }
    return true;
}

/* The sum of a row shows that it is as it was written, not that a recorder wrote it: numbers that
 * are out of their range are unknown, and none of them becomes 0. */
static bool are_counts(sqlite3_stmt *row, int first, int last)
{
    bool is_good = true;
    for (int i = first; i <= last; i++)
        is_good = is_good && sqlite3_column_type(row, i) == SQLITE_INTEGER &&
                  sqlite3_column_int64(row, i) >= 0;
    return is_good;
}

/* Quotients of sums may be above 1 by their rounding. */
static bool are_shares(sqlite3_stmt *row, int first, int last)
{
    bool is_good = true;
    for (int i = first; i <= last; i++)
        is_good = is_good && sqlite3_column_type(row, i) == SQLITE_FLOAT &&
                  sqlite3_column_double(row, i) >= 0 && sqlite3_column_double(row, i) < 1.001;
    return is_good;
}

/* Keeps the bytes of a blob; false without memory. */
static bool bytes_in(const struct loading *loading, sqlite3_stmt *row, int column,
                     struct weft_str *kept)
{
    const char *bytes = sqlite3_column_blob(row, column);
    const size_t n = (size_t)sqlite3_column_bytes(row, column);
    *kept = bytes ? weft_arena_copy(loading->arena, (struct weft_str){ bytes, n })
                  : (struct weft_str){ 0 };
    return !bytes || kept->bytes;
}

static struct weft_work work_of(struct weft_str bytes)
{
    enum { NUMBER_BYTES = 8, NUMBERS_BYTES = WEFT_DATABASE_WORK_NUMBERS * NUMBER_BYTES };
    double numbers[WEFT_DATABASE_WORK_NUMBERS];
    bool is_known = bytes.n_bytes >= NUMBERS_BYTES;
    for (size_t i = 0; is_known && i < WEFT_DATABASE_WORK_NUMBERS; i++) {
        const uint64_t bits = weft_load_u64((const uint8_t *)bytes.bytes + i * NUMBER_BYTES);
        memcpy(&numbers[i], &bits, sizeof numbers[i]);
        is_known = isfinite(numbers[i]) && numbers[i] >= 0;
    }
    if (!is_known || numbers[0] == 0) /* as where work is counted */
        return (struct weft_work){ .is_known = false };
    return (struct weft_work){ .is_known = true,
                               .function = { bytes.bytes + NUMBERS_BYTES,
                                             bytes.n_bytes - NUMBERS_BYTES },
                               .usual_calls = numbers[0],
                               .slow_calls = numbers[1],
                               .usual_ns = numbers[2],
                               .slow_ns = numbers[3] };
}

/* How certain nodes are in executions of the source alone. */
static bool add_uncertain(struct loading *loading, sqlite3_stmt *row, int column)
{
    if (sqlite3_column_type(row, column) != SQLITE_BLOB)
        return false;
    const uint8_t *bytes = sqlite3_column_blob(row, column);
    const size_t n = (size_t)sqlite3_column_bytes(row, column) / 5;
    for (size_t i = 0; bytes && i < n; i++) {
        const uint32_t node = weft_load_u32(bytes + 5 * i);
        const uint8_t confidence = bytes[5 * i + 4];
        if (node < loading->n_nodes && confidence < WEFT_CONFIDENCES &&
            confidence > loading->confidences[node])
            loading->confidences[node] = confidence;
    }
    return true;
}

static int by_number(const void *a_void, const void *b_void)
{
    const uint32_t a = *(const uint32_t *)a_void, b = *(const uint32_t *)b_void;
    return (a > b) - (a < b);
}

/* How many metrics of sources are missing, each once. */
static uint64_t count_no_metrics(struct loading *loading)
{
    const uint32_t *missing = loading->no_metrics.items;
    const size_t n = loading->no_metrics.n;
    uint64_t n_different = n > 0;
    if (n > 1)
        qsort(loading->no_metrics.items, n, sizeof *missing, by_number);
    for (size_t i = 1; i < n; i++)
        n_different += missing[i] != missing[i - 1];
    return n_different;
}

/* The row of a source; `*has_row` is false, and it is counted, if it is damaged, or its page is. */
static enum weft_code find_facts(struct loading *loading, int64_t source, sqlite3_stmt **statement,
                                 bool *has_row, struct weft_err *err)
{
    enum { IS_WHOLE = 11 };
    struct weft_err damage = { 0 };
    WEFT_TRY(weft_database_prepare(
        loading->database,
        "SELECT flags, recorded_ns, records, lost_records, own_cpu, other_cpu, idle_cpu, bound, "
        "uncertain, wholes, work, sum IS weft_sum(id, flags, recorded_ns, records, lost_records, "
        "own_cpu, other_cpu, idle_cpu, bound, wholes, work, uncertain) FROM facts WHERE id = ?1",
        statement, err));
    (void)sqlite3_bind_int64(*statement, 1, source);
    const enum weft_code code = weft_database_step(loading->database, *statement, has_row, &damage);
    const bool is_damaged =
        code == WEFT_E_MALFORMED || (*has_row && sqlite3_column_int(*statement, IS_WHOLE) == 0);
    *has_row = *has_row && !is_damaged;
    loading->n_damaged_facts += is_damaged;
    if (code == WEFT_OK || is_damaged)
        return WEFT_OK;
    if (err)
        *err = damage;
    return code;
}

/* Files of earlier versions have no facts; a row that is damaged is none. */
static enum weft_code read_facts(struct loading *loading, int64_t source,
                                 struct weft_source_facts *facts, struct weft_err *err)
{
    sqlite3_stmt *statement = NULL;
    bool has_row = false;
    if (loading->database->version < WEFT_DATABASE_FACTS)
        return WEFT_OK;
    enum weft_code code = find_facts(loading, source, &statement, &has_row, err);
    const int64_t flags = has_row ? sqlite3_column_int64(statement, 0) : 0;
    const bool is_known = code == WEFT_OK && has_row && are_counts(statement, 1, 3);
    const bool has_saturation =
        is_known && flags & WEFT_DATABASE_HAS_CROWD && are_shares(statement, 4, 7);
    struct weft_str wholes = { 0 }, work = { 0 };
    loading->is_certain = loading->is_certain && is_known && add_uncertain(loading, statement, 8);
    if (is_known &&
        (!bytes_in(loading, statement, 9, &wholes) || !bytes_in(loading, statement, 10, &work)))
        code = weft_no_memory(err, "executions");
    if (is_known)
        *facts = (struct weft_source_facts){
            .is_known = true,
            .recorded_ns = count_in(statement, 1),
            .records = count_in(statement, 2),
            .counts_losses = flags & WEFT_DATABASE_COUNTS_LOSSES || count_in(statement, 3) > 0,
            .lost_records = count_in(statement, 3),
            .has_switches = flags & WEFT_DATABASE_HAS_SWITCHES,
            .has_saturation = has_saturation,
            .own_cpu = has_saturation ? sqlite3_column_double(statement, 4) : 0,
            .other_cpu = has_saturation ? sqlite3_column_double(statement, 5) : 0,
            .idle_cpu = has_saturation ? sqlite3_column_double(statement, 6) : 0,
            .bound = has_saturation ? sqlite3_column_double(statement, 7) : 0,
            .is_proposed = flags & WEFT_DATABASE_IS_PROPOSED,
            .is_part = flags & WEFT_DATABASE_IS_PART,
            .is_turn = flags & WEFT_DATABASE_IS_TURN,
            .is_after_sleep = flags & WEFT_DATABASE_IS_AFTER_SLEEP,
            .wholes = wholes,
            .work = work_of(flags & WEFT_DATABASE_HAS_WORK ? work : (struct weft_str){ 0 }),
        };
    (void)sqlite3_finalize(statement);
    return code;
}

static enum weft_code add_source(struct loading *loading, sqlite3_stmt *row, struct weft_err *err)
{
    const int64_t id = sqlite3_column_int64(row, 0);
    const uint8_t *metrics = sqlite3_column_blob(row, 5);
    const size_t n_metrics = metrics ? (size_t)sqlite3_column_bytes(row, 5) / 4 : 0;
    const struct weft_str texts[] = { weft_database_text(row, 2), weft_database_text(row, 3),
                                      weft_database_text(row, 4) };
    if (id < 1 || id >> WEFT_SOURCE_BITS)
        return WEFT_OK;
    if (!keep_metrics(loading, metrics, n_metrics))
        return weft_no_memory(err, "executions");
    struct weft_execution_source *source = WEFT_VEC_PUSH(&loading->sources);
    uint64_t *count = WEFT_VEC_PUSH(&loading->counts);
    if (!source || !count)
        return weft_no_memory(err, "executions");
    *count = weft_min_u64(count_in(row, 6), UINT64_C(1) << WEFT_EXECUTION_BITS);
    loading->n_partial += sqlite3_column_int(row, 7) == 0;
    *source = (struct weft_execution_source){
        .path = weft_arena_copy(loading->arena, texts[0]),
        .host = weft_arena_copy(loading->arena, texts[1]),
        .tag = weft_arena_copy(loading->arena, texts[2]),
        .id = (uint64_t)id,
        .realtime_ns = (uint64_t)sqlite3_column_int64(row, 1),
    };
    if (!source->path.bytes || !source->host.bytes || !source->tag.bytes)
        return weft_no_memory(err, "executions");
    const enum weft_code code = read_facts(loading, id, &source->facts, err);
    return code != WEFT_OK ? code : weft_matrix_source(loading->maker, source, err);
}

static enum weft_code read_sources(struct loading *loading, struct weft_err *err)
{
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    enum weft_code code = weft_database_prepare(
        loading->database,
        "SELECT s.id, s.realtime_ns, s.path, s.host, s.tag, s.metrics, s.executions, "
        "s.is_complete " PRESENT "WHERE s.type = ?1 ORDER BY s.id",
        &statement, err);
    if (code == WEFT_OK && !weft_database_bind_text(statement, 1, loading->type))
        code = weft_no_memory(err, "executions");
    while (code == WEFT_OK && has_row) {
        code = weft_database_step(loading->database, statement, &has_row, err);
        if (code == WEFT_OK && has_row)
            code = add_source(loading, statement, err);
    }
    (void)sqlite3_finalize(statement);
    return code;
}

/* ---- executions ------------------------------------------------------------------------------ */

/* Whether all that it names is there. */
static bool is_whole(const struct loading *loading, const struct weft_database_block_row *row)
{
    bool is_good =
        row->thread > 0 && row->thread < loading->n_threads && loading->threads[row->thread].bytes;
    for (size_t i = 0; is_good && i < row->n_nodes; i++)
        is_good = row->nodes[i] < loading->n_nodes &&
                  loading->nodes[row->nodes[i]].parent != WEFT_ID_NONE;
    for (size_t i = 0; is_good && i < row->n_values; i++)
        is_good = row->values[i].metric < loading->n_metrics &&
                  loading->metrics[row->values[i].metric].name.bytes;
    return is_good;
}

static enum weft_code add_execution(struct loading *loading, uint32_t source, uint64_t id,
                                    const struct weft_database_block_row *row, struct weft_err *err)
{
    if (!is_whole(loading, row)) {
        loading->n_damaged++;
        return WEFT_OK;
    }
    for (size_t i = 0; i < loading->n_metrics; i++)
        loading->values[i] = (double)NAN;
    for (size_t i = 0; i < row->n_values; i++)
        loading->values[row->values[i].metric] = row->values[i].value;
    const struct weft_execution_item item = {
        .id = id,
        .source = source,
        .flags = row->flags,
        .tid = row->tid,
        .thread = loading->threads[row->thread],
        .start_ns = row->start_ns,
        .end_ns = weft_database_block_row_end_ns(row),
    };
    const struct weft_matrix_row made = { .item = &item,
                                          .nodes = row->nodes,
                                          .ns = row->ns,
                                          .n_nodes = row->n_nodes,
                                          .values = loading->values + 1 };
    return weft_matrix_add(loading->maker, &made, err);
}

/* Adds those of a row that is not damaged. `*next` is the id of the execution that should come;
 * what is missing before this one was in rows that are damaged or gone. */
static enum weft_code add_block(struct loading *loading, uint32_t source, sqlite3_stmt *row,
                                uint64_t *next, struct weft_err *err)
{
    struct weft_database_block *block = &loading->block;
    const uint64_t id = (uint64_t)sqlite3_column_int64(row, 0);
    const void *bytes = sqlite3_column_blob(row, 1);
    const size_t n_bytes = (size_t)sqlite3_column_bytes(row, 1);
    weft_database_block_reset(block);
    enum weft_code code =
        loading->database->version == 1
            ? weft_database_block_decode_1(bytes, n_bytes, block, NULL)
            : weft_database_block_decode(bytes, n_bytes, loading->block_arena, block, NULL);
    if (code == WEFT_E_NOMEM)
        return weft_no_memory(err, "executions");
    if (code != WEFT_OK || id < *next) /* executions may not be there twice */
        return WEFT_OK;
    loading->n_damaged += id - *next;
    *next = id + block->rows.n;
    for (size_t i = 0; i < block->rows.n && code == WEFT_OK; i++) {
        const struct weft_database_block_row execution = weft_database_block_row(block, i);
        code = add_execution(loading, source, id + i, &execution, err);
    }
    return code;
}

/* Reads rows from an id on. */
static enum weft_code read_rows(struct loading *loading, uint32_t source, uint64_t from,
                                uint64_t *next, struct weft_err *err)
{
    const uint64_t end = (loading->sources.items[source].id + 1) << WEFT_EXECUTION_BITS;
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    enum weft_code code = weft_database_prepare(
        loading->database,
        loading->database->version == 1
            ? "SELECT id, tree FROM executions WHERE id >= ?1 AND id < ?2 ORDER BY id"
            : "SELECT id, bytes FROM blocks WHERE id >= ?1 AND id < ?2 ORDER BY id",
        &statement, err);
    if (code == WEFT_OK) {
        (void)sqlite3_bind_int64(statement, 1, (int64_t)from);
        (void)sqlite3_bind_int64(statement, 2, (int64_t)end);
    }
    while (code == WEFT_OK && has_row) {
        code = weft_database_step(loading->database, statement, &has_row, err);
        if (code == WEFT_OK && has_row)
            code = add_block(loading, source, statement, next, err);
    }
    (void)sqlite3_finalize(statement);
    return code;
}

/* Pages of the file that are damaged are gone round: rows of other pages are found by their ids. */
static enum weft_code read_executions(struct loading *loading, uint32_t source,
                                      struct weft_err *err)
{
    const uint64_t first = loading->sources.items[source].id << WEFT_EXECUTION_BITS;
    const uint64_t end = first + loading->counts.items[source];
    uint64_t next = first, from = first, n_left = MOST_TRIES;
    struct weft_err damage = { 0 };
    enum weft_code code = read_rows(loading, source, from, &next, &damage);
    while (code == WEFT_E_MALFORMED && from < end && n_left-- > 0) {
        from = weft_max_u64(from, next) + STEP_OVER_DAMAGE;
        damage = (struct weft_err){ 0 };
        code = read_rows(loading, source, from, &next, &damage);
    }
    if (code != WEFT_OK && code != WEFT_E_MALFORMED) {
        if (err)
            *err = damage;
        return code;
    }
    loading->n_damaged += next < end ? end - next : 0;
    return WEFT_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum weft_code load(struct loading *loading, struct weft_ecct_matrix **matrix,
                           struct weft_err *err)
{
    WEFT_TRY(read_tables(loading, err));
    loading->maker = weft_matrix_maker_new(loading->metrics + 1, loading->n_metrics - 1);
    if (!loading->maker)
        return weft_no_memory(err, "executions");
    loading->confidences = WEFT_ARENA_NEW(loading->arena, loading->n_nodes + 1, uint8_t);
    loading->is_certain = loading->database->version >= WEFT_DATABASE_FACTS;
    if (!loading->confidences)
        return weft_no_memory(err, "executions");
    enum weft_code code = read_sources(loading, err);
    for (size_t i = 0; i < loading->sources.n && code == WEFT_OK; i++)
        code = read_executions(loading, (uint32_t)i, err);
    for (size_t i = 0; i < loading->n_nodes && loading->is_certain; i++)
        loading->nodes[i].confidence = loading->confidences[i];
    const struct weft_matrix_tree tree = { loading->frames, loading->nodes, loading->n_frames,
                                           loading->n_nodes };
    WEFT_THEN(code, weft_matrix_finish(loading->maker, &tree, matrix, err));
    if (code != WEFT_OK)
        return code;
    if (!weft_wrappers_mark(*matrix)) {
        weft_arena_free((*matrix)->arena);
        *matrix = NULL;
        return weft_no_memory(err, "executions");
    }
    (*matrix)->n_damaged = loading->n_damaged;
    (*matrix)->n_damaged_metrics = count_no_metrics(loading);
    (*matrix)->n_damaged_facts = loading->n_damaged_facts;
    (*matrix)->n_partial = loading->n_partial;
    return WEFT_OK;
}

/* The only type, or the one that is asked for, must be there. */
static enum weft_code find_type(const struct weft_execution_type *types, size_t n_types,
                                struct weft_str *type, struct weft_err *err)
{
    char names[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < n_types; i++) {
        if (type->n_bytes && weft_str_equal(types[i].name, *type))
            return WEFT_OK;
        const int put = snprintf(names + n, sizeof names - n, "%s%.*s", i ? ", " : "",
                                 (int)(types[i].name.n_bytes < 60 ? types[i].name.n_bytes : 60),
                                 types[i].name.bytes);
        n += put > 0 && (size_t)put < sizeof names - n ? (size_t)put : 0;
    }
    if (n_types == 0)
        return weft_fail(
            err, WEFT_E_ARG, WEFT_NO_OFFSET,
            "the database has no executions yet: weft executions TRACE --db adds some");
    if (type->n_bytes == 0 && n_types == 1) {
        *type = types[0].name;
        return WEFT_OK;
    }
    if (type->n_bytes)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "no executions are of type '%.*s'; there are %s",
                         (int)(type->n_bytes < 60 ? type->n_bytes : 60), type->bytes, names);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "the database has executions of several types: choose one of %s", names);
}

/* All is read of one state of the database; since it was opened another program may have brought it
 * to a newer version. */
static enum weft_code begin_reading(struct weft_database *database, struct weft_err *err)
{
    if (database->is_open || database->writer)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "executions are being added");
    enum weft_code code = weft_database_do(database, "BEGIN", "reading", err);
    database->is_open = code == WEFT_OK;
    return code == WEFT_OK ? weft_database_check(database, err) : code;
}

enum weft_code weft_database_load(struct weft_database *database, struct weft_str type,
                                  struct weft_ecct_matrix **matrix, struct weft_err *err)
{
    struct loading loading = { .database = database, .type = type, .arena = weft_arena_new(0) };
    struct weft_execution_type *types = NULL;
    size_t n_types = 0;
    *matrix = NULL;
    loading.block_arena = weft_arena_new(0);
    if (!loading.arena || !loading.block_arena) {
        weft_arena_free(loading.arena);
        weft_arena_free(loading.block_arena);
        return weft_no_memory(err, "executions");
    }
    enum weft_code code = weft_database_types(database, loading.arena, &types, &n_types, err);
    WEFT_THEN(code, find_type(types, n_types, &loading.type, err));
    WEFT_THEN(code, begin_reading(database, err));
    WEFT_THEN(code, load(&loading, matrix, err));
    weft_database_rollback(database);
    weft_matrix_maker_free(loading.maker);
    weft_database_block_fini(&loading.block);
    WEFT_VEC_FINI(&loading.sources);
    WEFT_VEC_FINI(&loading.counts);
    WEFT_VEC_FINI(&loading.no_metrics);
    weft_arena_free(loading.block_arena);
    weft_arena_free(loading.arena);
    return code == WEFT_OK ? WEFT_OK : weft_in_file(err, database->path);
}

enum weft_code weft_database_types(struct weft_database *database, struct weft_arena *arena,
                                   struct weft_execution_type **types, size_t *n_types,
                                   struct weft_err *err)
{
    struct {
        struct weft_execution_type *items;
        size_t n, cap;
    } rows = { 0 };
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    enum weft_code code = weft_database_check_sources(database, err);
    WEFT_THEN(code,
              weft_database_prepare(database,
                                    "SELECT s.type, sum(s.executions), sum(s.unfinished) " PRESENT
                                    "GROUP BY s.type HAVING sum(s.executions) > 0 ORDER BY s.type",
                                    &statement, err));
    while (code == WEFT_OK && has_row) {
        code = weft_database_step(database, statement, &has_row, err);
        if (code != WEFT_OK || !has_row)
            break;
        struct weft_execution_type *row = WEFT_VEC_PUSH(&rows);
        if (!row)
            code = weft_no_memory(err, "executions");
        else
            *row = (struct weft_execution_type){
                .name = weft_arena_copy(arena, weft_database_text(statement, 0)),
                .count = count_in(statement, 1),
                .unfinished = count_in(statement, 2),
            };
        if (row && !row->name.bytes)
            code = weft_no_memory(err, "executions");
    }
    (void)sqlite3_finalize(statement);
    *n_types = rows.n;
    if (code == WEFT_OK && !weft_arena_copy_items(arena, types, rows.items, rows.n, sizeof **types))
        code = weft_no_memory(err, "executions");
    WEFT_VEC_FINI(&rows);
    return code == WEFT_OK ? WEFT_OK : weft_in_file(err, database->path);
}
