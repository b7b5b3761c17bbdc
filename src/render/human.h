/* SPDX-License-Identifier: MIT
 *
 * Numbers as people read them: three significant digits and a unit, thousands by comma. The page
 * has the same (ui/src/lib/numbers.ts); tests/data/numbers.tsv holds both to it.
 */
#ifndef WEFT_RENDER_HUMAN_H
#define WEFT_RENDER_HUMAN_H

#include <stddef.h>
#include <stdint.h>

/* Small text by value, so that several fit into one printf. */
struct weft_human {
    char text[48];
};

struct weft_human weft_human_ns(uint64_t value_ns);   /* "357 ns", "85.2 ms", "17.3 min" */
struct weft_human weft_human_at(uint64_t at_ns);      /* a point of time: "1.369123 s" */
struct weft_human weft_human_bytes(uint64_t n_bytes); /* "631 MB" (powers of 1000) */
struct weft_human weft_human_count(uint64_t count);   /* "78,731,234": exact */
/* "1 cluster", "2,345 clusters": `what` is one of them, at most 18 bytes, that takes an s. */
struct weft_human weft_human_plural(uint64_t count, const char *what);
struct weft_human weft_human_rough_count(uint64_t count); /* "78.7 M"; exact below 10,000 */
struct weft_human weft_human_share(double share);         /* 0.0412 -> "4.12 %" */
struct weft_human weft_human_ratio(double ratio);         /* "12.3", "1,204" */
struct weft_human weft_human_p(double p);                 /* "p < 0.001", "p = 0.012" */

#endif
