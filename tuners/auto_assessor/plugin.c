/* SPDX-License-Identifier: MIT */
/* The assessor `auto`: choice.h behind the plugin interface.  Its file has
 * another name than it, as a tuner has that. */
#include "auto_assessor/choice.h"
#include "tunepipe/assessor.h"
#include "tunepipe/shell.h"

#include <stdlib.h>

struct shell {
    const struct tp_host *host;
    struct choice *choice;
};

enum { MODE, BOUND, STARTUP_TRIALS, ONE_IN, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger values are better"),
    [BOUND] = TP_DOUBLE("bound", 0.2, 0, 1,
                        "share of the good trials that a rule may stop"),
    [STARTUP_TRIALS] =
        TP_INT("startup_trials", 1, 1, 1e9,
               "trials that have to complete before any is judged"),
    [ONE_IN] = TP_INT("one_in", 10, 1, 1e9,
                      "of so many trials one runs to the end in any case"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct shell));
}

static void
destroy(void *vself)
{
    struct shell *self = vself;

    choice_free(self->choice);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    struct choice_options options = {
        .maximize = tp_maximizes(&values[MODE]),
        .bound = values[BOUND].number,
        .startup = (uint64_t)values[STARTUP_TRIALS].integer,
        .one_in = (uint64_t)values[ONE_IN].integer,
    };

    (void)n;
    self->choice = choice_new(&options);
    return self->choice != NULL ? TP_OK : tp_out_of_memory(self->host);
}

static void
explain(const struct shell *self, const struct choice_verdict *v)
{
    const struct tp_host *host = self->host;
    const struct choice *c = self->choice;
    uint64_t first;

    if (!tp_explains(host))
        return;
    if (c->n_finals < c->options.startup) {
        tp_explain(
            host,
            "not judged: %zu trials have completed, at least %llu have to",
            c->n_finals, (unsigned long long)c->options.startup);
        return;
    }
    if (v->rule.percentile == 100) {
        tp_explain(
            host,
            "not judged: every rule would have stopped more than %g of the good trials",
            c->options.bound);
        return;
    }
    first = v->rule.part > 0 ? c->longest / v->rule.part : 1;
    tp_explain(host,
               "in force: the best %g percent go on, from %llu values on: it "
               "is taken to stop %.2g of the good trials (bound %g), and to "
               "save %.2g of all values",
               v->rule.percentile, (unsigned long long)(first > 0 ? first : 1),
               v->lost, c->options.bound, v->saved);
    if (v->limit != v->limit)
        tp_explain(host,
                   "not judged: too early, or no completed trial came so far");
    else
        tp_explain(host, "its best: %.9g; that share had %.9g or better then%s",
                   v->best, v->limit,
                   v->is_control ? "; it goes on to see what becomes of it"
                                 : "");
}

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct shell *self = vself;
    struct choice_verdict v;

    choice_assess(self->choice, h->trial, h->values, h->n, &v);
    explain(self, &v);
    out->decision = v.stop ? TP_STOP : TP_GO;
    out->value = v.best;
    out->threshold = v.limit;
    if (v.stop)
        out->rule = "best value worse than the percentile of completed trials "
                    "that is in force";
    return TP_OK;
}

static int
ended(void *vself, const struct tp_history *h, int how)
{
    struct shell *self = vself;

    if (how == TP_TRIAL_SUCCEEDED &&
        choice_succeeded(self->choice, h->trial, h->values, h->n) != 0)
        return tp_out_of_memory(self->host);
    return TP_OK;
}

static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    const struct shell *self = vself;

    (void)living;
    (void)n;
    choice_save(self->choice, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *source)
{
    struct shell *self = vself;

    (void)living;
    (void)n;
    return tp_ok_unless(self->host, choice_load(self->choice, source));
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "auto",
    .doc = "stops trials by the rule that saves most, of those that would have "
           "stopped few good ones so far",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .config = config,
    .assess = assess,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_ASSESSOR(assessor)
