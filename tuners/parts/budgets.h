/* SPDX-License-Identifier: MIT */
/* budgets.h - what advisors that give budgets ask of a search space. */
#ifndef PARTS_BUDGETS_H
#define PARTS_BUDGETS_H

#include "tunepipe/shell.h"

#include <stdbool.h>

/* Whether TRIAL_BUDGET can stand beside its parameters; if not, host->error()
 * has been told. */
static inline bool
budgets_fit(const struct tp_host *host, const struct tp_space *s)
{
    if (s->n_dims == 0 || !(TP_DIM(s, 0)->flags & TP_DIM_WHOLE))
        return true;
    tp_error(host, "the search space is one choice of whole sets of "
                   "parameters, expected parameters by name, beside which "
                   "TRIAL_BUDGET is given");
    return false;
}

#endif
