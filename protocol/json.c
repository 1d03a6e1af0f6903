/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "core/buf.h"
#include "core/err.h"
#include "quote.h"
#include "scan.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* json-c has an enum of the same name. */
#define json_type json_c_type
#include <json-c/json.h>
#undef json_type

/* DESIGN.  json-c holds the tree (its objects keep their order and are hash
 * tables), but never sees text: its parser lets single quotes and raw control
 * characters pass and clamps large integers.  The tree is built from the
 * tokens of scan.h, its numbers are read by number.h: one dialect of JSON in
 * the whole program.  json-c's null is a NULL pointer: so is a null's node. */

struct json {
    struct json_object *root;
};

struct builder {
    struct scan s;
    struct buf text; /* scratch: the string being decoded */
    struct err *err;
};

static bool build(struct builder *b, const struct scan_token *t, unsigned depth,
                  struct json_object **out);

static bool
refuse(struct builder *b, const struct scan_token *t, const char *problem)
{
    scan_refuse(&b->s, t, problem);
    scan_error(&b->s, b->err);
    return false;
}

static bool
out_of_memory(struct builder *b)
{
    err_set(b->err, ERR_MEMORY, "out of memory for a JSON text of %zu bytes",
            b->s.len);
    return false;
}

static bool
keep(struct builder *b, struct json_object *made, struct json_object **out)
{
    *out = made;
    return made != NULL || out_of_memory(b);
}

static bool
build_number(struct builder *b, const struct scan_token *t,
             struct json_object **out)
{
    int64_t i;
    uint64_t u;
    double d;

    if (scan_is_integer(t)) {
        if (scan_int(t, &i))
            return keep(b, json_object_new_int64(i), out);
        if (scan_uint(t, &u))
            return keep(b, json_object_new_uint64(u), out);
        return refuse(b, t, "integer beyond 64 bits");
    }
    if (!scan_number(t, &d))
        return refuse(b, t,
                      t->len > SCAN_NUMBER_MAX
                          ? "number of more than 500 characters"
                          : "number beyond a double's range");
    return keep(b, json_object_new_double(d), out);
}

/* Decodes a string token into b->text. */
static bool
decode(struct builder *b, const struct scan_token *t)
{
    buf_clear(&b->text);
    scan_unescape(t, &b->text);
    buf_reserve(&b->text, 0); /* room for the NUL */
    return !b->text.failed || out_of_memory(b);
}

static bool
build_string(struct builder *b, const struct scan_token *t,
             struct json_object **out)
{
    const char *text = t->text;
    size_t len = t->len;

    if (t->escaped) {
        if (!decode(b, t))
            return false;
        text = b->text.data;
        len = b->text.len;
    }
    return keep(b, json_object_new_string_len(text, (int)len), out);
}

static bool
build_array(struct builder *b, unsigned depth, struct json_object **out)
{
    struct json_object *array = json_object_new_array(), *value;
    struct scan_token t = scan_next(&b->s);

    *out = array; /* the caller frees it on failure, too */
    if (array == NULL)
        return out_of_memory(b);
    if (t.type == SCAN_CLOSE_ARRAY)
        return true;
    for (;; t = scan_next(&b->s)) {
        bool ok = build(b, &t, depth, &value);

        if (!ok || json_object_array_add(array, value) != 0) {
            json_object_put(value);
            return ok ? out_of_memory(b) : false;
        }
        t = scan_next(&b->s);
        if (t.type == SCAN_CLOSE_ARRAY)
            return true;
        if (t.type != SCAN_COMMA)
            return refuse(b, &t, "expected ',' or ']'");
    }
}

/* Reads the key, decoded, into *key (to be freed), and the colon behind it. */
static bool
build_key(struct builder *b, const struct scan_token *t,
          struct json_object *object, char **key)
{
    struct scan_token colon;
    char shown[QUOTE_MAX];

    *key = NULL;
    if (t->type != SCAN_STRING)
        return refuse(b, t, "expected a key in double quotes");
    if (!decode(b, t))
        return false;
    if (memchr(buf_text(&b->text), '\0', b->text.len) != NULL)
        return refuse(b, t, "a key must not hold \\u0000");
    if ((b->s.flags & JSON_UNIQUE) &&
        json_object_object_get_ex(object, buf_text(&b->text), NULL)) {
        err_set(b->err, ERR_INPUT, "byte %zu: the key %s stands twice", t->at,
                quote_bytes(shown, b->text.data, b->text.len));
        return false;
    }
    *key = strdup(buf_text(&b->text));
    if (*key == NULL)
        return out_of_memory(b);
    colon = scan_next(&b->s);
    return colon.type == SCAN_COLON || refuse(b, &colon, "expected ':'");
}

static bool
build_member(struct builder *b, struct scan_token t, unsigned depth,
             struct json_object *object)
{
    struct json_object *value = NULL;
    char *key;
    bool ok = build_key(b, &t, object, &key);

    if (ok) {
        t = scan_next(&b->s);
        ok = build(b, &t, depth, &value);
    }
    if (ok && json_object_object_add(object, key, value) != 0)
        ok = out_of_memory(b);
    if (!ok)
        json_object_put(value);
    free(key);
    return ok;
}

static bool
build_object(struct builder *b, unsigned depth, struct json_object **out)
{
    struct json_object *object = json_object_new_object();
    struct scan_token t = scan_next(&b->s);

    *out = object; /* the caller frees it on failure, too */
    if (object == NULL)
        return out_of_memory(b);
    if (t.type == SCAN_CLOSE_OBJECT)
        return true;
    for (;; t = scan_next(&b->s)) {
        if (!build_member(b, t, depth, object))
            return false;
        t = scan_next(&b->s);
        if (t.type == SCAN_CLOSE_OBJECT)
            return true;
        if (t.type != SCAN_COMMA)
            return refuse(b, &t, "expected ',' or '}'");
    }
}

/* Builds the value that the token begins.  On failure *out may hold half of it:
 * the caller frees it. */
static bool
build(struct builder *b, const struct scan_token *t, unsigned depth,
      struct json_object **out)
{
    *out = NULL;
    if (t->type == SCAN_NULL)
        return true;
    if (t->type == SCAN_TRUE || t->type == SCAN_FALSE)
        return keep(b, json_object_new_boolean(t->type == SCAN_TRUE), out);
    if (t->type == SCAN_NUMBER)
        return build_number(b, t, out);
    if (t->type == SCAN_STRING)
        return build_string(b, t, out);
    if (t->type != SCAN_OPEN_ARRAY && t->type != SCAN_OPEN_OBJECT)
        return refuse(b, t, "expected a value");
    if (depth == JSON_DEPTH_MAX)
        return refuse(b, t, "nested too deeply");
    return t->type == SCAN_OPEN_ARRAY ? build_array(b, depth + 1, out)
                                      : build_object(b, depth + 1, out);
}

struct json *
json_parse(const char *text, size_t len, unsigned flags, struct err *err)
{
    struct builder b = {.s = {text, len, 0, flags, NULL}, .err = err};
    struct json *doc = calloc(1, sizeof *doc);
    struct scan_token t;
    bool ok;

    if (doc == NULL) {
        out_of_memory(&b);
        return NULL;
    }
    if (len > INT_MAX) { /* json-c counts in int */
        free(doc);
        err_set(err, ERR_MEMORY, "a JSON text of %zu bytes is too long", len);
        return NULL;
    }
    buf_init(&b.text, len);
    t = scan_next(&b.s);
    ok = build(&b, &t, 0, &doc->root) && scan_end(&b.s, err) == 0;
    buf_fini(&b.text);
    if (ok)
        return doc;
    json_free(doc);
    return NULL;
}

void
json_free(struct json *doc)
{
    if (doc == NULL)
        return;
    json_object_put(doc->root);
    free(doc);
}

struct jval
json_root(const struct json *doc)
{
    return (struct jval){doc->root};
}

/* ---- values compared and written, without json-c ---- */

/* bytes of a value written as a text of its own */
#define TEXT_MAX ((size_t)1 << 30)

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
        /* The integer and the double are compared exactly: a double beyond 2^53
         * may stand for a rounded integer. */
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

/* ---- looking into json-c's tree ---- */

/* A value's node.  json-c's readers want it non-const, though they change
 * nothing here. */
static struct json_object *
node(struct jval v)
{
    return (struct json_object *)(uintptr_t)v.node;
}

enum json_type
jval_type(struct jval v)
{
    switch (json_object_get_type(node(v))) {
    case json_type_null:
        return JSON_NULL;
    case json_type_boolean:
        return JSON_BOOL;
    case json_type_double:
        return JSON_DOUBLE;
    case json_type_int:
        return json_object_get_uint64(node(v)) > INT64_MAX ? JSON_UINT
                                                           : JSON_INT;
    case json_type_object:
        return JSON_OBJECT;
    case json_type_array:
        return JSON_ARRAY;
    case json_type_string:
        return JSON_STRING;
    }
    return JSON_NULL;
}

bool
jval_get(struct jval v, const char *key, struct jval *out)
{
    struct json_object *found;

    if (!json_object_is_type(node(v), json_type_object) ||
        !json_object_object_get_ex(node(v), key, &found))
        return false;
    out->node = found;
    return true;
}

size_t
jval_count(struct jval v)
{
    enum json_type type = jval_type(v);

    if (type == JSON_ARRAY)
        return json_object_array_length(node(v));
    if (type == JSON_OBJECT)
        return (size_t)json_object_object_length(node(v));
    return 0;
}

struct jval
jval_at(struct jval array, size_t i)
{
    return (struct jval){json_object_array_get_idx(node(array), i)};
}

bool
jval_has_uint(struct jval array, uint64_t n)
{
    size_t count = jval_type(array) == JSON_ARRAY ? jval_count(array) : 0;
    uint64_t element;

    for (size_t i = 0; i < count; i++)
        if (jval_uint(jval_at(array, i), &element) && element == n)
            return true;
    return false;
}

struct jval_iter
jval_iter(struct jval object)
{
    struct jval_iter it = {0};

    if (json_object_is_type(node(object), json_type_object))
        it.entry = json_object_get_object(node(object))->head;
    return it;
}

bool
jval_next(struct jval_iter *it)
{
    const struct lh_entry *entry = it->entry;

    if (entry == NULL)
        return false;
    it->key = entry->k;
    it->value.node = entry->v;
    it->entry = entry->next;
    return true;
}

bool
jval_bool(struct jval v, bool *out)
{
    if (jval_type(v) != JSON_BOOL)
        return false;
    *out = json_object_get_boolean(node(v));
    return true;
}

bool
jval_int(struct jval v, int64_t *out)
{
    if (jval_type(v) != JSON_INT)
        return false;
    *out = json_object_get_int64(node(v));
    return true;
}

bool
jval_uint(struct jval v, uint64_t *out)
{
    enum json_type type = jval_type(v);

    if (type != JSON_UINT &&
        (type != JSON_INT || json_object_get_int64(node(v)) < 0))
        return false;
    *out = json_object_get_uint64(node(v));
    return true;
}

bool
jval_string(struct jval v, const char **out, size_t *len)
{
    if (jval_type(v) != JSON_STRING)
        return false;
    *out = json_object_get_string(node(v));
    if (len != NULL)
        *len = (size_t)json_object_get_string_len(node(v));
    return true;
}

bool
jval_double(struct jval v, double *out)
{
    if (jval_type(v) != JSON_DOUBLE)
        return false;
    *out = json_object_get_double(node(v));
    return true;
}
