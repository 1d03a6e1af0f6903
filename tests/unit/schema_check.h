/* SPDX-License-Identifier: MIT */
/* schema_check.h - whether a value conforms to a JSON Schema: as much of a
 * validator as ours needs.  A keyword that it does not know fails the test. */
#ifndef TESTS_SCHEMA_CHECK_H
#define TESTS_SCHEMA_CHECK_H

#include "t.h"

#include "json.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

struct checker {
    struct jval root;
};

typedef bool keyword(const struct checker *c, struct jval rule,
                     struct jval schema, struct jval v);
static bool conforms(const struct checker *c, struct jval schema,
                     struct jval v);

static bool
text_is(struct jval v, const char *want)
{
    const char *text;

    return jval_string(v, &text, NULL) && strcmp(text, want) == 0;
}

static bool
is_of_type(struct jval name, struct jval v)
{
    static const struct {
        const char *name;
        unsigned types;
    } all[] = {
        {"null", 1u << JSON_NULL},
        {"boolean", 1u << JSON_BOOL},
        {"integer", 1u << JSON_INT | 1u << JSON_UINT},
        {"number", 1u << JSON_INT | 1u << JSON_UINT | 1u << JSON_DOUBLE},
        {"string", 1u << JSON_STRING},
        {"array", 1u << JSON_ARRAY},
        {"object", 1u << JSON_OBJECT},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (text_is(name, all[i].name))
            return (all[i].types >> jval_type(v) & 1) != 0;
    CHECK(false);
    return false;
}

static bool
on_type(const struct checker *c, struct jval rule, struct jval schema,
        struct jval v)
{
    (void)c, (void)schema;
    if (jval_type(rule) != JSON_ARRAY)
        return is_of_type(rule, v);
    for (size_t i = 0; i < jval_count(rule); i++)
        if (is_of_type(jval_at(rule, i), v))
            return true;
    return false;
}

static bool
on_enum(const struct checker *c, struct jval rule, struct jval schema,
        struct jval v)
{
    (void)c, (void)schema;
    for (size_t i = 0; i < jval_count(rule); i++)
        if (jval_equal(jval_at(rule, i), v))
            return true;
    return false;
}

static bool
on_const(const struct checker *c, struct jval rule, struct jval schema,
         struct jval v)
{
    (void)c, (void)schema;
    return jval_equal(rule, v);
}

/* "#/A/B" */
static bool
on_ref(const struct checker *c, struct jval rule, struct jval schema,
       struct jval v)
{
    struct jval at = c->root;
    const char *path;
    char name[128];

    (void)schema;
    CHECK(jval_string(rule, &path, NULL));
    CHECK_EQ(path[0], '#');
    for (path++; *path == '/'; path += strlen(name)) {
        path++;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "/"), path);
        CHECK(jval_get(at, name, &at));
    }
    return conforms(c, at, v);
}

static bool
on_not(const struct checker *c, struct jval rule, struct jval schema,
       struct jval v)
{
    (void)schema;
    return !conforms(c, rule, v);
}

static size_t
conforming(const struct checker *c, struct jval rule, struct jval v)
{
    size_t n = 0;

    for (size_t i = 0; i < jval_count(rule); i++)
        n += conforms(c, jval_at(rule, i), v);
    return n;
}

static bool
on_any_of(const struct checker *c, struct jval rule, struct jval schema,
          struct jval v)
{
    (void)schema;
    return conforming(c, rule, v) > 0;
}

static bool
on_all_of(const struct checker *c, struct jval rule, struct jval schema,
          struct jval v)
{
    (void)schema;
    return conforming(c, rule, v) == jval_count(rule);
}

static bool
on_required(const struct checker *c, struct jval rule, struct jval schema,
            struct jval v)
{
    (void)c, (void)schema;
    for (size_t i = 0; i < jval_count(rule); i++) {
        const char *name;
        struct jval found;

        CHECK(jval_string(jval_at(rule, i), &name, NULL));
        if (jval_type(v) == JSON_OBJECT && !jval_get(v, name, &found))
            return false;
    }
    return true;
}

static bool
on_properties(const struct checker *c, struct jval rule, struct jval schema,
              struct jval v)
{
    struct jval_iter it = jval_iter(v);
    struct jval inner;

    (void)schema;
    while (jval_type(v) == JSON_OBJECT && jval_next(&it))
        if (jval_get(rule, it.key, &inner) && !conforms(c, inner, it.value))
            return false;
    return true;
}

static bool
on_additional(const struct checker *c, struct jval rule, struct jval schema,
              struct jval v)
{
    struct jval_iter it = jval_iter(v);
    struct jval properties, known;
    bool allowed, named = jval_get(schema, "properties", &properties);

    while (jval_type(v) == JSON_OBJECT && jval_next(&it)) {
        if (named && jval_get(properties, it.key, &known))
            continue;
        if (jval_bool(rule, &allowed) ? !allowed : !conforms(c, rule, it.value))
            return false;
    }
    return true;
}

static bool
on_items(const struct checker *c, struct jval rule, struct jval schema,
         struct jval v)
{
    (void)schema;
    for (size_t i = 0; jval_type(v) == JSON_ARRAY && i < jval_count(v); i++)
        if (!conforms(c, rule, jval_at(v, i)))
            return false;
    return true;
}

static bool
on_minimum(const struct checker *c, struct jval rule, struct jval schema,
           struct jval v)
{
    double least, is;

    (void)c, (void)schema;
    CHECK(jval_number(rule, &least));
    return !jval_number(v, &is) || is >= least;
}

static bool
on_exclusive(const struct checker *c, struct jval rule, struct jval schema,
             struct jval v)
{
    double least, is;

    (void)c, (void)schema;
    CHECK(jval_number(rule, &least));
    return !jval_number(v, &is) || is > least;
}

static bool
on_maximum(const struct checker *c, struct jval rule, struct jval schema,
           struct jval v)
{
    double most, is;

    (void)c, (void)schema;
    CHECK(jval_number(rule, &most));
    return !jval_number(v, &is) || is <= most;
}

static bool
on_max_items(const struct checker *c, struct jval rule, struct jval schema,
             struct jval v)
{
    uint64_t most;

    (void)c, (void)schema;
    CHECK(jval_uint(rule, &most));
    return jval_type(v) != JSON_ARRAY || jval_count(v) <= most;
}

static bool
on_min_length(const struct checker *c, struct jval rule, struct jval schema,
              struct jval v)
{
    uint64_t least;
    size_t len;
    const char *text;

    (void)c, (void)schema;
    CHECK(jval_uint(rule, &least));
    return !jval_string(v, &text, &len) || len >= least;
}

static bool
on_pattern(const struct checker *c, struct jval rule, struct jval schema,
           struct jval v)
{
    const char *pattern, *text;
    regex_t re;
    bool fits;

    (void)c, (void)schema;
    CHECK(jval_string(rule, &pattern, NULL));
    if (!jval_string(v, &text, NULL))
        return true;
    CHECK_EQ(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
    fits = regexec(&re, text, 0, NULL, 0) == 0;
    regfree(&re);
    return fits;
}

static bool
on_words(const struct checker *c, struct jval rule, struct jval schema,
         struct jval v)
{
    (void)c, (void)rule, (void)schema, (void)v;
    return true;
}

static const struct {
    const char *name;
    keyword *holds;
} keywords[] = {
    {"type", on_type},
    {"enum", on_enum},
    {"const", on_const},
    {"$ref", on_ref},
    {"not", on_not},
    {"anyOf", on_any_of},
    {"allOf", on_all_of},
    {"required", on_required},
    {"properties", on_properties},
    {"additionalProperties", on_additional},
    {"items", on_items},
    {"minimum", on_minimum},
    {"exclusiveMinimum", on_exclusive},
    {"maximum", on_maximum},
    {"minLength", on_min_length},
    {"maxItems", on_max_items},
    {"pattern", on_pattern},
    {"description", on_words},
    {"deprecated", on_words},
    {"title", on_words},
    {"$schema", on_words},
    {"$comment", on_words},
    {"$defs", on_words},
};

static bool
conforms(const struct checker *c, struct jval schema, struct jval v)
{
    struct jval_iter it = jval_iter(schema);

    while (jval_next(&it)) {
        size_t i = 0, n = sizeof keywords / sizeof *keywords;

        while (i < n && strcmp(keywords[i].name, it.key) != 0)
            i++;
        CHECK(i < n);
        if (!keywords[i].holds(c, it.value, schema, v))
            return false;
    }
    return true;
}

#endif
