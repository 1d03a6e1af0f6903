/* SPDX-License-Identifier: MIT */
#include "objectives/objectives.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "core/number.h"
#include "json.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(words) (sizeof(words) / sizeof *(words))

static const char *const directions[] = {"minimize", "maximize"};
static const char *const methods[] = {
    [SCALARIZE_CHEBYSHEV] = "chebyshev",
    [SCALARIZE_WEIGHTS] = "weights",
    [SCALARIZE_LEXICOGRAPHIC] = "lexicographic",
};

/* Room for the names in an error text, or as many of them as fit. */
#define LIST_MAX 300

/* Writes 'a', 'b' and 'c' to out and returns it; what does not fit is left
 * out behind "...". */
static const char *
list_words(const char *const *words, size_t n, char out[LIST_MAX])
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const char *between = i == 0 ? "" : i + 1 == n ? " and " : ", ";

        if (len + strlen(words[i]) + 16 > LIST_MAX) {
            snprintf(out + len, LIST_MAX - len, ", ...");
            break;
        }
        len += (size_t)snprintf(out + len, LIST_MAX - len, "%s'%s'", between,
                                words[i]);
    }
    return out;
}

/* ---- reading ---- */

/* An object's keys are all among these; -1: err names the one that is not. */
static int
check_keys(struct jval object, const char *const *keys, size_t n,
           struct err *err)
{
    char all[LIST_MAX], hint[OBJECTIVES_NAME_MAX + 32], quoted[QUOTE_MAX];
    struct jval_iter it = jval_iter(object);

    while (jval_next(&it)) {
        size_t i = 0;

        while (i < n && strcmp(it.key, keys[i]) != 0)
            i++;
        if (i == n)
            return err_set(err, ERR_INPUT,
                           "unknown key %s, expected one of %s%s",
                           quote_bytes(quoted, it.key, strlen(it.key)),
                           list_words(keys, n, all),
                           nearest_hint(it.key, keys, n, hint, sizeof hint));
    }
    return 0;
}

static int
refuse(struct jval v, const char *expected, struct err *err)
{
    char quoted[QUOTE_MAX];

    return err_set(err, ERR_INPUT, "%s, expected %s", jval_quote(quoted, v),
                   expected);
}

/* The index of the word that v is. */
static int
read_word(struct jval v, const char *const *words, size_t n, struct err *err)
{
    char all[LIST_MAX], hint[64], quoted[QUOTE_MAX];
    const char *text = "";

    if (jval_string(v, &text, NULL))
        for (size_t i = 0; i < n; i++)
            if (strcmp(text, words[i]) == 0)
                return (int)i;
    return err_set(err, ERR_INPUT, "%s, expected one of %s%s",
                   jval_quote(quoted, v), list_words(words, n, all),
                   nearest_hint(text, words, n, hint, sizeof hint));
}

/* A member that may be missing: *out stays. */
static int
read_number(struct jval object, const char *key, double *out, struct err *err)
{
    struct jval v;

    if (!jval_get(object, key, &v) || jval_number(v, out))
        return 0;
    refuse(v, "a finite number", err);
    return err_place(err, "%s", key);
}

/* What is wrong with the name of a value; NULL: nothing. */
static const char *
refuse_name(const char *name, size_t len)
{
    if (len == 0 || len > OBJECTIVES_NAME_MAX)
        return "a name of 1 to 64 bytes";
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return "a name without control characters";
    if (strcspn(name, "=<>,") != len)
        return "a name without '=', '<', '>' and ','";
    if (name[0] == ' ' || name[len - 1] == ' ')
        return "a name without spaces around it";
    return NULL;
}

/* Puts `name`, which it takes, behind the names there are. */
static int
add_name(struct objectives *o, char *name, struct err *err)
{
    if (name == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    o->names[o->n_values++] = name;
    return 0;
}

static int
read_name(struct objectives *o, struct jval v, struct err *err)
{
    const char *name, *expected;
    size_t len;

    if (!jval_string(v, &name, &len))
        return refuse(v, "a text", err);
    expected = refuse_name(name, len);
    if (expected != NULL)
        return refuse(v, expected, err);
    for (size_t i = 0; i < o->n_values; i++)
        if (strcmp(o->names[i], name) == 0)
            return err_set(err, ERR_INPUT,
                           "'%s' is the name of objectives[%zu] already", name,
                           i);
    return add_name(o, strdup(name), err);
}

static int
read_objective(struct objectives *o, struct jval v, struct err *err)
{
    static const char *const keys[] = {"name", "direction", "reference",
                                       "goal"};
    struct objective *item = &o->items[o->n];
    struct jval member;
    int direction;

    if (jval_type(v) != JSON_OBJECT)
        return refuse(v, "an object with 'name' and 'direction'", err);
    if (check_keys(v, keys, N(keys), err) != 0)
        return -1;
    if (!jval_get(v, "name", &member))
        return err_set(err, ERR_INPUT, "no 'name', expected a text");
    if (read_name(o, member, err) != 0)
        return err_place(err, "name");
    if (!jval_get(v, "direction", &member))
        return err_set(err, ERR_INPUT,
                       "no 'direction', expected 'minimize' or 'maximize'");
    direction = read_word(member, directions, N(directions), err);
    if (direction < 0)
        return err_place(err, "direction");
    *item = (struct objective){o->names[o->n], direction == 1, NAN, NAN};
    o->n++;
    if (read_number(v, "reference", &item->reference, err) != 0)
        return -1;
    return read_number(v, "goal", &item->goal, err);
}

static int
read_items(struct objectives *o, struct jval root, struct err *err)
{
    struct jval list;
    size_t n;

    if (!jval_get(root, "objectives", &list))
        return err_set(err, ERR_INPUT,
                       "no 'objectives', expected a list of 1 to %d",
                       OBJECTIVES_MAX);
    n = jval_count(list);
    if (jval_type(list) != JSON_ARRAY) {
        refuse(list, "a list", err);
        return err_place(err, "objectives");
    }
    if (n < 1 || n > OBJECTIVES_MAX)
        return err_set(err, ERR_INPUT,
                       "objectives: %zu of them, expected 1 to %d", n,
                       OBJECTIVES_MAX);
    for (size_t i = 0; i < n; i++)
        if (read_objective(o, jval_at(list, i), err) != 0)
            return err_place(err, "objectives[%zu]", i);
    return 0;
}

/* The length of text[0..len) without the spaces at its end. */
static size_t
without_spaces(const char *text, size_t len)
{
    while (len > 0 && text[len - 1] == ' ')
        len--;
    return len;
}

/* Reads "NAME <= NUMBER" into name, which is the caller's then. */
static int
parse_limit(const char *text, struct objective_limit *limit, char **name)
{
    size_t len = strcspn(text, "<>"), bound_len;
    const char *bound = text + len + 2;

    if (text[len] == '\0' || text[len + 1] != '=')
        return -1;
    limit->at_most = text[len] == '<';
    text += strspn(text, " ");
    len = strcspn(text, "<>");
    len = without_spaces(text, len);
    bound += strspn(bound, " ");
    bound_len = without_spaces(bound, strlen(bound));
    if (!number_parse(bound, bound_len, &limit->bound))
        return -1;
    *name = strndup(text, len);
    return 0;
}

/* "NAME <= NUMBER", in one spelling. */
static char *
limit_text(const char *name, const struct objective_limit *limit)
{
    char number[NUMBER_TEXT_MAX], *text;
    size_t len = number_format(limit->bound, number);

    if (len > 2 && strcmp(number + len - 2, ".0") == 0)
        number[len - 2] = '\0';
    if (asprintf(&text, "%s %s %s", name,
                 limit->at_most ? "<=" : ">=", number) < 0)
        return NULL;
    return text;
}

/* Finds the value of that name, which it takes, or adds one. */
static int
value_named(struct objectives *o, char *name, size_t *out, struct err *err)
{
    for (size_t i = 0; name != NULL && i < o->n_values; i++)
        if (strcmp(o->names[i], name) == 0) {
            free(name);
            *out = i;
            return 0;
        }
    *out = o->n_values;
    return add_name(o, name, err);
}

/* No value can be within both. */
static bool
contradict(const struct objective_limit *a, const struct objective_limit *b)
{
    if (a->value != b->value || a->at_most == b->at_most)
        return false;
    return a->at_most ? a->bound < b->bound : b->bound < a->bound;
}

static int
read_limit(struct objectives *o, struct jval v, struct err *err)
{
    struct objective_limit *limit = &o->limits[o->n_limits];
    const char *text, *expected;
    char *name = NULL;
    size_t len;

    if (!jval_string(v, &text, &len) || strlen(text) != len ||
        parse_limit(text, limit, &name) != 0)
        return refuse(v, "\"NAME <= NUMBER\" or \"NAME >= NUMBER\"", err);
    expected = name != NULL ? refuse_name(name, strlen(name)) : NULL;
    if (expected != NULL) {
        free(name);
        return refuse(v, expected, err);
    }
    if (value_named(o, name, &limit->value, err) != 0)
        return -1;
    limit->text = limit_text(o->names[limit->value], limit);
    if (limit->text == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    o->n_limits++;
    for (size_t i = 0; i + 1 < o->n_limits; i++)
        if (contradict(&o->limits[i], limit))
            return err_set(err, ERR_INPUT,
                           "no value is within '%s' and '%s' at once",
                           o->limits[i].text, limit->text);
    return 0;
}

static int
read_limits(struct objectives *o, struct jval root, struct err *err)
{
    struct jval list;
    size_t n;

    if (!jval_get(root, "resultConstraints", &list))
        return 0;
    n = jval_count(list);
    if (jval_type(list) != JSON_ARRAY) {
        refuse(list, "a list of texts", err);
        return err_place(err, "resultConstraints");
    }
    if (n > OBJECTIVES_LIMITS_MAX)
        return err_set(err, ERR_INPUT,
                       "resultConstraints: %zu of them, expected at most %d", n,
                       OBJECTIVES_LIMITS_MAX);
    for (size_t i = 0; i < n; i++)
        if (read_limit(o, jval_at(list, i), err) != 0)
            return err_place(err, "resultConstraints[%zu]", i);
    return 0;
}

static int
read_weight(struct objectives *o, const char *name, struct jval v,
            struct err *err)
{
    const char *const *names = (const char *const *)o->names;
    char all[LIST_MAX], hint[OBJECTIVES_NAME_MAX + 32], quoted[QUOTE_MAX];
    double weight;

    for (size_t i = 0; i < o->n; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        if (jval_number(v, &weight) && weight >= 0) {
            o->weights[i] = weight;
            return 0;
        }
        refuse(v, "a number of at least 0", err);
        return err_place(err, "%s", name);
    }
    return err_set(err, ERR_INPUT, "%s is no objective, expected %s%s",
                   quote_bytes(quoted, name, strlen(name)),
                   list_words(names, o->n, all),
                   nearest_hint(name, names, o->n, hint, sizeof hint));
}

static int
read_weights(struct objectives *o, struct jval v, struct err *err)
{
    struct jval_iter it = jval_iter(v);
    bool some = false;

    if (jval_type(v) != JSON_OBJECT)
        return refuse(v, "an object of objectives and numbers", err);
    if (o->how == SCALARIZE_LEXICOGRAPHIC)
        return err_set(err, ERR_INPUT,
                       "lexicographic goes by the order of the "
                       "objectives, expected no weights");
    while (jval_next(&it))
        if (read_weight(o, it.key, it.value, err) != 0)
            return -1;
    for (size_t i = 0; i < o->n; i++)
        some = some || o->weights[i] > 0;
    if (!some)
        return err_set(err, ERR_INPUT,
                       "all are 0, expected one above 0 at least");
    return 0;
}

static int
read_scalarize(struct objectives *o, struct jval root, struct err *err)
{
    static const char *const keys[] = {"method", "weights"};
    struct jval v, member;
    int how;

    for (size_t i = 0; i < o->n; i++)
        o->weights[i] = 1;
    if (!jval_get(root, "scalarize", &v))
        return 0;
    if (jval_type(v) != JSON_OBJECT) {
        refuse(v, "an object with 'method'", err);
        return err_place(err, "scalarize");
    }
    if (check_keys(v, keys, N(keys), err) != 0)
        return err_place(err, "scalarize");
    if (jval_get(v, "method", &member)) {
        how = read_word(member, methods, N(methods), err);
        if (how < 0)
            return err_place(err, "scalarize.method");
        o->how = (enum scalarize)how;
    }
    if (jval_get(v, "weights", &member) && read_weights(o, member, err) != 0)
        return err_place(err, "scalarize.weights");
    return 0;
}

static int
read_whole(struct objectives *o, struct jval root, struct err *err)
{
    static const char *const keys[] = {"objectives", "resultConstraints",
                                       "scalarize"};

    if (jval_type(root) != JSON_OBJECT)
        return refuse(root, "an object with 'objectives'", err);
    if (check_keys(root, keys, N(keys), err) != 0 ||
        read_items(o, root, err) != 0 || read_limits(o, root, err) != 0)
        return -1;
    return read_scalarize(o, root, err);
}

struct objectives *
objectives_from(struct jval root, struct err *err)
{
    struct objectives *o = calloc(1, sizeof *o);

    if (o == NULL)
        goto out_of_memory;
    o->items = calloc(OBJECTIVES_MAX, sizeof *o->items);
    o->limits = calloc(OBJECTIVES_LIMITS_MAX, sizeof *o->limits);
    o->names = calloc(OBJECTIVES_VALUES_MAX, sizeof *o->names);
    if (o->items == NULL || o->limits == NULL || o->names == NULL)
        goto out_of_memory;
    if (read_whole(o, root, err) == 0)
        return o;
    objectives_free(o);
    return NULL;
out_of_memory:
    err_set(err, ERR_MEMORY, "out of memory");
    objectives_free(o);
    return NULL;
}

struct objectives *
objectives_read(const char *json, struct err *err)
{
    struct json *doc = json_parse(json, strlen(json), JSON_UNIQUE, err);
    struct objectives *o = NULL;

    if (doc != NULL)
        o = objectives_from(json_root(doc), err);
    json_free(doc);
    return o;
}

void
objectives_free(struct objectives *o)
{
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->n_values; i++)
        free(o->names[i]);
    for (size_t i = 0; i < o->n_limits; i++)
        free(o->limits[i].text);
    free(o->items);
    free(o->limits);
    free(o->names);
    free(o);
}

/* ---- writing ---- */

static void
write_scalarize(const struct objectives *o, struct json_writer *w)
{
    bool weighted = false;

    for (size_t i = 0; i < o->n; i++)
        weighted = weighted || o->weights[i] != 1;
    if (!weighted && o->how == SCALARIZE_CHEBYSHEV)
        return;
    json_open_object(w, "scalarize");
    json_add_text(w, "method", methods[o->how]);
    if (weighted) {
        json_open_object(w, "weights");
        for (size_t i = 0; i < o->n; i++)
            json_add_number(w, o->items[i].name, o->weights[i]);
        json_close(w);
    }
    json_close(w);
}

void
objectives_write(const struct objectives *o, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_open_array(w, "objectives");
    for (size_t i = 0; i < o->n; i++) {
        const struct objective *item = &o->items[i];

        json_open_object(w, NULL);
        json_add_text(w, "name", item->name);
        json_add_text(w, "direction", directions[item->maximize]);
        if (!isnan(item->reference))
            json_add_number(w, "reference", item->reference);
        if (!isnan(item->goal))
            json_add_number(w, "goal", item->goal);
        json_close(w);
    }
    json_close(w);
    if (o->n_limits > 0) {
        json_open_array(w, "resultConstraints");
        for (size_t i = 0; i < o->n_limits; i++)
            json_add_text(w, NULL, o->limits[i].text);
        json_close(w);
    }
    write_scalarize(o, w);
    json_close(w);
}

const char *
scalarize_name(enum scalarize how)
{
    return methods[how];
}

char *
objectives_text(const struct objectives *o)
{
    struct json_writer w;
    struct buf out;
    char *text;

    buf_init(&out, SIZE_MAX / 2);
    w = json_begin(&out);
    objectives_write(o, &w);
    text = buf_take(&out);
    buf_fini(&out);
    return text;
}

/* ---- reported values ---- */

void
objectives_report(const struct objectives *o, const double *values,
                  struct buf *out)
{
    struct json_writer w = json_begin_object(out);

    for (size_t i = 0; i < o->n_values; i++)
        json_write_double(json_value(&w, o->names[i]), values[i]);
    json_close(&w);
}

/* A number, or NNI's booleans. */
static bool
read_value(struct jval v, double *out)
{
    bool flag;

    if (jval_bool(v, &flag)) {
        *out = flag;
        return true;
    }
    return jval_number(v, out);
}

static bool
is_value(const struct objectives *o, const char *name)
{
    for (size_t i = 0; i < o->n_values; i++)
        if (strcmp(o->names[i], name) == 0)
            return true;
    return false;
}

/* What a report has, for an error text, and which of that may be what is
 * missing: of what only a limit names anything, else nothing that is wanted. */
static const char *
list_reported(const struct objectives *o, struct jval reported, size_t missing,
              char out[LIST_MAX], char *hint, size_t hint_size)
{
    const char *names[OBJECTIVES_VALUES_MAX], *others[OBJECTIVES_VALUES_MAX];
    struct jval_iter it = jval_iter(reported);
    size_t n = 0, n_others = 0;

    for (; n < N(names) && jval_next(&it); n++) {
        names[n] = it.key;
        if (missing >= o->n || !is_value(o, it.key))
            others[n_others++] = it.key;
    }
    nearest_hint(o->names[missing], others, n_others, hint, hint_size);
    return n > 0 ? list_words(names, n, out) : "nothing";
}

static int
refuse_missing(const struct objectives *o, struct jval reported, size_t i,
               struct err *err)
{
    char all[LIST_MAX], hint[OBJECTIVES_NAME_MAX + 32], quoted[QUOTE_MAX];

    if (jval_type(reported) == JSON_OBJECT)
        return err_set(
            err, ERR_INPUT, "no value '%s', reported is %s%s", o->names[i],
            list_reported(o, reported, i, all, hint, sizeof hint), hint);
    return err_set(err, ERR_INPUT,
                   "no value '%s', reported is %s, expected an object with "
                   "values by name",
                   o->names[i], jval_quote(quoted, reported));
}

/* The first value that a report lacks; n_values: none. */
static size_t
first_missing(const struct objectives *o, struct jval reported)
{
    bool object = jval_type(reported) == JSON_OBJECT;
    struct jval v;
    size_t i = 0;

    while (i < o->n_values && (object ? jval_get(reported, o->names[i], &v)
                                      : strcmp(o->names[i], "default") == 0))
        i++;
    return i;
}

/* Whether a report has one of the values at least. */
static bool
has_some(const struct objectives *o, struct jval reported)
{
    struct jval v;

    for (size_t i = 0; i < o->n_values; i++)
        if (jval_get(reported, o->names[i], &v))
            return true;
    return false;
}

/* Reads what is no text any more; `some`: values that it lacks are NaN, but one
 * has to be there. */
static int
take_values(const struct objectives *o, struct jval reported, bool some,
            double *values, struct err *err)
{
    bool object = jval_type(reported) == JSON_OBJECT;
    size_t missing = first_missing(o, reported);
    char quoted[QUOTE_MAX];

    if (missing < o->n_values && !(some && object && has_some(o, reported)))
        return refuse_missing(o, reported, missing, err);
    for (size_t i = 0; i < o->n_values; i++) {
        const char *name = o->names[i];
        struct jval v = reported;

        values[i] = (double)NAN;
        if (object && !jval_get(reported, name, &v))
            continue;
        if (!read_value(v, &values[i]))
            return err_set(err, ERR_INPUT,
                           "value '%s' is %s, expected a number", name,
                           jval_quote(quoted, v));
    }
    return 0;
}

/* Reads what a text holds.  A text in a text is not taken, nor is one that is
 * no JSON. */
static int
take_text(const struct objectives *o, struct jval reported, bool some,
          double *values, struct err *err)
{
    const char *text = "";
    size_t len = 0;
    struct err why = {0};
    struct json *doc;
    int rc;

    jval_string(reported, &text, &len);
    doc = json_parse(text, len, JSON_NAN, &why);
    if (why.code == ERR_MEMORY)
        rc = err_set(err, ERR_MEMORY, "%s", why.text);
    else if (doc == NULL || jval_type(json_root(doc)) == JSON_STRING)
        rc = refuse_missing(o, reported, 0, err);
    else
        rc = take_values(o, json_root(doc), some, values, err);
    json_free(doc);
    return rc;
}

static int
take(const struct objectives *o, struct jval reported, bool some,
     struct objective_values *out, struct err *err)
{
    int rc = jval_type(reported) == JSON_STRING
                 ? take_text(o, reported, some, out->values, err)
                 : take_values(o, reported, some, out->values, err);

    if (rc == 0)
        out->violation = objectives_violation(o, out->values);
    return rc;
}

int
objectives_take(const struct objectives *o, struct jval reported,
                struct objective_values *out, struct err *err)
{
    return take(o, reported, false, out, err);
}

int
objectives_take_some(const struct objectives *o, struct jval reported,
                     struct objective_values *out, struct err *err)
{
    return take(o, reported, true, out, err);
}

int
objectives_stamp(const struct objectives *o, struct metric *m, struct err *why)
{
    struct json *doc = metric_parse(m, why);
    struct objective_values taken;
    int rc = -1;

    m->has_value = false;
    if (doc == NULL)
        return -1;
    if (take(o, json_root(doc), m->type == METRIC_PERIODICAL, &taken, why) ==
        0) {
        m->values = malloc(o->n_values * sizeof *m->values);
        rc = m->values != NULL ? 0 : err_set(why, ERR_MEMORY, "out of memory");
    }
    json_free(doc);
    if (rc != 0)
        return -1;
    memcpy(m->values, taken.values, o->n_values * sizeof *m->values);
    m->n_values = o->n_values;
    m->violation = taken.violation;
    m->has_value = true;
    /* NaN as soon as one is: whoever takes one number alone knows what that
     * means. */
    m->value = taken.values[0];
    for (size_t i = 1; i < o->n; i++)
        if (isnan(taken.values[i]))
            m->value = NAN;
    return 0;
}

/* ---- judging ---- */

double
objectives_violation(const struct objectives *o, const double *values)
{
    double sum = 0;

    for (size_t i = 0; i < o->n_limits; i++) {
        const struct objective_limit *limit = &o->limits[i];
        double value = values[limit->value];

        if (isnan(value))
            return INFINITY;
        if (limit->at_most ? value > limit->bound : value < limit->bound)
            sum += fabs(value - limit->bound) / fmax(1, fabs(limit->bound));
    }
    return sum;
}

double
objectives_cost(const struct objectives *o, size_t i, double value)
{
    assert(i < o->n);
    return o->items[i].maximize ? -value : value;
}

/* Less than 0: a is better; a NaN is worse than all numbers. */
static int
compare_costs(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

bool
objectives_dominates(const struct objectives *o,
                     const struct objective_values *a,
                     const struct objective_values *b)
{
    bool better = false;

    if (a->violation != b->violation)
        return a->violation < b->violation;
    for (size_t i = 0; i < o->n; i++) {
        int order = compare_costs(objectives_cost(o, i, a->values[i]),
                                  objectives_cost(o, i, b->values[i]));

        if (order > 0)
            return false;
        better = better || order < 0;
    }
    return better;
}

bool
objectives_reached(const struct objectives *o,
                   const struct objective_values *values)
{
    bool some = false;

    if (values->violation > 0)
        return false;
    for (size_t i = 0; i < o->n; i++) {
        double goal = o->items[i].goal;

        if (isnan(goal))
            continue;
        some = true;
        if (compare_costs(objectives_cost(o, i, values->values[i]),
                          objectives_cost(o, i, goal)) > 0)
            return false;
    }
    return some;
}
