/* SPDX-License-Identifier: MIT */
/* The tuner asha as the dispatcher uses it. */
#include "core/buf.h"
#include "core/pack.h"
#include "dispatcher_help.h"
#include "plugin/host.h"
#include "plugin/paths.h"
#include "plugin/tuner.h"
#include "unit/space_help.h"

NOT_UNDER_TSAN;

#define SPACE                                       \
    "{'a': {'_type': 'uniform', '_value': [0, 1]}," \
    " 'c': {'_type': 'choice', '_value': ['s', 't']}}"

enum { TRIALS_MAX = 400 };

struct asha_session {
    struct space *space;
    struct tuner *tuner;
    double x[TRIALS_MAX][2];
    struct buf said;
    struct host_listener listener;
};

static void
hear(void *ctx, const char *title, const char *text)
{
    (void)title;
    buf_printf(ctx, "%s\n", text);
}

static struct tuner *
open_asha(const char *args, struct err *err)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct json *doc = help_json(args);
    struct tuner *t = tuner_new(paths, "asha", json_root(doc), 4, NULL, err);

    json_free(doc);
    plugin_paths_free(paths);
    return t;
}

static void
begin(struct asha_session *s, const char *args)
{
    struct err err = {0};

    s->space = help_space(SPACE);
    s->tuner = open_asha(args, &err);
    CHECK_STR(err.text, "");
    CHECK_EQ(tuner_space(s->tuner, s->space, &err), 0);
    buf_init(&s->said, 1 << 20);
    s->listener = (struct host_listener){hear, &s->said};
    tuner_listen(s->tuner, &s->listener);
}

static void
finish(struct asha_session *s)
{
    tuner_free(s->tuner);
    space_free(s->space);
    buf_fini(&s->said);
}

static int
ask(struct asha_session *s, uint64_t id)
{
    struct err err = {0};
    char *label = NULL;
    int rc;

    buf_clear(&s->said);
    rc = tuner_ask(s->tuner, id, s->x[id], &label, &err);
    CHECK_STR(err.text, "");
    CHECK(label == NULL);
    return rc;
}

static struct tp_verdict
report(struct asha_session *s, uint64_t id, uint64_t step, double value)
{
    struct tp_metric m = {.value = value, .step = step};
    struct tp_verdict out = {0};
    struct err err = {0};

    buf_clear(&s->said);
    CHECK_EQ(tuner_metric(s->tuner, id, s->x[id], &m, &out, &err), 0);
    return out;
}

static void
end(struct asha_session *s, uint64_t id, int how)
{
    struct err err = {0};

    CHECK_EQ(tuner_ended(s->tuner, id, s->x[id], how, &err), 0);
}

TEST(asha_plugin_refuses_what_does_not_fit_together)
{
    struct err err = {0};

    CHECK(open_asha("{'min_budget': 9, 'max_budget': 8}", &err) == NULL);
    CHECK_HAS(err.text, "min_budget: is 9, expected at most max_budget, which "
                        "is 8");
    CHECK(open_asha("{'max_budget': 27, 'brackets': 5}", &err) == NULL);
    CHECK_HAS(err.text, "brackets: is 5, expected at most 4, one for each "
                        "rung from 1 to 27 by 3");
    CHECK(open_asha("{'eta': 1}", &err) == NULL);
    CHECK(open_asha("{'type': 'stoping'}", &err) == NULL);
    CHECK_HAS(err.text, "stopping");
}

TEST(asha_plugin_stops_and_says_why)
{
    struct asha_session s;
    struct tp_verdict v;

    begin(&s, "{'max_budget': 9}");
    CHECK(tuner_advises(s.tuner));
    CHECK_EQ(ask(&s, 0), TP_OK);
    CHECK(tuner_terms(s.tuner)->budget == 9);
    CHECK(tuner_terms(s.tuner)->from == TP_NO_ID);
    CHECK_HAS(buf_text(&s.said), "bracket 1 of 1");
    CHECK_EQ(report(&s, 0, 0, 0.8).decision, TP_GO);
    CHECK_HAS(buf_text(&s.said),
              "bracket 1 of 1, rung 1 of 3 (budget 1): "
              "rank 1 of 1\nthe best 1 are its top (1/3); the cut is at 0.8\n");
    CHECK_EQ(report(&s, 0, 1, 0.8).decision, TP_GO); /* between rungs */
    CHECK_STR(buf_text(&s.said), "");
    CHECK_EQ(ask(&s, 1), TP_OK);
    v = report(&s, 1, 0, 0.7);
    CHECK_EQ(v.decision, TP_STOP);
    CHECK(v.value == 0.7 && v.threshold == 0.8);
    CHECK_STR(v.rule, "below the top of its rung");
    end(&s, 1, TP_ENDED_STOPPED);
    CHECK_EQ(report(&s, 0, 8, 0.9).decision, TP_FINISH);
    finish(&s);
}

TEST(asha_plugin_promotes_from_a_checkpoint)
{
    struct asha_session s;
    uint64_t id;
    int decision;

    begin(&s, "{'max_budget': 9, 'type': 'promotion', 'configurations': 3,"
              " 'optimize_mode': 'minimize'}");
    for (id = 0; id < 3; id++) {
        CHECK_EQ(ask(&s, id), TP_OK);
        CHECK(tuner_terms(s.tuner)->budget == 1);
    }
    CHECK_EQ(ask(&s, id), TP_LATER);
    for (id = 0; id < 3; id++) {
        CHECK_EQ(report(&s, id, 0, (double)id).decision, TP_PAUSE);
        end(&s, id, TP_ENDED_PAUSED);
    }
    for (uint64_t left = 3; left-- > 1;) { /* 2 and 1 wait in vain */
        CHECK(tuner_next_decision(s.tuner, &id, &decision));
        CHECK_EQ(id, left);
        CHECK_EQ(decision, TP_RELEASE);
    }
    CHECK(!tuner_next_decision(s.tuner, &id, &decision));
    CHECK_EQ(ask(&s, 3), TP_OK);
    CHECK(tuner_terms(s.tuner)->budget == 3);
    CHECK_EQ(tuner_terms(s.tuner)->from, 0);
    CHECK_EQ(tuner_terms(s.tuner)->from_how, TP_PROMOTED);
    CHECK(memcmp(s.x[0], s.x[3], sizeof s.x[0]) == 0);
    CHECK_STR(buf_text(&s.said),
              "bracket 1 of 1: suggestion 0, with 0, was the best that waited "
              "in rung 1 of 3, and in the top 1 of 3\n"
              "it goes on to rung 2: to budget 3\n");
    CHECK_EQ(report(&s, 3, 2, -1).decision, TP_PAUSE);
    end(&s, 3, TP_ENDED_PAUSED);
    CHECK_EQ(ask(&s, 4), TP_DONE);
    finish(&s);
}

/* The paused ones of a space that is no more. */
TEST(asha_plugin_releases_what_waits_when_the_space_changes)
{
    struct space *other = help_space("{'b': {'_type': 'uniform', "
                                     "'_value': [2, 3]}}");
    struct err err = {0};
    struct asha_session s;
    uint64_t id;
    int decision;

    begin(&s, "{'type': 'promotion'}");
    for (id = 0; id < 2; id++) {
        CHECK_EQ(ask(&s, id), TP_OK);
        report(&s, id, 0, 1);
        end(&s, id, TP_ENDED_PAUSED);
    }
    CHECK_EQ(tuner_space(s.tuner, other, &err), 0);
    CHECK_EQ(ask(&s, 2), TP_OK);
    CHECK(s.x[2][0] >= 2);
    CHECK(tuner_next_decision(s.tuner, &id, &decision));
    CHECK_EQ(decision, TP_RELEASE);
    CHECK(tuner_next_decision(s.tuner, &id, &decision));
    CHECK(!tuner_next_decision(s.tuner, &id, &decision));
    finish(&s);
    space_free(other);
}

static uint64_t
below(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

/* The other becomes one that was loaded with what the first one saves. */
static void
reload(struct asha_session *s, struct asha_session *other, const char *args)
{
    struct err err = {0};
    struct buf state, again;
    struct unpack in;

    buf_init(&state, 1 << 24);
    buf_init(&again, 1 << 24);
    CHECK_EQ(tuner_save(s->tuner, &state, &err), 1);
    finish(other);
    begin(other, args);
    in = unpack_from(state.data, state.len);
    CHECK_EQ(tuner_load(other->tuner, &in, &err), 0);
    CHECK(unpack_done(&in));
    CHECK_EQ(tuner_save(other->tuner, &again, &err), 1);
    CHECK_EQ(again.len, state.len);
    CHECK(memcmp(again.data, state.data, state.len) == 0);
    buf_fini(&state);
    buf_fini(&again);
}

static void
both_ask(struct asha_session *s, struct asha_session *other, uint64_t id)
{
    int rc = ask(s, id);

    CHECK_EQ(ask(other, id), rc);
    CHECK_EQ(rc, TP_OK);
    CHECK(memcmp(s->x[id], other->x[id], sizeof s->x[id]) == 0);
    CHECK_EQ(tuner_terms(s->tuner)->from, tuner_terms(other->tuner)->from);
    CHECK_STR(buf_text(&s->said), buf_text(&other->said));
}

/* How many of the last 50 are at a < 0.25, where values are best. */
static uint64_t
run_both(const char *args)
{
    uint64_t seed = 1, small = 0;
    struct asha_session *s = calloc(1, sizeof *s),
                        *other = calloc(1, sizeof *s);

    begin(s, args);
    begin(other, args);
    for (uint64_t id = 0; id < 150; id++) {
        uint64_t step = 0;
        int said = TP_GO;

        both_ask(s, other, id);
        small += id >= 100 && s->x[id][0] < 0.25;
        for (; said == TP_GO && step < 27; step++) {
            double value = s->x[id][0] + 1 / (double)(step + 1);
            struct tp_verdict v = report(s, id, step, value);

            said = v.decision;
            CHECK_EQ(report(other, id, step, value).decision, said);
        }
        if (below(&seed, 8) > 0) {
            int how = below(&seed, 9) == 0 ? TP_ENDED_FAILED
                      : said == TP_STOP    ? TP_ENDED_STOPPED
                                           : TP_ENDED_PAUSED;

            end(s, id, how);
            end(other, id, how);
        }
        if (below(&seed, 10) == 0)
            reload(s, other, args);
    }
    finish(s);
    finish(other);
    free(s);
    free(other);
    return small;
}

TEST(asha_plugin_goes_on_from_what_was_saved)
{
    run_both("{'optimize_mode': 'minimize', 'type': 'promotion'}");
    CHECK(run_both("{'optimize_mode': 'minimize', 'brackets': 2}") > 40);
    CHECK(run_both("{'optimize_mode': 'minimize', 'searcher': 'random'}") < 25);
}

TEST(asha_plugin_goes_on_with_what_auto_knows)
{
    CHECK(run_both("{'optimize_mode': 'minimize', 'searcher': 'auto'}") > 40);
    CHECK(run_both("{'optimize_mode': 'minimize', 'searcher': 'auto', "
                   "'type': 'promotion'}") > 40);
}

/* NNI's managers know neither pauses nor continuations: the trial goes on, ends
 * by itself, and the next one begins from scratch. */
TEST(asha_plugin_promotes_under_a_manager_that_cannot_pause)
{
    static const struct policy plain;
    struct drive d;
    const char *sent;

    drive_setup(&d, "asha", "{\"type\": \"promotion\", \"eta\": 2}", NULL,
                NULL);
    d.setup.policy = plain;
    drive_start(&d);
    drive_send(&d, "IN", "%s", HELP_SPACE);
    sent = drive_send(&d, "GE", "2");
    CHECK_HAS(sent, "\"TRIAL_BUDGET\": 1}");
    for (int id = 0; id < 2; id++) {
        char job[2] = {(char)('A' + id), '\0'};

        CHECK_STR(drive_send(&d, "ME",
                             "{\"parameter_id\": %d, \"trial_job_id\": \"%s\","
                             " \"type\": \"PERIODICAL\", \"sequence\": 0,"
                             " \"value\": \"0.%d\"}",
                             id, job, id + 1),
                  "");
        drive_final(&d, id, job, id == 0 ? "0.1" : "0.2");
        CHECK_STR(drive_end(&d, id, job, "SUCCEEDED"), "");
    }
    sent = drive_send(&d, "GE", "1");
    CHECK_HAS(sent, "\"TRIAL_BUDGET\": 2}");
    CHECK(strstr(sent, "resume_from") == NULL);
    drive_stop(&d);
}
