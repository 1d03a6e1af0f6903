/* SPDX-License-Identifier: MIT */
/* The filter `log`: a line for each call, when it has returned; with `both`
 * also before, so that what lies inside stands in between. */
#include "tunepipe/filter.h"
#include "tunepipe/shell.h"

#include <stdlib.h>

struct log_filter {
    const struct tp_host *host;
    const char *title;
    int both;
};

static const struct tp_arg args[] = {
    TP_STRING("title", "log",
              "begins each line, to tell several of these apart"),
    TP_BOOL("both", false, "true: a line before each call, too"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct log_filter));
}

static void
destroy(void *vself)
{
    struct log_filter *self = vself;

    if (self->title != NULL)
        tp_log(self->host, TP_LOG_INFO, "%s: destroy", self->title);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct log_filter *self = vself;

    (void)n;
    self->title = values[0].text;
    self->both = values[1].integer != 0;
    tp_log(self->host, TP_LOG_INFO, "%s: create", self->title);
    return TP_OK;
}

static void
before(const struct log_filter *self, const char *call, uint64_t id)
{
    if (self->both && id == TP_NO_ID)
        tp_log(self->host, TP_LOG_INFO, "%s: %s", self->title, call);
    else if (self->both)
        tp_log(self->host, TP_LOG_INFO, "%s: %s %llu", self->title, call,
               (unsigned long long)id);
}

static int
after(const struct log_filter *self, const struct tp_next *next,
      const char *call, uint64_t id, int rc)
{
    static const char *const words[] = {"ok", "later", "done"};
    const char *word = rc == TP_ERR ? next->why(next->ctx) : words[rc];

    if (id == TP_NO_ID)
        tp_log(self->host, TP_LOG_INFO, "%s: %s: %s", self->title, call, word);
    else
        tp_log(self->host, TP_LOG_INFO, "%s: %s %llu: %s", self->title, call,
               (unsigned long long)id, word);
    return rc;
}

static int
space(void *self, const struct tp_next *next, const struct tp_space *space_)
{
    before(self, "space", TP_NO_ID);
    return after(self, next, "space", TP_NO_ID, next->space(next->ctx, space_));
}

static int
ask(void *self, const struct tp_next *next, uint64_t id,
    struct tp_suggestion *out)
{
    before(self, "ask", id);
    return after(self, next, "ask", id, next->ask(next->ctx, id, out));
}

static int
tell(void *self, const struct tp_next *next, uint64_t id, const double *x,
     const struct tp_result *result)
{
    before(self, "tell", id);
    return after(self, next, "tell", id, next->tell(next->ctx, id, x, result));
}

static int
ended(void *self, const struct tp_next *next, uint64_t id, const double *x,
      int how)
{
    before(self, "ended", id);
    return after(self, next, "ended", id, next->ended(next->ctx, id, x, how));
}

static const struct tp_filter filter = {
    TP_FILTER_HEAD,
    .name = "log",
    .doc = "writes a line for each call",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = tp_save_nothing,
    .load = tp_load_nothing,
};
TP_REGISTER_FILTER(filter)
