/* SPDX-License-Identifier: MIT */
#include "config/keys_algorithm.h"

#include "config/draft.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/problems.h"

#include <stdio.h>
#include <string.h>

/* What is missing in one that is a map with keys, or too much. */
static void
check_named(struct reader *r, const struct algorithm *a, const char *path)
{
    if (a->class_name != NULL && (a->name != NULL || a->plugin != NULL))
        reader_problem(r, a->line, path, "has `className` and `%s`: give one",
                       a->name != NULL ? "name" : "plugin");
    else if (a->class_name == NULL && a->code_folder != NULL)
        reader_problem(r, a->line, path,
                       "has `codeDirectory`, and needs `className`");
    else if (a->class_name == NULL && a->name == NULL && a->plugin == NULL)
        reader_problem(r, a->line, path,
                       "needs `name` (see tunepipe tuners), `plugin` or "
                       "`className`");
    else if (a->class_name != NULL && strchr(a->class_name, '.') == NULL)
        reader_problem(r, a->line, path,
                       "className: expected MODULE.CLASS, got '%.100s'",
                       a->class_name);
}

void
set_algorithm(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    struct algorithm *a = target;
    size_t before = r->problems->count;

    a->line = node->key_line;
    read_map(r, key->keys, node, path, target);
    if (node->kind == YAML_MAP && node->count > 0 &&
        r->problems->count == before)
        check_named(r, a, path);
    if (node->kind == YAML_MAP && node->count == 0)
        reader_problem(r, node->key_line, path,
                       "is empty; needs `name` (see tunepipe tuners)");
}

void
set_filters(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    struct draft *d = target;
    char place[KEY_PATH_MAX];

    if (node->kind != YAML_SEQUENCE) {
        reader_problem(r, node->line, path, "expected a list, got %s",
                       yaml_type_name(node));
        return;
    }
    if (node->count > EXPERIMENT_FILTERS_MAX) {
        reader_problem(r, node->line, path,
                       "has %zu filters, expected at most "
                       "%d",
                       node->count, EXPERIMENT_FILTERS_MAX);
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        struct algorithm *a = &d->x.filters[d->x.n_filters];

        snprintf(place, sizeof place, "%s[%zu]", path, d->x.n_filters++);
        a->line = c->line;
        if (c->kind == YAML_SCALAR)
            set_text(r, key, c, place, &a->name);
        else
            read_map(r, key->keys, c, place, a);
        if (c->kind == YAML_MAP && yaml_get(c, "name") == NULL)
            reader_problem(r, c->line, place,
                           "needs `name` (see tunepipe tuners)");
    }
}

void
set_constraints(struct reader *r, const struct key *key,
                const struct yaml_node *node, const char *path, void *target)
{
    struct draft *d = target;
    struct buf all;
    size_t n = 0;

    (void)key;
    if (node->kind != YAML_SEQUENCE) {
        reader_problem(r, node->line, path, "expected a list of texts, got %s",
                       yaml_type_name(node));
        return;
    }
    buf_init(&all, YAML_TEXT_MAX);
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        if (c->kind != YAML_SCALAR || c->text[0] == '\0')
            reader_problem(r, c->line, path,
                           "[%zu] is %s, expected a text such as 'x < y'", n,
                           c->kind == YAML_SCALAR ? "empty"
                                                  : yaml_type_name(c));
        else
            buf_printf(&all, "%s%s", all.len > 0 ? "; " : "", c->text);
        n++;
    }
    d->constraints_line = node->key_line;
    d->constraints = buf_take(&all);
    if (all.failed || d->constraints == NULL)
        reader_problem(r, node->line, path, "out of memory");
    buf_fini(&all);
}

#define IN(member) offsetof(struct algorithm, member)
const struct key algorithm_keys[] = {
    {"name", set_text, IN(name), KEY_DISPATCH, NULL, NULL, NULL},
    {"plugin", set_path, IN(plugin), KEY_DISPATCH, NULL, NULL, NULL},
    {"classArgs", set_json_map, IN(args), KEY_DISPATCH, NULL, NULL, NULL},
    {"className", set_text, IN(class_name), KEY_DISPATCH, NULL, NULL, NULL},
    {"codeDirectory", set_path, IN(code_folder), KEY_DISPATCH, NULL, NULL,
     NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

const struct key filter_keys[] = {
    {"name", set_text, IN(name), KEY_DISPATCH, NULL, NULL, NULL},
    {"args", set_json_map, IN(args), KEY_DISPATCH, NULL, NULL, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};
#undef IN
