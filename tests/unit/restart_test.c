/* SPDX-License-Identifier: MIT */
#include "dispatcher/reunion.h"

#include "restart_help.h"

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
