/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "json.h"
#include "space/space.h"

#include <string.h>

#define N 24

static const char nested[] =
    "{\"lr\": {\"_type\": \"loguniform\", \"_value\": [1e-4, 1]}, \"n\": "
    "{\"_type\": \"randint\", \"_value\": [0, 9]}, \"q\": {\"_type\": "
    "\"quniform\", \"_value\": [0, 1, 0.25]}, \"net\": {\"_type\": \"choice\", "
    "\"_value\": [{\"_name\": \"a\", \"u\": {\"_type\": \"normal\", "
    "\"_value\": [0, 1]}}, {\"_name\": \"b\", \"u\": {\"_type\": \"choice\", "
    "\"_value\": [1, \"two\", {\"three\": [4]}]}}]}}";

static struct space *
parse(const char *text, struct err *err)
{
    struct json *doc = json_parse(text, strlen(text), JSON_UNIQUE, err);
    struct problems problems;
    struct space *s = NULL;

    if (doc == NULL)
        return NULL;
    problems_init(&problems);
    s = space_parse(json_root(doc), &problems);
    json_free(doc);
    if (s == NULL && problems_check(&problems, err) == 0)
        err_set(err, ERR_INPUT, "no space and no problem");
    problems_fini(&problems);
    return s;
}

static int
there_and_back(const struct space *s, const struct space *other,
               struct err *err)
{
    double x[N], y[N];
    struct json *doc;
    struct buf out;
    int rc;

    space_sample(s, 1, 2, x);
    buf_init(&out, 10000);
    space_decode(s, x, &out);
    rc = buf_check(&out, "the parameters", err);
    doc = rc == 0 ? json_parse(out.data, out.len, JSON_STRICT, err) : NULL;
    rc = doc == NULL ? -1 : space_encode(s, json_root(doc), y, err);
    if (rc == 0)
        rc = space_project(s, x, other, y, err);
    json_free(doc);
    buf_fini(&out);
    return rc;
}

static int
whole(struct err *err)
{
    struct space *a = parse(nested, err);
    struct space *b = a == NULL ? NULL : parse(nested, err);
    int rc = b == NULL ? -1 : there_and_back(a, b, err);

    space_free(a);
    space_free(b);
    return rc;
}

static int
batch(struct err *err)
{
    struct space *s = parse("{\"b\": {\"_type\": \"choice\", \"_value\": "
                            "[{\"x\": 1}, {\"x\": 2}]}}",
                            err);
    int rc = s == NULL ? -1 : space_make_whole(s, err);

    space_free(s);
    return rc;
}

const struct torture_case torture_space[] = {
    {"space_nested", whole, 0}, {"space_batch", batch, 0}, {NULL, NULL, 0}};
