/* SPDX-License-Identifier: MIT */
#include "config/keys.h"

#include "config/draft.h"
#include "config/hookkey.h"
#include "config/keys_algorithm.h"
#include "config/keys_failure.h"
#include "config/label_keys.h"
#include "config/reader.h"
#include "config/wish_keys.h"
#include "config/yaml.h"
#include "core/err.h"
#include "core/number.h"

#include <math.h>
#include <regex.h>
#include <string.h>

#define HOURS_MAX 1e6

#define AS_WORD(name) {#name, PLATFORM_##name},
#define AS_TEXT(name) ", " #name
static const struct word platform_words[] = {PLATFORM_LIST(AS_WORD){NULL, 0}};
static const char all_platforms[] = PLATFORM_LIST(AS_TEXT);

static void
set_service(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    const struct yaml_node *platform = yaml_get(node, "platform");
    const struct word *word = platform_words;
    struct draft *d = target;

    if (platform != NULL && platform->kind == YAML_SCALAR)
        while (word->word != NULL && strcmp(word->word, platform->text) != 0)
            word++;
    if (node->kind == YAML_SEQUENCE)
        reader_problem(r, node->line, path,
                       "expected one map, got a list: several services at "
                       "once are not supported; supported: %s",
                       all_platforms + strlen(", "));
    else if (word->word == NULL)
        reader_problem(r, platform->line, "trainingService.platform",
                       "'%.100s' is not supported; supported: %s",
                       platform->text, all_platforms + strlen(", "));
    else
        read_map(r, key->keys, node, path, target);
    if (word->word != NULL)
        d->x.platform = (enum platform)word->value;
}

static void
set_seed(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    struct draft *d = target;

    (void)key;
    d->x.has_seed =
        yaml_uint(node, &d->x.seed) && d->x.seed <= (uint64_t)INT64_MAX;
    if (!d->x.has_seed)
        reader_problem(r, node->line, path,
                       "expected an integer from 0 to 2^63-1");
}

static void
set_sync(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    struct err err;

    (void)key;
    if (node->kind != YAML_SCALAR)
        reader_problem(r, node->line, path, "expected a text, got %s",
                       yaml_type_name(node));
    else if (sync_policy_parse(node->text, target, &err) != 0)
        reader_problem(r, node->line, path, "%s", err.text);
}

static void
set_size(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    (void)key;
    if (node->kind != YAML_SCALAR || !number_parse_size(node->text, target))
        reader_expected(r, node, path,
                        "a number of bytes such as 65536, 64k or 8M");
}

/* A manager that goes on reads the whole log: it knows what became of each
 * trial by nothing else. */
static void
set_old_segments(struct reader *r, const struct key *key,
                 const struct yaml_node *node, const char *path, void *target)
{
    enum old_segments *old = target;
    struct err err;

    (void)key;
    if (node->kind != YAML_SCALAR)
        reader_problem(r, node->line, path, "expected a text, got %s",
                       yaml_type_name(node));
    else if (old_segments_parse(node->text, old, &err) != 0)
        reader_problem(r, node->line, path, "%s", err.text);
}

static void
set_space(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    struct draft *d = target;

    d->space_line = node->key_line;
    set_json_map(r, key, node, path, &d->x.search_space);
}

static void
set_space_file(struct reader *r, const struct key *key,
               const struct yaml_node *node, const char *path, void *target)
{
    struct draft *d = target;

    d->space_file_line = node->key_line;
    set_path(r, key, node, path, &d->space_file);
}

static void
set_annotation(struct reader *r, const struct key *key,
               const struct yaml_node *node, const char *path, void *target)
{
    bool wanted = false;

    (void)target;
    set_bool(r, key, node, path, &wanted);
    if (wanted)
        reader_problem(r, node->line, path,
                       "annotations are not supported; write searchSpace");
}

static void
set_pattern(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    regex_t re;

    if (node->kind != YAML_SCALAR) {
        reader_problem(r, node->line, path, "expected a text, got %s",
                       yaml_type_name(node));
        return;
    }
    if (!reader_regex(r, node, path, 0, &re))
        return;
    if (re.re_nsub == 0)
        reader_problem(r, node->line, path,
                       "'%.100s' has no group: put ( ) around the number",
                       node->text);
    regfree(&re);
    set_text(r, key, node, path, target);
}

static void
set_stop_value(struct reader *r, const struct key *key,
               const struct yaml_node *node, const char *path, void *target)
{
    struct draft *d = target;

    (void)key;
    d->x.has_stop_value =
        node->kind == YAML_SCALAR &&
        number_parse(node->text, strlen(node->text), &d->x.stop_value) &&
        isfinite(d->x.stop_value);
    if (!d->x.has_stop_value)
        reader_expected(r, node, path, "a number");
}

static void
set_hours(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    double hours;

    (void)key;
    if (node->kind == YAML_SCALAR &&
        number_parse(node->text, strlen(node->text), &hours) && hours > 0 &&
        hours <= HOURS_MAX)
        *(double *)target = hours;
    else
        reader_expected(r, node, path, "a number of hours above 0");
}

static const struct word early_stopped_words[] = {{"ignore", STOPPED_IGNORE},
                                                  {"latest", STOPPED_LATEST},
                                                  {"best", STOPPED_BEST},
                                                  {NULL, 0}};
static const struct word final_words[] = {
    {"last", FINAL_LAST}, {"none", FINAL_NONE}, {NULL, 0}};
static const struct word keep_words[] = {{"last", CHECKPOINTS_LAST},
                                         {"best", CHECKPOINTS_BEST},
                                         {"all", CHECKPOINTS_ALL},
                                         {"none", CHECKPOINTS_NONE},
                                         {NULL, 0}};
static const struct word direction_words[] = {
    {"minimize", 0}, {"maximize", 0}, {NULL, 0}}; /* read by find_mode() */
static const struct word type_words[] = {{"hpo", 0}, {NULL, 0}};
static const struct word level_words[] = {{"fatal", LOG_WISH_LESS},
                                          {"error", LOG_WISH_LESS},
                                          {"warning", LOG_WISH_LESS},
                                          {"info", LOG_WISH_INFO},
                                          {"debug", LOG_WISH_DEBUG},
                                          {"trace", LOG_WISH_DEBUG},
                                          {NULL, 0}};

#define OF(member) offsetof(struct draft, member)
#define IDLE(name, set)                          \
    {                                            \
        name, set, 0, KEY_IDLE, NULL, NULL, NULL \
    }
#define REFUSED(name, hint)                          \
    {                                                \
        name, NULL, 0, KEY_REFUSED, hint, NULL, NULL \
    }
#define HELD(name, set, member, flags)                 \
    {                                                  \
        name, set, OF(member), flags, NULL, NULL, NULL \
    }

/* The same beside trainingService and in it. */
#define DEVICE_KEYS                                                           \
    HELD("trialGpuNumber", wish_devices, x.wishes, 0),                        \
        HELD("useActiveGpu", set_bool, x.wishes.use_active, 0),               \
        HELD("gpuIndices", wish_indices, x.wishes, 0),                        \
        HELD("maxTrialNumberPerGpu", set_count, x.wishes.trials_a_device, 0), \
        HELD("machineLabels", label_machine, x.wishes.labels, 0),             \
        HELD("deviceLabels", label_devices, x.wishes.labels, 0)

static const struct key service_keys[] = {
    {"platform", NULL, 0, KEY_REQUIRED, NULL, NULL, NULL},
    HELD("trialCommand", set_text, x.trial_command, 0),
    HELD("trialCodeDirectory", set_path, x.trial_folder, 0),
    HELD("debug", set_bool, x.debug, 0),
    IDLE("nniManagerIp", NULL),
    DEVICE_KEYS,
    IDLE("reuseMode", NULL),
    REFUSED("machineList", "other machines are not supported"),
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

static const struct key metrics_keys[] = {
    HELD("pattern", set_pattern, x.metrics_pattern, 0),
    {"final", set_word, OF(final), 0, NULL, final_words, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

static const struct key checkpoints_keys[] = {
    {"keep", set_word, OF(x.checkpoints.keep), 0, NULL, keep_words, NULL},
    HELD("max", set_count, x.checkpoints.max, 0),
    HELD("quota", set_size, x.checkpoints.quota, 0),
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

const struct key config_keys[] = {
    HELD("experimentName", set_text, x.name, 0),
    {"experimentType", set_word, OF(ignored), 0, NULL, type_words, NULL},
    {"searchSpace", set_space, 0, 0, NULL, NULL, NULL},
    {"searchSpaceFile", set_space_file, 0, 0, NULL, NULL, NULL},
    HELD("trialCommand", set_text, x.trial_command, 0),
    HELD("trialCodeDirectory", set_path, x.trial_folder, 0),
    HELD("trialConcurrency", set_count, x.concurrency, KEY_REQUIRED),
    HELD("maxTrialNumber", set_count, x.max_trials, 0),
    HELD("maxExperimentDuration", set_duration, x.max_experiment_ms, 0),
    HELD("maxTrialDuration", set_duration, x.max_trial_ms, 0),
    HELD("experimentWorkingDirectory", set_path, x.working_folder, 0),
    {"tuner", set_algorithm, OF(x.tuner), KEY_DISPATCH, NULL, NULL,
     algorithm_keys},
    {"assessor", set_algorithm, OF(x.assessor), KEY_DISPATCH, NULL, NULL,
     algorithm_keys},
    {"trainingService", set_service, 0, 0, NULL, NULL, service_keys},
    HELD("debug", set_bool, x.debug, 0),
    {"logLevel", set_word, OF(log), 0, NULL, level_words, NULL},
    {"useAnnotation", set_annotation, 0, 0, NULL, NULL, NULL},
    DEVICE_KEYS,
    IDLE("nniManagerIp", NULL),
    IDLE("tunerGpuIndices", NULL),
    /* Ours. */
    {"direction", set_word, OF(ignored), KEY_DISPATCH, NULL, direction_words,
     NULL},
    {"filters", set_filters, 0, KEY_DISPATCH, NULL, NULL, filter_keys},
    {"constraints", set_constraints, 0, KEY_DISPATCH, NULL, NULL, NULL},
    {"seed", set_seed, 0, KEY_DISPATCH, NULL, NULL, NULL},
    {"earlyStopped", set_word, OF(x.early_stopped), KEY_DISPATCH, NULL,
     early_stopped_words, NULL},
    {"sync", set_sync, OF(x.sync), KEY_DISPATCH, NULL, NULL, NULL},
    {"segmentSize", set_size, OF(x.segments.size), KEY_DISPATCH, NULL, NULL,
     NULL},
    {"oldSegments", set_old_segments, OF(x.segments.old), KEY_DISPATCH, NULL,
     NULL, NULL},
    {"metrics", set_map, 0, 0, NULL, NULL, metrics_keys},
    {"checkpoints", set_map, 0, 0, NULL, NULL, checkpoints_keys},
    HELD("prepareCommand", set_text, x.prepare_command, 0),
    HELD("maxPrepareDuration", set_duration, x.max_prepare_ms, 0),
    HELD("prepareConcurrency", set_count, x.prepare_concurrency, 0),
    HELD("grace", set_duration, x.grace_ms, 0),
    HELD("placeTimeout", set_duration, x.place_ms, 0),
    {"stopValue", set_stop_value, 0, 0, NULL, NULL, NULL},
    HELD("maxTrialsWithoutImprovement", set_count, x.max_without, 0),
    HELD("maxTrialHours", set_hours, x.max_trial_hours, 0),
    HELD("deterministic", set_bool, x.deterministic, 0),
    HELD("import", set_path, x.import, 0),
    HELD("trialIdleTimeout", set_duration, x.max_idle_ms, 0),
    {"onFailure", set_failure, OF(x.on_failure), 0, NULL, NULL, failure_keys},
    {"onRepeatedFailure", set_word, OF(x.on_repeated), 0, NULL, repeated_words,
     NULL},
    {"on", set_hooks, 0, 0, NULL, NULL, NULL},
    HELD("hookConcurrency", set_hook_concurrency, x.hook_concurrency, 0),
    HELD("hookTimeout", set_duration, x.hook_timeout_ms, 0),
    HELD("index", set_bool, x.index, 0),
    HELD("trialMemory", wish_memory, x.wishes, 0),
    HELD("trialGpuMemory", wish_device_memory, x.wishes, 0),
    HELD("trialLabels", label_globs, x.wishes.labels, 0),
    HELD("memoryHeadroom", wish_headroom, x.wishes, 0),
    HELD("memoryFloor", wish_floor, x.wishes, 0),
    {"memoryLimit", set_word, OF(x.wishes.limit), 0, NULL, wish_limit_words,
     NULL},
    HELD("outOfMemoryRetry", wish_retries, x.wishes, 0),
    HELD("outOfMemoryPatterns", wish_patterns, x.wishes, 0),
    /* Known, and never right (see v1.c for those of NNI v1). */
    REFUSED("sharedStorage", "not supported: trials run on this machine alone"),
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};
