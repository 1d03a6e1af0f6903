/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "plugin/arguments.h"

static const struct tp_arg table[] = {
    {"count", TP_ARG_INT, 0, "20", 1, 100, NULL, "an integer"},
    {"net.rate", TP_ARG_DOUBLE, 1, "0.5", 0, 1, NULL, "a number"},
    {"net.deep.mode", TP_ARG_STRING, 0, "\"best\"", 0, 0, "best|mean|worst",
     "a word"},
    {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL, "a seed"},
    {"path", TP_ARG_STRING, 1, "\"p\"", 0, 0, NULL, "any text"},
};
#define N (sizeof table / sizeof *table)

static int
check_table(struct err *err)
{
    return arguments_check(table, N, err);
}

static int
write_all(struct jval object, struct problems *problems, struct err *err)
{
    struct arguments *a =
        arguments_parse(table, N, object, "classArgs", problems);
    struct buf out;
    int rc;

    if (a == NULL) {
        if (problems_check(problems, err) == 0)
            return err_set(err, ERR_INPUT, "no arguments and no problem");
        return -1;
    }
    buf_init(&out, 10000);
    arguments_write(a, &out);
    rc = buf_check(&out, "the arguments", err);
    buf_fini(&out);
    arguments_free(a);
    return rc;
}

static int
parse(struct err *err)
{
    static const char text[] = "{\"count\": 3, \"net\": {\"deep\": {\"mode\": "
                               "\"mean\"}}, \"seed\": 7}";
    struct json *doc = json_parse(text, sizeof text - 1, JSON_STRICT, err);
    struct problems problems;
    int rc;

    if (doc == NULL)
        return -1;
    problems_init(&problems);
    rc = write_all(json_root(doc), &problems, err);
    problems_fini(&problems);
    json_free(doc);
    return rc;
}

const struct torture_case torture_plugin[] = {{"plugin_table", check_table, 0},
                                              {"plugin_arguments", parse, 0},
                                              {NULL, NULL, 0}};
