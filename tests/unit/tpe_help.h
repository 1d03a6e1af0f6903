/* SPDX-License-Identifier: MIT */
/* tpe_help.h - a tpe over a search space, with numbers of its own. */
#ifndef TESTS_TPE_HELP_H
#define TESTS_TPE_HELP_H

#include "numerics/random.h"
#include "space/space.h"
#include "t.h"
#include "tpe/tpe.h"
#include "unit/space_help.h"

static inline double
help_uniform(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    const uint64_t *seed = ctx;
    struct random_stream s = random_stream(*seed, RANDOM_TEST, a, b);

    return random_uniform(&s, draw);
}

/* What the plugin has by default. */
static inline struct tpe_options
help_options(void)
{
    return (struct tpe_options){.liar = TPE_LIAR_WORST,
                                .startup = 10,
                                .candidates = 24,
                                .prior = 1,
                                .good_most = 25};
}

static inline size_t
help_axes(const struct space *space, struct axis *axes)
{
    const struct tp_space *s = space_dims(space);

    CHECK(s->n_dims <= X_MAX);
    for (size_t i = 0; i < s->n_dims; i++)
        axes[i] = tpe_axis_of(TP_DIM(s, i));
    return s->n_dims;
}

static inline struct tpe *
help_tpe(const struct tpe_options *options, const struct space *space)
{
    struct axis axes[X_MAX];
    size_t n = help_axes(space, axes);
    struct tpe *t = tpe_new(options, axes, n);

    CHECK(t != NULL);
    return t;
}

/* The id-th suggestion, as the plugin gives it. */
static inline void
help_ask(struct tpe *t, const struct space *space, uint64_t seed, uint64_t id,
         double *x)
{
    struct tpe_reason why;

    if (tpe_is_ready(t))
        CHECK(tpe_ask(t, help_uniform, &seed, id, x, &why) == 0);
    else
        space_sample(space, seed, id, x);
    CHECK(tpe_open(t, id, x) == 0);
    CHECK(space_check(space, x, NULL) == 0);
}

#endif
