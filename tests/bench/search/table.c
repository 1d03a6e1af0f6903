/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "numerics/elementary.h"

#include <math.h>
#include <stdlib.h>

#define BASE_TRIALS 10
#define LN_10 2.302585092994046

static double *
cell(const struct table *t, size_t pair, size_t solver)
{
    return &t->regret[pair * t->runs->solvers.n + solver];
}

static size_t
solvers_of(const struct table *t)
{
    return t->runs->solvers.n;
}

/* ---- runs -> regret ---- */

/* The end of the runs of the same problem, and (if `seed`) the same seed. */
static size_t
group_end(const struct runs *r, size_t from, bool seed)
{
    size_t to = from;

    while (to < r->n && r->v[to].problem == r->v[from].problem &&
           (!seed || r->v[to].seed == r->v[from].seed))
        to++;
    return to;
}

static double
optimum_of(const struct run *v, size_t n)
{
    double least = INFINITY;

    for (size_t i = 0; i < n; i++)
        if (!isnan(v[i].optimum))
            return v[i].optimum;
    for (size_t i = 0; i < n; i++)
        if (v[i].n_best > 0)
            least = fmin(least, v[i].best[v[i].n_best - 1]);
    return least;
}

/* r10 - optimum.  NaN: the baseline was not run. */
static double
scale_of(const struct runs *r, size_t from, size_t to, size_t base,
         double *room)
{
    size_t n = 0, next;

    for (size_t at = from; at < to; at = next) {
        double optimum;

        next = group_end(r, at, true);
        optimum = optimum_of(&r->v[at], next - at);
        for (size_t i = at; i < next; i++)
            if (r->v[i].solver == base && r->v[i].n_best >= BASE_TRIALS)
                room[n++] = r->v[i].best[BASE_TRIALS - 1] - optimum;
    }
    return n == 0 ? (double)NAN : paired_median(room, n);
}

static void
add_pair(struct table *t, size_t at, size_t next, double scale, size_t trials)
{
    const struct runs *r = t->runs;
    double optimum = optimum_of(&r->v[at], next - at);
    size_t pair = t->n_pairs++;

    t->problem[pair] = r->v[at].problem;
    t->family[pair] = r->v[at].family;
    for (size_t s = 0; s < solvers_of(t); s++)
        *cell(t, pair, s) = NAN;
    for (size_t i = at; i < next; i++) {
        const struct run *run = &r->v[i];
        double *regret = cell(t, pair, run->solver);

        if (run->n_best >= trials && isnan(*regret))
            *regret = fmin(fmax((run->best[trials - 1] - optimum) / scale, 0),
                           TABLE_CEILING);
    }
}

static bool
has_ours(const struct runs *r, size_t from, size_t to)
{
    for (; from < to; from++)
        if (!r->v[from].peer)
            return true;
    return false;
}

static void
fill(struct table *t, size_t trials, size_t base, size_t peer, double *room)
{
    const struct runs *r = t->runs;
    size_t end, next;

    for (size_t from = 0; from < r->n; from = end) {
        double scale = NAN;

        end = group_end(r, from, false);
        if (base != SIZE_MAX)
            scale = scale_of(r, from, end, base, room);
        if (isnan(scale) && peer != SIZE_MAX)
            scale = scale_of(r, from, end, peer, room);
        for (size_t at = from; at < end; at = next) {
            next = group_end(r, at, true);
            if (scale > 0 && !isinf(scale) && has_ours(r, at, next))
                add_pair(t, at, next, scale, trials);
        }
    }
}

/* Whether this seed of the problem has a run of each solver that has runs of
 * other seeds. */
static bool
is_complete(const struct table *t, size_t pair)
{
    for (size_t s = 0; s < solvers_of(t); s++) {
        if (!isnan(*cell(t, pair, s)))
            continue;
        for (size_t p = 0; p < t->n_pairs; p++)
            if (t->problem[p] == t->problem[pair] && !isnan(*cell(t, p, s)))
                return false;
    }
    return true;
}

int
table_init(struct table *t, const struct runs *runs, size_t trials,
           const char *baseline)
{
    size_t n = runs->n + 1; /* pairs are no more */
    double *room = calloc(n, sizeof *room);
    char peer[128] = "peer/";

    *t = (struct table){.runs = runs};
    for (size_t i = 0; baseline[i] != '\0' && i + 6 < sizeof peer; i++) {
        peer[i + 5] = baseline[i];
        peer[i + 6] = '\0';
    }
    t->problem = calloc(n, sizeof *t->problem);
    t->family = calloc(n, sizeof *t->family);
    t->regret = calloc(n * (runs->solvers.n + 1), sizeof *t->regret);
    t->complete = calloc(n, sizeof *t->complete);
    if (room != NULL && t->problem != NULL && t->family != NULL &&
        t->regret != NULL && t->complete != NULL) {
        fill(t, trials, names_find(&runs->solvers, baseline),
             names_find(&runs->solvers, peer), room);
        for (size_t p = 0; p < t->n_pairs; p++)
            t->complete[p] = is_complete(t, p);
        free(room);
        return 0;
    }
    free(room);
    table_fini(t);
    return -1;
}

void
table_fini(struct table *t)
{
    free(t->problem);
    free(t->family);
    free(t->regret);
    free(t->complete);
}

/* ---- regret -> standings ---- */

/* 0 (best) to 1 (worst) among those that were there; NaN: it was not, or
 * alone. */
static double
scaled_rank(const struct table *t, size_t pair, size_t solver)
{
    double own = *cell(t, pair, solver);
    size_t n = 0, less = 0, same = 0;

    if (isnan(own) || !t->complete[pair])
        return NAN;
    for (size_t s = 0; s < solvers_of(t); s++) {
        double other = *cell(t, pair, s);

        n += !isnan(other);
        less += other < own;
        same += other == own;
    }
    if (n < 2)
        return NAN;
    return ((double)less + (double)(same - 1) / 2) / (double)(n - 1);
}

static bool
is_in(const struct table *t, size_t pair, size_t family)
{
    return family == TABLE_ALL || t->family[pair] == family;
}

bool
table_has(const struct table *t, size_t family, size_t solver)
{
    for (size_t p = 0; p < t->n_pairs; p++)
        if (is_in(t, p, family) && !isnan(*cell(t, p, solver)))
            return true;
    return false;
}

static size_t
count_solvers(const struct table *t, size_t family)
{
    size_t n = 0;

    for (size_t s = 0; s < solvers_of(t); s++)
        n += table_has(t, family, s);
    return n;
}

static double
log_ratio(double a, double b)
{
    return num_log(fmax(a, TABLE_FLOOR) / fmax(b, TABLE_FLOOR)) / LN_10;
}

static bool
gather(const struct table *t, size_t family, size_t solver, size_t against,
       double level, struct standing *out, double *regrets, double *ratios)
{
    size_t n_ranks = 0, n_ratios = 0;
    double ranks = 0;

    for (size_t p = 0; p < t->n_pairs; p++) {
        double own = *cell(t, p, solver), other, rank;

        if (isnan(own) || !is_in(t, p, family))
            continue;
        regrets[out->n++] = own;
        rank = scaled_rank(t, p, solver);
        if (!isnan(rank)) {
            ranks += rank;
            n_ranks++;
        }
        other = against == SIZE_MAX ? (double)NAN : *cell(t, p, against);
        if (!isnan(other))
            ratios[n_ratios++] = log_ratio(own, other);
    }
    if (out->n == 0)
        return false;
    out->regret = paired_median(regrets, out->n);
    out->rank = 1 + ranks / (double)n_ranks * /* NaN without ranks */
                        (double)(count_solvers(t, family) - 1);
    out->paired = n_ratios > 0 &&
                  paired_compare(ratios, n_ratios, level, &out->against) == 0;
    return true;
}

bool
table_standing(const struct table *t, size_t family, size_t solver,
               size_t against, double level, struct standing *out)
{
    double *regrets = calloc(t->n_pairs + 1, sizeof *regrets);
    double *ratios = calloc(t->n_pairs + 1, sizeof *ratios);
    bool found = false;

    *out = (struct standing){0};
    if (regrets != NULL && ratios != NULL)
        found = gather(t, family, solver, against, level, out, regrets, ratios);
    free(regrets);
    free(ratios);
    return found;
}
