/* SPDX-License-Identifier: MIT
 *
 * Opening, creating, upgrading and locking of the file, statements with errors in weft's terms, and
 * the map of names. A file whose tables, views or triggers differ from those of a known version is
 * refused before any query runs. Reading and writing of executions are in load.c and write.c.
 */
#include "base/file.h"
#include "base/vec.h"
#include "query/database/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* "weft" */
enum { APPLICATION_ID = 0x77656674, VERSION = 4, WAIT_MS = 60000, LENGTH_MAX = 1 << 26 };

/* Tables that all versions have, with a column of sums since the third, and the one of each that
 * holds its executions. A version's tables are never changed: a file is refused that has others. */
#define TABLES(sum)                                                                                \
    {                                                                                              \
        "CREATE TABLE frames(id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, module TEXT" sum     \
        ")",                                                                                       \
            "CREATE TABLE nodes(id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER, "           \
            "confidence INTEGER" sum ")",                                                          \
            "CREATE TABLE threads(id INTEGER PRIMARY KEY, name TEXT" sum ")",                      \
            "CREATE TABLE metrics(id INTEGER PRIMARY KEY, unit INTEGER, name TEXT" sum ")",        \
            "CREATE TABLE sources(id INTEGER PRIMARY KEY, type TEXT, tag TEXT, fingerprint "       \
            "INTEGER, path TEXT, host TEXT, realtime_ns INTEGER, metrics BLOB, executions "        \
            "INTEGER, unfinished INTEGER, is_complete INTEGER" sum ")",                            \
    }
enum { N_TABLES = WEFT_DATABASE_TABLES };
static const char *const tables_of[VERSION][N_TABLES] = { TABLES(""), TABLES(""),
                                                          TABLES(", sum INTEGER"),
                                                          TABLES(", sum INTEGER") };
static const char *const tables_of_executions[VERSION] = {
    "CREATE TABLE executions(id INTEGER PRIMARY KEY, tree BLOB)",
    "CREATE TABLE blocks(id INTEGER PRIMARY KEY, bytes BLOB)",
    "CREATE TABLE blocks(id INTEGER PRIMARY KEY, bytes BLOB)",
    "CREATE TABLE blocks(id INTEGER PRIMARY KEY, bytes BLOB)",
};
/* Since version 4: what is known of the trace of a source. */
static const char table_of_facts[] =
    "CREATE TABLE facts(id INTEGER PRIMARY KEY, flags INTEGER, recorded_ns INTEGER, "
    "records INTEGER, lost_records INTEGER, own_cpu REAL, other_cpu REAL, idle_cpu REAL, "
    "bound REAL, wholes BLOB, work BLOB, uncertain BLOB, sum INTEGER)";

/* ---- errors and statements ------------------------------------------------------------------- */

enum weft_code weft_database_fail(const struct weft_database *database, int status,
                                  const char *what, struct weft_err *err)
{
    /* Its words on damage hold bytes of the file: those alone are not shown. */
    const char *text = database->file && (status & 0xff) != SQLITE_CORRUPT
                           ? sqlite3_errmsg(database->file)
                           : sqlite3_errstr(status);
    const int number = database->file && (status & 0xff) == SQLITE_IOERR
                           ? sqlite3_system_errno(database->file)
                           : 0;
    switch (status & 0xff) {
    case SQLITE_NOMEM:
        return weft_no_memory(err, "a database");
    case SQLITE_INTERRUPT:
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return weft_fail(err, WEFT_E_IO, WEFT_NO_OFFSET,
                         "%s: another program has been writing to the database for too long; try "
                         "again when it is done",
                         what);
    case SQLITE_NOTADB:
        return weft_fail(err, WEFT_E_MALFORMED, 0,
                         "expected a database of executions, found another file");
    case SQLITE_CORRUPT:
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "%s: the database is damaged (%s); `sqlite3 FILE .recover | sqlite3 NEW` "
                         "saves what can be read, with an sqlite3 that has it (Debian's does not)",
                         what, text);
    case SQLITE_READONLY:
        return weft_fail(
            err, WEFT_E_IO, WEFT_NO_OFFSET,
            status == SQLITE_READONLY_ROLLBACK
                ? "%s: a writer was killed; to repair the database, weft must be allowed "
                  "to write the database and its folder"
                : "%s: the database, or the folder that it is in, may not be written",
            what);
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return weft_fail(err, WEFT_E_IO, WEFT_NO_OFFSET, "%s: %s%s%s", what, text,
                         number ? ": " : "", number ? strerror(number) : "");
    default:
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "%s: the database is not as expected: %s", what, text);
    }
}

enum weft_code weft_database_do(struct weft_database *database, const char *sql, const char *what,
                                struct weft_err *err)
{
    const int status = sqlite3_exec(database->file, sql, NULL, NULL, NULL);
    return status == SQLITE_OK ? WEFT_OK : weft_database_fail(database, status, what, err);
}

enum weft_code weft_database_prepare(struct weft_database *database, const char *sql,
                                     sqlite3_stmt **statement, struct weft_err *err)
{
    const int status = sqlite3_prepare_v2(database->file, sql, -1, statement, NULL);
    return status == SQLITE_OK ? WEFT_OK : weft_database_fail(database, status, "reading", err);
}

enum weft_code weft_database_step(struct weft_database *database, sqlite3_stmt *statement,
                                  bool *has_row, struct weft_err *err)
{
    const int status = sqlite3_step(statement);
    *has_row = status == SQLITE_ROW;
    return status == SQLITE_ROW || status == SQLITE_DONE
               ? WEFT_OK
               : weft_database_fail(database, status,
                                    sqlite3_stmt_readonly(statement) ? "reading" : "writing", err);
}

bool weft_database_bind_text(sqlite3_stmt *statement, int place, struct weft_str text)
{
    return text.n_bytes <= LENGTH_MAX &&
           sqlite3_bind_text(statement, place, text.n_bytes ? text.bytes : "", (int)text.n_bytes,
                             SQLITE_TRANSIENT) == SQLITE_OK;
}

bool weft_database_row_is(sqlite3_stmt *statement, const char *types)
{
    for (int i = 0; types[i]; i++) {
        const int expected = types[i] == 'i' ? SQLITE_INTEGER : SQLITE_TEXT;
        if (sqlite3_column_type(statement, i) != expected)
            return false;
    }
    return true;
}

struct weft_str weft_database_text(sqlite3_stmt *statement, int column)
{
    const char *bytes = (const char *)sqlite3_column_text(statement, column);
    const int n_bytes = sqlite3_column_bytes(statement, column);
    return (struct weft_str){ bytes ? bytes : "", bytes && n_bytes > 0 ? (size_t)n_bytes : 0 };
}

enum weft_code weft_database_number(struct weft_database *database, const char *sql,
                                    int64_t *number, struct weft_err *err)
{
    sqlite3_stmt *statement = NULL;
    bool has_row = false;
    enum weft_code code = weft_database_prepare(database, sql, &statement, err);
    WEFT_THEN(code, weft_database_step(database, statement, &has_row, err));
    *number = has_row ? sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_finalize(statement);
    return code;
}

enum weft_code weft_database_lock(struct weft_database *database, struct weft_err *err)
{
    if (database->is_open)
        return WEFT_OK;
    enum weft_code code = weft_database_do(database, "BEGIN IMMEDIATE", "writing", err);
    database->is_open = code == WEFT_OK;
    return code;
}

void weft_database_rollback(struct weft_database *database)
{
    if (database->is_open)
        (void)sqlite3_exec(database->file, "ROLLBACK", NULL, NULL, NULL);
    database->is_open = false;
}

static int is_cancelled(void *progress)
{
    return weft_progress_is_cancelled(progress);
}

void weft_database_watch(struct weft_database *database, const struct weft_progress *progress)
{
    enum { INSTRUCTIONS = 100 }; /* of SQLite's machine; a row is some ten of them */
    sqlite3_progress_handler(database->file, INSTRUCTIONS, progress ? is_cancelled : NULL,
                             (void *)(uintptr_t)progress);
}

void weft_database_wait(struct weft_database *database, uint32_t limit_ms)
{
    (void)sqlite3_busy_timeout(database->file, limit_ms > INT32_MAX ? INT32_MAX : (int)limit_ms);
}

/* ---- versions -------------------------------------------------------------------------------- */

/* Whether the statement that made a table is one of ours. */
static bool is_ours(struct weft_str sql, int64_t version)
{
    bool is_found =
        version > 0 && weft_str_equal(sql, weft_str_of(tables_of_executions[version - 1]));
    is_found |= version >= WEFT_DATABASE_FACTS && weft_str_equal(sql, weft_str_of(table_of_facts));
    for (size_t i = 0; i < N_TABLES && version > 0; i++)
        is_found |= weft_str_equal(sql, weft_str_of(tables_of[version - 1][i]));
    return is_found;
}

/* Tables of other forms, views and triggers could make a query do anything. */
static enum weft_code check_tables(struct weft_database *database, int64_t version,
                                   struct weft_err *err)
{
    static const char sql[] =
        "SELECT sql FROM sqlite_master WHERE type != 'table' OR name NOT LIKE 'sqlite\\_%' "
        "ESCAPE '\\'";
    sqlite3_stmt *statement = NULL;
    bool has_row = true;
    size_t n_tables = 0;
    const size_t n_expected = N_TABLES + 1 + (version >= WEFT_DATABASE_FACTS);
    enum weft_code code = weft_database_prepare(database, sql, &statement, err);
    while (code == WEFT_OK && has_row) {
        code = weft_database_step(database, statement, &has_row, err);
        if (code == WEFT_OK && has_row && !is_ours(weft_database_text(statement, 0), version))
            code = weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                             "expected the tables of a database of executions, found others");
        n_tables += code == WEFT_OK && has_row;
    }
    (void)sqlite3_finalize(statement);
    if (code == WEFT_OK && n_tables < n_expected && version > 0)
        code = weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected %zu tables of executions, found %zu", n_expected, n_tables);
    return code;
}

enum weft_code weft_database_check(struct weft_database *database, struct weft_err *err)
{
    int64_t application = 0, n_tables = 0, version = 0;
    enum weft_code code =
        weft_database_number(database, "PRAGMA application_id", &application, err);
    WEFT_THEN(code, weft_database_number(database, "PRAGMA user_version", &version, err));
    WEFT_THEN(code,
              weft_database_number(database, "SELECT count(*) FROM sqlite_master", &n_tables, err));
    if (code != WEFT_OK)
        return code;
    const bool is_new = application == 0 && version == 0 && n_tables == 0;
    if (application != APPLICATION_ID && !(is_new && database->mode == WEFT_DATABASE_WRITE))
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected a database of executions, found one of another program");
    if (version > VERSION)
        return weft_fail(err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET,
                         "the database has version %lld, this program reads %d: a newer weft reads "
                         "it",
                         (long long)version, VERSION);
    if (version < 1 && !is_new)
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected a database of version 1 to %d, found %lld", VERSION,
                         (long long)version);
    database->version = version;
    return check_tables(database, version, err);
}

/* From no tables at all. */
static enum weft_code make_tables(struct weft_database *database, struct weft_err *err)
{
    enum weft_code code =
        weft_database_do(database, tables_of_executions[VERSION - 1], "making tables", err);
    for (size_t i = 0; i < N_TABLES && code == WEFT_OK; i++)
        code = weft_database_do(database, tables_of[VERSION - 1][i], "making tables", err);
    return code;
}

/* From version 1 to 2. */
static enum weft_code make_blocks(struct weft_database *database, struct weft_err *err)
{
    enum weft_code code = weft_database_do(database, tables_of_executions[1], "upgrading", err);
    WEFT_THEN(code, weft_database_upgrade_1(database, err));
    return code == WEFT_OK ? weft_database_do(database, "DROP TABLE executions", "upgrading", err)
                           : code;
}

static enum weft_code migrate(struct weft_database *database, struct weft_err *err)
{
    char sql[96];
    (void)snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                   APPLICATION_ID, VERSION);
    enum weft_code code = WEFT_OK;
    if (database->version == 0)
        code = make_tables(database, err);
    if (database->version == 1)
        code = make_blocks(database, err);
    if (code == WEFT_OK && database->version > 0 && database->version < 3)
        code = weft_database_add_sums(database, err);
    WEFT_THEN(code, weft_database_do(database, table_of_facts, "making tables", err));
    database->version = VERSION;
    return code == WEFT_OK ? weft_database_do(database, sql, "making tables", err) : code;
}

/* All that is checked is of one state of the file, which another program may be making. */
static enum weft_code check_alone(struct weft_database *database, struct weft_err *err)
{
    enum weft_code code = weft_database_do(database, "BEGIN", "reading", err);
    database->is_open = code == WEFT_OK;
    WEFT_THEN(code, weft_database_check(database, err));
    weft_database_rollback(database);
    return code;
}

/* Of two that make a file, or bring it to this version, the second waits, and finds it done. */
static enum weft_code bring_up(struct weft_database *database, struct weft_err *err)
{
    enum weft_code code = check_alone(database, err);
    if (code != WEFT_OK || database->version == VERSION || database->mode == WEFT_DATABASE_READ)
        return code;
    code = weft_database_lock(database, err);
    WEFT_THEN(code, weft_database_check(database, err));
    if (code == WEFT_OK && database->version < VERSION)
        code = migrate(database, err);
    WEFT_THEN(code, weft_database_commit(database, err));
    weft_database_rollback(database);
    return code;
}

/* ---- opening --------------------------------------------------------------------------------- */

bool weft_database_is(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char bytes[sizeof magic] = { 0 };
    struct stat about;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rbe") : NULL;
    const bool is_read = file && fread(bytes, sizeof bytes, 1, file) == 1;
    if (file)
        (void)fclose(file);
    return is_read && memcmp(bytes, magic, sizeof magic) == 0;
}

/* A file left by a writer that was killed is put right by whoever opens it next: for that, readers
 * write too, if they may. */
static int flags_of(const char *path, enum weft_database_mode mode)
{
    const int how = mode == WEFT_DATABASE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                    : access(path, W_OK) == 0   ? SQLITE_OPEN_READWRITE
                                                : SQLITE_OPEN_READONLY;
    return how | SQLITE_OPEN_NOMUTEX;
}

/* SQLite opens what it may not write to be read, and does not tell what else failed. The file is
 * not opened to find out: to close it would end the locks that this program has on it. */
static enum weft_code check_path(char *path, enum weft_database_mode mode, struct weft_err *err)
{
    const bool is_write = mode == WEFT_DATABASE_WRITE;
    struct stat about;
    int status = stat(path, &about);
    if (status == 0 && !S_ISREG(about.st_mode))
        return weft_fail(err, WEFT_E_IO, WEFT_NO_OFFSET,
                         "expected a database of executions, or a name that no file has yet, "
                         "found %s",
                         S_ISDIR(about.st_mode) ? "a directory" : "no regular file");
    if (status == 0)
        status = access(path, is_write ? R_OK | W_OK : R_OK);
    else if (is_write && errno == ENOENT) {
        char *name = strrchr(path, '/') + 1, first = *name; /* the path has one */
        *name = 0;
        status = access(path, W_OK | X_OK);
        *name = first;
    }
    return status == 0 ? WEFT_OK : weft_fail_errno(err, errno, "opening");
}

/* SQLite would give a new file the mode that the umask leaves, and gives what it keeps beside it
 * the mode of the file. Nothing is to be closed of one that is there already: see check_path. */
static enum weft_code make_private(const char *path, struct weft_err *err)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return errno == EEXIST ? WEFT_OK : weft_fail_errno(err, errno, "opening");
    (void)fchmod(fd, S_IRUSR | S_IWUSR); /* whatever the umask takes away */
    (void)close(fd);
    return WEFT_OK;
}

static enum weft_code open_file(struct weft_database *database, struct weft_err *err)
{
    static const char settings[] = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; "
                                   "PRAGMA temp_store = MEMORY";
    char path[4096]; /* names such as ":memory:" are files here */
    const int n =
        snprintf(path, sizeof path, "%s%s", database->path[0] == '/' ? "" : "./", database->path);
    if (n < 0 || (size_t)n >= sizeof path || database->path[0] == 0)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected the name of a database");
    enum weft_code code = check_path(path, database->mode, err);
    if (code == WEFT_OK && database->mode == WEFT_DATABASE_WRITE)
        code = make_private(path, err);
    if (code != WEFT_OK)
        return code;
    const int status = sqlite3_open_v2(path, &database->file, flags_of(path, database->mode), NULL);
    if (status != SQLITE_OK)
        return weft_database_fail(database, status, "opening", err);
    (void)sqlite3_extended_result_codes(database->file, 1);
    (void)sqlite3_limit(database->file, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
    (void)sqlite3_db_config(database->file, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    weft_database_wait(database, WAIT_MS);
    if (!weft_database_make_sums(database))
        return weft_no_memory(err, "a database");
    return weft_database_do(database, settings, "opening", err);
}

enum weft_code weft_database_open(const char *path, enum weft_database_mode mode,
                                  struct weft_database **database, struct weft_err *err)
{
    struct weft_database *made = calloc(1, sizeof *made);
    *database = NULL;
    if (made)
        made->path = strdup(path);
    if (!made || !made->path) {
        weft_database_close(made);
        return weft_no_memory(err, "a database");
    }
    made->mode = mode;
    enum weft_code code = open_file(made, err);
    WEFT_THEN(code, bring_up(made, err));
    if (code != WEFT_OK) {
        weft_database_close(made);
        return weft_in_file(err, path);
    }
    *database = made;
    return WEFT_OK;
}

void weft_database_close(struct weft_database *database)
{
    if (!database)
        return;
    weft_database_rollback(database);
    weft_database_writer_free(database->writer);
    (void)sqlite3_close(database->file);
    weft_strtab_free(database->mapped);
    weft_map_free(database->map_from);
    WEFT_VEC_FINI(&database->map_to);
    free(database->path);
    free(database);
}

/* ---- names ----------------------------------------------------------------------------------- */

struct weft_str weft_database_mapped(const struct weft_database *database, struct weft_str name)
{
    uint32_t id;
    if (!database->mapped || weft_strtab_intern(database->mapped, name, &id, NULL) != WEFT_OK)
        return name;
    const uint32_t place = weft_map_find(database->map_from, id);
    return place == WEFT_MAP_NONE
               ? name
               : weft_strtab_get(database->mapped, database->map_to.items[place]);
}

static struct weft_str trimmed(struct weft_str text)
{
    while (text.n_bytes && strchr(" \t\r", text.bytes[text.n_bytes - 1]))
        text.n_bytes--;
    while (text.n_bytes && strchr(" \t", *text.bytes)) {
        text.bytes++;
        text.n_bytes--;
    }
    return text;
}

static enum weft_code map_name(struct weft_database *database, struct weft_str line,
                               uint64_t number, struct weft_err *err)
{
    static const char arrow[] = " -> ";
    const char *at = memmem(line.bytes, line.n_bytes, arrow, strlen(arrow));
    struct weft_str from = { line.bytes, at ? (size_t)(at - line.bytes) : 0 };
    from = trimmed(from);
    if (from.n_bytes == 0)
        return weft_fail_line(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET, number,
                              "expected OLD -> NEW, found '%.*s'",
                              (int)(line.n_bytes < 60 ? line.n_bytes : 60), line.bytes);
    const char *rest = at + strlen(arrow);
    const struct weft_str to =
        trimmed((struct weft_str){ rest, (size_t)(line.bytes + line.n_bytes - rest) });
    uint32_t from_id, to_id;
    bool is_new;
    if (to.n_bytes == 0)
        return weft_fail_line(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET, number,
                              "expected a name after '->', found none");
    enum weft_code code = weft_strtab_intern(database->mapped, from, &from_id, err);
    WEFT_THEN(code, weft_strtab_intern(database->mapped, to, &to_id, err));
    if (code != WEFT_OK)
        return code;
    const uint32_t place = weft_map_add(database->map_from, from_id, &is_new);
    if (place != WEFT_MAP_NONE && !is_new)
        return weft_fail_line(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET, number,
                              "'%.*s' is renamed twice",
                              (int)(from.n_bytes < 60 ? from.n_bytes : 60), from.bytes);
    uint32_t *made = place != WEFT_MAP_NONE ? WEFT_VEC_PUSH(&database->map_to) : NULL;
    if (!made)
        return weft_no_memory(err, "names");
    *made = to_id;
    return WEFT_OK;
}

static enum weft_code map_lines(struct weft_database *database, const struct weft_mapped *file,
                                struct weft_err *err)
{
    const char *at = (const char *)file->bytes, *end = at + file->n_bytes;
    enum weft_code code = WEFT_OK;
    for (uint64_t number = 1; at < end && code == WEFT_OK; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const struct weft_str line =
            trimmed((struct weft_str){ at, (size_t)((stop ? stop : end) - at) });
        if (line.n_bytes && *line.bytes != '#')
            code = map_name(database, line, number, err);
        at = stop ? stop + 1 : end;
    }
    return code;
}

enum weft_code weft_database_map_names(struct weft_database *database, const char *path,
                                       struct weft_err *err)
{
    struct weft_mapped file;
    enum weft_code code = weft_mapped_open(path, &file, err);
    if (code != WEFT_OK)
        return weft_in_file(err, path);
    if (!database->mapped)
        database->mapped = weft_strtab_new();
    if (!database->map_from)
        database->map_from = weft_map_new();
    code = database->mapped && database->map_from ? map_lines(database, &file, err)
                                                  : weft_no_memory(err, "names");
    weft_mapped_close(&file);
    return code == WEFT_OK ? WEFT_OK : weft_in_file(err, path);
}
