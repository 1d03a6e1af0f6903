/* SPDX-License-Identifier: MIT */
/* The hypervolume to expect of a point: what it is where there is no doubt,
 * beside a sum over many draws where there is, its slopes, and far away. */
#include "gp/volume.h"

#include "numerics/elementary.h"
#include "numerics/hypervolume.h"
#include "numerics/normal.h"
#include "numerics/random.h"
#include "t.h"

#include <math.h>
#include <string.h>

enum { POINTS = 12, DRAWS = 100 };

struct front {
    struct volume volume;
    size_t n_costs, n;
    double costs[POINTS * VOLUME_COSTS_MAX];
    double from[VOLUME_COSTS_MAX], reference[VOLUME_COSTS_MAX];
    struct random_stream stream;
    uint32_t draw;
};

static double
uniform(struct front *f)
{
    return random_uniform(&f->stream, f->draw++);
}

/* Of cost k of the front, or of all rows. */
static void
span(const double *costs, size_t n, size_t n_costs, size_t k, double *least,
     double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        *least = fmin(*least, costs[i * n_costs + k]);
        *most = fmax(*most, costs[i * n_costs + k]);
    }
}

/* As volume.h says. */
static void
find_bounds(struct front *f, const struct volume_bound *bounds)
{
    for (size_t k = 0; k < f->n_costs; k++) {
        double least, most, all_least, all_most, width, *end = f->reference + k;

        span(f->volume.front, f->volume.n, f->n_costs, k, &least, &most);
        span(f->costs, f->n, f->n_costs, k, &all_least, &all_most);
        width = most > least ? most - least : all_most - all_least;
        *end = most + (width > 0 ? 0.1 * width : 0.1);
        *end += bounds[k].reach * fmax(0, all_most - *end);
        f->from[k] = bounds[k].is_cut && most > least ? least : -INFINITY;
    }
}

/* On some grid, so that costs are equal; of each five fronts one has other
 * bounds than the nearest. */
static void
front_open(struct front *f, uint64_t seed, size_t n_costs, size_t n)
{
    struct volume_bound bounds[VOLUME_COSTS_MAX] = {{.reach = 0}};

    memset(f, 0, sizeof *f);
    f->stream = random_stream(seed, RANDOM_TUNER, n_costs, (uint32_t)n);
    f->n_costs = n_costs;
    f->n = n;
    CHECK_EQ(volume_init(&f->volume, n_costs, POINTS), 0);
    volume_begin(&f->volume);
    for (size_t i = 0; i < n; i++) {
        double *c = f->costs + i * n_costs;

        for (size_t k = 0; k < n_costs; k++)
            c[k] = num_round_even(8 * uniform(f)) / 8;
        volume_add(&f->volume, c, true);
    }
    for (size_t k = 0; k < n_costs && seed % 5 == 0; k++) {
        bounds[k].reach = uniform(f);
        bounds[k].is_cut = seed % 2 == 0;
    }
    volume_close(&f->volume, bounds);
    find_bounds(f, bounds);
}

static double
added(const struct front *f, const double *point)
{
    double out, cut[VOLUME_COSTS_MAX];

    for (size_t k = 0; k < f->n_costs; k++)
        cut[k] = fmax(point[k], f->from[k]);
    CHECK_EQ(
        hypervolume_gain(f->costs, f->n, f->n_costs, f->reference, cut, &out),
        0);
    return out;
}

/* 200 fronts; a third of them of one point or two. */
static void
each_front(void (*check)(struct front *f))
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct front f;

        front_open(&f, seed, 2 + seed % 2,
                   seed % 3 == 0 ? 1 + seed % 2 : POINTS);
        check(&f);
        volume_fini(&f.volume);
    }
}

static void
check_sure(struct front *f)
{
    const double variance[VOLUME_COSTS_MAX] = {1e-20, 1e-20, 1e-20};

    for (int i = 0; i < 20; i++) {
        double point[VOLUME_COSTS_MAX], want;
        struct volume_gain got;

        for (size_t k = 0; k < f->n_costs; k++)
            point[k] = uniform(f) - 0.2;
        want = added(f, point);
        volume_gain(&f->volume, point, variance, &got);
        if (want > 1e-6)
            CHECK(fabs(num_exp(got.gain) / want - 1) < 1e-6);
        else
            CHECK(got.gain < -20);
    }
}

TEST(volume_of_a_sure_point_is_what_it_adds)
{
    each_front(check_sure);
}

/* Beside the mean over a lattice of quantiles. */
static void
check_doubtful(struct front *f)
{
    double mean[VOLUME_COSTS_MAX], variance[VOLUME_COSTS_MAX], want = 0;
    struct volume_gain got;

    if (f->n_costs > 2)
        return;
    for (size_t k = 0; k < f->n_costs; k++) {
        mean[k] = uniform(f);
        variance[k] = 0.05 + 0.2 * uniform(f);
    }
    for (size_t i = 0; i < DRAWS; i++)
        for (size_t j = 0; j < DRAWS; j++) {
            double a = ((double)i + 0.5) / DRAWS, b = ((double)j + 0.5) / DRAWS;
            const double point[2] = {
                mean[0] + num_sqrt(variance[0]) * num_normal_quantile(a),
                mean[1] + num_sqrt(variance[1]) * num_normal_quantile(b)};

            want += added(f, point) / (DRAWS * DRAWS);
        }
    volume_gain(&f->volume, mean, variance, &got);
    CHECK(fabs(num_exp(got.gain) - want) < 0.01 * want + 4e-4);
}

TEST(volume_of_a_doubtful_point_is_the_mean_of_what_it_may_add)
{
    each_front(check_doubtful);
}

static double
gain_at(struct front *f, const double *mean, const double *variance)
{
    struct volume_gain got;

    volume_gain(&f->volume, mean, variance, &got);
    return got.gain;
}

/* As difference quotients are, near the front and far behind it. */
static void
check_slopes(struct front *f)
{
    double mean[VOLUME_COSTS_MAX], variance[VOLUME_COSTS_MAX];
    struct volume_gain got;

    for (int i = 0; i < 20; i++) {
        double far = i % 4 == 0 ? 50 : 0;

        for (size_t k = 0; k < f->n_costs; k++) {
            mean[k] = uniform(f) + far;
            variance[k] = 0.01 + 0.2 * uniform(f);
        }
        volume_gain(&f->volume, mean, variance, &got);
        CHECK(isfinite(got.gain));
        for (size_t k = 0; k < f->n_costs; k++) {
            double at = mean[k], v = variance[k], h = 1e-6, up, down, slope;

            mean[k] = at + h;
            up = gain_at(f, mean, variance);
            mean[k] = at - h;
            down = gain_at(f, mean, variance);
            mean[k] = at;
            slope = (up - down) / (2 * h);
            CHECK(fabs(slope - got.by_mean[k]) < 1e-3 * (1 + fabs(slope)));
            variance[k] = v + v * h;
            up = gain_at(f, mean, variance);
            variance[k] = v - v * h;
            down = gain_at(f, mean, variance);
            variance[k] = v;
            slope = (up - down) / (2 * v * h);
            CHECK(fabs(slope - got.by_variance[k]) < 1e-3 * (1 + fabs(slope)));
        }
    }
}

TEST(volume_slopes_are_those_of_the_gain)
{
    each_front(check_slopes);
}
