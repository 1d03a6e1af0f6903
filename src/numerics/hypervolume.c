/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * Points become widths: how far each is better than the reference, so that
 * more is better and the reference is 0.  Sorted by the last width, the least
 * first, a point's own volume is its box less what those behind it have of that
 * box: they are cut to it, so that their last widths are all its own, and what
 * is left is a volume of one dimension less. */
#include "hypervolume.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A row, sorted by its widths. */
struct row {
    const double *widths;
    size_t n_costs;
};

struct last {
    double width;
    size_t row;
};

struct room {
    double *levels;    /* of each dimension, n rows of n_costs */
    double *given;     /* the points of a call, as one level */
    double *cut;       /* the same, within a box */
    struct last *last; /* of each dimension, n */
    double *stairs;    /* of a sweep: pairs of widths */
    struct row *rows;  /* n */
    size_t n, n_costs;
};

static void
room_fini(struct room *r)
{
    free(r->levels);
    free(r->last);
    free(r->stairs);
    free(r->rows);
}

/* For n rows.  -1: out of memory; room_fini() in any case. */
static int
room_init(struct room *r, size_t n, size_t n_costs)
{
    size_t levels = n_costs + 3;

    *r = (struct room){.n = n, .n_costs = n_costs};
    if (n > SIZE_MAX / sizeof(double) / (levels * (n_costs + 2)) - 1)
        return -1;
    r->levels = calloc(levels * n * n_costs + 1, sizeof *r->levels);
    r->last = calloc(levels * n + 1, sizeof *r->last);
    r->stairs = calloc(2 * n + 2, sizeof *r->stairs);
    r->rows = calloc(n + 1, sizeof *r->rows);
    if (r->levels == NULL || r->last == NULL || r->stairs == NULL ||
        r->rows == NULL)
        return -1;
    r->given = r->levels + (levels - 1) * n * n_costs;
    r->cut = r->levels + (levels - 2) * n * n_costs;
    return 0;
}

/* Where the points of dimension `d` are. */
static double *
level(const struct room *r, size_t d)
{
    return r->levels + d * r->n * r->n_costs;
}

static double
least(double a, double b)
{
    return a < b ? a : b;
}

static bool
covers(const double *a, const double *b, size_t n_costs)
{
    for (size_t k = 0; k < n_costs; k++)
        if (!(a[k] >= b[k]))
            return false;
    return true;
}

static double
box(const double *widths, size_t n_costs)
{
    double volume = widths[0];

    for (size_t k = 1; k < n_costs; k++)
        volume *= widths[k];
    return volume;
}

static int
compare_last(const void *va, const void *vb)
{
    const struct last *a = va, *b = vb;

    if (a->width != b->width)
        return a->width < b->width ? -1 : 1;
    return a->row > b->row ? -1 : a->row < b->row;
}

/* Of n points of two dimensions: from the one with the greatest last width
 * down. */
static double
sweep_plane(const double *x, const struct last *last, size_t n)
{
    double volume = 0, reached = 0;

    for (size_t i = n; i-- > 0;) {
        double first = x[last[i].row * 2];

        if (first > reached) {
            volume += last[i].width * (first - reached);
            reached = first;
        }
    }
    return volume;
}

/* Puts a step into the stairs, of which the first width falls and the second
 * rises; returns how much more lies below them. */
static double
add_step(double *stairs, size_t *n, double x, double y)
{
    size_t low = 0, high = *n, end;
    double more = 0, below, right;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (stairs[2 * middle] > x ||
            (stairs[2 * middle] == x && stairs[2 * middle + 1] > y))
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && stairs[2 * low - 1] >= y)
        return 0;
    below = low > 0 ? stairs[2 * low - 1] : 0;
    for (end = low; end < *n && stairs[2 * end + 1] <= y; end++) {
        more += (x - stairs[2 * end]) * (stairs[2 * end + 1] - below);
        below = stairs[2 * end + 1];
    }
    right = end < *n ? stairs[2 * end] : 0;
    more += (x - right) * (y - below);
    memmove(stairs + 2 * (low + 1), stairs + 2 * end,
            2 * (*n - end) * sizeof *stairs);
    *n -= end - low;
    stairs[2 * low] = x;
    stairs[2 * low + 1] = y;
    ++*n;
    return more;
}

/* Of n points of three dimensions: from the one with the greatest last width
 * down, each slice as wide as all before it. */
static double
sweep_space(struct room *r, const double *x, const struct last *last, size_t n)
{
    double volume = 0, area = 0;
    size_t steps = 0;

    for (size_t i = n; i-- > 0;) {
        const double *p = x + last[i].row * 3;

        area += add_step(r->stairs, &steps, p[0], p[1]);
        volume += area * (last[i].width - (i > 0 ? last[i - 1].width : 0));
    }
    return volume;
}

/* The points that no other one covers, of equal ones the first; returns how
 * many.  The sweeps need no such thing. */
static size_t
keep_front(double *x, size_t n, size_t d)
{
    size_t kept = 0;

    if (d <= 3)
        return n;

    for (size_t i = 0; i < n; i++) {
        const double *p = x + i * d;
        size_t to = 0;
        bool is_covered = false;

        for (size_t k = 0; k < kept && !is_covered; k++)
            is_covered = covers(x + k * d, p, d);
        if (is_covered)
            continue;
        for (size_t k = 0; k < kept; k++)
            if (!covers(p, x + k * d, d)) {
                memmove(x + to * d, x + k * d, d * sizeof *x);
                to++;
            }
        memmove(x + to * d, p, d * sizeof *x);
        kept = to + 1;
    }
    return kept;
}

/* Of n points of d dimensions, at level(d). */
static double
volume_of(struct room *r, size_t n, size_t d)
{
    const double *x = level(r, d);
    struct last *last = r->last + d * r->n;
    double volume = 0;

    if (n <= 1)
        return n == 0 ? 0 : box(x, d);
    for (size_t i = 0; i < n; i++)
        last[i] = (struct last){x[i * d + d - 1], i};
    qsort(last, n, sizeof *last, compare_last);
    if (d == 1)
        return last[n - 1].width;
    if (d == 2)
        return sweep_plane(x, last, n);
    if (d == 3)
        return sweep_space(r, x, last, n);
    for (size_t i = 0; i < n; i++) {
        const double *p = x + last[i].row * d;
        double *cut = level(r, d - 1);
        size_t m = 0;
        double own;

        for (size_t j = i + 1; j < n; j++, m++)
            for (size_t k = 0; k + 1 < d; k++)
                cut[m * (d - 1) + k] = least(x[last[j].row * d + k], p[k]);
        own = box(p, d - 1) - volume_of(r, keep_front(cut, m, d - 1), d - 1);
        volume += own > 0 ? last[i].width * own : 0;
    }
    return volume;
}

static int
compare_rows(const void *va, const void *vb)
{
    const struct row *a = va, *b = vb;

    for (size_t k = a->n_costs; k-- > 0;)
        if (a->widths[k] != b->widths[k])
            return a->widths[k] > b->widths[k] ? -1 : 1;
    return 0;
}

/* False: the row adds nothing. */
static bool
widths_of(const double *costs, const double *reference, size_t d, double *out)
{
    for (size_t k = 0; k < d; k++) {
        out[k] = reference[k] - costs[k];
        if (!(costs[k] < reference[k]) || !(out[k] > 0))
            return false;
    }
    return true;
}

static bool
has_infinite(const double *widths, size_t d)
{
    for (size_t k = 0; k < d; k++)
        if (!isfinite(widths[k]))
            return true;
    return false;
}

/* n rows of widths into level(d), in one order whatever theirs, without what
 * adds nothing; returns how many. */
static size_t
take(struct room *r, const double *widths, size_t n)
{
    size_t d = r->n_costs;
    double *x = level(r, d);

    for (size_t i = 0; i < n; i++)
        r->rows[i] = (struct row){widths + i * d, d};
    qsort(r->rows, n, sizeof *r->rows, compare_rows);
    for (size_t i = 0; i < n; i++)
        memcpy(x + i * d, r->rows[i].widths, d * sizeof *x);
    return keep_front(x, n, d);
}

/* What is too large for a double is infinite. */
static double
or_infinite(double volume)
{
    return isnan(volume) ? INFINITY : volume;
}

/* What the first n rows of r->given do not have of this box. */
static double
gain_of(struct room *r, size_t n, const double *widths)
{
    size_t d = r->n_costs;
    double *cut = r->cut, own;

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < d; k++)
            cut[i * d + k] = least(r->given[i * d + k], widths[k]);
        if (covers(cut + i * d, widths, d))
            return 0;
    }
    if (has_infinite(widths, d))
        return INFINITY;
    own = box(widths, d) - volume_of(r, take(r, cut, n), d);
    return own < 0 ? 0 : or_infinite(own);
}

int
hypervolume(const double *costs, size_t n, size_t n_costs,
            const double *reference, double *out)
{
    struct room r;
    size_t used = 0;
    bool is_infinite = false;

    if (room_init(&r, n, n_costs) != 0) {
        room_fini(&r);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        double *widths = r.given + used * n_costs;

        if (!widths_of(costs + i * n_costs, reference, n_costs, widths))
            continue;
        is_infinite = is_infinite || has_infinite(widths, n_costs);
        used++;
    }
    *out = is_infinite
               ? (double)INFINITY
               : or_infinite(volume_of(&r, take(&r, r.given, used), n_costs));
    room_fini(&r);
    return 0;
}

int
hypervolume_gain(const double *costs, size_t n, size_t n_costs,
                 const double *reference, const double *point, double *out)
{
    double widths[HYPERVOLUME_COSTS_MAX];
    struct room r;
    size_t used = 0;

    *out = 0;
    if (!widths_of(point, reference, n_costs, widths))
        return 0;
    if (room_init(&r, n, n_costs) != 0) {
        room_fini(&r);
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        used += widths_of(costs + i * n_costs, reference, n_costs,
                          r.given + used * n_costs);
    *out = gain_of(&r, used, widths);
    room_fini(&r);
    return 0;
}

int
hypervolume_contributions(const double *costs, size_t n, size_t n_costs,
                          const double *reference, double *out)
{
    struct room r;

    if (room_init(&r, n, n_costs) != 0) {
        room_fini(&r);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        double widths[HYPERVOLUME_COSTS_MAX];
        size_t used = 0;

        out[i] = 0;
        if (!widths_of(costs + i * n_costs, reference, n_costs, widths))
            continue;
        for (size_t j = 0; j < n; j++)
            if (j != i)
                used += widths_of(costs + j * n_costs, reference, n_costs,
                                  r.given + used * n_costs);
        out[i] = gain_of(&r, used, widths);
    }
    room_fini(&r);
    return 0;
}
