/* SPDX-License-Identifier: MIT */
#include "manager/launch.h"

#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "manager/adopt.h"
#include "manager/checkpoints.h"
#include "manager/trial.h"
#include "manager/trial_folder.h"
#include "trial/files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With no manager to adopt it for so long, a trial ends. */
#define ADOPT_MS 10000
#define WORDS_MAX 64

/* The first that is there: FOLDER/PLACE without its last part, to be freed.  In
 * the source tree the module lies where it was written. */
static char *
find_python_folder(const char *folder)
{
    static const char *const places[] = {"../share/tunepipe",
                                         "../../src/trial"};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *module = NULL, *found = NULL;

        if (asprintf(&module, "%s/%s/" TRIAL_PYTHON_MODULE, folder, places[i]) <
            0)
            return NULL;
        if (access(module, R_OK) == 0) {
            *strrchr(module, '/') = '\0';
            found = realpath(module, NULL);
        }
        free(module);
        if (found != NULL)
            return found;
    }
    return NULL;
}

int
launch_open(struct launch *l, struct err *err)
{
    static const char *const places[] = {
        "%s/" TRIAL_WRAPPER_PROGRAM,
        "%s/../libexec/tunepipe/" TRIAL_WRAPPER_PROGRAM,
#ifdef TP_WRAPPERDIR
        TP_WRAPPERDIR "/" TRIAL_WRAPPER_PROGRAM,
#endif
    };

    l->wrapper = NULL;
    l->program_folder = file_program_folder();
    if (l->program_folder == NULL)
        return err_errno(err, ERR_SYSTEM, "cannot tell where tunepipe lies");
    l->python_folder = find_python_folder(l->program_folder);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (asprintf(&l->wrapper, places[i], l->program_folder) < 0)
            l->wrapper = NULL;
        if (l->wrapper != NULL && access(l->wrapper, X_OK) == 0)
            return 0;
        free(l->wrapper);
        l->wrapper = NULL;
    }
    return err_set(err, ERR_SYSTEM,
                   TRIAL_WRAPPER_PROGRAM " is neither in %s nor in "
                                         "../libexec/tunepipe",
                   l->program_folder);
}

void
launch_close(struct launch *l)
{
    free(l->wrapper);
    free(l->program_folder);
    free(l->python_folder);
    l->wrapper = l->program_folder = l->python_folder = NULL;
}

/* What a wrapper is to run, and in which folder it keeps its files. */
struct task {
    const char *folder;
    const char *const *command;
    char *const *env;
};

static int
start_wrapper(const struct launch *l, struct trial *t, const struct task *task,
              struct err *err)
{
    char grace[32], adopt[32], limit[32];
    char *words = file_join(task->folder, TRIAL_STDERR);
    bool grouped = t->claim.cgroup[0] != '\0';
    const char *argv[WORDS_MAX] = {l->wrapper,
                                   "--dir",
                                   task->folder,
                                   "--cwd",
                                   l->cwd,
                                   "--grace-ms",
                                   grace,
                                   "--adopt-ms",
                                   adopt,
                                   grouped ? "--cgroup" : "--limit-bytes",
                                   grouped ? t->claim.cgroup : limit,
                                   "--"};
    const char *const *word = task->command;
    size_t n = 12;
    struct process_spawn how = {
        .argv = argv,
        .env = task->env,
        .files = {PROCESS_NULL, PROCESS_NULL, -1},
        .session = true,
        .blocked = SIGTERM, /* until it is ready: a stop may come at once */
    };
    pid_t pid = -1;

    if (words == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    while (n + 1 < WORDS_MAX && *word != NULL)
        argv[n++] = *word++;
    snprintf(grace, sizeof grace, "%lld", (long long)l->grace_ms);
    snprintf(adopt, sizeof adopt, "%d", ADOPT_MS);
    snprintf(limit, sizeof limit, "%llu", (unsigned long long)t->claim.limit);
    how.files[2] =
        open(words, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (how.files[2] >= 0)
        pid = process_spawn(&how, &t->pidfd, NULL);
    if (pid > 0)
        t->pid = pid;
    else
        err_errno(err, ERR_SYSTEM, "%s: cannot start", l->wrapper);
    if (how.files[2] >= 0)
        close(how.files[2]);
    free(words);
    return pid > 0 ? 0 : -1;
}

/* The lease first: the wrapper looks for it. */
static int
start_task(const struct launch *l, struct trial *t, struct task *task,
           bool prepares, struct jval parameters, struct err *err)
{
    struct environment_of of = {
        .program_folder = l->program_folder,
        .python_folder = l->python_folder,
        .experiment_folder = l->experiment_folder,
        .code_folder = l->cwd,
        .seed = l->seed,
        .minimize = l->minimize,
        .lockstep = l->lockstep,
        .prepares = prepares,
    };
    char *saving = NULL, *restore = NULL;
    struct environment env = {0};
    int rc = trial_folder_lease(t, task->folder, err);

    if (rc == 0)
        rc = checkpoints_begin(l->checkpoints, t, err);
    if (rc == 0)
        rc = trial_folder_write_origin(t, err);
    if (rc == 0) {
        of.saving = saving = checkpoints_saving(l->checkpoints, t);
        of.restore = restore = checkpoints_restore(l->checkpoints, t);
        rc = environment_make(&env, &of, t, parameters, err);
    }
    task->env = env.vars;
    if (rc == 0)
        rc = trial_folder_write_command(task->folder, l->cwd, task->command,
                                        task->env, err);
    if (rc == 0)
        rc = start_wrapper(l, t, task, err);
    environment_fini(&env);
    free(saving);
    free(restore);
    return rc;
}

int
launch_prepare(const struct launch *l, struct trial *t, struct err *err)
{
    const char *const command[] = {"/bin/sh", "-c", l->prepare_command, NULL};
    struct json *doc =
        json_parse(t->parameters, strlen(t->parameters), JSON_STRICT, err);
    int rc = doc == NULL ? -1 : trial_place(t, l->experiment_folder, err);
    char *folder = rc == 0 ? file_join(t->folder, TRIAL_PREPARE) : NULL;
    struct task task = {.folder = folder, .command = command};

    if (rc == 0)
        rc = trial_folder_make(t, json_root(doc), l->wants_output, err);
    if (rc == 0 && t->claim.held)
        rc = claim_write(&t->claim, t->folder, err);
    if (rc == 0)
        rc = trial_folder_prepare(folder, err);
    if (rc == 0)
        rc = start_task(l, t, &task, true, json_root(doc), err);
    free(folder);
    json_free(doc);
    return rc;
}

/* The files of one that was prepared, where they are closed: an offer that
 * failed, or another manager, had them open. */
static int
open_folder(const struct launch *l, struct trial *t, struct err *err)
{
    if (t->report.fd < 0)
        adopt_files(t, l->wants_output);
    return t->unanswered.fd >= 0
               ? 0
               : unanswered_open(&t->unanswered, t->folder, err);
}

int
launch_trial(const struct launch *l, struct trial *t, struct err *err)
{
    const char *const command[] = {"/bin/sh", "-c", l->command, NULL};
    struct json *doc =
        json_parse(t->parameters, strlen(t->parameters), JSON_STRICT, err);
    int rc = doc == NULL ? -1 : trial_place(t, l->experiment_folder, err);
    struct task task = {.folder = t->folder, .command = command};

    if (rc == 0)
        rc = t->state == TRIAL_PREPARED
                 ? open_folder(l, t, err)
                 : trial_folder_make(t, json_root(doc), l->wants_output, err);
    if (rc == 0 && t->claim.held)
        rc = claim_write(&t->claim, t->folder, err);
    if (rc == 0)
        rc = start_task(l, t, &task, false, json_root(doc), err);
    json_free(doc);
    return rc;
}

int
launch_folder(const struct launch *l, struct trial *t, struct err *err)
{
    struct json *doc =
        json_parse(t->parameters, strlen(t->parameters), JSON_STRICT, err);
    int rc = doc == NULL
                 ? -1
                 : trial_folder_make(t, json_root(doc), l->wants_output, err);

    json_free(doc);
    return rc;
}

int
launch_again(const struct launch *l, struct trial *t,
             const char *const command[], char *const env[], bool prepares,
             struct err *err)
{
    char *folder = prepares ? file_join(t->folder, TRIAL_PREPARE) : t->folder;
    struct task task = {folder, command, env};
    int rc = prepares ? trial_folder_prepare(folder, err) : 0;

    if (rc == 0)
        rc = trial_folder_lease(t, folder, err);
    if (rc == 0)
        rc = trial_folder_write_command(folder, l->cwd, command, env, err);
    if (rc == 0)
        rc = start_wrapper(l, t, &task, err);
    if (prepares)
        free(folder);
    return rc;
}
