/* SPDX-License-Identifier: MIT
 *
 * Jitdump files (jit-PID.dump; jitdump-specification.txt of Linux's perf): what a runtime compiled,
 * where it put and moved that, and when. A recorder keeps the records without the code, which this
 * reads as well.
 */
#ifndef WEFT_SYMBOLS_JITDUMP_H
#define WEFT_SYMBOLS_JITDUMP_H

#include "base/map.h"
#include "symbols/jit_name.h"

enum {
    WEFT_JITDUMP_HEAD_BYTES = 40,
    WEFT_JITDUMP_RECORD_BYTES = 16, /* of a record's head */
    WEFT_JITDUMP_MOST_BYTES = 4096, /* of a record that matter */
};

/* Of a file that begins with these WEFT_JITDUMP_HEAD_BYTES the first record stands at this place;
 * 0: it is no jitdump that can be read (of another byte order, or version). */
uint32_t weft_jitdump_first(const uint8_t *bytes);

struct weft_jitdump_record {
    uint32_t id;
    uint32_t n_bytes;  /* head and all */
    uint32_t n_wanted; /* its first bytes that matter; 0: nothing of it does */
    uint64_t time;     /* ns of CLOCK_MONOTONIC, or ticks */
};

/* By its head of WEFT_JITDUMP_RECORD_BYTES; false: it is none, and nothing behind it can be found.
 */
bool weft_jitdump_look(const uint8_t *bytes, struct weft_jitdump_record *record);

/* Makes a record of its first n_wanted bytes, without the code. Gives its bytes; 0: it contradicts
 * the format. */
uint32_t weft_jitdump_shorten(uint8_t *bytes, uint32_t n_wanted);

/* A file that is read piece by piece. */
struct weft_jitdump {
    struct weft_jit_names *names;
    uint64_t (*ns_of_ticks)(void *context, uint64_t ticks); /* NULL: ticks have no time */
    void *context;
    bool has_head, is_ticks, is_over;
    struct weft_map *of_index; /* number of a piece of code -> index in `index_names` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } index_names;
    uint64_t place_address, place_line; /* of the function whose debugging information came last */
    char place_file[512];
    size_t n_place_file;
};

/* False without memory. */
bool weft_jitdump_init(struct weft_jitdump *dump, struct weft_jit_names *names);
void weft_jitdump_fini(struct weft_jitdump *dump);

/* Whole records, the first ones behind the file's head. What contradicts the format is counted.
 * False without memory. */
bool weft_jitdump_read(struct weft_jitdump *dump, struct weft_str bytes);

#endif
