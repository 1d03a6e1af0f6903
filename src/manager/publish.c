/* SPDX-License-Identifier: MIT */
#include "manager/publish.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/visible.h"
#include "json.h"
#include "manager/experiment_folder.h"
#include "manager/live.h"
#include "manager/metrics.h"
#include "manager/progress.h"
#include "manager/run.h"
#include "manager/sources.h"
#include "manager/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SHOWN 2000

static void
warn(void *ctx, const char *text)
{
    struct publish *p = ctx;

    progress_warn(p->progress, "tunepipe: warning: %s", text);
}

int
publish_open(struct publish *p, const char *program_folder, struct err *err)
{
    struct hooks_of of = {p->x, p->folder->path, program_folder, warn, p};

    events_init(&p->events, warn, p);
    if (hooks_open(&p->hooks, &of, &p->events, err) != 0)
        return -1;
    if (p->hooks.poll_fd >= 0 &&
        sources_watch(p->sources, p->hooks.poll_fd, EPOLLIN, SOURCE_HOOKS) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch hooks");
    return 0;
}

void
publish_close(struct publish *p)
{
    events_close(&p->events);
    hooks_close(&p->hooks);
}

void
publish_experiment(struct publish *p, enum event_name name, const char *why)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", p->folder->id),
        EVENT_TEXT("name", p->x->name),
        EVENT_TEXT("folder", p->folder->path),
        EVENT_BOOL("resumed", p->resumed),
        EVENT_TEXT("why", why),
        EVENT_FIELDS_END,
    };

    events_emit(&p->events, name, fields);
}

void
publish_ended(struct publish *p, struct buf *out)
{
    const struct progress *seen = p->progress;
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", p->folder->id),
        EVENT_TEXT("name", p->x->name),
        EVENT_TEXT("folder", p->folder->path),
        EVENT_BOOL("ok", p->outcome->ok),
        EVENT_TEXT("why", p->outcome->reason),
        EVENT_COUNT("trials", p->live->n_numbers),
        EVENT_COUNT("failed", seen->failed),
        EVENT_NUMBER("value", seen->has_best ? seen->best : NAN),
        EVENT_TEXT("best", seen->has_best ? seen->best_trial : NULL),
        EVENT_FIELDS_END,
    };

    if (out != NULL)
        events_write(out, EVENT_EXPERIMENT_ENDED, fields);
    else
        events_emit(&p->events, EVENT_EXPERIMENT_ENDED, fields);
}

void
publish_trial(struct publish *p, enum event_name name, const struct trial *t)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", p->folder->id),
        EVENT_TEXT("trial", t->id),
        EVENT_COUNT("number", t->number),
        EVENT_COUNT("attempt", t->attempt),
        EVENT_TEXT("why", t->why[0] != '\0' ? t->why : NULL),
        EVENT_TEXT("folder", t->folder),
        EVENT_JSON("parameters", t->parameters),
        EVENT_FIELDS_END,
    };

    events_emit(&p->events, name, fields);
}

/* The numbers by name, as JSON, to be freed; NULL: it is one number alone. */
static char *
values_of(const struct reported *r)
{
    struct json *doc =
        r->json == NULL ? NULL
                        : json_parse(r->json, strlen(r->json), JSON_NAN, NULL);
    struct json_writer w;
    struct jval_iter it;
    struct buf out;
    double value;
    char *text;

    if (doc == NULL)
        return NULL;
    buf_init(&out, SIZE_MAX / 2);
    w = json_begin_object(&out);
    it = jval_iter(json_root(doc));
    while (jval_next(&it))
        if (jval_number(it.value, &value))
            json_add_number(&w, it.key, value);
    json_close(&w);
    text = buf_take(&out);
    buf_fini(&out);
    json_free(doc);
    return text;
}

static void
tell_judged(struct publish *p, const struct trial *t, double seconds)
{
    char *values = values_of(t->final.given ? &t->final : &t->latest);
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", p->folder->id),
        EVENT_TEXT("trial", t->id),
        EVENT_COUNT("number", t->number),
        EVENT_COUNT("attempt", t->attempt),
        EVENT_TEXT("status", trial_state_name(t->state)),
        EVENT_NUMBER("value", t->final.given ? t->final.value : NAN),
        EVENT_JSON("values", values),
        EVENT_NUMBER("latest", t->latest.given ? t->latest.value : NAN),
        EVENT_TEXT("why", t->why[0] != '\0' ? t->why : NULL),
        EVENT_NUMBER("seconds", seconds),
        EVENT_TEXT("folder", t->folder),
        EVENT_JSON("parameters", t->parameters),
        EVENT_FIELDS_END,
    };

    events_emit(&p->events, EVENT_TRIAL_ENDED, fields);
    free(values);
    if (t->state == TRIAL_PAUSED)
        events_emit(&p->events, EVENT_TRIAL_PAUSED, fields);
}

void
publish_hear_end(void *ctx, const struct attempt_end *end)
{
    const struct trial *t = end->trial;

    if (end->how == ATTEMPT_REPLACED)
        publish_trial(ctx, EVENT_TRIAL_RETRIED, end->next);
    else if (end->how == ATTEMPT_LEFT && trial_began(t))
        publish_trial(ctx, EVENT_TRIAL_INTERRUPTED, t);
    else if (end->how == ATTEMPT_JUDGED && !t->past.recorded)
        tell_judged(ctx, t, end->seconds);
}

void
publish_metric(struct publish *p, const struct trial *t,
               const struct metric_line *metric)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", p->folder->id),
        EVENT_TEXT("trial", t->id),
        EVENT_COUNT("attempt", t->attempt),
        EVENT_TEXT("type", metric->final ? "final" : "intermediate"),
        EVENT_COUNT("sequence", metric->sequence),
        EVENT_NUMBER("value", metric->value),
        EVENT_FIELDS_END,
    };

    events_emit(&p->events, EVENT_METRIC, fields);
}

void
publish_decision(struct publish *p, const struct trial *t)
{
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", p->folder->id),
        EVENT_TEXT("trial", t->id),
        EVENT_COUNT("attempt", t->attempt),
        EVENT_TEXT("decision", t->stop == STOP_ASSESSOR
                                   ? "stop"
                                   : trial_stop_name(t->stop)),
        EVENT_TEXT("by", trial_ended_by(t, p->x->assessor.line != 0)),
        EVENT_COUNT("reports", trial_reports(t)),
        EVENT_NUMBER("value", t->latest.given ? t->latest.value : NAN),
        EVENT_FIELDS_END,
    };

    events_emit(&p->events, EVENT_DECISION, fields);
}

void
publish_best(struct publish *p, const struct reported *value, const char *id)
{
    char *values = values_of(value);
    const struct event_field fields[] = {
        EVENT_TEXT("experiment", p->folder->id),
        EVENT_TEXT("trial", id),
        EVENT_NUMBER("value", value->value),
        EVENT_JSON("values", values),
        EVENT_FIELDS_END,
    };

    events_emit(&p->events, EVENT_BEST, fields);
    free(values);
}

void
publish_text(struct publish *p, enum event_name name, const char *text,
             size_t len)
{
    struct buf shown;

    if (!events_wanted(&p->events, name))
        return;
    buf_init(&shown, 4 * TEXT_SHOWN);
    visible_text(&shown, text, len, TEXT_SHOWN);
    events_emit(&p->events, name,
                (const struct event_field[]){
                    EVENT_TEXT("experiment", p->folder->id),
                    EVENT_TEXT("text", buf_text(&shown)), EVENT_FIELDS_END});
    buf_fini(&shown);
}
