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
#define ONE_MULTIPLE "{\"_type\": \"qloguniform\", \"_value\": [1, 2, 50]}"
#define X(type, value) "\"x\": {\"_type\": \"" type "\", \"_value\": " value "}"

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
    {"qrandint", ONE("qrandint", "[-3, 20, 4]")},
    {"lograndint", ONE("lograndint", "[1, 1025]")},
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

static const struct {
    const char *title, *text;
    bool may_fail;
} extremes[] = {
    {"values too large beside a uniform",
     "{" X("lognormal", "[1000, 10]") ", \"u\": " U "}", true},
    {"values too small beside a uniform",
     "{\"u\": " U ", " X("lognormal", "[-1000, 10]") "}", true},
    {"values too large alone", "{" X("lognormal", "[1000, 0]") "}", true},
    {"hardly a value that is not too large",
     "{" X("lognormal", "[720, 2]") ", \"u\": " U "}", true},
    {"multiples too large",
     "{" X("qlognormal", "[1000, 10, 1]") ", \"u\": " U "}", true},
    {"multiples too large for a few",
     "{" X("qnormal", "[0, 1e308, 1e300]") "}", true},
    {"a normal beyond the doubles",
     "{" X("normal", "[1e308, 1e308]") ", \"c\": " CHOICE("1, 2") "}", true},
    {"values too large in a branch",
     "{\"c\": " CHOICE("{\"_name\": \"a\", " X("lognormal", "[1000, 10]") "}, "
                       "{\"_name\": \"b\"}") ", \"u\": " U "}", true},
    {"all multiples are 0",
     "{" X("qlognormal", "[-1000, 10, 1]") "}", false},
    {"the widest ranges",
     "{\"l\": {\"_type\": \"loguniform\", "
     "\"_value\": [5e-324, 1.7e308]}, "
     "\"q\": {\"_type\": \"quniform\", \"_value\": [0, 1e308, 1e-10]}, "
     "\"i\": {\"_type\": \"randint\", \"_value\": [0, 9007199254740991]}, "
     "\"li\": {\"_type\": \"lograndint\", \"_value\": [1, 1099511627776]}, "
     X("uniform", "[-8e307, 8e307]") "}", false},
    {"two neighbouring doubles",
     "{" X("uniform", "[1, 1.0000000000000002]") "}", false},
    {"one value of each kind",
     "{\"u\": {\"_type\": \"uniform\", \"_value\": [3, 3]}, "
     "\"qu\": {\"_type\": \"quniform\", \"_value\": [3, 3, 2]}, "
     "\"lu\": {\"_type\": \"loguniform\", \"_value\": [3, 3]}, "
     "\"ql\": {\"_type\": \"qloguniform\", \"_value\": [3, 3, 2]}, "
     "\"n\": {\"_type\": \"normal\", \"_value\": [3, 0]}, "
     "\"qn\": {\"_type\": \"qnormal\", \"_value\": [3, 0, 2]}, "
     "\"ln\": {\"_type\": \"lognormal\", \"_value\": [3, 0]}, "
     "\"qln\": {\"_type\": \"qlognormal\", \"_value\": [3, 0, 2]}, "
     "\"i\": {\"_type\": \"randint\", \"_value\": [3, 4]}, "
     "\"qi\": {\"_type\": \"qrandint\", \"_value\": [3, 5, 2]}, "
     "\"li\": {\"_type\": \"lograndint\", \"_value\": [3, 4]}, "
     "\"c\": " CHOICE("3") "}", false},
    {"q above the range",
     "{\"u\": {\"_type\": \"quniform\", \"_value\": [0, 1, 50]}, "
     "\"lu\": {\"_type\": \"qloguniform\", \"_value\": [1, 2, 50]}, "
     "\"n\": {\"_type\": \"qnormal\", \"_value\": [0, 1, 50]}, "
     "\"ln\": {\"_type\": \"qlognormal\", \"_value\": [0, 0.1, 50]}}", false},
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
        s->at[s->n].may_fail = false;
        s->at[s->n++].space = space;
        rc = 0;
    }
    problems_fini(&problems);
    json_free(doc);
    return rc;
}

/* n parameters that are all ENTRY. */
static int
add_many(struct spaces *s, int n, const char *entry, const char *title,
         struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, 1 << 20);
    buf_add_char(&text, '{');
    for (int i = 0; i < n; i++)
        buf_printf(&text, "%s\"d%d\": %s", i > 0 ? ", " : "", i, entry);
    buf_add_char(&text, '}');
    rc = add(s, title, buf_text(&text), err);
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
    return add_many(s, 1000, U, "a thousand dimensions", err);
}

int
spaces_init_extreme(struct spaces *s, struct err *err)
{
    *s = (struct spaces){.n = 0};
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        if (add(s, extremes[i].title, extremes[i].text, err) != 0)
            return -1;
        s->at[s->n - 1].may_fail = extremes[i].may_fail;
    }
    if (add_many(s, 20, CHOICE("7, 7, 7"), "twenty choices of equals", err) !=
            0 ||
        add_many(s, 20, ONE_MULTIPLE, "twenty ranges of one multiple", err) !=
            0)
        return -1;
    s->at[s->n - 2].may_fail = s->at[s->n - 1].may_fail = true;
    return 0;
}

void
spaces_fini(struct spaces *s)
{
    for (size_t i = 0; i < s->n; i++)
        space_free(s->at[i].space);
    s->n = 0;
}
