/* SPDX-License-Identifier: MIT
 *
 * What a database holds: its sources, without their executions.
 */
#include "base/vec.h"
#include "query/database/file.h"

#include <string.h>

struct listing {
    struct weft_arena *arena;
    struct {
        struct weft_source_info *items;
        size_t n, cap;
    } rows;
};

/* A damaged number may be less than none. */
static uint64_t count_in(sqlite3_stmt *row, int column)
{
    const int64_t count = sqlite3_column_int64(row, column);
    return count < 0 ? 0 : (uint64_t)count;
}

static enum weft_code add_row(struct listing *listing, sqlite3_stmt *statement,
                              struct weft_err *err)
{
    struct weft_source_info *row = WEFT_VEC_PUSH(&listing->rows);
    if (!row)
        return weft_no_memory(err, "a list of sources");
    *row = (struct weft_source_info){
        .type = weft_arena_copy(listing->arena, weft_database_text(statement, 0)),
        .tag = weft_arena_copy(listing->arena, weft_database_text(statement, 1)),
        .host = weft_arena_copy(listing->arena, weft_database_text(statement, 2)),
        .path = weft_arena_copy(listing->arena, weft_database_text(statement, 3)),
        .executions = count_in(statement, 4),
        .unfinished = count_in(statement, 5),
        .realtime_ns = count_in(statement, 6),
        .is_complete = sqlite3_column_int(statement, 7) != 0,
    };
    const bool is_copied = row->type.bytes && row->tag.bytes && row->host.bytes && row->path.bytes;
    return is_copied ? WEFT_OK : weft_no_memory(err, "a list of sources");
}

/* Sources that are gone leave their executions behind, which nothing else would count. Where those
 * cannot all be read, they are counted as missing. */
static bool has_orphans(struct weft_database *database)
{
    int64_t n = 0;
    return database->version >= 3 &&
           weft_database_number(database,
                                "SELECT count(*) FROM blocks WHERE id >> 32 NOT IN "
                                "(SELECT id FROM sources)",
                                &n, NULL) == WEFT_OK &&
           n > 0;
}

enum weft_code weft_database_check_sources(struct weft_database *database, struct weft_err *err)
{
    char sql[768];
    int64_t n = 0;
    (void)snprintf(
        sql, sizeof sql,
        "SELECT count(*) FROM sources WHERE typeof(type) != 'text' OR typeof(tag) != 'text' OR "
        "typeof(fingerprint) != 'integer' OR typeof(path) != 'text' OR typeof(host) != 'text' OR "
        "typeof(realtime_ns) != 'integer' OR typeof(executions) != 'integer' OR "
        "typeof(unfinished) != 'integer' OR typeof(is_complete) != 'integer' OR (%s) IS NOT 1",
        weft_database_is_whole(database, WEFT_DATABASE_SOURCES));
    const enum weft_code code = weft_database_number(database, sql, &n, err);
    if (code != WEFT_OK || (n == 0 && !has_orphans(database)))
        return code;
    return weft_database_fail(database, SQLITE_CORRUPT, "reading sources", err);
}

enum weft_code weft_database_sources(struct weft_database *database, struct weft_arena *arena,
                                     struct weft_source_info **sources, size_t *n_sources,
                                     struct weft_err *err)
{
    struct listing listing = { .arena = arena };
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    *sources = NULL;
    enum weft_code code = weft_database_check_sources(database, err);
    WEFT_THEN(code, weft_database_prepare(
                        database,
                        "SELECT type, tag, host, path, executions, unfinished, realtime_ns, "
                        "is_complete FROM sources ORDER BY type, tag, id",
                        &statement, err));
    while (code == WEFT_OK && has_row) {
        code = weft_database_step(database, statement, &has_row, err);
        if (code == WEFT_OK && has_row)
            code = add_row(&listing, statement, err);
    }
    (void)sqlite3_finalize(statement);
    *n_sources = listing.rows.n;
    if (code == WEFT_OK && !weft_arena_copy_items(arena, sources, listing.rows.items,
                                                  listing.rows.n, sizeof **sources))
        code = weft_no_memory(err, "a list of sources");
    WEFT_VEC_FINI(&listing.rows);
    return code == WEFT_OK ? WEFT_OK : weft_in_file(err, database->path);
}
