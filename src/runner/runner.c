/* SPDX-License-Identifier: MIT */
#include "runner/runner.h"

#include "core/err.h"
#include "core/file.h"
#include "trial/files.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DECLARED(name) extern const struct runner_ops runner_##name;
#define LISTED(name) [PLATFORM_##name] = &runner_##name,

PLATFORM_LIST(DECLARED)

static const struct runner_ops *const kinds[PLATFORMS] = {
    PLATFORM_LIST(LISTED)};

const struct runner_ops *
runner_kind(enum platform platform)
{
    return kinds[platform];
}

int
runner_settle(struct runner *r, const char *folder, struct err *err)
{
    return r->ops->settle != NULL ? r->ops->settle(r, folder, err) : 0;
}

void
run_stop(struct run *run, enum run_stop how)
{
    if (run != NULL)
        run->runner->ops->stop(run, how);
}

int
run_end(struct run **run, struct run_end *out, struct err *err)
{
    struct run *ended = *run;

    *run = NULL;
    return ended->runner->ops->end(ended, out, err);
}

void
run_leave(struct run **run)
{
    if (*run != NULL)
        (*run)->runner->ops->leave(*run);
    *run = NULL;
}

pid_t
run_pid(const struct run *run)
{
    return run != NULL ? run->pid : 0;
}

void
run_describe(const struct run *run, struct buf *out)
{
    if (run != NULL && run->runner->ops->describe != NULL)
        run->runner->ops->describe(run, out);
}

char *
runner_phase_folder(const struct runner_phase *phase)
{
    return phase->prepares ? file_join(phase->folder, TRIAL_PREPARE)
                           : strdup(phase->folder);
}

/* In the first of the places that holds it. */
char *
runner_wrapper(const char *program_folder, struct err *err)
{
    static const char *const places[] = {
        "%s/" TRIAL_WRAPPER_PROGRAM,
        "%s/../libexec/tunepipe/" TRIAL_WRAPPER_PROGRAM,
#ifdef TP_WRAPPERDIR
        TP_WRAPPERDIR "/" TRIAL_WRAPPER_PROGRAM,
#endif
    };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path;

        if (asprintf(&path, places[i], program_folder) < 0)
            break;
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    err_set(err, ERR_SYSTEM,
            TRIAL_WRAPPER_PROGRAM " is neither in %s nor in "
                                  "../libexec/tunepipe",
            program_folder);
    return NULL;
}
