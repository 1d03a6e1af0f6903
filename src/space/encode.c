/* SPDX-License-Identifier: MIT */
#include "space/dims.h"
#include "space/space.h"

#include "core/err.h"
#include "core/nearest.h"
#include "core/number.h"
#include "numerics/elementary.h"
#include "space/place.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* DESIGN: encode is the inverse of decode as far as there is one: what decode
 * made of a point gets a point of which decode makes the very same bytes.  For
 * log kinds that holds because num_exp and num_log err by hardly more than
 * half a unit in the last place: exp(log(v)) may differ from v, but not where
 * v is itself an exp(x). */

#define LOG_4 1.3862943611198906

enum { HINTS_MAX = 256 };

static int encode_dims(const struct space *s, struct jval parameters,
                       size_t from, size_t to, double *x, struct err *err);

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
        x[i] = num_log(d->q) - LOG_4; /* amid what is rounded to 0 */
    else
        return refuse_number(s, i, value, err);
    return 0;
}

static int
encode_randint(const struct space *s, size_t i, struct jval value, double *x,
               struct err *err)
{
    const struct tp_dim *d = &s->tp[i];
    double first = (double)d->offset, v;

    if (!jval_number(value, &v) || !(v >= first && v <= first + d->high) ||
        v != (double)(int64_t)v)
        return err_set(err, ERR_INPUT,
                       "%s: is %s, expected an integer within [%lld, %lld]",
                       d->name, shown(value).text, (long long)d->offset,
                       (long long)(d->offset + (int64_t)d->high));
    x[i] = v - first;
    return 0;
}

static struct jval
element_of(const struct dim *dim, size_t e)
{
    struct jval element = jval_at(dim->list, e);

    if (dim->nested)
        (void)jval_get(element, "_name", &element);
    return element;
}

static int
refuse_choice(const struct space *s, size_t i, struct jval value,
              struct err *err)
{
    const char *names[HINTS_MAX], *word = "";
    char hint[128] = "";
    size_t n = 0;

    for (size_t e = 0; e < s->tp[i].n_choices && n < HINTS_MAX; e++)
        n += jval_string(element_of(&s->dim[i], e), &names[n], NULL);
    if (jval_string(value, &word, NULL))
        nearest_hint(word, names, n, hint, sizeof hint);
    return err_set(err, ERR_INPUT,
                   "%s: %s%s is none of the choices, expected one of %llu%s",
                   s->tp[i].name, s->dim[i].nested ? "_name " : "",
                   shown(value).text, (unsigned long long)s->tp[i].n_choices,
                   hint);
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
find_choice(const struct space *s, size_t i, struct jval whole,
            struct jval value, const struct buf *text, double *x,
            struct err *err)
{
    const struct dim *dim = &s->dim[i];
    bool found = false;

    for (int pass = 0; pass < 2; pass++)
        for (size_t e = 0; next_match(s, i, value, text, pass == 0, &e); e++) {
            x[i] = (double)e;
            if (!dim->nested ||
                encode_dims(s, whole, dim->subs[e], dim->subs[e + 1], x,
                            found ? NULL : err) == 0)
                return 0;
            make_inactive(dim->subs[e], dim->subs[e + 1], x);
            found = true;
        }
    return found ? -1 : refuse_choice(s, i, value, err);
}

static int
encode_choice(const struct space *s, size_t i, struct jval value, double *x,
              struct err *err)
{
    struct jval name = value;
    struct buf text;
    int rc;

    if (s->dim[i].nested && !jval_get(value, "_name", &name))
        return err_set(err, ERR_INPUT,
                       "%s: is %s, expected an object with _name",
                       s->tp[i].name,
                       jval_type(value) == JSON_OBJECT ? "an object without it"
                                                       : shown(value).text);
    buf_init(&text, SPACE_TEXT_MAX);
    jval_write(name, &text);
    rc = buf_check(&text, s->tp[i].name, err);
    if (rc == 0)
        rc = find_choice(s, i, value, name, &text, x, err);
    buf_fini(&text);
    return rc;
}

static int
encode_dim(const struct space *s, size_t i, struct jval value, double *x,
           struct err *err)
{
    switch (s->tp[i].kind) {
    case TP_CHOICE:
        return encode_choice(s, i, value, x, err);
    case TP_RANDINT:
        return encode_randint(s, i, value, x, err);
    }
    return encode_number(s, i, value, x, err);
}

/* With the key that was perhaps meant, if there is one. */
static int
refuse_missing(const struct space *s, size_t i, struct jval parameters,
               struct err *err)
{
    struct jval_iter it = jval_iter(parameters);
    const char *key = s->dim[i].key, *found = NULL;

    while (found == NULL && jval_next(&it))
        found = nearest_name(it.key, &key, 1) != NULL ? it.key : NULL;
    return err_set(err, ERR_INPUT,
                   "%s: is missing, expected a value of type %s%s%.60s%s",
                   s->tp[i].name, space_kinds[s->tp[i].kind - 1].name,
                   found != NULL ? " (is it '" : "", found != NULL ? found : "",
                   found != NULL ? "'?)" : "");
}

static int
encode_dims(const struct space *s, struct jval parameters, size_t from,
            size_t to, double *x, struct err *err)
{
    for (size_t i = from; i < to; i = s->dim[i].end) {
        struct jval value;

        if (!jval_get(parameters, s->dim[i].key, &value))
            return refuse_missing(s, i, parameters, err);
        if (encode_dim(s, i, value, x, err) != 0)
            return -1;
    }
    return 0;
}

int
space_encode(const struct space *s, struct jval parameters, double *x,
             struct err *err)
{
    make_inactive(0, s->n, x);
    if (s->n == 1 && (s->tp[0].flags & TP_DIM_WHOLE))
        return encode_choice(s, 0, parameters, x, err);
    if (jval_type(parameters) != JSON_OBJECT)
        return err_set(err, ERR_INPUT,
                       "parameters: is %s, expected an object with a value "
                       "for each parameter",
                       shown(parameters).text);
    return encode_dims(s, parameters, 0, s->n, x, err);
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

/* Through the JSON: what a trial was given is what both spaces speak of. */
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
