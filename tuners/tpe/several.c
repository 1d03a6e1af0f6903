/* SPDX-License-Identifier: MIT */
#include "tpe/several.h"

#include "front.h"
#include "grow.h"
#include "hypervolume.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is ordered: points of one kind, in the order in which they came. */
struct pool {
    const struct several *several;
    size_t n;
    double *costs; /* n_costs a point, as it came */
    double *violations;
    uint32_t *ranks, *rows; /* by number in the pool; in the order */
    double *chosen;         /* costs of those that were chosen */
    double *bounds;         /* of what others would add */
};

void
tpe_several_fini(struct several *s)
{
    free(s->costs);
    free(s->violations);
}

static bool
has_row(const struct point *point)
{
    return point->state == POINT_DONE || point->state == POINT_STOPPED;
}

int
tpe_several_add(struct several *s, const double *costs, double violation,
                uint32_t *row)
{
    if (s->n == s->room) {
        size_t room = grow_cap(s->room);

        if (room >= UINT32_MAX ||
            grow_to(&s->costs, room, s->n_costs * sizeof *s->costs) != 0 ||
            grow_to(&s->violations, room, sizeof *s->violations) != 0)
            return -1;
        s->room = room;
    }
    memcpy(s->costs + s->n * s->n_costs, costs, s->n_costs * sizeof *costs);
    s->violations[s->n] = violation > 0      ? violation
                          : isnan(violation) ? (double)INFINITY
                                             : 0;
    *row = (uint32_t)s->n++;
    return 0;
}

static void
pool_fini(struct pool *pool)
{
    free(pool->costs);
    free(pool->ranks);
}

static int
pool_init(struct pool *pool, const struct several *s, const struct points *p,
          const uint32_t *came, size_t n)
{
    size_t k = s->n_costs;

    *pool = (struct pool){.several = s, .n = n};
    pool->costs = calloc(2 * n * (k + 1) + 1, sizeof *pool->costs);
    pool->ranks = calloc(2 * n + 1, sizeof *pool->ranks);
    if (pool->costs == NULL || pool->ranks == NULL)
        return -1;
    pool->chosen = pool->costs + n * k;
    pool->violations = pool->chosen + n * k;
    pool->bounds = pool->violations + n;
    pool->rows = pool->ranks + n;
    for (size_t i = 0; i < n; i++) {
        uint32_t row = p->all[came[i]].row;

        memcpy(pool->costs + i * k, s->costs + row * k,
               k * sizeof *pool->costs);
        pool->violations[i] = s->violations[row];
    }
    return front_ranks(pool->costs, pool->violations, n, k, pool->ranks);
}

static const double *
costs_of(const struct pool *pool, uint32_t row)
{
    return pool->costs + row * pool->several->n_costs;
}

/* A tenth of what the front spans beyond its worst. */
static void
reference_of(const struct pool *pool, const uint32_t *rows, size_t n,
             double *reference)
{
    for (size_t k = 0; k < pool->several->n_costs; k++) {
        double least = INFINITY, most = -INFINITY;

        for (size_t i = 0; i < n; i++) {
            double c = costs_of(pool, rows[i])[k];

            least = c < least ? c : least;
            most = c > most ? c : most;
        }
        reference[k] = most + (most > least ? 0.1 * (most - least) : 1);
    }
}

static void
swap_rows(struct pool *pool, uint32_t *rows, size_t a, size_t b)
{
    uint32_t row = rows[a];
    double bound = pool->bounds[a];

    rows[a] = rows[b];
    rows[b] = row;
    pool->bounds[a] = pool->bounds[b];
    pool->bounds[b] = bound;
}

/* The first `want` of the n rows of a front become those that add most to what
 * the ones before them have. */
static int
choose(struct pool *pool, uint32_t *rows, size_t n, size_t want)
{
    size_t k = pool->several->n_costs;
    double reference[SEVERAL_MAX];

    reference_of(pool, rows, n, reference);
    for (size_t i = 0; i < n; i++)
        pool->bounds[i] = INFINITY;
    for (size_t done = 0; done < want && done < n;) {
        size_t best = done;
        double before;

        for (size_t i = done + 1; i < n; i++)
            if (pool->bounds[i] > pool->bounds[best])
                best = i;
        before = pool->bounds[best];
        swap_rows(pool, rows, done, best);
        if (hypervolume_gain(pool->chosen, done, k, reference,
                             costs_of(pool, rows[done]),
                             &pool->bounds[done]) != 0)
            return -1;
        best = done;
        for (size_t i = done + 1; i < n; i++)
            if (pool->bounds[i] > pool->bounds[best])
                best = i;
        if (pool->bounds[done] < before && best != done)
            continue;
        memcpy(pool->chosen + done * k, costs_of(pool, rows[done]),
               k * sizeof *pool->chosen);
        done++;
    }
    return 0;
}

static int
order_pool(struct pool *pool, size_t want)
{
    size_t n = 0;

    for (uint32_t rank = 0; n < pool->n; rank++) {
        size_t first = n;

        for (uint32_t i = 0; i < pool->n; i++)
            if (pool->ranks[i] == rank)
                pool->rows[n++] = i;
        if (first >= want) { /* the rest as they came */
            for (uint32_t i = 0; i < pool->n; i++)
                if (pool->ranks[i] > rank)
                    pool->rows[n++] = i;
        } else if (choose(pool, pool->rows + first, n - first, want - first) !=
                   0) {
            return -1;
        }
    }
    return 0;
}

/* n ranked points, which may be told apart by their costs alone. */
static int
order_run(const struct several *s, struct points *p, uint32_t *run, size_t n,
          size_t want)
{
    uint32_t *order = calloc(n + 1, sizeof *order);
    struct pool pool;
    int rc = -1;

    if (order == NULL)
        return -1;
    if (pool_init(&pool, s, p, run, n) == 0 && order_pool(&pool, want) == 0) {
        for (size_t i = 0; i < n; i++)
            order[i] = run[pool.rows[i]];
        memcpy(run, order, n * sizeof *order);
        for (size_t i = 0; i < n; i++)
            p->all[run[i]].loss = (double)i;
        rc = 0;
    }
    pool_fini(&pool);
    free(order);
    return rc;
}

/* Behind the points of the run that begins at `first`: the complete ones, or
 * those that were stopped at one step. */
static size_t
end_of_run(const struct points *p, size_t first)
{
    size_t end = first, n = tpe_points_ranked(p);

    if (first < p->n_done)
        return p->n_done;
    while (end < n &&
           p->all[p->ranked[end]].step == p->all[p->ranked[first]].step)
        end++;
    return end;
}

int
tpe_several_order(const struct several *s, struct points *p, size_t want)
{
    size_t n = p->n_done > 0 ? p->n_done : p->n_stopped;

    for (size_t first = 0, end; first < n && first < want; first = end) {
        end = end_of_run(p, first);
        if (order_run(s, p, p->ranked + first, end - first, want - first) != 0)
            return -1;
    }
    return 0;
}

static int
compare_numbers(const void *va, const void *vb)
{
    const uint32_t *a = va, *b = vb;

    return *a < *b ? -1 : *a > *b;
}

void
tpe_several_level(struct points *p)
{
    size_t n = tpe_points_ranked(p);

    for (size_t first = 0, end; first < n; first = end) {
        end = end_of_run(p, first);
        qsort(p->ranked + first, end - first, sizeof *p->ranked,
              compare_numbers);
        for (size_t i = first; i < end; i++)
            p->all[p->ranked[i]].loss = 0;
    }
}

void
tpe_several_save(const struct several *s, const struct points *p,
                 const struct tp_sink *sink)
{
    for (size_t i = 0; i < p->n; i++) {
        size_t row = p->all[i].row;

        if (!has_row(&p->all[i]))
            continue;
        tp_put_f64(sink, s->violations[row]);
        tp_put_f64s(sink, s->costs + row * s->n_costs, s->n_costs);
    }
}

const char *
tpe_several_load(struct several *s, struct points *p,
                 const struct tp_source *source)
{
    for (size_t i = 0; i < p->n; i++) {
        double costs[SEVERAL_MAX], violation;

        if (!has_row(&p->all[i]))
            continue;
        if (tp_get_f64(source, &violation) != TP_OK ||
            tp_get_f64s(source, costs, s->n_costs) != TP_OK)
            return "the saved costs are cut off";
        if (!(violation >= 0) || p->all[i].loss != 0)
            return "a saved point is damaged";
        for (size_t k = 0; k < s->n_costs; k++)
            if (!isfinite(costs[k]))
                return "a saved cost is no number";
        if (tpe_several_add(s, costs, violation, &p->all[i].row) != 0)
            return "out of memory";
    }
    return NULL;
}
