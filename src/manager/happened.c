/* SPDX-License-Identifier: MIT */
#include "manager/happened.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/visible.h"
#include "manager/metrics.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <math.h>
#include <sys/epoll.h>

#define TEXT_SHOWN 2000

static void
warn(void *ctx, const char *text)
{
    struct manager *m = ctx;

    progress_warn(&m->progress, "tunepipe: warning: %s", text);
}

int
happened_open(struct manager *m, struct err *err)
{
    struct hooks_of of = {m->x, m->folder.path, m->launch.program_folder, warn,
                          m};

    events_init(&m->events, warn, m);
    if (hooks_open(&m->hooks, &of, &m->events, err) != 0)
        return -1;
    if (m->hooks.poll_fd >= 0 &&
        manager_watch(m, m->hooks.poll_fd, EPOLLIN, SOURCE_HOOKS) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch hooks");
    return 0;
}

void
happened_close(struct manager *m)
{
    events_close(&m->events);
    hooks_close(&m->hooks);
}

void
happened_experiment(struct manager *m, enum event_name name, const char *why)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", m->folder.id),
        EVENT_TEXT("name", m->x->name),
        EVENT_TEXT("folder", m->folder.path),
        EVENT_BOOL("resumed", m->options->resume != NULL),
        EVENT_TEXT("why", why),
        EVENT_FIELDS_END,
    };

    events_emit(&m->events, name, fields);
}

/* To the bus, or to `out` when that is given. */
static void
tell_end(struct manager *m, struct buf *out)
{
    const struct progress *p = &m->progress;
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", m->folder.id),
        EVENT_TEXT("name", m->x->name),
        EVENT_TEXT("folder", m->folder.path),
        EVENT_BOOL("ok", m->outcome->ok),
        EVENT_TEXT("why", m->outcome->reason),
        EVENT_COUNT("trials", m->n_trials),
        EVENT_COUNT("failed", p->failed),
        EVENT_NUMBER("value", p->has_best ? p->best : NAN),
        EVENT_TEXT("best", p->has_best ? p->best_trial : NULL),
        EVENT_FIELDS_END,
    };

    if (out != NULL)
        events_write(out, EVENT_EXPERIMENT_ENDED, fields);
    else
        events_emit(&m->events, EVENT_EXPERIMENT_ENDED, fields);
}

void
happened_over(struct manager *m, struct buf *out)
{
    tell_end(m, out);
}

void
happened_finish(struct manager *m)
{
    unsigned interrupts = m->interrupts;

    tell_end(m, NULL);
    events_close(&m->events);
    hooks_go(&m->hooks, clock_monotonic_ns());
    if (hooks_busy(&m->hooks) && m->progress.terminal)
        progress_say(&m->progress,
                     "tunepipe: hooks still run (Ctrl-C ends them)");
    while (hooks_busy(&m->hooks) && m->interrupts == interrupts &&
           manager_turn(m, NULL) == 0)
        continue;
    hooks_give_up(&m->hooks);
    hooks_say(&m->hooks);
}

void
happened_trial(struct manager *m, enum event_name name, const struct trial *t)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", m->folder.id),
        EVENT_TEXT("trial", t->id),
        EVENT_COUNT("number", t->number),
        EVENT_COUNT("attempt", t->attempt),
        EVENT_TEXT("why", t->why[0] != '\0' ? t->why : NULL),
        EVENT_TEXT("folder", t->folder),
        EVENT_JSON("parameters", t->parameters),
        EVENT_FIELDS_END,
    };

    events_emit(&m->events, name, fields);
}

static void
tell_judged(struct manager *m, const struct trial *t, double seconds)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", m->folder.id),
        EVENT_TEXT("trial", t->id),
        EVENT_COUNT("number", t->number),
        EVENT_COUNT("attempt", t->attempt),
        EVENT_TEXT("status", trial_state_name(t->state)),
        EVENT_NUMBER("value", t->final.given ? t->final.value : NAN),
        EVENT_NUMBER("latest", t->latest.given ? t->latest.value : NAN),
        EVENT_TEXT("why", t->why[0] != '\0' ? t->why : NULL),
        EVENT_NUMBER("seconds", seconds),
        EVENT_TEXT("folder", t->folder),
        EVENT_JSON("parameters", t->parameters),
        EVENT_FIELDS_END,
    };

    events_emit(&m->events, EVENT_TRIAL_ENDED, fields);
    if (t->state == TRIAL_PAUSED)
        events_emit(&m->events, EVENT_TRIAL_PAUSED, fields);
}

void
happened_hear_end(void *ctx, const struct attempt_end *end)
{
    const struct trial *t = end->trial;

    if (end->how == ATTEMPT_REPLACED)
        happened_trial(ctx, EVENT_TRIAL_RETRIED, end->next);
    else if (end->how == ATTEMPT_LEFT && trial_began(t))
        happened_trial(ctx, EVENT_TRIAL_INTERRUPTED, t);
    else if (end->how == ATTEMPT_JUDGED && !t->past.recorded)
        tell_judged(ctx, t, end->seconds);
}

void
happened_metric(struct manager *m, const struct trial *t,
                const struct metric_line *metric)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", m->folder.id),
        EVENT_TEXT("trial", t->id),
        EVENT_COUNT("attempt", t->attempt),
        EVENT_TEXT("type", metric->final ? "final" : "intermediate"),
        EVENT_COUNT("sequence", metric->sequence),
        EVENT_NUMBER("value", metric->value),
        EVENT_FIELDS_END,
    };

    events_emit(&m->events, EVENT_METRIC, fields);
}

void
happened_decision(struct manager *m, const struct trial *t)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", m->folder.id),
        EVENT_TEXT("trial", t->id),
        EVENT_COUNT("attempt", t->attempt),
        EVENT_TEXT("decision", t->stop == STOP_ASSESSOR
                                   ? "stop"
                                   : trial_stop_name(t->stop)),
        EVENT_TEXT("by", t->stop == STOP_ASSESSOR ? "assessor" : "tuner"),
        EVENT_COUNT("reports", trial_reports(t)),
        EVENT_NUMBER("value", t->latest.given ? t->latest.value : NAN),
        EVENT_FIELDS_END,
    };

    events_emit(&m->events, EVENT_DECISION, fields);
}

void
happened_best(struct manager *m, double value, const char *id)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", m->folder.id),
        EVENT_TEXT("trial", id),
        EVENT_NUMBER("value", value),
        EVENT_FIELDS_END,
    };

    events_emit(&m->events, EVENT_BEST, fields);
}

void
happened_text(struct manager *m, enum event_name name, const char *text,
              size_t len)
{
    struct buf shown;

    if (!events_wanted(&m->events, name))
        return;
    buf_init(&shown, 4 * TEXT_SHOWN);
    visible_text(&shown, text, len, TEXT_SHOWN);
    events_emit(&m->events, name,
                (const struct event_field[]){
                    EVENT_TEXT("experiment", m->folder.id),
                    EVENT_TEXT("text", buf_text(&shown)), EVENT_FIELDS_END});
    buf_fini(&shown);
}
