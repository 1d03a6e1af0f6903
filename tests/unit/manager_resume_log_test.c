/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/file.h"
#include "history/history.h"
#include "manager/results.h"
#include "manager/resume_log.h"
#include "log/record.h"

#include <string.h>

/* The history of this test's records. */
static struct history_reader *history;

static void
add_record(struct resume_log *p, const struct record *r)
{
    struct history_fact fact;

    if (history == NULL)
        history = history_new(NULL);
    CHECK_EQ(history_take(history, r, NULL), 0);
    while (history_next(history, &fact, NULL) == 1)
        resume_log_add(p, &fact);
}

static void
add(struct resume_log *p, enum record_kind kind, const char *payload)
{
    const struct record r = {
        .kind = kind, .payload = payload, .len = strlen(payload)};

    add_record(p, &r);
}

/* The trial with this trial_job_id; NULL: the log does not know it. */
static const struct logged_trial *
find(const struct resume_log *p, const char *id)
{
    return map_get(&p->by_id, id, strlen(id));
}

static void
forget(struct resume_log *p)
{
    history_close(history);
    history = NULL;
    resume_log_fini(p);
}

#define TR_7 "TR{\"parameter_id\": 7, \"parameters\": {\"x\": 1.0}}"
#define NT_7                                                  \
    "NT{\"event\": \"started\", \"trial_job_id\": \"00003\"," \
    " \"parameter_id\": 7, \"attempt\": 0}"

#define ME_7(type, sequence, attempt)                                         \
    "ME{\"parameter_id\": 7, \"trial_job_id\": \"00003\", \"type\": \"" type  \
    "\", \"sequence\": " sequence ", \"value\": \"1\", \"attempt\": " attempt \
    "}"

TEST(manager_past_follows_a_trial_to_its_end)
{
    const struct logged_trial *t;
    struct resume_log p = {0};

    add(&p, RECORD_TUNER, TR_7);
    CHECK(find(&p, "00003") == NULL);
    add(&p, RECORD_IN, NT_7);
    t = find(&p, "00003");
    CHECK(t != NULL);
    CHECK(t->started);
    CHECK(t->event == NULL);
    CHECK_STR(t->record, &TR_7[2]);
    add(&p, RECORD_IN, ME_7("PERIODICAL", "4", "0"));
    add(&p, RECORD_IN, ME_7("PERIODICAL", "9", "1"));
    add(&p, RECORD_IN, ME_7("FINAL", "0", "0"));
    CHECK_EQ(t->sent.intermediates, 5);
    CHECK_EQ(t->sent.finals, 1);
    add(&p, RECORD_IN,
        "NT{\"event\": \"started\", \"trial_job_id\": \"00003\", "
        "\"parameter_id\": 7, \"attempt\": 2}");
    CHECK_EQ(t->attempt, 2);
    CHECK_EQ(t->sent.intermediates, 0);
    add(&p, RECORD_IN,
        "EN{\"trial_job_id\": \"00003\", \"event\": \"SUCCEEDED\", "
        "\"hyper_params\": \"{\\\"parameter_id\\\": 7}\"}");
    add(&p, RECORD_IN, /* the first one counts */
        "EN{\"trial_job_id\": \"00003\", \"event\": \"FAILED\", "
        "\"hyper_params\": \"{}\"}");
    CHECK_STR(t->event, "SUCCEEDED");
    forget(&p);
}

TEST(manager_past_knows_an_end_without_a_start)
{
    const struct logged_trial *t;
    struct resume_log p = {0};

    add(&p, RECORD_TUNER, TR_7);
    add(&p, RECORD_IN,
        "EN{\"trial_job_id\": \"00009\", \"event\": \"USER_CANCELED\", "
        "\"hyper_params\": \"{\\\"parameter_id\\\": 7}\"}");
    t = find(&p, "00009");
    CHECK(t != NULL);
    CHECK(!t->started);
    CHECK_STR(t->event, "USER_CANCELED");
    CHECK_STR(t->record, &TR_7[2]);
    forget(&p);
}

TEST(manager_past_leaves_the_rest_alone)
{
    static const char *const others[] = {"",
                                         "N",
                                         "NT",
                                         "NT{",
                                         "NT[]",
                                         "NT{\"event\": \"started\"}",
                                         "EN{\"trial_job_id\": 3}",
                                         "TR{}",
                                         "ME{\"trial_job_id\": \"00003\"}"};
    struct resume_log p = {0};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        add(&p, RECORD_IN, others[i]);
        add(&p, RECORD_TUNER, others[i]);
        add(&p, RECORD_ROUTER, others[i]);
    }
    CHECK(p.first == NULL);
    CHECK(!p.failed);
    forget(&p);
}

TEST(manager_past_takes_additions_as_a_list_or_alone)
{
    struct resume_log p = {0};

    add(&p, RECORD_IN, "AD[{\"parameter_id\": 1}, 5, {\"parameter_id\": 2}]");
    add(&p, RECORD_IN, "AD{\"parameter_id\": 3}");
    add(&p, RECORD_IN, "AD5");
    CHECK(resume_log_gave(&p, "1"));
    CHECK(resume_log_gave(&p, "2"));
    CHECK(resume_log_gave(&p, "3"));
    CHECK(!resume_log_gave(&p, "5"));
    CHECK_STR(p.last->record, "{\"parameter_id\": 3}");
    forget(&p);
}

TEST(manager_past_what_is_told_twice_is_told_once)
{
    struct resume_log p = {0};

    add(&p, RECORD_TUNER, TR_7);
    add(&p, RECORD_IN, NT_7);
    add(&p, RECORD_IN, ME_7("PERIODICAL", "0", "0"));
    CHECK(!p.last_sent.asked);
    add(&p, RECORD_IN, "GE1");
    CHECK(p.last_sent.asked);
    add(&p, RECORD_IN, ME_7("PERIODICAL", "0", "0"));
    CHECK(p.last_sent.asked);
    add(&p, RECORD_IN, ME_7("PERIODICAL", "1", "0"));
    CHECK(!p.last_sent.asked);
    CHECK_EQ(p.last_sent.sequence, 1);
    forget(&p);
}

TEST(manager_past_knows_that_first_segments_are_gone_by_their_record_alone)
{
    static const struct record gone = {
        .kind = RECORD_TUNER_EVENT, .number = 1, .payload = "gone 1", .len = 6};
    static const struct record in = {
        .kind = RECORD_IN, .number = 2, .payload = "PI", .len = 2};
    static const struct record segment = {
        .kind = RECORD_SEGMENT, .number = 1, .payload = "2 1 99", .len = 6};
    struct resume_log p = {0};

    add_record(&p, &gone);
    add_record(&p, &in);
    CHECK(!p.front_dropped && !p.space);
    forget(&p);
    p = (struct resume_log){0};
    add_record(&p, &segment);
    add_record(&p, &in);
    CHECK(p.front_dropped && p.space);
    forget(&p);
}

TEST(manager_past_knows_what_was_released_and_reported_last)
{
    const struct logged_trial *t;
    struct resume_log p = {0};

    add(&p, RECORD_TUNER, TR_7);
    add(&p, RECORD_IN, NT_7);
    t = find(&p, "00003");
    CHECK(!t->latest.given);
    add(&p, RECORD_IN, ME_7("PERIODICAL", "0", "0"));
    CHECK(t->latest.given);
    CHECK(t->latest.value > 0.5 && t->latest.value < 1.5);
    add(&p, RECORD_TUNER,
        "DT{\"trial_job_id\": \"00003\", \"decision\": \"pause\"}");
    add(&p, RECORD_TUNER,
        "DT{\"trial_job_id\": \"00004\", \"decision\": \"release\"}");
    add(&p, RECORD_TUNER, "DT[]");
    CHECK(!t->released);
    add(&p, RECORD_TUNER,
        "DT{\"trial_job_id\": \"00003\", \"decision\": \"release\"}");
    CHECK(t->released);
    forget(&p);
}

/* As earlier versions told it when they were interrupted in lock step. */
TEST(manager_past_awaits_no_answer_to_an_end_without_sync)
{
    struct resume_log p = {0};

    add(&p, RECORD_IN, NT_7);
    add(&p, RECORD_IN, ME_7("PERIODICAL", "0", "0"));
    add(&p, RECORD_IN,
        "EN{\"trial_job_id\": \"00003\", \"event\": \"USER_CANCELED\", "
        "\"hyper_params\": \"{}\"}");
    CHECK(!p.last_sent.end);
    CHECK_STR(find(&p, "00003")->event, "USER_CANCELED");
    add(&p, RECORD_IN,
        "EN{\"trial_job_id\": \"00003\", \"event\": \"SUCCEEDED\", "
        "\"hyper_params\": \"{}\", \"sync\": true}");
    CHECK(p.last_sent.end);
    forget(&p);
}

TEST(manager_past_knows_that_the_last_attempt_was_interrupted)
{
    const struct logged_trial *t;
    struct resume_log p = {0};

    add(&p, RECORD_IN, NT_7);
    t = find(&p, "00003");
    add(&p, RECORD_IN,
        "NT{\"event\": \"exited\", \"trial_job_id\": \"00003\", "
        "\"attempt\": 0, \"status\": \"interrupted\"}");
    CHECK(t->interrupted);
    CHECK(t->event == NULL);
    add(&p, RECORD_IN,
        "NT{\"event\": \"started\", \"trial_job_id\": \"00003\", "
        "\"parameter_id\": 7, \"attempt\": 1}");
    CHECK(!t->interrupted);
    add(&p, RECORD_IN,
        "NT{\"event\": \"exited\", \"trial_job_id\": \"00003\", "
        "\"attempt\": 1, \"status\": \"exited 3\"}");
    CHECK(!t->interrupted);
    forget(&p);
}

static void
write_log(const char *const *records, size_t n)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    record_write_version(&b);
    record_encode(&b, RECORD_HEAD, 0, 1, "{}", 2);
    for (size_t i = 0; i < n; i++)
        record_encode(&b, records[i][0] == 'T' ? RECORD_TUNER : RECORD_IN,
                      i + 1, 1, records[i], strlen(records[i]));
    CHECK_EQ(file_write("command.log", b.data, b.len, NULL), 0);
    buf_fini(&b);
}

/* Of trials that are recorded no more is read than their ends; where one has
 * none, all is. */
TEST(manager_past_leaves_out_what_is_recorded)
{
    static const char *const records[] = {
        "TR{\"parameter_id\": 7, \"parameters\": {}}",
        "NT{\"event\": \"started\", \"trial_job_id\": \"00003\", "
        "\"parameter_id\": 7, \"attempt\": 0}",
        "TR{\"parameter_id\": 8, \"parameters\": {}}",
        "NT{\"event\": \"started\", \"trial_job_id\": \"00004\", "
        "\"parameter_id\": 8, \"attempt\": 0}",
        "EN{\"trial_job_id\": \"00003\", \"event\": \"SUCCEEDED\", "
        "\"hyper_params\": \"{}\"}",
    };
    struct results_numbers recorded = {{0}, {0}};

    CHECK_EQ(idset_add(&recorded.trials, 3), 0);
    CHECK_EQ(idset_add(&recorded.parameters, 7), 0);
    for (int lacks = 0; lacks < 2; lacks++) {
        struct resume_log p = {.recorded = &recorded};

        write_log(records, 5 - (size_t)lacks);
        CHECK_EQ(resume_log_load(&p, ".", NULL), 0);
        CHECK_EQ(find(&p, "00003") != NULL, lacks);
        CHECK_EQ(resume_log_gave(&p, "7"), lacks);
        CHECK_EQ(idset_has(&p.ended, 3), !lacks);
        CHECK(find(&p, "00004") != NULL && resume_log_gave(&p, "8"));
        resume_log_fini(&p);
    }
    results_numbers_fini(&recorded);
}
