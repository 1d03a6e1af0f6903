/* SPDX-License-Identifier: MIT */
#include "replay/explain.h"

#include "dispatcher_help.h"
#include "plugin/host.h"
#include "plugin/paths.h"

#include <math.h>

struct heard {
    char text[256];
    int n;
};

static void
hear(void *ctx, const char *title, const char *text)
{
    struct heard *h = ctx;

    h->n++;
    snprintf(h->text, sizeof h->text, "%s: %s", title, text);
}

TEST(explain_is_silent_until_somebody_listens)
{
    struct heard heard = {.n = 0};
    struct host_listener listener = {hear, &heard};
    struct err err;
    struct host *h = host_new("tuner mine", 1, 1, NULL, &err);
    const struct tp_host *s = host_services(h);

    CHECK_EQ(s->explain(s->ctx, "%s", "nobody"), 0);
    CHECK_EQ(s->explain(s->ctx, NULL), 0);
    host_listen(h, &listener);
    CHECK_EQ(s->explain(s->ctx, NULL), 1);
    CHECK_EQ(heard.n, 0);
    CHECK_EQ(s->explain(s->ctx, "x is %d", 3), 1);
    CHECK_EQ(heard.n, 1);
    CHECK_STR(heard.text, "tuner mine: x is 3");
    host_listen(h, NULL);
    CHECK_EQ(s->explain(s->ctx, "nobody"), 0);
    CHECK_EQ(heard.n, 1);
    host_free(h);
}

/* ---- a recorded session ---- */

static int
explain(const char *trial, struct explanation *x, struct err *err)
{
    struct log silent = {.fd = -1, .name = "tunepipe"};
    struct plugin_paths *paths;
    struct explain_setup setup = {"log/command.log", trial, NULL, &silent};
    const char *plugins = t_build("plugins");
    int rc;

    setenv("TUNEPIPE_PLUGIN_PATH", t_build("tests/plugins"), 1);
    err_clear(err);
    paths = plugin_paths_new(plugins, err);
    setup.paths = paths;
    rc = explain_run(&setup, x, err);
    plugin_paths_free(paths);
    return rc;
}

#define SMALL "{\"x\": {\"_type\": \"choice\", \"_value\": [1, 2, 3]}}"

static void
record_session(void)
{
    struct drive d;

    drive_setup(&d, "random", "{}", "medianstop", "{}");
    drive_start(&d);
    drive_record(&d, "log");
    drive_send(&d, "IN", "%s", SMALL);    /* 1 */
    drive_send(&d, "GE", "3");            /* 2 */
    drive_periodical(&d, 0, "A", 0, "5"); /* 3 */
    drive_final(&d, 0, "A", "5");         /* 4 */
    drive_end(&d, 0, "A", "SUCCEEDED");   /* 5 */
    drive_periodical(&d, 1, "B", 0, "7"); /* 6 */
    drive_periodical(&d, 2, "C", 0, "4"); /* 7: KI */
    drive_end(&d, 2, "C", "USER_CANCELED");
    drive_stop(&d);
}

/* dedup is around random: of three parameters each comes once. */
TEST(explain_tells_what_the_plugins_said)
{
    struct explanation x;
    struct err err;

    record_session();
    CHECK_EQ(explain("C", &x, &err), 0);
    CHECK_STR(x.parameter, "2");
    CHECK_STR(x.tuner, "random");
    CHECK_STR(x.assessor, "medianstop");
    CHECK_EQ(x.asked, 2);
    CHECK_STR(x.asked_by, "GE");
    CHECK_HAS(x.suggestion, "{\"parameter_id\": 2, ");
    CHECK(x.why.n >= 1);
    CHECK_STR(x.why.at[0].who, "tuner random");
    CHECK_HAS(x.why.at[0].text, "draw 2 of the prior");
    CHECK_EQ(x.reports, 1);
    CHECK_EQ(x.judgements, 1);
    CHECK_EQ(x.judged, 7);
    CHECK_EQ(x.step, 0);
    CHECK(x.stop);
    CHECK(x.value == 4 && x.threshold == 5);
    CHECK_STR(x.rule, "best value below the median of averages");
    CHECK_EQ(x.judged_why.n, 1);
    CHECK_HAS(x.judged_why.at[0].text, "over 1 completed trials: 5");
    CHECK_EQ(x.killed, 7);
    CHECK_EQ(x.final, 0);
    CHECK_EQ(x.ended, 8);
    CHECK_STR(x.event, "USER_CANCELED");
    explanation_fini(&x);
}

TEST(explain_of_a_trial_that_went_on)
{
    struct explanation x;
    struct err err;
    int replaced = 0;

    record_session();
    CHECK_EQ(explain("0", &x, &err), 0);
    CHECK_STR(x.job, "A");
    CHECK(!x.stop && isnan(x.threshold) && x.killed == 0);
    CHECK_EQ(x.judgements, 1);
    CHECK_HAS(x.judged_why.at[0].text, "no trial has completed 1 values");
    CHECK_EQ(x.final, 4);
    CHECK(x.result == 5);
    explanation_fini(&x);
    for (int i = 0; i < 3; i++) {
        char id[] = {(char)('0' + i), '\0'};

        CHECK_EQ(explain(id, &x, &err), 0);
        for (size_t k = 0; k < x.why.n; k++)
            replaced += strcmp(x.why.at[k].who, "filter dedup") == 0 && k > 0;
        explanation_fini(&x);
    }
    CHECK_EQ(replaced, 2); /* this seed draws one of the three thrice */
    CHECK_EQ(explain("D", &x, &err), -1);
    CHECK_EQ(err.code, ERR_INPUT);
    CHECK_HAS(err.text, "nothing of a trial 'D'");
    explanation_fini(&x);
}

/* Rungs of three and one, with budgets 1 and 3. */
static void
record_rungs(void)
{
    struct drive d;
    char job[] = "A";

    drive_setup(&d, "advisor", "{\"budget\": 3, \"eta\": 3}", NULL, NULL);
    d.setup.policy = (struct policy){.extensions = true};
    drive_start(&d);
    drive_record(&d, "log");
    drive_send(&d, "IN", "%s", HELP_SPACE); /* 1 */
    drive_send(&d, "GE", "3");              /* 2 */
    for (int i = 0; i < 3; i++, job[0]++)   /* 3 to 5 */
        drive_periodical(&d, i, job, 0, (const char *[]){"1", "2", "3"}[i]);
    for (int i = 0; i < 3; i++) /* 6 to 8 */
        drive_end(&d, i, (const char *[]){"A", "B", "C"}[i], "PAUSED");
    drive_send(&d, "GE", "1"); /* 9: "C" goes on, the others are released */
    drive_send(&d, "ME",
               "{\"parameter_id\": 3, \"trial_job_id\": \"D\", \"type\": "
               "\"PERIODICAL\", \"sequence\": 0, \"value\": \"4\", \"base\": "
               "1}"); /* 10 */
    drive_stop(&d);
}

TEST(explain_of_a_trial_that_was_paused_and_went_on)
{
    struct explanation x;
    struct err err;

    record_rungs();
    CHECK_EQ(explain("A", &x, &err), 0);
    CHECK_STR(err.text, "");
    CHECK_EQ(x.killed, 0);
    CHECK_EQ(x.decided, 3); /* its release does not count */
    CHECK_EQ(x.judged, 3);
    CHECK_EQ(x.decision, TRIAL_PAUSE);
    CHECK_STR(x.event, "PAUSED");
    explanation_fini(&x);
    CHECK_EQ(explain("D", &x, &err), 0);
    CHECK_HAS(x.suggestion, "\"resume_from\": \"C\"");
    CHECK_EQ(x.decided, 0);
    CHECK_EQ(x.latest_step, 1); /* behind that of the trial it goes on from */
    CHECK_EQ(x.decision, TRIAL_GO);
    explanation_fini(&x);
}

/* What a failing tuner says in vain is told by the host. */
TEST(explain_of_a_sample_in_the_place_of_a_failed_ask)
{
    struct explanation x;
    struct drive d;
    struct err err;

    drive_setup(&d, "ask_fails", "{}", NULL, NULL);
    d.setup.policy.ask_error = ASK_PRIOR;
    drive_start(&d);
    drive_record(&d, "log");
    drive_send(&d, "IN", "%s", SMALL);
    drive_send(&d, "GE", "4");
    drive_stop(&d);
    for (int i = 0; i < 4; i++) {
        char id[] = {(char)('0' + i), '\0'};

        CHECK_EQ(explain(id, &x, &err), 0);
        if (x.why.n == 2) {
            CHECK_HAS(x.why.at[0].text, "tuner ask_fails: ask: ");
            CHECK_STR(x.why.at[1].who, "tunepipe");
            CHECK_HAS(x.why.at[1].text, "a sample of the prior");
            explanation_fini(&x);
            return;
        }
        explanation_fini(&x);
    }
    CHECK(!"no ask failed");
}

/* Why suggestion 1 of 2 is what it is. */
TEST(explain_of_each_tuner_and_filter)
{
    static const struct {
        const char *tuner, *filter, *space, *text;
    } cases[] = {
        {"grid", NULL, SMALL, "tuner grid: point 2 of the grid, which"},
        {"batch", NULL,
         "{\"combine_params\": {\"_type\": \"choice\", \"_value\": [{\"a\": "
         "1}, {\"a\": 2}]}}",
         "tuner batch: element 1 of the list"},
        {"never", "fallback", SMALL,
         "filter fallback: a sample of the prior: the tuner waits and nothing "
         "is out"},
        {"ask_fails", "fallback", SMALL,
         "filter fallback: a sample of the prior: tuner ask_fails: ask: the "
         "matrix is singular"},
    };
    char text[512];
    struct explanation x;
    struct err err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct drive d;

        drive_setup(&d, cases[i].tuner, "{}", NULL, NULL);
        d.setup.filters[0].name = cases[i].filter;
        d.setup.n_filters = cases[i].filter != NULL;
        drive_start(&d);
        drive_record(&d, "log");
        drive_send(&d, "IN", "%s", cases[i].space);
        drive_send(&d, "GE", "1");
        drive_end(&d, 0, "A", "FAILED");
        drive_send(&d, "GE", "1");
        drive_stop(&d);
        CHECK_EQ(explain("1", &x, &err), 0);
        CHECK(x.why.n > 0);
        snprintf(text, sizeof text, "%s: %s", x.why.at[x.why.n - 1].who,
                 x.why.at[x.why.n - 1].text);
        CHECK_HAS(text, cases[i].text);
        explanation_fini(&x);
        unlink("log/command.log");
    }
}
