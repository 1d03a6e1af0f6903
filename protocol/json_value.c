/* SPDX-License-Identifier: MIT */
/* The half of json.h that needs no json-c: comparing and writing. */
#include "json.h"

#include "core/buf.h"
#include "core/number.h"
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

static void
write_u64(struct buf *out, uint64_t v)
{
    char text[NUMBER_TEXT_MAX];

    buf_add(out, text, (size_t)(number_write_u64(text, v) - text));
}

static void
write_integer(struct jval v, struct buf *out)
{
    uint64_t u = 0;
    int64_t i;

    if (!jval_uint(v, &u) && jval_int(v, &i)) {
        buf_add_char(out, '-');
        u = 0 - (uint64_t)i;
    }
    write_u64(out, u);
}

void
json_write_double(struct buf *out, double value)
{
    char text[NUMBER_TEXT_MAX];
    size_t len = number_format(value, text);

    buf_add(out, text, len);
}

/* The code point at p, a valid sequence of len bytes. */
static unsigned
code_point(const char *p, size_t len)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned c = (unsigned char)p[0] & masks[len];

    for (size_t i = 1; i < len; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    return c;
}

static void
write_escape(struct buf *out, unsigned c)
{
    static const char raw[] = "\"\\\n\r\t\f\b", letters[] = "\"\\nrtfb";
    const char *p = c != 0 && c < 0x80 ? strchr(raw, (int)c) : NULL;

    if (p != NULL) {
        buf_add_char(out, '\\');
        buf_add_char(out, letters[p - raw]);
    } else if (c >= 0x10000) {
        c -= 0x10000;
        buf_printf(out, "\\u%04x\\u%04x", 0xd800 + (c >> 10),
                   0xdc00 + (c & 0x3ff));
    } else {
        buf_printf(out, "\\u%04x", c);
    }
}

static bool
needs_no_escape(char c)
{
    return (signed char)c >= ' ' && c != 127 && c != '"' && c != '\\';
}

void
json_write_string(struct buf *out, const char *text, size_t len)
{
    size_t i = 0;

    buf_add_char(out, '"');
    while (i < len) {
        size_t from = i, n;

        while (i < len && needs_no_escape(text[i]))
            i++;
        buf_add(out, text + from, i - from);
        if (i == len)
            break;
        n = scan_utf8(text + i, len - i);
        write_escape(out, n == 0 ? 0xfffd : code_point(text + i, n));
        i += n == 0 ? 1 : n;
    }
    buf_add_char(out, '"');
}

void
json_write_text(struct buf *out, const char *text)
{
    if (text != NULL)
        json_write_string(out, text, strlen(text));
    else
        buf_add_text(out, "null");
}

void
json_write_number(struct buf *out, double value)
{
    if (isfinite(value))
        json_write_double(out, value);
    else
        buf_add_text(out, "null");
}

static void
write_array(struct jval v, struct buf *out)
{
    size_t n = jval_count(v);

    buf_add_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_add(out, ", ", 2);
        jval_write(jval_at(v, i), out);
    }
    buf_add_char(out, ']');
}

static void
write_object(struct jval v, struct buf *out)
{
    struct jval_iter it = jval_iter(v);
    bool first = true;

    buf_add_char(out, '{');
    while (jval_next(&it)) {
        if (!first)
            buf_add(out, ", ", 2);
        first = false;
        json_write_string(out, it.key, strlen(it.key));
        buf_add(out, ": ", 2);
        jval_write(it.value, out);
    }
    buf_add_char(out, '}');
}

void
jval_write(struct jval v, struct buf *out)
{
    const char *text = "";
    size_t len = 0;
    double d = 0;
    bool b = false;

    switch (jval_type(v)) {
    case JSON_NULL:
        buf_add_text(out, "null");
        break;
    case JSON_BOOL:
        jval_bool(v, &b);
        buf_add_text(out, b ? "true" : "false");
        break;
    case JSON_INT:
    case JSON_UINT:
        write_integer(v, out);
        break;
    case JSON_DOUBLE:
        jval_double(v, &d);
        json_write_double(out, d);
        break;
    case JSON_STRING:
        jval_string(v, &text, &len);
        json_write_string(out, text, len);
        break;
    case JSON_ARRAY:
        write_array(v, out);
        break;
    case JSON_OBJECT:
        write_object(v, out);
        break;
    }
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

void
json_write_text_member(struct buf *out, const char *key, const char *text)
{
    buf_printf(out, "\"%s\": ", key);
    json_write_text(out, text);
    buf_add_text(out, ", ");
}

void
json_write_number_member(struct buf *out, const char *key, double value)
{
    buf_printf(out, "\"%s\": ", key);
    json_write_number(out, value);
    buf_add_text(out, ", ");
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
