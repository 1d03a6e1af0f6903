/* SPDX-License-Identifier: MIT */
#include "replay/play.h"

#include "dispatcher_help.h"
#include "replay/pace.h"
#include "replay/script.h"

/* ---- words ---- */

static void
check_words(const char *text, const char *joined)
{
    const char **argv;
    char all[200] = "";
    struct err err;
    bool shell;

    argv = play_words(text, &shell, &err);
    CHECK(argv != NULL);
    CHECK(!shell);
    for (size_t i = 0; argv[i] != NULL; i++) {
        size_t len = strlen(all);

        snprintf(all + len, sizeof all - len, "%s|", argv[i]);
    }
    CHECK_STR(all, joined);
    free(argv);
}

TEST(play_words_are_split_at_blanks_and_kept_by_quotes)
{
    check_words("a", "a|");
    check_words("  a  bc\td ", "a|bc|d|");
    check_words("a 'b c' \"d 'e\"f ''", "a|b c|d 'ef||");
    check_words("./x --args '{\"a\": [1, $x]}' k=v",
                "./x|--args|{\"a\": [1, $x]}|k=v|");
}

TEST(play_words_with_more_of_a_shell_go_to_one)
{
    static const char *const texts[] = {
        "a | b", "a > b", "a $HOME",    "a \"$HOME\"", "a \\ b",
        "A=1 b", "a 'b",  "~/a",        "a *.c",       "a; b",
        "a & b", "a `b`", "a 3<&0 4>&1"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct err err;
        bool shell;
        const char **argv = play_words(texts[i], &shell, &err);

        CHECK(argv != NULL);
        CHECK(shell);
        CHECK_STR(argv[0], "sh");
        CHECK_STR(argv[1], "-c");
        CHECK_STR(argv[2], texts[i]);
        CHECK(argv[3] == NULL);
        free(argv);
    }
}

TEST(play_words_expect_one)
{
    struct err err;
    bool shell;

    CHECK(play_words("  ", &shell, &err) == NULL);
    CHECK_EQ(err.code, ERR_USAGE);
    CHECK_STR(err.text, "expected a command, got '  '");
}

/* ---- pace ---- */

TEST(pace_follows_the_recorded_times_and_never_goes_back)
{
    struct pace p = {.speed = 2, .fd = -1};

    CHECK_EQ(pace_due_ns(&p, 5000000), 0);
    CHECK_EQ(pace_due_ns(&p, 5000010), 5000);
    CHECK_EQ(pace_due_ns(&p, 4000000), 5000);
    CHECK_EQ(pace_due_ns(&p, 7000000), 1000000000);
    CHECK_EQ(p.last_us - p.first_us, 2000000);
    CHECK(pace_due_ns(&p, INT64_MAX) > 1000000000);
    p = (struct pace){.speed = 0, .fd = -1};
    CHECK_EQ(pace_due_ns(&p, 1), 0);
    CHECK_EQ(pace_due_ns(&p, 1000000000), 0);
}

TEST(pace_words)
{
    static const char *const wrong[] = {"", "0", "-1", "fast", "1x", "real2"};
    struct err err;
    double speed;

    CHECK_EQ(pace_parse("real", &speed, &err), 0);
    CHECK(speed == 1);
    CHECK_EQ(pace_parse("max", &speed, &err), 0);
    CHECK(speed == 0);
    CHECK_EQ(pace_parse("2.5", &speed, &err), 0);
    CHECK(speed == 2.5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ(pace_parse(wrong[i], &speed, &err), -1);
        CHECK_EQ(err.code, ERR_USAGE);
        CHECK_HAS(err.text, "expected real, max or a number above 0, got '");
    }
}

/* ---- script ---- */

static void
add_in(struct drive *d, const char *code, const char *payload)
{
    struct frame f = help_frame(code, payload);

    logwriter_frame(d->log, RECORD_IN, ++d->arrivals, &f);
}

static void
add_out(struct drive *d, enum sender sender, enum command_code code,
        const char *payload)
{
    struct emission e = help_said(sender, d->arrivals, code, payload);

    emission_record(&e, d->log);
}

/* Two suggestions, of which B's is the first; A is killed, C by a KI that
 * comes behind its end. */
static void
record_causes(const char *last)
{
    struct drive d;

    drive_setup(&d, "random", NULL, NULL, NULL);
    drive_start(&d);
    drive_record(&d, "log");
    add_in(&d, "IN", HELP_SPACE);
    add_out(&d, SENDER_DEFAULT, CMD_INITIALIZED, "");
    add_in(&d, "GE", "2");
    add_out(&d, SENDER_DEFAULT, CMD_NEW_TRIAL, "{\"parameter_id\": 7}");
    add_out(&d, SENDER_DEFAULT, CMD_NEW_TRIAL, "{\"parameter_id\": \"x\"}");
    add_out(&d, SENDER_DEFAULT, CMD_NEW_TRIAL, "{\"parameter_id\": 7}");
    add_in(&d, "ME",
           "{\"parameter_id\": \"x\", \"trial_job_id\": \"A\", \"type\": "
           "\"PERIODICAL\", \"sequence\": 0, \"value\": \"1\"}");
    add_out(&d, SENDER_ASSESSOR, CMD_KILL_TRIAL, "\"A\"");
    add_out(&d, SENDER_ASSESSOR, CMD_ACKNOWLEDGE,
            "{\"trial_job_id\": \"A\", \"sequence\": 0, \"decision\": "
            "\"stop\"}");
    add_in(&d, "EN",
           "{\"trial_job_id\":\"C\",\"event\":\"FAILED\",\"hyper_params\":"
           "\"{\\\"parameter_id\\\": 7}\"}");
    add_out(&d, SENDER_ASSESSOR, CMD_KILL_TRIAL, "\"C\"");
    add_in(&d, "EN",
           "{\"trial_job_id\":\"A\",\"event\":\"EARLY_STOPPED\","
           "\"hyper_params\":\"{\\\"parameter_id\\\": \\\"x\\\"}\"}");
    add_in(&d, "GE", "1");
    logwriter_add(d.log, RECORD_SKIPPED, d.arrivals, "t a request, dropped",
                  20);
    if (last != NULL)
        add_in(&d, last, "");
    add_out(&d, SENDER_DEFAULT, CMD_NEW_TRIAL, "{\"parameter_id\": 9}");
    drive_stop(&d);
}

TEST(script_knows_what_each_frame_needs)
{
    struct script s;
    struct err err;

    record_causes("PI");
    CHECK_EQ(script_open(&s, "log/command.log", &err), 0);
    CHECK_EQ(s.n_steps, 6);
    CHECK_EQ(s.left_out, 1);
    CHECK_EQ(s.n_trials, 3);
    CHECK_EQ(s.n_answers, 7);
    CHECK_EQ(s.crossed, 1);
    CHECK_EQ(s.seed, 1);
    CHECK(!s.terminates);
    CHECK_EQ(s.steps[1].trials, 0);
    CHECK_EQ(s.steps[2].trials, 2);
    CHECK_EQ(s.steps[2].trial, 1);
    CHECK_STR(s.steps[2].job, "A");
    CHECK(!s.steps[2].killed);
    CHECK_EQ(s.steps[2].acks, 0);
    CHECK_EQ(s.steps[3].trials, 1);
    CHECK_EQ(s.steps[3].trial, 0);
    CHECK(!s.steps[3].killed);
    CHECK_EQ(s.steps[4].trials, 2);
    CHECK(s.steps[4].killed);
    CHECK_EQ(s.steps[4].acks, 1);
    for (size_t i = 0; i < s.n_answers; i++)
        CHECK(s.answers[i].needed);
    script_close(&s);
}

/* What stands behind a TE need not have been written. */
TEST(script_needs_nothing_behind_a_stop)
{
    struct script s;
    struct err err;

    record_causes("TE");
    CHECK_EQ(script_open(&s, "log/command.log", &err), 0);
    CHECK(s.terminates);
    CHECK_EQ(s.n_steps, 6);
    CHECK_EQ(s.n_answers, 7);
    CHECK(s.answers[5].needed);
    CHECK(!s.answers[6].needed);
    script_close(&s);
}

TEST(script_keys)
{
    char *key = script_key(CMD_KILL_TRIAL, "\"A\"", 3);

    CHECK_STR(key, "A");
    free(key);
    key = script_key(CMD_NO_MORE, "{\"parameter_id\": \"a\"}", 21);
    CHECK_STR(key, "\"a\"");
    free(key);
    CHECK(script_key(CMD_NEW_TRIAL, "{", 1) == NULL);
    CHECK(script_key(CMD_ACKNOWLEDGE, "{\"trial_job_id\": 1}", 19) == NULL);
    CHECK(script_key(CMD_INITIALIZED, "", 0) == NULL);
}
