/* SPDX-License-Identifier: MIT */
#include "pbt/state.h"

#include "tunepipe/shell.h"

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
