/* SPDX-License-Identifier: MIT */
#include "dispatcher/tuning.h"

#include "dispatcher_help.h"

NOT_UNDER_TSAN;

static void
begin(struct drive *d, const char *tuner, const char *args, struct policy p)
{
    drive_setup(d, tuner, args, NULL, NULL);
    d->setup.policy = p;
    drive_start(d);
    CHECK_HAS(drive_send(d, "IN", "%s", HELP_SPACE), "1 ID");
}

static const struct policy plain, extended = {.extensions = true};

/* "TR0 TR1 NO2" of what came. */
static const char *
brief(const char *sent)
{
    static char text[4096];
    size_t len = 0;

    text[0] = '\0';
    for (const char *line = sent; *line != '\0';) {
        unsigned long long cause;
        char code[3], id[32] = "";
        const char *at = strstr(line, "\"parameter_id\": "), *reason;

        CHECK(sscanf(line, "%llu %2s", &cause, code) == 2);
        if (at != NULL)
            sscanf(at, "\"parameter_id\": %31[^,]", id);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s%s",
                                len > 0 ? " " : "", code, id);
        reason = strstr(line, "\"reason\": ");
        line += strcspn(line, "\n") + 1;
        if (reason != NULL && reason < line)
            len += (size_t)snprintf(text + len, sizeof text - len, "(%.*s)",
                                    (int)(line - reason - 12), reason + 10);
    }
    return text;
}

#define LATER(n) "(\"later\", \"units\": " n ")"
#define EXHAUSTED(n) "(\"exhausted\", \"units\": " n ")"
#define FAILED(n) "(\"failed\", \"units\": " n ")"

TEST(tuning_answers_before_the_search_space)
{
    struct drive d;

    drive_setup(&d, "random", NULL, NULL, NULL);
    d.setup.policy.extensions = true;
    drive_start(&d);
    CHECK_STR(brief(drive_send(&d, "GE", "3")), "NO0" FAILED("3"));
    CHECK_STR(drive_send(&d, "SS", "%s", HELP_SPACE), "");
    CHECK_STR(drive_send(&d, "FD", "[]"), "");
    CHECK_STR(drive_send(&d, "AD", "[]"), "");
    CHECK_STR(drive_send(&d, "IN", "%s", HELP_SPACE), "5 ID {\"last\": 5}\n");
    CHECK_STR(drive_send(&d, "IN", "%s", HELP_SPACE), "");
    /* nothing was burnt */
    CHECK_STR(brief(drive_send(&d, "GE", "1")), "TR0");
    CHECK_HAS(drive_lines(&d), "command 6 (IN): the search space is set");
    drive_stop(&d);
}

TEST(tuning_burns_ids_at_the_first_refusal)
{
    struct drive d;

    begin(&d, "done", "{\"count\": 3}", extended);
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "TR0 TR1");
    CHECK_STR(brief(drive_send(&d, "GE", "4")), "TR2 NO2" EXHAUSTED("3"));
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "NO6" EXHAUSTED("2"));
    CHECK_STR(brief(drive_send(&d, "GE", "65536")), "NO8" EXHAUSTED("65536"));
    CHECK_STR(brief(drive_send(&d, "GE", "65537")), "NO65544" FAILED("0"));
    CHECK_STR(brief(drive_send(&d, "GE", "1")), "NO65544" EXHAUSTED("1"));
    drive_stop(&d);
}

TEST(tuning_serves_owed_ids_first_in_first_out)
{
    struct drive d;

    begin(&d, "later", "{\"at_once\": 2}", extended);
    CHECK_STR(brief(drive_send(&d, "GE", "3")), "TR0 TR1 NO0" LATER("1"));
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "NO3" LATER("2"));
    CHECK_STR(brief(drive_final(&d, 0, "A", "1")), "");
    CHECK_STR(brief(drive_end(&d, 0, "A", "SUCCEEDED")), "TR2");
    CHECK_STR(brief(drive_end(&d, 1, "B", "FAILED")), "TR3");
    /* a new GE comes behind what is owed */
    CHECK_STR(brief(drive_send(&d, "GE", "1")), "NO5" LATER("1"));
    CHECK_STR(brief(drive_end(&d, 2, "C", "SUCCEEDED")), "TR4");
    CHECK_STR(brief(drive_end(&d, 3, "D", "SUCCEEDED")), "TR5");
    CHECK_STR(brief(drive_end(&d, 4, "E", "SUCCEEDED")), "");
    CHECK_STR(brief(drive_send(&d, "GE", "1")), "TR6");
    drive_stop(&d);
}

/* Import and a change of the space may change the tuner's mind, too. */
TEST(tuning_serves_owed_ids_after_import_and_space)
{
    struct drive d;

    begin(&d, "later", NULL, plain);
    CHECK_STR(brief(drive_send(&d, "GE", "3")), "TR0 NO0");
    CHECK_STR(brief(drive_send(&d, "FD", "[]")), "");
    /* the trial that is out counts as ended for the tuner */
    CHECK_STR(brief(drive_send(&d, "SS", "%s", HELP_SPACE)), "TR1");
    CHECK_STR(brief(drive_end(&d, 0, "A", "SUCCEEDED")), "");
    CHECK_STR(brief(drive_end(&d, 1, "B", "SUCCEEDED")), "TR2");
    drive_stop(&d);
}

TEST(tuning_refuses_what_nothing_can_end)
{
    struct drive d;

    begin(&d, "never", NULL, extended);
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "NO0" EXHAUSTED("2"));
    CHECK_HAS(drive_lines(&d), "tuner never waits for results but no trial is "
                               "out: 2 requested trials are refused");
    /* with a trial out it may */
    CHECK_STR(drive_send(&d, "AD",
                         "{\"parameter_id\": 9, \"parameters\": "
                         "{\"x\": 0.5}}"),
              "");
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "NO10" LATER("2"));
    CHECK_STR(brief(drive_send(&d, "GE", "1")), "NO12" LATER("1"));
    CHECK_STR(brief(drive_end(&d, 9, "R", "SUCCEEDED")), "NO10" EXHAUSTED("3"));
    CHECK_STR(brief(drive_send(&d, "FD", "[]")), "");
    drive_stop(&d);
}

TEST(tuning_failing_ask_by_policy)
{
    struct policy prior = {.ask_error = ASK_PRIOR};
    struct policy fail = {.on_error = ERROR_FAIL};
    struct drive d;

    begin(&d, "ask_fails", "{\"id\": 1}", extended);
    CHECK_STR(brief(drive_send(&d, "GE", "3")), "TR0 NO0" FAILED("2"));
    CHECK_STR(brief(drive_send(&d, "GE", "1")), "NO3" FAILED("1"));
    CHECK_HAS(drive_lines(&d), "command 2 (GE): tuner ask_fails: ask: the "
                               "matrix is singular at 1");
    CHECK_EQ(d.failed, 0);
    drive_stop(&d);
    begin(&d, "ask_fails", "{\"id\": 1}", prior);
    CHECK_STR(brief(drive_send(&d, "GE", "3")), "TR0 TR1 TR2");
    drive_stop(&d);
    begin(&d, "ask_fails", "{\"id\": 1}", fail);
    CHECK_STR(brief(drive_send(&d, "GE", "3")), "TR0");
    CHECK_EQ(d.failed, 1);
    CHECK_HAS(d.err.text, "command 2 (GE): tuner ask_fails: ask: ");
    drive_stop(&d);
}

/* Here the prior is no help: its samples are beyond the doubles. */
TEST(tuning_gives_out_no_sample_that_is_no_point)
{
    struct drive d;

    drive_setup(&d, "ask_fails", "{\"id\": 0}", NULL, NULL);
    d.setup.policy =
        (struct policy){.extensions = true, .ask_error = ASK_PRIOR};
    drive_start(&d);
    CHECK_HAS(drive_send(&d, "IN", "%s",
                         "{\"x\": {\"_type\": \"lognormal\", \"_value\": "
                         "[1000, 10]}}"),
              "1 ID");
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "NO0" FAILED("2"));
    CHECK_HAS(drive_lines(&d), "a sample of the prior (ask-error: prior): x: "
                               "is ");
    drive_stop(&d);
}

TEST(tuning_refuses_a_label_twice)
{
    struct drive d;

    begin(&d, "labels", "{\"label\": \"same\"}", extended);
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "TR\"same\" NO0" FAILED("1"));
    CHECK_HAS(drive_lines(&d), "label 'same' of suggestion 1 is in use");
    drive_stop(&d);
}

/* A recovered id that is owed is not the manager's: once this ended the
 * session with "out of memory". */
TEST(tuning_refuses_to_recover_an_id_that_is_owed)
{
    struct drive d;

    begin(&d, "later", NULL, plain);
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "TR0 NO0");
    drive_send(&d, "AD",
               "[{\"parameter_id\": 1, \"parameters\": {\"x\": 0.5}},"
               " {\"parameter_id\": 0, \"parameters\": {\"x\": 0.5}}]");
    CHECK_HAS(drive_lines(&d), "command 3 (AD): [0]: parameter_id 1 is owed");
    CHECK_HAS(drive_lines(&d), "[1]: parameter_id 0 is in use already");
    CHECK_STR(brief(drive_end(&d, 0, "A", "SUCCEEDED")), "TR1");
    CHECK_EQ(d.failed, 0);
    drive_stop(&d);
}

/* Escaped for the wire, a choice may be several times as long as it came. */
TEST(tuning_refuses_parameters_that_do_not_fit_into_a_frame)
{
    size_t n = (size_t)24 << 20;
    char *value = malloc(n + 1);
    struct drive d;

    for (size_t i = 0; i < n; i += 2)
        memcpy(value + i, "\xc3\xa9", 2);
    value[n] = '\0';
    drive_setup(&d, "random", NULL, NULL, NULL);
    d.setup.policy = extended;
    drive_start(&d);
    CHECK_STR(drive_send(&d, "IN",
                         "{\"x\": {\"_type\": \"choice\", \"_value\": "
                         "[\"%s\"]}}",
                         value),
              "1 ID {\"last\": 1}\n");
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "NO0" FAILED("2"));
    CHECK_HAS(drive_lines(&d), "command 2 (GE): the parameters of trial 0 are "
                               "more than 67108864 bytes of JSON");
    CHECK_EQ(d.failed, 0);
    free(value);
    drive_stop(&d);
}

TEST(tuning_closed_drops_requests_and_what_is_owed)
{
    struct drive d;

    begin(&d, "later", NULL, plain);
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "TR0 NO0");
    side_close(d.session->sides[SENDER_DEFAULT]);
    CHECK_STR(brief(drive_end(&d, 0, "A", "SUCCEEDED")), "");
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "");
    drive_stop(&d);
}

/* Without the stop A's end would have brought TR1. */
TEST(tuning_gives_out_the_ids_that_a_stop_left_owed)
{
    struct policy policy = extended;

    for (int i = 0; i < 2; i++) {
        struct drive d;

        policy.reclaim = i == 1;
        begin(&d, "later", NULL, policy);
        CHECK_STR(brief(drive_send(&d, "GE", "3")), "TR0 NO0" LATER("2"));
        side_close(d.session->sides[SENDER_DEFAULT]);
        CHECK_STR(brief(drive_end(&d, 0, "A", "SUCCEEDED")), "");
        session_undo_end(d.session);
        session_undo_end(d.session); /* owes nothing: changes nothing */
        CHECK_STR(brief(drive_send(&d, "GE", "3")),
                  policy.reclaim ? "TR1 NO1" LATER("2") : "TR3 NO3" LATER("2"));
        drive_stop(&d);
    }
}

/* An id that the user has used is not given out, nor those below it. */
TEST(tuning_gives_out_no_id_that_the_user_has_used)
{
    struct policy policy = extended;
    struct drive d;

    policy.reclaim = true;
    begin(&d, "later", NULL, policy);
    CHECK_STR(brief(drive_send(&d, "GE", "2")), "TR0 NO0" LATER("1"));
    CHECK_STR(drive_send(&d, "AD",
                         "[{\"parameter_id\": 2, \"parameters\": "
                         "{\"x\": 0.5}}]"),
              "");
    side_close(d.session->sides[SENDER_DEFAULT]);
    session_undo_end(d.session);
    CHECK_STR(brief(drive_send(&d, "GE", "1")), "NO3" LATER("1"));
    side_close(d.session->sides[SENDER_DEFAULT]);
    session_undo_end(d.session);
    CHECK_STR(brief(drive_send(&d, "GE", "1")), "NO3" LATER("1"));
    drive_stop(&d);
}

/* A refused SS leaves the old space in force. */
TEST(tuning_keeps_the_space_when_the_tuner_refuses_another)
{
    struct drive d;

    drive_setup(&d, "space_fails", NULL, NULL, NULL);
    drive_start(&d);
    CHECK_STR(drive_send(&d, "IN", "%s", HELP_SPACE), "");
    CHECK_HAS(drive_lines(&d), "no dimension 'good'");
    CHECK_STR(drive_send(&d, "IN",
                         "{\"good\": {\"_type\": \"uniform\", \"_value\": "
                         "[0, 1]}}"),
              "2 ID \n");
    CHECK_STR(brief(drive_send(&d, "GE", "1")), "TR0");
    CHECK_STR(drive_send(&d, "SS", "%s", HELP_SPACE), "");
    CHECK_HAS(drive_send(&d, "GE", "1"), "\"parameters\": {\"good\": ");
    CHECK_STR(drive_final(&d, 0, "A", "1"), "");
    CHECK_STR(drive_end(&d, 0, "A", "SUCCEEDED"), "");
    CHECK(strstr(drive_lines(&d), "(ME)") == NULL);
    drive_stop(&d);
}

/* The same commands give the same bytes, whoever handles them between. */
TEST(tuning_is_a_function_of_its_commands)
{
    char *first = NULL;

    for (int round = 0; round < 2; round++) {
        struct drive d;
        struct buf all;
        uint64_t state = 3;

        buf_init(&all, 1 << 24);
        begin(&d, "later", "{\"at_once\": 5}", extended);
        for (int i = 0, next = 0; i < 500; i++) {
            char job[16];

            snprintf(job, sizeof job, "J%d", next);
            switch (help_below(&state, 4)) {
            case 0:
                drive_send(&d, "GE", "%d", 1 + (int)help_below(&state, 3));
                break;
            case 1:
                drive_final(&d, next, job, "0.5");
                break;
            case 2:
                drive_end(&d, next, job, "SUCCEEDED");
                next++;
                break;
            case 3:
                drive_send(&d, "PI", "");
                break;
            }
            buf_add_text(&all, buf_text(&d.sent));
        }
        drive_stop(&d);
        if (round == 0)
            first = buf_take(&all);
        else
            CHECK_STR(buf_text(&all), first);
        buf_fini(&all);
    }
    CHECK_HAS(first, "TR {\"parameter_id\": 20");
    free(first);
}
