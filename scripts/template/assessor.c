/* The assessor `newname`: stops a trial whose best value is worse than a
 * threshold once it has reported a number of values.
 *
 * tunepipe/assessor.h tells when each callback is called. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tunepipe/assessor.h>

/* One object; there may be several in a process, so nothing is global. */
struct gate {
    const struct tp_host *host; /* lent until destroy */
    double threshold, sign;
    int64_t start_step;
    uint64_t stopped;
};

/* Step 1: what users may set, with type, default, range and meaning.  The host
 * checks what they give against this table; what has no default they have to
 * give, but optimize_mode, which is the experiment's direction. */
enum { THRESHOLD, OPTIMIZE_MODE, START_STEP };
static const struct tp_arg args[] = {
    {"threshold", TP_ARG_DOUBLE, 0, NULL, 0, 0, NULL,
     "a trial has to be at least as good as this"},
    {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
     "maximize|minimize", "which values are good"},
    {"start_step", TP_ARG_INT, 0, "3", 1, 1000000, NULL,
     "values a trial reports before it is judged"},
};

/* Step 2: an object is made and unmade. */
static void *
create(const struct tp_host *host)
{
    struct gate *self = (struct gate *)calloc(1, sizeof *self);

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

/* Step 3: the arguments come, in the order of the table. */
static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct gate *self = (struct gate *)vself;

    (void)n;
    self->sign = strcmp(values[OPTIMIZE_MODE].text, "maximize") == 0 ? 1 : -1;
    self->threshold = values[THRESHOLD].number;
    self->start_step = values[START_STEP].integer;
    return TP_OK;
}

/* Step 4: a trial's history has become longer.  What is to be remembered of a
 * trial may hang on *history->slot; this rule remembers nothing. */
static int
assess(void *vself, const struct tp_history *history, struct tp_verdict *out)
{
    struct gate *self = (struct gate *)vself;
    double best = NAN;
    size_t i;

    if (history->n < (size_t)self->start_step)
        return TP_OK;
    for (i = 0; i < history->n; i++)
        if (isnan(best) || self->sign * history->values[i] > self->sign * best)
            best = history->values[i];
    out->value = best;
    out->threshold = self->threshold;
    out->rule = "best value worse than the threshold";
    if (self->sign * best < self->sign * self->threshold)
        out->decision = TP_STOP;
    return TP_OK;
}

/* Step 5: the end of a trial that was assessed; what its slot holds is freed
 * here. */
static int
ended(void *vself, const struct tp_history *history, int how)
{
    struct gate *self = (struct gate *)vself;

    if (how == TP_TRIAL_STOPPED)
        self->host->log(
            self->host->ctx, TP_LOG_INFO, "trial %lu was stopped, %lu so far",
            (unsigned long)history->trial, (unsigned long)++self->stopped);
    return TP_OK;
}

/* Step 6: what it knows, for a new object to go on with when the experiment
 * goes on after a crash; what the slots of the living trials hold would belong
 * here, too.  Without these two it is replayed from its beginning, which takes
 * longer. */
static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    const struct gate *self = (const struct gate *)vself;

    (void)living;
    (void)n;
    sink->u64(sink->ctx, self->stopped);
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *source)
{
    struct gate *self = (struct gate *)vself;

    (void)living;
    (void)n;
    if (source->u64(source->ctx, &self->stopped) == TP_OK)
        return TP_OK;
    self->host->error(self->host->ctx, "what it knew is damaged");
    return TP_ERR;
}

/* Step 7: all of it in one table.  Raise the version when the answers
 * change. */
static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "newname",
    .doc = "stops trials whose best value is worse than a threshold",
    .version = 1,
    .args = args,
    .n_args = sizeof args / sizeof args[0],
    .arg_size = sizeof args[0],
    .create = create,
    .destroy = destroy,
    .config = config,
    .assess = assess,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_ASSESSOR(assessor)
