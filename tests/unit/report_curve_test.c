/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "report/curve.h"

#include <stdint.h>

NOT_UNDER_TSAN;

TEST(report_curve_keeps_all_of_a_few)
{
    struct curve_point out[8];
    struct curve c = {0};

    CHECK_EQ(curve_thinned(&c, 8, out), 0);
    for (uint64_t i = 0; i < 5; i++)
        CHECK_EQ(curve_add(&c, 10 + i, (double)i), 0);
    CHECK_EQ(curve_thinned(&c, 8, out), 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK_EQ(out[i].step, 10 + i);
        CHECK_EQ(out[i].value, i);
    }
    curve_fini(&c);
}

/* However many there are: the first, the last, and those between in order. */
TEST(report_curve_thins_out_many)
{
    struct curve_point out[64];
    struct curve c = {0};
    size_t n;

    for (uint64_t i = 0; i < 100003; i++)
        CHECK_EQ(curve_add(&c, i, (double)i), 0);
    CHECK(c.n <= CURVE_MAX && c.cap <= CURVE_MAX);
    n = curve_thinned(&c, 64, out);
    CHECK_EQ(n, 64);
    CHECK_EQ(out[0].step, 0);
    CHECK_EQ(out[63].step, 100002);
    for (size_t i = 1; i < n; i++) {
        CHECK(out[i].step > out[i - 1].step);
        CHECK(out[i].step - out[i - 1].step < 4000);
        CHECK_EQ(out[i].value, out[i].step);
    }
    CHECK_EQ(curve_thinned(&c, 2, out), 2);
    CHECK_EQ(out[0].step, 0);
    CHECK_EQ(out[1].step, 100002);
    curve_fini(&c);
}

/* A trial that was started again tells its steps anew. */
TEST(report_curve_takes_back_what_is_repeated)
{
    struct curve_point out[16];
    struct curve c = {0};

    for (uint64_t i = 0; i < 8; i++)
        curve_add(&c, i, 1);
    for (uint64_t i = 4; i < 7; i++)
        curve_add(&c, i, 2);
    CHECK_EQ(curve_thinned(&c, 16, out), 7);
    CHECK_EQ(out[3].value, 1);
    CHECK_EQ(out[4].value, 2);
    CHECK_EQ(out[6].step, 6);
    curve_add(&c, 0, 3);
    CHECK_EQ(curve_thinned(&c, 16, out), 1);
    CHECK_EQ(out[0].value, 3);
    curve_fini(&c);
}
