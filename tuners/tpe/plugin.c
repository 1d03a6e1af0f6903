/* SPDX-License-Identifier: MIT */
/* The tuner `tpe`: tpe.h behind the plugin interface. */
#include "grow.h"
#include "tpe/carry.h"
#include "tpe/tpe.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOOD_MOST 25 /* without an argument */

struct tpe_tuner {
    const struct tp_host *host;
    struct tpe_options options;
    struct tpe *tpe;     /* NULL before space() */
    struct carry carry;  /* of its space */
    uint64_t (*keys)[2]; /* of its points' parameters */
    size_t n_keys, keys_room;
};

enum {
    ARG_MODE,
    ARG_SEED,
    ARG_LIAR,
    ARG_STARTUP,
    ARG_CANDIDATES,
    ARG_FORGETTING,
    ARG_PRIOR,
    ARG_GAMMA
};

static const struct tp_arg args[] = {
    TP_MODE("minimize", "which values are good"),
    TP_SEED("seed of the random numbers"),
    {"tpe_args.constant_liar_type", TP_ARG_STRING, 1, "\"worst\"", 0, 0,
     "best|worst|mean|none",
     "what is assumed of running trials; none or null: nothing (NNI: best)"},
    TP_INT("tpe_args.n_startup_jobs", 10, 1, 1e6,
           "results before the model begins; before, the prior is sampled "
           "(NNI: 20)"),
    TP_INT("tpe_args.n_ei_candidates", 24, 1, 4096,
           "points drawn for each suggestion"),
    TP_INT_OR_NULL(
        "tpe_args.linear_forgetting", 1, 1e6,
        "not more results are good, and so many of the latest others count in "
        "full, older ones less; null: 25 and all (NNI: 25)"),
    TP_DOUBLE("tpe_args.prior_weight", 1, 1e-6, 1e6,
              "weight of the prior, in results"),
    TP_DOUBLE_OR_NULL(
        "tpe_args.gamma", 1e-6, 1e6,
        "of n results gamma * sqrt(n) are good; null: n / 5 (NNI: 0.25)"),
};

static void *
create(const struct tp_host *host)
{
    if (!TP_HAS(host, key))
        return tp_too_old(host, "host->value() and key()");
    return tp_new(host, sizeof(struct tpe_tuner));
}

static void
destroy(void *vself)
{
    struct tpe_tuner *self = vself;

    tpe_free(self->tpe);
    tpe_carry_fini(&self->carry);
    free(self->keys);
    free(self);
}

static enum tpe_liar
liar_of(const struct tp_value *v)
{
    if (v->is_null)
        return TPE_LIAR_NONE;
    switch (v->text[0]) {
    case 'b':
        return TPE_LIAR_BEST;
    case 'm':
        return TPE_LIAR_MEAN;
    case 'n':
        return TPE_LIAR_NONE;
    default:
        return TPE_LIAR_WORST;
    }
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct tpe_tuner *self = vself;
    const struct tp_value *forgetting = &values[ARG_FORGETTING];

    (void)n;
    self->options = (struct tpe_options){
        .maximize = tp_maximizes(&values[ARG_MODE]),
        .liar = liar_of(&values[ARG_LIAR]),
        .startup = (size_t)values[ARG_STARTUP].integer,
        .candidates = (size_t)values[ARG_CANDIDATES].integer,
        .forgetting = (size_t)tp_integer_or(forgetting, 0),
        .good_most = (size_t)tp_integer_or(forgetting, GOOD_MOST),
        .prior = values[ARG_PRIOR].number,
        .gamma = tp_number_or(&values[ARG_GAMMA], 0),
    };
    return TP_OK;
}

static struct tpe *
tpe_for(const struct tpe_tuner *self, const struct tp_space *s)
{
    struct axis *axes = calloc(s->n_dims + 1, sizeof *axes);
    struct tpe *t;

    if (axes == NULL)
        return NULL;
    for (size_t i = 0; i < s->n_dims; i++)
        axes[i] = tpe_axis_of(TP_DIM(s, i));
    t = tpe_new(&self->options, axes, s->n_dims);
    free(axes);
    return t;
}

/* The keys of the last points, which are remembered because nothing else tells
 * whether a point means the same in another space. */
static int
add_key(struct tpe_tuner *self, size_t index, const double *x)
{
    while (index >= self->keys_room)
        if (GROW(self->keys, self->keys_room, self->keys_room) != 0)
            return -1;
    if (tp_key(self->host, x, self->keys[index]) != TP_OK)
        self->keys[index][0] = self->keys[index][1] = 0;
    if (self->n_keys <= index)
        self->n_keys = index + 1;
    return 0;
}

/* Whether the same parameters exist in the new space: then they are x there. */
static bool
project(const struct tpe_tuner *self, const struct tpe *t,
        const struct carry *new_, size_t i, const size_t *from, double *x)
{
    const double *old = self->tpe->points.x + i * self->tpe->n_dims;
    uint64_t key[2];

    return tpe_carry_point(&self->carry, new_, from, old, x) &&
           tpe_axis_is_point(t->axes, t->n_dims, x) &&
           tp_key(self->host, x, key) == TP_OK && key[0] == self->keys[i][0] &&
           key[1] == self->keys[i][1];
}

/* What is known of parameters that the new space has, too, stays known. */
static int
take_over(struct tpe_tuner *self, struct tpe *t, const struct carry *new_)
{
    const struct points *p = &self->tpe->points;
    size_t *from = calloc(t->n_dims + 1, sizeof *from);
    double *x = calloc(t->n_dims + 1, sizeof *x);
    int rc = from == NULL || x == NULL ? -1 : 0;

    if (rc == 0)
        tpe_carry_match(&self->carry, new_, from);
    for (size_t i = 0; rc == 0 && i < p->n; i++) {
        const struct point *point = &p->all[i];

        if (point->state == POINT_OPEN || point->state == POINT_GONE ||
            !project(self, t, new_, i, from, x))
            continue;
        rc = tpe_copy(t, point, x);
        if (rc == 0) {
            /* Never behind what is still to be read. */
            memmove(self->keys[t->points.n - 1], self->keys[i],
                    sizeof self->keys[i]);
        }
    }
    free(from);
    free(x);
    return rc;
}

static int
space(void *vself, const struct tp_space *s)
{
    struct tpe_tuner *self = vself;
    struct tpe *t = tpe_for(self, s);
    struct carry carry = {.space = NULL};

    if (t == NULL || tpe_carry_init(&carry, self->host, s) != 0 ||
        (self->tpe != NULL && take_over(self, t, &carry) != 0)) {
        tpe_carry_fini(&carry);
        tpe_free(t);
        return tp_out_of_memory(self->host);
    }
    tpe_free(self->tpe);
    tpe_carry_fini(&self->carry);
    self->tpe = t;
    self->carry = carry;
    self->n_keys = t->points.n;
    return TP_OK;
}

static void
explain(const struct tpe_tuner *self, const struct tpe_reason *why)
{
    const struct tp_host *host = self->host;

    if (why == NULL) {
        tp_explain(host,
                   "a sample of the prior: %zu results of the %zu that "
                   "the model begins with",
                   tpe_points_ranked(&self->tpe->points),
                   self->options.startup);
        return;
    }
    tp_explain(host,
               "draw %zu from the model of what was good (%zu of %zu "
               "results): log density %.4g above that of the rest (%zu "
               "points, running trials among them)",
               why->candidate + 1, why->n_good,
               tpe_points_ranked(&self->tpe->points), why->score, why->n_rest);
    if (why->twins > 0)
        tp_explain(host, "%zu draws were left out: tried before", why->twins);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct tpe_tuner *self = vself;
    const struct tp_host *host = self->host;
    struct tpe_reason why;
    bool again = self->tpe->last_id == id;

    if (!again && !tpe_is_ready(self->tpe)) {
        tp_sample(host, id, out->x);
        self->tpe->last_id = id;
        self->tpe->attempt = 0;
        explain(self, NULL);
    } else {
        if (tpe_ask(self->tpe, host->uniform, host->ctx, id, out->x, &why) != 0)
            return tp_out_of_memory(self->host);
        explain(self, &why);
    }
    if (tpe_open(self->tpe, id, out->x) != 0)
        return tp_out_of_memory(self->host);
    return TP_OK;
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct tpe_tuner *self = vself;

    if (tpe_score(self->tpe, points, n, out) != 0)
        return tp_out_of_memory(self->host);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct tpe_tuner *self = vself;
    struct points *p = &self->tpe->points;
    size_t index = id == TP_NO_ID ? p->n : tpe_points_find(p, id);
    enum tpe_how how =
        result->how == TP_RESULT_STOPPED ? TPE_STOPPED : TPE_FINAL;

    if (add_key(self, index, x) != 0 ||
        tpe_tell(self->tpe, id, x, how, result->value, result->step) != 0)
        return tp_out_of_memory(self->host);
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct tpe_tuner *self = vself;
    size_t index = tpe_points_find(&self->tpe->points, id);

    if (index < self->tpe->points.n && add_key(self, index, x) != 0)
        return tp_out_of_memory(self->host);
    tpe_ended(self->tpe, id, how == TP_ENDED_FAILED || how == TP_ENDED_STOPPED);
    return TP_OK;
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct tpe_tuner *self = vself;

    tpe_save(self->tpe, sink);
    return TP_OK;
}

/* A point of this space, or one whose parameters are not tried any more. */
static int
load(void *vself, const struct tp_source *source)
{
    struct tpe_tuner *self = vself;
    struct points *p = &self->tpe->points;
    const char *why = tpe_load(self->tpe, source);

    if (why != NULL)
        return tp_error(self->host, "%s", why);
    for (size_t i = 0; i < p->n; i++)
        if (add_key(self, i, p->x + i * p->n_dims) != 0)
            return tp_out_of_memory(self->host);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "tpe",
    .doc = "models good and bad results, and tries what is likelier good "
           "(TPE)",
    .version = 1,
    .flags = TP_TUNER_DEDUP,
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
    .score = score,
};
TP_REGISTER_TUNER(tuner)
