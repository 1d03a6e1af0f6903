/* SPDX-License-Identifier: MIT */
#include "space/parse.h"

#include "core/err.h"
#include "core/grow.h"
#include "core/nearest.h"
#include "core/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HINT_MAX 128

static const char *const entry_keys[] = {"_type", "_value"};

static void parse_dims(struct parse *p, struct jval object,
                       const struct place *up, size_t element, size_t parent,
                       size_t depth);

void
parse_problem(const struct parse *p, const struct place *at, const char *part,
              const char *fmt, ...)
{
    char where[PLACE_MAX], text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    problems_add(p->problems, place_text(at, part, where), "%s", text);
}

static void
give_up(struct parse *p, const char *what)
{
    if (!p->over)
        problems_add(p->problems, "search space", "%s", what);
    p->over = true;
}

/* The index of a new dimension, or SIZE_MAX. */
static size_t
add_dim(struct parse *p)
{
    struct space *s = p->s;

    if (s->n == SPACE_DIMS_MAX)
        give_up(p, "has too many parameters, expected at most 100000");
    if (s->n == s->cap && !p->over) {
        size_t cap = grow_cap(s->cap);

        if (grow_to(&s->tp, cap, sizeof *s->tp) != 0 ||
            grow_to(&s->dim, cap, sizeof *s->dim) != 0)
            give_up(p, "out of memory");
        else
            s->cap = cap;
    }
    if (p->over)
        return SIZE_MAX;
    memset(&s->tp[s->n], 0, sizeof *s->tp);
    memset(&s->dim[s->n], 0, sizeof *s->dim);
    return s->n++;
}

/* Elements. */

static bool
all_named(struct jval list)
{
    struct jval name;

    for (size_t e = 0; e < jval_count(list); e++)
        if (!jval_get(jval_at(list, e), "_name", &name))
            return false;
    return jval_count(list) > 0;
}

/* Whether v can be written as JSON: NaN and infinities cannot. */
static bool
is_finite(struct jval v)
{
    double number;

    if (jval_type(v) == JSON_OBJECT) {
        struct jval_iter it = jval_iter(v);

        while (jval_next(&it))
            if (!is_finite(it.value))
                return false;
    }
    if (jval_type(v) == JSON_ARRAY)
        for (size_t k = 0; k < jval_count(v); k++)
            if (!is_finite(jval_at(v, k)))
                return false;
    return !jval_number(v, &number) || number - number == 0;
}

static struct text
put_value(struct buf *texts, struct jval v)
{
    struct text t = {texts->len, 0};

    jval_write(v, texts);
    t.len = texts->len - t.at;
    return t;
}

/* Fills elements and, if nested, what hangs on each. */
static void
parse_elements(struct parse *p, const struct place *at, struct jval list,
               size_t i, size_t depth)
{
    struct space *s = p->s;
    size_t n = jval_count(list);
    bool nested = s->dim[i].nested;
    struct text *elements = s->dim[i].elements;
    size_t *subs = s->dim[i].subs;
    char part[32];

    for (size_t e = 0; e < n && !p->over; e++) {
        struct jval element = jval_at(list, e), shown_as = element;

        if (nested)
            (void)jval_get(element, "_name", &shown_as);
        if (!is_finite(shown_as)) {
            snprintf(part, sizeof part, "._value[%zu]", e);
            parse_problem(p, at, part,
                          "holds NaN or Infinity, expected what JSON can say");
        }
        elements[e] = put_value(&s->texts, shown_as);
        if (nested) {
            subs[e] = s->n;
            parse_dims(p, element, at, e, i, depth + 1);
            subs[e + 1] = s->n;
        }
    }
}

static void
parse_choice(struct parse *p, const struct place *at, struct jval list,
             size_t i, size_t depth)
{
    struct tp_dim *d = &p->s->tp[i];
    struct dim *dim = &p->s->dim[i];
    size_t n = jval_count(list);

    if (n == 0) {
        parse_problem(p, at, "._value", "is empty, expected at least 1 value");
        return;
    }
    if (n > SPACE_CHOICES_MAX) {
        parse_problem(p, at, "._value", "has %zu values, expected at most %d",
                      n, SPACE_CHOICES_MAX);
        return;
    }
    dim->list = list;
    dim->nested = all_named(list);
    dim->elements = calloc(n, sizeof *dim->elements);
    dim->subs = dim->nested ? calloc(n + 1, sizeof *dim->subs) : NULL;
    if (dim->elements == NULL || (dim->nested && dim->subs == NULL)) {
        give_up(p, "out of memory");
        return;
    }
    d->n_choices = n;
    d->high = (double)(n - 1);
    parse_elements(p, at, list, i, depth); /* may move *d and *dim */
}

/* Entries. */

static const struct kind *
find_kind(const struct parse *p, const struct place *at, struct jval type)
{
    const char *names[N_KINDS], *name;
    char hint[HINT_MAX];

    if (!jval_string(type, &name, NULL)) {
        parse_problem(p, at, "._type",
                      "is %s, expected a string, such as \"uniform\"",
                      shown(type).text);
        return NULL;
    }
    for (size_t k = 0; k < N_KINDS; k++) {
        names[k] = space_kinds[k].name;
        if (strcmp(name, names[k]) == 0)
            return &space_kinds[k];
    }
    if (strcmp(name, "layer_choice") == 0 || strcmp(name, "input_choice") == 0)
        parse_problem(p, at, "._type",
                      "'%s' is for architecture search, expected a "
                      "hyperparameter's type, such as choice",
                      name);
    else
        parse_problem(p, at, "._type",
                      "'%.60s' is unknown%s, expected choice, randint, "
                      "[q][log]uniform or [q][log]normal",
                      name,
                      nearest_hint(name, names, N_KINDS, hint, sizeof hint));
    return NULL;
}

/* Tells of keys that do not belong; a missing key is told with the one that
 * was perhaps meant.  False unless both are there. */
static bool
check_keys(const struct parse *p, const struct place *at, struct jval entry)
{
    struct jval_iter it = jval_iter(entry);
    const char *meant[2] = {NULL, NULL};
    bool has[2], both;
    char hint[HINT_MAX];
    struct jval ignored;

    for (size_t k = 0; k < 2; k++)
        has[k] = jval_get(entry, entry_keys[k], &ignored);
    both = has[0] && has[1];
    while (jval_next(&it)) {
        const char *near = nearest_name(it.key, entry_keys, 2);
        size_t k = near == entry_keys[1];

        if (near != NULL && strcmp(near, it.key) == 0)
            continue;
        if (near != NULL && !has[k] && meant[k] == NULL)
            meant[k] = it.key;
        else
            parse_problem(
                p, at, "",
                "has an unknown key '%.60s'%s, expected "
                "_type and _value",
                it.key, nearest_hint(it.key, entry_keys, 2, hint, sizeof hint));
    }
    for (size_t k = 0; k < 2; k++)
        if (!has[k] && meant[k] != NULL)
            parse_problem(p, at, "", "has '%.60s', expected '%s'", meant[k],
                          entry_keys[k]);
        else if (!has[k])
            parse_problem(p, at, "", "lacks '%s'", entry_keys[k]);
    return both;
}

static void
parse_entry(struct parse *p, const struct place *at, struct jval entry,
            size_t parent, size_t depth)
{
    struct jval type, list;
    const struct kind *kind;
    struct tp_dim *d;
    bool is_list;
    size_t i;

    if (jval_type(entry) != JSON_OBJECT) {
        parse_problem(p, at, "",
                      "is %s, expected an object with _type and _value",
                      shown(entry).text);
        return;
    }
    check_keys(p, at, entry);
    kind = jval_get(entry, "_type", &type) ? find_kind(p, at, type) : NULL;
    if (!jval_get(entry, "_value", &list))
        return;
    is_list = jval_type(list) == JSON_ARRAY;
    if (!is_list)
        parse_problem(p, at, "._value", "is %s, expected an array%s%s",
                      shown(list).text, kind ? " " : "",
                      kind ? kind->values : "");
    i = kind != NULL && is_list ? add_dim(p) : SIZE_MAX;
    if (i == SIZE_MAX)
        return;
    d = &p->s->tp[i];
    d->kind = kind->kind;
    d->flags = kind->flags;
    d->parent = parent;
    d->parent_choice = at->up == NULL ? 0 : at->element;
    p->s->dim[i].key = at->key;
    if (kind->kind == TP_CHOICE)
        parse_choice(p, at, list, i, depth);
    else
        parse_values(p, at, list, d, &p->s->dim[i]);
    p->s->dim[i].end = p->s->n;
}

/* The parameters of the top, or of one element of a nested choice. */
static void
parse_dims(struct parse *p, struct jval object, const struct place *up,
           size_t element, size_t parent, size_t depth)
{
    struct jval_iter it = jval_iter(object);

    while (!p->over && jval_next(&it)) {
        struct place at = {up, it.key, element};

        if (up != NULL && strcmp(it.key, "_name") == 0)
            continue;
        if (depth > SPACE_DEPTH_MAX) {
            parse_problem(p, &at, "",
                          "is nested too deeply, expected at most %d levels",
                          SPACE_DEPTH_MAX);
            return;
        }
        parse_entry(p, &at, it.value, parent, depth);
    }
}

/* Our own copy of the document, which the dimensions point into. */
static bool
copy_document(struct space *s, struct jval root, struct err *err)
{
    struct buf text;

    buf_init(&text, SPACE_TEXT_MAX);
    jval_write(root, &text);
    if (buf_check(&text, "the search space", err) == 0)
        s->document = json_parse(text.data, text.len, JSON_NAN, err);
    buf_fini(&text);
    return s->document != NULL;
}

struct space *
space_parse(struct jval root, struct problems *problems)
{
    struct parse p = {calloc(1, sizeof(struct space)), problems, false};
    size_t before = problems->count;
    struct err err;

    if (p.s == NULL) {
        problems_add(problems, "search space", "out of memory");
        return NULL;
    }
    buf_init(&p.s->texts, SPACE_TEXT_MAX);
    if (jval_type(root) != JSON_OBJECT)
        problems_add(problems, "search space",
                     "is %s, expected an object with an entry for each "
                     "parameter",
                     shown(root).text);
    else if (!copy_document(p.s, root, &err))
        problems_add(problems, "search space", "%s", err.text);
    else
        parse_dims(&p, json_root(p.s->document), NULL, 0, TP_NO_PARENT, 1);
    if (problems->count == before && !parse_names(p.s))
        give_up(
            &p,
            "takes too much memory, expected at most 256 MiB of names and values");
    if (problems->count != before) {
        space_free(p.s);
        return NULL;
    }
    p.s->shared =
        (struct tp_space){sizeof p.s->shared, p.s->n, sizeof *p.s->tp, p.s->tp};
    return p.s;
}
