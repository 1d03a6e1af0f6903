/* SPDX-License-Identifier: MIT */
#include "replay/recovery.h"

#include "core/file.h"
#include "dispatcher_help.h"
#include "log/log.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- a session, and its log ---- */

static void
record_session(void)
{
    struct drive d;

    drive_setup(&d, "later", "{\"at_once\": 3}", "medianstop", NULL);
    d.setup.policy.extensions = true;
    drive_start(&d);
    drive_record(&d, "whole");
    drive_send(&d, "IN", "%s", HELP_SPACE);
    drive_send(&d, "FD", "[{\"parameter\": {\"x\": 0.5}, \"value\": 1}]");
    drive_send(&d, "GE", "2");
    drive_send(&d, "PI", "");
    for (int step = 0; step < 3; step++)
        for (int trial = 0; trial < 2; trial++)
            drive_periodical(&d, (uint64_t)trial, trial ? "B" : "A",
                             (uint64_t)step, trial ? "0.5" : "0.75");
    drive_final(&d, 0, "A", "0.75");
    drive_end(&d, 0, "A", "SUCCEEDED");
    drive_send(&d, "GE", "4"); /* two of them are owed */
    drive_send(&d, "XX", "?");
    drive_send(&d, "ME",
               "{\"parameter_id\": 2, \"trial_job_id\": \"C\", \"type\": "
               "\"PERIODICAL\", \"sequence\": 0, \"value\": \"0.1\", "
               "\"sync\": true}");
    drive_periodical(&d, 2, "C", 1, "0.1");
    drive_end(&d, 1, "B", "FAILED"); /* one is served */
    drive_send(&d, "SS",
               "{\"x\": {\"_type\": \"uniform\", \"_value\": "
               "[0, 2]}}");
    drive_periodical(&d, 2, "C", 2, "0.1");
    drive_end(&d, 2, "C", "EARLY_STOPPED");
    drive_send(&d, "GE", "1");
    drive_stop(&d);
}

/* ---- what was said in it ---- */

static void
add_answer(struct pending *all, const struct record *r)
{
    struct emission e;
    struct buf text;

    if (r->kind != RECORD_TUNER && r->kind != RECORD_ASSESSOR)
        return;
    buf_init(&text, 1 << 20);
    CHECK_EQ(emission_of_record(r, &e, &text), 0);
    pending_add(all, &e);
    buf_fini(&text);
}

static void
add_answers(struct pending *all, const char *path)
{
    struct err err;
    struct log_reader *f = log_open(path, 0, &err);
    struct record r;

    CHECK(f != NULL);
    while (log_next(f, &r, &err) == LOG_RECORD)
        add_answer(all, &r);
    log_close(f);
}

static void
add_list(struct pending *all, const struct emission *e)
{
    for (; e != NULL; e = e->next)
        pending_add(all, e);
}

/* Each list of `whole` is the same list of `other`, which is emptied. */
static void
check_same(const struct pending *whole, struct pending *other)
{
    const struct emission *e;
    size_t at = 0;

    CHECK_EQ(whole->frames, other->frames);
    while ((e = pending_next(whole, &at)) != NULL)
        for (; e != NULL; e = e->next) {
            struct emission *o = pending_take(other, e->cause, e->sender);

            CHECK(o != NULL);
            CHECK_EQ(o->code, e->code);
            CHECK_EQ(o->len, e->len);
            CHECK(memcmp(o->payload, e->payload, e->len) == 0);
            free(o);
        }
}

/* ---- going on ---- */

struct going {
    struct session *session;
    struct pending *all;
};

static void
take_answer(void *ctx, const struct emission *e)
{
    struct going *g = ctx;

    pending_add(g->all, e);
    router_written(g->session->router, e);
}

/* Feeds what the whole log has behind `last`. */
static void
go_on(struct going *g, uint64_t last)
{
    struct err err;
    struct log_reader *f = log_open("whole/command.log", 0, &err);
    struct command *cmd, *next;
    struct record r;

    while (log_next(f, &r, &err) == LOG_RECORD) {
        struct routed routed = {0};
        struct frame frame = {.payload = r.payload + 2};

        if (r.kind != RECORD_IN || r.number <= last)
            continue;
        memcpy(frame.code, r.payload, 2);
        frame.len = r.len - 2;
        router_frame(g->session->router, &frame, r.number, &routed);
        for (cmd = routed.by_default.first; cmd != NULL; cmd = next) {
            next = cmd->next;
            side_command(g->session->sides[SENDER_DEFAULT], cmd, &err);
            command_free(cmd);
        }
        for (cmd = routed.assessor.first; cmd != NULL; cmd = next) {
            next = cmd->next;
            side_command(g->session->sides[SENDER_ASSESSOR], cmd, &err);
            command_free(cmd);
        }
    }
    log_close(f);
}

static void
write_cut(const struct buf *whole, size_t len)
{
    struct err err;

    mkdir("cut", 0700);
    CHECK_EQ(file_write("cut/command.log", whole->data, len, &err), 0);
}

/* The log's first `len` bytes, and then the rest of the manager's frames: the
 * same answers as without the cut. */
static void
check_cut(const struct buf *whole, const struct pending *answers,
          const struct plugin_paths *paths, size_t len)
{
    struct log silent = {.fd = -1};
    struct recovery_setup setup = {.path = "cut/command.log", .log = &silent};
    struct recovery recovery;
    struct pending all = {.failed = false};
    struct logwriter *log;
    struct going going = {.all = &all};
    struct emitter emitter = {take_answer, &going};
    const struct emission *e;
    uint64_t slots[2];
    size_t at = 0;
    struct err err;

    write_cut(whole, len);
    add_answers(&all, "cut/command.log");
    setup.paths = paths;
    log = logwriter_reopen("cut", NULL, slots, &err);
    CHECK(log != NULL);
    CHECK_STR(recovery_run(&setup, log, &recovery, &err) == 0 ? "" : err.text,
              "");
    going.session = recovery.rest.session;
    session_redirect(going.session, emitter);
    while ((e = pending_next(&recovery.rest.pending, &at)) != NULL) {
        add_list(&all, e);
        for (; e != NULL; e = e->next)
            router_written(going.session->router, e);
    }
    go_on(&going, recovery.report.last);
    check_same(answers, &all);
    pending_fini(&all);
    recovery_fini(&recovery);
    logwriter_free(log);
}

/* Where the head record ends: of less there is nothing to go on with. */
static size_t
end_of_head(void)
{
    struct err err;
    struct log_reader *f = log_open("whole/command.log", 0, &err);
    struct record r;
    size_t end;

    CHECK(log_next(f, &r, &err) == LOG_RECORD);
    end = log_offset(f) + r.size;
    log_close(f);
    return end;
}

static void
check_cuts(size_t stride)
{
    struct pending answers = {.failed = false};
    struct plugin_paths *paths;
    char folders[8192];
    struct buf whole;
    struct err err;

    snprintf(folders, sizeof folders, "%s:%s", t_build("tests/plugins"),
             t_build("plugins"));
    paths = plugin_paths_new(folders, &err);
    record_session();
    buf_init(&whole, 1 << 20);
    CHECK_EQ(file_read("whole/command.log", 1 << 20, &whole, &err), 0);
    add_answers(&answers, "whole/command.log");
    CHECK(answers.frames >= 10);
    for (size_t len = end_of_head(); len <= whole.len; len += stride)
        check_cut(&whole, &answers, paths, len);
    check_cut(&whole, &answers, paths, whole.len);
    plugin_paths_free(paths);
    pending_fini(&answers);
    buf_fini(&whole);
}

/* At every byte with TP_LONG=1. */
TEST(recovery_goes_on_wherever_the_log_was_cut)
{
    check_cuts(getenv("TP_LONG") != NULL ? 1 : 13);
}

TEST(recovery_tells_what_it_cannot_go_on_with)
{
    struct log silent = {.fd = -1};
    struct recovery_setup setup = {.path = "cut/command.log", .log = &silent};
    struct recovery recovery;
    struct logwriter *log;
    struct buf whole;
    uint64_t slots[2];
    struct err err;

    record_session();
    buf_init(&whole, 1 << 20);
    CHECK_EQ(file_read("whole/command.log", 1 << 20, &whole, &err), 0);
    write_cut(&whole, end_of_head() - 1);
    log = logwriter_reopen("cut", NULL, slots, &err);
    CHECK(log != NULL);
    CHECK_EQ(recovery_run(&setup, log, &recovery, &err), -1);
    CHECK_STR(err.text, "cut/command.log: expected a head record first");
    CHECK(logwriter_reopen("cut", NULL, slots, &err) == NULL); /* two writers */
    CHECK_HAS(err.text, "locked by process");
    recovery_fini(&recovery);
    logwriter_free(log);
    buf_fini(&whole);
}
