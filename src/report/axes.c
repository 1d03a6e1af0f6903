/* SPDX-License-Identifier: MIT */
#include "report/axes.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "history/folder.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_MAX ((size_t)64 << 20)

static const struct {
    const char *type;
    enum report_scale scale;
    bool bounds; /* its first two numbers */
} types[] = {
    {"uniform", SCALE_LINEAR, true},  {"quniform", SCALE_LINEAR, true},
    {"randint", SCALE_LINEAR, true},  {"loguniform", SCALE_LOG, true},
    {"qloguniform", SCALE_LOG, true}, {"normal", SCALE_LINEAR, false},
    {"qnormal", SCALE_LINEAR, false}, {"lognormal", SCALE_LOG, false},
    {"qlognormal", SCALE_LOG, false}, {"choice", SCALE_CHOICE, false},
};
#define N_TYPES (sizeof types / sizeof *types)

struct walk {
    struct axes *axes;
    struct buf name;
    bool failed; /* out of memory */
};

static void walk_space(struct walk *w, struct jval space);

static void
axis_free(struct axis *a)
{
    if (a != NULL)
        columns_fini(&a->choices);
    free(a);
}

/* The axis of w->name, which is made where there is none. */
static struct axis *
axis_here(struct walk *w, size_t type)
{
    const char *name = buf_text(&w->name);
    struct axis *a = map_get(&w->axes->by_name, name, w->name.len);

    if (a != NULL)
        return a;
    a = calloc(1, sizeof *a);
    if (a == NULL || map_put(&w->axes->by_name, name, w->name.len, a) != 0) {
        free(a);
        w->failed = true;
        return NULL;
    }
    a->scale = types[type].scale;
    a->low = a->high = (double)NAN;
    return a;
}

static void
add_choice(struct walk *w, struct axis *a, struct jval value)
{
    struct buf text;
    const char *known;

    buf_init(&text, SPACE_MAX);
    if (!jval_string(value, &known, NULL)) {
        jval_write(value, &text);
        known = buf_text(&text);
    }
    for (size_t i = 0; i < a->choices.n && known != NULL; i++)
        if (strcmp(a->choices.names[i], known) == 0)
            known = NULL;
    if (known != NULL && columns_add(&a->choices, known, NULL) != 0)
        w->failed = true;
    buf_fini(&text);
}

static bool
is_nested(struct jval value)
{
    struct jval first, name;

    if (jval_type(value) != JSON_ARRAY || jval_count(value) == 0)
        return false;
    first = jval_at(value, 0);
    return jval_get(first, "_name", &name);
}

/* "net/_name", and for each of its elements "net/units". */
static void
walk_nested(struct walk *w, size_t type, struct jval value)
{
    size_t prefix = w->name.len;
    struct axis *a;
    struct jval v;

    buf_add_char(&w->name, '/');
    for (size_t i = 0; i < jval_count(value) && !w->failed; i++) {
        size_t inner = w->name.len;

        walk_space(w, jval_at(value, i));
        buf_add_text(&w->name, "_name");
        a = axis_here(w, type);
        if (a != NULL && jval_get(jval_at(value, i), "_name", &v))
            add_choice(w, a, v);
        w->name.len = inner;
    }
    w->name.len = prefix;
}

static void
walk_one(struct walk *w, size_t type, struct jval value)
{
    struct axis *a;

    if (types[type].scale == SCALE_CHOICE && is_nested(value)) {
        walk_nested(w, type, value);
        return;
    }
    a = axis_here(w, type);
    if (a == NULL || jval_type(value) != JSON_ARRAY)
        return;
    if (types[type].scale == SCALE_CHOICE) {
        for (size_t i = 0; i < jval_count(value); i++)
            add_choice(w, a, jval_at(value, i));
    } else if (types[type].bounds && jval_count(value) >= 2) {
        jval_number(jval_at(value, 0), &a->low);
        jval_number(jval_at(value, 1), &a->high);
    }
}

static void
walk_space(struct walk *w, struct jval space)
{
    struct jval_iter it = jval_iter(space);
    size_t prefix = w->name.len;
    struct jval value;

    while (!w->failed && jval_next(&it)) {
        const char *type = jval_text_of(it.value, "_type");

        buf_add_text(&w->name, it.key);
        for (size_t i = 0; i < N_TYPES; i++)
            if (strcmp(types[i].type, type) == 0 &&
                jval_get(it.value, "_value", &value))
                walk_one(w, i, value);
        w->name.len = prefix;
    }
}

int
axes_load(struct axes *a, const char *folder, struct err *err)
{
    struct walk w = {.axes = a};
    char *path = file_join(folder, FOLDER_SPACE);
    struct json *doc = NULL;
    struct buf text;

    buf_init(&text, 2 * SPACE_MAX);
    buf_init(&w.name, SPACE_MAX);
    if (path != NULL && file_read(path, SPACE_MAX, &text, NULL) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_NAN, NULL);
    if (doc != NULL && jval_type(json_root(doc)) == JSON_OBJECT)
        walk_space(&w, json_root(doc));
    json_free(doc);
    buf_fini(&w.name);
    buf_fini(&text);
    free(path);
    return w.failed ? err_set(err, ERR_MEMORY, "out of memory") : 0;
}

void
axes_fini(struct axes *a)
{
    struct axis *one;
    size_t at = 0;

    while ((one = map_next(&a->by_name, &at)) != NULL)
        axis_free(one);
    map_fini(&a->by_name);
}

const struct axis *
axes_find(const struct axes *a, const char *name)
{
    return map_get(&a->by_name, name, strlen(name));
}
