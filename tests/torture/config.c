/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "config/configuration.h"
#include "config/experiment.h"
#include "config/overrides.h"
#include "core/err.h"
#include "core/file.h"
#include "core/problems.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without a pattern: the regcomp() of glibc (2.36) leaks when it fails. */
static const char text[] =
    "searchSpace:\n  x: {_type: uniform, _value: [-5, 5]}\n"
    "trialCommand: ./trial.sh\ntrialConcurrency: 2\nseed: 1\n"
    "tuner: {name: random, classArgs: {optimize_mode: minimize}}\n"
    "assessor: {plugin: ./a.so}\ntrainingService: {platform: local}\n";

static int
is_whole(const struct experiment *x, struct err *err)
{
    if (x->file != NULL && x->folder != NULL && x->name != NULL &&
        x->search_space != NULL && x->space_place != NULL &&
        x->trial_command.text != NULL && x->trial_folder != NULL &&
        x->working_folder != NULL && x->tuner.name != NULL &&
        x->tuner.args != NULL && x->assessor.plugin != NULL &&
        x->assessor.args != NULL)
        return 0;
    return err_set(err, ERR_INPUT, "something is missing");
}

static int
read_experiment(struct err *err)
{
    struct problems problems, notes;
    struct experiment *x = NULL;
    int rc;

    problems_init(&problems);
    problems_init(&notes);
    if (file_write("e.yml", text, sizeof text - 1, err) == 0)
        x = experiment_read("e.yml", EXPERIMENT_RUN, &problems, &notes, err);
    problems_fini(&problems);
    problems_fini(&notes);
    rc = x == NULL ? -1 : is_whole(x, err);
    experiment_free(x);
    unlink("e.yml");
    return rc;
}

/* With every option in place of a key. */
static int
read_overridden(struct err *err)
{
    static const char *const values[OVERRIDES] = {"7", "20", "a name", "3",
                                                  "./b.so:{\"n\": [1]}"};
    struct problems problems, notes;
    struct experiment *x = NULL;
    char *overrides = NULL;
    int rc;

    problems_init(&problems);
    problems_init(&notes);
    if (file_write("e.yml", text, sizeof text - 1, err) == 0 &&
        overrides_write(values, &overrides, err) == 0)
        x = experiment_read_checked("e.yml", EXPERIMENT_RUN, overrides, NULL,
                                    &problems, &notes, err);
    problems_fini(&problems);
    problems_fini(&notes);
    rc = x == NULL ? -1 : 0;
    if (x != NULL &&
        (!x->tuner_overridden || x->tuner.plugin == NULL || x->seed != 7 ||
         x->max_trials != 20 || x->concurrency != 3 || !x->minimize ||
         strcmp(x->tuner.args, "{\"n\": [1]}") != 0))
        rc = err_set(err, ERR_INPUT, "something is missing");
    experiment_free(x);
    free(overrides);
    unlink("e.yml");
    return rc;
}

const struct torture_case torture_config[] = {
    {"config_experiment", read_experiment, 1 /* asprintf has a second way */},
    {"config_overrides", read_overridden, 1 /* the same */},
    {NULL, NULL, 0}};
