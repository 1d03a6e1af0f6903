/* SPDX-License-Identifier: MIT */
/* A tuner that writes a line for each call it gets, with the point's first
 * coordinate. */
#include "base.h"

static void *
create(const struct tp_host *host)
{
    tp_log(host, TP_LOG_INFO, "create");
    return base_create(host);
}

static void
destroy(void *vself)
{
    struct base *self = vself;

    tp_log(self->host, TP_LOG_INFO, "destroy");
    free(self);
}

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

    tp_log(self->host, TP_LOG_INFO, "ask %d", (int)id);
    out->x[0] = 0.25;
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct base *self = vself;

    tp_log(self->host, TP_LOG_INFO, "tell %d %g how %d", (int)id, x[0],
           result->how);
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct base *self = vself;

    tp_log(self->host, TP_LOG_INFO, "ended %d %g how %d", (int)id, x[0], how);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,  .name = "calls",  .doc = "writes down its calls",
    .version = 1,   .create = create, .destroy = destroy,
    .space = space, .ask = ask,       .tell = tell,
    .ended = ended,
};
TP_REGISTER_TUNER(tuner)
