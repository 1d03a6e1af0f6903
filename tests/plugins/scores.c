/* SPDX-License-Identifier: MIT */
/* A tuner that likes a point the better, the nearer its first coordinate is to
 * that of the best result; without one it has no opinion. */
#include "base.h"

#include <math.h>
#include <string.h>

static const struct tp_arg args[] = {
    {"how", TP_ARG_STRING, 0, "\"well\"", 0, 0, "well|fails|changes|remembers",
     "what score does"},
};

struct scores {
    const struct tp_host *host;
    const char *how;
    size_t n_dims;
    double best, at;
    int any;
    uint64_t scored; /* remembers: and samples other points */
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct scores));
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct scores *self = vself;

    (void)n;
    self->how = values[0].text;
    return TP_OK;
}

static int
space(void *vself, const struct tp_space *space)
{
    struct scores *self = vself;

    self->n_dims = space->n_dims;
    self->any = 0;
    return TP_OK;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    const struct scores *self = vself;

    tp_sample(self->host, id + self->scored, out->x);
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
    self->at = self->n_dims > 0 ? x[0] : 0;
    return TP_OK;
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct scores *self = vself;

    if (strcmp(self->how, "fails") == 0)
        return tp_error(self->host, "it does not want to");
    if (strcmp(self->how, "changes") == 0 && n > 0 && self->n_dims > 0)
        *(double *)(uintptr_t)points[0] = 0.125;
    if (strcmp(self->how, "remembers") == 0)
        self->scored += 1000;
    for (size_t i = 0; i < n; i++)
        out[i] = self->any && self->n_dims > 0 ? -fabs(points[i][0] - self->at)
                                               : NAN;
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "scores",
    .doc = "likes what is near the best result",
    .version = 1,
    .args = args,
    .n_args = sizeof args / sizeof args[0],
    .arg_size = sizeof args[0],
    .create = create,
    .destroy = free,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .score = score,
};
TP_REGISTER_TUNER(tuner)
