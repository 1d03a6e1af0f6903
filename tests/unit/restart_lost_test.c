/* SPDX-License-Identifier: MIT */
/* What is lost, and what runs again. */
#include "restart_help.h"

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
