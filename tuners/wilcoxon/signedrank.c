/* SPDX-License-Identifier: MIT */
/* DESIGN.  Ranks are counted twice, so that a mean of ranks is a whole number.
 * The exact distribution of the sum of the positive ones is then found by
 * adding one difference after the other: either its doubled rank is in the sum
 * or it is not, each with probability 1/2.  Zeros move nothing: half of their
 * ranks is always in. */
#include "wilcoxon/signedrank.h"

#include "elementary.h"
#include "normal.h"

#include <math.h>
#include <stdlib.h>

struct item {
    double size;
    int sign;
};

static int
by_size(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return (x->size > y->size) - (x->size < y->size);
}

/* What the items are: their ranks, doubled; the ties' part of the variance. */
struct ranks {
    const struct item *items;
    size_t *doubled;
    size_t n;
    size_t positive; /* sum of the doubled ranks above 0, zeros' half added */
    size_t zeros;    /* half of the sum of their doubled ranks */
    double ties;     /* sum of t^3 - t */
};

static void
rank(struct ranks *r)
{
    size_t end;

    for (size_t i = 0; i < r->n; i = end) {
        double t;

        end = i + 1;
        while (end < r->n && r->items[end].size == r->items[i].size)
            end++;
        t = (double)(end - i);
        r->ties += t * t * t - t;
        for (size_t k = i; k < end; k++) {
            r->doubled[k] = i + 1 + end; /* ranks i + 1 to end */
            if (r->items[k].sign > 0)
                r->positive += r->doubled[k];
            else if (r->items[k].sign == 0)
                r->zeros += r->doubled[k];
        }
    }
    r->zeros /= 2; /* t (t + 1) is even */
    r->positive += r->zeros;
}

static double
exact(const struct ranks *r)
{
    size_t most = r->n * (r->n + 1), reached = 0;
    double *p = calloc(most + 1, sizeof *p), tail = 0;

    if (p == NULL)
        return NAN;
    p[0] = 1;
    for (size_t i = 0; i < r->n; i++) {
        size_t rank_i = r->doubled[i];

        if (r->items[i].sign == 0)
            continue;
        reached += rank_i;
        for (size_t k = reached + 1; k-- > 0;)
            p[k] = 0.5 * p[k] + (k >= rank_i ? 0.5 * p[k - rank_i] : 0);
    }
    for (size_t k = most + 1; k-- > r->positive - r->zeros;)
        tail += p[k];
    free(p);
    return tail < 1 ? tail : 1;
}

static double
normal(const struct ranks *r)
{
    double n = (double)r->n, mean = n * (n + 1) / 4;
    double variance = (n * (n + 1) * (2 * n + 1) - 0.5 * r->ties) / 24;

    return num_normal_cdf((mean - (double)r->positive / 2) /
                          num_sqrt(variance));
}

double
signedrank_greater(const double *d, size_t n)
{
    struct item *items = calloc(n, sizeof *items);
    struct ranks r = {
        .items = items, .doubled = calloc(n, sizeof *r.doubled), .n = n};
    double p = NAN;

    if (items != NULL && r.doubled != NULL) {
        for (size_t i = 0; i < n; i++)
            items[i] = (struct item){fabs(d[i]), (d[i] > 0) - (d[i] < 0)};
        qsort(items, n, sizeof *items, by_size);
        rank(&r);
        p = n <= SIGNEDRANK_EXACT ? exact(&r) : normal(&r);
    }
    free(items);
    free(r.doubled);
    return p;
}
