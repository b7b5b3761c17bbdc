/* SPDX-License-Identifier: MIT
 *
 * Address spaces: which file lay where in which process, and when. A process has one image for each
 * program that it ran; what it mapped meanwhile is added to that, unless it lies where something
 * else lay: then a new image begins.
 */
#ifndef WEFT_INGEST_RECORDING_SPACES_H
#define WEFT_INGEST_RECORDING_SPACES_H

#include "base/map.h"
#include "base/str.h"
#include "ingest/recording/jit.h"
#include "ingest/recording/pieces.h"
#include "symbols/symbols.h"

#define REC_NO_IMAGE UINT32_MAX

struct rec_mapping {
    uint64_t begin, end;
    uint64_t file_off; /* of `begin` */
    uint32_t path;     /* in `texts` */
};

struct rec_image {
    uint64_t from_ns; /* CLOCK_MONOTONIC */
    uint32_t pid;
    uint32_t next;   /* of the same process; REC_NO_IMAGE: none */
    uint32_t before; /* likewise */
    struct {
        struct rec_mapping *items; /* by address; they do not overlap */
        size_t n, cap;
    } maps;
};

/* A process, as it was recorded. */
struct rec_process {
    uint32_t pid, parent;
    uint32_t comm; /* in `texts`; UINT32_MAX: not recorded */
    uint32_t exe;  /* likewise: path of the program that it runs */
    uint32_t first_image, last_image, n_images;
    uint64_t start_ns;      /* of the program that it runs */
    uint64_t began_ns;      /* of the first one that it ran, or its fork; 0: not known */
    uint64_t end_ns;        /* when the recorder saw that it had ended; 0: it did not */
    uint32_t pid_namespace; /* that its own numbers are of; 0: that of the recorder */
};

struct rec_spaces {
    struct {
        struct rec_image *items;
        size_t n, cap;
    } images;
    struct {
        struct rec_process *items; /* by index of `of_pid` */
        size_t n, cap;
    } processes;
    struct weft_map *of_pid;
    struct weft_strtab *texts; /* paths, names, build ids */
    struct weft_map *build_of; /* path -> index in `builds` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } builds;
    struct weft_map *kernel_of; /* address in the kernel -> index in `kernel_names` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } kernel_names;
    struct rec_jits jits;
    struct weft_symbols *symbols;
};

/* Reads all pieces about processes. `clocks` live as long as the spaces. `memory_bytes`: the
 * ceiling that all share; 0: none. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code rec_spaces_read(const struct rec_pieces *pieces,
                                            const struct rec_clocks *clocks, uint64_t memory_bytes,
                                            const char *symbols_path, struct rec_spaces *spaces,
                                            struct weft_err *err);
void rec_spaces_fini(struct rec_spaces *spaces);

/* NULL: nothing was recorded of it. */
const struct rec_process *rec_process_of(const struct rec_spaces *spaces, uint32_t pid);

/* The image that `pid` had at `ns`: until it has its own that which its parent had when it was
 * forked. The first, if `ns` is before it. */
uint32_t rec_image_at(const struct rec_spaces *spaces, uint32_t pid, uint64_t ns);

/* That which `pid` has after `image`; REC_NO_IMAGE: none. */
uint32_t rec_image_next(const struct rec_spaces *spaces, uint32_t pid, uint32_t image);

/* When it begins; UINT64_MAX: never. */
uint64_t rec_image_end(const struct rec_spaces *spaces, uint32_t pid, uint32_t image);

/* The path of the program that the image's process runs, in `texts`; UINT32_MAX: unknown. */
uint32_t rec_program_of(const struct rec_spaces *spaces, uint32_t image);

/* The mapping that holds the address, in this image or one that the process had later (maps are
 * read a little after they changed), else before, else one of its parents, first as it was when the
 * process began (a child of fork that runs another program at once was not recorded before); NULL:
 * none. */
const struct rec_mapping *rec_mapping_of(const struct rec_spaces *spaces, uint32_t image,
                                         uint64_t address);

/* The last mapping of the image that ends at or below the address, and the first that ends behind
 * it; NULL: none. */
void rec_mappings_beside(const struct rec_spaces *spaces, uint32_t image, uint64_t address,
                         const struct rec_mapping *beside[2]);

/* The code without a file that a process has at a time: its own, and what it was forked with. */
void rec_jit_view(const struct rec_spaces *spaces, uint32_t pid, uint64_t ns,
                  struct rec_jit_view *view);

/* The function of the kernel that an address of a stack lies in; "[kernel]": not recorded. */
struct weft_str rec_kernel_name(const struct rec_spaces *spaces, uint64_t address);

struct weft_str rec_build_id(const struct rec_spaces *spaces, uint32_t path);

#endif
