/* SPDX-License-Identifier: MIT
 *
 * Blocks as rows of their table, and executions of version 1, which had a row each.
 */
#include "base/vec.h"
#include "query/database/file.h"

/* ---- writing --------------------------------------------------------------------------------- */

bool weft_database_blocks_class(struct weft_database_blocks_out *out, size_t node, int64_t kind,
                                uint32_t frame)
{
    while (out->classes.n <= node)
        if (!WEFT_VEC_PUSH(&out->classes))
            return false;
    out->classes.items[node] = kind == WEFT_FRAME_STATE ? frame : 0;
    return true;
}

enum weft_code weft_database_blocks_put(struct weft_database *database,
                                        struct weft_database_blocks_out *out, int64_t id,
                                        const struct weft_database_block *block,
                                        struct weft_err *err)
{
    const struct weft_database_block_classes classes = { out->classes.items, out->classes.n };
    enum weft_code code = WEFT_OK;
    bool has_row;
    if (!out->arena)
        out->arena = weft_arena_new(0);
    if (!out->arena || !weft_database_block_encode(block, &classes, out->arena, &out->bytes) ||
        out->bytes.n > INT32_MAX)
        return weft_no_memory(err, "a database");
    if (!out->statement)
        code = weft_database_prepare(database, "INSERT INTO blocks VALUES(?1, ?2)", &out->statement,
                                     err);
    if (code != WEFT_OK)
        return code;
    if (sqlite3_bind_int64(out->statement, 1, id) != SQLITE_OK ||
        sqlite3_bind_blob(out->statement, 2, out->bytes.items, (int)out->bytes.n, SQLITE_STATIC) !=
            SQLITE_OK)
        return weft_no_memory(err, "a database");
    code = weft_database_step(database, out->statement, &has_row, err);
    (void)sqlite3_reset(out->statement);
    return code;
}

void weft_database_blocks_out_fini(struct weft_database_blocks_out *out)
{
    (void)sqlite3_finalize(out->statement);
    weft_arena_free(out->arena);
    WEFT_VEC_FINI(&out->bytes);
    WEFT_VEC_FINI(&out->classes);
}

/* ---- version 1 ------------------------------------------------------------------------------- */

struct upgrade {
    struct weft_database *database;
    struct weft_database_blocks_out out;
    struct weft_database_block block;
    int64_t first; /* of the block */
};

/* Nodes that are damaged, or far from the others, are of no class. */
static enum weft_code take_classes(struct upgrade *upgrade, struct weft_err *err)
{
    static const char sql[] = "SELECT n.id, f.kind, f.id FROM nodes n, frames f "
                              "WHERE f.id = n.frame AND n.id > 0 AND n.id <= (SELECT 2 * count(*) "
                              "FROM nodes)";
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    enum weft_code code = weft_database_prepare(upgrade->database, sql, &statement, err);
    while (code == WEFT_OK && has_row) {
        code = weft_database_step(upgrade->database, statement, &has_row, err);
        if (code == WEFT_OK && has_row &&
            !weft_database_blocks_class(&upgrade->out, (size_t)sqlite3_column_int64(statement, 0),
                                        sqlite3_column_int64(statement, 1),
                                        (uint32_t)sqlite3_column_int64(statement, 2)))
            code = weft_no_memory(err, "a database");
    }
    (void)sqlite3_finalize(statement);
    return code;
}

static enum weft_code put_block(struct upgrade *upgrade, struct weft_err *err)
{
    if (upgrade->block.rows.n == 0)
        return WEFT_OK;
    const enum weft_code code = weft_database_blocks_put(upgrade->database, &upgrade->out,
                                                         upgrade->first, &upgrade->block, err);
    weft_database_block_reset(&upgrade->block);
    return code;
}

/* Executions of a block follow each other: where one is missing or damaged, the next begins. */
static enum weft_code take_execution(struct upgrade *upgrade, sqlite3_stmt *row,
                                     struct weft_err *err)
{
    const int64_t id = sqlite3_column_int64(row, 0);
    enum weft_code code = WEFT_OK;
    if (id != upgrade->first + (int64_t)upgrade->block.rows.n ||
        id >> WEFT_EXECUTION_BITS != upgrade->first >> WEFT_EXECUTION_BITS ||
        weft_database_block_is_full(&upgrade->block))
        code = put_block(upgrade, err);
    if (code != WEFT_OK)
        return code;
    if (upgrade->block.rows.n == 0)
        upgrade->first = id;
    const void *bytes = sqlite3_column_blob(row, 1);
    code = weft_database_block_decode_1(bytes, (size_t)sqlite3_column_bytes(row, 1),
                                        &upgrade->block, NULL);
    return code == WEFT_E_NOMEM ? weft_no_memory(err, "a database") : WEFT_OK;
}

enum weft_code weft_database_upgrade_1(struct weft_database *database, struct weft_err *err)
{
    struct upgrade upgrade = { .database = database };
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    enum weft_code code = take_classes(&upgrade, err);
    WEFT_THEN(code, weft_database_prepare(
                        database, "SELECT id, tree FROM executions WHERE id > 0 ORDER BY id",
                        &statement, err));
    while (code == WEFT_OK && has_row) {
        code = weft_database_step(database, statement, &has_row, err);
        if (code == WEFT_OK && has_row)
            code = take_execution(&upgrade, statement, err);
    }
    (void)sqlite3_finalize(statement);
    WEFT_THEN(code, put_block(&upgrade, err));
    weft_database_blocks_out_fini(&upgrade.out);
    weft_database_block_fini(&upgrade.block);
    return code;
}
