/* SPDX-License-Identifier: MIT */
#include "manager/hook_start.h"

#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "core/process.h"
#include "manager/events.h"
#include "manager/hooks.h"
#include "trial/files.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOOK_ENV_EVENT "TUNEPIPE_EVENT"
#define HOOK_ENV_JSON "TUNEPIPE_EVENT_JSON"
#define HOOK_ENV_VALUE "TUNEPIPE_VALUE"
#define OURS_MAX 8

int
hook_call_init(struct hook_call *c, const struct event *e)
{
    *c = (struct hook_call){.name = e->name, .len = e->len};
    c->json = strdup(e->json);
    if (e->trial != NULL)
        c->trial = strdup(e->trial);
    if (e->has_value)
        number_format(e->value, c->value);
    if (c->json != NULL && (e->trial == NULL || c->trial != NULL))
        return 0;
    hook_call_fini(c);
    return -1;
}

void
hook_call_fini(struct hook_call *c)
{
    free(c->json);
    free(c->trial);
}

/* What a hook finds in its environment: ours, then the manager's own. */
struct vars {
    char *ours[OURS_MAX + 1]; /* ends with NULL */
    size_t n_ours;
    char **all;
    bool failed;
};

static void
set(struct vars *v, const char *name, const char *value)
{
    char *var;

    if (asprintf(&var, "%s=%s", name, value) < 0)
        v->failed = true;
    else
        v->ours[v->n_ours++] = var;
}

/* So that a hook can call tunepipe. */
static void
set_path(struct vars *v, const char *program_folder)
{
    const char *path = getenv("PATH");
    char *value;

    if (program_folder == NULL || path == NULL)
        return;
    if (asprintf(&value, "%s:%s", program_folder, path) < 0) {
        v->failed = true;
        return;
    }
    set(v, "PATH", value);
    free(value);
}

static void
make_vars(struct vars *v, const struct hook_start *how,
          const struct hook_call *what)
{
    static const char *const others[] = {HOOK_ENV_JSON, HOOK_ENV_VALUE,
                                         TRIAL_ENV_ID, TRIAL_ENV_DIR, NULL};

    *v = (struct vars){.n_ours = 0};
    set(v, HOOK_ENV_EVENT, event_name(what->name));
    if (what->len <= HOOK_JSON_MAX)
        set(v, HOOK_ENV_JSON, what->json);
    if (what->trial != NULL)
        set(v, TRIAL_ENV_ID, what->trial);
    if (what->value[0] != '\0')
        set(v, HOOK_ENV_VALUE, what->value);
    set(v, TRIAL_ENV_EXPERIMENT_DIR, how->experiment_folder);
    set_path(v, how->program_folder);
    v->all = process_environment(v->ours, others);
    v->failed |= v->all == NULL;
}

static void
vars_fini(struct vars *v)
{
    for (size_t i = 0; i < v->n_ours; i++)
        free(v->ours[i]);
    free(v->all);
}

/* The JSON as a line, to be read from its beginning. */
static int
make_input(const struct hook_call *what, struct err *err)
{
    int fd = memfd_create("event", MFD_CLOEXEC);

    if (fd >= 0 && file_write_all(fd, what->json, what->len, err) == 0 &&
        file_write_all(fd, "\n", 1, err) == 0 && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return err_errno(err, ERR_SYSTEM, "cannot keep the event in memory");
}

static pid_t
start(const struct hook_start *how, int input, char *const env[], int *pidfd,
      struct err *err)
{
    const char *const argv[] = {"/bin/sh", "-c", how->command, NULL};
    const struct process_spawn shell = {
        .argv = argv,
        .env = env,
        .folder = how->cwd,
        .files = {input, how->log_fd, how->log_fd},
    };
    pid_t pid = process_spawn(&shell, pidfd, NULL);

    return pid > 0 ? pid
                   : err_errno(err, ERR_SYSTEM, "%s: cannot start", argv[0]);
}

int
hook_start(const struct hook_start *how, const struct hook_call *what,
           pid_t *pid, int *pidfd, struct err *err)
{
    int input = make_input(what, err);
    struct vars vars;

    *pid = -1;
    if (input < 0)
        return -1;
    make_vars(&vars, how, what);
    if (vars.failed)
        err_set(err, ERR_MEMORY, "out of memory");
    else
        *pid = start(how, input, vars.all, pidfd, err);
    vars_fini(&vars);
    close(input);
    return *pid > 0 ? 0 : -1;
}
