/* SPDX-License-Identifier: MIT */
#include "check/spaces.h"

#include "core/buf.h"
#include "core/problems.h"
#include "json.h"
#include "space/space.h"

#include <string.h>

#define ONE(type, value) \
    "{\"p\": {\"_type\": \"" type "\", \"_value\": " value "}}"
#define U "{\"_type\": \"uniform\", \"_value\": [0, 1]}"
#define CHOICE(values) "{\"_type\": \"choice\", \"_value\": [" values "]}"

/* clang-format off */
static const struct {
    const char *title, *text;
} texts[] = {
    {"mixed",
     "{\"c\": " CHOICE("\"r\", \"s\", \"t\"") ", \"u\": " U ", "
     "\"n\": {\"_type\": \"normal\", \"_value\": [0, 1]}, "
     "\"q\": {\"_type\": \"quniform\", \"_value\": [1, 9, 2]}, "
     "\"l\": {\"_type\": \"loguniform\", \"_value\": [0.001, 10]}, "
     "\"i\": {\"_type\": \"randint\", \"_value\": [0, 100]}}"},
    {"choice", ONE("choice", "[1, \"b\", null, 2.5]")},
    {"randint", ONE("randint", "[-3, 4]")},
    {"uniform", ONE("uniform", "[-5, 5]")},
    {"quniform", ONE("quniform", "[0, 10, 2.5]")},
    {"loguniform", ONE("loguniform", "[0.0001, 1]")},
    {"qloguniform", ONE("qloguniform", "[1, 1000, 7]")},
    {"normal", ONE("normal", "[1, 2]")},
    {"qnormal", ONE("qnormal", "[1, 2, 0.5]")},
    {"lognormal", ONE("lognormal", "[1, 0.5]")},
    {"qlognormal", ONE("qlognormal", "[1, 0.5, 0.25]")},
    {"nested",
     "{\"net\": " CHOICE("{\"_name\": \"a\", \"u\": " U ", \"v\": " U "}, "
                         "{\"_name\": \"b\", \"w\": " U "}, "
                         "{\"_name\": \"c\"}") ", \"z\": " U "}"},
    {"nested three deep",
     "{\"a\": " CHOICE("{\"_name\": \"1\", \"b\": "
         CHOICE("{\"_name\": \"2\", \"c\": "
             CHOICE("{\"_name\": \"3\", \"u\": " U "}, {\"_name\": \"4\"}")
             "}, {\"_name\": \"5\"}")
         "}, {\"_name\": \"6\"}") "}"},
    {"a choice of one", "{\"c\": " CHOICE("7") "}"},
    {"quniform of one value",
     "{\"q\": {\"_type\": \"quniform\", \"_value\": [3, 3, 1]}}"},
    {"no dimensions", "{}"},
};
/* clang-format on */

static int
add(struct spaces *s, const char *title, const char *text, struct err *err)
{
    struct json *doc = json_parse(text, strlen(text), 0, err);
    struct problems problems;
    struct space *space;
    int rc = -1;

    if (doc == NULL)
        return -1;
    problems_init(&problems);
    space = space_parse(json_root(doc), &problems);
    if (space == NULL) {
        problems_check(&problems, err);
    } else {
        s->at[s->n].title = title;
        s->at[s->n++].space = space;
        rc = 0;
    }
    problems_fini(&problems);
    json_free(doc);
    return rc;
}

static int
add_thousand(struct spaces *s, struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, 1 << 20);
    buf_add_char(&text, '{');
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "%s\"d%d\": " U, i > 0 ? ", " : "", i);
    buf_add_char(&text, '}');
    rc = add(s, "a thousand dimensions", buf_text(&text), err);
    buf_fini(&text);
    return rc;
}

int
spaces_init(struct spaces *s, struct err *err)
{
    *s = (struct spaces){.n = 0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (add(s, texts[i].title, texts[i].text, err) != 0)
            return -1;
    if (add(s, "a choice without its name", ONE("choice", "[1, 2, 3]"), err) !=
            0 ||
        space_make_whole(s->at[s->n - 1].space, err) != 0)
        return -1;
    return add_thousand(s, err);
}

void
spaces_fini(struct spaces *s)
{
    for (size_t i = 0; i < s->n; i++)
        space_free(s->at[i].space);
    s->n = 0;
}
