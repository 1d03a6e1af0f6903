/* SPDX-License-Identifier: MIT */
/* The filter `error`: every n-th call fails and does not reach the tuner.  A
 * fault injector: what a failing tuner does to an experiment. */
#include "tunepipe/filter.h"
#include "tunepipe/shell.h"

#include <stdlib.h>
#include <string.h>

struct error_filter {
    const struct tp_host *host;
    uint64_t every, n; /* n calls of this name came */
    const char *call;
};

static const struct tp_arg args[] = {
    {"every", TP_ARG_INT, 0, NULL, 1, 1e9, NULL,
     "of so many calls the last one fails; 1: each"},
    TP_ONE_OF("call", "ask", "ask|tell|ended|space", "which calls fail"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct error_filter));
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct error_filter *self = vself;

    (void)n;
    self->every = (uint64_t)values[0].integer;
    self->call = values[1].text;
    return TP_OK;
}

static int
fails(struct error_filter *self, const char *call)
{
    if (strcmp(self->call, call) != 0 || ++self->n % self->every != 0)
        return 0;
    tp_error(self->host, "call %llu fails, as was wished",
             (unsigned long long)self->n);
    return 1;
}

static int
space(void *self, const struct tp_next *next, const struct tp_space *space_)
{
    if (fails(self, "space"))
        return TP_ERR;
    return next->space(next->ctx, space_);
}

static int
ask(void *self, const struct tp_next *next, uint64_t id,
    struct tp_suggestion *out)
{
    if (fails(self, "ask"))
        return TP_ERR;
    return next->ask(next->ctx, id, out);
}

static int
tell(void *self, const struct tp_next *next, uint64_t id, const double *x,
     const struct tp_result *result)
{
    if (fails(self, "tell"))
        return TP_ERR;
    return next->tell(next->ctx, id, x, result);
}

static int
ended(void *self, const struct tp_next *next, uint64_t id, const double *x,
      int how)
{
    if (fails(self, "ended"))
        return TP_ERR;
    return next->ended(next->ctx, id, x, how);
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct error_filter *self = vself;

    tp_put_u64(sink, self->n);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct error_filter *self = vself;

    if (tp_get_u64(source, &self->n) == TP_OK)
        return TP_OK;
    return tp_error(self->host, "the number of calls is missing");
}

static const struct tp_filter filter = {
    TP_FILTER_HEAD,
    .name = "error",
    .doc = "makes calls fail, to see what a failing tuner does",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_FILTER(filter)
