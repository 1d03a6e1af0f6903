/* SPDX-License-Identifier: MIT */
#include "cmaes/state.h"

#include "cmaes/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
cmaes_point_init(const struct cmaes *c, struct cmaes_point *p)
{
    memset(p, 0, sizeof *p);
    p->u = calloc(c->n_line + 1, sizeof *p->u);
    p->pick = calloc(c->n_pick + 1, sizeof *p->pick);
    if (p->u == NULL || p->pick == NULL) {
        cmaes_point_fini(p);
        return -1;
    }
    p->id = CMAES_NO_ID;
    p->born = c->generation;
    p->era = c->restart.era;
    return 0;
}

void
cmaes_point_fini(struct cmaes_point *p)
{
    free(p->u);
    free(p->pick);
    p->u = NULL;
    p->pick = NULL;
}

int
cmaes_point_copy(const struct cmaes *c, const struct cmaes_point *p,
                 struct cmaes_point *out)
{
    if (cmaes_point_init(c, out) != 0)
        return -1;
    memcpy(out->u, p->u, c->n_line * sizeof *out->u);
    memcpy(out->pick, p->pick, c->n_pick * sizeof *out->pick);
    out->class = p->class;
    out->value = p->value;
    return 0;
}

bool
cmaes_point_is_better(const struct cmaes_point *a, const struct cmaes_point *b)
{
    if (a->class != b->class)
        return a->class < b->class;
    return a->class != CMAES_FAILED && a->value < b->value;
}

int
cmaes_points_insert(struct cmaes_points *list, size_t at, struct cmaes_point *p)
{
    if (list->n == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : 16;
        struct cmaes_point *grown = realloc(list->at, room * sizeof *grown);

        if (grown == NULL) {
            cmaes_point_fini(p);
            return -1;
        }
        list->at = grown;
        list->room = room;
    }
    memmove(&list->at[at + 1], &list->at[at],
            (list->n - at) * sizeof *list->at);
    list->at[at] = *p;
    list->n++;
    p->u = NULL;
    p->pick = NULL;
    return 0;
}

/* The point's memory is the caller's. */
void
cmaes_points_remove(struct cmaes_points *list, size_t at)
{
    list->n--;
    memmove(&list->at[at], &list->at[at + 1],
            (list->n - at) * sizeof *list->at);
}

void
cmaes_points_clear(struct cmaes_points *list)
{
    for (size_t i = 0; i < list->n; i++)
        cmaes_point_fini(&list->at[i]);
    list->n = 0;
}

bool
cmaes_point_is_active(const struct cmaes *c, const struct cmaes_point *p,
                      size_t dim)
{
    const struct cmaes_dim *d = &c->dims[dim];

    /* A parent with one element is always at its first. */
    while (d->parent != CMAES_NO_PARENT) {
        size_t slot = c->slot[d->parent];
        uint64_t choice = slot == CMAES_FIXED ? 0 : p->pick[slot];

        if (choice != d->parent_choice)
            return false;
        if (slot != CMAES_FIXED)
            return true; /* it would not be picked if it were inactive */
        d = &c->dims[d->parent];
    }
    return true;
}

static double
fixed_value(const struct cmaes_dim *d)
{
    if (d->kind == CMAES_CATEGORY || d->kind == CMAES_ORDER)
        return 0;
    return d->is_normal ? d->mu : d->low;
}

void
cmaes_point_compose(const struct cmaes *c, const struct cmaes_point *p,
                    double *x)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct cmaes_dim *d = &c->dims[i];

        if (!cmaes_point_is_active(c, p, i))
            x[i] = NAN;
        else if (c->slot[i] == CMAES_FIXED)
            x[i] = fixed_value(d);
        else if (d->kind == CMAES_CATEGORY)
            x[i] = (double)p->pick[c->slot[i]];
        else
            x[i] = cmaes_axis_internal(d, p->u[c->slot[i]]);
    }
}

/* What is inactive lies at the mean. */
void
cmaes_point_read(const struct cmaes *c, struct cmaes_point *p, const double *x)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t slot = c->slot[i];

        if (slot == CMAES_FIXED)
            continue;
        if (c->dims[i].kind == CMAES_CATEGORY)
            p->pick[slot] = isnan(x[i]) ? CMAES_UNPICKED : (uint32_t)x[i];
        else if (isnan(x[i]))
            p->u[slot] = c->gauss.mean[slot];
        else
            p->u[slot] = cmaes_axis_unit(&c->dims[i], x[i]);
    }
}
