/* SPDX-License-Identifier: MIT */
/* prior_help.h - a search space and random numbers for the tests of tuners'
 * algorithms, without a host. */
#ifndef TESTS_PRIOR_HELP_H
#define TESTS_PRIOR_HELP_H

#include "numerics/random.h"
#include "prior/space.h"
#include "unit/space_help.h"

/* Of each kind one, and two branches. */
#define MIXED_SPACE                                                     \
    "{'c': {'_type': 'choice', '_value': ['r', 's', 't']},"             \
    " 'i': {'_type': 'randint', '_value': [-2, 3]},"                    \
    " 'u': {'_type': 'uniform', '_value': [-5, 5]},"                    \
    " 'q': {'_type': 'quniform', '_value': [0, 10, 2.5]},"              \
    " 'l': {'_type': 'loguniform', '_value': [0.001, 1]},"              \
    " 'm': {'_type': 'qloguniform', '_value': [1, 100, 7]},"            \
    " 'n': {'_type': 'normal', '_value': [1, 2]},"                      \
    " 'k': {'_type': 'qlognormal', '_value': [1, 0.5, 0.25]},"          \
    " 'one': {'_type': 'uniform', '_value': [3, 3]},"                   \
    " 'net': {'_type': 'choice', '_value': ["                           \
    "   {'_name': 'a', 'v': {'_type': 'uniform', '_value': [0, 1]},"    \
    "    'deep': {'_type': 'choice', '_value': [{'_name': 'x', 'w':"    \
    "     {'_type': 'normal', '_value': [0, 1]}}, {'_name': 'y'}]}},"   \
    "   {'_name': 'b', 'z': {'_type': 'randint', '_value': [0, 9]}}]}," \
    " 's': {'_type': 'qrandint', '_value': [-7, 100, 9]},"              \
    " 'e': {'_type': 'lograndint', '_value': [1, 1000]}}"

static inline double
help_uniform(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    struct random_stream s =
        random_stream(*(const uint64_t *)ctx, RANDOM_TEST, a, b);

    return random_uniform(&s, draw);
}

/* `seed` has to last. */
static inline struct prior_random
help_random(uint64_t *seed)
{
    return (struct prior_random){help_uniform, seed};
}

static inline struct prior
help_prior(const struct space *space)
{
    struct prior p;

    CHECK_EQ(prior_of_space(&p, space_dims(space)), 0);
    return p;
}

/* A point as the host takes it: everything in its range, NaN where inactive. */
static inline void
help_check_point(const struct space *space, const double *x)
{
    struct err err = {0};
    const struct tp_space *s = space_dims(space);

    CHECK_EQ(space_check(space, x, &err), 0);
    CHECK_STR(err.text, "");
    for (size_t i = 0; i < s->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(s, i);

        CHECK(isnan(x[i]) || (x[i] >= d->low && x[i] <= d->high));
    }
}

#endif
