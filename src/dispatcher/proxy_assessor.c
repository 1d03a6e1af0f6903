/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The program is told each intermediate metric and each end of a trial that had
 * any.  It says KI whenever it likes, of
 * which one for each trial is passed on, or AK where the trial waits for an
 * answer, and keeps the histories itself.  A trial is remembered beyond its
 * end, as the program's word on it may cross its EN.
 *
 * A program that ended is started again with the first metric of a trial that
 * is new.  The new program judges no trial that has reported before: those go
 * on. */

#include "dispatcher/proxy.h"

#include "core/err.h"
#include "core/map.h"
#include "dispatcher/proxy_setup.h"
#include "frame.h"
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A trial that has reported. */
struct judged {
    char *job;
    /* Number of the program's start that was told of the trial. */
    uint64_t program;
    uint64_t attempt; /* counted under policy nni alone */
    bool stopped, ended;
};

/* A synchronous report that waits for its AK. */
struct report {
    struct report *next;
    struct judged *trial;
    uint64_t sequence;
};

struct proxy_assessor {
    struct proxy base;
    struct map trials; /* job -> struct judged */
    uint64_t program;  /* how often the program was started */
    struct report *reports, **last;
    size_t n_reports;
};

/* How a waiting report is answered; SILENCE: not at all. */
enum answer { ANSWER_GO, ANSWER_STOP, ANSWER_SILENCE };

static struct proxy_assessor *
self(struct proxy *p)
{
    return (struct proxy_assessor *)p;
}

/* ---- trials ---- */

static void
judged_free(struct judged *trial)
{
    if (trial != NULL)
        free(trial->job);
    free(trial);
}

/* NULL: the trial has not reported. */
static struct judged *
find_trial(struct proxy_assessor *a, const char *job)
{
    return map_get(&a->trials, job, strlen(job));
}

/* Adds a trial that has not reported yet; NULL: out of memory. */
static struct judged *
add_trial(struct proxy_assessor *a, const char *job)
{
    struct judged *trial = calloc(1, sizeof *trial);

    if (trial == NULL || (trial->job = strdup(job)) == NULL ||
        map_put(&a->trials, job, strlen(job), trial) != 0) {
        judged_free(trial);
        side_out_of_memory(&a->base.side);
        return NULL;
    }
    if (proxy_restart(&a->base))
        a->program++;
    trial->program = a->program;
    return trial;
}

/* Begins a trial anew: a manager of NNI's runs it again, from the beginning. */
static void
begin_anew(struct proxy_assessor *a, struct judged *trial, uint64_t attempt)
{
    if (proxy_restart(&a->base))
        a->program++;
    if (trial->attempt / 2 < attempt / 2)
        trial->stopped = false; /* an earlier manager got its KI */
    trial->program = a->program;
    trial->attempt = attempt;
    trial->ended = false;
}

static bool
is_heard(const struct proxy_assessor *a, const struct judged *trial)
{
    return trial->program == a->program && !trial->ended && !a->base.gone;
}

/* ---- answers ---- */

static void
acknowledge_report(struct proxy_assessor *a, const char *job, uint64_t sequence,
                   bool stop)
{
    side_emit(&a->base.side,
              (struct emission){.code = CMD_ACKNOWLEDGE,
                                .job = job,
                                .number = sequence,
                                .decision = stop ? TRIAL_STOP : TRIAL_GO});
}

static int
add_report(struct proxy_assessor *a, struct judged *trial, uint64_t sequence)
{
    struct report *r = malloc(sizeof *r);

    if (r == NULL)
        return -1;
    *r = (struct report){NULL, trial, sequence};
    *a->last = r;
    a->last = &r->next;
    a->n_reports++;
    return 0;
}

/* Takes the report at *link out of the list. */
static void
remove_report(struct proxy_assessor *a, struct report **link)
{
    struct report *r = *link;

    *link = r->next;
    if (a->last == &r->next)
        a->last = link;
    a->n_reports--;
    free(r);
}

/* Answers all waiting reports of the trial, or of all trials (NULL). */
static void
answer_reports(struct proxy_assessor *a, const struct judged *trial,
               enum answer answer)
{
    struct report **link = &a->reports;

    while (*link != NULL) {
        if (trial != NULL && (*link)->trial != trial) {
            link = &(*link)->next;
            continue;
        }
        if (answer != ANSWER_SILENCE)
            acknowledge_report(a, (*link)->trial->job, (*link)->sequence,
                               answer == ANSWER_STOP);
        remove_report(a, link);
    }
}

/* Sends KI where the trial was not stopped yet. */
static void
stop_trial(struct proxy_assessor *a, struct judged *trial)
{
    if (trial->stopped)
        return;
    trial->stopped = true;
    side_emit(&a->base.side, (struct emission){.code = CMD_KILL_TRIAL,
                                               .job = trial->job,
                                               .decision = TRIAL_STOP});
}

/* ---- from the manager ---- */

static void
send_metric(struct proxy *p, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    struct json_writer w = proxy_open_ids(p, &m->parameter, m->job);

    json_add_text(&w, "type", "PERIODICAL");
    json_add_unsigned(&w, "sequence", m->sequence);
    proxy_write_value(cmd, json_value(&w, "value"));
    if (m->attempt > 0)
        json_add_unsigned(&w, "attempt", m->attempt);
    if (m->sync)
        json_add_bool(&w, "sync", true);
    json_close(&w);
    proxy_send(p, CMD_METRIC);
}

static void
metric(struct proxy_assessor *a, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    struct judged *trial = find_trial(a, m->job);

    if (trial == NULL && m->has_value) {
        if ((trial = add_trial(a, m->job)) == NULL)
            return;
        trial->attempt = m->attempt;
    }
    if (trial != NULL && a->base.side.policy->nni &&
        m->attempt > trial->attempt)
        begin_anew(a, trial, m->attempt);
    if (trial == NULL || !m->has_value || trial->stopped ||
        !is_heard(a, trial)) {
        if (m->sync)
            acknowledge_report(a, m->job, m->sequence,
                               trial != NULL && trial->stopped);
        return;
    }
    if (m->sync && add_report(a, trial, m->sequence) != 0) {
        side_out_of_memory(&a->base.side);
        return;
    }
    send_metric(&a->base, cmd);
}

static void
send_end(struct proxy *p, const struct trial_end *end)
{
    struct json_writer w;
    struct buf hyper;

    buf_init(&hyper, SIZE_MAX / 2);
    w = proxy_open_parameter(&end->parameter, &hyper);
    json_close(&w);
    proxy_send_end(p, end, &hyper);
    buf_fini(&hyper);
}

static void
trial_end(struct proxy_assessor *a, const struct trial_end *end)
{
    struct judged *trial = find_trial(a, end->job);

    if (trial == NULL || trial->ended)
        return;
    answer_reports(a, trial, ANSWER_SILENCE);
    if (is_heard(a, trial))
        send_end(&a->base, end);
    trial->ended = true;
}

/* cmd names the trials that an earlier manager ran and this one does not: ends
 * them. */
static void
end_lost_trials(struct proxy_assessor *a, const struct command *cmd)
{
    for (size_t i = 0; i < cmd->n_runs; i++) {
        const struct trial_end end = {.job = cmd->runs[i].job,
                                      .event = END_SYS_CANCELED,
                                      .parameter = cmd->runs[i].parameter};

        trial_end(a, &end);
    }
}

static void
command(struct proxy *p, const struct command *cmd)
{
    if (cmd->code == CMD_METRIC)
        metric(self(p), cmd);
    else if (cmd->code == CMD_TRIAL_END)
        trial_end(self(p), &cmd->end);
    else if (cmd->code == CMD_REQUEST_TRIALS)
        end_lost_trials(self(p), cmd);
}

/* ---- from the program ---- */

static void
take_kill(struct proxy_assessor *a, struct jval root)
{
    struct judged *trial;
    const char *job;

    if (!jval_string(root, &job, NULL)) {
        proxy_failed(&a->base, "expected a trial_job_id, a text, not %s",
                     jval_type_name(root));
        return;
    }
    trial = find_trial(a, job);
    if (trial == NULL) {
        proxy_failed(&a->base, "'%.64s' is no trial that has reported", job);
        return;
    }
    if (trial->ended)
        return;
    stop_trial(a, trial);
    answer_reports(a, trial, ANSWER_STOP);
}

static struct report **
find_report(struct proxy_assessor *a, const char *job, uint64_t sequence)
{
    struct report **link = &a->reports;

    while (*link != NULL && (strcmp((*link)->trial->job, job) != 0 ||
                             (*link)->sequence != sequence))
        link = &(*link)->next;
    return link;
}

static void
take_acknowledge(struct proxy_assessor *a, struct jval root)
{
    const char *job, *decision;
    struct report **link;
    struct judged *trial;
    uint64_t sequence;
    struct jval v;
    bool stops;

    if (!jval_get(root, "trial_job_id", &v) || !jval_string(v, &job, NULL) ||
        !jval_get(root, "sequence", &v) || !jval_uint(v, &sequence) ||
        !jval_get(root, "decision", &v) || !jval_string(v, &decision, NULL) ||
        (strcmp(decision, "go") != 0 && strcmp(decision, "stop") != 0)) {
        proxy_failed(&a->base, "expected trial_job_id, sequence, and decision "
                               "\"go\" or \"stop\"");
        return;
    }
    link = find_report(a, job, sequence);
    trial = find_trial(a, job);
    if (*link == NULL && trial != NULL && (trial->stopped || trial->ended))
        return; /* comes behind the KI, or crossed the trial's end */
    if (*link == NULL) {
        proxy_failed(&a->base,
                     "trial '%.64s', sequence %" PRIu64 ": nobody waits for it",
                     job, sequence);
        return;
    }
    stops = strcmp(decision, "stop") == 0;
    if (stops)
        stop_trial(a, trial);
    acknowledge_report(a, job, sequence, stops);
    remove_report(a, link);
}

static void
take_frame(struct proxy *p, const struct frame *frame)
{
    bool kills = strcmp(frame->code, command_info(CMD_KILL_TRIAL)->code) == 0;
    struct json *doc;
    struct err err;

    if (strcmp(frame->code, command_info(CMD_INITIALIZED)->code) == 0)
        return; /* a further ID changes nothing */
    if (strcmp(frame->code, command_info(CMD_ERROR)->code) == 0) {
        proxy_says(p, frame);
        return;
    }
    if (!kills &&
        strcmp(frame->code, command_info(CMD_ACKNOWLEDGE)->code) != 0) {
        proxy_failed(p, "expected KI, AK, ER or ID");
        return;
    }
    doc = json_parse(frame->payload, frame->len, JSON_STRICT, &err);
    if (doc == NULL)
        proxy_failed(p, "%s%s", err.text,
                     kills ? ", expected a trial_job_id as JSON, with its "
                             "quotes"
                           : "");
    else if (kills)
        take_kill(self(p), json_root(doc));
    else
        take_acknowledge(self(p), json_root(doc));
    json_free(doc);
}

static bool
waits(const struct proxy *p)
{
    return ((const struct proxy_assessor *)p)->reports != NULL;
}

static size_t
bytes(const struct proxy *p)
{
    return ((const struct proxy_assessor *)p)->n_reports *
           sizeof(struct report);
}

static void
name_due(const struct proxy *p, char *out, size_t size)
{
    const struct report *r = ((const struct proxy_assessor *)p)->reports;

    snprintf(out, size, "AK for sequence %" PRIu64 " of trial '%.40s'",
             r->sequence, r->trial->job);
}

/* The program is silent for too long, or gone: trials that wait for its answer
 * go on. */
static void
let_go(struct proxy *p)
{
    answer_reports(self(p), NULL, ANSWER_GO);
}

/* ---- start and end ---- */

static void
free_assessor(struct proxy *p)
{
    struct proxy_assessor *a = self(p);
    struct judged *trial;
    size_t at = 0;

    while (a->reports != NULL)
        remove_report(a, &a->reports);
    while ((trial = map_next(&a->trials, &at)) != NULL)
        judged_free(trial);
    map_fini(&a->trials);
    proxy_fini(p);
    free(a);
}

struct proxy *
proxy_assessor_new(const struct proxy_setup *setup, const struct policy *policy,
                   struct emitter emitter, const struct log *log,
                   struct err *err)
{
    static const struct proxy_kind kind = {
        .command = command,
        .frame = take_frame,
        .late = let_go,
        .gone = let_go,
        .waits = waits,
        .bytes = bytes,
        .name_due = name_due,
        .free = free_assessor,
    };
    struct proxy_assessor *a = calloc(1, sizeof *a);

    if (a == NULL) {
        err_set(err, ERR_MEMORY, "%s: out of memory", setup->title);
        return NULL;
    }
    proxy_init(&a->base, &kind, SENDER_ASSESSOR, setup, policy, emitter, log);
    a->last = &a->reports;
    return &a->base;
}
