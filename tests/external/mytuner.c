/* SPDX-License-Identifier: MIT */
/* A tuner outside tunepipe's source: it needs the installed headers and a C90
 * compiler.  Each dimension walks the van der Corput sequence of its own base:
 * 1/2, 1/4, 3/4, 1/8, ... for the first (J. H. Halton, Numerische Mathematik
 * 2, 1960).  Where a dimension is not an interval, the prior is sampled. */
#include <stdlib.h>

#include <tunepipe/tuner.h>

struct mytuner {
    const struct tp_host *host;
    const struct tp_space *space;
    int64_t base;
    double best;
    int has_best;
};

/* Members in the order of struct tp_arg. */
static const struct tp_arg args[] = {
    {"base", TP_ARG_INT, 0, "2", 2, 1000, NULL, "base of the first dimension"}
};

static void *
create(const struct tp_host *host)
{
    struct mytuner *self = (struct mytuner *)calloc(1, sizeof *self);

    if (self == NULL)
        host->error(host->ctx, "out of memory");
    else
        self->host = host;
    return self;
}

static void
destroy(void *self)
{
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct mytuner *self = (struct mytuner *)vself;

    (void)n;
    self->base = values[0].integer;
    return TP_OK;
}

static int
space(void *vself, const struct tp_space *s)
{
    struct mytuner *self = (struct mytuner *)vself;

    self->space = s;
    return TP_OK;
}

/* The digits of n behind the point, in reverse. */
static double
van_der_corput(uint64_t n, uint64_t base)
{
    double value = 0, unit = 1;

    for (; n > 0; n /= base) {
        unit /= (double)base;
        value += unit * (double)(n % base);
    }
    return value;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct mytuner *self = (struct mytuner *)vself;
    size_t i;

    self->host->sample(self->host->ctx, id, out->x);
    for (i = 0; i < self->space->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(self->space, i);
        uint64_t base = (uint64_t)self->base + i;

        if (!(d->flags & (TP_DIM_INDEX | TP_DIM_NORMAL)) &&
            d->parent == TP_NO_PARENT)
            out->x[i] =
                d->low + (d->high - d->low) * van_der_corput(id + 1, base);
    }
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct mytuner *self = (struct mytuner *)vself;

    (void)x;
    if (!self->has_best || result->value > self->best) {
        self->has_best = 1;
        self->best = result->value;
        self->host->log(self->host->ctx, TP_LOG_INFO, "best is %g, of trial %lu",
                        result->value, (unsigned long)id);
    }
    return TP_OK;
}

/* Members in the order of struct tp_tuner. */
static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    "mytuner",
    "walks the van der Corput sequence",
    1, /* version */
    0, /* flags */
    args,
    sizeof args / sizeof args[0],
    sizeof args[0],
    create,
    destroy,
    config,
    space,
    ask,
    tell,
    NULL, /* ended */
    NULL, /* save: it is replayed */
    NULL, /* load */
    NULL, /* score */
    NULL, /* metric: no advisor */
    NULL, /* plan */
    NULL  /* objectives: it takes one value */
};
TP_REGISTER_TUNER(tuner)
