/* SPDX-License-Identifier: MIT
 *
 * Reads a .weft file by mmap. Opening reads directory and metadata only; a block is validated
 * (checksum, ids in range, times ordered, depths consistent) when it is first loaded, and what a
 * load hands out needs no further checks. A file without its footer is recovered from its block
 * headers.
 */
#ifndef WEFT_STORE_READER_H
#define WEFT_STORE_READER_H

#include "base/error.h"
#include "base/file.h"
#include "base/str.h"
#include "schema/event.h"
#include "schema/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_store;

/* A call that was entered in an earlier block (or before the trace) and is open when a block
 * begins. Exact, wherever it ends. */
struct weft_open_call {
    uint64_t start_ns, end_ns;
    uint64_t row; /* row number in the thread, or UINT64_MAX for a call cut at the start */
    uint32_t function_id;
    uint32_t depth;
    uint32_t flags; /* enum weft_call_flag */
};

/* Summary of a block, known without decoding it. */
struct weft_block_info {
    uint64_t first_row; /* row number of its first call in the thread */
    uint32_t n_rows;
    uint32_t max_depth;       /* of its calls, and of those open when it begins */
    uint64_t first_event_ns;  /* earliest event (entry or exit) in it */
    uint64_t first_ns;        /* start of its first call */
    uint64_t last_ns;         /* latest event (entry or exit) in it */
    uint64_t longest_call_ns; /* of the calls entered in it, whole duration */
    uint64_t longest_gap_ns;  /* silence between consecutive events that lie in the block or join it
                                 to the block before, but for the bodies of calls without callees:
                                 no gap between siblings, nor between a caller's begin or end and
                                 its first or last callee, is longer */
    uint64_t n_bytes;         /* in the file */
    uint32_t n_open;          /* calls open when it begins */
    uint32_t n_functions;     /* in its dictionary */
};

/* A block of events of one thread that are not calls: what is known without decoding it. */
struct weft_event_block_info {
    uint64_t first_ns, last_ns; /* earliest time_ns, latest time_ns + duration_ns */
    uint64_t n_bytes;           /* in the file */
    uint64_t last_row;          /* the last whose CALL_ARGS are in it, or in a block before it */
    uint32_t n_events;
    uint32_t kinds; /* bit k: holds events of enum weft_event_kind k */
};

struct weft_store_thread {
    struct weft_thread_info info; /* name is a view into the store */
    uint64_t calls;               /* rows: entries seen */
    uint64_t cut_calls;           /* frames entered before the trace, at depths 0..cut_calls-1 */
    uint64_t first_ns, last_ns;   /* of its events */
    uint64_t n_blocks;
    uint64_t events; /* that are not calls */
    uint64_t n_event_blocks;
    uint32_t max_depth;
};

/* Decoded columns of one block, n_rows elements each; valid until the next load into the same
 * buffer. Rows are in pre-order: start ascending, callers before callees. Depth is absolute (0 =
 * root), so depth[i] <= depth of the row before + 1, and rows at depth n have a caller among the
 * rows before them or among `open`. */
struct weft_calls {
    size_t n_rows;
    uint64_t first_row;
    const uint64_t *start_ns;
    const uint64_t *end_ns; /* exact, also for calls that end in a later block */
    const uint32_t *function_id;
    const uint32_t *depth;
    const uint8_t *flags; /* enum weft_call_flag; NULL when no row of the block has any */
    const struct weft_open_call *open; /* by depth: open[d].depth == d */
    size_t n_open;
    const uint32_t *arg_row; /* rows (within the block) that carry arguments, ascending */
    const uint64_t *arg_value;
    size_t n_args;
};

struct weft_block_buf;
struct weft_event_buf;

struct weft_store_function {
    struct weft_str name; /* as imported; empty: unnamed */
    struct weft_str module;
    uint64_t address;
    uint32_t key;
};

struct weft_store_meta {
    struct weft_str format, details, source_name;
    struct weft_clock clock;
    uint64_t bytes_in, bytes_out;
    uint64_t duration_ns; /* last event of any thread */
    uint64_t calls, cut_calls, events;
    uint64_t events_of_kind[WEFT_EVENT_KINDS];
    uint32_t n_threads, n_functions;
    size_t n_notes;
    bool has_some_calls;              /* some system calls are recorded, and others are not */
    bool is_recovered;                /* opened without its footer */
    uint64_t lost_bytes;              /* bytes at the end that belong to no whole block */
    struct weft_ledger_totals ledger; /* of the recorded program; all 0: there is none */
    uint16_t version;
};

WEFT_CHECKED enum weft_code weft_store_open(const char *path, struct weft_store **store,
                                            struct weft_err *err);
/* The same for a file that is mapped already; `path` is for errors. The store takes the map over,
 * also when it fails. */
WEFT_CHECKED enum weft_code weft_store_open_mapped(const char *path, struct weft_mapped *file,
                                                   struct weft_store **store, struct weft_err *err);
void weft_store_close(struct weft_store *store);

/* True for bytes that begin as a .weft file does. */
bool weft_store_sniff(const uint8_t *bytes, size_t n_bytes);

const struct weft_store_meta *weft_store_meta_get(const struct weft_store *store);
/* Ids below the counts of the metadata. Functions are sorted by key. */
const struct weft_store_thread *weft_store_thread_get(const struct weft_store *store,
                                                      uint32_t thread_id);
const struct weft_store_function *weft_store_function_get(const struct weft_store *store,
                                                          uint32_t function_id);
/* Processes of the recorded program; their totals are in the metadata. */
size_t weft_store_n_processes(const struct weft_store *store);
const struct weft_ledger_process *weft_store_process_get(const struct weft_store *store,
                                                         size_t process);
/* Names of objects that processes wait for, by host, process and address. */
size_t weft_store_n_objects(const struct weft_store *store);
const struct weft_object_info *weft_store_object_get(const struct weft_store *store, size_t object);
/* The name of what lies at `address` of a process; empty: not recorded. O(log objects). */
struct weft_str weft_store_object_name(const struct weft_store *store, uint32_t host_id,
                                       uint64_t pid, uint64_t address);
/* Functions of libraries in stacks. */
size_t weft_store_n_libraries(const struct weft_store *store);
const struct weft_library_function *weft_store_library_get(const struct weft_store *store,
                                                           size_t function);
const struct weft_note *weft_store_note_get(const struct weft_store *store, size_t note);
const struct weft_block_info *weft_store_block_get(const struct weft_store *store,
                                                   uint32_t thread_id, uint64_t block);
/* The function ids of a block, ascending: lets a scan skip blocks. Cheap (no decompression of the
 * columns); `ids` is valid until the next call with the same buffer. */
WEFT_CHECKED enum weft_code weft_store_block_functions(struct weft_store *store, uint32_t thread_id,
                                                       uint64_t block, struct weft_block_buf *buf,
                                                       const uint32_t **ids, size_t *n_ids,
                                                       struct weft_err *err);

/* One buffer a worker; reused from load to load. NULL without memory. */
struct weft_block_buf *weft_block_buf_new(void);
void weft_block_buf_free(struct weft_block_buf *buf);

/* Decodes and (the first time) validates one block. Thread-safe for different buffers. */
WEFT_CHECKED enum weft_code weft_store_load(struct weft_store *store, uint32_t thread_id,
                                            uint64_t block, struct weft_block_buf *buf,
                                            struct weft_calls *calls, struct weft_err *err);

struct weft_context_tree;
struct weft_context_entries;

enum { WEFT_CONTEXT_LEVEL_MAX = 12 };

/* What is known of blocks `block` ... block + 16^level - 1, `block` being a multiple of that: for
 * every path of calls (from the thread's root, cut frames too) the calls entered in these blocks,
 * and the time from the event before the first of them to their last that was spent in no callee.
 * The paths are added to the tree, whose functions are ids; `entries`, which is emptied before,
 * gets the numbers. *is_known is false, and there are no entries, where the file has no such
 * summary. Thread-safe for different buffers and trees. Fails as a load. */
WEFT_CHECKED enum weft_code
weft_store_contexts(struct weft_store *store, uint32_t thread_id, uint64_t block, unsigned level,
                    struct weft_block_buf *buf, struct weft_context_tree *tree,
                    struct weft_context_entries *entries, bool *is_known, struct weft_err *err);

/* Has the file such a summary of a group of blocks (level > 0)? */
bool weft_store_has_contexts(const struct weft_store *store, uint32_t thread_id, uint64_t block,
                             unsigned level);

struct weft_lod_units;

/* What a block's calls look like from afar: units[0] are its cells, units[1] groups of
 * WEFT_LOD_GROUP_CELLS cells; depths and function ids are the
 * thread's. Calls that are open at the block's end are in neither: weft_store_left_calls. *is_known
 * is false where the file has no such thing. Thread-safe for different buffers and units. Fails as
 * a load. */
WEFT_CHECKED enum weft_code weft_store_details(struct weft_store *store, uint32_t thread_id,
                                               uint64_t block, struct weft_block_buf *buf,
                                               struct weft_lod_units *units, bool *is_known,
                                               struct weft_err *err);

/* The same of blocks `block` ... block + 16^level - 1, `block` being a multiple of that, as one
 * unit; without the calls that are open at its end. */
WEFT_CHECKED enum weft_code weft_store_level(struct weft_store *store, uint32_t thread_id,
                                             uint64_t block, unsigned level,
                                             struct weft_lod_units *unit, bool *is_known,
                                             struct weft_err *err);

/* The calls entered in a block and open at its end, outermost first; NULL if there are none. */
const struct weft_open_call *weft_store_left_calls(const struct weft_store *store,
                                                   uint32_t thread_id, uint64_t block,
                                                   size_t *n_calls);

/* The innermost call that is open when the block begins (`above` NULL), or the one around `above`;
 * NULL if there is none. */
const struct weft_open_call *weft_store_open_call(const struct weft_store *store,
                                                  uint32_t thread_id, uint64_t block,
                                                  const struct weft_open_call *above);

const struct weft_event_block_info *weft_store_event_block_get(const struct weft_store *store,
                                                               uint32_t thread_id, uint64_t block);

/* One buffer a worker; NULL without memory. */
struct weft_event_buf *weft_event_buf_new(void);
void weft_event_buf_free(struct weft_event_buf *buf);

/* Whether the events that were loaded last, which must have been, are in order of time, and take
 * none: a caller that needs those of a part can search for it. */
bool weft_event_buf_is_in_order(const struct weft_event_buf *buf);

/* Blocks of events that were decoded stay for later loads, in so many bytes at most, or as many as
 * another keeper wants, besides those that buffers hold: until each that keeps them has dropped
 * them. For a part of the trace that many ask about, or one again and again. Thread-safe.
 */
void weft_store_keep_events(struct weft_store *store, uint64_t most_bytes);
void weft_store_drop_events(struct weft_store *store);

/* Decodes and (the first time) validates one block of events, in the order in which the importer
 * gave them. Kinds and thread ids are in range; rows of CALL_ARGS are those of calls of the thread
 * and never descend, over all its blocks (in a recovered file, UINT64_MAX if the call is lost).
 * `*events` and the strings in it are valid until the next load into the same buffer. Thread-safe
 * for different buffers. */
WEFT_CHECKED enum weft_code weft_store_load_events(struct weft_store *store, uint32_t thread_id,
                                                   uint64_t block, struct weft_event_buf *buf,
                                                   const struct weft_event **events,
                                                   size_t *n_events, struct weft_err *err);

/* Arrivals: what events of other threads say of one, in order of time, under a *row*: a thread's
 * id, or that of a CPU.
 *
 * Of a thread (cpu is the source's):
 *
 *     SWITCH         it got the CPU `cpu`; with prev_state 1: by this time it had left `cpu` unseen
 *     WAKING, WOKEN  next_thread_id = the source, value = the CPU that it is put on; name, category
 *                    and object_id = kind, device and number of the innermost interrupt that the
 *                    source served: empty and NONE for none (NONE also for numbers beyond 2^32)
 *     FORK           next_thread_id = the parent
 *
 * Of a CPU:
 *
 *     SWITCH         to next_thread_id (NONE: not known); with prev_state 1 not from the thread of
 *                    the row's switch before, but from object_id (NONE: not known)
 */
bool weft_store_has_arrivals(const struct weft_store *store);
uint64_t weft_store_n_arrival_blocks(const struct weft_store *store, uint32_t row);
const struct weft_event_block_info *weft_store_arrival_block_get(const struct weft_store *store,
                                                                 uint32_t row, uint64_t block);

struct weft_store_processor {
    uint32_t host_id;
    int32_t cpu;
    uint32_t row; /* of arrivals */
};

/* CPUs in order of host and number. */
uint32_t weft_store_n_processors(const struct weft_store *store);
struct weft_store_processor weft_store_processor_get(const struct weft_store *store,
                                                     uint32_t processor);

/* As weft_store_load_events, a block of arrivals of a row; their times never descend, over all
 * blocks of the row. */
WEFT_CHECKED enum weft_code weft_store_load_arrivals(struct weft_store *store, uint32_t row,
                                                     uint64_t block, struct weft_event_buf *buf,
                                                     const struct weft_event **events,
                                                     size_t *n_events, struct weft_err *err);

/* The cut frames of a thread, by depth (0..cut_calls-1). */
const struct weft_open_call *weft_store_cut_calls(const struct weft_store *store,
                                                  uint32_t thread_id, size_t *n_calls);

#endif
