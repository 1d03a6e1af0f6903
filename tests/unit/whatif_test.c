/* SPDX-License-Identifier: MIT */
#include "replay/whatif.h"

#include "core/file.h"
#include "dispatcher_help.h"
#include "log/record.h"
#include "replay/fork.h"
#include "replay/script.h"

#include <math.h>

NOT_UNDER_TSAN;

/* A is killed at its second report; C reports out of order; D is started
 * again, and ends well. */
static void
record_session(void)
{
    struct drive d;

    drive_setup(&d, "random", NULL, "stops_at", "{\"step\": 2}");
    drive_start(&d);
    drive_record(&d, "log");
    drive_send(&d, "IN", "%s", HELP_SPACE); /* 1 */
    drive_send(&d, "GE", "3");              /* 2 */
    drive_periodical(&d, 0, "A", 0, "1");   /* 3 */
    drive_periodical(&d, 1, "C", 1, "7");   /* 4 */
    drive_periodical(&d, 0, "A", 1, "2");   /* 5: KI */
    drive_periodical(&d, 0, "A", 2, "3");   /* 6 */
    drive_end(&d, 0, "A", "USER_CANCELED"); /* 7 */
    drive_send(&d, "GE", "1");              /* 8 */
    drive_periodical(&d, 2, "D", 0, "5");   /* 9 */
    drive_send(&d, "ME",
               "{\"parameter_id\": 2, \"trial_job_id\": \"D\", \"type\": "
               "\"PERIODICAL\", \"sequence\": 0, \"attempt\": 1, "
               "\"value\": \"6\"}");      /* 10 */
    drive_final(&d, 2, "D", "0.5");       /* 11 */
    drive_end(&d, 2, "D", "SUCCEEDED");   /* 12 */
    drive_periodical(&d, 3, "E", 0, "8"); /* 13 */
    drive_final(&d, 3, "E", "0.75");      /* 14 */
    drive_stop(&d);
}

static struct plugin_paths *
plugins(void)
{
    struct plugin_paths *paths;
    struct err err;
    static char text[4096];

    if (text[0] == '\0')
        snprintf(text, sizeof text, "%s:%s", t_build("tests/plugins"),
                 t_build("plugins"));
    paths = plugin_paths_new(text, &err);
    CHECK(paths != NULL);
    return paths;
}

static int
ask(const char *path, uint64_t step, uint64_t until, struct whatif *out,
    struct err *err)
{
    struct plugin_paths *paths = plugins();
    struct log silent = {.fd = -1, .name = "tunepipe"};
    struct json *args;
    char text[64];
    int rc;

    snprintf(text, sizeof text, "{\"step\": %" PRIu64 "}", step);
    args = json_parse(text, strlen(text), JSON_STRICT, err);
    CHECK(args != NULL);
    rc = whatif_run(&(struct whatif_setup){.path = path,
                                           .paths = paths,
                                           .log = &silent,
                                           .assessor = "stops_at",
                                           .args = json_root(args),
                                           .until = until},
                    out, err);
    json_free(args);
    plugin_paths_free(paths);
    return rc;
}

static const struct whatif_trial *
trial(const struct whatif *w, const char *job)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->trials[i].job, job) == 0)
            return &w->trials[i];
    CHECK_STR(job, "a trial of the log");
    return NULL;
}

TEST(whatif_of_the_same_assessor_is_what_was)
{
    struct whatif w;
    struct err err;

    record_session();
    CHECK_EQ(ask("log/command.log", 2, 0, &w, &err), 0);
    CHECK_EQ(w.n, 4);
    CHECK_EQ(w.stopped_same, 1);
    CHECK_EQ(w.stopped_then, 1);
    CHECK_EQ(w.first, 0);
    CHECK_EQ(w.open, 0);
    CHECK_EQ(w.saved_steps, 0);
    CHECK(w.saved_s == 0);
    CHECK_STR(w.best->job, "E");
    CHECK(w.best == w.best_left);
    CHECK_EQ(trial(&w, "A")->really.step, 1);
    CHECK(trial(&w, "A")->really.value == 2);
    CHECK_EQ(trial(&w, "A")->steps, 3);
    CHECK_EQ(trial(&w, "C")->steps, 0); /* its first is missing */
    CHECK(!trial(&w, "C")->ended);
    CHECK_EQ(trial(&w, "D")->steps, 1); /* of its second attempt */
    CHECK_STR(trial(&w, "D")->id, "2");
    CHECK_EQ(trial(&w, "D")->given_out, 2);
    whatif_fini(&w);
}

TEST(whatif_stops_earlier)
{
    struct whatif w;
    struct err err;

    record_session();
    CHECK_EQ(ask("log/command.log", 1, 0, &w, &err), 0);
    CHECK_EQ(w.stopped_then, 3);
    CHECK_EQ(w.stopped_same, 0);
    CHECK_EQ(w.first, 3);
    CHECK_STR(w.first_trial->job, "A");
    CHECK_EQ(trial(&w, "A")->then.step, 0);
    CHECK_EQ(trial(&w, "A")->saved_steps, 2);
    CHECK(!trial(&w, "C")->then.stops);
    CHECK_EQ(trial(&w, "D")->then.arrival, 9);
    CHECK_EQ(w.open, 1); /* E's parameters were given out at 8 */
    CHECK(trial(&w, "E")->open);
    CHECK(w.best_left == NULL);
    whatif_fini(&w);
}

TEST(whatif_goes_on_where_it_was_stopped)
{
    struct whatif w;
    struct err err;

    record_session();
    CHECK_EQ(ask("log/command.log", 9, 0, &w, &err), 0);
    CHECK_EQ(w.stopped_then, 0);
    CHECK_EQ(w.unknown, 1);
    CHECK(trial(&w, "A")->unknown);
    CHECK_EQ(w.first, 5);
    whatif_fini(&w);
    CHECK_EQ(ask("log/command.log", 9, 4, &w, &err), 0);
    CHECK_EQ(w.unknown, 0);
    CHECK_EQ(w.n, 2);
    CHECK(w.best == NULL);
    whatif_fini(&w);
}

/* ---- whatever the log is ---- */

static void
read_with_all(uint64_t at)
{
    struct plugin_paths *paths = plugins();
    struct log silent = {.fd = -1, .name = "tunepipe"};
    struct fork_changes changes = {.assessor = "medianstop"};
    struct fork_report report;
    struct script script;
    struct whatif w;
    struct err err;

    (void)script_open(&script, "changed", &err);
    script_close(&script);
    (void)ask("changed", 1, 0, &w, &err);
    whatif_fini(&w);
    if (fork_run(&(struct fork_setup){.path = "changed",
                                      .folder = "new",
                                      .at = at,
                                      .changes = &changes,
                                      .paths = paths,
                                      .log = &silent},
                 &report, &err) == 0)
        CHECK_EQ(unlink("new/command.log"), 0);
    fork_report_fini(&report);
    CHECK(access("new/command.log", F_OK) != 0);
    plugin_paths_free(paths);
}

TEST(whatif_script_and_fork_read_any_cut_of_a_log)
{
    struct buf bytes;
    struct err err;

    record_session();
    buf_init(&bytes, 1 << 20);
    CHECK_EQ(file_read("log/command.log", 1 << 20, &bytes, &err), 0);
    for (size_t cut = 0; cut < bytes.len; cut += 13) {
        CHECK_EQ(file_write("changed", bytes.data, cut, &err), 0);
        read_with_all(5);
    }
    buf_fini(&bytes);
}

/* Whole records that make no sense. */
TEST(whatif_script_and_fork_read_nonsense)
{
    static const char *const texts[] = {
        "",           "T",        "TR",   "TR{}", "TR{\"parameter_id\": 0}",
        "KI",         "KI\"A\"",  "KI{}", "AK{}", "EN{}",
        "ME",         "NT{}",     "xt a", "t ",   "ta why",
        "terminated", "GE1",      "GE",   "NO",   "late x",
        "gone",       "\xff\xff", "x",    "TE",   "IN{}"};
    struct buf out, bytes;
    struct err err;
    size_t head;

    record_session();
    buf_init(&bytes, 1 << 20);
    buf_init(&out, 1 << 20);
    CHECK_EQ(file_read("log/command.log", 1 << 20, &bytes, &err), 0);
    buf_add_char(&bytes, '\0');
    head = (size_t)(strstr(bytes.data, " < 1 ") - bytes.data) - 8;
    for (int kind = RECORD_IN; kind <= RECORD_ASSESSOR_EVENT; kind++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            buf_clear(&out);
            buf_add(&out, bytes.data, head);
            record_encode(&out, RECORD_IN, 1, 1, "GE3", 3);
            record_encode(&out, (enum record_kind)kind, 2, 1, texts[i],
                          strlen(texts[i]));
            record_encode(&out, RECORD_IN, 3, 1, "PI", 2);
            CHECK_EQ(file_write("changed", out.data, out.len, &err), 0);
            read_with_all(2);
        }
    buf_fini(&out);
    buf_fini(&bytes);
}
