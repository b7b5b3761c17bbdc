/* SPDX-License-Identifier: MIT
 *
 * What the columns of a table of spans mean, by their names, and how its times are written.
 */
#ifndef WEFT_INGEST_CSV_COLUMNS_H
#define WEFT_INGEST_CSV_COLUMNS_H

#include "base/decimal.h"
#include "ingest/csv/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum csv_role {
    CSV_START,
    CSV_END,
    CSV_DURATION,
    CSV_NAME,
    CSV_TID,
    CSV_PID,
    CSV_NODE,
    CSV_GENERATION,
    CSV_THREAD_NAME,
    CSV_CATEGORY,
    CSV_LEVEL,
    CSV_ARGS,
    CSV_FLAGS,
    CSV_ROLES,
    CSV_IGNORED, /* named "-" */
    CSV_UNKNOWN,
    CSV_THREAD, /* the tid, or beside one the thread's name: never a role in the end */
};

struct csv_column {
    uint8_t role; /* enum csv_role */
    bool has_unit;
    enum weft_decimal_unit unit;
};

struct csv_columns {
    uint16_t of_role[CSV_ROLES]; /* place of the column, or CSV_MOST_FIELDS */
    struct csv_column items[CSV_MOST_FIELDS];
    size_t n;
};

/* Of two columns of one role the first counts, the other is unknown. */
void csv_columns_read(const struct csv_row *header, struct csv_columns *columns);

/* True if spans can be made of them: a start, an end or a duration, and a name. */
bool csv_columns_suffice(const struct csv_columns *columns);

static inline bool csv_has(const struct csv_columns *columns, enum csv_role role)
{
    return columns->of_role[role] < CSV_MOST_FIELDS;
}

/* A point of time: a number in the column's unit, or a clock's time ("2024-05-01T12:00:00.5Z",
 * "1:02:03.25 PM"), from midnight if it has no date, of UTC if it has no zone. */
struct csv_time {
    struct weft_decimal_ns since;
    bool is_clock;
    bool has_date; /* since 1970 */
};
bool csv_time_read(struct weft_str text, enum weft_decimal_unit unit, struct csv_time *time);

#endif
