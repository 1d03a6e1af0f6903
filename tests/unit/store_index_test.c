/* SPDX-License-Identifier: MIT */
#include "store_help.h"

#include <stdlib.h>

NOT_UNDER_TSAN;

#define TR(id, x)                                                         \
    "TR{\"parameter_id\": " #id ", \"parameter_source\": \"algorithm\", " \
    "\"parameters\": " x ", \"parameter_index\": 0}"
#define STARTED(job, id, attempt)                         \
    "NT{\"event\": \"started\", \"trial_job_id\": \"" job \
    "\", \"parameter_id\": " #id ", \"attempt\": " #attempt ", \"pid\": 7}"
#define EXITED(job, id, attempt, how)                       \
    "NT{\"event\": \"exited\", \"trial_job_id\": \"" job    \
    "\", \"parameter_id\": " #id ", \"attempt\": " #attempt \
    ", \"status\": \"" how "\"}"
#define METRIC(job, id, attempt, type, sequence, value)      \
    "ME{\"parameter_id\": " #id ", \"trial_job_id\": \"" job \
    "\", \"type\": \"" type "\", \"sequence\": " #sequence   \
    ", \"value\": \"" value "\", \"attempt\": " #attempt "}"
#define ENDED(job, event)                                   \
    "EN{\"trial_job_id\": \"" job "\", \"event\": \"" event \
    "\", \"hyper_params\": \"{}\"}"

#define FIRST "{\"z\": 0.5, \"layer\": {\"_name\": \"q\\\"\\n,\\u00e9\"}}"
#define SECOND "{\"z\": 1, \"Z\": true, \"status\": [1]}"

/* One that is retried, one that is stopped, one that never ends. */
static void
tell_story(void)
{
    tell(RECORD_IN, 1, "IN{}");
    tell(RECORD_TUNER, 1, "ID{}");
    tell(RECORD_IN, 2, "GE3");
    tell(RECORD_TUNER, 2, TR(0, FIRST));
    tell(RECORD_TUNER, 2, TR(1, SECOND));
    tell(RECORD_TUNER, 2, TR(2, "{\"z\": 2}"));
    tell(RECORD_TUNER, 2, TR(3, "{\"z\": 3}"));
    tell(RECORD_IN, 3, STARTED("00000", 0, 0));
    tell(RECORD_IN, 4, METRIC("00000", 0, 0, "PERIODICAL", 0, "NaN"));
    tell(RECORD_IN, 5, EXITED("00000", 0, 0, "signalled 9"));
    tell(RECORD_IN, 6, STARTED("00000", 0, 1));
    tell(RECORD_IN, 7, STARTED("00001", 1, 0));
    tell(RECORD_IN, 8,
         METRIC("00000", 0, 1, "PERIODICAL", 0,
                "{\\\"default\\\": 2.5, \\\"loss\\\": 1}"));
    tell(RECORD_IN, 9, METRIC("00001", 1, 0, "PERIODICAL", 0, "7"));
    tell(RECORD_ASSESSOR, 9, "KI\"00001\"");
    tell(RECORD_IN, 10, METRIC("00000", 0, 1, "FINAL", 0, "0.25"));
    tell(RECORD_IN, 10, METRIC("00000", 0, 1, "FINAL", 0, "0.25"));
    tell(RECORD_IN, 11, EXITED("00000", 0, 1, "exited 0"));
    tell(RECORD_IN, 12, ENDED("00000", "SUCCEEDED"));
    tell(RECORD_IN, 13, "NT{\"event\": \"device\", \"device\": 1}");
    tell(RECORD_SKIPPED, 13, "t why");
    tell(RECORD_IN, 14, ENDED("00001", "EARLY_STOPPED"));
    tell(RECORD_IN, 15, STARTED("00002", 2, 0));
    tell(RECORD_RESUMED, 15, "15 commands");
    tell(RECORD_END, 15, "terminated");
    result(
        "{\"trial\": \"00000\", \"parameter_id\": 0, \"seed\": "
        "18446744073709551615, \"status\": \"succeeded\", \"value\": 0.25, "
        "\"latest\": 2.5, \"duration_s\": 0.5, \"why\": \"\", "
        "\"ended_by\": \"itself\", \"intermediates\": 1, \"parameters\": " FIRST
        "}");
    result("{\"trial\": \"00001\", \"parameter_id\": 1, \"seed\": 2, "
           "\"status\": \"timed out\", \"value\": null, \"latest\": 7, "
           "\"duration_s\": 1.5, \"why\": \"slow\", \"ended_by\": \"clock\", "
           "\"intermediates\": 1, \"parameters\": " SECOND "}");
}

static const char *const tables[] = {
    "experiments", "trials",    "parameters", "names", "suggested",
    "attempts",    "metrics",   "decisions",  "notes", "meta",
    "v_best",      "v_metrics", "v_trials",
};

static void
dump(const struct sql *sql, struct buf *out)
{
    buf_init(out, 1 << 20);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char text[64];

        snprintf(text, sizeof text, "SELECT * FROM %s", tables[i]);
        buf_printf(out, "-- %s\n", tables[i]);
        ask(sql, text, out);
    }
}

TEST(store_index_tells_a_story)
{
    const struct sql *sql = load_sqlite();
    struct index_report report;
    struct stat st;

    make_folder();
    tell_story();
    write_all();
    report = update(sql, INDEX_ADD);
    CHECK(report.anew);
    CHECK_EQ(report.results, 2);
    CHECK_EQ(stat("x/" INDEX_FILE, &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    check_rows(sql,
               "SELECT trial, status, value, attempts, z, \"layer/_name\", "
               "\"Z (3)\", \"status (4)\" FROM v_trials",
               "00000|succeeded|0.25|2|0.5|q\"\n,\xc3\xa9|NULL|NULL\n"
               "00001|timed out|NULL|1|1|NULL|true|[1]\n"
               "00002|unended|NULL|1|2|NULL|NULL|NULL\n");
    check_rows(sql, "SELECT parameter_id, parameters FROM suggested",
               "3|{\"z\": 3}\n");
    check_rows(sql, "SELECT attempt, type, value, said FROM metrics",
               "0|intermediate|NULL|NaN\n"
               "1|final|0.25|NULL\n"
               "1|intermediate|2.5|{\"default\": 2.5, \"loss\": 1}\n"
               "0|intermediate|7.0|NULL\n");
    check_rows(sql, "SELECT trial, attempt, status FROM attempts",
               "00000|0|signalled 9\n00000|1|exited 0\n00001|0|NULL\n"
               "00002|0|NULL\n");
    check_rows(sql,
               "SELECT source, number, trial, who, what, why FROM "
               "decisions",
               "log|9|00001|assessor|stop|NULL\n"
               "results|2|00001|clock|timed out|slow\n");
    check_rows(sql, "SELECT kind, event, payload FROM notes",
               "<|device|{\"event\": \"device\", \"device\": 1}\n"
               "S|NULL|t why\nR|NULL|15 commands\nE|NULL|terminated\n");
    check_rows(sql, "SELECT seed, started_us, reason FROM experiments",
               "18446744073709551615|1700000000000000|NULL\n");
    check_rows(sql, "SELECT trial FROM v_best", "00000\n");
}

/* Cut anywhere, in either file: what is added bit by bit is what is read at
 * once. */
TEST(store_index_in_pieces_is_the_index)
{
    const struct sql *sql = load_sqlite();
    struct buf whole, pieces;
    size_t log_at, results_at;

    make_folder();
    tell_story();
    write_all();
    update(sql, INDEX_ANEW);
    dump(sql, &whole);
    CHECK(whole.len > 1000);
    for (unsigned seed = 1; seed <= 12; seed++) {
        srand(seed);
        CHECK_EQ(unlink("x/" INDEX_FILE), 0);
        log_at = results_at = 0;
        while (log_at < log_bytes.len || results_at < result_bytes.len) {
            log_at += (size_t)rand() % 900;
            results_at += (size_t)rand() % 300;
            if (log_at > log_bytes.len)
                log_at = log_bytes.len;
            if (results_at > result_bytes.len)
                results_at = result_bytes.len;
            if (log_at < 40) /* a log has its first line */
                log_at = 40;
            write_folder(log_at, results_at);
            update(sql, INDEX_ADD);
        }
        put_text("summary.json", "");
        dump(sql, &pieces);
        unlink("x/summary.json");
        CHECK_STR(buf_text(&pieces), buf_text(&whole));
        buf_fini(&pieces);
    }
    buf_fini(&whole);
}

/* Noted by the manager that adopted it: its exit file says when it began, and
 * is there when it has ended. */
TEST(store_index_dates_a_start_once_its_run_has_ended)
{
    const struct sql *sql = load_sqlite();
    struct buf followed, whole;
    char exit[128];
    size_t before;

    make_folder();
    tell(RECORD_TUNER, 2, TR(0, FIRST));
    tell(RECORD_IN, 3, "GE1");
    snprintf(exit, sizeof exit, "exited 0\nstarted_ns %lld\nended_ns %lld\n",
             (long long)(now_us - 500) * 1000,
             (long long)(now_us + 2500) * 1000);
    tell(RECORD_RESUMED, 3, "goes on");
    tell(RECORD_IN, 4, STARTED("00000", 0, 0));
    tell(RECORD_IN, 5, METRIC("00000", 0, 0, "PERIODICAL", 0, "7"));
    before = log_bytes.len;
    tell(RECORD_IN, 6, EXITED("00000", 0, 0, "exited 0"));
    write_folder(before, 0);
    update(sql, INDEX_ADD);
    check_rows(sql, "SELECT after_s FROM v_metrics", "0.001\n");
    mkdir("x/trials", 0700);
    mkdir("x/trials/00000", 0700);
    put_text("trials/00000/exit", exit);
    write_all();
    CHECK(!update(sql, INDEX_ADD).anew);
    check_rows(sql, "SELECT after_s FROM v_metrics", "0.0035\n");
    dump(sql, &followed);
    update(sql, INDEX_ANEW);
    dump(sql, &whole);
    CHECK_STR(buf_text(&followed), buf_text(&whole));
    buf_fini(&followed);
    buf_fini(&whole);
}

/* Nobody noted the end of the first attempt before the next one reported. */
TEST(store_index_leaves_no_attempt_open_behind_the_next_one)
{
    const struct sql *sql = load_sqlite();

    make_folder();
    tell(RECORD_IN, 1, STARTED("00000", 0, 0));
    tell(RECORD_IN, 2, METRIC("00000", 0, 1, "PERIODICAL", 0, "7"));
    write_all();
    update(sql, INDEX_ADD);
    check_rows(sql, "SELECT attempt, exited_us - started_us FROM attempts",
               "0|0\n");
}

/* It is a trial before its run begins; its parameters are not started yet. */
TEST(store_index_knows_a_trial_that_is_prepared)
{
    const struct sql *sql = load_sqlite();

    make_folder();
    tell(RECORD_TUNER, 2, TR(0, "{\"z\": 2}"));
    tell(RECORD_IN, 3,
         "NT{\"event\": \"preparing\", \"trial_job_id\": \"00000\", "
         "\"parameter_id\": 0, \"attempt\": 0}");
    write_all();
    update(sql, INDEX_ADD);
    check_rows(sql, "SELECT trial, status, attempts, z FROM v_trials",
               "00000|unended|1|2\n");
    check_rows(sql, "SELECT count(started_us) FROM trials", "0\n");
    check_rows(sql, "SELECT parameter_id FROM suggested", "0\n");
    tell(RECORD_IN, 4, STARTED("00000", 0, 0));
    write_all();
    update(sql, INDEX_ANEW);
    check_rows(sql, "SELECT count(started_us) FROM trials", "1\n");
    check_rows(sql, "SELECT parameter_id FROM suggested", "");
}

/* As `tunepipe show` has it: a result of many steps tells more. */
TEST(store_index_compares_those_of_the_greatest_budget)
{
    static const char *const parameters[] = {
        "{}", "{\"TRIAL_BUDGET\": 1}", "{\"TRIAL_BUDGET\": 9}",
        "{\"TRIAL_BUDGET\": 9}", "{\"TRIAL_BUDGET\": \"much\"}"};
    const struct sql *sql = load_sqlite();

    make_folder();
    for (unsigned i = 0; i < 5; i++) {
        char line[256];

        snprintf(line, sizeof line,
                 "{\"trial\": \"0000%u\", \"parameter_id\": %u, "
                 "\"status\": \"succeeded\", \"value\": 0.%u, "
                 "\"parameters\": %s}",
                 i, i, i == 2 ? 8 : i + 1, parameters[i]);
        result(line);
    }
    result("{\"trial\": \"00005\", \"status\": \"paused\", \"latest\": 0.7, "
           "\"intermediates\": 9, \"parameters\": {\"TRIAL_BUDGET\": 9}}");
    result("{\"trial\": \"00006\", \"status\": \"stopped\", \"latest\": 0.1, "
           "\"intermediates\": 9, \"parameters\": {\"TRIAL_BUDGET\": 9}}");
    write_all();
    update(sql, INDEX_ADD);
    check_rows(sql, "SELECT trial, value FROM v_best",
               "00003|0.4\n00005|0.7\n00002|0.8\n"
               "00001|0.2\n00000|0.1\n00004|0.5\n");
}

TEST(store_index_adds_what_is_new)
{
    const struct sql *sql = load_sqlite();
    struct index_report report;
    size_t begun;

    make_folder();
    begun = log_bytes.len;
    tell_story();
    write_folder(begun, 0);
    CHECK(update(sql, INDEX_ADD).anew);
    write_all();
    report = update(sql, INDEX_ADD);
    CHECK(!report.anew);
    CHECK_EQ(report.results, 2);
    report = update(sql, INDEX_CHECK);
    CHECK(!report.anew);
    CHECK_EQ(report.records + report.results, 0);
    put_text("summary.json", "{\"reason\": \"done\", \"duration_s\": 2, "
                             "\"ok\": true, \"over\": false}");
    CHECK(!update(sql, INDEX_ADD).anew);
    check_rows(sql, "SELECT reason, duration_s, ok, over FROM experiments",
               "done|2.0|1|0\n");
}

/* Whatever happened to it, the files are there. */
TEST(store_index_of_no_use_is_built_anew)
{
    const struct sql *sql = load_sqlite();
    struct index_report report;

    make_folder();
    tell_story();
    write_all();
    update(sql, INDEX_ADD);
    put_text(INDEX_FILE, "junk");
    report = update(sql, INDEX_ADD);
    CHECK(report.anew);
    CHECK_HAS(report.why, "not a database");
    put_text(INDEX_FILE, "");
    CHECK(update(sql, INDEX_ADD).anew);
    write_folder(log_bytes.len, result_bytes.len - 5); /* not appended to */
    report = update(sql, INDEX_ADD);
    CHECK(report.anew);
    CHECK_HAS(report.why, "no line that ends at");
    CHECK_EQ(report.results, 1);
    buf_fini(&log_bytes); /* another log */
    buf_fini(&result_bytes);
    now_us += 5;
    make_folder();
    tell_story();
    write_all();
    report = update(sql, INDEX_ADD);
    CHECK(report.anew);
    CHECK_HAS(report.why, "of the log");
    check_rows(sql, "SELECT count(*) FROM trials", "3\n");
}

/* The power failed, results were lost, and other ones of the same length were
 * written behind those that were left. */
TEST(store_index_of_other_results_of_the_same_length_is_built_anew)
{
    const struct sql *sql = load_sqlite();
    struct index_report report;
    char *at;

    make_folder();
    tell_story();
    write_all();
    CHECK(update(sql, INDEX_ADD).anew);
    buf_text(&result_bytes); /* with a NUL behind it */
    at = strrchr(result_bytes.data, ':');
    CHECK(at != NULL && strpbrk(at, "0123456789") != NULL);
    at = strpbrk(at, "0123456789");
    *at = *at == '9' ? '8' : '9';
    write_all();
    report = update(sql, INDEX_ADD);
    CHECK(report.anew);
    CHECK_HAS(report.why, "another line that ends at");
    CHECK(!update(sql, INDEX_ADD).anew);
}

static void
damage(const char *path, long at, size_t len)
{
    FILE *f = fopen(path, "r+");

    CHECK(f != NULL);
    CHECK_EQ(fseek(f, at, SEEK_SET), 0);
    for (size_t i = 0; i < len; i++)
        putc(0xa5, f);
    CHECK_EQ(fclose(f), 0);
}

TEST(store_index_that_is_damaged_is_built_anew)
{
    const struct sql *sql = load_sqlite();
    struct stat st;

    make_folder();
    tell_story();
    write_all();
    update(sql, INDEX_ADD);
    CHECK_EQ(stat("x/" INDEX_FILE, &st), 0);
    for (long page = 4096; page < st.st_size; page += 4096) {
        damage("x/" INDEX_FILE, page, 64);
        CHECK(update(sql, INDEX_CHECK).anew);
    }
    /* What SQLite left of the old one is none of the new one's. */
    put_text(INDEX_FILE "-journal", "left");
    update(sql, INDEX_ANEW);
    CHECK(access("x/" INDEX_FILE "-journal", F_OK) != 0);
    CHECK(access("x/" INDEX_FILE ".new", F_OK) != 0);
}

/* What stands before the damage, and the results. */
TEST(store_index_of_a_damaged_log)
{
    const struct sql *sql = load_sqlite();
    struct index_report report;
    struct err err = {0};
    struct index *ix;

    make_folder();
    tell_story();
    tell(RECORD_SYNC, 0, "");
    log_bytes.data[log_bytes.len / 2] ^= 1;
    write_all();
    ix = index_new(sql, "x", &err);
    for (int i = 0; i < 2; i++) { /* a new one, and one that is there */
        CHECK_EQ(index_update(ix, INDEX_ADD, &report, &err), -1);
        CHECK_EQ(err.code, ERR_LOG);
        CHECK_EQ(report.anew, i == 0);
        check_rows(sql, "SELECT trial, status FROM trials WHERE ended > 0",
                   "00000|succeeded\n00001|timed out\n");
        check_rows(sql, "SELECT count(*) FROM attempts WHERE trial = '00000'",
                   "2\n");
    }
    index_free(ix);
}

TEST(store_index_wants_an_experiment)
{
    struct err err = {0};

    CHECK(index_new(NULL, ".", &err) == NULL);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_HAS(err.text, "folder");
}

TEST(store_index_has_values_and_the_front)
{
    const struct sql *sql = load_sqlite();
    size_t half;

    make_folder();
    give_objectives();
    add_several();
    half = strchr(strchr(result_bytes.data, '\n') + 1, '\n') + 1 -
           result_bytes.data;
    write_folder(log_bytes.len, half);
    update(sql, INDEX_ADD);
    check_rows(sql, "SELECT trial, ms, acc FROM pareto", "00000|4.0|0.5\n");
    write_all();
    update(sql, INDEX_ADD);
    check_rows(sql, "SELECT trial, ms, acc, violation FROM pareto",
               "00000|4.0|0.5|0.0\n00002|2.0|0.25|0.0\n");
    check_rows(sql,
               "SELECT group_concat(name) FROM pragma_table_info('v_trials') "
               "WHERE cid > 10",
               "acc,ms,z,z (4)\n");
    check_rows(sql,
               "SELECT name, value FROM reported WHERE trial = '00000' "
               "ORDER BY name",
               "acc|0.5\nms|4.0\nz|3.0\n");
    check_rows(sql,
               "SELECT reported, violation FROM trials WHERE trial = "
               "'00003'",
               "{\"ms\": 9.0, \"acc\": 1.0}|0.125\n");
}
