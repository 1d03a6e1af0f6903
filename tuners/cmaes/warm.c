/* SPDX-License-Identifier: MIT */
/* Where to begin, from results of elsewhere: the best tenth of them as a
 * normal distribution, each point spread by alpha (M. Nomura, S. Watanabe, Y.
 * Akimoto, Y. Ozaki, M. Onishi, "Warm Starting CMA-ES for Hyperparameter
 * Optimization", AAAI 2021, equations 12 to 14). */
#include "cmaes/cmaes.h"

#include "elementary.h"

#include <stdlib.h>

#define GAMMA 0.1
#define ALPHA_ELSEWHERE 0.1
#define ALPHA_HERE 0.02

static int
compare(const void *va, const void *vb)
{
    const struct cmaes_point *a = va, *b = vb;

    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->born > b->born) - (a->born < b->born);
}

/* Means of the coordinates that are there; the rest stays in the middle. */
static void
average(struct cmaes *c, size_t n)
{
    for (size_t i = 0; i < c->n_line; i++) {
        double sum = 0, count = 0;

        for (size_t k = 0; k < n; k++)
            if (cmaes_point_is_active(c, &c->warm.at[k], c->line[i])) {
                sum += c->warm.at[k].u[i];
                count++;
            }
        c->gauss.mean[i] = count > 0 ? sum / count : 0.5;
    }
}

/* cov of the best n around their mean, plus alpha^2; sigma takes the scale. */
static void
spread(struct cmaes *c, size_t n, double alpha)
{
    struct cmaes_gauss *g = &c->gauss;
    double log_sum = 0;

    cmaes_gauss_reset(g, 1);
    for (size_t i = 0; i < c->n_line; i++) {
        double *row = g->is_full ? g->cov + i * g->n : NULL;
        size_t first = g->is_full ? 0 : i;

        for (size_t j = first; j <= i; j++) {
            double sum = 0;

            for (size_t k = 0; k < n; k++) {
                const struct cmaes_point *p = &c->warm.at[k];

                if (cmaes_point_is_active(c, p, c->line[i]) &&
                    cmaes_point_is_active(c, p, c->line[j]))
                    sum += (p->u[i] - g->mean[i]) * (p->u[j] - g->mean[j]);
            }
            sum = sum / (double)n + (i == j ? alpha * alpha : 0);
            if (row != NULL)
                row[j] = sum;
            else
                g->cov[i] = sum;
        }
    }
    if (c->n_line == 0)
        return;
    if (cmaes_gauss_factor(g) != 0) {
        cmaes_gauss_reset(g, c->options.sigma);
        return;
    }
    for (size_t i = 0; i < c->n_line; i++)
        log_sum += num_log(g->root[g->is_full ? i * g->n + i : i]);
    cmaes_gauss_scale(g, num_exp(log_sum / (double)c->n_line));
}

/* As if each element had been seen once more than it was. */
static void
count_elements(struct cmaes *c, size_t n)
{
    struct cmaes_categories *t = &c->categories;

    for (size_t i = 0; i < c->n_pick; i++) {
        double total = (double)(t->at[i + 1] - t->at[i]);

        for (size_t k = t->at[i]; k < t->at[i + 1]; k++)
            t->theta[k] = 1;
        for (size_t k = 0; k < n; k++) {
            uint32_t hit = c->warm.at[k].pick[i];

            if (hit == CMAES_UNPICKED)
                continue;
            t->theta[t->at[i] + hit] += 1;
            total += 1;
        }
        for (size_t k = t->at[i]; k < t->at[i + 1]; k++)
            t->theta[k] /= total;
    }
    cmaes_categories_mend(t);
}

static int
start(struct cmaes *c, double alpha)
{
    size_t n = 0, best;

    for (size_t i = 0; i < c->warm.n; i++)
        if (c->warm.at[i].class == CMAES_FINAL)
            n++;
    if (n == 0) {
        cmaes_points_clear(&c->warm);
        return 0;
    }
    for (size_t i = 0; i < c->warm.n; i++)
        c->warm.at[i].born = i; /* the order that qsort need not keep */
    qsort(c->warm.at, c->warm.n, sizeof *c->warm.at, compare);
    best = (size_t)(GAMMA * (double)n);
    best = best > 0 ? best : 1;
    c->best = c->warm.at[0].value;
    average(c, best);
    spread(c, best, alpha);
    count_elements(c, best);
    cmaes_margins(c);
    cmaes_points_clear(&c->warm);
    return 0;
}

int
cmaes_warm_start(struct cmaes *c)
{
    return start(c, ALPHA_ELSEWHERE);
}

int
cmaes_warm_restart(struct cmaes *c)
{
    const struct cmaes_points *points = &c->past.points;

    for (size_t i = 0; i < points->n; i++) {
        struct cmaes_point copy;

        if (cmaes_point_copy(c, &points->at[i], &copy) != 0 ||
            cmaes_points_insert(&c->warm, c->warm.n, &copy) != 0)
            return -1;
    }
    c->generation++; /* what is out was drawn from another distribution */
    return start(c, ALPHA_HERE);
}
