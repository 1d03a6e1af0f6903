/* SPDX-License-Identifier: MIT */
#include "manager/rerun.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "core/stop_signals.h"
#include "json.h"
#include "manager/launch.h"
#include "manager/metrics.h"
#include "manager/parameters.h"
#include "manager/trial_folder.h"
#include "manager/trial.h"
#include "pack/packs.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define PART_MAX ((size_t)64 << 20)
/* Where the rerun saves checkpoints, for nobody to go on from. */
#define SAVING "checkpoint"

/* ---- what the folder of the trial keeps ---- */

static int
read_part(const char *folder, const char *name, struct buf *out,
          struct err *err)
{
    char *path = file_join(folder, name);
    int rc;

    buf_init(out, 2 * PART_MAX);
    rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                      : packs_read(NULL, path, PART_MAX, out, err);
    free(path);
    return rc;
}

/* Takes the parameters as the trial got them; without them those of its TR
 * stay. */
static void
read_given(const char *from, struct suggestion *s)
{
    struct json *doc = NULL;
    struct buf text;
    char *given;

    if (read_part(from, TRIAL_PARAMETERS_JSON, &text, NULL) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_STRICT, NULL);
    given = doc == NULL ? NULL : jval_copy_text(json_root(doc));
    if (given != NULL) {
        free(s->parameters);
        s->parameters = given;
    }
    json_free(doc);
    buf_fini(&text);
}

static struct trial *
read_trial(const char *from, const char *to, struct err *err)
{
    char *record = trial_folder_record(from, NULL);
    struct trial *t = NULL;
    struct suggestion s;

    if (record == NULL) {
        err_set(err, ERR_INPUT, "%s: does not tell what the trial was to run",
                from);
        return NULL;
    }
    if (suggestion_read(record, strlen(record), &s, err) == 0) {
        read_given(from, &s);
        t = trial_new(0, record, strlen(record), s.id, s.parameters);
        if (t != NULL)
            t->folder = strdup(to);
        if (t == NULL || t->folder == NULL)
            err_set(err, ERR_MEMORY, "out of memory");
        suggestion_fini(&s);
    }
    free(record);
    if (t != NULL && t->folder == NULL) {
        trial_free(t);
        t = NULL;
    }
    return t;
}

/* The variable with `to` in place of the folder `from`, where its value is that
 * folder or a path in it; checkpoints are saved in another place, too.  NULL:
 * out of memory. */
static char *
relocate_variable(const char *var, const char *from, const char *to)
{
    size_t name = strcspn(var, "="), len = strlen(from);
    const char *value = var[name] == '=' ? var + name + 1 : "";
    char *out = NULL;

    if (strncmp(var, TRIAL_ENV_CHECKPOINT "=",
                strlen(TRIAL_ENV_CHECKPOINT "=")) == 0)
        return asprintf(&out, TRIAL_ENV_CHECKPOINT "=%s/" SAVING, to) < 0 ? NULL
                                                                          : out;
    if (strncmp(value, from, len) != 0 ||
        (value[len] != '\0' && value[len] != '/'))
        return strdup(var);
    if (asprintf(&out, "%.*s=%s%s", (int)name, var, to, value + len) < 0)
        return NULL;
    return out;
}

static void
free_environment(char **env)
{
    for (size_t i = 0; env != NULL && env[i] != NULL; i++)
        free(env[i]);
    free(env);
}

static char **
relocate_environment(const struct trial_command *r, const char *from,
                     const char *to, struct err *err)
{
    size_t n = 0;
    char **env;

    while (r->env[n] != NULL)
        n++;
    env = calloc(n + 1, sizeof *env);
    for (size_t i = 0; env != NULL && i < n; i++) {
        env[i] = relocate_variable(r->env[i], from, to);
        if (env[i] == NULL) {
            free_environment(env);
            env = NULL;
        }
    }
    if (env == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    return env;
}

static bool
has(const char *folder, const char *name)
{
    char *path = file_join(folder, name);
    bool there = path != NULL && packs_has(NULL, path);

    free(path);
    return there;
}

/* ---- what the trial reports ---- */

#define VALUE_MAX ((size_t)64 << 20)

struct reports {
    const struct patterns *pattern; /* NULL: none */
    const struct objectives *of;    /* NULL: results are one number */
    struct metrics metrics;
    struct pattern_values found;
    struct rerun_outcome *out;
    struct trial_needs needs;
    int watch_fd; /* readable when there is more to look at; -1: not open */
};

static void
take_values(const struct reports *r, const struct metric_line *metric)
{
    struct json *doc;

    if (r->of == NULL || r->out->has_final)
        return;
    doc = json_parse(metric->json, metric->len, JSON_NAN, NULL);
    if (doc != NULL)
        objectives_take_some(r->of, json_root(doc), &r->out->values, NULL);
    json_free(doc);
}

/* As in a run, the first final result counts, the last of the intermediate
 * ones, and nothing after the trial has said that it is done. */
static void
take_metric(struct reports *r, const struct metric_line *metric)
{
    struct rerun_outcome *out = r->out;

    if (out->done)
        return;
    take_values(r, metric);
    if (metric->final && !out->has_final)
        out->final = metric->value;
    if (!metric->final)
        out->latest = metric->value;
    out->has_final = out->has_final || metric->final;
    out->has_latest = out->has_latest || !metric->final;
    out->done = metric->done;
}

static void
take_line(void *ctx, const char *line, size_t len, bool too_long)
{
    struct metric_line metric;
    struct reports *r = ctx;

    if (metrics_line(&r->metrics, r->of, line, len, too_long, &metric, NULL) ==
            METRICS_METRIC &&
        (metric.final || r->pattern == NULL))
        take_metric(r, &metric);
}

static void
take_record(void *ctx, const char *json, size_t len, int64_t at)
{
    struct metric_line metric;
    struct reports *r = ctx;
    struct buf value;

    (void)at;
    buf_init(&value, VALUE_MAX);
    if (metrics_nni(&r->metrics, r->of, json, len, &value, &metric, NULL) ==
            METRICS_METRIC &&
        (metric.final || r->pattern == NULL))
        take_metric(r, &metric);
    buf_fini(&value);
}

static void
take_output(void *ctx, const char *line, size_t len, bool too_long)
{
    struct metric_line metric = {0};
    struct reports *r = ctx;
    struct buf json;

    (void)too_long;
    buf_init(&json, VALUE_MAX);
    if (memchr(line, '\0', len) == NULL &&
        patterns_take(r->pattern, &r->found, line, &json, &metric.value)) {
        metric.json = buf_text(&json);
        metric.len = json.len;
        take_metric(r, &metric);
    }
    buf_fini(&json);
}

static void
reports_close(struct reports *r)
{
    if (r->watch_fd >= 0)
        close(r->watch_fd);
    r->watch_fd = -1;
}

/* Watches the folder; where the system allows no further watch it is read at
 * the end. */
static void
reports_open(struct reports *r, const char *folder)
{
    const uint32_t what = IN_MODIFY | IN_CREATE | IN_MOVED_TO;

    r->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (r->watch_fd >= 0 && inotify_add_watch(r->watch_fd, folder, what) < 0)
        reports_close(r);
}

/* Reads what the trial has reported; true when it has just said that it is
 * done.
 */
static bool
reports_look(struct reports *r, struct trial *t)
{
    char events[sizeof(struct inotify_event) + NAME_MAX + 1];
    bool was_done = r->out->done;

    while (read(r->watch_fd, events, sizeof events) > 0)
        continue;
    trial_folder_open(t, &r->needs);
    if (t->report.fd >= 0)
        tail_read(&t->report, SIZE_MAX, take_line, r, NULL);
    return r->out->done && !was_done;
}

/* The trial has ended: reads all that is left. */
static void
reports_end(struct reports *r, struct trial *t, bool last_is_final)
{
    struct rerun_outcome *out = r->out;
    const struct outcome *o = &out->outcome;

    trial_folder_open(t, &r->needs);
    if (t->report.fd >= 0)
        tail_drain(&t->report, SIZE_MAX, take_line, r, NULL);
    if (t->nni.fd >= 0)
        nnifile_drain(&t->nni, SIZE_MAX, take_record, r, NULL);
    if (t->out.fd >= 0) {
        tail_drain(&t->out, SIZE_MAX, take_output, r, NULL);
        tail_rest(&t->out, take_output, r);
    }
    if (last_is_final && !out->has_final && out->has_latest &&
        o->kind == OUTCOME_EXITED && o->number == 0) {
        out->has_final = true;
        out->final = out->latest;
    }
}

/* ---- while it runs ---- */

/* Waits for the trial's end, and ends it where a signal wants that or where the
 * trial has said that it is done. */
static int
await_end(struct trial *t, int signals, struct reports *reports,
          struct err *err)
{
    struct runner *runner = t->run->runner;
    struct pollfd fds[] = {
        {.fd = runner->fd, .events = POLLIN},
        {.fd = signals, .events = POLLIN},
        {.fd = reports->watch_fd, .events = POLLIN},
    };
    struct signalfd_siginfo info;

    if (runner->ops->watch(t->run) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot wait for the trial");
    for (;;) {
        if (poll(fds, sizeof fds / sizeof *fds, -1) < 0 && errno != EINTR)
            return err_errno(err, ERR_SYSTEM, "cannot wait for the trial");
        while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
            run_stop(t->run, RUN_TERMINATE);
        if (fds[2].revents != 0 && reports_look(reports, t))
            run_stop(t->run, RUN_TERMINATE);
        if (fds[0].revents != 0 && runner->ops->look(runner) != NULL)
            return 0;
    }
}

/* ---- all of it ---- */

struct rerun {
    const struct experiment *x;
    const char *from, *to;
    struct launch launch;
    struct trial *trial;
    struct reports reports;
    int signals;
};

static int
start(struct rerun *r, const struct trial_command *command, bool prepares,
      struct err *err)
{
    char **env = relocate_environment(command, r->from, r->to, err);
    int rc = -1;

    r->launch.cwd = command->folder;
    if (env != NULL)
        rc = launch_again(&r->launch, r->trial,
                          (const char *const *)command->argv, env, prepares,
                          err);
    free_environment(env);
    return rc;
}

/* Makes the folder, with a place for checkpoints. */
static int
make_folder(struct rerun *r, struct err *err)
{
    char *saving = file_join(r->to, SAVING);
    int rc = saving == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                            : launch_folder(&r->launch, r->trial, err);

    if (rc == 0)
        rc = file_make_folder(saving, err);
    free(saving);
    return rc;
}

static char *
phase_folder(const char *folder, bool prepares)
{
    return prepares ? file_join(folder, TRIAL_PREPARE) : strdup(folder);
}

/* Whether the checkpoint that the trial went on from is still there. */
static int
check_checkpoint(const struct trial_command *command, struct err *err)
{
    static const char name[] = TRIAL_ENV_RESTORE "=";

    for (size_t i = 0; command->env[i] != NULL; i++) {
        const char *folder = command->env[i] + sizeof name - 1;

        if (strncmp(command->env[i], name, sizeof name - 1) == 0 &&
            access(folder, F_OK) != 0)
            return err_set(err, ERR_CONFIG,
                           "the checkpoint that the trial went on from is "
                           "deleted (%s), which `checkpoints: {keep: all}` "
                           "prevents",
                           folder);
    }
    return 0;
}

/* Checks that the trial can be run, before anything is made. */
static int
check_command(const struct rerun *r, struct err *err)
{
    struct trial_command command;
    int rc = trial_command_load(&command, r->from, NULL, err);

    if (rc != 0)
        return -1;
    rc = check_checkpoint(&command, err);
    trial_command_fini(&command);
    return rc;
}

/* Runs one phase of the trial from its start to its end. */
static int
run_phase(struct rerun *r, bool prepares, struct outcome *out, struct err *err)
{
    char *from = phase_folder(r->from, prepares);
    struct trial *t = r->trial;
    struct trial_command command = {0};
    struct run_end end;
    int rc = -1;

    if (from == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (trial_command_load(&command, from, NULL, err) == 0)
        rc = start(r, &command, prepares, err);
    if (rc == 0)
        rc = await_end(t, r->signals, &r->reports, err);
    if (rc == 0)
        rc = run_end(&t->run, &end, err);
    if (rc == 0)
        *out = end.outcome;
    run_leave(&t->run);
    trial_command_fini(&command);
    free(from);
    return rc;
}

static bool
is_good(const struct outcome *o)
{
    return o->kind == OUTCOME_EXITED && o->number == 0;
}

static int
run(struct rerun *r, const struct patterns *pattern, struct rerun_outcome *out,
    struct err *err)
{
    int rc = launch_open(&r->launch, runner_kind(PLATFORM_local), r->x, err);

    r->reports = (struct reports){
        .pattern = pattern,
        .of = r->x->objectives,
        .out = out,
        .needs = {.output = pattern != NULL,
                  .unwaited = true, /* whoever waits for an answer goes on */
                  .nni = has(r->from, TRIAL_NNI_FOLDER)},
        .watch_fd = -1};
    r->launch.needs = &r->reports.needs;
    out->outcome.kind = OUTCOME_EXITED; /* so far all went well */
    if (rc == 0)
        rc = make_folder(r, err);
    if (rc == 0)
        rc = runner_settle(r->launch.runner, r->to, err);
    if (rc == 0)
        reports_open(&r->reports, r->to);
    if (rc == 0 && has(r->from, TRIAL_PREPARE))
        rc = run_phase(r, true, &out->outcome, err);
    if (rc == 0 && is_good(&out->outcome))
        rc = run_phase(r, false, &out->outcome, err);
    if (rc == 0)
        reports_end(&r->reports, r->trial, r->x->last_is_final);
    reports_close(&r->reports);
    launch_close(&r->launch);
    return rc;
}

int
rerun_trial(const struct experiment *x, const char *from, const char *to,
            struct rerun_outcome *out, struct err *err)
{
    struct rerun r = {.x = x, .from = from, .to = to};
    struct patterns *pattern = NULL;
    int rc = -1;

    *out = (struct rerun_outcome){0};
    r.signals = stop_signals_open(err);
    if (r.signals >= 0 &&
        (x->n_patterns == 0 || (pattern = patterns_new(x, err)) != NULL) &&
        check_command(&r, err) == 0)
        r.trial = read_trial(from, to, err);
    if (r.trial != NULL)
        rc = run(&r, pattern, out, err);
    trial_free(r.trial);
    patterns_free(pattern);
    if (r.signals >= 0)
        close(r.signals);
    return rc;
}
