/* SPDX-License-Identifier: MIT */
#include "dispatcher/assessing.h"

#include "dispatcher_help.h"

/* `n` trials are out. */
static void
begin(struct drive *d, const char *assessor, const char *args, bool extensions,
      int n)
{
    drive_setup(d, "random", NULL, assessor, args);
    d->setup.policy.extensions = extensions;
    drive_start(d);
    drive_send(d, "IN", "%s", HELP_SPACE);
    drive_send(d, "GE", "%d", n);
}

static const char *
sync_report(struct drive *d, int id, const char *job, int sequence, int attempt,
            const char *value)
{
    return drive_send(d, "ME",
                      "{\"parameter_id\": %d, \"trial_job_id\": \"%s\", "
                      "\"type\": \"PERIODICAL\", \"sequence\": %d, "
                      "\"attempt\": %d, \"sync\": true, \"value\": \"%s\"}",
                      id, job, sequence, attempt, value);
}

TEST(assessing_kills_once)
{
    struct drive d;

    begin(&d, "stops_at", "{\"step\": 2}", false, 2);
    CHECK_STR(drive_periodical(&d, 0, "A", 0, "1"), "");
    CHECK_STR(drive_periodical(&d, 0, "A", 1, "1"), "4 KI \"A\"\n");
    CHECK_STR(drive_periodical(&d, 0, "A", 2, "1"), "");
    CHECK_HAS(drive_lines(&d), "trial 'A' stopped at step 1: it is time");
    drive_stop(&d);
}

/* A trial that was started again after its KI is not killed again. */
TEST(assessing_kills_once_in_all_attempts)
{
    struct drive d;

    begin(&d, "stops_at", "{\"step\": 1}", true, 1);
    CHECK_STR(sync_report(&d, 0, "A", 0, 0, "1"),
              "3 KI \"A\"\n3 AK {\"trial_job_id\": \"A\", \"sequence\": 0, "
              "\"decision\": \"stop\"}\n");
    CHECK_STR(sync_report(&d, 0, "A", 0, 1, "1"),
              "4 AK {\"trial_job_id\": \"A\", \"sequence\": 0, "
              "\"decision\": \"stop\"}\n");
    drive_stop(&d);
}

TEST(assessing_waits_for_a_gap_to_close)
{
    struct drive d;

    begin(&d, "stops_at", "{\"step\": 3}", false, 1);
    CHECK_STR(drive_periodical(&d, 0, "A", 2, "1"), "");
    CHECK_STR(drive_periodical(&d, 0, "A", 1, "1"), "");
    CHECK_STR(drive_periodical(&d, 0, "A", 0, "1"), "5 KI \"A\"\n");
    drive_stop(&d);
}

TEST(assessing_answers_each_synchronous_report)
{
    struct drive d;

    begin(&d, "stops_at", "{\"step\": 3}", true, 2);
    CHECK_HAS(sync_report(&d, 0, "A", 0, 0, "1"), "3 AK ");
    CHECK_STR(sync_report(&d, 0, "A", 0, 0, "1"),
              "4 AK {\"trial_job_id\": \"A\", \"sequence\": 0, "
              "\"decision\": \"go\"}\n");
    CHECK_HAS(sync_report(&d, 0, "A", 1, 0, "[]"), "\"decision\": \"go\"}");
    CHECK_HAS(sync_report(&d, 9, "Z", 0, 0, "1"), "\"decision\": \"go\"}");
    sync_report(&d, 0, "A", 1, 0, "1");
    CHECK_HAS(sync_report(&d, 0, "A", 2, 0, "1"), "\"decision\": \"stop\"}");
    CHECK_HAS(sync_report(&d, 0, "A", 2, 0, "1"), "\"decision\": \"stop\"}");
    CHECK_STR(drive_end(&d, 0, "A", "EARLY_STOPPED"), "");
    CHECK_HAS(sync_report(&d, 0, "A", 3, 0, "1"), "\"decision\": \"go\"}");
    drive_stop(&d);
}

TEST(assessing_without_an_assessor_says_go)
{
    struct drive d;

    begin(&d, NULL, NULL, true, 1);
    CHECK_HAS(sync_report(&d, 0, "A", 0, 0, "1"), "\"decision\": \"go\"}");
    CHECK_STR(drive_periodical(&d, 0, "A", 1, "1"), "");
    CHECK_STR(drive_end(&d, 0, "A", "SUCCEEDED"), "");
    drive_stop(&d);
}

TEST(assessing_goes_on_when_the_plugin_fails)
{
    struct drive d;

    begin(&d, "assess_fails", NULL, true, 1);
    CHECK_HAS(sync_report(&d, 0, "A", 0, 0, "7"), "3 KI \"A\"");
    CHECK_EQ(d.failed, 0);
    drive_stop(&d);
    begin(&d, "assess_fails", NULL, true, 1);
    drive_periodical(&d, 0, "A", 1, "7"); /* n becomes 2 at once */
    CHECK_STR(sync_report(&d, 0, "A", 0, 0, "1"),
              "4 AK {\"trial_job_id\": \"A\", \"sequence\": 0, "
              "\"decision\": \"go\"}\n");
    CHECK_HAS(drive_lines(&d), "error: command 4 (ME): assessor assess_fails: "
                               "assess: value 7 is odd");
    CHECK_STR(drive_periodical(&d, 0, "A", 2, "1"), "");
    CHECK_HAS(drive_lines(&d), "decision is 7, expected TP_GO (0)");
    CHECK_EQ(d.failed, 0);
    drive_stop(&d);
}

TEST(assessing_ends_the_session_when_told_to)
{
    struct drive d;

    drive_setup(&d, "random", NULL, "assess_fails", NULL);
    d.setup.policy.on_error = ERROR_FAIL;
    drive_start(&d);
    drive_send(&d, "IN", "%s", HELP_SPACE);
    drive_send(&d, "GE", "1");
    drive_periodical(&d, 0, "A", 1, "7");
    drive_periodical(&d, 0, "A", 0, "1");
    CHECK_EQ(d.failed, 1);
    CHECK_STR(d.err.text, "command 4 (ME): assessor assess_fails: assess: "
                          "value 7 is odd");
    drive_stop(&d);
}

/* A name as long as a payload may be, all of it to be escaped. */
TEST(assessing_kills_a_trial_of_any_name)
{
    size_t n = (size_t)3 << 20;
    char *job = malloc(n + 1);
    struct drive d;
    const char *sent;

    memset(job, 1, n);
    for (size_t i = 0; i + 2 <= n; i += 2)
        memcpy(job + i, "\xc3\xa9", 2);
    job[n] = '\0';
    begin(&d, "stops_at", "{\"step\": 1}", false, 1);
    sent = drive_periodical(&d, 0, job, 0, "1");
    CHECK_EQ(strlen(sent), strlen("3 KI \"\"\n") + n / 2 * 6);
    free(job);
    drive_stop(&d);
}
