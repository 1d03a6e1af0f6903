/* SPDX-License-Identifier: MIT */
#include "dispatcher/judged.h"

#include "command.h"
#include "core/pack.h"
#include "dispatcher/policy.h"
#include "numerics/front.h"

#include <stdlib.h>
#include <string.h>

void
judged_init(struct judged *j, const struct policy *p)
{
    *j = (struct judged){.policy = p};
    if (policy_scalarizes(p))
        scalar_init(&j->scalar, p->objectives);
}

void
judged_fini(struct judged *j)
{
    free(j->costs);
    free(j->violation);
    free(j->step);
    free(j->before);
    free(j->chains);
}

/* ---- ranks ---- */

static int
make_rows(struct judged *j)
{
    j->costs =
        malloc(JUDGED_ROWS * j->policy->objectives->n * sizeof *j->costs);
    j->violation = malloc(JUDGED_ROWS * sizeof *j->violation);
    j->step = malloc(JUDGED_ROWS * sizeof *j->step);
    j->before = malloc(JUDGED_ROWS * sizeof *j->before);
    j->chains = calloc(JUDGED_ROWS, sizeof *j->chains);
    return j->costs == NULL || j->violation == NULL || j->step == NULL ||
                   j->before == NULL || j->chains == NULL
               ? -1
               : 0;
}

static int
add_row(struct judged *j, const double *costs, double violation, uint64_t step)
{
    size_t n = j->policy->objectives->n, row = j->n % JUDGED_ROWS;
    uint64_t *chain;

    if (j->chains == NULL && make_rows(j) != 0)
        return -1;
    chain = &j->chains[step % JUDGED_ROWS];
    memcpy(j->costs + row * n, costs, n * sizeof *costs);
    j->violation[row] = violation;
    j->step[row] = step;
    j->before[row] = *chain;
    *chain = ++j->n;
    return 0;
}

/* The share of the rows of this step that dominate these costs. */
static double
rank(const struct judged *j, const double *costs, double violation,
     uint64_t step)
{
    size_t n = j->policy->objectives->n, all = 0, better = 0;
    uint64_t oldest = j->n > JUDGED_ROWS ? j->n - JUDGED_ROWS + 1 : 1;

    if (j->chains == NULL)
        return 0;
    for (uint64_t at = j->chains[step % JUDGED_ROWS]; at >= oldest;) {
        size_t row = (at - 1) % JUDGED_ROWS;

        if (j->step[row] == step) {
            all++;
            better += front_dominates(j->costs + row * n, j->violation[row],
                                      costs, violation, n);
        }
        at = j->before[row];
    }
    return all == 0 ? 0 : (double)better / (double)all;
}

static int
take_rank(struct judged *j, const struct metric *m, double *out)
{
    const struct objectives *o = j->policy->objectives;
    uint64_t step = m->base + m->sequence;
    double costs[OBJECTIVES_MAX];

    for (size_t i = 0; i < o->n; i++)
        costs[i] = objectives_cost(o, i, m->values[i]);
    *out = rank(j, costs, m->violation, step);
    return add_row(j, costs, m->violation, step);
}

/* ---- any ---- */

int
judged_take(struct judged *j, const struct metric *m, double *out)
{
    size_t named = policy_judged(j->policy);

    *out = m->value;
    if (m->values == NULL)
        return 0;
    if (named != SIZE_MAX)
        *out = m->values[named];
    else if (policy_judges_rank(j->policy))
        return take_rank(j, m, out);
    else if (policy_scalarizes(j->policy))
        *out = scalar_take(&j->scalar, m->values, m->violation);
    return 0;
}

void
judged_save(const struct judged *j, struct buf *out)
{
    uint64_t n = j->n < JUDGED_ROWS ? j->n : JUDGED_ROWS;

    if (policy_judges_rank(j->policy)) {
        pack_u64(out, n);
        for (uint64_t at = j->n - n; at < j->n; at++) {
            size_t row = at % JUDGED_ROWS;

            pack_u64(out, j->step[row]);
            pack_f64(out, j->violation[row]);
            pack_f64s(out, j->costs + row * j->policy->objectives->n,
                      j->policy->objectives->n);
        }
    } else if (policy_scalarizes(j->policy) &&
               policy_judged(j->policy) == SIZE_MAX) {
        scalar_save(&j->scalar, out);
    }
}

static int
load_rows(struct judged *j, struct unpack *in)
{
    size_t k = j->policy->objectives->n;
    size_t n = unpack_count(in, (2 + k) * sizeof(double));
    double costs[OBJECTIVES_MAX];

    if (n > JUDGED_ROWS)
        unpack_fail(in);
    for (size_t i = 0; i < n && !in->failed; i++) {
        uint64_t step = unpack_u64(in);
        double violation = unpack_f64(in);

        unpack_f64s(in, costs, k);
        if (!in->failed && add_row(j, costs, violation, step) != 0)
            return -1;
    }
    return in->failed ? -1 : 0;
}

int
judged_load(struct judged *j, struct unpack *in)
{
    if (policy_judges_rank(j->policy))
        return load_rows(j, in);
    if (policy_scalarizes(j->policy) && policy_judged(j->policy) == SIZE_MAX)
        return scalar_load(&j->scalar, in);
    return 0;
}
