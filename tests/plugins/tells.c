/* SPDX-License-Identifier: MIT */
/* A tuner that proposes the points 1/64, 2/64, ... and writes down what it is
 * told of them, values included: "tell 3 0.0625 = 0.5 final". */
#include "base.h"

static const char *const results[] = {"?", "final", "stopped", "imported",
                                      "custom"};
static const char *const ends[] = {"?",       "succeeded", "failed",
                                   "stopped", "cancelled", "outdated"};

static int
space(void *vself, const struct tp_space *space_)
{
    struct base *self = vself;

    tp_log(self->host, TP_LOG_INFO, "space of %d", (int)space_->n_dims);
    return TP_OK;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    (void)id;
    out->x[0] = (double)++self->asked / 64;
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct base *self = vself;

    tp_log(self->host, TP_LOG_INFO, "tell %d %g = %g %s",
           id == TP_NO_ID ? -1 : (int)id, x[0], result->value,
           results[result->how]);
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct base *self = vself;

    (void)x;
    tp_log(self->host, TP_LOG_INFO, "ended %d %s", (int)id, ends[how]);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "tells",
    .doc = "writes down results",
    .version = 1,
    .create = base_create,
    .destroy = free,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = base_save,
    .load = base_load,
};
TP_REGISTER_TUNER(tuner)
