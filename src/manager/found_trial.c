/* SPDX-License-Identifier: MIT */
#include "manager/found_trial.h"

#include "config/experiment.h"
#include "manager/found.h"
#include "manager/parameters.h"
#include "manager/past.h"
#include "manager/results.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not what onFailure told in its place: the trial's own files have none. */
static bool
has_own_final(const struct manager *m, const struct found *f)
{
    const struct on_failure *then = &m->x->on_failure;

    return f->past->has_final && !(f->folder && then->then == FAILURE_REPORT &&
                                   f->past->final == then->value);
}

struct trial *
found_trial(const struct manager *m, const struct found *f)
{
    char *record = found_record(f, m->folder.path);
    struct trial *t = NULL;
    struct suggestion s;

    if (record != NULL &&
        suggestion_read(record, strlen(record), &s, NULL) == 0) {
        t = trial_of(f->number, record, strlen(record), &s);
        suggestion_fini(&s);
    }
    free(record);
    if (t == NULL)
        return NULL;
    snprintf(t->id, sizeof t->id, "%s", f->id);
    t->attempt = f->attempt;
    t->again = true;
    t->known = f->result != NULL;
    t->told = f->told;
    t->noted =
        f->past != NULL && f->past->started && f->past->attempt == f->attempt;
    t->interrupted = t->noted && f->past->interrupted;
    if (f->past != NULL && f->past->attempt == f->attempt) {
        t->heard = f->past->heard;
        t->has_final = has_own_final(m, f); /* its folder may be gone */
        t->final = f->past->final;
    }
    if (f->past != NULL) {
        t->has_earlier = f->past->has_latest;
        t->earlier = f->past->latest;
    }
    if (f->past != NULL && m->lockstep.on)
        t->heard = f->past->all;
    if (f->result != NULL)
        t->ends = trial_state_of(f->result->status);
    else if (t->told)
        t->ends = trial_state_of_event(f->past->event);
    if (t->ends == TRIAL_STATES)
        t->ends = TRIAL_FAILED;
    return t;
}
