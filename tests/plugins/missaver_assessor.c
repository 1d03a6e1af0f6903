/* SPDX-License-Identifier: MIT */
/* An assessor that counts the values of each trial in its slot, and stops it
 * at the eighth; `how` is the way in which it saves that wrongly, or "well". */
#include "base.h"

#include <string.h>

static const struct tp_arg args[] = {
    {"from", TP_ARG_INT, 0, "0", 0, 1e9, NULL, "not looked at"},
    {"how", TP_ARG_STRING, 0, "\"well\"", 0, 0, "well|forgets slots|values",
     "in which way"},
};

/* A slot is a number: nothing that has to be freed. */
static uintptr_t
count(const struct tp_history *h)
{
    return (uintptr_t)*h->slot;
}

static int
assess(void *self, const struct tp_history *h, struct tp_verdict *out)
{
    (void)self;
    *h->slot = (void *)(count(h) + 1);
    out->value = (double)count(h);
    out->decision = count(h) >= 8 ? TP_STOP : TP_GO;
    return TP_OK;
}

static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    const struct base *self = vself;

    tp_put_u64(sink, n);
    for (size_t i = 0; i < n; i++) {
        tp_put_u64(sink, count(living[i]));
        if (strcmp(self->text, "values") == 0)
            ((double *)(uintptr_t)living[i]->values)[0] = -1;
    }
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *source)
{
    const struct base *self = vself;
    uint64_t saved, at;

    if (tp_get_u64(source, &saved) != TP_OK || saved != n)
        return tp_error(self->host, "the trials are others");
    for (size_t i = 0; i < n; i++) {
        if (tp_get_u64(source, &at) != TP_OK)
            return tp_error(self->host, "a trial is missing");
        if (strcmp(self->text, "forgets slots") != 0)
            *living[i]->slot = (void *)(uintptr_t)at;
    }
    return TP_OK;
}

static const struct tp_assessor assessor = {
    BASE_ASSESSOR("missaver_assessor", "saves what its slots hold wrongly"),
    .args = TP_ARGS(args),
    .config = base_config,
    .assess = assess,
    .save = save,
    .load = load,
};
TP_REGISTER_ASSESSOR(assessor)
