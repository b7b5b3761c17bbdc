/* SPDX-License-Identifier: MIT */
#include "schema/compare.h"

#include <math.h>

double weft_metric_histogram_edge(const struct weft_metric_histogram *histogram, size_t bin)
{
    const double share = (double)bin / (double)histogram->n_bins;
    if (bin >= histogram->n_bins)
        return histogram->high;
    if (histogram->is_log)
        return histogram->low * pow(histogram->high / histogram->low, share);
    return histogram->low + (histogram->high - histogram->low) * share;
}
