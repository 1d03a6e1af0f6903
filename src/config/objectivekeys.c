/* SPDX-License-Identifier: MIT */
/* DESIGN.  The keys become the one JSON object by which everybody is told of
 * objectives; objectives_read() says what is wrong with it by a path, and the
 * line is that of the node at this path. */
#include "config/keys.h"

#include "config/experiment.h"
#include "config/reader.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "json.h"
#include "objectives/objectives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_TEXT_MAX (8 * YAML_TEXT_MAX)

static const char *const parts[] = {"objectives", "resultConstraints",
                                    "scalarize"};
#define N_PARTS (sizeof parts / sizeof *parts)

/* A key that says something. */
static const struct yaml_node *
said(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *node = yaml_get(map, key);

    return node == NULL || yaml_type(node) == YAML_TYPE_NULL ? NULL : node;
}

static const struct yaml_node *
element(const struct yaml_node *list, unsigned long i)
{
    const struct yaml_node *node =
        list->kind == YAML_SEQUENCE ? list->children : NULL;

    while (node != NULL && i-- > 0)
        node = node->next;
    return node;
}

/* The line of what the path, A.B[N].C and perhaps more behind a colon, names;
 * of what is not there, of that in which it should be. */
static unsigned
line_of(const struct yaml_node *node, const char *path)
{
    char name[KEY_PATH_MAX];

    for (;;) {
        size_t len = strcspn(path, ".[:");
        const struct yaml_node *inner = NULL;
        char *end;

        if (*path == '[') {
            inner = element(node, strtoul(path + 1, &end, 10));
            path = *end == ']' ? end + 1 : "";
        } else {
            snprintf(name, sizeof name, "%.*s", (int)len, path);
            inner = len > 0 ? yaml_get(node, name) : NULL;
            path += len;
        }
        if (inner == NULL)
            return node->key_line > 0 ? node->key_line : node->line;
        node = inner;
        if (*path == '.')
            path++;
        if (*path == '\0' || *path == ':')
            return node->key_line > 0 ? node->key_line : node->line;
    }
}

/* Results are one number, unless there are limits on what comes beside it. */
static void
write_default(const struct experiment *x, struct json_writer *w)
{
    json_open_array(w, "objectives");
    json_open_object(w, NULL);
    json_add_text(w, "name", "default");
    json_add_text(w, "direction", x->minimize ? "minimize" : "maximize");
    json_close(w);
    json_close(w);
}

/* A scalarization that is named by a word alone is one without weights. */
static int
write_part(struct reader *r, const char *key, const struct yaml_node *node,
           struct json_writer *w)
{
    if (strcmp(key, "scalarize") == 0 && node->kind == YAML_SCALAR) {
        json_open_object(w, key);
        json_add_text(w, "method", node->text);
        json_close(w);
        return 0;
    }
    return yaml_write_json(node, r->file, key, json_value(w, key), r->problems);
}

static int
write_parts(struct reader *r, const struct experiment *x,
            const struct yaml_node *root, struct buf *out)
{
    struct json_writer w = json_begin_object(out);
    int rc = 0;

    if (said(root, "objectives") == NULL)
        write_default(x, &w);
    for (size_t i = 0; i < N_PARTS; i++) {
        const struct yaml_node *node = said(root, parts[i]);

        if (node != NULL && write_part(r, parts[i], node, &w) != 0)
            rc = -1;
    }
    json_close(&w);
    return rc;
}

/* Says who else names a direction, which the objectives have. */
static void
refuse_direction(struct reader *r, const struct yaml_node *node,
                 const char *path)
{
    if (node != NULL)
        reader_problem(r, node->line, path,
                       "each of the objectives has a direction: leave this "
                       "one out");
}

static void
check_directions(struct reader *r, const struct yaml_node *root)
{
    static const char *const algorithms[] = {"tuner", "assessor"};
    char path[64];

    refuse_direction(r, said(root, "direction"), "direction");
    for (size_t i = 0; i < 2; i++) {
        const struct yaml_node *a = yaml_get(root, algorithms[i]);

        snprintf(path, sizeof path, "%s.classArgs.optimize_mode",
                 algorithms[i]);
        if (yaml_get(a, "className") == NULL)
            refuse_direction(r, said(yaml_get(a, "classArgs"), "optimize_mode"),
                             path);
    }
}

/* What the assessor judges is one of the objectives, or the rank among all. */
static void
check_assessor(struct reader *r, const struct experiment *x,
               const struct yaml_node *root)
{
    static const char path[] = "assessor.objective";
    const char *name = x->assessor.objective;
    const struct objectives *o = x->objectives;
    char hint[128];

    if (o != NULL && strcmp(name, "rank") == 0)
        return;
    for (size_t i = 0; o != NULL && i < o->n; i++)
        if (strcmp(o->items[i].name, name) == 0)
            return;
    if (o == NULL)
        reader_problem(r, line_of(root, path), path,
                       "needs `objectives`, of which it names one");
    else
        reader_problem(r, line_of(root, path), path,
                       "'%.100s' is none of the objectives, and not rank%s",
                       name,
                       nearest_hint(name, (const char *const *)o->names, o->n,
                                    hint, sizeof hint));
}

/* Whether a pattern finds a value; one without a name finds the only one, and
 * one that is refused would. */
static bool
has_pattern(const struct experiment *x, const struct yaml_node *root,
            const char *name)
{
    if (yaml_get(yaml_get(yaml_get(root, "metrics"), "pattern"), name) != NULL)
        return true;
    for (size_t i = 0; i < x->n_patterns; i++)
        if (x->patterns[i].name == NULL ||
            strcmp(x->patterns[i].name, name) == 0)
            return true;
    return false;
}

/* What is reported in place of a trial that failed is a result, too. */
static void
check_failure(struct reader *r, struct experiment *x,
              const struct yaml_node *root)
{
    static const char path[] = "onFailure.value";
    struct on_failure *f = &x->on_failure;
    struct objective_values all;
    struct json *doc = NULL;
    struct err err = {0};

    if (f->then != FAILURE_REPORT || r->dispatches)
        return;
    if (f->values != NULL)
        doc = json_parse(f->values, strlen(f->values), JSON_NAN, &err);
    if (f->values != NULL && doc == NULL) {
        reader_problem(r, line_of(root, path), path, "%s", err.text);
    } else if (x->objectives == NULL && f->values != NULL) {
        reader_problem(r, line_of(root, path), path,
                       "expected a number: there are no `objectives`");
    } else if (x->objectives != NULL && f->values == NULL) {
        if (x->objectives->n_values > 1 ||
            strcmp(x->objectives->names[0], "default") != 0)
            reader_problem(r, line_of(root, path), path,
                           "expected a map with a number for each value, such "
                           "as {%.100s: 0}",
                           x->objectives->names[0]);
    } else if (x->objectives != NULL) {
        if (objectives_take(x->objectives, json_root(doc), &all, &err) != 0)
            reader_problem(r, line_of(root, path), path, "%s", err.text);
        f->value = all.values[0];
    }
    json_free(doc);
}

/* Patterns find all values by which results are judged, or none. */
static void
check_patterns(struct reader *r, const struct experiment *x,
               const struct yaml_node *root)
{
    static const char path[] = "metrics.pattern";
    const struct objectives *o = x->objectives;
    size_t n = o != NULL ? o->n_values : 1;

    if (x->n_patterns == 0)
        return;
    if (x->patterns[0].name == NULL && n > 1) {
        reader_problem(r, line_of(root, path), path,
                       "finds one value, and results have %zu: expected a map "
                       "such as {%.100s: 'REGEX', ...}",
                       n, o->names[0]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *name = o != NULL ? o->names[i] : "default";

        if (!has_pattern(x, root, name))
            reader_problem(r, line_of(root, path), path,
                           "has no pattern for the value '%.100s'", name);
    }
}

/* Tells what objectives_read() says: "A: B: what". */
static void
tell(struct reader *r, const struct yaml_node *root, const char *text)
{
    char path[KEY_PATH_MAX] = "";
    size_t len = 0;

    for (;;) {
        const char *colon = strstr(text, ": ");
        size_t word = strcspn(text, " '\"");

        if (colon == NULL || (size_t)(colon - text) >= word ||
            len + word + 1 >= sizeof path)
            break;
        len += (size_t)snprintf(path + len, sizeof path - len, "%s%.*s",
                                len > 0 ? "." : "", (int)(colon - text), text);
        text = colon + 2;
    }
    if (len == 0)
        reader_problem(r, root->line, "objectives", "%s", text);
    else
        reader_problem(r, line_of(root, path), path, "%s", text);
}

/* Notes what limits only and may be an objective that is misspelt. */
static void
note_limits(struct reader *r, const struct objectives *o,
            const struct yaml_node *root)
{
    char path[64], hint[128];

    for (size_t i = 0; i < o->n_limits; i++) {
        const char *name = o->names[o->limits[i].value];

        snprintf(path, sizeof path, "resultConstraints[%zu]", i);
        if (o->limits[i].value >= o->n &&
            nearest_hint(name, (const char *const *)o->names, o->n, hint,
                         sizeof hint)[0] != '\0')
            reader_note(r, line_of(root, path), path,
                        "'%s' is no objective: each result has to have it, "
                        "too%s",
                        name, hint);
    }
}

static void
read_objectives(struct reader *r, struct experiment *x,
                const struct yaml_node *root)
{
    struct err err = {0};
    struct buf text;

    if (said(root, "objectives") != NULL)
        check_directions(r, root);
    buf_init(&text, JSON_TEXT_MAX);
    if (write_parts(r, x, root, &text) == 0) {
        x->objectives = objectives_read(buf_text(&text), &err);
        if (x->objectives == NULL)
            tell(r, root, err.text);
    }
    if (x->objectives != NULL &&
        (x->objectives_json = objectives_text(x->objectives)) == NULL)
        reader_problem(r, root->line, "objectives", "out of memory");
    buf_fini(&text);
}

/* Notes a reference that is without effect, as `lacks` has none. */
static void
note_references(struct reader *r, const struct objectives *o,
                const struct yaml_node *root, const char *lacks)
{
    char path[64];

    for (size_t i = 0; i < o->n; i++) {
        snprintf(path, sizeof path, "objectives[%zu].reference", i);
        if (!isnan(o->items[i].reference))
            reader_note(r, line_of(root, path), path,
                        "has no effect: there is a hypervolume only where each "
                        "objective has one, and '%s' has none",
                        lacks);
    }
}

/* Of several objectives the goals about one value are about the hypervolume. */
static void
check_references(struct reader *r, const struct experiment *x,
                 const struct yaml_node *root)
{
    static const char *const keys[] = {"stopValue",
                                       "maxTrialsWithoutImprovement"};
    const struct objectives *o = x->objectives;

    for (size_t i = 0; o != NULL && o->n > 1 && i < o->n; i++) {
        if (!isnan(o->items[i].reference))
            continue;
        for (size_t k = 0; k < 2; k++)
            if (said(root, keys[k]) != NULL && !r->dispatches)
                reader_problem(r, said(root, keys[k])->key_line, keys[k],
                               "is about the hypervolume of several "
                               "objectives, for which each needs a "
                               "`reference`; '%.100s' has none",
                               o->items[i].name);
        note_references(r, o, root, o->items[i].name);
        return;
    }
}

void
objectivekeys_check(struct reader *r, struct draft *d,
                    const struct yaml_node *root)
{
    struct experiment *x = &d->x;
    const struct yaml_node *objectives = said(root, "objectives");

    if (objectives != NULL || said(root, "resultConstraints") != NULL)
        read_objectives(r, x, root);
    else if (said(root, "scalarize") != NULL)
        reader_problem(r, said(root, "scalarize")->key_line, "scalarize",
                       "needs `objectives`, of which it makes one value");
    if (objectives != NULL) {
        x->mode_from = EXPERIMENT_MODE_KEY;
        x->minimize =
            x->objectives != NULL && !x->objectives->items[0].maximize;
    }
    if (x->assessor.objective != NULL)
        check_assessor(r, x, root);
    if (x->objectives != NULL)
        note_limits(r, x->objectives, root);
    if (x->objectives != NULL || objectives == NULL) {
        check_patterns(r, x, root);
        check_failure(r, x, root);
        check_references(r, x, root);
    }
}
