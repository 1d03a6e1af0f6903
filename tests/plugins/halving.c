/* SPDX-License-Identifier: MIT */
/* An advisor that does as little as possible: successive halving of nine
 * points, 9 with a budget of 1, 3 of 3, 1 of 9, and again, which it labels as
 * Hyperband does; with one fault, so that what plays with advisors shows that
 * it finds it. */
#include "base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIRST = 9, DIMS = 16 };

static const struct tp_arg args[] = {
    {"unused", TP_ARG_INT, 0, "0", 0, 0, NULL, "base_config() wants it"},
    {"fault", TP_ARG_STRING, 0, "\"none\"", 0, 0,
     "none|stalls|other_point|past_budget|same_label|again|released|forgets|"
     "worst|ends|odd_budget|unknown|itself",
     "what is wrong with it"},
};

struct member {
    uint64_t id, from, number;
    uint64_t ended;
    double value; /* NaN: none */
    double x[DIMS];
};

struct halving {
    struct base base;
    size_t n_dims;
    uint64_t bracket, n, asked, n_ended; /* n, ...: of this round */
    uint64_t budget;
    struct member at[FIRST];
    char label[32];
};

static int
has_fault(const struct halving *h, const char *fault)
{
    return strcmp(h->base.text, fault) == 0;
}

static void *
create(const struct tp_host *host)
{
    struct halving *h = calloc(1, sizeof *h);

    if (h != NULL)
        h->base.host = host;
    return h;
}

static void
open_bracket(struct halving *h)
{
    h->bracket++;
    h->n = FIRST;
    h->asked = h->n_ended = 0;
    h->budget = 1;
    for (size_t i = 0; i < FIRST; i++)
        h->at[i] = (struct member){.from = TP_NO_ID, .value = NAN};
}

static int
space(void *self, const struct tp_space *s)
{
    struct halving *h = self;

    h->n_dims = s->n_dims;
    open_bracket(h);
    return TP_OK;
}

static int
ask(void *self, uint64_t id, struct tp_suggestion *out)
{
    struct halving *h = self;
    const struct tp_host *host = h->base.host;
    struct member *m;

    if (h->asked == h->n)
        return has_fault(h, "ends") ? TP_DONE : TP_LATER;
    m = &h->at[h->asked++];
    if (m->from == TP_NO_ID) {
        tp_sample(host, id, m->x);
        m->number = h->asked;
    }
    memcpy(out->x, m->x, h->n_dims * sizeof *m->x);
    if (m->from != TP_NO_ID && has_fault(h, "other_point"))
        out->x[0] = nextafter(out->x[0], 0);
    out->from = m->from;
    if (m->from != TP_NO_ID)
        out->from_how = TP_PROMOTED;
    if (h->asked < h->n && m[1].from != TP_NO_ID && has_fault(h, "released"))
        host->decide(host->ctx, m[1].from, TP_RELEASE);
    out->budget = (double)h->budget;
    if (has_fault(h, "odd_budget"))
        out->budget = 1;
    m->id = id;
    snprintf(h->label, sizeof h->label, "%d-2_%d_%d", (int)h->bracket,
             h->budget == 1 ? 0 : 1 + (h->budget == FIRST),
             has_fault(h, "same_label") ? 0 : (int)m->number);
    if (!has_fault(h, "again")) /* it would have the same one */
        out->label = h->label;
    return TP_OK;
}

static struct member *
find(struct halving *h, uint64_t id)
{
    for (size_t i = 0; i < h->asked; i++)
        if (h->at[i].id == id && !h->at[i].ended)
            return &h->at[i];
    return NULL;
}

static void
note(struct halving *h, uint64_t id, double value)
{
    struct member *m = find(h, id);

    if (m != NULL)
        m->value = value;
}

static int
metric(void *self, uint64_t id, const double *x, const struct tp_metric *m,
       struct tp_verdict *out)
{
    struct halving *h = self;
    const struct tp_host *host = h->base.host;

    (void)x;
    note(h, id, m->value);
    if (m->step + 1 >= h->budget && !has_fault(h, "past_budget"))
        out->decision = h->budget == FIRST ? TP_FINISH : TP_PAUSE;
    if (has_fault(h, "unknown"))
        host->decide(host->ctx, id + 1000, TP_STOP);
    if (has_fault(h, "itself"))
        host->decide(host->ctx, id, TP_STOP);
    return TP_OK;
}

static int
tell(void *self, uint64_t id, const double *x, const struct tp_result *result)
{
    (void)x;
    if (result->how == TP_RESULT_FINAL)
        note(self, id, result->value);
    return TP_OK;
}

/* The best (the least) of what has a value goes first; NULL: none has. */
static struct member *
take_best(struct halving *h)
{
    struct member *best = NULL;
    int sign = has_fault(h, "worst") ? -1 : 1;

    for (size_t i = 0; i < h->n; i++)
        if (!isnan(h->at[i].value) &&
            (best == NULL || sign * h->at[i].value < sign * best->value))
            best = &h->at[i];
    return best;
}

static void
next_round(struct halving *h)
{
    struct member next[FIRST], *best;
    size_t n = 0;

    while (n < h->n / 3 && (best = take_best(h)) != NULL) {
        next[n] = *best;
        next[n].from = best->id;
        next[n].value = NAN;
        next[n++].ended = 0;
        if (!has_fault(h, "again"))
            best->value = NAN;
    }
    if (n == 0) {
        open_bracket(h);
        return;
    }
    memcpy(h->at, next, n * sizeof *next);
    h->n = n;
    h->asked = h->n_ended = 0;
    h->budget *= 3;
}

static int
ended(void *self, uint64_t id, const double *x, int how)
{
    struct halving *h = self;
    struct member *m = find(h, id);

    (void)x;
    if (m == NULL || how == TP_ENDED_OUTDATED)
        return TP_OK;
    if (has_fault(h, "stalls") && how == TP_ENDED_FAILED)
        return TP_OK;
    m->ended = 1;
    if (++h->n_ended == h->n)
        next_round(h);
    return TP_OK;
}

static int
save(void *self, const struct tp_sink *s)
{
    const struct halving *h = self;

    s->u64(s->ctx, h->bracket);
    s->u64(s->ctx, h->n);
    s->u64(s->ctx, h->asked);
    s->u64(s->ctx, h->n_ended);
    s->u64(s->ctx, h->budget);
    for (size_t i = 0; i < h->n; i++) {
        const struct member *m = &h->at[i];

        s->u64(s->ctx, m->id);
        s->u64(s->ctx, m->from);
        s->u64(s->ctx, m->number);
        s->u64(s->ctx, m->ended);
        s->f64(s->ctx, has_fault(h, "forgets") ? NAN : m->value);
        s->f64s(s->ctx, m->x, h->n_dims);
    }
    return TP_OK;
}

static int
load(void *self, const struct tp_source *s)
{
    struct halving *h = self;
    int rc = TP_OK;

    rc |= s->u64(s->ctx, &h->bracket);
    rc |= s->u64(s->ctx, &h->n);
    rc |= s->u64(s->ctx, &h->asked);
    rc |= s->u64(s->ctx, &h->n_ended);
    rc |= s->u64(s->ctx, &h->budget);
    for (size_t i = 0; rc == TP_OK && i < h->n && i < FIRST; i++) {
        struct member *m = &h->at[i];

        rc |= s->u64(s->ctx, &m->id);
        rc |= s->u64(s->ctx, &m->from);
        rc |= s->u64(s->ctx, &m->number);
        rc |= s->u64(s->ctx, &m->ended);
        rc |= s->f64(s->ctx, &m->value);
        rc |= s->f64s(s->ctx, m->x, h->n_dims);
    }
    if (rc == TP_OK && h->n <= FIRST && h->asked <= h->n)
        return TP_OK;
    return tp_error(h->base.host, "no state of mine");
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    "halving",
    "halves nine points twice, perhaps with a fault",
    1,
    0,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .config = base_config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = save,
    .load = load,
    .metric = metric,
};
TP_REGISTER_TUNER(tuner)
