/* SPDX-License-Identifier: MIT */
#include "dispatcher/restart.h"

#include "dispatcher_help.h"

#include "core/pack.h"
#include "dispatcher/ledger.h"

/* ---- sessions under a manager of NNI's ---- */

static void
begin(struct drive *d, const char *assessor)
{
    drive_setup(d, "tells", NULL, assessor, NULL);
    d->setup.policy = (struct policy){.stopped = TELL_LATEST, .nni = true};
    drive_start(d);
    CHECK_STR(drive_send(d, "IN", "%s", HELP_SPACE), "1 ID \n");
}

/* What was said by plugins, and so on, since the last call; borrowed. */
static const char *
news(struct drive *d)
{
    static char text[65536];
    static size_t seen;
    const char *all = drive_lines(d);

    if (strlen(all) < seen)
        seen = 0;
    snprintf(text, sizeof text, "%s", all + seen);
    seen = strlen(all);
    return text;
}

/* How often the tuner and the assessor said that; in what news() gave. */
static int
times(const char *text, const char *what)
{
    int n = 0;

    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        n++;
    }
    return n;
}

static void
restart(struct drive *d)
{
    const char *sent = drive_send(d, "IN", "%s", HELP_SPACE);
    char want[40];

    snprintf(want, sizeof want, "%" PRIu64 " ID \n", d->arrivals);
    CHECK_STR(sent, want);
}

#define POINT(x, value, job)                                           \
    "{\"parameter\":{\"x\":" x "},\"value\":" value ",\"trialJobId\":" \
    "\"" job "\"}"
#define IMPORT(x, value) "{\"parameter\":{\"x\":" x "},\"value\":" value "}"
#define RECORD(id, x)                                            \
    "{\"parameter_id\":" id ",\"parameter_source\":\"resumed\"," \
    "\"parameters\":{\"x\":" x "},\"parameter_index\":0}"

TEST(restart_counts_each_result_once)
{
    struct drive d;
    const char *said;

    begin(&d, NULL);
    drive_send(&d, "FD", "[" IMPORT("0.75", "3") "]");
    drive_send(&d, "GE", "4");
    drive_final(&d, 0, "A", "0.5");
    drive_end(&d, 0, "A", "SUCCEEDED");
    drive_final(&d, 1, "B", "1e-05");     /* its end was not heard */
    drive_periodical(&d, 2, "C", 0, "7"); /* nor was its result */
    drive_periodical(&d, 3, "D", 0, "8");
    restart(&d);
    said = news(&d);
    CHECK_EQ(times(said, "space of 1"), 1);
    CHECK_STR(
        drive_send(
            &d, "FD",
            "[" POINT("0.015625", "\"0.5\"", "A") "," POINT(
                "0.03125", "\"0.00001\"",
                "B") "," POINT("0.046875", "\"0.7\"",
                               "C") "," IMPORT("7.5e-1",
                                               "3.0") "," IMPORT("0.25",
                                                                 "\"4\"") "]"),
        "");
    said = news(&d);
    CHECK_EQ(times(said, ": tell "), 2);
    CHECK_HAS(said, ": tell 2 0.046875 = 0.7 final");
    CHECK_HAS(said, ": tell -1 0.25 = 4 imported");
    CHECK_HAS(said, ": ended 1 succeeded");
    CHECK_HAS(said, ": ended 2 succeeded");
    CHECK_EQ(times(said, ": ended "), 2);
    CHECK_HAS(said, "2 of 5 results imported, 3 were on record");
    drive_send(&d, "AD", "[" RECORD("3", "0.0625") "]");
    CHECK_HAS(drive_send(&d, "GE", "4"), "TR {\"parameter_id\": 4, ");
    said = news(&d);
    CHECK_EQ(times(said, ": ended "), 0);
    CHECK_EQ(times(said, "are lost"), 0);
    /* the same trial, from the beginning */
    drive_periodical(&d, 3, "D", 0, "8");
    drive_final(&d, 3, "D", "0.25");
    drive_end(&d, 3, "D", "SUCCEEDED");
    said = news(&d);
    CHECK_EQ(times(said, "error"), 0);
    CHECK_HAS(said, ": tell 3 0.0625 = 0.25 final");
    CHECK_HAS(said, ": ended 3 succeeded");
    drive_stop(&d);
}

/* And once more, with what the second one brought. */
TEST(restart_may_happen_again)
{
    struct drive d;
    const char *said;

    begin(&d, NULL);
    drive_send(&d, "GE", "2");
    drive_final(&d, 0, "A", "0.5");
    for (int i = 0; i < 3; i++) {
        restart(&d);
        drive_send(&d, "FD",
                   "[" POINT("0.015625", "\"0.5\"", "A") "," IMPORT(
                       "0.25", "4") "," IMPORT("0.25", "4") "]");
        drive_send(&d, "AD", "[" RECORD("1", "0.03125") "]");
    }
    drive_send(&d, "GE", "1");
    said = news(&d);
    CHECK_EQ(times(said, ": tell 0 0.015625 = 0.5 final"), 1);
    CHECK_EQ(times(said, ": tell -1 0.25 = 4 imported"), 2);
    CHECK_EQ(times(said, ": tell "), 3);
    CHECK_EQ(times(said, ": ended "), 1); /* of A, by FD */
    drive_stop(&d);
}

TEST(restart_imports_twice_what_comes_twice)
{
    struct drive d;

    begin(&d, NULL);
    drive_send(&d, "FD", "[" IMPORT("0.5", "1") "," IMPORT("0.5", "1") "]");
    drive_send(&d, "FD", "[" IMPORT("0.5", "1.0") "]");
    CHECK_EQ(times(news(&d), ": tell -1 0.5 = 1 imported"), 3);
    restart(&d);
    drive_send(&d, "FD",
               "[" IMPORT("0.5", "1") "," IMPORT("0.5", "\"1\"") "," IMPORT(
                   "5e-1", "{\"default\":1}") "," IMPORT("0.5", "1") "]");
    CHECK_EQ(times(news(&d), ": tell -1 0.5 = 1 imported"), 1);
    drive_send(&d, "GE", "1");
    /* now the user imports, once more */
    drive_send(&d, "FD", "[" IMPORT("0.5", "1") "]");
    CHECK_EQ(times(news(&d), ": tell -1 0.5 = 1 imported"), 1);
    restart(&d);
    drive_send(&d, "FD", "[" IMPORT("0.5", "1") "]");
    CHECK_EQ(times(news(&d), ": tell "), 0);
    drive_stop(&d);
}

/* An export of another experiment has trialJobIds, too. */
TEST(restart_knows_imports_with_the_jobs_of_others)
{
    struct drive d;

    begin(&d, NULL);
    drive_send(&d, "FD", "[" POINT("0.5", "\"1\"", "far") "]");
    restart(&d);
    drive_send(&d, "FD", "[" POINT("0.5", "\"1\"", "far") "]");
    CHECK_EQ(times(news(&d), ": tell "), 1);
    drive_stop(&d);
}

TEST(restart_gives_out_again_what_was_lost)
{
    struct drive d;
    const char *said, *sent;

    begin(&d, "hears");
    drive_send(&d, "GE", "4");
    drive_periodical(&d, 0, "A", 0, "1");
    drive_periodical(&d, 1, "B", 0, "1");
    drive_end(&d, 2, "C", "FAILED");
    restart(&d);
    drive_send(&d, "FD", "[]");
    news(&d);
    sent = drive_send(&d, "GE", "2");
    CHECK_HAS(sent, "TR {\"parameter_id\": 4, ");
    CHECK_HAS(sent, "{\"x\": 0.015625}");
    CHECK_HAS(sent, "TR {\"parameter_id\": 5, ");
    CHECK_HAS(sent, "{\"x\": 0.03125}");
    said = news(&d);
    CHECK_HAS(said, "3 trials were lost with the manager before: 3 of them "
                    "are given out again");
    CHECK_EQ(times(said, ": ended "), 0); /* the tuner goes on waiting */
    CHECK_EQ(times(said, ": tell "), 0);
    CHECK_HAS(said, "trial 0: cancelled");
    CHECK_HAS(said, "trial 1: cancelled");
    sent = drive_send(&d, "GE", "2");
    CHECK_HAS(sent, "TR {\"parameter_id\": 6, ");
    CHECK_HAS(sent, "{\"x\": 0.0625}");
    CHECK_HAS(sent, "TR {\"parameter_id\": 7, "); /* a new one */
    CHECK_HAS(sent, "{\"x\": 0.078125}");
    /* to the tuner it is the trial it asked for */
    drive_final(&d, 4, "E", "3");
    drive_end(&d, 4, "E", "SUCCEEDED");
    said = news(&d);
    CHECK_HAS(said, ": tell 0 0.015625 = 3 final");
    CHECK_HAS(said, ": ended 0 succeeded");
    CHECK_EQ(times(said, "error"), 0);
    drive_stop(&d);
}

/* From 2.10 on AD has all that goes on: one that was launched has ended. */
TEST(restart_ends_what_has_run)
{
    struct drive d;
    const char *said, *sent;

    begin(&d, NULL);
    drive_send(&d, "GE", "4");
    drive_periodical(&d, 0, "A", 0, "1");
    drive_periodical(&d, 1, "B", 0, "1");
    drive_final(&d, 2, "C", "1");
    restart(&d);
    drive_send(&d, "FD", "[]");
    drive_send(&d, "AD", "[" RECORD("1", "0.03125") "]");
    news(&d);
    sent = drive_send(&d, "GE", "2");
    CHECK_HAS(sent, "{\"x\": 0.0625}"); /* 3, which never reported */
    CHECK_HAS(sent, "{\"x\": 0.078125}");
    said = news(&d);
    CHECK_HAS(said, "3 trials were lost with the manager before: 1 of them");
    CHECK_HAS(said, ": ended 0 cancelled");
    CHECK_HAS(said, ": ended 2 cancelled");
    CHECK_EQ(times(said, ": ended "), 2);
    drive_stop(&d);
}

/* It may be lost a second time before anybody had it. */
TEST(restart_gives_out_again_what_was_lost_twice)
{
    struct drive d;
    const char *sent;

    begin(&d, NULL);
    drive_send(&d, "GE", "3");
    for (int i = 0; i < 2; i++) {
        restart(&d);
        drive_send(&d, "FD", "[]");
        sent = drive_send(&d, "GE", "1");
        CHECK_HAS(sent, i == 0 ? "{\"x\": 0.015625}" : "{\"x\": 0.03125}");
    }
    sent = drive_send(&d, "GE", "3");
    CHECK_HAS(sent, "{\"x\": 0.046875}");
    CHECK_HAS(sent, "{\"x\": 0.015625}");
    CHECK_HAS(sent, "{\"x\": 0.0625}");
    drive_stop(&d);
}

TEST(restart_begins_trials_anew_for_the_assessor)
{
    struct drive d;
    const char *said;

    begin(&d, "hears");
    drive_send(&d, "GE", "2");
    drive_periodical(&d, 0, "A", 0, "1");
    drive_periodical(&d, 0, "A", 1, "2");
    CHECK_HAS(drive_periodical(&d, 1, "B", 0, "-1"), "KI \"B\"");
    restart(&d);
    drive_send(&d, "FD", "[]");
    drive_send(&d, "AD",
               "[" RECORD("0", "0.015625") "," RECORD("1", "0.03125") "]");
    drive_send(&d, "GE", "2");
    news(&d);
    drive_periodical(&d, 0, "A", 0, "3");
    said = news(&d);
    CHECK_HAS(said, "trial 0: failed"); /* its first attempt */
    CHECK_HAS(said, "trial 0: 1 values, 3");
    CHECK_EQ(times(said, "error"), 0);
    /* the KI went to the manager before, and is due again */
    CHECK_STR(drive_periodical(&d, 1, "B", 0, "1"), "");
    CHECK_HAS(drive_periodical(&d, 1, "B", 1, "-1"), "KI \"B\"");
    CHECK_STR(drive_periodical(&d, 1, "B", 2, "-1"), "");
    drive_end(&d, 1, "B", "USER_CANCELED");
    said = news(&d);
    CHECK_HAS(said, "trial 1: stopped");
    CHECK_HAS(said, ": tell 1 0.03125 = -1 stopped");
    drive_stop(&d);
}

/* What a lost trial reported is no value of the one that follows it. */
TEST(restart_forgets_what_was_reported_before)
{
    struct drive d;

    begin(&d, NULL);
    drive_send(&d, "GE", "1");
    drive_periodical(&d, 0, "A", 0, "1");
    restart(&d);
    drive_send(&d, "AD", "[" RECORD("0", "0.015625") "]");
    drive_send(&d, "GE", "1");
    drive_end(&d, 0, "A", "EARLY_STOPPED"); /* before it reported again */
    CHECK_EQ(times(news(&d), ": tell "), 0);
    drive_stop(&d);
}

TEST(restart_with_another_space_is_an_update)
{
    struct drive d;
    const char *said;

    begin(&d, NULL);
    drive_send(&d, "GE", "2");
    drive_final(&d, 0, "A", "1");
    news(&d);
    CHECK_STR(drive_send(&d, "IN",
                         "{\"x\": {\"_type\": \"uniform\", \"_value\": "
                         "[0, 2.0]}}"),
              "4 ID \n");
    said = news(&d);
    CHECK_HAS(said, ": ended 1 outdated");
    CHECK_HAS(said, "space of 1");
    drive_send(&d, "FD", "[" POINT("0.015625", "\"1\"", "A") "]");
    drive_send(&d, "AD", "[" RECORD("1", "0.03125") "]");
    drive_send(&d, "GE", "1");
    drive_final(&d, 1, "B", "2");
    said = news(&d);
    CHECK_EQ(times(said, ": tell "), 1);
    CHECK_HAS(said, ": tell -1 0.03125 = 2 imported");
    CHECK_EQ(times(said, "error"), 0);
    drive_stop(&d);
}

TEST(restart_spells_the_same_space_otherwise)
{
    struct drive d;

    begin(&d, NULL);
    CHECK_STR(drive_send(&d, "IN",
                         "{\"x\":{\"_type\":\"uniform\",\"_value\":[0.0,1e0]}}"
                         "\n"),
              "2 ID \n");
    CHECK_HAS(news(&d), "with the same search space");
    /* one that is none */
    CHECK_STR(drive_send(&d, "IN", "{\"x\": 1}"), "");
    CHECK_HAS(news(&d), "search space: x: ");
    drive_stop(&d);
}

/* Owed ids are nobody's: the next request is served by its own. */
TEST(restart_owes_nothing)
{
    struct drive d;

    drive_setup(&d, "later", "{\"at_once\": 1}", NULL, NULL);
    d.setup.policy.nni = true;
    drive_start(&d);
    drive_send(&d, "IN", "%s", HELP_SPACE);
    CHECK_HAS(drive_send(&d, "GE", "3"), "NO ");
    restart(&d);
    drive_send(&d, "FD", "[]");
    CHECK_HAS(drive_send(&d, "GE", "1"), "TR {\"parameter_id\": 3, ");
    drive_stop(&d);
}

/* The log has lost its end: of ids beyond it the manager tells. */
TEST(restart_takes_over_trials_it_never_heard_of)
{
    struct drive d;
    const char *said;

    begin(&d, NULL);
    drive_send(&d, "GE", "1");
    restart(&d);
    drive_send(&d, "FD", "[" POINT("0.5", "\"2\"", "X") "]");
    drive_send(&d, "AD",
               "[" RECORD("7", "0.25") ",{\"parameter_id\":null,"
                                       "\"parameters\":{\"x\":0.1}}]");
    CHECK_HAS(drive_send(&d, "GE", "1"), "TR {\"parameter_id\": 8, ");
    drive_final(&d, 7, "Y", "3");
    said = news(&d);
    CHECK_HAS(said, ": tell -1 0.5 = 2 imported");
    CHECK_HAS(said, ": tell -1 0.25 = 3 imported");
    CHECK_HAS(said, "2 of 2 unfinished trials known");
    CHECK_EQ(times(said, "error"), 0);
    /* and both are on record from now on */
    restart(&d);
    drive_send(
        &d, "FD",
        "[" POINT("0.5", "\"2\"", "X") "," POINT("0.25", "\"3\"", "Y") "]");
    CHECK_EQ(times(news(&d), ": tell "), 0);
    drive_stop(&d);
}

/* A trial that reported nothing before the manager came again, under a name
 * that is new here: it is known by its parameters. */
TEST(restart_knows_a_result_by_its_parameters)
{
    struct drive d;
    const char *said;

    begin(&d, NULL);
    drive_send(&d, "GE", "3");
    drive_final(&d, 0, "A", "1");
    restart(&d);
    drive_send(&d, "FD",
               "[" POINT("0.03125", "\"5\"", "B") "," POINT("0.03125", "\"6\"",
                                                            "C") "]");
    said = news(&d);
    CHECK_HAS(said, ": tell 1 0.03125 = 5 final");
    CHECK_HAS(said, ": ended 1 succeeded");
    CHECK_HAS(said, ": tell -1 0.03125 = 6 imported");
    drive_stop(&d);
}

TEST(restart_believes_the_manager_what_it_runs)
{
    struct drive d;
    const char *said;

    begin(&d, NULL);
    drive_send(&d, "GE", "1");
    restart(&d);
    drive_send(&d, "AD", "[" RECORD("0", "0.875") "]");
    drive_send(&d, "GE", "1");
    drive_final(&d, 0, "A", "1");
    drive_end(&d, 0, "A", "SUCCEEDED");
    said = news(&d);
    CHECK_HAS(said, ": ended 0 cancelled");
    CHECK_HAS(said, "parameter_id 0 runs with other parameters");
    CHECK_HAS(said, ": tell -1 0.875 = 1 imported");
    CHECK_EQ(times(said, ": ended "), 1);
    CHECK_EQ(times(said, "error"), 0);
    drive_stop(&d);
}

/* NNI 2.10 reads the files of the first attempt once more before the second
 * one begins. */
TEST(restart_hears_old_metrics_again)
{
    struct drive d;
    const char *said;

    begin(&d, "hears");
    drive_send(&d, "GE", "1");
    drive_periodical(&d, 0, "A", 0, "1");
    drive_periodical(&d, 0, "A", 1, "2");
    restart(&d);
    drive_send(&d, "FD", "[]");
    drive_send(&d, "AD", "[" RECORD("0", "0.015625") "]");
    drive_send(&d, "GE", "1");
    drive_periodical(&d, 0, "A", 0, "1");
    drive_periodical(&d, 0, "A", 1, "2");
    drive_periodical(&d, 0, "A", 0, "3"); /* here it begins */
    drive_periodical(&d, 0, "A", 1, "-4");
    CHECK_STR(drive_periodical(&d, 0, "A", 0, "5"), ""); /* a second copy */
    drive_end(&d, 0, "A", "USER_CANCELED");
    said = news(&d);
    CHECK_EQ(times(said, "trial 0: failed"), 2);
    CHECK_HAS(said, "trial 0: 2 values, -4");
    CHECK_HAS(said, ": tell 0 0.015625 = -4 stopped");
    CHECK_EQ(times(said, "were reported before"), 1);
    drive_stop(&d);
}

/* So it does of trials that are new here. */
TEST(restart_without_a_log_hears_old_metrics)
{
    struct drive d;
    const char *said;

    begin(&d, "hears");
    drive_send(&d, "FD", "[]");
    drive_send(&d, "AD", "[" RECORD("0", "0.015625") "]");
    drive_send(&d, "GE", "1");
    CHECK_HAS(drive_periodical(&d, 0, "A", 0, "-1"), "KI \"A\"");
    drive_final(&d, 0, "A", "1");
    CHECK_STR(drive_periodical(&d, 0, "A", 0, "-2"), ""); /* is on its way */
    drive_final(&d, 0, "A", "2");
    drive_end(&d, 0, "A", "USER_CANCELED");
    said = news(&d);
    CHECK_EQ(times(said, ": tell "), 1);
    CHECK_HAS(said, ": tell -1 0.015625 = 1 imported");
    CHECK_EQ(times(said, "were reported before"), 0);
    drive_stop(&d);
}

/* Live it is recorded only; from FD on it is an import, as NNI has it. */
TEST(restart_imports_the_users_own_trials)
{
    struct drive d;

    begin(&d, NULL);
    drive_send(&d, "ME",
               "{\"parameter_id\": null, \"trial_job_id\": \"U\", \"type\": "
               "\"FINAL\", \"sequence\": 0, \"value\": \"1\"}");
    drive_send(&d, "EN",
               "{\"trial_job_id\":\"U\",\"event\":\"SUCCEEDED\",\"hyper_params"
               "\":\"{\\\"parameter_id\\\":null}\"}");
    CHECK_EQ(times(news(&d), ": tell "), 0);
    for (int i = 0; i < 2; i++) {
        restart(&d);
        drive_send(&d, "FD", "[" POINT("0.5", "\"1\"", "U") "]");
    }
    CHECK_EQ(times(news(&d), ": tell -1 0.5 = 1 imported"), 1);
    drive_stop(&d);
}

/* JavaScript has one zero, and no point in whole numbers. */
TEST(restart_compares_numbers)
{
    struct drive d;

    begin(&d, NULL);
    drive_send(&d, "SS",
               "{\"x\": {\"_type\": \"quniform\", \"_value\": [-4, 4, 0.5]}}");
    drive_send(&d, "FD", "[" IMPORT("-0.0", "-0.0") "]");
    drive_send(&d, "GE", "1");
    restart(&d);
    drive_send(&d, "SS",
               "{\"x\": {\"_type\": \"quniform\", \"_value\": [-4, 4, 0.5]}}");
    news(&d);
    drive_send(&d, "FD", "[" IMPORT("0", "0") "]");
    CHECK_EQ(times(news(&d), ": tell "), 0);
    drive_stop(&d);
}

TEST(restart_takes_results_of_nonsense_for_what_they_are)
{
    struct drive d;
    const char *said;

    begin(&d, NULL);
    drive_send(&d, "GE", "2");
    drive_periodical(&d, 0, "A", 0, "1");
    restart(&d);
    drive_send(&d, "FD",
               "[" POINT("0.015625", "\"good\"", "A") ",{},{\"parameter\":"
                                                      "{\"x\":9},\"value\":1},"
                                                      "{\"trialJobId\":5}]");
    said = news(&d);
    CHECK_HAS(said, "command 5 (FD): [0]: ");
    CHECK_HAS(said, "command 5 (FD): [1]: no 'parameter'");
    CHECK_HAS(said, "command 5 (FD): [2]: x: ");
    CHECK_HAS(said, "command 5 (FD): [3]: no 'parameter'");
    drive_send(&d, "AD",
               "[{\"parameter_id\":\"9-9\"},{\"parameter_id\":-1},"
               "{\"parameter_id\":1}]");
    said = news(&d);
    CHECK_HAS(said, "command 6 (AD): [0]: parameter_id: ");
    CHECK_HAS(said, "command 6 (AD): [1]: parameter_id: ");
    CHECK_HAS(said, "command 6 (AD): [2]: no 'parameters'");
    drive_stop(&d);
}

TEST(restart_knows_suggestions_by_their_texts)
{
    struct drive d;
    const char *sent;

    drive_setup(&d, "labels", NULL, "hears", NULL);
    d.setup.policy = (struct policy){.stopped = TELL_LATEST, .nni = true};
    drive_start(&d);
    drive_send(&d, "IN", "%s", HELP_SPACE);
    CHECK_HAS(drive_send(&d, "GE", "3"), "TR {\"parameter_id\": \"0-2\", ");
    for (int i = 0; i < 2; i++)
        drive_send(&d, "ME",
                   "{\"parameter_id\": \"0-%d\", \"trial_job_id\": \"J%d\", "
                   "\"type\": \"PERIODICAL\", \"sequence\": 0, \"value\": "
                   "\"1\"}",
                   i, i);
    restart(&d);
    drive_send(&d, "FD", "[" POINT("0.5", "\"2\"", "J0") "]");
    drive_send(&d, "AD",
               "[{\"parameter_id\":\"0-1\",\"parameters\":{\"x\":0.5}}]");
    news(&d);
    sent = drive_send(&d, "GE", "2");
    CHECK_HAS(sent, "TR {\"parameter_id\": \"0-2\", "); /* never launched */
    CHECK_HAS(sent, "TR {\"parameter_id\": \"0-4\", ");
    drive_send(&d, "ME",
               "{\"parameter_id\": \"0-1\", \"trial_job_id\": \"J1\", "
               "\"type\": \"PERIODICAL\", \"sequence\": 0, \"value\": "
               "\"1\"}");
    drive_send(&d, "ME",
               "{\"parameter_id\": \"0-1\", \"trial_job_id\": \"J1\", "
               "\"type\": \"FINAL\", \"value\": \"1\"}");
    drive_send(&d, "ME",
               "{\"parameter_id\": \"0-2\", \"trial_job_id\": \"J2\", "
               "\"type\": \"FINAL\", \"value\": \"1\"}");
    CHECK_EQ(times(news(&d), "error"), 0);
    drive_stop(&d);
}

/* ---- without a log: as NNI numbers ---- */

TEST(restart_without_a_log_counts_as_nni)
{
    static const struct {
        const char *records, *first;
    } cases[] = {
        {"[]", "TR {\"parameter_id\": 1, "},
        {"[" RECORD("6", "0.5") "," RECORD("3", "0.25") "]",
         "TR {\"parameter_id\": 7, "},
        {"[{\"parameter_id\":null,\"parameters\":{\"x\":0.5}}]",
         "TR {\"parameter_id\": 1, "},
        {NULL, "TR {\"parameter_id\": 0, "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct drive d;

        begin(&d, NULL);
        drive_send(&d, "FD", "[" POINT("0.5", "\"1\"", "A") "]");
        if (cases[i].records != NULL)
            drive_send(&d, "AD", "%s", cases[i].records);
        CHECK_HAS(drive_send(&d, "GE", "1"), cases[i].first);
        CHECK_EQ(times(drive_lines(&d), "error"), 0);
        drive_stop(&d);
        unlink("lines");
    }
}

/* Results of recovered trials are imports; their ends are nobody's. */
TEST(restart_without_a_log_imports_what_it_recovered)
{
    struct drive d;
    const char *said;

    begin(&d, NULL);
    drive_send(&d, "FD", "[]");
    drive_send(&d, "AD", "[" RECORD("2", "0.5") "]");
    drive_send(&d, "GE", "1");
    news(&d);
    drive_final(&d, 2, "A", "1");
    drive_end(&d, 2, "A", "SUCCEEDED");
    said = news(&d);
    CHECK_HAS(said, ": tell -1 0.5 = 1 imported");
    CHECK_EQ(times(said, ": ended "), 0);
    drive_stop(&d);
}

/* ---- what NNI got wrong in results ---- */

TEST(results_survive_no_more)
{
    struct drive d;

    drive_setup(&d, "done", "{\"count\": 2}", NULL, NULL);
    d.setup.policy.nni = true;
    drive_start(&d);
    drive_send(&d, "IN", "%s", HELP_SPACE);
    /* NNI stores "" as the parameters of trial 0 with this NO */
    CHECK_HAS(drive_send(&d, "GE", "3"), "NO {\"parameter_id\": 0, ");
    drive_send(&d, "GE", "2");
    drive_final(&d, 0, "A", "1");
    drive_end(&d, 0, "A", "SUCCEEDED");
    CHECK_EQ(times(drive_lines(&d), "error"), 0);
    drive_stop(&d);
}

TEST(results_kill_a_trial_once)
{
    struct drive d;

    begin(&d, "hears");
    drive_send(&d, "GE", "1");
    CHECK_HAS(drive_periodical(&d, 0, "A", 0, "-1"), "KI \"A\"");
    for (int i = 1; i < 5; i++)
        CHECK_STR(drive_periodical(&d, 0, "A", i, "-1"), "");
    drive_stop(&d);
}

TEST(results_of_customized_trials_cost_nothing)
{
    struct drive d;

    begin(&d, "hears");
    drive_send(&d, "GE", "1");
    drive_send(&d, "ME",
               "{\"parameter_id\": null, \"trial_job_id\": \"U\", \"type\": "
               "\"PERIODICAL\", \"sequence\": 0, \"value\": \"1\"}");
    drive_send(&d, "ME",
               "{\"parameter_id\": null, \"trial_job_id\": \"U\", \"type\": "
               "\"FINAL\", \"sequence\": 0, \"value\": \"1\"}");
    drive_send(&d, "EN",
               "{\"trial_job_id\":\"U\",\"event\":\"SUCCEEDED\",\"hyper_params"
               "\":\"{\\\"parameter_id\\\":null,\\\"parameter_source\\\":"
               "\\\"customized\\\",\\\"parameters\\\":{\\\"x\\\":0.5}}\"}");
    CHECK_EQ(times(drive_lines(&d), "error"), 0);
    CHECK_EQ(times(drive_lines(&d), ": tell "), 0);
    CHECK_EQ(times(drive_lines(&d), ": ended "), 0);
    drive_stop(&d);
}

TEST(results_come_behind_their_ends)
{
    struct drive d;
    const char *said;

    begin(&d, NULL);
    drive_send(&d, "GE", "1");
    drive_end(&d, 0, "A", "SUCCEEDED");
    drive_final(&d, 0, "A", "1");
    said = news(&d);
    CHECK_HAS(said, ": ended 0 succeeded");
    CHECK_HAS(said, ": tell 0 0.015625 = 1 final");
    drive_final(&d, 0, "A", "2");
    CHECK_EQ(times(news(&d), ": tell "), 0);
    drive_stop(&d);
}

TEST(results_of_strangers_are_recorded)
{
    struct drive d;
    const char *said;

    begin(&d, "hears");
    drive_send(&d, "GE", "2");
    news(&d);
    drive_periodical(&d, 77, "Z", 0, "1");
    drive_final(&d, 77, "Z", "1");
    drive_end(&d, 77, "Z", "SUCCEEDED");
    said = news(&d);
    CHECK_EQ(times(said, ": tell "), 0);
    CHECK_EQ(times(said, ": ended "), 0);
    CHECK_HAS(said, "parameter_id 77");
    drive_final(&d, 0, "A", "1"); /* and it goes on */
    CHECK_HAS(news(&d), ": tell 0 0.015625 = 1 final");
    drive_stop(&d);
}

/* NNI 3.0 says in EN what a trial was launched with, not what it ran. */
TEST(results_of_swapped_trials_are_joined_by_job)
{
    struct drive d;
    const char *said;

    begin(&d, "hears");
    drive_send(&d, "GE", "2");
    drive_periodical(&d, 1, "A", 0, "-1");
    drive_end(&d, 0, "A", "USER_CANCELED");
    drive_final(&d, 0, "B", "2");
    drive_end(&d, 1, "B", "SUCCEEDED");
    said = news(&d);
    CHECK_HAS(said, ": tell 1 0.03125 = -1 stopped");
    CHECK_HAS(said, ": ended 1 stopped");
    CHECK_HAS(said, ": tell 0 0.015625 = 2 final");
    CHECK_HAS(said, ": ended 0 succeeded");
    CHECK_EQ(times(said, "error"), 0);
    drive_stop(&d);
}

/* ---- the ledger ---- */

static void
write_key(const char *entry, struct buf *out)
{
    struct json *doc = json_parse(entry, strlen(entry), JSON_NAN, NULL);

    CHECK(doc != NULL);
    buf_clear(out);
    ledger_write_key(json_root(doc), out);
    json_free(doc);
}

TEST(ledger_knows_numbers_however_they_are_spelt)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"{\"parameter\":{\"a\":1,\"b\":[0.00001]},\"value\":\"1\"}",
         "{\"value\":1.0,\"parameter\":{\"b\":[1e-05],\"a\":1.0}}", true},
        {"{\"parameter\":{\"a\":-0.0},\"value\":NaN}",
         "{\"parameter\":{\"a\":0},\"value\":\"NaN\"}", true},
        {"{\"parameter\":{\"a\":\"1\"},\"value\":1}",
         "{\"parameter\":{\"a\":1},\"value\":1}", false},
        {"{\"parameter\":{\"a\":true},\"value\":1}",
         "{\"parameter\":{\"a\":1},\"value\":1}", false},
        {"{\"parameter\":{\"a\":null},\"value\":{\"default\":2,\"b\":3}}",
         "{\"parameter\":{\"a\":null},\"value\":\"{\\\"default\\\":2}\"}",
         true},
        {"{\"parameter\":{},\"value\":\"x\"}",
         "{\"parameter\":{},\"value\":\"y\"}", false},
        {"{\"parameter\":{}}", "{\"value\":1}", false},
    };
    struct buf a, b;

    buf_init(&a, 10000);
    buf_init(&b, 10000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_key(cases[i].a, &a);
        write_key(cases[i].b, &b);
        CHECK_EQ(strcmp(buf_text(&a), buf_text(&b)) == 0, cases[i].same);
    }
    buf_fini(&a);
    buf_fini(&b);
}

TEST(ledger_keys_are_short)
{
    char text[3][2000];
    struct buf keys[3];

    for (int i = 0; i < 3; i++) {
        size_t len = 0;

        for (int k = 0; k < 100; k++)
            len += (size_t)snprintf(
                text[i] + len, sizeof text[i] - len, "%s\"k%d\":%d",
                k == 0 ? "{" : ",", i == 1 ? 99 - k : k,
                (i == 1 ? 99 - k : k) + (i == 2 && k == 50));
        memmove(text[i] + 13, text[i], len);
        memcpy(text[i], "{\"parameter\":", 13);
        snprintf(text[i] + 13 + len, sizeof text[i] - 13 - len,
                 "},\"value\":1}");
        buf_init(&keys[i], 10000);
        write_key(text[i], &keys[i]);
        CHECK(keys[i].len <= LEDGER_KEY_MAX);
    }
    CHECK_STR(buf_text(&keys[1]), buf_text(&keys[0])); /* another order */
    CHECK(strcmp(buf_text(&keys[2]), buf_text(&keys[0])) != 0);
    for (int i = 0; i < 3; i++)
        buf_fini(&keys[i]);
}

TEST(ledger_comes_back)
{
    struct ledger l = {0}, back = {0};
    struct buf key, packed, again;
    struct unpack in;
    uint64_t id = 0;

    buf_init(&key, 10000);
    buf_init(&packed, 10000);
    buf_init(&again, 10000);
    write_key("{\"parameter\":{},\"value\":1}", &key);
    for (uint64_t i = 0; i < 20; i++) {
        char job[8];

        snprintf(job, sizeof job, "j%d", (int)i);
        CHECK_EQ(ledger_ran(&l, job, i), 0);
        CHECK_EQ(ledger_ran(&l, job, i + 1), 0); /* the first word counts */
        CHECK_EQ(ledger_import(&l, &key), 0);
    }
    ledger_save(&l, &packed);
    in = unpack_from(packed.data, packed.len);
    CHECK_EQ(ledger_load(&back, &in), 0);
    CHECK(unpack_done(&in));
    ledger_save(&back, &again);
    CHECK_EQ(again.len, packed.len);
    CHECK_EQ(memcmp(again.data, packed.data, again.len), 0);
    CHECK_EQ(ledger_imports(&back, &key), 20);
    CHECK(ledger_find(&back, "j7", &id) && id == 7);
    CHECK(!ledger_find(&back, "j77", &id));
    for (size_t len = 0; len < packed.len; len++) {
        struct ledger cut = {0};

        in = unpack_from(packed.data, len);
        CHECK_EQ(ledger_load(&cut, &in), -1);
        ledger_fini(&cut);
    }
    ledger_fini(&l);
    ledger_fini(&back);
    buf_fini(&key);
    buf_fini(&packed);
    buf_fini(&again);
}
