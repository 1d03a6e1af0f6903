/* SPDX-License-Identifier: MIT */
/* The tuner auto: its parts, and the plugin as the dispatcher uses it. */
#include "auto/owners.h"
#include "auto/plan.h"

#include "core/buf.h"
#include "core/err.h"
#include "parts/defaults.h"
#include "plugin/paths.h"
#include "plugin/tuner.h"
#include "t.h"
#include "unit/space_help.h"

#include <math.h>

NOT_UNDER_TSAN;

/* Of `n` trials those of that part. */
static int
share(struct plan *p, enum plan_part part, int n)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += plan_next(p, 1) == part;
    return count;
}

/* `n` dimensions, the last with `flags`. */
static void
begin(struct plan *p, size_t n, int flags)
{
    static struct tp_dim dims[200];
    const struct tp_space space = {sizeof space, n, sizeof dims[0], dims};

    memset(dims, 0, sizeof dims);
    for (size_t i = 0; i < n; i++)
        dims[i].parent = TP_NO_PARENT;
    if (n > 0)
        dims[n - 1].flags = flags;
    plan_begin(p, &space);
}

TEST(auto_plan_begins_with_cmaes_and_then_shares)
{
    struct plan p = {0};

    begin(&p, 5, TP_DIM_Q);
    CHECK_EQ(share(&p, PLAN_CMAES, PLAN_ALONE), PLAN_ALONE);
    CHECK_EQ(share(&p, PLAN_GP, 30), 24);
    CHECK_EQ(share(&p, PLAN_TPE, 30), 3);
    CHECK_EQ(share(&p, PLAN_CMAES, 30), 3);
    begin(&p, 5, TP_DIM_INDEX);
    CHECK_EQ(share(&p, PLAN_GP, PLAN_ALONE + 30), 24);
    begin(&p, 101, TP_DIM_LOG);
    CHECK_EQ(share(&p, PLAN_GP, PLAN_ALONE + 30), 24);
}

TEST(auto_plan_leaves_the_first_trial_to_gp_unless_it_knows_more)
{
    struct plan p = {0};

    begin(&p, 5, 0);
    CHECK_EQ(plan_next(&p, 0), PLAN_GP);
    CHECK_EQ(share(&p, PLAN_CMAES, 10), 10);
    begin(&p, 5, 0);
    plan_result(&p, -1, 3);
    CHECK_EQ(plan_next(&p, 0), PLAN_CMAES);
    begin(&p, 5, 0);
    p.trials = PLAN_MANY;
    CHECK_EQ(plan_next(&p, 0), PLAN_CMAES);
    begin(&p, 5, 0);
    p.trials = 0;
    CHECK(!plan_begins(&p)); /* there was a trial in another space */
}

TEST(auto_plan_leaves_continuous_spaces_to_cmaes)
{
    struct plan p = {0};

    begin(&p, 15, TP_DIM_LOG | TP_DIM_NORMAL);
    CHECK(plan_teaches(&p));
    CHECK_EQ(share(&p, PLAN_CMAES, 1000), 1000);
    CHECK(!plan_models(&p));
    begin(&p, 0, 0);
    CHECK_EQ(share(&p, PLAN_CMAES, 1000), 1000);
}

TEST(auto_plan_shares_where_trials_fail_or_parameters_are_many)
{
    struct plan p = {0};

    begin(&p, 5, TP_DIM_LOG);
    CHECK_EQ(share(&p, PLAN_CMAES, 50), 50);
    plan_result(&p, PLAN_CMAES, NAN);
    CHECK(plan_models(&p));
    CHECK_EQ(share(&p, PLAN_GP, 100), 80);
    CHECK(share(&p, PLAN_CMAES, PLAN_MODELLED) < PLAN_MODELLED);
    CHECK_EQ(share(&p, PLAN_CMAES, 100), 100); /* alone again */
    begin(&p, 16, TP_DIM_LOG);
    CHECK(plan_models(&p));
}

TEST(auto_plan_leaves_sooner_and_more_to_gp_where_it_may_go_by_a_logarithm)
{
    struct tp_dim dim = {.low = 0.5, .high = 50.5, .parent = TP_NO_PARENT};
    const struct tp_space space = {sizeof space, 1, sizeof dim, &dim};
    struct plan p = {0};

    plan_begin(&p, &space);
    CHECK_EQ(share(&p, PLAN_CMAES, 10), 10);
    CHECK_EQ(share(&p, PLAN_GP, 100), 80);
    dim.high = 50.4;
    plan_begin(&p, &space);
    CHECK_EQ(share(&p, PLAN_CMAES, 100), 100);
}

TEST(auto_plan_leaves_more_to_the_others_where_results_are_noisy)
{
    struct plan p = {0};

    begin(&p, 5, TP_DIM_Q);
    share(&p, PLAN_CMAES, PLAN_ALONE);
    plan_noise(&p, PLAN_NOISY);
    plan_noise(&p, NAN); /* a draw between */
    CHECK_EQ(share(&p, PLAN_GP, 100), 50);
    plan_noise(&p, PLAN_NOISY / 2);
    CHECK_EQ(share(&p, PLAN_GP, 100), 80);
}

/* Where there is no model (any more). */
TEST(auto_plan_lets_lead_who_has_the_best_result)
{
    struct plan p = {.trials = PLAN_MANY};

    begin(&p, 5, TP_DIM_Q);
    plan_result(&p, PLAN_CMAES, 3);
    plan_result(&p, PLAN_TPE, NAN);
    plan_result(&p, PLAN_TPE, 3); /* as good is not better */
    CHECK_EQ(share(&p, PLAN_CMAES, PLAN_ALONE + 30), PLAN_ALONE + 20);
    CHECK_EQ(plan_lead(&p), PLAN_CMAES);
    plan_result(&p, PLAN_TPE, 2);
    CHECK_EQ(plan_lead(&p), PLAN_TPE);
    plan_result(&p, -1, 1); /* imported: nobody's */
    plan_result(&p, PLAN_CMAES, 1.5);
    plan_result(&p, PLAN_CMAES, -INFINITY); /* a failure */
    CHECK_EQ(plan_lead(&p), PLAN_TPE);
    CHECK_EQ(share(&p, PLAN_TPE, 30), 20);
    plan_result(&p, PLAN_CMAES, -1e300);
    CHECK_EQ(share(&p, PLAN_TPE, 30), 10);
    begin(&p, 5, TP_DIM_Q);
    CHECK_EQ(p.lead, PLAN_CMAES);
}

TEST(auto_plan_models_few_trials)
{
    struct plan p = {0};

    begin(&p, 5, TP_DIM_Q);
    share(&p, PLAN_GP, PLAN_MODELLED - 1);
    CHECK(plan_models(&p));
    CHECK_EQ(plan_lead(&p), PLAN_GP);
    share(&p, PLAN_GP, 1);
    CHECK(!plan_models(&p));
    CHECK_EQ(share(&p, PLAN_GP, 1000), 0);
    begin(&p, 5, TP_DIM_Q);
    for (int i = 0; i < PLAN_MODELLED; i++)
        plan_result(&p, -1, i); /* imported */
    CHECK(!plan_models(&p));
    p.trials = PLAN_MANY - 1;
    begin(&p, 5, TP_DIM_Q);
    CHECK(plan_models(&p)); /* what was planned stays so */
    p.trials = PLAN_MANY;
    CHECK(!plan_models(&p));
    CHECK(plan_teaches(&p)); /* fewer may be planned yet */
    CHECK_EQ(share(&p, PLAN_GP, 1000), 0);
    CHECK(!plan_teaches(&p));
}

TEST(auto_owners_are_found_by_id_whatever_the_gaps)
{
    struct owners o;
    const uint64_t huge = (uint64_t)1 << 62;

    owners_init(&o);
    CHECK_EQ(owners_of(&o, 0), -1);
    for (uint64_t i = 0; i < 100; i++)
        CHECK_EQ(owners_add(&o, 10 + 3 * i, i / 10 % 2), 0);
    CHECK_EQ(owners_add(&o, huge, 1), 0);
    for (uint64_t i = 0; i < 100; i++)
        CHECK_EQ(owners_of(&o, 10 + 3 * i), i / 10 % 2);
    CHECK_EQ(owners_of(&o, 9), -1);
    CHECK_EQ(owners_of(&o, huge), 1);
    CHECK_EQ(owners_of(&o, huge + 1), -1);
    CHECK_EQ(o.n, 10); /* one a run */
    owners_fini(&o);
}

TEST(auto_owners_tell_what_is_open)
{
    struct owners o;

    owners_init(&o);
    CHECK(!owners_close(&o, 0));
    for (uint64_t id = 0; id < 50; id++)
        CHECK_EQ(owners_add(&o, 2 * id, id % 2), 0);
    for (uint64_t id = 50; id-- > 20;) {
        CHECK(owners_close(&o, 2 * id));
        CHECK(!owners_close(&o, 2 * id));
        CHECK(!owners_close(&o, 2 * id + 1));
    }
    CHECK_EQ(o.n_open, 20);
    owners_close_all(&o);
    CHECK(!owners_close(&o, 4));
    CHECK_EQ(owners_of(&o, 4), 0); /* whose it was stays known */
    owners_fini(&o);
}

TEST(auto_defaults_are_those_of_the_table)
{
    static const struct tp_arg args[] = {
        {"optimize_mode", TP_ARG_STRING, 0, "\"minimize\"", 0, 0, NULL, ""},
        {"a", TP_ARG_STRING, 0, "\"text\"", 0, 0, NULL, ""},
        {"b", TP_ARG_DOUBLE, 0, "0.25", 0, 0, NULL, ""},
        {"c", TP_ARG_INT, 0, "-3", 0, 0, NULL, ""},
        {"d", TP_ARG_BOOL, 0, "true", 0, 0, NULL, ""},
        {"e", TP_ARG_STRING, 1, "null", 0, 0, NULL, ""},
    };
    static const struct tp_arg bad[] = {
        {"required", TP_ARG_INT, 0, NULL, 0, 0, NULL, ""},
        {"text", TP_ARG_STRING, 0, "text", 0, 0, NULL, ""},
        {"escape", TP_ARG_STRING, 0, "\"\\n\"", 0, 0, NULL, ""},
        {"number", TP_ARG_DOUBLE, 0, "1x", 0, 0, NULL, ""},
        {"bool", TP_ARG_BOOL, 0, "1", 0, 0, NULL, ""},
    };
    struct defaults d;

    CHECK_EQ(defaults_fill(&d, args, 6, "maximize"), 0);
    CHECK_STR(d.values[0].text, "maximize");
    CHECK_STR(d.values[1].text, "text");
    CHECK(d.values[2].number == 0.25);
    CHECK_EQ(d.values[3].integer, -3);
    CHECK_EQ(d.values[4].integer, 1);
    CHECK(d.values[5].is_null && !d.values[4].is_null);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(defaults_fill(&d, &bad[i], 1, "maximize"), -1);
}

#define NESTED                                                       \
    "{'x': {'_type': 'uniform', '_value': [0, 1]},"                  \
    " 'net': {'_type': 'choice', '_value': ["                        \
    "  {'_name': 'a', 'u': {'_type': 'uniform', '_value': [0, 1]}}," \
    "  {'_name': 'b', 'v': {'_type': 'randint', '_value': [0, 9]}}]}}"

static struct tuner *
new_tuner(const char *args, const struct space *space)
{
    struct err err = {0};
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), &err);
    struct json *doc = help_json(args);
    struct tuner *t = tuner_new(paths, "auto", json_root(doc), 4, NULL, &err);

    CHECK_STR(err.text, "");
    CHECK(tuner_space(t, space, &err) == 0);
    json_free(doc);
    plugin_paths_free(paths);
    return t;
}

/* 0 where x = 0.7, u = 0.2; b is 0.3 worse. */
static double
loss(const double *x)
{
    double y = fabs(x[0] - 0.7);

    return isnan(x[2]) ? y + 0.3 : y + fabs(x[2] - 0.2);
}

/* The least loss of `n` trials, some of which fail or end without a result. */
static double
search(struct tuner *t, uint64_t n, double sign)
{
    double x[X_MAX], best = INFINITY;
    struct err err = {0};

    for (uint64_t id = 0; id < n; id++) {
        struct tp_result result = {._struct_size = sizeof result,
                                   .how = TP_RESULT_FINAL};
        char *label = NULL;

        CHECK_EQ(tuner_ask(t, id, x, &label, &err), TP_OK);
        result.value = sign * loss(x);
        if (id % 7 == 3) {
            CHECK_EQ(tuner_ended(t, id, x, TP_ENDED_FAILED, &err), 0);
            continue;
        }
        if (id % 11 == 5)
            continue;
        CHECK_EQ(tuner_tell(t, id, x, &result, &err), 0);
        best = fmin(best, loss(x));
    }
    CHECK_STR(err.text, "");
    return best;
}

TEST(auto_finds_the_optimum_of_a_nested_space_either_way)
{
    struct space *space = help_space(NESTED);
    struct tuner *t = new_tuner("{'optimize_mode': 'minimize'}", space);

    CHECK(search(t, 90, 1) < 0.02);
    tuner_free(t);
    t = new_tuner("{'optimize_mode': 'maximize'}", space);
    CHECK(search(t, 90, -1) < 0.02);
    tuner_free(t);
    space_free(space);
}

TEST(auto_learns_from_what_was_imported)
{
    struct space *space = help_space(NESTED);
    struct tuner *t = new_tuner("{}", space);
    struct err err = {0};
    double x[X_MAX], sum = 0;

    for (uint64_t i = 0; i < 60; i++) {
        struct tp_result result = {._struct_size = sizeof result,
                                   .how = TP_RESULT_IMPORTED};

        space_sample(space, 1, i, x);
        result.value = loss(x);
        CHECK_EQ(tuner_tell(t, TP_NO_ID, x, &result, &err), 0);
    }
    for (uint64_t id = 0; id < 20; id++) {
        char *label = NULL;

        CHECK_EQ(tuner_ask(t, id, x, &label, &err), TP_OK);
        sum += loss(x);
    }
    CHECK(sum / 20 < 0.3); /* of the prior: 0.6 */
    tuner_free(t);
    space_free(space);
}

/* What it knows after ten trials that end as `how` once they have a result. */
static void
save_after_ends(const struct space *space, int how, struct buf *out)
{
    struct tuner *t = new_tuner("{}", space);
    struct err err = {0};
    double x[X_MAX];

    for (uint64_t id = 0; id < 10; id++) {
        struct tp_result result = {._struct_size = sizeof result,
                                   .how = TP_RESULT_FINAL};
        char *label = NULL;

        CHECK_EQ(tuner_ask(t, id, x, &label, &err), TP_OK);
        result.value = loss(x);
        CHECK_EQ(tuner_tell(t, id, x, &result, &err), 0);
        CHECK_EQ(tuner_ended(t, id, x, how, &err), 0);
    }
    buf_init(out, 1 << 20);
    CHECK_EQ(tuner_save(t, out, &err), 1);
    tuner_free(t);
}

/* A trial that reports its result and then dies has a result: the part that
 * did not suggest it is not told of a failure as well. */
TEST(auto_counts_no_failure_behind_a_result)
{
    struct space *space = help_space(NESTED);
    struct buf well, badly;

    save_after_ends(space, TP_ENDED_SUCCEEDED, &well);
    save_after_ends(space, TP_ENDED_FAILED, &badly);
    CHECK_EQ(well.len, badly.len);
    CHECK(memcmp(well.data, badly.data, well.len) == 0);
    buf_fini(&well);
    buf_fini(&badly);
    space_free(space);
}
