/* SPDX-License-Identifier: MIT
 *
 * Candidates and marks.
 */
#include "analysis/regtime/marks.h"

#include "base/vec.h"
#include "schema/event.h"
#include "schema/regtime.h"

#include <stdlib.h>

void weft_regtime_candidates_reset(struct regtime_candidates *candidates)
{
    candidates->list.n = candidates->row_of.n = candidates->joined.n = 0;
    if (candidates->ids)
        weft_map_reset(candidates->ids);
}

void weft_regtime_candidates_fini(struct regtime_candidates *candidates)
{
    WEFT_VEC_FINI(&candidates->list);
    WEFT_VEC_FINI(&candidates->row_of);
    WEFT_VEC_FINI(&candidates->joined);
    if (candidates->ids)
        weft_map_free(candidates->ids);
    candidates->ids = NULL;
}

bool weft_regtime_candidate_add(struct regtime_candidates *candidates, uint32_t *owner,
                                uint32_t function_id, uint64_t max_ns)
{
    if (max_ns < candidates->least_ns)
        return true;
    if (!candidates->ids)
        candidates->ids = weft_map_new();
    if (!candidates->ids || (*owner == 0 && !WEFT_VEC_PUSH(&candidates->row_of)))
        return false;
    if (*owner == 0)
        *owner = (uint32_t)candidates->row_of.n;
    bool is_new = false;
    uint32_t at = weft_map_add(candidates->ids, (uint64_t)*owner << 32 | function_id, &is_new);
    if (at == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&candidates->list)))
        return false;
    struct regtime_candidate *candidate = &candidates->list.items[at];
    candidate->owner = *owner;
    candidate->function_id = function_id;
    candidate->max_ns = max_ns > candidate->max_ns ? max_ns : candidate->max_ns;
    return true;
}

bool weft_regtime_candidates_join(struct regtime_candidates *candidates, uint32_t *owner,
                                  uint32_t from)
{
    if (from == 0 || *owner == 0) {
        *owner = from ? from : *owner;
        return true;
    }
    for (size_t i = 0; i < 2; i++) {
        uint32_t *item = WEFT_VEC_PUSH(&candidates->joined);
        if (!item)
            return false;
        *item = i == 0 ? from : *owner;
    }
    return true;
}

bool weft_regtime_candidates_settle(struct regtime_candidates *candidates)
{
    size_t n = candidates->list.n, n_owners = candidates->row_of.n;
    if (candidates->joined.n == 0)
        return true;
    uint32_t *into = malloc((n_owners + 1) * sizeof *into);
    if (!into)
        return false;
    for (uint32_t owner = 0; owner <= n_owners; owner++)
        into[owner] = owner;
    for (size_t i = candidates->joined.n; i > 0; i -= 2) /* the last first: no chains remain */
        into[candidates->joined.items[i - 2]] = into[candidates->joined.items[i - 1]];
    weft_map_reset(candidates->ids);
    candidates->list.n = candidates->joined.n = 0;
    bool is_ok = true;
    for (size_t i = 0; is_ok && i < n; i++) {
        struct regtime_candidate candidate = candidates->list.items[i];
        uint32_t owner = into[candidate.owner];
        is_ok =
            weft_regtime_candidate_add(candidates, &owner, candidate.function_id, candidate.max_ns);
    }
    free(into);
    return is_ok;
}

bool weft_regtime_candidates_take(struct regtime_candidates *candidates,
                                  struct regtime_candidate **list, size_t *n)
{
    *list = NULL;
    *n = candidates->list.n;
    if (*n == 0)
        return true;
    *list = malloc(*n * sizeof **list);
    for (size_t i = 0; *list && i < *n; i++) {
        (*list)[i] = candidates->list.items[i];
        (*list)[i].owner = candidates->row_of.items[(*list)[i].owner - 1];
    }
    return *list != NULL;
}

void weft_regtime_mark_outliers(struct weft_regtime_row *rows, size_t n_rows,
                                const struct regtime_candidate *candidates, size_t n_candidates,
                                const uint64_t *outlier_ns)
{
    for (size_t i = 0; i < n_rows; i++)
        if (rows[i].function_id != WEFT_ID_NONE && rows[i].max_ns > outlier_ns[rows[i].function_id])
            rows[i].flags |= WEFT_REGTIME_OUTLIER;
    for (size_t i = 0; i < n_candidates; i++)
        if (candidates[i].max_ns > outlier_ns[candidates[i].function_id])
            rows[candidates[i].owner].flags |= WEFT_REGTIME_OUTLIER;
}
