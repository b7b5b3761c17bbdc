/* SPDX-License-Identifier: MIT
 *
 * Where the time lies that no lock and no other thread explains: computing, disks, allocation. For
 * problems.c.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_PLACES_H
#define WEFT_ANALYSIS_FINDINGS_PLACES_H

#include "schema/findings.h"

#include <stdbool.h>
#include <stdint.h>

/* Parts the nodes of each kind into places: the deepest node below which lies at least half of what
 * slow executions have more of the kind, then likewise of the rest, at most a few. By node:
 * `kinds` is the kind + 1, 0 of nodes that do not count; `places` (zeros) becomes the node that the
 * place is, 0 of what is spread. False without memory. O(nodes) for each place. */
bool weft_places_find(const struct weft_finding *finding, const uint8_t *kinds, uint32_t *places);

/* The key of what lies in a place, of the key of its kind: its function, and the one that calls it,
 * as one that many call says little. */
uint64_t weft_place_key(const struct weft_ecct_matrix *matrix, uint64_t key, uint32_t place);

#endif
