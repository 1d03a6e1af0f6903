/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * Costs are first replaced by their levels: 0 the least, 1 the next, ...; equal
 * ones, among them NaN and NaN, have one.  From there on there are only
 * integers below n, which are sorted by counting. */
#include "front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    double value;
    uint32_t row;
};

/* Rows, sorted and compared; each array has n items unless it says. */
struct table {
    size_t n, n_costs;
    uint32_t *levels; /* n_costs a row */
    uint32_t *far;    /* levels of the violations */
    uint32_t *order;
    uint32_t *scratch;  /* n + 1 */
    uint32_t *swap;     /* of one sort */
    uint32_t *head;     /* of a front its row found last */
    uint32_t *previous; /* of a row, in its front */
    struct entry *entries;
};

#define NO_ROW UINT32_MAX

int
front_compare(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static double
distance_beyond(double violation)
{
    return violation <= 0 ? 0 : violation;
}

bool
front_dominates(const double *a, double violation_a, const double *b,
                double violation_b, size_t n_costs)
{
    int far = front_compare(distance_beyond(violation_a),
                            distance_beyond(violation_b));
    bool is_better = false;

    if (far != 0)
        return far < 0;
    for (size_t k = 0; k < n_costs; k++) {
        int c = front_compare(a[k], b[k]);

        if (c > 0)
            return false;
        is_better = is_better || c < 0;
    }
    return is_better;
}

static int
compare_entries(const void *va, const void *vb)
{
    const struct entry *a = va, *b = vb;
    int c = front_compare(a->value, b->value);

    return c != 0 ? c : (a->row > b->row) - (a->row < b->row);
}

/* Levels of the entries' values, `stride` apart. */
static void
level(struct table *t, uint32_t *out, size_t stride)
{
    uint32_t at = 0;

    qsort(t->entries, t->n, sizeof *t->entries, compare_entries);
    for (size_t i = 0; i < t->n; i++) {
        const struct entry *e = &t->entries[i];

        if (i > 0 && front_compare(e[-1].value, e->value) != 0)
            at++;
        out[e->row * stride] = at;
    }
}

static void
table_fini(struct table *t)
{
    free(t->levels);
    free(t->far);
    free(t->entries);
}

/* -1: out of memory; table_fini() in any case. */
static int
table_init(struct table *t, const double *costs, const double *violations,
           size_t n, size_t n_costs)
{
    *t = (struct table){.n = n, .n_costs = n_costs};
    if (n >= NO_ROW)
        return -1;
    t->levels = calloc(n * n_costs + 1, sizeof *t->levels);
    t->far = calloc(6 * n + 1, sizeof *t->far);
    t->entries = calloc(n + 1, sizeof *t->entries);
    if (t->levels == NULL || t->far == NULL || t->entries == NULL)
        return -1;
    t->order = t->far + n;
    t->swap = t->order + n;
    t->head = t->swap + n;
    t->previous = t->head + n;
    t->scratch = t->previous + n;
    for (size_t k = 0; k < n_costs; k++) {
        for (uint32_t i = 0; i < n; i++)
            t->entries[i] = (struct entry){costs[i * n_costs + k], i};
        level(t, t->levels + k, n_costs);
    }
    for (uint32_t i = 0; violations != NULL && i < n; i++)
        t->entries[i] = (struct entry){distance_beyond(violations[i]), i};
    if (violations != NULL)
        level(t, t->far, 1);
    return 0;
}

/* The first n rows of the order by these keys, which are below n; where they
 * are equal it stays as it was. */
static void
sort_by(struct table *t, size_t n, const uint32_t *keys, size_t stride)
{
    uint32_t *starts = t->scratch;

    memset(starts, 0, (t->n + 1) * sizeof *starts);
    for (size_t i = 0; i < n; i++)
        starts[keys[t->order[i] * stride] + 1]++;
    for (size_t i = 1; i <= t->n; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < n; i++)
        t->swap[starts[keys[t->order[i] * stride]]++] = t->order[i];
    memcpy(t->order, t->swap, n * sizeof *t->order);
}

/* The order by these keys, then by the costs, the first before the others. */
static void
sort_all(struct table *t, const uint32_t *keys)
{
    for (uint32_t i = 0; i < t->n; i++)
        t->order[i] = i;
    for (size_t k = t->n_costs; k-- > 0;)
        sort_by(t, t->n, t->levels + k, t->n_costs);
    sort_by(t, t->n, keys, 1);
}

static const uint32_t *
levels_of(const struct table *t, uint32_t row)
{
    return t->levels + row * t->n_costs;
}

static bool
is_equal(const struct table *t, uint32_t a, uint32_t b)
{
    return memcmp(levels_of(t, a), levels_of(t, b),
                  t->n_costs * sizeof *t->levels) == 0;
}

/* Whether a row of the front dominates this one, which comes behind all of
 * them in the order and is like none.  With two costs the last one has the
 * least second cost. */
static bool
front_has_better(const struct table *t, uint32_t front, uint32_t row)
{
    const uint32_t *b = levels_of(t, row);

    for (uint32_t i = t->head[front]; i != NO_ROW; i = t->previous[i]) {
        const uint32_t *a = levels_of(t, i);
        size_t k = 1;

        while (k < t->n_costs && a[k] <= b[k])
            k++;
        if (k == t->n_costs)
            return true;
        if (t->n_costs == 2)
            return false;
    }
    return false;
}

/* The ranks of rows that are equally far, `first` up to `end` of the order,
 * from `base` on; returns the rank behind them.  A row that a front dominates
 * is dominated by all fronts before it. */
static uint32_t
rank_group(struct table *t, size_t first, size_t end, uint32_t base,
           uint32_t *ranks)
{
    uint32_t n_fronts = 0;

    for (size_t i = first; i < end; i++) {
        uint32_t row = t->order[i], low = 0, high = n_fronts;

        if (i > first && is_equal(t, t->order[i - 1], row)) {
            ranks[row] = ranks[t->order[i - 1]];
            continue;
        }
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (front_has_better(t, middle, row))
                low = middle + 1;
            else
                high = middle;
        }
        if (low == n_fronts)
            t->head[n_fronts++] = NO_ROW;
        t->previous[row] = t->head[low];
        t->head[low] = row;
        ranks[row] = base + low;
    }
    return base + n_fronts;
}

static void
rank_all(struct table *t, uint32_t *ranks)
{
    uint32_t base = 0;

    sort_all(t, t->far);
    for (size_t i = 0, end; i < t->n; i = end) {
        for (end = i; end < t->n; end++)
            if (t->far[t->order[end]] != t->far[t->order[i]])
                break;
        base = rank_group(t, i, end, base, ranks);
    }
}

int
front_ranks(const double *costs, const double *violations, size_t n,
            size_t n_costs, uint32_t *ranks)
{
    struct table t;
    int rc = table_init(&t, costs, violations, n, n_costs);

    if (rc == 0)
        rank_all(&t, ranks);
    table_fini(&t);
    return rc;
}

/* What lies between two neighbours, of the width of their front. */
static double
gap(double before, double after, double width)
{
    double part = (after - before) / width;

    if (isfinite(after - before) && isfinite(part))
        return part;
    return front_compare(before, after) != 0;
}

/* Of the finite costs of these rows. */
static double
width_of(const double *costs, size_t stride, const uint32_t *rows, size_t n)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        double c = costs[rows[i] * stride];

        if (isfinite(c)) {
            least = c < least ? c : least;
            most = c > most ? c : most;
        }
    }
    return most - least;
}

void
front_crowd(const double *costs, size_t stride, const uint32_t *rows, size_t n,
            double *out)
{
    double width = width_of(costs, stride, rows, n);

    if (n == 0)
        return;
    out[rows[0]] = out[rows[n - 1]] = INFINITY;
    for (size_t i = 1; i + 1 < n; i++)
        out[rows[i]] += gap(costs[rows[i - 1] * stride],
                            costs[rows[i + 1] * stride], width);
}

static void
crowd(struct table *t, const double *costs, const uint32_t *ranks, double *out)
{
    size_t n = 0;

    memset(out, 0, t->n * sizeof *out);
    sort_all(t, ranks);
    for (size_t i = 0; i < t->n; i++) {
        uint32_t row = t->order[i];

        if (n == 0 || ranks[t->order[n - 1]] != ranks[row] ||
            !is_equal(t, t->order[n - 1], row))
            t->order[n++] = row;
    }
    for (size_t k = 0; k < t->n_costs; k++) {
        for (size_t i = 0; i < t->n; i++)
            t->previous[i] = (uint32_t)i;
        sort_by(t, n, t->previous, 1);
        sort_by(t, n, t->levels + k, t->n_costs);
        sort_by(t, n, ranks, 1);
        for (size_t i = 0, end; i < n; i = end) {
            for (end = i; end < n; end++)
                if (ranks[t->order[end]] != ranks[t->order[i]])
                    break;
            front_crowd(costs + k, t->n_costs, t->order + i, end - i, out);
        }
    }
}

int
front_crowding(const double *costs, size_t n, size_t n_costs,
               const uint32_t *ranks, double *out)
{
    struct table t;
    int rc = table_init(&t, costs, NULL, n, n_costs);

    if (rc == 0)
        crowd(&t, costs, ranks, out);
    table_fini(&t);
    return rc;
}

int
front_order(const double *costs, const double *violations, size_t n,
            size_t n_costs, uint32_t *order)
{
    uint32_t *ranks = calloc(n + 1, sizeof *ranks);
    double *crowding = calloc(n + 1, sizeof *crowding);
    struct table t;
    int rc = table_init(&t, costs, violations, n, n_costs);

    if (ranks == NULL || crowding == NULL)
        rc = -1;
    if (rc == 0) {
        rank_all(&t, ranks);
        crowd(&t, costs, ranks, crowding);
        for (uint32_t i = 0; i < n; i++) {
            t.entries[i] = (struct entry){-crowding[i], i};
            t.order[i] = i;
        }
        level(&t, t.far, 1);
        sort_by(&t, n, t.far, 1);
        sort_by(&t, n, ranks, 1);
        memcpy(order, t.order, n * sizeof *order);
    }
    table_fini(&t);
    free(ranks);
    free(crowding);
    return rc;
}
