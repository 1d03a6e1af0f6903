/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "quote.h"

#include <string.h>

#define KEY_MAX 64 /* longer than any key that is looked for */

static bool
is_key(const struct field *f, const char *text, size_t len)
{
    return f->key_len == len && memcmp(f->key, text, len) == 0;
}

/* The field of that key; NULL: it is not looked for.  Keys mostly come in one
 * order: the search begins where the last one ended. */
static struct field *
find(struct field *fields, size_t n, size_t *start, const char *text,
     size_t len)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = *start + i < n ? *start + i : *start + i - n;

        if (is_key(&fields[k], text, len)) {
            *start = k + 1 < n ? k + 1 : 0;
            return &fields[k];
        }
    }
    return NULL;
}

static struct field *
find_key(struct field *fields, size_t n, size_t *start,
         const struct scan_token *key)
{
    char decoded[KEY_MAX + 1];
    /* does not grow: a longer key is not looked for */
    struct buf text = {.data = decoded, .cap = sizeof decoded, .max = KEY_MAX};

    if (!key->escaped)
        return find(fields, n, start, key->text, key->len);
    scan_unescape(key, &text);
    return text.failed ? NULL : find(fields, n, start, decoded, text.len);
}

/* Steps over it where it stands at once, as it mostly does, without a token. */
static bool
step_over(struct scan *s, char mark)
{
    if (s->at == s->len || s->text[s->at] != mark)
        return false;
    s->at++;
    return true;
}

/* Steps over the key of the field that is looked for first, and its colon,
 * where they stand there as we write them: without a token. */
static struct field *
step_over_key(struct scan *s, struct field *fields, size_t n, size_t *start)
{
    struct field *f = &fields[*start];
    size_t at = s->at + (s->at < s->len && s->text[s->at] == ' ');
    const char *p = s->text + at;

    if (s->len - at < f->key_len + 3 || p[0] != '"' ||
        memcmp(p + 1, f->key, f->key_len) != 0 || p[f->key_len + 1] != '"' ||
        p[f->key_len + 2] != ':')
        return NULL;
    s->at = at + f->key_len + 3;
    *start = *start + 1 < n ? *start + 1 : 0;
    return f;
}

/* Reads a key, which may begin with the token in hand, its colon and its
 * value. */
static bool
read_member(struct scan *s, const struct scan_token *first,
            struct field *fields, size_t n, size_t *start)
{
    struct field *field =
        first == NULL ? step_over_key(s, fields, n, start) : NULL;
    struct scan_token t;

    if (field == NULL) {
        struct scan_token key = first != NULL ? *first : scan_next(s);

        if (key.type != SCAN_STRING) {
            scan_refuse(s, &key, "expected a key in double quotes");
            return false;
        }
        field = find_key(fields, n, start, &key);
        if (!step_over(s, ':') && (t = scan_next(s)).type != SCAN_COLON) {
            scan_refuse(s, &t, "expected ':'");
            return false;
        }
    }
    t = scan_next(s);
    if (!scan_skip_from(s, t))
        return false;
    if (field != NULL) {
        if (t.type == SCAN_OPEN_ARRAY || t.type == SCAN_OPEN_OBJECT)
            t.len = s->at - t.at;
        field->t = t;
    }
    return true;
}

static bool
read_members(struct scan *s, struct field *fields, size_t n)
{
    struct scan_token t = scan_next(s), *first = &t;
    size_t start = 0;

    if (t.type == SCAN_CLOSE_OBJECT)
        return true;
    for (;; first = NULL) {
        if (!read_member(s, first, fields, n, &start))
            return false;
        if (step_over(s, ','))
            continue;
        t = scan_next(s);
        if (t.type == SCAN_CLOSE_OBJECT)
            return true;
        if (t.type != SCAN_COMMA) {
            scan_refuse(s, &t, "expected ',' or '}'");
            return false;
        }
    }
}

int
fields_read(const char *text, size_t len, unsigned flags, struct field *fields,
            size_t n, struct err *err)
{
    struct scan s = {.text = text, .len = len, .flags = flags};
    struct scan_token t = scan_next(&s);

    if (t.type != SCAN_OPEN_OBJECT) {
        scan_refuse(&s, &t, "expected an object");
        return scan_error(&s, err);
    }
    if (!read_members(&s, fields, n))
        return scan_error(&s, err);
    return scan_end(&s, err);
}

bool
field_is_absent(const struct field *f)
{
    return f->t.type == SCAN_END || f->t.type == SCAN_NULL;
}

int
field_refuse(const struct field *f, const char *expected, const char *hint,
             struct err *err)
{
    char shown[QUOTE_MAX];

    if (f->t.type == SCAN_END)
        return err_set(err, ERR_INPUT,
                       "byte 0: expected an object with the key '%s', %s",
                       f->key, expected);
    return err_set(err, ERR_INPUT, "byte %zu: %s: expected %s, not %s%s",
                   f->t.at, f->key, expected,
                   quote_bytes(shown, f->t.text, f->t.len), hint);
}

/* Refuses a string: where none fits, it is shown with its quotes. */
static int
refuse_string(const struct field *f, const char *expected, struct err *err)
{
    struct field whole = *f;

    if (f->t.type == SCAN_STRING) {
        whole.t.text--;
        whole.t.len += 2;
    }
    return field_refuse(&whole, expected, "", err);
}

int
field_uint(const struct field *f, uint64_t *out, struct err *err)
{
    if (field_is_absent(f))
        return 0;
    if (f->t.type == SCAN_NUMBER && scan_uint(&f->t, out))
        return 0;
    return refuse_string(f, "a whole number of at least 0", err);
}

int
field_bool(const struct field *f, bool *out, struct err *err)
{
    if (field_is_absent(f))
        return 0;
    if (f->t.type != SCAN_TRUE && f->t.type != SCAN_FALSE)
        return refuse_string(f, "true or false", err);
    *out = f->t.type == SCAN_TRUE;
    return 0;
}

/* Appends "one of A, B or C". */
static void
list_names(struct buf *out, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_add_text(out, i == 0 ? "" : i + 1 < n ? ", " : " or ");
        buf_add_text(out, names[i]);
    }
}

static int
refuse_choice(const struct field *f, const char *const *names, size_t n,
              struct err *err)
{
    char word[40] = "", hint[80] = "";
    struct buf list;

    if (f->t.type == SCAN_STRING && f->t.len < sizeof word) {
        memcpy(word, f->t.text, f->t.len);
        nearest_hint(word, names, n, hint, sizeof hint);
    }
    buf_init(&list, 400);
    list_names(&list, names, n);
    field_refuse(f, buf_text(&list), hint, err);
    buf_fini(&list);
    return -1;
}

int
field_choice(const struct field *f, const char *const *names, size_t n,
             struct err *err)
{
    if (f->t.type == SCAN_STRING && !f->t.escaped)
        for (size_t i = 0; i < n; i++)
            if (strlen(names[i]) == f->t.len &&
                memcmp(names[i], f->t.text, f->t.len) == 0)
                return (int)i;
    return refuse_choice(f, names, n, err);
}

int
field_check_text(const struct field *f, struct err *err)
{
    if (f->t.type == SCAN_STRING && f->t.len > 0)
        return 0;
    return field_refuse(f, "a string that is not empty", "", err);
}

static int
unescape_to(const struct field *f, char *to, size_t *len, struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, f->t.len);
    scan_unescape(&f->t, &text);
    *len = text.len;
    rc = buf_check(&text, f->key, err);
    if (rc == 0 && memchr(buf_text(&text), '\0', text.len) != NULL)
        rc = field_refuse(f, "a string without \\u0000", "", err);
    if (rc == 0)
        memcpy(to, text.data, text.len);
    buf_fini(&text);
    return rc;
}

char *
field_copy(const struct field *f, char **tail, struct err *err)
{
    char *to = *tail;
    size_t len = f->t.len;

    if (!f->t.escaped) {
        memcpy(to, f->t.text, len);
    } else if (unescape_to(f, to, &len, err) != 0) {
        return NULL;
    }
    to[len] = '\0';
    *tail = to + len + 1;
    return to;
}
