/* SPDX-License-Identifier: MIT */
/* The filter `timing`: how long the calls into the tuner took, told at the
 * end.  Time goes into that line and into no answer. */
#define _POSIX_C_SOURCE 200809L
#include "tunepipe/filter.h"
#include "tunepipe/shell.h"

#include <stdlib.h>
#include <time.h>

enum call { CALL_SPACE, CALL_ASK, CALL_TELL, CALL_ENDED, N_CALLS };

struct taken {
    uint64_t n, sum_ns, max_ns;
};

struct timing {
    const struct tp_host *host;
    struct taken taken[N_CALLS];
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct timing));
}

static void
destroy(void *vself)
{
    static const char *const names[] = {"space", "ask", "tell", "ended"};
    struct timing *self = vself;

    for (int i = 0; i < N_CALLS; i++) {
        const struct taken *t = &self->taken[i];

        if (t->n > 0)
            tp_log(self->host, TP_LOG_INFO,
                   "%s: %llu calls, mean %.1f us, max %.1f us", names[i],
                   (unsigned long long)t->n,
                   (double)t->sum_ns / (double)t->n / 1e3,
                   (double)t->max_ns / 1e3);
    }
    free(self);
}

static uint64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int
took(void *vself, enum call call, uint64_t begun_ns, int rc)
{
    struct timing *self = vself;
    struct taken *t = &self->taken[call];
    uint64_t ns = now_ns() - begun_ns;

    t->n++;
    t->sum_ns += ns;
    if (ns > t->max_ns)
        t->max_ns = ns;
    return rc;
}

static int
space(void *self, const struct tp_next *next, const struct tp_space *space_)
{
    uint64_t begun_ns = now_ns();

    return took(self, CALL_SPACE, begun_ns, next->space(next->ctx, space_));
}

static int
ask(void *self, const struct tp_next *next, uint64_t id,
    struct tp_suggestion *out)
{
    uint64_t begun_ns = now_ns();

    return took(self, CALL_ASK, begun_ns, next->ask(next->ctx, id, out));
}

static int
tell(void *self, const struct tp_next *next, uint64_t id, const double *x,
     const struct tp_result *result)
{
    uint64_t begun_ns = now_ns();

    return took(self, CALL_TELL, begun_ns,
                next->tell(next->ctx, id, x, result));
}

static int
ended(void *self, const struct tp_next *next, uint64_t id, const double *x,
      int how)
{
    uint64_t begun_ns = now_ns();

    return took(self, CALL_ENDED, begun_ns, next->ended(next->ctx, id, x, how));
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct timing *self = vself;

    for (int i = 0; i < N_CALLS; i++) {
        tp_put_u64(sink, self->taken[i].n);
        tp_put_u64(sink, self->taken[i].sum_ns);
        tp_put_u64(sink, self->taken[i].max_ns);
    }
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct timing *self = vself;

    for (int i = 0; i < N_CALLS; i++) {
        struct taken *t = &self->taken[i];

        if (tp_get_u64(source, &t->n) != TP_OK ||
            tp_get_u64(source, &t->sum_ns) != TP_OK ||
            tp_get_u64(source, &t->max_ns) != TP_OK)
            return tp_error(self->host, "times are missing");
    }
    return TP_OK;
}

static const struct tp_filter filter = {
    TP_FILTER_HEAD,
    .name = "timing",
    .doc = "tells at the end how long the calls took",
    .version = 1,
    .create = create,
    .destroy = destroy,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_FILTER(filter)
