/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/err.h"
#include "core/file.h"
#include "trial/outcome.h"
#include "manager/trial_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct trial *
make(void)
{
    return trial_new(7, "{\"parameter_id\": 3}xx", 20, "3", "{}");
}

TEST(manager_trial_has_an_id_fit_for_a_file)
{
    struct trial *t = make();

    CHECK_STR(t->id, "00007");
    CHECK_STR(t->record, "{\"parameter_id\": 3}x");
    CHECK_EQ(t->state, TRIAL_WAITING);
    trial_free(t);
    t = trial_new(123456, "", 0, "\"a\"", "{}");
    CHECK_STR(t->id, "123456");
    trial_free(t);
    trial_free(NULL);
}

/* One letter a state, in their order. */
TEST(manager_trial_goes_by_legal_transitions_only)
{
    static const char letters[] = "wypqPrRSFsuctoli";
    static const struct {
        char from;
        const char *to;
    } rows[] = {
        {'w', "yprSFsuci"}, {'y', "wSFsuci"}, {'p', "qP"},
        {'q', "SFsuctoli"}, {'P', "rSFsuci"}, {'r', "Ri"},
        {'R', "SFsuctoli"}, {'S', ""},        {'F', ""},
        {'s', ""},          {'u', ""},        {'c', ""},
        {'t', ""},          {'o', ""},        {'l', ""},
        {'i', ""},
    };

    CHECK_EQ(sizeof letters - 1, TRIAL_STATES);
    for (int from = 0; from < TRIAL_STATES; from++) {
        CHECK_EQ(rows[from].from, letters[from]);
        for (int to = 0; to < TRIAL_STATES; to++)
            CHECK_EQ(
                trial_may_enter((enum trial_state)from, (enum trial_state)to),
                strchr(rows[from].to, letters[to]) != NULL);
    }
}

TEST(manager_trial_states_have_words)
{
    for (int s = 0; s < TRIAL_STATES; s++) {
        const char *name = trial_state_name((enum trial_state)s);

        CHECK_STR(trial_state_name(trial_state_of(name)), name);
        if (s >= TRIAL_SUCCEEDED)
            CHECK_EQ(trial_state_of(name), s);
    }
    CHECK_EQ(trial_state_of("asleep"), TRIAL_STATES);
    for (int s = TRIAL_SUCCEEDED; s < TRIAL_STATES; s++)
        CHECK_EQ(trial_event_name((enum trial_state)s) != NULL,
                 s != TRIAL_INTERRUPTED); /* told to nobody */
    CHECK_EQ(trial_state_of_event("INTERRUPTED"), TRIAL_STATES);
    CHECK_EQ(trial_state_of_event("FAILED"), TRIAL_FAILED);
    CHECK_STR(trial_event_name(TRIAL_OUT_OF_MEMORY), "FAILED");
    CHECK(trial_is_failure(TRIAL_OUT_OF_MEMORY));
    CHECK(!trial_is_failure(TRIAL_TIMED_OUT));
}

TEST(manager_trial_that_failed_for_want_of_memory)
{
    struct outcome o = {
        .kind = OUTCOME_SIGNALLED, .number = 9, .out_of_memory = true};
    struct trial *t = make();

    CHECK_EQ(trial_judge(t, &o), TRIAL_OUT_OF_MEMORY);
    CHECK_STR(t->why, "signal 9 (Killed)");
    t->outcome = o;
    t->ended_ns = 1;
    CHECK_STR(trial_ended_by(t, true), "system");
    t->stop = STOP_ASSESSOR;
    CHECK_STR(trial_ended_by(t, true), "assessor");
    CHECK_STR(trial_ended_by(t, false), "tuner");
    t->stop = STOP_NOT;
    o = (struct outcome){.kind = OUTCOME_EXITED, .out_of_memory = true};
    t->final.given = true; /* it went well all the same */
    CHECK_EQ(trial_judge(t, &o), TRIAL_SUCCEEDED);
    t->stop = STOP_ASSESSOR;
    CHECK_EQ(trial_judge(t, &o), TRIAL_STOPPED);
    trial_free(t);
}

TEST(manager_trial_is_judged_by_stop_exit_and_result)
{
    static const struct {
        enum trial_stop stop;
        enum outcome_kind kind;
        int number;
        bool has_final;
        enum trial_state want;
        const char *why, *event;
    } cases[] = {
        {STOP_NOT, OUTCOME_EXITED, 0, true, TRIAL_SUCCEEDED, "", "SUCCEEDED"},
        {STOP_NOT, OUTCOME_EXITED, 0, false, TRIAL_FAILED, "no final metric",
         "FAILED"},
        {STOP_NOT, OUTCOME_EXITED, 3, true, TRIAL_FAILED, "exit status 3",
         "FAILED"},
        {STOP_NOT, OUTCOME_EXITED, 139, false, TRIAL_FAILED,
         "exit status 139 (signal 11, Segmentation fault)", "FAILED"},
        {STOP_NOT, OUTCOME_EXITED, 255, false, TRIAL_FAILED, "exit status 255",
         "FAILED"},
        {STOP_NOT, OUTCOME_SIGNALLED, 11, true, TRIAL_FAILED,
         "signal 11 (Segmentation fault)", "FAILED"},
        {STOP_NOT, OUTCOME_UNSTARTED, 0, false, TRIAL_FAILED,
         "could not be started: no shell", "FAILED"},
        {STOP_NOT, OUTCOME_LOST, 0, true, TRIAL_LOST, "no shell", "FAILED"},
        {STOP_ASSESSOR, OUTCOME_SIGNALLED, 15, false, TRIAL_STOPPED, "",
         "EARLY_STOPPED"},
        {STOP_ASSESSOR, OUTCOME_EXITED, 0, true, TRIAL_STOPPED, "",
         "EARLY_STOPPED"},
        {STOP_TIMEOUT, OUTCOME_SIGNALLED, 9, false, TRIAL_TIMED_OUT,
         "no end within maxTrialDuration", "EARLY_STOPPED"},
        {STOP_CANCEL, OUTCOME_LOST, 0, false, TRIAL_CANCELLED, "",
         "USER_CANCELED"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome o = {.kind = cases[i].kind,
                            .number = cases[i].number,
                            .text = "no shell"};
        struct trial *t = make();

        t->stop = cases[i].stop;
        t->final.given = cases[i].has_final;
        CHECK_EQ(trial_judge(t, &o), cases[i].want);
        CHECK_STR(t->why, cases[i].why);
        CHECK_STR(trial_event_name(cases[i].want), cases[i].event);
        trial_free(t);
    }
}

TEST(manager_trial_has_a_result_that_counts_as_none)
{
    static const struct {
        double final;
        const char *why;
    } cases[] = {
        {1, ""},
        {(double)NAN, "nan, which counts as no result"},
        {-(double)NAN, "nan, which counts as no result"},
        {HUGE_VAL, "inf, which counts as no result"},
        {-HUGE_VAL, "-inf, which counts as no result"},
    };
    const struct outcome o = {.kind = OUTCOME_EXITED};
    double uncounted;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trial *t = make();

        t->final = (struct reported){true, cases[i].final, NULL};
        strcpy(t->why, "exit status 3"); /* of the attempt before */
        CHECK_EQ(trial_judge(t, &o), TRIAL_SUCCEEDED);
        CHECK_STR(t->why, cases[i].why);
        CHECK_EQ(trial_uncounted_final(t->why, &uncounted), i > 0);
        strcpy(t->why, "exit status 3");
        t->stop = STOP_ASSESSOR;
        CHECK_EQ(trial_judge(t, &o), TRIAL_STOPPED);
        CHECK_STR(t->why, "");
        trial_free(t);
    }
}

TEST(manager_trial_is_lost_as_its_wrapper_says)
{
    struct outcome o;
    struct trial *t = make();

    CHECK_EQ(outcome_read(".", &o, NULL), 0);
    CHECK_EQ(trial_judge(t, &o), TRIAL_LOST);
    CHECK_STR(t->why, "its wrapper vanished");
    CHECK_EQ(system("echo words > stderr"), 0);
    CHECK_EQ(outcome_read(".", &o, NULL), 0);
    CHECK_STR(o.text, "");
    CHECK_EQ(system("echo 'tunepipe-wrapper: cannot' >> stderr"), 0);
    CHECK_EQ(outcome_read(".", &o, NULL), 0);
    t->why[0] = '\0';
    CHECK_EQ(trial_judge(t, &o), TRIAL_LOST);
    CHECK_STR(t->why, "tunepipe-wrapper: cannot");
    CHECK_EQ(system("rm stderr; ln -s /etc/passwd stderr; ln -s stderr exit"),
             0);
    CHECK_EQ(outcome_read(".", &o, NULL), -1);
    CHECK_EQ(o.kind, OUTCOME_LOST);
    CHECK_STR(o.text, "");
    trial_free(t);
}

static int
read_text(const char *text, struct outcome *o, struct err *err)
{
    file_write("exit", text, strlen(text), NULL);
    return outcome_read(".", o, err);
}

TEST(manager_outcome_is_read_from_the_wrappers_file)
{
    struct outcome o;
    struct err err;

    CHECK_EQ(outcome_read(".", &o, &err), 0);
    CHECK_EQ(o.kind, OUTCOME_LOST);
    CHECK_EQ(read_text("exited 3\nstarted_ns 10\nended_ns 25\nmaxrss_kb 7\n"
                       "user_us 8\nsystem_us 9\n",
                       &o, &err),
             0);
    CHECK_EQ(o.kind, OUTCOME_EXITED);
    CHECK_EQ(o.number, 3);
    CHECK_EQ(o.started_ns, 10);
    CHECK_EQ(o.ended_ns, 25);
    CHECK_EQ(o.maxrss_kb, 7);
    CHECK_EQ(o.user_us, 8);
    CHECK_EQ(o.system_us, 9);
    CHECK(!o.abandoned);
    CHECK_EQ(read_text("signalled 15\nabandoned 1\nsystem_us 9\n", &o, &err),
             0);
    CHECK(o.abandoned);
    CHECK_EQ(read_text("signalled 9\n", &o, &err), 0);
    CHECK_EQ(o.kind, OUTCOME_SIGNALLED);
    CHECK_EQ(read_text("unstarted no such file: x\n", &o, &err), 0);
    CHECK_EQ(o.kind, OUTCOME_UNSTARTED);
    CHECK_STR(o.text, "no such file: x");
}

TEST(manager_outcome_names_what_it_does_not_understand)
{
    static const char *const bad[] = {"",           "\n",           "exited\n",
                                      "exited x\n", "exited 256\n", "died 3\n"};
    struct outcome o;
    struct err err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err_clear(&err);
        CHECK_EQ(read_text(bad[i], &o, &err), -1);
        CHECK_HAS(err.text, "./exit: ");
        CHECK_EQ(o.kind, OUTCOME_LOST);
    }
}

TEST(manager_trial_that_is_interrupted_may_still_have_its_result)
{
    struct outcome o = {.kind = OUTCOME_SIGNALLED, .number = 15};
    struct trial *t = make();

    t->stop = STOP_INTERRUPT;
    CHECK(trial_undecided(t));
    CHECK_EQ(trial_judge(t, &o), TRIAL_INTERRUPTED);
    CHECK_STR(t->why, "");
    t->final.given = true;
    CHECK_EQ(trial_judge(t, &o), TRIAL_SUCCEEDED);
    trial_free(t);
}

TEST(manager_trial_outcomes_by_a_signal_for_all)
{
    CHECK(outcome_by_signal(
        &(struct outcome){.kind = OUTCOME_SIGNALLED, .number = 15}));
    CHECK(outcome_by_signal(
        &(struct outcome){.kind = OUTCOME_EXITED, .number = 130}));
    CHECK(outcome_by_signal(
        &(struct outcome){.kind = OUTCOME_EXITED, .number = 1, .told = true}));
    CHECK(!outcome_by_signal(
        &(struct outcome){.kind = OUTCOME_SIGNALLED, .number = 9}));
    CHECK(!outcome_by_signal(
        &(struct outcome){.kind = OUTCOME_EXITED, .number = 15}));
}
