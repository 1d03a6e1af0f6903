/* SPDX-License-Identifier: MIT */
/* The filter `fallback`: a sample of the prior where the tuner fails, or
 * waits for results while no suggestion is out that could bring one.
 *
 * The tuner knows nothing of such a suggestion: its result is told as an
 * imported one, and its end is not told. */
#include "grow.h"
#include "tunepipe/filter.h"
#include "tunepipe/shell.h"

#include <stdlib.h>

struct fallback {
    const struct tp_host *host;
    uint64_t out;  /* suggestions given out and not ended */
    uint64_t *ids; /* of the samples, rising; 8 bytes each, for good */
    size_t n, cap;
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct fallback));
}

static void
destroy(void *vself)
{
    struct fallback *self = vself;

    free(self->ids);
    free(self);
}

/* Where id is, or would be: among the last ones, mostly. */
static size_t
place(const struct fallback *self, uint64_t id)
{
    size_t low = 0, high = self->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (self->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int
is_sample(const struct fallback *self, uint64_t id)
{
    size_t i = place(self, id);

    return i < self->n && self->ids[i] == id;
}

static void
forget(struct fallback *self, uint64_t id)
{
    size_t i = place(self, id);

    if (i == self->n || self->ids[i] != id)
        return;
    for (self->n--; i < self->n; i++)
        self->ids[i] = self->ids[i + 1];
}

static int
remember(struct fallback *self, uint64_t id)
{
    size_t i = place(self, id);

    if (i < self->n && self->ids[i] == id)
        return TP_OK;
    if (GROW(self->ids, self->n, self->cap) != 0)
        return tp_out_of_memory(self->host);
    for (size_t k = self->n++; k > i; k--)
        self->ids[k] = self->ids[k - 1];
    self->ids[i] = id;
    return TP_OK;
}

static int
ask(void *vself, const struct tp_next *next, uint64_t id,
    struct tp_suggestion *out)
{
    struct fallback *self = vself;
    int rc = next->ask(next->ctx, id, out);

    if (rc == TP_OK) {
        forget(self, id); /* asked again, and now served */
        self->out++;
    }
    if (rc == TP_OK || rc == TP_DONE || (rc == TP_LATER && self->out > 0))
        return rc;
    tp_log(self->host, TP_LOG_WARNING,
           "suggestion %llu is a sample of the prior: %s",
           (unsigned long long)id,
           rc == TP_LATER ? "the tuner waits and nothing is out"
                          : next->why(next->ctx));
    tp_explain(self->host, "a sample of the prior: %s",
               rc == TP_LATER ? "the tuner waits and nothing is out"
                              : next->why(next->ctx));
    if (remember(self, id) != TP_OK)
        return TP_ERR;
    out->label = NULL;
    tp_sample(self->host, id, out->x);
    self->out++;
    return TP_OK;
}

static int
tell(void *vself, const struct tp_next *next, uint64_t id, const double *x,
     const struct tp_result *result)
{
    struct fallback *self = vself;
    struct tp_result imported = *result;

    if (id == TP_NO_ID || !is_sample(self, id))
        return next->tell(next->ctx, id, x, result);
    /* A censored value is no result of a whole trial. */
    if (result->how != TP_RESULT_FINAL)
        return TP_OK;
    imported.how = TP_RESULT_IMPORTED;
    imported.step = 0;
    return next->tell(next->ctx, TP_NO_ID, x, &imported);
}

static int
ended(void *vself, const struct tp_next *next, uint64_t id, const double *x,
      int how)
{
    struct fallback *self = vself;

    if (self->out > 0)
        self->out--;
    if (is_sample(self, id))
        return TP_OK;
    return next->ended(next->ctx, id, x, how);
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct fallback *self = vself;

    tp_put_u64(sink, self->out);
    tp_put_u64(sink, self->n);
    for (size_t i = 0; i < self->n; i++)
        tp_put_u64(sink, self->ids[i]);
    return TP_OK;
}

static int
damaged(const struct fallback *self)
{
    return tp_error(self->host, "the ids of its samples are damaged");
}

static int
load(void *vself, const struct tp_source *source)
{
    struct fallback *self = vself;
    uint64_t out, n, id;

    if (tp_get_u64(source, &out) != TP_OK || tp_get_u64(source, &n) != TP_OK ||
        n > tp_left(source) / sizeof id)
        return damaged(self);
    for (uint64_t i = 0; i < n; i++) {
        tp_get_u64(source, &id);
        if (self->n > 0 && id <= self->ids[self->n - 1])
            return damaged(self);
        if (remember(self, id) != TP_OK)
            return TP_ERR;
    }
    self->out = out;
    return TP_OK;
}

static const struct tp_filter filter = {
    TP_FILTER_HEAD,
    .name = "fallback",
    .doc = "gives a sample of the prior where the tuner fails or is stuck",
    .version = 1,
    .create = create,
    .destroy = destroy,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_FILTER(filter)
