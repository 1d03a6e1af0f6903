/* SPDX-License-Identifier: MIT */
/* What the dispatcher makes of a tuner that decides how long trials run. */
#include "dispatcher_help.h"

static const struct policy plain, extended = {.extensions = true};

static void
begin(struct drive *d, const char *args, struct policy p)
{
    drive_setup(d, "advisor", args, NULL, NULL);
    d->setup.policy = p;
    drive_start(d);
    drive_send(d, "IN", "%s", HELP_SPACE);
}

/* An intermediate result, and what comes of it. */
static const char *
report(struct drive *d, int id, const char *job, int sequence, const char *rest)
{
    return drive_send(d, "ME",
                      "{\"parameter_id\": %d, \"trial_job_id\": \"%s\", "
                      "\"type\": \"PERIODICAL\", \"sequence\": %d, "
                      "\"value\": \"0.%d\"%s}",
                      id, job, sequence, id + 1, rest);
}

#define SYNC ", \"sync\": true"

/* Rungs of 3 and 1, with budgets 1 and 3. */
#define SMALL "{\"budget\": 3, \"eta\": 3}"

TEST(advisor_pauses_and_goes_on_from_the_checkpoint)
{
    struct drive d;
    const char *sent;

    begin(&d, SMALL, extended);
    sent = drive_send(&d, "GE", "3");
    CHECK_HAS(sent, "TR {\"parameter_id\": 0, \"parameter_source\": "
                    "\"algorithm\", \"parameters\": {\"x\": ");
    CHECK_HAS(sent, ", \"TRIAL_BUDGET\": 1}, \"parameter_index\": 0}\n");
    CHECK(strstr(sent, "resume_from") == NULL);
    CHECK_HAS(drive_send(&d, "GE", "1"), "\"reason\": \"later\", \"units\": 1");
    CHECK_STR(report(&d, 0, "A", 0, SYNC),
              "4 DT {\"trial_job_id\": \"A\", \"decision\": \"pause\"}\n"
              "4 AK {\"trial_job_id\": \"A\", \"sequence\": 0, \"decision\": "
              "\"pause\"}\n");
    /* nothing is decided twice, and the answer stays */
    CHECK_STR(report(&d, 0, "A", 1, SYNC),
              "5 AK {\"trial_job_id\": \"A\", \"sequence\": 1, \"decision\": "
              "\"pause\"}\n");
    report(&d, 1, "B", 0, "");
    report(&d, 2, "C", 0, "");
    CHECK_STR(drive_end(&d, 0, "A", "PAUSED"), "");
    CHECK_STR(drive_end(&d, 1, "B", "PAUSED"), "");
    sent = drive_end(&d, 2, "C", "PAUSED");
    CHECK_HAS(sent, "10 DT {\"trial_job_id\": \"B\", \"decision\": "
                    "\"release\"}\n"
                    "10 DT {\"trial_job_id\": \"A\", \"decision\": "
                    "\"release\"}\n"
                    "10 TR {\"parameter_id\": 3, ");
    CHECK_HAS(sent, ", \"TRIAL_BUDGET\": 3}, \"parameter_index\": 0, "
                    "\"resume_from\": \"C\", \"resume_how\": \"promoted\"}\n");
    /* it goes on where its checkpoint was saved */
    CHECK_STR(report(&d, 3, "D", 0, SYNC ", \"base\": 1"),
              "11 AK {\"trial_job_id\": \"D\", \"sequence\": 0, \"decision\": "
              "\"go\"}\n");
    CHECK_STR(report(&d, 3, "D", 1, SYNC ", \"base\": 1"),
              "12 DT {\"trial_job_id\": \"D\", \"decision\": \"finish\"}\n"
              "12 AK {\"trial_job_id\": \"D\", \"sequence\": 1, \"decision\": "
              "\"finish\"}\n");
    drive_final(&d, 3, "D", "0.9");
    CHECK_STR(drive_end(&d, 3, "D", "SUCCEEDED"),
              "14 DT {\"trial_job_id\": \"D\", \"decision\": \"release\"}\n");
    CHECK_HAS(drive_send(&d, "GE", "1"), "\"reason\": \"exhausted\"");
    drive_stop(&d);
}

/* The point of a promotion is that of its first trial, bit by bit. */
TEST(advisor_promotes_the_same_point)
{
    struct drive d;
    char first[64];
    const char *sent;

    begin(&d, SMALL, extended);
    sent = drive_send(&d, "GE", "3");
    sent = strstr(strstr(sent, "\"parameter_id\": 2"), "\"x\"");
    snprintf(first, sizeof first, "%.*s", (int)strcspn(sent, ","), sent);
    for (int i = 0; i < 3; i++) {
        char job[2] = {(char)('A' + i), '\0'};

        report(&d, i, job, 0, "");
        drive_end(&d, i, job, "PAUSED");
    }
    CHECK_HAS(drive_send(&d, "GE", "1"), first);
    drive_stop(&d);
}

/* NNI's managers know no pause: trials end by themselves. */
TEST(advisor_without_extensions_lets_trials_run_to_their_budget)
{
    struct drive d;
    const char *sent;

    begin(&d, SMALL, plain);
    drive_send(&d, "GE", "4");
    for (int i = 0; i < 3; i++) {
        char job[2] = {(char)('A' + i), '\0'};

        CHECK_STR(report(&d, i, job, 0, ""), "");
        CHECK_STR(drive_final(&d, i, job, i == 1 ? "0.9" : "0.1"), "");
        sent = drive_end(&d, i, job, "SUCCEEDED");
    }
    CHECK_HAS(sent, "TR {\"parameter_id\": 3, ");
    CHECK_HAS(sent, ", \"TRIAL_BUDGET\": 3}, \"parameter_index\": 0}\n");
    CHECK(strstr(sent, "DT") == NULL);
    CHECK(strstr(sent, "resume") == NULL);
    drive_stop(&d);
}

/* One that reports by itself, and one that dies, count, too. */
TEST(advisor_counts_trials_that_end_otherwise)
{
    struct drive d;
    const char *sent;

    begin(&d, SMALL, extended);
    drive_send(&d, "GE", "4");
    report(&d, 0, "A", 0, "");
    drive_final(&d, 0, "A", "5");
    drive_end(&d, 0, "A", "SUCCEEDED"); /* it was quicker than the pause */
    drive_end(&d, 1, "B", "FAILED");
    sent = drive_end(&d, 2, "C", "USER_CANCELED");
    CHECK_HAS(sent, "\"resume_from\": \"A\"");
    CHECK_HAS(sent, "{\"trial_job_id\": \"B\", \"decision\": \"release\"}");
    drive_stop(&d);
}

TEST(advisor_adds_parameters_and_names)
{
    struct drive d;
    const char *sent;

    begin(&d,
          "{\"budget\": 3, \"eta\": 3, \"labels\": true, \"clones\": true, "
          "\"extra\": \"a\\\"b\"}",
          extended);
    sent = drive_send(&d, "GE", "4");
    CHECK_HAS(sent, "TR {\"parameter_id\": \"0_0\", ");
    CHECK_HAS(sent, ", \"extra\": \"a\\\"b\", \"TRIAL_BUDGET\": 1}");
    for (int i = 0; i < 3; i++) {
        char job[2] = {(char)('A' + i), '\0'};

        drive_send(&d, "ME",
                   "{\"parameter_id\": \"0_%d\", \"trial_job_id\": \"%s\", "
                   "\"type\": \"PERIODICAL\", \"sequence\": 0, "
                   "\"value\": \"%d\"}",
                   i, job, 7 - i);
        CHECK_HAS(buf_text(&d.sent), "\"decision\": \"pause\"");
        sent = drive_send(&d, "EN",
                          "{\"trial_job_id\": \"%s\", \"event\": \"PAUSED\", "
                          "\"hyper_params\": null}",
                          job);
    }
    CHECK_HAS(sent, "TR {\"parameter_id\": \"1_0\", ");
    CHECK_HAS(sent, "\"resume_from\": \"A\", \"resume_how\": \"cloned\"}");
    drive_stop(&d);
}

TEST(advisor_takes_no_assessor)
{
    struct emitter emitter = {drive_emit, NULL};
    struct drive d;

    drive_setup(&d, "advisor", NULL, "medianstop", NULL);
    emitter.ctx = &d;
    CHECK(session_new(&d.setup, emitter, &d.lines, &d.err) == NULL);
    CHECK_STR(d.err.text,
              "assessor medianstop: expected none: tuner advisor decides "
              "itself how long trials run");
    d.setup.policy.nni = true;
    err_clear(&d.err);
    drive_start(&d);
    CHECK_HAS(drive_lines(&d), "assessor medianstop is left out: ");
    CHECK(d.session->assessor == NULL);
    drive_stop(&d);
}

/* Out of order, of an older attempt, of nobody: not shown, but answered. */
TEST(advisor_answers_what_it_is_not_shown)
{
    struct drive d;

    begin(&d, "{\"budget\": 9, \"eta\": 9}", extended);
    drive_send(&d, "GE", "9");
    CHECK_HAS(report(&d, 0, "A", 0, SYNC), "\"decision\": \"pause\"");
    CHECK_HAS(report(&d, 1, "B", 0, ", \"attempt\": 1"), "pause");
    CHECK_HAS(report(&d, 1, "B", 1, SYNC), "\"sequence\": 1, \"decision\": "
                                           "\"pause\"");
    CHECK_HAS(report(&d, 77, "Z", 0, SYNC), "\"decision\": \"go\"");
    CHECK_HAS(drive_send(&d, "ME",
                         "{\"parameter_id\": 2, \"trial_job_id\": \"C\", "
                         "\"type\": \"PERIODICAL\", \"sequence\": 0, "
                         "\"value\": \"a\", \"sync\": true}"),
              "\"sequence\": 0, \"decision\": \"pause\"");
    drive_stop(&d);
}

TEST(advisor_hears_nothing_of_an_older_space)
{
    struct drive d;
    const char *sent;

    begin(&d, SMALL, extended);
    drive_send(&d, "GE", "4");
    report(&d, 0, "A", 0, "");
    drive_end(&d, 0, "A", "PAUSED");
    sent = drive_send(&d, "SS",
                      "{\"x\": {\"_type\": \"uniform\", \"_value\": [2, 3]}}");
    CHECK_HAS(sent, "DT {\"trial_job_id\": \"A\", \"decision\": \"release\"}");
    CHECK_HAS(sent, "TR {\"parameter_id\": 3, "); /* owed, of a new bracket */
    CHECK_STR(report(&d, 1, "B", 0, ""), "");
    CHECK_HAS(report(&d, 3, "D", 0, ""), "\"decision\": \"pause\"");
    drive_stop(&d);
}

/* ---- decisions, one by one ---- */

static void
begin_puppet(struct drive *d, struct policy p)
{
    drive_setup(d, "puppet", NULL, NULL, NULL);
    d->setup.policy = p;
    drive_start(d);
    drive_send(d, "IN", "%s", HELP_SPACE);
    drive_send(d, "GE", "4");
}

/* Trial `id` is job "A" + id. */
static const char *
say(struct drive *d, int id, int sequence, int value, const char *rest)
{
    return drive_send(d, "ME",
                      "{\"parameter_id\": %d, \"trial_job_id\": \"%c\", "
                      "\"type\": \"PERIODICAL\", \"sequence\": %d, "
                      "\"value\": \"%d\"%s}",
                      id, 'A' + id, sequence, value, rest);
}

#define DT(n, job, word) \
#n " DT {\"trial_job_id\": \"" job "\", \"decision\": \"" word "\"}\n"

TEST(advisor_decides_on_other_trials_once)
{
    struct drive d;

    begin_puppet(&d, extended);
    CHECK_STR(say(&d, 1, 0, 0, ""), "");
    CHECK_STR(say(&d, 0, 0, 12, ""), DT(4, "B", "pause"));
    CHECK_STR(say(&d, 0, 1, 12, ""), "");
    CHECK_STR(say(&d, 0, 2, 13, ""), DT(6, "B", "finish"));
    CHECK_STR(say(&d, 0, 3, 11, ""), "7 KI \"B\"\n");
    CHECK_STR(say(&d, 0, 4, 12, ""), "");
    CHECK_STR(say(&d, 0, 5, 13, ""), "");
    CHECK_STR(say(&d, 0, 6, 14, ""), DT(10, "B", "release"));
    CHECK_STR(say(&d, 0, 7, 14, ""), "");
    CHECK_STR(say(&d, 0, 8, 992, ""), ""); /* nobody */
    CHECK_STR(drive_end(&d, 1, "B", "USER_CANCELED"), "");
    CHECK_STR(say(&d, 0, 9, 14, ""), "");
    drive_stop(&d);
}

TEST(advisor_decides_on_trials_that_have_not_been_heard_of)
{
    struct drive d;

    begin_puppet(&d, extended);
    CHECK_STR(say(&d, 0, 0, 11, ""), ""); /* stop 1 */
    CHECK_STR(say(&d, 0, 1, 22, ""), ""); /* pause 2 */
    CHECK_STR(say(&d, 0, 2, 24, ""), ""); /* release 2 */
    CHECK_STR(say(&d, 0, 3, 31, ""), ""); /* stop 3 */
    CHECK_STR(say(&d, 1, 0, -3, ", \"sync\": true"),
              "7 KI \"B\"\n"
              "7 AK {\"trial_job_id\": \"B\", \"sequence\": 0, \"decision\": "
              "\"stop\"}\n");
    CHECK_STR(say(&d, 2, 0, -3, ""), DT(8, "C", "pause") DT(8, "C", "release"));
    /* too late */
    CHECK_STR(drive_end(&d, 3, "D", "SUCCEEDED"), "");
    drive_stop(&d);
}

TEST(advisor_decides_on_ended_trials_release_alone)
{
    struct drive d;

    begin_puppet(&d, extended);
    say(&d, 1, 0, 0, "");
    drive_end(&d, 1, "B", "SUCCEEDED");
    CHECK_STR(say(&d, 0, 0, 12, ""), "");
    CHECK_STR(say(&d, 0, 1, 11, ""), "");
    CHECK_STR(say(&d, 0, 2, 14, ""), DT(7, "B", "release"));
    CHECK_STR(say(&d, 0, 3, 14, ""), "");
    drive_stop(&d);
}

/* Nobody knows of the checkpoint of one that was to be stopped. */
TEST(advisor_releases_what_was_paused_and_then_stopped)
{
    struct drive d;

    begin_puppet(&d, extended);
    say(&d, 0, 0, -2, "");
    say(&d, 1, 0, 1, "");
    CHECK_HAS(buf_text(&d.sent), "KI \"A\"");
    CHECK_STR(drive_end(&d, 0, "A", "PAUSED"), DT(5, "A", "release"));
    drive_stop(&d);
}

TEST(advisor_without_extensions_can_stop_alone)
{
    struct drive d;

    begin_puppet(&d, plain);
    CHECK_STR(say(&d, 1, 0, -2, ""), "");
    CHECK_STR(say(&d, 1, 1, -3, ""), "");
    CHECK_STR(say(&d, 0, 0, 14, ""), "");
    CHECK_STR(say(&d, 0, 1, 12, ""), "");
    CHECK_STR(say(&d, 0, 2, 11, ""), "7 KI \"B\"\n");
    CHECK_STR(say(&d, 0, 3, -1, ""), "8 KI \"A\"\n");
    CHECK_STR(say(&d, 0, 4, -1, ""), "");
    drive_stop(&d);
}

/* Steps count over all that it went on from, and rise within an attempt. */
TEST(advisor_sees_steps_in_their_order)
{
    struct drive d;

    begin_puppet(&d, extended);
    say(&d, 0, 0, 0, ", \"base\": 4");
    say(&d, 0, 2, 0, ", \"base\": 4");
    say(&d, 0, 1, 0, ", \"base\": 4"); /* too late */
    say(&d, 0, 0, 0, ", \"base\": 6, \"attempt\": 1");
    say(&d, 0, 3, 0, ", \"base\": 4"); /* of the older attempt */
    CHECK_HAS(drive_lines(&d), "tunepipe: tuner puppet: step 4 of attempt 0\n"
                               "tunepipe: tuner puppet: step 6 of attempt 0\n"
                               "tunepipe: tuner puppet: step 6 of attempt 1\n"
                               "tunepipe: command 7 (ME): ");
    drive_stop(&d);
}

/* A budget that is not whole, and one whose trial nobody has heard of. */
TEST(advisor_starts_anew_where_nothing_is_known)
{
    struct drive d;

    begin_puppet(&d, extended);
    CHECK_HAS(buf_text(&d.sent), ", \"TRIAL_BUDGET\": 2.5}, "
                                 "\"parameter_index\": 0}\n");
    CHECK_HAS(drive_lines(&d),
              "suggestion 1 is to go on from 0, of whose trial "
              "nothing is known, or any more: it starts anew");
    CHECK(strstr(buf_text(&d.sent), "resume_from") == NULL);
    drive_stop(&d);
}

/* ---- a manager of NNI's that is started again ---- */

TEST(advisor_of_a_manager_that_was_started_again)
{
    static const struct policy nni = {.nni = true};
    struct drive d;
    char first[512];
    const char *sent;

    begin(&d, "{\"budget\": 3, \"eta\": 3, \"extra\": \"e\"}", nni);
    sent = drive_send(&d, "GE", "3");
    sent = strstr(strstr(sent, "\"parameter_id\": 2"), "\"parameters\"");
    snprintf(first, sizeof first, "%.*s", (int)strcspn(sent, "\n"), sent);
    CHECK_HAS(first, "\"extra\": \"e\", \"TRIAL_BUDGET\": 1}");
    report(&d, 0, "A", 0, "");
    drive_final(&d, 0, "A", "0.1");
    drive_end(&d, 0, "A", "SUCCEEDED");
    report(&d, 1, "B", 0, "");
    /* from then on B and 2 are lost */
    drive_send(&d, "IN", "%s", HELP_SPACE);
    drive_send(&d, "FD", "[]");
    sent = drive_send(&d, "GE", "2");
    CHECK_HAS(sent, "TR {\"parameter_id\": 3, ");
    CHECK_HAS(sent, "TR {\"parameter_id\": 4, ");
    CHECK_HAS(sent, first);
    for (int i = 3; i < 5; i++) {
        char job[2] = {(char)('A' + i), '\0'};

        report(&d, i, job, 0, "");
        drive_final(&d, i, job, "0.9");
        sent = drive_end(&d, i, job, "SUCCEEDED");
    }
    CHECK_HAS(drive_send(&d, "GE", "1"), "\"TRIAL_BUDGET\": 3}");
    drive_stop(&d);
}
