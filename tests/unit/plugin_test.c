/* SPDX-License-Identifier: MIT */
#include "plugin/tuner.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/problems.h"
#include "plugin/assessor.h"
#include "plugin/floatenv.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "space/space.h"
#include "t.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct jval no_args; /* null */

static struct plugin_paths *
paths_of(const char *option)
{
    struct err err;
    struct plugin_paths *paths = plugin_paths_new(option, &err);

    CHECK(paths != NULL);
    return paths;
}

static struct json *
json_of(const char *text)
{
    struct err err = {0};
    struct json *doc = json_parse(text, strlen(text), 0, &err);

    CHECK_STR(err.text, "");
    return doc;
}

static struct space *
space_of(const char *text)
{
    struct json *doc = json_of(text);
    struct problems problems;
    struct space *s;

    problems_init(&problems);
    s = space_parse(json_root(doc), &problems);
    CHECK_STR(buf_text(&problems.lines), "");
    problems_fini(&problems);
    json_free(doc);
    return s;
}

#define LINE "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]}}"

/* A test tuner with these arguments (JSON) and the seed 5. */
static struct tuner *
tuner_of(const char *name, const char *args, struct err *err)
{
    struct plugin_paths *paths = paths_of(t_build("tests/plugins"));
    struct json *doc = json_of(args);
    struct tuner *t = tuner_new(paths, name, json_root(doc), 5, NULL, err);

    plugin_paths_free(paths);
    json_free(doc);
    return t;
}

TEST(plugin_loads_a_newer_and_longer_table)
{
    struct err err = {0};
    struct tuner *t = tuner_of("newer", "{}", &err);
    struct buf b;

    CHECK_STR(err.text, "");
    CHECK_EQ(tuner_plugin(t)->n_args, 2);
    CHECK_STR(tuner_plugin(t)->args[1].name, "second");
    buf_init(&b, 4096);
    tuner_describe(t, &b);
    CHECK_STR(buf_text(&b),
              "{\"name\": \"newer\", \"version\": 7, \"file\": \"newer.so\", "
              "\"seed\": 5, \"arguments\": {\"first\": 1, \"second\": "
              "\"b\"}}");
    buf_fini(&b);
    tuner_free(t);
}

static void
check_new_fails(const char *name, const char *args, enum err_code code,
                const char *want)
{
    struct err err;

    CHECK(tuner_of(name, args, &err) == NULL);
    CHECK_STR(err.text, want);
    CHECK_EQ(err.code, code);
}

TEST(plugin_that_does_not_start_says_why)
{
    check_new_fails("create_fails", "{}", ERR_PLUGIN,
                    "tuner create_fails: create: no licence for 64 cores");
    check_new_fails("config_fails", "{}", ERR_PLUGIN,
                    "tuner config_fails: config: a and b do not go together");
    check_new_fails("every_arg", "{\"on\": 3, \"count\": 0}", ERR_CONFIG,
                    "tuner every_arg: classArgs.on: is 3, expected true or "
                    "false; tuner every_arg: classArgs.count: is 0, expected "
                    "an integer, at least 1, at most 100");
}

TEST(plugin_gets_its_arguments_and_logs_with_its_name)
{
    struct plugin_paths *paths = paths_of(t_build("tests/plugins"));
    struct json *doc = json_of("{\"seed\": 77, \"path\": \"p\", \"net\": "
                               "{\"deep\": {\"mode\": \"mean\"}}}");
    struct log log = {.most = LOG_INFO, .name = "tunepipe"};
    struct err err = {0};
    struct tuner *t;
    char text[256] = "";
    int pipes[2];

    CHECK(pipe(pipes) == 0);
    log.fd = pipes[1];
    t = tuner_new(paths, "every_arg", json_root(doc), 5, &log, &err);
    json_free(doc);
    plugin_paths_free(paths);
    CHECK_STR(err.text, "");
    CHECK(tuner_seed(t) == 77);
    CHECK(read(pipes[0], text, sizeof text - 1) > 0);
    CHECK_STR(text, "tunepipe: tuner every_arg: 6: 20 0.5 1 mean a seed p\n");
    tuner_free(t);
}

/* Asks for one id in the space LINE. */
static int
ask(struct tuner *t, uint64_t id, char **label, struct err *err)
{
    double x[1];

    return tuner_ask(t, id, x, label, err);
}

static void
check_ask_fails(const char *name, const char *args, const char *want)
{
    struct space *space = space_of(LINE);
    struct err err = {0};
    struct tuner *t = tuner_of(name, args, &err);
    char *label;

    CHECK_STR(err.text, "");
    CHECK(tuner_space(t, space, &err) == 0);
    CHECK_EQ(ask(t, 3, &label, &err), TP_ERR);
    CHECK(label == NULL);
    CHECK_EQ(err.code, ERR_PLUGIN);
    CHECK_HAS(err.text, want);
    tuner_free(t);
    space_free(space);
}

TEST(plugin_failing_in_ask_is_named)
{
    check_ask_fails("ask_fails", "{}",
                    "tuner ask_fails: ask: the matrix is singular at 3");
    check_ask_fails("ask_silent", "{}",
                    "tuner ask_silent: ask: failed and did not say why");
    check_ask_fails("returns_99", "{}",
                    "tuner returns_99: ask: returned 99, expected TP_OK (0), "
                    "TP_LATER (1), TP_DONE (2) or TP_ERR (-1)");
    check_ask_fails("bad_point", "{}", "tuner bad_point: ask: ");
    check_ask_fails("bad_point", "{\"replace\": true}",
                    "tuner bad_point: ask: it replaced out->x");
    check_ask_fails("labels", "{\"label\": \"a\\nb\"}",
                    "tuner labels: ask: label 'a b' is not printable ASCII");
    check_ask_fails("labels", "{\"label\": \"\"}",
                    "tuner labels: ask: label '' has 0 bytes, expected 1 to "
                    "255");
}

TEST(plugin_may_say_later_to_ask_only)
{
    struct space *space = space_of(LINE);
    struct tp_result result = {.how = TP_RESULT_FINAL, .value = 1};
    double x[1] = {0.5};
    struct err err = {0};
    struct tuner *t = tuner_of("returns_99", "{}", &err);

    CHECK(tuner_space(t, space, &err) == 0);
    CHECK(tuner_tell(t, 0, x, &result, &err) == -1);
    CHECK_STR(err.text, "tuner returns_99: tell: returned 1, expected TP_OK "
                        "(0) or TP_ERR (-1)");
    tuner_free(t);
    space_free(space);
}

TEST(plugin_cannot_change_the_point_it_is_told_of)
{
    struct space *space = space_of(LINE);
    struct tp_result result = {.how = TP_RESULT_FINAL, .value = 1};
    double x[1] = {0.5};
    struct err err = {0};
    struct tuner *t = tuner_of("mistuner", "{\"how\": \"tell x\"}", &err);

    CHECK(tuner_space(t, space, &err) == 0);
    CHECK(tuner_tell(t, 1, x, &result, &err) == 0);
    CHECK(tuner_tell(t, 2, x, &result, &err) == -1);
    CHECK_EQ(err.code, ERR_PLUGIN);
    CHECK_STR(err.text, "tuner mistuner: tell: it changed the x it was lent, "
                        "expected to work on a copy");
    CHECK(x[0] == 0.5);
    tuner_free(t);
    t = tuner_of("mistuner", "{\"how\": \"ended x\"}", &err);
    CHECK(tuner_space(t, space, &err) == 0);
    CHECK(tuner_ended(t, 2, x, TP_ENDED_FAILED, &err) == -1);
    CHECK_STR(err.text, "tuner mistuner: ended: it changed the x it was lent, "
                        "expected to work on a copy");
    CHECK(x[0] == 0.5);
    tuner_free(t);
    t = tuner_of("mistuner", "{\"how\": \"sizes\"}", &err);
    CHECK(tuner_space(t, space, &err) == 0);
    CHECK(tuner_tell(t, 2, x, &result, &err) == 0);
    CHECK_EQ(result.how, TP_RESULT_FINAL);
    tuner_free(t);
    space_free(space);
}

TEST(plugin_without_a_space_is_not_called)
{
    struct space *bad = space_of(LINE);
    struct space *good = space_of("{\"good\": {\"_type\": \"uniform\", "
                                  "\"_value\": [0, 1]}}");
    struct err err = {0};
    struct tuner *t = tuner_of("space_fails", "{}", &err);
    char *label;

    CHECK(ask(t, 0, &label, &err) == -1);
    CHECK_STR(err.text, "tuner space_fails: ask: it has no search space");
    CHECK(tuner_space(t, bad, &err) == -1);
    CHECK_STR(err.text, "tuner space_fails: space: no dimension 'good'");
    CHECK(ask(t, 0, &label, &err) == -1);
    CHECK(tuner_space(t, good, &err) == 0);
    CHECK(ask(t, 0, &label, &err) == TP_OK);
    CHECK(tuner_space(t, bad, &err) == -1); /* it goes on with the good one */
    CHECK_STR(err.text, "tuner space_fails: space: no dimension 'good'");
    space_free(bad);
    CHECK(ask(t, 1, &label, &err) == TP_OK);
    tuner_free(t);
    space_free(good);
}

TEST(plugin_answers_later_done_and_labels)
{
    struct space *space = space_of(LINE);
    double x[1] = {0.5};
    struct err err = {0};
    struct tuner *later = tuner_of("later", "{}", &err);
    struct tuner *done = tuner_of("done", "{\"count\": 1}", &err);
    struct tuner *labels = tuner_of("labels", "{}", &err);
    char *label;

    CHECK(tuner_space(later, space, &err) == 0);
    CHECK(tuner_space(done, space, &err) == 0);
    CHECK(tuner_space(labels, space, &err) == 0);
    CHECK(ask(later, 0, &label, &err) == TP_OK);
    CHECK(ask(later, 1, &label, &err) == TP_LATER);
    CHECK(tuner_ended(later, 0, x, TP_ENDED_SUCCEEDED, &err) == 0);
    CHECK(ask(later, 1, &label, &err) == TP_OK);
    CHECK(label == NULL);
    CHECK(ask(done, 0, &label, &err) == TP_OK);
    CHECK(ask(done, 1, &label, &err) == TP_DONE);
    CHECK(ask(labels, 7, &label, &err) == TP_OK);
    CHECK_STR(label, "0-7");
    free(label);
    tuner_free(later);
    tuner_free(done);
    tuner_free(labels);
    space_free(space);
}

/* Nothing is flushed to zero, and the x87 rounds as it should. */
static bool
environment_is_default(void)
{
    volatile double least = 2.2250738585072014e-308;
    volatile long double third = 1, three = 3;

    third /= three;
    return least / 4 > 0 && fegetround() == FE_TONEAREST &&
           (long double)(float)third != third;
}

TEST(plugin_does_not_change_the_floating_point_environment)
{
    struct space *space = space_of(LINE);
    struct tp_result result = {.how = TP_RESULT_FINAL, .value = 1};
    double x[1] = {0.5};
    struct err err = {0};
    struct tuner *t = tuner_of("flushes", "{}", &err);
    char *label;

    CHECK_STR(err.text, "");
    CHECK(environment_is_default());
    CHECK(tuner_space(t, space, &err) == 0);
    CHECK(ask(t, 0, &label, &err) == TP_OK);
    CHECK(environment_is_default());
    CHECK(tuner_tell(t, 0, x, &result, &err) == 0);
    CHECK(environment_is_default());
    fesetround(FE_UPWARD);
    floatenv_restore();
    CHECK(environment_is_default());
    tuner_free(t);
    space_free(space);
}

static struct assessor *
assessor_of(const char *name, struct err *err)
{
    struct plugin_paths *paths = paths_of(t_build("tests/plugins"));
    struct assessor *a = assessor_new(paths, name, no_args, 5, NULL, err);

    plugin_paths_free(paths);
    return a;
}

TEST(plugin_assessor_verdicts_are_checked)
{
    double values[3] = {1, 2, 3};
    void *slot = NULL;
    struct tp_history h = {.values = values, .slot = &slot};
    struct err err = {0};
    struct assessor *stops = assessor_of("stops_at", &err);
    struct assessor *fails = assessor_of("assess_fails", &err);
    struct tp_verdict v;

    h.n = 1;
    CHECK(assessor_assess(stops, &h, &v, &err) == 0);
    CHECK(v.decision == TP_GO && isnan(v.value) && isnan(v.threshold));
    CHECK(v.rule == NULL);
    h.n = 2;
    CHECK(assessor_assess(stops, &h, &v, &err) == 0);
    CHECK(v.decision == TP_STOP && v.value == 2 && v.threshold == 2);
    CHECK_STR(v.rule, "it is time");
    CHECK(assessor_ended(stops, &h, TP_TRIAL_STOPPED, &err) == 0);

    CHECK(assessor_assess(fails, &h, &v, &err) == -1);
    CHECK_STR(err.text, "assessor assess_fails: assess: value 2 is odd");
    CHECK(v.decision == TP_GO && v.rule == NULL);
    h.n = 3;
    CHECK(assessor_assess(fails, &h, &v, &err) == -1);
    CHECK_STR(err.text, "assessor assess_fails: assess: decision is 7, "
                        "expected TP_GO (0) or TP_STOP (1)");
    CHECK(v.decision == TP_GO && v.rule == NULL);
    assessor_free(stops);
    assessor_free(fails);
}

TEST(plugin_assessor_medianstop_works_from_its_file)
{
    struct plugin_paths *paths = paths_of(t_build("plugins"));
    struct json *doc = json_of("{\"optimize_mode\": \"minimize\"}");
    double first[] = {3, 2}, second[] = {4, 2.6};
    void *slots[2] = {NULL, NULL};
    struct tp_history a = {.values = first, .n = 2, .slot = &slots[0]};
    struct tp_history b = {.values = second, .n = 1, .slot = &slots[1]};
    struct err err = {0};
    struct assessor *m =
        assessor_new(paths, "Medianstop", json_root(doc), 0, NULL, &err);
    struct tp_verdict v;

    CHECK_STR(err.text, "");
    CHECK(assessor_assess(m, &a, &v, &err) == 0);
    CHECK(v.decision == TP_GO);
    CHECK(assessor_ended(m, &a, TP_TRIAL_SUCCEEDED, &err) == 0);
    CHECK(slots[0] == NULL);
    CHECK(assessor_assess(m, &b, &v, &err) == 0);
    CHECK(v.decision == TP_STOP && v.value == 4 && v.threshold == 3);
    CHECK_STR(v.rule, "best value above the median of averages");
    b.n = 2; /* 2.6 against the average 2.5 */
    CHECK(assessor_assess(m, &b, &v, &err) == 0);
    CHECK(v.decision == TP_STOP && v.value == 2.6 && v.threshold == 2.5);
    assessor_free(m); /* b never ended */
    json_free(doc);
    plugin_paths_free(paths);
}
