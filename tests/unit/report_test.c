/* SPDX-License-Identifier: MIT */
#include "store_help.h"

#include "json.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

NOT_UNDER_TSAN;

#define BREAKER "</script><script>alert(1)</script>"

static struct report *
load(void)
{
    struct err err = {0};
    struct report *r;

    write_all();
    r = report_load("x", (struct report_want){0}, &err);
    CHECK_STR(err.text, "");
    CHECK(r != NULL);
    return r;
}

/* The data, parsed; strict JSON. */
static struct json *
data_of(const struct report *r)
{
    struct err err = {0};
    struct json *doc;
    struct buf text;

    buf_init(&text, 1 << 24);
    report_write_json(r, &text);
    doc = json_parse(buf_text(&text), text.len, JSON_STRICT, &err);
    CHECK_STR(err.text, "");
    buf_fini(&text);
    return doc;
}

/* "trials.value" as JSON text. */
static void
check_data(const struct json *doc, const char *path, const char *want)
{
    struct jval v = json_root(doc);
    char copy[64], *at = copy, *key;
    struct buf text;

    snprintf(copy, sizeof copy, "%s", path);
    while ((key = strsep(&at, ".")) != NULL)
        CHECK(key[0] >= '0' && key[0] <= '9'
                  ? (v = jval_at(v, strtoul(key, NULL, 10)), true)
                  : jval_get(v, key, &v));
    buf_init(&text, 1 << 20);
    jval_write(v, &text);
    CHECK_STR(buf_text(&text), want);
    buf_fini(&text);
}

static void
suggest(const char *id, const char *parameters, const char *more)
{
    char text[1024];

    snprintf(text, sizeof text,
             "TR{\"parameter_id\": %s, \"parameter_source\": \"algorithm\", "
             "\"parameters\": %s, \"parameter_index\": 0%s}",
             id, parameters, more);
    tell(RECORD_TUNER, 1, text);
}

static void
note(const char *event, const char *trial, const char *id, unsigned attempt,
     const char *more)
{
    char text[256];

    snprintf(text, sizeof text,
             "NT{\"event\": \"%s\", \"trial_job_id\": \"%s\", "
             "\"parameter_id\": %s, \"attempt\": %u%s}",
             event, trial, id, attempt, more);
    tell(RECORD_IN, 2, text);
}

static void
report_as(const char *type, const char *trial, const char *id,
          unsigned sequence, const char *value, const char *more)
{
    char text[256];

    snprintf(text, sizeof text,
             "ME{\"parameter_id\": %s, \"trial_job_id\": \"%s\", \"type\": "
             "\"%s\", \"sequence\": %u, \"value\": \"%s\"%s}",
             id, trial, type, sequence, value, more);
    tell(RECORD_IN, 3, text);
}

static void
report_value(const char *trial, const char *id, unsigned sequence,
             const char *value, const char *more)
{
    report_as("PERIODICAL", trial, id, sequence, value, more);
}

static void
end(const char *trial, const char *status, const char *value,
    const char *parameters)
{
    char text[1024];

    snprintf(text, sizeof text,
             "{\"trial\": \"%s\", \"parameter_id\": 0, \"seed\": 1, "
             "\"status\": \"%s\", \"why\": \"\", \"ended_by\": \"itself\", "
             "\"value\": %s, \"latest\": 0.5, \"duration_s\": 1.5, "
             "\"intermediates\": 2, \"parameters\": %s}",
             trial, status, value, parameters);
    result(text);
}

TEST(report_of_nothing)
{
    struct report *r;
    struct json *doc;
    struct err err = {0};

    CHECK(report_load("nowhere", (struct report_want){0}, &err) == NULL);
    CHECK_EQ(err.code, ERR_CONFIG);
    make_folder();
    r = load();
    doc = data_of(r);
    check_data(doc, "trials.id", "[]");
    check_data(doc, "best", "null");
    check_data(doc, "experiment.id", "\"x\"");
    check_data(doc, "experiment.seed", "\"18446744073709551615\"");
    json_free(doc);
    report_free(r);
}

/* A promotion goes on from its trial, at its step, with a budget of its own. */
TEST(report_of_a_promotion)
{
    struct report *r;
    struct json *doc;

    make_folder();
    suggest("\"0-3_0_1\"", "{\"z\": 2.5, \"TRIAL_BUDGET\": 1}", "");
    note("started", "A", "\"0-3_0_1\"", 0, ", \"device\": \"0,1\"");
    report_value("A", "\"0-3_0_1\"", 0, "0.5", "");
    note("exited", "A", "\"0-3_0_1\"", 0, ", \"status\": \"exited 0\"");
    end("A", "paused", "null", "{\"z\": 2.5, \"TRIAL_BUDGET\": 1}");
    suggest("\"0-3_1_1\"", "{\"z\": 2.5, \"TRIAL_BUDGET\": 3}",
            ", \"resume_from\": \"A\", \"resume_how\": \"promoted\"");
    note("preparing", "B", "\"0-3_1_1\"", 0, "");
    note("started", "B", "\"0-3_1_1\"", 0, ", \"device\": \"1\"");
    report_value("B", "\"0-3_1_1\"", 0, "0.25", ", \"base\": 1");
    report_value("B", "\"0-3_1_1\"", 1, "NaN", ", \"base\": 1");
    suggest("\"0-3_0_2\"", "{\"z\": 1}",
            ", \"resume_from\": \"A\", \"resume_how\": \"cloned\"");
    note("started", "C", "\"0-3_0_2\"", 0, "");
    r = load();
    doc = data_of(r);
    check_data(doc, "trials.id", "[\"A\", \"B\", \"C\"]");
    check_data(doc, "trials.from", "[null, 0, 0]");
    check_data(doc, "trials.cloned", "[0, 0, 1]");
    check_data(doc, "trials.budget", "[1, 3, null]");
    check_data(doc, "trials.base", "[0, 1, 0]");
    check_data(doc, "trials.parameter_id", "[0, \"0-3_1_1\", \"0-3_0_2\"]");
    check_data(doc, "trials.statuses", "[\"paused\", \"running\"]");
    check_data(doc, "best.trial", "0");
    check_data(doc, "best.value", "0.5"); /* its last one: it was paused */
    check_data(doc, "curves",
               "[[[0], [0.5]], [[1, 2], [0.25, \"NaN\"]], null]");
    check_data(doc, "devices", "[\"0,1\", \"1\"]");
    check_data(doc, "attempts.1.4", "1"); /* granted behind the preparation */
    check_data(doc, "parameters.0.name", "\"z\"");
    check_data(doc, "parameters.0.cells", "[2.5, 2.5, 1]");
    json_free(doc);
    report_free(r);
}

TEST(report_of_a_trial_that_was_started_again)
{
    struct report *r;
    struct json *doc;

    make_folder();
    suggest("0", "{}", "");
    note("started", "A", "0", 0, "");
    report_value("A", "0", 0, "1", "");
    report_value("A", "0", 1, "2", "");
    note("exited", "A", "0", 0, "");
    note("started", "A", "0", 1, "");
    report_value("A", "0", 0, "3", ", \"attempt\": 1");
    r = load();
    doc = data_of(r);
    check_data(doc, "trials.attempts", "[2]");
    check_data(doc, "curves", "[[[0], [3]]]");
    check_data(doc, "attempts.0.1", "0");
    check_data(doc, "attempts.1.1", "1");
    check_data(doc, "attempts.1.3", "0.009"); /* nobody runs it any more */
    json_free(doc);
    report_free(r);
}

/* How many attempts there were: none, or nobody knows. */
TEST(report_of_trials_that_no_attempt_is_known_of)
{
    struct report *r;
    struct json *doc;

    make_folder();
    tell(RECORD_IN, 4,
         "EN{\"trial_job_id\": \"00000\", \"event\": \"USER_CANCELED\", "
         "\"hyper_params\": \"{}\"}");
    end("00000", "cancelled", "null", "{}");
    end("00001", "succeeded", "1", "{}");
    r = load();
    doc = data_of(r);
    check_data(doc, "trials.attempts", "[0, null]");
    json_free(doc);
    report_free(r);
}

/* What only some have, what is a number in some, what is no number at all. */
TEST(report_of_parameters_of_all_kinds)
{
    static const char *const parameters[] = {
        "{\"net\": {\"_name\": \"deep\", \"layers\": 3}, \"a\": 1}",
        "{\"net\": {\"_name\": \"flat\"}, \"a\": \"x\"}",
        "{\"a\": [1, 2], \"b\": 1e-05}",
    };
    struct report *r;
    struct json *doc;
    char id[8];

    make_folder();
    put_text("search_space.json",
             "{\"net\": {\"_type\": \"choice\", \"_value\": [{\"_name\": "
             "\"flat\"}, {\"_name\": \"deep\", \"layers\": {\"_type\": "
             "\"randint\", \"_value\": [1, 5]}}]}, \"a\": {\"_type\": "
             "\"uniform\", \"_value\": [0, 1]}, \"b\": {\"_type\": "
             "\"loguniform\", \"_value\": [1e-6, 1]}}");
    for (size_t i = 0; i < 3; i++) {
        snprintf(id, sizeof id, "%zu", i);
        end(id, "succeeded", "1.0", parameters[i]);
    }
    r = load();
    doc = data_of(r);
    check_data(doc, "parameters.0.name", "\"net/_name\"");
    check_data(doc, "parameters.0.values", "[\"flat\", \"deep\"]");
    check_data(doc, "parameters.0.cells", "[1, 0, null]");
    check_data(doc, "parameters.1.name", "\"net/layers\"");
    check_data(doc, "parameters.1.cells", "[3, null, null]");
    check_data(doc, "parameters.1.high", "5.0");
    check_data(doc, "parameters.2.scale", "\"choice\"");
    check_data(doc, "parameters.2.values", "[\"1.0\", \"x\", \"[1, 2]\"]");
    check_data(doc, "parameters.2.cells", "[0, 1, 2]");
    check_data(doc, "parameters.3.scale", "\"log\"");
    check_data(doc, "parameters.3.cells", "[null, null, 1e-05]");
    check_data(doc, "best.trial", "0");
    json_free(doc);
    report_free(r);
}

/* What is reported beside the objective: the final report's, else the last
 * one's that has any. */
TEST(report_of_named_values)
{
    struct report *r;
    struct json *doc;

    make_folder();
    for (size_t i = 0; i < 3; i++) {
        static const char *const ids[] = {"A", "B", "C"};

        suggest("0", "{}", "");
        note("started", ids[i], "0", 0, "");
        report_value(ids[i], "0", 0, "0.5", "");
    }
    report_value("A", "0", 1,
                 "{\\\"default\\\": 1, \\\"loss\\\": 2, "
                 "\\\"note\\\": \\\"x\\\"}",
                 "");
    report_value("A", "0", 1, "{\\\"default\\\": 1, \\\"loss\\\": 9}", "");
    report_as("FINAL", "A", "0", 0, "0.25", "");
    report_value("B", "0", 1, "{\\\"default\\\": 1, \\\"loss\\\": 5}", "");
    report_as("FINAL", "B", "0", 0,
              "{\\\"default\\\": 1, \\\"loss\\\": Infinity, "
              "\\\"<b>\\\": 0.5}",
              "");
    report_as("FINAL", "B", "0", 1, "{\\\"default\\\": 1, \\\"loss\\\": 7}",
              "");
    r = load();
    doc = data_of(r);
    check_data(doc, "metrics.0.name", "\"loss\"");
    check_data(doc, "metrics.0.cells", "[2, \"Infinity\", null]");
    check_data(doc, "metrics.1.name", "\"<b>\"");
    check_data(doc, "metrics.1.cells", "[null, 0.5, null]");
    CHECK_EQ(r->n_metrics, 2);
    json_free(doc);
    report_free(r);
}

TEST(report_of_several_objectives)
{
    struct report *r;
    struct json *doc;

    make_folder();
    give_objectives();
    add_several();
    r = load();
    doc = data_of(r);
    check_data(doc, "objectives.items.1.direction", "\"maximize\"");
    check_data(doc, "objectives.limits", "[\"ms <= 8\"]");
    check_data(doc, "objectives.front", "[2, 0]");
    check_data(doc, "objectives.knee", "null");
    check_data(doc, "objectives.growth", "[[1, 3], [3, 3.5]]");
    check_data(doc, "objectives.results", "4");
    check_data(doc, "objectives.violation", "[0, 0, 0, 0.125]");
    check_data(doc, "objectives.shares", "[[null]]");
    check_data(doc, "best.trial", "2");
    json_free(doc);
    report_free(r);
}

/* The front of the greater budget begins anew, though it is worse. */
TEST(report_growth_is_of_one_budget)
{
    static const char *const ends[] = {
        "{\"ms\": 1.0, \"acc\": 1.0}, \"violation\": 0.0, \"parameters\": "
        "{\"z\": 1, \"TRIAL_BUDGET\": 1}}",
        "{\"ms\": 4.0, \"acc\": 0.5}, \"violation\": 0.0, \"parameters\": "
        "{\"z\": 1, \"TRIAL_BUDGET\": 3}}"};
    struct report *r;
    struct json *doc;
    char line[500];

    make_folder();
    give_objectives();
    for (size_t i = 0; i < 2; i++) {
        snprintf(line, sizeof line,
                 "{\"trial\": \"%05zu\", \"parameter_id\": %zu, \"status\": "
                 "\"succeeded\", \"value\": 4.0, \"values\": %s",
                 i, i, ends[i]);
        result(line);
    }
    r = load();
    doc = data_of(r);
    check_data(doc, "objectives.front", "[1]");
    check_data(doc, "objectives.growth", "[[1, 9], [2, 3]]");
    json_free(doc);
    report_free(r);
}

/* A trial may make up as many names as it likes: the first ones are kept. */
TEST(report_of_more_names_than_it_tells_apart)
{
    struct report *r;
    struct json *doc;
    char value[64], last[64];

    make_folder();
    suggest("0", "{}", "");
    note("started", "A", "0", 0, "");
    for (unsigned i = 0; i < 60; i++) {
        char id[8];

        snprintf(id, sizeof id, "%u", i);
        note("started", id, "0", 0, "");
        snprintf(value, sizeof value, "{\\\"default\\\": 1, \\\"n%u\\\": 2}",
                 i);
        report_value(id, "0", 0, value, "");
    }
    r = load();
    CHECK_EQ(r->n_metrics, 50);
    doc = data_of(r);
    snprintf(last, sizeof last, "metrics.%zu.name", r->n_metrics - 1);
    check_data(doc, last, "\"n49\"");
    json_free(doc);
    report_free(r);
}

static void
end_at(size_t number, const char *status, double value, unsigned budget)
{
    char text[512];

    snprintf(text, sizeof text,
             "{\"trial\": \"%zu\", \"parameter_id\": 0, \"seed\": 1, "
             "\"status\": \"%s\", \"why\": \"\", \"ended_by\": \"itself\", "
             "\"value\": %s%.3f, \"latest\": %.3f, \"duration_s\": 1.5, "
             "\"intermediates\": %u, \"parameters\": {\"z\": %.3f, \"y\": %zu, "
             "\"TRIAL_BUDGET\": 3}}",
             number, status,
             strcmp(status, "succeeded") == 0 ? "" : "null, \"unused\": ",
             value, value, budget, number / 40.0, number * 7 % 11);
    result(text);
}

/* The stopped are behind the others, whatever their values; who was paused
 * before its budget has no result. */
TEST(report_importance_of_stopped_trials)
{
    struct report *r;

    make_folder();
    for (size_t i = 0; i < 40; i++) {
        bool stopped = i % 2 == 0;

        if (i < 8)
            end_at(i, "succeeded", 2, 3);
        else
            end_at(i, stopped ? "stopped" : "paused", stopped ? 1 : 5,
                   i < 20 ? 2 : 3);
    }
    r = load();
    CHECK_EQ(r->importance_budget, 3);
    CHECK_EQ(r->importance_trials, 8 + 16 + 10);
    CHECK_STR(r->parameters[0].name, "z");
    CHECK(r->importance[0].share > 0.7); /* z: the best have little of it */
    report_free(r);
}

#define HIDDEN "a\\u202eb\\u200bc\\b\\udb40\\udc41.\\ud83d\\ude42\\n\\\\u202e"

/* Nobody is misled by what turns text round or hides it: in the page it is
 * seen, and in the data it is what it is. */
TEST(report_page_shows_what_would_hide)
{
    struct err err = {0};
    struct report *r;
    struct buf page, data;

    make_folder();
    put_text("experiment.json",
             "{\"id\": \"i\\u2066d\", \"name\": \"" HIDDEN "\", \"config\": "
             "\"e.yml\", \"optimize_mode\": \"minimize\", \"mode_from\": "
             "\"me\", \"seed\": 1}");
    suggest("0", "{\"" HIDDEN "\": \"\xe2\x80\xae-\xc3\xa4\"}", "");
    end("0", "0", "1.0", "{\"" HIDDEN "\": \"\xe2\x80\xae-\xc3\xa4\"}");
    r = load();
    buf_init(&page, 1 << 24);
    CHECK_EQ(report_write_page(r, 7, &page, &err), 0);
    CHECK_HAS(buf_text(&page), "<title>i?d</title>");
    CHECK_HAS(buf_text(&page),
              "\"name\": \"a?b?c??.\\ud83d\\ude42\\n\\\\u202e\"");
    CHECK_HAS(buf_text(&page), "[\"?-\\u00e4\"]");   /* its column */
    CHECK_HAS(buf_text(&page), ": \"?-\xc3\xa4\"}"); /* the best parameters */
    CHECK(strstr(buf_text(&page), "\xe2\x80\xae") == NULL);
    buf_init(&data, 1 << 24);
    report_write_json(r, &data);
    CHECK_HAS(buf_text(&data), "\"name\": \"" HIDDEN "\"");
    CHECK_HAS(buf_text(&data), "[\"\\u202e-\\u00e4\"]");
    buf_fini(&data);
    buf_fini(&page);
    report_free(r);
}

/* Whatever a trial is called or runs with, the page's own markup is all that
 * there is. */
TEST(report_page_shows_text_as_text)
{
    struct err err = {0};
    struct report *r;
    struct buf page;
    const char *text;

    make_folder();
    put_text("experiment.json",
             "{\"id\": \"" BREAKER "<!--&\", \"name\": \"n\", \"config\": "
             "\"e.yml\", \"optimize_mode\": \"minimize\", \"mode_from\": "
             "\"me\", \"seed\": 1}");
    suggest("\"" BREAKER "\"", "{\"" BREAKER "\": \"<!--<script>\"}", "");
    note("started", BREAKER, "\"" BREAKER "\"", 0, ", \"device\": \"<b>\"");
    end(BREAKER, BREAKER, "1.0", "{\"" BREAKER "\": \"<!--<script>\"}");
    r = load();
    buf_init(&page, 1 << 24);
    CHECK_EQ(report_write_page(r, 7, &page, &err), 0);
    text = buf_text(&page);
    CHECK(strstr(text, "alert(1)<") == NULL);
    CHECK(strstr(text, "<!--") == NULL);
    CHECK(strstr(text, "<b>") == NULL);
    CHECK_HAS(text, "<title>&lt;/script&gt;&lt;script&gt;alert(1)");
    CHECK_HAS(text, "\\u003c/script>\\u003cscript>alert(1)\\u003c/script>");
    CHECK_HAS(text, "data-refresh=\"0\""); /* it does not run */
    CHECK(strstr(text, "{{") == NULL || strstr(text, "{{DATA") == NULL);
    for (int i = 0; i < 2; i++) { /* data and script */
        text = strstr(text, "</script>");
        CHECK(text != NULL);
        text++;
    }
    CHECK(strstr(text, "</script>") == NULL);
    buf_fini(&page);
    report_free(r);
}
