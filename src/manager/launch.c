/* SPDX-License-Identifier: MIT */
#include "manager/launch.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/checkpoints.h"
#include "manager/command_template.h"
#include "manager/parameters.h"
#include "manager/plain_command.h"
#include "manager/trial.h"
#include "manager/trial_folder.h"
#include "runner/runner.h"
#include "space/space.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)128 << 20)

/* The folder of the Python package, to be freed; NULL: not found. */
static char *
find_python_folder(void)
{
    char *package = file_shared("src", TRIAL_PYTHON_PACKAGE);

    if (package != NULL)
        *strrchr(package, '/') = '\0';
    return package;
}

/* What the experiment wants of its trials' machine, and the kind cannot. */
static int
check_kind(const struct runner_ops *kind, const struct experiment *x,
           struct err *err)
{
    const struct wishes *w = &x->wishes;
    const char *lacks = NULL;

    if (wishes_reserve(w) && !(kind->can & RUNNER_MEMORY))
        lacks = "trialMemory";
    else if (w->devices > 0 && !(kind->can & RUNNER_DEVICES))
        lacks = "trialGpuNumber";
    else if (w->device_memory > 0 && (kind->can & RUNNER_ELSEWHERE))
        lacks = "trialGpuMemory";
    else if (w->labels.n_globs > 0 && (kind->can & RUNNER_ELSEWHERE))
        lacks = "trialLabels";
    else if (kind->can & RUNNER_PROGRAMS)
        return 0;
    else if (x->trial_command.text != NULL)
        lacks = "trialCommand";
    else if (x->prepare_command.text != NULL)
        lacks = "prepareCommand";
    else if (x->n_patterns > 0)
        lacks = "metrics.pattern";
    else if (x->deterministic)
        lacks = "deterministic";
    if (lacks == NULL)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "%s: is not supported by trainingService.platform '%s'",
                   lacks, kind->name);
}

int
launch_open(struct launch *l, const struct runner_ops *kind,
            const struct experiment *x, struct err *err)
{
    struct runner_setup setup = {.grace_ms = x->grace_ms,
                                 .synced = x->sync.when == SYNC_ALWAYS,
                                 .max_output = x->max_output,
                                 .resumes = l->resumes,
                                 .max_ms = x->max_trial_ms,
                                 .cluster = &x->cluster,
                                 .wishes = &x->wishes,
                                 .machines = l->machines,
                                 .say = l->say,
                                 .ctx = l->ctx};

    l->runner = NULL;
    l->descriptors = kind->descriptors;
    l->program_folder = file_program_folder();
    if (l->program_folder == NULL)
        return err_errno(err, ERR_SYSTEM, "cannot tell where tunepipe lies");
    l->python_folder = find_python_folder();
    setup.program_folder = l->program_folder;
    setup.python_folder = l->python_folder;
    setup.code_folder = x->trial_folder;
    return check_kind(kind, x, err) != 0 ? -1
                                         : kind->open(&l->runner, &setup, err);
}

void
launch_close(struct launch *l)
{
    if (l->runner != NULL)
        l->runner->ops->close(l->runner);
    free(l->program_folder);
    free(l->python_folder);
    space_free(l->space);
    l->runner = NULL;
    l->program_folder = l->python_folder = NULL;
    l->space = NULL;
}

bool
launch_has_programs(const struct launch *l)
{
    return l->runner->ops->can & RUNNER_PROGRAMS;
}

struct json *
launch_parameters(const struct launch *l, const struct trial *t,
                  struct err *err)
{
    struct json *doc =
        json_parse(t->parameters, strlen(t->parameters), JSON_STRICT, err);
    struct json *given;

    if (doc == NULL || l->space == NULL)
        return doc;
    given = parameters_given(l->space, json_root(doc), err);
    json_free(doc);
    return given;
}

int
launch_command(const struct launch *l, const char *command,
               struct jval parameters, struct buf *out, struct err *err)
{
    if (command_template_fill(command, l->space, parameters, out, err) == 0)
        return 0;
    err_place(err, "%s",
              command == l->prepare_command ? "prepareCommand"
                                            : "trialCommand");
    return -1;
}

static struct runner_task
task_of(const struct launch *l, struct trial *t, bool prepares,
        const char *const *command)
{
    return (struct runner_task){
        .trial = t,
        .phase = {.folder = t->folder, .prepares = prepares},
        .cwd = l->cwd,
        .command = command,
        .cgroup = t->claim.cgroup,
        .limit = t->claim.limit,
    };
}

static int
run_task(const struct launch *l, const struct runner_task *task,
         struct err *err)
{
    task->trial->run = l->runner->ops->start(l->runner, task, err);
    return task->trial->run != NULL ? 0 : -1;
}

/* As launch_parameters() gives them, for who is told them as a text. */
static int
write_given(const struct launch *l, struct jval parameters, struct buf *out,
            struct err *err)
{
    if (l->space != NULL)
        space_write_given(l->space, parameters, out);
    else
        jval_write(parameters, out);
    return buf_check(out, "the parameters", err);
}

static int
start_phase(const struct launch *l, struct trial *t, bool prepares,
            struct jval parameters, struct err *err)
{
    const char *command[] = {"/bin/sh", "-c", NULL, NULL};
    char **plain = NULL;
    struct environment_of of = {
        .program_folder = l->program_folder,
        .python_folder = l->python_folder,
        .experiment_folder = l->experiment_folder,
        .code_folder = l->cwd,
        .seed = l->seed,
        .minimize = l->minimize,
        .objectives = l->objectives,
        .lockstep = l->lockstep,
        .prepares = prepares,
    };
    struct runner_task task = task_of(l, t, prepares, command);
    bool saves = l->runner->ops->can & RUNNER_CHECKPOINTS;
    bool programs = launch_has_programs(l);
    char *saving = NULL, *restore = NULL;
    struct environment env = {0};
    struct buf filled;
    int rc = 0;

    buf_init(&filled, TEXT_MAX);
    if (programs)
        rc = launch_command(l, prepares ? l->prepare_command : l->command,
                            parameters, &filled, err);
    else
        rc = write_given(l, parameters, &filled, err);
    command[2] = task.parameters = buf_text(&filled);
    if (!programs)
        task.command = NULL;
    if (rc == 0 && saves)
        rc = checkpoints_begin(l->checkpoints, t, programs || t->budget > 0,
                               err);
    if (rc == 0 && !programs &&
        (t->restore > 0 || t->origin.how != ORIGIN_NONE))
        rc = trial_folder_write_record(t, err);
    if (rc == 0)
        rc = trial_folder_write_origin(t, err);
    if (rc == 0 && saves) {
        task.saving = of.saving = saving =
            checkpoints_saving(l->checkpoints, t);
        task.restore = of.restore = restore =
            checkpoints_restore(l->checkpoints, t);
    }
    if (rc == 0 && programs)
        rc = environment_make(&env, &of, t, parameters, err);
    task.env = env.vars;
    if (rc == 0 && programs)
        plain = plain_command(command[2], l->cwd, env.vars);
    if (plain != NULL)
        task.command = (const char *const *)plain;
    if (rc == 0)
        rc = run_task(l, &task, err);
    free(plain);
    environment_fini(&env);
    buf_fini(&filled);
    free(saving);
    free(restore);
    return rc;
}

static int
make_prepare_folder(const struct trial *t, struct err *err)
{
    char *folder = file_join(t->folder, TRIAL_PREPARE);
    int rc = trial_folder_prepare(folder, err);

    free(folder);
    return rc;
}

int
launch_prepare(const struct launch *l, struct trial *t, struct err *err)
{
    struct json *doc = launch_parameters(l, t, err);
    int rc = doc == NULL ? -1 : trial_place(t, l->experiment_folder, err);

    if (rc == 0)
        rc = trial_folder_make(t, json_root(doc), l->needs, err);
    if (rc == 0 && t->claim.held)
        rc = claim_write(&t->claim, t->folder, err);
    if (rc == 0)
        rc = make_prepare_folder(t, err);
    if (rc == 0)
        rc = start_phase(l, t, true, json_root(doc), err);
    json_free(doc);
    return rc;
}

/* The files of one that was prepared, where they are closed: an offer that
 * failed, or another manager, had them open. */
static int
open_folder(const struct launch *l, struct trial *t, struct err *err)
{
    trial_folder_open(t, l->needs);
    return t->unanswered.fd >= 0 ? 0
                                 : unanswered_open(&t->unanswered, t->folder,
                                                   l->needs->elsewhere, err);
}

int
launch_trial(const struct launch *l, struct trial *t, struct err *err)
{
    bool programs = launch_has_programs(l);
    struct json *doc = programs
                           ? launch_parameters(l, t, err)
                           : json_parse(t->parameters, strlen(t->parameters),
                                        JSON_STRICT, err);
    int rc = doc == NULL ? -1 : trial_place(t, l->experiment_folder, err);

    if (rc == 0 && programs)
        rc = t->state == TRIAL_PREPARED
                 ? open_folder(l, t, err)
                 : trial_folder_make(t, json_root(doc), l->needs, err);
    if (rc == 0 && t->claim.held)
        rc = claim_write(&t->claim, t->folder, err);
    if (rc == 0)
        rc = start_phase(l, t, false, json_root(doc), err);
    json_free(doc);
    return rc;
}

int
launch_folder(const struct launch *l, struct trial *t, struct err *err)
{
    struct json *doc = launch_parameters(l, t, err);
    int rc =
        doc == NULL ? -1 : trial_folder_make(t, json_root(doc), l->needs, err);

    json_free(doc);
    return rc;
}

int
launch_again(const struct launch *l, struct trial *t,
             const char *const command[], char *const env[], bool prepares,
             struct err *err)
{
    struct runner_task task = task_of(l, t, prepares, command);

    task.env = env;
    if (prepares && make_prepare_folder(t, err) != 0)
        return -1;
    return run_task(l, &task, err);
}

/* ---- what an earlier manager launched ---- */

bool
launch_adopt(const struct launch *l, struct trial *t, bool prepares)
{
    const struct runner_phase phase = {t->folder, prepares};

    t->run = l->runner->ops->adopt(l->runner, t, &phase);
    if (t->run != NULL && t->run->started_ns == 0)
        t->run->started_ns = clock_monotonic_ns(); /* its limits, from now on */
    return t->run != NULL;
}

void
launch_clear(const struct launch *l, const struct trial *t, bool prepares)
{
    const struct runner_phase phase = {t->folder, prepares};

    l->runner->ops->clear(l->runner, &phase);
}
