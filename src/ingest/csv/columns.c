/* SPDX-License-Identifier: MIT
 *
 * Maps column names to roles by a table of aliases, with a unit as suffix ("_us"), and reads times
 * as numbers or as dates and times of day. A column that is not recognised is counted and ignored.
 * No state beyond the struct of the caller.
 */
#include "ingest/csv/columns.h"

#include <string.h>

enum { NAME_BYTES = 48 };

/* ---- names ---------------------------------------------------------------------------------- */

static const struct alias {
    const char *name;
    enum csv_role role;
} aliases[] = {
    { "start", CSV_START },
    { "begin", CSV_START },
    { "ts", CSV_START },
    { "time", CSV_START },
    { "timestamp", CSV_START },
    { "start_time", CSV_START },
    { "begin_time", CSV_START },
    { "starttime", CSV_START },
    { "time_of_day", CSV_START },
    { "end", CSV_END },
    { "stop", CSV_END },
    { "finish", CSV_END },
    { "end_time", CSV_END },
    { "stop_time", CSV_END },
    { "endtime", CSV_END },
    { "duration", CSV_DURATION },
    { "dur", CSV_DURATION },
    { "elapsed", CSV_DURATION },
    { "latency", CSV_DURATION },
    { "name", CSV_NAME },
    { "function", CSV_NAME },
    { "func", CSV_NAME },
    { "operation", CSV_NAME },
    { "op", CSV_NAME },
    { "event", CSV_NAME },
    { "span", CSV_NAME },
    { "tid", CSV_TID },
    { "thread", CSV_THREAD },
    { "thread_id", CSV_TID },
    { "threadid", CSV_TID },
    { "pid", CSV_PID },
    { "process_id", CSV_PID },
    { "processid", CSV_PID },
    { "node", CSV_NODE },
    { "host", CSV_NODE },
    { "hostname", CSV_NODE },
    { "machine", CSV_NODE },
    { "generation", CSV_GENERATION },
    { "thread_name", CSV_THREAD_NAME },
    { "threadname", CSV_THREAD_NAME },
    { "category", CSV_CATEGORY },
    { "cat", CSV_CATEGORY },
    { "module", CSV_CATEGORY },
    { "component", CSV_CATEGORY },
    { "level", CSV_LEVEL },
    { "depth", CSV_LEVEL },
    { "args", CSV_ARGS },
    { "arguments", CSV_ARGS },
    { "detail", CSV_ARGS },
    { "details", CSV_ARGS },
    { "path", CSV_ARGS },
    { "flags", CSV_FLAGS },
    { "self_ns", CSV_IGNORED }, /* follows from the others */
    { "-", CSV_IGNORED },
};

static const struct unit_name {
    const char *suffix;
    enum weft_decimal_unit unit;
} units[] = {
    { "_ns", WEFT_DECIMAL_NS }, { "_nsec", WEFT_DECIMAL_NS }, { "_nanoseconds", WEFT_DECIMAL_NS },
    { "_us", WEFT_DECIMAL_US }, { "_usec", WEFT_DECIMAL_US }, { "_microseconds", WEFT_DECIMAL_US },
    { "_ms", WEFT_DECIMAL_MS }, { "_msec", WEFT_DECIMAL_MS }, { "_milliseconds", WEFT_DECIMAL_MS },
    { "_s", WEFT_DECIMAL_S },   { "_sec", WEFT_DECIMAL_S },   { "_seconds", WEFT_DECIMAL_S },
};

static bool is_word_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
}

/* "Start Time (us)" becomes "start_time_us", and a Greek mu a u. False if it is too long. */
static bool normalise(const struct weft_str *text, char name[NAME_BYTES])
{
    size_t n = 0;
    for (size_t k = 0; k < text->n_bytes; k++) {
        char letter = text->bytes[k];
        bool is_micro = k + 1 < text->n_bytes && (memcmp(text->bytes + k, "\xc2\xb5", 2) == 0 ||
                                                  memcmp(text->bytes + k, "\xce\xbc", 2) == 0);
        if (n + 2 >= NAME_BYTES)
            return false;
        if (letter >= 'A' && letter <= 'Z')
            letter = (char)(letter - 'A' + 'a');
        k += is_micro;
        if (is_micro)
            name[n++] = 'u';
        else if (is_word_letter(letter))
            name[n++] = letter;
        else if (n && name[n - 1] != '_')
            name[n++] = '_';
    }
    n -= n && name[n - 1] == '_';
    name[n] = '\0';
    return true;
}

static enum csv_role role_of(const char *name, size_t n_bytes)
{
    for (size_t k = 0; k < sizeof aliases / sizeof *aliases; k++)
        if (strlen(aliases[k].name) == n_bytes && memcmp(aliases[k].name, name, n_bytes) == 0)
            return aliases[k].role;
    return CSV_UNKNOWN;
}

static struct csv_column column_of(const struct weft_str *text)
{
    char name[NAME_BYTES];
    struct csv_column column = { .role = CSV_UNKNOWN };
    if (text->n_bytes == 0 || (text->n_bytes == 1 && *text->bytes == '-'))
        column.role = CSV_IGNORED;
    else if (normalise(text, name))
        column.role = (uint8_t)role_of(name, strlen(name));
    else
        return column;
    for (size_t k = 0; column.role == CSV_UNKNOWN && k < sizeof units / sizeof *units; k++) {
        size_t n_suffix = strlen(units[k].suffix);
        size_t n_name = strlen(name);
        if (n_name <= n_suffix || strcmp(name + n_name - n_suffix, units[k].suffix) != 0)
            continue;
        enum csv_role role = role_of(name, n_name - n_suffix);
        if (role <= CSV_DURATION)
            column = (struct csv_column){ .role = (uint8_t)role,
                                          .has_unit = true,
                                          .unit = units[k].unit };
    }
    return column;
}

/* "thread" is what no other column is. */
static void settle_threads(struct csv_columns *columns)
{
    for (size_t k = 0; k < columns->n; k++) {
        if (columns->items[k].role != CSV_THREAD)
            continue;
        enum csv_role role = !csv_has(columns, CSV_TID)           ? CSV_TID
                             : !csv_has(columns, CSV_THREAD_NAME) ? CSV_THREAD_NAME
                                                                  : CSV_UNKNOWN;
        columns->items[k].role = (uint8_t)role;
        if (role != CSV_UNKNOWN)
            columns->of_role[role] = (uint16_t)k;
    }
}

void csv_columns_read(const struct csv_row *header, struct csv_columns *columns)
{
    columns->n = header->n_fields;
    for (size_t role = 0; role < CSV_ROLES; role++)
        columns->of_role[role] = CSV_MOST_FIELDS;
    for (size_t k = 0; k < header->n_fields; k++) {
        struct csv_column *column = &columns->items[k];
        *column = column_of(&header->fields[k].text);
        if (column->role < CSV_ROLES && csv_has(columns, (enum csv_role)column->role))
            column->role = CSV_UNKNOWN;
        if (column->role < CSV_ROLES)
            columns->of_role[column->role] = (uint16_t)k;
    }
    settle_threads(columns);
}

bool csv_columns_suffice(const struct csv_columns *columns)
{
    return csv_has(columns, CSV_START) && csv_has(columns, CSV_NAME) &&
           (csv_has(columns, CSV_END) || csv_has(columns, CSV_DURATION));
}

/* ---- times ---------------------------------------------------------------------------------- */

struct digits {
    const char *at, *end;
};

static bool take_number(struct digits *text, unsigned n_least, unsigned n_most, int64_t *number)
{
    unsigned n = 0;
    *number = 0;
    for (; text->at < text->end && n < n_most && (unsigned)(*text->at - '0') <= 9; n++)
        *number = *number * 10 + (*text->at++ - '0');
    return n >= n_least;
}

static bool take_letter(struct digits *text, char letter)
{
    if (text->at == text->end || *text->at != letter)
        return false;
    text->at++;
    return true;
}

/* Days from 1970-01-01 in the Gregorian calendar, from years that begin in March. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

/* "2024-05-01T", or nothing. False if it begins like a date and is none. */
static bool take_date(struct digits *text, int64_t *days, bool *has_date)
{
    struct digits ahead = *text;
    int64_t year;
    int64_t month;
    int64_t day;
    *days = 0;
    *has_date = false;
    if (!take_number(&ahead, 4, 4, &year) || !take_letter(&ahead, '-'))
        return true;
    if (!take_number(&ahead, 2, 2, &month) || !take_letter(&ahead, '-') ||
        !take_number(&ahead, 2, 2, &day) ||
        (!take_letter(&ahead, 'T') && !take_letter(&ahead, ' ')) || month < 1 || month > 12 ||
        day < 1 || day > 31)
        return false;
    *days = days_of(year, month, day);
    *has_date = true;
    *text = ahead;
    return true;
}

/* " PM": twelve hours later, but for 12 o'clock. */
static bool take_half(struct digits *text, int64_t *hours)
{
    struct digits ahead = *text;
    (void)take_letter(&ahead, ' ');
    if (ahead.end - ahead.at < 2 || (ahead.at[1] | 0x20) != 'm')
        return true;
    char half = (char)(ahead.at[0] | 0x20);
    if ((half != 'a' && half != 'p') || *hours < 1 || *hours > 12)
        return false;
    *hours = *hours % 12 + (half == 'p' ? 12 : 0);
    ahead.at += 2;
    *text = ahead;
    return true;
}

/* "Z", "+01:00", "-0530", or nothing. */
static bool take_zone(struct digits *text, int64_t *east_seconds)
{
    int64_t hours;
    int64_t minutes = 0;
    *east_seconds = 0;
    if (text->at == text->end || take_letter(text, 'Z'))
        return true;
    bool is_west = take_letter(text, '-');
    if ((!is_west && !take_letter(text, '+')) || !take_number(text, 2, 2, &hours))
        return false;
    (void)take_letter(text, ':');
    if (text->at < text->end && !take_number(text, 2, 2, &minutes))
        return false;
    *east_seconds = (hours * 60 + minutes) * (is_west ? -60 : 60);
    return true;
}

static bool clock_read(struct weft_str whole, struct csv_time *time)
{
    struct digits text = { whole.bytes, whole.bytes + whole.n_bytes };
    struct weft_decimal_ns below = { 0 };
    int64_t days;
    int64_t hours;
    int64_t minutes;
    int64_t seconds;
    int64_t east;
    if (!take_date(&text, &days, &time->has_date) || !take_number(&text, 1, 2, &hours) ||
        !take_letter(&text, ':') || !take_number(&text, 2, 2, &minutes) ||
        !take_letter(&text, ':') || !take_number(&text, 2, 2, &seconds))
        return false;
    const char *point = text.at;
    if (take_letter(&text, '.')) {
        while (text.at < text.end && (unsigned)(*text.at - '0') <= 9)
            text.at++;
        if (!weft_decimal_parse(point, (size_t)(text.at - point), WEFT_DECIMAL_S, &below))
            return false;
    }
    if (!take_half(&text, &hours) || !take_zone(&text, &east) || text.at != text.end ||
        hours > 24 || minutes > 59 || seconds > 60)
        return false;
    int64_t sum = ((days * 24 + hours) * 60 + minutes) * 60 + seconds - east;
    if (sum > WEFT_DECIMAL_MOST_NS / 1000000000 - 1 || sum < -WEFT_DECIMAL_MOST_NS / 1000000000)
        return false;
    time->since =
        (struct weft_decimal_ns){ .ns = sum * 1000000000 + below.ns, .fraction = below.fraction };
    time->is_clock = true;
    return true;
}

bool csv_time_read(struct weft_str text, enum weft_decimal_unit unit, struct csv_time *time)
{
    while (text.n_bytes && *text.bytes == ' ') {
        text.bytes++;
        text.n_bytes--;
    }
    while (text.n_bytes && text.bytes[text.n_bytes - 1] == ' ')
        text.n_bytes--;
    *time = (struct csv_time){ 0 };
    if (text.n_bytes == 0)
        return false;
    return weft_decimal_parse(text.bytes, text.n_bytes, unit, &time->since) ||
           clock_read(text, time);
}
