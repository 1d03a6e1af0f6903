/* SPDX-License-Identifier: MIT */
/* DESIGN.  Values mean the same in both versions, so the tree itself is
 * changed: a node moves to where v2 has it and keeps its line.  What reads the
 * tree knows of one version alone.  Two maps, `trial` and `localConfig`, are
 * left empty by that and go; what stays in one of them is a problem. */
#include "config/v1.h"

#include "config/reader.h"
#include "config/yaml.h"
#include "core/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS "other machines and services are not supported; supported: local"
#define NAMES_MAX 16

const struct v1_rule v1_rules[] = {
    {"authorName", NULL, NULL, V1_DROP},
    {"description", NULL, NULL, V1_DROP},
    {"multiThread", NULL, NULL, V1_DROP},
    {"versionCheck", NULL, NULL, V1_DROP},
    {"logCollection", NULL, NULL, V1_DROP},
    {"multiPhase", NULL, "a trial has one set of parameters", V1_UNSET},
    {"maxExecDuration", "maxExperimentDuration", NULL, V1_MOVE},
    {"maxTrialNum", "maxTrialNumber", NULL, V1_MOVE},
    {"searchSpacePath", "searchSpaceFile", NULL, V1_MOVE},
    {"logDir", "experimentWorkingDirectory", NULL, V1_MOVE},
    {"trainingServicePlatform", "trainingService.platform", NULL, V1_MOVE},
    {"trial.command", "trialCommand", NULL, V1_MOVE},
    {"trial.codeDir", "trialCodeDirectory", NULL, V1_MOVE},
    {"trial.gpuNum", "trialGpuNumber", NULL, V1_MOVE},
    {"localConfig.useActiveGpu", "trainingService.useActiveGpu", NULL, V1_MOVE},
    {"localConfig.maxTrialNumPerGpu", "trainingService.maxTrialNumberPerGpu",
     NULL, V1_MOVE},
    {"localConfig.gpuIndices", "trainingService.gpuIndices", NULL, V1_MOVE},
    {"advisor", "tuner", NULL, V1_MOVE},
    {"tuner.builtinTunerName", "tuner.name", NULL, V1_MOVE},
    {"tuner.builtinAdvisorName", "tuner.name", NULL, V1_MOVE},
    {"tuner.codeDir", "tuner.codeDirectory", NULL, V1_MOVE},
    {"tuner.classFileName", "tuner.className", NULL, V1_CLASS},
    {"tuner.gpuIndices", "tunerGpuIndices", NULL, V1_MOVE},
    {"tuner.includeIntermediateResults", "earlyStopped", NULL, V1_LATEST},
    {"assessor.builtinAssessorName", "assessor.name", NULL, V1_MOVE},
    {"assessor.codeDir", "assessor.codeDirectory", NULL, V1_MOVE},
    {"assessor.classFileName", "assessor.className", NULL, V1_CLASS},
    {"machineList", NULL, OTHERS, V1_REFUSE},
    {"remoteConfig", NULL, OTHERS, V1_REFUSE},
    {"paiConfig", NULL, OTHERS, V1_REFUSE},
    {"kubeflowConfig", NULL, OTHERS, V1_REFUSE},
    {"frameworkcontrollerConfig", NULL, OTHERS, V1_REFUSE},
    {"amlConfig", NULL, OTHERS, V1_REFUSE},
    {"adlConfig", NULL, OTHERS, V1_REFUSE},
    {"dltsConfig", NULL, OTHERS, V1_REFUSE},
    {"dlcConfig", NULL, OTHERS, V1_REFUSE},
    {NULL, NULL, NULL, V1_DROP}};

const char *const v1_maps[] = {"trial", "localConfig", NULL};

static struct yaml_node *
member(struct yaml_node *map, const char *key)
{
    return (struct yaml_node *)yaml_get(map, key);
}

/* The map that holds the last part of `path`, made before `next` when `make`;
 * *key is that part. */
static struct yaml_node *
holder_of(struct yaml_node *root, const char *path, struct yaml_node *next,
          bool make, unsigned line, const char **key)
{
    const char *dot = strchr(path, '.');
    struct yaml_node *map;
    char name[64];

    *key = dot != NULL ? dot + 1 : path;
    if (dot == NULL)
        return root;
    snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
    map = member(root, name);
    if (map == NULL && make && (map = yaml_new_map(line)) != NULL &&
        yaml_put(root, next, name, map) != 0)
        map = NULL;
    return map;
}

static void
note_read_as(struct reader *r, const struct v1_rule *rule, unsigned line)
{
    reader_note(r, line, rule->from, "read as %s (%s)", rule->to,
                strcmp(rule->from, "advisor") == 0 ? "deprecated in NNI"
                                                   : "NNI v1");
}

/* Puts a node where v2 has it; takes `node`. */
static void
move_to(struct reader *r, const struct v1_rule *rule, struct yaml_node *root,
        struct yaml_node *next, struct yaml_node *node)
{
    unsigned line = node->key_line;
    const struct yaml_node *twin;
    struct yaml_node *map;
    const char *key;

    map = holder_of(root, rule->to, next, true, line, &key);
    twin = map != NULL ? yaml_get(map, key) : NULL;
    if (twin != NULL) {
        reader_problem(r, line, rule->from,
                       "means %s, which stands in line %u: give one of them",
                       rule->to, twin->key_line);
        yaml_node_free(node);
        return;
    }
    if (map != NULL && map != root)
        next = NULL;
    if (map == NULL || map->kind != YAML_MAP) {
        reader_problem(r, line, rule->from, "cannot be read as %s%s", rule->to,
                       map == NULL ? ": out of memory" : ", which is no map");
        yaml_node_free(node);
    } else if (yaml_put(map, next, key, node) != 0) {
        reader_problem(r, line, rule->from, "out of memory");
    } else {
        note_read_as(r, rule, line);
    }
}

static void
set_node_text(struct reader *r, struct yaml_node *node, char *text)
{
    if (text == NULL) {
        reader_problem(r, node->line, node->key, "out of memory");
        return;
    }
    free(node->text);
    node->text = text;
    node->len = strlen(text);
    node->plain = false;
}

/* Joins FILE.py and the className beside it. */
static void
join_class(struct reader *r, const struct v1_rule *rule,
           struct yaml_node *algorithm, struct yaml_node *file)
{
    struct yaml_node *class_name = member(algorithm, "className");
    char *joined = NULL;

    if (file->kind != YAML_SCALAR || file->len < 4 ||
        strcmp(file->text + file->len - 3, ".py") != 0) {
        reader_expected(r, file, rule->from, "a file FILE.py");
    } else if (class_name == NULL || class_name->kind != YAML_SCALAR) {
        reader_problem(r, file->key_line, rule->from,
                       "needs a text className beside it");
    } else {
        if (asprintf(&joined, "%.*s.%s", (int)file->len - 3, file->text,
                     class_name->text) < 0)
            joined = NULL;
        set_node_text(r, class_name, joined);
        note_read_as(r, rule, file->key_line);
    }
}

/* Whether the value asks for something that tunepipe does not do. */
static bool
is_refused(const struct v1_rule *rule, const struct yaml_node *node)
{
    bool set = true;

    if (rule->how == V1_UNSET)
        return !yaml_bool(node, &set) || set;
    return rule->how == V1_REFUSE;
}

static void
set_stopped_word(struct reader *r, const struct v1_rule *rule,
                 struct yaml_node *node)
{
    bool set = false;

    if (yaml_bool(node, &set))
        set_node_text(r, node, strdup(set ? "latest" : "ignore"));
    else
        reader_expected(r, node, rule->from, "true or false");
}

static void
convert(struct reader *r, const struct v1_rule *rule, struct yaml_node *root,
        struct yaml_node *holder, struct yaml_node *node)
{
    /* what comes out of a map within the root goes before that map */
    struct yaml_node *next = holder == root ? node->next : holder;

    yaml_take(holder, node);
    if (rule->how == V1_LATEST)
        set_stopped_word(r, rule, node);
    if (rule->how == V1_MOVE || rule->how == V1_LATEST) {
        move_to(r, rule, root, next, node);
        return;
    }
    if (rule->how == V1_CLASS)
        join_class(r, rule, holder, node);
    else if (is_refused(rule, node))
        reader_problem(r, node->key_line, rule->from, "%s", rule->note);
    else
        reader_note(r, node->key_line, rule->from,
                    "left out (NNI v1: nothing depends on it here)");
    yaml_node_free(node);
}

/* Tells of members that v1 does not have either, and removes the map. */
static void
empty_holder(struct reader *r, struct yaml_node *root, const char *name)
{
    struct yaml_node *map = member(root, name);
    const char *names[NAMES_MAX];
    char path[KEY_PATH_MAX], hint[128];
    size_t n = 0, len = strlen(name);

    if (map == NULL)
        return;
    for (const struct v1_rule *k = v1_rules; k->from != NULL; k++)
        if (strncmp(k->from, name, len) == 0 && k->from[len] == '.' &&
            n < NAMES_MAX)
            names[n++] = k->from + len + 1;
    if (map->kind != YAML_MAP && yaml_type(map) != YAML_TYPE_NULL)
        reader_expected(r, map, name, "a map (NNI v1)");
    for (struct yaml_node *c = map->children; c != NULL; c = c->next) {
        if (map->kind != YAML_MAP)
            break;
        snprintf(path, sizeof path, "%s.%s", name, c->key);
        nearest_hint(c->key, names, n, hint, sizeof hint);
        reader_problem(r, c->key_line, path,
                       "is no key of NNI v1 for the platform local%s", hint);
    }
    yaml_node_free(yaml_take(root, map));
}

void
v1_convert(struct reader *r, struct yaml_node *root)
{
    if (root->kind != YAML_MAP)
        return;
    for (const struct v1_rule *rule = v1_rules; rule->from != NULL; rule++) {
        const char *key;
        struct yaml_node *holder =
            holder_of(root, rule->from, NULL, false, 0, &key);
        struct yaml_node *node = holder != NULL ? member(holder, key) : NULL;

        if (node != NULL && yaml_type(node) == YAML_TYPE_NULL)
            yaml_node_free(yaml_take(holder, node)); /* counts as absent */
        else if (node != NULL)
            convert(r, rule, root, holder, node);
    }
    for (size_t i = 0; v1_maps[i] != NULL; i++)
        empty_holder(r, root, v1_maps[i]);
}
