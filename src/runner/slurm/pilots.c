/* SPDX-License-Identifier: MIT */
/* DESIGN.  A pilot is a run of another runner, whose command is `tunepipe
 * agent`: a job of its own by runner_slurm or, where this process is in an
 * allocation, a step in that by runner_local, one on each node.  So how it is
 * submitted, looked at, ended and found again stands there.
 *
 * Its folder is EXPERIMENT/jobs/pilots/N, in which the agent says how it is
 * reached.  To it leads a step of the same job, `tunepipe agent --attach`,
 * whose standard input and output are the channel; where that ends another one
 * is begun.
 *
 * Where nodes do not see the experiment's folder a job cannot be judged by what
 * it leaves there: a pilot is then `srun` on this machine, which has a job for
 * it, hands on a bundle of programs and code, and tells how the agent ended;
 * where that is reached it says on its standard output. */
#include "runner/slurm/pilots.h"

#include "agent/agent.h"
#include "config/cluster.h"
#include "config/wishes.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "core/process.h"
#include "runner/agents/agents.h"
#include "runner/machines.h"
#include "runner/slurm/bundle.h"
#include "runner/slurm/jobs.h"
#include "trial/files.h"
#include "trial/stderr_tail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PILOTS_FOLDER "jobs/pilots"
#define ATTACH_WORDS "attach" /* what it says */
#define PROGRAM "tunepipe"
#define RETRY_MS 1000
#define RETRY_MAX_MS 30000
#define STEADY_MS 60000 /* a channel that has lasted so long is a good one */
#define FAILURES_MAX 3  /* in a row: no trial can be begun */
#define GOODBYE_MS 5000
#define LOOK_MS 20
#define SAID_MAX 4096
#define ADDRESS_MAX ((size_t)1 << 20) /* and what a shell says before it */

extern const struct runner_ops runner_slurm, runner_local;

struct pilot {
    struct link link;
    uint64_t number;
    char *folder;
    char node[64]; /* "": Slurm chooses */
    struct run *run;
    struct agents_agent *agent;
    char job[32], at[64], socket[128]; /* as it has said; "": not yet */
    char program[1024];                /* which it is, there; "": ours */
    int bridge;                        /* the pidfd of what leads there; -1 */
    int64_t next_ns, pause_ms;         /* when that is begun again */
    bool dismissed, given_up;
};

struct pilots {
    struct agents pool;
    struct runner *under;
    struct runner_setup setup; /* of the one under */
    struct cluster cluster;
    struct wishes wishes;
    struct list pilots;
    uint64_t next;
    char *folder, *program;
    char grace[32], timeout[32], output[32];
    struct bundle bundle; /* for nodes that do not see our folders */
    char *names;  /* the nodes of an allocation, a line each; NULL: in none */
    char job[32]; /* then: its number */
    unsigned failures;
    char why[256]; /* the last one failed */
    int64_t next_ns;
    size_t living;
    bool looked; /* else nothing that was found is this manager's yet */
};

/* ---- a pilot ---- */

static void
remove_files(const struct pilot *p)
{
    static const char *const names[] = {AGENT_ADDRESS, ATTACH_WORDS,
                                        TRIAL_STDOUT,  TRIAL_STDERR,
                                        TRIAL_EXIT,    TRIAL_WRAPPER_PID};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = file_join(p->folder, names[i]);

        if (path != NULL)
            unlink(path);
        free(path);
    }
    rmdir(p->folder);
}

static void
tell_place(struct pilot *p)
{
    struct agents_agent *g = p->agent;

    snprintf(g->place, sizeof g->place, "job %.20s on %.60s", p->job, p->at);
    memcpy(g->node, p->at, sizeof g->node);
}

static void
read_address(const struct pilots *s, struct pilot *p)
{
    char *path =
        file_join(p->folder, s->pool.apart ? TRIAL_STDOUT : AGENT_ADDRESS);
    const char *at = NULL;
    struct buf b;
    char end;

    buf_init(&b, ADDRESS_MAX);
    if (path != NULL && file_read_plain(path, ADDRESS_MAX, &b, NULL) == 0)
        at = buf_text(&b);
    if (at != NULL && s->pool.apart &&
        (at = strstr(at, AGENT_SAYS_ADDRESS)) != NULL)
        at += strlen(AGENT_SAYS_ADDRESS);
    if (at != NULL &&
        sscanf(at, "%31s %63s %127[^\n]\n%1023[^\n]%c", p->job, p->at,
               p->socket, p->program, &end) >= (s->pool.apart ? 5 : 3))
        tell_place(p);
    else
        p->socket[0] = '\0';
    buf_fini(&b);
    free(path);
}

static void
end_bridge(struct pilot *p)
{
    if (p->bridge < 0)
        return;
    process_kill(p->bridge, SIGKILL);
    process_reap(&p->bridge);
}

static void
pilot_free(struct pilots *s, struct pilot *p)
{
    end_bridge(p);
    list_remove(&p->link);
    s->living--;
    free(p->folder);
    free(p);
}

static struct pilot *
pilot_new(struct pilots *s, uint64_t number)
{
    struct pilot *p = calloc(1, sizeof *p);
    char place[64];

    if (p == NULL)
        return NULL;
    p->number = number;
    p->bridge = -1;
    p->pause_ms = RETRY_MS;
    snprintf(place, sizeof place, "agent %llu", (unsigned long long)number);
    list_add(&s->pilots, NULL, &p->link, p);
    s->living++;
    if (asprintf(&p->folder, "%s/%llu", s->folder, (unsigned long long)number) <
        0)
        p->folder = NULL;
    else if ((p->agent = agents_add(&s->pool, p, place)) != NULL)
        return p;
    pilot_free(s, p);
    return NULL;
}

static size_t
slots_asked(const struct pilots *s)
{
    return s->setup.cluster->trials_a_pilot > 0
               ? s->setup.cluster->trials_a_pilot
               : 1;
}

/* ---- begun ---- */

/* How a machine that sees none of our folders gets to the agent. */
static void
add_entrance(const struct pilots *s, struct jobs_command *c)
{
    jobs_add(c, "--input=%s", s->bundle.archive); /* within our folder */
    jobs_add(c, "--chdir=/");
    bundle_enter(&s->bundle, c);
    jobs_add(c, "agent");
    jobs_add(c, "--experiment=%s", s->pool.folder);
    jobs_add(c, "--code=%s", s->setup.code_folder);
    jobs_add(c, "--programs=%s", s->setup.program_folder);
    if (s->setup.python_folder != NULL)
        jobs_add(c, "--python=%s", s->setup.python_folder);
}

static void
add_command(const struct pilots *s, const struct pilot *p,
            struct jobs_command *c)
{
    const char *name = strrchr(s->pool.folder, '/');
    char job[300];

    snprintf(job, sizeof job, "%.200s.%llu", name != NULL ? name + 1 : "",
             (unsigned long long)p->number);
    if (s->names != NULL)
        jobs_step(c, s->job, p->node);
    else if (s->pool.apart)
        jobs_allocate(c, job, &s->setup);
    if (s->pool.apart) {
        add_entrance(s, c);
    } else {
        jobs_add(c, "%s", s->program);
        jobs_add(c, "agent");
        jobs_add(c, "--folder=%s", p->folder);
    }
    jobs_add(c, "--timeout=%s", s->timeout);
    jobs_add(c, "--grace=%s", s->grace);
    jobs_add(c, "--max-output=%s", s->output);
}

static int
start_pilot(struct pilots *s, struct pilot *p, struct err *err)
{
    struct jobs_command c = {0};
    struct runner_task task = {.trial = (struct trial *)p,
                               .phase = {.folder = p->folder},
                               .cwd = s->folder,
                               .env = environ,
                               .cgroup = ""};

    add_command(s, p, &c);
    task.command = (const char *const *)c.words;
    if (c.failed)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (file_make_folder(p->folder, err) == 0)
        p->run = s->under->ops->start(s->under, &task, err);
    jobs_clear(&c);
    if (p->run == NULL)
        return -1;
    if (s->under->ops->watch(p->run) == 0)
        return 0;
    err_errno(err, ERR_SYSTEM, "the end of a pilot cannot be watched for");
    run_stop(p->run, RUN_GIVE_UP);
    run_leave(&p->run);
    return -1;
}

/* A node of the allocation that has no pilot, and may have one; false: there is
 * none. */
static bool
choose_node(const struct pilots *s, char node[64])
{
    const char *end;

    for (const char *at = s->names; *at != '\0';
         at = *end != '\0' ? end + 1 : end) {
        bool taken;

        end = at + strcspn(at, "\n");
        snprintf(node, 64, "%.*s", (int)(end - at), at);
        taken = s->setup.machines != NULL &&
                machines_why(s->setup.machines, node) != NULL;
        for (struct link *l = s->pilots.first; l != NULL; l = l->next)
            taken |= strcmp(((struct pilot *)l->of)->node, node) == 0;
        if (!taken && end > at)
            return true;
    }
    return false;
}

static void
say(const struct pilots *s, const struct pilot *p, const char *what)
{
    char line[400];

    snprintf(line, sizeof line, "tunepipe: warning: agent %llu: %.340s",
             (unsigned long long)p->number, what);
    s->setup.say(s->setup.ctx, line);
}

static void
note_failure(struct pilots *s, const char *why)
{
    snprintf(s->why, sizeof s->why, "%.255s", why);
    s->failures++;
    s->next_ns =
        clock_monotonic_ns() + s->setup.cluster->poll_ms * INT64_C(1000000);
    if (s->failures >= FAILURES_MAX && s->living == 0)
        agents_refuse(&s->pool, s->why);
}

/* Nothing comes of it any more.  What it has left is kept for people, where its
 * agent did not come up. */
static void
pilot_is_gone(struct pilots *s, struct pilot *p, const char *why,
              int64_t lease_ms, bool begun)
{
    bool failed = !p->agent->heard && !p->dismissed;

    if (failed)
        say(s, p, why);
    read_address(s, p);
    agents_gone(p->agent, why, lease_ms);
    if (!failed || !begun || p->socket[0] != '\0')
        remove_files(p);
    pilot_free(s, p);
    if (failed)
        note_failure(s, why);
}

/* How many more there may be. */
static size_t
room_for(const struct pilots *s)
{
    size_t most = s->setup.cluster->pilots;

    return most == 0 ? SIZE_MAX : most > s->living ? most - s->living : 0;
}

static bool
is_coming(const struct pilot *p)
{
    return !p->agent->ready && !p->agent->leaving;
}

/* Those that are asked for and have not come count as what was asked for. */
static size_t
wanted(const struct pilots *s)
{
    size_t trials = agents_wanted(&s->pool), coming = 0, n;

    for (const struct link *at = s->pilots.first; at != NULL; at = at->next)
        coming += is_coming(at->of);
    n = (trials + slots_asked(s) - 1) / slots_asked(s);
    n = n > coming ? n - coming : 0;
    return n < room_for(s) ? n : room_for(s);
}

static void
begin_pilots(struct pilots *s)
{
    struct err err = {0};

    if (s->failures > 0 && clock_monotonic_ns() < s->next_ns)
        return;
    for (size_t n = wanted(s); n > 0; n--) {
        char node[64] = "";
        struct pilot *p;

        if (s->names != NULL && !choose_node(s, node))
            return;
        p = pilot_new(s, s->next);
        if (p == NULL)
            return;
        memcpy(p->node, node, sizeof p->node);
        p->agent->blank = true;
        s->next++;
        if (start_pilot(s, p, &err) == 0)
            continue;
        pilot_is_gone(s, p, err.text, 0, false);
        return;
    }
}

/* ---- connected ---- */

static int
spawn_bridge(struct pilot *p, const struct jobs_command *c, int pipes[3])
{
    char *path = file_join(p->folder, ATTACH_WORDS);
    char **env = jobs_environment();
    struct process_spawn how = {
        .argv = (const char *const *)c->words,
        .along_path = true,
        .env = env,
        .files = {PROCESS_PIPE, PROCESS_PIPE, PROCESS_NULL},
        .pipes = pipes};
    pid_t pid = -1;

    if (path != NULL)
        how.files[2] = open(path,
                            O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
                                O_NOFOLLOW | O_NONBLOCK,
                            0600);
    if (how.files[2] < 0)
        how.files[2] = PROCESS_NULL;
    if (env != NULL)
        pid = process_spawn(&how, &p->bridge, NULL);
    if (how.files[2] >= 0)
        close(how.files[2]);
    free(env);
    free(path);
    return pid > 0 ? 0 : -1;
}

static void
attach(struct pilots *s, struct pilot *p)
{
    struct jobs_command c = {0};
    int pipes[3] = {-1, -1, -1};

    p->next_ns = clock_monotonic_ns() + p->pause_ms * INT64_C(1000000);
    p->pause_ms =
        p->pause_ms * 2 < RETRY_MAX_MS ? p->pause_ms * 2 : RETRY_MAX_MS;
    end_bridge(p);
    jobs_step(&c, p->job, p->at);
    if (s->pool.apart)
        jobs_add(&c, "--chdir=/");
    jobs_add(&c, "%s", s->pool.apart ? p->program : s->program);
    jobs_add(&c, "agent");
    jobs_add(&c, "--attach");
    jobs_add(&c, "%s", p->socket);
    if (!c.failed && spawn_bridge(p, &c, pipes) == 0)
        agents_connect(p->agent, pipes[1], pipes[0]);
    jobs_clear(&c);
}

static void
is_lost(struct agents_agent *g)
{
    end_bridge(g->of);
}

/* One that is there, by Slurm's word, and does not say so itself is ended: its
 * trials begin again where they are not frozen. */
static bool
is_silent(const struct pilots *s, const struct pilot *p)
{
    int64_t ms = 2 * AGENT_SILENT_MS(s->setup.cluster->agent_ms);

    return clock_monotonic_ns() >= p->agent->heard_ns + ms * INT64_C(1000000);
}

/* What srun waits for it says for people alone: its agent is there when it
 * says so. */
static bool
is_queued(const struct pilots *s, const struct pilot *p)
{
    return p->run->queued ||
           (s->pool.apart && s->names == NULL && p->socket[0] == '\0');
}

static void give_up(struct pilots *s, struct pilot *p, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void
give_up(struct pilots *s, struct pilot *p, const char *fmt, ...)
{
    char why[256];
    va_list args;

    if (p->given_up)
        return;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    say(s, p, why);
    p->given_up = true;
    run_stop(p->run, RUN_GIVE_UP);
}

static void
look_after(struct pilots *s, struct pilot *p)
{
    if (p->agent->ready) {
        if (clock_monotonic_ns() >=
            p->agent->opened_ns + STEADY_MS * INT64_C(1000000))
            p->pause_ms = RETRY_MS;
        s->failures = 0;
    }
    if (is_queued(s, p)) {
        p->agent->blank = true;
        p->agent->heard_ns = clock_monotonic_ns();
        if (s->pool.apart)
            read_address(s, p);
        return;
    }
    if (p->agent->wire.other != 0)
        give_up(
            s, p,
            "it speaks version %lu, this tunepipe version " AGENT_VERSION
            ": its job is ended, and its trials begin again (install another "
            "tunepipe while none runs)",
            p->agent->wire.other);
    else if (is_silent(s, p))
        give_up(s, p, "it does not answer: its job is ended");
    if (wire_is_open(&p->agent->wire) || clock_monotonic_ns() < p->next_ns)
        return;
    if (p->socket[0] == '\0')
        read_address(s, p);
    if (p->socket[0] != '\0')
        attach(s, p);
}

/* Its process has ended for sure where that has told how: an agent on a node
 * that nobody reaches may live on, as long as it waits for a manager. */
static void
take_end(struct pilots *s, struct pilot *p)
{
    struct run_end end;
    struct err err = {0};
    const struct outcome *o = &end.outcome;
    char why[256], said[120] = "";
    size_t len;

    run_end(&p->run, &end, &err);
    if (end.why[0] == '\0' && o->kind == OUTCOME_EXITED)
        snprintf(why, sizeof why, "it ended with status %d", o->number);
    else
        snprintf(why, sizeof why, "%.255s",
                 end.why[0] != '\0' ? end.why : o->text);
    if (!p->agent->heard && !end.unbegun)
        stderr_tail_line(p->folder, NULL, said, sizeof said);
    len = strlen(why);
    if (strstr(why, said) == NULL)
        snprintf(why + len, sizeof why - len, ": %s", said);
    p->agent->failed = o->machine_failed;
    if (end.unfit[0] != '\0')
        agents_unfit(&s->pool, o->node, end.unfit, o->text);
    pilot_is_gone(s, p, why,
                  o->kind == OUTCOME_EXITED && o->number == 0 ? AGENTS_ORDERLY
                  : o->kind == OUTCOME_LOST && !end.unbegun
                      ? s->setup.cluster->agent_ms
                      : 0,
                  !end.unbegun);
}

static void
look_under(struct pilots *s)
{
    struct run *run;

    while ((run = s->under->ops->look(s->under)) != NULL)
        if (run->news == RUN_ENDED)
            take_end(s, (struct pilot *)run->trial);
}

static struct run *
pilots_look(struct runner *r)
{
    struct pilots *s = (struct pilots *)r;

    s->looked = true;
    if (s->pool.news.first == NULL) {
        agents_go_on(&s->pool);
        look_under(s);
        for (struct link *at = s->pilots.first, *next; at != NULL; at = next) {
            next = at->next;
            look_after(s, at->of);
        }
        begin_pilots(s);
    }
    return agents_next(&s->pool);
}

static void
describe_wait(const struct agents *a, struct buf *out)
{
    const struct pilots *s = (const struct pilots *)a;
    char said[200];

    for (const struct link *at = s->pilots.first; at != NULL; at = at->next) {
        const struct pilot *p = at->of;

        if (p->agent->heard)
            continue;
        buf_add_text(out, "waits for an agent: ");
        run_describe(p->run, out);
        if (s->pool.apart) {
            stderr_tail_line(p->folder, NULL, said, sizeof said);
            buf_add_text(out, said);
        }
        return;
    }
    buf_add_text(out, "waits for room on an agent");
}

/* ---- opened ---- */

/* Those that are at work end by themselves, once they are told to. */
static void
dismiss_all(struct pilots *s)
{
    int64_t until = clock_monotonic_ns() + GOODBYE_MS * INT64_C(1000000);

    for (struct link *at = s->pilots.first; at != NULL; at = at->next) {
        struct pilot *p = at->of;

        p->dismissed = true;
        if (p->agent->ready)
            agents_dismiss(p->agent);
        else
            run_stop(p->run, RUN_TERMINATE);
    }
    while (s->pilots.first != NULL && clock_monotonic_ns() < until) {
        agents_go_on(&s->pool);
        look_under(s);
        poll(NULL, 0, LOOK_MS);
    }
}

static void
pilots_close(struct runner *r)
{
    struct pilots *s = (struct pilots *)r;

    s->pool.left |= !s->looked;
    if (s->under != NULL && !s->pool.left)
        dismiss_all(s);
    while (s->pilots.first != NULL) {
        struct pilot *p = s->pilots.first->of;

        if (s->pool.left) {
            run_leave(&p->run);
            pilot_free(s, p);
            continue;
        }
        run_stop(p->run, RUN_TERMINATE);
        take_end(s, p); /* what is left of it goes, whether it has ended */
    }
    bundle_fini(&s->bundle, s->pool.left ? NULL : s->folder);
    agents_close(&s->pool);
    if (s->folder != NULL)
        rmdir(s->folder);
    if (s->under != NULL)
        s->under->ops->close(s->under);
    free(s->folder);
    free(s->program);
    free(s->names);
    free(s);
}

/* The allocation that this process is in, and has to itself: that of a batch
 * script, or of salloc. */
static int
find_allocation(struct pilots *s, struct err *err)
{
    const char *job = getenv("SLURM_JOB_ID");
    const char *nodes = getenv("SLURM_JOB_NODELIST");
    struct jobs_command c = {0};
    struct buf names;
    int rc;

    if (job == NULL || nodes == NULL)
        return 0;
    snprintf(s->job, sizeof s->job, "%s", job);
    jobs_add(&c, "scontrol");
    jobs_add(&c, "show");
    jobs_add(&c, "hostnames");
    jobs_add(&c, "%s", nodes);
    buf_init(&names, 1 << 20);
    rc = jobs_run(&c, &names, err);
    if (rc == 0 && (s->names = buf_take(&names)) == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    buf_fini(&names);
    jobs_clear(&c);
    return rc;
}

/* What a job is asked for is for all trials that it has at a time, and a
 * trial's time is not a job's. */
static void
set_up_under(struct pilots *s)
{
    size_t each = slots_asked(s);

    s->setup.adopt_ms = s->setup.cluster->agent_ms;
    s->setup.max_ms = 0;
    s->setup.max_output = 0;
    s->setup.grace_ms += GOODBYE_MS;
    s->cluster = *s->setup.cluster;
    s->wishes = *s->setup.wishes;
    s->cluster.mode = CLUSTER_JOBS;
    if (s->cluster.cpus > 0 || each > 1)
        s->cluster.cpus = (s->cluster.cpus > 0 ? s->cluster.cpus : 1) * each;
    s->wishes.memory *= each;
    s->wishes.devices *= each;
    s->setup.cluster = &s->cluster;
    s->setup.wishes = &s->wishes;
}

extern const struct runner_ops runner_pilots;

static bool
is_output(const char *option)
{
    static const char *const names[] = {"--output", "--error", "--input",
                                        "-o",       "-e",      "-i"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);

        if (strncmp(option, names[i], len) == 0 &&
            (option[1] != '-' || option[len] == '=' || option[len] == '\0'))
            return true;
    }
    return false;
}

int
pilots_open(struct runner **out, const struct runner_setup *setup,
            struct err *err)
{
    struct pilots *s = calloc(1, sizeof *s);
    const struct runner_ops *kind;
    int rc;

    if (s == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    s->pool = AGENTS_CLOSED;
    s->pool.base.ops = &runner_pilots;
    s->pool.lost = is_lost;
    s->pool.waits = describe_wait;
    s->setup = *setup;
    snprintf(s->grace, sizeof s->grace, "%.3f", (double)setup->grace_ms / 1e3);
    snprintf(s->timeout, sizeof s->timeout, "%.3f",
             (double)setup->cluster->agent_ms / 1e3);
    snprintf(s->output, sizeof s->output, "%llu",
             (unsigned long long)setup->max_output);
    set_up_under(s);
    for (size_t i = 0; !s->cluster.shared && i < s->cluster.n_extra; i++)
        if (is_output(s->cluster.extra[i])) {
            err_set(err, ERR_CONFIG,
                    "trainingService.extra: '%.60s' is not for sharedFolder: "
                    "false: what an agent says has to come back",
                    s->cluster.extra[i]);
            free(s);
            return -1;
        }
    s->program = file_join(setup->program_folder, PROGRAM);
    rc = s->program == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                            : agents_open(&s->pool, setup, err);
    if (rc == 0)
        rc = find_allocation(s, err);
    kind = s->names != NULL || !setup->cluster->shared ? &runner_local
                                                       : &runner_slurm;
    if (rc == 0 && s->names == NULL && kind == &runner_local)
        rc = jobs_try(&s->setup, err);
    if (rc == 0)
        rc = kind->open(&s->under, &s->setup, err);
    if (rc == 0)
        rc = agents_watch_fd(&s->pool, s->under->fd, err);
    if (rc == 0)
        *out = &s->pool.base;
    else
        pilots_close(&s->pool.base);
    return rc;
}

/* ---- those of an earlier manager ---- */

static void
adopt(struct pilots *s, uint64_t number)
{
    struct pilot *p = pilot_new(s, number);
    const struct runner_phase phase = {.folder = p != NULL ? p->folder : ""};

    if (p == NULL)
        return;
    p->run = s->under->ops->adopt(s->under, (struct trial *)p, &phase);
    if (p->run != NULL && s->under->ops->watch(p->run) == 0) {
        read_address(s, p);
        p->agent->outdated = s->pool.apart && p->program[0] != '\0' &&
                             strstr(p->program, s->bundle.name) == NULL;
        if (s->names != NULL)
            snprintf(p->node, sizeof p->node, "%s", p->at);
        return;
    }
    run_leave(&p->run);
    remove_files(p);
    agents_gone(p->agent, "", 0);
    pilot_free(s, p);
}

static int
pilots_settle(struct runner *r, const char *folder, struct err *err)
{
    struct pilots *s = (struct pilots *)r;
    struct dirent *entry;
    DIR *all;

    agents_settle(&s->pool, folder);
    if (runner_settle(s->under, folder, err) != 0)
        return -1;
    s->folder = file_join(folder, PILOTS_FOLDER);
    if (s->folder == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (file_make_folder(s->folder, err) != 0 ||
        (s->pool.apart &&
         bundle_make(&s->bundle, s->folder, folder, &s->setup, err) != 0))
        return -1;
    all = opendir(s->folder);
    if (all == NULL)
        return err_errno(err, ERR_SYSTEM, "%s: cannot read", s->folder);
    while ((entry = readdir(all)) != NULL) {
        uint64_t number;

        if (!number_parse_u64(entry->d_name, strlen(entry->d_name), &number))
            continue;
        if (number >= s->next)
            s->next = number + 1;
        adopt(s, number);
    }
    closedir(all);
    return 0;
}

static void
pilots_plan(const struct runner *r, struct buf *out)
{
    const struct pilots *s = (const struct pilots *)r;

    struct jobs_command c = {0};

    if (s->names == NULL && !s->setup.cluster->shared) {
        jobs_allocate(&c, "NAME", &s->setup);
        for (size_t i = 0; i < c.n; i++)
            buf_printf(out, "%s%s", i > 0 ? " " : "", c.words[i]);
        jobs_clear(&c);
    } else if (s->names != NULL)
        buf_printf(out, "agents on the nodes of job %s", s->job);
    else
        s->under->ops->plan(s->under, out);
}

const struct runner_ops runner_pilots = {
    .name = "slurm",
    .can = RUNNER_CHECKPOINTS | RUNNER_MEMORY | RUNNER_DEVICES |
           RUNNER_PROGRAMS | RUNNER_LASTS | RUNNER_ELSEWHERE,
    .open = pilots_open,
    .close = pilots_close,
    .settle = pilots_settle,
    .start = agents_start,
    .adopt = agents_adopt,
    .clear = agents_clear,
    .watch = agents_watch,
    .look = pilots_look,
    .stop = agents_stop,
    .end = agents_end,
    .leave = agents_leave,
    .describe = agents_describe,
    .plan = pilots_plan,
};
