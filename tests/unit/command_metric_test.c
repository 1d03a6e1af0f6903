/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "command_helpers.h"

#include "command.h"
#include "core/err.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

TEST(command_metric_fields)
{
    struct command *cmd = decode(
        "ME", "{\"parameter_id\": 3, \"trial_job_id\": \"iLchw\", \"type\": "
              "\"PERIODICAL\", \"sequence\": 12, \"value\": \"0.91\"}\n");

    CHECK_EQ(cmd->code, CMD_METRIC);
    CHECK_STR(cmd->metric.job, "iLchw");
    CHECK_EQ(cmd->metric.parameter.kind, PARAMETER_NUMBER);
    CHECK_EQ(cmd->metric.parameter.number, 3);
    CHECK_EQ(cmd->metric.type, METRIC_PERIODICAL);
    CHECK_EQ(cmd->metric.sequence, 12);
    CHECK_EQ(cmd->metric.attempt, 0);
    CHECK(!cmd->metric.sync && cmd->metric.has_value);
    CHECK(cmd->metric.value == 0.91);
    command_free(cmd);

    cmd = decode("ME", "{\"attempt\":2,\"sync\":true,\"later\":{\"x\":[1]},"
                       "\"value\":\"1\",\"sequence\":0,\"type\":\"FINAL\","
                       "\"trial_job_id\":\"a\\u00e9\\\"b\","
                       "\"parameter_id\":\"0-3\\u005f1_5\"}");
    CHECK_STR(cmd->metric.job, "a\xc3\xa9\"b");
    CHECK_EQ(cmd->metric.parameter.kind, PARAMETER_LABEL);
    CHECK_STR(cmd->metric.parameter.label, "0-3_1_5");
    CHECK_EQ(cmd->metric.type, METRIC_FINAL);
    CHECK_EQ(cmd->metric.attempt, 2);
    CHECK(cmd->metric.sync);
    command_free(cmd);

    cmd = decode("ME", "{\"trial_job_id\":\"abc\",\"type\":"
                       "\"REQUEST_PARAMETER\",\"sequence\":0,"
                       "\"parameter_index\":1}");
    CHECK_EQ(cmd->metric.type, METRIC_REQUEST);
    CHECK_EQ(cmd->metric.parameter.kind, PARAMETER_NONE);
    CHECK(!cmd->metric.has_value);
    CHECK_STR(cmd->metric.problem, "expected a number as value, got nothing");
    command_free(cmd);

    cmd = decode("ME", "{\"trial_job_id\":\"a\",\"type\":\"FINAL\","
                       "\"parameter_id\":null,\"value\":\"2\"}");
    CHECK_EQ(cmd->metric.parameter.kind, PARAMETER_NONE);
    CHECK(cmd->metric.parameter.label == NULL);
    CHECK_EQ(cmd->metric.sequence, 0);
    command_free(cmd);

    cmd = decode("ME", "{\"trial_job_id\":\"a\",\"type\":\"PERIODICAL\","
                       "\"type\":\"FINAL\",\"\\u0076alue\":\"2\","
                       "\"parameter_id\":18446744073709551615}");
    CHECK_EQ(cmd->metric.type, METRIC_FINAL); /* the last one counts */
    CHECK(cmd->metric.has_value && cmd->metric.value == 2);
    CHECK(cmd->metric.parameter.number == UINT64_MAX);
    command_free(cmd);
}

#define GOT "expected a number as value, got "

/* `text` is the JSON of the `value` key. */
static struct command *
decode_value(const char *text)
{
    char payload[300];

    snprintf(payload, sizeof payload,
             "{\"parameter_id\": 0, \"trial_job_id\": \"t\", \"type\": "
             "\"FINAL\", \"sequence\": 0, \"value\": %s}\n",
             text);
    return decode("ME", payload);
}

static void
has_value(const char *text, double want)
{
    struct command *cmd = decode_value(text);

    CHECK(cmd->metric.has_value);
    CHECK(cmd->metric.value == want ||
          (isnan(want) && isnan(cmd->metric.value)));
    command_free(cmd);
}

static void
has_problem(const char *text, const char *problem)
{
    struct command *cmd = decode_value(text);

    CHECK(!cmd->metric.has_value);
    CHECK_STR(cmd->metric.problem, problem);
    command_free(cmd);
}

TEST(command_metric_values_of_every_form)
{
    has_value("\"0.93\"", 0.93);
    has_value("\" 1 \"", 1);
    has_value("\"{\\\"default\\\": 0.93, \\\"loss\\\": 1.2}\"", 0.93);
    has_value("\"{\\\"loss\\\": [1], \\\"default\\\": 1e-05}\"", 1e-5);
    has_value("\"{\\\"default\\\": true}\"", 1);
    has_value("\"NaN\"", NAN);
    has_value("\"Infinity\"", INFINITY);
    has_value("\"-Infinity\"", -INFINITY);
    has_value("\"{\\\"default\\\": NaN}\"", NAN);
    has_value("\"true\"", 1);
    has_value("\"false\"", 0);
    has_value("0.35000000000000003", 0.35000000000000003);
    has_value("NaN", NAN);
    has_value("true", 1);
    has_value("{\"default\": 2}", 2);
    has_value("\"123456789012345678901234567890\"",
              123456789012345678901234567890.0);
    has_value("\"0\\u002e5\"", 0.5);
}

#define NO_DEFAULT GOT "an object without a numeric 'default'"
#define NO_JSON GOT "text that is not JSON"
#define BEYOND GOT "a number beyond a double's range"

TEST(command_metric_values_that_are_no_numbers)
{
    has_problem("\"{\\\"acc\\\": 1}\"", NO_DEFAULT);
    has_problem("\"{\\\"default\\\": \\\"1\\\"}\"", NO_DEFAULT);
    has_problem("\"{\\\"default\\\": null}\"", NO_DEFAULT);
    has_problem("\"{}\"", NO_DEFAULT);
    has_problem("{\"acc\": 1}", NO_DEFAULT);
    has_problem("\"\\\"0.93\\\"\"", GOT "a string");
    has_problem("\"[0.93]\"", GOT "a list");
    has_problem("[0.93]", GOT "a list");
    has_problem("\"null\"", GOT "null");
    has_problem("null", GOT "null");
    has_problem("\"\"", NO_JSON);
    has_problem("\"abc\"", NO_JSON);
    has_problem("\"1 2\"", NO_JSON);
    has_problem("\"{\\\"default\\\": 1\"", NO_JSON);
    has_problem("\"[1\"", NO_JSON);
    has_problem("\"1e400\"", BEYOND);
    has_problem("\"{\\\"default\\\": 1e400}\"", BEYOND);
}

TEST(command_metric_errors)
{
#define JOB "{\"trial_job_id\":\"t\","
    refuses("ME", "", "byte 0: expected an object, not the end");
    refuses("ME", "[]", "byte 0: expected an object, not '['");
    refuses_at("ME", "{\"a\"", "byte 4: ");
    refuses_at("ME", "{\"a\":1}{", "byte 7: ");
    refuses_at("ME", "{\"type\":\"FINAL\"}",
               "byte 0: expected an object with the key 'trial_job_id'");
    refuses_at("ME", "{\"trial_job_id\":\"\",\"type\":\"FINAL\"}",
               "byte 16: trial_job_id: ");
    refuses("ME", "{\"trial_job_id\":\"a\\u0000b\",\"type\":\"FINAL\"}",
            "byte 16: trial_job_id: expected a string without \\u0000, not "
            "'a\\u0000b'");
    refuses("ME", JOB "\"type\":\"FINAL\",\"parameter_id\":\"\\u0000\"}",
            "byte 50: parameter_id: expected a string without \\u0000, not "
            "'\\u0000'");
    refuses("ME", JOB "\"type\":\"PERIODICL\"}",
            "byte 27: type: expected PERIODICAL, FINAL or REQUEST_PARAMETER, "
            "not 'PERIODICL' (did you mean 'PERIODICAL'?)");
    refuses("ME", JOB "\"type\":7}",
            "byte 27: type: expected PERIODICAL, FINAL or REQUEST_PARAMETER, "
            "not '7'");
    refuses("ME", JOB "\"x\":1}",
            "byte 0: expected an object with the key 'type', PERIODICAL, FINAL "
            "or REQUEST_PARAMETER");
    refuses("ME", JOB "\"type\":\"PERIODICAL\",\"value\":\"1\"}",
            "byte 0: expected an object with the key 'sequence', a whole "
            "number of at least 0");
    refuses("ME", JOB "\"type\":\"PERIODICAL\",\"sequence\":null}",
            "byte 51: sequence: expected a whole number of at least 0, not "
            "'null'");
    refuses("ME", JOB "\"type\":\"FINAL\",\"sequence\":1.5}",
            "byte 46: sequence: expected a whole number of at least 0, not "
            "'1.5'");
    refuses("ME", JOB "\"type\":\"FINAL\",\"parameter_id\":-1}",
            "byte 50: parameter_id: expected a whole number of at least 0, a "
            "string or null, not '-1'");
    refuses("ME", JOB "\"type\":\"FINAL\",\"parameter_id\":1.5}",
            "byte 50: parameter_id: expected a whole number of at least 0, a "
            "string or null, not '1.5'");
    refuses("ME", JOB "\"type\":\"FINAL\",\"parameter_id\":[0]}",
            "byte 50: parameter_id: expected a whole number of at least 0, a "
            "string or null, not '[0]'");
    refuses("ME", JOB "\"type\":\"FINAL\",\"attempt\":-1}",
            "byte 45: attempt: expected a whole number of at least 0, not "
            "'-1'");
    refuses("ME", JOB "\"type\":\"FINAL\",\"sync\":1}",
            "byte 42: sync: expected true or false, not '1'");
#undef JOB
}

TEST(command_value_of_an_imported_trial)
{
    static const struct {
        const char *text;
        double value;
        const char *problem;
    } cases[] = {
        {"0.93", 0.93, NULL},
        {"7", 7, NULL},
        {"true", 1, NULL},
        {"NaN", NAN, NULL},
        {"\"0.93\"", 0.93, NULL},
        {"{\"default\":0.9}", 0.9, NULL},
        {"{\"default\":false}", 0, NULL},
        {"\"{\\\"default\\\": 0.9}\"", 0.9, NULL},
        {"\"x\"", 0, NO_JSON},
        {"null", 0, GOT "null"},
        {"[1]", 0, GOT "a list"},
        {"{\"acc\":1}", 0, NO_DEFAULT},
        {"{\"default\":[1]}", 0, NO_DEFAULT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *doc =
            json_parse(cases[i].text, strlen(cases[i].text), JSON_NAN, NULL);
        const char *problem = NULL;
        double value = -1;
        bool ok = metric_read_value(json_root(doc), &value, &problem);

        CHECK_EQ(ok, cases[i].problem == NULL);
        if (ok)
            CHECK(value == cases[i].value ||
                  (isnan(value) && isnan(cases[i].value)));
        else
            CHECK_STR(problem, cases[i].problem);
        json_free(doc);
    }
}
