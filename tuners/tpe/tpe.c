/* SPDX-License-Identifier: MIT */
#include "tpe/tpe.h"

#include "elementary.h"
#include "tpe/twins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOOD_SHARE 0.2
#define ROUNDS 3 /* of candidates, while all that was drawn is a twin */
#define PRIOR_ROUND 2

/* Two points of such a space may be the same. */
static bool
can_repeat(const struct axis *axes, size_t n)
{
    for (size_t d = 0; d < n; d++)
        if (axes[d].parent == TP_NO_PARENT && axes[d].q == 0 &&
            (axes[d].kind == AXIS_RANGE || axes[d].kind == AXIS_NORMAL))
            return false;
    return true;
}

struct tpe *
tpe_new(const struct tpe_options *options, const struct axis *axes,
        size_t n_dims)
{
    struct tpe *t = calloc(1, sizeof *t);
    size_t n = options->candidates;
    size_t most = options->kernels > 0 ? options->kernels : REST_MOST;

    if (t == NULL)
        return NULL;
    t->options = *options;
    t->n_dims = n_dims;
    t->repeats = can_repeat(axes, n_dims);
    tpe_points_init(&t->points, n_dims);
    t->axes = calloc(n_dims + 1, sizeof *axes);
    t->weight = calloc(most, sizeof *t->weight);
    t->x = calloc(n * n_dims + 1, sizeof *t->x);
    t->at = calloc(n * n_dims + 1, sizeof *t->at);
    t->log_good = calloc(n, sizeof *t->log_good);
    if (t->axes == NULL || t->weight == NULL || t->x == NULL || t->at == NULL ||
        t->log_good == NULL) {
        tpe_free(t);
        return NULL;
    }
    if (n_dims > 0)
        memcpy(t->axes, axes, n_dims * sizeof *axes);
    if (tpe_good_init(&t->good, t->axes, n_dims) != 0 ||
        tpe_rest_init(&t->rest, t->axes, n_dims, most) != 0) {
        tpe_free(t);
        return NULL;
    }
    return t;
}

void
tpe_free(struct tpe *t)
{
    if (t == NULL)
        return;
    tpe_points_fini(&t->points);
    tpe_good_fini(&t->good);
    tpe_rest_fini(&t->rest);
    keyset_fini(&t->twins);
    keyset_fini(&t->left);
    free(t->axes);
    free(t->chosen);
    free(t->weight);
    free(t->x);
    free(t->at);
    free(t->log_good);
    free(t);
}

bool
tpe_is_ready(const struct tpe *t)
{
    size_t n = tpe_points_ranked(&t->points);

    return n > 0 && n >= t->options.startup;
}

size_t
tpe_n_good(const struct tpe_options *o, size_t n)
{
    double share =
        o->gamma > 0 ? o->gamma * num_sqrt((double)n) : GOOD_SHARE * (double)n;
    size_t good = share < (double)n ? (size_t)share : n;

    if (good < n && (double)good < share)
        good++;
    if (good > o->good_most)
        good = o->good_most;
    return good > 0 ? good : 1;
}

/* How many ranked points are not worse than an open one is taken for. */
static size_t
rank_of_lie(const struct tpe *t)
{
    const struct points *p = &t->points;
    double lie, sum = 0;
    size_t n = 0;

    if (t->options.liar == TPE_LIAR_WORST || p->n_done == 0)
        return tpe_points_ranked(p);
    for (size_t i = 0; i < p->n_done; i++)
        sum += p->all[p->ranked[i]].loss;
    lie = t->options.liar == TPE_LIAR_BEST ? p->all[p->ranked[0]].loss
                                           : sum / (double)p->n_done;
    while (n < p->n_done && p->all[p->ranked[n]].loss <= lie)
        n++;
    return n;
}

/* Open points take the rank of what they are taken for.  A stopped result is
 * good only where there is no complete one. */
static size_t
choose_good(struct tpe *t, size_t want)
{
    const struct points *p = &t->points;
    size_t most = p->n_done > 0 ? p->n_done : p->n_stopped;
    size_t lie = t->options.liar == TPE_LIAR_NONE ? most : rank_of_lie(t);
    size_t n = 0, at = 0;

    while (n < want && at < most && at < lie)
        t->chosen[n++] = p->ranked[at++];
    for (size_t i = p->n; i-- > 0 && n < want && lie < most;)
        if (p->all[i].state == POINT_OPEN)
            t->chosen[n++] = (uint32_t)i;
    while (n < want && at < most)
        t->chosen[n++] = p->ranked[at++];
    return n;
}

static bool
is_known(const struct tpe *t, const struct point *p)
{
    return p->state != POINT_GONE &&
           (p->state != POINT_OPEN || t->options.liar != TPE_LIAR_NONE);
}

/* Marks in t->weight which slots count, and returns how many do. */
static size_t
mark_rest(struct tpe *t, size_t n_good)
{
    const struct points *p = &t->points;
    size_t n = 0;

    for (size_t i = p->n - t->rest.n; i < p->n; i++)
        t->weight[i % t->rest.most] = is_known(t, &p->all[i]) ? 1 : 0;
    for (size_t i = 0; i < n_good; i++)
        if (t->chosen[i] + t->rest.most >= p->n)
            t->weight[t->chosen[i] % t->rest.most] = 0;
    for (size_t slot = 0; slot < t->rest.n; slot++)
        n += t->weight[slot] > 0;
    return n;
}

double
tpe_weight(size_t forgetting, size_t n, size_t rank)
{
    double least = 1 / (double)n;
    size_t old = n > forgetting ? n - forgetting : 0;

    if (forgetting == 0 || rank >= old)
        return 1;
    return old == 1 ? least
                    : least + (1 - least) * (double)rank / (double)(old - 1);
}

/* In the order in which they came. */
static void
forget(struct tpe *t, size_t n)
{
    size_t end = t->points.n, rank = 0;

    for (size_t i = end - t->rest.n; i < end; i++)
        if (t->weight[i % t->rest.most] > 0)
            t->weight[i % t->rest.most] =
                tpe_weight(t->options.forgetting, n, rank++);
}

static int
set_estimators(struct tpe *t, struct tpe_reason *why)
{
    size_t want = tpe_n_good(&t->options, tpe_points_ranked(&t->points));

    if (want > t->chosen_room) {
        free(t->chosen);
        t->chosen = calloc(want, sizeof *t->chosen);
        t->chosen_room = t->chosen == NULL ? 0 : want;
        if (t->chosen == NULL)
            return -1;
    }
    why->n_good = choose_good(t, want);
    if (tpe_good_set(&t->good, &t->points, t->chosen, why->n_good,
                     t->options.prior) != 0)
        return -1;
    tpe_rest_shape(&t->rest, &t->points, tpe_points_ranked(&t->points));
    why->n_rest = mark_rest(t, why->n_good);
    forget(t, why->n_rest);
    tpe_rest_weigh(&t->rest, t->weight, t->options.prior);
    return 0;
}

static bool
is_twin(const struct tpe *t, const struct place *at)
{
    uint64_t key[2];

    if (!t->repeats)
        return false;
    tpe_twins_key_of_places(at, t->n_dims, key);
    return keyset_has(&t->twins, key);
}

/* Makes candidate c the best one if its score is larger than that of the best
 * so far, or as large and it is before it.  1: it is a twin; -1: out of memory.
 */
static int
weigh_up(struct tpe *t, size_t c, size_t *best, double *score)
{
    double most = *best == SIZE_MAX ? INFINITY : t->log_good[c] - *score, rest;

    if (is_twin(t, t->at + c * t->n_dims))
        return 1;
    rest = tpe_rest_score(&t->rest, t->at + c * t->n_dims, most);
    if (isnan(rest))
        return -1;
    rest = t->log_good[c] - rest;
    if (*best == SIZE_MAX || rest > *score || (rest == *score && c < *best)) {
        *best = c;
        *score = rest;
    }
    return 0;
}

/* Draws and scores candidates; the best goes to x.  0: all were twins. */
static int
round_of(struct tpe *t, tpe_uniform *uniform, void *ctx, uint64_t id,
         uint32_t round, double *x, struct tpe_reason *why)
{
    size_t n = t->options.candidates, d = t->n_dims;
    uint32_t draw = ((t->points.again * ROUNDS) + round) * (uint32_t)n;
    size_t first = 0, best = SIZE_MAX;

    for (size_t c = 0; c < n; c++)
        (round < PRIOR_ROUND ? tpe_good_draw : tpe_good_draw_prior)(
            &t->good, uniform, ctx, id, draw + (uint32_t)c, t->x + c * d,
            t->at + c * d);
    tpe_good_score(&t->good, t->at, n, t->log_good);
    for (size_t c = 1; c < n; c++)
        if (t->log_good[c] > t->log_good[first])
            first = c;
    /* What is likely to be best goes first: others are then given up early. */
    for (size_t i = 0; i < n; i++) {
        size_t c = (first + i) % n;
        int rc = weigh_up(t, c, &best, &why->score);

        if (rc < 0)
            return -1;
        why->twins += (size_t)rc;
    }
    if (best == SIZE_MAX)
        return 0;
    why->candidate = round * n + best;
    memcpy(x, t->x + best * d, d * sizeof *x);
    return 1;
}

int
tpe_ask(struct tpe *t, tpe_uniform *uniform, void *ctx, uint64_t id, double *x,
        struct tpe_reason *why)
{
    int found = 0;

    *why = (struct tpe_reason){.n_good = 0};
    tpe_points_ask(&t->points, id);
    if (set_estimators(t, why) != 0)
        return -1;
    for (uint32_t round = 0; round < ROUNDS && found == 0; round++)
        found = round_of(t, uniform, ctx, id, round, x, why);
    if (found == 0) /* nothing new: whoever minds refuses the twin */
        memcpy(x, t->x, t->n_dims * sizeof *x);
    return found < 0 ? -1 : 0;
}

static void
set_places(const struct tpe *t, const double *x, struct place *at)
{
    for (size_t d = 0; d < t->n_dims; d++)
        at[d] = isnan(x[d]) ? (struct place){NAN, NAN, NAN}
                            : tpe_axis_place(&t->axes[d], x[d]);
}

int
tpe_score(struct tpe *t, const double *const *points, size_t n, double *out)
{
    size_t most = t->options.candidates, d = t->n_dims;
    struct tpe_reason why;

    for (size_t i = 0; i < n; i++)
        out[i] = NAN;
    if (!tpe_is_ready(t))
        return 0;
    if (set_estimators(t, &why) != 0)
        return -1;
    for (size_t from = 0; from < n; from += most) {
        size_t some = n - from < most ? n - from : most;

        for (size_t c = 0; c < some; c++)
            set_places(t, points[from + c], t->at + c * d);
        tpe_good_score(&t->good, t->at, some, out + from);
        for (size_t c = 0; c < some; c++)
            out[from + c] -= tpe_rest_score(&t->rest, t->at + c * d, INFINITY);
    }
    return 0;
}

/* Adds where point i lies to a set of twins. */
static int
note(const struct tpe *t, struct keyset *set, size_t i)
{
    return t->repeats
               ? tpe_twins_add(set, tpe_points_at(&t->points, i), t->n_dims)
               : 0;
}

/* Point i has coordinates it had not before. */
static int
settle(struct tpe *t, size_t i)
{
    if (note(t, &t->twins, i) != 0)
        return -1;
    return tpe_rest_put(&t->rest, &t->points, i);
}

/* The point of `id`, at x; its index, or -1: out of memory. */
static int
point_for(struct tpe *t, uint64_t id, const double *x, size_t *index)
{
    struct points *p = &t->points;
    size_t i = id == POINTS_NO_ID ? p->n : tpe_points_find(p, id);

    *index = i;
    if (i < p->n) {
        if (t->n_dims == 0 ||
            memcmp(p->x + i * t->n_dims, x, t->n_dims * sizeof *x) == 0)
            return 0;
        if (note(t, &t->left, i) != 0)
            return -1;
        tpe_points_move(p, t->axes, i, x);
    } else if (tpe_points_add(p, t->axes, id, x) != 0) {
        return -1;
    }
    return settle(t, i);
}

int
tpe_open(struct tpe *t, uint64_t id, const double *x)
{
    size_t i;

    return point_for(t, id, x, &i);
}

int
tpe_tell(struct tpe *t, uint64_t id, const double *x, enum tpe_how how,
         double value, uint64_t step)
{
    size_t i;

    if (point_for(t, id, x, &i) != 0)
        return -1;
    tpe_points_tell(&t->points, i, how == TPE_STOPPED,
                    t->options.maximize ? -value : value, step);
    return 0;
}

int
tpe_copy(void *vt, const struct point *point, const double *x)
{
    struct tpe *t = vt;

    if (tpe_points_copy(&t->points, t->axes, point, x) != 0)
        return -1;
    return settle(t, t->points.n - 1);
}

void
tpe_save(const struct tpe *t, const struct tp_sink *sink)
{
    tpe_points_save(&t->points, sink);
    tpe_twins_save(&t->left, sink);
}

const char *
tpe_load(struct tpe *t, const struct tp_source *source)
{
    const char *why = tpe_points_load(&t->points, t->axes, source, tpe_copy, t);

    if (why == NULL)
        why = tpe_twins_load(&t->left, source);
    if (why == NULL && t->left.n > 0 && !t->repeats)
        why = "places were left where none can be tried again";
    for (size_t i = 0; why == NULL && i < t->left.n; i++)
        if (keyset_add(&t->twins, t->left.keys[i], NULL) < 0)
            why = "out of memory";
    return why;
}
