/* SPDX-License-Identifier: MIT */
/* The filter `constraints`: no trial gets parameters that violate what the
 * user demands of them.
 *
 * The constraints are compiled when the space comes and looked at for each
 * suggestion.  One that violates is asked for again, which suits tuners that
 * then answer otherwise, and after that moved to where all constraints hold;
 * see repair.h.  Points from elsewhere are told whatever they violate. */
#include "tunepipe/filter.h"
#include "tunepipe/shell.h"

#include "known.h"
#include "repair.h"
#include "rules.h"

#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 300 /* bytes of a line for explain */
#define EQUAL_MAX 8    /* answers in a row: then it has no other */

struct constraints {
    const struct tp_host *host;
    const char *text;
    uint64_t tries, draws;
    struct rules rules; /* of the current space */
    struct known known;
    double *before; /* the answer before; n_dims long */
};

static const struct tp_arg args[] = {
    TP_STRING(
        "constraints", "",
        "what holds of the parameters: \"x < y; a + b <= 1\"; empty: nothing"),
    TP_INT("tries", 100, 0, 1e6,
           "how often a tuner is asked again at most, as long as it varies"),
    TP_INT("draws", 1000, 0, 1e6,
           "samples of the prior among which a point that holds is looked for"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct constraints));
}

static void
destroy(void *vself)
{
    struct constraints *self = vself;

    rules_fini(&self->rules);
    known_fini(&self->known);
    free(self->before);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct constraints *self = vself;

    (void)n;
    self->text = values[0].text;
    self->tries = (uint64_t)values[1].integer;
    self->draws = (uint64_t)values[2].integer;
    return TP_OK;
}

static int
space(void *vself, const struct tp_next *next, const struct tp_space *space_)
{
    struct constraints *self = vself;
    char why[RULES_WHY_MAX];
    struct rules rules;
    double *before;
    int rc;

    /* The space before comes again when another was refused. */
    if (space_ == self->rules.space)
        return next->space(next->ctx, space_);
    rc = rules_init(&rules, self->text, self->host, space_, why);
    if (rc != 0) {
        rules_fini(&rules);
        return tp_error(self->host, "%s", why);
    }
    rc = next->space(next->ctx, space_);
    before = rc == TP_OK ? malloc((space_->n_dims + 1) * sizeof *before) : NULL;
    if (before == NULL) {
        rules_fini(&rules);
        return rc == TP_OK ? tp_out_of_memory(self->host) : rc;
    }
    free(self->before);
    self->before = before;
    rules_fini(&self->rules);
    known_fini(&self->known);
    self->rules = rules;
    return TP_OK;
}

static int
give_out(struct constraints *self, const double *x)
{
    return tp_ok_or_memory(
        self->host, known_add(&self->known, x, self->rules.space->n_dims));
}

/* What is violated, and how; only if someone wants to know. */
static void
say_broken(const struct constraints *self, const struct expression *broken,
           const double *x)
{
    char values[VALUES_MAX];

    if (!tp_explains(self->host))
        return;
    expression_describe(broken, self->host, self->rules.space, x, values,
                        sizeof values);
    tp_explain(self->host, "`%.150s` does not hold for %s", broken->source,
               values);
}

static int
move(struct constraints *self, uint64_t id, struct tp_suggestion *out,
     unsigned long long asked)
{
    const struct expression *broken = rules_broken(&self->rules, out->x);
    int rc = repair_point(&self->rules, &self->known, id, self->draws, out->x);

    if (rc < 0)
        return tp_out_of_memory(self->host);
    if (rc == 0)
        return tp_error(self->host,
                        "`%.150s` does not hold, and in %llu samples of the "
                        "prior no point does for which all constraints hold; "
                        "give more `draws`, or import such a point",
                        broken->source, (unsigned long long)self->draws);
    if (out->budget == 0)
        out->label = NULL; /* else it names a place in a bracket */
    tp_explain(self->host,
               "asked again %llu times to no avail, so moved to "
               "where all constraints hold",
               asked);
    return give_out(self, out->x);
}

static int
ask(void *vself, const struct tp_next *next, uint64_t id,
    struct tp_suggestion *out)
{
    struct constraints *self = vself;
    size_t bytes = self->rules.space->n_dims * sizeof *out->x;
    int rc = next->ask(next->ctx, id, out);
    const struct expression *broken;
    unsigned long long again = 0, equal = 0;

    if (rc != TP_OK || out->from_how == TP_PROMOTED)
        return rc; /* it goes on with the point that it was given then */
    broken = rules_broken(&self->rules, out->x);
    if (broken == NULL)
        return give_out(self, out->x);
    say_broken(self, broken, out->x);
    while (again < self->tries && equal < EQUAL_MAX) {
        memcpy(self->before, out->x, bytes);
        rc = next->ask(next->ctx, id, out);
        if (rc != TP_OK || out->from_how == TP_PROMOTED)
            return rc;
        again++;
        if (rules_broken(&self->rules, out->x) == NULL) {
            tp_explain(self->host,
                       "asked again until all constraints held: %llu times",
                       again);
            return give_out(self, out->x);
        }
        equal = memcmp(self->before, out->x, bytes) == 0 ? equal + 1 : 0;
    }
    return move(self, id, out, again);
}

static int
takes(void *vself, const struct tp_next *next, const double *x)
{
    struct constraints *self = vself;

    return rules_broken(&self->rules, x) == NULL && next->takes(next->ctx, x);
}

static int
tell(void *vself, const struct tp_next *next, uint64_t id, const double *x,
     const struct tp_result *result)
{
    struct constraints *self = vself;

    if (id == TP_NO_ID && rules_broken(&self->rules, x) == NULL &&
        give_out(self, x) != TP_OK)
        return TP_ERR;
    return next->tell(next->ctx, id, x, result);
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct constraints *self = vself;

    known_save(&self->known, self->rules.space->n_dims, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct constraints *self = vself;

    if (known_load(&self->known, self->rules.space, source) == 0)
        return TP_OK;
    return tp_error(self->host, "the points that are known to hold are "
                                "damaged, or out of memory");
}

static const struct tp_filter filter = {
    TP_FILTER_HEAD,
    .name = "constraints",
    .doc = "gives out parameters for which the user's constraints hold",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
    .takes = takes,
};
TP_REGISTER_FILTER(filter)
