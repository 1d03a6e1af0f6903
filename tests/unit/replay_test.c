/* SPDX-License-Identifier: MIT */
#include "replay/replay.h"

#include "core/file.h"
#include "dispatcher_help.h"
#include "log/log.h"

#include <sys/stat.h>

/* ---- a log, and the same log with something else in it ---- */

static void
record_session(void)
{
    struct drive d;

    drive_setup(&d, "later", "{\"at_once\": 4}", "stops_at", "{\"step\": 2}");
    drive_start(&d);
    drive_record(&d, "log");
    drive_send(&d, "IN", "%s", HELP_SPACE); /* 1 */
    drive_send(&d, "GE", "3");              /* 2 */
    drive_periodical(&d, 0, "A", 0, "1");   /* 3 */
    drive_periodical(&d, 0, "A", 1, "2");   /* 4: KI */
    drive_send(&d, "GE", "2");              /* 5: TR 3, NO */
    drive_end(&d, 0, "A", "USER_CANCELED"); /* 6: TR 4 */
    drive_send(&d, "XX", "?");              /* 7 */
    drive_final(&d, 1, "B", "0.25");        /* 8 */
    drive_stop(&d);
}

enum change { KEEP, DROP, DOUBLE, PAYLOAD, CAUSE, KIND };

struct rewrite {
    enum record_kind kind;
    uint64_t number;
    int nth; /* of those with that kind and number, from 0 */
    enum change change;
    const char *payload;
    uint64_t cause;
};

/* Writes "log/command.log" to "changed", its checksums right. */
static void
rewrite(const struct rewrite *w)
{
    struct log_reader *f;
    struct record r;
    struct buf out;
    struct err err;
    int seen = 0, done = 0;

    f = log_open("log/command.log", 0, &err);
    CHECK(f != NULL);
    buf_init(&out, 1 << 20);
    record_write_version(&out);
    while (log_next(f, &r, &err) == LOG_RECORD) {
        enum change c =
            r.kind == w->kind && r.number == w->number && seen++ == w->nth
                ? w->change
                : KEEP;

        done += c != KEEP;
        if (c == PAYLOAD) {
            r.payload = w->payload;
            r.len = strlen(w->payload);
        }
        if (c == CAUSE)
            r.number = w->cause;
        if (c == KIND)
            r.kind = r.kind == RECORD_TUNER ? RECORD_ASSESSOR : RECORD_TUNER;
        for (int i = 0; i < (c == DROP ? 0 : c == DOUBLE ? 2 : 1); i++)
            record_encode(&out, r.kind, r.number, r.time_us, r.payload, r.len);
    }
    CHECK_EQ(done, w->change != KEEP);
    CHECK_EQ(file_write("changed", out.data, out.len, &err), 0);
    buf_fini(&out);
    log_close(f);
}

static int
replay_with(struct replay_setup setup, struct replay_report *report,
            struct err *err)
{
    struct log silent = {.fd = -1, .name = "tunepipe"};
    struct plugin_paths *paths;
    int rc;

    static const char *plugins;

    err_clear(err);
    if (plugins == NULL) {
        plugins = t_build("plugins");
        setenv("TUNEPIPE_PLUGIN_PATH", t_build("tests/plugins"), 1);
    }
    paths = plugin_paths_new(plugins, err);
    setup.log = &silent;
    setup.paths = paths;
    rc = replay_run(&setup, report, err);
    plugin_paths_free(paths);
    return rc;
}

static int
replay(const char *path, struct replay_report *report, struct err *err)
{
    return replay_with((struct replay_setup){.path = path}, report, err);
}

TEST(replay_of_a_recorded_log_is_identical)
{
    struct replay_report report;
    struct err err;

    record_session();
    CHECK_EQ(replay("log/command.log", &report, &err), 0);
    CHECK_EQ(report.commands, 8);
    CHECK_EQ(report.frames, 8);
    CHECK_EQ(report.causes, 5);
    CHECK_EQ(report.uncompared, 0);
    CHECK_EQ(report.unsent, 0);
    CHECK_EQ(report.torn_bytes, 0);
    CHECK(report.ended);
}

/* Whatever is wrong with one outbound record, the first difference is shown:
 * where, of which command, what was recorded and what replay gives. */
TEST(replay_finds_each_difference)
{
    static const struct {
        struct rewrite w;
        const char *has[3];
    } cases[] = {
        {{RECORD_TUNER, 2, 1, PAYLOAD, "TR{}", 0},
         {"command 2, tuner: recorded TR{}, replay gives "
          "TR{\"parameter_id\": 1, "}},
        {{RECORD_TUNER, 2, 1, DROP, NULL, 0},
         {"command 2, tuner: recorded TR{\"parameter_id\": 2, ",
          "replay gives TR{\"parameter_id\": 1, "}},
        {{RECORD_TUNER, 2, 2, DROP, NULL, 0},
         {"command 2, tuner: recorded nothing, replay gives "
          "TR{\"parameter_id\": 2, "}},
        {{RECORD_TUNER, 2, 2, DOUBLE, NULL, 0},
         {"command 2, tuner: recorded TR{\"parameter_id\": 2, ",
          "replay gives nothing"}},
        {{RECORD_TUNER, 1, 0, PAYLOAD, "NO", 0},
         {"command 1, tuner: recorded NO, replay gives ID"}},
        {{RECORD_TUNER, 5, 1, CAUSE, NULL, 6},
         {"command 6, tuner: recorded NO{\"parameter_id\": 3, ",
          "replay gives nothing"}},
        {{RECORD_TUNER, 5, 0, CAUSE, NULL, 7},
         {"command 7, tuner: recorded TR{\"parameter_id\": 3, ",
          "replay gives nothing"}},
        {{RECORD_ASSESSOR, 4, 0, PAYLOAD, "KI\"B\"", 0},
         {"command 4, assessor: recorded KI\"B\", replay gives KI\"A\""}},
        {{RECORD_ASSESSOR, 4, 0, DROP, NULL, 0},
         {"command 4, assessor: recorded nothing, replay gives KI\"A\""}},
        {{RECORD_ASSESSOR, 4, 0, KIND, NULL, 0},
         {"command 4, tuner: recorded KI\"A\", replay gives nothing"}},
        {{RECORD_TUNER, 1, 0, PAYLOAD, "??", 0}, {"expected a command's code"}},
        {{RECORD_TUNER, 1, 0, PAYLOAD, "I", 0}, {"expected a command's code"}},
        {{RECORD_IN, 2, 0, PAYLOAD, "G", 0}, {"expected a command's code"}},
        {{RECORD_IN, 2, 0, PAYLOAD, "GE2", 0},
         {"command 2, tuner: recorded TR{\"parameter_id\": 2, ",
          "replay gives nothing"}},
    };

    record_session();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct replay_report report;
        struct err err;

        rewrite(&cases[i].w);
        CHECK_EQ(replay("changed", &report, &err), -1);
        CHECK_HAS(err.text, "changed: offset ");
        for (int k = 0; k < 3 && cases[i].has[k] != NULL; k++)
            CHECK_HAS(err.text, cases[i].has[k]);
        CHECK(err.code == ERR_INPUT || err.code == ERR_LOG);
    }
}

TEST(replay_shows_where_long_frames_begin_to_differ)
{
    struct replay_report report;
    struct drive d;
    struct err err;
    char choice[5000], wrong[6000];

    memset(choice, 'a', sizeof choice - 1);
    choice[sizeof choice - 1] = '\0';
    drive_setup(&d, "random", NULL, NULL, NULL);
    drive_start(&d);
    drive_record(&d, "log");
    drive_send(&d, "IN",
               "{\"x\": {\"_type\": \"choice\", \"_value\": [\"%s\"]}}",
               choice);
    drive_send(&d, "GE", "1");
    drive_stop(&d);
    choice[4000] = 'B';
    snprintf(wrong, sizeof wrong,
             "TR{\"parameter_id\": 0, \"parameter_source\": \"algorithm\", "
             "\"parameters\": {\"x\": \"%s\"}, \"parameter_index\": 0}",
             choice);
    rewrite(&(struct rewrite){RECORD_TUNER, 2, 0, PAYLOAD, wrong, 0});
    CHECK_EQ(replay("changed", &report, &err), -1);
    CHECK_HAS(err.text, "recorded TR...aaaa");
    CHECK_HAS(err.text, "aaBaa");
    CHECK_HAS(err.text, "replay gives TR...aaaa");
}

TEST(replay_says_that_a_tuner_has_another_version)
{
    struct replay_report report;
    struct drive d;
    struct buf head;
    struct err err;
    char *text, *at;

    record_session();
    drive_setup(&d, "later", "{\"at_once\": 4}", "stops_at", "{\"step\": 2}");
    drive_start(&d);
    buf_init(&head, 1 << 20);
    session_write_head(d.session, &d.setup, &head);
    drive_stop(&d);
    text = buf_take(&head);
    at = strstr(text, "\"version\": 1");
    CHECK(at != NULL);
    at[strlen("\"version\": ")] = '7';
    rewrite(&(struct rewrite){RECORD_HEAD, 0, 0, PAYLOAD, text, 0});
    free(text);
    CHECK_EQ(replay("changed", &report, &err), -1);
    CHECK_STR(err.text, "changed: tuner later: recorded with version 7 of the "
                        "algorithm, installed is version 1: its answers may "
                        "differ");
    CHECK_EQ(err.code, ERR_LOG);
}

TEST(replay_refuses_a_log_without_a_head)
{
    static const struct rewrite cases[] = {
        {RECORD_HEAD, 0, 0, DROP, NULL, 0},
        {RECORD_HEAD, 0, 0, PAYLOAD, "{", 0},
        {RECORD_HEAD, 0, 0, PAYLOAD, "{}", 0},
    };

    record_session();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct replay_report report;
        struct err err;

        rewrite(&cases[i]);
        CHECK_EQ(replay("changed", &report, &err), -1);
        CHECK_HAS(err.text, "changed: ");
        CHECK_HAS(err.text, i == 0   ? "expected a head record first"
                            : i == 1 ? "byte 1"
                                     : "no 'seed'");
    }
}

/* A log that was cut anywhere replays as far as it goes, and says what was
 * derived and not yet sent.  (The end record and its mark are left out.) */
TEST(replay_of_a_cut_log_has_no_difference)
{
    struct buf bytes;
    struct err err;
    uint64_t unsent = 0;

    record_session();
    buf_init(&bytes, 1 << 20);
    CHECK_EQ(file_read("log/command.log", 1 << 20, &bytes, &err), 0);
    for (size_t cut = 0; cut + 34 < bytes.len; cut += 7) {
        struct replay_report report;

        CHECK_EQ(file_write("changed", bytes.data, cut, &err), 0);
        if (replay("changed", &report, &err) != 0) {
            CHECK_EQ(report.commands, 0); /* not even a head */
            CHECK_EQ(err.code, ERR_LOG);
            continue;
        }
        CHECK(!report.ended);
        unsent += report.unsent;
    }
    CHECK(unsent > 0);
    buf_fini(&bytes);
}

TEST(replay_skips_what_was_skipped)
{
    static const struct {
        const char *text;
        uint64_t arrival;
    } cases[] = {
        {"t left by the stop", 2},
        {"ta left by the stop", 1},
        {"o what is owed is dropped from here", 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct replay_report report;
        struct drive d;
        struct err err;

        drive_setup(&d, "random", NULL, NULL, NULL);
        drive_start(&d);
        drive_record(&d, "log");
        for (int k = 0; k < 2; k++) {
            struct frame f =
                help_frame(k == 0 ? "IN" : "GE", k == 0 ? HELP_SPACE : "2");

            logwriter_frame(d.log, RECORD_IN, ++d.arrivals, &f);
        }
        if (cases[i].arrival == 2) {
            struct emission e =
                help_said(SENDER_DEFAULT, 1, CMD_INITIALIZED, "");

            emission_record(&e, d.log);
        } else {
            logwriter_add(d.log, RECORD_SKIPPED, 2, "t too", 5);
        }
        logwriter_add(d.log, RECORD_SKIPPED, cases[i].arrival, cases[i].text,
                      strlen(cases[i].text));
        drive_stop(&d);
        CHECK_EQ(replay("log/command.log", &report, &err), 0);
        CHECK_EQ(report.frames, cases[i].arrival == 2);
        CHECK_EQ(report.unsent, 0);
        CHECK_EQ(unlink("log/command.log"), 0);
    }
}

/* ---- a part of it ---- */

struct seen {
    int reached;
    bool had_session;
    uint64_t derived, records;
    int fail; /* 1: in next, 2: in reached */
};

static void
count_derived(void *ctx, const struct emission *e)
{
    struct seen *seen = ctx;

    (void)e;
    CHECK_EQ(seen->reached, 0);
    seen->derived++;
}

static int
see_next(void *ctx, const struct record *record, struct err *err)
{
    struct seen *seen = ctx;

    (void)record;
    seen->records++;
    return seen->fail == 1 ? err_set(err, ERR_SYSTEM, "no more") : 0;
}

static int
see_reached(void *ctx, struct session *session, struct err *err)
{
    struct seen *seen = ctx;

    seen->reached++;
    seen->had_session = session->tuner != NULL;
    return seen->fail == 2 ? err_set(err, ERR_SYSTEM, "no session") : 0;
}

static struct seen
look(uint64_t until, int fail, struct replay_report *report, struct err *err)
{
    struct seen seen = {.fail = fail};

    (void)replay_with((struct replay_setup){.path = "log/command.log",
                                            .until = until,
                                            .derived = count_derived,
                                            .next = see_next,
                                            .reached = see_reached,
                                            .ctx = &seen},
                      report, err);
    return seen;
}

/* The first n inputs alone: their answers, and no others. */
TEST(replay_until_compares_the_answers_to_what_it_handled)
{
    static const uint64_t frames[] = {0, 1, 4, 4, 5, 7, 8, 8, 8};
    struct replay_report report;
    struct seen seen;
    struct err err;

    record_session();
    for (uint64_t n = 1; n <= 8; n++) {
        seen = look(n, 0, &report, &err);
        CHECK_STR(err.text, "");
        CHECK_EQ(seen.reached, 1);
        CHECK(seen.had_session);
        CHECK_EQ(report.commands, n);
        CHECK_EQ(report.last, n);
        CHECK_EQ(seen.derived, frames[n]);
        CHECK_EQ(report.frames, frames[n]);
        CHECK_EQ(report.unsent, 0);
    }
    CHECK_EQ(look(0, 0, &report, &err).reached, 1);
    CHECK_STR(err.text, "");
}

TEST(replay_until_needs_a_log_that_is_as_long)
{
    struct replay_report report;
    struct err err;

    record_session();
    CHECK_EQ(look(9, 0, &report, &err).reached, 0);
    CHECK_EQ(err.code, ERR_USAGE);
    CHECK_STR(err.text,
              "log/command.log: ends at command 8, expected 9 or more");
}

TEST(replay_ends_when_a_caller_says_so)
{
    struct replay_report report;
    struct seen seen;
    struct err err;

    record_session();
    seen = look(4, 1, &report, &err);
    CHECK_STR(err.text, "no more");
    CHECK_EQ(seen.records, 1);
    seen = look(4, 2, &report, &err);
    CHECK_STR(err.text, "no session");
    CHECK_EQ(report.commands, 4);
}

/* What a skipped command had sent before it was left is not compared. */
TEST(replay_does_not_compare_the_frames_of_skipped_commands)
{
    struct replay_report report;
    struct drive d;
    struct err err;
    struct emission e = help_said(SENDER_DEFAULT, 2, CMD_NEW_TRIAL, "{}");

    drive_setup(&d, "random", NULL, NULL, NULL);
    drive_start(&d);
    drive_record(&d, "log");
    drive_send(&d, "IN", "%s", HELP_SPACE);
    emission_record(&e, d.log);
    logwriter_add(d.log, RECORD_SKIPPED, 2, "t left", 6);
    drive_stop(&d);
    CHECK_EQ(replay("log/command.log", &report, &err), 0);
    CHECK_EQ(report.uncompared, 1);
    CHECK_EQ(report.frames, 1);
}

/* ---- golden logs ---- */

static void
check_golden(const char *name, uint64_t commands, uint64_t frames)
{
    char path[300];
    struct replay_report report;
    struct err err;

    snprintf(path, sizeof path, "%s/%s", t_source("tests/data/logs"), name);
    replay(path, &report, &err);
    CHECK_STR(err.text, "");
    CHECK(report.ended);
    CHECK_EQ(report.torn_bytes, 0);
    CHECK_EQ(report.commands, commands);
    CHECK_EQ(report.frames, frames);
}

TEST(replay_of_the_golden_logs_is_identical)
{
    check_golden("medianstop.log", 371, 73);
    check_golden("awkward.log", 114, 20);
    check_golden("burnt.log", 9, 8);
}
