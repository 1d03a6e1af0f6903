/* SPDX-License-Identifier: MIT */
#include "qmc/qmc.h"

#include "elementary.h"
#include "sobol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct qmc {
    struct num_sobol sobol;
    struct qmc_dim *dims;
    uint32_t *dimension; /* of the sequence */
    size_t n;
    uint32_t n_dimensions;
};

/* What hangs on one element of a choice. */
struct member {
    const struct qmc_dim *dim;
    size_t number, group;
};

static int
compare(const void *va, const void *vb)
{
    const struct member *a = va, *b = vb;

    if (a->dim->parent != b->dim->parent)
        return a->dim->parent < b->dim->parent ? -1 : 1;
    if (a->dim->parent_choice != b->dim->parent_choice)
        return a->dim->parent_choice < b->dim->parent_choice ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* group[i]: a number for what i's parent and its element are. */
static int
find_groups(const struct qmc *q, size_t *group)
{
    struct member *members = malloc((q->n + 1) * sizeof *members);
    size_t n = 0;

    if (members == NULL)
        return -1;
    for (size_t i = 0; i < q->n; i++)
        members[i] = (struct member){&q->dims[i], i, 0};
    qsort(members, q->n, sizeof *members, compare);
    for (size_t i = 0; i < q->n; i++) {
        const struct qmc_dim *d = members[i].dim, *before;

        before = i > 0 ? members[i - 1].dim : d;
        n += d->parent != before->parent ||
             d->parent_choice != before->parent_choice;
        group[members[i].number] = n;
    }
    free(members);
    return 0;
}

/* Children follow their parents.  So backwards the widths of groups are known
 * before they are needed: below[i] is the widest group under i; and forwards
 * the places of parents are. */
static void
place(struct qmc *q, const size_t *group, uint32_t *width, uint32_t *below,
      uint32_t *taken)
{
    for (size_t i = q->n; i-- > 0;) {
        size_t parent = q->dims[i].parent;
        uint32_t *w = &width[group[i]];

        *w += 1 + below[i];
        if (parent != QMC_NO_PARENT && below[parent] < *w)
            below[parent] = *w;
    }
    for (size_t i = 0; i < q->n; i++) {
        size_t parent = q->dims[i].parent;
        uint32_t start = 0;

        if (parent != QMC_NO_PARENT)
            start = q->dimension[parent] + 1;
        q->dimension[i] = start + taken[group[i]];
        taken[group[i]] += 1 + below[i];
        if (q->dimension[i] >= q->n_dimensions)
            q->n_dimensions = q->dimension[i] + 1;
    }
}

static int
number(struct qmc *q)
{
    size_t *group = calloc(q->n + 1, sizeof *group);
    uint32_t *counts = calloc(3 * q->n + 1, sizeof *counts);
    int rc = -1;

    if (group != NULL && counts != NULL && find_groups(q, group) == 0) {
        place(q, group, counts, counts + q->n, counts + 2 * q->n);
        rc = 0;
    }
    free(group);
    free(counts);
    return rc;
}

struct qmc *
qmc_new(const struct qmc_dim *dims, size_t n, uint64_t seed)
{
    struct qmc *q = calloc(1, sizeof *q);

    if (q == NULL)
        return NULL;
    q->sobol = num_sobol_new(seed);
    q->n = n;
    q->dims = malloc((n + 1) * sizeof *q->dims);
    q->dimension = calloc(n + 1, sizeof *q->dimension);
    if (q->dims == NULL || q->dimension == NULL) {
        qmc_free(q);
        return NULL;
    }
    if (n > 0)
        memcpy(q->dims, dims, n * sizeof *dims);
    if (number(q) != 0) {
        qmc_free(q);
        return NULL;
    }
    return q;
}

void
qmc_free(struct qmc *q)
{
    if (q == NULL)
        return;
    free(q->dims);
    free(q->dimension);
    free(q);
}

static double
quantile(const struct qmc_dim *d, double p)
{
    double n = (double)d->n_choices, x;

    if (d->n_choices > 0) {
        x = floor(p * n);
        return x < n - 1 ? x : n - 1;
    }
    if (d->is_normal)
        return d->mu + d->sigma * num_normal_quantile(p);
    return d->low + p * (d->high - d->low);
}

void
qmc_point(const struct qmc *q, uint64_t index, double *x)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct qmc_dim *d = &q->dims[i];

        x[i] = NAN;
        if (d->parent != QMC_NO_PARENT &&
            x[d->parent] != (double)d->parent_choice)
            continue;
        x[i] = quantile(d, num_sobol(&q->sobol, index, q->dimension[i]));
    }
}

uint32_t
qmc_dimension(const struct qmc *q, size_t i)
{
    return q->dimension[i];
}

uint32_t
qmc_dimensions(const struct qmc *q)
{
    return q->n_dimensions;
}
