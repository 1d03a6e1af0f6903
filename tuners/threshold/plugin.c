/* SPDX-License-Identifier: MIT */
/* The assessor `threshold`: threshold.h behind the plugin interface.  A
 * trial's slot holds no pointer but the number of values seen last. */
#include "threshold/threshold.h"
#include "tunepipe/assessor.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>

struct shell {
    const struct tp_host *host;
    struct threshold rule;
};

enum { LOWER, UPPER, START_STEP, INTERVAL, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [LOWER] = TP_DOUBLE_OR_NULL(
        "lower", 0, 0, "a value below it stops the trial; null: none does"),
    [UPPER] = TP_DOUBLE_OR_NULL(
        "upper", 0, 0, "a value above it stops the trial; null: none does"),
    [START_STEP] = TP_INT("start_step", 0, 0, 1e9,
                          "values a trial has to report before it is judged"),
    [INTERVAL] =
        TP_INT("interval", 1, 1, 1e9, "values from one judgement to the next"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct shell));
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    const struct tp_value *lower = &values[LOWER], *upper = &values[UPPER];

    (void)n;
    if (!lower->is_null && !upper->is_null && lower->number > upper->number)
        return tp_error(self->host,
                        "lower is %.17g, expected at most upper, "
                        "which is %.17g",
                        lower->number, upper->number);
    self->rule = (struct threshold){
        .lower = tp_number_or(lower, -INFINITY),
        .upper = tp_number_or(upper, INFINITY),
        .start_step = (size_t)values[START_STEP].integer,
        .interval = (size_t)values[INTERVAL].integer,
    };
    return TP_OK;
}

static void
explain(const struct shell *self, const struct threshold_verdict *v)
{
    const struct tp_host *host = self->host;

    if (v->reason == THRESHOLD_EARLY)
        tp_explain(host, "not judged: fewer values than start_step");
    else if (v->reason == THRESHOLD_BETWEEN)
        tp_explain(host, "not judged: its values lie within interval");
    else
        tp_explain(host, "value %zu: %.9g; bounds: %.9g to %.9g", v->step,
                   v->value, self->rule.lower, self->rule.upper);
}

static void
decide(const struct shell *self, const struct threshold_verdict *v,
       struct tp_verdict *out)
{
    out->decision = v->stop ? TP_STOP : TP_GO;
    out->value = v->value;
    switch (v->reason) {
    case THRESHOLD_EARLY:
    case THRESHOLD_BETWEEN:
    case THRESHOLD_WITHIN:
        break;
    case THRESHOLD_NAN:
        out->rule = "value is NaN";
        break;
    case THRESHOLD_BELOW:
        out->rule = "value below lower";
        out->threshold = self->rule.lower;
        break;
    case THRESHOLD_ABOVE:
        out->rule = "value above upper";
        out->threshold = self->rule.upper;
        break;
    }
}

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    const struct shell *self = vself;
    struct threshold_verdict v = threshold_assess(&self->rule, h->values, h->n,
                                                  (size_t)(uintptr_t)*h->slot);

    *h->slot = (void *)(uintptr_t)h->n;
    explain(self, &v);
    decide(self, &v, out);
    return TP_OK;
}

static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    (void)vself;
    for (size_t i = 0; i < n; i++)
        tp_put_u64(sink, (uint64_t)(uintptr_t)*living[i]->slot);
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *s)
{
    const struct shell *self = vself;

    for (size_t i = 0; i < n; i++) {
        uint64_t seen;

        if (tp_get_u64(s, &seen) != TP_OK || seen > living[i]->n)
            return tp_error(self->host, "a saved trial is cut off or longer "
                                        "than its history");
        *living[i]->slot = (void *)(uintptr_t)seen;
    }
    return TP_OK;
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "threshold",
    .doc = "stops a trial that reports a value beyond a bound, or NaN",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .config = config,
    .assess = assess,
    .save = save,
    .load = load,
};
TP_REGISTER_ASSESSOR(assessor)
