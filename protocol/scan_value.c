/* SPDX-License-Identifier: MIT */
/* The second half of scan.h: what a token stands for. */
#include "scan.h"

#include "core/buf.h"
#include "core/number.h"

#include <math.h>
#include <string.h>

static unsigned
hex4(const char *p)
{
    unsigned v = 0;

    for (int i = 0; i < 4; i++) {
        char c = p[i];

        v = v << 4 | (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return v;
}

static void
put_utf8(struct buf *out, unsigned c)
{
    if (c < 0x80) {
        buf_add_char(out, (char)c);
        return;
    }
    if (c < 0x800) {
        buf_add_char(out, (char)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            buf_add_char(out, (char)(0xe0 | c >> 12));
        } else {
            buf_add_char(out, (char)(0xf0 | c >> 18));
            buf_add_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        buf_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    buf_add_char(out, (char)(0x80 | (c & 0x3f)));
}

static bool
is_high(unsigned c)
{
    return c >= 0xd800 && c < 0xdc00;
}

static bool
is_low(unsigned c)
{
    return c >= 0xdc00 && c < 0xe000;
}

/* \uXXXX at p, or a pair of them; returns how many bytes it took. */
static size_t
unescape_unicode(const char *p, size_t left, struct buf *out)
{
    unsigned c = hex4(p + 2), low;

    if (is_high(c) && left >= 12 && p[6] == '\\' && p[7] == 'u') {
        low = hex4(p + 8);
        if (is_low(low)) {
            put_utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
            return 12;
        }
    }
    put_utf8(out, is_high(c) || is_low(c) ? 0xfffd : c);
    return 6;
}

void
scan_unescape(const struct scan_token *t, struct buf *out)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    const char *p = t->text, *end = t->text + t->len;

    buf_reserve(out, t->len); /* at once: it never grows longer than this */
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p)), *letter;

        if (slash == NULL) {
            buf_add(out, p, (size_t)(end - p));
            return;
        }
        buf_add(out, p, (size_t)(slash - p));
        p = slash;
        if (p[1] == 'u') {
            p += unescape_unicode(p, (size_t)(end - p), out);
            continue;
        }
        letter = strchr(letters, p[1]);
        buf_add_char(out, letter != NULL ? meanings[letter - letters] : p[1]);
        p += 2;
    }
}

bool
scan_number(const struct scan_token *t, double *out)
{
    char first = t->text[0] == '-' ? t->text[1] : t->text[0];

    if (first == 'N') {
        *out = NAN;
        return true;
    }
    if (first == 'I') {
        *out = t->text[0] == '-' ? -INFINITY : INFINITY;
        return true;
    }
    return t->len <= SCAN_NUMBER_MAX && number_parse(t->text, t->len, out);
}

bool
scan_is_integer(const struct scan_token *t)
{
    size_t i = t->text[0] == '-';

    while (i < t->len && t->text[i] >= '0' && t->text[i] <= '9')
        i++;
    return i == t->len;
}

bool
scan_uint(const struct scan_token *t, uint64_t *out)
{
    if (t->len == 2 && memcmp(t->text, "-0", 2) == 0) {
        *out = 0;
        return true;
    }
    return number_parse_u64(t->text, t->len, out);
}

bool
scan_int(const struct scan_token *t, int64_t *out)
{
    bool negative = t->text[0] == '-';
    uint64_t u;

    if (!number_parse_u64(t->text + negative, t->len - negative, &u) ||
        u > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - u) : (int64_t)u;
    return true;
}
