/* SPDX-License-Identifier: MIT
 *
 * Adding executions. The tables of names, frames and nodes are mirrored: what others added since is
 * read when the database is taken, what is new gets the numbers that follow.
 */
#include "base/vec.h"
#include "query/database/file.h"
#include "schema/executions.h"

#include <math.h>
#include <stdlib.h>

void weft_database_writer_free(struct weft_database_writer *writer)
{
    if (!writer)
        return;
    weft_database_blocks_out_fini(&writer->out);
    weft_database_block_fini(&writer->block);
    weft_ecct_tree_free(writer->mirror);
    weft_strtab_free(writer->threads);
    weft_strtab_free(writer->metric_names);
    WEFT_VEC_FINI(&writer->places);
    free(writer->metrics);
    WEFT_VEC_FINI(&writer->nodes);
    WEFT_VEC_FINI(&writer->ns);
    WEFT_VEC_FINI(&writer->values);
    WEFT_VEC_FINI(&writer->bytes);
    free(writer);
}

/* Nothing more can be added: what is mirrored may not be what is in the file. */
static enum weft_code give_up(struct weft_database *database, enum weft_code code,
                              struct weft_err *err)
{
    weft_database_rollback(database);
    weft_database_writer_free(database->writer);
    database->writer = NULL;
    (void)weft_in_file(err, database->path);
    return code;
}

/* ---- the mirror ------------------------------------------------------------------------------ */

/* A row that was read: its place must be the next one. */
typedef enum weft_code (*take_fn)(struct weft_database_writer *writer, sqlite3_stmt *row,
                                  uint32_t *place, struct weft_err *err);

static enum weft_code take_frame(struct weft_database_writer *writer, sqlite3_stmt *row,
                                 uint32_t *place, struct weft_err *err)
{
    const int64_t kind = sqlite3_column_int64(row, 1);
    struct weft_frame frame = { .name = weft_database_text(row, 2),
                                .module = weft_database_text(row, 3) };
    if (!weft_database_frame_read(kind, &frame))
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "the database is damaged: expected a kind of frame, found %lld",
                         (long long)kind);
    enum weft_code code = weft_ecct_tree_add(writer->mirror, &frame, place, err);
    *place += 1;
    return code;
}

static enum weft_code take_node(struct weft_database_writer *writer, sqlite3_stmt *row,
                                uint32_t *place, struct weft_err *err)
{
    const int64_t parent = sqlite3_column_int64(row, 1), frame = sqlite3_column_int64(row, 2),
                  confidence = sqlite3_column_int64(row, 3);
    if (parent < 0 || (uint64_t)parent >= weft_ecct_tree_n_nodes(writer->mirror) || frame < 1 ||
        (uint64_t)frame > weft_ecct_tree_n_frames(writer->mirror) || confidence < 0 ||
        confidence >= WEFT_CONFIDENCES)
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "the database is damaged: expected a node, found %lld %lld %lld",
                         (long long)parent, (long long)frame, (long long)confidence);
    return weft_ecct_tree_node(writer->mirror, (uint32_t)parent, (uint32_t)frame - 1,
                               (enum weft_confidence)confidence, place, err);
}

static enum weft_code take_name(struct weft_strtab *names, struct weft_str name, uint32_t *place,
                                struct weft_err *err)
{
    enum weft_code code = weft_strtab_intern(names, name, place, err);
    *place += 1;
    return code;
}

static enum weft_code take_thread(struct weft_database_writer *writer, sqlite3_stmt *row,
                                  uint32_t *place, struct weft_err *err)
{
    return take_name(writer->threads, weft_database_text(row, 1), place, err);
}

static enum weft_code take_metric(struct weft_database_writer *writer, sqlite3_stmt *row,
                                  uint32_t *place, struct weft_err *err)
{
    return take_name(writer->metric_names, weft_database_text(row, 1), place, err);
}

static enum weft_code take_rows(struct weft_database *database, enum weft_database_table table,
                                const char *columns, size_t n_known, take_fn take,
                                struct weft_err *err)
{
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    char sql[256];
    (void)snprintf(sql, sizeof sql, "SELECT %s WHERE id > ?1 AND %s ORDER BY id", columns,
                   weft_database_is_whole(database, table));
    enum weft_code code = weft_database_prepare(database, sql, &statement, err);
    if (code == WEFT_OK)
        (void)sqlite3_bind_int64(statement, 1, (int64_t)n_known);
    while (code == WEFT_OK && has_row) {
        uint32_t place = 0;
        code = weft_database_step(database, statement, &has_row, err);
        if (code != WEFT_OK || !has_row)
            break;
        code = take(database->writer, statement, &place, err);
        if (code == WEFT_OK && (sqlite3_column_int64(statement, 0) != place || place != ++n_known))
            code = weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                             "the database is damaged: a row is missing, or there twice; "
                             "executions can still be compared, and be added to a new one");
    }
    (void)sqlite3_finalize(statement);
    return code;
}

static enum weft_code take_new_rows(struct weft_database *database, struct weft_err *err)
{
    const struct weft_database_writer *writer = database->writer;
    enum weft_code code =
        take_rows(database, WEFT_DATABASE_FRAMES, "id, kind, name, module FROM frames",
                  weft_ecct_tree_n_frames(writer->mirror), take_frame, err);
    WEFT_THEN(code,
              take_rows(database, WEFT_DATABASE_NODES, "id, parent, frame, confidence FROM nodes",
                        weft_ecct_tree_n_nodes(writer->mirror) - 1, take_node, err));
    WEFT_THEN(code, take_rows(database, WEFT_DATABASE_THREADS, "id, name FROM threads",
                              weft_strtab_count(writer->threads), take_thread, err));
    WEFT_THEN(code, take_rows(database, WEFT_DATABASE_METRICS, "id, name FROM metrics",
                              weft_strtab_count(writer->metric_names), take_metric, err));
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* One statement with integers ?1..., then texts; NULL bytes end them. */
static enum weft_code put_row(struct weft_database *database, const char *sql,
                              const int64_t *numbers, int n_numbers, const struct weft_str *texts,
                              int n_texts, struct weft_err *err)
{
    sqlite3_stmt *statement = NULL;
    bool has_row;
    enum weft_code code = weft_database_prepare(database, sql, &statement, err);
    bool is_bound = code == WEFT_OK;
    for (int i = 0; is_bound && i < n_numbers; i++)
        is_bound = sqlite3_bind_int64(statement, i + 1, numbers[i]) == SQLITE_OK;
    for (int i = 0; is_bound && i < n_texts; i++)
        is_bound = weft_database_bind_text(statement, n_numbers + i + 1, texts[i]);
    WEFT_THEN(code, is_bound ? weft_database_step(database, statement, &has_row, err)
                             : weft_no_memory(err, "a database"));
    (void)sqlite3_finalize(statement);
    return code;
}

/* The number of a name in its table, which gets it if it is new: with its unit, if it has one. */
static enum weft_code name_of(struct weft_database *database, struct weft_strtab *names,
                              struct weft_str name, const enum weft_metric_unit *unit,
                              uint32_t *place, struct weft_err *err)
{
    const uint32_t n_before = weft_strtab_count(names);
    enum weft_code code = weft_strtab_intern(names, name, place, err);
    *place += 1;
    if (code != WEFT_OK || *place <= n_before)
        return code;
    const int64_t numbers[] = { *place, unit ? *unit : 0 };
    return put_row(database,
                   unit ? "INSERT INTO metrics VALUES(?1, ?2, ?3, weft_sum(?1, ?2, ?3))"
                        : "INSERT INTO threads VALUES(?1, ?2, weft_sum(?1, ?2))",
                   numbers, unit ? 2 : 1, &name, 1, err);
}

static enum weft_code frame_of(struct weft_database *database, const struct weft_frame *frame,
                               uint32_t *place, struct weft_err *err)
{
    struct weft_ecct_tree *mirror = database->writer->mirror;
    const size_t n_before = weft_ecct_tree_n_frames(mirror);
    enum weft_code code = weft_ecct_tree_add(mirror, frame, place, err);
    if (code != WEFT_OK || *place < n_before)
        return code;
    const int64_t numbers[] = { *place + 1, weft_database_frame_kind(frame) };
    const struct weft_str texts[] = { frame->name, frame->module };
    return put_row(database, "INSERT INTO frames VALUES(?1, ?2, ?3, ?4, weft_sum(?1, ?2, ?3, ?4))",
                   numbers, 2, texts, 2, err);
}

/* Another program may have made it less certain still. */
#define LESS_CERTAIN                                                                               \
    "UPDATE nodes SET confidence = max(confidence, ?2), "                                          \
    "sum = weft_sum(id, parent, frame, max(confidence, ?2)) "                                      \
    "WHERE id = ?1 AND sum = weft_sum(id, parent, frame, confidence)"

/* Adds a node below one that is there, or makes it less certain. */
static enum weft_code put_node(struct weft_database *database, uint32_t parent,
                               const struct weft_ecct_node *node, uint32_t *place,
                               struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    const size_t n_before = weft_ecct_tree_n_nodes(writer->mirror);
    uint32_t frame;
    enum weft_code code =
        frame_of(database, &weft_ecct_tree_frames(writer->tree)[node->frame], &frame, err);
    if (code == WEFT_OK) /* the least certain comes last: see below */
        code =
            weft_ecct_tree_node(writer->mirror, parent, frame, WEFT_CONFIDENCE_EXACT, place, err);
    if (code != WEFT_OK)
        return code;
    const bool is_new = *place >= n_before;
    const uint8_t before = weft_ecct_tree_nodes(writer->mirror)[*place].confidence;
    if (!is_new && before >= node->confidence)
        return WEFT_OK;
    code = weft_ecct_tree_node(writer->mirror, parent, frame,
                               (enum weft_confidence)node->confidence, place, err);
    const int64_t numbers[] = { *place, node->confidence, parent, frame + 1 };
    if (code != WEFT_OK)
        return code;
    return is_new ? put_row(database,
                            "INSERT INTO nodes VALUES(?1, ?3, ?4, ?2, weft_sum(?1, ?3, ?4, ?2))",
                            numbers, 4, NULL, 0, err)
                  : put_row(database, LESS_CERTAIN, numbers, 2, NULL, 0, err);
}

/* The place in the mirror of a node of the tree. Those of lower numbers, which are those above it
 * and more of the same executions, are put there first: in the order of the tree. */
static enum weft_code place_of(struct weft_database *database, uint32_t node, uint32_t *place,
                               struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    const struct weft_ecct_node *nodes = weft_ecct_tree_nodes(writer->tree);
    enum weft_code code = WEFT_OK;
    while (writer->places.n <= node && code == WEFT_OK) {
        const size_t next = writer->places.n;
        uint32_t *made = WEFT_VEC_PUSH(&writer->places);
        if (!made)
            return weft_no_memory(err, "a database");
        if (next > 0)
            code = put_node(database, writer->places.items[nodes[next].parent], &nodes[next], made,
                            err);
        writer->places.n -= code != WEFT_OK;
    }
    *place = code == WEFT_OK ? writer->places.items[node] : 0;
    return code;
}

/* ---- an execution ---------------------------------------------------------------------------- */

static enum weft_code put_nodes(struct weft_database *database, const struct weft_matrix_row *row,
                                struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    writer->nodes.n = writer->ns.n = row->n_nodes;
    if (!weft_vec_reserve(&writer->nodes.items, &writer->nodes.cap, row->n_nodes,
                          sizeof *writer->nodes.items) ||
        !weft_vec_reserve(&writer->ns.items, &writer->ns.cap, row->n_nodes,
                          sizeof *writer->ns.items))
        return weft_no_memory(err, "a database");
    for (size_t i = 0; i < row->n_nodes; i++) {
        const uint32_t node = row->nodes[i];
        uint32_t place = node < writer->places.n ? writer->places.items[node] : 0;
        WEFT_TRY(node < writer->places.n ? WEFT_OK : place_of(database, node, &place, err));
        size_t at = i; /* the numbers of a database are mostly in the order of the tree's */
        for (; at > 0 && writer->nodes.items[at - 1] > place; at--) {
            writer->nodes.items[at] = writer->nodes.items[at - 1];
            writer->ns.items[at] = writer->ns.items[at - 1];
        }
        writer->nodes.items[at] = place;
        writer->ns.items[at] = row->ns[i];
    }
    return WEFT_OK;
}

static enum weft_code put_values(struct weft_database_writer *writer,
                                 const struct weft_matrix_row *row, struct weft_err *err)
{
    writer->values.n = 0;
    for (size_t i = 0; i < writer->n_metrics; i++) {
        if (isnan(row->values[i]))
            continue;
        struct weft_database_block_value *value = WEFT_VEC_PUSH(&writer->values);
        if (!value)
            return weft_no_memory(err, "a database");
        size_t at = writer->values.n - 1;
        for (; at > 0 && writer->values.items[at - 1].metric > writer->metrics[i]; at--)
            writer->values.items[at] = writer->values.items[at - 1];
        writer->values.items[at] =
            (struct weft_database_block_value){ writer->metrics[i], row->values[i] };
    }
    return WEFT_OK;
}

/* The classes of nodes that came to the mirror. */
static enum weft_code take_classes(struct weft_database_writer *writer, struct weft_err *err)
{
    const size_t n = weft_ecct_tree_n_nodes(writer->mirror);
    const struct weft_ecct_node *nodes = weft_ecct_tree_nodes(writer->mirror);
    for (size_t i = writer->out.classes.n; i < n; i++) {
        const struct weft_frame *frame =
            i ? &weft_ecct_tree_frames(writer->mirror)[nodes[i].frame] : NULL;
        if (!weft_database_blocks_class(&writer->out, i, frame ? frame->kind : 0,
                                        i ? nodes[i].frame + 1 : 0))
            return weft_no_memory(err, "a database");
    }
    return WEFT_OK;
}

/* Writes what is in the block, which is written again with what comes to it, until it is full. */
static enum weft_code put_block(struct weft_database *database, struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    const uint64_t first = writer->n_added - writer->block.rows.n;
    const int64_t id = writer->source << WEFT_EXECUTION_BITS | (int64_t)first;
    if (writer->n_written == writer->n_added)
        return WEFT_OK;
    enum weft_code code = take_classes(writer, err);
    if (code == WEFT_OK && writer->n_written > first) /* now: its pages are used again at once */
        code = put_row(database, "DELETE FROM blocks WHERE id = ?1", &id, 1, NULL, 0, err);
    WEFT_THEN(code, weft_database_blocks_put(database, &writer->out, id, &writer->block, err));
    writer->n_written = writer->n_added;
    if (weft_database_block_is_full(&writer->block)) {
        weft_database_block_reset(&writer->block);
        writer->n_whole_unfinished = writer->n_unfinished;
    }
    return code;
}

static enum weft_code put_execution(struct weft_database *database,
                                    const struct weft_matrix_row *row, struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    uint32_t thread;
    enum weft_code code = name_of(database, writer->threads, row->item->thread, NULL, &thread, err);
    WEFT_THEN(code, put_nodes(database, row, err));
    WEFT_THEN(code, put_values(writer, row, err));
    const struct weft_database_block_row made = {
        .flags = row->item->flags,
        .thread = thread,
        .tid = row->item->tid,
        .start_ns = row->item->start_ns,
        .nodes = writer->nodes.items,
        .ns = writer->ns.items,
        .n_nodes = writer->nodes.n,
        .values = writer->values.items,
        .n_values = writer->values.n,
    };
    if (code == WEFT_OK && !weft_database_block_add(&writer->block, &made))
        code = weft_no_memory(err, "a database");
    writer->n_added++;
    writer->n_unfinished += row->item->flags & WEFT_EXECUTION_UNFINISHED ? 1 : 0;
    return code == WEFT_OK && weft_database_block_is_full(&writer->block) ? put_block(database, err)
                                                                          : code;
}

static enum weft_code nothing_begun(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "nothing is being added to the database");
}

enum weft_code weft_database_add(struct weft_database *database, const struct weft_matrix_row *row,
                                 struct weft_err *err)
{
    if (!database->writer)
        return nothing_begun(err);
    const bool was_open = database->is_open;
    enum weft_code code = weft_database_lock(database, err);
    if (code == WEFT_OK && !was_open)
        code = take_new_rows(database, err);
    if (code == WEFT_OK && database->writer->n_added >> WEFT_EXECUTION_BITS)
        code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "more than 2^%d executions of a trace",
                         WEFT_EXECUTION_BITS);
    WEFT_THEN(code, put_execution(database, row, err));
    return code == WEFT_OK ? code : give_up(database, code, err);
}

/* ---- a source -------------------------------------------------------------------------------- */

static enum weft_code put_metrics(struct weft_database *database,
                                  const struct weft_database_source *source, struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    enum weft_code code = WEFT_OK;
    writer->metrics = calloc(source->n_metrics + 1, sizeof *writer->metrics);
    if (!writer->metrics)
        return weft_no_memory(err, "a database");
    for (size_t i = 0; i < source->n_metrics && code == WEFT_OK; i++)
        code = name_of(database, writer->metric_names, source->metrics[i].name,
                       &source->metrics[i].unit, &writer->metrics[i], err);
    writer->n_metrics = source->n_metrics;
    return code;
}

/* The numbers of the source's metrics, four bytes each. */
static bool list_metrics(struct weft_database_writer *writer)
{
    writer->bytes.n = 0;
    for (size_t i = 0; i < writer->n_metrics; i++)
        for (unsigned k = 0; k < 4; k++) {
            uint8_t *byte = WEFT_VEC_PUSH(&writer->bytes);
            if (!byte)
                return false;
            *byte = (uint8_t)(writer->metrics[i] >> (8 * k));
        }
    return true;
}

static enum weft_code bind_source(struct weft_database_writer *writer,
                                  const struct weft_database_source *source,
                                  sqlite3_stmt *statement, struct weft_err *err)
{
    const struct weft_execution_source *trace = &source->trace;
    const bool is_bound =
        list_metrics(writer) && sqlite3_bind_int64(statement, 1, writer->source) == SQLITE_OK &&
        weft_database_bind_text(statement, 2, source->type) &&
        weft_database_bind_text(statement, 3, trace->tag) &&
        sqlite3_bind_int64(statement, 4, (int64_t)source->fingerprint) == SQLITE_OK &&
        weft_database_bind_text(statement, 5, trace->path) &&
        weft_database_bind_text(statement, 6, trace->host) &&
        sqlite3_bind_int64(statement, 7, (int64_t)trace->realtime_ns) == SQLITE_OK &&
        sqlite3_bind_blob(statement, 8, writer->bytes.items, (int)writer->bytes.n, SQLITE_STATIC) ==
            SQLITE_OK;
    return is_bound ? WEFT_OK : weft_no_memory(err, "a database");
}

static enum weft_code put_source(struct weft_database *database,
                                 const struct weft_database_source *source, struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    sqlite3_stmt *statement = NULL;
    bool has_row;
    enum weft_code code = weft_database_number(
        database, "SELECT coalesce(max(id), 0) + 1 FROM sources", &writer->source, err);
    if (code == WEFT_OK && (writer->source < 1 || writer->source >> WEFT_SOURCE_BITS))
        code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "the database has too many sources");
    WEFT_THEN(code, weft_database_prepare(
                        database,
                        "INSERT INTO sources VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, 0, "
                        "weft_sum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, 0))",
                        &statement, err));
    WEFT_THEN(code, bind_source(writer, source, statement, err));
    WEFT_THEN(code, weft_database_step(database, statement, &has_row, err));
    (void)sqlite3_finalize(statement);
    return code;
}

static bool push_bytes(struct weft_database_writer *writer, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t *byte = WEFT_VEC_PUSH(&writer->bytes);
        if (!byte)
            return false;
        *byte = ((const uint8_t *)bytes)[i];
    }
    return true;
}

static bool list_work(struct weft_database_writer *writer, const struct weft_work *work)
{
    const double numbers[WEFT_DATABASE_WORK_NUMBERS] = { work->usual_calls, work->slow_calls,
                                                         work->usual_ns, work->slow_ns };
    writer->bytes.n = 0;
    for (size_t i = 0; i < WEFT_DATABASE_WORK_NUMBERS; i++) {
        uint64_t bits;
        uint8_t bytes[sizeof bits];
        memcpy(&bits, &numbers[i], sizeof bits);
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(bits >> 8 * k);
        if (!push_bytes(writer, bytes, sizeof bytes))
            return false;
    }
    return push_bytes(writer, work->function.bytes, work->function.n_bytes);
}

static bool bind_bytes(sqlite3_stmt *statement, int place, const void *bytes, size_t n)
{
    return n <= INT32_MAX && sqlite3_bind_blob(statement, place, n ? bytes : "", (int)n,
                                               SQLITE_TRANSIENT) == SQLITE_OK;
}

/* What is known of the trace. */
static enum weft_code put_facts(struct weft_database *database,
                                const struct weft_source_facts *facts, struct weft_err *err)
{
    const int64_t flags = (facts->has_switches ? WEFT_DATABASE_HAS_SWITCHES : 0) |
                          (facts->has_saturation ? WEFT_DATABASE_HAS_CROWD : 0) |
                          (facts->is_proposed ? WEFT_DATABASE_IS_PROPOSED : 0) |
                          (facts->is_part ? WEFT_DATABASE_IS_PART : 0) |
                          (facts->is_turn ? WEFT_DATABASE_IS_TURN : 0) |
                          (facts->is_after_sleep ? WEFT_DATABASE_IS_AFTER_SLEEP : 0) |
                          (facts->work.is_known ? WEFT_DATABASE_HAS_WORK : 0) |
                          (facts->counts_losses ? WEFT_DATABASE_COUNTS_LOSSES : 0);
    const int64_t numbers[] = { database->writer->source, flags, (int64_t)facts->recorded_ns,
                                (int64_t)facts->records, (int64_t)facts->lost_records };
    const double shares[] = { facts->own_cpu, facts->other_cpu, facts->idle_cpu, facts->bound };
    sqlite3_stmt *statement = NULL;
    bool has_row;
    if (!facts->is_known)
        return WEFT_OK;
    enum weft_code code = weft_database_prepare(
        database,
        "INSERT INTO facts VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, NULL, "
        "weft_sum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, NULL))",
        &statement, err);
    bool is_bound = code == WEFT_OK;
    for (int i = 0; is_bound && i < 5; i++)
        is_bound = sqlite3_bind_int64(statement, i + 1, numbers[i]) == SQLITE_OK;
    for (int i = 0; is_bound && i < 4; i++)
        is_bound = sqlite3_bind_double(statement, i + 6, shares[i]) == SQLITE_OK;
    is_bound = is_bound && list_work(database->writer, &facts->work) &&
               bind_bytes(statement, 10, facts->wholes.bytes, facts->wholes.n_bytes) &&
               bind_bytes(statement, 11, database->writer->bytes.items, database->writer->bytes.n);
    WEFT_THEN(code, is_bound ? weft_database_step(database, statement, &has_row, err)
                             : weft_no_memory(err, "a database"));
    (void)sqlite3_finalize(statement);
    return code;
}

enum weft_code weft_database_begin(struct weft_database *database,
                                   const struct weft_database_source *source,
                                   const struct weft_ecct_tree *tree, struct weft_err *err)
{
    if (database->mode != WEFT_DATABASE_WRITE)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "the database is open to be read");
    weft_database_writer_free(database->writer);
    struct weft_database_writer *writer = database->writer = calloc(1, sizeof *writer);
    if (!writer)
        return weft_no_memory(err, "a database");
    writer->tree = tree;
    writer->mirror = weft_ecct_tree_new();
    writer->threads = weft_strtab_new();
    writer->metric_names = weft_strtab_new();
    if (!writer->mirror || !writer->threads || !writer->metric_names)
        return give_up(database, weft_no_memory(err, "a database"), err);
    enum weft_code code = weft_database_lock(database, err);
    WEFT_THEN(code, take_new_rows(database, err));
    WEFT_THEN(code, put_metrics(database, source, err));
    WEFT_THEN(code, put_source(database, source, err));
    WEFT_THEN(code, put_facts(database, &source->trace.facts, err));
    return code == WEFT_OK ? weft_database_commit(database, err) : give_up(database, code, err);
}

static enum weft_code commit(struct weft_database *database, struct weft_err *err)
{
    enum weft_code code = weft_database_do(database, "COMMIT", "writing", err);
    database->is_open = database->is_open && code != WEFT_OK;
    return code;
}

/* How many executions there are now. The source may be gone: another program added the same one
 * meanwhile. */
static enum weft_code put_counts(struct weft_database *database, uint64_t n_added,
                                 uint64_t n_unfinished, bool is_complete, struct weft_err *err)
{
    const int64_t numbers[] = { database->writer->source, (int64_t)n_added, (int64_t)n_unfinished,
                                is_complete };
    enum weft_code code = put_row(
        database,
        "UPDATE sources SET executions = ?2, unfinished = ?3, is_complete = ?4, sum = "
        "weft_sum(id, type, tag, fingerprint, path, host, realtime_ns, metrics, ?2, ?3, ?4) "
        "WHERE id = ?1",
        numbers, 4, NULL, 0, err);
    if (code == WEFT_OK && sqlite3_changes(database->file) != 1)
        code = weft_fail(err, WEFT_E_IO, WEFT_NO_OFFSET,
                         "another program added the same executions at the same time");
    return code;
}

/* The rest of what was added, too. */
static enum weft_code put_all(struct weft_database *database, bool is_complete,
                              struct weft_err *err)
{
    const struct weft_database_writer *writer = database->writer;
    const enum weft_code code = put_block(database, err);
    return code == WEFT_OK
               ? put_counts(database, writer->n_added, writer->n_unfinished, is_complete, err)
               : code;
}

enum weft_code weft_database_commit(struct weft_database *database, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (!database->is_open)
        return WEFT_OK;
    if (database->writer && database->writer->n_added > database->writer->n_committed)
        code = put_all(database, false, err);
    WEFT_THEN(code, commit(database, err));
    if (code != WEFT_OK)
        return give_up(database, code, err);
    if (database->writer)
        database->writer->n_committed = database->writer->n_added;
    return WEFT_OK;
}

enum weft_code weft_database_commit_blocks(struct weft_database *database, struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    const uint64_t n_whole = writer ? writer->n_added - writer->block.rows.n : 0;
    if (!database->is_open || !writer || n_whole <= writer->n_committed)
        return weft_database_commit(database, err);
    enum weft_code code = put_counts(database, n_whole, writer->n_whole_unfinished, false, err);
    WEFT_THEN(code, commit(database, err));
    if (code != WEFT_OK)
        return give_up(database, code, err);
    writer->n_committed = n_whole;
    return WEFT_OK;
}

/* Nodes that became less certain after executions that have them were added. */
static enum weft_code put_confidences(struct weft_database *database, struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    enum weft_code code = WEFT_OK;
    for (size_t i = 1; i < writer->places.n && code == WEFT_OK; i++) {
        const uint32_t place = writer->places.items[i];
        const struct weft_ecct_node *node = &weft_ecct_tree_nodes(writer->tree)[i];
        if (place && weft_ecct_tree_nodes(writer->mirror)[place].confidence < node->confidence) {
            const int64_t numbers[] = { place, node->confidence };
            code = put_row(database, LESS_CERTAIN, numbers, 2, NULL, 0, err);
        }
    }
    return code;
}

/* The nodes that are not exact in executions of this source, whatever they are in others: four
 * bytes of the number, one of the confidence. */
static bool list_uncertain(struct weft_database_writer *writer)
{
    writer->bytes.n = 0;
    for (size_t i = 1; i < writer->places.n; i++) {
        const uint8_t confidence = weft_ecct_tree_nodes(writer->tree)[i].confidence;
        for (unsigned k = 0; k < 5 && confidence != WEFT_CONFIDENCE_EXACT; k++) {
            uint8_t *byte = WEFT_VEC_PUSH(&writer->bytes);
            if (!byte)
                return false;
            *byte = (uint8_t)(k < 4 ? writer->places.items[i] >> 8 * k : confidence);
        }
    }
    return true;
}

static enum weft_code put_uncertain(struct weft_database *database, struct weft_err *err)
{
    struct weft_database_writer *writer = database->writer;
    sqlite3_stmt *statement = NULL;
    bool has_row;
    enum weft_code code = weft_database_prepare(
        database,
        "UPDATE facts SET uncertain = ?2, sum = weft_sum(id, flags, recorded_ns, records, "
        "lost_records, own_cpu, other_cpu, idle_cpu, bound, wholes, work, ?2) WHERE id = ?1",
        &statement, err);
    const bool is_bound = code == WEFT_OK && list_uncertain(writer) &&
                          sqlite3_bind_int64(statement, 1, writer->source) == SQLITE_OK &&
                          bind_bytes(statement, 2, writer->bytes.items, writer->bytes.n);
    WEFT_THEN(code, is_bound ? weft_database_step(database, statement, &has_row, err)
                             : weft_no_memory(err, "a database"));
    (void)sqlite3_finalize(statement);
    return code;
}

/* Those of the same trace, type and tag that were begun before go: complete ones, what was left by
 * writers that ended early, and what others are still adding. The last number stays, so that none
 * is given twice: who still adds to a source that is gone finds out. */
static enum weft_code replace(struct weft_database *database, struct weft_err *err)
{
    static const char same[] =
        "SELECT o.id FROM sources o, sources s WHERE s.id = ?1 AND o.id < ?1 AND "
        "o.fingerprint = s.fingerprint AND o.type = s.type AND o.tag = s.tag";
    static const char *const sql[] = {
        "DELETE FROM blocks WHERE id >= ?1 << 32 AND id < (?1 + 1) << 32",
        "DELETE FROM sources WHERE id = ?1",
        "DELETE FROM facts WHERE id = ?1",
    };
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    enum weft_code code = weft_database_prepare(database, same, &statement, err);
    if (code == WEFT_OK)
        (void)sqlite3_bind_int64(statement, 1, database->writer->source);
    while (code == WEFT_OK && has_row) {
        code = weft_database_step(database, statement, &has_row, err);
        const int64_t id = sqlite3_column_int64(statement, 0);
        for (size_t i = 0; i < 3 && has_row && code == WEFT_OK; i++)
            code = put_row(database, sql[i], &id, 1, NULL, 0, err);
    }
    (void)sqlite3_finalize(statement);
    return code;
}

enum weft_code weft_database_end(struct weft_database *database, struct weft_err *err)
{
    if (!database->writer)
        return nothing_begun(err);
    enum weft_code code = weft_database_lock(database, err);
    WEFT_THEN(code, put_all(database, true, err));
    WEFT_THEN(code, put_confidences(database, err));
    WEFT_THEN(code, put_uncertain(database, err));
    WEFT_THEN(code, replace(database, err));
    WEFT_THEN(code, commit(database, err));
    if (code != WEFT_OK)
        return give_up(database, code, err);
    weft_database_writer_free(database->writer);
    database->writer = NULL;
    return WEFT_OK;
}
