/* SPDX-License-Identifier: MIT */
#include "plugin/loader.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "core/problems.h"
#include "plugin/assessor.h"
#include "plugin/floatenv.h"
#include "plugin/paths.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "t.h"

#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct jval no_args; /* null */

static const char *
test_so(const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "tests/plugins/%s.so", name);
    return t_build(path);
}

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

/* Loading NAME fails with "FILE: WANT". */
static void
check_refused(const char *name, int kinds, const char *want)
{
    const char *file = test_so(name);
    struct err err = {0};
    struct plugin *p = plugin_load_file(file, kinds, &err);

    CHECK(p == NULL);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK(strncmp(err.text, file, strlen(file)) == 0);
    CHECK_STR(err.text + strlen(file), want);
}

TEST(plugin_refuses_a_bad_table_naming_file_and_member)
{
    check_refused("no_ask", PLUGIN_ANY, ": tuner needs .ask");
    check_refused("no_assess", PLUGIN_ANY, ": assessor needs .assess");
    check_refused("bad_magic", PLUGIN_ANY,
                  ": not a table of a tuner (_magic is 0x12345678, expected "
                  "0x48505431)");
    check_refused("bad_abi", PLUGIN_ANY,
                  ": built for plugin ABI 2, this program has 1: build it "
                  "again with its headers");
    check_refused("too_short", PLUGIN_ANY,
                  ": its table has 104 bytes (_struct_size), a tuner of ABI 1 "
                  "at least 120");
    check_refused("null_table", PLUGIN_ANY, ": its tuner table is NULL");
    check_refused("bad_name", PLUGIN_ANY,
                  ": .name is 'Bad Name', expected 1 to 64 of a-z, 0-9, '_' "
                  "and '-'");
    check_refused("bad_default", PLUGIN_ANY,
                  ": argument 'gamma': default: is 30, expected an integer, "
                  "at least 1, at most 20");
    check_refused("not_a_plugin", PLUGIN_ANY,
                  ": no plugin of tunepipe (it exports neither tunepipe_tuner "
                  "nor tunepipe_assessor)");
    check_refused("undefined", PLUGIN_ANY,
                  ": undefined symbol: tests_nobody_has_this");
    check_refused("stops_at", PLUGIN_TUNER,
                  ": is an assessor, expected a tuner");
    check_refused("done", PLUGIN_ASSESSOR,
                  ": is a tuner, expected an assessor");
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
copy(const char *from, const char *to, mode_t mode)
{
    struct err err = {0};
    struct buf b;

    buf_init(&b, 64 << 20);
    CHECK(file_read(from, 64 << 20, &b, &err) == 0);
    CHECK(file_write(to, b.data, b.len, &err) == 0);
    CHECK(chmod(to, mode) == 0);
    buf_fini(&b);
}

TEST(plugin_refuses_what_anyone_may_write_to)
{
    struct plugin *p;
    struct err err;

    mkdir("folder", 0700);
    copy(test_so("done"), "folder/a.so", 0602);
    CHECK(plugin_load_file("folder/a.so", PLUGIN_ANY, &err) == NULL);
    CHECK_HAS(err.text, "folder/a.so: not loaded, anyone may write to it: "
                        "chmod o-w /");
    chmod("folder/a.so", 0600);
    chmod("folder", 0777);
    CHECK(plugin_load_file("folder/a.so", PLUGIN_ANY, &err) == NULL);
    CHECK_STR(err.text, "folder/a.so: not loaded, anyone may write to its "
                        "folder: chmod o-w folder");
    CHECK(symlink("folder/a.so", "link.so") == 0);
    CHECK(plugin_load_file("./link.so", PLUGIN_ANY, &err) == NULL);
    CHECK_HAS(err.text, "./link.so: not loaded, anyone may write to its "
                        "folder: chmod o-w /");
    chmod("folder", 01777); /* sticky, like /tmp */
    p = plugin_load_file("./link.so", PLUGIN_ANY, &err);
    CHECK(p != NULL);
    plugin_unload(p);
    CHECK(plugin_load_file("none.so", PLUGIN_ANY, &err) == NULL);
    CHECK_STR(err.text, "none.so: cannot load: No such file or directory");
    mkdir("dir.so", 0700);
    CHECK(plugin_load_file("dir.so", PLUGIN_ANY, &err) == NULL);
    CHECK_STR(err.text, "dir.so: cannot load: not a regular file");
}

TEST(plugin_is_found_by_name_file_and_older_name)
{
    static const char *const names[] = {"DONE", "done", "DoneTuner",
                                        "./plugins/done.so"};
    struct plugin_paths *paths = paths_of("nowhere::plugins");
    struct err err = {0};

    mkdir("plugins", 0700);
    copy(test_so("done"), "plugins/done.so", 0600);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct plugin *p = plugin_load(paths, PLUGIN_TUNER, names[i], &err);

        CHECK_STR(err.text, "");
        CHECK_STR(p->name, "done");
        CHECK_HAS(p->file, "plugins/done.so");
        plugin_unload(p);
    }
    CHECK(chdir("plugins") == 0);
    plugin_unload(plugin_load(paths, PLUGIN_TUNER, "done.so", &err));
    CHECK_STR(err.text, "");
    plugin_paths_free(paths);
}

TEST(plugin_path_goes_before_the_environment)
{
    struct plugin_paths *paths;
    struct plugin_list list;
    struct err err;
    char *file;

    mkdir("first", 0700);
    mkdir("second", 0700);
    copy(test_so("done"), "first/b.so", 0600);
    copy(test_so("done"), "second/a.so", 0600);
    copy(test_so("done"), "second/b.so", 0600);
    copy(test_so("done"), "second/readme.txt", 0600);
    setenv("TUNEPIPE_PLUGIN_PATH", "second", 1);
    paths = paths_of("first");
    CHECK(plugin_paths_count(paths) >= 2);
    CHECK_STR(plugin_paths_at(paths, 0), "first");
    CHECK_STR(plugin_paths_at(paths, 1), "second");
    file = plugin_paths_find(paths, "b", &err);
    CHECK_STR(file, "first/b.so");
    CHECK(plugin_paths_list(paths, &list, &err) == 0);
    CHECK(list.n >= 2);
    CHECK_STR(list.files[0], "second/a.so");
    CHECK_STR(list.files[1], "first/b.so");
    plugin_list_free(&list);
    free(file);
    plugin_paths_free(paths);
}

TEST(plugin_that_is_unknown_lists_those_there_are)
{
    struct plugin_paths *paths = paths_of("plugins");
    struct err err;

    CHECK(plugin_load(paths, PLUGIN_TUNER, "randm", &err) == NULL);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_HAS(err.text, "no plugin 'randm' in plugins, ");
    mkdir("plugins", 0700);
    copy(t_build("plugins/random.so"), "plugins/random.so", 0600);
    copy(t_build("plugins/medianstop.so"), "plugins/medianstop.so", 0600);
    copy(test_so("done"), "plugins/done.so", 0600);
    copy(test_so("no_ask"), "plugins/no_ask.so", 0600);
    CHECK(plugin_load(paths, PLUGIN_TUNER, "randm", &err) == NULL);
    CHECK_STR(err.text, "no tuner 'randm' (did you mean 'random'?); there "
                        "are: done, random");
    CHECK(plugin_load(paths, PLUGIN_ASSESSOR, "", &err) == NULL);
    CHECK_STR(err.text, "no assessor ''; there are: medianstop");
    plugin_paths_free(paths);
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

TEST(plugin_error_text_is_that_of_this_call)
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

TEST(plugin_without_a_space_is_not_asked)
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
    CHECK(tuner_space(t, bad, &err) == -1);
    CHECK(ask(t, 1, &label, &err) == -1);
    tuner_free(t);
    space_free(bad);
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
