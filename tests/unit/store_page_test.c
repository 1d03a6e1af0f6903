/* SPDX-License-Identifier: MIT */
#include "store_help.h"

#include "history/folder.h"
#include "manager/results.h"
#include "store/columns.h"
#include "store/csv.h"
#include "store/export.h"
#include "store/page.h"

#include <stdlib.h>

NOT_UNDER_TSAN;

TEST(store_csv_quotes_what_would_not_be_read_back)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", ""},           {"a b", "a b"},       {"a,b", "\"a,b\""},
        {"\"", "\"\"\"\""}, {"a\nb", "\"a\nb\""}, {"\r", "\"\r\""},
        {" a", "\" a\""},   {"a ", "\"a \""},     {"\xc3\xa9", "\xc3\xa9"},
        {"'", "'"},
    };
    struct buf b;
    struct csv csv = {.out = &b};

    buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_clear(&b);
        csv_text(&csv, cases[i].text);
        CHECK_STR(buf_text(&b), cases[i].want);
        csv_end(&csv);
    }
    buf_clear(&b);
    csv_text(&csv, NULL);
    csv_text(&csv, "");
    csv_field(&csv, "abc", 1);
    csv_end(&csv);
    csv_text(&csv, "x");
    CHECK_STR(buf_text(&b), ",,a\nx");
    buf_fini(&b);
}

TEST(store_csv_that_is_safe_runs_nothing)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"=1+1", "'=1+1"},
        {"+x", "'+x"},
        {"-y", "'-y"},
        {"@z", "'@z"},
        {"\t=1", "'\t'=1"},
        {"\r1", "\"'\r1\""},
        {"\n1", "\"'\n1\""},
        {"\xef\xbc\x9d"
         "1",
         "'\xef\xbc\x9d"
         "1"},
        {"\xef\xbc\x8b\xef\xbc\x8d", "'\xef\xbc\x8b\xef\xbc\x8d"},
        {"\xef\xbc\xa0", "'\xef\xbc\xa0"},
        {"a;=1", "a;'=1"},               /* cells where a ';' separates them */
        {"a;\"=1;b", "\"a;'\"\"=1;b\""}, /* one in quotes */
        {"\"=1", "\"\"\"=1\""},
        {"a;b", "a;b"},
        {";", ";"},
        {"a\n=1,b", "\"a\n'=1,b\""},
        {"a=1", "a=1"},
        {"-1.5", "-1.5"},
        {"+1e3", "+1e3"},
        {"-1.5.2", "'-1.5.2"},
        {"-", "'-"},
        {"", ""},
        {"x\xe2\x80\xaey\033", "x?y?"},
        {"\xe2\x80\x8b=1", "?=1"},
    };
    struct buf b;
    struct csv csv = {.out = &b, .safe = true};

    buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_clear(&b);
        csv.begun = false;
        csv_text(&csv, cases[i].text);
        CHECK_STR(buf_text(&b), cases[i].want);
    }
    buf_fini(&b);
}

/* What only people need is done to no table for programs. */
TEST(store_csv_is_as_it_is_unless_it_is_to_be_safe)
{
    static const char text[] = "=x\xe2\x80\xae\t";
    struct buf b;
    struct csv csv = {.out = &b};

    buf_init(&b, 1000);
    csv_text(&csv, text);
    CHECK_STR(buf_text(&b), text);
    buf_fini(&b);
}

TEST(store_columns_are_in_the_order_of_the_space)
{
    static const char *const names[] = {
        "more", "a", "layer/slope", "z", "layer/_name", "a/b", "else"};
    static const char *const want[] = {"z",   "layer/_name", "layer/slope", "a",
                                       "a/b", "else",        "more"};
    struct columns c = {0};

    make_folder();
    for (size_t i = 0; i < 7; i++)
        CHECK_EQ(columns_add(&c, names[i], NULL), 0);
    CHECK_EQ(columns_sort(&c, "x", NULL), 0);
    for (size_t i = 0; i < 7; i++)
        CHECK_STR(c.names[i], want[i]);
    CHECK_EQ(columns_sort(&c, "absent", NULL), 0);
    CHECK_STR(c.names[0], "a");
    columns_fini(&c);
}

static void
add_results(size_t first, size_t n)
{
    static const char *const statuses[] = {
        "succeeded", "failed", "stopped", "lost", "out of memory", "paused"};
    static const char *const budgets[] = {"", ", \"TRIAL_BUDGET\": 3",
                                          ", \"TRIAL_BUDGET\": 9"};

    for (size_t i = 0; i < n; i++) {
        char line[400], value[32] = "null", latest[32] = "null";

        if (rand() % 4 != 0)
            snprintf(value, sizeof value, "%d.5", rand() % 20);
        if (rand() % 2 != 0)
            snprintf(latest, sizeof latest, "%d.25", rand() % 20);
        snprintf(line, sizeof line,
                 "{\"trial\": \"%05zu\", \"parameter_id\": \"p\\\"%zu\", "
                 "\"seed\": %zu, \"status\": \"%s\", \"value\": %s, "
                 "\"latest\": %s, \"duration_s\": %d.25, \"why\": \"\", "
                 "\"ended_by\": \"itself\", \"intermediates\": %d, "
                 "\"parameters\": {\"z\": %zu.5%s}}",
                 first + (i * 7) % n, i, i, statuses[rand() % 6], value, latest,
                 rand() % 9, rand() % 12, i, budgets[rand() % 3]);
        result(line);
    }
}

/* The two ways to a page are one to who reads it. */
static void
compare_pages(const struct sql *sql, const struct page_want *want)
{
    struct results *r = results_load("x", RESULTS_ALL, NULL);
    struct page a, b;

    CHECK(r != NULL);
    CHECK_EQ(page_of_results(&a, r, want, NULL), 0);
    CHECK_EQ(page_of_database(&b, sql, "x", want, NULL), 0);
    CHECK_EQ(a.total, b.total);
    CHECK_EQ(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        CHECK_STR(b.rows[i]->trial, a.rows[i]->trial);
        CHECK_STR(b.rows[i]->status, a.rows[i]->status);
        CHECK_STR(b.rows[i]->parameter_id, a.rows[i]->parameter_id);
        CHECK_STR(b.rows[i]->parameters, a.rows[i]->parameters);
        CHECK_EQ(b.rows[i]->has_value, a.rows[i]->has_value);
        CHECK(b.rows[i]->value == a.rows[i]->value);
        CHECK(b.rows[i]->budget == a.rows[i]->budget);
        CHECK_EQ(b.rows[i]->seed, a.rows[i]->seed);
    }
    page_fini(&a);
    page_fini(&b);
    results_free(r);
}

TEST(store_pages_of_files_and_of_the_database_are_the_same)
{
    static const char *const statuses[] = {NULL, "failed", "no such"};
    const struct sql *sql = load_sqlite();
    struct page_want want;
    struct page p;

    srand(7);
    make_folder();
    add_results(99990, 61);
    write_all();
    put_text(FOLDER_INTERRUPTED, /* no end */
             "{\"trial\": \"00001\", \"status\": \"interrupted\"}\n");
    want = (struct page_want){.number = 1, .per_page = 10};
    CHECK_EQ(page_of_database(&p, sql, "x", &want, NULL), 1); /* none */
    update(sql, INDEX_ADD);
    for (size_t s = 0; s < 3; s++)
        for (int sort = PAGE_VALUE; sort <= PAGE_DURATION; sort++)
            for (uint64_t page = 1; page <= 8; page++) {
                want = (struct page_want){page, 10, (enum page_sort)sort,
                                          statuses[s]};
                compare_pages(sql, &want);
            }
    want = (struct page_want){1, 1, PAGE_VALUE, NULL};
    add_results(200000, 3); /* it is brought up to date */
    write_all();
    compare_pages(sql, &want);
}

TEST(store_page_of_a_database_that_is_damaged_says_so_or_is_right)
{
    const struct page_want want = {1, 5, PAGE_VALUE, NULL};
    const struct sql *sql = load_sqlite();

    make_folder();
    add_results(0, 9);
    write_all();
    update(sql, INDEX_ADD);
    put_text(INDEX_FILE, "junk");
    compare_pages(sql, &want);
}

/* Reads what was written to the file, which is forgotten. */
static const char *
written(FILE *f, struct buf *out)
{
    CHECK_EQ(fclose(f), 0);
    buf_init(out, 1 << 24);
    CHECK_EQ(file_read("out", 1 << 23, out, NULL), 0);
    return buf_text(out);
}

static const char nasty[] =
    "{\"trial\": \"00000\", \"status\": \"succeeded\", \"value\": 1e-05, "
    "\"latest\": null, \"duration_s\": 0.5, \"why\": \"a, b\", "
    "\"parameters\": {\"a\": \"q\\\"\\n,\\u00e9\", \"b,c\": null, \"z\": true}}";

TEST(store_exports_nasty_parameters)
{
    struct err err = {0};
    uint64_t damaged;
    struct buf text;
    FILE *out;

    make_folder();
    tell(RECORD_IN, 1,
         "NT{\"event\": \"started\", \"trial_job_id\": "
         "\"00000\", \"attempt\": 2}");
    result(nasty);
    result("junk");
    buf_add_text(&result_bytes, "{\"trial\": \"not there yet");
    write_all();
    out = fopen("out", "w");
    CHECK_EQ(export_trials(out, EXPORT_CSV, "x", &damaged, &err), 0);
    CHECK_EQ(damaged, 1);
    CHECK_STR(written(out, &text),
              "trial,status,value,latest,duration_s,attempts,intermediates,"
              "ended_by,why,from,from_how,z,a,\"b,c\"\n"
              "00000,succeeded,1e-05,,0.5,3,,,\"a, b\",,,true,"
              "\"q\"\"\n,\xc3\xa9\",null\n");
    buf_fini(&text);
    out = fopen("out", "w");
    CHECK_EQ(export_trials(out, EXPORT_JSON, "x", &damaged, &err), 0);
    written(out, &text);
    CHECK_EQ(strncmp(buf_text(&text), "[\n{\"trial\": \"00000\", ", 20), 0);
    CHECK_HAS(buf_text(&text), "\"z\": true}, \"attempts\": 3}\n]\n");
    buf_fini(&text);
}

#define METRIC(attempt, sequence, value)                               \
    "ME{\"parameter_id\": 0, \"trial_job_id\": \"00000\", \"type\": "  \
    "\"PERIODICAL\", \"sequence\": " #sequence ", \"value\": \"" value \
    "\", \"attempt\": " #attempt "}"

/* What was told twice is one. */
TEST(store_exports_intermediates)
{
    struct err err = {0};
    struct buf text;
    FILE *out;

    make_folder();
    now_us = 1700000000000000;
    tell(RECORD_IN, 1, METRIC(0, 0, "0.5"));
    tell(RECORD_IN, 2, METRIC(0, 0, "0.5"));
    tell(RECORD_IN, 3, METRIC(0, 1, "-Infinity"));
    tell(RECORD_IN, 4, METRIC(1, 0, "{\\\"default\\\": 2, \\\"a\\\": 1}"));
    write_all();
    out = fopen("out", "w");
    CHECK_EQ(export_metrics(out, EXPORT_CSV, "x", &err), 0);
    CHECK_STR(written(out, &text),
              "trial,attempt,type,sequence,value,said,time_us\n"
              "00000,0,intermediate,0,0.5,,1700000000001000\n"
              "00000,0,intermediate,1,-Infinity,-Infinity,1700000000003000\n"
              "00000,1,intermediate,0,2.0,\"{\"\"default\"\": 2, \"\"a\"\": "
              "1}\",1700000000004000\n");
    buf_fini(&text);
    out = fopen("out", "w");
    CHECK_EQ(export_metrics(out, EXPORT_JSON, "x", &err), 0);
    CHECK_HAS(written(out, &text), "\"value\": null, \"said\": \"-Infinity\"");
    buf_fini(&text);
}

TEST(store_export_of_nothing)
{
    struct err err = {0};
    uint64_t damaged;
    struct buf text;
    FILE *out;

    make_folder();
    write_all();
    out = fopen("out", "w");
    CHECK_EQ(export_trials(out, EXPORT_JSON, "x", &damaged, &err), 0);
    CHECK_STR(written(out, &text), "[\n]\n");
    buf_fini(&text);
    out = fopen("out", "w");
    CHECK_EQ(export_metrics(out, EXPORT_JSON, "x", &err), 0);
    CHECK_STR(written(out, &text), "[\n]\n");
    buf_fini(&text);
    log_bytes.data[log_bytes.len - 3] ^= 1; /* it is cut off there */
    write_all();
    out = fopen("out", "w");
    CHECK_EQ(export_metrics(out, EXPORT_CSV, "x", &err), 0);
    CHECK_HAS(written(out, &text), "trial,attempt");
    buf_fini(&text);
}
