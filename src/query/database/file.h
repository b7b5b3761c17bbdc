/* SPDX-License-Identifier: MIT
 *
 * The SQLite file below the database of executions: statements, errors, versions. For database*.c.
 */
#ifndef WEFT_QUERY_DATABASE_FILE_H
#define WEFT_QUERY_DATABASE_FILE_H

#include "base/map.h"
#include "query/database/block.h"
#include "query/database/database.h"

#include <sqlite3.h>

/* Executions are numbered within their source; both make the id of a row. */
enum { WEFT_EXECUTION_BITS = 32, WEFT_SOURCE_BITS = 30 };

/* Writes blocks, as rows of their table. All zero is ready. */
struct weft_database_blocks_out {
    sqlite3_stmt *statement;
    struct weft_arena *arena;
    struct weft_blob_bytes bytes;
    struct { /* by node (weft_database_block_classes) */
        uint32_t *items;
        size_t n, cap;
    } classes;
};

/* The version since which there is a table of facts. */
enum { WEFT_DATABASE_FACTS = 4 };

/* Of its flags. */
enum weft_database_fact {
    WEFT_DATABASE_HAS_SWITCHES = 1,
    WEFT_DATABASE_HAS_CROWD = 2,
    WEFT_DATABASE_IS_PROPOSED = 4,
    WEFT_DATABASE_IS_PART = 8,
    WEFT_DATABASE_IS_AFTER_SLEEP = 16,
    WEFT_DATABASE_HAS_WORK = 32,
    WEFT_DATABASE_COUNTS_LOSSES = 64,
    WEFT_DATABASE_IS_TURN = 128,
};

/* Its column `work`: four numbers, little-endian doubles, and the name of the function. */
enum { WEFT_DATABASE_WORK_NUMBERS = 4 };

/* The tables beside that of the executions. Each of their rows has a sum of what is in it. */
enum weft_database_table {
    WEFT_DATABASE_FRAMES,
    WEFT_DATABASE_NODES,
    WEFT_DATABASE_THREADS,
    WEFT_DATABASE_METRICS,
    WEFT_DATABASE_SOURCES,
    WEFT_DATABASE_TABLES,
};

/* What is being added. */
struct weft_database_writer {
    const struct weft_ecct_tree *tree;
    struct weft_ecct_tree *mirror;    /* of the tables of frames and nodes */
    struct weft_strtab *threads;      /* of the table of threads */
    struct weft_strtab *metric_names; /* of the table of metrics */
    struct {
        uint32_t *items; /* by node of the tree: node of the mirror, 0 not known yet */
        size_t n, cap;
    } places;
    uint32_t *metrics; /* of the source: rows of the table */
    size_t n_metrics;
    int64_t source;
    struct weft_database_block block;    /* those that follow the last full block */
    struct weft_database_blocks_out out; /* of blocks */
    uint64_t n_added, n_unfinished, n_committed, n_written;
    uint64_t n_whole_unfinished; /* of executions in full blocks */
    struct {
        uint32_t *items;
        size_t n, cap;
    } nodes; /* memory of a row, used again */
    struct {
        uint64_t *items;
        size_t n, cap;
    } ns;
    struct {
        struct weft_database_block_value *items;
        size_t n, cap;
    } values;
    struct weft_blob_bytes bytes;
};

struct weft_database {
    sqlite3 *file;
    char *path;
    enum weft_database_mode mode;
    int64_t version;
    bool is_open; /* a transaction is */
    struct weft_database_writer *writer;
    struct weft_strtab *mapped; /* texts of map_from and map_to */
    struct weft_map *map_from;  /* text: place in map_to */
    struct {
        uint32_t *items;
        size_t n, cap;
    } map_to;
};

/* An error of SQLite as one of ours; `what` was being done. */
enum weft_code weft_database_fail(const struct weft_database *database, int status,
                                  const char *what, struct weft_err *err);

/* Runs statements that give nothing. */
WEFT_CHECKED enum weft_code weft_database_do(struct weft_database *database, const char *sql,
                                             const char *what, struct weft_err *err);

/* Prepares a statement; the caller finalizes it, also after a failure. */
WEFT_CHECKED enum weft_code weft_database_prepare(struct weft_database *database, const char *sql,
                                                  sqlite3_stmt **statement, struct weft_err *err);

/* Steps: *has_row is whether there is one. */
WEFT_CHECKED enum weft_code weft_database_step(struct weft_database *database,
                                               sqlite3_stmt *statement, bool *has_row,
                                               struct weft_err *err);

/* A copy of the text as ?place. False without memory. */
bool weft_database_bind_text(sqlite3_stmt *statement, int place, struct weft_str text);

/* Whether the columns of the present row are what their table has: a letter each, 'i' an integer,
 * 't' a text. Those of another table are damage: a page that stands twice. */
bool weft_database_row_is(sqlite3_stmt *statement, const char *types);

/* WEFT_E_MALFORMED if the table of sources has rows of another one. */
WEFT_CHECKED enum weft_code weft_database_check_sources(struct weft_database *database,
                                                        struct weft_err *err);

/* A column of the present row; bytes live until the next step. */
struct weft_str weft_database_text(sqlite3_stmt *statement, int column);

/* The one integer that a query gives. */
WEFT_CHECKED enum weft_code weft_database_number(struct weft_database *database, const char *sql,
                                                 int64_t *number, struct weft_err *err);

/* A condition of SQL: a row of the table is as it was written. In files of versions without sums
 * all are. */
const char *weft_database_is_whole(const struct weft_database *database,
                                   enum weft_database_table table);

/* Makes the function weft_sum(...) known, the sum of a row's columns. False if that cannot be. */
bool weft_database_make_sums(struct weft_database *database);

/* Gives all rows of files of versions without sums theirs. */
WEFT_CHECKED enum weft_code weft_database_add_sums(struct weft_database *database,
                                                   struct weft_err *err);

/* A transaction: others that write wait. */
WEFT_CHECKED enum weft_code weft_database_lock(struct weft_database *database,
                                               struct weft_err *err);
void weft_database_rollback(struct weft_database *database);

/* Reads the version, and whether the tables are those of it. */
WEFT_CHECKED enum weft_code weft_database_check(struct weft_database *database,
                                                struct weft_err *err);

/* The column `kind` of frames: kind, state, reason and flags, a byte each. */
int64_t weft_database_frame_kind(const struct weft_frame *frame);

/* Sets these of a frame that has its name; a state without a number is identified by its name, as
 * in files of earlier versions. False if the number is none. */
bool weft_database_frame_read(int64_t kind, struct weft_frame *frame);

/* The class of a node whose frame is of a kind: states have their own, other frames none. False
 * without memory. */
bool weft_database_blocks_class(struct weft_database_blocks_out *out, size_t node, int64_t kind,
                                uint32_t frame);

/* Adds a block; its id is that of its first execution. */
WEFT_CHECKED enum weft_code
weft_database_blocks_put(struct weft_database *database, struct weft_database_blocks_out *out,
                         int64_t id, const struct weft_database_block *block, struct weft_err *err);
void weft_database_blocks_out_fini(struct weft_database_blocks_out *out);

/* Brings executions of version 1 in blocks; within a transaction. */
WEFT_CHECKED enum weft_code weft_database_upgrade_1(struct weft_database *database,
                                                    struct weft_err *err);

void weft_database_writer_free(struct weft_database_writer *writer);

/* What a name stands for (weft_database_map_names). */
struct weft_str weft_database_mapped(const struct weft_database *database, struct weft_str name);

#endif
