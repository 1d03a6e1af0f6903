/* SPDX-License-Identifier: MIT */
/* The half of json.h that looks into json-c's tree. */
#include "json.h"

/* json-c has an enum of the same name. */
#define json_type json_c_type
#include <json-c/json.h>
#undef json_type

/* json-c's readers want non-const, though they change nothing here. */
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
