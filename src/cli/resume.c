/* SPDX-License-Identifier: MIT */
#include "cli/batch.h"
#include "cli/conduct.h"
#include "cli/kept.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/visible.h"
#include "history/folder.h"
#include "manager/budget.h"
#include "manager/manager.h"
#include "manager/results.h"
#include "manager/trial.h"
#include "objectives/objectives.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tunepipe resume [FOLDER] [--max-trials N] [--max-duration TIME]\n"
    "                       [--retry-failed] [--dispatcher PROGRAM]\n"
    "       tunepipe resume [FOLDER] --batch [--batch-option OPTION]...\n"
    "\n"
    "Goes on with an experiment whose manager, dispatcher or machine died, or\n"
    "that was interrupted.  FOLDER is the experiment's own, as `tunepipe run`\n"
    "named it; without it the newest in ./tunepipe-experiments.  Configuration,\n"
    "search space, seed and everything the tuner has learnt are taken from there,\n"
    "whatever became of the original files; the folder that trialCodeDirectory\n"
    "names is still needed.  FOLDER and its config.yml must be yours and writable\n"
    "by nobody else, and so must a plugin that it names, or root's: what they say\n"
    "is run.\n"
    "\n"
    "  a trial that ended      its result counts, once, as if nothing had been\n"
    "  a trial that runs       is adopted; what it reported meanwhile is read\n"
    "                          (it runs for ten seconds without a manager)\n"
    "  a trial that was        is started again with the same parameters, in\n"
    "  interrupted or lost     trials/ID.1, then trials/ID.2, ...\n"
    "\n"
    "maxExperimentDuration counts on, without the time when nobody ran it.  A\n"
    "finished experiment is shown and left alone, unless it is given more to\n"
    "do; one whose manager lives is refused.\n"
    "\n"
    "  --max-trials N         so many trials in all, those that there are\n"
    "                         included, instead of maxTrialNumber; kept\n"
    "  --max-duration TIME    such as 500s, 10m or 1.5h: so long in all, instead\n"
    "                         of maxExperimentDuration; kept\n"
    "  --retry-failed         run the parameters of all trials that failed, were\n"
    "                         lost or out of memory, and that no later trial\n"
    "                         has, again, on top of maxTrialNumber\n"
    "  --batch                in a batch job of Slurm, as tunepipe run --batch; by\n"
    "                         FOLDER/batch.sh, where that is there\n"
    "  --batch-option OPTION  there: an option of sbatch, kept in that file\n"
    "  --dispatcher PROGRAM   called as PROGRAM dispatch ... instead of\n"
    "                         tunepipe's own\n"
    "\n"
    "Exit status: 0 done, now or before; 1 interrupted, no trial has a result,\n"
    "trials fail again and again or cannot be started, the tuner failed to\n"
    "give parameters, the dispatcher died, or the manager lives; 2 usage; 3 no\n"
    "experiment's folder, or its configuration cannot be used any more; 5 the\n"
    "command log is damaged.\n"
    "\n"
    "Example: tunepipe resume tunepipe-experiments/digits-20260801-120000\n";

struct words {
    const char *dispatcher;
    uint64_t max_trials; /* 0: as before */
    int64_t max_ms;      /* 0: as before */
    bool retry_failed;
    struct batch_words batch;
};

/* Sets the limits of the experiment, as the last manager had them, or as the
 * options say. */
static void
set_limits(struct experiment *x, const char *folder, const struct words *w)
{
    struct budget b = {.max_trials = x->max_trials,
                       .max_ms = x->max_experiment_ms};

    budget_load(&b, folder);
    x->max_trials = w->max_trials > 0 ? w->max_trials : b.max_trials;
    x->max_experiment_ms = w->max_ms > 0 ? w->max_ms : b.max_ms;
}

/* Whether an experiment that is over is given more to do. */
static bool
extends(const struct results *r, const struct words *w)
{
    struct budget b = {0};

    for (int state = 0; w->retry_failed && state < TRIAL_STATES; state++)
        if (trial_is_failure((enum trial_state)state) && r->n_ended[state] > 0)
            return true;
    budget_load(&b, r->folder);
    return w->max_trials > r->n || w->max_ms > b.used_ns / 1000000;
}

struct going_on {
    const struct results *results;
    const struct words *words;
};

static int
in_batch(const struct experiment *x, const struct going_on *g)
{
    struct err err = {0};

    if (g->results->state == RESULTS_RUNNING)
        err_set(&err, ERR_SYSTEM, "%s: its manager lives", g->results->id);
    else
        batch_resume(x, g->results->folder, &g->words->batch, &err);
    return err.code == ERR_NONE ? EXIT_DONE : verb_fail("resume", &err);
}

/* What results are judged by is as it was: the log's head and the results so
 * far have it, and trials would report by another. */
static int
check_objectives(const struct experiment *x, const struct results *r,
                 struct err *err)
{
    char *began = r->objectives != NULL ? objectives_text(r->objectives) : NULL;
    const char *now = x->objectives_json;
    int rc = 0;

    if (r->objectives != NULL && began == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (began == NULL ? now != NULL
                           : now == NULL || strcmp(began, now) != 0)
        rc = err_set(err, ERR_CONFIG,
                     "%s/" FOLDER_CONFIG
                     ": objectives, resultConstraints, scalarize: %s, expected "
                     "what the experiment began with, %s",
                     r->folder, now != NULL ? now : "none",
                     began != NULL ? began : "none");
    free(began);
    return rc;
}

static int
go_on(struct experiment *x, void *ctx)
{
    const struct going_on *g = ctx;
    struct manager_options options = {.dispatcher = g->words->dispatcher,
                                      .resume = g->results->folder,
                                      .retry_failed = g->words->retry_failed};

    struct err err = {0};

    if (x->platform == PLATFORM_client)
        err_set(&err, ERR_CONFIG,
                "%s: is a study, which goes on when it is asked for a trial: "
                "run your program again, or tunepipe ask %s",
                g->results->id, g->results->folder);
    if (err.code != ERR_NONE || kept_check_own(g->results, &err) != 0 ||
        check_objectives(x, g->results, &err) != 0 ||
        kept_check_plugins(x, &err) != 0)
        return verb_fail("resume", &err);
    if (g->words->batch.batch)
        return in_batch(x, g);
    set_limits(x, g->results->folder, g->words);
    return conduct("resume", x, &options);
}

static const struct option options[] = {
    {"max-trials", OPTION_UINT, offsetof(struct words, max_trials), "N"},
    {"max-duration", OPTION_DURATION, offsetof(struct words, max_ms), "TIME"},
    {"retry-failed", OPTION_FLAG, offsetof(struct words, retry_failed), NULL},
    {"dispatcher", OPTION_TEXT, offsetof(struct words, dispatcher), "FILE"},
    BATCH_OPTIONS(words),
};
#define N_OPTIONS (sizeof options / sizeof *options)

/* Names the newest experiment that is not over, for whoever named none. */
static void
name_interrupted(void)
{
    struct target_list all;
    struct results *r = NULL;
    bool found = false;

    if (target_list_load(&all, TARGET_USUAL, NULL) != 0)
        all.n = 0;
    for (size_t i = 0; i < all.n && !found; i++) {
        r = results_load(all.items[i].path, RESULTS_NONE, NULL);
        found = r != NULL && r->state != RESULTS_RUNNING && !r->over;
        if (found)
            visible_printf(stderr,
                           "tunepipe resume: the newest that is not over: "
                           "tunepipe resume %s\n",
                           all.items[i].path);
        results_free(r);
    }
    target_list_fini(&all);
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    const char *folder;
    char *newest = NULL;
    struct results *r;
    int status;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("resume", &err);
    if (w.batch.batch && (w.dispatcher != NULL || w.max_trials > 0 ||
                          w.max_ms > 0 || w.retry_failed))
        err_set(&err, ERR_USAGE,
                "--batch: expected no other option but --batch-option");
    if (err.code != ERR_NONE || batch_check(&w.batch, &err) != 0)
        return verb_fail("resume", &err);
    folder = argc == 2 ? argv[1] : NULL;
    if (folder == NULL)
        folder = newest = target_of_words("resume", argc, argv, &err);
    r = folder == NULL ? NULL : results_load(folder, RESULTS_NONE, &err);
    if (r != NULL && r->over) {
        results_free(r);
        r = results_load(folder, RESULTS_COUNTS, &err);
    }
    free(newest);
    if (r == NULL)
        return verb_fail("resume", &err);
    if (r->state == RESULTS_ENDED && r->over && !extends(r, &w)) {
        visible_printf(stdout,
                       "tunepipe: %s is over (%s): nothing is left to do\n",
                       r->id, r->reason);
        conduct_print("resume", r->folder);
        if (argc != 2)
            name_interrupted();
        status = EXIT_DONE;
    } else {
        status = kept_with("resume", r, go_on, &(struct going_on){r, &w});
    }
    results_free(r);
    return status;
}

const struct verb verb_resume = {
    .name = "resume",
    .summary = "go on with an experiment that was cut off",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
