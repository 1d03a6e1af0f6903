/* SPDX-License-Identifier: MIT */
/* MINPACK's qrsolv and lmpar; lm.h says what they do. */
#include "curvefitting/lm.h"

#include "elementary.h"

#include <float.h>
#include <math.h>

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

void
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
