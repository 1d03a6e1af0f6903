/* SPDX-License-Identifier: MIT */
#include "pbt/pbt.h"

#include "tunepipe/shell.h"

#include <string.h>

/* What a draw is for, beside (id, dimension). */
enum {
    DRAW_EXPLORE, /* EXPLORE_DRAWS of them */
    DRAW_PRIOR = DRAW_EXPLORE + EXPLORE_DRAWS,
    DRAW_DONOR,
    N_DRAWS /* each `again` has its own of those for an id */
};

static const struct pbt_way *
way(const struct pbt *p)
{
    return p->set.async ? &pbt_async : &pbt_rounds;
}

struct pbt *
pbt_new(const struct pbt_settings *set, struct prior_random random)
{
    struct pbt *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->set = *set;
    p->random = random;
    p->last_id = PBT_NO_ID;
    p->members = calloc(set->size, sizeof *p->members);
    p->starts = calloc(set->size, sizeof *p->starts);
    p->ranking = calloc(set->size, sizeof *p->ranking);
    if (p->members == NULL || p->starts == NULL || p->ranking == NULL) {
        pbt_free(p);
        return NULL;
    }
    return p;
}

static void
free_points(struct pbt *p)
{
    for (size_t i = 0; p->members != NULL && i < p->set.size; i++)
        free(p->members[i].x);
    for (size_t i = 0; p->starts != NULL && i < p->set.size; i++)
        free(p->starts[i].x);
}

void
pbt_free(struct pbt *p)
{
    if (p == NULL)
        return;
    free_points(p);
    free(p->members);
    free(p->starts);
    free(p->ranking);
    explore_space_fini(&p->space);
    free(p);
}

static void
put_point(const struct pbt *p, double *to, const double *from)
{
    if (p->space.prior.n_dims > 0)
        memcpy(to, from, p->space.prior.n_dims * sizeof *to);
}

/* Two points a member, x and base in one block, then one a start; NULL when
 * out of memory. */
static double **
new_points(size_t size, size_t n_dims)
{
    double **at = calloc(2 * size, sizeof *at);
    size_t n = 0;

    while (at != NULL && n < 2 * size &&
           (at[n] = calloc((n < size ? 2 : 1) * n_dims + 1, sizeof **at)) !=
               NULL)
        n++;
    if (at == NULL || n == 2 * size)
        return at;
    while (n > 0)
        free(at[--n]);
    free(at);
    return NULL;
}

/* Folders of the space before are neither loaded from nor saved to, whether
 * their members have a trial now or not. */
static uint64_t
first_turn(const struct pbt *p)
{
    uint64_t first = p->first;

    if (p->last_id == PBT_NO_ID)
        return first;
    for (size_t i = 0; i < p->set.size; i++)
        if (p->members[i].save.turn >= first)
            first = p->members[i].save.turn + 1;
    return first;
}

/* Whatever is copied is a point. */
int
pbt_space(struct pbt *p, struct explore_space *space)
{
    size_t size = p->set.size, n_dims = space->prior.n_dims;
    double **points = new_points(size, n_dims);

    if (points == NULL)
        return -1;
    p->first = p->turn = first_turn(p);
    free_points(p);
    explore_space_fini(&p->space);
    p->space = *space;
    *space = (struct explore_space){0};
    for (size_t i = 0; i < size; i++) {
        p->members[i] = (struct pbt_member){.x = points[i],
                                            .base = points[i] + n_dims,
                                            .save = {i, p->first},
                                            .load = {i, p->first},
                                            .kept = {i, p->first},
                                            .id = PBT_NO_ID,
                                            .from = PBT_NO_ID,
                                            .before = PBT_NO_ID};
        p->starts[i] = (struct pbt_start){.x = points[size + i]};
        prior_fill(&p->space.prior, points[i], &p->random, i, DRAW_PRIOR);
    }
    free(points);
    p->n_starts = p->n_scored = 0;
    p->last_id = PBT_NO_ID;
    p->again = 0;
    way(p)->begin(p);
    return 0;
}

static struct pbt_member *
find(const struct pbt *p, uint64_t id)
{
    for (size_t i = 0; i < p->set.size; i++)
        if (p->members[i].id == id)
            return &p->members[i];
    return NULL;
}

/* ---- for both ways ---- */

size_t
pbt_n_best(const struct pbt *p)
{
    double n = p->set.fraction * (double)p->set.size;
    size_t whole = (size_t)n; /* rounded up, below */

    return (double)whole < n ? whole + 1 : whole;
}

size_t
pbt_n_worst(const struct pbt *p)
{
    size_t best = pbt_n_best(p), rest = p->set.size - best;

    return best < rest ? best : rest;
}

void
pbt_score(struct pbt *p, struct pbt_member *m, double value)
{
    m->score = isnan(value) ? -(double)INFINITY : value;
    m->scored = true;
    m->order = p->n_scored++;
}

size_t
pbt_pick(const struct pbt *p, uint64_t id, size_t n)
{
    return (size_t)prior_index(
        p->random.uniform(p->random.ctx, id, 0, DRAW_DONOR), n);
}

void
pbt_copy(struct pbt *p, struct pbt_member *m, const struct pbt_member *d,
         uint64_t from, struct pbt_place place)
{
    m->donor = (uint64_t)(d - p->members);
    m->from = from;
    m->load = place;
    m->used = d->used;
    put_point(p, m->base, d->x);
}

static bool
goes_before(const struct pbt_member *a, const struct pbt_member *b)
{
    if (a->scored != b->scored)
        return a->scored;
    if (a->scored && a->score != b->score)
        return a->score > b->score;
    return a->order != b->order ? a->order < b->order : a < b;
}

static void
sift(struct pbt *p, size_t i, size_t n)
{
    uint64_t *r = p->ranking;

    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        uint64_t t = r[i];

        if (k + 1 < n && goes_before(&p->members[r[k]], &p->members[r[k + 1]]))
            k++;
        if (!goes_before(&p->members[r[i]], &p->members[r[k]]))
            return;
        r[i] = r[k];
        r[k] = t;
    }
}

/* A heap: in place, and the same steps everywhere. */
size_t
pbt_rank(struct pbt *p)
{
    size_t n = p->set.size, n_scored = 0;

    for (size_t i = 0; i < n; i++) {
        p->ranking[i] = i;
        n_scored += p->members[i].scored;
    }
    for (size_t i = n / 2; i-- > 0;)
        sift(p, i, n);
    for (size_t i = n; i-- > 1;) {
        uint64_t t = p->ranking[0];

        p->ranking[0] = p->ranking[i];
        p->ranking[i] = t;
        sift(p, 0, i);
    }
    return n_scored;
}

/* ---- ask ---- */

static void
begin_anew(struct pbt *p, struct pbt_member *m, uint64_t id, bool *imported)
{
    uint32_t draw = (uint32_t)p->again * N_DRAWS + DRAW_PRIOR;
    struct pbt_start s;

    *imported = p->again == 0 && p->n_starts > 0;
    if (!*imported) {
        prior_fill(&p->space.prior, m->x, &p->random, id, draw);
        return;
    }
    s = p->starts[0];
    put_point(p, m->x, s.x);
    p->n_starts--;
    memmove(p->starts, p->starts + 1, p->n_starts * sizeof s);
    p->starts[p->n_starts] = s; /* the place keeps its memory */
}

static void
fill(struct pbt *p, struct pbt_member *m, uint64_t id, struct pbt_answer *out)
{
    struct explore how = {p->set.factor, p->set.resample, p->random, id,
                          (uint32_t)p->again * N_DRAWS + DRAW_EXPLORE};
    double *x = out->x;

    *out = (struct pbt_answer){.x = x,
                               .kind = m->kind,
                               .member = (uint64_t)(m - p->members),
                               .donor = m->donor,
                               .from = m->from,
                               .load = m->load,
                               .save = m->save,
                               .budget = way(p)->budget(p),
                               .turn = m->save.turn - p->first,
                               .base = m->base,
                               .donor_rank = p->members[m->donor].rank,
                               .rank = m->rank};
    if (m->kind == PBT_FRESH)
        begin_anew(p, m, id, &out->imported);
    else if (m->kind == PBT_COPY)
        explore_point(&p->space, &how, m->base, m->x);
    put_point(p, x, m->x);
}

enum pbt_ask
pbt_ask(struct pbt *p, uint64_t id, struct pbt_answer *out)
{
    struct pbt_member *m = find(p, id);
    size_t n_done = 0;

    if (m != NULL && m->state != PBT_OUT)
        m = NULL;
    p->again = m == NULL ? 0 : id == p->last_id ? p->again + 1 : 1;
    if (m == NULL) {
        m = way(p)->next(p);
        for (size_t i = 0; m == NULL && i < p->set.size; i++)
            n_done += p->members[i].state == PBT_DONE;
        if (m == NULL)
            return n_done == p->set.size ? PBT_OVER : PBT_LATER;
        way(p)->prepare(p, m, id);
        m->id = id;
        m->state = PBT_OUT;
        m->verdict = PBT_GO;
        m->started = m->told = m->heard = false;
    }
    p->last_id = id;
    fill(p, m, id, out);
    return PBT_POINT;
}

/* ---- results ---- */

struct pbt_judgement
pbt_metric(struct pbt *p, uint64_t id, const double *x, double value,
           uint64_t used)
{
    struct pbt_member *m = find(p, id);
    struct pbt_judgement j = {.verdict = PBT_GO};

    if (m == NULL || m->state != PBT_OUT)
        return j;
    put_point(p, m->x, x);
    j = way(p)->metric(p, m, value, used);
    m->started = m->heard = true;
    m->latest = value;
    m->used = used;
    m->verdict = j.verdict;
    return j;
}

/* In a round one that comes after the end still counts. */
void
pbt_tell(struct pbt *p, uint64_t id, const double *x, double value)
{
    struct pbt_member *m = find(p, id);

    if (m == NULL || m->state == PBT_IDLE)
        return;
    put_point(p, m->x, x);
    m->told = true;
    pbt_score(p, m, value);
}

void
pbt_import(struct pbt *p, const double *x, double value)
{
    size_t i = p->n_starts;
    struct pbt_start s;

    if (isnan(value) || (i == p->set.size && !(value > p->starts[i - 1].value)))
        return;
    i -= i == p->set.size; /* the worst one's place */
    p->n_starts = i + 1;
    s = p->starts[i];
    put_point(p, s.x, x);
    s.value = value;
    for (; i > 0 && p->starts[i - 1].value < value; i--)
        p->starts[i] = p->starts[i - 1];
    p->starts[i] = s;
}

void
pbt_ended(struct pbt *p, uint64_t id, const double *x, enum pbt_end how)
{
    struct pbt_member *m = find(p, id);

    if (m == NULL || m->state != PBT_OUT)
        return;
    put_point(p, m->x, x);
    way(p)->ended(p, m, how);
    m->started = true;
}

#define FIELD(name) offsetof(struct pbt_member, name)

/* The whole numbers of a member. */
static const size_t numbers[] = {
    FIELD(id),        FIELD(from),        FIELD(save.member), FIELD(save.turn),
    FIELD(load.turn), FIELD(load.member), FIELD(kept.member), FIELD(kept.turn),
    FIELD(used),      FIELD(since),       FIELD(order),       FIELD(rank),
    FIELD(donor),     FIELD(before),
};
#define N_NUMBERS (sizeof numbers / sizeof *numbers)

enum { SCORED = 1, STARTED = 2, TOLD = 4, HEARD = 8, ALL = 15 };

/* Only a copy that is out may be asked for again. */
static bool
has_base(const struct pbt_member *m)
{
    return m->kind == PBT_COPY && m->state == PBT_OUT;
}

static void
save_member(const struct pbt *p, const struct pbt_member *m,
            const struct tp_sink *s)
{
    uint64_t flags = (m->scored ? SCORED : 0) | (m->started ? STARTED : 0) |
                     (m->told ? TOLD : 0) | (m->heard ? HEARD : 0);

    tp_put_u64(s, (uint64_t)m->state);
    tp_put_u64(s, (uint64_t)m->kind);
    tp_put_u64(s, (uint64_t)m->verdict);
    tp_put_u64(s, flags);
    for (size_t i = 0; i < N_NUMBERS; i++)
        tp_put_u64(
            s, *(const uint64_t *)(const void *)((const char *)m + numbers[i]));
    tp_put_f64(s, m->score);
    tp_put_f64(s, m->latest);
    tp_put_f64s(s, m->x, p->space.prior.n_dims);
    if (has_base(m))
        tp_put_f64s(s, m->base, p->space.prior.n_dims);
}

void
pbt_save(const struct pbt *p, const struct tp_sink *s)
{
    for (size_t i = 0; i < p->set.size; i++)
        save_member(p, &p->members[i], s);
    for (size_t i = 0; i < p->set.size; i++)
        tp_put_u64(s, p->ranking[i]);
    tp_put_u64(s, p->n_donors);
    tp_put_u64(s, p->n_given);
    tp_put_u64(s, p->first);
    tp_put_u64(s, p->turn);
    tp_put_u64(s, p->n_scored);
    tp_put_u64(s, p->last_id);
    tp_put_u64(s, p->again);
    tp_put_u64(s, p->n_starts);
    for (size_t i = 0; i < p->n_starts; i++) {
        tp_put_f64(s, p->starts[i].value);
        tp_put_f64s(s, p->starts[i].x, p->space.prior.n_dims);
    }
}

/* A whole number up to most; -1: none. */
static int
load_u64(const struct tp_source *s, uint64_t most, uint64_t *out)
{
    return tp_get_u64(s, out) == TP_OK && *out <= most ? 0 : -1;
}

static int
load_point(const struct pbt *p, const struct tp_source *s, double *x)
{
    return tp_get_f64s(s, x, p->space.prior.n_dims) == TP_OK &&
                   prior_holds(&p->space.prior, x)
               ? 0
               : -1;
}

static int
load_member(const struct pbt *p, struct pbt_member *m,
            const struct tp_source *s)
{
    uint64_t state, kind, verdict, flags;

    if (load_u64(s, PBT_DONE, &state) != 0 ||
        load_u64(s, PBT_COPY, &kind) != 0 ||
        load_u64(s, PBT_FINISH, &verdict) != 0 || load_u64(s, ALL, &flags) != 0)
        return -1;
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (load_u64(s, UINT64_MAX,
                     (uint64_t *)(void *)((char *)m + numbers[i])) != 0)
            return -1;
    m->state = (enum pbt_state)state;
    m->kind = (enum pbt_kind)kind;
    m->verdict = (enum pbt_verdict)verdict;
    m->scored = flags & SCORED;
    m->started = flags & STARTED;
    m->told = flags & TOLD;
    m->heard = flags & HEARD;
    if (m->donor >= p->set.size || tp_get_f64(s, &m->score) != TP_OK ||
        isnan(m->score) || tp_get_f64(s, &m->latest) != TP_OK ||
        load_point(p, s, m->x) != 0)
        return -1;
    return has_base(m) ? load_point(p, s, m->base) : 0;
}

static const char *
load_starts(struct pbt *p, const struct tp_source *s)
{
    uint64_t n;

    if (load_u64(s, p->set.size, &n) != 0)
        return "more saved starting points than members";
    for (p->n_starts = 0; p->n_starts < n; p->n_starts++) {
        struct pbt_start *start = &p->starts[p->n_starts];

        if (tp_get_f64(s, &start->value) != TP_OK || isnan(start->value) ||
            load_point(p, s, start->x) != 0)
            return "a saved starting point is none of this search space";
    }
    return NULL;
}

/* Whoever is to become a copy has somebody to copy. */
static bool
donors_suffice(const struct pbt *p)
{
    if (p->set.async || p->n_donors > 0)
        return true;
    for (size_t i = 0; i < p->set.size; i++)
        if (p->members[i].kind == PBT_COPY && p->members[i].state == PBT_IDLE)
            return false;
    return true;
}

const char *
pbt_load(struct pbt *p, const struct tp_source *s)
{
    uint64_t most = p->set.size, donors, given;

    for (size_t i = 0; i < p->set.size; i++)
        if (load_member(p, &p->members[i], s) != 0)
            return "a saved member is none of this population";
    for (size_t i = 0; i < p->set.size; i++)
        if (load_u64(s, most - 1, &p->ranking[i]) != 0)
            return "a saved ranking is damaged";
    if (load_u64(s, most, &donors) != 0 || load_u64(s, most, &given) != 0 ||
        load_u64(s, UINT64_MAX, &p->first) != 0 ||
        load_u64(s, UINT64_MAX, &p->turn) != 0 || p->turn < p->first ||
        load_u64(s, UINT64_MAX, &p->n_scored) != 0 ||
        load_u64(s, UINT64_MAX, &p->last_id) != 0 ||
        load_u64(s, UINT64_MAX, &p->again) != 0)
        return "what is known of a saved round is damaged";
    p->n_donors = (size_t)donors;
    p->n_given = (size_t)given;
    if (!donors_suffice(p))
        return "a saved member copies nobody";
    return load_starts(p, s);
}
