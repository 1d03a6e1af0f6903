/* SPDX-License-Identifier: MIT */
/* How cmaes ranks points that somebody else tried. */
#include "unit/cmaes_help.h"

NOT_UNDER_TSAN;

static double
sphere(const struct hunt *h, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < h->n; i++)
        sum += (x[i] - 1.3) * (x[i] - 1.3);
    return sum;
}

static void
score_two(struct hunt *h, double *out)
{
    const double near[] = {1.2, 1.4, 1.3, 1.2, 1.4};
    const double far[] = {-4, 4, -4, 4, -4};
    const double *const points[] = {near, far};

    CHECK_EQ(cmaes_score(h->search, points, 2, out), 0);
}

TEST(cmaes_scores_what_is_near_the_best_higher)
{
    double out[2], x[X_MAX], y[X_MAX];
    struct hunt h, g;

    for (int surrogate = 0; surrogate < 2; surrogate++) {
        hunt_open(&h, HUNT_FIVE, hunt_options(surrogate));
        hunt_open(&g, HUNT_FIVE, hunt_options(surrogate));
        score_two(&h, out);
        CHECK(isnan(out[0]) && isnan(out[1]));
        hunt_run(&h, sphere, 40);
        hunt_run(&g, sphere, 40);
        score_two(&h, out);
        CHECK(out[0] > out[1]);
        for (int i = 0; i < 5; i++) { /* and goes on as if never asked */
            uint64_t id = hunt_ask(&h, x);

            CHECK_EQ(hunt_ask(&g, y), id);
            CHECK(memcmp(x, y, 5 * sizeof *x) == 0);
            hunt_tell(&h, id, x, sphere(&h, x));
            hunt_tell(&g, id, y, sphere(&g, y));
            score_two(&h, out);
        }
        hunt_close(&h);
        hunt_close(&g);
    }
}

/* As `tunepipe replay --tuner cmaes` does: it is told, and never asked. */
TEST(cmaes_scores_from_imported_results)
{
    double out[2], x[X_MAX];
    struct hunt h;

    hunt_open(&h, HUNT_FIVE, hunt_options(true));
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 5; k++)
            x[k] = -5 + 10 * fmod((i + 1) * (0.6180339887 + 0.11 * k), 1);
        CHECK_EQ(
            cmaes_tell(h.search, CMAES_NO_ID, x, CMAES_FINAL, sphere(&h, x)),
            0);
    }
    score_two(&h, out);
    CHECK(out[0] > out[1]);
    hunt_close(&h);
}
