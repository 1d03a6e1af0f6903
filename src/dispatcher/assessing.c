/* SPDX-License-Identifier: MIT */
#include "dispatcher/assessing.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/number.h"
#include "core/pack.h"
#include "dispatcher/explainer.h"
#include "dispatcher/series.h"
#include "dispatcher/side.h"
#include "json.h"
#include "plugin/assessor.h"
#include "plugin/loader.h"
#include "tunepipe/assessor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* An assessor's side. */
struct assessing {
    struct side side;
    struct assessor *assessor; /* NULL: none */
    const struct policy *policy;
    struct emitter emitter;
    const struct explainer *explainer; /* NULL: nobody */
    const struct log *log;
    struct series_map *living;
    struct buf payload;
};

static int
emit(struct assessing *a, struct emission e, struct err *err)
{
    e.sender = SENDER_ASSESSOR;
    if (emission_encode(&e, a->policy->extensions, &a->payload) != 0)
        return err_set(err, ERR_MEMORY, "command %" PRIu64 ": out of memory",
                       e.cause);
    a->emitter.emit(a->emitter.ctx, &e);
    return 0;
}

/* The answer to a synchronous report. */
static int
acknowledge(struct assessing *a, const struct command *cmd, bool stop,
            struct err *err)
{
    return emit(a,
                (struct emission){.cause = cmd->arrival,
                                  .code = CMD_ACKNOWLEDGE,
                                  .job = cmd->metric.job,
                                  .number = cmd->metric.sequence,
                                  .decision = stop ? TRIAL_STOP : TRIAL_GO},
                err);
}

/* The assessor failed: its command is skipped, or the session ends. */
static int
plugin_failed(const struct assessing *a, const struct command *cmd,
              struct err *err)
{
    err_place(err, "command %" PRIu64 " (%s)", cmd->arrival,
              command_info(cmd->code)->code);
    if (a->policy->on_error == ERROR_FAIL)
        return -1;
    log_error(a->log, "%s", err->text);
    return 0;
}

static struct tp_history
lend(struct series *series)
{
    return (struct tp_history){
        ._struct_size = sizeof(struct tp_history),
        .trial = series->trial,
        .attempt = series->attempt,
        .values = series->values,
        .n = series->n,
        .slot = &series->slot,
    };
}

static void
say_why(const struct assessing *a, const struct metric *m,
        const struct tp_history *h, const struct tp_verdict *v)
{
    char value[NUMBER_TEXT_MAX], threshold[NUMBER_TEXT_MAX];

    number_format(v->value, value);
    number_format(v->threshold, threshold);
    log_info(a->log, "trial '%.64s' stopped at step %zu: %s (%s, limit %s)",
             m->job, h->n - 1,
             v->rule != NULL ? v->rule : "the assessor's word", value,
             threshold);
}

static void
explain(const struct assessing *a, const struct command *cmd,
        const struct tp_history *h, const struct tp_verdict *v)
{
    struct judgement j = {
        .cause = cmd->arrival,
        .job = cmd->metric.job,
        .step = h->n - 1,
        .decision = v->decision == TP_STOP ? TRIAL_STOP : TRIAL_GO,
        .value = v->value,
        .threshold = v->threshold,
        .rule = v->rule,
    };

    if (a->explainer != NULL)
        a->explainer->judged(a->explainer->listener.ctx, &j);
}

static int
assess(struct assessing *a, const struct command *cmd, struct series *series,
       struct err *err)
{
    struct tp_history lent = lend(series);
    struct tp_verdict verdict = {._struct_size = sizeof verdict,
                                 .decision = TP_GO,
                                 .value = NAN,
                                 .threshold = NAN};

    if (a->explainer != NULL)
        a->explainer->begin(a->explainer->listener.ctx);
    if (assessor_assess(a->assessor, &lent, &verdict, err) != 0)
        return plugin_failed(a, cmd, err);
    explain(a, cmd, &lent, &verdict);
    if (verdict.decision != TP_STOP)
        return 0;
    series->stopped = true;
    say_why(a, &cmd->metric, &lent, &verdict);
    return emit(a,
                (struct emission){.cause = cmd->arrival,
                                  .code = CMD_KILL_TRIAL,
                                  .job = cmd->metric.job,
                                  .decision = TRIAL_STOP},
                err);
}

/* An older attempt ends as failed; the assessor frees what it kept of it. */
static int
restart(struct assessing *a, const struct command *cmd, struct series *series,
        struct err *err)
{
    struct tp_history lent = lend(series);
    bool before = a->policy->nni && /* its KI went to the manager before */
                  series->attempt / 2 < cmd->metric.attempt / 2;
    int rc = 0;

    if (series->n > 0 &&
        assessor_ended(a->assessor, &lent, TP_TRIAL_FAILED, err) != 0)
        rc = plugin_failed(a, cmd, err);
    series_restart(series, cmd->metric.attempt);
    series->stopped = series->stopped && !before;
    return rc;
}

static int
handle_metric(struct assessing *a, const struct command *cmd, struct err *err)
{
    const struct metric *m = &cmd->metric;
    struct series *series = series_get(a->living, m->job);
    int grown;

    if (series == NULL)
        return err_set(err, ERR_MEMORY, "histories: out of memory");
    if (m->attempt > series->attempt && restart(a, cmd, series, err) != 0)
        return -1;
    grown = series_enter(series, m->sequence, m->value);
    if (grown < 0)
        return err_set(err, ERR_MEMORY, "histories: out of memory");
    if (grown > 0 && !series->stopped && assess(a, cmd, series, err) != 0)
        return -1;
    return m->sync ? acknowledge(a, cmd, series->stopped, err) : 0;
}

static int
end_how(const struct trial_end *end)
{
    if (end->stopped)
        return TP_TRIAL_STOPPED;
    switch (end->event) {
    case END_SUCCEEDED:
        return TP_TRIAL_SUCCEEDED;
    case END_FAILED:
        return TP_TRIAL_FAILED;
    case END_EARLY_STOPPED:
        return TP_TRIAL_STOPPED;
    case END_USER_CANCELED:
    case END_SYS_CANCELED:
    case END_PAUSED:
        break;
    }
    return TP_TRIAL_CANCELLED;
}

static int
end_trial(struct assessing *a, const struct command *cmd, const char *job,
          int how, struct err *err)
{
    struct series *series = series_remove(a->living, job);
    struct tp_history lent;
    int rc = 0;

    if (series == NULL)
        return 0;
    lent = lend(series);
    if (series->n > 0 && assessor_ended(a->assessor, &lent, how, err) != 0)
        rc = plugin_failed(a, cmd, err);
    series_free(series);
    return rc;
}

static int
handle_end(struct assessing *a, const struct command *cmd, struct err *err)
{
    return end_trial(a, cmd, cmd->end.job, end_how(&cmd->end), err);
}

/* Trials that a manager before this one ran, and this one does not. */
static int
handle_loss(struct assessing *a, const struct command *cmd, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < cmd->n_runs && rc == 0; i++)
        rc = end_trial(a, cmd, cmd->runs[i].job, TP_TRIAL_CANCELLED, err);
    return rc;
}

/* ---- the side ---- */

static struct assessing *
self(struct side *s)
{
    return (struct assessing *)s;
}

static const struct assessing *
look(const struct side *s)
{
    return (const struct assessing *)s;
}

static int
handle(struct side *s, const struct command *cmd, struct err *err)
{
    struct assessing *a = self(s);
    const struct series *series;

    if (cmd->code == CMD_TRIAL_END)
        return handle_end(a, cmd, err);
    if (cmd->code == CMD_REQUEST_TRIALS)
        return handle_loss(a, cmd, err);
    if (cmd->code != CMD_METRIC)
        return 0;
    if (a->assessor != NULL && cmd->metric.has_value)
        return handle_metric(a, cmd, err);
    if (!cmd->metric.sync)
        return 0;
    /* Nobody judges, or it is not applied: its trial still waits. */
    series = series_find(a->living, cmd->metric.job);
    return acknowledge(a, cmd, series != NULL && series->stopped, err);
}

/* ---- packed ---- */

/* The series that the assessor knows of, as it sees them. */
struct lent_all {
    struct tp_history *lent;
    const struct tp_history **list;
    size_t n;
};

static void
lent_free(struct lent_all *l)
{
    free(l->lent);
    free(l->list);
}

static int
lend_all(const struct assessing *a, struct lent_all *out, struct err *err)
{
    size_t n;
    struct series **sorted = series_sorted(a->living, &n);

    *out = (struct lent_all){calloc(n + 1, sizeof *out->lent),
                             calloc(n + 1, sizeof *out->list), 0};
    if (sorted == NULL || out->lent == NULL || out->list == NULL) {
        free(sorted);
        lent_free(out);
        return err_set(err, ERR_MEMORY, "histories: out of memory");
    }
    for (size_t i = 0; i < n; i++)
        if (sorted[i]->n > 0) {
            out->lent[out->n] = lend(sorted[i]);
            out->list[out->n] = &out->lent[out->n];
            out->n++;
        }
    free(sorted);
    return 0;
}

static int
save_assessor(const struct assessing *a, struct buf *out, struct err *err)
{
    struct lent_all living;
    int rc;

    if (a->assessor == NULL)
        return 1;
    if (lend_all(a, &living, err) != 0)
        return -1;
    rc = assessor_save(a->assessor, living.list, living.n, out, err);
    lent_free(&living);
    return rc;
}

static int
save(const struct side *s, struct buf *out, struct err *err)
{
    const struct assessing *a = look(s);
    size_t len = out->len;
    int rc;

    series_save(a->living, out);
    rc = buf_check(out, "what a snapshot holds", err);
    if (rc == 0)
        rc = save_assessor(a, out, err);
    if (rc != 1)
        out->len = len;
    return rc;
}

static int
load(struct side *s, struct unpack *in, struct err *err)
{
    struct assessing *a = self(s);
    struct lent_all living;
    int rc;

    if (series_load(a->living, in) != 0)
        return err_set(err, ERR_LOG, "histories: damaged, or out of memory");
    if (a->assessor == NULL)
        return 0;
    if (lend_all(a, &living, err) != 0)
        return -1;
    rc = assessor_load(a->assessor, living.list, living.n, in, err);
    lent_free(&living);
    return rc;
}

/* ---- start and end ---- */

static void
bar(struct side *s, bool barred)
{
    if (self(s)->assessor != NULL)
        assessor_bar(self(s)->assessor, barred);
}

static void
listen(struct side *s, const struct explainer *explainer)
{
    struct assessing *a = self(s);

    a->explainer = explainer;
    if (a->assessor != NULL)
        assessor_listen(a->assessor,
                        explainer == NULL ? NULL : &explainer->listener);
}

static void
describe(const struct side *s, struct buf *out)
{
    buf_add_text(out, "\"assessor\": ");
    if (look(s)->assessor != NULL)
        assessor_describe(look(s)->assessor, out);
    else
        buf_add_text(out, "null");
}

static int
check(const struct side *s, struct jval head, struct err *err)
{
    const struct plugin *p;
    struct jval v;

    if (look(s)->assessor == NULL || !jval_get(head, "assessor", &v))
        return 0;
    p = assessor_plugin(look(s)->assessor);
    return side_check_version(v, "assessor", p->name, p->version, err);
}

static void
free_assessing(struct side *s)
{
    struct assessing *a = self(s);

    series_map_free(a->living);
    buf_fini(&a->payload);
    free(a);
}

struct side *
assessing_new(struct assessor *assessor, const struct policy *policy,
              struct emitter emitter, const struct log *log, struct err *err)
{
    static const struct side_ops ops = {
        .free = free_assessing,
        .command = handle,
        .bar = bar,
        .listen = listen,
        .save = save,
        .load = load,
        .describe = describe,
        .check = check,
    };
    struct assessing *a = calloc(1, sizeof *a);

    if (a == NULL || (a->living = series_map_new()) == NULL) {
        free(a);
        err_set(err, ERR_MEMORY, "histories: out of memory");
        return NULL;
    }
    a->side.ops = &ops;
    a->assessor = assessor;
    a->policy = policy;
    a->emitter = emitter;
    a->log = log;
    buf_init(&a->payload, SIZE_MAX / 2); /* a job's name, escaped */
    return &a->side;
}
