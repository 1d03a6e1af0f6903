/* SPDX-License-Identifier: MIT */
/* What the search is made of: coordinates, distributions, memory, model. */
#include "cmaes/axis.h"
#include "cmaes/category.h"
#include "cmaes/gauss.h"
#include "cmaes/known.h"
#include "cmaes/model.h"
#include "unit/cmaes_help.h"

NOT_UNDER_TSAN;

#define ONE(type, values) "{'x': {'_type': '" type "', '_value': " values "}}"

/* A cell is where the trial's value stays the same, and no more. */
static void
check_cells(const char *text, bool is_warped)
{
    struct space *s = help_space(text);
    struct cmaes_dim d = cmaes_dim_of(TP_DIM(space_dims(s), 0));

    d.is_warped = is_warped;
    CHECK(cmaes_axis_is_free(&d) && cmaes_axis_has_cells(&d));
    for (int i = -50; i < 1050; i++) {
        double u = i / 1000.0, low, high, value, centre;

        CHECK(cmaes_axis_cell(&d, u, &low, &high));
        CHECK(low <= u && u <= high);
        value = space_value(s, 0, cmaes_axis_internal(&d, u));
        centre = cmaes_axis_internal(&d, cmaes_axis_centre(&d, u));
        CHECK(space_value(s, 0, centre) == value);
        if (low > -1)
            CHECK(space_value(s, 0, cmaes_axis_internal(&d, low + 1e-9)) ==
                      value &&
                  space_value(s, 0, cmaes_axis_internal(&d, low - 1e-9)) <
                      value);
        if (high < 2)
            CHECK(space_value(s, 0, cmaes_axis_internal(&d, high - 1e-9)) ==
                      value &&
                  space_value(s, 0, cmaes_axis_internal(&d, high + 1e-9)) >
                      value);
    }
    space_free(s);
}

TEST(cmaes_axis_cells_hold_one_value)
{
    check_cells(ONE("quniform", "[0, 10, 2.5]"), false);
    check_cells(ONE("quniform", "[2, 11, 5]"), false);
    check_cells(ONE("qloguniform", "[1, 1000, 7]"), false);
    check_cells(ONE("qloguniform", "[8, 1024, 8]"), false);
    check_cells(ONE("randint", "[-3, 17]"), false);
    check_cells(ONE("qnormal", "[1, 2, 0.5]"), false);
    check_cells(ONE("qlognormal", "[1, 0.5, 0.25]"), false);
    check_cells(ONE("quniform", "[0, 1000, 1]"), true);
    check_cells(ONE("quniform", "[2, 1100, 5]"), true);
    check_cells(ONE("randint", "[0, 500]"), true);
}

TEST(cmaes_axis_turns_back)
{
    static const char *const texts[] = {
        ONE("uniform", "[-5, 3]"), ONE("loguniform", "[1e-6, 10]"),
        ONE("normal", "[3, 0.5]"), ONE("lognormal", "[1, 2]"),
        ONE("uniform", "[0.01, 2000]")};

    for (size_t t = 0; t < 5; t++) {
        struct space *s = help_space(texts[t]);
        struct cmaes_dim d = cmaes_dim_of(TP_DIM(space_dims(s), 0));

        d.is_warped = t == 4;
        for (int i = 0; i <= 100; i++) {
            double u = i / 100.0, x = cmaes_axis_internal(&d, u);

            CHECK(fabs(cmaes_axis_unit(&d, x) - u) < 1e-14);
            CHECK(cmaes_axis_clip(&d, u) == u);
        }
        space_free(s);
    }
}

TEST(cmaes_axis_goes_by_the_logarithm_where_it_is_warped)
{
    struct space *s = help_space(ONE("uniform", "[0.001, 1000]"));
    struct cmaes_dim d = cmaes_dim_of(TP_DIM(space_dims(s), 0));

    d.is_warped = true;
    for (int i = -3; i <= 3; i++)
        CHECK(fabs(cmaes_axis_unit(&d, pow(10, i)) - (i + 3) / 6.0) < 1e-12);
    space_free(s);
}

static double
span_of(const char *text)
{
    struct space *s = help_space(text);
    double span = cmaes_span_of(TP_DIM(space_dims(s), 0));

    space_free(s);
    return span;
}

TEST(cmaes_span_is_that_of_what_is_linear_and_not_below_zero)
{
    CHECK(fabs(span_of(ONE("uniform", "[0.5, 100.5]")) - 200) < 1e-12);
    CHECK(span_of(ONE("quniform", "[0, 100, 0.5]")) == 200);
    CHECK(span_of(ONE("quniform", "[4, 404, 0.5]")) == 100);
    CHECK(span_of(ONE("randint", "[0, 201]")) == 200);
    CHECK(span_of(ONE("randint", "[4, 405]")) == 100);
    CHECK(span_of(ONE("uniform", "[0, 1]")) == 0);
    CHECK(span_of(ONE("uniform", "[-1, 1000]")) == 0);
    CHECK(span_of(ONE("randint", "[-1, 1000]")) == 0);
    CHECK(span_of(ONE("loguniform", "[1, 1000]")) == 0);
    CHECK(span_of(ONE("qnormal", "[1, 1000, 1]")) == 0);
    CHECK(span_of(ONE("uniform", "[5e-324, 1e308]")) == 0);
    CHECK(span_of("{'x': {'_type': 'choice', '_value': [1, 2]}}") == 0);
}

TEST(cmaes_gauss_follows_the_better_points)
{
    struct cmaes_gauss g;
    double w[8], y[16], shift[2] = {0, 0}, z[2], back[2], sum = 0;

    CHECK_EQ(cmaes_gauss_init(&g, 2), 0);
    cmaes_gauss_weights(2, 8, w);
    for (int i = 0; i < 8; i++) {
        CHECK(i == 0 || w[i] < w[i - 1]);
        sum += w[i] > 0 ? w[i] : 0;
    }
    CHECK(fabs(sum - 1) < 1e-12);
    for (int step = 0; step < 10; step++) {
        for (int i = 0; i < 8; i++) {
            double side = i % 2 == 0 ? 1 : -1;

            /* The better ones are far along (1, 1), the others across. */
            y[2 * i] = i < 4 ? side : 0.3 * side;
            y[2 * i + 1] = i < 4 ? side : -0.3 * side;
        }
        cmaes_gauss_update(&g, y, w, 8, shift);
    }
    CHECK(g.cov[2] > 0.5 * g.cov[0]); /* they hang together */
    z[0] = 0.3;
    z[1] = -1.2;
    cmaes_gauss_colour(&g, z, back);
    cmaes_gauss_whiten(&g, back, back);
    CHECK(fabs(back[0] - z[0]) < 1e-12 && fabs(back[1] - z[1]) < 1e-12);
    cmaes_gauss_fini(&g);
}

TEST(cmaes_categories_keep_their_margin)
{
    struct cmaes_categories c;
    const size_t counts[] = {3, 5};
    uint32_t pick[16];
    double w[8] = {0.4, 0.3, 0.2, 0.1};

    CHECK_EQ(cmaes_categories_init(&c, counts, 2, 0.1), 0);
    for (int step = 0; step < 200; step++) {
        for (int i = 0; i < 8; i++) {
            pick[2 * i] = i < 4 ? 1 : (uint32_t)(i % 3);
            pick[2 * i + 1] = i % 4 == 0 ? CMAES_UNPICKED : (uint32_t)(i % 5);
        }
        cmaes_categories_update(&c, pick, w, 8);
        for (size_t i = 0; i < 2; i++) {
            double sum = 0;

            for (size_t k = c.at[i]; k < c.at[i + 1]; k++) {
                CHECK(c.theta[k] >= 0.99 * 0.1 / (double)(counts[i] - 1));
                sum += c.theta[k];
            }
            CHECK(fabs(sum - 1) < 1e-9);
        }
    }
    CHECK(c.theta[1] > 0.89);
    CHECK_EQ(cmaes_categories_pick(&c, 0, 0.5), 1);
    CHECK_EQ(cmaes_categories_pick(&c, 0, 0), 0);
    CHECK_EQ(cmaes_categories_pick(&c, 0, 1 - 0x1p-53), 2);
    cmaes_categories_fini(&c);
}

TEST(cmaes_known_finds_what_was_put)
{
    struct cmaes_known k = {.n = 0};

    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < 3000; i++) {
            const struct cmaes_fact fact = {
                {i << 32, ~i}, (double)i + pass, CMAES_FINAL};

            CHECK((cmaes_known_find(&k, fact.key) != NULL) == (pass == 1));
            CHECK_EQ(cmaes_known_put(&k, &fact), 0);
            CHECK(cmaes_known_find(&k, fact.key)->value == (double)i + pass);
        }
    CHECK_EQ(k.n, 3000);
    cmaes_known_fini(&k);
}

/* A line of results: it goes on between them, is unsure beyond them and
 * expects most below the lowest. */
TEST(cmaes_model_expects_most_at_the_bottom)
{
    struct cmaes_model m;
    double best = INFINITY, at = 0, most = -INFINITY;

    CHECK_EQ(cmaes_model_init(&m, 1, 1, 32), 0);
    m.n = 9;
    for (size_t i = 0; i < m.n; i++) {
        m.x[i] = (double)i / 8;
        m.y[i] = 8 * (m.x[i] - 0.43) * (m.x[i] - 0.43) - 1;
        best = m.y[i] < best ? m.y[i] : best;
    }
    CHECK_EQ(cmaes_model_fit(&m, 50), 0);
    for (double x = 0; x <= 1; x += 0.001) {
        double gain = cmaes_model_gain(&m, &x, best);

        CHECK(!isnan(gain) && gain < 0);
        if (gain > most) {
            most = gain;
            at = x;
        }
    }
    CHECK(fabs(at - 0.43) < 0.03);

    /* What is out there already is expected to find it. */
    m.x[m.n] = at;
    CHECK_EQ(cmaes_model_believe(&m, 1, 0), 0);
    CHECK(cmaes_model_gain(&m, &(double){at + 0.02}, best) < most);
    cmaes_model_fini(&m);
}

TEST(cmaes_model_minds_failures_among_failures)
{
    struct cmaes_model m;
    double x = 0.62, before;

    CHECK_EQ(cmaes_model_init(&m, 1, 1, 32), 0);
    m.n = 9;
    for (size_t i = 0; i < m.n; i++) {
        m.x[i] = (double)i / 16; /* up to the middle */
        m.y[i] = 1 - 4 * m.x[i];
    }
    CHECK_EQ(cmaes_model_fit(&m, 20), 0);
    before = cmaes_model_gain(&m, &x, -1);
    for (size_t i = 9; i < 15; i++)
        m.x[i] = 0.6 + 0.02 * (double)(i - 9);
    CHECK_EQ(cmaes_model_believe(&m, 0, 6), 0);
    CHECK(cmaes_model_gain(&m, &x, -1) < before - 5);
    cmaes_model_fini(&m);
}
