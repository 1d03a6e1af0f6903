/* SPDX-License-Identifier: MIT */
#include "bands/shell.h"

#include "tunepipe/shell.h"

#include <inttypes.h>
#include <stdio.h>

void
bands_warn(const struct tp_host *host, const struct bands_table *table,
           const char *max)
{
    if (table->s_max == 0)
        tp_log(host, TP_LOG_WARNING,
               "%s: is %" PRIu64 ", less than eta (%" PRIu64
               ") times the least budget: no trial is ever promoted",
               max, table->max, table->eta);
}

void
bands_release(void *vhost, uint64_t id)
{
    tp_decide(vhost, id, TP_RELEASE);
}

void
bands_name(const struct bands_job *job, char out[BANDS_LABEL_SIZE])
{
    snprintf(out, BANDS_LABEL_SIZE, "%" PRIu64 "-%u", job->hyperband,
             job->bracket->s);
}

void
bands_suggest(const struct bands_job *job, struct tp_suggestion *out)
{
    out->budget = (double)job->budget;
    out->from = TP_NO_ID;
    out->from_how = TP_ANEW;
    if (job->slot->from != BANDS_NO_ID) {
        out->from = job->slot->from;
        out->from_how = TP_PROMOTED;
    }
}

void
bands_explain(const struct bands_job *job, const struct tp_host *host)
{
    const struct bands_bracket *k = job->bracket;
    const struct bands_slot *slot = job->slot;
    char name[BANDS_LABEL_SIZE];

    if (!tp_explains(host))
        return;
    bands_name(job, name);
    if (slot->from == BANDS_NO_ID) {
        tp_explain(host,
                   "bracket %s, round 0 of 0 to %u: configuration "
                   "%" PRIu64 " of %" PRIu64 ", budget %" PRIu64,
                   name, k->s, slot->n - k->first + 1, k->size, job->budget);
        return;
    }
    if (k->costs != NULL) {
        tp_explain(host,
                   "bracket %s, round %u of 0 to %u: in round %u rank "
                   "%" PRIu64 " of %" PRIu64 " by front and crowding; promoted "
                   "to budget %" PRIu64,
                   name, k->round, k->s, k->round - 1, slot->rank, slot->of,
                   job->budget);
        return;
    }
    tp_explain(host,
               "bracket %s, round %u of 0 to %u: in round %u rank "
               "%" PRIu64 " of %" PRIu64 " by value %.9g, cut at %.9g; "
               "promoted to budget %" PRIu64,
               name, k->round, k->s, k->round - 1, slot->rank, slot->of,
               slot->before, slot->cut, job->budget);
}

void
bands_verdict(const struct bands_job *job, const struct tp_host *host,
              double value, struct tp_verdict *out)
{
    const struct bands_bracket *k = job->bracket;
    bool is_last = bands_is_last(job);
    char name[BANDS_LABEL_SIZE];

    out->decision = is_last ? TP_FINISH : TP_PAUSE;
    out->value = value;
    out->rule = is_last ? "the greatest budget is used up"
                        : "the budget of its round is used up";
    if (!tp_explains(host))
        return;
    bands_name(job, name);
    if (is_last)
        tp_explain(host,
                   "bracket %s, round %u: budget %" PRIu64 " is used up, "
                   "the greatest",
                   name, k->round, job->budget);
    else
        tp_explain(host,
                   "bracket %s, round %u: budget %" PRIu64 " is used up; "
                   "%zu of %" PRIu64 " trials have ended before",
                   name, k->round, job->budget, k->n_ended, k->size);
}
