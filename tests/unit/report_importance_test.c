/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "report/importance.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

NOT_UNDER_TSAN;

#define TRIALS 2000

struct study {
    double x[3][TRIALS], y[TRIALS];
    size_t rank[TRIALS];
    struct importance_score scores[3];
};

static const double *ranked_by;

static int
compare(const void *va, const void *vb)
{
    const size_t *a = va, *b = vb;

    return (ranked_by[*a] > ranked_by[*b]) - (ranked_by[*a] < ranked_by[*b]);
}

static void
rank_by(const double *y, size_t n, size_t *rank)
{
    size_t order[TRIALS];

    for (size_t i = 0; i < n; i++)
        order[i] = i;
    ranked_by = y;
    qsort(order, n, sizeof *order, compare);
    for (size_t i = 0; i < n; i++)
        rank[order[i]] = i;
}

static double
uniform(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* y of the three: a weighted sum. */
static struct study *
study_of(size_t n, const double weight[3])
{
    struct study *s = calloc(1, sizeof *s);
    uint64_t state = 7;

    CHECK(s != NULL);
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < 3; d++) {
            s->x[d][i] = uniform(&state);
            s->y[i] += weight[d] * s->x[d][i];
        }
    rank_by(s->y, n, s->rank);
    return s;
}

static void
score(struct study *s, size_t n, const size_t categories[3])
{
    struct importance_parameter p[3];

    for (size_t d = 0; d < 3; d++)
        p[d] = (struct importance_parameter){s->x[d], categories[d]};
    CHECK_EQ(importance_scores(p, 3, s->rank, n, s->scores), 0);
}

static const size_t numbers[3] = {0, 0, 0};

TEST(report_importance_of_a_sum)
{
    struct study *s = study_of(TRIALS, (const double[]){1, 0.1, 0});

    score(s, TRIALS, numbers);
    CHECK(s->scores[0].share > 0.95);
    CHECK(s->scores[1].share < 0.02);
    CHECK(s->scores[2].share < 0.01);
    CHECK(fabs(s->scores[0].share + s->scores[1].share + s->scores[2].share -
               1) < 1e-12);
    free(s);
}

TEST(report_importance_of_two_alike)
{
    struct study *s = study_of(TRIALS, (const double[]){-1, 0, 1});

    score(s, TRIALS, numbers);
    CHECK(fabs(s->scores[0].share - 0.5) < 0.06);
    CHECK(fabs(s->scores[2].share - 0.5) < 0.06);
    CHECK(s->scores[1].share < 0.02);
    free(s);
}

/* Five best among twenty, each with a prior of one trial. */
TEST(report_importance_of_categories_is_exact)
{
    static const double other[] = {0, 0, 0, 1, 1};
    struct study *s = study_of(20, (const double[]){1, 0, 0});
    double all = 10.25 / 21, none = 0.25 / 21; /* of four, two are not used */
    double v[3] = {(5.5 / 3 - 1) * (5.5 / 3 - 1),
                   (3.5 / 3 - 1) * (3.5 / 3 - 1)};

    v[2] = all * (5.25 / 6 / all - 1) * (5.25 / 6 / all - 1) +
           all * (0.25 / 6 / all - 1) * (0.25 / 6 / all - 1) +
           2 * none * (0.25 / 6 / none - 1) * (0.25 / 6 / none - 1);
    for (size_t i = 0; i < 20; i++) {
        size_t r = s->rank[i];

        s->x[0][i] = s->x[2][i] = r < 10 ? 0 : 1;
        s->x[1][i] = r < 5 ? other[r] : r < 12 ? 0 : 1;
    }
    score(s, 20, (const size_t[]){2, 2, 4});
    for (size_t d = 0; d < 3; d++)
        CHECK(fabs(s->scores[d].share - v[d] / (v[0] + v[1] + v[2])) < 1e-12);
    free(s);
}

/* One that half of the trials have weighs half of what it decides there. */
TEST(report_importance_of_one_that_not_all_have)
{
    struct study *s = study_of(TRIALS, (const double[]){1, 0, 0});

    for (size_t i = 0; i < TRIALS; i++) {
        s->x[1][i] = s->x[0][i];
        s->x[2][i] = s->rank[i] % 2 == 0 ? s->x[0][i] : (double)NAN;
    }
    score(s, TRIALS, numbers);
    CHECK(fabs(s->scores[0].share - s->scores[1].share) < 1e-12);
    CHECK(fabs(s->scores[2].share / s->scores[0].share - 0.5) < 0.05);
    free(s);
}

TEST(report_importance_of_nothing)
{
    size_t few = IMPORTANCE_TRIALS_MIN - 1;
    struct study *s = study_of(few, (const double[]){1, 0, 0});

    score(s, few, numbers);
    CHECK(isnan(s->scores[0].share));
    CHECK_EQ(importance_scores(NULL, 0, NULL, 0, NULL), 0);
    free(s);
}

TEST(report_importance_of_what_is_always_the_same)
{
    struct study *s = study_of(TRIALS, (const double[]){1, 0, 0});

    for (size_t d = 0; d < 3; d++)
        for (size_t i = 0; i < TRIALS; i++)
            s->x[d][i] = 0.5;
    s->x[1][0] = s->x[2][1] = INFINITY; /* on no axis */
    score(s, TRIALS, numbers);
    CHECK(isnan(s->scores[0].share));
    free(s);
}
