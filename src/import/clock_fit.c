/* SPDX-License-Identifier: MIT
 *
 * Fits the offset and drift of one clock against another: convex hulls of the packets received and
 * sent, then the line in the middle of the widest gap between them, found by bisection over the
 * slope (the width is concave). Drift 0 is preferred where the packets allow it. O(n log n);
 * clock_sync.c chooses the pairs of hosts, replay.c applies the result.
 */
#include "import/clock_fit.h"

#include "base/checked.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_HALVINGS = 200 };

/* Times beyond that are made up; sums of a few of them fit. */
#define MOST_NS (INT64_C(1) << 61)

__extension__ typedef __int128 wide;

/* A point relative to the first one. */
struct point {
    int64_t x, d;
};

/* The upper hull of packets received; or of those sent, upside down. */
struct hull {
    struct point *points;
    size_t n;
};

struct fitting {
    struct hull received, sent;
    struct point origin;
    int64_t last_x; /* the first is 0 */
};

/* ---- hulls ----------------------------------------------------------------------------------- */

static int by_time(const void *a_void, const void *b_void)
{
    const struct weft_clock_point *a = a_void, *b = b_void;
    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/* Is b on or below the line from a to c? */
static bool is_hidden(const struct point *a, const struct point *b, const struct point *c)
{
    return ((wide)b->d - a->d) * (c->x - a->x) <= ((wide)c->d - a->d) * (b->x - a->x);
}

/* Points come with ascending x. */
static void hull_add(struct hull *hull, struct point point)
{
    if (hull->n > 0 && hull->points[hull->n - 1].x == point.x) {
        if (point.d <= hull->points[hull->n - 1].d)
            return;
        hull->n--;
    }
    while (hull->n > 1 && is_hidden(&hull->points[hull->n - 2], &hull->points[hull->n - 1], &point))
        hull->n--;
    hull->points[hull->n++] = point;
}

/* The point of the hull through which the highest line of that slope goes. */
static const struct point *hull_touch(const struct hull *hull, double slope)
{
    size_t low = 0, high = hull->n - 1;
    while (low < high) { /* edges are ever less steep */
        const size_t mid = low + (high - low) / 2;
        const struct point *a = &hull->points[mid], *b = &hull->points[mid + 1];
        if ((double)b->d - (double)a->d > slope * (double)(b->x - a->x))
            low = mid + 1;
        else
            high = mid;
    }
    return &hull->points[low];
}

/* ---- the line -------------------------------------------------------------------------------- */

/* What lines of a slope may be: between the least and the most at x 0. */
struct gap {
    double least, most;
    double widens; /* with the slope, if positive */
};

static struct gap gap_of(const struct fitting *fitting, double slope)
{
    const struct point *least = hull_touch(&fitting->received, slope);
    const struct point *most = hull_touch(&fitting->sent, -slope); /* upside down */
    return (struct gap){ .least = (double)least->d - slope * (double)least->x,
                         .most = -(double)most->d - slope * (double)most->x,
                         .widens = (double)least->x - (double)most->x };
}

static double width_of(const struct fitting *fitting, double slope)
{
    const struct gap gap = gap_of(fitting, slope);
    return gap.most - gap.least;
}

/* The slope with the widest gap; the width is concave. */
static double slope_of_widest(const struct fitting *fitting)
{
    double low = -WEFT_CLOCK_MOST_DRIFT, high = WEFT_CLOCK_MOST_DRIFT;
    for (int k = 0; k < MOST_HALVINGS && low < high; k++) {
        const double mid = low + (high - low) / 2;
        const double widens = gap_of(fitting, mid).widens;
        if (mid <= low || mid >= high || widens == 0)
            return mid;
        if (widens > 0)
            low = mid;
        else
            high = mid;
    }
    return low + (high - low) / 2;
}

/* The last slope from `inside`, where there is a gap, towards `outside` at which there is. */
static double slope_of_last(const struct fitting *fitting, double inside, double outside)
{
    if (width_of(fitting, outside) >= 0)
        return outside;
    for (int k = 0; k < MOST_HALVINGS; k++) {
        const double mid = inside + (outside - inside) / 2;
        if (mid == inside || mid == outside)
            break;
        if (width_of(fitting, mid) >= 0)
            inside = mid;
        else
            outside = mid;
    }
    return inside;
}

/* How far the line at `slope` may be from the one through `middle` at `chosen`, at x. */
static double distance_at(const struct fitting *fitting, double slope, double chosen, double middle,
                          double x)
{
    const struct gap gap = gap_of(fitting, slope);
    const double at = middle + chosen * x;
    return fmax(fabs(gap.least + slope * x - at), fabs(gap.most + slope * x - at));
}

/* Lines that are possible are furthest off at an end, where the steepest or the flattest runs. */
static double accuracy_of(const struct fitting *fitting, double chosen, double middle)
{
    const double slopes[] = { chosen, slope_of_last(fitting, chosen, -WEFT_CLOCK_MOST_DRIFT),
                              slope_of_last(fitting, chosen, WEFT_CLOCK_MOST_DRIFT) };
    double accuracy = 0;
    for (size_t k = 0; k < sizeof slopes / sizeof *slopes; k++) {
        const double first = distance_at(fitting, slopes[k], chosen, middle, 0);
        const double last =
            distance_at(fitting, slopes[k], chosen, middle, (double)fitting->last_x);
        accuracy = fmax(accuracy, fmax(first, last));
    }
    return accuracy;
}

static void line_choose(const struct fitting *fitting, struct weft_clock_fit *fit)
{
    const double slope = width_of(fitting, 0) >= 0 ? 0 : slope_of_widest(fitting);
    const struct gap gap = gap_of(fitting, slope);
    const double middle = gap.least + (gap.most - gap.least) / 2;
    fit->packets_ns = (uint64_t)fitting->last_x;
    fit->is_contradicted = gap.most < gap.least;
    fit->offset_ns = fitting->origin.d + (int64_t)llround(middle);
    fit->drift = (int64_t)llround(ldexp(slope, WEFT_CLOCK_DRIFT_BITS));
    fit->accuracy_ns = (uint64_t)ceil(fit->is_contradicted ? gap.least - gap.most
                                                           : accuracy_of(fitting, slope, middle));
}

static void hulls_make(const struct weft_clock_point *points, size_t n, struct fitting *fitting)
{
    fitting->origin = (struct point){ (int64_t)points[0].at_ns,
                                      (int64_t)points[0].other_ns - (int64_t)points[0].at_ns };
    for (size_t k = 0; k < n; k++) {
        const struct point point = { (int64_t)points[k].at_ns - fitting->origin.x,
                                     (int64_t)points[k].other_ns - (int64_t)points[k].at_ns -
                                         fitting->origin.d };
        if (points[k].is_sent)
            hull_add(&fitting->sent, (struct point){ point.x, -point.d });
        else
            hull_add(&fitting->received, point);
        fitting->last_x = point.x;
    }
}

enum weft_code weft_clock_fit_find(struct weft_clock_point *points, size_t n,
                                   struct weft_clock_fit *fit, bool *is_known, struct weft_err *err)
{
    size_t n_sent = 0;
    bool is_possible = true;
    for (size_t k = 0; k < n; k++) {
        n_sent += points[k].is_sent;
        is_possible = is_possible && points[k].at_ns < (uint64_t)MOST_NS &&
                      points[k].other_ns < (uint64_t)MOST_NS;
    }
    *fit = (struct weft_clock_fit){ 0 };
    *is_known = is_possible && n_sent > 0 && n_sent < n;
    if (!*is_known)
        return WEFT_OK;
    struct fitting fitting = { .received.points = calloc(n, sizeof(struct point)),
                               .sent.points = calloc(n, sizeof(struct point)) };
    enum weft_code code = WEFT_OK;
    if (fitting.received.points && fitting.sent.points) {
        qsort(points, n, sizeof *points, by_time);
        hulls_make(points, n, &fitting);
        fit->at_ns = points[0].at_ns;
        line_choose(&fitting, fit);
    } else {
        code = weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu packets", n);
    }
    free(fitting.received.points);
    free(fitting.sent.points);
    return code;
}

int64_t weft_clock_fit_apply(const struct weft_clock_fit *fit, uint64_t time_ns)
{
    int64_t at_ns = (int64_t)weft_min_u64(time_ns, (uint64_t)MOST_NS);
    for (; fit; fit = fit->next) {
        const wide moved = (wide)(at_ns - (int64_t)fit->at_ns) * fit->drift;
        at_ns += fit->offset_ns + (int64_t)(moved >> WEFT_CLOCK_DRIFT_BITS);
        at_ns = at_ns > MOST_NS ? MOST_NS : at_ns < -MOST_NS ? -MOST_NS : at_ns;
    }
    return at_ns;
}
