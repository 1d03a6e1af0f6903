/* SPDX-License-Identifier: MIT */
#include "json_writer.h"

#include "core/buf.h"
#include "core/number.h"
#include "scan.h"

#include <math.h>
#include <string.h>

_Static_assert(JSON_DEPTH_MAX <= 64, "a bit for each depth");

/* ---- values on their own ---- */

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

/* Four digits, without printf: a text may have millions of them. */
static void
write_unit(struct buf *out, unsigned unit)
{
    static const char digits[] = "0123456789abcdef";
    char text[] = "\\u0000";

    for (int i = 5; i > 1; i--, unit >>= 4)
        text[i] = digits[unit & 15];
    buf_add(out, text, 6);
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
        write_unit(out, 0xd800 + (c >> 10));
        write_unit(out, 0xdc00 + (c & 0x3ff));
    } else {
        write_unit(out, c);
    }
}

static bool
needs_no_escape(char c)
{
    return (signed char)c >= ' ' && c != 127 && c != '"' && c != '\\';
}

/* How many of the first bytes stand for themselves. */
static size_t
plain_bytes(const char *text, size_t len)
{
    const uint64_t each = UINT64_MAX / 255; /* 1 in each byte */
    size_t i = 0;
    uint64_t v;

    /* Eight at a time: a byte's highest bit is set where it is not plain. */
    for (; i + sizeof v <= len; i += sizeof v) {
        memcpy(&v, text + i, sizeof v);
        if ((v | (v - each * ' ') | ((v ^ each * '"') - each) |
             ((v ^ each * '\\') - each) | ((v ^ each * 127) - each)) &
            each * 128)
            break;
    }
    while (i < len && needs_no_escape(text[i]))
        i++;
    return i;
}

void
json_write_string(struct buf *out, const char *text, size_t len)
{
    size_t i = plain_bytes(text, len);
    char *to = buf_reserve(out, len + 2);

    if (to == NULL)
        return;
    *to = '"';
    memcpy(to + 1, text, i);
    out->len += i + 1;
    if (i == len) {
        to[i + 1] = '"';
        out->len++;
        return;
    }
    while (i < len) {
        size_t from = i, n;

        i += plain_bytes(text + i, len - i);
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

/* ---- objects and arrays ---- */

struct json_writer
json_begin(struct buf *out)
{
    return (struct json_writer){.out = out,
                                .comma = ", ",
                                .colon = ": ",
                                .comma_len = 2,
                                .colon_len = 2};
}

void
json_separate(struct json_writer *w, const char *comma, const char *colon)
{
    w->comma = comma;
    w->colon = colon;
    w->comma_len = strlen(comma);
    w->colon_len = strlen(colon);
}

struct json_writer
json_begin_object(struct buf *out)
{
    struct json_writer w = json_begin(out);

    json_open_object(&w, NULL);
    return w;
}

struct json_writer
json_reopen_object(struct buf *out)
{
    struct json_writer w = json_begin(out);

    if (out->failed || out->len < 2 || out->data[out->len - 1] != '}') {
        out->failed = true;
        return w;
    }
    out->len--;
    w.depth = 1;
    w.due = out->data[out->len - 1] != '{';
    return w;
}

static char *
put(char *to, const char *text, size_t len)
{
    if (len == 2) { /* what separates mostly */
        to[0] = text[0];
        to[1] = text[1];
    } else {
        memcpy(to, text, len);
    }
    return to + len;
}

/* The whole head of a member at once: this is written most. */
struct buf *
json_value(struct json_writer *w, const char *key)
{
    size_t comma_len = w->due ? w->comma_len : 0;
    size_t len = key == NULL ? 0 : strlen(key);
    char *to;

    w->due = true;
    if (key == NULL || plain_bytes(key, len) < len) {
        buf_add(w->out, w->comma, comma_len);
        if (key != NULL) {
            json_write_string(w->out, key, len);
            buf_add(w->out, w->colon, w->colon_len);
        }
        return w->out;
    }
    to = buf_reserve(w->out, comma_len + len + 2 + w->colon_len);
    if (to == NULL)
        return w->out;
    to = put(to, w->comma, comma_len);
    *to++ = '"';
    to = put(to, key, len);
    *to++ = '"';
    to = put(to, w->colon, w->colon_len);
    w->out->len = (size_t)(to - w->out->data);
    return w->out;
}

static void
open_value(struct json_writer *w, const char *key, bool array)
{
    uint64_t bit = (uint64_t)1 << (w->depth % JSON_DEPTH_MAX);

    buf_add_char(json_value(w, key), array ? '[' : '{');
    if (w->depth == JSON_DEPTH_MAX) {
        w->out->failed = true;
        return;
    }
    w->arrays = array ? w->arrays | bit : w->arrays & ~bit;
    w->depth++;
    w->due = false;
}

void
json_open_object(struct json_writer *w, const char *key)
{
    open_value(w, key, false);
}

void
json_open_array(struct json_writer *w, const char *key)
{
    open_value(w, key, true);
}

bool
json_open_object_if(struct json_writer *w, const char *key, bool there)
{
    if (there)
        json_open_object(w, key);
    else
        json_add_text(w, key, NULL);
    return there;
}

void
json_close(struct json_writer *w)
{
    if (w->depth == 0) {
        w->out->failed = true;
        return;
    }
    w->depth--;
    buf_add_char(w->out, w->arrays >> w->depth & 1 ? ']' : '}');
    w->due = true;
}

void
json_end(struct json_writer *w)
{
    while (w->depth > 0)
        json_close(w);
}

void
json_add_raw(struct json_writer *w, const char *key, const char *json)
{
    buf_add_text(json_value(w, key), json == NULL ? "null" : json);
}

void
json_add_string(struct json_writer *w, const char *key, const char *text,
                size_t len)
{
    json_write_string(json_value(w, key), text, len);
}

void
json_add_text(struct json_writer *w, const char *key, const char *text)
{
    json_write_text(json_value(w, key), text);
}

void
json_add_unsigned(struct json_writer *w, const char *key, uint64_t value)
{
    char text[NUMBER_TEXT_MAX];

    buf_add(json_value(w, key), text,
            (size_t)(number_write_u64(text, value) - text));
}

void
json_add_unsigned_if(struct json_writer *w, const char *key, bool there,
                     uint64_t value)
{
    if (there)
        json_add_unsigned(w, key, value);
    else
        json_add_text(w, key, NULL);
}

void
json_add_integer(struct json_writer *w, const char *key, int64_t value)
{
    char text[NUMBER_TEXT_MAX] = "-";

    buf_add(
        json_value(w, key), text,
        (size_t)((value < 0 ? number_write_u64(text + 1, 0 - (uint64_t)value)
                            : number_write_u64(text, (uint64_t)value)) -
                 text));
}

void
json_add_number(struct json_writer *w, const char *key, double value)
{
    if (isfinite(value))
        json_write_double(json_value(w, key), value);
    else
        json_add_raw(w, key, NULL);
}

void
json_add_bool(struct json_writer *w, const char *key, bool value)
{
    json_add_raw(w, key, value ? "true" : "false");
}
