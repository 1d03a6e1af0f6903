/* SPDX-License-Identifier: MIT */
/* compare.h - what was received against what was recorded; each check ends
 * the program when it fails.  For play.c. */
#ifndef TESTS_TOOLS_COMPARE_H
#define TESTS_TOOLS_COMPARE_H

#include "tools/recording.h"

#include "core/problems.h"
#include "space/space.h"

static inline bool
same_shape(struct jval a, struct jval b)
{
    struct jval_iter i = jval_iter(a), k = jval_iter(b);

    if (jval_type(a) != jval_type(b))
        return false;
    if (jval_type(a) == JSON_ARRAY) {
        for (size_t n = 0; n < jval_count(a) && n < jval_count(b); n++)
            if (!same_shape(jval_at(a, n), jval_at(b, n)))
                return false;
    } else if (jval_type(a) == JSON_OBJECT) {
        while (jval_next(&i))
            if (!jval_next(&k) || strcmp(i.key, k.key) != 0 ||
                !same_shape(i.value, k.value))
                return false;
    }
    return jval_count(a) == jval_count(b);
}

/* A folder below the experiment's: recorded with EXPDIR in its place. */
static inline bool
same_folder(const char *recorded, const char *got)
{
    char here[4096];
    size_t len;

    if (strncmp(recorded, "EXPDIR", 6) != 0 ||
        getcwd(here, sizeof here) == NULL)
        return strcmp(recorded, got) == 0;
    len = strlen(here);
    return strncmp(got, here, len) == 0 && strcmp(got + len, recorded + 6) == 0;
}

/* Parameters: the same keys in the same order.  What a choice gives depends on
 * which element was chosen; others have the same type.  A text that is of no
 * parameter of the space is the same. */
static inline bool
same_parameters(struct jval space, struct jval a, struct jval b)
{
    struct jval_iter i = jval_iter(a), k = jval_iter(b);
    struct jval entry;
    const char *text, *other;

    while (jval_next(&i)) {
        bool known = jval_get(space, i.key, &entry);

        if (!jval_next(&k) || strcmp(i.key, k.key) != 0)
            return false;
        if (known && strcmp(text_of(entry, "_type"), "choice") == 0)
            continue;
        if (!same_shape(i.value, k.value))
            return false;
        if (!known && jval_string(i.value, &text, NULL) &&
            jval_string(k.value, &other, NULL) && !same_folder(text, other))
            return false;
    }
    return jval_count(a) == jval_count(b);
}

static inline bool
same_members(struct jval space, struct jval a, struct jval b)
{
    struct jval_iter i = jval_iter(a), k = jval_iter(b);

    while (jval_next(&i)) {
        if (!jval_next(&k) || strcmp(i.key, k.key) != 0)
            return false;
        if (strcmp(i.key, "parameters") == 0 &&
            jval_type(i.value) == JSON_OBJECT &&
            jval_type(k.value) == JSON_OBJECT) {
            if (!same_parameters(space, i.value, k.value))
                return false;
        } else if (!same_shape(i.value, k.value)) {
            return false;
        }
    }
    return jval_count(a) == jval_count(b);
}

static inline bool
same_record(const struct play *p, const char *a, const char *b)
{
    struct json *doc_a = parse(p, a, "record"), *doc_b = parse(p, b, "record");
    struct json *space = parse(p, p->recorded.at[0].text, "IN");
    char *id_a = id_of(p, a), *id_b = id_of(p, b);
    bool same =
        strcmp(id_a, id_b) == 0 &&
        same_members(json_root(space), json_root(doc_a), json_root(doc_b));

    json_free(space);
    free(id_a);
    free(id_b);
    json_free(doc_a);
    json_free(doc_b);
    return same;
}

static inline void
check_records(const struct play *p, const char *code)
{
    const char *want, *got;

    for (size_t k = 0; (want = answer(&p->recorded, code, k)) != NULL; k++) {
        got = answer(&p->got, code, k);
        if (!same_record(p, want, got))
            die(p, "%s %zu: got %s\n# recorded %s", code, k, got, want);
    }
}

static inline void
check_bytes(const struct play *p)
{
    size_t k = 0;

    for (size_t i = 0; i < p->recorded.n; i++) {
        if (p->recorded.at[i].in)
            continue;
        if (strcmp(p->recorded.at[i].code, p->got.at[k].code) != 0 ||
            strcmp(p->recorded.at[i].text, p->got.at[k].text) != 0)
            die(p, "answer %zu: got %s %s\n# recorded %s %s", k,
                p->got.at[k].code, p->got.at[k].text, p->recorded.at[i].code,
                p->recorded.at[i].text);
        k++;
    }
}

/* All recorded KI are among those received; with equal counts: the same. */
static inline void
check_kills(const struct play *p)
{
    const char *want, *got;

    for (size_t k = 0; (want = answer(&p->recorded, "KI", k)) != NULL; k++) {
        bool found = false;

        for (size_t i = 0; (got = answer(&p->got, "KI", i)) != NULL; i++)
            found = found || strcmp(got, want) == 0;
        if (!found)
            die(p, "trial %s was not killed", want);
    }
}

/* The trials of the recorded KI, each counted where it comes first, are those
 * of the first KI received, in the same order. */
static inline void
check_kills_begin(const struct play *p)
{
    const char *want, *got;
    size_t n = 0;

    for (size_t k = 0; (want = answer(&p->recorded, "KI", k)) != NULL; k++) {
        bool seen = false;

        for (size_t i = 0; i < k && !seen; i++)
            seen = strcmp(answer(&p->recorded, "KI", i), want) == 0;
        if (seen)
            continue;
        got = answer(&p->got, "KI", n++);
        if (got == NULL || strcmp(got, want) != 0)
            die(p, "kill %zu is of trial %s, recorded %s", n,
                got != NULL ? got : "none", want);
    }
}

/* Those of the space alone; to be freed. */
static inline struct json *
without_extras(const struct play *p, struct jval space, struct jval parameters)
{
    struct jval_iter it = jval_iter(parameters);
    struct json *doc;
    struct jval entry;
    struct buf text;

    buf_init(&text, 1 << 20);
    while (jval_next(&it)) {
        if (!jval_get(space, it.key, &entry))
            continue;
        buf_add_text(&text, text.len == 0 ? "{" : ", ");
        json_write_string(&text, it.key, strlen(it.key));
        buf_add_text(&text, ": ");
        jval_write(it.value, &text);
    }
    buf_add_text(&text, text.len == 0 ? "{}" : "}");
    doc = parse(p, buf_text(&text), "parameters");
    buf_fini(&text);
    return doc;
}

/* Each TR lies in the space of IN. */
static inline void
check_space(const struct play *p)
{
    struct json *doc = parse(p, p->recorded.at[0].text, "IN");
    struct problems problems;
    struct space *space;
    const char *text;
    double *x;

    problems_init(&problems);
    space = space_parse(json_root(doc), &problems);
    if (space == NULL)
        die(p, "IN: %s", buf_text(&problems.lines));
    x = calloc(space_dims(space)->n_dims, sizeof *x);
    for (size_t k = 0; (text = answer(&p->got, "TR", k)) != NULL; k++) {
        struct json *record = parse(p, text, "TR"), *own;
        struct err err = {0};
        struct jval v;

        if (!jval_get(json_root(record), "parameters", &v))
            die(p, "%s: no parameters", text);
        own = without_extras(p, json_root(doc), v);
        if (space_encode(space, json_root(own), x, &err) != 0)
            die(p, "%s: %s", text, err.text);
        json_free(own);
        json_free(record);
    }
    free(x);
    space_free(space);
    problems_fini(&problems);
    json_free(doc);
}

#endif
