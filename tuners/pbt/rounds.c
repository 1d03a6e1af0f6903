/* SPDX-License-Identifier: MIT */
/* DESIGN.  A round is over when each of its trials has ended, not when the
 * last result is there as in NNI: what a trial saves at its end is complete
 * before another one begins with it. */
#include "pbt/pbt.h"

static uint64_t
budget(const struct pbt *p)
{
    uint64_t n = p->turn - p->first + 1, max = p->set.max_budget;

    if (p->set.interval == 0)
        return 0;
    return max > 0 && n > max / p->set.interval ? max : n * p->set.interval;
}

static bool
is_last_round(const struct pbt *p)
{
    return p->set.max_budget > 0 && budget(p) >= p->set.max_budget;
}

/* All begin, the first one first. */
static void
begin(struct pbt *p)
{
    for (size_t i = 0; i < p->set.size; i++)
        p->ranking[p->set.size - 1 - i] = i;
    p->n_given = p->n_donors = 0;
}

/* The worst first. */
static struct pbt_member *
next(struct pbt *p)
{
    if (p->n_given == p->set.size)
        return NULL;
    return &p->members[p->ranking[p->set.size - ++p->n_given]];
}

static void
prepare(struct pbt *p, struct pbt_member *m, uint64_t id)
{
    struct pbt_place save = {(uint64_t)(m - p->members), p->turn};
    const struct pbt_member *d;

    m->save = save;
    switch (m->kind) {
    case PBT_FRESH:
        m->from = PBT_NO_ID;
        m->load = save;
        m->used = 0;
        return;
    case PBT_ON:
        m->from = m->before;
        m->load = m->kept;
        return;
    case PBT_COPY:
        d = &p->members[p->ranking[pbt_pick(p, id, p->n_donors)]];
        pbt_copy(p, m, d, d->before, d->kept);
        return;
    }
}

/* What its next trial is, by its rank; whoever failed has no state to go on
 * from, wherever it ranks. */
static enum pbt_kind
kind_of(const struct pbt *p, const struct pbt_member *m)
{
    if (m->scored && m->rank < p->set.size - pbt_n_worst(p))
        return PBT_ON;
    return p->n_donors > 0 ? PBT_COPY : PBT_FRESH;
}

static void
next_round(struct pbt *p)
{
    size_t n_scored = pbt_rank(p), best = pbt_n_best(p);

    best = best > 0 ? best : 1; /* for those that failed */
    p->n_donors = n_scored < best ? n_scored : best;
    p->n_given = 0;
    p->turn++;
    for (size_t rank = 0; rank < p->set.size; rank++) {
        struct pbt_member *m = &p->members[p->ranking[rank]];

        m->rank = rank;
        m->kind = kind_of(p, m);
        m->before = m->id;
        m->kept = m->save;
        m->id = PBT_NO_ID;
        m->state = PBT_IDLE;
    }
    for (size_t i = 0; i < p->set.size; i++)
        p->members[i].scored = false;
}

/* All have gone on from what the round before left. */
static void
release_before(struct pbt *p)
{
    for (size_t i = 0; i < p->set.size; i++)
        if (p->members[i].before != PBT_NO_ID)
            p->release(p->release_ctx, p->members[i].before);
}

static struct pbt_judgement
metric(struct pbt *p, struct pbt_member *m, double value, uint64_t used)
{
    struct pbt_judgement j = {.verdict = m->verdict};

    if (p->set.interval == 0 || used < budget(p) || j.verdict != PBT_GO)
        return j;
    pbt_score(p, m, value);
    j.verdict = is_last_round(p) ? PBT_FINISH : PBT_PAUSE;
    return j;
}

static void
ended(struct pbt *p, struct pbt_member *m, enum pbt_end how)
{
    size_t n_done = 0;

    m->state = PBT_DONE;
    if (how == PBT_END_BADLY && !m->told)
        m->scored = false;
    else if (!m->scored && m->heard)
        pbt_score(p, m, m->latest); /* it told no final result */
    if (!m->scored)
        m->order = p->n_scored++;
    for (size_t i = 0; i < p->set.size; i++)
        n_done += p->members[i].state == PBT_DONE;
    if (n_done < p->set.size)
        return;
    release_before(p);
    if (!is_last_round(p))
        next_round(p);
}

const struct pbt_way pbt_rounds = {begin, next, prepare, budget, metric, ended};
