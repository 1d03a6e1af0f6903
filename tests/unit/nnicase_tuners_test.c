/* SPDX-License-Identifier: MIT */
/* The cases of NNI's own test_builtin_tuners.py, with the search spaces of its
 * assets/search_space.json and of test_hyperopt_tuner.py. */
#include "nnicase_help.h"

#include <math.h>

static const struct {
    const char *name, *spec;
} spaces[] = {
    {"choice_str", SPEC("choice", ANIMALS)},
    {"choice_int", SPEC("choice", "42, 43, -1")},
    {"choice_mixed", SPEC("choice", "0.3, \"cat\", 1, null")},
    {"choice_float", SPEC("choice", "0.3, 1.5, -2.25")},
    {"choice_single", SPEC("choice", "1")},
    {"randint", SPEC("randint", "-2, 3")},
    {"randint_single", SPEC("randint", "10, 11")},
    {"uniform", SPEC("uniform", "-1, 1.5")},
    {"uniform_equal", SPEC("uniform", "99.9, 99.9")},
    {"quniform", SPEC("quniform", "0, 10, 2.5")},
    {"quniform_clipped", SPEC("quniform", "2, 10, 5")},
    {"quniform_wide", SPEC("quniform", "-5.5, -0.5, 6")},
    {"loguniform", SPEC("loguniform", "0.001, 100")},
    {"loguniform_equal", SPEC("loguniform", "1, 1")},
    {"qloguniform", SPEC("qloguniform", "0.001, 100, 1")},
    {"qloguniform_equal", SPEC("qloguniform", "2, 2, 1")},
    {"normal", SPEC("normal", "-1, 5")},
    {"qnormal", SPEC("qnormal", "-1.5, 5, 0.1")},
    {"lognormal", SPEC("lognormal", "-1, 5")},
    {"qlognormal", SPEC("qlognormal", "-1.5, 5, 0.1")},
};
#define N_SPACES (sizeof spaces / sizeof *spaces)

static double
number(struct jval array, size_t i)
{
    double x = NAN;

    CHECK(jval_number(jval_at(array, i), &x));
    return x;
}

/* Inside the bounds, and, between them, a multiple of q. */
static void
check_number(const char *type, struct jval range, double x)
{
    bool rounded = type[0] == 'q';

    CHECK(isfinite(x));
    if (strstr(type, "log") != NULL)
        CHECK(x >= 0);
    if (strstr(type, "uniform") != NULL) {
        double low = number(range, 0), high = number(range, 1);

        CHECK(x >= low && x <= high);
        rounded = rounded && x > low && x < high;
    }
    if (rounded) {
        double q = number(range, 2), by = x / q;

        CHECK(fabs(by - round(by)) * q < 1e-7 * fmax(1, fabs(x)));
    }
}

static void
check_value(struct jval spec, struct jval value)
{
    struct jval range = member(spec, "_value");
    const char *type;
    bool found = false;
    int64_t i;
    double x;

    CHECK(jval_string(member(spec, "_type"), &type, NULL));
    if (strcmp(type, "choice") == 0) {
        for (size_t k = 0; k < jval_count(range); k++)
            found = found || jval_equal(jval_at(range, k), value);
        CHECK(found);
    } else if (strcmp(type, "randint") == 0) {
        CHECK(jval_int(value, &i));
        CHECK((double)i >= number(range, 0) && (double)i < number(range, 1));
    } else {
        CHECK(jval_double(value, &x));
        check_number(type, range, x);
    }
}

/* Asks for n; returns how many came, each of which lies in the space, and
 * reports on them. */
static size_t
round_of(struct drive *d, struct jval space, size_t n, bool batch)
{
    char *sent = strdup(drive_send(d, "GE", "%zu", n));
    struct json *doc;
    size_t k = 0;

    for (; (doc = suggestion(sent, k)) != NULL; k++) {
        struct jval parameters = member(json_root(doc), "parameters");
        struct jval_iter it = jval_iter(space);
        int64_t id;

        CHECK(jval_int(member(json_root(doc), "parameter_id"), &id));
        if (!batch)
            CHECK_EQ(jval_count(parameters), jval_count(space));
        while (jval_next(&it))
            check_value(it.value,
                        batch ? parameters : member(parameters, it.key));
        report(d, id);
        json_free(doc);
    }
    CHECK_EQ(strstr(sent, " NO ") != NULL, k < n);
    free(sent);
    return k;
}

static void
check_space(size_t tuner, const char *space)
{
    struct json *doc = json_parse(space, strlen(space), JSON_STRICT, NULL);
    bool batch = strcmp(tuners[tuner].name, "BatchTuner") == 0;
    struct drive d;

    printf("# %s: %s\n", tuners[tuner].name, space);
    CHECK(doc != NULL);
    drive_setup(&d, tuners[tuner].name, tuners[tuner].args, NULL, NULL);
    drive_start(&d);
    if (strchr(drive_send(&d, "IN", "%s", space), 'I') == NULL) {
        CHECK(batch); /* it takes one choice, and nothing else */
        CHECK_HAS(drive_lines(&d), "command 1 (IN): ");
    } else {
        for (int k = 0; k < 3; k++) {
            size_t n = round_of(&d, json_root(doc), 50, batch);

            CHECK(n == 50 || tuners[tuner].ends);
            CHECK(n > 0 || k > 0);
        }
        CHECK_EQ(d.failed, 0);
    }
    drive_stop(&d);
    json_free(doc);
}

/* Each type alone, and all of them. */
static void
check_tuner(const char *name)
{
    char space[1000];
    struct buf all;
    size_t t = 0;

    while (strcmp(tuners[t].name, name) != 0)
        t++;
    buf_init(&all, 100000);
    for (size_t i = 0; i < N_SPACES; i++) {
        snprintf(space, sizeof space, "\"%s\": %s}", spaces[i].name,
                 spaces[i].spec);
        buf_printf(&all, "%s%.*s", i > 0 ? ", " : "{", (int)strlen(space) - 1,
                   space);
        memmove(space + 1, space, strlen(space) + 1);
        space[0] = '{';
        check_space(t, space);
    }
    buf_add_char(&all, '}');
    check_space(t, buf_text(&all));
    buf_fini(&all);
}

TEST(nni_test_builtin_tuners_tpe)
{
    check_tuner("TPE");
}

TEST(nni_test_builtin_tuners_random)
{
    check_tuner("Random");
}

TEST(nni_test_builtin_tuners_grid_search)
{
    check_tuner("GridSearch");
}

TEST(nni_test_builtin_tuners_batch)
{
    check_tuner("BatchTuner");
}

TEST(nni_test_builtin_tuners_anneal)
{
    check_tuner("Anneal");
}

TEST(nni_test_builtin_tuners_evolution)
{
    check_tuner("Evolution");
}

TEST(nni_test_builtin_tuners_regularized_evolution)
{
    check_tuner("RegularizedEvolution");
}

/* Twelve members: more are owed until all twelve have ended. */
TEST(nni_test_builtin_tuners_pbt)
{
    struct drive d;

    check_tuner("PBT");
    drive_setup(&d, "PBT", "{\"population_size\": 12}", NULL, NULL);
    drive_start(&d);
    drive_send(&d, "IN", "{\"x\": %s}", SPEC("uniform", "0, 1"));
    CHECK_EQ(suggestions(drive_send(&d, "GE", "30")), 12);
    for (int id = 0; id < 12; id++) {
        char job[32];

        snprintf(job, sizeof job, "job%d", id);
        CHECK_EQ(suggestions(drive_final(&d, id, job, "0.5")), 0);
        CHECK_EQ(suggestions(drive_end(&d, id, job, "SUCCEEDED")),
                 id < 11 ? 0 : 12);
    }
    drive_stop(&d);
}

/* randint [0, 0] has no value. */
TEST(nni_test_builtin_tuners_fail_randint)
{
    for (size_t t = 0; t < N_TUNERS; t++) {
        struct drive d;

        drive_setup(&d, tuners[t].name, tuners[t].args, NULL, NULL);
        drive_start(&d);
        CHECK_STR(drive_send(&d, "IN", "{\"x\": %s}", SPEC("randint", "0, 0")),
                  "");
        CHECK_HAS(drive_lines(&d), "x._value: is from 0 to 0, expected low < "
                                   "high");
        drive_stop(&d);
    }
}

TEST(nni_test_hyperopt_tuner_randint)
{
    static const char space[] = "{\"a\": " SPEC(
        "randint", "1, 3") ", \"b\": " SPEC("choice", "0.1, 2, \"c\", 0.4") "}";
    struct json *doc = json_parse(space, strlen(space), JSON_STRICT, NULL);
    struct drive d;

    drive_setup(&d, "Anneal", NULL, NULL, NULL);
    drive_start(&d);
    drive_send(&d, "IN", "%s", space);
    CHECK_EQ(round_of(&d, json_root(doc), 30, false), 30);
    drive_stop(&d);
    json_free(doc);
}
