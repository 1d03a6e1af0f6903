/* SPDX-License-Identifier: MIT */
/* DESIGN.  A member's score is that of its latest whole turn; one that has
 * just become a copy has its donor's until it has one of its own.  The worst
 * are the worst of the whole population: who has no score yet counts as no
 * better, so that nobody is stopped before the others can be compared with. */
#include "pbt/pbt.h"

static void
begin(struct pbt *p)
{
    (void)p;
}

static uint64_t
budget(const struct pbt *p)
{
    return p->set.max_budget;
}

/* The one that has had least. */
static struct pbt_member *
next(struct pbt *p)
{
    struct pbt_member *least = NULL;

    for (size_t i = 0; i < p->set.size; i++) {
        struct pbt_member *m = &p->members[i];

        if (m->state == PBT_IDLE && (least == NULL || m->used < least->used))
            least = m;
    }
    return least;
}

/* ---- what nobody needs any more ---- */

static bool
is_needed(const struct pbt *p, uint64_t id)
{
    for (size_t i = 0; i < p->set.size; i++) {
        const struct pbt_member *m = &p->members[i];

        if (m->id == id ||
            (m->state == PBT_OUT && !m->started && m->from == id))
            return true;
    }
    return false;
}

static void
let_go(struct pbt *p, uint64_t id)
{
    if (id != PBT_NO_ID && !is_needed(p, id))
        p->release(p->release_ctx, id);
}

/* m has what it began with. */
static void
arrived(struct pbt *p, struct pbt_member *m)
{
    if (m->started)
        return;
    m->started = true;
    let_go(p, m->from);
}

/* ---- who is copied ---- */

static bool
is_done(const struct pbt_member *m)
{
    return m->state == PBT_DONE || m->verdict == PBT_FINISH;
}

/* Puts those of the best in front that m may copy: of those whose trial did
 * not fail, or else of all.  Who is done has no budget left to go on with. */
static size_t
gather(struct pbt *p, const struct pbt_member *m, bool all)
{
    size_t n_scored = pbt_rank(p), best = pbt_n_best(p), n = 0;

    best = best > 0 ? best : 1;
    for (size_t i = 0; i < n_scored && n < best; i++) {
        struct pbt_member *d = &p->members[p->ranking[i]];
        bool failed = d->state == PBT_IDLE && d->kind != PBT_ON;

        d->rank = i;
        if (!is_done(d) && (all || (d != m && !failed)))
            p->ranking[n++] = p->ranking[i];
    }
    return n;
}

/* NULL: nobody has a state. */
static struct pbt_member *
choose_donor(struct pbt *p, const struct pbt_member *m, uint64_t id)
{
    size_t n = gather(p, m, false);

    if (n == 0)
        n = gather(p, m, true);
    return n > 0 ? &p->members[p->ranking[pbt_pick(p, id, n)]] : NULL;
}

/* A donor that has only just been given its own state has that. */
static void
copy_from(struct pbt *p, struct pbt_member *m, const struct pbt_member *d)
{
    if (d->started)
        pbt_copy(p, m, d, d->id, d->save);
    else
        pbt_copy(p, m, d, d->from, d->load);
    m->score = d->score;
    m->order = p->n_scored++;
    m->scored = true;
}

static void
prepare(struct pbt *p, struct pbt_member *m, uint64_t id)
{
    uint64_t before = m->id;
    struct pbt_place place = m->save;
    struct pbt_member *d;

    m->save.turn += before != PBT_NO_ID;
    if (m->kind == PBT_ON) {
        m->from = before; /* and needed until it has arrived */
        m->load = place;
        return;
    }
    d = m->kind == PBT_COPY ? choose_donor(p, m, id) : NULL;
    if (d != NULL) {
        copy_from(p, m, d);
    } else {
        m->kind = PBT_FRESH;
        m->from = PBT_NO_ID;
        m->load = m->save;
        m->used = 0;
        m->scored = false;
    }
    m->id = PBT_NO_ID; /* nobody begins with what it was any more ... */
    if (before != m->from)
        let_go(p, before); /* ... but who was given it already */
}

/* ---- who goes on ---- */

static bool
somebody_waits(const struct pbt *p, uint64_t used)
{
    for (size_t i = 0; i < p->set.size; i++) {
        const struct pbt_member *m = &p->members[i];

        /* A copy's place is free: it waits for no other. */
        if (m->state == PBT_IDLE && m->kind != PBT_COPY && m->used < used)
            return true;
    }
    return false;
}

/* Nobody is stopped for whom there is nobody to copy. */
static struct pbt_judgement
judge(struct pbt *p, struct pbt_member *m, uint64_t used)
{
    struct pbt_judgement j = {.verdict = PBT_GO, .ranked = true};
    bool is_donor = false;

    for (size_t i = 0; i < p->set.size; i++) {
        const struct pbt_member *other = &p->members[i];
        bool better = other != m && other->scored && other->score > m->score;

        j.rank += better;
        is_donor |= better && !is_done(other);
    }
    m->rank = j.rank;
    j.cut = p->set.size - pbt_n_worst(p);
    if (j.rank >= j.cut && is_donor) {
        j.verdict = PBT_STOP;
        pbt_rank(p);
        j.limit = p->members[p->ranking[j.cut - 1]].score;
    } else if (somebody_waits(p, used)) {
        j.verdict = PBT_PAUSE;
    }
    return j;
}

/* One that was told to pause and has a whole turn more goes on, as there is
 * nobody who pauses trials; what comes of it counts. */
static struct pbt_judgement
metric(struct pbt *p, struct pbt_member *m, double value, uint64_t used)
{
    struct pbt_judgement j = {.verdict = m->verdict};

    if (!m->heard)
        m->since = used - 1;
    arrived(p, m);
    if (m->verdict == PBT_STOP || m->verdict == PBT_FINISH)
        return j;
    if (p->set.max_budget > 0 && used >= p->set.max_budget) {
        pbt_score(p, m, value);
        j.verdict = PBT_FINISH;
    } else if (used > m->since && used - m->since >= p->set.interval) {
        m->since = used;
        pbt_score(p, m, value);
        j = judge(p, m, used);
    }
    return j;
}

static void
ended(struct pbt *p, struct pbt_member *m, enum pbt_end how)
{
    m->state = PBT_IDLE;
    m->kind = PBT_COPY;
    if (m->verdict != PBT_STOP) {
        if (how == PBT_END_PAUSED && m->verdict == PBT_PAUSE)
            m->kind = PBT_ON;
        else if (m->told || how == PBT_END_WELL || m->verdict == PBT_FINISH)
            m->state = PBT_DONE;
    }
    arrived(p, m);
}

const struct pbt_way pbt_async = {begin, next, prepare, budget, metric, ended};
