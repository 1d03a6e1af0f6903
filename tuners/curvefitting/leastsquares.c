/* SPDX-License-Identifier: MIT */
/* DESIGN.  The steps are those of MINPACK's lmdif, so that they can be read
 * side by side; matrices are stored by columns.  Conditions are written so
 * that a NaN takes the branch that it takes there. */
#include "curvefitting/leastsquares.h"

#include "elementary.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define LM_N LEASTSQUARES_MAX

struct lm {
    leastsquares_fn *f;
    void *ctx;
    size_t n, m, evaluations;
    double *x;            /* n */
    double *fvec, *trial; /* m each */
    double *fjac;         /* m x n, by columns; then Q below, R above */
    double fnorm;
    size_t pivot[LM_N];
    double rdiag[LM_N], acnorm[LM_N]; /* of R; of the Jacobian's columns */
    double diag[LM_N], qtf[LM_N];
    double par, delta, xnorm, gnorm;
    double step[LM_N];
};

/* Row i, column j of R. */
static inline double *
lm_r(const struct lm *s, size_t i, size_t j)
{
    return &s->fjac[j * s->m + i];
}

static inline double
lm_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double
lm_smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The Euclidean length, without overflow. */
static double
lm_norm(const double *v, size_t n)
{
    double sum = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        double a = fabs(v[i]);

        sum += v[i] * v[i];
        most = a > most ? a : most;
    }
    if ((sum > 1e-280 && sum < 1e280) || most == 0 || !isfinite(most))
        return num_sqrt(sum);
    sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i] / most * (v[i] / most);
    return most * num_sqrt(sum);
}

static void
swap_columns(struct lm *s, size_t a, size_t b, double *wa)
{
    size_t pivot = s->pivot[a];

    for (size_t i = 0; i < s->m; i++) {
        double t = s->fjac[a * s->m + i];

        s->fjac[a * s->m + i] = s->fjac[b * s->m + i];
        s->fjac[b * s->m + i] = t;
    }
    s->rdiag[b] = s->rdiag[a];
    wa[b] = wa[a];
    s->pivot[a] = s->pivot[b];
    s->pivot[b] = pivot;
}

/* The reflection that column j holds, on the columns behind it. */
static void
reflect(struct lm *s, size_t j, double *wa)
{
    size_t m = s->m;
    const double *v = &s->fjac[j * m];

    for (size_t k = j + 1; k < s->n; k++) {
        double *a = &s->fjac[k * m], sum = 0, t;

        for (size_t i = j; i < m; i++)
            sum += v[i] * a[i];
        t = sum / v[j];
        for (size_t i = j; i < m; i++)
            a[i] -= t * v[i];
        if (s->rdiag[k] == 0)
            continue;
        t = a[j] / s->rdiag[k];
        s->rdiag[k] *= num_sqrt(lm_larger(0, 1 - t * t));
        t = s->rdiag[k] / wa[k];
        if (0.05 * (t * t) <= DBL_EPSILON) {
            s->rdiag[k] = lm_norm(a + j + 1, m - j - 1);
            wa[k] = s->rdiag[k];
        }
    }
}

/* The Jacobian in fjac becomes Q and R with column pivoting (MINPACK's
 * qrfac); its columns' lengths go to acnorm. */
static void
lm_factor(struct lm *s)
{
    double wa[LM_N];

    for (size_t j = 0; j < s->n; j++) {
        s->acnorm[j] = lm_norm(&s->fjac[j * s->m], s->m);
        s->rdiag[j] = wa[j] = s->acnorm[j];
        s->pivot[j] = j;
    }
    for (size_t j = 0; j < s->n; j++) {
        double *a = &s->fjac[j * s->m], length;
        size_t most = j;

        for (size_t k = j; k < s->n; k++)
            if (s->rdiag[k] > s->rdiag[most])
                most = k;
        if (most != j)
            swap_columns(s, j, most, wa);
        length = lm_norm(a + j, s->m - j);
        if (length != 0) {
            if (a[j] < 0)
                length = -length;
            for (size_t i = j; i < s->m; i++)
                a[i] /= length;
            a[j] += 1;
            reflect(s, j, wa);
        }
        s->rdiag[j] = -length;
    }
}

/* The first n elements of Q'f, and R's diagonal into its place. */
static void
lm_apply_q(struct lm *s)
{
    size_t m = s->m;
    double *wa = s->trial;

    memcpy(wa, s->fvec, m * sizeof *wa);
    for (size_t j = 0; j < s->n; j++) {
        double *a = &s->fjac[j * m], sum = 0, t;

        if (a[j] != 0) {
            for (size_t i = j; i < m; i++)
                sum += a[i] * wa[i];
            t = -sum / a[j];
            for (size_t i = j; i < m; i++)
                wa[i] += a[i] * t;
        }
        a[j] = s->rdiag[j];
        s->qtf[j] = wa[j];
    }
}

/* ---- steps ---- */

/* MINPACK's qrsolv and lmpar; lm.h says what they do. */

/* One Givens rotation of qrsolv: row k of R with the row of d. */
static void
rotate(struct lm *s, size_t k, double *sdiag, double *wa, double *qtbpj)
{
    double r = *lm_r(s, k, k), sine, cosine, t;

    if (fabs(r) < fabs(sdiag[k])) {
        t = r / sdiag[k];
        sine = 0.5 / num_sqrt(0.25 + 0.25 * (t * t));
        cosine = sine * t;
    } else {
        t = sdiag[k] / r;
        cosine = 0.5 / num_sqrt(0.25 + 0.25 * (t * t));
        sine = cosine * t;
    }
    *lm_r(s, k, k) = cosine * r + sine * sdiag[k];
    t = cosine * wa[k] + sine * *qtbpj;
    *qtbpj = -sine * wa[k] + cosine * *qtbpj;
    wa[k] = t;
    for (size_t i = k + 1; i < s->n; i++) {
        double *below = lm_r(s, i, k);

        t = cosine * *below + sine * sdiag[i];
        sdiag[i] = -sine * *below + cosine * sdiag[i];
        *below = t;
    }
}

/* Solves R z = wa for the part that is not singular, by columns; the diagonal
 * is given, what lies above it is in R, or, transposed, below it. */
static void
qrsolv_back(struct lm *s, const double *sdiag, double *wa)
{
    size_t n = s->n, regular = n;

    for (size_t j = 0; j < n; j++) {
        if (sdiag[j] == 0 && regular == n)
            regular = j;
        if (regular < n)
            wa[j] = 0;
    }
    for (size_t j = regular; j-- > 0;) {
        double sum = 0;

        for (size_t i = j + 1; i < regular; i++)
            sum += *lm_r(s, i, j) * wa[i];
        wa[j] = (wa[j] - sum) / sdiag[j];
    }
    for (size_t j = 0; j < n; j++)
        s->step[s->pivot[j]] = wa[j];
}

static void
qrsolv(struct lm *s, const double *diag, double *sdiag)
{
    double wa[LM_N], x[LM_N];
    size_t n = s->n;

    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++)
            *lm_r(s, i, j) = *lm_r(s, j, i);
        x[j] = *lm_r(s, j, j);
        wa[j] = s->qtf[j];
    }
    for (size_t j = 0; j < n; j++) {
        double qtbpj = 0;

        if (diag[s->pivot[j]] != 0) {
            for (size_t k = j; k < n; k++)
                sdiag[k] = 0;
            sdiag[j] = diag[s->pivot[j]];
            for (size_t k = j; k < n; k++)
                if (sdiag[k] != 0)
                    rotate(s, k, sdiag, wa, &qtbpj);
        }
        sdiag[j] = *lm_r(s, j, j);
        *lm_r(s, j, j) = x[j];
    }
    qrsolv_back(s, sdiag, wa);
}

/* The Gauss-Newton step; returns how much of R is not singular. */
static size_t
gauss_newton(struct lm *s)
{
    size_t n = s->n, regular = n;
    double wa[LM_N];

    for (size_t j = 0; j < n; j++) {
        wa[j] = s->qtf[j];
        if (*lm_r(s, j, j) == 0 && regular == n)
            regular = j;
        if (regular < n)
            wa[j] = 0;
    }
    for (size_t j = regular; j-- > 0;) {
        wa[j] /= *lm_r(s, j, j);
        for (size_t i = 0; i < j; i++)
            wa[i] -= *lm_r(s, i, j) * wa[j];
    }
    for (size_t j = 0; j < n; j++)
        s->step[s->pivot[j]] = wa[j];
    return regular;
}

/* The scaled step and its length. */
static double
scaled(const struct lm *s, double *out)
{
    for (size_t j = 0; j < s->n; j++)
        out[j] = s->diag[j] * s->step[j];
    return lm_norm(out, s->n);
}

/* ((fp / delta) / t) / t, t the length of what R' (or sdiag) makes of the
 * scaled direction. */
static double
newton_lower(const struct lm *s, const double *scaled_step, double length,
             double fp)
{
    double wa[LM_N], t;

    for (size_t j = 0; j < s->n; j++) {
        size_t l = s->pivot[j];
        double sum = 0;

        wa[j] = s->diag[l] * (scaled_step[l] / length);
        for (size_t i = 0; i < j; i++)
            sum += *lm_r(s, i, j) * wa[i];
        wa[j] = (wa[j] - sum) / *lm_r(s, j, j);
    }
    t = lm_norm(wa, s->n);
    return fp / s->delta / t / t;
}

static double
newton_correction(const struct lm *s, const double *scaled_step, double length,
                  double fp, const double *sdiag)
{
    double wa[LM_N], t;

    for (size_t j = 0; j < s->n; j++)
        wa[j] = s->diag[s->pivot[j]] * (scaled_step[s->pivot[j]] / length);
    for (size_t j = 0; j < s->n; j++) {
        wa[j] /= sdiag[j];
        for (size_t i = j + 1; i < s->n; i++)
            wa[i] -= *lm_r(s, i, j) * wa[j];
    }
    t = lm_norm(wa, s->n);
    return fp / s->delta / t / t;
}

static double
gradient_norm(const struct lm *s)
{
    double wa[LM_N];

    for (size_t j = 0; j < s->n; j++) {
        wa[j] = 0;
        for (size_t i = 0; i <= j; i++)
            wa[j] += *lm_r(s, i, j) * s->qtf[i];
        wa[j] /= s->diag[s->pivot[j]];
    }
    return lm_norm(wa, s->n);
}

/* Sets par and step: the least-squares step whose scaled length is delta, to a
 * tenth, or the Gauss-Newton step where that is shorter (lmpar). */
static void
lm_par(struct lm *s)
{
    double wa[LM_N], diag[LM_N], sdiag[LM_N], length, fp, parl = 0, paru, gnorm;
    size_t regular = gauss_newton(s);

    length = scaled(s, wa);
    fp = length - s->delta;
    if (fp <= 0.1 * s->delta) {
        s->par = 0;
        return;
    }
    if (regular >= s->n)
        parl = newton_lower(s, wa, length, fp);
    gnorm = gradient_norm(s);
    paru = gnorm / s->delta;
    if (paru == 0)
        paru = DBL_MIN / lm_smaller(s->delta, 0.1);
    s->par = lm_smaller(lm_larger(s->par, parl), paru);
    if (s->par == 0)
        s->par = gnorm / length;
    for (int i = 1;; i++) {
        double before = fp, root, correction;

        if (s->par == 0)
            s->par = lm_larger(DBL_MIN, 0.001 * paru);
        root = num_sqrt(s->par);
        for (size_t j = 0; j < s->n; j++)
            diag[j] = root * s->diag[j];
        qrsolv(s, diag, sdiag);
        length = scaled(s, wa);
        fp = length - s->delta;
        if (fabs(fp) <= 0.1 * s->delta ||
            (parl == 0 && fp <= before && before < 0) || i == 10)
            return;
        correction = newton_correction(s, wa, length, fp, sdiag);
        if (fp > 0)
            parl = lm_larger(parl, s->par);
        if (fp < 0)
            paru = lm_smaller(paru, s->par);
        s->par = lm_larger(parl, s->par + correction);
    }
}

/* ---- the fit ---- */

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
