/* SPDX-License-Identifier: MIT */
#include "store_help.h"

#include "history/history.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define BEGAN_US 1700000000000000

/* Behind the record that is told next the clock shows so many seconds. */
static void
at(double seconds)
{
    now_us = BEGAN_US + (int64_t)(seconds * 1e6) - 1000;
}

static void
suggest(unsigned id, const char *more)
{
    char text[256];

    snprintf(text, sizeof text,
             "TR{\"parameter_id\": %u, \"parameters\": {\"z\": %u}%s}", id, id,
             more);
    tell(RECORD_TUNER, 1, text);
}

static void
note(const char *event, const char *job, unsigned id, unsigned attempt,
     const char *more)
{
    char text[256];

    snprintf(text, sizeof text,
             "NT{\"event\": \"%s\", \"trial_job_id\": \"%s\", "
             "\"parameter_id\": %u, \"attempt\": %u%s}",
             event, job, id, attempt, more);
    tell(RECORD_IN, 2, text);
}

/* Trials 00000 and on, all in the first second. */
static void
start_trials(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char job[16];

        snprintf(job, sizeof job, "%05u", i);
        at(1);
        note("started", job, i, 0, "");
    }
}

static void
exited(const char *job, unsigned id, unsigned attempt, const char *status)
{
    char more[64];

    snprintf(more, sizeof more, ", \"status\": \"%s\"", status);
    note("exited", job, id, attempt, more);
}

static void
report(const char *job, unsigned id, unsigned attempt, const char *type,
       unsigned sequence, const char *value)
{
    char text[256];

    snprintf(text, sizeof text,
             "ME{\"parameter_id\": %u, \"trial_job_id\": \"%s\", \"type\": "
             "\"%s\", \"sequence\": %u, \"value\": \"%s\", \"attempt\": %u}",
             id, job, type, sequence, value, attempt);
    tell(RECORD_IN, 3, text);
}

static void
end(const char *job, unsigned id, const char *event)
{
    char text[256];

    snprintf(text, sizeof text,
             "EN{\"trial_job_id\": \"%s\", \"event\": \"%s\", "
             "\"hyper_params\": \"{\\\"parameter_id\\\": %u}\"}",
             job, event, id);
    tell(RECORD_IN, 4, text);
}

static void
resume(void)
{
    tell(RECORD_RESUMED, 4, "goes on");
}

/* A trial's exit file. */
static void
leave(const char *attempt, double started, double ended)
{
    char path[128], text[256];

    snprintf(path, sizeof path, "x/trials/%s", attempt);
    mkdir("x/trials", 0700);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "trials/%s/exit", attempt);
    snprintf(text, sizeof text,
             "exited 0\nstarted_ns %" PRId64 "\nended_ns %" PRId64 "\n",
             BEGAN_US * 1000 + (int64_t)(started * 1e9),
             BEGAN_US * 1000 + (int64_t)(ended * 1e9));
    put_text(path, text);
}

static void
add_time(struct buf *out, int64_t us)
{
    if (us == 0)
        buf_add_text(out, " -");
    else
        buf_printf(out, " %g", (double)(us - BEGAN_US) / 1e6);
}

static void
add_attempt(struct buf *out, const struct history_attempt *a)
{
    buf_printf(out, " %" PRIu64, a->number);
    add_time(out, a->begun_us);
    add_time(out, a->started_us);
    add_time(out, a->ended_us);
}

static const char *
or_none(const char *text)
{
    return text == NULL ? "-" : text;
}

static void
add_trial(struct buf *out, const struct history_fact *f)
{
    const struct history_trial *t = f->trial;

    buf_printf(out, " %s", or_none(f->job));
    if (t == NULL) {
        buf_add_text(out, " unknown");
        return;
    }
    CHECK_STR(t->job, f->job);
    buf_printf(out, " runs %s", or_none(t->suggested.id));
}

static void
add_metric(struct buf *out, const struct history_fact *f)
{
    static const char *const standings[] = {
        [HISTORY_COUNTS] = "counts",
        [HISTORY_AGAIN] = "again",
        [HISTORY_SUPERSEDED] = "superseded",
        [HISTORY_LATE] = "late",
    };
    const struct history_metric *m = &f->metric;

    buf_printf(out, " %s %" PRIu64 ".%" PRIu64 " %g %s",
               m->final ? "final" : "intermediate", m->attempt, m->sequence,
               m->n_values > 0 ? m->values[0].value : (double)NAN,
               standings[m->standing]);
    add_time(out, f->time_us);
}

/* A line a fact; records that tell of no trial are left out. */
static void
add_fact(struct buf *out, const struct history_fact *f)
{
    static const char *const kinds[] = {
        [HISTORY_NOTE] = "note",         [HISTORY_SUGGESTED] = "suggested",
        [HISTORY_ADDED] = "added",       [HISTORY_BEGUN] = "begun",
        [HISTORY_REPORTED] = "reported", [HISTORY_DECIDED] = "decided",
        [HISTORY_EXITED] = "exited",     [HISTORY_ENDED] = "ended",
    };

    if (f->kind == HISTORY_RECORD || f->kind == HISTORY_RESUMED)
        return;
    buf_add_text(out, kinds[f->kind]);
    if (f->kind == HISTORY_SUGGESTED || f->kind == HISTORY_ADDED)
        buf_printf(out, " %s %s from %s", f->suggestion->id,
                   or_none(f->suggestion->parameters),
                   or_none(f->suggestion->from));
    else
        add_trial(out, f);
    if (f->kind == HISTORY_BEGUN || f->kind == HISTORY_EXITED)
        add_attempt(out, &f->attempt);
    if (f->kind == HISTORY_EXITED)
        buf_printf(out, " %s%s", or_none(f->status), f->dated ? " dated" : "");
    if (f->kind == HISTORY_REPORTED)
        add_metric(out, f);
    if (f->kind == HISTORY_DECIDED)
        buf_printf(out, " %s by the %s", f->decision.what,
                   f->decision.by_tuner ? "tuner" : "assessor");
    if (f->kind == HISTORY_NOTE)
        buf_printf(out, " %s", f->event);
    if (f->kind == HISTORY_ENDED) {
        buf_printf(out, " %s", f->end);
        add_time(out, f->time_us);
    }
    buf_add_char(out, '\n');
}

static void
read_on(struct history_reader *h, struct buf *out)
{
    struct history_fact f;
    struct err err = {0};
    int rc;

    while ((rc = history_next(h, &f, &err)) == 1)
        add_fact(out, &f);
    CHECK_STR(err.text, "");
    CHECK_EQ(rc, 0);
}

static struct history_reader *
open_x(void)
{
    struct err err = {0};
    struct history_reader *h = history_open("x", &err);

    CHECK_STR(err.text, "");
    CHECK(h != NULL);
    return h;
}

/* The whole history; settled: nobody runs it. */
static const char *
read_whole(struct buf *out, bool settled)
{
    struct history_reader *h;
    struct history_fact f;

    write_all();
    h = open_x();
    buf_init(out, 1 << 24);
    read_on(h, out);
    while (settled && history_settle(h, &f) == 1)
        add_fact(out, &f);
    history_close(h);
    return buf_text(out);
}

static void
check_facts(const char *want)
{
    struct buf got;

    CHECK_STR(read_whole(&got, false), want);
    buf_fini(&got);
}

TEST(history_follows_a_trial_from_its_suggestion_to_its_end)
{
    make_folder();
    at(1);
    suggest(7, "");
    at(2);
    note("preparing", "00003", 7, 0, "");
    at(3);
    note("started", "00003", 7, 0, "");
    at(4);
    report("00003", 7, 0, "PERIODICAL", 0, "0.5");
    tell(RECORD_ASSESSOR, 3, "KI\"00003\"");
    tell(RECORD_TUNER, 3,
         "DT{\"trial_job_id\": \"00003\", \"decision\": \"pause\"}");
    at(5);
    report("00003", 7, 0, "FINAL", 0, "0.25");
    at(6);
    exited("00003", 7, 0, "exited 0");
    at(7);
    end("00003", 7, "SUCCEEDED");
    check_facts("suggested 7 {\"z\": 7} from -\n"
                "begun 00003 runs 7 0 2 - -\n"
                "begun 00003 runs 7 0 2 3 -\n"
                "reported 00003 runs 7 intermediate 0.0 0.5 counts 4\n"
                "decided 00003 runs 7 stop by the assessor\n"
                "decided 00003 runs 7 pause by the tuner\n"
                "reported 00003 runs 7 final 0.0 0.25 counts 5\n"
                "exited 00003 runs 7 0 2 3 6 exited 0\n"
                "ended 00003 runs 7 SUCCEEDED 7\n");
}

/* One trial, three attempts, the last of which was asked to end. */
TEST(history_of_a_trial_that_was_retried_and_interrupted)
{
    struct history_reader *h;
    struct history_fact f;

    make_folder();
    for (unsigned i = 0; i < 3; i++) {
        at(10 * i + 1);
        note("started", "00000", 0, i, "");
        at(10 * i + 2);
        report("00000", 0, i, "PERIODICAL", 0, i == 0 ? "5" : "NaN");
        report("00000", 0, i, "PERIODICAL", 1, "word");
        at(10 * i + 3);
        exited("00000", 0, i, i == 2 ? "interrupted" : "exited 1");
    }
    check_facts("begun 00000 runs 0 0 1 1 -\n"
                "reported 00000 runs 0 intermediate 0.0 5 counts 2\n"
                "reported 00000 runs 0 intermediate 0.1 nan counts 2.001\n"
                "exited 00000 runs 0 0 1 1 3 exited 1\n"
                "begun 00000 runs 0 1 11 11 -\n"
                "reported 00000 runs 0 intermediate 1.0 nan counts 12\n"
                "reported 00000 runs 0 intermediate 1.1 nan counts 12.001\n"
                "exited 00000 runs 0 1 11 11 13 exited 1\n"
                "begun 00000 runs 0 2 21 21 -\n"
                "reported 00000 runs 0 intermediate 2.0 nan counts 22\n"
                "reported 00000 runs 0 intermediate 2.1 nan counts 22.001\n"
                "exited 00000 runs 0 2 21 21 23 interrupted\n");
    h = open_x();
    do
        CHECK_EQ(history_next(h, &f, NULL), 1);
    while (f.kind != HISTORY_EXITED || f.attempt.number != 2);
    CHECK_EQ(f.trial->attempts, 3);
    CHECK_EQ(f.trial->reports, 2);
    CHECK(f.trial->has_latest);
    CHECK(isnan(f.trial->latest));
    history_close(h);
}

/* The manager dies at 10, and another one goes on at 100: when each attempt
 * that ran then ended tells its exit file, its result, the log before. */
TEST(history_gives_the_time_after_a_crash_to_nobody)
{
    make_folder();
    start_trials(6);
    at(10);
    report("00000", 0, 0, "PERIODICAL", 0, "1");
    at(100);
    resume();
    leave("00000", 1, 12); /* it went on by itself for 2 s */
    report("00000", 0, 0, "PERIODICAL", 1, "2");
    exited("00000", 0, 0, "exited 0");
    end("00000", 0, "SUCCEEDED");
    leave("00001", 1, 150); /* it was adopted */
    at(120);
    report("00001", 1, 0, "PERIODICAL", 0, "1");
    at(151);
    exited("00001", 1, 0, "exited 0");
    end("00001", 1, "SUCCEEDED");
    note("started", "00002", 2, 1, ""); /* nobody knows */
    at(160);
    exited("00002", 2, 1, "exited 0");
    at(161);
    end("00002", 2, "SUCCEEDED");
    exited("00003", 3, 0, "exited 0"); /* its folder is gone */
    end("00003", 3, "SUCCEEDED");
    result("{\"trial\": \"00003\", \"attempt\": 0, \"duration_s\": 11.5}");
    exited("00004", 4, 0, "exited 0"); /* and so is its result */
    end("00004", 4, "SUCCEEDED");
    exited("00005", 5, 0, "lost");
    end("00005", 5, "FAILED");
    check_facts("begun 00000 runs 0 0 1 1 -\n"
                "begun 00001 runs 1 0 1 1 -\n"
                "begun 00002 runs 2 0 1 1 -\n"
                "begun 00003 runs 3 0 1 1 -\n"
                "begun 00004 runs 4 0 1 1 -\n"
                "begun 00005 runs 5 0 1 1 -\n"
                "reported 00000 runs 0 intermediate 0.0 1 counts 10\n"
                "reported 00000 runs 0 intermediate 0.1 2 counts 12\n"
                "exited 00000 runs 0 0 1 1 12 exited 0\n"
                "ended 00000 runs 0 SUCCEEDED 12\n"
                "reported 00001 runs 1 intermediate 0.0 1 counts 120\n"
                "exited 00001 runs 1 0 1 1 150 exited 0\n"
                "ended 00001 runs 1 SUCCEEDED 151.001\n"
                "exited 00002 runs 2 0 1 1 10 -\n"
                "begun 00002 runs 2 1 151.002 151.002 -\n"
                "exited 00002 runs 2 1 151.002 151.002 160 exited 0\n"
                "ended 00002 runs 2 SUCCEEDED 161\n"
                "exited 00003 runs 3 0 1 1 12.5 exited 0\n"
                "ended 00003 runs 3 SUCCEEDED 12.5\n"
                "exited 00004 runs 4 0 1 1 10 exited 0\n"
                "ended 00004 runs 4 SUCCEEDED 10\n"
                "exited 00005 runs 5 0 1 1 10 lost\n"
                "ended 00005 runs 5 FAILED 10\n");
}

/* Adopted twice, and then without a folder: what it reported counts. */
TEST(history_of_an_attempt_that_outlives_two_managers)
{
    make_folder();
    at(1);
    note("started", "00000", 0, 0, "");
    at(2);
    report("00000", 0, 0, "PERIODICAL", 0, "1");
    for (unsigned i = 1; i < 3; i++) {
        at(100 * i);
        resume();
        at(100 * i + 5);
        report("00000", 0, 0, "PERIODICAL", i, "1");
    }
    at(250);
    exited("00000", 0, 0, "signalled 9");
    check_facts("begun 00000 runs 0 0 1 1 -\n"
                "reported 00000 runs 0 intermediate 0.0 1 counts 2\n"
                "reported 00000 runs 0 intermediate 0.1 1 counts 105\n"
                "reported 00000 runs 0 intermediate 0.2 1 counts 205\n"
                "exited 00000 runs 0 0 1 1 205 signalled 9\n");
}

/* Adopted, and then its wrapper was gone: it lived when it last reported.  What
 * is told late of one that nobody saw run behind the gap is from before. */
TEST(history_of_an_adopted_attempt_that_is_lost)
{
    make_folder();
    start_trials(4);
    at(10);
    report("00000", 0, 0, "PERIODICAL", 0, "1");
    at(100);
    resume();
    at(105);
    for (unsigned i = 0; i < 3; i++) {
        char job[8];

        snprintf(job, sizeof job, "%05u", i);
        at(105 + i);
        report(job, i, 0, "PERIODICAL", 1, "2");
    }
    at(120);
    note("started", "00000", 0, 1, "");
    exited("00001", 1, 0, "lost");
    end("00001", 1, "FAILED");
    result("{\"trial\": \"00002\", \"attempt\": 0, \"duration_s\": 0}");
    exited("00002", 2, 0, "lost");
    end("00002", 2, "FAILED");
    note("started", "00003", 3, 1, "");
    check_facts("begun 00000 runs 0 0 1 1 -\n"
                "begun 00001 runs 1 0 1 1 -\n"
                "begun 00002 runs 2 0 1 1 -\n"
                "begun 00003 runs 3 0 1 1 -\n"
                "reported 00000 runs 0 intermediate 0.0 1 counts 10\n"
                "reported 00000 runs 0 intermediate 0.1 2 counts 105\n"
                "reported 00001 runs 1 intermediate 0.1 2 counts 106\n"
                "reported 00002 runs 2 intermediate 0.1 2 counts 107\n"
                "exited 00000 runs 0 0 1 1 105 -\n"
                "begun 00000 runs 0 1 120 120 -\n"
                "exited 00001 runs 1 0 1 1 106 lost\n"
                "ended 00001 runs 1 FAILED 120.002\n"
                "exited 00002 runs 2 0 1 1 10 lost\n"
                "ended 00002 runs 2 FAILED 10\n"
                "exited 00003 runs 3 0 1 1 10 -\n"
                "begun 00003 runs 3 1 120.005 120.005 -\n");
}

/* It failed before its run began: `exit` is in the preparation's folder. */
TEST(history_of_a_preparation_that_a_crash_outlived)
{
    make_folder();
    at(1);
    note("preparing", "00000", 0, 0, "");
    leave("00000", 0, 0);
    unlink("x/trials/00000/exit");
    leave("00000/prepare", 1, 4);
    at(3);
    tell(RECORD_IN, 3, "GE1");
    at(50);
    resume();
    exited("00000", 0, 0, "exited 3");
    end("00000", 0, "FAILED");
    check_facts("begun 00000 runs 0 0 1 - -\n"
                "exited 00000 runs 0 0 1 - 4 exited 3\n"
                "ended 00000 runs 0 FAILED 4\n");
}

/* It was prepared when its manager died, and ran under the next one. */
TEST(history_of_a_run_that_was_prepared_before_a_crash)
{
    make_folder();
    at(1);
    note("preparing", "00000", 0, 0, "");
    leave("00000", 0, 0);
    unlink("x/trials/00000/exit");
    leave("00000/prepare", 1, 4);
    at(3);
    tell(RECORD_IN, 3, "GE1");
    at(50);
    resume();
    at(52);
    note("started", "00000", 0, 0, "");
    at(53);
    report("00000", 0, 0, "PERIODICAL", 0, "0.5");
    at(60);
    exited("00000", 0, 0, "exited 0");
    end("00000", 0, "SUCCEEDED");
    check_facts("begun 00000 runs 0 0 1 - -\n"
                "begun 00000 runs 0 0 1 52 -\n"
                "reported 00000 runs 0 intermediate 0.0 0.5 counts 53\n"
                "exited 00000 runs 0 0 1 52 60 exited 0\n"
                "ended 00000 runs 0 SUCCEEDED 60.001\n");
}

/* The manager started it and died before it noted that; the next one does. */
TEST(history_dates_a_start_that_was_noted_late)
{
    make_folder();
    at(1);
    suggest(0, "");
    suggest(1, "");
    at(9);
    tell(RECORD_IN, 3, "GE1");
    leave("00000", 2, 12);
    leave("00001", 52, 60);
    at(50);
    resume();
    suggest(0, ""); /* once more, since nobody noted its start */
    at(51);
    note("started", "00000", 0, 0, "");
    exited("00000", 0, 0, "exited 0");
    at(52);
    note("started", "00001", 1, 0, "");
    at(60);
    exited("00001", 1, 0, "exited 0");
    check_facts("suggested 0 {\"z\": 0} from -\n"
                "suggested 1 {\"z\": 1} from -\n"
                "suggested 0 {\"z\": 0} from -\n"
                "begun 00000 runs 0 0 2 2 -\n"
                "exited 00000 runs 0 0 2 2 12 exited 0\n"
                "begun 00001 runs 1 0 52 52 -\n"
                "exited 00001 runs 1 0 52 52 60 exited 0\n");
}

/* Whatever it is that was begun: the next attempt of a trial, one of the
 * user's own, one that had been prepared. */
TEST(history_dates_every_start_that_was_noted_late)
{
    make_folder();
    at(1);
    suggest(0, "");
    suggest(2, "");
    note("started", "00000", 0, 0, "");
    note("preparing", "00002", 2, 0, "");
    at(3);
    exited("00000", 0, 0, "exited 1");
    tell(RECORD_IN, 3, "AD{\"parameter_id\": 1, \"parameters\": {}}");
    at(9);
    tell(RECORD_IN, 3, "GE1");
    leave("00000.1", 5, 12);
    leave("00001", 6, 70);
    leave("00002", 7, 13);
    at(50);
    resume();
    for (unsigned i = 0; i < 3; i++) {
        char job[8];

        snprintf(job, sizeof job, "%05u", i);
        at(51 + i);
        note("started", job, i, i == 0, "");
    }
    exited("00000", 0, 1, "exited 0");
    exited("00002", 2, 0, "exited 0");
    at(70);
    exited("00001", 1, 0, "exited 0");
    check_facts("suggested 0 {\"z\": 0} from -\n"
                "suggested 2 {\"z\": 2} from -\n"
                "begun 00000 runs 0 0 1.002 1.002 -\n"
                "begun 00002 runs 2 0 1.003 - -\n"
                "exited 00000 runs 0 0 1.002 1.002 3 exited 1\n"
                "added 1 {} from -\n"
                "begun 00000 runs 0 1 5 5 -\n"
                "begun 00001 runs 1 0 6 6 -\n"
                "begun 00002 runs 2 0 1.003 7 -\n"
                "exited 00000 runs 0 1 5 5 12 exited 0\n"
                "exited 00002 runs 2 0 1.003 7 13 exited 0\n"
                "exited 00001 runs 1 0 6 6 70 exited 0\n");
}

/* The next attempt reports before its start is noted, and before the end of the
 * one before is. */
TEST(history_ends_an_attempt_when_the_next_one_reports)
{
    make_folder();
    at(1);
    note("started", "00000", 0, 0, "");
    at(2);
    report("00000", 0, 0, "PERIODICAL", 0, "1");
    at(5);
    report("00000", 0, 1, "PERIODICAL", 0, "2");
    at(6);
    exited("00000", 0, 0, "exited 1");
    note("started", "00000", 0, 1, "");
    at(9);
    exited("00000", 0, 1, "exited 0");
    check_facts("begun 00000 runs 0 0 1 1 -\n"
                "reported 00000 runs 0 intermediate 0.0 1 counts 2\n"
                "exited 00000 runs 0 0 1 1 2 -\n"
                "reported 00000 runs 0 intermediate 1.0 2 counts 5\n"
                "note 00000 runs 0 exited\n"
                "begun 00000 runs 0 1 6.001 6.001 -\n"
                "exited 00000 runs 0 1 6.001 6.001 9 exited 0\n");
}

/* Nobody goes on: what ran ended when its folder says so, or with the log. */
TEST(history_of_a_dead_experiment_is_settled)
{
    struct buf got;

    make_folder();
    at(1);
    note("started", "00000", 0, 0, "");
    note("started", "00001", 1, 0, "");
    leave("00001", 1, 4);
    at(9);
    report("00000", 0, 0, "PERIODICAL", 0, "1");
    read_whole(&got, true);
    CHECK_HAS(buf_text(&got), "exited 00000 runs 0 0 1 1 9 -\n");
    CHECK_HAS(buf_text(&got), "exited 00001 runs 1 0 1.001 1.001 4 -\n");
    buf_fini(&got);
}

TEST(history_knows_where_a_promotion_goes_on_from)
{
    struct history_reader *h;
    struct history_fact f;

    make_folder();
    suggest(4, ", \"resume_from\": \"00001\", \"resume_how\": \"cloned\"");
    suggest(4, ", \"resume_from\": \"00002\", \"resume_how\": \"promoted\"");
    note("started", "00003", 4, 0, "");
    write_all();
    h = open_x();
    do
        CHECK_EQ(history_next(h, &f, NULL), 1);
    while (f.kind != HISTORY_BEGUN);
    CHECK_STR(f.trial->suggested.from, "00002"); /* what was sent last */
    CHECK(!f.trial->suggested.cloned);
    CHECK_STR(f.trial->suggested.parameters, "{\"z\": 4}");
    history_close(h);
}

TEST(history_counts_a_metric_once)
{
    static const enum history_standing want[] = {
        HISTORY_COUNTS,     HISTORY_AGAIN,  HISTORY_COUNTS, HISTORY_COUNTS,
        HISTORY_SUPERSEDED, HISTORY_COUNTS, HISTORY_AGAIN,  HISTORY_LATE};
    struct history_reader *h;
    struct history_fact f;
    unsigned k = 0;

    make_folder();
    note("started", "00000", 0, 0, "");
    report("00000", 0, 0, "PERIODICAL", 0, "1");
    report("00000", 0, 0, "PERIODICAL", 0, "1");
    report("00000", 0, 0, "PERIODICAL", 2, "1"); /* 1 was bad */
    report("00000", 0, 1, "PERIODICAL", 0, "1");
    report("00000", 0, 0, "FINAL", 0, "1");
    report("00000", 0, 1, "FINAL", 0, "1");
    report("00000", 0, 1, "FINAL", 0, "1");
    end("00000", 0, "SUCCEEDED");
    report("00000", 0, 1, "FINAL", 0, "1");
    write_all();
    h = open_x();
    while (history_next(h, &f, NULL) == 1)
        if (f.kind == HISTORY_REPORTED)
            CHECK_EQ(f.metric.standing, want[k++]);
    CHECK_EQ(k, 8);
    history_close(h);
}

/* NNI 3.0's manager may swap the ids of trials in their ends. */
TEST(history_believes_a_trial_s_own_metrics)
{
    make_folder();
    suggest(1, "");
    suggest(2, "");
    suggest(3, "");
    at(5);
    report("aaa", 1, 0, "PERIODICAL", 0, "1");
    at(6);
    end("aaa", 2, "SUCCEEDED");
    at(7);
    end("bbb", 2, "FAILED"); /* it never reported */
    note("started", "00003", 2, 0, "");
    at(8);
    report("00003", 3, 0, "FINAL", 0, "1");
    check_facts("suggested 1 {\"z\": 1} from -\n"
                "suggested 2 {\"z\": 2} from -\n"
                "suggested 3 {\"z\": 3} from -\n"
                "reported aaa runs 1 intermediate 0.0 1 counts 5\n"
                "exited aaa runs 1 0 - - 6 -\n"
                "ended aaa runs 1 SUCCEEDED 6\n"
                "ended bbb runs 2 FAILED 7\n"
                "begun 00003 runs 2 0 7.001 7.001 -\n"
                "reported 00003 runs 3 final 0.0 1 counts 8\n");
}

/* The number behind the last one there is would be 0. */
TEST(history_of_the_last_attempt_there_can_be)
{
#define LAST "18446744073709551615"
    static const char *const metrics[] = {"0, \"value\": \"1\"",
                                          "1, \"value\": \"2\""};
    char text[256];

    make_folder();
    at(1);
    tell(RECORD_IN, 2,
         "NT{\"event\": \"started\", \"trial_job_id\": \"00000\", "
         "\"parameter_id\": 0, \"attempt\": " LAST "}");
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "ME{\"parameter_id\": 0, \"trial_job_id\": \"00000\", "
                 "\"type\": \"PERIODICAL\", \"sequence\": %s, "
                 "\"attempt\": " LAST "}",
                 metrics[i]);
        at((double)i + 2);
        tell(RECORD_IN, 3, text);
    }
    check_facts("begun 00000 runs 0 " LAST " 1 1 -\n"
                "reported 00000 runs 0 intermediate " LAST ".0 1 counts 2\n"
                "reported 00000 runs 0 intermediate " LAST ".1 2 counts 3\n");
#undef LAST
}

TEST(history_takes_the_first_end)
{
    make_folder();
    at(1);
    note("started", "00000", 0, 0, "");
    at(2);
    end("00000", 0, "USER_CANCELED");
    at(3);
    end("00000", 0, "SUCCEEDED");
    exited("00000", 0, 0, "exited 0");
    check_facts("begun 00000 runs 0 0 1 1 -\n"
                "exited 00000 runs 0 0 1 1 2 -\n"
                "ended 00000 runs 0 USER_CANCELED 2\n"
                "ended 00000 unknown SUCCEEDED 3\n"
                "note 00000 unknown exited\n");
}

/* Of another manager, which may give several of them the same parameters, and
 * says of an end no parameters. */
TEST(history_tells_trials_without_numbers_apart)
{
    make_folder();
    at(1);
    suggest(1, "");
    at(2);
    report("aaa", 1, 0, "FINAL", 0, "1");
    at(3);
    end("aaa", 1, "SUCCEEDED");
    at(4);
    report("bbb", 1, 0, "FINAL", 0, "2");
    for (unsigned i = 0; i < 2; i++) {
        at(5 + i);
        tell(RECORD_IN, 4,
             "EN{\"trial_job_id\": \"bbb\", \"event\": \"SUCCEEDED\", "
             "\"hyper_params\": \"{}\"}");
    }
    at(7);
    end("12", 3, "FAILED"); /* it looks like a number of ours */
    at(8);
    end("00012", 4, "FAILED");
    at(9);
    report("aaa", 1, 0, "FINAL", 1, "1");
    for (unsigned i = 0; i < 2; i++) {
        at(10 + i);
        tell(RECORD_IN, 4,
             "EN{\"trial_job_id\": \"ccc\", \"event\": \"FAILED\", "
             "\"hyper_params\": \"{}\"}");
    }
    check_facts("suggested 1 {\"z\": 1} from -\n"
                "reported aaa runs 1 final 0.0 1 counts 2\n"
                "exited aaa runs 1 0 - - 3 -\n"
                "ended aaa runs 1 SUCCEEDED 3\n"
                "reported bbb runs 1 final 0.0 2 counts 4\n"
                "exited bbb runs 1 0 - - 5 -\n"
                "ended bbb runs 1 SUCCEEDED 5\n"
                "ended bbb unknown SUCCEEDED 6\n"
                "ended 12 runs 3 FAILED 7\n"
                "ended 00012 runs 4 FAILED 8\n"
                "reported aaa unknown final 0.1 1 late 9\n"
                "ended ccc runs - FAILED 10\n"
                "ended ccc unknown FAILED 11\n");
}

TEST(history_takes_additions_as_a_list_or_alone)
{
    make_folder();
    tell(RECORD_IN, 1,
         "AD[{\"parameter_id\": 1, \"parameters\": {}}, 5, "
         "{\"parameter_id\": \"a\"}]");
    tell(RECORD_IN, 2, "AD{\"parameter_id\": 3}");
    tell(RECORD_IN, 3, "AD5");
    tell(RECORD_IN, 4, "AD");
    check_facts("added 1 {} from -\nadded \"a\" - from -\nadded 3 - from -\n");
}

/* Their starts and suggestions went with the segments before. */
TEST(history_of_a_log_whose_first_segments_were_dropped)
{
    struct history_reader *h;

    make_folder();
    buf_clear(&log_bytes);
    record_write_version(&log_bytes);
    tell(RECORD_HEAD, 0, "{\"seed\": 1}");
    tell(RECORD_SEGMENT, 40, "2 40 12345678");
    put_text("command.1.snapshot", "it stands for the first");
    at(5);
    report("00000", 4, 1, "PERIODICAL", 7, "1");
    at(6);
    exited("00000", 4, 1, "exited 0");
    end("00000", 4, "SUCCEEDED");
    at(7);
    exited("00001", 5, 2, "exited 0");
    end("00001", 5, "SUCCEEDED");
    check_facts("reported 00000 runs 4 intermediate 1.7 1 counts 5\n"
                "exited 00000 runs 4 1 - - 6 exited 0\n"
                "ended 00000 runs 4 SUCCEEDED 6.001\n"
                "exited 00001 runs - 2 - - 7 exited 0\n"
                "ended 00001 runs 5 SUCCEEDED 7.001\n");
    h = open_x();
    CHECK(history_lacks(h));
    history_close(h);
}

TEST(history_of_a_void_log_is_empty)
{
    static const char zeros[4096];
    struct buf got;

    make_folder();
    buf_init(&got, 1 << 20);
    for (int i = 0; i < 4; i++) {
        struct history_reader *h;

        if (i == 1)
            put("command.log", "", 0);
        if (i == 2)
            put("command.log", zeros, sizeof zeros);
        if (i == 3)
            put("command.log", log_bytes.data, 30);
        h = open_x();
        read_on(h, &got);
        CHECK(!history_lacks(h));
        CHECK_EQ(history_at(h).segment, 0);
        put("command.log", log_bytes.data, log_bytes.len);
        CHECK_EQ(history_grow(h, NULL), 0);
        read_on(h, &got);
        CHECK_EQ(history_at(h).segment, 1);
        history_close(h);
    }
    CHECK_EQ(got.len, 0);
    buf_fini(&got);
}

TEST(history_of_a_damaged_log_ends_there)
{
    struct history_reader *h;
    struct history_fact f;
    struct err err = {0};
    size_t at_damage;
    int n = 0, rc;

    make_folder();
    note("started", "00000", 0, 0, "");
    at_damage = log_bytes.len + 60;
    note("started", "00001", 1, 0, "");
    tell(RECORD_SYNC, 0, "");
    log_bytes.data[at_damage] ^= 1;
    write_all();
    h = open_x();
    while ((rc = history_next(h, &f, &err)) == 1)
        n += f.kind == HISTORY_BEGUN;
    CHECK_EQ(rc, -1);
    CHECK_EQ(err.code, ERR_LOG);
    CHECK_EQ(n, 1);
    history_close(h);
}

TEST(history_of_a_log_that_was_cut_off_ends_there)
{
    struct history_reader *h;
    struct history_fact f;
    struct err err = {0};

    make_folder();
    note("started", "00000", 0, 0, "");
    write_folder(log_bytes.len - 3, 0);
    h = open_x();
    while (history_next(h, &f, &err) == 1)
        CHECK_EQ(f.kind, HISTORY_RECORD);
    CHECK_EQ(err.code, ERR_NONE);
    history_close(h);
}

/* Everything above at once, and where each of its records ends. */
static size_t
tell_all(size_t ends[], size_t max)
{
    char job[8];
    size_t n = 0;

#define DO(what)                   \
    do {                           \
        what;                      \
        CHECK(n < max);            \
        ends[n++] = log_bytes.len; \
    } while (0)
    for (unsigned i = 0; i < 6; i++) {
        snprintf(job, sizeof job, "%05u", i);
        at(i);
        DO(suggest(i, i == 3 ? ", \"resume_from\": \"00001\"" : ""));
        if (i % 2 == 0)
            DO(note("preparing", job, i, 0, ""));
        DO(note("started", job, i, 0, ", \"device\": \"1\""));
        DO(report(job, i, 0, "PERIODICAL", 0, "0.5"));
        DO(report(job, i, 0, "PERIODICAL", 0, "0.5"));
    }
    DO(exited("00004", 4, 0, "exited 1"));
    DO(note("started", "00004", 4, 1, ""));
    DO(suggest(9, ""));
    DO(report("aaa", 9, 0, "FINAL", 0, "1"));
    DO(end("aaa", 9, "SUCCEEDED"));
    DO(end("aaa", 9, "SUCCEEDED"));
    leave("00000", 0, 12);
    leave("00001", 0, 200);
    at(100);
    DO(resume());
    DO(report("00000", 0, 0, "FINAL", 0, "7"));
    for (unsigned i = 0; i < 4; i++) {
        snprintf(job, sizeof job, "%05u", i);
        at(150 + i);
        if (i == 2)
            DO(note("started", job, i, 1, ""));
        DO(exited(job, i, i == 2, i == 3 ? "lost" : "exited 0"));
        DO(tell(RECORD_TUNER, 9, "KI\"00003\""));
        DO(end(job, i, "SUCCEEDED"));
        DO(report(job, i, 0, "FINAL", 0, "7"));
    }
#undef DO
    return n;
}

/* A reader that ends behind any record and is gone on with by another one. */
TEST(history_carried_on_is_the_history)
{
    struct buf whole, parts, state;
    struct history_reader *h;
    size_t ends[100], n;

    make_folder();
    n = tell_all(ends, 100);
    CHECK(strlen(read_whole(&whole, false)) > 1000);
    buf_init(&parts, 1 << 20);
    buf_init(&state, 1 << 20);
    for (size_t i = 0; i < n; i++) {
        write_folder(ends[i], result_bytes.len);
        h = open_x();
        buf_clear(&parts);
        buf_clear(&state);
        read_on(h, &parts);
        history_save(h, &state);
        history_close(h);
        write_all();
        h = open_x();
        CHECK_EQ(history_load(h, state.data, state.len, NULL), 0);
        read_on(h, &parts);
        history_close(h);
        CHECK_STR(buf_text(&parts), buf_text(&whole));
        h = open_x();
        CHECK_EQ(history_load(h, state.data, state.len - 1, NULL), 1);
        history_close(h);
        state.data[16]++; /* another command stands there */
        h = open_x();
        CHECK_EQ(history_load(h, state.data, state.len, NULL), 1);
        history_close(h);
    }
    buf_fini(&whole);
    buf_fini(&parts);
    buf_fini(&state);
}

static void
append(size_t from, size_t to)
{
    FILE *f = fopen("x/command.log", "a");

    CHECK(f != NULL);
    CHECK_EQ(fwrite(log_bytes.data + from, 1, to - from, f), to - from);
    CHECK_EQ(fclose(f), 0);
}

/* The same reader, while the log grows. */
TEST(history_follows_a_log_that_grows)
{
    struct buf whole, parts;
    struct history_reader *h;
    size_t ends[100], n;

    make_folder();
    n = tell_all(ends, 100);
    read_whole(&whole, false);
    buf_init(&parts, 1 << 20);
    write_folder(ends[0], 0);
    h = open_x();
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            append(ends[i - 1], ends[i]);
        CHECK_EQ(history_grow(h, NULL), 0);
        read_on(h, &parts);
    }
    history_close(h);
    CHECK_STR(buf_text(&parts), buf_text(&whole));
    buf_fini(&whole);
    buf_fini(&parts);
}

/* A run that was adopted has no exit file before it ends. */
TEST(history_dates_a_start_once_its_run_has_ended)
{
    struct history_reader *h;
    struct buf got;
    size_t before;

    make_folder();
    at(1);
    suggest(0, "");
    at(9);
    tell(RECORD_IN, 3, "GE1");
    at(50);
    resume();
    at(51);
    note("started", "00000", 0, 0, "");
    before = log_bytes.len;
    at(60);
    resume();
    at(70);
    note("started", "00000", 0, 1, "");
    write_folder(before, 0);
    buf_init(&got, 1 << 20);
    h = open_x();
    read_on(h, &got);
    leave("00000", 2, 65);
    append(before, log_bytes.len);
    CHECK_EQ(history_grow(h, NULL), 0);
    read_on(h, &got);
    history_close(h);
    CHECK_STR(buf_text(&got), "suggested 0 {\"z\": 0} from -\n"
                              "begun 00000 runs 0 0 51 51 -\n"
                              "exited 00000 runs 0 0 2 2 65 - dated\n"
                              "begun 00000 runs 0 1 70 70 -\n");
    buf_fini(&got);
    check_facts("suggested 0 {\"z\": 0} from -\n"
                "begun 00000 runs 0 0 2 2 -\n"
                "exited 00000 runs 0 0 2 2 65 -\n"
                "begun 00000 runs 0 1 70 70 -\n");
}

/* What is kept is of those that live, and a bit for each of the others. */
TEST(history_is_bounded_by_living_trials)
{
    struct history_reader *h;
    struct buf got, state;
    char job[8];

    make_folder();
    for (unsigned i = 0; i < 4000; i++) {
        snprintf(job, sizeof job, "%05u", i);
        suggest(i, "");
        note("started", job, i, 0, "");
        report(job, i, 0, "FINAL", 0, "1");
        end(job, i, "SUCCEEDED");
    }
    write_all();
    h = open_x();
    buf_init(&got, 1 << 24);
    buf_init(&state, 1 << 24);
    read_on(h, &got);
    history_save(h, &state);
    CHECK(state.len < 2000);
    history_close(h);
    buf_fini(&got);
    buf_fini(&state);
}
