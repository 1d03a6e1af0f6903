/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/err.h"
#include "core/file.h"
#include "trial/outcome.h"
#include "manager/parameters.h"
#include "manager/trial.h"
#include "manager/trial_folder.h"

#include <string.h>

static struct origin
read_origin(const char *text)
{
    struct json *doc = json_parse(text, strlen(text), JSON_STRICT, NULL);
    struct origin o = origin_read(json_root(doc));

    json_free(doc);
    return o;
}

TEST(manager_origin_of_a_suggestion)
{
    struct origin o = read_origin("{\"resume_from\": \"00012\", "
                                  "\"resume_how\": \"cloned\"}");

    CHECK_EQ(o.how, ORIGIN_CLONED);
    CHECK_EQ(o.from, 12);
    CHECK_EQ(read_origin("{\"resume_from\": \"3\", "
                         "\"resume_how\": \"promoted\"}")
                 .how,
             ORIGIN_PROMOTED);
    CHECK_EQ(read_origin("{}").how, ORIGIN_NONE);
    CHECK_EQ(read_origin("{\"resume_from\": \"3\"}").how, ORIGIN_NONE);
    CHECK_EQ(
        read_origin("{\"resume_from\": 3, \"resume_how\": \"cloned\"}").how,
        ORIGIN_NONE);
    CHECK_EQ(read_origin("{\"resume_from\": \"x\", "
                         "\"resume_how\": \"cloned\"}")
                 .how,
             ORIGIN_NONE);
    CHECK_EQ(read_origin("{\"resume_from\": \"3\", \"resume_how\": \"\"}").how,
             ORIGIN_NONE);
}

TEST(manager_origin_is_written_down)
{
    struct trial *t = trial_new(4, "", 0, "0", "{}"), *again;

    CHECK_EQ(trial_place(t, ".", NULL), 0);
    CHECK_EQ(file_make_folder(t->folder, NULL), 0);
    CHECK_EQ(trial_folder_write_origin(t, NULL), 0); /* of nothing: no file */
    CHECK(!trial_folder_read_origin(t));
    t->origin = (struct origin){.how = ORIGIN_PROMOTED, .from = 3};
    t->restore = 1;
    t->step = 9;
    CHECK_EQ(trial_folder_write_origin(t, NULL), 0);
    again = trial_new(4, "", 0, "0", "{}");
    CHECK_EQ(trial_place(again, ".", NULL), 0);
    CHECK(trial_folder_read_origin(again));
    CHECK_EQ(again->restore, 1);
    CHECK_EQ(again->step, 9);
    trial_free(again);
    trial_free(t);
}

TEST(manager_origin_and_the_report_that_reaches_the_budget)
{
    static const struct {
        const char *parameters;
        uint64_t step, reaches; /* UINT64_MAX: none does */
    } rows[] = {
        {"{\"TRIAL_BUDGET\": 3}", 0, 2},
        {"{\"TRIAL_BUDGET\": 3}", 1, 1},
        {"{\"TRIAL_BUDGET\": 2.5}", 0, 2},
        {"{\"TRIAL_BUDGET\": 0.5}", 0, 0},
        {"{\"TRIAL_BUDGET\": 3}", 7, 0}, /* it has used more already */
        {"{\"TRIAL_BUDGET\": 0}", 0, UINT64_MAX},
        {"{\"TRIAL_BUDGET\": -1}", 0, UINT64_MAX},
        {"{\"TRIAL_BUDGET\": \"3\"}", 0, UINT64_MAX},
        {"{\"x\": 3}", 0, UINT64_MAX},
        {"3", 0, UINT64_MAX},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trial *t = trial_new(0, "", 0, "0", rows[i].parameters);

        t->step = rows[i].step;
        for (uint64_t sequence = 0; sequence < 5; sequence++)
            CHECK_EQ(trial_reaches(t, sequence), sequence == rows[i].reaches);
        trial_free(t);
    }
}

/* How it was told to end, how it did and with which result. */
TEST(manager_origin_and_how_who_was_told_to_end_is_judged)
{
    static const struct {
        enum trial_stop stop;
        bool final;
        enum outcome_kind kind;
        int number;
        enum trial_state state;
    } rows[] = {
        {STOP_PAUSE, false, OUTCOME_EXITED, 0, TRIAL_PAUSED},
        {STOP_PAUSE, false, OUTCOME_EXITED, 1, TRIAL_PAUSED},
        {STOP_PAUSE, false, OUTCOME_SIGNALLED, 15, TRIAL_PAUSED},
        {STOP_PAUSE, false, OUTCOME_LOST, 0, TRIAL_PAUSED},
        {STOP_PAUSE, true, OUTCOME_EXITED, 0, TRIAL_SUCCEEDED},
        {STOP_PAUSE, true, OUTCOME_EXITED, 1, TRIAL_PAUSED},
        {STOP_FINISH, true, OUTCOME_EXITED, 0, TRIAL_SUCCEEDED},
        {STOP_FINISH, true, OUTCOME_SIGNALLED, 15, TRIAL_SUCCEEDED},
        {STOP_FINISH, false, OUTCOME_EXITED, 0, TRIAL_FAILED},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o = {.kind = rows[i].kind, .number = rows[i].number};
        struct trial *t = trial_new(0, "", 0, "0", "{}");

        t->state = TRIAL_RUN_ENDED;
        t->stop = rows[i].stop;
        t->final.given = rows[i].final;
        CHECK_EQ(trial_judge(t, &o), rows[i].state);
        CHECK_EQ(t->why[0] == '\0', rows[i].state != TRIAL_FAILED);
        CHECK_STR(trial_ended_by(t, false), "tuner");
        trial_free(t);
    }
}

TEST(manager_origin_and_the_words_of_stops)
{
    for (int stop = STOP_NOT + 1; stop < STOP_REASONS; stop++)
        CHECK_EQ(trial_stop_of(trial_stop_name((enum trial_stop)stop)), stop);
    CHECK_EQ(trial_stop_of(""), STOP_REASONS);
    CHECK_EQ(trial_stop_of("sleep"), STOP_REASONS);
}
