/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "schema_check.h"

#include "config/docs.h"
#include "config/keys.h"
#include "config/schema.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/problems.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

static struct json *
read_schema(void)
{
    struct err err = {0};
    struct json *doc;
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    schema_write(&out);
    doc = json_parse(buf_text(&out), out.len, JSON_STRICT | JSON_UNIQUE, &err);
    CHECK_STR(err.text, "");
    buf_fini(&out);
    return doc;
}

static bool
yaml_conforms(const struct json *schema, const char *text)
{
    const struct checker c = {json_root(schema)};
    struct problems problems;
    struct yaml_node *root;
    struct json *doc;
    struct buf json;
    bool fits;

    problems_init(&problems);
    buf_init(&json, SIZE_MAX / 2);
    root = yaml_parse(text, strlen(text), "e.yml", &problems);
    CHECK(root != NULL);
    CHECK_EQ(yaml_write_json(root, "e.yml", "", &json, &problems), 0);
    doc = json_parse(buf_text(&json), json.len, JSON_STRICT, NULL);
    CHECK(doc != NULL);
    fits = conforms(&c, c.root, json_root(doc));
    json_free(doc);
    yaml_node_free(root);
    buf_fini(&json);
    problems_fini(&problems);
    return fits;
}

static size_t
count_undescribed(struct jval schema, const struct key *keys, const char *path)
{
    struct jval properties, property, text;
    size_t missing = 0;
    char below[512];

    CHECK(jval_get(schema, "properties", &properties));
    for (const struct key *k = keys; k->name != NULL; k++) {
        snprintf(below, sizeof below, "%s%s%s", path,
                 path[0] != '\0' ? "." : "", k->name);
        if (!jval_get(properties, k->name, &property) ||
            !jval_get(property, "description", &text)) {
            printf("# src/config/docs.c: add a line for %s\n", below);
            missing++;
            continue;
        }
        jval_get(property, "items", &property);
        if (k->keys != NULL)
            missing += count_undescribed(property, k->keys, below);
    }
    return missing;
}

TEST(schema_describes_every_key)
{
    struct json *schema = read_schema();

    CHECK_EQ(count_undescribed(json_root(schema), config_keys, ""), 0);
    json_free(schema);
}

static const char *const right[] = {
    "maxTrialNumber: 3",
    "maxTrialNumber:",
    "maxTrialDuration: 90",
    "maxTrialDuration: 1.5h",
    "trialGpuNumber: null",
    "seed: 9223372036854775807",
    "direction: minimize",
    "segmentSize: 64k",
    "sync: interval:250",
    "debug: yes",
    "useAnnotation: false",
    "filters: [timing, {name: dedup, args: {repeat: 1}}]",
    "constraints: [x < y]",
    "metrics: {pattern: 'a=([0-9]+)', final: none}",
    "tuner: {name: TPE, classArgs: {optimize_mode: minimize}}",
    "tuner: {builtinTunerName: TPE}",
    "advisor: {builtinAdvisorName: BOHB}",
    "assessor: {className: a.B, codeDirectory: .}",
    "assessor:",
    "trainingService: {platform: local, gpuIndices: '0,1'}",
    "trialLabels: ['*A100*', big]\nmachineLabels: big",
    "trainingService: {platform: local, deviceLabels: {'0': [a, 40]}}",
    "trainingServicePlatform: local",
    "authorName: x\nlogDir: y\nmultiPhase: false",
    "localConfig: {useActiveGpu: true}",
};

static const char *const wrong[] = {
    "maxTrialNumber: 0",
    "maxTrialNumber: '3'",
    "maxTrialNumbr: 3",
    "maxTrialNum: 0",
    "maxTrialDuration: 5w",
    "maxExperimentDuration: 0",
    "seed: -1",
    "direction: minimise",
    "segmentSize: 8X",
    "sync: allways",
    "oldSegments: kept",
    "debug: maybe",
    "useAnnotation: true",
    "logLevel: debgu",
    "filters: dedup",
    "filters: [{args: {}}]",
    "filters: [{name: a, arg: {}}]",
    "constraints: x < y",
    "metrics: {final: best}",
    "tuner: {}",
    "tuner: {nmae: x}",
    "assessor: Medianstop",
    "trainingService: {platform: remote}",
    "trainingService: {reuseMode: false}",
    "trainingServicePlatform: pai",
    "sharedStorage: {storageType: NFS}",
    "machineList: []",
    "multiPhase: true",
    "searchSpaceFile: [a]",
};

/* What else an experiment needs. */
static const char *
direction_for(const char *text)
{
    return strstr(text, "direction") != NULL ||
                   strstr(text, "optimize_mode") != NULL
               ? ""
               : "direction: maximize\n";
}

TEST(schema_tells_right_from_wrong)
{
    static const char rest[] = "searchSpace: {x: {_type: uniform, _value: [0, "
                               "1]}}\ntrialCommand: x\ntrialConcurrency: 1\n";
    struct json *schema = read_schema();
    char text[1024];

    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        snprintf(text, sizeof text, "%s\n%s%s", right[i], rest,
                 direction_for(right[i]));
        if (!yaml_conforms(schema, text))
            printf("# '%s' does not conform\n", right[i]);
        CHECK(yaml_conforms(schema, text));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, "%s\n%s%s", wrong[i], rest,
                 direction_for(wrong[i]));
        if (yaml_conforms(schema, text))
            printf("# '%s' conforms\n", wrong[i]);
        CHECK(!yaml_conforms(schema, text));
    }
    json_free(schema);
}

TEST(schema_knows_what_is_required)
{
    static const char *const bad[] = {
        "searchSpace: {}\ntrialConcurrency: 1\ndirection: minimize\n",
        "trialCommand: x\ntrialConcurrency: 1\ndirection: minimize\n",
        "searchSpace: {x: {_type: unifrm, _value: []}}\ntrialCommand: x\n"
        "trialConcurrency: 1\ndirection: minimize\n",
        "searchSpace: {}\ntrialCommand: x\ntrialConcurrency: 1\n"
        "tuner: {name: tpe, classArgs: {seed: 1}}\n"};
    static const char *const good[] = {
        "searchSpace: {}\n"
        "trialCommand: x\ndirection: minimize\n",
        "searchSpacePath: s\ntrial: {command: x, codeDir: ., gpuNum: 0}\n"
        "trialConcurrency: 1\nadvisor: {builtinAdvisorName: BOHB, classArgs: "
        "{optimize_mode: minimize}}\n",
        "searchSpaceFile: s\ntrialConcurrency: 1\ndirection: minimize\n"
        "trainingService: {platform: local, trialCommand: x}\n"};
    struct json *schema = read_schema();

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!yaml_conforms(schema, bad[i]));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(yaml_conforms(schema, good[i]));
    json_free(schema);
}

/* What stands between two lines of a file. */
static void
check_example(const struct json *schema, const char *file, const char *from,
              const char *to)
{
    struct err err = {0};
    const char *begin;
    struct buf text;
    char *end;

    buf_init(&text, SIZE_MAX / 2);
    CHECK_EQ(file_read(t_source(file), YAML_TEXT_MAX, &text, &err), 0);
    begin = from != NULL ? strstr(buf_text(&text), from) : buf_text(&text);
    CHECK(begin != NULL);
    begin += from != NULL ? strlen(from) : 0;
    end = to != NULL ? strstr(begin, to) : NULL;
    CHECK(to == NULL || end != NULL);
    if (end != NULL)
        *end = '\0';
    CHECK(strstr(begin, "trialConcurrency") != NULL);
    CHECK(yaml_conforms(schema, begin));
    buf_fini(&text);
}

TEST(schema_takes_the_examples)
{
    struct json *schema = read_schema();

    check_example(schema, "README.md", "```yaml\n", "```\n");
    check_example(schema, "scripts/demo/experiment.yml", NULL, NULL);
    check_example(schema, "src/config/man/tunepipe-experiment.5",
                  ".Sh EXAMPLES\n.Bd -literal\n", ".Ed\n");
    check_example(schema, "src/cli/man/tunepipe-run.1",
                  ".Sh EXAMPLES\n.Bd -literal -offset indent\n", ".Ed\n");
    json_free(schema);
}
