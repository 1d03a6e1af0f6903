/* SPDX-License-Identifier: MIT */
/* DESIGN.  NNI shuffles its whole population and looks at the first two; two
 * draws without replacement are the same.  There are never more members than
 * `size`, because each point given out takes one with it, so that all of them
 * lie in one block made once for a space. */
#include "evolution/evolution.h"

#include "tunepipe/shell.h"

#include <string.h>

/* What a draw is for, beside (id, dimension). */
enum {
    DRAW_MUTATION, /* a: id; b: the dimension drawn anew */
    DRAW_MEMBER,   /* a: serial; b: dimension */
    DRAW_CHOICE,   /* a: id; b: 0, 1: members, 2: dimension */
    DRAW_AGAIN,    /* a: id; b: dimension */
    N_DRAWS        /* each `again` has its own of those for an id */
};

struct evolution *
evolution_new(size_t size, struct prior_random random)
{
    struct evolution *e = calloc(1, sizeof *e);

    if (e == NULL)
        return NULL;
    e->size = size;
    e->random = random;
    e->members = calloc(size, sizeof *e->members);
    e->out = calloc(size, sizeof *e->out);
    if (e->members == NULL || e->out == NULL) {
        evolution_free(e);
        return NULL;
    }
    return e;
}

static void
free_points(struct evolution *e)
{
    for (size_t i = 0; e->members != NULL && i < e->size; i++) {
        free(e->members[i].x);
        e->members[i].x = NULL;
    }
}

void
evolution_free(struct evolution *e)
{
    if (e == NULL)
        return;
    free_points(e);
    free(e->members);
    free(e->out);
    prior_fini(&e->prior);
    free(e);
}

static size_t
point_bytes(const struct evolution *e)
{
    return e->prior.n_dims * sizeof(double);
}

/* The next free place; there is one. */
static struct evolution_member *
join(struct evolution *e)
{
    return &e->members[e->n_members++];
}

/* The places keep their points' memory, so it goes to the end. */
static void
leave(struct evolution *e, size_t i)
{
    struct evolution_member m = e->members[i];

    e->n_members--;
    memmove(&e->members[i], &e->members[i + 1], (e->n_members - i) * sizeof m);
    e->members[e->n_members] = m;
}

static void
join_draw(struct evolution *e)
{
    struct evolution_member *m = join(e);

    m->value = -INFINITY;
    m->id = EVOLUTION_NO_ID;
    m->known = false;
    prior_fill(&e->prior, m->x, &e->random, e->serial++, DRAW_MEMBER);
}

int
evolution_space(struct evolution *e, struct prior *prior)
{
    double **x = calloc(e->size, sizeof *x);
    size_t n = 0;

    while (x != NULL && n < e->size &&
           (x[n] = calloc(prior->n_dims + 1, sizeof **x)) != NULL)
        n++;
    if (n < e->size) {
        while (n > 0)
            free(x[--n]);
        free(x);
        return -1;
    }
    free_points(e);
    for (size_t i = 0; i < n; i++)
        e->members[i].x = x[i];
    free(x);
    prior_fini(&e->prior);
    e->prior = *prior;
    *prior = (struct prior){0};
    e->n_members = 0;
    e->n_out = 0;
    e->last_id = EVOLUTION_NO_ID;
    while (e->n_members < e->size)
        join_draw(e);
    return 0;
}

static struct evolution_out *
find_out(struct evolution *e, uint64_t id)
{
    for (size_t i = 0; i < e->n_out; i++)
        if (e->out[i].id == id)
            return &e->out[i];
    return NULL;
}

static uint32_t
draw_for(const struct evolution *e, uint32_t purpose)
{
    return (uint32_t)e->again * N_DRAWS + purpose;
}

static double
uniform(const struct evolution *e, uint64_t id, uint32_t b)
{
    return e->random.uniform(e->random.ctx, id, b, draw_for(e, DRAW_CHOICE));
}

/* The k-th active dimension of x, or n_dims. */
static size_t
active_dim(const struct prior *p, const double *x, uint64_t k)
{
    size_t i = 0;

    for (; i < p->n_dims; i++)
        if (prior_active(p, x, i) && k-- == 0)
            break;
    return i;
}

static size_t
mutate(const struct evolution *e, uint64_t id, double *x)
{
    const struct prior *p = &e->prior;
    uint64_t n = 0;
    size_t i;

    for (i = 0; i < p->n_dims; i++)
        n += prior_active(p, x, i);
    if (n == 0)
        return p->n_dims;
    i = active_dim(p, x, prior_index(uniform(e, id, 2), n));
    prior_redraw(p, x, i, &e->random, id, draw_for(e, DRAW_MUTATION));
    return i;
}

/* One member stays alone: it is not worn out by its own children.  Asked
 * again, the one who left for this trial has left already. */
static void
tournament(struct evolution *e, uint64_t id, double *x,
           struct evolution_origin *origin)
{
    size_t n = e->n_members, a = (size_t)prior_index(uniform(e, id, 0), n);
    size_t b = a;

    origin->mutated = true;
    origin->had_loser = n > 1 && e->again == 0;
    if (n > 1) {
        b = (size_t)prior_index(uniform(e, id, 1), n - 1);
        b += b >= a;
        if (e->members[a].value < e->members[b].value) {
            size_t t = a;

            a = b;
            b = t;
        }
        if (e->again == 0)
            origin->loser = e->members[b].id;
    }
    origin->parent = e->members[a].id;
    origin->parent_value = e->members[a].value;
    if (point_bytes(e) > 0)
        memcpy(x, e->members[a].x, point_bytes(e));
    if (origin->had_loser)
        leave(e, b);
    origin->dim = mutate(e, id, x);
}

static int
give(struct evolution *e, uint64_t id, double *x,
     struct evolution_origin *origin)
{
    for (size_t i = 0; i < e->n_members; i++) {
        if (e->members[i].known)
            continue;
        if (point_bytes(e) > 0)
            memcpy(x, e->members[i].x, point_bytes(e));
        leave(e, i);
        return EVOLUTION_POINT;
    }
    if (e->n_members == 0)
        return EVOLUTION_LATER;
    tournament(e, id, x, origin);
    return EVOLUTION_POINT;
}

/* Its earlier answer was not wanted. */
static void
ask_again(struct evolution *e, uint64_t id, double *x,
          struct evolution_origin *origin)
{
    bool is_last = id == e->last_id;

    e->again = is_last ? e->again + 1 : 1;
    e->was_child = is_last && e->was_child;
    e->last_id = id;
    if (e->was_child && e->n_members > 0)
        tournament(e, id, x, origin);
    else
        prior_fill(&e->prior, x, &e->random, id, draw_for(e, DRAW_AGAIN));
}

int
evolution_ask(struct evolution *e, uint64_t id, double *x,
              struct evolution_origin *origin)
{
    *origin = (struct evolution_origin){.parent = EVOLUTION_NO_ID,
                                        .loser = EVOLUTION_NO_ID,
                                        .dim = e->prior.n_dims};
    if (find_out(e, id) != NULL) {
        ask_again(e, id, x, origin);
        return EVOLUTION_POINT;
    }
    e->again = 0;
    if (e->n_out >= e->size || give(e, id, x, origin) == EVOLUTION_LATER)
        return EVOLUTION_LATER;
    e->last_id = id;
    e->was_child = origin->mutated;
    e->out[e->n_out++] = (struct evolution_out){.id = id};
    return EVOLUTION_POINT;
}

/* The place that a member from elsewhere takes: a free one, that of the last
 * draw, or of the worst if that is worse; NULL: none. */
static struct evolution_member *
place_for(struct evolution *e, double value)
{
    struct evolution_member *worst = NULL;
    size_t owed = 0;

    for (size_t i = 0; i < e->n_out; i++)
        owed += !e->out[i].told;
    for (size_t i = e->n_members; i-- > 0;) {
        if (!e->members[i].known) {
            leave(e, i);
            return join(e);
        }
        if (worst == NULL || e->members[i].value < worst->value)
            worst = &e->members[i];
    }
    if (e->n_members + owed < e->size)
        return join(e);
    return worst != NULL && worst->value < value ? worst : NULL;
}

void
evolution_tell(struct evolution *e, uint64_t id, const double *x, double value)
{
    struct evolution_out *out = id == EVOLUTION_NO_ID ? NULL : find_out(e, id);
    struct evolution_member *m;

    if (isnan(value))
        value = -INFINITY;
    if (out != NULL && !out->told && e->n_members < e->size) {
        out->told = true;
        m = join(e);
    } else {
        m = place_for(e, value);
    }
    if (m == NULL)
        return;
    m->known = true;
    m->value = value;
    m->id = id;
    if (point_bytes(e) > 0)
        memcpy(m->x, x, point_bytes(e));
}

void
evolution_ended(struct evolution *e, uint64_t id)
{
    struct evolution_out *out = find_out(e, id);
    bool told;

    if (out == NULL)
        return;
    told = out->told;
    e->n_out--;
    memmove(out, out + 1, (size_t)(&e->out[e->n_out] - out) * sizeof *out);
    if (!told && e->n_members < e->size)
        join_draw(e);
}

void
evolution_save(const struct evolution *e, const struct tp_sink *sink)
{
    tp_put_u64(sink, e->serial);
    tp_put_u64(sink, e->n_members);
    for (size_t i = 0; i < e->n_members; i++) {
        const struct evolution_member *m = &e->members[i];

        tp_put_u64(sink, m->known);
        tp_put_u64(sink, m->id);
        tp_put_f64(sink, m->value);
        tp_put_f64s(sink, m->x, e->prior.n_dims);
    }
    tp_put_u64(sink, e->n_out);
    for (size_t i = 0; i < e->n_out; i++) {
        tp_put_u64(sink, e->out[i].id);
        tp_put_u64(sink, e->out[i].told);
    }
    tp_put_u64(sink, e->last_id);
    tp_put_u64(sink, e->again);
    tp_put_u64(sink, e->was_child);
}

static int
load_member(const struct evolution *e, struct evolution_member *m,
            const struct tp_source *s)
{
    uint64_t known;

    if (tp_get_u64(s, &known) != TP_OK || known > 1 ||
        tp_get_u64(s, &m->id) != TP_OK || tp_get_f64(s, &m->value) != TP_OK ||
        isnan(m->value) || tp_get_f64s(s, m->x, e->prior.n_dims) != TP_OK)
        return -1;
    m->known = known;
    return prior_holds(&e->prior, m->x) ? 0 : -1;
}

const char *
evolution_load(struct evolution *e, const struct tp_source *s)
{
    uint64_t n, told;

    if (tp_get_u64(s, &e->serial) != TP_OK || tp_get_u64(s, &n) != TP_OK ||
        n > e->size)
        return "a saved population is larger than population_size";
    for (e->n_members = 0; e->n_members < n; e->n_members++)
        if (load_member(e, &e->members[e->n_members], s) != 0)
            return "a saved member is none of this search space";
    if (tp_get_u64(s, &n) != TP_OK || n > e->size)
        return "more saved trials are out than population_size";
    for (e->n_out = 0; e->n_out < n; e->n_out++) {
        struct evolution_out *out = &e->out[e->n_out];

        if (tp_get_u64(s, &out->id) != TP_OK || tp_get_u64(s, &told) != TP_OK ||
            told > 1)
            return "a saved trial is cut off";
        out->told = told;
    }
    if (tp_get_u64(s, &e->last_id) != TP_OK ||
        tp_get_u64(s, &e->again) != TP_OK || tp_get_u64(s, &n) != TP_OK ||
        n > 1)
        return "what was asked for last is damaged";
    e->was_child = n == 1;
    return NULL;
}
