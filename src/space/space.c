/* SPDX-License-Identifier: MIT */
#include "space/space.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/grow.h"
#include "core/nearest.h"
#include "core/number.h"
#include "core/problems.h"
#include "json.h"
#include "numerics/elementary.h"
#include "numerics/random.h"
#include "tunepipe/plugin.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text that all names and choices of one space may take together. */
#define SPACE_TEXT_MAX ((size_t)256 * 1024 * 1024)

/* Where an element's text lies in space.texts. */
struct text {
    size_t at, len;
};

/* A type of the search space.  Those of NNI come first, in the order of enum
 * tp_dim_kind; those of ours, behind them, plugins see as one of these. */
struct kind {
    const char *name;
    int kind, flags;
    size_t n_values;
    const char *values; /* form of _value, as users know it */
    bool is_integer;    /* its values are integers in JSON, 16, not 16.0 */
};

enum { N_KINDS = 12 };

/* What a dimension is for the host, beside its struct tp_dim.
 *
 * Dimensions are flattened depth first: a choice, then all that hangs on its
 * element 0, then on element 1, and so on.  So a subtree is a run of indexes,
 * and what is not chosen is stepped over in one go. */
struct dim {
    const struct kind *type;
    const char *key;  /* of the JSON, borrowed from space.document */
    struct text name; /* with a NUL behind it */
    double low, high; /* of uniform kinds, in the user's unit */
    size_t end;       /* the first index behind this subtree */
    bool nested;
    /* CHOICE: as they are written, without sub-parameters. */
    struct text *elements;
    size_t *subs;     /* nested: element e has subs[e]..subs[e+1]-1 */
    struct jval list; /* CHOICE: the elements in space.document */
};

/* `net[2].units`: key "units" in element 2 of the choice at `up`.  Lives on
 * the stack of whoever walks down. */
struct place {
    const struct place *up; /* NULL: it is at the top */
    const char *key;
    size_t element;
};

#define PLACE_MAX 512

struct space {
    struct tp_space shared; /* what plugins see; points to `tp` */
    struct tp_dim *tp;
    struct dim *dim; /* as many as `tp` */
    size_t n, cap;
    struct buf texts;
    struct json *document; /* a copy, into which the dimensions point */
};

/* Clips v as Python's min(max(v, low), high) does. */
static inline double
clip(double v, double low, double high)
{
    v = low > v ? low : v;
    return high < v ? high : v;
}

/* Whether dimension i is chosen, its parent being active. */
static inline bool
dim_is_chosen(const struct space *s, const double *x, size_t i)
{
    const struct tp_dim *d = &s->tp[i];

    return d->parent == TP_NO_PARENT ||
           x[d->parent] == (double)d->parent_choice;
}

struct shown {
    char text[80];
};

struct parse {
    struct space *s; /* half built */
    struct problems *problems;
    bool over; /* too many dimensions, or no memory: told once */
};

static void parse_values(const struct parse *p, const struct place *at,
                         struct jval list, struct tp_dim *d, struct dim *dim);
static bool parse_names(struct space *s);

/* ---- the types ---- */

#define LOG TP_DIM_LOG
#define Q TP_DIM_Q
#define NORMAL TP_DIM_NORMAL

static const struct kind space_kinds[N_KINDS] = {
    {"choice", TP_CHOICE, TP_DIM_INDEX, 0, "[value, value, ...]", false},
    {"randint", TP_RANDINT, TP_DIM_INDEX, 2, "[low, high]", true},
    {"uniform", TP_UNIFORM, 0, 2, "[low, high]", false},
    {"quniform", TP_QUNIFORM, Q, 3, "[low, high, q]", false},
    {"loguniform", TP_LOGUNIFORM, LOG, 2, "[low, high]", false},
    {"qloguniform", TP_QLOGUNIFORM, LOG | Q, 3, "[low, high, q]", false},
    {"normal", TP_NORMAL, NORMAL, 2, "[mu, sigma]", false},
    {"qnormal", TP_QNORMAL, NORMAL | Q, 3, "[mu, sigma, q]", false},
    {"lognormal", TP_LOGNORMAL, NORMAL | LOG, 2, "[mu, sigma]", false},
    {"qlognormal", TP_QLOGNORMAL, NORMAL | LOG | Q, 3, "[mu, sigma, q]", false},
    {"qrandint", TP_RANDINT, TP_DIM_INDEX, 3, "[low, high, q]", true},
    {"lograndint", TP_QLOGUNIFORM, LOG | Q, 2, "[low, high]", true},
};

/* ---- a whole space ---- */

void
space_free(struct space *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->dim[i].elements);
        free(s->dim[i].subs);
    }
    free(s->dim);
    free(s->tp);
    buf_fini(&s->texts);
    json_free(s->document);
    free(s);
}

const struct tp_space *
space_dims(const struct space *s)
{
    return &s->shared;
}

int
space_make_whole(struct space *s, struct err *err)
{
    if (s->n == 0 || s->dim[0].end != s->n)
        return err_set(err, ERR_CONFIG,
                       "search space: has %s, expected a single one of type "
                       "choice, whose values are complete parameter sets",
                       s->n == 0 ? "no parameter" : "several parameters");
    if (s->tp[0].kind != TP_CHOICE || s->dim[0].nested)
        return err_set(err, ERR_CONFIG,
                       "%s._type: is %s%s, expected choice, whose values are "
                       "complete parameter sets",
                       s->tp[0].name, s->dim[0].nested ? "nested " : "",
                       s->dim[0].type->name);
    s->tp[0].flags |= TP_DIM_WHOLE;
    return 0;
}

void
space_write(const struct space *s, struct buf *out)
{
    jval_write(json_root(s->document), out);
}

bool
space_is_active(const struct space *s, const double *x, size_t i)
{
    for (; s->tp[i].parent != TP_NO_PARENT; i = s->tp[i].parent)
        if (!dim_is_chosen(s, x, i))
            return false;
    return true;
}

/* ---- places, for error texts ---- */

/* Writes the place; returns its length. */
static size_t
put_place(const struct place *at, char out[PLACE_MAX])
{
    size_t len = 0;

    if (at->up != NULL) {
        len = put_place(at->up, out);
        snprintf(out + len, PLACE_MAX - len, "[%zu].", at->element);
        len += strlen(out + len);
    }
    snprintf(out + len, PLACE_MAX - len, "%s",
             at->key[0] == '\0' ? "\"\"" : at->key);
    return len + strlen(out + len);
}

/* Writes the place and, behind it, `part` ("._type", or ""); returns out.
 * What does not fit is cut. */
static const char *
place_text(const struct place *at, const char *part, char out[PLACE_MAX])
{
    size_t len = put_place(at, out);

    snprintf(out + len, PLACE_MAX - len, "%s", part);
    return out;
}

/* A value for an error text: JSON, or for arrays and objects what they are;
 * long strings are cut. */
static struct shown
shown(struct jval v)
{
    struct shown out;
    struct buf json;
    const char *text = NULL;
    size_t len = 0;

    if (jval_type(v) == JSON_ARRAY || jval_type(v) == JSON_OBJECT) {
        snprintf(out.text, sizeof out.text, "%s", jval_type_name(v));
        return out;
    }
    buf_init(&json, 512);
    if (jval_string(v, &text, &len) && len > 60) {
        json_write_string(&json, text, 56);
        snprintf(out.text, sizeof out.text, "%.64s...", buf_text(&json));
    } else {
        jval_write(v, &json);
        snprintf(out.text, sizeof out.text, "%.79s", buf_text(&json));
    }
    buf_fini(&json);
    return out;
}

/* ---- reading ---- */

#define HINT_MAX 128

static const char *const entry_keys[] = {"_type", "_value"};

static void parse_dims(struct parse *p, struct jval object,
                       const struct place *up, size_t element, size_t parent,
                       size_t depth);

/* Adds a problem at `at` and, behind it, `part`; "" is the place itself. */
static void
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

/* DESIGN.  From here on: the elements of a choice. */

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

/* Fills the elements and, if nested, the sub-parameters of each. */
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

/* DESIGN.  From here on: the entries of an object. */

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
                      "'%.60s' is unknown%s, expected choice, "
                      "[q|log]randint, [q][log]uniform or [q][log]normal",
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
    p->s->dim[i].type = kind;
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

/* Reads the parameters of the top, or of one element of a nested choice. */
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

/* ---- nested choices that are none ---- */

/* Whether the element of a choice has sub-parameters, which are only those of
 * a nested one. */
static bool
has_subs(struct jval element)
{
    struct jval_iter it = jval_iter(element);
    struct jval ignored;

    if (jval_type(element) != JSON_OBJECT)
        return false;
    while (jval_next(&it))
        if (jval_type(it.value) == JSON_OBJECT &&
            jval_get(it.value, "_type", &ignored) &&
            jval_get(it.value, "_value", &ignored))
            return true;
    return false;
}

/* The key that was perhaps meant as _name; NULL: none. */
static const char *
meant_as_name(struct jval element)
{
    static const char *const name = "_name";
    struct jval_iter it = jval_iter(element);

    while (jval_next(&it))
        if (jval_type(it.value) != JSON_OBJECT &&
            nearest_name(it.key, &name, 1) != NULL)
            return it.key;
    return NULL;
}

/* Tells of an element that makes the choice none that is nested. */
static void
tell_unnamed(const struct parse *p, const struct place *at, size_t e,
             struct jval element)
{
    const char *meant;
    struct jval name;
    char part[32];

    snprintf(part, sizeof part, "._value[%zu]", e);
    if (jval_type(element) != JSON_OBJECT) {
        parse_problem(p, at, part,
                      "is %s, expected an object with _name, which each "
                      "element of a nested choice has",
                      shown(element).text);
        return;
    }
    if (jval_get(element, "_name", &name))
        return;
    meant = meant_as_name(element);
    if (meant != NULL)
        parse_problem(p, at, part,
                      "has '%.60s', expected '_name', which each element of a "
                      "nested choice has",
                      meant);
    else
        parse_problem(p, at, part,
                      "lacks '_name', which each element of a nested choice "
                      "has");
}

static void
check_nested(const struct parse *p, struct jval object, const struct place *up,
             size_t element)
{
    struct jval_iter it = jval_iter(object);
    struct jval list;

    while (jval_type(object) == JSON_OBJECT && jval_next(&it)) {
        struct place at = {up, it.key, element};
        bool nested = false;

        if (jval_type(it.value) != JSON_OBJECT ||
            !jval_get(it.value, "_value", &list) ||
            jval_type(list) != JSON_ARRAY)
            continue;
        for (size_t e = 0; !nested && e < jval_count(list); e++)
            nested = has_subs(jval_at(list, e));
        for (size_t e = 0; nested && e < jval_count(list); e++) {
            tell_unnamed(p, &at, e, jval_at(list, e));
            check_nested(p, jval_at(list, e), &at, e);
        }
    }
}

void
space_check_nested(struct jval root, struct problems *problems)
{
    const struct parse p = {NULL, problems, false};

    check_nested(&p, root, NULL, 0);
}

/* ---- a whole document ---- */

/* Makes our own copy of the document, into which the dimensions point. */
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

/* ---- the dimensions' names ---- */

/* DESIGN: a name is the path of keys, "net/units".  Two elements of a choice
 * may each have sub-parameters of the same key; only these carry the number
 * of their element, "net[0]/units" and "net[2]/units".  To find them, all
 * sub-parameters are sorted by parent and key, which is quick for whatever
 * search space comes from outside. */

struct sub {
    size_t parent, i;
    const char *key;
};

static int
by_parent_and_key(const void *va, const void *vb)
{
    const struct sub *a = va, *b = vb;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return strcmp(a->key, b->key);
}

static bool
is_twin(const struct sub *a, const struct sub *b)
{
    return a->parent == b->parent && strcmp(a->key, b->key) == 0;
}

/* numbered[i]: dimension i shares parent and key with another. */
static bool
find_twins(const struct space *s, bool *numbered)
{
    struct sub *subs = calloc(s->n + 1, sizeof *subs);
    size_t n = 0;

    if (subs == NULL)
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (s->tp[i].parent != TP_NO_PARENT)
            subs[n++] = (struct sub){s->tp[i].parent, i, s->dim[i].key};
    if (n > 1)
        qsort(subs, n, sizeof *subs, by_parent_and_key);
    for (size_t k = 1; k < n; k++)
        if (is_twin(&subs[k - 1], &subs[k]))
            numbered[subs[k - 1].i] = numbered[subs[k].i] = true;
    free(subs);
    return true;
}

/* Appends again what already stands in the buffer. */
static void
repeat(struct buf *b, struct text t)
{
    char *to = buf_reserve(b, t.len);

    if (to == NULL)
        return;
    memcpy(to, b->data + t.at, t.len);
    b->len += t.len;
}

static void
put_name(struct space *s, size_t i, bool numbered)
{
    const struct tp_dim *d = &s->tp[i];
    struct text *name = &s->dim[i].name;

    name->at = s->texts.len;
    if (d->parent != TP_NO_PARENT) {
        repeat(&s->texts, s->dim[d->parent].name);
        if (numbered)
            buf_printf(&s->texts, "[%llu]",
                       (unsigned long long)d->parent_choice);
        buf_add_char(&s->texts, '/');
    }
    buf_add_text(&s->texts, s->dim[i].key);
    name->len = s->texts.len - name->at;
    buf_add_char(&s->texts, '\0');
}

/* Gives every dimension of s its path for a name.  False: no memory. */
static bool
parse_names(struct space *s)
{
    bool *numbered = calloc(s->n + 1, sizeof *numbered);

    if (numbered == NULL)
        return false;
    if (!find_twins(s, numbered)) {
        free(numbered);
        return false;
    }
    for (size_t i = 0; i < s->n && !s->texts.failed; i++)
        put_name(s, i, numbered[i]);
    free(numbered);
    for (size_t i = 0; i < s->n && !s->texts.failed; i++)
        s->tp[i].name = s->texts.data + s->dim[i].name.at;
    return !s->texts.failed;
}

/* ---- a dimension's _value ---- */

/* Integers below this are doubles, and so are their differences' halves. */
#define RANDINT_LIMIT 0x1p53
/* Integers up to this are what exp of their logarithm is rounded to. */
#define LOGRANDINT_LIMIT 0x1p40
/* A lograndint reaches this far beyond its least and greatest integer, so that
 * these have all of the logarithmic scale that is rounded to them; less than a
 * half, which may be rounded away from them. */
#define LOGRANDINT_EDGE 0.4999

enum { VALUES_MAX = 3 };

static bool
is_whole(double v)
{
    return v > -RANDINT_LIMIT && v < RANDINT_LIMIT && v == (double)(int64_t)v;
}

/* Checks a rule about one number: false when it was broken, which is told. */
static bool
rule(const struct parse *p, const struct place *at, struct jval list, size_t k,
     bool holds, const char *expected)
{
    char part[32];

    if (holds)
        return true;
    snprintf(part, sizeof part, "._value[%zu]", k);
    parse_problem(p, at, part, "is %s, expected %s",
                  shown(jval_at(list, k)).text, expected);
    return false;
}

static bool
read_numbers(const struct parse *p, const struct place *at, struct jval list,
             const struct kind *kind, double v[VALUES_MAX])
{
    static const char *const roles[2][VALUES_MAX] = {{"low", "high", "q"},
                                                     {"mu", "sigma", "q"}};
    const char *const *role = roles[(kind->flags & TP_DIM_NORMAL) != 0];
    bool fine = true;
    char expected[64];

    for (size_t k = 0; k < kind->n_values; k++) {
        snprintf(expected, sizeof expected, "a finite number (%s)", role[k]);
        fine &= rule(p, at, list, k,
                     jval_number(jval_at(list, k), &v[k]) && isfinite(v[k]),
                     expected);
    }
    return fine;
}

/* Checks a rule about both bounds: "[LOW, HIGH]: what is wrong with these
 * two". */
static bool
bounds_rule(const struct parse *p, const struct place *at, struct jval list,
            bool holds, const char *expected)
{
    if (!holds)
        parse_problem(p, at, "._value", "is from %s to %s, expected %s",
                      shown(jval_at(list, 0)).text,
                      shown(jval_at(list, 1)).text, expected);
    return holds;
}

/* Checks the bounds of an integer kind, of which high itself is never drawn,
 * as in NNI's randint. */
static bool
integer_rules(const struct parse *p, const struct place *at, struct jval list,
              const double *v)
{
    bool fine = true;

    for (size_t k = 0; k < 2; k++)
        fine &= rule(p, at, list, k, is_whole(v[k]),
                     "an integer above -2^53 and below 2^53");
    return fine &&
           bounds_rule(p, at, list, v[0] < v[1],
                       "low < high (high itself is never drawn)") &&
           bounds_rule(p, at, list, v[1] - v[0] < RANDINT_LIMIT,
                       "high - low < 2^53");
}

/* The index k stands for low + k, or, with a step, for low + k * q. */
static void
set_randint(const struct parse *p, const struct place *at, struct jval list,
            const double *v, struct tp_dim *d)
{
    bool has_step = jval_count(list) == 3;
    int64_t step = 1;

    if (!integer_rules(p, at, list, v) ||
        (has_step && !rule(p, at, list, 2, v[2] > 0 && is_whole(v[2]),
                           "an integer > 0 and < 2^53 (q, the step)")))
        return;
    if (has_step)
        step = (int64_t)v[2];
    d->offset = (int64_t)v[0];
    d->n_choices = (uint64_t)(((int64_t)v[1] - d->offset - 1) / step + 1);
    d->high = (double)(d->n_choices - 1);
    d->q = has_step ? v[2] : 0;
}

/* For plugins a qloguniform with a q of 1. */
static void
set_lograndint(const struct parse *p, const struct place *at, struct jval list,
               const double *v, struct tp_dim *d, struct dim *dim)
{
    if (!integer_rules(p, at, list, v) ||
        !rule(p, at, list, 0, v[0] >= 1,
              "low >= 1, because the scale is logarithmic") ||
        !rule(p, at, list, 1, v[1] <= LOGRANDINT_LIMIT, "high <= 2^40"))
        return;
    dim->low = v[0];
    dim->high = v[1] - 1;
    d->low = num_log(dim->low - LOGRANDINT_EDGE);
    d->high = num_log(dim->high + LOGRANDINT_EDGE);
    d->q = 1;
}

static void
set_uniform(const struct parse *p, const struct place *at, struct jval list,
            const double *v, struct tp_dim *d, struct dim *dim)
{
    bool is_log = (d->flags & TP_DIM_LOG) != 0;

    bounds_rule(p, at, list, v[0] <= v[1], "low <= high");
    bounds_rule(p, at, list, isfinite(v[1] - v[0]),
                "a range that a double can hold");
    if (is_log && !rule(p, at, list, 0, v[0] > 0,
                        "low > 0, because the scale is logarithmic"))
        return;
    dim->low = v[0] + 0.0;
    dim->high = v[1] + 0.0;
    d->low = is_log ? num_log(v[0]) : dim->low;
    d->high = is_log ? num_log(v[1]) : dim->high;
}

static void
set_normal(const struct parse *p, const struct place *at, struct jval list,
           const double *v, struct tp_dim *d)
{
    rule(p, at, list, 1, v[1] >= 0, "sigma >= 0");
    d->mu = v[0];
    d->sigma = v[1];
    d->low = -INFINITY;
    d->high = INFINITY;
}

/* The kind that is this one with a step, as "; with a step it is NAME"; "": it
 * was not meant, or there is none. */
static const char *
stepped_hint(const struct kind *kind, size_t n, char out[HINT_MAX])
{
    out[0] = '\0';
    for (size_t k = 0; k < N_KINDS && n == kind->n_values + 1; k++)
        if (space_kinds[k].n_values == n && space_kinds[k].name[0] == 'q' &&
            strcmp(space_kinds[k].name + 1, kind->name) == 0)
            snprintf(out, HINT_MAX, "; with a step it is %s",
                     space_kinds[k].name);
    return out;
}

/* Reads the _value of any kind but choice into a dimension: bounds, mu, sigma,
 * q.  The kind is set; every problem is added. */
static void
parse_values(const struct parse *p, const struct place *at, struct jval list,
             struct tp_dim *d, struct dim *dim)
{
    const struct kind *kind = dim->type;
    double v[VALUES_MAX] = {0, 0, 0};
    char hint[HINT_MAX];

    if (jval_count(list) != kind->n_values) {
        parse_problem(p, at, "._value", "has %zu value%s, expected %zu: %s%s",
                      jval_count(list), jval_count(list) == 1 ? "" : "s",
                      kind->n_values, kind->values,
                      stepped_hint(kind, jval_count(list), hint));
        return;
    }
    if (!read_numbers(p, at, list, kind, v))
        return;
    if (kind->is_integer) {
        if (d->kind == TP_RANDINT)
            set_randint(p, at, list, v, d);
        else
            set_lograndint(p, at, list, v, d, dim);
        return;
    }
    if (d->flags & TP_DIM_NORMAL)
        set_normal(p, at, list, v, d);
    else
        set_uniform(p, at, list, v, d, dim);
    if (d->flags & TP_DIM_Q)
        rule(p, at, list, 2, v[2] > 0, "q > 0");
    d->q = v[2];
}

/* ---- what an element of a choice is ---- */

static int
kind_of(struct jval v, struct tp_element *out)
{
    bool truth;

    if (jval_bool(v, &truth)) {
        out->number = truth;
        return TP_ELEMENT_TRUTH;
    }
    if (jval_string(v, &out->text, NULL))
        return TP_ELEMENT_TEXT;
    return jval_number(v, &out->number) ? TP_ELEMENT_NUMBER : TP_ELEMENT_OTHER;
}

bool
space_element(const struct space *s, size_t i, uint64_t index,
              struct tp_element *out)
{
    struct jval v;

    if (i >= s->n || s->tp[i].kind != TP_CHOICE || index >= s->tp[i].n_choices)
        return false;
    v = jval_at(s->dim[i].list, (size_t)index);
    if (s->dim[i].nested)
        jval_get(v, "_name", &v);
    out->number = 0;
    out->text = NULL;
    out->kind = kind_of(v, out);
    return true;
}

/* ---- drawing ---- */

/* Samples a dimension.  Its random number is keyed by its index, so that it
 * does not depend on the other dimensions or on which of them are active. */
static double
sample_dim(const struct tp_dim *d, uint64_t seed, uint64_t draw_id, size_t i)
{
    struct random_stream stream =
        random_stream(seed, RANDOM_PRIOR, draw_id, (uint32_t)i);
    uint32_t draw = 0;
    double x;

    if (d->flags & TP_DIM_INDEX)
        return (double)random_below(&stream, &draw, d->n_choices);
    if (d->flags & TP_DIM_NORMAL)
        return d->mu + d->sigma * random_normal(&stream, draw);
    x = d->low + (d->high - d->low) * random_uniform(&stream, draw);
    return x > d->high ? d->high : x; /* the product may have rounded up */
}

static void
sample_dims(const struct space *s, uint64_t seed, uint64_t draw_id, size_t from,
            size_t to, double *x)
{
    for (size_t i = from; i < to;) {
        size_t end = s->dim[i].end;

        if (dim_is_chosen(s, x, i)) {
            x[i] = sample_dim(&s->tp[i], seed, draw_id, i);
            i++;
            continue;
        }
        while (i < end)
            x[i++] = NAN;
    }
}

void
space_sample(const struct space *s, uint64_t seed, uint64_t draw_id, double *x)
{
    sample_dims(s, seed, draw_id, 0, s->n, x);
}

/* ---- coordinates to parameters ---- */

/* NNI's order: exp, a multiple of q, the bounds.  Beyond NNI, a coordinate on
 * or outside a bound is that bound, to the bit, and nothing uniform leaves
 * its bounds by rounding. */
static double
dim_value(const struct space *s, size_t i, double x)
{
    const struct tp_dim *d = &s->tp[i];
    double low = s->dim[i].low, high = s->dim[i].high;
    bool bounded = (d->flags & TP_DIM_NORMAL) == 0;
    double v;

    if (bounded && x <= d->low)
        v = low;
    else if (bounded && x >= d->high)
        v = high;
    else
        v = d->flags & TP_DIM_LOG ? num_exp(x) : x;
    if (d->flags & TP_DIM_Q)
        v = num_round_even(v / d->q) * d->q + 0.0; /* -0.0 becomes 0.0 */
    return bounded ? clip(v, low, high) : v;
}

/* From one integer of a randint to the next. */
static inline double
step_of(const struct tp_dim *d)
{
    return d->q > 0 ? d->q : 1;
}

double
space_value(const struct space *s, size_t i, double x)
{
    if (i >= s->n || isnan(x))
        return NAN;
    if (s->tp[i].flags & TP_DIM_INDEX)
        return (double)s->tp[i].offset + x * step_of(&s->tp[i]);
    return dim_value(s, i, x);
}

/* The value of an integer kind. */
static int64_t
integer_value(const struct space *s, size_t i, double x)
{
    return (int64_t)space_value(s, i, x);
}

static int
check_index(const struct tp_dim *d, double x, struct err *err)
{
    char text[NUMBER_TEXT_MAX];

    if (x >= 0 && x <= d->high && x == (double)(uint64_t)x)
        return 0;
    number_format(x, text);
    return err_set(err, ERR_INPUT,
                   "%s: is %s, expected an index, a whole number within "
                   "0..%llu",
                   d->name, text, (unsigned long long)d->n_choices - 1);
}

static int
refuse_coordinate(const struct tp_dim *d, double x, struct err *err)
{
    char text[NUMBER_TEXT_MAX], low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];

    number_format(x, text);
    number_format(d->low, low);
    number_format(d->high, high);
    return err_set(err, ERR_INPUT,
                   "%s: is %s, expected a number within [%s, %s] in internal "
                   "coordinates",
                   d->name, text, low, high);
}

static int
refuse_value(const struct tp_dim *d, double x, const char *how, struct err *err)
{
    char text[NUMBER_TEXT_MAX];

    number_format(x, text);
    return err_set(err, ERR_INPUT,
                   "%s: is %s in internal coordinates, expected one whose "
                   "value is not too %s for a double",
                   d->name, text, how);
}

static int
check_number(const struct space *s, size_t i, double x, struct err *err)
{
    const struct tp_dim *d = &s->tp[i];
    double v;

    if (!isfinite(x))
        return refuse_coordinate(d, x, err);
    v = dim_value(s, i, x);
    if (!isfinite(v))
        return refuse_value(d, x, "large", err);
    if (v == 0 && (d->flags & (TP_DIM_LOG | TP_DIM_Q)) == TP_DIM_LOG)
        return refuse_value(d, x, "small", err);
    return 0;
}

int
space_check(const struct space *s, const double *x, struct err *err)
{
    for (size_t i = 0; i < s->n;) {
        const struct tp_dim *d = &s->tp[i];
        int rc;

        if (!dim_is_chosen(s, x, i)) {
            i = s->dim[i].end;
            continue;
        }
        if (d->flags & TP_DIM_INDEX)
            rc = check_index(d, x[i], err);
        else
            rc = check_number(s, i, x[i], err);
        if (rc != 0)
            return -1;
        i++;
    }
    return 0;
}

bool
space_has_indices(const struct space *s, const double *x)
{
    for (size_t i = 0; i < s->n;) {
        const struct tp_dim *d = &s->tp[i];

        if (!dim_is_chosen(s, x, i)) {
            i = s->dim[i].end;
            continue;
        }
        if (d->flags & TP_DIM_INDEX && check_index(d, x[i], NULL) != 0)
            return false;
        i++;
    }
    return true;
}

static void
put_text(const struct space *s, struct text t, struct buf *out)
{
    buf_add(out, s->texts.data + t.at, t.len);
}

static void put_dims(const struct space *s, const double *x, size_t from,
                     size_t to, struct json_writer *w);

static void
put_choice(const struct space *s, const double *x, size_t i, const char *key,
           struct json_writer *w)
{
    const struct dim *d = &s->dim[i];
    size_t e = (size_t)x[i];

    if (!d->nested) {
        put_text(s, d->elements[e], json_value(w, key));
        return;
    }
    json_open_object(w, key);
    put_text(s, d->elements[e], json_value(w, "_name"));
    put_dims(s, x, d->subs[e], d->subs[e + 1], w);
    json_close(w);
}

static void
put_dims(const struct space *s, const double *x, size_t from, size_t to,
         struct json_writer *w)
{
    for (size_t i = from; i < to; i = s->dim[i].end) {
        const struct tp_dim *d = &s->tp[i];
        const char *key = s->dim[i].key;

        if (d->kind == TP_CHOICE)
            put_choice(s, x, i, key, w);
        else if (s->dim[i].type->is_integer)
            json_add_integer(w, key, integer_value(s, i, x[i]));
        else
            json_write_double(json_value(w, key), dim_value(s, i, x[i]));
    }
}

void
space_decode(const struct space *s, const double *x, struct buf *out)
{
    struct json_writer w = json_begin(out);

    if (s->n == 1 && (s->tp[0].flags & TP_DIM_WHOLE)) {
        put_choice(s, x, 0, NULL, &w);
        return;
    }
    json_open_object(&w, NULL);
    put_dims(s, x, 0, s->n, &w);
    json_close(&w);
}

/* ---- parameters as programs take them ---- */

/* Whether all values of the dimension are integers: its bounds, where it has
 * any, and its step are. */
static bool
has_integers(const struct space *s, size_t i)
{
    const struct tp_dim *d = &s->tp[i];
    const struct dim *dim = &s->dim[i];

    if (dim->type->is_integer)
        return true;
    return d->flags & TP_DIM_Q && is_whole(d->q) &&
           (d->flags & TP_DIM_NORMAL ||
            (is_whole(dim->low) && is_whole(dim->high)));
}

/* The dimension with this key among those from..to-1, looked for from *at on,
 * where it should be, and behind which *at is set; SIZE_MAX: there is none. */
static size_t
find_key(const struct space *s, size_t from, size_t to, size_t *at,
         const char *key)
{
    size_t i = *at;

    for (size_t k = from; k < to; k++) {
        i = i < to ? i : from;
        if (strcmp(s->dim[i].key, key) == 0) {
            *at = s->dim[i].end;
            return i;
        }
        i = s->dim[i].end;
        if (i == *at)
            break;
    }
    return SIZE_MAX;
}

static struct jval
element_of(const struct dim *dim, size_t e)
{
    struct jval element = jval_at(dim->list, e);

    if (dim->nested)
        (void)jval_get(element, "_name", &element);
    return element;
}

static void put_members(const struct space *s, struct jval object, size_t from,
                        size_t to, const char *key, struct json_writer *w);

/* Writes what stands under `key`, a value of dimension i, SIZE_MAX being none
 * of the space. */
static void
put_given(const struct space *s, struct jval value, size_t i, const char *key,
          struct json_writer *w)
{
    const struct dim *dim = i == SIZE_MAX ? NULL : &s->dim[i];
    struct jval name;
    double v;

    if (dim != NULL && dim->nested && jval_get(value, "_name", &name))
        for (size_t e = 0; e < s->tp[i].n_choices; e++)
            if (jval_equal(element_of(dim, e), name)) {
                put_members(s, value, dim->subs[e], dim->subs[e + 1], key, w);
                return;
            }
    if (dim != NULL && jval_double(value, &v) && is_whole(v) &&
        has_integers(s, i))
        json_add_integer(w, key, (int64_t)v);
    else
        jval_write(value, json_value(w, key));
}

static void
put_members(const struct space *s, struct jval object, size_t from, size_t to,
            const char *key, struct json_writer *w)
{
    struct jval_iter it = jval_iter(object);
    size_t at = from;

    json_open_object(w, key);
    while (jval_next(&it))
        put_given(s, it.value, find_key(s, from, to, &at, it.key), it.key, w);
    json_close(w);
}

void
space_write_given(const struct space *s, struct jval parameters,
                  struct buf *out)
{
    struct json_writer w = json_begin(out);

    if (jval_type(parameters) == JSON_OBJECT)
        put_members(s, parameters, 0, s->n, NULL, &w);
    else
        jval_write(parameters, out);
}

/* Looks among the dimensions from..to-1. */
static bool
find_name(const struct space *s, size_t from, size_t to, const char *name,
          size_t len, space_element_each *each, void *ctx)
{
    bool found = false;

    for (size_t i = from; i < to; i = s->dim[i].end) {
        const struct dim *dim = &s->dim[i];
        size_t n = strlen(dim->key);
        const char *rest = name + n + 1;
        bool is_it = n == len && !dim->nested;

        if (n > len || memcmp(dim->key, name, n) != 0)
            continue;
        if (n < len && dim->nested && name[n] == '/') {
            is_it = len - n - 1 == 5 && memcmp(rest, "_name", 5) == 0;
            found |=
                find_name(s, i + 1, dim->end, rest, len - n - 1, each, ctx);
        }
        for (size_t e = 0; is_it && e < s->tp[i].n_choices &&
                           s->tp[i].kind == TP_CHOICE && each != NULL;
             e++)
            each(ctx, element_of(dim, e));
        found |= is_it;
    }
    return found;
}

bool
space_find(const struct space *s, const char *name, size_t len,
           space_element_each *each, void *ctx)
{
    return find_name(s, 0, s->n, name, len, each, ctx);
}

/* Looks among the dimensions from..to-1. */
static bool
find_lacking(const struct space *s, size_t from, size_t to, const char *name,
             size_t len, const char **choice, struct jval *element)
{
    for (size_t i = from; i < to; i = s->dim[i].end) {
        const struct dim *dim = &s->dim[i];
        size_t n = strlen(dim->key) + 1;

        if (!dim->nested || len <= n || name[n - 1] != '/' ||
            memcmp(name, dim->key, n - 1) != 0 ||
            (len - n == 5 && memcmp(name + n, "_name", 5) == 0))
            continue;
        for (size_t e = 0; e < s->tp[i].n_choices; e++)
            if (!find_name(s, dim->subs[e], dim->subs[e + 1], name + n, len - n,
                           NULL, NULL)) {
                *choice = s->tp[i].name;
                *element = element_of(dim, e);
                return true;
            }
        for (size_t e = 0; e < s->tp[i].n_choices; e++)
            if (find_lacking(s, dim->subs[e], dim->subs[e + 1], name + n,
                             len - n, choice, element))
                return true;
    }
    return false;
}

bool
space_find_lacking(const struct space *s, const char *name, size_t len,
                   const char **choice, struct jval *element)
{
    return space_find(s, name, len, NULL, NULL) &&
           find_lacking(s, 0, s->n, name, len, choice, element);
}

/* ---- parameters to coordinates ---- */

/* DESIGN: encode is the inverse of decode as far as there is one: what decode
 * made of a point gets a point of which decode makes the very same bytes.  For
 * log kinds that holds because num_exp and num_log err by hardly more than
 * half a unit in the last place: exp(log(v)) may differ from v, but not where
 * v is itself an exp(x). */

#define LOG_4 1.3862943611198906

enum { HINTS_MAX = 256 };

/* A point that is made of parameters. */
struct encoding {
    const struct space *s;
    double *x;
    bool completes; /* what is missing is drawn, what is not known refused */
    uint64_t seed;
};

static int encode_dims(const struct encoding *e, struct jval parameters,
                       size_t from, size_t to, const char *up, struct err *err);

static void
make_inactive(size_t from, size_t to, double *x)
{
    for (size_t i = from; i < to; i++)
        x[i] = NAN;
}

static int
refuse_number(const struct space *s, size_t i, struct jval value,
              struct err *err)
{
    const struct tp_dim *d = &s->tp[i];
    char low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX];

    if (d->flags & TP_DIM_NORMAL)
        return err_set(err, ERR_INPUT, "%s: is %s, expected a finite number%s",
                       d->name, shown(value).text,
                       d->flags & TP_DIM_LOG ? " > 0" : "");
    number_format(s->dim[i].low, low);
    number_format(s->dim[i].high, high);
    return err_set(err, ERR_INPUT,
                   "%s: is %s, expected a number within [%s, %s]", d->name,
                   shown(value).text, low, high);
}

/* By how much a value may lie outside its bounds: what rounding does, and
 * what other programs do that round to a multiple of q and do not clip. */
static double
slack(const struct dim *dim, const struct tp_dim *d)
{
    double size = -dim->low > dim->high ? -dim->low : dim->high;

    return size * 8 * DBL_EPSILON + d->q / 2;
}

static int
encode_number(const struct space *s, size_t i, struct jval value, double *x,
              struct err *err)
{
    const struct tp_dim *d = &s->tp[i];
    const struct dim *dim = &s->dim[i];
    double v;

    if (!jval_number(value, &v) || !isfinite(v))
        return refuse_number(s, i, value, err);
    if ((d->flags & TP_DIM_NORMAL) == 0) {
        if (v < dim->low - slack(dim, d) || v > dim->high + slack(dim, d))
            return refuse_number(s, i, value, err);
        v = clip(v, dim->low, dim->high);
    }
    if ((d->flags & TP_DIM_LOG) == 0)
        x[i] = v;
    else if (v > 0)
        x[i] = clip(num_log(v), d->low, d->high);
    else if (v == 0 && (d->flags & TP_DIM_Q))
        /* amid the values that are rounded to 0 */
        x[i] = num_log(d->q) - LOG_4;
    else
        return refuse_number(s, i, value, err);
    return 0;
}

static int
encode_integer(const struct space *s, size_t i, struct jval value, double *x,
               struct err *err)
{
    const struct tp_dim *d = &s->tp[i];
    bool is_log = (d->flags & TP_DIM_LOG) != 0;
    double low = is_log ? s->dim[i].low : (double)d->offset, v;
    double high = is_log ? s->dim[i].high : space_value(s, i, d->high);
    char steps[48] = "";

    if (!jval_number(value, &v) || !(v >= low && v <= high) || !is_whole(v) ||
        (!is_log && fmod(v - low, step_of(d)) > 0)) {
        if (!is_log && d->q > 1)
            snprintf(steps, sizeof steps, " in steps of %.0f", d->q);
        return err_set(err, ERR_INPUT,
                       "%s: is %s, expected an integer within [%.0f, %.0f]%s",
                       d->name, shown(value).text, low, high, steps);
    }
    x[i] = is_log ? num_log(v) : (v - low) / step_of(d);
    return 0;
}

#define CHOICES_SHOWN 8
#define CHOICE_SHOWN 40
enum { CHOICES_TEXT_MAX = 16 + CHOICES_SHOWN * (CHOICE_SHOWN + 2) };

/* The elements of choice i, `one of "a", "b"`; of many, long or composed ones
 * how many there are. */
static const char *
choices_text(const struct space *s, size_t i, char out[CHOICES_TEXT_MAX])
{
    size_t n = s->tp[i].n_choices;
    int len = snprintf(out, CHOICES_TEXT_MAX, "one of");

    for (size_t e = 0; e < n; e++) {
        struct text t = s->dim[i].elements[e];
        const char *json = s->texts.data + t.at;

        if (n > CHOICES_SHOWN || t.len > CHOICE_SHOWN || *json == '[' ||
            *json == '{') {
            snprintf(out, CHOICES_TEXT_MAX, "one of %zu", n);
            break;
        }
        len += snprintf(out + len, CHOICES_TEXT_MAX - (size_t)len, "%s %.*s",
                        e > 0 ? "," : "", (int)t.len, json);
    }
    return out;
}

static int
refuse_choice(const struct space *s, size_t i, struct jval value,
              struct err *err)
{
    const char *names[HINTS_MAX], *word = "";
    char hint[128] = "", choices[CHOICES_TEXT_MAX];
    bool has_null = false;
    size_t n = 0;

    for (size_t e = 0; e < s->tp[i].n_choices && n < HINTS_MAX; e++) {
        struct jval element = element_of(&s->dim[i], e);

        n += jval_string(element, &names[n], NULL);
        has_null |= jval_type(element) == JSON_NULL;
    }
    if (jval_string(value, &word, NULL) && has_null &&
        strcmp(word, "None") == 0)
        snprintf(hint, sizeof hint,
                 " ('None' is a text here: write null for Python's None)");
    else if (word[0] != '\0')
        nearest_hint(word, names, n, hint, sizeof hint);
    return err_set(err, ERR_INPUT,
                   "%s: %s%s is none of the choices, expected %s%s",
                   s->tp[i].name, s->dim[i].nested ? "_name " : "",
                   shown(value).text, choices_text(s, i, choices), hint);
}

static bool
is_same_text(const struct space *s, struct text element, const struct buf *text)
{
    return element.len == text->len &&
           memcmp(s->texts.data + element.at, text->data, text->len) == 0;
}

/* Goes on to the next element that is spelt as `text` is, or, if `spelt` is
 * false, that is merely equal; false when there is none. */
static bool
next_match(const struct space *s, size_t i, struct jval value,
           const struct buf *text, bool spelt, size_t *e)
{
    const struct dim *dim = &s->dim[i];

    for (; *e < s->tp[i].n_choices; ++*e) {
        bool same = is_same_text(s, dim->elements[*e], text);

        if (spelt ? same : !same && jval_equal(element_of(dim, *e), value))
            return true;
    }
    return false;
}

/* The first element spelt like the value, else the first equal one; where
 * elements of a nested choice have one _name, the first whose sub-parameters
 * fit. */
static int
find_choice(const struct encoding *e, size_t i, struct jval whole,
            struct jval value, const struct buf *text, struct err *err)
{
    const struct dim *dim = &e->s->dim[i];
    bool found = false;

    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; next_match(e->s, i, value, text, pass == 0, &k);
             k++) {
            e->x[i] = (double)k;
            if (!dim->nested ||
                encode_dims(e, whole, dim->subs[k], dim->subs[k + 1],
                            e->s->tp[i].name, found ? NULL : err) == 0)
                return 0;
            make_inactive(dim->subs[k], dim->subs[k + 1], e->x);
            found = true;
        }
    return found ? -1 : refuse_choice(e->s, i, value, err);
}

static int
encode_choice(const struct encoding *e, size_t i, struct jval value,
              struct err *err)
{
    const char *place = e->s->tp[i].name;
    char choices[CHOICES_TEXT_MAX];
    struct jval name = value;
    struct buf text;
    int rc;

    if (e->s->dim[i].nested && jval_type(value) != JSON_OBJECT)
        return err_set(err, ERR_INPUT,
                       "%s: is %s, expected an object with _name", place,
                       shown(value).text);
    if (e->s->dim[i].nested && !jval_get(value, "_name", &name))
        return err_set(err, ERR_INPUT, "%s: lacks _name, expected %s", place,
                       choices_text(e->s, i, choices));
    buf_init(&text, SPACE_TEXT_MAX);
    jval_write(name, &text);
    rc = buf_check(&text, place, err);
    if (rc == 0)
        rc = find_choice(e, i, value, name, &text, err);
    buf_fini(&text);
    return rc;
}

static int
encode_dim(const struct encoding *e, size_t i, struct jval value,
           struct err *err)
{
    if (e->s->tp[i].kind == TP_CHOICE)
        return encode_choice(e, i, value, err);
    return e->s->dim[i].type->is_integer
               ? encode_integer(e->s, i, value, e->x, err)
               : encode_number(e->s, i, value, e->x, err);
}

/* Refuses a missing key, naming the key that was perhaps meant. */
static int
refuse_missing(const struct space *s, size_t i, struct jval parameters,
               struct err *err)
{
    struct jval_iter it = jval_iter(parameters);
    const char *key = s->dim[i].key, *found = NULL;

    while (found == NULL && jval_next(&it))
        found = nearest_name(it.key, &key, 1) != NULL ? it.key : NULL;
    return err_set(
        err, ERR_INPUT, "%s: is missing, expected a value of type %s%s%.60s%s",
        s->tp[i].name, s->dim[i].type->name, found != NULL ? " (is it '" : "",
        found != NULL ? found : "", found != NULL ? "'?)" : "");
}

/* Opens the objects around parameter i of a set. */
static void
open_above(const struct space *s, size_t i, struct json_writer *w)
{
    size_t up = s->tp[i].parent;

    if (up == TP_NO_PARENT) {
        json_open_object(w, NULL);
        return;
    }
    open_above(s, up, w);
    json_open_object(w, s->dim[up].key);
    jval_write(element_of(&s->dim[up], s->tp[i].parent_choice),
               json_value(w, "_name"));
}

/* Writes to `out` what was perhaps meant by a key of none of the dimensions
 * from..to-1: how a parameter of a nested choice is written, the nearest of
 * their keys, or all. */
static void
hint_unknown(const struct space *s, const char *key, size_t from, size_t to,
             struct buf *out)
{
    const char *names[HINTS_MAX] = {NULL};
    char hint[HINT_MAX];
    struct json_writer w;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->tp[i].parent != TP_NO_PARENT &&
            (strcmp(s->dim[i].key, key) == 0 ||
             strcmp(s->tp[i].name, key) == 0)) {
            buf_add_text(out, " (write ");
            w = json_begin(out);
            open_above(s, i, &w);
            json_add_raw(&w, s->dim[i].key, "...");
            json_end(&w);
            buf_add_char(out, ')');
            return;
        }
    for (size_t i = from; i < to && n < HINTS_MAX; i = s->dim[i].end)
        names[n++] = s->dim[i].key;
    buf_add_text(out, nearest_hint(key, names, n, hint, sizeof hint));
    for (size_t k = 0; hint[0] == '\0' && k < n && k <= CHOICES_SHOWN; k++)
        buf_printf(out, "%s%.60s%s", k == 0 ? " (expected " : ", ",
                   k < CHOICES_SHOWN ? names[k] : "...",
                   k == n - 1 || k == CHOICES_SHOWN ? ")" : "");
}

/* Refuses a key of none of the dimensions from..to-1, which hang on the choice
 * `up`, NULL being none. */
static int
refuse_unknown(const struct space *s, struct jval parameters, size_t from,
               size_t to, const char *up, struct err *err)
{
    struct jval_iter it = jval_iter(parameters);
    size_t at = from;
    struct buf hint;

    while (jval_next(&it))
        if (find_key(s, from, to, &at, it.key) == SIZE_MAX &&
            (up == NULL || strcmp(it.key, "_name") != 0)) {
            buf_init(&hint, ERR_TEXT_MAX);
            hint_unknown(s, it.key, from, to, &hint);
            err_set(err, ERR_INPUT,
                    "%s%s%.200s: the search space has no such parameter%s%s",
                    up != NULL ? up : "", up != NULL ? "/" : "", it.key,
                    up != NULL ? " here" : "", buf_text(&hint));
            buf_fini(&hint);
            return -1;
        }
    return 0;
}

static int
encode_dims(const struct encoding *e, struct jval parameters, size_t from,
            size_t to, const char *up, struct err *err)
{
    const struct space *s = e->s;

    if (e->completes && refuse_unknown(s, parameters, from, to, up, err) != 0)
        return -1;
    for (size_t i = from; i < to; i = s->dim[i].end) {
        struct jval value;

        if (jval_get(parameters, s->dim[i].key, &value)) {
            if (encode_dim(e, i, value, err) != 0)
                return -1;
        } else if (e->completes) {
            sample_dims(s, e->seed, 0, i, s->dim[i].end, e->x);
        } else {
            return refuse_missing(s, i, parameters, err);
        }
    }
    return 0;
}

static int
encode(const struct encoding *e, struct jval parameters, struct err *err)
{
    const struct space *s = e->s;

    make_inactive(0, s->n, e->x);
    if (s->n == 1 && (s->tp[0].flags & TP_DIM_WHOLE))
        return encode_choice(e, 0, parameters, err);
    if (jval_type(parameters) != JSON_OBJECT)
        return err_set(err, ERR_INPUT,
                       "parameters: is %s, expected an object with a value "
                       "for each parameter",
                       shown(parameters).text);
    return encode_dims(e, parameters, 0, s->n, NULL, err);
}

int
space_encode(const struct space *s, struct jval parameters, double *x,
             struct err *err)
{
    return encode(&(struct encoding){.s = s, .x = x}, parameters, err);
}

int
space_complete(const struct space *s, struct jval parameters, uint64_t seed,
               double *x, struct err *err)
{
    const struct encoding e = {.s = s, .x = x, .completes = true, .seed = seed};

    return encode(&e, parameters, err);
}

static size_t
count_active(const struct space *s, const double *x)
{
    size_t count = 0;

    for (size_t i = 0; i < s->n;) {
        bool chosen = dim_is_chosen(s, x, i);

        count += chosen;
        i = chosen ? i + 1 : s->dim[i].end;
    }
    return count;
}

/* Projects through the JSON: both spaces agree on what a trial is given. */
int
space_project(const struct space *from, const double *x, const struct space *to,
              double *y, struct err *err)
{
    struct json *parameters = NULL;
    struct buf text;
    int rc = -1;

    buf_init(&text, SPACE_TEXT_MAX);
    if (space_check(from, x, err) != 0)
        goto done;
    space_decode(from, x, &text);
    if (buf_check(&text, "the parameters", err) != 0)
        goto done;
    parameters = json_parse(text.data, text.len, JSON_STRICT, err);
    if (parameters == NULL ||
        space_encode(to, json_root(parameters), y, err) != 0)
        goto done;
    /* Each active parameter of `to` was found in `from`: are these all? */
    if (count_active(to, y) == count_active(from, x))
        rc = 0;
    else
        err_set(err, ERR_INPUT,
                "parameters: %zu are active, expected the %zu that the new "
                "search space has",
                count_active(from, x), count_active(to, y));
done:
    json_free(parameters);
    buf_fini(&text);
    return rc;
}

/* ---- the key of a point ---- */

/* DESIGN: a hash of the parameters as the JSON value that a trial receives,
 * without writing it: scalars by type and bits, arrays in order, objects as
 * the sum over their members, so that the order of keys does not matter.  Two
 * lanes of 64 bits, mixed with different constants. */

struct key {
    uint64_t a, b;
};

enum tag {
    TAG_NULL = 1,
    TAG_BOOL,
    TAG_INT,
    TAG_UINT,
    TAG_DOUBLE,
    TAG_STRING,
    TAG_ARRAY,
    TAG_OBJECT
};

static void
absorb(struct key *k, uint64_t word)
{
    k->a = (k->a ^ word) * 0xff51afd7ed558ccdu;
    k->a = (k->a ^ k->a >> 32) * 0xc4ceb9fe1a85ec53u;
    k->a ^= k->a >> 29;
    k->b = (k->b + word) * 0xbf58476d1ce4e5b9u;
    k->b = (k->b ^ k->b >> 31) * 0x94d049bb133111ebu;
    k->b ^= k->b >> 30;
}

static struct key
start(enum tag tag)
{
    struct key k = {0x9e3779b97f4a7c15u, 0x6a09e667f3bcc909u};

    absorb(&k, (uint64_t)tag);
    return k;
}

static struct key
of_word(enum tag tag, uint64_t word)
{
    struct key k = start(tag);

    absorb(&k, word);
    return k;
}

static struct key
of_double(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    return of_word(TAG_DOUBLE, bits);
}

static struct key
of_string(const char *text, size_t len)
{
    struct key k = of_word(TAG_STRING, len);

    for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
        size_t n = len - at < sizeof(uint64_t) ? len - at : sizeof(uint64_t);
        uint64_t word = 0;

        memcpy(&word, text + at, n);
        absorb(&k, word);
    }
    return k;
}

/* Adds the member NAME: VALUE to an object. */
static void
add_member(struct key *object, const char *name, struct key value)
{
    struct key k = of_string(name, strlen(name));

    absorb(&k, value.a);
    absorb(&k, value.b);
    object->a += k.a;
    object->b += k.b;
}

static struct key of_value(struct jval v);

static struct key
of_object(struct jval v)
{
    struct jval_iter it = jval_iter(v);
    struct key k = start(TAG_OBJECT);

    while (jval_next(&it))
        add_member(&k, it.key, of_value(it.value));
    return k;
}

static struct key
of_array(struct jval v)
{
    struct key k = of_word(TAG_ARRAY, jval_count(v));

    for (size_t i = 0; i < jval_count(v); i++) {
        struct key element = of_value(jval_at(v, i));

        absorb(&k, element.a);
        absorb(&k, element.b);
    }
    return k;
}

static struct key
of_value(struct jval v)
{
    const char *text = "";
    uint64_t word = 0;
    bool truth = false;
    int64_t i = 0;
    double d = 0;
    size_t len = 0;

    switch (jval_type(v)) {
    case JSON_NULL:
        break;
    case JSON_BOOL:
        (void)jval_bool(v, &truth);
        return of_word(TAG_BOOL, truth);
    case JSON_INT:
        (void)jval_int(v, &i);
        return of_word(TAG_INT, (uint64_t)i);
    case JSON_UINT:
        (void)jval_uint(v, &word);
        return of_word(TAG_UINT, word);
    case JSON_DOUBLE:
        (void)jval_double(v, &d);
        return of_double(d);
    case JSON_STRING:
        (void)jval_string(v, &text, &len);
        return of_string(text, len);
    case JSON_ARRAY:
        return of_array(v);
    case JSON_OBJECT:
        return of_object(v);
    }
    return start(TAG_NULL);
}

static struct key of_dim(const struct space *s, const double *x, size_t i);

static void
add_dims(struct key *object, const struct space *s, const double *x,
         size_t from, size_t to)
{
    for (size_t i = from; i < to; i = s->dim[i].end)
        add_member(object, s->dim[i].key, of_dim(s, x, i));
}

static struct key
of_choice(const struct space *s, const double *x, size_t i)
{
    const struct dim *d = &s->dim[i];
    size_t e = (size_t)x[i];
    struct jval name, element = jval_at(d->list, e);
    struct key k;

    if (!d->nested)
        return of_value(element);
    k = start(TAG_OBJECT);
    if (jval_get(element, "_name", &name))
        add_member(&k, "_name", of_value(name));
    add_dims(&k, s, x, d->subs[e], d->subs[e + 1]);
    return k;
}

static struct key
of_dim(const struct space *s, const double *x, size_t i)
{
    const struct tp_dim *d = &s->tp[i];

    if (d->kind == TP_CHOICE)
        return of_choice(s, x, i);
    if (s->dim[i].type->is_integer)
        return of_word(TAG_INT, (uint64_t)integer_value(s, i, x[i]));
    return of_double(dim_value(s, i, x[i]));
}

void
space_key(const struct space *s, const double *x, uint64_t key[2])
{
    struct key k = start(TAG_OBJECT);

    if (s->n == 1 && (s->tp[0].flags & TP_DIM_WHOLE))
        k = of_choice(s, x, 0);
    else
        add_dims(&k, s, x, 0, s->n);
    key[0] = k.a;
    key[1] = k.b;
}
