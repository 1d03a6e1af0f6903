/* SPDX-License-Identifier: MIT */
#include "check/calls.h"

#include "check/fakehost.h"
#include "check/inner.h"
#include "check/lent.h"
#include "check/surroundings.h"
#include "core/buf.h"
#include "core/pack.h"
#include "numerics/random.h"
#include "plugin/arguments.h"
#include "plugin/demands.h"
#include "plugin/floatenv.h"
#include "plugin/loader.h"
#include "plugin/state.h"
#include "space/space.h"
#include "tunepipe/assessor.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void calls_open_demands(struct calls *c, const char *callback);
static void calls_close_demands(struct calls *c, const char *callback);
static void calls_check_terms(struct calls *c, uint64_t id, const double *x,
                              const struct tp_suggestion *out);
static void calls_forget_given(struct calls *c);
static void calls_score(struct calls *c, uint64_t id, const double *x);
static void *layer_create(struct calls *c, const struct tp_host *host);
static void layer_destroy(struct calls *c);
static int layer_config(struct calls *c, const struct tp_value *values,
                        size_t n);
static int layer_space(struct calls *c, const struct tp_space *space);
static int layer_ask(struct calls *c, uint64_t id, struct tp_suggestion *out);
static int layer_tell(struct calls *c, uint64_t id, const double *x,
                      const struct tp_result *result);
static int layer_ended(struct calls *c, uint64_t id, const double *x, int how);

#define SEED 42

void
calls_fail(struct calls *c, const char *fmt, ...)
{
    char text[700];
    va_list ap;

    if (c->broken)
        return;
    c->broken = true;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(&c->err, ERR_PLUGIN, "%s%s%s", text, c->place[0] ? "; " : "",
            c->place);
}

/* What goes on for ever cannot be left otherwise. */
static void
end_process(void *ctx)
{
    struct calls *c = ctx;

    c->setup->seen->endless = true;
    fprintf(stderr, "%s does not come to an end\n", c->setup->seen->now);
    _exit(1);
}

static void
limit_host(struct calls *c)
{
    uint64_t n = c->space == NULL ? 0 : space_dims(c->space)->n_dims;

    fake_host_limit(c->host, (n + 1) * CALLS_HOST_MAX, end_process, c);
    fake_host_forgive(c->host, c->setup->may_fail);
}

/* Notes what is being called, should it not come back; id: TP_NO_ID for
 * none. */
static void
calls_enter(struct calls *c, const char *callback, uint64_t id)
{
    struct calls_seen *seen = c->setup->seen;
    char of[32] = "";

    if (id != TP_NO_ID)
        snprintf(of, sizeof of, " of id %" PRIu64, id);
    snprintf(seen->now, sizeof seen->now, "%s%s%s%s", callback, of,
             c->place[0] ? "; " : "", c->place);
    fake_host_error(c->host);
    fake_host_enter(c->host);
    inner_enter(c->inner, TP_NO_ID);
}

/* Looks at the surroundings and at how the host's services were used. */
static void
calls_leave(struct calls *c, const char *callback)
{
    c->setup->seen->now[0] = '\0';
    if (c->setup->watch != NULL)
        surroundings_after(c->setup->watch, callback);
    floatenv_restore();
    if (fake_host_fault(c->host) != NULL)
        calls_fail(c, "%s: %s", callback, fake_host_fault(c->host));
    if (inner_fault(c->inner) != NULL)
        calls_fail(c, "%s %s", callback, inner_fault(c->inner));
}

static void
blames_itself(struct calls *c, const char *callback, const char *said)
{
    calls_fail(c,
               "%s called host->error(), '%s', where the layer inside had "
               "failed: return TP_ERR without, so that that one is named",
               callback, said);
}

/* rc is TP_OK, or TP_ERR with its reason, which is what is wrong. */
static void
calls_expect_ok(struct calls *c, const char *callback, int rc)
{
    const char *said = fake_host_error(c->host);

    if (rc == TP_ERR && inner_failed(c->inner) && said[0] == '\0')
        return;
    if (rc == TP_ERR && inner_failed(c->inner))
        blames_itself(c, callback, said);
    else if (rc == TP_ERR && said[0] == '\0')
        calls_fail(c,
                   "%s failed and did not say why: call host->error() before "
                   "it returns TP_ERR",
                   callback);
    else if (rc == TP_ERR &&
             !(c->setup->may_fail && strcmp(callback, "ask") == 0))
        calls_fail(c, "%s failed: %s", callback, said);
    else if (rc == TP_ERR)
        return;
    else if (rc != TP_OK)
        calls_fail(c, "%s returned %d, expected TP_OK (0) or TP_ERR (-1)",
                   callback, rc);
    else if (said[0] != '\0')
        calls_fail(c, "%s succeeded, but called host->error(): %s", callback,
                   said);
}

static void
configure(struct calls *c)
{
    const struct plugin *p = c->setup->plugin;
    size_t n = p->n_args;
    struct tp_value *lent = malloc(n * sizeof *lent + 1);
    int rc;

    if (lent == NULL) {
        calls_fail(c, "out of memory");
        return;
    }
    if (n > 0)
        memcpy(lent, arguments_values(c->args), n * sizeof *lent);
    calls_enter(c, "config", TP_NO_ID);
    rc = layer_config(c, lent, n);
    calls_leave(c, "config");
    free(lent);
    calls_expect_ok(c, "config", rc);
}

/* ---- several values ---- */

#define N_OBJECTIVES 2

/* What the object is told that its results are judged by. */
struct objectives_told {
    struct tp_objectives of;
    struct tp_objective items[N_OBJECTIVES];
    char names[N_OBJECTIVES][8];
};

bool
calls_takes_several(const struct plugin *p)
{
    return p->kind == PLUGIN_TUNER && p->tuner.objectives != NULL;
}

static void
tell_objectives(struct calls *c)
{
    struct objectives_told *t = calloc(1, sizeof *t);
    int rc;

    if (t == NULL) {
        calls_fail(c, "out of memory");
        return;
    }
    for (size_t i = 0; i < N_OBJECTIVES; i++) {
        snprintf(t->names[i], sizeof t->names[i], "of%zu", i);
        t->items[i] =
            (struct tp_objective){t->names[i], i == 0, i == 0 ? -1 : NAN};
    }
    t->of = (struct tp_objectives){sizeof t->of, N_OBJECTIVES, sizeof *t->items,
                                   t->items, 1};
    c->told = t;
    calls_enter(c, "objectives", TP_NO_ID);
    rc = c->setup->plugin->tuner.objectives(c->self, &t->of);
    calls_leave(c, "objectives");
    calls_expect_ok(c, "objectives", rc);
}

/* The values of a result whose one number would be `value`, to be freed; where
 * one may be lacking, a number that is NaN stands for that.  NULL: none. */
static double *
lend_values(struct calls *c, double value, bool may_lack, double *violation)
{
    double *values;

    *violation = 0;
    if (c->told == NULL || (may_lack && isnan(value)))
        return NULL;
    values = malloc(N_OBJECTIVES * sizeof *values);
    if (values == NULL) {
        calls_fail(c, "out of memory");
        return NULL;
    }
    values[0] = value;
    values[1] = value > 0.8 ? NAN : 1 - value;
    *violation = value > 0.9 ? INFINITY : value > 0.5 ? value - 0.5 : 0;
    return values;
}

void
calls_open(struct calls *c, const struct calls_setup *setup)
{
    const struct plugin *p = setup->plugin;
    const struct tp_host *lent;

    *c = (struct calls){.setup = setup,
                        .host = fake_host_new(SEED, setup->asked)};
    c->args = fake_arguments(p, setup->args, &c->err);
    c->broken = c->host == NULL || c->args == NULL;
    if (c->broken)
        return;
    limit_host(c);
    lent = fake_host_services(c->host);
    calls_enter(c, "create", TP_NO_ID);
    c->self = layer_create(c, lent);
    calls_leave(c, "create");
    calls_expect_ok(c, "create", c->self == NULL ? TP_ERR : TP_OK);
    if (!c->broken)
        configure(c);
    if (!c->broken && setup->objectives && calls_takes_several(p))
        tell_objectives(c);
}

int
calls_close(struct calls *c, struct err *err)
{
    if (c->self != NULL) {
        calls_enter(c, "destroy", TP_NO_ID);
        layer_destroy(c);
        calls_leave(c, "destroy");
    }
    free(c->told);
    inner_free(c->inner);
    calls_forget_given(c);
    fake_space_free(c->lent);
    arguments_free(c->args);
    fake_host_free(c->host);
    if (!c->broken)
        return 0;
    return err_set(err, c->err.code, "%s", c->err.text);
}

int
calls_space(struct calls *c, const struct space *space)
{
    struct tp_space *before = c->lent;
    const char *said;
    int rc;

    if (c->broken)
        return TP_ERR;
    calls_forget_given(c);
    c->space = space;
    c->lent = fake_host_space(c->host, space);
    limit_host(c);
    calls_enter(c, "space", TP_NO_ID);
    rc = layer_space(c, c->lent);
    calls_leave(c, "space");
    fake_space_free(before);
    if (c->setup->answers != NULL)
        buf_printf(c->setup->answers, "space: %d\n", rc);
    if (rc != TP_ERR) {
        c->setup->seen->taken++;
        calls_expect_ok(c, "space", rc);
        return c->broken ? TP_ERR : TP_OK;
    }
    said = fake_host_error(c->host);
    if (inner_failed(c->inner)) {
        if (said[0] != '\0')
            blames_itself(c, "space", said);
        return TP_ERR;
    }
    c->setup->seen->refused++;
    snprintf(c->setup->seen->refusal, sizeof c->setup->seen->refusal, "%.250s",
             said);
    if (said[0] == '\0')
        calls_expect_ok(c, "space", rc);
    return TP_ERR;
}

static size_t
n_dims(const struct calls *c)
{
    return space_dims(c->space)->n_dims;
}

/* Exactly n_dims long, so that a sanitizer sees its end. */
static double *
calls_new_point(const struct calls *c)
{
    double *x = malloc(n_dims(c) * sizeof *x + (n_dims(c) == 0));

    for (size_t i = 0; x != NULL && i < n_dims(c); i++)
        x[i] = NAN;
    return x;
}

static void
check_label(struct calls *c, const char *label)
{
    size_t len = label == NULL ? 1 : strnlen(label, 256);
    bool printable = true;

    for (size_t i = 0; label != NULL && i < len; i++)
        printable = printable && label[i] >= ' ' && label[i] <= '~';
    if (len == 0 || len > 255 || !printable)
        calls_fail(c, "ask gave a bad label, expected 1 to 255 printable ASCII "
                      "characters");
}

/* The point is a valid one, within its bounds, and NaN exactly where it is
 * inactive.  calls_fail() keeps the first. */
static void
check_point(struct calls *c, uint64_t id, const double *x)
{
    struct err err = {0};

    if (space_check(c->space, x, &err) != 0) {
        calls_fail(c, "ask of id %" PRIu64 " gave a bad point: %s", id,
                   err.text);
        return;
    }
    for (size_t i = 0; i < n_dims(c); i++) {
        const struct tp_dim *d = TP_DIM(space_dims(c->space), i);

        if (space_is_active(c->space, x, i)) {
            if (x[i] < d->low || x[i] > d->high)
                calls_fail(c,
                           "ask of id %" PRIu64 " gave '%s' %g, beyond low "
                           "%g and high %g: a trial would get it clipped",
                           id, d->name, x[i], d->low, d->high);
        } else if (!isnan(x[i])) {
            calls_fail(c,
                       "ask of id %" PRIu64 " set '%s', which is inactive "
                       "(its parent has another choice): leave it NaN",
                       id, d->name);
        }
    }
}

static void
write_answer(struct calls *c, uint64_t id, int rc, const char *label,
             const double *x)
{
    struct buf *out = c->setup->answers;

    if (out == NULL)
        return;
    buf_printf(out, "ask of id %" PRIu64 ": %d", id, rc);
    for (size_t i = 0; rc == TP_OK && i < n_dims(c); i++)
        buf_printf(out, " %a", x[i]);
    buf_printf(out, "%s%s\n", label != NULL ? " " : "",
               label != NULL ? label : "");
}

static void
count_answer(struct calls_seen *seen, int rc)
{
    seen->points += rc == TP_OK;
    seen->laters += rc == TP_LATER;
    seen->dones += rc == TP_DONE;
}

int
calls_ask(struct calls *c, uint64_t id, double **x)
{
    struct tp_suggestion out = {._struct_size = sizeof out, .from = TP_NO_ID};
    int rc;

    *x = NULL;
    if (c->broken || (out.x = *x = calls_new_point(c)) == NULL)
        return TP_ERR;
    calls_enter(c, "ask", id);
    calls_open_demands(c, "ask");
    rc = layer_ask(c, id, &out);
    calls_leave(c, "ask");
    calls_close_demands(c, "ask");
    count_answer(c->setup->seen, rc);
    if (rc < TP_ERR || rc > TP_DONE)
        calls_fail(c,
                   "ask of id %" PRIu64 " returned %d, expected TP_OK (0), "
                   "TP_LATER (1), TP_DONE (2) or TP_ERR (-1)",
                   id, rc);
    else if (rc == TP_ERR)
        calls_expect_ok(c, "ask", rc);
    else if (rc == TP_OK && out.x != *x)
        calls_fail(c, "ask replaced out->x: fill the array it points to");
    if (rc == TP_OK && !c->broken && c->setup->may_fail &&
        space_check(c->space, *x, NULL) != 0)
        rc = TP_ERR; /* the host refuses it, and says why */
    if (rc == TP_OK && !c->broken) {
        check_label(c, out.label);
        check_point(c, id, *x);
        calls_check_terms(c, id, *x, &out);
    }
    if (!c->broken)
        write_answer(c, id, rc, rc == TP_OK ? out.label : NULL, *x);
    if (rc == TP_OK && !c->broken) {
        inner_given(c->inner, id, *x, &out);
        calls_score(c, id, *x);
        return rc;
    }
    free(*x);
    *x = NULL;
    return c->broken ? TP_ERR : rc;
}

/* Lends a copy of x, which has to come back as it was. */
static double *
lend(struct calls *c, const double *x)
{
    double *lent = c->broken ? NULL : calls_new_point(c);

    if (lent != NULL)
        memcpy(lent, x, n_dims(c) * sizeof *x);
    return lent;
}

static void
take_back(struct calls *c, const char *callback, double *lent, const double *x)
{
    if (memcmp(lent, x, n_dims(c) * sizeof *x) != 0)
        calls_fail(c, "%s changed the x it was lent: work on a copy", callback);
    free(lent);
}

void
calls_tell(struct calls *c, uint64_t id, const double *x, int how, double value)
{
    struct tp_result result = {._struct_size = sizeof result,
                               .how = how,
                               .value = value,
                               .step = how == TP_RESULT_STOPPED ? 4 : 0};
    double *lent = lend(c, x), *values;
    int rc;

    if (lent == NULL)
        return;
    values = lend_values(c, value, how == TP_RESULT_STOPPED, &result.violation);
    result.values = values;
    result.n_values = values != NULL ? N_OBJECTIVES : 0;
    calls_enter(c, "tell", id);
    calls_open_demands(c, "tell");
    rc = layer_tell(c, id, lent, &result);
    free(values);
    calls_leave(c, "tell");
    calls_close_demands(c, "tell");
    calls_expect_ok(c, "tell", rc);
    take_back(c, "tell", lent, x);
}

void
calls_ended(struct calls *c, uint64_t id, const double *x, int how)
{
    double *lent = lend(c, x);
    int rc;

    if (lent == NULL)
        return;
    calls_enter(c, "ended", id);
    calls_open_demands(c, "ended");
    rc = layer_ended(c, id, lent, how);
    calls_leave(c, "ended");
    calls_close_demands(c, "ended");
    calls_expect_ok(c, "ended", rc);
    take_back(c, "ended", lent, x);
}

void
calls_tell_foreign(struct calls *c, uint64_t draw_id, int how)
{
    double *x = c->broken ? NULL : calls_new_point(c);

    if (x == NULL)
        return;
    space_sample(c->space, 4711, draw_id, x);
    calls_tell(c, TP_NO_ID, x, how, 0.5);
    free(x);
}

/* A point that was given out, for who goes on from it. */
struct given {
    struct given *older;
    uint64_t id;
    double x[];
};

/* ---- what it demands ---- */

static void
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

static void
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

/* There is another space, or none any more: what was given counts no more. */
static void
calls_forget_given(struct calls *c)
{
    while (c->given != NULL) {
        struct given *older = c->given->older;

        free(c->given);
        c->given = older;
    }
}

/* What `from` knows of it is `to`'s. */
static void
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

/* Whether what came with the point x is right; it is remembered for what may
 * go on from it. */
static void
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
    double *lent = c->broken ? NULL : calls_new_point(c), *values;
    int rc;

    if (lent == NULL)
        return;
    memcpy(lent, x, n_dims(c) * sizeof *x);
    values = lend_values(c, copy.value, true, &copy.violation);
    copy.values = values;
    copy.n_values = values != NULL ? N_OBJECTIVES : 0;
    calls_enter(c, "metric", id);
    calls_open_demands(c, "metric");
    rc = c->setup->plugin->tuner.metric(c->self, id, lent, &copy, &verdict);
    free(values);
    calls_leave(c, "metric");
    calls_close_demands(c, "metric");
    calls_expect_ok(c, "metric", rc);
    if (memcmp(lent, x, n_dims(c) * sizeof *x) != 0)
        calls_fail(c, "metric changed the x it was lent: work on a copy");
    free(lent);
    if (!c->broken)
        check_verdict(c, id, &verdict);
}

void
calls_plan(struct calls *c, uint64_t trials)
{
    const struct plugin *p = c->setup->plugin;
    const struct tp_plan plan = {sizeof plan, trials};
    int rc;

    if (c->broken || p->kind != PLUGIN_TUNER || p->tuner.plan == NULL)
        return;
    calls_enter(c, "plan", TP_NO_ID);
    rc = p->tuner.plan(c->self, &plan);
    calls_leave(c, "plan");
    calls_expect_ok(c, "plan", rc);
}

/* ---- scores ---- */

/* Of the samples; no trial has such a seed. */
#define GIVEN_SEED ((uint64_t)1 << 63)

static void
score(struct calls *c, uint64_t id, double *const points[2],
      double *const lent[2])
{
    size_t bytes = space_dims(c->space)->n_dims * sizeof(double);
    const double *given[2] = {lent[0], lent[1]};
    double out[3] = {NAN, NAN, 0.5};
    int rc;

    for (int i = 0; i < 2; i++)
        memcpy(lent[i], points[i], bytes);
    calls_enter(c, "score", id);
    rc = c->setup->plugin->tuner.score(c->self, given, 2, out);
    calls_leave(c, "score");
    calls_expect_ok(c, "score", rc);
    if (out[2] != 0.5)
        calls_fail(c, "score wrote behind the n numbers of out");
    for (int i = 0; i < 2; i++)
        if (memcmp(lent[i], points[i], bytes) != 0)
            calls_fail(c, "score changed a point it was lent: work on a copy");
}

/* Has a tuner that can score this point, just asked for, and a sample of the
 * prior.  In some runs only: answers that differ from those of the others were
 * changed by it. */
static void
calls_score(struct calls *c, uint64_t id, const double *x)
{
    const struct plugin *p = c->setup->plugin;
    double *points[2] = {NULL, NULL}, *lent[2] = {NULL, NULL};

    if (p->kind != PLUGIN_TUNER || p->tuner.score == NULL || !c->setup->asked)
        return;
    for (int i = 0; i < 2; i++) {
        points[i] = calls_new_point(c);
        lent[i] = calls_new_point(c);
    }
    if (points[0] != NULL && points[1] != NULL && lent[0] != NULL &&
        lent[1] != NULL) {
        memcpy(points[0], x, space_dims(c->space)->n_dims * sizeof *x);
        space_sample(c->space, GIVEN_SEED, id, points[1]);
        if (space_check(c->space, points[1], NULL) == 0)
            score(c, id, points, lent);
    }
    for (int i = 0; i < 2; i++) {
        free(points[i]);
        free(lent[i]);
    }
}

/* ---- the plugin, or a filter and what lies inside ---- */

static bool
is_filter(const struct calls *c)
{
    return c->setup->plugin->kind == PLUGIN_FILTER;
}

/* NULL, and c is broken, also when there is no memory for what lies inside. */
static void *
layer_create(struct calls *c, const struct tp_host *host)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.create(host);
    case PLUGIN_ASSESSOR:
        return p->assessor.create(host);
    case PLUGIN_FILTER:
        break;
    }
    c->inner =
        inner_new((struct inner_given){&c->space, &c->lent}, c->setup->mood);
    if (c->inner != NULL)
        return p->filter.create(host);
    calls_fail(c, "out of memory");
    return NULL;
}

static void
layer_destroy(struct calls *c)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        p->tuner.destroy(c->self);
        break;
    case PLUGIN_ASSESSOR:
        p->assessor.destroy(c->self);
        break;
    case PLUGIN_FILTER:
        p->filter.destroy(c->self);
        break;
    }
}

static int
layer_config(struct calls *c, const struct tp_value *values, size_t n)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.config(c->self, values, n);
    case PLUGIN_ASSESSOR:
        return p->assessor.config(c->self, values, n);
    case PLUGIN_FILTER:
        break;
    }
    return p->filter.config(c->self, values, n);
}

/* Of tuners and filters. */
static int
layer_space(struct calls *c, const struct tp_space *space)
{
    const struct plugin *p = c->setup->plugin;
    int rc;

    if (!is_filter(c))
        return p->tuner.space(c->self, space);
    rc = p->filter.space(c->self, inner_next(c->inner), space);
    if (rc == TP_OK)
        inner_expect_space(c->inner);
    return rc;
}

static int
layer_ask(struct calls *c, uint64_t id, struct tp_suggestion *out)
{
    const struct plugin *p = c->setup->plugin;

    if (!is_filter(c))
        return p->tuner.ask(c->self, id, out);
    inner_enter(c->inner, id);
    return p->filter.ask(c->self, inner_next(c->inner), id, out);
}

static int
layer_tell(struct calls *c, uint64_t id, const double *x,
           const struct tp_result *result)
{
    const struct plugin *p = c->setup->plugin;
    int rc;

    if (!is_filter(c))
        return p->tuner.tell(c->self, id, x, result);
    rc = p->filter.tell(c->self, inner_next(c->inner), id, x, result);
    if (rc == TP_OK)
        inner_expect_told(c->inner, id);
    return rc;
}

static int
layer_ended(struct calls *c, uint64_t id, const double *x, int how)
{
    const struct plugin *p = c->setup->plugin;
    int rc;

    if (!is_filter(c))
        return p->tuner.ended(c->self, id, x, how);
    rc = p->filter.ended(c->self, inner_next(c->inner), id, x, how);
    if (rc == TP_OK)
        inner_expect_ended(c->inner, id);
    return rc;
}

bool
layer_saves(const struct plugin *p)
{
    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.save != NULL;
    case PLUGIN_ASSESSOR:
        return p->assessor.save != NULL;
    case PLUGIN_FILTER:
        break;
    }
    return p->filter.save != NULL;
}

static int
layer_save(struct calls *c, const struct tp_history *const *living, size_t n,
           const struct tp_sink *sink)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.save(c->self, sink);
    case PLUGIN_ASSESSOR:
        return p->assessor.save(c->self, living, n, sink);
    case PLUGIN_FILTER:
        break;
    }
    return p->filter.save(c->self, sink);
}

static int
layer_load(struct calls *c, const struct tp_history *const *living, size_t n,
           const struct tp_source *source)
{
    const struct plugin *p = c->setup->plugin;

    switch (p->kind) {
    case PLUGIN_TUNER:
        return p->tuner.load(c->self, source);
    case PLUGIN_ASSESSOR:
        return p->assessor.load(c->self, living, n, source);
    case PLUGIN_FILTER:
        break;
    }
    return p->filter.load(c->self, source);
}

/* ---- of an assessor ---- */

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
take_back_history(struct calls *c, const char *callback, double *lent,
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
    take_back_history(c, "assess", values, h);
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
    take_back_history(c, "ended", values, h);
}

/* ---- rests between calls ---- */

/* DESIGN.  An object is exchanged for one that was loaded from what it saved,
 * and the order of calls goes on without knowing: what differs then shows in
 * the answers.  What lies inside a filter is handed over as it is. */

#define STATE_MAX ((size_t)256 << 20)

/* The living trials of an assessor. */
struct living {
    const struct tp_history *const *list;
    size_t n;
    void **slots; /* of a new object; NULL: those of the list */
};

/* As a host from the future has them. */
struct later_sink {
    struct tp_sink now;
    void (*unheard_of)(void);
};

struct later_source {
    struct tp_source now;
    void (*unheard_of)(void);
};

static void
call_save(struct calls *c, const struct living *l, struct buf *out)
{
    struct later_sink *sink = calloc(1, sizeof *sink);
    struct lent lent;
    int rc;

    if (lent_begin(&lent, l->list, l->n, l->slots) && sink != NULL) {
        sink->now = state_sink(out);
        sink->now._struct_size = sizeof *sink;
        calls_enter(c, "save", TP_NO_ID);
        rc = layer_save(c, lent.list, l->n, &sink->now);
        calls_leave(c, "save");
        calls_expect_ok(c, "save", rc);
    } else {
        calls_fail(c, "out of memory");
    }
    if (!lent_end(&lent, l->list))
        calls_fail(c, "save changed a history it was lent: work on a copy");
    free(sink);
    if (out->failed)
        calls_fail(c, "save wrote more than %zu bytes", STATE_MAX);
    if (out->len > c->setup->seen->state_max)
        c->setup->seen->state_max = out->len;
}

/* What is asked of the host with damaged coordinates is no fault. */
static int
call_load(struct calls *c, const struct living *l, struct unpack *from)
{
    struct later_source *source = calloc(1, sizeof *source);
    struct lent lent;
    int rc = TP_ERR;

    if (lent_begin(&lent, l->list, l->n, l->slots) && source != NULL) {
        source->now = state_source(from);
        source->now._struct_size = sizeof *source;
        calls_enter(c, "load", TP_NO_ID);
        rc = layer_load(c, lent.list, l->n, &source->now);
        if (c->setup->saving == CALLS_SAVED)
            calls_leave(c, "load");
        c->setup->seen->now[0] = '\0';
        floatenv_restore();
    } else {
        calls_fail(c, "out of memory");
    }
    if (!lent_end(&lent, l->list))
        calls_fail(c, "load changed a history it was lent: work on a copy");
    free(source);
    return rc;
}

/* ---- a new object like c's ---- */

static struct calls_setup
quiet(const struct calls *c)
{
    struct calls_setup setup = *c->setup;

    setup.answers = NULL;
    setup.mood = INNER_GIVES;
    return setup;
}

static void
open_like(struct calls *fresh, const struct calls *c,
          const struct calls_setup *setup)
{
    calls_open(fresh, setup);
    memcpy(fresh->place, c->place, sizeof fresh->place);
    if (c->space != NULL && !fresh->broken &&
        calls_space(fresh, c->space) != TP_OK)
        calls_fail(fresh, "space refused, in a new object, what it had taken");
}

/* It goes, and what was wrong with it is wrong with c. */
static void
drop(struct calls *fresh, struct calls *c)
{
    bool broken = fresh->broken;
    struct err err = {0};

    if (calls_close(fresh, &err) == 0 || c->broken || !broken)
        return;
    c->broken = true;
    c->err = err;
}

/* ---- exchanged ---- */

static void
load_all(struct calls *c, const struct living *l, const struct buf *state)
{
    struct unpack from = unpack_from(state->data, state->len);
    int rc;

    if (c->broken)
        return;
    rc = call_load(c, l, &from);
    calls_expect_ok(c, "load", rc);
    if (from.failed)
        calls_fail(c, "load read more than the %zu bytes that save had written",
                   state->len);
    else if (from.at != from.end)
        calls_fail(c, "load left %zu of the %zu bytes that save had written",
                   (size_t)(from.end - from.at), state->len);
}

static void
save_again(struct calls *c, const struct living *l, const struct buf *state)
{
    struct buf again;
    size_t at = 0;

    if (c->broken)
        return;
    buf_init(&again, STATE_MAX);
    call_save(c, l, &again);
    while (at < again.len && at < state->len &&
           again.data[at] == state->data[at])
        at++;
    if (at < again.len || at < state->len)
        calls_fail(c,
                   "save wrote other bytes after load than load had read, from "
                   "byte %zu on (%zu bytes, then %zu)",
                   at, state->len, again.len);
    buf_fini(&again);
}

/* fresh becomes c. */
static void
replace(struct calls *c, struct calls *fresh, const struct living *l)
{
    struct err err = {0};

    inner_take_over(fresh->inner, c->inner,
                    (struct inner_given){&c->space, &c->lent});
    calls_take_given(fresh, c);
    fresh->setup = c->setup;
    fresh->rests = c->rests;
    if (calls_close(c, &err) != 0) {
        fresh->broken = true;
        fresh->err = err;
    }
    for (size_t i = 0; i < l->n; i++)
        *l->list[i]->slot = l->slots[i];
    *c = *fresh;
}

static void
exchange(struct calls *c, struct living l, const struct buf *state)
{
    struct calls_setup setup = quiet(c);
    struct calls fresh;

    l.slots = calloc(l.n + 1, sizeof *l.slots);
    if (l.slots == NULL) {
        calls_fail(c, "out of memory");
        return;
    }
    open_like(&fresh, c, &setup);
    load_all(&fresh, &l, state);
    save_again(&fresh, &l, state);
    c->setup->seen->loads++;
    if (fresh.broken)
        drop(&fresh, c);
    else
        replace(c, &fresh, &l);
    free(l.slots);
}

/* ---- damaged ---- */

static uint64_t
dice(const struct calls *c, uint32_t draw)
{
    struct random_stream s = random_stream(SEED, RANDOM_TEST, c->rests, 0);

    return random_bits(&s, draw);
}

enum damage { CUT, CUT_LAST, BIT, BYTE, ONES, SMALL, N_DAMAGES };

struct damaged {
    char *data; /* to be freed */
    size_t len;
    char how[80];
};

static void
make_damaged(const struct calls *c, enum damage damage, const struct buf *state,
             struct damaged *out)
{
    static const char *const words[] = {"cut off",         "cut off",
                                        "a bit turned",    "a byte changed",
                                        "a word all ones", "a small word"};
    uint64_t bits = dice(c, 1 + (uint32_t)damage);
    size_t at = (size_t)(bits >> 11) % state->len;
    size_t word = state->len < 8 ? 0 : at / 8 * 8;
    size_t width = state->len - word < 8 ? state->len - word : 8;

    /* Exactly as long as it is, so that a sanitizer sees its end. */
    out->len = damage == CUT        ? at
               : damage == CUT_LAST ? state->len - 1
                                    : state->len;
    out->data = malloc(out->len + (out->len == 0));
    snprintf(out->how, sizeof out->how,
             "the state of %zu bytes was damaged: %s at %zu", state->len,
             words[damage], damage == CUT_LAST ? out->len : at);
    if (out->data == NULL)
        return;
    memcpy(out->data, state->data, out->len);
    if (damage == BIT)
        out->data[at] = (char)(out->data[at] ^ 1 << (bits & 7));
    else if (damage == BYTE)
        out->data[at] = (char)(bits & 255);
    else if (damage == ONES)
        memset(out->data + word, 0xff, width);
    else if (damage == SMALL) {
        memset(out->data + word, 0, width);
        out->data[word] = (char)(bits & 7);
    }
}

static void
use_tuner(struct calls *c)
{
    for (uint64_t id = 1000; id < 1004; id++) {
        double *x;

        c->broken = false;
        if (calls_ask(c, id, &x) != TP_OK)
            continue;
        calls_tell(c, id, x, TP_RESULT_FINAL, 0.5);
        calls_ended(c, id, x, TP_ENDED_SUCCEEDED);
        free(x);
    }
    c->broken = false;
    calls_tell_foreign(c, 1, TP_RESULT_IMPORTED);
    c->broken = false;
    calls_space(c, c->space);
}

static void
use_assessor(struct calls *c, const struct living *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct tp_history h = *l->list[i];

        h.slot = &l->slots[i];
        c->broken = false;
        calls_assess(c, &h);
        c->broken = false;
        calls_trial_ended(c, &h, TP_TRIAL_SUCCEEDED);
    }
}

/* What was taken although it is damaged may answer anything, and crash at
 * nothing. */
static void
use(struct calls *c, const struct living *l)
{
    if (c->setup->plugin->kind == PLUGIN_ASSESSOR)
        use_assessor(c, l);
    else
        use_tuner(c);
    c->broken = false;
}

static void
load_damaged(struct calls *c, const struct living *l, const struct damaged *d,
             bool cut)
{
    struct unpack from = unpack_from(d->data, d->len);
    int rc;

    if (c->broken)
        return;
    snprintf(c->place, sizeof c->place, "%s", d->how);
    rc = call_load(c, l, &from);
    c->setup->seen->damaged++;
    c->setup->seen->refused_states += rc == TP_ERR;
    if (rc == TP_ERR && fake_host_error(c->host)[0] == '\0')
        calls_fail(c, "load failed and did not say why: call host->error() "
                      "before it returns TP_ERR");
    else if (rc != TP_ERR && rc != TP_OK)
        calls_fail(c, "load returned %d, expected TP_OK (0) or TP_ERR (-1)",
                   rc);
    else if (rc == TP_OK && cut)
        calls_fail(c, "load returned TP_OK though the end was missing: look "
                      "at what the source returns");
    else if (rc == TP_OK)
        use(c, l);
}

static void
try_damaged(struct calls *c, struct living l, const struct buf *state,
            enum damage damage)
{
    struct calls_setup setup = quiet(c);
    struct damaged d;
    struct calls fresh;

    make_damaged(c, damage, state, &d);
    l.slots = calloc(l.n + 1, sizeof *l.slots);
    if (d.data == NULL || l.slots == NULL) {
        calls_fail(c, "out of memory");
    } else {
        open_like(&fresh, c, &setup);
        load_damaged(&fresh, &l, &d, damage == CUT || damage == CUT_LAST);
        drop(&fresh, c);
    }
    free(l.slots);
    free(d.data);
}

void
calls_rest(struct calls *c, const struct tp_history *const *living, size_t n)
{
    const struct calls_setup *setup = c->setup;
    const struct living l = {living, n, NULL};
    struct buf state;
    uint64_t bits;

    if (c->broken || setup->saving == CALLS_NOT_SAVED ||
        setup->saving_every == 0 || !layer_saves(setup->plugin) ||
        (setup->plugin->kind != PLUGIN_ASSESSOR && c->space == NULL))
        return;
    c->rests++;
    bits = dice(c, 0);
    if (bits % setup->saving_every != 0)
        return;
    buf_init(&state, STATE_MAX);
    call_save(c, &l, &state);
    for (int i = 0; setup->saving == CALLS_DAMAGED && i < N_DAMAGES; i++)
        if (!c->broken && state.len > 0)
            try_damaged(c, l, &state, (enum damage)i);
    if (!c->broken && setup->saving == CALLS_SAVED &&
        bits / setup->saving_every % 2 == 0)
        exchange(c, l, &state);
    buf_fini(&state);
}
