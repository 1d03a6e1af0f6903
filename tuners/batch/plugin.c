/* SPDX-License-Identifier: MIT */
/* The tuner `batch`: batch.h behind the plugin interface.  It wants a space
 * that is one choice, of which the host emits the elements themselves. */
#include "batch/batch.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>

struct batch_tuner {
    const struct tp_host *host;
    struct batch *batch;
};

/* optimize_mode says which of the results is the best one. */
static const struct tp_arg args[] = {
    TP_MODE_IGNORED,
};

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
    struct batch_tuner *self;

    if (!TP_HAS(host, key))
        return tp_too_old(host, "host->key()");
    self = tp_new(host, sizeof *self);
    if (self == NULL)
        return NULL;
    self->batch = batch_new();
    if (self->batch != NULL)
        return self;
    tp_out_of_memory(host);
    free(self);
    return NULL;
}

static int
read_keys(struct batch_tuner *self, struct batch_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x = (double)i;

        if (tp_key(self->host, &x, keys[i].word) != TP_OK)
            return tp_error(self->host,
                            "element %zu of %zu has no key, expected a choice "
                            "whose elements the host knows",
                            i, n);
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
        return tp_error(self->host,
                        "the search space has %zu parameters%s, expected a "
                        "single one of type choice, whose values are complete "
                        "parameter sets",
                        s->n_dims, s->n_dims == 1 ? ", no such choice" : "");
    n = (size_t)TP_DIM(s, 0)->n_choices;
    keys = malloc(n * sizeof *keys);
    if (keys == NULL)
        return tp_out_of_memory(self->host);
    rc = read_keys(self, keys, n);
    if (rc == TP_OK && batch_list(self->batch, keys, n) != 0)
        rc = tp_out_of_memory(self->host);
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
        tp_explain(self->host,
                   "element %zu of the list, the first that is left", i);
        return TP_OK;
    }
    return tp_out_of_memory(self->host);
}

/* Work done elsewhere is not given out, whatever came of it. */
static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct batch_tuner *self = vself;
    struct batch_key key = {{0}};

    (void)result;
    if (id != TP_NO_ID || tp_key(self->host, x, key.word) != TP_OK)
        return TP_OK;
    return batch_strike(self->batch, key) == 0 ? TP_OK
                                               : tp_out_of_memory(self->host);
}

/* The list itself comes with the search space. */
static int
save(void *vself, const struct tp_sink *sink)
{
    const struct batch_tuner *self = vself;
    size_t n;
    const struct batch_key *done = batch_done(self->batch, &n);

    tp_put_u64(sink, n);
    for (size_t i = 0; i < n; i++) {
        tp_put_u64(sink, done[i].word[0]);
        tp_put_u64(sink, done[i].word[1]);
    }
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct batch_tuner *self = vself;
    struct batch_key key;
    uint64_t n;

    if (tp_get_u64(source, &n) != TP_OK || n > tp_left(source) / sizeof key)
        return tp_error(self->host,
                        "the saved list of elements that are done is cut off");
    for (uint64_t i = 0; i < n; i++) {
        tp_get_u64(source, &key.word[0]);
        tp_get_u64(source, &key.word[1]);
        if (batch_take_done(self->batch, key) != 0)
            return tp_out_of_memory(self->host);
    }
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "batch",
    .doc = "gives out the elements of one choice, each as a whole, in order",
    .version = 1,
    .flags = TP_TUNER_WHOLE,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .space = space,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
