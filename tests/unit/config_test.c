/* SPDX-License-Identifier: MIT */
#include "unit/config_help.h"

#include "objectives/objectives.h"

#include "config/overrides.h"
#include "config/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

NOT_UNDER_TSAN;

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
    CHECK_STR(x->trial_command.text, "./train.sh");
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
    CHECK_STR(x->patterns[0].regex, "acc=([0-9.]+)");
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
    CHECK_EQ(x->on_repeated, REPEATED_UNSAID);
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

static void
check_direction(const char *text, const char *direction, const char *from)
{
    struct experiment *x = read_text(text, EXPERIMENT_DISPATCH);

    CHECK_STR(err.text, "");
    CHECK_STR(experiment_direction(x), direction);
    CHECK_STR(x->mode_from, from);
    CHECK(x->minimize == (strcmp(direction, "minimize") == 0));
    done(x);
}

#define TOLD(kind, name, mode) \
    kind ": {name: " name ", classArgs: {optimize_mode: " mode "}}\n"

TEST(config_takes_the_direction_from_the_key_the_tuner_or_the_assessor)
{
    struct experiment *x = read_text("seed: 1\n", EXPERIMENT_DISPATCH);

    CHECK(experiment_direction(x) == NULL);
    CHECK_STR(x->mode_from, EXPERIMENT_MODE_UNSAID);
    done(x);
    check_direction("direction: minimize\n", "minimize", "the experiment");
    check_direction("direction: maximize\ntuner: {name: tpe}\n", "maximize",
                    "the experiment");
    check_direction("direction: minimize\n" TOLD("tuner", "tpe", "minimize"),
                    "minimize", "the experiment");
    check_direction(TOLD("tuner", "tpe", "maximize"), "maximize", "the tuner");
    check_direction("tuner:\n" TOLD("assessor", "Medianstop", "minimize"),
                    "minimize", "the assessor");
    check_direction("tuner: {name: tpe, classArgs: {optimize_mode: null}}\n"
                    "direction: minimize\n",
                    "minimize", "the experiment");
    check_direction("tuner: {className: a.B, classArgs: {optimize_mode: max}}\n"
                    "direction: minimize\n",
                    "minimize", "the experiment");
}

/* A folder from before two places had to agree: the tuner's counted. */
TEST(config_that_a_folder_keeps_may_contradict_itself)
{
    static const char text[] =
        "searchSpace: {}\ntrialCommand: x\n"
        "trialConcurrency: 1\n" TOLD("tuner", "tpe", "minimize")
            TOLD("assessor", "Medianstop", "maximize");
    struct experiment *x = read_text(text, EXPERIMENT_RUN);

    CHECK(x == NULL);
    done(x);
    problems_init(&problems);
    CHECK_EQ(file_write("space.json", "{}", 2, NULL), 0);
    x = experiment_read_kept("e.yml", "/e.yml", "space.json", NULL, &problems,
                             &err);
    CHECK_STR(buf_text(&problems.lines), "");
    CHECK(x != NULL && x->minimize);
    CHECK_STR(x->mode_from, "the tuner");
    experiment_free(x);
    problems_fini(&problems);
}

TEST(config_without_a_tuner_has_auto)
{
    struct experiment *x = read_text("tuner:\n", EXPERIMENT_DISPATCH);

    CHECK_STR(err.text, "");
    CHECK_STR(x->tuner.name, "auto");
    CHECK_STR(x->tuner.args, "{}"); /* it is given the direction */
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
        yaml_node_free(root);
        problems_fini(&problems);
        CHECK_EQ(file_write("e.yml", text, len, NULL), 0);
        problems_init(&problems);
        experiment_free(
            experiment_read("e.yml", EXPERIMENT_RUN, &problems, NULL, &err));
        problems_fini(&problems);
    }
}

/* ---- options of `run` in place of keys ---- */

/* Reads the text, with these overrides. */
static struct experiment *
read_with(const char *text, const char *overrides)
{
    CHECK_EQ(file_write("e.yml", text, strlen(text), NULL), 0);
    problems_init(&problems);
    problems_init(&notes);
    err_clear(&err);
    return experiment_read_checked("e.yml", EXPERIMENT_RUN, overrides, NULL,
                                   &problems, &notes, &err);
}

TEST(config_takes_options_in_place_of_keys)
{
    struct experiment *x = read_with(
        "searchSpace: {}\ntrialCommand: x\nmaxTrialNumber: 2\n"
        "seed: 1\ndirection: minimize\n" GOOD_END,
        "{\"seed\": \"9\", \"max-trials\": \"30\", \"name\": \"null\", "
        "\"concurrency\": \"4\", \"tuner\": \"/a/mine.so\"}");

    CHECK_STR(err.text, "");
    CHECK(x->has_seed && x->seed == 9);
    CHECK_EQ(x->max_trials, 30);
    CHECK_STR(x->name, "null");
    CHECK_EQ(x->concurrency, 4); /* which the file lacks */
    CHECK(x->tuner_overridden && x->tuner.name == NULL);
    CHECK_STR(x->tuner.plugin, "/a/mine.so");
    CHECK_STR(x->tuner.args, "{}");
    done(x);
    x = read_with("searchSpace: {}\ntrialCommand: x\ntrialConcurrency: 1\n",
                  "{\"seed\": 9}");
    CHECK(x == NULL); /* as nobody has written it */
    CHECK_STR(err.text, "--seed: expected a text");
    done(x);
}

TEST(config_places_mistakes_of_options_at_them)
{
    struct experiment *x = read_with(
        "searchSpace: {}\ntrialCommand: x\n" GOOD_END,
        "{\"concurrency\": \"0\", \"seed\": \"null\", \"name\": \"\", "
        "\"tuner\": \"tpe:{\\\"a\\\" 1}\"}");

    CHECK(x == NULL);
    CHECK_STR(buf_text(&problems.lines),
              "--tuner: arguments: byte 5: expected ':', not '1'\n"
              "--seed: expected an integer from 0 to 2^63-1, got 'null'\n"
              "--name: expected a text, got ''\n"
              "--concurrency: expected an integer above 0, got '0'\n");
    done(x);
}

/* Of another tuner's arguments only the direction is kept, and that is noted;
 * those of the same one stay. */
TEST(config_keeps_arguments_of_the_tuner_that_an_option_names)
{
    static const char text[] =
        "searchSpace: {}\ntrialCommand: x\ntrialConcurrency: 1\n"
        "tuner: {className: a.B, classArgs: {optimize_mode: minimize, n: 1}}\n";
    static const char same[] =
        "searchSpace: {}\ntrialCommand: x\ntrialConcurrency: 1\n"
        "tuner: {name: TPE, classArgs: {optimize_mode: minimize, n: 1}}\n";
    struct experiment *x = read_with(text, "{\"tuner\": \"grid\"}");

    CHECK_STR(err.text, "");
    CHECK(x->tuner.class_name == NULL);
    CHECK_STR(x->tuner.args, "{}");
    CHECK_STR(experiment_direction(x), "minimize");
    CHECK_STR(buf_text(&notes.lines),
              "e.yml:4: tuner.classArgs: left out, but for the direction: they "
              "are not of the tuner that --tuner names\n");
    done(x);
    x = read_with(same, "{\"tuner\": \"tpe\"}");
    CHECK_STR(x->tuner.args, "{\"optimize_mode\": \"minimize\", \"n\": 1}");
    CHECK_STR(buf_text(&notes.lines), "");
    done(x);
    x = read_with(same, "{\"tuner\": \"tpe:{\\\"n\\\": [2, \\\"\\\"]}\"}");
    CHECK_STR(x->tuner.args, "{\"n\": [2, \"\"]}");
    CHECK_STR(experiment_direction(x), "minimize");
    done(x);
    x = read_with(
        same, "{\"tuner\": \"tpe:{\\\"optimize_mode\\\": \\\"maximize\\\"}\"}");
    CHECK(x == NULL);
    CHECK_STR(err.text, "--tuner: tuner.classArgs.optimize_mode: is maximize, "
                        "and direction in line 4 is minimize: expected one of "
                        "them, or the same in both");
    done(x);
}

TEST(overrides_are_written_and_shown)
{
    const char *values[OVERRIDES] = {"7", NULL, "it's", NULL, "./a/mine.so:{}"};
    char *json, *want = NULL, *here = getcwd(NULL, 0);
    struct buf shown;

    CHECK_EQ(overrides_write(values, &json, &err), 0);
    CHECK(asprintf(&want,
                   "{\"seed\": \"7\", \"name\": \"it's\", "
                   "\"tuner\": \"%s/a/mine.so:{}\"}",
                   here) > 0);
    CHECK_STR(json, want);
    free(want);
    buf_init(&shown, 4096);
    overrides_show(json, &shown);
    CHECK(asprintf(&want,
                   "--seed 7 --name 'it'\\''s' --tuner '%s/a/mine.so:{}'",
                   here) > 0);
    CHECK_STR(buf_text(&shown), want);
    buf_fini(&shown);
    free(want);
    free(here);
    free(json);
    values[0] = values[2] = values[4] = NULL;
    CHECK_EQ(overrides_write(values, &json, &err), 0);
    CHECK(json == NULL);
}

TEST(config_reads_objectives)
{
    struct experiment *x =
        read_text("searchSpace: {}\ntrialCommand: x\n"
                  "objectives:\n"
                  "- {name: accuracy, direction: maximize, goal: 0.95}\n"
                  "- {name: latency_ms, direction: minimize, reference: 100}\n"
                  "resultConstraints: [memory <= 8]\n"
                  "scalarize: weights\n"
                  "metrics: {pattern: {accuracy: 'a=(.*)', latency_ms: "
                  "'l=(.*)', memory: 'm=(.*)', loss: 'o=(.*)'}}\n"
                  "onFailure: {then: report, value: {accuracy: 0, latency_ms: "
                  "1000, memory: 0}}\n"
                  "tuner: {name: random}\n"
                  "assessor: {name: medianstop, objective: accuracy}\n",
                  EXPERIMENT_RUN);

    CHECK_STR(buf_text(&problems.lines), "");
    CHECK(x != NULL && x->objectives != NULL);
    CHECK_EQ(x->objectives->n, 2);
    CHECK_EQ(x->objectives->n_values, 3);
    CHECK_STR(x->objectives_json,
              "{\"objectives\": [{\"name\": \"accuracy\", \"direction\": "
              "\"maximize\", \"goal\": 0.95}, {\"name\": \"latency_ms\", "
              "\"direction\": \"minimize\", \"reference\": 100.0}], "
              "\"resultConstraints\": [\"memory <= 8\"], \"scalarize\": "
              "{\"method\": \"weights\"}}");
    CHECK(!x->minimize);
    CHECK_STR(x->mode_from, EXPERIMENT_MODE_KEY);
    CHECK_STR(x->assessor.objective, "accuracy");
    CHECK_EQ(x->n_patterns, 4);
    CHECK_STR(x->patterns[3].name, "loss");
    CHECK(x->on_failure.value == 0 && x->on_failure.values != NULL);
    done(x);
}

TEST(config_notes_a_reference_without_effect)
{
    struct experiment *x = read_text(
        "searchSpace: {}\ntrialCommand: x\n"
        "objectives:\n"
        "- {name: accuracy, direction: maximize}\n"
        "- {name: ms, direction: minimize, reference: 100}\n" GOOD_END,
        EXPERIMENT_RUN);

    CHECK_STR(buf_text(&problems.lines), "");
    CHECK(x != NULL);
    CHECK_STR(buf_text(&notes.lines),
              "e.yml:5: objectives[1].reference: has no effect: there is a "
              "hypervolume only where each objective has one, and 'accuracy' "
              "has none\n");
    done(x);
}

TEST(config_notes_what_may_be_a_misspelt_objective)
{
    struct experiment *x =
        read_text("searchSpace: {}\ntrialCommand: x\n"
                  "objectives:\n"
                  "- {name: accuracy, direction: maximize}\n"
                  "- {name: latency_ms, direction: minimize}\n"
                  "resultConstraints:\n"
                  "- memory <= 8\n"
                  "- latncy_ms <= 20\n" GOOD_END,
                  EXPERIMENT_RUN);

    CHECK_STR(buf_text(&problems.lines), "");
    CHECK(x != NULL);
    CHECK_STR(buf_text(&notes.lines),
              "e.yml:8: resultConstraints[1]: 'latncy_ms' is no objective: "
              "each result has to have it, too (did you mean 'latency_ms'?)\n");
    done(x);
}

TEST(config_limits_what_comes_beside_the_one_result)
{
    struct experiment *x =
        read_text("searchSpace: {}\ntrialCommand: x\ndirection: minimize\n"
                  "resultConstraints: [size <= 8]\n" GOOD_END,
                  EXPERIMENT_RUN);

    CHECK_STR(buf_text(&problems.lines), "");
    CHECK_STR(x->objectives_json,
              "{\"objectives\": [{\"name\": \"default\", \"direction\": "
              "\"minimize\"}], \"resultConstraints\": [\"size <= 8\"]}");
    CHECK(x->minimize);
    done(x);
}
