/* SPDX-License-Identifier: MIT */
#include "config/label_keys.h"

#include "config/labels.h"
#include "config/wishes.h"
#include "config/yaml.h"
#include "core/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void take_fn(struct reader *r, const struct yaml_node *node,
                     const char *path, int device, struct labels *l);

/* What is listed or put in a message has to be one line. */
static bool
is_label(const struct yaml_node *node)
{
    if (node->kind != YAML_SCALAR || node->len == 0 ||
        node->len > LABEL_LEN_MAX)
        return false;
    for (size_t i = 0; i < node->len; i++)
        if ((unsigned char)node->text[i] < ' ' || node->text[i] == 0x7f)
            return false;
    return true;
}

static void
take_glob(struct reader *r, const struct yaml_node *node, const char *path,
          int device, struct labels *l)
{
    (void)device;
    if (l->n_globs == LABELS_GLOBS_MAX) {
        reader_problem(r, node->line, path, "is one label more than %d",
                       LABELS_GLOBS_MAX);
        return;
    }
    l->globs[l->n_globs] = strdup(node->text);
    if (l->globs[l->n_globs] == NULL)
        reader_problem(r, node->line, path, "out of memory");
    else
        l->n_globs++;
}

static void
take_label(struct reader *r, const struct yaml_node *node, const char *path,
           int device, struct labels *l)
{
    if (l->n == LABELS_MAX)
        reader_problem(r, node->line, path, "is one label more than %d",
                       LABELS_MAX);
    else if (labels_add(l, device, node->text) != 0)
        reader_problem(r, node->line, path, "out of memory");
}

/* One, or a list of them. */
static void
take(struct reader *r, const struct yaml_node *node, const char *path,
     take_fn *one, int device, struct labels *l)
{
    const struct yaml_node *c = node, *end = node->next;

    if (node->kind == YAML_SEQUENCE) {
        c = node->children;
        end = NULL;
    }
    for (; c != end; c = c->next) {
        if (is_label(c))
            one(r, c, path, device, l);
        else
            reader_expected(r, c, path, "a label: a line of at most 200 bytes");
    }
}

void
label_globs(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    (void)key;
    take(r, node, path, take_glob, LABELS_MACHINE, target);
}

void
label_machine(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    (void)key;
    take(r, node, path, take_label, LABELS_MACHINE, target);
}

void
label_devices(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    char below[KEY_PATH_MAX];
    uint64_t index;

    (void)key;
    if (node->kind != YAML_MAP) {
        reader_expected(r, node, path,
                        "a map from GPUs to labels such as {\"0\": [fast]}");
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        snprintf(below, sizeof below, "%s.%.100s", path, c->key);
        if (number_parse_u64(c->key, strlen(c->key), &index) &&
            index < WISHES_DEVICES_MAX)
            take(r, c, below, take_label, (int)index, target);
        else
            reader_problem(r, c->key_line, below,
                           "expected a GPU's number from 0 to 63");
    }
}
