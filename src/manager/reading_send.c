/* SPDX-License-Identifier: MIT */
#include "manager/reading.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/number.h"
#include "manager/happened.h"
#include "manager/metrics.h"
#include "manager/state.h"
#include "manager/stepping.h"
#include "manager/trial.h"

#define PAYLOAD_MAX ((size_t)64 << 20)

static void
send_metric(struct manager *m, struct trial *t,
            const struct metric_line *metric)
{
    struct buf payload;

    buf_init(&payload, PAYLOAD_MAX);
    metrics_write(&payload, t->id, t->parameter_id, stepping_attempt(m, t),
                  t->step, metric);
    if (buf_check(&payload, "a metric", NULL) == 0)
        exchange_send(&m->exchange, "ME", payload.data, payload.len);
    if (metric->sync && m->lockstep.on)
        stepping_sent(m, &payload);
    else if (metric->sync)
        holding_sent(&t->holding, metric->sequence, m->exchange.last,
                     payload.data, payload.len);
    buf_fini(&payload);
}

void
reading_apply(struct manager *m, struct trial *t,
              const struct metric_line *metric)
{
    bool fresh;

    if (metric->final) {
        if (!t->has_final) /* as for the tuner, the first one counts */
            t->final = metric->value;
        t->has_final = true;
    } else {
        t->has_latest = true;
        t->latest = metric->value;
        recent_add(&t->recent, metric->value);
        t->sent++;
        if (trial_reaches(t, metric->sequence)) {
            t->has_reached = true;
            t->reached = metric->value;
            t->reached_at = metric->sequence;
        }
    }
    fresh = metric->sequence >=
            (metric->final ? t->heard.finals : t->heard.intermediates);
    if (!t->told && (fresh || metric->judges)) /* else it was answered */
        send_metric(m, t, metric);
    if (!t->told && fresh)
        happened_metric(m, t, metric);
}

static struct metric_line
final_metric(const struct trial *t, double value, char text[NUMBER_TEXT_MAX])
{
    return (struct metric_line){.final = true,
                                .sequence = t->metrics.finals,
                                .json = text,
                                .len = number_format(value, text),
                                .value = value};
}

void
reading_tell(struct manager *m, struct trial *t, double value)
{
    char text[NUMBER_TEXT_MAX];
    const struct metric_line metric = final_metric(t, value, text);

    send_metric(m, t, &metric);
}

void
reading_finish(struct manager *m, struct trial *t)
{
    struct metric_line metric;
    char text[NUMBER_TEXT_MAX];

    if (t->has_final || t->heard.finals > 0 ||
        (!t->has_latest && !t->has_earlier))
        return;
    metric = final_metric(t,
                          t->has_reached  ? t->reached
                          : t->has_latest ? t->latest
                                          : t->earlier,
                          text);
    reading_apply(m, t, &metric);
}

void
reading_promote(struct manager *m, struct trial *t,
                const struct outcome *outcome)
{
    struct metric_line metric;
    char text[NUMBER_TEXT_MAX];

    if (t->stop == STOP_FINISH)
        reading_finish(m, t);
    if (!m->x->last_is_final || t->has_final || !t->has_latest ||
        t->stop != STOP_NOT || outcome->kind != OUTCOME_EXITED ||
        outcome->number != 0)
        return;
    metric = final_metric(t, t->latest, text);
    reading_apply(m, t, &metric);
}
