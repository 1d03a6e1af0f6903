/* SPDX-License-Identifier: MIT */
/* dues.h - what is due of each trial at some time (enum trial_due), among the
 * deadlines of the loop.  Inside src/manager only; one thread. */
#ifndef MANAGER_DUES_H
#define MANAGER_DUES_H

#include "manager/trial.h"

#include <stdint.h>

struct experiment_end;

struct dues {
    struct deadlines *deadlines;
    struct experiment_end *end;     /* without memory for it all is over */
    deadline_due *const *functions; /* TRIAL_DUES of them: running.h */
};

/* INT64_MAX: never. */
void dues_set(const struct dues *d, struct trial *t, enum trial_due kind,
              int64_t at_ns);
/* All that is due of the trial. */
void dues_drop(const struct dues *d, struct trial *t);

#endif
