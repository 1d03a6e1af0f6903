/* SPDX-License-Identifier: MIT */
/* MINPACK's enorm and qrfac; lm.h says what they do. */
#include "curvefitting/lm.h"

#include "elementary.h"

#include <float.h>
#include <math.h>
#include <string.h>

double
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

void
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
void
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
