/* SPDX-License-Identifier: MIT */
#include "check/calls.h"

#include "check/calls_around.h"
#include "core/buf.h"
#include "plugin/loader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The history with its values lent for one call. */
static double *
lend_history(const struct tp_history *h, struct tp_history *out)
{
    double *values = malloc(h->n * sizeof *values + 1);

    *out = *h;
    out->_struct_size = sizeof *out;
    out->values = values;
    if (values != NULL && h->n > 0)
        memcpy(values, h->values, h->n * sizeof *values);
    return values;
}

static void
take_back(struct calls *c, const char *callback, double *lent,
          const struct tp_history *h)
{
    if (h->n > 0 && memcmp(lent, h->values, h->n * sizeof *lent) != 0)
        calls_fail(c, "%s changed the history it was lent: work on a copy",
                   callback);
    free(lent);
}

int
calls_assess(struct calls *c, const struct tp_history *h)
{
    struct tp_verdict v = {sizeof v, TP_GO, NAN, NAN, NULL};
    struct tp_history lent;
    double *values = c->broken ? NULL : lend_history(h, &lent);
    int rc;

    if (values == NULL)
        return TP_GO;
    calls_enter(c, "assess", h->trial);
    rc = c->setup->plugin->assessor.assess(c->self, &lent, &v);
    calls_leave(c, "assess");
    calls_expect_ok(c, "assess", rc);
    take_back(c, "assess", values, h);
    c->setup->seen->verdicts++;
    if (v.decision != TP_GO && v.decision != TP_STOP)
        calls_fail(c, "assess decided %d, expected TP_GO (0) or TP_STOP (1)",
                   v.decision);
    if (c->setup->answers != NULL && !c->broken)
        buf_printf(c->setup->answers,
                   "assess of trial %" PRIu64 ", %zu values: %d %a %a %.200s\n",
                   h->trial, h->n, v.decision, v.value, v.threshold,
                   v.rule != NULL ? v.rule : "");
    return v.decision;
}

void
calls_trial_ended(struct calls *c, const struct tp_history *h, int how)
{
    struct tp_history lent;
    double *values = c->broken ? NULL : lend_history(h, &lent);
    int rc;

    if (values == NULL)
        return;
    calls_enter(c, "ended", h->trial);
    rc = c->setup->plugin->assessor.ended(c->self, &lent, how);
    calls_leave(c, "ended");
    calls_expect_ok(c, "ended", rc);
    take_back(c, "ended", values, h);
}
