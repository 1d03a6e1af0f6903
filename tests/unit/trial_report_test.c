/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "trial/files.h"
#include "trial/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

NOT_UNDER_TSAN;

TEST(trial_report_takes_numbers_and_objects)
{
    static const char *const good[] = {
        "0.93",
        "-1",
        "1e-5",
        "0",
        "-0.5E+3",
        " 7\n",
        "NaN",
        "-Infinity",
        "{\"default\": 1}",
        "{\"a\": [1, {\"default\": \"x\"}], \"default\":NaN}",
        "{\"x\": \"default\", \"default\" :\n-2.5 , \"y\": \"}\\\"\"}",
    };

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct err err;

        err_clear(&err);
        if (report_check(good[i], REPORT_FINAL, &err) != 0)
            CHECK_STR(err.text, good[i]);
    }
}

TEST(trial_report_refuses_what_is_no_metric)
{
    static const char *const bad[][2] = {
        {"", "expected a number"},
        {"abc", "metric 'abc': expected a number"},
        {"1.", "expected a number"},
        {".5", "expected a number"},
        {"+1", "expected a number"},
        {"007", "expected a number"},
        {"0x10", "expected a number"},
        {"nan", "expected a number"},
        {"1 2", "expected a number"},
        {"--final", "expected a number"},
        {"[1]", "expected a number"},
        {"\"1\"", "expected a number"},
        {"{\"loss\": 1}", "has no member \"default\""},
        {"{\"a\": {\"default\": 1}}", "has no member \"default\""},
        {"{\"default\": \"1\"}", "\"default\" is no number"},
        {"{\"default\": }", "\"default\" is no number"},
        {"{\"default\": 1", "no JSON object"},
        {"{\"default\": 1]", "no JSON object"},
        {"{\"default\": 1} x", "no JSON object"},
        {"{\"default\": 1, \"x", "no JSON object"},
        {"{\"default\": 1, \"x\\", "no JSON object"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err err;

        CHECK_EQ(report_check(bad[i][0], REPORT_FINAL, &err), -1);
        CHECK_EQ(err.code, ERR_INPUT);
        CHECK_HAS(err.text, bad[i][1]);
    }
}

TEST(trial_report_refuses_deep_nesting)
{
    char text[512] = "{\"default\": 1, \"x\": ";
    struct err err;

    memset(text + strlen(text), '[', 100);
    CHECK_EQ(report_check(text, REPORT_FINAL, &err), -1);
    CHECK_HAS(err.text, "no JSON object");
}

/* With names of values a final result has to have all, any other one. */
TEST(trial_report_knows_the_names_of_values)
{
    static const struct {
        const char *json;
        enum report_type type;
        const char *want; /* NULL: it is fine */
    } cases[] = {
        {"{\"accuracy\": 1, \"latency ms\": 2}", REPORT_FINAL, NULL},
        {"{\"x\": \"\", \"latency ms\": NaN, \"accuracy\": 1}", REPORT_DONE,
         NULL},
        {"{\"accuracy\": 1}", REPORT_INTERMEDIATE, NULL},
        {"{\"accuracy\": 1}", REPORT_FINAL,
         "has no value 'latency ms': expected one for each objective"},
        {"{\"default\": 1}", REPORT_INTERMEDIATE, "has no value 'accuracy'"},
        {"1", REPORT_INTERMEDIATE, "has no value 'accuracy'"},
        {"{\"accuracy\": \"1\"}", REPORT_INTERMEDIATE,
         "the value \"accuracy\" is no number"},
    };
    struct err err;

    setenv(TRIAL_ENV_OBJECTIVES, "accuracy,latency ms", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_clear(&err);
        CHECK_EQ(report_check(cases[i].json, cases[i].type, &err),
                 cases[i].want != NULL ? -1 : 0);
        CHECK_HAS(err.text, cases[i].want != NULL ? cases[i].want : "");
    }
    setenv(TRIAL_ENV_OBJECTIVES, "default,size", 1);
    CHECK_EQ(report_check("1", REPORT_INTERMEDIATE, &err), -1);
    setenv(TRIAL_ENV_OBJECTIVES, "default", 1);
    CHECK_EQ(report_check("1", REPORT_FINAL, &err), 0);
}

TEST(trial_report_makes_one_value_of_words)
{
    static const struct {
        const char *words[3];
        size_t n;
        const char *json, *want;
    } cases[] = {
        {{"0.5"}, 1, "0.5", NULL},
        {{"{\"a\": \"x=1\"}"}, 1, "{\"a\": \"x=1\"}", NULL},
        {{"a=1"}, 1, "{\"a\": 1}", NULL},
        {{"a=1", "b c=-2e3", "0.5"},
         3,
         "{\"a\": 1, \"b c\": -2e3, \"default\": 0.5}",
         NULL},
        {{"\"\\=NaN"}, 1, "{\"\\\"\\\\\": NaN}", NULL},
        {{"a=1", "a=2"}, 2, NULL, "'a=2': the value is there twice"},
        {{"1", "2"}, 2, NULL, "'2': the value is there twice"},
        {{"a=x"}, 1, NULL, "'a=x': expected NAME=NUMBER, or a number"},
        {{"=1"}, 1, NULL, "expected NAME=NUMBER"},
        {{"a=1", "{}"}, 2, NULL, "'{}': expected NAME=NUMBER"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char *json = report_value(cases[i].words, cases[i].n, &err);

        if (cases[i].json != NULL)
            CHECK_STR(json, cases[i].json);
        else
            CHECK(json == NULL);
        CHECK_HAS(err.text, cases[i].want != NULL ? cases[i].want : "");
        free(json);
    }
}

static void
check_metrics(const char *want)
{
    struct buf b;
    struct err err;

    buf_init(&b, 4 * TRIAL_METRIC_MAX);
    CHECK_EQ(file_read(TRIAL_METRICS, 4 * TRIAL_METRIC_MAX, &b, &err), 0);
    CHECK_STR(buf_text(&b), want);
    buf_fini(&b);
}

TEST(trial_report_appends_lines)
{
    struct stat st;
    struct err err;

    CHECK_EQ(report_append(".", REPORT_INTERMEDIATE, " 0.5\n", &err), 0);
    CHECK_EQ(report_append(".", REPORT_INTERMEDIATE, "{\"default\":\n1}", &err),
             0);
    CHECK_EQ(report_append(".", REPORT_FINAL, "NaN", &err), 0);
    CHECK_EQ(report_append(".", REPORT_FINAL, "?", &err), -1);
    CHECK_EQ(report_append(".", REPORT_INTERMEDIATE, "?", &err), -1);
    check_metrics("intermediate 0.5\nintermediate {\"default\": 1}\n"
                  "final NaN\nrefused\n");
    CHECK_EQ(stat(TRIAL_METRICS, &st), 0);
    CHECK_EQ(st.st_mode & 07777, 0600);
    CHECK_EQ(report_append("nowhere", REPORT_FINAL, "1", &err), -1);
    CHECK_EQ(err.code, ERR_SYSTEM);
    CHECK_HAS(err.text, "nowhere/metrics");
}

TEST(trial_report_has_a_longest_line)
{
    size_t room = TRIAL_METRIC_MAX - strlen("final \n");
    char *text = malloc(room + 2);
    struct stat st;
    struct err err;

    CHECK(text != NULL);
    memset(text, ' ', room + 1);
    memcpy(text, "{\"default\": 1", 13);
    text[room] = '}';
    text[room + 1] = '\0';
    CHECK_EQ(report_append(".", REPORT_FINAL, text, &err), -1);
    CHECK_HAS(err.text, "metric: more than");
    text[room - 1] = '}';
    text[room] = '\0';
    CHECK_EQ(report_append(".", REPORT_FINAL, text, &err), 0);
    CHECK_EQ(stat(TRIAL_METRICS, &st), 0);
    CHECK_EQ(st.st_size, TRIAL_METRIC_MAX);
    free(text);
}

TEST(trial_report_lines_of_many_writers_stay_whole)
{
    enum { WRITERS = 4, LINES = 200 };
    struct buf b;
    struct err err;
    size_t lines = 0;

    for (int w = 0; w < WRITERS; w++) {
        if (fork() == 0) {
            for (int i = 0; i < LINES; i++)
                if (report_append(".", REPORT_INTERMEDIATE,
                                  "{\"default\": 123456789}", &err) != 0)
                    _exit(1);
            _exit(0);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;

        CHECK(wait(&status) > 0);
        CHECK_EQ(status, 0);
    }
    buf_init(&b, TRIAL_METRIC_MAX);
    CHECK_EQ(file_read(TRIAL_METRICS, TRIAL_METRIC_MAX, &b, &err), 0);
    for (const char *at = buf_text(&b); *at != '\0'; lines++) {
        static const char line[] = "intermediate {\"default\": 123456789}\n";

        CHECK(strncmp(at, line, sizeof line - 1) == 0);
        at += sizeof line - 1;
    }
    CHECK_EQ(lines, WRITERS * LINES);
    buf_fini(&b);
}
