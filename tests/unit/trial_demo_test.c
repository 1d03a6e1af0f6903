/* SPDX-License-Identifier: MIT */
/* The demo's files fit the program. */
#include "t.h"

#include "config/configuration.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/problems.h"
#include "json.h"
#include "space/space.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

NOT_UNDER_TSAN;

static void
check_space(const char *json)
{
    struct json *doc;
    struct problems problems;
    struct space *space;
    struct err err;

    err_clear(&err);
    doc = json_parse(json, strlen(json), 0, &err);
    CHECK_STR(err.text, "");
    problems_init(&problems);
    space = space_parse(json_root(doc), &problems);
    CHECK_STR(buf_text(&problems.lines), "");
    CHECK_EQ(space_dims(space)->n_dims, 7);
    space_free(space);
    problems_fini(&problems);
    json_free(doc);
}

TEST(trial_demo_configuration_reads)
{
    struct problems problems;
    struct experiment *x;
    struct err err;

    err_clear(&err);
    problems_init(&problems);
    x = experiment_read(t_source("scripts/demo/experiment.yml"), EXPERIMENT_RUN,
                        &problems, NULL, &err);
    CHECK_STR(buf_text(&problems.lines), "");
    CHECK(x != NULL);
    CHECK_STR(x->trial_command.text, "./mlp-digits digits.csv");
    CHECK_STR(x->trial_folder, x->folder);
    CHECK_STR(x->tuner.name, "random");
    CHECK_STR(x->assessor.name, "medianstop");
    CHECK_EQ(x->concurrency, 2);
    CHECK_EQ(x->max_trials, 40);
    CHECK(x->has_seed && x->seed == 2026);
    CHECK(!x->minimize);
    check_space(x->search_space);
    experiment_free(x);
    problems_fini(&problems);
}

static int
shell(const char *fmt, ...)
{
    char command[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    return system(command);
}

TEST(trial_demo_learns_and_repeats_itself)
{
    static const char parameters[] =
        "learning_rate\t0.3\nhidden_units\t40.0\nmomentum\t0.2\n"
        "weight_decay\t1e-05\nactivation/_name\tsigmoid\n"
        "activation/gain\t1.5\n";
    struct buf b;

    CHECK_EQ(shell("gzip -dc '%s' > digits.csv",
                   t_source("scripts/demo/digits.csv.gz")),
             0);
    for (int i = 1; i <= 2; i++) {
        char path[] = "1/parameters.tsv";

        CHECK_EQ(shell("mkdir %d", i), 0);
        path[0] = (char)('0' + i);
        CHECK_EQ(file_write(path, parameters, strlen(parameters), NULL), 0);
        CHECK_EQ(shell("TUNEPIPE_TRIAL_DIR=%d TUNEPIPE_SEED=7 '%s' digits.csv",
                       i, t_build("demo/mlp-digits")),
                 0);
    }
    CHECK_EQ(shell("cmp 1/metrics 2/metrics"), 0);
    CHECK_EQ(shell("test $(grep -c '^intermediate ' 1/metrics) = 30"), 0);
    CHECK_EQ(shell("test $(grep -c '^final ' 1/metrics) = 1"), 0);
    buf_init(&b, 100000);
    CHECK_EQ(file_read("1/metrics", 10000, &b, NULL), 0);
    CHECK(atof(strstr(buf_text(&b), "final ") + 6) >= 96);
    buf_fini(&b);
}

TEST(trial_demo_refuses_bad_parameters)
{
    static const char *const bad[][2] = {
        {"learning_rate\tfast\n", "'learning_rate' is 'fast', not a number"},
        {"momentum\t1.5\n", "momentum: expected a number from 0 to 0.9999"},
        {"activation/_name\tsine\n", "tanh or sigmoid, not sine"},
        {"hidden_units\t0\n", "hidden_units: expected a number from 1"},
        {"", "cannot open digits.csv"},
    };

    CHECK_EQ(shell("mkdir trial"), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct buf b;

        CHECK_EQ(file_write("trial/parameters.tsv", bad[i][0],
                            strlen(bad[i][0]), NULL),
                 0);
        CHECK_EQ(shell("TUNEPIPE_TRIAL_DIR=trial '%s' digits.csv 2>message; "
                       "test $? = 1",
                       t_build("demo/mlp-digits")),
                 0);
        buf_init(&b, 100000);
        CHECK_EQ(file_read("message", 4000, &b, NULL), 0);
        CHECK_HAS(buf_text(&b), bad[i][1]);
        CHECK(strchr(buf_text(&b), '\n')[1] == '\0');
        buf_fini(&b);
    }
}
