/* SPDX-License-Identifier: MIT */
#include "archive.h"

#include "numerics/front.h"
#include "numerics/hypervolume.h"

#include <stdlib.h>
#include <string.h>

void
archive_init(struct archive *a, size_t n_costs, const double *reference)
{
    *a = (struct archive){.n_costs = n_costs, .reference = reference};
}

void
archive_fini(struct archive *a)
{
    free(a->costs);
}

static void
drop_dominated(struct archive *a, const double *by)
{
    size_t kept = 0, k = a->n_costs;

    for (size_t i = 0; i < a->n; i++)
        if (!front_dominates(by, 0, a->costs + i * k, 0, k))
            memmove(a->costs + kept++ * k, a->costs + i * k,
                    k * sizeof *a->costs);
    a->n = kept;
}

int
archive_add(struct archive *a, const double *costs)
{
    size_t k = a->n_costs;
    double gain;
    double *grown;

    if (hypervolume_gain(a->costs, a->n, k, a->reference, costs, &gain) != 0)
        return -1;
    if (gain <= 0)
        return 0;
    drop_dominated(a, costs);
    if (a->n == a->cap) {
        a->cap = a->cap == 0 ? 64 : 2 * a->cap;
        grown = realloc(a->costs, a->cap * k * sizeof *grown);
        if (grown == NULL)
            return -1;
        a->costs = grown;
    }
    memcpy(a->costs + a->n++ * k, costs, k * sizeof *costs);
    a->volume += gain;
    return 0;
}
