/* SPDX-License-Identifier: MIT */
/* The half of json.h that needs no json-c: comparing and writing. */
#include "json.h"

#include "core/buf.h"
#include "scan.h"

#include <math.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 30) /* of a value of its own */

const char *
jval_type_name(struct jval v)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",       [JSON_BOOL] = "a boolean",
        [JSON_INT] = "an integer",  [JSON_UINT] = "an integer",
        [JSON_DOUBLE] = "a number", [JSON_STRING] = "a string",
        [JSON_ARRAY] = "an array",  [JSON_OBJECT] = "an object",
    };

    return names[jval_type(v)];
}

bool
jval_number(struct jval v, double *out)
{
    uint64_t u;
    int64_t i;

    if (jval_double(v, out))
        return true;
    if (jval_int(v, &i)) {
        *out = (double)i;
        return true;
    }
    if (!jval_uint(v, &u))
        return false;
    *out = (double)u;
    return true;
}

static bool
equal_numbers(struct jval a, struct jval b)
{
    uint64_t ua, ub;
    int64_t ia, ib;
    double da, db;

    if (jval_double(a, &da) && jval_double(b, &db))
        return da == db || (isnan(da) && isnan(db));
    if (jval_double(b, &db))
        return equal_numbers(b, a);
    if (jval_double(a, &da)) {
        /* Both sides exactly: a double beyond 2^53 may round an integer. */
        if (jval_int(b, &ib))
            return da >= -9223372036854775808.0 && da < 9223372036854775808.0 &&
                   da == floor(da) && (int64_t)da == ib;
        return jval_uint(b, &ub) && da >= 0 && da < 0x1p64 && da == floor(da) &&
               (uint64_t)da == ub;
    }
    if (jval_int(a, &ia) && jval_int(b, &ib))
        return ia == ib;
    return jval_uint(a, &ua) && jval_uint(b, &ub) && ua == ub;
}

static bool
equal_arrays(struct jval a, struct jval b)
{
    size_t n = jval_count(a);

    if (n != jval_count(b))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!jval_equal(jval_at(a, i), jval_at(b, i)))
            return false;
    return true;
}

static bool
equal_objects(struct jval a, struct jval b)
{
    struct jval_iter it = jval_iter(a);
    struct jval other;

    if (jval_count(a) != jval_count(b))
        return false;
    while (jval_next(&it))
        if (!jval_get(b, it.key, &other) || !jval_equal(it.value, other))
            return false;
    return true;
}

static bool
equal_strings(struct jval a, struct jval b)
{
    const char *ta = "", *tb = "";
    size_t la = 0, lb = 0;

    return jval_string(a, &ta, &la) && jval_string(b, &tb, &lb) && la == lb &&
           memcmp(ta, tb, la) == 0;
}

bool
jval_equal(struct jval a, struct jval b)
{
    bool ba, bb;

    switch (jval_type(a)) {
    case JSON_NULL:
        return jval_type(b) == JSON_NULL;
    case JSON_BOOL:
        return jval_bool(a, &ba) && jval_bool(b, &bb) && ba == bb;
    case JSON_INT:
    case JSON_UINT:
    case JSON_DOUBLE:
        return equal_numbers(a, b);
    case JSON_STRING:
        return equal_strings(a, b);
    case JSON_ARRAY:
        return jval_type(b) == JSON_ARRAY && equal_arrays(a, b);
    case JSON_OBJECT:
        return jval_type(b) == JSON_OBJECT && equal_objects(a, b);
    }
    return false;
}

static void write_value(struct json_writer *w, const char *key, struct jval v);

static void
write_array(struct json_writer *w, const char *key, struct jval v)
{
    size_t n = jval_count(v);

    json_open_array(w, key);
    for (size_t i = 0; i < n; i++)
        write_value(w, NULL, jval_at(v, i));
    json_close(w);
}

static void
write_object(struct json_writer *w, const char *key, struct jval v)
{
    struct jval_iter it = jval_iter(v);

    json_open_object(w, key);
    while (jval_next(&it))
        write_value(w, it.key, it.value);
    json_close(w);
}
static void
write_value(struct json_writer *w, const char *key, struct jval v)
{
    const char *text = "";
    size_t len = 0;
    uint64_t u = 0;
    int64_t i = 0;
    double d = 0;
    bool b = false;

    switch (jval_type(v)) {
    case JSON_NULL:
        json_add_raw(w, key, "null");
        break;
    case JSON_BOOL:
        jval_bool(v, &b);
        json_add_bool(w, key, b);
        break;
    case JSON_INT:
        jval_int(v, &i);
        json_add_integer(w, key, i);
        break;
    case JSON_UINT:
        jval_uint(v, &u);
        json_add_unsigned(w, key, u);
        break;
    case JSON_DOUBLE:
        jval_double(v, &d);
        json_write_double(json_value(w, key), d);
        break;
    case JSON_STRING:
        jval_string(v, &text, &len);
        json_add_string(w, key, text, len);
        break;
    case JSON_ARRAY:
        write_array(w, key, v);
        break;
    case JSON_OBJECT:
        write_object(w, key, v);
        break;
    }
}

void
jval_write(struct jval v, struct buf *out)
{
    struct json_writer w = json_begin(out);

    write_value(&w, NULL, v);
}

char *
jval_copy_text(struct jval v)
{
    struct buf b;
    char *text;

    buf_init(&b, TEXT_MAX);
    jval_write(v, &b);
    text = buf_take(&b);
    buf_fini(&b);
    return text;
}

const char *
jval_text_of(struct jval object, const char *key)
{
    const char *text = "";
    struct jval v;

    if (jval_get(object, key, &v))
        jval_string(v, &text, NULL);
    return text;
}

double
jval_number_of(struct jval object, const char *key)
{
    double n = (double)NAN;
    struct jval v;

    if (jval_get(object, key, &v))
        jval_number(v, &n);
    return n;
}

const char *
jval_quote(char out[QUOTE_MAX], struct jval v)
{
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    jval_write(v, &text);
    quote_bytes(out, buf_text(&text), text.len);
    buf_fini(&text);
    return out;
}
