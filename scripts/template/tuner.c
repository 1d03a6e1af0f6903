/* The tuner `newname`: a hill climber.  The first trials are samples of the
 * prior; from then on each is a step from the best point so far towards
 * another sample.
 *
 * tunepipe/tuner.h tells when each callback is called. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tunepipe/tuner.h>

/* One object; there may be several in a process, so nothing is global. */
struct climber {
    const struct tp_host *host;   /* lent until destroy */
    const struct tp_space *space; /* lent until the next space, or destroy */
    int64_t warmup;
    double step, sign;
    double *best; /* a copy: points are lent for the call only */
    double best_value;
    int has_best;
    uint64_t told, failed;
};

/* Step 1: what users may set, with type, default, range and meaning.  The host
 * checks what they give against this table, and gives optimize_mode the
 * experiment's direction. */
enum { OPTIMIZE_MODE, WARMUP, STEP, SEED };
static const struct tp_arg args[] = {
    {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
     "maximize|minimize", "which values are good"},
    {"warmup", TP_ARG_INT, 0, "10", 0, 1000000, NULL,
     "results before the first step"},
    {"step", TP_ARG_DOUBLE, 0, "0.3", 0, 1, NULL,
     "how far towards a sample, as a fraction"},
    {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL,
     "seed of the random numbers; null: the experiment's"},
};

/* Step 2: an object is made and unmade. */
static void *
create(const struct tp_host *host)
{
    struct climber *self = (struct climber *)calloc(1, sizeof *self);

    if (self == NULL)
        host->error(host->ctx, "out of memory");
    else
        self->host = host;
    return self;
}

static void
destroy(void *vself)
{
    struct climber *self = (struct climber *)vself;

    free(self->best);
    free(self);
}

/* Step 3: the arguments come, in the order of the table. */
static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct climber *self = (struct climber *)vself;

    (void)n;
    self->sign = strcmp(values[OPTIMIZE_MODE].text, "maximize") == 0 ? 1 : -1;
    self->warmup = values[WARMUP].integer;
    self->step = values[STEP].number;
    return TP_OK;
}

/* Step 4: the search space comes, and may come again: points of the one before
 * mean nothing in it. */
static int
space(void *vself, const struct tp_space *s)
{
    struct climber *self = (struct climber *)vself;
    double *best = (double *)malloc((s->n_dims + 1) * sizeof *best);

    if (best == NULL) {
        self->host->error(self->host->ctx, "out of memory");
        return TP_ERR;
    }
    free(self->best);
    self->best = best;
    self->has_best = 0;
    self->space = s;
    return TP_OK;
}

/* Dimension i between the best point and a sample.  Where one of them is NaN
 * (inactive), the other is taken. */
static double
between(const struct climber *self, uint64_t id, size_t i, double sample)
{
    const struct tp_host *host = self->host;
    double best = self->best[i];

    if (isnan(best) || isnan(sample))
        return isnan(best) ? sample : best;
    if (TP_DIM(self->space, i)->flags & TP_DIM_INDEX)
        return host->uniform(host->ctx, id, (uint32_t)i, 0) < self->step
                   ? sample
                   : best;
    return best + self->step * (sample - best);
}

/* Step 5: a point for the trial `id`.  Parents come before their children, so
 * that what is active is known as x is filled. */
static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct climber *self = (struct climber *)vself;
    size_t i;

    self->host->sample(self->host->ctx, id, out->x);
    if (!self->has_best || self->told < (uint64_t)self->warmup)
        return TP_OK;
    for (i = 0; i < self->space->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(self->space, i);

        if (d->parent != TP_NO_PARENT &&
            out->x[d->parent] != (double)d->parent_choice)
            out->x[i] = NAN;
        else
            out->x[i] = between(self, id, i, out->x[i]);
    }
    /* Why, for who asks with `tunepipe explain`. */
    if (TP_HAS(self->host, explain))
        self->host->explain(self->host->ctx, "near the best result so far, %g",
                            self->sign * self->best_value);
    return TP_OK;
}

/* Step 6: a result.  It may be of a trial that was stopped early (then it is
 * an intermediate value), of a point from elsewhere (id is TP_NO_ID), or no
 * number at all. */
static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct climber *self = (struct climber *)vself;
    double value = self->sign * result->value;

    (void)id;
    if (result->how == TP_RESULT_STOPPED || isnan(value))
        return TP_OK;
    self->told++;
    if (self->has_best && value <= self->best_value)
        return TP_OK;
    memcpy(self->best, x, self->space->n_dims * sizeof *x);
    self->best_value = value;
    self->has_best = 1;
    return TP_OK;
}

/* Step 7: the end of a trial, with or without a result. */
static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct climber *self = (struct climber *)vself;

    (void)x;
    if (how == TP_ENDED_FAILED)
        self->host->log(self->host->ctx, TP_LOG_DEBUG,
                        "trial %lu failed, %lu so far", (unsigned long)id,
                        (unsigned long)++self->failed);
    return TP_OK;
}

/* Step 8: what it knows, for a new object to go on with when the experiment
 * goes on after a crash.  Without these two it is replayed from its beginning,
 * which takes longer. */
static int
save(void *vself, const struct tp_sink *sink)
{
    const struct climber *self = (const struct climber *)vself;

    sink->u64(sink->ctx, self->told);
    sink->u64(sink->ctx, self->failed);
    sink->u64(sink->ctx, (uint64_t)self->has_best);
    if (self->has_best) {
        sink->f64(sink->ctx, self->best_value);
        sink->f64s(sink->ctx, self->best, self->space->n_dims);
    }
    return TP_OK;
}

/* Step 9: it comes back, after config and space.  It may be damaged: what
 * cannot be is refused, and then it is replayed after all. */
static int
load(void *vself, const struct tp_source *source)
{
    struct climber *self = (struct climber *)vself;
    uint64_t has_best;
    int rc;

    source->u64(source->ctx, &self->told);
    source->u64(source->ctx, &self->failed);
    rc = source->u64(source->ctx, &has_best);
    self->has_best = has_best == 1;
    if (rc == TP_OK && self->has_best) {
        source->f64(source->ctx, &self->best_value);
        rc = source->f64s(source->ctx, self->best, self->space->n_dims);
    }
    if (rc != TP_OK || has_best > 1) {
        self->host->error(self->host->ctx, "what it knew is damaged");
        return TP_ERR;
    }
    return TP_OK;
}

/* Step 10: all of it in one table.  Raise the version when the answers
 * change. */
static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "newname",
    .doc = "steps from the best point so far towards samples",
    .version = 1,
    .args = args,
    .n_args = sizeof args / sizeof args[0],
    .arg_size = sizeof args[0],
    .create = create,
    .destroy = destroy,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
