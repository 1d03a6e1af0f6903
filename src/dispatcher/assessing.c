/* SPDX-License-Identifier: MIT */
#include "dispatcher/assessing.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "dispatcher/explainer.h"
#include "dispatcher/judged.h"
#include "dispatcher/series.h"
#include "dispatcher/side.h"
#include "json.h"
#include "plugin/assessor.h"
#include "plugin/loader.h"
#include "tunepipe/assessor.h"

#include <math.h>
#include <stdlib.h>

/* An assessor's side. */
struct assessing {
    struct side side;
    struct assessor *assessor; /* NULL: nothing is judged */
    /* Is told each judgement; NULL: nobody. */
    const struct explainer *explainer;
    struct series_map *living;
    struct judged judged;
};

/* Answers a synchronous report with AK: go on, or stop. */
static void
acknowledge_report(struct assessing *a, const struct metric *m, bool stop)
{
    side_emit(&a->side,
              (struct emission){.code = CMD_ACKNOWLEDGE,
                                .job = m->job,
                                .number = m->sequence,
                                .decision = stop ? TRIAL_STOP : TRIAL_GO});
}

static struct tp_history
lend_series(struct series *series)
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
assess_metric(struct assessing *a, const struct metric *m,
              struct series *series)
{
    struct tp_history lent = lend_series(series);
    struct tp_verdict verdict = {._struct_size = sizeof verdict,
                                 .decision = TP_GO,
                                 .value = NAN,
                                 .threshold = NAN};
    struct err err;

    if (a->explainer != NULL)
        a->explainer->begin(a->explainer->listener.ctx);
    if (assessor_assess(a->assessor, &lent, &verdict, &err) != 0) {
        side_failed(&a->side, &err);
        return;
    }
    series->stopped = verdict.decision == TP_STOP;
    side_judge(&a->side, a->explainer,
               &(struct judgement){
                   .cause = a->side.arrival,
                   .job = m->job,
                   .step = lent.n - 1,
                   .decision = series->stopped ? TRIAL_STOP : TRIAL_GO,
                   .value = verdict.value,
                   .threshold = verdict.threshold,
                   .rule = verdict.rule,
               });
    if (!series->stopped)
        return;
    side_emit(&a->side, (struct emission){.code = CMD_KILL_TRIAL,
                                          .job = m->job,
                                          .decision = TRIAL_STOP});
}

/* Tells the assessor that a trial, or an attempt of it, has ended; the assessor
 * then frees what it kept for that. */
static void
tell_end(struct assessing *a, struct series *series, int how)
{
    struct tp_history lent = lend_series(series);
    struct err err;

    if (series->n > 0 && assessor_ended(a->assessor, &lent, how, &err) != 0)
        side_failed(&a->side, &err);
}

/* Begins a trial's series anew for a metric of a newer attempt: for the
 * assessor the older attempt has failed. */
static void
restart_series(struct assessing *a, const struct metric *m,
               struct series *series)
{
    bool before =
        a->side.policy->nni && /* an earlier manager got the KI of this trial */
        series->attempt / 2 < m->attempt / 2;

    tell_end(a, series, TP_TRIAL_FAILED);
    series_restart(series, m->attempt);
    series->stopped = series->stopped && !before;
}

static void
handle_metric(struct assessing *a, const struct metric *m)
{
    struct series *series = series_get(a->living, m->job);
    double value;
    int grown;

    if (series == NULL) {
        side_out_of_memory(&a->side);
        return;
    }
    if (m->attempt > series->attempt)
        restart_series(a, m, series);
    if (a->side.fatal)
        return;
    grown = judged_take(&a->judged, m, &value) != 0
                ? -1
                : series_enter(series, m->sequence, value);
    if (grown < 0)
        side_out_of_memory(&a->side);
    else if (grown > 0 && !series->stopped)
        assess_metric(a, m, series);
    if (m->sync && !a->side.fatal)
        acknowledge_report(a, m, series->stopped);
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

static void
end_trial(struct assessing *a, const char *job, int how)
{
    struct series *series = series_remove(a->living, job);

    if (series == NULL)
        return;
    tell_end(a, series, how);
    series_free(series);
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
handle_command(struct side *s, const struct command *cmd, struct err *err)
{
    struct assessing *a = self(s);
    const struct series *series;

    side_begin(s, cmd->arrival, command_info(cmd->code)->code, err);
    if (cmd->code == CMD_TRIAL_END) {
        end_trial(a, cmd->end.job, end_how(&cmd->end));
    } else if (cmd->code == CMD_REQUEST_TRIALS) {
        /* cmd names the trials that an earlier manager ran and this one does
         * not. */
        for (size_t i = 0; i < cmd->n_runs && !s->fatal; i++)
            end_trial(a, cmd->runs[i].job, TP_TRIAL_CANCELLED);
    } else if (cmd->code == CMD_METRIC && a->assessor != NULL &&
               cmd->metric.has_value) {
        handle_metric(a, &cmd->metric);
    } else if (cmd->code == CMD_METRIC && cmd->metric.sync) {
        /* There is no assessor, or the value is not applied: a trial that
         * reported synchronously still waits for its answer. */
        series = series_find(a->living, cmd->metric.job);
        acknowledge_report(a, &cmd->metric, series != NULL && series->stopped);
    }
    return side_end(s);
}

/* ---- packed ---- */

/* All series that the assessor knows of, lent to it as histories. */
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
            out->lent[out->n] = lend_series(sorted[i]);
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
    judged_save(&a->judged, out);
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

    if (series_load(a->living, in) != 0 || judged_load(&a->judged, in) != 0)
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

static const char *
argument(const struct side *s, const char *name)
{
    const struct assessor *assessor = look(s)->assessor;

    return assessor == NULL ? NULL : assessor_argument(assessor, name);
}

static void
describe(const struct side *s, struct json_writer *w)
{
    if (look(s)->assessor != NULL)
        assessor_describe(look(s)->assessor, json_value(w, "assessor"));
    else
        json_add_text(w, "assessor", NULL);
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
    judged_fini(&a->judged);
    side_fini(s);
    free(a);
}

struct side *
assessing_new(struct assessor *assessor, const struct policy *policy,
              struct emitter emitter, const struct log *log, struct err *err)
{
    static const struct side_ops ops = {
        .free = free_assessing,
        .command = handle_command,
        .bar = bar,
        .listen = listen,
        .save = save,
        .load = load,
        .argument = argument,
        .describe = describe,
        .check = check,
    };
    struct assessing *a = calloc(1, sizeof *a);

    if (a == NULL || (a->living = series_map_new()) == NULL) {
        free(a);
        err_set(err, ERR_MEMORY, "histories: out of memory");
        return NULL;
    }
    side_init(&a->side, &ops, SENDER_ASSESSOR, policy, emitter, log);
    a->assessor = assessor;
    judged_init(&a->judged, policy);
    return &a->side;
}
