/* SPDX-License-Identifier: MIT */
#include "space/dims.h"
#include "space/space.h"

#include "core/err.h"
#include "core/number.h"
#include "numerics/elementary.h"

#include <math.h>

/* NNI's order: exp, a multiple of q, the bounds.  Beyond NNI, a coordinate on
 * or outside a bound is that bound, to the bit, and nothing uniform leaves
 * its bounds by rounding. */
double
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

double
space_value(const struct space *s, size_t i, double x)
{
    if (i >= s->n || isnan(x))
        return NAN;
    if (s->tp[i].flags & TP_DIM_INDEX)
        return (double)s->tp[i].offset + x;
    return dim_value(s, i, x);
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
refuse_number(const struct tp_dim *d, double x, struct err *err)
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
        return refuse_number(d, x, err);
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
        else if (d->kind == TP_RANDINT)
            json_add_integer(w, key, d->offset + (int64_t)x[i]);
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
