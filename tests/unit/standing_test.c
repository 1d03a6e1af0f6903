/* SPDX-License-Identifier: MIT */
#include "replay/standing.h"

#include "core/file.h"
#include "dispatcher_help.h"
#include "log/log.h"
#include "plugin/paths.h"

static int
stand(const char *path, uint64_t at, struct standing *s, struct err *err)
{
    struct log silent = {.fd = -1, .name = "tunepipe"};
    struct plugin_paths *paths;
    struct standing_setup setup = {path, at, NULL, &silent};
    const char *plugins = t_build("plugins");
    int rc;

    setenv("TUNEPIPE_PLUGIN_PATH", t_build("tests/plugins"), 1);
    err_clear(err);
    paths = plugin_paths_new(plugins, err);
    setup.paths = paths;
    rc = standing_run(&setup, s, err);
    plugin_paths_free(paths);
    return rc;
}

static void
record_session(void)
{
    struct drive d;

    drive_setup(&d, "later", "{\"at_once\": 2}", "stops_at", "{\"step\": 2}");
    drive_start(&d);
    drive_record(&d, "log");
    drive_send(&d, "GE", "1");              /* 1: NO, there is no space */
    drive_send(&d, "IN", "%s", HELP_SPACE); /* 2 */
    drive_send(&d, "GE", "5");              /* 3: TR 0, TR 1, NO: 2..4 */
    drive_periodical(&d, 0, "A", 0, "1.5"); /* 4 */
    drive_periodical(&d, 0, "A", 1, "2.5"); /* 5: KI */
    drive_final(&d, 1, "B", "0.25");        /* 6 */
    drive_end(&d, 0, "A", "USER_CANCELED"); /* 7 */
    drive_end(&d, 1, "B", "SUCCEEDED");     /* 8 */
    drive_stop(&d);
}

TEST(standing_before_anything_was_asked)
{
    struct standing s;
    struct err err;

    record_session();
    CHECK_EQ(stand("log/command.log", 1, &s, &err), 0);
    CHECK_EQ(s.at, 1);
    CHECK_STR(s.input, "GE1");
    CHECK(!s.has_space);
    CHECK_EQ(s.n_trials + s.n_owed + s.finished + s.kills, 0);
    standing_fini(&s);
}

TEST(standing_tells_of_trials_and_owed_ids)
{
    struct standing s;
    struct err err;

    record_session();
    CHECK_EQ(stand("log/command.log", 3, &s, &err), 0);
    CHECK(s.has_space);
    CHECK_EQ(s.next_id, 5);
    CHECK_EQ(s.n_trials, 2);
    CHECK_STR(s.trials[1].parameter, "1");
    CHECK(s.trials[1].out && s.trials[1].job == NULL);
    CHECK_EQ(s.n_owed, 1);
    CHECK_EQ(s.owed[0].first, 2);
    CHECK_EQ(s.owed[0].count, 3);
    standing_fini(&s);

    CHECK_EQ(stand("log/command.log", 4, &s, &err), 0);
    CHECK_STR(s.trials[0].job, "A");
    CHECK(s.trials[0].has_latest && !s.trials[0].stopped);
    CHECK(s.trials[0].latest.value == 1.5);
    CHECK_EQ(s.kills, 0);
    standing_fini(&s);

    CHECK_EQ(stand("log/command.log", 6, &s, &err), 0);
    CHECK_EQ(s.n_trials, 2 + (5 - 2) - s.owed[0].count);
    CHECK(s.trials[0].stopped && s.trials[0].latest.step == 1);
    CHECK(s.trials[1].told && !s.trials[1].has_latest);
    CHECK_STR(s.trials[1].job, "B");
    CHECK_EQ(s.kills, 1);
    CHECK_EQ(s.pending[0].n + s.pending[1].n, 0);
    standing_fini(&s);

    CHECK_EQ(stand("log/command.log", 8, &s, &err), 0);
    CHECK_EQ(s.finished + s.resultless, 2);
    for (size_t i = 0; i < s.n_trials; i++)
        CHECK(s.trials[i].number > 1 && s.trials[i].job == NULL);
    standing_fini(&s);
    CHECK_EQ(stand("log/command.log", 9, &s, &err), -1);
    CHECK_EQ(err.code, ERR_USAGE);
    standing_fini(&s);
}

/* The same log, the answers to command 3 behind command 4, as a slow worker
 * writes them. */
static void
delay_answers(void)
{
    struct log_reader *f;
    struct record r;
    struct buf out, late;
    struct err err;

    f = log_open("log/command.log", 0, &err);
    buf_init(&out, 1 << 20);
    buf_init(&late, 1 << 20);
    record_write_version(&out);
    while (log_next(f, &r, &err) == LOG_RECORD) {
        bool delay = r.kind == RECORD_TUNER && r.number == 3;

        record_encode(delay ? &late : &out, r.kind, r.number, r.time_us,
                      r.payload, r.len);
        if (r.kind == RECORD_IN && r.number == 4) {
            buf_add(&out, late.data, late.len);
            buf_clear(&late);
        }
    }
    log_close(f);
    CHECK_EQ(file_write("late", out.data, out.len, &err), 0);
    buf_fini(&out);
    buf_fini(&late);
}

TEST(standing_tells_what_was_not_written_yet)
{
    struct standing s;
    struct err err;

    record_session();
    delay_answers();
    CHECK_EQ(stand("late", 3, &s, &err), 0);
    CHECK_EQ(s.n_trials, 2);
    CHECK_EQ(s.pending[0].n, 1);
    CHECK_EQ(s.pending[0].at[0].cause, 3);
    CHECK_STR(s.pending[0].at[0].code, "GE");
    CHECK_EQ(s.pending[0].at[0].frames, 3);
    CHECK_EQ(s.pending[1].n, 0);
    standing_fini(&s);
    CHECK_EQ(stand("late", 4, &s, &err), 0);
    CHECK_EQ(s.pending[0].n, 0);
    standing_fini(&s);
}
