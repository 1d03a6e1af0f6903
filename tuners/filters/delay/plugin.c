/* SPDX-License-Identifier: MIT */
/* The filter `delay`: every ask, tell or end takes so much longer.  A fault
 * injector: what a slow tuner does to an experiment. */
#define _POSIX_C_SOURCE 200809L
#include "tunepipe/filter.h"
#include "tunepipe/shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct delay {
    const struct tp_host *host;
    int64_t ms;
    const char *call;
};

static const struct tp_arg args[] = {
    {"ms", TP_ARG_INT, 0, NULL, 0, 86400000, NULL,
     "milliseconds before each call goes on to the tuner"},
    TP_ONE_OF("call", "ask", "ask|tell|ended|space", "which calls are delayed"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct delay));
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct delay *self = vself;

    (void)n;
    self->ms = values[0].integer;
    self->call = values[1].text;
    return TP_OK;
}

static void
wait(const struct delay *self, const char *call)
{
    struct timespec until;

    if (self->ms == 0 || strcmp(self->call, call) != 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(self->ms / 1000);
    until.tv_nsec += (long)(self->ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
           EINTR)
        continue;
}

static int
space(void *self, const struct tp_next *next, const struct tp_space *space_)
{
    wait(self, "space");
    return next->space(next->ctx, space_);
}

static int
ask(void *self, const struct tp_next *next, uint64_t id,
    struct tp_suggestion *out)
{
    wait(self, "ask");
    return next->ask(next->ctx, id, out);
}

static int
tell(void *self, const struct tp_next *next, uint64_t id, const double *x,
     const struct tp_result *result)
{
    wait(self, "tell");
    return next->tell(next->ctx, id, x, result);
}

static int
ended(void *self, const struct tp_next *next, uint64_t id, const double *x,
      int how)
{
    wait(self, "ended");
    return next->ended(next->ctx, id, x, how);
}

static const struct tp_filter filter = {
    TP_FILTER_HEAD,
    .name = "delay",
    .doc = "makes calls slow, to see what a slow tuner does",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = tp_save_nothing,
    .load = tp_load_nothing,
};
TP_REGISTER_FILTER(filter)
