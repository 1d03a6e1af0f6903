/* SPDX-License-Identifier: MIT */
#include "bohb/model.h"

#include "plugin/state.h"
#include "unit/save_help.h"

#include <math.h>

NOT_UNDER_TSAN;

static void *
make(void)
{
    static const struct model_options options = {.maximize = true,
                                                 .top_percent = 15,
                                                 .num_samples = 2,
                                                 .bandwidth_factor = 3,
                                                 .min_bandwidth = 0.001};
    struct model *m = model_new(&options, 2);
    struct prior prior;
    struct axis *axes = calloc(1, sizeof *axes);

    CHECK_EQ(prior_init(&prior, 1), 0);
    prior.dims[0] = (struct prior_dim){.high = 1, .parent = PRIOR_NO_PARENT};
    axes[0] = (struct axis){
        .kind = AXIS_RANGE, .high = 1, .unit = 1, .parent = TP_NO_PARENT};
    CHECK_EQ(model_space(m, &prior, axes), 0);
    return m;
}

static void
save(const void *m, struct buf *out)
{
    struct tp_sink sink = state_sink(out);

    model_save(m, &sink);
}

static int
load(void *m, struct unpack *in)
{
    struct tp_source source = state_source(in);

    if (model_load(m, &source) != NULL)
        in->failed = true;
    return in->failed ? -1 : 0;
}

static void
drop(void *m)
{
    model_free(m);
}

static const struct saved kind = {make, save, load, drop};

TEST(bohb_goes_on_from_what_was_saved)
{
    struct model *m = make(), *twin;
    const double a = 0.25, b = 0.9;
    const double *points[] = {&a, &b};
    double one[2], other[2];

    for (uint64_t n = 0; n < 30; n++) {
        double x = (double)(n * 7 % 30) / 30;

        CHECK_EQ(model_learn(m, n % 3 == 0, n, &x, n == 5 ? NAN : x, false), 0);
    }
    twin = saved_twin(&kind, m);
    CHECK_EQ(model_score(m, points, 2, one), 0);
    CHECK_EQ(model_score(twin, points, 2, other), 0);
    CHECK(memcmp(one, other, sizeof one) == 0);
    CHECK(one[1] > one[0]);
    saved_survives_damage(&kind, m, 400);
    model_free(m);
    model_free(twin);
}
