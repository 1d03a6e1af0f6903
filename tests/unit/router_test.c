/* SPDX-License-Identifier: MIT */
#include "dispatcher/router.h"

#include "core/pack.h"
#include "dispatcher/resend.h"
#include "objectives/objectives.h"
#include "dispatcher_help.h"

struct routing {
    struct router *router;
    struct log log;
    struct routed routed;
    uint64_t arrivals;
};

static void
begin(struct routing *r)
{
    struct err err;

    *r = (struct routing){0};
    r->log = (struct log){.fd = open("lines", O_WRONLY | O_CREAT, 0600),
                          .most = LOG_INFO,
                          .name = "tunepipe"};
    r->router = router_new(&r->log, &err);
    CHECK(r->router != NULL);
}

static void
drop(struct chain *c)
{
    struct command *next;

    for (struct command *cmd = c->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        command_free(cmd);
    }
    *c = (struct chain){0};
}

static void
finish(struct routing *r)
{
    drop(&r->routed.by_default);
    drop(&r->routed.assessor);
    router_free(r->router);
    close(r->log.fd);
}

/* "1+2": so many commands for the default queue, so many for the assessor's
 * came of this frame. */
static const char *
route(struct routing *r, const char *code, const char *payload)
{
    static char text[32];
    struct frame frame = help_frame(code, payload);
    size_t by_default = r->routed.by_default.count;
    size_t assessor = r->routed.assessor.count;
    enum router_result word =
        router_frame(r->router, &frame, ++r->arrivals, &r->routed);

    CHECK_EQ(word == ROUTER_TERMINATE, strcmp(code, "TE") == 0);
    snprintf(text, sizeof text, "%zu+%zu",
             r->routed.by_default.count - by_default,
             r->routed.assessor.count - assessor);
    return text;
}

#define ME(job, id, type, sequence, value, more)          \
    "{\"parameter_id\": " id ", \"trial_job_id\": \"" job \
    "\", \"type\": \"" type "\", \"sequence\": " sequence \
    ", \"value\": \"" value "\"" more "}"
#define EN(job) "{\"trial_job_id\": \"" job "\", \"event\": \"SUCCEEDED\"}"

static void
issue(struct routing *r)
{
    static const char text[] = "{\"parameter_id\": 9, ";

    struct emission e = help_said(SENDER_DEFAULT, 1, CMD_NEW_TRIAL, text);

    router_written(r->router, &e);
}

TEST(router_knows_the_queue_of_each_command)
{
    struct routing r;

    begin(&r);
    issue(&r);
    CHECK_STR(route(&r, "IN", HELP_SPACE), "1+0");
    CHECK_STR(route(&r, "GE", "3"), "1+0");
    CHECK_STR(route(&r, "GE", "many"), "1+0"); /* it is answered */
    CHECK_STR(route(&r, "SS", HELP_SPACE), "1+0");
    CHECK_STR(route(&r, "FD", "[]"), "1+0");
    CHECK_STR(route(&r, "AD", "[]"), "1+0");
    CHECK_STR(route(&r, "PI", ""), "0+0");
    CHECK_STR(route(&r, "NT", "{\"event\": \"started\"}"), "0+0");
    CHECK_STR(route(&r, "ME", ME("A", "0", "PERIODICAL", "0", "1", "")), "0+1");
    CHECK_STR(route(&r, "ME", ME("A", "0", "FINAL", "0", "1", "")), "1+0");
    CHECK_STR(route(&r, "EN", EN("A")), "1+1");
    CHECK_STR(route(&r, "XX", ""), "0+0");
    CHECK_STR(route(&r, "TR", "{}"), "0+0");
    CHECK_STR(route(&r, "IN", "["), "0+0");
    CHECK_STR(route(&r, "TE", ""), "0+0");
    finish(&r);
}

TEST(router_splits_an_end_in_one_step)
{
    struct routing r;
    const struct command *tuners, *assessors;

    begin(&r);
    issue(&r);
    route(&r, "ME", ME("A", "7", "PERIODICAL", "0", "0.5", ""));
    drop(&r.routed.assessor);
    r.routed.bytes = 0;
    route(&r, "EN", EN("A"));
    tuners = r.routed.by_default.first;
    assessors = r.routed.assessor.first;
    CHECK(tuners->tuner_half && !assessors->tuner_half);
    CHECK_EQ(tuners->arrival, assessors->arrival);
    CHECK_EQ(tuners->end.parameter.number, 7);
    CHECK(tuners->end.has_marks && tuners->end.latest.value == 0.5);
    CHECK_EQ(r.routed.bytes, tuners->cost + assessors->cost);
    finish(&r);
}

TEST(router_asks_for_no_answers_without_extensions)
{
    struct routing r;

    begin(&r);
    issue(&r);
    CHECK_STR(route(&r, "ME",
                    ME("A", "0", "PERIODICAL", "0", "1", ", \"sync\": true")),
              "0+1");
    CHECK(!r.routed.assessor.last->metric.sync);
    CHECK_STR(route(&r, "ME",
                    ME("A", "0", "PERIODICAL", "0", "1", ", \"sync\": true")),
              "0+0"); /* a second one, which nobody waits for */
    finish(&r);
}

/* A trial that reports in step waits for its answer whatever is wrong with
 * the report. */
TEST(router_passes_on_each_synchronous_report)
{
    static const char *const reports[] = {
        ME("A", "0", "PERIODICAL", "0", "1", ", \"sync\": true"),
        ME("A", "0", "PERIODICAL", "0", "1", ", \"sync\": true"), /* second */
        ME("A", "0", "PERIODICAL", "1", "x",
           ", \"sync\": true"), /* no number */
        ME("A", "0", "PERIODICAL", "99999", "1", ", \"sync\": true"),
        ME("Z", "77", "PERIODICAL", "0", "1", ", \"sync\": true"),
    };
    struct routing r;

    begin(&r);
    router_remember(r.router);
    issue(&r);
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        CHECK_STR(route(&r, "ME", reports[i]), "0+1");
        CHECK_EQ(r.routed.assessor.last->metric.has_value,
                 i == 0 || i == 2); /* NaN keeps its place */
    }
    route(&r, "EN", EN("A"));
    CHECK_STR(route(&r, "ME", reports[0]), "0+1"); /* ended */
    CHECK(!r.routed.assessor.last->metric.has_value);
    /* final ones are not waited for */
    CHECK_STR(
        route(&r, "ME", ME("B", "0", "FINAL", "0", "x", ", \"sync\": true")),
        "0+0");
    finish(&r);
}

TEST(router_says_what_it_does_not_apply)
{
    struct routing r;
    char text[4096] = "";
    int fd;

    begin(&r);
    route(&r, "ME", ME("A", "0", "PERIODICAL", "4", "1", ""));
    route(&r, "ME", ME("B", "null", "PERIODICAL", "0", "{}", ""));
    route(&r, "ME", ME("C", "\\\"0-1\\\"", "PERIODICAL", "0", "1", ""));
    finish(&r);
    fd = open("lines", O_RDONLY);
    CHECK(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    CHECK_HAS(text, "tunepipe: error: command 1 (ME): trial 'A' (parameter_id "
                    "0), sequence 4: no such trial was given out");
    CHECK_HAS(text, "command 2 (ME): trial 'B' (parameter_id null), sequence "
                    "0: expected a number");
    CHECK_HAS(text, "command 3 (ME): ");
}

TEST(router_takes_recovered_ids_for_issued)
{
    struct routing r;

    begin(&r);
    route(&r, "AD", "[{\"parameter_id\": 5}, \"{\\\"parameter_id\\\": 3}\"]");
    CHECK_STR(route(&r, "ME", ME("A", "5", "PERIODICAL", "0", "1", "")), "0+1");
    CHECK_STR(route(&r, "ME", ME("B", "6", "PERIODICAL", "0", "1", "")), "0+0");
    route(&r, "AD", "[{\"parameter_id\": 9007199254740991}]");
    CHECK_STR(route(&r, "ME", ME("B", "6", "PERIODICAL", "0", "1", "")), "0+0");
    finish(&r);
}

/* A manager of NNI's that goes on may say first what is unfinished: its trials
 * are at their first attempt then, as they are behind its IN. */
TEST(router_takes_recovered_trials_before_the_space)
{
    struct routing r;

    begin(&r);
    router_serve_nni(r.router, false);
    CHECK_STR(route(&r, "AD", "[{\"parameter_id\": 5}]"), "1+0");
    for (int i = 0; i < 2; i++) {
        const char *sequence = i == 0 ? "0" : "1";
        char report[200];

        snprintf(report, sizeof report,
                 ME("A", "5", "PERIODICAL", "%s", "1", ""), sequence);
        CHECK_STR(route(&r, "ME", report), "0+1");
        CHECK_EQ(r.routed.assessor.last->metric.attempt, 0);
        CHECK_STR(
            route(&r, i == 0 ? "IN" : "EN", i == 0 ? HELP_SPACE : EN("A")),
            i == 0 ? "1+0" : "1+1");
    }
    CHECK_EQ(r.routed.assessor.last->end.attempt, 0);
    finish(&r);
}

TEST(router_comes_back_with_what_was_not_read)
{
    struct routing r, other;
    struct unpack in;
    struct buf bytes;
    struct err err;

    begin(&r);
    router_remember(r.router);
    issue(&r);
    route(&r, "PI", "");
    buf_init(&bytes, 1 << 16);
    router_save(r.router, &bytes);
    other = r;
    other.routed = (struct routed){0};
    other.router = router_new(&r.log, &err);
    router_remember(other.router);
    in = unpack_from(bytes.data, bytes.len);
    CHECK_EQ(router_load(other.router, &in), 0);
    CHECK(unpack_done(&in));
    CHECK_EQ(router_unread(other.router)->trials, 1);
    CHECK_STR(route(&other, "IN", HELP_SPACE), "1+0");
    CHECK_EQ(other.routed.by_default.first->position, 2);
    route(&other, "NT", "{\"event\": \"started\", \"parameter_id\": 9}");
    CHECK_EQ(router_unread(other.router)->trials, 0);
    CHECK_EQ(router_unread(r.router)->trials, 1);
    drop(&other.routed.by_default);
    router_free(other.router);
    buf_fini(&bytes);
    finish(&r);
}

TEST(router_remembers_for_extensions_only)
{
    struct routing r;

    begin(&r);
    issue(&r);
    CHECK_EQ(router_unread(r.router)->trials, 0);
    finish(&r);
}

/* One queue: the lower arrival number first. */
TEST(router_gives_an_advisor_everything)
{
    struct routing r;
    const struct command *cmd;

    begin(&r);
    router_serve_advisor(r.router);
    issue(&r);
    CHECK_STR(route(&r, "IN", "{}"), "1+0");
    CHECK_STR(route(&r, "ME", ME("A", "0", "PERIODICAL", "0", "1", "")), "1+0");
    CHECK_STR(route(&r, "ME", ME("A", "0", "PERIODICAL", "0", "1", "")), "0+0");
    CHECK_STR(route(&r, "ME", ME("A", "0", "FINAL", "0", "1", "")), "1+0");
    CHECK_STR(
        route(&r, "EN", "{\"trial_job_id\": \"A\", \"event\": \"PAUSED\"}"),
        "1+0");
    cmd = r.routed.by_default.last;
    CHECK_EQ(cmd->code, CMD_TRIAL_END);
    CHECK(!cmd->tuner_half);
    CHECK_EQ(cmd->end.event, END_PAUSED);
    CHECK_EQ(cmd->end.parameter.kind, PARAMETER_NUMBER);
    CHECK(!cmd->end.stopped);
    finish(&r);
}

TEST(router_keeps_ends_whole_where_no_assessor_hears_them)
{
    struct routing r;

    begin(&r);
    router_keep_ends(r.router);
    issue(&r);
    CHECK_STR(route(&r, "ME", ME("A", "0", "PERIODICAL", "0", "1", "")), "0+1");
    CHECK_STR(route(&r, "EN", EN("A")), "1+0");
    CHECK(!r.routed.by_default.last->tuner_half);
    CHECK_STR(r.routed.by_default.last->end.job, "A");
    finish(&r);
}

/* Its trial waits for the answer. */
TEST(router_gives_an_advisor_what_has_no_value)
{
    struct routing r;

    begin(&r);
    router_serve_advisor(r.router);
    router_remember(r.router);
    issue(&r);
    CHECK_STR(route(&r, "ME",
                    ME("A", "0", "PERIODICAL", "0", "1", ", \"sync\": true")),
              "1+0");
    CHECK_STR(route(&r, "ME",
                    ME("A", "0", "PERIODICAL", "0", "1", ", \"sync\": true")),
              "1+0");
    CHECK(!r.routed.by_default.last->metric.has_value);
    finish(&r);
}

/* ---- objectives ---- */

#define OBJECTIVES                                                       \
    "{\"objectives\": [{\"name\": \"a\", \"direction\": \"maximize\"}, " \
    "{\"name\": \"b\", \"direction\": \"minimize\"}], "                  \
    "\"resultConstraints\": [\"b <= 5\", \"c <= 1\"]}"
/* A report of three values. */
#define ABC(a, b, c) "{\\\"a\\\": " a ", \\\"b\\\": " b ", \\\"c\\\": " c "}"

TEST(router_reads_the_values_of_objectives)
{
    struct objectives *o = objectives_read(OBJECTIVES, NULL);
    struct routing r;
    const struct metric *m;

    begin(&r);
    router_judge(r.router, o);
    issue(&r);
    CHECK_STR(route(&r, "ME",
                    ME("A", "7", "PERIODICAL", "0", ABC("1", "10", "0"), "")),
              "0+1");
    m = &r.routed.assessor.first->metric;
    CHECK(m->has_value && m->value == 1 && m->n_values == 3);
    CHECK(m->values[0] == 1 && m->values[1] == 10 && m->violation == 1);
    /* Without a value its sequence is taken. */
    CHECK_STR(route(&r, "ME", ME("A", "7", "PERIODICAL", "1", "0.5", "")),
              "0+1");
    m = &r.routed.assessor.last->metric;
    CHECK(m->has_value && m->value != m->value && m->values == NULL);
    CHECK_STR(route(&r, "ME", ME("A", "7", "FINAL", "0", "0.5", "")), "0+0");
    CHECK_STR(route(&r, "ME",
                    "{\"parameter_id\": 7, \"trial_job_id\": \"A\", \"type\": "
                    "\"FINAL\", \"value\": {\"a\": NaN, \"b\": 1, \"c\": 1}}"),
              "1+0");
    m = &r.routed.by_default.first->metric;
    CHECK(m->value != m->value && m->values[1] == 1 && m->violation == 0);
    finish(&r);
    objectives_free(o);
}

/* Reports three values of trial A. */
static void
report(struct routing *r, const char *sequence, const char *values)
{
    char payload[300];

    snprintf(payload, sizeof payload,
             "{\"parameter_id\": 7, \"trial_job_id\": \"A\", \"type\": "
             "\"PERIODICAL\", \"sequence\": %s, \"value\": %s}",
             sequence, values);
    route(r, "ME", payload);
}

TEST(router_marks_the_latest_and_the_best_values)
{
    struct objectives *o = objectives_read(OBJECTIVES, NULL);
    const struct trial_end *end;
    struct routing r;
    struct buf saved;
    struct unpack in;

    begin(&r);
    router_judge(r.router, o);
    issue(&r);
    report(&r, "0", "{\"a\": 9, \"b\": 6, \"c\": 1}"); /* beyond a limit */
    report(&r, "1", "{\"a\": 3, \"b\": 4, \"c\": 1}");
    report(&r, "2", "{\"a\": 4, \"b\": 5, \"c\": 1}"); /* neither is better */
    report(&r, "3", "{\"a\": 4, \"b\": 5, \"c\": 1}"); /* the same */
    report(&r, "4", "{\"a\": NaN, \"b\": 0, \"c\": 1}");
    report(&r, "5", "{\"a\": 3, \"b\": 5, \"c\": 0.5}"); /* worse */
    /* Saved and loaded it is the same. */
    buf_init(&saved, SIZE_MAX / 2);
    router_save(r.router, &saved);
    router_free(r.router);
    r.router = router_new(&r.log, NULL);
    router_judge(r.router, o);
    in = unpack_from(saved.data, saved.len);
    CHECK_EQ(router_load(r.router, &in), 0);
    CHECK(unpack_done(&in));
    buf_fini(&saved);
    CHECK_STR(route(&r, "EN", EN("A")), "1+1");
    end = &r.routed.by_default.first->end;
    CHECK(end->has_marks && end->latest.step == 5 && end->highest.step == 2);
    CHECK(end->lowest.values == end->highest.values);
    CHECK(end->latest.values[2] == 0.5 && end->highest.values[0] == 4);
    CHECK(end->latest.violation == 0);
    finish(&r);
    objectives_free(o);
}
