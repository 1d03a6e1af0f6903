/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "config/experiment.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOOD_END "tuner: {name: Random}\n"

static struct problems problems, notes;
static struct err err;

/* Writes e.yml, reads it. */
static struct experiment *
read_text(const char *text, enum experiment_use use)
{
    CHECK_EQ(file_write("e.yml", text, strlen(text), NULL), 0);
    problems_init(&problems);
    problems_init(&notes);
    err_clear(&err);
    return experiment_read("e.yml", use, &problems, &notes, &err);
}

static void
done(struct experiment *x)
{
    experiment_free(x);
    problems_fini(&problems);
    problems_fini(&notes);
}

TEST(config_reads_a_whole_experiment)
{
    static const char text[] =
        "experimentName: my test\n"
        "searchSpace:\n"
        "  lr: {_type: loguniform, _value: [1e-3, 1]}\n"
        "  on: {_type: choice, _value: [no, 'x', 0x10]}\n"
        "trialCommand: ./train.sh\n"
        "trialCodeDirectory: .\n"
        "trialConcurrency: 2\n"
        "maxTrialNumber: 40\n"
        "maxExperimentDuration: 1.5h\n"
        "maxTrialDuration: 90\n"
        "experimentWorkingDirectory: runs\n"
        "tuner:\n"
        "  name: TPE\n"
        "  classArgs: {optimize_mode: minimize}\n"
        "assessor:\n"
        "  name: Medianstop\n"
        "  classArgs: {start_step: 5}\n"
        "trainingService: {platform: local}\n"
        "seed: 9223372036854775807\n"
        "earlyStopped: best\n"
        "sync: interval:250\n"
        "segmentSize: 64k\n"
        "oldSegments: compress\n"
        "grace: 2s\n"
        "metrics:\n"
        "  pattern: 'acc=([0-9.]+)'\n";
    struct experiment *x = read_text(text, EXPERIMENT_RUN);
    char *here = realpath(".", NULL), *runs;

    CHECK_STR(err.text, "");
    CHECK(x != NULL);
    CHECK_STR(x->name, "my test");
    CHECK_STR(x->search_space,
              "{\"lr\": {\"_type\": \"loguniform\", \"_value\": [0.001, 1]}, "
              "\"on\": {\"_type\": \"choice\", \"_value\": "
              "[\"no\", \"x\", 16]}}");
    CHECK_STR(x->trial_command, "./train.sh");
    CHECK_STR(x->trial_folder, here);
    CHECK_EQ(x->concurrency, 2);
    CHECK_EQ(x->max_trials, 40);
    CHECK_EQ(x->segments.size, 65536);
    CHECK_EQ(x->segments.old, OLD_COMPRESS);
    CHECK_EQ(x->max_experiment_ms, 5400000);
    CHECK_EQ(x->max_trial_ms, 90000);
    runs = file_join(here, "runs");
    CHECK_STR(x->working_folder, runs);
    CHECK_STR(x->tuner.name, "TPE");
    CHECK_STR(x->tuner.args, "{\"optimize_mode\": \"minimize\"}");
    CHECK_STR(x->assessor.args, "{\"start_step\": 5}");
    CHECK(x->minimize);
    CHECK_STR(x->mode_from, "the tuner");
    CHECK(x->has_seed && x->seed == INT64_MAX);
    CHECK_EQ(x->early_stopped, STOPPED_BEST);
    CHECK_EQ(x->sync.when, SYNC_INTERVAL);
    CHECK_EQ(x->sync.interval_ms, 250);
    CHECK_EQ(x->grace_ms, 2000);
    CHECK_STR(x->metrics_pattern, "acc=([0-9.]+)");
    CHECK(x->last_is_final);
    CHECK_EQ(notes.count, 0);
    free(here);
    free(runs);
    done(x);
}

TEST(config_has_defaults)
{
    struct experiment *x = read_text("searchSpace: {}\n"
                                     "trialCommand: x\n"
                                     "trialConcurrency: 1\n" GOOD_END,
                                     EXPERIMENT_RUN);

    CHECK_STR(err.text, "");
    CHECK_STR(x->name, "e");
    CHECK_STR(x->search_space, "{}");
    CHECK_STR(x->trial_folder, x->folder);
    CHECK_HAS(x->working_folder, "/tunepipe-experiments");
    CHECK_EQ(x->max_trials, 0);
    CHECK_EQ(x->assessor.line, 0);
    CHECK(x->assessor.args == NULL);
    CHECK_STR(x->tuner.args, "{}");
    CHECK(!x->minimize);
    CHECK_STR(x->mode_from, "the default");
    CHECK(!x->has_seed);
    CHECK_EQ(x->early_stopped, STOPPED_LATEST);
    CHECK_EQ(x->sync.when, SYNC_INTERVAL);
    CHECK_EQ(x->sync.interval_ms, 1000);
    CHECK(!x->last_is_final);
    CHECK_EQ(x->on_failure.retry, 0);
    CHECK_EQ(x->on_failure.backoff_ms, 1000);
    CHECK_EQ(x->on_failure.then, FAILURE_SKIP);
    CHECK_EQ(x->on_repeated, REPEATED_PAUSE);
    CHECK_EQ(x->max_idle_ms, 0);
    done(x);
}

TEST(config_reads_what_becomes_of_failures)
{
    struct experiment *x =
        read_text("searchSpace: {}\n"
                  "trialCommand: x\n"
                  "trialConcurrency: 1\n"
                  "trialIdleTimeout: 1.5m\n"
                  "onFailure: {retry: 3, backoff: 10s, then: report, "
                  "value: -2.5e3}\n"
                  "onRepeatedFailure: end\n" GOOD_END,
                  EXPERIMENT_RUN);

    CHECK_STR(err.text, "");
    CHECK_EQ(x->max_idle_ms, 90000);
    CHECK_EQ(x->on_failure.retry, 3);
    CHECK_EQ(x->on_failure.backoff_ms, 10000);
    CHECK_EQ(x->on_failure.then, FAILURE_REPORT);
    CHECK(x->on_failure.value == -2500);
    CHECK_EQ(x->on_repeated, REPEATED_END);
    done(x);
}

TEST(config_for_dispatch_needs_nothing)
{
    struct experiment *x = read_text("searchSpaceFile: absent.json\n"
                                     "seed: 7\n"
                                     "tuner: {plugin: lib/a.so}\n",
                                     EXPERIMENT_DISPATCH);

    CHECK_STR(err.text, "");
    CHECK(x->tuner.name == NULL);
    CHECK_HAS(x->tuner.plugin, "/lib/a.so");
    CHECK_EQ(x->tuner.plugin[0], '/');
    CHECK_EQ(x->seed, 7);
    done(x);
    x = read_text("seed: 7\n", EXPERIMENT_DISPATCH);
    CHECK_STR(err.text, "");
    CHECK_STR(x->tuner.name, "auto");
    done(x);
}

TEST(config_without_a_tuner_has_auto_with_the_mode_of_the_assessor)
{
    struct experiment *x =
        read_text("assessor: {name: Medianstop, classArgs: {optimize_mode: "
                  "minimize}}\ntuner:\n",
                  EXPERIMENT_DISPATCH);

    CHECK_STR(err.text, "");
    CHECK_STR(x->tuner.name, "auto");
    CHECK_STR(x->tuner.args, "{\"optimize_mode\": \"minimize\"}");
    CHECK(x->minimize);
    done(x);
    x = read_text("seed: 1\n", EXPERIMENT_DISPATCH);
    CHECK_STR(x->tuner.args, "{\"optimize_mode\": \"maximize\"}");
    CHECK(!x->minimize);
    done(x);
}

TEST(config_puts_constraints_around_all_filters)
{
    struct experiment *x =
        read_text("filters: [timing]\n"
                  "constraints: [x < y, 'opt != \"a\"']\n" GOOD_END,
                  EXPERIMENT_DISPATCH);

    CHECK_STR(err.text, "");
    CHECK_EQ(x->n_filters, 2);
    CHECK_STR(x->filters[0].name, "constraints");
    CHECK_STR(x->filters[0].args,
              "{\"constraints\": \"x < y; opt != \\\"a\\\"\"}");
    CHECK_STR(x->filters[1].name, "timing");
    done(x);
    x = read_text("constraints: []\n" GOOD_END, EXPERIMENT_DISPATCH);
    CHECK_EQ(x->n_filters, 0);
    done(x);
    x = read_text("filters: [a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a]\n"
                  "constraints: [x < y]\n" GOOD_END,
                  EXPERIMENT_DISPATCH);
    CHECK(x == NULL);
    CHECK(strstr(err.text, "constraints: is one more filter than 16") != NULL);
}

TEST(config_reads_filters_in_order)
{
    struct experiment *x = read_text("filters:\n"
                                     "  - timing\n"
                                     "  - name: dedup\n"
                                     "    args: {repeat: 1}\n" GOOD_END,
                                     EXPERIMENT_DISPATCH);

    CHECK_STR(err.text, "");
    CHECK_EQ(x->n_filters, 2);
    CHECK_STR(x->filters[0].name, "timing");
    CHECK_STR(x->filters[0].args, "{}");
    CHECK_STR(x->filters[1].name, "dedup");
    CHECK_STR(x->filters[1].args, "{\"repeat\": 1}");
    done(x);
    x = read_text("filters: []\n" GOOD_END, EXPERIMENT_DISPATCH);
    CHECK_EQ(x->n_filters, 0);
    done(x);
}

TEST(config_notes_what_has_no_effect)
{
    struct experiment *x =
        read_text("searchSpace: {}\n"
                  "trialCommand: x\n"
                  "trialConcurrency: 1\n"
                  "nniManagerIp: 10.0.0.1\n"
                  "tunerGpuIndices: null\n"
                  "trainingService: {platform: local, reuseMode: "
                  "true}\n" GOOD_END,
                  EXPERIMENT_RUN);

    CHECK(x != NULL);
    CHECK_STR(buf_text(&notes.lines),
              "e.yml:4: nniManagerIp: has no effect yet\n"
              "e.yml:6: trainingService.reuseMode: has no effect yet\n");
    done(x);
}

TEST(config_reads_what_a_trial_needs)
{
    struct experiment *x = read_text("searchSpace: {}\n"
                                     "trialCommand: x\n"
                                     "trialConcurrency: 1\n"
                                     "trialGpuNumber: 2\n"
                                     "trialMemory: 1.5g\n"
                                     "trialGpuMemory: 512 MiB\n"
                                     "memoryHeadroom: 5%\n"
                                     "memoryFloor: 0\n"
                                     "memoryLimit: rlimit\n"
                                     "outOfMemoryRetry: 0\n"
                                     "outOfMemoryPatterns: [a+, 'no room']\n"
                                     "trainingService: {platform: local, "
                                     "gpuIndices: '0, 3', useActiveGpu: true, "
                                     "maxTrialNumberPerGpu: 2}\n" GOOD_END,
                                     EXPERIMENT_RUN);
    const struct wishes *w = &x->wishes;

    CHECK_STR(buf_text(&notes.lines), "");
    CHECK(w->devices_managed && w->use_active && !w->memory_auto);
    CHECK_EQ(w->devices, 2);
    CHECK_EQ(w->indices, 9);
    CHECK_EQ(w->trials_a_device, 2);
    CHECK_EQ(w->memory, (uint64_t)3 << 29);
    CHECK_EQ(w->device_memory, (uint64_t)1 << 29);
    CHECK_EQ(w->headroom_percent, 5);
    CHECK_EQ(w->floor, 0);
    CHECK_EQ(w->limit, LIMIT_RLIMIT);
    CHECK_EQ(w->retries, 0);
    CHECK_EQ(w->n_patterns, 2);
    CHECK_STR(w->patterns[1], "no room");
    done(x);
}

static const char v1_text[] = "authorName: a\n"
                              "experimentName: b\n"
                              "trialConcurrency: 2\n"
                              "maxExecDuration: 1h\n"
                              "maxTrialNum: 7\n"
                              "trainingServicePlatform: local\n"
                              "searchSpacePath: s.json\n"
                              "useAnnotation: false\n"
                              "logDir: logs\n"
                              "multiPhase: false\n"
                              "tuner:\n"
                              "  codeDir: .\n"
                              "  classFileName: mine.py\n"
                              "  className: Mine\n"
                              "  classArgs: {optimize_mode: minimize}\n"
                              "  includeIntermediateResults: true\n"
                              "assessor:\n"
                              "  builtinAssessorName: Medianstop\n"
                              "trial:\n"
                              "  command: python3 t.py\n"
                              "  codeDir: .\n";

TEST(config_converts_v1_and_says_so)
{
    struct experiment *x;

    CHECK_EQ(file_write("s.json", "{}", 2, NULL), 0);
    x = read_text(v1_text, EXPERIMENT_RUN);
    CHECK_STR(buf_text(&problems.lines), "");
    CHECK(x != NULL);
    CHECK_EQ(x->max_experiment_ms, 3600000);
    CHECK_EQ(x->max_trials, 7);
    CHECK_STR(x->search_space, "{}");
    CHECK_HAS(x->working_folder, "/logs");
    CHECK_STR(x->tuner.class_name, "mine.Mine");
    CHECK_STR(x->tuner.code_folder, x->folder);
    CHECK(x->minimize);
    CHECK_STR(x->assessor.name, "Medianstop");
    CHECK_STR(x->trial_command, "python3 t.py");
    CHECK_STR(x->trial_folder, x->folder);
    CHECK_EQ(x->early_stopped, STOPPED_LATEST);
    CHECK_EQ(notes.count, 13);
    CHECK_HAS(buf_text(&notes.lines), "e.yml:1: authorName: left out (NNI v1");
    CHECK_HAS(buf_text(&notes.lines),
              "e.yml:5: maxTrialNum: read as maxTrialNumber (NNI v1)\n");
    CHECK_HAS(buf_text(&notes.lines),
              "e.yml:20: trial.command: read as trialCommand (NNI v1)\n");
    CHECK_HAS(buf_text(&notes.lines), "e.yml:13: tuner.classFileName: read as "
                                      "tuner.className (NNI v1)\n");
    done(x);
}

TEST(config_says_what_is_wrong_with_a_class_of_v1)
{
    done(read_text("tuner: {classFileName: a.txt, className: B}\n",
                   EXPERIMENT_DISPATCH));
    CHECK_HAS(err.text, "e.yml:1: tuner.classFileName: expected a file "
                        "FILE.py, got 'a.txt'");
    done(read_text("tuner: {classFileName: a.py, codeDir: .}\n",
                   EXPERIMENT_DISPATCH));
    CHECK_HAS(err.text, "e.yml:1: tuner.classFileName: needs a text className "
                        "beside it");
}

TEST(config_reads_an_advisor_as_the_tuner)
{
    struct experiment *x =
        read_text("advisor: {builtinAdvisorName: BOHB}\n", EXPERIMENT_DISPATCH);

    CHECK_STR(err.text, "");
    CHECK_STR(x->tuner.name, "BOHB");
    CHECK_HAS(buf_text(&notes.lines),
              "e.yml:1: advisor: read as tuner (deprecated in NNI)\n");
    done(x);
}

/* One mistake each; the other keys are right. */
static const struct {
    const char *text, *want;
} mistakes[] = {
    {"onFailure: {retry: -1}",
     ":1: onFailure.retry: expected an integer, 0 or above, got '-1'"},
    {"onFailure: {then: report}",
     ":1: onFailure: then: report needs `value`, the result that the tuner is "
     "told"},
    {"onFailure: {value: 3}",
     ":1: onFailure: value is for then: report, which is not said"},
    {"onFailure: {then: report, value: much}",
     ":1: onFailure.value: expected a number, got 'much'"},
    {"onFailure: {retries: 3}", ":1: onFailure.retries: unknown key"},
    {"onRepeatedFailure: stop",
     ":1: onRepeatedFailure: expected one of pause, end, ignore, got 'stop'"},
    {"maxTrialNum: 0",
     ":1: maxTrialNumber: expected an integer above 0, got '0'"},
    {"maxTrialNum: 3\nmaxTrialNumber: 3",
     ":1: maxTrialNum: means maxTrialNumber, which stands in line 2: give one "
     "of them"},
    {"trial: {gpuNm: 1}", ":1: trial.gpuNm: is no key of NNI v1 for the "
                          "platform local (did you mean 'gpuNum'?)"},
    {"trial: 3", ":1: trial: expected a map (NNI v1), got '3'"},
    {"trainingServicePlatform: pai",
     ":1: trainingService.platform: 'pai' is not supported; supported: local"},
    {"machineList: [{ip: a}]",
     ":1: machineList: other machines and services are not supported"},
    {"multiPhase: true", ":1: multiPhase: a trial has one set of parameters"},
    {"sharedStorage: {storageType: NFS}", ":1: sharedStorage: not supported"},
    {"maxTrialNumbr: 3",
     ":1: maxTrialNumbr: unknown key (did you mean 'maxTrialNumber'?)"},
    {"max_trial_number: 3",
     ":1: max_trial_number: unknown key (did you mean 'maxTrialNumber'?)"},
    {"zzzzzzzz: 3", ":1: zzzzzzzz: unknown key\n"},
    {"trialGpuNumber: -1",
     ":1: trialGpuNumber: expected an integer from 0 to 64, got '-1'"},
    {"gpuIndices: 0;1",
     ":1: gpuIndices: expected numbers from 0 to 63 such as 0, \"0,1\" or "
     "[0, 1], got '0;1'"},
    {"trialLabels: [a, []]",
     ":1: trialLabels: expected a label: a line of at most 200 bytes, got a "
     "list"},
    {"deviceLabels: [fast]",
     ":1: deviceLabels: expected a map from GPUs to labels such as "
     "{\"0\": [fast]}, got a list"},
    {"trainingService: {platform: local, deviceLabels: {x: fast}}",
     ":1: trainingService.deviceLabels.x: expected a GPU's number from 0 to "
     "63"},
    {"machineLabels: ''",
     ":1: machineLabels: expected a label: a line of at most 200 bytes"},
    {"assessor: {name: median, classArgs: {optimize_mode: minimise}}",
     ":1: assessor.classArgs.optimize_mode: expected maximize or minimize, got "
     "'minimise' (did you mean 'minimize'?)"},
    {"gpuIndices: [1, 1]", ":1: gpuIndices: has 1 twice"},
    {"gpuIndices: '0 1'",
     ":1: gpuIndices: expected numbers with commas between them, got '0 1'"},
    {"gpuIndices: '0,'",
     ":1: gpuIndices: expected numbers from 0 to 63 such as 0, \"0,1\" or "
     "[0, 1], got ''"},
    {"trialMemory: 2 quarts",
     ":1: trialMemory: expected an amount of memory above 0 such as 512MiB, "
     "2GB or 1.5g, or auto, got '2 quarts'"},
    {"trialGpuMemory: 1g", ":1: trialGpuMemory: needs trialGpuNumber above 0"},
    {"memoryHeadroom: 100%",
     ":1: memoryHeadroom: expected a part from 0% to 99% such as 20%, got "
     "'100%'"},
    {"memoryLimit: cgroups",
     ":1: memoryLimit: expected one of auto, cgroup, rlimit, none, got "
     "'cgroups' (did you mean 'cgroup'?)"},
    {"outOfMemoryPatterns: ['(']",
     ":1: outOfMemoryPatterns: '(' is not a POSIX extended regular "
     "expression: "},
    {"maxTrialNumber: 0",
     ":1: maxTrialNumber: expected an integer above 0, got '0'"},
    {"maxTrialNumber: -1",
     ":1: maxTrialNumber: expected an integer above 0, got '-1'"},
    {"maxTrialNumber: 2.5",
     ":1: maxTrialNumber: expected an integer above 0, got '2.5'"},
    {"maxTrialNumber: '3'",
     ":1: maxTrialNumber: expected an integer above 0, got '3'"},
    {"maxTrialNumber: [3]",
     ":1: maxTrialNumber: expected an integer above 0, got a list"},
    {"maxTrialDuration: 5w",
     ":1: maxTrialDuration: expected a duration above 0 such as 500s, 10m, "
     "1.5h or 2d, got '5w'"},
    {"maxExperimentDuration: 0s", ":1: maxExperimentDuration: expected"},
    {"debug: maybe", ":1: debug: expected true or false, got 'maybe'"},
    {"logLevel: debgu", ":1: logLevel: expected one of fatal, error, warning, "
                        "info, debug, trace, got 'debgu' (did you mean "
                        "'debug'?)"},
    {"earlyStopped: lates", "(did you mean 'latest'?)"},
    {"sync: allways", ":1: sync: expected none, interval, interval:MS or "
                      "always, got 'allways' (did you mean 'always'?)"},
    {"sync: interval:1s", ":1: sync: interval: expected milliseconds from 1 "
                          "to 3600000, got '1s'"},
    {"sync: [always]", ":1: sync: expected a text, got a list"},
    {"segmentSize: 8X", ":1: segmentSize: expected a number of bytes such as "
                        "65536, 64k or 8M"},
    {"segmentSize: [8]", ":1: segmentSize: expected a number of bytes"},
    {"oldSegments: kept", ":1: oldSegments: expected keep, compress or drop, "
                          "got 'kept' (did you mean 'keep'?)"},
    {"oldSegments: {a: b}", ":1: oldSegments: expected a text, got a map"},
    {"seed: -4", ":1: seed: expected an integer from 0 to 2^63-1"},
    {"seed: 9223372036854775808", ":1: seed: expected an integer"},
    {"advisor: {name: BOHB}", ":1: advisor: means tuner, which stands in line "
                              "5: give one of them"},
    {"assessor: {className: B}",
     ":1: assessor: className: expected MODULE.CLASS, got 'B'"},
    {"assessor: {className: a.B, name: x}",
     ":1: assessor: has `className` and `name`: give one"},
    {"assessor: {className: a.B, plugin: x.so}",
     ":1: assessor: has `className` and `plugin`: give one"},
    {"assessor: {codeDirectory: .}",
     ":1: assessor: has `codeDirectory`, and needs `className`"},
    {"assessor: {classArgs: {}}", ":1: assessor: needs `name`"},
    {"assessor: {}", ":1: assessor: is empty; needs `name`"},
    {"assessor: Medianstop", ":1: assessor: expected a map, got a text"},
    {"assessor: {name: x, classArgs: 3}",
     ":1: assessor.classArgs: expected a map, got '3'"},
    {"assessor: {name: x, classArgs: {a: [1, .inf]}}",
     ":1: assessor.classArgs.a[1]: expected a finite number, got '.inf'"},
    {"assessor: {nmae: x}",
     "assessor.nmae: unknown key (did you mean 'name'?)"},
    {"constraints: x < y",
     ":1: constraints: expected a list of texts, got a text"},
    {"constraints: [x < y, '']",
     ":1: constraints: [1] is empty, expected a text such as 'x < y'"},
    {"constraints: [[x]]",
     ":1: constraints: [0] is a list, expected a text such as 'x < y'"},
    {"filters: dedup", ":1: filters: expected a list, got a text"},
    {"filters: [{args: {}}]",
     ":1: filters[0]: needs `name` (see tunepipe tuners)"},
    {"filters: [log, {nam: x, name: y}]",
     ":1: filters[1].nam: unknown key (did you mean 'name'?)"},
    {"filters: [[log]]", ":1: filters[0]: expected a map, got a list"},
    {"filters: [{name: log, args: 3}]",
     ":1: filters[0].args: expected a map, got '3'"},
    {"filters: [a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a]",
     ":1: filters: has 17 filters, expected at most 16"},
    {"trainingService: {platform: remote, machineList: []}",
     ":1: trainingService.platform: 'remote' is not supported; supported: "
     "local"},
    {"trainingService: {reuseMode: false}",
     ":1: trainingService.platform: is required"},
    {"trainingService: [{platform: local}]", "several services at once"},
    {"trialCodeDirectory: absent", "/absent is not a folder"},
    {"useAnnotation: true", ":1: useAnnotation: annotations are not supported"},
    {"searchSpaceFile: s.json",
     ":1: searchSpaceFile: excludes searchSpace (line 2): give one of them"},
    {"metrics: {pattern: '(x'}", "is not a POSIX extended regular expression"},
    {"metrics: {pattern: 'x'}",
     ":1: metrics.pattern: 'x' has no group: put ( ) around the number"},
    {"metrics: {final: best}",
     ":1: metrics.final: expected one of last, none, got 'best'"},
    {"experimentType: nas", "expected one of hpo, got 'nas'"},
    {"experimentName: \"a\\0b\"", ":1: experimentName: must not hold a NUL"},
};

TEST(config_names_each_mistake)
{
    static const char rest[] = "searchSpace: {}\n"
                               "trialCommand: x\n"
                               "trialConcurrency: 1\n" GOOD_END;
    char text[1024];

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct experiment *x;

        snprintf(text, sizeof text, "%s\n%s", mistakes[i].text, rest);
        x = read_text(text, EXPERIMENT_RUN);
        CHECK_HAS(buf_text(&problems.lines), mistakes[i].want);
        CHECK_EQ(problems.count, 1);
        CHECK(x == NULL);
        CHECK_EQ(err.code, ERR_CONFIG);
        done(x);
    }
}

TEST(config_tells_everything_at_once)
{
    struct experiment *x = read_text("trialConcurrency: 0\n"
                                     "trialComand: x\n"
                                     "tuner:\n"
                                     "  builtinTunrName: TPE\n",
                                     EXPERIMENT_RUN);

    CHECK(x == NULL);
    CHECK_STR(
        buf_text(&problems.lines),
        "e.yml:1: trialConcurrency: expected an integer above 0, got '0'\n"
        "e.yml:2: trialComand: unknown key (did you mean 'trialCommand'?)\n"
        "e.yml:4: tuner.builtinTunrName: unknown key\n"
        "e.yml:1: searchSpace: is required, or searchSpaceFile; an empty one "
        "is {}\n"
        "e.yml:1: trialCommand: is required\n");
    CHECK_HAS(err.text, "(and 4 more)");
    done(x);
}

TEST(config_reads_the_search_space_file_as_json_then_yaml)
{
    static const char text[] = "searchSpaceFile: s\n"
                               "trialCommand: x\n"
                               "trialConcurrency: 1\n" GOOD_END;
    static const struct {
        const char *file, *want, *problem;
    } cases[] = {
        {"{\"x\": {\"_type\": \"choice\",\n\t\"_value\": [1, 2.0]}}\n",
         "{\"x\": {\"_type\": \"choice\", \"_value\": [1, 2.0]}}", NULL},
        {"x:\n  _type: choice\n  _value: [1e-3]\n",
         "{\"x\": {\"_type\": \"choice\", \"_value\": [0.001]}}", NULL},
        {"- 1\n", NULL, "/s:1: search space: expected a map, got a list"},
        {"x: [\n", NULL, "/s:2: not valid YAML"},
        {"", NULL, "is empty; an empty space is {}"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct experiment *x;

        file_write("s", cases[i].file, strlen(cases[i].file), NULL);
        x = read_text(text, EXPERIMENT_RUN);
        if (cases[i].want != NULL)
            CHECK_STR(x->search_space, cases[i].want);
        else
            CHECK_HAS(buf_text(&problems.lines), cases[i].problem);
        CHECK_EQ(x == NULL, cases[i].want == NULL);
        done(x);
    }
    remove("s");
    done(read_text(text, EXPERIMENT_RUN));
    CHECK_HAS(err.text, "e.yml:1: searchSpaceFile: ");
    CHECK_HAS(err.text, "No such file");
}

TEST(config_names_a_missing_file)
{
    problems_init(&problems);
    CHECK(experiment_read("absent.yml", EXPERIMENT_RUN, &problems, NULL,
                          &err) == NULL);
    CHECK_STR(err.text, "absent.yml: cannot open: No such file or directory");
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_EQ(problems.count, 1);
    problems_fini(&problems);
}

/* Bytes changed, dropped and doubled: whatever comes out, it is an experiment
 * or a problem with its line, and a sanitizer has nothing to say. */
TEST(config_survives_mutations)
{
    static const char good[] =
        "searchSpace: {x: {_type: choice, _value: [1e-3, 'a', \"b\\n\"]}}\n"
        "trialCommand: |\n  one\n  two\n"
        "trialConcurrency: 2\nmaxTrialDuration: 1.5h\n"
        "tuner: {name: TPE, classArgs: {a: [1, {b: ~}], c: 0x1f}}\n"
        "assessor:\n  name: x\n"
        "metrics: {pattern: 'a=([0-9]+)', final: none}\nseed: 7\n";
    static const char bytes[] = "{}[]:,-'\"\n\t #&*!|>%@~0.e+x\\\xc3\x00";
    uint32_t random = 1;

    for (int round = 0; round < 3000; round++) {
        char text[sizeof good];
        size_t len = sizeof good - 1;
        struct yaml_node *root;

        memcpy(text, good, sizeof good);
        for (int i = 0; i <= round % 4; i++) {
            random = random * 1664525 + 1013904223;
            size_t at = (random >> 8) % len;

            if (random >> 31)
                text[at] = bytes[(random >> 4) % sizeof bytes];
            else
                memmove(text + at, text + at + 1, len-- - at);
        }
        problems_init(&problems);
        root = yaml_parse(text, len, "e.yml", &problems);
        CHECK_EQ(root == NULL, problems.count > 0);
        if (root == NULL)
            CHECK_HAS(buf_text(&problems.lines), "e.yml:");
        yaml_free(root);
        problems_fini(&problems);
        CHECK_EQ(file_write("e.yml", text, len, NULL), 0);
        problems_init(&problems);
        experiment_free(
            experiment_read("e.yml", EXPERIMENT_RUN, &problems, NULL, &err));
        problems_fini(&problems);
    }
}
