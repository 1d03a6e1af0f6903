/* SPDX-License-Identifier: MIT */
#include "plugin/arguments.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "core/problems.h"
#include "plugin/argvalue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* length of a key path; no argument has a longer one */
#define PATH_LEN_MAX 256
#define TABLE_MAX 256

struct arguments {
    const struct tp_arg *table;
    size_t n;
    struct tp_value *values;
};

/* The state of one arguments_parse(). */
struct walk {
    struct arguments *args;
    bool *given;
    const char *where;
    struct problems *problems;
};

static void
complain(struct walk *w, const char *path, const char *text)
{
    char place[PATH_LEN_MAX + 128];

    snprintf(place, sizeof place, "%.100s%s%.*s", w->where,
             path[0] != '\0' ? "." : "", PATH_LEN_MAX, path);
    problems_add(w->problems, place, "%s", text);
}

static const char *
last_word(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot == NULL ? name : dot + 1;
}

static void
put_group_hint(const struct arguments *a, const char *path, char *hint,
               size_t size)
{
    char group[PATH_LEN_MAX + 1];
    const char *near = group;

    for (size_t i = 0; i < a->n && hint[0] == '\0'; i++) {
        size_t len = strcspn(a->table[i].name, ".");

        if (a->table[i].name[len] == '\0')
            continue;
        snprintf(group, sizeof group, "%.*s", (int)len, a->table[i].name);
        nearest_hint(path, &near, 1, hint, size);
    }
}

/* What is perhaps meant: an argument whose group was left out, one whose whole
 * name is near, a group whose name is near, or an argument whose name in its
 * group is. */
static void
put_hint(const struct arguments *a, const char *path, char *hint, size_t size)
{
    const char *names[TABLE_MAX], *words[TABLE_MAX], *near;

    for (size_t i = 0; i < a->n; i++) {
        names[i] = a->table[i].name;
        words[i] = last_word(names[i]);
        if (strcmp(last_word(names[i]), last_word(path)) == 0) {
            snprintf(hint, size, " (did you mean '%s'?)", names[i]);
            return;
        }
    }
    nearest_hint(path, names, a->n, hint, size);
    put_group_hint(a, path, hint, size);
    near = hint[0] != '\0' ? NULL : nearest_name(last_word(path), words, a->n);
    for (size_t i = 0; near != NULL && i < a->n; i++)
        if (words[i] == near)
            snprintf(hint, size, " (did you mean '%s'?)", names[i]);
}

static void
unknown(struct walk *w, const char *path)
{
    const struct arguments *a = w->args;
    char hint[160] = "";
    struct buf all;
    struct err e;

    buf_init(&all, ERR_TEXT_MAX);
    for (size_t i = 0; i < a->n; i++)
        buf_printf(&all, "%s%s",
                   i > 0 ? ", " : "; there are: ", a->table[i].name);
    put_hint(a, path, hint, sizeof hint);
    err_set(&e, ERR_CONFIG, "unknown argument%s%s", hint,
            a->n > 0 ? buf_text(&all) : "; there are none");
    complain(w, path, e.text);
    buf_fini(&all);
}

static void walk_object(struct walk *w, const char *prefix, struct jval object);

/* Walks into a key whose path is "a.b", when arguments "a.b.c" exist. */
static void
walk_nested(struct walk *w, const char *path, struct jval value)
{
    char prefix[PATH_LEN_MAX + 2];
    char shown[ARGVALUE_SHOWN];
    struct err e;

    if (jval_type(value) == JSON_NULL)
        return;
    if (jval_type(value) == JSON_OBJECT) {
        snprintf(prefix, sizeof prefix, "%s.", path);
        walk_object(w, prefix, value);
        return;
    }
    err_set(&e, ERR_CONFIG, "is %s, expected an object",
            argvalue_show(value, shown));
    complain(w, path, e.text);
}

static void
walk_key(struct walk *w, const char *path, struct jval value)
{
    struct arguments *a = w->args;
    size_t len = strlen(path);

    for (size_t i = 0; i < a->n; i++) {
        const char *name = a->table[i].name;
        struct err e;

        if (strcmp(name, path) == 0) {
            w->given[i] = true;
            if (argvalue_read(&a->table[i], value, &a->values[i], &e) != 0)
                complain(w, path, e.text);
            return;
        }
        if (strncmp(name, path, len) == 0 && name[len] == '.') {
            walk_nested(w, path, value);
            return;
        }
    }
    unknown(w, path);
}

static void
walk_object(struct walk *w, const char *prefix, struct jval object)
{
    struct jval_iter it = jval_iter(object);

    while (jval_next(&it)) {
        char path[PATH_LEN_MAX + 1];

        snprintf(path, sizeof path, "%s%s", prefix, it.key);
        if (strchr(it.key, '.') != NULL)
            complain(w, path,
                     "unknown argument; what stands behind a dot is "
                     "a key in an object");
        else if (strlen(prefix) + strlen(it.key) >= sizeof path)
            complain(w, path, "unknown argument");
        else
            walk_key(w, path, it.value);
    }
}

static void
fill_default(struct walk *w, size_t i)
{
    const struct tp_arg *arg = &w->args->table[i];
    char expected[ARGVALUE_EXPECTED];
    struct err e;

    if (arg->def == NULL) {
        err_set(&e, ERR_CONFIG, "missing, expected %s",
                argvalue_expected(arg, expected));
        complain(w, arg->name, e.text);
    } else if (argvalue_default(arg, &w->args->values[i], &e) != 0) {
        complain(w, arg->name, e.text);
    }
}

static void
walk_all(struct walk *w, struct jval object)
{
    char shown[ARGVALUE_SHOWN];
    struct err e;

    if (jval_type(object) == JSON_OBJECT) {
        walk_object(w, "", object);
    } else if (jval_type(object) != JSON_NULL) {
        err_set(&e, ERR_CONFIG, "is %s, expected an object",
                argvalue_show(object, shown));
        complain(w, "", e.text);
        return;
    }
    for (size_t i = 0; i < w->args->n; i++)
        if (!w->given[i])
            fill_default(w, i);
}

struct arguments *
arguments_parse(const struct tp_arg *table, size_t n, struct jval object,
                const char *where, struct problems *problems)
{
    struct walk w = {NULL, NULL, where, problems};
    size_t before = problems->count;

    w.args = calloc(1, sizeof *w.args);
    w.given = calloc(n + 1, sizeof *w.given);
    if (w.args != NULL)
        w.args->values = calloc(n + 1, sizeof *w.args->values);
    if (w.args == NULL || w.given == NULL || w.args->values == NULL) {
        problems_add(problems, where, "out of memory");
    } else {
        w.args->table = table;
        w.args->n = n;
        walk_all(&w, object);
    }
    free(w.given);
    if (problems->count == before)
        return w.args;
    arguments_free(w.args);
    return NULL;
}

void
arguments_free(struct arguments *a)
{
    if (a == NULL)
        return;
    for (size_t i = 0; i < a->n; i++)
        argvalue_clear(&a->values[i]);
    free(a->values);
    free(a);
}

const struct tp_value *
arguments_values(const struct arguments *a)
{
    return a->values;
}

bool
arguments_seed(const struct arguments *a, uint64_t *out)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->table[i].type == TP_ARG_SEED && !a->values[i].is_null) {
            *out = (uint64_t)a->values[i].integer;
            return true;
        }
    return false;
}

const char *
arguments_text(const struct arguments *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->table[i].type == TP_ARG_STRING && !a->values[i].is_null &&
            strcmp(a->table[i].name, name) == 0)
            return a->values[i].text;
    return NULL;
}

/* Whether an argument before i has the same first `len` letters: then the
 * object of that name has been written with it. */
static bool
stood_before(const struct arguments *a, size_t i, size_t len)
{
    for (size_t k = 0; k < i; k++)
        if (strncmp(a->table[k].name, a->table[i].name, len) == 0)
            return true;
    return false;
}

/* The object of all whose names begin with the first `len` letters of the
 * first-th.  Nesting is bounded by the length of names. */
static void
write_object(const struct arguments *a, size_t first, size_t len,
             struct buf *out)
{
    const char *prefix = a->n > 0 ? a->table[first].name : "";
    struct json_writer w = json_begin_object(out);

    for (size_t i = first; i < a->n; i++) {
        const char *name = a->table[i].name;
        char key[PATH_LEN_MAX];
        size_t part;
        bool leaf;

        if (strncmp(name, prefix, len) != 0)
            continue;
        part = strcspn(name + len, ".");
        leaf = name[len + part] == '\0';
        if (!leaf && stood_before(a, i, len + part + 1))
            continue;
        snprintf(key, sizeof key, "%.*s", (int)part, name + len);
        if (leaf)
            argvalue_write(&a->table[i], &a->values[i], json_value(&w, key));
        else
            write_object(a, i, len + part + 1, json_value(&w, key));
    }
    json_close(&w);
}

void
arguments_write(const struct arguments *a, struct buf *out)
{
    write_object(a, 0, 0, out);
}

/* ---- the check of a plugin's argument table itself ---- */

#define NAME_LEN_MAX 127

/* Whether a name consists of words of letters, digits and '_', joined by single
 * dots. */
static bool
name_is_sound(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > NAME_LEN_MAX || name[0] == '.' ||
        name[len - 1] == '.' || strstr(name, "..") != NULL)
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_.") == len;
}

/* Whether two names are the same key: "a" and "a", or "a" and "a.b". */
static bool
names_collide(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), least = la < lb ? la : lb;

    return strncmp(a, b, least) == 0 && (a[least] == '\0' || a[least] == '.') &&
           (b[least] == '\0' || b[least] == '.');
}

static int
check_choices(const char *choices, struct err *err)
{
    size_t n = 0, len;

    for (;; choices += len + 1) {
        len = strcspn(choices, "|");
        if (len == 0 || len > ARGVALUE_CHOICE_LEN_MAX ||
            ++n > ARGVALUE_CHOICES_MAX)
            return err_set(err, ERR_CONFIG,
                           ".choices: expected 1 to %d words of 1 to %d bytes "
                           "between '|'",
                           ARGVALUE_CHOICES_MAX, ARGVALUE_CHOICE_LEN_MAX);
        if (choices[len] == '\0')
            return 0;
    }
}

static int
check_one(const struct tp_arg *arg, struct err *err)
{
    struct tp_value value = {0};
    int rc;

    if (argvalue_type_name(arg->type) == NULL)
        return err_set(err, ERR_CONFIG, ".type is %d, expected a TP_ARG_...",
                       arg->type);
    if (isnan(arg->low) || isnan(arg->high) || arg->low > arg->high)
        return err_set(err, ERR_CONFIG, "no value lies within %g..%g", arg->low,
                       arg->high);
    if (arg->doc == NULL || strchr(arg->doc, '\n') != NULL)
        return err_set(err, ERR_CONFIG, ".doc has to be one line");
    if (arg->type == TP_ARG_STRING && arg->choices != NULL &&
        check_choices(arg->choices, err) != 0)
        return -1;
    if (arg->def == NULL)
        return 0;
    rc = argvalue_default(arg, &value, err);
    argvalue_clear(&value);
    return rc;
}

int
arguments_check(const struct tp_arg *table, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = table[i].name;

        if (name == NULL || !name_is_sound(name))
            return err_set(err, ERR_CONFIG, "argument %zu: .name is '%.80s'", i,
                           name == NULL ? "" : name);
        for (size_t k = 0; k < i; k++)
            if (names_collide(name, table[k].name))
                return err_set(err, ERR_CONFIG,
                               "argument '%s': collides with '%s'", name,
                               table[k].name);
        if (check_one(&table[i], err) != 0)
            return err_place(err, "argument '%s'", name);
    }
    return 0;
}
