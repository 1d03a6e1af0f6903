/* The assessor `newname`: stops a trial whose best value is worse than a
 * threshold once it has reported a number of values.
 *
 * tunepipe/assessor.h tells when each callback is called; tunepipe/shell.h has
 * what begins with tp_ and TP_ here and is not in there. */
#include <math.h>
#include <stdlib.h>

#include <tunepipe/assessor.h>
#include <tunepipe/shell.h>

/* One object; there may be several in a process, so nothing is global. */
struct gate {
    const struct tp_host *host; /* first, for tp_new; lent until destroy */
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
    TP_MODE("maximize", "which values are good"),
    TP_INT("start_step", 3, 1, 1000000,
           "values a trial reports before it is judged"),
};

/* Step 2: an object is made; what unmakes it is free() here. */
static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct gate));
}

/* Step 3: the arguments come, in the order of the table. */
static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct gate *self = (struct gate *)vself;

    (void)n;
    self->sign = tp_maximizes(&values[OPTIMIZE_MODE]) ? 1 : -1;
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
        tp_log(self->host, TP_LOG_INFO, "trial %lu was stopped, %lu so far",
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
    tp_put_u64(sink, self->stopped);
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *source)
{
    struct gate *self = (struct gate *)vself;

    (void)living;
    (void)n;
    if (tp_get_u64(source, &self->stopped) != TP_OK)
        return tp_error(self->host, "what it knew is damaged");
    return TP_OK;
}

/* Step 7: all of it in one table.  Raise the version when the answers
 * change. */
static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "newname",
    .doc = "stops trials whose best value is worse than a threshold",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .config = config,
    .assess = assess,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_ASSESSOR(assessor)
