/* SPDX-License-Identifier: MIT */
/* A tuner that takes several values and writes down what it is told: "judged by
 * accuracy up from 0.5", "tell 3 = 0.5, 12 beyond 0.25 final".  With `number` 1
 * it takes two objectives at most. */
#include "base.h"

#include <stdio.h>

static const char *const results[] = {"?", "final", "stopped", "imported",
                                      "custom"};
static const struct tp_arg args[] = {
    {"number", TP_ARG_INT, 0, "0", 0, 1, NULL, "1: at most two objectives"},
};

static int
objectives(void *vself, const struct tp_objectives *of)
{
    struct base *self = vself;

    if (self->number == 1 && of->n > 2)
        return tp_error(self->host, "it takes two objectives at most");
    for (size_t i = 0; i < of->n; i++) {
        const struct tp_objective *o = TP_OBJECTIVE(of, i);

        tp_log(self->host, TP_LOG_INFO, "judged by %s %s from %g", o->name,
               o->maximize ? "up" : "down", o->reference);
    }
    tp_log(self->host, TP_LOG_INFO, "limits: %d", (int)of->n_limits);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct base *self = vself;
    char values[200] = "";
    size_t len = 0;

    (void)x;
    for (size_t i = 0; i < result->n_values; i++)
        len += (size_t)snprintf(values + len, sizeof values - len, "%s%g",
                                i == 0 ? "" : ", ", result->values[i]);
    tp_log(self->host, TP_LOG_INFO, "tell %d = %s beyond %g %s",
           id == TP_NO_ID ? -1 : (int)id, values, result->violation,
           results[result->how]);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "several",
    .doc = "writes down several values",
    .version = 1,
    .args = args,
    .n_args = sizeof args / sizeof *args,
    .arg_size = sizeof *args,
    .create = base_create,
    .destroy = free,
    .config = base_config,
    .ask = base_ask,
    .tell = tell,
    .save = base_save,
    .load = base_load,
    .objectives = objectives,
};
TP_REGISTER_TUNER(tuner)
