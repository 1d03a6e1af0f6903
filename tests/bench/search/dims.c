/* SPDX-License-Identifier: MIT */
#include "dims.h"

#include "core/buf.h"
#include "core/err.h"
#include "numerics/elementary.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char *const kind_names[] = {
    [DIM_UNIFORM] = "uniform",      [DIM_LOG] = "loguniform",
    [DIM_INTEGER] = "randint",      [DIM_GRID] = "quniform",
    [DIM_LOG_GRID] = "qloguniform", [DIM_CHOICE] = "choice",
};

#define DECADES 1e5 /* wider is logarithmic, however it is written */

size_t
dims_count(const struct dim *dims)
{
    size_t n = 0;

    while (n < DIMS_MAX && dims[n].name != NULL)
        n++;
    return n;
}

size_t
dims_options(const struct dim *d)
{
    size_t n = 0;

    while (n < DIMS_OPTIONS_MAX && d->options[n] != NULL)
        n++;
    return n;
}

static bool
is_log(const struct dim *d)
{
    return d->kind == DIM_LOG || d->kind == DIM_LOG_GRID ||
           (d->low > 0 && d->high / d->low > DECADES);
}

static bool
has_children(const struct dim *dims, size_t parent)
{
    for (const struct dim *d = dims; d->name != NULL; d++)
        if (d->parent == (int)parent + 1)
            return true;
    return false;
}

static bool
is_child(const struct dim *d, int parent, int option)
{
    return d->parent == parent && (parent == 0 || d->option == option);
}

double
dims_unit(const struct dim *d, double v)
{
    if (is_log(d))
        return num_log(v / d->low) / num_log(d->high / d->low);
    if (d->kind == DIM_INTEGER)
        return (v - d->low + 0.5) / (d->high - d->low);
    return (v - d->low) / (d->high - d->low);
}

double
dims_value(const struct dim *d, double u)
{
    double v = d->low + u * (d->high - d->low);

    if (is_log(d))
        v = d->low * num_exp(u * num_log(d->high / d->low));
    if (d->kind == DIM_INTEGER)
        v = floor(v);
    if (d->q > 0)
        v = num_round_even(v / d->q) * d->q;
    return v < d->low ? d->low : v > d->high ? d->high : v;
}

/* ---- the space ---- */

static void write_level(const struct dim *dims, int parent, int option,
                        struct buf *out);

static void
write_options(const struct dim *dims, size_t i, struct buf *out)
{
    bool nested = has_children(dims, i);

    for (size_t k = 0; k < dims_options(&dims[i]); k++) {
        const char *text = dims[i].options[k];

        if (k > 0)
            buf_add_char(out, ',');
        if (nested)
            buf_add_text(out, "{\"_name\":");
        json_write_string(out, text, strlen(text));
        if (nested) {
            write_level(dims, (int)i + 1, (int)k, out);
            buf_add_char(out, '}');
        }
    }
}

static void
write_dim(const struct dim *dims, size_t i, struct buf *out)
{
    const struct dim *d = &dims[i];

    buf_printf(out, "\"%s\":{\"_type\":\"%s\",\"_value\":[", d->name,
               kind_names[d->kind]);
    if (d->kind == DIM_CHOICE) {
        write_options(dims, i, out);
    } else if (d->kind == DIM_INTEGER) {
        buf_printf(out, "%.0f,%.0f", d->low, d->high);
    } else {
        json_write_double(out, d->low);
        buf_add_char(out, ',');
        json_write_double(out, d->high);
    }
    if (d->q > 0) {
        buf_add_char(out, ',');
        json_write_double(out, d->q);
    }
    buf_add_text(out, "]}");
}

/* Below an option a comma goes first: its name was written. */
static void
write_level(const struct dim *dims, int parent, int option, struct buf *out)
{
    bool comma = parent > 0;

    for (size_t i = 0; i < dims_count(dims); i++) {
        if (!is_child(&dims[i], parent, option))
            continue;
        if (comma)
            buf_add_char(out, ',');
        write_dim(dims, i, out);
        comma = true;
    }
}

void
dims_write_space(const struct dim *dims, struct buf *out)
{
    buf_add_char(out, '{');
    write_level(dims, 0, 0, out);
    buf_add_char(out, '}');
}

/* ---- points ---- */

static void
write_values(const struct dim *dims, int parent, int option,
             const struct point *p, struct buf *out)
{
    bool comma = parent > 0;

    for (size_t i = 0; i < dims_count(dims); i++) {
        const struct dim *d = &dims[i];
        const char *text;

        if (!is_child(d, parent, option))
            continue;
        buf_printf(out, "%s\"%s\": ", comma ? ", " : "", d->name);
        comma = true;
        if (d->kind != DIM_CHOICE) {
            json_write_double(out, p->value[i]);
            continue;
        }
        text = d->options[p->option[i]];
        if (!has_children(dims, i)) {
            json_write_string(out, text, strlen(text));
            continue;
        }
        buf_add_text(out, "{\"_name\": ");
        json_write_string(out, text, strlen(text));
        write_values(dims, (int)i + 1, p->option[i], p, out);
        buf_add_char(out, '}');
    }
}

void
dims_write_point(const struct dim *dims, const struct point *p, struct buf *out)
{
    buf_add_char(out, '{');
    write_values(dims, 0, 0, p, out);
    buf_add_char(out, '}');
}

static int
read_option(const struct dim *d, struct jval v, int *out, struct err *err)
{
    const char *text;

    if (!jval_string(v, &text, NULL))
        return err_set(err, ERR_INPUT, "%s: expected a text, not %s", d->name,
                       jval_type_name(v));
    for (size_t k = 0; k < dims_options(d); k++)
        if (strcmp(d->options[k], text) == 0) {
            *out = (int)k;
            return 0;
        }
    return err_set(err, ERR_INPUT, "%s: '%s' is no option", d->name, text);
}

static bool
is_value(const struct dim *d, double v)
{
    double slack = 1e-9 * fmax(1, fmax(fabs(d->low), fabs(d->high)));

    if (!(v >= d->low - slack && v <= d->high + slack))
        return false;
    if (d->kind == DIM_INTEGER)
        return floor(v) == v && v < d->high;
    return d->q == 0 || v == d->low || v == d->high ||
           fabs(v / d->q - num_round_even(v / d->q)) < 1e-6;
}

static int
read_number(const struct dim *d, struct jval v, double *out, struct err *err)
{
    if (!jval_number(v, out))
        return err_set(err, ERR_INPUT, "%s: expected a number, not %s", d->name,
                       jval_type_name(v));
    if (!is_value(d, *out))
        return err_set(err, ERR_INPUT, "%s: %.17g is not within %g ... %g%s",
                       d->name, *out, d->low, d->high,
                       d->q > 0 ? ", or off the grid" : "");
    return 0;
}

static int read_level(const struct dim *dims, int parent, int option,
                      struct jval object, struct point *out, struct err *err);

static int
read_dim(const struct dim *dims, size_t i, struct jval v, struct point *out,
         struct err *err)
{
    struct jval name;

    out->active |= (uint64_t)1 << i;
    if (dims[i].kind != DIM_CHOICE) {
        if (read_number(&dims[i], v, &out->value[i], err) != 0)
            return -1;
        out->unit[i] = dims_unit(&dims[i], out->value[i]);
        return 0;
    }
    if (!has_children(dims, i))
        return read_option(&dims[i], v, &out->option[i], err);
    if (!jval_get(v, "_name", &name))
        return err_set(err, ERR_INPUT, "%s: expected an object with a _name",
                       dims[i].name);
    if (read_option(&dims[i], name, &out->option[i], err) != 0)
        return -1;
    return read_level(dims, (int)i + 1, out->option[i], v, out, err);
}

static int
read_level(const struct dim *dims, int parent, int option, struct jval object,
           struct point *out, struct err *err)
{
    size_t n = parent > 0; /* the name */
    struct jval v;

    for (size_t i = 0; i < dims_count(dims); i++) {
        if (!is_child(&dims[i], parent, option))
            continue;
        n++;
        if (!jval_get(object, dims[i].name, &v))
            return err_set(err, ERR_INPUT, "%s: is missing", dims[i].name);
        if (read_dim(dims, i, v, out, err) != 0)
            return -1;
    }
    if (jval_count(object) != n)
        return err_set(err, ERR_INPUT, "expected %zu parameters, not %zu", n,
                       jval_count(object));
    return 0;
}

int
dims_read(const struct dim *dims, struct jval parameters, struct point *out,
          struct err *err)
{
    memset(out, 0, sizeof *out);
    return read_level(dims, 0, 0, parameters, out, err);
}
