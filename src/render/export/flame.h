/* SPDX-License-Identifier: MIT
 *
 * Flame graphs: of executions, of the difference of two groups of them, or of folded stacks; as a
 * picture (SVG that needs nothing else) or as folded stacks.
 */
#ifndef WEFT_RENDER_EXPORT_FLAME_H
#define WEFT_RENDER_EXPORT_FLAME_H

#include "base/arena.h"
#include "base/error.h"
#include "model/trace.h"
#include "render/output.h"
#include "schema/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A box; its parent is before it, box 0 is the whole. */
struct weft_flame_box {
    struct weft_str name;
    uint32_t parent;                      /* WEFT_ID_NONE for box 0 */
    double width;                         /* with all below it: of a difference, mean of B in ns */
    const struct weft_compare_node *node; /* of a difference; else NULL; of several contexts that of
                                           * the largest exclusive difference */
    uint32_t n_folded; /* contexts that no symbol names (weft_flame_fold_nameless); else 0 */
    double total_a_ns, total_b_ns, own_a_ns, own_b_ns; /* of those, if it has a node */
};

struct weft_flame {
    struct weft_arena *arena; /* borrowed */
    struct weft_flame_box *boxes;
    size_t n_boxes;
    struct weft_str title;
    bool is_difference;
    bool is_time; /* widths are ns; else samples or calls */
};

/* Names that begin with this, and go on, lose it. */
void weft_flame_strip(struct weft_flame *flame, struct weft_str prefix);

/* Names without the folders of absolute paths (base/private.h), by the rules of a trace (NULL: the
 * general ones). WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_flame_hide_paths(struct weft_flame *flame,
                                                  const struct weft_trace *trace,
                                                  struct weft_err *err);

/* Of the nodes of a table: the means of B. Lives as the matrix, the table and the arena. */
WEFT_CHECKED enum weft_code weft_flame_of_table(const struct weft_ecct_matrix *matrix,
                                                const struct weft_compare_table *table,
                                                struct weft_arena *arena, struct weft_flame *flame,
                                                struct weft_err *err);

/* Of lines "a;b;c 12". WEFT_E_MALFORMED names the line. O(bytes). */
WEFT_CHECKED enum weft_code weft_flame_of_folded(struct weft_str text, struct weft_arena *arena,
                                                 struct weft_flame *flame, struct weft_err *err);

/* Frames of the kernel that no symbol names, below one frame and each other, become one box, whose
 * width is that of all; for pictures: stacks as text have each. O(boxes). */
WEFT_CHECKED enum weft_code weft_flame_fold_nameless(struct weft_flame *flame,
                                                     struct weft_err *err);

/* Boxes of equal parent stand in the order of their names, so that two pictures can be compared by
 * eye; those too narrow to be seen are left out, and counted. */
void weft_flame_svg(struct weft_output *out, const struct weft_flame *flame);

/* "a;b;c 12": exclusive; of a difference "a;b;c 10 12", mean A and mean B in ns, which
 * difffolded.pl and inferno read. */
void weft_flame_folded(struct weft_output *out, const struct weft_flame *flame);

#endif
