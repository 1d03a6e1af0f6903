/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "quote.h"
#include "scan.h"

/* json-c has an enum of the same name. */
#define json_type json_c_type
#include <json-c/json.h>
#undef json_type

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
    struct buf text; /* the string being decoded */
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

/* Decodes the string into b->text. */
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

/* The key, decoded, into *key (to be freed), and the colon after it. */
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

/* On failure *out may hold half a value: the caller frees it. */
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
    ok = build(&b, &t, 0, &doc->root);
    if (ok) {
        t = scan_next(&b.s);
        ok = t.type == SCAN_END ||
             refuse(&b, &t, "expected the end of the text");
    }
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
