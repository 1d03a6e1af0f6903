/* SPDX-License-Identifier: MIT */
/* An advisor that says what it must not, one thing each, from id 2 on. */
#include "base.h"

#include <math.h>
#include <string.h>

static const struct tp_arg args[] = {
    {"from", TP_ARG_INT, 0, "2", 0, 1e9, NULL, "the first id that is wrong"},
    {"how", TP_ARG_STRING, 0, NULL, 0, 0,
     "budget|infinite|how|no from|no how|later|other point|decision|release|"
     "twice|key|taken|reserved|decide|stray|metric x|metric fails|metric 99|"
     "nothing",
     "in which way"},
};

static int
is(const struct base *self, uint64_t id, const char *how)
{
    return id >= (uint64_t)self->number && strcmp(self->text, how) == 0;
}

static void
add_extras(const struct base *self, uint64_t id)
{
    const struct tp_host *h = self->host;

    if (is(self, id, "twice")) {
        h->extra(h->ctx, "a", "1");
        h->extra(h->ctx, "a", "2");
    } else if (is(self, id, "key")) {
        h->extra(h->ctx, "", "1");
    } else if (is(self, id, "taken")) {
        h->extra(h->ctx, "x", "1");
    } else if (is(self, id, "reserved")) {
        h->extra(h->ctx, "TRIAL_BUDGET", "1");
    } else if (is(self, id, "decide")) {
        h->decide(h->ctx, 0, 9);
    }
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    base_ask(self, id, out);
    add_extras(self, id);
    out->budget = is(self, id, "budget")     ? -1
                  : is(self, id, "infinite") ? INFINITY
                                             : 3;
    if (is(self, id, "how"))
        out->from_how = 7;
    if (is(self, id, "no from") || is(self, id, "other point"))
        out->from_how = TP_PROMOTED;
    if (is(self, id, "no how") || is(self, id, "other point"))
        out->from = 0;
    if (is(self, id, "later")) {
        out->from_how = TP_CLONED;
        out->from = id;
    }
    return TP_OK;
}

static int
metric(void *vself, uint64_t id, const double *x,
       const struct tp_metric *metric_, struct tp_verdict *out)
{
    struct base *self = vself;

    (void)metric_;
    if (is(self, id, "decision"))
        out->decision = 17;
    if (is(self, id, "release"))
        out->decision = TP_RELEASE;
    if (is(self, id, "metric x"))
        ((double *)(uintptr_t)x)[0] = 0.125;
    if (is(self, id, "metric 99"))
        return 99;
    if (!is(self, id, "metric fails"))
        return TP_OK;
    return tp_error(self->host, "it does not like it");
}

static int
space(void *vself, const struct tp_space *space_)
{
    struct base *self = vself;

    (void)space_;
    if (is(self, (uint64_t)self->number, "stray"))
        self->host->decide(self->host->ctx, 0, TP_STOP);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("misadvisor", "says what it must not"),
    .args = TP_ARGS(args),
    .config = base_config,
    .space = space,
    .ask = ask,
    .metric = metric,
};
TP_REGISTER_TUNER(tuner)
