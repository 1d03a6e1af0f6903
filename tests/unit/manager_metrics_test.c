/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "manager/metrics.h"
#include "objectives/objectives.h"

#include <math.h>
#include <string.h>

static enum metrics_word
give(struct metrics *m, const char *line, struct metric_line *out,
     struct err *err)
{
    err_clear(err);
    return metrics_line(m, NULL, line, strlen(line), false, out, err);
}

TEST(manager_metrics_count_by_type)
{
    static const struct {
        const char *line;
        bool final;
        unsigned sequence;
        double value;
    } cases[] = {
        {"intermediate 0.5", false, 0, 0.5},
        {"intermediate 1", false, 1, 1},
        {"final 2e3", true, 0, 2000},
        {"intermediate {\"default\": -3, \"loss\": 1}", false, 2, -3},
        {"final {\"default\":4}", true, 1, 4},
        {"intermediate  7 ", false, 3, 7},
        {"intermediate Infinity", false, 4, INFINITY},
        {"intermediate {\"default\": -Infinity}", false, 5, -INFINITY},
    };
    struct metrics m = {0};
    struct metric_line line;
    struct err err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(give(&m, cases[i].line, &line, &err), METRICS_METRIC);
        CHECK_EQ(line.final, cases[i].final);
        CHECK_EQ(line.sequence, cases[i].sequence);
        CHECK(line.value == cases[i].value);
    }
    CHECK_EQ(give(&m, "final NaN", &line, &err), METRICS_METRIC);
    CHECK(isnan(line.value));
}

TEST(manager_metrics_bad_lines_keep_their_number)
{
    static const struct {
        const char *line, *want;
    } cases[] = {
        {"intermediate",
         "line 2: expected 'intermediate JSON', 'final JSON', 'done JSON' or "
         "'checkpoint NUMBER', got 'intermediate'"},
        {"final\t1", "line 3: expected 'intermediate JSON'"},
        {"", "line 4: expected"},
        {"intermediate x", "line 5: "},
        {"intermediate ", "line 6: "},
        {"intermediate 1 2", "line 7: "},
        {"intermediate \"1\"", "line 8: expected a number or an object with "
                               "\"default\", got a string"},
        {"intermediate {}", "line 9: the object has no number \"default\""},
        {"intermediate {\"default\": null}", "line 10: the object has no"},
        {"intermediate [1]", "line 11: expected a number or an object"},
        {"final true", "line 12: expected a number"},
        {"final nan", "line 13: "},
        {"final 1e999", "line 14: "},
    };
    struct metrics m = {0};
    struct metric_line line;
    struct err err;

    CHECK_EQ(give(&m, "intermediate 1", &line, &err), METRICS_METRIC);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(give(&m, cases[i].line, &line, &err), METRICS_BAD);
        CHECK_HAS(err.text, cases[i].want);
    }
    CHECK_EQ(metrics_line(&m, NULL, "intermediate 1", 14, true, &line, &err),
             METRICS_BAD);
    CHECK_HAS(err.text, "longer than 1048576 bytes");
    CHECK_EQ(give(&m, "intermediate 5", &line, &err), METRICS_METRIC);
    CHECK_EQ(line.sequence, 9);
    CHECK_EQ(give(&m, "final 5", &line, &err), METRICS_METRIC);
    CHECK_EQ(line.sequence, 3);
}

TEST(manager_metrics_tell_of_a_nul)
{
    static const struct {
        const char *line;
        size_t len;
        const char *want;
    } cases[] = {
        {"intermediate 0.5\0", 17, "line 1: byte 16 is a NUL, expected text"},
        {"\0\0intermediate 1", 16, "line 2: byte 0 is a NUL"},
        {"intermediate {\"default\": 1, \"a\": \"\0\"}", 37,
         "line 3: byte 34 is a NUL"},
        {"final 1\0 2", 10, "line 4: byte 7 is a NUL"},
    };
    struct metrics m = {0};
    struct metric_line line;
    struct err err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_clear(&err);
        CHECK_EQ(metrics_line(&m, NULL, cases[i].line, cases[i].len, false,
                              &line, &err),
                 METRICS_BAD);
        CHECK_HAS(err.text, cases[i].want);
    }
    CHECK_EQ(give(&m, "intermediate 5", &line, &err), METRICS_METRIC);
    CHECK_EQ(line.sequence, 2); /* those lines kept theirs */
}

static enum metrics_word
give_nni(struct metrics *m, const char *json, struct buf *value,
         struct metric_line *out, struct err *err)
{
    err_clear(err);
    return metrics_nni(m, NULL, json, strlen(json), value, out, err);
}

TEST(manager_metrics_of_nni_count_on_with_the_lines)
{
    static const struct {
        const char *json;
        bool final;
        unsigned sequence;
        const char *text;
        double value;
    } cases[] = {
        {"{\"type\": \"PERIODICAL\", \"sequence\": 0, \"value\": \"0.50\"}\n",
         false, 1, "0.50", 0.5},
        {"{\"parameter_id\": null, \"trial_job_id\": \"strange\", \"type\": "
         "\"PERIODICAL\", \"sequence\": 9, \"value\": \"NaN\"}",
         false, 2, "NaN", NAN},
        {"{\"type\": \"FINAL\", \"value\": \"{\\\"default\\\":  2, "
         "\\\"k\\\": [1]}\"}",
         true, 0, "{\"default\":  2, \"k\": [1]}", 2},
        {"{\"type\": \"FINAL\", \"value\": 1e1}", true, 1, "10.0", 10},
        {"{\"value\": {\"default\":-Infinity}, \"type\": \"PERIODICAL\"}",
         false, 3, "{\"default\": -Infinity}", -INFINITY},
    };
    struct metrics m = {0};
    struct metric_line line;
    struct buf value;
    struct err err;

    buf_init(&value, 4096);
    CHECK_EQ(give(&m, "intermediate 1", &line, &err), METRICS_METRIC);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(give_nni(&m, cases[i].json, &value, &line, &err),
                 METRICS_METRIC);
        CHECK_EQ(line.final, cases[i].final);
        CHECK_EQ(line.sequence, cases[i].sequence);
        CHECK_EQ(line.len, strlen(cases[i].text));
        CHECK_STR(line.json, cases[i].text);
        CHECK(line.value == cases[i].value || isnan(cases[i].value));
    }
    CHECK_EQ(give(&m, "final 5", &line, &err), METRICS_METRIC);
    CHECK_EQ(line.sequence, 2);
    buf_fini(&value);
}

TEST(manager_metrics_bad_records_of_nni)
{
    static const struct {
        const char *json, *want;
        unsigned intermediates;
    } cases[] = {
        {"", "expected", 0},
        {"[1]", "expected an object, got an array", 0},
        {"{\"value\": \"1\"}", "has no text \"type\"", 0},
        {"{\"type\": 3, \"value\": \"1\"}", "has no text \"type\"", 0},
        {"{\"type\": \"REQUEST_PARAMETER\", \"sequence\": 0}",
         "expected type PERIODICAL or FINAL, got 'REQUEST_PARAMETER'", 0},
        {"{\"type\": \"PERIODICAL\"}", "has no \"value\"", 1},
        {"{\"type\": \"PERIODICAL\", \"value\": null}",
         "value: expected a number or an object with \"default\", got null", 2},
        {"{\"type\": \"PERIODICAL\", \"value\": \"\\\"1\\\"\"}",
         "value: expected a number or an object with \"default\", got a string",
         3},
        {"{\"type\": \"PERIODICAL\", \"value\": \"1\\u0000\"}", "value: ", 4},
        {"{\"type\": \"PERIODICAL\", \"value\": \"{}\"}",
         "value: the object has no number \"default\"", 5},
    };
    struct metrics m = {0};
    struct metric_line line;
    struct buf value;
    struct err err;

    buf_init(&value, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(give_nni(&m, cases[i].json, &value, &line, &err), METRICS_BAD);
        CHECK_HAS(err.text, cases[i].want);
        CHECK_EQ(m.intermediates, cases[i].intermediates);
    }
    CHECK_EQ(m.finals, 0);
    buf_fini(&value);
}

TEST(manager_metrics_are_written_in_nnis_spelling)
{
    struct metric_line line = {
        .sequence = 7, .json = "{\"default\": 1}x", .len = 14};
    struct buf out;

    buf_init(&out, 4096);
    metrics_write(&out, "00003", "\"0-3\"", 0, 0, &line);
    CHECK_STR(buf_text(&out),
              "{\"parameter_id\": \"0-3\", \"trial_job_id\": \"00003\", "
              "\"type\": \"PERIODICAL\", \"sequence\": 7, "
              "\"value\": \"{\\\"default\\\": 1}\", \"attempt\": 0}");
    buf_clear(&out);
    line = (struct metric_line){.final = true, .json = "0.93", .len = 4};
    metrics_write(&out, "00003", "3", 0, 0, &line);
    CHECK_STR(buf_text(&out),
              "{\"parameter_id\": 3, \"trial_job_id\": \"00003\", "
              "\"type\": \"FINAL\", \"sequence\": 0, \"value\": \"0.93\", "
              "\"attempt\": 0}");
    buf_fini(&out);
}

TEST(manager_pattern_takes_the_first_group)
{
    static const struct {
        const char *pattern, *line;
        bool matches;
        double value;
    } cases[] = {
        {"acc=([0-9.]+)", "epoch 1 acc=0.75 acc=0.8", true, 0.75},
        {"acc=([0-9.]+)", "epoch 1", false, 0},
        {"acc=([^ ]+)", "acc=high", false, 0},
        {"acc=([^ ]+)", "acc=-1.5e-3 x", true, -1.5e-3},
        {"a=(.+)|b=(.+)", "b=2", true, 2},
        {"(loss|acc)", "loss", false, 0},
        {"l=([^ ]*)", "l=inf", true, INFINITY},
        {"l=([^ ]*)", "l=-Infinity", true, -INFINITY},
        {"l=([^ ]*)", "l=", false, 0},
        {"l=(x)?y", "l=y", false, 0},
    };
    double value;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pattern *p = pattern_new(cases[i].pattern, NULL);

        CHECK(p != NULL);
        value = 0;
        CHECK_EQ(pattern_match(p, cases[i].line, &value), cases[i].matches);
        CHECK(!cases[i].matches || value == cases[i].value);
        pattern_free(p);
    }
}

TEST(manager_pattern_knows_nan_and_refuses_nonsense)
{
    struct pattern *p = pattern_new("=(.*)", NULL);
    struct err err;
    double value = 0;

    CHECK(pattern_match(p, "x=NaN", &value));
    CHECK(isnan(value));
    pattern_free(p);
    CHECK(pattern_new("(", &err) == NULL);
    CHECK_HAS(err.text, "'(': ");
    pattern_free(NULL);
}

static struct objectives *
two_objectives(void)
{
    struct err err = {0};
    struct objectives *of =
        objectives_read("{\"objectives\": [{\"name\": \"acc\", \"direction\": "
                        "\"maximize\"}, {\"name\": \"ms\", \"direction\": "
                        "\"minimize\"}]}",
                        &err);

    CHECK_STR(err.text, "");
    return of;
}

TEST(manager_metrics_of_several_values)
{
    static const struct {
        const char *line;
        enum metrics_word word;
        double value;
        const char *want;
    } cases[] = {
        {"intermediate {\"acc\": 0.5}", METRICS_METRIC, 0.5, ""},
        {"intermediate {\"ms\": 12}", METRICS_METRIC, NAN, ""},
        {"intermediate {\"loss\": 12}", METRICS_BAD, 0,
         "line 3: no value 'acc', reported is 'loss'"},
        {"intermediate 3", METRICS_BAD, 0, "line 4: no value 'acc'"},
        {"final {\"acc\": 0.5, \"ms\": 3, \"loss\": 1}", METRICS_METRIC, 0.5,
         ""},
        {"final {\"acc\": 0.5, \"sm\": 3}", METRICS_LACKS, 0,
         "line 6: no value 'ms', reported is 'acc' and 'sm' (did you mean "
         "'sm'?)"},
        {"done 0.5", METRICS_LACKS, 0, "line 7: no value 'acc'"},
        {"final  \t{\"acc\": 0.5, \"ms\": 3}", METRICS_METRIC, 0.5, ""},
        {"final \"{\\\"acc\\\": 0.5, \\\"ms\\\": 3}\"", METRICS_LACKS, 0,
         "line 9: expected an object with values by name, got a text"},
    };
    struct objectives *of = two_objectives();
    struct metrics m = {0};
    struct metric_line line;
    struct err err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_clear(&err);
        CHECK_EQ(metrics_line(&m, of, cases[i].line, strlen(cases[i].line),
                              false, &line, &err),
                 cases[i].word);
        CHECK_HAS(err.text, cases[i].want);
        if (cases[i].word != METRICS_METRIC)
            continue;
        CHECK(line.value == cases[i].value ||
              (isnan(line.value) && isnan(cases[i].value)));
        CHECK_EQ(line.json[0], '{');
    }
    objectives_free(of);
}

TEST(manager_patterns_make_one_result_of_several_lines)
{
    static const struct {
        const char *line, *json; /* NULL: no result yet */
    } cases[] = {
        {"acc=0.5", NULL},
        {"loss=2", NULL},
        {"acc=0.75", NULL},
        {"ms=12", "{\"acc\": 0.75, \"ms\": 12.0, "
                  "\"loss\": 2.0}"},
        {"ms=nan", NULL},
        {"-", NULL},
        {"acc=1 ms=inf", "{\"acc\": 1.0, \"ms\": Infinity}"},
    };
    char texts[][16] = {"acc",        "acc=([0-9.]+)", "ms",
                        "ms=([^ ]+)", "loss",          "loss=([0-9]+)"};
    struct experiment x = {.patterns = {{texts[0], texts[1]},
                                        {texts[2], texts[3]},
                                        {texts[4], texts[5]}},
                           .n_patterns = 3,
                           .objectives = two_objectives()};
    struct patterns *p = patterns_new(&x, NULL);
    struct pattern_values values = {0};
    struct buf json;
    double value;

    buf_init(&json, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(patterns_take(p, &values, cases[i].line, &json, &value),
                 cases[i].json != NULL);
        if (cases[i].json != NULL)
            CHECK_STR(buf_text(&json), cases[i].json);
    }
    CHECK(value == 1);
    CHECK(patterns_match(p, "loss=3") && !patterns_match(p, "loss="));
    buf_fini(&json);
    patterns_free(p);
    objectives_free(x.objectives);
}

TEST(manager_metrics_say_who_waits)
{
    static const struct {
        const char *line, *json;
        bool waits, hears;
    } cases[] = {
        {"intermediate 0.5\t", "0.5", true, false},
        {"intermediate {\"default\": 1}\t\t", "{\"default\": 1}", true, true},
        {"intermediate 0.5 ", "0.5 ", false, false},
        {"intermediate \t0.5", "\t0.5", false, false},
        {"final 1\t", "1\t", false, false},
    };
    struct metrics m = {0};
    struct metric_line line;
    struct buf out;
    struct err err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[64] = "";

        CHECK_EQ(give(&m, cases[i].line, &line, &err), METRICS_METRIC);
        CHECK_EQ(line.waits, cases[i].waits);
        CHECK_EQ(line.hears, cases[i].hears);
        memcpy(json, line.json, line.len);
        CHECK_STR(json, cases[i].json);
    }
    /* A bad one waits as well. */
    CHECK_EQ(give(&m, "intermediate x\t\t", &line, &err), METRICS_BAD);
    CHECK(line.waits && line.hears);
    CHECK_EQ(give(&m, "intermediate \t\t", &line, &err), METRICS_BAD);
    CHECK(line.waits && line.hears);
    CHECK_EQ(give(&m, "intermediate 2\t", &line, &err), METRICS_METRIC);
    line.sync = true;
    buf_init(&out, 1000);
    metrics_write(&out, "A", "0", 0, 0, &line);
    CHECK_HAS(buf_text(&out),
              "\"value\": \"2\", \"attempt\": 0, \"sync\": true}");
    buf_fini(&out);
}

TEST(manager_metrics_done_is_a_final_result)
{
    struct metrics m = {0};
    struct metric_line line;
    struct err err;

    CHECK_EQ(give(&m, "final 1", &line, &err), METRICS_METRIC);
    CHECK(line.final && !line.done);
    CHECK_EQ(give(&m, "done {\"default\": 2}", &line, &err), METRICS_METRIC);
    CHECK(line.final && line.done);
    CHECK_EQ(line.sequence, 1);
    CHECK(line.value == 2);
    CHECK_EQ(give(&m, "done", &line, &err), METRICS_BAD);
    CHECK_EQ(give(&m, "done x", &line, &err), METRICS_BAD);
    CHECK_EQ(m.finals, 3); /* a bad one keeps its number */
}

/* It is none, has no number, and is no mistake of the file's. */
TEST(manager_metrics_tell_of_a_refused_final)
{
    struct metrics m = {0};
    struct metric_line line;
    struct err err;

    CHECK_EQ(give(&m, "refused", &line, &err), METRICS_REFUSED);
    CHECK_EQ(give(&m, "refused 1", &line, &err), METRICS_BAD);
    CHECK_EQ(give(&m, "final 1", &line, &err), METRICS_METRIC);
    CHECK_EQ(line.sequence, 0);
}

TEST(manager_metrics_tell_of_checkpoints)
{
    static const char *const bad[] = {"checkpoint ", "checkpoint x",
                                      "checkpoint -1", "checkpoint 1 "};
    struct metrics m = {0};
    struct metric_line line;
    struct err err;

    CHECK_EQ(give(&m, "checkpoint 12", &line, &err), METRICS_CHECKPOINT);
    CHECK_EQ(line.sequence, 12);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(give(&m, bad[i], &line, &err), METRICS_BAD);
        CHECK_HAS(err.text, "expected 'checkpoint NUMBER'");
    }
    CHECK_EQ(give(&m, "intermediate 1", &line, &err), METRICS_METRIC);
    CHECK_EQ(line.sequence, 0); /* checkpoints have no number among metrics */
}

TEST(manager_metrics_tell_the_time_between_them)
{
    struct metric_line line = {
        .json = "1", .len = 1, .sync = true, .elapsed_ns = 1500000000};
    struct buf out;

    buf_init(&out, 4096);
    metrics_write(&out, "00003", "3", 0, 0, &line);
    CHECK_HAS(buf_text(&out),
              "\"attempt\": 0, \"sync\": true, \"elapsed\": 1.500000}");
    buf_fini(&out);
}
