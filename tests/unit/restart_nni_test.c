/* SPDX-License-Identifier: MIT */
/* Without a log, and what NNI gets wrong in results. */
#include "restart_help.h"

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
