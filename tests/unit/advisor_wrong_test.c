/* SPDX-License-Identifier: MIT */
/* Advisors that say what they must not: what the dispatcher makes of it, and
 * what `tunepipe plugin check` says. */
#include "check/calls.h"
#include "check/spaces.h"
#include "check/tuner_orders.h"
#include "plugin/demands.h"
#include "plugin/host.h"
#include "plugin/loader.h"

#include "dispatcher_help.h"

static const struct wrong {
    const char *how;
    const char *costs;  /* of the dispatcher's line; NULL: nothing */
    const char *checks; /* of what the check says */
} wrongs[] = {
    {"budget", "ask: budget is -1, expected a finite positive number, or 0",
     "ask of id 2 set budget to -1"},
    {"infinite", "ask: budget is inf", "ask of id 2 set budget to inf"},
    {"how",
     "ask: from_how is 7, expected TP_ANEW (0), TP_PROMOTED (1) or TP_CLONED "
     "(2)",
     "ask of id 2 set from_how to 7"},
    {"no from", "ask: from is TP_NO_ID and from_how is not TP_ANEW",
     "ask of id 2 set from to TP_NO_ID without from_how TP_ANEW"},
    {"no how", "ask: from is set and from_how is TP_ANEW",
     "ask of id 2 set from and left from_how TP_ANEW"},
    {"later", "ask: from is 2, expected a suggestion before 2",
     "ask of id 2 goes on from 2, for which it gave no point of this space"},
    {"other point", NULL, /* the trial is given the one that 0 had */
     "ask of id 2 promotes 0 with another point than it had given"},
    {"decision",
     "metric: decision is 17, expected TP_GO (0), TP_STOP (1), TP_PAUSE (2) "
     "or TP_FINISH (3)",
     "metric of id 2 set decision to 17"},
    {"release", "metric: decision is 4, expected", "set decision to 4"},
    {"twice", "ask: extra 'a': the key was given before",
     "ask: host->extra 'a': the key was given before"},
    {"key", "ask: extra '': expected a key of 1 to 255 bytes",
     "ask: host->extra '': expected a key of 1 to 255 bytes"},
    {"taken", "ask: 'x' is a parameter of the search space: rename that",
     "nothing of this"},
    {"reserved", "ask: extra 'TRIAL_BUDGET': expected out->budget",
     "nothing of this"},
    {"decide",
     "ask: decide: decision on 0 is 9, expected TP_STOP (1), TP_PAUSE (2), "
     "TP_FINISH (3) or TP_RELEASE (4)",
     "ask: host->decide: decision on 0 is 9"},
    {"stray", NULL,
     "space: host->decide() was called outside of ask, tell, ended and "
     "metric"},
    {"metric x", "metric: it changed the x it was lent",
     "metric changed the x it was lent: work on a copy"},
    {"metric fails", "metric: it does not like it",
     "metric failed: it does not like it"},
    {"metric 99", "metric: returned 99, expected TP_OK (0) or TP_ERR (-1)",
     "metric returned 99, expected TP_OK (0) or TP_ERR (-1)"},
};

#define N_WRONGS (sizeof wrongs / sizeof *wrongs)

static const char *
args_of(const char *how)
{
    static char text[64];

    snprintf(text, sizeof text, "{\"how\": \"%s\"}", how);
    return text;
}

/* It costs its command: other suggestions, and the trial, go on. */
TEST(advisor_wrong_costs_one_command)
{
    for (size_t i = 0; i < N_WRONGS; i++) {
        const struct wrong *w = &wrongs[i];
        struct drive d;

        drive_setup(&d, "misadvisor", args_of(w->how), NULL, NULL);
        d.setup.policy.extensions = true;
        drive_start(&d);
        drive_send(&d, "IN", "%s", HELP_SPACE);
        CHECK_HAS(drive_send(&d, "GE", "3"), "TR {\"parameter_id\": 1, ");
        for (int id = 0; id < 3; id++)
            CHECK_HAS(drive_send(&d, "ME",
                                 "{\"parameter_id\": %d, \"trial_job_id\": "
                                 "\"J%d\", \"type\": \"PERIODICAL\", "
                                 "\"sequence\": 0, \"value\": \"1\", "
                                 "\"sync\": true}",
                                 id, id),
                      "\"decision\": \"go\"}");
        if (w->costs != NULL)
            CHECK_HAS(drive_lines(&d), w->costs);
        CHECK_EQ(d.failed, 0);
        drive_stop(&d);
        CHECK_EQ(unlink("lines"), 0);
    }
}

TEST(advisor_wrong_is_found_by_the_check)
{
    char file[4096];
    struct plugin *p;
    struct spaces spaces;
    struct err err = {0};

    snprintf(file, sizeof file, "%s", t_build("tests/plugins/misadvisor.so"));
    p = plugin_load_file(file, PLUGIN_TUNER, &err);
    CHECK_STR(err.text, "");
    CHECK_EQ(spaces_init(&spaces, NULL), 0);
    for (size_t i = 0; i < N_WRONGS; i++) {
        const struct wrong *w = &wrongs[i];
        struct calls_seen seen = {.taken = 0};
        const struct calls_setup setup = {
            .plugin = p, .seen = &seen, .args = args_of(w->how)};
        bool nothing = strcmp(w->checks, "nothing of this") == 0;

        err_clear(&err);
        CHECK_EQ(tuner_order(&setup, "saaammFemmFemmFe", "mixed",
                             spaces.at[0].space, spaces.at[1].space, &err),
                 nothing ? 0 : -1);
        if (!nothing)
            CHECK_HAS(err.text, w->checks);
    }
    plugin_unload(p);
    spaces_fini(&spaces);
}

/* ---- what is demanded outside of the calls in which it counts ---- */

TEST(advisor_demands_outside_of_its_calls_count_for_nothing)
{
    struct err err;
    struct host *h = host_new("tuner mine", 1, 1, NULL, &err);
    const struct tp_host *s = host_services(h);
    struct demands *d = host_demands(h);
    struct demanded one;

    s->extra(s->ctx, "a", "1");
    s->decide(s->ctx, 3, TP_STOP);
    CHECK_EQ(d->n_extras, 0);
    CHECK(!demands_next(d, &one));
    demands_open(d, false, true);
    s->extra(s->ctx, "a", "1");
    s->decide(s->ctx, 3, TP_STOP);
    s->decide(s->ctx, 4, TP_RELEASE);
    demands_close(d);
    s->decide(s->ctx, 5, TP_STOP);
    CHECK_EQ(d->n_extras, 0);
    CHECK(demands_next(d, &one));
    CHECK(one.id == 3 && one.decision == TP_STOP);
    CHECK(demands_next(d, &one));
    CHECK(one.id == 4 && one.decision == TP_RELEASE);
    CHECK(!demands_next(d, &one));
    CHECK_STR(d->fault, "");
    host_free(h);
}

TEST(advisor_extras_are_checked)
{
    static char long_key[300], long_text[EXTRA_TEXT_MAX + 2];
    struct demands d = {.fault = ""};
    char key[16];

    memset(long_key, 'k', sizeof long_key - 1);
    memset(long_text, 't', sizeof long_text - 1);
    demands_open(&d, true, true);
    demands_extra(&d, "a", "b");
    demands_extra(&d, "", "");
    CHECK_HAS(d.fault, "extra '': expected a key of 1 to 255 bytes");
    demands_open(&d, true, true);
    CHECK_EQ(d.n_extras, 0);
    demands_extra(&d, long_key, "");
    CHECK_HAS(d.fault, "expected a key of 1 to 255 bytes");
    demands_open(&d, true, true);
    demands_extra(&d, "a\n", "");
    CHECK_HAS(d.fault, "printable ASCII");
    demands_open(&d, true, true);
    demands_extra(&d, "a", long_text);
    CHECK_HAS(d.fault, "at most 65536 bytes");
    demands_open(&d, true, true);
    demands_extra(&d, NULL, "x");
    CHECK_HAS(d.fault, "key or text is NULL");
    demands_open(&d, true, true);
    for (int i = 0; i <= EXTRAS_MAX; i++) {
        snprintf(key, sizeof key, "k%d", i);
        demands_extra(&d, key, "");
    }
    CHECK_EQ(d.n_extras, EXTRAS_MAX);
    CHECK_HAS(d.fault, "expected at most 64 keys");
    demands_fini(&d);
}

/* ---- filters around an advisor ---- */

#define THREE "{\"x\": {\"_type\": \"choice\", \"_value\": [1, 2, 3]}}"

static const char *
parameters_of(const char *sent, const char *id)
{
    static char text[3][80];
    static int turn;
    const char *at = strstr(sent, id);

    CHECK(at != NULL);
    at = strstr(at, "\"x\": ");
    snprintf(text[++turn % 3], sizeof text[0], "%.*s", (int)strcspn(at, ","),
             at);
    return text[turn % 3];
}

/* All there is was given out: a promotion is no duplicate, and has the point
 * that the filters gave its trial, whatever the tuner had asked for. */
TEST(advisor_promotes_through_filters)
{
    static const char *const filters[] = {"dedup", "fallback", "timing", "log",
                                          "constraints"};

    for (size_t i = 0; i < 2 * sizeof filters / sizeof *filters; i++) {
        bool extensions = i % 2 == 1;
        struct drive d;
        const char *point;

        drive_setup(&d, "advisor", "{\"budget\": 3, \"labels\": true}", NULL,
                    NULL);
        d.setup.policy.extensions = extensions;
        d.setup.filters[0].name = filters[i / 2];
        d.setup.n_filters = 1;
        drive_start(&d);
        drive_send(&d, "IN", "%s", THREE);
        point = parameters_of(drive_send(&d, "GE", "4"), "\"0_2\"");
        for (int k = 0; k < 3; k++) {
            drive_send(&d, "ME",
                       "{\"parameter_id\": \"0_%d\", \"trial_job_id\": "
                       "\"J%d\", \"type\": \"PERIODICAL\", \"sequence\": 0, "
                       "\"value\": \"%d\"}",
                       k, k, k);
            drive_send(&d, "EN",
                       "{\"trial_job_id\": \"J%d\", \"event\": \"%s\", "
                       "\"hyper_params\": null}",
                       k, extensions ? "PAUSED" : "SUCCEEDED");
        }
        CHECK_STR(parameters_of(buf_text(&d.sent), "\"1_2\""), point);
        drive_stop(&d);
    }
}

/* What fallback gives out in its place is unknown to the tuner. */
TEST(advisor_hears_nothing_of_what_fallback_gave)
{
    struct drive d;

    drive_setup(&d, "misadvisor", "{\"how\": \"budget\"}", NULL, NULL);
    d.setup.policy.extensions = true;
    d.setup.filters[0].name = "fallback";
    d.setup.n_filters = 1;
    drive_start(&d);
    drive_send(&d, "IN", "%s", HELP_SPACE);
    CHECK_HAS(drive_send(&d, "GE", "3"), "{\"parameter_id\": 2, ");
    CHECK(strstr(strstr(buf_text(&d.sent), "\"parameter_id\": 2"),
                 "TRIAL_BUDGET") == NULL);
    CHECK_STR(drive_periodical(&d, 2, "C", 0, "1"), "");
    drive_stop(&d);
}
