/* SPDX-License-Identifier: MIT */
/* The tuner `batch`: batch.h behind the plugin interface.  It wants a space
 * that is one choice, of which the host emits the elements themselves. */
#include "batch/batch.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>

struct batch_tuner {
    const struct tp_host *host;
    struct batch *batch;
};

/* optimize_mode says which of the results is the best one. */
static const struct tp_arg args[] = {
    {"optimize_mode", TP_ARG_STRING, 1, "null", 0, 0, "maximize|minimize",
     "accepted and not looked at"},
};

static int
fail(const struct batch_tuner *self, const char *why)
{
    self->host->error(self->host->ctx, "%s", why);
    return TP_ERR;
}

static void
destroy(void *vself)
{
    struct batch_tuner *self = vself;

    batch_free(self->batch);
    free(self);
}

static void *
create(const struct tp_host *host)
{
    struct batch_tuner *self = NULL;

    if (!TP_HAS(host, key)) {
        host->error(host->ctx, "this program is too old: it has no "
                               "host->key()");
        return NULL;
    }
    self = calloc(1, sizeof *self);
    if (self != NULL && (self->batch = batch_new()) == NULL) {
        free(self);
        self = NULL;
    }
    if (self == NULL)
        host->error(host->ctx, "out of memory");
    else
        self->host = host;
    return self;
}

static int
read_keys(struct batch_tuner *self, struct batch_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x = (double)i;

        if (self->host->key(self->host->ctx, &x, keys[i].word) != TP_OK)
            return fail(self, "an element that the host does not know");
    }
    return TP_OK;
}

static int
space(void *vself, const struct tp_space *s)
{
    struct batch_tuner *self = vself;
    struct batch_key *keys;
    size_t n;
    int rc;

    if (s->n_dims != 1 || !(TP_DIM(s, 0)->flags & TP_DIM_WHOLE))
        return fail(self, "the search space is more than one choice");
    n = (size_t)TP_DIM(s, 0)->n_choices;
    keys = malloc(n * sizeof *keys);
    if (keys == NULL)
        return fail(self, "out of memory");
    rc = read_keys(self, keys, n);
    if (rc == TP_OK && batch_list(self->batch, keys, n) != 0)
        rc = fail(self, "out of memory");
    free(keys);
    return rc;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct batch_tuner *self = vself;
    size_t i = 0;

    (void)id;
    switch (batch_next(self->batch, &i)) {
    case 0:
        return TP_DONE;
    case 1:
        out->x[0] = (double)i;
        if (TP_HAS(self->host, explain))
            self->host->explain(self->host->ctx,
                                "element %zu of the list, the first that is "
                                "left",
                                i);
        return TP_OK;
    }
    return fail(self, "out of memory");
}

/* Work done elsewhere is not given out, whatever came of it. */
static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct batch_tuner *self = vself;
    struct batch_key key;

    (void)result;
    if (id != TP_NO_ID ||
        self->host->key(self->host->ctx, x, key.word) != TP_OK)
        return TP_OK;
    return batch_strike(self->batch, key) == 0 ? TP_OK
                                               : fail(self, "out of memory");
}

/* The list itself comes with the search space. */
static int
save(void *vself, const struct tp_sink *sink)
{
    const struct batch_tuner *self = vself;
    size_t n;
    const struct batch_key *done = batch_done(self->batch, &n);

    sink->u64(sink->ctx, n);
    for (size_t i = 0; i < n; i++) {
        sink->u64(sink->ctx, done[i].word[0]);
        sink->u64(sink->ctx, done[i].word[1]);
    }
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct batch_tuner *self = vself;
    struct batch_key key;
    uint64_t n;

    if (source->u64(source->ctx, &n) != TP_OK ||
        n > source->left(source->ctx) / sizeof key)
        return fail(self, "the elements that are done are missing");
    for (uint64_t i = 0; i < n; i++) {
        source->u64(source->ctx, &key.word[0]);
        source->u64(source->ctx, &key.word[1]);
        if (batch_take_done(self->batch, key) != 0)
            return fail(self, "out of memory");
    }
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "batch",
    .doc = "gives out the elements of one choice, each as a whole, in order",
    .version = 1,
    .flags = TP_TUNER_WHOLE,
    .args = args,
    .n_args = sizeof args / sizeof args[0],
    .arg_size = sizeof args[0],
    .create = create,
    .destroy = destroy,
    .space = space,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
