/* SPDX-License-Identifier: MIT */
/* A tuner that likes a point the better, the nearer its first coordinate is to
 * that of the best result; without one it has no opinion. */
#include "base.h"

#include <math.h>

struct scores {
    const struct tp_host *host;
    double best, at;
    int any;
};

static void *
create(const struct tp_host *host)
{
    struct scores *self = calloc(1, sizeof *self);

    if (self != NULL)
        self->host = host;
    return self;
}

static int
space(void *vself, const struct tp_space *space)
{
    struct scores *self = vself;

    (void)space;
    self->any = 0;
    return TP_OK;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    const struct scores *self = vself;

    self->host->sample(self->host->ctx, id, out->x);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct scores *self = vself;

    (void)id;
    if (self->any && !(result->value > self->best))
        return TP_OK;
    self->any = 1;
    self->best = result->value;
    self->at = x[0];
    return TP_OK;
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    const struct scores *self = vself;

    for (size_t i = 0; i < n; i++)
        out[i] = self->any ? -fabs(points[i][0] - self->at) : NAN;
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "scores",
    .doc = "likes what is near the best result",
    .create = create,
    .destroy = base_destroy,
    .space = space,
    .ask = ask,
    .tell = tell,
    .score = score,
};
TP_REGISTER_TUNER(tuner)
