/* SPDX-License-Identifier: MIT */
#include "check/calls.h"

#include "check/calls_advice.h"
#include "check/calls_around.h"
#include "check/calls_score.h"
#include "check/fakehost.h"
#include "check/inner.h"
#include "check/layer.h"
#include "check/surroundings.h"
#include "core/buf.h"
#include "plugin/arguments.h"
#include "plugin/floatenv.h"
#include "plugin/loader.h"
#include "space/space.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void
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

void
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

void
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
}

int
calls_close(struct calls *c, struct err *err)
{
    if (c->self != NULL) {
        calls_enter(c, "destroy", TP_NO_ID);
        layer_destroy(c);
        calls_leave(c, "destroy");
    }
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
double *
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
    struct tp_result result = {sizeof result, how, value,
                               how == TP_RESULT_STOPPED ? 4 : 0};
    double *lent = lend(c, x);
    int rc;

    if (lent == NULL)
        return;
    calls_enter(c, "tell", id);
    calls_open_demands(c, "tell");
    rc = layer_tell(c, id, lent, &result);
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
