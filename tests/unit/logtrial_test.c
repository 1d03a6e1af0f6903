/* SPDX-License-Identifier: MIT */
#include "replay/logtrial.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "history/history.h"
#include "log/log.h"
#include "log/record.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

struct line {
    enum record_kind kind;
    const char *payload;
};

static struct log_reader *
write_log(const struct line *lines, size_t n)
{
    struct log_reader *f;
    struct buf out;
    struct err err;

    buf_init(&out, 1 << 20);
    record_write_version(&out);
    for (size_t i = 0; i < n; i++)
        record_encode(&out, lines[i].kind, i, 1, lines[i].payload,
                      strlen(lines[i].payload));
    CHECK_EQ(file_write("log", out.data, out.len, &err), 0);
    buf_fini(&out);
    f = log_open("log", 0, &err);
    CHECK(f != NULL);
    return f;
}

/* The numbers of the trial's records, as "1 3 4 "; "none": there is no such
 * trial. */
static const char *
records_of(struct log_reader *f, const char *word, char *text, size_t size)
{
    struct logtrial t;
    struct record r;
    struct err err;
    size_t at = 0;
    int found = logtrial_find(&t, f, word, &err);

    CHECK(found >= 0);
    text[0] = '\0';
    while (log_next(f, &r, &err) == LOG_RECORD)
        if (logtrial_has(&t, &r))
            at += (size_t)snprintf(text + at, size - at, "%d ", (int)r.number);
    log_rewind(f);
    logtrial_fini(&t);
    if (found == 0)
        snprintf(text, size, "none");
    return text;
}

TEST(logtrial_goes_by_what_the_trial_itself_said)
{
    static const struct line lines[] = {
        {RECORD_HEAD, "{}"},
        {RECORD_TUNER, "TR{\"parameter_id\": 1}"},
        {RECORD_TUNER, "TR{\"parameter_id\": \"0-3_1\"}"},
        {RECORD_TUNER, "TR{\"parameter_id\": 11}"},
        {RECORD_IN, "ME{\"trial_job_id\": \"A\", \"parameter_id\": 1}"},
        {RECORD_IN, "EN{\"trial_job_id\": \"B\", \"hyper_params\": "
                    "\"{\\\"parameter_id\\\": 1}\"}"},
        {RECORD_IN, "EN{\"trial_job_id\": \"A\", \"hyper_params\": "
                    "\"{\\\"parameter_id\\\": 11}\"}"},
        {RECORD_ASSESSOR, "KI\"A\""},
        {RECORD_ASSESSOR, "KI\"\\u0041\""},
        {RECORD_IN, "ME{\"trial_job_id\": \"1\", \"parameter_id\": 4}"},
        {RECORD_IN, "EN{\"trial_job_id\": \"C\", \"hyper_params\": "
                    "\"{\\\"parameter_id\\\": \\\"0-3_1\\\"}\"}"},
        {RECORD_IN, "AD[{\"parameter_id\": 7}, \"{\\\"parameter_id\\\": 9}\"]"},
        {RECORD_TUNER_FRAME, "TR{\"parameter_id\": 4}"},
        {RECORD_IN, "ME{\"trial_job_id\": \"D\", \"parameter_id\": null}"},
        {RECORD_ASSESSOR, "AK{\"trial_job_id\": \"D\", \"decision\": \"go\"}"},
        {RECORD_IN, "ME{not JSON, \"trial_job_id\": \"D\"}"},
    };
    static const struct {
        const char *word, *want;
    } cases[] = {
        {"A", "1 4 6 7 8 "},
        {"B", "1 5 "},
        {"1", "9 "},
        {"4", "9 "},
        {"11", "3 "},
        {"0-3_1", "2 10 "},
        {"C", "2 10 "},
        {"7", "11 "},
        {"9", "11 "},
        {"D", "13 14 "},
        {"Z", "none"},
        {"", "none"},
        {"parameter_id", "none"},
    };
    struct log_reader *f = write_log(lines, sizeof lines / sizeof *lines);
    char text[64];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(records_of(f, cases[i].word, text, sizeof text),
                  cases[i].want);
    log_close(f);
}

/* A log that is followed: the other name is learnt when it comes. */
TEST(logtrial_learns_the_other_name)
{
    static const struct line lines[] = {
        {RECORD_TUNER, "TR{\"parameter_id\": 3}"},
        {RECORD_TUNER, "TR{\"parameter_id\": 4}"},
        {RECORD_IN, "NT{\"event\": \"started\", \"trial_job_id\": \"x\", "
                    "\"parameter_id\": 3}"},
        {RECORD_ASSESSOR, "KI\"x\""},
        {RECORD_ASSESSOR, "KI\"y\""},
    };
    static const struct line nothing[] = {{RECORD_HEAD, "{}"}};
    struct log_reader *f = write_log(nothing, 1);
    struct logtrial t;
    struct record r;
    struct err err;
    size_t i = 0;

    CHECK_EQ(logtrial_find(&t, f, "3", &err), 0);
    log_close(f);
    f = write_log(lines, sizeof lines / sizeof *lines);
    for (; log_next(f, &r, &err) == LOG_RECORD; i++)
        CHECK_EQ(logtrial_has(&t, &r), i == 0 || i == 2 || i == 3);
    CHECK_EQ(i, 5);
    CHECK_STR(t.job, "x");
    CHECK_STR(t.parameter, "3");
    logtrial_fini(&t);
    log_close(f);
}

/* Which parameters each job ran, as the history and as logtrial tells it. */
TEST(logtrial_and_the_history_name_the_same_parameters)
{
#define ME(job, id)                                           \
    "ME{\"trial_job_id\": \"" job "\", \"parameter_id\": " id \
    ", \"type\": \"FINAL\", \"sequence\": 0, \"value\": \"1\"}"
#define NT(job, id)                                       \
    "NT{\"event\": \"started\", \"trial_job_id\": \"" job \
    "\", \"parameter_id\": " id ", \"attempt\": 0}"
#define EN(job, id)                                                \
    "EN{\"trial_job_id\": \"" job "\", \"event\": \"SUCCEEDED\", " \
    "\"hyper_params\": \"{\\\"parameter_id\\\": " id "}\"}"
    static const struct line lines[] = {
        {RECORD_HEAD, "{}"},       {RECORD_IN, NT("A", "1")},
        {RECORD_IN, NT("A", "2")}, {RECORD_IN, NT("B", "3")},
        {RECORD_IN, ME("B", "4")}, {RECORD_IN, ME("B", "5")},
        {RECORD_IN, NT("B", "6")}, {RECORD_IN, EN("A", "7")},
        {RECORD_IN, EN("B", "7")}, {RECORD_IN, EN("C", "8")},
    };
    static const char *const ran[][2] = {{"A", "2"}, {"B", "4"}, {"C", "8"}};
    static const char *const other[] = {"1", "3", "6", "7"};
    struct log_reader *f = write_log(lines, sizeof lines / sizeof *lines);
    struct history_reader *h = history_open_log("log", NULL);
    struct history_fact fact;
    struct logtrial t;
    size_t ended = 0;

    while (history_next(h, &fact, NULL) == 1)
        if (fact.kind == HISTORY_ENDED) {
            CHECK_STR(fact.trial->suggested.id, ran[ended][1]);
            ended++;
        }
    CHECK_EQ(ended, 3);
    for (size_t i = 0; i < 3; i++)
        for (size_t by = 0; by < 2; by++) {
            CHECK_EQ(logtrial_find(&t, f, ran[i][by], NULL), 1);
            CHECK_STR(t.job, ran[i][0]);
            CHECK_STR(t.parameter, ran[i][1]);
            logtrial_fini(&t);
        }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        CHECK_EQ(logtrial_find(&t, f, other[i], NULL), 1);
        CHECK(t.job == NULL);
        logtrial_fini(&t);
    }
    history_close(h);
    log_close(f);
}

/* As people write it, where it is no parameter_id. */
TEST(logtrial_knows_a_trial_by_its_number)
{
    static const struct line lines[] = {
        {RECORD_HEAD, "{}"},
        {RECORD_TUNER, "TR{\"parameter_id\": \"0-3_1\"}"},
        {RECORD_IN, "ME{\"trial_job_id\": \"00003\", "
                    "\"parameter_id\": \"0-3_1\"}"},
        {RECORD_TUNER, "TR{\"parameter_id\": 4}"},
        {RECORD_IN, "ME{\"trial_job_id\": \"00004\", "
                    "\"parameter_id\": 5}"},
    };
    struct log_reader *f = write_log(lines, sizeof lines / sizeof *lines);
    char text[100];

    CHECK_STR(records_of(f, "3", text, sizeof text), "1 2 ");
    CHECK_STR(records_of(f, "003", text, sizeof text), "1 2 ");
    CHECK_STR(records_of(f, "4", text, sizeof text), "3 ");
    CHECK_STR(records_of(f, "6", text, sizeof text), "none");
    CHECK_STR(records_of(f, "", text, sizeof text), "none");
    log_close(f);
}
