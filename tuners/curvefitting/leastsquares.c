/* SPDX-License-Identifier: MIT */
/* DESIGN.  The steps are those of MINPACK's lmdif, so that they can be read
 * side by side; matrices are stored by columns.  Conditions are written so
 * that a NaN takes the branch that it takes there. */
#include "curvefitting/leastsquares.h"

#include "curvefitting/lm.h"
#include "elementary.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define TOLERANCE 1.49012e-8
#define FACTOR 100

static void
evaluate(struct lm *s, const double *x, double *out)
{
    s->f(s->ctx, x, out, s->m);
    s->evaluations++;
}

static void
fdjac2(struct lm *s)
{
    double eps = num_sqrt(DBL_EPSILON);

    for (size_t j = 0; j < s->n; j++) {
        double *column = &s->fjac[j * s->m], x = s->x[j];
        double h = eps * fabs(x);

        h = h == 0 ? eps : h;
        s->x[j] = x + h;
        evaluate(s, s->x, column);
        s->x[j] = x;
        for (size_t i = 0; i < s->m; i++)
            column[i] = (column[i] - s->fvec[i]) / h;
    }
}

static void
set_gnorm(struct lm *s)
{
    s->gnorm = 0;
    if (s->fnorm == 0)
        return;
    for (size_t j = 0; j < s->n; j++) {
        double sum = 0, length = s->acnorm[s->pivot[j]];

        if (length == 0)
            continue;
        for (size_t i = 0; i <= j; i++)
            sum += *lm_r(s, i, j) * (s->qtf[i] / s->fnorm);
        s->gnorm = lm_larger(s->gnorm, fabs(sum / length));
    }
}

/* What a step gave, what it was to give, and the slope along it. */
struct gain {
    double actual, predicted, slope, ratio;
};

static struct gain
gain_of(const struct lm *s, double fnorm1, double length)
{
    struct gain g = {.actual = -1};
    double wa[LM_N] = {0}, along, damped;

    if (0.1 * fnorm1 < s->fnorm)
        g.actual = 1 - fnorm1 / s->fnorm * (fnorm1 / s->fnorm);
    for (size_t j = 0; j < s->n; j++)
        for (size_t i = 0; i <= j; i++)
            wa[i] += *lm_r(s, i, j) * s->step[s->pivot[j]];
    along = lm_norm(wa, s->n) / s->fnorm;
    damped = num_sqrt(s->par) * length / s->fnorm;
    g.predicted = along * along + damped * damped / 0.5;
    g.slope = -(along * along + damped * damped);
    g.ratio = g.predicted != 0 ? g.actual / g.predicted : 0;
    return g;
}

static void
set_delta(struct lm *s, const struct gain *g, double fnorm1, double length)
{
    double t = 0.5;

    if (g->ratio > 0.25) {
        if (s->par == 0 || !(g->ratio < 0.75)) {
            s->delta = length / 0.5;
            s->par *= 0.5;
        }
        return;
    }
    if (g->actual < 0)
        t = 0.5 * g->slope / (g->slope + 0.5 * g->actual);
    if (0.1 * fnorm1 >= s->fnorm || t < 0.1)
        t = 0.1;
    s->delta = t * lm_smaller(s->delta, length / 0.1);
    s->par /= t;
}

/* The length of v, scaled. */
static double
scaled_norm(const struct lm *s, const double *v)
{
    double wa[LM_N];

    for (size_t j = 0; j < s->n; j++)
        wa[j] = s->diag[j] * v[j];
    return lm_norm(wa, s->n);
}

enum { GOING, CONVERGED, STUCK };

static int
state_of(const struct lm *s, const struct gain *g)
{
    bool no_gain = g->ratio <= 2;

    if ((fabs(g->actual) <= TOLERANCE && g->predicted <= TOLERANCE &&
         no_gain) ||
        s->delta <= TOLERANCE * s->xnorm)
        return CONVERGED;
    if (s->evaluations >= 200 * (s->n + 1) ||
        (fabs(g->actual) <= DBL_EPSILON && g->predicted <= DBL_EPSILON &&
         no_gain) ||
        s->delta <= DBL_EPSILON * s->xnorm || s->gnorm <= DBL_EPSILON)
        return STUCK;
    return GOING;
}

/* Steps from one Jacobian until one leads down. */
static int
descend(struct lm *s, bool first)
{
    double x[LM_N], length, fnorm1;
    struct gain g;
    int state;

    do {
        lm_par(s);
        for (size_t j = 0; j < s->n; j++)
            x[j] = s->x[j] - s->step[j];
        length = scaled_norm(s, s->step);
        if (first)
            s->delta = lm_smaller(s->delta, length);
        evaluate(s, x, s->trial);
        fnorm1 = lm_norm(s->trial, s->m);
        g = gain_of(s, fnorm1, length);
        set_delta(s, &g, fnorm1, length);
        if (!(g.ratio < 1e-4)) {
            memcpy(s->x, x, s->n * sizeof *x);
            memcpy(s->fvec, s->trial, s->m * sizeof *s->fvec);
            s->xnorm = scaled_norm(s, x);
            s->fnorm = fnorm1;
            first = false;
        }
        state = state_of(s, &g);
    } while (state == GOING && g.ratio < 1e-4);
    return state;
}

static void
set_scale(struct lm *s)
{
    for (size_t j = 0; j < s->n; j++)
        s->diag[j] = s->acnorm[j] == 0 ? 1 : s->acnorm[j];
    s->xnorm = scaled_norm(s, s->x);
    s->delta = FACTOR * s->xnorm;
    if (s->delta == 0)
        s->delta = FACTOR;
}

static int
minimise(struct lm *s)
{
    int state = GOING;

    evaluate(s, s->x, s->fvec);
    s->fnorm = lm_norm(s->fvec, s->m);
    if (!isfinite(s->fnorm))
        return STUCK;
    for (bool first = true; state == GOING; first = false) {
        fdjac2(s);
        lm_factor(s);
        if (first)
            set_scale(s);
        lm_apply_q(s);
        set_gnorm(s);
        if (s->gnorm <= 0)
            return CONVERGED;
        for (size_t j = 0; j < s->n; j++)
            s->diag[j] = lm_larger(s->diag[j], s->acnorm[j]);
        state = descend(s, first);
    }
    return state;
}

int
leastsquares(leastsquares_fn *f, void *ctx, double *p, size_t n, size_t m,
             double *work)
{
    double x[LM_N];
    struct lm s = {.f = f,
                   .ctx = ctx,
                   .n = n,
                   .m = m,
                   .x = x,
                   .fvec = work,
                   .trial = work + m,
                   .fjac = work + 2 * m};

    memcpy(x, p, n * sizeof *x);
    if (minimise(&s) != CONVERGED)
        return -1;
    memcpy(p, x, n * sizeof *x);
    return 0;
}
