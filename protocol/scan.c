/* SPDX-License-Identifier: MIT */
#include "scan.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "quote.h"

#include <endian.h>
#include <math.h>
#include <string.h>

/* DESIGN.  scan_next() cuts the text into tokens and knows nothing of their
 * order; scan_skip() knows the order of a whole value and keeps one bit for
 * each open bracket, so that nesting costs no stack.  What reads JSON elsewhere
 * (json.c, fields.c) pulls tokens itself and so meets the very same dialect. */

static struct scan_token
fail(struct scan *s, size_t at, const char *problem)
{
    s->at = at;
    s->problem = problem;
    return (struct scan_token){.type = SCAN_ERROR, .at = at};
}

/* Steps over white space and, where allowed, comments. */
static void
skip_space(struct scan *s)
{
    const char *p = s->text + s->at, *end = s->text + s->len;

    for (; p < end; p++) {
        if (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
            continue;
        if (!(s->flags & JSON_COMMENTS) ||
            !(*p == '#' || (*p == '/' && p + 1 < end && p[1] == '/')))
            break;
        while (p + 1 < end && *p != '\n')
            p++;
    }
    s->at = (size_t)(p - s->text);
}

static bool
is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t
scan_utf8(const char *p, size_t left)
{
    unsigned char a = left > 0 ? (unsigned char)p[0] : 0xff;
    unsigned char b = left > 1 ? (unsigned char)p[1] : 0;

    if (a < 0x80)
        return 1;
    if (left < 2 || !is_continuation(p[1]) || a < 0xc2 || a > 0xf4)
        return 0;
    if (a < 0xe0)
        return 2;
    if (left < 3 || !is_continuation(p[2]))
        return 0;
    if (a < 0xf0)
        return (a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f) ? 0 : 3;
    if (left < 4 || !is_continuation(p[3]))
        return 0;
    return (a == 0xf0 && b < 0x90) || (a == 0xf4 && b > 0x8f) ? 0 : 4;
}

static int
hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Length of the escape at p (a backslash); 0: it is none. */
static size_t
escape_length(const char *p, size_t left)
{
    if (left < 2)
        return 0;
    if (p[1] != 'u')
        return memchr("\"\\/bfnrt", p[1], 8) != NULL ? 2 : 0;
    for (size_t i = 2; i < 6; i++)
        if (i >= left || hex_value(p[i]) < 0)
            return 0;
    return 6;
}

static inline bool
is_plain(char c)
{
    /* as signed char, bytes from 0x80 on are negative */
    return (signed char)c >= ' ' && c != '"' && c != '\\';
}

/* How many bytes lie before the first that is not plain.  Eight at a time:
 * the high bit of a byte of `stops` is set where it is below 0x20, a quote,
 * a backslash or not ASCII; a borrow can only set wrong bits behind a right
 * one. */
static size_t
plain_run(const char *p, size_t left)
{
    const uint64_t ones = 0x0101010101010101;
    size_t i = 0;

    for (; left - i >= 8; i += 8) {
        uint64_t w, stops;

        memcpy(&w, p + i, 8);
        w = le64toh(w);
        stops = (w | (w - ones * 0x20) | ((w ^ ones * '"') - ones) |
                 ((w ^ ones * '\\') - ones)) &
                ones * 0x80;
        if (stops != 0)
            return i + (size_t)__builtin_ctzll(stops) / 8;
    }
    while (i < left && is_plain(p[i]))
        i++;
    return i;
}

static struct scan_token
scan_string(struct scan *s)
{
    size_t from = s->at + 1, i = from;
    bool escaped = false;

    for (;;) {
        size_t n;

        i += plain_run(s->text + i, s->len - i);
        if (i >= s->len)
            return fail(s, i, "expected the string's closing quote");
        if (s->text[i] == '"')
            break;
        if (s->text[i] == '\\') {
            escaped = true;
            n = escape_length(s->text + i, s->len - i);
            if (n == 0)
                return fail(s, i, "bad escape in a string");
        } else {
            n = scan_utf8(s->text + i, s->len - i);
            if ((unsigned char)s->text[i] < ' ')
                return fail(s, i, "control character in a string");
            if (n == 0)
                return fail(s, i, "bad UTF-8 in a string");
        }
        i += n;
    }
    s->at = i + 1;
    return (struct scan_token){.type = SCAN_STRING,
                               .at = from - 1,
                               .text = s->text + from,
                               .len = i - from,
                               .escaped = escaped};
}

static size_t
skip_digits(const struct scan *s, size_t i)
{
    const char *p = s->text + i, *end = s->text + s->len;

    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return (size_t)(p - s->text);
}

static struct scan_token
scan_digits(struct scan *s)
{
    size_t from = s->at, i = from + (s->text[from] == '-'), digits = i;

    i = skip_digits(s, i);
    if (i == digits)
        return fail(s, i, "expected a digit");
    if (s->text[digits] == '0' && i > digits + 1)
        return fail(s, digits, "a number must not begin with 0");
    if (i < s->len && s->text[i] == '.') {
        digits = i + 1;
        i = skip_digits(s, digits);
        if (i == digits)
            return fail(s, i, "expected a digit");
    }
    if (i < s->len && (s->text[i] == 'e' || s->text[i] == 'E')) {
        i++;
        if (i < s->len && (s->text[i] == '-' || s->text[i] == '+'))
            i++;
        digits = i;
        i = skip_digits(s, digits);
        if (i == digits)
            return fail(s, i, "expected a digit");
    }
    s->at = i;
    return (struct scan_token){.type = SCAN_NUMBER,
                               .at = from,
                               .text = s->text + from,
                               .len = i - from};
}

static bool
is_word(const struct scan *s, const char *word, size_t len)
{
    return s->len - s->at >= len && memcmp(s->text + s->at, word, len) == 0;
}

static struct scan_token
scan_word(struct scan *s)
{
    static const struct {
        const char *word;
        enum scan_type type;
    } words[] = {
        {"null", SCAN_NULL},       {"true", SCAN_TRUE},
        {"false", SCAN_FALSE},     {"NaN", SCAN_NUMBER},
        {"Infinity", SCAN_NUMBER}, {"-Infinity", SCAN_NUMBER},
    };
    size_t at = s->at;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i].word);

        if (!is_word(s, words[i].word, len))
            continue;
        if (words[i].type == SCAN_NUMBER && !(s->flags & JSON_NAN))
            return fail(s, at, "NaN and Infinity are not allowed here");
        s->at += len;
        return (struct scan_token){
            .type = words[i].type, .at = at, .text = s->text + at, .len = len};
    }
    return fail(s, at, "expected a value");
}

static enum scan_type
mark_type(char c)
{
    switch (c) {
    case '[':
        return SCAN_OPEN_ARRAY;
    case ']':
        return SCAN_CLOSE_ARRAY;
    case '{':
        return SCAN_OPEN_OBJECT;
    case '}':
        return SCAN_CLOSE_OBJECT;
    case ',':
        return SCAN_COMMA;
    case ':':
        return SCAN_COLON;
    }
    return SCAN_ERROR;
}

struct scan_token
scan_next(struct scan *s)
{
    enum scan_type mark;
    char c;

    if (s->problem != NULL)
        return (struct scan_token){.type = SCAN_ERROR, .at = s->at};
    skip_space(s);
    if (s->at == s->len)
        return (struct scan_token){.type = SCAN_END, .at = s->at};
    c = s->text[s->at];
    if (c == '"')
        return scan_string(s);
    if ((c >= '0' && c <= '9') || (c == '-' && !is_word(s, "-I", 2)))
        return scan_digits(s);
    mark = mark_type(c);
    if (mark == SCAN_ERROR)
        return scan_word(s);
    s->at++;
    return (struct scan_token){
        .type = mark, .at = s->at - 1, .text = s->text + s->at - 1, .len = 1};
}

void
scan_refuse(struct scan *s, const struct scan_token *t, const char *problem)
{
    if (s->problem == NULL)
        fail(s, t->at, problem);
}

/* How much of the text is shown at the place of an error: one byte, or the
 * whole word or number that begins there. */
static size_t
shown_len(const struct scan *s)
{
    size_t n = 0;

    for (char c; s->at + n < s->len; n++) {
        c = s->text[s->at + n];
        if (strchr("+-._", c) == NULL && (c < '0' || c > '9') &&
            ((c | 0x20) < 'a' || (c | 0x20) > 'z'))
            break;
    }
    return n > 0 ? n : 1;
}

int
scan_error(const struct scan *s, struct err *err)
{
    const char *problem = s->problem != NULL ? s->problem : "no error";
    char shown[QUOTE_MAX];

    if (s->at >= s->len)
        return err_set(err, ERR_INPUT, "byte %zu: %s, not the end", s->at,
                       problem);
    quote_bytes(shown, s->text + s->at, shown_len(s));
    return err_set(err, ERR_INPUT, "byte %zu: %s%s %s", s->at, problem,
                   strncmp(problem, "expected", 8) == 0 ? ", not" : ":", shown);
}

int
scan_end(struct scan *s, struct err *err)
{
    struct scan_token t = scan_next(s);

    if (t.type == SCAN_END)
        return 0;
    scan_refuse(s, &t, "expected the end of the text");
    return scan_error(s, err);
}

/* ---- what a token stands for ---- */

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

/* Decodes \uXXXX at p, or a pair of them; returns how many bytes it took. */
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

    /* room at once: the result is never longer than the token */
    buf_reserve(out, t->len);
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

/* ---- the order of a whole value ---- */

/* Where walk() stands inside a value. */
struct walk {
    struct scan *s;
    uint64_t objects; /* one bit for each open bracket: set for an object */
    unsigned depth;
    bool only_int64; /* refuse integers beyond 64 bits */
};

static bool
refuse(struct walk *w, const struct scan_token *t, const char *problem)
{
    scan_refuse(w->s, t, problem);
    return false;
}

static bool
open_bracket(struct walk *w, const struct scan_token *t)
{
    if (w->depth == JSON_DEPTH_MAX)
        return refuse(w, t, "nested too deeply");
    w->objects = w->objects << 1 | (t->type == SCAN_OPEN_OBJECT);
    w->depth++;
    return true;
}

/* Takes a key and its colon; *t becomes the token behind it. */
static bool
walk_key(struct walk *w, struct scan_token *t)
{
    if (t->type != SCAN_STRING)
        return refuse(w, t, "expected a key in double quotes");
    *t = scan_next(w->s);
    if (t->type != SCAN_COLON)
        return refuse(w, t, "expected ':'");
    *t = scan_next(w->s);
    return true;
}

static bool
fits_64_bits(const struct scan_token *t)
{
    int64_t i;
    uint64_t u;

    return !scan_is_integer(t) || scan_int(t, &i) || scan_uint(t, &u);
}

/* Behind a whole value: closes the brackets that end here.  *t becomes the
 * token that begins the next value, unless the outermost value is complete. */
static bool
walk_after(struct walk *w, struct scan_token *t)
{
    while (w->depth > 0) {
        bool object = w->objects & 1;

        *t = scan_next(w->s);
        if (t->type == SCAN_COMMA) {
            *t = scan_next(w->s);
            return !object || walk_key(w, t);
        }
        if (t->type != (object ? SCAN_CLOSE_OBJECT : SCAN_CLOSE_ARRAY))
            return refuse(
                w, t, object ? "expected ',' or '}'" : "expected ',' or ']'");
        w->objects >>= 1;
        w->depth--;
    }
    return true;
}

/* Takes one value, or the opening bracket of one.  *again: *t begins
 * another. */
static bool
walk_value(struct walk *w, struct scan_token *t, bool *again)
{
    bool object = t->type == SCAN_OPEN_OBJECT;

    *again = false;
    if (object || t->type == SCAN_OPEN_ARRAY) {
        if (!open_bracket(w, t))
            return false;
        *t = scan_next(w->s);
        if (t->type != (object ? SCAN_CLOSE_OBJECT : SCAN_CLOSE_ARRAY)) {
            *again = true;
            return !object || walk_key(w, t);
        }
        w->objects >>= 1;
        w->depth--;
    } else if (t->type < SCAN_NULL || t->type > SCAN_STRING) {
        return refuse(w, t, "expected a value");
    } else if (w->only_int64 && t->type == SCAN_NUMBER && !fits_64_bits(t)) {
        return refuse(w, t, "integer beyond 64 bits");
    }
    if (!walk_after(w, t))
        return false;
    *again = w->depth > 0;
    return true;
}

static bool
walk(struct scan *s, struct scan_token t, bool only_int64)
{
    struct walk w = {.s = s, .only_int64 = only_int64};
    bool again = true;

    while (again)
        if (!walk_value(&w, &t, &again))
            return false;
    return true;
}

bool
scan_skip_from(struct scan *s, struct scan_token first)
{
    if (first.type >= SCAN_NULL && first.type <= SCAN_STRING)
        return true; /* most values are scalars, which need no walk */
    return walk(s, first, false);
}

bool
scan_skip(struct scan *s)
{
    return walk(s, scan_next(s), false);
}

int
scan_check(const char *text, size_t len, unsigned flags, struct err *err)
{
    struct scan s = {.text = text, .len = len, .flags = flags};

    if (!walk(&s, scan_next(&s), true))
        return scan_error(&s, err);
    return scan_end(&s, err);
}
