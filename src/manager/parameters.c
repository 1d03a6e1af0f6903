/* SPDX-License-Identifier: MIT */
#include "manager/parameters.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "numerics/random.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)64 << 20)

static char *
json_text(struct jval v)
{
    struct buf b;
    char *text;

    buf_init(&b, TEXT_MAX);
    jval_write(v, &b);
    text = buf_take(&b);
    buf_fini(&b);
    return text;
}

static int
check_record(struct jval root, struct jval *id, struct jval *parameters,
             struct err *err)
{
    enum json_type type;

    if (jval_type(root) != JSON_OBJECT)
        return err_set(err, ERR_INPUT, "expected an object, got %s",
                       jval_type_name(root));
    if (!jval_get(root, "parameter_id", id))
        return err_set(err, ERR_INPUT, "has no parameter_id");
    type = jval_type(*id);
    if (type != JSON_INT && type != JSON_UINT && type != JSON_STRING)
        return err_set(err, ERR_INPUT,
                       "parameter_id: expected a number or a text, got %s",
                       jval_type_name(*id));
    if (!jval_get(root, "parameters", parameters))
        return err_set(err, ERR_INPUT, "has no parameters");
    return 0;
}

int
suggestion_read(const char *text, size_t len, struct suggestion *out,
                struct err *err)
{
    struct jval id, parameters;

    *out = (struct suggestion){.doc = json_parse(text, len, JSON_STRICT, err)};
    if (out->doc == NULL)
        return -1;
    if (check_record(json_root(out->doc), &id, &parameters, err) != 0) {
        suggestion_fini(out);
        return -1;
    }
    out->id = json_text(id);
    out->parameters = json_text(parameters);
    if (out->id != NULL && out->parameters != NULL)
        return 0;
    suggestion_fini(out);
    return err_set(err, ERR_MEMORY, "out of memory");
}

void
suggestion_fini(struct suggestion *r)
{
    json_free(r->doc);
    free(r->id);
    free(r->parameters);
    *r = (struct suggestion){0};
}

/* A nested choice is an object that names itself. */
static bool
is_nested_choice(struct jval v)
{
    struct jval name;

    return jval_type(v) == JSON_OBJECT && jval_get(v, "_name", &name) &&
           jval_type(name) == JSON_STRING;
}

struct flattening {
    parameters_visit *visit;
    void *ctx;
    struct buf name, value;
};

static void
flatten_value(struct flattening *f, struct jval v)
{
    const char *text;
    size_t len;

    if (!jval_string(v, &text, &len)) {
        buf_clear(&f->value);
        jval_write(v, &f->value);
        text = buf_text(&f->value);
        len = f->value.len;
    }
    f->visit(f->ctx, buf_text(&f->name), text, len);
}

static void
flatten_members(struct flattening *f, struct jval object)
{
    struct jval_iter it = jval_iter(object);
    size_t prefix = f->name.len;

    while (jval_next(&it)) {
        f->name.len = prefix;
        buf_add_text(&f->name, it.key);
        if (is_nested_choice(it.value)) {
            buf_add_char(&f->name, '/');
            flatten_members(f, it.value);
        } else {
            flatten_value(f, it.value);
        }
    }
    f->name.len = prefix;
}

int
parameters_flatten(struct jval parameters, parameters_visit *visit, void *ctx,
                   struct err *err)
{
    struct flattening f = {.visit = visit, .ctx = ctx};
    int rc;

    if (jval_type(parameters) != JSON_OBJECT)
        return 0;
    buf_init(&f.name, TEXT_MAX);
    buf_init(&f.value, TEXT_MAX);
    flatten_members(&f, parameters);
    rc = buf_check(&f.name, "the name of a parameter", err);
    if (rc == 0)
        rc = buf_check(&f.value, "the value of a parameter", err);
    buf_fini(&f.name);
    buf_fini(&f.value);
    return rc;
}

static void
escape(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        static const char special[] = "\\\t\n\r", letters[] = "\\tnr";
        const char *found = text[i] != '\0' ? strchr(special, text[i]) : NULL;

        if (found != NULL) {
            buf_add_char(out, '\\');
            buf_add_char(out, letters[found - special]);
        } else {
            buf_add_char(out, text[i]);
        }
    }
}

static void
write_line(void *ctx, const char *name, const char *value, size_t len)
{
    struct buf *out = ctx;

    escape(out, name, strlen(name));
    buf_add_char(out, '\t');
    escape(out, value, len);
    buf_add_char(out, '\n');
}

int
parameters_write_tsv(struct jval parameters, struct buf *out, struct err *err)
{
    if (parameters_flatten(parameters, write_line, out, err) != 0)
        return -1;
    return buf_check(out, "parameters.tsv", err);
}

uint64_t
parameters_seed(uint64_t experiment_seed, const char *parameter_id)
{
    uint64_t id;
    struct random_stream s;

    if (!number_parse_u64(parameter_id, strlen(parameter_id), &id)) {
        id = 0xcbf29ce484222325u; /* FNV-1a, for labels */
        for (const char *p = parameter_id; *p != '\0'; p++)
            id = (id ^ (unsigned char)*p) * 0x100000001b3u;
    }
    s = random_stream(experiment_seed, RANDOM_TRIAL, id, 0);
    return random_bits(&s, 0);
}
