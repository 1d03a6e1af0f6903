/* SPDX-License-Identifier: MIT */
#include "config/hookkey.h"

#include "config/draft.h"
#include "config/eventname.h"
#include "config/yaml.h"
#include "core/err.h"

#include <stdio.h>
#include <string.h>

/* One command for what `glob` means. */
static void
add_hook(struct reader *r, const struct yaml_node *node, const char *glob,
         const char *path, struct experiment *x)
{
    struct hook_config *hook;

    if (node->kind != YAML_SCALAR || node->text[0] == '\0' ||
        strlen(node->text) != node->len) {
        reader_problem(r, node->line, path, "expected a command, got %s",
                       node->kind != YAML_SCALAR ? yaml_type_name(node)
                       : node->text[0] == '\0'   ? "nothing"
                                                 : "a text with a NUL");
        return;
    }
    if (x->n_hooks == EXPERIMENT_HOOKS_MAX) {
        reader_problem(r, node->line, path, "is one command more than %d",
                       EXPERIMENT_HOOKS_MAX);
        return;
    }
    hook = &x->hooks[x->n_hooks++];
    hook->glob = strdup(glob);
    hook->command = strdup(node->text);
    if (hook->glob == NULL || hook->command == NULL)
        reader_problem(r, node->line, path, "out of memory");
}

void
set_hooks(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    struct draft *d = target;
    char below[KEY_PATH_MAX];

    (void)key;
    if (node->kind != YAML_MAP) {
        reader_problem(r, node->line, path,
                       "expected a map from events to commands, got %s",
                       yaml_type_name(node));
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        struct err err = {0};

        snprintf(below, sizeof below, "%s.%.200s", path, c->key);
        if (event_names_like(c->key, &err) == 0) {
            reader_problem(r, c->key_line, below, "%s", err.text);
            continue;
        }
        if (c->kind != YAML_SEQUENCE)
            add_hook(r, c, c->key, below, &d->x);
        else
            for (const struct yaml_node *one = c->children; one != NULL;
                 one = one->next)
                add_hook(r, one, c->key, below, &d->x);
    }
}

void
set_hook_concurrency(struct reader *r, const struct key *key,
                     const struct yaml_node *node, const char *path,
                     void *target)
{
    uint64_t *out = target;

    (void)key;
    if (!yaml_uint(node, out) || *out < 1 || *out > HOOK_CONCURRENCY_MAX)
        reader_expected(r, node, path, "an integer from 1 to 64");
}
