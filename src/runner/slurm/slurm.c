/* SPDX-License-Identifier: MIT */
/* DESIGN.  A job of Slurm for each phase of a trial, on whatever node that has:
 * node and manager share the experiment's folder, and nothing else.
 *
 * Phases that are started together are a batch: one script for all of them, one
 * sbatch, and an array of jobs where they are more than one.  What has to be
 * known of a batch when this manager is gone lies in EXPERIMENT/jobs:
 *
 *   N.sh   the script, made before sbatch is called.  It begins nothing once
 *          this file is not there any more; nor when its job begins again, as
 *          what began before it may live on where Slurm has lost it
 *   N.id   what sbatch answered
 *   N.out  what Slurm said to the job, of an array's N.INDEX.out
 *
 * The path of its script tells a job's batch, so that one which was submitted
 * by a manager that died before it read the answer is found; no number of a
 * batch comes again while Slurm knows of it.  The script becomes the wrapper
 * (trial/files.h), the batch step's only process, to which Slurm's signals go.
 *
 * Slurm's commands take their time, and more where its controller is down: a
 * thread runs them, one order at a time; what is wanted meanwhile is the next
 * order.  Ends and beginnings are seen by the files that a wrapper leaves,
 * which are looked at every reportInterval; what leaves none (a time limit, a
 * node that fails) by squeue, which is asked every pollInterval, and after some
 * looks without any change less often. */
#include "config/cluster.h"
#include "config/wishes.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/errand.h"
#include "core/file.h"
#include "core/filesystem.h"
#include "core/list.h"
#include "core/map.h"
#include "core/number.h"
#include "core/wake.h"
#include "runner/machines.h"
#include "runner/runner.h"
#include "runner/slurm/jobs.h"
#include "runner/slurm/pilots.h"
#include "runner/slurm/script.h"
#include "trial/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define JOBS_FOLDER "jobs"
#define BATCH_MAX 200
#define SUBMIT_MAX 20 /* batches in one order: others wait for their turn */
#define MARK "# tunepipe " /* of a line that says whose a job is */
#define QUEUE_MAX ((size_t)64 << 20)
#define IDLE_LOOK_MS 30000
#define UNSEEN_MAX 2 /* looks that know nothing of a job: it is gone */
/* How long an `exit` may take to be seen once its job is over. */
#define PATIENCE_MS 2000
#define PATIENCE_FAR_MS 60000
#define WORDS_MAX 65536
#define IDS_MAX 100000 /* bytes of a word of a command */

extern const struct runner_ops runner_slurm;

enum stage { TO_SUBMIT, SUBMITTED, QUEUED, RUNS, OVER };

struct batch {
    uint64_t number;
    size_t runs;   /* that have not ended */
    uint64_t seen; /* the number of the order whose look has seen one */
};

struct slurm_run {
    struct run base;
    struct link link; /* in slurm.runs */
    struct link news; /* in slurm.news */
    char *home;       /* the phase's folder */
    char *part;       /* of the script: what tells its trial from others */
    struct batch *batch;
    unsigned index; /* in the batch */
    char id[48];    /* its job's; "": not known yet */
    char node[64], state[32], reason[96];
    enum stage stage;
    bool watched;
    unsigned tells;     /* of enum run_news, bits */
    bool stopped;       /* we have had it ended, */
    bool cut;           /* somebody else has; `state` tells how */
    char refused[300];  /* why sbatch did not take it */
    unsigned unseen;    /* looks in a row that did not know it */
    uint64_t seen;      /* the number of the order whose look knew it last */
    int64_t over_ns;    /* since when its job is not running; 0: it may be */
    int64_t told_ns;    /* since when it is known that a signal ended it, from
                           whom is not; 0: none did */
    uint64_t submitted; /* the number of the order in which it was */
};

/* What scancel is told to do with a job: what the script has begun gets
 * SIGTERM, or SIGKILL; the job ends, whatever it does. */
enum cancel { CANCEL_TERM, CANCEL_KILL, CANCEL_JOB, CANCELS };

struct submission {
    struct submission *next;
    struct jobs_command command;
    char *name, *script; /* the job's */
    uint64_t batch;
    size_t runs;
    char *id_file;
    char id[32];
    struct err err; /* code: none where it was taken */
};

/* What the thread does in one go; its own until that is done. */
struct order {
    struct submission *submissions;
    struct jobs_command cancels[CANCELS]; /* n == 0: none */
    bool again[CANCELS];                  /* of these: Slurm did not answer */
    struct jobs_command exclusion;        /* of queued jobs; n == 0: none */
    bool looks;
    struct buf queue;
    struct err err; /* of the look */
    bool failed;
};

struct slurm {
    struct runner base;
    struct runner_setup setup;
    struct script script;
    const char *folder; /* the experiment's */
    char *jobs;         /* the folder of batches */
    char *alive;        /* TRIAL_ALIVE's path, */
    int64_t touched_ns; /* and when we last touched it */
    const char *name;   /* the experiment's, in that of jobs */
    uint64_t next_batch;
    size_t batch_max;   /* runs in one; less behind an array that was refused */
    struct map batches; /* by number */
    struct map by_id;   /* runs by their jobs */
    struct map found;   /* at the start: jobs by their homes */
    struct list runs, news;
    struct wake wake;
    int timer_fd;
    struct errand *errand;
    struct order order;
    uint64_t orders;
    bool busy;
    struct jobs_command cancels[CANCELS]; /* of the next order, which */
    int64_t cancel_ns;                    /* not before has them */
    uint64_t excluded; /* of machines.changes, those that queued jobs know */
    int64_t looked_ns, pause_ms;
    bool look_fails; /* and that was said */
    int64_t patience_ns;
};

static struct slurm *
slurm_of(const struct run *run)
{
    return (struct slurm *)run->runner;
}

static void say(const struct slurm *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
say(const struct slurm *s, const char *fmt, ...)
{
    char line[1200];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (s->setup.say != NULL)
        s->setup.say(s->setup.ctx, line);
}

/* ---- the thread ---- */

/* The number that an answer begins with. */
static bool
take_id(struct submission *of, const char *answer)
{
    size_t len = strspn(answer, "0123456789");

    snprintf(of->id, sizeof of->id, "%.*s", (int)(len < 20 ? len : 20), answer);
    return len > 0;
}

/* sbatch may fail when its job is in the queue already, as where the answer
 * came too late: a second one must not run beside it. */
static bool
is_queued(struct submission *of)
{
    struct jobs_command look = {0};
    struct buf answer;
    char *line, *end;
    bool found = false;

    buf_init(&answer, QUEUE_MAX);
    jobs_find(&look, of->name);
    if (jobs_run(&look, &answer, NULL) != 0)
        buf_clear(&answer);
    for (line = (char *)buf_text(&answer); *line != '\0' && !found;
         line = end) {
        struct job_line job;

        end = line + strcspn(line, "\n");
        if (*end != '\0')
            *end++ = '\0';
        found = jobs_line(line, &job) && strcmp(job.script, of->script) == 0 &&
                take_id(of, job.id);
    }
    jobs_clear(&look);
    buf_fini(&answer);
    return found;
}

static void
submit(struct submission *of)
{
    struct buf answer;

    buf_init(&answer, 4096);
    if (jobs_run(&of->command, &answer, &of->err) == 0 &&
        !take_id(of, buf_text(&answer)))
        err_set(&of->err, ERR_INPUT,
                "sbatch: expected the number of a job, got '%.100s'",
                buf_text(&answer));
    if (of->err.code != ERR_NONE && is_queued(of))
        of->err.code = ERR_NONE;
    if (of->err.code == ERR_NONE)
        file_write(of->id_file, of->id, strlen(of->id), NULL);
    buf_fini(&answer);
}

static void
work(void *ctx)
{
    struct order *o = ctx;
    struct buf said;

    for (struct submission *of = o->submissions; of != NULL; of = of->next)
        submit(of);
    buf_init(&said, 4096);
    for (size_t i = 0; i < CANCELS; i++) {
        struct err err = {0};

        o->again[i] = o->cancels[i].n > 0 &&
                      jobs_run(&o->cancels[i], &said, &err) != 0 &&
                      jobs_unreached(&err);
    }
    if (o->exclusion.n > 0) /* in vain for jobs that run by now */
        jobs_run(&o->exclusion, &said, NULL);
    buf_fini(&said);
    if (o->looks) {
        struct jobs_command look = {0};

        jobs_look(&look);
        o->failed = jobs_run(&look, &o->queue, &o->err) != 0;
        jobs_clear(&look);
    }
}

/* ---- batches ---- */

static char *
batch_path(const struct slurm *s, uint64_t number, const char *ending)
{
    char *path;

    return asprintf(&path, "%s/%llu.%s", s->jobs, (unsigned long long)number,
                    ending) < 0
               ? NULL
               : path;
}

static void
batch_remove(const struct slurm *s, uint64_t number, const char *ending)
{
    char *path = batch_path(s, number, ending);

    if (path != NULL)
        unlink(path);
    free(path);
}

/* Where Slurm says something to a job. */
static char *
job_path(const struct slurm *s, uint64_t batch, const char *id)
{
    const char *index = strchr(id, '_');
    char ending[32];

    snprintf(ending, sizeof ending, "%.20s%sout",
             index != NULL ? index + 1 : "", index != NULL ? "." : "");
    return batch_path(s, batch, ending);
}

/* What Slurm said to a job becomes the end of its trial's standard error;
 * `last`: its last line. */
static void
take_words(const struct slurm_run *run, char *last, size_t size)
{
    const struct slurm *s = slurm_of(&run->base);
    char *path, *to = file_join(run->home, TRIAL_STDERR), *at;
    struct buf text;
    int fd = -1;

    last[0] = '\0';
    path = job_path(s, run->batch != NULL ? run->batch->number : 0, run->id);
    buf_init(&text, 3 * WORDS_MAX);
    if (path != NULL)
        file_read_plain(path, WORDS_MAX, &text, NULL);
    if (text.len > 0 && to != NULL)
        fd = file_open_plain(to, O_WRONLY | O_APPEND | O_CREAT);
    if (text.len == 0 ||
        (fd >= 0 && file_write_all(fd, text.data, text.len, NULL) == 0))
        unlink(path != NULL ? path : "");
    if (fd >= 0)
        close(fd);
    while (text.len > 0 && text.data[text.len - 1] == '\n')
        text.len--;
    at = strrchr(buf_text(&text), '\n');
    snprintf(last, size, "%s", at != NULL ? at + 1 : buf_text(&text));
    buf_fini(&text);
    free(path);
    free(to);
}

static void
batch_drop(struct slurm *s, struct batch *b)
{
    if (b == NULL || --b->runs > 0)
        return;
    batch_remove(s, b->number, "sh");
    batch_remove(s, b->number, "id");
    map_remove(&s->batches, &b->number, sizeof b->number);
    free(b);
}

static struct batch *
batch_take(struct slurm *s, uint64_t number)
{
    struct batch *b = map_get(&s->batches, &number, sizeof number);

    if (b == NULL) {
        b = calloc(1, sizeof *b);
        if (b == NULL)
            return NULL;
        b->number = number;
        if (map_put(&s->batches, &number, sizeof number, b) != 0) {
            free(b);
            return NULL;
        }
    }
    b->runs++;
    return b;
}

/* ---- submitted ---- */

/* Of an experiment's path, where its name begins. */
static const char *
within(const struct slurm *s, const char *home)
{
    return home + strlen(s->folder) + 1;
}

static void
write_script(const struct slurm *s, uint64_t batch, const struct link *first,
             size_t n, struct buf *b)
{
    const struct link *at = first;
    char *path = batch_path(s, batch, "sh");
    char *words = path != NULL ? strndup(path, strlen(path) - 3) : NULL;

    script_begin(&s->script, b);
    for (size_t i = 0; i < n; i++, at = at->next)
        buf_printf(b, MARK "%zu %s\n", i,
                   within(s, ((struct slurm_run *)at->of)->home));
    script_guard(path != NULL ? path : "", words != NULL ? words : "", b);
    at = first;
    for (size_t i = 0; i < n; i++, at = at->next)
        script_part(((struct slurm_run *)at->of)->part, i, n, b);
    script_end(&s->script, n, b);
    if (words == NULL)
        b->failed = true;
    free(words);
    free(path);
}

/* To be freed; NULL: out of memory. */
static char *
name_of(const struct slurm *s, uint64_t batch)
{
    char *name;

    return asprintf(&name, "%s.%llu", s->name, (unsigned long long)batch) < 0
               ? NULL
               : name;
}

static void
submission_free(struct submission *of)
{
    if (of == NULL)
        return;
    jobs_clear(&of->command);
    free(of->name);
    free(of->script);
    free(of->id_file);
    free(of);
}

static struct submission *
describe_batch(const struct slurm *s, uint64_t batch, size_t n)
{
    struct submission *of = calloc(1, sizeof *of);

    if (of == NULL)
        return NULL;
    of->batch = batch;
    of->runs = n;
    of->script = batch_path(s, batch, "sh");
    of->id_file = batch_path(s, batch, "id");
    of->name = name_of(s, batch);
    if (of->script == NULL || of->id_file == NULL || of->name == NULL) {
        submission_free(of);
        return NULL;
    }
    jobs_options(&of->command, &s->setup);
    jobs_exclude(&of->command, &s->setup);
    jobs_add(&of->command, "--job-name=%s", of->name);
    if (n > 1)
        jobs_add(&of->command, "--array=0-%zu", n - 1);
    jobs_add(&of->command, "--output=%s/%llu.%sout", s->jobs,
             (unsigned long long)batch, n > 1 ? "%a." : "");
    jobs_add(&of->command, "%s", of->script);
    return of;
}

/* ---- news ---- */

static void
tell(struct slurm_run *run, enum run_news news)
{
    struct slurm *s = slurm_of(&run->base);

    run->tells |= 1u << news;
    if (run->watched && run->news.in == NULL)
        list_add(&s->news, NULL, &run->news, run);
}

static void
over(struct slurm_run *run)
{
    run->stage = OVER;
    tell(run, RUN_ENDED);
}

static void
begun(struct slurm_run *run)
{
    run->stage = RUNS;
    if (run->base.queued)
        tell(run, RUN_BEGUN);
    run->base.queued = false;
}

/* It was not submitted. */
static void
refuse(struct slurm_run *run, const char *why)
{
    snprintf(run->refused, sizeof run->refused, "%.299s", why);
    over(run);
}

/* ---- orders ---- */

static bool
wants_submission(const struct slurm *s)
{
    for (const struct link *at = s->runs.first; at != NULL; at = at->next)
        if (((struct slurm_run *)at->of)->stage == TO_SUBMIT)
            return true;
    return false;
}

/* Those to be submitted stand together, at the end of the list. */
static size_t
gather(struct slurm *s, struct link **first)
{
    size_t n = 0, bytes = 0;
    struct link *at = s->runs.first;

    while (at != NULL && ((struct slurm_run *)at->of)->stage != TO_SUBMIT)
        at = at->next;
    *first = at;
    for (; at != NULL && n < s->batch_max; at = at->next, n++) {
        struct slurm_run *run = at->of;

        if (run->stage != TO_SUBMIT)
            break;
        bytes += strlen(run->part) + 64;
        if (n > 0 && bytes > SCRIPT_MAX / 2)
            break;
    }
    return n;
}

static int
begin_batch(struct slurm *s, struct link *first, size_t n, struct err *err)
{
    uint64_t number = s->next_batch++;
    struct submission *of = describe_batch(s, number, n), **link;
    char *path = batch_path(s, number, "sh");
    struct link *at = first;
    struct buf script;
    int rc;

    buf_init(&script, SCRIPT_MAX + 65536);
    write_script(s, number, first, n, &script);
    if (of == NULL || path == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if ((rc = buf_check(&script, "a batch's script", err)) == 0)
        rc = file_write(path, script.data, script.len, err);
    buf_fini(&script);
    free(path);
    for (size_t i = 0; rc == 0 && i < n; i++, at = at->next) {
        struct slurm_run *run = at->of;

        run->batch = batch_take(s, number);
        run->index = (unsigned)i;
        run->stage = SUBMITTED;
        run->submitted = s->orders;
        free(run->part);
        run->part = NULL;
    }
    if (rc != 0) {
        submission_free(of);
        return -1;
    }
    for (link = &s->order.submissions; *link != NULL; link = &(*link)->next)
        continue;
    *link = of;
    return 0;
}

static void
submit_all(struct slurm *s)
{
    struct err err = {0};
    struct link *first;
    size_t n;

    for (int i = 0; i < SUBMIT_MAX && (n = gather(s, &first)) > 0; i++)
        if (begin_batch(s, first, n, &err) != 0) {
            for (; n > 0; n--, first = first->next)
                refuse(first->of, err.text);
        }
}

/* Begins an order with all that is to be cancelled. */
static void
take_cancels(struct slurm *s)
{
    s->order = (struct order){0};
    memcpy(s->order.cancels, s->cancels, sizeof s->cancels);
    memset(s->cancels, 0, sizeof s->cancels);
    buf_init(&s->order.queue, QUEUE_MAX);
}

static bool
cancels_are_due(const struct slurm *s)
{
    bool any = false;

    for (size_t i = 0; i < CANCELS; i++)
        any |= s->cancels[i].n > 0;
    return any && clock_monotonic_ns() >= s->cancel_ns;
}

static bool
exclusion_is_due(const struct slurm *s)
{
    return s->setup.machines != NULL &&
           s->setup.machines->changes != s->excluded;
}

/* Queued jobs are not to begin on a machine that is left out by now.  Of an
 * array its number stands for all of its jobs that are queued. */
static void
take_exclusion(struct slurm *s)
{
    const struct batch *last = NULL;
    struct buf ids;

    if (!exclusion_is_due(s))
        return;
    s->excluded = s->setup.machines->changes;
    buf_init(&ids, IDS_MAX);
    for (const struct link *at = s->runs.first; at != NULL; at = at->next) {
        const struct slurm_run *run = at->of;

        if (run->stage != QUEUED || run->batch == last)
            continue;
        buf_printf(&ids, "%s%.*s", ids.len > 0 ? "," : "",
                   (int)strcspn(run->id, "_"), run->id);
        last = run->batch;
    }
    if (ids.len > 0 && !ids.failed)
        jobs_exclude_queued(&s->order.exclusion, &s->setup, buf_text(&ids));
    buf_fini(&ids);
}

static bool
look_is_due(const struct slurm *s)
{
    return s->runs.first != NULL &&
           clock_monotonic_ns() >= s->looked_ns + s->pause_ms * 1000000;
}

static void
begin_order(struct slurm *s)
{
    struct order *o = &s->order;
    bool looks;

    if (s->busy)
        return;
    looks = look_is_due(s);
    if (!looks && !cancels_are_due(s) && !wants_submission(s) &&
        !exclusion_is_due(s))
        return;
    take_cancels(s);
    take_exclusion(s);
    o->looks = looks;
    s->orders++;
    submit_all(s);
    s->busy = true;
    errand_ask(s->errand);
}

static void
add_cancel(struct slurm *s, enum cancel how, const char *id)
{
    static const char *const signals[CANCELS] = {
        [CANCEL_TERM] = "--signal=TERM", [CANCEL_KILL] = "--signal=KILL"};
    struct jobs_command *c = &s->cancels[how];

    if (c->n == 0) {
        jobs_add(c, "scancel");
        jobs_add(c, "--quiet");
    }
    if (c->n == 2 && signals[how] != NULL) {
        jobs_add(c, "%s", signals[how]);
        jobs_add(c, "--batch");
    }
    jobs_add(c, "%s", id);
    wake_signal(&s->wake);
}

/* What Slurm did not answer to is asked for again. */
static void
cancel_again(struct slurm *s, const struct order *o)
{
    for (size_t how = 0; how < CANCELS; how++)
        for (size_t i = 1; o->again[how] && i < o->cancels[how].n; i++)
            if (o->cancels[how].words[i][0] != '-') {
                add_cancel(s, (enum cancel)how, o->cancels[how].words[i]);
                s->cancel_ns =
                    clock_monotonic_ns() + s->setup.cluster->poll_ms * 1000000;
            }
}

/* Ends the job, whatever it does. */
static void
cancel(struct slurm_run *run)
{
    struct slurm *s = slurm_of(&run->base);

    if (run->id[0] != '\0')
        add_cancel(s, CANCEL_JOB, run->id);
    s->pause_ms = s->setup.cluster->poll_ms; /* what becomes of it */
}

static void
note_job(struct slurm *s, struct slurm_run *run, const char *id, bool array)
{
    if (array)
        snprintf(run->id, sizeof run->id, "%.30s_%u", id, run->index);
    else
        snprintf(run->id, sizeof run->id, "%.30s", id);
    map_put(&s->by_id, run->id, strlen(run->id), run);
}

/* Why Slurm does not take a job: perhaps for want of what is left out. */
static void
tell_refusal(const struct slurm *s, const char *why, char *out, size_t size)
{
    struct buf names;

    buf_init(&names, 2 * IDS_MAX);
    if (s->setup.machines != NULL)
        machines_add_names(s->setup.machines, &names);
    snprintf(out, size, "%.*s%s%s", (int)(names.len > 0 ? size * 2 / 3 : size),
             why, names.len > 0 ? "; left out: " : "", buf_text(&names));
    buf_fini(&names);
}

static void
submitted(struct slurm *s, const struct submission *of)
{
    struct batch *b = map_get(&s->batches, &of->batch, sizeof of->batch);
    struct link *at, *next;

    /* Slurm, or the user's account, may have room for some of them. */
    if (of->err.code != ERR_NONE && of->runs > 1)
        s->batch_max = of->runs / 2;
    for (at = b != NULL ? s->runs.first : NULL; at != NULL; at = next) {
        struct slurm_run *run = at->of;

        next = at->next;
        if (run->batch != b)
            continue;
        if (of->err.code != ERR_NONE) {
            tell_refusal(s, of->err.text, run->refused, sizeof run->refused);
            over(run);
            continue;
        }
        note_job(s, run, of->id, of->runs > 1);
        run->stage = QUEUED;
        if (run->stopped)
            cancel(run);
    }
}

/* What squeue says of a job. */
static bool
seen(struct slurm_run *run, const struct job_line *line)
{
    bool changed = strcmp(run->state, line->state) != 0 ||
                   strcmp(run->reason, line->reason) != 0;

    run->unseen = 0;
    snprintf(run->state, sizeof run->state, "%s", line->state);
    snprintf(run->reason, sizeof run->reason, "%s", line->reason);
    if (line->node[0] != '\0')
        snprintf(run->node, sizeof run->node, "%s", line->node);
    if (run->stage == OVER || run->over_ns != 0)
        return changed;
    if (line->stage == JOB_RUNS && run->stage == QUEUED) {
        begun(run);
    } else if (line->stage == JOB_QUEUED && run->stage == RUNS) {
        run->cut = true; /* put back into the queue: its script begins nothing
                            a second time */
        cancel(run);
        run->over_ns = clock_monotonic_ns();
    } else if (line->stage == JOB_OVER || line->stage == JOB_CUT) {
        run->cut = line->stage == JOB_CUT && !run->stopped;
        run->over_ns = clock_monotonic_ns();
    }
    return changed;
}

static void
look_failed(struct slurm *s, const struct order *o)
{
    if (!s->look_fails)
        say(s, "tunepipe: warning: %s; asked again every %g s", o->err.text,
            (double)s->pause_ms / 1e3);
    s->look_fails = true;
}

/* One that was submitted before this order and is in no line: at once where
 * others of its array are, as of queued ones that were cancelled. */
static bool
is_unseen(const struct slurm *s, struct slurm_run *run)
{
    if ((run->stage != QUEUED && run->stage != RUNS) || run->over_ns != 0 ||
        run->submitted >= s->orders || run->seen == s->orders)
        return false;
    return ++run->unseen > UNSEEN_MAX || (run->seen > 0 && run->batch != NULL &&
                                          run->batch->seen == s->orders);
}

static void
looked(struct slurm *s, struct order *o)
{
    bool changed = false;
    char *line = (char *)buf_text(&o->queue), *end;

    s->looked_ns = clock_monotonic_ns();
    if (o->failed) {
        look_failed(s, o);
        return;
    }
    s->look_fails = false;
    for (; *line != '\0'; line = end) {
        struct job_line job;
        struct slurm_run *run;

        end = line + strcspn(line, "\n");
        if (*end != '\0')
            *end++ = '\0';
        run = jobs_line(line, &job) ? map_get(&s->by_id, job.id, strlen(job.id))
                                    : NULL;
        if (run == NULL)
            continue;
        run->seen = s->orders;
        if (run->batch != NULL)
            run->batch->seen = s->orders;
        changed |= seen(run, &job);
    }
    for (struct link *at = s->runs.first; at != NULL; at = at->next) {
        struct slurm_run *run = at->of;

        if (is_unseen(s, run)) {
            snprintf(run->state, sizeof run->state, "gone");
            run->cut = !run->stopped;
            run->over_ns = s->looked_ns;
        }
    }
    s->pause_ms = changed ? s->setup.cluster->poll_ms : s->pause_ms * 3 / 2;
    if (s->pause_ms > IDLE_LOOK_MS)
        s->pause_ms = s->setup.cluster->poll_ms > IDLE_LOOK_MS
                          ? s->setup.cluster->poll_ms
                          : IDLE_LOOK_MS;
}

static void
order_clear(struct order *o)
{
    while (o->submissions != NULL) {
        struct submission *next = o->submissions->next;

        submission_free(o->submissions);
        o->submissions = next;
    }
    for (size_t i = 0; i < CANCELS; i++)
        jobs_clear(&o->cancels[i]);
    jobs_clear(&o->exclusion);
    buf_fini(&o->queue);
}

static void
take_order(struct slurm *s)
{
    if (!s->busy || !errand_take(s->errand))
        return;
    s->busy = false;
    for (struct submission *of = s->order.submissions; of != NULL;
         of = of->next)
        submitted(s, of);
    if (s->order.looks)
        looked(s, &s->order);
    cancel_again(s, &s->order);
    order_clear(&s->order);
}

/* ---- files ---- */

/* Whether its end is to be told: it is there, and where Slurm had it end what
 * that says of the job, or it does not come. */
static bool
has_ended(struct slurm_run *run, int64_t now)
{
    struct slurm *s = slurm_of(&run->base);
    struct outcome o;

    if (run->over_ns > 0 && (now >= run->over_ns + s->patience_ns ||
                             (run->stopped && run->base.queued)))
        return true; /* nothing comes any more, or nothing had begun */
    if (!file_has(run->home, TRIAL_EXIT))
        return false;
    if (run->over_ns > 0 || run->stopped ||
        outcome_read(run->home, &o, NULL) != 0 || !outcome_by_signal(&o))
        return true;
    if (run->told_ns == 0) {
        run->told_ns = now;
        s->pause_ms = s->setup.cluster->poll_ms;
    }
    return now >= run->told_ns + 3 * s->setup.cluster->poll_ms * 1000000;
}

static void
look_at(struct slurm_run *run, int64_t now)
{
    if (run->stage == QUEUED && (file_has(run->home, TRIAL_WRAPPER_PID) ||
                                 file_has(run->home, TRIAL_EXIT)))
        begun(run);
    if (run->stage == OVER || (run->stage != RUNS && run->over_ns == 0))
        return;
    if (has_ended(run, now))
        over(run);
    else
        tell(run, RUN_FILES);
}

/* So that trials see that there is somebody who answers. */
static void
touch(struct slurm *s, int64_t now)
{
    if (s->runs.first == NULL ||
        now < s->touched_ns + (int64_t)TRIAL_TOUCH_MS * 1000000)
        return;
    s->touched_ns = now;
    utimensat(AT_FDCWD, s->alive, NULL, 0);
}

static void
look_at_all(struct slurm *s)
{
    int64_t now = clock_monotonic_ns();

    touch(s, now);
    for (struct link *at = s->runs.first; at != NULL; at = at->next)
        look_at(at->of, now);
}

/* What was found at the start and adopted by nobody has no trial any more. */
static void
forget_found(struct slurm *s)
{
    char *job;
    size_t at = 0;

    while ((job = map_next(&s->found, &at)) != NULL) {
        const char *id = strchr(job, ' ') + 1;
        uint64_t batch = strtoull(job, NULL, 10);
        char *words = job_path(s, batch, id);

        if (words != NULL)
            unlink(words);
        free(words);
        add_cancel(s, CANCEL_JOB, id);
        if (map_get(&s->batches, &batch, sizeof batch) == NULL) {
            batch_remove(s, batch, "sh");
            batch_remove(s, batch, "id");
        }
        free(job);
    }
    map_fini(&s->found);
    s->found = (struct map){0};
}

static void
go_on(struct slurm *s)
{
    uint64_t times;

    wake_drain(&s->wake);
    if (s->found.count > 0)
        forget_found(s);
    if (read(s->timer_fd, &times, sizeof times) == sizeof times)
        look_at_all(s);
    take_order(s);
    begin_order(s);
}

static bool
tells(struct slurm_run *run, enum run_news news)
{
    bool so = run->tells & 1u << news;

    if (so)
        run->base.news = news;
    run->tells &= ~(1u << news);
    return so;
}

static struct run *
slurm_look(struct runner *r)
{
    struct slurm *s = (struct slurm *)r;
    struct slurm_run *run;

    if (s->news.first == NULL)
        go_on(s);
    if (s->news.first == NULL)
        return NULL;
    run = s->news.first->of;
    if (!tells(run, RUN_BEGUN) && !tells(run, RUN_FILES))
        tells(run, RUN_ENDED);
    if (run->tells == 0)
        list_remove(&run->news);
    if (s->news.first != NULL)
        wake_signal(&s->wake);
    return &run->base;
}

/* ---- opened ---- */

static void
slurm_close(struct runner *r)
{
    struct slurm *s = (struct slurm *)r;
    struct batch *b;
    size_t at = 0;
    void *id;

    if (s->errand != NULL)
        errand_stop(s->errand);
    order_clear(&s->order);
    take_cancels(s);
    work(&s->order);
    order_clear(&s->order);
    while ((b = map_next(&s->batches, &at)) != NULL)
        free(b);
    at = 0;
    while ((id = map_next(&s->found, &at)) != NULL)
        free(id);
    map_fini(&s->batches);
    map_fini(&s->found);
    map_fini(&s->by_id);
    wake_close(&s->wake);
    if (s->timer_fd >= 0)
        close(s->timer_fd);
    if (r->fd >= 0)
        close(r->fd);
    script_fini(&s->script);
    if (s->alive != NULL)
        unlink(s->alive);
    free(s->alive);
    free(s->jobs);
    free(s);
}

static int
watch_fd(const struct slurm *s, int fd)
{
    struct epoll_event e = {.events = EPOLLIN};

    return epoll_ctl(s->base.fd, EPOLL_CTL_ADD, fd, &e);
}

static int
open_sources(struct slurm *s, struct err *err)
{
    int64_t ms = s->setup.cluster->report_ms;
    const struct itimerspec every = {
        .it_interval = {ms / 1000, ms % 1000 * 1000000},
        .it_value = {ms / 1000, ms % 1000 * 1000000}};

    if (wake_open(&s->wake, err) != 0)
        return -1;
    s->base.fd = epoll_create1(EPOLL_CLOEXEC);
    s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (s->base.fd < 0 || s->timer_fd < 0 ||
        timerfd_settime(s->timer_fd, 0, &every, NULL) != 0 ||
        watch_fd(s, s->wake.fd) != 0 || watch_fd(s, s->timer_fd) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch for the ends of jobs");
    s->errand = errand_start(work, &s->order, &s->wake, err);
    return s->errand != NULL ? 0 : -1;
}

static int
slurm_open(struct runner **out, const struct runner_setup *setup,
           struct err *err)
{
    struct slurm *s;

    if (setup->wishes->memory_auto)
        return err_set(err, ERR_CONFIG,
                       "trialMemory: auto is not for platform: slurm: expected "
                       "an amount such as 4GB, which each job is given");
    if (setup->cluster->mode != CLUSTER_PILOTS && !setup->cluster->shared)
        return err_set(err, ERR_CONFIG,
                       "trainingService.sharedFolder: false needs mode: "
                       "pilots: a job reports through the folder");
    if (setup->cluster->mode == CLUSTER_PILOTS)
        return pilots_open(out, setup, err);
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    s->base.ops = &runner_slurm;
    s->base.fd = s->timer_fd = s->wake.fd = -1;
    s->setup = *setup;
    s->pause_ms = setup->cluster->poll_ms;
    s->batch_max = BATCH_MAX;
    if (script_init(&s->script, setup, err) == 0 &&
        (setup->resumes || jobs_try(&s->setup, err) == 0) &&
        open_sources(s, err) == 0) {
        *out = &s->base;
        return 0;
    }
    slurm_close(&s->base);
    return -1;
}

/* ---- settled ---- */

/* What this user's jobs are, by their ids. */
static int
look_now(const struct slurm *s, struct buf *queue, struct err *err)
{
    struct jobs_command look = {0};
    int rc;

    jobs_look(&look);
    rc = jobs_run_patiently(&s->setup, &look, queue, err);
    jobs_clear(&look);
    return rc;
}

/* The jobs of earlier managers are known by their scripts, those that have
 * ended for some minutes: `id` becomes that of the batch, and no number of one
 * is given again. */
static void
find_id(struct slurm *s, uint64_t batch, const char *queue, char *id,
        size_t size)
{
    size_t folder = strlen(s->jobs);
    char *copy = strdup(queue), *line = copy, *end;

    for (; copy != NULL && *line != '\0'; line = end) {
        struct job_line job;
        uint64_t number;

        end = line + strcspn(line, "\n");
        if (*end != '\0')
            *end++ = '\0';
        if (!jobs_line(line, &job) ||
            strncmp(job.script, s->jobs, folder) != 0 ||
            job.script[folder] != '/' ||
            !number_parse_u64(job.script + folder + 1,
                              strspn(job.script + folder + 1, "0123456789"),
                              &number))
            continue;
        if (number >= s->next_batch)
            s->next_batch = number + 1;
        if (number == batch)
            snprintf(id, size, "%.*s", (int)strcspn(job.id, "_"), job.id);
    }
    free(copy);
}

static void
read_id(const struct slurm *s, uint64_t batch, char *id, size_t size)
{
    char *path = batch_path(s, batch, "id");
    struct buf b;

    buf_init(&b, 2 * WORDS_MAX);
    id[0] = '\0';
    if (path != NULL && file_read_plain(path, size - 1, &b, NULL) == 0)
        snprintf(id, size, "%.*s", (int)strspn(buf_text(&b), "0123456789"),
                 buf_text(&b));
    buf_fini(&b);
    free(path);
}

/* Of a batch of an earlier manager: whose its jobs are. */
static int
find_jobs(struct slurm *s, uint64_t batch, const char *id, struct err *err)
{
    char *path = batch_path(s, batch, "sh"), *line, *end;
    struct buf b;
    size_t n = 0;
    int rc;

    buf_init(&b, SCRIPT_MAX + 65536);
    rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                      : file_read_plain(path, b.max, &b, err);
    if (rc == 0)
        for (line = strstr(buf_text(&b), "\n" MARK "0 "); line != NULL;
             line = end) {
            char home[128], *job = NULL;
            unsigned index;

            end = strchr(line + 1, '\n');
            if (sscanf(line + 1, MARK "%u %127s", &index, home) != 2)
                break;
            /* whether it is an array tells its second line */
            n += end != NULL && strncmp(end, "\n" MARK, 1 + strlen(MARK)) == 0;
            if (asprintf(&job, n > 0 ? "%llu %s_%u" : "%llu %s",
                         (unsigned long long)batch, id, index) < 0 ||
                map_put(&s->found, home, strlen(home), job) != 0)
                rc = err_set(err, ERR_MEMORY, "out of memory");
        }
    buf_fini(&b);
    free(path);
    return rc;
}

/* One that no job is known of was never submitted, and if it is now it begins
 * nothing. */
static int
settle_batch(struct slurm *s, uint64_t batch, const char *queue,
             struct err *err)
{
    char id[32];

    if (batch >= s->next_batch)
        s->next_batch = batch + 1;
    read_id(s, batch, id, sizeof id);
    if (id[0] == '\0')
        find_id(s, batch, queue, id, sizeof id);
    if (id[0] != '\0')
        return find_jobs(s, batch, id, err);
    batch_remove(s, batch, "sh");
    return 0;
}

static int
settle_batches(struct slurm *s, struct err *err)
{
    DIR *all = opendir(s->jobs);
    struct dirent *entry;
    struct buf queue;
    int rc;

    if (all == NULL)
        return err_errno(err, ERR_SYSTEM, "%s: cannot read", s->jobs);
    buf_init(&queue, QUEUE_MAX);
    rc = look_now(s, &queue, err);
    if (rc == 0)
        find_id(s, UINT64_MAX, buf_text(&queue), NULL, 0);
    while (rc == 0 && (entry = readdir(all)) != NULL) {
        size_t len = strspn(entry->d_name, "0123456789");
        uint64_t number;

        if (strcmp(entry->d_name + len, ".sh") != 0 ||
            !number_parse_u64(entry->d_name, len, &number))
            continue;
        rc = settle_batch(s, number, buf_text(&queue), err);
    }
    closedir(all);
    buf_fini(&queue);
    return rc;
}

static int
slurm_settle(struct runner *r, const char *folder, struct err *err)
{
    struct slurm *s = (struct slurm *)r;
    int fd;

    s->folder = folder;
    s->name = strrchr(folder, '/') + 1;
    s->jobs = file_join(folder, JOBS_FOLDER);
    s->alive = s->jobs != NULL ? file_join(s->jobs, TRIAL_ALIVE) : NULL;
    if (s->alive == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (strchr(folder, '\n') != NULL || strchr(folder, '%') != NULL)
        return err_set(err, ERR_CONFIG,
                       "%s: Slurm has no folders with a line feed or %% in "
                       "their paths: choose another experimentWorkingDirectory",
                       folder);
    if (file_make_folder(s->jobs, err) != 0 ||
        file_write(s->alive, "", 0, err) != 0)
        return -1;
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", folder);
    s->patience_ns =
        (int64_t)(filesystem_is_far(fd) ? PATIENCE_FAR_MS : PATIENCE_MS) *
        1000000;
    close(fd);
    return settle_batches(s, err);
}

/* ---- a run ---- */

static void
run_free(struct slurm_run *run)
{
    struct slurm *s = slurm_of(&run->base);

    list_remove(&run->link);
    list_remove(&run->news);
    if (run->id[0] != '\0')
        map_remove(&s->by_id, run->id, strlen(run->id));
    free(run->home);
    free(run->part);
    free(run);
}

static struct slurm_run *
run_new(struct slurm *s, struct trial *t, const struct runner_phase *phase)
{
    struct slurm_run *run = calloc(1, sizeof *run);

    if (run == NULL)
        return NULL;
    run->base = (struct run){.runner = &s->base,
                             .trial = t,
                             .queued = true,
                             .asked_ns = clock_monotonic_ns()};
    run->home = runner_phase_folder(phase);
    if (run->home == NULL) {
        free(run);
        return NULL;
    }
    list_add(&s->runs, NULL, &run->link, run);
    return run;
}

static struct run *
slurm_start(struct runner *r, const struct runner_task *task, struct err *err)
{
    struct slurm *s = (struct slurm *)r;
    struct slurm_run *run = run_new(s, task->trial, &task->phase);

    if (run == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    run->part = script_describe(&s->script, task, run->home, s->alive, err);
    if (run->part == NULL) {
        run_free(run);
        return NULL;
    }
    wake_signal(&s->wake);
    return &run->base;
}

static struct run *
slurm_adopt(struct runner *r, struct trial *t, const struct runner_phase *phase)
{
    struct slurm *s = (struct slurm *)r;
    char *home = runner_phase_folder(phase), *job = NULL;
    struct slurm_run *run = NULL;
    unsigned long long batch;

    if (home != NULL && !file_has(home, TRIAL_EXIT))
        job = map_remove(&s->found, within(s, home), strlen(within(s, home)));
    free(home);
    if (job != NULL)
        run = run_new(s, t, phase);
    if (run != NULL && sscanf(job, "%llu %47s", &batch, run->id) == 2) {
        run->batch = batch_take(s, batch);
        sscanf(strchr(run->id, '_') != NULL ? strchr(run->id, '_') + 1 : "0",
               "%u", &run->index);
        map_put(&s->by_id, run->id, strlen(run->id), run);
        run->stage = QUEUED;
        if (file_has(run->home, TRIAL_WRAPPER_PID))
            begun(run);
    }
    free(job);
    wake_signal(&s->wake);
    return run != NULL ? &run->base : NULL;
}

/* What began lives on where nobody has it ended: that is Slurm's to do, whose
 * job is over. */
static void
slurm_clear(struct runner *r, const struct runner_phase *phase)
{
    (void)r;
    (void)phase;
}

static int
slurm_watch(struct run *base)
{
    struct slurm_run *run = (struct slurm_run *)base;
    struct slurm *s = slurm_of(base);

    run->watched = true;
    if (run->tells != 0 && run->news.in == NULL)
        list_add(&s->news, NULL, &run->news, run);
    wake_signal(&s->wake);
    return 0;
}

static void
slurm_stop(struct run *base, enum run_stop how)
{
    struct slurm_run *run = (struct slurm_run *)base;
    struct slurm *s = slurm_of(base);

    run->stopped = true;
    if (run->stage == TO_SUBMIT)
        over(run);
    else if (run->stage == RUNS && how == RUN_TERMINATE)
        add_cancel(s, CANCEL_TERM, run->id);
    else if (run->stage == RUNS)
        add_cancel(s, CANCEL_KILL, run->id);
    else if (run->stage == QUEUED)
        cancel(run);
    wake_signal(&s->wake);
}

/* What Slurm says it has ended for, where that knows by now that it has. */
static void
tell_why(const struct slurm_run *run, const char *said, char *out, size_t size)
{
    bool known = run->over_ns != 0;
    bool reason =
        known && run->reason[0] != '\0' && strcmp(run->reason, "None") != 0;

    snprintf(out, size, "job %.30s%s%.40s: %.31s%s%.40s%s%.100s", run->id,
             run->node[0] != '\0' ? " on " : "", run->node,
             known ? run->state : "ended", reason ? " " : "",
             reason ? run->reason : "", said[0] != '\0' ? ": " : "", said);
}

/* A signal has ended the wrapper, or there was no way to begin the script. */
static bool
is_killed(const struct slurm_run *run, const struct outcome *o)
{
    return o->kind == OUTCOME_LOST &&
           (strncmp(run->reason, "JobLaunchFailure", 16) == 0 ||
            strncmp(run->reason, "RaisedSignal", 12) == 0);
}

/* What Slurm starts a job with is there before its script: without it, and with
 * no word of that, its node sees nothing of the experiment, or can make no file
 * there, which Slurm tells its own log alone.  It is not for want of room: what
 * the folder lacks the manager would have lacked for the script, and a node
 * that has none for Slurm's own files has the job cancelled. */
static bool
is_blind(const struct slurm_run *run)
{
    const struct slurm *s = slurm_of(&run->base);
    char *words =
        job_path(s, run->batch != NULL ? run->batch->number : 0, run->id);
    bool blind = words != NULL && access(words, F_OK) != 0 && !run->cut &&
                 !run->stopped && run->node[0] != '\0' &&
                 strcmp(run->state, "FAILED") == 0 &&
                 !file_has(run->home, TRIAL_WRAPPER_PID);

    free(words);
    return blind;
}

/* What a node lacks, of which its trial is not told: it may begin elsewhere. */
static void
tell_unfit(const struct slurm_run *run, struct run_end *out)
{
    const struct slurm *s = slurm_of(&run->base);

    out->unbegun = true;
    snprintf(out->unfit, sizeof out->unfit, "does not see %.150s", s->folder);
    snprintf(out->outcome.text, sizeof out->outcome.text,
             "node %.40s does not see %.80s, or cannot write there: expected a "
             "file system of all nodes, or sharedFolder: false (mode: pilots)",
             run->node, s->folder);
}

/* The machine failed, or began nothing: that is not the trial's doing. */
static bool
is_machines(const struct slurm_run *run)
{
    return strcmp(run->state, "NODE_FAIL") == 0 ||
           strcmp(run->state, "BOOT_FAIL") == 0 ||
           (strcmp(run->state, "FAILED") == 0 &&
            !file_has(run->home, TRIAL_WRAPPER_PID));
}

static int
slurm_end(struct run *base, struct run_end *out, struct err *err)
{
    struct slurm_run *run = (struct slurm_run *)base;
    struct slurm *s = slurm_of(base);
    struct outcome *o = &out->outcome;
    bool blind = is_blind(run);
    char said[160];
    int rc = 0;

    *out = (struct run_end){.outcome = {.kind = OUTCOME_LOST}};
    if (run->refused[0] != '\0') {
        out->unbegun = true;
        snprintf(o->text, sizeof o->text, "%.255s", run->refused);
    } else {
        take_words(run, said, sizeof said);
        tell_why(run, said, out->why, sizeof out->why);
        rc = outcome_read(run->home, o, err);
        if (o->kind == OUTCOME_LOST && rc == 0)
            snprintf(o->text, sizeof o->text, "%s", out->why);
        if (strcmp(said, SCRIPT_RESTARTED) == 0)
            run->cut = !run->stopped; /* as no look has seen */
    }
    if (run->node[0] == '\0')
        memcpy(run->node, o->node, sizeof run->node);
    snprintf(out->place, sizeof out->place, "job %.30s%s%.50s", run->id,
             run->node[0] != '\0' ? " on " : "", run->node);
    if (o->kind == OUTCOME_LOST && !out->unbegun && rc == 0 && !run->cut &&
        !run->stopped && !file_has(run->home, TRIAL_WRAPPER_PID))
        snprintf(o->text, sizeof o->text,
                 "%.140s: it began nothing; does that node see %.70s?",
                 out->why, s->folder);
    out->again = !run->stopped && !out->unbegun &&
                 (run->cut || o->told || is_killed(run, o));
    if (out->again && run->over_ns == 0)
        cancel(run); /* Slurm does not know yet */
    o->out_of_memory = strcmp(run->state, "OUT_OF_MEMORY") == 0;
    memcpy(o->node, run->node, sizeof o->node);
    o->machine_failed = o->kind == OUTCOME_LOST && is_machines(run);
    if (blind && o->kind == OUTCOME_LOST && rc == 0)
        tell_unfit(run, out);
    if (strcmp(run->reason, "BadConstraints") == 0 &&
        strcmp(run->state, "FAILED") == 0 && run->node[0] == '\0') {
        out->unbegun = true; /* there is no node for it any more */
        tell_refusal(s, out->why, o->text, sizeof o->text);
    }
    batch_drop(s, run->batch);
    run_free(run);
    return rc;
}

static void
slurm_leave(struct run *base)
{
    run_free((struct slurm_run *)base);
}

static void
slurm_describe(const struct run *base, struct buf *out)
{
    const struct slurm_run *run = (const struct slurm_run *)base;

    if (run->id[0] == '\0')
        buf_add_text(out, "to be submitted to Slurm");
    else if (base->queued)
        buf_printf(out, "job %s is queued%s%s", run->id,
                   run->reason[0] != '\0' ? ": " : "", run->reason);
    else
        buf_printf(out, "job %s%s%s", run->id,
                   run->node[0] != '\0' ? " on " : "", run->node);
}

static void
slurm_plan(const struct runner *r, struct buf *out)
{
    const struct slurm *s = (const struct slurm *)r;
    struct jobs_command c = {0};

    jobs_options(&c, &s->setup);
    for (size_t i = 0; i < c.n; i++)
        buf_printf(out, "%s%s", i > 0 ? " " : "", c.words[i]);
    jobs_clear(&c);
}

const struct runner_ops runner_slurm = {
    .name = "slurm",
    .can = RUNNER_CHECKPOINTS | RUNNER_MEMORY | RUNNER_DEVICES |
           RUNNER_PROGRAMS | RUNNER_LASTS | RUNNER_ELSEWHERE,
    .open = slurm_open,
    .close = slurm_close,
    .settle = slurm_settle,
    .start = slurm_start,
    .adopt = slurm_adopt,
    .clear = slurm_clear,
    .watch = slurm_watch,
    .look = slurm_look,
    .stop = slurm_stop,
    .end = slurm_end,
    .leave = slurm_leave,
    .describe = slurm_describe,
    .plan = slurm_plan,
};
