/* SPDX-License-Identifier: MIT */
#include "regularized_evolution/aging.h"

#include "grow.h"
#include "tunepipe/shell.h"

#include <string.h>

/* What a draw is for, beside (id, dimension). */
enum {
    DRAW_MUTATION, /* b: the dimension changed */
    DRAW_MEMBER,   /* b: dimension */
    DRAW_DIM,      /* b: 0 */
    DRAW_SAMPLE,   /* b: which of the sample */
    N_DRAWS        /* each `again` has its own */
};

struct aging *
aging_new(size_t size, size_t sample, struct prior_random random)
{
    struct aging *a = calloc(1, sizeof *a);

    if (a == NULL)
        return NULL;
    a->size = size;
    a->sample = sample;
    a->random = random;
    a->last_id = AGING_NO_ID;
    a->members = calloc(size, sizeof *a->members);
    if (a->members == NULL) {
        free(a);
        return NULL;
    }
    return a;
}

static void
forget(struct aging *a)
{
    for (size_t i = 0; i < a->n_members; i++)
        free(aging_at(a, i)->x);
    a->n_members = 0;
    a->oldest = 0;
    a->n_out = 0;
    a->last_id = AGING_NO_ID;
}

void
aging_free(struct aging *a)
{
    if (a == NULL)
        return;
    forget(a);
    free(a->members);
    free(a->out);
    prior_fini(&a->prior);
    free(a);
}

struct aging_member *
aging_at(const struct aging *a, size_t i)
{
    return &a->members[(a->oldest + i) % a->size];
}

void
aging_space(struct aging *a, struct prior *prior)
{
    forget(a);
    prior_fini(&a->prior);
    a->prior = *prior;
    *prior = (struct prior){0};
    a->draws_left = a->size;
}

/* Where id is among those that are out, or belongs. */
static size_t
find_out(const struct aging *a, uint64_t id)
{
    size_t low = 0, high = a->n_out;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (a->out[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool
is_out(const struct aging *a, uint64_t id)
{
    size_t i = find_out(a, id);

    return i < a->n_out && a->out[i] == id;
}

static int
put_out(struct aging *a, uint64_t id)
{
    size_t i = find_out(a, id);

    if (GROW(a->out, a->n_out, a->out_cap) != 0)
        return -1;
    memmove(&a->out[i + 1], &a->out[i], (a->n_out - i) * sizeof *a->out);
    a->out[i] = id;
    a->n_out++;
    return 0;
}

/* False: it was not out. */
static bool
take_out(struct aging *a, uint64_t id)
{
    size_t i = find_out(a, id);

    if (!is_out(a, id))
        return false;
    a->n_out--;
    memmove(&a->out[i], &a->out[i + 1], (a->n_out - i) * sizeof *a->out);
    return true;
}

static bool
varies(const struct prior_dim *d)
{
    if (d->n_choices > 0)
        return d->n_choices > 1;
    return d->is_normal ? d->sigma > 0 : d->low < d->high;
}

/* The k-th dimension of x that can be changed; n_dims when there is none.
 * Counts them in *n. */
static size_t
changeable(const struct prior *p, const double *x, uint64_t k, uint64_t *n)
{
    size_t found = p->n_dims;

    *n = 0;
    for (size_t i = 0; i < p->n_dims; i++)
        if (varies(&p->dims[i]) && prior_active(p, x, i) && (*n)++ == k)
            found = i;
    return found;
}

/* The draw of this purpose. */
static uint32_t
draw_for(const struct aging *a, uint32_t purpose)
{
    return (uint32_t)a->again * N_DRAWS + purpose;
}

static double
uniform(const struct aging *a, uint64_t id, uint32_t b, uint32_t purpose)
{
    return a->random.uniform(a->random.ctx, id, b, draw_for(a, purpose));
}

static size_t
mutate(const struct aging *a, uint64_t id, double *x)
{
    const struct prior *p = &a->prior;
    const struct prior_dim *d;
    uint64_t n, index;
    size_t i = changeable(p, x, 0, &n);

    if (n == 0)
        return i;
    i = changeable(p, x, prior_index(uniform(a, id, 0, DRAW_DIM), n), &n);
    d = &p->dims[i];
    if (d->n_choices == 0) {
        prior_redraw(p, x, i, &a->random, id, draw_for(a, DRAW_MUTATION));
        return i;
    }
    index = prior_index(uniform(a, id, (uint32_t)i, DRAW_MUTATION),
                        d->n_choices - 1);
    x[i] = (double)(index + ((double)index >= x[i]));
    prior_redraw_below(p, x, i, &a->random, id, draw_for(a, DRAW_MUTATION));
    return i;
}

static const struct aging_member *
best_of_sample(const struct aging *a, uint64_t id)
{
    const struct aging_member *best = NULL;

    for (size_t k = 0; k < a->sample; k++) {
        double u = uniform(a, id, (uint32_t)k, DRAW_SAMPLE);
        const struct aging_member *m =
            aging_at(a, (size_t)prior_index(u, a->n_members));

        if (best == NULL || m->value > best->value)
            best = m;
    }
    return best;
}

/* Whose answer follows.  A draw is used up once, however often its trial is
 * asked for. */
static int
begin(struct aging *a, uint64_t id)
{
    if (is_out(a, id) && id == a->last_id) {
        a->again++;
        return 0;
    }
    if (!is_out(a, id) && put_out(a, id) != 0)
        return -1;
    a->last_id = id;
    a->again = 0;
    a->was_draw = a->draws_left > 0;
    a->draws_left -= a->was_draw;
    return 0;
}

int
aging_ask(struct aging *a, uint64_t id, double *x, struct aging_origin *origin)
{
    const struct aging_member *parent;
    bool is_again = is_out(a, id) && id == a->last_id;

    *origin =
        (struct aging_origin){.parent = AGING_NO_ID, .dim = a->prior.n_dims};
    if (!is_again && a->draws_left == 0 && a->n_members == 0)
        return AGING_LATER;
    if (begin(a, id) != 0)
        return AGING_ERROR;
    if (a->was_draw || a->n_members == 0) {
        prior_fill(&a->prior, x, &a->random, id, draw_for(a, DRAW_MEMBER));
        return AGING_POINT;
    }
    parent = best_of_sample(a, id);
    origin->mutated = true;
    origin->parent = parent->id;
    origin->parent_value = parent->value;
    for (size_t i = 0; i < a->prior.n_dims; i++)
        x[i] = parent->x[i];
    origin->dim = mutate(a, id, x);
    return AGING_POINT;
}

int
aging_tell(struct aging *a, uint64_t id, const double *x, double value)
{
    struct aging_member m = {.value = isnan(value) ? -INFINITY : value,
                             .id = id};

    m.x = malloc((a->prior.n_dims + 1) * sizeof *x);
    if (m.x == NULL)
        return -1;
    if (id != AGING_NO_ID)
        take_out(a, id);
    else if (a->draws_left > 0)
        a->draws_left--;
    for (size_t i = 0; i < a->prior.n_dims; i++)
        m.x[i] = x[i];
    if (a->n_members == a->size) {
        free(aging_at(a, 0)->x);
        a->oldest = (a->oldest + 1) % a->size;
        a->n_members--;
    }
    *aging_at(a, a->n_members) = m;
    a->n_members++;
    return 0;
}

void
aging_ended(struct aging *a, uint64_t id)
{
    if (take_out(a, id) && a->n_members + a->draws_left < a->size)
        a->draws_left++;
}

void
aging_save(const struct aging *a, const struct tp_sink *sink)
{
    tp_put_u64(sink, a->draws_left);
    tp_put_u64(sink, a->n_members);
    for (size_t i = 0; i < a->n_members; i++) {
        const struct aging_member *m = aging_at(a, i);

        tp_put_u64(sink, m->id);
        tp_put_f64(sink, m->value);
        tp_put_f64s(sink, m->x, a->prior.n_dims);
    }
    tp_put_u64(sink, a->n_out);
    for (size_t i = 0; i < a->n_out; i++)
        tp_put_u64(sink, a->out[i]);
    tp_put_u64(sink, a->last_id);
    tp_put_u64(sink, a->again);
    tp_put_u64(sink, a->was_draw);
}

static const char *
load_member(struct aging *a, const struct tp_source *s)
{
    size_t n_dims = a->prior.n_dims;
    struct aging_member *m = aging_at(a, a->n_members);

    if (tp_get_u64(s, &m->id) != TP_OK || tp_get_f64(s, &m->value) != TP_OK ||
        isnan(m->value) || tp_left(s) / sizeof(double) < n_dims)
        return "a saved member is cut off";
    m->x = malloc((n_dims + 1) * sizeof *m->x);
    if (m->x == NULL)
        return "out of memory";
    a->n_members++;
    if (tp_get_f64s(s, m->x, n_dims) != TP_OK || !prior_holds(&a->prior, m->x))
        return "a saved member is none of this search space";
    return NULL;
}

static const char *
load_out(struct aging *a, const struct tp_source *s)
{
    uint64_t n, before = 0;

    if (tp_get_u64(s, &n) != TP_OK || n > tp_left(s) / sizeof n)
        return "the saved trials are cut off";
    a->out = calloc((size_t)n + 1, sizeof *a->out);
    if (a->out == NULL)
        return "out of memory";
    a->out_cap = (size_t)n + 1;
    for (a->n_out = 0; a->n_out < n; a->n_out++) {
        uint64_t *id = &a->out[a->n_out];

        if (tp_get_u64(s, id) != TP_OK || (a->n_out > 0 && *id <= before))
            return "the saved trials are not in order";
        before = *id;
    }
    return NULL;
}

static const char *
load_last(struct aging *a, const struct tp_source *s)
{
    uint64_t was_draw;

    if (tp_get_u64(s, &a->last_id) != TP_OK ||
        tp_get_u64(s, &a->again) != TP_OK ||
        tp_get_u64(s, &was_draw) != TP_OK || was_draw > 1)
        return "what was asked for last is damaged";
    a->was_draw = was_draw == 1;
    return NULL;
}

const char *
aging_load(struct aging *a, const struct tp_source *s)
{
    const char *wrong;
    uint64_t n;

    if (tp_get_u64(s, &a->draws_left) != TP_OK || a->draws_left > a->size ||
        tp_get_u64(s, &n) != TP_OK || n > a->size)
        return "a saved population is larger than population_size";
    while (a->n_members < n) {
        wrong = load_member(a, s);
        if (wrong != NULL)
            return wrong;
    }
    free(a->out);
    a->out = NULL;
    a->out_cap = 0;
    wrong = load_out(a, s);
    return wrong != NULL ? wrong : load_last(a, s);
}
