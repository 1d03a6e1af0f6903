/* SPDX-License-Identifier: MIT */
#include "known.h"

#include "tunepipe/shell.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void
known_fini(struct known *k)
{
    for (size_t i = 0; i < k->n; i++)
        free(k->points[i]);
    *k = (struct known){{NULL}, 0};
}

int
known_add(struct known *k, const double *x, size_t n_dims)
{
    double *place;

    if (k->n < KNOWN_MAX) {
        place = malloc((n_dims + 1) * sizeof *place);
        if (place == NULL)
            return -1;
        k->n++;
    } else {
        place = k->points[0];
        memmove(k->points, k->points + 1,
                (KNOWN_MAX - 1) * sizeof k->points[0]);
    }
    memcpy(place, x, n_dims * sizeof *place);
    k->points[k->n - 1] = place;
    return 0;
}

void
known_save(const struct known *k, size_t n_dims, const struct tp_sink *sink)
{
    tp_put_u64(sink, k->n);
    for (size_t i = 0; i < k->n; i++)
        tp_put_f64s(sink, k->points[i], n_dims);
}

static bool
fits(const struct tp_space *space, const double *x)
{
    for (size_t i = 0; i < space->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(space, i);
        bool active = d->parent == TP_NO_PARENT ||
                      x[d->parent] == (double)d->parent_choice;

        if (!active)
            continue;
        if (!isfinite(x[i]))
            return false;
        if (d->flags & TP_DIM_INDEX &&
            !(x[i] >= 0 && x[i] < (double)d->n_choices &&
              x[i] == (double)(uint64_t)x[i]))
            return false;
    }
    return true;
}

int
known_load(struct known *k, const struct tp_space *space,
           const struct tp_source *source)
{
    double *x = malloc((space->n_dims + 1) * sizeof *x);
    uint64_t n;
    int rc = -1;

    if (x == NULL || tp_get_u64(source, &n) != TP_OK || n > KNOWN_MAX)
        goto out;
    for (uint64_t i = 0; i < n; i++)
        if (tp_get_f64s(source, x, space->n_dims) != TP_OK || !fits(space, x) ||
            known_add(k, x, space->n_dims) != 0)
            goto out;
    rc = 0;
out:
    free(x);
    return rc;
}
