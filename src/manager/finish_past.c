/* SPDX-License-Identifier: MIT */
#include "manager/finish_past.h"

#include "config/experiment.h"
#include "manager/ending.h"
#include "manager/found.h"
#include "trial/outcome.h"
#include "manager/results.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In their order, so that a goal is reached as it was or would have been. */
static void
count_ends(struct manager *m, const struct results *results)
{
    for (size_t i = 0; i < results->n; i++) {
        const struct result *item = &results->items[i];
        struct finish_end end = {
            .trial = item->trial,
            .counts = ending_counts(trial_state_of(item->status)),
            .has_value = item->has_value,
            .value = item->value,
            .seconds = item->duration_s};

        finish_ended(&m->finish, &end);
    }
}

/* What attempts before the last one ran stands in their folders alone. */
static void
count_attempts(struct manager *m, const struct found *f)
{
    struct trial before = {.attempt = f->attempt};
    bool there = true;

    memcpy(before.id, f->id, sizeof before.id);
    while (before.attempt > 0 && there) {
        struct outcome o;

        before.attempt--;
        if (trial_place(&before, m->folder.path, NULL) != 0)
            return;
        there = access(before.folder, F_OK) == 0;
        if (outcome_read(before.folder, &o, NULL) == 0 && o.started_ns > 0 &&
            o.ended_ns > o.started_ns)
            finish_ended(
                &m->finish,
                &(struct finish_end){
                    .trial = before.id,
                    .seconds = (double)(o.ended_ns - o.started_ns) / 1e9});
    }
    free(before.folder);
}

void
finish_past(struct manager *m, const struct results *results,
            const struct founds *found)
{
    count_ends(m, results);
    for (size_t i = 0; m->x->max_trial_hours > 0 && i < found->n; i++)
        count_attempts(m, found->items[i]);
}
