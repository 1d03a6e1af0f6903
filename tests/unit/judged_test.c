/* SPDX-License-Identifier: MIT */
#include "dispatcher/judged.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "dispatcher/policy.h"
#include "t.h"

#include <math.h>

NOT_UNDER_TSAN;

static const char two[] =
    "{\"objectives\": [{\"name\": \"a\", \"direction\": \"maximize\"},"
    " {\"name\": \"b\", \"direction\": \"minimize\"}],"
    " \"resultConstraints\": [\"b <= 10\"]}";

static struct objectives *
begin(struct policy *p, const char *json, const char *judged)
{
    struct err err = {0};
    struct objectives *o = objectives_read(json, &err);

    CHECK(o != NULL);
    *p = (struct policy){0};
    CHECK_EQ(policy_set_objectives(p, o, judged, &err), 0);
    return o;
}

static double
take(struct judged *j, uint64_t step, double a, double b)
{
    double values[] = {a, b}, out = -1;
    struct metric m = {.sequence = step, .value = a, .values = values};

    m.violation = objectives_violation(j->policy->objectives, values);
    CHECK_EQ(judged_take(j, &m, &out), 0);
    return out;
}

TEST(judged_rank_is_the_share_that_dominates)
{
    struct policy p;
    struct objectives *o = begin(&p, two, POLICY_RANK);
    struct judged j;

    CHECK_STR(policy_assessor_direction(&p), "minimize");
    judged_init(&j, &p);
    CHECK(take(&j, 0, 0.5, 5) == 0); /* the first */
    CHECK(take(&j, 0, 0.4, 6) == 1);
    CHECK(take(&j, 0, 0.4, 5.5) == 0.5);
    CHECK(take(&j, 0, 0.5, 5) == 0); /* like another: not dominated */
    CHECK(take(&j, 1, 0.1, 9) == 0); /* of its step the first */
    CHECK(take(&j, JUDGED_ROWS, 0, 9) == 0);
    CHECK(take(&j, 0, 0.9, 11) == 1); /* beyond the limit */
    CHECK(take(&j, 0, NAN, 1) == 0);  /* better in the other one */
    judged_fini(&j);
    objectives_free(o);
}

TEST(judged_ranks_are_the_same_from_a_snapshot)
{
    struct policy p;
    struct objectives *o = begin(&p, two, POLICY_RANK);
    struct judged j, loaded;
    struct unpack in;
    struct buf b;

    judged_init(&j, &p);
    judged_init(&loaded, &p);
    for (int i = 0; i < 100; i++)
        take(&j, (uint64_t)i % 3, i * 37 % 101, i * 11 % 13);
    buf_init(&b, 1 << 20);
    judged_save(&j, &b);
    in = unpack_from(b.data, b.len);
    CHECK_EQ(judged_load(&loaded, &in), 0);
    CHECK(unpack_done(&in));
    for (int i = 0; i < 100; i++) {
        double a = i * 53 % 97, c = i * 7 % 12;

        CHECK(take(&j, (uint64_t)i % 3, a, c) ==
              take(&loaded, (uint64_t)i % 3, a, c));
    }
    judged_fini(&loaded);
    judged_init(&loaded, &p);
    in = unpack_from(b.data, b.len - 1);
    CHECK_EQ(judged_load(&loaded, &in), -1);
    judged_fini(&loaded);
    judged_fini(&j);
    buf_fini(&b);
    objectives_free(o);
}

TEST(judged_newest_reports_count)
{
    struct policy p;
    struct objectives *o = begin(&p, two, POLICY_RANK);
    struct judged j;

    judged_init(&j, &p);
    take(&j, 0, 1, 0);
    for (uint64_t i = 1; i < JUDGED_ROWS; i++)
        take(&j, 1 + i % 7, 0, 0);
    CHECK(take(&j, 0, 0.5, 1) == 1); /* the first is the oldest that counts */
    CHECK(take(&j, 0, 0.4, 2) == 1); /* the one before this */
    judged_fini(&j);
    objectives_free(o);
}

TEST(judged_value_has_its_own_direction)
{
    struct policy p;
    struct objectives *o = begin(&p, two, "a");
    struct judged j;

    CHECK_STR(policy_assessor_direction(&p), "maximize");
    judged_init(&j, &p);
    CHECK(take(&j, 0, 0.5, 5) == 0.5);
    judged_fini(&j);
    objectives_free(o);
    o = begin(&p,
              "{\"objectives\": [{\"name\": \"rank\", \"direction\": "
              "\"maximize\"}, {\"name\": \"b\", \"direction\": \"minimize\"}]}",
              POLICY_RANK);
    CHECK(!policy_judges_rank(&p)); /* a value of that name is meant */
    CHECK_STR(policy_assessor_direction(&p), "maximize");
    objectives_free(o);
}
