/* SPDX-License-Identifier: MIT */
/* What plugins write their shells with: tunepipe/shell.h. */
#include "tunepipe/shell.h"

#include "t.h"

#include <math.h>
#include <stdio.h>

struct fake {
    struct tp_host host;
    bool wants_to_know;
    int level, asked; /* how often explain was asked for nothing */
    char error[600], log[600], explained[600];
};

struct object {
    const struct tp_host *host;
    uint64_t n;
};

static void
fake_error(void *ctx, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(((struct fake *)ctx)->error, 600, fmt, ap);
    va_end(ap);
}

static void
fake_log(void *ctx, int level, const char *fmt, ...)
{
    struct fake *f = ctx;
    va_list ap;

    f->level = level;
    va_start(ap, fmt);
    vsnprintf(f->log, sizeof f->log, fmt, ap);
    va_end(ap);
}

static int
fake_explain(void *ctx, const char *fmt, ...)
{
    struct fake *f = ctx;
    va_list ap;

    if (fmt == NULL) {
        f->asked++;
        return f->wants_to_know;
    }
    va_start(ap, fmt);
    vsnprintf(f->explained, sizeof f->explained, fmt, ap);
    va_end(ap);
    return 1;
}

static struct fake *
fake_new(size_t size)
{
    struct fake *f = calloc(1, sizeof *f);

    f->host = (struct tp_host){
        ._struct_size = size,
        .ctx = f,
        .error = fake_error,
        .log = fake_log,
        .explain = fake_explain,
    };
    return f;
}

TEST(shell_error_is_one_line_as_it_stands)
{
    struct fake *f = fake_new(sizeof f->host);
    char text[700] = "";

    CHECK_EQ(tp_error(&f->host, "%s is %d, 100%%", "%s", 7), TP_ERR);
    CHECK_STR(f->error, "%s is 7, 100%");
    memset(text, 'x', sizeof text - 1);
    CHECK_EQ(tp_error(&f->host, "%s", text), TP_ERR);
    CHECK(strlen(f->error) >= 500 && strlen(f->error) < 600);
    CHECK_EQ(tp_out_of_memory(&f->host), TP_ERR);
    CHECK_STR(f->error, "out of memory");
    CHECK(tp_too_old(&f->host, "host->key()") == NULL);
    CHECK_STR(f->error, "this program is too old: it has no host->key()");
    f->error[0] = '\0';
    CHECK_EQ(tp_ok_unless(&f->host, NULL), TP_OK);
    CHECK_STR(f->error, "");
    CHECK_EQ(tp_ok_unless(&f->host, "90% is missing"), TP_ERR);
    CHECK_STR(f->error, "90% is missing");
    tp_log(&f->host, TP_LOG_WARNING, "%u of %s", 3u, "%n");
    CHECK_STR(f->log, "3 of %n");
    CHECK_EQ(f->level, TP_LOG_WARNING);
    free(f);
}

TEST(shell_explains_to_who_wants_to_know)
{
    struct fake *f = fake_new(sizeof f->host);

    tp_explain(&f->host, "value %g", 1.5);
    CHECK_STR(f->explained, "");
    CHECK(!tp_explains(&f->host));
    f->wants_to_know = true;
    CHECK(tp_explains(&f->host));
    tp_explain(&f->host, "value %g of %s", 1.5, "%s");
    CHECK_STR(f->explained, "value 1.5 of %s");
    CHECK_EQ(f->asked, 4);
    free(f);
}

/* The members behind the first hosts' are wild: none is looked at. */
TEST(shell_does_without_what_an_old_host_lacks)
{
    struct fake *f = fake_new(offsetof(struct tp_host, value));
    struct tp_element e = {._struct_size = 0};
    const double x = 1;
    uint64_t key[2];

    memset((char *)&f->host + f->host._struct_size, 0x5a,
           sizeof f->host - (size_t)f->host._struct_size);
    CHECK(!tp_explains(&f->host));
    tp_explain(&f->host, "nobody hears %d", 1);
    CHECK(isnan(tp_value_of(&f->host, 0, x)));
    CHECK_EQ(tp_key(&f->host, &x, key), TP_ERR);
    CHECK_EQ(tp_element_of(&f->host, 0, 0, &e), TP_ERR);
    CHECK_EQ(e._struct_size, sizeof e);
    tp_extra(&f->host, "key", "text");
    tp_decide(&f->host, 1, TP_STOP);
    CHECK_STR(f->error, "");
    free(f);
}

TEST(shell_new_object_is_zero_but_for_its_host)
{
    struct fake *f = fake_new(sizeof f->host);
    struct object *o = tp_new(&f->host, sizeof *o);

    CHECK(o->host == &f->host && o->n == 0);
    free(o);
    CHECK_STR(f->error, "");
    free(f);
}

TEST(shell_rows_are_arguments)
{
    static const struct tp_arg args[] = {
        TP_INT("steps", -2, -9, 1e9, "d"),
        TP_DOUBLE_OR_NULL("least", 0, 1, "d"),
        TP_BOOL("both", false, "d"),
        TP_ONE_OF("type", "ipop", "none|ipop", "d"),
        TP_MODE("minimize", "d"),
        TP_MODE_IGNORED,
        TP_SEED("of draws"),
    };
    struct {
        const struct tp_arg *args;
        size_t n, size;
    } table = {.args = TP_ARGS(args)};

    CHECK(table.args == args && table.n == 7 && table.size == sizeof *args);
    CHECK_STR(args[0].def, "-2");
    CHECK(args[0].low == -9 && args[0].high == 1e9 && !args[0].nullable);
    CHECK_EQ(args[0].type, TP_ARG_INT);
    CHECK_STR(args[1].def, "null");
    CHECK(args[1].nullable && args[1].type == TP_ARG_DOUBLE);
    CHECK_STR(args[2].def, "false");
    CHECK_EQ(args[2].type, TP_ARG_BOOL);
    CHECK_STR(args[3].def, "\"ipop\"");
    CHECK_STR(args[3].choices, "none|ipop");
    CHECK_STR(args[4].name, "optimize_mode");
    CHECK_STR(args[4].def, "\"minimize\"");
    CHECK(args[5].nullable && strcmp(args[5].def, "null") == 0);
    CHECK_STR(args[6].doc, "of draws; null: the experiment's");
    CHECK_EQ(args[6].type, TP_ARG_SEED);
}

TEST(shell_values_may_be_null)
{
    const struct tp_value null = {.is_null = 1, .integer = 3, .number = 3};
    const struct tp_value some = {.integer = 4, .number = 4.5, .text = "max"};

    CHECK(tp_integer_or(&null, 7) == 7 && tp_integer_or(&some, 7) == 4);
    CHECK(tp_number_or(&null, 7) == 7 && tp_number_or(&some, 7) == 4.5);
    CHECK(tp_text_or_null(&null) == NULL);
    CHECK_STR(tp_text_or_null(&some), "max");
    CHECK(tp_is(&some, "max") && !tp_is(&some, "maximize"));
    CHECK(!tp_is(&null, "max") && !tp_maximizes(&some));
}
