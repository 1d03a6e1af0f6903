/* SPDX-License-Identifier: MIT */
#include "runner/slurm/jobs.h"

#include "config/cluster.h"
#include "config/wishes.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/grow.h"
#include "core/process.h"
#include "runner/machines.h"
#include "runner/runner.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define START_TRIES 10 /* for a controller that does not answer */
#define START_PAUSE_MS 1000
#define SAID_MAX 800 /* bytes of a complaint */
#define MINUTE_MS 60000
#define NAMES_MAX 100000 /* bytes of a word of a command */

void
jobs_add(struct jobs_command *c, const char *fmt, ...)
{
    char *word;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&word, fmt, args) < 0)
        word = NULL;
    va_end(args);
    if (word == NULL || GROW(c->words, c->n + 1, c->cap) != 0) {
        c->failed = true;
        free(word);
        return;
    }
    c->words[c->n++] = word;
    c->words[c->n] = NULL;
}

void
jobs_clear(struct jobs_command *c)
{
    while (c->n > 0)
        free(c->words[--c->n]);
    free(c->words);
    *c = (struct jobs_command){0};
}

/* ---- run ---- */

char **
jobs_environment(void)
{
    size_t n = 0;
    char **env;

    while (environ[n] != NULL)
        n++;
    env = calloc(n + 1, sizeof *env);
    if (env == NULL)
        return NULL;
    n = 0;
    for (char **var = environ; *var != NULL; var++)
        if (strncmp(*var, "SLURM_", 6) != 0 ||
            strncmp(*var, "SLURM_CONF=", 11) == 0)
            env[n++] = *var;
    return env;
}

/* Reads the file from its start, into a buffer of its own maximum. */
static void
take_file(int fd, struct buf *out)
{
    char part[65536];
    ssize_t n;

    lseek(fd, 0, SEEK_SET);
    while ((n = read(fd, part, sizeof part)) > 0)
        buf_add(out, part, (size_t)n);
}

/* Which key is wrong, and who knows what it could be. */
static const char *
remedy_of(const char *said)
{
    static const struct {
        const char *said, *remedy;
    } remedies[] = {
        {"nvalid partition", "partition: expected one that sinfo -s lists"},
        {"nvalid account", "account: expected one that sacctmgr show "
                           "associations user=$USER lists"},
        {"nvalid qos", "qos: expected one that sacctmgr show associations "
                       "user=$USER format=account,qos%40 lists"},
        {"nvalid feature", "constraint: expected features that sinfo -o "
                           "'%n %f' lists"},
        {"time limit is invalid", "time, or maxTrialDuration: expected at most "
                                  "what sinfo -o '%P %l' lists"},
        {"node configuration is not available",
         "cpusPerTask, memory, gres, nodes: expected at most what sinfo -o "
         "'%n %c %m %G' lists"},
    };

    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strstr(said, remedies[i].said) != NULL)
            return remedies[i].remedy;
    return NULL;
}

/* What a command complains of, as one line. */
static int
complain(const struct jobs_command *c, int fd, const siginfo_t *end,
         struct err *err)
{
    char said[SAID_MAX];
    const char *remedy;
    ssize_t n = pread(fd, said, sizeof said - 1, 0);

    while (n > 0 && said[n - 1] == '\n')
        n--;
    said[n > 0 ? n : 0] = '\0';
    for (char *at = said; (at = strchr(at, '\n')) != NULL;)
        *at = ';';
    remedy = remedy_of(said);
    if (said[0] != '\0')
        return err_set(err, ERR_INPUT, "%s%s%s%s", said,
                       remedy != NULL ? " (" : "", remedy != NULL ? remedy : "",
                       remedy != NULL ? ")" : "");
    return err_set(
        err, ERR_INPUT, "%s: ended with %s %d, and said nothing", c->words[0],
        end->si_code == CLD_EXITED ? "exit status" : "signal", end->si_status);
}

static int
run_with(const struct jobs_command *c, char **env, const int files[2],
         struct buf *out, struct err *err)
{
    struct process_spawn how = {.argv = (const char *const *)c->words,
                                .along_path = true,
                                .env = env,
                                .files = {PROCESS_NULL, files[0], files[1]}};
    siginfo_t end;
    int pidfd;

    if (process_spawn(&how, &pidfd, NULL) < 0 && errno == ENOENT)
        return err_set(err, ERR_CONFIG,
                       "%s is not found along PATH: install Slurm's commands "
                       "where tunepipe runs (Debian: slurm-client), or run it "
                       "on a node that has them",
                       c->words[0]);
    else if (pidfd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot start", c->words[0]);
    end = process_reap(&pidfd);
    if (end.si_code != CLD_EXITED || end.si_status != 0)
        return complain(c, files[1], &end, err);
    take_file(files[0], out);
    return buf_check(out, c->words[0], err);
}

int
jobs_run(const struct jobs_command *c, struct buf *out, struct err *err)
{
    char **env = jobs_environment();
    int files[2] = {memfd_create("out", MFD_CLOEXEC),
                    memfd_create("err", MFD_CLOEXEC)};
    int rc;

    if (c->failed || env == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (files[0] < 0 || files[1] < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot start", c->words[0]);
    else
        rc = run_with(c, env, files, out, err);
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0)
            close(files[i]);
    free(env);
    return rc;
}

bool
jobs_unreached(const struct err *err)
{
    return strstr(err->text, "Unable to contact") != NULL ||
           strstr(err->text, "timed out") != NULL;
}

/* ---- submitted ---- */

uint64_t
jobs_minutes(const struct runner_setup *setup)
{
    int64_t ms = setup->max_ms + setup->grace_ms + setup->cluster->save_ms;

    return setup->max_ms > 0 ? (uint64_t)(ms / MINUTE_MS) + 2 : 0;
}

static void
add_option(struct jobs_command *c, const char *name, const char *value)
{
    if (value != NULL)
        jobs_add(c, "--%s=%s", name, value);
}

static void
add_limits(struct jobs_command *c, const struct runner_setup *setup)
{
    const struct cluster *of = setup->cluster;
    const struct wishes *w = setup->wishes;
    uint64_t minutes = jobs_minutes(setup);

    add_option(c, "time", of->time);
    if (of->time == NULL && minutes > 0)
        jobs_add(c, "--time=%llu", (unsigned long long)minutes);
    add_option(c, "mem", of->memory);
    if (of->memory == NULL && w->memory > 0)
        jobs_add(c, "--mem=%lluM",
                 (unsigned long long)((w->memory + (1 << 20) - 1) >> 20));
    add_option(c, "gres", of->gres);
    if (of->gres == NULL && w->devices > 0)
        jobs_add(c, "--gres=gpu:%llu", (unsigned long long)w->devices);
}

static void
add_place(struct jobs_command *c, const struct runner_setup *setup)
{
    const struct cluster *of = setup->cluster;

    add_option(c, "partition", of->partition);
    add_option(c, "account", of->account);
    add_option(c, "qos", of->qos);
    add_option(c, "constraint", of->constraint);
    add_option(c, "nodes", of->nodes);
    if (of->cpus > 0)
        jobs_add(c, "--cpus-per-task=%llu", (unsigned long long)of->cpus);
    add_limits(c, setup);
}

static void
add_extra(struct jobs_command *c, const struct runner_setup *setup)
{
    for (size_t i = 0; i < setup->cluster->n_extra; i++)
        jobs_add(c, "%s", setup->cluster->extra[i]);
}

void
jobs_options(struct jobs_command *c, const struct runner_setup *setup)
{
    jobs_add(c, "sbatch");
    jobs_add(c, "--parsable");
    jobs_add(c, "--no-requeue");
    jobs_add(c, "--open-mode=append");
    add_place(c, setup);
    jobs_add(c, "--signal=B:USR1@%lld",
             (long long)(setup->cluster->save_ms + 999) / 1000);
    add_extra(c, setup);
}

void
jobs_allocate(struct jobs_command *c, const char *name,
              const struct runner_setup *setup)
{
    jobs_add(c, "srun");
    jobs_add(c, "--job-name=%s", name);
    jobs_add(c, "--ntasks=1");
    add_place(c, setup);
    if (setup->cluster->nodes == NULL)
        jobs_add(c, "--nodes=1");
    add_extra(c, setup);
    jobs_exclude(c, setup);
}

void
jobs_step(struct jobs_command *c, const char *job, const char *node)
{
    jobs_add(c, "srun");
    jobs_add(c, "--jobid=%s", job);
    jobs_add(c, "--nodelist=%s", node);
    jobs_add(c, "--nodes=1");
    jobs_add(c, "--ntasks=1");
    jobs_add(c, "--overlap");
    jobs_add(c, "--mem=0");
    jobs_add(c, "--quiet");
}

/* The last of sbatch's options counts alone: what is left out stands behind
 * what the user's own leaves out. */
static void
add_excluded(const struct runner_setup *setup, struct buf *out)
{
    static const char own[] = "--exclude=";

    for (size_t i = 0; i < setup->cluster->n_extra; i++)
        if (strncmp(setup->cluster->extra[i], own, strlen(own)) == 0) {
            buf_clear(out);
            buf_add_text(out, setup->cluster->extra[i] + strlen(own));
            buf_add_char(out, ',');
        }
    if (setup->machines != NULL)
        machines_add_names(setup->machines, out);
    if (out->len > 0 && out->data[out->len - 1] == ',')
        out->len--;
}

void
jobs_exclude(struct jobs_command *c, const struct runner_setup *setup)
{
    struct buf names;

    buf_init(&names, NAMES_MAX);
    add_excluded(setup, &names);
    if (names.len > 0)
        jobs_add(c, "--exclude=%s", buf_text(&names));
    buf_fini(&names);
}

void
jobs_exclude_queued(struct jobs_command *c, const struct runner_setup *setup,
                    const char *ids)
{
    struct buf names;

    buf_init(&names, NAMES_MAX);
    add_excluded(setup, &names);
    jobs_add(c, "scontrol");
    jobs_add(c, "update");
    jobs_add(c, "JobId=%s", ids);
    jobs_add(c, "ExcNodeList=%s", buf_text(&names));
    buf_fini(&names);
}

/* ---- tried ---- */

static void say(const struct runner_setup *setup, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
say(const struct runner_setup *setup, const char *fmt, ...)
{
    char line[1200] = "tunepipe: warning: ";
    size_t len = strlen(line);
    va_list args;

    va_start(args, fmt);
    vsnprintf(line + len, sizeof line - len, fmt, args);
    va_end(args);
    if (setup->say != NULL)
        setup->say(setup->ctx, line);
}

int
jobs_run_patiently(const struct runner_setup *setup,
                   const struct jobs_command *c, struct buf *out,
                   struct err *err)
{
    for (int i = 1; jobs_run(c, out, err) != 0; i++) {
        if (!jobs_unreached(err) || i == START_TRIES)
            return -1;
        if (i == 1)
            say(setup, "%s; asked again", err->text);
        poll(NULL, 0, START_PAUSE_MS);
    }
    return 0;
}

/* Slurm's test says that no node can run such a job where those that can are
 * down; a job that it takes all the same is not begun, and cancelled. */
static bool
is_taken(const struct runner_setup *setup)
{
    struct jobs_command c = {0};
    struct buf id;
    bool taken;

    buf_init(&id, 65536);
    jobs_options(&c, setup);
    jobs_add(&c, "--hold");
    jobs_add(&c, "--job-name=tunepipe-test");
    jobs_add(&c, "--output=/dev/null");
    jobs_add(&c, "--wrap=true");
    taken = jobs_run(&c, &id, NULL) == 0 && id.len > 0;
    jobs_clear(&c);
    if (taken) {
        jobs_add(&c, "scancel");
        jobs_add(&c, "%.*s", (int)strspn(buf_text(&id), "0123456789"),
                 buf_text(&id));
        jobs_run(&c, &id, NULL);
        jobs_clear(&c);
    }
    buf_fini(&id);
    return taken;
}

/* Whether Slurm would take such jobs, before the first trial needs one. */
int
jobs_try(const struct runner_setup *setup, struct err *err)
{
    struct jobs_command c = {0};
    struct buf said;
    int rc;

    buf_init(&said, 65536);
    jobs_options(&c, setup);
    jobs_add(&c, "--test-only");
    jobs_add(&c, "--wrap=true");
    rc = jobs_run_patiently(setup, &c, &said, err);
    jobs_clear(&c);
    buf_fini(&said);
    if (rc != 0 && strstr(err->text, "node configuration is not available") &&
        is_taken(setup)) {
        say(setup, "no node takes such jobs now: they wait for one (sinfo -R)");
        *err = (struct err){0};
        rc = 0;
    }
    if (rc != 0 && !jobs_unreached(err)) {
        err_place(err, "trainingService: Slurm would not take its jobs");
        err->code = ERR_CONFIG;
    } else if (rc != 0) {
        err->code = ERR_SYSTEM;
    }
    return rc;
}

/* ---- looked at ---- */

void
jobs_look(struct jobs_command *c)
{
    jobs_add(c, "squeue");
    jobs_add(c, "--noheader");
    jobs_add(c, "--me");
    jobs_add(c, "--array");
    jobs_add(c, "--states=all");
    jobs_add(c, "--format=%%i|%%T|%%r|%%N|%%o");
}

void
jobs_find(struct jobs_command *c, const char *name)
{
    jobs_look(c);
    jobs_add(c, "--name=%s", name);
}

static enum job_stage
stage_of(const char *state)
{
    static const struct {
        const char *state;
        enum job_stage stage;
    } states[] = {
        {"PENDING", JOB_QUEUED},       {"CONFIGURING", JOB_QUEUED},
        {"REQUEUED", JOB_QUEUED},      {"REQUEUE_FED", JOB_QUEUED},
        {"REQUEUE_HOLD", JOB_QUEUED},  {"SPECIAL_EXIT", JOB_QUEUED},
        {"RESV_DEL_HOLD", JOB_QUEUED}, {"RUNNING", JOB_RUNS},
        {"COMPLETING", JOB_RUNS},      {"SUSPENDED", JOB_RUNS},
        {"STOPPED", JOB_RUNS},         {"SIGNALING", JOB_RUNS},
        {"STAGE_OUT", JOB_RUNS},       {"RESIZING", JOB_RUNS},
        {"COMPLETED", JOB_OVER},       {"FAILED", JOB_OVER},
        {"OUT_OF_MEMORY", JOB_OVER},
    };

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].state, state) == 0)
            return states[i].stage;
    return JOB_CUT; /* CANCELLED, TIMEOUT, PREEMPTED, NODE_FAIL, ... */
}

bool
jobs_line(char *line, struct job_line *out)
{
    char *words[5];

    for (int i = 0; i < 5; i++) {
        words[i] = line;
        line = i < 4 ? strchr(line, '|') : NULL;
        if (i < 4 && line == NULL)
            return false;
        if (line != NULL)
            *line++ = '\0';
    }
    *out = (struct job_line){words[0], words[1], words[2],
                             words[3], words[4], stage_of(words[1])};
    return true;
}
