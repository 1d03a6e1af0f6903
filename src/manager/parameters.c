/* SPDX-License-Identifier: MIT */
#include "manager/parameters.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/problems.h"
#include "numerics/random.h"
#include "space/space.h"
#include "trial/files.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)64 << 20)

static const char *const words[] = {
    [ORIGIN_NONE] = "",
    [ORIGIN_PROMOTED] = "promoted",
    [ORIGIN_CLONED] = "cloned",
};

const char *
origin_word(enum origin_how how)
{
    return words[how];
}

struct origin
origin_read(struct jval record)
{
    struct origin o = {.how = ORIGIN_NONE};
    const char *from = "", *how = "";
    struct jval v;

    if (jval_get(record, "resume_from", &v))
        jval_string(v, &from, NULL);
    if (jval_get(record, "resume_how", &v))
        jval_string(v, &how, NULL);
    if (!number_parse_u64(from, strlen(from), &o.from))
        return o;
    for (int i = ORIGIN_PROMOTED; i <= ORIGIN_CLONED; i++)
        if (strcmp(words[i], how) == 0)
            o.how = (enum origin_how)i;
    return o;
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

double
parameters_budget(struct jval parameters)
{
    double budget;
    struct jval v;

    return jval_type(parameters) == JSON_OBJECT &&
                   jval_get(parameters, TRIAL_BUDGET_PARAMETER, &v) &&
                   jval_number(v, &budget) && isfinite(budget) && budget > 0
               ? budget
               : 0;
}

bool
parameters_is_folder(const char *name)
{
    return strcmp(name, "load_checkpoint_dir") == 0 ||
           strcmp(name, "save_checkpoint_dir") == 0;
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
    out->id = jval_copy_text(id);
    out->parameters = jval_copy_text(parameters);
    out->origin = origin_read(json_root(out->doc));
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

struct space *
parameters_space(const char *search_space)
{
    struct json *doc =
        json_parse(search_space, strlen(search_space), JSON_STRICT, NULL);
    struct problems problems;
    struct space *space;

    if (doc == NULL)
        return NULL;
    problems_init(&problems);
    space = space_parse(json_root(doc), &problems);
    problems_fini(&problems);
    json_free(doc);
    return space;
}

static size_t
text_length(struct jval number)
{
    struct buf text;
    size_t n;

    buf_init(&text, TEXT_MAX);
    jval_write(number, &text);
    n = text.len;
    buf_fini(&text);
    return n;
}

/* Whether a number that the space made of a point differs from the given one by
 * the rounding of coordinates alone.  A longer given one was itself rounded, to
 * a step or a bound: 24.000000000000004 is 24. */
static bool
is_as_given(struct jval made, struct jval given)
{
    double a, b;

    return jval_number(made, &a) && jval_number(given, &b) && a != b &&
           fabs(a - b) <= 8 * DBL_EPSILON * fabs(b) &&
           text_length(given) < text_length(made);
}

/* Writes `made`, but numbers that stand for those of `given` as they were
 * given: 0.01, not 0.010000000000000002. */
static void
write_as_given(struct json_writer *w, const char *key, struct jval made,
               struct jval given)
{
    struct jval_iter it;
    struct jval v;

    if (jval_type(made) == JSON_OBJECT && jval_type(given) == JSON_OBJECT) {
        json_open_object(w, key);
        for (it = jval_iter(made); jval_next(&it);)
            write_as_given(w, it.key, it.value,
                           jval_get(given, it.key, &v) ? v : it.value);
        json_close(w);
        return;
    }
    jval_write(is_as_given(made, given) ? given : made, json_value(w, key));
}

int
parameters_complete(const struct space *space, struct jval given, uint64_t seed,
                    struct buf *out, struct err *err)
{
    size_t n = space_dims(space)->n_dims;
    double *x = calloc(n > 0 ? n : 1, sizeof *x);
    struct json_writer w = json_begin(out);
    struct json *made = NULL;
    struct buf text;
    int rc = -1;

    buf_init(&text, TEXT_MAX);
    if (x == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
    } else if (space_complete(space, given, seed, x, err) == 0 &&
               space_check(space, x, err) == 0) {
        space_decode(space, x, &text);
        if (buf_check(&text, "the parameters", err) == 0)
            made = json_parse(text.data, text.len, JSON_STRICT, err);
    }
    if (made != NULL) {
        write_as_given(&w, NULL, json_root(made), given);
        rc = buf_check(out, "the parameters", err);
    }
    json_free(made);
    free(x);
    buf_fini(&text);
    return rc;
}

struct json *
parameters_given(const struct space *space, struct jval parameters,
                 struct err *err)
{
    struct json *doc = NULL;
    struct buf text;

    buf_init(&text, TEXT_MAX);
    space_write_given(space, parameters, &text);
    if (buf_check(&text, "the parameters", err) == 0)
        doc = json_parse(text.data, text.len, JSON_STRICT, err);
    buf_fini(&text);
    return doc;
}

/* A nested choice is an object that names itself. */
static bool
is_nested_choice(struct jval v)
{
    struct jval name;

    return jval_type(v) == JSON_OBJECT && jval_get(v, "_name", &name) &&
           jval_type(name) == JSON_STRING;
}

struct walk {
    parameters_each *each;
    void *ctx;
    struct buf name;
};

static void
walk_members(struct walk *w, struct jval object)
{
    struct jval_iter it = jval_iter(object);
    size_t prefix = w->name.len;

    while (jval_next(&it)) {
        w->name.len = prefix;
        buf_add_text(&w->name, it.key);
        if (is_nested_choice(it.value)) {
            buf_add_char(&w->name, '/');
            walk_members(w, it.value);
        } else {
            w->each(w->ctx, buf_text(&w->name), it.value);
        }
    }
    w->name.len = prefix;
}

int
parameters_walk(struct jval parameters, parameters_each *each, void *ctx,
                struct err *err)
{
    struct walk w = {.each = each, .ctx = ctx};
    int rc;

    if (jval_type(parameters) != JSON_OBJECT)
        return 0;
    buf_init(&w.name, TEXT_MAX);
    walk_members(&w, parameters);
    rc = buf_check(&w.name, "the name of a parameter", err);
    buf_fini(&w.name);
    return rc;
}

struct flattening {
    parameters_visit *visit;
    void *ctx;
    struct buf value;
};

static void
flatten_value(void *ctx, const char *name, struct jval v)
{
    struct flattening *f = ctx;
    const char *text;
    size_t len;

    if (!jval_string(v, &text, &len)) {
        buf_clear(&f->value);
        jval_write(v, &f->value);
        text = buf_text(&f->value);
        len = f->value.len;
    }
    f->visit(f->ctx, name, text, len);
}

int
parameters_flatten(struct jval parameters, parameters_visit *visit, void *ctx,
                   struct err *err)
{
    struct flattening f = {.visit = visit, .ctx = ctx};
    int rc;

    buf_init(&f.value, TEXT_MAX);
    rc = parameters_walk(parameters, flatten_value, &f, err);
    if (rc == 0)
        rc = buf_check(&f.value, "the value of a parameter", err);
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
