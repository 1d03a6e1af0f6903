/* SPDX-License-Identifier: MIT */
/* Fronts, crowding and volumes against what their definitions say, on sets with
 * ties, NaN and infinities. */
#include "numerics/front.h"

#include "numerics/hypervolume.h"
#include "numerics/random.h"
#include "t.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

NOT_UNDER_TSAN;

enum { SETS = 10000, ROWS = 14, COSTS = 5, MANY = 3000 };

struct set {
    size_t n, n_costs;
    int levels; /* of the costs: 0 .. levels - 1, NaN, the infinities */
    double costs[ROWS * COSTS];
    double violations[ROWS];
    bool is_limited;
};

static uint64_t
draw(uint64_t set, uint32_t *at, uint64_t below)
{
    struct random_stream s = random_stream(11, RANDOM_TEST, set, 0);

    return (uint64_t)(random_uniform(&s, (*at)++) * (double)below);
}

static double
draw_value(uint64_t set, uint32_t *at, int levels)
{
    switch (draw(set, at, 30)) {
    case 0:
        return NAN;
    case 1:
        return INFINITY;
    case 2:
        return -INFINITY;
    default:
        return (double)draw(set, at, (uint64_t)levels);
    }
}

static void
set_make(struct set *s, uint64_t number)
{
    uint32_t at = 0;

    memset(s, 0, sizeof *s);
    s->n_costs = 1 + draw(number, &at, COSTS);
    s->n = draw(number, &at, ROWS + 1);
    s->levels = s->n_costs > 3 ? 4 : 6;
    s->is_limited = draw(number, &at, 3) == 0;
    for (size_t i = 0; i < s->n * s->n_costs; i++)
        s->costs[i] = draw_value(number, &at, s->levels);
    for (size_t i = 0; s->is_limited && i < s->n; i++)
        s->violations[i] = draw_value(number, &at, 4) - 1;
}

static const double *
set_violations(const struct set *s)
{
    return s->is_limited ? s->violations : NULL;
}

/* Infinite costs and NaN as numbers in the same order. */
static double
place(double v)
{
    return isnan(v) ? 1e9 : isinf(v) ? (v > 0 ? 1e6 : -1e6) : v;
}

static bool
is_better(const struct set *s, size_t a, size_t b)
{
    double far_a = fmax(place(s->violations[a]), 0);
    double far_b = fmax(place(s->violations[b]), 0);
    bool some = false;

    if (far_a != far_b)
        return far_a < far_b;
    for (size_t k = 0; k < s->n_costs; k++) {
        double x = place(s->costs[a * s->n_costs + k]);
        double y = place(s->costs[b * s->n_costs + k]);

        if (x > y)
            return false;
        some = some || x < y;
    }
    return some;
}

/* One front after the other is taken off. */
static void
peel(const struct set *s, uint32_t *ranks)
{
    size_t left = s->n;

    for (size_t i = 0; i < s->n; i++)
        ranks[i] = UINT32_MAX;
    for (uint32_t rank = 0; left > 0; rank++)
        for (size_t i = 0; i < s->n; i++) {
            bool is_first = ranks[i] == UINT32_MAX;

            for (size_t j = 0; j < s->n && is_first; j++)
                is_first = ranks[j] < rank || !is_better(s, j, i);
            if (is_first) {
                ranks[i] = rank;
                left--;
            }
        }
}

TEST(fronts_are_those_of_the_definition)
{
    uint32_t got[ROWS], want[ROWS];
    struct set s;

    for (uint64_t number = 0; number < SETS; number++) {
        set_make(&s, number);
        CHECK_EQ(front_ranks(s.costs, set_violations(&s), s.n, s.n_costs, got),
                 0);
        peel(&s, want);
        CHECK(memcmp(got, want, s.n * sizeof *got) == 0);
        for (size_t i = 0; i < s.n; i++)
            for (size_t j = 0; j < s.n; j++)
                CHECK(front_dominates(s.costs + i * s.n_costs, s.violations[i],
                                      s.costs + j * s.n_costs, s.violations[j],
                                      s.n_costs) == is_better(&s, i, j));
    }
}

static bool
is_like(const struct set *s, size_t a, size_t b)
{
    for (size_t k = 0; k < s->n_costs; k++)
        if (place(s->costs[a * s->n_costs + k]) !=
            place(s->costs[b * s->n_costs + k]))
            return false;
    return true;
}

/* Whether row j of i's front counts, and comes before row i in cost k. */
static bool
comes_before(const struct set *s, size_t j, size_t i, size_t k)
{
    double x = place(s->costs[j * s->n_costs + k]);
    double y = place(s->costs[i * s->n_costs + k]);

    return x < y || (x == y && j < i);
}

static double
crowding_of(const struct set *s, const uint32_t *ranks, size_t i)
{
    bool counts[ROWS];
    double sum = 0;

    for (size_t j = 0; j < s->n; j++) {
        counts[j] = ranks[j] == ranks[i];
        for (size_t other = 0; other < j; other++)
            if (ranks[other] == ranks[j] && is_like(s, other, j))
                counts[j] = false;
    }
    if (!counts[i])
        return 0;
    for (size_t k = 0; k < s->n_costs; k++) {
        size_t before = SIZE_MAX, after = SIZE_MAX;
        double least = INFINITY, most = -INFINITY, a, b;

        for (size_t j = 0; j < s->n; j++) {
            double v = s->costs[j * s->n_costs + k];

            if (!counts[j])
                continue;
            if (isfinite(v)) {
                least = fmin(least, v);
                most = fmax(most, v);
            }
            if (j == i)
                continue;
            if (comes_before(s, j, i, k)) {
                if (before == SIZE_MAX || comes_before(s, before, j, k))
                    before = j;
            } else if (after == SIZE_MAX || comes_before(s, j, after, k)) {
                after = j;
            }
        }
        if (before == SIZE_MAX || after == SIZE_MAX)
            return INFINITY;
        a = s->costs[before * s->n_costs + k];
        b = s->costs[after * s->n_costs + k];
        if (isfinite(a) && isfinite(b))
            sum += a == b ? 0 : (b - a) / (most - least);
        else
            sum += place(a) != place(b);
    }
    return sum;
}

TEST(crowding_is_that_of_the_definition)
{
    uint32_t ranks[ROWS], order[ROWS];
    double got[ROWS];
    struct set s;

    for (uint64_t number = 0; number < SETS; number++) {
        set_make(&s, number);
        CHECK_EQ(
            front_ranks(s.costs, set_violations(&s), s.n, s.n_costs, ranks), 0);
        CHECK_EQ(front_crowding(s.costs, s.n, s.n_costs, ranks, got), 0);
        for (size_t i = 0; i < s.n; i++)
            CHECK(got[i] == crowding_of(&s, ranks, i));
        CHECK_EQ(
            front_order(s.costs, set_violations(&s), s.n, s.n_costs, order), 0);
        for (size_t i = 1; i < s.n; i++) {
            uint32_t a = order[i - 1], b = order[i];

            CHECK(ranks[a] < ranks[b] ||
                  (ranks[a] == ranks[b] &&
                   (got[a] > got[b] || (got[a] == got[b] && a < b))));
        }
    }
}

/* ---- volumes ---- */

/* Whether row i reaches the cell that ends at `at`. */
static bool
reaches(const struct set *s, size_t i, const double *at)
{
    for (size_t k = 0; k < s->n_costs; k++)
        if (!(s->costs[i * s->n_costs + k] <= at[k]))
            return false;
    return true;
}

/* Of the rows but `left_out`, up to a reference of `levels` - 1: cells of
 * width one are counted. */
static double
count_cells(const struct set *s, size_t left_out)
{
    double sum = 0, top = s->levels - 1, at[COSTS];
    size_t n_cells = 1;

    for (size_t k = 0; k < s->n_costs; k++) {
        at[k] = top - 1;
        n_cells *= (size_t)top;
    }
    for (size_t i = 0; i < s->n; i++) {
        bool is_open = false;

        for (size_t k = 0; k < s->n_costs; k++)
            is_open = is_open || s->costs[i * s->n_costs + k] == -INFINITY;
        if (i != left_out && is_open && reaches(s, i, at))
            return INFINITY;
    }
    for (size_t cell = 0; cell < n_cells; cell++) {
        size_t rest = cell, i = 0;

        for (size_t k = 0; k < s->n_costs; k++, rest /= (size_t)top)
            at[k] = (double)(rest % (size_t)top);
        while (i < s->n && (i == left_out || !reaches(s, i, at)))
            i++;
        sum += i < s->n;
    }
    return sum;
}

/* Whether another row has all that this one has. */
static bool
is_covered(const struct set *s, size_t i)
{
    for (size_t j = 0; j < s->n; j++)
        if (j != i && reaches(s, j, s->costs + i * s->n_costs))
            return true;
    return false;
}

TEST(volumes_are_those_of_the_cells)
{
    double reference[COSTS], got, each[ROWS];
    struct set s;

    for (uint64_t number = 0; number < SETS; number++) {
        double whole;

        set_make(&s, number);
        for (size_t k = 0; k < s.n_costs; k++)
            reference[k] = s.levels - 1;
        whole = count_cells(&s, SIZE_MAX);
        CHECK_EQ(hypervolume(s.costs, s.n, s.n_costs, reference, &got), 0);
        CHECK(got == whole);
        CHECK_EQ(
            hypervolume_contributions(s.costs, s.n, s.n_costs, reference, each),
            0);
        for (size_t i = 0; i < s.n; i++) {
            double without = count_cells(&s, i);

            if (isfinite(whole))
                CHECK(each[i] == whole - without);
            else if (isfinite(without) || is_covered(&s, i))
                CHECK(each[i] == (isfinite(without) ? (double)INFINITY : 0));
        }
    }
}

/* Numbers that no double has exactly, by inclusion and exclusion. */
static double
include_exclude(const struct set *s)
{
    double sum = 0;

    for (size_t subset = 1; subset < (size_t)1 << s->n; subset++) {
        double volume = -1;

        for (size_t k = 0; k < s->n_costs; k++) {
            double width = INFINITY;

            for (size_t i = 0; i < s->n; i++)
                if (subset >> i & 1)
                    width = fmin(width, 1 - s->costs[i * s->n_costs + k]);
            volume *= width;
        }
        for (size_t i = 0; i < s->n; i++)
            volume = subset >> i & 1 ? -volume : volume;
        sum += volume;
    }
    return sum;
}

TEST(volumes_of_any_numbers_are_right_in_any_order)
{
    const double reference[COSTS] = {1, 1, 1, 1, 1};
    struct set s, back;

    for (uint64_t number = 0; number < 1000; number++) {
        struct random_stream stream = random_stream(12, RANDOM_TEST, number, 0);
        double got, again, sum, gain;

        s.n = 1 + number % 9;
        s.n_costs = 1 + number % COSTS;
        back = s;
        for (uint32_t i = 0; i < s.n * s.n_costs; i++)
            s.costs[i] = random_uniform(&stream, i);
        for (size_t i = 0; i < s.n; i++)
            memcpy(back.costs + i * s.n_costs,
                   s.costs + (s.n - 1 - i) * s.n_costs,
                   s.n_costs * sizeof *s.costs);
        CHECK_EQ(hypervolume(s.costs, s.n, s.n_costs, reference, &got), 0);
        CHECK(fabs(got - include_exclude(&s)) < 1e-12);
        CHECK_EQ(hypervolume(back.costs, s.n, s.n_costs, reference, &again), 0);
        CHECK(got == again);
        sum = 0;
        for (size_t i = 0; i < s.n; i++) {
            CHECK_EQ(hypervolume_gain(s.costs, i, s.n_costs, reference,
                                      s.costs + i * s.n_costs, &gain),
                     0);
            sum += gain;
        }
        CHECK(fabs(got - sum) < 1e-12);
    }
}

TEST(volumes_of_what_is_too_large_are_infinite)
{
    const double costs[] = {-1e308, -1e308, -1e308, -1e307, -1.1e308, -1e306};
    const double reference[] = {1e308, 1e308, 1e308};
    double got;

    CHECK_EQ(hypervolume(costs, 2, 3, reference, &got), 0);
    CHECK(got == INFINITY);
    CHECK_EQ(hypervolume_gain(costs, 1, 3, reference, costs + 3, &got), 0);
    CHECK(got == INFINITY || got == 0);
    CHECK_EQ(hypervolume(costs, 0, 3, reference, &got), 0);
    CHECK(got == 0);
}

/* ---- many ---- */

/* On a sphere, and every other one a little outside of it. */
static double *
shells(size_t n, size_t n_costs)
{
    double *costs = calloc(n * n_costs, sizeof *costs);
    struct random_stream s = random_stream(13, RANDOM_TEST, n_costs, 0);
    uint32_t at = 0;

    for (size_t i = 0; i < n; i++) {
        double sum = 0, *c = costs + i * n_costs;

        for (size_t k = 0; k < n_costs; k++) {
            c[k] = 1e-3 + random_uniform(&s, at++);
            sum += c[k] * c[k];
        }
        for (size_t k = 0; k < n_costs; k++)
            c[k] *= (i % 2 ? 2 : 1) / sqrt(sum);
    }
    return costs;
}

TEST(fronts_of_many_rows_are_found)
{
    uint32_t *ranks = calloc(MANY, sizeof *ranks);
    double *crowding = calloc(MANY, sizeof *crowding);

    for (size_t n_costs = 2; n_costs <= FRONT_COSTS_MAX; n_costs++) {
        double *costs = shells(MANY, n_costs);

        CHECK_EQ(front_ranks(costs, NULL, MANY, n_costs, ranks), 0);
        for (size_t i = 0; i < MANY; i += 2)
            CHECK_EQ(ranks[i], 0);
        CHECK_EQ(front_crowding(costs, MANY, n_costs, ranks, crowding), 0);
        free(costs);
    }
    free(ranks);
    free(crowding);
}

/* What lies beyond a ball, nearly. */
TEST(volumes_of_many_rows_are_found)
{
    const double reference[] = {2, 2, 2, 2};
    double got;

    for (size_t n_costs = 2; n_costs <= 4; n_costs++) {
        size_t n = n_costs == 4 ? 120 : 2000;
        double *costs = shells(n, n_costs), ball;
        const double parts[] = {0, 0, 0.785398, 0.523599, 0.308425};

        CHECK_EQ(hypervolume(costs, n, n_costs, reference, &got), 0);
        ball = ldexp(1, (int)n_costs) - parts[n_costs];
        CHECK(got < ball && got > 0.8 * ball);
        free(costs);
    }
}
