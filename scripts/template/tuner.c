/* The tuner `newname`: a hill climber.  The first trials are samples of the
 * prior; from then on each is a step from the best point so far towards
 * another sample.
 *
 * tunepipe/tuner.h tells when each callback is called; tunepipe/shell.h has
 * what begins with tp_ and TP_ here and is not in there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tunepipe/shell.h>
#include <tunepipe/tuner.h>

/* One object; there may be several in a process, so nothing is global. */
struct climber {
    const struct tp_host *host;   /* first, for tp_new; lent until destroy */
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
    TP_MODE("maximize", "which values are good"),
    TP_INT("warmup", 10, 0, 1000000, "results before the first step"),
    TP_DOUBLE("step", 0.3, 0, 1, "how far towards a sample, as a fraction"),
    TP_SEED("seed of the random numbers"),
};

/* Step 2: an object is made and unmade. */
static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct climber));
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
    self->sign = tp_maximizes(&values[OPTIMIZE_MODE]) ? 1 : -1;
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

    if (best == NULL)
        return tp_out_of_memory(self->host);
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
    double best = self->best[i];

    if (isnan(best) || isnan(sample))
        return isnan(best) ? sample : best;
    if (TP_DIM(self->space, i)->flags & TP_DIM_INDEX)
        return tp_uniform(self->host, id, (uint32_t)i, 0) < self->step ? sample
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

    tp_sample(self->host, id, out->x);
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
    tp_explain(self->host, "near the best result so far, %g",
               self->sign * self->best_value);
    return TP_OK;
}

/* Step 6: a result.  It may be of a trial that was stopped early (then it is
 * an intermediate value), of a point from elsewhere (id is TP_NO_ID), or no
 * number at all.  Where an experiment has several objectives it is one number
 * made of them; with the callback `objectives` there are result->values. */
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
        tp_log(self->host, TP_LOG_DEBUG, "trial %lu failed, %lu so far",
               (unsigned long)id, (unsigned long)++self->failed);
    return TP_OK;
}

/* Step 8: what it knows, for a new object to go on with when the experiment
 * goes on after a crash.  Without these two it is replayed from its beginning,
 * which takes longer. */
static int
save(void *vself, const struct tp_sink *sink)
{
    const struct climber *self = (const struct climber *)vself;

    tp_put_u64(sink, self->told);
    tp_put_u64(sink, self->failed);
    tp_put_u64(sink, (uint64_t)self->has_best);
    if (self->has_best) {
        tp_put_f64(sink, self->best_value);
        tp_put_f64s(sink, self->best, self->space->n_dims);
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

    tp_get_u64(source, &self->told);
    tp_get_u64(source, &self->failed);
    rc = tp_get_u64(source, &has_best);
    self->has_best = has_best == 1;
    if (rc == TP_OK && self->has_best) {
        tp_get_f64(source, &self->best_value);
        rc = tp_get_f64s(source, self->best, self->space->n_dims);
    }
    if (rc != TP_OK || has_best > 1)
        return tp_error(self->host, "what it knew is damaged");
    return TP_OK;
}

/* Step 10: all of it in one table.  Raise the version when the answers
 * change. */
static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "newname",
    .doc = "steps from the best point so far towards samples",
    .version = 1,
    .args = TP_ARGS(args),
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
