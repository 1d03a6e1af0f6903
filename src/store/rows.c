/* SPDX-License-Identifier: MIT */
#include "store/rows.h"

#include "core/buf.h"
#include "core/err.h"
#include "manager/parameters.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)64 << 20)

static int
know(struct rows *r, const char *name, struct err *err)
{
    /* Which value it is does not matter. */
    if (map_put(&r->names, name, strlen(name), r) != 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    return 0;
}

int
rows_init(struct rows *r, struct store *s, struct err *err)
{
    struct sql_query *q;
    int rc;

    *r = (struct rows){.store = s};
    while ((rc = store_step(s, STORE_NAMES, NULL, 0, err)) == 1) {
        q = store_query(s, STORE_NAMES);
        if (know(r, s->sql->text(q, 0, NULL), err) != 0) {
            store_reset(s, STORE_NAMES);
            return -1;
        }
    }
    return rc;
}

void
rows_fini(struct rows *r)
{
    map_fini(&r->names);
}

struct store_value
rows_text(struct jval object, const char *key)
{
    const char *text;
    struct jval v;
    size_t len;

    if (!jval_get(object, key, &v) || !jval_string(v, &text, &len))
        return store_null();
    return store_bytes(text, len);
}

struct store_value
rows_number(struct jval object, const char *key)
{
    struct jval v;
    double value;

    if (!jval_get(object, key, &v) || !jval_number(v, &value))
        return store_null();
    return store_real(value);
}

struct store_value
rows_count(struct jval object, const char *key)
{
    struct jval v;
    int64_t value;
    bool yes;

    if (!jval_get(object, key, &v))
        return store_null();
    if (jval_bool(v, &yes))
        return store_int(yes);
    return jval_int(v, &value) ? store_int(value) : store_null();
}

struct adding {
    struct rows *rows;
    const char *trial;
    struct buf text;
    struct err *err;
    int rc;
};

static struct store_value
value_of(struct adding *a, struct jval v, const char **type)
{
    const char *text;
    int64_t integer;
    double real;
    size_t len;

    *type = "number";
    if (jval_int(v, &integer))
        return store_int(integer);
    if (jval_number(v, &real))
        return store_real(real);
    *type = "text";
    if (jval_string(v, &text, &len))
        return store_bytes(text, len);
    *type = "json";
    buf_clear(&a->text);
    jval_write(v, &a->text);
    return store_bytes(buf_text(&a->text), a->text.len);
}

static int
add_name(struct rows *r, const char *name, struct err *err)
{
    if (map_get(&r->names, name, strlen(name)) != NULL)
        return 0;
    r->new_names = true;
    return know(r, name, err) != 0
               ? -1
               : STORE_RUN(r->store, STORE_NAME, err, store_text(name));
}

static void
add_value(void *ctx, const char *name, struct jval v)
{
    struct adding *a = ctx;
    struct store_value value;
    const char *type;

    if (a->rc != 0)
        return;
    value = value_of(a, v, &type);
    a->rc = add_name(a->rows, name, a->err);
    if (a->rc == 0)
        a->rc = STORE_RUN(a->rows->store, STORE_PARAMETER, a->err,
                          store_text(a->trial), store_text(name),
                          store_text(type), value);
}

int
rows_add_parameters(struct rows *r, const char *trial, struct jval parameters,
                    struct err *err)
{
    struct adding a = {.rows = r, .trial = trial, .err = err};
    int rc;

    buf_init(&a.text, TEXT_MAX);
    rc = parameters_walk(parameters, add_value, &a, err);
    if (rc == 0)
        rc = a.rc;
    if (rc == 0)
        rc = buf_check(&a.text, "the value of a parameter", err);
    buf_fini(&a.text);
    return rc;
}
