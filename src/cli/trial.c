/* SPDX-License-Identifier: MIT */
/* tunepipe trial - what a trial written in shell, or in a language without a
 * header of ours, calls: its parameters, its reports.  What people say of the
 * trials of an experiment: trial_control.h. */
#include "cli/options.h"
#include "cli/trial_control.h"
#include "cli/verb.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/nearest.h"
#include "trial/checkpoint.h"
#include "trial/files.h"
#include "trial/params.h"
#include "trial/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX ((size_t)64 * 1024 * 1024)

static const char help[] =
    "usage: tunepipe trial param NAME [--default VALUE]\n"
    "       tunepipe trial params\n"
    "       tunepipe trial report [--final | --done | --sync]\n"
    "                             [--checkpoint FILE]... METRIC...\n"
    "       tunepipe trial checkpoint save [FILE...]\n"
    "       tunepipe trial ls [DIR] [--json]\n"
    "       tunepipe trial output [DIR] TRIAL [--stderr] [--follow]\n"
    "       tunepipe trial add [DIR] PARAMETERS...\n"
    "       tunepipe trial kill [DIR] TRIAL...\n"
    "       tunepipe trial retry [DIR] --failed | TRIAL...\n"
    "\n"
    "The first four are called by a trial, in the environment that tunepipe\n"
    "gave it.\n"
    "\n"
    "  param NAME      print the value of one parameter: numbers in JSON\n"
    "                  spelling, strings without quotes; what a nested choice\n"
    "                  chose is NAME/_name, its parameters are NAME/PARAMETER\n"
    "    --default VALUE\n"
    "                  print VALUE where this trial has no such parameter, or\n"
    "                  outside a trial; of a NAME that the search space does\n"
    "                  not have, either, tunepipe run warns once\n"
    "  params          print all parameters, one line of JSON\n"
    "  report METRIC   report an intermediate result: a number, or an object\n"
    "                  with the number as \"default\"; where the experiment has\n"
    "                  objectives, values by name: accuracy=0.9 latency_ms=12,\n"
    "                  or an object; a number with other values beside it:\n"
    "                  0.9 loss=0.3\n"
    "    --final       report the trial's result instead, once, at its end\n"
    "    --done        the same, and the trial has done its work: it has\n"
    "                  succeeded, and what runs on is ended\n"
    "    --sync        return when it is judged: status 0 is go on; else the\n"
    "                  trial should end by itself: 7 is stop, 8 is pause\n"
    "                  (another trial may go on from its newest checkpoint), 9\n"
    "                  is finish (this result is the final one)\n"
    "    --checkpoint FILE\n"
    "                  save a copy of this file or folder, too, as checkpoint\n"
    "                  save does, in the order that is right: the state behind\n"
    "                  the step whose result this is, told behind that result\n"
    "  checkpoint save FILE...\n"
    "                  save copies of these files and folders, all or none,\n"
    "                  for an attempt, or a trial, that goes on from here.  Save\n"
    "                  behind the report of the step whose state it is: else\n"
    "                  who goes on does that step twice.  They are then in\n"
    "                  $TUNEPIPE_RESTORE_DIR, which is not set where there are\n"
    "                  none; $TUNEPIPE_STEP is how many intermediate results had\n"
    "                  been reported by then, and $TUNEPIPE_BUDGET, where a\n"
    "                  tuner sets one, how many there may be.  Without FILE,\n"
    "                  save what the trial wrote into $TUNEPIPE_CHECKPOINT_DIR\n"
    "\n"
    "The others are for people, about the trials of the experiment in DIR,\n"
    "which `tunepipe run` printed; without it the newest in\n"
    "./tunepipe-experiments.  TRIAL is a number, such as 00003 or 3.\n"
    "\n"
    "  ls              all trials, those that have ended and, while the\n"
    "                  experiment runs, those that have not; the last\n"
    "                  intermediate value stands in brackets where there is no\n"
    "                  final one; objectives have a column each\n"
    "    --json        {\"trials\": [{\"trial\", \"status\", \"value\", "
    "\"latest\",\n"
    "                  \"values\" by name, where there are any,\n"
    "                  \"duration_s\", \"why\", \"from\", \"parameters\"}, "
    "...]}\n"
    "  output          what the trial has printed, as it is, in its last attempt\n"
    "                  (3.0 or 3.1: that attempt at trial 3) and the last of its\n"
    "                  phases that began, prepareCommand or trialCommand\n"
    "    --stderr      its standard error instead\n"
    "    --follow      and what it prints from now on, until that phase ends\n"
    "  add             run a trial of these parameters, JSON, in a running\n"
    "                  experiment, on top of maxTrialNumber; what they lack is\n"
    "                  drawn, and the tuner learns from the result.  Several\n"
    "                  are as many trials, all of them or none; prints their\n"
    "                  numbers:  tunepipe trial add '{\"lr\": 0.01}'\n"
    "  kill            end these trials, of a running experiment, which goes\n"
    "                  on; all of them or none\n"
    "  retry           run the parameters of these trials, which have ended,\n"
    "                  again, as new trials on top of maxTrialNumber, in a\n"
    "                  running experiment (one that has ended: see tunepipe\n"
    "                  resume); prints their numbers\n"
    "    --failed      of all that failed, were lost or out of memory, and\n"
    "                  whose parameters no later trial has\n"
    "\n"
    "Example: a trial in shell\n"
    "\n"
    "  rate=$(tunepipe trial param learning_rate)\n"
    "  for epoch in 1 2 3; do\n"
    "      tunepipe trial report \"$(./train --rate \"$rate\" --more)\"\n"
    "  done\n"
    "  tunepipe trial report --final \"$(./train --rate \"$rate\" --score)\"\n"
    "\n"
    "Exit status: 0 done; 1 no such parameter, no metric, or not written, or\n"
    "the experiment refuses or is run by nobody; 2 the command line is wrong or\n"
    "this is no trial; 3 DIR is no experiment's folder; 7, 8, 9 (report\n"
    "--sync) it should stop, pause, finish.\n";

/* The trial's folder, or NULL: err tells why. */
static const char *
folder(struct err *err)
{
    const char *dir = getenv(TRIAL_ENV_DIR);

    if (dir != NULL && *dir != '\0')
        return dir;
    err_set(err, ERR_USAGE,
            TRIAL_ENV_DIR " is not set: tunepipe trial works inside a trial; "
                          "see tunepipe run --help");
    return NULL;
}

static int
print_value(const struct params *params, const char *dir, const char *name,
            const char *otherwise, struct err *err)
{
    const char *value = params_find(params, name);
    const char *const *names;
    char hint[300];
    size_t n;

    if (value == NULL) {
        params_note_absent(dir, name);
        value = otherwise;
    }
    if (value != NULL) {
        puts(value);
        return 0;
    }
    names = params_names(params, &n);
    return err_set(err, ERR_INPUT, "this trial has no parameter '%s'%s", name,
                   nearest_hint(name, names, n, hint, sizeof(hint)));
}

struct report_words {
    bool final, done, sync;
    struct option_list checkpoint;
};

/* The options of all words of the verb; "default" is param's. */
static const struct option options[] = {
    {"default", OPTION_TEXT, 0, "VALUE"}, /* for param */
    /* for report */
    {"final", OPTION_FLAG, offsetof(struct report_words, final), NULL},
    {"done", OPTION_FLAG, offsetof(struct report_words, done), NULL},
    {"sync", OPTION_FLAG, offsetof(struct report_words, sync), NULL},
    {"checkpoint", OPTION_LIST, offsetof(struct report_words, checkpoint),
     "FILE"},
    TRIAL_CONTROL_JSON,   /* for ls */
    TRIAL_CONTROL_STDERR, /* for output */
    TRIAL_CONTROL_FOLLOW,
    TRIAL_CONTROL_FAILED, /* for retry */
};
#define N_OPTIONS (sizeof options / sizeof *options)

static int
param(int argc, char **argv, struct err *err)
{
    const char *name, *otherwise = NULL, *dir;
    struct params *params;
    int status;

    if (options_parse(&options[0], 1, &otherwise, &argc, argv, err) != 0)
        return -1;
    if (argc < 2)
        return err_set(err, ERR_USAGE, "param: expected NAME");
    if (argc > 2)
        return err_set(err, ERR_USAGE,
                       "'%s': expected one NAME and --default VALUE", argv[2]);
    name = argv[1];
    dir = folder(err);
    if (dir == NULL) {
        if (otherwise == NULL)
            return -1;
        puts(otherwise);
        return 0;
    }
    params = params_load(dir, err);
    if (params == NULL)
        return -1;
    status = print_value(params, dir, name, otherwise, err);
    params_free(params);
    return status;
}

static int
print_all(int argc, char **argv, struct err *err)
{
    const char *dir = folder(err);
    struct buf json;
    char *path;
    int status = -1;

    if (argc > 1)
        return err_set(err, ERR_USAGE, "'%s': params takes no arguments",
                       argv[1]);
    if (dir == NULL)
        return -1;
    path = file_join(dir, TRIAL_PARAMETERS_JSON);
    if (path == NULL)
        return err_set(err, ERR_MEMORY, "no memory for a path");
    buf_init(&json, JSON_MAX);
    if (file_read(path, JSON_MAX, &json, err) == 0)
        status = 0;
    if (status == 0 && json.len > 0)
        fwrite(json.data, 1, json.len, stdout);
    buf_fini(&json);
    free(path);
    return status;
}

/* Whether each intermediate report waits for its answer (--deterministic). */
static bool
in_lockstep(void)
{
    const char *word = getenv(TRIAL_ENV_LOCKSTEP);

    return word != NULL && strcmp(word, "1") == 0;
}

static int
refuse_words(const struct report_words *w, struct err *err)
{
    if (w->final && w->done)
        return err_set(err, ERR_USAGE,
                       "--done is a final result: give one of "
                       "--final and --done");
    if ((w->final || w->done) && w->sync)
        return err_set(err, ERR_USAGE,
                       "--sync is for intermediate results: no assessor "
                       "judges a final one");
    if ((w->final || w->done) && w->checkpoint.n > 0)
        return err_set(err, ERR_USAGE,
                       "--checkpoint is for intermediate results, a step's "
                       "state with its value: behind a final one there is "
                       "tunepipe trial checkpoint save");
    return 0;
}

/* Drafts a checkpoint of these files of the trial in `dir`; see
 * checkpoint_draft(). */
static int
draft(struct checkpoint_draft *d, const char *dir, const char *const *paths,
      size_t n, struct err *err)
{
    const char *saving = getenv(TRIAL_ENV_CHECKPOINT);

    if (saving == NULL || *saving == '\0')
        return err_set(err, ERR_USAGE, TRIAL_ENV_CHECKPOINT " is not set");
    if (checkpoint_draft(d, saving, paths, n, err) != 0)
        return -1;
    if (!d->saving)
        checkpoint_note(dir, paths, n);
    return 0;
}

struct publishing {
    struct checkpoint_draft draft;
    const char *trial_folder;
};

static int
publish(void *ctx, struct err *err)
{
    struct publishing *p = ctx;

    return checkpoint_publish(&p->draft, p->trial_folder, err);
}

/* Reports an intermediate result, with a checkpoint where one is named: what it
 * holds is safe before the result is told, and told behind that, before the
 * result is judged. */
static int
report_step(const char *dir, const char *metric, const struct report_words *w,
            enum report_answer *answer, struct err *err)
{
    struct publishing p = {.trial_folder = dir};
    const struct report_then then = {publish, &p};
    bool saves = w->checkpoint.n > 0;
    int rc = report_check(metric, REPORT_INTERMEDIATE, err);

    if (rc == 0 && saves)
        rc = draft(&p.draft, dir, w->checkpoint.words, w->checkpoint.n, err);
    if (rc == 0)
        rc = report_intermediate(dir, metric,
                                 w->sync         ? REPORT_HEAR
                                 : in_lockstep() ? REPORT_WAIT
                                                 : REPORT_NO_WAIT,
                                 saves ? &then : NULL, answer, err);
    checkpoint_drop(&p.draft);
    return rc;
}

/* Reports.  0, -1, or an exit status that tells the trial what to do. */
static int
report(int argc, char **argv, struct err *err)
{
    static const int statuses[] = {
        [REPORT_GO] = EXIT_DONE,
        [REPORT_STOP] = EXIT_STOP,
        [REPORT_PAUSE] = EXIT_PAUSE,
        [REPORT_FINISH] = EXIT_FINISH,
    };
    struct report_words w = {0};
    const char *dir;
    char *metric;
    enum report_answer answer;
    int rc;

    if (options_parse(&options[1], 4, &w, &argc, argv, err) != 0)
        return -1;
    if (argc < 2)
        return err_set(err, ERR_USAGE, "report: expected METRIC");
    if (refuse_words(&w, err) != 0)
        return -1;
    dir = folder(err);
    if (dir == NULL)
        return -1;
    metric = report_value((const char *const *)argv + 1, (size_t)argc - 1, err);
    if (metric == NULL)
        rc = -1;
    else if (w.final || w.done)
        rc = report_append(dir, w.done ? REPORT_DONE : REPORT_FINAL, metric,
                           err);
    else
        rc = report_step(dir, metric, &w, &answer, err) == 0 ? statuses[answer]
                                                             : -1;
    free(metric);
    return rc;
}

static int
checkpoint(int argc, char **argv, struct err *err)
{
    struct checkpoint_draft d = {0};
    const char *dir;
    int rc;

    if (options_parse(NULL, 0, NULL, &argc, argv, err) != 0)
        return -1;
    if (argc < 2 || strcmp(argv[1], "save") != 0)
        return err_set(err, ERR_USAGE,
                       "checkpoint: expected save [FILE...]%s%s",
                       argc < 2 ? "" : ", got ", argc < 2 ? "" : argv[1]);
    dir = folder(err);
    if (dir == NULL || draft(&d, dir, (const char *const *)argv + 2,
                             (size_t)argc - 2, err) != 0)
        return -1;
    rc = checkpoint_publish(&d, dir, err);
    checkpoint_drop(&d);
    return rc;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv, struct err *err);
} actions[] = {
    {"param", param},
    {"params", print_all},
    {"report", report},
    {"ls", trial_control_ls},
    {"output", trial_control_output},
    {"add", trial_control_add},
    {"kill", trial_control_kill},
    {"retry", trial_control_retry},
    {"checkpoint", checkpoint},
};

#define WORDS \
    "param, params, report, checkpoint, ls, output, add, kill or retry"
#define N_ACTIONS (sizeof(actions) / sizeof(actions[0]))

static int
act(int argc, char **argv, struct err *err)
{
    const char *names[N_ACTIONS];
    char hint[300];

    if (argc < 2)
        return err_set(err, ERR_USAGE, "expected " WORDS);
    for (size_t i = 0; i < N_ACTIONS; i++) {
        names[i] = actions[i].name;
        if (strcmp(argv[1], names[i]) == 0)
            return actions[i].run(argc - 1, argv + 1, err);
    }
    return err_set(err, ERR_USAGE, "'%s': expected " WORDS "%s", argv[1],
                   nearest_hint(argv[1], names, N_ACTIONS, hint, sizeof(hint)));
}

static int
run(int argc, char **argv)
{
    struct err err;
    int status;

    err_clear(&err);
    status = act(argc, argv, &err);
    if (status < 0)
        return verb_fail("trial", &err);
    if (fflush(stdout) != 0) {
        err_errno(&err, ERR_SYSTEM, "cannot write to stdout");
        return verb_fail("trial", &err);
    }
    return status;
}

const struct verb verb_trial = {
    .name = "trial",
    .summary =
        "inside a trial: parameters, reports; outside: ls, output, add, ...",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "param|params|report|checkpoint|ls|output|add|kill|retry NAME",
};
