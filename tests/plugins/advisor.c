/* SPDX-License-Identifier: MIT */
/* An advisor: one bracket of successive halving, to be maximized.  Rung k has
 * the budget eta^k, the last one `budget`; what reaches its budget is paused,
 * in the last rung finished.  When all of a rung have ended, the best 1/eta of
 * those with a value go on from their checkpoints, and the others are
 * released. */
#include "base.h"

#include <math.h>
#include <stdio.h>

#define MEMBERS_MAX 1024

struct member {
    uint64_t id;    /* of its trial in this rung */
    uint64_t first; /* of its first trial: it draws its point */
    uint64_t from;  /* of its trial in the rung before; TP_NO_ID */
    double value;   /* NaN: none */
    uint64_t ended;
};

struct advisor {
    const struct tp_host *host;
    uint64_t budget, eta;
    int clones, labels;
    const char *extra;
    uint64_t rung, n;     /* n: members of this rung */
    uint64_t given, over; /* of them: given out, ended */
    uint64_t done;
    struct member members[MEMBERS_MAX];
    char text[64];
};

static const struct tp_arg args[] = {
    {"budget", TP_ARG_INT, 0, "9", 1, 1000, NULL, "of the last rung, in steps"},
    {"eta", TP_ARG_INT, 0, "3", 2, 1000, NULL, "one in so many is promoted"},
    {"clones", TP_ARG_BOOL, 0, "false", 0, 0, NULL,
     "true: what goes on is another point"},
    {"labels", TP_ARG_BOOL, 0, "false", 0, 0, NULL,
     "true: trials are named RUNG_FIRST"},
    {"extra", TP_ARG_STRING, 1, "null", 0, 0, NULL,
     "a further parameter, under the key `extra`"},
};

static void
begin(struct advisor *self)
{
    uint64_t size = 1;

    while (size * self->eta <= self->budget)
        size *= self->eta;
    self->rung = self->given = self->over = self->done = 0;
    self->n = size;
    for (uint64_t i = 0; i < size; i++)
        self->members[i] = (struct member){.from = TP_NO_ID, .value = NAN};
}

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct advisor));
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct advisor *self = vself;

    (void)n;
    self->budget = (uint64_t)values[0].integer;
    self->eta = (uint64_t)values[1].integer;
    self->clones = values[2].integer != 0;
    self->labels = values[3].integer != 0;
    self->extra = values[4].is_null ? NULL : values[4].text;
    return TP_OK;
}

static int
space(void *self, const struct tp_space *s)
{
    (void)s;
    begin(self); /* whatever there was has ended as outdated */
    return TP_OK;
}

/* The last rung has the whole budget. */
static uint64_t
budget_of(const struct advisor *self)
{
    uint64_t budget = 1;

    for (uint64_t k = 0; k < self->rung; k++)
        budget *= self->eta;
    return budget * self->eta > self->budget ? self->budget : budget;
}

static struct member *
find(struct advisor *self, uint64_t id)
{
    for (uint64_t i = 0; i < self->given; i++)
        if (self->members[i].id == id)
            return &self->members[i];
    return NULL;
}

static void
suggest(struct advisor *self, struct member *m, struct tp_suggestion *out)
{
    int anew = m->from == TP_NO_ID;

    tp_sample(self->host, anew || !self->clones ? m->first : m->id, out->x);
    if (TP_HAS(out, budget))
        out->budget = (double)budget_of(self);
    if (TP_HAS(out, from_how)) {
        out->from = m->from;
        out->from_how = anew ? TP_ANEW : self->clones ? TP_CLONED : TP_PROMOTED;
    }
    if (self->labels) {
        snprintf(self->text, sizeof self->text, "%llu_%llu",
                 (unsigned long long)self->rung, (unsigned long long)m->first);
        out->label = self->text;
    }
    if (self->extra != NULL)
        self->host->extra(self->host->ctx, "extra", self->extra);
    self->host->explain(self->host->ctx, "rung %llu, budget %llu",
                        (unsigned long long)self->rung,
                        (unsigned long long)budget_of(self));
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct advisor *self = vself;
    struct member *m = find(self, id); /* asked again */

    if (m == NULL && self->done)
        return TP_DONE;
    if (m == NULL && self->given == self->n)
        return TP_LATER;
    if (m == NULL) {
        m = &self->members[self->given++];
        m->id = id;
        if (m->from == TP_NO_ID)
            m->first = id;
    }
    suggest(self, m, out);
    return TP_OK;
}

static int
is_better(const struct member *a, const struct member *b)
{
    if (isnan(a->value) || isnan(b->value))
        return !isnan(a->value);
    return a->value > b->value;
}

/* Best first, the earlier one of equals. */
static void
rank(struct advisor *self)
{
    for (uint64_t i = 1; i < self->n; i++)
        for (uint64_t k = i;
             k > 0 && is_better(&self->members[k], &self->members[k - 1]);
             k--) {
            struct member m = self->members[k];

            self->members[k] = self->members[k - 1];
            self->members[k - 1] = m;
        }
}

static void
close_rung(struct advisor *self)
{
    uint64_t stay = self->n < self->eta ? 1 : self->n / self->eta, n = 0;

    if (budget_of(self) == self->budget) {
        self->done = 1;
        stay = 0;
    }
    rank(self);
    for (uint64_t i = 0; i < self->n; i++) {
        struct member m = self->members[i];

        if (n < stay && !isnan(m.value))
            self->members[n++] =
                (struct member){.first = m.first, .from = m.id, .value = NAN};
        else
            self->host->decide(self->host->ctx, m.id, TP_RELEASE);
    }
    if (n == 0)
        self->done = 1;
    self->n = n;
    self->rung++;
    self->given = self->over = 0;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct member *m = find(vself, id);

    (void)x;
    if (m != NULL && id != TP_NO_ID)
        m->value = result->value;
    return TP_OK;
}

static int
metric(void *vself, uint64_t id, const double *x,
       const struct tp_metric *metric_, struct tp_verdict *out)
{
    struct advisor *self = vself;
    struct member *m = find(self, id);

    (void)x;
    if (m == NULL || m->ended)
        return TP_OK;
    m->value = metric_->value;
    out->value = (double)(metric_->step + 1);
    out->threshold = (double)budget_of(self);
    out->rule = "its budget";
    if (metric_->step + 1 >= budget_of(self))
        out->decision = budget_of(self) == self->budget ? TP_FINISH : TP_PAUSE;
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct advisor *self = vself;
    struct member *m = find(self, id);

    (void)x;
    if (m == NULL || m->ended)
        return TP_OK;
    m->ended = 1;
    if (how != TP_ENDED_PAUSED && how != TP_ENDED_SUCCEEDED)
        m->value = NAN;
    if (++self->over == self->n)
        close_rung(self);
    return TP_OK;
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct advisor *self = vself;

    tp_put_u64(sink, self->rung);
    tp_put_u64(sink, self->n);
    tp_put_u64(sink, self->given);
    tp_put_u64(sink, self->over);
    tp_put_u64(sink, self->done);
    for (uint64_t i = 0; i < self->n; i++) {
        const struct member *m = &self->members[i];

        tp_put_u64(sink, m->id);
        tp_put_u64(sink, m->first);
        tp_put_u64(sink, m->from);
        tp_put_f64(sink, m->value);
        tp_put_u64(sink, m->ended);
    }
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct advisor *self = vself;
    int rc = TP_OK;

    tp_get_u64(source, &self->rung);
    tp_get_u64(source, &self->n);
    tp_get_u64(source, &self->given);
    tp_get_u64(source, &self->over);
    rc = tp_get_u64(source, &self->done);
    if (rc == TP_OK &&
        (self->rung > 64 || self->n > MEMBERS_MAX || self->given > self->n ||
         self->over > self->given || self->done > 1))
        rc = TP_ERR;
    for (uint64_t i = 0; rc == TP_OK && i < self->n; i++) {
        struct member *m = &self->members[i];

        *m = (struct member){.id = 0};
        tp_get_u64(source, &m->id);
        tp_get_u64(source, &m->first);
        tp_get_u64(source, &m->from);
        tp_get_f64(source, &m->value);
        rc = tp_get_u64(source, &m->ended);
    }
    if (rc != TP_OK)
        tp_error(self->host, "its state is cut off, or damaged");
    return rc;
}

#ifndef ADVISOR_NAME
#define ADVISOR_NAME "advisor"
#define ADVISOR_FLAGS 0
#endif

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = ADVISOR_NAME,
    .doc = "successive halving, for tests",
    .version = 1,
    .flags = ADVISOR_FLAGS,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = save,
    .load = load,
    .metric = metric,
};
TP_REGISTER_TUNER(tuner)
