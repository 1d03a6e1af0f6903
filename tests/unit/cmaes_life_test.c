/* SPDX-License-Identifier: MIT */
/* Results that come late, never, from elsewhere or without a value. */
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

struct out {
    uint64_t id;
    double x[5];
};

/* Sixteen out at a time; one of four fails, one never ends, results come in
 * reverse. */
TEST(cmaes_goes_on_without_what_never_came)
{
    struct hunt h;

    for (int surrogate = 0; surrogate < 2; surrogate++) {
        hunt_open(&h, HUNT_FIVE, hunt_options(surrogate));
        for (int round = 0; round < (surrogate ? 12 : 100); round++) {
            struct out out[16];

            for (int i = 0; i < 16; i++)
                out[i].id = hunt_ask(&h, out[i].x);
            for (int i = 16; i-- > 0;)
                if (i % 4 == 1)
                    CHECK_EQ(cmaes_lost(h.search, out[i].id, true), 0);
                else if (i % 4 != 2)
                    hunt_tell(&h, out[i].id, out[i].x, sphere(&h, out[i].x));
        }
        CHECK(h.best < (surrogate ? 1 : 0.01));
        hunt_close(&h);
    }
}

/* Whatever has no value never becomes the centre. */
TEST(cmaes_keeps_away_from_what_fails)
{
    struct hunt h;
    double x[X_MAX];
    int failed = 0;

    for (int surrogate = 0; surrogate < 2; surrogate++) {
        hunt_open(&h, HUNT_FIVE, hunt_options(surrogate));
        for (int i = 0; i < 200; i++) {
            uint64_t id = hunt_ask(&h, x);
            bool fails = x[0] > 0;

            hunt_tell(&h, id, x,
                      !fails       ? sphere(&h, x)
                      : i % 2 == 0 ? (double)NAN
                                   : (double)INFINITY);
            failed += fails && i >= 150;
        }
        CHECK(failed < 25); /* of 50 */
        failed = 0;
        hunt_close(&h);
    }
}

/* A stopped trial's value ranks it among the stopped ones, behind the rest. */
TEST(cmaes_ranks_stopped_trials_behind_finished_ones)
{
    struct hunt h;
    double x[X_MAX], mean = 0;

    hunt_open(&h, HUNT_FIVE, hunt_options(false));
    for (int i = 0; i < 400; i++) {
        uint64_t id = hunt_ask(&h, x);
        bool is_stopped = x[0] < 0;

        CHECK_EQ(cmaes_tell(h.search, id, x,
                            is_stopped ? CMAES_CENSORED : CMAES_FINAL,
                            is_stopped ? -1000 : sphere(&h, x)),
                 0);
        mean += i >= 350 ? x[0] / 50 : 0;
    }
    CHECK(fabs(mean - 1.3) < 0.3);
    hunt_close(&h);
}

TEST(cmaes_begins_where_imported_results_are_best)
{
    struct hunt h;
    double x[X_MAX], far = 0;

    hunt_open(&h, HUNT_FIVE, hunt_options(false));
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 5; k++)
            x[k] = -4 + 0.25 * ((i * (k + 3)) % 33);
        if (i < 4)
            for (int k = 0; k < 5; k++)
                x[k] = 1.3 + 0.1 * ((i + k) % 3 - 1);
        CHECK_EQ(
            cmaes_tell(h.search, CMAES_NO_ID, x, CMAES_FINAL, sphere(&h, x)),
            0);
    }
    for (int i = 0; i < 8; i++) {
        hunt_ask(&h, x);
        for (int k = 0; k < 5; k++)
            far += fabs(x[k] - 1.3) / 40;
    }
    CHECK(far < 1.5); /* of a range of 10; without: about 2.5 */
    hunt_close(&h);
}

/* The model knows what came from elsewhere, before and after the start. */
TEST(cmaes_model_learns_from_imported_results)
{
    struct hunt h;
    double x[X_MAX];

    hunt_open(&h, HUNT_FIVE, hunt_options(true));
    for (int i = 0; i < 60; i++) {
        if (i == 1)
            hunt_ask(&h, x);
        for (int k = 0; k < 5; k++)
            x[k] = -5 + 10 * fmod((i + 1) * (0.6180339887 + 0.11 * k), 1);
        CHECK_EQ(
            cmaes_tell(h.search, CMAES_NO_ID, x, CMAES_FINAL, sphere(&h, x)),
            0);
    }
    CHECK(hunt_run(&h, sphere, 12) < 0.05);
    hunt_close(&h);
}

/* A point that somebody put in the place of ours counts where it lies. */
TEST(cmaes_takes_replaced_points)
{
    struct hunt h;
    double x[X_MAX];

    hunt_open(&h, HUNT_FIVE, hunt_options(true));
    for (int i = 0; i < 40; i++) {
        uint64_t id = hunt_ask(&h, x);

        x[0] = -5 + 0.2 * i;
        hunt_tell(&h, id, x, sphere(&h, x));
        hunt_tell(&h, id, x, sphere(&h, x)); /* twice does no harm */
        CHECK_EQ(cmaes_lost(h.search, id, true), 0);
    }
    hunt_close(&h);
}

TEST(cmaes_starts_anew_with_twice_the_population)
{
    struct cmaes_options options = hunt_options(false);
    struct hunt h;
    size_t first;

    for (int mode = CMAES_NONE; mode <= CMAES_BIPOP; mode++) {
        struct cmaes_story s;

        options.restarts = (enum cmaes_restarts)mode;
        hunt_open(&h, HUNT_FIVE, options);
        first = cmaes_story(h.search).population;
        CHECK_EQ(first, 8);
        hunt_run(&h, sphere, 6000);
        s = cmaes_story(h.search);
        CHECK(h.best < 1e-12);
        CHECK((s.restart > 0) == (mode != CMAES_NONE));
        CHECK(mode != CMAES_IPOP || s.population == first << s.restart);
        CHECK(mode != CMAES_BIPOP || s.restart > 1);
        hunt_close(&h);
    }
}

static uint64_t
bits(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    struct random_stream s = random_stream(3, RANDOM_TUNER, a, b);

    (void)ctx;
    return random_bits(&s, draw);
}

static int
key(void *ctx, const double *x, uint64_t *out)
{
    (void)ctx;
    memcpy(out, x, 2 * sizeof *out);
    return 0;
}

TEST(cmaes_has_room_for_a_thousand_parameters)
{
    const struct cmaes_options options = hunt_options(true);
    const struct cmaes_services services = {NULL, bits, key};
    static struct cmaes_dim dims[1000];
    static double x[1000];
    double first = 0, last = 0;
    struct cmaes *c;

    for (int i = 0; i < 1000; i++)
        dims[i] = (struct cmaes_dim){
            .kind = CMAES_REAL, .high = 1, .parent = CMAES_NO_PARENT};
    c = cmaes_new(dims, 1000, &options, &services);
    CHECK(c != NULL);
    for (uint64_t id = 0; id < 2000; id++) {
        double sum = 0;

        CHECK_EQ(cmaes_ask(c, id, x), 0);
        for (int i = 0; i < 1000; i++)
            sum += (x[i] - 0.3) * (x[i] - 0.3);
        CHECK_EQ(cmaes_tell(c, id, x, CMAES_FINAL, sum), 0);
        first += id < 50 ? sum / 50 : 0;
        last += id >= 1950 ? sum / 50 : 0;
    }
    CHECK(last < 0.7 * first);
    cmaes_free(c);
}
