/* SPDX-License-Identifier: MIT */
/* The cases of NNI's own test_assessor.py and of what it tests end to end. */
#include "dispatcher_help.h"

static void
begin(struct drive *d, const char *args)
{
    drive_setup(d, "random", NULL, "odd_sum", args);
    drive_start(d);
    drive_send(d, "IN", "%s", HELP_SPACE);
    drive_send(d, "GE", "16");
}

/* Those lines the assessor wrote. */
static const char *
calls(struct drive *d)
{
    static char text[65536];
    char *all = strdup(drive_lines(d)), *save = NULL;

    text[0] = '\0';
    for (char *line = strtok_r(all, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        const char *said = strstr(line, "odd_sum: ");

        if (said != NULL) {
            strcat(text, said + strlen("odd_sum: "));
            strcat(text, "; ");
        }
    }
    free(all);
    return text;
}

/* The trials name no parameter_id, as in NNI's test. */
TEST(nni_test_assessor)
{
    struct drive d;

    begin(&d, NULL);
    CHECK_STR(drive_send(&d, "ME",
                         "{\"trial_job_id\":\"A\",\"type\":\"PERIODICAL\","
                         "\"sequence\":0,\"value\":\"2\"}"),
              "");
    CHECK_STR(drive_send(&d, "ME",
                         "{\"trial_job_id\":\"B\",\"type\":\"PERIODICAL\","
                         "\"sequence\":0,\"value\":\"2\"}"),
              "");
    CHECK_STR(drive_send(&d, "ME",
                         "{\"trial_job_id\":\"A\",\"type\":\"PERIODICAL\","
                         "\"sequence\":1,\"value\":\"3\"}"),
              "5 KI \"A\"\n");
    CHECK_STR(drive_send(&d, "EN",
                         "{\"trial_job_id\":\"A\",\"event\":\"SYS_CANCELED\","
                         "\"hyper_params\":\"{}\"}"),
              "");
    CHECK_STR(drive_send(&d, "EN",
                         "{\"trial_job_id\":\"B\",\"event\":\"SUCCEEDED\","
                         "\"hyper_params\":\"{}\"}"),
              "");
    CHECK_STR(drive_send(&d, "TR", "null"), "");
    CHECK_STR(calls(&d),
              "assess trial 0 at 1; assess trial 1 at 1; assess trial 0 at 2; "
              "trial 0 ended, how 3; trial 1 ended, how 1; ");
    CHECK_HAS(drive_lines(&d), "command 8 (TR): TR goes from the dispatcher");
    drive_stop(&d);
}
