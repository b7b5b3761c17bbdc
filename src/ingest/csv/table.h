/* SPDX-License-Identifier: MIT
 *
 * Inside the importer: what is known about a table between reading and delivering it.
 */
#ifndef WEFT_INGEST_CSV_TABLE_H
#define WEFT_INGEST_CSV_TABLE_H

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "base/sort.h"
#include "base/str.h"
#include "ingest/csv/columns.h"
#include "schema/sink.h"

/* Added to every time, so that it is not negative. */
#define CSV_BIAS_NS ((uint64_t)WEFT_DECIMAL_MOST_NS)

/* A row, as a record of the sorter. */
struct csv_record {
    uint64_t time;   /* biased ns: what is sorted by */
    uint64_t end;    /* biased ns */
    uint64_t args;   /* offset of the arguments, has_quotes and flags: csv_args_pack */
    uint32_t n_args; /* 0: none */
    uint32_t key;    /* function */
    uint32_t level;  /* 0 if unknown */
    uint32_t place;  /* among rows of one time */
};
_Static_assert(sizeof(struct csv_record) == sizeof(struct weft_sort_record),
               "a record fits the sorter");

enum { CSV_ARGS_OFF_BITS = 59, CSV_FLAG_BITS = 4 };

static inline uint64_t csv_args_pack(uint64_t off, bool has_quotes, uint8_t flags)
{
    return off | (uint64_t)flags << CSV_ARGS_OFF_BITS | (uint64_t)has_quotes << 63;
}

static inline uint64_t csv_args_off(uint64_t args)
{
    return args & ((UINT64_C(1) << CSV_ARGS_OFF_BITS) - 1);
}

static inline uint8_t csv_args_flags(uint64_t args)
{
    return args >> CSV_ARGS_OFF_BITS & ((1 << CSV_FLAG_BITS) - 1);
}

struct csv_thread {
    uint64_t pid, tid; /* as shown */
    uint32_t node;     /* number of the node */
    uint32_t generation;
    uint32_t name;      /* in texts, or WEFT_ID_NONE */
    uint32_t thread_id; /* the sink's */
    uint64_t first, last;
};

struct csv_text {
    char *items;
    size_t n, cap;
};

struct csv_table {
    const struct weft_mapped *file;
    struct weft_sink *sink;
    const struct weft_run *run;
    struct weft_sorter *sorter; /* a lane a thread */
    struct csv_columns columns;
    char unknown[96]; /* names of columns that mean nothing here */
    struct csv_rows rows;
    uint64_t n_rows;
    uint64_t first; /* biased ns */
    bool has_date;

    struct weft_strtab *functions; /* name, NUL, category: the id is the key */
    struct {
        size_t *items; /* by key: bytes of the name */
        size_t n, cap;
    } name_bytes;
    struct weft_strtab *identities; /* node, pid, tid, generation: the id is the thread */
    struct weft_strtab *nodes, *texts;
    struct {
        struct csv_thread *items;
        size_t n, cap;
    } threads;
    uint32_t *order; /* threads in the sink's order */
    struct csv_text scratch;

    uint64_t n_bad_bytes, first_bad_off, first_bad_line;
    const char *first_bad; /* why */
    uint64_t n_long_args;
    uint64_t line; /* of the row in work, from 1 */
    uint64_t reported_off;
    uint64_t open_off; /* of a row that ends within quotes; UINT64_MAX: none */
    struct csv_row row;
};

static inline struct weft_progress *csv_progress(const struct csv_table *table)
{
    return table->run ? table->run->progress : NULL;
}

/* read.c: all rows, into the sorter. */
WEFT_CHECKED enum weft_code csv_read(struct csv_table *table, struct weft_err *err);

/* deliver.c: all threads, to the sink. */
WEFT_CHECKED enum weft_code csv_deliver(struct csv_table *table, struct weft_err *err);

#endif
