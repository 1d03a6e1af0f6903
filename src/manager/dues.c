/* SPDX-License-Identifier: MIT */
#include "manager/dues.h"

#include "manager/experiment_end.h"

void
dues_set(const struct dues *d, struct trial *t, enum trial_due kind,
         int64_t at_ns)
{
    struct deadline *due = &t->due[kind];

    due->due = d->functions[kind];
    due->of = t;
    if (deadlines_set(d->deadlines, due, at_ns) != 0)
        experiment_ends(d->end, MANAGER_UNABLE, "out of memory");
}

void
dues_drop(const struct dues *d, struct trial *t)
{
    for (int kind = 0; kind < TRIAL_DUES; kind++)
        deadlines_drop(d->deadlines, &t->due[kind]);
}
