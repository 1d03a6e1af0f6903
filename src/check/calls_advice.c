/* SPDX-License-Identifier: MIT */
#include "check/calls_advice.h"

#include "check/calls.h"
#include "check/calls_around.h"
#include "check/fakehost.h"
#include "core/buf.h"
#include "plugin/demands.h"
#include "plugin/loader.h"
#include "space/space.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point that was given out, for who goes on from it. */
struct given {
    struct given *older;
    uint64_t id;
    double x[];
};

static size_t
n_dims(const struct calls *c)
{
    return space_dims(c->space)->n_dims;
}

/* ---- what it demands ---- */

void
calls_open_demands(struct calls *c, const char *callback)
{
    demands_open(fake_host_demands(c->host), strcmp(callback, "ask") == 0,
                 true);
}

static void
write_demands(struct calls *c, struct demands *d, bool asked)
{
    struct buf *out = c->setup->answers;
    struct demanded one;

    for (size_t i = 0; asked && out != NULL && i < d->n_extras; i++)
        buf_printf(out, "extra %s: %s\n", d->extras[i].key, d->extras[i].text);
    while (demands_next(d, &one))
        if (out != NULL)
            buf_printf(out, "decision on %" PRIu64 ": %d\n", one.id,
                       one.decision);
}

void
calls_close_demands(struct calls *c, const char *callback)
{
    struct demands *d = fake_host_demands(c->host);

    if (d->fault[0] != '\0')
        calls_fail(c, "%s: host->%s", callback, d->fault);
    write_demands(c, d, d->takes_extras);
    demands_close(d);
}

/* ---- what comes with a suggestion ---- */

static const struct given *
find(const struct calls *c, uint64_t id)
{
    const struct given *g = c->given;

    while (g != NULL && g->id != id)
        g = g->older;
    return g;
}

static void
remember(struct calls *c, uint64_t id, const double *x)
{
    struct given *g = malloc(sizeof *g + n_dims(c) * sizeof *x);

    if (g == NULL) {
        calls_fail(c, "out of memory");
        return;
    }
    g->older = c->given;
    g->id = id;
    memcpy(g->x, x, n_dims(c) * sizeof *x);
    c->given = g;
}

void
calls_forget_given(struct calls *c)
{
    while (c->given != NULL) {
        struct given *older = c->given->older;

        free(c->given);
        c->given = older;
    }
}

void
calls_take_given(struct calls *to, struct calls *from)
{
    calls_forget_given(to);
    to->given = from->given;
    from->given = NULL;
}

static void
check_from(struct calls *c, uint64_t id, const double *x,
           const struct tp_suggestion *out)
{
    const struct given *g = find(c, out->from);

    if (g == NULL)
        calls_fail(c,
                   "ask of id %" PRIu64 " goes on from %" PRIu64 ", for which "
                   "it gave no point of this space",
                   id, out->from);
    else if (out->from_how == TP_PROMOTED &&
             memcmp(g->x, x, n_dims(c) * sizeof *x) != 0)
        calls_fail(c,
                   "ask of id %" PRIu64 " promotes %" PRIu64 " with another "
                   "point than it had given: expected the same, bit by bit",
                   id, out->from);
}

void
calls_check_terms(struct calls *c, uint64_t id, const double *x,
                  const struct tp_suggestion *out)
{
    bool anew = out->from_how == TP_ANEW;

    if (!isfinite(out->budget) || out->budget < 0)
        calls_fail(c,
                   "ask of id %" PRIu64 " set budget to %g, expected a finite "
                   "positive number, or 0",
                   id, out->budget);
    else if (out->from_how < TP_ANEW || out->from_how > TP_CLONED)
        calls_fail(c,
                   "ask of id %" PRIu64 " set from_how to %d, expected TP_ANEW "
                   "(0), TP_PROMOTED (1) or TP_CLONED (2)",
                   id, out->from_how);
    else if (anew != (out->from == TP_NO_ID))
        calls_fail(c, "ask of id %" PRIu64 " set from %s from_how TP_ANEW", id,
                   anew ? "and left" : "to TP_NO_ID without");
    else if (!anew && c->setup->plugin->kind == PLUGIN_TUNER &&
             c->setup->plugin->tuner.metric == NULL)
        calls_fail(c,
                   "ask of id %" PRIu64 " set from, expected TP_NO_ID of a "
                   "tuner without metric",
                   id);
    else if (!anew && c->setup->plugin->kind == PLUGIN_TUNER)
        check_from(c, id, x, out);
    if (c->setup->plugin->kind == PLUGIN_TUNER &&
        c->setup->plugin->tuner.metric != NULL && !c->broken)
        remember(c, id, x);
    if (c->setup->answers != NULL && !c->broken && (out->budget > 0 || !anew))
        buf_printf(c->setup->answers, "budget %a, from %" PRIu64 ", how %d\n",
                   out->budget, out->from, out->from_how);
}

/* ---- intermediate results ---- */

static void
check_verdict(struct calls *c, uint64_t id, const struct tp_verdict *v)
{
    struct buf *out = c->setup->answers;

    if (v->decision < TP_GO || v->decision > TP_FINISH) {
        calls_fail(c,
                   "metric of id %" PRIu64 " set decision to %d, expected "
                   "TP_GO (0), TP_STOP (1), TP_PAUSE (2) or TP_FINISH (3)",
                   id, v->decision);
        return;
    }
    c->setup->seen->verdicts++;
    if (out != NULL)
        buf_printf(out, "metric of id %" PRIu64 ": %d %a %a %s\n", id,
                   v->decision, v->value, v->threshold,
                   v->rule == NULL ? "" : v->rule);
}

void
calls_metric(struct calls *c, uint64_t id, const double *x,
             const struct tp_metric *metric)
{
    struct tp_metric copy = *metric;
    struct tp_verdict verdict = {._struct_size = sizeof verdict,
                                 .decision = TP_GO,
                                 .value = NAN,
                                 .threshold = NAN};
    double *lent = c->broken ? NULL : calls_new_point(c);
    int rc;

    if (lent == NULL)
        return;
    memcpy(lent, x, n_dims(c) * sizeof *x);
    calls_enter(c, "metric", id);
    calls_open_demands(c, "metric");
    rc = c->setup->plugin->tuner.metric(c->self, id, lent, &copy, &verdict);
    calls_leave(c, "metric");
    calls_close_demands(c, "metric");
    calls_expect_ok(c, "metric", rc);
    if (memcmp(lent, x, n_dims(c) * sizeof *x) != 0)
        calls_fail(c, "metric changed the x it was lent: work on a copy");
    free(lent);
    if (!c->broken)
        check_verdict(c, id, &verdict);
}
