/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "import/import.h"
#include "json.h"
#include "manager/exchange.h"
#include "manager/imports.h"

#include <stdlib.h>
#include <string.h>

static const struct import_options options;

/* Reads one text as a file; what came of it is in *im. */
static int
read_text(struct import *im, const char *text, size_t len, struct err *err)
{
    CHECK_EQ(file_write("source", text, len, NULL), 0);
    import_init(im, &options);
    return import_source(im, "source", err);
}

/* Whatever came in, each line that came out is one of an import's. */
static void
check_lines(struct import *im)
{
    const char *at = buf_text(&im->lines);
    uint64_t n = 0;

    for (; *at != '\0'; n++) {
        size_t len = strcspn(at, "\n");
        struct json *doc = json_parse(at, len, JSON_NAN, NULL);
        struct jval v;

        CHECK(doc != NULL);
        CHECK(jval_get(json_root(doc), "parameter", &v));
        CHECK_EQ(jval_type(v), JSON_OBJECT);
        CHECK(jval_get(json_root(doc), "value", &v));
        json_free(doc);
        at += len + (at[len] == '\n');
    }
    CHECK_EQ(n, im->n);
}

static const char csv[] =
    "x,\"a \"\"b\"\"\",value\n0.5,\"u,v\n\",1\n,true,2\r\n"
    "1e-3,\"\",-3.5e2\n";
static const char journal[] =
    "{\"op_code\": 0, \"study_name\": \"s\", \"directions\": [2]}\n"
    "{\"op_code\": 4, \"study_id\": 0}\n"
    "{\"op_code\": 5, \"trial_id\": 0, \"param_name\": \"x\", "
    "\"param_value_internal\": 1, \"distribution\": \"{\\\"name\\\": "
    "\\\"CategoricalDistribution\\\", \\\"attributes\\\": {\\\"choices\\\": "
    "[1, \\\"b\\\"]}}\"}\n"
    "{\"op_code\": 6, \"trial_id\": 0, \"state\": 1, \"values\": [0.5]}\n"
    "{\"op_code\": 1, \"study_id\": 7}\n";

TEST(import_reads_cells_by_their_look)
{
    struct err err = {0};
    struct import im;

    CHECK_EQ(read_text(&im, csv, sizeof csv - 1, &err), 0);
    CHECK_STR(
        buf_text(&im.lines),
        "{\"parameter\": {\"x\": 0.5, \"a \\\"b\\\"\": \"u,v\\n\"}, \"value\": "
        "1.0, \"from\": \"source: line 2\"}\n"
        "{\"parameter\": {\"a \\\"b\\\"\": true}, \"value\": 2.0, \"from\": "
        "\"source: line 4\"}\n"
        "{\"parameter\": {\"x\": 1e-3, \"a \\\"b\\\"\": \"\"}, \"value\": "
        "-350.0, \"from\": \"source: line 5\"}\n");
    import_fini(&im);
}

TEST(import_reads_a_journal)
{
    struct err err = {0};
    struct import im;

    CHECK_EQ(read_text(&im, journal, sizeof journal - 1, &err), 0);
    CHECK_STR(buf_text(&im.lines),
              "{\"parameter\": {\"x\": \"b\"}, \"value\": 0.5, \"minimize\": "
              "false, \"from\": \"source: s, trial 0\"}\n");
    CHECK_EQ(im.n_left, 0);
    import_fini(&im);
}

TEST(import_counts_more_reasons_than_it_lists)
{
    struct import im;

    import_init(&im, &options);
    for (int i = 0; i < 100; i++)
        import_leave(&im, "reason %d", i);
    import_leave(&im, "reason %d", 3);
    CHECK_EQ(im.n_left, 101);
    CHECK_EQ(im.n_reasons, IMPORT_REASONS_MAX);
    CHECK_EQ(im.reasons[3].n, 2);
    CHECK_STR(im.reasons[IMPORT_REASONS_MAX - 1].text, "other reasons");
    CHECK_EQ(im.reasons[IMPORT_REASONS_MAX - 1].n,
             100 - (IMPORT_REASONS_MAX - 1));
    import_fini(&im);
}

typedef int import_reader(struct import *im, const char *text, struct err *err);

static void
survive(import_reader *reader, const char *good, size_t len)
{
    static const char swaps[] = "\"{}[],:\n\\0-9e\xff";
    char *text = malloc(len + 2);

    for (size_t at = 0; at < len; at++)
        for (size_t i = 0; i < sizeof swaps + 1; i++) {
            struct err err = {0};
            struct import im;
            size_t n = len;

            memcpy(text, good, len);
            if (i < sizeof swaps - 1)
                text[at] = swaps[i];
            else if (i == sizeof swaps - 1)
                n = at; /* cut */
            else
                memmove(text + at, text + at + 1, --n - at);
            text[n] = '\0';
            import_init(&im, &options);
            im.source = "source";
            if (reader(&im, text, &err) == 0)
                check_lines(&im);
            else
                CHECK(err.text[0] != '\0');
            import_fini(&im);
        }
    free(text);
}

TEST(import_survives_mutated_tables)
{
    survive(import_csv, csv, sizeof csv - 1);
}

TEST(import_survives_mutated_journals)
{
    survive(import_optuna_journal, journal, sizeof journal - 1);
}

/* Frames of about 1 MiB; those that the log has are not sent again. */
TEST(import_is_sent_in_parts)
{
    static const char line[] = "{\"parameter\": {\"x\": 0.5}, \"value\": 1}\n";
    size_t n = 60000;
    struct buf lines;
    struct exchange x;

    buf_init(&lines, SIZE_MAX / 2);
    for (size_t i = 0; i < n; i++)
        buf_add(&lines, line, sizeof line - 1);
    exchange_init(&x);
    exchange_base(&x, 0);
    imports_send(&x, buf_text(&lines), 0);
    CHECK_EQ(x.last, 3);
    CHECK(x.largest < (size_t)2 << 20);
    CHECK(memcmp(x.out.data, "FD", 2) == 0);
    CHECK(x.out.len > n * (sizeof line - 1));
    imports_send(&x, buf_text(&lines), 2);
    CHECK_EQ(x.last, 4);
    imports_send(&x, buf_text(&lines), 3);
    imports_send(&x, "", 0);
    CHECK_EQ(x.last, 4);
    exchange_close(&x);
    buf_fini(&lines);
}
