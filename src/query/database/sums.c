/* SPDX-License-Identifier: MIT
 *
 * Sums of the rows of small tables: a bit that changes in a name or a number makes a row that is
 * not there. SQLite checks the form of its pages, not their contents.
 */
#include "query/database/file.h"

#include <xxhash.h>

enum { FIRST_VERSION = 3 };

static const struct {
    const char *name, *columns, *is_whole;
} tables[WEFT_DATABASE_TABLES] = {
#define TABLE(name, columns)                                                                       \
    {                                                                                              \
        name, columns, "sum = weft_sum(" columns ")"                                               \
    }
    [WEFT_DATABASE_FRAMES] = TABLE("frames", "id, kind, name, module"),
    [WEFT_DATABASE_NODES] = TABLE("nodes", "id, parent, frame, confidence"),
    [WEFT_DATABASE_THREADS] = TABLE("threads", "id, name"),
    [WEFT_DATABASE_METRICS] = TABLE("metrics", "id, unit, name"),
    [WEFT_DATABASE_SOURCES] = TABLE("sources", "id, type, tag, fingerprint, path, host, "
                                               "realtime_ns, metrics, executions, unfinished, "
                                               "is_complete"),
#undef TABLE
};

const char *weft_database_is_whole(const struct weft_database *database,
                                   enum weft_database_table table)
{
    return database->version < FIRST_VERSION ? "1" : tables[table].is_whole;
}

/* Each value is hashed with the hash of those before it, and its type, as its seed. */
static void sum(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    XXH64_hash_t hash = 0;
    for (int i = 0; i < n_values; i++) {
        const int type = sqlite3_value_type(values[i]);
        hash += (XXH64_hash_t)type + 1;
        if (type == SQLITE_INTEGER) {
            const sqlite3_int64 number = sqlite3_value_int64(values[i]);
            uint8_t bytes[sizeof number];
            for (size_t k = 0; k < sizeof bytes; k++)
                bytes[k] = (uint8_t)((uint64_t)number >> 8 * k);
            hash = XXH3_64bits_withSeed(bytes, sizeof bytes, hash);
        } else if (type == SQLITE_FLOAT) {
            const double number = sqlite3_value_double(values[i]);
            hash = XXH3_64bits_withSeed(&number, sizeof number, hash);
        } else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
            const void *bytes = type == SQLITE_TEXT ? (const void *)sqlite3_value_text(values[i])
                                                    : sqlite3_value_blob(values[i]);
            const int n_bytes = sqlite3_value_bytes(values[i]);
            hash = XXH3_64bits_withSeed(bytes ? bytes : "", bytes ? (size_t)n_bytes : 0, hash);
        }
    }
    sqlite3_result_int64(context, (sqlite3_int64)hash);
}

bool weft_database_make_sums(struct weft_database *database)
{
    return sqlite3_create_function(database->file, "weft_sum", -1,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                   sum, NULL, NULL) == SQLITE_OK;
}

enum weft_code weft_database_add_sums(struct weft_database *database, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < WEFT_DATABASE_TABLES && code == WEFT_OK; i++) {
        char sql[512];
        (void)snprintf(sql, sizeof sql,
                       "ALTER TABLE %s ADD COLUMN sum INTEGER; UPDATE %s SET sum = weft_sum(%s)",
                       tables[i].name, tables[i].name, tables[i].columns);
        code = weft_database_do(database, sql, "upgrading", err);
    }
    return code;
}
