/* SPDX-License-Identifier: MIT
 *
 * Address spaces: which file lies where in which process, at the time that has been reached.
 */
#ifndef WEFT_INGEST_PERF_SPACES_H
#define WEFT_INGEST_PERF_SPACES_H

#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_mapping {
    uint64_t begin, end;
    uint64_t file_off; /* of `begin` in the file */
    uint32_t path;     /* in the table of paths */
};

struct perf_space {
    struct {
        struct perf_mapping *items; /* by address; they do not overlap */
        size_t n, cap;
    } maps;
    uint32_t version; /* another one after every change; never the same in two spaces */
};

enum { PERF_MOST_MAPPINGS = 1 << 20 };

struct perf_spaces {
    struct weft_map *of_pid;
    struct {
        struct perf_space *items;
        size_t n, cap;
    };
    uint32_t n_versions;
};

bool perf_spaces_init(struct perf_spaces *spaces);
void perf_spaces_fini(struct perf_spaces *spaces);

/* NULL without memory. Valid until the next space is added. */
struct perf_space *perf_space_of(struct perf_spaces *spaces, uint32_t pid);

/* Adds a mapping; what lies there already gives way. False without memory. O(mappings). */
bool perf_space_add(struct perf_spaces *spaces, uint32_t pid, const struct perf_mapping *mapping);
/* A new program: nothing is mapped. A new process: what its parent has. False without memory. */
bool perf_space_clear(struct perf_spaces *spaces, uint32_t pid);
bool perf_space_copy(struct perf_spaces *spaces, uint32_t from_pid, uint32_t to_pid);

/* The mapping that holds the address; NULL: none. O(log mappings). */
const struct perf_mapping *perf_space_find(const struct perf_space *space, uint64_t address);

#endif
