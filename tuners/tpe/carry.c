/* SPDX-License-Identifier: MIT */
#include "tpe/carry.h"

#include "grow.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
tpe_carry_init(struct carry *c, const struct tp_host *host,
               const struct tp_space *space)
{
    size_t n = 0;

    *c = (struct carry){.space = space};
    c->at = calloc(space->n_dims + 1, sizeof *c->at);
    if (c->at == NULL)
        return -1;
    for (size_t i = 0; i < space->n_dims; i++) {
        c->at[i] = n;
        if (TP_DIM(space, i)->kind == TP_CHOICE)
            n += (size_t)TP_DIM(space, i)->n_choices;
    }
    c->elements = calloc(n + 1, sizeof *c->elements);
    if (c->elements == NULL)
        return -1;
    for (size_t i = 0; i < space->n_dims && TP_HAS(host, element); i++)
        for (uint64_t k = 0; TP_DIM(space, i)->kind == TP_CHOICE &&
                             k < TP_DIM(space, i)->n_choices;
             k++)
            tp_element_of(host, i, k, &c->elements[c->at[i] + (size_t)k]);
    return 0;
}

void
tpe_carry_fini(struct carry *c)
{
    free(c->elements);
    free(c->at);
    *c = (struct carry){.space = NULL};
}

static const struct tp_element *
element(const struct carry *c, size_t dim, uint64_t index)
{
    return &c->elements[c->at[dim] + (size_t)index];
}

/* Lists and objects are not told apart: those at the same place may be the
 * same, which the host's key of the point says. */
static bool
are_equal(const struct tp_element *a, uint64_t at, const struct tp_element *b,
          uint64_t bt)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == TP_ELEMENT_TEXT)
        return strcmp(a->text, b->text) == 0;
    if (a->kind == TP_ELEMENT_NUMBER || a->kind == TP_ELEMENT_TRUTH)
        return a->number == b->number;
    return at == bt;
}

/* The index in the new list of what is `index` in the old one; false: it is
 * not there. */
static bool
find_element(const struct carry *old, size_t j, uint64_t index,
             const struct carry *new_, size_t i, uint64_t *found)
{
    const struct tp_element *e = element(old, j, index);

    for (*found = 0; *found < TP_DIM(new_->space, i)->n_choices; ++*found)
        if (are_equal(e, index, element(new_, i, *found), *found))
            return true;
    return false;
}

/* What stands behind the last '/', which begins the parameter's own key. */
static const char *
own_name(const struct tp_dim *d)
{
    const char *slash = strrchr(d->name, '/');

    return d->parent == TP_NO_PARENT || slash == NULL ? d->name : slash + 1;
}

static bool
is_same(const struct carry *old, size_t j, const struct carry *new_, size_t i,
        const size_t *from)
{
    const struct tp_dim *a = TP_DIM(old->space, j), *b = TP_DIM(new_->space, i);

    if ((a->parent == TP_NO_PARENT) != (b->parent == TP_NO_PARENT) ||
        strcmp(own_name(a), own_name(b)) != 0)
        return false;
    return b->parent == TP_NO_PARENT ||
           (from[b->parent] == a->parent &&
            are_equal(
                element(old, a->parent, a->parent_choice), a->parent_choice,
                element(new_, b->parent, b->parent_choice), b->parent_choice));
}

void
tpe_carry_match(const struct carry *old, const struct carry *new_, size_t *from)
{
    for (size_t i = 0; i < new_->space->n_dims; i++) {
        from[i] = TP_NO_PARENT;
        for (size_t j = 0; j < old->space->n_dims && from[i] == TP_NO_PARENT;
             j++)
            if (is_same(old, j, new_, i, from))
                from[i] = j;
    }
}

/* From one integer of a randint to the next. */
static double
step_of(const struct tp_dim *d)
{
    return d->q > 0 ? d->q : 1;
}

bool
tpe_carry_point(const struct carry *old, const struct carry *new_,
                const size_t *from, const double *old_x, double *x)
{
    for (size_t i = 0; i < new_->space->n_dims; i++) {
        const struct tp_dim *to = TP_DIM(new_->space, i), *of;
        uint64_t index;

        x[i] = NAN;
        if (from[i] == TP_NO_PARENT || isnan(old_x[from[i]]))
            continue;
        of = TP_DIM(old->space, from[i]);
        if (to->kind != of->kind)
            return false;
        x[i] = old_x[from[i]];
        if (to->kind == TP_RANDINT)
            x[i] = (x[i] * step_of(of) + (double)(of->offset - to->offset)) /
                   step_of(to);
        if (to->kind == TP_CHOICE) {
            /* A saved point may be damaged. */
            if (!(x[i] >= 0 && x[i] < (double)of->n_choices) ||
                !find_element(old, from[i], (uint64_t)x[i], new_, i, &index))
                return false;
            x[i] = (double)index;
        }
        if (x[i] < to->low || x[i] > to->high ||
            (to->kind == TP_RANDINT && x[i] != floor(x[i])))
            return false;
    }
    return true;
}

void
tpe_carrier_fini(struct carrier *c)
{
    tpe_carry_fini(&c->carry);
    free(c->keys);
}

int
tpe_carrier_key(struct carrier *c, size_t index, const double *x)
{
    while (index >= c->room)
        if (GROW(c->keys, c->room, c->room) != 0)
            return -1;
    if (tp_key(c->host, x, c->keys[index]) != TP_OK)
        c->keys[index][0] = c->keys[index][1] = 0;
    return 0;
}

int
tpe_carrier_tell(struct carrier *c, uint64_t id, const double *x)
{
    return tpe_carrier_key(c, tpe_points_find(c->points, id), x);
}

int
tpe_carrier_load(struct carrier *c)
{
    const struct points *p = c->points;

    for (size_t i = 0; i < p->n; i++)
        if (tpe_carrier_key(c, i, p->x + i * p->n_dims) != 0)
            return -1;
    return 0;
}

int
tpe_carrier_ended(struct carrier *c, uint64_t id, const double *x, int how)
{
    size_t i = tpe_points_find(c->points, id);

    if (i < c->points->n && tpe_carrier_key(c, i, x) != 0)
        return -1;
    tpe_points_ended(c->points, id,
                     how == TP_ENDED_FAILED || how == TP_ENDED_STOPPED);
    return 0;
}

/* Whether the same parameters as point i's exist in the new space: then they
 * are x there. */
static bool
project(const struct carrier *c, const struct carry *new_,
        const struct axis *axes, size_t i, const size_t *from, double *x)
{
    const struct points *p = c->points;
    uint64_t key[2];

    return p->all[i].state != POINT_OPEN && p->all[i].state != POINT_GONE &&
           tpe_carry_point(&c->carry, new_, from, p->x + i * p->n_dims, x) &&
           tpe_axis_is_point(axes, new_->space->n_dims, x) &&
           tp_key(c->host, x, key) == TP_OK && key[0] == c->keys[i][0] &&
           key[1] == c->keys[i][1];
}

static int
move(struct carrier *c, const struct carry *new_, const struct axis *axes,
     tpe_points_copier *copy, void *ctx)
{
    size_t n_dims = new_->space->n_dims, n = 0;
    size_t *from = calloc(n_dims + 1, sizeof *from);
    double *x = calloc(n_dims + 1, sizeof *x);
    int rc = from == NULL || x == NULL ? -1 : 0;

    if (rc == 0)
        tpe_carry_match(&c->carry, new_, from);
    for (size_t i = 0; rc == 0 && i < c->points->n; i++) {
        if (!project(c, new_, axes, i, from, x))
            continue;
        rc = copy(ctx, &c->points->all[i], x);
        /* Never behind what is still to be read. */
        memmove(c->keys[n++], c->keys[i], sizeof c->keys[i]);
    }
    free(from);
    free(x);
    return rc;
}

int
tpe_carrier_move(struct carrier *c, const struct tp_host *host,
                 const struct tp_space *s, const struct axis *axes,
                 struct points *to, tpe_points_copier *copy, void *ctx)
{
    struct carry new_;

    c->host = host;
    if (tpe_carry_init(&new_, host, s) != 0 ||
        (c->points != NULL && move(c, &new_, axes, copy, ctx) != 0)) {
        tpe_carry_fini(&new_);
        return -1;
    }
    tpe_carry_fini(&c->carry);
    c->carry = new_;
    c->points = to;
    return 0;
}
