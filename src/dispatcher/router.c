/* SPDX-License-Identifier: MIT */
#include "dispatcher/router.h"

#include "core/err.h"
#include "core/idset.h"
#include "core/log.h"
#include "core/pack.h"
#include "dispatcher/marks.h"
#include "dispatcher/naming.h"
#include "dispatcher/resend.h"
#include "frame.h"
#include "json.h"
#include "objectives/objectives.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct router {
    struct marks *marks;
    uint64_t frames; /* frames of the manager's so far */
    bool resends;    /* the manager has extensions: what it may not have read is
                        kept for a dispatcher that goes on, and it knows AK */
    bool nni;
    bool advised;         /* all commands go to the default queue */
    bool ends_whole;      /* ends do, unsplit */
    bool restarted;       /* the manager was started again and has not yet asked
                             (GE) */
    uint64_t started;     /* how many IN came, if nni */
    struct idset rerun;   /* parameter ids in the restarted manager's AD */
    struct resend unread; /* frames that the manager may not have read */
    const struct objectives *objectives; /* NULL: results are one number */
    const struct log *log;
};

struct router *
router_new(const struct log *log, struct err *err)
{
    struct router *r = calloc(1, sizeof *r);

    if (r == NULL || (r->marks = marks_new()) == NULL) {
        free(r);
        err_set(err, ERR_MEMORY, "router: out of memory");
        return NULL;
    }
    r->log = log;
    resend_init(&r->unread);
    return r;
}

void
router_free(struct router *r)
{
    if (r == NULL)
        return;
    marks_free(r->marks);
    idset_fini(&r->rerun);
    resend_fini(&r->unread);
    free(r);
}

void
router_remember(struct router *r)
{
    r->resends = true;
}

void
router_serve_nni(struct router *r, bool reissue)
{
    r->nni = true;
    if (reissue)
        marks_share(r->marks);
}

void
router_serve_advisor(struct router *r)
{
    r->advised = r->ends_whole = true;
}

void
router_keep_ends(struct router *r)
{
    r->ends_whole = true;
}

void
router_judge(struct router *r, const struct objectives *o)
{
    r->objectives = o;
    marks_judge(r->marks, o);
}

const struct resend *
router_unread(const struct router *r)
{
    return &r->unread;
}

static void
push_command(struct routed *out, struct chain *chain, struct command *cmd)
{
    out->bytes += cmd->cost;
    chain_add(chain, cmd);
}

/* The queue of the side that judges intermediate metrics. */
static struct chain *
judging_queue(const struct router *r, struct routed *out)
{
    return r->advised ? &out->by_default : &out->assessor;
}

/* The lowest attempt number that a trial has under this manager.  A restarted
 * one numbers the attempts of a trial anew, so each IN adds two; see
 * marks_attempt(). */
static uint64_t
lowest_attempt(const struct router *r)
{
    return r->started > 0 ? 2 * (r->started - 1) : 0;
}

/* ---- metrics ---- */

static const char *const verdict_texts[] = {
    [MARKS_COUNTED] = "counted",
    [MARKS_REPEATED] = "the same attempt and sequence were reported before: "
                       "recorded, not applied",
    [MARKS_ENDED] = "the trial has ended: recorded, not applied",
    [MARKS_UNKNOWN] = "no such trial was given out: recorded, not applied",
    [MARKS_SUPERSEDED] = "a newer attempt has reported: recorded, not applied",
    [MARKS_TOO_FAR] = "the sequence is more than 65535 ahead of what was "
                      "reported: recorded, not applied",
    [MARKS_MEMORY] = "out of memory",
};

/* Says in a line why a metric is not applied.  It is no error when a resumed
 * manager repeats a synchronous metric whose answer it lacks, or when a metric
 * was under way as its trial ended. */
static void
complain_of_metric(const struct router *r, const struct command *cmd,
                   const char *text)
{
    const struct metric *m = &cmd->metric;
    bool is_asked_again = m->sync && text == verdict_texts[MARKS_REPEATED];
    bool is_late = text == verdict_texts[MARKS_ENDED] ||
                   text == verdict_texts[MARKS_SUPERSEDED];
    char which[NAMING_MAX];

    log_line(r->log, is_asked_again || is_late ? LOG_INFO : LOG_ERROR,
             "command %" PRIu64 " (ME): %s, sequence %" PRIu64 ": %s",
             cmd->arrival, naming_trial(which, m->job, &m->parameter),
             m->sequence, text);
}

/* Reads the value of a metric for what it is; *why says why it has none. */
static void
read_metric_value(const struct router *r, struct metric *m, struct err *why)
{
    err_clear(why);
    if (m->type == METRIC_REQUEST)
        return;
    if (r->objectives != NULL)
        objectives_stamp(r->objectives, m, why);
    else if (!m->has_value)
        err_set(why, ERR_INPUT, "%s%s%s", m->problem,
                m->shown != NULL ? ": " : "", m->shown != NULL ? m->shown : "");
}

/* Drops a metric that is not applied, for the reason in `text`.  A trial that
 * reported synchronously still waits for its answer: its metric goes on to the
 * side that judges, without the value. */
static enum router_result
set_aside(struct router *r, struct command *cmd, const char *text,
          struct routed *out)
{
    complain_of_metric(r, cmd, text);
    if (cmd->metric.sync && cmd->metric.type == METRIC_PERIODICAL) {
        cmd->metric.has_value = false;
        push_command(out, judging_queue(r, out), cmd);
    } else {
        command_free(cmd);
    }
    return ROUTER_ON;
}

static enum router_result
route_metric(struct router *r, struct command *cmd, struct routed *out)
{
    struct metric *m = &cmd->metric;
    bool periodical = m->type == METRIC_PERIODICAL;
    enum marks_verdict verdict;
    struct err why;

    /* a manager without extensions does not know AK */
    m->sync = m->sync && r->resends;
    if (r->nni)
        m->attempt =
            marks_attempt(r->marks, m->job, periodical ? m->sequence : 1,
                          lowest_attempt(r), &r->rerun);
    read_metric_value(r, m, &why);
    if (why.code == ERR_MEMORY)
        goto no_memory;
    if (!m->has_value && m->type == METRIC_FINAL)
        return set_aside(r, cmd, why.text, out);
    if (!m->has_value && periodical) {
        complain_of_metric(r, cmd, why.text);
        m->value = NAN; /* its sequence is taken: later metrics are judged */
        m->has_value = true;
    }
    verdict = periodical ? marks_metric(r->marks, m) : marks_final(r->marks, m);
    /* A final result may come after its trial's end, or be of a trial that
     * only the default worker can tell to be unknown. */
    if (verdict == MARKS_COUNTED ||
        (!periodical && (verdict == MARKS_ENDED || verdict == MARKS_UNKNOWN))) {
        push_command(out, periodical ? judging_queue(r, out) : &out->by_default,
                     cmd);
        return ROUTER_ON;
    }
    if (verdict != MARKS_MEMORY)
        return set_aside(r, cmd, verdict_texts[verdict], out);
no_memory:
    command_free(cmd);
    return ROUTER_MEMORY;
}

/* ---- ends ---- */

static enum router_result
route_end(struct router *r, struct command *cmd, struct routed *out)
{
    struct command *half;

    cmd->end.sync = cmd->end.sync && r->resends;
    if (r->nni)
        cmd->end.attempt = marks_attempt(r->marks, cmd->end.job, 1,
                                         lowest_attempt(r), &r->rerun);
    if (marks_end(r->marks, &cmd->end) != 0)
        goto no_memory;
    if (cmd->end.repeated) {
        log_info(r->log,
                 "command %" PRIu64 " (EN): trial '%.64s': its end was told "
                 "before: recorded, not applied",
                 cmd->arrival, cmd->end.job);
        command_free(cmd);
        return ROUTER_ON;
    }
    if (r->ends_whole) {
        push_command(out, &out->by_default, cmd);
        return ROUTER_ON;
    }
    half = command_split_end(cmd);
    if (half == NULL)
        goto no_memory;
    half->cost = cmd->cost;
    push_command(out, &out->by_default, half);
    push_command(out, &out->assessor, cmd);
    return ROUTER_ON;
no_memory:
    command_free(cmd);
    return ROUTER_MEMORY;
}

/* ---- trials of an earlier run ---- */

static void
note_recovered(struct router *r, const struct command *cmd)
{
    struct jval list = json_root(cmd->document), id;
    uint64_t number;

    for (size_t i = 0; i < jval_count(list); i++)
        if (jval_get(jval_at(list, i), "parameter_id", &id) &&
            jval_uint(id, &number) && number <= MARKS_RECOVERED_MAX)
            marks_issued(r->marks, number + 1);
}

/* ---- a manager of NNI's that is started again ---- */

/* Ends the trials of an earlier manager that no AD named: they are lost, and
 * the assessor is told, too. */
static enum router_result
lose_trials(struct router *r, struct command *cmd, struct routed *out)
{
    struct command *loss;

    if (marks_lose(r->marks, lowest_attempt(r), cmd) != 0)
        return ROUTER_MEMORY;
    if (cmd->n_runs == 0 || r->advised)
        return ROUTER_ON;
    loss = command_new_loss(cmd);
    if (loss == NULL)
        return ROUTER_MEMORY;
    loss->cost = sizeof *loss;
    push_command(out, &out->assessor, loss);
    return ROUTER_ON;
}

static enum router_result
see_restart(struct router *r, struct command *cmd, struct routed *out)
{
    int rc = 0;

    if (cmd->code == CMD_INITIALIZE) {
        r->restarted = ++r->started > 1;
        idset_fini(&r->rerun);
    } else if (r->restarted && cmd->code == CMD_IMPORT) {
        rc = marks_list(r->marks, cmd);
    } else if (cmd->code == CMD_ADD_CUSTOM) {
        rc = marks_rerun(r->marks, json_root(cmd->document), lowest_attempt(r),
                         &r->rerun);
    } else if (r->restarted && cmd->code == CMD_REQUEST_TRIALS &&
               cmd->request.problem == NULL) {
        r->restarted = false;
        return lose_trials(r, cmd, out);
    }
    return rc == 0 ? ROUTER_ON : ROUTER_MEMORY;
}

/* ---- the table's word ---- */

static enum router_result
route_command(struct router *r, struct command *cmd, struct routed *out)
{
    switch (command_info(cmd->code)->queue) {
    case QUEUE_DEFAULT:
        if (r->nni && see_restart(r, cmd, out) != ROUTER_ON) {
            command_free(cmd);
            return ROUTER_MEMORY;
        }
        if (cmd->code == CMD_ADD_CUSTOM)
            note_recovered(r, cmd);
        push_command(out, &out->by_default, cmd);
        return ROUTER_ON;
    case QUEUE_ASSESSOR:
        push_command(out, &out->assessor, cmd);
        return ROUTER_ON;
    case QUEUE_SPLIT:
        return cmd->code == CMD_METRIC ? route_metric(r, cmd, out)
                                       : route_end(r, cmd, out);
    case QUEUE_ROUTER:
    case QUEUE_NONE:
        break;
    }
    command_free(cmd);
    return ROUTER_ON;
}

enum router_result
router_frame(struct router *r, const struct frame *frame, uint64_t arrival,
             struct routed *out)
{
    struct command *cmd;
    struct err err;

    r->frames++;
    cmd = command_decode(frame, arrival, &err);
    if (cmd == NULL) {
        log_error(r->log, "command %" PRIu64 " (%s): %s", arrival, frame->code,
                  err.text);
        return err.code == ERR_MEMORY ? ROUTER_MEMORY : ROUTER_ON;
    }
    if (cmd->code == CMD_TERMINATE) {
        command_free(cmd);
        return ROUTER_TERMINATE;
    }
    if (r->resends)
        resend_command(&r->unread, cmd);
    if (r->unread.failed) {
        command_free(cmd);
        return ROUTER_MEMORY;
    }
    cmd->position = r->frames;
    cmd->payload = frame->payload;
    cmd->payload_len = frame->len;
    cmd->cost = sizeof *cmd + frame->len;
    return route_command(r, cmd, out);
}

uint64_t
router_frames(const struct router *r)
{
    return r->frames;
}

void
router_see(const struct router *r, const struct viewer *viewer)
{
    marks_see(r->marks, viewer);
}

void
router_written(struct router *r, const struct emission *e)
{
    if (e->code == CMD_NEW_TRIAL && e->parameter.kind == PARAMETER_NUMBER)
        marks_issued(r->marks, e->parameter.number + 1);
    else if (e->code == CMD_KILL_TRIAL && e->job != NULL)
        marks_killed(r->marks, e->job);
    if (r->resends)
        resend_written(&r->unread, e);
}

void
router_save(const struct router *r, struct buf *out)
{
    pack_u64(out, r->frames);
    marks_save(r->marks, out);
    resend_save(&r->unread, out);
    if (r->nni) {
        pack_u64(out, r->started);
        pack_u64(out, r->restarted);
        idset_save(&r->rerun, out);
    }
}

int
router_load(struct router *r, struct unpack *in)
{
    r->frames = unpack_u64(in);
    if (marks_load(r->marks, in) != 0)
        return -1;
    if (resend_load(&r->unread, in) != 0)
        return -1;
    if (r->nni) {
        r->started = unpack_u64(in);
        r->restarted = unpack_bool(in);
        idset_load(&r->rerun, in);
    }
    return in->failed ? -1 : 0;
}
