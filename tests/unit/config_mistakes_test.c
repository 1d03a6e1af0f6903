/* SPDX-License-Identifier: MIT */
#include "unit/config_help.h"

#include <stdio.h>

NOT_UNDER_TSAN;

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
    {"classArgs: {seed: 3}",
     ":1: classArgs: unknown key; it belongs into 'tuner'"},
    {"onFailure: {direction: minimize}",
     ":1: onFailure.direction: unknown key; it stands at the top, beside "
     "trialCommand"},
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
    {"direction: minimise",
     ":1: direction: expected one of minimize, maximize, got 'minimise' (did "
     "you mean 'minimize'?)"},
    {"direction: minimize\nassessor: {name: a, classArgs: {optimize_mode: "
     "maximize}}",
     ":2: assessor.classArgs.optimize_mode: is maximize, and direction in line "
     "1 is minimize: expected one of them, or the same in both"},
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
    {"maxTrialNumber: '3'", ":1: maxTrialNumber: expected an integer above 0, "
                            "got the text '3': leave the quotes out"},
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
    {"assessor: Medianstop",
     ":1: assessor: expected a map such as {name: Medianstop}, got a text"},
    {"assessor: {name: x, start_step: 1}",
     ":1: assessor.start_step: unknown key; arguments stand in 'classArgs'\n"},
    {"maxTrialNumber: four",
     ":1: maxTrialNumber: expected an integer above 0, got 'four'\n"},
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
    {"metrics: {pattern: {loss: '=(.*)'}}",
     ":1: metrics.pattern: has no pattern for the value 'default'"},
    {"metrics: {pattern: {default: 'x', loss: '(y)'}}",
     ":1: metrics.pattern.default: 'x' has no group: put ( ) around the "
     "number"},
    {"metrics: {pattern: {default: 'x'}}",
     ":1: metrics.pattern.default: 'x' has no group: put ( ) around the "
     "number"},
    {"metrics: {pattern: ['(x)']}",
     ":1: metrics.pattern: expected a text, or a map from names of values to "
     "texts, got a list"},
    {"objectives: accuracy", ":1: objectives: '\"accuracy\"', expected a list"},
    {"objectives:\n- {name: a, direction: maximize}\n- {name: b}",
     ":3: objectives[1]: no 'direction', expected 'minimize' or 'maximize'"},
    {"objectives:\n- name: a\n  direction: minimise",
     ":3: objectives[0].direction: '\"minimise\"', expected one of 'minimize' "
     "and 'maximize' (did you mean 'minimize'?)"},
    {"objectives:\n- name: a\n  direction: minimize\n  gaol: 3",
     ":2: objectives[0]: unknown key 'gaol', expected one of 'name', "
     "'direction', 'reference' and 'goal' (did you mean 'goal'?)"},
    {"objectives: [{name: a, direction: minimize}]\ndirection: minimize",
     ":2: direction: each of the objectives has a direction: leave this one "
     "out"},
    {"objectives: [{name: a, direction: minimize}]\nassessor: {name: "
     "medianstop, classArgs: {optimize_mode: minimize}}",
     ":2: assessor.classArgs.optimize_mode: each of the objectives has a "
     "direction: leave this one out"},
    {"assessor: {name: medianstop, classArgs: {optimize_mode: [minimize, "
     "maximize]}}",
     ":1: assessor.classArgs.optimize_mode: expected maximize or minimize, got "
     "a list: several results and their directions are named by the key "
     "`objectives`"},
    {"assessor: {name: medianstop, objective: a}",
     ":1: assessor.objective: needs `objectives`, of which it names one"},
    {"objectives: [{name: accuracy, direction: maximize}]\n"
     "assessor: {name: medianstop, objective: acuracy}",
     ":2: assessor.objective: 'acuracy' is none of the objectives, and not rank (did you "
     "mean 'accuracy'?)"},
    {"objectives:\n- {name: a, direction: minimize, reference: 1}\n- {name: b, "
     "direction: minimize}\nstopValue: 3",
     ":4: stopValue: is about the hypervolume of several objectives, for which "
     "each needs a `reference`; 'b' has none"},
    {"scalarize: weights",
     ":1: scalarize: needs `objectives`, of which it makes one value"},
    {"objectives: [{name: a, direction: maximize}]\nscalarize: weight",
     ":2: scalarize.method: '\"weight\"', expected one of"},
    {"resultConstraints:\n- latency < 20",
     ":2: resultConstraints[0]: '\"latency < 20\"', expected \"NAME <= NUMBER\" "
     "or \"NAME >= NUMBER\""},
    {"objectives: [{name: a, direction: maximize}, {name: b, direction: "
     "minimize}]\nmetrics: {pattern: '=(.*)'}",
     ":2: metrics.pattern: finds one value, and results have 2: expected a map "
     "such as {a: 'REGEX', ...}"},
    {"objectives: [{name: a, direction: maximize}]\nonFailure: {then: report, "
     "value: 3}",
     ":2: onFailure.value: expected a map with a number for each value, such "
     "as {a: 0}"},
    {"objectives: [{name: a, direction: maximize}]\nonFailure: {then: report, "
     "value: {b: 3}}",
     ":2: onFailure.value: no value 'a', reported is 'b'"},
    {"onFailure: {then: report, value: {b: 3}}",
     ":1: onFailure.value: expected a number: there are no `objectives`"},
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
        "e.yml:4: tuner.builtinTunrName: unknown key; arguments stand in "
        "'classArgs'\n"
        "e.yml:1: searchSpace: is required, or searchSpaceFile; an empty one "
        "is {}\n"
        "e.yml:1: trialCommand: is required\n");
    CHECK_HAS(err.text, "(and 4 more)");
    done(x);
}
