/* SPDX-License-Identifier: MIT */
#include "sim/bands.h"

#include "core/err.h"
#include "sim/game.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
power(uint64_t base, unsigned exponent)
{
    uint64_t out = 1;

    while (exponent-- > 0)
        out *= base;
    return out;
}

unsigned
bands_widest(const struct bands *b)
{
    unsigned s = 0;

    while (b->least * power(b->eta, s + 1) <= b->most)
        s++;
    return s;
}

void
bands_round(const struct bands *b, unsigned s, unsigned round, uint64_t *n,
            uint64_t *r)
{
    uint64_t all = (bands_widest(b) + 1) * power(b->eta, s);

    *n = (all + s) / (s + 1) / power(b->eta, round);
    *r = b->most * power(b->eta, round) / power(b->eta, s);
}

#define NO_BAND UINT_MAX

/* What a label says. */
struct place {
    unsigned band, s, round, n;
};

/* Takes a number and what must follow it. */
static bool
take(const char **text, char mark, unsigned *out)
{
    char *end;

    *out = (unsigned)strtoul(*text, &end, 10);
    if (end == *text || *end != mark)
        return false;
    *text = mark == '\0' ? end : end + 1;
    return true;
}

static bool
read_label(const struct game *g, size_t i, struct place *out)
{
    const char *label = game_at(g, i)->s.label;

    out->band = NO_BAND;
    if (strchr(label, '-') != NULL && !take(&label, '-', &out->band))
        return false;
    return take(&label, '_', &out->s) && take(&label, '_', &out->round) &&
           take(&label, '\0', &out->n);
}

/* BOHB's labels do not tell one bracket from the one of the same s later: of
 * one bracket is what lies between two brackets of another s, or begins anew
 * behind a round that was not the first. */
static size_t
bracket_begins(const struct game *g, size_t i)
{
    struct place at, before;
    size_t begins = i;

    read_label(g, i, &at);
    for (size_t k = i; k-- > game_since(g);) {
        read_label(g, k, &before);
        if (before.s != at.s || before.band != at.band) {
            if (at.band == NO_BAND)
                break;
            continue;
        }
        begins = k;
    }
    return begins;
}

/* The members of a round, up to the i-th suggestion. */
struct round {
    size_t n, ended, valued, promoted;
};

static bool
is_in(const struct game *g, size_t k, const struct place *at, unsigned round)
{
    struct place p;

    read_label(g, k, &p);
    return p.band == at->band && p.s == at->s && p.round == round;
}

static struct round
count_round(const struct game *g, size_t from, size_t to,
            const struct place *at, unsigned round)
{
    struct round c = {0};

    for (size_t k = from; k < to; k++) {
        const struct played *p = game_at(g, k);

        if (!is_in(g, k, at, round))
            continue;
        c.n++;
        c.ended += p->ended != 0;
        c.valued += p->has_value;
        c.promoted += p->promoted > 0;
    }
    return c;
}

/* Where the value by which a trial is ranked is beyond doubt. */
static bool
is_plain(const struct game *g)
{
    const struct odds *o = game_odds(g);

    return o->late_final == 0 && o->odd == 0 && o->repeats == 0 &&
           o->ignores == 0;
}

/* i goes on from the best of its round that did not yet. */
static int
check_rank(const struct game *g, size_t begins, size_t i,
           const struct place *at, struct err *err)
{
    const struct played *p = game_at(g, i);
    const struct played *parent = game_find(g, p->s.from);

    for (size_t k = begins; k < i; k++) {
        const struct played *q = game_at(g, k);

        if (is_in(g, k, at, at->round - 1) && q->promoted == 0 &&
            q->has_value && game_better(g, q->value, parent->value))
            return err_set(err, ERR_PLUGIN,
                           "%s goes on from a trial with %g, though %s has %g",
                           p->s.label, parent->value, q->s.label, q->value);
    }
    return 0;
}

static int
check_promoted(const struct game *g, size_t begins, size_t i,
               const struct place *at, struct err *err)
{
    const struct played *p = game_at(g, i);
    const struct played *parent = game_find(g, p->s.from);
    struct round before = count_round(g, begins, i, at, at->round - 1);
    struct place from = {0};

    if (parent == NULL || p->s.from_how != TP_PROMOTED)
        return err_set(err, ERR_PLUGIN, "%s goes on from nothing", p->s.label);
    for (size_t k = begins; k < i; k++)
        if (game_at(g, k) == parent)
            read_label(g, k, &from);
    if (from.band != at->band || from.s != at->s ||
        from.round + 1 != at->round || from.n != at->n)
        return err_set(err, ERR_PLUGIN, "%s goes on from %s", p->s.label,
                       parent->s.label);
    if (before.ended != before.n)
        return err_set(err, ERR_PLUGIN,
                       "%s was suggested when %zu of %zu had ended", p->s.label,
                       before.ended, before.n);
    return is_plain(g) ? check_rank(g, begins, i, at, err) : 0;
}

static int
bands_asked(const struct game *g, size_t i, struct err *err)
{
    const struct bands *b = game_setup(g)->rules_arg;
    const struct played *p = game_at(g, i);
    size_t begins;
    struct place at;
    uint64_t n, r;

    if (!read_label(g, i, &at) || at.s > bands_widest(b) || at.round > at.s)
        return err_set(err, ERR_PLUGIN, "label '%s'", p->s.label);
    bands_round(b, at.s, at.round, &n, &r);
    begins = bracket_begins(g, i);
    if (p->s.budget != (double)r)
        return err_set(err, ERR_PLUGIN, "%s has a budget of %g, not %" PRIu64,
                       p->s.label, p->s.budget, r);
    if (count_round(g, begins, i + 1, &at, at.round).n > n)
        return err_set(err, ERR_PLUGIN,
                       "%s is more than the %" PRIu64 " of its round",
                       p->s.label, n);
    if (at.round > 0)
        return check_promoted(g, begins, i, &at, err);
    if (p->s.from != TP_NO_ID)
        return err_set(err, ERR_PLUGIN, "%s begins with an older trial",
                       p->s.label);
    return 0;
}

/* Every round of the bracket of i that was full and is over has sent on as
 * many as it had to, or all that have a value. */
static int
check_sent_on(const struct game *g, size_t begins, size_t to,
              const struct place *at, struct err *err)
{
    const struct bands *b = game_setup(g)->rules_arg;

    for (unsigned k = 0; k < at->s; k++) {
        struct round c = count_round(g, begins, to, at, k);
        struct round next = count_round(g, begins, to, at, k + 1);
        uint64_t n, r;

        bands_round(b, at->s, k, &n, &r);
        if (k == 0 ? c.n < n : c.n == 0)
            return 0;
        if (c.ended < c.n)
            return 0;
        bands_round(b, at->s, k + 1, &n, &r);
        if (n > c.valued)
            n = c.valued;
        if (next.n != n)
            return err_set(err, ERR_PLUGIN,
                           "a bracket opens while round %u of %u-%u has %zu "
                           "trials of %" PRIu64,
                           k + 1, at->band, at->s, next.n, n);
    }
    return 0;
}

/* A bracket opens only when nothing of the others is ready. */
static int
hyperband_asked(const struct game *g, size_t i, struct err *err)
{
    struct place at;

    if (bands_asked(g, i, err) != 0)
        return -1;
    read_label(g, i, &at);
    if (at.round > 0 || bracket_begins(g, i) != i || !is_plain(g))
        return 0;
    for (size_t k = game_since(g); k < i; k++) {
        struct place other;

        read_label(g, k, &other);
        if (other.round == 0 && bracket_begins(g, k) == k &&
            check_sent_on(g, k, i, &other, err) != 0)
            return -1;
    }
    return 0;
}

const struct rules rules_brackets = {
    .name = "brackets",
    .endless = true,
    .asked = bands_asked,
};

const struct rules rules_hyperband_parallel = {
    .name = "hyperband, parallel",
    .never_waits = true,
    .endless = true,
    .asked = hyperband_asked,
};

const struct rules rules_hyperband_serial = {
    .name = "hyperband, serial",
    .endless = true,
    .asked = hyperband_asked,
};

const struct rules rules_bohb = {
    .name = "bohb",
    .endless = true,
    .asked = bands_asked,
};
