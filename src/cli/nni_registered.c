/* SPDX-License-Identifier: MIT */
#include "cli/nni_registered.h"

#include "config/yaml.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "core/problems.h"
#include "nni/pyclass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FILE_NAME "registered_algorithms.yml"

/* FOLDER/PLACE/registered_algorithms.yml, to be freed; NULL: not there. */
static char *
find_in(const char *folder, const char *place)
{
    char *path = NULL;

    if (asprintf(&path, "%s%s/" FILE_NAME, folder, place) < 0)
        return NULL;
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Where NNI looks: a folder that is told, the interpreter's environment
 * (PREFIX/bin/python3), the user's. */
static char *
find_file(void)
{
    const char *told = getenv("NNI_CONFIG_DIR"), *home = getenv("HOME");
    char *python, *slash, *path = NULL;

    if (told != NULL)
        return find_in(told, "");
    python = pyclass_interpreter(NULL);
    slash = python != NULL ? strrchr(python, '/') : NULL;
    if (slash != NULL) {
        *slash = '\0';
        path = find_in(python, "/../nni");
    }
    free(python);
    if (path == NULL && home != NULL)
        path = find_in(home, "/.config/nni");
    return path;
}

static const char *
text_of(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *node =
        map->kind == YAML_MAP ? yaml_get(map, key) : NULL;

    return node != NULL && node->kind == YAML_SCALAR ? node->text : NULL;
}

/* To be freed; NULL: not in the list. */
static char *
find_class(const struct yaml_node *root, const char *kind, const char *name)
{
    char section[32];
    const struct yaml_node *list;

    snprintf(section, sizeof section, "%ss", kind);
    list = root->kind == YAML_MAP ? yaml_get(root, section) : NULL;
    if (list == NULL || list->kind != YAML_SEQUENCE)
        return NULL;
    for (const struct yaml_node *c = list->children; c != NULL; c = c->next) {
        const char *builtin = text_of(c, "builtinName");
        const char *found = text_of(c, "className");

        if (builtin != NULL && found != NULL && strcasecmp(builtin, name) == 0)
            return strdup(found);
    }
    return NULL;
}

static struct yaml_node *
read_tree(const char *path, const struct log *log)
{
    struct yaml_node *root = NULL;
    struct problems problems;
    struct err err = {0};
    struct buf text;

    buf_init(&text, YAML_TEXT_MAX);
    problems_init(&problems);
    if (file_read(path, YAML_TEXT_MAX, &text, &err) == 0) {
        root = yaml_parse(buf_text(&text), text.len, path, &problems);
        if (root == NULL)
            problems_check(&problems, &err);
    }
    if (root == NULL)
        log_warning(log, "names given by nnictl are not known: %s", err.text);
    problems_fini(&problems);
    buf_fini(&text);
    return root;
}

char *
nni_registered_class(const char *kind, const char *name, const struct log *log)
{
    char *path = find_file(), *found = NULL;
    struct yaml_node *root;

    if (path == NULL)
        return NULL;
    root = read_tree(path, log);
    if (root != NULL)
        found = find_class(root, kind, name);
    yaml_free(root);
    free(path);
    return found;
}
