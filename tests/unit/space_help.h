/* SPDX-License-Identifier: MIT */
/* space_help.h - what the tests of src/space share.  JSON stands in single
 * quotes, for legibility.  Nothing returned needs to be freed: a test is a
 * process; but what is freed here is, so that the leak checker has a say. */
#ifndef TESTS_SPACE_HELP_H
#define TESTS_SPACE_HELP_H

#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "json.h"
#include "space/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, X_MAX = 64 };

struct line {
    char text[LINE_MAX_BYTES];
};

static inline struct json *
help_json(const char *quoted)
{
    char *text = strdup(quoted);
    struct json *doc;
    struct err err;

    for (char *p = text; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    doc = json_parse(text, strlen(text), JSON_NAN, &err);
    if (doc == NULL)
        printf("# %s\n", err.text);
    CHECK(doc != NULL);
    free(text);
    return doc;
}

/* Parses; `told` receives the problems. */
static inline struct space *
help_try(const char *quoted, struct line *told, size_t *count)
{
    struct json *doc = help_json(quoted);
    struct problems problems;
    struct space *s;

    problems_init(&problems);
    s = space_parse(json_root(doc), &problems);
    json_free(doc);
    snprintf(told->text, sizeof told->text, "%s", buf_text(&problems.lines));
    *count = problems.count;
    problems_fini(&problems);
    return s;
}

static inline struct space *
help_space(const char *quoted)
{
    struct line told;
    size_t count;
    struct space *s = help_try(quoted, &told, &count);

    CHECK_STR(told.text, "");
    CHECK(s != NULL && count == 0);
    CHECK(space_dims(s)->n_dims <= X_MAX);
    return s;
}

static inline struct line
help_decode(const struct space *s, const double *x)
{
    struct line out;
    struct buf b;
    struct err err = {0};
    int rc = space_check(s, x, &err);

    CHECK_STR(err.text, "");
    CHECK_EQ(rc, 0);
    buf_init(&b, sizeof out.text - 1);
    space_decode(s, x, &b);
    snprintf(out.text, sizeof out.text, "%s", buf_text(&b));
    buf_fini(&b);
    return out;
}

static inline int
help_encode(const struct space *s, const char *quoted, double *x,
            struct err *err)
{
    struct json *doc = help_json(quoted);
    int rc = space_encode(s, json_root(doc), x, err);

    json_free(doc);
    return rc;
}

#endif
